//! Figures of a tiny model whose every weight is given by a formula, for any device: forward through all its parts, and gradients.

use std::collections::HashMap;

use burn::module::Module;
use burn::prelude::*;
use ownvoice::model::tacotron::Symbols;
use ownvoice::model::{Tacotron, TacotronConfig};
use ownvoice::nn::Mode;
use ownvoice::nn::upsample::{POSITION_WIDTH, frame_positions};
use ownvoice::weights::{apply, collect};

const SYMBOLS: [u8; 6] = [1, 20, 31, 8, 45, 2];
const DURATIONS: [u32; 6] = [2, 4, 3, 5, 1, 3];

/// The tiny model with weights that are waves of different lengths, one for each tensor.
pub fn model(device: &Device) -> Tacotron {
    let blank = Tacotron::new(&TacotronConfig::tiny(2), device);
    let weights: HashMap<_, _> = collect(&blank)
        .into_iter()
        .enumerate()
        .map(|(number, (name, weight))| {
            let count: usize = weight.shape.iter().product();
            let wave = |index: usize| 0.3 * (0.7 + 0.37 * number as f32 + 1.3 * index as f32).sin();
            // A variance is positive.
            let least = if name.ends_with("running_var") { 1.0 } else { 0.0 };
            let value = |index: usize| least + wave(index);
            (name.clone(), (weight.shape, (0..count).map(value).collect::<Vec<f32>>()))
        })
        .collect();
    apply(blank, &weights).expect("the model's own shapes")
}

/// Mean squares of what each part makes, and of the gradients of the last of them.
pub async fn figures(device: &Device) -> Vec<(&'static str, f32)> {
    let device = device.clone().autodiff();
    let model = model(&device).train();
    let config = TacotronConfig::tiny(2);
    let frames: usize = DURATIONS.iter().sum::<u32>() as usize;
    let input = Symbols::new(&[&SYMBOLS], None, &device);
    let speaker = model.speakers.val().slice([1..2]);

    let encoded = model.encode(&input, Mode::Steady); // (1, L, E)
    let durations = model.durations.forward(encoded.clone(), speaker.clone(), &input.lengths); // (1, L)
    let lengths: Vec<f32> = DURATIONS.iter().map(|&frames| frames as f32).collect();
    let times: Vec<f32> = (0..frames).map(|frame| frame as f32 + 0.5).collect();
    let positions: Vec<f32> = frame_positions(&DURATIONS, 0, frames).into_iter().flatten().collect();
    let row = |values: Vec<f32>| Tensor::<2>::from_data(TensorData::new(values.clone(), [1, values.len()]), &device);
    let positions = Tensor::<3>::from_data(TensorData::new(positions, [1, frames, POSITION_WIDTH]), &device);
    let context = model.upsample(&input, encoded.clone(), row(lengths), row(times), positions); // (1, T, E + 4)
    let state = model.decoder.start(1, &device);
    let (decoded, _) = model.decoder.forward(None, context.clone(), speaker, state); // (1, T, M)
    let residual = model.postnet.forward(decoded.clone(), Mode::Steady); // (1, T, M)

    let loss = (decoded.clone() + residual.clone()).powf_scalar(2.0).mean();
    let gradients = loss.backward();
    let gradient = |tensor: Option<Tensor<2>>| tensor.expect("it takes part").powf_scalar(2.0).mean();
    let square = |tensor: Tensor<3>| tensor.inner().powf_scalar(2.0).mean();
    let named = [
        ("encoder", square(encoded)),
        ("durations", durations.inner().powf_scalar(2.0).mean()),
        ("context", square(context)),
        ("decoder", square(decoded)),
        ("postnet", square(residual)),
        ("gradient of the speakers", gradient(model.speakers.val().grad(&gradients))),
        ("gradient of the recurrence", gradient(model.decoder.first.w_hh.val().grad(&gradients))),
        ("gradient of the projection", gradient(model.decoder.projection.weight.val().grad(&gradients))),
    ];
    let mut figures = Vec::new();
    for (name, value) in named {
        let data = value.into_data_async().await.expect("the device answers");
        figures.push((name, data.try_to_vec::<f32>().expect("f32")[0]));
    }
    figures
}
