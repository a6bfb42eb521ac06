//! Data parallelism: a batch is split into shards among stateless helpers, which receive the weights of each iteration and return gradients to be summed.
//!
//! In a page, a helper is a worker with a WebAssembly module and a memory of its own, since shared memory requires headers that few servers send.

use burn::{
    module::{Module, Param},
    prelude::*,
    tensor::Gradients,
};
use std::{collections::BTreeMap, slice::from_mut};

use super::{FineTuner, clip_dataset::ClipDataset, frame_store::loss};
use crate::{
    Error, Result,
    model::{TacotronConfig, decoder::Decoder, postnet::Postnet},
    voice::{Adapted, adaptable},
};
use burn_fused::{
    Precision, Scope,
    ranks::Shard,
    readback::read_data,
    weights::{Metadata, Storage, apply, collect, deserialize, map, serialize, visit},
};

/// A buffer of all weights, or of their gradients in the same order, with a loss as its last value. In a page, it is an array that workers transfer to each
/// other; values are copied only between it and the memory of a module.
pub trait FlatBuffer {
    /// Returns the number of values.
    fn size(&self) -> usize;
    /// Returns `count` values from the index `at`.
    fn get(&self, at: usize, count: usize) -> Vec<f32>;
    /// Writes values from the index `at`.
    fn put(&mut self, at: usize, values: &[f32]);
}

impl FlatBuffer for Vec<f32> {
    fn size(&self) -> usize {
        self.len()
    }

    fn get(&self, at: usize, count: usize) -> Vec<f32> {
        self[at..at + count].to_vec()
    }

    fn put(&mut self, at: usize, values: &[f32]) {
        self[at..at + values.len()].copy_from_slice(values);
    }
}

/// Computes the gradients of a shard for given weights.
pub struct Helper {
    parts: Adapted,
    dataset: ClipDataset,
}

impl Helper {
    /// Creates a helper.
    ///
    /// * `worker_init`: the bytes that [`FineTuner::worker_init_async`] returned
    pub fn open(worker_init: &[u8], device: &Device) -> Result<Self> {
        let corrupt =
            |what: &str| Error::checkpoint_corrupt(format!("the initial state of a helper: {what}"));
        let (mut weights, metadata) = deserialize(worker_init).map_err(Error::checkpoint_corrupt)?;
        let text = |key: &str| metadata.get(key).map_or("", String::as_str);
        let config: TacotronConfig =
            serde_json::from_str(text("model")).map_err(|_| corrupt("it has no model"))?;
        config.check().map_err(Error::checkpoint_corrupt)?;
        let dataset = ClipDataset::take(text("dataset"), &mut weights, device)
            .ok_or_else(|| corrupt("it has no dataset"))?;
        let blank = Adapted {
            decoder: Decoder::new(&config, device),
            postnet: Postnet::new(&config, device),
            speaker: Param::from_tensor(Tensor::zeros([1, config.speaker_width], device)),
            scope: Scope::default(),
        };
        Ok(Self { parts: apply(blank, weights).map_err(Error::checkpoint_corrupt)?.train(), dataset })
    }

    /// Replaces the weights in `buffer` by their gradients and the loss of a shard.
    ///
    /// * `in_cooldown`: the value of [`FineTuner::in_cooldown`] before this iteration
    /// * `buffer`:      a buffer that [`FineTuner::put_weights_async`] has filled
    pub async fn gradients_async(
        &mut self,
        iteration: usize,
        in_cooldown: bool,
        buffer: &mut impl FlatBuffer,
        shard: Shard,
    ) -> Result<()> {
        let places = FlatLayout::new(&self.parts, buffer)?;
        self.parts = map(self.parts.clone(), |path, old| {
            let &Place { at, count } = places.0.get(path)?;
            Some(Tensor::from_data(TensorData::new(buffer.get(at, count), [count]), &old.device()))
        });
        let loss = loss(&self.parts, &self.dataset.windows(iteration, in_cooldown, shard));
        let (mut gradients, mut found) = (loss.backward(), BTreeMap::new());
        visit(&self.parts, |path, parameter| {
            found.extend(parameter.take_gradient(&mut gradients).map(|values| (path.to_string(), values)));
        });
        for (name, &Place { at, count }) in &places.0 {
            match found.remove(name) {
                Some(gradient) => put(from_mut(buffer), at, gradient).await?,
                None => buffer.put(at, &vec![0.0; count]),
            }
        }
        let last = buffer.size() - 1;
        put(from_mut(buffer), last, loss.inner()).await
    }
}

/// Writes values at the same index of each buffer.
async fn put(buffers: &mut [impl FlatBuffer], at: usize, values: Tensor<1>) -> Result<()> {
    let data = read_data(values).await?;
    let values = data.as_slice::<f32>().expect("computed in f32");
    buffers.iter_mut().for_each(|buffer| buffer.put(at, values));
    Ok(())
}

#[doc(hidden)]
impl FineTuner {
    /// Encodes the initial state of a helper. Fails with `option-invalid` in mixed precision, which is not parallel.
    pub async fn worker_init_async(&self) -> Result<Vec<u8>> {
        if self.options.precision != Precision::F32 {
            return Err(Error::option_invalid("a training in mixed precision has no helpers"));
        }
        let mut weights = collect(&self.parts);
        let dataset = self.dataset.put(&mut weights);
        let model = serde_json::to_string(self.base.config()).expect("plain data");
        Ok(serialize(
            weights,
            Storage::Full,
            Metadata::from([("model".to_string(), model), ("dataset".to_string(), dataset)]),
        )
        .await?)
    }

    /// Returns the length of a buffer: the number of weights, and one for the loss.
    pub fn flat_buffer_len(&self) -> usize {
        adaptable(&self.parts).values().map(|weight| weight.values.dims()[0]).sum::<usize>() + 1
    }

    /// Writes the current weights to buffers of [`Self::flat_buffer_len`] values each.
    pub async fn put_weights_async(&self, buffers: &mut [impl FlatBuffer]) -> Result<()> {
        for buffer in &*buffers {
            FlatLayout::new(&self.parts, buffer)?;
        }
        let mut at = 0;
        for weight in adaptable(&self.parts).into_values() {
            let count = weight.values.dims()[0];
            put(buffers, at, weight.values).await?;
            at += count;
        }
        Ok(())
    }
}

/// Adds the gradients and the loss of a helper to those of this process.
pub fn add(
    parts: &Adapted,
    gradients: &mut Gradients,
    loss: Tensor<1>,
    helped: &impl FlatBuffer,
) -> Result<Tensor<1>> {
    let places = FlatLayout::new(parts, helped)?;
    visit(parts, |path, parameter| {
        let Some(&Place { at, count }) = places.0.get(path) else { return };
        let Some(gradient) = parameter.gradient(gradients) else { return };
        let helped = Tensor::from_data(TensorData::new(helped.get(at, count), [count]), &gradient.device());
        // The sum reuses the memory of `helped`, which is not shared.
        parameter.replace_gradient(gradients, helped + gradient);
    });
    Ok(loss.add_scalar(helped.get(helped.size() - 1, 1)[0]))
}

/// The range of each weight in a buffer, by its name.
struct FlatLayout(BTreeMap<String, Place>);

struct Place {
    at: usize,
    count: usize,
}

impl FlatLayout {
    fn new(parts: &Adapted, buffer: &impl FlatBuffer) -> Result<Self> {
        let mut next = 0;
        let places = adaptable(parts).into_iter().map(|(name, weight)| {
            let place = Place { at: next, count: weight.values.dims()[0] };
            next += place.count;
            (name, place)
        });
        let places = Self(places.collect());
        if next + 1 == buffer.size() {
            Ok(places)
        } else {
            Err(Error::option_invalid("the buffer is of another model"))
        }
    }
}
