//! The task of one job: it owns the job's process and output, and answers orders, also after the job's end.

use super::buffer::Buffer;
use super::order::{Answer, Ended, Look, Message, Notice, Order, Row, Start, shown};
use super::ports::Ports;
use crate::text::cause;
use crate::tool::Announced;
use crate::tool::planted::{self, Taken};
use crate::tool::process::{End, Process};
use crate::web::proxy::{self, Refusal};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// How long the call that starts a job waits for output. A command that ends by then is no job.
const FIRST: Duration = Duration::from_secs(1);
/// How long this call waits for more output after the first output.
const SETTLING: Duration = Duration::from_millis(250);
/// Where a job's task reports.
pub(super) struct Reports {
    pub(super) owner: mpsc::WeakUnboundedSender<Message>,
    pub(super) notices: mpsc::UnboundedSender<Notice>,
}

struct Task {
    row: Row,
    buffer: Buffer,
    /// `None` once the process has ended.
    process: Option<Process>,
    /// `None` once the process has ended, and for a job that is not in the network of the conversation.
    ports: Option<Ports>,
    ended: Option<Ended>,
    /// Readers that wait for output or the end.
    waiting: Vec<Waiting>,
    /// The channel for the answer to the call that started the job, and the latest time of the answer. `None` once the
    /// call is answered.
    first: Option<(Answer<Look>, Instant)>,
    is_stopped_by_user: bool,
    /// `None` once the process has ended: the editor has heard of the end.
    announced: Option<Announced>,
    reports: Reports,
}

struct Waiting {
    cursor: Option<u64>,
    /// Whether the reader waits only for the job's end.
    is_for_end: bool,
    answer: Answer<Look>,
}

pub(super) async fn run(
    row: Row,
    start: Start,
    answer: Answer<Look>,
    mut orders: mpsc::UnboundedReceiver<Order>,
    reports: Reports,
) {
    let Start { command, streams, gate, watch, network, folder, secrets, announced, .. } = start;
    let process = match Process::start(command, streams, None, gate, watch).await {
        Ok(process) => process,
        Err(fault) => {
            let why = format!("The command could not be started: {}.", cause(&fault));
            reports.to_owner(Message::Never(row.id));
            // the send fails if the call was stopped
            let _ = answer.send(Err(why));
            return;
        }
    };
    let ports = network.zip(process.supervisor()).map(|(it, id)| Ports::new(it, id));
    let mut task = Task {
        row,
        ports,
        buffer: Buffer::new(&folder, secrets),
        process: Some(process),
        ended: None,
        waiting: Vec::new(),
        first: Some((answer, Instant::now() + FIRST)),
        is_stopped_by_user: false,
        announced: Some(announced),
        reports,
    };
    while task.step(&mut orders).await {}
}

/// Something that a job's task reacts to.
enum Event {
    Output(usize),
    Over,
    /// The call that started the job has waited long enough.
    Late,
    Order(Option<Order>),
    /// It is time to look for ports.
    Look,
}

impl Task {
    /// Takes one event. Returns false once the conversation has no jobs any more, or if the job never began.
    async fn step(&mut self, orders: &mut mpsc::UnboundedReceiver<Order>) -> bool {
        match self.event(orders).await {
            Event::Output(count) => {
                if let Some(process) = &self.process {
                    self.buffer.take(process.bytes(count));
                }
                if let Some((_, late)) = &mut self.first {
                    *late = (*late).min(Instant::now() + SETTLING);
                }
                self.answer_waiting();
                // the output of a fast command can always be read at once, so other tasks get their turn here
                tokio::task::yield_now().await;
            }
            Event::Over => return self.end().await,
            Event::Late => return self.begin(),
            Event::Order(Some(order)) => self.obey(order),
            Event::Order(None) => {
                // nobody waits for it, but what it has left is looked at when nothing of it runs any more
                if let Some(process) = self.process.take() {
                    process.finish().await;
                }
                return false;
            }
            Event::Look => self.look().await,
        }
        true
    }

    async fn event(&mut self, orders: &mut mpsc::UnboundedReceiver<Order>) -> Event {
        let late = self.first.as_ref().map(|it| it.1);
        let Some(process) = &mut self.process else { return Event::Order(orders.recv().await) };
        tokio::select! {
            biased;
            order = orders.recv() => Event::Order(order),
            () = sleep_until(late.unwrap_or_else(Instant::now)), if late.is_some() => Event::Late,
            () = tick(&mut self.ports), if late.is_none() => Event::Look,
            got = process.next() => got.map_or(Event::Over, Event::Output),
        }
    }

    /// The command becomes a job: the call that started it is answered. Returns false if that call was stopped.
    fn begin(&mut self) -> bool {
        let Some((answer, _)) = self.first.take() else { return true };
        if answer.is_closed() {
            self.reports.to_owner(Message::Never(self.row.id));
            return false;
        }
        let Row { id, command, .. } = &self.row;
        self.reports.notice(Notice::Began { job: *id, command: command.clone() });
        self.reply(answer, None);
        true
    }

    /// Called when the process is over. Returns false if the command has never become a job.
    async fn end(&mut self) -> bool {
        let Some(process) = self.process.take() else { return true };
        let closed: Vec<u16> =
            self.ports.take().map(|it| it.rows()).into_iter().flatten().map(|it| it.port).collect();
        self.closed(closed);
        let end = process.finish().await;
        self.announced = None;
        self.note_refused(&end.refused, &end.taken);
        let ended = self.ended_by(&end);
        self.buffer.end();
        self.ended = Some(ended.clone());
        if let Some((answer, _)) = self.first.take() {
            self.reports.to_owner(Message::Never(self.row.id));
            self.reply(answer, None);
            return false;
        }
        let Row { id, command, .. } = &self.row;
        let note = format!("Job {id} ({}) {}.", shown(command), ended.how);
        self.reports.notice(Notice::Ended { job: *id, note });
        self.reports.to_owner(Message::Ended(*id, ended));
        self.answer_waiting();
        true
    }

    /// Looks for ports at which the job has begun or ceased to listen.
    async fn look(&mut self) {
        let Some(ports) = &mut self.ports else { return };
        let change = ports.look().await;
        if change.new.is_empty() && change.closed.is_empty() {
            return;
        }
        self.publish();
        self.closed(change.closed);
        for port in change.new {
            let Row { id: job, command, .. } = &self.row;
            self.reports.notice(Notice::Listens { job: *job, port, command: command.clone() });
        }
    }

    fn closed(&self, ports: Vec<u16>) {
        for port in ports {
            self.reports.notice(Notice::Closed { job: self.row.id, port });
        }
    }

    fn publish(&self) {
        let ports = self.ports.as_ref().map(Ports::rows).unwrap_or_default();
        self.reports.to_owner(Message::Ports(self.row.id, ports));
    }

    fn open(&mut self, port: u16) {
        if let Some(outside) = self.ports.as_mut().and_then(|it| it.forward(port)) {
            self.publish();
            self.reports.notice(Notice::Opened { job: self.row.id, port, outside });
        }
    }

    /// Adds notes to the output and to the log of permissions: about refused connections, and about files that the
    /// sandbox took back (see `planted`).
    fn note_refused(&mut self, refused: &[Refusal], taken: &[Taken]) {
        let notes = [proxy::told(refused), planted::told(taken)];
        notes.iter().flatten().for_each(|it| self.buffer.note(it));
        let refused = refused.iter().map(|it| it.decision(&self.row.command));
        let decisions: Vec<String> =
            refused.chain(taken.iter().map(|it| it.decision(&self.row.command))).collect();
        if !decisions.is_empty() {
            self.reports.notice(Notice::Decided(decisions));
        }
        if let Some(it) = planted::shown(taken) {
            self.reports.notice(Notice::Told(it));
        }
    }

    fn ended_by(&self, end: &End) -> Ended {
        let how = if self.is_stopped_by_user {
            "was stopped by the user".to_owned()
        } else {
            end.clause()
        };
        Ended { how, summary: end.summary(), has_failed: end.has_failed() }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Read { cursor, waits, answer } => {
                if waits {
                    self.waiting.push(Waiting { cursor, is_for_end: false, answer });
                    self.answer_waiting();
                } else {
                    self.reply(answer, cursor);
                }
            }
            Order::Write { bytes, answer } => {
                let taken = self.process.as_mut().map(|it| it.write(&bytes));
                let taken = taken.ok_or_else(|| format!("id: job {} has ended.", self.row.id));
                let _ = answer.send(taken);
            }
            Order::Open { port } => self.open(port),
            Order::Close { port } => {
                if let Some(ports) = &mut self.ports {
                    ports.close(port);
                    self.publish();
                }
            }
            Order::Stop { is_by_user, answer } => {
                if let Some(process) = &mut self.process {
                    process.stop();
                    self.is_stopped_by_user |= is_by_user;
                }
                self.waiting.push(Waiting { cursor: None, is_for_end: true, answer });
                self.answer_waiting();
            }
        }
    }

    /// Answers the readers who have got what they wait for.
    fn answer_waiting(&mut self) {
        for it in std::mem::take(&mut self.waiting) {
            let has_more = !it.is_for_end && self.buffer.has_more(it.cursor);
            if self.ended.is_some() || has_more {
                self.reply(it.answer, it.cursor);
            } else if !it.answer.is_closed() {
                self.waiting.push(it);
            }
        }
    }

    /// Answers with the output after a cursor. If the call was stopped, the next answer has this output too.
    fn reply(&mut self, answer: Answer<Look>, cursor: Option<u64>) {
        let refused = self.process.as_mut().map(Process::refused).unwrap_or_default();
        let taken = self.process.as_mut().map(Process::taken).unwrap_or_default();
        self.note_refused(&refused, &taken);
        let part = self.buffer.since(cursor);
        let cursor = part.cursor;
        let look = Look {
            job: self.row.id,
            output: part.text,
            cursor,
            age: self.row.began.elapsed(),
            ended: self.ended.clone(),
        };
        if answer.send(Ok(look)).is_ok() {
            self.buffer.gave(cursor);
        }
    }
}

impl Reports {
    fn to_owner(&self, message: Message) {
        // the owner is gone if the conversation has ended
        if let Some(owner) = self.owner.upgrade() {
            let _ = owner.send(message);
        }
    }

    fn notice(&self, notice: Notice) {
        let _ = self.notices.send(notice);
    }
}

/// Waits for the next look for ports; forever if there is none.
async fn tick(ports: &mut Option<Ports>) {
    match ports {
        Some(ports) => ports.tick().await,
        None => std::future::pending().await,
    }
}
