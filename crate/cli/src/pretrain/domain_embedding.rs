//! A learned domain embedding for human speakers: one vector that a pretraining adds to the speaker embeddings of people, but not to those of speech engines.
//!
//! The embedding learns what recordings of people have in common, such as rooms and microphones, so that it is not learned in the row of each speaker. Machine
//! translation tags synthetic sentences in the same way (Caswell et al. 2019, "Tagged back-translation"). During training, the embedding is the last row of the
//! speaker table; afterwards it is added to the rows of people, so that the base has no such row.

use burn::{module::Param, prelude::*};

use crate::corpus::engines::SpeechEngine;
use ownvoice::{Error, Result, features::Features};

/// Returns the rows and names of speakers who are people, including those made from recordings of people.
pub fn people(features: &Features) -> impl Iterator<Item = (usize, &String)> {
    features.speakers.iter().enumerate().filter(|(_, name)| !SpeechEngine::is_voice(name))
}

/// Gives all speakers who are people the domain embedding. Fails with `option-invalid` if there are none.
pub fn add_domain_embedding(features: &mut Features) -> Result<()> {
    features.marked = people(features).map(|(speaker, _)| speaker).collect();
    match features.marked.is_empty() {
        true => Err(Error::option_invalid(
            "a domain embedding needs people among the speakers; all of them are speech engines",
        )),
        false => Ok(()),
    }
}

/// Returns the speaker table `[S, V]` without the domain embedding, which is added to the rows of people.
///
/// * `table`: `[S + 1, V]`
pub fn folded(features: &Features, table: Param<Tensor<2>>) -> Param<Tensor<2>> {
    let (table, speakers) = (table.val().inner(), features.speakers.len());
    let is_marked = |speaker| f32::from(u8::from(features.marked.contains(&speaker)));
    let marks = TensorData::new((0..speakers).map(is_marked).collect(), [speakers, 1]);
    let marks = Tensor::<2>::from_data(marks, &table.device());
    let embedding = table.clone().narrow(0, speakers, 1);
    let folded = table.narrow(0, 0, speakers) + marks.matmul(embedding);
    Param::from_tensor(Tensor::from_inner(folded))
}
