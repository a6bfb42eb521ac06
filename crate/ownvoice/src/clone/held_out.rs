//! Metrics of held-out clips: the loss, the similarity and the phoneme errors that the stop rule scores, and the variance scale.

use super::{
    clip::AlignedClip,
    frame_store::{FrameStore, predict},
    options::ValidationMetrics,
};
use crate::{
    Result,
    align::{ForcedAligner, PhonemeErrors, segment::ONE_IN},
    audio::{
        global_variance_scale::{global_variance_scale, scale_variance},
        mel::Mel,
        speaker::{SpeakerStats, similarity},
    },
    text::symbols::Symbol,
    voice::{Adapted, Base},
};
use burn_fused::{Compute, readback::read};

/// The most clips that are held out: enough for metrics of low variance.
const MAX_HELD_OUT: usize = 4;

/// A held-out clip.
struct HeldClip {
    /// The index of its first frame in the store.
    first: usize,
    symbols: Vec<Symbol>,
    recorded: Mel,
}

/// The held-out clips.
pub struct HeldOut {
    base: Base,
    clips: Vec<HeldClip>,
    /// Statistics of the speaker's spectra over all clips.
    speaker: SpeakerStats,
    /// The phoneme error rate of the recordings themselves: a voice need not be more intelligible than its speaker.
    pub phoneme_error_rate: f32,
    /// The aligner that is adapted to the speaker.
    aligner: ForcedAligner,
}

impl HeldOut {
    /// Holds out the last clips, one in [`ONE_IN`] and at least one. Returns `None` if there is one clip only, which was too short to be cut.
    ///
    /// * `clips`: all clips, in the order of `store`
    pub async fn new(
        base: &Base,
        aligner: ForcedAligner,
        clips: &[AlignedClip],
        store: &FrameStore,
    ) -> Result<Option<Self>> {
        let count = (clips.len() / ONE_IN).clamp(1, MAX_HELD_OUT);
        if clips.len() < 2 {
            return Ok(None);
        }
        let mel = |clip: &AlignedClip| clip.spectrogram(base.mel_config().mels);
        let mut speaker = SpeakerStats::default();
        clips.iter().for_each(|clip| speaker.merge(&SpeakerStats::from_mel(&mel(clip))));
        let last = clips.iter().zip(&store.clips).skip(clips.len() - count);
        let held: Vec<_> = last
            .map(|(clip, span)| HeldClip {
                first: span.first,
                symbols: clip.symbols.clone(),
                recorded: mel(clip),
            })
            .collect();
        let mut errors = PhonemeErrors::default();
        for clip in &held {
            errors += aligner.phoneme_errors(&clip.recorded, &clip.symbols).await?;
        }
        let phoneme_error_rate = errors.rate();
        Ok(Some(Self { base: base.clone(), clips: held, speaker, phoneme_error_rate, aligner }))
    }

    /// Returns the number of held-out clips.
    pub fn count(&self) -> usize {
        self.clips.len()
    }

    /// Predicts the clips with their recorded durations, and compares the spectrograms with the recordings.
    pub async fn validate(
        &self,
        parts: &Adapted,
        store: &FrameStore,
        window: usize,
    ) -> Result<ValidationMetrics> {
        let windows_of = |clip: &HeldClip| (clip.first..clip.first + clip.recorded.frames()).step_by(window);
        let starts: Vec<usize> = self.clips.iter().flat_map(windows_of).collect();
        let windows = store.gather(&starts, window);
        let (before, after) = predict(parts, &windows);
        let fused = Compute::default();
        let loss = read(windows.loss(&fused, before) + windows.loss(&fused, after.clone())).await?[0];
        let (config, mel_config) = (self.base.config(), self.base.mel_config());
        let mels = config.mels;
        let values = read(after.reshape([starts.len() * window * mels])).await?;
        let mut rest = values.as_slice();
        let predicted: Vec<Mel> = self
            .clips
            .iter()
            .map(|clip| {
                let (own, others) = rest.split_at(windows_of(clip).len() * window * mels);
                rest = others;
                config.log_mels(own[..clip.recorded.frames() * mels].to_vec(), mel_config)
            })
            .collect();
        let global_variance_scale =
            global_variance_scale(predicted.iter().zip(self.clips.iter().map(|clip| &clip.recorded)));
        let (mut stats, mut errors) = (SpeakerStats::default(), PhonemeErrors::default());
        for (mel, clip) in predicted.into_iter().zip(&self.clips) {
            let mel = scale_variance(mel, global_variance_scale);
            stats.merge(&SpeakerStats::from_mel(&mel));
            errors += self.aligner.phoneme_errors(&mel, &clip.symbols).await?;
        }
        Ok(ValidationMetrics {
            loss,
            similarity: similarity(&stats, &self.speaker),
            phoneme_error_rate: errors.rate(),
            global_variance_scale,
        })
    }
}
