//! What nets are tuned on.

use std::collections::BTreeMap;

use burn::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

use super::{
    config::NetConfig,
    loss::Targets,
    picture::{Picture, input},
};
use crate::{Error, Result, digest::hex};

/// Examples with their targets, numbered from 0.
pub trait Examples {
    /// The input of the net that learns from them.
    type Input;

    /// Returns the number of examples.
    fn count(&self) -> usize;

    /// Returns some examples as a batch.
    ///
    /// * `random`: a seed by which examples may vary while they are learned from; `None` for the examples as they are
    fn input(&self, examples: &[usize], random: Option<u64>, device: &Device) -> Self::Input;

    /// Returns the targets of some examples.
    fn targets(&self, examples: &[usize]) -> Targets;

    /// Returns the group of an example, of each of which some are held out: its class.
    fn group(&self, _example: usize) -> usize {
        0
    }

    /// Returns a text that differs for other examples. A checkpoint belongs to examples with the same one.
    fn fingerprint(&self) -> String;
}

/// Pictures and their classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Pictures {
    /// The names of the classes.
    pub names: Vec<String>,
    /// The pictures, each with the index of its class.
    pub items: Vec<(Picture, usize)>,
}

impl Pictures {
    /// Fails with `classes-too-few`, with `class-empty` for a class without pictures, or with `example-invalid` for a class without a name.
    pub fn check(&self) -> Result<()> {
        if self.names.len() < 2 {
            return Err(Error::classes_too_few(self.names.len()));
        }
        if let Some((_, class)) = self.items.iter().find(|(_, class)| *class >= self.names.len()) {
            return Err(Error::example_invalid(format!("there is no name for class {class}")));
        }
        let empty = |class: &usize| self.items.iter().all(|(_, of)| of != class);
        match (0..self.names.len()).find(empty) {
            Some(class) => Err(Error::class_empty(&self.names[class])),
            None => Ok(()),
        }
    }
}

/// Pictures in the size of a net's input.
pub struct PictureExamples {
    pub(super) pictures: Pictures,
    pub(super) config: NetConfig,
    /// The most pixels by which a picture is moved at random in each direction.
    pub(super) translation: usize,
}

impl Examples for PictureExamples {
    type Input = Tensor<4>;

    fn count(&self) -> usize {
        self.pictures.items.len()
    }

    fn input(&self, examples: &[usize], random: Option<u64>, device: &Device) -> Tensor<4> {
        let pictures = examples.iter().map(|&example| &self.pictures.items[example].0);
        match random.filter(|_| self.translation > 0) {
            None => input(pictures, &self.config, device),
            Some(seed) => {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                let most = self.translation;
                let mut offset =
                    || [(); 2].map(|()| random.random_range(0..=2 * most) as isize - most as isize);
                let moved: Vec<Picture> =
                    pictures.map(|picture| picture.translated(offset(), &self.config)).collect();
                input(moved.iter(), &self.config, device)
            }
        }
    }

    fn targets(&self, examples: &[usize]) -> Targets {
        Targets::Classes(examples.iter().map(|&example| self.group(example)).collect())
    }

    fn group(&self, example: usize) -> usize {
        self.pictures.items[example].1
    }

    fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for name in &self.pictures.names {
            hash.update(name);
            hash.update([0]);
        }
        for (picture, class) in &self.pictures.items {
            hash.update(class.to_le_bytes());
            hash.update(picture.bytes());
        }
        hex(hash.finalize())
    }
}

/// Splits examples into those that are trained on and those that are held out: one in `every` of each group, and at least one of a group of two or more. If none
/// is held out, all are in both.
pub(super) fn split(examples: &impl Examples, every: usize) -> [Vec<usize>; 2] {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    (0..examples.count())
        .for_each(|example| groups.entry(examples.group(example)).or_default().push(example));
    let (mut train, mut held_out) = (Vec::new(), Vec::new());
    for members in groups.into_values() {
        let every = every.min(members.len());
        for (place, &example) in members.iter().enumerate() {
            let is_held_out = members.len() > 1 && place % every == every - 1;
            if is_held_out { held_out.push(example) } else { train.push(example) }
        }
    }
    train.sort_unstable();
    held_out.sort_unstable();
    if held_out.is_empty() { [train.clone(), train] } else { [train, held_out] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::NetKind;

    fn of_classes(classes: &[usize], names: usize) -> Pictures {
        let config = NetConfig { side: 16, ..NetConfig::of(NetKind::LeNet, 2) };
        let picture = |class: usize| Picture::from_bytes(&[class as u8; 256], &config).unwrap();
        Pictures {
            names: (0..names).map(|class| format!("class {class}")).collect(),
            items: classes.iter().map(|&class| (picture(class), class)).collect(),
        }
    }

    #[test]
    fn some_of_each_class_are_held_out() {
        let held_out = |classes: &[usize]| {
            let config = NetConfig::of(NetKind::LeNet, 3);
            split(&PictureExamples { pictures: of_classes(classes, 3), config, translation: 0 }, 5)
        };
        let many: Vec<usize> = (0..30).map(|example| example % 3).collect();
        assert_eq!(held_out(&many)[1], [12, 13, 14, 27, 28, 29]);
        assert_eq!(
            held_out(&[0, 0, 1, 2, 2, 2]),
            [vec![0, 2, 3, 4], vec![1, 5]],
            "the only one of a class is trained on"
        );
        assert_eq!(held_out(&[0, 1]), [vec![0, 1], vec![0, 1]]);
    }

    #[test]
    fn each_class_needs_a_name_and_pictures() {
        let code =
            |classes: &[usize], names| of_classes(classes, names).check().err().map(|error| error.code());
        assert_eq!(code(&[0, 1], 2), None);
        assert_eq!((code(&[0], 1), code(&[], 0)), (Some("classes-too-few"), Some("classes-too-few")));
        assert_eq!(code(&[0, 0], 2), Some("class-empty"));
        assert_eq!(code(&[0, 1, 2], 2), Some("example-invalid"));
        assert!(of_classes(&[0, 0], 2).check().unwrap_err().to_string().contains("class 1"));
    }
}
