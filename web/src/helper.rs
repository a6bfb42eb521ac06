//! The data-parallel helper: it computes the gradients of one shard of each iteration, for a training that another worker leads.

use burn::tensor::Device;
use burn_fused::ranks::shard::Shard;
use js_sys::Float32Array;
use ownvoice::clone::helper::{self, FlatBuffer};
use wasm_bindgen::prelude::*;

use crate::error::to_js_error;

/// A copy of a training's model on the CPU.
#[wasm_bindgen]
pub struct Helper {
    helper: helper::Helper,
}

#[wasm_bindgen]
impl Helper {
    /// Builds the model. `workerInit` is what `Tuner.workerInit` returned.
    #[wasm_bindgen(constructor)]
    pub fn open(#[wasm_bindgen(js_name = workerInit)] worker_init: &[u8]) -> Result<Helper, JsValue> {
        Ok(Self { helper: helper::Helper::open(worker_init, &Device::flex()).map_err(to_js_error)? })
    }

    /// Reads the tuner's weights from `buffer` and overwrites them with the gradients of shard `rank` of `worldSize`, followed by the loss.
    pub async fn gradients(
        &mut self,
        iteration: u32,
        #[wasm_bindgen(js_name = inCooldown)] in_cooldown: bool,
        buffer: Float32Array,
        rank: u32,
        #[wasm_bindgen(js_name = worldSize)] world_size: u32,
    ) -> Result<(), JsValue> {
        let shard = Shard { rank: rank as usize, world_size: world_size as usize };
        self.helper
            .gradients_async(iteration as usize, in_cooldown, &mut TransferBuffer(buffer), shard)
            .await
            .map_err(to_js_error)
    }
}

/// An array that is transferred from worker to worker, so that nothing is copied.
pub struct TransferBuffer(pub Float32Array);

impl FlatBuffer for TransferBuffer {
    fn size(&self) -> usize {
        self.0.length() as usize
    }

    fn get(&self, at: usize, count: usize) -> Vec<f32> {
        self.0.subarray(at as u32, (at + count) as u32).to_vec()
    }

    fn put(&mut self, at: usize, values: &[f32]) {
        self.0.subarray(at as u32, (at + values.len()) as u32).copy_from(values);
    }
}
