//! The jobs of a conversation: commands that go on in the background. One task owns them; each job has a task of its
//! own, which owns its process and its output.

mod buffer;
mod job;
mod order;
mod ports;

pub(super) use order::{Look, Order, Start};
pub use order::{Notice, Port, Row, shown};

use order::{Answer, Message};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout};

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

    /// The output of a job after a cursor. If there is none, waits this long for more output or the job's end.
    pub(super) async fn read(
        &self,
        job: u32,
        cursor: Option<u64>,
        wait: Duration,
    ) -> Result<Look, String> {
        if !wait.is_zero() {
            let (answer, mut answered) = oneshot::channel();
            let order = Order::Read { cursor, waits: true, answer };
            self.send(Message::Order(job, order));
            if let Ok(said) = timeout(wait, &mut answered).await {
                return said.unwrap_or_else(|_| Err(self.unknown(job)));
            }
            // an answer that came meanwhile is not given a second time
            answered.close();
            if let Ok(said) = answered.try_recv() {
                return said;
            }
        }
        self.order(job, |answer| Order::Read { cursor, waits: false, answer }).await
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

/// The line of an input that has no end yet, after more was sent. A backslash at the end of a line joins it to the next.
fn rest(before: &str, sent: &str) -> String {
    /// The most bytes that are kept.
    const MOST: usize = 8_000;
    let all = format!("{before}{sent}");
    let ends = all.match_indices(['\n', '\r']).map(|it| it.0);
    let end = ends.rev().find(|at| !all[..*at].ends_with('\\'));
    let rest = &all[end.map_or(0, |at| at + 1)..];
    let over = rest.len().saturating_sub(MOST);
    let start = (over..=rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
    rest[start..].to_owned()
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
            self.show();
        }
    }

    fn show(&self) {
        let rows: Vec<Row> = self.jobs.values().map(|it| it.row.clone()).collect();
        if **self.shown.borrow() != rows {
            self.shown.send_replace(Arc::new(rows));
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Start(start, answer) => self.start(*start, answer),
            // an order to an unknown job is dropped, which closes its answer's channel
            Message::Order(id, order) => {
                if let (Order::Write { bytes, .. }, Some(job)) = (&order, self.jobs.get_mut(&id)) {
                    job.row.typed = rest(&job.row.typed, &String::from_utf8_lossy(bytes));
                    // whoever gets the answer sees the row
                    self.show();
                }
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
            typed: String::new(),
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
