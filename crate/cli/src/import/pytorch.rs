//! Reads PyTorch files: the zip archives of version 1.6 and later, and the earlier sequences of pickles. All sizes are checked against the length of the file.
//!
//! The crate `pytorch-reader`, which burn-store uses, bounds its memory by constants of megabytes and gigabytes. This reader takes memory in proportion to the
//! file, as the tests of untrusted input require.

use half::{bf16, f16};
use std::{collections::HashMap, ops::Range};

use super::pickle::{Index, Pickle, Value};

/// The tensors of a file by name.
#[derive(Debug)]
pub struct Tensors {
    bytes: Vec<u8>,
    tensors: HashMap<String, Stored>,
}

/// A tensor in a storage of the file.
#[derive(Debug, Clone)]
struct Stored {
    storage: String,
    kind: Kind,
    offset: usize,
    shape: Vec<usize>,
    strides: Vec<usize>,
    /// The position of its storage in the file, which is set after all storages are found.
    place: Range<usize>,
}

/// The type of the elements of a storage.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Half,
    BFloat,
    Float,
    Double,
    /// Another type, with its size in bytes. Such tensors are not read.
    Other(usize),
}

impl Kind {
    fn new(name: &str) -> Self {
        match name.strip_prefix("torch ").unwrap_or(name) {
            "FloatStorage" => Self::Float,
            "HalfStorage" => Self::Half,
            "BFloat16Storage" => Self::BFloat,
            "DoubleStorage" => Self::Double,
            "LongStorage" | "ComplexFloatStorage" => Self::Other(8),
            "IntStorage" => Self::Other(4),
            "ShortStorage" => Self::Other(2),
            "ComplexDoubleStorage" => Self::Other(16),
            _ => Self::Other(1),
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Half | Self::BFloat => 2,
            Self::Float => 4,
            Self::Double => 8,
            Self::Other(bytes) => bytes,
        }
    }
}

impl Tensors {
    /// Parses the names and shapes of the tensors in a file.
    ///
    /// * `known`: a parameter that every model of the kind has; what is before it in its name is removed from all
    pub fn read(bytes: Vec<u8>, known: &str) -> Result<Self, String> {
        let mut tensors;
        if bytes.starts_with(b"PK\x03\x04") {
            let entries = entries(&bytes)?;
            let place = |name: &str| {
                entries.iter().find(|(entry, _)| entry.ends_with(name)).map(|(_, place)| place.clone())
            };
            let pickle = place("/data.pkl").ok_or("the archive contains no pickle")?;
            let pickle = Pickle::read(&mut &bytes[pickle])?;
            tensors = collect(&pickle, known);
            let places: HashMap<&str, &Range<usize>> = entries
                .iter()
                .filter_map(|(name, place)| Some((name.split_once("/data/")?.1, place)))
                .collect();
            for tensor in tensors.values_mut() {
                tensor.place = (*places.get(tensor.storage.as_str()).ok_or("a storage is missing")?).clone();
            }
        } else {
            let mut rest = bytes.as_slice();
            if Pickle::read(&mut rest).is_err()
                || !bytes.windows(MAGIC.len()).take(16).any(|window| window == MAGIC)
            {
                return Err("it is not a PyTorch file".into());
            }
            let [_version, _system, object, keys] = [(); 4].map(|()| Pickle::read(&mut rest));
            let (object, keys) = (object?, keys?);
            tensors = collect(&object, known);
            let kinds: HashMap<String, usize> = storages(&object).collect();
            let mut places = HashMap::new();
            for key in keys.sequence(keys.root).ok_or("the list of storages is missing")? {
                let key = keys.text(*key).ok_or("the list of storages is missing")?;
                let width = *kinds.get(key).ok_or("the list has an unused storage")?;
                let (count, after) = rest.split_first_chunk().ok_or("the storages end too early")?;
                let length = usize::try_from(u64::from_le_bytes(*count))
                    .ok()
                    .and_then(|count| count.checked_mul(width));
                rest = length.and_then(|length| after.get(length..)).ok_or("the storages end too early")?;
                places.insert(key, bytes.len() - after.len()..bytes.len() - rest.len());
            }
            for tensor in tensors.values_mut() {
                tensor.place = places.get(tensor.storage.as_str()).ok_or("a storage is missing")?.clone();
            }
        }
        Ok(Self { bytes, tensors })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        Some(&self.tensors.get(name)?.shape)
    }

    /// Returns the row-major values of an existing tensor.
    pub fn values(&self, name: &str) -> Result<Vec<f32>, String> {
        let tensor = &self.tensors[name];
        let storage = &self.bytes[tensor.place.clone()];
        let width = tensor.kind.bytes();
        let count = tensor.shape.iter().try_fold(1usize, |count, extent| count.checked_mul(*extent));
        // A view that repeats its storage could be of any size.
        let count = count
            .filter(|count| *count <= storage.len() / width)
            .ok_or("the tensor is larger than its storage")?;
        let at = |index: usize| -> Option<f32> {
            let mut rest = index;
            let mut place = tensor.offset;
            for (extent, stride) in tensor.shape.iter().zip(&tensor.strides).rev() {
                place = place.checked_add((rest % extent).checked_mul(*stride)?)?;
                rest /= extent;
            }
            let start = place.checked_mul(width)?;
            let bytes = storage.get(start..start.checked_add(width)?)?;
            Some(match tensor.kind {
                Kind::Half => f16::from_le_bytes(bytes.try_into().ok()?).to_f32(),
                Kind::BFloat => bf16::from_le_bytes(bytes.try_into().ok()?).to_f32(),
                Kind::Float => f32::from_le_bytes(bytes.try_into().ok()?),
                Kind::Double => f64::from_le_bytes(bytes.try_into().ok()?) as f32,
                Kind::Other(_) => return None,
            })
        };
        (0..count)
            .map(at)
            .collect::<Option<_>>()
            .ok_or_else(|| "the tensor is outside of its storage or has an unsupported type".into())
    }
}

/// The number in the first pickle of an old file, in little-endian order.
const MAGIC: &[u8] = &[0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];

/// The most dictionaries in one another, such as `{"model": {"state_dict": ..}}`.
const MAX_DEPTH: usize = 3;

/// Returns the tensors of the first dictionary with those of a model: the root, or what a training run wraps it in beside other state. Prefixes of all their names,
/// such as `module.` of `DataParallel`, are removed.
fn collect(pickle: &Pickle, known: &str) -> HashMap<String, Stored> {
    let mut dicts = vec![pickle.root];
    for _ in 0..=MAX_DEPTH {
        for &dict in &dicts {
            let tensors = tensors_of(pickle, dict);
            // "speaker_embedding.weight" is another parameter, and the shortest name is that of the model itself.
            let named = tensors.keys().filter(|name| *name == known || name.ends_with(&format!(".{known}")));
            if let Some(named) = named.min_by_key(|name| name.len()) {
                let prefix = named[..named.len() - known.len()].to_string();
                let unwrapped = tensors
                    .into_iter()
                    .filter_map(|(name, tensor)| Some((name.strip_prefix(&prefix)?.to_string(), tensor)));
                return unwrapped.collect();
            }
        }
        let inner = |&dict: &Index| match &pickle.values[dict] {
            Value::Dict(entries) => entries.iter().map(|&(_, value)| value).collect(),
            _ => Vec::new(),
        };
        dicts = dicts.iter().flat_map(inner).collect();
        dicts.retain(|&value| matches!(pickle.values[value], Value::Dict(_)));
        // A dictionary may hold another many times.
        dicts.sort_unstable();
        dicts.dedup();
    }
    HashMap::new()
}

/// Returns the tensors of a dictionary by their keys.
fn tensors_of(pickle: &Pickle, dict: Index) -> HashMap<String, Stored> {
    let Value::Dict(entries) = &pickle.values[dict] else { return HashMap::new() };
    let tensor = |&(key, value): &(Index, Index)| {
        let Value::Tensor(arguments) = pickle.values[value] else { return None };
        Some((pickle.text(key)?.to_string(), stored(pickle, arguments)?))
    };
    entries.iter().filter_map(tensor).collect()
}

/// Parses the arguments `(storage, offset, size, stride, ..)` of a tensor.
fn stored(pickle: &Pickle, arguments: Index) -> Option<Stored> {
    let &[storage, offset, shape, strides, ..] = pickle.sequence(arguments)? else { return None };
    let Value::Persistent(id) = pickle.values[storage] else { return None };
    let (storage, kind) = storage_of(pickle, id)?;
    let (shape, strides) = (pickle.sizes(shape)?, pickle.sizes(strides)?);
    let offset = usize::try_from(pickle.int(offset)?).ok()?;
    (shape.len() == strides.len()).then_some(Stored { storage, kind, offset, shape, strides, place: 0..0 })
}

/// Parses the key and type of a storage from `("storage", class, key, location, count, ..)`.
fn storage_of(pickle: &Pickle, id: Index) -> Option<(String, Kind)> {
    let &[_, class, key, ..] = pickle.sequence(id)? else { return None };
    let Value::Global(class) = &pickle.values[class] else { return None };
    Some((pickle.text(key)?.to_string(), Kind::new(class)))
}

/// Returns the key and the size of an element of each storage.
fn storages(pickle: &Pickle) -> impl Iterator<Item = (String, usize)> {
    pickle.values.iter().filter_map(|value| {
        let Value::Persistent(id) = value else { return None };
        storage_of(pickle, *id).map(|(key, kind)| (key, kind.bytes()))
    })
}

/// Returns the names and positions of the entries of a zip archive, which PyTorch does not compress.
fn entries(bytes: &[u8]) -> Result<Vec<(String, Range<usize>)>, String> {
    const BROKEN: &str = "the archive is damaged";
    let number = |at: usize, width: usize| -> Result<usize, String> {
        let bytes = at.checked_add(width).and_then(|end| bytes.get(at..end)).ok_or(BROKEN)?;
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    };
    // The end record is the last one, before a comment of at most 64 KiB.
    let first = bytes.len().saturating_sub(22 + 0xffff);
    let end = bytes[first..].windows(4).rposition(|window| window == b"PK\x05\x06").ok_or(BROKEN)? + first;
    let (count, mut at) = (number(end + 10, 2)?, number(end + 16, 4)?);
    let mut entries = Vec::new();
    for _ in 0..count {
        let [name, extra, comment] = [number(at + 28, 2)?, number(at + 30, 2)?, number(at + 32, 2)?];
        let (method, length, local) = (number(at + 10, 2)?, number(at + 24, 4)?, number(at + 42, 4)?);
        if number(at, 4)? != 0x0201_4b50 || method != 0 {
            return Err(BROKEN.into());
        }
        let title = String::from_utf8_lossy(bytes.get(at + 46..at + 46 + name).ok_or(BROKEN)?).into_owned();
        let start = local + 30 + number(local + 26, 2)? + number(local + 28, 2)?;
        if start + length > bytes.len() {
            return Err(BROKEN.into());
        }
        entries.push((title, start..start + length));
        at += 46 + name + extra + comment;
    }
    Ok(entries)
}
