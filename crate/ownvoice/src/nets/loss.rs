//! The losses of nets, by name.

use burn::{
    nn::loss::{CTCLossConfig, Reduction},
    prelude::*,
    tensor::activation::log_softmax,
};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A loss.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// The cross-entropy of the softmax of the logits.
    #[default]
    CrossEntropy,
    /// The mean squared difference of logits and values, or of logits and 1 for the class and 0 for the others.
    MeanSquaredError,
    /// Connectionist temporal classification (Graves et al. 2006); class 0 is the blank.
    Ctc,
}

impl LossKind {
    pub const ALL: [Self; 3] = [Self::CrossEntropy, Self::MeanSquaredError, Self::Ctc];

    /// Returns `cross-entropy`, `mean-squared-error` or `ctc`.
    pub fn name(self) -> &'static str {
        match self {
            Self::CrossEntropy => "cross-entropy",
            Self::MeanSquaredError => "mean-squared-error",
            Self::Ctc => "ctc",
        }
    }

    /// Returns the loss of a [`name`](Self::name).
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|loss| loss.name() == name)
    }
}

/// What the outputs of a batch should be.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// The class of each item, or of each step of each item: B or B T classes.
    Classes(Vec<usize>),
    /// The values of the outputs, `[B, T, F]`, row-major.
    Values(Vec<f32>),
    /// The classes that an item contains in this order, without the blank.
    Sequences(Vec<Vec<usize>>),
}

impl LossKind {
    /// Computes the mean over a batch, `[1]`, as PyTorch does.
    ///
    /// * `logits`: `[B, T, F]`
    ///
    /// Fails with `option-invalid` if the targets are of another kind, and with `example-invalid` if they do not fit the logits.
    pub fn compute(self, logits: Tensor<3>, targets: &Targets) -> Result<Tensor<1>> {
        let shape @ [batch, steps, outputs] = logits.dims();
        let device = logits.device();
        let matching = |count: usize, classes: &[usize]| {
            let fits = count == classes.len() && classes.iter().all(|&class| class < outputs);
            if fits {
                Ok(())
            } else {
                Err(Error::example_invalid("the targets do not fit the outputs of the net"))
            }
        };
        let one_hot = |classes: &[usize]| -> Result<Tensor<3>> {
            matching(batch * steps, classes)?;
            let mut values = vec![0.0f32; batch * steps * outputs];
            classes.iter().enumerate().for_each(|(row, &class)| values[row * outputs + class] = 1.0);
            Ok(Tensor::from_data(TensorData::new(values, shape), &device))
        };
        let squared = |expected: Tensor<3>| (logits.clone() - expected).powi_scalar(2).mean();
        match (self, targets) {
            (Self::CrossEntropy, Targets::Classes(classes)) => {
                let chosen = log_softmax(logits.clone(), 2) * one_hot(classes)?;
                Ok(chosen.sum().div_scalar(-((batch * steps) as f32)))
            }
            (Self::MeanSquaredError, Targets::Classes(classes)) => Ok(squared(one_hot(classes)?)),
            (Self::MeanSquaredError, Targets::Values(values)) => {
                if values.len() != batch * steps * outputs {
                    return Err(Error::example_invalid("the targets do not fit the outputs of the net"));
                }
                Ok(squared(Tensor::from_data(TensorData::new(values.clone(), shape), &device)))
            }
            (Self::Ctc, Targets::Sequences(sequences)) => {
                matching(batch * steps, &vec![0; batch * steps])?;
                let longest = sequences.iter().map(Vec::len).max().unwrap_or(0).max(1);
                // A class that is repeated needs a blank in between.
                let needed = |sequence: &Vec<usize>| {
                    sequence.len() + sequence.windows(2).filter(|two| two[0] == two[1]).count()
                };
                let fits = |sequence: &Vec<usize>| {
                    !sequence.is_empty()
                        && needed(sequence) <= steps
                        && sequence.iter().all(|class| (1..outputs).contains(class))
                };
                if sequences.len() != batch || !sequences.iter().all(fits) {
                    return Err(Error::example_invalid(
                        "a sequence of classes does not fit the steps of the net",
                    ));
                }
                let ints = |values: Vec<i32>| {
                    let count = values.len();
                    Tensor::<1, Int>::from_data(TensorData::new(values, [count]), &device)
                };
                let padded = sequences.iter().flat_map(|sequence| {
                    sequence.iter().map(|&class| class as i32).chain(std::iter::repeat(1)).take(longest)
                });
                let padded = ints(padded.collect()).reshape([batch, longest]);
                let lengths = ints(sequences.iter().map(|sequence| sequence.len() as i32).collect());
                let probabilities = log_softmax(logits, 2).permute([1, 0, 2]);
                let ctc = CTCLossConfig::new().init();
                let all = ints(vec![steps as i32; batch]);
                Ok(ctc.forward_with_reduction(probabilities, padded, all, lengths, Reduction::Mean))
            }
            _ => Err(Error::option_invalid(format!("the loss {} is not one of these targets", self.name()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PyTorch's values for these logits:
    /// `F.cross_entropy(l[:, 0], t)`, `F.mse_loss(l, F.one_hot(t, 3)[:, None])`, `F.ctc_loss(l.log_softmax(2).permute(1, 0, 2), s, [3], [2])`.
    #[test]
    fn losses_equal_pytorchs() {
        let device = Device::flex();
        let value = |loss: LossKind, logits: Tensor<3>, targets: Targets| {
            loss.compute(logits, &targets).unwrap().into_scalar::<f32>()
        };
        let logits = Tensor::<3>::from_floats([[[1.0, 2.0, 0.5]], [[0.0, -1.0, 3.0]]], &device);
        let classes = Targets::Classes(vec![1, 2]);
        assert!((value(LossKind::CrossEntropy, logits.clone(), classes.clone()) - 0.265_126).abs() < 1e-5);
        assert!((value(LossKind::MeanSquaredError, logits.clone(), classes) - 1.208_333).abs() < 1e-5);
        let values = Targets::Values(vec![1.0, 2.0, 0.5, 0.0, -1.0, 0.0]);
        assert!((value(LossKind::MeanSquaredError, logits, values) - 1.5).abs() < 1e-6);
        let steps = Tensor::<3>::from_floats([[[1.0, 2.0, 0.5], [0.0, -1.0, 3.0], [0.3, 0.2, 0.1]]], &device);
        let found = value(LossKind::Ctc, steps, Targets::Sequences(vec![vec![1, 2]]));
        assert!((found - 0.450_460).abs() < 1e-4, "{found}");
    }

    #[test]
    fn targets_that_do_not_fit_are_errors() {
        let logits = Tensor::<3>::zeros([2, 1, 3], &Device::flex());
        let code =
            |loss: LossKind, targets: Targets| loss.compute(logits.clone(), &targets).unwrap_err().code();
        assert_eq!(code(LossKind::Ctc, Targets::Classes(vec![1, 2])), "option-invalid");
        assert_eq!(code(LossKind::CrossEntropy, Targets::Values(vec![0.0; 6])), "option-invalid");
        for classes in [vec![1], vec![1, 3]] {
            assert_eq!(code(LossKind::CrossEntropy, Targets::Classes(classes)), "example-invalid");
        }
        assert_eq!(code(LossKind::MeanSquaredError, Targets::Values(vec![0.0; 5])), "example-invalid");
        for sequence in [vec![], vec![0], vec![3], vec![1, 2]] {
            assert_eq!(
                code(LossKind::Ctc, Targets::Sequences(vec![sequence.clone(), sequence])),
                "example-invalid"
            );
        }
        for loss in LossKind::ALL {
            assert_eq!(serde_json::to_value(loss).unwrap(), loss.name());
        }
    }
}
