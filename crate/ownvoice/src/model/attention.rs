//! The decoder of Tacotron 2 (Shen et al. 2018, section 2.2): location-sensitive attention (Chorowski et al. 2015, section 2.2) aligns text and frames, and a
//! stop gate ends the utterance.
//!
//! The layout is that of NVIDIA's reference, so that its weights can be loaded: attention LSTM, attention, decoder LSTM, projection and gate. The paper's zoneout
//! is left out. Under teacher forcing only the attention and its LSTM run step by step; the prenet, decoder LSTM and projections run over the whole sequence at
//! once.

use burn::{
    module::{Module, Param},
    nn::Linear,
    prelude::*,
};

use super::{StopReason, TacotronConfig, prenet::Prenet, tacotron::Symbols};
use burn_fused::{
    Compute, Scope,
    attention::AttentionMemory,
    init::{self, Fill},
    lstm::{Lstm, ScanOptions, split_state},
};

/// Scores each symbol by content (query and memory) and by location (the last and the cumulative attention weights).
#[derive(Module, Debug)]
pub struct LocationAttention {
    /// `[H, A]`
    pub query: Linear,
    /// `[C, A]`
    pub memory: Linear,
    /// The convolution over the last and the cumulative weights, `[2 K, F]`; taps vary slowest.
    pub location: Param<Tensor<2>>,
    /// `[F, A]`
    pub location_projection: Linear,
    /// `[A, 1]`
    pub energy: Linear,
    taps: usize,
    /// How the steps and the memory are computed.
    #[module(skip)]
    compute: [Compute; 2],
}

impl LocationAttention {
    fn new(config: &TacotronConfig, device: &Device) -> Self {
        let (width, filters, taps) =
            (config.attention_width, config.location_filters, config.location_kernel);
        assert!(taps % 2 == 1, "a convolution that keeps its length has an odd number of taps");
        let bound = (6.0 / ((2 + filters) * taps) as f64).sqrt();
        let linear = |inputs, outputs| init::unbiased(inputs, outputs, device);
        Self {
            query: linear(config.decoder_width, width),
            memory: linear(config.encoder_width + config.speaker_width, width),
            location: Fill::Uniform(bound).init([2 * taps, filters], device),
            location_projection: linear(filters, width),
            energy: linear(width, 1),
            taps,
            compute: Default::default(),
        }
    }

    fn computing(self, scope: &Scope) -> Self {
        Self { compute: [scope.compute(), scope.at("memory").compute()], ..self }
    }

    /// Returns the memory that the steps attend to. It does not change while the decoder runs.
    ///
    /// * `values`: `[B, L, C]`
    /// * `mask`:   `[B, L]`
    fn memory(&self, values: Tensor<3>, mask: Tensor<2>) -> AttentionMemory {
        let location = self.location.val().matmul(self.location_projection.weight.val()); // (2 K, F) x (F, A)
        let [steps, memory] = &self.compute;
        AttentionMemory {
            keys: memory.linear(&self.memory, values.clone()),
            values,
            mask,
            energy: self.energy.weight.val(),
            location,
            compute: steps.clone(),
        }
    }
}

/// The recurrent state between two steps.
#[derive(Debug, Clone)]
pub struct AttentionState {
    /// The hidden and cell state of the attention LSTM, `[B, 2H]`
    pub attention: Tensor<2>,
    /// The hidden and cell state of the decoder LSTM, `[B, 2H]`
    pub decoder: Tensor<2>,
    /// The output of [`AttentionMemory::attend`], `[B, 2 L + C]`
    pub attended: Tensor<2>,
}

/// A decoder that aligns text and frames by attention.
#[derive(Module, Debug)]
pub struct AttentionDecoder {
    /// Reads the frame before each step; `None` where the decoder is not autoregressive.
    pub prenet: Option<Prenet>,
    pub attention_lstm: Lstm,
    pub attention: LocationAttention,
    pub decoder_lstm: Lstm,
    /// `[H + C, R M]`
    pub projection: Linear,
    /// `[H + C, 1]`
    pub gate: Linear,
    reduction: usize,
    /// How projection and gate are computed.
    #[module(skip)]
    compute: [Compute; 2],
}

/// The outputs of N steps.
#[derive(Debug, Clone)]
pub struct DecoderOutput {
    /// `[B, N R, M]`
    pub frames: Tensor<3>,
    /// The logit that the utterance ends with each step, `[B, N]`
    pub gate: Tensor<2>,
    /// `[B, N, L]`
    pub alignment: Tensor<3>,
    pub state: AttentionState,
}

/// An utterance that the decoder generated from its own frames.
#[derive(Debug, Clone)]
pub struct Generated {
    /// `[1, T, M]`
    pub frames: Tensor<3>,
    /// `[1, T / R, L]`
    pub alignment: Tensor<3>,
    pub stop: StopReason,
}

impl AttentionDecoder {
    pub fn new(config: &TacotronConfig, device: &Device) -> Self {
        let (width, context) = (config.decoder_width, config.encoder_width + config.speaker_width);
        let prenet_width = if config.autoregressive { config.prenet_width } else { 0 };
        Self {
            prenet: config.autoregressive.then(|| Prenet::new(config, device)),
            attention_lstm: Lstm::new(prenet_width + context, width, device),
            attention: LocationAttention::new(config, device),
            decoder_lstm: Lstm::new(width + context, width, device),
            projection: init::linear(width + context, config.reduction * config.mels, device),
            gate: init::linear(width + context, 1, device),
            reduction: config.reduction,
            compute: Default::default(),
        }
    }

    /// Sets how its operations are computed; `scope` is that of the decoder.
    pub fn computing(self, scope: &Scope) -> Self {
        Self {
            prenet: self.prenet.map(|prenet| prenet.computing(&scope.at("prenet"))),
            attention_lstm: self.attention_lstm.computing(&scope.at("attention_lstm")),
            attention: self.attention.computing(&scope.at("attention")),
            decoder_lstm: self.decoder_lstm.computing(&scope.at("decoder_lstm")),
            compute: [scope.at("projection").compute(), scope.at("gate").compute()],
            ..self
        }
    }

    /// Returns the memory that the decoder attends to.
    ///
    /// * `encoded`: `[B, L, E]`
    /// * `speaker`: `[B, V]`
    pub fn memory(&self, symbols: &Symbols, encoded: Tensor<3>, speaker: Tensor<2>) -> AttentionMemory {
        let [batch, width, _] = encoded.dims();
        let speaker_width = speaker.dims()[1];
        let speaker = speaker.unsqueeze_dim::<3>(1).expand([batch, width, speaker_width]);
        self.attention.memory(Tensor::cat(vec![encoded, speaker], 2), symbols.mask.clone())
    }

    /// Returns the state before the first step.
    pub fn start(&self, memory: &AttentionMemory) -> AttentionState {
        let (batch, device) = (memory.values.dims()[0], memory.values.device());
        AttentionState {
            attention: self.attention_lstm.zero_state(batch, &device),
            decoder: self.decoder_lstm.zero_state(batch, &device),
            attended: memory.initial_state(),
        }
    }

    /// Runs one step of synthesis.
    ///
    /// * `prenet_output`: `[B, P]`, of the frame before this step's first; `[B, 0]` without a prenet
    ///
    /// Returns the input of projection and gate, `[B, H + C]`, and the next state.
    pub fn step(
        &self,
        prenet_output: Tensor<2>,
        memory: &AttentionMemory,
        state: AttentionState,
    ) -> (Tensor<2>, AttentionState) {
        let query = self.attention.query.weight.val();
        let (attention, attended) =
            memory.step(prenet_output, &self.attention_lstm, query, state.attention, state.attended);
        let [hidden, _] = split_state(attention.clone());
        let context = memory.context(&attended);
        let decoder = self.decoder_lstm.step(Tensor::cat(vec![hidden, context.clone()], 1), state.decoder);
        let [hidden, _] = split_state(decoder.clone());
        (Tensor::cat(vec![hidden, context], 1), AttentionState { attention, decoder, attended })
    }

    /// Projects `[B, N, H + C]` to frames `[B, N R, M]` and gate logits `[B, N]`.
    fn project(&self, hidden: Tensor<3>) -> (Tensor<3>, Tensor<2>) {
        let [batch, steps, _] = hidden.dims();
        let [projection, gate] = &self.compute;
        let frames = projection.linear(&self.projection, hidden.clone());
        let mels = frames.dims()[2] / self.reduction;
        let gate = gate.linear(&self.gate, hidden).squeeze_dim::<2>(2);
        (frames.reshape([batch, steps * self.reduction, mels]), gate)
    }

    /// Returns the frame before each step's first, `[B, N, M]`: zeros, then the last frame of each step but the last.
    ///
    /// * `frames`: `[B, N R, M]`
    pub fn previous(&self, frames: Tensor<3>) -> Tensor<3> {
        let [batch, count, mels] = frames.dims();
        let (steps, device) = (count / self.reduction, frames.device());
        let last = frames.reshape([batch, steps, self.reduction * mels]);
        let last = last.slice([0..batch, 0..steps - 1, (self.reduction - 1) * mels..self.reduction * mels]);
        Tensor::cat(vec![Tensor::zeros([batch, 1, mels], &device), last], 1)
    }

    /// Maps the frames before the steps, `[.., M]`, to `[.., P]`; to `[.., 0]` without a prenet.
    fn prenet_output<const D: usize>(&self, previous: Tensor<D>) -> Tensor<D> {
        match &self.prenet {
            Some(prenet) => prenet.forward(previous),
            None => {
                let mut shape = previous.dims();
                shape[D - 1] = 0;
                Tensor::zeros(shape, &previous.device())
            }
        }
    }

    /// Runs N steps under teacher forcing, or without feedback. No output of the decoder LSTM is fed back, so that it runs over the whole sequence at once.
    ///
    /// * `previous`: `[B, N, M]`, the frame before each step's first; `[B, N, 0]` where the decoder is not autoregressive
    pub fn forward(
        &self,
        previous: Tensor<3>,
        memory: &AttentionMemory,
        state: AttentionState,
    ) -> DecoderOutput {
        let prenet_output = self.prenet_output(previous).swap_dims(0, 1); // (N, B, P)
        let AttentionState { attention, decoder, attended } = state;
        let query = self.attention.query.weight.val();
        let scanned = memory.scan(prenet_output, &self.attention_lstm, query, attention, attended);
        let (hidden, decoder) = self.decoder_lstm.forward(
            Tensor::cat(vec![scanned.hidden, scanned.context.clone()], 2),
            decoder,
            ScanOptions::default(),
        );
        let (frames, gate) = self.project(Tensor::cat(vec![hidden, scanned.context], 2).swap_dims(0, 1));
        let state = AttentionState { attention: scanned.state, decoder, attended: scanned.attended };
        DecoderOutput { frames, gate, alignment: scanned.weights.swap_dims(0, 1), state }
    }

    /// Generates one utterance. The input of each step is the last frame of the step before; that of the first step is zeros.
    ///
    /// The utterance ends after the step whose gate opens (a probability above one half), before it exceeds `max_frames`, or when `proceed` returns false.
    /// `proceed` is called before each step with the number of frames so far.
    pub async fn generate(
        &self,
        memory: &AttentionMemory,
        max_frames: usize,
        mut proceed: impl FnMut(usize) -> bool,
    ) -> Generated {
        let [batch, symbols, _] = memory.values.dims();
        assert_eq!(batch, 1, "one utterance at a time");
        let device = memory.values.device();
        let mels = self.projection.weight.dims()[1] / self.reduction;
        let mut state = self.start(memory);
        // An empty first element lets an utterance without frames be concatenated too.
        let (mut frames, mut alignment) =
            (vec![Tensor::zeros([1, 0, mels], &device)], vec![Tensor::zeros([1, 0, symbols], &device)]);
        let mut previous = Tensor::<2>::zeros([1, mels], &device);
        let mut count = 0;
        let stop = loop {
            if count + self.reduction > max_frames {
                break StopReason::MaxFrames;
            }
            if !proceed(count) {
                break StopReason::Cancelled;
            }
            let (hidden, next) = self.step(self.prenet_output(previous), memory, state);
            let (step_frames, gate) = self.project(hidden.unsqueeze_dim(1));
            previous = step_frames.clone().narrow(1, self.reduction - 1, 1).squeeze_dim::<2>(1);
            frames.push(step_frames);
            alignment.push(memory.weights(&next.attended).unsqueeze_dim(1));
            state = next;
            count += self.reduction;
            if gate.into_scalar_async::<f32>().await.expect("the device answers") > 0.0 {
                break StopReason::Gate;
            }
        };
        Generated { frames: Tensor::cat(frames, 1), alignment: Tensor::cat(alignment, 1), stop }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Distribution, Tolerance};

    fn setting(batch: &[&[u8]]) -> (TacotronConfig, AttentionDecoder, AttentionMemory) {
        let device = Device::flex();
        device.seed(11);
        let config = TacotronConfig { mels: 5, prenet_dropout: 0.0, ..TacotronConfig::tiny(1) };
        let decoder = AttentionDecoder::new(&config, &device);
        let symbols = Symbols::new(batch, None, &device);
        let random = Distribution::Uniform(-1.0, 1.0);
        let encoded =
            Tensor::random([batch.len(), symbols.ids.dims()[1], config.encoder_width], random, &device);
        let memory = decoder.memory(
            &symbols,
            encoded,
            Tensor::random([batch.len(), config.speaker_width], random, &device),
        );
        (config, decoder, memory)
    }

    /// Returns the decoder with another bias of its gate: a large positive one opens it at the first step, a large negative one never.
    fn with_gate(mut decoder: AttentionDecoder, bias: f32) -> AttentionDecoder {
        decoder.gate.bias = Some(Param::from_tensor(Tensor::from_floats([bias], &Device::flex())));
        decoder
    }

    fn close<const D: usize>(left: Tensor<D>, right: Tensor<D>) {
        left.into_data().assert_approx_eq::<f32>(&right.into_data(), Tolerance::absolute(1e-5));
    }

    #[test]
    fn attention_sums_to_one_and_ignores_padding() {
        let (_, decoder, memory) = setting(&[&[1, 2, 3, 4], &[1, 2]]);
        let attended =
            decoder.forward(Tensor::ones([2, 3, 5], &Device::flex()), &memory, decoder.start(&memory));
        close(attended.alignment.clone().sum_dim(2), Tensor::ones([2, 3, 1], &Device::flex()));
        close(
            attended.alignment.clone().slice([1..2, 0..3, 2..4]),
            Tensor::zeros([1, 3, 2], &Device::flex()),
        );
        let cumulative = attended.state.attended.narrow(1, 4, 4);
        close(cumulative, attended.alignment.sum_dim(1).squeeze_dim::<2>(1));
    }

    #[test]
    fn forward_in_two_parts_equals_forward_at_once() {
        let (_, decoder, memory) = setting(&[&[1, 2, 3]]);
        let previous = Tensor::random([1, 5, 5], Distribution::Uniform(-1.0, 1.0), &Device::flex());
        let whole = decoder.forward(previous.clone(), &memory, decoder.start(&memory));
        let head = decoder.forward(previous.clone().narrow(1, 0, 2), &memory, decoder.start(&memory));
        let tail = decoder.forward(previous.narrow(1, 2, 3), &memory, head.state);
        close(whole.frames, Tensor::cat(vec![head.frames, tail.frames], 1));
        close(whole.gate, Tensor::cat(vec![head.gate, tail.gate], 1));
        close(whole.alignment, Tensor::cat(vec![head.alignment, tail.alignment], 1));
    }

    #[test]
    fn generation_equals_teacher_forcing_on_its_own_frames() {
        let (_, decoder, memory) = setting(&[&[1, 2, 3]]);
        let decoder = with_gate(decoder, -100.0);
        let free = pollster::block_on(decoder.generate(&memory, 8, |_| true));
        assert_eq!(free.frames.dims(), [1, 8, 5]);
        let previous = decoder.previous(free.frames.clone());
        let forced = decoder.forward(previous, &memory, decoder.start(&memory));
        close(free.frames, forced.frames);
        close(free.alignment, forced.alignment);
    }

    #[test]
    fn a_decoder_without_feedback_takes_no_frames() {
        let (config, _, memory) = setting(&[&[1, 2, 3]]);
        let config = TacotronConfig { autoregressive: false, ..config };
        let device = Device::flex();
        let decoder = with_gate(AttentionDecoder::new(&config, &device), -100.0);
        let forced = decoder.forward(Tensor::zeros([1, 4, 0], &device), &memory, decoder.start(&memory));
        assert_eq!(forced.frames.dims(), [1, 8, 5]);
        let free = pollster::block_on(decoder.generate(&memory, 8, |_| true));
        close(free.frames, forced.frames);
        close(free.alignment, forced.alignment);
    }

    #[test]
    fn each_stop_reason_is_returned() {
        let (_, decoder, memory) = setting(&[&[1, 2, 3]]);
        let shut = with_gate(decoder.clone(), -100.0);
        let run = |decoder: &AttentionDecoder, max_frames, until| {
            let generated = pollster::block_on(decoder.generate(&memory, max_frames, |count| count < until));
            assert_eq!(generated.alignment.dims()[1] * 2, generated.frames.dims()[1]);
            (generated.stop, generated.frames.dims()[1])
        };
        assert_eq!(run(&with_gate(decoder, 100.0), 9, 99), (StopReason::Gate, 2));
        assert_eq!(run(&shut, 9, 99), (StopReason::MaxFrames, 8));
        assert_eq!(run(&shut, 99, 6), (StopReason::Cancelled, 6));
        assert_eq!(run(&shut, 0, 99), (StopReason::MaxFrames, 0));
    }
}
