//! The subagents of a conversation. Each works on one `task` call in a session of its own, by an agent like any other,
//! and reports to its parent's agent.

mod progress;

use super::guidance::Guidance;
use super::permissions::Answer;
use super::turn::Turn;
use super::{Agent, Command, Inherited, Setup, work};
use crate::context::agents::{self, NamedAgent, Origin};
use crate::conversation::Conversation;
use crate::conversation::report::{Report, Show, Wait};
use crate::event::{Delta, Grant, Matter, Mode, Offer, Parent, Ruling, SessionId, Tuning, TurnId};
use crate::message::{CallId, ToolAnswer, ToolCall, Usage};
use crate::session::{Consult, Input, Limits, Session, State};
use crate::tool::task::{self, Task};
use crate::tool::{Desk, Toolset};
use futures::FutureExt;
use futures::future::BoxFuture;
use progress::Progress;
use std::path::PathBuf;
use tokio::sync::{mpsc, oneshot};

/// The most bytes of a session's name that the name of its subagents begins with.
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
    news: mpsc::UnboundedSender<(CallId, News)>,
    all: Vec<Child>,
}

struct Child {
    call: CallId,
    commands: mpsc::UnboundedSender<Command>,
    /// The subagent's session, once it is open.
    session: Option<SessionId>,
    /// The open questions of the subagent: the id of each in this conversation, and the subagent's own call.
    asked: Vec<(CallId, CallId)>,
    /// The mode that the subagent was told last, without its own limit.
    mode: Mode,
    /// The widest mode of the named agent that the subagent is.
    widest: Mode,
    /// Whether the subagent waits only for the user's review.
    is_reviewing: bool,
}

/// The reports of a subagent.
pub(super) enum News {
    Began(TurnId, SessionId),
    /// What the subagent does now, in one line.
    Doing(String),
    /// Whether the subagent waits only for the user's review.
    Reviewing(bool),
    Asked {
        call: CallId,
        question: String,
        offer: Offer,
    },
    /// The question about this call needs no answer any more.
    Settled(CallId),
    Spent {
        usage: Usage,
        cost: Option<f64>,
    },
}

/// What a subagent begins with.
struct Beginning {
    agent: Option<String>,
    model: String,
    tuning: Tuning,
    mode: Mode,
    /// The tools of the parent.
    tools: Toolset,
    inherited: Inherited,
}

/// One subagent's work, from the parent's side.
struct Job {
    turn: TurnId,
    call: ToolCall,
    work: Work,
    beginning: Beginning,
    commands: mpsc::UnboundedSender<Command>,
    inbox: mpsc::UnboundedReceiver<Command>,
    place: oneshot::Receiver<Result<Box<Setup>, String>>,
    news: mpsc::UnboundedSender<(CallId, News)>,
    overflow: PathBuf,
    /// The files that the parent knows, to be compared before and after.
    files: work::Job,
}

/// Tells a subagent to stop, to save its session and to end, when its parent no longer waits for it.
struct Leash(mpsc::UnboundedSender<Command>);

impl Drop for Leash {
    fn drop(&mut self) {
        // the sends fail if the subagent has ended
        let _ = self.0.send(Command::Stop);
        let _ = self.0.send(Command::Quit(oneshot::channel().0));
    }
}

impl Children {
    pub(super) fn new(
        places: mpsc::UnboundedSender<PlaceWanted>,
    ) -> (Children, mpsc::UnboundedReceiver<(CallId, News)>) {
        let (news, reports) = mpsc::unbounded_channel();
        (Children { places, news, all: Vec::new() }, reports)
    }

    /// Called when a turn has been broken off: its subagents have been stopped, and their questions are withdrawn.
    pub(super) fn forget(&mut self, conversation: &mut Conversation) {
        for (id, _) in self.all.drain(..).flat_map(|it| it.asked) {
            conversation.take(Input::Withdraw { id });
        }
    }

    /// Tells the subagents the mode of their parent, if it has changed, and forgets those whose calls are answered.
    pub(super) fn follow(&mut self, conversation: &mut Conversation) {
        if self.all.is_empty() {
            return;
        }
        let session = &conversation.session;
        let (mode, open) = (session.mode, session.running_children());
        let running: Vec<CallId> = open.map(|it| it.call.id.clone()).collect();
        let (left, ended) = self.all.drain(..).partition(|it| running.contains(&it.call));
        self.all = left;
        for it in self.all.iter_mut().filter(|it| it.mode != mode) {
            it.mode = mode;
            let _ = it.commands.send(Command::Follow(mode.min(it.widest)));
        }
        for (id, _) in ended.into_iter().flat_map(|it: Child| it.asked) {
            conversation.take(Input::Withdraw { id });
        }
    }

    /// Whether the turn waits only for the user's review of what subagents have changed.
    pub(super) fn wait_for_review(&self, session: &Session) -> bool {
        let mut running = session.open().iter().filter(|it| it.state == State::Running).peekable();
        running.peek().is_some()
            && running.all(|it| {
                self.all.iter().any(|child| child.is_reviewing && child.call == it.call.id)
            })
    }

    /// Takes a permission back from the subagents.
    pub(super) fn revoke(&self, grant: &Grant) {
        for it in &self.all {
            let _ = it.commands.send(Command::Revoke(grant.clone()));
        }
    }

    /// Passes the user's answer on to the subagent that has asked the question. Returns false if no subagent has.
    pub(super) fn rule(
        &mut self,
        conversation: &mut Conversation,
        id: &CallId,
        answer: &Answer,
    ) -> bool {
        let is_asked = |it: &&mut Child| it.asked.iter().any(|it| it.0 == *id);
        let Some(child) = self.all.iter_mut().find(is_asked) else { return false };
        let Some(at) = child.asked.iter().position(|it| it.0 == *id) else { return false };
        let (_, call) = child.asked.remove(at);
        let _ = child.commands.send(Command::Rule { call, answer: answer.clone() });
        let ruling = match answer {
            Answer::Ruling(ruling) => ruling.clone(),
            Answer::Always | Answer::Change(_) => Ruling::Once,
        };
        conversation.take(Input::Rule { call: id.clone(), ruling });
        true
    }
}

/// Begins a subagent's work on a call.
pub(super) fn begin(agent: &mut Agent, turn: TurnId, call: &ToolCall) {
    let Agent { conversation, desk, guidance, files, turn: running, .. } = agent;
    let keeper = files.record.lend(conversation, turn);
    let session = &conversation.session;
    let task = task::of(desk, call).and_then(|it| Ok((chosen(guidance, desk, &it)?, it)));
    let (chosen, task) = match task {
        Ok(task) => task,
        Err(said) => {
            let answer = ToolAnswer::failed(&call.id, said, "failed");
            return conversation.take(Input::Answered { turn, answer });
        }
    };
    let parent = Parent {
        session: conversation.id.clone(),
        call: call.id.clone(),
        is_tainted: session.is_tainted(),
        limits: session.narrowed(),
        is_copy: false,
    };
    let (commands, inbox) = mpsc::unbounded_channel();
    let (place, placed) = oneshot::channel();
    let stem = &conversation.id.0[..conversation.id.0.len().min(STEM)];
    let name = format!("{stem}-task");
    let is_saved = conversation.store.is_some();
    let wanted = PlaceWanted { name, is_saved, commands: commands.clone(), place };
    // the send fails only when the program is ending
    let children = &mut running.children;
    let _ = children.places.send(wanted);
    children.all.push(Child {
        call: call.id.clone(),
        commands: commands.clone(),
        session: None,
        asked: Vec::new(),
        mode: session.mode,
        widest: chosen.as_ref().and_then(|it| it.mode).unwrap_or(Mode::Auto),
        is_reviewing: false,
    });
    let job = Job {
        turn,
        call: call.clone(),
        work: Work { parent, task, is_unattended: session.is_unattended() },
        beginning: Beginning {
            agent: chosen.map(|it| it.name),
            model: session.model.clone(),
            tuning: session.tuning,
            mode: session.mode,
            tools: desk.tools.clone(),
            inherited: Inherited { is_subagent: true, grants: session.granted.clone(), keeper },
        },
        commands,
        inbox,
        place: placed,
        news: children.news.clone(),
        overflow: desk.overflow.clone(),
        files: files.run(conversation, desk, running, call),
    };
    running.attend(attend(job));
}

/// The named agent that does a task; `None` if the task names none. The error is for the model.
fn chosen(guidance: &Guidance, desk: &Desk, task: &Task) -> Result<Option<NamedAgent>, String> {
    let Some(name) = &task.agent else { return Ok(None) };
    let found = agents::load(desk).get(name)?.clone();
    if found.origin == Origin::Project && !guidance.consent.allows(&found.excerpt(desk)) {
        return Err(format!(
            "The user has not agreed to the project's agent `{}` yet, and does so by `:Caliban new @{0}`. Give the task \
             to a subagent without a name, or do it yourself.",
            found.name
        ));
    }
    Ok(Some(found))
}

/// Takes a report of a subagent in.
pub(super) fn take(agent: &mut Agent, of: &CallId, news: News) {
    let Agent { conversation, turn: Turn { children, .. }, .. } = agent;
    let Some(child) = children.all.iter_mut().find(|it| it.call == *of) else { return };
    let name = child.session.as_ref().map_or("subagent", |it| it.0.as_str());
    match news {
        News::Began(turn, session) => {
            child.session = Some(session.clone());
            conversation.take(Input::Delegated { turn, call: of.clone(), session });
        }
        News::Doing(line) => {
            let line = format!("{name} · {line}");
            conversation.show(Show::Delta(Delta::Doing { call: of.clone(), line }));
        }
        News::Reviewing(is_reviewing) => child.is_reviewing = is_reviewing,
        News::Asked { call, question, offer } => {
            let id = CallId(format!("{name}/{call}"));
            let question = format!("{name}: {question}");
            child.asked.push((id.clone(), call));
            let about = Matter::Subagent;
            conversation.take(Input::Consult(Consult { id, about, question, offer }));
        }
        News::Settled(call) => {
            let settled = child.asked.extract_if(.., |it| it.1 == call).collect::<Vec<_>>();
            for (id, _) in settled {
                conversation.take(Input::Withdraw { id });
            }
        }
        News::Spent { usage, cost } => {
            conversation.take(Input::ChildSpent { usage, cost });
            if let Some(reached) = conversation.session.limit_reached() {
                for it in &children.all {
                    let why = format!("the spending limit is reached: {reached}");
                    let _ = it.commands.send(Command::End(why));
                }
            }
        }
    }
}

/// A subagent begins to work on its task. The task is the words of a model: it mentions no files and is no command.
pub(super) fn set_to_work(agent: &mut Agent, work: Work) {
    let conversation = &mut agent.conversation;
    let Work { parent, task: Task { description, prompt, .. }, is_unattended } = work;
    conversation.take(Input::Assign { parent });
    conversation.take(Input::Title { title: crate::session::title(&description) });
    if is_unattended {
        conversation.session.leave_unattended();
    }
    conversation.take(Input::Send { text: prompt, context: Vec::new(), steer: false });
}

/// Has a subagent work on a call, and answers the call with the subagent's last reply.
async fn attend(job: Job) {
    let Job { turn, call, files, .. } = &job;
    let (turn, id, results) = (*turn, call.id.clone(), files.results.clone());
    let look = files.look().await;
    let answer = delegated(job).await;
    look.again().await;
    let _ = results.send(Input::Answered { turn, answer: ToolAnswer { id, ..answer } });
}

async fn delegated(job: Job) -> ToolAnswer {
    let Job { turn, call, work, beginning, commands, inbox, place, news, overflow, .. } = job;
    let failed = |why: &str| {
        let text = format!("The subagent could not begin: {why} Do the task yourself.");
        ToolAnswer::failed(&call.id, text, "failed")
    };
    let setup = match place.await {
        Ok(Ok(setup)) => *setup,
        Ok(Err(why)) => return failed(&why),
        Err(_) => return failed("Caliban is ending."),
    };
    let (session, screen) = (setup.id.clone(), setup.screen.clone());
    let (shown, mut shows) = mpsc::unbounded_channel();
    let (root, is_unattended) = (setup.desk.root.clone(), work.is_unattended);
    let _leash = Leash(commands.clone());
    tokio::spawn(start(beginning.of(setup, shown), inbox));
    let tell = |it| drop(news.send((call.id.clone(), it)));
    tell(News::Began(turn, session.clone()));
    // the send fails only if the subagent has panicked
    let _ = commands.send(Command::Work(Box::new(work)));
    let mut progress = Progress::new(session, root, is_unattended);
    while let Some(show) = shows.recv().await {
        match &show {
            Show::Event(event) => progress.event(event).into_iter().for_each(tell),
            Show::Tell(Report::Status(status)) => {
                tell(News::Reviewing(status.waiting_for == Some(Wait::Review)));
            }
            _ => (),
        }
        let _ = screen.send(show);
        if progress.has_ended() {
            return progress.answer(&call.id, &overflow);
        }
    }
    let text = "The subagent failed inside Caliban before its task was done. It may have had effects: look for them before \
                you repeat the task.";
    ToolAnswer::failed(&call.id, text.to_owned(), "failed")
}

/// Runs a subagent's agent. The type of the future is hidden because an agent has futures of this kind itself.
fn start(setup: Setup, inbox: mpsc::UnboundedReceiver<Command>) -> BoxFuture<'static, ()> {
    super::run(setup, inbox).boxed()
}

impl Beginning {
    /// The parts of a subagent that begins so. `screen` receives everything that the subagent shows.
    fn of(self, setup: Setup, screen: mpsc::UnboundedSender<Show>) -> Setup {
        let Beginning { agent, model, tuning, mode, tools, inherited } = self;
        let mut desk = setup.desk;
        desk.tools = desk.tools.only(|it| task::is_lent(it) && tools.find(&it.name).is_some());
        Setup {
            desk,
            screen,
            session: Session { model, tuning, ..setup.session },
            mode,
            inherited,
            agent,
            titles: false,
            // what a subagent spends counts for its parent
            limits: Limits { requests: setup.limits.requests, ..Limits::default() },
            ..setup
        }
    }
}
