//! Words made of a known word and an ending.

use super::symbols::{self, Symbol};

/// The sound of -s and -'s: IH0 Z after a sibilant, S after another voiceless consonant, Z otherwise.
pub fn plural(stem: &[Symbol]) -> Vec<Symbol> {
    let last = stem.last().and_then(|symbol| symbols::name(*symbol)).unwrap_or("");
    let ending = match last {
        "S" | "Z" | "SH" | "ZH" | "CH" | "JH" => "IH0 Z",
        "P" | "T" | "K" | "F" | "TH" => "S",
        _ => "Z",
    };
    [stem, &symbols::parse(ending).expect("phones")].concat()
}
