//! Finds out whether clips are of two speakers: by dividing their embeddings into two groups, and comparing the groups.

use super::verifier::{SpeakerEmbedding, SpeakerVerifier};
use ownvoice::{Result, audio::level::check_clip, clone::clip::Clip};

/// The least speech of a clip whose embedding is stable.
const MIN_SECONDS: f32 = 1.5;
/// The rounds of k-means; a minute of clips is divided after two or three.
const ROUNDS: usize = 8;
/// The cosine similarity of two groups below which they are of different speakers. Of four held-out voices of Kokoro, every mix of 12 clips of one with 1, 2 or 12 of
/// another has 0.19 or less; the 12 or 40 clips of one voice have 0.55 or more. Pairs of clips of 15 other held-out speakers have 0.78 within and 0.18 across.
pub const MAX_SIMILARITY_OF_SPEAKERS: f32 = 0.4;

/// Two groups of clips.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    /// The cosine similarity of the groups' means.
    pub similarity: f32,
    /// The indices of the clips of the smaller group.
    pub smaller: Vec<usize>,
}

/// Returns the embedding of a clip, or `None` if it does not hold enough speech.
pub fn embedding(verifier: &SpeakerVerifier, clip: &Clip) -> Result<Option<SpeakerEmbedding>> {
    // Clips with a fault are reported later.
    let enough = check_clip(&clip.audio).is_ok_and(|report| report.speech_seconds >= MIN_SECONDS);
    enough.then(|| verifier.embed(&clip.audio.samples, clip.audio.sample_rate_hz)).transpose()
}

/// Divides clips into two groups as different as possible, by spherical k-means with two means, which begin at the least similar pair. Returns `None` for fewer
/// than two clips.
///
/// * `embedded`: the index and the embedding of each clip
pub fn groups(embedded: &[(usize, SpeakerEmbedding)]) -> Option<Groups> {
    let pairs = (0..embedded.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    let similarity = |&(one, other): &(usize, usize)| embedded[one].1.similarity(&embedded[other].1);
    let (one, other) = pairs.min_by(|a, b| similarity(a).total_cmp(&similarity(b)))?;
    let mut means = [embedded[one].1.clone(), embedded[other].1.clone()];
    let mut parts: [Vec<usize>; 2] = Default::default();
    for _ in 0..ROUNDS {
        parts = Default::default();
        for (place, (_, embedding)) in embedded.iter().enumerate() {
            let [first, second] = [0, 1].map(|group| embedding.similarity(&means[group]));
            parts[usize::from(second > first)].push(place);
        }
        for (mean, part) in means.iter_mut().zip(&parts) {
            // A group never becomes empty: the pair that the means began with stays apart.
            *mean = SpeakerEmbedding::mean(part.iter().map(|&place| &embedded[place].1))?;
        }
    }
    let [first, second] = parts;
    let smaller = if first.len() < second.len() { first } else { second };
    let smaller = smaller.into_iter().map(|place| embedded[place].0).collect();
    Some(Groups { similarity: means[0].similarity(&means[1]), smaller })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::speaker_encoder::network::EMBEDDING;
    use std::{fs, path::Path};

    fn verifier() -> SpeakerVerifier {
        SpeakerVerifier::load(&fs::read("../../models/base/speaker_encoder.safetensors").unwrap()).unwrap()
    }

    #[test]
    fn clips_of_two_speakers_are_divided() {
        let at = |degrees: f32| {
            let angle = degrees.to_radians();
            SpeakerEmbedding::normalised([vec![angle.cos(), angle.sin()], vec![0.0; EMBEDDING - 2]].concat())
        };
        let found = |degrees: &[f32]| {
            groups(&degrees.iter().map(|&degrees| at(degrees)).enumerate().collect::<Vec<_>>()).unwrap()
        };
        let two = found(&[0.0, 80.0, 5.0, 85.0, 10.0]);
        assert_eq!(two.smaller, [1, 3]);
        assert!((two.similarity - 77.5f32.to_radians().cos()).abs() < 1e-4, "{two:?}");
        assert!(found(&[0.0, 20.0, 10.0, 30.0]).similarity > MAX_SIMILARITY_OF_SPEAKERS);
        assert_eq!(found(&[0.0, 3.0, 90.0]).smaller, [2], "a single clip");
        assert_eq!(groups(&[(0, at(0.0))]), None);
    }

    /// Prints the similarity of the groups within each speaker, and of every mix of two, of a folder with a folder of `wavs` for each speaker.
    #[test]
    #[ignore = "a measurement; SPEAKERS names the folder"]
    fn measure() {
        let verifier = verifier();
        let root = std::env::var("SPEAKERS").unwrap();
        let mut folders: Vec<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
        folders.retain(|folder| folder.join("wavs").is_dir());
        folders.sort();
        let embeddings = |folder: &Path| {
            let mut wavs: Vec<_> =
                fs::read_dir(folder.join("wavs")).unwrap().map(|entry| entry.unwrap().path()).collect();
            wavs.sort();
            let embed = |path: &std::path::PathBuf| {
                let audio = ownvoice::files::read_audio(path).unwrap();
                verifier.embed(&audio.samples, audio.sample_rate_hz).unwrap()
            };
            wavs.iter().take(12).map(embed).collect::<Vec<_>>()
        };
        let all: Vec<(String, Vec<SpeakerEmbedding>)> = folders
            .iter()
            .map(|folder| (folder.file_name().unwrap().to_string_lossy().into_owned(), embeddings(folder)))
            .collect();
        let found = |embeddings: Vec<SpeakerEmbedding>| {
            groups(&embeddings.into_iter().enumerate().collect::<Vec<_>>()).unwrap()
        };
        for (one, (name, clips)) in all.iter().enumerate() {
            let within = found(clips.clone());
            println!("within {name}: {:.3}, {} of {}", within.similarity, within.smaller.len(), clips.len());
            for (other, second) in &all[..one] {
                for count in [1, 2, 12] {
                    let mix: Vec<_> = clips.iter().chain(second.iter().take(count)).cloned().collect();
                    let mixed = found(mix);
                    println!(
                        "across {name} and {count} of {other}: {:.3}, smaller {}",
                        mixed.similarity,
                        mixed.smaller.len()
                    );
                }
            }
        }
    }
}
