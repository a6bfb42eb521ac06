//! Clones a voice from one minute of recordings, and speaks any text with it, on your own machine.
//!
//! ownvoice is a multi-speaker Tacotron 2 (Shen et al. 2017, "Natural TTS Synthesis by Conditioning WaveNet on Mel Spectrogram Predictions") with explicit
//! durations (Shen et al. 2020, "Non-Attentive Tacotron"), written with [burn](https://burn.dev).
//!
//! - A [`Base`] is the pretrained model of many speakers, in a folder such as `models/base` of the project's repository.
//! - A [`Clip`] is a recording and its text.
//! - A [`FineTuner`] clones: it trains decoder, postnet and a speaker embedding on a minute of clips, which takes about a minute on a few CPU cores.
//! - A [`Voice`] is the result: its difference from the base, and a reference to the base. It speaks, and is saved as a file of about 3 MB.
//!
//! # From recordings to speech
//!
//! ```
//! use ownvoice::{Base, Clip, CloneOptions, Device, FineTuner, Voice};
//!
//! # let models = ownvoice_testing::tiny_folder();
//! # let folder = models.path().join("base");
//! # let clips = ownvoice_testing::held_out_clips(2);
//! let base = Base::open(folder, &Device::flex())?;
//!
//! // About a minute of clips: Clip::open("one.wav", "What is said in it.")?, and so on.
//! for clip in &clips {
//!     clip.check(&base)?;
//! }
//!
//! // The training runs one iteration at a time: 75 by default.
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
//! // A voice file is opened on the base that it was made with.
//! let voice_file = voice.save()?;
//! let voice = Voice::open(&base, &voice_file)?;
//! let speech = voice.speak("Anything at all.")?;
//! let wav_file = speech.to_wav(&voice.id()?);
//! # assert!(voice_file.len() > 1000 && wav_file.len() > 10_000);
//! # Ok::<(), ownvoice::Error>(())
//! ```
//!
//! [`Voice::stream`] synthesises a long text sentence by sentence, and [`SpeakOptions`] change speed and pitch.
//! A training can be stopped and resumed ([`FineTuner::checkpoint`], [`FineTuner::resume`]).
//! Functions that end in `_async` are for callers that await, such as a page.
//! Every error is an [`Error`] with a [`kind`](Error::kind), a stable [`code`](Error::code), and the clip or file that it is about.
//!
//! Clone only your own voice, or that of a person who agreed. [`Voice::set_consent`] stores the agreement in the voice file, and [`Speech::to_wav`] marks the
//! file as synthetic.
//!
//! # Devices
//!
//! `Device::flex()` is the CPU, which is always available.
//! With the feature `webgpu`, `vulkan` or `cuda`, a device can be a graphics card. No operation falls back from one device to another.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `parallel` (default) | computation on several CPU cores |
//! | `formats` | recordings in other formats than WAV: native only |
//! | `lips` | speech from pictures of a face |
//! | `nets` | small nets for pictures, tuned by the loop that clones voices |
//! | `webgpu`, `vulkan`, `cuda` | graphics cards |
//!
//! The command line and the training of bases are a crate of their own, `ownvoice-cli`.
//!
//! # What is stable
//!
//! The items that are re-exported at the root, listed below, follow semantic versioning.
//! The modules are public for the command line, the WebAssembly boundary, tests and measurements of this project: any release may change what only they
//! contain.
//!
//! # Modules
//!
//! Each module begins with an overview, and imports only those before it in this order: [`digest`], [`error`], [`report`], [`audio`], [`text`], [`files`], `image`, [`align`],
//! [`vocoder`], [`learn`], [`features`], [`model`], [`voice`], [`synth`], [`check`], [`clone`](mod@clone), `lips`, `nets`, `blocking`.
//!
//! Axes in the code: `B` batch, `L` text symbols, `T` mel frames, `M` mel channels, `E` encoder width, `V` speaker width, `S` samples, `H` hidden width, `R`
//! frames per decoder step.

pub mod align;
pub mod audio;
#[cfg(not(target_family = "wasm"))]
pub mod blocking;
pub mod check;
pub mod clone;
pub mod digest;
pub mod error;
pub mod features;
pub mod files;
#[cfg(any(feature = "lips", feature = "nets"))]
pub mod image;
pub mod learn;
#[cfg(feature = "lips")]
pub mod lips;
pub mod model;
#[cfg(feature = "nets")]
pub mod nets;
pub mod report;
pub mod synth;
pub mod text;
pub mod vocoder;
pub mod voice;

#[cfg(not(target_family = "wasm"))]
pub use blocking::SpeechStream;
#[doc(no_inline)]
pub use burn::tensor::Device;
#[doc(inline)]
pub use burn_fused::Precision;

#[doc(inline)]
pub use audio::{
    Audio, Note,
    level::{ClipReport, Edge},
    mel::Mel,
};
#[doc(inline)]
pub use clone::{
    FineTuner, Step, TuneStop,
    clip::Clip,
    options::{AdvancedCloneOptions, CloneOptions, StopRule, ValidationMetrics},
};
#[doc(inline)]
pub use error::{Error, ErrorKind, Measured, Result, Unit};
#[doc(inline)]
pub use model::stop::StopReason;
#[doc(inline)]
pub use synth::{SpeakOptions, Speech, SpokenWord};
#[doc(inline)]
pub use text::symbols::Symbol;
#[doc(inline)]
pub use voice::{Base, BaseFiles, Consent, Voice, VoiceInfo};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_voices_and_trainings_cross_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Base>();
        shared::<Voice>();
        fn sent<T: Send>() {}
        sent::<FineTuner>();
    }
}
