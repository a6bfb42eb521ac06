//! Kokoro-82M as a speech engine: it turns our symbols into sound at 24 kHz and the time of each phone.
//!
//! The model runs in Python with onnxruntime (`kokoro.py`, one process for a whole corpus). A voice is a table of style vectors, and any convex combination
//! of voices is a new speaker.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde::{Deserialize, Serialize};

use super::phones::EnginePhone;
use ownvoice::{
    Error, Result, files,
    text::{
        Word,
        symbols::{self, Symbol},
    },
};

/// The sample rate of the model.
pub const SAMPLE_RATE_HZ: u32 = 24_000;
/// One frame of the durations that the model predicts.
const FRAME_SECONDS: f32 = 0.025;
/// How much earlier a phone sounds than its predicted frames say: the median over 5,000 boundaries of three voices that the aligner placed. Half of the
/// boundaries are within 15 ms of it.
const LAG_SECONDS: f32 = 0.055;
/// The root mean square of 10 ms below which the sound is silence, relative to the peak.
const SILENCE: f32 = 0.01;
/// The least frames of a space between words that is labelled as a pause.
const PAUSE_FRAMES: f32 = 4.0;
/// The length of a style vector.
const STYLE: usize = 256;
/// The style vectors of a voice, one for each number of tokens.
const ROWS: usize = 510;

/// Our symbols, without stress, and Kokoro's phonemes: IPA in which a diphthong is a capital letter and an affricate is one letter.
#[rustfmt::skip]
const PHONEMES: &[(&str, &str)] = &[
    (",", ","), (".", "."), ("?", "?"), ("!", "!"),
    ("B", "b"), ("CH", "ʧ"), ("D", "d"), ("DH", "ð"), ("F", "f"), ("G", "ɡ"), ("HH", "h"), ("JH", "ʤ"), ("K", "k"), ("L", "l"), ("M", "m"), ("N", "n"),
    ("NG", "ŋ"), ("P", "p"), ("R", "ɹ"), ("S", "s"), ("SH", "ʃ"), ("T", "t"), ("TH", "θ"), ("V", "v"), ("W", "w"), ("Y", "j"), ("Z", "z"), ("ZH", "ʒ"),
    ("AA", "ɑ"), ("AE", "æ"), ("AH", "ʌ"), ("AO", "ɔ"), ("AW", "W"), ("AY", "I"), ("EH", "ɛ"), ("ER", "ɜɹ"), ("EY", "A"), ("IH", "ɪ"), ("IY", "i"),
    ("OW", "O"), ("OY", "Y"), ("UH", "ʊ"), ("UW", "u"),
];
/// The unstressed vowels that have phonemes of their own.
const REDUCED: &[(&str, &str)] = &[("AH", "ə"), ("ER", "əɹ")];
/// The T of "city".
const FLAP: &str = "T";

/// The token of each phoneme, stress mark and space in the model's vocabulary.
#[rustfmt::skip]
const TOKENS: &[(char, i64)] = &[
    (',', 3), ('.', 4), ('!', 5), ('?', 6), (' ', 16), ('A', 24), ('I', 25), ('O', 31), ('T', 36), ('W', 39), ('Y', 41), ('b', 44), ('d', 46), ('f', 48),
    ('h', 50), ('i', 51), ('j', 52), ('k', 53), ('l', 54), ('m', 55), ('n', 56), ('p', 58), ('s', 61), ('t', 62), ('u', 63), ('v', 64), ('w', 65),
    ('z', 68), ('ɑ', 69), ('æ', 72), ('ɔ', 76), ('ð', 81), ('ʤ', 82), ('ə', 83), ('ɛ', 86), ('ɜ', 87), ('ɡ', 92), ('ɪ', 102), ('ŋ', 112), ('θ', 119),
    ('ɹ', 123), ('ʃ', 131), ('ʧ', 133), ('ʊ', 135), ('ʌ', 138), ('ʒ', 147), ('ˈ', 156), ('ˌ', 157),
];

/// Function words that are spoken without stress, although the dictionary marks a stress in every word of one syllable.
const WEAK: &[&str] = &[
    "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "for", "from", "had", "has",
    "have", "he", "her", "him", "his", "i'm", "if", "in", "is", "it", "it's", "its", "me", "my", "of", "on",
    "or", "she", "should", "so", "than", "that", "their", "them", "they", "to", "us", "was", "we", "were",
    "will", "with", "would", "you", "your",
];

/// The part of a sentence that a token belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Owner {
    /// A phone or a punctuation mark, and its index among those of the sentence.
    Symbol(Symbol, usize),
    Space,
}

/// A sentence in Kokoro's phonemes.
#[derive(Debug, Clone, PartialEq)]
pub struct Phonemes {
    ipa: String,
    /// The owner of each character of `ipa`.
    owners: Vec<Owner>,
}

impl Phonemes {
    /// Converts words to phonemes.
    ///
    /// # Errors
    /// `text-unsupported` if a symbol has no phoneme, or if there are more tokens than the model takes.
    pub fn new(words: &[Word]) -> Result<Self> {
        let mut phonemes = Self { ipa: String::new(), owners: Vec::new() };
        let mut count = 0;
        for (index, word) in words.iter().enumerate() {
            if index > 0 && !word.is_pause() {
                phonemes.push(" ", Owner::Space);
            }
            let is_weak = WEAK.contains(&word.text.as_str());
            for (position, &symbol) in word.symbols.iter().enumerate() {
                let ipa =
                    phoneme(&word.symbols, position).ok_or_else(|| Error::text_unsupported(&word.text))?;
                let owner = Owner::Symbol(symbol, count);
                match symbols::stress(symbol) {
                    Some(1) if !is_weak => phonemes.push("ˈ", owner),
                    Some(2) => phonemes.push("ˌ", owner),
                    _ => {}
                }
                phonemes.push(ipa, owner);
                count += 1;
            }
        }
        match phonemes.owners.len() {
            1..ROWS => Ok(phonemes),
            _ => Err(Error::text_unsupported(&phonemes.ipa)),
        }
    }

    fn push(&mut self, ipa: &str, owner: Owner) {
        self.ipa += ipa;
        self.owners.extend(ipa.chars().map(|_| owner));
    }

    fn tokens(&self) -> Vec<i64> {
        self.ipa.chars().map(|c| token(c).expect("the table of tokens holds every phoneme")).collect()
    }

    /// Returns the phones with their ends, given the frames of each token and of the padding at both ends. A short gap between two words is halved between the
    /// phones beside it.
    fn phones(&self, frames: &[f32]) -> Vec<EnginePhone> {
        let mut ends = vec![("pau", frames[0])];
        let mut now = frames[0];
        let mut last = None;
        for (owner, frames) in self.owners.iter().zip(&frames[1..]) {
            match *owner {
                Owner::Symbol(..) if last == Some(*owner) => {
                    ends.last_mut().expect("the start").1 = now + frames;
                }
                Owner::Symbol(symbol, _) if symbols::is_pause(symbol) => ends.push(("pau", now + frames)),
                Owner::Symbol(symbol, _) => {
                    ends.push((symbol.name().trim_end_matches(|c: char| c.is_ascii_digit()), now + frames));
                }
                Owner::Space => {
                    let (name, end) = ends.last_mut().expect("the start");
                    match *name {
                        "pau" => *end = now + frames,
                        _ if *frames >= PAUSE_FRAMES => ends.push(("pau", now + frames)),
                        _ => *end = now + frames / 2.0,
                    }
                }
            }
            (last, now) = (Some(*owner), now + frames);
        }
        let end = now + frames.last().expect("the pad at the end");
        match ends.last_mut() {
            Some(("pau", last)) => *last = end,
            _ => ends.push(("pau", end)),
        }
        ends.into_iter()
            .map(|(name, end)| {
                EnginePhone::new(name.to_ascii_lowercase(), (end * FRAME_SECONDS - LAG_SECONDS).max(0.0))
            })
            .collect()
    }
}

/// Returns the phoneme of one symbol of a word, without its stress mark.
fn phoneme(word: &[Symbol], position: usize) -> Option<&'static str> {
    let plain = word[position].name().trim_end_matches(|c: char| c.is_ascii_digit());
    let entry = |table: &[(&str, &'static str)]| {
        table.iter().find(|(symbol, _)| *symbol == plain).map(|(_, ipa)| *ipa)
    };
    match symbols::stress(word[position]) {
        Some(0) => entry(REDUCED).or_else(|| entry(PHONEMES)),
        None if plain == "T" && is_flapped(word, position) => Some(FLAP),
        _ => entry(PHONEMES),
    }
}

/// Whether American English taps a T: it does between vowels of which the second is unstressed ("city", "party"), but not before a syllabic N ("button").
fn is_flapped(word: &[Symbol], position: usize) -> bool {
    let name = |index: usize| word.get(index).map(|symbol| symbol.name());
    let follows_vowel = position.checked_sub(1).is_some_and(|before| {
        symbols::is_vowel(word[before])
            || name(before) == Some("R")
                && before.checked_sub(1).is_some_and(|index| symbols::is_vowel(word[index]))
    });
    let next_is_weak = word.get(position + 1).is_some_and(|symbol| symbols::stress(*symbol) == Some(0));
    follows_vowel && next_is_weak && !(name(position + 1) == Some("AH0") && name(position + 2) == Some("N"))
}

fn token(phoneme: char) -> Option<i64> {
    TOKENS.iter().find(|(other, _)| *other == phoneme).map(|(_, token)| *token)
}

/// Ends each phone before a pause where its sound ends: the model counts most of the pause among the frames of the phone. The last phone ends with the samples.
fn end_before_pauses(phones: &mut [EnginePhone], samples: &[f32]) {
    let block = SAMPLE_RATE_HZ as usize / 100;
    let peak = samples.iter().fold(0.0f32, |peak, sample| peak.max(sample.abs()));
    let is_loud = |block: &[f32]| {
        let power = block.iter().map(|sample| sample * sample).sum::<f32>() / block.len() as f32;
        power.sqrt() > SILENCE * peak
    };
    let loud: Vec<bool> = samples.chunks(block).map(is_loud).collect();
    if let Some(last) = phones.last_mut() {
        last.end_seconds = samples.len() as f32 / SAMPLE_RATE_HZ as f32;
    }
    for index in 1..phones.len() {
        if phones[index].is_pause() && !phones[index - 1].is_pause() {
            let start = index.checked_sub(2).map_or(0.0, |before| phones[before].end_seconds);
            let end = phones[index - 1].end_seconds;
            let [first, after] =
                [start, end].map(|seconds| ((seconds * 100.0).round() as usize).min(loud.len()));
            if let Some(last) = loud[first..after.max(first)].iter().rposition(|loud| *loud) {
                phones[index - 1].end_seconds = end.min((first + last + 1) as f32 / 100.0);
            }
        }
    }
}

/// The style vectors of one voice by number of tokens. Tempo and level depend on the row.
#[derive(Debug, Clone, PartialEq)]
pub struct Style(Vec<f32>);

impl Style {
    /// Reads a file of the npm package kokoro-js: 510 x 256 little-endian floats.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = files::read(path)?;
        let style: Vec<f32> = bytes
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes")))
            .collect();
        if style.len() == ROWS * STYLE && style.iter().all(|value| value.is_finite()) {
            Ok(Self(style))
        } else {
            Err(Error::corpus_invalid(format!("{}: not a voice of Kokoro-82M", path.display())))
        }
    }

    /// Returns the weighted mean of voices. The weights sum to one.
    pub fn mix<'a>(styles: impl IntoIterator<Item = (&'a Self, f32)>) -> Self {
        let mut mixed = vec![0.0; ROWS * STYLE];
        for (Self(style), weight) in styles {
            mixed.iter_mut().zip(style).for_each(|(sum, value)| *sum += weight * value);
        }
        Self(mixed)
    }

    fn row(&self, tokens: usize) -> &[f32] {
        &self.0[tokens * STYLE..][..STYLE]
    }
}

#[derive(Serialize)]
struct Request<'a> {
    tokens: &'a [i64],
    style: &'a [f32],
    speed: f32,
}

#[derive(Deserialize)]
struct Answer {
    samples: usize,
    frames: Vec<f32>,
}

/// A Python process that runs the model.
#[derive(Debug)]
pub struct Kokoro {
    process: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Kokoro {
    /// Starts Python. Missing packages are reported by the first call of [`Kokoro::speak`].
    pub fn start() -> Result<Self> {
        let mut process = Command::new("python3")
            .args(["-c", include_str!("kokoro.py")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Error::corpus_invalid(format!("python3 does not start ({error})")))?;
        let requests = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        Ok(Self { process, requests, answers })
    }

    /// Returns the samples of a sentence, and its phones with the silence around them.
    ///
    /// # Errors
    /// `corpus-invalid` if Python fails; its message names the packages that are missing.
    pub fn speak(
        &mut self,
        phonemes: &Phonemes,
        style: &Style,
        speed: f32,
    ) -> Result<(Vec<f32>, Vec<EnginePhone>)> {
        let tokens = phonemes.tokens();
        let request = Request { tokens: &tokens, style: style.row(tokens.len()), speed };
        let line = serde_json::to_string(&request).expect("plain data");
        let requests = self.requests.as_mut().expect("closed only by drop");
        let written = writeln!(requests, "{line}").and_then(|()| requests.flush());
        let mut answer = String::new();
        let read = written.and_then(|()| self.answers.read_line(&mut answer));
        let answer = read.ok().and_then(|_| serde_json::from_str::<Answer>(&answer).ok());
        let Some(Answer { samples, frames }) = answer else { return Err(self.failure()) };
        let mut bytes = vec![0; 4 * samples];
        if self.answers.read_exact(&mut bytes).is_err() || frames.len() != tokens.len() + 2 {
            return Err(self.failure());
        }
        let samples: Vec<f32> = bytes
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes")))
            .collect();
        let mut phones = phonemes.phones(&frames);
        end_before_pauses(&mut phones, &samples);
        Ok((samples, phones))
    }

    /// Ends the process and returns an error with its standard error.
    fn failure(&mut self) -> Error {
        let _ = self.process.kill();
        let mut said = String::new();
        if let Some(mut stderr) = self.process.stderr.take() {
            let _ = stderr.read_to_string(&mut said);
        }
        Error::corpus_invalid(format!("Kokoro in python3 failed: {}", said.trim()))
    }
}

impl Drop for Kokoro {
    fn drop(&mut self) {
        self.requests = None; // The end of its input ends the process.
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::text::Phonemizer;

    fn phonemes(text: &str) -> Phonemes {
        Phonemes::new(&Phonemizer::embedded().words(text).unwrap()).unwrap()
    }

    #[test]
    fn every_spoken_symbol_has_a_phoneme_and_every_phoneme_a_token() {
        let is_spoken = |symbol: &Symbol| ![symbols::PAD, symbols::SILENCE].contains(symbol);
        for symbol in Symbol::all().filter(is_spoken) {
            let ipa = phoneme(&[symbol], 0).unwrap_or_else(|| panic!("{}", symbol.name()));
            assert!(ipa.chars().all(|c| token(c).is_some()), "{ipa}");
        }
        assert!([' ', 'ˈ', 'ˌ', 'T'].iter().all(|c| token(*c).is_some()));
        for unspoken in [symbols::PAD, symbols::SILENCE] {
            assert_eq!(phoneme(&[unspoken], 0), None);
        }
    }

    #[test]
    fn sentences_follow_kokoro_s_conventions() {
        assert_eq!(
            phonemes("The quick brown fox jumps over the lazy dog.").ipa,
            "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˈOvəɹ ðə lˈAzi dˈɔɡ."
        );
        assert_eq!(phonemes("It was a dirty button, wasn't it?").ipa, "ɪt wɑz ə dˈɜɹTi bˈʌtən, wˈɑzənt ɪt?");
        assert_eq!(phonemes("Boys thought of measure.").ipa, "bˈYz θˈɔt ʌv mˈɛʒəɹ.");
    }

    #[test]
    fn phones_have_the_frames_of_their_tokens() {
        let phonemes = phonemes("It was, sir.");
        assert_eq!(phonemes.ipa, "ɪt wɑz, sˈɜɹ.");
        // ɪ t _ w ɑ z , _ s ˈ ɜ ɹ .
        let frames = [4.0, 2.0, 1.0, 2.0, 1.0, 2.0, 3.0, 5.0, 1.0, 2.0, 1.0, 2.0, 2.0, 8.0, 1.0];
        let phones: Vec<_> = phonemes
            .phones(&frames)
            .into_iter()
            .map(|phone| (phone.name, ((phone.end_seconds + LAG_SECONDS) / FRAME_SECONDS).round()))
            .collect();
        let expected = [
            ("pau", 4.0),
            ("ih", 6.0),
            ("t", 8.0),
            ("w", 10.0),
            ("aa", 12.0),
            ("z", 15.0),
            ("pau", 21.0),
            ("s", 23.0),
            ("er", 28.0),
            ("pau", 37.0),
        ];
        assert_eq!(phones, expected.map(|(name, end)| (name.to_string(), end)));
    }

    #[test]
    fn a_phone_before_a_pause_ends_with_its_sound() {
        let sound = |value: f32, seconds: f32| vec![value; (seconds * SAMPLE_RATE_HZ as f32) as usize];
        let samples =
            [sound(0.0, 0.1), sound(0.5, 0.3), sound(0.001, 0.3), sound(0.5, 0.2), sound(0.0, 0.1)].concat();
        let ends = [("pau", 0.1), ("aa", 0.25), ("t", 0.6), ("pau", 0.7), ("s", 0.9), ("pau", 0.95)];
        let mut phones = ends.map(|(name, end)| EnginePhone::new(name, end));
        end_before_pauses(&mut phones, &samples);
        assert_eq!(
            phones.map(|phone| (phone.end_seconds * 100.0).round()),
            [10.0, 25.0, 40.0, 70.0, 90.0, 100.0]
        );
    }

    #[test]
    fn a_mix_is_the_weighted_mean_and_its_row_the_number_of_tokens() {
        let style =
            |scale: f32| Style((0..ROWS * STYLE).map(|index| scale * (index / STYLE) as f32).collect());
        let mixed = Style::mix([(&style(1.0), 0.25), (&style(3.0), 0.75)]);
        assert_eq!(mixed.row(2), [5.0; STYLE]);
    }
}
