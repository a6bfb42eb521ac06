//! Compares the configuration, weights, data order, seeds and precision of two runs, before their loss curves are compared.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The facts that determine what a run computes. A run writes them into its folder as `run.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFacts {
    /// The version of the program.
    pub version: String,
    /// The name of the device.
    pub device: String,
    /// The hyperparameters: steps, batch, learning rates, seed, precision.
    #[serde(rename = "recipe")]
    pub hyperparameters: Value,
    /// The SHA-256 of the initial weights.
    pub weights_sha256: String,
    /// The last loss scale; 1 in single precision.
    pub loss_scale: f32,
    /// The number of updates skipped so far for non-finite gradients.
    pub overflows: usize,
    /// The number of ranks that share each batch.
    pub ranks: usize,
    /// The clips of the first batches, in order. They are those of whole batches, not of one rank's shard.
    pub order: Vec<Vec<String>>,
}

impl RunFacts {
    /// The file name in the folder of a run.
    pub const FILE: &str = "run.json";
    /// The number of batches whose clips are kept.
    pub const BATCHES: usize = 20;
}

/// One fact of both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    pub name: String,
    pub a: String,
    pub b: String,
    pub same: bool,
}

/// Returns all facts, those that differ first.
pub fn preflight(a: &RunFacts, b: &RunFacts) -> Vec<Fact> {
    let (of_a, of_b) = (flat(a), flat(b));
    let names: BTreeSet<&String> = of_a.keys().chain(of_b.keys()).collect();
    let mut facts: Vec<Fact> = names
        .into_iter()
        .map(|name| {
            let of =
                |facts: &BTreeMap<String, String>| facts.get(name).cloned().unwrap_or_else(|| "-".into());
            let (a, b) = (of(&of_a), of(&of_b));
            Fact { name: name.clone(), same: a == b, a, b }
        })
        .collect();
    facts.push(order(&a.order, &b.order));
    facts.sort_by_key(|fact| fact.same);
    facts
}

/// Returns every fact but the data order by its dotted name, as in `recipe.seed`.
fn flat(facts: &RunFacts) -> BTreeMap<String, String> {
    fn put(name: String, value: &Value, into: &mut BTreeMap<String, String>) {
        match value {
            Value::Object(fields) => {
                let below =
                    |field: &String| if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
                fields.iter().for_each(|(field, value)| put(below(field), value, into));
            }
            Value::String(text) => drop(into.insert(name, text.clone())),
            other => drop(into.insert(name, other.to_string())),
        }
    }
    let facts = RunFacts { order: Vec::new(), ..facts.clone() };
    let mut found = BTreeMap::new();
    put(String::new(), &serde_json::to_value(facts).expect("plain data"), &mut found);
    found.remove("order");
    found
}

/// Compares the data order: finds the first step whose clips differ, and whether the clips differ or only their order.
fn order(a: &[Vec<String>], b: &[Vec<String>]) -> Fact {
    let fact = |a: String, b: String, same| Fact { name: "data order".into(), a, b, same };
    let shared = a.len().min(b.len());
    let differs = (0..shared).find_map(|step| {
        let (these, those) = (&a[step], &b[step]);
        let items = these.len().max(those.len());
        (0..items).find(|&item| these.get(item) != those.get(item)).map(|item| (step, item))
    });
    let Some((step, item)) = differs else {
        return match a.len() == b.len() {
            true => fact(format!("{shared} batches"), "the same clips in the same order".into(), true),
            false => fact(
                format!("{} batches", a.len()),
                format!("{} batches, the first {shared} the same", b.len()),
                shared > 0,
            ),
        };
    };
    let sorted = |batches: &[Vec<String>]| {
        let mut clips: Vec<String> = batches[..shared].concat();
        clips.sort();
        clips
    };
    let kind = if sorted(a) == sorted(b) { "the same clips in another order" } else { "other clips" };
    let clip = |batches: &[Vec<String>]| batches[step].get(item).cloned().unwrap_or_else(|| "none".into());
    fact(format!("step {}, item {item}: {}", step + 1, clip(a)), format!("{} ({kind})", clip(b)), false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn facts(seed: u64, order: &[&[&str]]) -> RunFacts {
        RunFacts {
            hyperparameters: json!({"seed": seed, "plan": {"precision": "f32"}}),
            weights_sha256: "ab".into(),
            order: order.iter().map(|batch| batch.iter().map(|clip| clip.to_string()).collect()).collect(),
            ..RunFacts::default()
        }
    }

    fn differing(a: &RunFacts, b: &RunFacts) -> Vec<Fact> {
        preflight(a, b).into_iter().filter(|fact| !fact.same).collect()
    }

    #[test]
    fn facts_that_differ_are_marked_and_named() {
        let first = facts(1, &[&["a", "b"], &["c", "d"]]);
        assert_eq!(differing(&first, &first), []);
        let seeded = facts(2, &[&["a", "b"], &["c", "d"]]);
        let found = differing(&first, &seeded);
        assert_eq!((found.len(), found[0].name.as_str(), found[0].b.as_str()), (1, "recipe.seed", "2"));

        let shuffled = facts(1, &[&["a", "c"], &["b", "d"]]);
        let found = differing(&first, &shuffled);
        assert_eq!((found.len(), found[0].name.as_str()), (1, "data order"));
        assert_eq!(found[0].a, "step 1, item 1: b");
        assert_eq!(found[0].b, "c (the same clips in another order)");
        assert!(differing(&first, &facts(1, &[&["a", "b"], &["x", "d"]]))[0].b.ends_with("(other clips)"));
    }
}
