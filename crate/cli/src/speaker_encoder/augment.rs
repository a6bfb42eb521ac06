//! Augmentation with random rooms and microphones. The random numbers are generated on the device.

use std::f32::consts::LN_10;
use std::ops::Range;

use burn::{prelude::*, tensor::Distribution};

use ownvoice::audio::mel::MelConfig;

/// The time in which echoes fall by 60 dB.
pub const ECHO_SECONDS: Range<f64> = 0.15..0.6;
/// The power of all echoes relative to the direct sound, in bels.
pub const ECHO_BELS: Range<f64> = -2.0..0.0;
/// The share of clips with echoes.
pub const ECHO_SHARE: f64 = 0.5;
/// How far the power of the noise lies below the mean power of the speech, in bels.
pub const NOISE_BELS: Range<f64> = 1.2..5.0;
/// The share of clips with noise.
pub const NOISE_SHARE: f64 = 0.8;

/// The number of nepers in a decibel.
const NEPERS: f32 = LN_10 / 20.0;

/// Changes level, microphone, echoes and noise of speech at random for each item of the batch.
///
/// Maps `[B, T, M]` to `[B, T, M]`, natural logarithms of amplitudes with frames of [`MelConfig::speech_16k`].
pub fn augment(mels: Tensor<3>) -> Tensor<3> {
    let device = mels.device();
    let [items, frames, channels] = mels.dims();
    let uniform = |shape: [usize; 3], low: f64, high: f64| {
        Tensor::<3>::random(shape, Distribution::Uniform(low, high), &device)
    };
    let each = |range: Range<f64>| uniform([items, 1, 1], range.start, range.end);
    let sometimes = |share: f64| Tensor::<3>::random([items, 1, 1], Distribution::Bernoulli(share), &device);
    let ramp = |count: usize| Tensor::<1, Int>::arange(0..count as i64, &device).float();
    let place = ramp(channels).div_scalar(channels as f32).reshape([1, 1, channels]); // 0 to 1 over the channels

    // A microphone: up to 4 dB of level and of tilt, and a hump or a dip at a random frequency.
    let hump = (place.clone() - each(0.0..1.0)).div_scalar(0.2).powi_scalar(2).neg().exp();
    let colour = each(-4.0..4.0) + each(-8.0..8.0) * place.clone().sub_scalar(0.5) + each(-4.0..4.0) * hump;
    let power = (mels + colour.mul_scalar(NEPERS)).mul_scalar(2.0).exp();

    // Echoes with an exponential decay.
    let frame_seconds = MelConfig::speech_16k().frame_seconds();
    let fall = each(ECHO_SECONDS).recip().mul_scalar(-6.0 * LN_10 * frame_seconds); // nepers of power a frame
    let late = ramp(frames).reshape([1, frames, 1]) - ramp(frames).reshape([1, 1, frames]); // (1, T, T)
    // There are no echoes before the sound. Clamping avoids an infinite exponential, which the mask would turn into NaN.
    let echoes = (late.clone().clamp_min(0.0) * fall.clone()).exp() * late.greater_elem(0.0).float();
    let gain =
        each(ECHO_BELS).mul_scalar(LN_10).exp() * fall.exp().neg().add_scalar(1.0) * sometimes(ECHO_SHARE);
    let power = power.clone() + echoes.matmul(power) * gain; // (B, T, T) x (B, T, M)

    // Noise with a random tilt and fluctuating power.
    let mean = power.clone().mean_dim(1).mean_dim(2);
    let level =
        mean * each(-NOISE_BELS.end..-NOISE_BELS.start).mul_scalar(LN_10).exp() * sometimes(NOISE_SHARE);
    let tilt = (each(-6.0..3.0) * place.sub_scalar(0.5)).exp();
    let whole = [items, frames, channels];
    let fluctuation = (uniform(whole, 0.0, 1.0) + uniform(whole, 0.0, 1.0)).powi_scalar(2);
    (power + level * tilt * fluctuation).clamp_min(1e-10).log().div_scalar(2.0)
}

/// Returns Gaussian noise that is generated on the device.
pub fn gaussian(shape: [usize; 3], deviation: f64, device: &Device) -> Tensor<3> {
    Tensor::random(shape, Distribution::Normal(0.0, deviation), device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_differ_and_leave_the_speech_audible() {
        let device = Device::flex();
        device.seed(3);
        // A second of speech, then silence.
        let clip: Vec<f32> =
            (0..16 * 160 * 80).map(|at| if (at / 80) % 160 < 80 { -3.0 } else { -11.5 }).collect();
        let augmented = augment(Tensor::from_data(TensorData::new(clip, [16, 160, 80]), &device))
            .into_data()
            .try_to_vec::<f32>()
            .unwrap();
        assert!(augmented.iter().all(|x| x.is_finite() && (-11.6..0.0).contains(x)));
        let mean = |item: usize, frames: std::ops::Range<usize>| {
            let range = (item * 160 + frames.start) * 80..(item * 160 + frames.end) * 80;
            augmented[range.clone()].iter().sum::<f32>() / range.len() as f32
        };
        let silences: Vec<f32> = (0..16).map(|item| mean(item, 140..160)).collect();
        assert!(
            (0..16).all(|item| mean(item, 5..80) > silences[item] + 0.3),
            "speech is louder than echoes and noise: {silences:?}"
        );
        let (quietest, loudest) =
            (silences.iter().copied().fold(0.0, f32::min), silences.iter().copied().fold(-20.0, f32::max));
        assert!(quietest < -9.0 && loudest > -6.5, "rooms differ: {silences:?}");
    }
}
