//! Encoding by the program `ffmpeg`, if it is installed: MP3, Opus in Ogg, and AAC in ADTS.

use std::process::Stdio;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
};

use super::{
    answer::{Output, Sound},
    queue::RATE_HZ,
};
use ownvoice::{Error, Result, audio::wav::Origin};

const FFMPEG: &str = "ffmpeg";

/// Returns the names of ffmpeg's encoders; none if it is not installed.
pub async fn encoders() -> Vec<String> {
    let listed = Command::new(FFMPEG).args(["-v", "error", "-encoders"]).stdin(Stdio::null()).output().await;
    let listed = listed.map(|output| output.stdout).unwrap_or_default();
    let lines = String::from_utf8_lossy(&listed);
    lines.lines().filter_map(|line| line.split_whitespace().nth(1).map(str::to_owned)).collect()
}

/// Encodes a sound while it is made.
///
/// # Errors
/// Fails with `program-missing` or `io` if ffmpeg does not start or ends early; its own message goes to standard error.
pub async fn encode(
    encoder: &str,
    container: &str,
    origin: &Origin,
    sound: &mut Sound,
    output: &Output,
) -> Result<()> {
    let mut command = Command::new(FFMPEG);
    command
        .args(["-v", "error", "-f", "s16le", "-ac", "1", "-ar", &RATE_HZ.to_string(), "-i", "pipe:0"])
        .args(["-metadata", &format!("comment={}", origin.comment)])
        .args(["-c:a", encoder, "-flush_packets", "1"]);
    if container == "mp3" {
        // Its header of the length can be written only afterwards.
        command.args(["-write_xing", "0"]);
    }
    command.args(["-f", container, "pipe:1"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| Error::program_missing(FFMPEG, error))?;
    let mut stdin = child.stdin.take().expect("it is piped");
    let mut stdout = child.stdout.take().expect("it is piped");
    let write = async move {
        while let Some(pcm) = sound.next().await {
            stdin.write_all(&pcm?).await.map_err(Error::io(FFMPEG))?;
        }
        // The pipe closes here, by which ffmpeg knows the end.
        Ok::<_, Error>(())
    };
    let read = async {
        let mut bytes = vec![0; 1 << 14];
        loop {
            match stdout.read(&mut bytes).await.map_err(Error::io(FFMPEG))? {
                0 => return Ok::<_, Error>(()),
                length => output.send(bytes[..length].to_vec()).await?,
            }
        }
    };
    tokio::try_join!(write, read)?;
    let status = child.wait().await.map_err(Error::io(FFMPEG))?;
    let failed = || Error::io(FFMPEG)(std::io::Error::other(status.to_string()));
    if status.success() { Ok(()) } else { Err(failed()) }
}
