//! Fine-tunes a base of lips to one face and voice, step by step, for the page and the command line.
//!
//! The encoder of faces stays as it is; decoder, postnet and speaker vector adapt. One window in five is held out: the parameters that speak these best are
//! kept, and the training ends when they no longer gain.

use burn::{
    module::{Module, Param},
    prelude::*,
};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::{
    answers::{Answers, losses, seen},
    base::LipBase,
    clock::seconds,
    lesson::{EncodedWindow, Lesson},
    model::pictures,
    tuned::{Adapted, TunedLips},
};
use crate::{
    Error, Result,
    model::teacher_forcing::{Spoken, TeacherForcing},
    nn::{Mode, Scope, readback::read},
    train::{
        TuneStop,
        adam::{Adam, AdamConfig},
        finetune::{EVALUATE_EVERY, EarlyStopping, READ_EVERY, Verdict},
        options::StopRule,
    },
};

/// How a base is tuned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LipTuneOptions {
    /// At most.
    pub iterations: usize,
    /// Windows.
    pub batch: usize,
    /// Learning rate of decoder and postnet.
    pub rate: f64,
    /// Learning rate of the speaker vector.
    pub speaker_rate: f64,
    pub seed: u64,
}

impl Default for LipTuneOptions {
    fn default() -> Self {
        Self { iterations: 200, batch: 4, rate: 5e-4, speaker_rate: 5e-3, seed: 1 }
    }
}

/// One window in so many is held out; with fewer there would be none.
pub const HELD_OUT_EVERY: usize = 5;

/// The state of a tuning after an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct LipStep {
    /// Iterations done.
    pub iteration: usize,
    /// At most.
    pub iterations: usize,
    /// Of the spectrogram, read back every few iterations.
    pub loss: f32,
    /// Of the spectrogram, on held-out windows, where they were looked at.
    pub held_out_loss: Option<f32>,
    pub stop: Option<TuneStop>,
}

/// A tuning under way.
pub struct LipTuner {
    windows: Windows,
    train: Vec<usize>,
    held_out: Vec<usize>,
    /// In `train`, of the next batch.
    place: usize,
    random: ChaCha8Rng,
    options: LipTuneOptions,
    parts: Adapted,
    adam: Adam,
    stopping: EarlyStopping,
    /// Held-out loss and parameters.
    best: (f32, Adapted),
    before: f32,
    loss: f32,
    iteration: usize,
    /// The last iteration after which the held-out windows were looked at.
    looked_at: usize,
    seconds: f32,
}

impl LipTuner {
    /// Starts from the row of the speaker table that says the lessons best.
    ///
    /// # Errors
    /// `no-clips`, `clip-too-short` where no window could be held out, `device-lost`.
    pub async fn start(base: &LipBase, lessons: &[Lesson], options: LipTuneOptions) -> Result<Self> {
        let windows = Windows::new(base, lessons)?;
        let (held_out, mut train): (Vec<usize>, Vec<usize>) =
            (0..windows.len()).partition(|window| window % HELD_OUT_EVERY == HELD_OUT_EVERY - 1);
        if held_out.is_empty() {
            let window = seconds(base.manifest.window_pictures);
            return Err(Error::clip_too_short(windows.len() as f32 * window, HELD_OUT_EVERY as f32 * window));
        }
        let parts = nearest(base, &windows, &train).await?;
        let before = windows.criterion(&parts, &held_out).await?;
        let mut stopping = EarlyStopping::new(StopRule::Loss);
        stopping.observe(-before);
        let mut random = ChaCha8Rng::seed_from_u64(options.seed);
        train.shuffle(&mut random);
        Ok(Self {
            windows,
            train,
            held_out,
            place: 0,
            random,
            options,
            best: (before, parts.clone()),
            parts,
            adam: Adam::new(AdamConfig::default()),
            stopping,
            before,
            loss: before,
            iteration: 0,
            looked_at: 0,
            seconds: lessons.iter().map(Lesson::seconds).sum(),
        })
    }

    /// One iteration.
    ///
    /// # Errors
    /// `training-diverged`, `device-lost`.
    pub async fn step(&mut self) -> Result<LipStep> {
        let LipTuneOptions { iterations, rate, speaker_rate, .. } = self.options;
        let drawn = self.draw();
        let losses = self.windows.losses(&self.parts, &drawn, Mode::Train);
        let loss = losses[1].clone();
        let gradients = Tensor::cat(losses, 0).sum().backward();
        self.parts = self
            .adam
            .step(self.parts.clone(), &gradients, |path| if path == "speaker" { speaker_rate } else { rate });
        self.iteration += 1;
        let iteration = self.iteration;
        let last = iteration >= iterations;
        if iteration.is_multiple_of(READ_EVERY) || iteration == 1 || last {
            self.loss = read(loss.inner()).await?[0];
        }
        let mut step = LipStep { iteration, iterations, loss: self.loss, held_out_loss: None, stop: None };
        if iteration.is_multiple_of(EVALUATE_EVERY) || last {
            let now = self.windows.criterion(&self.parts, &self.held_out).await?;
            if !now.is_finite() {
                return Err(Error::training_diverged(iteration));
            }
            let Verdict { keep, stop } = self.stopping.observe(-now);
            if keep {
                self.best = (now, self.parts.clone());
            }
            self.looked_at = iteration;
            step.held_out_loss = Some(now);
            step.stop = stop.then_some(TuneStop::HeldOut);
        }
        step.stop = step.stop.or(last.then_some(TuneStop::Iterations));
        Ok(step)
    }

    /// Windows of the next batch.
    fn draw(&mut self) -> Vec<usize> {
        let batch = self.options.batch.clamp(1, self.train.len());
        if self.place + batch > self.train.len() {
            self.train.shuffle(&mut self.random);
            self.place = 0;
        }
        self.place += batch;
        self.train[self.place - batch..self.place].to_vec()
    }

    /// Loss of held-out windows before anything was learned.
    pub fn held_out_before(&self) -> f32 {
        self.before
    }

    /// The best so far. Fails with `device-lost`.
    pub async fn finish(mut self) -> Result<TunedLips> {
        if self.iteration > self.looked_at {
            let now = self.windows.criterion(&self.parts, &self.held_out).await?;
            // One that is no number is not less.
            if now < self.best.0 {
                self.best = (now, self.parts);
            }
        }
        let (after, parts) = self.best;
        Ok(TunedLips {
            parts: parts.valid(),
            iterations: self.iteration,
            seconds: self.seconds,
            held_out_loss: [self.before, after],
        })
    }
}

/// Windows of all lessons.
struct Windows {
    /// `[windows, N, E]`
    encoded: Tensor<3>,
    /// `[windows, T, M]`, normalised
    targets: Tensor<3>,
    /// `[windows, T, 1]`
    mask: Tensor<3>,
    /// `[1, T / R, N]`, see [`Answers`]
    seen: Tensor<3>,
    /// Of each.
    pictures: Vec<usize>,
    /// Mel frames of each.
    frames: Vec<usize>,
    reduction: usize,
}

impl Windows {
    fn new(base: &LipBase, lessons: &[Lesson]) -> Result<Self> {
        let windows: Vec<&EncodedWindow> = lessons.iter().flat_map(|lesson| &lesson.windows).collect();
        let first = windows.first().ok_or_else(Error::no_clips)?;
        let ([_, length, _], [_, pictures, _]) = (first.targets.dims(), first.encoded.dims());
        let reduction = base.manifest.model.tacotron.reduction;
        let shares = TensorData::new(seen(pictures, length, reduction), [1, length / reduction, pictures]);
        let together = |part: &dyn Fn(&EncodedWindow) -> &Tensor<3>| {
            Tensor::cat(windows.iter().map(|window| part(window).clone()).collect(), 0)
        };
        Ok(Self {
            encoded: together(&|window| &window.encoded),
            targets: together(&|window| &window.targets),
            mask: together(&|window| &window.mask),
            seen: Tensor::from_data(shares, &base.device),
            pictures: windows.iter().map(|window| window.pictures).collect(),
            frames: windows.iter().map(|window| window.frames).collect(),
            reduction,
        })
    }

    fn len(&self) -> usize {
        self.pictures.len()
    }

    /// The losses of some windows, see [`losses`].
    fn losses(&self, parts: &Adapted, windows: &[usize], mode: Mode) -> Vec<Tensor<1>> {
        let device = &self.encoded.device();
        let indices: Vec<i32> = windows.iter().map(|&window| window as i32).collect();
        let indices = Tensor::<1, Int>::from_data(TensorData::new(indices, [windows.len()]), device);
        let chosen = |all: &Tensor<3>| Tensor::from_inner(all.clone().select(0, indices.clone()));
        let frames: Vec<usize> = windows.iter().map(|&window| self.frames[window]).collect();
        let answers = Answers {
            targets: chosen(&self.targets),
            mask: chosen(&self.mask),
            seen: Tensor::from_inner(self.seen.clone()),
            frames: frames.iter().sum(),
            steps: frames.iter().map(|frames| frames.div_ceil(self.reduction)).sum(),
        };
        let encoded = chosen(&self.encoded);
        let lengths: Vec<usize> = windows.iter().map(|&window| self.pictures[window]).collect();
        let seen = pictures(&lengths, Some(encoded.dims()[1]), &encoded.device());
        let [_, steps, _] = answers.seen.dims();
        let speaker = parts.speaker.val().repeat_dim(0, windows.len());
        let spoken = Spoken::without_feedback(&seen, encoded, speaker, steps);
        losses(parts.decoder.teacher_force(spoken, ()), &parts.postnet, &Scope::default(), &answers, mode)
    }

    /// Loss of the spectrogram after the postnet, of windows that nothing is learned from.
    async fn criterion(&self, parts: &Adapted, windows: &[usize]) -> Result<f32> {
        let loss = self.losses(parts, windows, Mode::Eval).swap_remove(1);
        Ok(read(loss.inner()).await?[0])
    }
}

/// The base with the row of its speaker table that says the windows best, ready to learn.
async fn nearest(base: &LipBase, windows: &Windows, train: &[usize]) -> Result<Adapted> {
    let mut nearest: Option<(f32, Adapted)> = None;
    for row in 0..base.manifest.speakers.len() {
        let Adapted { speaker, decoder, postnet } = Adapted::of_base(base, row);
        let parts = Adapted {
            speaker: Param::from_tensor(Tensor::from_inner(speaker.val())),
            decoder: decoder.train(),
            postnet: postnet.train(),
        };
        let loss = windows.criterion(&parts, train).await?;
        if nearest.as_ref().is_none_or(|(least, _)| loss < *least) {
            nearest = Some((loss, parts));
        }
    }
    Ok(nearest.expect("a base has a speaker").1)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        audio::mel::MelConfig,
        lips::{LipConfig, LipManifest, LipTacotron, base::LipFiles, clock::mel_frames, face::FACE_BYTES},
        vocoder::GriffinLim,
        voice::FileEntry,
    };
    use pollster::block_on;
    use rand::Rng;
    use std::rc::Rc;

    pub fn base(sha256: &str) -> LipBase {
        let (device, mel) = (Device::flex(), MelConfig::speech_16k());
        device.seed(1);
        let model = LipConfig::tiny(2);
        LipBase {
            model: LipTacotron::new(&model, &device),
            manifest: LipManifest {
                kind: "lips".into(),
                name: "tiny".into(),
                licence: "MIT".into(),
                files: LipFiles {
                    weights: FileEntry { sha256: sha256.into(), ..FileEntry::new("w", b"") },
                    vocoder: None,
                },
                model,
                mel: mel.clone(),
                pictures_per_second: 25,
                window_pictures: 10,
                speakers: vec!["a".into(), "b".into()],
                recipe: serde_json::Value::Null,
                quality: serde_json::Value::Null,
            },
            vocoder: Rc::new(GriffinLim::new(mel)),
            device,
        }
    }

    /// Of pictures that are as light as the sound is loud.
    fn lesson(base: &LipBase, pictures: usize) -> Lesson {
        let mel = &base.manifest.mel;
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let light: Vec<u8> = (0..pictures).map(|_| random.random()).collect();
        let faces: Vec<u8> = light.iter().flat_map(|&light| vec![light; FACE_BYTES]).collect();
        let frames = mel_frames(pictures, mel);
        let level = |frame: usize| -8.0 + 6.0 * f32::from(light[frame * pictures / frames]) / 255.0;
        let log_mels: Vec<f32> = (0..frames).flat_map(|frame| vec![level(frame); mel.mels]).collect();
        Lesson::new(base, &faces, &log_mels)
    }

    #[test]
    fn what_is_held_out_is_said_better_and_the_file_says_the_same() {
        let base = base("one");
        let lessons = [lesson(&base, 40), lesson(&base, 25)];
        assert_eq!((lessons[1].windows.len(), lessons[1].windows[2].pictures), (3, 5));
        let options = LipTuneOptions { iterations: 100, rate: 5e-3, ..LipTuneOptions::default() };
        let mut tuner = block_on(LipTuner::start(&base, &lessons, options)).unwrap();
        let steps: Vec<LipStep> = (0..100).map(|_| block_on(tuner.step()).unwrap()).collect();
        let looked: Vec<usize> =
            steps.iter().filter(|step| step.held_out_loss.is_some()).map(|step| step.iteration).collect();
        assert_eq!((looked, steps[99].stop), (vec![25, 50, 75, 100], Some(TuneStop::Iterations)));
        assert!(steps[..99].iter().all(|step| step.stop.is_none()) && steps[99].loss < steps[0].loss);
        let tuned = block_on(tuner.finish()).unwrap();
        let [before, after] = tuned.held_out_loss;
        assert!(after < before, "{before} {after}");
        assert_eq!((tuned.iterations, tuned.seconds), (100, 2.6));

        let file = block_on(tuned.save(&base)).unwrap();
        let again = TunedLips::open(&base, &file).unwrap();
        assert_eq!((again.iterations, again.seconds, again.held_out_loss), (100, 2.6, [before, after]));
        let said = |tuned: &TunedLips| {
            let own = tuned.on(&base, "own");
            assert_eq!((own.speaker(None).unwrap(), own.manifest.model.tacotron.speakers), (0, 1));
            let faces = vec![90; 10 * FACE_BYTES];
            block_on(crate::lips::speak_faces_async(&own, &faces, 0)).unwrap().mel.data
        };
        let (one, other) = (said(&tuned), said(&again));
        let apart = one.iter().zip(&other).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
        assert!(apart < 0.05, "in half precision: {apart}");
    }

    #[test]
    fn what_is_stopped_between_two_looks_is_looked_at_once_more() {
        let base = base("one");
        let options = LipTuneOptions { rate: 5e-3, ..LipTuneOptions::default() };
        let mut tuner = block_on(LipTuner::start(&base, &[lesson(&base, 60)], options)).unwrap();
        for _ in 0..10 {
            block_on(tuner.step()).unwrap();
        }
        let before = tuner.held_out_before();
        let now = block_on(tuner.windows.criterion(&tuner.parts, &tuner.held_out)).unwrap();
        assert_ne!(now, before);
        assert_eq!(block_on(tuner.finish()).unwrap().held_out_loss, [before, now.min(before)]);
    }

    #[test]
    fn files_that_do_not_fit_the_base_are_refused() {
        let (base, other) = (base("one"), base("other"));
        let tuned = TunedLips {
            parts: Adapted::of_base(&base, 1),
            iterations: 1,
            seconds: 1.0,
            held_out_loss: [2.0, 1.0],
        };
        let file = block_on(tuned.save(&base)).unwrap();
        let code = |base, bytes: &[u8]| TunedLips::open(base, bytes).unwrap_err().code();
        assert_eq!(code(&other, &file), "base-mismatch");
        assert_eq!(code(&base, &file[..file.len() - 1]), "voice-corrupt");
        assert_eq!(code(&base, b"a letter"), "voice-corrupt");
        let endless = TunedLips { held_out_loss: [f32::NAN, 1.0], ..tuned };
        assert_eq!(code(&base, &block_on(endless.save(&base)).unwrap()), "voice-corrupt");
    }

    #[test]
    fn too_little_to_hold_out_is_refused() {
        let base = base("one");
        let start = |lessons: &[Lesson]| {
            block_on(LipTuner::start(&base, lessons, LipTuneOptions::default())).err().unwrap().code()
        };
        assert_eq!(start(&[]), "no-clips");
        assert_eq!(start(&[lesson(&base, 40)]), "clip-too-short");
    }
}
