//! Refuses requests that a page of another site may have sent: those with the `Origin` of such a page, and those whose `Host` is another name that resolves to
//! this machine (DNS rebinding), by which a page would count as of the same origin.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{HOST, ORIGIN},
        uri::Authority,
    },
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{Config, is_local, refusal::Refusal};

/// The hosts and the origin that requests may name.
pub struct Guard {
    address: IpAddr,
    /// In lower case.
    names: Vec<String>,
    origin: Option<HeaderValue>,
}

impl Guard {
    /// * `address`: the address at which the server listens
    pub fn new(config: &Config, address: IpAddr) -> Arc<Self> {
        let given = config.allowed_hosts.iter().chain([&config.host]);
        let names = given.map(|name| name.to_lowercase()).chain(["localhost".into()]).collect();
        Arc::new(Self { address, names, origin: config.allowed_origin.clone() })
    }

    fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let refuse = |code, message: String| Err(Refusal::new(StatusCode::FORBIDDEN, code, message));
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        if !self.is_own(host) {
            return refuse(
                "host-refused",
                format!("the host {host:?} is not this server's; --allow-host allows another name"),
            );
        }
        match headers.get(ORIGIN) {
            Some(origin) if Some(origin) != self.origin.as_ref() && *origin != format!("http://{host}") => {
                let message =
                    format!("pages of {origin:?} may not use this server; --allow-origin allows one site");
                refuse("origin-refused", message)
            }
            _ => Ok(()),
        }
    }

    /// Returns whether a host, with or without a port, is this server. Where it listens at all addresses, each passes: only names can be made to resolve to another machine.
    fn is_own(&self, host: &str) -> bool {
        let Some(authority) = host.parse::<Authority>().ok().filter(|_| !host.contains('@')) else {
            return false;
        };
        let name = authority.host().to_lowercase();
        match name.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) => address == self.address || is_local(address) || self.address.is_unspecified(),
            Err(_) => self.names.contains(&name),
        }
    }
}

/// The middleware that refuses what [`Guard`] does not allow.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str, origin: Option<&'static str>) -> Arc<Guard> {
        let config = Config {
            host: "Box.local".into(),
            port: 0,
            wyoming_port: None,
            allowed_hosts: vec!["host.docker.internal".into()],
            allowed_origin: origin.map(HeaderValue::from_static),
        };
        Guard::new(&config, address.parse().unwrap())
    }

    fn code(guard: &Guard, headers: &[(&'static str, &str)]) -> &'static str {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        guard.check(&headers.collect()).map_or_else(|refusal| refusal.code, |()| "ok")
    }

    #[test]
    fn only_names_and_addresses_of_the_server_are_hosts() {
        let (local, open) = (guard("127.0.0.1", None), guard("0.0.0.0", None));
        for host in [
            "localhost",
            "LOCALHOST:8880",
            "127.0.0.1:8880",
            "127.0.0.1",
            "[::1]:1",
            "box.local",
            "host.docker.internal:8880",
        ] {
            assert_eq!([&local, &open].map(|guard| code(guard, &[("host", host)])), ["ok"; 2], "{host}");
        }
        for host in [
            "",
            "example.org",
            "localhost.example.org",
            "127.0.0.1.example.org:8880",
            "evil@localhost:99999",
            "[::1",
            "a b",
        ] {
            assert_eq!(
                [&local, &open].map(|guard| code(guard, &[("host", host)])),
                ["host-refused"; 2],
                "{host}"
            );
        }
        assert_eq!(code(&local, &[]), "host-refused");
        assert_eq!(code(&local, &[("host", "192.168.1.7:8880")]), "host-refused");
        assert_eq!(code(&open, &[("host", "192.168.1.7:8880")]), "ok");
        assert_eq!(code(&guard("192.168.1.7", None), &[("host", "192.168.1.7:8880")]), "ok");
    }

    #[test]
    fn only_the_own_and_the_allowed_origin_pass() {
        let (none, one) = (guard("127.0.0.1", None), guard("127.0.0.1", Some("https://app.example")));
        let of = |guard, origin| code(guard, &[("host", "localhost:8880"), ("origin", origin)]);
        assert_eq!(of(&none, "http://localhost:8880"), "ok");
        for origin in [
            "null",
            "https://app.example",
            "http://localhost",
            "http://localhost:3000",
            "http://127.0.0.1:8880",
            "https://localhost:8880",
        ] {
            assert_eq!(of(&none, origin), "origin-refused", "{origin}");
        }
        assert_eq!(of(&one, "https://app.example"), "ok");
        assert_eq!(of(&one, "http://app.example"), "origin-refused");
    }
}
