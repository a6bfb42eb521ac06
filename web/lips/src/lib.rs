//! The boundary between lips-to-speech and JavaScript: convert, call the crate, convert back. It holds no maths.
//!
//! A module of its own: who only wants a voice fetches nothing of it.

#[path = "../../src/constructors.rs"]
mod constructors;
#[path = "../../src/convert.rs"]
mod convert;

use js_sys::Array;
use ownvoice::{
    Device, Error,
    lips::{
        Footage, LipBase,
        base::LipBaseFiles,
        image::{Image, Square},
    },
};
use wasm_bindgen::prelude::*;

use convert::{fail, object};

/// Runs once, when the module is instantiated.
#[wasm_bindgen(start)]
fn start() {
    constructors::run();
    console_error_panic_hook::set_once();
}

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
export interface Face { x: number; y: number; side: number }
export interface LeftOut { code: string; message: string; begin: number | null; end: number | null }
export interface LipSpeech { samples: Float32Array<ArrayBuffer>; sampleRate: number; tracks: number; leftOut: LeftOut[] }
"#;

/// A base of lips, and the pictures of a video.
#[wasm_bindgen]
pub struct LipReader {
    base: LipBase,
    footage: Footage,
}

#[wasm_bindgen]
impl LipReader {
    /// Loads a base, on the CPU: it speaks faster than a video lasts.
    #[wasm_bindgen(constructor)]
    pub fn new(manifest: &str, weights: &[u8], vocoder: Option<Vec<u8>>) -> Result<LipReader, JsValue> {
        let files = LipBaseFiles { manifest_json: manifest, weights, vocoder: vocoder.as_deref() };
        let base = LipBase::load(files, &Device::flex()).map_err(fail)?;
        Ok(Self { base, footage: Footage::default() })
    }

    /// Names of the voices that it speaks with.
    #[wasm_bindgen(getter, unchecked_return_type = "string[]")]
    pub fn speakers(&self) -> Array {
        self.base.manifest.speakers.iter().map(JsValue::from).collect()
    }

    /// Forgets the pictures of the video before.
    pub fn clear(&mut self) {
        self.footage.clear();
    }

    /// Takes the next picture, of 25 a second. Returns the faces in it where it is one that is searched, the largest first, in pixels; else null.
    #[wasm_bindgen(unchecked_return_type = "Face[] | null")]
    pub fn look(&mut self, width: u32, height: u32, rgba: &[u8]) -> Result<JsValue, JsValue> {
        let image = Image::from_rgba(width as usize, height as usize, rgba)
            .ok_or_else(|| fail(Error::video_unreadable("a picture has other bytes than its size says")))?;
        let Some(faces) = self.footage.push(image).map_err(fail)? else { return Ok(JsValue::NULL) };
        let face = |square: &Square| {
            object([
                ("x", square.centre_x.into()),
                ("y", square.centre_y.into()),
                ("side", square.side.into()),
            ])
        };
        Ok(faces.iter().map(face).collect::<Array>().into())
    }

    /// Speaks what the pictures show; of what cannot be read, `leftOut` says why.
    #[wasm_bindgen(unchecked_return_type = "LipSpeech")]
    pub async fn speak(&self, speaker: Option<String>) -> Result<JsValue, JsValue> {
        let speaker = self.base.speaker(speaker.as_deref()).map_err(fail)?;
        let said = self.footage.speak(&self.base, speaker).await.map_err(fail)?;
        let left_out = |(error, seconds): (Error, Option<[f32; 2]>)| {
            let [begin, end] =
                seconds.map_or([JsValue::NULL, JsValue::NULL], |seconds| seconds.map(JsValue::from));
            object([
                ("code", error.code().into()),
                ("message", error.to_string().into()),
                ("begin", begin),
                ("end", end),
            ])
        };
        Ok(object([
            ("samples", js_sys::Float32Array::from(&said.samples[..]).into()),
            ("sampleRate", said.sample_rate_hz.into()),
            ("tracks", (said.tracks as u32).into()),
            ("leftOut", said.left_out.into_iter().map(left_out).collect::<Array>().into()),
        ]))
    }
}
