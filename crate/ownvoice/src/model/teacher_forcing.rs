//! Teacher forcing with either alignment of text and frames: known durations or attention.

use burn::prelude::*;

use super::{Tacotron, attention::AttentionDecoder, tacotron::Symbols};

/// The inputs of a decoder under teacher forcing: the encoded text, the speaker, and the recorded frames.
#[derive(Debug, Clone)]
pub struct TeacherForcingInput<'a> {
    pub symbols: &'a Symbols,
    /// `[B, L, E]`
    pub encoded: Tensor<3>,
    /// `[B, V]`
    pub speaker: Tensor<2>,
    /// `[B, N, M]`, the frame before each step's first; `[B, N, 0]` for attention without feedback, `None` for known durations
    pub previous: Option<Tensor<3>>,
}

impl<'a> TeacherForcingInput<'a> {
    /// Creates the input of a decoder without feedback, which runs for `steps` steps.
    pub fn without_feedback(
        symbols: &'a Symbols,
        encoded: Tensor<3>,
        speaker: Tensor<2>,
        steps: usize,
    ) -> Self {
        let nothing = Tensor::zeros([encoded.dims()[0], steps, 0], &encoded.device());
        Self { symbols, encoded, speaker, previous: Some(nothing) }
    }
}

/// The outputs of a decoder.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// `[B, N R, M]`
    pub frames: Tensor<3>,
    /// The alignment, whose rows sum to one: `[B, N R, L]` with a row per frame for durations, `[B, N, L]` with a row per step for attention.
    pub alignment: Tensor<3>,
    /// The logit that the utterance ends with each step, `[B, N]`; `None` with known durations.
    pub gate: Option<Tensor<2>>,
}

/// A decoder that can be run on recorded frames.
pub trait TeacherForcing {
    /// The timing that the decoder needs beside its input.
    type Timing;

    /// Decodes with the recorded frames as inputs.
    fn teacher_force(&self, input: TeacherForcingInput, timing: Self::Timing) -> Decoded;
}

/// Known durations, and the frames that are wanted.
#[derive(Debug, Clone)]
pub struct Timing {
    /// `[B, L]`, frames
    pub durations: Tensor<2>,
    /// `[B, T]`, the centres of the wanted frames, in frames
    pub times: Tensor<2>,
    /// `[B, T, 4]`, see [`burn_fused::upsample::frame_positions`]
    pub positions: Tensor<3>,
}

/// The duration path: Gaussian upsampling, then the decoder.
impl TeacherForcing for Tacotron {
    type Timing = Timing;

    fn teacher_force(
        &self,
        input: TeacherForcingInput,
        Timing { durations, times, positions }: Timing,
    ) -> Decoded {
        let TeacherForcingInput { symbols, encoded, speaker, .. } = input;
        let state = self.decoder.start(symbols.lengths.len(), &encoded.device());
        let alignment = self.alignment(symbols, encoded.clone(), durations, times);
        let context = Tensor::cat(vec![alignment.clone().matmul(encoded), positions], 2); // (B, T, L) x (B, L, E)
        let (frames, _) = self.decoder.forward(context, speaker, state);
        Decoded { frames, alignment, gate: None }
    }
}

/// The attention path, which needs no timing.
impl TeacherForcing for AttentionDecoder {
    type Timing = ();

    fn teacher_force(&self, input: TeacherForcingInput, (): ()) -> Decoded {
        let memory = self.memory(input.symbols, input.encoded, input.speaker);
        let previous = input.previous.expect("attention requires the previous frames");
        let attended = self.forward(previous, &memory, self.start(&memory));
        Decoded { frames: attended.frames, alignment: attended.alignment, gate: Some(attended.gate) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TacotronConfig;
    use burn::tensor::Tolerance;
    use burn_fused::Mode;

    /// Returns the shapes of frames, alignment and gate, and checks that the rows of the alignment sum to one.
    fn shapes<A: TeacherForcing>(
        model: &A,
        input: TeacherForcingInput,
        timing: A::Timing,
    ) -> ([usize; 3], [usize; 3], Option<[usize; 2]>) {
        let decoded = model.teacher_force(input, timing);
        let [batch, rows, _] = decoded.alignment.dims();
        let ones = Tensor::<3>::ones([batch, rows, 1], &Device::flex()).into_data();
        decoded
            .alignment
            .clone()
            .sum_dim(2)
            .into_data()
            .assert_approx_eq::<f32>(&ones, Tolerance::absolute(1e-5));
        (decoded.frames.dims(), decoded.alignment.dims(), decoded.gate.map(|gate| gate.dims()))
    }

    #[test]
    fn both_paths_decode_the_same_utterance() {
        let device = Device::flex();
        let config = TacotronConfig::tiny(1);
        let model = Tacotron::new(&config, &device);
        let symbols = Symbols::new(&[&[1, 2, 3]], None, &device);
        let encoded = model.encode(&symbols, Mode::Eval);
        let input = TeacherForcingInput {
            symbols: &symbols,
            encoded,
            speaker: Tensor::zeros([1, config.speaker_width], &device),
            previous: Some(Tensor::zeros([1, 2, config.mels], &device)),
        };
        let timing = Timing {
            durations: Tensor::from_floats([[1.0, 2.0, 1.0]], &device),
            times: Tensor::from_floats([[0.5, 1.5, 2.5, 3.5]], &device),
            positions: Tensor::zeros([1, 4, 4], &device),
        };
        assert_eq!(shapes(&model, input.clone(), timing), ([1, 4, 80], [1, 4, 3], None));
        assert_eq!(
            shapes(&AttentionDecoder::new(&config, &device), input, ()),
            ([1, 4, 80], [1, 2, 3], Some([1, 2]))
        );
    }
}
