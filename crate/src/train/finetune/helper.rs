//! Gradients from elsewhere: an iteration's windows are shared among helpers that keep nothing from one iteration to the next. Weights go out, gradients
//! come back and add up. In a page a helper is a worker with a program and a memory of its own, since workers share one only behind headers that few servers send.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    prelude::*,
    tensor::Gradients,
};
use std::collections::BTreeMap;

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
    voice::{Adapted, Base, adaptable, read},
    weights::{Metadata, Storage, Weight, apply, collect, keep_path, pack, unpack},
};

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

    /// * `settles`: what [`FineTuner::settles`] said before this iteration
    /// * `weights`: what [`FineTuner::weights_async`] returned then
    ///
    /// Returns their gradients in the same order, and last the loss.
    pub async fn gradients_async(&mut self, iteration: usize, settles: bool, weights: &[f32], share: Share) -> Result<Vec<f32>> {
        let (slices, rest) = slices(&self.parts, weights)?;
        if !rest.is_empty() {
            return Err(of_another_model());
        }
        self.parts = self.parts.clone().map(&mut Set { path: Vec::new(), slices });
        let loss = loss(&self.parts, &self.lesson.windows(iteration, settles, share));
        let mut found = Found { gradients: &loss.backward(), path: Vec::new(), values: BTreeMap::new() };
        self.parts.visit(&mut found);
        let nothing = |(name, weight): (String, Weight)| found.values.remove(&name).unwrap_or_else(|| weight.values.zeros_like());
        let flat: Vec<Tensor<1>> = adaptable(&self.parts).into_iter().map(nothing).chain([loss.inner()]).collect();
        read(Tensor::cat(flat, 0)).await
    }
}

fn of_another_model() -> Error {
    Error::OptionInvalid("these weights are of another model".into())
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

    /// The weights as they stand, one after the other.
    pub async fn weights_async(&self) -> Result<Vec<f32>> {
        read(Tensor::cat(adaptable(&self.parts).into_values().map(|weight| weight.values).collect(), 0)).await
    }
}

/// Adds what a helper returned to a module's own gradients, and its loss to the loss.
pub fn add(parts: &Adapted, gradients: &mut Gradients, loss: Tensor<1>, helped: &[f32]) -> Result<Tensor<1>> {
    let (slices, rest) = slices(parts, helped)?;
    let &[helped_loss] = rest else { return Err(of_another_model()) };
    parts.visit(&mut Add { gradients, path: Vec::new(), slices });
    Ok(loss.add_scalar(helped_loss))
}

/// What belongs to each weight, by its name, and what is left.
fn slices<'a>(parts: &Adapted, mut rest: &'a [f32]) -> Result<(Slices<'a>, &'a [f32])> {
    let mut slices = BTreeMap::new();
    for (name, weight) in adaptable(parts) {
        let (own, others) = rest.split_at_checked(weight.values.dims()[0]).ok_or_else(of_another_model)?;
        slices.insert(name, own);
        rest = others;
    }
    Ok((slices, rest))
}

type Slices<'a> = BTreeMap<String, &'a [f32]>;

struct Set<'a> {
    path: Vec<String>,
    slices: Slices<'a>,
}

impl ModuleMapper for Set<'_> {
    keep_path!();

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(values) = self.slices.get(&self.path.join(".")) else { return param };
        param.map(|old| Tensor::from_data(TensorData::new(values.to_vec(), old.dims()), &old.device()).require_grad())
    }
}

struct Found<'a> {
    gradients: &'a Gradients,
    path: Vec<String>,
    values: BTreeMap<String, Tensor<1>>,
}

impl ModuleVisitor for Found<'_> {
    keep_path!();

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = param.val().grad(self.gradients) {
            let count = gradient.shape().num_elements();
            self.values.insert(self.path.join("."), gradient.reshape([count]));
        }
    }
}

struct Add<'a> {
    gradients: &'a mut Gradients,
    path: Vec<String>,
    slices: Slices<'a>,
}

impl ModuleVisitor for Add<'_> {
    keep_path!();

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let value = param.val();
        let (Some(gradient), Some(helped)) = (value.grad(self.gradients), self.slices.get(&self.path.join("."))) else { return };
        let helped = Tensor::<D>::from_data(TensorData::new(helped.to_vec(), gradient.dims()), &gradient.device());
        value.grad_replace(self.gradients, gradient + helped);
    }
}
