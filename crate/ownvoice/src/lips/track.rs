//! Face tracks: the parts of a video that show exactly one face, its square in each picture, and the faults of the other parts.

use super::clock::{self, FRAMES_PER_SECOND};
use crate::{ErrorKind, image::Square};

/// The number of pictures from one face search to the next, 0.2 s, in which a head does not move far.
pub const SEARCH_EVERY: usize = 5;
/// The least pictures of a track, one second: shorter ones hold no whole word.
pub const MIN_FRAMES: usize = FRAMES_PER_SECOND;
/// The most pictures of a track, ten seconds: longer ones are divided.
pub const MAX_FRAMES: usize = 10 * FRAMES_PER_SECOND;
/// The largest move of a face between two searches, in its own sides: more means another face or a cut.
const MAX_MOVE: f32 = 0.35;
/// The least size of a second face relative to the first: smaller ones may be pictures on the wall and are ignored.
const SECOND_FACE: f32 = 0.5;
/// The standard deviation of the smoothing over time, in searches, because detectors jitter by some pixels.
const SMOOTHING: f32 = 1.5;

/// The faces found in one picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    pub frame: usize,
    /// The faces, the largest first.
    pub faces: Vec<Square>,
    /// Whether the scene changed since the search before.
    pub after_cut: bool,
}

/// A stretch of a video with one face.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    pub first_frame: usize,
    /// The face in each picture.
    pub squares: Vec<Square>,
}

/// A stretch of a video that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnusableStretch {
    /// `NoFace`, `SeveralFaces` or `VideoCut`.
    pub kind: ErrorKind,
    pub from_seconds: f32,
    pub to_seconds: f32,
}

/// Returns the single face of a search, or the fault.
fn face(search: &Search) -> Result<Square, ErrorKind> {
    let Some(&first) = search.faces.first() else { return Err(ErrorKind::NoFace) };
    match search.faces.get(1) {
        Some(second) if second.side >= SECOND_FACE * first.side => Err(ErrorKind::SeveralFaces),
        _ => Ok(first),
    }
}

/// Forms tracks of a multiple of [`SEARCH_EVERY`] pictures each, and lists the faults in order.
///
/// * `searches`: one for every [`SEARCH_EVERY`] pictures, beginning with the first
/// * `frames`:   the number of pictures of the video
pub fn tracks(searches: &[Search], frames: usize) -> (Vec<Track>, Vec<UnusableStretch>) {
    let mut found: Vec<Result<Square, ErrorKind>> = searches.iter().map(face).collect();
    // A single missed detection is interpolated.
    for index in 1..found.len().saturating_sub(1) {
        let cut = searches[index].after_cut || searches[index + 1].after_cut;
        if let (Ok(before), Err(ErrorKind::NoFace), Ok(after)) =
            (found[index - 1], found[index], found[index + 1])
            && !cut
            && before.distance(after) <= MAX_MOVE
        {
            found[index] = Ok(before.towards(after, 0.5));
        }
    }
    let seconds = |index: usize| clock::seconds((index * SEARCH_EVERY).min(frames));
    let (mut tracks, mut faults): (Vec<Track>, Vec<UnusableStretch>) = (Vec::new(), Vec::new());
    let mut run: Vec<Square> = Vec::new();
    let mut close = |run: &mut Vec<Square>, end: usize| {
        let first = end - run.len();
        // The last search covers the pictures after it only if there are SEARCH_EVERY of them.
        let whole = run.len().min((frames - (first * SEARCH_EVERY).min(frames)) / SEARCH_EVERY);
        tracks.extend(divide(first, &run[..whole]));
        run.clear();
    };
    for (index, found) in found.iter().enumerate() {
        match *found {
            Ok(square) => {
                let jumped = run.last().is_some_and(|last| last.distance(square) > MAX_MOVE);
                if !run.is_empty() && (jumped || searches[index].after_cut) {
                    close(&mut run, index);
                    let at = seconds(index);
                    faults.push(UnusableStretch {
                        kind: ErrorKind::VideoCut,
                        from_seconds: at,
                        to_seconds: at,
                    });
                }
                run.push(square);
            }
            Err(kind) => {
                close(&mut run, index);
                let (from_seconds, to_seconds) = (seconds(index), seconds(index + 1));
                match faults.last_mut() {
                    Some(last) if last.kind == kind && last.to_seconds == from_seconds => {
                        last.to_seconds = to_seconds;
                    }
                    _ => faults.push(UnusableStretch { kind, from_seconds, to_seconds }),
                }
            }
        }
    }
    close(&mut run, found.len());
    (tracks, faults)
}

/// Divides a run of detections into tracks of at most [`MAX_FRAMES`], and smooths and interpolates their squares.
fn divide(first: usize, run: &[Square]) -> Vec<Track> {
    let pieces = (run.len() * SEARCH_EVERY).div_ceil(MAX_FRAMES).max(1);
    let smooth: Vec<Square> = (0..run.len()).map(|index| smoothed(run, index)).collect();
    let bounds: Vec<usize> = (0..=pieces).map(|piece| piece * run.len() / pieces).collect();
    let piece = |bounds: &[usize]| {
        let squares = (bounds[0]..bounds[1]).flat_map(|index| {
            let next = smooth[(index + 1).min(smooth.len() - 1)];
            let smooth = &smooth;
            (0..SEARCH_EVERY).map(move |step| smooth[index].towards(next, step as f32 / SEARCH_EVERY as f32))
        });
        Track { first_frame: (first + bounds[0]) * SEARCH_EVERY, squares: squares.collect() }
    };
    bounds.windows(2).map(piece).filter(|track| track.squares.len() >= MIN_FRAMES).collect()
}

fn smoothed(run: &[Square], index: usize) -> Square {
    let (mut sum, mut weights) = (Square { centre_x: 0.0, centre_y: 0.0, side: 0.0 }, 0.0);
    for (other, square) in run.iter().enumerate() {
        let distance = other.abs_diff(index) as f32 / SMOOTHING;
        if distance > 3.0 {
            continue;
        }
        let weight = (-0.5 * distance * distance).exp();
        weights += weight;
        sum.centre_x += weight * square.centre_x;
        sum.centre_y += weight * square.centre_y;
        sum.side += weight * square.side;
    }
    Square { centre_x: sum.centre_x / weights, centre_y: sum.centre_y / weights, side: sum.side / weights }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f32, side: f32) -> Square {
        Square { centre_x: x, centre_y: 80.0, side }
    }

    /// Runs `tracks` on a search for each letter: `a` and `b` are faces at two positions, `2` is both, `w` is a face and a small one, `.` is none; `|` is a cut.
    fn run(letters: &str) -> (Vec<(usize, usize)>, Vec<(&'static str, f32, f32)>) {
        let (mut searches, mut after_cut) = (Vec::new(), false);
        for letter in letters.chars() {
            let faces = match letter {
                'a' => vec![square(100.0, 60.0)],
                'b' => vec![square(200.0, 60.0)],
                '2' => vec![square(100.0, 60.0), square(200.0, 50.0)],
                'w' => vec![square(100.0, 60.0), square(200.0, 20.0)],
                '.' => Vec::new(),
                _ => {
                    after_cut = true;
                    continue;
                }
            };
            searches.push(Search { frame: searches.len() * SEARCH_EVERY, faces, after_cut });
            after_cut = false;
        }
        let frames = searches.len() * SEARCH_EVERY - 2;
        let (tracks, faults) = tracks(&searches, frames);
        assert!(tracks.iter().all(|track| track.first_frame + track.squares.len() <= frames));
        (
            tracks.iter().map(|track| (track.first_frame, track.squares.len())).collect(),
            faults.iter().map(|fault| (fault.kind.code(), fault.from_seconds, fault.to_seconds)).collect(),
        )
    }

    #[test]
    fn one_face_is_one_track_up_to_the_last_complete_search() {
        assert_eq!(run("aaaaaaaaaa"), (vec![(0, 45)], vec![]));
        assert_eq!(run("aaaa.aawaa"), (vec![(0, 45)], vec![]), "a missed detection, and a small second face");
    }

    #[test]
    fn faults_have_their_seconds_and_tracks_lie_between_them() {
        assert_eq!(run("......"), (vec![], vec![("no-face", 0.0, 1.12)]));
        assert_eq!(run("222222"), (vec![], vec![("several-faces", 0.0, 1.12)]));
        let (tracks, faults) = run("aaaaaa..22bbbbbb");
        assert_eq!(tracks, [(0, 30), (50, 25)]);
        assert_eq!(faults, [("no-face", 1.2, 1.6), ("several-faces", 1.6, 2.0)]);
    }

    #[test]
    fn a_jump_of_the_scene_or_of_the_face_is_a_cut() {
        for letters in ["aaaaaabbbbbbb", "aaaaaa|aaaaaaa"] {
            assert_eq!(run(letters), (vec![(0, 30), (30, 30)], vec![("video-cut", 1.2, 1.2)]), "{letters}");
        }
        assert_eq!(run("aaa|aaa"), (vec![], vec![("video-cut", 0.6, 0.6)]), "both parts are too short");
    }

    #[test]
    fn long_tracks_are_divided_evenly() {
        let (tracks, faults) = run(&"a".repeat(121));
        assert_eq!(tracks, [(0, 200), (200, 200), (400, 200)]);
        assert!(faults.is_empty());
    }

    #[test]
    fn a_track_follows_a_moving_face_without_its_jitter() {
        let jitter = |index: usize| if index.is_multiple_of(2) { 2.0 } else { -2.0 };
        let face = |index: usize| square(100.0 + 3.0 * index as f32 + jitter(index), 60.0);
        let searches: Vec<Search> = (0..20)
            .map(|index| Search { frame: index * 5, faces: vec![face(index)], after_cut: false })
            .collect();
        let (tracks, _) = tracks(&searches, 100);
        for (frame, square) in tracks[0].squares.iter().enumerate().take(85).skip(15) {
            let expected = 100.0 + 0.6 * frame as f32;
            assert!((square.centre_x - expected).abs() < 0.5, "{frame}: {} {expected}", square.centre_x);
        }
    }
}
