//! The jobs of a conversation: commands that go on in the background. One task owns them; each job has a task of its
//! own, which owns its process and its output.

mod buffer;
mod job;
mod ports;

pub use job::shown;

use super::planted::Watch;
use super::process::Streams;
use crate::sandbox::network::Network;
use crate::web::proxy::Gate;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// The most jobs that run at the same time.
const MOST: usize = 8;
/// How many ended jobs are kept to be read.
const ENDED: usize = 16;

/// The way to a conversation's jobs. Without an owner, no job can be started.
#[derive(Clone)]
pub struct Jobs {
    owner: mpsc::UnboundedSender<Message>,
    rows: watch::Receiver<Arc<Vec<Row>>>,
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
pub(super) struct Start {
    pub(super) command: Command,
    /// The command line, as the model wrote it.
    pub(super) line: String,
    pub(super) streams: Streams,
    pub(super) is_contained: bool,
    /// Decides on the job's connections, if its sandbox has a proxy.
    pub(super) gate: Option<Gate>,
    /// Takes back files that the job may not create (see `planted`).
    pub(super) watch: Option<Watch>,
    /// The network of the conversation, if the job is in it.
    pub(super) network: Option<Network>,
    /// The folder for a large output.
    pub(super) folder: PathBuf,
    /// The secrets that are replaced in the output.
    pub(super) secrets: Vec<String>,
}

/// What a job shows at some moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) job: u32,
    /// The output after the cursor in `Order::Read`. Without a cursor: the output since the last answer.
    pub(super) output: String,
    /// The cursor with which the next `Order::Read` continues.
    pub(super) cursor: u64,
    pub(super) age: Duration,
    /// How the job ended; `None` if it runs.
    pub(super) ended: Option<Ended>,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    /// How the job ended, as a clause that follows the job's name.
    pub(super) how: String,
    /// A few words for the user.
    pub(super) summary: String,
    pub(super) has_failed: bool,
}

pub(super) type Answer<T> = oneshot::Sender<Result<T, String>>;

pub(super) enum Order {
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

enum Message {
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

impl Default for Jobs {
    fn default() -> Jobs {
        Jobs { owner: mpsc::unbounded_channel().0, rows: watch::channel(Arc::default()).1 }
    }
}

impl Jobs {
    /// Begins the task that owns a conversation's jobs. `last` is the number of the last job so far.
    pub fn begin(last: u32) -> (Jobs, mpsc::UnboundedReceiver<Notice>) {
        let (owner, inbox) = mpsc::unbounded_channel();
        let (shown, rows) = watch::channel(Arc::default());
        let (notices, notices_end) = mpsc::unbounded_channel();
        // the jobs' tasks must not keep the owner alive
        let back = owner.downgrade();
        let own = Owner { last, jobs: BTreeMap::new(), shown, notices, back };
        tokio::spawn(own.run(inbox));
        (Jobs { owner, rows }, notices_end)
    }

    /// The jobs, in the order in which they began.
    pub fn rows(&self) -> Arc<Vec<Row>> {
        self.rows.borrow().clone()
    }

    /// Stops a job for the user.
    pub fn stop(&self, job: u32) {
        let answer = oneshot::channel().0;
        self.send(Message::Order(job, Order::Stop { is_by_user: true, answer }));
    }

    /// Opens a port of a job on this machine, for the user.
    pub fn open(&self, job: u32, port: u16) {
        self.send(Message::Order(job, Order::Open { port }));
    }

    /// Closes a port on this machine, whichever job listens at it.
    pub fn close(&self, port: u16) {
        self.send(Message::Close(port));
    }

    /// Kills and forgets all jobs.
    pub fn stop_all(&self) {
        self.send(Message::StopAll);
    }

    pub(super) async fn start(&self, start: Start) -> Result<Look, String> {
        let (answer, answered) = oneshot::channel();
        self.send(Message::Start(Box::new(start), answer));
        answered.await.unwrap_or_else(|_| Err("Background jobs are not possible here.".to_owned()))
    }

    pub(super) async fn order<T>(
        &self,
        job: u32,
        order: impl FnOnce(Answer<T>) -> Order,
    ) -> Result<T, String> {
        let (answer, answered) = oneshot::channel();
        self.send(Message::Order(job, order(answer)));
        answered.await.unwrap_or_else(|_| Err(self.unknown(job)))
    }

    /// The job with this number, or text for the model.
    pub(super) fn find(&self, job: u32) -> Result<Row, String> {
        self.rows().iter().find(|it| it.id == job).cloned().ok_or_else(|| self.unknown(job))
    }

    fn unknown(&self, job: u32) -> String {
        let rows = self.rows();
        if rows.is_empty() {
            return format!(
                "id: there is no job {job}. No job has run since Caliban started; shell with background starts one."
            );
        }
        let known: Vec<String> = rows.iter().map(|it| it.id.to_string()).collect();
        format!("id: there is no job {job}. The jobs are: {}.", known.join(", "))
    }

    fn send(&self, message: Message) {
        // without an owner the answer's channel closes
        let _ = self.owner.send(message);
    }
}

struct Job {
    row: Row,
    orders: mpsc::UnboundedSender<Order>,
}

struct Owner {
    /// The number of the last job.
    last: u32,
    jobs: BTreeMap<u32, Job>,
    shown: watch::Sender<Arc<Vec<Row>>>,
    notices: mpsc::UnboundedSender<Notice>,
    back: mpsc::WeakUnboundedSender<Message>,
}

impl Owner {
    /// Runs until nobody can send it messages any more. All jobs end with it.
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Message>) {
        while let Some(message) = inbox.recv().await {
            self.take(message);
            let rows: Vec<Row> = self.jobs.values().map(|it| it.row.clone()).collect();
            if **self.shown.borrow() != rows {
                self.shown.send_replace(Arc::new(rows));
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Start(start, answer) => self.start(*start, answer),
            // an order to an unknown job is dropped, which closes its answer's channel
            Message::Order(id, order) => {
                if let Some(job) = self.jobs.get(&id) {
                    let _ = job.orders.send(order);
                }
            }
            Message::Ended(id, ended) => {
                if let Some(job) = self.jobs.get_mut(&id) {
                    job.row.ended = Some(ended.how);
                    job.row.ports.clear();
                }
                self.forget_old();
            }
            Message::Ports(id, ports) => {
                if let Some(job) = self.jobs.get_mut(&id) {
                    job.row.ports = ports;
                }
            }
            Message::Close(port) => {
                for job in self.jobs.values() {
                    let _ = job.orders.send(Order::Close { port });
                }
            }
            Message::Never(id) => drop(self.jobs.remove(&id)),
            // dropping a job's channel ends its task, which kills the command
            Message::StopAll => self.jobs.clear(),
        }
    }

    fn start(&mut self, start: Start, answer: Answer<Look>) {
        let running = self.jobs.values().filter(|it| it.row.ended.is_none());
        let running: Vec<String> = running.map(|it| it.row.id.to_string()).collect();
        if running.len() >= MOST {
            let text = format!(
                "background: {MOST} jobs are already running ({}); no more may run at the same time. Stop one with the \
                 tool job, or wait for its end.",
                running.join(", ")
            );
            // the send fails if the call was stopped
            let _ = answer.send(Err(text));
            return;
        }
        let Some(owner) = self.back.upgrade() else { return };
        self.last += 1;
        let row = Row {
            id: self.last,
            command: start.line.clone(),
            began: Instant::now(),
            ended: None,
            is_contained: start.is_contained,
            ports: Vec::new(),
        };
        let (orders, inbox) = mpsc::unbounded_channel();
        let reports = job::Reports { owner: owner.downgrade(), notices: self.notices.clone() };
        tokio::spawn(job::run(row.clone(), start, answer, inbox, reports));
        self.jobs.insert(self.last, Job { row, orders });
    }

    /// Forgets the oldest of many ended jobs.
    fn forget_old(&mut self) {
        let ended: Vec<u32> =
            self.jobs.values().filter(|it| it.row.ended.is_some()).map(|it| it.row.id).collect();
        for id in ended.iter().take(ended.len().saturating_sub(ENDED)) {
            self.jobs.remove(id);
        }
    }
}
