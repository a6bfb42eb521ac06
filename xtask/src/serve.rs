//! Serves the site on 127.0.0.1, as a careful host would: correct types, the page's own policy as a header, nothing outside its folders.

use crate::build::{self, SITE};
use crate::shell::{Result, read_text, root};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tiny_http::{Header, Method, Request, Response, Server, StatusCode};

pub const PORT: u16 = 8017;
/// A browser opens about six connections at once.
const THREADS: usize = 6;

/// `cargo xtask serve`: returns only when it is stopped.
pub fn run(port: u16) -> Result {
    // A taken port is better known before the build than after it.
    drop(TcpListener::bind(("127.0.0.1", port)).map_err(|e| taken(port, &e))?);
    let quick = build::is_quick();
    if quick {
        build::page()?;
    } else {
        build::page_for_cpu()?;
    }
    let site = Site::open(port)?;
    println!("{}", site.url);
    let _ = std::io::stdout().flush();
    if !quick {
        eprintln!("--- it works on the CPU; kernels for graphics cards are compiled meanwhile");
        build::lips()?;
        build::page()?;
        eprintln!("--- reload the page: it uses a graphics card now, where there is one");
    }
    site.wait();
    Ok(())
}

/// A running server. It ends with the process.
pub struct Site {
    /// With a slash at its end.
    pub url: String,
    threads: Vec<JoinHandle<()>>,
}

impl Site {
    /// Starts serving and makes sure that the page answers. Port 0 takes any free one.
    pub fn open(port: u16) -> Result<Self> {
        let policy = policy(&read_text(&root().join("www/index.html"))?)?.to_string();
        let server = Server::http(("127.0.0.1", port)).map_err(|e| taken(port, &e))?;
        let address = server.server_addr().to_ip().ok_or("the server has no address")?;
        let (server, policy) = (Arc::new(server), Arc::new(policy));
        let threads = (0..THREADS)
            .map(|_| {
                let (server, policy) = (server.clone(), policy.clone());
                thread::spawn(move || {
                    while let Ok(request) = server.recv() {
                        // A visitor who leaves in the middle of an answer is no error.
                        let _ = answer(request, &policy);
                    }
                })
            })
            .collect();
        let status = first_line(address).map_err(|e| format!("the page does not answer: {e}"))?;
        if !status.contains(" 200 ") {
            return Err(format!("the page answers {status:?}"));
        }
        Ok(Self { url: format!("http://{address}/"), threads })
    }

    fn wait(self) {
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

fn taken(port: u16, error: &dyn std::fmt::Display) -> String {
    format!("port {port}: {error}; choose another with --port")
}

/// The first line that the server answers to a request for the page.
fn first_line(address: std::net::SocketAddr) -> std::io::Result<String> {
    let mut connection = TcpStream::connect(address)?;
    write!(connection, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_string())
}

/// The Content-Security-Policy of the page's own meta tag. A worker obeys the header of its file, not the page's tag, so it is sent with everything.
fn policy(html: &str) -> Result<&str> {
    let tag = html.split('<').find(|tag| tag.starts_with("meta") && tag.contains("Content-Security-Policy"));
    let content = tag.and_then(|tag| tag.split_once("content=\"")?.1.split_once('"'));
    content
        .map(|(policy, _)| policy)
        .ok_or_else(|| "www/index.html has no Content-Security-Policy".to_string())
}

fn answer(request: Request, policy: &str) -> std::io::Result<()> {
    let header = |name: &str, value: &str| Header::from_bytes(name, value).expect("a valid header");
    let headers = |kind: &str| {
        vec![
            header("Content-Type", kind),
            header("Content-Security-Policy", policy),
            header("X-Content-Type-Options", "nosniff"),
            header("Referrer-Policy", "no-referrer"),
            header("Cache-Control", "no-cache"),
        ]
    };
    let refuse = |status: u16, text: &'static str| {
        let body = text.as_bytes();
        Response::new(StatusCode(status), headers("text/plain; charset=utf-8"), body, Some(body.len()), None)
    };
    if !matches!(request.method(), Method::Get | Method::Head) {
        return request.respond(refuse(405, "only GET and HEAD\n"));
    }
    let opened = locate(root(), request.url()).and_then(|path| Some((File::open(&path).ok()?, path)));
    let Some((file, path)) = opened else { return request.respond(refuse(404, "no such file\n")) };
    let mut headers = headers(content_type(&path));
    if path.file_name().is_some_and(|name| name == build::FILES) {
        // Listed anew: a page under work changes between two builds.
        let list = build::listed(root()).map_err(std::io::Error::other)?;
        return request.respond(Response::new(
            StatusCode(200),
            headers,
            list.as_bytes(),
            Some(list.len()),
            None,
        ));
    }
    let metadata = file.metadata()?;
    let etag = etag(&metadata);
    headers.push(header("ETag", &etag));
    let known = request
        .headers()
        .iter()
        .any(|header| header.field.equiv("If-None-Match") && header.value.as_str() == etag);
    if known {
        return request.respond(Response::new(StatusCode(304), headers, std::io::empty(), Some(0), None));
    }
    request.respond(Response::new(StatusCode(200), headers, file, Some(metadata.len() as usize), None))
}

/// Identifies one state of a file, so that a browser that has it is not sent it again.
fn etag(metadata: &std::fs::Metadata) -> String {
    let changed = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .unwrap_or_default();
    format!("\"{:x}-{:x}\"", metadata.len(), changed.as_nanos())
}

/// The file that a URL asks for: always within the folders of the site, never hidden.
fn locate(root: &Path, url: &str) -> Option<PathBuf> {
    let path = decode(url.split(['?', '#']).next()?)?;
    let path = path.strip_prefix('/')?;
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let (folder, rest) = SITE.iter().find_map(|(part, folder)| match *part {
        "" => Some((folder, path)),
        part => (part == first).then_some((folder, rest)),
    })?;
    let plain =
        |part: Component| matches!(part, Component::Normal(name) if !name.to_string_lossy().starts_with('.'));
    if rest.contains(['\\', '\0', ':']) || !Path::new(rest).components().all(plain) {
        return None;
    }
    let mut file = root.join(folder).join(rest);
    if rest.is_empty() || rest.ends_with('/') {
        file.push("index.html");
    }
    // A link must not lead out either.
    let file = file.canonicalize().ok()?;
    let inside = SITE
        .iter()
        .any(|(_, folder)| root.join(folder).canonicalize().is_ok_and(|folder| file.starts_with(folder)));
    (inside && file.is_file()).then(|| build::served(root, path, &file))
}

/// Undoes percent-encoding; none if that gives no UTF-8.
fn decode(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || (rest.next()? as char).to_digit(16);
                (digit()? * 16 + digit()?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("wav") => "audio/wav",
        Some("txt" | "md" | "ts") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A site of its own, with a secret beside it.
    fn sample(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("ownvoice-serve-{}-{name}", std::process::id()));
        for folder in ["www/pkg", "web/js", "models/base"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in [
            "www/index.html",
            "www/a b.css",
            "www/.hidden",
            "www/pkg/x.wasm",
            "web/js/index.js",
            "models/base/m.json",
            "secret",
            "web/Cargo.toml",
        ] {
            fs::write(root.join(file), file).unwrap();
        }
        root.canonicalize().unwrap()
    }

    #[test]
    fn urls_lead_to_files_of_the_site() {
        let root = sample("found");
        for (url, file) in [
            ("/", "www/index.html"),
            ("/?device=cpu", "www/index.html"),
            ("/a%20b.css", "www/a b.css"),
            ("/pkg/x.wasm", "www/pkg/x.wasm"),
            ("/js/index.js?v=1", "web/js/index.js"),
            ("/models/base/m.json", "models/base/m.json"),
        ] {
            assert_eq!(locate(&root, url), Some(root.join(file)), "{url}");
        }
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn urls_do_not_lead_out() {
        let root = sample("outside");
        for url in [
            "/../secret",
            "/%2e%2e/secret",
            "/..%2fsecret",
            "/js/../Cargo.toml",
            "/js/..%2FCargo.toml",
            "/models/../../secret",
            "//etc/passwd",
            "/js//etc/passwd",
            "/..\\secret",
            "/.hidden",
            "/secret",
            "/pkg",
            "/js",
            "/nothing",
            "/%zz",
            "/%ff",
            "/a%00",
            "",
            "secret",
            "http://other/secret",
        ] {
            assert_eq!(locate(&root, url), None, "{url}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("secret"), root.join("www/link")).unwrap();
            assert_eq!(locate(&root, "/link"), None);
        }
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_policy_is_the_pages_own() {
        let html = "<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; connect-src 'self'\">";
        assert_eq!(policy(html).unwrap(), "default-src 'none'; connect-src 'self'");
        assert!(policy("<meta charset=\"utf-8\">").is_err());
    }

    #[test]
    fn types() {
        assert_eq!(content_type(Path::new("x/ownvoice_web_bg.wasm")), "application/wasm");
        assert_eq!(content_type(Path::new("app.js")), "text/javascript; charset=utf-8");
        assert_eq!(content_type(Path::new("model.safetensors")), "application/octet-stream");
    }
}
