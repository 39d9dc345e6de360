//! The head of a request to the proxy: `CONNECT host:port`, or a whole address of `http`. Anything that two programs
//! could read differently is refused.

use std::fmt::Write as _;
use url::{Host, Url};

/// The most bytes of a head, with the part of the body that comes with it.
pub(super) const MOST: usize = 32_768;
/// The most header lines.
const LINES: usize = 100;

/// What a command asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) host: Host,
    pub(super) port: u16,
    /// The bytes that the server gets first: for a request, its new head and the part of its body that has arrived.
    pub(super) bytes: Vec<u8>,
    pub(super) way: Way,
    /// The value of the header `Proxy-Authorization`.
    pub(super) pass: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Way {
    Tunnel,
    /// One request. `body` is the number of bytes of its body that have not arrived yet.
    Request {
        body: u64,
    },
}

/// Why a request is not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Malformed,
    Large,
    /// The head does not say how many bytes the body has.
    NoLength,
    Slow,
    Gone,
}

impl Fault {
    pub(super) fn status(self) -> &'static str {
        match self {
            Fault::Malformed | Fault::Gone => "400 Bad Request",
            Fault::Large => "431 Request Header Fields Too Large",
            Fault::NoLength => "411 Length Required",
            Fault::Slow => "408 Request Timeout",
        }
    }

    pub(super) fn said(self) -> &'static str {
        match self {
            Fault::Malformed | Fault::Gone => {
                "This proxy accepts CONNECT with a host and a port, and requests with a full http:// address."
            }
            Fault::Large => "The head of the request is too large.",
            Fault::NoLength => "The body of the request needs a Content-Length.",
            Fault::Slow => "The request did not arrive in time.",
        }
    }
}

impl Asked {
    /// The host and the port.
    pub(super) fn named(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

/// Reads a head. `None` if a part of the head has not arrived yet.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<Asked>, Fault> {
    let mut lines = [httparse::EMPTY_HEADER; LINES];
    let mut request = httparse::Request::new(&mut lines);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Fault::Large),
        Err(_) => return Err(Fault::Malformed),
    };
    let (Some(method), Some(target)) = (request.method, request.path) else {
        return Err(Fault::Malformed);
    };
    let rest = &bytes[length..];
    if method == "CONNECT" {
        return tunnel(target, request.headers, rest).map(Some);
    }
    plain(method, target, request.headers, rest).map(Some)
}

fn tunnel(target: &str, headers: &[httparse::Header<'_>], rest: &[u8]) -> Result<Asked, Fault> {
    let (host, port) = target.rsplit_once(':').ok_or(Fault::Malformed)?;
    let is_number = !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit());
    let port = port.parse().ok().filter(|it| is_number && *it > 0).ok_or(Fault::Malformed)?;
    if body(headers)? > 0 {
        return Err(Fault::Malformed);
    }
    let (bytes, way, pass) = (rest.to_vec(), Way::Tunnel, pass(headers));
    Ok(Asked { host: known(host)?, port, bytes, way, pass })
}

/// The host in the form that the rules and the resolver get.
fn known(written: &str) -> Result<Host, Fault> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    if !written.chars().all(is_plain) {
        return Err(Fault::Malformed);
    }
    match Host::parse(written).map_err(|_| Fault::Malformed)? {
        Host::Domain(name) => match name.strip_suffix('.').unwrap_or(&name) {
            name if name.split('.').any(str::is_empty) => Err(Fault::Malformed),
            name => Ok(Host::Domain(name.to_owned())),
        },
        host => Ok(host),
    }
}

fn plain(
    method: &str,
    target: &str,
    headers: &[httparse::Header<'_>],
    rest: &[u8],
) -> Result<Asked, Fault> {
    let url = Url::parse(target).map_err(|_| Fault::Malformed)?;
    let is_bare = url.username().is_empty() && url.password().is_none();
    let host = url.host_str().filter(|_| url.scheme() == "http" && is_bare);
    let host = known(host.ok_or(Fault::Malformed)?)?;
    let port = url.port_or_known_default().filter(|it| *it > 0).ok_or(Fault::Malformed)?;
    let length = body(headers)?;
    let query = url.query().map(|it| format!("?{it}")).unwrap_or_default();
    let authority = url.port().map_or_else(|| host.to_string(), |it| format!("{host}:{it}"));
    let mut head = String::new();
    let _ = write!(
        head,
        "{method} {}{query} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n",
        url.path()
    );
    let mut bytes = head.into_bytes();
    for it in headers.iter().filter(|it| !is_own(it.name, headers)) {
        bytes.extend_from_slice(it.name.as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(it.value);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    let here = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
    bytes.extend_from_slice(&rest[..here]);
    let body = length - here as u64;
    Ok(Asked { host, port, bytes, way: Way::Request { body }, pass: pass(headers) })
}

fn pass(headers: &[httparse::Header<'_>]) -> Option<String> {
    let found = headers.iter().find(|it| it.name.eq_ignore_ascii_case("proxy-authorization"))?;
    std::str::from_utf8(found.value).map(str::to_owned).ok()
}

/// The length of the body that the headers announce.
fn body(headers: &[httparse::Header<'_>]) -> Result<u64, Fault> {
    let named =
        |name: &'static str| headers.iter().filter(move |it| it.name.eq_ignore_ascii_case(name));
    if named("transfer-encoding").next().is_some() {
        return Err(Fault::NoLength);
    }
    let mut lengths = named("content-length");
    let Some(length) = lengths.next() else { return Ok(0) };
    let digits = std::str::from_utf8(length.value).map_err(|_| Fault::Malformed)?;
    let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    if !is_number || lengths.next().is_some() {
        return Err(Fault::Malformed);
    }
    digits.parse().map_err(|_| Fault::Malformed)
}

/// Whether a header is about the connection to the proxy, or written by the proxy itself.
fn is_own(name: &str, headers: &[httparse::Header<'_>]) -> bool {
    const OWN: [&str; 10] = [
        "connection",
        "expect",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "upgrade",
    ];
    let listed = headers.iter().filter(|it| it.name.eq_ignore_ascii_case("connection"));
    let mut listed = listed.filter_map(|it| std::str::from_utf8(it.value).ok());
    // a list in `Connection` cannot remove the length by which the body is read
    let is_length = name.eq_ignore_ascii_case("content-length");
    OWN.iter().any(|it| name.eq_ignore_ascii_case(it))
        || !is_length
            && listed.any(|it| it.split(',').any(|it| it.trim().eq_ignore_ascii_case(name)))
}
