//! The two excitation sources of a voice, pulses at its pitch and noise, both white and of unit power, and the filter that shapes them into speech.

use rand::Rng;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex, num_complex::Complex32};
use std::{f32::consts::TAU, sync::Arc};

/// Generates pulses without harmonics beyond half the sample rate. They fade over one hop where voicing begins or ends.
///
/// * `f0_hz`: one value for each hop, 0 where unvoiced
/// * `phase`: the phase of the first sample, in turns
///
/// Returns `(frames - 1) * hop_length` samples; frame `t` is centred on sample `t * hop_length`.
pub fn pulses(f0_hz: &[f32], sample_rate_hz: u32, hop_length: usize, phase: f32) -> Vec<f32> {
    let rate = sample_rate_hz as f32;
    let mut turns = phase;
    let mut samples = Vec::with_capacity(f0_hz.len().saturating_sub(1) * hop_length);
    for pair in f0_hz.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let (voiced_from, voiced_to) = (f32::from(u8::from(from > 0.0)), f32::from(u8::from(to > 0.0)));
        // An unvoiced frame takes its neighbour's pitch while the pulses fade.
        let (start, end) = if from <= 0.0 {
            (to, to)
        } else if to <= 0.0 {
            (from, from)
        } else {
            (from, to)
        };
        for n in 0..hop_length {
            let share = n as f32 / hop_length as f32;
            let gain = voiced_from + share * (voiced_to - voiced_from);
            let hz = start + share * (end - start);
            samples.push(if gain > 0.0 { gain * pulse(turns, (rate / 2.0 / hz) as usize) } else { 0.0 });
            turns = (turns + hz / rate).fract();
        }
    }
    samples
}

/// Evaluates the sum of `harmonics` cosines of equal amplitude in Dirichlet's closed form, scaled to unit power.
fn pulse(turns: f32, harmonics: usize) -> f32 {
    let count = harmonics as f32;
    let half = (TAU * turns / 2.0).sin();
    let sum =
        if half.abs() < 1e-4 { count } else { 0.5 * ((TAU * turns * (count + 0.5)).sin() / half - 1.0) };
    sum / (count / 2.0).sqrt()
}

/// Generates uniformly distributed noise of unit power.
pub fn noise(samples: usize, random: &mut impl Rng) -> Vec<f32> {
    let bound = 3.0f32.sqrt();
    (0..samples).map(|_| random.random_range(-bound..bound)).collect()
}

/// Filters sources with filters of their own in each frame, with a cross-fade from one to the next. It plans its transforms once.
pub struct FrameFilter {
    fft_length: usize,
    hop_length: usize,
    forward: Arc<dyn RealToComplex<f32>>,
    inverse: Arc<dyn ComplexToReal<f32>>,
}

impl FrameFilter {
    /// Creates a filter. `fft_length` holds two hops and the filters' response.
    pub fn new(fft_length: usize, hop_length: usize) -> Self {
        assert!(fft_length.is_multiple_of(2) && fft_length > 2 * hop_length);
        let mut planner = RealFftPlanner::new();
        Self {
            fft_length,
            hop_length,
            forward: planner.plan_fft_forward(fft_length),
            inverse: planner.plan_fft_inverse(fft_length),
        }
    }

    /// Returns the number of frequency bins, F.
    pub fn bins(&self) -> usize {
        self.fft_length / 2 + 1
    }

    /// Returns the sum of the filtered sources, `[(T - 1) * hop]`.
    ///
    /// * `pulses`: `[(T - 1) * hop]`, and log amplitudes `[T, F]` of minimum-phase filters
    /// * `noise`:  `[(T - 1) * hop]`, and log amplitudes `[T, F]` of zero-phase filters: a response to noise has random phases in any case
    pub fn sum(&self, pulses: (&[f32], &[f32]), noise: (&[f32], &[f32])) -> Vec<f32> {
        let (hop, bins) = (self.hop_length, self.bins());
        let mut out = vec![0.0; pulses.0.len()];
        // The overlapping halves of adjacent Hann windows sum to one.
        let window: Vec<f32> =
            (0..2 * hop).map(|n| 0.5 - 0.5 * (TAU * n as f32 / (2 * hop) as f32).cos()).collect();
        // The responses of zero-phase filters begin before their frame.
        let lead = (self.fft_length - 2 * hop) / 3;
        let mut time = self.forward.make_input_vec();
        let (mut spectrum, mut filter) = (self.forward.make_output_vec(), self.forward.make_output_vec());
        let mut total = self.inverse.make_input_vec();
        let scale = 1.0 / self.fft_length as f32;
        for t in 0..out.len() / hop + 1 {
            // The frame's part of the samples, and where it lies in the window.
            let (begin, end) = (t.saturating_sub(1) * hop, ((t + 1) * hop).min(out.len()));
            let offset = if t == 0 { hop } else { 0 };
            let mut transform = |source: &[f32], spectrum: &mut [Complex32]| {
                time.fill(0.0);
                let windowed = source[begin..end].iter().zip(&window[offset..]).map(|(x, w)| x * w);
                time[lead + offset..].iter_mut().zip(windowed).for_each(|(x, windowed)| *x = windowed);
                self.forward.process(&mut time, spectrum).expect("buffers come from this plan");
            };
            let of_frame = t * bins..(t + 1) * bins;
            transform(pulses.0, &mut total);
            transform(noise.0, &mut spectrum);
            self.minimum_phase(&pulses.1[of_frame.clone()], &mut time, &mut filter);
            let shaped = total.iter_mut().zip(&filter).zip(spectrum.iter().zip(&noise.1[of_frame]));
            shaped.for_each(|((sum, h), (x, log))| *sum = *sum * h + x * log.exp());
            self.to_time(&mut total, &mut time);
            let early = begin.min(lead);
            let response = &time[lead + offset - early..];
            out[begin - early..].iter_mut().zip(response).for_each(|(out, x)| *out += x * scale);
        }
        out
    }

    /// Computes the minimum-phase spectrum `[F]` of these amplitudes, from their cepstrum (Oppenheim and Schafer 1989, section 12.7).
    ///
    /// * `cepstrum`: `[2 (F - 1)]`, overwritten
    fn minimum_phase(&self, log_amplitudes: &[f32], cepstrum: &mut [f32], spectrum: &mut [Complex32]) {
        let half = self.fft_length / 2;
        spectrum.iter_mut().zip(log_amplitudes).for_each(|(x, log)| *x = Complex32::new(*log, 0.0));
        self.to_time(spectrum, cepstrum);
        let scale = 1.0 / self.fft_length as f32;
        cepstrum[0] *= scale;
        cepstrum[half] *= scale;
        cepstrum[1..half].iter_mut().for_each(|c| *c *= 2.0 * scale);
        cepstrum[half + 1..].fill(0.0);
        self.forward.process(cepstrum, spectrum).expect("buffers come from this plan");
        spectrum.iter_mut().for_each(|log| *log = Complex32::from_polar(log.re.exp(), log.im));
    }

    /// Computes the inverse transform, unscaled.
    fn to_time(&self, spectrum: &mut [Complex32], time: &mut [f32]) {
        // A real signal has no phase at 0 Hz and at half the sample rate.
        spectrum[0].im = 0.0;
        spectrum[self.fft_length / 2].im = 0.0;
        self.inverse.process(spectrum, time).expect("buffers come from this plan");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::{pitch, stft::Stft};
    use rand::SeedableRng;

    fn power(samples: &[f32]) -> f32 {
        samples.iter().map(|x| x * x).sum::<f32>() / samples.len() as f32
    }

    #[test]
    fn both_sources_are_white_and_of_unit_power() {
        let pulses = pulses(&[100.0; 81], 16_000, 200, 0.3);
        let noise = noise(16_000, &mut rand_chacha::ChaCha8Rng::seed_from_u64(1));
        for source in [pulses, noise] {
            assert_eq!(source.len(), 16_000);
            assert!((power(&source) - 1.0).abs() < 0.05, "{}", power(&source));
            // Eighths of the band hold an eighth of the power each.
            let mut bands = [0.0f32; 8];
            Stft::new(1024, 800, 200).analyze(&source, |_, spectrum| {
                spectrum[..512].iter().enumerate().for_each(|(bin, x)| bands[bin / 64] += x.norm_sqr());
            });
            let total: f32 = bands.iter().sum();
            assert!(bands.iter().all(|band| (band / total * 8.0 - 1.0).abs() < 0.1), "{bands:?}");
        }
    }

    #[test]
    fn pulses_follow_the_pitch_and_stop_where_unvoiced() {
        let f0: Vec<f32> = (0..121).map(|t| if t < 80 { 180.0 } else { 0.0 }).collect();
        let samples = pulses(&f0, 16_000, 200, 0.0);
        assert!((pitch::track(&samples, 16_000, 200).mean_hz() - 180.0).abs() < 0.5);
        assert!(samples[80 * 200..].iter().all(|x| *x == 0.0));
    }

    #[test]
    fn a_flat_filter_changes_nothing_and_a_louder_one_doubles() {
        let filter = FrameFilter::new(1024, 200);
        let source = pulses(&[120.0; 21], 16_000, 200, 0.0);
        let logs = |gain: f32| vec![gain.ln(); 21 * filter.bins()];
        for gain in [1.0f32, 2.0] {
            let out = filter.sum((&source, &logs(gain)), (&vec![0.0; source.len()], &logs(1.0)));
            assert!(out.iter().zip(&source).all(|(out, source)| (out - gain * source).abs() < 1e-3 * 20.0));
        }
        let noise = noise(source.len(), &mut rand_chacha::ChaCha8Rng::seed_from_u64(2));
        let out = filter.sum((&source, &logs(0.5)), (&noise, &logs(2.0)));
        let wanted = source.iter().zip(&noise).map(|(source, noise)| 0.5 * source + 2.0 * noise);
        assert!(out.iter().zip(wanted).all(|(out, wanted)| (out - wanted).abs() < 1e-3 * 20.0));
        assert_eq!(filter.sum((&[], &logs(1.0)), (&[], &logs(1.0))), [0.0f32; 0]);
    }

    #[test]
    fn minimum_phase_keeps_the_amplitudes_and_concentrates_energy_early() {
        let filter = FrameFilter::new(1024, 200);
        let logs: Vec<f32> =
            (0..filter.bins()).map(|bin| -((bin as f32 - 90.0) / 40.0).powi(2).min(6.0)).collect();
        let (mut spectrum, mut time) = (filter.forward.make_output_vec(), filter.inverse.make_output_vec());
        filter.minimum_phase(&logs, &mut time, &mut spectrum);
        assert!(spectrum.iter().zip(&logs).all(|(x, log)| (x.norm_sqr().sqrt() - log.exp()).abs() < 1e-3));
        filter.to_time(&mut spectrum, &mut time);
        let energy = |range: &[f32]| range.iter().map(|x| x * x).sum::<f32>();
        assert!(energy(&time[..256]) > 0.99 * energy(&time));
    }
}
