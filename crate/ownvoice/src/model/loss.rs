//! The training losses: L1 + L2 of the spectrogram before and after the postnet; on the duration path also L2 of log durations, on the attention path also the
//! cross-entropy of the gate and a guide of the attention.

use burn::{prelude::*, tensor::activation::log_sigmoid};

use super::{
    AttentiveTacotron, Tacotron,
    batch::{Batch, PitchBatch},
};
use burn_fused::Mode;

/// The losses of a batch along the duration path, each `[1]`. The losses of all shards add up to those of the batch.
pub struct Losses {
    /// The spectrogram loss before the postnet.
    pub before: Tensor<1>,
    /// The spectrogram loss after the postnet.
    pub after: Tensor<1>,
    /// The mean squared error of ln frames.
    pub durations: Tensor<1>,
    /// The mean absolute error of the contour in voiced frames plus the cross-entropy of voicing; 0 for a model without pitch.
    pub pitch: Tensor<1>,
}

impl Losses {
    /// Returns the sum of all losses.
    pub fn total(&self) -> Tensor<1> {
        self.before.clone() + self.after.clone() + self.durations.clone() + self.pitch.clone()
    }
}

/// Computes the losses of the duration path under teacher forcing.
pub fn losses(model: &Tacotron, batch: &Batch, mode: Mode) -> Losses {
    let device = batch.targets.device();
    let symbols = &batch.symbols;
    let items = symbols.lengths.len();
    let encoded = model.encode(symbols, mode);
    let speaker = batch.speaker_embeddings(model.speakers.val());
    let log_durations = model.durations.forward(encoded.clone(), speaker.clone(), &symbols.lengths);
    let mut context = model.upsample(
        symbols,
        encoded,
        batch.durations.clone(),
        batch.times.clone(),
        batch.positions.clone(),
    );
    let mut pitch = Tensor::zeros([1], &device);
    if let (Some(predictor), Some(true_pitch)) = (&model.pitch, &batch.pitch) {
        let steps = context.dims()[1] / model.decoder.reduction();
        let predicted = predictor.forward(context.clone(), speaker.clone(), &vec![steps; items]);
        pitch = pitch_loss(predicted, true_pitch, batch);
        context = Tensor::cat(vec![context, true_pitch.excitation.clone()], 2);
    }
    let (frames, _) = model.decoder.forward(context, speaker, model.decoder.start(items, &device));
    let residual = model.postnet.forward(frames.clone(), mode);
    let compare = |name, predicted| {
        let (targets, mask) = (batch.targets.clone(), batch.mask.clone());
        let compute = model.scope.at("loss").at(name).compute();
        compute.spectrogram_loss(predicted, targets, mask, batch.whole.frames)
    };
    let duration_error =
        (log_durations - batch.durations.clone().clamp_min(1.0).log()) * symbols.mask.clone();
    Losses {
        before: compare("before", frames.clone()),
        after: compare("after", frames + residual),
        durations: duration_error.powi_scalar(2).sum().div_scalar(batch.whole.symbols as f32),
        pitch,
    }
}

/// Computes the loss of contour and voicing.
///
/// * `predicted`: `[B, T, 2]`, the output of [`super::pitch::PitchPredictor`]
fn pitch_loss(
    predicted: Tensor<3>,
    PitchBatch { contour, voiced, .. }: &PitchBatch,
    batch: &Batch,
) -> Tensor<1> {
    let (contour_prediction, logit) = (predicted.clone().narrow(2, 0, 1), predicted.narrow(2, 1, 1));
    let error = ((contour_prediction - contour.clone()).abs() * voiced.clone())
        .sum()
        .div_scalar(batch.whole.voiced_frames.max(1) as f32);
    let unvoiced = voiced.clone().neg().add_scalar(1.0);
    let likelihood = voiced.clone() * log_sigmoid(logit.clone()) + unvoiced * log_sigmoid(logit.neg());
    error - (likelihood * batch.mask.clone()).sum().div_scalar(batch.whole.frames as f32)
}

/// The losses of a batch of whole utterances along the attention path, each `[1]`. The losses of all shards add up to those of the batch.
pub struct AttentionLosses {
    /// The spectrogram loss before the postnet.
    pub before: Tensor<1>,
    /// The spectrogram loss after the postnet.
    pub after: Tensor<1>,
    /// The binary cross-entropy of "the utterance ends with this step".
    pub gate: Tensor<1>,
    /// The mean negative logarithm of each step's attention weight at the symbol that is spoken then. With this guide from known durations attention is learned
    /// in hundreds of iterations instead of thousands.
    pub guide: Tensor<1>,
}

impl AttentionLosses {
    /// Returns the sum of all losses.
    pub fn total(&self) -> Tensor<1> {
        self.before.clone() + self.after.clone() + self.gate.clone() + self.guide.clone()
    }
}

/// Computes the losses of the attention path under teacher forcing. The batch must hold whole utterances, because attention begins at their start.
pub fn attention_losses(model: &AttentiveTacotron, batch: &Batch, mode: Mode) -> AttentionLosses {
    let speaker = batch.speaker_embeddings(model.speakers.val());
    let previous = model.decoder.previous(batch.targets.clone());
    let decoded = model.teacher_force(&batch.symbols, speaker, previous, mode);
    let residual = model.postnet.forward(decoded.frames.clone(), mode);
    let compare = |name, predicted| {
        let (targets, mask) = (batch.targets.clone(), batch.mask.clone());
        let compute = model.scope.at("loss").at(name).compute();
        compute.spectrogram_loss(predicted, targets, mask, batch.whole.frames)
    };
    let [items, steps, _] = decoded.alignment.dims();
    let spoken = spoken_steps(batch, steps); // (B, N)
    let share = items as f32 / batch.whole.items as f32;

    // The target of the gate stays one after the last spoken step, so that a decoder that misses the end stops soon after.
    let next = Tensor::cat(
        vec![spoken.clone().narrow(1, 1, steps - 1), Tensor::zeros([items, 1], &spoken.device())],
        1,
    );
    let logits = decoded.gate.expect("the attention path has a gate");
    let gate = (next.clone() * log_sigmoid(logits.clone().neg())
        + next.neg().add_scalar(1.0) * log_sigmoid(logits))
    .mean()
    .mul_scalar(-share);
    let guide = (decoded.alignment * spoken_symbols(batch, steps)).sum_dim(2).squeeze_dim::<2>(2); // (B, N)
    AttentionLosses {
        before: compare("before", decoded.frames.clone()),
        after: compare("after", decoded.frames + residual),
        gate,
        guide: (guide.clamp_min(1e-6).log() * spoken).sum().div_scalar(-(batch.whole.steps as f32)),
    }
}

/// Returns `[B, N]`, one where a step's first frame is not padding.
fn spoken_steps(batch: &Batch, steps: usize) -> Tensor<2> {
    let [items, frames, _] = batch.mask.dims();
    batch.mask.clone().reshape([items, steps, frames / steps]).narrow(2, 0, 1).squeeze_dim::<2>(2)
}

/// Returns `[B, N, L]`, one for the symbol that is spoken in the middle of a step.
fn spoken_symbols(batch: &Batch, steps: usize) -> Tensor<3> {
    let ([items, frames], symbols) = (batch.times.dims(), batch.durations.dims()[1]);
    let shape = [items, steps, symbols];
    let middles = batch.times.clone().reshape([items, steps, frames / steps]).mean_dim(2).expand(shape);
    let ends = batch.durations.clone().cumsum(1).unsqueeze_dim::<3>(1);
    let starts = (ends.clone() - batch.durations.clone().unsqueeze_dim::<3>(1)).expand(shape);
    (middles.clone().greater_equal(starts).float()) * middles.lower(ends.expand(shape)).float()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        audio::mel::{Mel, MelConfig},
        features::{Features, NewUtterance},
        model::{TacotronConfig, batch::assemble},
    };
    use burn_fused::ranks::Shard;

    /// Returns a batch of one utterance with the given durations, padded to `window` frames.
    fn batch(durations: &[u32], window: usize) -> (TacotronConfig, Batch) {
        let config = TacotronConfig { autoregressive: true, ..TacotronConfig::tiny(1) };
        let frames = durations.iter().sum::<u32>() as usize;
        let mut features = Features::new(MelConfig::speech_16k());
        let mel = Mel { mels: 80, data: vec![-5.0; frames * 80] };
        features.push(NewUtterance {
            speaker: "a",
            id: "x".into(),
            text: "x".into(),
            symbols: vec![crate::text::symbols::SILENCE; durations.len()],
            durations: Some(durations.to_vec()),
            mel: &mel,
            f0_hz: &[],
        });
        let picks = [(&features.utterances[0], 0)];
        let batch = assemble(&features, &picks, Shard::WHOLE, window, &config, &Device::flex()).unwrap();
        (config, batch)
    }

    #[test]
    fn the_guide_marks_the_spoken_symbol_of_each_step() {
        let (_, batch) = batch(&[3, 2, 1], 8);
        let values = |tensor: Tensor<1>| tensor.into_data().try_to_vec::<f32>().unwrap();
        // The middles of the steps of two frames are at 1, 3, 5 and 7; the last step is padding.
        assert_eq!(values(spoken_steps(&batch, 4).flatten(0, 1)), [1.0, 1.0, 1.0, 0.0]);
        let guide = values(spoken_symbols(&batch, 4).flatten(0, 2));
        assert_eq!(guide, [1.0, 0.0, 0.0, /* */ 0.0, 1.0, 0.0, /* */ 0.0, 0.0, 1.0, /* */ 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_confident_wrong_gate_costs_more_than_an_undecided_one() {
        let (config, batch) = batch(&[3, 2, 1], 8);
        let gate = |bias: f32| {
            let mut model = AttentiveTacotron::new(&config, &Device::flex());
            model.decoder.gate.weight =
                burn::module::Param::from_tensor(model.decoder.gate.weight.val().zeros_like());
            model.decoder.gate.bias =
                Some(burn::module::Param::from_tensor(Tensor::from_floats([bias], &Device::flex())));
            attention_losses(&model, &batch, Mode::Eval).gate.into_scalar::<f32>()
        };
        // Two of the four targets are one: an undecided gate costs ln 2 per step, one that is confidently shut 10 at every second step.
        assert!((gate(0.0) - 2f32.ln()).abs() < 1e-5);
        assert!((gate(-10.0) - 5.0).abs() < 1e-2, "{}", gate(-10.0));
    }
}
