//! Gaussian upsampling (Shen et al. 2020, "Non-Attentive Tacotron", section 3.2).

use burn::{prelude::*, tensor::activation::softmax};

/// Returns the weight of every symbol in every frame, `[B, T, L]`; each frame's weights sum to one.
///
/// * `durations`: `[B, L]`, in frames
/// * `ranges`:    `[B, L]`, standard deviations in frames
/// * `times`:     `[B, T]`, each frame's centre, in frames from the start of the utterance
/// * `padding`:   `[B, L]`, true where there is no symbol
pub fn gaussian_weights(
    durations: Tensor<2>,
    ranges: Tensor<2>,
    times: Tensor<2>,
    padding: Tensor<2, Bool>,
) -> Tensor<3> {
    let [batch, symbols] = durations.dims();
    let frames = times.dims()[1];
    let centres = durations.clone().cumsum(1) - durations.div_scalar(2.0);
    let distance = times.unsqueeze_dim::<3>(2) - centres.unsqueeze_dim::<3>(1); // (B, T, 1) - (B, 1, L)
    let ranges = ranges.unsqueeze_dim::<3>(1);
    let log_density = (distance / ranges.clone()).powi_scalar(2).mul_scalar(-0.5) - ranges.log();
    let padding = padding.unsqueeze_dim::<3>(1).expand([batch, frames, symbols]);
    softmax(log_density.mask_fill(padding, -1e9), 2)
}

/// Returns the position of each frame within its symbol: `[fraction passed, fraction left, frames passed / 10, frames left / 10]`.
///
/// * `durations`: frames of each symbol; known on the host before the decoder runs, in training and in synthesis
/// * `first`:     the first frame of the window
/// * `frames`:    frames of the window; those past the last symbol are zero
pub fn frame_positions(durations: &[u32], first: usize, frames: usize) -> Vec<[f32; POSITION_WIDTH]> {
    let mut positions = Vec::with_capacity(frames);
    let mut start = 0usize;
    for &duration in durations {
        let end = start + duration as usize;
        for frame in start.max(first)..end.min(first + frames) {
            let passed = (frame - start) as f32 + 0.5;
            let left = duration as f32 - passed;
            positions.push([passed / duration as f32, left / duration as f32, passed / 10.0, left / 10.0]);
        }
        start = end;
    }
    positions.resize(frames, [0.0; POSITION_WIDTH]);
    positions
}

/// Values that [`frame_positions`] returns for a frame.
pub const POSITION_WIDTH: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_weighs_the_symbol_it_lies_in_most() {
        let device = Device::flex();
        let row = |values: [f32; 3]| Tensor::<2>::from_floats([values], &device);
        let padding = Tensor::<2, Bool>::from_data([[false, false, true]], &device);
        let weights =
            gaussian_weights(row([4.0, 2.0, 9.0]), row([0.5, 0.5, 0.5]), row([2.0, 4.0, 5.0]), padding);
        let weights = weights.into_data().try_to_vec::<f32>().unwrap();
        // Frame centres are 2, 4 and 5, symbol centres 2 and 5: the second frame is 2 and 1 away from them.
        assert!(weights[0] > 0.999 && weights[7] > 0.999, "{weights:?}");
        let expected = 1.0 / (1.0 + (-0.5f32 * (16.0 - 4.0)).exp());
        assert!((weights[4] - expected).abs() < 1e-5);
        assert_eq!([weights[2], weights[5], weights[8]], [0.0; 3]);
    }

    #[test]
    fn positions_of_a_window_follow_the_durations() {
        let positions = frame_positions(&[2, 4], 1, 3);
        assert_eq!(
            positions,
            vec![[0.75, 0.25, 0.15, 0.05], [0.125, 0.875, 0.05, 0.35], [0.375, 0.625, 0.15, 0.25]]
        );
        assert_eq!(frame_positions(&[1], 0, 2)[1], [0.0; 4]);
    }
}
