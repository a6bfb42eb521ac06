//! When each symbol is spoken, from what a trained attention decoder attends to: the best monotonic path.
//!
//! The other way than the recogniser's: it needs no classes of phones, but its steps are R frames. Figures of both: docs/decisions/0053-recogniser-and-viterbi.md.

use burn::prelude::*;

use crate::{
    Error, Result,
    audio::mel::Mel,
    model::{AttentiveTacotron, TacotronConfig, tacotron::Symbols},
    nn::Mode,
    text::symbols::{self, SYMBOL_COUNT, Symbol},
};

#[derive(Debug)]
pub struct AttentionAligner {
    model: AttentiveTacotron,
    config: TacotronConfig,
    device: Device,
}

impl AttentionAligner {
    /// From the bytes of an attention model for our own symbols.
    pub fn load(bytes: &[u8], device: &Device) -> Result<Self> {
        let (model, config, _) = AttentiveTacotron::load(
            bytes,
            |version| (version == symbols::version()).then_some(SYMBOL_COUNT),
            device,
        )?;
        Ok(Self { model, config, device: device.clone() })
    }

    /// Frames of each symbol, at least one step's; their sum is the recording's frames. The speaker vector is the mean of all speakers.
    ///
    /// Fails with `clip-mismatch` where the recording has fewer steps than symbols.
    pub async fn align(&self, mel: &Mel, symbols: &[Symbol]) -> Result<Vec<u32>> {
        let TacotronConfig { mels, reduction, mel_mean, mel_scale, .. } = self.config;
        let steps = mel.frames().div_ceil(reduction);
        let mut previous = vec![0.0; mels];
        for step in 1..steps {
            previous
                .extend(mel.frame(step * reduction - 1).iter().map(|value| (value - mel_mean) / mel_scale));
        }
        let previous = Tensor::from_data(TensorData::new(previous, [1, steps, mels]), &self.device);
        let speaker = self.model.speakers.val().mean_dim(0);
        let said = self.model.teacher_force(
            &Symbols::new(&[symbols], None, &self.device),
            speaker,
            previous,
            Mode::Eval,
        );
        let data = said
            .alignment
            .into_data_async()
            .await
            .map_err(|error| Error::device_lost(format!("{error:?}")))?;
        let attention = data.try_to_vec::<f32>().expect("attention is f32");
        let Some(durations) = path(&attention, symbols.len()) else {
            return Err(Error::clip_mismatch(format!(
                "{} frames are too few for {} symbols",
                mel.frames(),
                symbols.len()
            )));
        };
        let mut durations: Vec<u32> = durations.into_iter().map(|steps| steps * reduction as u32).collect();
        if let Some(last) = durations.last_mut() {
            *last -= (steps * reduction - mel.frames()) as u32;
        }
        Ok(durations)
    }
}

/// Steps of each symbol along the monotonic path that is attended most, over attention `[N, L]`. `None` with fewer steps than symbols.
fn path(attention: &[f32], width: usize) -> Option<Vec<u32>> {
    const MIN_WEIGHT: f32 = 1e-6;
    let rows = attention.chunks_exact(width);
    let mut scores = vec![f32::NEG_INFINITY; width];
    let mut moved = Vec::with_capacity(rows.len());
    for (step, row) in rows.enumerate() {
        let mut came = vec![false; width];
        for symbol in (0..width).rev() {
            let before = if symbol > 0 { scores[symbol - 1] } else { f32::NEG_INFINITY };
            let from = if step == 0 && symbol == 0 { 0.0 } else { before.max(scores[symbol]) };
            came[symbol] = before > scores[symbol];
            scores[symbol] = from + row[symbol].max(MIN_WEIGHT).ln();
        }
        moved.push(came);
    }
    if !scores.last()?.is_finite() {
        return None;
    }
    let mut durations = vec![0; width];
    let mut symbol = width - 1;
    for came in moved.iter().rev() {
        durations[symbol] += 1;
        symbol -= usize::from(came[symbol]);
    }
    Some(durations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::{Metadata, Storage};

    #[test]
    fn the_path_follows_the_attention_and_never_goes_back() {
        let attention = [
            [0.9, 0.1, 0.0], //
            [0.2, 0.8, 0.0],
            [0.6, 0.4, 0.0], // A glance back costs less than a way back that there is not.
            [0.0, 0.9, 0.1],
            [0.0, 0.1, 0.9],
        ];
        assert_eq!(path(attention.as_flattened(), 3), Some(vec![1, 3, 1]));
        assert_eq!(path(&[0.5, 0.5], 2), None);
    }

    #[test]
    fn a_packed_model_aligns_every_frame() {
        let device = Device::flex();
        device.seed(5);
        let config = TacotronConfig { autoregressive: true, ..TacotronConfig::tiny(2) };
        let model = AttentiveTacotron::new(&config, &device);
        let bytes =
            pollster::block_on(model.serialize(&config, &symbols::version(), Storage::Half, Metadata::new()))
                .unwrap();
        let aligner = AttentionAligner::load(&bytes, &device).unwrap();
        let mel = Mel { mels: 80, data: (0..21 * 80).map(|index| -5.0 + (index as f32).sin()).collect() };
        let durations = pollster::block_on(aligner.align(&mel, &[1, 20, 8, 2])).unwrap();
        assert_eq!((durations.len(), durations.iter().sum::<u32>()), (4, 21));
        assert!(durations.iter().all(|&frames| frames > 0), "{durations:?}");
        assert_eq!(pollster::block_on(aligner.align(&mel, &[1; 12])).unwrap_err().code(), "clip-mismatch");
        assert_eq!(AttentionAligner::load(&bytes[..90], &device).unwrap_err().code(), "base-corrupt");
    }
}
