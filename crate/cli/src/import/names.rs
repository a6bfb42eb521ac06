//! The table of our parameter names and those of NVIDIA's Tacotron 2 (`model.py` of github.com/NVIDIA/tacotron2).

/// The conversion of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Same,
    /// The tensor is transposed from `[out, in]` to `[in, out]`.
    Transposed,
    /// The tensor is transposed, and a row of zeros is appended for the speaker embedding, which NVIDIA's attention memory lacks.
    TransposedWithSpeaker,
    /// The weight of a convolution is permuted from `[Cout, Cin, K]` to `[K Cin, Cout]`.
    TapsSlowest,
    /// Another tensor is added: the second bias of an LSTM.
    Plus(String),
    /// Another tensor is subtracted: the bias before a batch norm, because `(x + b) - m = x - (m - b)`.
    Minus(String),
}

/// An entry of the table: one of our parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub ours: String,
    pub theirs: String,
    pub change: Change,
}

fn entry(ours: impl Into<String>, theirs: impl Into<String>, change: Change) -> Entry {
    Entry { ours: ours.into(), theirs: theirs.into(), change }
}

/// Returns NVIDIA's name of the weight of a convolution layer, by which layers are counted.
pub fn convolution(part: &str, layer: usize) -> String {
    format!("{part}.convolutions.{layer}.0.conv.weight")
}

/// Returns the entries of all our parameters except the speaker embedding.
pub fn table(encoder_layers: usize, postnet_layers: usize) -> Vec<Entry> {
    use Change::{Minus, Plus, Same, TapsSlowest, Transposed, TransposedWithSpeaker};
    let mut table = vec![
        entry("encoder.embedding", "embedding.weight", Same),
        entry("decoder.prenet.first.weight", "decoder.prenet.layers.0.linear_layer.weight", Transposed),
        entry("decoder.prenet.second.weight", "decoder.prenet.layers.1.linear_layer.weight", Transposed),
        entry(
            "decoder.attention.query.weight",
            "decoder.attention_layer.query_layer.linear_layer.weight",
            Transposed,
        ),
        entry(
            "decoder.attention.memory.weight",
            "decoder.attention_layer.memory_layer.linear_layer.weight",
            TransposedWithSpeaker,
        ),
        entry("decoder.attention.energy.weight", "decoder.attention_layer.v.linear_layer.weight", Transposed),
        entry(
            "decoder.attention.location",
            "decoder.attention_layer.location_layer.location_conv.conv.weight",
            TapsSlowest,
        ),
        entry(
            "decoder.attention.location_projection.weight",
            "decoder.attention_layer.location_layer.location_dense.linear_layer.weight",
            Transposed,
        ),
        entry(
            "decoder.projection.weight",
            "decoder.linear_projection.linear_layer.weight",
            TransposedWithSpeaker,
        ),
        entry("decoder.projection.bias", "decoder.linear_projection.linear_layer.bias", Same),
        entry("decoder.gate.weight", "decoder.gate_layer.linear_layer.weight", TransposedWithSpeaker),
        entry("decoder.gate.bias", "decoder.gate_layer.linear_layer.bias", Same),
    ];
    for (ours, theirs, suffix, inputs) in [
        ("encoder.lstm.forward", "encoder.lstm", "_l0", Transposed),
        ("encoder.lstm.backward", "encoder.lstm", "_l0_reverse", Transposed),
        ("decoder.attention_lstm", "decoder.attention_rnn", "", TransposedWithSpeaker),
        ("decoder.decoder_lstm", "decoder.decoder_rnn", "", TransposedWithSpeaker),
    ] {
        table.push(entry(format!("{ours}.w_ih"), format!("{theirs}.weight_ih{suffix}"), inputs));
        table.push(entry(format!("{ours}.w_hh"), format!("{theirs}.weight_hh{suffix}"), Transposed));
        table.push(entry(
            format!("{ours}.bias"),
            format!("{theirs}.bias_ih{suffix}"),
            Plus(format!("{theirs}.bias_hh{suffix}")),
        ));
    }
    for (part, layers) in [("encoder", encoder_layers), ("postnet", postnet_layers)] {
        for layer in 0..layers {
            let both = format!("{part}.convolutions.{layer}");
            table.push(entry(format!("{both}.weight"), convolution(part, layer), TapsSlowest));
            table.push(entry(format!("{both}.norm.gamma"), format!("{both}.1.weight"), Same));
            table.push(entry(format!("{both}.norm.beta"), format!("{both}.1.bias"), Same));
            table.push(entry(
                format!("{both}.norm.running_mean"),
                format!("{both}.1.running_mean"),
                Minus(format!("{both}.0.conv.bias")),
            ));
            table.push(entry(format!("{both}.norm.running_var"), format!("{both}.1.running_var"), Same));
        }
    }
    table
}
