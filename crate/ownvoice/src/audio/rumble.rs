//! Removal of sound below speech: rumble, mains hum, wind, and constant offset.
//!
//! A fourth-order Butterworth high-pass (Butterworth 1930, "On the theory of filter amplifiers") in two second-order sections.

use biquad::{Biquad, Coefficients, DirectForm2Transposed, ToHertz, Type};

/// The cutoff frequency: the base's mel spectrograms begin there, just below the lowest pitch that is tracked.
const CUTOFF_HZ: f64 = 55.0;
/// The quality factors of the sections.
const QUALITY: [f64; 2] = [0.541_196_1, 1.306_563];

/// Removes sound below speech from `samples`, with -3 dB at 55 Hz. The filter is causal, so it adds no pre-echo.
pub fn remove_rumble(samples: &[f32], sample_rate_hz: u32) -> Vec<f32> {
    // A constant offset would be a step where the filter starts.
    let offset = samples.iter().map(|x| f64::from(*x)).sum::<f64>() / samples.len().max(1) as f64;
    let mut sections = QUALITY.map(|quality| {
        let cutoff = Coefficients::from_params(
            Type::HighPass,
            f64::from(sample_rate_hz).hz(),
            CUTOFF_HZ.hz(),
            quality,
        );
        DirectForm2Transposed::<f64>::new(
            cutoff.expect("the cutoff lies below half of any rate that is read"),
        )
    });
    let filtered =
        |x: &f32| sections.iter_mut().fold(f64::from(*x) - offset, |x, section| section.run(x)) as f32;
    samples.iter().map(filtered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::level::rms_db;

    #[test]
    fn sound_below_speech_is_removed_at_every_rate() {
        for rate in [8_000, 16_000, 44_100, 192_000] {
            let tone = |hz: f32| -> Vec<f32> {
                let at = |n: u32| 0.2 + 0.3 * (std::f32::consts::TAU * hz * n as f32 / rate as f32).sin();
                (0..rate).map(at).collect()
            };
            // Measured over the second half, where the filter has settled.
            let gain_db = |hz: f32| {
                let half = rate as usize / 2;
                let centred: Vec<f32> = tone(hz)[half..].iter().map(|x| x - 0.2).collect();
                rms_db(&remove_rumble(&tone(hz), rate)[half..]) - rms_db(&centred)
            };
            assert!((gain_db(55.0) + 3.0).abs() < 0.1, "{rate}: {}", gain_db(55.0));
            assert!(gain_db(20.0) < -34.0, "{rate}: {}", gain_db(20.0));
            assert!(gain_db(100.0) > -0.1 && gain_db(1000.0) > -0.01, "{rate}");
        }
    }

    #[test]
    fn an_offset_leaves_no_step() {
        assert!(remove_rumble(&[0.5; 16_000], 16_000).iter().all(|x| x.abs() < 1e-6));
        assert!(remove_rumble(&[], 16_000).is_empty());
    }
}
