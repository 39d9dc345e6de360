//! Connects sandboxed commands to the network: an HTTP proxy that lets them connect to the hosts that the user's rules
//! allow, and to no others. It checks the addresses of a host and connects to one of the addresses that it has checked.

mod head;
#[cfg(test)]
mod tests;

use super::Web;
use super::address;
use crate::rules::{Rule, Rules};
use crate::supervisor::USER;
use crate::text::cause;
use base64::prelude::{BASE64_STANDARD, Engine};
use head::{Asked, Fault, MOST, Way};
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use url::Host;

/// The most connections of a command at the same time. Further ones wait.
const CONNECTIONS: usize = 128;
/// The most refusals of a command that are kept.
const REFUSALS: usize = 50;
/// The answer to a request without the password. Some programs send it only after this answer.
const NO_PASS: &str =
    "407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"caliban\"";
/// How long a command may take to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// How long to look up a host, and how long to connect to one of its addresses.
const TIME: Duration = Duration::from_secs(15);
/// How long to wait after a failed `accept`, for example for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// Decides on the connections of one command.
#[derive(Clone)]
pub struct Gate {
    /// The rules as they are now.
    pub rules: watch::Receiver<Arc<Rules>>,
    pub web: Web,
    /// Why the hosts that `rules` allow are closed, as the end of a sentence that begins with the host. `None` if they
    /// are open.
    pub closed: Option<&'static str>,
    /// Rules that open further hosts to the command, even if `closed` is set.
    pub opened: Vec<Rule>,
    /// The password of the command's programs. Other commands of the conversation reach the proxy too. `None` if no
    /// password is needed.
    pub pass: Option<String>,
}

/// A proxy that runs. Dropping it ends all of its connections.
pub struct Proxy {
    task: AbortHandle,
    refused: mpsc::Receiver<Refusal>,
}

/// A connection that was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The host and the port.
    pub host: String,
    /// The end of a sentence that begins with the host.
    pub why: String,
}

impl Refusal {
    /// The line for the log of permissions.
    pub fn decision(&self, command: &str) -> String {
        let Refusal { host, why } = self;
        let first: String = command.chars().take(100).collect();
        format!("refused: connect to {host}, which {why}; for {}", first.escape_debug())
    }
}

/// What a model is told about the refused connections of its command.
pub fn told(refused: &[Refusal]) -> Option<String> {
    const SHOWN: usize = 10;
    let each = refused.iter().take(SHOWN).map(|it| format!("{} {}", it.host, it.why));
    let each = each.collect::<Vec<_>>().join("; ");
    let more = refused.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    (!refused.is_empty()).then(|| {
        format!(
            "[the sandbox refused connections: {each}{more}. If the command needs a host that is not denied, call shell again \
             and name it in hosts: the user is asked]"
        )
    })
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Proxy {
    /// Begins to serve the connections of a listener.
    pub fn start(listener: std::net::TcpListener, gate: Gate) -> io::Result<Proxy> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let (refusals, refused) = mpsc::channel(REFUSALS);
        let task = tokio::spawn(accept(listener, gate, refusals)).abort_handle();
        Ok(Proxy { task, refused })
    }

    /// The refusals since the last call, each once.
    pub fn refusals(&mut self) -> Vec<Refusal> {
        let mut all: Vec<Refusal> = Vec::new();
        while let Ok(it) = self.refused.try_recv() {
            if !all.contains(&it) {
                all.push(it);
            }
        }
        all
    }
}

/// Serves on a thread of its own, until the process ends. For the check of the sandbox.
pub fn serve_without_rules(listener: std::net::TcpListener) {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let rules = watch::channel(Arc::default()).1;
        let gate = Gate {
            rules,
            web: Web::new(Vec::new(), PathBuf::new()),
            closed: None,
            opened: Vec::new(),
            pass: None,
        };
        if let Ok(runtime) = runtime {
            runtime.block_on(async {
                let _proxy = Proxy::start(listener, gate);
                std::future::pending::<()>().await;
            });
        }
    });
}

async fn accept(listener: TcpListener, gate: Gate, refusals: mpsc::Sender<Refusal>) {
    // all connections end with this task
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            got = listener.accept(), if open.len() < CONNECTIONS => match got {
                Ok((stream, _)) => drop(open.spawn(attend(stream, gate.clone(), refusals.clone()))),
                Err(_) => sleep(PAUSE).await,
            },
            Some(_) = open.join_next(), if !open.is_empty() => (),
        }
    }
}

/// Serves one connection: one request, or one tunnel.
async fn attend(mut client: TcpStream, gate: Gate, refusals: mpsc::Sender<Refusal>) {
    let read = timeout(HEAD_TIME, head(&mut client)).await;
    let asked = match read.unwrap_or(Err(Fault::Slow)) {
        Ok(asked) => asked,
        Err(Fault::Gone) => return,
        Err(fault) => return answer(&mut client, fault.status(), fault.said()).await,
    };
    if !gate.knows(asked.pass.as_deref()) {
        let said = "This proxy belongs to another command. Use the address in HTTP_PROXY.";
        return answer(&mut client, NO_PASS, said).await;
    }
    match gate.connect(&asked.host, asked.port).await {
        Ok(server) => {
            let closes = gate.closes(asked.host.to_string(), asked.port);
            tokio::select! {
                () = relay(client, server, asked) => (),
                () = closes => (),
            }
        }
        Err(Closed::Unreachable(why)) => {
            answer(&mut client, "502 Bad Gateway", &format!("{} {why}.", asked.named())).await;
        }
        Err(Closed::Refused(why)) => {
            let said = format!("Caliban refuses the connection: {} {why}.", asked.named());
            // further refusals of a command that tries a host again and again are dropped
            let _ = refusals.try_send(Refusal { host: asked.named(), why });
            answer(&mut client, "403 Forbidden", &said).await;
        }
    }
}

/// Reads the head of a request.
async fn head(client: &mut TcpStream) -> Result<Asked, Fault> {
    let mut bytes = Vec::with_capacity(1024);
    loop {
        if let Some(asked) = head::parse(&bytes)? {
            return Ok(asked);
        }
        if bytes.len() >= MOST {
            return Err(Fault::Large);
        }
        let room = MOST - bytes.len();
        match (&mut *client).take(room as u64).read_buf(&mut bytes).await {
            Ok(1..) => (),
            _ => return Err(Fault::Gone),
        }
    }
}

async fn answer(client: &mut TcpStream, status: &str, said: &str) {
    let length = said.len() + 1;
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: \
         close\r\n\r\n{said}\n"
    );
    let _ = client.write_all(text.as_bytes()).await;
    let _ = client.shutdown().await;
}

/// Why no connection was made: the end of a sentence that begins with the host.
enum Closed {
    Refused(String),
    Unreachable(String),
}

impl Gate {
    /// Whether any host is open to the command.
    pub fn opens(&self) -> bool {
        !self.opened.is_empty() || self.closed.is_none() && self.rules.borrow().opens_network()
    }

    /// Whether a request comes from the command.
    fn knows(&self, pass: Option<&str>) -> bool {
        self.pass.as_ref().is_none_or(|it| {
            let word = BASE64_STANDARD.encode(format!("{USER}:{it}"));
            pass.and_then(|it| it.split_once(' ')).is_some_and(|(kind, given)| {
                kind.eq_ignore_ascii_case("basic") && given.trim() == word
            })
        })
    }

    /// Whether the command may connect to this host. The error is the end of a sentence that begins with the host.
    fn check(&self, host: &str, port: u16) -> Result<(), String> {
        let rules = self.rules.borrow();
        if rules.is_opened(&self.opened, host, port) {
            return Ok(());
        }
        rules.reaches(host, port)?;
        self.closed.map_or(Ok(()), |why| Err(why.to_owned()))
    }

    async fn connect(&self, host: &Host, port: u16) -> Result<TcpStream, Closed> {
        let name = host.to_string();
        self.check(&name, port).map_err(Closed::Refused)?;
        let found = match host {
            Host::Ipv4(ip) => vec![IpAddr::V4(*ip)],
            Host::Ipv6(ip) => vec![IpAddr::V6(*ip)],
            Host::Domain(name) => self.found(name).await?,
        };
        if !address::is_listed(&name, port, &self.web.private) {
            for ip in &found {
                address::allowed(*ip).map_err(Closed::Refused)?;
            }
        }
        let mut why = "has no address".to_owned();
        for ip in found {
            match timeout(TIME, TcpStream::connect((ip, port))).await {
                Ok(Ok(server)) => return Ok(server),
                Ok(Err(error)) => why = format!("cannot be reached: {}", cause(&error)),
                Err(_) => "could not be reached in time".clone_into(&mut why),
            }
        }
        Err(Closed::Unreachable(why))
    }

    /// Waits until the rules no longer allow a connection.
    async fn closes(mut self, host: String, port: u16) {
        while self.rules.changed().await.is_ok() {
            if self.check(&host, port).is_err() {
                return;
            }
        }
        std::future::pending::<()>().await;
    }

    async fn found(&self, name: &str) -> Result<Vec<IpAddr>, Closed> {
        match timeout(TIME, (self.web.lookup)(name.to_owned())).await {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(error)) => {
                let why = format!("has no known address: {}", cause(&error));
                Err(Closed::Unreachable(why))
            }
            Err(_) => Err(Closed::Unreachable("could not be resolved in time".to_owned())),
        }
    }
}

async fn relay(mut client: TcpStream, mut server: TcpStream, asked: Asked) {
    match asked.way {
        Way::Tunnel => {
            let begun = client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await;
            if begun.is_ok() && server.write_all(&asked.bytes).await.is_ok() {
                let _ = copy_bidirectional(&mut client, &mut server).await;
            }
        }
        Way::Request { body } => {
            if server.write_all(&asked.bytes).await.is_err() {
                return;
            }
            let (from, mut to) = client.split();
            let (mut back, mut forth) = server.split();
            // what comes after the body is no part of the request, and is not sent
            let mut rest = from.take(body);
            // ends if the client closes the connection within the body
            let sending = async {
                if copy(&mut rest, &mut forth).await.is_ok_and(|it| it == body) {
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                () = sending => (),
                _ = copy(&mut back, &mut to) => (),
            }
        }
    }
}
