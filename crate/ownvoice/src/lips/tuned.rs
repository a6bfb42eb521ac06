//! A lip-to-speech base tuned to one face and voice, and its safetensors file.
//!
//! | tensor | contents |
//! |---|---|
//! | `decoder.*`, `postnet.*`, `speaker` | the tuned parameters, in half precision |
//!
//! | metadata | contents |
//! |---|---|
//! | `format` | `ownvoice-lips-1` |
//! | `base` | the hash of the base's weights |
//! | `iterations`, `seconds` | the iterations of the tuning, and the length of its videos |
//! | `held_out_loss_base`, `held_out_loss` | the loss of the held-out windows, before and after |

use burn::{
    module::{Module, Param},
    prelude::*,
};

use super::{
    base::{LipBase, LipManifest},
    model::LipTacotron,
};
use crate::{
    Error, Result,
    model::{attention::AttentionDecoder, postnet::Postnet},
};
use burn_fused::weights::{Metadata, Storage, apply_all, collect, deserialize, serialize};

const FORMAT: &str = "ownvoice-lips-1";

/// The tuned parameters; the face encoder stays fixed.
#[derive(Module, Debug)]
pub struct Adapted {
    /// The speaker embedding, `[1, V]`.
    pub speaker: Param<Tensor<2>>,
    pub decoder: AttentionDecoder,
    pub postnet: Postnet,
}

impl Adapted {
    /// Returns the base's parameters, with one row of its speaker table.
    pub fn from_base(base: &LipBase, row: usize) -> Self {
        let model = &base.model;
        Self {
            speaker: Param::from_tensor(model.speakers.val().narrow(0, row, 1)),
            decoder: model.decoder.clone(),
            postnet: model.postnet.clone(),
        }
    }
}

/// The result of a tuning.
#[derive(Debug)]
pub struct TunedLips {
    pub parts: Adapted,
    pub iterations: usize,
    /// The length of the videos.
    pub seconds: f32,
    /// The spectrogram loss of the held-out windows, before and after.
    pub held_out_loss: [f32; 2],
}

impl TunedLips {
    /// Returns the base with the tuned parameters and one speaker of this name.
    pub fn on(&self, base: &LipBase, name: &str) -> LipBase {
        let LipBase { manifest, model, vocoder, device } = base;
        let mut manifest = LipManifest { speakers: vec![name.into()], ..manifest.clone() };
        manifest.model.tacotron.speakers = 1;
        let Adapted { speaker, decoder, postnet } = self.parts.clone();
        let (encoder, scope) = (model.encoder.clone(), model.scope.clone());
        let model = LipTacotron { encoder, speakers: speaker, decoder, postnet, scope };
        LipBase { manifest, model, vocoder: vocoder.clone(), device: device.clone() }
    }

    /// Encodes the file.
    pub async fn save(&self, base: &LipBase) -> Result<Vec<u8>> {
        let [before, after] = self.held_out_loss;
        let metadata = Metadata::from(
            [
                ("format", FORMAT.to_string()),
                ("base", base.manifest.files.weights.sha256.clone()),
                ("iterations", self.iterations.to_string()),
                ("seconds", self.seconds.to_string()),
                ("held_out_loss_base", before.to_string()),
                ("held_out_loss", after.to_string()),
            ]
            .map(|(key, value)| (key.to_string(), value)),
        );
        Ok(serialize(collect(&self.parts), Storage::Half, metadata).await?)
    }

    /// Decodes a file, which is untrusted.
    ///
    /// # Errors
    /// Fails with `voice-corrupt`, or with `base-mismatch` if it was tuned from another base.
    pub fn open(base: &LipBase, bytes: &[u8]) -> Result<Self> {
        let (weights, metadata) = deserialize(bytes).map_err(Error::voice_corrupt)?;
        let text = |key: &str| {
            metadata.get(key).ok_or_else(|| Error::voice_corrupt(format!("its {key} is missing")))
        };
        if text("format")? != FORMAT {
            let found = &metadata["format"];
            return Err(Error::voice_corrupt(format!(
                "its format is {found:?}, this version reads {FORMAT:?}"
            )));
        }
        let (named, own) = (text("base")?, &base.manifest.files.weights.sha256);
        if named != own {
            let short = |hash: &str| hash.chars().take(12).collect::<String>();
            return Err(Error::base_mismatch(short(named), short(own)));
        }
        let number = |key: &str| -> Result<f32> {
            let value: f32 = text(key)?.parse().unwrap_or(f32::NAN);
            let found = value.is_finite().then_some(value);
            found.ok_or_else(|| Error::voice_corrupt(format!("its {key} is not a finite number")))
        };
        let (iterations, seconds) = (number("iterations")?.max(0.0) as usize, number("seconds")?);
        let held_out_loss = [number("held_out_loss_base")?, number("held_out_loss")?];
        if weights.values().any(|(_, values)| values.iter().any(|value| !value.is_finite())) {
            return Err(Error::voice_corrupt("a weight is not finite"));
        }
        let parts = apply_all(Adapted::from_base(base, 0), weights).map_err(Error::voice_corrupt)?;
        Ok(Self { parts, iterations, seconds, held_out_loss })
    }
}
