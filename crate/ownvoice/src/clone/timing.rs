//! How long a speaker's phones last: a tempo, and the duration predictor's readout, learned anew from a minute by ridge regression.
//!
//! Six hundred phones say much about a hundred weights, and nothing has to be iterated on the device.

use burn::prelude::*;
use nalgebra::{Cholesky, DMatrix, DVector};

use super::{
    clip::AlignedClip,
    regression::{self, features, penalties},
};
use crate::{Result, model::head_delta::HeadDelta, text::symbols::is_phone, voice::Base};
use burn_fused::readback::read;

/// How much the weights are drawn towards the base's, as so many phones' worth.
const PENALTY: f64 = 30.0;
/// Nepers by which a phone's length differs from the predicted one at most: beyond, the aligner did not find it.
const MAX_LOG_RATIO: f64 = 1.5;

/// How a speaker's durations differ from those of the speaker of the base.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// Factor on all of them.
    pub scale: f32,
    /// Makes some phones longer and others shorter, their sum staying as it was. `None` where there is no phone.
    pub readout: Option<HeadDelta>,
}

/// The phones of the clips.
#[derive(Default)]
struct Phones {
    /// The predictor's states and a one, a row each.
    states: Vec<f64>,
    /// The logarithm of the predicted frames.
    predicted: Vec<f64>,
    /// Frames.
    recorded: Vec<f64>,
    /// Frames of those in foreign clips.
    foreign: f64,
}

/// * `speaker`: the speaker of the base, `[1, V]`
pub async fn timing(base: &Base, clips: &[AlignedClip], speaker: &Tensor<2>) -> Result<Timing> {
    let mut phones = Phones::default();
    for clip in clips {
        let states = base.timing_states(&clip.symbols, speaker);
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
    Ok(Timing { scale: phones.scale(), readout: phones.readout() })
}

impl Phones {
    /// Recorded by predicted frames: a ratio of sums, so that the clips' speech keeps its length.
    ///
    /// The base predicts the phones of foreign clips worse, and a tempo carries over to another language in part: their ratio counts by its root.
    fn scale(&self) -> f32 {
        if self.recorded.is_empty() {
            return 1.0;
        }
        let recorded = self.recorded.iter().sum::<f64>();
        let predicted = self.predicted.iter().map(|log| log.exp()).sum::<f64>();
        (recorded / predicted).powf(1.0 - 0.5 * self.foreign / recorded).clamp(0.5, 2.0) as f32
    }

    /// What brings the logarithms of the predicted frames nearest to those of the recorded ones, with a quadratic penalty.
    fn readout(&self) -> Option<HeadDelta> {
        let count = self.recorded.len();
        let width = self.states.len().checked_div(count)?;
        let states = DMatrix::from_row_slice(count, width, &self.states);
        let apart = self.recorded.iter().zip(&self.predicted);
        let apart = DVector::from_iterator(
            count,
            apart.map(|(frames, log)| (frames.ln() - log).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)),
        );
        let normal = states.tr_mul(&states) + DMatrix::from_diagonal(&penalties(width, PENALTY));
        let mut weights = Cholesky::new(normal)?.solve(&states.tr_mul(&apart));
        let (mut before, mut after) = (0.0, 0.0);
        for (log, added) in self.predicted.iter().zip(&(&states * &weights)) {
            before += log.exp();
            after += (log + added).exp();
        }
        // The tempo is the scale's.
        weights[width - 1] -= (after / before).ln();
        regression::readout(&weights)
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

    /// Clips whose vowels last longer than the base says them, and whose consonants shorter.
    fn drawled(base: &Base, by: f32) -> Vec<AlignedClip> {
        let voice = Voice::from_base_speaker(base, base.default_speaker());
        let clip = |text: &&str| {
            let mut clip = pollster::block_on(AlignedClip::said(base, &voice, text)).unwrap();
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
    fn a_drawl_is_found_and_carried_over_to_other_sentences() {
        let base = Base::open("../../models/base", &Device::flex()).unwrap();
        let Timing { scale, readout } = found(&base, &drawled(&base, 1.4));
        assert!((0.9..1.2).contains(&scale), "{scale}");
        let symbols = base.phonemizer.symbols("Some people prefer to walk home, others take the last train.");
        let symbols = symbols.unwrap();
        let speaker = base.speaker(base.default_speaker());
        let logs =
            |readout| pollster::block_on(base.log_durations_async(&symbols, &speaker, readout)).unwrap();
        let (plain, own) = (logs(None), logs(readout.as_ref()));
        let longer = |of: fn(Symbol) -> bool| {
            let phones = (0..symbols.len()).filter(|&at| of(symbols[at]));
            let changes: Vec<f32> = phones.map(|at| own[at] - plain[at]).collect();
            changes.iter().sum::<f32>() / changes.len() as f32
        };
        let apart = longer(is_vowel) - longer(|symbol| is_phone(symbol) && !is_vowel(symbol));
        let asked = 2.0 * 1.4f32.ln();
        assert!(apart > 0.6 * asked && apart < 1.1 * asked, "{apart} of {asked}");
        assert_eq!(longer(|symbol| !is_phone(symbol)), 0.0, "pauses stay");
    }

    #[test]
    fn the_readout_leaves_the_tempo_to_the_scale() {
        let base = Base::open("../../models/base", &Device::flex()).unwrap();
        let clips = drawled(&base, 1.4);
        let frames = |clips: &[AlignedClip], readout: Option<&HeadDelta>| {
            let speaker = base.speaker(base.default_speaker());
            let of_clip = |clip: &AlignedClip| {
                let logs = base.log_durations_async(&clip.symbols, &speaker, readout);
                let logs = pollster::block_on(logs).unwrap();
                let phones = clip.symbols.iter().zip(logs).filter(|(symbol, _)| is_phone(**symbol));
                phones.map(|(_, log)| log.exp()).sum::<f32>()
            };
            clips.iter().map(of_clip).sum::<f32>()
        };
        let readout = found(&base, &clips).readout;
        let longer = frames(&clips, readout.as_ref()) / frames(&clips, None);
        assert!((longer - 1.0).abs() < 0.005, "{longer}");
    }

    #[test]
    fn a_slower_speaker_has_another_scale_and_the_same_readout() {
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
        let (usual, slower) = (usual.readout().unwrap(), slower.readout().unwrap());
        let apart = usual.weights().iter().zip(slower.weights()).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f32::max) < 0.01, "{usual:?} {slower:?}");
        assert!(usual.weights()[0] > 0.3 && usual.weights()[1] < -0.15, "{usual:?}");
    }

    #[test]
    fn pauses_alone_and_nonsense_determine_nothing() {
        assert_eq!(Phones::default().readout(), None);
        assert_eq!(Phones::default().scale(), 1.0);
        let nonsense = Phones {
            states: vec![f64::NAN, 1.0, 0.5, 1.0],
            predicted: vec![1.0, 2.0],
            recorded: vec![3.0, 5.0],
            foreign: 0.0,
        };
        assert_eq!(nonsense.readout(), None);
    }
}
