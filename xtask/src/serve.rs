//! `cargo xtask serve`: serves the site on 127.0.0.1, with media types, with the page's Content-Security-Policy as a header, and nothing outside its folders.

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
/// One thread for each of the connections that a browser opens at once.
const THREADS: usize = 6;

/// Builds and serves the site until the process is stopped.
pub fn run(port: u16) -> Result {
    // Reports a port in use before the build.
    drop(TcpListener::bind(("127.0.0.1", port)).map_err(|e| bind_error(port, &e))?);
    let incremental = build::is_quick();
    if incremental {
        build::page()?;
    } else {
        build::page_for_cpu()?;
    }
    let site = Site::open(port)?;
    println!("{}", site.url);
    let _ = std::io::stdout().flush();
    if !incremental {
        eprintln!("--- the page works on the CPU; the GPU kernels are being compiled");
        build::other_pages()?;
        build::page()?;
        eprintln!("--- reload the page to use the GPU");
    }
    site.wait();
    Ok(())
}

/// A running server, which ends with the process.
pub struct Site {
    /// The address, with a slash at the end.
    pub url: String,
    threads: Vec<JoinHandle<()>>,
}

impl Site {
    /// Starts the server and requests the page once. Port 0 chooses a free port.
    pub fn open(port: u16) -> Result<Self> {
        let policy = policy(&read_text(&root().join("www/index.html"))?)?.to_string();
        let server = Server::http(("127.0.0.1", port)).map_err(|e| bind_error(port, &e))?;
        let address = server.server_addr().to_ip().ok_or("the server has no address")?;
        let (server, policy) = (Arc::new(server), Arc::new(policy));
        let threads = (0..THREADS)
            .map(|_| {
                let (server, policy) = (server.clone(), policy.clone());
                thread::spawn(move || {
                    while let Ok(request) = server.recv() {
                        // A client may close the connection at any time.
                        let _ = answer(request, &policy);
                    }
                })
            })
            .collect();
        let status = first_line(address).map_err(|e| format!("the server does not answer: {e}"))?;
        if !status.contains(" 200 ") {
            return Err(format!("the server answers {status:?}"));
        }
        Ok(Self { url: format!("http://{address}/"), threads })
    }

    fn wait(self) {
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

fn bind_error(port: u16, error: &dyn std::fmt::Display) -> String {
    format!("port {port}: {error}; choose another with --port")
}

/// Requests the page and returns the status line.
fn first_line(address: std::net::SocketAddr) -> std::io::Result<String> {
    let mut connection = TcpStream::connect(address)?;
    write!(connection, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_string())
}

/// Returns the Content-Security-Policy of the page's meta tag. The server sends it with every file, because a worker ignores the tag and obeys its own header.
fn policy(html: &str) -> Result<&str> {
    let tag = html.split('<').find(|tag| tag.starts_with("meta") && tag.contains("Content-Security-Policy"));
    let content = tag.and_then(|tag| tag.split_once("content=\"")?.1.split_once('"'));
    content
        .map(|(policy, _)| policy)
        .ok_or_else(|| "www/index.html has no Content-Security-Policy".to_string())
}

/// Answers a request.
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
        // Made for each request, because files change between builds during development.
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

/// Returns an identifier of a file's version, for a browser's cache.
fn etag(metadata: &std::fs::Metadata) -> String {
    let changed = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .unwrap_or_default();
    format!("\"{:x}-{:x}\"", metadata.len(), changed.as_nanos())
}

/// Returns the file of a URL, if it is within the folders of the site and not hidden.
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
    // Links must not lead out of the folders.
    let file = file.canonicalize().ok()?;
    let inside = SITE
        .iter()
        .any(|(_, folder)| root.join(folder).canonicalize().is_ok_and(|folder| file.starts_with(folder)));
    (inside && file.is_file()).then(|| build::served(root, path, &file))
}

/// Decodes percent-encoding; returns `None` if the result is not UTF-8.
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

    /// Creates a site, with a file outside of its folders.
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
    fn urls_do_not_lead_out_of_the_site() {
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
    fn the_policy_is_that_of_the_page() {
        let html = "<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; connect-src 'self'\">";
        assert_eq!(policy(html).unwrap(), "default-src 'none'; connect-src 'self'");
        assert!(policy("<meta charset=\"utf-8\">").is_err());
    }

    #[test]
    fn media_types_are_known() {
        assert_eq!(content_type(Path::new("x/ownvoice_web_bg.wasm")), "application/wasm");
        assert_eq!(content_type(Path::new("app.js")), "text/javascript; charset=utf-8");
        assert_eq!(content_type(Path::new("model.safetensors")), "application/octet-stream");
    }
}
