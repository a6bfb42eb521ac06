//! A voice that finds its own way through the text: an imported attention model in one file, with all that speaking needs.

use burn::prelude::*;

use crate::{
    Error, Result,
    audio::mel::MelConfig,
    model::{AttentiveTacotron, TacotronConfig},
    text::nvidia,
    weights::{Metadata, Storage},
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
        let (model, config, metadata) = AttentiveTacotron::load(bytes, (nvidia::VERSION, nvidia::SYMBOL_COUNT), device)?;
        let mel = metadata.get("mel").ok_or_else(|| corrupt("it does not say how its spectrograms are taken".into()))?;
        let mel: MelConfig = serde_json::from_str(mel).map_err(|error| corrupt(error.to_string()))?;
        mel.check().map_err(|error| corrupt(error.to_string()))?;
        if config.mels != mel.mels {
            return Err(corrupt("model and spectrograms disagree".into()));
        }
        Ok(Self { model, config, mel, device: device.clone() })
    }

    /// In full precision, as they came: so much is not downloaded by a page.
    pub async fn pack(model: &AttentiveTacotron, config: &TacotronConfig, mel: &MelConfig) -> Vec<u8> {
        let mel = serde_json::to_string(mel).expect("plain data");
        model.pack(config, nvidia::VERSION, Storage::Full, Metadata::from([("mel".to_string(), mel)])).await
    }
}
