//! Decodes recordings in the common formats with symphonia: AAC, ALAC, FLAC, MP3, Opus, PCM and Vorbis in AIFF, CAF, Matroska, MP4, Ogg and WebM files,
//! videos among them. Native only: the page uses the browser's decoder.

use std::io::Cursor;

use opus_decoder::OpusDecoder;
use symphonia::core::{
    codecs::audio::{AudioCodecParameters, AudioDecoder, AudioDecoderOptions, well_known::CODEC_ID_OPUS},
    errors,
    formats::{FormatOptions, TrackType, probe::Hint},
    io::MediaSourceStream,
    meta::MetadataOptions,
    packet::Packet,
};

use super::Audio;
use crate::{Error, Result};

/// The most samples that are decoded: one minute at 192 kHz, four at 48 kHz. A few damaged bytes may claim hours.
const MAX_SAMPLES: usize = 12_000_000;
/// The sample rate that Opus decodes to.
const OPUS_RATE_HZ: u32 = 48_000;

/// Reads a file's first audio track and averages its channels. Damaged packets are skipped, as players do.
///
/// # Errors
/// Fails with `audio-unreadable` if the format is unknown, if the file has no audio track, if nothing in it can be decoded, or if it holds more than
/// `MAX_SAMPLES` samples.
pub fn read(bytes: &[u8]) -> Result<Audio> {
    let source = MediaSourceStream::new(Box::new(Cursor::new(bytes.to_vec())), Default::default());
    let mut format = symphonia::default::get_probe()
        .probe(&Hint::new(), source, FormatOptions::default(), MetadataOptions::default())
        .map_err(unreadable)?;
    let track = format
        .default_track(TrackType::Audio)
        .ok_or_else(|| Error::audio_unreadable("it has no audio track"))?;
    let track_id = track.id;
    let parameters = track.codec_params.as_ref().and_then(|parameters| parameters.audio());
    let mut decoder =
        Decoder::new(parameters.ok_or_else(|| Error::audio_unreadable("its codec is unknown"))?)?;
    let mut audio = Audio { samples: Vec::new(), sample_rate_hz: 0 };
    while let Some(packet) = format.next_packet().map_err(unreadable)? {
        if packet.track_id != track_id {
            continue;
        }
        let Some(decoded) = decoder.decode(&packet)? else { continue };
        if audio.sample_rate_hz == 0 {
            audio.sample_rate_hz = decoded.sample_rate_hz;
        }
        if decoded.sample_rate_hz != audio.sample_rate_hz {
            return Err(Error::audio_unreadable("its sample rate changes"));
        }
        audio.samples.extend(decoded.samples);
        if audio.samples.len() > MAX_SAMPLES {
            return Err(Error::audio_unreadable(format!("it holds more than {MAX_SAMPLES} samples")));
        }
    }
    if audio.sample_rate_hz == 0 {
        return Err(Error::audio_unreadable("nothing in it can be decoded"));
    }
    Ok(audio)
}

enum Decoder {
    /// Any codec that symphonia decodes.
    Symphonia(Box<dyn AudioDecoder>),
    /// Opus, which symphonia does not decode.
    Opus { decoder: Box<OpusDecoder>, channels: usize },
}

impl Decoder {
    fn new(parameters: &AudioCodecParameters) -> Result<Self> {
        if parameters.codec == CODEC_ID_OPUS {
            let channels = parameters.channels.as_ref().map_or(1, |channels| channels.count());
            let decoder = OpusDecoder::new(OPUS_RATE_HZ, channels)
                .map_err(|error| Error::audio_unreadable(format!("Opus: {error}")))?;
            return Ok(Self::Opus { decoder: Box::new(decoder), channels });
        }
        let options = AudioDecoderOptions::default();
        symphonia::default::get_codecs()
            .make_audio_decoder(parameters, &options)
            .map(Self::Symphonia)
            .map_err(unreadable)
    }

    /// Decodes one packet; returns `None` if it is damaged.
    fn decode(&mut self, packet: &Packet) -> Result<Option<Audio>> {
        match self {
            Self::Symphonia(decoder) => {
                let decoded = match decoder.decode(packet) {
                    Ok(decoded) => decoded,
                    Err(errors::Error::DecodeError(_)) => return Ok(None),
                    Err(error) => return Err(unreadable(error)),
                };
                let (channels, sample_rate_hz) = (decoded.spec().channels().count(), decoded.spec().rate());
                let mut interleaved = Vec::new();
                decoded.copy_to_vec_interleaved::<f32>(&mut interleaved);
                Ok(Some(Audio { samples: mixed(&interleaved, channels), sample_rate_hz }))
            }
            Self::Opus { decoder, channels } => {
                let mut interleaved = vec![0.0; *channels * decoder.max_frame_size_per_channel()];
                let Ok(frames) = decoder.decode_float(&packet.data, &mut interleaved, false) else {
                    return Ok(None);
                };
                let kept =
                    packet.trim_start.get() as usize..frames.saturating_sub(packet.trim_end.get() as usize);
                let samples = mixed(&interleaved[..frames * *channels], *channels);
                let samples = samples.get(kept).unwrap_or_default().to_vec();
                Ok(Some(Audio { samples, sample_rate_hz: OPUS_RATE_HZ }))
            }
        }
    }
}

/// Averages the channels. Non-finite samples become silence, and samples beyond full scale are clamped to it.
fn mixed(interleaved: &[f32], channels: usize) -> Vec<f32> {
    let sample = |x: &f32| if x.is_finite() { x.clamp(-1.0, 1.0) } else { 0.0 };
    let frames = interleaved.chunks_exact(channels.max(1));
    frames.map(|frame| frame.iter().map(sample).sum::<f32>() / frame.len() as f32).collect()
}

fn unreadable(error: errors::Error) -> Error {
    Error::audio_unreadable(match error {
        errors::Error::IoError(_) => "its format is unknown, or it ends too early".into(),
        other => other.to_string(),
    })
}
