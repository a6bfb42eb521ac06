//! A voice of the worker: it speaks, is compared with its speaker, and is saved as a file.

use ownvoice::{
    clone::anchors::anchors,
    voice::{self, Consent},
};
use tsify::Ts;
use wasm_bindgen::prelude::*;

use crate::{
    convert::{from_js, to_js},
    error::to_js_error,
    objects::{Clip, Delivery, Similarity, Speech, VoiceInfo, clips_from_js},
    progress::{OnProgress, continues},
};

/// A voice, which holds a reference to its base.
#[wasm_bindgen]
pub struct Voice(pub(crate) voice::Voice);

#[wasm_bindgen]
impl Voice {
    /// Returns where the voice comes from.
    pub fn info(&self) -> Result<Ts<VoiceInfo>, JsValue> {
        to_js(&VoiceInfo::new(self.0.info(), self.0.base().has_pitch()))
    }

    /// Stores the speaker's consent in the voice: the statement, and the hash of its recording.
    #[wasm_bindgen(js_name = setConsent)]
    pub fn set_consent(
        &mut self,
        text: String,
        #[wasm_bindgen(js_name = recordingSha256)] recording_sha256: Option<String>,
    ) -> Result<(), JsValue> {
        self.0.set_consent(Consent { text, recording_sha256 }).map_err(to_js_error)
    }

    /// Speaks a text, sentence by sentence. `onProgress` is called before each sentence.
    pub async fn say(
        &self,
        text: &str,
        delivery: Ts<Delivery>,
        #[wasm_bindgen(js_name = onProgress)] on_progress: OnProgress,
    ) -> Result<Ts<Speech>, JsValue> {
        let options = from_js(&delivery)?.into();
        let progress = async |done: usize, of: usize| continues(&on_progress, done, of).await;
        let speech = self.0.speak_async(text, &options, progress).await.map_err(to_js_error)?;
        to_js(&Speech::new(speech, self.0.base().mel_config().frame_seconds()))
    }

    /// Measures the similarity to the speaker of these recordings, between its anchors. `onProgress` is called before each sentence that is spoken for it.
    pub async fn similarity(
        &self,
        clips: Vec<Ts<Clip>>,
        #[wasm_bindgen(js_name = onProgress)] on_progress: OnProgress,
    ) -> Result<Ts<Similarity>, JsValue> {
        let clips = clips_from_js(&clips)?;
        let progress = async |done: usize, of: usize| continues(&on_progress, done, of).await;
        let found = anchors(&self.0, &clips, progress).await.map_err(to_js_error)?;
        to_js(&found.into())
    }

    /// Returns the voice file: safetensors with the difference from the base.
    pub async fn save(&self) -> Result<Vec<u8>, JsValue> {
        self.0.save_async().await.map_err(to_js_error)
    }
}
