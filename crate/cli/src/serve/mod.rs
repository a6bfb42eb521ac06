//! A speech server: OpenAI's speech route over HTTP (`http.rs`), and the Wyoming protocol of Home Assistant (`wyoming.rs`).
//!
//! One thread synthesises, in the order of the requests (`queue.rs`); the connections are tasks of an asynchronous runtime on other threads, and receive
//! the sound of each sentence as soon as it is made.

mod answer;
mod encode;
mod ffmpeg;
mod guard;
mod http;
mod queue;
mod refusal;
mod wyoming;

use std::{
    net::{IpAddr, SocketAddr},
    thread,
};

use axum::http::HeaderValue;
use tokio::{net::TcpListener, runtime::Runtime};

use ownvoice::{Error, Result, voice::Voice};

/// The settings of a server.
pub struct Config {
    /// The name or address to listen at.
    pub host: String,
    pub port: u16,
    /// The port of the Wyoming protocol, if it is served.
    pub wyoming_port: Option<u16>,
    /// Names besides those of this machine by which requests may address the server.
    pub allowed_hosts: Vec<String>,
    /// The origin of the one site whose pages may send requests.
    pub allowed_origin: Option<HeaderValue>,
}

/// A voice that is served.
pub struct ServedVoice {
    /// The name by which requests choose it.
    pub name: String,
    /// What marks its speech, see [`Voice::id`].
    pub id: String,
    pub voice: Voice,
}

/// The addresses at which a server listens.
pub struct Addresses {
    pub http: SocketAddr,
    pub wyoming: Option<SocketAddr>,
}

/// Serves voices until the process is interrupted. The calling thread synthesises.
///
/// * `voices`: at least one; requests that name none get the first
/// * `listening`: is called once the server answers
///
/// # Errors
/// Fails with `io` if an address cannot be listened at.
pub fn serve(voices: Vec<ServedVoice>, config: &Config, listening: impl FnOnce(&Addresses)) -> Result<()> {
    let runtime = Runtime::new().map_err(Error::io("the runtime"))?;
    let (http, wyoming) = runtime.block_on(async {
        let http = bind(&config.host, config.port).await?;
        let wyoming = match config.wyoming_port {
            Some(port) => Some(bind(&config.host, port).await?),
            None => None,
        };
        Ok::<_, Error>((http, wyoming))
    })?;
    let address = |listener: &TcpListener| listener.local_addr().map_err(Error::io(&config.host));
    let addresses = Addresses { http: address(&http)?, wyoming: wyoming.as_ref().map(address).transpose()? };

    let (queue, jobs) = queue::open(&voices);
    let guard = guard::Guard::new(config, addresses.http.ip());
    let (formats, origin) = (runtime.block_on(encode::Format::available()), config.allowed_origin.clone());
    let router = http::router(queue.clone(), guard, formats, origin);
    thread::scope(|scope| {
        scope.spawn(move || {
            runtime.block_on(async {
                if let Some(listener) = wyoming {
                    tokio::spawn(wyoming::serve(listener, queue));
                }
                tokio::select! {
                    _ = axum::serve(http, router) => {}
                    () = interrupted() => {}
                }
            });
            // The end of the runtime closes all connections and with them the queue, so that the thread that synthesises ends after its sentence.
            drop(runtime);
        });
        listening(&addresses);
        queue::work(&voices, jobs);
    });
    Ok(())
}

/// Listens at a port of a host.
async fn bind(host: &str, port: u16) -> Result<TcpListener> {
    TcpListener::bind((host, port)).await.map_err(Error::io(format!("{host}:{port}")))
}

/// Returns whether only programs of this machine reach an address.
pub fn is_local(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Waits for ctrl+C, or for the signal by which service managers end a program.
async fn interrupted() {
    #[cfg(unix)]
    let terminated = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signals) => signals.recv().await,
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<Option<()>>();
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated => {}
    }
}
