//! Mel-cepstra, which describe the shape of a spectrum without its level and fine structure.

use super::mel::Mel;

/// Values further than this below a clip's loudest one are background and raised to that floor: 60 dB, in nepers.
const RANGE_NEPERS: f32 = 6.9;

/// Computes the mel-cepstra `c1, c2, ..`, `[T, orders]`, where `log mel = c0 / 2 + sum c_n cos(pi n (m + 0.5) / M)`. The level c0 is left out.
pub fn cepstra(mel: &Mel, orders: usize) -> Vec<f32> {
    let m = mel.mels as f32;
    let basis: Vec<f32> = (1..=orders)
        .flat_map(|n| {
            (0..mel.mels)
                .map(move |k| (std::f32::consts::PI * n as f32 * (k as f32 + 0.5) / m).cos() * 2.0 / m)
        })
        .collect();
    let floor = mel.data.iter().copied().fold(f32::MIN, f32::max) - RANGE_NEPERS;
    let mut out = Vec::with_capacity(mel.frames() * orders);
    for t in 0..mel.frames() {
        let frame: Vec<f32> = mel.frame(t).iter().map(|x| x.max(floor)).collect();
        out.extend(
            basis.chunks_exact(mel.mels).map(|wave| wave.iter().zip(&frame).map(|(w, x)| w * x).sum::<f32>()),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cepstra_recover_the_cosines_of_a_spectrum() {
        let at = |n: f32, k: usize| (std::f32::consts::PI * n * (k as f32 + 0.5) / 80.0).cos();
        let mel =
            Mel { mels: 80, data: (0..80).map(|k| 0.7 + 1.5 * at(1.0, k) - 0.25 * at(4.0, k)).collect() };
        let expected = [1.5, 0.0, 0.0, -0.25, 0.0];
        assert!(cepstra(&mel, 5).iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-5));
    }
}
