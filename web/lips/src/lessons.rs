//! Lessons of the user's face and voice, and the tuning of a base on them.

use std::collections::BTreeMap;

use ownvoice::{
    audio::Audio,
    lips::{Lesson, LipTuneOptions, LipTuner as Tuner, TunedLips, tuner::HELD_OUT_EVERY},
};
use serde::Serialize;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

use crate::{LeftOut, LipFilm, LipReader, convert::to_js, error::to_js_error};

/// A video and its sound that a tuning trains on.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct LipTake {
    pub id: u32,
    pub seconds: f32,
    /// The number of training windows, each a few seconds long.
    pub windows: usize,
    pub left_out: Vec<LeftOut>,
}

/// The state of a tuning after one iteration.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
#[tsify(missing_as_null)]
pub struct LipStep {
    pub iteration: usize,
    pub iterations: usize,
    pub loss: f32,
    pub held_out_loss: Option<f32>,
    pub stop: Option<String>,
}

/// The figures of a tuning: held-out losses before and after it.
#[derive(Serialize, Tsify)]
pub struct LipTuning {
    pub iterations: usize,
    pub seconds: f32,
    pub before: f32,
    pub after: f32,
}

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
    pub fn take(
        &mut self,
        reader: &LipReader,
        film: &LipFilm,
        samples: Vec<f32>,
        sample_rate_hz: u32,
    ) -> Result<Ts<LipTake>, JsValue> {
        let taught =
            film.footage.teach(&reader.base, &Audio { samples, sample_rate_hz }).map_err(to_js_error)?;
        let windows = taught.lessons.iter().map(|lesson| lesson.windows.len()).sum::<usize>();
        let seconds = taught.lessons.iter().map(Lesson::seconds).sum::<f32>();
        let id = self.next;
        self.next += 1;
        self.takes.insert(id, taught.lessons);
        to_js(&LipTake { id, seconds, windows, left_out: LeftOut::list(taught.left_out) })
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
        Ok(LipTuner { tuner: Tuner::start(&reader.base, &lessons, options).await.map_err(to_js_error)? })
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
    pub async fn step(&mut self) -> Result<Ts<LipStep>, JsValue> {
        let step = self.tuner.step().await.map_err(to_js_error)?;
        to_js(&LipStep {
            iteration: step.iteration,
            iterations: step.iterations,
            loss: step.loss,
            held_out_loss: step.held_out_loss,
            stop: step.stop.map(|reason| reason.name().to_owned()),
        })
    }

    /// Ends the tuning and returns the voice with the best held-out loss.
    pub async fn finish(self) -> Result<LipVoice, JsValue> {
        Ok(LipVoice { tuned: self.tuner.finish().await.map_err(to_js_error)? })
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
        Ok(Self { tuned: TunedLips::open(&reader.base, bytes).map_err(to_js_error)? })
    }

    /// Encodes the file.
    pub async fn save(&self, reader: &LipReader) -> Result<Vec<u8>, JsValue> {
        self.tuned.save(&reader.base).await.map_err(to_js_error)
    }

    /// Returns the figures of the tuning.
    #[wasm_bindgen(getter)]
    pub fn tuning(&self) -> Result<Ts<LipTuning>, JsValue> {
        let TunedLips { iterations, seconds, held_out_loss: [before, after], .. } = self.tuned;
        to_js(&LipTuning { iterations, seconds, before, after })
    }
}
