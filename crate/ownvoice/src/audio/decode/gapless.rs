//! The part of an MP4 file's sound that belongs to the recording: by the edit list of its track (ISO/IEC 14496-12, section 8.6.6) or by `iTunSMPB`, which Apple's
//! encoders write. symphonia reads both and hands over neither.

/// The parts that are kept, in seconds from the beginning of the first packet: each with its length, or up to the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    parts: Vec<(Place, Option<Place>)>,
}

/// A time: a number of units, and the units of a second; 0 units of a second are samples.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    units: u64,
    per_second: u32,
}

impl Place {
    fn samples(self, rate_hz: u32) -> usize {
        let per_second = if self.per_second == 0 { rate_hz } else { self.per_second };
        (u128::from(self.units) * u128::from(rate_hz))
            .div_ceil(per_second.into())
            .try_into()
            .unwrap_or(usize::MAX)
    }
}

impl From<usize> for Kept {
    /// Keeps all but some samples at the beginning.
    fn from(skipped: usize) -> Self {
        Self { parts: vec![(Place { units: skipped as u64, per_second: 0 }, None)] }
    }
}

impl Kept {
    /// Returns the kept samples in order.
    pub fn of(&self, samples: Vec<f32>, rate_hz: u32) -> Vec<f32> {
        let part = |(from, length): &(Place, Option<Place>)| {
            let from = from.samples(rate_hz).min(samples.len());
            let length = length.map_or(usize::MAX, |length| length.samples(rate_hz));
            from..from.saturating_add(length).min(samples.len())
        };
        match &self.parts[..] {
            [whole] if part(whole) == (0..samples.len()) => samples,
            parts => parts.iter().flat_map(|kept| samples[part(kept)].iter().copied()).collect(),
        }
    }
}

/// Returns the kept parts of a track of an MP4 file; `None` for other files, and for files that do not tell.
pub fn kept(bytes: &[u8], track: u32) -> Option<Kept> {
    if bytes.get(4..8) != Some(b"ftyp") {
        return None;
    }
    let movie = child(bytes, b"moov")?;
    if let Some(smpb) = itunes_smpb(movie) {
        return Some(smpb);
    }
    let trak = boxes(movie).filter(|(name, _)| *name == b"trak").find_map(|(_, trak)| {
        let header = child(trak, b"tkhd")?;
        let at = if header.first() == Some(&1) { 20 } else { 12 };
        (number(header, at)? == u64::from(track)).then_some(trak)
    })?;
    let movie_units = units_per_second(child(movie, b"mvhd")?)?;
    let media_units = units_per_second(child(child(trak, b"mdia")?, b"mdhd")?)?;
    let list = child(child(trak, b"edts")?, b"elst")?;
    let wide = list.first() == Some(&1);
    let count = number(list, 4)?.min(list.len() as u64);
    let mut parts = Vec::new();
    for index in 0..count as usize {
        let (length, from) = match wide {
            true => (long_number(list, 8 + 20 * index)?, long_number(list, 16 + 20 * index)? as i64),
            false => (number(list, 8 + 12 * index)?, i64::from(number(list, 12 + 12 * index)? as i32)),
        };
        // A negative time is an empty edit: the track begins later than others.
        if let Ok(units) = u64::try_from(from) {
            let length = (length > 0).then_some(Place { units: length, per_second: movie_units });
            parts.push((Place { units, per_second: media_units }, length));
        }
    }
    (!parts.is_empty()).then_some(Kept { parts })
}

/// Reads `iTunSMPB`: hexadecimal numbers, of which the second is the delay of the encoder, the third its padding and the fourth the length, in samples.
fn itunes_smpb(movie: &[u8]) -> Option<Kept> {
    let meta = child(child(movie, b"udta")?, b"meta")?;
    let list = child(meta.get(4..)?, b"ilst")?;
    let tag = boxes(list).filter(|(name, _)| *name == b"----").find_map(|(_, tag)| {
        (child(tag, b"name")?.get(4..)? == b"iTunSMPB").then_some(child(tag, b"data")?)
    })?;
    let text = std::str::from_utf8(tag.get(8..)?).ok()?;
    let numbers: Vec<u64> =
        text.split_whitespace().map_while(|word| u64::from_str_radix(word, 16).ok()).take(4).collect();
    let &[_, delay, _, length] = &numbers[..] else { return None };
    let samples = |units| Place { units, per_second: 0 };
    (length > 0).then(|| Kept { parts: vec![(samples(delay), Some(samples(length)))] })
}

/// Returns the boxes of a box, each with its name and contents, until one exceeds its parent.
fn boxes(bytes: &[u8]) -> impl Iterator<Item = (&[u8; 4], &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (short, name) = rest.get(..8)?.split_at(4);
        let (header, length) = match u32::from_be_bytes(short.try_into().ok()?) {
            0 => (8, rest.len()),
            1 => (16, usize::try_from(long_number(rest, 8)?).ok()?),
            length => (8, length as usize),
        };
        let contents = rest.get(header..length)?;
        rest = &rest[length..];
        Some((name.try_into().ok()?, contents))
    })
}

fn child<'a>(bytes: &'a [u8], wanted: &[u8; 4]) -> Option<&'a [u8]> {
    boxes(bytes).find(|(name, _)| *name == wanted).map(|(_, contents)| contents)
}

/// Returns the time scale of `mvhd` or `mdhd`.
fn units_per_second(header: &[u8]) -> Option<u32> {
    let at = if header.first() == Some(&1) { 20 } else { 12 };
    number(header, at).map(|units| units as u32).filter(|&units| units > 0)
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    bytes
        .get(at..at.checked_add(4)?)
        .map(|bytes| u64::from(u32::from_be_bytes(bytes.try_into().expect("four bytes"))))
}

fn long_number(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at.checked_add(8)?).map(|bytes| u64::from_be_bytes(bytes.try_into().expect("eight bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(name: &[u8; 4], contents: &[u8]) -> Vec<u8> {
        [&(8 + contents.len() as u32).to_be_bytes()[..], name, contents].concat()
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    /// A file with one track, whose movie counts milliseconds and whose media counts samples at 48 kHz.
    fn file(edits: &[(u32, i32)], smpb: Option<&str>) -> Vec<u8> {
        let entries = edits.iter().flat_map(|&(length, from)| words(&[length, from as u32, 0x10000]));
        let list = [words(&[0, edits.len() as u32]), entries.collect()].concat();
        let track = [
            boxed(b"tkhd", &words(&[0, 0, 0, 7, 0, 0])),
            boxed(b"edts", &boxed(b"elst", &list)),
            boxed(b"mdia", &boxed(b"mdhd", &words(&[0, 0, 0, 48_000, 0]))),
        ];
        let tag = smpb.map(|text| {
            let name = boxed(b"name", &[&words(&[0]), &b"iTunSMPB"[..]].concat());
            let data = boxed(b"data", &[&words(&[1, 0]), text.as_bytes()].concat());
            let list = boxed(b"ilst", &boxed(b"----", &[name, data].concat()));
            boxed(b"udta", &boxed(b"meta", &[words(&[0]), list].concat()))
        });
        let movie = [
            boxed(b"mvhd", &words(&[0, 0, 0, 1000, 0])),
            boxed(b"trak", &track.concat()),
            tag.unwrap_or_default(),
        ];
        [boxed(b"ftyp", b"M4A "), boxed(b"moov", &movie.concat())].concat()
    }

    fn ranges(bytes: &[u8], rate_hz: u32, frames: usize) -> Option<Vec<f32>> {
        kept(bytes, 7).map(|kept| kept.of((0..frames).map(|at| at as f32).collect(), rate_hz))
    }

    fn run(from: usize, to: usize) -> Vec<f32> {
        (from..to).map(|at| at as f32).collect()
    }

    #[test]
    fn the_edit_list_tells_what_is_kept() {
        assert_eq!(ranges(&file(&[(10, 1024)], None), 48_000, 2048), Some(run(1024, 1504)));
        assert_eq!(
            ranges(&file(&[(0, 1024)], None), 48_000, 2048),
            Some(run(1024, 2048)),
            "of a streamed file"
        );
        assert_eq!(
            ranges(&file(&[(10, 1024)], None), 24_000, 2048),
            Some(run(512, 752)),
            "another rate than the media's"
        );
        assert_eq!(
            ranges(&file(&[(5, -1), (10, 1024)], None), 48_000, 2048),
            Some(run(1024, 1504)),
            "an empty edit"
        );
        let two = [run(96, 144), run(960, 1008)].concat();
        assert_eq!(ranges(&file(&[(1, 96), (1, 960)], None), 48_000, 2048), Some(two));
        assert_eq!(ranges(&file(&[(10, 9000)], None), 48_000, 2048), Some(Vec::new()), "beyond the end");
        assert_eq!(ranges(&file(&[], None), 48_000, 100), None);
        assert_eq!(kept(&file(&[(10, 1024)], None), 8), None, "another track");
    }

    #[test]
    fn itunes_counts_in_samples() {
        let text = " 00000000 00000840 000001CA 00000000000002F6 00000000 00000000";
        assert_eq!(ranges(&file(&[(10, 1024)], Some(text)), 44_100, 4000), Some(run(0x840, 0x840 + 0x2f6)));
        for odd in ["", "00000000 zz", " 00000000 00000840 000001CA 0000000000000000"] {
            assert_eq!(
                ranges(&file(&[(10, 1024)], Some(odd)), 48_000, 2048),
                Some(run(1024, 1504)),
                "{odd:?}"
            );
        }
    }

    #[test]
    fn damaged_files_tell_nothing_or_less() {
        let whole = file(&[(10, 1024), (10, 2048)], Some(" 00000000 00000840 000001CA 00000000000002F6"));
        for at in 0..whole.len() {
            let _ = kept(&whole[..at], 7);
            for byte in [0, 1, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = byte;
                if let Some(kept) = kept(&damaged, 7) {
                    assert!(kept.of(vec![0.0; 100], 48_000).len() <= 100 * kept.parts.len());
                }
            }
        }
    }
}
