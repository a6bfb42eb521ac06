//! The self-test of a device against the CPU, which a page runs on the visitor's graphics adapter before it trains there.
//!
//! The first part runs a tiny model whose weights are given by a formula: forward through all its parts, backward, and one update. The results are compared with
//! values from the native CPU. The second part compares some frames of the real base with those of the base on the CPU, because larger sizes select other kernels.

use std::collections::HashMap;

use burn::module::Module;
use burn::prelude::*;

use super::{
    compare_steps::compare_steps,
    step_dump::{Side, StepConfig, sample_features},
};
use crate::{
    Error, Result,
    model::{Tacotron, TacotronConfig, tacotron::Symbols},
    text::symbols::{Symbol, parse},
    voice::{Base, Voice},
};
use burn_fused::{
    ComputePlan, Mode,
    adam::{Adam, AdamConfig},
    precision::to_the_end,
    readback::read,
    upsample::{POSITION_WIDTH, frame_positions},
    weights::{apply, collect},
};

/// The expected figures of [`figures`], computed on the native CPU.
pub const NATIVE: [(&str, f32); 9] = [
    ("encoder", 0.009809771),
    ("durations", 0.00047643666),
    ("context", 0.0446295),
    ("decoder", 0.25702494),
    ("postnet", 0.050137598),
    ("gradient of the speakers", 0.014216389),
    ("gradient of the recurrence", 1.3135666e-7),
    ("gradient of the projection", 1.3431237e-6),
    ("loss after a step of training", 0.28927734),
];

/// The largest relative deviation that passes. Devices sum in different orders, and graphics cards approximate functions more coarsely than the CPU, which gives
/// deviations of some 1e-6; a wrong kernel deviates far more.
pub const TOLERANCE: f32 = 1e-3;

const SYMBOLS: &str = "_ R AA1 D AY0 ,";
const DURATIONS: [u32; 6] = [2, 4, 3, 5, 1, 3];
/// The factor on the durations for the real base.
const LONGER: u32 = 4;

/// Compares a base's device with the CPU. Returns the largest relative deviation.
///
/// * `on_cpu`: the same base on the CPU
///
/// Fails with `device-wrong`, which names the operation at fault if it is found.
pub async fn run(base: &Base, on_cpu: &Base) -> Result<f32> {
    match deviation(base, on_cpu).await {
        Err(Deviation::Wrong { figure, found, expected }) => {
            let operation = at_fault(base, on_cpu).await;
            Err(Error::device_wrong(figure, found, expected, operation.as_deref()))
        }
        Err(Deviation::Failed(error)) => Err(error),
        Ok(worst) => Ok(worst),
    }
}

/// The reason why the self-test does not pass.
enum Deviation {
    Wrong { figure: &'static str, found: f32, expected: f32 },
    Failed(Error),
}

impl From<Error> for Deviation {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Returns the side of a base in a comparison of steps.
fn side<'a>(base: &'a Base, name: &'a str, plan: ComputePlan) -> Side<'a> {
    Side { model: &base.model, device: &base.device, name, plan }
}

/// Compares a training step on both devices operation by operation, and returns the verdict. `None` where the step cannot be computed.
async fn at_fault(base: &Base, on_cpu: &Base) -> Option<String> {
    /// The lowest cosine similarity that passes; a wrong kernel lies far below.
    const COSINE: f64 = 0.9999;
    let config = base.config().clone();
    let step = StepConfig { window: 16 * config.reduction, config, batch: 1, mode: Mode::Eval, seed: 1 };
    let features = sample_features(step.config.mels);
    let (reference, found) = (
        side(on_cpu, "cpu", ComputePlan::reference()),
        side(base, "device", base.model.scope.plan().clone()),
    );
    let compared = compare_steps(&reference, &found, &features, &step, COSINE, &mut to_the_end).await.ok()?;
    Some(compared.comparison.verdict())
}

/// Returns the largest relative deviation of the device's figures.
async fn deviation(base: &Base, on_cpu: &Base) -> Result<f32, Deviation> {
    let mut worst = 0.0f32;
    let mut compare = |figure, found: f32, expected: f32| {
        let deviation = (found - expected).abs() / expected.abs();
        // NaN must fail, which `deviation > TOLERANCE` would let pass.
        if deviation <= TOLERANCE {
            worst = worst.max(deviation);
            Ok(())
        } else {
            Err(Deviation::Wrong { figure, found, expected })
        }
    };
    for ((figure, found), (_, expected)) in figures(&base.device).await?.into_iter().zip(NATIVE) {
        compare(figure, found, expected)?;
    }
    let (found, expected) = (frames(base).await?, frames(on_cpu).await?);
    let difference = found.iter().zip(&expected).map(|(a, b)| (a - b).powi(2)).sum::<f32>();
    let energy = expected.iter().map(|x| x.powi(2)).sum::<f32>();
    compare("frames of the base voice", 1.0 + (difference / energy).sqrt(), 1.0)?;
    Ok(worst)
}

fn symbols() -> Vec<Symbol> {
    parse(SYMBOLS).expect("names of the table")
}

/// The pitch of every frame, for bases with pitch.
const PITCH_HZ: f32 = 140.0;

/// Computes frames of the base's default speaker, `[T * M]`.
async fn frames(base: &Base) -> Result<Vec<f32>> {
    let durations = DURATIONS.map(|frames| frames * LONGER);
    let count = durations.iter().sum::<u32>() as usize;
    let contexts = base.contexts(&base.encode(&symbols()), &durations, count);
    let context = base.with_excitation(contexts, &vec![PITCH_HZ; count]);
    let parts = Voice::unadapted(base).parts;
    let (decoded, _) =
        parts.decoder.forward(context, parts.speaker.val(), parts.decoder.start(1, &base.device));
    let refined = decoded.clone() + parts.postnet.forward(decoded, Mode::Eval);
    Ok(read(refined.reshape([count * base.config().mels])).await?)
}

/// Returns the tiny model. The weights of each tensor are a sine wave with its own phase.
fn model(device: &Device) -> Tacotron {
    let blank = Tacotron::new(&TacotronConfig::tiny(2), device);
    let weights: HashMap<_, _> = collect(&blank)
        .into_iter()
        .enumerate()
        .map(|(number, (name, weight))| {
            let count: usize = weight.shape.iter().product();
            let wave = |index: usize| 0.3 * (0.7 + 0.37 * number as f32 + 1.3 * index as f32).sin();
            // Variances must be positive.
            let least = if name.ends_with("running_var") { 1.0 } else { 0.0 };
            let value = |index: usize| least + wave(index);
            (name.clone(), (weight.shape, (0..count).map(value).collect::<Vec<f32>>()))
        })
        .collect();
    apply(blank, weights).expect("the shapes are the model's")
}

/// The outputs of the tiny model's parts for six symbols.
struct Outputs {
    /// `[1, L, E]`
    encoded: Tensor<3>,
    /// `[1, L]`
    durations: Tensor<2>,
    /// `[1, T, E + 4]`
    context: Tensor<3>,
    /// `[1, T, M]`
    decoded: Tensor<3>,
    /// `[1, T, M]`
    residual: Tensor<3>,
}

impl Outputs {
    fn new(model: &Tacotron, device: &Device) -> Self {
        let frames: usize = DURATIONS.iter().sum::<u32>() as usize;
        let input = Symbols::new(&[&symbols()], None, device);
        let speaker = model.speakers.val().slice([1..2]);
        let lengths: Vec<f32> = DURATIONS.iter().map(|&frames| frames as f32).collect();
        let times: Vec<f32> = (0..frames).map(|frame| frame as f32 + 0.5).collect();
        let positions: Vec<f32> = frame_positions(&DURATIONS, 0, frames).into_iter().flatten().collect();
        let row = |values: Vec<f32>| {
            Tensor::<2>::from_data(TensorData::new(values.clone(), [1, values.len()]), device)
        };
        let positions =
            Tensor::<3>::from_data(TensorData::new(positions, [1, frames, POSITION_WIDTH]), device);

        let encoded = model.encode(&input, Mode::Eval);
        let durations = model.durations.forward(encoded.clone(), speaker.clone(), &input.lengths);
        let context = model.upsample(&input, encoded.clone(), row(lengths), row(times), positions);
        let (decoded, _) = model.decoder.forward(context.clone(), speaker, model.decoder.start(1, device));
        let residual = model.postnet.forward(decoded.clone(), Mode::Eval);
        Self { encoded, durations, context, decoded, residual }
    }

    fn loss(&self) -> Tensor<1> {
        (self.decoded.clone() + self.residual.clone()).powf_scalar(2.0).mean()
    }
}

/// Computes the mean squares of each part's outputs and of some gradients, and the loss after one update.
pub async fn figures(device: &Device) -> Result<Vec<(&'static str, f32)>> {
    let device = device.clone().autodiff();
    let model = model(&device).train();
    let outputs = Outputs::new(&model, &device);
    let gradients = outputs.loss().backward();
    let gradient =
        |tensor: Option<Tensor<2>>| tensor.expect("the loss depends on it").powf_scalar(2.0).mean();
    let square = |tensor: Tensor<3>| tensor.inner().powf_scalar(2.0).mean();
    let gradient_squares = [
        gradient(model.speakers.val().grad(&gradients)),
        gradient(model.decoder.first.w_hh.val().grad(&gradients)),
        gradient(model.decoder.projection.weight.val().grad(&gradients)),
    ];
    let stepped = Adam::new(AdamConfig::default()).step(model, &gradients, |_| 1e-3);
    let after = Outputs::new(&stepped, &device).loss().inner();
    let forward = [
        square(outputs.encoded),
        outputs.durations.inner().powf_scalar(2.0).mean(),
        square(outputs.context),
        square(outputs.decoded),
        square(outputs.residual),
    ];
    let values =
        read(Tensor::cat(forward.into_iter().chain(gradient_squares).chain([after]).collect(), 0)).await?;
    Ok(NATIVE.iter().map(|(name, _)| *name).zip(values).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_fused::{
        Operation, Scope,
        compute::{PlantedFault, PlantedFaultKind},
    };
    use std::path::Path;

    #[test]
    fn the_operation_with_a_wrong_sign_is_named() {
        let folder = &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/base");
        let on_cpu = Base::open(folder, &Device::flex()).unwrap();
        let mut wrong = Base::open(folder, &Device::flex()).unwrap();
        let fault = PlantedFault {
            path: "postnet.convolutions.3".into(),
            operation: Operation::Convolution,
            kind: PlantedFaultKind::GradientSign("weight".into()),
        };
        let plan = ComputePlan { faults: vec![fault], ..ComputePlan::default() };
        wrong.parts_mut().model = wrong.model.clone().computing(&Scope::new(plan));
        let verdict = pollster::block_on(at_fault(&wrong, &on_cpu)).unwrap();
        assert!(
            verdict.starts_with("at fault: postnet.convolutions.3: convolution, gradient of weight"),
            "{verdict}"
        );
        let sound = pollster::block_on(at_fault(&on_cpu, &on_cpu)).unwrap();
        assert!(sound.starts_with("nothing below"), "{sound}");
    }

    #[test]
    fn the_cpu_computes_the_expected_figures() {
        let found = pollster::block_on(figures(&Device::flex())).unwrap();
        let off = found
            .iter()
            .zip(NATIVE)
            .filter(|((_, found), (_, expected))| (found - expected).abs() > 1e-5 * expected.abs());
        assert_eq!(off.count(), 0, "{found:#?}");
    }
}
