//! Decides whether a recording has the words of its text: others, more, or fewer.
//!
//! A path through the text ends with it, whatever was spoken. Where the recording has more, few phones of the text last while the recogniser hears many; where it
//! has less, phones of the text have the minimum duration and are not what is heard.

use std::ops::Range;

use super::{
    Alignment,
    lattice::PHONE_FRAMES,
    recogniser::{CLASSES, PAUSE, class},
};
use crate::{
    Error, Result,
    text::symbols::{by_frame, is_phone},
};

/// The mean log posterior below which another text was spoken. On two held-out voices, their own texts score -2.0 or more, and -2.5 in a noisy room with
/// echoes; texts of other sentences of the same length score -3.5 to -4.0 at the median, and nine in ten score below this threshold.
pub const MISMATCH_SCORE: f32 = -2.8;
/// The weight of a heard phone beside one of the text, since the recogniser also hears some that were not spoken.
const HEARD_WEIGHT: f32 = 0.7;
/// The least phones, so weighted, that a stretch of the recording has beyond the text.
const MIN_MORE: f32 = 6.1;
/// The least phones of a stretch of the text that are not spoken, beyond those that are.
const MIN_FEWER: f32 = 8.0;
/// The mean cost of a frame, in nats, above which a phone of the minimum duration counts as not spoken. The cost is the log posterior of the class that is heard
/// less that of the phone.
const UNSPOKEN_COST: f32 = 1.0;
/// The least frames by which the rest of a clip is judged.
const MIN_REST_FRAMES: usize = 10;

/// Fails with `clip-mismatch` if the recording has other words than the text, more, or fewer.
///
/// * `posteriors`: log posteriors of the classes in each frame
/// * `heard`:      the most likely class of each frame, without a text
pub(super) fn check(alignment: &Alignment, posteriors: &[[f32; CLASSES]], heard: &[usize]) -> Result<()> {
    let aligned: Vec<usize> =
        by_frame(&alignment.symbols, &alignment.durations).into_iter().map(class).collect();
    let cost = |frame: usize| posteriors[frame][heard[frame]] - posteriors[frame][aligned[frame]];
    // The frames of each phone of the text.
    let mut phones: Vec<Range<usize>> = Vec::new();
    let mut begin = 0;
    for (&symbol, &frames) in alignment.symbols.iter().zip(&alignment.durations) {
        let end = begin + frames as usize;
        if is_phone(symbol) {
            phones.push(begin..end);
        }
        begin = end;
    }

    let mut beyond = vec![0.0; posteriors.len()];
    phones.iter().for_each(|frames| beyond[frames.start] -= 1.0);
    for (frame, beyond) in beyond.iter_mut().enumerate() {
        if heard[frame] != PAUSE && (frame == 0 || heard[frame] != heard[frame - 1]) {
            *beyond += HEARD_WEIGHT;
        }
    }
    let unspoken = |frames: &Range<usize>| {
        frames.len() <= PHONE_FRAMES
            && frames.clone().map(cost).sum::<f32>() > UNSPOKEN_COST * frames.len() as f32
    };
    let (more, more_frames) = largest_sum(beyond);
    let (fewer, fewer_phones) =
        largest_sum(phones.iter().map(|phone| if unspoken(phone) { 1.0 } else { -1.0 }));
    let fewer_frames = match &phones[fewer_phones] {
        [] => 0..0,
        [first, .., last] => first.start..last.end,
        [phone] => phone.clone(),
    };

    // A stretch explains the difference only if the rest of the clip matches.
    let rest_matches = |stretch: &Range<usize>| {
        let rest = (0..aligned.len()).filter(|frame| aligned[*frame] != PAUSE && !stretch.contains(frame));
        let (count, sum) =
            rest.fold((0, 0.0), |(count, sum), frame| (count + 1, sum + posteriors[frame][aligned[frame]]));
        count >= MIN_REST_FRAMES && sum / count as f32 >= MISMATCH_SCORE
    };
    let (has_more, has_fewer) = (more >= MIN_MORE, fewer >= MIN_FEWER);
    if has_more && !has_fewer && rest_matches(&more_frames) {
        return Err(Error::clip_has_more(more / HEARD_WEIGHT));
    }
    if has_fewer && !has_more && rest_matches(&fewer_frames) {
        return Err(Error::clip_has_less(fewer));
    }
    if has_more || has_fewer || alignment.score < MISMATCH_SCORE {
        return Err(Error::clip_mismatch("another text is spoken in the recording"));
    }
    Ok(())
}

/// Returns the largest sum of consecutive values and where they are (Bentley 1984, "Algorithm Design Techniques"); an empty range if none is positive.
fn largest_sum(values: impl IntoIterator<Item = f32>) -> (f32, Range<usize>) {
    let (mut best, mut found) = (0.0, 0..0);
    let (mut sum, mut begin) = (0.0, 0);
    for (index, value) in values.into_iter().enumerate() {
        if sum <= 0.0 {
            (sum, begin) = (0.0, index);
        }
        sum += value;
        if sum > best {
            (best, found) = (sum, begin..index + 1);
        }
    }
    (best, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_sum_is_that_of_consecutive_values() {
        assert_eq!(largest_sum([-1.0, 2.0, -1.0, 3.0, -5.0, 3.0]), (4.0, 1..4));
        assert_eq!(largest_sum([-1.0, -2.0]), (0.0, 0..0));
        assert_eq!(largest_sum([]), (0.0, 0..0));
    }
}
