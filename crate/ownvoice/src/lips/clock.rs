//! Conversion between pictures, mel frames and samples.
//!
//! Five pictures at 25 a second last as long as sixteen mel frames at 80 a second: 0.2 s. Tracks are multiples of that.

use crate::{
    Error, Result,
    audio::mel::{Mel, MelConfig, MelExtractor},
};

/// The number of pictures a second.
pub const FRAMES_PER_SECOND: usize = 25;

/// The largest difference in length between the pictures and the sound of a video; more means that they do not belong together.
const MAX_DIFFERENCE_SECONDS: f32 = 1.0;

/// Returns the duration of pictures in seconds.
pub fn seconds(pictures: usize) -> f32 {
    pictures as f32 / FRAMES_PER_SECOND as f32
}

/// Returns the number of mel frames that last as long as `pictures`, a multiple of five.
pub fn mel_frames(pictures: usize, mel: &MelConfig) -> usize {
    pictures * mel.sample_rate_hz as usize / (FRAMES_PER_SECOND * mel.hop_length)
}

/// Returns the number of samples that last as long as `pictures`.
pub fn samples(pictures: usize, rate_hz: u32) -> usize {
    pictures * rate_hz as usize / FRAMES_PER_SECOND
}

/// Returns the number of pictures that have sound: both end with the shorter one. Fails with `lengths-differ` if the two do not belong together.
///
/// * `sound`: the number of samples
pub fn common_pictures(pictures: usize, sound: usize, rate_hz: u32) -> Result<usize> {
    let [shown, spoken] = [seconds(pictures), sound as f32 / rate_hz as f32];
    if (shown - spoken).abs() > MAX_DIFFERENCE_SECONDS {
        return Err(Error::lengths_differ(shown, spoken, MAX_DIFFERENCE_SECONDS));
    }
    Ok(pictures.min(sound * FRAMES_PER_SECOND / rate_hz as usize))
}

/// Computes the mel of sound that lasts as long as `pictures`.
pub fn extract_mel(extractor: &MelExtractor, sound: &[f32], pictures: usize) -> Mel {
    let config = extractor.config();
    assert_eq!(sound.len(), samples(pictures, config.sample_rate_hz));
    let Mel { mels, mut data } = extractor.extract(sound);
    // The frame after the last is centred on the end.
    data.truncate(mel_frames(pictures, config) * mels);
    Mel { mels, data }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_pictures_are_sixteen_frames() {
        let mel = MelConfig::speech_16k();
        assert_eq!((mel_frames(5, &mel), mel_frames(75, &mel), samples(5, 16_000)), (16, 240, 3200));
        assert_eq!(seconds(5), 0.2);
    }

    #[test]
    fn pictures_and_sound_end_together_unless_their_lengths_differ_much() {
        assert_eq!(common_pictures(50, 2 * 16_000, 16_000).unwrap(), 50);
        assert_eq!(common_pictures(50, 28_900, 16_000).unwrap(), 45);
        assert_eq!(common_pictures(40, 2 * 16_000, 16_000).unwrap(), 40);
        for (pictures, sound) in [(50, 0), (50, 80_000)] {
            assert_eq!(common_pictures(pictures, sound, 16_000).unwrap_err().code(), "lengths-differ");
        }
    }
}
