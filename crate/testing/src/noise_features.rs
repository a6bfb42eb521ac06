//! Features of noise: utterances of several lengths by two speakers.

use ownvoice::{
    audio::mel::{Mel, MelConfig},
    features::{FeatureWriter, NewUtterance},
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// Writes the features.
///
/// * `has_pitch`: whether they hold random pitch
pub fn write(folder: &Path, has_pitch: bool) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut writer = FeatureWriter::create(folder, MelConfig::speech_16k()).unwrap();
    for number in 0..100 {
        let durations = vec![random.random_range(3..9); 10];
        let frames = durations.iter().sum::<u32>() as usize;
        let mut hz = || if random.random_bool(0.6) { random.random_range(80.0..200.0) } else { 0.0 };
        let f0_hz: Vec<f32> = (0..frames).take_while(|_| has_pitch).map(|_| hz()).collect();
        writer
            .push(NewUtterance {
                speaker: ["a", "b"][number % 2],
                id: number.to_string(),
                text: String::new(),
                symbols: durations
                    .iter()
                    .map(|_| random.random_range(5..30u8).try_into().expect("an index of the table"))
                    .collect(),
                mel: &Mel {
                    mels: 80,
                    data: (0..frames * 80).map(|_| random.random_range(-8.0..0.0)).collect(),
                },
                durations: Some(durations),
                f0_hz: &f0_hz,
            })
            .unwrap();
    }
    writer.finish().unwrap();
}
