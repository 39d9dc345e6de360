//! Reads the body of an HTTP answer as text. Its size is limited before and after decompression, and its charset is
//! detected.

use crate::pdf;
use encoding_rs::{Encoding, UTF_8};
use flate2::read::MultiGzDecoder;
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use std::io::Read;

/// The most bytes of a page, both as it arrives and after decompression.
pub(super) const LIMIT: usize = 5_000_000;

/// How many bytes at the beginning of an HTML page are searched for the name of its charset.
const HEAD: usize = 2_048;

/// A page as it arrived.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Body {
    Text { is_html: bool, text: String },
    Pdf(Vec<u8>),
}

/// The format of a page, according to its content type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Html,
    Text,
    Pdf,
    /// The content type does not tell; the content itself has to be examined.
    Unknown,
}

/// Reads the body of an answer. The error is the rest of a sentence that begins with the address.
pub(super) async fn read(mut response: Response) -> Result<Body, String> {
    let header = |name: HeaderName| {
        let value = response.headers().get(name)?.to_str().ok()?;
        Some(value.trim().to_ascii_lowercase())
    };
    let kind = header(CONTENT_TYPE).unwrap_or_default();
    let packing = header(CONTENT_ENCODING).unwrap_or_default();
    let form = readable(&kind)?;
    if response.content_length().is_some_and(|it| it > LIMIT as u64) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    while let Some(chunk) =
        response.chunk().await.map_err(|_| "broke off before its end. Try again".to_owned())?
    {
        if bytes.len() + chunk.len() > LIMIT {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    let decoded =
        tokio::task::spawn_blocking(move || decoded(unpacked(bytes, &packing)?, &kind, form));
    decoded.await.map_err(|_| "could not be decoded".to_owned())?
}

fn too_large() -> String {
    format!("is larger than {} MB, the limit for a page", LIMIT / 1_000_000)
}

/// The format of pages with this content type. The error says that such pages cannot be read.
fn readable(kind: &str) -> Result<Kind, String> {
    let essence = kind.split(';').next().unwrap_or_default().trim();
    let (class, name) = essence.split_once('/').unwrap_or((essence, ""));
    Ok(match (class, name) {
        ("", _) | ("application" | "binary", "octet-stream") => Kind::Unknown,
        ("text", "html") | ("application", "xhtml+xml") => Kind::Html,
        ("application", "pdf") => Kind::Pdf,
        ("text", _)
        | (
            "application",
            "json" | "xml" | "javascript" | "ecmascript" | "yaml" | "x-yaml" | "toml" | "x-toml"
            | "x-sh" | "sql" | "graphql" | "x-ndjson" | "ndjson" | "jsonl" | "json5"
            | "x-javascript" | "x-patch" | "x-diff" | "x-tex" | "x-python" | "x-perl" | "x-ruby"
            | "x-php" | "typescript" | "x-typescript" | "x-subrip",
        ) => Kind::Text,
        (_, name) if name.ends_with("+json") || name.ends_with("+xml") => Kind::Text,
        _ => {
            let kind: String = essence.chars().filter(|it| !it.is_control()).take(80).collect();
            return Err(format!(
                "is of the type {kind}. Only HTML, plain text, JSON, XML and PDF can be read"
            ));
        }
    })
}

fn unpacked(bytes: Vec<u8>, packing: &str) -> Result<Vec<u8>, String> {
    match packing {
        "" | "identity" => return Ok(bytes),
        "gzip" | "x-gzip" => (),
        _ => return Err("is compressed in a format that Caliban did not ask for".to_owned()),
    }
    let mut all = Vec::new();
    let mut limited = MultiGzDecoder::new(&*bytes).take(LIMIT as u64 + 1);
    limited.read_to_end(&mut all).map_err(|_| "is not compressed as its header says".to_owned())?;
    if all.len() > LIMIT { Err(too_large()) } else { Ok(all) }
}

fn decoded(bytes: Vec<u8>, kind: &str, form: Kind) -> Result<Body, String> {
    if form == Kind::Pdf || form == Kind::Unknown && pdf::begins(&bytes) {
        return Ok(Body::Pdf(bytes));
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).to_ascii_lowercase();
    let begin = head.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let begins_html = begin.starts_with("<!doctype html") || begin.starts_with("<html");
    let is_html = form == Kind::Html || form == Kind::Unknown && begins_html;
    let named = charset(kind).or_else(|| charset(&head).filter(|_| is_html));
    let encoding = named.and_then(|it| Encoding::for_label(it.as_bytes())).unwrap_or(UTF_8);
    // a byte order mark at the beginning of the text overrides the named charset
    let (text, _, is_damaged) = encoding.decode(&bytes);
    if text.contains('\0') {
        return Err("is not text: it contains NUL characters".to_owned());
    }
    if is_damaged && kind.contains("octet-stream") {
        return Err("is not text: it has bytes that are not UTF-8".to_owned());
    }
    Ok(Body::Text { is_html, text: text.into_owned() })
}

/// The word after `charset=` in a lower-case text.
fn charset(text: &str) -> Option<&str> {
    let rest = &text[text.find("charset=")? + "charset=".len()..];
    let rest = rest.trim_start_matches(['"', '\'', ' ']);
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c)));
    Some(&rest[..end.unwrap_or(rest.len())]).filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn text(bytes: &[u8], kind: &str) -> String {
        match decoded(bytes.to_vec(), kind, readable(kind).unwrap()) {
            Ok(Body::Text { text, .. }) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_charset_is_that_of_the_header_or_of_the_page() {
        assert_eq!(text(b"caf\xe9", "text/plain; charset=iso-8859-1"), "café");
        assert_eq!(text(b"caf\xe9", "text/plain"), "caf\u{fffd}");
        assert_eq!(text("café".as_bytes(), "text/plain; charset=nonsense"), "café");
        let page = b"<meta charset=\"windows-1252\"><p>\x93caf\xe9\x94";
        assert!(text(page, "text/html").ends_with("“café”"));
        assert!(text(page, "text/html; charset=utf-8").contains('\u{fffd}'));
        let page = b"<meta content='text/html; charset=shift_jis'>\x82\xa0";
        assert!(text(page, "text/html").ends_with('あ'));
        assert_eq!(text(b"\xff\xfea\0b\0", "text/plain"), "ab");
    }

    #[test]
    fn a_page_without_a_type_is_judged_by_its_beginning() {
        let is_html = |it: &[u8]| match decoded(it.to_vec(), "", Kind::Unknown) {
            Ok(Body::Text { is_html, .. }) => is_html,
            other => panic!("{other:?}"),
        };
        assert!(is_html(b"\n<!DOCTYPE html><p>") && is_html(b"<HTML>"));
        assert!(!is_html(b"# Title\n<html>"));
        let other = |it: &[u8]| decoded(it.to_vec(), "", Kind::Unknown);
        assert!(other(b"\x7fELF\0\0").unwrap_err().contains("is not text"));
        assert_eq!(other(b"%PDF-1.7\n"), Ok(Body::Pdf(b"%PDF-1.7\n".to_vec())));
    }

    #[test]
    fn only_texts_are_read() {
        for kind in ["image/png", "application/zip", "nonsense"] {
            assert!(readable(kind).unwrap_err().contains(kind), "{kind}");
        }
        for kind in
            ["text/markdown", "application/json; a=b", "application/ld+json", "image/svg+xml"]
        {
            assert_eq!(readable(kind), Ok(Kind::Text), "{kind}");
        }
        let kind = "application/octet-stream";
        assert_eq!(text("# é\n".as_bytes(), kind), "# é\n");
        let not_text = |it: &[u8]| decoded(it.to_vec(), kind, readable(kind).unwrap()).unwrap_err();
        assert!(not_text(b"\x7fELF\xff").contains("is not text"));
        assert!(not_text(b"PK\x03\x04\0").contains("is not text"));
    }

    #[test]
    fn a_small_file_that_unpacks_to_a_large_one_is_refused() {
        let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
        for _ in 0..100 {
            bomb.write_all(&vec![b'a'; 1_000_000]).unwrap();
        }
        let bomb = bomb.finish().unwrap();
        assert!(bomb.len() < 200_000);
        assert!(unpacked(bomb, "gzip").unwrap_err().contains("larger than 5 MB"));
        let mut small = GzEncoder::new(Vec::new(), Compression::fast());
        small.write_all(b"small").unwrap();
        assert_eq!(unpacked(small.finish().unwrap(), "x-gzip").unwrap(), b"small");
        assert!(unpacked(b"x".to_vec(), "gzip").is_err() && unpacked(b"x".to_vec(), "br").is_err());
    }
}
