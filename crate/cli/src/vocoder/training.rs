//! Trains the neural vocoder on recordings, with their own spectrograms and with those that a base synthesises for the same words.
//!
//! The network's filters turn two sources with known power spectra into a power spectrum, which is compared with the recording's. Training therefore needs
//! neither phases, nor an adversary, nor synthesised samples.

use burn::{
    prelude::*,
    tensor::activation::{log_sigmoid, log_softmax},
};

use super::{
    batch::{VocoderBatch, WindowSource},
    dataset::VocoderDataset,
    spectra::divergence,
};
use crate::learn::{
    hyperparameters::{Hyperparameters, RunConfig},
    run::{Run, split},
    trainable_model::TrainableModel,
};
use burn_fused::{ComputePlan, Mode, Precision, Scope};
use ownvoice::{
    Result,
    report::Report,
    vocoder::network::{Filters, SourceFilter, VocoderConfig},
};

impl Hyperparameters {
    /// The hyperparameters of a vocoder that is trained on recordings.
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

    /// The hyperparameters of its last steps, on spectrograms that a base synthesises.
    pub fn vocoder_end() -> Self {
        Self { steps: 2000, rate_start: 3e-4, ..Self::vocoder() }
    }
}

impl TrainableModel for SourceFilter {
    type Batch = VocoderBatch;

    const LOSSES: &'static [&'static str] = &["spectrum", "pitch", "voicing", "restraint"];
    const CRITERION: usize = 0;

    fn losses(&self, batch: &VocoderBatch, _mode: Mode) -> Vec<Tensor<1>> {
        const PITCH_WEIGHT: f32 = 0.2;
        /// The weight of the distance between the filter of pulses and the spectrogram's envelope. Without pulses, nothing else determines this filter.
        const RESTRAINT: f32 = 1e-3;
        let Filters { pitch, voicing, harmonic, noise } =
            self.forward(batch.mel.clone(), batch.envelope.clone());
        let restraint =
            (harmonic.clone() - batch.envelope.clone()).powi_scalar(2).mean().mul_scalar(RESTRAINT);
        let (harmonic, noise) = (harmonic.mul_scalar(2.0).exp(), noise.mul_scalar(2.0).exp());
        let [long, short] = [&batch.long, &batch.short]
            .map(|spectra| divergence(spectra, harmonic.clone(), noise.clone(), batch.known.clone()));
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

/// Trains `blank`, which is on the run's device, to the last step. Returns the network and its held-out spectral loss.
///
/// * `smoothing`: the largest standard deviation of the random smoothing of the spectrograms, in frames and channels
pub fn train(
    dataset: &VocoderDataset,
    config: &VocoderConfig,
    smoothing: f32,
    blank: SourceFilter,
    run_config: &RunConfig,
    report: &dyn Report,
) -> Result<(SourceFilter, f32)> {
    let RunConfig { hyperparameters, ranks, .. } = run_config;
    let usable = (0..dataset.len()).filter(|&clip| dataset.frames(clip) >= hyperparameters.window);
    let (train, held_out) = split(usable)?;
    let run = Run::open(blank, run_config)?;
    let source =
        WindowSource::new(dataset, (&train, &held_out), config, hyperparameters, smoothing, ranks.shard());
    run.finish(&source, report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        learn::{data_loader::Collate, preflight::RunFacts},
        vocoder::{dataset::VocoderClip, spectra::Spectra},
    };
    use burn_fused::{
        ranks::{Ranks, Shard, threads},
        weights::{Metadata, Storage, apply, collect, deserialize, serialize},
    };
    use ownvoice::{
        audio::{
            Audio,
            mel::{MelConfig, MelExtractor},
            source::{noise, pulses},
        },
        learn::sampler::BatchKey,
        vocoder::network::PITCH_CLASSES,
    };
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Returns pulses with a gain of 0.05 and noise with a gain of 0.005, at 24 kHz.
    fn voice(seconds: f32, hz: f32) -> Audio {
        let frames = (seconds * 80.0) as usize + 1;
        let pulses = pulses(&vec![hz; frames], 24_000, 300, 0.0);
        let noise = noise(pulses.len(), &mut ChaCha8Rng::seed_from_u64(hz as u64));
        let samples = pulses.into_iter().zip(noise).map(|(x, y)| 0.05 * x + 0.005 * y).collect();
        Audio { samples, sample_rate_hz: 24_000 }
    }

    fn clip(voice: Audio) -> VocoderClip {
        VocoderClip::new(voice, 12_000.0, None, &MelExtractor::new(MelConfig::speech_16k())).unwrap()
    }

    #[test]
    fn a_batch_holds_the_recording_and_its_pulses() {
        let folder = tempfile::tempdir().unwrap();
        let mut dataset = VocoderDataset::create(folder.path(), MelConfig::speech_16k()).unwrap();
        dataset.push("a".into(), &clip(voice(1.5, 150.0))).unwrap();
        let config = VocoderConfig { width: 8, layers: 1, ..VocoderConfig::small() };
        let hyperparameters = Hyperparameters { batch: 2, window: 40, ..Hyperparameters::vocoder() };
        let source = |shard| WindowSource::new(&dataset, (&[0], &[0]), &config, &hyperparameters, 0.0, shard);
        let batch = source(Shard::WHOLE).make(BatchKey::Train(3), &Device::flex()).unwrap();
        assert_eq!(batch.mel.dims(), [2, 40, 80]);
        assert_eq!(batch.pitch.dims(), [2, 40, PITCH_CLASSES]);
        let with = |spectra: &Spectra, harmonic: f32, noise: f32| {
            let power =
                |amplitude: f32| Tensor::full(spectra.target.dims(), amplitude * amplitude, &Device::flex());
            divergence(spectra, power(harmonic), power(noise), batch.known.clone()).into_scalar::<f32>()
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
        // The short window resolves levels, but not harmonics.
        let (pulses, noise) = (with(&batch.short, 0.05, 0.005), with(&batch.short, 0.005, 0.05));
        assert!(
            (pulses - noise).abs() < 0.01
                && pulses < 0.9 * with(&batch.short, 0.1, 0.005)
                && pulses < 0.9 * with(&batch.short, 0.025, 0.005)
        );
    }

    /// What a recording lacks is not compared: with a recording at 16 kHz, the filters above 8 kHz do not change the loss of the spectrum.
    #[test]
    fn frequencies_that_a_recording_lacks_are_not_compared() {
        let folder = tempfile::tempdir().unwrap();
        let mut dataset = VocoderDataset::create(folder.path(), MelConfig::speech_16k()).unwrap();
        let extractor = MelExtractor::new(MelConfig::speech_16k());
        for (name, band_hz) in [("narrow", 8_000.0), ("wide", 12_000.0)] {
            let clip = VocoderClip::new(voice(0.6, 150.0), band_hz, None, &extractor).unwrap();
            dataset.push(name.into(), &clip).unwrap();
        }
        let config = VocoderConfig { width: 8, layers: 1, ..VocoderConfig::small() };
        let hyperparameters = Hyperparameters { batch: 1, window: 40, ..Hyperparameters::vocoder() };
        let loss = |clip: usize, at: usize| {
            let source =
                WindowSource::new(&dataset, (&[clip], &[clip]), &config, &hyperparameters, 0.0, Shard::WHOLE);
            let batch = source.make(BatchKey::HeldOut(0), &Device::flex()).unwrap();
            let gain = |bin: usize| if bin < at { 0.0025 } else { 1.0 };
            let filter = (0..config.bins).map(gain).collect::<Vec<f32>>();
            let filter = Tensor::<1>::from_floats(&filter[..], &Device::flex()).reshape([1, 1, config.bins]);
            let noise = Tensor::full([1, 1, 1], 2.5e-5, &Device::flex());
            divergence(&batch.long, filter, noise, batch.known.clone()).into_scalar::<f32>()
        };
        assert_eq!(loss(0, 513), loss(0, 769), "above 8 kHz");
        assert!(loss(0, 512) > loss(0, 513), "at 8 kHz");
        assert!(loss(1, 513) > 1.1 * loss(1, 769));
    }

    #[test]
    fn a_few_steps_reduce_the_loss_of_the_spectrum() {
        let folder = tempfile::tempdir().unwrap();
        let mut dataset = VocoderDataset::create(folder.path(), MelConfig::speech_16k()).unwrap();
        for index in 0..60 {
            dataset.push(index.to_string(), &clip(voice(0.6, 90.0 + 5.0 * index as f32))).unwrap();
        }
        let config = VocoderConfig { width: 16, layers: 1, ..VocoderConfig::small() };
        let hyperparameters = Hyperparameters {
            steps: 200,
            batch: 4,
            window: 24,
            rate_start: 5e-3,
            ..Hyperparameters::vocoder()
        };
        let run_config = RunConfig::new(hyperparameters, folder.path().to_path_buf(), &Device::flex());
        train(&dataset, &config, 2.0, SourceFilter::new(&config, &run_config.device), &run_config, &())
            .unwrap();
        let curve = std::fs::read_to_string(crate::learn::run::curve_path(folder.path())).unwrap();
        let losses: Vec<f32> =
            curve.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect();
        assert!(losses.len() == 10 && losses[9] < 0.75 * losses[0], "{curve}");

        let facts: RunFacts =
            serde_json::from_slice(&std::fs::read(folder.path().join(RunFacts::FILE)).unwrap()).unwrap();
        assert_eq!((facts.order.len(), facts.order[0].len()), (RunFacts::BATCHES, 4));
        // The clips 0 and 50 are held out.
        assert!(facts.order.iter().flatten().all(|name| name != "0" && name.parse::<usize>().unwrap() < 60));

        // Two ranks have the result of one.
        let weights = collect(&SourceFilter::new(&config, &Device::flex()));
        let weights = pollster::block_on(serialize(weights, Storage::Full, Metadata::new())).unwrap();
        let weights = deserialize(&weights).unwrap().0;
        let loss_of = |ranks: Ranks, name: &str| {
            let blank = apply(SourceFilter::new(&config, &run_config.device), weights.clone()).unwrap();
            let hyperparameters = Hyperparameters { steps: 40, ..run_config.hyperparameters.clone() };
            let run_config = RunConfig {
                hyperparameters,
                directory: folder.path().join(name),
                ranks,
                ..run_config.clone()
            };
            train(&dataset, &config, 2.0, blank, &run_config, &()).unwrap().1
        };
        let one = loss_of(Ranks::default(), "one");
        let two = threads::run(2, |ranks| loss_of(ranks, "two"));
        assert!(two[0] == two[1] && (two[0] - one).abs() < 1e-4, "{two:?}, {one}");
    }
}
