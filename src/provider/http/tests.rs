use super::*;
use crate::event::Delta;
use crate::message::{Block, Message, Role, Stop};
use crate::provider::dialect::Dialect;
use crate::provider::endpoint::{UserProvider, named};
use std::collections::BTreeMap;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;

const KEY: &str = "sk-secret-0123456789";
const BEGIN: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const REPLY: &str = concat!(
    "data: {\"type\":\"message_start\",\"message\":{\"model\":\"m-1\"}}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n",
);
const END: &str = concat!(
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n",
    "data: {\"type\":\"message_stop\"}\n\n",
);

fn env(name: &str) -> Option<String> {
    (name == "MY_KEY").then(|| KEY.to_owned())
}

fn clocks(first: u64, between: u64) -> Clocks {
    let [first, between] = [first, between].map(Duration::from_millis);
    Clocks { connect: Duration::from_secs(9), first, between }
}

const PATIENT: fn() -> Clocks = || clocks(60_000, 60_000);

fn http(dialect: &str, base_url: String, clocks: Clocks) -> Http {
    let user = UserProvider {
        dialect: Some(dialect.to_owned()),
        base_url: Some(base_url),
        key: Some("env:MY_KEY".to_owned()),
        ..UserProvider::default()
    };
    let users = BTreeMap::from([("mine".to_owned(), user)]);
    Http::new(named("mine", &users, &|_| None).unwrap()).with(clocks, env)
}

fn request() -> Arc<Request> {
    let blocks = vec![Block::Text { text: "Hello".into() }];
    let messages = vec![Message::new(Role::User, blocks)];
    let request = Request { model: "m-1".into(), messages, max_tokens: 100, ..Request::default() };
    Arc::new(request)
}

/// A listener, and an `Http` that sends its requests to that listener.
async fn pair(clocks: Clocks) -> (TcpListener, Http) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, http("anthropic", url, clocks))
}

/// Takes one connection and reads the whole request.
async fn accept(listener: &TcpListener) -> (TcpStream, String) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).await.unwrap();
        request.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let length =
            text.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        if let (Some(length), Some((_, body))) = (length, text.split_once("\r\n\r\n"))
            && body.len() >= length.parse().unwrap()
        {
            return (stream, text);
        }
    }
}

/// Serves one answer. Returns the values that the client makes of it, and the request that the client has sent.
async fn answered(answer: String) -> (Vec<Sampled>, String) {
    let (listener, http) = pair(PATIENT()).await;
    let server = tokio::spawn(async move {
        let (mut stream, request) = accept(&listener).await;
        stream.write_all(answer.as_bytes()).await.unwrap();
        request
    });
    let sampled = http.sample(request()).collect().await;
    (sampled, server.await.unwrap())
}

async fn failure(answer: &str) -> String {
    let (sampled, _) = answered(answer.to_owned()).await;
    let [Sampled::Failed(failure)] = &sampled[..] else { panic!("{sampled:?}") };
    format!("{failure:?}")
}

fn status(line: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {line}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn a_request_has_the_headers_of_the_api_and_its_reply_is_streamed() {
    let (sampled, request) = answered(format!("{BEGIN}{REPLY}{END}")).await;
    assert_eq!(sampled.len(), 2, "{sampled:?}");
    assert_eq!(sampled[0], Sampled::Delta(Delta::Text("Hi".into())));
    assert!(matches!(&sampled[1], Sampled::Done(reply) if reply.stop == Stop::EndTurn));
    assert!(request.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{request}");
    for header in [
        "x-api-key: sk-secret-0123456789\r\n",
        "anthropic-version: 2023-06-01\r\n",
        "content-type: application/json\r\n",
    ] {
        assert!(request.contains(header), "{request}");
    }
}

/// The request that is sent to an endpoint with this base URL, whose host is a listener on this machine.
async fn asked_of_openais_like(base: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}{base}", listener.local_addr().unwrap());
    let http = http("openai-chat", url, PATIENT());
    let server = tokio::spawn(async move {
        let (mut stream, request) = accept(&listener).await;
        let chunk =
            "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n";
        stream.write_all(format!("{BEGIN}{chunk}").as_bytes()).await.unwrap();
        request
    });
    let sampled: Vec<Sampled> = http.sample(request()).collect().await;
    assert!(matches!(sampled.last(), Some(Sampled::Done(_))), "{sampled:?}");
    server.await.unwrap()
}

#[tokio::test]
async fn an_openai_request_has_its_key_in_the_authorization_header() {
    let request = asked_of_openais_like("/v1").await;
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("authorization: Bearer sk-secret-0123456789\r\n"), "{request}");
}

#[tokio::test]
async fn an_azure_request_goes_to_its_deployment_with_an_api_key_header() {
    let request = asked_of_openais_like("/openai/deployments?api-version=2024-10-21").await;
    let path = "/openai/deployments/m-1/chat/completions?api-version=2024-10-21";
    assert!(request.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{request}");
    assert!(request.contains("api-key: sk-secret-0123456789\r\n"), "{request}");
    assert!(!request.contains("authorization"), "{request}");
}

#[tokio::test]
async fn http_errors_become_typed_failures_without_the_key() {
    let json =
        |text: &str| format!(r#"{{"type":"error","error":{{"type":"x","message":"{text}"}}}}"#);
    let shown = failure(&status("401 Unauthorized", "", &json(&format!("bad key {KEY}")))).await;
    assert_eq!(shown, r#"Unauthorized { provider: "mine", said: "bad key [key]" }"#);
    let shown = failure(&status("429 Too Many", "retry-after: 7\r\n", &json("slow"))).await;
    assert_eq!(shown, r#"RateLimited { after_ms: Some(7000), said: "slow" }"#);
    let shown = failure(&status("529 Overloaded", "retry-after-ms: 50\r\n", "")).await;
    assert_eq!(shown, r#"Overloaded { after_ms: Some(50), said: "" }"#);
    let shown = failure(&status("400 Bad", "", &json("prompt is too long: 3 > 2"))).await;
    assert_eq!(
        shown,
        r#"TooLong { said: "prompt is too long: 3 > 2", window: None, prompt: None }"#
    );
    let shown = failure(&status("404 Not Found", "", &json("model: m-1"))).await;
    assert_eq!(shown, r#"UnknownModel { model: "m-1", said: "model: m-1" }"#);
    let shown =
        failure(&status("307 Temporary", "location: https://elsewhere.example/\r\n", "")).await;
    assert_eq!(shown, r#"Protocol { said: "redirected to https://elsewhere.example/" }"#);
}

#[tokio::test]
async fn an_answer_that_is_not_a_stream_is_quoted_in_the_failure() {
    let page = "<!doctype html><title>Hotel Wi-Fi</title>";
    let shown =
        failure(&status("200 OK", "content-type: text/html; charset=utf-8\r\n", page)).await;
    assert_eq!(shown, r#"Protocol { said: "Hotel Wi-Fi" }"#);
    let shown = failure(&status("200 OK", "content-type: text/plain\r\n", page)).await;
    assert_eq!(shown, r#"Protocol { said: "Hotel Wi-Fi" }"#);
    let whole = r#"{"id":"msg_1"}"#;
    let shown = failure(&status("200 OK", "content-type: application/json\r\n", whole)).await;
    assert_eq!(shown, r#"Protocol { said: "{\"id\":\"msg_1\"}" }"#);
    let error = r#"{"error":{"type":"overloaded_error","message":"later"}}"#;
    let shown = failure(&status("200 OK", "content-type: application/json\r\n", error)).await;
    assert_eq!(shown, r#"Overloaded { after_ms: None, said: "later" }"#);
    for blanks in ["", "\n\n  \r\n", ": still here\n\n: still here\n\n"] {
        assert_eq!(failure(&status("200 OK", "", blanks)).await, "Empty", "{blanks:?}");
    }
}

#[tokio::test]
async fn a_reply_that_ends_early_is_reported_as_cut() {
    let (sampled, _) = answered(format!("{BEGIN}{REPLY}")).await;
    assert_eq!(sampled.last(), Some(&Sampled::Failed(Failure::Cut)));
    let (sampled, _) =
        answered(format!("HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{REPLY}")).await;
    assert_eq!(sampled.last(), Some(&Sampled::Failed(Failure::Cut)));
    let (sampled, _) = answered(String::new()).await;
    assert_eq!(sampled, [Sampled::Failed(Failure::Cut)]);
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let (listener, http) = pair(PATIENT()).await;
    let (closed, was_closed) = oneshot::channel();
    tokio::spawn(async move {
        let (mut stream, _) = accept(&listener).await;
        stream.write_all(format!("{BEGIN}{REPLY}").as_bytes()).await.unwrap();
        let ended = !matches!(stream.read(&mut [0; 16]).await, Ok(1..));
        let _ = closed.send(ended);
    });
    let mut stream = http.sample(request());
    assert_eq!(stream.next().await, Some(Sampled::Delta(Delta::Text("Hi".into()))));
    drop(stream);
    assert_eq!(was_closed.await, Ok(true));
}

#[tokio::test]
async fn dropping_a_request_before_its_answer_closes_the_connection() {
    let (listener, http) = pair(PATIENT()).await;
    let (asked, was_asked) = oneshot::channel();
    let server = tokio::spawn(async move {
        let (mut stream, _) = accept(&listener).await;
        let _ = asked.send(());
        !matches!(stream.read(&mut [0; 16]).await, Ok(1..))
    });
    let mut stream = http.sample(request());
    tokio::select! {
        sampled = stream.next() => panic!("{sampled:?}"),
        _ = was_asked => {}
    }
    drop(stream);
    assert!(server.await.unwrap());
}

#[tokio::test]
async fn a_request_that_is_never_answered_fails_as_stalled() {
    for answer in ["", BEGIN] {
        let (listener, http) = pair(clocks(30, 60_000)).await;
        tokio::spawn(async move {
            let (mut stream, _) = accept(&listener).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
            std::future::pending::<()>().await;
        });
        let sampled: Vec<Sampled> = http.sample(request()).collect().await;
        assert_eq!(sampled, [Sampled::Failed(Failure::Stalled { seconds: 0 })]);
    }
}

/// The values that are read from an answer whose pieces arrive after these delays in seconds; afterwards nothing more
/// arrives. The clock is simulated.
async fn paced(pieces: Vec<(u64, &'static str)>) -> Vec<Sampled> {
    let bytes = stream::iter(pieces).then(|(seconds, text)| async move {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        Some(Bytes::from_static(text.as_bytes()))
    });
    read(bytes.chain(stream::pending()).boxed()).await
}

async fn read(bytes: BoxStream<'static, Option<Bytes>>) -> Vec<Sampled> {
    let asked = Asked::new("mine", &request(), 1);
    let body = Body {
        bytes,
        reading: Reading::new(Dialect::Anthropic, asked),
        waiting: VecDeque::new(),
        secrets: Vec::new(),
        clocks: Clocks::default(),
        begun: false,
        ended: false,
        is_text_only: false,
        last_sign: Instant::now(),
    };
    stream::unfold(Stage::Body(Box::new(body)), step).collect().await
}

#[tokio::test(start_paused = true)]
async fn a_request_fails_as_stalled_after_300_s_without_a_first_byte_or_90_s_between_bytes() {
    let ping = ": ping\n\n";
    let sampled = paced(vec![(299, REPLY), (89, ping), (89, ping), (89, END)]).await;
    assert!(matches!(sampled.last(), Some(Sampled::Done(_))), "{sampled:?}");
    let sampled = paced(vec![(301, REPLY), (0, END)]).await;
    assert_eq!(sampled, [Sampled::Failed(Failure::Stalled { seconds: 300 })]);
    let sampled = paced(vec![(0, REPLY), (89, ping), (91, END)]).await;
    assert_eq!(sampled.last(), Some(&Sampled::Failed(Failure::Stalled { seconds: 90 })));
}

#[tokio::test(start_paused = true)]
async fn bytes_that_have_already_arrived_are_passed_on_without_a_pause() {
    let text = r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#;
    let text = format!("{text}\n\n");
    let pieces = [REPLY].into_iter().chain(std::iter::repeat_n(text.as_str(), 100)).chain([END]);
    let pieces: Vec<_> = pieces.map(|it| Some(Bytes::copy_from_slice(it.as_bytes()))).collect();
    let start = tokio::time::Instant::now();
    let sampled = read(stream::iter(pieces).boxed()).await;
    assert!(matches!(sampled.last(), Some(Sampled::Done(_))), "{sampled:?}");
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test]
async fn a_refused_connection_is_reported_as_offline() {
    // The socket keeps the port without listening, so that no other test gets the port.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    let sampled: Vec<Sampled> =
        http("anthropic", format!("http://{address}"), PATIENT()).sample(request()).collect().await;
    let why = "it refused the connection: nothing is listening there".to_owned();
    assert_eq!(sampled, [Sampled::Failed(Failure::Offline { host: address.to_string(), why })]);
}

#[tokio::test]
async fn without_a_key_no_request_is_sent() {
    let (_listener, http) = pair(PATIENT()).await;
    let http = http.with(PATIENT(), |_| None);
    let sampled: Vec<Sampled> = http.sample(request()).collect().await;
    let failure = Failure::NoKey { provider: "mine".into(), variable: "MY_KEY".into() };
    assert_eq!(sampled, [Sampled::Failed(failure)]);
}

#[tokio::test]
async fn no_key_is_sent_over_plain_http_to_another_machine() {
    let mut http = http("anthropic", "http://relay.example".to_owned(), PATIENT());
    http.endpoint.named_by_user = false;
    let sampled: Vec<Sampled> = http.sample(request()).collect().await;
    assert!(
        matches!(&sampled[..], [Sampled::Failed(Failure::Unauthorized { said, .. })] if said.contains("plain HTTP")),
        "{sampled:?}"
    );
}

#[tokio::test]
async fn debug_output_of_the_client_and_its_headers_hides_the_key() {
    let (_listener, http) = pair(PATIENT()).await;
    let key = http.endpoint.key.read("mine", env).await.unwrap();
    let headers = http.headers(&request(), key.as_ref(), &env).unwrap();
    let shown = format!("{http:?} {key:?} {headers:?}");
    assert!(!shown.contains(KEY), "{shown}");
}
