//! A model server on loopback that sends prepared replies at given times, and notes the times.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The number of characters of a call's arguments in one event.
const PIECE: usize = 64;

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

/// The times of one request.
pub(crate) struct Times {
    pub(crate) arrived: Instant,
    pub(crate) first: Instant,
    pub(crate) last: Instant,
}

pub(crate) struct Server {
    pub(crate) port: u16,
    replies: Sender<Reply>,
    pub(crate) times: Receiver<Times>,
}

impl Server {
    pub(crate) fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (replies, inbox) = channel();
        let (log, times) = channel();
        let inbox = Arc::new(Mutex::new(inbox));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (inbox, log) = (inbox.clone(), log.clone());
                std::thread::spawn(move || serve(stream, &inbox, &log));
            }
        });
        Server { port, replies, times }
    }

    pub(crate) fn will(&self, reply: Reply) {
        self.replies.send(reply).unwrap();
    }

    pub(crate) fn next(&self) -> Times {
        self.times.recv_timeout(Duration::from_secs(60)).unwrap()
    }
}

fn serve(stream: TcpStream, inbox: &Mutex<Receiver<Reply>>, log: &Sender<Times>) {
    stream.set_nodelay(true).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::with_capacity(1 << 16, stream);
    while let Some(arrived) = request(&mut reader) {
        let Ok(reply) = inbox.lock().unwrap().recv() else { return };
        let stays = matches!(reply, Reply::Open { .. } | Reply::Calls { stays: true, .. });
        let Ok((first, mut last)) = answer(&mut writer, reply) else { return };
        if stays {
            let _ = reader.read(&mut [0]);
            last = Instant::now();
        }
        let _ = log.send(Times { arrived, first, last });
    }
}

/// Reads one request. Returns when it had arrived; `None` if the connection was closed.
fn request(reader: &mut impl BufRead) -> Option<Instant> {
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
    std::io::copy(&mut reader.take(length), &mut std::io::sink()).ok()?;
    Some(Instant::now())
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
        // all due tokens go out in one piece
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
