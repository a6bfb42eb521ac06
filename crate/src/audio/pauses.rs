//! Where a spectrogram holds speech and where it pauses, by level; and pauses of speech that was synthesised, made quieter than they were recorded.

use super::mel::Mel;

/// A frame this far below the loudest one is pause, one above that by [`RAMP_NEPERS`] is speech, with a linear ramp between them.
const RANGE_NEPERS: f32 = 5.0;
const RAMP_NEPERS: f32 = 2.0;
/// A pause is made quieter by this: a recording's room and microphone are nobody's voice (docs/decisions/0111-quiet-pauses.md).
const QUIETER_NEPERS: f32 = 3.0;
/// Weights of the frames around, so that no step is heard where a pause begins.
const FADE: [f32; 5] = [1.0 / 12.0, 3.0 / 12.0, 4.0 / 12.0, 3.0 / 12.0, 1.0 / 12.0];

/// The proportion of speech in each frame, 0 to 1, by its level.
pub(crate) fn speech(mel: &Mel) -> Vec<f32> {
    let level = |t: usize| mel.frame(t).iter().sum::<f32>() / mel.mels as f32;
    let levels: Vec<f32> = (0..mel.frames()).map(level).collect();
    let loudest = levels.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    levels.iter().map(|level| ((level - loudest + RANGE_NEPERS) / RAMP_NEPERS).clamp(0.0, 1.0)).collect()
}

/// The sound of a sentence with its pauses made quieter; its speech stays.
///
/// * `samples`: `[(T - 1) * hop]`, of a spectrogram of T frames
pub(crate) fn quiet_pauses(mut samples: Vec<f32>, mel: &Mel, hop_length: usize) -> Vec<f32> {
    let speech = speech(mel);
    let pause = |t: usize| 1.0 - speech[t.min(speech.len() - 1)];
    let faded = |t: usize| -> f32 {
        let around =
            FADE.iter().enumerate().map(|(k, weight)| weight * pause((t + k).saturating_sub(FADE.len() / 2)));
        around.sum()
    };
    for (t, hop) in samples.chunks_mut(hop_length).enumerate() {
        let (from, to) = (faded(t), faded(t + 1));
        for (n, x) in hop.iter_mut().enumerate() {
            let share = n as f32 / hop_length as f32;
            *x *= (-QUIETER_NEPERS * (from + share * (to - from))).exp();
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOP: usize = 4;
    const FRAMES: usize = 60;

    /// Speech of 20 frames between pauses, which were recorded at a level, as a sound of ones.
    fn quieted(pause: f32) -> Vec<f32> {
        let level = |t: usize| if (20..40).contains(&t) { -3.0 } else { pause };
        let mel = Mel { mels: 2, data: (0..FRAMES).flat_map(|t| [level(t), level(t) - 0.5]).collect() };
        quiet_pauses(vec![1.0; (FRAMES - 1) * HOP], &mel, HOP)
    }

    #[test]
    fn pauses_are_quieter_and_speech_stays() {
        let samples = quieted(-8.5);
        let quiet = (-QUIETER_NEPERS).exp();
        let (before, speech, after) =
            (&samples[..17 * HOP], &samples[22 * HOP..37 * HOP], &samples[43 * HOP..]);
        assert!([before, after].concat().iter().all(|x| (x - quiet).abs() < 1e-4), "{before:?} {after:?}");
        assert!(speech.iter().all(|x| *x == 1.0), "{speech:?}");
        assert!(samples[16 * HOP..24 * HOP].is_sorted(), "it fades in: {samples:?}");
        let steps = samples.windows(2).map(|pair| (pair[1] / pair[0]).ln().abs());
        assert!(steps.fold(0.0, f32::max) < QUIETER_NEPERS / HOP as f32 / 2.0, "without a step");
    }

    #[test]
    fn a_soft_sound_is_no_pause_and_nothing_stays_nothing() {
        assert!(quieted(-5.9).iter().all(|x| *x == 1.0));
        assert_eq!(quiet_pauses(Vec::new(), &Mel { mels: 2, data: Vec::new() }, HOP), [0.0f32; 0]);
    }
}
