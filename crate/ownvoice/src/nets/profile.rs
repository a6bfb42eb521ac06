//! The profile of a training step of a net: time by stage, as [`crate::check::profile`] has it for voices.

use burn::prelude::*;

use super::{LossKind, Net, NetConfig, PictureNet, Targets, layers::mean_pool, precision::default_plan};
use crate::{
    Error, Result,
    check::profile::{Row, stopwatch},
};
use burn_fused::{
    Mode, Precision, Scope,
    adam::{Adam, AdamConfig},
};

/// Options of a profile.
#[derive(Debug, Clone, Copy)]
pub struct NetProfileOptions {
    /// The number of pictures in a batch.
    pub batch: usize,
    /// The number of timed runs, after [`WARM_UP`](crate::check::profile::WARM_UP) runs that are not timed.
    pub runs: usize,
    /// Whether layers normalise by the statistics of the batch or by running ones.
    pub mode: Mode,
    pub precision: Precision,
}

impl Default for NetProfileOptions {
    fn default() -> Self {
        Self { batch: 16, runs: 10, mode: Mode::Eval, precision: Precision::F32 }
    }
}

/// Profiles a net with random weights on pictures of noise. Fails with `option-invalid`, `precision-unsupported` or `device-lost`.
pub async fn profile_net(
    config: &NetConfig,
    device: &Device,
    options: NetProfileOptions,
) -> Result<Vec<Row>> {
    let NetProfileOptions { batch, runs, mode, precision } = options;
    if batch == 0 || runs == 0 {
        return Err(Error::option_invalid("runs and batch must be positive"));
    }
    if !precision.runs_on(device) {
        return Err(Error::precision_unsupported());
    }
    let device = &device.clone().inner().autodiff();
    let scope = Scope::new(default_plan(config, precision)?);
    let mut net = PictureNet::new(config, 1, device)?.computing(&scope);
    let noise = burn::tensor::Distribution::Normal(0.0, 1.0);
    let pictures = Tensor::<4>::random([batch, config.side, config.side, config.channels], noise, device);
    let targets = Targets::Classes((0..batch).map(|picture| picture % config.classes).collect());
    let loss = |logits| LossKind::CrossEntropy.compute(logits, &targets).expect("a class a picture");

    let stages = net.stages(mode);
    let clock = &mut stopwatch(device, runs, stages.len() + 4);
    let mut maps = pictures.clone();
    for stage in stages {
        clock.both(stage.name, || stage.forward(maps.clone())).await?;
        maps = stage.forward(maps).detach().require_grad();
    }
    let features = mean_pool(maps).detach().require_grad();
    clock.both("classifier", || net.classify(features.clone())).await?;
    let logits = net.classify(features).detach().require_grad();
    clock.both("loss", || loss(logits.clone())).await?;

    let mut adam = Adam::new(AdamConfig { precision, ..AdamConfig::default() });
    let gradients = adam.scaled(loss(net.forward(pictures.clone(), mode))).backward();
    clock.alone("optimizer", || drop(adam.step(net.clone(), &gradients, |_| 1e-4))).await?;
    clock
        .alone("whole step", || {
            let gradients = adam.scaled(loss(net.forward(pictures.clone(), mode))).backward();
            net = adam.step(net.clone(), &gradients, |_| 1e-4);
        })
        .await?;
    Ok(std::mem::take(&mut clock.rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::NetKind;

    #[test]
    fn each_stage_has_a_row() {
        for (kind, stages) in [(NetKind::LeNet, 3), (NetKind::ResNet18, 5), (NetKind::MobileNetV1, 6)] {
            let config = NetConfig { side: 16, width: 0.1, ..NetConfig::of(kind, 2) };
            let options = NetProfileOptions { batch: 2, runs: 1, ..NetProfileOptions::default() };
            let rows = pollster::block_on(profile_net(&config, &Device::flex(), options)).unwrap();
            assert_eq!(rows.len(), stages + 4);
            for row in &rows {
                assert!(row.forward_ms > 0.0 && row.backward_ms.is_none_or(|time| time > 0.0), "{row:?}");
            }
            let time = |module: &str| rows.iter().find(|row| row.module == module).unwrap().forward_ms;
            assert!(time("whole step") > time("optimizer"), "a whole step includes the optimizer");
        }
        let none = NetProfileOptions { runs: 0, ..NetProfileOptions::default() };
        let config = NetConfig::of(NetKind::LeNet, 2);
        assert_eq!(
            pollster::block_on(profile_net(&config, &Device::flex(), none)).unwrap_err().code(),
            "option-invalid"
        );
    }
}
