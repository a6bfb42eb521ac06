//! The training of a voice in the worker.

use js_sys::{Array, Float32Array, Promise};
use ownvoice::clone::FineTuner;
use tsify::Ts;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::{
    convert::to_js,
    error::to_js_error,
    helper::TransferBuffer,
    objects::{AlignmentSnapshot, Step},
    voice::Voice,
};

/// A training, from its start to the voice that it makes.
#[wasm_bindgen]
pub struct Tuner(pub(crate) FineTuner);

#[wasm_bindgen]
impl Tuner {
    /// The number of iterations done.
    #[wasm_bindgen(getter)]
    pub fn iteration(&self) -> u32 {
        self.0.iteration() as u32
    }

    /// Whether the next iteration belongs to the cooldown. Helpers need to know.
    #[wasm_bindgen(getter, js_name = inCooldown)]
    pub fn in_cooldown(&self) -> bool {
        self.0.in_cooldown()
    }

    /// Returns why clips were left out: errors with the index of the clip.
    #[wasm_bindgen(js_name = leftOut, unchecked_return_type = "Error[]")]
    pub fn left_out(&mut self) -> Array {
        self.0.take_left_out().into_iter().map(to_js_error).collect()
    }

    /// Returns the bytes that a `Helper` is made from. Fails where this training cannot be sharded.
    #[wasm_bindgen(js_name = workerInit)]
    pub async fn worker_init(&self) -> Result<Vec<u8>, JsValue> {
        self.0.worker_init_async().await.map_err(to_js_error)
    }

    /// Writes the weights into each of `buffers`, one for each helper, over the gradients of the last iteration. Null is replaced by a new buffer.
    pub async fn weights(
        &self,
        #[wasm_bindgen(unchecked_param_type = "(Float32Array<ArrayBuffer> | null)[]")] buffers: Array,
    ) -> Result<(), JsValue> {
        let new_buffer = || Float32Array::new_with_length(self.0.flat_buffer_len() as u32);
        let mut transferred: Vec<TransferBuffer> = buffers
            .iter()
            .map(|buffer| TransferBuffer(buffer.dyn_into().unwrap_or_else(|_| new_buffer())))
            .collect();
        self.0.put_weights_async(&mut transferred).await.map_err(to_js_error)?;
        for (index, buffer) in transferred.into_iter().enumerate() {
            buffers.set(index as u32, buffer.0.into());
        }
        Ok(())
    }

    /// Runs one iteration. `helperGradients` resolves to the gradients of each helper's shard, or to null where one failed; null without helpers.
    pub async fn step(
        &mut self,
        helpers: u32,
        #[wasm_bindgen(js_name = helperGradients, unchecked_param_type = "Promise<Float32Array[] | null> | null")]
        helper_gradients: JsValue,
    ) -> Result<Ts<Step>, JsValue> {
        let step = self
            .0
            .step_with_async(helpers as usize, async || received(helper_gradients).await)
            .await
            .map_err(to_js_error)?;
        to_js(&step.into())
    }

    /// Returns the bytes from which `Engine.resume` continues, given the clips.
    pub async fn checkpoint(&self) -> Result<Vec<u8>, JsValue> {
        self.0.checkpoint_async().await.map_err(to_js_error)
    }

    /// Returns the spectrogram of one clip, recorded and predicted, and the posteriors of its symbols in the prediction.
    pub async fn picture(&self) -> Result<Ts<AlignmentSnapshot>, JsValue> {
        let picture = self.0.picture_async().await.map_err(to_js_error)?;
        to_js(&AlignmentSnapshot::new(picture, self.0.base().mel_config().frame_seconds()))
    }

    /// Returns the voice as it stands.
    pub fn preview(&self) -> Voice {
        Voice(self.0.preview())
    }

    /// Ends the training and returns the best voice so far.
    pub async fn finish(self) -> Result<Voice, JsValue> {
        self.0.finish_async().await.map(Voice).map_err(to_js_error)
    }
}

/// Waits for the gradients of the helpers. `None` where there are none, or one failed.
async fn received(helper_gradients: JsValue) -> Option<Vec<TransferBuffer>> {
    let shards = JsFuture::from(helper_gradients.dyn_into::<Promise>().ok()?).await.ok()?;
    let shards = shards.dyn_into::<Array>().ok()?;
    shards.iter().map(|gradients| gradients.dyn_into().ok().map(TransferBuffer)).collect()
}
