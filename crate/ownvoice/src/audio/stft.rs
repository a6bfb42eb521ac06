//! The centred short-time Fourier transform and its inverse, as in librosa and NVIDIA's Tacotron 2.

use std::f64::consts::TAU;
use std::sync::Arc;

use realfft::num_complex::Complex32;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};

/// A planned short-time Fourier transform. `F` is `fft_length / 2 + 1`; `T` is `1 + S / hop_length`.
pub struct Stft {
    pub fft_length: usize,
    pub hop_length: usize,
    /// Periodic Hann window, zero-padded on both sides to `[fft_length]`.
    window: Vec<f32>,
    forward: Arc<dyn RealToComplex<f32>>,
    inverse: Arc<dyn ComplexToReal<f32>>,
}

impl Stft {
    pub fn new(fft_length: usize, window_length: usize, hop_length: usize) -> Self {
        assert!(hop_length > 0 && (1..=fft_length).contains(&window_length) && fft_length.is_multiple_of(2));
        let mut window = vec![0.0; fft_length];
        let left = (fft_length - window_length) / 2;
        for (n, w) in window[left..left + window_length].iter_mut().enumerate() {
            *w = (0.5 - 0.5 * (TAU * n as f64 / window_length as f64).cos()) as f32;
        }
        let mut planner = RealFftPlanner::new();
        let (forward, inverse) = (planner.plan_fft_forward(fft_length), planner.plan_fft_inverse(fft_length));
        Self { fft_length, hop_length, window, forward, inverse }
    }

    /// Returns the number of frequency bins, F.
    pub fn bins(&self) -> usize {
        self.fft_length / 2 + 1
    }

    /// Returns the number of frames, T, of a clip of `samples` samples.
    pub fn frames(&self, samples: usize) -> usize {
        1 + samples / self.hop_length
    }

    /// Calls `each(t, spectrum)` with every frame's spectrum `[F]`; the clip is reflected at both ends.
    pub fn analyze(&self, samples: &[f32], mut each: impl FnMut(usize, &[Complex32])) {
        let mut frame = vec![0.0; self.fft_length];
        let mut spectrum = self.forward.make_output_vec();
        let mut scratch = self.forward.make_scratch_vec();
        for t in 0..self.frames(samples.len()) {
            let start = (t * self.hop_length) as isize - (self.fft_length / 2) as isize;
            if let Some(inside) =
                usize::try_from(start).ok().and_then(|start| samples.get(start..start + self.fft_length))
            {
                frame.iter_mut().zip(inside).zip(&self.window).for_each(|((x, s), w)| *x = s * w);
            } else {
                for (n, (x, w)) in frame.iter_mut().zip(&self.window).enumerate() {
                    *x = reflected(samples, start + n as isize) * w;
                }
            }
            self.forward
                .process_with_scratch(&mut frame, &mut spectrum, &mut scratch)
                .expect("buffers come from this plan");
            each(t, &spectrum);
        }
    }

    /// Computes the least-squares inverse (Griffin and Lim 1984, equation 6) of spectra `[T, F]`: `(T - 1) * hop_length` samples.
    pub fn synthesize(&self, spectra: &[Complex32]) -> Vec<f32> {
        let mut inverse = Inverse::new(self, spectra.len() / self.bins());
        for (t, spectrum) in spectra.chunks_exact(self.bins()).enumerate() {
            inverse.add(t, spectrum.iter().copied());
        }
        inverse.samples()
    }

    /// Multiplies the spectrum of each frame by the gains `[F]` that `gains(t, spectrum, gains)` writes, and returns the inverse, as long as whole hops of the
    /// samples. It holds one frame at a time.
    pub fn scale(&self, samples: &[f32], mut gains: impl FnMut(usize, &[Complex32], &mut [f32])) -> Vec<f32> {
        let mut inverse = Inverse::new(self, self.frames(samples.len()));
        let mut factors = vec![1.0; self.bins()];
        self.analyze(samples, |t, spectrum| {
            gains(t, spectrum, &mut factors);
            inverse.add(t, spectrum.iter().zip(&factors).map(|(x, factor)| x * factor));
        });
        inverse.samples()
    }
}

/// The inverse of a transform, to which frames are added.
struct Inverse<'a> {
    stft: &'a Stft,
    sum: Vec<f32>,
    /// The sum of the squared windows at each sample.
    weight: Vec<f32>,
    bins: Vec<Complex32>,
    frame: Vec<f32>,
    scratch: Vec<Complex32>,
}

impl<'a> Inverse<'a> {
    fn new(stft: &'a Stft, frames: usize) -> Self {
        let length = frames.saturating_sub(1) * stft.hop_length + stft.fft_length;
        Self {
            sum: vec![0.0; length],
            weight: vec![0.0; length],
            bins: stft.inverse.make_input_vec(),
            frame: stft.inverse.make_output_vec(),
            scratch: stft.inverse.make_scratch_vec(),
            stft,
        }
    }

    /// Adds the frame `t`.
    fn add(&mut self, t: usize, spectrum: impl Iterator<Item = Complex32>) {
        let Self { stft, sum, weight, bins, frame, scratch } = self;
        bins.iter_mut().zip(spectrum).for_each(|(bin, x)| *bin = x);
        // A real signal has no phase at 0 Hz and at half the sample rate.
        bins[0].im = 0.0;
        bins[stft.bins() - 1].im = 0.0;
        stft.inverse.process_with_scratch(bins, frame, scratch).expect("buffers come from this plan");
        let at = t * stft.hop_length;
        for (((s, q), x), w) in sum[at..].iter_mut().zip(&mut weight[at..]).zip(frame).zip(&stft.window) {
            *s += *x * w;
            *q += w * w;
        }
    }

    fn samples(self) -> Vec<f32> {
        let Self { stft, sum, weight, .. } = self;
        let scale = 1.0 / stft.fft_length as f32;
        let centre = stft.fft_length / 2..sum.len() - stft.fft_length / 2;
        sum[centre.clone()]
            .iter()
            .zip(&weight[centre])
            .map(|(s, q)| if *q > 1e-6 { s * scale / q } else { 0.0 })
            .collect()
    }
}

/// Returns the sample at `index` of a clip that is mirrored repeatedly at its first and last sample; 0 for an empty clip.
fn reflected(samples: &[f32], index: isize) -> f32 {
    let last = samples.len() as isize - 1;
    match last {
        -1 => 0.0,
        0 => samples[0],
        _ => {
            let folded = index.rem_euclid(2 * last);
            samples[folded.min(2 * last - folded) as usize]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflection_matches_numpy() {
        let at = |n: &[f32]| (-4..6).map(|index| reflected(n, index)).collect::<Vec<_>>();
        // numpy.pad([1, 2, 3], (4, 3), "reflect")
        assert_eq!(at(&[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0, 2.0, 1.0, 2.0, 3.0, 2.0, 1.0, 2.0]);
        assert_eq!(at(&[7.0]), [7.0; 10]);
        assert_eq!(at(&[]), [0.0; 10]);
    }

    #[test]
    fn the_inverse_undoes_the_transform() {
        let stft = Stft::new(64, 48, 12);
        let clip: Vec<f32> = (0..240).map(|n| ((n * n) as f32 * 0.013).sin()).collect();
        let mut spectra = Vec::new();
        stft.analyze(&clip, |_, spectrum| spectra.extend_from_slice(spectrum));
        assert_eq!(spectra.len(), 21 * 33);
        let back = stft.synthesize(&spectra);
        assert_eq!(back.len(), 240);
        assert!(clip.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-5));
        assert_eq!(stft.synthesize(&[]), [0.0f32; 0]);
    }

    #[test]
    fn scaling_is_analysis_and_synthesis() {
        let stft = Stft::new(64, 48, 12);
        let clip: Vec<f32> = (0..245).map(|n| ((n * n) as f32 * 0.013).sin()).collect();
        let gain = |t: usize, bin: usize| 0.5 + (t * bin % 7) as f32;
        let mut spectra = Vec::new();
        stft.analyze(&clip, |t, spectrum| {
            spectra.extend(spectrum.iter().enumerate().map(|(bin, x)| x * gain(t, bin)));
        });
        let scaled = stft.scale(&clip, |t, _, gains| {
            gains.iter_mut().enumerate().for_each(|(bin, factor)| *factor = gain(t, bin));
        });
        assert_eq!((scaled.len(), scaled == stft.synthesize(&spectra)), (240, true));
    }
}
