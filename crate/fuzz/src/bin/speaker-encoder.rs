#![no_main]
ownvoice_fuzz::fuzz!("speaker-encoder");
