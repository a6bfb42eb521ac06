//! How operations are computed, as data: which modules in half precision, which fused operations as plain tensor operations, and whether what goes in
//! and comes out is recorded.
//!
//! A model is given a [`ComputePlan`]; each of its layers holds the [`Compute`] of its own path. Nothing is global, so that two plans can run side by side.
//!
//! One long file: plan, planted faults, scope and record refer to each other.

use std::{
    collections::BTreeSet,
    fmt::{self, Display},
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
};

use burn::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    Precision,
    operation::Operation,
    trace::{Attributes, Call, Probe, Value},
};
use crate::{Error, Result};

/// Modules whose matmuls are in half precision by default, with all below them. The predictors are small and stay in single precision.
const HALF: [&str; 3] = ["encoder", "decoder", "postnet"];

/// The same of a vocoder: what it makes of its trunk spans the range of speech in logarithms, and stays in single precision.
const HALF_OF_VOCODER: [&str; 1] = ["blocks"];

/// How a model's operations are computed: a value of a run's configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ComputePlan {
    pub precision: Precision,
    /// Paths of the modules that compute in half where `precision` is mixed, with all below them.
    pub half: Vec<String>,
    /// Operations that are computed by plain tensor operations and not by the fused ones.
    pub plain: BTreeSet<Operation>,
    /// Planted for drills and tests; no run has any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<PlantedFault>,
}

impl Default for ComputePlan {
    fn default() -> Self {
        Self::of(Precision::F32)
    }
}

impl ComputePlan {
    /// All operations fused, the usual modules in half where the precision is mixed.
    pub fn of(precision: Precision) -> Self {
        Self {
            precision,
            half: HALF.map(str::to_string).to_vec(),
            plain: BTreeSet::new(),
            faults: Vec::new(),
        }
    }

    /// The same of a vocoder.
    pub fn of_vocoder(precision: Precision) -> Self {
        Self { half: HALF_OF_VOCODER.map(str::to_string).to_vec(), ..Self::of(precision) }
    }

    /// Single precision, nothing fused: what others are compared with.
    pub fn reference() -> Self {
        Self { plain: Operation::ALL.into(), ..Self::of(Precision::F32) }
    }

    /// The precision of the module at a path.
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

/// A fault that is planted in one fused operation of one module. Its plain twin has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlantedFault {
    /// The module's path; of the optimizer, the parameter's.
    pub path: String,
    pub operation: Operation,
    pub kind: PlantedFaultKind,
}

impl Display for PlantedFault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (path, operation) = (&self.path, self.operation.name());
        match &self.kind {
            PlantedFaultKind::Overflow(_) => write!(f, "overflow:{path}:{operation}"),
            PlantedFaultKind::GradientSign(input) => write!(f, "sign:{path}:{operation}:{input}"),
            PlantedFaultKind::GradientNan(input) => write!(f, "nan:{path}:{operation}:{input}"),
        }
    }
}

/// `overflow:MODULE:OPERATION`, of its first input, `sign:MODULE:OPERATION:INPUT` or `nan:MODULE:OPERATION:INPUT`. Fails with `option-invalid`, also for an
/// overflow of what is no matmul.
impl FromStr for PlantedFault {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts: Vec<&str> = text.split(':').collect();
        let found = match parts[..] {
            ["overflow", path, operation] => {
                Some((path, operation, PlantedFaultKind::Overflow("input".into())))
            }
            ["sign", path, operation, input] => {
                Some((path, operation, PlantedFaultKind::GradientSign(input.into())))
            }
            ["nan", path, operation, input] => {
                Some((path, operation, PlantedFaultKind::GradientNan(input.into())))
            }
            _ => None,
        };
        let fault = found.and_then(|(path, operation, kind)| {
            Some(Self { path: path.into(), operation: Operation::by_name(operation)?, kind })
        });
        let fault = fault.ok_or_else(|| {
            Error::option_invalid(format!(
                "{text:?} is no fault: overflow:MODULE:OPERATION, sign:MODULE:OPERATION:INPUT or nan:MODULE:OPERATION:INPUT"
            ))
        })?;
        match &fault.kind {
            PlantedFaultKind::Overflow(_) if !fault.operation.is_matmul() => {
                let products = Operation::ALL.into_iter().filter(|operation| operation.is_matmul());
                let products = products.map(Operation::name).collect::<Vec<_>>().join(", ");
                Err(Error::option_invalid(format!("{text:?} overflows no product: {products}")))
            }
            _ => Ok(fault),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlantedFaultKind {
    /// The gradient of the input of that name has the wrong sign.
    GradientSign(String),
    /// The gradient of the input of that name is no number.
    GradientNan(String),
    /// The input of that name is multiplied by [`OVERFLOW`] and the output divided by it: nothing in f32, an overflow in f16. Of matmuls alone.
    Overflow(String),
}

impl PlantedFaultKind {
    /// The input that it is planted at.
    fn input(&self) -> &str {
        let (Self::GradientSign(input) | Self::GradientNan(input) | Self::Overflow(input)) = self;
        input
    }
}

/// A power of two: it changes no bit of an f32 but the exponent's. Any input above 0.001 leaves f16's range.
pub const OVERFLOW: f32 = 67_108_864.0;

/// A plan at the path of a module, and where its operations are recorded. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    plan: Arc<ComputePlan>,
    planted: Planted,
    probe: Option<Probe>,
    path: String,
}

/// Faults that an operation has met.
#[derive(Debug, Clone, Default)]
struct Planted(Arc<Mutex<Vec<PlantedFault>>>);

impl Planted {
    fn put(&self, fault: &PlantedFault) {
        let mut met = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !met.contains(fault) {
            met.push(fault.clone());
        }
    }

    fn has(&self, fault: &PlantedFault) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(fault)
    }
}

impl Scope {
    /// At a model's root.
    pub fn new(plan: ComputePlan) -> Self {
        Self { plan: Arc::new(plan), ..Self::default() }
    }

    /// The same, with every operation recorded.
    pub fn recorded(plan: ComputePlan, probe: &Probe) -> Self {
        Self { probe: Some(probe.clone()), ..Self::new(plan) }
    }

    /// At a module below.
    pub fn at(&self, name: impl Display) -> Self {
        let path = if self.path.is_empty() { name.to_string() } else { format!("{}.{name}", self.path) };
        Self { path, ..self.clone() }
    }

    /// The same in single precision, whatever the plan.
    pub fn in_single(&self) -> Self {
        Self {
            plan: Arc::new(ComputePlan { precision: Precision::F32, ..(*self.plan).clone() }),
            ..self.clone()
        }
    }

    pub fn plan(&self) -> &ComputePlan {
        &self.plan
    }

    /// Faults of the plan that no operation has met, though theirs is fused: the path, or the name of the input, is none of the model's.
    pub fn unplanted(&self) -> impl Iterator<Item = &PlantedFault> {
        let plan = &self.plan;
        plan.faults.iter().filter(|fault| !plan.plain.contains(&fault.operation) && !self.planted.has(fault))
    }

    /// The calls that were recorded since they were last asked for.
    pub fn recorded_calls(&self) -> Vec<Call> {
        self.probe.as_ref().map(Probe::take).unwrap_or_default()
    }

    /// How the module at this path computes.
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

/// How one module computes its operations, which are methods: see [`crate::nn::matmul`], [`crate::nn::lstm`], [`crate::nn::conv`],
/// [`crate::nn::patches`], [`crate::nn::attention`] and [`crate::nn::loss`]. The default is single precision, fused, unrecorded.
#[derive(Debug, Clone, Default)]
pub struct Compute {
    /// Precision of the matmuls.
    pub precision: Precision,
    /// `None` in usual runs, which then cost one check of an option.
    special: Option<Arc<Special>>,
}

/// A call whose parts are being computed.
pub(crate) struct Begun {
    inputs: Vec<(&'static str, Value)>,
    /// Those that were recorded before it.
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
    pub fn of(precision: Precision) -> Self {
        Self { precision, special: None }
    }

    /// Whether an operation is computed by plain tensor operations.
    pub fn is_plain(&self, operation: Operation) -> bool {
        self.special.as_ref().is_some_and(|special| special.plain.contains(&operation))
    }

    /// An input of a fused operation: itself, unless a fault is planted there.
    pub(crate) fn input<const D: usize>(
        &self,
        operation: Operation,
        name: &str,
        value: Tensor<D>,
    ) -> Tensor<D> {
        match self.fault(operation, name) {
            Some(PlantedFaultKind::GradientSign(_)) => value.clone().detach().mul_scalar(2.0) - value,
            // The root of nothing is nothing, and its slope is infinite.
            Some(PlantedFaultKind::GradientNan(_)) => value.clone() + (value.clone() - value.detach()).sqrt(),
            Some(PlantedFaultKind::Overflow(_)) => value.mul_scalar(OVERFLOW),
            None => value,
        }
    }

    /// An input that nothing is differentiated by, as the optimizer's: a wrong sign is its own.
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

    /// The output of a fused operation, see [`PlantedFaultKind::Overflow`].
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

    /// What is planted at an input of that name.
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

    /// The inputs of a call, where calls are recorded; none of them where outputs alone are.
    pub(crate) fn inputs<const N: usize>(
        &self,
        inputs: impl FnOnce() -> [(&'static str, Value); N],
    ) -> Option<Vec<(&'static str, Value)>> {
        let probe = self.special.as_ref()?.probe.as_ref()?;
        Some(if probe.keeps_inputs() { inputs().into() } else { Vec::new() })
    }

    /// Records a call that has [`inputs`](Self::inputs). What is returned is to be used in place of `output`: its gradient is recorded as well.
    pub(crate) fn record<const D: usize>(
        &self,
        operation: Operation,
        attributes: Attributes,
        inputs: Option<Vec<(&'static str, Value)>>,
        output: Tensor<D>,
    ) -> Tensor<D> {
        let Some((special, inputs)) = self.special.as_ref().zip(inputs) else { return output };
        let probe = special.probe.as_ref().expect("inputs are taken where a probe is");
        probe.put(&special.path, (operation, self.precision), attributes, inputs, output)
    }

    /// Begins a call that is made of other operations on some devices and one of its own on others: see [`Self::record_whole`].
    pub(crate) fn begin<const N: usize>(
        &self,
        inputs: impl FnOnce() -> [(&'static str, Value); N],
    ) -> Option<Begun> {
        let probe = self.special.as_ref()?.probe.as_ref()?;
        Some(Begun { calls: probe.count(), inputs: self.inputs(inputs)? })
    }

    /// Records such a call in place of those that it was made of, so that devices are compared by what all of them do. As [`Self::record`].
    pub(crate) fn record_whole<const D: usize>(
        &self,
        operation: Operation,
        begun: Begun,
        output: Tensor<D>,
    ) -> Tensor<D> {
        let probe = self.special.as_ref().and_then(|special| special.probe.as_ref());
        probe.expect("it was begun where a probe is").truncate(begun.calls);
        self.record(operation, Attributes::None, Some(begun.inputs), output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_in_half_are_named_by_path() {
        let mixed = ComputePlan {
            half: vec!["decoder.first".into(), "postnet".into()],
            ..ComputePlan::of(Precision::Mixed)
        };
        let half = |path: &str| mixed.precision_at(path) == Precision::Mixed;
        assert!(half("decoder.first") && half("postnet.convolutions.2"));
        assert!(!half("decoder") && !half("decoder.firstly") && !half("decoder.second") && !half(""));
        let single = ComputePlan { precision: Precision::F32, ..mixed };
        assert_eq!(single.precision_at("postnet"), Precision::F32);
    }

    #[test]
    fn a_plan_is_data() {
        let plan = ComputePlan {
            plain: [Operation::Lstm, Operation::MatmulConcat].into(),
            ..ComputePlan::of(Precision::Mixed)
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
    fn a_planted_sign_changes_the_gradient_alone() {
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
        assert_eq!(unplanted(), ["sign:a.b:lstm:w"], "no input was that one");
        assert_eq!(run(Operation::Lstm, "w"), (value.clone().into_data(), -1.0));
        assert_eq!(unplanted(), Vec::<String>::new());
    }

    #[test]
    fn a_fault_is_its_text_and_only_products_overflow() {
        for text in ["overflow:a.b:matmul-concat", "sign:a:lstm:w_hh", "nan:a.0:convolution:weight"] {
            assert_eq!(text.parse::<PlantedFault>().unwrap().to_string(), text);
        }
        for text in ["overflow:a:lstm", "overflow:a:loss", "overflow:a:activate", "overflow:a", "sign:a:lstm"]
        {
            assert_eq!(text.parse::<PlantedFault>().unwrap_err().code(), "option-invalid", "{text}");
        }
    }
}
