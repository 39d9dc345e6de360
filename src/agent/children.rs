//! The subagents of a conversation. Each works on one `task` call in a session of its own, by an agent like any other,
//! and reports to its parent's agent.

mod asked;
mod job;
mod model;
pub(super) mod progress;
mod review;
pub(super) mod worktrees;

use super::guidance::Guidance;
use super::permissions::Wanted;
use super::turn::Turn;
use super::{Agent, ChildCommand, Command, Inherited, Setup, work};
use crate::context::agents::{self, NamedAgent};
use crate::conversation::Conversation;
use crate::conversation::report::Show;
use crate::event::{
    Delta, Grant, Isolation, Mode, Offer, Parent, Post, SessionId, TurnId, WorkerId, WorkerRole,
};
use crate::message::{CallId, ToolAnswer, Usage};
use crate::session::{Input, WorkerInput};
use crate::tool::task::{self, Task};
use crate::tool::{Call, Desk, Toolset};
use asked::Sending;
use job::{Beginning, attend};
pub(super) use job::{Job, worked};
use tokio::sync::{mpsc, oneshot};

/// The names of subagents begin with the name of their parent's session, cut to this many bytes.
const STEM: usize = 50;

/// A request for a session in which a subagent works.
pub struct PlaceWanted {
    /// The name of the session. If it is taken, a number is added.
    pub name: String,
    /// Whether the session is saved.
    pub is_saved: bool,
    /// The channel to the subagent.
    pub commands: mpsc::UnboundedSender<Command>,
    /// Receives the parts of the subagent; otherwise the reason why there are none, as a sentence.
    pub place: oneshot::Sender<Result<Box<Setup>, String>>,
}

/// What a subagent has to do.
pub struct Work {
    pub parent: Parent,
    pub task: Task,
    /// Whether nobody attends the parent's turn.
    pub is_unattended: bool,
}

pub(super) struct Children {
    places: mpsc::UnboundedSender<PlaceWanted>,
    pub(super) news: mpsc::UnboundedSender<(Whom, News)>,
    all: Vec<Child>,
    sending: Sending,
    /// Whether the user has sent a message instead of reviewing what the subagents have changed.
    is_left: bool,
}

/// How a parent identifies a subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whom {
    /// The call on which the subagent works.
    Call(CallId),
    /// The worker that the subagent is.
    Worker(WorkerId),
}

struct Child {
    whom: Whom,
    commands: mpsc::UnboundedSender<Command>,
    /// The subagent's session, once it is open.
    session: Option<SessionId>,
    /// The open questions of the subagent: the id of each in this conversation, and the subagent's own call.
    asked: Vec<(CallId, CallId)>,
    /// The parent's mode of which the subagent was told last. If `widest` is narrower, the subagent was told `widest`.
    mode: Mode,
    /// The widest mode of the named agent that the subagent is.
    widest: Mode,
    /// Whether the subagent waits only for the user's review.
    is_reviewing: bool,
}

/// The reports of a subagent.
pub(super) enum News {
    Began(SessionId),
    /// What the subagent does now, in one line, and the requests and tokens that it has used.
    Doing(String, u32, u64),
    /// Whether the subagent waits only for the user's review.
    Reviewing(bool),
    Asked {
        call: CallId,
        question: String,
        offer: Offer,
    },
    /// Why the user is asked about this call, in lines.
    Explained {
        call: CallId,
        lines: Vec<String>,
    },
    /// The question about this call needs no answer any more.
    Settled(CallId),
    /// A worker reports its progress.
    Noticed(String),
    Worktree(worktrees::Message),
    Spent {
        usage: Usage,
        cost: Option<f64>,
    },
}

impl Children {
    pub(super) fn new(
        places: mpsc::UnboundedSender<PlaceWanted>,
    ) -> (Children, mpsc::UnboundedReceiver<(Whom, News)>) {
        let (news, reports) = mpsc::unbounded_channel();
        let sending = Sending::default();
        (Children { places, news, all: Vec::new(), sending, is_left: false }, reports)
    }

    /// Called when a turn was aborted, which has stopped its subagents. Withdraws the subagents' questions.
    pub(super) fn forget(&mut self, conversation: &mut Conversation) {
        let asked = self.all.drain(..).flat_map(|it| it.asked).collect::<Vec<_>>();
        self.withdraw(conversation, asked.into_iter().map(|it| it.0));
    }

    /// Tells the subagents the mode of their parent, if it has changed, and forgets those whose work is over.
    pub(super) fn follow(&mut self, conversation: &mut Conversation) {
        self.go_on(conversation);
        if self.all.is_empty() {
            return;
        }
        let session = &conversation.session;
        let mode = session.mode;
        let open: Vec<CallId> = session.running_children().map(|it| it.call.id.clone()).collect();
        let workers: Vec<WorkerId> = session.workers.running().map(|it| it.0).collect();
        let runs = |it: &Child| match &it.whom {
            Whom::Call(call) => open.contains(call),
            Whom::Worker(worker) => workers.contains(worker),
        };
        let (left, ended) = self.all.drain(..).partition(runs);
        self.all = left;
        for it in self.all.iter_mut().filter(|it| it.mode != mode) {
            it.mode = mode;
            it.tell(ChildCommand::Follow(mode.min(it.widest)));
        }
        let asked = ended.into_iter().flat_map(|it: Child| it.asked);
        self.withdraw(conversation, asked.map(|it| it.0));
    }

    /// Sends a command to a worker. Returns false if the worker has no session yet or has ended.
    pub(super) fn tell(&self, worker: WorkerId, told: ChildCommand) -> bool {
        let child = self.all.iter().find(|it| it.whom == Whom::Worker(worker));
        let Some(child) = child.filter(|it| it.session.is_some()) else { return false };
        child.tell(told);
        true
    }

    /// Ends a worker that has no session yet.
    pub(super) fn quit(&self, worker: WorkerId) {
        if let Some(child) = self.all.iter().find(|it| it.whom == Whom::Worker(worker)) {
            let _ = child.commands.send(Command::Quit(oneshot::channel().0));
        }
    }

    /// Revokes a permission in all subagents.
    pub(super) fn revoke(&self, grant: &Grant) {
        for it in &self.all {
            it.tell(ChildCommand::Revoke(grant.clone()));
        }
    }

    /// Ends the subagents if a spending limit is reached.
    fn end_at_limit(&self, conversation: &Conversation) {
        let Some(reached) = conversation.session.limit_reached() else { return };
        for it in &self.all {
            it.tell(ChildCommand::End(format!("the spending limit is reached: {reached}")));
        }
    }

    /// Notes whether a worker waits for the user.
    fn note_wait(&self, conversation: &mut Conversation, of: &Whom) {
        let child = self.all.iter().find(|it| it.whom == *of);
        if let (&Whom::Worker(worker), Some(child)) = (of, child) {
            let waits = child.is_reviewing || !child.asked.is_empty();
            conversation.take(Input::Worker(WorkerInput::Waits { worker, waits }));
        }
    }

    /// Has the subagent that asked this question explain the question. Returns false if no subagent asked it.
    pub(super) fn explain(&self, id: &CallId) -> bool {
        let asked = |it: &Child| it.asked.iter().find(|it| it.0 == *id).map(|it| it.1.clone());
        let found = self.all.iter().find_map(|it| Some((it, asked(it)?)));
        let Some((child, call)) = found else { return false };
        let _ = child.commands.send(Command::Permissions(Wanted::Why(call)));
        true
    }
}

impl Child {
    /// Shows in the parent's conversation why the user is asked about a call of the subagent.
    fn explained(&self, conversation: &Conversation, call: &CallId, lines: Vec<String>) {
        if let Some((id, _)) = self.asked.iter().find(|it| it.1 == *call) {
            conversation.show(Show::Explained { call: id.clone(), lines });
        }
    }

    fn tell(&self, told: ChildCommand) {
        // the send fails if the subagent has ended
        let _ = self.commands.send(Command::Child(told));
    }
}

/// Begins a subagent's work on a call.
pub(super) fn begin(agent: &mut Agent, turn: TurnId, call: &Call, task: Task) {
    let Agent { conversation, desk, guidance, files, turn: running, .. } = agent;
    let chosen = match chosen(guidance, desk, &task) {
        Ok(chosen) => chosen,
        Err(said) => {
            let answer = ToolAnswer::failed(call.id(), said, "failed");
            return conversation.take(Input::Answered { turn, answer });
        }
    };
    let files = files.run(conversation, desk, running, call);
    let tools = guidance.named.alone.only(task::is_lent);
    let lent = Lent { chosen, tools, requests: None, post: None, files };
    let job = employ(agent, turn, (Whom::Call(call.id().clone()), call.id()), task, lent);
    agent.turn.attend(attend(job, turn, call.made.clone()));
}

/// What a subagent gets from its parent.
pub(super) struct Lent {
    /// The named agent that the subagent is.
    pub(super) chosen: Option<NamedAgent>,
    pub(super) tools: Toolset,
    pub(super) requests: Option<u32>,
    /// For a worker: its number, role and files.
    pub(super) post: Option<Post>,
    /// The files that the parent knows.
    pub(super) files: work::Job,
}

/// Asks for a session for a subagent, and collects everything that the subagent begins with. `call` is the call that
/// began the subagent.
pub(super) fn employ(
    agent: &mut Agent,
    turn: TurnId,
    (whom, call): (Whom, &CallId),
    task: Task,
    Lent { chosen, tools, requests, post, files }: Lent,
) -> Job {
    let (model, tuning) = model::choose(agent, chosen.as_ref());
    let Agent { conversation, desk, files: all, turn: running, .. } = agent;
    let keeper = all.record.lend(conversation, turn);
    let is_shared = task.isolation == Isolation::Shared;
    let owned = post.as_ref().filter(|it| is_shared && it.role == WorkerRole::Implementer);
    // a backslash in the shown path of a file is doubled
    let path = |it: &String| desk.root.join(it.replace("\\\\", "\\"));
    let owned = owned.map(|it| it.owns.iter().map(path).collect());
    let session = &conversation.session;
    let parent = Parent {
        session: conversation.id.clone(),
        call: call.clone(),
        is_tainted: session.is_tainted(),
        limits: session.narrowed(),
        post,
        is_copy: false,
    };
    let (commands, inbox) = mpsc::unbounded_channel();
    let (place, placed) = oneshot::channel();
    let stem = &conversation.id.0[..conversation.id.0.len().min(STEM)];
    let name = match &whom {
        Whom::Call(_) => format!("{stem}-task"),
        Whom::Worker(worker) => format!("{stem}-{worker}"),
    };
    let is_saved = conversation.store.is_some();
    let wanted = PlaceWanted { name, is_saved, commands: commands.clone(), place };
    // the send fails only when the program is ending
    let children = &mut running.children;
    let _ = children.places.send(wanted);
    children.all.push(Child {
        whom: whom.clone(),
        commands: commands.clone(),
        session: None,
        asked: Vec::new(),
        mode: session.mode,
        widest: chosen.as_ref().and_then(|it| it.mode).unwrap_or(Mode::Auto),
        is_reviewing: false,
    });
    Job {
        whom,
        work: Work { parent, task, is_unattended: session.is_unattended() },
        beginning: Beginning {
            agent: chosen.map(|it| it.name),
            model,
            tuning,
            sent_to: session.recipient(),
            mode: session.mode,
            tools,
            requests,
            owned,
            inherited: Inherited::by_subagent(session.granted.clone(), keeper),
        },
        commands,
        inbox,
        place: placed,
        news: children.news.clone(),
        overflow: desk.overflow.clone(),
        files,
    }
}

/// The named agent that does a task; `None` if the task names none. The error is for the model.
fn chosen(guidance: &Guidance, desk: &Desk, task: &Task) -> Result<Option<NamedAgent>, String> {
    let Some(name) = &task.agent else { return Ok(None) };
    let found = agents::load(desk).get(name)?.clone();
    if guidance.may_use(&found, desk) {
        return Ok(Some(found));
    }
    let name = found.name;
    let why = if guidance.leaves_project_out() {
        format!("The user's settings leave out the project's agents, such as `{name}`.")
    } else {
        format!(
            "The user has not agreed to the project's agent `{name}` yet. `:Caliban new @{name}` asks for the \
             agreement."
        )
    };
    Err(format!("{why} Give the task to a subagent without a name, or do it yourself."))
}

/// Handles a report of a subagent.
pub(super) fn take(agent: &mut Agent, of: &Whom, news: News) {
    if let News::Worktree(message) = news {
        return worktrees::take(agent, message);
    }
    let Agent { conversation, turn: Turn { children, .. }, .. } = agent;
    let Some(child) = children.all.iter_mut().find(|it| it.whom == *of) else { return };
    let name = child.session.as_ref().map_or("subagent", |it| it.0.as_str());
    match news {
        News::Began(session) => {
            child.session = Some(session.clone());
            conversation.take(match of.clone() {
                Whom::Call(call) => {
                    let turn = conversation.session.turn().unwrap_or_default();
                    Input::Delegated { turn, call, session }
                }
                Whom::Worker(worker) => Input::Worker(WorkerInput::Placed { worker, session }),
            });
        }
        News::Doing(line, requests, tokens) => {
            conversation.show(Show::Delta(match of.clone() {
                Whom::Call(call) => {
                    let line = format!("{name} · {line} · {}", progress::size(requests, tokens));
                    Delta::Doing { call, line }
                }
                Whom::Worker(worker) => Delta::Working { worker, line, requests, tokens },
            }));
        }
        News::Reviewing(is_reviewing) => {
            child.is_reviewing = is_reviewing;
            children.go_on(conversation);
        }
        News::Worktree(_) => (),
        News::Asked { call, question, offer } => {
            children.ask(conversation, of, call, &question, offer);
        }
        News::Explained { call, lines } => child.explained(conversation, &call, lines),
        News::Settled(call) => {
            let settled = child.asked.extract_if(.., |it| it.1 == call).collect::<Vec<_>>();
            children.withdraw(conversation, settled.into_iter().map(|it| it.0));
        }
        News::Noticed(text) => {
            if let Whom::Worker(worker) = *of {
                conversation.take(Input::Worker(WorkerInput::Noticed { worker, text }));
            }
        }
        News::Spent { usage, cost } => {
            conversation.take(Input::ChildSpent { usage, cost });
            children.end_at_limit(conversation);
        }
    }
    children.note_wait(conversation, of);
}

/// Carries out a command from a subagent's parent.
pub(super) fn obey(agent: &mut Agent, told: ChildCommand) {
    let conversation = &mut agent.conversation;
    match told {
        ChildCommand::Work(work) => set_to_work(agent, *work),
        ChildCommand::End(why) => {
            let partial = agent.turn.partial.take();
            conversation.take(Input::End { partial, why });
        }
        ChildCommand::Follow(mode) => conversation.take(Input::ChooseMode { mode }),
        ChildCommand::LeaveReview => conversation.take(Input::LeaveReview),
        ChildCommand::Revoke(grant) => conversation.take(Input::Revoke { grant }),
        ChildCommand::Message(text) => {
            // after the end of its turn a worker does nothing more
            if conversation.session.turn().is_some() {
                conversation.take(Input::Send { text, context: Vec::new(), steer: true });
            }
        }
    }
}

/// Begins a subagent's work on its task. A model wrote the task, so mentions and slash commands in it have no effect.
fn set_to_work(agent: &mut Agent, work: Work) {
    let conversation = &mut agent.conversation;
    let Work { parent, task: Task { description, prompt, .. }, is_unattended } = work;
    conversation.take(Input::Assign { parent });
    conversation.take(Input::Title { title: crate::session::title(&description) });
    if agent.desk.project.is_some() {
        conversation.take(Input::Note { text: worktrees::note(&agent.desk.root) });
    }
    if is_unattended {
        conversation.session.leave_unattended();
    }
    conversation.take(Input::Send { text: prompt, context: Vec::new(), steer: false });
}
