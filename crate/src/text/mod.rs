//! From written English to speech symbols.
pub mod affixes;
pub mod letters;
pub mod lexicon;
pub mod symbols;
