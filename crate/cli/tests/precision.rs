//! Plants faults on each device that the build supports; each is found and named in comparison with the CPU, and nothing is found without a fault.

use std::pin::Pin;

use burn::prelude::Device;
use burn_fused::{
    ComputePlan, Mode, Operation, Precision,
    compute::{PlantedFault, PlantedFaultKind},
    precision::{
        CallRecord, Comparison, Culprit, Dump, Replayer, Row, What, dump::About, first_fault, to_the_end,
    },
};
use ownvoice::{
    check::{
        compare_steps::{ComparedSteps, compare_steps},
        precision_check::{CheckOptions, Checked, check},
        step_dump::{Side, StepConfig, sample_features},
    },
    model::{AttentiveTacotron, Tacotron, TacotronConfig},
    voice::Base,
};
use ownvoice_cli::check::propose::propose;
use ownvoice_testing::devices::{devices, twins};
use pollster::block_on;

const COSINE: f64 = 0.98;

fn step(mode: Mode) -> StepConfig {
    let config = TacotronConfig { pitch: true, ..TacotronConfig::tiny(4) };
    StepConfig { config, batch: 2, window: 32, mode, seed: 3 }
}

fn models(step: &StepConfig, device: &Device) -> [Tacotron; 2] {
    twins(|device| Tacotron::new(&step.config, device), device)
}

fn compared(device: &Device, plan: &ComputePlan, mode: Mode) -> ComparedSteps {
    let (step, cpu) = (step(mode), Device::flex());
    let [on_cpu, on_device] = models(&step, device);
    let features = sample_features(step.config.mels);
    block_on(compare_steps(
        &Side { model: &on_cpu, device: &cpu, name: "cpu", plan: ComputePlan::reference() },
        &Side { model: &on_device, device, name: "device", plan: plan.clone() },
        &features,
        &step,
        COSINE,
        &mut to_the_end,
    ))
    .unwrap()
}

fn wrong_sign() -> ComputePlan {
    let fault = PlantedFault {
        path: "decoder.second".into(),
        operation: Operation::Lstm,
        kind: PlantedFaultKind::GradientSign("w_hh".into()),
    };
    ComputePlan { faults: vec![fault], ..ComputePlan::default() }
}

fn overflow() -> ComputePlan {
    let fault = PlantedFault {
        path: "postnet.convolutions.1".into(),
        operation: Operation::Convolution,
        kind: PlantedFaultKind::Overflow("input".into()),
    };
    ComputePlan { faults: vec![fault], ..ComputePlan::from_precision(Precision::Mixed) }
}

/// Fused or plain, in single or half precision, with running or batch statistics.
#[test]
fn nothing_is_found_without_a_fault() {
    for device in devices() {
        for mode in [Mode::Eval, Mode::Train] {
            for plan in [
                ComputePlan::default(),
                ComputePlan::reference(),
                ComputePlan::from_precision(Precision::Mixed),
            ] {
                let ComparedSteps { found, comparison, .. } = compared(&device, &plan, mode);
                assert!(comparison.passes(), "{device:?}, {mode:?}, {plan:?}: {}", comparison.verdict());
                assert!(comparison.rows.len() > 50, "{}", comparison.rows.len());
                assert_eq!(fault_of(&found, &device), None, "{device:?}, {plan:?}");
            }
        }
    }
}

/// Returns the first fault in a dump, by a replay on its device.
fn fault_of(dump: &Dump, device: &Device) -> Option<Culprit> {
    let About { plan, loss_scale, .. } = dump.about.clone();
    block_on(first_fault(dump, &Replayer { plan, device: device.clone(), loss_scale })).unwrap()
}

#[test]
fn a_wrong_sign_in_a_gradient_is_found_and_its_operation_named() {
    for device in devices() {
        let comparison = compared(&device, &wrong_sign(), Mode::Eval).comparison;
        let faulty: Vec<_> = comparison.at_fault().collect();
        assert_eq!(faulty.len(), 1, "{faulty:#?}");
        assert_eq!((faulty[0].path.as_str(), faulty[0].operation), ("decoder.second", Some(Operation::Lstm)));
        assert_eq!(faulty[0].what, What::Gradient("w_hh".into()));
        assert!(faulty[0].alone.unwrap().cosine < -0.999 && faulty[0].whole.unwrap().cosine < -0.999);
        assert!(comparison.verdict().starts_with("at fault: decoder.second: lstm, gradient of w_hh"));
    }
}

/// Rows are in the order of the forward pass, then of the backward pass, so that the first row is the origin of a fault.
#[test]
fn rows_stand_in_the_order_of_the_step_and_the_first_divergence_comes_first() {
    let device = Device::flex();
    let ComparedSteps { reference, comparison, .. } = compared(&device, &overflow(), Mode::Eval);
    let names = |what: &What| -> Vec<(String, Operation, usize)> {
        let rows = comparison.rows.iter().filter(|row| row.what == *what);
        rows.filter_map(|row| Some((row.path.clone(), row.operation?, row.number))).collect()
    };
    let of = |record: &CallRecord| (record.call.path.clone(), record.call.operation, record.call.number);
    assert_eq!(names(&What::Output), reference.calls.iter().map(of).collect::<Vec<_>>());
    let backward = reference.calls.iter().rev().filter(|record| record.gradient.is_some());
    assert_eq!(names(&What::OutputGradient), backward.map(of).collect::<Vec<_>>());
    let forward = comparison.rows.iter().rposition(|row| row.what == What::Output).unwrap();
    assert!(comparison.rows[forward + 1..].iter().all(|row| row.what != What::Output));

    let listed = |comparison: &Comparison| -> Vec<String> {
        let name = |row: &Row| format!("{}, {}", row.path, row.what);
        comparison.below().map(name).collect()
    };
    let overflowed = listed(&comparison);
    assert_eq!(overflowed[0], "postnet.convolutions.1, output", "{overflowed:?}");
    assert!(overflowed.len() > 1, "later operations are non-finite too");
    // In the backward pass, the layer below the faulty one comes after it, and parameters that no operation reads come last.
    let plan = ComputePlan {
        faults: vec!["sign:decoder.second:lstm:projected".parse().unwrap()],
        ..ComputePlan::default()
    };
    let turned = listed(&compared(&device, &plan, Mode::Eval).comparison);
    assert_eq!(turned[0], "decoder.second, gradient of projected", "{turned:?}");
    let place = |prefix: &str| turned.iter().position(|name| name.starts_with(prefix)).unwrap();
    assert!(place("decoder.first, gradient of the output") > 0, "{turned:?}");
    assert!(place("decoder.first.bias") > place("decoder.first, gradient of w_ih"), "{turned:?}");
}

#[test]
fn an_overflow_in_half_is_found_and_its_layer_named() {
    for device in devices() {
        let ComparedSteps { found, comparison, .. } = compared(&device, &overflow(), Mode::Eval);
        assert_eq!(
            comparison.paths_at_fault().into_iter().collect::<Vec<_>>(),
            ["postnet.convolutions.1"],
            "{}",
            comparison.verdict()
        );
        let culprit = fault_of(&found, &device).unwrap();
        assert!(
            matches!(&culprit, Culprit::Forward { path, operation: Operation::Convolution, overflows: true, .. } if path == "postnet.convolutions.1"),
            "{culprit}"
        );
        // In single precision, as the tool proposes, the layer does not overflow.
        let half = propose(&comparison, &found);
        assert_eq!(half, ["decoder", "encoder", "postnet.convolutions.0"]);
        let comparison = compared(&device, &ComputePlan { half, ..overflow() }, Mode::Eval).comparison;
        assert!(comparison.passes(), "{}", comparison.verdict());
    }
}

/// A drill without effect would look like a tool that finds no fault.
#[test]
fn a_fault_that_takes_no_effect_is_refused() {
    let (step, device) = (step(Mode::Eval), Device::flex());
    let [model, _] = models(&step, &device);
    let features = sample_features(step.config.mels);
    let dump = |fault: &str, plain: &[Operation]| {
        let faults = vec![fault.parse().unwrap()];
        let plan = ComputePlan { faults, plain: plain.iter().copied().collect(), ..ComputePlan::default() };
        block_on(Side { model: &model, device: &device, name: "cpu", plan }.dump(&features, &step))
    };
    for fault in [
        "sign:decoder.thrid:lstm:w_hh",
        "sign:decoder.second:lstm:input",
        "sign:decoder.second:convolution:weight",
        "overflow:decoder.first:matmul",
        "sign:loss.after:loss:targets",
        "sign:decoder.projection.wieght:adam:gradient",
    ] {
        let error = dump(fault, &[]).unwrap_err();
        assert_eq!(error.code(), "option-invalid", "{fault}");
        assert!(error.to_string().contains(&format!("{fault} takes no effect")), "{error}");
    }
    // Bisection makes the faulty operation plain, and plain operations have no faults.
    dump("sign:decoder.second:lstm:w_hh", &[Operation::Lstm]).unwrap();
}

/// Compares the attentive model on whole utterances: attention, its LSTM, and the layers around them.
fn attentive(plan: &ComputePlan) -> (Dump, Comparison) {
    let config = TacotronConfig { autoregressive: true, prenet_dropout: 0.0, ..TacotronConfig::tiny(4) };
    let features = sample_features(config.mels);
    let window = features.utterances[0].frames;
    let (step, device) = (StepConfig { config, batch: 2, window, mode: Mode::Eval, seed: 3 }, Device::flex());
    device.seed(11);
    let model = AttentiveTacotron::new(&step.config, &device);
    let side = |plan| Side { model: &model, device: &device, name: "cpu", plan };
    let ComparedSteps { found, comparison, .. } = block_on(compare_steps(
        &side(ComputePlan::reference()),
        &side(plan.clone()),
        &features,
        &step,
        COSINE,
        &mut to_the_end,
    ))
    .unwrap();
    (found, comparison)
}

#[test]
fn attention_is_recorded_as_one_operation_and_passes() {
    // Step by step, as on a GPU, where the sequence is not one operation.
    let by_steps = ComputePlan { plain: [Operation::AttentionLstm].into(), ..ComputePlan::default() };
    for plan in [ComputePlan::default(), by_steps, ComputePlan::from_precision(Precision::Mixed)] {
        let (found, comparison) = attentive(&plan);
        assert!(comparison.passes(), "{plan:?}: {}", comparison.verdict());
        let of = |path: &str| -> Vec<(Operation, Precision)> {
            let calls = found.calls.iter().filter(|record| record.call.path == path);
            calls.map(|record| (record.call.operation, record.precision)).collect()
        };
        // This decoder always uses single precision.
        assert_eq!(of("decoder.attention"), [(Operation::AttentionLstm, Precision::F32)]);
        assert_eq!(of("decoder.attention_lstm"), [], "its products are part of that call");
        for path in ["decoder.attention.memory", "decoder.projection", "decoder.gate"] {
            assert_eq!(of(path), [(Operation::Matmul, Precision::F32)], "{path}");
        }
        assert_eq!(of("decoder.decoder_lstm").len(), 2, "product and recurrence");
        assert_eq!(of("postnet.convolutions.0")[0], (Operation::Convolution, plan.precision));
        let alone = |row: &&burn_fused::precision::Row| {
            row.operation == Some(Operation::AttentionLstm) && row.alone.is_some()
        };
        // The output, and a gradient of each input but the mask.
        assert_eq!(comparison.rows.iter().filter(alone).count(), 12, "{:#?}", comparison.rows);
    }
}

#[test]
fn a_wrong_sign_in_attention_is_found_whether_it_runs_as_a_whole_or_by_steps() {
    let sign = |operation, input: &str| PlantedFault {
        path: "decoder.attention".into(),
        operation,
        kind: PlantedFaultKind::GradientSign(input.into()),
    };
    let whole = ComputePlan {
        faults: vec![sign(Operation::AttentionLstm, "query.weight")],
        ..ComputePlan::default()
    };
    let by_steps = ComputePlan {
        plain: [Operation::AttentionLstm].into(),
        faults: vec![sign(Operation::Attention, "energy.weight")],
        ..ComputePlan::default()
    };
    for (plan, input) in [(whole, "query.weight"), (by_steps, "energy.weight")] {
        let (_, comparison) = attentive(&plan);
        let verdict = comparison.verdict();
        assert_eq!(
            comparison.paths_at_fault().into_iter().collect::<Vec<_>>(),
            ["decoder.attention"],
            "{verdict}"
        );
        let faulty = comparison.at_fault().find(|row| row.what == What::Gradient(input.into())).unwrap();
        assert!(faulty.alone.unwrap().cosine < -0.999 && faulty.whole.unwrap().cosine < -0.999, "{verdict}");
    }
}

/// Runs the check of a page on the tiny base.
fn checked(options: CheckOptions) -> ownvoice::Result<Checked> {
    let models = ownvoice_testing::tiny_folder();
    let base = Base::open(models.path().join("base"), &Device::flex()).unwrap();
    let count = std::cell::Cell::new(0);
    // Cancels at once if the device has no name.
    let ends = options.name.is_empty();
    let mut go_on = |done: usize, of: usize| -> Pin<Box<dyn Future<Output = bool>>> {
        assert!(done < of && of > 20, "{done} of {of}");
        count.set(count.get() + 1);
        Box::pin(std::future::ready(!ends))
    };
    let found = block_on(check(&base, &options, &mut go_on));
    assert!(count.get() > 20 || found.is_err(), "the callback runs before each operation");
    found
}

fn check_options(precision: Precision, plant: &[&str]) -> CheckOptions {
    let faults = plant.iter().map(|fault| fault.parse().unwrap()).collect();
    CheckOptions { name: "a card".into(), precision, cosine: COSINE, faults }
}

#[test]
fn a_check_of_a_device_reports_the_operation_at_fault() {
    for precision in [Precision::F32, Precision::Mixed] {
        let sound = checked(check_options(precision, &[])).unwrap();
        assert!(sound.passes() && sound.at_fault().is_none(), "{}", sound.verdict());
        let text = sound.text();
        assert!(text.contains(&format!("\nB: a card, {}, fused; before ", precision.name())), "{text}");
        assert!(text.contains("\nnothing below cosine 0.98 in ") && text.ends_with("tensors"), "{text}");
    }
    let sign = checked(check_options(Precision::F32, &["sign:decoder.second:lstm:w_hh"])).unwrap();
    assert_eq!(sign.at_fault(), Some(("decoder.second", Some(Operation::Lstm))));
    assert!(!sign.passes() && sign.culprit.is_none() && sign.text().ends_with(&sign.verdict()));

    let plant = ["overflow:postnet.convolutions.1:convolution"];
    let overflow = checked(check_options(Precision::Mixed, &plant)).unwrap();
    assert_eq!(overflow.at_fault(), Some(("postnet.convolutions.1", Some(Operation::Convolution))));
    assert!(overflow.verdict().contains("overflows in half precision, and not in single"));
    assert!(overflow.text().ends_with(&overflow.verdict()));
}

#[test]
fn a_check_can_be_cancelled_and_refuses_invalid_faults_and_cosines() {
    let unnamed = CheckOptions { name: String::new(), ..check_options(Precision::F32, &[]) };
    assert_eq!(checked(unnamed).unwrap_err().code(), "cancelled");
    let beyond = CheckOptions { cosine: 1.5, ..check_options(Precision::F32, &[]) };
    assert_eq!(checked(beyond).unwrap_err().code(), "option-invalid");
    for text in ["overflow:postnet", "overflow:a:lstm", "sign:a:lstm", "sign:a:none:w", ""] {
        assert!(matches!(text.parse::<PlantedFault>(), Err(burn_fused::Error::OptionInvalid(_))), "{text}");
    }
}
