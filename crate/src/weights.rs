//! Parameters by their path in the module, to and from safetensors.
//!
//! One long file: what is written is what is read, and a third of it are tests of damaged files.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    prelude::*,
};
use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::collections::{BTreeMap, HashMap};

use crate::{Result, nn::readback::read};

/// In a visitor or a mapper of modules: `self.path` names where it is.
macro_rules! track_path {
    () => {
        fn enter_module(&mut self, name: &str, _container: &str) {
            self.path.push(name.to_string());
        }

        fn exit_module(&mut self, _name: &str, _container: &str) {
            self.path.pop();
        }
    };
}
pub(crate) use track_path;

/// A parameter with its shape taken off.
#[derive(Debug, Clone)]
pub struct Weight {
    pub shape: Vec<usize>,
    /// Row-major.
    pub values: Tensor<1>,
}

impl Weight {
    /// Values that a voice file keeps in half precision: a matrix would be rounded to bytes.
    pub fn vector(values: Vec<f32>, device: &Device) -> Self {
        let shape = vec![values.len()];
        Self { values: Tensor::from_data(TensorData::new(values, [shape[0]]), device), shape }
    }
}

/// Named weights on their device.
pub type Weights = BTreeMap<String, Weight>;

/// Shapes and values by name, on the host.
pub type HostWeights = HashMap<String, (Vec<usize>, Vec<f32>)>;

/// How weights are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// A voice, and a vocoder: matrices in bytes with a scale a row, the rest as [`Self::Half`].
    Bytes,
    /// The other weights that ship.
    Half,
    /// What a checkpoint needs to go on as if nothing had happened: in bfloat16 where nothing is lost by it.
    Full,
}

/// All parameters and running statistics of a module.
pub fn collect<M: Module>(module: &M) -> Weights {
    let mut visitor = Collect { path: Vec::new(), weights: Weights::new() };
    module.visit(&mut visitor);
    visitor.weights
}

struct Collect {
    path: Vec<String>,
    weights: Weights,
}

impl ModuleVisitor for Collect {
    track_path!();

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let value = param.val().inner();
        let shape = value.dims().to_vec();
        let values = value.reshape([shape.iter().product::<usize>()]);
        self.weights.insert(self.path.join("."), Weight { shape, values });
    }
}

/// Puts weights into a module; what `weights` does not name stays. Returns an error in words when a shape differs.
///
/// Names and shapes are compared before anything is made, so that a module whose sizes a file chose costs no more than the file's own values; those become
/// the parameters without a copy.
pub fn apply<M: Module>(module: M, weights: HostWeights) -> Result<M, String> {
    check(&module, &weights)?;
    Ok(module.map(&mut Apply { path: Vec::new(), weights }))
}

/// Whether [`apply`] would take these weights; an error in words.
pub fn check<M: Module>(module: &M, weights: &HostWeights) -> Result<(), String> {
    fitting(&shapes(module), weights)
}

/// As [`apply`], where each parameter of the module must be named.
pub fn apply_all<M: Module>(module: M, weights: HostWeights) -> Result<M, String> {
    match shapes(&module).into_keys().find(|name| !weights.contains_key(name)) {
        Some(name) => Err(format!("{name} is missing")),
        None => apply(module, weights),
    }
}

/// Of all parameters, none of which is filled for it.
fn shapes<M: Module>(module: &M) -> BTreeMap<String, Vec<usize>> {
    struct Shapes {
        path: Vec<String>,
        found: BTreeMap<String, Vec<usize>>,
    }
    impl ModuleVisitor for Shapes {
        track_path!();

        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.found.insert(self.path.join("."), param.lazy_shape().to_vec());
        }
    }
    let mut visitor = Shapes { path: Vec::new(), found: BTreeMap::new() };
    module.visit(&mut visitor);
    visitor.found
}

fn fitting(shapes: &BTreeMap<String, Vec<usize>>, weights: &HostWeights) -> Result<(), String> {
    let strangers = weights.keys().filter(|name| !shapes.contains_key(*name)).count();
    if strangers > 0 {
        return Err(format!("{strangers} of {} tensors have no place in the model", weights.len()));
    }
    match weights.iter().find(|(name, (shape, _))| *shape != shapes[*name]) {
        Some((name, (shape, _))) => Err(format!("{name} is {shape:?}, the model has {:?}", shapes[name])),
        None => Ok(()),
    }
}

struct Apply {
    path: Vec<String>,
    weights: HostWeights,
}

impl ModuleMapper for Apply {
    track_path!();

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some((shape, values)) = self.weights.remove(&self.path.join(".")) else { return param };
        let tensor = Tensor::from_data(TensorData::new(values, shape), &param.lazy_device());
        let id = param.id;
        param.transform_for_load(tensor, id)
    }
}

/// Metadata of a file, in order.
pub type Metadata = BTreeMap<String, String>;

/// Metadata stand as one JSON object under this key: safetensors keeps keys in no order, and equal voices are equal bytes.
const METADATA: &str = "ownvoice";

/// Names and sizes of some thousand tensors, and the metadata of a voice or a checkpoint. What is read of it takes a multiple of its bytes.
const MAX_HEADER: usize = 1 << 18;

/// Beside a tensor of bytes: what one of them is worth, a number a row.
const SCALES: &str = ".scales";

/// So that the largest value of a row is the largest byte.
fn byte_scale(row: &[f32]) -> f32 {
    let most = row.iter().fold(0.0f32, |most, value| most.max(value.abs()));
    if most > 0.0 { most / 127.0 } else { 1.0 }
}

/// Values that share a scale.
fn row_length(shape: &[usize]) -> usize {
    shape[1..].iter().product::<usize>().max(1)
}

/// Reads the weights back from their device and writes them as safetensors. Fails with `device-lost` where the device no longer answers.
pub async fn serialize(weights: Weights, storage: Storage, metadata: Metadata) -> Result<Vec<u8>> {
    serialize_by(read, weights, storage, metadata).await
}

/// * `read`: how a tensor comes to the host
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

/// Reads a safetensors file of untrusted origin. The crate checks offsets and sizes against the file before anything is allocated.
///
/// A value of one or two bytes becomes a number of four: memory is at most four times the file, and what its header takes.
pub fn deserialize(bytes: &[u8]) -> Result<(HostWeights, Metadata), String> {
    let length = bytes.first_chunk().map(|length| u64::from_le_bytes(*length));
    if length.is_some_and(|length| length > MAX_HEADER as u64) {
        return Err(format!("its header is longer than {MAX_HEADER} bytes"));
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
            other => return Err(format!("{name} has type {other:?}")),
        };
        if values.iter().any(|value| !value.is_finite()) {
            return Err(format!("{name} holds values that are not numbers"));
        }
        weights.insert(name.to_string(), (view.shape().to_vec(), values));
    }
    let metadata = match header.metadata().as_ref().and_then(|metadata| metadata.get(METADATA)) {
        Some(json) => {
            serde_json::from_str(json).map_err(|error| format!("its metadata cannot be read: {error}"))?
        }
        None => header.metadata().clone().unwrap_or_default().into_iter().collect(),
    };
    Ok((weights, metadata))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
}

/// Bytes times the scale of their row; the scales may be missing, or be anything.
fn scaled(name: &str, bytes: &TensorView, scales: Option<TensorView>) -> Result<Vec<f32>, String> {
    let scales = scales
        .filter(|scales| scales.dtype() == Dtype::F32)
        .ok_or_else(|| format!("{name} lacks its scales"))?;
    let scales = floats(scales.data());
    if bytes.shape().first() != Some(&scales.len()) {
        return Err(format!("{name} has {} scales", scales.len()));
    }
    let length = bytes.data().len() / scales.len().max(1);
    let rows = bytes.data().chunks_exact(length.max(1)).zip(scales);
    Ok(rows.flat_map(|(row, scale)| row.iter().map(move |&byte| f32::from(byte as i8) * scale)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Tacotron, TacotronConfig};

    #[test]
    fn a_model_survives_the_file() {
        let device = Device::flex();
        device.seed(3);
        let config = TacotronConfig::tiny(2);
        let model = Tacotron::new(&config, &device);
        let bytes = pollster::block_on(serialize(
            collect(&model),
            Storage::Full,
            Metadata::from([("a".into(), "b".into())]),
        ))
        .unwrap();
        let (weights, metadata) = deserialize(&bytes).unwrap();
        assert_eq!(metadata["a"], "b");
        let other = apply(Tacotron::new(&config, &device), weights.clone()).unwrap();
        assert_eq!(other.decoder.first.w_ih.val().into_data(), model.decoder.first.w_ih.val().into_data());
        assert!(weights.contains_key("postnet.convolutions.0.norm.running_mean"), "{:?}", weights.keys());
    }

    #[test]
    fn bytes_keep_each_row_to_a_percent_of_its_largest() {
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
        // Without its scales, or with too few, a tensor of bytes has no values.
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

    /// A device that answers a number of times, and then never again.
    #[test]
    fn a_device_lost_while_a_voice_is_saved_is_an_error() {
        use crate::Error;
        use std::cell::Cell;

        let model = Tacotron::new(&TacotronConfig::tiny(2), &Device::flex());
        let weights = collect(&model);
        for storage in [Storage::Bytes, Storage::Half, Storage::Full] {
            for answers in 0..weights.len() {
                let left = Cell::new(answers);
                let answer = async |values: Tensor<1>| {
                    let Some(fewer) = left.get().checked_sub(1) else {
                        return Err(Error::device_lost("gone"));
                    };
                    left.set(fewer);
                    read(values).await
                };
                let saved = serialize_by(answer, weights.clone(), storage, Metadata::new());
                assert_eq!(pollster::block_on(saved).unwrap_err().code(), "device-lost", "after {answers}");
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
    fn scales_that_have_scales_are_an_error() {
        let one = 1f32.to_le_bytes();
        let (bytes, scales, beyond) = (
            ("w", Dtype::I8, &[1, 2][..], &[1, 2][..]),
            ("w.scales", Dtype::I8, &[1][..], &[1][..]),
            ("w.scales.scales", Dtype::F32, &[1][..], &one[..]),
        );
        // Tensors stand in the file, and are read, in any order.
        for _ in 0..20 {
            assert!(deserialize(&stored(&[bytes, scales, beyond])).is_err());
        }
    }

    #[test]
    fn values_are_finite_after_their_scale() {
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
    fn bytes_without_rows_or_columns_are_no_panic() {
        for shape in [&[][..], &[0], &[0, 3], &[2, 0], &[0, usize::MAX, usize::MAX]] {
            let count = shape.iter().fold(1usize, |count, size| count.saturating_mul(*size));
            let Ok(bytes) = TensorView::new(Dtype::I8, shape.to_vec(), &[1; 1][..count]) else { continue };
            let scales = vec![0; 4 * shape.first().copied().unwrap_or(0)];
            let scales = TensorView::new(Dtype::F32, vec![scales.len() / 4], &scales).unwrap();
            let _ = deserialize(&safetensors::serialize([("w", bytes), ("w.scales", scales)], None).unwrap());
        }
    }

    #[test]
    fn damage_is_an_error() {
        let device = Device::flex();
        let layer = burn::nn::LinearConfig::new(2, 2).init(&device);
        let bytes = pollster::block_on(serialize(collect(&layer), Storage::Half, Metadata::new())).unwrap();
        for cut in 0..bytes.len() {
            assert!(deserialize(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        let wrong = HashMap::from([("weight".to_string(), (vec![3, 2], vec![0.0; 6]))]);
        assert!(apply(layer.clone(), wrong).unwrap_err().contains("[3, 2]"));
        let half = HashMap::from([("weight".to_string(), (vec![2, 2], vec![0.0; 4]))]);
        assert_eq!(apply_all(layer, half).unwrap_err(), "bias is missing");
    }
}
