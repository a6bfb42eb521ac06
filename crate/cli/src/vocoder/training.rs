//! Trains the neural vocoder on recordings: their own spectrograms, and what a base makes of the same words.
//!
//! The filters make a power spectrum of two sources whose own are known, and that is compared with the recording's: no phase, no
//! adversary and no sound has to be made while training.
//!
//! One long file: the trainer and its losses, which nothing else uses, and their tests.

use burn::{
    prelude::*,
    tensor::activation::{log_sigmoid, log_softmax},
};
use rand::Rng;

use super::dataset::VocoderDataset;
use crate::learn::{
    data_loader::Collate,
    hyperparameters::{Hyperparameters, RunConfig},
    run::{Run, split},
    trainable_model::TrainableModel,
};
use burn_fused::{ComputePlan, Mode, Precision, Scope, ranks::Shard, trace::Value};
use ownvoice::{
    Result,
    audio::{
        mel::{MelConfig, MelExtractor},
        source::pulses,
        stft::Stft,
    },
    learn::sampler::{BatchKey, BatchSampler},
    model::batch::{Clips, Data},
    report::Report,
    vocoder::network::{Filters, PITCH_CLASSES, SourceFilter, VocoderConfig, pitch_class},
};

impl Hyperparameters {
    /// The shipped vocoder's, on recordings.
    pub fn vocoder() -> Self {
        Self {
            steps: 6000,
            batch: 12,
            window: 96,
            seed: 1,
            rate_start: 1e-3,
            rate_end: 5e-5,
            checkpoint_every: 200,
            compute: ComputePlan::for_vocoder(Precision::F32),
        }
    }

    /// Its last steps, on what it will be fed.
    pub fn vocoder_end() -> Self {
        Self { steps: 2000, rate_start: 3e-4, ..Self::vocoder() }
    }
}

/// Windows under which spectra are compared, in samples. 50 ms resolves harmonics, and so separates pulses from noise.
const LONG_WINDOW: usize = 800;
/// 20 ms resolves time. In a low voice this window holds two pulses, whose interference depends on their position: only the sum of the powers is compared, or
/// the loss would prefer noise.
const SHORT_WINDOW: usize = 320;

/// What the spectra of one window length are compared with.
pub struct Spectra {
    /// Power of the recording, `[B, T, F]`
    target: Tensor<3>,
    /// Power of the pulses, `[B, T, F]`, or `[B, T, 1]` where it is the same for all frequencies
    pulses: Tensor<3>,
    /// Power of noise in every bin.
    noise: f32,
}

impl Spectra {
    fn placed(self, device: &Device) -> Self {
        let Self { target, pulses, noise } = self;
        Self { target: target.to_device(device), pulses: pulses.to_device(device), noise }
    }
}

/// A batch, or a shard of one.
pub struct VocoderBatch {
    /// Names of the takes.
    clips: Clips,
    /// `[B, T, M]`, normalised
    mel: Tensor<3>,
    /// `[B, T, F]`
    envelope: Tensor<3>,
    /// `[B, T, PITCH_CLASSES]`, shares of the two nearest classes; zero where unvoiced
    pitch: Tensor<3>,
    /// `[B, T, 1]`
    voiced: Tensor<3>,
    long: Spectra,
    short: Spectra,
    /// This shard's part of the whole batch.
    share: f32,
    /// Of the whole batch.
    voiced_frames: usize,
}

impl Data for VocoderBatch {
    fn clips(&self) -> &Clips {
        &self.clips
    }

    fn tensors(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("spectrogram", Value::from_tensor(&self.mel)),
            ("envelope", Value::from_tensor(&self.envelope)),
            ("pitch", Value::from_tensor(&self.pitch)),
            ("power under the long window", Value::from_tensor(&self.long.target)),
            ("power of pulses", Value::from_tensor(&self.long.pulses)),
            ("power under the short window", Value::from_tensor(&self.short.target)),
        ]
    }
}

impl TrainableModel for SourceFilter {
    type Batch = VocoderBatch;

    const LOSSES: &'static [&'static str] = &["spectrum", "pitch", "voicing", "restraint"];
    const CRITERION: usize = 0;

    fn losses(&self, batch: &VocoderBatch, _mode: Mode) -> Vec<Tensor<1>> {
        const PITCH_WEIGHT: f32 = 0.2;
        /// Where a recording has no pulses, their filter is undetermined: then it is that of the spectrogram.
        const RESTRAINT: f32 = 1e-3;
        let Filters { pitch, voicing, harmonic, noise } =
            self.forward(batch.mel.clone(), batch.envelope.clone());
        let restraint =
            (harmonic.clone() - batch.envelope.clone()).powi_scalar(2).mean().mul_scalar(RESTRAINT);
        let (harmonic, noise) = (harmonic.mul_scalar(2.0).exp(), noise.mul_scalar(2.0).exp());
        let [long, short] =
            [&batch.long, &batch.short].map(|spectra| divergence(spectra, harmonic.clone(), noise.clone()));
        let spectrum = (long + short).div_scalar(2.0);
        let voiced_frames = batch.voiced_frames.max(1) as f32;
        let pitch = (log_softmax(pitch, 2) * batch.pitch.clone()).sum().div_scalar(-voiced_frames);
        let unvoiced = batch.voiced.clone().neg().add_scalar(1.0);
        let voicing = (log_sigmoid(voicing.clone()) * batch.voiced.clone()
            + log_sigmoid(voicing.neg()) * unvoiced)
            .mean()
            .neg();
        let part = |mean: Tensor<1>| mean.mul_scalar(batch.share);
        vec![part(spectrum), pitch.mul_scalar(PITCH_WEIGHT), part(voicing), part(restraint)]
    }

    fn computing(self, scope: &Scope) -> Self {
        self.computing(scope)
    }
}

/// Amplitudes below this are silence, as in the spectrograms.
const MIN_MAGNITUDE: f32 = 1e-5;

/// What noise of unit power typically has in a bin: its power there is spread exponentially, and [`divergence`] is least when this stands for it.
const TYPICAL_NOISE: f32 = 0.61;

/// How far the recording's power lies from the filtered sources': the log-logistic likelihood of their ratio, 0 where they are equal.
///
/// It forgives alike what is far too loud and far too quiet. Itakura and Saito's, the likelihood of noise, does not: the nulls between
/// the pulses' harmonics, which lie elsewhere in the recording, then drown the voice in noise.
fn divergence(spectra: &Spectra, harmonic: Tensor<3>, noise: Tensor<3>) -> Tensor<1> {
    let floor = MIN_MAGNITUDE * MIN_MAGNITUDE * spectra.noise;
    let power = harmonic * spectra.pulses.clone() + noise.mul_scalar(TYPICAL_NOISE * spectra.noise) + floor;
    let ratio = (spectra.target.clone() + floor) / power;
    (ratio.clone().add_scalar(1.0).log().mul_scalar(2.0) - ratio.log()).mean() - 2.0 * std::f32::consts::LN_2
}

/// Makes batches of takes.
struct TakeSource<'a> {
    takes: &'a VocoderDataset,
    extractor: MelExtractor,
    long: Stft,
    short: Stft,
    config: &'a VocoderConfig,
    hyperparameters: &'a Hyperparameters,
    train: BatchSampler,
    held_out: BatchSampler,
    shard: Shard,
}

/// Frames around a window, as context of its spectra.
const MARGIN: usize = 4;

impl<'a> TakeSource<'a> {
    /// * `train`, `held_out`: takes of a window's length and more, by index
    fn new(
        takes: &'a VocoderDataset,
        (train, held_out): (&[usize], &[usize]),
        mel: &MelConfig,
        config: &'a VocoderConfig,
        hyperparameters: &'a Hyperparameters,
        shard: Shard,
    ) -> Self {
        // Windows are all of one length.
        let order =
            |from: &[usize], seed| BatchSampler::new(from.iter().map(|&take| (take, 0)), hyperparameters.batch, seed);
        /// The same batches are held out from all runs.
        const HELD_OUT_SEED: u64 = 0;
        Self {
            takes,
            extractor: MelExtractor::new(mel.clone()),
            long: Stft::new(mel.fft_length, LONG_WINDOW, mel.hop_length),
            short: Stft::new(mel.fft_length, SHORT_WINDOW, mel.hop_length),
            config,
            hyperparameters,
            train: order(train, hyperparameters.seed),
            held_out: order(held_out, HELD_OUT_SEED),
            shard,
        }
    }

    /// Recording and pulses from [`MARGIN`] frames before the window to as many after it; silence beyond the recording.
    fn around(&self, take: usize, first: usize, phase: f32) -> Result<(Vec<f32>, Vec<f32>)> {
        let MelConfig { sample_rate_hz, hop_length, .. } = *self.extractor.config();
        let frames = self.hyperparameters.window + 2 * MARGIN;
        let first = first as isize - MARGIN as isize;
        let f0_hz = self.takes.f0_hz(take, first, frames + 1)?;
        let recording = self.takes.samples(take, first * hop_length as isize, frames * hop_length)?;
        Ok((recording, pulses(&f0_hz, sample_rate_hz, hop_length, phase)))
    }
}

impl Collate for TakeSource<'_> {
    type Made = VocoderBatch;
    type Batch = VocoderBatch;

    fn make(&self, draw: BatchKey, cpu: &Device) -> Result<VocoderBatch> {
        let (frames, bins) = (self.hyperparameters.window, self.config.bins);
        let items = match draw {
            BatchKey::Train(step) => self.train.batch(step),
            BatchKey::HeldOut(number) => self.held_out.batch(number),
        };
        // VocoderClip, first frame, phase of the pulses.
        let pick = |(place, take): (usize, usize)| {
            let mut random = draw.random(self.hyperparameters.seed, place);
            (take, random.random_range(0..=self.takes.frames(take) - frames), random.random::<f32>())
        };
        let picks: Vec<(usize, usize, f32)> = items.into_iter().enumerate().map(pick).collect();
        let f0_hz = |&(take, first, _): &(usize, usize, f32)| self.takes.f0_hz(take, first as isize, frames);
        let f0_hz = picks.iter().map(f0_hz).collect::<Result<Vec<_>>>()?;
        let voiced_frames = f0_hz.iter().flatten().filter(|hz| **hz > 0.0).count();
        let names = picks.iter().map(|&(take, ..)| self.takes.name(take).to_string()).collect();
        let clips = Clips { whole: names, shard: self.shard };
        let (whole, picks, f0_hz) = (picks.len(), self.shard.slice(&picks), self.shard.slice(&f0_hz));

        let (mut mels, mut envelopes) = (Vec::new(), Vec::new());
        let (mut long, mut short, mut long_pulses) = (Vec::new(), Vec::new(), Vec::new());
        for &(take, first, phase) in picks {
            let mel = self.takes.mel(take, first, frames)?;
            envelopes.extend(self.extractor.envelope(&mel));
            mels.extend(mel.data.iter().map(|&value| self.config.mel_normalisation().apply(value)));
            let (recording, source) = self.around(take, first, phase)?;
            for (stft, samples, powers) in [
                (&self.long, &recording, &mut long),
                (&self.short, &recording, &mut short),
                (&self.long, &source, &mut long_pulses),
            ] {
                stft.analyze(samples, |t, spectrum| {
                    if (MARGIN..MARGIN + frames).contains(&t) {
                        powers.extend(spectrum.iter().map(|x| x.norm_sqr()));
                    }
                });
            }
        }
        let pitches = f0_hz.iter().flatten().flat_map(|&hz| shares(hz)).collect();
        let voiced: Vec<f32> = f0_hz.iter().flatten().map(|&hz| f32::from(u8::from(hz > 0.0))).collect();
        let tensor = |values: Vec<f32>, width: usize| {
            Tensor::<3>::from_data(TensorData::new(values, [picks.len(), frames, width]), cpu)
        };
        Ok(VocoderBatch {
            clips,
            mel: tensor(mels, self.config.mels),
            envelope: tensor(envelopes, bins),
            pitch: tensor(pitches, PITCH_CLASSES),
            long: Spectra {
                target: tensor(long, bins),
                pulses: tensor(long_pulses, bins),
                noise: noise_power(LONG_WINDOW),
            },
            short: Spectra {
                target: tensor(short, bins),
                pulses: tensor(
                    voiced.iter().map(|voiced| voiced * TYPICAL_NOISE * noise_power(SHORT_WINDOW)).collect(),
                    1,
                ),
                noise: noise_power(SHORT_WINDOW),
            },
            voiced: tensor(voiced, 1),
            share: picks.len() as f32 / whole as f32,
            voiced_frames,
        })
    }

    fn place(&self, made: VocoderBatch, device: &Device) -> VocoderBatch {
        VocoderBatch {
            mel: made.mel.to_device(device),
            envelope: made.envelope.to_device(device),
            pitch: made.pitch.to_device(device),
            voiced: made.voiced.to_device(device),
            long: made.long.placed(device),
            short: made.short.placed(device),
            ..made
        }
    }
}

/// Of noise of unit power in each bin: Hann's window, squared, sums to three eighths of its length.
fn noise_power(window: usize) -> f32 {
    0.375 * window as f32
}

/// How a pitch falls on the two nearest classes; nothing where there is none.
fn shares(hz: f32) -> [f32; PITCH_CLASSES] {
    let mut shares = [0.0; PITCH_CLASSES];
    if hz > 0.0 {
        let class = pitch_class(hz);
        let (below, above) = (class as usize, (class as usize + 1).min(PITCH_CLASSES - 1));
        shares[above] += class.fract();
        shares[below] += 1.0 - class.fract();
    }
    shares
}

/// Trains `blank`, which is on the run's device, to the recipe's last step and returns the network and its held-out spectral loss.
pub fn train(
    takes: &VocoderDataset,
    mel: &MelConfig,
    config: &VocoderConfig,
    blank: SourceFilter,
    run_config: &RunConfig,
    report: &dyn Report,
) -> Result<(SourceFilter, f32)> {
    let RunConfig { hyperparameters, .. } = run_config;
    let usable = (0..takes.len()).filter(|&take| takes.frames(take) >= hyperparameters.window);
    let (train, held_out) = split(usable)?;
    let run = Run::open(blank, run_config)?;
    run.finish(
        &TakeSource::new(takes, (&train, &held_out), mel, config, hyperparameters, run_config.ranks.shard()),
        report,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{learn::preflight::RunFacts, vocoder::dataset::VocoderClip};
    use burn_fused::{
        ranks::{Ranks, threads},
        weights::{Metadata, Storage, apply, collect, deserialize, serialize},
    };
    use ownvoice::audio::source::noise;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Pulses at a twentieth, with a tenth of that of noise.
    fn voice(seconds: f32, hz: f32) -> Vec<f32> {
        let frames = (seconds * 80.0) as usize + 1;
        let pulses = pulses(&vec![hz; frames], 16_000, 200, 0.0);
        let noise = noise(pulses.len(), &mut ChaCha8Rng::seed_from_u64(hz as u64));
        pulses.into_iter().zip(noise).map(|(x, y)| 0.05 * x + 0.005 * y).collect()
    }

    #[test]
    fn a_batch_holds_the_recording_and_its_pulses() {
        let mel = MelConfig::speech_16k();
        let extractor = MelExtractor::new(mel.clone());
        let folder = tempfile::tempdir().unwrap();
        let mut takes = VocoderDataset::create(folder.path(), 80).unwrap();
        takes.push("a".into(), &VocoderClip::new(voice(1.5, 150.0), None, &extractor)).unwrap();
        let config = VocoderConfig { width: 8, layers: 1, ..VocoderConfig::small() };
        let hyperparameters = Hyperparameters { batch: 2, window: 40, ..Hyperparameters::vocoder() };
        let source = |shard| TakeSource::new(&takes, (&[0], &[0]), &mel, &config, &hyperparameters, shard);
        let batch = source(Shard::WHOLE).make(BatchKey::Train(3), &Device::flex()).unwrap();
        assert_eq!(batch.mel.dims(), [2, 40, 80]);
        assert_eq!(batch.pitch.dims(), [2, 40, PITCH_CLASSES]);
        let with = |spectra: &Spectra, harmonic: f32, noise: f32| {
            let power =
                |amplitude: f32| Tensor::full(spectra.target.dims(), amplitude * amplitude, &Device::flex());
            divergence(spectra, power(harmonic), power(noise)).into_scalar::<f32>()
        };
        let right = with(&batch.long, 0.05, 0.005);
        for (harmonic, noise) in [(0.005, 0.05), (0.1, 0.005), (0.025, 0.005), (0.05, 0.02), (0.05, 0.001)] {
            assert!(
                right < 0.95 * with(&batch.long, harmonic, noise),
                "{right}; {harmonic} and {noise}: {}",
                with(&batch.long, harmonic, noise)
            );
        }
        let network = SourceFilter::new(&config, &Device::flex());
        let losses = |shard| {
            let batch = source(shard).make(BatchKey::Train(3), &Device::flex()).unwrap();
            network.losses(&batch, Mode::Eval).into_iter().map(|loss| loss.into_scalar::<f32>())
        };
        let shards = [0, 1].map(|rank| losses(Shard { rank, world_size: 2 }).collect::<Vec<_>>());
        for (at, whole) in losses(Shard::WHOLE).enumerate() {
            let sum = shards[0][at] + shards[1][at];
            assert!((sum - whole).abs() < 1e-5 * whole.abs().max(1.0), "loss {at}: {sum}, {whole}");
        }
        // The short window resolves level, not harmonics.
        let (pulses, noise) = (with(&batch.short, 0.05, 0.005), with(&batch.short, 0.005, 0.05));
        assert!(
            (pulses - noise).abs() < 0.01
                && pulses < 0.9 * with(&batch.short, 0.1, 0.005)
                && pulses < 0.9 * with(&batch.short, 0.025, 0.005)
        );
    }

    #[test]
    fn a_pitch_falls_between_its_classes() {
        let at = shares(ownvoice::vocoder::network::pitch_hz(20.25));
        assert!((at[20] - 0.75).abs() < 1e-3 && (at[21] - 0.25).abs() < 1e-3);
        assert_eq!(shares(0.0).iter().sum::<f32>(), 0.0);
    }

    #[test]
    fn a_few_steps_learn_pitch_and_spectrum() {
        let mel = MelConfig::speech_16k();
        let extractor = MelExtractor::new(mel.clone());
        let folder = tempfile::tempdir().unwrap();
        let mut takes = VocoderDataset::create(folder.path(), 80).unwrap();
        for index in 0..60 {
            let take = VocoderClip::new(voice(0.6, 90.0 + 5.0 * index as f32), None, &extractor);
            takes.push(index.to_string(), &take).unwrap();
        }
        let config = VocoderConfig { width: 16, layers: 1, ..VocoderConfig::small() };
        let hyperparameters = Hyperparameters { steps: 200, batch: 4, window: 24, rate_start: 5e-3, ..Hyperparameters::vocoder() };
        let run_config = RunConfig::new(hyperparameters, folder.path().to_path_buf(), &Device::flex());
        train(&takes, &mel, &config, SourceFilter::new(&config, &run_config.device), &run_config, &())
            .unwrap();
        let curve = std::fs::read_to_string(crate::learn::run::curve_path(folder.path())).unwrap();
        let losses: Vec<f32> =
            curve.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect();
        assert!(losses.len() == 10 && losses[9] < 0.75 * losses[0], "{curve}");

        let facts: RunFacts =
            serde_json::from_slice(&std::fs::read(folder.path().join(RunFacts::FILE)).unwrap()).unwrap();
        assert_eq!((facts.order.len(), facts.order[0].len()), (RunFacts::BATCHES, 4));
        // VocoderDataset 0 and 50 are held out.
        assert!(facts.order.iter().flatten().all(|name| name != "0" && name.parse::<usize>().unwrap() < 60));

        // Two ranks train as one.
        let weights = collect(&SourceFilter::new(&config, &Device::flex()));
        let weights = pollster::block_on(serialize(weights, Storage::Full, Metadata::new())).unwrap();
        let weights = deserialize(&weights).unwrap().0;
        let of_ranks = |ranks: Ranks, name: &str| {
            let blank = apply(SourceFilter::new(&config, &run_config.device), weights.clone()).unwrap();
            let hyperparameters = Hyperparameters { steps: 40, ..run_config.hyperparameters.clone() };
            let run_config =
                RunConfig { hyperparameters, directory: folder.path().join(name), ranks, ..run_config.clone() };
            train(&takes, &mel, &config, blank, &run_config, &()).unwrap().1
        };
        let one = of_ranks(Ranks::default(), "one");
        let two = threads::run(2, |ranks| of_ranks(ranks, "two"));
        assert!(two[0] == two[1] && (two[0] - one).abs() < 1e-4, "{two:?}, {one}");
    }
}
