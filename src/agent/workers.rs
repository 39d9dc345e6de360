//! A coordinator's workers, from the agent's side: begins and ends them, and carries out what the user wants of them.

use super::children::{self, Job, Lent, Whom};
use super::{Agent, ChildCommand, WorkerWanted};
use crate::conversation::Conversation;
use crate::conversation::report::Level;
use crate::event::{HandOff, Isolation, Mode, Order, Post, TurnId, WorkerId, WorkerState};
use crate::message::CallId;
use crate::session::handoff::Report;
use crate::session::{Effect, Input, Phase, WORKER_REQUESTS, WorkerInput};
use crate::tool::task::Task;
use crate::tool::workers;

/// Begins or ends a worker.
pub(super) fn lead(agent: &mut Agent, effect: Effect) {
    match effect {
        Effect::Employ { turn, call, worker, order } => begin(agent, turn, &call, worker, order),
        Effect::Dismiss { worker, why } => {
            let children = &agent.turn.children;
            // a worker without a session would begin its task after the order to end it
            if !children.tell(worker, ChildCommand::End(why)) {
                children.quit(worker);
            }
        }
        _ => (),
    }
}

fn begin(agent: &mut Agent, turn: TurnId, call: &CallId, worker: WorkerId, order: Order) {
    let Agent { conversation, desk, guidance, files, turn: running, .. } = agent;
    let files = files.watched(conversation, desk, running);
    let tools =
        guidance.named.alone.only(|it| workers::is_for(order.role, it)).with(workers::notify());
    let Order { role, title, prompt, mut owns, isolation } = order;
    if owns.is_empty() && isolation == Isolation::Worktree {
        owns.push(".".to_owned());
    }
    let post = Some(Post { worker, role, owns });
    let lent = Lent { chosen: None, tools, requests: Some(WORKER_REQUESTS), post, files };
    let task = Task { description: title, prompt, agent: None, isolation };
    let job = children::employ(agent, turn, (Whom::Worker(worker), call), task, lent);
    agent.turn.attend(attend(job, worker));
}

/// Runs a worker to its end, and reports its hand-off.
async fn attend(job: Job, worker: WorkerId) {
    let (results, overflow) = (job.files.results.clone(), job.overflow.clone());
    let ended = match children::worked(job).await {
        Ok(progress) => {
            if progress.is_stopped_by_user() {
                let _ = results.send(Input::Worker(WorkerInput::Dismiss { worker }));
            }
            let (requests, tokens) = progress.used();
            let (result, is_whole) = (progress.hand_off(&overflow), progress.is_whole());
            WorkerInput::Ended { worker, result, is_whole, requests, tokens }
        }
        Err(why) => {
            let text = Report::partial(
                "Not known.",
                &why,
                "Check what the worker has changed, then decide.",
            )
            .json();
            let result = HandOff { text, foreign: None, is_partial: true };
            WorkerInput::Ended { worker, result, is_whole: false, requests: 0, tokens: 0 }
        }
    };
    let _ = results.send(Input::Worker(ended));
}

/// The conversation becomes a coordinator.
pub(super) fn coordinate(conversation: &mut Conversation) {
    if conversation.session.workers.is_on {
        let text = "This conversation is already a coordinator.";
        return conversation.notice(Level::Info, text.to_owned());
    }
    if conversation.session.phase != Phase::Idle {
        return conversation.refuse_while_running();
    }
    if conversation.session.mode == Mode::Plan {
        let text = "In plan mode the model makes a plan and has no workers. Choose another mode first, for example \
                    with `:Caliban mode ask`.";
        return conversation.notice(Level::Warn, text.to_owned());
    }
    conversation.take(Input::Worker(WorkerInput::Coordinate { is_on: true }));
}

/// A coordinator works by itself again, because the user has chosen a mode. While its turn runs, the coordinator and
/// its workers stay, and this returns false; only a narrower mode (other than plan mode) is used at once.
pub(super) fn leave(conversation: &mut Conversation, mode: Mode) -> bool {
    let session = &conversation.session;
    if !session.workers.is_on {
        return true;
    }
    if session.phase != Phase::Idle {
        if mode != Mode::Plan && mode < session.mode {
            conversation.take(Input::ChooseMode { mode });
            return false;
        }
        let running = match session.workers.active().count() {
            0 => "A turn is running",
            1 => "A worker is running",
            _ => "Workers are running",
        };
        let text = format!(
            "{running}, so the conversation stays a coordinator. Stop the turn first (<C-c>)."
        );
        conversation.notice(Level::Warn, text);
        return false;
    }
    conversation.take(Input::Worker(WorkerInput::Coordinate { is_on: false }));
    true
}

/// Carries out what the user wants of a worker.
pub(super) fn carry_out(agent: &mut Agent, worker: WorkerId, wanted: WorkerWanted) {
    let conversation = &mut agent.conversation;
    let state = conversation.session.workers.all.get(&worker).map(|it| it.state);
    let why = match (state, &wanted) {
        (None, _) => Some("does not exist"),
        (Some(WorkerState::Waiting), WorkerWanted::Message(_)) => Some("has not begun yet"),
        (Some(state), _) if state.is_over() => Some("has ended"),
        _ => None,
    };
    if let Some(why) = why {
        return conversation.notice(Level::Warn, format!("The worker {worker} {why}."));
    }
    match wanted {
        WorkerWanted::Stop => {
            conversation.take(Input::Worker(WorkerInput::Dismiss { worker }));
        }
        WorkerWanted::Message(text) if text.trim().is_empty() => (),
        WorkerWanted::Message(text) => {
            let told = ChildCommand::Message(text.clone());
            if agent.turn.children.tell(worker, told) {
                conversation.take(Input::Worker(WorkerInput::Told { worker, text }));
            } else {
                let text = format!("The worker {worker} has not begun yet.");
                conversation.notice(Level::Warn, text);
            }
        }
    }
}
