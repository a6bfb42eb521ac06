//! The neural source-filter vocoder: the network of [`super::network`] predicts pitch and filters, which shape pulses and noise.
//!
//! The spectrogram of the result is then compared with the given one, and its spectra are scaled by the ratio: the network determines the fine structure of
//! a frame, the spectrogram its envelope.

use burn::prelude::*;
use burn::tensor::activation::sigmoid;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{
    Vocoder,
    network::{Filters, PITCH_CLASSES, SourceFilter, VocoderConfig, pitch_hz},
};
use crate::{
    Error, Result,
    audio::{
        level::limit,
        mel::{Mel, MelConfig, MelExtractor},
        source::{FrameFilter, noise, pulses},
    },
};
use burn_fused::weights::{Metadata, Storage, apply_all, collect, deserialize, serialize};

/// The attenuation of the noise in voiced frames, in nepers. Between the harmonics of a recording lie both noise and the modulation of the harmonics
/// themselves, and the loss does not separate the two. Without the attenuation voices are hoarse; with more they are more harmonic than human voices.
const VOICED_NOISE_CUT: f32 = 1.8;
/// The number of rounds of correction; each removes about a third of an excess.
const CORRECTIONS: usize = 3;
/// The largest correction of one round, in nepers.
const MAX_CORRECTION: f32 = 3.0;
/// The share of a spectrum's deficit that one round adds. The deficit is largest in the valleys, where only noise can be raised.
const BOOST_SHARE: f32 = 0.5;

/// The neural vocoder. It always runs on the CPU: the network takes a few dozen milliseconds of one core for a second of speech.
pub struct NeuralVocoder {
    /// The seed of the noise: the same seed gives the same sound.
    pub seed: u64,
    model: SourceFilter,
    config: VocoderConfig,
    /// Extracts spectrograms from the vocoder's samples.
    extractor: MelExtractor,
    filter: FrameFilter,
}

/// The network's outputs for a spectrogram.
struct Analysis {
    /// The F0 of each frame, `[T]`; 0 where unvoiced.
    f0_hz: Vec<f32>,
    /// Log amplitudes of the filter for pulses, `[T, F]`.
    harmonic: Vec<f32>,
    /// Log amplitudes of the filter for noise, `[T, F]`.
    noise: Vec<f32>,
}

impl NeuralVocoder {
    /// Loads a vocoder from the bytes of `models/base/vocoder.safetensors`.
    pub fn load(bytes: &[u8], mel: MelConfig) -> Result<Self> {
        let corrupt = |what: String| Error::base_corrupt(format!("vocoder: {what}"));
        let (weights, metadata) = deserialize(bytes).map_err(corrupt)?;
        let config = metadata.get("config").ok_or_else(|| corrupt("its configuration is missing".into()))?;
        let config: VocoderConfig =
            serde_json::from_str(config).map_err(|error| corrupt(error.to_string()))?;
        if !config.is_sound() {
            return Err(corrupt(format!("its configuration is invalid: {config:?}")));
        }
        let extractor = config
            .extractor(&mel)
            .ok_or_else(|| corrupt("it was trained on spectrograms of another configuration".into()))?;
        let model = apply_all(SourceFilter::new(&config, &Device::flex()), weights).map_err(corrupt)?;
        Ok(Self::new(model, config, extractor))
    }

    /// Creates a vocoder of `model`, which must be on the CPU device.
    ///
    /// * `extractor`: see [`VocoderConfig::extractor`]
    pub fn new(model: SourceFilter, config: VocoderConfig, extractor: MelExtractor) -> Self {
        let filter = FrameFilter::new(extractor.config().fft_length, extractor.config().hop_length);
        Self { seed: 0, model, config, extractor, filter }
    }

    /// Encodes the file that [`Self::load`] reads. Weights are stored as bytes: an error of half a percent of a weight is not audible.
    pub async fn serialize(model: &SourceFilter, config: &VocoderConfig) -> Result<Vec<u8>> {
        let config = serde_json::to_string(config).expect("plain data");
        Ok(serialize(collect(model), Storage::Bytes, Metadata::from([("config".to_string(), config)]))
            .await?)
    }

    /// Runs the network on a spectrogram.
    fn analyze(&self, mel: &Mel) -> Analysis {
        let (frames, bins) = (mel.frames(), self.config.bins);
        let tensor = |values: Vec<f32>, width: usize| {
            Tensor::<3>::from_data(TensorData::new(values, [1, frames, width]), &Device::flex())
        };
        let normalisation = self.config.mel_normalisation();
        let normalised = mel.data.iter().map(|&value| normalisation.apply(value)).collect();
        let Filters { pitch, voicing, harmonic, noise } =
            self.model.forward(tensor(normalised, mel.mels), tensor(self.extractor.envelope(mel), bins));
        // The CPU backend needs no asynchronous read.
        let values = |tensor: Tensor<3>| tensor.into_data().try_to_vec::<f32>().expect("computed in f32");
        let (pitch, voicing) = (values(pitch), values(sigmoid(voicing)));
        let f0: Vec<f32> = pitch.chunks_exact(PITCH_CLASSES).map(|logits| pitch_hz(peak(logits))).collect();
        let voiced = voicing.iter().map(|share| *share > 0.5);
        let f0_hz =
            smooth(&f0).into_iter().zip(voiced).map(|(hz, voiced)| if voiced { hz } else { 0.0 }).collect();
        Analysis { f0_hz, harmonic: values(harmonic), noise: values(noise) }
    }

    /// Scales the spectra of the samples towards a mel spectrogram; phases and fine structure are kept. Above the highest channel, the scale is that channel's.
    fn corrected(&self, samples: &[f32], wanted: &Mel) -> Vec<f32> {
        let mut lacks = vec![0.0; wanted.mels];
        self.extractor.stft().scale(samples, |t, spectrum, gains| {
            let made = self.extractor.frame(spectrum);
            lacks
                .iter_mut()
                .zip(wanted.frame(t))
                .zip(made)
                .for_each(|((lack, wanted), made)| *lack = wanted - made);
            self.extractor.interpolate(&lacks, gains);
            gains.iter_mut().for_each(|gain| *gain = correction(*gain).exp());
        })
    }
}

impl Vocoder for NeuralVocoder {
    fn name(&self) -> &'static str {
        "neural"
    }

    fn sample_rate_hz(&self) -> u32 {
        self.config.sample_rate_hz
    }

    fn vocode(&self, mel: &Mel) -> Vec<f32> {
        if mel.frames() < 2 {
            return Vec::new();
        }
        let Analysis { f0_hz, harmonic, noise: mut aperiodic } = self.analyze(mel);
        for (filter, _) in
            aperiodic.chunks_exact_mut(self.config.bins).zip(&f0_hz).filter(|(_, hz)| **hz > 0.0)
        {
            filter.iter_mut().for_each(|log| *log -= VOICED_NOISE_CUT);
        }
        let config = self.extractor.config();
        let voice = pulses(&f0_hz, config.sample_rate_hz, config.hop_length, 0.0);
        let breath = noise(voice.len(), &mut ChaCha8Rng::seed_from_u64(self.seed));
        let mut samples = self.filter.sum((&voice, &harmonic), (&breath, &aperiodic));
        for _ in 0..CORRECTIONS {
            samples = self.corrected(&samples, mel);
        }
        samples.into_iter().map(limit).collect()
    }
}

/// Returns the correction, in nepers, of a level that is `lack` nepers below the wanted one.
fn correction(lack: f32) -> f32 {
    let lack = lack.clamp(-MAX_CORRECTION, MAX_CORRECTION);
    if lack > 0.0 { BOOST_SHARE * lack } else { lack }
}

/// Returns the most likely class with a fractional part: the mean class around the maximum, weighted by probability.
fn peak(logits: &[f32]) -> f32 {
    const AROUND: usize = 3;
    let highest =
        (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).expect("there are classes");
    let range = highest.saturating_sub(AROUND)..(highest + AROUND + 1).min(logits.len());
    let weights = range.clone().map(|class| (logits[class] - logits[highest]).exp());
    let (sum, moment) = weights
        .zip(range)
        .fold((0.0, 0.0), |(sum, moment), (weight, class)| (sum + weight, moment + weight * class as f32));
    moment / sum
}

/// Computes medians of three, which remove octave errors of single frames.
fn smooth(values: &[f32]) -> Vec<f32> {
    let at = |index: usize| values[index.min(values.len() - 1)];
    let median = |index: usize| {
        let mut three = [at(index.saturating_sub(1)), at(index), at(index + 1)];
        three.sort_by(f32::total_cmp);
        three[1]
    };
    (0..values.len()).map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::resample::resample;

    #[test]
    fn the_peak_lies_between_classes() {
        let mut logits = [-20.0; 9];
        (logits[4], logits[5]) = (1.0, 1.0);
        assert!((peak(&logits) - 4.5).abs() < 1e-4);
        logits[0] = 9.0;
        assert!(peak(&logits) < 0.01);
    }

    #[test]
    fn correction_restores_the_given_spectrogram() {
        let (device, mel) = (Device::flex(), MelConfig::speech_16k());
        device.seed(4);
        let config = VocoderConfig { width: 8, layers: 1, ..VocoderConfig::small() };
        let filters = config.extractor(&mel).unwrap();
        let vocoder = NeuralVocoder::new(SourceFilter::new(&config, &device), config, filters);
        assert_eq!(vocoder.sample_rate_hz(), 24_000);
        let extractor = MelExtractor::new(mel);
        let recording = pulses(&vec![140.0; 81], 16_000, 200, 0.0);
        let wanted = extractor.extract(
            &recording
                .iter()
                .enumerate()
                .map(|(n, x)| x * 0.05 * (n as f32 / 2000.0).sin())
                .collect::<Vec<_>>(),
        );
        let made = extractor.extract(&resample(&vocoder.vocode(&wanted), 24_000, 16_000).unwrap());
        let error = made.data.iter().zip(&wanted.data).map(|(a, b)| (a - b).abs()).sum::<f32>()
            / made.data.len() as f32;
        // The network is untrained, and still the mel spectrogram is approximately right.
        assert!(error < 0.4, "{error}");
    }

    /// A file without a rate, as those of earlier vocoders, gives samples at the rate of the spectrograms.
    #[test]
    fn files_without_a_rate_are_at_the_rate_of_the_spectrograms() {
        let device = Device::flex();
        let config = VocoderConfig {
            width: 8,
            layers: 1,
            sample_rate_hz: 16_000,
            bins: 513,
            ..VocoderConfig::small()
        };
        let mut written = serde_json::to_value(&config).unwrap();
        written.as_object_mut().unwrap().remove("sample_rate_hz").unwrap();
        let weights = collect(&SourceFilter::new(&config, &device));
        let metadata = Metadata::from([("config".to_string(), written.to_string())]);
        let bytes = pollster::block_on(serialize(weights, Storage::Bytes, metadata)).unwrap();
        let vocoder = NeuralVocoder::load(&bytes, MelConfig::speech_16k()).unwrap();
        assert_eq!((&vocoder.config, vocoder.sample_rate_hz()), (&config, 16_000));
        assert_eq!(vocoder.vocode(&Mel { mels: 80, data: vec![-4.0; 7 * 80] }).len(), 6 * 200);
    }

    #[test]
    fn a_deficit_is_halved_and_an_excess_removed() {
        assert_eq!([-9.0, -1.0, 0.0, 1.0, 9.0].map(correction), [-3.0, -1.0, 0.0, 0.5, 1.5]);
    }

    #[test]
    fn a_single_jump_is_smoothed_away() {
        assert_eq!(smooth(&[100.0, 100.0, 200.0, 102.0, 104.0]), [100.0, 100.0, 102.0, 104.0, 104.0]);
    }

    #[test]
    fn saved_networks_give_the_expected_number_of_samples() {
        let device = Device::flex();
        device.seed(2);
        let config = VocoderConfig { width: 8, layers: 1, ..VocoderConfig::small() };
        let model = SourceFilter::new(&config, &device);
        let bytes = pollster::block_on(NeuralVocoder::serialize(&model, &config)).unwrap();
        let vocoder = NeuralVocoder::load(&bytes, MelConfig::speech_16k()).unwrap();
        let mel = Mel { mels: 80, data: vec![-4.0; 7 * 80] };
        let samples = vocoder.vocode(&mel);
        assert_eq!(samples.len(), 6 * 300);
        assert!(samples.iter().all(|x| x.abs() <= 1.0) && samples.iter().any(|x| x.abs() > 1e-4));
        assert_eq!(samples, vocoder.vocode(&mel), "the same seed gives the same sound");
        assert_eq!(vocoder.vocode(&Mel { mels: 80, data: Vec::new() }), [0.0f32; 0]);
        for damaged in [&bytes[..40], &bytes[..bytes.len() - 3]] {
            assert_eq!(
                NeuralVocoder::load(damaged, MelConfig::speech_16k()).err().unwrap().code(),
                "base-corrupt"
            );
        }
        let other = MelConfig { fft_length: 512, window_length: 512, ..MelConfig::speech_16k() };
        assert_eq!(NeuralVocoder::load(&bytes, other).err().unwrap().code(), "base-corrupt");
    }
}
