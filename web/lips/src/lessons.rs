//! Lessons of the user's face and voice, and the tuning of a base on them.

use std::collections::BTreeMap;

use ownvoice::{
    audio::Audio,
    lips::{Lesson, LipTuneOptions, LipTuner as Tuner, TunedLips, tuner::HELD_OUT_EVERY},
};
use wasm_bindgen::prelude::*;

use crate::{
    LipFilm, LipReader,
    convert::{fail, object},
    left_out,
};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** `windows` is the number of training windows, each a few seconds long. */
export interface LipTake { id: number; seconds: number; windows: number; leftOut: LeftOut[] }
export interface LipStep { iteration: number; iterations: number; loss: number; heldOutLoss: number | null; stop: string | null }
export interface LipTuning { iterations: number; seconds: number; before: number; after: number }
"#;

/// The training data of a tuning, take by take.
#[wasm_bindgen]
#[derive(Default)]
pub struct LipLessons {
    takes: BTreeMap<u32, Vec<Lesson>>,
    next: u32,
}

#[wasm_bindgen]
impl LipLessons {
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the least number of windows of a tuning.
    #[wasm_bindgen(getter, js_name = leastWindows)]
    pub fn least_windows(&self) -> u32 {
        HELD_OUT_EVERY as u32
    }

    /// Adds a video and its sound, which begin together. `leftOut` lists the unusable parts with reasons.
    #[wasm_bindgen(unchecked_return_type = "LipTake")]
    pub fn take(
        &mut self,
        reader: &LipReader,
        film: &LipFilm,
        samples: Vec<f32>,
        sample_rate_hz: u32,
    ) -> Result<JsValue, JsValue> {
        let taught = film.footage.teach(&reader.base, &Audio { samples, sample_rate_hz }).map_err(fail)?;
        let windows = taught.lessons.iter().map(|lesson| lesson.windows.len()).sum::<usize>();
        let seconds = taught.lessons.iter().map(Lesson::seconds).sum::<f32>();
        let id = self.next;
        self.next += 1;
        self.takes.insert(id, taught.lessons);
        Ok(object([
            ("id", id.into()),
            ("seconds", seconds.into()),
            ("windows", (windows as u32).into()),
            ("leftOut", left_out(taught.left_out)),
        ]))
    }

    /// Removes a take.
    pub fn remove(&mut self, id: u32) {
        self.takes.remove(&id);
    }

    /// Starts the tuning of a base on all takes.
    pub async fn tuner(&self, reader: &LipReader, iterations: Option<u32>) -> Result<LipTuner, JsValue> {
        let standard = LipTuneOptions::default();
        let iterations = iterations.map_or(standard.iterations, |iterations| iterations as usize);
        let options = LipTuneOptions { iterations, ..standard };
        let lessons: Vec<Lesson> = self.takes.values().flatten().cloned().collect();
        Ok(LipTuner { tuner: Tuner::start(&reader.base, &lessons, options).await.map_err(fail)? })
    }
}

/// A tuning in progress.
#[wasm_bindgen]
pub struct LipTuner {
    tuner: Tuner,
}

#[wasm_bindgen]
impl LipTuner {
    /// Returns the held-out loss before the first iteration.
    #[wasm_bindgen(getter)]
    pub fn before(&self) -> f32 {
        self.tuner.held_out_before()
    }

    /// Performs one iteration.
    #[wasm_bindgen(unchecked_return_type = "LipStep")]
    pub async fn step(&mut self) -> Result<JsValue, JsValue> {
        let step = self.tuner.step().await.map_err(fail)?;
        Ok(object([
            ("iteration", (step.iteration as u32).into()),
            ("iterations", (step.iterations as u32).into()),
            ("loss", step.loss.into()),
            ("heldOutLoss", step.held_out_loss.map_or(JsValue::NULL, JsValue::from)),
            ("stop", step.stop.map_or(JsValue::NULL, |reason| reason.name().into())),
        ]))
    }

    /// Ends the tuning and returns the voice with the best held-out loss.
    pub async fn finish(self) -> Result<LipVoice, JsValue> {
        Ok(LipVoice { tuned: self.tuner.finish().await.map_err(fail)? })
    }
}

/// A tuned voice of a base.
#[wasm_bindgen]
pub struct LipVoice {
    pub(crate) tuned: TunedLips,
}

#[wasm_bindgen]
impl LipVoice {
    /// Decodes a file of `save`. The bytes are untrusted.
    pub fn open(reader: &LipReader, bytes: &[u8]) -> Result<LipVoice, JsValue> {
        Ok(Self { tuned: TunedLips::open(&reader.base, bytes).map_err(fail)? })
    }

    /// Encodes the file.
    pub async fn save(&self, reader: &LipReader) -> Result<Vec<u8>, JsValue> {
        self.tuned.save(&reader.base).await.map_err(fail)
    }

    /// Returns the figures of the tuning.
    #[wasm_bindgen(getter, unchecked_return_type = "LipTuning")]
    pub fn tuning(&self) -> JsValue {
        let TunedLips { iterations, seconds, held_out_loss: [before, after], .. } = self.tuned;
        object([
            ("iterations", (iterations as u32).into()),
            ("seconds", seconds.into()),
            ("before", before.into()),
            ("after", after.into()),
        ])
    }
}
