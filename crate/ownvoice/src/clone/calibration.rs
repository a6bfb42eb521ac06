//! What a finished clone says, compared with what its speaker said: see [`crate::voice::spectral_transport`].

use super::{
    clip::AlignedClip,
    frame_store::{FrameStore, Span, assemble, predict},
    prosody::Prosody,
};
use crate::{
    Result,
    audio::{
        global_variance_scale::{GlobalVarianceScale, scale_variance},
        mel::MelConfig,
    },
    model::TacotronConfig,
    synth::speak::prosody_of,
    text::symbols::Symbol,
    voice::{
        Adapted, Base,
        spectral_transport::{SpectralStats, SpectralTransport},
    },
};
use burn_fused::readback::read;

/// Half a minute of speech: its means are steady then. None is rehearsed: a clone was trained on the spectra of those.
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

/// Sentences in the clone's prosody, ready to be decoded, and the statistics of the clips.
pub struct Calibration {
    store: FrameStore,
    /// The symbol of each frame, of each sentence.
    symbols: Vec<Vec<Symbol>>,
    recorded: SpectralStats,
    config: TacotronConfig,
    mel_config: MelConfig,
}

impl Calibration {
    /// * `speaker`: the speaker of the base whose timing and melody are followed
    pub async fn measure(
        base: &Base,
        clips: &[AlignedClip],
        speaker: usize,
        prosody: &Prosody,
    ) -> Result<Self> {
        let (config, mel_config) = (base.config().clone(), base.mel_config().clone());
        let voice = prosody.base_speaker_voice(base, speaker);
        let mut sentences = Vec::with_capacity(SENTENCES.len());
        for sentence in SENTENCES {
            let (symbols, durations, f0_hz) = prosody_of(base, &voice, sentence).await?;
            // Nothing is compared with these frames.
            let mel = vec![0.0; durations.iter().sum::<u32>() as usize * config.mels];
            sentences.push(AlignedClip { symbols, durations, mel, f0_hz, foreign: false });
        }
        let mut recorded = SpectralStats::default();
        clips.iter().for_each(|clip| recorded.add(&clip.spectrogram(config.mels), &clip.phones()));
        let symbols = sentences.iter().map(AlignedClip::phones).collect();
        let store = assemble(base, &sentences, config.reduction);
        Ok(Self { store, symbols, recorded, config, mel_config })
    }

    /// Speaks the sentences; `None` where nothing is loud enough, or has no phone of the clips.
    pub async fn spectral_transport(
        &self,
        parts: &Adapted,
        global_variance_scale: GlobalVarianceScale,
    ) -> Result<Option<SpectralTransport>> {
        let TacotronConfig { mels, reduction, .. } = self.config;
        let mut said = SpectralStats::default();
        for (&Span { first, frames }, symbols) in self.store.clips.iter().zip(&self.symbols) {
            let window = self.store.gather(&[first], frames.next_multiple_of(reduction));
            let predicted = predict(parts, &window).1.narrow(1, 0, frames).reshape([frames * mels]);
            let mel = self.config.log_mels(read(predicted).await?, &self.mel_config);
            said.add(&scale_variance(mel, global_variance_scale), symbols);
        }
        Ok(SpectralTransport::between(&said, &self.recorded))
    }
}
