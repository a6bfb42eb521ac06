//! Audio processing on the host: recordings, resampling, levels, mel spectrograms, pitch and speaker statistics. It is independent of models.

pub mod cepstra;
mod channels;
pub mod dct;
#[cfg(feature = "formats")]
pub mod decode;
pub mod excitation;
mod filterbank;
pub mod global_variance_scale;
pub mod level;
pub mod mel;
mod mel_config;
mod note;
pub mod pauses;
pub mod pitch;
pub mod psola;
pub mod resample;
pub mod rumble;
pub mod source;
pub mod speaker;
pub mod stft;
pub mod wav;

use crate::Result;
use level::ClipReport;
use mel::MelConfig;
pub use note::Note;

/// The speech level, in dBFS, to which the clips of visitors and of the corpus are normalised for the model.
pub const SPEECH_LEVEL_DB: f32 = -23.0;

/// A recording with one channel.
#[warn(missing_docs)]
#[derive(Clone, Debug, PartialEq)]
pub struct Audio {
    /// The samples, `[S]`; full scale is -1 to 1.
    pub samples: Vec<f32>,
    /// The sample rate; clips to learn from have 8,000 to 192,000 Hz.
    pub sample_rate_hz: u32,
}

#[warn(missing_docs)]
impl Audio {
    /// Returns the length in seconds.
    pub fn seconds(&self) -> f32 {
        self.samples.len() as f32 / self.sample_rate_hz as f32
    }
}

/// Reads a recording: a WAV file or, with the feature `formats`, any format that [`decode`] supports.
///
/// # Errors
/// Fails with `audio-unreadable`.
pub fn read(bytes: &[u8]) -> Result<Audio> {
    read_with_notes(bytes).map(|(audio, _)| audio)
}

/// Reads a recording as [`read`] does, and returns what was unusual about the file.
pub fn read_with_notes(bytes: &[u8]) -> Result<(Audio, Vec<Note>)> {
    #[cfg(feature = "formats")]
    if !wav::is_wav(bytes) {
        return decode::read(bytes);
    }
    wav::read_with_notes(bytes)
}

/// Prepares a recording for a model: checks it, resamples it to the configured rate, removes rumble, trims it to its speech with a margin of 50 ms, and
/// normalises it to [`SPEECH_LEVEL_DB`].
pub fn prepare_clip(clip: &Audio, config: &MelConfig) -> Result<Vec<f32>> {
    prepare_checked(clip, config).map(|(samples, _)| samples)
}

/// Prepares a recording as [`prepare_clip`] does, and returns the report of its check too.
pub fn prepare_checked(clip: &Audio, config: &MelConfig) -> Result<(Vec<f32>, ClipReport)> {
    let report = level::check_clip(clip)?;
    let samples = resample::resample(&clip.samples, clip.sample_rate_hz, config.sample_rate_hz)?;
    let samples = rumble::remove_rumble(&samples, config.sample_rate_hz);
    let speech = &samples[level::trim_silence(&samples, config.sample_rate_hz)];
    Ok((level::normalize(speech, SPEECH_LEVEL_DB), report))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_of_any_rate_and_level_are_prepared_alike() {
        let config = MelConfig::speech_16k();
        // A voice between pauses, with an offset and a hum that is louder than the quietest voice.
        let speak = |rate: u32, gain: f32| {
            let at = |n: usize| {
                let t = n as f32 / rate as f32 - 0.5;
                let voiced = (0.0..1.5).contains(&t) && t % 0.3 < 0.2;
                let tone = |hz: f32| (std::f32::consts::TAU * hz * t).sin();
                0.01 + 0.1 * tone(25.0) + if voiced { gain * tone(150.0) } else { 0.0 }
            };
            Audio { samples: (0..rate as usize * 3).map(at).collect(), sample_rate_hz: rate }
        };
        let reference = prepare_clip(&speak(16_000, 0.3), &config).unwrap();
        assert!((reference.len() as f32 / 16_000.0 - 1.5).abs() < 0.11, "1.4 s of speech and margins");
        assert!((level::speech_level_db(&reference, 16_000) - SPEECH_LEVEL_DB).abs() < 0.3);
        assert!((reference.iter().sum::<f32>() / reference.len() as f32).abs() < 1e-4, "no offset");
        for (rate, gain) in [(48_000, 0.05), (44_100, 0.8), (8_000, 0.2)] {
            let clip = prepare_clip(&speak(rate, gain), &config).unwrap();
            assert!(
                clip.len().abs_diff(reference.len()) <= 640,
                "{rate}: {} and {}",
                clip.len(),
                reference.len()
            );
            assert!((level::speech_level_db(&clip, 16_000) - SPEECH_LEVEL_DB).abs() < 0.3);
        }
        assert_eq!(prepare_clip(&speak(4_000, 0.3), &config).unwrap_err().code(), "rate-unsupported");
        assert_eq!(prepare_clip(&speak(16_000, 0.0), &config).unwrap_err().code(), "clip-too-quiet");
    }
}
