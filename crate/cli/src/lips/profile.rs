//! Profiles a training step of a lip-to-speech model: the time of each module, the wait for batches, and the cost of a decode loop on the host.

use std::{fs, path::Path};

use burn::{module::Module, prelude::*};
use pollster::block_on;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::{
    batch::LipSource,
    features::{Filmed, LipFeatureWriter, LipFeatures},
};
use crate::{
    check::loader::{LoaderProfile, time_loader},
    learn::{
        data_loader::{Collate, DataLoaderConfig},
        trainable_model::TrainableModel,
    },
};
use burn_fused::{
    ComputePlan, Mode, Precision, Scope,
    adam::{Adam, AdamConfig},
    attention::AttentionMemory,
    ranks::Shard,
    readback::read,
};
use ownvoice::{
    Error, Result,
    audio::mel::MelConfig,
    check::profile::{Row, stopwatch},
    learn::sampler::BatchKey,
    lips::{
        answers::losses, clock::samples, config::LipConfig, encoder, face::FACE_BYTES, model::LipTacotron,
        track::SEARCH_EVERY,
    },
    model::{
        AttendedEncoder,
        attention::AttentionDecoder,
        teacher_forcing::{Decoded, TeacherForcing, TeacherForcingInput},
    },
};

/// The options of a profile.
#[derive(Debug, Clone)]
pub struct LipProfileOptions {
    pub batch: usize,
    /// The pictures of a window.
    pub pictures: usize,
    /// The number of timed runs, after some warm-up runs.
    pub runs: usize,
    pub precision: Precision,
    pub loader: DataLoaderConfig,
}

impl Default for LipProfileOptions {
    fn default() -> Self {
        Self {
            batch: 4,
            pictures: 80,
            runs: 3,
            precision: Precision::F32,
            loader: DataLoaderConfig::default(),
        }
    }
}

/// The result of a profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LipProfile {
    /// The modules of a training step.
    pub rows: Vec<Row>,
    /// The time of whole steps, with the blocking loader and with the loader.
    pub loaders: Vec<LoaderProfile>,
    /// The time of decoding a window of one item on the device, without reading back.
    pub decode_ms: f64,
    /// The time of decoding the same window in a loop on the host, which reads back each step.
    pub stepped_decode_ms: f64,
}

/// The number of profiled modules: loader, encoder, decoder, postnet, loss, optimizer.
const MODULES: usize = 6;

/// Profiles a model of these sizes. The features may be random, because neither weights nor faces change the time.
///
/// # Errors
/// Fails with `option-invalid`, `precision-unsupported`, `corpus-invalid`, `device-lost` or `io`.
pub fn profile_lips(
    config: &LipConfig,
    features: &LipFeatures,
    device: &Device,
    options: &LipProfileOptions,
) -> Result<LipProfile> {
    let &LipProfileOptions { batch: items, pictures, runs, precision, loader } = options;
    if runs == 0 || items == 0 {
        return Err(Error::option_invalid("the number of runs and the batch size must be positive"));
    }
    if !precision.runs_on(device) {
        return Err(Error::precision_unsupported());
    }
    let device = &device.clone().autodiff();
    let all: Vec<usize> = (0..features.tracks.len()).collect();
    let source = LipSource::new(features, (&all, &all), config, pictures, (items, 1), Shard::WHOLE)?;
    let scope = Scope::new(ComputePlan::from_precision(precision));
    let net = LipTacotron::new(config, device).computing(&scope);
    let clock = &mut stopwatch(device, runs, MODULES);

    let draw =
        || -> Result<_> { Ok(source.place(source.make(BatchKey::Train(0), &Device::flex())?, device)) };
    let mut batch = draw();
    block_on(clock.alone("feeder", || batch = draw()))?;
    let batch = batch?;
    let answers = batch.answers();
    let [_, steps, _] = batch.seen.dims();
    let encode = || net.encoder.encode(batch.faces.clone(), &batch.pictures, Mode::Train);
    let encoded = encode().detach().require_grad();
    let speaker = net.speakers.val().select(0, batch.speakers.clone()).detach();
    let decode = |items: usize, encoded: Tensor<3>| {
        let symbols = &encoder::pictures(&batch.pictures.lengths[..items], Some(pictures), &encoded.device());
        let speaker = if encoded.is_autodiff() { speaker.clone() } else { speaker.clone().inner() };
        let speaker = speaker.narrow(0, 0, items);
        let decoder = if encoded.is_autodiff() { net.decoder.clone() } else { net.decoder.valid() };
        decoder.teacher_force(TeacherForcingInput::without_feedback(symbols, encoded, speaker, steps), ())
    };
    let decoded = decode(items, encoded.clone());
    let frames = decoded.frames.clone().detach().require_grad();
    block_on(clock.both("encoder", encode))?;
    block_on(clock.both("decoder", || decode(items, encoded.clone()).frames))?;
    block_on(clock.both("postnet", || net.postnet.forward(frames.clone(), Mode::Train)))?;
    let alignment = decoded.alignment.clone().detach();
    block_on(clock.both("loss", || {
        let decoded = Decoded { frames: frames.clone(), alignment: alignment.clone(), gate: None };
        Tensor::cat(losses(decoded, &net.postnet, &scope, &answers, Mode::Train), 0)
    }))?;
    let mut adam = Adam::new(AdamConfig { precision, ..AdamConfig::default() });
    let total = Tensor::cat(net.losses(&batch, Mode::Train), 0).sum();
    let gradients = adam.scaled(total).backward();
    block_on(clock.alone("optimizer", || drop(adam.step(net.clone(), &gradients, |_| 1e-4))))?;

    let loaders = [("blocking", DataLoaderConfig::BLOCKING), ("feeder", loader)]
        .into_iter()
        .map(|(loader, config)| time_loader(loader, &source, net.clone(), device, (runs, precision), config))
        .collect::<Result<_>>()?;

    let one = encoded.inner().narrow(0, 0, 1);
    let decoding = block_on(clock.mean(|| drop(decode(1, one.clone()))))?;
    let decoder = net.decoder.valid();
    let symbols = encoder::pictures(&batch.pictures.lengths[..1], Some(pictures), &one.device());
    let memory = decoder.memory(&symbols, one.clone(), speaker.inner().narrow(0, 0, 1));
    let mut answered = Ok(());
    let stepped = block_on(clock.mean(|| {
        if let Err(error) = decode_on_host(&decoder, &memory, steps) {
            answered = Err(error);
        }
    }))?;
    answered?;
    Ok(LipProfile {
        rows: std::mem::take(&mut clock.rows),
        loaders,
        decode_ms: decoding.milliseconds,
        stepped_decode_ms: stepped.milliseconds,
    })
}

/// Decodes step by step, reading each step back to the host, as a model with a gate must.
fn decode_on_host(decoder: &AttentionDecoder, memory: &AttentionMemory, steps: usize) -> Result<()> {
    let mut state = decoder.start(memory);
    for _ in 0..steps {
        let heard = Tensor::zeros([1, 0], &memory.values.device());
        let (hidden, next) = decoder.step(heard, memory, state);
        state = next;
        block_on(read(hidden.flatten::<1>(0, 1)))?;
    }
    Ok(())
}

/// Writes features of noise for a profile into a folder.
pub fn noise_features(folder: &Path, tracks: usize, pictures: usize) -> Result<LipFeatures> {
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    let mel = MelConfig::speech_16k();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let pictures = pictures.next_multiple_of(SEARCH_EVERY);
    let count = samples(pictures, mel.sample_rate_hz);
    let mut writer = LipFeatureWriter::create(folder, mel)?;
    for track in 0..tracks {
        let mut faces = vec![0; pictures * FACE_BYTES];
        random.fill(&mut faces[..]);
        let sound: Vec<f32> = (0..count).map(|_| random.random_range(-0.3..0.3)).collect();
        writer.push(Filmed {
            speaker: "noise",
            id: track.to_string(),
            text: String::new(),
            file: Path::new("noise"),
            start_seconds: 0.0,
            faces: &faces,
            sound: &sound,
        })?;
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_module_and_each_loader_is_timed() {
        let folder = tempfile::tempdir().unwrap();
        let features = noise_features(folder.path(), 4, 25).unwrap();
        let options = LipProfileOptions { batch: 2, pictures: 25, runs: 1, ..LipProfileOptions::default() };
        let found = profile_lips(&LipConfig::tiny(1), &features, &Device::flex(), &options).unwrap();
        let modules: Vec<&str> = found.rows.iter().map(|row| row.module).collect();
        assert_eq!(modules, ["feeder", "encoder", "decoder", "postnet", "loss", "optimizer"]);
        assert!(found.rows.iter().all(|row| row.forward_ms > 0.0 && row.backward_ms != Some(0.0)));
        let loaders: Vec<&str> = found.loaders.iter().map(|row| row.loader).collect();
        assert_eq!(loaders, ["blocking", "feeder"]);
        assert!(found.decode_ms > 0.0 && found.stepped_decode_ms > 0.0, "{found:?}");
    }
}
