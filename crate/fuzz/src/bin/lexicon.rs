#![no_main]
ownvoice_fuzz::fuzz!("lexicon");
