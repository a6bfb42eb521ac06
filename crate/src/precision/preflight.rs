//! Two runs side by side, before their curves are compared: configuration, weights, data, order, seeds, precision.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What a run writes into its folder as `run.json`: all that decides what it computes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFacts {
    /// Of the program.
    pub version: String,
    /// The device's name.
    pub device: String,
    /// Steps, batch, rates, seed, precision.
    pub recipe: Value,
    /// SHA-256 of the weights that the run began with.
    pub weights_sha256: String,
    /// By which the loss was last multiplied; 1 in single precision.
    pub loss_scale: f32,
    /// Updates that were left out so far.
    pub overflows: usize,
    /// That share each batch: 1 where nobody does.
    pub ranks: usize,
    /// Clips of the first batches, in order; of whole ones, whatever a rank's part of them.
    pub order: Vec<Vec<String>>,
}

impl RunFacts {
    /// Its name in a run's folder.
    pub const FILE: &str = "run.json";
    /// Batches whose clips are kept.
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

/// All facts, those that differ first.
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

/// Every fact but the order by name, as `recipe.seed`.
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

/// The first step whose clips differ, and how.
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
            recipe: json!({"seed": seed, "plan": {"precision": "f32"}}),
            weights_sha256: "ab".into(),
            order: order.iter().map(|batch| batch.iter().map(|clip| clip.to_string()).collect()).collect(),
            ..RunFacts::default()
        }
    }

    fn differing(a: &RunFacts, b: &RunFacts) -> Vec<Fact> {
        preflight(a, b).into_iter().filter(|fact| !fact.same).collect()
    }

    #[test]
    fn what_differs_is_marked_and_named() {
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
