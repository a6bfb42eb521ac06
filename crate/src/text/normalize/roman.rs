//! Roman numerals: "Henry the eighth", "chapter four", and letters that are none: "an IV".

use super::place::{Chunk, Place, Reading, is_capitalized};
use super::words::is_starter;
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

/// Abbreviated, with a period.
const COUNTED_SHORT: &[&str] = &["art.", "bk.", "ch.", "fig.", "no.", "pt.", "sec.", "vol."];
/// The numeral stands before them, as an ordinal.
const ORDERED: &[&str] = &["army", "century", "congress", "corps", "dynasty", "legion", "olympiad"];

/// Whether a text is a numeral, of any length.
pub fn is_numeral(text: &str) -> bool {
    value(text).is_some()
}

fn value(numeral: &str) -> Option<u64> {
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
    // The one canonical spelling of the value, and nothing else.
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

/// Whether a word that goes with a number stands before: "Chapter V".
pub fn is_counted(place: &Place) -> bool {
    let before = place.word_before();
    // "Henry V." at an end is no initial.
    let ends = place.raw(1).is_none_or(|next| !is_capitalized(next)) && place.body(0) != Some("I");
    COUNTED.contains(&before.as_str()) || is_game(place) || ends && REGNAL.contains(&before.as_str())
}

/// "GTA V"
fn is_game(place: &Place) -> bool {
    let acronym = |name: &str| name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_uppercase());
    let sequel =
        ["auto", "civilization", "fighter", "rocky", "scrolls"].contains(&place.word_before().as_str());
    !place.shouted
        && place.chunk(0).is_some_and(|chunk| chunk.body == "V")
        && (sequel || place.before().is_some_and(acronym))
}

pub fn read(place: &Place) -> Reading {
    let chunk = place.chunk(0)?;
    let before = place.word_before();
    let abbreviated =
        place.before().is_some_and(|before| COUNTED_SHORT.contains(&before.to_ascii_lowercase().as_str()));
    let counted = COUNTED.contains(&before.as_str()) || abbreviated || is_game(place);
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
        && place.body(1).is_some_and(|next| ORDERED.contains(&next.to_ascii_lowercase().as_str()))
    {
        return Some((ordinal(value), 1));
    }
    // "the XXIV Olympic Games"
    if before == "the" && chunk.body.len() > 2 && place.body(1).is_some_and(is_capitalized) && !place.shouted
    {
        return Some((ordinal(value), 1));
    }
    let goes_on = place.body(1).is_some_and(|next| !is_capitalized(next) || is_starter(next));
    // "I, II and III"
    if chunk.body == "I" && chunk.close == "," && place.chunk(1).is_some_and(|next| next.body == "II") {
        return Some((cardinal(value), 1));
    }
    // "Thurston Howell III" is a person; what games and films are called is counted.
    const SEQUELS: &[&str] = &[
        "auto", "cop", "craft", "effect", "evil", "fighter", "park", "trek", "weapon", "future", "kombat",
        "saga", "story", "souls", "wars",
    ];
    let is_name = |back: usize| {
        place.back(back).is_some_and(|word| {
            is_capitalized(word) && !is_starter(word) && word.bytes().all(|byte| byte.is_ascii_alphabetic())
        })
    };
    if chunk.body == "III" && !counted && !SEQUELS.contains(&before.as_str()) && is_name(1) && is_name(2) {
        return Some((format!("the {}", ordinal(value)), 1));
    }
    let ruler = REGNAL.contains(&before.as_str()) && place.before().is_some_and(is_capitalized);
    if ruler {
        let title = (2..=3).any(|back| {
            place
                .back(back)
                .is_some_and(|word| RULERS.contains(&Chunk::new(word).body.to_ascii_lowercase().as_str()))
        });
        // "Mary I and James VI"
        const SAID_OF_ONESELF: &[&str] = &[
            "am", "believe", "can", "could", "did", "do", "don't", "feel", "guess", "had", "have", "hope",
            "know", "like", "love", "mean", "met", "need", "remember", "saw", "think", "told", "want",
            "wanted", "was", "will", "wish", "would",
        ];
        let first = chunk.body == "I" && place.body(1).is_some_and(|next| !SAID_OF_ONESELF.contains(&next));
        let title = title || first;
        let ends = chunk.close.contains([',', ';', ':', ')', '?', '!'])
            || !chunk.close.is_empty() && place.raw(1).is_none_or(|next| !is_capitalized(next));
        return (chunk.body.len() > 1 || title || chunk.body != "I" && (goes_on || ends))
            .then(|| (format!("the {}{possessive}", ordinal(value)), 1));
    }
    if counted {
        return Some((cardinal(value), 1));
    }
    // A letter, or a word in capitals, unless a name stands before; "XL" is a size.
    let named = place.before().is_some_and(|before| {
        (is_capitalized(before) && !is_starter(before) || before.contains(|c: char| c.is_ascii_digit()))
            && before.starts_with(|c: char| c.is_ascii_alphabetic())
            && Chunk::new(before).close.is_empty()
    });
    let in_series = chunk.body.len() > 1
        && (place.before().is_none() && chunk.close.is_empty() && place.raw(1).is_none()
            || [place.back(2), place.back(1), place.raw(1), place.raw(2)]
                .into_iter()
                .flatten()
                .any(|near| self::value(Chunk::new(near).body).is_some()));
    if chunk.body.len() < 2 || place.shouted && !in_series {
        return None;
    }
    let size = matches!(chunk.body, "XL" | "XX" | "XXL") && before.len() < 8
        || matches!(chunk.body, "LI" | "CV" | "CC" | "CI" | "CL")
        || before == "size";
    let counts = !size && (named || in_series);
    let words = if counts { cardinal(value) } else { super::spelled(chunk.body) };
    Some((words + possessive, 1))
}
