//! Speech in your own voice, learned from one minute of it on your own machine.
//!
//! ownvoice is a multi-speaker Tacotron 2 (Shen et al. 2017, "Natural TTS Synthesis by Conditioning WaveNet on Mel Spectrogram Predictions") written with
//! [burn](https://burn.dev).
//! A *base* is the pretrained model of many speakers; a *voice* is a base and the difference that makes it one person; a *clip* is a recording and its text.
//! Cloning fine-tunes a base on a minute of clips, which takes about a minute on a few CPU cores, and nothing leaves the machine.
//!
//! # The way from recordings to speech
//!
//! ```
//! use ownvoice::{Base, Clip, CloneOptions, Device, FineTuner, SpeakOptions, speak};
//!
//! # let models = ownvoice_testing::tiny_folder();
//! # let folder = models.path().join("base");
//! # let clips = ownvoice_testing::held_out_clips(2);
//! // The base: models/base in the project's repository.
//! let base = Base::open(folder, &Device::flex())?;
//!
//! // A minute of sentences: Clip::open("one.wav", "What is said in it.")?, and so on.
//! for clip in &clips {
//!     clip.check(&base)?;
//! }
//!
//! // The training, one iteration at a time: 75 by default.
//! let options = CloneOptions { iterations: 3, ..CloneOptions::default() };
//! let mut tuner = FineTuner::start(&base, &clips, options)?;
//! loop {
//!     let step = tuner.step()?;
//!     println!("{} of {}: loss {:.3}", step.iteration, step.iterations, step.loss);
//!     if step.stop.is_some() {
//!         break;
//!     }
//! }
//! let voice = tuner.finish()?;
//!
//! // A file to keep, and a sentence.
//! let voice_file = voice.save(&base)?;
//! let speech = speak(&base, &voice, "Anything at all.", &SpeakOptions::default())?;
//! let wav_file = speech.to_wav(&voice.id(&base)?);
//! # assert!(voice_file.len() > 1000 && wav_file.len() > 10_000);
//! # Ok::<(), Error>(())
//! ```
//!
//! A [`Voice`] is opened again with [`Voice::open`], on the base that it was made with.
//! Every error is an [`Error`] with a [`kind`](Error::kind), a stable [`code`](Error::code), and the clip or file that it is about.
//! Clone only your own voice, or one whose owner agreed: [`Voice::set_consent`] keeps the agreement in the voice file, and [`Speech::to_wav`] marks what it
//! writes as synthetic.
//!
//! # Devices
//!
//! `Device::flex()` is the CPU, and always there.
//! With the feature `webgpu`, `vulkan` or `cuda` it can be a graphics card; nothing ever falls back from one device to another.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `cli` (default) | the command `ownvoice`; implies `pretraining` and `lips` |
//! | `lips` | speech from silent videos of faces, and what learns it: native only; implies `lips-core` and `pretraining`, needs the program ffmpeg |
//! | `lips-core` | speech from pictures of a face that are decoded elsewhere, as in a page |
//! | `pretraining` | corpora, training of a base, import of PyTorch files: native only; implies `formats` and `parallel` |
//! | `formats` | recordings in other formats than WAV: native only |
//! | `parallel` | several CPU cores |
//! | `webgpu`, `vulkan`, `cuda` | graphics cards |
//! | `mpi` | ranks of a pretraining as processes that `mpirun` starts; implies `pretraining`, needs Open MPI |
//!
//! A program that speaks and clones needs `default-features = false, features = ["parallel"]`, and compiles neither clap nor plotters.
//!
//! # What is stable
//!
//! What this page lists follows semantic versioning.
//! The modules behind it are public for the command line, the wasm boundary, tests and measurements of this project, but hidden here: they are not covered by
//! semantic versioning, and any release may change them.
//!
//! Axes in the code: `B` batch, `L` text symbols, `T` mel frames, `M` mel channels, `E` encoder width, `S` samples, `H` hidden width, `R` frames a decoder step.

pub mod align;
pub mod audio;
#[cfg(not(target_family = "wasm"))]
pub mod blocking;
pub mod check;
pub mod clone;
pub mod error;
pub mod features;
pub mod files;
pub mod learn;
#[cfg(feature = "lips")]
pub mod lips;
pub mod model;
pub mod report;
pub mod synth;
pub mod text;
pub mod vocoder;
pub mod voice;

// Modules are hidden from rustdoc alone: `missing_docs`, which the facade's items turn on, passes by whatever lies in a module that is hidden.
// Each imports only those before it.

#[cfg(not(target_family = "wasm"))]
pub use blocking::speak;
#[doc(no_inline)]
pub use burn::tensor::Device;

#[doc(inline)]
pub use audio::{
    Audio,
    level::{ClipReport, Edge},
    mel::Mel,
};
#[doc(inline)]
pub use clone::{
    FineTuner, Step, TuneStop,
    clip::Clip,
    options::{CloneOptions, StopRule, ValidationMetrics},
};
#[doc(inline)]
pub use error::{Error, ErrorKind, Measured, Result, Unit};
#[doc(inline)]
pub use model::stop::StopReason;
pub use synth::{SpeakOptions, Speech};
#[doc(inline)]
pub use voice::{Base, BaseFiles, Consent, Voice, VoiceInfo};
