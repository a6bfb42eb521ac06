//! The boundary between nets that name pictures and JavaScript: it converts arguments, calls the crate, and converts results.
//!
//! It is a separate WebAssembly module, so that users of text-to-speech do not download it.

#[path = "../../src/constructors.rs"]
mod constructors;
#[path = "../../src/convert.rs"]
#[allow(dead_code, reason = "the voice's module uses all of it")]
mod convert;
#[path = "../../src/error.rs"]
mod error;
#[path = "../../src/progress.rs"]
mod progress;

use ownvoice::{
    Device,
    nets::{
        Metrics, NetConfig, NetKind, NetTuneOptions, NetTuner as Tuner, NetWeights, Picture, Pictures,
        TunedNet as Tuned,
    },
};
use serde::Serialize;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

use convert::{float32_array, to_js};
use error::to_js_error;
use progress::{OnProgress, continues};

/// The side of a picture in pixels. With 32 n + 1 pixels, both sides have the same padding, which the converted weights assume.
const SIDE: usize = 129;

/// Initialises the module when it is instantiated.
#[wasm_bindgen(start)]
fn start() {
    constructors::run();
    console_error_panic_hook::set_once();
}

/// The metrics of a net on the held-out pictures.
#[derive(Serialize, Tsify)]
pub struct NetMetrics {
    pub loss: f32,
    /// The share of right names, from 0 to 1.
    pub accuracy: f32,
}

impl From<Metrics> for NetMetrics {
    fn from(metrics: Metrics) -> Self {
        let accuracy = metrics.accuracy.expect("pictures have classes");
        Self { loss: metrics.loss, accuracy }
    }
}

/// The state of a tuning after one iteration.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
#[tsify(missing_as_null)]
pub struct NetStep {
    pub iteration: usize,
    pub iterations: usize,
    pub loss: f32,
    pub held_out: Option<NetMetrics>,
    pub stop: Option<String>,
}

/// The figures of a tuning.
#[derive(Serialize, Tsify)]
pub struct NetTuning {
    pub names: Vec<String>,
    pub iterations: usize,
    pub pictures: usize,
    pub before: NetMetrics,
    pub after: NetMetrics,
}

/// The class of a picture.
#[derive(Serialize, Tsify)]
pub struct NetNamed {
    /// The index of the likeliest name.
    pub class: usize,
    pub confidence: f32,
    #[serde(with = "float32_array")]
    #[tsify(type = "Float32Array<ArrayBuffer>")]
    pub probabilities: Vec<f32>,
}

/// Pictures with their classes.
#[wasm_bindgen]
pub struct NetLessons {
    config: NetConfig,
    pictures: Pictures,
}

#[wasm_bindgen]
impl NetLessons {
    /// Adds a picture of [`NetBase::picture`] to a class, which is the index of its name.
    pub fn add(&mut self, class: u32, bytes: &[u8]) -> Result<(), JsValue> {
        let picture = Picture::from_bytes(bytes, &self.config).map_err(to_js_error)?;
        self.pictures.items.push((picture, class as usize));
        Ok(())
    }
}

/// `MobileNetV1` with the weights that every tuning starts from.
#[wasm_bindgen]
pub struct NetBase {
    weights: NetWeights,
    device: Device,
}

#[wasm_bindgen]
impl NetBase {
    /// Loads the weights for the CPU.
    #[wasm_bindgen(constructor)]
    pub fn new(weights: &[u8]) -> Result<NetBase, JsValue> {
        let weights = NetWeights::from_safetensors(weights).map_err(to_js_error)?;
        Ok(Self { weights, device: Device::flex() })
    }

    /// Returns the side of the square that a net sees, in pixels.
    #[wasm_bindgen(getter)]
    pub fn side(&self) -> u32 {
        SIDE as u32
    }

    /// Reduces a picture to the input of a net.
    pub fn picture(&self, width: u32, height: u32, rgba: &[u8]) -> Result<Vec<u8>, JsValue> {
        let picture = Picture::from_rgba(width as usize, height as usize, rgba, &config(1));
        Ok(picture.map_err(to_js_error)?.bytes().to_vec())
    }

    /// Begins a collection of pictures to learn from.
    pub fn lessons(&self, names: Vec<String>) -> NetLessons {
        let config = config(names.len());
        NetLessons { config, pictures: Pictures { names, items: Vec::new() } }
    }

    /// Starts a tuning. `on_progress` is called with the number of pictures that were analysed, and the number of all.
    pub async fn tuner(
        &self,
        lessons: NetLessons,
        #[wasm_bindgen(js_name = onProgress)] on_progress: OnProgress,
    ) -> Result<NetTuner, JsValue> {
        let NetLessons { config, pictures } = lessons;
        let progress = async |done: usize, of: usize| continues(&on_progress, done, of).await;
        let weights = Some(self.weights.clone());
        let options = NetTuneOptions::quick();
        let tuner = Tuner::start(config, weights, pictures, options, &self.device, progress).await;
        Ok(NetTuner { tuner: tuner.map_err(to_js_error)? })
    }

    /// Decodes a file of [`TunedNet::save`]. The bytes are untrusted.
    pub fn open(&self, bytes: &[u8]) -> Result<TunedNet, JsValue> {
        Ok(TunedNet { tuned: Tuned::open(bytes, &self.device).map_err(to_js_error)? })
    }
}

fn config(classes: usize) -> NetConfig {
    let half = [0.5; 3];
    NetConfig { side: SIDE, mean: half, deviation: half, ..NetConfig::of(NetKind::MobileNetV1, classes) }
}

/// A tuning in progress.
#[wasm_bindgen]
pub struct NetTuner {
    tuner: Tuner,
}

#[wasm_bindgen]
impl NetTuner {
    /// Returns the metrics of the held-out pictures before the first iteration.
    #[wasm_bindgen(getter)]
    pub fn before(&self) -> Result<Ts<NetMetrics>, JsValue> {
        to_js(&NetMetrics::from(self.tuner.held_out_before()))
    }

    /// Performs one iteration.
    pub async fn step(&mut self) -> Result<Ts<NetStep>, JsValue> {
        let step = self.tuner.step().await.map_err(to_js_error)?;
        to_js(&NetStep {
            iteration: step.iteration,
            iterations: step.iterations,
            loss: step.loss,
            held_out: step.held_out.map(NetMetrics::from),
            stop: step.stop.map(|reason| reason.name().to_owned()),
        })
    }

    /// Continues from a checkpoint of a tuning on the same pictures.
    pub fn restore(&mut self, checkpoint: &[u8]) -> Result<(), JsValue> {
        self.tuner.restore(checkpoint).map_err(to_js_error)
    }

    /// Encodes the state, from which `restore` continues.
    pub async fn checkpoint(&self) -> Result<Vec<u8>, JsValue> {
        self.tuner.checkpoint().await.map_err(to_js_error)
    }

    /// Ends the tuning and returns the net that named the held-out pictures best.
    pub async fn finish(self) -> Result<TunedNet, JsValue> {
        Ok(TunedNet { tuned: self.tuner.finish().await.map_err(to_js_error)? })
    }
}

/// A net that was tuned to name pictures.
#[wasm_bindgen]
pub struct TunedNet {
    tuned: Tuned,
}

#[wasm_bindgen]
impl TunedNet {
    /// Encodes the file: safetensors with `PyTorch`'s names.
    pub async fn save(&self) -> Result<Vec<u8>, JsValue> {
        self.tuned.save().await.map_err(to_js_error)
    }

    /// Returns names and figures of the tuning.
    #[wasm_bindgen(getter)]
    pub fn tuning(&self) -> Result<Ts<NetTuning>, JsValue> {
        let figures = self.tuned.figures();
        let [before, after] = figures.held_out.map(NetMetrics::from);
        let names = self.tuned.names().to_vec();
        to_js(&NetTuning { names, iterations: figures.iterations, pictures: figures.pictures, before, after })
    }

    /// Names what a picture shows, as an RGBA image of any size.
    pub async fn name(&self, width: u32, height: u32, rgba: &[u8]) -> Result<Ts<NetNamed>, JsValue> {
        let picture = Picture::from_rgba(width as usize, height as usize, rgba, self.tuned.config());
        let pictures = [picture.map_err(to_js_error)?];
        let mut named = self.tuned.name(&pictures).await.map_err(to_js_error)?;
        let named = named.remove(0);
        to_js(&NetNamed {
            class: named.class,
            confidence: named.confidence,
            probabilities: named.probabilities,
        })
    }
}
