//! Small nets for pictures: folders of pictures and IDX files, weights of PyTorch, tuning and evaluation.

mod idx;
pub mod pictures;

use std::path::{Path, PathBuf};

use burn::prelude::*;
use serde::Serialize;

use crate::import::state_dict;
use idx::Split;
use ownvoice::{
    Error, Result, files,
    nets::{Metrics, NetConfig, NetKind, NetTuneOptions, NetTuner, NetWeights, Picture, Pictures, TunedNet},
    report::{Progress, Report},
};
use pictures::read_pictures;

/// The configuration of a tuning.
#[derive(Debug, Clone)]
pub struct TuneNetConfig {
    pub kind: NetKind,
    /// The weights that the net starts from: a PyTorch or safetensors file; `None` for random ones.
    pub weights: Option<PathBuf>,
    /// The height and width of the input, if they are not the usual ones.
    pub side: Option<usize>,
    /// A folder with a folder of pictures for each class, or with IDX files.
    pub data: PathBuf,
    /// The file for the tuned net.
    pub out: PathBuf,
    /// Pictures that the tuned net is evaluated on, as `data`.
    pub evaluate: Option<PathBuf>,
    pub options: NetTuneOptions,
}

/// The result of a tuning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NetTuned {
    pub net: NetKind,
    pub classes: Vec<String>,
    pub pictures: usize,
    pub iterations: usize,
    /// The metrics of the held-out pictures, before and after.
    pub held_out: [Metrics; 2],
    /// The share of the evaluated pictures that are named correctly, and their number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<(f32, usize)>,
}

/// Tunes a net and writes it.
///
/// # Errors
/// Fails with `io`, `corpus-invalid`, `picture-unreadable`, `picture-size`, `classes-too-few`, `class-empty`, `weights-mismatch`, `option-invalid`,
/// `precision-unsupported` or `training-diverged`.
pub fn tune_net(config: &TuneNetConfig, device: &Device, report: &dyn Report) -> Result<NetTuned> {
    let TuneNetConfig { kind, weights, side, data, out, evaluate, options } = config;
    let weights = weights.as_deref().map(|path| read_weights(path, *kind)).transpose()?;
    let stored = weights.as_ref().and_then(|weights| weights.config.clone());
    if let Some(other) = stored.as_ref().filter(|stored| stored.kind != *kind) {
        return Err(Error::weights_mismatch(format!("they are those of {}", other.kind.name())));
    }
    let mut net = stored.unwrap_or_else(|| NetConfig::of(*kind, 2));
    net.side = side.unwrap_or(net.side);
    net.check()?;
    let pictures = read_pictures(data, Split::Train, &net, report)?;
    report.note(&format!("{} pictures of {} classes", pictures.items.len(), pictures.names.len()));
    let tuned = pollster::block_on(async {
        let go_on = async |done, all| {
            report.progress(&Progress { done, of: Some(all), message: "features" });
            true
        };
        let mut tuner = NetTuner::start(net, weights, pictures, options.clone(), device, go_on).await?;
        let before = tuner.held_out_before();
        report.note(&format!("initially: {}", sentence(&before)));
        loop {
            let step = tuner.step().await?;
            if let Some(metrics) = &step.held_out {
                report.note(&format!("iteration {}: {}", step.iteration, sentence(metrics)));
            }
            let message = format!("loss {:.4}", step.loss);
            report.progress(&Progress { done: step.iteration, of: Some(step.iterations), message: &message });
            if step.stop.is_some() {
                break tuner.finish().await;
            }
        }
    })?;
    files::write(out, pollster::block_on(tuned.save())?)?;
    let accuracy = evaluate.as_deref().map(|data| accuracy(&tuned, data, report)).transpose()?;
    let figures = tuned.figures();
    Ok(NetTuned {
        net: *kind,
        classes: tuned.names().to_vec(),
        pictures: figures.pictures,
        iterations: figures.iterations,
        held_out: figures.held_out,
        accuracy,
    })
}

/// Returns metrics in words.
pub fn sentence(metrics: &Metrics) -> String {
    let accuracy = metrics.accuracy.map(|share| format!(", {:.1} % named correctly", 100.0 * share));
    format!("held-out loss {:.4}{}", metrics.loss, accuracy.unwrap_or_default())
}

/// Reads weights from a PyTorch or safetensors file. Fails with `io` or `weights-mismatch`.
pub fn read_weights(path: &Path, kind: NetKind) -> Result<NetWeights> {
    let bytes = files::read(path)?;
    // The first bytes of a zip archive and of a pickle.
    let is_pytorch = bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"\x80\x02");
    if !is_pytorch {
        return NetWeights::from_safetensors(&bytes).map_err(|error| error.in_file(path));
    }
    let known = if kind == NetKind::MobileNetV1 { "conv_stem.weight" } else { "conv1.weight" };
    let tensors = state_dict(bytes, known).map_err(|reason| Error::weights_mismatch(reason).in_file(path))?;
    Ok(NetWeights { tensors, ..NetWeights::default() })
}

/// Returns the share of pictures that a net names correctly, and their number. Classes are compared by name.
fn accuracy(net: &TunedNet, data: &Path, report: &dyn Report) -> Result<(f32, usize)> {
    let Pictures { names, items } = read_pictures(data, Split::Test, net.config(), report)?;
    let (pictures, classes): (Vec<Picture>, Vec<usize>) = items.into_iter().unzip();
    let named = pollster::block_on(net.name(&pictures))?;
    let right =
        named.iter().zip(&classes).filter(|(named, class)| net.names()[named.class] == names[**class]);
    Ok((right.count() as f32 / pictures.len().max(1) as f32, pictures.len()))
}
