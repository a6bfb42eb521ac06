//! The boundary between lip-to-speech and JavaScript: it converts arguments, calls the crate, and converts results.
//!
//! It is a separate WebAssembly module, so that users of text-to-speech do not download it.

#[path = "../../src/constructors.rs"]
mod constructors;
#[path = "../../src/convert.rs"]
mod convert;

mod lessons;

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
use lessons::LipVoice;

/// Initialises the module when it is instantiated.
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

/// The pictures of a video.
#[wasm_bindgen]
pub struct LipFilm {
    footage: Footage,
}

#[wasm_bindgen]
impl LipFilm {
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "JavaScript has no defaults")]
    pub fn new() -> Self {
        Self { footage: Footage::default() }
    }

    /// Appends the next picture, at 25 a second. Returns the faces in it, in pixels and the largest first, if the picture is one that is searched; otherwise
    /// null.
    #[wasm_bindgen(unchecked_return_type = "Face[] | null")]
    pub fn look(&mut self, width: u32, height: u32, rgba: &[u8]) -> Result<JsValue, JsValue> {
        let image = Image::from_rgba(width as usize, height as usize, rgba).ok_or_else(|| {
            fail(Error::video_unreadable("the number of bytes of a picture does not match its size"))
        })?;
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
}

/// A lip-to-speech base.
#[wasm_bindgen]
pub struct LipReader {
    base: LipBase,
}

#[wasm_bindgen]
impl LipReader {
    /// Loads a base on the CPU, which is faster than real time.
    #[wasm_bindgen(constructor)]
    pub fn new(manifest: &str, weights: &[u8], vocoder: Option<Vec<u8>>) -> Result<LipReader, JsValue> {
        let files = LipBaseFiles { manifest_json: manifest, weights, vocoder: vocoder.as_deref() };
        Ok(Self { base: LipBase::load(files, &Device::flex()).map_err(fail)? })
    }

    /// Returns the names of the base's voices.
    #[wasm_bindgen(getter, unchecked_return_type = "string[]")]
    pub fn speakers(&self) -> Array {
        self.base.manifest.speakers.iter().map(JsValue::from).collect()
    }

    /// Synthesises speech from the pictures. `leftOut` lists the unusable parts with reasons.
    #[wasm_bindgen(unchecked_return_type = "LipSpeech")]
    pub async fn speak(&self, film: &LipFilm, speaker: &str) -> Result<JsValue, JsValue> {
        let speaker = self.base.speaker(Some(speaker)).map_err(fail)?;
        speech(&self.base, film, speaker).await
    }

    /// Synthesises speech in a tuned voice.
    #[wasm_bindgen(js_name = speakAs, unchecked_return_type = "LipSpeech")]
    pub async fn speak_as(&self, film: &LipFilm, voice: &LipVoice) -> Result<JsValue, JsValue> {
        speech(&voice.tuned.on(&self.base, "own"), film, 0).await
    }
}

async fn speech(base: &LipBase, film: &LipFilm, speaker: usize) -> Result<JsValue, JsValue> {
    let said = film.footage.speak(base, speaker).await.map_err(fail)?;
    Ok(object([
        ("samples", js_sys::Float32Array::from(&said.samples[..]).into()),
        ("sampleRate", said.sample_rate_hz.into()),
        ("tracks", (said.tracks as u32).into()),
        ("leftOut", left_out(said.left_out)),
    ]))
}

/// Converts the unusable parts of a video and the reasons.
fn left_out(stretches: Vec<(Error, Option<[f32; 2]>)>) -> JsValue {
    let stretch = |(error, seconds): (Error, Option<[f32; 2]>)| {
        let [begin, end] =
            seconds.map_or([JsValue::NULL, JsValue::NULL], |seconds| seconds.map(JsValue::from));
        object([
            ("code", error.code().into()),
            ("message", error.to_string().into()),
            ("begin", begin),
            ("end", end),
        ])
    };
    stretches.into_iter().map(stretch).collect::<Array>().into()
}
