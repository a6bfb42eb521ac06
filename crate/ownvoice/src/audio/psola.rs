//! Changes the pitch of a voice but not its length and formants: grains around its pulses are overlapped and added at another distance (TD-PSOLA;
//! Moulines and Charpentier 1990).

use super::pitch::Pitch;

/// The distance of grains where speech is unvoiced, in seconds.
const UNVOICED_SECONDS: f32 = 0.005;
/// The search range of a pulse around the position that the last period predicts, as a share of the period.
const SEARCH: f32 = 0.25;

/// Multiplies the pitch of `samples` by `factor`; their length is unchanged.
///
/// * `pitch`: the pitch track of `samples`, one value every `hop_length`
pub fn shift_pitch(
    samples: &[f32],
    pitch: &Pitch,
    sample_rate_hz: u32,
    hop_length: usize,
    factor: f32,
) -> Vec<f32> {
    let unvoiced = (UNVOICED_SECONDS * sample_rate_hz as f32) as usize;
    let hz = |at: usize| pitch.f0_hz.get((at + hop_length / 2) / hop_length).copied().unwrap_or(0.0);
    let period = |at: usize| match hz(at) {
        hz if hz > 0.0 => (sample_rate_hz as f32 / hz) as usize,
        _ => unvoiced,
    };
    let marks = marks(samples, period, |at| hz(at) > 0.0);
    let mut out = vec![0.0; samples.len()];
    let (mut at, mut nearest) = (0.0f32, 0);
    while (at as usize) < samples.len() {
        let centre = at as usize;
        while nearest + 1 < marks.len()
            && marks[nearest + 1].abs_diff(centre) <= marks[nearest].abs_diff(centre)
        {
            nearest += 1;
        }
        let half = period(centre);
        add_grain(&mut out, samples, marks[nearest], centre, half);
        at += if hz(centre) > 0.0 { half as f32 / factor } else { half as f32 }.max(1.0);
    }
    out
}

/// Places one mark in each period, on the pulse where the speech is voiced. There is at least one mark.
///
/// * `period`: in samples, at a sample index
fn marks(samples: &[f32], period: impl Fn(usize) -> usize, voiced: impl Fn(usize) -> bool) -> Vec<usize> {
    // The polarity of the pulses is the one in which the signal is more extreme.
    let side = if samples.iter().map(|x| x * x * x).sum::<f32>() < 0.0 { -1.0 } else { 1.0 };
    let mut marks = vec![0];
    loop {
        let last = *marks.last().expect("there is the first");
        let here = period(last).max(1);
        let expected = last + here;
        if expected >= samples.len() {
            return marks;
        }
        let around = (here as f32 * SEARCH) as usize;
        let range = expected - around..(expected + around + 1).min(samples.len());
        let peak =
            range.max_by(|&a, &b| (side * samples[a]).total_cmp(&(side * samples[b]))).unwrap_or(expected);
        marks.push(if voiced(expected) { peak } else { expected });
    }
}

/// Adds two periods around `from`, under a Hann window, to `out` around `to`.
fn add_grain(out: &mut [f32], samples: &[f32], from: usize, to: usize, half: usize) {
    for offset in 0..2 * half {
        let (Some(source), Some(target)) =
            ((from + offset).checked_sub(half), (to + offset).checked_sub(half))
        else {
            continue;
        };
        if let (Some(&x), Some(sum)) = (samples.get(source), out.get_mut(target)) {
            *sum += x * (0.5 - 0.5 * (std::f32::consts::PI * offset as f32 / half as f32).cos());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::pitch::track;

    const RATE: u32 = 16_000;

    /// Pulses through one resonance, so that pitch and formant are distinguishable.
    fn vowel(hz: f32, formant_hz: f32) -> Vec<f32> {
        let (mut y1, mut y2) = (0.0f32, 0.0f32);
        let r = 0.97f32;
        let turn = 2.0 * r * (std::f32::consts::TAU * formant_hz / RATE as f32).cos();
        let mut phase = 0.0;
        (0..16_000)
            .map(|_| {
                phase += hz / RATE as f32;
                let pulse = if phase >= 1.0 { 1.0 } else { 0.0 };
                phase = phase.fract();
                let y = pulse + turn * y1 - r * r * y2;
                (y2, y1) = (y1, y);
                0.1 * y
            })
            .collect()
    }

    /// Returns the spectral centroid.
    fn centre_hz(samples: &[f32]) -> f32 {
        let stft = crate::audio::stft::Stft::new(1024, 1024, 512);
        let (mut sum, mut moment) = (0.0, 0.0);
        stft.analyze(samples, |_, spectrum| {
            for (bin, x) in spectrum.iter().enumerate() {
                sum += x.norm_sqr();
                moment += x.norm_sqr() * bin as f32 * RATE as f32 / 1024.0;
            }
        });
        moment / sum
    }

    #[test]
    fn the_pitch_changes_and_the_formant_does_not() {
        let vowel = vowel(120.0, 1500.0);
        let pitch = track(&vowel, RATE, 200);
        for factor in [0.8f32, 1.0, 1.3] {
            let shifted = shift_pitch(&vowel, &pitch, RATE, 200, factor);
            assert_eq!(shifted.len(), vowel.len());
            let hz = track(&shifted, RATE, 200).mean_hz();
            assert!((hz / (120.0 * factor) - 1.0).abs() < 0.02, "{factor}: {hz} Hz");
            let formant = centre_hz(&shifted) / centre_hz(&vowel);
            assert!((formant - 1.0).abs() < 0.05, "{factor}: the formant moved by {formant}");
        }
    }

    #[test]
    fn noise_keeps_its_power_and_empty_clips_stay_empty() {
        let hiss: Vec<f32> = (0..8000).map(|n| ((n * 7919) % 1000) as f32 / 5000.0 - 0.1).collect();
        let shifted = shift_pitch(&hiss, &Pitch { f0_hz: vec![0.0; 41] }, RATE, 200, 1.3);
        let power = |x: &[f32]| x.iter().map(|x| x * x).sum::<f32>();
        assert!((power(&shifted) / power(&hiss) - 1.0).abs() < 0.2);
        assert!(shift_pitch(&[], &Pitch { f0_hz: vec![0.0] }, RATE, 200, 1.3).is_empty());
    }
}
