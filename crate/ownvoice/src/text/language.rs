//! Guesses whether a text is English and consists of letters that can be read, to warn the user if not.

use super::fold::{fold, is_greek};

/// A reason why a text may not be spoken as intended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doubt {
    /// It seems to be in another language, given by its English name.
    Language(&'static str),
    /// Letters and digits that are not spoken, each once.
    Unspoken(String),
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Language(name) => write!(f, "the text seems to be {name}; it is read as English"),
            Self::Unspoken(letters) => write!(f, "these are not spoken: {letters}"),
        }
    }
}

/// Languages with their most frequent words, except those that are also frequent in English.
#[rustfmt::skip]
const LANGUAGES: &[(&str, &[&str])] = &[
    ("Dutch", &["de", "het", "een", "en", "van", "ik", "je", "dat", "niet", "op", "te", "zijn", "met", "voor", "maar", "ook", "wij", "naar", "dit", "aan", "bij", "heeft", "geen", "wat"]),
    ("French", &["le", "la", "les", "et", "est", "une", "des", "que", "qui", "dans", "pour", "pas", "je", "vous", "nous", "il", "elle", "sur", "avec", "ce", "au", "du", "mais", "sont", "suis", "très"]),
    ("German", &["der", "die", "und", "das", "ist", "nicht", "ich", "ein", "eine", "zu", "mit", "sich", "auf", "für", "den", "dem", "wir", "sie", "es", "auch", "wie", "von", "dass", "aber", "haben", "sind", "wird", "guten"]),
    ("Italian", &["il", "che", "di", "una", "è", "per", "non", "sono", "del", "della", "le", "gli", "si", "anche", "questo", "mi", "nel", "ho", "più", "ciao"]),
    ("Polish", &["nie", "się", "na", "jest", "że", "jak", "ale", "za", "po", "czy", "tak", "dzień", "mam"]),
    ("Portuguese", &["que", "de", "da", "em", "um", "uma", "para", "não", "com", "os", "se", "é", "por", "mais", "como", "mas", "foi", "ele", "eu", "você", "muito"]),
    ("Spanish", &["el", "la", "los", "las", "que", "y", "en", "una", "es", "por", "con", "para", "se", "del", "su", "al", "como", "pero", "muy", "está", "yo", "más", "mi", "hola"]),
    ("Swedish", &["och", "att", "det", "är", "en", "ett", "som", "på", "jag", "inte", "med", "för", "av", "den", "har", "vi", "till", "mycket"]),
];
/// The most frequent words of English.
#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "a", "about", "all", "an", "and", "are", "as", "at", "be", "but", "by", "can", "do", "for", "from", "get", "had", "has", "have", "he", "her", "his", "i", "if", "in", "is", "it", "me", "my",
    "no", "not", "now", "of", "on", "one", "or", "our", "out", "she", "so", "that", "the", "their", "there", "they", "this", "to", "up", "was", "we", "were", "what", "when", "which", "will",
    "with", "would", "you", "your",
];
/// Texts with fewer words have too few frequent ones for a guess.
const MIN_WORDS: usize = 4;

/// Returns what the user should be warned of before a text is spoken.
pub fn doubts(text: &str) -> Vec<Doubt> {
    let mut unspoken = String::new();
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        // A single Greek letter is spoken by its name, but a Greek word is not spoken.
        let word = is_greek(c) && (is_greek(before) || letters.peek().is_some_and(|next| is_greek(*next)));
        if c.is_alphanumeric()
            && !unspoken.contains(c)
            && unspoken.chars().count() < 20
            && (word || fold(c.encode_utf8(&mut [0; 4])).trim().is_empty())
        {
            unspoken.push(c);
        }
        before = c;
    }
    let unspoken = Some(unspoken).filter(|unspoken| !unspoken.is_empty()).map(Doubt::Unspoken);
    guess(text).map(Doubt::Language).into_iter().chain(unspoken).collect()
}

/// Returns the language whose frequent words make up a fifth of a text and outnumber the English ones.
fn guess(text: &str) -> Option<&'static str> {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    // Capitalized words other than the first are names: "El Paso".
    let lower: Vec<String> = words
        .iter()
        .enumerate()
        .filter(|(at, word)| *at == 0 || !word.starts_with(char::is_uppercase))
        .map(|(_, word)| word.to_lowercase())
        .collect();
    let count = |frequent: &[&str]| lower.iter().filter(|word| frequent.contains(&word.as_str())).count();
    let (name, most) =
        LANGUAGES.iter().map(|(name, frequent)| (*name, count(frequent))).max_by_key(|(_, count)| *count)?;
    // One letter again and again is a variable of a program rather than a word.
    let distinct = |name: &str| {
        LANGUAGES
            .iter()
            .filter(|(known, _)| *known == name)
            .flat_map(|(_, frequent)| frequent.iter())
            .filter(|word| lower.iter().any(|other| other == *word))
            .count()
    };
    (words.len() >= MIN_WORDS
        && most >= 2
        && distinct(name) > 1
        && 5 * most >= words.len()
        && most > count(ENGLISH))
    .then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_recognised() {
        let texts = [
            ("German", "Guten Tag, ich möchte gern wissen, wie es Ihnen geht und ob das Wetter gut ist."),
            ("German", "Die Katze sitzt auf dem Dach und schläft."),
            ("French", "Je suis très content de vous voir dans la maison avec les enfants."),
            ("Spanish", "El perro está en la casa y no quiere comer, pero yo sí."),
            ("Italian", "Non sono sicuro che questo treno è per Roma, mi dica."),
            ("Portuguese", "Eu não sei se você foi para a praia, mas o dia foi muito bom."),
            ("Dutch", "Ik weet niet of het morgen gaat regenen, maar dat zie je wel."),
            ("Swedish", "Jag är inte säker på att det är en bra idé."),
            ("Polish", "Nie wiem, czy jutro jest w pracy, ale tak się mówi."),
        ];
        for (name, text) in texts {
            assert_eq!(guess(text), Some(name), "{text}");
        }
    }

    #[test]
    fn english_raises_no_doubt() {
        let texts = [
            "The die is cast, and the den is empty.",
            "La Paz, El Paso, Los Angeles and Las Vegas are cities.",
            "He said \"c'est la vie\" to me.",
            "Café Müller serves crème brûlée.",
            "if (x >= 10 && y != 0) { y = x; }",
            "Stop!",
            "no",
            "",
        ];
        for text in texts {
            assert_eq!(doubts(text), [], "{text}");
        }
        for line in
            include_str!("../../tests/data/readings.tsv").lines().filter(|line| !line.starts_with("# "))
        {
            assert_eq!(guess(line.split('\t').nth(1).unwrap()), None, "{line}");
        }
    }

    #[test]
    fn unspoken_letters_are_listed() {
        assert_eq!(doubts("The word 你好 means hello, 你."), [Doubt::Unspoken("你好".into())]);
        assert_eq!(doubts("😀 ½ ℃ ﬁ é, x² + H₂O, α and Δt, 5 kΩ"), []);
        assert_eq!(doubts("The word και is Greek."), [Doubt::Unspoken("και".into())]);
        assert_eq!(Doubt::Unspoken("я".into()).to_string(), "these are not spoken: я");
    }
}
