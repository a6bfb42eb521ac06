//! Planted faults: each is found and named, and nothing is found where nothing was planted.

use burn::prelude::Device;
use ownvoice::{
    model::{Tacotron, TacotronConfig},
    nn::{
        ComputePlan, Mode, Operation, Precision,
        compute::{Fault, FaultKind},
    },
    precision::{Bisection, Comparison, Culprit, Dump, What, first_fault, propose::propose},
    train::step_dump::{Side, StepConfig, bisect_steps, compare_steps, sample_features},
};
use pollster::block_on;

const COSINE: f64 = 0.98;

fn step(mode: Mode) -> StepConfig {
    let config = TacotronConfig { pitch: true, ..TacotronConfig::tiny(4) };
    StepConfig { config, batch: 2, window: 32, mode, seed: 3 }
}

fn model(step: &StepConfig, device: &Device) -> Tacotron {
    device.seed(11);
    Tacotron::new(&step.config, device)
}

fn compared(plan: &ComputePlan, mode: Mode) -> (Dump, Dump, Comparison) {
    let (step, device) = (step(mode), Device::flex());
    let model = model(&step, &device);
    let side = |plan| Side { model: &model, device: &device, name: "cpu", plan };
    let features = sample_features(step.config.mels);
    block_on(compare_steps(&side(ComputePlan::reference()), &side(plan.clone()), &features, &step, COSINE))
        .unwrap()
}

fn wrong_sign() -> ComputePlan {
    let fault = Fault {
        path: "decoder.second".into(),
        operation: Operation::Lstm,
        kind: FaultKind::GradientSign("w_hh".into()),
    };
    ComputePlan { faults: vec![fault], ..ComputePlan::default() }
}

fn overflow() -> ComputePlan {
    let fault = Fault {
        path: "postnet.convolutions.1".into(),
        operation: Operation::Convolution,
        kind: FaultKind::Overflow("input".into()),
    };
    ComputePlan { faults: vec![fault], ..ComputePlan::of(Precision::Mixed) }
}

/// Fused or plain, single or half, with running statistics or the batch's.
#[test]
fn nothing_is_found_where_nothing_was_planted() {
    for mode in [Mode::Eval, Mode::Train] {
        for plan in [ComputePlan::default(), ComputePlan::reference(), ComputePlan::of(Precision::Mixed)] {
            let (_, found, comparison) = compared(&plan, mode);
            assert!(comparison.passes(), "{mode:?}, {plan:?}: {}", comparison.verdict());
            assert!(comparison.rows.len() > 50, "{}", comparison.rows.len());
            let side = Side {
                model: &model(&step(mode), &Device::flex()),
                device: &Device::flex(),
                name: "cpu",
                plan: plan.clone(),
            };
            assert_eq!(block_on(first_fault(&found, &side.replayer())).unwrap(), None, "{plan:?}");
        }
    }
}

#[test]
fn a_wrong_sign_in_a_gradient_is_found_and_its_operation_named() {
    let (_, _, comparison) = compared(&wrong_sign(), Mode::Eval);
    let faulty: Vec<_> = comparison.at_fault().collect();
    assert_eq!(faulty.len(), 1, "{faulty:#?}");
    assert_eq!((faulty[0].path.as_str(), faulty[0].operation), ("decoder.second", Some(Operation::Lstm)));
    assert_eq!(faulty[0].what, What::Gradient("w_hh".into()));
    assert!(faulty[0].alone.unwrap().cosine < -0.999 && faulty[0].whole.unwrap().cosine < -0.999);
    assert!(comparison.verdict().starts_with("at fault: decoder.second: lstm, gradient of w_hh"));
}

#[test]
fn bisection_names_the_faulty_operation_and_no_other() {
    let (step, device) = (step(Mode::Eval), Device::flex());
    let model = model(&step, &device);
    let side = |plan| Side { model: &model, device: &device, name: "cpu", plan };
    let features = sample_features(step.config.mels);
    let run = |plan| {
        block_on(bisect_steps(&side(ComputePlan::reference()), &side(plan), &features, &step, COSINE))
            .unwrap()
    };
    let Bisection::Operations { smallest, .. } = run(wrong_sign()) else { panic!("nothing was found") };
    assert_eq!(smallest, [[Operation::Lstm].into()]);
    assert_eq!(run(ComputePlan::default()), Bisection::NoMismatch);
}

#[test]
fn an_overflow_in_half_is_found_and_its_layer_named() {
    let (_, found, comparison) = compared(&overflow(), Mode::Eval);
    assert_eq!(
        comparison.paths_at_fault().into_iter().collect::<Vec<_>>(),
        ["postnet.convolutions.1"],
        "{}",
        comparison.verdict()
    );
    let (step, device) = (step(Mode::Eval), Device::flex());
    let side = Side { model: &model(&step, &device), device: &device, name: "cpu", plan: overflow() };
    let culprit = block_on(first_fault(&found, &side.replayer())).unwrap().unwrap();
    assert!(
        matches!(&culprit, Culprit::Forward { path, operation: Operation::Convolution, .. } if path == "postnet.convolutions.1"),
        "{culprit}"
    );
    // Kept in single precision, as the tool proposes, the layer has room.
    let half = propose(&comparison, &found);
    assert_eq!(half, ["decoder", "encoder", "postnet.convolutions.0"]);
    let (_, _, comparison) = compared(&ComputePlan { half, ..overflow() }, Mode::Eval);
    assert!(comparison.passes(), "{}", comparison.verdict());
}
