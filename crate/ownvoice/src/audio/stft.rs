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
        let frames = spectra.len() / self.bins();
        let length = frames.saturating_sub(1) * self.hop_length;
        let mut sum = vec![0.0; length + self.fft_length];
        let mut weight = vec![0.0; length + self.fft_length];
        let mut bins = self.inverse.make_input_vec();
        let mut frame = self.inverse.make_output_vec();
        let mut scratch = self.inverse.make_scratch_vec();
        for (t, spectrum) in spectra.chunks_exact(self.bins()).enumerate() {
            bins.copy_from_slice(spectrum);
            // A real signal has no phase at 0 Hz and at half the sample rate.
            bins[0].im = 0.0;
            bins[self.bins() - 1].im = 0.0;
            self.inverse
                .process_with_scratch(&mut bins, &mut frame, &mut scratch)
                .expect("buffers come from this plan");
            let at = t * self.hop_length;
            for (((s, q), x), w) in sum[at..].iter_mut().zip(&mut weight[at..]).zip(&frame).zip(&self.window)
            {
                *s += x * w;
                *q += w * w;
            }
        }
        let scale = 1.0 / self.fft_length as f32;
        let centre = self.fft_length / 2..self.fft_length / 2 + length;
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
}
