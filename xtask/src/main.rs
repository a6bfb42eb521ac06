//! `cargo xtask`: sets up, builds, serves, tests, measures and packs the project, each with one command.

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
cargo xtask bench [--device vulkan|cuda] [--json]  measure; print a table, or JSON rows of {name, value, unit}. With --device:
                                                   on that graphics card, natively in both precisions and in the browser
cargo xtask fuzz [TARGET ..] [--inputs N]          fuzz all readers of untrusted files with libFuzzer (100 million inputs,
                                                   including those of earlier runs)
cargo xtask pack                                   make the npm tarballs and print their paths
cargo xtask readme                                 update README's tables from the base's manifest and docs/bench.json
cargo xtask build                                  build WebAssembly and libraries into www/pkg, www/lips/pkg, www/nets/pkg and www/vendor
cargo xtask setup [--trunk]                        only find or install the tools of the other commands (and Trunk)

Each command first installs the tools that it needs and does not find, and prints what it installs.";

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
        return Err(format!("only bench has the option --device\n\n{HELP}"));
    }
    if inputs.is_some() && words.first() != Some(&"fuzz") {
        return Err(format!("only fuzz has the option --inputs\n\n{HELP}"));
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
        _ => Err(format!("unknown command\n\n{HELP}")),
    }
}
