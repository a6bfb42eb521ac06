//! Predicts how a pretraining scales over ranks, from profiles of this machine. The time of each module is fitted as a constant and a part proportional to the
//! number of windows of a rank. Gradients are exchanged by a ring, and the small batch statistics by a tree.
//!
//! ```text
//! for B in 2 4 8 16; do ownvoice profile --pretraining --window 160 --batch $B --json > $B.json; done
//! mpirun -n 2 ownvoice profile --pretraining --window 160 --batch 16 --json > two.json
//! cargo run --release --example scaling -- 256 25 10 two.json 2.json 4.json 8.json 16.json
//! ```
//!
//! The arguments are the windows of the whole batch, the network's bandwidth in Gbit/s and its latency in microseconds.

use serde_json::Value;
use std::{env, fs};

const MODULES: [&str; 9] =
    ["encoder", "durations", "alignment", "pitch", "decoder", "postnet", "loss", "optimizer", "feeder"];
const RANKS: [usize; 4] = [1, 2, 8, 64];

struct Fit {
    module: &'static str,
    /// The constant part, in milliseconds.
    fixed_ms: f64,
    /// The part of each window, in milliseconds.
    window_ms: f64,
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [batch, gbit, latency_us, two, profiles @ ..] = &arguments[..] else {
        panic!("usage: scaling WINDOWS GBIT_S LATENCY_US PROFILE_OF_RANKS PROFILES_OF_ONE_RANK..")
    };
    let number = |text: &String| text.parse::<f64>().expect("a number");
    let (batch, byte_ms, latency_ms) = (number(batch), 8e-6 / number(gbit), number(latency_us) * 1e-3);
    let read = |path: &String| -> Value {
        let text = fs::read_to_string(path).expect("a profile");
        serde_json::from_str(text.lines().next_back().expect("a line")).expect("JSON")
    };
    let profiles: Vec<Value> = profiles.iter().map(read).collect();
    let traffic = &read(two)["traffic"];
    let figure = |name: &str| traffic[name].as_f64().expect("the profile of ranks has traffic");
    let (bytes, exchanges) = (figure("bytes"), figure("exchanges"));
    let fits: Vec<Fit> = MODULES.iter().map(|module| fit(module, &profiles)).collect();

    println!("{:<12} {:>14} {:>14}", "module", "ms of a rank", "ms a window");
    for Fit { module, fixed_ms, window_ms } in &fits {
        println!("{module:<12} {fixed_ms:>14.2} {window_ms:>14.3}");
    }
    println!("{:.2} MB in {exchanges} exchanges a step", bytes / 1e6);
    print!("{:<12}", "ms, ranks:");
    RANKS.iter().for_each(|ranks| print!(" {ranks:>10}"));
    println!();
    let time = |fit: &Fit, ranks: usize| fit.fixed_ms + fit.window_ms * batch / ranks as f64;
    let exchange = |ranks: usize| {
        let (n, steps) = (ranks as f64, (ranks as f64).log2().ceil());
        let ring = 2.0 * (n - 1.0) / n * bytes * byte_ms + 2.0 * (n - 1.0) * latency_ms;
        if ranks == 1 { 0.0 } else { ring + (exchanges - 1.0) * 2.0 * steps * latency_ms }
    };
    let row = |name: &str, value: &dyn Fn(usize) -> f64| {
        print!("{name:<12}");
        RANKS.iter().for_each(|ranks| print!(" {:>10.2}", value(*ranks)));
        println!();
    };
    for fit in &fits {
        row(fit.module, &|ranks| time(fit, ranks));
    }
    row("exchange", &exchange);
    let step = |ranks: usize| fits.iter().map(|fit| time(fit, ranks)).sum::<f64>() + exchange(ranks);
    row("step", &step);
    row("speed-up", &|ranks| step(1) / step(ranks));
    row("efficiency", &|ranks| step(1) / step(ranks) / ranks as f64);
    for module in ["encoder", "decoder", "postnet"] {
        let fit = fits.iter().find(|fit| fit.module == module).expect("a module");
        row(&format!("x {module}"), &|ranks| time(fit, 1) / time(fit, ranks));
    }
}

/// Fits a line through the times of a module at several batch sizes, by least squares.
fn fit(module: &'static str, profiles: &[Value]) -> Fit {
    let points: Vec<(f64, f64)> = profiles
        .iter()
        .map(|profile| {
            let rows = profile["rows"].as_array().expect("rows");
            let row = rows.iter().find(|row| row["module"] == module).expect("a row of each module");
            let ms = |name: &str| row[name].as_f64().unwrap_or(0.0);
            (profile["batch"].as_f64().expect("its batch"), ms("forward_ms") + ms("backward_ms"))
        })
        .collect();
    let count = points.len() as f64;
    let (mean_x, mean_y) =
        points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let slope = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>()
        / points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>();
    let window_ms = slope.max(0.0);
    Fit { module, fixed_ms: (mean_y - window_ms * mean_x).max(0.0), window_ms }
}
