//! The [Wyoming protocol](https://github.com/OHF-Voice/wyoming), by which Home Assistant speaks: `describe`, `synthesize`, and the synthesis of a text that is
//! still being written.
//!
//! An event is a line of JSON with its type, followed by as many bytes of JSON data and of payload as the line says.

use std::{io, time::Duration};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
    task::JoinHandle,
};

use super::{
    http::MAX_BODY,
    queue::{Queue, RATE_HZ, Text, Turn},
    refusal::Refusal,
};
use ownvoice::{
    Error, ErrorKind,
    synth::{SpeakOptions, speak::MAX_CHARACTERS},
    text::sentences,
};

/// The most events that are read ahead while a text is spoken.
const READ_AHEAD: usize = 16;
/// The length of the payload of an `audio-chunk`: 85 ms.
const CHUNK_BYTES: usize = 4096;
/// The silence between two sentences of a text that is still being written: 150 ms of 16-bit samples.
const PAUSE_BYTES: usize = 2 * RATE_HZ as usize * 3 / 20;

/// Serves connections until the runtime ends.
pub async fn serve(listener: TcpListener, queue: Queue) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(converse(stream, queue.clone()));
            }
            // There are too many open files, of which some may be closed later.
            Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
        }
    }
}

/// An event of a client. Its payload is not used by speech.
struct Event {
    kind: String,
    data: Map<String, Value>,
}

/// The line of an event.
#[derive(Deserialize)]
struct Header {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    data: Map<String, Value>,
    data_length: Option<usize>,
    payload_length: Option<usize>,
}

/// Reads an event; `None` at the end of the connection.
async fn read_event(input: &mut BufReader<OwnedReadHalf>) -> io::Result<Option<Event>> {
    let mut line = Vec::new();
    // Older clients write the data into the line, and a text of the longest that is spoken may be written in escapes.
    if (&mut *input).take(MAX_BODY as u64).read_until(b'\n', &mut line).await? == 0 {
        return Ok(None);
    }
    let Header { kind, mut data, data_length, payload_length } = serde_json::from_slice(&line)?;
    let lengths = [data_length, payload_length].map(Option::unwrap_or_default);
    if lengths.iter().any(|&length| length > MAX_BODY) {
        return Err(io::Error::other(format!("an event is longer than {MAX_BODY} bytes")));
    }
    let [mut more, mut payload] = lengths.map(|length| vec![0; length]);
    input.read_exact(&mut more).await?;
    input.read_exact(&mut payload).await?;
    if !more.is_empty() {
        data.extend(serde_json::from_slice::<Map<_, _>>(&more)?);
    }
    Ok(Some(Event { kind, data }))
}

/// Why an event has no result.
enum Failure {
    /// The client closed the connection.
    Gone,
    Refused(Refusal),
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error.into())
    }
}

/// Answers the events of a client, one after the other.
async fn converse(stream: TcpStream, queue: Queue) {
    let (input, output) = stream.into_split();
    let (sender, mut events) = mpsc::channel(READ_AHEAD);
    // Reads while a text is spoken, so that the end of the connection is noticed at once.
    let reader = tokio::spawn(async move {
        let mut input = BufReader::new(input);
        while let Some(event) = read_event(&mut input).await.transpose() {
            let is_last = event.is_err();
            if sender.send(event).await.is_err() || is_last {
                return;
            }
        }
    });
    let mut connection = Connection { output, reader, queue, writing: None };
    while let Some(event) = events.recv().await {
        // After what is no event nothing can be understood, such as the request of a web page.
        let is_event = event.is_ok();
        let answered = match event {
            Ok(event) => connection.answer(event).await,
            Err(error) => {
                Err(Refusal::invalid(format!("this is no event of the Wyoming protocol: {error}")).into())
            }
        };
        if connection.report(answered).await.is_err() || !is_event {
            break;
        }
    }
    connection.reader.abort();
}

/// A connection of a client.
struct Connection {
    output: OwnedWriteHalf,
    /// Ends when the client closes the connection.
    reader: JoinHandle<()>,
    queue: Queue,
    /// The text that is being written, between `synthesize-start` and `synthesize-stop`.
    writing: Option<Utterance>,
}

/// A text that is spoken.
struct Utterance {
    turn: Turn,
    voice: usize,
    /// The end of the text, which may still be in the middle of a sentence.
    rest: String,
    /// Whether there was sound.
    is_heard: bool,
}

impl Connection {
    async fn answer(&mut self, Event { kind, data }: Event) -> Result<(), Failure> {
        match kind.as_str() {
            "describe" => self.send("info", self.info(), &[]).await?,
            "ping" => self.send("pong", Value::Object(data), &[]).await?,
            // While a text is being written, clients send it a second time as a whole, for servers that know only that.
            "synthesize" if self.writing.is_none() => {
                let mut utterance = self.start(&data)?;
                let spoken = self.speak(&mut utterance, text_of(&data)?.to_owned()).await;
                self.end(&utterance, spoken).await?;
            }
            "synthesize-start" => self.writing = Some(self.start(&data)?),
            "synthesize-chunk" => {
                if let Some(mut utterance) = self.writing.take() {
                    match self.write(&mut utterance, &data).await {
                        Ok(()) => self.writing = Some(utterance),
                        failed => self.end(&utterance, failed).await?,
                    }
                }
            }
            "synthesize-stop" => {
                if let Some(mut utterance) = self.writing.take() {
                    let rest = std::mem::take(&mut utterance.rest);
                    let spoken = self.speak(&mut utterance, rest).await;
                    let spoken = if utterance.is_heard { ignore_unspoken(spoken) } else { spoken };
                    let ended = self.end(&utterance, spoken).await;
                    self.report(ended).await?;
                }
                self.send("synthesize-stopped", json!({}), &[]).await?;
            }
            _ => {} // Other services of the protocol.
        }
        Ok(())
    }

    /// Sends an error, if there is one. Fails only if the client is gone.
    async fn report(&mut self, answered: Result<(), Failure>) -> Result<(), Failure> {
        match answered {
            Err(Failure::Refused(Refusal { message, code, .. })) => {
                Ok(self.send("error", json!({"text": message, "code": code}), &[]).await?)
            }
            other => other,
        }
    }

    /// Takes a turn for an utterance, with the voice that is named.
    fn start(&self, data: &Map<String, Value>) -> Result<Utterance, Refusal> {
        if data.get("text_format").and_then(Value::as_str).is_some_and(|format| format != "text") {
            return Err(Refusal::field("text_format", "only plain text is spoken, no markup"));
        }
        let name = data.get("voice").and_then(|voice| voice["name"].as_str());
        let (voice, _) = self.queue.voice(name)?;
        Ok(Utterance { turn: self.queue.enter()?, voice, rest: String::new(), is_heard: false })
    }

    /// Continues a text that is being written: speaks its sentences but the last, which may go on.
    async fn write(&mut self, utterance: &mut Utterance, data: &Map<String, Value>) -> Result<(), Failure> {
        utterance.rest += text_of(data)?;
        let mut complete = sentences(&utterance.rest);
        let Some(last) = complete.pop().filter(|_| !complete.is_empty()) else {
            let characters = utterance.rest.chars().count();
            return match characters > MAX_CHARACTERS {
                true => Err(Error::text_too_long(characters, MAX_CHARACTERS).into()),
                false => Ok(()),
            };
        };
        let blank = utterance.rest.len() - utterance.rest.trim_end().len();
        let end = utterance.rest.split_off(utterance.rest.len() - blank);
        utterance.rest = last + &end;
        for sentence in complete {
            ignore_unspoken(self.speak(utterance, sentence).await)?;
        }
        Ok(())
    }

    /// Speaks a text and sends its sound.
    async fn speak(&mut self, utterance: &mut Utterance, text: String) -> Result<(), Failure> {
        let options = SpeakOptions::default();
        let text = Text { text, voice: utterance.voice, options, is_cut: !utterance.is_heard };
        let mut sound = utterance.turn.speak(text);
        let mut pause = utterance.is_heard;
        loop {
            let sentence = tokio::select! {
                sentence = sound.recv() => sentence,
                _ = &mut self.reader => return Err(Failure::Gone),
            };
            let Some(sentence) = sentence.transpose()? else { return Ok(()) };
            if !std::mem::replace(&mut utterance.is_heard, true) {
                self.send("audio-start", audio_format(), &[]).await?;
            }
            if std::mem::take(&mut pause) {
                self.send("audio-chunk", audio_format(), &[0; PAUSE_BYTES]).await?;
            }
            for chunk in sentence.chunks(CHUNK_BYTES) {
                self.send("audio-chunk", audio_format(), chunk).await?;
            }
        }
    }

    /// Ends the sound of an utterance, if it has begun, also after an error.
    async fn end(&mut self, utterance: &Utterance, spoken: Result<(), Failure>) -> Result<(), Failure> {
        if utterance.is_heard && !matches!(spoken, Err(Failure::Gone)) {
            self.send("audio-stop", json!({}), &[]).await?;
        }
        spoken
    }

    async fn send(&mut self, kind: &str, data: Value, payload: &[u8]) -> io::Result<()> {
        let data = data.to_string();
        let header =
            json!({"type": kind, "data_length": data.len(), "payload_length": payload.len()}).to_string();
        let event = [header.as_bytes(), b"\n", data.as_bytes(), payload].concat();
        self.output.write_all(&event).await
    }

    /// Describes the service.
    fn info(&self) -> Value {
        let named = |name: &str, description: &str| {
            json!({
                "name": name,
                "description": description,
                "attribution": {"name": "ownvoice", "url": "https://docs.rs/ownvoice-cli"},
                "installed": true,
                "version": env!("CARGO_PKG_VERSION"),
            })
        };
        let voice = |name: &str| {
            let mut voice = named(name, name);
            voice["languages"] = json!(["en"]);
            voice
        };
        let mut program = named("ownvoice", "Cloned voices");
        program["voices"] = self.queue.names().map(voice).collect();
        program["supports_synthesize_streaming"] = true.into();
        json!({"tts": [program]})
    }
}

/// Returns the text of an event.
fn text_of(data: &Map<String, Value>) -> Result<&str, Refusal> {
    data.get("text").and_then(Value::as_str).ok_or_else(|| Refusal::invalid("the event has no text"))
}

fn audio_format() -> Value {
    json!({"rate": RATE_HZ, "width": 2, "channels": 1})
}

/// Ignores that a sentence holds nothing that can be spoken, since others of its text do.
fn ignore_unspoken(spoken: Result<(), Failure>) -> Result<(), Failure> {
    let unspoken = [ErrorKind::TextEmpty, ErrorKind::TextUnsupported].map(ErrorKind::code);
    match spoken {
        Err(Failure::Refused(refusal)) if unspoken.contains(&refusal.code) => Ok(()),
        spoken => spoken,
    }
}
