//! The engine of the worker: a base voice on a device, which makes voices and trainings.

use std::pin::Pin;

use burn::tensor::Device;
use burn_fused::{Operation, compute::PlantedFault};
use js_sys::Array;
use ownvoice::{
    audio::{Audio, level, wav},
    check::{
        precision_check::{CheckOptions, check},
        profile::{ProfileOptions, Work, profile},
        self_test,
    },
    clone::{
        self, EVALUATE_EVERY, FineTuner,
        clip::check_clip,
        options::{AdvancedCloneOptions, CloneOptions},
    },
    synth::parts,
    text::language::doubts,
    voice::{self, Base, BaseFiles},
};
use tsify::Ts;
use wasm_bindgen::prelude::*;

use crate::{
    convert::{from_js, to_js},
    error::{js_error, to_js_error},
    objects::{
        self, BaseParts, Clip, ClipReport, CountWork, DeviceMemory, Part, PrecisionFault, PrecisionOptions,
        PrecisionReport, PrecisionRow, Profile, SelfTest, TextWarning, TrainingOptions, clips_from_js,
    },
    progress::{OnProgress, continues},
    tuner::Tuner,
    voice::Voice,
};

/// A base voice on a device.
#[wasm_bindgen]
pub struct Engine {
    base: Base,
}

#[wasm_bindgen]
impl Engine {
    /// Prepares the device and loads the base onto it. `device` is `webgpu` or `cpu`; the caller chooses, and no other device takes its place.
    pub async fn load(parts: Ts<BaseParts>, device: &str) -> Result<Engine, JsValue> {
        let device = match device {
            "cpu" => Device::flex(),
            #[cfg(feature = "webgpu")]
            "webgpu" => webgpu().await?,
            _ => return Err(js_error("device-unavailable", &format!("device {device:?} is not built in"))),
        };
        Ok(Self { base: load(&from_js(&parts)?, &device)? })
    }

    /// Compares the device's results with the CPU's. Returns the largest relative deviation; fails with `device-wrong` where it is too large.
    #[wasm_bindgen(js_name = selfTest)]
    pub async fn self_test(&self, parts: Ts<BaseParts>) -> Result<Ts<SelfTest>, JsValue> {
        let on_cpu = load(&from_js(&parts)?, &Device::flex())?;
        let deviation = self_test::run(&self.base, &on_cpu).await.map_err(to_js_error)?;
        to_js(&SelfTest { deviation, tolerance: self_test::TOLERANCE })
    }

    /// Measures the level of a recording and, given a text, how well it aligns. Fails with the reason where the recording is unfit.
    #[wasm_bindgen(js_name = checkClip)]
    pub async fn check_clip(
        &self,
        samples: Vec<f32>,
        sample_rate_hz: u32,
        text: Option<String>,
    ) -> Result<Ts<ClipReport>, JsValue> {
        let audio = Audio { samples, sample_rate_hz };
        let (report, score) = match text {
            Some(text) => {
                let (report, score) =
                    check_clip(&self.base, &clone::clip::Clip { audio, text }).await.map_err(to_js_error)?;
                (report, Some(score))
            }
            None => (level::check_clip(&audio).map_err(to_js_error)?, None),
        };
        to_js(&ClipReport::new(report, score))
    }

    /// Splits a text into parts that are spoken one after the other, so that sound comes soon.
    pub fn parts(&self, text: &str) -> Result<Vec<Ts<Part>>, JsValue> {
        let parts = parts(text).map_err(to_js_error)?;
        let frame_seconds = self.base.mel_config().frame_seconds();
        parts.into_iter().map(|part| to_js(&Part::new(part, frame_seconds))).collect()
    }

    /// Returns the reasons why a text may not be spoken as it is meant: its language, or letters that are left out.
    pub fn warnings(&self, text: &str) -> Result<Vec<Ts<TextWarning>>, JsValue> {
        doubts(text).into_iter().map(|doubt| to_js(&doubt.into())).collect()
    }

    /// The hash that names the base in voice files.
    #[wasm_bindgen(getter)]
    pub fn hash(&self) -> String {
        self.base.hash().to_owned()
    }

    /// Returns the base itself as a voice.
    #[wasm_bindgen(js_name = baseVoice)]
    pub fn base_voice(&self) -> Voice {
        Voice(voice::Voice::unadapted(&self.base))
    }

    /// Opens a saved voice, from untrusted bytes.
    pub fn open(&self, bytes: &[u8]) -> Result<Voice, JsValue> {
        voice::Voice::open(&self.base, bytes).map(Voice).map_err(to_js_error)
    }

    /// Returns the graphics memory in use and held; nothing on the CPU.
    #[wasm_bindgen(js_name = deviceMemory)]
    pub fn device_memory(&self) -> Result<Option<Ts<DeviceMemory>>, JsValue> {
        let Some(usage) = self.base.device.memory_pool_usage() else { return Ok(None) };
        to_js(&DeviceMemory { used_bytes: usage.bytes_in_use, held_bytes: usage.bytes_reserved }).map(Some)
    }

    /// Compiles on the device what a training runs, ahead of the training.
    pub async fn prepare(&self) -> Result<(), JsValue> {
        FineTuner::warm_up_async(&self.base, &CloneOptions::default()).await.map_err(to_js_error)
    }

    /// Measures a training step on this device, module by module. `onProgress` is called after each module.
    pub async fn profile(
        &self,
        runs: u32,
        #[wasm_bindgen(js_name = countWork)] count_work: CountWork,
        #[wasm_bindgen(js_name = onProgress)] on_progress: OnProgress,
    ) -> Result<Ts<Profile>, JsValue> {
        let options = ProfileOptions { runs: runs as usize, ..ProfileOptions::default() };
        let count = || {
            let counted: Array = count_work.call0(&JsValue::NULL).ok()?.dyn_into().ok()?;
            Some(Work { dispatches: counted.get(0).as_f64()?, bytes: counted.get(1).as_f64()? })
        };
        let progress = async |done: usize, of: usize| continues(&on_progress, done, of).await;
        let found =
            profile(self.base.config(), &*self.base.vocoder, &self.base.device, &options, &count, progress)
                .await
                .map_err(to_js_error)?;
        to_js(&found.into())
    }

    /// Compares a training step on this device with the CPU, operation by operation. `onProgress` is called before each operation.
    pub async fn precision(
        &self,
        options: Ts<PrecisionOptions>,
        #[wasm_bindgen(js_name = onProgress)] on_progress: OnProgress,
    ) -> Result<Ts<PrecisionReport>, JsValue> {
        let PrecisionOptions { name, precision, cosine, faults } = from_js(&options)?;
        let precision = precision.unwrap_or_default().into();
        let options = CheckOptions { name, precision, cosine, faults: parse_faults(&faults)? };
        let mut progress = |done, of| -> Pin<Box<dyn Future<Output = bool>>> {
            let on_progress = on_progress.clone();
            Box::pin(async move { continues(&on_progress, done, of).await })
        };
        let found = check(&self.base, &options, &mut progress).await.map_err(to_js_error)?;
        let name = |operation: Option<Operation>| operation.map(|operation| operation.name().to_owned());
        let rows = found.comparison.below().map(|row| PrecisionRow {
            module: row.path.clone(),
            operation: name(row.operation),
            tensor: row.what.to_string(),
            whole: row.whole.map(Into::into),
            alone: row.alone.map(Into::into),
        });
        to_js(&PrecisionReport {
            passes: found.passes(),
            verdict: found.verdict(),
            fault: found.at_fault().map(|(module, operation)| PrecisionFault {
                module: module.to_owned(),
                operation: name(operation),
            }),
            tensors: found.comparison.rows.len(),
            rows: rows.collect(),
            text: found.text(),
        })
    }

    /// Aligns the clips and prepares their training.
    pub async fn tuner(&self, clips: Vec<Ts<Clip>>, options: Ts<TrainingOptions>) -> Result<Tuner, JsValue> {
        let given: TrainingOptions = from_js(&options)?;
        let default = CloneOptions::default();
        let options = CloneOptions {
            iterations: given.iterations.map_or(default.iterations, |iterations| iterations as usize),
            seed: given.seed.map_or(default.seed, u64::from),
            precision: given.precision.unwrap_or_default().into(),
            rehearsal: given.rehearsal.unwrap_or(default.rehearsal),
            advanced: AdvancedCloneOptions { faults: parse_faults(&given.faults)?, ..default.advanced },
            ..default
        };
        let clips = clips_from_js(&clips)?;
        FineTuner::start_async(&self.base, clips, options).await.map(Tuner).map_err(to_js_error)
    }

    /// Resumes the training of the same clips from a checkpoint.
    pub async fn resume(&self, clips: Vec<Ts<Clip>>, checkpoint: Vec<u8>) -> Result<Tuner, JsValue> {
        let clips = clips_from_js(&clips)?;
        FineTuner::resume_async(&self.base, &clips, &checkpoint).await.map(Tuner).map_err(to_js_error)
    }
}

fn parse_faults(faults: &[String]) -> Result<Vec<PlantedFault>, JsValue> {
    let parse = |fault: &String| fault.parse().map_err(|error: burn_fused::Error| to_js_error(error.into()));
    faults.iter().map(parse).collect()
}

/// Returns the number of iterations between two checkpoints of a training.
#[wasm_bindgen(js_name = checkpointIterations)]
pub fn checkpoint_iterations() -> u32 {
    EVALUATE_EVERY as u32
}

/// Decodes a WAV file of any format, mixed down to one channel.
#[wasm_bindgen(js_name = readWav)]
pub fn read_wav(bytes: &[u8]) -> Result<Ts<objects::Audio>, JsValue> {
    to_js(&wav::read(bytes).map_err(to_js_error)?.into())
}

/// Loads a base from files that `download.js` has compared with the hashes in the manifest.
fn load(parts: &BaseParts, device: &Device) -> Result<Base, JsValue> {
    let files = BaseFiles {
        manifest_json: &parts.manifest,
        weights: &parts.weights,
        lexicon: &parts.lexicon,
        aligner: &parts.aligner,
        vocoder: parts.vocoder.as_deref(),
    };
    Base::load_verified(files, device).map_err(to_js_error)
}

/// Opens burn's WebGPU device. A runtime that an earlier load has started is used again.
#[cfg(feature = "webgpu")]
async fn webgpu() -> Result<Device, JsValue> {
    // A submission holds 32 tasks: with more the first waits longer, with fewer each pays more.
    Device::wgpu_options()
        .tasks_max(32)
        .init_async()
        .await
        .map_err(|error| js_error("no-adapter", &error.to_string()))
}
