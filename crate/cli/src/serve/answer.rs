//! What passes between the synthesis and the answer to a request over HTTP: the sound of sentences, and the stream of bytes that it becomes.

use axum::body::{Body, Bytes};
use base64::{Engine, prelude::BASE64_STANDARD};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, Sender, UnboundedReceiver};

use super::{
    queue::{Text, Turn},
    refusal::Refusal,
};
use ownvoice::{Error, Result};

/// The sound of a request, of which the first sentence has been made.
pub struct Sound {
    first: Option<Vec<u8>>,
    rest: UnboundedReceiver<Result<Vec<u8>>>,
    _turn: Turn,
}

impl Sound {
    /// Waits for the first sentence, so that a text that cannot be spoken is refused before the answer begins.
    pub async fn begin(turn: Turn, text: Text) -> Result<Self, Refusal> {
        let mut rest = turn.speak(text);
        let first = rest.recv().await.ok_or_else(Error::cancelled)??;
        Ok(Self { first: Some(first), rest, _turn: turn })
    }

    /// Returns the next sentence as PCM; `None` at the end.
    pub async fn next(&mut self) -> Option<Result<Vec<u8>>> {
        match self.first.take() {
            Some(first) => Some(Ok(first)),
            None => self.rest.recv().await,
        }
    }
}

/// Where the bytes of an answer go: as they are, or as server-sent events.
pub struct Output {
    chunks: Sender<Result<Bytes>>,
    is_events: bool,
}

impl Output {
    /// Returns an output, and the body that receives it.
    pub fn new(is_events: bool) -> (Self, Body) {
        let (chunks, mut received) = mpsc::channel(1);
        let body = Body::from_stream(stream::poll_fn(move |context| received.poll_recv(context)));
        (Self { chunks, is_events }, body)
    }

    /// Sends bytes. Fails with `cancelled` if the client is gone.
    pub async fn send(&self, bytes: Vec<u8>) -> Result<()> {
        match self.is_events {
            true => {
                let audio = BASE64_STANDARD.encode(bytes);
                self.send_event(json!({"type": "speech.audio.delta", "audio": audio})).await
            }
            false => self.send_chunk(Ok(bytes.into())).await,
        }
    }

    async fn send_event(&self, event: Value) -> Result<()> {
        self.send_chunk(Ok(format!("data: {event}\n\n").into())).await
    }

    async fn send_chunk(&self, chunk: Result<Bytes>) -> Result<()> {
        self.chunks.send(chunk).await.map_err(|_| Error::cancelled())
    }

    /// Waits until the client is gone.
    pub async fn closed(&self) {
        self.chunks.closed().await;
    }

    /// Ends the answer. An error ends it early: as an event, or else by closing the connection, which clients report.
    pub async fn end(self, result: Result<()>) {
        let _ = match (result, self.is_events) {
            // Characters, not tokens, are spoken here.
            (Ok(()), true) => {
                let usage = json!({"input_tokens": 0, "output_tokens": 0, "total_tokens": 0});
                self.send_event(json!({"type": "speech.audio.done", "usage": usage})).await
            }
            (Err(error), true) => self.send_event(Refusal::from(error).json()).await,
            (Err(error), false) => self.send_chunk(Err(error)).await,
            (Ok(()), false) => Ok(()),
        };
    }
}
