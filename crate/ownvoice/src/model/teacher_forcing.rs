//! Teacher forcing of both ways to align text and frames: given durations, and attention.

use burn::prelude::*;

use super::{Tacotron, attention::AttentionDecoder, tacotron::Symbols};

/// The encoded text, the speaker, and the recorded frames that are fed to the decoder.
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
    /// For a decoder of so many steps that no frame is fed back to.
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

/// Decoder outputs.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// `[B, N R, M]`
    pub frames: Tensor<3>,
    /// Each row sums to one: `[B, N R, L]` a frame for durations, `[B, N, L]` a step for attention.
    pub alignment: Tensor<3>,
    /// Logits of the utterance ending with that step, `[B, N]`; known durations need none.
    pub gate: Option<Tensor<2>>,
}

/// A decoder that is run on recorded frames, with its own alignment of symbols and frames.
pub trait TeacherForcing {
    /// The timing that it is given.
    type Timing;

    /// Decodes with the recorded frames as inputs.
    fn teacher_force(&self, spoken: TeacherForcingInput, timing: Self::Timing) -> Decoded;
}

/// Given durations.
#[derive(Debug, Clone)]
pub struct Timing {
    /// `[B, L]`, frames
    pub durations: Tensor<2>,
    /// `[B, T]`, centres of the wanted frames, in frames
    pub times: Tensor<2>,
    /// `[B, T, 4]`, see [`burn_fused::upsample::frame_positions`]
    pub positions: Tensor<3>,
}

/// Durations: Gaussian upsampling, then a decoder whose contexts are known before it runs.
impl TeacherForcing for Tacotron {
    type Timing = Timing;

    fn teacher_force(
        &self,
        spoken: TeacherForcingInput,
        Timing { durations, times, positions }: Timing,
    ) -> Decoded {
        let TeacherForcingInput { symbols, encoded, speaker, .. } = spoken;
        let state = self.decoder.start(symbols.lengths.len(), &encoded.device());
        let alignment = self.alignment(symbols, encoded.clone(), durations, times);
        let context = Tensor::cat(vec![alignment.clone().matmul(encoded), positions], 2); // (B, T, L) x (B, L, E)
        let (frames, _) = self.decoder.forward(context, speaker, state);
        Decoded { frames, alignment, gate: None }
    }
}

/// Attention: no timing is given.
impl TeacherForcing for AttentionDecoder {
    type Timing = ();

    fn teacher_force(&self, spoken: TeacherForcingInput, (): ()) -> Decoded {
        let memory = self.memory(spoken.symbols, spoken.encoded, spoken.speaker);
        let previous = spoken.previous.expect("attention is told what was said");
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

    /// Both implementations have the same shapes.
    fn shapes<A: TeacherForcing>(
        model: &A,
        spoken: TeacherForcingInput,
        timing: A::Timing,
    ) -> ([usize; 3], [usize; 3], Option<[usize; 2]>) {
        let decoded = model.teacher_force(spoken, timing);
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
        let spoken = TeacherForcingInput {
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
        assert_eq!(shapes(&model, spoken.clone(), timing), ([1, 4, 80], [1, 4, 3], None));
        assert_eq!(
            shapes(&AttentionDecoder::new(&config, &device), spoken, ()),
            ([1, 4, 80], [1, 2, 3], Some([1, 2]))
        );
    }
}
