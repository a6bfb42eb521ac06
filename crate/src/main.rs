//! The `ownvoice` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    match ownvoice::cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error[{}]: {error}", error.code());
            ExitCode::FAILURE
        }
    }
}
