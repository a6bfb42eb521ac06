//! The mark of people: one vector that a base in training adds to the speaker vectors of all people, and to no engine's.
//!
//! What recordings of people have in common, their rooms and microphones and the sound of a voice, is learned once, and not in the row of each speaker, as machine
//! translation tags the sentences that a machine wrote (Caswell et al. 2019, "Tagged back-translation"). In training it is the last row of the speaker table.
//! In the end it is folded into the rows of people, and a base knows nothing of it.

use burn::{module::Param, prelude::*};

use crate::corpus::engines::SpeechEngine;
use ownvoice::{Error, Result, features::Features};

/// The speakers that are people, and those made from recordings of people, with their rows.
pub fn people(features: &Features) -> impl Iterator<Item = (usize, &String)> {
    features.speakers.iter().enumerate().filter(|(_, name)| !SpeechEngine::is_voice(name))
}

/// Marks all speakers that are people. Fails with `option-invalid` where none is.
pub fn add_domain_embedding(features: &mut Features) -> Result<()> {
    features.marked = people(features).map(|(speaker, _)| speaker).collect();
    match features.marked.is_empty() {
        true => Err(Error::option_invalid("there is no person to mark: all speakers are engines' voices")),
        false => Ok(()),
    }
}

/// The speaker table without the mark, which the rows of the marked have taken in, `[S, V]`.
///
/// * `table`: `[S + 1, V]`
pub fn folded(features: &Features, table: Param<Tensor<2>>) -> Param<Tensor<2>> {
    let (table, speakers) = (table.val().inner(), features.speakers.len());
    let share = |speaker| f32::from(u8::from(features.marked.contains(&speaker)));
    let shares = TensorData::new((0..speakers).map(share).collect(), [speakers, 1]);
    let shares = Tensor::<2>::from_data(shares, &table.device());
    let mark = table.clone().narrow(0, speakers, 1);
    let folded = table.narrow(0, 0, speakers) + shares.matmul(mark);
    Param::from_tensor(Tensor::from_inner(folded))
}
