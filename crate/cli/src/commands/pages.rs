//! `ownvoice completions` and `ownvoice man`, which are generated from the definition of the command line.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man;
use serde_json::json;

use super::{
    command,
    console::Console,
    output::{self, OutputKind},
};
use ownvoice::{Error, Result, files};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice completions bash > ~/.local/share/bash-completion/completions/ownvoice
  ownvoice completions zsh > ~/.zfunc/_ownvoice")]
pub struct CompletionsArguments {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script, also with `--json`, because a shell reads it.
pub fn completions(arguments: &CompletionsArguments) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command(), "ownvoice", &mut script);
    print(&script)
}

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice man | man -l -
  ownvoice man --out ~/.local/share/man/man1")]
pub struct ManArguments {
    /// Folder for the page of the command and of each verb
    #[arg(long)]
    out: Option<PathBuf>,
}

pub fn man(arguments: &ManArguments, console: &Console) -> Result<()> {
    let mut command = command();
    command.build(); // Sets the full name of each verb.
    let Some(folder) = &arguments.out else { return print(&page(Man::new(command))?) };
    output::check(folder, OutputKind::Files, console)?;
    let write = |name: &str, page: Vec<u8>| -> Result<PathBuf> {
        let path = folder.join(format!("{name}.1"));
        files::write(&path, page)?;
        Ok(path)
    };
    let mut pages = vec![write("ownvoice", page(Man::new(command.clone()))?)?];
    for verb in command.get_subcommands() {
        let name = format!("ownvoice-{}", verb.get_name());
        pages.push(write(&name, page(Man::new(verb.clone()))?)?);
    }
    console.result(&json!({"paths": pages}), format!("{}: {} pages", folder.display(), pages.len()));
    Ok(())
}

fn page(man: Man) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render(&mut page).map_err(Error::io(Path::new("ownvoice.1")))?;
    Ok(page)
}

fn print(bytes: &[u8]) -> Result<()> {
    std::io::stdout().write_all(bytes).map_err(Error::io(Path::new("standard output")))
}
