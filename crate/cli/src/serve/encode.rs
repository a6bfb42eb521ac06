//! The formats of sound over HTTP.

use std::io::Cursor;

use flac_codec::encode::{FlacSampleWriter, Options};

use super::{
    answer::{Output, Sound},
    ffmpeg,
    queue::RATE_HZ,
};
use ownvoice::{
    Result,
    audio::wav::{self, Origin},
};

/// A format of sound, by OpenAI's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Wav,
    Pcm,
    Flac,
    Mp3,
    Opus,
    Aac,
}

impl Format {
    pub const ALL: [Self; 6] = [Self::Wav, Self::Pcm, Self::Flac, Self::Mp3, Self::Opus, Self::Aac];

    pub fn name(self) -> &'static str {
        match self {
            Self::Wav => "wav",
            Self::Pcm => "pcm",
            Self::Flac => "flac",
            Self::Mp3 => "mp3",
            Self::Opus => "opus",
            Self::Aac => "aac",
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Wav => "audio/wav",
            Self::Pcm => "audio/pcm",
            Self::Flac => "audio/flac",
            Self::Mp3 => "audio/mpeg",
            Self::Opus => "audio/ogg",
            Self::Aac => "audio/aac",
        }
    }

    /// Returns ffmpeg's encoder and container of a format that it is used for.
    fn ffmpeg(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Wav | Self::Pcm | Self::Flac => None,
            Self::Mp3 => Some(("libmp3lame", "mp3")),
            Self::Opus => Some(("libopus", "ogg")),
            Self::Aac => Some(("aac", "adts")),
        }
    }

    /// Returns the formats that can be encoded on this machine.
    pub async fn available() -> Vec<Self> {
        let encoders = ffmpeg::encoders().await;
        let has = |format: &Self| {
            format.ffmpeg().is_none_or(|(encoder, _)| encoders.iter().any(|name| name == encoder))
        };
        Self::ALL.into_iter().filter(has).collect()
    }
}

/// Answers a request with its sound, until it ends or the client is gone.
pub async fn answer(format: Format, voice_id: &str, mut sound: Sound, output: Output) {
    let encoded = tokio::select! {
        () = output.closed() => return,
        encoded = encode(format, voice_id, &mut sound, &output) => encoded,
    };
    output.end(encoded).await;
}

async fn encode(format: Format, voice_id: &str, sound: &mut Sound, output: &Output) -> Result<()> {
    let origin = Origin::synthetic(voice_id);
    if let Some((encoder, container)) = format.ffmpeg() {
        return ffmpeg::encode(encoder, container, &origin, sound, output).await;
    }
    match format {
        Format::Flac => {
            let mut whole = Vec::new();
            while let Some(pcm) = sound.next().await {
                whole.extend(pcm?);
            }
            let file = tokio::task::spawn_blocking(move || flac(&whole, &origin));
            output.send(file.await.expect("the encoder does not panic")).await
        }
        _ => {
            if format == Format::Wav {
                output.send(wav::stream_header(RATE_HZ, &origin)).await?;
            }
            while let Some(pcm) = sound.next().await {
                output.send(pcm?).await?;
            }
            Ok(())
        }
    }
}

/// Encodes a FLAC file.
fn flac(pcm: &[u8], origin: &Origin) -> Vec<u8> {
    let samples: Vec<i32> =
        pcm.chunks_exact(2).map(|bytes| i16::from_le_bytes([bytes[0], bytes[1]]).into()).collect();
    let mut file = Cursor::new(Vec::new());
    let options = Options::default().no_padding().tag("COMMENT", &origin.comment);
    let length = Some(samples.len() as u64);
    FlacSampleWriter::new(&mut file, options, RATE_HZ, 16, 1, length)
        .and_then(|mut writer| {
            writer.write(&samples)?;
            writer.finalize()
        })
        .expect("memory does not fail, and the samples have 16 bits");
    file.into_inner()
}
