//! The comparison of a training step on two sides, and the bisection of its operations.

use std::collections::{BTreeMap, BTreeSet};

use burn::{module::Module, prelude::*};

use super::step_dump::{Side, StepConfig, Stepped, first_scale, updates};
use crate::{Error, Result, features::Features};
use burn_fused::{
    ComputePlan, Operation, Scope,
    precision::{Bisection, Comparison, Dump, GoOn, Values, bisect, compare, to_the_end},
    weights::visit,
};

/// The dumps of a step on both sides, and their comparison.
#[derive(Debug)]
pub struct ComparedSteps {
    pub reference: Dump,
    pub found: Dump,
    pub comparison: Comparison,
}

/// Runs a step on both sides, and each operation of the first side alone on the second, and compares them.
///
/// * `cosine`: the lowest cosine similarity that passes
///
/// Fails with `cancelled` where `go_on` returns false.
pub async fn compare_steps<M: Stepped>(
    reference: &Side<'_, M>,
    found: &Side<'_, M>,
    features: &Features,
    step: &StepConfig,
    cosine: f64,
    go_on: &mut GoOn<'_>,
) -> Result<ComparedSteps> {
    let dump = reference.dump(features, step).await?;
    if !go_on(0, dump.calls.len()).await {
        return Err(Error::cancelled());
    }
    let (found, comparison) = compare_with(&dump, reference, found, features, step, cosine, go_on).await?;
    Ok(ComparedSteps { reference: dump, found, comparison })
}

/// Runs a step on the second side and compares it with the dump of the first.
async fn compare_with<M: Stepped>(
    dump: &Dump,
    reference: &Side<'_, M>,
    found: &Side<'_, M>,
    features: &Features,
    step: &StepConfig,
    cosine: f64,
    go_on: &mut GoOn<'_>,
) -> Result<(Dump, Comparison)> {
    let found_dump = found.dump(features, step).await?;
    let alone_updates = updates_of(found.model.valid().train(), &found.plan, &dump.gradients).await?;
    let replayers = [&reference.replayer(), &found.replayer()];
    let comparison = compare(dump, &found_dump, replayers, &alone_updates, cosine, go_on).await?;
    Ok((found_dump, comparison))
}

/// Finds the smallest set of operations that must be computed in plain form for the second side to pass.
pub async fn bisect_steps<M: Stepped>(
    reference: &Side<'_, M>,
    found: &Side<'_, M>,
    features: &Features,
    step: &StepConfig,
    cosine: f64,
) -> Result<Bisection> {
    let dump = reference.dump(features, step).await?;
    let mut operations: BTreeSet<Operation> = dump.calls.iter().map(|record| record.call.operation).collect();
    operations.insert(Operation::Adam);
    // The steps of attention are recorded as this one operation.
    if operations.contains(&Operation::AttentionLstm) {
        operations.insert(Operation::Attention);
    }
    bisect(&operations, async |plain| {
        let plan = ComputePlan { plain: plain | &found.plan.plain, ..found.plan.clone() };
        let side = Side { plan, ..*found };
        let (_, comparison) =
            compare_with(&dump, reference, &side, features, step, cosine, &mut to_the_end).await?;
        Ok(!comparison.passes())
    })
    .await
}

/// Computes the update of the optimizer of a plan from given gradients.
pub(crate) async fn updates_of<M: Module>(
    model: M,
    plan: &ComputePlan,
    gradients: &BTreeMap<String, Values>,
) -> Result<BTreeMap<String, Values>> {
    // The gradient of the sum of each parameter times a constant is that constant.
    let mut products = Vec::new();
    visit(&model, |path, parameter| {
        let Some(Values { values, .. }) = gradients.get(path) else { return };
        let value = parameter.tracked();
        let constant = TensorData::new(values.clone(), value.dims());
        products.push((value.clone() * Tensor::from_data(constant, &value.device())).sum());
    });
    let scale = first_scale(plan);
    match products.into_iter().reduce(|sum, product| sum + product) {
        Some(sum) => {
            updates(model, &sum.mul_scalar(scale).backward(), &Scope::new(plan.clone()), scale).await
        }
        None => Ok(BTreeMap::new()),
    }
}
