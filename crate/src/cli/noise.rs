//! What random numbers cost a training step of the speaker encoder, made on the device or on the host.

use burn::{module::Module, prelude::*};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

use crate::{
    audio::mel::MelConfig,
    model::speaker_encoder::{POOLED, SpeakerEncoder},
    nn::Mode,
    train::{
        adam::{Adam, AdamConfig},
        augment::gaussian,
        run::Recipe,
    },
};

const WARM_UP: usize = 2;
const STEPS: usize = 8;

/// Seconds a step, and the share of them in which the device has something to do: all that the host does not spend on making noise and sending it.
/// Device and host are the same processor on `cpu`; there the rows say what the noise costs, not what waits for what.
pub fn rows(device: &Device) -> Vec<Value> {
    let mut rows = Vec::new();
    for (place, on_host) in [("device", false), ("host", true)] {
        let (seconds, busy) = steps(&device.clone().autodiff(), on_host);
        rows.push(json!({"name": format!("train.speaker_encoder.noise_on_{place}.s_per_step"), "value": seconds, "unit": "s (32 x 160 frames)"}));
        rows.push(json!({"name": format!("train.speaker_encoder.noise_on_{place}.utilisation"), "value": busy, "unit": "share of the time"}));
    }
    rows
}

/// Seconds a step, and the device's share of them.
fn steps(device: &Device, on_host: bool) -> (f64, f64) {
    let Recipe { batch, window, .. } = Recipe::speaker_encoder();
    let mels = MelConfig::speech_16k().mels;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut encoder = SpeakerEncoder::new(mels, device).train();
    let mut adam = Adam::new(AdamConfig::default());
    let clean = Tensor::<3>::full([batch, window, mels], -5.0, device);
    let (mut begun, mut host) = (Instant::now(), Duration::ZERO);
    for step in 0..WARM_UP + STEPS {
        if step == WARM_UP {
            (begun, host) = (Instant::now(), Duration::ZERO);
        }
        let mut make = |channels: usize, deviation: f64| {
            let shape = [batch, window, channels];
            if !on_host {
                return gaussian(shape, deviation, device);
            }
            let making = Instant::now();
            let values: Vec<f32> =
                (0..batch * window * channels).map(|_| normal(&mut random) * deviation as f32).collect();
            let noise = Tensor::from_data(TensorData::new(values, shape), device);
            host += making.elapsed();
            noise
        };
        let (input, pooled) = (make(mels, 0.5), make(POOLED, 0.1));
        let loss = encoder.forward(clean.clone() + input, Some(pooled), Mode::Train).powi_scalar(2).mean();
        let gradients = loss.backward();
        encoder = adam.step(encoder, &gradients, |_| 1e-3);
        // Read back, or the queue would be timed and not the work.
        loss.into_scalar::<f32>();
    }
    let seconds = begun.elapsed().as_secs_f64();
    (seconds / STEPS as f64, 1.0 - host.as_secs_f64() / seconds)
}

/// Box and Muller 1958.
fn normal(random: &mut ChaCha8Rng) -> f32 {
    let (radius, angle) =
        ((-2.0 * (1.0 - random.random::<f32>()).ln()).sqrt(), std::f32::consts::TAU * random.random::<f32>());
    radius * angle.cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_noise_is_normal() {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let values: Vec<f32> = (0..20_000).map(|_| normal(&mut random)).collect();
        let mean = values.iter().sum::<f32>() / 20_000.0;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
