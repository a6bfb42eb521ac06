//! `ownvoice spectrogram`: recordings as pictures, one under the other, so that they can be compared by eye.

use clap::Args;
use serde_json::json;
use std::path::PathBuf;

use super::{
    console::Console,
    output::{self, Made},
};
use crate::corpus::recording::read_speech;
use ownvoice::{
    Result,
    audio::mel::{Mel, MelConfig, MelExtractor},
    files,
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice spectrogram recording.wav --out recording.png
  ownvoice spectrogram recording.wav say.wav --out both.png")]
pub struct SpectrogramArguments {
    /// WAV files, from top to bottom
    #[arg(required = true)]
    recordings: Vec<PathBuf>,
    /// The PNG file to write
    #[arg(long)]
    out: PathBuf,
}

/// Pixels a mel channel and a frame.
const ZOOM: usize = 2;
/// Pixels between two recordings.
const GAP: usize = 8;
/// Log amplitudes from the first colour to the last: 60 dB.
const RANGE: std::ops::Range<f32> = -8.0..-1.0;
/// From silence to the loudest, evenly spaced: viridis at five places (van der Walt and Smith 2015).
const COLOURS: [[f32; 3]; 5] =
    [[68.0, 1.0, 84.0], [59.0, 82.0, 139.0], [33.0, 145.0, 140.0], [94.0, 201.0, 98.0], [253.0, 231.0, 37.0]];

pub fn spectrogram(arguments: &SpectrogramArguments, console: &Console) -> Result<()> {
    output::check(&arguments.out, Made::Png, console)?;
    let config = MelConfig::speech_16k();
    let extractor = MelExtractor::new(config.clone());
    let mel = |path: &PathBuf| Ok(extractor.extract(&read_speech(path, 1.0, config.sample_rate_hz)?));
    let mels = arguments.recordings.iter().map(mel).collect::<Result<Vec<_>>>()?;
    let (width, pixels) = picture(&mels);
    files::write(&arguments.out, png(width, &pixels))?;
    let height = pixels.len() / 3 / width;
    console.result(
        &json!({"path": arguments.out, "width": width, "height": height}),
        format!("{}: {width} by {height} pixels", arguments.out.display()),
    );
    Ok(())
}

/// Width, and rows of red, green and blue from the top; low frequencies at the bottom of each recording.
fn picture(mels: &[Mel]) -> (usize, Vec<u8>) {
    let width = ZOOM * mels.iter().map(Mel::frames).max().unwrap_or(0).max(1);
    let mut pixels = Vec::new();
    for (index, mel) in mels.iter().enumerate() {
        if index > 0 {
            pixels.resize(pixels.len() + 3 * GAP * width, 255);
        }
        for channel in (0..mel.mels).rev().flat_map(|channel| [channel; ZOOM]) {
            let row = (0..width).map(|x| {
                if x / ZOOM < mel.frames() { colour(mel.frame(x / ZOOM)[channel]) } else { [255; 3] }
            });
            pixels.extend(row.flatten());
        }
    }
    (width, pixels)
}

fn colour(log: f32) -> [u8; 3] {
    let place =
        ((log - RANGE.start) / (RANGE.end - RANGE.start)).clamp(0.0, 1.0) * (COLOURS.len() - 1) as f32;
    let below = (place as usize).min(COLOURS.len() - 2);
    std::array::from_fn(|part| {
        let (a, b) = (COLOURS[below][part], COLOURS[below + 1][part]);
        (a + (b - a) * (place - below as f32)).round() as u8
    })
}

/// A PNG file (ISO 15948) of rows of red, green and blue. Written here because every crate for it would have burn compiled anew with other features.
fn png(width: usize, pixels: &[u8]) -> Vec<u8> {
    let rows = pixels.chunks_exact(3 * width);
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((rows.len() as u32).to_be_bytes());
    header.extend([8, 2, 0, 0, 0]); // bits, colour, deflate, filters a row, not interlaced
    // Each row begins with its filter: none.
    let raw: Vec<u8> = rows.flat_map(|row| std::iter::once(0).chain(row.iter().copied())).collect();
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, content) in [
        (b"IHDR", header),
        (b"IDAT", miniz_oxide::deflate::compress_to_vec_zlib(&raw, 9)),
        (b"IEND", Vec::new()),
    ] {
        file.extend((content.len() as u32).to_be_bytes());
        let checked = [kind.as_slice(), &content].concat();
        file.extend(&checked);
        file.extend(crc32(&checked).to_be_bytes());
    }
    file
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |mut crc, byte| {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
        crc
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_stand_one_under_the_other_with_low_sounds_below() {
        // One frame with a loud lowest channel; two silent frames.
        let loud = Mel { mels: 2, data: vec![0.0, -11.5] };
        let silent = Mel { mels: 2, data: vec![-11.5; 4] };
        let (width, pixels) = picture(&[loud, silent]);
        let at = |x: usize, y: usize| &pixels[3 * (y * width + x)..][..3];
        assert_eq!((width, pixels.len()), (4, 3 * 4 * (4 + GAP + 4)));
        assert_eq!((at(0, 0), at(0, 3)), (&[68, 1, 84][..], &[253, 231, 37][..]));
        assert_eq!(
            (at(2, 0), at(0, 5), at(3, 4 + GAP)),
            (&[255; 3][..], &[255; 3][..], &[68, 1, 84][..]),
            "beyond its end, between both, the second"
        );
    }

    #[test]
    fn the_file_is_a_png() {
        let file = png(1, &[1, 2, 3, 4, 5, 6]);
        assert_eq!(
            &file[..33],
            b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x02\x08\x02\0\0\0\x16\xe3!p"
        );
        assert_eq!(crc32(b"IEND"), 0xae42_6082);
        let length = u32::from_be_bytes(file[33..37].try_into().unwrap()) as usize;
        assert_eq!(
            miniz_oxide::inflate::decompress_to_vec_zlib(&file[41..41 + length]).unwrap(),
            [0, 1, 2, 3, 0, 4, 5, 6]
        );
    }
}
