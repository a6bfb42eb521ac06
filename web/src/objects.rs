//! The plain objects that cross the boundary. Each is one struct here: serde converts it, and tsify declares its TypeScript type.
//!
//! An absent value is `null` on the way out; on the way in, `null` and `undefined` are both absent. Samples and spectrograms are typed arrays.
//! `tests/js/boundary.ts` compares these types with those that the package documents.

use burn_fused::precision::Metrics;
use js_sys::Function;
use ownvoice::{
    audio::{Audio as CrateAudio, Note, level},
    check::profile,
    clone::{self, TuneStop, anchors::Anchors},
    model::StopReason,
    synth,
    text::{language::Doubt, symbols::Symbol},
    voice,
};
use serde::{Deserialize, Serialize};
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

use crate::convert::{float32_array, from_js, uint32_array};

/// The files of a base voice.
#[derive(Deserialize, Tsify)]
pub struct BaseParts {
    /// The text of manifest.json.
    pub manifest: String,
    #[serde(with = "serde_bytes")]
    #[tsify(type = "Uint8Array")]
    pub weights: Vec<u8>,
    #[serde(with = "serde_bytes")]
    #[tsify(type = "Uint8Array")]
    pub lexicon: Vec<u8>,
    #[serde(with = "serde_bytes")]
    #[tsify(type = "Uint8Array")]
    pub aligner: Vec<u8>,
    /// Without it, Griffin-Lim is the vocoder.
    #[serde(default, with = "serde_bytes")]
    #[tsify(optional, type = "Uint8Array")]
    pub vocoder: Option<Vec<u8>>,
}

/// Mono sound.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct Audio {
    #[serde(with = "float32_array")]
    #[tsify(type = "Float32Array<ArrayBuffer>")]
    pub samples: Vec<f32>,
    /// In Hz.
    pub sample_rate: u32,
}

impl From<CrateAudio> for Audio {
    fn from(audio: CrateAudio) -> Self {
        Self { samples: audio.samples, sample_rate: audio.sample_rate_hz }
    }
}

/// A recording and its text.
#[derive(Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct Clip {
    #[serde(with = "float32_array")]
    #[tsify(type = "Float32Array")]
    pub samples: Vec<f32>,
    /// In Hz.
    pub sample_rate: u32,
    pub text: String,
}

impl From<Clip> for clone::clip::Clip {
    fn from(clip: Clip) -> Self {
        let audio = CrateAudio { samples: clip.samples, sample_rate_hz: clip.sample_rate };
        Self { audio, text: clip.text }
    }
}

/// Reads clips.
pub fn clips_from_js(clips: &[Ts<Clip>]) -> Result<Vec<clone::clip::Clip>, JsValue> {
    clips.iter().map(|clip| from_js(clip).map(Into::into)).collect()
}

/// An end of a clip.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "lowercase")]
pub enum ClipEdge {
    Start,
    End,
}

impl From<level::Edge> for ClipEdge {
    fn from(edge: level::Edge) -> Self {
        match edge {
            level::Edge::Start => Self::Start,
            level::Edge::End => Self::End,
        }
    }
}

/// A reason why the voice may sound unusual.
#[derive(Serialize, Tsify)]
pub struct ClipNote {
    pub code: &'static str,
    pub message: String,
}

/// Measurements of a clip.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
#[tsify(missing_as_null)]
pub struct ClipReport {
    pub seconds: f32,
    pub speech_seconds: f32,
    pub level_db: f32,
    pub noise_db: f32,
    pub snr_db: f32,
    pub clipped_percent: f32,
    pub cut_off: Option<ClipEdge>,
    pub notes: Vec<ClipNote>,
    /// The mean log-posterior of the text's phones; null without a text.
    pub score: Option<f32>,
}

impl ClipReport {
    pub fn new(report: level::ClipReport, score: Option<f32>) -> Self {
        let note = |note: &Note| ClipNote { code: note.code(), message: note.to_string() };
        Self {
            notes: report.notes.iter().map(note).collect(),
            seconds: report.seconds,
            speech_seconds: report.speech_seconds,
            level_db: report.level_db,
            noise_db: report.noise_db,
            snr_db: report.snr_db,
            clipped_percent: report.clipped_percent,
            cut_off: report.cut_off.map(Into::into),
            score,
        }
    }
}

/// The outcome of a device's self-test.
#[derive(Serialize, Tsify)]
pub struct SelfTest {
    /// The largest relative difference from the CPU's results.
    pub deviation: f32,
    /// The largest that is accepted.
    pub tolerance: f32,
}

/// The arithmetic of a training step.
#[derive(Clone, Copy, Default, Deserialize, Tsify)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    #[default]
    F32,
    Mixed,
}

impl From<Precision> for burn_fused::Precision {
    fn from(precision: Precision) -> Self {
        match precision {
            Precision::F32 => Self::F32,
            Precision::Mixed => Self::Mixed,
        }
    }
}

/// Options of a training; an absent one has the crate's default.
#[derive(Deserialize, Tsify)]
pub struct TrainingOptions {
    #[tsify(optional)]
    pub iterations: Option<u32>,
    #[tsify(optional)]
    pub seed: Option<u32>,
    #[tsify(optional)]
    pub precision: Option<Precision>,
    #[tsify(optional)]
    pub rehearsal: Option<f32>,
    /// Faults that a test injects, see [`burn_fused::compute::PlantedFault`].
    #[serde(default)]
    pub faults: Vec<String>,
}

/// Options of the comparison with the CPU.
#[derive(Deserialize, Tsify)]
pub struct PrecisionOptions {
    /// The name of the device, for the report.
    pub name: String,
    #[tsify(optional)]
    pub precision: Option<Precision>,
    /// A tensor differs below this cosine.
    pub cosine: f64,
    /// Faults that a test injects, see [`burn_fused::compute::PlantedFault`].
    #[serde(default)]
    pub faults: Vec<String>,
}

/// Why a training ended.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "kebab-case")]
pub enum TrainingStop {
    Iterations,
    HeldOut,
}

impl From<TuneStop> for TrainingStop {
    fn from(reason: TuneStop) -> Self {
        match reason {
            TuneStop::Iterations => Self::Iterations,
            TuneStop::HeldOut => Self::HeldOut,
        }
    }
}

/// The state of a training after one iteration.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
#[tsify(missing_as_null)]
pub struct Step {
    pub iteration: usize,
    pub iterations: usize,
    pub loss: f32,
    pub seconds: f32,
    pub held_out_loss: Option<f32>,
    pub overflows: usize,
    pub fault: Option<String>,
    pub stop: Option<TrainingStop>,
}

impl From<clone::Step> for Step {
    fn from(step: clone::Step) -> Self {
        Self {
            iteration: step.iteration,
            iterations: step.iterations,
            loss: step.loss,
            seconds: step.seconds,
            held_out_loss: step.validation.map(|metrics| metrics.loss),
            overflows: step.overflows,
            fault: step.fault,
            stop: step.stop.map(Into::into),
        }
    }
}

/// One clip as it was recorded and as the model predicts it.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct AlignmentSnapshot {
    pub mels: usize,
    pub frame_seconds: f32,
    #[serde(with = "float32_array")]
    #[tsify(type = "Float32Array<ArrayBuffer>")]
    pub recorded: Vec<f32>,
    #[serde(with = "float32_array")]
    #[tsify(type = "Float32Array<ArrayBuffer>")]
    pub predicted: Vec<f32>,
    #[serde(with = "float32_array")]
    #[tsify(type = "Float32Array<ArrayBuffer>")]
    pub alignment: Vec<f32>,
    #[serde(serialize_with = "uint32_array::serialize")]
    #[tsify(type = "Uint32Array<ArrayBuffer>")]
    pub durations: Vec<u32>,
    pub symbols: Vec<String>,
}

impl AlignmentSnapshot {
    pub fn new(picture: clone::alignment_snapshot::AlignmentSnapshot, frame_seconds: f32) -> Self {
        Self {
            mels: picture.recorded.mels,
            frame_seconds,
            recorded: picture.recorded.data,
            predicted: picture.predicted.data,
            alignment: picture.alignment,
            durations: picture.durations,
            symbols: symbol_names(&picture.symbols),
        }
    }
}

fn symbol_names(symbols: &[Symbol]) -> Vec<String> {
    symbols.iter().map(|symbol| symbol.name().to_owned()).collect()
}

/// How a text is spoken; an absent value has the crate's default.
#[derive(Deserialize, Tsify)]
pub struct Delivery {
    #[tsify(optional)]
    pub speed: Option<f32>,
    #[tsify(optional)]
    pub pitch: Option<f32>,
    #[tsify(optional)]
    pub liveliness: Option<f32>,
    #[tsify(optional)]
    pub seed: Option<u32>,
}

impl From<Delivery> for synth::SpeakOptions {
    fn from(delivery: Delivery) -> Self {
        let default = Self::default();
        Self {
            speed: delivery.speed.unwrap_or(default.speed),
            pitch: delivery.pitch.unwrap_or(default.pitch),
            pitch_range: delivery.liveliness.unwrap_or(default.pitch_range),
            seed: delivery.seed.map_or(default.seed, u64::from),
            ..default
        }
    }
}

/// A part of a text that is spoken by itself.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    pub text: String,
    pub pause_seconds: f32,
}

impl Part {
    pub fn new(part: synth::Part, frame_seconds: f32) -> Self {
        Self { text: part.text, pause_seconds: part.pause_frames as f32 * frame_seconds }
    }
}

/// What a warning is about.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "kebab-case")]
pub enum TextWarningCode {
    TextLanguage,
    TextUnspoken,
}

/// A reason why a text may not be spoken as it is meant.
#[derive(Serialize, Tsify)]
pub struct TextWarning {
    pub code: TextWarningCode,
    pub message: String,
    /// The language, or the letters.
    pub detail: String,
}

impl From<Doubt> for TextWarning {
    fn from(doubt: Doubt) -> Self {
        let message = doubt.to_string();
        let (code, detail) = match doubt {
            Doubt::Language(name) => (TextWarningCode::TextLanguage, name.to_owned()),
            Doubt::Unspoken(letters) => (TextWarningCode::TextUnspoken, letters),
        };
        Self { code, message, detail }
    }
}

/// The similarity to a speaker, between two anchors.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct Similarity {
    pub base: f32,
    pub clone: f32,
    pub same_speaker: f32,
}

impl From<Anchors> for Similarity {
    fn from(anchors: Anchors) -> Self {
        Self { base: anchors.base, clone: anchors.clone, same_speaker: anchors.same_speaker }
    }
}

/// The cost of one module in a training step.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
#[tsify(missing_as_null)]
pub struct ProfileRow {
    pub module: String,
    pub forward_ms: f64,
    pub backward_ms: Option<f64>,
    pub forward_dispatches: Option<f64>,
    pub backward_dispatches: Option<f64>,
    pub forward_bytes: Option<f64>,
    pub backward_bytes: Option<f64>,
}

/// The cost of a training step, module by module.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
#[tsify(missing_as_null)]
pub struct Profile {
    pub rows: Vec<ProfileRow>,
    pub device_bytes: Option<u64>,
}

impl From<profile::Profile> for Profile {
    fn from(found: profile::Profile) -> Self {
        let row = |row: profile::Row| ProfileRow {
            module: row.module.to_owned(),
            forward_ms: row.forward_ms,
            backward_ms: row.backward_ms,
            forward_dispatches: row.forward_work.map(|work| work.dispatches),
            backward_dispatches: row.backward_work.map(|work| work.dispatches),
            forward_bytes: row.forward_work.map(|work| work.bytes),
            backward_bytes: row.backward_work.map(|work| work.bytes),
        };
        Self { rows: found.rows.into_iter().map(row).collect(), device_bytes: found.device_bytes }
    }
}

/// The distance of a tensor from the CPU's.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct PrecisionMetrics {
    pub cosine: f64,
    pub relative_error: f64,
    pub sqnr_db: f64,
    pub largest_difference: f64,
}

impl From<Metrics> for PrecisionMetrics {
    fn from(metrics: Metrics) -> Self {
        Self {
            cosine: metrics.cosine,
            relative_error: metrics.relative_error,
            sqnr_db: metrics.sqnr_db,
            largest_difference: metrics.largest_difference,
        }
    }
}

/// One tensor that differs.
#[derive(Serialize, Tsify)]
#[tsify(missing_as_null)]
pub struct PrecisionRow {
    pub module: String,
    pub operation: Option<String>,
    pub tensor: String,
    pub whole: Option<PrecisionMetrics>,
    pub alone: Option<PrecisionMetrics>,
}

/// The operation at fault.
#[derive(Serialize, Tsify)]
#[tsify(missing_as_null)]
pub struct PrecisionFault {
    pub module: String,
    pub operation: Option<String>,
}

/// A training step on this device, compared with the CPU.
#[derive(Serialize, Tsify)]
#[tsify(missing_as_null)]
pub struct PrecisionReport {
    pub passes: bool,
    pub verdict: String,
    pub fault: Option<PrecisionFault>,
    pub tensors: usize,
    pub rows: Vec<PrecisionRow>,
    pub text: String,
}

/// Graphics memory.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct DeviceMemory {
    pub used_bytes: u64,
    /// Includes the memory that is kept for the next use.
    pub held_bytes: u64,
}

/// The speaker's consent, as a voice stores it.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
#[tsify(missing_as_null)]
pub struct StoredConsent {
    pub text: String,
    pub recording_sha256: Option<String>,
}

/// Where a voice comes from.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
#[tsify(missing_as_null)]
pub struct VoiceInfo {
    pub adapted: bool,
    pub has_pitch: bool,
    pub iterations: usize,
    pub seconds: f32,
    pub consent: Option<StoredConsent>,
}

impl VoiceInfo {
    pub fn new(info: &voice::VoiceInfo, has_pitch: bool) -> Self {
        let consent = info
            .consent
            .clone()
            .map(|consent| StoredConsent { text: consent.text, recording_sha256: consent.recording_sha256 });
        Self { adapted: info.adapted, has_pitch, iterations: info.iterations, seconds: info.seconds, consent }
    }
}

/// A mel spectrogram.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct Mel {
    pub mels: usize,
    pub frame_seconds: f32,
    #[serde(with = "float32_array")]
    #[tsify(type = "Float32Array<ArrayBuffer>")]
    pub data: Vec<f32>,
}

/// Why speech ended.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "kebab-case")]
pub enum SpeechStop {
    Durations,
    MaxFrames,
}

/// Synthetic speech.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct Speech {
    #[serde(with = "float32_array")]
    #[tsify(type = "Float32Array<ArrayBuffer>")]
    pub samples: Vec<f32>,
    /// In Hz.
    pub sample_rate: u32,
    pub mel: Mel,
    #[serde(serialize_with = "uint32_array::serialize")]
    #[tsify(type = "Uint32Array<ArrayBuffer>")]
    pub durations: Vec<u32>,
    pub symbols: Vec<String>,
    pub words: Vec<SpokenWord>,
    pub stop: SpeechStop,
}

/// A spoken word, and when it begins and ends, in seconds.
#[derive(Serialize, Tsify)]
pub struct SpokenWord {
    pub text: String,
    pub begin: f32,
    pub end: f32,
}

impl Speech {
    pub fn new(speech: synth::Speech, frame_seconds: f32) -> Self {
        Self {
            samples: speech.samples,
            sample_rate: speech.sample_rate_hz,
            mel: Mel { mels: speech.mel.mels, frame_seconds, data: speech.mel.data },
            durations: speech.durations,
            symbols: symbol_names(&speech.symbols),
            words: speech
                .words
                .into_iter()
                .map(|word| SpokenWord { text: word.text, begin: word.begin_seconds, end: word.end_seconds })
                .collect(),
            stop: match speech.stop {
                StopReason::MaxFrames => SpeechStop::MaxFrames,
                _ => SpeechStop::Durations,
            },
        }
    }
}

#[wasm_bindgen]
extern "C" {
    /// A callback that returns the dispatches and bytes so far, or null where they are not counted.
    #[wasm_bindgen(extends = Function, typescript_type = "() => [number, number] | null")]
    pub type CountWork;
}
