//! Imports NVIDIA's public Tacotron 2, a PyTorch checkpoint, as an [`AttentiveTacotron`].
//!
//! The sizes of the model are those of the tensors. The file is untrusted: its pickle is parsed as data and never executed, and names, shapes and sizes are
//! checked before use.

mod names;
mod pickle;
mod pytorch;

use burn::prelude::Device;
use std::{fs, path::Path};

use burn_fused::weights::{HostWeights, apply};
use names::{Change, convolution, table};
use ownvoice::{
    Error, Result,
    audio::mel::MelConfig,
    model::{AttentiveTacotron, TacotronConfig},
    text::nvidia::SYMBOL_COUNT,
};
use pytorch::Tensors;

/// The parameters of a checkpoint under our names and in our layout.
#[derive(Debug, Clone)]
pub struct Imported {
    pub config: TacotronConfig,
    /// The shapes and row-major values.
    pub weights: HostWeights,
}

impl Imported {
    /// Reads the checkpoint at `path`. Fails with `checkpoint-unsupported` if it is no Tacotron 2 in NVIDIA's layout.
    pub fn read(path: &Path) -> Result<Self> {
        let checkpoint = Checkpoint::open(path)?;
        let config = checkpoint.config()?;
        // Our attention memory ends with a speaker embedding. Here it is a zero whose weights are zeros.
        let mut weights = HostWeights::from([("speakers".to_string(), (vec![1, 1], vec![0.0]))]);
        for entry in table(config.encoder_layers, config.postnet_layers) {
            let (shape, values) = checkpoint.read(&entry.theirs)?;
            let changed = match entry.change {
                Change::Same => (shape, values),
                Change::Transposed => transposed(shape, values),
                Change::TransposedWithSpeaker => with_speaker(transposed(shape, values)),
                Change::TapsSlowest => taps_slowest(shape, values),
                Change::Plus(other) => {
                    (shape, checkpoint.combined(values, &other, |value, other| value + other)?)
                }
                Change::Minus(other) => {
                    (shape, checkpoint.combined(values, &other, |value, other| value - other)?)
                }
            };
            weights.insert(entry.ours, changed);
        }
        Ok(Self { config, weights })
    }

    /// Returns the tensors of a checkpoint as it stores them, for checkpoints that tests make of it.
    #[doc(hidden)]
    pub fn fixture_tensors(path: &Path) -> Result<HostWeights> {
        let checkpoint = Checkpoint::open(path)?;
        let names: Vec<String> = checkpoint.tensors.names().map(str::to_string).collect();
        // Counters of batches are integers, which are not read.
        Ok(names.into_iter().filter_map(|name| Some((name.clone(), checkpoint.read(&name).ok()?))).collect())
    }

    /// Creates the model with the imported weights.
    pub fn model(&self, device: &Device) -> Result<AttentiveTacotron> {
        apply(AttentiveTacotron::new(&self.config, device), self.weights.clone()).map_err(unsupported)
    }
}

/// A parameter of every Tacotron 2.
const KNOWN: &str = "embedding.weight";

/// Reads the state dictionary of a net for pictures from a PyTorch file, without counters of batches. Returns a message if that is not possible.
///
/// * `known`: a parameter that the net has
pub fn state_dict(bytes: Vec<u8>, known: &str) -> Result<HostWeights, String> {
    let tensors = Tensors::read(bytes, known)?;
    let names: Vec<&str> = tensors.names().filter(|name| !name.ends_with("num_batches_tracked")).collect();
    let read = |name: &str| {
        let values = tensors.values(name).map_err(|error| format!("{name}: {error}"))?;
        match values.iter().all(|value| value.is_finite()) {
            true => Ok((name.to_string(), (tensors.shape(name).unwrap_or_default().to_vec(), values))),
            false => Err(format!("{name} has non-finite values")),
        }
    };
    if names.is_empty() { Err(format!("it has no {known}")) } else { names.into_iter().map(read).collect() }
}

fn unsupported(what: impl ToString) -> Error {
    Error::checkpoint_unsupported(what.to_string())
}

type Values = (Vec<usize>, Vec<f32>);

/// Transposes `[out, in]` to `[in, out]`. Other ranks are unchanged, and later do not match the model.
fn transposed(shape: Vec<usize>, values: Vec<f32>) -> Values {
    let &[outputs, inputs] = shape.as_slice() else { return (shape, values) };
    let transposed =
        (0..inputs * outputs).map(|index| values[index % outputs * inputs + index / outputs]).collect();
    (vec![inputs, outputs], transposed)
}

/// Appends a row of zeros, for the speaker embedding.
fn with_speaker((mut shape, mut values): Values) -> Values {
    if let [inputs, outputs] = shape.as_mut_slice() {
        *inputs += 1;
        values.extend(std::iter::repeat_n(0.0, *outputs));
    }
    (shape, values)
}

/// Permutes `[Cout, Cin, K]` to `[K Cin, Cout]`.
fn taps_slowest(shape: Vec<usize>, values: Vec<f32>) -> Values {
    let &[outputs, inputs, taps] = shape.as_slice() else { return (shape, values) };
    let turned = |index: usize| {
        let (row, output) = (index / outputs, index % outputs);
        values[(output * inputs + row % inputs) * taps + row / inputs]
    };
    (vec![taps * inputs, outputs], (0..values.len()).map(turned).collect())
}

/// A checkpoint as PyTorch stores it.
struct Checkpoint {
    tensors: Tensors,
}

impl Checkpoint {
    fn open(path: &Path) -> Result<Self> {
        let tensors = Tensors::read(fs::read(path).map_err(Error::io(path))?, KNOWN).map_err(unsupported)?;
        Ok(Self { tensors })
    }

    fn shape_of(&self, name: &str) -> Result<&[usize]> {
        self.tensors.shape(name).ok_or_else(|| unsupported(format!("there is no {name}")))
    }

    fn shape<const D: usize>(&self, name: &str) -> Result<[usize; D]> {
        let shape = self.shape_of(name)?;
        shape
            .try_into()
            .map_err(|_| unsupported(format!("{name} is {shape:?}; it should have {D} dimensions")))
    }

    fn layers(&self, part: &str) -> usize {
        (0..).take_while(|layer| self.shape_of(&convolution(part, *layer)).is_ok()).count()
    }

    fn config(&self) -> Result<TacotronConfig> {
        let [symbols, encoder_width] = self.shape("embedding.weight")?;
        let [_, _, encoder_kernel] = self.shape(&convolution("encoder", 0))?;
        let [prenet_width, mels] = self.shape("decoder.prenet.layers.0.linear_layer.weight")?;
        let [_, decoder_width] = self.shape("decoder.attention_rnn.weight_hh")?;
        let [attention_width, _] = self.shape("decoder.attention_layer.query_layer.linear_layer.weight")?;
        let [location_filters, _, location_kernel] =
            self.shape("decoder.attention_layer.location_layer.location_conv.conv.weight")?;
        let [postnet_width, _, postnet_kernel] = self.shape(&convolution("postnet", 0))?;
        let (encoder_layers, postnet_layers) = (self.layers("encoder"), self.layers("postnet"));
        if symbols != SYMBOL_COUNT {
            return Err(unsupported(format!("it has {symbols} symbols; NVIDIA's table has {SYMBOL_COUNT}")));
        }
        if mels != MelConfig::nvidia_22k().mels {
            return Err(unsupported(format!("its spectrograms have {mels} channels")));
        }
        let config = TacotronConfig {
            symbols,
            speaker_width: 1,
            mels,
            encoder_width,
            encoder_kernel,
            encoder_layers,
            prenet_width,
            decoder_width,
            postnet_width,
            postnet_kernel,
            postnet_layers,
            attention_width,
            location_filters,
            location_kernel,
            autoregressive: true,
            ..TacotronConfig::tacotron2(1)
        };
        config.check().map_err(unsupported)?;
        Ok(config)
    }

    fn read(&self, name: &str) -> Result<Values> {
        let shape = self.shape_of(name)?.to_vec();
        let values = self.tensors.values(name).map_err(|error| unsupported(format!("{name}: {error}")))?;
        if values.iter().any(|value| !value.is_finite()) {
            return Err(unsupported(format!("{name} has non-finite values")));
        }
        Ok((shape, values))
    }

    /// Combines each value with that of another tensor.
    fn combined(&self, values: Vec<f32>, other: &str, combine: impl Fn(f32, f32) -> f32) -> Result<Vec<f32>> {
        let (shape, others) = self.read(other)?;
        if others.len() != values.len() {
            return Err(unsupported(format!("{other} is {shape:?}; it should have {} values", values.len())));
        }
        Ok(values.into_iter().zip(others).map(|(value, other)| combine(value, other)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_converted_to_those_of_the_model() {
        let values: Vec<f32> = (0..6).map(|value| value as f32).collect();
        assert_eq!(transposed(vec![2, 3], values.clone()), (vec![3, 2], vec![0.0, 3.0, 1.0, 4.0, 2.0, 5.0]));
        assert_eq!(
            with_speaker(transposed(vec![2, 1], vec![1.0, 2.0])),
            (vec![2, 2], vec![1.0, 2.0, 0.0, 0.0])
        );
        // One output channel of two input channels and three taps, then two output channels of one input channel.
        assert_eq!(
            taps_slowest(vec![1, 2, 3], values.clone()),
            (vec![6, 1], vec![0.0, 3.0, 1.0, 4.0, 2.0, 5.0])
        );
        assert_eq!(taps_slowest(vec![2, 1, 3], values), (vec![3, 2], vec![0.0, 3.0, 1.0, 4.0, 2.0, 5.0]));
    }

    #[test]
    fn every_parameter_of_the_model_has_an_entry() {
        let config = TacotronConfig { autoregressive: true, ..TacotronConfig::tiny(1) };
        let model = AttentiveTacotron::new(&config, &Device::flex());
        let mut ours: Vec<String> =
            table(config.encoder_layers, config.postnet_layers).into_iter().map(|entry| entry.ours).collect();
        ours.push("speakers".into());
        ours.sort();
        assert_eq!(ours, burn_fused::weights::collect(&model).into_keys().collect::<Vec<_>>());
    }
}
