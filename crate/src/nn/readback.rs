//! Copies of tensors from their device to the host.

use burn::prelude::*;

use crate::{Error, Result};

/// Values of a tensor on the host. Fails with `device-lost` where the device no longer answers.
pub async fn read(values: Tensor<1>) -> Result<Vec<f32>> {
    Ok(read_data(values).await?.try_to_vec::<f32>().expect("computed in f32"))
}

/// The same as [`TensorData`], without a copy where nothing else holds the buffer.
pub(crate) async fn read_data(values: Tensor<1>) -> Result<TensorData> {
    values.into_data_async().await.map_err(|error| Error::device_lost(format!("{error:?}")))
}
