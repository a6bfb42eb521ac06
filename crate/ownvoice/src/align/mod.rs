//! Forced alignment: finds when each symbol of a recording is spoken, by the best monotonic path through the recogniser's posteriors (Viterbi 1967).

pub mod adapt;
mod lattice;
mod mismatch;
mod phoneme_errors;
mod reading;
pub mod recogniser;
pub mod segment;

use crate::{
    Error, Result,
    audio::mel::Mel,
    text::symbols::{self, Symbol},
};
use burn::prelude::*;
use burn_fused::{
    Mode,
    weights::{Metadata, Storage, apply_all, collect, deserialize, serialize},
};
use lattice::{Lattice, PHONE_FRAMES};
pub use mismatch::MISMATCH_SCORE;
pub use phoneme_errors::{Edits, PhonemeErrors, edits, said};
use recogniser::{CLASSES, PAUSE, Recogniser, class, normalise};

/// A forced aligner, which holds the phone recogniser.
#[derive(Debug, Clone)]
pub struct ForcedAligner {
    pub(crate) model: Recogniser,
    pub(crate) mels: usize,
    pub(crate) device: Device,
}

/// The symbols of a recording and their durations.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// The given symbols, and a silence after each word where the speaker paused.
    pub symbols: Vec<Symbol>,
    /// The frames of each symbol, at least one; their sum is the recording's frames.
    pub durations: Vec<u32>,
    /// The mean log posterior of the phones' frames: 0 is certainty, see [`MISMATCH_SCORE`].
    pub score: f32,
}

impl Alignment {
    /// Returns the length of the longest run of phones with the minimum duration each: a long run is a word that was not spoken.
    pub fn longest_min_duration_run(&self) -> usize {
        let phones =
            self.symbols.iter().zip(&self.durations).filter(|(symbol, _)| symbols::is_phone(**symbol));
        let (mut longest, mut run) = (0, 0);
        for (_, &frames) in phones {
            run = if frames as usize <= PHONE_FRAMES { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        longest
    }
}

/// The least log posterior of a frame: one badly recognised phone must not displace its neighbours.
const MIN_LOG_POSTERIOR: f32 = -8.0;
/// The cost of a change of phone in free decoding, without a text, in nats.
const CHANGE_COST: f32 = 3.0;

impl ForcedAligner {
    /// Loads an aligner from the bytes of `models/base/aligner.safetensors`.
    pub fn load(bytes: &[u8], device: &Device) -> Result<Self> {
        let corrupt = |what: String| Error::base_corrupt(format!("aligner: {what}"));
        let (weights, metadata) = deserialize(bytes).map_err(corrupt)?;
        if metadata.get("symbols") != Some(&symbols::version()) {
            return Err(corrupt("it was made with another symbol table".into()));
        }
        let mels =
            metadata.get("mels").and_then(|mels| mels.parse().ok()).filter(|mels| (1..=1024).contains(mels));
        let mels = mels.ok_or_else(|| corrupt("its number of channels is missing or invalid".into()))?;
        let model = apply_all(Recogniser::new(mels, device), weights).map_err(corrupt)?;
        Ok(Self { model, mels, device: device.clone() })
    }

    /// Encodes the file that [`Self::load`] reads.
    pub async fn serialize(model: &Recogniser, mels: usize) -> Result<Vec<u8>> {
        let metadata = [("symbols", symbols::version()), ("mels", mels.to_string())];
        let metadata: Metadata = metadata.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
        Ok(serialize(collect(model), Storage::Half, metadata).await?)
    }

    /// Aligns `symbols` with a recording. `word_ends` marks the last symbol of each word, see [`crate::text::to_symbols`].
    ///
    /// # Errors
    /// Fails with `clip-mismatch` if the recording has other words than the symbols, more or fewer, or if it is too short for them.
    pub async fn align(&self, mel: &Mel, symbols: &[Symbol], word_ends: &[bool]) -> Result<Alignment> {
        let posteriors = self.posteriors(mel).await?;
        let alignment = best_alignment(&posteriors, symbols, word_ends)?;
        mismatch::check(&alignment, &posteriors, &best_path(&posteriors))?;
        Ok(alignment)
    }

    /// Aligns as [`Self::align`] does, but accepts every score.
    pub async fn align_unchecked(
        &self,
        mel: &Mel,
        symbols: &[Symbol],
        word_ends: &[bool],
    ) -> Result<Alignment> {
        best_alignment(&self.posteriors(mel).await?, symbols, word_ends)
    }

    /// Counts phoneme errors: edits from the recognised phones to those of `symbols`, without pauses.
    pub async fn phoneme_errors(&self, mel: &Mel, symbols: &[Symbol]) -> Result<PhonemeErrors> {
        let (recognised, said) = (self.transcribe(mel).await?, said(symbols));
        Ok(PhonemeErrors { errors: edits(&recognised, &said).count, length: said.len() })
    }

    /// Recognises the classes of the phones, without pauses.
    pub async fn transcribe(&self, mel: &Mel) -> Result<Vec<usize>> {
        Ok(decode(&self.posteriors(mel).await?))
    }

    /// Computes the posterior of each of `symbols` in each frame, `[T, L]`, 0 to 1, regardless of the symbol's position in the text.
    pub async fn symbol_posteriors(&self, mel: &Mel, symbols: &[Symbol]) -> Result<Vec<f32>> {
        let posteriors = self.posteriors(mel).await?;
        Ok(posteriors
            .iter()
            .flat_map(|frame| symbols.iter().map(|&symbol| frame[class(symbol)].exp()))
            .collect())
    }

    /// Computes the probability of each class in each frame over all paths through the text, `[T, CLASSES]`. Returns `None` if the recording is too short for
    /// the symbols.
    pub(crate) async fn occupancies(
        &self,
        mel: &Mel,
        symbols: &[Symbol],
        word_ends: &[bool],
    ) -> Result<Option<Vec<[f32; CLASSES]>>> {
        let posteriors = self.posteriors(mel).await?;
        let lattice = Lattice::fitting(symbols, word_ends, posteriors.len());
        Ok(lattice.and_then(|lattice| lattice.occupancies(&posteriors)))
    }

    /// Computes the log posteriors of the classes in each frame.
    async fn posteriors(&self, mel: &Mel) -> Result<Vec<[f32; CLASSES]>> {
        if mel.mels != self.mels {
            return Err(Error::option_invalid(format!(
                "the aligner takes {} channels, the spectrogram has {}",
                self.mels, mel.mels
            )));
        }
        if mel.frames() == 0 {
            return Err(Error::clip_empty());
        }
        let mut frames = mel.data.clone();
        normalise(&mut frames, self.mels);
        let input = Tensor::from_data(TensorData::new(frames, [1, mel.frames(), self.mels]), &self.device);
        let output = self.model.forward(input, Mode::Eval).into_data_async().await;
        let values = output
            .map_err(|error| Error::device_lost(format!("{error:?}")))?
            .try_to_vec::<f32>()
            .expect("posteriors are f32");
        Ok(values
            .chunks_exact(CLASSES)
            .map(|frame| std::array::from_fn(|class| frame[class].max(MIN_LOG_POSTERIOR)))
            .collect())
    }
}

/// Returns the best path through the symbols. Fails with `clip-mismatch` if there are fewer frames than symbols.
fn best_alignment(
    posteriors: &[[f32; CLASSES]],
    symbols: &[Symbol],
    word_ends: &[bool],
) -> Result<Alignment> {
    let frames = posteriors.len();
    let lattice = Lattice::fitting(symbols, word_ends, frames);
    lattice.and_then(|lattice| lattice.best_path(posteriors)).ok_or_else(|| {
        Error::clip_mismatch(format!("{frames} frames are too few for {} symbols", symbols.len()))
    })
}

/// Divides the frames of adjacent pauses evenly among them, as in the corpus, because they sound alike.
fn share(symbols: &[Symbol], durations: &mut [u32]) {
    let mut first = 0;
    for group in symbols.chunk_by(|a, b| symbols::is_pause(*a) && symbols::is_pause(*b)) {
        let durations = &mut durations[first..first + group.len()];
        let (total, count) = (durations.iter().sum::<u32>(), group.len() as u32);
        durations
            .iter_mut()
            .zip(0..)
            .for_each(|(frames, index)| *frames = total * (index + 1) / count - total * index / count);
        first += group.len();
    }
}

/// Returns the recognised phones, without pauses.
fn decode(posteriors: &[[f32; CLASSES]]) -> Vec<usize> {
    let mut path = best_path(posteriors);
    path.dedup();
    path.retain(|&class| class != PAUSE);
    path
}

/// Returns the most likely class of each frame where any class may follow any other. Each change costs [`CHANGE_COST`], so that a single outlier is not a
/// phone.
fn best_path(posteriors: &[[f32; CLASSES]]) -> Vec<usize> {
    let mut scores = [0.0f32; CLASSES];
    let mut origins = Vec::with_capacity(posteriors.len());
    let best = |scores: &[f32; CLASSES]| {
        (0..CLASSES).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).expect("there are classes")
    };
    for frame in posteriors {
        let from = best(&scores);
        let changed = scores[from] - CHANGE_COST;
        let mut origin = [0; CLASSES];
        for class in 0..CLASSES {
            origin[class] = if scores[class] >= changed { class } else { from };
            scores[class] = scores[class].max(changed) + frame[class];
        }
        origins.push(origin);
    }
    let mut class = best(&scores);
    let mut path = Vec::with_capacity(posteriors.len());
    for origin in origins.iter().rev() {
        path.push(class);
        class = origin[class];
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::{
        mel::{MelConfig, MelExtractor},
        wav,
    };
    use crate::text::{Phonemizer, to_symbols};

    const WEIGHTS: &[u8] = include_bytes!("../../../../models/base/aligner.safetensors");

    /// The posteriors of a nearly certain recogniser, from one name for each frame.
    fn posteriors(names: &str) -> Vec<[f32; CLASSES]> {
        let classes = symbols::parse(names).unwrap().into_iter().map(class);
        classes.map(|best| std::array::from_fn(|class| if class == best { -0.1 } else { -6.0 })).collect()
    }

    /// Aligns symbols where `|` marks the end of a word.
    fn aligned(said: &str, frames: &str) -> Option<(String, Vec<u32>)> {
        let (mut all, mut ends) = (Vec::new(), Vec::new());
        for name in said.split(' ') {
            match name {
                "|" => *ends.last_mut().unwrap() = true,
                name => {
                    all.push(Symbol::from_name(name).unwrap());
                    ends.push(false);
                }
            }
        }
        let posteriors = posteriors(frames);
        let alignment = Lattice::fitting(&all, &ends, posteriors.len())?.best_path(&posteriors)?;
        Some((symbols::format(&alignment.symbols), alignment.durations))
    }

    #[test]
    fn frames_go_to_the_most_probable_symbols() {
        let frames = "_ _ K K K AE0 AE0 AE0 AE0 T T _ _ _ _ _";
        // The last two pauses share their five frames.
        assert_eq!(
            aligned("_ K AE1 T | . _", frames),
            Some(("_ K AE1 T . _".into(), vec![2, 3, 4, 2, 2, 3]))
        );
    }

    #[test]
    fn an_unspoken_word_is_a_run_of_minimum_durations() {
        let hasty = |names: &str, durations: Vec<u32>| {
            Alignment { symbols: symbols::parse(names).unwrap(), durations, score: 0.0 }
                .longest_min_duration_run()
        };
        // Short pauses neither count nor end a run.
        assert_eq!(hasty("_ K AE1 T _ S IH1 T _", vec![1, 6, 9, 2, 1, 2, 1, 2, 1]), 4);
        assert_eq!(hasty("_ K AE1 T _ S IH1 T _", vec![1, 2, 9, 2, 1, 2, 3, 2, 1]), 2);
        assert_eq!(hasty("_", vec![1]), 0);
    }

    #[test]
    fn a_pause_is_inserted_where_the_speaker_paused() {
        let said = "_ K AE1 T | S IH1 T | _";
        let pause = "_ _ K K AE1 AE1 T T _ _ _ _ _ _ S S IH1 IH1 T T _";
        assert_eq!(
            aligned(said, pause),
            Some(("_ K AE1 T _ S IH1 T _".into(), vec![2, 2, 2, 2, 6, 2, 2, 2, 1]))
        );
        // A stop's closure is too short for a pause and belongs to a neighbour.
        let closure = "_ _ K K AE1 AE1 T T _ S S IH1 IH1 T T _";
        let (symbols, durations) = aligned(said, closure).unwrap();
        assert_eq!(symbols, "_ K AE1 T S IH1 T _");
        assert_eq!(durations.iter().sum::<u32>(), 16);
        // No pause is inserted inside a word.
        assert_eq!(aligned("_ K AE1 T S IH1 T | _", pause).unwrap().0, "_ K AE1 T S IH1 T _");
    }

    #[test]
    fn a_comma_without_a_pause_keeps_a_frame() {
        let (symbols, durations) =
            aligned("_ K AE1 T | , S IH1 T | _", "_ K K AE1 AE1 T T S S IH1 IH1 T T _").unwrap();
        assert_eq!(symbols, "_ K AE1 T , S IH1 T _");
        assert_eq!((durations[4], durations.iter().sum::<u32>()), (1, 14));
    }

    #[test]
    fn every_symbol_has_a_frame_or_there_is_no_path() {
        assert_eq!(aligned("_ K AE1 T | _", "_ K AE1 T _"), Some(("_ K AE1 T _".into(), vec![1; 5])));
        assert_eq!(aligned("_ K AE1 T | _", "_ K T _"), None);
    }

    #[test]
    fn a_single_outlier_is_not_a_phone() {
        let names = |frames: &str| symbols::parse(frames).unwrap().into_iter().map(class).collect::<Vec<_>>();
        assert_eq!(decode(&posteriors("_ _ K K K T K K AE1 AE1 AE1 _ _ _")), names("K AE1"));
    }

    #[test]
    fn spelling_marks_the_ends_of_words() {
        let (symbols, ends) = to_symbols(&Phonemizer::embedded().words("Two cats, so.").unwrap());
        assert_eq!(symbols::format(&symbols), "_ T UW1 K AE1 T S , S OW1 . _");
        let after: Vec<usize> = (0..ends.len()).filter(|&index| ends[index]).collect();
        assert_eq!(after, [2, 6, 9]);
    }

    /// The recording is of a voice that nothing was trained on.
    #[test]
    fn another_sentence_scores_lower() {
        let clip = wav::read(include_bytes!("../../../../tests/fixtures/held-out.wav")).unwrap();
        let mel =
            MelExtractor::new(MelConfig::speech_16k()).extract(&clip.samples[..(6.975 * 16_000.0) as usize]);
        let phonemizer = Phonemizer::embedded();
        let aligner = ForcedAligner::load(WEIGHTS, &Device::flex()).unwrap();
        let script = |text: &str| to_symbols(&phonemizer.words(text).unwrap());
        let (own, ends) = script(
            "My younger brother enjoys boiling fresh corn and sharing it with everybody on the beach each July.",
        );
        let alignment = pollster::block_on(aligner.align(&mel, &own, &ends)).unwrap();
        assert_eq!(alignment.durations.iter().sum::<u32>() as usize, mel.frames());
        assert!(
            alignment.durations.iter().all(|&frames| frames > 0)
                && alignment.durations.len() == alignment.symbols.len()
        );
        let errors = pollster::block_on(aligner.phoneme_errors(&mel, &own)).unwrap();
        assert!(errors.errors * 2 < errors.length, "{errors:?}");
        let (other, ends) = script(
            "Please don't forget to water the violets, feed the fish, and lock the back gate behind you.",
        );
        assert_eq!(
            pollster::block_on(aligner.align(&mel, &other, &ends)).unwrap_err().code(),
            "clip-mismatch"
        );
        let short = Mel { mels: 80, data: mel.data[..20 * 80].to_vec() };
        assert_eq!(
            pollster::block_on(aligner.align(&short, &other, &ends)).unwrap_err().code(),
            "clip-mismatch"
        );
    }

    #[test]
    fn damaged_weights_are_an_error() {
        let code = |bytes: &[u8]| ForcedAligner::load(bytes, &Device::flex()).unwrap_err().code();
        assert_eq!(code(&[]), "base-corrupt");
        assert_eq!(code(&WEIGHTS[..WEIGHTS.len() / 2]), "base-corrupt");
        let device = Device::flex();
        let other_channels =
            pollster::block_on(ForcedAligner::serialize(&Recogniser::new(8, &device), 80)).unwrap();
        assert_eq!(code(&other_channels), "base-corrupt");
        let without_metadata = pollster::block_on(serialize(
            collect(&Recogniser::new(80, &device)),
            Storage::Half,
            Metadata::new(),
        ))
        .unwrap();
        assert_eq!(code(&without_metadata), "base-corrupt");
    }
}
