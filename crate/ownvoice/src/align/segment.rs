//! Cuts aligned clips: long clips at their pauses, and the last of few clips so that a part of it can be held out.

use super::Alignment;
use crate::text::symbols::{self, SILENCE, Symbol};

/// The longest clip that is not cut, 10 s at 16 kHz: a long sentence. Alignment takes time and memory by the square of the length.
const MAX_FRAMES: usize = 800;
/// The shortest segment, 1 s.
const MIN_FRAMES: usize = 80;
/// The shortest silence that counts as a pause, 100 ms.
const PAUSE_FRAMES: usize = 8;
/// The silence that is kept on each side of a cut, as around a trimmed clip, 50 ms.
const MARGIN_FRAMES: usize = 4;
/// The distance by which a cut in a pause may lie further from the wanted place than a cut between words without a pause, 3 s.
const PAUSE_WORTH_FRAMES: usize = 240;
/// One clip in this many is held out, see [`crate::clone`]. With fewer clips, it is a part of the last one.
pub const ONE_IN: usize = 5;

/// A boundary between two words where a clip may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The index in the text of the first symbol after the cut.
    pub symbol: usize,
    /// The frame where the speech before the cut ends, and the frame where the speech after it begins.
    silence: (usize, usize),
}

impl Cut {
    /// Returns whether the silence is long enough for a pause.
    fn is_pause(&self) -> bool {
        self.silence.1 - self.silence.0 >= PAUSE_FRAMES
    }

    /// Returns the frames of silence that the segments before and after keep. A silence that is too short for a pause belongs to the segment before.
    pub fn margins(&self) -> (usize, usize) {
        if self.is_pause() { (MARGIN_FRAMES, MARGIN_FRAMES) } else { (self.silence.1 - self.silence.0, 0) }
    }

    /// Returns the frame where the segment before the cut ends.
    pub fn end(&self) -> usize {
        self.silence.0 + self.margins().0
    }

    /// Returns the frame where the segment after the cut begins.
    pub fn begin(&self) -> usize {
        self.silence.1 - self.margins().1
    }
}

/// Returns all boundaries between words.
///
/// * `symbols`, `word_ends`: those of the text, see [`crate::text::to_symbols`]
pub fn boundaries(symbols: &[Symbol], word_ends: &[bool], alignment: &Alignment) -> Vec<Cut> {
    let mut cuts = Vec::new();
    // The index of the next symbol of the text, the current frame, and the frame where the last phone ended.
    let (mut index, mut now, mut spoken) = (0, 0, None);
    for (&symbol, &frames) in alignment.symbols.iter().zip(&alignment.durations) {
        let begins = index > 0 && (word_ends[index - 1] || symbols::is_pause(symbols[index - 1]));
        let was_inserted =
            index > 0 && word_ends[index - 1] && symbol == SILENCE && !symbols::is_pause(symbols[index]);
        if !was_inserted {
            if !symbols::is_pause(symbol) {
                if let (true, Some(end)) = (begins, spoken) {
                    cuts.push(Cut { symbol: index, silence: (end, now) });
                }
                spoken = Some(now + frames as usize);
            }
            index += 1;
        }
        now += frames as usize;
    }
    cuts
}

/// Chooses the cuts of all clips.
///
/// * `clips`: the number of frames and the boundaries of each clip
pub fn choose(clips: &[(usize, Vec<Cut>)]) -> Vec<Vec<Cut>> {
    let mut chosen: Vec<Vec<Cut>> = clips.iter().map(|(frames, cuts)| halve(cuts, 0, *frames)).collect();
    let segments: usize = chosen.iter().map(|cuts| cuts.len() + 1).sum();
    if let (true, Some((frames, cuts)), Some(last)) = (segments < ONE_IN, clips.last(), chosen.last_mut()) {
        let total: usize = clips.iter().map(|(frames, _)| frames).sum();
        let (first, begin) = last.last().map_or((0, 0), |cut| (cut.symbol + 1, cut.begin()));
        let rest: Vec<Cut> = cuts.iter().copied().filter(|cut| cut.symbol >= first).collect();
        last.extend(nearest(&rest, begin, *frames, frames.saturating_sub(total / ONE_IN)).map(|at| rest[at]));
    }
    chosen
}

/// Halves the frames from `begin` to `end` until no segment is longer than [`MAX_FRAMES`], as far as there are boundaries.
fn halve(cuts: &[Cut], begin: usize, end: usize) -> Vec<Cut> {
    let at = if end - begin > MAX_FRAMES { nearest(cuts, begin, end, (begin + end) / 2) } else { None };
    let Some(at) = at else { return Vec::new() };
    let cut = cuts[at];
    [halve(&cuts[..at], begin, cut.end()), vec![cut], halve(&cuts[at + 1..], cut.begin(), end)].concat()
}

/// Returns the index of the best cut near a frame, or `None` if every cut leaves a segment shorter than [`MIN_FRAMES`].
fn nearest(cuts: &[Cut], begin: usize, end: usize, place: usize) -> Option<usize> {
    let fits = |cut: &Cut| cut.end() >= begin + MIN_FRAMES && cut.begin() + MIN_FRAMES <= end;
    let cost =
        |cut: &Cut| cut.silence.1.abs_diff(place) + if cut.is_pause() { 0 } else { PAUSE_WORTH_FRAMES };
    (0..cuts.len()).filter(|&at| fits(&cuts[at])).min_by_key(|&at| cost(&cuts[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a clip with a boundary every 100 frames. Every fourth has a pause of 20 frames before it.
    fn clip(frames: usize) -> (usize, Vec<Cut>) {
        let cut = |at: usize| Cut {
            symbol: at / 10,
            silence: (at - if at.is_multiple_of(400) { 20 } else { 0 }, at),
        };
        (frames, (100..frames).step_by(100).map(cut).collect())
    }

    #[test]
    fn boundaries_have_their_silence_and_symbol() {
        // "a cat, a", with an inserted silence after the first word and a comma after the second.
        let symbols = symbols::parse("_ AH0 K AE1 T , AH0 _").unwrap();
        let word_ends = [false, true, false, false, true, false, true, false];
        let aligned = symbols::parse("_ AH0 _ K AE1 T , AH0 _").unwrap();
        let alignment =
            Alignment { symbols: aligned, durations: vec![4, 5, 9, 3, 3, 3, 6, 5, 4], score: 0.0 };
        let cuts = boundaries(&symbols, &word_ends, &alignment);
        assert_eq!(cuts, [Cut { symbol: 2, silence: (9, 18) }, Cut { symbol: 6, silence: (27, 33) }]);
        assert_eq!((cuts[0].end(), cuts[0].begin()), (13, 14), "50 ms on each side");
        assert_eq!(
            (cuts[1].end(), cuts[1].begin()),
            (33, 33),
            "a short silence belongs to the segment before"
        );
    }

    #[test]
    fn a_minute_is_cut_at_its_pauses() {
        let chosen = choose(&[clip(4800)]).remove(0);
        assert!(chosen.iter().all(Cut::is_pause), "{chosen:?}");
        let edges: Vec<usize> = chosen.iter().map(Cut::begin).collect();
        let lengths: Vec<usize> =
            [0].iter().chain(&edges).zip(edges.iter().chain(&[4800])).map(|(a, b)| b - a).collect();
        assert!(lengths.iter().all(|frames| (300..=MAX_FRAMES + 20).contains(frames)), "{lengths:?}");
    }

    #[test]
    fn the_last_of_few_clips_is_cut_at_a_fifth_of_all_speech() {
        let chosen = choose(&[clip(450), clip(550)]);
        assert_eq!((chosen[0].len(), chosen[1].len()), (0, 1));
        assert_eq!(chosen[1][0].silence.1, 400, "the pause nearest to the last 200 of 1000 frames");
        assert_eq!(choose(&[clip(150)]), [Vec::new()], "a clip that is too short stays whole");
        assert!(
            choose(&vec![clip(500); 5]).iter().all(Vec::is_empty),
            "five clips are enough to hold one out"
        );
    }
}
