//! A clock for operations on a device: the time of forward and backward passes, and the work that they queue.

use burn::{Tensor, prelude::*};
use serde::Serialize;
use web_time::Instant;

use crate::{Error, Result};
use burn_fused::readback::read;

/// The number of runs that are not timed, in which pipelines are compiled and memory is allocated.
pub const WARM_UP: usize = 3;

/// The mean time and work of a module.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub module: &'static str,
    pub forward_ms: f64,
    /// `None` where there is no backward pass.
    pub backward_ms: Option<f64>,
    /// The work of the forward pass; `None` where it is not counted.
    pub forward_work: Option<Work>,
    /// The work of the backward pass; `None` where it is not counted.
    pub backward_work: Option<Work>,
}

/// The work of a device: dispatches, and the bytes of the buffers that they read or write, counted once per dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Work {
    pub dispatches: f64,
    pub bytes: f64,
}

impl Work {
    fn less(self, other: Self) -> Self {
        Self { dispatches: self.dispatches - other.dispatches, bytes: self.bytes - other.bytes }
    }
}

/// The time and work of an action.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    pub milliseconds: f64,
    /// `None` where it is not counted.
    work: Option<Work>,
}

impl Reading {
    fn mean(readings: &[Self]) -> Self {
        let count = readings.len() as f64;
        let milliseconds = readings.iter().map(|reading| reading.milliseconds).sum::<f64>() / count;
        let works: Option<Vec<Work>> = readings.iter().map(|reading| reading.work).collect();
        let work = works.map(|works| {
            let mean = |value: fn(&Work) -> f64| works.iter().map(value).sum::<f64>() / count;
            Work { dispatches: mean(|work| work.dispatches), bytes: mean(|work| work.bytes) }
        });
        Self { milliseconds, work }
    }
}

/// Times actions, and collects their means as rows.
pub struct Clock<'a, G> {
    device: &'a Device,
    runs: usize,
    /// Returns the work so far, where it is counted.
    work: &'a dyn Fn() -> Option<Work>,
    /// The work of waiting for the device, which is subtracted from each reading.
    idle: Option<Work>,
    pub rows: Vec<Row>,
    /// The number of rows that there will be.
    modules: usize,
    /// Called with the number of finished modules and their total; `false` cancels.
    go_on: G,
}

/// Returns a clock that measures only time, and that nothing cancels.
pub fn stopwatch(
    device: &Device,
    runs: usize,
    modules: usize,
) -> Clock<'_, impl AsyncFnMut(usize, usize) -> bool> {
    Clock { device, runs, work: &|| None, idle: None, rows: Vec::new(), modules, go_on: async |_, _| true }
}

impl<'a, G: AsyncFnMut(usize, usize) -> bool> Clock<'a, G> {
    /// Creates a clock and measures the work of waiting.
    ///
    /// * `runs`:    timed runs of each action
    /// * `work`:    returns the work so far, where it is counted
    /// * `modules`: the number of rows that there will be
    pub async fn start(
        device: &'a Device,
        runs: usize,
        work: &'a dyn Fn() -> Option<Work>,
        modules: usize,
        go_on: G,
    ) -> Result<Self> {
        let mut clock = Self { device, runs, work, idle: None, rows: Vec::new(), modules, go_on };
        clock.wait().await?;
        clock.idle = clock.reading(|| ()).await?.work;
        Ok(clock)
    }

    /// Waits until all queued work is done. Reading a value back waits on every device, and is the only way to wait in a browser.
    async fn wait(&self) -> Result<()> {
        read(Tensor::<1>::zeros([1], &self.device.clone().inner())).await?;
        Ok(())
    }

    /// Runs an action and waits for all work that it queued.
    async fn reading(&self, action: impl FnOnce()) -> Result<Reading> {
        let before = (self.work)();
        let begun = Instant::now();
        action();
        self.wait().await?;
        let milliseconds = begun.elapsed().as_secs_f64() * 1e3;
        let queued = (self.work)().zip(before).map(|(now, before)| now.less(before));
        Ok(Reading {
            milliseconds,
            work: queued.map(|queued| self.idle.map_or(queued, |idle| queued.less(idle))),
        })
    }

    /// Adds a row, and reports progress. Fails with `cancelled` where `go_on` returns false.
    async fn put(&mut self, module: &'static str, forward: Reading, backward: Option<Reading>) -> Result<()> {
        self.rows.push(Row {
            module,
            forward_ms: forward.milliseconds,
            backward_ms: backward.map(|backward| backward.milliseconds),
            forward_work: forward.work,
            backward_work: backward.and_then(|backward| backward.work),
        });
        if (self.go_on)(self.rows.len(), self.modules).await { Ok(()) } else { Err(Error::cancelled()) }
    }

    /// Times the forward and backward pass of a module, and adds a row.
    pub async fn both<const D: usize>(
        &mut self,
        module: &'static str,
        forward: impl Fn() -> Tensor<D>,
    ) -> Result<()> {
        let (mut forwards, mut backwards) = (Vec::new(), Vec::new());
        for run in 0..WARM_UP + self.runs {
            let mut output = None;
            let forward_reading = self.reading(|| output = Some(forward())).await?;
            let sum = output.expect("the forward pass ran").sum();
            let mut gradients = None;
            let backward_reading = self.reading(|| gradients = Some(sum.backward())).await?;
            if run >= WARM_UP {
                forwards.push(forward_reading);
                backwards.push(backward_reading);
            }
        }
        self.put(module, Reading::mean(&forwards), Some(Reading::mean(&backwards))).await
    }

    /// Times an action without a backward pass, and adds a row.
    pub async fn alone(&mut self, module: &'static str, action: impl FnMut()) -> Result<()> {
        let mean = self.mean(action).await?;
        self.put(module, mean, None).await
    }

    /// Returns the mean reading of an action.
    pub async fn mean(&self, mut action: impl FnMut()) -> Result<Reading> {
        let mut readings = Vec::new();
        for run in 0..WARM_UP + self.runs {
            let reading = self.reading(&mut action).await?;
            if run >= WARM_UP {
                readings.push(reading);
            }
        }
        Ok(Reading::mean(&readings))
    }
}
