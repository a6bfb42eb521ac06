//! Synthetic corpora for checks that run without recordings.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{
    audio::mel::{Mel, MelConfig},
    features::{Features, NewUtterance},
    text::symbols::Symbol,
};

/// The symbols of an utterance, and the frames of a symbol.
const SYMBOLS: usize = 40;
const SYMBOL_FRAMES: u32 = 5;

/// Returns random log-mels.
pub fn noise(mels: usize, frames: usize) -> Mel {
    let mut rng = ChaCha8Rng::seed_from_u64(frames as u64);
    Mel { mels, data: (0..frames * mels).map(|_| rng.random_range(-8.0..0.0)).collect() }
}

/// Returns a corpus of noise with the lengths of speech, with one utterance per speaker.
pub fn corpus(mels: usize, speakers: usize) -> Features {
    let mut features = Features::new(MelConfig::speech_16k());
    for number in 0..speakers {
        let symbols = (0..SYMBOLS).filter_map(|index| Symbol::from_index(10 + index % 30)).collect();
        let mel = noise(mels, SYMBOLS * SYMBOL_FRAMES as usize);
        features.push(NewUtterance {
            speaker: &number.to_string(),
            id: number.to_string(),
            text: String::new(),
            symbols,
            durations: Some(vec![SYMBOL_FRAMES; SYMBOLS]),
            mel: &mel,
            f0_hz: &vec![0.0; mel.frames()],
        });
    }
    features
}

/// Returns a deterministic corpus that resembles speech: four speakers with an utterance each, of symbols most of which are voiced.
pub fn sample_features(mels: usize) -> Features {
    let mut features = Features::new(MelConfig::speech_16k());
    for voice in 0..4usize {
        let frames = SYMBOLS * SYMBOL_FRAMES as usize;
        // Each band oscillates at its own frequency between -8 and 0, the range of log-mels.
        let value = |frame: usize, band: usize| {
            let phase = 0.31 * frame as f32 * (1.0 + 0.05 * band as f32) + 1.7 * band as f32 + voice as f32;
            -4.0 + 2.5 * phase.sin() + 1.5 * (0.07 * frame as f32 + 0.2 * band as f32).cos()
        };
        let data = (0..frames * mels).map(|at| value(at / mels, at % mels)).collect();
        let pitch = |frame: usize| match frame / SYMBOL_FRAMES as usize % 4 {
            0 => 0.0,
            _ => 120.0 + 20.0 * voice as f32 + 15.0 * (0.05 * frame as f32).sin(),
        };
        features.push(NewUtterance {
            speaker: &voice.to_string(),
            id: format!("sample-{voice}"),
            text: String::new(),
            symbols: (0..SYMBOLS).filter_map(|index| Symbol::from_index(10 + (index + voice) % 30)).collect(),
            durations: Some(vec![SYMBOL_FRAMES; SYMBOLS]),
            mel: &Mel { mels, data },
            f0_hz: &(0..frames).map(pitch).collect::<Vec<f32>>(),
        });
    }
    features
}
