//! The cosine transform of a log spectrum's bands, which separates level, tilt, formants and finer structure.

/// An orthonormal DCT-II over the bands of a frame.
pub(crate) struct Dct {
    /// The basis, one row for each coefficient, `[M, M]`.
    rows: Vec<Vec<f32>>,
}

impl Dct {
    pub(crate) fn new(mels: usize) -> Self {
        let angle = |k: usize, n: usize| std::f32::consts::PI * k as f32 * (n as f32 + 0.5) / mels as f32;
        let scale = |k: usize| (if k == 0 { 1.0 } else { 2.0 } / mels as f32).sqrt();
        let row = |k: usize| (0..mels).map(|n| scale(k) * angle(k, n).cos()).collect();
        Self { rows: (0..mels).map(row).collect() }
    }

    /// Returns the basis, one row for each coefficient, `[M, M]`.
    pub(crate) fn rows(&self) -> &[Vec<f32>] {
        &self.rows
    }

    /// Computes the M cepstral coefficients of a frame.
    pub(crate) fn cepstrum<'a>(&'a self, frame: &'a [f32]) -> impl Iterator<Item = f32> + 'a {
        self.rows.iter().map(move |row| row.iter().zip(frame).map(|(a, b)| a * b).sum())
    }

    /// Adds `amount` to one cepstral coefficient of a frame.
    pub(crate) fn raise(&self, frame: &mut [f32], coefficient: usize, amount: f32) {
        frame.iter_mut().zip(&self.rows[coefficient]).for_each(|(x, a)| *x += amount * a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raising_a_coefficient_changes_no_other() {
        let dct = Dct::new(8);
        let mut frame: Vec<f32> = (0..8).map(|band| (band as f32).sin()).collect();
        let before: Vec<f32> = dct.cepstrum(&frame).collect();
        dct.raise(&mut frame, 3, 0.5);
        for (k, (now, before)) in dct.cepstrum(&frame).zip(before).enumerate() {
            let raised = if k == 3 { 0.5 } else { 0.0 };
            assert!((now - before - raised).abs() < 1e-5, "{k}: {before} became {now}");
        }
    }
}
