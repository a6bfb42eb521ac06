//! Batches of windows of faces with their mels.

use burn::prelude::*;
use rand::Rng;

use super::features::LipFeatures;
use crate::learn::data_loader::Collate;
use burn_fused::{ranks::Shard, trace::Value};
use ownvoice::{
    Error, Result,
    learn::sampler::{BatchKey, BatchSampler, HELD_OUT_SEED},
    lips::{
        answers::{Answers, seen},
        augmentation::Augmentation,
        clock::mel_frames,
        config::LipConfig,
        encoder::pictures,
        face::FACE_BYTES,
        track::SEARCH_EVERY,
    },
    model::{
        TacotronConfig,
        batch::{Clips, Counts, Data},
        tacotron::Symbols,
    },
};

/// A training batch on the device, or a shard of one. All windows have the same number of pictures.
#[derive(Debug, Clone)]
pub struct LipBatch {
    /// The faces, `[B, D, W, N, 3]`, -1 to 1.
    pub faces: Tensor<5>,
    /// The mask and lengths of the pictures.
    pub pictures: Symbols,
    /// The names of the tracks.
    pub clips: Clips,
    /// The rows of the speaker table, `[B]`.
    pub speakers: Tensor<1, Int>,
    /// The normalised mels, `[B, T, M]`.
    pub targets: Tensor<3>,
    /// `[B, T, 1]`, one where there is a frame.
    pub mask: Tensor<3>,
    /// The weights of the pictures around the middle of each step, `[1, T / R, N]`.
    pub seen: Tensor<3>,
    /// The counts of the whole batch, which the losses are means over.
    pub whole: Counts,
}

impl Data for LipBatch {
    fn clips(&self) -> &Clips {
        &self.clips
    }

    fn tensors(&self) -> Vec<(&'static str, Value)> {
        vec![("faces", Value::from_tensor(&self.faces)), ("spectrogram", Value::from_tensor(&self.targets))]
    }
}

impl LipBatch {
    /// Returns the targets.
    pub fn answers(&self) -> Answers {
        Answers {
            targets: self.targets.clone(),
            mask: self.mask.clone(),
            seen: self.seen.clone(),
            frames: self.whole.frames,
            steps: self.whole.steps,
        }
    }

    /// Moves the batch to another device.
    fn onto(self, device: &Device) -> Self {
        let Symbols { ids, mask, lengths } = self.pictures;
        Self {
            faces: self.faces.to_device(device),
            pictures: Symbols { ids: ids.to_device(device), mask: mask.to_device(device), lengths },
            speakers: self.speakers.to_device(device),
            targets: self.targets.to_device(device),
            mask: self.mask.to_device(device),
            seen: self.seen.to_device(device),
            ..self
        }
    }
}

/// A window of a track.
struct Window {
    /// The index of the track.
    track: usize,
    /// The first picture, a multiple of [`SEARCH_EVERY`].
    first: usize,
    augmentation: Augmentation,
}

/// Draws batches of windows.
pub struct LipSource<'a> {
    features: &'a LipFeatures,
    config: &'a LipConfig,
    /// The number of pictures of a window.
    pictures: usize,
    seed: u64,
    train: BatchSampler,
    held_out: BatchSampler,
    shard: Shard,
}

impl<'a> LipSource<'a> {
    /// Creates a source.
    ///
    /// * `train`, `held_out`: indices of tracks
    /// * `pictures`: the pictures of a window
    /// * `batch`:    the items of a whole batch
    pub fn new(
        features: &'a LipFeatures,
        (train, held_out): (&[usize], &[usize]),
        config: &'a LipConfig,
        pictures: usize,
        (batch, seed): (usize, u64),
        shard: Shard,
    ) -> Result<Self> {
        if pictures == 0 || !pictures.is_multiple_of(SEARCH_EVERY) {
            return Err(Error::option_invalid(format!(
                "a window has a multiple of {SEARCH_EVERY} pictures, not {pictures}"
            )));
        }
        // All runs hold out the same batches.
        let order = |from: &[usize], seed| {
            let lengths = from.iter().map(|&index| (index, features.tracks[index].pictures.min(pictures)));
            BatchSampler::new(lengths, batch, seed)
        };
        let (train, held_out) = (order(train, seed), order(held_out, HELD_OUT_SEED));
        Ok(Self { features, config, pictures, seed, train, held_out, shard })
    }

    fn windows(&self, draw: BatchKey) -> Vec<Window> {
        let tracks = match draw {
            BatchKey::Train(step) => self.train.batch(step),
            BatchKey::HeldOut(number) => self.held_out.batch(number),
        };
        let window = |(place, track): (usize, usize)| {
            let mut random = draw.random(self.seed, place);
            let slack = self.features.tracks[track].pictures.saturating_sub(self.pictures) / SEARCH_EVERY;
            match draw {
                BatchKey::Train(_) => Window {
                    track,
                    first: random.random_range(0..=slack) * SEARCH_EVERY,
                    augmentation: Augmentation::draw(&mut random),
                },
                BatchKey::HeldOut(_) => Window { track, first: 0, augmentation: Augmentation::NONE },
            }
        };
        tracks.into_iter().enumerate().map(window).collect()
    }

    /// Makes a batch of windows, or a shard of it, padded to the length of a whole window.
    fn assemble(&self, windows: &[Window], device: &Device) -> Result<LipBatch> {
        let sounds = &self.features.sounds;
        let &LipConfig { side, ref tacotron, .. } = self.config;
        let (&TacotronConfig { mels, reduction, .. }, normalisation) =
            (tacotron, tacotron.mel_normalisation());
        let frames_of = |pictures| mel_frames(pictures, &sounds.mel);
        let frames = frames_of(self.pictures);
        assert!(frames.is_multiple_of(reduction), "a window has a whole number of steps");
        let shown =
            |window: &Window| (self.features.tracks[window.track].pictures - window.first).min(self.pictures);
        let whole_frames: Vec<usize> = windows.iter().map(|window| frames_of(shown(window))).collect();
        let whole = Counts {
            items: windows.len(),
            frames: whole_frames.iter().sum(),
            steps: whole_frames.iter().map(|frames| frames.div_ceil(reduction)).sum(),
            ..Counts::default()
        };
        let names = windows.iter().map(|window| sounds.utterances[window.track].id.clone()).collect();
        let clips = Clips { whole: names, shard: self.shard };
        let windows = self.shard.slice(windows);
        let batch = windows.len();
        let values = side * side * 3;
        let (mut faces, mut lengths) = (Vec::with_capacity(batch * self.pictures * values), Vec::new());
        let mut speakers = Vec::new();
        let (mut targets, mut mask) = (Vec::new(), Vec::new());
        for window in windows {
            let (track, sound) = (&self.features.tracks[window.track], &sounds.utterances[window.track]);
            let count = shown(window);
            let bytes = self.features.faces(track, window.first..window.first + count)?;
            bytes
                .chunks_exact(FACE_BYTES)
                .for_each(|picture| window.augmentation.see(picture, side, &mut faces));
            faces.resize(faces.len() + (self.pictures - count) * values, 0.0);
            lengths.push(count);
            speakers.push(sound.speaker as i32);
            let (first, spoken) = (frames_of(window.first), frames_of(count));
            let mut values = sounds.log_mels(sound, first..first + spoken)?;
            values.iter_mut().for_each(|value| *value = normalisation.apply(*value));
            // The last frame is repeated past the end; the mask excludes it from the loss.
            for at in 0..frames {
                targets.extend_from_slice(&values[at.min(spoken - 1) * mels..][..mels]);
                mask.push(f32::from(u8::from(at < spoken)));
            }
        }
        let steps = frames / reduction;
        let tensor = |values: Vec<f32>, shape: [usize; 3]| {
            Tensor::<3>::from_data(TensorData::new(values, shape), device)
        };
        let faces = TensorData::new(faces, [batch, self.pictures, side, side, 3]);
        Ok(LipBatch {
            faces: Tensor::<5>::from_data(faces, device).permute([0, 2, 3, 1, 4]),
            pictures: pictures(&lengths, Some(self.pictures), device),
            clips,
            speakers: Tensor::from_data(TensorData::new(speakers, [batch]), device),
            targets: tensor(targets, [batch, frames, mels]),
            mask: tensor(mask, [batch, frames, 1]),
            seen: tensor(seen(self.pictures, frames, reduction), [1, steps, self.pictures]),
            whole,
        })
    }
}

impl Collate for LipSource<'_> {
    type HostBatch = LipBatch;
    type Batch = LipBatch;

    fn make(&self, draw: BatchKey, cpu: &Device) -> Result<LipBatch> {
        self.assemble(&self.windows(draw), cpu)
    }

    fn place(&self, made: LipBatch, device: &Device) -> LipBatch {
        made.onto(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lips::features::{Filmed, LipFeatureWriter};
    use ownvoice::{audio::mel::MelConfig, lips::clock::samples};
    use std::path::Path;

    /// Tracks whose pictures have their index as brightness, and whose sound grows louder.
    fn features(folder: &Path, tracks: &[usize]) -> LipFeatures {
        let mut writer = LipFeatureWriter::create(folder, MelConfig::speech_16k()).unwrap();
        for (number, &pictures) in tracks.iter().enumerate() {
            let faces: Vec<u8> = (0..pictures).flat_map(|at| vec![at as u8; FACE_BYTES]).collect();
            let count = samples(pictures, 16_000);
            let sound: Vec<f32> =
                (0..count).map(|n| 0.5 * (0.3 * n as f32).sin() * n as f32 / count as f32).collect();
            writer
                .push(Filmed {
                    speaker: ["a", "b"][number % 2],
                    id: number.to_string(),
                    text: String::new(),
                    file: Path::new("a.mp4"),
                    start_seconds: 0.0,
                    faces: &faces,
                    sound: &sound,
                })
                .unwrap();
        }
        writer.finish().unwrap()
    }

    fn list<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.into_data().try_to_vec::<f32>().unwrap()
    }

    #[test]
    fn faces_and_frames_of_a_window_are_synchronous() {
        let folder = tempfile::tempdir().unwrap();
        let features = features(folder.path(), &[50, 30]);
        let config = LipConfig::tiny(2);
        let source =
            LipSource::new(&features, (&[0, 1], &[0, 1]), &config, 25, (2, 1), Shard::WHOLE).unwrap();
        let device = Device::flex();
        let window = |track, first| Window { track, first, augmentation: Augmentation::NONE };
        let batch = source.assemble(&[window(0, 10), window(1, 20)], &device).unwrap();
        let side = config.side;
        assert_eq!(batch.faces.dims(), [2, side, side, 25, 3]);
        assert_eq!((batch.targets.dims(), batch.seen.dims()), ([2, 80, 80], [1, 40, 25]));
        // The brightness is the index of the picture.
        let brightness = list(batch.faces.clone().slice([0..2, 0..1, 0..1, 0..25, 0..1]));
        let number = |value: f32| ((value + 1.0) * 127.5).round() as usize;
        assert_eq!((number(brightness[0]), number(brightness[24]), number(brightness[25])), (10, 34, 20));
        // The second track has ten more pictures: 32 frames.
        assert_eq!(batch.pictures.lengths, [25, 10]);
        let mask = list(batch.mask.clone());
        assert_eq!((mask[..80].iter().sum::<f32>(), mask[80..].iter().sum::<f32>()), (80.0, 32.0));
        assert_eq!((batch.whole.frames, batch.whole.steps, batch.whole.items), (112, 56, 2));
        // Ten pictures are 32 frames: the window's first target is the track's frame 32.
        let normalisation = config.tacotron.mel_normalisation();
        let mels = features.sounds.log_mels(&features.sounds.utterances[0], 32..33).unwrap();
        let scaled: Vec<f32> = mels.into_iter().map(|value| normalisation.apply(value)).collect();
        assert_eq!(list(batch.targets)[..80], scaled);
    }

    #[test]
    fn shards_are_parts_of_the_batch_and_windows_begin_at_searched_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let features = features(folder.path(), &[50, 30, 40, 25]);
        let config = LipConfig::tiny(2);
        let of =
            |shard| LipSource::new(&features, (&[0, 1, 2, 3], &[0]), &config, 25, (4, 7), shard).unwrap();
        let draw = BatchKey::Train(3);
        let whole = of(Shard::WHOLE);
        assert!(whole.windows(draw).iter().all(|window| window.first.is_multiple_of(SEARCH_EVERY)));
        let device = Device::flex();
        let whole = whole.make(draw, &device).unwrap();
        let parts = [0, 1].map(|rank| of(Shard { rank, world_size: 2 }).make(draw, &device).unwrap());
        assert!(parts.iter().all(|part| part.whole == whole.whole));
        let joined = parts.iter().flat_map(|part| list(part.faces.clone())).collect::<Vec<f32>>();
        assert_eq!(joined, list(whole.faces));
        let odd = LipSource::new(&features, (&[0], &[0]), &config, 24, (1, 1), Shard::WHOLE);
        assert_eq!(odd.err().unwrap().code(), "option-invalid");
    }
}
