//! The boundary between lip-to-speech and JavaScript: it converts arguments, calls the crate, and converts results.
//!
//! It is a separate WebAssembly module, so that users of text-to-speech do not download it.

#[path = "../../src/constructors.rs"]
mod constructors;
#[path = "../../src/convert.rs"]
#[allow(dead_code, reason = "the voice's module uses all of it")]
mod convert;
#[path = "../../src/error.rs"]
mod error;

mod lessons;

use js_sys::Array;
use ownvoice::{
    Device, Error,
    image::{Image, Square},
    lips::{Footage, LipBase, base::LipBaseFiles},
};
use serde::Serialize;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

use convert::{float32_array, to_js};
use error::to_js_error;
use lessons::LipVoice;

/// Initialises the module when it is instantiated.
#[wasm_bindgen(start)]
fn start() {
    constructors::run();
    console_error_panic_hook::set_once();
}

/// A face in a picture, as a square, in pixels.
#[derive(Serialize, Tsify)]
pub struct Face {
    /// The horizontal centre.
    pub x: f32,
    /// The vertical centre.
    pub y: f32,
    pub side: f32,
}

/// An unusable part of a video, and the reason.
#[derive(Serialize, Tsify)]
#[tsify(missing_as_null)]
pub struct LeftOut {
    pub code: String,
    pub message: String,
    /// In seconds; null without a time.
    pub begin: Option<f32>,
    pub end: Option<f32>,
}

impl LeftOut {
    fn list(stretches: Vec<(Error, Option<[f32; 2]>)>) -> Vec<Self> {
        let left_out = |(error, seconds): (Error, Option<[f32; 2]>)| Self {
            code: error.code().to_owned(),
            message: error.to_string(),
            begin: seconds.map(|[begin, _]| begin),
            end: seconds.map(|[_, end]| end),
        };
        stretches.into_iter().map(left_out).collect()
    }
}

/// Speech from a video.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct LipSpeech {
    #[serde(with = "float32_array")]
    #[tsify(type = "Float32Array<ArrayBuffer>")]
    pub samples: Vec<f32>,
    /// In Hz.
    pub sample_rate: u32,
    pub tracks: usize,
    pub left_out: Vec<LeftOut>,
}

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
            to_js_error(Error::video_unreadable("the number of bytes of a picture does not match its size"))
        })?;
        let Some(faces) = self.footage.push(image).map_err(to_js_error)? else { return Ok(JsValue::NULL) };
        let array = Array::new();
        for &Square { centre_x: x, centre_y: y, side } in faces {
            array.push(&to_js(&Face { x, y, side })?.into());
        }
        Ok(array.into())
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
        Ok(Self { base: LipBase::load(files, &Device::flex()).map_err(to_js_error)? })
    }

    /// Returns the names of the base's voices.
    #[wasm_bindgen(getter, unchecked_return_type = "string[]")]
    pub fn speakers(&self) -> Array {
        self.base.manifest.speakers.iter().map(JsValue::from).collect()
    }

    /// Synthesises speech from the pictures. `leftOut` lists the unusable parts with reasons.
    pub async fn speak(&self, film: &LipFilm, speaker: &str) -> Result<Ts<LipSpeech>, JsValue> {
        let speaker = self.base.speaker(Some(speaker)).map_err(to_js_error)?;
        speech(&self.base, film, speaker).await
    }

    /// Synthesises speech in a tuned voice.
    #[wasm_bindgen(js_name = speakAs)]
    pub async fn speak_as(&self, film: &LipFilm, voice: &LipVoice) -> Result<Ts<LipSpeech>, JsValue> {
        speech(&voice.tuned.on(&self.base, "own"), film, 0).await
    }
}

async fn speech(base: &LipBase, film: &LipFilm, speaker: usize) -> Result<Ts<LipSpeech>, JsValue> {
    let speech = film.footage.speak(base, speaker).await.map_err(to_js_error)?;
    to_js(&LipSpeech {
        samples: speech.samples,
        sample_rate: speech.sample_rate_hz,
        tracks: speech.tracks,
        left_out: LeftOut::list(speech.left_out),
    })
}
