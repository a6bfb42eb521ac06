//! Synthesises speech from faces.

use super::{
    base::LipBase,
    clock::{mel_frames, samples},
    encoder::{normalised, pictures},
    face::FACE_BYTES,
    track::{SEARCH_EVERY, Track},
};
use crate::{
    Error, Result,
    audio::{
        mel::Mel,
        wav::{self, Origin},
    },
    vocoder::Vocoder,
};
use burn_fused::{Mode, readback::read};

/// The speech of a face.
#[derive(Debug, Clone)]
pub struct FaceSpeech {
    pub mel: Mel,
    /// The attention of each window, `[steps, pictures]`.
    pub alignments: Vec<AttentionMap>,
}

/// The attention weights of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct AttentionMap {
    /// `[steps, pictures]`; each row sums to one.
    pub weights: Vec<f32>,
    pub pictures: usize,
}

impl AttentionMap {
    /// Returns whether attention never moves back by more than one picture.
    pub fn is_monotonic(&self) -> bool {
        let attended: Vec<usize> = self
            .weights
            .chunks_exact(self.pictures)
            .map(|row| (0..row.len()).max_by(|&one, &other| row[one].total_cmp(&row[other])).unwrap_or(0))
            .collect();
        attended.windows(2).all(|pair| pair[1] + 1 >= pair[0])
    }
}

/// Synthesises speech from faces, window by window.
///
/// * `faces`:   `[pictures, 96, 96, 3]`, where the number of pictures is a multiple of five
/// * `speaker`: a row of the speaker table
pub async fn speak_faces_async(base: &LipBase, faces: &[u8], speaker: usize) -> Result<FaceSpeech> {
    let (model, config, mel) = (&base.model, &base.manifest.model.tacotron, &base.manifest.mel);
    let count = faces.len() / FACE_BYTES;
    assert!(
        count.is_multiple_of(SEARCH_EVERY) && faces.len().is_multiple_of(FACE_BYTES),
        "a track has a multiple of five pictures"
    );
    let voice = model.speakers.val().narrow(0, speaker, 1);
    let (mut values, mut alignments) = (Vec::new(), Vec::new());
    for window in windows(count, base.manifest.window_pictures) {
        let seen = pictures(&[window.len()], None, &base.device);
        let faces = &faces[window.start * FACE_BYTES..window.end * FACE_BYTES];
        let faces = normalised(faces, base.manifest.model.side, &base.device);
        let steps = mel_frames(window.len(), mel) / config.reduction;
        let said = model.decode(faces, &seen, voice.clone(), steps, Mode::Eval);
        let [_, frames, mels] = said.frames.dims();
        let refined = said.frames.clone() + model.postnet.forward(said.frames, Mode::Eval);
        values.extend(read(refined.reshape([frames * mels])).await?);
        let weights = read(said.alignment.reshape([steps * window.len()])).await?;
        alignments.push(AttentionMap { weights, pictures: window.len() });
    }
    Ok(FaceSpeech { mel: config.log_mels(values, mel), alignments })
}

/// Divides pictures into as few windows as possible, of similar length.
fn windows(count: usize, longest: usize) -> Vec<std::ops::Range<usize>> {
    let (units, windows) = (count / SEARCH_EVERY, count.div_ceil(longest.max(SEARCH_EVERY)));
    let border = |number: usize| number * units / windows * SEARCH_EVERY;
    (0..windows).map(|number| border(number)..border(number + 1)).collect()
}

/// The speech of a video.
#[derive(Debug)]
pub struct LipSpeech {
    /// The samples, as long as the video; silent where no face can be used.
    pub samples: Vec<f32>,
    pub sample_rate_hz: u32,
    /// The number of stretches that were used.
    pub tracks: usize,
    /// The reasons why parts were left out, each with its seconds.
    pub left_out: Vec<(Error, Option<[f32; 2]>)>,
}

impl LipSpeech {
    /// Returns the length in seconds.
    pub fn seconds(&self) -> f32 {
        self.samples.len() as f32 / self.sample_rate_hz as f32
    }

    /// Encodes a 16-bit WAV file that is marked as synthetic.
    pub fn to_wav(&self, voice_id: &str) -> Vec<u8> {
        wav::write_with_origin(&self.samples, self.sample_rate_hz, &Origin::synthetic(voice_id))
    }
}

/// Synthesises one track of a video into its position in the speech of the video.
///
/// * `faces`:  the faces of the track, see [`speak_faces_async`]
/// * `speech`: the samples of the whole video, at the rate of the vocoder
pub async fn speak_track(
    base: &LipBase,
    (track, faces): (&Track, &[u8]),
    speaker: usize,
    vocoder: &dyn Vocoder,
    speech: &mut [f32],
) -> Result<()> {
    let said = speak_faces_async(base, faces, speaker).await?;
    let rate_hz = vocoder.sample_rate_hz();
    let start = samples(track.first_frame, rate_hz);
    let end = start + samples(track.squares.len(), rate_hz);
    let spoken = vocoder.vocode(&said.mel);
    speech[start..end].iter_mut().zip(spoken).for_each(|(sample, said)| *sample = said);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_divide_the_pictures_evenly() {
        assert_eq!(windows(75, 75), [0..75]);
        assert_eq!(windows(80, 75), [0..40, 40..80]);
        assert_eq!(windows(85, 75), [0..40, 40..85]);
        assert_eq!(windows(30, 10), [0..10, 10..20, 20..30]);
    }

    #[test]
    fn attention_that_moves_back_is_not_monotonic() {
        let alignment = |attended: &[usize]| AttentionMap {
            weights: attended
                .iter()
                .flat_map(|&at| (0..4).map(move |picture| f32::from(u8::from(picture == at))))
                .collect(),
            pictures: 4,
        };
        assert!(alignment(&[0, 1, 0, 1, 2, 3]).is_monotonic());
        assert!(!alignment(&[0, 2, 0, 3]).is_monotonic());
    }
}
