//! How a clone's timing and melody differ from those of the speaker that it starts from, in closed form: a minute holds some six hundred phones and a few
//! dozen melodies, too few to train predictors on.

use super::super::clip::AlignedClip;
use crate::{
    Result,
    model::{
        pitch::{Intonation, SPREADS, VOICING_OFFSETS, Voicing},
        tacotron::Symbols,
    },
    nn::{Mode, readback::read},
    text::symbols::{self, Symbol},
    voice::{Base, Voice},
};

/// How somebody speaks, apart from the sound of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prosody {
    /// Factor on the durations of the speaker of the base.
    pub duration_scale: f32,
    /// `None` on a base without pitch.
    pub intonation: Option<Intonation>,
}

impl Prosody {
    /// * `speaker`: the speaker of the base whose timing and melody are followed
    pub async fn of(base: &Base, clips: &[AlignedClip], speaker: usize) -> Result<Self> {
        Ok(Self {
            duration_scale: duration_scale(base, clips, speaker).await?,
            intonation: intonation(base, clips, speaker).await?,
        })
    }

    /// The speaker of the base, speaking like this.
    pub fn of_base_speaker(self, base: &Base, speaker: usize) -> Voice {
        let mut voice = Voice::of_base_speaker(base, speaker);
        voice.duration_scale = self.duration_scale;
        voice.intonation = self.intonation;
        voice
    }
}

/// Durations of the clips' phones relative to the predicted ones: a ratio of sums, so that the clips' speech keeps its length. Pauses are left out.
///
/// The base predicts the phones of foreign clips worse, and a tempo carries over to another language in part: their ratio counts by its root.
async fn duration_scale(base: &Base, clips: &[AlignedClip], speaker: usize) -> Result<f32> {
    let (mut recorded, mut expected, mut foreign) = (0.0, 0.0, 0.0);
    for clip in clips {
        let input = Symbols::new(&[&clip.symbols], None, &base.device);
        let encoded = base.model.encode(&input, Mode::Eval);
        let logs = read(
            base.model
                .durations
                .forward(encoded, base.speaker(speaker), &input.lengths)
                .reshape([clip.symbols.len()]),
        )
        .await?;
        for ((&symbol, &frames), predicted) in clip.symbols.iter().zip(&clip.durations).zip(logs) {
            if symbols::is_phone(symbol) {
                recorded += frames as f32;
                expected += predicted.exp();
                foreign += if clip.foreign { frames as f32 } else { 0.0 };
            }
        }
    }
    if expected == 0.0 {
        return Ok(1.0);
    }
    Ok((recorded / expected).powf(1.0 - 0.5 * foreign / recorded).clamp(0.5, 2.0))
}

/// Mean, spread and voicing of the speaker's pitch in closed form: a minute holds too few melodies to learn a predictor from. `None` on a base without
/// pitch.
async fn intonation(base: &Base, clips: &[AlignedClip], speaker: usize) -> Result<Option<Intonation>> {
    let (mut recorded, mut predicted, mut voicing) = (Vec::new(), Vec::new(), Vec::new());
    for clip in clips {
        let frames = clip.frames();
        let contexts =
            base.contexts(&clip.symbols, &clip.durations, frames.next_multiple_of(base.config().reduction));
        let Some(contour) = base.contour_async(&contexts, &base.speaker(speaker)).await? else {
            return Ok(None);
        };
        let logits = contour.voicing.iter().zip(clip.phones()).zip(&clip.f0_hz);
        voicing.extend(logits.map(|((&logit, symbol), &hz)| (symbol, logit, hz > 0.0)));
        for (&hz, &ln_hz) in clip.f0_hz.iter().zip(&contour.smooth).filter(|(hz, _)| **hz > 0.0) {
            recorded.push(hz.ln());
            predicted.push(ln_hz);
        }
    }
    // Whispered from end to end: the base's own.
    if recorded.is_empty() {
        return Ok(base.intonation(speaker));
    }
    let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
    let mean_hz = mean(&recorded).exp();
    // Between quantiles: a pitch tracker's octave errors would count most in a standard deviation.
    let range = |values: &mut [f32]| {
        values.sort_by(f32::total_cmp);
        values[values.len() * 9 / 10] - values[values.len() / 10]
    };
    let spread =
        (range(&mut recorded) / range(&mut predicted).max(1e-3)).clamp(*SPREADS.start(), *SPREADS.end());
    let voicing = Voicing::by_kind(|is_kind| voicing_offset(&voicing, is_kind));
    Ok(Some(Intonation { mean_hz, spread, voicing }))
}

/// One frame in so many may be predicted however unvoiced.
const OUTLIERS: usize = 50;

/// What is added to the logits of some symbols' frames, so that as many are voiced as in the recordings.
///
/// * `frames`: symbol, predicted logit, and whether it was voiced in the recording
fn voicing_offset(frames: &[(Symbol, f32, bool)], is_kind: impl Fn(Symbol) -> bool) -> f32 {
    let kind: Vec<_> = frames.iter().filter(|(symbol, ..)| is_kind(*symbol)).collect();
    let unvoiced = kind.iter().filter(|(_, _, voiced)| !voiced).count();
    let mut logits: Vec<f32> = kind.iter().map(|(_, logit, _)| *logit).collect();
    logits.sort_by(f32::total_cmp);
    let Some(last) = logits.len().checked_sub(1) else { return 0.0 };
    // From the offset at which enough are voiced to that at which too many would be, the nearest to none.
    let least = 0.001 - logits[unvoiced.max(logits.len() / OUTLIERS).min(last)];
    let most = unvoiced.checked_sub(1).map_or(f32::INFINITY, |unvoiced| -logits[unvoiced]);
    0f32.max(least).min(most.max(least)).clamp(*VOICING_OFFSETS.start(), *VOICING_OFFSETS.end())
}

#[cfg(test)]
mod tests {
    use burn::prelude::Device;

    use super::*;

    #[test]
    fn tempo_and_melody_are_found() {
        let base = Base::open("../models/base", &Device::flex()).unwrap();
        let speaker = base.speakers().iter().position(|name| name == "espeak-en-us-f2").unwrap();
        let own = base.intonation(speaker).unwrap();
        let voicing = Voicing { vowels: -1.5, sonorants: -3.5, voiced_obstruents: -2.5 };
        let intonation = Some(Intonation { mean_hz: 1.2 * own.mean_hz, spread: 0.7, voicing });
        let voice = Prosody { duration_scale: 1.3, intonation }.of_base_speaker(&base, speaker);
        let texts = [
            "The ferry leaves at half past nine.",
            "Nobody expected so many people, on such a cold evening.",
        ];
        let clip = |text: &&str| pollster::block_on(AlignedClip::said(&base, &voice, text)).unwrap();
        let mut clips: Vec<AlignedClip> = texts.iter().map(clip).collect();
        let found = pollster::block_on(Prosody::of(&base, &clips, speaker)).unwrap();
        assert!((found.duration_scale - 1.3).abs() < 0.02, "{}", found.duration_scale);
        let Intonation { mean_hz, spread, voicing } = found.intonation.unwrap();
        assert!((spread - 0.7).abs() < 0.1, "{spread}");
        assert!((mean_hz / own.mean_hz - 1.2).abs() < 0.1, "{mean_hz} of {} Hz", own.mean_hz);
        let [vowels, sonorants, voiced_obstruents] = voicing.values();
        assert!((vowels + 1.5).abs() < 0.5 && (sonorants + 3.5).abs() < 1.0, "{voicing:?}");
        assert!((voiced_obstruents + 2.5).abs() < 1.0, "{voicing:?}");

        clips.iter_mut().for_each(|clip| clip.foreign = true);
        let foreign = pollster::block_on(Prosody::of(&base, &clips, speaker)).unwrap();
        assert!(
            (foreign.duration_scale - found.duration_scale.sqrt()).abs() < 1e-3,
            "a tempo carries over in part"
        );
    }
}
