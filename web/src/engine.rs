//! The engine of the worker: a base voice on a device, which makes voices and their trainings.
//!
//! A plain value crosses as a plain object, samples and mels as typed arrays; errors cross as `Error`s with a `code`.

use std::{pin::Pin, rc::Rc};

use burn::tensor::Device;
use js_sys::{Array, Float32Array, Function};
use ownvoice::audio::{Audio, level, wav};
use ownvoice::nn::{Operation, Precision, compute::PlantedFault};
use ownvoice::precision::Metrics;
use ownvoice::synth::parts;
use ownvoice::text::language::{Doubt, doubts};
use ownvoice::train::{
    self, CloneOptions, FineTuner,
    clip::check_clip,
    precision_check::{CheckOptions, check},
    profile::{ProfileOptions, Work, profile},
    self_test,
};
use ownvoice::voice::{self, Base, BaseFiles};
use wasm_bindgen::prelude::*;

use crate::{
    convert::{fail, js_error, object},
    tuner::Tuner,
    values::{BaseParts, Clip, ask, clips_of},
    voice::Voice,
};

/// A base voice on a device.
#[wasm_bindgen]
pub struct Engine {
    base: Rc<Base>,
}

#[wasm_bindgen]
impl Engine {
    /// Prepares the device and loads the base onto it. `device` is `webgpu` or `cpu`: which of them is the caller's choice, and never changed here.
    pub async fn load(files: BaseParts, device: &str) -> Result<Engine, JsValue> {
        let device = match device {
            "cpu" => Device::flex(),
            #[cfg(feature = "webgpu")]
            "webgpu" => webgpu().await?,
            _ => return Err(js_error("device-unavailable", &format!("device {device:?} is not built in"))),
        };
        Ok(Self { base: Rc::new(load(&files, &device)?) })
    }

    /// Whether the device computes what the CPU does: by how much it deviates at most, relative; the error `device-wrong` where it does not.
    #[wasm_bindgen(js_name = selfTest, unchecked_return_type = "SelfTest")]
    pub async fn self_test(&self, files: BaseParts) -> Result<JsValue, JsValue> {
        let deviation = self_test::run(&self.base, &load(&files, &Device::flex())?).await.map_err(fail)?;
        Ok(object([("deviation", deviation.into()), ("tolerance", self_test::TOLERANCE.into())]))
    }

    /// Level report and alignment score of a recording, or the error for which it is refused. Without a text, only the level is checked.
    #[wasm_bindgen(js_name = checkClip, unchecked_return_type = "ClipReport")]
    pub async fn check_clip(
        &self,
        samples: Vec<f32>,
        sample_rate_hz: u32,
        text: Option<String>,
    ) -> Result<JsValue, JsValue> {
        let (report, score) = match text {
            Some(text) => {
                let (report, score) =
                    check_clip(&self.base, &train::Clip { audio: Audio { samples, sample_rate_hz }, text })
                        .await
                        .map_err(fail)?;
                (report, JsValue::from(score))
            }
            None => (level::check_clip(&Audio { samples, sample_rate_hz }).map_err(fail)?, JsValue::NULL),
        };
        Ok(object([
            ("seconds", report.seconds.into()),
            ("speechSeconds", report.speech_seconds.into()),
            ("levelDb", report.level_db.into()),
            ("noiseDb", report.noise_db.into()),
            ("snrDb", report.snr_db.into()),
            ("clippedPercent", report.clipped_percent.into()),
            ("cutOff", report.cut_off.map_or(JsValue::NULL, |edge| edge.name().into())),
            ("score", score),
        ]))
    }

    /// What a text is spoken in, piece by piece, so that sound comes soon.
    #[wasm_bindgen(unchecked_return_type = "Part[]")]
    pub fn parts(&self, text: &str) -> Result<Array, JsValue> {
        let parts = parts(text, self.base.mel_config()).map_err(fail)?;
        Ok(parts
            .into_iter()
            .map(|part| object([("text", part.text.into()), ("pauseSeconds", part.pause_seconds.into())]))
            .collect())
    }

    /// Why a text may not be spoken as it is meant: it seems to be of another language, or holds letters that are left out.
    #[wasm_bindgen(unchecked_return_type = "Warning[]")]
    pub fn warnings(&self, text: &str) -> Array {
        let warning = |doubt: Doubt| {
            let (code, detail) = match &doubt {
                Doubt::Language(name) => ("text-language", (*name).into()),
                Doubt::Unspoken(letters) => ("text-unspoken", letters.into()),
            };
            object([("code", code.into()), ("message", doubt.to_string().into()), ("detail", detail)])
        };
        doubts(text).into_iter().map(warning).collect()
    }

    /// Names the base in voice files.
    #[wasm_bindgen(getter)]
    pub fn hash(&self) -> String {
        self.base.hash().to_owned()
    }

    /// The base itself as a voice.
    pub fn base_voice(&self) -> Voice {
        Voice { base: self.base.clone(), voice: voice::Voice::unadapted(&self.base) }
    }

    /// Opens a saved voice: untrusted bytes.
    pub fn open(&self, bytes: &[u8]) -> Result<Voice, JsValue> {
        let voice = voice::Voice::open(&self.base, bytes).map_err(fail)?;
        Ok(Voice { base: self.base.clone(), voice })
    }

    /// Bytes of graphics memory: used by values that are alive, and held in all, for the next ones. Null on the CPU.
    #[wasm_bindgen(js_name = deviceMemory, unchecked_return_type = "DeviceMemory | null")]
    pub fn device_memory(&self) -> JsValue {
        let Some(usage) = self.base.device.memory_pool_usage() else { return JsValue::NULL };
        object([
            ("usedBytes", (usage.bytes_in_use as f64).into()),
            ("heldBytes", (usage.bytes_reserved as f64).into()),
        ])
    }

    /// Lets the device compile what a training runs, while nobody waits for it.
    pub async fn prepare(&self) -> Result<(), JsValue> {
        FineTuner::warm_up_async(&self.base, &CloneOptions::default()).await.map_err(fail)
    }

    /// What a training step takes on this device, module by module. `work()` returns dispatches and bytes so far, or null;
    /// `goOn(done, of)` is called after each module, and false cancels.
    #[wasm_bindgen(unchecked_return_type = "Profile")]
    pub async fn profile(
        &self,
        runs: u32,
        #[wasm_bindgen(unchecked_param_type = "() => [number, number] | null")] work: Function,
        #[wasm_bindgen(js_name = goOn, unchecked_param_type = "(done: number, of: number) => Promise<boolean>")]
        go_on: Function,
    ) -> Result<JsValue, JsValue> {
        let options = ProfileOptions { runs: runs as usize, ..ProfileOptions::default() };
        let count = || {
            let counted: Array = work.call0(&JsValue::NULL).ok()?.dyn_into().ok()?;
            Some(Work { dispatches: counted.get(0).as_f64()?, bytes: counted.get(1).as_f64()? })
        };
        let go_on = async |done: usize, of: usize| ask(&go_on, done, of).await;
        let found =
            profile(self.base.config(), &*self.base.vocoder, &self.base.device, &options, &count, go_on)
                .await
                .map_err(fail)?;
        let optional = |value: Option<f64>| value.map_or(JsValue::NULL, JsValue::from);
        let rows: Array = found
            .rows
            .iter()
            .map(|row| {
                object([
                    ("module", row.module.into()),
                    ("forwardMs", row.forward_ms.into()),
                    ("backwardMs", optional(row.backward_ms)),
                    ("forwardDispatches", optional(row.forward_work.map(|work| work.dispatches))),
                    ("backwardDispatches", optional(row.backward_work.map(|work| work.dispatches))),
                    ("forwardBytes", optional(row.forward_work.map(|work| work.bytes))),
                    ("backwardBytes", optional(row.backward_work.map(|work| work.bytes))),
                ])
            })
            .collect();
        Ok(object([
            ("rows", rows.into()),
            ("deviceBytes", optional(found.device_bytes.map(|bytes| bytes as f64))),
        ]))
    }

    /// Compares a step of training on this device with the CPU, operation by operation. `name` is the device's; `plant` is for drills, see
    /// [`ownvoice::nn::compute::PlantedFault`]; `goOn(done, of)` is called before each operation, and false cancels.
    #[wasm_bindgen(unchecked_return_type = "PrecisionReport")]
    pub async fn precision(
        &self,
        name: String,
        precision: Option<String>,
        cosine: f64,
        plant: Vec<String>,
        #[wasm_bindgen(js_name = goOn, unchecked_param_type = "(done: number, of: number) => Promise<boolean>")]
        go_on: Function,
    ) -> Result<JsValue, JsValue> {
        let options =
            CheckOptions { name, precision: precision_of(precision)?, cosine, faults: faults(&plant)? };
        let mut go_on = |done, of| -> Pin<Box<dyn Future<Output = bool>>> {
            let go_on = go_on.clone();
            Box::pin(async move { ask(&go_on, done, of).await })
        };
        let found = check(&self.base, &options, &mut go_on).await.map_err(fail)?;
        let metrics = |metrics: Option<Metrics>| {
            metrics.map_or(JsValue::NULL, |metrics| {
                object([
                    ("cosine", metrics.cosine.into()),
                    ("relativeError", metrics.relative_error.into()),
                    ("sqnrDb", metrics.sqnr_db.into()),
                    ("largestDifference", metrics.largest_difference.into()),
                ])
            })
        };
        let operation = |operation: Option<Operation>| {
            operation.map_or(JsValue::NULL, |operation| operation.name().into())
        };
        let rows: Array = found
            .comparison
            .below()
            .map(|row| {
                object([
                    ("module", row.path.as_str().into()),
                    ("operation", operation(row.operation)),
                    ("tensor", row.what.to_string().into()),
                    ("whole", metrics(row.whole)),
                    ("alone", metrics(row.alone)),
                ])
            })
            .collect();
        let fault = found.at_fault().map_or(JsValue::NULL, |(module, of)| {
            object([("module", module.into()), ("operation", operation(of))])
        });
        Ok(object([
            ("passes", found.passes().into()),
            ("verdict", found.verdict().into()),
            ("fault", fault),
            ("tensors", found.comparison.rows.len().into()),
            ("rows", rows.into()),
            ("text", found.text().into()),
        ]))
    }

    /// Aligns the clips and prepares their training. `precision` is `f32` or `mixed`; `plant` is for drills, see [`ownvoice::nn::compute::PlantedFault`].
    pub async fn tuner(
        &self,
        clips: Vec<Clip>,
        iterations: Option<u32>,
        seed: Option<u32>,
        precision: Option<String>,
        rehearsal: Option<f32>,
        plant: Vec<String>,
    ) -> Result<Tuner, JsValue> {
        let mut options = CloneOptions { faults: faults(&plant)?, ..CloneOptions::default() };
        if let Some(iterations) = iterations {
            options.iterations = iterations as usize;
        }
        if let Some(seed) = seed {
            options.seed = seed.into();
        }
        if let Some(rehearsal) = rehearsal {
            options.rehearsal = rehearsal;
        }
        options.precision = precision_of(precision)?;
        let tuner = FineTuner::start_async(&self.base, &clips_of(&clips), options).await.map_err(fail)?;
        Ok(Tuner { base: self.base.clone(), tuner })
    }

    /// Goes on from a checkpoint of the same clips.
    pub async fn resume(&self, clips: Vec<Clip>, checkpoint: Vec<u8>) -> Result<Tuner, JsValue> {
        let tuner =
            FineTuner::resume_async(&self.base, &clips_of(&clips), &checkpoint).await.map_err(fail)?;
        Ok(Tuner { base: self.base.clone(), tuner })
    }
}

fn faults(plant: &[String]) -> Result<Vec<PlantedFault>, JsValue> {
    plant.iter().map(|fault| fault.parse().map_err(fail)).collect()
}

/// Single precision where none is named.
fn precision_of(name: Option<String>) -> Result<Precision, JsValue> {
    let known = name.map_or(Some(Precision::F32), |name| Precision::by_name(&name));
    known.ok_or_else(|| js_error("option-invalid", "precision is \"f32\" or \"mixed\""))
}

/// Reads a WAV file of any format, mixed down to one channel.
#[wasm_bindgen(unchecked_return_type = "Audio")]
pub fn read_wav(bytes: &[u8]) -> Result<JsValue, JsValue> {
    let audio = wav::read(bytes).map_err(fail)?;
    Ok(object([
        ("samples", Float32Array::from(&audio.samples[..]).into()),
        ("sampleRate", audio.sample_rate_hz.into()),
    ]))
}

/// The base of files that `download.js` has compared with the hashes in the manifest.
fn load(files: &BaseParts, device: &Device) -> Result<Base, JsValue> {
    let (manifest, weights, lexicon, aligner) =
        (files.manifest(), files.weights().to_vec(), files.lexicon().to_vec(), files.aligner().to_vec());
    let vocoder = files.vocoder().map(|bytes| bytes.to_vec());
    let files = BaseFiles {
        manifest_json: &manifest,
        weights: &weights,
        lexicon: &lexicon,
        aligner: &aligner,
        vocoder: vocoder.as_deref(),
    };
    Base::load_verified(files, device).map_err(fail)
}

/// burn's WebGPU device. A runtime that an earlier load has started is taken up again.
#[cfg(feature = "webgpu")]
async fn webgpu() -> Result<Device, JsValue> {
    // 32 tasks a submission: more of them delay the first, fewer pay for each.
    Device::wgpu_options()
        .tasks_max(32)
        .init_async()
        .await
        .map_err(|error| js_error("no-adapter", &error.to_string()))
}
