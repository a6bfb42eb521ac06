//! Face detection and footage on drawn faces.

use std::sync::Arc;

use burn::prelude::Device;
use ownvoice::{
    audio::{Audio, mel::MelConfig},
    image::{Image, Square},
    lips::{
        Footage, Lesson, LipBase, LipConfig, LipManifest, LipTacotron, Taught,
        base::LipFiles,
        clock::{FRAMES_PER_SECOND, seconds},
        face::{FaceDetector, around_mouth},
        footage::MAX_SECONDS,
        search::FaceSearch,
    },
    text,
    vocoder::GriffinLim,
    voice::FileEntry,
};
use ownvoice_cli::lips::{
    drawing::{Face, Pose},
    visemes::{Movement, Posture},
};

/// A lip-to-speech base with random weights.
fn tiny_lip_base() -> LipBase {
    let (device, mel) = (Device::flex(), MelConfig::speech_16k());
    device.seed(1);
    let model = LipConfig::tiny(2);
    LipBase {
        model: LipTacotron::new(&model, &device),
        manifest: LipManifest {
            kind: "lips".into(),
            name: "tiny".into(),
            licence: "MIT".into(),
            files: LipFiles {
                weights: FileEntry { sha256: "one".into(), ..FileEntry::new("w", b"") },
                vocoder: None,
            },
            model,
            mel: mel.clone(),
            pictures_per_second: 25,
            window_pictures: 10,
            speakers: vec!["a".into(), "b".into()],
            recipe: serde_json::Value::Null,
            quality: serde_json::Value::Null,
        },
        vocoder: Arc::new(GriffinLim::new(mel)),
        device,
    }
}

#[test]
fn drawn_faces_are_found() {
    let phones = text::symbols::parse("_ P AA1 M F UW1 S IY1 _").unwrap();
    let mouth = Movement::new(phones.into_iter().map(|symbol| (symbol, 0.1)));
    let mut detector = FaceDetector::default();
    for seed in 0..12 {
        let face = Face::new(seed);
        for (width, height, seconds) in [(240, 240, 0.15), (320, 240, 0.55), (240, 320, 0.75)] {
            let pose = face.pose(seconds + 7.0 * seed as f32);
            let image = face.draw(width, height, &pose, &mouth.at(seconds), 0);
            let found = detector.detect(&image);
            assert_eq!(found.len(), 1, "face {seed} at {seconds} s");
            let ([x, y], face_height) = face.mouth_at(width, height, &pose);
            let crop = around_mouth(found[0]);
            let place = [(x - crop.centre_x) / crop.side, (y - crop.centre_y) / crop.side];
            assert!(place[0].abs() < 0.1 && (0.05..0.3).contains(&place[1]), "face {seed}: {place:?}");
            assert!((0.7..1.2).contains(&(crop.side / face_height)), "face {seed}: {}", crop.side);
        }
    }
}

#[test]
fn walls_and_tiny_pictures_have_no_face() {
    let mut detector = FaceDetector::default();
    let face = Face::new(1);
    let away = Pose { shift: [0.0, 9.0], ..face.pose(0.0) };
    assert!(detector.detect(&face.draw(240, 240, &away, &Posture::REST, 0)).is_empty());
    for (width, height) in [(1, 1), (40, 300), (47, 47)] {
        assert!(detector.detect(&face.draw(width, height, &face.pose(0.0), &Posture::REST, 0)).is_empty());
    }
}

#[test]
fn every_fifth_picture_is_searched_and_too_many_are_refused() {
    let face = Face::new(1);
    let image = face.draw(240, 240, &face.pose(0.0), &Posture::REST, 0);
    let mut footage = Footage::default();
    let found: Vec<Option<usize>> =
        (0..6).map(|_| footage.push(image.clone()).unwrap().map(<[Square]>::len)).collect();
    assert_eq!(found, [Some(1), None, None, None, None, Some(1)]);
    let blank = Image::new(1, 1, vec![0; 3]);
    let refused = (6..=MAX_SECONDS * FRAMES_PER_SECOND).find_map(|_| footage.push(blank.clone()).err());
    assert_eq!(refused.unwrap().code(), "clip-too-long");
    footage.clear();
    assert!(footage.push(image).is_ok());
}

#[test]
fn a_moving_face_is_one_track() {
    let phones = text::symbols::parse("_ AA1 M IY1 _ AA1 M IY1 _").unwrap();
    let movement = Movement::new(phones.into_iter().map(|symbol| (symbol, 0.2)));
    let face = Face::new(2);
    let (mut search, mut detector) = (FaceSearch::default(), FaceDetector::default());
    for frame in 0..30 {
        let at = seconds(frame);
        search.look(&face.draw(240, 240, &face.pose(at), &movement.at(at), frame as u64), &mut detector);
    }
    let (tracks, faults) = search.tracks(30);
    assert_eq!((tracks.len(), faults.len(), tracks[0].squares.len()), (1, 0, 30));
}

/// Pictures with or without a face, and a voice of `seconds`.
fn film(faces: &[bool], seconds: f32) -> (Footage, Audio) {
    let face = Face::new(1);
    let mut footage = Footage::default();
    for (frame, &shown) in faces.iter().enumerate() {
        let image = match shown {
            true => face.draw(240, 240, &face.pose(0.0), &Posture::REST, frame as u64),
            false => Image::new(240, 240, vec![90; 240 * 240 * 3]),
        };
        footage.push(image).unwrap();
    }
    let at = |n: usize| {
        let t = n as f32 / 48_000.0;
        let voiced = t % 0.4 < 0.3;
        0.001 * (n as f32).sin() + if voiced { 0.02 * (900.0 * t).sin() } else { 0.0 }
    };
    let samples = (0..(seconds * 48_000.0) as usize).map(at).collect();
    (footage, Audio { samples, sample_rate_hz: 48_000 })
}

#[test]
fn stretches_with_a_face_become_lessons_and_others_are_reported() {
    let base = tiny_lip_base();
    let faces = [vec![true; 40], vec![false; 20], vec![true; 30]].concat();
    let (footage, sound) = film(&faces, 3.6);
    let Taught { lessons, left_out } = footage.teach(&base, &sound).unwrap();
    let seconds: Vec<f32> = lessons.iter().map(Lesson::seconds).collect();
    assert_eq!(seconds, [1.6, 1.2]);
    let codes: Vec<_> = left_out.iter().map(|(error, seconds)| (error.code(), *seconds)).collect();
    assert!(codes.contains(&("no-face", Some([1.6, 2.4]))), "{codes:?}");

    let refused = |footage: &Footage, sound: &Audio| footage.teach(&base, sound).err().unwrap().code();
    assert_eq!(refused(&footage, &film(&[], 6.0).1), "lengths-differ");
    let still = Audio { samples: vec![0.0; sound.samples.len()], ..sound.clone() };
    assert_eq!(refused(&footage, &still), "clip-too-quiet");
    assert_eq!(refused(&Footage::default(), &sound), "video-unreadable");
    assert_eq!(refused(&film(&[false; 90], 0.1).0, &sound), "no-face");
    assert_eq!(refused(&film(&[true; 20], 0.1).0, &film(&[], 1.2).1), "clip-too-short");
}
