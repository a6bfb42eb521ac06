//! `ownvoice serve`.

use std::path::PathBuf;

use axum::http::{HeaderValue, Uri};
use clap::Args;
use serde_json::json;

use super::{console::Console, device::DeviceArguments};
use crate::serve::{Addresses, Config, ServedVoice, is_local, serve as run};
use ownvoice::{
    Error, Result,
    audio::wav,
    digest::sha256_hex,
    files,
    voice::{Base, Voice},
};

#[derive(Args)]
#[command(after_help = "Examples:
  ownvoice serve --voice me.ownvoice
  ownvoice serve --voice me.ownvoice --voice you.ownvoice --wyoming-port 10200
  ownvoice serve --base models/base --port 5000 --allow-origin https://app.example")]
pub struct ServeArguments {
    /// Voice file, by whose name without extension requests choose it; may be given several times [default: the base itself, named \"base\"]
    #[arg(long)]
    voice: Vec<PathBuf>,
    /// Folder of the base voice
    #[arg(long, default_value = "models/base")]
    base: PathBuf,
    /// Name or address to listen at; 0.0.0.0 is reachable from other machines
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Port of OpenAI's speech route; 0 for any free one
    #[arg(long, default_value_t = 8880)]
    port: u16,
    /// Port of the Wyoming protocol of Home Assistant, usually 10200; 0 for any free one [default: it is not served]
    #[arg(long, value_name = "PORT")]
    wyoming_port: Option<u16>,
    /// Another name by which requests may address this server, such as host.docker.internal; may be given several times
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Origin of the one site whose pages may use this server
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    allow_origin: Option<HeaderValue>,
    #[command(flatten)]
    device: DeviceArguments,
}

/// Parses an origin, which browsers write without a path.
fn origin(text: &str) -> std::result::Result<HeaderValue, String> {
    let uri: Uri = text.parse().map_err(|error| format!("{error}"))?;
    let parts = uri.scheme_str().zip(uri.authority()).filter(|_| matches!(uri.path(), "" | "/"));
    let (scheme, authority) = parts.ok_or("an origin is a scheme and a host, such as https://app.example")?;
    HeaderValue::from_str(&format!("{scheme}://{authority}")).map_err(|error| error.to_string())
}

pub fn serve(arguments: &ServeArguments, console: &Console) -> Result<()> {
    // Writing to a client that is gone, or to ffmpeg, must fail instead of ending the program.
    #[cfg(unix)]
    // SAFETY: ignoring a signal runs no code of this process.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
    let base = Base::open(&arguments.base, &arguments.device.open()?)?;
    let config = Config {
        host: arguments.host.clone(),
        port: arguments.port,
        wyoming_port: arguments.wyoming_port,
        allowed_hosts: arguments.allow_host.clone(),
        allowed_origin: arguments.allow_origin.clone(),
    };
    run(voices(&base, &arguments.voice)?, &config, |Addresses { http, wyoming }| {
        if !is_local(http.ip()) {
            console.warn("anybody who reaches this address can speak with these voices");
        }
        let http = format!("http://{http}");
        let wyoming = wyoming.map(|address| format!("tcp://{address}"));
        let text = [Some(&http), wyoming.as_ref()].into_iter().flatten().map(String::as_str);
        console.result(&json!({"http": http, "wyoming": wyoming}), text.collect::<Vec<_>>().join("\n"));
    })
}

/// Opens voice files, or the base's own voice if there are none.
fn voices(base: &Base, paths: &[PathBuf]) -> Result<Vec<ServedVoice>> {
    let mut voices: Vec<ServedVoice> = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if voices.iter().any(|voice| voice.name == name) {
            return Err(Error::option_invalid(format!("two voice files are named {name:?}")));
        }
        let file = files::read(path)?;
        let voice = Voice::open(base, &file).map_err(|error| error.in_file(path))?;
        voices.push(ServedVoice { name, id: wav::voice_id(&sha256_hex(&file)).to_owned(), voice });
    }
    if voices.is_empty() {
        let voice = Voice::unadapted(base);
        voices.push(ServedVoice { name: "base".into(), id: voice.id()?, voice });
    }
    Ok(voices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_no_path() {
        for (text, expected) in [
            ("https://app.example", Some("https://app.example")),
            ("http://localhost:3000/", Some("http://localhost:3000")),
            ("https://app.example/speak", None),
            ("app.example", None),
            ("*", None),
            ("null", None),
        ] {
            let found = origin(text).ok();
            assert_eq!(found.as_ref().map(|origin| origin.to_str().unwrap()), expected, "{text}");
        }
    }
}
