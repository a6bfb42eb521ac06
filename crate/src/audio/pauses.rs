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

/// A sentence with its pauses made quieter; its speech stays.
///
/// * `silence`: the value that nothing falls below, see [`super::mel::MelConfig::silence`]
pub(crate) fn quiet_pauses(mut mel: Mel, silence: f32) -> Mel {
    let pauses: Vec<f32> = speech(&mel).iter().map(|speech| 1.0 - speech).collect();
    let at = |t: usize| pauses[t.min(pauses.len() - 1)];
    for (t, frame) in mel.data.chunks_exact_mut(mel.mels).enumerate() {
        let pause: f32 = FADE
            .iter()
            .enumerate()
            .map(|(k, weight)| weight * at((t + k).saturating_sub(FADE.len() / 2)))
            .sum();
        frame.iter_mut().for_each(|x| *x = (*x - QUIETER_NEPERS * pause).max(silence.min(*x)));
    }
    mel
}

#[cfg(test)]
mod tests {
    use super::*;

    const SILENCE: f32 = -11.5;

    /// Speech of 20 frames between pauses of 20, which are recorded at a level.
    fn sentence(pause: f32) -> Mel {
        let level = |t: usize| if (20..40).contains(&t) { -3.0 } else { pause };
        Mel { mels: 2, data: (0..60).flat_map(|t| [level(t), level(t) - 0.5]).collect() }
    }

    #[test]
    fn pauses_are_quieter_and_speech_stays() {
        let said = sentence(-8.5);
        let quiet = quiet_pauses(said.clone(), SILENCE);
        assert_eq!(quiet.frame(10), [-11.5, SILENCE], "by three nepers, and no lower than silence");
        assert_eq!(quiet.data[2 * 22..2 * 38], said.data[2 * 22..2 * 38]);
        let edge: Vec<f32> = (17..23).map(|t| quiet.frame(t)[0] - said.frame(t)[0]).collect();
        assert!(edge.is_sorted() && edge[0] < -2.7 && edge[5] == 0.0, "it fades: {edge:?}");
    }

    #[test]
    fn a_soft_sound_is_no_pause_and_silence_stays_silence() {
        let soft = sentence(-5.9);
        assert_eq!(quiet_pauses(soft.clone(), SILENCE), soft);
        for mel in [sentence(SILENCE - 1.0), Mel { mels: 2, data: Vec::new() }] {
            assert_eq!(quiet_pauses(mel.clone(), SILENCE), mel);
        }
    }
}
