//! Pitch tracking by YIN (de Cheveigné and Kawahara 2002). The path through its candidates is chosen over the whole clip instead of frame by frame.

use realfft::RealFftPlanner;

/// The lowest F0 that is tracked, in Hz.
pub const MIN_TRACKED_HZ: f32 = 60.0;
/// The highest F0 that is tracked, in Hz.
pub const MAX_TRACKED_HZ: f32 = 420.0;
/// The lowest F0 of synthesis, in Hz: below the tracked range, since the pitch of synthesis can be lowered.
pub const MIN_PITCH_HZ: f32 = 50.0;
/// The highest F0 of synthesis, in Hz: above the tracked range, since the pitch of synthesis can be raised.
pub const MAX_PITCH_HZ: f32 = 500.0;
/// The cost of an unvoiced frame: the largest difference of adjacent periods, relative to their power, at which a frame is still voiced.
const UNVOICED_COST: f32 = 0.45;
/// The cost of a transition between voiced and unvoiced.
const SWITCH_COST: f32 = 0.15;
/// The cost of a jump by an octave from one frame to the next.
const OCTAVE_JUMP_COST: f32 = 1.0;
/// The cost of each octave below the maximum: two periods repeat as well as one, so the higher candidate is preferred.
const LOW_COST: f32 = 0.02;
/// The most candidate periods of a frame.
const CANDIDATES: usize = 8;
/// The relative power (-40 dB) below the loudest frame at which a frame is always unvoiced.
const SILENT_POWER: f32 = 1e-4;

/// The pitch track of a clip.
#[derive(Clone, Debug, PartialEq)]
pub struct Pitch {
    /// One value for each hop, `[1 + S / hop]`, as for mel frames; 0 where unvoiced.
    pub f0_hz: Vec<f32>,
}

impl Pitch {
    /// Returns the geometric mean of the voiced frames' F0, or 0 without any.
    pub fn mean_hz(&self) -> f32 {
        let (count, sum) = self.voiced_log_hz().fold((0, 0.0), |(n, sum), log| (n + 1, sum + log));
        if count == 0 { 0.0 } else { (sum / count as f32).exp() }
    }

    /// Iterates over the natural logarithms of the voiced frames' F0.
    pub fn voiced_log_hz(&self) -> impl Iterator<Item = f32> {
        self.f0_hz.iter().filter(|hz| **hz > 0.0).map(|hz| hz.ln())
    }
}

/// A candidate for the F0 of a frame.
#[derive(Clone, Copy)]
struct Candidate {
    hz: f32,
    cost: f32,
}

/// Tracks the F0 of `samples`, one value for each hop, between 60 and 420 Hz.
pub fn track(samples: &[f32], sample_rate_hz: u32, hop_length: usize) -> Pitch {
    let frames = 1 + samples.len() / hop_length;
    let mut yin = Yin::new(sample_rate_hz);
    let candidates: Vec<Vec<Candidate>> =
        (0..frames).map(|t| yin.candidates(samples, t * hop_length)).collect();
    let loudest = candidates
        .iter()
        .zip(&yin.powers)
        .filter(|(c, _)| !c.is_empty())
        .map(|(_, power)| *power)
        .fold(0.0, f32::max);
    let silent = |t: usize| yin.powers[t] <= loudest * SILENT_POWER;
    let candidates =
        candidates.into_iter().enumerate().map(|(t, c)| if silent(t) { Vec::new() } else { c }).collect();
    Pitch { f0_hz: cheapest_path(candidates) }
}

/// Returns the F0 of each frame along the path of least cost (Viterbi). State 0 is unvoiced.
fn cheapest_path(candidates: Vec<Vec<Candidate>>) -> Vec<f32> {
    const UNVOICED: Candidate = Candidate { hz: 0.0, cost: UNVOICED_COST };
    let states = |t: usize| std::iter::once(UNVOICED).chain(candidates[t].iter().copied());
    let step = |from: Candidate, to: Candidate| match (from.hz > 0.0, to.hz > 0.0) {
        (true, true) => OCTAVE_JUMP_COST * (to.hz / from.hz).log2().abs(),
        (false, false) => 0.0,
        _ => SWITCH_COST,
    };
    let mut best: Vec<f32> = states(0).map(|state| state.cost).collect();
    let mut came_from: Vec<Vec<usize>> = vec![vec![0; best.len()]];
    for t in 1..candidates.len() {
        let (costs, origins) = states(t)
            .map(|to| {
                let ways = states(t - 1).zip(&best).map(|(from, so_far)| so_far + step(from, to));
                let (origin, cost) =
                    ways.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).expect("there is the unvoiced state");
                (cost + to.cost, origin)
            })
            .unzip();
        best = costs;
        came_from.push(origins);
    }
    let mut at = (0..best.len()).min_by(|a, b| best[*a].total_cmp(&best[*b])).unwrap_or(0);
    let mut f0_hz = vec![0.0; candidates.len()];
    for t in (0..candidates.len()).rev() {
        f0_hz[t] = if at == 0 { 0.0 } else { candidates[t][at - 1].hz };
        at = came_from[t][at];
    }
    f0_hz
}

/// YIN's difference function of a frame, computed by the Fourier transform.
struct Yin {
    sample_rate_hz: f32,
    /// The shortest lag, in samples.
    shortest: usize,
    /// The longest lag, in samples.
    longest: usize,
    /// The geometric mean of both.
    usual: usize,
    /// The number of samples compared at each lag.
    window: usize,
    forward: std::sync::Arc<dyn realfft::RealToComplex<f32>>,
    inverse: std::sync::Arc<dyn realfft::ComplexToReal<f32>>,
    /// The mean power of each frame.
    powers: Vec<f32>,
}

impl Yin {
    fn new(sample_rate_hz: u32) -> Self {
        let sample_rate_hz = sample_rate_hz as f32;
        let shortest = ((sample_rate_hz / MAX_TRACKED_HZ) as usize).max(2);
        let longest = (sample_rate_hz / MIN_TRACKED_HZ) as usize + 1;
        let window = longest * 3 / 2;
        let fft_length = (2 * window + longest).next_power_of_two();
        let mut planner = RealFftPlanner::new();
        let (forward, inverse) = (planner.plan_fft_forward(fft_length), planner.plan_fft_inverse(fft_length));
        let usual = (sample_rate_hz / (MIN_TRACKED_HZ * MAX_TRACKED_HZ).sqrt()) as usize;
        Self { sample_rate_hz, shortest, longest, usual, window, forward, inverse, powers: Vec::new() }
    }

    /// Returns the candidate periods around sample `centre`, or as near to it as the clip's ends allow. A clip of less than 42 ms has none.
    fn candidates(&mut self, samples: &[f32], centre: usize) -> Vec<Candidate> {
        // One more lag on both sides for the parabolic interpolation.
        let span = self.window + self.longest + 1;
        let Some(latest) = samples.len().checked_sub(span) else {
            self.powers.push(0.0);
            return Vec::new();
        };
        // Two windows are compared, the later by one period. `centre` lies in the middle of both at the usual lag rather than at the longest one.
        let start = centre.saturating_sub((self.window + self.usual) / 2).min(latest);
        let mut long = samples[start..start + span].to_vec();
        let mean = long.iter().sum::<f32>() / span as f32;
        long.iter_mut().for_each(|x| *x -= mean);

        let mut energy = vec![0.0f64; span + 1];
        for (n, x) in long.iter().enumerate() {
            energy[n + 1] = energy[n] + f64::from(x * x);
        }
        self.powers.push((energy[span] / span as f64) as f32);
        if energy[span] < 1e-9 {
            return Vec::new();
        }
        let products = self.correlate(&long);
        let at_rest = energy[self.window];
        let difference = |lag: usize| {
            (at_rest + energy[lag + self.window] - energy[lag] - 2.0 * f64::from(products[lag])).max(0.0)
                as f32
        };

        // Cumulative mean normalised difference (equation 8).
        let mut normalised = vec![1.0f32; self.longest + 2];
        let mut sum = 0.0;
        for (lag, value) in normalised.iter_mut().enumerate().skip(1) {
            let d = difference(lag);
            sum += d;
            *value = if sum > 0.0 { d * lag as f32 / sum } else { 1.0 };
        }
        let mut found: Vec<Candidate> = (self.shortest..=self.longest)
            .filter(|&lag| normalised[lag] < normalised[lag - 1] && normalised[lag] <= normalised[lag + 1])
            .map(|lag| {
                let (left, here, right) = (normalised[lag - 1], normalised[lag], normalised[lag + 1]);
                let curve = left - 2.0 * here + right;
                let shift = if curve > 0.0 { (0.5 * (left - right) / curve).clamp(-0.5, 0.5) } else { 0.0 };
                let hz = self.sample_rate_hz / (lag as f32 + shift);
                Candidate {
                    hz,
                    cost: here - 0.25 * (left - right) * shift
                        + LOW_COST * (MAX_TRACKED_HZ / hz).log2().max(0.0),
                }
            })
            .filter(|candidate| (MIN_TRACKED_HZ..=MAX_TRACKED_HZ).contains(&candidate.hz))
            .collect();
        found.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        found.truncate(CANDIDATES);
        found
    }

    /// Correlates the first `window` samples with those `lag` later, for every lag.
    fn correlate(&self, long: &[f32]) -> Vec<f32> {
        let transform = |part: &[f32]| {
            let mut padded = self.forward.make_input_vec();
            padded[..part.len()].copy_from_slice(part);
            let mut spectrum = self.forward.make_output_vec();
            self.forward.process(&mut padded, &mut spectrum).expect("buffers come from this plan");
            spectrum
        };
        let mut spectrum = transform(long);
        spectrum.iter_mut().zip(transform(&long[..self.window])).for_each(|(x, y)| *x *= y.conj());
        let mut products = self.inverse.make_output_vec();
        self.inverse.process(&mut spectrum, &mut products).expect("a product of real signals' spectra");
        let scale = 1.0 / products.len() as f32;
        products.iter_mut().for_each(|x| *x *= scale);
        products
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u32 = 16_000;

    /// Ten harmonics of falling amplitude over a moving pitch.
    fn voice(hz: impl Fn(f32) -> f32, seconds: f32) -> Vec<f32> {
        let mut phase = 0.0;
        (0..(seconds * RATE as f32) as usize)
            .map(|n| {
                phase += std::f32::consts::TAU * hz(n as f32 / RATE as f32) / RATE as f32;
                (1..=10).map(|k| (phase * k as f32).sin() / k as f32).sum::<f32>() * 0.2
            })
            .collect()
    }

    fn noise(samples: usize) -> impl Iterator<Item = f32> {
        let mut state = 7u32;
        (0..samples).map(move |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        })
    }

    fn voiced_share(pitch: &Pitch) -> f32 {
        pitch.voiced_log_hz().count() as f32 / pitch.f0_hz.len() as f32
    }

    fn median(mut values: Vec<f32>) -> f32 {
        values.sort_by(f32::total_cmp);
        values[values.len() / 2]
    }

    #[test]
    fn steady_pitch_is_tracked_exactly() {
        for hz in [65.0, 80.0, 110.5, 151.3, 220.0, 317.0, 410.0] {
            let pitch = track(&voice(|_| hz, 0.5), RATE, 200);
            assert_eq!(pitch.f0_hz.len(), 41);
            assert!(voiced_share(&pitch) > 0.8, "{hz}: {pitch:?}");
            let errors = pitch.voiced_log_hz().map(|log| (log.exp() / hz - 1.0).abs()).collect();
            assert!(median(errors) < 0.002, "{hz}: {pitch:?}");
            assert!((pitch.mean_hz() / hz - 1.0).abs() < 0.005, "{hz}: {}", pitch.mean_hz());
        }
    }

    #[test]
    fn gliding_pitch_is_tracked_in_noise() {
        let hz = |t: f32| 180.0 + 60.0 * (5.0 * t).sin();
        let clip: Vec<f32> =
            voice(hz, 1.0).into_iter().zip(noise(16_000)).map(|(x, n)| x + 0.05 * n).collect();
        let pitch = track(&clip, RATE, 200);
        let errors: Vec<f32> = (2..79).map(|t| (pitch.f0_hz[t] / hz(t as f32 / 80.0) - 1.0).abs()).collect();
        assert!(errors.iter().all(|error| *error < 0.1), "no octave errors: {pitch:?}");
        assert!(median(errors) < 0.01);
    }

    #[test]
    fn a_sweep_is_tracked_without_delay() {
        // The pitch rises by an octave in two seconds, so a frequency error converts to a delay in frames.
        for low in [75.0f32, 120.0, 190.0] {
            let hz = |t: f32| low * (t / 2.0).exp2();
            let pitch = track(&voice(hz, 2.0), RATE, 200);
            let late: Vec<f32> =
                (10..150).map(|t| t as f32 - 160.0 * (pitch.f0_hz[t] / low).log2()).collect();
            let late = median(late);
            println!("from {low} Hz: {late:.2} frames late");
            assert!(late.abs() < 0.25, "from {low} Hz: {late} frames late");
        }
    }

    #[test]
    fn noise_silence_and_short_clips_are_unvoiced() {
        let hiss: Vec<f32> = noise(16_000).collect();
        assert!(voiced_share(&track(&hiss, RATE, 200)) < 0.05);
        for silent in [
            track(&[], RATE, 200),
            track(&[0.0; 8000], RATE, 200),
            track(&[0.5; 8000], RATE, 200),
            track(&[0.1; 3], RATE, 200),
        ] {
            assert_eq!(silent.mean_hz(), 0.0, "{silent:?}");
            assert!(silent.f0_hz.iter().all(|hz| *hz == 0.0));
        }
    }

    #[test]
    fn pauses_are_unvoiced() {
        let mut clip = voice(|_| 120.0, 0.5);
        clip.extend(noise(8000).map(|n| 0.02 * n));
        let f0_hz = track(&clip, RATE, 200).f0_hz;
        assert!(
            f0_hz[2..38].iter().all(|hz| *hz > 0.0) && f0_hz[43..].iter().all(|hz| *hz == 0.0),
            "{f0_hz:?}"
        );
    }

    #[test]
    fn other_rates_and_hops_work() {
        let clip: Vec<f32> =
            (0..48_000).map(|n| 0.3 * (std::f32::consts::TAU * 140.0 * n as f32 / 48_000.0).sin()).collect();
        let pitch = track(&clip, 48_000, 600);
        assert_eq!(pitch.f0_hz.len(), 81);
        assert!((pitch.mean_hz() - 140.0).abs() < 0.5);
    }
}
