//! Sends requests to models over HTTP, with timeouts, and turns the provider's answer or the network's error into
//! values. Nothing happens before the returned stream is polled.

mod headers;
mod list;
mod proxy;

use super::dialect::Asked;
use super::endpoint::Endpoint;
use super::fault::{self, Refusal, without_secrets};
use super::key::{Env, Secret, Used, environment};
use super::parameter::Sent;
use super::reading::Reading;
use super::{Provider, Sampled};
use crate::event::{Delta, Failure};
use crate::message::Request;
use crate::text::cause;
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use proxy::Proxy;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response, StatusCode};
use rustls_platform_verifier::BuilderVerifierExt;
use std::collections::VecDeque;
use std::error::Error;
use std::future::poll_fn;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::{Duration, SystemTime};
use std::{io, mem};
use tokio::time::{Instant, sleep, timeout};

/// The most bytes of an error's body that are read.
const ERROR_BODY: usize = 64 << 10;

/// The pause between two reads while text arrives. It is slightly longer than the pause between two paints of the
/// screen, so that new text is painted at once. Reading each token separately would wake the whole program each time.
const READ_PAUSE: Duration = Duration::from_millis(49);

/// The most bytes of text that are read before the text is passed on.
const MOST_AT_ONCE: usize = 64 << 10;

/// Why a proxy answers with status 407.
const NEEDS_PASSWORD: &str = "it wants a valid user name and password (407)";

/// Bytes without content (pings, comments) are reported at most once in this time.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// The timeouts of the stages of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    pub connect: Duration,
    /// The longest time from the request to the first byte of the answer. In this time a local model reads the whole
    /// prompt.
    pub first: Duration,
    /// The longest time between two bytes of the answer, including comments and pings.
    pub between: Duration,
}

impl Default for Clocks {
    fn default() -> Clocks {
        let [connect, first, between] = [15, 300, 90].map(Duration::from_secs);
        Clocks { connect, first, between }
    }
}

/// Sends requests to one endpoint over HTTP. Clones share the connections.
#[derive(Debug, Clone)]
pub struct Http {
    endpoint: Endpoint,
    env: Env,
    clocks: Clocks,
    used: Used,
    client: Arc<OnceLock<Result<Client, String>>>,
}

impl Provider for Http {
    fn sample(&self, request: Arc<Request>) -> BoxStream<'static, Sampled> {
        stream::unfold(Stage::Begin(Box::new((self.clone(), request))), step).boxed()
    }

    fn shown(&self, request: &Request) -> Option<(String, String)> {
        self.described(request)
    }
}

enum Stage {
    Begin(Box<(Http, Arc<Request>)>),
    Body(Box<Body>),
    Over,
}

async fn step(mut stage: Stage) -> Option<(Sampled, Stage)> {
    loop {
        stage = match stage {
            Stage::Begin(begin) => match begin.0.open(&begin.1).await {
                Ok(body) => Stage::Body(Box::new(body)),
                Err(failure) => return Some((Sampled::Failed(failure), Stage::Over)),
            },
            Stage::Body(mut body) => {
                let sampled = body.next().await;
                let over = !matches!(sampled, Sampled::Delta(_));
                return Some((sampled, if over { Stage::Over } else { Stage::Body(body) }));
            }
            Stage::Over => return None,
        }
    }
}

impl Http {
    pub fn new(endpoint: Endpoint) -> Http {
        let (clocks, used) = (Clocks::default(), Used::default());
        Http { endpoint, env: environment, clocks, used, client: Arc::default() }
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Records in `used` every key that a request uses.
    #[must_use]
    pub fn noting(self, used: Used) -> Http {
        Http { used, ..self }
    }

    /// Uses other timeouts, and reads keys from another environment than the program's own.
    #[must_use]
    pub fn with(self, clocks: Clocks, env: Env) -> Http {
        Http { env, clocks, ..self }
    }

    async fn open(&self, request: &Request) -> Result<Body, Failure> {
        if let Some(said) = self.endpoint.exposes_key() {
            return Err(Failure::Unauthorized { provider: self.endpoint.name.clone(), said });
        }
        let key = self.endpoint.key.read(&self.endpoint.name, self.env).await?;
        let secrets = self.secrets(key.as_ref());
        let redact = |failure| without_secrets(failure, &secrets);
        let body = self.endpoint.dialect.body(request, self.endpoint.quirks);
        let mut asked = Asked::new(&self.endpoint.name, request, seed());
        asked.sent = Sent::of(self.endpoint.dialect, &body);
        // `to_vec` is faster than `to_string`, which writes the text piece by piece through a formatter
        let body =
            serde_json::to_vec(&body).map_err(|error| Failure::Protocol { said: cause(&error) })?;
        let response = self.send(request, body, key.as_ref()).await.map_err(redact)?;
        let response = self.accepted(response, &asked).await.map_err(redact)?;
        let reading = Reading::new(self.endpoint.dialect, asked);
        let bytes = response.bytes_stream().map(Result::ok).boxed();
        Ok(Body {
            bytes,
            reading,
            waiting: VecDeque::new(),
            secrets,
            clocks: self.clocks,
            begun: false,
            ended: false,
            is_text_only: false,
            last_sign: Instant::now(),
        })
    }

    async fn send(
        &self,
        request: &Request,
        body: Vec<u8>,
        key: Option<&Secret>,
    ) -> Result<Response, Failure> {
        let sent = self
            .client()?
            .post(self.url(request))
            .headers(self.headers(request, key, &self.env)?)
            .body(body)
            .send();
        match timeout(self.clocks.first, sent).await {
            Err(_) => Err(stalled(self.clocks.first)),
            Ok(Err(error)) => Err(self.no_answer(&error)),
            Ok(Ok(response)) => Ok(response),
        }
    }

    fn url(&self, request: &Request) -> String {
        self.endpoint.dialect.url(&self.endpoint.base_url, &request.model)
    }

    fn client(&self) -> Result<&Client, Failure> {
        let secure = self.endpoint.base_url.starts_with("https");
        let built = self
            .client
            .get_or_init(|| build(self.endpoint.is_local(), secure, self.clocks.connect));
        built.as_ref().map_err(|why| self.offline(why.clone()))
    }

    fn offline(&self, why: String) -> Failure {
        Failure::Offline { host: self.endpoint.host(), why }
    }

    /// The failure of a request that did not reach the server. If a proxy of the environment stands between, it is
    /// named.
    fn unreached(&self, why: String) -> Failure {
        let proxy = proxy::of(&self.endpoint.base_url, self.env);
        match proxy.filter(|_| !self.endpoint.is_local()) {
            Some(Proxy { variable, address }) => {
                let (variable, host) = (variable.to_owned(), self.endpoint.host());
                Failure::Proxy { variable, address, host, why }
            }
            None => self.offline(why),
        }
    }

    /// The failure for a request that got no answer.
    fn no_answer(&self, error: &reqwest::Error) -> Failure {
        if error.is_connect() && error.is_timeout() {
            return self
                .unreached(format!("no connection within {} s", self.clocks.connect.as_secs()));
        }
        if error.is_connect() || error.is_builder() {
            return self.unreached(reason(error));
        }
        let why = reason(error);
        // with these messages the HTTP library reports an answer that is not HTTP or has a broken head
        if ["parsed", "too large"].iter().any(|it| why.ends_with(it)) {
            return Failure::Protocol { said: why };
        }
        Failure::Cut
    }

    /// Returns the response if it may be an answer, otherwise the failure.
    async fn accepted(&self, response: Response, asked: &Asked) -> Result<Response, Failure> {
        let status = response.status();
        let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        if status.is_redirection() {
            let to = header(LOCATION.as_str()).unwrap_or_default();
            return Err(Failure::Protocol { said: fault::snippet(&format!("redirected to {to}")) });
        }
        let packed = header(CONTENT_ENCODING.as_str()).filter(|it| it != "identity");
        if let (Some(packed), true) = (&packed, status.is_success()) {
            let said = format!("compressed with {packed}, which Caliban did not ask for");
            return Err(Failure::Protocol { said: fault::snippet(&said) });
        }
        let kind = header(CONTENT_TYPE.as_str()).unwrap_or_default();
        if status.is_success() && !kind.starts_with("text/html") {
            return Ok(response);
        }
        if status == StatusCode::PROXY_AUTHENTICATION_REQUIRED
            && let failure @ Failure::Proxy { .. } = self.unreached(NEEDS_PASSWORD.to_owned())
        {
            return Err(failure);
        }
        let after_ms = fault::wait::in_headers(header, SystemTime::now());
        let body = match packed {
            Some(_) => String::new(),
            None => read_some(response, self.clocks.between).await,
        };
        Err(refusal(status, &body, after_ms, asked))
    }
}

fn refusal(status: StatusCode, body: &str, after_ms: Option<u64>, asked: &Asked) -> Failure {
    if status.is_success() && !body.contains("\"error\"") {
        return Failure::Protocol { said: fault::snippet(body) };
    }
    let Asked { provider, model, sent, .. } = asked;
    fault::from_status(&Refusal { status: status.as_u16(), body, after_ms, provider, model, sent })
}

/// An answer that is arriving.
struct Body {
    /// The answer's bytes; `None` if the connection broke.
    bytes: BoxStream<'static, Option<Bytes>>,
    reading: Reading,
    waiting: VecDeque<Sampled>,
    /// Keys to remove from the text of a failure.
    secrets: Vec<Secret>,
    clocks: Clocks,
    begun: bool,
    ended: bool,
    /// Whether the last bytes had only text. Then the next read may pause.
    is_text_only: bool,
    /// When the arrival of bytes without content was last reported.
    last_sign: Instant,
}

impl Body {
    async fn next(&mut self) -> Sampled {
        match self.sampled().await {
            Sampled::Failed(failure) => Sampled::Failed(without_secrets(failure, &self.secrets)),
            sampled => sampled,
        }
    }

    async fn sampled(&mut self) -> Sampled {
        loop {
            if let Some(sampled) = self.waiting.pop_front() {
                return sampled;
            }
            let clock = if self.begun { self.clocks.between } else { self.clocks.first };
            let silent = timeout(clock, self.read()).await.is_err();
            if !silent && !self.ended {
                continue;
            }
            // A broken connection is treated like an early end of the answer: only the decoder knows whether the reply
            // was complete.
            let mut end = Vec::new();
            self.reading.end(&mut end);
            if let (true, Some(last @ Sampled::Failed(_))) = (silent, end.last_mut()) {
                *last = Sampled::Failed(stalled(clock));
            }
            self.waiting.extend(end);
        }
    }

    /// Reads the next bytes, and all further bytes that have already arrived. While text arrives, this pauses before it
    /// reads. In the middle of the pause it reads the bytes that have arrived, so that the end of the reply, or a call
    /// after the text, is not delayed.
    async fn read(&mut self) {
        let mut room = MOST_AT_ONCE;
        if self.is_text_only {
            sleep(READ_PAUSE / 2).await;
            if let Some(next) = self.available().await
                && !self.take(next.flatten(), &mut room).await
            {
                return;
            }
            sleep(READ_PAUSE / 2).await;
        }
        let next = if self.waiting.is_empty() {
            Some(self.bytes.next().await)
        } else {
            self.available().await
        };
        if let Some(next) = next {
            self.take(next.flatten(), &mut room).await;
        }
    }

    /// Decodes `next`, and all further bytes that have already arrived. Returns false if the result has to be passed on
    /// at once.
    async fn take(&mut self, mut next: Option<Bytes>, room: &mut usize) -> bool {
        loop {
            let Some(bytes) = next else {
                self.ended = true;
                return false;
            };
            self.begun = true;
            *room = room.saturating_sub(bytes.len());
            self.push(&bytes);
            if *room == 0 || !self.is_text_only {
                self.is_text_only = false;
                return false;
            }
            match self.available().await {
                Some(more) => next = more.flatten(),
                None => return true,
            }
        }
    }

    /// The next item of the stream of bytes; `None` if it has not arrived. `Some(None)` is the end of the stream.
    async fn available(&mut self) -> Option<Option<Option<Bytes>>> {
        // The connection is a separate task, which has to run before it can pass its bytes on. Tokio's `yield_now`
        // would also ask the system for events each time, which is slower.
        for _ in 0..2 {
            if let Some(next) = self.bytes.next().now_or_never() {
                return Some(next);
            }
            let mut waited = false;
            poll_fn(|context| {
                if mem::replace(&mut waited, true) {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
        None
    }

    /// Decodes bytes. Consecutive texts are joined.
    fn push(&mut self, bytes: &[u8]) {
        let mut read = Vec::new();
        self.reading.push(bytes, &mut read);
        self.is_text_only = !read.is_empty();
        if self.is_text_only || self.last_sign.elapsed() > SIGN_OF_LIFE {
            self.last_sign = Instant::now();
            read.extend((!self.is_text_only).then_some(Sampled::Delta(Delta::Alive)));
        }
        for sampled in read {
            match (self.waiting.back_mut(), sampled) {
                (Some(Sampled::Delta(Delta::Text(whole))), Sampled::Delta(Delta::Text(more)))
                | (
                    Some(Sampled::Delta(Delta::Thinking(whole))),
                    Sampled::Delta(Delta::Thinking(more)),
                ) => whole.push_str(&more),
                (_, sampled) => {
                    let is_text =
                        matches!(sampled, Sampled::Delta(Delta::Text(_) | Delta::Thinking(_)));
                    self.is_text_only &= is_text;
                    self.waiting.push_back(sampled);
                }
            }
        }
    }
}

fn stalled(clock: Duration) -> Failure {
    Failure::Stalled { seconds: clock.as_secs() }
}

/// A random number, from which ids of calls and a session's mark are made.
pub fn seed() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

/// Makes the HTTP client. Servers on this machine are never reached through a proxy. Certificates are read only for
/// HTTPS, because a machine that uses only a local model may have none.
pub(super) fn build(local: bool, secure: bool, connect: Duration) -> Result<Client, String> {
    let tls = tls(secure).map_err(|error| format!("no TLS on this machine: {}", cause(&error)))?;
    let builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .connect_timeout(connect)
        .redirect(reqwest::redirect::Policy::none())
        // A connection that died while the machine slept is noticed after 30 s, long before `Clocks::first` ends.
        .http2_keep_alive_interval(Duration::from_secs(20))
        .http2_keep_alive_timeout(Duration::from_secs(10))
        .user_agent(concat!("caliban/", env!("CARGO_PKG_VERSION")));
    let builder = if local { builder.no_proxy() } else { builder };
    builder.build().map_err(|error| reason(&error))
}

pub(crate) fn tls(secure: bool) -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?;
    let trusting = if secure {
        builder.with_platform_verifier()?
    } else {
        builder.with_root_certificates(rustls::RootCertStore::empty())
    };
    let mut config = trusting.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The beginning of a body: at most `ERROR_BODY` bytes, up to the first pause longer than `clock`.
async fn read_some(mut response: Response, clock: Duration) -> String {
    let mut body = Vec::new();
    while let Ok(Ok(Some(bytes))) = timeout(clock, response.chunk()).await {
        body.extend_from_slice(&bytes[..bytes.len().min(ERROR_BODY - body.len())]);
        if body.len() == ERROR_BODY {
            break;
        }
    }
    String::from_utf8_lossy(&body).into_owned()
}

/// The innermost cause of an error, in words.
pub(crate) fn reason(error: &reqwest::Error) -> String {
    let causes: Vec<&dyn Error> =
        std::iter::successors(error.source(), |&cause| cause.source()).collect();
    let io = causes.iter().rev().find_map(|cause| cause.downcast_ref::<io::Error>());
    let kind = io.map(io::Error::kind);
    let texts: Vec<String> = causes.iter().map(cause).collect();
    let says = |text: &str| texts.iter().any(|said| said.contains(text));
    if says("dns error") || says("failed to lookup address") {
        return "its name could not be resolved".to_owned();
    }
    match kind {
        Some(io::ErrorKind::ConnectionRefused) => {
            "it refused the connection: nothing is listening there".to_owned()
        }
        Some(io::ErrorKind::ConnectionReset) => "it reset the connection".to_owned(),
        Some(io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable) => {
            "there is no route to it".to_owned()
        }
        _ => fault::snippet(texts.last().map_or("the connection failed", String::as_str)),
    }
}

#[cfg(test)]
mod tests;
