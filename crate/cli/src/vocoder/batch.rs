//! Batches of windows of a vocoder dataset.

use burn::prelude::*;
use rand::Rng;

use super::{
    dataset::VocoderDataset,
    smoothing::smoothed,
    spectra::{LONG_WINDOW_SECONDS, SHORT_WINDOW_SECONDS, Spectra, TYPICAL_NOISE, noise_power},
};
use crate::learn::{data_loader::Collate, hyperparameters::Hyperparameters};
use burn_fused::{ranks::Shard, trace::Value};
use ownvoice::{
    Result,
    audio::{
        mel::{MelConfig, MelExtractor},
        source::pulses,
        stft::Stft,
    },
    learn::sampler::{BatchKey, BatchSampler, HELD_OUT_SEED},
    model::batch::{Clips, Data},
    vocoder::network::{PITCH_CLASSES, VocoderConfig, pitch_class},
};

/// A batch, or a shard of one.
pub struct VocoderBatch {
    /// The names of the clips.
    clips: Clips,
    /// `[B, T, M]`, normalised
    pub(super) mel: Tensor<3>,
    /// `[B, T, F]`
    pub(super) envelope: Tensor<3>,
    /// `[B, T, PITCH_CLASSES]`, shares of the two nearest classes; zero in unvoiced frames
    pub(super) pitch: Tensor<3>,
    /// `[B, T, 1]`
    pub(super) voiced: Tensor<3>,
    pub(super) long: Spectra,
    pub(super) short: Spectra,
    /// `[B, 1, F]`, 1 for the frequencies that the recording contains, otherwise 0
    pub(super) known: Tensor<3>,
    /// The share of this shard in the whole batch.
    pub(super) share: f32,
    /// The number of voiced frames in the whole batch.
    pub(super) voiced_frames: usize,
}

impl Data for VocoderBatch {
    fn clips(&self) -> &Clips {
        &self.clips
    }

    fn tensors(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("spectrogram", Value::from_tensor(&self.mel)),
            ("envelope", Value::from_tensor(&self.envelope)),
            ("pitch", Value::from_tensor(&self.pitch)),
            ("power under the long window", Value::from_tensor(&self.long.target)),
            ("power of pulses", Value::from_tensor(&self.long.pulses)),
            ("power under the short window", Value::from_tensor(&self.short.target)),
        ]
    }
}

/// A source of batches of windows.
pub(super) struct WindowSource<'a> {
    dataset: &'a VocoderDataset,
    /// Extracts spectrograms from samples at the vocoder's rate.
    extractor: MelExtractor,
    /// The spectra of both windows, and the power of noise in each bin.
    long: (Stft, f32),
    short: (Stft, f32),
    /// The largest standard deviation of the random smoothing of the spectrograms in training, in frames and channels, see [`smoothed`].
    smoothing: f32,
    config: &'a VocoderConfig,
    hyperparameters: &'a Hyperparameters,
    train: BatchSampler,
    held_out: BatchSampler,
    shard: Shard,
}

/// The number of frames before and after a window, as context of its spectra.
const MARGIN: usize = 4;

/// A window of a clip.
struct Window {
    clip: usize,
    first_frame: usize,
    /// The phase of the first pulse, 0 to 1.
    phase: f32,
    /// The shares of the largest smoothing, along time and frequency.
    smoothing: [f32; 2],
}

impl<'a> WindowSource<'a> {
    /// Creates a source of windows.
    ///
    /// * `train`, `held_out`: indices of clips that are at least as long as a window
    pub fn new(
        dataset: &'a VocoderDataset,
        (train, held_out): (&[usize], &[usize]),
        config: &'a VocoderConfig,
        hyperparameters: &'a Hyperparameters,
        smoothing: f32,
        shard: Shard,
    ) -> Self {
        let extractor =
            config.extractor(dataset.mel_config()).expect("the network reads the dataset's spectrograms");
        let MelConfig { sample_rate_hz, fft_length, hop_length, .. } = *extractor.config();
        let spectra = |seconds: f32| {
            let window = (seconds * sample_rate_hz as f32).round() as usize;
            (Stft::new(fft_length, window, hop_length), noise_power(window))
        };
        // All windows have the same length.
        let sampler = |clips: &[usize], seed| {
            BatchSampler::new(clips.iter().map(|&clip| (clip, 0)), hyperparameters.batch, seed)
        };
        Self {
            dataset,
            extractor,
            long: spectra(LONG_WINDOW_SECONDS),
            short: spectra(SHORT_WINDOW_SECONDS),
            smoothing,
            config,
            hyperparameters,
            train: sampler(train, hyperparameters.seed),
            held_out: sampler(held_out, HELD_OUT_SEED),
            shard,
        }
    }

    /// Returns the windows of a batch.
    fn windows(&self, key: BatchKey) -> Vec<Window> {
        let clips = match key {
            BatchKey::Train(step) => self.train.batch(step),
            BatchKey::HeldOut(number) => self.held_out.batch(number),
        };
        let window = |(item, clip)| {
            let mut random = key.random(self.hyperparameters.seed, item);
            let last = self.dataset.frames(clip) - self.hyperparameters.window;
            Window {
                clip,
                first_frame: random.random_range(0..=last),
                phase: random.random(),
                smoothing: random.random(),
            }
        };
        clips.into_iter().enumerate().map(window).collect()
    }

    /// Returns the recording and the pulses from [`MARGIN`] frames before the window to [`MARGIN`] frames after it, with silence outside the recording.
    fn samples(&self, window: &Window) -> Result<(Vec<f32>, Vec<f32>)> {
        let MelConfig { sample_rate_hz, hop_length, .. } = *self.extractor.config();
        let frames = self.hyperparameters.window + 2 * MARGIN;
        let first = window.first_frame as isize - MARGIN as isize;
        let f0_hz = self.dataset.f0_hz(window.clip, first, frames + 1)?;
        let recording =
            self.dataset.samples(window.clip, first * hop_length as isize, frames * hop_length)?;
        Ok((recording, pulses(&f0_hz, sample_rate_hz, hop_length, window.phase)))
    }

    /// Appends the power spectra of the window's own frames.
    fn powers(&self, (stft, _): &(Stft, f32), samples: &[f32], powers: &mut Vec<f32>) {
        let own = MARGIN..MARGIN + self.hyperparameters.window;
        stft.analyze(samples, |frame, spectrum| {
            if own.contains(&frame) {
                powers.extend(spectrum.iter().map(|x| x.norm_sqr()));
            }
        });
    }
}

impl Collate for WindowSource<'_> {
    type HostBatch = VocoderBatch;
    type Batch = VocoderBatch;

    fn make(&self, key: BatchKey, cpu: &Device) -> Result<VocoderBatch> {
        let (frames, bins) = (self.hyperparameters.window, self.config.bins);
        let whole = self.windows(key);
        let f0_hz = |window: &Window| self.dataset.f0_hz(window.clip, window.first_frame as isize, frames);
        let f0_hz = whole.iter().map(f0_hz).collect::<Result<Vec<_>>>()?;
        let voiced_frames = f0_hz.iter().flatten().filter(|hz| **hz > 0.0).count();
        let names = whole.iter().map(|window| self.dataset.name(window.clip).to_string()).collect();
        let (windows, f0_hz) = (self.shard.slice(&whole), self.shard.slice(&f0_hz));

        let (mut mels, mut envelopes) = (Vec::new(), Vec::new());
        let (mut long, mut short, mut long_pulses) = (Vec::new(), Vec::new(), Vec::new());
        let mut known = Vec::new();
        let bin_hz = self.config.sample_rate_hz as f32 / 2.0 / (bins - 1) as f32;
        for window in windows {
            let mut mel = self.dataset.mel(window.clip, window.first_frame, frames)?;
            if self.smoothing > 0.0 && matches!(key, BatchKey::Train(_)) {
                mel = smoothed(&mel, window.smoothing.map(|share| share * self.smoothing));
            }
            let band_hz = self.dataset.band_hz(window.clip);
            known.extend((0..bins).map(|bin| f32::from(u8::from(bin as f32 * bin_hz <= band_hz))));
            envelopes.extend(self.extractor.envelope(&mel));
            mels.extend(mel.data.iter().map(|&value| self.config.mel_normalisation().apply(value)));
            let (recording, pulses) = self.samples(window)?;
            self.powers(&self.long, &recording, &mut long);
            self.powers(&self.short, &recording, &mut short);
            self.powers(&self.long, &pulses, &mut long_pulses);
        }
        let pitches = f0_hz.iter().flatten().flat_map(|&hz| class_shares(hz)).collect();
        let voiced: Vec<f32> = f0_hz.iter().flatten().map(|&hz| f32::from(u8::from(hz > 0.0))).collect();
        let short_pulses = voiced.iter().map(|voiced| voiced * TYPICAL_NOISE * self.short.1).collect();
        let tensor = |values: Vec<f32>, width: usize| {
            let frames = values.len() / (windows.len() * width);
            Tensor::<3>::from_data(TensorData::new(values, [windows.len(), frames, width]), cpu)
        };
        Ok(VocoderBatch {
            clips: Clips { whole: names, shard: self.shard },
            mel: tensor(mels, self.config.mels),
            envelope: tensor(envelopes, bins),
            pitch: tensor(pitches, PITCH_CLASSES),
            long: Spectra {
                target: tensor(long, bins),
                pulses: tensor(long_pulses, bins),
                noise: self.long.1,
            },
            short: Spectra {
                target: tensor(short, bins),
                pulses: tensor(short_pulses, 1),
                noise: self.short.1,
            },
            known: tensor(known, bins),
            voiced: tensor(voiced, 1),
            share: windows.len() as f32 / whole.len() as f32,
            voiced_frames,
        })
    }

    fn place(&self, made: VocoderBatch, device: &Device) -> VocoderBatch {
        VocoderBatch {
            mel: made.mel.to_device(device),
            envelope: made.envelope.to_device(device),
            pitch: made.pitch.to_device(device),
            voiced: made.voiced.to_device(device),
            long: made.long.on_device(device),
            short: made.short.on_device(device),
            known: made.known.to_device(device),
            ..made
        }
    }
}

/// Returns the shares of a pitch in its two nearest classes, which are zero for an unvoiced frame.
fn class_shares(hz: f32) -> [f32; PITCH_CLASSES] {
    let mut shares = [0.0; PITCH_CLASSES];
    if hz > 0.0 {
        let class = pitch_class(hz);
        let (below, above) = (class as usize, (class as usize + 1).min(PITCH_CLASSES - 1));
        shares[above] += class.fract();
        shares[below] += 1.0 - class.fract();
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pitch_is_shared_by_its_nearest_classes() {
        let at = class_shares(ownvoice::vocoder::network::pitch_hz(20.25));
        assert!((at[20] - 0.75).abs() < 1e-3 && (at[21] - 0.25).abs() < 1e-3);
        assert_eq!(class_shares(0.0).iter().sum::<f32>(), 0.0);
    }
}
