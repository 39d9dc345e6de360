//! The ports at which a job listens in the network of its conversation, and the way to them from this machine, for those
//! that the user has opened.

use super::order::Port;
use crate::sandbox::network::{Listener, Network};
use crate::text::cause;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Interval, MissedTickBehavior, interval, sleep};

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(250);
/// Programs that choose no port get a higher one. Tests do so, servers for people do not.
const LAST: u16 = 32_767;
/// The most connections to a port at the same time. Further ones wait.
const CONNECTIONS: usize = 128;
/// How long to wait after a failed `accept`, for example for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Ports {
    network: Network,
    /// The process from which all processes of the job descend.
    supervisor: u32,
    /// The sockets that listen in the network, by their inodes, and whether they are the job's.
    known: BTreeMap<u64, bool>,
    open: BTreeMap<u16, Open>,
    looks: Interval,
}

struct Open {
    /// The address in the network.
    at: SocketAddr,
    forward: Option<Forward>,
}

/// A port of this machine. Dropping it ends its connections.
struct Forward {
    port: u16,
    task: AbortHandle,
}

impl Drop for Forward {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What has changed since the last look.
#[derive(Default)]
pub(super) struct Change {
    pub(super) new: Vec<u16>,
    pub(super) closed: Vec<u16>,
}

impl Ports {
    pub(super) fn new(network: Network, supervisor: u32) -> Ports {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ports { network, supervisor, known: BTreeMap::new(), open: BTreeMap::new(), looks }
    }

    /// Waits for the time of the next look.
    pub(super) async fn tick(&mut self) {
        self.looks.tick().await;
    }

    pub(super) fn rows(&self) -> Vec<Port> {
        let row = |(port, it): (&u16, &Open)| Port {
            port: *port,
            outside: it.forward.as_ref().map(|it| it.port),
        };
        self.open.iter().map(row).collect()
    }

    pub(super) async fn look(&mut self) -> Change {
        let (network, supervisor, known) =
            (self.network.clone(), self.supervisor, self.known.clone());
        let looking = move || {
            let found: Vec<Listener> =
                network.listeners().into_iter().filter(|it| it.at.port() <= LAST).collect();
            let is_new = |it: &&Listener| !known.contains_key(&it.inode);
            let new: BTreeSet<u64> = found.iter().filter(is_new).map(|it| it.inode).collect();
            let owned = if new.is_empty() { BTreeSet::new() } else { owned(supervisor, &new) };
            (found, owned)
        };
        let Ok((found, owned)) = tokio::task::spawn_blocking(looking).await else {
            return Change::default();
        };
        let known = |it: &Listener| self.known.get(&it.inode) == Some(&true);
        let is_own = |it: &Listener| known(it) || owned.contains(&it.inode);
        let now = found.iter().map(|it| (it.inode, is_own(it))).collect();
        let own: BTreeMap<u16, SocketAddr> =
            found.iter().filter(|it| is_own(it)).map(|it| (it.at.port(), it.at)).collect();
        self.known = now;
        let closed: Vec<u16> =
            self.open.keys().filter(|it| !own.contains_key(it)).copied().collect();
        self.open.retain(|it, _| own.contains_key(it));
        let mut new = Vec::new();
        for (port, at) in own {
            self.open.entry(port).or_insert_with(|| {
                new.push(port);
                Open { at, forward: None }
            });
        }
        Change { new, closed }
    }

    /// Opens a port on this machine: the same one, or another if it is in use. Returns it; `None` if the job does not
    /// listen any more.
    pub(super) fn forward(&mut self, port: u16) -> Option<Result<u16, String>> {
        let open = self.open.get_mut(&port)?;
        if let Some(forward) = &open.forward {
            return Some(Ok(forward.port));
        }
        Some(match Forward::begin(port, open.at, self.network.clone()) {
            Ok(forward) => {
                let port = forward.port;
                open.forward = Some(forward);
                Ok(port)
            }
            Err(fault) => Err(cause(&fault)),
        })
    }

    /// Closes a port on this machine.
    pub(super) fn close(&mut self, port: u16) {
        if let Some(open) = self.open.get_mut(&port) {
            open.forward = None;
        }
    }
}

impl Forward {
    fn begin(port: u16, to: SocketAddr, network: Network) -> std::io::Result<Forward> {
        let bind = |port| std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = bind(port).or_else(|_| bind(0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let listener = TcpListener::from_std(listener)?;
        let task = tokio::spawn(accept(listener, network, to)).abort_handle();
        Ok(Forward { port, task })
    }
}

async fn accept(listener: TcpListener, network: Network, to: SocketAddr) {
    // all connections end with this task
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            got = listener.accept(), if open.len() < CONNECTIONS => match got {
                Ok((client, _)) => drop(open.spawn(relay(client, network.clone(), to))),
                Err(_) => sleep(PAUSE).await,
            },
            Some(_) = open.join_next(), if !open.is_empty() => (),
        }
    }
}

async fn relay(mut client: TcpStream, network: Network, to: SocketAddr) {
    if let Ok(mut server) = network.connect(to).await {
        let _ = copy_bidirectional(&mut client, &mut server).await;
    }
}

/// Those of these sockets that a process below the supervisor has open.
fn owned(supervisor: u32, inodes: &BTreeSet<u64>) -> BTreeSet<u64> {
    let parents: BTreeMap<u32, u32> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|it| parent(&it))
        .collect();
    let is_below = |pid: &&u32| {
        let mut at = **pid;
        // a process that ends meanwhile could make a circle
        (0..parents.len()).any(|_| {
            at = parents.get(&at).copied().unwrap_or_default();
            at == supervisor
        })
    };
    let sockets = |pid: &u32| {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let inode = |it: fs::DirEntry| {
            let link = fs::read_link(it.path()).ok()?;
            link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse::<u64>().ok()
        };
        open.filter_map(inode).collect::<Vec<_>>()
    };
    let below = parents.keys().filter(is_below);
    below.flat_map(sockets).filter(|it| inodes.contains(it)).collect()
}

/// The id of a process, and that of its parent.
fn parent(entry: &fs::DirEntry) -> Option<(u32, u32)> {
    let pid = entry.file_name().to_str()?.parse().ok()?;
    // the format is `pid (any name) state parent …`
    let stat = fs::read(entry.path().join("stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
    Some((pid, parent))
}
