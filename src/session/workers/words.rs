//! Sentences about workers, for the coordinator's model, the workers' models and the user.

use super::{WORKER_REQUESTS, Workers};
use crate::event::{End, HandOff, Post, Worker, WorkerId, WorkerRole};
use crate::message::Origin;
use crate::session::handoff::Report;
use crate::session::say;
use crate::text::counted;

const COORDINATOR: &str = "The user chose coordinator mode: you hand work out and do none of it yourself. Your tools read \
    the project and begin workers, each with a context of its own. A worker knows nothing of this conversation and makes \
    at most 12 requests, so its prompt says the goal, the paths and what to report. Explorers read and search. \
    Implementers edit the paths that you give them in `owns`; give no path to two at a time. Verifiers run commands and \
    edit nothing. Summarizers shorten what others found. Begin workers that do not depend on each other together, then \
    call `await_workers`. Read every result, and have a verifier check what an implementer claims. Answer the user only \
    when no worker runs and you have read every result.";

const NO_COORDINATOR: &str =
    "The user ended coordinator mode: you have no workers and do the work yourself again.";

/// Why a copy of a conversation does not get the result of a worker that runs.
pub(super) const IN_ORIGINAL: &str = "This conversation is a copy. The worker goes on for the original conversation, and its result goes there.";

/// The note for the model when the conversation becomes a coordinator, or stops being one.
pub(super) fn coordinating(is_on: bool) -> &'static str {
    if is_on { COORDINATOR } else { NO_COORDINATOR }
}

/// Whether a note for the model begins or ends coordinator mode; `None` for other notes.
pub fn is_coordinating(note: &str) -> Option<bool> {
    [true, false].into_iter().find(|it| coordinating(*it) == note)
}

/// What a worker's model is told before its task.
pub(in crate::session) fn post(post: &Post) -> String {
    let role = match post.role {
        WorkerRole::Explorer => {
            "You are an explorer: find out what the task asks, by reading and searching. You change nothing and run \
             nothing."
        }
        WorkerRole::Implementer => {
            "You are an implementer: make the change that the task asks, and check it."
        }
        WorkerRole::Verifier => {
            "You are a verifier: check by reading and by running commands whether the task's claims are true. Try to \
             refute them. You edit nothing."
        }
        WorkerRole::Summarizer => {
            "You are a summarizer: shorten what the task names to what its reader needs. You change nothing and run \
             nothing."
        }
    };
    let owns = match &post.owns[..] {
        [] => String::new(),
        owns => format!(" You may edit only these paths: `{}`.", owns.join("`, `")),
    };
    format!(
        "You are worker {} of a coordinator, which gives you one task and gets only your hand-off. {role}{owns} Nobody \
         answers questions: decide yourself. You have {WORKER_REQUESTS} requests. Report progress with `notify`. End \
         with JSON and nothing else: {{\"what_was_done\": \"\", \"evidence\": \"paths with lines, commands with their \
         results\", \"unresolved_risks\": \"\", \"exact_next_step\": \"\", \"status\": \"done, partial or failed\"}}",
        post.worker
    )
}

/// The note for a worker before its last request.
pub(in crate::session) const LAST: &str = "This is your last request. Call no more tools: end with the JSON of your \
    hand-off, even if the task is not done.";

/// The answer to a call that asks for more workers than a conversation may have.
pub(super) fn too_many(wanted: usize, unsettled: usize, most: usize) -> String {
    format!(
        "No worker was begun: {wanted} more would make {}, and at most {most} workers may run, wait in line or have an \
         unread result. Ask for fewer, or read results first.",
        wanted + unsettled
    )
}

/// The note for the model whose reply is held.
pub(super) fn held(workers: &Workers) -> String {
    let names =
        |all: Vec<WorkerId>| all.iter().map(WorkerId::to_string).collect::<Vec<_>>().join(", ");
    let active: Vec<WorkerId> = workers.active().map(|it| it.0).collect();
    let unread: Vec<WorkerId> = workers.unread().map(|it| it.0).collect();
    let mut why = Vec::new();
    if !active.is_empty() {
        let names = names(active);
        why.push(format!("Not finished yet: {names}. Call `await_workers` or `stop_worker`."));
    }
    if !unread.is_empty() {
        let names = names(unread);
        why.push(format!("You have not read the result of {names}. Call `await_workers`."));
    }
    format!("{HELD}{} Then answer.", why.join(" "))
}

/// The beginning of the note for the model whose reply is held.
const HELD: &str = "Your answer is held. ";

/// Whether a note for the model says that its reply is held.
pub fn is_held(note: &str) -> bool {
    note.starts_with(HELD)
}

/// Whether a worker's turn ended because it had made as many requests as it may.
pub fn has_run_out(why: &End, requests: u32) -> bool {
    *why == End::Stopped(say::too_many_requests(requests))
}

/// The sentence for the user at the end of a turn whose answers were held in vain.
pub(super) fn answered_early(active: usize, given: usize) -> String {
    let workers = |n: usize| counted(n, "worker");
    let early = match active {
        0 => "it had read all results of its workers.".to_owned(),
        n => format!("its workers were done. Caliban stopped {}.", workers(n)),
    };
    format!(
        "Stopped: the model answered three times before {early} The results of {} are above, and go to the model with \
         your next message.",
        workers(given)
    )
}

/// The note about the results for which the next request has no room; `None` if there are none.
pub(super) fn left_out(workers: &Workers) -> Option<String> {
    let names: Vec<String> = workers.unread().map(|it| it.0.to_string()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "The results of {} are left out, because together they would be too long. In coordinator mode \
             `worker_result` gives them.",
            names.join(", ")
        )
    })
}

/// The hand-off of a worker that broke off for this reason.
pub(super) fn broken_off(it: &Worker, why: &str) -> HandOff {
    let done = match &*it.notice {
        "" => "Not known.".to_owned(),
        notice => format!("Its last notice: {notice}"),
    };
    let next = "Check what the worker has changed before you repeat the work.";
    let mut text = Report::partial(&done, why, next).json();
    if let Some(session) = &it.session {
        text.push_str(&format!("\n[Its conversation is `{session}`.]"));
    }
    // a stranger's text may be in the notice
    let foreign = (!it.notice.is_empty()).then_some(Origin::Subagent);
    HandOff { text, foreign, is_partial: true }
}

/// The hand-off of a worker that never began, for this reason.
pub(super) fn never_begun(why: &str) -> HandOff {
    let next = "Begin it again if the work is still needed.";
    let text = Report::partial("Nothing.", why, next).json();
    HandOff { text, foreign: None, is_partial: true }
}

/// The hand-off of a worker that ran or waited when the turn of its coordinator ended.
pub(super) fn cut_off(it: &Worker, why: &End) -> HandOff {
    let why = match why {
        End::Cancelled => "The user stopped the turn before the worker was done.",
        End::Interrupted => "Interrupted: the editor or Caliban ended. The worker may have run.",
        End::Copied => "The worker goes on in the original of this conversation.",
        End::Done | End::Failed(_) | End::Stopped(_) => {
            "The turn ended before the worker was done."
        }
    };
    broken_off(it, why)
}
