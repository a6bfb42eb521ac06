//! Statistics of spectra by phone, from which the spectral transport is computed.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use crate::{
    audio::{dct::Dct, mel::Mel, pauses::speech},
    text::symbols::{Symbol, is_phone, without_stress},
};

/// The number of cepstral coefficients of an envelope. Higher coefficients describe the harmonics, which move with the pitch and would be smeared by a matrix.
pub(super) const ENVELOPE: usize = 24;

/// Sums over frames, weighted by the share of speech in each frame.
#[derive(Debug, Clone)]
struct Moments {
    weight: f64,
    /// The sum of the bands, `[M]`.
    sum: DVector<f64>,
    /// The sum of the outer products of the envelope's coefficients, `[K, K]`.
    products: DMatrix<f64>,
}

impl Moments {
    fn new(mels: usize) -> Self {
        let coefficients = ENVELOPE.min(mels);
        Self { weight: 0.0, sum: DVector::zeros(mels), products: DMatrix::zeros(coefficients, coefficients) }
    }
}

/// Returns the matrix from bands to the coefficients of their envelope, `[K, M]`; its transpose is the inverse on envelopes.
pub(super) fn envelope(mels: usize) -> DMatrix<f64> {
    let dct = Dct::new(mels);
    DMatrix::from_fn(ENVELOPE.min(mels), mels, |k, band| f64::from(dct.rows()[k][band]))
}

/// The first moments of the bands and the second moments of their envelope by phone, and the maximum of each band.
#[derive(Debug, Clone, Default)]
pub struct SpectralStats {
    phones: BTreeMap<Symbol, Moments>,
    /// The maximum of each band; empty before the first frame.
    pub(super) maximum: Vec<f32>,
}

impl SpectralStats {
    /// Adds a sentence.
    ///
    /// * `symbols`: the symbol of each frame
    pub fn add(&mut self, mel: &Mel, symbols: &[Symbol]) {
        let envelope = envelope(mel.mels);
        for ((t, weight), symbol) in speech(mel).into_iter().enumerate().zip(symbols) {
            if weight == 0.0 || !is_phone(*symbol) {
                continue;
            }
            self.maximum.resize(mel.mels, f32::NEG_INFINITY);
            self.maximum.iter_mut().zip(mel.frame(t)).for_each(|(maximum, x)| *maximum = maximum.max(*x));
            let weight = f64::from(weight);
            let frame = DVector::from_iterator(mel.mels, mel.frame(t).iter().map(|x| f64::from(*x)));
            let moments =
                self.phones.entry(without_stress(*symbol)).or_insert_with(|| Moments::new(mel.mels));
            moments.weight += weight;
            moments.sum.axpy(weight, &frame, 1.0);
            let cepstrum = &envelope * &frame;
            moments.products.ger(weight, &cepstrum, &cepstrum, 1.0);
        }
    }

    /// Returns a phone's share of the speech.
    pub(super) fn share(&self, phone: Symbol) -> f64 {
        let total: f64 = self.phones.values().map(|moments| moments.weight).sum();
        self.phones.get(&phone).map_or(0.0, |moments| moments.weight / total)
    }

    /// Returns the mean of the bands and the covariance of their envelope for given shares of the phones; `None` where they are undefined or non-finite.
    ///
    /// * `share`: the share of a phone, up to a common factor
    pub(super) fn distribution(&self, share: impl Fn(Symbol) -> f64) -> Option<(DVector<f64>, DMatrix<f64>)> {
        let mut total = Moments::new(self.phones.values().next()?.sum.len());
        for (phone, Moments { weight, sum, products }) in &self.phones {
            let factor = share(*phone) / weight;
            total.weight += factor * weight;
            total.sum.axpy(factor, sum, 1.0);
            total.products += factor * products;
        }
        if total.weight <= 0.0 || !total.products.iter().all(|product| product.is_finite()) {
            return None;
        }
        let mean = total.sum / total.weight;
        let cepstrum = envelope(mean.len()) * &mean;
        let covariance = total.products / total.weight - &cepstrum * cepstrum.transpose();
        Some((mean, covariance))
    }
}
