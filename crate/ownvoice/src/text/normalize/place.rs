//! A chunk (token) of a text without its punctuation, and its context.

/// The words of a reading, separated by spaces, with `,` after a word that a pause follows; and the number of chunks that were read.
pub type Reading = Option<(String, usize)>;

/// A chunk of text between spaces: `("U.S.-based",` opens with `("`, closes with `",`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk<'a> {
    pub open: &'a str,
    pub body: &'a str,
    pub close: &'a str,
}

impl<'a> Chunk<'a> {
    /// Separates a chunk from the punctuation around it.
    pub fn new(chunk: &'a str) -> Self {
        let core = chunk.trim_start_matches(is_opening);
        let body = core.trim_end_matches(is_closing);
        let (open, close) = (&chunk[..chunk.len() - core.len()], &core[body.len()..]);
        let quoted =
            body.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).filter(|rest| !rest.is_empty());
        Self { open, body: quoted.unwrap_or(body), close }
    }
}

/// All chunks of a text, and the index of the current one. A line break that ends a sentence is a chunk of its own.
#[derive(Debug, Clone, Copy)]
pub struct TokenContext<'a> {
    /// The text with single spaces between its chunks.
    pub text: &'a str,
    pub chunks: &'a [&'a str],
    pub index: usize,
    /// Whether the text is all in capitals, so that they mean nothing.
    pub shouted: bool,
}

impl<'a> TokenContext<'a> {
    /// A text of one chunk.
    pub fn alone(chunks: &'a [&'a str; 1], shouted: bool) -> Self {
        Self { text: chunks[0], chunks, index: 0, shouted }
    }

    /// Returns the chunk `ahead` places after the current one, with its punctuation. Returns `None` past the end of the sentence.
    pub fn raw(&self, ahead: usize) -> Option<&'a str> {
        self.chunks.get(self.index + ahead).copied().filter(|chunk| *chunk != "\n")
    }

    /// Returns the same as [`TokenContext::raw`], separated from its punctuation.
    pub fn chunk(&self, ahead: usize) -> Option<Chunk<'a>> {
        self.raw(ahead).map(Chunk::new)
    }

    /// Returns the body of the chunk `ahead` places after the current one. Returns `None` if there is punctuation in between.
    pub fn body(&self, ahead: usize) -> Option<&'a str> {
        let joined = (0..ahead).all(|at| {
            self.chunk(at).is_some_and(|chunk| chunk.close.is_empty())
                && self.chunk(at + 1).is_some_and(|next| next.open.is_empty())
        });
        self.chunk(ahead).filter(|chunk| joined && !chunk.body.is_empty()).map(|chunk| chunk.body)
    }

    /// Returns the body of the chunk `ahead` places after the current one, regardless of punctuation. Returns an empty string past the end.
    pub fn body_after_period(&self, ahead: usize) -> &'a str {
        self.chunk(ahead).map_or("", |chunk| chunk.body)
    }

    /// Returns the chunk before the current one, with its punctuation.
    pub fn before(&self) -> Option<&'a str> {
        self.back(1)
    }

    /// Returns the chunk `places` before the current one, with its punctuation. Returns `None` before the start of the sentence.
    pub fn back(&self, places: usize) -> Option<&'a str> {
        self.index.checked_sub(places).map(|index| self.chunks[index]).filter(|chunk| *chunk != "\n")
    }

    /// Returns the word before the current chunk in lower case, or an empty string if punctuation separates them.
    pub fn word_before(&self) -> String {
        self.before()
            .map(Chunk::new)
            .filter(|chunk| chunk.close.is_empty())
            .map_or_else(String::new, |chunk| chunk.body.to_ascii_lowercase())
    }

    /// Whether the current chunk begins the text or a sentence.
    pub fn begins(&self) -> bool {
        self.before().is_none_or(|before| Chunk::new(before).close.contains(['.', '?', '!']))
    }
}

/// Whether a character before a word is punctuation.
pub fn is_opening(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | '"' | '*')
}

/// Whether a character after a word is punctuation.
pub fn is_closing(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '?' | '!' | ')' | ']' | '}' | '"' | '*' | '–' | '—' | '~')
}

/// Whether a word begins with a capital.
pub fn is_capitalized(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Whether a word is in lower case and looks like the plural of a noun.
pub fn is_plural(word: &str) -> bool {
    const SINGULAR: &[&str] = &[
        "across",
        "always",
        "besides",
        "does",
        "downwards",
        "perhaps",
        "plus",
        "this",
        "thus",
        "towards",
        "upwards",
    ];
    let plural = word.len() > 3
        && word.ends_with('s')
        && !word.ends_with("ss")
        && word.bytes().all(|byte| byte.is_ascii_lowercase());
    plural && !SINGULAR.contains(&word)
}

/// Whether a text begins with a digit.
pub fn starts_with_digit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// A rule matched in a text.
pub struct Match<'t> {
    pub before: &'t str,
    /// The whole match, then its groups; those that took no part are empty.
    pub groups: Vec<&'t str>,
    pub after: &'t str,
}
