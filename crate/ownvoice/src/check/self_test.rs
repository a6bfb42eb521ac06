//! Self-test of a device against the CPU, which a page runs on the visitor's graphics adapter before training on it.
//!
//! First a tiny model whose every weight is given by a formula, forward through all its parts, its gradients and one step of training, against
//! values from the native CPU. Then the real base, some frames of it, against the CPU beside it: sizes at which other kernels run.

use std::collections::HashMap;

use burn::module::Module;
use burn::prelude::*;

use super::step_dump::{Side, StepConfig, compare_steps, sample_features};
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

/// Mean squares from the native CPU device.
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

/// How far a figure may be off, relative to itself. Devices sum in different orders, and a graphics card's functions are shorter than the CPU's: a few
/// millionths are usual, a kernel that is wrong is off by far more.
pub const TOLERANCE: f32 = 1e-3;

const SYMBOLS: &str = "_ R AA1 D AY0 ,";
const DURATIONS: [u32; 6] = [2, 4, 3, 5, 1, 3];
/// The real base makes as many frames of each symbol, times this.
const LONGER: u32 = 4;

/// Compares a base's device with the CPU, on which the same base is loaded as well. Returns the largest deviation, relative.
///
/// Fails with `device-wrong`, which names the operation at fault where one is.
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

enum Deviation {
    Wrong { figure: &'static str, found: f32, expected: f32 },
    Failed(Error),
}

impl From<Error> for Deviation {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

fn side<'a>(base: &'a Base, name: &'a str, plan: ComputePlan) -> Side<'a> {
    Side { model: &base.model, device: &base.device, name, plan }
}

/// One training step of the base on both, operation by operation. `None` where not even that can be computed.
async fn at_fault(base: &Base, on_cpu: &Base) -> Option<String> {
    /// What passes: a kernel that is wrong is off by far more.
    const COSINE: f64 = 0.9999;
    let config = base.config().clone();
    let step = StepConfig { window: 16 * config.reduction, config, batch: 1, mode: Mode::Eval, seed: 1 };
    let features = sample_features(step.config.mels);
    let (reference, found) = (
        side(on_cpu, "cpu", ComputePlan::reference()),
        side(base, "device", base.model.scope.plan().clone()),
    );
    let (_, _, comparison) =
        compare_steps(&reference, &found, &features, &step, COSINE, &mut to_the_end).await.ok()?;
    Some(comparison.verdict())
}

async fn deviation(base: &Base, on_cpu: &Base) -> Result<f32, Deviation> {
    let mut worst = 0.0f32;
    let mut compare = |figure, found: f32, expected: f32| {
        let deviation = (found - expected).abs() / expected.abs();
        // A NaN deviates too.
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

/// Of every frame, where the base has pitch.
const PITCH_HZ: f32 = 140.0;

/// Frames of the base speaker, `[T * M]`.
async fn frames(base: &Base) -> Result<Vec<f32>> {
    let durations = DURATIONS.map(|frames| frames * LONGER);
    let count = durations.iter().sum::<u32>() as usize;
    let context = base.with_excitation(base.contexts(&symbols(), &durations, count), &vec![PITCH_HZ; count]);
    let parts = Voice::unadapted(base).parts;
    let (decoded, _) =
        parts.decoder.forward(context, parts.speaker.val(), parts.decoder.start(1, &base.device));
    let made = decoded.clone() + parts.postnet.forward(decoded, Mode::Eval);
    Ok(read(made.reshape([count * base.config().mels])).await?)
}

/// The tiny model with weights that are waves of different lengths, one for each tensor.
fn model(device: &Device) -> Tacotron {
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
    apply(blank, weights).expect("the model's own shapes")
}

/// What the parts of the tiny model make of six symbols.
struct Made {
    /// `[1, L, E]`, `[1, L]`, `[1, T, E + 4]`
    encoded: Tensor<3>,
    durations: Tensor<2>,
    context: Tensor<3>,
    /// `[1, T, M]`
    decoded: Tensor<3>,
    residual: Tensor<3>,
}

impl Made {
    fn by(model: &Tacotron, device: &Device) -> Self {
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

/// Mean squares of what each part makes and of the gradients of the last of them, and the loss after one step along those.
pub async fn figures(device: &Device) -> Result<Vec<(&'static str, f32)>> {
    let device = device.clone().autodiff();
    let model = model(&device).train();
    let made = Made::by(&model, &device);
    let gradients = made.loss().backward();
    let gradient = |tensor: Option<Tensor<2>>| tensor.expect("it takes part").powf_scalar(2.0).mean();
    let square = |tensor: Tensor<3>| tensor.inner().powf_scalar(2.0).mean();
    let of_gradients = [
        gradient(model.speakers.val().grad(&gradients)),
        gradient(model.decoder.first.w_hh.val().grad(&gradients)),
        gradient(model.decoder.projection.weight.val().grad(&gradients)),
    ];
    let stepped = Adam::new(AdamConfig::default()).step(model, &gradients, |_| 1e-3);
    let after = Made::by(&stepped, &device).loss().inner();
    let forward = [
        square(made.encoded),
        made.durations.inner().powf_scalar(2.0).mean(),
        square(made.context),
        square(made.decoded),
        square(made.residual),
    ];
    let values =
        read(Tensor::cat(forward.into_iter().chain(of_gradients).chain([after]).collect(), 0)).await?;
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

    /// A base whose kernel takes a wrong sign: the figures differ, and the error names the operation.
    #[test]
    fn a_failed_test_names_the_operation() {
        let folder = &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/base");
        let on_cpu = Base::open(folder, &Device::flex()).unwrap();
        let mut wrong = Base::open(folder, &Device::flex()).unwrap();
        let fault = PlantedFault {
            path: "postnet.convolutions.3".into(),
            operation: Operation::Convolution,
            kind: PlantedFaultKind::GradientSign("weight".into()),
        };
        let plan = ComputePlan { faults: vec![fault], ..ComputePlan::default() };
        wrong.model = wrong.model.computing(&Scope::new(plan));
        let verdict = pollster::block_on(at_fault(&wrong, &on_cpu)).unwrap();
        assert!(
            verdict.starts_with("at fault: postnet.convolutions.3: convolution, gradient of weight"),
            "{verdict}"
        );
        let sound = pollster::block_on(at_fault(&on_cpu, &on_cpu)).unwrap();
        assert!(sound.starts_with("nothing below"), "{sound}");
    }

    #[test]
    fn the_cpu_makes_the_values_that_are_written_here() {
        let found = pollster::block_on(figures(&Device::flex())).unwrap();
        let off = found
            .iter()
            .zip(NATIVE)
            .filter(|((_, found), (_, expected))| (found - expected).abs() > 1e-5 * expected.abs());
        assert_eq!(off.count(), 0, "{found:#?}");
    }
}
