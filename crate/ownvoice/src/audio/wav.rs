//! Reads and writes WAV files (RIFF, and RF64 beyond 4 GB). Integers of 8 to 32 bits, floats of 32 and 64, A-law and mu-law are read here, so that a program without
//! the feature `formats` reads them too; ADPCM and MP3 inside WAV need that feature.
//!
//! Recorders and pipes leave headers of many kinds, which libraries refuse or misread: lengths that are unknown, 0, or count the header, format chunks longer or
//! shorter than the standard's, fewer valid bits than the container has. What follows the chunk `data` is read by the file's own length in doubt.

use super::{Audio, Note, channels::mix_down};
use crate::{Error, Result};

/// The least length that programs which write to a pipe put into the header, because they do not yet know the true one; such a file is read to its end.
const UNKNOWN_LENGTH_BYTES: u64 = 0x7fff_0000;
/// The encodings of a format chunk (`mmreg.h` of Microsoft's SDK).
const PCM: u16 = 1;
const FLOAT: u16 = 3;
const ALAW: u16 = 6;
const MULAW: u16 = 7;
#[cfg(feature = "formats")]
const MP3: u16 = 0x55;
const EXTENSIBLE: u16 = 0xfffe;

/// Returns whether the bytes begin as a WAV file does.
pub fn is_wav(bytes: &[u8]) -> bool {
    [b"RIFF", b"RF64", b"BW64"].iter().any(|name| bytes.starts_with(*name))
        && bytes.get(8..12) == Some(b"WAVE")
}

/// Reads a WAV file and mixes its channels to one. Floats beyond full scale are clamped to it. A file without samples gives an empty [`Audio`].
///
/// # Errors
/// Fails with `audio-unreadable` if the file is shorter than its header states by more than the header, holds non-finite samples, or has another encoding.
pub fn read(bytes: &[u8]) -> Result<Audio> {
    read_with_notes(bytes).map(|(audio, _)| audio)
}

/// Reads a WAV file as [`read`] does, and returns what was unusual about it.
pub fn read_with_notes(bytes: &[u8]) -> Result<(Audio, Vec<Note>)> {
    let WavFile { format, sound, mut notes } = WavFile::parse(bytes)?;
    let (encoding, channels, sample_rate_hz, bits) =
        (format.encoding(), format.number(2), format.sample_rate_hz(), format.number(14));
    if channels == 0 || sample_rate_hz == 0 {
        return Err(Error::audio_unreadable("its header states no channels or no sample rate"));
    }
    // Fewer valid bits than the container has are the most significant ones, so that a sample is a number of the container's width.
    let planes = match (encoding, bits.div_ceil(8)) {
        (PCM, 1) => planes(sound, channels, |[x]: [u8; 1]| (f32::from(x) - 128.0) / 128.0),
        (PCM, 2) => planes(sound, channels, |x| f32::from(i16::from_le_bytes(x)) / 32_768.0),
        (PCM, 3) => planes(sound, channels, |[a, b, c]: [u8; 3]| {
            i32::from_le_bytes([0, a, b, c]) as f32 / 2f32.powi(31)
        }),
        (PCM, 4) => planes(sound, channels, |x| i32::from_le_bytes(x) as f32 / 2f32.powi(31)),
        (FLOAT, 4) => planes(sound, channels, f32::from_le_bytes),
        (FLOAT, 8) => planes(sound, channels, |x| f64::from_le_bytes(x) as f32),
        (ALAW, 1) => planes(sound, channels, |[x]: [u8; 1]| f32::from(from_alaw(x)) / 32_768.0),
        (MULAW, 1) => planes(sound, channels, |[x]: [u8; 1]| f32::from(from_mulaw(x)) / 32_768.0),
        _ => return read_compressed(&format, sound, notes),
    }?;
    let (samples, note) = mix_down(planes, sample_rate_hz);
    notes.extend(note);
    Ok((Audio { samples, sample_rate_hz }, notes))
}

/// Separates the channels of samples of `N` bytes. An incomplete frame at the end is left out.
fn planes<const N: usize>(
    sound: &[u8],
    channels: u16,
    sample: impl Fn([u8; N]) -> f32,
) -> Result<Vec<Vec<f32>>> {
    let channels = usize::from(channels);
    let frames = sound.len() / (N * channels);
    if frames == 0 {
        // A damaged header may state thousands of channels.
        return Ok(Vec::new());
    }
    let mut planes = vec![Vec::with_capacity(frames); channels];
    for frame in sound.chunks_exact(N * channels) {
        for (plane, bytes) in planes.iter_mut().zip(frame.chunks_exact(N)) {
            let x = sample(bytes.try_into().expect("a chunk has this length"));
            if !x.is_finite() {
                return Err(Error::audio_unreadable("a sample is not a finite number"));
            }
            plane.push(x.clamp(-1.0, 1.0));
        }
    }
    Ok(planes)
}

/// Expands a sample of A-law (ITU-T G.711).
fn from_alaw(code: u8) -> i16 {
    let code = code ^ 0x55;
    let (exponent, mantissa) = ((code >> 4) & 7, i16::from(code & 15) << 4);
    let magnitude = if exponent == 0 { mantissa + 8 } else { (mantissa + 0x108) << (exponent - 1) };
    if code & 0x80 == 0 { -magnitude } else { magnitude }
}

/// Expands a sample of mu-law (ITU-T G.711).
fn from_mulaw(code: u8) -> i16 {
    let code = !code;
    let magnitude = (((i16::from(code & 15) << 3) + 0x84) << ((code >> 4) & 7)) - 0x84;
    if code & 0x80 == 0 { magnitude } else { -magnitude }
}

/// Reads an encoding of symphonia. Its reader of WAV files takes no header but a correct one.
#[cfg(feature = "formats")]
fn read_compressed(format: &Format, sound: &[u8], mut notes: Vec<Note>) -> Result<(Audio, Vec<Note>)> {
    let (audio, found) = match format.encoding() {
        MP3 => super::decode::read(sound)?,
        _ => {
            let chunk =
                |name: &[u8], bytes: &[u8]| [name, &(bytes.len() as u32).to_le_bytes(), bytes].concat();
            let body = [b"WAVE", chunk(b"fmt ", format.0).as_slice(), &chunk(b"data", sound)].concat();
            super::decode::read(&chunk(b"RIFF", &body))?
        }
    };
    notes.extend(found);
    Ok((audio, notes))
}

#[cfg(not(feature = "formats"))]
fn read_compressed(format: &Format, _: &[u8], _: Vec<Note>) -> Result<(Audio, Vec<Note>)> {
    Err(Error::audio_unreadable(format!("WAV with the encoding {:#06x}", format.encoding())))
}

/// A format chunk, at least its first 14 bytes.
struct Format<'a>(&'a [u8]);

impl Format<'_> {
    /// Returns the number of two bytes at a place, or 0 beyond the end.
    fn number(&self, at: usize) -> u16 {
        self.0.get(at..at + 2).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// Returns the encoding; that of `WAVE_FORMAT_EXTENSIBLE` begins its subformat.
    fn encoding(&self) -> u16 {
        match self.number(0) {
            EXTENSIBLE => self.number(24),
            encoding => encoding,
        }
    }

    fn sample_rate_hz(&self) -> u32 {
        u32::from(self.number(4)) | u32::from(self.number(6)) << 16
    }
}

/// The chunks of a WAV file that matter.
struct WavFile<'a> {
    format: Format<'a>,
    sound: &'a [u8],
    notes: Vec<Note>,
}

impl<'a> WavFile<'a> {
    /// Finds format and sound. The header's lengths are not trusted before the bytes are checked to be there.
    fn parse(bytes: &'a [u8]) -> Result<Self> {
        let early = || Error::audio_unreadable("it ends too early");
        if !is_wav(bytes) {
            return Err(Error::audio_unreadable("it is no WAV file"));
        }
        let (mut at, mut format, mut long_length) = (12, None, None);
        loop {
            let (name, length) = chunk_header(bytes, at).ok_or_else(early)?;
            let start = at + 8;
            if name == b"data" {
                let format =
                    format.ok_or_else(|| Error::audio_unreadable("its sound precedes its format"))?;
                let (sound, note) =
                    sound(bytes, start, long_length.unwrap_or(u64::from(length))).ok_or_else(early)?;
                return Ok(Self { format, sound, notes: note.into_iter().collect() });
            }
            let chunk =
                start.checked_add(length as usize).and_then(|end| bytes.get(start..end)).ok_or_else(early)?;
            match name {
                b"fmt " if chunk.len() >= 14 => format = Some(Format(chunk)),
                // The length of the sound in an RF64 file, whose other lengths are all ones.
                b"ds64" => {
                    let length = chunk
                        .get(8..16)
                        .map(|length| u64::from_le_bytes(length.try_into().expect("eight bytes")));
                    // A pipe leaves 0.
                    long_length = length.filter(|&length| length > 0);
                }
                _ => {}
            }
            at = start + (length as usize).next_multiple_of(2);
        }
    }
}

/// Returns the sound, which begins at `start`, and a note if its length was not as stated. Returns `None` if more is missing than a header that counts itself
/// explains.
fn sound(bytes: &[u8], start: usize, stated: u64) -> Option<(&[u8], Option<Note>)> {
    let there = &bytes[start..];
    match stated.saturating_sub(there.len() as u64) {
        // The header was never completed, and sound follows instead of other chunks.
        0 if stated == 0 && !is_chunks(there) => Some((there, Some(Note::HeaderLength))),
        0 => Some((&there[..stated as usize], None)),
        _ if stated >= UNKNOWN_LENGTH_BYTES => Some((there, None)),
        missing if missing <= start as u64 && !there.is_empty() => Some((there, Some(Note::HeaderLength))),
        _ => None,
    }
}

/// Returns whether bytes are a sequence of chunks up to their end.
fn is_chunks(bytes: &[u8]) -> bool {
    let mut at = 0;
    while at < bytes.len() {
        let Some((_, length)) = chunk_header(bytes, at).filter(|(name, _)| name.is_ascii()) else {
            return false;
        };
        at = (at + 8).saturating_add(length as usize).next_multiple_of(2);
    }
    at <= bytes.len() + 1
}

/// Returns the name and the length of the chunk at a place.
fn chunk_header(bytes: &[u8], at: usize) -> Option<(&[u8; 4], u32)> {
    let (name, length) = bytes.get(at..at.checked_add(8)?)?.split_at(4);
    Some((name.try_into().expect("four bytes"), u32::from_le_bytes(length.try_into().expect("four bytes"))))
}

/// Encodes a WAV file of 16-bit PCM with one channel. Samples beyond full scale saturate; NaN becomes silence.
pub fn write(samples: &[f32], sample_rate_hz: u32) -> Vec<u8> {
    let data = pcm(samples);
    let mut file = Vec::with_capacity(44 + data.len());
    file.extend(b"RIFF");
    file.extend((36 + data.len() as u32).to_le_bytes());
    file.extend(b"WAVE");
    push_chunk(&mut file, b"fmt ", &format_chunk(sample_rate_hz));
    push_chunk(&mut file, b"data", &data);
    file
}

/// Encodes samples as 16-bit little-endian PCM, as [`write()`] does.
pub fn pcm(samples: &[f32]) -> Vec<u8> {
    samples.iter().flat_map(|x| ((x * 32_768.0).round() as i16).to_le_bytes()).collect()
}

/// Encodes the beginning of a WAV file whose length is not known yet, because its sound is still being made. The sound follows as [`pcm`] and lasts to the end
/// of the file, so that the origin precedes it.
pub fn stream_header(sample_rate_hz: u32, origin: &Origin) -> Vec<u8> {
    let unknown = u32::MAX.to_le_bytes();
    let mut file = [b"RIFF", &unknown[..], b"WAVE"].concat();
    push_chunk(&mut file, b"fmt ", &format_chunk(sample_rate_hz));
    push_chunk(&mut file, b"LIST", &origin.info());
    file.extend([b"data", &unknown[..]].concat());
    file
}

/// Returns the format chunk of 16-bit PCM with one channel.
fn format_chunk(sample_rate_hz: u32) -> Vec<u8> {
    let [pcm, channels, frame_bytes, bits] = [PCM, 1, 2, 16].map(u16::to_le_bytes);
    let bytes_per_second = (sample_rate_hz.wrapping_mul(2)).to_le_bytes();
    let format =
        [pcm, channels].into_iter().flatten().chain(sample_rate_hz.to_le_bytes()).chain(bytes_per_second);
    format.chain(frame_bytes).chain(bits).collect()
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

    /// Returns the content of a chunk `LIST`.
    fn info(&self) -> Vec<u8> {
        let mut info = b"INFO".to_vec();
        for (name, words) in [(b"ISFT", &self.software), (b"ICMT", &self.comment)] {
            push_chunk(&mut info, name, &[words.as_bytes(), b"\0"].concat());
        }
        info
    }
}

/// Returns the id of a voice: the first 16 digits of its file's SHA-256 in hexadecimal.
pub fn voice_id(sha256_hex: &str) -> &str {
    &sha256_hex[..16]
}

/// Encodes as [`write()`] does, with the origin after the sound, because some readers expect the sound at byte 44.
pub fn write_with_origin(samples: &[f32], sample_rate_hz: u32, origin: &Origin) -> Vec<u8> {
    let mut file = write(samples, sample_rate_hz);
    push_chunk(&mut file, b"LIST", &origin.info());
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
    fn a_stream_is_read_to_its_end_and_names_its_origin() {
        let samples = [0.5, -0.25, 0.125];
        let header = stream_header(24_000, &Origin::synthetic("0123456789abcdef"));
        let bytes = [header.clone(), pcm(&samples)].concat();
        let (audio, notes) = read_with_notes(&bytes).unwrap();
        assert_eq!((audio.samples.as_slice(), audio.sample_rate_hz), (samples.as_slice(), 24_000));
        assert_eq!(notes, []);
        let comment = b"Synthetic speech, made by ownvoice with voice 0123456789abcdef\0";
        assert!(header.windows(comment.len()).any(|window| window == comment));
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

    /// Encodes a WAV file with any format chunk.
    fn with_format(format: &[u8], data: &[u8]) -> Vec<u8> {
        let mut out = b"RIFF\0\0\0\0WAVE".to_vec();
        push_chunk(&mut out, b"fmt ", format);
        push_chunk(&mut out, b"data", data);
        out
    }

    /// A format chunk of one channel at 8 kHz.
    fn format(encoding: u16, bits: u16, rest: &[u8]) -> Vec<u8> {
        let start = [encoding, 1, 8000, 0, 8000 * (bits / 8), 0, bits / 8, bits];
        start.into_iter().flat_map(u16::to_le_bytes).chain(rest.iter().copied()).collect()
    }

    #[test]
    fn format_chunks_of_any_length_are_read() {
        let half = [0, 0x40];
        for rest in [&[][..], &[0, 0], &[2, 0, 0, 0], &[0; 24]] {
            let read = |encoding: u16, bits: u16, data: &[u8]| {
                read(&with_format(&format(encoding, bits, rest), data)).unwrap().samples
            };
            assert_eq!(read(PCM, 16, &half), [0.5], "{} bytes more", rest.len());
            assert_eq!(read(FLOAT, 32, &0.25f32.to_le_bytes()), [0.25], "{} bytes more", rest.len());
            assert_eq!(read(FLOAT, 64, &[0.25f64, -7.0].map(f64::to_le_bytes).concat()), [0.25, -1.0]);
            assert_eq!(
                read(MULAW, 8, &[0xff, 0x80, 0x00, 0x7f]),
                [0.0, 32_124.0, -32_124.0, 0.0].map(|x| x / 32_768.0)
            );
            assert_eq!(
                read(ALAW, 8, &[0xd5, 0x55, 0xaa, 0x2a]),
                [8.0, -8.0, 32_256.0, -32_256.0].map(|x| x / 32_768.0)
            );
        }
        let short = &format(PCM, 16, &[])[..14];
        assert_eq!(code(&with_format(short, &half)), "audio-unreadable", "no bits");
        assert_eq!(code(&with_format(&short[..12], &half)), "audio-unreadable");
    }

    #[test]
    fn lengths_as_recorders_leave_them() {
        let sound: Vec<u8> = [0, 0x40].repeat(100);
        let with = |length: u32, tail: &[u8]| {
            let bytes = file(1, 1, 16000, 16, length, &[&sound, tail].concat());
            read_with_notes(&bytes).map(|(audio, notes)| (audio.samples.len(), notes))
        };
        let noted = vec![Note::HeaderLength];
        assert_eq!(with(200, b"").unwrap(), (100, vec![]));
        for length in [201, 202, 236, 244, 0] {
            assert_eq!(with(length, b"").unwrap(), (100, noted.clone()), "{length}");
        }
        for length in [0x7fff_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffd3, u32::MAX] {
            assert_eq!(with(length, b"").unwrap(), (100, vec![]), "{length} is unknown");
        }
        for length in [245, 246, 1000, 0x7ffe_0000] {
            assert_eq!(with(length, b"").unwrap_err().code(), "audio-unreadable", "{length} is too much");
        }
        // Without sound, chunks follow.
        let empty = file(1, 1, 16000, 16, 0, b"LIST\x04\0\0\0INFO");
        assert_eq!(read_with_notes(&empty).unwrap().0.samples, [0.0f32; 0]);
        assert_eq!(with(199, b"").unwrap(), (99, vec![]), "half a sample at the end");
    }

    #[test]
    fn the_length_of_rf64_is_in_its_own_chunk() {
        let ds64 = [60u32, 0, 4, 0, 2, 0, 0].map(u32::to_le_bytes).concat();
        let long = |name: &[u8], stated: u32| {
            let mut out = [name, &u32::MAX.to_le_bytes(), b"WAVE"].concat();
            let mut ds64 = ds64.clone();
            ds64[8..12].copy_from_slice(&stated.to_le_bytes());
            push_chunk(&mut out, b"ds64", &ds64);
            push_chunk(&mut out, b"fmt ", &format(PCM, 16, &[]));
            out.extend(b"data");
            out.extend(u32::MAX.to_le_bytes());
            out.extend([0, 0x40, 0, 0xc0]);
            out.extend(b"LIST\x04\0\0\0INFO");
            out
        };
        for name in [b"RF64", b"BW64"] {
            assert_eq!(read(&long(name, 4)).unwrap().samples, [0.5, -0.5]);
        }
        assert_eq!(code(&long(b"RF64", 4000)), "audio-unreadable", "ends early");
    }

    #[test]
    fn a_microphone_on_one_of_two_inputs_is_kept_whole() {
        let frames = (0..32_000u32).flat_map(|n| {
            let x = f32::from((n / 4000).is_multiple_of(2)) * 12_000.0 * (n as f32 * 0.06).sin();
            [0i16, x as i16]
        });
        let data: Vec<u8> = frames.flat_map(i16::to_le_bytes).collect();
        let (audio, notes) = read_with_notes(&file(1, 2, 16000, 16, data.len() as u32, &data)).unwrap();
        assert_eq!(notes, [Note::OneChannel { channel: 2 }]);
        assert!(audio.samples.iter().fold(0.0, |peak: f32, x| peak.max(*x)) > 0.36);
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
        assert_eq!(code(&file(1, 0, 16000, 16, 4, &[0; 4])), "audio-unreadable", "no channels");
        assert_eq!(code(&file(1, 1, 16000, 0, 4, &[0; 4])), "audio-unreadable", "no bits");
        assert_eq!(code(&file(1, 1, 16000, 64, 8, &[0; 8])), "audio-unreadable", "64-bit integers");
        assert_eq!(code(&file(0x55, 1, 16000, 16, 4, &[0; 4])), "audio-unreadable", "MP3 inside, but none");
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
        for end in 0..45 {
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
