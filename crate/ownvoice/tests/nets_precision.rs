//! The precision tool on a net. It is alone in its process: burn's generator of random numbers on the CPU is shared by all threads, so that a test beside this one
//! would change its weights.

use burn::prelude::*;
use burn_fused::{ComputePlan, Mode, Operation, Precision, precision::to_the_end};
use ownvoice::nets::{
    NetConfig, NetKind,
    precision::{NetSide, NetStepConfig, compare_net, default_plan},
};

/// Both precisions pass, and a fault that is planted in one layer is found there.
#[test]
fn a_planted_fault_is_found_in_its_layer() {
    let config = NetConfig { side: 32, width: 0.25, ..NetConfig::of(NetKind::MobileNetV1, 3) };
    let device = Device::flex();
    let side = |plan: ComputePlan| NetSide { device: &device, name: "cpu", plan };
    let step = NetStepConfig { config: config.clone(), batch: 4, mode: Mode::Eval, seed: 1 };
    let run = |plan: ComputePlan| {
        let (reference, found) = (side(ComputePlan::reference()), side(plan));
        pollster::block_on(compare_net(&reference, &found, &step, 0.98, &mut to_the_end)).unwrap().comparison
    };
    for precision in [Precision::F32, Precision::Mixed] {
        let comparison = run(default_plan(&config, precision).unwrap());
        assert!(comparison.passes(), "{}", comparison.verdict());
        assert!(comparison.rows.iter().any(|row| row.path == "MobileNetV1.blocks.3.5.conv_pw"));
    }
    let path = "MobileNetV1.blocks.1.0.conv_pw";
    let mut plan = default_plan(&config, Precision::F32).unwrap();
    plan.faults = vec![format!("sign:{path}:matmul:weight").parse().unwrap()];
    let comparison = run(plan);
    let at_fault = comparison.at_fault().next().map(|row| (row.path.clone(), row.operation));
    assert_eq!(at_fault, Some((path.to_string(), Some(Operation::Matmul))), "{}", comparison.verdict());
}
