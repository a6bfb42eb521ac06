//! The routes: OpenAI's `POST /v1/audio/speech` and `GET /v1/models`, and `GET /v1/audio/voices`, which clients of local servers ask for.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Path, State, rejection::BytesRejection},
    http::{HeaderValue, Method, StatusCode, header::CONTENT_TYPE},
    middleware,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tower_http::cors::{AllowHeaders, CorsLayer};

use super::{
    answer::{Output, Sound},
    encode::{Format, answer},
    guard::{self, Guard},
    queue::{Queue, Text},
    refusal::Refusal,
};
use ownvoice::synth::SpeakOptions;

/// The longest body of a request, in bytes.
pub const MAX_BODY: usize = 1_000_000;
/// The name of the one model.
const MODEL: &str = "ownvoice";

struct Server {
    queue: Queue,
    /// The formats that can be encoded.
    formats: Vec<Format>,
}

/// Returns the routes.
///
/// * `origin`: the site that gets CORS headers
pub fn router(queue: Queue, guard: Arc<Guard>, formats: Vec<Format>, origin: Option<HeaderValue>) -> Router {
    let mut router = Router::new()
        .route("/v1/audio/speech", post(speech))
        .route("/v1/audio/voices", get(voices))
        .route("/v1/models", get(models))
        .route("/v1/models/{id}", get(model))
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, "not-found", "there is no such route"))
        .method_not_allowed_fallback(async || {
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "the route has no such method")
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(Arc::new(Server { queue, formats }));
    if let Some(origin) = origin {
        let methods = [Method::GET, Method::POST];
        let headers = AllowHeaders::mirror_request();
        router =
            router.layer(CorsLayer::new().allow_origin(origin).allow_methods(methods).allow_headers(headers));
    }
    router.layer(middleware::from_fn_with_state(guard, guard::check))
}

/// A request for speech. There is one model, and no instructions are followed, so that these fields are not read.
#[derive(Deserialize)]
struct SpeechRequest {
    input: String,
    voice: Option<VoiceName>,
    response_format: Option<String>,
    speed: Option<f32>,
    stream_format: Option<String>,
}

/// A voice, as a name or, as newer clients write it, as an object.
#[derive(Deserialize)]
#[serde(untagged)]
enum VoiceName {
    Name(String),
    Id { id: String },
}

async fn speech(
    State(server): State<Arc<Server>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let request = parsed(body)?;
    let is_events = match request.stream_format.as_deref() {
        None | Some("audio") => false,
        Some("sse") => true,
        Some(other) => {
            let message = format!("there is no stream_format {other:?}, only audio and sse");
            return Err(Refusal::field("stream_format", message));
        }
    };
    let format = server.format(request.response_format.as_deref().unwrap_or(Format::Mp3.name()))?;
    let name =
        request.voice.as_ref().map(|(VoiceName::Name(name) | VoiceName::Id { id: name })| name.as_str());
    let (voice, id) = server.queue.voice(name)?;
    let id = id.to_owned();

    let default = SpeakOptions::default();
    let options = SpeakOptions { speed: request.speed.unwrap_or(default.speed), ..default };
    let text = Text { text: request.input, voice, options, is_cut: true };
    let sound = Sound::begin(server.queue.enter()?, text).await?;
    let (output, body) = Output::new(is_events);
    tokio::spawn(async move { answer(format, &id, sound, output).await });
    let media_type = if is_events { "text/event-stream" } else { format.media_type() };
    Ok(([(CONTENT_TYPE, media_type)], body).into_response())
}

/// Parses the body of a request for speech.
fn parsed(body: Result<Bytes, BytesRejection>) -> Result<SpeechRequest, Refusal> {
    let body = body.map_err(|rejection| match rejection.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => {
            let message = format!("the body is longer than {MAX_BODY} bytes");
            Refusal::new(status, "body-too-large", message)
        }
        status => Refusal::new(status, "request-invalid", rejection.body_text()),
    })?;
    serde_json::from_slice(&body).map_err(|error| {
        Refusal::invalid(format!("the body is not the JSON of a request for speech: {error}"))
    })
}

impl Server {
    fn format(&self, name: &str) -> Result<Format, Refusal> {
        self.formats.iter().copied().find(|format| format.name() == name).ok_or_else(|| {
            let names: Vec<_> = self.formats.iter().map(|format| format.name()).collect();
            let hint = if names.len() < Format::ALL.len() {
                "; ffmpeg on the server's PATH adds others"
            } else {
                ""
            };
            let message =
                format!("the format {name:?} is not available; available are: {}{hint}", names.join(", "));
            Refusal::field("response_format", message)
        })
    }
}

async fn voices(State(server): State<Arc<Server>>) -> Json<Value> {
    let voices: Vec<_> = server.queue.names().map(|name| json!({"id": name, "name": name})).collect();
    Json(json!({"voices": voices}))
}

async fn models() -> Json<Value> {
    Json(json!({"object": "list", "data": [described()]}))
}

async fn model(Path(id): Path<String>) -> Result<Json<Value>, Refusal> {
    if id == MODEL {
        return Ok(Json(described()));
    }
    let message = format!("there is no model {id:?}, only {MODEL}");
    Err(Refusal::new(StatusCode::NOT_FOUND, "not-found", message))
}

/// Describes the model. Clients expect a time at which it was made.
fn described() -> Value {
    json!({"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL})
}
