//! Units of measure: their symbols, and the names of their powers and quotients.

#[rustfmt::skip]
const UNITS: &[(&str, &str, &str)] = &[
    ("km", "kilometer", "kilometers"), ("m", "meter", "meters"), ("cm", "centimeter", "centimeters"), ("mm", "millimeter", "millimeters"), ("nm", "nanometer", "nanometers"),
    ("µm", "micrometer", "micrometers"), ("µg", "microgram", "micrograms"), ("µs", "microsecond", "microseconds"), ("mi", "mile", "miles"), ("ft", "foot", "feet"),
    ("in", "inch", "inches"), ("yd", "yard", "yards"), ("yds", "yard", "yards"), ("ha", "hectare", "hectares"), ("ac", "acre", "acres"),
    ("kg", "kilogram", "kilograms"), ("g", "gram", "grams"), ("mg", "milligram", "milligrams"), ("lb", "pound", "pounds"), ("lbs", "pound", "pounds"), ("oz", "ounce", "ounces"),
    ("l", "liter", "liters"), ("L", "liter", "liters"), ("ml", "milliliter", "milliliters"), ("dl", "deciliter", "deciliters"), ("cl", "centiliter", "centiliters"),
    ("gal", "gallon", "gallons"), ("qt", "quart", "quarts"), ("pt", "pint", "pints"), ("tbsp", "tablespoon", "tablespoons"), ("tsp", "teaspoon", "teaspoons"),
    ("hz", "hertz", "hertz"), ("khz", "kilohertz", "kilohertz"), ("mhz", "megahertz", "megahertz"), ("ghz", "gigahertz", "gigahertz"),
    ("kb", "kilobyte", "kilobytes"), ("mb", "megabyte", "megabytes"), ("gb", "gigabyte", "gigabytes"), ("tb", "terabyte", "terabytes"), ("pb", "petabyte", "petabytes"),
    ("kbps", "kilobit per second", "kilobits per second"), ("mbps", "megabit per second", "megabits per second"), ("gbps", "gigabit per second", "gigabits per second"),
    ("W", "watt", "watts"), ("kw", "kilowatt", "kilowatts"), ("mW", "milliwatt", "milliwatts"), ("MW", "megawatt", "megawatts"), ("GW", "gigawatt", "gigawatts"),
    ("wh", "watt hour", "watt hours"), ("kwh", "kilowatt hour", "kilowatt hours"), ("mAh", "milliamp hour", "milliamp hours"), ("mA", "milliamp", "milliamps"),
    ("V", "volt", "volts"), ("v", "volt", "volts"), ("kV", "kilovolt", "kilovolts"), ("mV", "millivolt", "millivolts"), ("kcal", "kilocalorie", "kilocalories"), ("cal", "calorie", "calories"),
    ("kj", "kilojoule", "kilojoules"), ("kpa", "kilopascal", "kilopascals"), ("psi", "pound per square inch", "pounds per square inch"),
    ("mph", "mile per hour", "miles per hour"), ("kph", "kilometer per hour", "kilometers per hour"), ("kmh", "kilometer per hour", "kilometers per hour"), ("fps", "frame per second", "frames per second"), ("rpm", "R P M", "R P M"),
    ("bpm", "beat per minute", "beats per minute"), ("dpi", "D P I", "D P I"), ("ppm", "P P M", "P P M"), ("ns", "nanosecond", "nanoseconds"), ("ms", "millisecond", "milliseconds"),
    ("s", "second", "seconds"), ("sec", "second", "seconds"), ("secs", "second", "seconds"), ("min", "minute", "minutes"), ("mins", "minute", "minutes"), ("h", "hour", "hours"),
    ("hr", "hour", "hours"), ("hrs", "hour", "hours"), ("yr", "year", "years"), ("yrs", "year", "years"), ("mo", "month", "months"), ("mos", "month", "months"), ("wk", "week", "weeks"), ("wks", "week", "weeks"), ("db", "decibel", "decibels"),
    ("%", "percent", "percent"), ("‰", "per mille", "per mille"), ("°", "degree", "degrees"), ("°c", "degree celsius", "degrees celsius"), ("°f", "degree fahrenheit", "degrees fahrenheit"),
    ("°k", "kelvin", "kelvin"), ("°n", "degree north", "degrees north"), ("°s", "degree south", "degrees south"), ("°e", "degree east", "degrees east"), ("°w", "degree west", "degrees west"),
    ("K", "kelvin", "kelvin"), ("¢", "cent", "cents"), ("bn", "billion", "billion"), ("x", "times", "times"),
    ("gals", "gallon", "gallons"), ("tbsps", "tablespoon", "tablespoons"), ("tsps", "teaspoon", "teaspoons"), ("kgs", "kilogram", "kilograms"), ("mcg", "microgram", "micrograms"),
    ("sqft", "square foot", "square feet"), ("sqm", "square meter", "square meters"), ("nmi", "nautical mile", "nautical miles"), ("ly", "light year", "light years"),
    ("kn", "knot", "knots"), ("kt", "knot", "knots"), ("kts", "knot", "knots"), ("AU", "astronomical unit", "astronomical units"), ("ct", "carat", "carats"),
    ("cc", "C C", "C C"), ("hp", "horsepower", "horsepower"), ("mpg", "mile per gallon", "miles per gallon"), ("gpm", "gallon per minute", "gallons per minute"), ("knots", "knot", "knots"),
    ("ppb", "part per billion", "parts per billion"), ("atm", "atmosphere", "atmospheres"), ("mmHg", "millimeter of mercury", "millimeters of mercury"), ("IU", "international unit", "international units"),
    ("dBA", "decibel", "decibels"), ("dBm", "D B M", "D B M"), ("BTU", "B T U", "B T U's"), ("bps", "basis point", "basis points"), ("bp", "basis point", "basis points"), ("pts", "point", "points"), ("pcs", "piece", "pieces"), ("pk", "pack", "packs"), ("doz", "dozen", "dozen"), ("bbl", "barrel", "barrels"), ("bbls", "barrel", "barrels"), ("bu", "bushel", "bushels"), ("qts", "quart", "quarts"), ("rebs", "rebound", "rebounds"), ("asts", "assist", "assists"), ("kbit", "kilobit", "kilobits"),
    ("Mbit", "megabit", "megabits"), ("Gbit", "gigabit", "gigabits"), ("KiB", "kibibyte", "kibibytes"), ("MiB", "mebibyte", "mebibytes"), ("GiB", "gibibyte", "gibibytes"), ("TiB", "tebibyte", "tebibytes"),
    ("Nm", "newton meter", "newton meters"), ("lm", "lumen", "lumens"), ("lx", "lux", "lux"), ("kVA", "kilovolt amp", "kilovolt amps"), ("Mt", "megaton", "megatons"), ("Gt", "gigaton", "gigatons"),
    ("lb-ft", "pound foot", "pound feet"), ("ft-lb", "foot pound", "foot pounds"), ("ft-lbs", "foot pound", "foot pounds"),
];
/// Case-sensitive symbol, singular, plural, and the metric prefixes that it takes.
#[rustfmt::skip]
const PREFIXED: &[(&str, &str, &str, &str)] = &[
    ("Hz", "hertz", "hertz", "mT"), ("J", "joule", "joules", "mkMGT"), ("N", "newton", "newtons", "mkM"), ("Pa", "pascal", "pascals", "hkMG"), ("W", "watt", "watts", "nµmkMGT"),
    ("Wh", "watt hour", "watt hours", "kMGT"), ("V", "volt", "volts", "nµmk"), ("A", "amp", "amps", "pnµmk"), ("Ah", "amp hour", "amp hours", "mk"), ("Ω", "ohm", "ohms", "mkMG"),
    ("F", "farad", "farads", "pnµm"), ("H", "henry", "henries", "nµm"), ("T", "tesla", "tesla", "nµm"), ("eV", "electron volt", "electron volts", "mkMGT"), ("mol", "mole", "moles", "pnµmk"),
    ("M", "molar", "molar", "nµm"), ("Sv", "sievert", "sieverts", "µm"), ("Bq", "becquerel", "becquerels", "kMGT"), ("Gy", "gray", "grays", "mc"), ("pc", "parsec", "parsecs", "kMG"),
    ("L", "liter", "liters", "nµmcdhk"), ("g", "gram", "grams", "pnµmk"), ("m", "meter", "meters", "pnµmcdk"), ("s", "second", "seconds", "pfnµm"),
];
#[rustfmt::skip]
const PREFIXES: &[(char, &str)] = &[
    ('f', "femto"), ('p', "pico"), ('n', "nano"), ('µ', "micro"), ('m', "milli"), ('c', "centi"), ('d', "deci"), ('h', "hecto"), ('k', "kilo"), ('M', "mega"), ('G', "giga"), ('T', "tera"),
];
/// Symbols that without a prefix are more often words or other abbreviations.
const ONLY_PREFIXED: &[&str] = &["N", "A", "F", "H", "T", "M", "pc"];

/// Returns the singular and plural of a unit, including powers and quotients: `m^2`, `km/h`, `mg/dL`.
pub fn unit(text: &str) -> Option<(String, String)> {
    if let Some((power, root)) = text.split_once(' ') {
        let (one, many) = simple_unit(root)?;
        let name = match power {
            "sq" => "square",
            "cu" => "cubic",
            _ => "fluid",
        };
        return Some((format!("{name} {one}"), format!("{name} {many}")));
    }
    if let Some((above, below)) = text.rsplit_once('/') {
        // "Mb/s" are megabits, although "Mb" alone is read as megabytes.
        let (one, many) = match above.strip_suffix('b').filter(|_| below == "s") {
            Some(prefix) => {
                let (one, _) = simple_unit(&format!("{prefix}bps"))?;
                let bit = one.trim_end_matches(" per second");
                (bit.to_string(), format!("{bit}s"))
            }
            None => unit(above)?,
        };
        let below = per(below)?;
        return Some((format!("{one} per {below}"), format!("{many} per {below}")));
    }
    let power = |name: &str, root: &str| {
        let (one, many) = simple_unit(root).filter(|(one, _)| {
            one.ends_with("meter") || ["foot", "inch", "mile", "yard"].contains(&one.as_str())
        })?;
        Some((format!("{name} {one}"), format!("{name} {many}")))
    };
    let square = text.strip_suffix("^2").or_else(|| text.strip_suffix('2'));
    let cubic = text.strip_suffix("^3").or_else(|| text.strip_suffix('3'));
    match (square, cubic) {
        (Some(root), _) => power("square", root),
        (_, Some(root)) => power("cubic", root),
        _ => simple_unit(text),
    }
}

/// Returns the words of a denominator: "second squared", "cubic meter", "hundred kilometers", "month".
fn per(below: &str) -> Option<String> {
    if let Some(root) = below.strip_suffix("^2").filter(|root| *root == "s") {
        return Some(format!("{} squared", simple_unit(root)?.0));
    }
    if let Some(symbol) = below.strip_prefix("100") {
        return Some(format!("hundred {}", simple_unit(symbol)?.1));
    }
    let word = || {
        Some(below.to_string())
            .filter(|word| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()))
    };
    unit(below).map(|(one, _)| one).or_else(word)
}

/// Returns the singular and plural of a symbol. Symbols of two or more letters match in any case if none matches exactly.
pub fn simple_unit(text: &str) -> Option<(String, String)> {
    let found = |(_, one, many): &(&str, &str, &str)| (one.to_string(), many.to_string());
    if let Some(exact) = UNITS.iter().find(|(short, ..)| *short == text) {
        return Some(found(exact));
    }
    let prefixed = PREFIXED.iter().find_map(|(symbol, one, many, prefixes)| {
        let prefix = text.strip_suffix(symbol)?;
        if prefix.is_empty() {
            return (!ONLY_PREFIXED.contains(symbol)).then(|| (one.to_string(), many.to_string()));
        }
        let (_, prefix) =
            PREFIXES.iter().find(|(letter, _)| prefix.chars().eq([*letter]) && prefixes.contains(*letter))?;
        Some((format!("{prefix}{one}"), format!("{prefix}{many}")))
    });
    // Capitals with a small s are the plural of an abbreviation: "21 HRs".
    let plural = text.strip_suffix('s').is_some_and(|stem| {
        stem.len() > 1 && stem.bytes().all(|byte| byte.is_ascii_uppercase()) && stem != "LB"
    });
    let any_case =
        || UNITS.iter().find(|(short, ..)| text.len() > 1 && !plural && short.eq_ignore_ascii_case(text));
    prefixed.or_else(|| any_case().map(found))
}

/// Whether a word is the symbol of a unit and nothing else: "tbsp", but not "in".
pub fn is_short_unit(word: &str) -> bool {
    word.len() > 1
        && !["in", "ac", "mo", "pt", "cal", "sec", "min"].contains(&word)
        && UNITS.iter().any(|(short, ..)| *short == word)
}
