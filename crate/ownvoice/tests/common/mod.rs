//! Cloning and speech on a tiny base.
#![allow(dead_code)] // Each test program uses a part of it.

use ownvoice::{
    clone::{
        FineTuner, Step,
        clip::Clip,
        options::{AdvancedCloneOptions, CloneOptions},
    },
    synth::{SpeakOptions, Speech, speak_async},
    vocoder::GriffinLim,
    voice::{Base, Voice},
};
use pollster::block_on;

/// Returns options for a quick training of a tiny base.
pub fn options(iterations: usize) -> CloneOptions {
    let advanced =
        AdvancedCloneOptions { batch: 4, window: 64, rate: 2e-3, ..AdvancedCloneOptions::default() };
    CloneOptions { iterations, advanced, ..CloneOptions::default() }
}

/// Clones a voice and returns its steps.
pub fn run(base: &Base, clips: &[Clip], iterations: usize) -> (Voice, Vec<Step>) {
    run_with(base, clips, options(iterations))
}

pub fn run_with(base: &Base, clips: &[Clip], options: CloneOptions) -> (Voice, Vec<Step>) {
    let mut tuner = block_on(FineTuner::start_async(base, clips, options)).unwrap();
    let mut steps = Vec::new();
    loop {
        steps.push(block_on(tuner.step_async()).unwrap());
        if steps.last().unwrap().stop.is_some() {
            return (block_on(tuner.finish_async()).unwrap(), steps);
        }
    }
}

/// Speaks a text with few iterations of Griffin-Lim.
pub fn say(voice: &Voice, text: &str, options: &SpeakOptions) -> ownvoice::Result<Speech> {
    let mut vocoder = GriffinLim::new(voice.base().mel_config().clone());
    vocoder.iterations = 2;
    block_on(speak_async(voice, text, options, &vocoder, async |_, _| true))
}
