//! A server that is reached by HTTP: the protocol's "streamable HTTP".

use super::definition::Address;
use super::fault::Fault;
use crate::provider::endpoint::is_loopback;
use crate::provider::http;
use crate::text::cause;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Url};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig, StreamableHttpError,
};
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::time::Duration;
use url::Host;

type Transport = StreamableHttpClientTransport<Client>;
type Failure = StreamableHttpError<reqwest::Error>;

/// The longest answer and the longest event of a server, in bytes.
const LONGEST: usize = 16 << 20;
/// How much of an answer that is no message is kept.
const TAIL: usize = 4_000;

/// The way to a server, within this time to connect. The error is the end of a sentence about the server.
pub(super) fn transport(
    name: &str,
    address: &Address,
    within: Duration,
) -> Result<Transport, String> {
    let url = checked(name, &address.url)?;
    let mut headers = HashMap::new();
    for (key, value) in &address.headers {
        headers.insert(header_name(name, key)?, header_value(name, key, value)?);
    }
    let client = client(&url, within).map_err(|why| format!("cannot be reached: {why}"))?;
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(LONGEST)
        .max_json_response_size(LONGEST)
        .max_error_response_size(TAIL);
    Ok(Transport::with_client(client, config))
}

/// The address, if messages may go there.
fn checked(name: &str, text: &str) -> Result<Url, String> {
    let unusable = |why: &str| format!("is not reached: mcp.{name}.url {why}");
    let url = Url::parse(text).ok().filter(|it| matches!(it.scheme(), "http" | "https"));
    let url = url.ok_or_else(|| unusable("is no address that begins with https:// or http://"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(unusable("has a user name or a password: name them in `headers`"));
    }
    let is_of_this_link = match url.host() {
        Some(Host::Ipv4(it)) => it.is_link_local(),
        Some(Host::Ipv6(it)) => {
            it.is_unicast_link_local() || it.to_ipv4_mapped().is_some_and(|it| it.is_link_local())
        }
        _ => false,
    };
    // such addresses give the secrets of a machine in a cloud
    if is_of_this_link { Err(unusable("is an address of this machine's link")) } else { Ok(url) }
}

fn header_name(name: &str, key: &str) -> Result<HeaderName, String> {
    HeaderName::try_from(key)
        .map_err(|_| format!("is not reached: mcp.{name}.headers.{key:?} is no name of a header"))
}

fn header_value(name: &str, key: &str, value: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(value.trim()).map_err(|_| {
        format!("is not reached: mcp.{name}.headers.{key} has characters that a header cannot have")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn client(url: &Url, within: Duration) -> Result<Client, String> {
    let tls = http::tls(url.scheme() == "https").map_err(|error| cause(&error))?;
    let builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .connect_timeout(within)
        .redirect(Policy::custom(|to: Attempt<'_>| {
            let address = to.url().to_string();
            to.error(Elsewhere(address))
        }))
        .referer(false)
        .user_agent(concat!("caliban/", env!("CARGO_PKG_VERSION")));
    let builder = if is_loopback(url) { builder.no_proxy() } else { builder };
    builder.build().map_err(|error| http::reason(&error))
}

/// The address to which a server has redirected a request. It is not followed: what the user's headers hold would go
/// there too.
#[derive(Debug)]
struct Elsewhere(String);

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Elsewhere {}

/// Why a message did not reach the server or got no answer; `None` if the error is none of HTTP.
pub(super) fn fault(name: &str, error: &(dyn Error + Send + Sync + 'static)) -> Option<Fault> {
    Some(match error.downcast_ref::<Failure>()? {
        Failure::Client(error) => unreached(name, error),
        Failure::AuthRequired(_) => refused(name, 401),
        Failure::InsufficientScope(_) => refused(name, 403),
        Failure::HttpStatus(it) => status(name, it.status),
        Failure::UnexpectedContentType(kind) => {
            let kind = kind.clone().unwrap_or_else(|| "no type".to_owned());
            Fault::new("sent an answer that is none: the type of its content is no JSON")
                .saying(kind)
        }
        Failure::ResponseBodyTooLarge { max_size } => {
            Fault::new(format!("sent an answer of more than {} MB", max_size >> 20))
        }
        // the library has no other field for the status of an answer that is no message
        Failure::UnexpectedServerResponse(said) => match coded(said) {
            Some((code, body)) => status(name, code).saying(body),
            None => Fault::new("sent an answer that is none").saying(said.clone()),
        },
        Failure::SessionExpired | Failure::SessionRecoveryTimeout => {
            Fault::new("has ended the session")
        }
        Failure::ReinitializationFailed(error) => {
            Fault::new("has ended the session and begins no other").saying(error.message.clone())
        }
        Failure::TransportChannelClosed | Failure::UnexpectedEndOfStream => {
            Fault::new("has closed the connection")
        }
        other => Fault::new("sent an answer that is none").saying(other.to_string()),
    })
}

/// The status and the body in the library's words `HTTP 403 Forbidden: body`.
fn coded(said: &str) -> Option<(u16, &str)> {
    let (head, body) = said.strip_prefix("HTTP ")?.split_once(':')?;
    Some((head.split(' ').next()?.parse().ok()?, body.trim()))
}

fn unreached(name: &str, error: &reqwest::Error) -> Fault {
    if let Some(it) = error.status() {
        return status(name, it.as_u16());
    }
    let mut causes = std::iter::successors(error.source(), |&cause| cause.source());
    match causes.find_map(|it| it.downcast_ref::<Elsewhere>()) {
        Some(Elsewhere(to)) => {
            let why = format!(
                "redirects to another address, which is not followed: write it into mcp.{name}.url if you trust it"
            );
            Fault::new(why).saying(to)
        }
        None => Fault::new(format!("cannot be reached: {}", http::reason(error))),
    }
}

fn status(name: &str, code: u16) -> Fault {
    match code {
        401 | 403 => refused(name, code),
        404 => Fault::new(format!("is not at this address (404): look at mcp.{name}.url")),
        429 => Fault::new("has had too many requests (429): try again later"),
        _ => Fault::new(format!("answered with the status {code}")),
    }
}

fn refused(name: &str, code: u16) -> Fault {
    Fault::new(if code == 401 {
        format!(
            "wants to know who asks (401): give mcp.{name}.headers an `Authorization`, such as 'Bearer ${{TOKEN}}'"
        )
    } else {
        format!("refuses (403): what mcp.{name}.headers give has too few rights")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_only_to_addresses_of_http_beyond_the_link() {
        for (text, expect) in [
            ("https://mcp.example.org/a?b=c", ""),
            ("http://127.0.0.1:8000/mcp", ""),
            ("http://[::1]/", ""),
            ("http://10.0.0.1/", ""),
            ("file:///etc/passwd", "is no address that begins with https:// or http://"),
            ("mcp.example.org", "is no address that begins with https:// or http://"),
            ("", "is no address that begins with https:// or http://"),
            (
                "https://me:secret@example.org",
                "has a user name or a password: name them in `headers`",
            ),
            ("http://169.254.169.254/latest", "is an address of this machine's link"),
            ("http://2852039166/", "is an address of this machine's link"),
            ("http://[::ffff:169.254.169.254]/", "is an address of this machine's link"),
            ("http://[fe80::1]/", "is an address of this machine's link"),
        ] {
            let said = checked("x", text).map(|_| String::new());
            let end = if expect.is_empty() {
                String::new()
            } else {
                format!("is not reached: mcp.x.url {expect}")
            };
            assert_eq!(said.unwrap_or_else(|why| why), end, "{text}");
        }
    }
}
