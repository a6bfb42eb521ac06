//! Which operation made something that is no number, after iterations that were left out or a loss that is none.

use burn::module::Module;

use super::{FineTuner, READ_EVERY, Shard, frame_store::loss};
use crate::{Result, check::step_dump::dump_step};
use burn_fused::{
    Precision, Scope,
    precision::{Culprit, Replayer, dump::About, first_fault},
    readback::read,
    trace::Probe,
};

#[doc(hidden)]
impl FineTuner {
    /// The first operation at fault in the latest iterations, those since a loss was last read, and the iteration. They are computed again, with the current
    /// parameters and at the loss' scale before it last fell; `None` where everything is a number now.
    ///
    /// Fails with `device-lost` where the device no longer answers.
    pub async fn fault_async(&self) -> Result<Option<(usize, Culprit)>> {
        let plan = self.options.compute();
        let loss_scale = match (&self.adam.scaling, plan.precision) {
            (Some(scaling), Precision::Mixed) => 2.0 * read(scaling.clone()).await?[0],
            _ => 1.0,
        };
        let replayer = Replayer { plan: plan.clone(), device: self.device.clone().inner(), loss_scale };
        let done = self.iteration();
        for iteration in done.saturating_sub(READ_EVERY)..done {
            let probe = Probe::default();
            let scope = Scope::recorded(plan.clone(), &probe);
            let parts = self.parts.valid().train().computing(&scope);
            let windows = self.dataset.windows(iteration, self.in_cooldown(), Shard::WHOLE);
            let about = About { plan: plan.clone(), loss_scale, ..About::default() };
            let dump =
                dump_step(parts, &scope, about, |parts| vec![("total", loss(parts, &windows))]).await?;
            if let Some(culprit) = first_fault(&dump, &replayer).await? {
                return Ok(Some((iteration + 1, culprit)));
            }
        }
        Ok(None)
    }
}
