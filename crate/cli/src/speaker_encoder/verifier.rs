//! The similarity of voices by the trained speaker encoder, which complements the statistics of [`ownvoice::audio::speaker`], and its equal error rate.

use burn::prelude::*;

use super::network::{EMBEDDING, SpeakerEncoder};
use burn_fused::{
    Mode,
    weights::{Metadata, Storage, apply_all, collect, deserialize, serialize},
};
use ownvoice::{
    Error, Result,
    audio::{
        SPEECH_LEVEL_DB, level,
        mel::{MelConfig, MelExtractor},
        resample::resample,
    },
};

/// Speaker verification by the trained encoder, on the CPU.
pub struct SpeakerVerifier {
    model: SpeakerEncoder,
    extractor: MelExtractor,
}

/// The embedding of a voice, `[EMBEDDING]`, of unit length.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeakerEmbedding(Vec<f32>);

impl SpeakerEmbedding {
    /// Returns the direction of the mean of several embeddings, or `None` without any.
    pub fn mean<'a>(embeddings: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut sum = vec![0.0; EMBEDDING];
        let mut any = false;
        for embedding in embeddings {
            sum.iter_mut().zip(&embedding.0).for_each(|(sum, x)| *sum += x);
            any = true;
        }
        any.then(|| Self::normalised(sum))
    }

    pub(super) fn normalised(values: Vec<f32>) -> Self {
        let length = values.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-12);
        Self(values.into_iter().map(|x| x / length).collect())
    }

    /// Returns the cosine similarity of two voices: 1 for equal ones, about 0 for different speakers.
    pub fn similarity(&self, other: &Self) -> f32 {
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
    }
}

impl SpeakerVerifier {
    /// Loads an encoder from the bytes of `models/base/speaker_encoder.safetensors`.
    pub fn load(bytes: &[u8]) -> Result<Self> {
        let corrupt = |what: String| Error::base_corrupt(format!("speaker encoder: {what}"));
        let (weights, _) = deserialize(bytes).map_err(corrupt)?;
        let blank = SpeakerEncoder::new(MelConfig::speech_16k().mels, &Device::flex());
        Ok(Self::new(apply_all(blank, weights).map_err(corrupt)?))
    }

    /// Creates a verifier of `model`, which is on the CPU device and tracks no gradients.
    pub fn new(model: SpeakerEncoder) -> Self {
        Self { model, extractor: MelExtractor::new(MelConfig::speech_16k()) }
    }

    /// Encodes the file that [`Self::load`] reads.
    pub async fn serialize(model: &SpeakerEncoder) -> Result<Vec<u8>> {
        Ok(serialize(collect(model), Storage::Half, Metadata::new()).await?)
    }

    /// Computes the speaker embedding of samples `[S]` of any level and rate. Fails with `clip-empty` if they hold no speech.
    pub fn embed(&self, samples: &[f32], sample_rate_hz: u32) -> Result<SpeakerEmbedding> {
        let mel = encoder_input(&self.extractor, samples, sample_rate_hz)?;
        let frames = mel.len() / self.extractor.config().mels;
        let input = Tensor::from_data(
            TensorData::new(mel, [1, frames, self.extractor.config().mels]),
            &Device::flex(),
        );
        let vector = self
            .model
            .forward(input, None, Mode::Eval)
            .into_data()
            .try_to_vec::<f32>()
            .expect("computed in f32");
        Ok(SpeakerEmbedding::normalised(vector))
    }
}

/// Computes the encoder's input for training and inference: log-mels `[T, M]` of the trimmed clip, normalised in level.
pub fn encoder_input(extractor: &MelExtractor, samples: &[f32], sample_rate_hz: u32) -> Result<Vec<f32>> {
    let rate_hz = extractor.config().sample_rate_hz;
    let samples = resample(samples, sample_rate_hz, rate_hz)?;
    let speech = &samples[level::trim_silence(&samples, rate_hz)];
    if speech.is_empty() {
        return Err(Error::clip_empty());
    }
    Ok(extractor.extract(&level::normalize(speech, SPEECH_LEVEL_DB)).data)
}

/// Returns the equal error rate, 0 to 1: the rate at the threshold where false acceptances and false rejections are equally frequent.
///
/// * `same`:  similarities of clips of the same speaker
/// * `other`: similarities of clips of different speakers
pub fn equal_error_rate(same: &[f32], other: &[f32]) -> f32 {
    let mut all: Vec<(f32, bool)> =
        same.iter().map(|x| (*x, true)).chain(other.iter().map(|x| (*x, false))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut rejected, mut accepted) = (0, other.len());
    for (_, is_same) in all {
        let (miss, alarm) = (rejected as f32 / same.len() as f32, accepted as f32 / other.len() as f32);
        if miss >= alarm {
            return (miss + alarm) / 2.0;
        }
        if is_same { rejected += 1 } else { accepted -= 1 }
    }
    1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_error_rates() {
        assert_eq!(equal_error_rate(&[0.9, 0.8], &[0.1, 0.2]), 0.0);
        assert_eq!(equal_error_rate(&[0.9, 0.8, 0.7, 0.2], &[0.1, 0.3, 0.0, 0.1]), 0.25);
        assert_eq!(equal_error_rate(&[0.1], &[0.9]), 1.0);
    }

    #[test]
    fn embeddings_average_by_direction() {
        let vector =
            |x: f32, y: f32| SpeakerEmbedding::normalised([vec![x, y], vec![0.0; EMBEDDING - 2]].concat());
        let mean = SpeakerEmbedding::mean([&vector(5.0, 0.0), &vector(0.0, 1.0)]).unwrap();
        assert!((mean.similarity(&vector(1.0, 1.0)) - 1.0).abs() < 1e-6);
        assert!(vector(1.0, 0.0).similarity(&vector(0.0, 2.0)).abs() < 1e-6);
        assert!(SpeakerEmbedding::mean([]).is_none());
    }

    #[test]
    fn files_are_checked_and_empty_clips_refused() {
        let device = Device::flex();
        device.seed(1);
        let bytes =
            pollster::block_on(SpeakerVerifier::serialize(&SpeakerEncoder::new(80, &device))).unwrap();
        let verifier = SpeakerVerifier::load(&bytes).unwrap();
        let tone: Vec<f32> = (0..16_000).map(|n| 0.2 * (n as f32 * 0.06).sin()).collect();
        let vector = verifier.embed(&tone, 16_000).unwrap();
        let quiet: Vec<f32> = tone.iter().map(|x| 0.1 * x).collect();
        assert!((vector.similarity(&vector) - 1.0).abs() < 1e-5);
        assert!(
            vector.similarity(&verifier.embed(&quiet, 16_000).unwrap()) > 0.999,
            "the level does not matter"
        );
        assert_eq!(verifier.embed(&[], 16_000).unwrap_err().code(), "clip-empty");
        for damaged in [&bytes[..40], &bytes[..bytes.len() - 3]] {
            assert_eq!(SpeakerVerifier::load(damaged).err().unwrap().code(), "base-corrupt");
        }
    }
}
