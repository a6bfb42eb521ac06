//! `cargo xtask`: set up, build, serve, test, measure and pack, each in one command.

mod bench;
mod build;
mod count;
mod fuzz;
#[cfg(test)]
mod modules;
mod notices;
mod pack;
mod readme;
mod serve;
mod setup;
mod shell;
mod test;

use lexopt::prelude::*;
use shell::Result;
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask serve [--port N]                       build the page and serve it on 127.0.0.1 (port 8017)
cargo xtask test [native] [wasm] [js] [package] [browser] [graphics]
                                                   run the tests: all stages but graphics, or those named
cargo xtask bench [--device vulkan|cuda] [--json]  measure; tables, or rows of {name, value, unit}. With a device: that graphics
                                                   card, natively in both precisions and in the browser
cargo xtask fuzz [TARGET ..] [--inputs N]          coverage-guided damage to all that is read from files (100 million inputs,
                                                   those of earlier runs included)
cargo xtask pack                                   make the npm tarball and print its path
cargo xtask readme                                 write README's tables anew, from the base's manifest and docs/bench.json
cargo xtask build                                  build the page's wasm and libraries into www/pkg, www/lips/pkg and www/vendor
cargo xtask setup [--trunk]                        only find or install what the others need (and Trunk)

Each finds or installs what it needs first, prints what it installs, and does nothing twice.";

fn main() -> ExitCode {
    if let Some(code) = fuzz::rustc() {
        return code;
    }
    match dispatch() {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch() -> Result<ExitCode> {
    let mut arguments = lexopt::Parser::from_env();
    let mut words = Vec::new();
    let (mut port, mut json, mut trunk, mut device, mut inputs) = (None, false, false, None, None);
    while let Some(argument) = arguments.next().map_err(|e| e.to_string())? {
        match argument {
            Long("port") => {
                port = Some(arguments.value().and_then(|v| v.parse::<u16>()).map_err(|e| e.to_string())?);
            }
            Long("device") => {
                device = Some(
                    arguments.value().and_then(|v| v.parse::<bench::Device>()).map_err(|e| e.to_string())?,
                );
            }
            Long("inputs") => {
                inputs = Some(arguments.value().and_then(|v| v.parse::<u64>()).map_err(|e| e.to_string())?);
            }
            Long("json") => json = true,
            Long("trunk") => trunk = true,
            Short('h') | Long("help") => words.insert(0, "help".to_string()),
            Value(word) => words.push(word.string().map_err(|e| e.to_string())?),
            other => return Err(format!("{}\n\n{HELP}", other.unexpected())),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = |()| ExitCode::SUCCESS;
    if device.is_some() && words != ["bench"] {
        return Err(format!("--device is for bench\n\n{HELP}"));
    }
    if inputs.is_some() && words.first() != Some(&"fuzz") {
        return Err(format!("--inputs is for fuzz\n\n{HELP}"));
    }
    match (words.as_slice(), port, json, trunk) {
        (["serve"], port, false, false) => serve::run(port.unwrap_or(serve::PORT)).map(done),
        (["test", stages @ ..], None, false, false) => test::run(stages),
        (["bench"], None, json, false) => bench::run(json, device).map(done),
        (["fuzz", targets @ ..], None, false, false) => {
            fuzz::run(targets, inputs.unwrap_or(fuzz::INPUTS)).map(done)
        }
        (["pack"], None, false, false) => pack::run().map(done),
        (["readme"], None, false, false) => readme::run().map(done),
        (["build"], None, false, false) => build::all().map(done),
        (["setup"], None, false, trunk) => setup::all(trunk).map(done),
        (["help", ..] | [], ..) => {
            println!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        _ => Err(format!("no such command\n\n{HELP}")),
    }
}
