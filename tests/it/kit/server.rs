//! A fake model server on this machine. It sends the replies that the test queues, records every request, and refuses
//! every request that the real providers would refuse.

use super::LIMIT;
use super::dialects::{self, openai_chat::OpenAiChat, refusal};
use super::http::{self, Request};
use super::reply::{Reply, Step};
use std::collections::VecDeque;
use std::io::{ErrorKind, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How long a request waits for a reply to be queued before it counts as unexpected.
const PATIENCE: Duration = Duration::from_secs(5);

/// The server runs until it is dropped. The drop panics if a request was refused or had no queued reply, unless the
/// test has called `take_refusals` or `take_unexpected`.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<(Reply, usize)>,
    /// Replies that are meant for certain requests, each with its index in `gates`. The one that was added last comes
    /// first.
    meant: Vec<(Meant, Reply, usize)>,
    /// The reply to requests for which no reply is queued, with its index in `gates`.
    otherwise: Option<(Reply, usize)>,
    requests: Vec<Request>,
    /// For each request, whether the client closed the connection before the reply ended.
    closed: Vec<bool>,
    /// For each reply added so far: how many gates the test has opened that the reply has not passed yet. `None` if the
    /// reply need not wait at any gate.
    gates: Vec<Option<usize>>,
    refusals: Vec<String>,
    /// The requests for which no reply was queued, with their numbers.
    unexpected: Vec<(usize, String)>,
    /// How long a request waits for a reply, which the test may queue a moment later.
    patience: Duration,
    stopping: bool,
    /// Requests that this server refuses in addition to those that the provider's rules refuse.
    strict: Vec<Strict>,
    /// Whether requests without a key are accepted, as by a local server.
    keyless: bool,
}

/// A function that tells whether a reply is meant for a request.
type Meant = Box<dyn Fn(&Request) -> bool + Send>;

/// The body with which a request is refused.
type Refusal = Box<dyn Fn(&Request) -> Option<String> + Send>;

/// Refuses certain requests with a status and a body.
struct Strict {
    /// The body with which a request is refused; `None` if it is not.
    refusal: Refusal,
    status: u16,
}

/// Opens the gates of one reply.
pub struct Gate {
    shared: Arc<Shared>,
    index: usize,
}

impl Gate {
    /// Opens the next gate.
    pub fn release(&self) {
        if let Some(count) = &mut self.shared.lock().gates[self.index] {
            *count += 1;
        }
        self.shared.changed.notify_all();
    }

    /// Opens all gates.
    pub fn finish(&self) {
        self.shared.lock().gates[self.index] = None;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits until `ready` returns a value. Panics after `LIMIT`.
    #[track_caller]
    fn wait<T>(&self, awaited: &str, ready: impl Fn(&State) -> Option<T>) -> T {
        let start = Instant::now();
        let mut state = self.lock();
        loop {
            if let Some(value) = ready(&state) {
                return value;
            }
            assert!(
                start.elapsed() < LIMIT,
                "waited in vain for {awaited}; {} requests came; refused: {:?}; unexpected: {:?}",
                state.requests.len(),
                state.refusals,
                state.unexpected,
            );
            let waited = self.changed.wait_timeout(state, Duration::from_millis(100));
            state = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }
}

impl Server {
    pub fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::<Shared>::default();
        shared.lock().patience = PATIENCE;
        let theirs = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if theirs.lock().stopping {
                    return;
                }
                let shared = theirs.clone();
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        Server { address, shared }
    }

    /// Accepts requests without a key, as a local server does.
    #[must_use]
    pub fn without_key(self) -> Server {
        self.shared.lock().keyless = true;
        self
    }

    /// Answers a request without a queued reply at once, instead of waiting until the test queues a reply.
    #[must_use]
    pub fn impatient(self) -> Server {
        self.shared.lock().patience = Duration::ZERO;
        self
    }

    /// `http://127.0.0.1:PORT`: the base URL for Anthropic. For Chat Completions, append `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Queues a reply. The returned `Gate` opens the reply's gates, if it has any.
    pub fn reply(&self, reply: Reply) -> Gate {
        let mut state = self.shared.lock();
        let index = state.gates.len();
        state.gates.push(Some(0));
        state.queue.push_back((reply, index));
        drop(state);
        self.shared.changed.notify_all();
        Gate { shared: self.shared.clone(), index }
    }

    /// Answers requests for which `is_meant` returns true with this reply instead of a queued one.
    pub fn reply_to(&self, is_meant: impl Fn(&Request) -> bool + Send + 'static, reply: Reply) {
        self.hold(is_meant, reply).finish();
    }

    /// As `reply_to`, for a reply with gates.
    pub fn hold(&self, is_meant: impl Fn(&Request) -> bool + Send + 'static, reply: Reply) -> Gate {
        let mut state = self.shared.lock();
        let index = state.gates.len();
        state.gates.push(Some(0));
        state.meant.insert(0, (Box::new(is_meant), reply, index));
        Gate { shared: self.shared.clone(), index }
    }

    /// Does the same as `reply_to`. The returned `Gate` opens the gates of the reply.
    pub fn reply_gated(
        &self,
        is_meant: impl Fn(&Request) -> bool + Send + 'static,
        reply: Reply,
    ) -> Gate {
        self.reply_to(is_meant, reply);
        let mut state = self.shared.lock();
        let index = state.gates.len() - 1;
        state.gates[index] = Some(0);
        Gate { shared: self.shared.clone(), index }
    }

    /// From now on refuses every request for which `test` returns true, like a server that does not know a parameter.
    pub fn refuse(
        &self,
        status: u16,
        body: &str,
        is_refused: impl Fn(&Request) -> bool + Send + 'static,
    ) {
        let body = body.to_owned();
        self.refuse_as(status, move |it| is_refused(it).then(|| body.clone()));
    }

    /// As `refuse`, with a body that depends on the request.
    pub fn refuse_as(
        &self,
        status: u16,
        refusal: impl Fn(&Request) -> Option<String> + Send + 'static,
    ) {
        self.shared.lock().strict.push(Strict { refusal: Box::new(refusal), status });
    }

    /// Takes back all of `refuse` and `refuse_as`.
    pub fn tolerate(&self) {
        self.shared.lock().strict.clear();
    }

    /// Sets the reply that is sent whenever none is queued.
    pub fn otherwise(&self, reply: Reply) {
        let mut state = self.shared.lock();
        let index = state.gates.len();
        state.gates.push(None);
        state.otherwise = Some((reply, index));
    }

    /// All requests so far, including refused ones.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    /// The number of requests so far, without the cost of copying them.
    pub fn count(&self) -> usize {
        self.shared.lock().requests.len()
    }

    /// Waits until `count` requests have arrived.
    #[track_caller]
    pub fn wait_count(&self, count: usize) {
        self.shared.wait(&format!("request {count}"), |state| {
            (state.requests.len() >= count).then_some(())
        });
    }

    /// Waits until `count` requests have arrived, and returns all of them.
    #[track_caller]
    pub fn wait_requests(&self, count: usize) -> Vec<Request> {
        self.shared.wait(&format!("request {count}"), |state| {
            (state.requests.len() >= count).then(|| state.requests.clone())
        })
    }

    /// Waits until the client has closed the connection of the n-th request (from 1) before the reply ended.
    #[track_caller]
    pub fn wait_closed(&self, n: usize) {
        self.shared.wait(&format!("the end of connection {n}"), |state| {
            state.closed.get(n - 1).copied().unwrap_or(false).then_some(())
        });
    }

    /// The reasons of the refusals so far. Dropping the server then does not panic because of these refusals.
    pub fn take_refusals(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.lock().refusals)
    }

    /// The requests so far without a queued reply. Dropping the server then does not panic because of these requests.
    pub fn take_unexpected(&self) -> Vec<String> {
        let taken = std::mem::take(&mut self.shared.lock().unexpected);
        taken.into_iter().map(|it| it.1).collect()
    }

    /// Removes the queued replies that no request has used.
    pub fn forget(&self) {
        self.shared.lock().queue.clear();
    }

    /// The number of queued replies that no request has used.
    pub fn unfetched(&self) -> usize {
        self.shared.lock().queue.len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.lock().stopping = true;
        self.shared.changed.notify_all();
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
        if std::thread::panicking() {
            return;
        }
        let state = self.shared.lock();
        let (refused, unexpected) = (state.refusals.clone(), state.unexpected.clone());
        drop(state);
        assert!(refused.is_empty(), "the model server refused: {refused:#?}");
        assert!(unexpected.is_empty(), "no reply was queued for: {unexpected:#?}");
    }
}

/// Serves one connection, request after request.
fn serve(mut stream: TcpStream, shared: &Shared) {
    let _ = stream.set_nodelay(true);
    while let Some(request) = http::read(&mut stream, || shared.lock().stopping) {
        // On a busy machine a request may be read long after its client has closed the connection. Such a request must
        // not use up a reply.
        if is_closed(&stream) {
            return;
        }
        let (number, played) = match answer(&stream, shared, request) {
            (number, Some((gate, steps))) => (number, play(&mut stream, shared, gate, steps)),
            (number, None) => (number, Played::Closed),
        };
        match played {
            Played::Whole => {}
            Played::Cut => return,
            Played::Closed => {
                shared.lock().closed[number] = true;
                shared.changed.notify_all();
                return;
            }
        }
    }
}

/// The index of a reply in `gates`, and the reply's steps.
type Answer = (usize, Vec<Step>);

/// Records a request and picks its answer; `None` if the client left first.
fn answer(stream: &TcpStream, shared: &Shared, request: Request) -> (usize, Option<Answer>) {
    let mut state = shared.lock();
    let number = state.requests.len();
    let (dialect, asked) = (dialects::of(&request), request.clone());
    let line = format!("{} {}", request.method, request.path);
    let refused = refusal(&request).filter(|(status, _)| !(state.keyless && *status == 401));
    state.requests.push(request);
    state.closed.push(false);
    shared.changed.notify_all();
    let fail = |status, message: &str| {
        let body = dialect.unwrap_or(&OpenAiChat).error(status, None, message).to_string();
        let headers = [("content-type".to_owned(), "application/json".to_owned())];
        vec![Step::Bytes(http::whole(status, &headers, body.as_bytes()))]
    };
    if let Some((status, message)) = refused {
        state.refusals.push(message.clone());
        return (number, Some((0, fail(status, &message))));
    }
    let refused = state.strict.iter().find_map(|it| Some((it.status, (it.refusal)(&asked)?)));
    if let Some((status, body)) = refused {
        let headers = [("content-type".to_owned(), "application/json".to_owned())];
        let steps = vec![Step::Bytes(http::whole(status, &headers, body.as_bytes()))];
        return (number, Some((0, steps)));
    }
    if let Some((_, reply, gate)) = state.meant.iter().find(|it| (it.0)(&asked)) {
        return (number, Some((*gate, reply.render(dialect, &asked))));
    }
    state.unexpected.push((number, line));
    let start = Instant::now();
    loop {
        let next = state.queue.pop_front();
        if let Some((reply, gate)) = next.or_else(|| state.otherwise.clone()) {
            state.unexpected.retain(|it| it.0 != number);
            return (number, Some((gate, reply.render(dialect, &asked))));
        } else if is_closed(stream) {
            return (number, None);
        } else if state.stopping || start.elapsed() >= state.patience {
            return (number, Some((0, fail(500, "the test has queued no reply for this request"))));
        }
        let waited = shared.changed.wait_timeout(state, Duration::from_millis(20));
        state = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
    }
}

enum Played {
    Whole,
    /// The server closes the connection, because the reply says so or the test is over.
    Cut,
    Closed,
}

fn play(stream: &mut TcpStream, shared: &Shared, gate: usize, steps: Vec<Step>) -> Played {
    for step in steps {
        match step {
            Step::Cut => return Played::Cut,
            Step::Bytes(bytes) => {
                if is_closed(stream) || stream.write_all(&bytes).is_err() {
                    return Played::Closed;
                }
            }
            Step::Gate => {
                while !pass(shared, gate) {
                    if shared.lock().stopping {
                        return Played::Cut;
                    }
                    if is_closed(stream) {
                        return Played::Closed;
                    }
                }
            }
            Step::Endless(bytes) => {
                while !shared.lock().stopping {
                    if is_closed(stream) || stream.write_all(&bytes).is_err() {
                        return Played::Closed;
                    }
                    // The server sends no faster than a fast model, so that the client can keep up.
                    std::thread::sleep(Duration::from_millis(1));
                }
                return Played::Cut;
            }
        }
    }
    Played::Whole
}

/// Passes a gate if the test has opened it. Otherwise waits a moment and returns false.
fn pass(shared: &Shared, gate: usize) -> bool {
    let mut state = shared.lock();
    match &mut state.gates[gate] {
        None => return true,
        Some(0) => {}
        Some(count) => {
            *count -= 1;
            return true;
        }
    }
    let _ = shared.changed.wait_timeout(state, Duration::from_millis(5));
    false
}

fn is_closed(stream: &TcpStream) -> bool {
    let _ = stream.set_nonblocking(true);
    let peeked = stream.peek(&mut [0]);
    let _ = stream.set_nonblocking(false);
    match peeked {
        Ok(count) => count == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}
