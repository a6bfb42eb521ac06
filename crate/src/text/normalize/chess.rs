//! Moves of chess: "Nf3", "exd5", "Qxd7+".

use super::place::Reading;
use crate::text::numbers::cardinal;

fn piece(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'K' => "king",
        b'Q' => "queen",
        b'R' => "rook",
        b'B' => "bishop",
        b'N' => "knight",
        _ => return None,
    })
}

fn file_or_rank(byte: u8) -> String {
    if byte.is_ascii_digit() {
        cardinal(u64::from(byte - b'0'))
    } else {
        char::from(byte.to_ascii_uppercase()).to_string()
    }
}

pub fn read(body: &str) -> Reading {
    match body {
        "O-O" => return Some(("castles".into(), 1)),
        "O-O-O" => return Some(("castles queenside".into(), 1)),
        _ => {}
    }
    let (body, end) = match body.as_bytes().last()? {
        b'+' => (&body[..body.len() - 1], " check"),
        b'#' => (&body[..body.len() - 1], " mate"),
        _ => (body, ""),
    };
    let (moved, promoted) = match body.split_once('=') {
        Some((moved, to)) => (moved, format!(" promotes to {}", piece(*to.as_bytes().first()?)?)),
        None => (body, String::new()),
    };
    let is_file = |byte: u8| (b'a'..=b'h').contains(&byte);
    let square = |file: u8, rank: u8| {
        (is_file(file) && (b'1'..=b'8').contains(&rank)).then(|| {
            format!("{} {}", char::from(file.to_ascii_uppercase()), cardinal(u64::from(rank - b'0')))
        })
    };
    let (front, [file, rank]) = moved.as_bytes().split_last_chunk()?;
    let to = square(*file, *rank)?;
    let (front, takes) = match front.split_last() {
        Some((b'x', front)) => (front, " takes"),
        _ => (front, ""),
    };
    let from = match front {
        [] if takes.is_empty() => {
            return (!end.is_empty() || !promoted.is_empty()).then(|| (format!("{to}{promoted}{end}"), 1));
        }
        [file] if is_file(*file) && !takes.is_empty() => char::from(file.to_ascii_uppercase()).to_string(),
        [officer] => piece(*officer)?.to_string(),
        [officer, from] if is_file(*from) || from.is_ascii_digit() => {
            format!("{} {}", piece(*officer)?, file_or_rank(*from))
        }
        _ => return None,
    };
    Some((format!("{from}{takes} {to}{promoted}{end}"), 1))
}
