//! Finds the operation with the first non-finite output, after skipped updates or a non-finite loss.

use burn::module::Module;

use super::{FineTuner, frame_store::loss};
use crate::{Result, check::step_dump::dump_step, learn::tuner::READ_EVERY};
use burn_fused::{
    Precision, Scope,
    precision::{Culprit, Replayer, dump::About, first_fault},
    ranks::Shard,
    readback::read,
    trace::Probe,
};

#[doc(hidden)]
impl FineTuner {
    /// Returns the iteration and the operation of the first fault since the last loss was read. The iterations are computed again, with the current parameters
    /// and with the loss scale from before its last reduction. Returns `None` if all outputs are finite now.
    ///
    /// # Errors
    /// Fails with `device-lost` if the device no longer responds.
    pub async fn fault_async(&self) -> Result<Option<(usize, Culprit)>> {
        let plan = self.options.compute();
        let loss_scale = match (&self.adam.scaling, plan.precision) {
            (Some(scaling), Precision::Mixed) => 2.0 * read(scaling.clone()).await?[0],
            _ => 1.0,
        };
        let replayer = Replayer { plan: plan.clone(), device: self.base.device.clone().inner(), loss_scale };
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
