//! Training batches: windows of fixed length from a prepared corpus, or whole utterances, as tensors.

use burn::prelude::*;
use rand::Rng;

use super::{TacotronConfig, pitch::CONTOUR_SCALE, tacotron::Symbols};
use crate::{
    Error, Result,
    audio::excitation::EXCITATION_WIDTH,
    features::{Features, Utterance},
    learn::sampler::{BatchKey, BatchSampler, HELD_OUT_SEED},
    text::symbols::Symbol,
};
use burn_fused::{
    matmul::{Precision, matmul},
    ranks::Shard,
    trace::Value,
    upsample::{POSITION_WIDTH, frame_positions},
};

/// The data of a training step.
pub trait Data {
    /// Returns the names of its clips.
    fn clips(&self) -> &Clips;

    /// Returns its tensors by name, with one row for each clip.
    fn tensors(&self) -> Vec<(&'static str, Value)>;
}

/// The names of a batch's clips.
#[derive(Debug, Clone)]
pub struct Clips {
    /// The names of the whole batch, in order.
    pub whole: Vec<String>,
    /// The part of the batch whose tensors this rank holds.
    pub shard: Shard,
}

impl Clips {
    /// Returns the names of the clips whose tensors this rank holds.
    pub fn here(&self) -> &[String] {
        self.shard.slice(&self.whole)
    }
}

/// One training batch on the device, or a shard of one.
#[derive(Debug, Clone)]
pub struct Batch {
    pub symbols: Symbols,
    /// The names of the utterances.
    pub clips: Clips,
    /// `[B, S]`, one at the row of the item's speaker
    pub speakers: Tensor<2>,
    /// `[B, L]`, frames
    pub durations: Tensor<2>,
    /// `[B, T]`, centres in frames from the start of the utterance
    pub times: Tensor<2>,
    /// `[B, T, 4]`
    pub positions: Tensor<3>,
    /// The inputs and targets of a model with pitch; `None` for a model without.
    pub pitch: Option<PitchBatch>,
    /// `[B, T, M]`, normalised
    pub targets: Tensor<3>,
    /// `[B, T, 1]`, one where there is a frame
    pub mask: Tensor<3>,
    /// The divisors of the losses' means.
    pub whole: Counts,
}

impl Data for Batch {
    fn clips(&self) -> &Clips {
        &self.clips
    }

    fn tensors(&self) -> Vec<(&'static str, Value)> {
        let mut tensors = vec![
            ("spectrogram", Value::from_tensor(&self.targets)),
            ("durations", Value::from_tensor(&self.durations)),
            ("times", Value::from_tensor(&self.times)),
            ("positions", Value::from_tensor(&self.positions)),
        ];
        if let Some(pitch) = &self.pitch {
            tensors.extend([
                ("excitation", Value::from_tensor(&pitch.excitation)),
                ("pitch", Value::from_tensor(&pitch.contour)),
            ]);
        }
        tensors
    }
}

/// Counts of a whole batch. The loss of each shard is divided by these, so that the losses of all shards add up to that of the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub items: usize,
    pub symbols: usize,
    /// Frames that are not padding.
    pub frames: usize,
    /// Decoder steps whose first frame is not padding.
    pub steps: usize,
    /// 0 without pitch.
    pub voiced_frames: usize,
}

/// The pitch of a batch's frames, from the recordings.
#[derive(Debug, Clone)]
pub struct PitchBatch {
    /// `[B, T, X]`, see [`crate::audio::excitation`]
    pub excitation: Tensor<3>,
    /// `[B, T, 1]`, ln F0 above the speaker's mean in units of [`CONTOUR_SCALE`], 0 where unvoiced
    pub contour: Tensor<3>,
    /// `[B, T, 1]`, one where voiced
    pub voiced: Tensor<3>,
}

impl Batch {
    /// Returns the speaker embedding of each item, `[B, V]`.
    ///
    /// * `table`: the speaker table, `[S, V]`
    pub fn speaker_embeddings(&self, table: Tensor<2>) -> Tensor<2> {
        matmul(self.speakers.clone(), table, Precision::F32)
    }

    /// Copies the batch to another device.
    pub fn to_device(self, device: &Device) -> Self {
        let Symbols { ids, mask, lengths } = self.symbols;
        Self {
            symbols: Symbols { ids: ids.to_device(device), mask: mask.to_device(device), lengths },
            clips: self.clips,
            speakers: self.speakers.to_device(device),
            durations: self.durations.to_device(device),
            times: self.times.to_device(device),
            positions: self.positions.to_device(device),
            pitch: self.pitch.map(|PitchBatch { excitation, contour, voiced }| PitchBatch {
                excitation: excitation.to_device(device),
                contour: contour.to_device(device),
                voiced: voiced.to_device(device),
            }),
            targets: self.targets.to_device(device),
            mask: self.mask.to_device(device),
            whole: self.whole,
        }
    }
}

/// The part of an utterance that is an item of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A window of this many frames, a multiple of the model's reduction.
    Window(usize),
    /// The whole utterance; utterances of more than `WHOLE_FRAMES` are left out.
    Whole,
}

/// The frames of the longest utterance that is drawn whole, 5 s at 16 kHz. Longer ones would pad all other items of their batch.
const WHOLE_FRAMES: usize = 400;
/// The share of windows that begin at the start of their utterance, because synthesis always starts there.
const START_SHARE: f64 = 0.3;

/// Draws batches of utterances.
pub struct UtteranceSource<'a> {
    features: &'a Features,
    config: &'a TacotronConfig,
    extent: Extent,
    seed: u64,
    train: BatchSampler,
    held_out: BatchSampler,
    shard: Shard,
}

impl<'a> UtteranceSource<'a> {
    /// * `train`, `held_out`: indices of utterances with durations
    /// * `batch`:             items of a whole batch
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        features: &'a Features,
        (train, held_out): (&[usize], &[usize]),
        config: &'a TacotronConfig,
        extent: Extent,
        batch: usize,
        seed: u64,
        shard: Shard,
    ) -> Result<Self> {
        if config.pitch {
            features.mean_pitches_hz()?;
        }
        let sampler = |from: &[usize], seed: u64| {
            let fitting: Vec<(usize, usize)> = from
                .iter()
                .map(|&index| (index, &features.utterances[index]))
                .filter_map(|(index, item)| match extent {
                    Extent::Window(_) => Some((index, item.symbols.len())),
                    Extent::Whole => (item.frames <= WHOLE_FRAMES).then_some((index, item.frames)),
                })
                .collect();
            if fitting.is_empty() {
                return Err(Error::corpus_invalid("no utterance is short enough to be drawn whole"));
            }
            Ok(BatchSampler::new(fitting, batch, seed))
        };
        // All runs validate on the same batches.
        let (train, held_out) = (sampler(train, seed)?, sampler(held_out, HELD_OUT_SEED)?);
        Ok(Self { features, config, extent, seed, train, held_out, shard })
    }

    /// Draws a batch, or this source's shard of it.
    pub fn draw(&self, key: BatchKey, device: &Device) -> Result<Batch> {
        let items = match key {
            BatchKey::Train(step) => self.train.batch(step),
            BatchKey::HeldOut(number) => self.held_out.batch(number),
        };
        let utterances = items.iter().map(|&index| &self.features.utterances[index]);
        let picks: Vec<(&Utterance, usize)> = match self.extent {
            Extent::Window(window) => {
                let first = |(place, utterance): (usize, &Utterance)| {
                    let mut random = key.random(self.seed, place);
                    let slack = utterance.frames.saturating_sub(window);
                    if random.random_bool(START_SHARE) { 0 } else { random.random_range(0..=slack) }
                };
                utterances.enumerate().map(|item| (item.1, first(item))).collect()
            }
            Extent::Whole => utterances.map(|utterance| (utterance, 0)).collect(),
        };
        let window = match self.extent {
            Extent::Window(window) => window,
            Extent::Whole => {
                let longest = picks.iter().map(|(utterance, _)| utterance.frames).max();
                longest.expect("a batch has items").next_multiple_of(self.config.reduction)
            }
        };
        assemble(self.features, &picks, self.shard, window, self.config, device)
    }
}

/// Assembles a batch, or a shard of one, from windows of utterances. A shard is padded to the width of the whole batch.
///
/// * `picks`: the utterance and the first frame of each item of the whole batch
pub fn assemble(
    features: &Features,
    picks: &[(&Utterance, usize)],
    shard: Shard,
    window: usize,
    config: &TacotronConfig,
    device: &Device,
) -> Result<Batch> {
    let mels = config.mels;
    let width = picks.iter().map(|(utterance, _)| utterance.symbols.len()).max();
    let width = width.expect("a batch has items");
    // Frames past the end of the utterance are padding.
    let frames = |(utterance, first): &(&Utterance, usize)| (utterance.frames - first).min(window);
    let mut whole = Counts {
        items: picks.len(),
        symbols: picks.iter().map(|(utterance, _)| utterance.symbols.len()).sum(),
        frames: picks.iter().map(frames).sum(),
        steps: picks.iter().map(|pick| frames(pick).div_ceil(config.reduction)).sum(),
        voiced_frames: 0,
    };
    let pitches_hz = match config.pitch {
        true => {
            picks.iter().map(|pick| windowed_pitches_hz(features, pick, window)).collect::<Result<_>>()?
        }
        false => Vec::new(),
    };
    whole.voiced_frames = pitches_hz.iter().flatten().filter(|hz| **hz > 0.0).count();

    let clips = Clips { whole: picks.iter().map(|(utterance, _)| utterance.id.clone()).collect(), shard };
    let picks = shard.slice(picks);
    let items: Vec<&[Symbol]> = picks.iter().map(|(utterance, _)| utterance.symbols.as_slice()).collect();
    let symbols = Symbols::new(&items, Some(width), device);
    let (mut durations, mut times, mut positions, mut mask) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut targets = Vec::with_capacity(picks.len() * window * mels);
    for &(utterance, first) in picks {
        let lengths = utterance.durations.as_ref().expect("only aligned utterances are drawn");
        durations.extend((0..width).map(|index| lengths.get(index).map_or(1.0, |&frames| frames as f32)));
        positions.extend(frame_positions(lengths, first, window).into_iter().flatten());
        let mut values = features.log_mels(utterance, first..utterance.frames.min(first + window))?;
        values.iter_mut().for_each(|value| *value = config.mel_normalisation().apply(*value));
        // The last frame is repeated as padding, which the mask excludes from the loss.
        let normalised = |frame: usize| &values[(frame.min(utterance.frames - 1) - first) * mels..][..mels];
        for frame in first..first + window {
            times.push(frame as f32 + 0.5);
            mask.push(f32::from(u8::from(frame < utterance.frames)));
            targets.extend_from_slice(normalised(frame));
        }
    }
    let batch = picks.len();
    let speakers: Vec<usize> = picks.iter().map(|(utterance, _)| utterance.speaker).collect();
    let pitch = match config.pitch {
        true => Some(pitch(features, &speakers, shard.slice(&pitches_hz), window, device)?),
        false => None,
    };
    let rows = config.speakers;
    let mut chosen = vec![0.0; batch * rows];
    for (item, speaker) in chosen.chunks_exact_mut(rows).zip(speakers) {
        item[speaker] = 1.0;
    }
    Ok(Batch {
        symbols,
        clips,
        speakers: Tensor::from_data(TensorData::new(chosen, [batch, rows]), device),
        durations: Tensor::from_data(TensorData::new(durations, [batch, width]), device),
        times: Tensor::from_data(TensorData::new(times, [batch, window]), device),
        positions: Tensor::from_data(TensorData::new(positions, [batch, window, POSITION_WIDTH]), device),
        pitch,
        targets: Tensor::from_data(TensorData::new(targets, [batch, window, mels]), device),
        mask: Tensor::from_data(TensorData::new(mask, [batch, window, 1]), device),
        whole,
    })
}

/// Returns the pitches of a window, `[T]`; frames past the end of the utterance are unvoiced.
fn windowed_pitches_hz(
    features: &Features,
    &(utterance, first): &(&Utterance, usize),
    window: usize,
) -> Result<Vec<f32>> {
    let mut pitches_hz = features.pitches_hz(utterance, first..utterance.frames.min(first + window))?;
    pitches_hz.resize(window, 0.0);
    Ok(pitches_hz)
}

/// Computes the pitch inputs and targets of a batch.
///
/// * `speakers`:   `[B]`
/// * `pitches_hz`: `[B, T]`
fn pitch(
    features: &Features,
    speakers: &[usize],
    pitches_hz: &[Vec<f32>],
    window: usize,
    device: &Device,
) -> Result<PitchBatch> {
    let means = features.mean_pitches_hz()?;
    let (mut excitation, mut contour, mut voiced) =
        (Vec::with_capacity(speakers.len() * window * EXCITATION_WIDTH), Vec::new(), Vec::new());
    for (&speaker, pitches_hz) in speakers.iter().zip(pitches_hz) {
        for &hz in pitches_hz {
            excitation.extend(features.excitation().frame(hz));
            contour.push(if hz > 0.0 { (hz / means[speaker]).ln() / CONTOUR_SCALE } else { 0.0 });
            voiced.push(f32::from(u8::from(hz > 0.0)));
        }
    }
    let tensor = |values: Vec<f32>, width: usize| {
        Tensor::from_data(TensorData::new(values, [speakers.len(), window, width]), device)
    };
    Ok(PitchBatch {
        excitation: tensor(excitation, EXCITATION_WIDTH),
        contour: tensor(contour, 1),
        voiced: tensor(voiced, 1),
    })
}
