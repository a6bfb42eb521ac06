//! Evaluation of a lip-to-speech base: each video is spoken from its own pictures, from a still face and from another video, and compared with its sound.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use serde::Serialize;

use super::{
    commands,
    layout::{self, VideoFile},
    prepare::{read_tracks, search},
};
use crate::evaluate::intelligibility::{Intelligibility, intelligibility};
use ownvoice::{
    Error, Result,
    audio::{
        mel::MelExtractor,
        resample::resample,
        wav::{self, Origin},
    },
    files,
    lips::{
        base::LipBase,
        face::{FACE_BYTES, FaceDetector},
        say::speak_faces_async,
    },
    report::{Progress, Report},
};

/// The configuration of an evaluation.
#[derive(Debug, Clone)]
pub struct LipEvaluateConfig {
    /// The folder of videos with sound, as `layout` describes.
    pub videos: PathBuf,
    /// The folder for the speech, with a subfolder for each [`Condition`], `texts.txt` and `commands.gram`.
    pub out: PathBuf,
}

/// The input from which the speech of a video is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// The recording's own mels through the vocoder, an upper bound.
    Copy,
    /// The video itself.
    Lips,
    /// The first picture of the video, repeated.
    Still,
    /// Another video.
    Another,
}

impl Condition {
    const ALL: [Self; 4] = [Self::Copy, Self::Lips, Self::Still, Self::Another];

    /// Returns the name of the folder.
    pub fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Lips => "lips",
            Self::Still => "still",
            Self::Another => "another",
        }
    }
}

/// The results, as means over all videos.
#[derive(Debug, Clone, Serialize)]
pub struct LipEvaluation {
    pub videos: usize,
    pub seconds: f32,
    pub conditions: Vec<ConditionScore>,
    /// The share of videos with monotonic attention.
    pub monotonic: f32,
    /// The seconds of synthesis for one second of speech, without face detection.
    pub real_time_factor: f32,
}

/// The results of one condition.
#[derive(Debug, Clone, Serialize)]
pub struct ConditionScore {
    pub condition: Condition,
    #[serde(flatten)]
    pub intelligibility: Intelligibility,
}

/// A video, cropped to its single face.
struct Shown {
    video: VideoFile,
    /// `[pictures, 96, 96, 3]`.
    faces: Vec<u8>,
    sound: Vec<f32>,
}

/// Speaks all videos below a folder in every condition, writes the speech and compares it with the videos' sound.
///
/// # Errors
/// Fails with `option-invalid` if the base does not have a speaker, with `corpus-invalid` if fewer than two videos can be read as a whole, with an error of
/// reading videos, or with `io`.
pub fn evaluate_lips(
    base: &LipBase,
    config: &LipEvaluateConfig,
    report: &dyn Report,
) -> Result<LipEvaluation> {
    let shown = read_videos(base, &config.videos, report)?;
    if shown.len() < 2 {
        return Err(Error::corpus_invalid("at least two videos with one face from start to end are needed"));
    }
    let rate_hz = base.manifest.mel.sample_rate_hz;
    let voice_id = wav::voice_id(&base.manifest.files.weights.sha256);
    let folders = Condition::ALL.map(|condition| config.out.join(condition.name()));
    for folder in folders.iter().chain([&config.out.join(RECORDED)]) {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
    }
    let extractor = MelExtractor::new(base.manifest.mel.clone());
    let mut scores: [Vec<Intelligibility>; 4] = Default::default();
    let (mut monotonic, mut spoken_seconds, mut speaking_seconds) = (0, 0.0, 0.0);
    for (number, one) in shown.iter().enumerate() {
        let another = &shown[(number + 1) % shown.len()];
        let name = format!("{number:04}.wav");
        files::write(&config.out.join(RECORDED).join(&name), wav::write(&one.sound, rate_hz))?;
        let speaker = base.speaker(Some(&one.video.speaker))?;
        for (condition, (folder, scores)) in Condition::ALL.into_iter().zip(folders.iter().zip(&mut scores)) {
            let faces = match condition {
                Condition::Copy => Vec::new(),
                Condition::Lips => one.faces.clone(),
                Condition::Still => one.faces[..FACE_BYTES].repeat(one.faces.len() / FACE_BYTES),
                // A shorter video is repeated.
                Condition::Another => another.faces.iter().copied().cycle().take(one.faces.len()).collect(),
            };
            let mel = if condition == Condition::Copy {
                extractor.extract(&one.sound)
            } else {
                let begun = Instant::now();
                let said = pollster::block_on(speak_faces_async(base, &faces, speaker))?;
                if condition == Condition::Lips {
                    speaking_seconds += begun.elapsed().as_secs_f32();
                    spoken_seconds += one.sound.len() as f32 / rate_hz as f32;
                    monotonic += usize::from(said.alignments.iter().all(|window| window.is_monotonic()));
                }
                said.mel
            };
            let begun = Instant::now();
            let samples = base.vocoder.vocode(&mel);
            if condition == Condition::Lips {
                speaking_seconds += begun.elapsed().as_secs_f32();
            }
            let spoken_hz = base.vocoder.sample_rate_hz();
            scores.extend(intelligibility(&one.sound, &resample(&samples, spoken_hz, rate_hz)?, rate_hz)?);
            let origin = Origin::synthetic(voice_id);
            files::write(&folder.join(&name), wav::write_with_origin(&samples, spoken_hz, &origin))?;
        }
        report.progress(&Progress { done: number + 1, of: Some(shown.len()), message: "videos spoken" });
    }
    let texts: String = shown.iter().map(|one| format!("{}\n", one.video.text)).collect();
    files::write(&config.out.join("texts.txt"), texts)?;
    files::write(&config.out.join("commands.gram"), commands::grammar())?;
    let mean = |scores: &[Intelligibility], of: fn(&Intelligibility) -> f32| {
        scores.iter().map(of).sum::<f32>() / scores.len().max(1) as f32
    };
    let conditions = Condition::ALL.into_iter().zip(&scores).map(|(condition, scores)| ConditionScore {
        condition,
        intelligibility: Intelligibility {
            stoi: mean(scores, |score| score.stoi),
            estoi: mean(scores, |score| score.estoi),
        },
    });
    Ok(LipEvaluation {
        videos: shown.len(),
        seconds: spoken_seconds,
        conditions: conditions.collect(),
        monotonic: monotonic as f32 / shown.len() as f32,
        real_time_factor: speaking_seconds / spoken_seconds,
    })
}

/// The folder name of the videos' own sound.
const RECORDED: &str = "recorded";

/// Reads the videos that show one face from start to end; the others are reported and left out.
fn read_videos(base: &LipBase, folder: &Path, report: &dyn Report) -> Result<Vec<Shown>> {
    let rate_hz = base.manifest.mel.sample_rate_hz;
    let mut detector = FaceDetector::default();
    let videos = layout::videos(folder)?;
    let (mut shown, of) = (Vec::new(), videos.len());
    for (number, video) in videos.into_iter().enumerate() {
        let found = search(&video.path, &mut detector, rate_hz)?;
        if found.tracks.len() == 1 && found.faults.is_empty() {
            let mut faces = Vec::new();
            let mut sound = Vec::new();
            read_tracks(&found, |track, pictures| {
                faces.extend_from_slice(pictures);
                sound.extend_from_slice(found.sound_of(track, rate_hz));
                Ok(())
            })?;
            shown.push(Shown { video, faces, sound });
        } else {
            report.note(&format!("left out: {}", video.path.display()));
        }
        report.progress(&Progress { done: number + 1, of: Some(of), message: "videos read" });
    }
    Ok(shown)
}
