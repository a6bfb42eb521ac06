//! Cloning: a base is fine-tuned on about a minute of a speaker's clips. `docs/cloning.md` describes the algorithm, with the evidence for each constant.
//!
//! [`FineTuner::start_async`] does everything that is not iterative:
//!
//! 1. [`clip`] checks each recording, computes its mel spectrogram and pitch, and aligns it with its text; `held_out` sets some clips aside.
//! 2. `frame_store` puts the frames of all clips on the device. The encoder is frozen, so that the context of each frame is computed once.
//! 3. `nearest_speaker` finds the speaker of the base that the training starts from.
//! 4. `prosody` fits tempo, durations (`timing`), voicing (`voicing`) and pitch in closed form, by the regressions of `regression`.
//! 5. `rehearsal` synthesises sentences against forgetting, whose spectra `conversion` moves to the speaker.
//!
//! [`FineTuner::step_async`] (in `step`) then trains decoder, postnet and speaker embedding on windows that `clip_dataset` samples. `validation` scores the
//! held-out clips and keeps parameters, `fault` traces non-finite values, and [`helper`] splits a batch among workers.
//! [`FineTuner::finish_async`] corrects the spectra of the result (`calibration`).
//!
//! Between two iterations, `checkpoint` stores the training, `rounding` makes its files smaller, and [`alignment_snapshot`] shows it.
//! [`anchors`] measures how similar a voice is to its speaker.

pub mod alignment_snapshot;
pub mod anchors;
mod calibration;
mod checkpoint;
pub mod clip;
mod clip_dataset;
mod conversion;
mod fault;
mod fine_tuner;
mod frame_store;
mod held_out;
pub mod helper;
mod nearest_speaker;
pub mod options;
mod prosody;
mod regression;
mod rehearsal;
mod rounding;
mod step;
mod timing;
mod validation;
mod voicing;

pub use crate::learn::tuner::{EVALUATE_EVERY, TuneStop};
pub use fine_tuner::FineTuner;
pub use helper::{FlatBuffer, Helper};
pub use step::Step;
