//! The training of a voice in the worker.

use std::rc::Rc;

use js_sys::{Array, Float32Array, Promise, Uint32Array};
use ownvoice::{
    train::{FineTuner, Picture},
    voice::Base,
};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::{
    convert::{fail, object},
    helper::Travelling,
    values::names,
    voice::Voice,
};

/// One fine-tuning, from its start to the voice that it makes.
#[wasm_bindgen]
pub struct Tuner {
    pub(crate) base: Rc<Base>,
    pub(crate) tuner: FineTuner,
}

#[wasm_bindgen]
impl Tuner {
    /// Iterations done.
    #[wasm_bindgen(getter)]
    pub fn iteration(&self) -> u32 {
        self.tuner.iteration() as u32
    }

    /// Whether the next iteration is one of the last, see `Helper`.
    #[wasm_bindgen(getter, js_name = inCooldown)]
    pub fn in_cooldown(&self) -> bool {
        self.tuner.in_cooldown()
    }

    /// What `Helper`s are made from. Fails where this training cannot be shared.
    #[wasm_bindgen(js_name = workerInit)]
    pub async fn worker_init(&self) -> Result<Vec<u8>, JsValue> {
        self.tuner.worker_init_async(&self.base).await.map_err(fail)
    }

    /// Puts the weights into each of `buffers`, for helpers; what these returned last lay there. A first one is made for each that is null.
    pub async fn weights(
        &self,
        #[wasm_bindgen(unchecked_param_type = "(Float32Array<ArrayBuffer> | null)[]")] buffers: Array,
    ) -> Result<(), JsValue> {
        let made = || Float32Array::new_with_length(self.tuner.flat_buffer_len() as u32);
        let mut travelling: Vec<Travelling> =
            buffers.iter().map(|buffer| Travelling(buffer.dyn_into().unwrap_or_else(|_| made()))).collect();
        self.tuner.put_weights_async(&mut travelling).await.map_err(fail)?;
        for (place, buffer) in travelling.into_iter().enumerate() {
            buffers.set(place as u32, buffer.0.into());
        }
        Ok(())
    }

    /// One iteration. `helped`, where there are helpers, promises what each of them returned for its share, or null where one failed.
    #[wasm_bindgen(unchecked_return_type = "Step")]
    pub async fn step(
        &mut self,
        helpers: u32,
        #[wasm_bindgen(unchecked_param_type = "Promise<Float32Array[] | null> | null")] helped: JsValue,
    ) -> Result<JsValue, JsValue> {
        let step = self
            .tuner
            .step_with_async(helpers as usize, async || gradients(helped).await)
            .await
            .map_err(fail)?;
        Ok(object([
            ("iteration", step.iteration.into()),
            ("iterations", step.iterations.into()),
            ("loss", step.loss.into()),
            ("seconds", step.seconds.into()),
            ("heldOutLoss", step.validation.map_or(JsValue::NULL, |metrics| metrics.loss.into())),
            ("overflows", (step.overflows as u32).into()),
            ("fault", step.fault.map_or(JsValue::NULL, Into::into)),
            ("stop", step.stop.map_or(JsValue::NULL, |reason| reason.name().into())),
        ]))
    }

    /// All that `resume` needs beside the clips.
    pub async fn checkpoint(&self) -> Result<Vec<u8>, JsValue> {
        self.tuner.checkpoint_async(&self.base).await.map_err(fail)
    }

    /// The spectrogram of one clip, recorded and predicted, and the posteriors of its symbols in the prediction.
    #[wasm_bindgen(unchecked_return_type = "Picture")]
    pub async fn picture(&self) -> Result<JsValue, JsValue> {
        let Picture { symbols, durations, recorded, predicted, alignment } =
            self.tuner.picture_async(&self.base).await.map_err(fail)?;
        Ok(object([
            ("mels", recorded.mels.into()),
            ("frameSeconds", self.base.mel_config().frame_seconds().into()),
            ("recorded", Float32Array::from(&recorded.data[..]).into()),
            ("predicted", Float32Array::from(&predicted.data[..]).into()),
            ("alignment", Float32Array::from(&alignment[..]).into()),
            ("durations", Uint32Array::from(&durations[..]).into()),
            ("symbols", names(&symbols).into()),
        ]))
    }

    /// The voice as it stands.
    pub fn preview(&self) -> Voice {
        Voice { base: self.base.clone(), voice: self.tuner.preview() }
    }

    /// The best voice so far.
    pub async fn finish(self) -> Result<Voice, JsValue> {
        let Self { base, tuner } = self;
        let voice = tuner.finish_async().await.map_err(fail)?;
        Ok(Voice { base, voice })
    }
}

/// What helpers promised.
async fn gradients(helped: JsValue) -> Option<Vec<Travelling>> {
    let found = JsFuture::from(helped.dyn_into::<Promise>().ok()?).await.ok()?;
    let found = found.dyn_into::<Array>().ok()?;
    found.iter().map(|gradients| gradients.dyn_into().ok().map(Travelling)).collect()
}
