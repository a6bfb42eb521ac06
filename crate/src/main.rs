//! The `ownvoice` command.

fn main() {}
