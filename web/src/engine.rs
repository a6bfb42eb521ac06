//! The engine of the worker: a base voice on a device, voices, their training and their speech.
//!
//! A plain value crosses as a plain object, samples and mels as typed arrays; errors cross as `Error`s with a `code`.

use std::{pin::Pin, rc::Rc};

use burn::tensor::Device;
use js_sys::{Array, Float32Array, Function, Promise, Uint8Array, Uint32Array};
use ownvoice::audio::{Audio, level, wav};
use ownvoice::evaluate::{Anchors, anchors};
use ownvoice::nn::{Operation, Precision, compute::Fault};
use ownvoice::precision::Metrics;
use ownvoice::synth::{SpeakOptions, Speech, parts, speak_async};
use ownvoice::text::{
    language::{Doubt, doubts},
    symbols,
};
use ownvoice::train::{
    self, CloneOptions, FineTuner, Picture,
    clip::check_clip,
    precision_check::{CheckOptions, check},
    profile::{ProfileOptions, Work, profile},
    self_test,
};
use ownvoice::voice::{self, Base, BaseFiles, Consent};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::{
    convert::{fail, js_error, object},
    helper::Travelling,
};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
export interface BaseParts { manifest: string; weights: Uint8Array; lexicon: Uint8Array; aligner: Uint8Array; vocoder?: Uint8Array }
export interface Clip { samples: Float32Array; sampleRate: number; text: string }
export interface Audio { samples: Float32Array<ArrayBuffer>; sampleRate: number }
export interface ClipReport { seconds: number; speechSeconds: number; levelDb: number; noiseDb: number; snrDb: number; clippedPercent: number; cutOff: "start" | "end" | null; score: number | null }
export interface SelfTest { deviation: number; tolerance: number }
export interface Step { iteration: number; iterations: number; loss: number; seconds: number; heldOutLoss: number | null; overflows: number; fault: string | null; stop: "iterations" | "held-out" | null }
export interface Picture {
  mels: number; frameSeconds: number; recorded: Float32Array<ArrayBuffer>; predicted: Float32Array<ArrayBuffer>;
  alignment: Float32Array<ArrayBuffer>; durations: Uint32Array<ArrayBuffer>; symbols: string[];
}
export interface Delivery { speed?: number; pitch?: number; liveliness?: number; seed?: number }
export interface Part { text: string; pauseSeconds: number }
export interface Similarity { base: number; clone: number; sameSpeaker: number }
export interface ProfileRow { module: string; forwardMs: number; backwardMs: number | null; forwardDispatches: number | null; backwardDispatches: number | null; forwardBytes: number | null; backwardBytes: number | null }
export interface Profile { rows: ProfileRow[]; deviceBytes: number | null }
export interface PrecisionMetrics { cosine: number; relativeError: number; sqnrDb: number; largestDifference: number }
export interface PrecisionRow { module: string; operation: string | null; tensor: string; whole: PrecisionMetrics | null; alone: PrecisionMetrics | null }
export interface PrecisionReport { passes: boolean; verdict: string; fault: { module: string; operation: string | null } | null; tensors: number; rows: PrecisionRow[]; text: string }
export interface DeviceMemory { usedBytes: number; heldBytes: number }
export interface VoiceInfo { adapted: boolean; hasPitch: boolean; iterations: number; seconds: number; consent: { text: string; recordingSha256: string | null } | null }
export interface Speech {
  samples: Float32Array<ArrayBuffer>; sampleRate: number;
  mel: { mels: number; frameSeconds: number; data: Float32Array<ArrayBuffer> };
  durations: Uint32Array<ArrayBuffer>; symbols: string[]; stop: "durations" | "max-frames";
}
export interface Warning { code: "text-language" | "text-unspoken"; message: string; detail: string }
"#;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(typescript_type = "Delivery")]
    pub type Delivery;
    #[wasm_bindgen(method, getter)]
    fn speed(this: &Delivery) -> Option<f32>;
    #[wasm_bindgen(method, getter)]
    fn pitch(this: &Delivery) -> Option<f32>;
    #[wasm_bindgen(method, getter)]
    fn liveliness(this: &Delivery) -> Option<f32>;
    #[wasm_bindgen(method, getter)]
    fn seed(this: &Delivery) -> Option<u32>;

    #[wasm_bindgen(typescript_type = "BaseParts")]
    pub type BaseParts;
    #[wasm_bindgen(method, getter)]
    fn manifest(this: &BaseParts) -> String;
    #[wasm_bindgen(method, getter)]
    fn weights(this: &BaseParts) -> Uint8Array;
    #[wasm_bindgen(method, getter)]
    fn lexicon(this: &BaseParts) -> Uint8Array;
    #[wasm_bindgen(method, getter)]
    fn aligner(this: &BaseParts) -> Uint8Array;
    #[wasm_bindgen(method, getter)]
    fn vocoder(this: &BaseParts) -> Option<Uint8Array>;

    #[wasm_bindgen(typescript_type = "Clip")]
    pub type Clip;
    #[wasm_bindgen(method, getter)]
    fn samples(this: &Clip) -> Float32Array;
    #[wasm_bindgen(method, getter, js_name = sampleRate)]
    fn sample_rate(this: &Clip) -> u32;
    #[wasm_bindgen(method, getter)]
    fn text(this: &Clip) -> String;
}

/// A base voice on a device.
#[wasm_bindgen]
pub struct Engine {
    base: Rc<Base>,
}

/// Someone's voice; it keeps the base alive that it speaks through.
#[wasm_bindgen]
pub struct Voice {
    base: Rc<Base>,
    voice: voice::Voice,
}

/// One fine-tuning, from its start to the voice that it makes.
#[wasm_bindgen]
pub struct Tuner {
    base: Rc<Base>,
    tuner: FineTuner,
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
    /// [`ownvoice::nn::compute::Fault`]; `goOn(done, of)` is called before each operation, and false cancels.
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

    /// Aligns the clips and prepares their training. `precision` is `f32` or `mixed`; `plant` is for drills, see [`ownvoice::nn::compute::Fault`].
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

#[wasm_bindgen]
impl Voice {
    /// How it was made.
    #[wasm_bindgen(unchecked_return_type = "VoiceInfo")]
    pub fn info(&self) -> JsValue {
        let info = self.voice.info();
        let consent = info.consent.as_ref().map_or(JsValue::NULL, |Consent { text, recording_sha256 }| {
            object([
                ("text", text.into()),
                ("recordingSha256", recording_sha256.as_ref().map_or(JsValue::NULL, JsValue::from)),
            ])
        });
        let (iterations, seconds) = (info.iterations.into(), info.seconds.into());
        let has_pitch = self.base.config().pitch.into();
        object([
            ("adapted", info.adapted.into()),
            ("hasPitch", has_pitch),
            ("iterations", iterations),
            ("seconds", seconds),
            ("consent", consent),
        ])
    }

    /// Stores the speaker's consent in the voice: the statement, and the hash of its recording.
    #[wasm_bindgen(js_name = setConsent)]
    pub fn set_consent(&mut self, text: String, recording_sha256: Option<String>) -> Result<(), JsValue> {
        self.voice.set_consent(Consent { text, recording_sha256 }).map_err(fail)
    }

    /// Speaks a text, sentence by sentence. `goOn(done, of)` is awaited before each, during which the worker takes messages; false cancels.
    #[wasm_bindgen(unchecked_return_type = "Speech")]
    pub async fn say(
        &self,
        text: &str,
        delivery: &Delivery,
        #[wasm_bindgen(js_name = goOn, unchecked_param_type = "(done: number, of: number) => Promise<boolean>")]
        go_on: Function,
    ) -> Result<JsValue, JsValue> {
        let usual = SpeakOptions::default();
        let options = SpeakOptions {
            speed: delivery.speed().unwrap_or(usual.speed),
            pitch: delivery.pitch().unwrap_or(usual.pitch),
            liveliness: delivery.liveliness().unwrap_or(usual.liveliness),
            seed: delivery.seed().map_or(usual.seed, u64::from),
            ..usual
        };
        let progress = async |done: usize, of: usize| ask(&go_on, done, of).await;
        let speech = speak_async(&self.base, &self.voice, text, &options, &*self.base.vocoder, progress)
            .await
            .map_err(fail)?;
        Ok(spoken(speech, self.base.mel_config().frame_seconds()))
    }

    /// How near it comes to the speaker of these recordings, between its anchors. `goOn(done, of)` is awaited before each sentence that is spoken for it.
    #[wasm_bindgen(unchecked_return_type = "Similarity")]
    pub async fn similarity(
        &self,
        clips: Vec<Clip>,
        #[wasm_bindgen(js_name = goOn, unchecked_param_type = "(done: number, of: number) => Promise<boolean>")]
        go_on: Function,
    ) -> Result<JsValue, JsValue> {
        let progress = async |done: usize, of: usize| ask(&go_on, done, of).await;
        let Anchors { base, clone, same_speaker } =
            anchors(&self.base, &self.voice, &clips_of(&clips), progress).await.map_err(fail)?;
        Ok(object([("base", base.into()), ("clone", clone.into()), ("sameSpeaker", same_speaker.into())]))
    }

    /// The voice file: safetensors, the difference from the base.
    pub async fn save(&self) -> Result<Vec<u8>, JsValue> {
        self.voice.save_async(&self.base).await.map_err(fail)
    }
}

fn faults(plant: &[String]) -> Result<Vec<Fault>, JsValue> {
    plant.iter().map(|fault| fault.parse().map_err(fail)).collect()
}

/// Single precision where none is named.
fn precision_of(name: Option<String>) -> Result<Precision, JsValue> {
    let known = name.map_or(Some(Precision::F32), |name| Precision::by_name(&name));
    known.ok_or_else(|| js_error("option-invalid", "precision is \"f32\" or \"mixed\""))
}

/// What helpers promised.
async fn gradients(helped: JsValue) -> Option<Vec<Travelling>> {
    let found = JsFuture::from(helped.dyn_into::<Promise>().ok()?).await.ok()?;
    let found = found.dyn_into::<Array>().ok()?;
    found.iter().map(|gradients| gradients.dyn_into().ok().map(Travelling)).collect()
}

/// Whether to go on: false where the caller throws.
async fn ask(go_on: &Function, done: usize, of: usize) -> bool {
    match go_on.call2(&JsValue::NULL, &done.into(), &of.into()) {
        Ok(asked) => {
            JsFuture::from(asked.unchecked_into::<Promise>()).await.is_ok_and(|answer| answer.is_truthy())
        }
        Err(_) => false,
    }
}

fn names(spelt: &[symbols::Symbol]) -> Array {
    spelt.iter().map(|&symbol| JsValue::from(symbols::name(symbol))).collect()
}

fn spoken(speech: Speech, frame_seconds: f32) -> JsValue {
    let mel = object([
        ("mels", speech.mel.mels.into()),
        ("frameSeconds", frame_seconds.into()),
        ("data", Float32Array::from(&speech.mel.data[..]).into()),
    ]);
    object([
        ("samples", Float32Array::from(&speech.samples[..]).into()),
        ("sampleRate", speech.sample_rate_hz.into()),
        ("mel", mel),
        ("durations", Uint32Array::from(&speech.durations[..]).into()),
        ("symbols", names(&speech.symbols).into()),
        ("stop", speech.stop.name().into()),
    ])
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

fn clips_of(clips: &[Clip]) -> Vec<train::Clip> {
    clips
        .iter()
        .map(|clip| train::Clip {
            audio: Audio { samples: clip.samples().to_vec(), sample_rate_hz: clip.sample_rate() },
            text: clip.text(),
        })
        .collect()
}

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
    Base::load(files, device).map_err(fail)
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
