//! A voice of the worker: it speaks, is compared with its speaker, and becomes a file.

use std::rc::Rc;

use js_sys::{Float32Array, Function, Uint32Array};
use ownvoice::{
    evaluate::{Anchors, anchors},
    synth::{SpeakOptions, Speech, speak_async},
    voice::{self, Base, Consent},
};
use wasm_bindgen::prelude::*;

use crate::{
    convert::{fail, object},
    values::{Clip, Delivery, ask, clips_of, names},
};

/// Someone's voice; it keeps the base alive that it speaks through.
#[wasm_bindgen]
pub struct Voice {
    pub(crate) base: Rc<Base>,
    pub(crate) voice: voice::Voice,
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
