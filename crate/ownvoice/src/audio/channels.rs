//! The choice between the mean of a recording's channels and a single one of them.

use super::{Note, level::speech_level_db};

/// The loss of speech level in the mean of all channels, relative to the loudest one, from which that one is used alone. Two channels with independent noise
/// lose 3 dB; a silent second channel costs 6 dB, and channels of opposite phase nearly everything.
const MAX_LOSS_DB: f32 = 4.5;

/// Mixes channels of equal length to one: their mean or, where speech would be lost in it, the channel with the loudest speech, with a note.
///
/// * `planes`: the samples of each channel, `[C][S]`
pub(super) fn mix_down(mut planes: Vec<Vec<f32>>, sample_rate_hz: u32) -> (Vec<f32>, Option<Note>) {
    if planes.len() < 2 {
        return (planes.pop().unwrap_or_default(), None);
    }
    let count = planes.len() as f32;
    let mean: Vec<f32> =
        (0..planes[0].len()).map(|at| planes.iter().map(|plane| plane[at]).sum::<f32>() / count).collect();
    let levels = planes.iter().map(|plane| speech_level_db(plane, sample_rate_hz));
    let (loudest, level_db) =
        levels.enumerate().max_by(|one, other| one.1.total_cmp(&other.1)).expect("there are channels");
    if level_db - speech_level_db(&mean, sample_rate_hz) < MAX_LOSS_DB {
        return (mean, None);
    }
    (planes.swap_remove(loudest), Some(Note::OneChannel { channel: loudest + 1 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u32 = 16_000;

    /// A voiced sound with pauses, at a level.
    fn voice(gain: f32) -> Vec<f32> {
        let at = |n: usize| {
            let t = n as f32 / RATE as f32;
            gain * f32::from(t % 0.4 < 0.25) * (std::f32::consts::TAU * 150.0 * t).sin()
        };
        (0..2 * RATE as usize).map(at).collect()
    }

    fn hiss(gain: f32, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        };
        (0..2 * RATE as usize).map(|_| gain * next()).collect()
    }

    fn channel(planes: &[Vec<f32>]) -> Option<usize> {
        mix_down(planes.to_vec(), RATE).1.map(|note| match note {
            Note::OneChannel { channel } => channel,
            note => panic!("{note:?}"),
        })
    }

    #[test]
    fn equal_and_similar_channels_are_averaged() {
        for second in [voice(0.5), voice(0.4), voice(0.3)] {
            assert_eq!(channel(&[voice(0.5), second]), None);
        }
        let (mean, _) = mix_down(vec![voice(0.5), voice(0.3)], RATE);
        assert!(mean.iter().zip(voice(0.4)).all(|(x, y)| (x - y).abs() < 1e-6));
        assert_eq!(
            mix_down(vec![vec![0.5, 0.25], vec![0.0, 0.25]], RATE).0,
            [0.25, 0.25],
            "too short to judge"
        );
        assert_eq!(mix_down(Vec::new(), RATE), (Vec::new(), None));
    }

    #[test]
    fn speech_that_the_mean_would_lose_is_kept() {
        let silence = vec![0.0; voice(1.0).len()];
        let inverted: Vec<f32> = voice(0.5).iter().map(|x| -x).collect();
        let offset = vec![-0.5; silence.len()];
        assert_eq!(channel(&[silence.clone(), voice(0.5)]), Some(2), "a microphone on the second input");
        assert_eq!(channel(&[voice(0.5), silence.clone()]), Some(1));
        assert_eq!(channel(&[hiss(0.003, 1), voice(0.5)]), Some(2), "hiss on the other input");
        assert_eq!(channel(&[offset, voice(0.3)]), Some(2), "a constant is no sound");
        assert!(channel(&[voice(0.5), inverted]).is_some(), "opposite phases cancel");
        let mut surround = vec![silence; 6];
        surround[2] = voice(0.5);
        assert_eq!(channel(&surround), Some(3), "the centre of 5.1");
        let (kept, _) = mix_down(surround, RATE);
        assert_eq!(kept, voice(0.5));
    }
}
