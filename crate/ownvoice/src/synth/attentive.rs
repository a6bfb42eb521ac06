//! Speech of an attention model, whose attention and gate determine durations and the end of a sentence.

use super::{
    SpeakOptions,
    sentence::MAX_FRAMES,
    speak::{PAUSE_FRAMES, Sentence, Speech, sentences},
};
use crate::{
    Error, Result,
    model::{StopReason, tacotron::Symbols},
    text::{Phonemizer, symbols::Symbol},
    vocoder::Vocoder,
    voice::AttentiveVoice,
};
use burn_fused::{Mode, readback::read};

/// Speaks `text`. `progress(done, of)` is called before each sentence and at the end; if it returns `false` before a sentence, the call fails with `cancelled`.
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
            "a speed of {} is not supported: attention models speak at their own speed",
            options.speed
        )));
    }
    let sentences = sentences(text)?;
    let mut speech = Speech::empty(&voice.mel, vocoder, StopReason::Gate);
    for (index, sentence) in sentences.iter().enumerate() {
        if !progress(index, sentences.len()).await {
            return Err(Error::cancelled());
        }
        voice.device.seed(options.seed);
        let symbols = voice.table.to_symbols(&phonemizer.words_of(sentence)?);
        let sentence = generate(voice, symbols).await?;
        speech.append(&voice.mel, sentence, vocoder);
    }
    progress(sentences.len(), sentences.len()).await;
    Ok(speech)
}

/// Generates a sentence.
///
/// * `symbols`: pairs as [`crate::voice::Table::to_symbols`] returns them
async fn generate(voice: &AttentiveVoice, symbols: Vec<(u8, Symbol)>) -> Result<Sentence> {
    let model = &voice.model;
    let (ids, symbols): (Vec<u8>, Vec<Symbol>) = symbols.into_iter().unzip();
    let input = Symbols::new(&[&ids[..]], None, &voice.device);
    let mask = input.mask.clone().unsqueeze_dim(2);
    let encoded = model.encoder.forward(input.ids.clone(), mask, &input.lengths, Mode::Eval);
    let memory =
        model.decoder.memory(&input, encoded, model.speakers.val().slice([voice.speaker..voice.speaker + 1]));
    let generated = model.decoder.generate(&memory, MAX_FRAMES, |_| true).await;
    let [_, steps, width] = generated.alignment.dims();
    let [_, frames, mels] = generated.frames.dims();
    let attention = read(generated.alignment.reshape([steps * width])).await?;
    let refined = generated.frames.clone() + model.postnet.forward(generated.frames, Mode::Eval);
    let values = read(refined.reshape([frames * mels])).await?;
    let durations = durations(&attention, symbols.len(), voice.config.reduction as u32);
    Ok(Sentence {
        pause_frames: PAUSE_FRAMES,
        mel: voice.config.log_mels(values, &voice.mel),
        symbols,
        durations,
        words: Vec::new(),
        stop: generated.stop,
    })
}

/// Derives the frames of each symbol from attention: the frames of a step count for the symbol with the largest weight.
///
/// * `attention`: `[N, L]`
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
    fn frames_count_for_the_symbol_with_the_largest_weight() {
        assert_eq!(durations(&[0.9, 0.1, 0.0, 0.4, 0.6, 0.0, 0.1, 0.8, 0.1], 3, 2), [2, 4, 0]);
    }
}
