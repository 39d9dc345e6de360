//! The parts of HTTP/1.1 that a model server needs.

use serde_json::Value;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read as _};
use std::net::TcpStream;
use std::time::Duration;

/// One request as the server received it.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// The names are in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The parsed body; null if it is not JSON.
    pub json: Value,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Reads the next request of a connection; `None` once the client has closed it or `stopping` returns true.
pub(super) fn read(stream: &mut TcpStream, stopping: impl Fn() -> bool) -> Option<Request> {
    let _ = stream.set_read_timeout(Some(Duration::from_millis(20)));
    let mut bytes = Vec::new();
    let mut piece = vec![0; 65536];
    loop {
        if let Some(request) = parse(&bytes) {
            return Some(request);
        }
        match stream.read(&mut piece) {
            Ok(0) => return None,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {
                if stopping() {
                    return None;
                }
            }
            Err(_) => return None,
        }
    }
}

/// Parses a request; `None` while bytes are missing.
fn parse(bytes: &[u8]) -> Option<Request> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?);
    // `Setup::anthropic_elsewhere` uses this address, with this server as its proxy.
    let path = target.strip_prefix("http://models.test").unwrap_or(target).to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse::<usize>().unwrap());
    let body = bytes.get(end + 4..end + 4 + length)?.to_vec();
    let json = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Request { method, path, headers, body, json })
}

/// Encodes bytes as one chunk of a chunked HTTP body.
pub(super) fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
    framed.extend_from_slice(bytes);
    framed.extend_from_slice(b"\r\n");
    framed
}

/// The bytes in one chunk, without its framing.
pub(super) fn unframed(chunk: &[u8]) -> Vec<u8> {
    let begin = chunk.iter().position(|it| *it == b'\n').unwrap() + 1;
    chunk[begin..chunk.len() - 2].to_vec()
}

/// A complete response with a content length.
pub(super) fn whole(status: u16, headers: &[(String, String)], body: &[u8]) -> Vec<u8> {
    let mut response = head(status, headers);
    response.extend_from_slice(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
    response.extend_from_slice(body);
    response
}

/// The head of a stream of events, whose body is chunked.
pub(super) fn stream_head(kind: &str, headers: &[(String, String)]) -> Vec<u8> {
    let mut response = head(200, headers);
    response.extend_from_slice(format!("content-type: {kind}\r\n").as_bytes());
    response.extend_from_slice(b"cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n");
    response
}

fn head(status: u16, headers: &[(String, String)]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} Scripted\r\n");
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.into_bytes()
}
