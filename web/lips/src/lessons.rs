//! Lessons of one's own face and voice, and the tuning of a base with them.

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
/** `windows` are what a tuning learns from, each a few seconds long. */
export interface LipTake { id: number; seconds: number; windows: number; leftOut: LeftOut[] }
export interface LipStep { iteration: number; iterations: number; loss: number; heldOutLoss: number | null; stop: string | null }
export interface LipTuning { iterations: number; seconds: number; before: number; after: number }
"#;

/// What a tuning learns from, take by take.
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

    /// Windows without which nothing is learned.
    #[wasm_bindgen(getter, js_name = leastWindows)]
    pub fn least_windows(&self) -> u32 {
        HELD_OUT_EVERY as u32
    }

    /// Takes a video and its sound, which begin together. Of what nothing can be learned from, `leftOut` says why.
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

    /// Forgets a take.
    pub fn remove(&mut self, id: u32) {
        self.takes.remove(&id);
    }

    /// Begins to tune a base with all takes.
    pub async fn tuner(&self, reader: &LipReader, iterations: Option<u32>) -> Result<LipTuner, JsValue> {
        let standard = LipTuneOptions::default();
        let iterations = iterations.map_or(standard.iterations, |iterations| iterations as usize);
        let options = LipTuneOptions { iterations, ..standard };
        let lessons: Vec<Lesson> = self.takes.values().flatten().cloned().collect();
        Ok(LipTuner { tuner: Tuner::start(&reader.base, &lessons, options).await.map_err(fail)? })
    }
}

/// A tuning under way.
#[wasm_bindgen]
pub struct LipTuner {
    tuner: Tuner,
}

#[wasm_bindgen]
impl LipTuner {
    /// Loss of what is held out, before anything was learned.
    #[wasm_bindgen(getter)]
    pub fn before(&self) -> f32 {
        self.tuner.held_out_before()
    }

    /// One iteration.
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

    /// The best so far, of what was looked at.
    pub async fn finish(self) -> Result<LipVoice, JsValue> {
        Ok(LipVoice { tuned: self.tuner.finish().await.map_err(fail)? })
    }
}

/// A base's voice that was tuned to somebody.
#[wasm_bindgen]
pub struct LipVoice {
    pub(crate) tuned: TunedLips,
}

#[wasm_bindgen]
impl LipVoice {
    /// Opens a file that `save` made: untrusted bytes.
    pub fn open(reader: &LipReader, bytes: &[u8]) -> Result<LipVoice, JsValue> {
        Ok(Self { tuned: TunedLips::open(&reader.base, bytes).map_err(fail)? })
    }

    /// The bytes of its file.
    pub async fn save(&self, reader: &LipReader) -> Result<Vec<u8>, JsValue> {
        self.tuned.save(&reader.base).await.map_err(fail)
    }

    /// How it was tuned.
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
