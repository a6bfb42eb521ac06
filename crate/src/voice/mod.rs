//! What a voice is on disk: weights by name, the base and the files that visitors keep.

pub mod weights;
