//! Where a training step's time goes, module by module: for the command line and for the page.
//!
//! Each module runs alone on inputs of training's size, forward and then backward, and the device is waited for after both; the first runs
//! are left out as warm-up. Weights and speech are random: they change no time. A whole step beside them shows what the modules leave
//! unexplained, and what waiting between them costs.

use burn::{Tensor, prelude::*};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use web_time::Instant;

use crate::{
    Error, Result,
    audio::mel::{Mel, MelConfig},
    features::{Features, NewUtterance},
    learn::{all_reduce::sum_gradients, sampler::BatchKey},
    model::{
        Tacotron, TacotronConfig,
        batch::{Batch, Extent, UtteranceSource},
        loss::losses,
    },
    text::symbols::Symbol,
    vocoder::Vocoder,
};
use burn_fused::{
    Mode, Precision,
    adam::{Adam, AdamConfig},
    loss::spectrogram_loss,
    ranks::Ranks,
    readback::read,
};

/// Options of a profile.
#[derive(Debug, Clone)]
pub struct ProfileOptions {
    pub batch: usize,
    /// Frames of a window.
    pub window: usize,
    /// Runs that are timed, after [`WARM_UP`] that are not.
    pub runs: usize,
    /// Batch statistics, as in pretraining; without, running ones, as in cloning.
    pub pretraining: bool,
    pub precision: Precision,
    /// Each times its shard of the batch, and all of them exchange.
    pub ranks: Ranks,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        Self {
            batch: 8,
            window: 128,
            runs: 10,
            pretraining: false,
            precision: Precision::F32,
            ranks: Ranks::default(),
        }
    }
}

/// Runs that are not timed: pipelines are compiled and memory is taken.
pub const WARM_UP: usize = 3;
const SPEAKERS: usize = 4;
/// Of one utterance: 40 symbols of 5 frames.
const SYMBOLS: usize = 40;
const SYMBOL_FRAMES: u32 = 5;

/// Means of one module.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub module: &'static str,
    pub forward_ms: f64,
    /// `None` where there is no backward pass.
    pub backward_ms: Option<f64>,
    /// Work of the device, where it is counted.
    pub forward_work: Option<Work>,
    pub backward_work: Option<Work>,
}

/// Work of a device: dispatches, and bytes of the buffers that they read or write, each counted once a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Work {
    pub dispatches: f64,
    pub bytes: f64,
}

impl Work {
    fn less(self, other: Self) -> Self {
        Self { dispatches: self.dispatches - other.dispatches, bytes: self.bytes - other.bytes }
    }
}

/// Time and memory of a training step on a device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Profile {
    pub rows: Vec<Row>,
    /// Memory that the device's allocator holds, in bytes, where it reports them.
    pub device_bytes: Option<u64>,
    /// Of a whole step among ranks.
    pub traffic: Option<Traffic>,
}

/// What a rank gives to be summed in one step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Traffic {
    pub ranks: usize,
    pub bytes: u64,
    pub exchanges: u64,
}

/// Time and work of one action.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    pub milliseconds: f64,
    /// `None` where nothing counts it.
    work: Option<Work>,
}

impl Reading {
    fn mean(readings: &[Self]) -> Self {
        let count = readings.len() as f64;
        let milliseconds = readings.iter().map(|reading| reading.milliseconds).sum::<f64>() / count;
        let works: Option<Vec<Work>> = readings.iter().map(|reading| reading.work).collect();
        let work = works.map(|works| {
            let mean = |value: fn(&Work) -> f64| works.iter().map(value).sum::<f64>() / count;
            Work { dispatches: mean(|work| work.dispatches), bytes: mean(|work| work.bytes) }
        });
        Self { milliseconds, work }
    }
}

pub struct Clock<'a, G> {
    device: &'a Device,
    runs: usize,
    /// Work so far.
    work: &'a dyn Fn() -> Option<Work>,
    /// Work of waiting itself.
    idle: Option<Work>,
    pub rows: Vec<Row>,
    /// Rows that there will be.
    modules: usize,
    /// Called with the modules done and their total; `false` cancels.
    go_on: G,
}

/// A clock of time alone, which nothing cancels.
pub fn stopwatch(
    device: &Device,
    runs: usize,
    modules: usize,
) -> Clock<'_, impl AsyncFnMut(usize, usize) -> bool> {
    Clock { device, runs, work: &|| None, idle: None, rows: Vec::new(), modules, go_on: async |_, _| true }
}

impl<G: AsyncFnMut(usize, usize) -> bool> Clock<'_, G> {
    /// Until all that was queued is done. Reading a value back waits everywhere; a browser can wait no other way.
    async fn wait(&self) -> Result<()> {
        read(Tensor::<1>::zeros([1], &self.device.clone().inner())).await?;
        Ok(())
    }

    /// Runs the action and waits for all work that it queued.
    async fn reading(&self, action: impl FnOnce()) -> Result<Reading> {
        let before = (self.work)();
        let begun = Instant::now();
        action();
        self.wait().await?;
        let milliseconds = begun.elapsed().as_secs_f64() * 1e3;
        let queued = (self.work)().zip(before).map(|(now, before)| now.less(before));
        Ok(Reading {
            milliseconds,
            work: queued.map(|queued| self.idle.map_or(queued, |idle| queued.less(idle))),
        })
    }

    async fn put(&mut self, module: &'static str, forward: Reading, backward: Option<Reading>) -> Result<()> {
        self.rows.push(Row {
            module,
            forward_ms: forward.milliseconds,
            backward_ms: backward.map(|backward| backward.milliseconds),
            forward_work: forward.work,
            backward_work: backward.and_then(|backward| backward.work),
        });
        if (self.go_on)(self.rows.len(), self.modules).await { Ok(()) } else { Err(Error::cancelled()) }
    }

    /// Means of a module's passes, in a row of its own.
    pub async fn both<const D: usize>(
        &mut self,
        module: &'static str,
        forward: impl Fn() -> Tensor<D>,
    ) -> Result<()> {
        let (mut forwards, mut backwards) = (Vec::new(), Vec::new());
        for run in 0..WARM_UP + self.runs {
            let mut output = None;
            let ahead = self.reading(|| output = Some(forward())).await?;
            let sum = output.expect("it ran").sum();
            let mut gradients = None;
            let back = self.reading(|| gradients = Some(sum.backward())).await?;
            if run >= WARM_UP {
                forwards.push(ahead);
                backwards.push(back);
            }
        }
        self.put(module, Reading::mean(&forwards), Some(Reading::mean(&backwards))).await
    }

    /// The mean of an action that has no backward pass, in a row of its own.
    pub async fn alone(&mut self, module: &'static str, action: impl FnMut()) -> Result<()> {
        let mean = self.mean(action).await?;
        self.put(module, mean, None).await
    }

    pub async fn mean(&self, mut action: impl FnMut()) -> Result<Reading> {
        let mut readings = Vec::new();
        for run in 0..WARM_UP + self.runs {
            let reading = self.reading(&mut action).await?;
            if run >= WARM_UP {
                readings.push(reading);
            }
        }
        Ok(Reading::mean(&readings))
    }
}

/// Modules that [`profile`] reports, beside the pitch predictor of a model that has one, and the exchange of several ranks.
const MODULES: usize = 10;

/// Profiles a model of these sizes on a device. `work` returns the work so far, where it is counted. `go_on(done, of)` is called after
/// each module; `false` ends with `cancelled`.
pub async fn profile(
    sizes: &TacotronConfig,
    vocoder: &dyn Vocoder,
    device: &Device,
    options: &ProfileOptions,
    work: &dyn Fn() -> Option<Work>,
    go_on: impl AsyncFnMut(usize, usize) -> bool,
) -> Result<Profile> {
    let ProfileOptions { batch: items, window, runs, pretraining, precision, ref ranks } = *options;
    let config = &model_sizes(sizes, SPEAKERS, options, device)?;
    let device = &device.clone().autodiff();
    let modules = MODULES + usize::from(config.pitch) + usize::from(!ranks.is_alone());
    let clock = &mut Clock { device, runs, work, idle: None, rows: Vec::new(), modules, go_on };
    clock.wait().await?;
    clock.idle = clock.reading(|| ()).await?.work;
    let mode = if pretraining { Mode::Train } else { Mode::Eval };
    let features = corpus(config.mels, SPEAKERS);
    let all: Vec<usize> = (0..features.utterances.len()).collect();
    let extent = Extent::Window(window);
    let source = UtteranceSource::new(&features, (&all, &all), config, extent, items, 0, ranks.shard())?;
    let items = ranks.shard().slice(&vec![(); items]).len();
    let draw = || source.draw(BatchKey::Train(0), device).expect("it lies in memory");
    clock.alone("feeder", || drop(draw())).await?;

    let batch = draw();
    let Batch { symbols, durations, times, positions, targets, mask, .. } = &batch;
    device.seed(0); // The same weights on all ranks.
    let mut model = Tacotron::new(config, device).with_precision(precision).with_ranks(ranks);
    let encoded = model.encode(symbols, mode).detach().require_grad(); // (B, L, E)
    let speaker = batch.speaker_vectors(model.speakers.val()).detach().require_grad(); // (B, V)
    let upsample =
        |encoded| model.upsample(symbols, encoded, durations.clone(), times.clone(), positions.clone());
    let timed = upsample(encoded.clone()).detach(); // (B, T, E + 4)
    let context = match &batch.pitch {
        Some(pitch) => Tensor::cat(vec![timed.clone(), pitch.excitation.clone()], 2),
        None => timed.clone(),
    };
    let context = context.require_grad(); // (B, T, C)
    let decode =
        || model.decoder.forward(context.clone(), speaker.clone(), model.decoder.start(items, device)).0;
    let frames = decode().detach().require_grad(); // (B, T, M)
    clock.both("encoder", || model.encode(symbols, mode)).await?;
    clock
        .both("durations", || model.durations.forward(encoded.clone(), speaker.clone(), &symbols.lengths))
        .await?;
    clock.both("alignment", || upsample(encoded.clone())).await?;
    if let Some(predictor) = &model.pitch {
        let (timed, steps) = (timed.require_grad(), vec![window / config.reduction; items]);
        clock.both("pitch", || predictor.forward(timed.clone(), speaker.clone(), &steps)).await?;
    }
    clock.both("decoder", decode).await?;
    clock.both("postnet", || model.postnet.forward(frames.clone(), mode)).await?;
    clock
        .both("loss", || spectrogram_loss(frames.clone(), targets.clone(), mask.clone(), batch.whole.frames))
        .await?;
    let mut adam = Adam::new(AdamConfig { precision, ..AdamConfig::default() });
    let mut gradients = adam.scaled(losses(&model, &batch, mode).total()).backward();
    if !ranks.is_alone() {
        let none = || Tensor::zeros([1], &device.clone().inner());
        let mut exchanged = Ok(());
        clock
            .alone("exchange", || {
                exchanged = sum_gradients(&model, &mut gradients, none(), ranks).map(drop);
            })
            .await?;
        exchanged?;
    }
    clock.alone("optimizer", || drop(adam.step(model.clone(), &gradients, |_| 1e-4))).await?;
    let before = ranks.traffic();
    clock
        .alone("whole step", || {
            let batch = draw();
            let total = losses(&model, &batch, mode).total();
            let mut gradients = adam.scaled(total.clone()).backward();
            let _ = sum_gradients(&model, &mut gradients, total.inner(), ranks); // A failure stays, and ends the next exchange.
            model = adam.step(model.clone(), &gradients, |_| 1e-4);
        })
        .await?;
    let second = noise(config.mels, (1.0 / features.mel.frame_seconds()) as usize);
    clock.alone("vocoder, 1 s", || drop(vocoder.vocode(&second))).await?;
    ranks.check()?;
    let of_a_step = |total: u64| total / (WARM_UP + runs) as u64;
    let traffic = (!ranks.is_alone()).then(|| Traffic {
        ranks: ranks.shard().world_size,
        bytes: of_a_step(ranks.traffic().0 - before.0),
        exchanges: of_a_step(ranks.traffic().1 - before.1),
    });
    let device_bytes = device.memory_pool_usage().map(|usage| usage.bytes_reserved);
    Ok(Profile { rows: std::mem::take(&mut clock.rows), device_bytes, traffic })
}

/// The model to profile, once the options are found to make sense.
pub fn model_sizes(
    sizes: &TacotronConfig,
    speakers: usize,
    options: &ProfileOptions,
    device: &Device,
) -> Result<TacotronConfig> {
    let &ProfileOptions { batch, window, runs, precision, .. } = options;
    if runs == 0 || batch == 0 || window == 0 || window % sizes.reduction != 0 {
        return Err(Error::option_invalid(format!(
            "runs, batch and window must be positive, the window a multiple of {}",
            sizes.reduction
        )));
    }
    if !precision.runs_on(device) {
        return Err(Error::precision_unsupported());
    }
    Ok(TacotronConfig { speakers, ..sizes.clone() })
}

fn noise(mels: usize, frames: usize) -> Mel {
    let mut rng = ChaCha8Rng::seed_from_u64(frames as u64);
    Mel { mels, data: (0..frames * mels).map(|_| rng.random_range(-8.0..0.0)).collect() }
}

/// Noise with the lengths of speech, an utterance a speaker.
pub fn corpus(mels: usize, speakers: usize) -> Features {
    let mut features = Features::new(MelConfig::speech_16k());
    for number in 0..speakers {
        let symbols = (0..SYMBOLS).filter_map(|index| Symbol::from_index(10 + index % 30)).collect();
        let mel = noise(mels, SYMBOLS * SYMBOL_FRAMES as usize);
        features.push(NewUtterance {
            speaker: &number.to_string(),
            id: number.to_string(),
            text: String::new(),
            symbols,
            durations: Some(vec![SYMBOL_FRAMES; SYMBOLS]),
            mel: &mel,
            f0_hz: &vec![0.0; mel.frames()],
        });
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocoder::GriffinLim;
    use std::cell::Cell;

    #[test]
    fn every_module_has_its_row_without_the_dispatches_of_the_clock() {
        let vocoder = GriffinLim::new(MelConfig::speech_16k());
        let options = ProfileOptions { batch: 2, window: 16, runs: 2, ..ProfileOptions::default() };
        let (counted, mut done) = (Cell::new(0.0), 0);
        let count = || {
            counted.set(counted.get() + 3.0);
            Some(Work { dispatches: counted.get(), bytes: 100.0 * counted.get() })
        };
        let device = Device::flex();
        let config = TacotronConfig { pitch: true, ..TacotronConfig::tiny(1) };
        let go_on = async |modules, _| {
            done = modules;
            true
        };
        let found = pollster::block_on(profile(&config, &vocoder, &device, &options, &count, go_on)).unwrap();
        assert_eq!((found.rows.len(), done), (MODULES + 1, MODULES + 1), "with its pitch");
        for row in &found.rows {
            assert!(
                row.forward_ms > 0.0 && row.forward_work == Some(Work { dispatches: 0.0, bytes: 0.0 }),
                "{row:?}"
            );
            assert!(row.backward_ms.is_none_or(|milliseconds| milliseconds > 0.0), "{row:?}");
        }
        let share = |module: &str| found.rows.iter().find(|row| row.module == module).unwrap().forward_ms;
        assert!(share("whole step") > share("optimizer"), "the optimizer is a part of it");
        let none = ProfileOptions { runs: 0, ..options.clone() };
        let code = |options: &ProfileOptions, go_on: bool| {
            pollster::block_on(profile(&config, &vocoder, &device, options, &|| None, async |_, _| go_on))
                .unwrap_err()
                .code()
        };
        assert_eq!((code(&none, true), code(&options, false)), ("option-invalid", "cancelled"));
    }
}
