//! Counts the GPU dispatches of a training step, by wrapping the browser's own dispatch function.
#![cfg(all(target_arch = "wasm32", feature = "webgpu"))]

use burn::module::Module;
use burn::prelude::*;
use burn_fused::{
    Mode,
    adam::{Adam, AdamConfig},
    lstm::{ScanOptions, scan, scan_with_tensors},
    ranks::Shard,
};
use js_sys::{Function, Reflect};
use ownvoice::{
    audio::mel::{Mel, MelConfig},
    features::{Features, NewUtterance},
    model::{Tacotron, TacotronConfig, batch::assemble, loss::losses},
    text::symbols::Symbol,
};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

const COUNTER: &str = "
    globalThis.dispatches = 0;
    const launch = GPUComputePassEncoder.prototype.dispatchWorkgroups;
    GPUComputePassEncoder.prototype.dispatchWorkgroups = function (...sizes) {
        globalThis.dispatches += 1;
        return launch.apply(this, sizes);
    };
";

fn dispatches() -> f64 {
    Reflect::get(&js_sys::global(), &"dispatches".into())
        .ok()
        .and_then(|count| count.as_f64())
        .expect("counted")
}

/// Returns the dispatches of the second update of a whole tiny model, on one window of `window` frames.
async fn of_a_step(window: usize, device: &Device) -> f64 {
    let config = TacotronConfig::tiny(1);
    let mut features = Features::new(MelConfig::speech_16k());
    let mel = Mel {
        mels: config.mels,
        data: (0..64 * config.mels).map(|index| (0.1 * index as f32).sin() - 5.0).collect(),
    };
    features.push(NewUtterance {
        speaker: "one",
        id: "one".into(),
        text: String::new(),
        symbols: [10, 20, 30, 40].map(|index| Symbol::from_index(index).expect("a symbol")).to_vec(),
        durations: Some(vec![16; 4]),
        mel: &mel,
        f0_hz: &[],
    });
    let device = device.clone().autodiff();
    let mut model = Tacotron::new(&config, &device).train();
    let mut adam = Adam::new(AdamConfig::default());
    let mut before = 0.0;
    for _ in 0..2 {
        before = dispatches();
        let picks = [(&features.utterances[0], 0)];
        let batch =
            assemble(&features, &picks, Shard::WHOLE, window, &config, &device).expect("usable features");
        let loss = losses(&model, &batch, Mode::Eval).total();
        let gradients = loss.backward();
        model = adam.step(model, &gradients, |_| 1e-3);
        // Reading the tensor that was written last submits all queued work.
        model.speakers.val().inner().into_data_async().await.expect("the device answers");
    }
    dispatches() - before
}

/// Returns the dispatches of a recurrence of 32 steps, forward and backward.
async fn of_a_recurrence(
    run: fn(Tensor<3>, Tensor<2>, Tensor<2>, ScanOptions) -> Tensor<3>,
    device: &Device,
) -> f64 {
    let device = device.clone().autodiff();
    let projected = Tensor::ones([32, 2, 16], &device).require_grad();
    let (w_hh, initial) = (Tensor::ones([4, 16], &device).require_grad(), Tensor::zeros([2, 8], &device));
    projected.clone().into_data_async().await.expect("the device answers");
    let before = dispatches();
    let gradients = run(projected, w_hh.clone(), initial, ScanOptions::default()).sum().backward();
    w_hh.grad(&gradients).expect("it takes part").into_data_async().await.expect("the device answers");
    dispatches() - before
}

#[wasm_bindgen_test]
async fn a_longer_window_dispatches_no_more() {
    Function::new_no_args(COUNTER).call0(&js_sys::global()).expect("the browser has WebGPU");
    let device = Device::wgpu_options().tasks_max(32).init_async().await.expect("a WebGPU adapter");
    let (fused, plain) =
        (of_a_recurrence(scan, &device).await, of_a_recurrence(scan_with_tensors, &device).await);
    let (short, long) = (of_a_step(16, &device).await, of_a_step(64, &device).await);
    let counted = format!(
        "dispatches: recurrence of 32 steps {fused}, op by op {plain}; whole tiny model {short} for 16 frames, {long} for 64"
    );
    web_sys::console::log_1(&counted.into());
    assert!(fused < 12.0, "{fused}");
    assert!(plain > 20.0 * fused, "the count sees no difference: {plain}");
    assert!(long <= short + 8.0, "{long} for 64 frames, {short} for 16");
    assert!(short < 700.0, "{short}");
}
