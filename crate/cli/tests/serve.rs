//! `ownvoice serve`: what its routes answer and refuse, byte by byte, as a client of sockets sees it. Real clients are in `tests/js/server.test.mjs`.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use ownvoice::{
    audio::{decode, resample::resample, wav},
    voice::Voice,
};
use pollster::block_on;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The sample rate of the server.
const RATE_HZ: u32 = 24_000;
/// As many requests as the server accepts at once.
const TURNS: usize = 16;
const TEXT: &str = "Good morning, everyone.";

/// A server with the tiny base, which is ended when it is dropped.
struct Server {
    child: Child,
    http: String,
    wyoming: String,
    models: TempDir,
}

impl Server {
    fn start(options: &[&str]) -> Self {
        Self::start_in(ownvoice_testing::tiny_folder(), options)
    }

    /// Starts a server in a folder of models, to which the paths of options are relative.
    fn start_in(models: TempDir, options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ownvoice"))
            .args(["serve", "--base", "base", "--port", "0", "--wyoming-port", "0", "--json"])
            .args(options)
            .current_dir(models.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let address = |name: &str| told[name].as_str().unwrap().split_once("://").unwrap().1.to_owned();
        Self { http: address("http"), wyoming: address("wyoming"), child, models }
    }

    /// Sends the bytes of a request, and leaves the answer to be read.
    fn send(&self, request: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.http).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(request);
        stream
    }

    fn ask(&self, request: &[u8]) -> Answer {
        let mut bytes = Vec::new();
        let _ = self.send(request).read_to_end(&mut bytes);
        Answer::parse(&bytes)
    }

    fn get(&self, route: &str) -> Answer {
        self.ask(
            format!("GET {route} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.http).as_bytes(),
        )
    }

    fn speak(&self, request: &Value) -> Answer {
        self.ask(&self.post(request.to_string().as_bytes(), ""))
    }

    /// Returns a request for speech.
    fn post(&self, body: &[u8], headers: &str) -> Vec<u8> {
        let head = format!(
            "POST /v1/audio/speech HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n{headers}Connection: close\r\n\r\n",
            self.http,
            body.len()
        );
        [head.as_bytes(), body].concat()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Answer {
    status: u16,
    /// In lower case.
    head: String,
    body: Vec<u8>,
    /// Whether the body came to its end.
    is_whole: bool,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("an answer");
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let (mut rest, mut body, mut is_whole) = (&bytes[end + 4..], Vec::new(), true);
        if head.contains("transfer-encoding: chunked") {
            is_whole = false;
            while let Some(at) = rest.windows(2).position(|window| window == b"\r\n") {
                let length = usize::from_str_radix(std::str::from_utf8(&rest[..at]).unwrap(), 16).unwrap();
                is_whole = length == 0;
                let Some(chunk) = rest.get(at + 2..at + 2 + length) else { break };
                body.extend(chunk);
                rest = &rest[(at + 4 + length).min(rest.len())..];
            }
        } else {
            body = rest.to_vec();
        }
        Self { status, head, body, is_whole }
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }

    fn holds(&self, text: &str) -> bool {
        self.body.windows(text.len()).any(|window| window == text.as_bytes())
    }
}

/// Returns what `ownvoice say` says with the same base, as the server's PCM.
fn said(models: &Path) -> Vec<u8> {
    let done = Command::new(env!("CARGO_BIN_EXE_ownvoice"))
        .args(["say", "--base", "base", "--text", TEXT, "--out", "say.wav", "--quiet"])
        .current_dir(models)
        .status()
        .unwrap();
    assert!(done.success());
    let audio = wav::read(&fs::read(models.join("say.wav")).unwrap()).unwrap();
    wav::pcm(&resample(&audio.samples, audio.sample_rate_hz, RATE_HZ).unwrap())
}

fn samples(pcm: &[u8]) -> Vec<f32> {
    pcm.chunks_exact(2).map(|bytes| f32::from(i16::from_le_bytes([bytes[0], bytes[1]])) / 32_768.0).collect()
}

/// Returns the correlation of two sounds at the delay of at most 100 ms that gives the highest.
fn correlation(a: &[f32], b: &[f32]) -> f32 {
    let norm = |x: &[f32]| x.iter().map(|x| x * x).sum::<f32>().sqrt();
    let at = |delay: usize| a.iter().zip(&b[delay..]).map(|(a, b)| a * b).sum::<f32>();
    let best = (0..2400.min(b.len())).map(at).fold(0.0, f32::max);
    best / (norm(a) * norm(b))
}

#[test]
fn each_format_decodes_to_the_speech_of_say() {
    let server = Server::start(&[]);
    let expected = said(server.models.path());
    // Within 16 bits: the resampled samples of `say` were rounded twice.
    let same = |pcm: &[u8], name: &str| {
        let (found, expected) = (samples(pcm), samples(&expected));
        assert_eq!(found.len(), expected.len(), "{name}");
        let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 3.0 / 32_768.0, "{name}: {worst}");
    };
    let of = |format: &str| {
        let answer = server.speak(&json!({"input": TEXT, "response_format": format}));
        assert_eq!((answer.status, answer.is_whole), (200, true), "{format}");
        answer
    };
    let pcm = of("pcm");
    same(&pcm.body, "pcm");
    assert!(
        pcm.head.contains("content-type: audio/pcm") && !pcm.head.contains("access-control"),
        "{}",
        pcm.head
    );
    let wav = of("wav");
    assert!(wav.head.contains("content-type: audio/wav"), "{}", wav.head);
    let audio = wav::read(&wav.body).unwrap();
    assert_eq!((wav::pcm(&audio.samples), audio.sample_rate_hz), (pcm.body.clone(), RATE_HZ));
    let flac = of("flac");
    let (audio, _) = decode::read(&flac.body).unwrap();
    assert_eq!((wav::pcm(&audio.samples), audio.sample_rate_hz), (pcm.body.clone(), RATE_HZ));
    let mark = "Synthetic speech, made by ownvoice with voice ";
    assert!(wav.holds(mark) && flac.holds(mark));

    if Command::new("ffmpeg").arg("-version").output().is_err() {
        eprintln!("SKIPPED: ffmpeg is not installed, so that mp3, opus and aac are not compared");
        return;
    }
    for (format, is_marked) in [("mp3", true), ("opus", true), ("aac", false)] {
        let answer = of(format);
        assert_eq!(answer.holds(mark), is_marked, "{format}");
        let (audio, _) = decode::read(&answer.body).unwrap();
        let found = resample(&audio.samples, audio.sample_rate_hz, RATE_HZ).unwrap();
        let expected = samples(&pcm.body);
        // Frames and priming add at most 100 ms.
        let more = found.len() as i64 - expected.len() as i64;
        assert!((-100..2400).contains(&more), "{format}: {more} samples");
        let likeness = correlation(&expected, &found);
        assert!(likeness > 0.9, "{format}: {likeness}");
    }
    // The default is OpenAI's.
    let answer =
        server.speak(&json!({"model": "tts-1", "input": TEXT, "voice": "base", "instructions": "Sadly."}));
    assert!(answer.head.contains("content-type: audio/mpeg"), "{}", answer.head);
}

#[test]
fn events_carry_the_same_sound_and_say_when_it_ends() {
    let server = Server::start(&[]);
    let text = "One comes. Another follows. The third ends it.";
    let request = json!({"input": text, "response_format": "pcm", "speed": 2.0});
    let pcm = server.speak(&request);
    let slow = server.speak(&json!({"input": text, "response_format": "pcm"}));
    assert!(slow.body.len() as f64 > 1.6 * pcm.body.len() as f64, "the speed is used");
    let mut request = request;
    request["stream_format"] = "sse".into();
    let answer = server.speak(&request);
    assert!(answer.head.contains("content-type: text/event-stream") && answer.is_whole);
    let text = String::from_utf8(answer.body).unwrap();
    let events: Vec<Value> = text
        .split_terminator("\n\n")
        .map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap())
        .collect();
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [["speech.audio.delta"; 3].as_slice(), &["speech.audio.done"]].concat(),
        "one per sentence"
    );
    let decode = |event: &Value| {
        use base64::{Engine, prelude::BASE64_STANDARD};
        BASE64_STANDARD.decode(event["audio"].as_str().unwrap()).unwrap()
    };
    assert_eq!(events[..3].iter().flat_map(decode).collect::<Vec<_>>(), pcm.body);
    assert!(events[3]["usage"]["total_tokens"].is_number());
}

#[test]
fn bad_requests_are_refused_with_a_code_and_the_field() {
    let server = Server::start(&[]);
    let long = "a ".repeat(10_001);
    for (body, status, code, param) in [
        ("{", 400, "request-invalid", Value::Null),
        ("", 400, "request-invalid", Value::Null),
        ("[]", 400, "request-invalid", Value::Null),
        (r#"{"model": "tts-1"}"#, 400, "request-invalid", Value::Null),
        (r#"{"input": 5}"#, 400, "request-invalid", Value::Null),
        (r#"{"input": "Hello.", "voice": "alloy"}"#, 400, "option-invalid", "voice".into()),
        (r#"{"input": "Hello.", "voice": {"id": "alloy"}}"#, 400, "option-invalid", "voice".into()),
        (
            r#"{"input": "Hello.", "response_format": "midi"}"#,
            400,
            "option-invalid",
            "response_format".into(),
        ),
        (r#"{"input": "Hello.", "stream_format": "ws"}"#, 400, "option-invalid", "stream_format".into()),
        (
            r#"{"input": "Hello.", "response_format": "pcm", "speed": 4.1}"#,
            400,
            "option-invalid",
            "speed".into(),
        ),
        (
            r#"{"input": "Hello.", "response_format": "pcm", "speed": 1e99}"#,
            400,
            "option-invalid",
            "speed".into(),
        ),
        (r#"{"input": " ", "response_format": "pcm"}"#, 400, "text-empty", "input".into()),
        (r#"{"input": "☃", "response_format": "pcm"}"#, 400, "text-unsupported", "input".into()),
        (&json!({"input": long, "response_format": "pcm"}).to_string(), 400, "text-too-long", "input".into()),
        (&format!("\"{}\"", "a".repeat(1_000_000)), 413, "body-too-large", Value::Null),
    ] {
        let answer = server.ask(&server.post(body.as_bytes(), ""));
        let error = &answer.json()["error"];
        let shown = &body[..body.len().min(80)];
        assert_eq!(
            (answer.status, &error["code"], &error["param"]),
            (status, &code.into(), &param),
            "{shown}: {error}"
        );
        assert_eq!(error["type"], "invalid_request_error", "{shown}");
        assert!(error["message"].as_str().unwrap().len() > 10, "{shown}: {error}");
    }
    let answer = server.speak(&json!({"input": "Hello.", "response_format": "midi"}));
    assert!(answer.json()["error"]["message"].as_str().unwrap().contains("available are: wav, pcm, flac"));
    for (line, status, code) in [
        ("GET /v1/audio/speech", 405, "method-not-allowed"),
        ("GET /v1/models/gpt-7", 404, "not-found"),
        ("GET /base/manifest.json", 404, "not-found"),
        ("GET /", 404, "not-found"),
        ("DELETE /v1/audio/voices", 405, "method-not-allowed"),
    ] {
        let answer =
            server.ask(format!("{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes());
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (status, &code.into()), "{line}");
    }
}

/// Without ffmpeg, the formats that need it are refused, the default among them.
#[cfg(unix)]
#[test]
fn a_missing_ffmpeg_leaves_the_other_formats() {
    let models = ownvoice_testing::tiny_folder();
    let mut child = Command::new(env!("CARGO_BIN_EXE_ownvoice"));
    let child = child.args(["serve", "--base", "base", "--port", "0", "--json"]).current_dir(models.path());
    let mut child = child.env("PATH", models.path()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    assert!(told["wyoming"].is_null(), "it is served on demand only");
    let http = told["http"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let server = Server { child, http, wyoming: String::new(), models };
    for request in [json!({"input": "Hello."}), json!({"input": "Hello.", "response_format": "opus"})] {
        let answer = server.speak(&request);
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(
            answer.status == 400
                && message.ends_with("wav, pcm, flac; ffmpeg on the server's PATH adds others"),
            "{message}"
        );
    }
    assert_eq!(server.speak(&json!({"input": "Hello.", "response_format": "flac"})).status, 200);
}

#[test]
fn voices_are_chosen_by_the_names_of_their_files() {
    let models = ownvoice_testing::tiny_folder();
    let base = ownvoice_testing::tiny_base();
    let file = block_on(Voice::unadapted(&base).save_async()).unwrap();
    for name in ["me.ownvoice", "Anna B.ownvoice"] {
        fs::write(models.path().join(name), &file).unwrap();
    }
    let server = Server::start_in(models, &["--voice", "me.ownvoice", "--voice", "Anna B.ownvoice"]);
    let voices = server.get("/v1/audio/voices").json();
    assert_eq!(voices, json!({"voices": [{"id": "me", "name": "me"}, {"id": "Anna B", "name": "Anna B"}]}));
    for voice in [json!("me"), json!("Anna B"), json!({"id": "me"}), Value::Null] {
        let request = json!({"input": "Hello.", "voice": voice, "response_format": "pcm"});
        assert_eq!(server.speak(&request).status, 200, "{voice}");
    }
    let refused = server.speak(&json!({"input": "Hello.", "voice": "base", "response_format": "pcm"}));
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.ends_with("the voices are: me, Anna B"), "{message}");
    let models = server.get("/v1/models").json();
    assert_eq!((&models["object"], &models["data"][0]["id"]), (&"list".into(), &"ownvoice".into()));
    assert_eq!(server.get("/v1/models/ownvoice").json(), models["data"][0]);

    let same = |folder: &str| format!("{folder}me.ownvoice");
    let twice = Command::new(env!("CARGO_BIN_EXE_ownvoice"))
        .args(["serve", "--base", "base", "--voice", &same(""), "--voice", &same("./")])
        .current_dir(server.models.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&twice.stderr).into_owned();
    assert!(
        !twice.status.success() && told.contains("error[option-invalid]: two voice files are named \"me\""),
        "{told}"
    );
}

#[test]
fn other_sites_are_refused_unless_allowed() {
    let body = json!({"input": "Hello.", "response_format": "pcm"}).to_string();
    let ask = |server: &Server, host: &str, more: &str| {
        let request = format!(
            "POST /v1/audio/speech HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n{more}Connection: close\r\n\r\n{body}",
            body.len()
        );
        server.ask(request.as_bytes())
    };
    let code = |answer: &Answer| match answer.status {
        200 => "ok".to_owned(),
        403 => answer.json()["error"]["code"].as_str().unwrap().to_owned(),
        other => other.to_string(),
    };
    let (closed, open) = (
        Server::start(&[]),
        Server::start(&["--allow-origin", "https://app.example", "--allow-host", "host.docker.internal"]),
    );
    for (host, more, expected) in [
        ("localhost", "", ["ok", "ok"]),
        ("rebound.example:8880", "", ["host-refused"; 2]),
        ("host.docker.internal:8880", "", ["host-refused", "ok"]),
        ("localhost", "Origin: https://app.example\r\n", ["origin-refused", "ok"]),
        ("localhost", "Origin: https://evil.example\r\n", ["origin-refused"; 2]),
        ("localhost", "Origin: null\r\n", ["origin-refused"; 2]),
    ] {
        let answers = [&closed, &open].map(|server| ask(server, host, more));
        assert_eq!(answers.each_ref().map(code), expected, "{host} {more}");
        let [no_headers, headers] = answers.map(|answer| answer.head.contains("access-control-allow-origin"));
        assert!(!no_headers, "{host} {more}");
        assert_eq!(headers, expected[1] == "ok", "{host} {more}");
    }
    let preflight = "OPTIONS /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nOrigin: https://app.example\r\n\
        Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,content-type\r\nConnection: close\r\n\r\n";
    assert_eq!(closed.ask(preflight.as_bytes()).status, 403);
    let head = open.ask(preflight.as_bytes()).head;
    for line in [
        "200 ok",
        "access-control-allow-origin: https://app.example",
        "access-control-allow-headers: authorization,content-type",
    ] {
        assert!(head.contains(line), "{line}: {head}");
    }
}

#[test]
fn another_address_is_warned_of() {
    let mut server = Server::start(&["--host", "0.0.0.0"]);
    server.child.kill().unwrap();
    let mut told = String::new();
    server.child.stderr.as_mut().unwrap().read_to_string(&mut told).unwrap();
    assert!(told.contains("warning: anybody who reaches this address can speak with these voices"), "{told}");
}

/// Texts that take minutes fill the queue; when their clients go away, the next request is answered at once.
#[test]
fn a_full_queue_refuses_and_clients_that_are_gone_leave_it() {
    let server = Server::start(&[]);
    let long =
        json!({"input": "It goes on, and on, and on. ".repeat(700), "response_format": "pcm"}).to_string();
    let send = || server.send(&server.post(long.as_bytes(), ""));
    let first = send();
    // It is spoken sentence by sentence, so that its answer begins long before its end.
    let mut status = [0; 12];
    (&first).read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
    // More than there are places: the server reads them in any order.
    let mut waiting: Vec<_> = (0..TURNS + 8).map(|_| send()).collect();
    waiting.push(first);
    let start = Instant::now();
    let short = json!({"input": "Hello.", "response_format": "pcm"});
    let busy = server.speak(&short);
    let error = &busy.json()["error"];
    assert_eq!((busy.status, &error["code"], &error["type"]), (503, &"busy".into(), &"server_error".into()));
    assert!(busy.head.contains("retry-after: 2"), "{}", busy.head);
    drop(waiting);
    // The server notices closed connections within moments.
    while server.speak(&short).status != 200 {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(start.elapsed() < Duration::from_secs(60), "nobody waits for texts that nobody hears");
}

#[cfg(unix)]
#[test]
fn an_interruption_ends_it_cleanly_while_it_speaks() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let mut server = Server::start(&[]);
        let long = json!({"input": "It goes on, and on, and on. ".repeat(700), "response_format": "wav"})
            .to_string();
        let mut stream = server.send(&server.post(long.as_bytes(), ""));
        stream.read_exact(&mut [0; 12]).unwrap();
        let start = Instant::now();
        // SAFETY: the process is a child that has not been waited for.
        unsafe {
            libc::kill(server.child.id() as libc::pid_t, signal);
        }
        let status = server.child.wait().unwrap();
        assert!(status.success() && start.elapsed() < Duration::from_secs(20), "{status}");
        let mut told = String::new();
        server.child.stderr.as_mut().unwrap().read_to_string(&mut told).unwrap();
        assert_eq!(told, "");
    }
}

/// An event of the Wyoming protocol.
#[derive(Debug)]
struct Event {
    kind: String,
    data: Value,
    payload: Vec<u8>,
}

/// A client of the Wyoming protocol.
struct Client(BufReader<TcpStream>);

impl Client {
    fn new(server: &Server) -> Self {
        let stream = TcpStream::connect(&server.wyoming).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Self(BufReader::new(stream))
    }

    fn send(&mut self, kind: &str, data: &Value) {
        // As the protocol's library writes it, and as older clients do.
        let data_bytes = data.to_string();
        let event = match kind.len() % 2 {
            0 => format!("{}\n{data_bytes}", json!({"type": kind, "data_length": data_bytes.len()})),
            _ => format!("{}\n", json!({"type": kind, "data": data})),
        };
        self.0.get_mut().write_all(event.as_bytes()).unwrap();
    }

    /// Returns the next event; `None` if the server closed the connection.
    fn next(&mut self) -> Option<Event> {
        let mut line = String::new();
        self.0.read_line(&mut line).ok().filter(|&length| length > 0)?;
        let header: Value = serde_json::from_str(&line).unwrap();
        let mut read = |name: &str| {
            let mut bytes = vec![0; header[name].as_u64().unwrap() as usize];
            self.0.read_exact(&mut bytes).unwrap();
            bytes
        };
        let data = serde_json::from_slice(&read("data_length")).unwrap();
        Some(Event { kind: header["type"].as_str().unwrap().into(), data, payload: read("payload_length") })
    }

    /// Reads the sound up to an event.
    fn sound(&mut self, last: &str) -> Vec<u8> {
        let mut sound = Vec::new();
        let mut kinds = Vec::new();
        loop {
            let event = self.next().expect("the sound goes on");
            if event.kind.starts_with("audio-") && event.kind != "audio-stop" {
                assert_eq!(event.data, json!({"rate": RATE_HZ, "width": 2, "channels": 1}));
            }
            sound.extend(event.payload);
            kinds.push(event.kind);
            if kinds.last().unwrap() == last {
                break;
            }
        }
        kinds.dedup();
        let expected = ["audio-start", "audio-chunk", "audio-stop", "synthesize-stopped"];
        assert_eq!(kinds, expected[..kinds.len()], "in this order, once each");
        sound
    }
}

#[test]
fn wyoming_describes_and_speaks() {
    let server = Server::start(&[]);
    let mut client = Client::new(&server);
    client.send("describe", &json!({}));
    let info = client.next().unwrap();
    let program = &info.data["tts"][0];
    assert_eq!((info.kind.as_str(), &program["name"]), ("info", &"ownvoice".into()));
    assert_eq!(program["supports_synthesize_streaming"], true);
    assert_eq!(
        (&program["voices"][0]["name"], &program["voices"][0]["languages"]),
        (&"base".into(), &json!(["en"]))
    );
    client.send("ping", &json!({"text": "a"}));
    let pong = client.next().unwrap();
    assert_eq!((pong.kind.as_str(), &pong.data["text"]), ("pong", &"a".into()));

    // The same sound as over HTTP, also of a second text on the same connection.
    let pcm = server.speak(&json!({"input": TEXT, "response_format": "pcm"})).body;
    for voice in [json!({}), json!({"name": "base"}), json!({"language": "en"})] {
        client.send("synthesize", &json!({"text": TEXT, "voice": voice}));
        assert_eq!(client.sound("audio-stop"), pcm);
    }
    for (data, code) in [
        (json!({"text": TEXT, "voice": {"name": "alloy"}}), "option-invalid"),
        (json!({"text": "<speak/>", "text_format": "ssml"}), "option-invalid"),
        (json!({"text": " "}), "text-empty"),
        (json!({"text": "☃"}), "text-unsupported"),
        (json!({"text": "a ".repeat(10_001)}), "text-too-long"),
        (json!({}), "request-invalid"),
    ] {
        client.send("synthesize", &data);
        let event = client.next().unwrap();
        assert_eq!((event.kind.as_str(), &event.data["code"]), ("error", &code.into()), "{event:?}");
    }
}

/// As Home Assistant sends a text that a language model is writing: in pieces, then the whole for older servers, then the end.
#[test]
fn wyoming_speaks_a_text_while_it_is_written() {
    let server = Server::start(&[]);
    let mut client = Client::new(&server);
    let text = "One comes. Another\nfollows, it seems. \u{2603} Not\u{2603} all.";
    client.send("synthesize-start", &json!({"voice": {"name": "base"}}));
    for at in text.chars() {
        client.send("synthesize-chunk", &json!({"text": at}));
    }
    client.send("synthesize", &json!({"text": text}));
    client.send("synthesize-stop", &json!({}));
    let sound = client.sound("synthesize-stopped");
    let whole = server.speak(&json!({"input": text.replace('\u{2603}', ""), "response_format": "pcm"})).body;
    assert_eq!(sound.len(), whole.len());
    assert_eq!(sound, whole, "the sentences and the pauses between them");

    // The first sentence is spoken before the second ends.
    client.send("synthesize-start", &json!({}));
    client.send("synthesize-chunk", &json!({"text": "One comes. Another"}));
    assert_eq!(client.next().unwrap().kind, "audio-start");
    client.send("synthesize-stop", &json!({}));
    while client.next().unwrap().kind != "synthesize-stopped" {}

    // Nothing to speak.
    client.send("synthesize-start", &json!({}));
    client.send("synthesize-chunk", &json!({"text": " \u{2603} "}));
    client.send("synthesize-stop", &json!({}));
    let kinds: Vec<_> = (0..2).map(|_| client.next().unwrap().kind).collect();
    assert_eq!(kinds, ["error", "synthesize-stopped"]);
}

/// Older clients write a text into the line of its event, and escapes make it six times as long.
#[test]
fn wyoming_reads_a_long_text_in_the_line_of_its_event() {
    let server = Server::start(&[]);
    let mut client = Client::new(&server);
    let text = "\\u00e9".repeat(20_001);
    let event = format!("{{\"type\": \"synthesize\", \"data\": {{\"text\": \"{text}\"}}}}\n");
    client.0.get_mut().write_all(event.as_bytes()).unwrap();
    let answer = client.next().unwrap();
    assert_eq!((answer.kind.as_str(), &answer.data["code"]), ("error", &"text-too-long".into()));
    client.send("ping", &json!({}));
    assert_eq!(client.next().unwrap().kind, "pong", "the connection stays open");
}

#[test]
fn wyoming_closes_what_is_no_event() {
    let server = Server::start(&[]);
    let long = format!("{}\n", json!({"type": "synthesize", "data_length": 1_000_001}));
    let endless = "a".repeat(1 << 20);
    for bytes in [
        "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n{\"type\": \"describe\"}\n",
        "{\"type\": 5}\n",
        &long,
        &endless,
    ] {
        let mut client = Client::new(&server);
        let _ = client.0.get_mut().write_all(bytes.as_bytes());
        // The server may have closed the connection already.
        let _ = client.0.get_mut().shutdown(Shutdown::Write);
        if let Some(event) = client.next() {
            assert_eq!(
                (event.kind.as_str(), &event.data["code"]),
                ("error", &"request-invalid".into()),
                "{event:?}"
            );
        }
        assert!(client.next().is_none(), "{:?}", &bytes[..20.min(bytes.len())]);
    }
    // Clients that go away leave the queue to others: all of their texts would take minutes.
    let start = Instant::now();
    for _ in 0..10 {
        let mut client = Client::new(&server);
        client.send("synthesize", &json!({"text": "It goes on, and on, and on. ".repeat(700)}));
        assert_eq!(client.next().unwrap().kind, "audio-start");
    }
    assert_eq!(server.speak(&json!({"input": "Hello.", "response_format": "pcm"})).status, 200);
    assert!(start.elapsed() < Duration::from_secs(60));
}
