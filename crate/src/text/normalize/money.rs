//! Money: amounts with a mark or a name of a currency.

use super::digits::{Number, integer};
use super::place::{Place, Reading};
use super::quantity::{Amount, SCALES, is_adjective, simple_unit};
use crate::text::numbers::cardinal;

/// Mark, one, many, the hundredth, hundredths.
type Currency = (&'static str, &'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const CURRENCIES: &[Currency] = &[
    ("US$", "U S dollar", "U S dollars", "cent", "cents"), ("HK$", "hong kong dollar", "hong kong dollars", "cent", "cents"),
    ("NZ$", "new zealand dollar", "new zealand dollars", "cent", "cents"), ("CA$", "canadian dollar", "canadian dollars", "cent", "cents"),
    ("AU$", "australian dollar", "australian dollars", "cent", "cents"), ("C$", "canadian dollar", "canadian dollars", "cent", "cents"),
    ("A$", "australian dollar", "australian dollars", "cent", "cents"), ("R$", "real", "reais", "centavo", "centavos"),
    ("$", "dollar", "dollars", "cent", "cents"), ("£", "pound", "pounds", "penny", "pence"), ("€", "euro", "euros", "cent", "cents"),
    ("¥", "yen", "yen", "sen", "sen"), ("₹", "rupee", "rupees", "paisa", "paise"), ("₩", "won", "won", "jeon", "jeon"),
    ("₽", "ruble", "rubles", "kopeck", "kopecks"), ("₿", "bitcoin", "bitcoin", "cent", "cents"), ("₺", "lira", "lira", "kurus", "kurus"),
    ("₫", "dong", "dong", "xu", "xu"), ("₴", "hryvnia", "hryvnias", "kopiyka", "kopiykas"), ("₪", "shekel", "shekels", "agora", "agorot"),
    ("₱", "peso", "pesos", "centavo", "centavos"), ("₦", "naira", "naira", "kobo", "kobo"), ("฿", "baht", "baht", "satang", "satang"),
    ("USD", "U S dollar", "U S dollars", "cent", "cents"), ("EUR", "euro", "euros", "cent", "cents"), ("GBP", "pound", "pounds", "penny", "pence"),
    ("JPY", "yen", "yen", "sen", "sen"), ("CHF", "swiss franc", "swiss francs", "centime", "centimes"), ("CAD", "canadian dollar", "canadian dollars", "cent", "cents"),
    ("AUD", "australian dollar", "australian dollars", "cent", "cents"), ("INR", "rupee", "rupees", "paisa", "paise"), ("CNY", "yuan", "yuan", "fen", "fen"),
];
/// "bn", "million"
fn scale(word: &str) -> Option<&'static str> {
    match word {
        "k" | "K" => Some("thousand"),
        "m" | "M" | "mn" => Some("million"),
        "b" | "B" | "bn" => Some("billion"),
        "t" | "T" | "tn" => Some("trillion"),
        word => SCALES.into_iter().find(|scale| *scale == word),
    }
}

/// "$10-20", "$3.5 million", "£3.99", "$10/hr"; the mark may stand behind: "20€", "100 USD".
pub fn read(place: &Place, body: &str) -> Reading {
    let before = CURRENCIES.iter().find(|(mark, ..)| {
        body.strip_prefix(mark).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
    });
    if let Some(currency) = before {
        let (amount, rest) = Amount::scan(&body[currency.0.len()..], currency.0)?;
        return priced(place, &amount, rest, 1, currency);
    }
    let (amount, rest) = Amount::scan(body, "")?;
    let is_mark = |word: &str| CURRENCIES.iter().find(|(mark, ..)| *mark == word);
    match rest {
        "" => priced(place, &amount, "", 2, is_mark(place.body(1)?)?),
        mark => priced(place, &amount, "", 1, is_mark(mark)?),
    }
}

fn priced(
    place: &Place,
    amount: &Amount,
    rest: &str,
    used: usize,
    (_, one, many, cent, cents): &Currency,
) -> Reading {
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    // "$1-million"
    if let Some(scale) =
        rest.strip_prefix('-').and_then(|rest| SCALES.into_iter().find(|scale| *scale == rest))
    {
        return Some((format!("{} {scale} {one}", amount.count()), used));
    }
    let (scaled, rest, used) = match (
        scale(&rest[..letters]),
        place.body(used).and_then(|next| scale(next).filter(|_| next != "t" && next != "b")),
    ) {
        (Some(scale), _) if letters > 0 => (Some(scale), &rest[letters..], used),
        (_, Some(scale)) if rest.is_empty() => (Some(scale), rest, used + 1),
        _ => (None, rest, used),
    };
    let singular = is_adjective(place, used) || rest.starts_with('-');
    let unit = if singular || amount.is_one() && scaled.is_none() { one } else { many };
    let from = &amount.from;
    let mut words = if let Some(scale) = scaled {
        format!("{} {scale} {unit}", amount.count())
    } else if amount.to.is_none() && from.decimals.len() == 2 {
        let hundredths = integer(from.decimals)?;
        let part = format!("{} {}", cardinal(hundredths), if hundredths == 1 { cent } else { cents });
        let whole = Number { decimals: "", ..*from };
        let whole_words =
            format!("{} {}", whole.count(), if singular || whole.is_one() { one } else { many });
        match (whole.value().unwrap_or(u64::from(!whole.whole.is_empty())), hundredths) {
            (_, 0) => whole_words,
            (0, _) => part,
            _ => format!("{whole_words} and {part}"),
        }
    } else {
        format!("{} {unit}", amount.count())
    };
    if let Some(per) = rest.strip_prefix('/') {
        let per = simple_unit(per).map_or(per, |(_, one, _)| one);
        words = format!("{words} per {}", per.to_ascii_lowercase());
    } else if rest == "+" {
        words += " plus";
    } else if !rest.is_empty() {
        words = format!("{words} {}", rest.replace(['-', '/', '+'], " "));
    }
    Some((words, used))
}
