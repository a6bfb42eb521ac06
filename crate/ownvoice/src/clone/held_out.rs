//! Validation on held-out clips: the loss, the similarity and the phoneme errors that the stop rule scores, and the variance scale.

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
        mel::{Mel, MelConfig},
        speaker::{SpeakerStats, similarity},
    },
    model::TacotronConfig,
    text::symbols::Symbol,
    voice::{Adapted, Base},
};
use burn_fused::{Compute, readback::read};

/// Enough for a metric of low variance.
const MAX_HELD_OUT: usize = 4;

struct HeldClip {
    first: usize,
    symbols: Vec<Symbol>,
    recorded: Mel,
}

pub struct HeldOut {
    clips: Vec<HeldClip>,
    /// Statistics of the speaker's spectra over all clips.
    speaker: SpeakerStats,
    /// Of the recordings themselves: a voice need not be more intelligible than its speaker.
    pub phoneme_error_rate: f32,
    config: TacotronConfig,
    mel_config: MelConfig,
    /// Adapted to the speaker.
    aligner: ForcedAligner,
}

impl HeldOut {
    /// Holds out the last clips, one in [`ONE_IN`] and at least one.
    ///
    /// * `clips`: all of them, as in `store`
    ///
    /// `None` where there is only one, too short to be cut.
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
        let (config, mel_config) = (base.config().clone(), base.mel_config().clone());
        Ok(Some(Self {
            clips: held,
            speaker,
            phoneme_error_rate: errors.rate(),
            config,
            mel_config,
            aligner,
        }))
    }

    pub fn count(&self) -> usize {
        self.clips.len()
    }

    /// Predicts the clips with their own durations and compares the spectrograms with the recordings.
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
        let mels = self.config.mels;
        let values = read(after.reshape([starts.len() * window * mels])).await?;
        let mut rest = values.as_slice();
        let said: Vec<Mel> = self
            .clips
            .iter()
            .map(|clip| {
                let (own, others) = rest.split_at(windows_of(clip).len() * window * mels);
                rest = others;
                self.config.log_mels(own[..clip.recorded.frames() * mels].to_vec(), &self.mel_config)
            })
            .collect();
        let global_variance_scale =
            global_variance_scale(said.iter().zip(self.clips.iter().map(|clip| &clip.recorded)));
        let (mut stats, mut errors) = (SpeakerStats::default(), PhonemeErrors::default());
        for (said, clip) in said.into_iter().zip(&self.clips) {
            let said = scale_variance(said, global_variance_scale);
            stats.merge(&SpeakerStats::from_mel(&said));
            errors += self.aligner.phoneme_errors(&said, &clip.symbols).await?;
        }
        Ok(ValidationMetrics {
            loss,
            similarity: similarity(&stats, &self.speaker),
            phoneme_error_rate: errors.rate(),
            global_variance_scale,
        })
    }
}
