//! Web and mail addresses, file names, hashtags and handles.

use super::{
    numerals::number_or_year,
    place::{Reading, TokenContext},
};

const DOMAINS: &[&str] = &[
    "com", "org", "net", "edu", "gov", "io", "dev", "ai", "app", "uk", "us", "de", "fr", "eu", "ca", "info",
    "tv", "me", "co", "rs", "ly", "fm", "biz", "mil", "xyz", "gg", "gl", "jp", "au", "nz", "nl", "ch", "ru",
    "cn", "br", "mx", "pl", "tech", "cloud", "blog", "shop", "store", "online", "site", "club",
];
/// Top-level domains that are also words, so that they count only before a path.
const SHORT_DOMAINS: &[&str] = &["at", "be", "cc", "in", "is", "it", "no", "se", "to", "link", "page"];
#[rustfmt::skip]
const FILES: &[&str] = &[
    "pdf", "txt", "jpg", "jpeg", "png", "gif", "mp3", "mp4", "wav", "exe", "js", "ts", "py", "html", "css",
    "csv", "doc", "docx", "xls", "xlsx", "zip", "json", "md", "toml", "sh", "yml", "yaml", "log", "ini", "cfg", "conf", "iso", "apk", "gz", "tar", "bak", "tmp", "svg", "webp", "avi", "mov", "mkv",
    "heic", "ppt", "pptx", "epub", "sql", "xml", "jar", "java", "rb", "php", "tsx", "jsx", "ipynb", "tex", "cpp", "hpp", "dll", "bat", "psd", "flac", "ogg", "m4a", "rar", "7z", "odt", "rtf",
];
const SEPARATORS: [char; 12] = ['.', '@', '/', '\\', '-', '_', ':', '?', '=', '&', '#', '+'];

/// Reads an address, a path, a hashtag or a handle.
pub fn read(context: &TokenContext) -> Reading {
    let body = context.chunk(0)?.body;
    let (body, possessive) = match body.strip_suffix("'s").filter(|tag| tag.starts_with(['#', '@'])) {
        Some(tag) => (tag, "'s"),
        None => (body, ""),
    };
    if let Some(tag) = body.strip_prefix('#').filter(|tag| {
        tag.bytes().any(|byte| byte.is_ascii_alphabetic())
            && tag.bytes().all(|byte| byte.is_ascii_alphanumeric())
    }) {
        return Some((format!("hashtag {}{possessive}", camel(tag)), 1));
    }
    is_address(body).then(|| (spell(body), 1))
}

/// Whether a chunk is an address, a path or a file name.
fn is_address(body: &str) -> bool {
    let lower = body.to_ascii_lowercase();
    let body = lower.as_str();
    let name = |part: &str| part.bytes().any(|byte| byte.is_ascii_alphabetic());
    let host = body.split(['/', ':']).next().unwrap_or(body);
    let ends_like_one = host.rsplit_once('.').is_some_and(|(front, end)| {
        name(front)
            && front.len() > 1
            && (DOMAINS.contains(&end)
                || SHORT_DOMAINS.contains(&end) && body.contains('/')
                || FILES.contains(&end) && host.len() == body.len())
            && !front.ends_with('.')
    });
    // "/usr/local/bin", "~/.bashrc"
    let path = ["/", "~/", "./", "../"].iter().any(|start| body.starts_with(start))
        && body.bytes().filter(|byte| byte.is_ascii_alphabetic()).count() > 1
        && !body.contains("//");
    // "C:\Users\Ann"
    let windows = body.contains('\\') && body.bytes().filter(u8::is_ascii_alphabetic).count() > 1;
    path || windows
        || body.starts_with("http://")
        || body.starts_with("https://")
        || body.starts_with("www.")
        || body.split_once('@').is_some_and(|(user, host)| name(user) && host.contains('.'))
        || ends_like_one && !super::short_forms::is_initials(body)
}

/// Returns the words of an address and of its separators.
fn spell(body: &str) -> String {
    let body = body.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/');
    let mut words: Vec<String> = Vec::new();
    let body = match body.strip_prefix('~') {
        Some(rest) => {
            words.push("tilde".to_string());
            rest
        }
        None => body,
    };
    for (index, part) in body.split_inclusive(SEPARATORS).enumerate() {
        let word = part.trim_end_matches(SEPARATORS);
        words.push(match word {
            word if index == 0 && word.eq_ignore_ascii_case("www") => "W W W".to_string(),
            // These are domains of countries or abbreviations, not words.
            "uk" | "us" | "ai" | "io" | "tv" | "js" | "rs" | "py" | "sh" | "ts" | "md" if index > 0 => {
                letters(word)
            }
            "en" | "es" | "de" | "fr" | "it" | "uk" if part.ends_with('.') && index == 0 => letters(word),
            word if word.bytes().all(|byte| byte.is_ascii_digit()) && !word.is_empty() => {
                number_or_year(word)
            }
            word if word.len() == 1 => word.to_ascii_uppercase(),
            word => camel(word),
        });
        words.extend(part[word.len()..].chars().map(|mark| {
            let mark = match mark {
                '.' => "dot",
                '@' => "at",
                '/' => "slash",
                '\\' => "backslash",
                '-' => "dash",
                '_' => "underscore",
                ':' => "colon",
                '+' => "plus",
                '=' => "equals",
                '&' => "and",
                _ => "",
            };
            mark.to_string()
        }));
    }
    words.join(" ")
}

/// Returns the letters of a word, separated by spaces.
fn letters(word: &str) -> String {
    word.chars().map(|letter| letter.to_ascii_uppercase().to_string()).collect::<Vec<_>>().join(" ")
}

/// Splits "throwbackThursday" into two words and "2024goals" into a number and a word. Capitals are kept.
fn camel(word: &str) -> String {
    let bytes = word.as_bytes();
    let mut words: Vec<&str> = Vec::new();
    let mut start = 0;
    for at in 1..bytes.len() {
        let (before, here) = (bytes[at - 1], bytes[at]);
        let turns = before.is_ascii_lowercase() && here.is_ascii_uppercase();
        let last_capital = before.is_ascii_uppercase()
            && here.is_ascii_uppercase()
            && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        if word.is_char_boundary(at)
            && (turns || last_capital || before.is_ascii_digit() != here.is_ascii_digit())
        {
            words.push(&word[start..at]);
            start = at;
        }
    }
    words.push(word.get(start..).unwrap_or(""));
    let spoken = words.into_iter().map(|word| {
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            number_or_year(word)
        } else if word.bytes().all(|byte| byte.is_ascii_uppercase()) {
            if super::capitals::is_spelled(word) { letters(word) } else { word.to_string() }
        } else {
            word.to_ascii_lowercase()
        }
    });
    spoken.collect::<Vec<_>>().join(" ")
}
