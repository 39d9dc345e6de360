//! The subagents of a conversation. Each works on one `task` call in a session of its own, by an agent like any other,
//! and reports to its parent's agent.

mod asked;
mod job;
mod model;
pub(super) mod progress;
mod review;
pub(super) mod team;
pub(super) mod worktrees;

use super::command::{ChildCommand, Work};
use super::guidance::Guidance;
use super::setup::{Inherited, PlaceWanted};
use super::turn::Turn;
use super::{Agent, work};
use crate::context::agents::{self, NamedAgent};
use crate::conversation::report::Show;
use crate::event::{Delta, Isolation, Mode, Parent, Post, TurnId, WorkerRole};
use crate::message::{CallId, ToolAnswer};
use crate::session::{Input, WorkerInput};
use crate::tool::task::{self, Task};
use crate::tool::{Call, Desk, Toolset};
pub(super) use job::{Job, worked};
pub(super) use team::{Children, News, Whom};

use job::{Beginning, attend};
use team::Child;
use tokio::sync::{mpsc, oneshot};

/// The names of subagents begin with the name of their parent's session, cut to this many bytes.
const STEM: usize = 50;

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
        let Agent { conversation, desk, files, .. } = agent;
        let kept = (&mut files.record, &mut files.worktrees);
        return worktrees::take(conversation, desk, kept, message);
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
