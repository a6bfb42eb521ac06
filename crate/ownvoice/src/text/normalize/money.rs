//! Money: amounts with the symbol or the code of a currency.

use super::{
    amount::{Amount, SCALES, is_adjective},
    numerals::{Number, integer},
    place::{Reading, TokenContext, starts_with_digit},
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

/// Returns the singular and plural of a currency of three letters.
pub fn named(code: &str) -> Option<(String, String)> {
    let currency = CURRENCIES.iter().find(|(mark, ..)| *mark == code && code.len() == 3)?;
    Some((currency.1.to_string(), currency.2.to_string()))
}

/// Returns the word of a scale: "bn", "million".
fn scale(word: &str) -> Option<&'static str> {
    match word {
        "k" | "K" => Some("thousand"),
        "crore" => Some("crore"),
        "lakh" => Some("lakh"),
        "m" | "M" | "mn" => Some("million"),
        "mil" | "mln" => Some("million"),
        "b" | "B" | "bn" => Some("billion"),
        "t" | "T" | "tn" => Some("trillion"),
        word => SCALES.into_iter().find(|scale| *scale == word),
    }
}

/// Reads amounts of money: "$10-20", "$3.5 million", "£3.99", "$10/hr". The symbol may come last: "20€", "100 USD".
pub fn read(context: &TokenContext, body: &str) -> Reading {
    let before = CURRENCIES.iter().find(|(mark, ..)| {
        body.strip_prefix(mark).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
    });
    if let Some(currency) = before {
        let written = &body[currency.0.len()..];
        if let Some(reading) = euro_decimals(context, written, currency)
            .or_else(|| scaled_range(written, currency))
            .or_else(|| scaled_series(context, written, currency))
        {
            return Some(reading);
        }
        let (amount, rest) = Amount::scan(written, currency.0)?;
        return priced(context, &amount, rest, 1, currency);
    }
    // "CHF 1.5M", "Rs. 500"
    let code = body.trim_end_matches('.');
    if let Some(currency) = CURRENCIES.iter().find(|(mark, ..)| *mark == code)
        && code.bytes().all(|byte| byte.is_ascii_alphabetic())
        && matches!(context.chunk(0)?.close, "" | ".")
        && let Some(written) = context.chunk(1).map(|next| next.body).filter(|next| starts_with_digit(next))
    {
        let behind = TokenContext { index: context.index + 1, ..*context };
        let (amount, rest) = Amount::scan(written, "")?;
        let (words, used) = priced(&behind, &amount, rest, 1, currency)?;
        return Some((words, used + 1));
    }
    // "83.2 per US$"
    if let Some((_, one, many, ..)) =
        CURRENCIES.iter().find(|(mark, ..)| *mark == body && mark.len() > 1 && mark.ends_with('$'))
    {
        return Some((if context.word_before() == "per" { one } else { many }.to_string(), 1));
    }
    let (amount, rest) = Amount::scan(body, "")?;
    let is_mark = |word: &str| CURRENCIES.iter().find(|(mark, ..)| *mark == word);
    match rest {
        "" => priced(context, &amount, "", 2, is_mark(context.body(1)?)?),
        mark => priced(context, &amount, "", 1, is_mark(mark)?),
    }
}

/// Reads "€19,99".
fn euro_decimals(context: &TokenContext, written: &str, currency: &Currency) -> Reading {
    let (whole, cents) = written.split_once(',').filter(|(_, cents)| cents.len() == 2)?;
    let amount = Amount { from: Number { whole, decimals: cents }, to: None };
    integer(whole).zip(integer(cents)).and_then(|_| priced(context, &amount, "", 1, currency))
}

/// Reads "$1.2M-$1.5M".
fn scaled_range(written: &str, (mark, _, many, ..): &Currency) -> Reading {
    let (from, to) = written.split_once(['-', '–'])?;
    let one = |text: &str| {
        let (number, rest) = Number::scan(text)?;
        Some(format!("{} {}", number.count(), scale(rest)?))
    };
    Some((format!("{} to {} {many}", one(from)?, one(to.strip_prefix(mark).unwrap_or(to))?), 1))
}

/// Reads the first amount of "$1.5 and $2 million", which shares the scale of the second.
fn scaled_series(context: &TokenContext, written: &str, (mark, ..): &Currency) -> Reading {
    let (number, "") = Number::scan(written)? else { return None };
    let second = Number::scan(context.body(2)?.strip_prefix(mark)?)?;
    let scaled =
        SCALES.contains(&context.body(3).unwrap_or("")) && second.1.is_empty() || scale(second.1).is_some();
    let joined = ["and", "or", "to"].contains(&context.body(1)?) && number.decimals.len() != 2;
    (scaled && joined && number.whole.len() < 4).then(|| (number.count(), 1))
}

/// Reads an amount of a currency, with its scale and with the text attached to it. `used` is the number of chunks so far.
fn priced(
    context: &TokenContext,
    amount: &Amount,
    rest: &str,
    used: usize,
    (_, one, many, cent, cents): &Currency,
) -> Reading {
    // "homes in the low $400s"
    if rest == "s" && amount.to.is_none() {
        return Some((numbers::decade(amount.from.value()?), used));
    }
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    // "$1-million"
    if let Some(scale) =
        rest.strip_prefix('-').and_then(|rest| SCALES.into_iter().find(|scale| *scale == rest))
    {
        return Some((format!("{} {scale} {one}", amount.count()), used));
    }
    let (scaled, rest, used) = match (
        scale(&rest[..letters]),
        context.body(used).and_then(|next| scale(next).filter(|_| next != "t" && next != "b")),
    ) {
        (Some(scale), _) if letters > 0 => (Some(scale), &rest[letters..], used),
        (_, Some(scale)) if rest.is_empty() => (Some(scale), rest, used + 1),
        _ => (None, rest, used),
    };
    // "$20 USD"
    let used = used + usize::from(many == &"dollars" && rest.is_empty() && context.body(used) == Some("USD"));
    let singular = is_adjective(context, used) || rest.starts_with('-');
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
        let per = simple_unit(per).map_or_else(|| per.to_string(), |(one, _)| one);
        words = format!("{words} per {}", per.to_ascii_lowercase());
    } else if rest == "+" {
        words += " plus";
    } else if !rest.is_empty() {
        words = format!("{words} {}", rest.replace(['-', '/', '+'], " "));
    }
    Some((words, used))
}
