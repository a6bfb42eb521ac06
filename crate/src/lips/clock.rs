//! The clock that pictures, mels and samples share.
//!
//! Five pictures at 25 a second last as long as sixteen frames of a mel at 80 a second: 0.2 s. Tracks are multiples of that.

use crate::audio::mel::MelConfig;

/// Pictures a second.
pub const FRAMES_PER_SECOND: usize = 25;

/// How long so many pictures last.
pub fn seconds(pictures: usize) -> f32 {
    pictures as f32 / FRAMES_PER_SECOND as f32
}

/// Mel frames that last as long as so many pictures, which are a multiple of five.
pub fn mel_frames(pictures: usize, mel: &MelConfig) -> usize {
    pictures * mel.sample_rate_hz as usize / (FRAMES_PER_SECOND * mel.hop_length)
}

/// Samples that last as long as so many pictures.
pub fn samples(pictures: usize, rate_hz: u32) -> usize {
    pictures * rate_hz as usize / FRAMES_PER_SECOND
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
}
