//! Gradients from elsewhere: an iteration's windows are shared among helpers that keep nothing from one iteration to the next. Weights go out, gradients
//! come back and add up. In a page a helper is a worker with a program and a memory of its own, since workers share one only behind headers that few servers send.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    prelude::*,
    tensor::Gradients,
};
use std::{collections::BTreeMap, slice::from_mut};

use super::{
    FineTuner,
    lesson::{Lesson, Share},
    speech::loss,
};
use crate::{
    Error, Result,
    model::{TacotronConfig, decoder::Decoder, postnet::Postnet},
    nn::Precision,
    train::options::Adapts,
    voice::{Adapted, Base, adaptable, read_data},
    weights::{Metadata, Storage, apply, collect, keep_path, pack, unpack},
};

/// Where weights lie one after the other, gradients in the same order, and last a loss: in a page, an array that workers hand to each other. Each of them is
/// copied on its way from one program's memory to the other's and nowhere else.
pub trait Exchange {
    /// Values that it holds.
    fn size(&self) -> usize;
    fn get(&self, at: usize, count: usize) -> Vec<f32>;
    fn put(&mut self, at: usize, values: &[f32]);
}

impl Exchange for Vec<f32> {
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

/// Takes weights, gives the gradients of a share of the windows.
pub struct Helper {
    parts: Adapted,
    lesson: Lesson,
}

impl Helper {
    /// * `kit`: what [`FineTuner::kit_async`] returned
    pub fn open(kit: &[u8], device: &Device) -> Result<Self> {
        let corrupt = |what: &str| Error::CheckpointCorrupt(format!("a helper's kit: {what}"));
        let (mut weights, metadata) = unpack(kit).map_err(Error::CheckpointCorrupt)?;
        let text = |key: &str| metadata.get(key).map_or("", String::as_str);
        let config: TacotronConfig = serde_json::from_str(text("model")).map_err(|_| corrupt("it has no model"))?;
        config.check().map_err(Error::CheckpointCorrupt)?;
        let lesson = Lesson::take(text("lesson"), &mut weights, device).ok_or_else(|| corrupt("it has no lesson"))?;
        let blank = Adapted {
            decoder: Decoder::new(&config, device),
            postnet: Postnet::new(&config, device),
            speaker: Param::from_tensor(Tensor::zeros([1, config.speaker_width], device)),
        };
        Ok(Self { parts: apply(blank, &weights).map_err(Error::CheckpointCorrupt)?.train(), lesson })
    }

    /// Takes weights from `exchange` and leaves their gradients there, and the loss.
    ///
    /// * `settles`:  what [`FineTuner::settles`] said before this iteration
    /// * `exchange`: what [`FineTuner::put_weights_async`] left then
    pub async fn gradients_async(&mut self, iteration: usize, settles: bool, exchange: &mut impl Exchange, share: Share) -> Result<()> {
        let places = Places::of(&self.parts, exchange)?;
        self.parts = self.parts.clone().map(&mut Set { path: Vec::new(), places: &places, exchange });
        let loss = loss(&self.parts, &self.lesson.windows(iteration, settles, share));
        let mut found = Found { gradients: &mut loss.backward(), path: Vec::new(), values: BTreeMap::new() };
        self.parts.visit(&mut found);
        for (name, &(at, count)) in &places.0 {
            match found.values.remove(name) {
                Some(gradient) => put(from_mut(exchange), at, gradient).await?,
                None => exchange.put(at, &vec![0.0; count]),
            }
        }
        let last = exchange.size() - 1;
        put(from_mut(exchange), last, loss.inner()).await
    }
}

/// Puts values at the same place of each.
async fn put(exchanges: &mut [impl Exchange], at: usize, values: Tensor<1>) -> Result<()> {
    let data = read_data(values).await?;
    let values = data.as_slice::<f32>().expect("computed in f32");
    exchanges.iter_mut().for_each(|exchange| exchange.put(at, values));
    Ok(())
}

impl FineTuner {
    /// All that a helper needs before it is given weights. Whole weights in f32 are shared, and nothing else.
    pub async fn kit_async(&self, base: &Base) -> Result<Vec<u8>> {
        if self.options.precision != Precision::F32 || matches!(self.options.adapts, Adapts::LowRank(_)) {
            return Err(Error::OptionInvalid("this training cannot be shared".into()));
        }
        let mut weights = collect(&self.parts);
        let lesson = self.lesson.put(&mut weights);
        let model = serde_json::to_string(base.config()).expect("plain data");
        Ok(pack(weights, Storage::Full, Metadata::from([("model".to_string(), model), ("lesson".to_string(), lesson)])).await)
    }

    /// Values of an exchange: all weights, and a loss.
    pub fn exchanged(&self) -> usize {
        adaptable(&self.parts).values().map(|weight| weight.values.dims()[0]).sum::<usize>() + 1
    }

    /// Puts the weights as they stand into exchanges of [`Self::exchanged`] values each.
    pub async fn put_weights_async(&self, exchanges: &mut [impl Exchange]) -> Result<()> {
        for exchange in &*exchanges {
            Places::of(&self.parts, exchange)?;
        }
        let mut at = 0;
        for weight in adaptable(&self.parts).into_values() {
            let count = weight.values.dims()[0];
            put(exchanges, at, weight.values).await?;
            at += count;
        }
        Ok(())
    }
}

/// Adds what a helper found to a module's own gradients, and its loss to the loss.
pub fn add(parts: &Adapted, gradients: &mut Gradients, loss: Tensor<1>, helped: &impl Exchange) -> Result<Tensor<1>> {
    let places = Places::of(parts, helped)?;
    parts.visit(&mut Add { gradients, path: Vec::new(), places: &places, helped });
    Ok(loss.add_scalar(helped.get(helped.size() - 1, 1)[0]))
}

/// Where each weight's values begin in an exchange, by its name, and how many they are.
struct Places(BTreeMap<String, (usize, usize)>);

impl Places {
    fn of(parts: &Adapted, exchange: &impl Exchange) -> Result<Self> {
        let mut next = 0;
        let places = adaptable(parts).into_iter().map(|(name, weight)| {
            let at = next;
            next += weight.values.dims()[0];
            (name, (at, next - at))
        });
        let places = Self(places.collect());
        if next + 1 == exchange.size() { Ok(places) } else { Err(Error::OptionInvalid("these weights are of another model".into())) }
    }
}

struct Set<'a, E> {
    path: Vec<String>,
    places: &'a Places,
    exchange: &'a E,
}

impl<E: Exchange> ModuleMapper for Set<'_, E> {
    keep_path!();

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(&(at, count)) = self.places.0.get(&self.path.join(".")) else { return param };
        param.map(|old| Tensor::from_data(TensorData::new(self.exchange.get(at, count), old.dims()), &old.device()).require_grad())
    }
}

struct Found<'a> {
    gradients: &'a mut Gradients,
    path: Vec<String>,
    values: BTreeMap<String, Tensor<1>>,
}

impl ModuleVisitor for Found<'_> {
    keep_path!();

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = param.val().grad_remove(self.gradients) {
            let count = gradient.shape().num_elements();
            self.values.insert(self.path.join("."), gradient.reshape([count]));
        }
    }
}

struct Add<'a, E> {
    gradients: &'a mut Gradients,
    path: Vec<String>,
    places: &'a Places,
    helped: &'a E,
}

impl<E: Exchange> ModuleVisitor for Add<'_, E> {
    keep_path!();

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let value = param.val();
        let Some(&(at, count)) = self.places.0.get(&self.path.join(".")) else { return };
        let Some(gradient) = value.grad(self.gradients) else { return };
        let helped = Tensor::<D>::from_data(TensorData::new(self.helped.get(at, count), gradient.dims()), &gradient.device());
        // Into what nobody else holds.
        value.grad_replace(self.gradients, helped + gradient);
    }
}
