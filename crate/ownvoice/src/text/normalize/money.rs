//! Money: amounts with the symbol or the code of a currency.

use super::{
    amount::{is_adjective, quantity},
    numerals::{Number, integer},
    place::Match,
    units::simple_unit,
};
use crate::text::numbers::{self, cardinal};

/// The symbol, the unit in singular and plural, and the hundredth in singular and plural.
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
    ("Rs", "rupee", "rupees", "paisa", "paise"), ("kr", "krona", "kronor", "ore", "ore"), ("SEK", "swedish krona", "swedish kronor", "ore", "ore"),
    ("NOK", "norwegian krone", "norwegian kroner", "ore", "ore"), ("DKK", "danish krone", "danish kroner", "ore", "ore"), ("PLN", "zloty", "zlotys", "grosz", "groszy"),
    ("zl", "zloty", "zlotys", "grosz", "groszy"), ("MXN", "mexican peso", "mexican pesos", "centavo", "centavos"), ("BRL", "real", "reais", "centavo", "centavos"),
    ("NZD", "new zealand dollar", "new zealand dollars", "cent", "cents"), ("HKD", "hong kong dollar", "hong kong dollars", "cent", "cents"), ("KRW", "won", "won", "jeon", "jeon"),
    ("RMB", "yuan", "yuan", "fen", "fen"), ("BTC", "bitcoin", "bitcoin", "cent", "cents"), ("ZAR", "rand", "rand", "cent", "cents"),
];

/// Finds a currency by its symbol or code.
pub fn currency(mark: &str) -> Option<&'static Currency> {
    CURRENCIES.iter().find(|(symbol, ..)| *symbol == mark)
}

/// Returns the word of a scale: "bn", "million".
pub fn scale(word: &str) -> Option<&'static str> {
    Some(match word {
        "k" | "K" | "thousand" => "thousand",
        "m" | "M" | "mn" | "mil" | "mln" | "million" => "million",
        "b" | "B" | "bn" | "Bn" | "billion" => "billion",
        "t" | "T" | "tn" | "Tn" | "trillion" => "trillion",
        "lakh" => "lakh",
        "crore" => "crore",
        _ => return None,
    })
}

/// Reads an amount: symbol, number, scale and the text behind; or number, scale and symbol.
pub fn read(found: &Match) -> Option<String> {
    let [_, a, b, c, ref rest @ ..] = found.groups[..] else { return None };
    let (mark, number, scaled) =
        if a.starts_with(|c: char| c.is_ascii_digit() || c == '.') { (c, a, b) } else { (a, b, c) };
    let rest = rest.first().copied().unwrap_or("");
    let (_, one, many, cent, cents) = currency(mark)?;
    let number = number.replace(['$', '£', '€'], "");
    // "homes in the low $400s"
    if rest == "s" {
        return Some(numbers::decade(integer(&number)?));
    }
    let (words, is_one) = quantity(&number)?;
    let joined = found.groups[0].contains(&format!("-{scaled}")) && !scaled.is_empty();
    let singular = joined || rest.starts_with('-') || is_adjective(found);
    let name = |is_one: bool| if singular || is_one { one } else { many };
    let words = match (scale(scaled), Number::scan(&number)?) {
        (Some(scale), _) => format!("{words} {scale} {}", name(false)),
        (None, (amount, "")) if amount.decimals.len() == 2 => {
            let hundredths = integer(amount.decimals)?;
            let part = format!("{} {}", cardinal(hundredths), if hundredths == 1 { cent } else { cents });
            let whole = Number { decimals: "", ..amount };
            let whole_words = format!("{} {}", whole.count(), name(whole.is_one()));
            match (whole.value().unwrap_or(u64::from(!whole.whole.is_empty())), hundredths) {
                (_, 0) => whole_words,
                (0, _) => part,
                _ => format!("{whole_words} and {part}"),
            }
        }
        _ => format!("{words} {}", name(is_one)),
    };
    Some(match rest.strip_prefix('/') {
        Some(per) => format!(
            "{words} per {}",
            simple_unit(per).map_or_else(|| per.to_ascii_lowercase(), |(one, _)| one)
        ),
        None if rest == "+" => words + " plus",
        None => format!("{words} {}", rest.replace('-', " ")),
    })
}

/// Reads amounts with a decimal comma, or with digits grouped by blanks or apostrophes: "€19,99", "1.234,56 €", "CHF 1'250".
pub fn euros(found: &Match) -> Option<String> {
    let [_, a, b, c] = found.groups[..] else { return None };
    let (mark, whole, hundredths) =
        if a.starts_with(|c: char| c.is_ascii_digit()) { (c, a, b) } else { (a, b, c) };
    let whole = whole.replace(['.', ' ', '\''], "");
    let plain = if hundredths.is_empty() { whole } else { format!("{whole}.{hundredths}") };
    read(&Match { groups: vec![found.groups[0], mark, &plain, "", ""], ..*found })
}

/// Reads "$1.2M-$1.5M" and "$10K-$15K/yr".
pub fn range(found: &Match) -> Option<String> {
    let [_, mark, from, first, _, to, second, per] = found.groups[..] else { return None };
    let words = format!(
        "{} {} to {} {} {}",
        quantity(from)?.0,
        scale(first)?,
        quantity(to)?.0,
        scale(second)?,
        currency(mark)?.2
    );
    Some(per.strip_prefix('/').map_or(words.clone(), |per| {
        let unit = simple_unit(per).map_or_else(|| per.to_ascii_lowercase(), |(one, _)| one);
        format!("{words} per {unit}")
    }))
}
