//! Runs each verb of `ownvoice precision` on a tiny base, with and without planted faults.

use std::{
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::TempDir;

const SIGN: [&str; 2] = ["--plant", "sign:decoder.second:lstm:w_hh"];
const OVERFLOW: [&str; 4] =
    ["--precision", "mixed", "--plant", "overflow:postnet.convolutions.1:convolution"];

/// A temporary folder with a base in `base`.
struct Workplace(TempDir);

impl Workplace {
    fn new() -> Self {
        Self(ownvoice_testing::tiny_folder())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn run(&self, verb: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ownvoice"));
        command.args(["precision", verb]);
        if !["fault", "preflight"].contains(&verb) {
            command.args(["--base", &self.path("base"), "--window", "32"]);
        }
        command.args(arguments).output().unwrap()
    }

    /// Returns the output of a verb that succeeds.
    fn printed(&self, verb: &str, arguments: &[&str]) -> String {
        let done = self.run(verb, arguments);
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn json(&self, verb: &str, arguments: &[&str]) -> Vec<Value> {
        let printed = self.printed(verb, &[arguments, &["--json"]].concat());
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[test]
fn a_comparison_reports_each_difference_and_its_size() {
    let place = Workplace::new();
    for precision in ["f32", "mixed"] {
        let text = place.printed("compare", &["--precision", precision]);
        assert!(text.contains(&format!("\nB: cpu, {precision}, fused; before ")), "{text}");
        assert!(text.contains("\nnothing below cosine 0.98 in "), "{text}");
    }
    let all = place.printed("compare", &["--precision", "mixed", "--all"]);
    assert!(all.lines().count() > 60 && all.contains("durations.projection: matmul, output"), "{all}");

    let text = place.printed("compare", &SIGN);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[2].starts_with("cosine, relative error, signal to noise in dB"), "{text}");
    let figures: Vec<&str> = lines[3].split_whitespace().collect();
    // In the network, then alone: a wrong sign has cosine -1 and relative error 2.
    assert_eq!(
        figures[figures.len() - 6..],
        ["-1.00000", "2.0e0", "-6.0", "-1.00000", "2.0e0", "-6.0"],
        "{text}"
    );
    assert!(
        text.ends_with("at fault: decoder.second: lstm, gradient of w_hh (alone: cosine -1.0000)\n"),
        "{text}"
    );

    let [found] = &place.json("compare", &SIGN)[..] else { panic!("one line") };
    assert_eq!(
        (&found["passes"], &found["rows"][0]["path"]),
        (&Value::Bool(false), &"decoder.second".into())
    );
    assert_eq!(found["rows"][0]["alone"]["relative_error"].as_f64().unwrap().round(), 2.0);
}

#[test]
fn a_dump_is_written_and_its_fault_is_named() {
    let place = Workplace::new();
    let text = place.printed("compare", &[&OVERFLOW[..], &["--out", &place.path("dumps")]].concat());
    assert!(text.contains("at fault: postnet.convolutions.1: convolution, output"), "{text}");
    let named = place.printed("fault", &[&place.path("dumps/b.safetensors")]);
    let expected = "postnet.convolutions.1: convolution overflows in half precision, and not in single";
    assert!(named.starts_with(expected), "{named}");
    assert_eq!(
        place.printed("fault", &[&place.path("dumps/a.safetensors")]),
        "it has no non-finite values\n"
    );
    let [fault] = &place.json("fault", &[&place.path("dumps/b.safetensors")])[..] else { panic!("one line") };
    assert_eq!((&fault["fault"]["kind"], &fault["fault"]["overflows"]), (&"forward".into(), &true.into()));
}

#[test]
fn bisection_and_proposal_find_the_planted_fault() {
    let place = Workplace::new();
    let text = place.printed("bisect", &SIGN);
    assert!(text.starts_with("the mismatch goes away without the fused lstm ("), "{text}");
    assert_eq!(place.printed("bisect", &[]), "nothing differs with every operation fused\n");

    let [proposed] = &place.json("propose", &OVERFLOW)[..] else { panic!("one line") };
    assert_eq!(proposed["half"], serde_json::json!(["decoder", "encoder", "postnet.convolutions.0"]));
    assert_eq!((&proposed["before"]["passes"], &proposed["after"]["passes"]), (&false.into(), &true.into()));
}

#[test]
fn the_statistics_of_a_step_are_printed() {
    let place = Workplace::new();
    let rows = place.json("statistics", &["--precision", "mixed"]);
    let of = |name: &str| {
        let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {rows:?}"));
        row["statistics"].clone()
    };
    let output = of("decoder.second: lstm, output");
    assert!(output["largest"].as_f64().unwrap() > 0.0 && output["nans"] == 0, "{output}");
    assert!(of("decoder.projection.weight, gradient")["largest"].is_number());
    let text = place.printed("statistics", &OVERFLOW);
    let line =
        text.lines().find(|line| line.starts_with("postnet.convolutions.1: convolution, output")).unwrap();
    assert!(line.ends_with("beyond f16"), "{line}");
}

#[test]
fn a_fault_without_effect_is_refused() {
    let place = Workplace::new();
    for (fault, why) in [
        ("overflow:decoder.second:lstm", "only products overflow"),
        ("overflow:loss.after:loss", "only products overflow"),
        ("overflow:decoder.frist:matmul-concat", "takes no effect"),
        ("sign:decoder.second:lstm:input", "takes no effect"),
        ("twist:decoder.second:lstm", "is not a fault"),
    ] {
        for verb in ["compare", "bisect", "statistics"] {
            let refused = place.run(verb, &["--plant", fault]);
            let message = String::from_utf8_lossy(&refused.stderr);
            assert!(
                !refused.status.success() && message.starts_with("error[option-invalid]"),
                "{fault}: {message}"
            );
            assert!(message.contains(why), "{fault}: {message}");
        }
    }
}

fn pretrain(place: &Workplace, run: &str, seed: &str) {
    let done = Command::new(env!("CARGO_BIN_EXE_ownvoice"))
        .args(["pretrain", "--preset", "tiny", "--batch", "2", "--steps", "20", "--quiet", "--seed", seed])
        .args(["--data", &place.path("features"), "--out", &place.path("base"), "--run", &place.path(run)])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn preflight_marks_the_facts_that_differ() {
    let place = Workplace::new();
    ownvoice_testing::noise_features::write(Path::new(&place.path("features")), false);
    for (run, seed) in [("a", "1"), ("again", "1"), ("b", "2")] {
        pretrain(&place, run, seed);
    }
    let text = place.printed("preflight", &[&place.path("a"), &place.path("again")]);
    assert!(text.ends_with("\nthe runs are the same\n") && !text.contains("\n!"), "{text}");
    let text = place.printed("preflight", &[&place.path("a"), &place.path("b")]);
    let marked: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("!  ")?.split("  ").next()).collect();
    assert_eq!(marked, ["recipe.seed", "weights_sha256", "data order"], "{text}");
}
