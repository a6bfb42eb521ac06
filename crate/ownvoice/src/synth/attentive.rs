//! Speaks through attention and gate: how long each symbol lasts, and when a sentence is over, is the model's own choice.

use super::speak::{MAX_FRAMES, PAUSE_FRAMES, Sentence, SpeakOptions, Speech, sentences};
use crate::{
    Error, Result,
    model::{StopReason, tacotron::Symbols},
    text::{Phonemizer, symbols::Symbol},
    vocoder::Vocoder,
    voice::AttentiveVoice,
};
use burn_fused::{Mode, readback::read};

/// Speaks `text`. `progress(done, of)` is called before each sentence; `false` cancels.
pub async fn speak_attentive_async(
    voice: &AttentiveVoice,
    phonemizer: &Phonemizer,
    text: &str,
    options: &SpeakOptions,
    vocoder: &dyn Vocoder,
    mut progress: impl AsyncFnMut(usize, usize) -> bool,
) -> Result<Speech> {
    if options.speed != 1.0 {
        return Err(Error::option_invalid(format!(
            "a speed of {} cannot be had: an attention model keeps its own pace",
            options.speed
        )));
    }
    let sentences = sentences(text)?;
    let mut speech = Speech::empty(&voice.mel, StopReason::Gate);
    for (index, sentence) in sentences.iter().enumerate() {
        if !progress(index, sentences.len()).await {
            return Err(Error::cancelled());
        }
        voice.device.seed(options.seed);
        let symbols = voice.table.to_symbols(&phonemizer.words_of(sentence)?);
        let sentence = say(voice, symbols).await?;
        speech.say(&voice.mel, sentence, vocoder);
    }
    progress(sentences.len(), sentences.len()).await;
    Ok(speech)
}

async fn say(voice: &AttentiveVoice, symbols: Vec<(u8, Symbol)>) -> Result<Sentence> {
    let model = &voice.model;
    let (ids, symbols): (Vec<u8>, Vec<Symbol>) = symbols.into_iter().unzip();
    let input = Symbols::new(&[&ids[..]], None, &voice.device);
    let mask = input.mask.clone().unsqueeze_dim(2);
    let encoded = model.encoder.forward(input.ids.clone(), mask, &input.lengths, Mode::Eval);
    let memory =
        model.decoder.memory(&input, encoded, model.speakers.val().slice([voice.speaker..voice.speaker + 1]));
    let said = model.decoder.generate(&memory, MAX_FRAMES, |_| true).await;
    let [_, steps, width] = said.alignment.dims();
    let [_, frames, mels] = said.frames.dims();
    let attention = read(said.alignment.reshape([steps * width])).await?;
    let refined = said.frames.clone() + model.postnet.forward(said.frames, Mode::Eval);
    let values = read(refined.reshape([frames * mels])).await?;
    let durations = durations(&attention, symbols.len(), voice.config.reduction as u32);
    Ok(Sentence {
        pause_frames: PAUSE_FRAMES,
        mel: voice.config.log_mels(values, &voice.mel),
        symbols,
        durations,
        stop: said.stop,
    })
}

/// Frames of each symbol: each step's count for the symbol that it attends to most, attention being `[N, L]`.
fn durations(attention: &[f32], symbols: usize, reduction: u32) -> Vec<u32> {
    let mut durations = vec![0; symbols];
    for row in attention.chunks_exact(symbols) {
        let most = (0..symbols)
            .max_by(|&left, &right| row[left].total_cmp(&row[right]))
            .expect("a sentence has symbols");
        durations[most] += reduction;
    }
    durations
}

#[cfg(test)]
mod tests {
    use super::durations;

    #[test]
    fn frames_count_for_what_is_attended_most() {
        assert_eq!(durations(&[0.9, 0.1, 0.0, 0.4, 0.6, 0.0, 0.1, 0.8, 0.1], 3, 2), [2, 4, 0]);
    }
}
