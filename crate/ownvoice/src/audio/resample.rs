//! Sample rate conversion of whole clips by rubato's FFT resampler.

use rubato::audioadapter_buffers::direct::InterleavedSlice;
use rubato::{Fft, FixedSync, Resampler};

use crate::{Error, Result};

/// The sample rates that a clip may have, in Hz.
pub const RATES_HZ: std::ops::RangeInclusive<u32> = 8_000..=192_000;

/// The length of a block in frames at the lower of the two rates: longer blocks keep more of the top of the band (above 97 % of it at 1024).
const BLOCK_FRAMES: usize = 1024;

/// Resamples `[S]` to `[round(S * to / from)]`, without delay. Fails with `rate-unsupported` if a rate lies outside [`RATES_HZ`].
pub fn resample(samples: &[f32], from_hz: u32, to_hz: u32) -> Result<Vec<f32>> {
    for rate in [from_hz, to_hz] {
        if !RATES_HZ.contains(&rate) {
            return Err(Error::rate_unsupported(rate));
        }
    }
    if from_hz == to_hz || samples.is_empty() {
        return Ok(samples.to_vec());
    }
    let (from, to) = (from_hz as usize, to_hz as usize);
    // With an odd number of the smallest blocks the filter's delay would include half a sample, which cannot be compensated.
    let smallest = from / greatest_common_divisor(from, to);
    let chunk = (BLOCK_FRAMES * from / from.min(to)).div_ceil(smallest).next_multiple_of(2) * smallest;
    let mut resampler =
        Fft::<f32>::new(from, to, chunk, 1, FixedSync::Both).expect("both rates were checked");
    let input = InterleavedSlice::new(samples, 1, samples.len()).expect("one channel of this length");
    let mut out = resampler
        .process_all(&input, samples.len(), None)
        .expect("the input has the stated length")
        .take_data();
    let expected = (samples.len() as u64 * to as u64 + from as u64 / 2) / from as u64;
    out.resize(expected as usize, 0.0);
    Ok(out)
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sine(hz: f32, rate: u32, seconds: f32) -> Vec<f32> {
        (0..(rate as f32 * seconds) as usize)
            .map(|n| (std::f32::consts::TAU * hz * n as f32 / rate as f32).sin() * 0.5)
            .collect()
    }

    /// Returns the largest difference, without 30 ms at both ends.
    fn worst(a: &[f32], b: &[f32], rate: u32) -> f32 {
        let edge = rate as usize * 3 / 100;
        a.iter().zip(b).skip(edge).take(a.len() - 2 * edge).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn tones_keep_their_phase_and_level() {
        for (from, to) in [
            (48000, 16000),
            (44100, 16000),
            (16000, 48000),
            (8000, 16000),
            (22050, 16000),
            (192000, 16000),
            (47999, 16000),
        ] {
            for hz in [100.0, 1000.0, 3700.0] {
                let out = resample(&sine(hz, from, 0.4), from, to).unwrap();
                assert!(worst(&out, &sine(hz, to, 0.4), to) < 2e-3, "{from} to {to} at {hz} Hz");
            }
        }
    }

    #[test]
    fn the_whole_mel_band_is_kept_without_aliasing() {
        let kept = resample(&sine(7600.0, 48000, 0.4), 48000, 16000).unwrap();
        assert!(worst(&kept, &sine(7600.0, 16000, 0.4), 16000) < 5e-3);
        let gone = resample(&sine(8500.0, 48000, 0.4), 48000, 16000).unwrap();
        assert!(worst(&gone, &vec![0.0; gone.len()], 16000) < 1e-3);
    }

    #[test]
    fn lengths_are_exact() {
        for samples in [1usize, 2, 99, 1000, 44_101] {
            for (from, to) in
                [(44100u32, 16000u32), (48000, 22050), (8000, 16000), (11025, 16000), (47999, 16000)]
            {
                let expected = (samples as f64 * f64::from(to) / f64::from(from)).round() as usize;
                assert_eq!(
                    resample(&vec![0.1; samples], from, to).unwrap().len(),
                    expected,
                    "{samples} from {from} to {to}"
                );
            }
        }
        assert_eq!(resample(&[], 44100, 16000).unwrap(), [0.0f32; 0]);
    }

    #[test]
    fn unsupported_rates_are_refused() {
        for rate in [0, 1, 7_999, 192_001, u32::MAX] {
            assert_eq!(resample(&[0.0; 10], rate, 16000).unwrap_err().code(), "rate-unsupported");
            assert_eq!(resample(&[0.0; 10], 16000, rate).unwrap_err().code(), "rate-unsupported");
        }
    }
}
