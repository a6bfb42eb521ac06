//! Abbreviations and their full forms: titles, parts of a text, streets, states, months.

use super::{place::is_capitalized, roman::is_numeral, words::is_starter};

/// The contexts in which a word with a period is an abbreviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Everywhere; its period does not end a sentence unless the text ends.
    Always,
    /// Everywhere; its period may end a sentence.
    MayEnd,
    /// Before another word: a title, or the first word of a name.
    Inside,
    /// Before a number or a letter used as one: `fig. 3a`.
    Counting,
    /// With a capital: months, weekdays and streets.
    Capital,
}
use When::{Always, Capital, Counting, Inside, MayEnd};

#[rustfmt::skip]
const ABBREVIATIONS: &[(&str, &str, When)] = &[
    ("mr", "mister", Always), ("mrs", "missus", Always), ("ms", "miz", Always), ("messrs", "messieurs", Always), ("prof", "professor", Inside),
    ("gen", "general", Inside), ("col", "colonel", Inside), ("lt", "lieutenant", Inside), ("sgt", "sergeant", Inside), ("capt", "captain", Inside),
    ("cpt", "captain", Inside), ("cpl", "corporal", Inside), ("adm", "admiral", Inside), ("rev", "reverend", Inside), ("hon", "honorable", Inside),
    ("gov", "governor", Inside), ("sen", "senator", Inside), ("rep", "representative", Inside), ("pres", "president", Inside), ("maj", "major", Inside),
    ("cmdr", "commander", Inside), ("mt", "mount", Inside), ("ft", "fort", Inside), ("e.g", "for example", Always), ("i.e", "that is", Always),
    ("cf", "compare", Always), ("ca", "circa", Counting), ("approx", "approximately", Always), ("vs", "versus", Always), ("al", "al", MayEnd),
    ("attn", "attention", Always), ("misc", "miscellaneous", Always), ("max", "maximum", Counting), ("min", "minimum", Counting),
    ("no", "number", Counting), ("nos", "numbers", Counting), ("fig", "figure", Counting), ("figs", "figures", Counting), ("vol", "volume", Counting),
    ("p", "page", Counting), ("pp", "pages", Counting), ("ch", "chapter", Counting), ("art", "article", Counting), ("ext", "extension", Counting),
    ("apt", "apartment", Counting), ("est", "established", Counting), ("hwy", "highway", Counting), ("tel", "telephone", Counting),
    ("etc", "et cetera", MayEnd), ("jr", "junior", MayEnd), ("sr", "senior", MayEnd), ("inc", "incorporated", MayEnd), ("ltd", "limited", MayEnd),
    ("corp", "corporation", MayEnd), ("co", "company", MayEnd), ("bros", "brothers", MayEnd), ("dept", "department", MayEnd), ("univ", "university", MayEnd),
    ("esq", "esquire", MayEnd), ("ph.d", "P H D", MayEnd), ("govt", "government", MayEnd), ("assn", "association", MayEnd), ("bldg", "building", MayEnd),
    ("blk", "block", MayEnd), ("blks", "blocks", MayEnd), ("avg", "average", Always), ("asst", "assistant", Always), ("assoc", "associate", Always), ("natl", "national", Always), ("intl", "international", Always),
    ("sens", "senators", Inside), ("reps", "representatives", Inside), ("govs", "governors", Inside), ("drs", "doctors", Inside), ("profs", "professors", Inside),
    ("supt", "superintendent", Inside), ("insp", "inspector", Inside), ("dist", "district", Inside), ("wm", "william", Inside), ("rm", "room", Counting), ("enc", "enclosure", Counting),
    ("incl", "including", Always), ("excl", "excluding", Always), ("det", "detective", Inside), ("amb", "ambassador", Inside), ("atty", "attorney", Inside),
    ("sec", "section", Counting), ("secs", "sections", Counting), ("rte", "route", Counting), ("par", "paragraph", Counting), ("ste", "suite", Counting), ("pt", "part", Counting),
    ("op", "opus", Counting), ("chap", "chapter", Counting), ("chs", "chapters", Counting), ("vols", "volumes", Counting), ("ver", "version", Counting), ("cat", "category", Counting), ("ep", "episode", Counting), ("sc", "scene", Counting), ("para", "paragraph", Counting), ("ex", "exercise", Counting), ("avail", "available", Always), ("gr", "grade", Counting), ("vit", "vitamin", Inside), ("eq", "equation", Counting), ("cl", "clause", Counting),
    ("ref", "reference", Counting), ("lat", "latitude", Counting), ("alt", "altitude", Counting), ("eds", "editors", MayEnd), ("sts", "streets", Capital), ("aves", "avenues", Capital), ("rds", "roads", Capital), ("app", "appendix", Counting), ("def", "defeated", Inside), ("addl", "additional", Always), ("anon", "anonymous", MayEnd), ("chmn", "chairman", Inside), ("ctr", "center", MayEnd),
    ("cert", "certified", Always), ("diam", "diameter", MayEnd), ("encl", "enclosed", MayEnd), ("esp", "especially", Always), ("freq", "frequently", Always), ("fwd", "forward", MayEnd),
    ("hdqrs", "headquarters", MayEnd), ("lic", "license", MayEnd), ("opp", "opposite", Always), ("pg", "page", Counting), ("pgs", "pages", Counting), ("ret", "retired", MayEnd), ("sched", "schedule", MayEnd),
    ("sta", "station", MayEnd), ("surg", "surgeon", Inside), ("ald", "alderman", Inside), ("mfr", "manufacturer", MayEnd), ("mfrs", "manufacturers", MayEnd), ("sgts", "sergeants", Inside), ("capts", "captains", Inside), ("lts", "lieutenants", Inside), ("attys", "attorneys", Inside), ("acctg", "accounting", MayEnd), ("coll", "college", MayEnd), ("bapt", "baptist", Inside), ("pct", "percent", MayEnd), ("sect", "section", Counting), ("secy", "secretary", Inside), ("rt", "route", Counting), ("mvt", "movement", MayEnd), ("ea", "each", MayEnd), ("mktg", "marketing", MayEnd), ("elem", "elementary", Always), ("contd", "continued", MayEnd), ("engr", "engineer", MayEnd),
    ("elev", "elevation", Counting), ("pop", "population", Counting), ("exp", "expires", Counting), ("inv", "invoice", Counting), ("bal", "balance", Counting), ("doz", "dozen", MayEnd), ("pkt", "packet", MayEnd), ("subj", "subject", Always), ("equip", "equipment", MayEnd), ("fed", "federal", Inside), ("orig", "originally", Always), ("prev", "previously", Always), ("reqd", "required", MayEnd), ("soc", "society", Inside), ("std", "standard", Always),
    ("terr", "territory", MayEnd), ("usu", "usually", Always), ("exec", "executive", MayEnd), ("admin", "administration", MayEnd), ("comm", "committee", MayEnd), ("conf", "conference", MayEnd),
    ("const", "constitution", MayEnd), ("econ", "economics", MayEnd), ("elec", "electric", Always), ("hist", "history", MayEnd), ("mech", "mechanical", Always), ("chem", "chemistry", MayEnd),
    ("acad", "academy", MayEnd), ("advt", "advertisement", MayEnd), ("arr", "arrives", Always), ("dep", "departs", Always), ("ord", "order", Always), ("prop", "proposition", Counting), ("phila", "philadelphia", MayEnd), ("ed", "edition", MayEnd), ("educ", "education", MayEnd), ("amend", "amendment", MayEnd),
    ("prs", "pairs", MayEnd), ("pmt", "payment", MayEnd), ("pmts", "payments", MayEnd), ("pymt", "payment", MayEnd), ("rms", "rooms", MayEnd), ("bdrm", "bedroom", MayEnd), ("bdrms", "bedrooms", MayEnd), ("bldgs", "buildings", MayEnd), ("bsmt", "basement", MayEnd), ("ctn", "carton", MayEnd), ("cust", "customer", MayEnd), ("dbl", "double", MayEnd), ("deliv", "delivery", MayEnd), ("equiv", "equivalent", MayEnd), ("furn", "furnished", MayEnd), ("grp", "group", MayEnd), ("hrly", "hourly", MayEnd), ("immed", "immediately", MayEnd), ("lge", "large", MayEnd), ("lrg", "large", MayEnd), ("mdse", "merchandise", MayEnd), ("mkt", "market", MayEnd), ("mthly", "monthly", MayEnd), ("ofc", "office", MayEnd), ("qtr", "quarter", MayEnd), ("qtrs", "quarters", MayEnd), ("recd", "received", MayEnd), ("regd", "registered", MayEnd), ("renov", "renovated", MayEnd), ("sml", "small", MayEnd), ("stn", "station", MayEnd), ("svc", "service", MayEnd), ("svcs", "services", MayEnd), ("tkt", "ticket", MayEnd), ("tkts", "tickets", MayEnd), ("typ", "typical", MayEnd), ("whse", "warehouse", MayEnd), ("wknd", "weekend", MayEnd), ("wkly", "weekly", MayEnd), ("yrly", "yearly", MayEnd), ("adj", "adjusted", MayEnd), ("agcy", "agency", MayEnd), ("auth", "authorized", MayEnd), ("cntr", "center", MayEnd), ("ht", "height", MayEnd), ("pwr", "power", MayEnd), ("gtd", "guaranteed", MayEnd), ("refrig", "refrigerate", MayEnd), ("util", "utilities", MayEnd),
    ("pfc", "private first class", Inside), ("pvt", "private", Inside), ("ens", "ensign", Inside), ("cdr", "commander", Inside), ("brig", "brigadier", Inside), ("msgr", "monsignor", Inside),
    ("fr", "father", Inside), ("br", "brother", Inside), ("treas", "treasurer", Inside), ("viz", "namely", Always), ("ibid", "ibid", MayEnd), ("mfg", "manufacturing", Always), ("mgr", "manager", MayEnd),
    ("pkg", "package", MayEnd), ("pkgs", "packages", MayEnd), ("acct", "account", MayEnd), ("accts", "accounts", MayEnd), ("amt", "amount", MayEnd), ("div", "division", MayEnd), ("wt", "weight", MayEnd),
    ("qty", "quantity", MayEnd), ("hosp", "hospital", MayEnd), ("inst", "institute", MayEnd), ("mtn", "mountain", MayEnd), ("mts", "mountains", MayEnd), ("mgmt", "management", MayEnd), ("tech", "tech", MayEnd),
    ("cir", "circle", Capital), ("ct", "court", Capital), ("pl", "place", Capital), ("ter", "terrace", Capital), ("trl", "trail", Capital), ("expy", "expressway", Capital), ("fwy", "freeway", Capital),
    ("tpke", "turnpike", Capital), ("jct", "junction", Capital),
    ("ave", "avenue", Capital), ("blvd", "boulevard", Capital), ("rd", "road", Capital), ("ln", "lane", Capital), ("pkwy", "parkway", Capital), ("sq", "square", Capital),
    ("jan", "january", Capital), ("feb", "february", Capital), ("mar", "march", Capital), ("apr", "april", Capital), ("jun", "june", Capital), ("jul", "july", Capital),
    ("aug", "august", Capital), ("sept", "september", Capital), ("sep", "september", Capital), ("oct", "october", Capital), ("nov", "november", Capital), ("dec", "december", Capital),
    ("mon", "monday", Capital), ("tue", "tuesday", Capital), ("tues", "tuesday", Capital), ("wed", "wednesday", Capital), ("thu", "thursday", Capital),
    ("thur", "thursday", Capital), ("thurs", "thursday", Capital), ("fri", "friday", Capital), ("sat", "saturday", Capital), ("sun", "sunday", Capital),
];

/// Abbreviations that are also words, and are read as words unless a neighbour shows otherwise.
pub const ALSO_WORDS: &[&str] = &[
    "mar", "jun", "jul", "mon", "wed", "sat", "sun", "fri", "dec", "co", "sen", "rep", "gen", "hon", "max",
    "min",
];

/// Words before "St." in names of towns, where it stands for "saint".
pub const BEFORE_SAINT: &[&str] = &[
    "Cape", "East", "Fort", "Rue", "Ft.", "Lake", "Mount", "Mt.", "New", "North", "Old", "Port", "Pt.",
    "Sault", "South", "West",
];

pub const WITHOUT_PERIOD: &[(&str, &str)] = &[
    ("wwi", "world war one"),
    ("wwii", "world war two"),
    ("vs", "versus"),
    ("w/", "with"),
    ("a/c", "A C"),
    ("b/c", "because"),
    ("w/o", "without"),
    ("phd", "P H D"),
    ("phds", "P H D's"),
    ("phd's", "P H D's"),
    ("n/a", "N A"),
    ("c/o", "care of"),
    ("attn", "attention"),
    ("dept", "department"),
    ("hwy", "highway"),
    ("approx", "approximately"),
    ("govt", "government"),
    ("bldg", "building"),
];

/// Streets without a period; they are capitalized, after a name or an ordinal number.
pub const STREETS_WITHOUT_PERIOD: &[(&str, &str)] = &[
    ("Ave", "avenue"),
    ("Blvd", "boulevard"),
    ("Cir", "circle"),
    ("Ct", "court"),
    ("Expy", "expressway"),
    ("Fwy", "freeway"),
    ("Pl", "place"),
    ("Sq", "square"),
    ("Ter", "terrace"),
    ("Tpke", "turnpike"),
    ("Trl", "trail"),
    ("Dr", "drive"),
    ("Ln", "lane"),
    ("Pkwy", "parkway"),
    ("Rd", "road"),
    ("St", "street"),
];

#[rustfmt::skip]
pub const STATES: &[(&str, &str)] = &[
    ("AL", "alabama"), ("AK", "alaska"), ("AZ", "arizona"), ("AR", "arkansas"), ("CA", "california"), ("CO", "colorado"), ("CT", "connecticut"), ("DE", "delaware"),
    ("FL", "florida"), ("GA", "georgia"), ("HI", "hawaii"), ("ID", "idaho"), ("IL", "illinois"), ("IN", "indiana"), ("IA", "iowa"), ("KS", "kansas"),
    ("KY", "kentucky"), ("LA", "louisiana"), ("ME", "maine"), ("MD", "maryland"), ("MA", "massachusetts"), ("MI", "michigan"), ("MN", "minnesota"), ("MS", "mississippi"),
    ("MO", "missouri"), ("MT", "montana"), ("NE", "nebraska"), ("NV", "nevada"), ("NH", "new hampshire"), ("NJ", "new jersey"), ("NM", "new mexico"), ("NY", "new york"),
    ("NC", "north carolina"), ("ND", "north dakota"), ("OH", "ohio"), ("OK", "oklahoma"), ("OR", "oregon"), ("PA", "pennsylvania"), ("RI", "rhode island"),
    ("SC", "south carolina"), ("SD", "south dakota"), ("TN", "tennessee"), ("TX", "texas"), ("UT", "utah"), ("VT", "vermont"), ("VA", "virginia"),
    ("WA", "washington"), ("WV", "west virginia"), ("WI", "wisconsin"), ("WY", "wyoming"),
];

/// States as newspapers abbreviate them, after the name of a town.
#[rustfmt::skip]
pub const SHORTENED_STATES: &[(&str, &str)] = &[
    ("ala", "alabama"), ("ariz", "arizona"), ("ark", "arkansas"), ("calif", "california"), ("colo", "colorado"), ("conn", "connecticut"), ("del", "delaware"), ("fla", "florida"),
    ("ga", "georgia"), ("ill", "illinois"), ("ind", "indiana"), ("kan", "kansas"), ("ky", "kentucky"), ("la", "louisiana"), ("md", "maryland"), ("mass", "massachusetts"),
    ("mich", "michigan"), ("minn", "minnesota"), ("miss", "mississippi"), ("mo", "missouri"), ("mont", "montana"), ("neb", "nebraska"), ("nev", "nevada"), ("okla", "oklahoma"),
    ("ore", "oregon"), ("pa", "pennsylvania"), ("tenn", "tennessee"), ("tex", "texas"), ("vt", "vermont"), ("va", "virginia"), ("wash", "washington"), ("wis", "wisconsin"),
    ("wyo", "wyoming"),
];

/// The abbreviations of states that are also words or names.
pub const SHORTENED_WORDS: &[&str] =
    &["ala", "ark", "del", "ga", "ill", "ind", "la", "mass", "miss", "mo", "ore", "pa", "va", "wash"];

pub const SHORT_BEFORE_WORDS: &[(&str, &str)] = &[
    ("cont", "continued"),
    ("deg", "degree"),
    ("lg", "large"),
    ("med", "medium"),
    ("poss", "possibly"),
    ("prob", "probably"),
    ("rec", "recommended"),
    ("reg", "regular"),
    ("req", "required"),
    ("sm", "small"),
    ("temp", "temperature"),
    ("temps", "temperatures"),
];

pub const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Finds an abbreviation in lower case, without its period.
pub fn find(lower: &str) -> Option<&'static (&'static str, &'static str, When)> {
    ABBREVIATIONS.iter().find(|(short, ..)| *short == lower)
}

/// Returns the full name of a capitalized month or weekday, which may be abbreviated.
pub fn calendar_name(word: &str) -> Option<&'static str> {
    let lower = is_capitalized(word).then(|| word.to_ascii_lowercase())?;
    let full = find(&lower).map_or(lower.as_str(), |(_, full, _)| full);
    MONTHS.into_iter().chain(WEEKDAYS).find(|name| *name == full)
}

/// Whether a word is the name of a month, perhaps abbreviated.
pub fn is_month(word: &str) -> bool {
    calendar_name(word).is_some_and(|name| MONTHS.contains(&name))
}

/// Whether "Sec." is a secretary: "Sec. Blinken", "Sec. of State", but not "sec. 5".
pub fn is_office(abbreviation: &str, next: &str) -> bool {
    let name = is_capitalized(next) && next.len() > 2 && !is_numeral(next) && !is_starter(next);
    abbreviation == "Sec" && (name || next == "of")
}

/// Whether `next` is a letter used as a number after "Fig." and the like. "fig. A" may be a fruit and an article.
pub fn is_label(abbreviation: &str, next: &str) -> bool {
    let letter = next.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let letter = letter.split(['-', '–']).next().unwrap_or(letter);
    if letter.len() > 1 && is_numeral(&letter.to_ascii_uppercase()) {
        return true;
    }
    let named = letter.len() == 1
        && is_capitalized(letter)
        && (letter != "I" || ["Art", "Bk", "Ch", "Pt", "Vol"].contains(&abbreviation))
        && (letter != "A" || is_capitalized(abbreviation));
    named && !abbreviation.eq_ignore_ascii_case("no")
}

/// Whether a text is initials such as "U.S." and "U.S.A.", but not "a.".
pub fn is_initials(body: &str) -> bool {
    let letters: Vec<&str> = body.split('.').filter(|part| !part.is_empty()).collect();
    letters.len() >= 2
        && body.len() <= 12
        && letters.iter().all(|part| part.len() == 1 && part.as_bytes()[0].is_ascii_alphabetic())
        && body.len() >= 2 * letters.len() - 1
}
