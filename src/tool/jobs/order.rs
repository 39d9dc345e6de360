//! What a job is, what may be asked of it, and what happens to it.

use crate::sandbox::network::Network;
use crate::text::unseen::exact;
use crate::tool::Announced;
use crate::tool::planted::Watch;
use crate::tool::process::Streams;
use crate::web::proxy::Gate;
use std::path::PathBuf;
use std::time::Duration;
use tokio::process::Command;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The most characters of a command in a sentence.
const SHOWN: usize = 60;

/// A command in a sentence: its first line, with hidden characters spelt out.
pub fn shown(command: &str) -> String {
    let line = exact(command.trim().lines().next().unwrap_or_default()).into_owned();
    let short: String = line.chars().take(SHOWN).collect();
    let more = if short.len() < line.len() || command.trim().contains('\n') { " …" } else { "" };
    format!("`{short}{more}`")
}

/// A job as others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub id: u32,
    /// The command line, as the model wrote it.
    pub command: String,
    pub began: Instant,
    /// How the job ended, in a few words; `None` if it runs.
    pub ended: Option<String>,
    /// Whether the job runs in the full sandbox and no host is open to it.
    pub is_contained: bool,
    /// The ports at which the job listens in the network of its conversation.
    pub ports: Vec<Port>,
    /// What was sent to the job's input since the last end of a line.
    pub typed: String,
}

/// A port at which a job listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    pub port: u16,
    /// The port of this machine by which the user reaches it; `None` if the user has not opened it.
    pub outside: Option<u16>,
}

/// What happens to a job, for the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The command goes on as a job.
    Began { job: u32, command: String },
    /// `note` is the sentence for the user and the model.
    Ended { job: u32, note: String },
    /// The job listens at this port in the network of the conversation.
    Listens { job: u32, port: u16, command: String },
    /// The job does not listen at this port any more.
    Closed { job: u32, port: u16 },
    /// The user reaches the port of the job at `outside` on this machine, or the reason why not.
    Opened { job: u32, port: u16, outside: Result<u16, String> },
    /// Lines for the log of permissions.
    Decided(Vec<String>),
    /// A sentence for the user.
    Told(String),
}

/// A command to start as a job.
pub(in crate::tool) struct Start {
    pub(in crate::tool) command: Command,
    /// The command line, as the model wrote it.
    pub(in crate::tool) line: String,
    pub(in crate::tool) streams: Streams,
    pub(in crate::tool) is_contained: bool,
    /// Decides on the job's connections, if its sandbox has a proxy.
    pub(in crate::tool) gate: Option<Gate>,
    /// Takes back files that the job may not create (see `planted`).
    pub(in crate::tool) watch: Option<Watch>,
    /// The network of the conversation, if the job is in it.
    pub(in crate::tool) network: Option<Network>,
    /// The folder for a large output.
    pub(in crate::tool) folder: PathBuf,
    /// The secrets that are replaced in the output.
    pub(in crate::tool) secrets: Vec<String>,
    /// The editor hears of the job's end when this is dropped.
    pub(in crate::tool) announced: Announced,
}

/// What a job shows at some moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tool) struct Look {
    pub(in crate::tool) job: u32,
    /// The output after the cursor in `Order::Read`. Without a cursor: the output since the last answer.
    pub(in crate::tool) output: String,
    /// The cursor with which the next `Order::Read` continues.
    pub(in crate::tool) cursor: u64,
    pub(in crate::tool) age: Duration,
    /// How the job ended; `None` if it runs.
    pub(in crate::tool) ended: Option<Ended>,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tool) struct Ended {
    /// How the job ended, as a clause that follows the job's name.
    pub(in crate::tool) how: String,
    /// A few words for the user.
    pub(in crate::tool) summary: String,
    pub(in crate::tool) has_failed: bool,
}

pub(in crate::tool) type Answer<T> = oneshot::Sender<Result<T, String>>;

pub(in crate::tool) enum Order {
    /// Asks for the output after a cursor. With `waits`, the answer comes once there is new output or the job has
    /// ended.
    Read { cursor: Option<u64>, waits: bool, answer: Answer<Look> },
    /// The answer is the number of bytes that the job's input has taken.
    Write { bytes: Vec<u8>, answer: Answer<usize> },
    /// Opens a port of the job on this machine.
    Open { port: u16 },
    /// Closes a port of the job on this machine.
    Close { port: u16 },
    /// The answer comes once the job has ended.
    Stop { is_by_user: bool, answer: Answer<Look> },
}

pub(super) enum Message {
    Start(Box<Start>, Answer<Look>),
    Order(u32, Order),
    /// From a job's task.
    Ended(u32, Ended),
    /// From a job's task: the ports at which the job listens now.
    Ports(u32, Vec<Port>),
    /// From a job's task: the command could not be started, or ended before it became a job.
    Never(u32),
    StopAll,
    /// Closes this port of all jobs on this machine.
    Close(u16),
}

impl Row {
    /// The command in a sentence: its first line, with hidden characters spelt out.
    pub fn shown(&self) -> String {
        shown(&self.command)
    }

    /// The ports in a few words; `None` if there are none.
    pub fn ports(&self) -> Option<String> {
        let said = |it: &Port| match it.outside {
            Some(outside) if outside == it.port => format!("port {} open", it.port),
            Some(outside) => format!("port {} open as {outside}", it.port),
            None => format!("port {}", it.port),
        };
        let all: Vec<String> = self.ports.iter().map(said).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}
