//! A number or a range as written, and whether it modifies a noun.

use super::{
    numerals::Number,
    place::{TokenContext, is_plural},
    units::is_short_unit,
    words::FUNCTION_WORDS,
};

pub const SCALES: [&str; 4] = ["thousand", "million", "billion", "trillion"];

/// A number, or two numbers with a dash between them: `5`, `10-20`, `20°-25`, `$10-$20`.
pub struct Amount<'a> {
    pub from: Number<'a>,
    pub to: Option<Number<'a>>,
}

impl<'a> Amount<'a> {
    /// Returns the amount at the start of a text, and the rest. The second number of a range may repeat the currency `mark`.
    pub fn scan(text: &'a str, mark: &str) -> Option<(Self, &'a str)> {
        let (from, rest) = Number::scan(text)?;
        let bare = rest.trim_start_matches(['°', '%']);
        let second = bare
            .strip_prefix(['-', '–'])
            .map(|rest| rest.strip_prefix(mark).unwrap_or(rest))
            .and_then(Number::scan);
        match second.filter(|(to, rest)| !to.whole.is_empty() && !rest.starts_with(['-', '–', '/', ':'])) {
            Some((to, rest)) => Some((Self { from, to: Some(to) }, rest)),
            None => Some((Self { from, to: None }, rest)),
        }
    }

    /// Returns its words as a count.
    pub fn count(&self) -> String {
        self.to
            .as_ref()
            .map_or_else(|| self.from.count(), |to| format!("{} to {}", self.from.count(), to.count()))
    }

    /// Whether a singular follows.
    pub fn is_one(&self) -> bool {
        self.to.is_none() && self.from.is_one()
    }
}

/// Whether the amount of `used` chunks modifies a noun, because an article is before and a noun after it: "a twenty dollar bill".
pub fn is_adjective(context: &TokenContext, used: usize) -> bool {
    // "1 (15 oz) can"
    const CONTAINERS: &[&str] =
        &["bag", "bottle", "box", "can", "cans", "carton", "container", "jar", "package", "packages", "tin"];
    if context.chunk(used - 1).is_some_and(|chunk| chunk.close == ")")
        && context.raw(used).is_some_and(|next| CONTAINERS.contains(&next))
    {
        return true;
    }
    const DETERMINERS: &[&str] = &[
        "a", "an", "the", "this", "that", "my", "your", "his", "her", "its", "our", "their", "another",
        "every", "each", "per",
    ];
    // "twenty pound weights"
    let short = used > 1
        && context.chunk(used - 1).is_some_and(|unit| is_short_unit(unit.body) && !unit.body.ends_with('s'));
    if short && context.raw(used).is_some_and(is_plural) {
        return true;
    }
    // "a 4-year, $92M deal"
    let listed = context.before().is_some_and(|before| before.ends_with(',') && before.contains('-'))
        && context
            .back(2)
            .is_some_and(|article| DETERMINERS.contains(&article.to_ascii_lowercase().as_str()));
    (listed || DETERMINERS.contains(&context.word_before().as_str()))
        && context.raw(used).is_some_and(|next| {
            next.starts_with(|c: char| c.is_ascii_alphabetic()) && !FUNCTION_WORDS.contains(&next)
        })
        && context.chunk(used - 1).is_some_and(|chunk| matches!(chunk.close, "" | "."))
}
