//! The cost of reading a model's answer: each dialect's decoder alone, and reading from a socket compared with copying
//! the bytes.

use super::proc;
use caliban::message::Request;
use caliban::provider::dialect::{Asked, Dialect};
use caliban::provider::endpoint::{self, UserProvider};
use caliban::provider::http::Http;
use caliban::provider::reading::Reading;
use caliban::provider::{Provider, Sampled};
use futures::StreamExt;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An answer in a dialect as the provider sends it: the bytes before the text, a piece of text (`%`), the bytes after
/// it.
struct Shape {
    dialect: &'static str,
    head: &'static str,
    piece: &'static str,
    tail: &'static str,
}

const SHAPES: [Shape; 5] = [
    Shape {
        dialect: "anthropic",
        head: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        piece: "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%\"}}\n\n",
        tail: "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":9}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    },
    Shape {
        dialect: "openai-responses",
        head: "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"model\":\"m\",\"output\":[]}}\n\nevent: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"sequence_number\":1,\"output_index\":0,\"item\":{\"id\":\"msg_1\",\"type\":\"message\",\"status\":\"in_progress\",\"role\":\"assistant\",\"content\":[]}}\n\n",
        piece: "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":4,\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\"%\"}\n\n",
        tail: "event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":5,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"completed\",\"model\":\"m\",\"output\":[],\"usage\":{\"input_tokens\":9,\"output_tokens\":9}}}\n\n",
    },
    Shape {
        dialect: "openai-chat",
        head: "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1790000000,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
        piece: "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1790000000,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%\"},\"finish_reason\":null}]}\n\n",
        tail: "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1790000000,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    },
    Shape {
        dialect: "gemini",
        head: "",
        piece: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"%\"}],\"role\":\"model\"},\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":9,\"totalTokenCount\":9},\"modelVersion\":\"m\"}\n\n",
        tail: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\".\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":9,\"totalTokenCount\":18},\"modelVersion\":\"m\"}\n\n",
    },
    Shape {
        dialect: "ollama",
        head: "",
        piece: "{\"model\":\"m\",\"created_at\":\"2026-11-22T00:00:00.000000Z\",\"message\":{\"role\":\"assistant\",\"content\":\"%\"},\"done\":false}\n",
        tail: "{\"model\":\"m\",\"created_at\":\"2026-11-22T00:00:00.000000Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":9,\"eval_count\":9}\n",
    },
];

/// A piece of text of twenty bytes with one escape.
const TEXT: &str = "of a line, and so\\n- ";
/// The number of bytes that a decoder reads in one measurement.
const LONG: usize = 40 << 20;
/// The number of measurements.
const TRIES: usize = 9;
/// The number of bytes of a reply over a socket, and of each chunk.
const REPLY: usize = 2 << 20;
const CHUNK: usize = 20;
/// The pause between two chunks, so that each arrives alone, as over a network.
const GAP: Duration = Duration::from_micros(15);

impl Shape {
    fn stream(&self, length: usize) -> Vec<u8> {
        let piece = self.piece.replace('%', TEXT);
        let body = piece.repeat(length / piece.len());
        [self.head, &body, self.tail].concat().into_bytes()
    }
}

/// The rows of the table.
pub(crate) fn table() -> String {
    let mut rows = "| **reading an answer** | | | | | | | |\n".to_owned();
    for (shape, speed) in SHAPES.iter().zip(speeds()) {
        let name = format!("{}, MB/s", shape.dialect);
        rows += &format!("| {name} | | | {speed:.0} | | | ≥ 200 | {} |\n", verdict(speed >= 200.0));
    }
    for shape in &SHAPES {
        let mut times: Vec<f64> = (0..3).map(|_| beside_copying(shape)).collect();
        times.sort_by(f64::total_cmp);
        let [name, middle] = [shape.dialect.to_owned(), format!("{:.2}", times[1])];
        let met = verdict(times[1] <= 1.05);
        rows += &format!(
            "| {name}, 2 MB in pieces of 20 bytes, CPU × copying | | | {middle} | | | ≤ 1.05 | {met} |\n"
        );
    }
    rows
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "**short**" }
}

/// Each dialect's best speed in MB/s. The dialects take turns, so that a slow moment of the machine affects all of
/// them.
fn speeds() -> [f64; SHAPES.len()] {
    let streams = SHAPES.map(|shape| (Dialect::named(shape.dialect).unwrap(), shape.stream(LONG)));
    let mut best = [0.0; SHAPES.len()];
    for _ in 0..TRIES {
        for (best, (dialect, stream)) in best.iter_mut().zip(&streams) {
            *best = speed(*dialect, stream).max(*best);
        }
    }
    best
}

fn speed(dialect: Dialect, stream: &[u8]) -> f64 {
    let request = Request { model: "m".into(), ..Request::default() };
    let mut reading = Reading::new(dialect, Asked::new("p", &request, 1));
    let mut out = Vec::new();
    let before = proc::thread_cpu();
    for bytes in stream.chunks(16 << 10) {
        reading.push(bytes, &mut out);
        if !reading.is_over() {
            out.clear();
        }
    }
    let seconds = (proc::thread_cpu() - before) / 1e3;
    reading.end(&mut out);
    assert!(matches!(out.last(), Some(Sampled::Done(_))), "{dialect:?}");
    stream.len() as f64 / 1e6 / seconds
}

/// The CPU time of reading a reply through the provider, divided by the time of copying its bytes.
fn beside_copying(shape: &Shape) -> f64 {
    let body = Arc::new(shape.stream(REPLY));
    let copied = measured(&body, |url| async move {
        let mut response = client().post(url).send().await.unwrap();
        let mut copy = Vec::new();
        while let Some(bytes) = response.chunk().await.unwrap() {
            copy.extend_from_slice(&bytes);
        }
        copy.len()
    });
    let read = measured(&body, |url| async move {
        let user = UserProvider {
            dialect: Some(shape.dialect.into()),
            base_url: Some(url),
            models: vec!["m".into()],
            ..UserProvider::default()
        };
        let users = BTreeMap::from([("mine".to_owned(), user)]);
        let endpoint = endpoint::named("mine", &users, &|_| None).unwrap();
        let request = Request { model: "m".into(), max_tokens: 9, ..Request::default() };
        let mut sampled = Http::new(endpoint).sample(Arc::new(request));
        let mut count = 0;
        while let Some(it) = sampled.next().await {
            assert!(!matches!(it, Sampled::Failed(_)), "{it:?}");
            count += 1;
        }
        count
    });
    read / copied
}

/// The CPU time of this thread in milliseconds while it reads a body that arrives in small pieces.
fn measured<F: Future<Output = usize>>(body: &Arc<Vec<u8>>, read: impl FnOnce(String) -> F) -> f64 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let body = body.clone();
    let server = std::thread::spawn(move || serve(&listener, &body));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let before = proc::thread_cpu();
    assert!(runtime.block_on(read(url)) > 0);
    let spent = proc::thread_cpu() - before;
    server.join().unwrap();
    spent
}

fn serve(listener: &TcpListener, body: &[u8]) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|it| it == b"\r\n\r\n") {
        let count = stream.read(&mut buffer).unwrap();
        head.extend_from_slice(&buffer[..count]);
    }
    stream.set_nodelay(true).unwrap();
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        .unwrap();
    let start = Instant::now();
    for (n, chunk) in (0..).zip(body.chunks(CHUNK)) {
        while start.elapsed() < GAP * n {
            std::hint::spin_loop();
        }
        let framed = [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat();
        stream.write_all(&framed).unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
}

fn client() -> reqwest::Client {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    reqwest::Client::builder().tls_backend_preconfigured(tls).no_proxy().build().unwrap()
}
