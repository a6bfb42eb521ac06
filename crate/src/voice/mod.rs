//! What a voice is: the base that ships, and the files that visitors keep.

mod attentive;
mod base;
mod file;

pub use attentive::{AttentiveVoice, Table};
pub use base::{Base, BaseFiles, FileEntry, Files, Manifest, sha256_hex};
pub(crate) use file::adaptable;
pub use file::{Adapted, Consent, Voice, VoiceInfo};

use burn::prelude::*;

use crate::{Error, Result};

/// Reads values back; a device that is gone says so.
pub async fn read(values: Tensor<1>) -> Result<Vec<f32>> {
    Ok(read_data(values).await?.try_to_vec::<f32>().expect("computed in f32"))
}

/// The same as they come, without a copy where nobody else holds them.
pub(crate) async fn read_data(values: Tensor<1>) -> Result<TensorData> {
    values.into_data_async().await.map_err(|error| Error::DeviceLost(format!("{error:?}")))
}
