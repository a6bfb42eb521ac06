//! The search for the speaker of the base that a clone starts from: the one with the lowest spectrogram loss on the clips.

use burn::{module::Param, prelude::*};

use super::{
    frame_store::{FrameStore, predict, spread},
    options::{AdvancedCloneOptions, CloneOptions},
};
use crate::{
    Result,
    voice::{Adapted, Base, Voice},
};
use burn_fused::{Compute, readback::read};

/// The number of windows of each round, and of speakers that are kept after it: few windows for many speakers, then many windows for the few that remain
/// (successive halving, Jamieson and Talwalkar 2016).
const HALVING_ROUNDS: [(usize, usize); 4] = [(1, 32), (2, 12), (4, 4), (16, 1)];

/// The speaker that a clone starts from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// The row of the speaker table.
    pub speaker: usize,
    /// The loss, as the mean over the frames of the last round.
    pub loss: f32,
}

/// Finds the speaker with the lowest loss on windows from all clips.
pub async fn nearest_speaker(base: &Base, store: &FrameStore, options: &CloneOptions) -> Result<Nearest> {
    let AdvancedCloneOptions { batch, window, .. } = options.advanced;
    let mut speakers: Vec<usize> = (0..base.manifest.speakers.len()).collect();
    let mut nearest = Nearest { speaker: 0, loss: f32::NAN };
    for (count, keep) in HALVING_ROUNDS {
        let starts = spread(&store.clips, window, count);
        let mut losses = Vec::with_capacity(speakers.len());
        for beside in speakers.chunks((batch / count).max(1)) {
            let mut sums = vec![0.0; beside.len()];
            for starts in starts.chunks(batch) {
                let found = losses_of(base, beside, store, starts, batch, window).await?;
                sums.iter_mut().zip(found).for_each(|(sum, loss)| *sum += loss);
            }
            losses.extend(sums.into_iter().zip(beside.iter().copied()));
        }
        losses.sort_by(|left, right| left.0.total_cmp(&right.0));
        let frames: usize = starts.iter().map(|&start| store.valid(start, window)).sum();
        let (loss, speaker) = losses[0];
        nearest = Nearest { speaker, loss: loss / frames as f32 };
        speakers = losses.into_iter().take(keep).map(|(_, index)| index).collect();
    }
    Ok(nearest)
}

/// Computes the loss of each speaker on the same windows, summed over their frames. All speakers are in one batch of a constant shape, so that kernels are
/// compiled once.
async fn losses_of(
    base: &Base,
    speakers: &[usize],
    store: &FrameStore,
    starts: &[usize],
    batch: usize,
    window: usize,
) -> Result<Vec<f32>> {
    let count = starts.len();
    let rows = batch.next_multiple_of(count);
    let speaker_of = |row: usize| base.speaker(speakers[(row / count).min(speakers.len() - 1)]);
    let of_rows = Tensor::cat((0..rows).map(speaker_of).collect(), 0);
    let parts = Adapted { speaker: Param::from_tensor(of_rows), ..Voice::from_row(base, speakers[0]).parts };
    let (before, after) = predict(&parts, &store.gather(&starts.repeat(rows / count), window));
    let (windows, fused) = (store.gather(starts, window), Compute::default());
    let losses = (0..speakers.len()).map(|speaker| {
        let loss =
            |frames: &Tensor<3>| windows.loss(&fused, frames.clone().narrow(0, speaker * count, count));
        loss(&before) + loss(&after)
    });
    let losses = read(Tensor::cat(losses.collect(), 0)).await?;
    Ok(losses.into_iter().map(|loss| loss * windows.valid_frames as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clone::frame_store::Span;
    use std::ops::Range;

    fn options(batch: usize, window: usize) -> CloneOptions {
        let advanced = AdvancedCloneOptions { batch, window, ..AdvancedCloneOptions::default() };
        CloneOptions { advanced, ..CloneOptions::default() }
    }

    /// A clip of a few symbols, with all bands at their mean.
    fn blank(base: &Base, frames: usize) -> FrameStore {
        let mels = base.config().mels;
        FrameStore {
            context: base.contexts(
                &base.encode(&crate::text::symbols::parse("_ DH R AA0 _").unwrap()),
                &[32, 64, 64, 64, 32],
                frames,
            ),
            targets: Tensor::zeros([1, frames, mels], &base.device),
            mask: Tensor::ones([1, frames, 1], &base.device),
            clips: vec![Span { first: 0, frames }],
        }
    }

    /// Two clips that begin with a window of one speaker and continue with another speaker: the beginning does not decide.
    #[test]
    fn the_nearest_speaker_is_that_of_all_audio() {
        let models = ownvoice_testing::tiny_folder();
        let base = Base::open(models.path().join("base"), &Device::flex()).unwrap();
        let (window, frames, mels) = (16, 256, base.config().mels);
        let clip = frames / 2;
        let options = options(8, window);
        let blank = blank(&base, frames);
        let starts: Vec<usize> = (0..frames).step_by(window).collect();
        let says = |speaker: usize, range: Range<usize>| {
            let windows = blank.gather(&starts, window);
            let (_, after) = predict(&Voice::from_row(&base, speaker).parts, &windows);
            after.reshape([1, frames, mels]).slice([0..1, range, 0..mels])
        };
        for (early, late) in [(4, 28), (28, 4)] {
            let parts = [(early, 0..window), (late, window..clip)];
            let second =
                parts.clone().map(|(speaker, range)| (speaker, clip + range.start..clip + range.end));
            let targets = parts.into_iter().chain(second).map(|(speaker, range)| says(speaker, range));
            let targets = Tensor::cat(targets.collect(), 1);
            let nearest = |ranges: [Range<usize>; 2]| {
                let clips = ranges.map(|range| Span { first: range.start, frames: range.len() }).to_vec();
                let store = FrameStore { targets: targets.clone(), clips, ..blank.clone() };
                pollster::block_on(nearest_speaker(&base, &store, &options)).unwrap().speaker
            };
            let begin = nearest([0..window, clip..clip + window]);
            let rest = nearest([window..clip, clip + window..frames]);
            assert_ne!(begin, rest, "the premise: they differ");
            assert_eq!(nearest([0..clip, clip..frames]), rest);
        }
    }
}
