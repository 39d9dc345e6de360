//! Servers of tools, by the Model Context Protocol. A server is a program of the user's, which is started when a call
//! first needs it, or an address that is reached by HTTP. All conversations of this program share the servers.

mod answer;
mod definition;
mod fault;
mod host;
mod link;
mod name;
mod offer;
mod process;
mod remote;

pub use answer::Answer;
pub use definition::{Address, Definition, Place, Program, Variables};
pub use fault::Fault;
pub use host::Host;
pub use name::{called, full};
pub use offer::{Offer, found};

use link::Link;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// The user's servers. By default there is none.
#[derive(Clone, Default)]
pub struct Servers(Arc<Inner>);

#[derive(Default)]
struct Inner {
    host: Host,
    all: BTreeMap<String, Server>,
}

/// How a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// No call has needed it yet.
    Idle,
    Starting,
    /// It runs, by this revision of the protocol, and has named so many tools.
    Runs {
        revision: String,
        tools: usize,
    },
    /// It could not be started, or has ended.
    Failed(Fault),
}

struct Server {
    definition: Definition,
    /// The right to start the server.
    starting: Semaphore,
    /// `None` until the server is first needed.
    link: watch::Sender<Option<Arc<Link>>>,
    /// The tools that the server has named last.
    offers: watch::Sender<Vec<Offer>>,
    /// Why the server could not be used the last time.
    fault: watch::Sender<Option<Fault>>,
}

impl Servers {
    /// The servers of these definitions, by name. None is started.
    pub fn new(host: Host, definitions: BTreeMap<String, Definition>) -> Servers {
        let server = |definition| Server {
            definition,
            starting: Semaphore::new(1),
            link: watch::Sender::default(),
            offers: watch::Sender::default(),
            fault: watch::Sender::default(),
        };
        let all = definitions.into_iter().map(|(name, it)| (name, server(it))).collect();
        Servers(Arc::new(Inner { host, all }))
    }

    pub fn is_empty(&self) -> bool {
        self.0.all.is_empty()
    }

    /// How each server is, by name.
    pub fn states(&self) -> Vec<(String, State)> {
        self.0.all.iter().map(|(name, server)| (name.clone(), server.state())).collect()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.all.keys().map(String::as_str)
    }

    /// The tools of all servers, each with its server's name. Starts the servers that do not run, all at once.
    pub async fn offers(&self) -> Vec<(String, Result<Vec<Offer>, Fault>)> {
        let asked = self.0.all.iter().map(async |(name, server)| {
            let link = self.link(name, server).await;
            let offers = match link {
                Ok(link) => self.asked(name, server, &link).await,
                Err(fault) => Err(fault),
            };
            (name.clone(), offers)
        });
        futures::future::join_all(asked).await
    }

    async fn asked(&self, name: &str, server: &Server, link: &Link) -> Result<Vec<Offer>, Fault> {
        let offers = link.offers(name).await?;
        server.offers.send_replace(offers.clone());
        Ok(offers)
    }

    /// The tool of this name, if its server has named it since this program began.
    pub fn known(&self, name: &str) -> Option<Offer> {
        self.0.all.values().find_map(|it| it.known(name))
    }

    /// Calls a tool of a server by the tool's whole name. Dropping the future cancels the call at the server.
    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Answer, Fault> {
        let Some((name, server)) = self.0.all.get_key_value(server) else {
            return Err(Fault::new("is not among the servers in `mcp`"));
        };
        let link = self.link(name, server).await?;
        let offer = match server.known(tool) {
            Some(offer) => Some(offer),
            None => self.asked(name, server, &link).await?.into_iter().find(|it| it.name == tool),
        };
        let Some(offer) = offer else {
            return Err(Fault::new("has no tool of this name: call mcp_search for those it has"));
        };
        let answer = link.call(name, &offer.tool, arguments, server.definition.timeout).await;
        if !link.is_open() {
            server.note(answer.as_ref().err());
        }
        answer
    }

    /// The connection to a server. A server that has ended is started again.
    async fn link(&self, name: &str, server: &Server) -> Result<Arc<Link>, Fault> {
        let running = || server.link.borrow().clone().filter(|it| it.is_open());
        if let Some(link) = running() {
            return Ok(link);
        }
        let _right = server.starting.acquire().await;
        // another call may have started it meanwhile
        if let Some(link) = running() {
            return Ok(link);
        }
        let opened = Link::open(&self.0.host, name, &server.definition).await;
        server.note(opened.as_ref().err());
        let link = Arc::new(opened?);
        server.link.send_replace(Some(link.clone()));
        Ok(link)
    }
}

impl Server {
    fn note(&self, fault: Option<&Fault>) {
        self.fault.send_replace(fault.cloned());
    }

    fn state(&self) -> State {
        if let Some(link) = self.link.borrow().as_ref().filter(|it| it.is_open()) {
            return State::Runs { revision: link.revision(), tools: self.offers.borrow().len() };
        }
        if self.starting.available_permits() == 0 {
            return State::Starting;
        }
        self.fault.borrow().clone().map_or(State::Idle, State::Failed)
    }

    fn known(&self, name: &str) -> Option<Offer> {
        self.offers.borrow().iter().find(|it| it.name == name).cloned()
    }
}
