//! Separates speech and pauses in a spectrogram by level, and attenuates the pauses of synthesised speech.

use super::mel::{Mel, MelConfig};

/// A frame this far below the loudest one is a pause, and one [`RAMP_NEPERS`] above that is speech, with a linear ramp in between.
const RANGE_NEPERS: f32 = 5.0;
const RAMP_NEPERS: f32 = 2.0;
/// The attenuation of a pause: the model reproduces the noise of a recording's room and microphone there, which is no part of the voice.
const QUIETER_NEPERS: f32 = 3.0;
/// A pause stays this far above the floor of the spectrogram, where 16-bit samples would be zeros.
const ABOVE_FLOOR_NEPERS: f32 = 1.5;
/// Weights that smooth the attenuation over neighbouring frames, so that no step is audible where a pause begins.
const FADE: [f32; 5] = [1.0 / 12.0, 3.0 / 12.0, 4.0 / 12.0, 3.0 / 12.0, 1.0 / 12.0];

/// Returns the mean of each frame's bands.
fn levels(mel: &Mel) -> Vec<f32> {
    mel.data.chunks_exact(mel.mels).map(|frame| frame.iter().sum::<f32>() / mel.mels as f32).collect()
}

/// Returns the proportion of speech in each frame, 0 to 1, from the frames' levels.
fn speech_at(levels: &[f32]) -> impl Iterator<Item = f32> {
    let loudest = levels.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    levels.iter().map(move |level| ((level - loudest + RANGE_NEPERS) / RAMP_NEPERS).clamp(0.0, 1.0))
}

/// Returns the proportion of speech in each frame, 0 to 1, by its level.
pub(crate) fn speech(mel: &Mel) -> Vec<f32> {
    speech_at(&levels(mel)).collect()
}

/// Attenuates the pauses of a sentence; its speech is unchanged.
///
/// * `samples`: `[(T - 1) * hop]`
/// * `mel`:     the spectrogram of the samples, `[T, M]`
/// * `hop`:     the number of samples from one frame to the next
pub(crate) fn quiet_pauses(mut samples: Vec<f32>, mel: &Mel, config: &MelConfig, hop: usize) -> Vec<f32> {
    let (floor, levels) = (config.silence() + ABOVE_FLOOR_NEPERS, levels(mel));
    let lower = |(speech, level): (f32, &f32)| (1.0 - speech) * (level - floor).clamp(0.0, QUIETER_NEPERS);
    let lowered: Vec<f32> = speech_at(&levels).zip(&levels).map(lower).collect();
    let faded = |t: usize| -> f32 {
        let at = |k: usize| lowered[(t + k).saturating_sub(FADE.len() / 2).min(lowered.len() - 1)];
        FADE.iter().enumerate().map(|(k, weight)| weight * at(k)).sum()
    };
    for (t, samples) in samples.chunks_mut(hop).enumerate() {
        let (from, to) = (faded(t), faded(t + 1));
        for (n, x) in samples.iter_mut().enumerate() {
            let share = n as f32 / hop as f32;
            *x *= (-from - share * (to - from)).exp();
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As of samples at 24 kHz.
    const HOP: usize = 300;
    const FRAMES: usize = 60;

    /// Processes samples that are all 1, with a spectrogram of 20 frames of speech between pauses at these levels.
    fn quieted(speech: f32, pause: f32) -> Vec<f32> {
        let level = |t: usize| if (20..40).contains(&t) { speech } else { pause };
        let mel = Mel { mels: 2, data: (0..FRAMES).flat_map(|t| [level(t) + 0.5, level(t) - 0.5]).collect() };
        quiet_pauses(vec![1.0; (FRAMES - 1) * HOP], &mel, &MelConfig::speech_16k(), HOP)
    }

    #[test]
    fn pauses_are_attenuated_and_speech_is_unchanged() {
        let room = |pause: f32| pause - (MelConfig::speech_16k().silence() + ABOVE_FLOOR_NEPERS);
        assert!(
            room(-8.5) < QUIETER_NEPERS && QUIETER_NEPERS < room(-5.5),
            "one pause is near the floor, the other is not"
        );
        for (samples, lower) in [(quieted(-3.0, -8.5), room(-8.5)), (quieted(0.0, -5.5), QUIETER_NEPERS)] {
            let quiet = (-lower).exp();
            let (before, speech, after) =
                (&samples[..17 * HOP], &samples[22 * HOP..37 * HOP], &samples[43 * HOP..]);
            assert!(
                [before, after].concat().iter().all(|x| (x - quiet).abs() < 1e-4),
                "{lower}: {before:?} {after:?}"
            );
            assert!(speech.iter().all(|x| *x == 1.0), "{speech:?}");
            assert!(samples[16 * HOP..24 * HOP].is_sorted(), "it fades in: {samples:?}");
            let steps = samples.windows(2).map(|pair| (pair[1] / pair[0]).ln().abs());
            assert!(steps.fold(0.0, f32::max) < QUIETER_NEPERS / HOP as f32 / 2.0, "there is no step");
        }
    }

    #[test]
    fn soft_sounds_silence_and_empty_clips_are_unchanged() {
        for level in [-5.9, MelConfig::speech_16k().silence()] {
            assert!(quieted(-3.0, level).iter().all(|x| *x == 1.0), "{level}");
        }
        let nothing = Mel { mels: 2, data: Vec::new() };
        assert_eq!(quiet_pauses(Vec::new(), &nothing, &MelConfig::speech_16k(), HOP), [0.0f32; 0]);
    }
}
