//! Safetensors files of weights.

use burn::prelude::*;
use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::collections::{BTreeMap, HashMap};

use super::{HostWeights, Weights};
use crate::{Result, readback::read};

/// The number formats of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// Matrices as bytes with one scale a row, vectors as in [`Self::Half`]: voices and vocoders.
    Bytes,
    /// f16: the other weights of a base.
    Half,
    /// Lossless, for checkpoints: bfloat16 for tensors whose values it represents exactly, f32 for all others.
    Full,
}

/// The metadata of a file, sorted by key.
pub type Metadata = BTreeMap<String, String>;

/// The safetensors key under which all metadata are stored as one JSON object. safetensors does not keep the order of keys, and equal voices must be equal
/// bytes.
const METADATA: &str = "ownvoice";

/// Bytes of the longest header that is read. It holds the names and shapes of some thousand tensors, and the metadata of a voice or a checkpoint. Parsing
/// takes a multiple of its bytes in memory.
const MAX_HEADER: usize = 1 << 18;

/// The suffix of the tensor that holds one scale for each row of a tensor of bytes.
const SCALES: &str = ".scales";

/// Returns the scale by which the largest magnitude of a row becomes 127.
fn byte_scale(row: &[f32]) -> f32 {
    let most = row.iter().fold(0.0f32, |most, value| most.max(value.abs()));
    if most > 0.0 { most / 127.0 } else { 1.0 }
}

/// Returns how many values share a scale.
fn row_length(shape: &[usize]) -> usize {
    shape[1..].iter().product::<usize>().max(1)
}

/// Reads the weights back from their device and writes them as safetensors. Fails with `device-lost` if the device no longer answers.
pub async fn serialize(weights: Weights, storage: Storage, metadata: Metadata) -> Result<Vec<u8>> {
    serialize_by(read, weights, storage, metadata).await
}

/// Writes the weights as safetensors.
///
/// * `read`: reads a tensor back to the host
async fn serialize_by(
    read: impl AsyncFn(Tensor<1>) -> Result<Vec<f32>>,
    weights: Weights,
    storage: Storage,
    metadata: Metadata,
) -> Result<Vec<u8>> {
    let mut stored = Vec::with_capacity(weights.len());
    for (name, weight) in weights {
        let values = read(weight.values).await?;
        let (dtype, bytes) = match storage {
            Storage::Bytes if weight.shape.len() > 1 => {
                let scales: Vec<f32> =
                    values.chunks_exact(row_length(&weight.shape)).map(byte_scale).collect();
                let rows = values.chunks_exact(row_length(&weight.shape)).zip(&scales);
                let bytes = rows
                    .flat_map(|(row, scale)| row.iter().map(move |value| (value / scale).round() as i8 as u8))
                    .collect();
                let scales: Vec<u8> = scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
                stored.push((format!("{name}{SCALES}"), vec![scales.len() / 4], Dtype::F32, scales));
                (Dtype::I8, bytes)
            }
            Storage::Bytes | Storage::Half => {
                (Dtype::F16, values.iter().flat_map(|&value| f16::from_f32(value).to_le_bytes()).collect())
            }
            Storage::Full if values.iter().all(|value| value.to_bits().trailing_zeros() >= 16) => {
                (Dtype::BF16, values.iter().flat_map(|&value| bf16::from_f32(value).to_le_bytes()).collect())
            }
            Storage::Full => {
                (Dtype::F32, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
            }
        };
        stored.push((name, weight.shape, dtype, bytes));
    }
    let views = stored.iter().map(|(name, shape, dtype, bytes)| {
        (name.clone(), TensorView::new(*dtype, shape.clone(), bytes).expect("shape fits the bytes"))
    });
    let metadata = serde_json::to_string(&metadata).expect("plain text");
    Ok(safetensors::serialize(views, Some(HashMap::from([(METADATA.to_string(), metadata)])))
        .expect("names are distinct"))
}

/// Reads a safetensors file of untrusted origin. The `safetensors` crate checks offsets and sizes against the file before this function allocates memory.
///
/// Every value becomes an f32, so the memory taken is at most four times the file plus the parsed header.
pub fn deserialize(bytes: &[u8]) -> Result<(HostWeights, Metadata), String> {
    read_tensors(bytes, |_| false)
}

/// Reads a safetensors file as [`deserialize`] does, and leaves out tensors of integers, such as PyTorch's counters of batches.
pub fn deserialize_floats(bytes: &[u8]) -> Result<(HostWeights, Metadata), String> {
    read_tensors(bytes, |kind| {
        matches!(kind, Dtype::I64 | Dtype::I32 | Dtype::U64 | Dtype::U32 | Dtype::U8 | Dtype::BOOL)
    })
}

/// * `left_out`: whether tensors of a type are left out; other types that are not read are an error
fn read_tensors(bytes: &[u8], left_out: impl Fn(Dtype) -> bool) -> Result<(HostWeights, Metadata), String> {
    let length = bytes.first_chunk().map(|length| u64::from_le_bytes(*length));
    if length.is_some_and(|length| length > MAX_HEADER as u64) {
        return Err(format!("the header is longer than {MAX_HEADER} bytes"));
    }
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let is_scales = |name: &str| {
        name.strip_suffix(SCALES)
            .and_then(|of| file.tensor(of).ok())
            .is_some_and(|of| of.dtype() == Dtype::I8)
    };
    let mut weights = HashMap::new();
    for (name, view) in file.iter().filter(|(name, _)| !is_scales(name)) {
        let values: Vec<f32> = match view.dtype() {
            Dtype::F16 => {
                view.data().chunks_exact(2).map(|two| f16::from_le_bytes([two[0], two[1]]).to_f32()).collect()
            }
            Dtype::BF16 => view
                .data()
                .chunks_exact(2)
                .map(|two| bf16::from_le_bytes([two[0], two[1]]).to_f32())
                .collect(),
            Dtype::F32 => floats(view.data()),
            Dtype::I8 => scaled(name, &view, file.tensor(&format!("{name}{SCALES}")).ok())?,
            other if left_out(other) => continue,
            other => return Err(format!("{name} has type {other:?}")),
        };
        if values.iter().any(|value| !value.is_finite()) {
            return Err(format!("{name} holds non-finite values"));
        }
        weights.insert(name.to_string(), (view.shape().to_vec(), values));
    }
    let metadata = match header.metadata().as_ref().and_then(|metadata| metadata.get(METADATA)) {
        Some(json) => {
            serde_json::from_str(json).map_err(|error| format!("the metadata cannot be parsed: {error}"))?
        }
        None => header.metadata().clone().unwrap_or_default().into_iter().collect(),
    };
    Ok((weights, metadata))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
}

/// Multiplies each byte by the scale of its row. The scales are untrusted: they may be missing or have any type and length.
fn scaled(name: &str, bytes: &TensorView, scales: Option<TensorView>) -> Result<Vec<f32>, String> {
    let scales = scales
        .filter(|scales| scales.dtype() == Dtype::F32)
        .ok_or_else(|| format!("{name} has no scales"))?;
    let scales = floats(scales.data());
    if bytes.shape().first() != Some(&scales.len()) {
        return Err(format!("{name} has {} scales, not one for each row", scales.len()));
    }
    let length = bytes.data().len() / scales.len().max(1);
    let rows = bytes.data().chunks_exact(length.max(1)).zip(scales);
    Ok(rows.flat_map(|(row, scale)| row.iter().map(move |&byte| f32::from(byte as i8) * scale)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::tests::Net;
    use crate::weights::*;

    #[test]
    fn bytes_keep_each_value_to_a_two_hundredth_of_the_largest_of_its_row() {
        let device = Device::flex();
        let values = [0.5f32, -0.1, 0.003, 0.0, 0.0, 0.0, 2e-4, 1e-4, -1e-4];
        let mut weights = Weights::new();
        weights
            .insert("w".into(), Weight { shape: vec![3, 3], values: Tensor::from_floats(values, &device) });
        weights.insert("b".into(), Weight { shape: vec![1], values: Tensor::from_floats([0.25], &device) });
        let bytes = pollster::block_on(serialize(weights, Storage::Bytes, Metadata::new())).unwrap();
        let (read, _) = deserialize(&bytes).unwrap();
        assert_eq!((read.len(), &read["b"].1[..]), (2, &[0.25][..]));
        let (shape, found) = &read["w"];
        assert_eq!(shape, &[3, 3]);
        for (row, tolerance) in [0.5f32, 0.0, 2e-4].iter().enumerate().map(|(row, most)| (row, most / 200.0))
        {
            assert!(
                (0..3).all(|column| (found[3 * row + column] - values[3 * row + column]).abs() <= tolerance),
                "row {row}: {found:?}"
            );
        }
        // A tensor of bytes without scales or with too few is an error.
        let scales = |name: &str, count: usize| {
            let numbers = vec![0u8; 4 * count];
            let (bytes, scales) = (
                TensorView::new(Dtype::I8, vec![2, 2], &[1; 4]).unwrap(),
                TensorView::new(Dtype::F32, vec![count], &numbers).unwrap(),
            );
            safetensors::serialize([("w", bytes), (name, scales)], None).unwrap()
        };
        assert!(deserialize(&scales("w.scales", 2)).is_ok());
        assert!(deserialize(&scales("v.scales", 2)).is_err() && deserialize(&scales("w.scales", 1)).is_err());
    }

    /// The device answers some readbacks and is then lost.
    #[test]
    fn a_device_lost_while_weights_are_saved_is_an_error() {
        use crate::Error;
        use std::cell::Cell;

        let model = Net::new(&Device::flex());
        let weights = collect(&model);
        for storage in [Storage::Bytes, Storage::Half, Storage::Full] {
            for answers in 0..weights.len() {
                let left = Cell::new(answers);
                let answer = async |values: Tensor<1>| {
                    let Some(fewer) = left.get().checked_sub(1) else {
                        return Err(Error::DeviceLost("gone".into()));
                    };
                    left.set(fewer);
                    read(values).await
                };
                let saved = serialize_by(answer, weights.clone(), storage, Metadata::new());
                assert_eq!(
                    pollster::block_on(saved).unwrap_err(),
                    Error::DeviceLost("gone".into()),
                    "after {answers}"
                );
            }
        }
    }

    fn stored(tensors: &[(&str, Dtype, &[usize], &[u8])]) -> Vec<u8> {
        let views = tensors.iter().map(|&(name, dtype, shape, bytes)| {
            (name, TensorView::new(dtype, shape.to_vec(), bytes).unwrap())
        });
        safetensors::serialize(views, None).unwrap()
    }

    #[test]
    fn counters_are_left_out_where_they_are_expected() {
        let one = 1f32.to_le_bytes();
        let file = stored(&[("w", Dtype::F32, &[1], &one), ("counter", Dtype::I64, &[], &[0; 8])]);
        assert!(deserialize(&file).unwrap_err().contains("counter has type"));
        assert_eq!(deserialize_floats(&file).unwrap().0.into_keys().collect::<Vec<_>>(), ["w"]);
    }

    #[test]
    fn scales_of_scales_are_an_error() {
        let one = 1f32.to_le_bytes();
        let (bytes, scales, beyond) = (
            ("w", Dtype::I8, &[1, 2][..], &[1, 2][..]),
            ("w.scales", Dtype::I8, &[1][..], &[1][..]),
            ("w.scales.scales", Dtype::F32, &[1][..], &one[..]),
        );
        // The order in which tensors are read is random.
        for _ in 0..20 {
            assert!(deserialize(&stored(&[bytes, scales, beyond])).is_err());
        }
    }

    #[test]
    fn values_that_are_not_finite_after_scaling_are_an_error() {
        let read = |scale: f32, byte: i8| {
            deserialize(&stored(&[
                ("w", Dtype::I8, &[1, 1], &[byte as u8]),
                ("w.scales", Dtype::F32, &[1], &scale.to_le_bytes()),
            ]))
        };
        assert!(read(3e38, 127).is_err() && read(f32::INFINITY, 1).is_err() && read(f32::NAN, 0).is_err());
        assert_eq!(read(2e36, -127).unwrap().0["w"].1, [-127.0 * 2e36]);
    }

    #[test]
    fn bytes_without_rows_or_columns_do_not_panic() {
        for shape in [&[][..], &[0], &[0, 3], &[2, 0], &[0, usize::MAX, usize::MAX]] {
            let count = shape.iter().fold(1usize, |count, size| count.saturating_mul(*size));
            let Ok(bytes) = TensorView::new(Dtype::I8, shape.to_vec(), &[1; 1][..count]) else { continue };
            let scales = vec![0; 4 * shape.first().copied().unwrap_or(0)];
            let scales = TensorView::new(Dtype::F32, vec![scales.len() / 4], &scales).unwrap();
            let _ = deserialize(&safetensors::serialize([("w", bytes), ("w.scales", scales)], None).unwrap());
        }
    }

    #[test]
    fn a_truncated_file_is_an_error() {
        let device = Device::flex();
        let layer = burn::nn::LinearConfig::new(2, 2).init(&device);
        let bytes = pollster::block_on(serialize(collect(&layer), Storage::Half, Metadata::new())).unwrap();
        for cut in 0..bytes.len() {
            assert!(deserialize(&bytes[..cut]).is_err(), "cut at {cut}");
        }
    }
}
