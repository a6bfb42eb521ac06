//! A voice that finds its own way through the text: an imported attention model in one file, with all that speaking needs.

use burn::prelude::*;

use super::base::MAX_WIDTH;
use crate::{
    Error, Result,
    audio::mel::MelConfig,
    model::{AttentiveTacotron, TacotronConfig},
    text::nvidia,
    weights::{Metadata, Precision, apply, collect, pack, unpack},
};

#[derive(Debug)]
pub struct AttentiveVoice {
    pub model: AttentiveTacotron,
    pub config: TacotronConfig,
    pub mel: MelConfig,
    pub device: Device,
}

impl AttentiveVoice {
    /// The file's name in a folder of models.
    pub const FILE: &str = "attention.safetensors";

    /// From the bytes that [`Self::pack`] made.
    pub fn load(bytes: &[u8], device: &Device) -> Result<Self> {
        let corrupt = |what: String| Error::BaseCorrupt(format!("attention: {what}"));
        let (weights, metadata) = unpack(bytes).map_err(corrupt)?;
        if metadata.get("symbols").map(String::as_str) != Some(nvidia::VERSION) {
            return Err(corrupt("it was not imported: it has another symbol table".into()));
        }
        let text = |name: &str| metadata.get(name).ok_or_else(|| corrupt(format!("it does not say its {name}")));
        let config: TacotronConfig = serde_json::from_str(text("config")?).map_err(|error| corrupt(error.to_string()))?;
        let mel: MelConfig = serde_json::from_str(text("mel")?).map_err(|error| corrupt(error.to_string()))?;
        mel.check().map_err(|error| corrupt(error.to_string()))?;
        if !is_sound(&config) || config.mels != mel.mels {
            return Err(corrupt("its sizes make no sense".into()));
        }
        let model = AttentiveTacotron::new(&config, device);
        if collect(&model).len() != weights.len() {
            return Err(corrupt("weights are missing".into()));
        }
        let model = apply(model, &weights).map_err(corrupt)?;
        Ok(Self { model: model.valid(), config, mel, device: device.clone() })
    }

    /// In full precision, as they came: so much is not downloaded by a page.
    pub async fn pack(model: &AttentiveTacotron, config: &TacotronConfig, mel: &MelConfig) -> Vec<u8> {
        let metadata = Metadata::from([
            ("symbols".to_string(), nvidia::VERSION.to_string()),
            ("config".to_string(), serde_json::to_string(config).expect("plain data")),
            ("mel".to_string(), serde_json::to_string(mel).expect("plain data")),
        ]);
        pack(collect(model), Precision::Full, metadata).await
    }
}

/// Whether a model of these sizes can be made without exhausting memory.
fn is_sound(config: &TacotronConfig) -> bool {
    let widths = [config.speaker_width, config.encoder_width, config.prenet_width, config.decoder_width, config.postnet_width];
    let layers = [config.encoder_layers, config.postnet_layers, config.reduction, config.speakers];
    let kernels = [config.encoder_kernel, config.postnet_kernel, config.location_kernel];
    widths.into_iter().chain([config.attention_width, config.location_filters]).all(|width| (1..=MAX_WIDTH).contains(&width))
        && layers.into_iter().all(|count| (1..=16).contains(&count))
        && kernels.into_iter().all(|taps| taps % 2 == 1 && taps < 256)
        && (0.0..1.0).contains(&config.prenet_dropout)
        && config.symbols == nvidia::SYMBOL_COUNT
}
