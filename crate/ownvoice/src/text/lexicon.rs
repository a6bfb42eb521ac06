//! The pronouncing dictionary as one compact file: sorted words, front-coded, and their phones, compressed.
//!
//! ```text
//! "OVLX" | version: u8 | uncompressed length: u32 LE | zlib stream of:
//!   word count: u32 LE | byte length of each of the three sections: u32 LE
//!   words:  per word: length of the prefix shared with the word before, plus one (u8), the other letters, 0x00
//!   phones: per word: indices of its symbols (u8), 0x00
//!   rules:  letter-to-sound rules (see `letters`)
//! ```
//!
//! The file is untrusted: sizes are limited before anything is decompressed, and order, letters and symbols are checked.

use super::{
    letters::LetterToSound,
    symbols::{self, Symbol},
};
use crate::{Error, Result};

const MAGIC: &[u8; 5] = b"OVLX\x01";
/// The file decompresses to about 2 MB; a larger stated length means a damaged or hostile file.
const MAX_INFLATED: usize = 16 << 20;
/// It decompresses to less than three times its bytes.
const MAX_RATIO: usize = 16;
/// In bytes.
const MAX_WORD: usize = 64;

/// A pronouncing dictionary with letter-to-sound rules for words outside it.
#[derive(Debug)]
pub struct Lexicon {
    /// All words in one buffer.
    words: Vec<u8>,
    /// The start of each word in `words`, and the end of the last.
    word_starts: Vec<u32>,
    /// The phones of all words in one buffer.
    phones: Vec<Symbol>,
    /// The start of each pronunciation in `phones`, and the end of the last.
    phone_starts: Vec<u32>,
    pub(super) letters: LetterToSound,
}

impl Lexicon {
    /// Parses a file that [`pack`] made.
    pub fn load(file: &[u8]) -> Result<Self> {
        let inflated = inflate(file)?;
        let mut header = inflated
            .chunks_exact(4)
            .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize);
        let (Some(count), Some(words), Some(phones), Some(rules)) =
            (header.next(), header.next(), header.next(), header.next())
        else {
            return Err(Error::lexicon_corrupt("the header is missing"));
        };
        let body = &inflated[16..];
        if words.checked_add(phones).and_then(|sum| sum.checked_add(rules)) != Some(body.len()) {
            return Err(Error::lexicon_corrupt("the sections do not add up to the length of the file"));
        }
        let (word_section, rest) = body.split_at(words);
        let (phone_section, rule_section) = rest.split_at(phones);

        let mut lexicon = Self {
            words: Vec::new(),
            word_starts: vec![0],
            phones: Vec::with_capacity(phones),
            phone_starts: vec![0],
            letters: LetterToSound::load(rule_section)?,
        };
        let mut previous: Vec<u8> = Vec::new();
        for entry in terminated(word_section)? {
            let (shared, rest) =
                entry.split_first().ok_or_else(|| Error::lexicon_corrupt("a word is empty"))?;
            // The length is stored plus one because zero ends an entry.
            let shared = (*shared as usize).wrapping_sub(1);
            if shared > previous.len()
                || shared + rest.len() > MAX_WORD
                || !rest.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'\'')
            {
                return Err(Error::lexicon_corrupt("a word is invalid"));
            }
            let mut word = previous[..shared].to_vec();
            word.extend_from_slice(rest);
            if word <= previous {
                return Err(Error::lexicon_corrupt("the words are not sorted"));
            }
            // Front coding lets three bytes stand for a word of `MAX_WORD`.
            if lexicon.words.len() > MAX_INFLATED {
                return Err(Error::lexicon_corrupt("it is too large"));
            }
            lexicon.words.extend_from_slice(&word);
            lexicon.word_starts.push(lexicon.words.len() as u32);
            previous = word;
        }
        for entry in terminated(phone_section)? {
            let phones = symbols::parse_phone_bytes(entry).filter(|phones| !phones.is_empty());
            lexicon
                .phones
                .extend(phones.ok_or_else(|| Error::lexicon_corrupt("a pronunciation is invalid"))?);
            lexicon.phone_starts.push(lexicon.phones.len() as u32);
        }
        if lexicon.word_starts.len() != count.saturating_add(1)
            || lexicon.phone_starts.len() != lexicon.word_starts.len()
        {
            return Err(Error::lexicon_corrupt("words and pronunciations differ in number"));
        }
        Ok(lexicon)
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.word_starts.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the word at an index of the sorted list.
    pub fn word(&self, index: usize) -> &str {
        let word = &self.words[self.word_starts[index] as usize..self.word_starts[index + 1] as usize];
        std::str::from_utf8(word).expect("letters were checked when loading")
    }

    /// Returns the phones of the word at an index of the sorted list.
    pub fn phones(&self, index: usize) -> &[Symbol] {
        &self.phones[self.phone_starts[index] as usize..self.phone_starts[index + 1] as usize]
    }

    /// Returns the pronunciation of a lower-case word.
    pub fn get(&self, word: &str) -> Option<&[Symbol]> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = (low + high) / 2;
            match self.word(middle).cmp(word) {
                std::cmp::Ordering::Equal => return Some(self.phones(middle)),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// Packs a dictionary in CMUdict's text format (`word PH1 PH2 .. # comment`; `word(2)` is an alternative) and fits the letter-to-sound rules on it.
///
/// Only the first pronunciation of a word is kept. Words with characters other than letters and apostrophes are left out, and so are possessives that
/// follow the rule of [`plural`](super::affixes::plural).
pub fn pack(dictionary: &str) -> Result<Vec<u8>> {
    let entries = parse(dictionary)?;
    let letters = LetterToSound::fit(&entries);
    let (mut words, mut phones) = (Vec::new(), Vec::new());
    let mut previous: &[u8] = b"";
    for (word, pronunciation) in &entries {
        let word = word.as_bytes();
        let shared = word.iter().zip(previous).take_while(|(a, b)| a == b).count();
        words.push(shared as u8 + 1);
        words.extend_from_slice(&word[shared..]);
        words.push(0);
        phones.extend(pronunciation.iter().map(|&symbol| u8::from(symbol)));
        phones.push(0);
        previous = word;
    }
    let rules = letters.save();
    let mut body = Vec::new();
    for length in [entries.len(), words.len(), phones.len(), rules.len()] {
        body.extend_from_slice(&(length as u32).to_le_bytes());
    }
    for section in [words, phones, rules] {
        body.extend_from_slice(&section);
    }
    let mut file = MAGIC.to_vec();
    file.extend_from_slice(&(body.len() as u32).to_le_bytes());
    file.extend_from_slice(&miniz_oxide::deflate::compress_to_vec_zlib(&body, 10));
    Ok(file)
}

/// Parses a dictionary in CMUdict's text format. Returns the words, sorted, with their phones.
pub fn parse(dictionary: &str) -> Result<Vec<(String, Vec<Symbol>)>> {
    let mut entries = std::collections::BTreeMap::new();
    for line in dictionary.lines().filter(|line| !line.starts_with(";;;")) {
        let line = line.split('#').next().unwrap_or("");
        let Some((word, phones)) = line.split_once(char::is_whitespace) else { continue };
        let word = word.to_ascii_lowercase();
        let plain =
            word.len() <= MAX_WORD && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'\'');
        if !plain || entries.contains_key(&word) {
            continue;
        }
        let phones = symbols::parse(phones)
            .ok_or_else(|| Error::lexicon_corrupt(&format!("the pronunciation of {word:?} is invalid")))?;
        entries.insert(word, phones);
    }
    let made_by_rule = |word: &str, phones: &[Symbol]| {
        word.strip_suffix("'s")
            .and_then(|stem| entries.get(stem))
            .is_some_and(|stem| super::affixes::plural(stem) == phones)
    };
    let keep: Vec<_> = entries
        .iter()
        .filter(|(word, phones)| !made_by_rule(word, phones))
        .map(|(w, p)| (w.clone(), p.clone()))
        .collect();
    Ok(keep)
}

/// Checks the header and decompresses the rest.
fn inflate(file: &[u8]) -> Result<Vec<u8>> {
    let rest = file
        .strip_prefix(MAGIC)
        .ok_or_else(|| Error::lexicon_corrupt("it is not a lexicon, or one of another version"))?;
    let (length, stream) =
        rest.split_first_chunk::<4>().ok_or_else(|| Error::lexicon_corrupt("it is cut short"))?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > MAX_INFLATED.min(MAX_RATIO * file.len()) {
        return Err(Error::lexicon_corrupt("it is too large"));
    }
    let inflated = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(stream, length)
        .map_err(|error| Error::lexicon_corrupt(&error.to_string()))?;
    if inflated.len() != length {
        return Err(Error::lexicon_corrupt("it is cut short"));
    }
    Ok(inflated)
}

/// Splits a section at the zeros that end its entries.
fn terminated(section: &[u8]) -> Result<impl Iterator<Item = &[u8]>> {
    let entries = match section.split_last() {
        None => None,
        Some((0, entries)) => Some(entries),
        Some(_) => return Err(Error::lexicon_corrupt("an entry has no end")),
    };
    Ok(entries.into_iter().flat_map(|entries| entries.split(|byte| *byte == 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DICTIONARY: &str = ";;; a comment\ncat K AE1 T\ncat's K AE1 T S\ncats K AE1 T S\nboss B AO1 S # person\nread R EH1 D\nread(2) R IY1 D\na.m. EY2 EH1 M\n";

    #[test]
    fn packs_and_loads() {
        let lexicon = Lexicon::load(&pack(DICTIONARY).unwrap()).unwrap();
        let words: Vec<_> = (0..lexicon.len())
            .map(|index| (lexicon.word(index), symbols::format(lexicon.phones(index))))
            .collect();
        // Alternatives, words with periods and possessives that a rule makes are left out.
        let expected = [("boss", "B AO1 S"), ("cat", "K AE1 T"), ("cats", "K AE1 T S"), ("read", "R EH1 D")];
        assert_eq!(words, expected.map(|(word, phones)| (word, phones.to_string())));
        assert_eq!(lexicon.get("cats"), symbols::parse("K AE1 T S").as_deref());
        assert_eq!((lexicon.get("ca"), lexicon.get(""), lexicon.get("zebra")), (None, None, None));
    }

    #[test]
    fn a_dictionary_with_unknown_phones_is_refused() {
        assert_eq!(
            pack("cat K QQ T").unwrap_err().to_string(),
            "the base voice is damaged: lexicon: the pronunciation of \"cat\" is invalid"
        );
    }

    #[test]
    fn truncated_and_flipped_files_are_errors() {
        let file = pack(DICTIONARY).unwrap();
        for end in 0..file.len() {
            assert_eq!(Lexicon::load(&file[..end]).unwrap_err().code(), "base-corrupt", "cut at {end}");
        }
        // Every flipped bit is detected, except in the padding of the stream's last byte.
        let words = |lexicon: &Lexicon| {
            (0..lexicon.len())
                .map(|index| (lexicon.word(index).to_string(), lexicon.phones(index).to_vec()))
                .collect::<Vec<_>>()
        };
        let whole = words(&Lexicon::load(&file).unwrap());
        let mut accepted = 0;
        for place in 0..file.len() {
            let mut damaged = file.clone();
            damaged[place] ^= 0x10;
            if let Ok(lexicon) = Lexicon::load(&damaged) {
                accepted += 1;
                assert_eq!(words(&lexicon), whole, "flipped at {place}");
            }
        }
        assert!(accepted <= 1, "{accepted} flips went unnoticed");
    }

    /// The checksum is right and the content is not, so that only the checks of the content can find it.
    #[test]
    fn hostile_contents_are_errors() {
        let (header, stream) = (9, pack(DICTIONARY).unwrap());
        let body = miniz_oxide::inflate::decompress_to_vec_zlib(&stream[header..]).unwrap();
        let mut accepted = 0;
        for place in 0..body.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut hostile = body.clone();
                hostile[place] = value;
                let mut file = MAGIC.to_vec();
                file.extend_from_slice(&(hostile.len() as u32).to_le_bytes());
                file.extend_from_slice(&miniz_oxide::deflate::compress_to_vec_zlib(&hostile, 1));
                // A change into another valid word or phone cannot be detected; a file that loads must be usable.
                if let Ok(lexicon) = Lexicon::load(&file) {
                    accepted += 1;
                    (0..lexicon.len()).for_each(|index| {
                        assert!(!lexicon.word(index).is_empty() && !lexicon.phones(index).is_empty());
                    });
                    lexicon.letters.read("anything");
                }
            }
        }
        assert!(accepted < body.len() * 2);
        let mut huge = MAGIC.to_vec();
        huge.extend_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(
            Lexicon::load(&huge).unwrap_err().to_string(),
            "the base voice is damaged: lexicon: it is too large"
        );
    }
}
