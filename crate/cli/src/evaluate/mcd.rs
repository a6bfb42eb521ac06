//! Mel-cepstral distortion (Kubichek 1993) along a dynamic time warping path, and pitch differences along the same path.

use ownvoice::audio::{cepstra::cepstra, mel::Mel, pitch::Pitch};

/// The number of coefficients that are compared: c1 to c13.
const ORDERS: usize = 13;

/// The alignment of the frames of two utterances of the same text.
#[derive(Clone, Debug, PartialEq)]
pub struct WarpingPath {
    /// Pairs of frames, from the first of both to the last of both.
    pub path: Vec<(usize, usize)>,
    /// The mean distortion along the path.
    pub mcd_db: f32,
}

/// Finds the path of least distortion between two mel spectrograms of the same configuration. The distortion is the spectral difference of 13 cepstra in dB, without
/// levels. It is infinite if only one of them has no frames.
pub fn warp(a: &Mel, b: &Mel) -> WarpingPath {
    assert_eq!(a.mels, b.mels, "both mel spectrograms have the same configuration");
    let (rows, columns) = (a.frames(), b.frames());
    if rows == 0 || columns == 0 {
        return WarpingPath { path: Vec::new(), mcd_db: if rows == columns { 0.0 } else { f32::INFINITY } };
    }
    let (a, b) = (cepstra(a, ORDERS), cepstra(b, ORDERS));
    let distortion = |i: usize, j: usize| {
        let pairs = a[i * ORDERS..][..ORDERS].iter().zip(&b[j * ORDERS..][..ORDERS]);
        10.0 / std::f32::consts::LN_10 * (2.0 * pairs.map(|(x, y)| (x - y) * (x - y)).sum::<f32>()).sqrt()
    };
    // The step into each cell: from above, from the left, or diagonally.
    const UP: u8 = 0;
    const LEFT: u8 = 1;
    const DIAGONAL: u8 = 2;
    let mut came_from = vec![LEFT; rows * columns];
    let mut above = vec![f32::INFINITY; columns];
    for i in 0..rows {
        let mut row = vec![0.0; columns];
        for j in 0..columns {
            let left = if j > 0 { row[j - 1] } else { f32::INFINITY };
            let diagonal = if j > 0 { above[j - 1] } else { f32::INFINITY };
            let (so_far, way) = [(diagonal, DIAGONAL), (above[j], UP), (left, LEFT)]
                .into_iter()
                .reduce(|best, other| if other.0 < best.0 { other } else { best })
                .expect("three ways");
            row[j] = distortion(i, j) + if i + j == 0 { 0.0 } else { so_far };
            came_from[i * columns + j] = way;
        }
        above = row;
    }
    let (mut i, mut j) = (rows - 1, columns - 1);
    let mut path = vec![(i, j)];
    while i + j > 0 {
        let way = came_from[i * columns + j];
        i -= usize::from(way != LEFT);
        j -= usize::from(way != UP);
        path.push((i, j));
    }
    path.reverse();
    WarpingPath { mcd_db: above[columns - 1] / path.len() as f32, path }
}

/// The difference of two pitch tracks along a path.
#[derive(Debug, PartialEq)]
pub struct PitchDifference {
    /// The root mean square difference of log F0 where both are voiced; 0 if they never are.
    pub logf0_rmse: f32,
    /// The share of the path where only one is voiced.
    pub voicing_error: f32,
}

/// Compares two pitch tracks along a path.
pub fn pitch_difference(alignment: &WarpingPath, a: &Pitch, b: &Pitch) -> PitchDifference {
    let (mut squares, mut both, mut one) = (0.0, 0, 0);
    for &(i, j) in &alignment.path {
        match (a.f0_hz[i], b.f0_hz[j]) {
            (x, y) if x > 0.0 && y > 0.0 => {
                squares += (x / y).ln().powi(2);
                both += 1;
            }
            (x, y) if x > 0.0 || y > 0.0 => one += 1,
            _ => {}
        }
    }
    PitchDifference {
        logf0_rmse: if both > 0 { (squares / both as f32).sqrt() } else { 0.0 },
        voicing_error: one as f32 / alignment.path.len().max(1) as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame whose only cepstral coefficient is `c1 = x`.
    fn frame(x: f32) -> Vec<f32> {
        (0..80).map(|k| x * (std::f32::consts::PI * (k as f32 + 0.5) / 80.0).cos()).collect()
    }

    fn mel(values: &[f32]) -> Mel {
        Mel { mels: 80, data: values.iter().flat_map(|x| frame(*x)).collect() }
    }

    #[test]
    fn the_distortion_is_in_decibels() {
        // 10 / ln 10 * sqrt(2 * 0.5^2): a cosine of 0.5 nepers has an RMS of 3.07 dB.
        assert!((warp(&mel(&[1.0, 2.0]), &mel(&[1.5, 2.5])).mcd_db - 3.071).abs() < 0.01);
        let louder = Mel { mels: 80, data: mel(&[1.0, 2.0]).data.iter().map(|x| x + 1.0).collect() };
        assert!(warp(&mel(&[1.0, 2.0]), &louder).mcd_db < 1e-3, "the level does not matter");
    }

    #[test]
    fn the_speaking_rate_does_not_matter() {
        let alignment = warp(&mel(&[0.0, 1.0, 2.0, 0.5]), &mel(&[0.0, 0.0, 1.0, 2.0, 2.0, 2.0, 0.5]));
        assert!(alignment.mcd_db < 1e-4);
        assert_eq!(alignment.path, [(0, 0), (0, 1), (1, 2), (2, 3), (2, 4), (2, 5), (3, 6)]);
    }

    #[test]
    fn pitch_is_compared_along_the_path() {
        let alignment = warp(&mel(&[0.0, 1.0, 2.0]), &mel(&[0.0, 1.0, 1.0, 2.0]));
        let pitch = |f0_hz: &[f32]| Pitch { f0_hz: f0_hz.to_vec() };
        let difference =
            pitch_difference(&alignment, &pitch(&[100.0, 110.0, 0.0]), &pitch(&[100.0, 110.0, 220.0, 90.0]));
        assert!((difference.logf0_rmse - (2f32.ln().powi(2) / 3.0).sqrt()).abs() < 1e-5);
        assert_eq!(difference.voicing_error, 0.25);
    }

    #[test]
    fn empty_spectrograms_have_no_path() {
        let empty = Mel { mels: 80, data: vec![] };
        assert_eq!(warp(&empty, &empty).mcd_db, 0.0);
        assert_eq!(warp(&empty, &mel(&[0.0])).mcd_db, f32::INFINITY);
        assert_eq!(
            pitch_difference(&warp(&empty, &empty), &Pitch { f0_hz: vec![] }, &Pitch { f0_hz: vec![] }),
            PitchDifference { logf0_rmse: 0.0, voicing_error: 0.0 }
        );
    }
}
