//! How far a tensor is from its reference.

use serde::Serialize;

/// Distance of a tensor from its reference; not a number where either holds something that is none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Metrics {
    /// 1: the same direction.
    pub cosine: f64,
    /// Norm of the difference over that of the reference.
    pub relative_error: f64,
    /// Signal to quantisation noise, the same in dB; infinite where nothing differs.
    pub sqnr_db: f64,
    /// Largest difference of one value.
    pub largest_difference: f64,
}

impl Metrics {
    /// Sums are in f64, so that they add no error of their own.
    pub fn of(reference: &[f32], found: &[f32]) -> Self {
        let (mut product, mut of_reference, mut of_found, mut noise, mut largest) =
            (0.0, 0.0, 0.0, 0.0, 0.0f64);
        for (&a, &b) in reference.iter().zip(found) {
            let (a, b) = (f64::from(a), f64::from(b));
            product += a * b;
            of_reference += a * a;
            of_found += b * b;
            noise += (a - b) * (a - b);
            // `max` passes a NaN by.
            largest = if (a - b).is_nan() { f64::NAN } else { largest.max((a - b).abs()) };
        }
        if noise == 0.0 && reference.len() == found.len() {
            return Self {
                cosine: 1.0,
                relative_error: 0.0,
                sqnr_db: f64::INFINITY,
                largest_difference: 0.0,
            };
        }
        let finite = noise.is_finite() && reference.len() == found.len();
        let number = |value: f64| if finite { value } else { f64::NAN };
        Self {
            // Against zeros there is no angle.
            cosine: number(if of_reference * of_found > 0.0 {
                product / (of_reference.sqrt() * of_found.sqrt())
            } else {
                0.0
            }),
            relative_error: number((noise / of_reference).sqrt()),
            sqnr_db: number(10.0 * (of_reference / noise).log10()),
            largest_difference: number(largest),
        }
    }

    /// Whether the tensor is as near as a cosine demands: in direction, and in length by the error that this angle alone would make.
    pub fn passes(&self, cosine: f64) -> bool {
        // Written so that a NaN fails.
        self.cosine >= cosine && self.relative_error <= (1.0 - cosine * cosine).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direction_and_length_count() {
        let near = Metrics::of(&[3.0, 4.0], &[3.0, 4.05]);
        assert!((near.relative_error - 0.01).abs() < 1e-6 && (near.sqnr_db - 40.0).abs() < 1e-4, "{near:?}");
        assert!(near.passes(0.98) && (near.largest_difference - 0.05).abs() < 1e-6);
        assert!(!Metrics::of(&[3.0, 4.0], &[-3.0, -4.0]).passes(0.98));
        let doubled = Metrics::of(&[3.0, 4.0], &[6.0, 8.0]);
        assert!(doubled.cosine > 0.999 && !doubled.passes(0.98));
    }

    #[test]
    fn what_is_no_number_fails_and_zeros_equal_zeros() {
        for bad in [f32::NAN, f32::INFINITY] {
            assert!(!Metrics::of(&[1.0, 2.0], &[1.0, bad]).passes(0.5));
            assert!(!Metrics::of(&[bad], &[bad]).passes(0.5));
        }
        assert!(Metrics::of(&[0.0; 3], &[0.0; 3]).passes(1.0));
        assert!(!Metrics::of(&[0.0; 3], &[0.0, 1.0, 0.0]).passes(0.5));
        assert!(!Metrics::of(&[1.0; 3], &[1.0; 2]).passes(0.5), "of other sizes");
    }
}
