//! A model server on loopback that sends prepared replies at given times, and notes the times.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The number of characters of a call's arguments in one event.
const PIECE: usize = 64;
/// The user's message in most turns of the bench.
pub(crate) const MESSAGE: &str = "What would you change?";

/// The reply to one request.
pub(crate) enum Reply {
    Text {
        tokens: Vec<String>,
        /// Tokens per second; 0 is as fast as possible.
        rate: u32,
        /// The pause before the first byte of the text.
        pause: Duration,
    },
    /// One call of this tool.
    Call { name: &'static str, input: serde_json::Value },
    /// Many calls of this tool in one reply. If `stays`, the reply does not end.
    Calls { count: usize, stays: bool, name: &'static str, input: fn(usize) -> serde_json::Value },
    /// Sends this word, then nothing until the client closes the connection. `Times::last` is the time when the client
    /// closes it.
    Open { word: String },
}

/// A text that answers each request that contains `word` and not `MESSAGE`.
pub(crate) struct Stream {
    pub(crate) word: &'static str,
    pub(crate) tokens: Vec<String>,
    /// Tokens per second; 0 is as fast as possible.
    pub(crate) rate: u32,
}

/// The times of one request.
pub(crate) struct Times {
    /// Whether a `Stream` was the answer.
    pub(crate) is_streamed: bool,
    pub(crate) arrived: Instant,
    pub(crate) first: Instant,
    pub(crate) last: Instant,
}

pub(crate) struct Server {
    pub(crate) port: u16,
    replies: Sender<Reply>,
    pub(crate) times: Receiver<Times>,
    inbox: Arc<Inbox>,
}

/// The prepared replies. Each field has its own lock, so that waiting for a reply does not block `stream`.
struct Inbox {
    replies: Mutex<Receiver<Reply>>,
    stream: Mutex<Option<Stream>>,
}

impl Server {
    pub(crate) fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (replies, inbox) = channel();
        let (log, times) = channel();
        let inbox = Arc::new(Inbox { replies: Mutex::new(inbox), stream: Mutex::new(None) });
        let shared = inbox.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (inbox, log) = (shared.clone(), log.clone());
                std::thread::spawn(move || serve(stream, &inbox, &log));
            }
        });
        Server { port, replies, times, inbox }
    }

    /// From now on, answers the requests that belong to `stream` with its text.
    pub(crate) fn streams(&self, stream: Stream) {
        *self.inbox.stream.lock().unwrap() = Some(stream);
    }

    pub(crate) fn will(&self, reply: Reply) {
        self.replies.send(reply).unwrap();
    }

    pub(crate) fn next(&self) -> Times {
        self.times.recv_timeout(Duration::from_secs(60)).unwrap()
    }
}

fn serve(stream: TcpStream, inbox: &Inbox, log: &Sender<Times>) {
    stream.set_nodelay(true).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::with_capacity(1 << 16, stream);
    while let Some((body, arrived)) = request(&mut reader) {
        let streamed = inbox.streamed(&body);
        let is_streamed = streamed.is_some();
        let next = streamed.or_else(|| inbox.replies.lock().unwrap().recv().ok());
        let Some(reply) = next else { return };
        let stays = matches!(reply, Reply::Open { .. } | Reply::Calls { stays: true, .. });
        let Ok((first, mut last)) = answer(&mut writer, reply) else { return };
        if stays {
            let _ = reader.read(&mut [0]);
            last = Instant::now();
        }
        let _ = log.send(Times { is_streamed, arrived, first, last });
    }
}

impl Inbox {
    /// The reply to a request that belongs to the stream; `None` for another request.
    fn streamed(&self, body: &[u8]) -> Option<Reply> {
        let stream = self.stream.lock().unwrap();
        let has = |word: &str| body.windows(word.len()).any(|it| it == word.as_bytes());
        let Stream { tokens, rate, .. } =
            stream.as_ref().filter(|it| has(it.word) && !has(MESSAGE))?;
        Some(Reply::Text { tokens: tokens.clone(), rate: *rate, pause: Duration::ZERO })
    }
}

/// Reads one request. Returns its body and the time of its last byte; `None` if the connection was closed.
fn request(reader: &mut impl BufRead) -> Option<(Vec<u8>, Instant)> {
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_lowercase();
        if let Some(text) = line.strip_prefix("content-length:") {
            length = text.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body).ok()?;
    Some((body, Instant::now()))
}

fn answer(out: &mut TcpStream, reply: Reply) -> std::io::Result<(Instant, Instant)> {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let start = r#"{"type":"message_start","message":{"id":"m","model":"claude-sonnet-4-5","usage":{"input_tokens":9,"output_tokens":1}}}"#;
    out.write_all((head.to_owned() + &event("message_start", start)).as_bytes())?;
    match reply {
        Reply::Text { tokens, rate, pause } => text(out, &tokens, rate, pause),
        Reply::Open { word } => {
            let start = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
            out.write_all((event("content_block_start", start) + &delta(&word)).as_bytes())?;
            let now = Instant::now();
            Ok((now, now))
        }
        Reply::Call { name, input } => {
            let text = call(0, name, &input) + &end("tool_use");
            out.write_all(text.as_bytes())?;
            let now = Instant::now();
            Ok((now, now))
        }
        Reply::Calls { count, stays, name, input } => {
            let mut text: String = (0..count).map(|n| call(n, name, &input(n))).collect();
            if !stays {
                text += &end("tool_use");
            }
            let first = Instant::now();
            out.write_all(text.as_bytes())?;
            Ok((first, Instant::now()))
        }
    }
}

fn text(
    out: &mut TcpStream,
    tokens: &[String],
    rate: u32,
    pause: Duration,
) -> std::io::Result<(Instant, Instant)> {
    let start =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    out.write_all(event("content_block_start", start).as_bytes())?;
    std::thread::sleep(pause);
    let (first, mut sent) = (Instant::now(), 0);
    while sent < tokens.len() {
        // all tokens that are due are sent in one piece
        let due = match rate {
            0 => sent + 200,
            rate => {
                1 + usize::try_from(first.elapsed().as_micros() * u128::from(rate) / 1_000_000)
                    .unwrap()
            }
        };
        let due = due.min(tokens.len());
        let mut piece: String = tokens[sent..due].iter().map(|it| delta(it)).collect();
        sent = due;
        if sent == tokens.len() {
            piece += &end("end_turn");
        }
        out.write_all(piece.as_bytes())?;
        if sent < tokens.len() && rate > 0 {
            let next = Duration::from_secs(1) * u32::try_from(sent).unwrap() / rate;
            std::thread::sleep(next.saturating_sub(first.elapsed()));
        }
    }
    Ok((first, Instant::now()))
}

fn call(index: usize, name: &str, input: &serde_json::Value) -> String {
    let start = format!(
        r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"tool_use","id":"t{index}","name":"{name}","input":{{}}}}}}"#
    );
    let input: Vec<char> = input.to_string().chars().collect();
    let delta = |piece: &[char]| {
        let piece: String = piece.iter().collect();
        let input = serde_json::json!({ "type": "input_json_delta", "partial_json": piece });
        let delta =
            serde_json::json!({ "type": "content_block_delta", "index": index, "delta": input });
        event("content_block_delta", &delta.to_string())
    };
    let deltas: String = input.chunks(PIECE).map(delta).collect();
    let stop = format!(r#"{{"type":"content_block_stop","index":{index}}}"#);
    event("content_block_start", &start) + &deltas + &event("content_block_stop", &stop)
}

fn delta(text: &str) -> String {
    let text = serde_json::Value::from(text);
    let data = format!(
        r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":{text}}}}}"#
    );
    event("content_block_delta", &data)
}

fn end(reason: &str) -> String {
    let delta = format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":99}}}}"#
    );
    event("content_block_stop", r#"{"type":"content_block_stop","index":0}"#)
        + &event("message_delta", &delta)
        + &event("message_stop", r#"{"type":"message_stop"}"#)
        + "0\r\n\r\n"
}

/// One event of the stream, in a chunk of its own.
fn event(name: &str, data: &str) -> String {
    let event = format!("event: {name}\ndata: {data}\n\n");
    format!("{:x}\r\n{event}\r\n", event.len())
}
