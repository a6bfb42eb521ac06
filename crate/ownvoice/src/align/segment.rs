//! Where aligned clips are cut: long ones at their pauses, and the last of few so that a part of it can be held out.

use super::Alignment;
use crate::text::symbols::{self, SILENCE, Symbol};

/// The longest clip that stays whole, 10 s at 16 kHz: as long as a read sentence, and alignment takes time and memory by the square of it.
const MAX_FRAMES: usize = 800;
/// Nothing shorter is cut off, 1 s.
const MIN_FRAMES: usize = 80;
/// The shortest silence that counts as a pause, 100 ms.
const PAUSE_FRAMES: usize = 8;
/// Silence that is left on each side of a cut, as trimming leaves it around a clip, 50 ms.
const MARGIN_FRAMES: usize = 4;
/// A cut within a pause may lie this much further from its place than one between words that are spoken without a pause, 3 s.
const PAUSE_WORTH_FRAMES: usize = 240;
/// One clip in this many is held out, see [`crate::clone`]; with fewer, a part of the last.
pub const ONE_IN: usize = 5;

/// A boundary between two words where a clip may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Of the text's symbols, the first after the cut.
    pub symbol: usize,
    /// The frame that the speech before ends at, and the one that the speech after begins at.
    silence: (usize, usize),
}

impl Cut {
    fn is_pause(&self) -> bool {
        self.silence.1 - self.silence.0 >= PAUSE_FRAMES
    }

    /// Frames of silence that the segments before and after keep. What is no pause stays with the segment before.
    pub fn margins(&self) -> (usize, usize) {
        if self.is_pause() { (MARGIN_FRAMES, MARGIN_FRAMES) } else { (self.silence.1 - self.silence.0, 0) }
    }

    /// Where the segment before ends.
    pub fn end(&self) -> usize {
        self.silence.0 + self.margins().0
    }

    /// Where the segment after begins.
    pub fn begin(&self) -> usize {
        self.silence.1 - self.margins().1
    }
}

/// All boundaries between words.
///
/// * `symbols`, `word_ends`: those that were aligned, see [`crate::text::spell`]
pub fn boundaries(symbols: &[Symbol], word_ends: &[bool], alignment: &Alignment) -> Vec<Cut> {
    let mut cuts = Vec::new();
    // The next symbol of the text, the frame, and where the last phone ended.
    let (mut index, mut now, mut spoken) = (0, 0, None);
    for (&symbol, &frames) in alignment.symbols.iter().zip(&alignment.durations) {
        let begins = index > 0 && (word_ends[index - 1] || symbols::is_pause(symbols[index - 1]));
        let was_put_in =
            index > 0 && word_ends[index - 1] && symbol == SILENCE && !symbols::is_pause(symbols[index]);
        if !was_put_in {
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

/// The cuts for all clips.
///
/// * `clips`: frames and boundaries of each
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

/// Cuts between two frames that leave nothing longer than [`MAX_FRAMES`], where there are boundaries.
fn halve(cuts: &[Cut], begin: usize, end: usize) -> Vec<Cut> {
    let at = if end - begin > MAX_FRAMES { nearest(cuts, begin, end, (begin + end) / 2) } else { None };
    let Some(at) = at else { return Vec::new() };
    let cut = cuts[at];
    [halve(&cuts[..at], begin, cut.end()), vec![cut], halve(&cuts[at + 1..], cut.begin(), end)].concat()
}

/// The index of the best cut near a frame; `None` where each would leave less than [`MIN_FRAMES`].
fn nearest(cuts: &[Cut], begin: usize, end: usize, place: usize) -> Option<usize> {
    let fits = |cut: &Cut| cut.end() >= begin + MIN_FRAMES && cut.begin() + MIN_FRAMES <= end;
    let cost =
        |cut: &Cut| cut.silence.1.abs_diff(place) + if cut.is_pause() { 0 } else { PAUSE_WORTH_FRAMES };
    (0..cuts.len()).filter(|&at| fits(&cuts[at])).min_by_key(|&at| cost(&cuts[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Boundaries every 100 frames, every fourth with a pause of 20 frames that ends there.
    fn clip(frames: usize) -> (usize, Vec<Cut>) {
        let cut = |at: usize| Cut {
            symbol: at / 10,
            silence: (at - if at.is_multiple_of(400) { 20 } else { 0 }, at),
        };
        (frames, (100..frames).step_by(100).map(cut).collect())
    }

    #[test]
    fn silences_between_words_are_found_with_their_symbol() {
        // "a cat, a": a silence put in after the first word, a comma after the second.
        let symbols = symbols::parse("_ AH0 K AE1 T , AH0 _").unwrap();
        let word_ends = [false, true, false, false, true, false, true, false];
        let aligned = symbols::parse("_ AH0 _ K AE1 T , AH0 _").unwrap();
        let alignment =
            Alignment { symbols: aligned, durations: vec![4, 5, 9, 3, 3, 3, 6, 5, 4], score: 0.0 };
        let cuts = boundaries(&symbols, &word_ends, &alignment);
        assert_eq!(cuts, [Cut { symbol: 2, silence: (9, 18) }, Cut { symbol: 6, silence: (27, 33) }]);
        assert_eq!((cuts[0].end(), cuts[0].begin()), (13, 14), "50 ms on each side");
        assert_eq!((cuts[1].end(), cuts[1].begin()), (33, 33), "no pause: all of it before");
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
    fn the_last_of_few_clips_is_cut_for_a_fifth_of_all() {
        let chosen = choose(&[clip(450), clip(550)]);
        assert_eq!((chosen[0].len(), chosen[1].len()), (0, 1));
        assert_eq!(chosen[1][0].silence.1, 400, "a pause, near the last 200 of 1000");
        assert_eq!(choose(&[clip(150)]), [Vec::new()], "too short to spare a part");
        assert!(choose(&vec![clip(500); 5]).iter().all(Vec::is_empty), "there are clips to spare");
    }
}
