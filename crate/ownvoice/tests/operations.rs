//! Plants a wrong sign in each fused operation in turn; bisection must name that operation and no other. The tests fail if a plan's choice of plain operations is
//! ignored.

use std::collections::BTreeSet;

use burn::{
    module::{Module, Param},
    prelude::*,
};
use burn_fused::{
    ComputePlan, Mode, Operation, Precision, Scope,
    compute::PlantedFault,
    patches::Patch,
    precision::{Bisection, Comparison, Culprit, Dump, Replayer, What, first_fault, to_the_end},
};
use ownvoice::{
    check::{
        compare_steps::{ComparedSteps, bisect_steps, compare_steps},
        step_dump::{Side, StepConfig, Stepped, sample_features},
    },
    model::{AttentiveTacotron, Tacotron, TacotronConfig, batch::Batch},
    vocoder::network::{Filters, SourceFilter, VocoderConfig},
};
use ownvoice_testing::devices::{devices, twins};
use pollster::block_on;

const COSINE: f64 = 0.98;

/// The vocoder's network, which reads the spectrograms of the batch.
#[derive(Module, Debug)]
struct Vocoded {
    network: SourceFilter,
}

impl Vocoded {
    const CONFIG: VocoderConfig = VocoderConfig {
        mels: 80,
        width: 12,
        layers: 2,
        kernel: 5,
        sample_rate_hz: 16_000,
        bins: 9,
        mel_mean: 0.0,
        mel_scale: 1.0,
    };
}

impl Stepped for Vocoded {
    fn under(self, scope: &Scope) -> Self {
        Self { network: self.network.computing(scope) }
    }

    fn named_losses(&self, batch: &Batch, _mode: Mode) -> Vec<(&'static str, Tensor<1>)> {
        let [items, frames, _] = batch.targets.dims();
        let envelope = Tensor::zeros([items, frames, Self::CONFIG.bins], &batch.targets.device());
        let Filters { pitch, voicing, harmonic, noise } =
            self.network.forward(batch.targets.clone(), envelope);
        let square = |output: Tensor<3>| (output - 1.0).powi_scalar(2).mean();
        vec![
            ("pitch", square(pitch)),
            ("voicing", square(voicing)),
            ("harmonic", square(harmonic)),
            ("noise", square(noise)),
        ]
    }
}

/// A convolution over pictures, as in the encoder of faces.
#[derive(Module, Debug)]
struct Pictures {
    /// `[9, 4]`
    weight: Param<Tensor<2>>,
    /// `[9, 1]`
    depthwise: Param<Tensor<2>>,
    #[module(skip)]
    scope: Scope,
}

impl Stepped for Pictures {
    fn under(self, scope: &Scope) -> Self {
        Self { scope: scope.clone(), ..self }
    }

    fn named_losses(&self, batch: &Batch, _mode: Mode) -> Vec<(&'static str, Tensor<1>)> {
        let [items, frames, mels] = batch.targets.dims();
        let pictures = batch.targets.clone().swap_dims(1, 2).reshape([items, 8, mels / 8, frames, 1]);
        let compute = self.scope.at("layer").compute();
        let [_, height, width, _, _] = pictures.dims();
        let pictures = pictures.reshape([items, height, width * frames, 1]);
        let pictures =
            compute.convolve_depthwise(pictures, self.depthwise.val(), Patch { side: 3, stride: 1 });
        let pictures = pictures.reshape([items, height, width, frames, 1]);
        let patches = compute.unfold_patches(pictures, Patch { side: 3, stride: 2 });
        let rows = patches.shape().num_elements() / 9;
        let output = compute.matmul(patches.reshape([rows, 9]), self.weight.val(), "weight");
        vec![("squares", (output - 1.0).powi_scalar(2).mean())]
    }
}

/// The model and mode in which an operation runs.
enum Runs {
    Windows(Mode),
    Attention,
    /// Attention that runs step by step.
    AttentionBySteps,
    Vocoder,
    Pictures,
}

/// Returns where an operation runs, and a fault that flips the sign of a gradient that is not zero.
fn place(operation: Operation) -> (Runs, &'static str) {
    match operation {
        Operation::Matmul => (Runs::Windows(Mode::Eval), "sign:durations.projection:matmul:weight"),
        Operation::MatmulConcat => (Runs::Windows(Mode::Eval), "sign:decoder.first:matmul-concat:w_ih"),
        Operation::Lstm => (Runs::Windows(Mode::Eval), "sign:decoder.second:lstm:w_hh"),
        Operation::Convolution => {
            (Runs::Windows(Mode::Eval), "sign:postnet.convolutions.0:convolution:weight")
        }
        Operation::Normalise => {
            (Runs::Windows(Mode::Eval), "sign:encoder.convolutions.0:normalise:norm.gamma")
        }
        Operation::Activate => (Runs::Windows(Mode::Train), "sign:postnet.convolutions.0:activate:input"),
        Operation::Unfold => (Runs::Vocoder, "sign:embedding:unfold:input"),
        Operation::UnfoldPatches => (Runs::Pictures, "sign:layer:unfold-patches:input"),
        Operation::Depthwise => (Runs::Pictures, "sign:layer:depthwise:weight"),
        Operation::Attention => (Runs::AttentionBySteps, "sign:decoder.attention:attention:energy.weight"),
        Operation::AttentionLstm => (Runs::Attention, "sign:decoder.attention:attention-lstm:query.weight"),
        Operation::Loss => (Runs::Windows(Mode::Eval), "sign:loss.after:loss:predicted"),
        Operation::Adam => (Runs::Windows(Mode::Eval), "sign:decoder.projection.weight:adam:gradient"),
    }
}

fn windows(config: TacotronConfig, mode: Mode) -> StepConfig {
    StepConfig { config, batch: 2, window: 32, mode, seed: 3 }
}

fn tiny() -> TacotronConfig {
    TacotronConfig { pitch: true, ..TacotronConfig::tiny(4) }
}

/// Compares a device with the reference: plain operations on the CPU in single precision.
struct FaultTest<M> {
    models: [M; 2],
    step: StepConfig,
    device: Device,
}

impl<M: Stepped> FaultTest<M> {
    fn new(new: impl Fn(&Device) -> M, step: StepConfig, device: &Device) -> Self {
        Self { models: twins(new, device), step, device: device.clone() }
    }

    fn sides<R>(&self, plan: ComputePlan, run: impl FnOnce(Side<'_, M>, Side<'_, M>) -> R) -> R {
        let [on_cpu, on_device] = &self.models;
        let cpu = Device::flex();
        run(
            Side { model: on_cpu, device: &cpu, name: "cpu", plan: ComputePlan::reference() },
            Side { model: on_device, device: &self.device, name: "device", plan },
        )
    }

    fn compare(&self, plan: ComputePlan) -> (Dump, Comparison) {
        let features = sample_features(self.step.config.mels);
        self.sides(plan, |reference, found| {
            let mut go_on = to_the_end;
            let compared = compare_steps(&reference, &found, &features, &self.step, COSINE, &mut go_on);
            let ComparedSteps { found, comparison, .. } = block_on(compared).unwrap();
            (found, comparison)
        })
    }

    /// Asserts that the fault is found while all other operations are plain, but neither while its own operation is plain nor without the fault.
    fn check(&self, operation: Operation, fault: PlantedFault, plain: BTreeSet<Operation>) {
        let passes = |plain: &BTreeSet<Operation>, faults: &[PlantedFault]| {
            let (plain, faults) = (plain.clone(), faults.to_vec());
            self.compare(ComputePlan { plain, faults, ..ComputePlan::default() }).1.passes()
        };
        let planted = [fault];
        let mut others: BTreeSet<Operation> = Operation::ALL.into();
        others.remove(&operation);
        assert!(!passes(&others, &planted), "{operation:?} is plain although the plan fuses it");
        let with_it = plain.iter().copied().chain([operation]).collect();
        assert!(passes(&with_it, &planted), "{operation:?} is fused although the plan makes it plain");
        assert!(passes(&plain, &[]), "{operation:?} differs without a fault");
    }

    /// Asserts that bisection names this operation alone.
    fn bisect(&self, operation: Operation, fault: PlantedFault, plain: BTreeSet<Operation>) {
        let plan = ComputePlan { plain, faults: vec![fault], ..ComputePlan::default() };
        let features = sample_features(self.step.config.mels);
        let found = self.sides(plan, |reference, found| {
            block_on(bisect_steps(&reference, &found, &features, &self.step, COSINE)).unwrap()
        });
        let Bisection::Operations { smallest, .. } = &found else {
            panic!("{operation:?}: {}", found.verdict())
        };
        assert_eq!(*smallest, [[operation].into()], "{operation:?}");
    }

    /// Runs both checks. Bisection takes a dozen steps and does not depend on the device, so that it runs only on the CPU.
    fn run(&self, operation: Operation, fault: PlantedFault, plain: BTreeSet<Operation>) {
        self.check(operation, fault.clone(), plain.clone());
        if self.device == Device::flex() {
            self.bisect(operation, fault, plain);
        }
    }
}

#[test]
fn bisection_names_each_operation_with_a_wrong_sign() {
    for device in devices() {
        let is_cpu = device == Device::flex();
        for operation in Operation::ALL {
            let (runs, fault) = place(operation);
            let fault: PlantedFault = fault.parse().unwrap();
            assert_eq!(fault.operation, operation);
            let none = BTreeSet::new();
            match runs {
                Runs::Windows(mode) => {
                    let new = |device: &Device| Tacotron::new(&tiny(), device);
                    FaultTest::new(new, windows(tiny(), mode), &device).run(operation, fault, none);
                }
                // GPUs lack this operation and compute step by step.
                Runs::Attention if !is_cpu => {}
                Runs::Attention | Runs::AttentionBySteps => {
                    let config = TacotronConfig {
                        autoregressive: true,
                        prenet_dropout: 0.0,
                        ..TacotronConfig::tiny(4)
                    };
                    let frames = sample_features(config.mels).utterances[0].frames;
                    let step = StepConfig { window: frames, ..windows(config.clone(), Mode::Eval) };
                    let new = |device: &Device| AttentiveTacotron::new(&config, device);
                    let plain = match operation {
                        Operation::Attention => [Operation::AttentionLstm].into(),
                        _ => none,
                    };
                    FaultTest::new(new, step, &device).run(operation, fault, plain);
                }
                Runs::Vocoder => vocoder(&device).run(operation, fault, none),
                Runs::Pictures => {
                    let new = |device: &Device| {
                        let weights = |columns: usize| {
                            let values = (0..9 * columns).map(|at| (at as f32).sin()).collect();
                            let values = TensorData::new::<f32, _>(values, [9, columns]);
                            Param::from_tensor(Tensor::from_data(values, device))
                        };
                        Pictures { weight: weights(4), depthwise: weights(1), scope: Scope::default() }
                    };
                    FaultTest::new(new, windows(tiny(), Mode::Eval), &device).run(operation, fault, none);
                }
            }
        }
    }
}

fn vocoder(device: &Device) -> FaultTest<Vocoded> {
    let new = |device: &Device| Vocoded { network: SourceFilter::new(&Vocoded::CONFIG, device) };
    FaultTest::new(new, windows(tiny(), Mode::Eval), device)
}

/// The vocoder passes with its trunk in half precision; a wrong sign is found, and an overflow is named.
#[test]
fn faults_of_the_vocoder_are_found() {
    for device in devices() {
        let test = vocoder(&device);
        let mixed = ComputePlan::for_vocoder(Precision::Mixed);
        let (found, comparison) = test.compare(mixed.clone());
        assert!(comparison.passes(), "{}", comparison.verdict());
        let precision =
            |path: &str| found.calls.iter().find(|record| record.call.path == path).unwrap().precision;
        assert_eq!((precision("blocks.1.narrow"), precision("harmonic")), (Precision::Mixed, Precision::F32));

        let faults = |text: &str| vec![text.parse().unwrap()];
        let (_, comparison) = test.compare(ComputePlan {
            faults: faults("sign:blocks.0.widen:matmul:weight"),
            ..ComputePlan::for_vocoder(Precision::F32)
        });
        let row = comparison.at_fault().next().unwrap();
        assert_eq!((row.path.as_str(), &row.what), ("blocks.0.widen", &What::Gradient("weight".into())));

        let plan = ComputePlan { faults: faults("overflow:blocks.1.widen:matmul"), ..mixed };
        let (found, _) = test.compare(plan.clone());
        let replayer = Replayer { plan, device: device.clone(), loss_scale: found.about.loss_scale };
        let culprit = block_on(first_fault(&found, &replayer)).unwrap().unwrap();
        assert!(
            matches!(&culprit, Culprit::Forward { path, overflows: true, .. } if path == "blocks.1.widen"),
            "{culprit}"
        );
    }
}
