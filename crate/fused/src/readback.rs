//! Copies tensors from their device to the host.

use burn::prelude::*;

use crate::{Error, Result};

/// Returns the values of a tensor. Fails with `device-lost` if the device no longer answers.
pub async fn read(values: Tensor<1>) -> Result<Vec<f32>> {
    Ok(read_data(values).await?.try_to_vec::<f32>().expect("computed in f32"))
}

/// Returns the values of a tensor as [`TensorData`], without a copy if nothing else holds the buffer.
pub async fn read_data(values: Tensor<1>) -> Result<TensorData> {
    values.into_data_async().await.map_err(|error| Error::DeviceLost(format!("{error:?}")))
}
