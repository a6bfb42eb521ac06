//! Reads and writes videos with the program `ffmpeg`: pictures at 25 a second, sound at any rate, both from the file's start.
//!
//! Pictures are resampled by time from the file's own frame rate: some are dropped or repeated. The rotation in a phone's metadata is applied by ffmpeg.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

use ownvoice::{Error, Result, audio::wav, files, image::Image, lips::clock::FRAMES_PER_SECOND};

/// Pictures are shrunk to at most this size.
const MAX_SIDE: usize = 720;
/// The most bytes of an error message: ffmpeg may report errors for as long as a damaged file lasts.
const MAX_MESSAGE_BYTES: u64 = 4096;

const FFMPEG: &str = "ffmpeg";

/// Starts ffmpeg with standard error piped.
fn start(command: &mut Command) -> Result<Child> {
    command.stderr(Stdio::piped()).spawn().map_err(|error| Error::program_missing(FFMPEG, error))
}

/// Reads standard output to its end with `read`, while another thread reads standard error. Returns the result of `read`, and ffmpeg's error message if it
/// failed.
fn drain<T>(
    mut child: Child,
    read: impl FnOnce(&mut dyn BufRead) -> Result<T>,
) -> Result<(T, Option<String>)> {
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let message = thread::spawn(move || {
        let (mut text, Some(mut errors)) = (Vec::new(), errors) else { return String::new() };
        let _ = errors.by_ref().take(MAX_MESSAGE_BYTES).read_to_end(&mut text);
        let _ = io::copy(&mut errors, &mut io::sink()); // A full pipe would stop ffmpeg.
        String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_string()
    });
    let result = read(&mut BufReader::with_capacity(1 << 16, output.expect("it is piped")));
    if result.is_err() {
        let _ = child.kill(); // It would wait for its output to be read.
    }
    let status = child.wait().map_err(Error::io(FFMPEG))?;
    let message = message.join().expect("reading does not panic");
    Ok((result?, (!status.success()).then_some(message)))
}

/// Returns the command of a decoder. Without `-nostdin` it would read commands from the terminal.
fn decoder(path: &Path) -> Command {
    let mut command = Command::new(FFMPEG);
    command.args(["-v", "error", "-nostdin", "-i"]).arg(path).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Calls `each` with the index of every picture and the picture, until it fails. Returns the number of pictures.
///
/// # Errors
/// Fails with `video-unreadable` if there are none, with `program-missing`, `io`, or an error of `each`.
pub fn read_frames(path: &Path, mut each: impl FnMut(usize, Image) -> Result<()>) -> Result<usize> {
    fs::File::open(path).map_err(Error::io(path))?;
    let filters = format!(
        "fps={FRAMES_PER_SECOND}:start_time=0,scale=w='min({MAX_SIDE},iw)':h='min({MAX_SIDE},ih)':force_original_aspect_ratio=decrease"
    );
    let mut command = decoder(path);
    command.args(["-map", "0:v:0", "-vf", &filters, "-c:v", "ppm", "-f", "image2pipe", "-"]);
    let (count, message) = drain(start(&mut command)?, |output| {
        let mut count = 0;
        while let Some(image) = read_ppm(output).map_err(Error::io(path))? {
            each(count, image)?;
            count += 1;
        }
        Ok(count)
    })?;
    match (count, message) {
        (0, message) => {
            let reason = message.unwrap_or_else(|| "it holds no pictures".into());
            Err(Error::video_unreadable(reason).in_file(path))
        }
        (count, _) => Ok(count),
    }
}

/// Reads one picture of a stream of binary PPM images. Returns `None` at the end.
fn read_ppm(output: &mut dyn BufRead) -> io::Result<Option<Image>> {
    if output.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut fields = Vec::new();
    while fields.len() < 4 {
        let mut line = String::new();
        if output.take(64).read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        fields.extend(line.split_whitespace().map(str::to_string));
    }
    let number = |field: &String| field.parse::<usize>().map_err(|_| io::ErrorKind::InvalidData);
    let (width, height) = (number(&fields[1])?, number(&fields[2])?);
    if fields[0] != "P6" || ![width, height].iter().all(|side| (1..=MAX_SIDE).contains(side)) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut rgb = vec![0; width * height * 3];
    output.read_exact(&mut rgb)?;
    Ok(Some(Image::new(width, height, rgb)))
}

/// Reads the sound, in one channel at `rate_hz`. If it begins after the pictures, it is preceded by silence.
///
/// # Errors
/// Fails with `audio-unreadable` if there is none, with `program-missing` or `io`.
pub fn read_sound(path: &Path, rate_hz: u32) -> Result<Vec<f32>> {
    fs::File::open(path).map_err(Error::io(path))?;
    let filters = format!("aresample={rate_hz}:async=1:first_pts=0");
    let mut command = decoder(path);
    command.args(["-map", "0:a:0", "-af", &filters, "-ac", "1", "-f", "f32le", "-"]);
    let (bytes, message) = drain(start(&mut command)?, |output| {
        let mut bytes = Vec::new();
        output.read_to_end(&mut bytes).map_err(Error::io(path))?;
        Ok(bytes)
    })?;
    if bytes.is_empty() {
        let reason = message.unwrap_or_else(|| "it is empty".into());
        return Err(Error::audio_unreadable(reason).in_file(path));
    }
    let sample = |four: &[u8]| {
        let value = f32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        if value.is_finite() { value.clamp(-1.0, 1.0) } else { 0.0 }
    };
    Ok(bytes.chunks_exact(4).map(sample).collect())
}

/// Writes an MP4 file of pictures (H.264) and sound (AAC).
///
/// * `frames`: pictures of the same size, with even sides
///
/// # Errors
/// Fails with `program-missing`, with `video-unreadable` if ffmpeg cannot write the file, or with `io`.
pub fn write(
    path: &Path,
    frames: impl Iterator<Item = Image>,
    frames_per_second: usize,
    samples: &[f32],
    rate_hz: u32,
) -> Result<()> {
    let mut frames = frames.peekable();
    let first = frames.peek().ok_or_else(|| Error::option_invalid("a video needs at least one picture"))?;
    let size = format!("{}x{}", first.width, first.height);
    let (sound, video) = (files::partial(&path.with_extension("wav"))?, files::partial(path)?);
    fs::write(&sound, wav::write(samples, rate_hz)).map_err(Error::io(&sound))?;
    let mut command = Command::new(FFMPEG);
    command
        .args(["-v", "error", "-y", "-threads", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", &size])
        .args(["-r", &frames_per_second.to_string(), "-i", "-", "-i"])
        .arg(&sound)
        .args([
            "-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-threads", "1", "-pix_fmt", "yuv420p",
        ])
        .args(["-c:a", "aac", "-b:a", "96k", "-f", "mp4"])
        .arg(&video)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let written = start(&mut command).and_then(|mut child| {
        let mut input = child.stdin.take().expect("it is piped");
        let ((), message) = drain(child, |_| {
            // If ffmpeg ends early, its message is more specific than a broken pipe.
            let _ = frames.try_for_each(|frame| input.write_all(&frame.rgb));
            drop(input);
            Ok(())
        })?;
        message.map_or(Ok(()), |message| Err(Error::video_unreadable(message).in_file(path)))
    });
    let _ = fs::remove_file(&sound);
    let moved = written.and_then(|()| fs::rename(&video, path).map_err(Error::io(path)));
    if moved.is_err() {
        let _ = fs::remove_file(&video);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_read_in_sequence_and_damaged_ones_refused() {
        let mut stream: &[u8] = b"P6\n2 1\n255\nabcdefP6\n1 1\n255\nxyz";
        let first = read_ppm(&mut stream).unwrap().unwrap();
        assert_eq!((first.width, first.height, first.rgb.as_slice()), (2, 1, b"abcdef".as_slice()));
        assert_eq!(read_ppm(&mut stream).unwrap().unwrap().rgb, b"xyz");
        assert_eq!(read_ppm(&mut stream).unwrap(), None);
        for damaged in [
            "P6\n2 1\n255\nabc",
            "P5\n1 1\n255\nxyz",
            "P6\n90000 90000\n255\n",
            "P6\n0 1\n255\n",
            "P6\n2",
            "\n\n\n",
        ] {
            assert!(read_ppm(&mut damaged.as_bytes()).is_err(), "{damaged:?}");
        }
    }
}
