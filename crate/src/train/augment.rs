//! Rooms and microphones that a clip may have come through, made up on the device: no random number crosses from the host.

use burn::{prelude::*, tensor::Distribution};

/// Seconds from one frame to the next.
const FRAME_SECONDS: f32 = 0.0125;
/// Nepers a decibel.
const NEPERS: f32 = std::f32::consts::LN_10 / 20.0;

/// The same speech at another level, through another microphone, in a room with echoes and noise; each item of the batch its own.
///
/// `[B, T, M]` to `[B, T, M]`, natural logarithms of amplitudes.
pub fn augment(mels: Tensor<3>) -> Tensor<3> {
    let device = mels.device();
    let [items, frames, channels] = mels.dims();
    let uniform = |shape: [usize; 3], low: f64, high: f64| {
        Tensor::<3>::random(shape, Distribution::Uniform(low, high), &device)
    };
    let each = |low: f64, high: f64| uniform([items, 1, 1], low, high);
    let sometimes = |share: f64| Tensor::<3>::random([items, 1, 1], Distribution::Bernoulli(share), &device);
    let ramp = |count: usize| Tensor::<1, Int>::arange(0..count as i64, &device).float();
    let place = ramp(channels).div_scalar(channels as f32).reshape([1, 1, channels]); // 0 to 1 over the channels

    // A microphone: up to 4 dB of level and of tilt, and a hump or a dip somewhere.
    let hump = (place.clone() - each(0.0, 1.0)).div_scalar(0.2).powi_scalar(2).neg().exp();
    let colour = each(-4.0, 4.0) + each(-8.0, 8.0) * place.clone().sub_scalar(0.5) + each(-4.0, 4.0) * hump;
    let power = (mels + colour.mul_scalar(NEPERS)).mul_scalar(2.0).exp();

    // Echoes: 60 dB down after 0.15 to 0.6 s, 0 to 20 dB below the direct sound together.
    let fall = each(0.15, 0.6).recip().mul_scalar(-6.0 * std::f32::consts::LN_10 * FRAME_SECONDS); // nepers of power a frame
    let late = ramp(frames).reshape([1, frames, 1]) - ramp(frames).reshape([1, 1, frames]); // (1, T, T)
    // Before the sound there is none; its exponential would be infinite, and infinity times nothing is no number.
    let echoes = (late.clone().clamp_min(0.0) * fall.clone()).exp() * late.greater_elem(0.0).float();
    let gain = each(-2.0, 0.0).mul_scalar(std::f32::consts::LN_10).exp()
        * fall.exp().neg().add_scalar(1.0)
        * sometimes(0.5);
    let power = power.clone() + echoes.matmul(power) * gain; // (B, T, T) x (B, T, M)

    // Noise of any tilt, 12 to 50 dB below the speech's mean power, trembling as noise does.
    let mean = power.clone().mean_dim(1).mean_dim(2);
    let level = mean * each(-5.0, -1.2).mul_scalar(std::f32::consts::LN_10).exp() * sometimes(0.8);
    let tilt = (each(-6.0, 3.0) * place.sub_scalar(0.5)).exp();
    let whole = [items, frames, channels];
    let tremble = (uniform(whole, 0.0, 1.0) + uniform(whole, 0.0, 1.0)).powi_scalar(2);
    (power + level * tilt * tremble).clamp_min(1e-10).log().div_scalar(2.0)
}

/// Gaussian, made on the device.
pub fn gaussian(shape: [usize; 3], deviation: f64, device: &Device) -> Tensor<3> {
    Tensor::random(shape, Distribution::Normal(0.0, deviation), device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_differ_add_power_and_leave_the_speech_audible() {
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
            "speech stands out of its room: {silences:?}"
        );
        let (quietest, loudest) =
            (silences.iter().copied().fold(0.0, f32::min), silences.iter().copied().fold(-20.0, f32::max));
        assert!(quietest < -9.0 && loudest > -6.5, "rooms differ: {silences:?}");
    }
}
