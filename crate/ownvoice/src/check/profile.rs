//! The profile of a training step: time and work by module, for the command line and the page.
//!
//! Each module runs alone on inputs of training's size, forward and then backward, and the device is waited for after both; the first runs warm up and are not
//! timed. Weights and features are random, which does not change the time. The row of a whole step shows how much the modules do not explain, and the cost of
//! waiting between them.

use burn::{Tensor, prelude::*};
use serde::Serialize;

use crate::{
    Error, Result,
    learn::{all_reduce::sum_gradients, sampler::BatchKey},
    model::{
        Tacotron, TacotronConfig,
        batch::{Batch, Extent, UtteranceSource},
        loss::losses,
    },
    vocoder::Vocoder,
};
use burn_fused::{
    Mode, Precision,
    adam::{Adam, AdamConfig},
    loss::spectrogram_loss,
    ranks::Ranks,
};

use super::synthetic::noise;
pub use super::{
    clock::{Clock, Reading, Row, WARM_UP, Work, stopwatch},
    synthetic::corpus,
};

/// Options of a profile.
#[derive(Debug, Clone)]
pub struct ProfileOptions {
    pub batch: usize,
    /// The frames of a window.
    pub window: usize,
    /// The number of timed runs, after [`WARM_UP`] runs that are not timed.
    pub runs: usize,
    /// Whether to use batch statistics, as in pretraining, instead of running ones, as in cloning.
    pub pretraining: bool,
    pub precision: Precision,
    /// Each rank times its shard of the batch, and all ranks sum their gradients.
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

/// The number of speakers of the model and of the random corpus.
const SPEAKERS: usize = 4;

/// Time and memory of a training step on a device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Profile {
    pub rows: Vec<Row>,
    /// The bytes that the device's allocator holds, where it reports them.
    pub device_bytes: Option<u64>,
    /// The traffic of a whole step; `None` without other ranks.
    pub traffic: Option<Traffic>,
}

/// The traffic of a rank in one step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Traffic {
    pub ranks: usize,
    pub bytes: u64,
    pub exchanges: u64,
}

/// The number of rows of [`profile`], without those of the pitch predictor and of the all-reduce.
const MODULES: usize = 10;

/// Profiles a model on a device. Fails with `cancelled` where `go_on` returns false.
///
/// * `work`:  returns the work so far, where it is counted
/// * `go_on`: called after each module with the number of finished modules and their total
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
    let clock = &mut Clock::start(device, runs, work, modules, go_on).await?;
    let mode = if pretraining { Mode::Train } else { Mode::Eval };
    let features = corpus(config.mels, SPEAKERS);
    let all: Vec<usize> = (0..features.utterances.len()).collect();
    let extent = Extent::Window(window);
    let source = UtteranceSource::new(&features, (&all, &all), config, extent, items, 0, ranks.shard())?;
    let draw = || source.draw(BatchKey::Train(0), device).expect("the corpus lies in memory");
    clock.alone("feeder", || drop(draw())).await?;

    device.seed(0); // All ranks need the same weights.
    let model = Tacotron::new(config, device).with_precision(precision).with_ranks(ranks);
    profile_modules(clock, &model, &draw(), mode).await?;
    let traffic = profile_updates(clock, model, draw, mode, options).await?;
    let second = noise(config.mels, (1.0 / features.mel.frame_seconds()) as usize);
    clock.alone("vocoder, 1 s", || drop(vocoder.vocode(&second))).await?;
    let device_bytes = device.memory_pool_usage().map(|usage| usage.bytes_reserved);
    Ok(Profile { rows: std::mem::take(&mut clock.rows), device_bytes, traffic })
}

/// Times the modules of a model, each on detached inputs that need gradients.
async fn profile_modules<G: AsyncFnMut(usize, usize) -> bool>(
    clock: &mut Clock<'_, G>,
    model: &Tacotron,
    batch: &Batch,
    mode: Mode,
) -> Result<()> {
    let Batch { symbols, durations, times, positions, targets, mask, .. } = batch;
    let ([items, frames, _], device) = (targets.dims(), &targets.device());
    let encoded = model.encode(symbols, mode).detach().require_grad(); // (B, L, E)
    let speaker = batch.speaker_embeddings(model.speakers.val()).detach().require_grad(); // (B, V)
    let upsample =
        |encoded| model.upsample(symbols, encoded, durations.clone(), times.clone(), positions.clone());
    let upsampled = upsample(encoded.clone()).detach(); // (B, T, E + 4)
    let context = match &batch.pitch {
        Some(pitch) => Tensor::cat(vec![upsampled.clone(), pitch.excitation.clone()], 2),
        None => upsampled.clone(),
    };
    let context = context.require_grad(); // (B, T, C)
    let decode =
        || model.decoder.forward(context.clone(), speaker.clone(), model.decoder.start(items, device)).0;
    let decoded = decode().detach().require_grad(); // (B, T, M)

    clock.both("encoder", || model.encode(symbols, mode)).await?;
    clock
        .both("durations", || model.durations.forward(encoded.clone(), speaker.clone(), &symbols.lengths))
        .await?;
    clock.both("alignment", || upsample(encoded.clone())).await?;
    if let Some(predictor) = &model.pitch {
        let (upsampled, steps) = (upsampled.require_grad(), vec![frames / model.decoder.reduction(); items]);
        clock.both("pitch", || predictor.forward(upsampled.clone(), speaker.clone(), &steps)).await?;
    }
    clock.both("decoder", decode).await?;
    clock.both("postnet", || model.postnet.forward(decoded.clone(), mode)).await?;
    clock
        .both("loss", || spectrogram_loss(decoded.clone(), targets.clone(), mask.clone(), batch.whole.frames))
        .await
}

/// Times the all-reduce, the optimizer, and whole steps. Returns the traffic of a step where there are other ranks.
async fn profile_updates<G: AsyncFnMut(usize, usize) -> bool>(
    clock: &mut Clock<'_, G>,
    mut model: Tacotron,
    draw: impl Fn() -> Batch,
    mode: Mode,
    options: &ProfileOptions,
) -> Result<Option<Traffic>> {
    let ProfileOptions { runs, precision, ranks, .. } = options;
    let batch = draw();
    let mut adam = Adam::new(AdamConfig { precision: *precision, ..AdamConfig::default() });
    let mut gradients = adam.scaled(losses(&model, &batch, mode).total()).backward();
    if !ranks.is_alone() {
        let no_loss = || Tensor::zeros([1], &batch.targets.device().inner());
        let mut exchanged = Ok(());
        clock
            .alone("exchange", || {
                exchanged = sum_gradients(&model, &mut gradients, no_loss(), ranks).map(drop);
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
            // The ranks keep a failure, which `check` returns below.
            let _ = sum_gradients(&model, &mut gradients, total.inner(), ranks);
            model = adam.step(model.clone(), &gradients, |_| 1e-4);
        })
        .await?;
    ranks.check()?;
    let per_step = |total: u64| total / (WARM_UP + runs) as u64;
    Ok((!ranks.is_alone()).then(|| Traffic {
        ranks: ranks.shard().world_size,
        bytes: per_step(ranks.traffic().0 - before.0),
        exchanges: per_step(ranks.traffic().1 - before.1),
    }))
}

/// Checks the options, and returns the sizes of the model to profile.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{audio::mel::MelConfig, vocoder::GriffinLim};
    use std::cell::Cell;

    #[test]
    fn each_module_has_a_row_without_the_work_of_waiting() {
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
        assert_eq!((found.rows.len(), done), (MODULES + 1, MODULES + 1), "the pitch predictor has a row");
        for row in &found.rows {
            assert!(
                row.forward_ms > 0.0 && row.forward_work == Some(Work { dispatches: 0.0, bytes: 0.0 }),
                "{row:?}"
            );
            assert!(row.backward_ms.is_none_or(|milliseconds| milliseconds > 0.0), "{row:?}");
        }
        let share = |module: &str| found.rows.iter().find(|row| row.module == module).unwrap().forward_ms;
        assert!(share("whole step") > share("optimizer"), "a whole step includes the optimizer");
        let none = ProfileOptions { runs: 0, ..options.clone() };
        let code = |options: &ProfileOptions, go_on: bool| {
            pollster::block_on(profile(&config, &vocoder, &device, options, &|| None, async |_, _| go_on))
                .unwrap_err()
                .code()
        };
        assert_eq!((code(&none, true), code(&options, false)), ("option-invalid", "cancelled"));
    }
}
