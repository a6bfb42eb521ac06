//! Decodes recordings in the common formats with symphonia: AAC, ADPCM, ALAC, FLAC, MP3, Opus, PCM and Vorbis in AIFF, CAF, Matroska, MP4, Ogg, WAV and WebM
//! files, videos among them. `docs/formats.md` is the table of formats.
//!
//! Samples that an encoder added at the beginning are removed by the container's own numbers: the edit list and `iTunSMPB` of MP4 (`gapless`), the pre-skip of
//! Opus (`opus`); symphonia itself does so for MP3, Vorbis, FLAC and ALAC.

mod gapless;
mod opus;

use std::io::{Cursor, ErrorKind};

use symphonia::core::{
    codecs::audio::{
        AudioCodecParameters, AudioDecoder, AudioDecoderOptions,
        well_known::{CODEC_ID_AAC, CODEC_ID_MP3, CODEC_ID_OPUS},
    },
    errors,
    formats::{FormatOptions, FormatReader, Track, TrackType, probe::Hint, well_known::FORMAT_ID_MKV},
    io::MediaSourceStream,
    meta::MetadataOptions,
    packet::Packet,
};

use super::{Audio, Note, channels::mix_down};
use crate::{Error, Result};
use gapless::Kept;
use opus::OpusStream;

/// The most samples of a channel that are decoded: one minute at 192 kHz, four at 48 kHz. A few damaged bytes may claim hours.
const MAX_SAMPLES: usize = 12_000_000;
/// The most samples of all channels.
const MAX_CHANNEL_SAMPLES: usize = 4 * MAX_SAMPLES;

/// Reads a file's first audio track and mixes its channels to one. Damaged packets become silence, so that what follows them stays in its place.
///
/// # Errors
/// Fails with `audio-unreadable` if the format is unknown, if the file has no audio track, if nothing in it can be decoded, or if it holds more than
/// `MAX_SAMPLES` samples.
pub fn read(bytes: &[u8]) -> Result<(Audio, Vec<Note>)> {
    // symphonia searches one megabyte for the beginning of the sound, and the picture in a tag may be larger.
    let bytes = &bytes[tag_length(bytes)..];
    let source = MediaSourceStream::new(Box::new(Cursor::new(bytes.to_vec())), Default::default());
    let mut format = symphonia::default::get_probe()
        .probe(&Hint::new(), source, FormatOptions::default(), MetadataOptions::default())
        .map_err(unreadable)?;
    let track = format
        .default_track(TrackType::Audio)
        .ok_or_else(|| Error::audio_unreadable("it has no audio track"))?
        .clone();
    let parameters = track.codec_params.as_ref().and_then(|parameters| parameters.audio());
    let parameters = parameters.ok_or_else(|| Error::audio_unreadable("its codec is unknown"))?;
    let mut decoder = Decoder::new(parameters)?;
    let mut sound = Sound::default();
    let mut damaged = 0;
    let mut ends_openly = false;
    loop {
        let packet = match format.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => break,
            // A recorder that streams a Matroska file leaves its lengths open, so that it ends where the bytes do.
            Err(errors::Error::IoError(error))
                if error.kind() == ErrorKind::UnexpectedEof && sound.frames > 0 && is_matroska(&*format) =>
            {
                ends_openly = true;
                break;
            }
            Err(error) => return Err(unreadable(error)),
        };
        if packet.track_id != track.id {
            continue;
        }
        match decoder.decode(&packet)? {
            Some(decoded) => sound.push(decoded)?,
            None => {
                damaged += 1;
                sound.push_silence(&track, &packet);
            }
        }
    }
    if sound.sample_rate_hz == 0 {
        return Err(Error::audio_unreadable("nothing in it can be decoded"));
    }
    let rate = sound.sample_rate_hz;
    let kept = gapless::kept(bytes, track.id).unwrap_or_else(|| match &decoder {
        Decoder::Opus(stream) => Kept::from(stream.pre_skip()),
        Decoder::Symphonia(_) => Kept::from(0),
    });
    let mut notes = Vec::new();
    if damaged > 0 {
        notes.push(Note::Damaged { packets: damaged });
    }
    if ends_openly && sound.seconds() + 1.0 < stated_seconds(&*format) {
        notes.push(Note::EndsEarly);
    }
    let (samples, note) = sound.mixed(&kept);
    notes.extend(note);
    Ok((Audio { samples, sample_rate_hz: rate }, notes))
}

/// Returns the length of ID3v2 tags at the beginning.
fn tag_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some([b'I', b'D', b'3', _, _, flags, a, b, c, d]) = bytes.get(at..at + 10) {
        let length = [a, b, c, d].iter().fold(0, |length, &&byte| length << 7 | usize::from(byte & 0x7f));
        let footer = if flags & 0x10 != 0 { 10 } else { 0 };
        at = (at + 10 + length + footer).min(bytes.len());
    }
    at
}

fn is_matroska(format: &dyn FormatReader) -> bool {
    format.format_info().format == FORMAT_ID_MKV
}

/// Returns the length that the file states, 0 if it states none.
fn stated_seconds(format: &dyn FormatReader) -> f32 {
    let info = format.media_info();
    let seconds = info.time_base.zip(info.duration).map(|(base, duration)| {
        duration.get() as f64 * f64::from(base.numer.get()) / f64::from(base.denom.get())
    });
    seconds.unwrap_or(0.0) as f32
}

/// Interleaved samples of one packet.
struct Decoded {
    interleaved: Vec<f32>,
    channels: usize,
    sample_rate_hz: u32,
}

/// The sound of all packets. The number of channels may change.
#[derive(Default)]
struct Sound {
    parts: Vec<Vec<Vec<f32>>>,
    frames: usize,
    channel_samples: usize,
    sample_rate_hz: u32,
}

impl Sound {
    fn push(&mut self, Decoded { interleaved, channels, sample_rate_hz }: Decoded) -> Result<()> {
        if interleaved.is_empty() {
            return Ok(());
        }
        if self.sample_rate_hz == 0 {
            self.sample_rate_hz = sample_rate_hz;
        }
        if self.sample_rate_hz != sample_rate_hz {
            return Err(Error::audio_unreadable("its sample rate changes"));
        }
        self.frames += interleaved.len() / channels;
        self.channel_samples += interleaved.len();
        if self.frames > MAX_SAMPLES || self.channel_samples > MAX_CHANNEL_SAMPLES {
            return Err(Error::audio_unreadable(format!("it holds more than {MAX_SAMPLES} samples")));
        }
        if self.parts.last().is_none_or(|planes| planes.len() != channels) {
            self.parts.push(vec![Vec::new(); channels]);
        }
        let planes = self.parts.last_mut().expect("a part was pushed");
        for frame in interleaved.chunks_exact(channels) {
            for (plane, x) in planes.iter_mut().zip(frame) {
                plane.push(if x.is_finite() { x.clamp(-1.0, 1.0) } else { 0.0 });
            }
        }
        Ok(())
    }

    /// Adds the silence of a packet that cannot be decoded, after the first sound.
    fn push_silence(&mut self, track: &Track, packet: &Packet) {
        let (Some(planes), Some(base)) = (self.parts.last_mut(), track.time_base) else { return };
        let seconds = packet.dur.get() as f64 * f64::from(base.numer.get()) / f64::from(base.denom.get());
        let frames = (seconds * f64::from(self.sample_rate_hz)).round() as usize;
        let frames = frames.min(MAX_SAMPLES.saturating_sub(self.frames));
        planes.iter_mut().for_each(|plane| plane.resize(plane.len() + frames, 0.0));
        self.frames += frames;
    }

    fn seconds(&self) -> f32 {
        self.frames as f32 / self.sample_rate_hz as f32
    }

    fn mixed(self, kept: &Kept) -> (Vec<f32>, Option<Note>) {
        let (mut samples, mut found) = (Vec::with_capacity(self.frames), None);
        for planes in self.parts {
            let (mixed, note) = mix_down(planes, self.sample_rate_hz);
            samples.extend(mixed);
            found = found.or(note);
        }
        (kept.of(samples, self.sample_rate_hz), found)
    }
}

enum Decoder {
    /// Any codec that symphonia decodes.
    Symphonia(Box<dyn AudioDecoder>),
    /// Opus, which symphonia does not decode.
    Opus(OpusStream),
}

impl Decoder {
    fn new(parameters: &AudioCodecParameters) -> Result<Self> {
        if parameters.codec == CODEC_ID_OPUS {
            return OpusStream::new(parameters).map(Self::Opus);
        }
        symphonia::default::get_codecs()
            .make_audio_decoder(parameters, &AudioDecoderOptions::default())
            .map(Self::Symphonia)
            .map_err(|error| match (error, parameters.codec) {
                (errors::Error::Unsupported(_), CODEC_ID_AAC) => Error::audio_unreadable(
                    "of AAC, only the profile LC with one or two channels is supported; convert it to WAV or FLAC",
                ),
                (error, _) => unreadable(error),
            })
    }

    /// Decodes one packet; returns `None` if it is damaged.
    fn decode(&mut self, packet: &Packet) -> Result<Option<Decoded>> {
        match self {
            Self::Opus(stream) => Ok(stream.decode(packet)),
            Self::Symphonia(decoder) => {
                let mut decoded = decode(&mut **decoder, packet);
                // symphonia's MP3 decoder refuses packets with another number of channels than the first one.
                if matches!(decoded, Err(errors::Error::DecodeError(_)))
                    && decoder.codec_params().codec == CODEC_ID_MP3
                {
                    let parameters = decoder.codec_params().clone();
                    let again = symphonia::default::get_codecs()
                        .make_audio_decoder(&parameters, &AudioDecoderOptions::default());
                    if let Ok(mut again) = again {
                        let found = decode(&mut *again, packet);
                        if found.is_ok() {
                            (*decoder, decoded) = (again, found);
                        }
                    }
                }
                match decoded {
                    Ok(decoded) => Ok(Some(decoded)),
                    Err(errors::Error::DecodeError(_)) => Ok(None),
                    Err(error) => Err(unreadable(error)),
                }
            }
        }
    }
}

fn decode(decoder: &mut dyn AudioDecoder, packet: &Packet) -> errors::Result<Decoded> {
    let decoded = decoder.decode(packet)?;
    let (channels, sample_rate_hz) = (decoded.spec().channels().count(), decoded.spec().rate());
    let mut interleaved = Vec::new();
    decoded.copy_to_vec_interleaved::<f32>(&mut interleaved);
    Ok(Decoded { interleaved, channels, sample_rate_hz })
}

fn unreadable(error: errors::Error) -> Error {
    Error::audio_unreadable(match error {
        errors::Error::IoError(_) => "its format is unknown, or it ends too early".into(),
        errors::Error::Unsupported(_) => {
            "its format or its encoding is not supported; convert it to WAV or FLAC".into()
        }
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_skipped_whatever_their_size() {
        let tag = |flags: u8, length: [u8; 4], bytes: usize| {
            [b"ID3\x04\0".as_slice(), &[flags], &length, &vec![0xff; bytes]].concat()
        };
        assert_eq!(tag_length(b"fLaC"), 0);
        assert_eq!(tag_length(&tag(0, [0, 0, 1, 2], 130)), 140);
        assert_eq!(tag_length(&tag(0x10, [0, 0, 0, 4], 24)), 24);
        assert_eq!(tag_length(&[tag(0, [0, 0, 0, 4], 4), tag(0, [0, 0, 0, 1], 1)].concat()), 25);
        assert_eq!(tag_length(&tag(0, [0x7f; 4], 3)), 13, "a length beyond the end");
    }
}
