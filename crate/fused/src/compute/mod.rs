//! The plan by which operations are computed: it selects the modules in half precision, the operations that use their plain reference, and whether calls are
//! recorded.
//!
//! A model is given a [`ComputePlan`]; a [`Scope`] is the plan at the path of a module, and each layer holds the [`Compute`] of its own path. Nothing is global,
//! so that two plans can run side by side.

mod fault;

use std::{collections::BTreeSet, fmt::Display, sync::Arc};

use crate::{
    Precision,
    operation::Operation,
    trace::{Attributes, Call, Probe, Value},
};
use burn::prelude::*;
use fault::Planted;
pub use fault::{OVERFLOW, PlantedFault, PlantedFaultKind};
use serde::{Deserialize, Serialize};

/// Paths of the modules that use half precision by default, with all modules below them. The predictors are small and stay in single precision.
const HALF: [&str; 3] = ["encoder", "decoder", "postnet"];

/// Paths of the modules of a vocoder that use half precision by default. Its output layers predict log magnitudes over the whole dynamic range of speech and stay in single precision.
const HALF_OF_VOCODER: [&str; 1] = ["blocks"];

/// A plan that selects how the operations of a model are computed. It is part of the configuration of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ComputePlan {
    pub precision: Precision,
    /// Paths of the modules that use half precision if `precision` is mixed, with all modules below them.
    pub half: Vec<String>,
    /// Operations that use plain tensor operations in place of the fused ones.
    pub plain: BTreeSet<Operation>,
    /// Faults for drills and tests of the precision tool; no other run has any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<PlantedFault>,
}

impl Default for ComputePlan {
    fn default() -> Self {
        Self::from_precision(Precision::F32)
    }
}

impl ComputePlan {
    /// Returns the default plan of a precision: all operations are fused, and in mixed precision the default modules use half precision.
    pub fn from_precision(precision: Precision) -> Self {
        Self {
            precision,
            half: HALF.map(str::to_string).to_vec(),
            plain: BTreeSet::new(),
            faults: Vec::new(),
        }
    }

    /// Returns the default plan of a vocoder.
    pub fn for_vocoder(precision: Precision) -> Self {
        Self { half: HALF_OF_VOCODER.map(str::to_string).to_vec(), ..Self::from_precision(precision) }
    }

    /// Returns the plan that others are compared with: single precision, nothing fused.
    pub fn reference() -> Self {
        Self { plain: Operation::ALL.into(), ..Self::from_precision(Precision::F32) }
    }

    /// Returns the precision of the module at a path.
    pub fn precision_at(&self, path: &str) -> Precision {
        let covers = |prefix: &String| {
            path.strip_prefix(prefix.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if self.precision == Precision::Mixed && self.half.iter().any(covers) {
            Precision::Mixed
        } else {
            Precision::F32
        }
    }
}

/// A plan at the path of a module, and the probe that records its operations. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    plan: Arc<ComputePlan>,
    planted: Planted,
    probe: Option<Probe>,
    path: String,
}

impl Scope {
    /// Returns the scope of the root of a model.
    pub fn new(plan: ComputePlan) -> Self {
        Self { plan: Arc::new(plan), ..Self::default() }
    }

    /// Returns the scope of the root of a model whose operations are recorded.
    pub fn recorded(plan: ComputePlan, probe: &Probe) -> Self {
        Self { probe: Some(probe.clone()), ..Self::new(plan) }
    }

    /// Returns the scope of a child module.
    pub fn at(&self, name: impl Display) -> Self {
        let path = if self.path.is_empty() { name.to_string() } else { format!("{}.{name}", self.path) };
        Self { path, ..self.clone() }
    }

    /// Returns the same scope in single precision.
    pub fn in_single(&self) -> Self {
        Self {
            plan: Arc::new(ComputePlan { precision: Precision::F32, ..(*self.plan).clone() }),
            ..self.clone()
        }
    }

    pub fn plan(&self) -> &ComputePlan {
        &self.plan
    }

    /// Returns the faults of the plan that had no effect though their operation is fused: the model has no such path or input.
    pub fn unplanted(&self) -> impl Iterator<Item = &PlantedFault> {
        let plan = &self.plan;
        plan.faults.iter().filter(|fault| !plan.plain.contains(&fault.operation) && !self.planted.has(fault))
    }

    /// Removes and returns the calls recorded so far.
    pub fn recorded_calls(&self) -> Vec<Call> {
        self.probe.as_ref().map(Probe::take).unwrap_or_default()
    }

    /// Returns how the module at this path computes.
    pub fn compute(&self) -> Compute {
        let plan = &*self.plan;
        let faults: Vec<PlantedFault> =
            plan.faults.iter().filter(|fault| fault.path == self.path).cloned().collect();
        let precision = plan.precision_at(&self.path);
        if self.probe.is_none() && plan.plain.is_empty() && faults.is_empty() {
            return Compute { precision, special: None };
        }
        let (plain, planted) = (plan.plain.clone(), self.planted.clone());
        let (probe, path) = (self.probe.clone(), self.path.clone());
        Compute { precision, special: Some(Arc::new(Special { plain, faults, planted, probe, path })) }
    }
}

/// The precision, the faults and the probe with which one module computes its operations. The operations are methods, each defined in its module: [`mod@crate::matmul`], [`crate::lstm`],
/// [`crate::conv`], [`crate::patches`], [`crate::attention`] and [`crate::loss`].
///
/// The default is single precision, fused and unrecorded.
#[derive(Debug, Clone, Default)]
pub struct Compute {
    /// The precision of products.
    pub precision: Precision,
    /// `None` without plain operations, faults and probe, so that a usual run pays only for a check of an option.
    special: Option<Arc<Special>>,
}

/// A call that is composed of other calls and is being computed, see [`Compute::begin`].
pub(crate) struct Begun {
    inputs: Vec<(&'static str, Value)>,
    /// The number of calls recorded before this one.
    calls: usize,
}

#[derive(Debug)]
struct Special {
    plain: BTreeSet<Operation>,
    faults: Vec<PlantedFault>,
    planted: Planted,
    probe: Option<Probe>,
    path: String,
}

impl Compute {
    pub fn from_precision(precision: Precision) -> Self {
        Self { precision, special: None }
    }

    /// Returns whether an operation uses its plain reference.
    pub fn is_plain(&self, operation: Operation) -> bool {
        self.special.as_ref().is_some_and(|special| special.plain.contains(&operation))
    }

    /// Returns an input of a fused operation, changed if a fault is planted there.
    pub(crate) fn input<const D: usize>(
        &self,
        operation: Operation,
        name: &str,
        value: Tensor<D>,
    ) -> Tensor<D> {
        match self.fault(operation, name) {
            Some(PlantedFaultKind::GradientSign(_)) => value.clone().detach().mul_scalar(2.0) - value,
            // The square root of 0 is 0, and its derivative is infinite.
            Some(PlantedFaultKind::GradientNan(_)) => value.clone() + (value.clone() - value.detach()).sqrt(),
            Some(PlantedFaultKind::Overflow(_)) => value.mul_scalar(OVERFLOW),
            None => value,
        }
    }

    /// Returns an input that has no gradient, as the optimizer's; a sign fault reverses the input itself.
    pub(crate) fn constant<const D: usize>(
        &self,
        operation: Operation,
        name: &str,
        value: Tensor<D>,
    ) -> Tensor<D> {
        match self.fault(operation, name) {
            Some(PlantedFaultKind::GradientSign(_)) => value.neg(),
            _ => value,
        }
    }

    /// Returns the output of a fused operation, divided by [`OVERFLOW`] if that fault is planted.
    pub(crate) fn output<const D: usize>(&self, operation: Operation, value: Tensor<D>) -> Tensor<D> {
        let Some(special) = &self.special else { return value };
        let overflows = |fault: &&PlantedFault| {
            fault.operation == operation
                && matches!(fault.kind, PlantedFaultKind::Overflow(_))
                && special.planted.has(fault)
        };
        match special.faults.iter().find(overflows) {
            Some(_) => value.div_scalar(OVERFLOW),
            None => value,
        }
    }

    /// Returns the fault planted at an input and marks it as effective.
    fn fault(&self, operation: Operation, name: &str) -> Option<&PlantedFaultKind> {
        let special = self.special.as_ref()?;
        let here = |fault: &&PlantedFault| {
            fault.operation == operation
                && fault.kind.input() == name
                && (operation.is_matmul() || !matches!(fault.kind, PlantedFaultKind::Overflow(_)))
        };
        let fault = special.faults.iter().find(here)?;
        special.planted.put(fault);
        Some(&fault.kind)
    }

    /// Returns the inputs of a call to be recorded: `None` if calls are not recorded, an empty list if only outputs are.
    pub(crate) fn inputs<const N: usize>(
        &self,
        inputs: impl FnOnce() -> [(&'static str, Value); N],
    ) -> Option<Vec<(&'static str, Value)>> {
        let probe = self.special.as_ref()?.probe.as_ref()?;
        Some(if probe.keeps_inputs() { inputs().into() } else { Vec::new() })
    }

    /// Records a call if `inputs` is not `None`, see [`Self::inputs`]. Returns a tensor to use in place of `output`, whose gradient is recorded too.
    pub(crate) fn record<const D: usize>(
        &self,
        operation: Operation,
        attributes: Attributes,
        inputs: Option<Vec<(&'static str, Value)>>,
        output: Tensor<D>,
    ) -> Tensor<D> {
        let Some((special, inputs)) = self.special.as_ref().zip(inputs) else { return output };
        let probe = special.probe.as_ref().expect("inputs exist only with a probe");
        probe.put(&special.path, (operation, self.precision), attributes, inputs, output)
    }

    /// Begins a call that is one fused operation on some devices and composed of other operations on others. [`Self::record_whole`] ends it.
    pub(crate) fn begin<const N: usize>(
        &self,
        inputs: impl FnOnce() -> [(&'static str, Value); N],
    ) -> Option<Begun> {
        let probe = self.special.as_ref()?.probe.as_ref()?;
        Some(Begun { calls: probe.count(), inputs: self.inputs(inputs)? })
    }

    /// Records a call in place of the calls it was composed of, so that all devices record the same calls. Returns a tensor as [`Self::record`] does.
    pub(crate) fn record_whole<const D: usize>(
        &self,
        operation: Operation,
        begun: Begun,
        output: Tensor<D>,
    ) -> Tensor<D> {
        let probe = self.special.as_ref().and_then(|special| special.probe.as_ref());
        probe.expect("a call begins only with a probe").truncate(begun.calls);
        self.record(operation, Attributes::None, Some(begun.inputs), output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_chosen_by_path() {
        let mixed = ComputePlan {
            half: vec!["decoder.first".into(), "postnet".into()],
            ..ComputePlan::from_precision(Precision::Mixed)
        };
        let half = |path: &str| mixed.precision_at(path) == Precision::Mixed;
        assert!(half("decoder.first") && half("postnet.convolutions.2"));
        assert!(!half("decoder") && !half("decoder.firstly") && !half("decoder.second") && !half(""));
        let single = ComputePlan { precision: Precision::F32, ..mixed };
        assert_eq!(single.precision_at("postnet"), Precision::F32);
    }

    #[test]
    fn a_plan_survives_json() {
        let plan = ComputePlan {
            plain: [Operation::Lstm, Operation::MatmulConcat].into(),
            ..ComputePlan::from_precision(Precision::Mixed)
        };
        let json = serde_json::to_string(&plan).unwrap();
        assert!(json.contains(r#""plain":["matmul-concat","lstm"]"#), "{json}");
        assert_eq!(serde_json::from_str::<ComputePlan>(&json).unwrap(), plan);
        assert_eq!(serde_json::from_str::<ComputePlan>("{}").unwrap(), ComputePlan::default());
        for operation in Operation::ALL {
            assert_eq!(Operation::by_name(operation.name()), Some(operation));
            assert_eq!(serde_json::to_value(operation).unwrap(), operation.name());
        }
    }

    #[test]
    fn a_planted_sign_changes_only_the_gradient() {
        let device = Device::flex().autodiff();
        let plan = ComputePlan {
            faults: vec![PlantedFault {
                path: "a.b".into(),
                operation: Operation::Lstm,
                kind: PlantedFaultKind::GradientSign("w".into()),
            }],
            ..ComputePlan::default()
        };
        let scope = Scope::new(plan);
        let compute = scope.at("a").at("b").compute();
        let value = Tensor::<1>::from_floats([2.0, -3.0], &device).require_grad();
        let unplanted = || scope.unplanted().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(unplanted(), ["sign:a.b:lstm:w"]);
        let run = |operation, name| {
            let made = compute.input(operation, name, value.clone());
            let gradients = made.clone().sum().backward();
            (made.into_data(), value.grad(&gradients).unwrap().into_data().try_to_vec::<f32>().unwrap()[0])
        };
        assert_eq!((run(Operation::Lstm, "x").1, run(Operation::Matmul, "w").1), (1.0, 1.0));
        assert_eq!(unplanted(), ["sign:a.b:lstm:w"], "no call had that input");
        assert_eq!(run(Operation::Lstm, "w"), (value.clone().into_data(), -1.0));
        assert_eq!(unplanted(), Vec::<String>::new());
    }
}
