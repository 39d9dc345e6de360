//! Helps to test decoders: reads a stream with its bytes cut at every place, and shows the result.

use super::Sampled;
use super::dialect::{Asked, Dialect};
use super::reading::Reading;
use crate::event::{Delta, Failure};
use crate::message::Request;
use expect_test::Expect;
use std::fmt::Write;

/// The values that the decoder returns for the pieces of a stream and for its end.
pub(super) fn read<'a>(
    dialect: Dialect,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Sampled> {
    let request = Request { model: "m".into(), max_tokens: 9, ..Request::default() };
    let mut reading = Reading::new(dialect, Asked::new("them", &request, 0xabc));
    let mut out = Vec::new();
    for piece in pieces {
        reading.push(piece, &mut out);
    }
    reading.end(&mut out);
    out
}

/// Checks the result of a stream. The result must be the same at whatever places the stream is cut, with CR LF as line
/// ends, and with comments between the lines. If the stream ends early, the result must be a failure, or a reply if a
/// reply of the dialect may end there.
#[track_caller]
pub(super) fn check(dialect: Dialect, stream: &str, expected: &Expect) {
    let bytes = stream.as_bytes();
    let whole = read(dialect, [bytes]);
    expected.assert_eq(&shown(&whole));
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(read(dialect, [head, tail]), whole, "cut at {at}");
        let begun = read(dialect, [head]);
        let (last, before) = begun.split_last().unwrap();
        assert!(before.iter().all(|sampled| matches!(sampled, Sampled::Delta(_))), "cut at {at}");
        let fits = match last {
            Sampled::Failed(Failure::Cut | Failure::Empty) => true,
            Sampled::Done(_) => ends_early(dialect) || Some(last) == whole.last(),
            other => Some(other) == whole.last(),
        };
        assert!(fits, "cut at {at}: the last value is {last:?}");
    }
    assert_eq!(read(dialect, bytes.chunks(1)), whole);
    let crlf = stream.replace('\n', "\r\n");
    assert_eq!(read(dialect, [crlf.as_bytes()]), whole);
    assert_eq!(read(dialect, crlf.as_bytes().chunks(1)), whole);
    let between = if dialect == Dialect::Ollama { "\n\n" } else { "\n: still here\n" };
    let commented = stream.replace('\n', between);
    assert_eq!(read(dialect, [commented.as_bytes()]), whole);
}

/// Whether a reply of this dialect may be complete before its stream has ended.
fn ends_early(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::OpenAiChat | Dialect::Gemini)
}

fn shown(sampled: &[Sampled]) -> String {
    let mut text = String::new();
    for sampled in sampled {
        let line = match sampled {
            Sampled::Delta(Delta::Text(text)) => format!("~ text {text:?}"),
            Sampled::Delta(Delta::Thinking(text)) => format!("~ thinking {text:?}"),
            Sampled::Delta(Delta::CallBegun { id, tool }) => format!("~ call {id} {tool}"),
            Sampled::Delta(other) => format!("~ {other:?}"),
            Sampled::Failed(failure) => format!("{failure:?}"),
            Sampled::Done(reply) => {
                for block in &reply.blocks {
                    writeln!(text, "{}", serde_json::to_string(block).unwrap()).unwrap();
                }
                let usage = reply.usage;
                format!(
                    "{:?}, {} in, {} out, {} read, {} written, by {:?}",
                    reply.stop,
                    usage.input,
                    usage.output,
                    usage.cache_read,
                    usage.cache_write,
                    reply.model
                )
            }
        };
        writeln!(text, "{line}").unwrap();
    }
    text
}
