//! Objective intelligibility of speech relative to a recording of the same length, from the correlation of their envelopes: STOI (Taal et al. 2011, "An Algorithm for
//! Intelligibility Prediction of Time-Frequency Weighted Noisy Speech") and ESTOI (Jensen and Taal 2016, "An Algorithm for Predicting the Intelligibility of
//! Speech Masked by Modulated Noise Maskers").

use std::f64::consts::PI;

use realfft::RealFftPlanner;
use serde::Serialize;

use ownvoice::{Result, audio::resample::resample};

/// The two measures, 0 to 1 except for random deviations below 0, and 1 for the recording itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Intelligibility {
    pub stoi: f32,
    pub estoi: f32,
}

/// The sample rate of the computation (section II-A of the first paper).
const RATE_HZ: u32 = 10_000;
const FRAME: usize = 256;
const HOP: usize = FRAME / 2;
const FFT: usize = 512;
/// The number of bands, each a third of an octave wide, from 150 Hz.
const BANDS: usize = 15;
const MIN_HZ: f64 = 150.0;
/// The number of frames of a segment, 384 ms.
const SEGMENT: usize = 30;
/// The dynamic range: frames of the recording further below its strongest one are left out.
const RANGE_DB: f64 = 40.0;
/// The clipping factor 1 + 10^(15 / 20), for a lower bound of -15 dB on the signal-to-distortion ratio.
const CLIP: f64 = 6.623_413_251_903_491;

/// Compares speech with a recording. Returns `None` if less than 0.4 s of the recording is speech.
///
/// * `reference`, `other`: synchronous samples; the longer one is truncated
///
/// # Errors
/// Fails with `rate-unsupported`.
pub fn intelligibility(
    reference: &[f32],
    other: &[f32],
    sample_rate_hz: u32,
) -> Result<Option<Intelligibility>> {
    let count = reference.len().min(other.len());
    let slow = |samples: &[f32]| -> Result<Vec<f64>> {
        Ok(resample(&samples[..count], sample_rate_hz, RATE_HZ)?.into_iter().map(f64::from).collect())
    };
    let (reference, other) = (slow(reference)?, slow(other)?);
    let kept = loud_frames(&reference);
    let [reference, other] = [reference, other].map(|samples| envelopes(&joined(&samples, &kept)));
    if reference.len() < SEGMENT {
        return Ok(None);
    }
    let segments = reference.windows(SEGMENT).zip(other.windows(SEGMENT));
    let (mut stoi, mut estoi, count) = (0.0, 0.0, segments.len() as f64);
    for (reference, other) in segments {
        stoi += by_band(reference, other);
        estoi += by_frame(reference, other);
    }
    Ok(Some(Intelligibility { stoi: (stoi / count) as f32, estoi: (estoi / count) as f32 }))
}

/// Returns a Hann window without the zeros at its ends.
fn window() -> [f64; FRAME] {
    std::array::from_fn(|n| 0.5 - 0.5 * (2.0 * PI * (n + 1) as f64 / (FRAME + 1) as f64).cos())
}

/// Iterates over the windowed frames that lie entirely within the samples.
fn frames(samples: &[f64]) -> impl Iterator<Item = [f64; FRAME]> + '_ {
    let window = window();
    let starts = (0..samples.len().saturating_sub(FRAME)).step_by(HOP);
    starts.map(move |start| std::array::from_fn(|n| samples[start + n] * window[n]))
}

/// Returns which frames of the recording are within [`RANGE_DB`] of its strongest.
fn loud_frames(reference: &[f64]) -> Vec<bool> {
    let energies: Vec<f64> =
        frames(reference).map(|frame| frame.iter().map(|value| value * value).sum()).collect();
    let least = energies.iter().fold(0.0f64, |most, &energy| most.max(energy)) * 10f64.powf(-RANGE_DB / 10.0);
    energies.into_iter().map(|energy| energy > least).collect()
}

/// Overlaps and adds the kept frames as if they were adjacent.
fn joined(samples: &[f64], kept: &[bool]) -> Vec<f64> {
    let mut joined = vec![0.0; (kept.iter().filter(|&&kept| kept).count() + 1) * HOP];
    let frames = frames(samples).zip(kept).filter(|(_, kept)| **kept);
    for (number, (frame, _)) in frames.enumerate() {
        joined[number * HOP..][..FRAME].iter_mut().zip(frame).for_each(|(sum, value)| *sum += value);
    }
    joined
}

/// Returns the bins of each band.
fn bands() -> [std::ops::Range<usize>; BANDS] {
    let bin = |hz: f64| (hz * FFT as f64 / f64::from(RATE_HZ)).round() as usize;
    std::array::from_fn(|band| {
        let edge = |sixths: i32| bin(MIN_HZ * 2f64.powf(f64::from(sixths) / 6.0));
        edge(2 * band as i32 - 1)..edge(2 * band as i32 + 1)
    })
}

/// Computes the root of each band's energy in each frame.
fn envelopes(samples: &[f64]) -> Vec<[f64; BANDS]> {
    let transform = RealFftPlanner::<f64>::new().plan_fft_forward(FFT);
    let (mut input, mut spectrum) = (transform.make_input_vec(), transform.make_output_vec());
    let bands = bands();
    frames(samples)
        .map(|frame| {
            input.fill(0.0);
            input[..FRAME].copy_from_slice(&frame);
            transform.process(&mut input, &mut spectrum).expect("buffers come from this plan");
            std::array::from_fn(|band| {
                spectrum[bands[band].clone()].iter().map(|bin| bin.norm_sqr()).sum::<f64>().sqrt()
            })
        })
        .collect()
}

/// Computes the intermediate intelligibility of STOI (equations 3 to 5 of the first paper): in each band, the other envelope is normalised to the
/// recording's energy, clipped, and correlated with it.
fn by_band(reference: &[[f64; BANDS]], other: &[[f64; BANDS]]) -> f64 {
    let correlation = |band: usize| {
        let column = |rows: &[[f64; BANDS]]| -> [f64; SEGMENT] { std::array::from_fn(|at| rows[at][band]) };
        let (reference, mut other) = (column(reference), column(other));
        let scale = norm(&reference) / norm(&other).max(f64::EPSILON);
        other
            .iter_mut()
            .zip(reference)
            .for_each(|(value, bound)| *value = (*value * scale).min(bound * CLIP));
        product(&normalised(reference), &normalised(other))
    };
    (0..BANDS).map(correlation).sum::<f64>() / BANDS as f64
}

/// Computes the intermediate intelligibility of ESTOI (equations 2 to 5 of the second paper): rows and then columns are normalised to zero mean and unit
/// norm, and frames are compared over all bands.
fn by_frame(reference: &[[f64; BANDS]], other: &[[f64; BANDS]]) -> f64 {
    let [reference, other] = [reference, other].map(|rows| {
        let mut rows: [[f64; BANDS]; SEGMENT] = std::array::from_fn(|at| rows[at]);
        for band in 0..BANDS {
            let column = normalised::<SEGMENT>(std::array::from_fn(|at| rows[at][band]));
            rows.iter_mut().zip(column).for_each(|(row, value)| row[band] = value);
        }
        rows.map(normalised)
    });
    reference.iter().zip(&other).map(|(reference, other)| product(reference, other)).sum::<f64>()
        / SEGMENT as f64
}

/// Normalises to zero mean and unit norm; constant values become zero.
fn normalised<const N: usize>(mut values: [f64; N]) -> [f64; N] {
    let mean = values.iter().sum::<f64>() / N as f64;
    values.iter_mut().for_each(|value| *value -= mean);
    let length = norm(&values).max(f64::EPSILON);
    values.map(|value| value / length)
}

fn norm(values: &[f64]) -> f64 {
    product(values, values).sqrt()
}

/// Returns the inner product.
fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Two seconds of syllables of noise and a tone, and pauses.
    fn speech(seed: u64) -> Vec<f32> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut samples, mut hz, mut low) = (Vec::new(), 0.0, 0.0);
        for n in 0..32_000usize {
            if n % 2400 == 0 {
                hz = random.random_range(150.0..2500.0);
            }
            let envelope = (PI as f32 * (n % 2400) as f32 / 2400.0).sin().powi(2);
            low += 0.3 * (random.random_range(-1.0f32..1.0) - low);
            let loud = if n / 8000 == 2 { 0.0 } else { 1.0 };
            let tone = (std::f32::consts::TAU * hz * n as f32 / 16_000.0).sin();
            samples.push(loud * envelope * (0.3 * tone + 0.2 * low));
        }
        samples
    }

    fn noisy(samples: &[f32], level: f32) -> Vec<f32> {
        let mut random = ChaCha8Rng::seed_from_u64(9);
        samples.iter().map(|sample| sample + level * random.random_range(-1.0f32..1.0)).collect()
    }

    #[test]
    fn noise_lowers_intelligibility_and_the_recording_itself_has_one() {
        let reference = speech(1);
        let of = |other: &[f32]| intelligibility(&reference, other, 16_000).unwrap().unwrap();
        let own = of(&reference);
        assert!((own.stoi - 1.0).abs() < 1e-6 && (own.estoi - 1.0).abs() < 1e-6, "{own:?}");
        let louder: Vec<f32> = reference.iter().map(|sample| 3.0 * sample).collect();
        assert!((of(&louder).stoi - 1.0).abs() < 1e-5);
        let rising = [0.01, 0.1, 0.5].map(|level| of(&noisy(&reference, level)));
        assert!(rising.windows(2).all(|pair| pair[0].stoi > pair[1].stoi && pair[0].estoi > pair[1].estoi));
        let another = of(&speech(2));
        assert!(another.estoi < 0.3, "{another:?}");
        let silence = of(&vec![0.0; reference.len()]);
        assert!(silence.stoi.abs() < 1e-6 && silence.estoi.abs() < 1e-6, "{silence:?}");
    }

    #[test]
    fn too_little_speech_has_no_intelligibility() {
        for short in [0, 100, 3000] {
            assert_eq!(
                intelligibility(&speech(1)[..short], &speech(1)[..short], 16_000).unwrap(),
                None,
                "{short}"
            );
        }
    }

    /// Noise in -1 to 1 of a linear congruential generator, which is easily reproduced in other languages.
    fn simple_noise(mut state: u32) -> impl Iterator<Item = f64> {
        std::iter::repeat_with(move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 23) - 1.0
        })
    }

    /// Two seconds at 10 kHz, with a pause.
    fn simple_speech(hz: f64) -> Vec<f64> {
        let syllable = |(n, noise): (usize, f64)| {
            let envelope = (PI * (n % 1500) as f64 / 1500.0).sin().powi(2);
            let loud = if n / 5000 == 2 { 0.0 } else { 1.0 };
            let tone = (2.0 * PI * (hz + 0.02 * n as f64) * n as f64 / 10_000.0).sin();
            loud * envelope * (0.3 * tone + 0.2 * noise)
        };
        (0..20_000).zip(simple_noise(1)).map(syllable).collect()
    }

    /// The expected values are those of pystoi 0.4.1 for the same samples, by this script:
    ///
    /// ```python
    /// def noise(state):
    ///     while True:
    ///         state = (state * 1664525 + 1013904223) % 2**32
    ///         yield (state >> 8) / 2**23 - 1
    /// n = numpy.arange(20000)
    /// take = lambda state: numpy.fromiter(itertools.islice(noise(state), 20000), float)
    /// envelope = numpy.sin(numpy.pi * (n % 1500) / 1500) ** 2 * (n // 5000 != 2)
    /// speech = lambda hz: envelope * (0.3 * numpy.sin(2 * numpy.pi * (hz + 0.02 * n) * n / 10000) + 0.2 * take(1))
    /// pystoi.stoi(speech(300), other, 10000), pystoi.stoi(speech(300), other, 10000, extended=True)
    /// ```
    #[test]
    fn values_match_pystoi() {
        let reference = simple_speech(300.0);
        let noisy =
            reference.iter().zip(simple_noise(2)).map(|(sample, noise)| sample + 0.1 * noise).collect();
        let clipped = reference.iter().map(|sample| sample.clamp(-0.05, 0.05)).collect();
        let late = [&[0.0; 200], &reference[..reference.len() - 200]].concat();
        let single = |samples: Vec<f64>| samples.into_iter().map(|sample| sample as f32).collect::<Vec<_>>();
        let reference = single(reference);
        for (name, other, stoi, estoi) in [
            ("in noise", noisy, 0.877_430, 0.583_633),
            ("another tone", simple_speech(900.0), 0.880_465, 0.555_791),
            ("clipped", clipped, 0.727_481, 0.623_585),
            ("late by 20 ms", late, 0.560_767, 0.342_797),
        ] {
            let found = intelligibility(&reference, &single(other), 10_000).unwrap().unwrap();
            let close = (found.stoi - stoi).abs() < 1e-4 && (found.estoi - estoi).abs() < 1e-4;
            assert!(close, "{name}: {found:?}, not {stoi} and {estoi}");
        }
    }

    /// The expected bands are those of pystoi at 10 kHz; `tests/evaluators/lips.py` compares the measures on recordings.
    #[test]
    fn bands_match_the_paper() {
        let bands = bands();
        assert_eq!((bands[0].clone(), bands[14].clone()), (7..9, 174..219));
        assert!(bands.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
}
