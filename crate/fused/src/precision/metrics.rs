//! The distance of a tensor from its reference.

use serde::Serialize;

/// The distance of a tensor from its reference. All fields are NaN if either holds non-finite values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Metrics {
    /// The cosine of the angle between both: 1 for the same direction.
    pub cosine: f64,
    /// The norm of the difference divided by the norm of the reference.
    pub relative_error: f64,
    /// The signal-to-quantisation-noise ratio, which is the relative error in dB; infinite without a difference.
    pub sqnr_db: f64,
    /// The largest difference of one value.
    pub largest_difference: f64,
}

impl Metrics {
    /// Compares a tensor with its reference. Sums are in f64, so that their rounding errors are negligible.
    pub fn between(reference: &[f32], found: &[f32]) -> Self {
        let (mut product, mut of_reference, mut of_found, mut noise, mut largest) =
            (0.0, 0.0, 0.0, 0.0, 0.0f64);
        for (&a, &b) in reference.iter().zip(found) {
            let (a, b) = (f64::from(a), f64::from(b));
            product += a * b;
            of_reference += a * a;
            of_found += b * b;
            noise += (a - b) * (a - b);
            // `f64::max` ignores NaN.
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
            // The angle to zeros is undefined.
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

    /// Returns whether the cosine is at least the given one, and the relative error at most the one that this angle causes at equal length.
    pub fn passes(&self, cosine: f64) -> bool {
        // NaN fails both comparisons.
        self.cosine >= cosine && self.relative_error <= (1.0 - cosine * cosine).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direction_and_length_must_match() {
        let near = Metrics::between(&[3.0, 4.0], &[3.0, 4.05]);
        assert!((near.relative_error - 0.01).abs() < 1e-6 && (near.sqnr_db - 40.0).abs() < 1e-4, "{near:?}");
        assert!(near.passes(0.98) && (near.largest_difference - 0.05).abs() < 1e-6);
        assert!(!Metrics::between(&[3.0, 4.0], &[-3.0, -4.0]).passes(0.98));
        let doubled = Metrics::between(&[3.0, 4.0], &[6.0, 8.0]);
        assert!(doubled.cosine > 0.999 && !doubled.passes(0.98));
    }

    #[test]
    fn non_finite_values_fail_and_zeros_equal_zeros() {
        for bad in [f32::NAN, f32::INFINITY] {
            assert!(!Metrics::between(&[1.0, 2.0], &[1.0, bad]).passes(0.5));
            assert!(!Metrics::between(&[bad], &[bad]).passes(0.5));
        }
        assert!(Metrics::between(&[0.0; 3], &[0.0; 3]).passes(1.0));
        assert!(!Metrics::between(&[0.0; 3], &[0.0, 1.0, 0.0]).passes(0.5));
        assert!(!Metrics::between(&[1.0; 3], &[1.0; 2]).passes(0.5), "different sizes");
    }
}
