//! Writes random features with the lengths of speech, to measure loading with a corpus of any size.
//!
//! ```text
//! cargo run --release --example random_features -- 20 folder
//! ```

use ownvoice::{
    Error,
    audio::mel::{Mel, MelConfig},
    features::{FeatureWriter, NewUtterance},
    text::symbols::Symbol,
};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::{env, path::Path};

const SPEAKERS: usize = 64;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [hours, folder] = &arguments[..] else { panic!("usage: random_features HOURS FOLDER") };
    let hours: f32 = hours.parse().expect("a number of hours");
    let config = MelConfig::speech_16k();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut writer = FeatureWriter::create(Path::new(folder), config.clone())?;
    let (mut seconds, mut number) = (0.0, 0);
    while seconds < hours * 3600.0 {
        // 2 to 10 s: 20 to 120 symbols of 4 to 12 frames.
        let symbols: Vec<Symbol> = (0..random.random_range(20..=120))
            .map(|_| random.random_range(5..40u8).try_into().expect("an index of the table"))
            .collect();
        let durations: Vec<u32> = symbols.iter().map(|_| random.random_range(4..=12)).collect();
        let frames = durations.iter().sum::<u32>() as usize;
        let mut data = vec![0.0; frames * config.mels];
        data.iter_mut().for_each(|value| *value = -8.0 * (random.next_u32() >> 8) as f32 / (1 << 24) as f32);
        let f0_hz: Vec<f32> = (0..frames)
            .map(|frame| if frame % 40 < 30 { random.random_range(80.0..250.0) } else { 0.0 })
            .collect();
        seconds += frames as f32 * config.frame_seconds();
        writer.push(NewUtterance {
            speaker: &format!("speaker-{}", number % SPEAKERS),
            id: format!("{number:06}"),
            text: String::new(),
            symbols,
            durations: Some(durations),
            mel: &Mel { mels: config.mels, data },
            f0_hz: &f0_hz,
        })?;
        number += 1;
    }
    let features = writer.finish()?;
    println!("{number} utterances, {:.2} h", features.seconds() / 3600.0);
    Ok(())
}
