//! Compares log-mels with librosa 0.11.0. `web/tests/mel.rs` includes this file to compare them in the browser too.

use ownvoice::audio::mel::{MelConfig, MelExtractor};

/// Two tones and a much quieter rising one.
pub fn clip(samples: usize, rate: f64) -> Vec<f32> {
    let tone = |hz: f64, t: f64| (std::f64::consts::TAU * hz * t).sin();
    let at = |t: f64| 0.4 * tone(220.0, t) + 0.2 * tone(1330.0, t) + 0.05 * tone(5000.0 * (1.0 + t), t);
    (0..samples).map(|n| at(n as f64 / rate) as f32).collect()
}

/// Compares channels 0, 1, 10, 33, 60 and 79 of the first, the eighth and the last frame, and the sum of all values, with
/// `log(maximum(filters.mel(..) @ abs(stft(clip, center=True, pad_mode="reflect", ..)), 1e-5))`.
fn compare(config: MelConfig, expected: [[f32; 6]; 3], sum: f32) {
    let mel = MelExtractor::new(config.clone()).extract(&clip(4000, f64::from(config.sample_rate_hz)));
    assert_eq!(mel.frames(), 1 + 4000 / config.hop_length);
    for (t, expected) in [0, 7, mel.frames() - 1].into_iter().zip(expected) {
        for (channel, expected) in [0, 1, 10, 33, 60, 79].into_iter().zip(expected) {
            let got = mel.frame(t)[channel];
            assert!(
                (got - expected).abs() < 2e-3,
                "frame {t} channel {channel}: {got}, librosa has {expected}"
            );
        }
    }
    let got: f32 = mel.data.iter().sum();
    assert!((got - sum).abs() < 1.0, "the sum is {got}, librosa has {sum}");
}

pub fn speech_16k() {
    let expected = [
        [-0.24467, -0.00354, -2.01621, 0.07018, -5.13087, -4.63564],
        [-5.34304, -4.60216, -7.1736, 0.46405, -11.51293, -11.51293],
        [-0.37394, -0.10611, -1.44274, 0.20274, -5.17521, -2.22065],
    ];
    compare(MelConfig::speech_16k(), expected, -12663.516);
}

pub fn nvidia_22k() {
    let expected = [
        [-0.4256, -0.33638, -1.61119, 0.10504, -5.66658, -5.08995],
        [-6.35713, -5.70777, -6.46263, 0.31152, -11.51293, -11.51293],
        [-0.9455, -0.85171, -1.881, 0.27828, -5.77255, -7.84344],
    ];
    compare(MelConfig::nvidia_22k(), expected, -9436.464);
}
