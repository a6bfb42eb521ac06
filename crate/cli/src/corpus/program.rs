//! Runs the external programs that make a corpus.

use std::process::{Command, Output};

use ownvoice::{Error, Result};

/// Runs a program and waits for its end.
///
/// # Errors
/// `corpus-invalid` if it does not start or fails, with its error output.
pub fn run(command: &mut Command) -> Result<Output> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| {
        Error::corpus_invalid(format!(
            "{program} does not start ({error}); install it with the package manager"
        ))
    })?;
    if !output.status.success() {
        return Err(Error::corpus_invalid(format!(
            "{program} failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )));
    }
    Ok(output)
}
