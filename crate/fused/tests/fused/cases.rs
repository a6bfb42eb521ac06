//! Compares each fused operation with its plain reference, values and gradients, on any device: natively and, by `web/tests/fused.rs`, in the browser.

use burn::module::Param;
use burn::nn::{Linear, LinearConfig};
use burn::prelude::*;
use burn::tensor::{FloatDType, Gradients};
use burn_fused::{
    Compute, ComputePlan, Mode, Precision, Scope,
    adam::{Adam, AdamConfig},
    attention::AttentionMemory,
    conv::{Activation, ConvNorm, activate_with_tensors, unfold, unfold_with_tensors},
    depthwise::{convolve_depthwise, convolve_depthwise_with_tensors},
    loss::{spectrogram_loss, spectrogram_loss_with_tensors},
    lstm::{ScanOptions, scan, scan_with_tensors},
    matmul,
    patches::{Patch, unfold_patches, unfold_patches_with_tensors},
};

/// Passes to a macro the names of the cases that run on every device, which [`half_precision`] and [`attention_scan`] do not.
macro_rules! each {
    ($test:ident) => {
        $test! { recurrence matmul matmul_concat convolution patches depthwise loss optimizer overflow attention }
    };
}
pub(crate) use each;

/// The largest absolute difference; values and gradients are of order one.
const TOLERANCE: f32 = 1e-4;

/// Returns pseudo-random values between -1 and 1 that depend on `seed`.
fn noise<const D: usize>(shape: [usize; D], seed: usize, device: &Device) -> Tensor<D> {
    let count = shape.iter().product();
    let value = |index: usize| (0.3 + 1.7 * seed as f64 + 12.9898 * index as f64).sin() * 43_758.547;
    let values: Vec<f32> =
        (0..count).map(|index| (2.0 * value(index).rem_euclid(1.0) - 1.0) as f32).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

async fn read<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data_async().await.expect("the device answers").try_to_vec::<f32>().expect("f32")
}

async fn gradient<const D: usize>(tensor: &Tensor<D>, gradients: &Gradients) -> Vec<f32> {
    read(tensor.grad(gradients).expect("the loss depends on it")).await
}

fn same(what: &str, fused: &[Vec<f32>], plain: &[Vec<f32>]) {
    within(TOLERANCE, what, fused, plain);
}

fn within(tolerance: f32, what: &str, fused: &[Vec<f32>], plain: &[Vec<f32>]) {
    assert_eq!(fused.len(), plain.len());
    for (index, (fused, plain)) in fused.iter().zip(plain).enumerate() {
        assert_eq!(fused.len(), plain.len(), "{what}, tensor {index}");
        let worst = fused
            .iter()
            .zip(plain)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, |worst: f32, error| if error > worst || error.is_nan() { error } else { worst });
        assert!(worst < tolerance, "{what}: tensor {index} deviates by {worst:e}");
    }
}

/// The recurrence, with odd sizes, one item, one step, more items than a workgroup holds, more units than it has threads, and lengths.
pub async fn recurrence(device: &Device) {
    let masked = |reverse, lengths: &[usize]| ScanOptions { reverse, lengths: Some(lengths.to_vec()) };
    let cases = [
        (7, 3, 5, ScanOptions::default()),
        (1, 1, 1, ScanOptions::default()),
        (3, 1, 64, ScanOptions::default()),
        (9, 2, 33, ScanOptions { reverse: true, lengths: None }),
        (4, 9, 34, ScanOptions::default()),
        (2, 5, 300, ScanOptions::default()),
        (2, 3, 520, ScanOptions { reverse: true, lengths: None }),
        (6, 3, 8, masked(false, &[6, 1, 4])),
        (6, 3, 8, masked(true, &[6, 1, 4])),
        (6, 3, 8, masked(true, &[2, 6, 3])),
    ];
    let device = device.clone().autodiff();
    for (number, (steps, batch, width, options)) in cases.into_iter().enumerate() {
        let projected = noise([steps, batch, 4 * width], number, &device).require_grad();
        // Keeps sums over many units of order one.
        let w_hh = noise([width, 4 * width], number + 20, &device)
            .div_scalar((width as f32).sqrt())
            .detach()
            .require_grad();
        let initial = noise([batch, 2 * width], number + 40, &device).require_grad();
        let weights = noise([steps, batch, 2 * width], number + 60, &device);
        let mut results = Vec::new();
        for run in [scan, scan_with_tensors] {
            let states = run(projected.clone(), w_hh.clone(), initial.clone(), options.clone());
            let gradients = (states.clone() * weights.clone()).sum().backward();
            results.push([
                read(states).await,
                gradient(&projected, &gradients).await,
                gradient(&w_hh, &gradients).await,
                gradient(&initial, &gradients).await,
            ]);
        }
        same(&format!("{steps} steps of {batch} x {width}, {options:?}"), &results[0], &results[1]);
    }
}

/// The product, smaller than the tile of a workgroup and larger in each direction. Its gradients cover transposed operands.
pub async fn matmul(device: &Device) {
    let device = device.clone().autodiff();
    for (number, [rows, terms, columns]) in
        [[1, 1, 1], [5, 1, 3], [3, 200, 1], [64, 16, 64], [70, 130, 67]].into_iter().enumerate()
    {
        let a = noise([rows, terms], number, &device).require_grad();
        let b = noise([terms, columns], number + 20, &device).require_grad();
        let weights = noise([rows, columns], number + 40, &device);
        let mut results = Vec::new();
        for made in [matmul::matmul(a.clone(), b.clone(), Precision::F32), a.clone().matmul(b.clone())] {
            let gradients = (made.clone() * weights.clone()).sum().backward();
            results.push([read(made).await, gradient(&a, &gradients).await, gradient(&b, &gradients).await]);
        }
        same(&format!("{rows} x {terms} times {terms} x {columns}"), &results[0], &results[1]);
    }
}

/// The concatenated product, whose first part changes at each step, with and without a gradient of that part.
pub async fn matmul_concat(device: &Device) {
    let device = device.clone().autodiff();
    for (number, [steps, batch, width, constant, columns]) in
        [[1, 1, 1, 1, 1], [7, 3, 5, 2, 33], [20, 4, 70, 17, 66]].into_iter().enumerate()
    {
        let scale = (width as f32).sqrt();
        let inputs = noise([steps, batch, width], number, &device).div_scalar(scale);
        let constant_input = noise([batch, constant], number + 20, &device).require_grad();
        let weight = noise([width + constant, columns], number + 40, &device).require_grad();
        let weights = noise([steps, batch, columns], number + 60, &device).div_scalar(steps as f32);
        for requires_gradient in [false, true] {
            let inputs = inputs.clone().detach().set_require_grad(requires_gradient);
            let plain = matmul::matmul_concat_with_tensors(
                inputs.clone(),
                constant_input.clone(),
                weight.clone(),
                Precision::F32,
            );
            let mut results = Vec::new();
            for made in [
                matmul::matmul_concat(inputs.clone(), constant_input.clone(), weight.clone(), Precision::F32),
                plain,
            ] {
                let gradients = (made.clone() * weights.clone()).sum().backward();
                let mut found = vec![
                    read(made).await,
                    gradient(&constant_input, &gradients).await,
                    gradient(&weight, &gradients).await,
                ];
                if requires_gradient {
                    found.push(gradient(&inputs, &gradients).await);
                }
                results.push(found);
            }
            same(
                &format!("{width} and {constant} inputs, {columns} outputs, {steps} steps of {batch}"),
                &results[0],
                &results[1],
            );
        }
    }
}

/// Convolution, normalisation by running statistics and activation, with sequences shorter than the kernel, more channels than a workgroup sums, more rows, terms
/// and columns than the tile of a workgroup, and channels for which the CPU uses Winograd tiles, with whole and partial tiles.
pub async fn convolution(device: &Device) {
    let cases = [
        (2, 7, 3, 5, 5, Activation::Tanh),
        (1, 1, 1, 1, 1, Activation::None),
        (3, 2, 2, 5, 7, Activation::Relu),
        (2, 40, 4, 3, 37, Activation::Tanh),
        (2, 50, 15, 5, 70, Activation::Tanh),
        (1, 1, 32, 5, 48, Activation::None),
        (3, 8, 48, 5, 32, Activation::Tanh),
        (2, 21, 32, 5, 80, Activation::Relu),
    ];
    let device = device.clone().autodiff();
    for (number, (batch, steps, inputs, taps, outputs, activation)) in cases.into_iter().enumerate() {
        let mut layer = ConvNorm::new(inputs, outputs, taps, &device);
        layer.weight = Param::from_tensor(noise([taps * inputs, outputs], number, &device));
        layer.norm.gamma = Param::from_tensor(noise([outputs], number + 20, &device));
        layer.norm.beta = Param::from_tensor(noise([outputs], number + 30, &device));
        layer.norm.running_mean.update(noise([outputs], number + 40, &device));
        layer.norm.running_var.update(noise([outputs], number + 50, &device) + 1.5);
        // burn applies an update at the next synchronisation.
        layer.norm.running_mean.value_sync();
        layer.norm.running_var.value_sync();
        let input = noise([batch, steps, inputs], number + 10, &device).require_grad();
        let weights = noise([batch, steps, outputs], number + 60, &device);
        let plain = || {
            let plain = layer.clone().computing(&Scope::new(ComputePlan::reference()));
            plain.forward(input.clone(), activation, Mode::Eval)
        };
        let mut results = Vec::new();
        for output in [layer.forward(input.clone(), activation, Mode::Eval), plain()] {
            let gradients = (output.clone() * weights.clone()).sum().backward();
            results.push([
                read(output).await,
                gradient(&input, &gradients).await,
                gradient(&layer.weight.val(), &gradients).await,
                gradient(&layer.norm.gamma.val(), &gradients).await,
                gradient(&layer.norm.beta.val(), &gradients).await,
            ]);
        }
        same(
            &format!(
                "convolution {batch} x {steps} x {inputs}, {taps} taps, {outputs} outputs, {activation:?}"
            ),
            &results[0],
            &results[1],
        );
    }
    // With batch statistics, burn normalises and only the activation is fused.
    for activation in [Activation::Relu, Activation::Tanh] {
        let mut layer = ConvNorm::new(3, 37, 3, &device);
        layer.weight = Param::from_tensor(noise([9, 37], 80, &device));
        let input = noise([2, 9, 3], 81, &device).require_grad();
        let weights = noise([2, 9, 37], 82, &device);
        let normed = || layer.forward(input.clone(), Activation::None, Mode::Train);
        let plain = activate_with_tensors(normed(), activation);
        let mut results = Vec::new();
        for output in [layer.forward(input.clone(), activation, Mode::Train), plain] {
            let gradients = (output.clone() * weights.clone()).sum().backward();
            results.push([read(output).await, gradient(&input, &gradients).await]);
        }
        same(&format!("{activation:?}"), &results[0], &results[1]);
    }
    let input = noise([1, 3, 2], 70, &device);
    same("unfolding", &[read(unfold(input.clone(), 3)).await], &[read(unfold_with_tensors(input, 3)).await]);
}

/// Patches, with strides that divide the picture and others, a picture smaller than a patch, and a single tap.
pub async fn patches(device: &Device) {
    let device = device.clone().autodiff();
    for (number, (side, stride, [height, width])) in
        [(3, 1, [4, 5]), (3, 2, [5, 4]), (5, 2, [6, 7]), (3, 3, [6, 6]), (1, 1, [2, 2]), (5, 1, [1, 2])]
            .into_iter()
            .enumerate()
    {
        let patch = Patch { side, stride };
        let input = noise([2, height, width, 3, 2], number, &device).require_grad();
        let shape = [2, patch.count(height), patch.count(width), 3, side * side * 2];
        let weights = noise(shape, number + 10, &device);
        let mut results = Vec::new();
        for run in [unfold_patches, unfold_patches_with_tensors] {
            let output = run(input.clone(), patch);
            assert_eq!(output.dims(), shape);
            let gradients = (output.clone() * weights.clone()).sum().backward();
            results.push([read(output).await, gradient(&input, &gradients).await]);
        }
        same(&format!("patches of {height} x {width}, {patch:?}"), &results[0], &results[1]);
    }
}

/// Convolutions of each channel alone, with the strides and sizes of [`patches`].
pub async fn depthwise(device: &Device) {
    let device = device.clone().autodiff();
    for (number, (side, stride, [height, width])) in
        [(3, 1, [4, 5]), (3, 2, [5, 4]), (5, 2, [6, 7]), (3, 3, [6, 6]), (1, 1, [2, 2]), (5, 1, [1, 2])]
            .into_iter()
            .enumerate()
    {
        let patch = Patch { side, stride };
        let input = noise([2, height, width, 7], number, &device).require_grad();
        let weight = noise([side * side, 7], number + 10, &device).require_grad();
        let shape = [2, patch.count(height), patch.count(width), 7];
        let weights = noise(shape, number + 20, &device);
        let mut results = Vec::new();
        for run in [convolve_depthwise, convolve_depthwise_with_tensors] {
            let output = run(input.clone(), weight.clone(), patch);
            assert_eq!(output.dims(), shape);
            let gradients = (output.clone() * weights.clone()).sum().backward();
            results.push([
                read(output).await,
                gradient(&input, &gradients).await,
                gradient(&weight, &gradients).await,
            ]);
        }
        same(&format!("each channel of {height} x {width}, {patch:?}"), &results[0], &results[1]);
    }
}

/// The loss, with masked frames and with more frames than partial sums.
pub async fn loss(device: &Device) {
    let device = device.clone().autodiff();
    for (number, (batch, steps, mels)) in [(2, 3, 5), (1, 1, 1), (3, 50, 80)].into_iter().enumerate() {
        let predicted = noise([batch, steps, mels], number, &device).require_grad();
        let targets = noise([batch, steps, mels], number + 10, &device);
        let mask = noise([batch, steps, 1], number + 20, &device).greater_elem(-0.5).float();
        let valid = (read(mask.clone()).await.iter().sum::<f32>() as usize).max(1);
        let mut results = Vec::new();
        for run in [spectrogram_loss, spectrogram_loss_with_tensors] {
            let value = run(predicted.clone(), targets.clone(), mask.clone(), valid);
            let gradients = value.backward();
            results.push([read(value).await, gradient(&predicted, &gradients).await]);
        }
        same(&format!("loss of {batch} x {steps} x {mels}"), &results[0], &results[1]);
    }
}

/// Three updates of two parameters, the first of which is clipped, compared with the formulas in f64 on the host.
pub async fn optimizer(device: &Device) {
    let device = device.clone().autodiff();
    let mut layer: Linear = LinearConfig::new(70, 50).init(&device);
    layer.weight = Param::from_tensor(noise([70, 50], 1, &device));
    layer.bias = Some(Param::from_tensor(noise([50], 2, &device)));
    let mut weights = [read(layer.weight.val()).await, read(layer.bias.clone().expect("given").val()).await];
    let config = AdamConfig {
        beta_1: 0.9,
        beta_2: 0.99,
        epsilon: 1e-3,
        weight_decay: 0.1,
        clip_norm: 20.0,
        ..AdamConfig::default()
    };
    let (rate, [beta_1, beta_2, epsilon]) = (0.05, [0.9f64, 0.99, 1e-3]);
    let mut adam = Adam::new(config);
    let mut moments = weights.clone().map(|values| vec![(0.0f64, 0.0f64); values.len()]);
    for update in 1..=3 {
        let input = noise([4, 70], 10 + update, &device).mul_scalar(if update == 1 { 3.0 } else { 0.01 });
        let gradients = (layer.forward(input) * noise([4, 50], 20 + update, &device)).sum().backward();
        let bias = layer.bias.clone().expect("given").val();
        let grads = [gradient(&layer.weight.val(), &gradients).await, gradient(&bias, &gradients).await];
        layer = adam.step(layer, &gradients, |_| rate);

        let norm = grads.iter().flatten().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        assert_eq!(norm > 20.0, update == 1, "only the first update is clipped: {norm}");
        let scale = (20.0 / norm).min(1.0);
        let (first_correction, second_correction) =
            (1.0 - beta_1.powi(update as i32), 1.0 - beta_2.powi(update as i32));
        for ((weights, grads), moments) in weights.iter_mut().zip(&grads).zip(&mut moments) {
            for ((weight, grad), (first, second)) in weights.iter_mut().zip(grads).zip(moments) {
                let grad = f64::from(*grad) * scale;
                *first = beta_1 * *first + (1.0 - beta_1) * grad;
                *second = beta_2 * *second + (1.0 - beta_2) * grad * grad;
                let step =
                    rate * second_correction.sqrt() / first_correction * *first / (second.sqrt() + epsilon);
                *weight = (f64::from(*weight) * (1.0 - rate * 0.1) - step) as f32;
            }
        }
        let now = [read(layer.weight.val()).await, read(layer.bias.clone().expect("given").val()).await];
        same(&format!("weights after update {update}"), &now, &weights);
    }
}

/// An update with non-finite gradients is skipped and counted, and the next one is made.
pub async fn overflow(device: &Device) {
    let device = device.clone().autodiff();
    let mut layer: Linear = LinearConfig::new(70, 50).with_bias(false).init(&device);
    layer.weight = Param::from_tensor(noise([70, 50], 1, &device));
    let before = read(layer.weight.val()).await;
    let mut adam = Adam::new(AdamConfig { precision: Precision::Mixed, ..AdamConfig::default() });
    let input = noise([4, 70], 10, &device);
    let loss = |layer: &Linear, factor: f32| layer.forward(input.clone()).powi_scalar(2).mean() * factor;
    for (factor, overflows) in [(f32::MAX, 1.0), (1.0, 1.0), (f32::NAN, 2.0)] {
        let now = read(layer.weight.val()).await;
        let gradients = adam.scaled(loss(&layer, factor)).backward();
        layer = adam.step(layer, &gradients, |_| 0.1);
        assert_eq!(
            read(adam.overflows(&device.clone().inner())).await,
            [overflows],
            "after a factor of {factor}"
        );
        assert_eq!(read(layer.weight.val()).await == now, factor != 1.0, "after a factor of {factor}");
    }
    assert_ne!(read(layer.weight.val()).await, before);
}

/// The recurrence with weights in half precision, which it multiplies in single precision, unfolding, and a product. Returns false if the device does not support
/// half precision.
pub async fn half_precision(device: &Device) -> bool {
    if !Precision::Mixed.runs_on(device) {
        return false;
    }
    /// The rounding error of the gates, and of both factors of the gradient of the weights, in f16.
    const HALF_TOLERANCE: f32 = 4e-3;
    let device = device.clone().autodiff();
    let half = |tensor: Tensor<2>| tensor.cast(FloatDType::F16);
    for (number, (steps, batch, width, reverse)) in
        [(7, 3, 5, false), (4, 9, 34, true), (2, 3, 300, false)].into_iter().enumerate()
    {
        let projected = noise([steps, batch, 4 * width], number, &device).require_grad();
        let w_hh = noise([width, 4 * width], number + 20, &device)
            .div_scalar((width as f32).sqrt())
            .detach()
            .require_grad();
        let initial = noise([batch, 2 * width], number + 40, &device).require_grad();
        let weights = noise([steps, batch, 2 * width], number + 60, &device);
        let options = ScanOptions { reverse, lengths: None };
        let mut results = Vec::new();
        for run in [scan, scan_with_tensors] {
            let states = run(projected.clone(), half(w_hh.clone()), initial.clone(), options.clone());
            let gradients = (states.clone() * weights.clone()).sum().backward();
            results.push([
                read(states).await,
                gradient(&projected, &gradients).await,
                gradient(&w_hh, &gradients).await,
                gradient(&initial, &gradients).await,
            ]);
        }
        within(
            HALF_TOLERANCE,
            &format!("{steps} steps of {batch} x {width} in half precision"),
            &results[0],
            &results[1],
        );
    }
    let input = noise([2, 7, 3], 70, &device).require_grad();
    let weights = noise([2, 7, 15], 71, &device);
    let mut results = Vec::new();
    for run in [unfold, unfold_with_tensors] {
        let unfolded = run(input.clone().cast(FloatDType::F16), 5).cast(FloatDType::F32);
        let gradients = (unfolded.clone() * weights.clone()).sum().backward();
        results.push([read(unfolded).await, gradient(&input, &gradients).await]);
    }
    within(HALF_TOLERANCE, "unfolding in half precision", &results[0], &results[1]);
    let a = noise([70, 90], 72, &device).require_grad();
    let b = noise([90, 67], 73, &device).div_scalar(10.0).detach().require_grad();
    let weights = noise([70, 67], 74, &device).div_scalar(10.0);
    let rounded = |tensor: &Tensor<2>| half(tensor.clone()).cast(FloatDType::F32);
    let mut results = Vec::new();
    for made in [matmul::matmul(a.clone(), b.clone(), Precision::Mixed), rounded(&a).matmul(rounded(&b))] {
        let gradients = (made.clone() * weights.clone()).sum().backward();
        results.push([read(made).await, gradient(&a, &gradients).await, gradient(&b, &gradients).await]);
    }
    within(HALF_TOLERANCE, "a product in half precision", &results[0], &results[1]);
    true
}

/// Returns a mask `[B, L]` in which each item ends earlier than the one before; the first has all symbols.
fn mask(batch: usize, symbols: usize, device: &Device) -> Tensor<2> {
    let values: Vec<f32> = (0..batch * symbols)
        .map(|at| f32::from(u8::from(at % symbols < symbols.div_ceil(1 + at / symbols))))
        .collect();
    Tensor::from_data(TensorData::new(values, [batch, symbols]), device)
}

/// Returns random inputs of attention that require gradients.
fn attended(
    [batch, symbols, width, channels, taps]: [usize; 5],
    seed: usize,
    device: &Device,
) -> AttentionMemory {
    let location = noise([2 * taps, width], seed + 4, device).div_scalar(taps as f32);
    AttentionMemory {
        keys: noise([batch, symbols, width], seed + 1, device).require_grad(),
        values: noise([batch, symbols, channels], seed + 2, device).require_grad(),
        mask: mask(batch, symbols, device),
        energy: noise([width, 1], seed + 3, device).require_grad(),
        location: location.detach().require_grad(),
        compute: Compute::default(),
    }
}

/// A step of attention, with masks, texts shorter than the kernel and longer than a workgroup, and more units than threads.
pub async fn attention(device: &Device) {
    let device = device.clone().autodiff();
    for (number, (batch, symbols, width, channels, taps)) in
        [(2, 7, 5, 3, 5), (1, 1, 1, 1, 1), (3, 2, 8, 6, 7), (2, 300, 4, 9, 3), (1, 4, 300, 300, 5)]
            .into_iter()
            .enumerate()
    {
        let query = noise([batch, width], number + 40, &device).require_grad();
        let before =
            noise([batch, 2 * symbols + channels], number + 50, &device).abs().detach().require_grad();
        let attended = attended([batch, symbols, width, channels, taps], 100 * number, &device);
        let weights = noise([batch, 2 * symbols + channels], number + 60, &device);
        let mut results = Vec::new();
        for step in [AttentionMemory::attend, AttentionMemory::attend_with_tensors] {
            let output = step(&attended, query.clone(), before.clone());
            let gradients = (output.clone() * weights.clone()).sum().backward();
            results.push([
                read(output).await,
                gradient(&query, &gradients).await,
                gradient(&attended.keys, &gradients).await,
                gradient(&attended.energy, &gradients).await,
                gradient(&attended.location, &gradients).await,
                gradient(&before, &gradients).await,
                gradient(&attended.values, &gradients).await,
            ]);
        }
        same(
            &format!(
                "attention of {batch} over {symbols} symbols of {width}, {channels} channels, {taps} taps"
            ),
            &results[0],
            &results[1],
        );
    }
}

/// A sequence of attention, with texts of several lengths, one step, one item, and a second call that continues the first. It is not part of the WebAssembly.
#[cfg(not(target_arch = "wasm32"))]
pub async fn attention_scan(device: &Device) {
    let device = device.clone().autodiff();
    for (number, (steps, batch, symbols, width, channels, hidden, taps)) in
        [(9, 3, 7, 5, 3, 4, 5), (1, 1, 1, 1, 1, 1, 1), (2, 1, 4, 8, 6, 70, 7), (12, 5, 20, 9, 33, 17, 3)]
            .into_iter()
            .enumerate()
    {
        let inputs = 6;
        let leaf = |shape: [usize; 2], seed: usize, scale: f32| {
            noise(shape, 10 * number + seed, &device).div_scalar(scale).detach().require_grad()
        };
        let query = leaf([hidden, width], 3, 1.0);
        let lstm_inputs = noise([steps, batch, inputs], 10 * number + 6, &device).require_grad();
        let (state, start) = (
            leaf([batch, 2 * hidden], 7, 1.0),
            noise([batch, 2 * symbols + channels], 10 * number + 8, &device).abs().detach().require_grad(),
        );
        let lstm = burn_fused::lstm::Lstm::new(inputs + channels, hidden, &device);
        let memory = attended([batch, symbols, width, channels, taps], 100 * number, &device);
        let mut results = Vec::new();
        for scan in [AttentionMemory::scan, AttentionMemory::scan_by_steps] {
            let first =
                scan(&memory, lstm_inputs.clone(), &lstm, query.clone(), state.clone(), start.clone());
            let found = scan(&memory, lstm_inputs.clone(), &lstm, query.clone(), first.state, first.attended);
            let outputs = Tensor::cat(vec![found.context, found.hidden, found.weights, first.context], 2);
            let last = Tensor::cat(vec![found.state, found.attended], 1);
            let (output_weights, last_weights) = (
                noise(outputs.dims(), 10 * number + 9, &device),
                noise(last.dims(), 10 * number + 10, &device),
            );
            let gradients =
                ((outputs.clone() * output_weights).sum() + (last.clone() * last_weights).sum()).backward();
            results.push([
                read(outputs).await,
                read(last).await,
                gradient(&lstm_inputs, &gradients).await,
                gradient(&lstm.w_ih.val(), &gradients).await,
                gradient(&lstm.w_hh.val(), &gradients).await,
                gradient(&lstm.bias.val(), &gradients).await,
                gradient(&query, &gradients).await,
                gradient(&memory.keys, &gradients).await,
                gradient(&memory.energy, &gradients).await,
                gradient(&memory.location, &gradients).await,
                gradient(&memory.values, &gradients).await,
                gradient(&state, &gradients).await,
                gradient(&start, &gradients).await,
            ]);
        }
        same(
            &format!("{steps} steps of attention of {batch} over {symbols} symbols"),
            &results[0],
            &results[1],
        );
    }
}
