//! The voice of an attention model: a file with the model, trained here or imported, and everything that speaking needs.

use burn::prelude::*;

use crate::{
    Error, Result,
    audio::mel::MelConfig,
    model::{AttentiveTacotron, TacotronConfig},
    text::{
        Word, nvidia,
        symbols::{self, Symbol},
        to_symbols,
    },
};
use burn_fused::weights::{Metadata, Storage};

/// The symbol table that a model was trained with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// The table of [`symbols`].
    Own,
    /// The table of NVIDIA's Tacotron 2.
    Nvidia,
}

impl Table {
    fn version(self) -> String {
        match self {
            Self::Own => symbols::version(),
            Self::Nvidia => nvidia::VERSION.into(),
        }
    }

    fn count(self) -> usize {
        match self {
            Self::Own => symbols::SYMBOL_COUNT,
            Self::Nvidia => nvidia::SYMBOL_COUNT,
        }
    }

    /// Returns the symbols of a sentence as pairs: the index in this table, and the symbol of our own table that stands for it in results.
    pub fn to_symbols(self, words: &[Word]) -> Vec<(u8, Symbol)> {
        match self {
            Self::Own => to_symbols(words).0.into_iter().map(|symbol| (symbol.into(), symbol)).collect(),
            Self::Nvidia => nvidia::to_symbols(words),
        }
    }
}

/// An attention model with its configuration.
#[derive(Debug)]
pub struct AttentiveVoice {
    pub model: AttentiveTacotron,
    pub config: TacotronConfig,
    pub mel: MelConfig,
    pub table: Table,
    /// The row of the speaker table that is used.
    pub speaker: usize,
    pub device: Device,
}

impl AttentiveVoice {
    /// The name of the file in a folder of models.
    pub const FILE: &str = "attention.safetensors";

    /// Loads a file that [`Self::serialize`] encoded. The file is untrusted; fails with `base-corrupt`.
    pub fn load(bytes: &[u8], device: &Device) -> Result<Self> {
        let corrupt = |what: &str| Error::base_corrupt(format!("attention: {what}"));
        let of_symbols =
            |version: &str| [Table::Own, Table::Nvidia].into_iter().find(|table| table.version() == version);
        let (model, config, metadata) =
            AttentiveTacotron::load(bytes, |version| of_symbols(version).map(Table::count), device)?;
        let table =
            metadata.get("symbols").and_then(|version| of_symbols(version)).expect("the version was checked");
        let mel = metadata.get("mel").ok_or_else(|| corrupt("its mel configuration is missing"))?;
        let mel: MelConfig = serde_json::from_str(mel).map_err(|error| corrupt(&error.to_string()))?;
        mel.check().map_err(|error| corrupt(&error.to_string()))?;
        if config.mels != mel.mels {
            return Err(corrupt("the numbers of bands of model and spectrograms differ"));
        }
        let speaker = metadata
            .get("speaker")
            .map_or(Some(0), |row| row.parse().ok())
            .filter(|row| *row < config.speakers);
        let speaker = speaker.ok_or_else(|| corrupt("its speaker is not in its speaker table"))?;
        Ok(Self { model, config, mel, table, speaker, device: device.clone() })
    }

    /// Encodes the file.
    pub async fn serialize(&self, storage: Storage) -> Result<Vec<u8>> {
        let mel = serde_json::to_string(&self.mel).expect("plain data");
        let more =
            Metadata::from([("mel".to_string(), mel), ("speaker".to_string(), self.speaker.to_string())]);
        self.model.serialize(&self.config, &self.table.version(), storage, more).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_model_keeps_its_symbol_table_and_speaker() {
        let device = Device::flex();
        device.seed(4);
        let config = TacotronConfig { autoregressive: true, ..TacotronConfig::tiny(3) };
        let model = AttentiveTacotron::new(&config, &device);
        let mut voice = AttentiveVoice {
            model,
            config,
            mel: MelConfig::speech_16k(),
            table: Table::Own,
            speaker: 2,
            device: device.clone(),
        };
        let serialized = |voice: &AttentiveVoice| pollster::block_on(voice.serialize(Storage::Half)).unwrap();
        let loaded = AttentiveVoice::load(&serialized(&voice), &device).unwrap();
        assert_eq!(
            (loaded.table, loaded.speaker, &loaded.config, &loaded.mel),
            (Table::Own, 2, &voice.config, &voice.mel)
        );
        voice.speaker = 3;
        assert_eq!(AttentiveVoice::load(&serialized(&voice), &device).unwrap_err().code(), "base-corrupt");
    }
}
