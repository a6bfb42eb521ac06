//! `ownvoice profile`: where a training step's time goes, module by module.
//!
//! Each module runs alone on inputs of training's size, forward and then backward, and the device is waited for after both. Weights
//! and speech are random: they change no time. A whole step beside them shows what the modules leave unexplained.

use burn::{Tensor, prelude::Device};
use clap::Args;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use std::time::Instant;

use super::device::DeviceName;
use crate::{
    Error, Result,
    audio::mel::{Mel, MelConfig},
    model::{Tacotron, TacotronConfig},
    nn::Mode,
    train::{
        adam::{Adam, AdamConfig},
        batch::{Batch, Batcher},
        features::Features,
        loss::{losses, spectrogram_loss},
    },
    vocoder::{GriffinLim, Vocoder},
};

#[derive(Args)]
pub struct ProfileArguments {
    #[arg(long, value_enum, default_value = "cpu")]
    device: DeviceName,
    #[arg(long, default_value_t = 8)]
    batch: usize,
    /// Frames of a window
    #[arg(long, default_value_t = 128)]
    window: usize,
    /// Runs that are timed, after three that are not
    #[arg(long, default_value_t = 10)]
    runs: usize,
    /// Batch statistics, as in pretraining; without, running ones, as in cloning
    #[arg(long)]
    pretraining: bool,
    #[arg(long)]
    json: bool,
}

const WARM_UP: usize = 3;
const SPEAKERS: usize = 4;
/// Of one utterance: 40 symbols of 5 frames.
const SYMBOLS: usize = 40;
const SYMBOL_FRAMES: u32 = 5;

/// Mean milliseconds.
struct Row {
    module: &'static str,
    forward: f64,
    /// `None` where nothing flows back.
    backward: Option<f64>,
}

struct Clock<'a> {
    device: &'a Device,
    runs: usize,
}

impl Clock<'_> {
    /// Milliseconds since `begun`, with all the work that was queued meanwhile.
    fn since(&self, begun: Instant) -> f64 {
        self.device.sync().expect("the device answers");
        begun.elapsed().as_secs_f64() * 1e3
    }

    /// Mean of `once`, which returns milliseconds, with the first runs left out.
    fn mean<const N: usize>(&self, mut once: impl FnMut() -> [f64; N]) -> [f64; N] {
        let mut sums = [0.0; N];
        for run in 0..WARM_UP + self.runs {
            let times = once();
            if run >= WARM_UP {
                sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time / self.runs as f64);
            }
        }
        sums
    }

    fn both<const D: usize>(&self, module: &'static str, forward: impl Fn() -> Tensor<D>) -> Row {
        let [forward, backward] = self.mean(|| {
            let begun = Instant::now();
            let output = forward();
            let forward = self.since(begun);
            let sum = output.sum();
            let begun = Instant::now();
            let _gradients = sum.backward();
            [forward, self.since(begun)]
        });
        Row { module, forward, backward: Some(backward) }
    }

    fn alone(&self, module: &'static str, mut action: impl FnMut()) -> Row {
        let [forward] = self.mean(|| {
            let begun = Instant::now();
            action();
            [self.since(begun)]
        });
        Row { module, forward, backward: None }
    }
}

pub fn profile(arguments: &ProfileArguments) -> Result<()> {
    let config = TacotronConfig::small(SPEAKERS);
    if arguments.runs == 0 || arguments.batch == 0 || arguments.window == 0 || arguments.window % config.reduction != 0 {
        return Err(Error::OptionInvalid(format!(
            "runs, batch and window must be positive, the window a multiple of {}",
            config.reduction
        )));
    }
    let device = arguments.device.open()?.autodiff();
    let rows = measure(&Clock { device: &device, runs: arguments.runs }, &config, arguments);
    let shown = |time: Option<f64>| time.map_or(String::new(), |time| format!("{time:.2}"));
    if arguments.json {
        let rows: Vec<_> =
            rows.iter().map(|row| json!({"module": row.module, "forward_ms": row.forward, "backward_ms": row.backward})).collect();
        println!("{}", serde_json::to_string(&rows).expect("plain data"));
    } else {
        println!("{:<12} {:>10} {:>10}", "ms", "forward", "backward");
        for Row { module, forward, backward } in rows {
            println!("{module:<12} {:>10} {:>10}", shown(Some(forward)), shown(backward));
        }
    }
    Ok(())
}

fn measure(clock: &Clock, config: &TacotronConfig, arguments: &ProfileArguments) -> Vec<Row> {
    let device = clock.device;
    let mode = if arguments.pretraining { Mode::Train } else { Mode::Steady };
    let features = corpus(config.mels);
    let all: Vec<usize> = (0..features.utterances.len()).collect();
    let mut batcher = Batcher::new(arguments.batch, arguments.window, 0);
    let feeder = clock.alone("feeder", || drop(batcher.draw(&features, &all, config, device)));

    let batch = batcher.draw(&features, &all, config, device);
    let Batch { symbols, durations, times, positions, previous, targets, mask, .. } = &batch;
    let mut model = Tacotron::new(config, device);
    let encoded = model.encode(symbols, mode).detach().require_grad(); // (B, L, E)
    let speaker = model.speakers.val().select(0, batch.speakers.clone()).detach().require_grad(); // (B, V)
    let upsample = |encoded| model.upsample(symbols, encoded, durations.clone(), times.clone(), positions.clone());
    let context = upsample(encoded.clone()).detach().require_grad(); // (B, T, C)
    let start = || model.decoder.start(arguments.batch, device);
    let decode = || model.decoder.forward(previous.clone(), context.clone(), speaker.clone(), start()).0;
    let frames = decode().detach().require_grad(); // (B, T, M)
    let mut rows = vec![
        feeder,
        clock.both("encoder", || model.encode(symbols, mode)),
        clock.both("durations", || model.durations.forward(encoded.clone(), speaker.clone(), &symbols.lengths)),
        clock.both("alignment", || upsample(encoded.clone())),
        clock.both("decoder", decode),
        clock.both("postnet", || model.postnet.forward(frames.clone(), mode)),
        clock.both("loss", || spectrogram_loss(frames.clone(), targets.clone(), mask.clone(), batch.valid_frames)),
    ];
    let mut adam = Adam::new(AdamConfig::default());
    let gradients = losses(&model, &batch, mode).total().backward();
    rows.push(clock.alone("optimizer", || drop(adam.step(model.clone(), &gradients, |_| 1e-4))));
    rows.push(clock.alone("whole step", || {
        let batch = batcher.draw(&features, &all, config, device);
        let gradients = losses(&model, &batch, mode).total().backward();
        model = adam.step(model.clone(), &gradients, |_| 1e-4);
    }));
    let vocoder = GriffinLim::new(features.mel.clone());
    let second = noise(config.mels, (1.0 / features.mel.frame_seconds()) as usize);
    rows.push(clock.alone("vocoder, 1 s", || drop(vocoder.vocode(&second))));
    rows
}

fn noise(mels: usize, frames: usize) -> Mel {
    let mut rng = ChaCha8Rng::seed_from_u64(frames as u64);
    Mel { mels, data: (0..frames * mels).map(|_| rng.random_range(-8.0..0.0)).collect() }
}

/// Noise with the lengths of speech.
fn corpus(mels: usize) -> Features {
    let mut features = Features::new(MelConfig::speech_16k());
    for number in 0..SPEAKERS {
        let symbols: Vec<u8> = (0..SYMBOLS).map(|index| 10 + (index % 30) as u8).collect();
        let mel = noise(mels, SYMBOLS * SYMBOL_FRAMES as usize);
        features.push(&number.to_string(), number.to_string(), String::new(), symbols, Some(vec![SYMBOL_FRAMES; SYMBOLS]), &mel);
    }
    features
}
