//! The measurements of a voice over several sentences, and the identity of its speaker.

use super::{artefacts::Artefacts, faults::Fault};
use crate::speaker_encoder::verifier::{SpeakerEmbedding, SpeakerVerifier};
use ownvoice::{
    Result,
    align::PhonemeErrors,
    audio::{
        Audio,
        speaker::{SpeakerStats, similarity},
    },
};

/// The identity of a speaker, by both measures of similarity.
#[derive(Default)]
pub struct Identity {
    /// The spectral and pitch statistics.
    pub stats: SpeakerStats,
    /// The speaker embedding; `None` without a speaker encoder.
    pub vector: Option<SpeakerEmbedding>,
}

impl Identity {
    /// Computes the identity of the speaker of clips.
    pub fn from_clips(clips: &[Audio], verifier: Option<&SpeakerVerifier>) -> Result<Self> {
        let mut stats = SpeakerStats::default();
        let mut vectors = Vec::new();
        for Audio { samples, sample_rate_hz } in clips {
            stats.merge(&SpeakerStats::from_audio(samples, *sample_rate_hz)?);
            vectors.extend(verifier.map(|verifier| verifier.embed(samples, *sample_rate_hz)).transpose()?);
        }
        Ok(Self { stats, vector: SpeakerEmbedding::mean(&vectors) })
    }

    /// Returns the similarity to another identity.
    pub fn similarity(&self, other: &Self) -> Similarity {
        let encoder = self.vector.as_ref().zip(other.vector.as_ref()).map(|(a, b)| a.similarity(b));
        Similarity { statistics: similarity(&self.stats, &other.stats), encoder }
    }
}

/// The similarity of two identities, by both measures.
#[derive(Debug, Clone, Copy)]
pub struct Similarity {
    /// The similarity by cepstral and pitch statistics, 0 to 1.
    pub statistics: f32,
    /// The cosine similarity of the speaker embeddings, if both have one.
    pub encoder: Option<f32>,
}

/// The measurements of one voice over all sentences.
#[derive(Default)]
pub struct Measured {
    pub identity: Identity,
    /// The mean mel-cepstral distortion from recordings of the same sentences; zero without recordings.
    pub mcd_db: f32,
    /// The mean log F0 error; zero without recordings.
    pub logf0_rmse: f32,
    /// The mean voicing error; zero without recordings.
    pub voicing_error: f32,
    pub phonemes: PhonemeErrors,
    /// The number of phones of the texts that are missing.
    pub dropped: usize,
    /// The number of phones that are not in the texts.
    pub added: usize,
    /// The number of phones that last at least three times, or at most a third, of their synthesised duration.
    pub duration_outliers: usize,
    /// The artefacts of each sentence.
    pub artefacts: Vec<Artefacts>,
    /// The faults of each sentence.
    pub faults: Vec<Vec<Fault>>,
    /// The sound of each sentence.
    pub clips: Vec<Audio>,
}

impl Measured {
    /// Returns the phoneme error rate over all sentences.
    pub fn phoneme_error_rate(&self) -> f32 {
        self.phonemes.rate()
    }

    /// Returns the number of sentences with this fault.
    pub fn with_fault(&self, fault: Fault) -> usize {
        self.faults.iter().filter(|faults| faults.contains(&fault)).count()
    }
}
