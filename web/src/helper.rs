//! What a helping worker runs: a share of each iteration of a training that another worker leads.

use burn::tensor::Device;
use js_sys::Float32Array;
use ownvoice::train::{self, Exchange, Share};
use wasm_bindgen::prelude::*;

use crate::convert::fail;

#[wasm_bindgen]
pub struct Helper {
    helper: train::Helper,
}

#[wasm_bindgen]
impl Helper {
    /// On the CPU. `kit` is the tuner's.
    #[wasm_bindgen(constructor)]
    pub fn open(kit: &[u8]) -> Result<Helper, JsValue> {
        Ok(Self { helper: train::Helper::open(kit, &Device::flex()).map_err(fail)? })
    }

    /// Takes the tuner's weights from `exchange` and puts the gradients of the share `number` of `of` shares there, and last the loss.
    pub async fn gradients(&mut self, iteration: u32, settles: bool, exchange: Float32Array, number: u32, of: u32) -> Result<(), JsValue> {
        let share = Share { number: number as usize, of: of as usize };
        self.helper.gradients_async(iteration as usize, settles, &mut Travelling(exchange), share).await.map_err(fail)
    }
}

/// An array that goes from worker to worker.
pub struct Travelling(pub Float32Array);

impl Exchange for Travelling {
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
