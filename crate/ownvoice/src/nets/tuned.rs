//! A tuned net for pictures, and its safetensors file.
//!
//! The tensors have PyTorch's names and layout, so that `load_state_dict` takes them. The metadata hold the configuration, the names of the classes and the
//! figures of the tuning.

use burn::{prelude::*, tensor::activation::softmax};
use serde::{Deserialize, Serialize};

use super::{
    Net,
    config::NetConfig,
    metrics::{AT_A_TIME, Metrics, largest},
    picture::{Picture, input},
    picture_net::PictureNet,
    weights::{CLASSES, CONFIG, NetWeights, public_weights},
};
use crate::{Error, Result};
use burn_fused::{
    Mode,
    readback::read,
    weights::{Metadata, Storage, flatten, serialize},
};

/// The figures of a tuning.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NetFigures {
    pub iterations: usize,
    /// The number of pictures, with those held out.
    pub pictures: usize,
    /// The metrics of the held-out pictures, before and after.
    pub held_out: [Metrics; 2],
}

/// The answer of a net for a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// The index of the class.
    pub class: usize,
    /// The probability of this class.
    pub confidence: f32,
    /// The probabilities of all classes.
    pub probabilities: Vec<f32>,
}

/// A tuned net, ready for pictures.
#[derive(Debug, Clone)]
pub struct TunedNet {
    pub(super) net: PictureNet,
    pub(super) config: NetConfig,
    pub(super) names: Vec<String>,
    pub(super) figures: NetFigures,
    pub(super) device: Device,
}

/// The key of the figures in the metadata.
const FIGURES: &str = "figures";

impl TunedNet {
    /// Encodes the file.
    pub async fn save(&self) -> Result<Vec<u8>> {
        let json = |value: serde_json::Result<String>| value.expect("plain data");
        let metadata = Metadata::from([
            (CONFIG.to_string(), json(serde_json::to_string(&self.config))),
            (CLASSES.to_string(), json(serde_json::to_string(&self.names))),
            (FIGURES.to_string(), json(serde_json::to_string(&self.figures))),
        ]);
        Ok(serialize(public_weights(&self.net), Storage::Full, metadata).await?)
    }

    /// Decodes a file, which is untrusted input. Fails with `weights-mismatch`, or with `option-invalid` if its sizes lie outside their ranges.
    pub fn open(bytes: &[u8], device: &Device) -> Result<Self> {
        let (weights, metadata) = NetWeights::read(bytes)?;
        let lacks =
            |what: &str| Error::weights_mismatch(format!("the file has no {what}; a tuning writes it"));
        let config = weights.config.clone().ok_or_else(|| lacks(CONFIG))?;
        let figures = metadata.get(FIGURES).ok_or_else(|| lacks(FIGURES))?;
        let figures = serde_json::from_str(figures).map_err(Error::weights_mismatch)?;
        let names = weights.classes.clone();
        if names.len() != config.classes {
            return Err(Error::weights_mismatch("it has another number of names than of classes"));
        }
        let device = device.clone().inner();
        let net = PictureNet::with_weights(&config, weights, 0, &device)?;
        Ok(Self { net, config, names, figures, device })
    }

    pub fn config(&self) -> &NetConfig {
        &self.config
    }

    /// Returns the names of the classes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn figures(&self) -> &NetFigures {
        &self.figures
    }

    /// Names each picture. Fails with `device-lost`.
    pub async fn name(&self, pictures: &[Picture]) -> Result<Vec<Named>> {
        let mut named = Vec::with_capacity(pictures.len());
        for batch in pictures.chunks(AT_A_TIME) {
            let logits = self.net.forward(input(batch.iter(), &self.config, &self.device), Mode::Eval);
            let probabilities = read(flatten(softmax(logits, 2))).await?;
            named.extend(probabilities.chunks_exact(self.config.classes).map(|row| {
                let class = largest(row);
                Named { class, confidence: row[class], probabilities: row.to_vec() }
            }));
        }
        Ok(named)
    }
}
