//! `ownvoice spectrogram`: draws the spectrograms of recordings one below the other, for comparison by eye.

use clap::Args;
use serde_json::json;
use std::path::PathBuf;

use super::{
    console::Console,
    output::{self, OutputKind},
};
use crate::corpus::recording::read_speech;
use ownvoice::{
    Result,
    audio::mel::{Mel, MelConfig, MelExtractor},
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice spectrogram recording.wav --out recording.png
  ownvoice spectrogram recording.wav say.wav --out both.png")]
pub struct SpectrogramArguments {
    /// Recordings, from top to bottom
    #[arg(required = true)]
    recordings: Vec<PathBuf>,
    /// The PNG file to write
    #[arg(long)]
    out: PathBuf,
}

/// The width of a frame and the height of a mel channel in pixels.
const ZOOM: usize = 2;
/// The number of pixels between two recordings.
const GAP: usize = 8;
/// The log amplitudes of the first and of the last colour, a range of 60 dB.
const RANGE: std::ops::Range<f32> = -8.0..-1.0;
/// Five evenly spaced colours of viridis (van der Walt and Smith 2015), from silence to the loudest.
const COLOURS: [[f32; 3]; 5] =
    [[68.0, 1.0, 84.0], [59.0, 82.0, 139.0], [33.0, 145.0, 140.0], [94.0, 201.0, 98.0], [253.0, 231.0, 37.0]];

pub fn spectrogram(arguments: &SpectrogramArguments, console: &Console) -> Result<()> {
    output::check(&arguments.out, OutputKind::Png, console)?;
    let config = MelConfig::speech_16k();
    let extractor = MelExtractor::new(config.clone());
    let mel = |path: &PathBuf| Ok(extractor.extract(&read_speech(path, 1.0, config.sample_rate_hz)?));
    let mels = arguments.recordings.iter().map(mel).collect::<Result<Vec<_>>>()?;
    let (width, pixels) = draw(&mels);
    let height = pixels.len() / 3 / width;
    output::write(&arguments.out, &encode(width, height, &pixels))?;
    console.result(
        &json!({"path": arguments.out, "width": width, "height": height}),
        format!("{}: {width} by {height} pixels", arguments.out.display()),
    );
    Ok(())
}

/// Returns the width and the pixels as red, green and blue, row by row from the top. Low frequencies are at the bottom of each spectrogram.
fn draw(mels: &[Mel]) -> (usize, Vec<u8>) {
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

/// Returns the colour of a log amplitude.
fn colour(log: f32) -> [u8; 3] {
    let place =
        ((log - RANGE.start) / (RANGE.end - RANGE.start)).clamp(0.0, 1.0) * (COLOURS.len() - 1) as f32;
    let below = (place as usize).min(COLOURS.len() - 2);
    std::array::from_fn(|part| {
        let (a, b) = (COLOURS[below][part], COLOURS[below + 1][part]);
        (a + (b - a) * (place - below as f32)).round() as u8
    })
}

/// Encodes pixels as a PNG file.
fn encode(width: usize, height: usize, pixels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().expect("the size is positive, and a vector can be written");
    writer.write_image_data(pixels).expect("the pixels have this size");
    writer.finish().expect("the image is complete");
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spectrograms_are_one_below_the_other_with_low_frequencies_at_the_bottom() {
        // One frame with a loud lowest channel; two silent frames.
        let loud = Mel { mels: 2, data: vec![0.0, -11.5] };
        let silent = Mel { mels: 2, data: vec![-11.5; 4] };
        let (width, pixels) = draw(&[loud, silent]);
        let at = |x: usize, y: usize| &pixels[3 * (y * width + x)..][..3];
        assert_eq!((width, pixels.len()), (4, 3 * 4 * (4 + GAP + 4)));
        assert_eq!((at(0, 0), at(0, 3)), (&[68, 1, 84][..], &[253, 231, 37][..]));
        assert_eq!(
            (at(2, 0), at(0, 5), at(3, 4 + GAP)),
            (&[255; 3][..], &[255; 3][..], &[68, 1, 84][..]),
            "after the first recording, between both, in the second"
        );
    }

    #[test]
    fn the_file_is_a_png() {
        let pixels = [1, 2, 3, 4, 5, 6];
        let mut reader = png::Decoder::new(std::io::Cursor::new(encode(1, 2, &pixels))).read_info().unwrap();
        let mut decoded = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut decoded).unwrap();
        assert_eq!((info.width, info.height, &decoded[..]), (1, 2, &pixels[..]));
    }
}
