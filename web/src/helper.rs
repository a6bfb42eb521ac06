//! What a helping worker runs: a share of each iteration of a training that another worker leads.

use burn::tensor::Device;
use js_sys::Float32Array;
use ownvoice::train::{self, FlatBuffer, Shard};
use wasm_bindgen::prelude::*;

use crate::convert::fail;

#[wasm_bindgen]
pub struct Helper {
    helper: train::Helper,
}

#[wasm_bindgen]
impl Helper {
    /// On the CPU. `worker_init` is the tuner's.
    #[wasm_bindgen(constructor)]
    pub fn open(worker_init: &[u8]) -> Result<Helper, JsValue> {
        Ok(Self { helper: train::Helper::open(worker_init, &Device::flex()).map_err(fail)? })
    }

    /// Takes the tuner's weights from `buffer` and puts the gradients of shard `rank` of `world_size` there, and last the loss.
    pub async fn gradients(
        &mut self,
        iteration: u32,
        in_cooldown: bool,
        buffer: Float32Array,
        rank: u32,
        world_size: u32,
    ) -> Result<(), JsValue> {
        let shard = Shard { rank: rank as usize, world_size: world_size as usize };
        self.helper
            .gradients_async(iteration as usize, in_cooldown, &mut Travelling(buffer), shard)
            .await
            .map_err(fail)
    }
}

/// An array that goes from worker to worker.
pub struct Travelling(pub Float32Array);

impl FlatBuffer for Travelling {
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
