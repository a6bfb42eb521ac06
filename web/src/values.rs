//! The values that cross the boundary: their types in TypeScript, and what several objects read or make of them.

use js_sys::{Array, Float32Array, Function, Promise, Uint8Array};
use ownvoice::{audio::Audio, text::symbols, train};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

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
    pub fn speed(this: &Delivery) -> Option<f32>;
    #[wasm_bindgen(method, getter)]
    pub fn pitch(this: &Delivery) -> Option<f32>;
    #[wasm_bindgen(method, getter)]
    pub fn liveliness(this: &Delivery) -> Option<f32>;
    #[wasm_bindgen(method, getter)]
    pub fn seed(this: &Delivery) -> Option<u32>;

    #[wasm_bindgen(typescript_type = "BaseParts")]
    pub type BaseParts;
    #[wasm_bindgen(method, getter)]
    pub fn manifest(this: &BaseParts) -> String;
    #[wasm_bindgen(method, getter)]
    pub fn weights(this: &BaseParts) -> Uint8Array;
    #[wasm_bindgen(method, getter)]
    pub fn lexicon(this: &BaseParts) -> Uint8Array;
    #[wasm_bindgen(method, getter)]
    pub fn aligner(this: &BaseParts) -> Uint8Array;
    #[wasm_bindgen(method, getter)]
    pub fn vocoder(this: &BaseParts) -> Option<Uint8Array>;

    #[wasm_bindgen(typescript_type = "Clip")]
    pub type Clip;
    #[wasm_bindgen(method, getter)]
    pub fn samples(this: &Clip) -> Float32Array;
    #[wasm_bindgen(method, getter, js_name = sampleRate)]
    pub fn sample_rate(this: &Clip) -> u32;
    #[wasm_bindgen(method, getter)]
    pub fn text(this: &Clip) -> String;
}

pub fn clips_of(clips: &[Clip]) -> Vec<train::Clip> {
    clips
        .iter()
        .map(|clip| train::Clip {
            audio: Audio { samples: clip.samples().to_vec(), sample_rate_hz: clip.sample_rate() },
            text: clip.text(),
        })
        .collect()
}

/// Names of symbols.
pub fn names(spelled: &[symbols::Symbol]) -> Array {
    spelled.iter().map(|symbol| JsValue::from(symbol.name())).collect()
}

/// Whether to go on: false where the caller throws.
pub async fn ask(go_on: &Function, done: usize, of: usize) -> bool {
    match go_on.call2(&JsValue::NULL, &done.into(), &of.into()) {
        Ok(asked) => {
            JsFuture::from(asked.unchecked_into::<Promise>()).await.is_ok_and(|answer| answer.is_truthy())
        }
        Err(_) => false,
    }
}
