//! The lip-to-speech model: Tacotron 2 with attention, whose encoder reads faces instead of text (Prajwal et al. 2020, section 4).

use super::encoder::FaceEncoder;
use crate::model::AttentionTacotron;

/// The model of faces.
pub type LipTacotron = AttentionTacotron<FaceEncoder>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lips::{LipConfig, encoder::pictures};
    use burn::{
        prelude::*,
        tensor::{Distribution, Tolerance},
    };
    use burn_fused::{ComputePlan, Mode, Precision, Scope};

    fn faces(batch: usize, length: usize, device: &Device) -> Tensor<5> {
        Tensor::random([batch, 16, 16, length, 3], Distribution::Uniform(-1.0, 1.0), device)
    }

    #[test]
    fn all_steps_attend_to_pictures() {
        let device = Device::flex();
        let config = LipConfig::tiny(2);
        let model = LipTacotron::new(&config, &device);
        let decoded = model.decode(
            faces(2, 5, &device),
            &pictures(&[5, 5], None, &device),
            model.speakers.val(),
            8,
            Mode::Eval,
        );
        assert_eq!((decoded.frames.dims(), decoded.alignment.dims()), ([2, 16, 80], [2, 8, 5]));
    }

    #[test]
    fn half_precision_is_close_and_its_gradients_are_finite() {
        let device = Device::flex().autodiff();
        device.seed(5);
        let config = LipConfig::tiny(2);
        let model = LipTacotron::new(&config, &device);
        let faces = faces(2, 5, &device);
        let pictures = pictures(&[5, 4], None, &device);
        let run = |plan: ComputePlan| {
            let model = model.clone().computing(&Scope::new(plan));
            let decoded = model.decode(faces.clone(), &pictures, model.speakers.val(), 8, Mode::Train);
            let frames = decoded.frames.clone() + model.postnet.forward(decoded.frames, Mode::Train);
            let gradients = frames.clone().powi_scalar(2).mean().backward();
            let first = model.encoder.convolutions[0].convolution.weight.val();
            (frames.into_data(), first.grad(&gradients).expect("the first layer has a gradient").into_data())
        };
        let (single, of_single) = run(ComputePlan::default());
        let (half, of_half) = run(ComputePlan::from_precision(Precision::Mixed));
        half.assert_approx_eq::<f32>(&single, Tolerance::absolute(0.1));
        assert_ne!(half, single, "half precision rounds");
        let size =
            |gradient: &TensorData| gradient.iter::<f32>().map(|value| value * value).sum::<f32>().sqrt();
        let (single, half) = (size(&of_single), size(&of_half));
        assert!(single > 0.0 && (half / single - 1.0).abs() < 0.2, "{single} {half}");
    }
}
