//! Errors of requests, in the shape that OpenAI's clients read: `{"error": {"message", "type", "param", "code"}}`.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header::RETRY_AFTER},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use ownvoice::{Error, ErrorKind};

/// The seconds after which a client may try again when the queue is full: the time that a sentence or two take.
const RETRY_SECONDS: u16 = 2;

/// Why a request is refused, or failed.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    /// A stable name for programs.
    pub code: &'static str,
    pub message: String,
    /// The field of the request that is at fault.
    param: Option<&'static str>,
}

impl Refusal {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), param: None }
    }

    /// A request that cannot be understood.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "request-invalid", message)
    }

    /// A field whose value is not supported.
    pub fn field(param: &'static str, message: impl Into<String>) -> Self {
        let code = ErrorKind::OptionInvalid.code();
        Self { param: Some(param), ..Self::new(StatusCode::BAD_REQUEST, code, message) }
    }

    pub fn busy() -> Self {
        let message = "as many requests as fit are waiting; try again later";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
    }

    /// Returns the error as clients read it.
    pub fn json(&self) -> Value {
        let kind = if self.status.is_server_error() { "server_error" } else { "invalid_request_error" };
        let Self { message, param, code, .. } = self;
        json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
    }
}

impl From<Error> for Refusal {
    /// Converts an error of the synthesis, whose only options are the text and the speed.
    fn from(error: Error) -> Self {
        let param = match error.kind() {
            ErrorKind::TextEmpty | ErrorKind::TextTooLong | ErrorKind::TextUnsupported => Some("input"),
            ErrorKind::OptionInvalid => Some("speed"),
            _ => None,
        };
        let status =
            if param.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::INTERNAL_SERVER_ERROR };
        Self { param, ..Self::new(status, error.code(), error.to_string()) }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.json())).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(RETRY_SECONDS));
        }
        response
    }
}
