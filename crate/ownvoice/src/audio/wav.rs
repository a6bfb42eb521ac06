//! Reads and writes WAV files. Reading supports integers of 8 to 32 bits and 32-bit floats with any number of channels, which are averaged.

use std::io::{self, Cursor, Read};

use hound::{SampleFormat, WavReader, WavSpec, WavWriter};

use super::Audio;
use crate::{Error, Result};

/// The least length that programs which write to a pipe put into the header, because they do not yet know the true one; such a file is read to its end.
const UNKNOWN_LENGTH_BYTES: u32 = 0x7fff_0000;

/// Reads a WAV file and averages its channels. The header's lengths are not trusted before the bytes are checked to be there.
///
/// Floats beyond full scale are clamped to it. A file without samples gives an empty [`Audio`].
///
/// # Errors
/// Fails with `audio-unreadable` if the file is shorter than its header states or holds non-finite samples.
pub fn read(bytes: &[u8]) -> Result<Audio> {
    let (head, rest) = with_header_for_hound(bytes).unwrap_or((Vec::new(), bytes));
    let reader = WavReader::new(head.chain(rest)).map_err(unreadable)?;
    let WavSpec { channels, sample_rate, bits_per_sample, sample_format } = reader.spec();
    let sample_bytes = bits_per_sample.div_ceil(8);
    let length_is_unknown =
        u64::from(reader.len()) * u64::from(sample_bytes) >= u64::from(UNKNOWN_LENGTH_BYTES);
    let max_samples = bytes.len() / usize::from(sample_bytes).max(1);
    let channels = usize::from(channels);
    let samples = match sample_format {
        SampleFormat::Float => {
            mixed(reader.into_samples::<f32>(), channels, max_samples, length_is_unknown, |x| x)?
        }
        SampleFormat::Int => {
            let scale = 0.5f32.powi(i32::from(bits_per_sample) - 1);
            mixed(reader.into_samples::<i32>(), channels, max_samples, length_is_unknown, |x| {
                x as f32 * scale
            })?
        }
    };
    Ok(Audio { samples, sample_rate_hz: sample_rate })
}

/// Encodes a WAV file of 16-bit PCM with one channel. Samples beyond full scale saturate; NaN becomes silence.
pub fn write(samples: &[f32], sample_rate_hz: u32) -> Vec<u8> {
    let spec = WavSpec {
        channels: 1,
        sample_rate: sample_rate_hz,
        bits_per_sample: 16,
        sample_format: SampleFormat::Int,
    };
    let mut file = Cursor::new(Vec::with_capacity(44 + 2 * samples.len()));
    let mut writer = WavWriter::new(&mut file, spec).expect("a header is written to memory");
    let mut block = writer.get_i16_writer(samples.len() as u32);
    for &x in samples {
        block.write_sample((x * 32768.0).round() as i16);
    }
    block.flush().expect("samples are written to memory");
    writer.finalize().expect("a header is written to memory");
    file.into_inner()
}

/// The provenance of a file as RIFF INFO, which players and archive tools show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// `ISFT`: the program that made it.
    pub software: String,
    /// `ICMT`: a comment.
    pub comment: String,
}

impl Origin {
    /// The origin of synthetic speech, as the page writes it too (`Speech` in `web/js/voice.js`). `voice` is the voice's id, [`voice_id`].
    pub fn synthetic(voice: &str) -> Self {
        Self {
            software: "ownvoice".into(),
            comment: format!("Synthetic speech, made by ownvoice with voice {voice}"),
        }
    }

    /// The origin of a recording that a vocoder resynthesised.
    pub fn resynthesis() -> Self {
        Self {
            software: "ownvoice".into(),
            comment: "A recording made again by ownvoice from its spectrogram".into(),
        }
    }
}

/// Returns the id of a voice: the first 16 digits of its file's SHA-256 in hexadecimal.
pub fn voice_id(sha256_hex: &str) -> &str {
    &sha256_hex[..16]
}

/// Encodes as [`write()`] does, with the origin after the sound, because some readers expect the sound at byte 44.
pub fn write_with_origin(samples: &[f32], sample_rate_hz: u32, origin: &Origin) -> Vec<u8> {
    let mut info = b"INFO".to_vec();
    for (name, words) in [(b"ISFT", &origin.software), (b"ICMT", &origin.comment)] {
        let text = [words.as_bytes(), b"\0"].concat();
        push_chunk(&mut info, name, &text);
    }
    let mut file = write(samples, sample_rate_hz);
    push_chunk(&mut file, b"LIST", &info);
    let length = (file.len() - 8) as u32;
    file[4..8].copy_from_slice(&length.to_le_bytes());
    file
}

/// Appends a chunk: name, length and bytes, padded to an even length.
fn push_chunk(file: &mut Vec<u8>, name: &[u8; 4], bytes: &[u8]) {
    file.extend(name);
    file.extend((bytes.len() as u32).to_le_bytes());
    file.extend(bytes);
    file.resize(file.len().next_multiple_of(2), 0);
}

/// Averages the channels, frame by frame until the data ends, without holding more in memory.
///
/// * `max_samples`: the most samples that the file can hold, regardless of its header
fn mixed<R: io::Read, S: hound::Sample>(
    samples: hound::WavIntoSamples<R, S>,
    channels: usize,
    max_samples: usize,
    length_is_unknown: bool,
    to_f32: impl Fn(S) -> f32,
) -> Result<Vec<f32>> {
    let mut out = Vec::with_capacity(samples.len().min(max_samples) / channels);
    let (mut sum, mut summed) = (0.0, 0);
    for sample in samples {
        let x = match sample {
            Ok(x) => to_f32(x),
            Err(hound::Error::IoError(_)) if length_is_unknown => break,
            Err(error) => return Err(unreadable(error)),
        };
        if !x.is_finite() {
            return Err(Error::audio_unreadable("a sample is not a finite number"));
        }
        sum += x.clamp(-1.0, 1.0);
        summed += 1;
        if summed == channels {
            out.push(sum / channels as f32);
            (sum, summed) = (0.0, 0);
        }
    }
    Ok(out)
}

/// Returns a header with only the format chunk, and the samples that follow it, if hound would misread the file; otherwise `None`.
///
/// Besides [padded samples](is_padded), hound assumes that a chunk of odd length ends with its last byte, although RIFF pads it to an even length, and requires that an unknown length of all
/// ones is divisible by the sample size.
fn with_header_for_hound(bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (mut at, mut format, mut is_odd) = (12, None, false);
    loop {
        let (name, length) = bytes.get(at..at + 8)?.split_at(4);
        let length = u32::from_le_bytes(length.try_into().expect("four bytes"));
        let start = at + 8;
        match name {
            b"fmt " => format = Some(bytes.get(at..start + length as usize)?),
            b"data" if is_odd || length == u32::MAX || is_padded(format?) => {
                // Divisible by every frame of up to 16 channels of 1 to 4 bytes that a recorder writes.
                let unknown = UNKNOWN_LENGTH_BYTES.next_multiple_of(720_720);
                let length = if length == u32::MAX { unknown } else { length };
                let mut format = format?.to_vec();
                if is_padded(&format) {
                    format.copy_within(CONTAINER_BITS..CONTAINER_BITS + 2, VALID_BITS);
                }
                let head = [&bytes[..12], &format, b"data", &length.to_le_bytes()].concat();
                return Some((head, &bytes[start..]));
            }
            b"data" => return None,
            _ => is_odd |= length % 2 == 1,
        }
        at = start + (length as usize).next_multiple_of(2);
    }
}

/// The places of the bits of a container, and of the valid ones in a `WAVE_FORMAT_EXTENSIBLE` file, in a format chunk with its name and length.
const CONTAINER_BITS: usize = 22;
const VALID_BITS: usize = 26;

/// Returns whether samples have fewer valid bits than their containers. The valid bits are the most significant ones, so that a sample is a number of the
/// container's width; hound reads the least significant ones.
fn is_padded(format: &[u8]) -> bool {
    let number = |at: usize| format.get(at..at + 2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
    number(8) == Some(0xfffe) && number(VALID_BITS).is_some_and(|valid| Some(valid) < number(CONTAINER_BITS))
}

fn unreadable(error: hound::Error) -> Error {
    Error::audio_unreadable(match error {
        hound::Error::IoError(_) => "it ends too early".into(),
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes a WAV file by hand, as a writer other than hound may.
    fn file(format: u16, channels: u16, rate: u32, bits: u16, data_length: u32, data: &[u8]) -> Vec<u8> {
        let align = channels.wrapping_mul(bits / 8);
        let mut out = Vec::new();
        out.extend(b"RIFF");
        out.extend((36u32.wrapping_add(data_length)).to_le_bytes());
        out.extend(b"WAVEfmt ");
        out.extend(16u32.to_le_bytes());
        out.extend(format.to_le_bytes());
        out.extend(channels.to_le_bytes());
        out.extend(rate.to_le_bytes());
        out.extend(rate.wrapping_mul(u32::from(align)).to_le_bytes());
        out.extend(align.to_le_bytes());
        out.extend(bits.to_le_bytes());
        out.extend(b"data");
        out.extend(data_length.to_le_bytes());
        out.extend(data);
        out
    }

    fn code(bytes: &[u8]) -> &'static str {
        read(bytes).expect_err("must be refused").code()
    }

    #[test]
    fn every_sample_width_is_read() {
        let i16s = file(1, 1, 16000, 16, 6, &[0x00, 0x40, 0x00, 0x80, 0xff, 0x7f]);
        assert_eq!(read(&i16s).unwrap().samples, [0.5, -1.0, 32767.0 / 32768.0]);
        assert_eq!(read(&file(1, 1, 8000, 8, 3, &[128, 192, 0])).unwrap().samples, [0.0, 0.5, -1.0]);
        assert_eq!(read(&file(1, 1, 44100, 24, 6, &[0, 0, 0x40, 0, 0, 0x80])).unwrap().samples, [0.5, -1.0]);
        assert_eq!(
            read(&file(1, 1, 44100, 32, 8, &[0, 0, 0, 0x40, 0, 0, 0, 0x80])).unwrap().samples,
            [0.5, -1.0]
        );
        let floats: Vec<u8> = [0.25f32, -0.75, 3.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let audio = read(&file(3, 1, 48000, 32, 12, &floats)).unwrap();
        assert_eq!((audio.samples.as_slice(), audio.sample_rate_hz), ([0.25, -0.75, 1.0].as_slice(), 48000));
    }

    /// Encodes a `WAVE_FORMAT_EXTENSIBLE` file whose samples of integers have fewer valid bits than their containers.
    fn extensible(container_bits: u16, valid_bits: u16, data: &[u8]) -> Vec<u8> {
        let plain = file(0xfffe, 1, 16_000, container_bits, data.len() as u32, data);
        let mut out = plain[..16].to_vec();
        out.extend(40u32.to_le_bytes());
        out.extend(&plain[20..36]);
        out.extend(22u16.to_le_bytes());
        out.extend(valid_bits.to_le_bytes());
        out.extend(4u32.to_le_bytes());
        out.extend(b"\x01\0\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71");
        out.extend(&plain[36..]);
        out
    }

    #[test]
    fn valid_bits_are_the_most_significant_ones() {
        for (container, valid, half) in [
            (32, 24, &[0, 0, 0, 0x40][..]),
            (32, 16, &[0, 0, 0, 0x40]),
            (32, 20, &[0, 0, 0, 0x40]),
            (24, 20, &[0, 0, 0x40]),
            (16, 12, &[0, 0x40]),
            (32, 32, &[0, 0, 0, 0x40]),
        ] {
            let data = [half, half].concat();
            let audio = read(&extensible(container, valid, &data)).unwrap();
            assert_eq!(audio.samples, [0.5, 0.5], "{valid} in {container}");
        }
    }

    #[test]
    fn channels_are_averaged() {
        let stereo = file(1, 2, 16000, 16, 8, &[0x00, 0x40, 0, 0, 0x00, 0x20, 0x00, 0x20]);
        assert_eq!(read(&stereo).unwrap().samples, [0.25, 0.25]);
    }

    #[test]
    fn written_files_are_read_back() {
        let bytes = write(&[0.0, 0.5, -1.0, 2.0, f32::NAN], 22050);
        assert_eq!(bytes.len(), 44 + 10);
        let audio = read(&bytes).unwrap();
        assert_eq!(audio.sample_rate_hz, 22050);
        assert_eq!(audio.samples, [0.0, 0.5, -1.0, 32767.0 / 32768.0, 0.0]);
        assert_eq!(read(&write(&[], 16000)).unwrap().samples, [0.0f32; 0]);
    }

    #[test]
    fn an_origin_follows_the_sound_without_changing_it() {
        let samples = [0.0, 0.5, -1.0];
        let bytes = write_with_origin(&samples, 16_000, &Origin::synthetic("0123456789abcdef"));
        let plain = write(&samples, 16_000);
        assert_eq!(bytes[8..plain.len()], plain[8..]);
        assert_eq!(u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize, bytes.len() - 8);
        // 9 and 63 bytes of text, each with an even number of them in the file.
        let list: Vec<u8> = [
            b"LIST\x5e\0\0\0INFOISFT\x09\0\0\0ownvoice\0\0".as_slice(),
            b"ICMT\x3f\0\0\0Synthetic speech, made by ownvoice with voice 0123456789abcdef\0\0",
        ]
        .concat();
        assert_eq!(String::from_utf8_lossy(&bytes[plain.len()..]), String::from_utf8_lossy(&list));
        assert_eq!(read(&bytes).unwrap().samples, [0.0, 0.5, -1.0]);
    }

    #[test]
    fn a_piped_file_is_read_to_its_end() {
        for length in [0x7fff_f000, u32::MAX] {
            let audio = read(&file(1, 1, 16000, 16, length, &[0, 0x40, 0, 0x40])).unwrap();
            assert_eq!(audio.samples, [0.5, 0.5]);
        }
    }

    #[test]
    fn chunks_of_odd_length_are_padded() {
        let plain = file(1, 1, 16000, 16, 4, &[0, 0x40, 0, 0x40]);
        let with = |at: usize, chunk: &[u8]| [&plain[..at], chunk, &plain[at..]].concat();
        for chunk in [
            b"junk\x03\0\0\0abc\0".as_slice(),
            b"junk\x01\0\0\0a\0bext\x05\0\0\0abcde\0",
            b"LIST\x02\0\0\0ab",
        ] {
            for at in [12, 36, plain.len()] {
                assert_eq!(read(&with(at, chunk)).unwrap().samples, [0.5, 0.5], "{chunk:?} at {at}");
            }
        }
    }

    #[test]
    fn bad_files_are_refused() {
        assert_eq!(code(b""), "audio-unreadable");
        assert_eq!(code(b"RIFF"), "audio-unreadable");
        assert_eq!(code(b"<html>not a sound</html>"), "audio-unreadable");
        assert_eq!(code(&file(1, 1, 16000, 16, 1000, &[0; 10])), "audio-unreadable", "ends early");
        assert_eq!(code(&file(1, 1, 16000, 16, 3, &[0; 3])), "audio-unreadable", "half a sample");
        assert_eq!(code(&file(1, 0, 16000, 16, 4, &[0; 4])), "audio-unreadable", "no channels");
        assert_eq!(code(&file(1, 1, 16000, 0, 4, &[0; 4])), "audio-unreadable", "no bits");
        assert_eq!(code(&file(1, 1, 16000, 64, 8, &[0; 8])), "audio-unreadable", "64-bit integers");
        assert_eq!(code(&file(0x55, 1, 16000, 16, 4, &[0; 4])), "audio-unreadable", "MP3 inside");
        assert_eq!(code(&file(3, 1, 16000, 32, 4, &f32::NAN.to_le_bytes())), "audio-unreadable", "NaN");
        assert_eq!(
            code(&file(3, 1, 16000, 32, 4, &f32::INFINITY.to_le_bytes())),
            "audio-unreadable",
            "infinity"
        );
    }

    #[test]
    fn damaged_headers_do_not_panic() {
        let whole = file(1, 2, 16000, 16, 8, &[0, 0x40, 0, 0, 0, 0x20, 0, 0x20]);
        for end in 0..whole.len() {
            assert_eq!(code(&whole[..end]), "audio-unreadable", "cut at {end}");
        }
        for at in 0..44 {
            for value in [0u8, 1, 3, 7, 0x7f, 0x80, 0xfe, 0xff] {
                for width in 1..=4 {
                    let mut damaged = whole.clone();
                    damaged[at..(at + width).min(44)].fill(value);
                    if let Ok(audio) = read(&damaged) {
                        assert!(audio.samples.len() <= 8, "more samples than bytes");
                    }
                }
            }
        }
    }
}
