//! The training features, faces and mels, which `ownvoice lips prepare` writes.
//!
//! ```text
//! features.json, mels.safetensors    the sound of each track, as `ownvoice prepare` writes it, without symbols
//! faces.json                         each track's file, start and pictures, in the order of features.json
//! faces.rgb                          [all pictures, 96, 96, 3] bytes
//! ```

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    ops::Range,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use ownvoice::{
    Error, Result,
    audio::mel::{MelConfig, MelExtractor},
    features::{FeatureWriter, Features, NewUtterance},
    files,
    lips::{
        clock::{FRAMES_PER_SECOND, extract_mel, mel_frames},
        face::{FACE_BYTES, SIDE},
        track::SEARCH_EVERY,
    },
};

const INDEX_FILE: &str = "faces.json";
const FACES_FILE: &str = "faces.rgb";

/// A track of one face.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaceTrack {
    pub file: PathBuf,
    /// The start of the track in the file.
    pub start_seconds: f32,
    /// The index of the first picture in `faces.rgb`.
    pub first: usize,
    pub pictures: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Index {
    side: usize,
    frames_per_second: usize,
    tracks: Vec<FaceTrack>,
}

/// A writer of features, which streams the pictures to the disk.
pub struct LipFeatureWriter {
    directory: PathBuf,
    partial: Partial,
    faces: BufWriter<File>,
    sounds: FeatureWriter,
    extractor: MelExtractor,
    tracks: Vec<FaceTrack>,
    pictures: usize,
}

/// A track to be written.
pub struct Filmed<'a> {
    pub speaker: &'a str,
    pub id: String,
    pub text: String,
    pub file: &'a Path,
    pub start_seconds: f32,
    /// `[pictures, 96, 96, 3]`, where the number of pictures is a multiple of [`SEARCH_EVERY`].
    pub faces: &'a [u8],
    /// The samples, as long as the pictures.
    pub sound: &'a [f32],
}

impl LipFeatureWriter {
    /// Creates a writer into a folder.
    pub fn create(directory: &Path, mel: MelConfig) -> Result<Self> {
        let sounds = FeatureWriter::create(directory, mel.clone())?;
        let partial = Partial(files::partial(&directory.join(FACES_FILE))?);
        let faces = BufWriter::new(File::create(&partial.0).map_err(Error::io(&partial.0))?);
        Ok(Self {
            directory: directory.to_owned(),
            partial,
            faces,
            sounds,
            extractor: MelExtractor::new(mel),
            tracks: Vec::new(),
            pictures: 0,
        })
    }

    /// Appends a track.
    pub fn push(&mut self, filmed: Filmed) -> Result<()> {
        let pictures = filmed.faces.len() / FACE_BYTES;
        assert!(
            pictures > 0
                && pictures.is_multiple_of(SEARCH_EVERY)
                && filmed.faces.len().is_multiple_of(FACE_BYTES)
        );
        let mel = extract_mel(&self.extractor, filmed.sound, pictures);
        self.sounds.push(NewUtterance {
            speaker: filmed.speaker,
            id: filmed.id,
            text: filmed.text,
            symbols: Vec::new(),
            durations: None,
            mel: &mel,
            f0_hz: &[],
        })?;
        self.faces.write_all(filmed.faces).map_err(Error::io(&self.partial.0))?;
        let (file, start_seconds) = (filmed.file.to_owned(), filmed.start_seconds);
        self.tracks.push(FaceTrack { file, start_seconds, first: self.pictures, pictures });
        self.pictures += pictures;
        Ok(())
    }

    /// Completes the files. If this is interrupted, the features are the previous ones, or loading detects that the files do not match.
    pub fn finish(self) -> Result<LipFeatures> {
        let Self { directory, partial, mut faces, sounds, tracks, .. } = self;
        faces.flush().map_err(Error::io(&partial.0))?;
        let path = directory.join(FACES_FILE);
        fs::rename(&partial.0, &path).map_err(Error::io(&path))?;
        let index = Index { side: SIDE, frames_per_second: FRAMES_PER_SECOND, tracks };
        files::write(&directory.join(INDEX_FILE), serde_json::to_string(&index).expect("plain data"))?;
        sounds.finish()?;
        LipFeatures::load(&directory)
    }
}

/// An incomplete file, which is removed when dropped.
struct Partial(PathBuf);

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0); // It was renamed, or its removal is of no consequence.
    }
}

/// The opened features of faces.
#[derive(Debug)]
pub struct LipFeatures {
    /// The speakers, and the sound of each track.
    pub sounds: Features,
    /// The tracks, in the order of the utterances in [`Self::sounds`].
    pub tracks: Vec<FaceTrack>,
    faces: File,
}

impl LipFeatures {
    /// Opens features and checks their indices against the files' sizes.
    ///
    /// # Errors
    /// Fails with `corpus-invalid` if the files do not match each other, or with `io`.
    pub fn load(directory: &Path) -> Result<Self> {
        let invalid = |what: &str| {
            Error::corpus_invalid(format!(
                "{}: {what}; run `ownvoice lips prepare` again",
                directory.display()
            ))
        };
        let sounds = Features::load(directory)?;
        let index: Index = serde_json::from_slice(&files::read(&directory.join(INDEX_FILE))?)
            .map_err(|error| invalid(&error.to_string()))?;
        if (index.side, index.frames_per_second) != (SIDE, FRAMES_PER_SECOND) {
            return Err(invalid("the faces have another size or rate"));
        }
        let path = directory.join(FACES_FILE);
        let faces = File::open(&path).map_err(Error::io(&path))?;
        let bytes = faces.metadata().map_err(Error::io(&path))?.len();
        let mut pictures = 0usize;
        if index.tracks.len() != sounds.utterances.len() {
            return Err(invalid("the number of tracks is not the number of sounds"));
        }
        for (track, utterance) in index.tracks.iter().zip(&sounds.utterances) {
            let matches = track.first == pictures
                && track.pictures > 0
                && track.pictures.is_multiple_of(SEARCH_EVERY)
                && track.pictures < 1 << 32
                && utterance.frames == mel_frames(track.pictures, &sounds.mel);
            if !matches {
                return Err(invalid(&format!("the faces of {} do not match its sound", utterance.id)));
            }
            pictures += track.pictures;
        }
        if (pictures as u64).checked_mul(FACE_BYTES as u64) != Some(bytes) {
            return Err(invalid("the size of the faces does not match the index"));
        }
        Ok(Self { sounds, tracks: index.tracks, faces })
    }

    /// Reads pictures of a track, `[pictures, 96, 96, 3]`. Fails with `corpus-invalid` if the file is too short.
    pub fn faces(&self, track: &FaceTrack, pictures: Range<usize>) -> Result<Vec<u8>> {
        assert!(pictures.end <= track.pictures, "the track is shorter");
        let mut bytes = vec![0; pictures.len() * FACE_BYTES];
        let position = (track.first + pictures.start) as u64 * FACE_BYTES as u64;
        files::read_at(&self.faces, &mut bytes, position).map_err(|error| {
            Error::corpus_invalid(format!("the faces of {} cannot be read: {error}", track.file.display()))
        })?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::lips::clock::samples;

    fn write(directory: &Path, pictures: &[usize]) -> LipFeatures {
        let mel = MelConfig::speech_16k();
        let mut writer = LipFeatureWriter::create(directory, mel.clone()).unwrap();
        for (number, &pictures) in pictures.iter().enumerate() {
            writer
                .push(Filmed {
                    speaker: "someone",
                    id: number.to_string(),
                    text: String::new(),
                    file: Path::new("a.mp4"),
                    start_seconds: number as f32,
                    faces: &vec![number as u8 + 1; pictures * FACE_BYTES],
                    sound: &vec![0.1; samples(pictures, mel.sample_rate_hz)],
                })
                .unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn faces_and_sounds_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let features = write(folder.path(), &[30, 25]);
        assert_eq!(features.sounds.utterances.iter().map(|one| one.frames).collect::<Vec<_>>(), [96, 80]);
        assert_eq!(features.faces(&features.tracks[1], 24..25).unwrap(), vec![2; FACE_BYTES]);
        assert_eq!(features.faces(&features.tracks[0], 0..2).unwrap(), vec![1; 2 * FACE_BYTES]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "no other file is left");
    }

    #[test]
    fn features_that_do_not_match_are_refused() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(one.path(), &[30, 25]);
        write(other.path(), &[25, 30]);
        for file in [INDEX_FILE, FACES_FILE] {
            let path = one.path().join(file);
            let whole = fs::read(&path).unwrap();
            for damaged in [&whole[..whole.len() - 1], &whole[..0]] {
                fs::write(&path, damaged).unwrap();
                assert_eq!(LipFeatures::load(one.path()).unwrap_err().code(), "corpus-invalid", "{file}");
            }
            fs::write(&path, whole).unwrap();
        }
        fs::copy(other.path().join(INDEX_FILE), one.path().join(INDEX_FILE)).unwrap();
        assert_eq!(LipFeatures::load(one.path()).unwrap_err().code(), "corpus-invalid");
    }
}
