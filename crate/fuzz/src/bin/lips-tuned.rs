#![no_main]
ownvoice_fuzz::fuzz!("lips-tuned");
