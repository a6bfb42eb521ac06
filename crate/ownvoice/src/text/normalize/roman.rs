//! Roman numerals: "Henry the eighth", "chapter four"; and letters that are not numerals: "an IV".

use super::{
    place::{Chunk, Reading, TokenContext, is_capitalized},
    words::is_starter,
};
use crate::text::numbers::{cardinal, ordinal};

#[rustfmt::skip]
const REGNAL: &[&str] = &[
    "alexander", "alfonso", "benedict", "catherine", "charles", "christian", "clement", "constantine", "edward", "elizabeth", "ferdinand", "francis", "frederick",
    "george", "gregory", "gustav", "henry", "innocent", "ivan", "james", "john", "juan", "leo", "leopold", "louis", "mary", "napoleon", "nicholas", "otto", "paul",
    "peter", "philip", "pius", "ramses", "richard", "umberto", "urban", "victor", "wilhelm", "william",
];
const RULERS: &[&str] =
    &["king", "queen", "pope", "emperor", "empress", "tsar", "czar", "prince", "kaiser", "sultan"];
#[rustfmt::skip]
const COUNTED: &[&str] = &[
    "acts", "articles", "books", "chapters", "pages", "page", "parts", "sections", "titles", "volumes", "act", "appendix", "article", "book", "bowl", "canto", "chapter", "class", "division", "episode", "fantasy", "figure", "grade", "group", "level", "mark", "part",
    "phase", "scene", "season", "section", "stage", "table", "title", "tome", "type", "vol", "volume", "war",
];

/// The same, abbreviated with a period.
const COUNTED_SHORT: &[&str] = &["art.", "bk.", "ch.", "fig.", "no.", "pt.", "sec.", "vol."];
/// Words that follow a numeral, which is then an ordinal.
const ORDERED: &[&str] = &["army", "century", "congress", "corps", "dynasty", "legion", "olympiad"];

/// Whether a text is a numeral.
pub fn is_numeral(text: &str) -> bool {
    value(text).is_some()
}

/// Returns the value of a numeral in its canonical spelling.
pub fn value(numeral: &str) -> Option<u64> {
    const PARTS: [(u64, &str); 9] =
        [(100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")];
    let mut rest = numeral;
    let mut value = 0;
    for (worth, letters) in PARTS {
        for _ in 0..3 {
            let Some(after) = rest.strip_prefix(letters) else { break };
            rest = after;
            value += worth;
            if letters.len() == 2 {
                break;
            }
        }
    }
    let mut canonical = String::new();
    let mut left = value;
    for (worth, letters) in PARTS {
        while left >= worth {
            canonical.push_str(letters);
            left -= worth;
        }
    }
    (rest.is_empty() && value > 0 && canonical == numeral).then_some(value)
}

/// Whether the word before goes with a number: "Chapter V".
pub fn is_counted(context: &TokenContext) -> bool {
    let before = context.word_before();
    // "V." in "Henry V." at the end of a sentence is not an initial.
    let ends = context.raw(1).is_none_or(|next| !is_capitalized(next)) && context.body(0) != Some("I");
    COUNTED.contains(&before.as_str()) || is_game(context) || ends && REGNAL.contains(&before.as_str())
}

/// Whether it is the number of a game or film: "GTA V".
fn is_game(context: &TokenContext) -> bool {
    let acronym = |name: &str| name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_uppercase());
    let sequel =
        ["auto", "civilization", "fighter", "rocky", "scrolls"].contains(&context.word_before().as_str());
    !context.shouted
        && context.chunk(0).is_some_and(|chunk| chunk.body == "V")
        && (sequel || context.before().is_some_and(acronym))
}

/// Reads a numeral as a cardinal or an ordinal, or its letters.
pub fn read(context: &TokenContext) -> Reading {
    let chunk = context.chunk(0)?;
    let before = context.word_before();
    let abbreviated =
        context.before().is_some_and(|before| COUNTED_SHORT.contains(&before.to_ascii_lowercase().as_str()));
    let counted = COUNTED.contains(&before.as_str()) || abbreviated || is_game(context);
    // "chapters I–III"
    if let Some((from, to)) = chunk.body.split_once(['-', '–'])
        && let (Some(from), Some(to)) = if counted {
            (value(&from.to_ascii_uppercase()), value(&to.to_ascii_uppercase()))
        } else {
            (value(from), value(to))
        }
        && (to > 1 && from < to)
    {
        return Some((format!("{} to {}", cardinal(from), cardinal(to)), 1));
    }
    // "Louis XVI's"
    let (numeral, possessive) = chunk
        .body
        .strip_suffix("'s")
        .filter(|stem| stem.len() > 1)
        .map_or((chunk.body, ""), |stem| (stem, "'s"));
    let chunk = Chunk { body: numeral, ..chunk };
    // "scene ii"
    let value = value(chunk.body)
        .or_else(|| value(&chunk.body.to_ascii_uppercase()).filter(|_| counted && chunk.body.len() > 1))?;
    if chunk.body.len() > 1
        && context.body(1).is_some_and(|next| ORDERED.contains(&next.to_ascii_lowercase().as_str()))
    {
        return Some((ordinal(value), 1));
    }
    // "the XXIV Olympic Games"
    if before == "the"
        && chunk.body.len() > 2
        && context.body(1).is_some_and(is_capitalized)
        && !context.shouted
    {
        return Some((ordinal(value), 1));
    }
    // "I, II and III"
    if chunk.body == "I" && chunk.close == "," && context.chunk(1).is_some_and(|next| next.body == "II") {
        return Some((cardinal(value), 1));
    }
    // "Thurston Howell III" is a person; the numbers of games and films are cardinals.
    const SEQUELS: &[&str] = &[
        "auto", "cop", "craft", "effect", "evil", "fighter", "park", "trek", "weapon", "future", "kombat",
        "saga", "story", "souls", "wars",
    ];
    let is_name = |back: usize| {
        context.back(back).is_some_and(|word| {
            is_capitalized(word) && !is_starter(word) && word.bytes().all(|byte| byte.is_ascii_alphabetic())
        })
    };
    if chunk.body == "III" && !counted && !SEQUELS.contains(&before.as_str()) && is_name(1) && is_name(2) {
        return Some((format!("the {}", ordinal(value)), 1));
    }
    if REGNAL.contains(&before.as_str()) && context.before().is_some_and(is_capitalized) {
        return regnal(context, chunk, value, possessive);
    }
    if counted {
        return Some((cardinal(value), 1));
    }
    // Without a name before, it is letters or a word in capitals. "XL" is a size.
    let named = context.before().is_some_and(|before| {
        (is_capitalized(before) && !is_starter(before) || before.contains(|c: char| c.is_ascii_digit()))
            && before.starts_with(|c: char| c.is_ascii_alphabetic())
            && Chunk::new(before).close.is_empty()
    });
    let in_series = chunk.body.len() > 1
        && (context.before().is_none() && chunk.close.is_empty() && context.raw(1).is_none()
            || [context.back(2), context.back(1), context.raw(1), context.raw(2)]
                .into_iter()
                .flatten()
                .any(|near| self::value(Chunk::new(near).body).is_some()));
    if chunk.body.len() < 2 || context.shouted && !in_series {
        return None;
    }
    let size = matches!(chunk.body, "XL" | "XX" | "XXL") && before.len() < 8
        || matches!(chunk.body, "LI" | "CV" | "CC" | "CI" | "CL")
        || before == "size";
    let counts = !size && (named || in_series);
    let words = if counts { cardinal(value) } else { super::spelled(chunk.body) };
    Some((words + possessive, 1))
}

/// Reads the number of a ruler: "Henry VIII", "Mary I".
fn regnal(context: &TokenContext, chunk: Chunk, value: u64, possessive: &str) -> Reading {
    let goes_on = context.body(1).is_some_and(|next| !is_capitalized(next) || is_starter(next));
    let title = (2..=3).any(|back| {
        context
            .back(back)
            .is_some_and(|word| RULERS.contains(&Chunk::new(word).body.to_ascii_lowercase().as_str()))
    });
    // "Mary I and James VI"
    const SAID_OF_ONESELF: &[&str] = &[
        "am", "believe", "can", "could", "did", "do", "don't", "feel", "guess", "had", "have", "hope",
        "know", "like", "love", "mean", "met", "need", "remember", "saw", "think", "told", "want", "wanted",
        "was", "will", "wish", "would",
    ];
    let first = chunk.body == "I" && context.body(1).is_some_and(|next| !SAID_OF_ONESELF.contains(&next));
    let title = title || first;
    let ends = chunk.close.contains([',', ';', ':', ')', '?', '!'])
        || !chunk.close.is_empty() && context.raw(1).is_none_or(|next| !is_capitalized(next));
    (chunk.body.len() > 1 || title || chunk.body != "I" && (goes_on || ends))
        .then(|| (format!("the {}{possessive}", ordinal(value)), 1))
}
