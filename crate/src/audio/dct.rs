//! The cosine transform of a log spectrum's bands, which separates level, tilt, formants and what is finer.

/// An orthonormal DCT-II of so many bands.
pub(crate) struct Dct {
    /// A row each coefficient, `[M, M]`
    rows: Vec<Vec<f32>>,
}

impl Dct {
    pub(crate) fn new(mels: usize) -> Self {
        let angle = |k: usize, n: usize| std::f32::consts::PI * k as f32 * (n as f32 + 0.5) / mels as f32;
        let scale = |k: usize| (if k == 0 { 1.0 } else { 2.0 } / mels as f32).sqrt();
        let row = |k: usize| (0..mels).map(|n| scale(k) * angle(k, n).cos()).collect();
        Self { rows: (0..mels).map(row).collect() }
    }

    /// `[M, M]`, a row each coefficient.
    pub(crate) fn rows(&self) -> &[Vec<f32>] {
        &self.rows
    }

    /// The cepstral coefficients of a frame, as many as it has bands.
    pub(crate) fn cepstrum<'a>(&'a self, frame: &'a [f32]) -> impl Iterator<Item = f32> + 'a {
        self.rows.iter().map(move |row| row.iter().zip(frame).map(|(a, b)| a * b).sum())
    }

    /// Adds `more` to a coefficient of a frame.
    pub(crate) fn raise(&self, frame: &mut [f32], coefficient: usize, more: f32) {
        frame.iter_mut().zip(&self.rows[coefficient]).for_each(|(x, a)| *x += more * a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_coefficient_is_found_and_no_other() {
        let dct = Dct::new(8);
        let mut frame: Vec<f32> = (0..8).map(|band| (band as f32).sin()).collect();
        let before: Vec<f32> = dct.cepstrum(&frame).collect();
        dct.raise(&mut frame, 3, 0.5);
        for (k, (now, before)) in dct.cepstrum(&frame).zip(before).enumerate() {
            let more = if k == 3 { 0.5 } else { 0.0 };
            assert!((now - before - more).abs() < 1e-5, "{k}: {now} of {before}");
        }
    }
}
