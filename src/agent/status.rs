//! The status of a conversation, for the winbar and for scripts.

use super::sampler::Sampler;
use super::turn::Turn;
use super::{Agent, questions};
use crate::context::size;
use crate::conversation::Conversation;
use crate::conversation::report::{PlanStatus, QueuedMessage, Stage, Status, Wait, WorkersStatus};
use crate::event::{Delta, Matter};
use crate::provider::Sampled;
use crate::session::{Consult, Phase, Session, State};
use crate::tool::Desk;
use crate::view::grouped;

/// The conversation's current status.
pub(super) fn status(
    conversation: &Conversation,
    desk: &Desk,
    sampler: &mut Sampler,
    turn: &Turn,
) -> Status {
    let session = &conversation.session;
    let Sampler { fitting, models, .. } = &mut *sampler;
    let size = if session.is_blank() { 0 } else { fitting.shown_size(models, session, desk) };
    let (phase, waiting_for) = phase(conversation, turn);
    let running = session.open().iter().find(|it| it.state == State::Running);
    let chosen = sampler.models.resolve(&session.model).ok();
    let rests = matches!(session.phase, Phase::Resting { .. });
    let limits = chosen.as_ref().map(|it| sampler.models.limits(it, session.tuning));
    let limits = limits.unwrap_or_default();
    let retry = conversation.retry.as_ref().filter(|_| rests);
    Status {
        phase,
        waiting_for,
        question: questions::open(session).map(Box::new),
        turn: session.turns,
        tool: running.map(|it| it.call.tool.clone()),
        model: session.model.clone(),
        mode: session.mode,
        coordinates: session.workers.is_on,
        workers: workers(session),
        agent: session.profile.as_ref().map(|it| it.name.clone()),
        plan: plan(session),
        tour: sampler.models.is_tour(&session.model),
        runs: session.phase != Phase::Idle,
        unsaved: conversation.is_unsaved(),
        input: session.usage.read(),
        output: session.usage.output,
        cached: session.usage.cache_read,
        context: session.context,
        size,
        fill: limits.fill(size),
        window: limits.window,
        queue: session.queue.iter().map(|it| QueuedMessage::of(it, session)).collect(),
        jobs: u32::try_from(session.running_jobs().count()).unwrap_or(u32::MAX),
        retry_ms: retry.map(|it| it.ms),
        retry_why: retry.map(|it| it.why.clone()),
        silent_ms: turn.silent_ms(),
        hit: sampler.hit,
        cost: (session.spent > 0.0).then_some(session.spent),
        unpriced: session.unpriced,
    }
}

/// Whether a part of a reply changes nothing but the transcript: neither the status nor the next work. Most parts do,
/// and many arrive each second.
pub(super) fn outlasts(conversation: &Conversation, turn: &Turn, part: &Sampled) -> bool {
    let goes_on = match part {
        Sampled::Delta(Delta::Text(_)) => !turn.partial.is_empty(),
        Sampled::Delta(Delta::Thinking(_) | Delta::Alive) => true,
        Sampled::Delta(_) | Sampled::Done(_) | Sampled::Failed(_) => false,
    };
    goes_on && turn.silent_ms().is_none() && !conversation.is_unsaved()
}

/// Whether the status that was shown last is still true.
pub(super) fn is_current(agent: &mut Agent) -> bool {
    let Agent { conversation, desk, sampler, turn, .. } = agent;
    let status = status(conversation, desk, sampler, turn);
    conversation.has_shown(&status)
}

/// The tokens and cost of a conversation, for `/usage`.
pub(super) fn usage(conversation: &Conversation, sampler: &Sampler) -> String {
    let session = &conversation.session;
    let chosen = sampler.models.resolve(&session.model).ok();
    let window = chosen.map_or(0, |it| u64::from(it.facts.window));
    let usage = session.usage;
    let read = usage.read();
    let mut text = format!("Tokens of this conversation:\nin       {}", grouped(read));
    let share = size::percent(usage.cache_read, read);
    if share > 0 {
        text.push_str(&format!(", cached {} ({share} %)", grouped(usage.cache_read)));
    }
    text.push_str(&format!(
        "\nout      {}\ncontext  {}",
        grouped(usage.output),
        grouped(session.context)
    ));
    if window > 0 {
        let share = size::percent(session.context, window);
        text.push_str(&format!(" of {} ({share} %)", grouped(window)));
    }
    let spent = match session.spent {
        0.0..0.01 => "<$0.01".to_owned(),
        spent => format!("${spent:.2}"),
    };
    let cost = match (session.spent > 0.0, session.unpriced) {
        (true, false) => spent,
        (true, true) => format!("{spent}, not counting replies whose price is not known"),
        (false, true) => "not known".to_owned(),
        (false, false) => "none".to_owned(),
    };
    text + &format!("\ncost     {cost}")
}

fn workers(session: &Session) -> Option<WorkersStatus> {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let all = &session.workers;
    let active = count(all.active().count());
    let asking = count(all.active().filter(|it| it.1.waits).count());
    let unread = count(all.unread().count());
    (active + unread > 0).then_some(WorkersStatus { active, asking, unread })
}

fn plan(session: &Session) -> Option<PlanStatus> {
    let planning = &session.planning;
    let last = planning.last.as_ref()?;
    Some(PlanStatus { call: last.call.0.clone(), stage: last.stage, before: planning.before })
}

fn phase(conversation: &Conversation, turn: &Turn) -> (Stage, Option<Wait>) {
    let session = &conversation.session;
    let is_in_turn =
        |it: &Consult| matches!(it.about, Matter::Subagent | Matter::Recipient | Matter::Port);
    let asks_in_turn = session.consult.as_ref().is_some_and(is_in_turn);
    match &session.phase {
        _ if asks_in_turn => (Stage::Asking, Some(Wait::Permission)),
        Phase::Idle
            if session.consult.is_some()
                || session.inquiry().is_some()
                || session.planning.waiting().is_some() =>
        {
            (Stage::Asking, Some(Wait::Question))
        }
        Phase::Idle => (Stage::Idle, None),
        Phase::Sampling { .. } if turn.partial.is_empty() => (Stage::Sending, None),
        Phase::Sampling { .. } => (Stage::Streaming, None),
        Phase::Resting { .. } => (Stage::Retrying, None),
        Phase::Limited { .. } => (Stage::Asking, Some(Wait::Question)),
        Phase::Compacting { .. } => (Stage::Compacting, None),
        Phase::Acting { open, .. } => {
            let running = open.iter().any(|it| it.state == State::Running);
            if session.asking().is_some() {
                (Stage::Asking, Some(Wait::Permission))
            } else if running && !turn.children.wait_for_review(session) {
                (Stage::Running, None)
            } else {
                (Stage::Reviewing, Some(Wait::Review))
            }
        }
    }
}
