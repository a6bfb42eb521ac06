//! A place in a text: the chunk there, without the punctuation around it, and its neighbours.

/// Words of a reading, separated by spaces, with `,` behind a word that a pause follows; and how many chunks were read.
pub type Reading = Option<(String, usize)>;

/// A chunk of text between blanks: `("U.S.-based",` opens with `("`, closes with `",`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk<'a> {
    pub open: &'a str,
    pub body: &'a str,
    pub close: &'a str,
}

impl<'a> Chunk<'a> {
    pub fn new(chunk: &'a str) -> Self {
        let core = chunk.trim_start_matches(is_opening);
        let body = core.trim_end_matches(is_closing);
        let (open, close) = (&chunk[..chunk.len() - core.len()], &core[body.len()..]);
        let quoted =
            body.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).filter(|rest| !rest.is_empty());
        Self { open, body: quoted.unwrap_or(body), close }
    }
}

/// All chunks of a text, and which one is read. A line break that ends a sentence is a chunk of its own.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub chunks: &'a [&'a str],
    pub index: usize,
    /// Capitals are emphasis here, since there is nothing else.
    pub shouted: bool,
}

impl<'a> Place<'a> {
    pub fn raw(&self, ahead: usize) -> Option<&'a str> {
        self.chunks.get(self.index + ahead).copied().filter(|chunk| *chunk != "\n")
    }

    pub fn chunk(&self, ahead: usize) -> Option<Chunk<'a>> {
        self.raw(ahead).map(Chunk::new)
    }

    /// The chunk that many places ahead, or nothing where punctuation stands between.
    pub fn body(&self, ahead: usize) -> Option<&'a str> {
        let joined = (0..ahead).all(|at| {
            self.chunk(at).is_some_and(|chunk| chunk.close.is_empty())
                && self.chunk(at + 1).is_some_and(|next| next.open.is_empty())
        });
        self.chunk(ahead).filter(|chunk| joined && !chunk.body.is_empty()).map(|chunk| chunk.body)
    }

    /// The chunk that many places ahead, or an empty one, whatever stands between.
    pub fn body_behind_period(&self, ahead: usize) -> &'a str {
        self.chunk(ahead).map_or("", |chunk| chunk.body)
    }

    pub fn before(&self) -> Option<&'a str> {
        self.back(1)
    }

    pub fn back(&self, places: usize) -> Option<&'a str> {
        self.index.checked_sub(places).map(|index| self.chunks[index]).filter(|chunk| *chunk != "\n")
    }

    /// The word before, in lower case; nothing where punctuation stands between.
    pub fn word_before(&self) -> String {
        self.before()
            .map(Chunk::new)
            .filter(|chunk| chunk.close.is_empty())
            .map_or_else(String::new, |chunk| chunk.body.to_ascii_lowercase())
    }

    /// Whether the text, or a sentence of it, begins here.
    pub fn begins(&self) -> bool {
        self.before().is_none_or(|before| Chunk::new(before).close.contains(['.', '?', '!']))
    }
}

pub fn is_opening(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | '"' | '*')
}

pub fn is_closing(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '?' | '!' | ')' | ']' | '}' | '"' | '*' | '–' | '—')
}

pub fn is_capitalized(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Whether a word in lower case ends like the plural of a noun.
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

pub fn starts_with_digit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}
