//! The durations of a speaker's phones: a tempo, and a correction of the last layer of the duration predictor by ridge regression.
//!
//! The 600 phones of a minute determine some 100 weights in closed form, without iterations on the device.

use burn::prelude::*;
use nalgebra::{Cholesky, DMatrix, DVector};

use super::{
    clip::AlignedClip,
    regression::{self, features, penalties},
};
use crate::{Result, model::head_delta::HeadDelta, text::symbols::is_phone, voice::Base};
use burn_fused::readback::read;

/// The ridge penalty, in phones.
const PENALTY: f64 = 30.0;
/// The largest log ratio of a recorded to a predicted duration, in nepers: beyond it, the aligner missed the phone.
const MAX_LOG_RATIO: f64 = 1.5;

/// The durations of a speaker relative to those of the speaker of the base.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// The factor on all durations.
    pub scale: f32,
    /// The correction that makes some phones longer and others shorter, without a change of their sum. `None` if the clips have no phone.
    pub head_delta: Option<HeadDelta>,
}

/// The phones of the clips.
#[derive(Default)]
struct Phones {
    /// The states of the predictor and a 1, as one row per phone.
    states: Vec<f64>,
    /// The logarithms of the predicted frames.
    predicted: Vec<f64>,
    /// The recorded frames.
    recorded: Vec<f64>,
    /// The recorded frames in foreign clips.
    foreign: f64,
}

/// Measures the timing of clips.
///
/// * `speaker`: the speaker of the base, `[1, V]`
pub async fn timing(base: &Base, clips: &[AlignedClip], speaker: &Tensor<2>) -> Result<Timing> {
    let mut phones = Phones::default();
    for clip in clips {
        let states = base.timing_states(&base.encode(&clip.symbols), speaker);
        let [_, count, width] = states.dims();
        let logs = base.model.durations.read_out(states.clone()).unsqueeze_dim::<3>(2);
        let rows = read(Tensor::cat(vec![states, logs], 2).reshape([count * (width + 1)])).await?;
        let frames = clip.symbols.iter().zip(&clip.durations);
        for ((&symbol, &frames), row) in frames.zip(rows.chunks_exact(width + 1)) {
            if is_phone(symbol) {
                let (states, log) = row.split_at(width);
                phones.states.extend(features(states));
                phones.predicted.push(f64::from(log[0]));
                phones.recorded.push(f64::from(frames));
                phones.foreign += if clip.foreign { f64::from(frames) } else { 0.0 };
            }
        }
    }
    Ok(Timing { scale: phones.scale(), head_delta: phones.head_delta() })
}

impl Phones {
    /// Returns the ratio of the sums of recorded and predicted frames, which keeps the length of the clips.
    ///
    /// For foreign clips it returns the root of the ratio: the base predicts their phones less well, and a tempo carries over to another language in part.
    fn scale(&self) -> f32 {
        if self.recorded.is_empty() {
            return 1.0;
        }
        let recorded = self.recorded.iter().sum::<f64>();
        let predicted = self.predicted.iter().map(|log| log.exp()).sum::<f64>();
        (recorded / predicted).powf(1.0 - 0.5 * self.foreign / recorded).clamp(0.5, 2.0) as f32
    }

    /// Fits the log ratios of recorded to predicted frames by ridge regression.
    fn head_delta(&self) -> Option<HeadDelta> {
        let count = self.recorded.len();
        let width = self.states.len().checked_div(count)?;
        let states = DMatrix::from_row_slice(count, width, &self.states);
        let pairs = self.recorded.iter().zip(&self.predicted);
        let log_ratios = DVector::from_iterator(
            count,
            pairs.map(|(frames, log)| (frames.ln() - log).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)),
        );
        let normal = states.tr_mul(&states) + DMatrix::from_diagonal(&penalties(width, PENALTY));
        let mut weights = Cholesky::new(normal)?.solve(&states.tr_mul(&log_ratios));
        let (mut before, mut after) = (0.0, 0.0);
        for (log, added) in self.predicted.iter().zip(&(&states * &weights)) {
            before += log.exp();
            after += (log + added).exp();
        }
        // The bias keeps the sum of the frames, since the scale has the tempo.
        weights[width - 1] -= (after / before).ln();
        regression::head_delta(&weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        text::symbols::{SILENCE, Symbol, is_vowel},
        voice::Voice,
    };

    const TEXTS: [&str; 12] = [
        "The ferry leaves at half past nine.",
        "Nobody expected so many people, on such a cold evening.",
        "Put the kettle on the stove and wait until it whistles.",
        "A brown dog slept beneath the kitchen table.",
        "Our teacher wrote seven questions on the board.",
        "They painted every window frame a darker green.",
        "She keeps her letters in a wooden box.",
        "The road climbs slowly through the forest.",
        "Fresh bread was cooling near the open door.",
        "We counted thirty boats along the river.",
        "His brother mends old clocks and radios.",
        "Rain fell on the roof until the morning.",
    ];

    /// Clips whose vowels are longer than predicted, and whose consonants are shorter.
    fn drawled(base: &Base, by: f32) -> Vec<AlignedClip> {
        let voice = Voice::unadapted(base);
        let clip = |text: &&str| {
            let mut clip = pollster::block_on(AlignedClip::synthesise(&voice, text)).unwrap();
            for (frames, &symbol) in clip.durations.iter_mut().zip(&clip.symbols) {
                let factor = if is_vowel(symbol) { by } else { by.recip() };
                *frames =
                    if symbol == SILENCE { 40 } else { (*frames as f32 * factor).round().max(1.0) as u32 };
            }
            clip
        };
        TEXTS.iter().map(clip).collect()
    }

    fn found(base: &Base, clips: &[AlignedClip]) -> Timing {
        pollster::block_on(timing(base, clips, &base.speaker(base.default_speaker()))).unwrap()
    }

    #[test]
    fn a_drawl_is_found_and_applies_to_other_sentences() {
        let base = Base::open("../../models/base", &Device::flex()).unwrap();
        let Timing { scale, head_delta } = found(&base, &drawled(&base, 1.4));
        assert!((0.9..1.2).contains(&scale), "{scale}");
        let symbols = base.phonemizer.symbols("Some people prefer to walk home, others take the last train.");
        let symbols = symbols.unwrap();
        let speaker = base.speaker(base.default_speaker());
        let logs = |head_delta| {
            pollster::block_on(base.log_durations_async(&base.encode(&symbols), &speaker, head_delta))
                .unwrap()
        };
        let (plain, own) = (logs(None), logs(head_delta.as_ref()));
        let longer = |of: fn(Symbol) -> bool| {
            let phones = (0..symbols.len()).filter(|&at| of(symbols[at]));
            let changes: Vec<f32> = phones.map(|at| own[at] - plain[at]).collect();
            changes.iter().sum::<f32>() / changes.len() as f32
        };
        let apart = longer(is_vowel) - longer(|symbol| is_phone(symbol) && !is_vowel(symbol));
        let asked = 2.0 * 1.4f32.ln();
        assert!(apart > 0.6 * asked && apart < 1.1 * asked, "{apart} of {asked}");
        assert_eq!(longer(|symbol| !is_phone(symbol)), 0.0, "pauses do not change");
    }

    #[test]
    fn the_head_delta_keeps_the_tempo() {
        let base = Base::open("../../models/base", &Device::flex()).unwrap();
        let clips = drawled(&base, 1.4);
        let frames = |clips: &[AlignedClip], head_delta: Option<&HeadDelta>| {
            let speaker = base.speaker(base.default_speaker());
            let of_clip = |clip: &AlignedClip| {
                let encoded = base.encode(&clip.symbols);
                let logs = base.log_durations_async(&encoded, &speaker, head_delta);
                let logs = pollster::block_on(logs).unwrap();
                let phones = clip.symbols.iter().zip(logs).filter(|(symbol, _)| is_phone(**symbol));
                phones.map(|(_, log)| log.exp()).sum::<f32>()
            };
            clips.iter().map(of_clip).sum::<f32>()
        };
        let head_delta = found(&base, &clips).head_delta;
        let longer = frames(&clips, head_delta.as_ref()) / frames(&clips, None);
        assert!((longer - 1.0).abs() < 0.005, "{longer}");
    }

    #[test]
    fn a_slower_speaker_has_another_scale_and_the_same_head_delta() {
        const COUNT: usize = 300;
        let at_tempo = |tempo: f64| {
            let states: Vec<[f64; 3]> =
                (0..COUNT).map(|at| [(0.7 * at as f64).sin(), (1.9 * at as f64).cos(), 1.0]).collect();
            let predicted: Vec<f64> = (0..COUNT).map(|at| 2.0 + 0.5 * (0.3 * at as f64).sin()).collect();
            let own = states.iter().zip(&predicted).map(|(state, log)| log + 0.4 * state[0] - 0.2 * state[1]);
            let recorded = own.map(|log| tempo * log.exp()).collect();
            Phones { states: states.concat(), predicted, recorded, foreign: 0.0 }
        };
        let (usual, slower) = (at_tempo(1.0), at_tempo(1.5));
        assert!((slower.scale() / usual.scale() - 1.5).abs() < 1e-3);
        let (usual, slower) = (usual.head_delta().unwrap(), slower.head_delta().unwrap());
        let apart = usual.weights().iter().zip(slower.weights()).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f32::max) < 0.01, "{usual:?} {slower:?}");
        assert!(usual.weights()[0] > 0.3 && usual.weights()[1] < -0.15, "{usual:?}");
    }

    #[test]
    fn no_phones_and_non_finite_states_have_no_head_delta() {
        assert_eq!(Phones::default().head_delta(), None);
        assert_eq!(Phones::default().scale(), 1.0);
        let non_finite = Phones {
            states: vec![f64::NAN, 1.0, 0.5, 1.0],
            predicted: vec![1.0, 2.0],
            recorded: vec![3.0, 5.0],
            foreign: 0.0,
        };
        assert_eq!(non_finite.head_delta(), None);
    }
}
