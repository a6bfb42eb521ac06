//! Compares the spectra of a finished clone with those of its speaker, see [`crate::voice::spectral_transport`].

use super::{
    clip::AlignedClip,
    frame_store::{FrameStore, Span, assemble, predict},
};
use crate::{
    Result,
    audio::global_variance_scale::{GlobalVarianceScale, scale_variance},
    model::TacotronConfig,
    synth::sentence::{SentenceProsody, predict_prosody},
    text::symbols::Symbol,
    voice::{
        Adapted, Base, Voice,
        spectral_transport::{SpectralStats, SpectralTransport},
    },
};
use burn_fused::readback::read;

/// The sentences that are compared: half a minute of speech, whose means are stable. None of them is rehearsed, since a clone was trained on the spectra of
/// rehearsed sentences.
const SENTENCES: [&str; 12] = [
    "The gardener planted thirty tulips beside the old stone wall.",
    "Please measure the width of this shelf before you buy it.",
    "A gentle breeze moved the yellow curtains in the kitchen.",
    "Their youngest daughter enjoys both chess and judo.",
    "What would you rather do on such a rainy afternoon?",
    "He poured a cup of strong coffee and opened the journal.",
    "My uncle repaired the broken watch in under an hour.",
    "Fresh bread, ripe cheese and a bowl of sour cherries.",
    "The train to the coast departs at ten past four.",
    "Nobody could explain the curious noise above the garage.",
    "She shut the door, turned the key and walked south.",
    "Large ships rarely pass through this narrow channel now.",
];

/// Sentences in the prosody of the clone, ready to be decoded, and the statistics of the clips.
pub struct Calibration {
    base: Base,
    store: FrameStore,
    /// The symbol of each frame, for each sentence.
    symbols: Vec<Vec<Symbol>>,
    recorded: SpectralStats,
}

impl Calibration {
    /// Prepares the sentences, and computes the statistics of the clips.
    ///
    /// * `voice`: the nearest speaker of the base, with the prosody of the clips
    pub async fn measure(voice: &Voice, clips: &[AlignedClip]) -> Result<Self> {
        let (base, config) = (voice.base(), voice.base().config());
        let mut sentences = Vec::with_capacity(SENTENCES.len());
        for sentence in SENTENCES {
            let SentenceProsody { symbols, durations, f0_hz } = predict_prosody(voice, sentence).await?;
            // No frame of these sentences is a target.
            let mel = vec![0.0; durations.iter().sum::<u32>() as usize * config.mels];
            sentences.push(AlignedClip { symbols, durations, mel, f0_hz, foreign: false });
        }
        let mut recorded = SpectralStats::default();
        clips.iter().for_each(|clip| recorded.add(&clip.spectrogram(config.mels), &clip.phones()));
        let symbols = sentences.iter().map(AlignedClip::phones).collect();
        let store = assemble(base, &sentences, config.reduction);
        Ok(Self { base: base.clone(), store, symbols, recorded })
    }

    /// Speaks the sentences and compares their spectra with those of the clips. Returns `None` if the sentences and the clips have no phone in common that is
    /// loud enough.
    pub async fn spectral_transport(
        &self,
        parts: &Adapted,
        global_variance_scale: GlobalVarianceScale,
    ) -> Result<Option<SpectralTransport>> {
        let (config, mel_config) = (self.base.config(), self.base.mel_config());
        let &TacotronConfig { mels, reduction, .. } = config;
        let mut synthesised = SpectralStats::default();
        for (&Span { first, frames }, symbols) in self.store.clips.iter().zip(&self.symbols) {
            let window = self.store.gather(&[first], frames.next_multiple_of(reduction));
            let predicted = predict(parts, &window).1.narrow(1, 0, frames).reshape([frames * mels]);
            let mel = config.log_mels(read(predicted).await?, mel_config);
            synthesised.add(&scale_variance(mel, global_variance_scale), symbols);
        }
        Ok(SpectralTransport::between(&synthesised, &self.recorded))
    }
}
