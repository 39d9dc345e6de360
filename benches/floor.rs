//! The child process of the floors (see `floor.lua`). Reads an SSE stream and sends the text to the editor by
//! notification, nothing else: at most every `EVERY_MS`, in pieces of `PIECE` bytes with pauses of `BREATH_MS`. The
//! bench starts its own executable as this process: `bench --floor PORT EVERY_MS PIECE BREATH_MS`.

use rmpv::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Pending {
    text: String,
    done: bool,
}

type Shared = Arc<(Mutex<Pending>, Condvar)>;

pub(crate) fn run(arguments: &[String]) {
    let number = |at: usize| arguments[at].parse::<u64>().unwrap();
    let (port, every, piece, breath) = (number(0), number(1), number(2), number(3));
    let (prompts, inbox) = mpsc::channel();
    std::thread::spawn(move || listen(&prompts));
    let shared = Shared::default();
    let paints = shared.clone();
    let [every, breath] = [every, breath].map(Duration::from_millis);
    std::thread::spawn(move || paint(&paints, every, usize::try_from(piece).unwrap(), breath));
    while let Ok(prompt) = inbox.recv() {
        ask(port, &prompt, &shared);
    }
}

/// Reads notifications from stdin and sends the prompt of each to `prompts`.
fn listen(prompts: &mpsc::Sender<String>) {
    let mut stdin = BufReader::new(std::io::stdin().lock());
    while let Ok(message) = rmpv::decode::read_value(&mut stdin) {
        let prompt = message[2][0].as_str().unwrap_or_default().to_owned();
        prompts.send(prompt).unwrap();
    }
    std::process::exit(0);
}

fn paint(
    (lock, more): &(Mutex<Pending>, Condvar),
    every: Duration,
    piece: usize,
    breath: Duration,
) {
    let mut last = Instant::now().checked_sub(every).unwrap();
    loop {
        let mut pending = lock.lock().unwrap();
        while pending.text.is_empty() && !pending.done {
            pending = more.wait(pending).unwrap();
        }
        if let Some(rest) = every.checked_sub(last.elapsed()).filter(|_| !pending.done) {
            drop(pending);
            std::thread::sleep(rest);
            pending = lock.lock().unwrap();
        }
        let Pending { text, .. } = std::mem::take(&mut *pending);
        drop(pending);
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let mut end = piece.min(rest.len());
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            let (head, tail) = rest.split_at(end);
            notify(head);
            rest = tail;
            if !rest.is_empty() {
                std::thread::sleep(breath);
            }
        }
        last = Instant::now();
    }
}

fn notify(text: &str) {
    let call = vec!["Floor.append(...)".into(), Value::Array(vec![text.into()])];
    let message = Value::Array(vec![2.into(), "nvim_exec_lua".into(), Value::Array(call)]);
    let mut bytes = Vec::with_capacity(text.len() + 128);
    rmpv::encode::write_value(&mut bytes, &message).unwrap();
    let mut stdout = std::io::stdout();
    stdout.write_all(&bytes).unwrap();
    stdout.flush().unwrap();
}

fn ask(port: u64, prompt: &str, (lock, more): &(Mutex<Pending>, Condvar)) {
    let messages = serde_json::json!([{ "role": "user", "content": prompt }]);
    let body = serde_json::json!({ "model": "bench", "stream": true, "messages": messages });
    let body = body.to_string();
    let mut server = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    server.set_nodelay(true).unwrap();
    let head =
        format!("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    server.write_all((head + &body).as_bytes()).unwrap();
    for line in BufReader::with_capacity(65536, server).lines().map_while(Result::ok) {
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let Ok(event) = serde_json::from_str::<serde_json::Value>(data) else { continue };
        let mut pending = lock.lock().unwrap();
        match event["type"].as_str() {
            Some("content_block_delta") => {
                pending.text.push_str(event["delta"]["text"].as_str().unwrap_or_default());
            }
            Some("message_stop") => pending.done = true,
            _ => {}
        }
        more.notify_one();
        if pending.done {
            return;
        }
    }
}
