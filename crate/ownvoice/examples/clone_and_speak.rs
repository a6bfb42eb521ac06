//! Clones a voice from recordings and speaks a sentence with it: the program in README.
//!
//! Run `cargo run --release --example clone_and_speak` in a folder with `models/base` and `one.wav`.

use ownvoice::{Base, Clip, CloneOptions, Device, FineTuner};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let base = Base::open("models/base", &Device::flex())?;
    let clips = [Clip::open("one.wav", "What is said in it.")?]; // and so on, about a minute
    let mut tuner = FineTuner::start(&base, &clips, CloneOptions::default())?;
    while tuner.step()?.stop.is_none() {}
    let voice = tuner.finish()?;
    let speech = voice.speak("Anything at all.")?;
    std::fs::write("say.wav", speech.to_wav(&voice.id()?))?;
    Ok(())
}
