//! Fine-tunes a lip-to-speech base to one face and voice, step by step, for the page and the command line.
//!
//! Decoder, postnet and speaker embedding are trained; the face encoder stays fixed. One window in five is held out: the parameters with the lowest held-out
//! loss are kept, and training stops when that loss no longer falls.

use burn::{module::Module, prelude::*};
use serde::Serialize;

use super::{
    answers::SPECTROGRAM_LOSS,
    base::LipBase,
    clock::seconds,
    lesson::Lesson,
    tuned::{Adapted, TunedLips},
    tuning_windows::{Windows, nearest},
};
use crate::{
    Error, Result,
    learn::early_stopping::PATIENCE,
    learn::tuner::{Schedule, Task, TuneStop, Tuner, TunerStep},
};
use burn_fused::{Mode, adam::AdamConfig};

/// The options of a tuning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LipTuneOptions {
    /// The most iterations.
    pub iterations: usize,
    /// The number of windows of a batch.
    pub batch: usize,
    /// The learning rate of decoder and postnet.
    pub rate: f64,
    /// The learning rate of the speaker embedding.
    pub speaker_rate: f64,
    pub seed: u64,
}

impl Default for LipTuneOptions {
    fn default() -> Self {
        Self { iterations: 200, batch: 4, rate: 5e-4, speaker_rate: 5e-3, seed: 1 }
    }
}

/// Every n-th window is held out, so this is the least number of windows of a tuning.
pub const HELD_OUT_EVERY: usize = 5;

/// The state of a tuning after an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct LipStep {
    /// The number of iterations so far.
    pub iteration: usize,
    /// The most iterations.
    pub iterations: usize,
    /// The spectrogram loss, which is read back every few iterations.
    pub loss: f32,
    /// The spectrogram loss of the held-out windows, if they were evaluated.
    pub held_out_loss: Option<f32>,
    /// The reason for stopping, if this was the last iteration.
    pub stop: Option<TuneStop>,
}

/// The windows that decoder, postnet and speaker embedding are trained on.
struct LipTask {
    windows: Windows,
    rate: f64,
    speaker_rate: f64,
}

impl Task for LipTask {
    type Parts = Adapted;
    /// The spectrogram loss.
    type Metrics = f32;
    /// The spectrogram loss after the postnet.
    const REPORTED: usize = SPECTROGRAM_LOSS;

    fn losses(&self, parts: &Adapted, batch: &[usize], _iteration: usize) -> Result<Vec<Tensor<1>>> {
        Ok(self.windows.losses(parts, batch, Mode::Train))
    }

    async fn measure(&self, parts: &Adapted, examples: &[usize]) -> Result<f32> {
        self.windows.criterion(parts, examples).await
    }

    fn criterion(&loss: &f32) -> f32 {
        loss
    }

    fn rate(&self, path: &str) -> f64 {
        if path == "speaker" { self.speaker_rate } else { self.rate }
    }
}

/// A tuning in progress.
pub struct LipTuner {
    tuner: Tuner<LipTask>,
    iterations: usize,
    seconds: f32,
}

impl LipTuner {
    /// Starts a tuning from the row of the speaker table with the lowest loss.
    ///
    /// # Errors
    /// Fails with `no-clips`, with `clip-too-short` if there are too few windows to hold one out, or with `device-lost`.
    pub async fn start(base: &LipBase, lessons: &[Lesson], options: LipTuneOptions) -> Result<Self> {
        let windows = Windows::new(base, lessons)?;
        let (held_out, train): (Vec<usize>, Vec<usize>) =
            (0..windows.len()).partition(|window| window % HELD_OUT_EVERY == HELD_OUT_EVERY - 1);
        if held_out.is_empty() {
            let window = seconds(base.manifest.window_pictures);
            return Err(Error::clip_too_short(windows.len() as f32 * window, HELD_OUT_EVERY as f32 * window));
        }
        let parts = nearest(base, &windows, &train).await?;
        let LipTuneOptions { iterations, batch, rate, speaker_rate, seed } = options;
        let task = LipTask { windows, rate, speaker_rate };
        let schedule = Schedule { iterations, batch, seed, decay: false, patience: PATIENCE };
        let tuner = Tuner::start(task, parts, [train, held_out], schedule, AdamConfig::default()).await?;
        Ok(Self { tuner, iterations, seconds: lessons.iter().map(Lesson::seconds).sum() })
    }

    /// Performs one iteration.
    ///
    /// # Errors
    /// Fails with `training-diverged` or `device-lost`.
    pub async fn step(&mut self) -> Result<LipStep> {
        let TunerStep { iteration, loss, held_out, stop } = self.tuner.step().await?;
        Ok(LipStep { iteration, iterations: self.iterations, loss, held_out_loss: held_out, stop })
    }

    /// Returns the held-out loss before the first iteration.
    pub fn held_out_before(&self) -> f32 {
        *self.tuner.before()
    }

    /// Returns the parameters with the lowest held-out loss. Fails with `device-lost`.
    pub async fn finish(self) -> Result<TunedLips> {
        let (iterations, before) = (self.tuner.iteration(), self.held_out_before());
        let (_, parts, after) = self.tuner.finish().await?;
        Ok(TunedLips {
            parts: parts.valid(),
            iterations,
            seconds: self.seconds,
            held_out_loss: [before, after],
        })
    }
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
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::sync::Arc;

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
            vocoder: Arc::new(GriffinLim::new(mel)),
            device,
        }
    }

    /// Creates a lesson whose pictures are as bright as the sound is loud.
    fn lesson(base: &LipBase, pictures: usize) -> Lesson {
        let mel = &base.manifest.mel;
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let brightness: Vec<u8> = (0..pictures).map(|_| random.random()).collect();
        let faces: Vec<u8> = brightness.iter().flat_map(|&value| vec![value; FACE_BYTES]).collect();
        let frames = mel_frames(pictures, mel);
        let level = |frame: usize| -8.0 + 6.0 * f32::from(brightness[frame * pictures / frames]) / 255.0;
        let log_mels: Vec<f32> = (0..frames).flat_map(|frame| vec![level(frame); mel.mels]).collect();
        Lesson::new(base, &faces, &log_mels)
    }

    #[test]
    fn tuning_lowers_the_held_out_loss_and_files_are_read_back() {
        let base = base("one");
        let lessons = [lesson(&base, 40), lesson(&base, 25)];
        assert_eq!((lessons[1].windows.len(), lessons[1].windows[2].pictures), (3, 5));
        let options = LipTuneOptions { iterations: 100, rate: 5e-3, ..LipTuneOptions::default() };
        let mut tuner = block_on(LipTuner::start(&base, &lessons, options)).unwrap();
        let steps: Vec<LipStep> = (0..100).map(|_| block_on(tuner.step()).unwrap()).collect();
        let evaluated: Vec<usize> =
            steps.iter().filter(|step| step.held_out_loss.is_some()).map(|step| step.iteration).collect();
        assert_eq!((evaluated, steps[99].stop), (vec![25, 50, 75, 100], Some(TuneStop::Iterations)));
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
    fn the_reported_loss_is_that_of_the_spectrogram() {
        let base = base("one");
        let options = LipTuneOptions { batch: 100, ..LipTuneOptions::default() };
        let mut tuner = block_on(LipTuner::start(&base, &[lesson(&base, 60)], options)).unwrap();
        let LipTask { windows, .. } = &tuner.tuner.task;
        let train: Vec<usize> =
            (0..windows.len()).filter(|window| window % HELD_OUT_EVERY != HELD_OUT_EVERY - 1).collect();
        let losses = windows.losses(tuner.tuner.parts(), &train, Mode::Train);
        let losses: Vec<f32> = losses.into_iter().map(|loss| loss.into_scalar()).collect();
        let reported = block_on(tuner.step()).unwrap().loss;
        let is_reported = |loss: f32| (reported - loss).abs() < 1e-4;
        let others = [losses[0], losses[2]];
        assert!(is_reported(losses[1]) && !others.map(is_reported).contains(&true), "{reported}: {losses:?}");
    }

    #[test]
    fn finishing_between_two_evaluations_evaluates_again() {
        let base = base("one");
        let options = LipTuneOptions { rate: 5e-3, ..LipTuneOptions::default() };
        let mut tuner = block_on(LipTuner::start(&base, &[lesson(&base, 60)], options)).unwrap();
        for _ in 0..10 {
            block_on(tuner.step()).unwrap();
        }
        let before = tuner.held_out_before();
        let now = block_on(tuner.tuner.measure()).unwrap();
        assert_ne!(now, before);
        assert_eq!(block_on(tuner.finish()).unwrap().held_out_loss, [before, now.min(before)]);
    }

    #[test]
    fn files_of_another_base_are_refused() {
        let (base, other) = (base("one"), base("other"));
        let tuned = TunedLips {
            parts: Adapted::from_base(&base, 1),
            iterations: 1,
            seconds: 1.0,
            held_out_loss: [2.0, 1.0],
        };
        let file = block_on(tuned.save(&base)).unwrap();
        let code = |base, bytes: &[u8]| TunedLips::open(base, bytes).unwrap_err().code();
        assert_eq!(code(&other, &file), "base-mismatch");
        assert_eq!(code(&base, &file[..file.len() - 1]), "voice-corrupt");
        assert_eq!(code(&base, b"a letter"), "voice-corrupt");
        let non_finite = TunedLips { held_out_loss: [f32::NAN, 1.0], ..tuned };
        assert_eq!(code(&base, &block_on(non_finite.save(&base)).unwrap()), "voice-corrupt");
    }

    #[test]
    fn too_few_windows_are_refused() {
        let base = base("one");
        let start = |lessons: &[Lesson]| {
            block_on(LipTuner::start(&base, lessons, LipTuneOptions::default())).err().unwrap().code()
        };
        assert_eq!(start(&[]), "no-clips");
        assert_eq!(start(&[lesson(&base, 40)]), "clip-too-short");
    }
}
