//! The engine of the worker: a base voice on a device, voices, their training and their speech.
//!
//! A plain value crosses as a plain object, samples and mels as typed arrays; errors cross as `Error`s with a `code`.

use std::rc::Rc;

use burn::tensor::Device;
use js_sys::{Array, Float32Array, Function, Promise, Uint8Array, Uint32Array};
use ownvoice::audio::{Audio, level, wav};
use ownvoice::synth::{SpeakOptions, Speech, speak_async};
use ownvoice::text::symbols;
use ownvoice::train::{self, CloneOptions, FineTuner, judge::judge, self_test};
use ownvoice::voice::{self, Base, BaseFiles, Consent};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::convert::{fail, js_error, object};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
export interface BaseParts { manifest: string; weights: Uint8Array; lexicon: Uint8Array; aligner: Uint8Array; vocoder?: Uint8Array }
export interface Clip { samples: Float32Array; sampleRate: number; text: string }
export interface Audio { samples: Float32Array<ArrayBuffer>; sampleRate: number }
export interface ClipReport { seconds: number; speechSeconds: number; levelDb: number; noiseDb: number; snrDb: number; clippedPercent: number; score: number | null }
export interface SelfTest { deviation: number; tolerance: number }
export interface Step { iteration: number; iterations: number; loss: number; seconds: number; heldOutLoss: number | null; stop: string | null }
export interface VoiceInfo { adapted: boolean; iterations: number; seconds: number; consent: { text: string; recordingSha256: string | null } | null }
export interface Speech {
  samples: Float32Array<ArrayBuffer>; sampleRate: number;
  mel: { mels: number; data: Float32Array<ArrayBuffer> };
  durations: Uint32Array<ArrayBuffer>; symbols: string[]; stop: string;
}
"#;

#[wasm_bindgen]
extern "C" {
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

    /// What a recording holds and how well it says its text, or why it cannot be learnt from. Without a text, only the sound is judged.
    #[wasm_bindgen(js_name = checkClip, unchecked_return_type = "ClipReport")]
    pub async fn check_clip(&self, samples: Vec<f32>, sample_rate_hz: u32, text: Option<String>) -> Result<JsValue, JsValue> {
        let (report, score) = match text {
            Some(text) => {
                let (report, score) = judge(&self.base, &train::Clip { samples, sample_rate_hz, text }).await.map_err(fail)?;
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
            ("score", score),
        ]))
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

    /// Aligns the clips and prepares their training.
    pub async fn tuner(&self, clips: Vec<Clip>, iterations: Option<u32>, seed: Option<u32>) -> Result<Tuner, JsValue> {
        let mut options = CloneOptions::default();
        if let Some(iterations) = iterations {
            options.iterations = iterations as usize;
        }
        if let Some(seed) = seed {
            options.seed = seed.into();
        }
        let tuner = FineTuner::start_async(&self.base, &clips_of(&clips), options).await.map_err(fail)?;
        Ok(Tuner { base: self.base.clone(), tuner })
    }

    /// Goes on from a checkpoint of the same clips.
    pub async fn resume(&self, clips: Vec<Clip>, checkpoint: Vec<u8>) -> Result<Tuner, JsValue> {
        let tuner = FineTuner::resume_async(&self.base, &clips_of(&clips), &checkpoint).await.map_err(fail)?;
        Ok(Tuner { base: self.base.clone(), tuner })
    }
}

#[wasm_bindgen]
impl Tuner {
    /// One iteration.
    #[wasm_bindgen(unchecked_return_type = "Step")]
    pub async fn step(&mut self) -> Result<JsValue, JsValue> {
        let step = self.tuner.step_async().await.map_err(fail)?;
        Ok(object([
            ("iteration", step.iteration.into()),
            ("iterations", step.iterations.into()),
            ("loss", step.loss.into()),
            ("seconds", step.seconds.into()),
            ("heldOutLoss", step.held_out_loss.map_or(JsValue::NULL, JsValue::from)),
            ("stop", step.stop.map_or(JsValue::NULL, |reason| reason.name().into())),
        ]))
    }

    /// All that `resume` needs beside the clips.
    pub async fn checkpoint(&self) -> Result<Vec<u8>, JsValue> {
        self.tuner.checkpoint_async(&self.base).await.map_err(fail)
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
            object([("text", text.into()), ("recordingSha256", recording_sha256.as_ref().map_or(JsValue::NULL, JsValue::from))])
        });
        let (iterations, seconds) = (info.iterations.into(), info.seconds.into());
        object([("adapted", info.adapted.into()), ("iterations", iterations), ("seconds", seconds), ("consent", consent)])
    }

    /// Keeps the speaker's consent with the voice: what was said, and the hash of the recording in which it is.
    #[wasm_bindgen(js_name = setConsent)]
    pub fn set_consent(&mut self, text: String, recording_sha256: Option<String>) -> Result<(), JsValue> {
        self.voice.set_consent(Consent { text, recording_sha256 }).map_err(fail)
    }

    /// Speaks a text, sentence by sentence. Before each, `goOn(done, of)` is awaited and says whether to go on: the worker listens meanwhile.
    #[wasm_bindgen(unchecked_return_type = "Speech")]
    pub async fn say(
        &self,
        text: &str,
        seed: Option<u32>,
        #[wasm_bindgen(js_name = goOn, unchecked_param_type = "(done: number, of: number) => Promise<boolean>")] go_on: Function,
    ) -> Result<JsValue, JsValue> {
        let options = SpeakOptions { seed: seed.unwrap_or(0).into(), ..SpeakOptions::default() };
        let progress = async |done: usize, of: usize| match go_on.call2(&JsValue::NULL, &done.into(), &of.into()) {
            Ok(asked) => JsFuture::from(asked.unchecked_into::<Promise>()).await.is_ok_and(|answer| answer.is_truthy()),
            Err(_) => false,
        };
        let speech = speak_async(&self.base, &self.voice, text, &options, &*self.base.vocoder, progress).await.map_err(fail)?;
        Ok(spoken(speech))
    }

    /// The voice file: safetensors, the difference from the base.
    pub async fn save(&self) -> Result<Vec<u8>, JsValue> {
        self.voice.save_async(&self.base).await.map_err(fail)
    }
}

fn spoken(speech: Speech) -> JsValue {
    let names: Array = speech.symbols.iter().map(|&symbol| JsValue::from(symbols::name(symbol))).collect();
    let mel = object([("mels", speech.mel.mels.into()), ("data", Float32Array::from(&speech.mel.data[..]).into())]);
    object([
        ("samples", Float32Array::from(&speech.samples[..]).into()),
        ("sampleRate", speech.sample_rate_hz.into()),
        ("mel", mel),
        ("durations", Uint32Array::from(&speech.durations[..]).into()),
        ("symbols", names.into()),
        ("stop", speech.stop.name().into()),
    ])
}

/// Reads a WAV file of any format, mixed down to one channel.
#[wasm_bindgen(unchecked_return_type = "Audio")]
pub fn read_wav(bytes: &[u8]) -> Result<JsValue, JsValue> {
    let audio = wav::read(bytes).map_err(fail)?;
    Ok(object([("samples", Float32Array::from(&audio.samples[..]).into()), ("sampleRate", audio.sample_rate_hz.into())]))
}

fn clips_of(clips: &[Clip]) -> Vec<train::Clip> {
    clips.iter().map(|clip| train::Clip { samples: clip.samples().to_vec(), sample_rate_hz: clip.sample_rate(), text: clip.text() }).collect()
}

fn load(files: &BaseParts, device: &Device) -> Result<Base, JsValue> {
    let (manifest, weights, lexicon, aligner) = (files.manifest(), files.weights().to_vec(), files.lexicon().to_vec(), files.aligner().to_vec());
    let vocoder = files.vocoder().map(|bytes| bytes.to_vec());
    let files = BaseFiles { manifest_json: &manifest, weights: &weights, lexicon: &lexicon, aligner: &aligner, vocoder: vocoder.as_deref() };
    Base::load(files, device).map_err(fail)
}

/// burn's WebGPU device. A runtime that an earlier load has started is taken up again.
#[cfg(feature = "webgpu")]
async fn webgpu() -> Result<Device, JsValue> {
    // 32 tasks a submission: more of them delay the first, fewer pay for each.
    Device::wgpu_options().tasks_max(32).init_async().await.map_err(|error| js_error("no-adapter", &error.to_string()))
}
