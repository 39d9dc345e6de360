//! What an agent has done outside of itself: each activity is straight-line async and ends in one `Input`. And what a
//! reply's calls come to before any of them runs.

use super::checkpoints::Keeper;
use super::command_changes::Watch;
use super::known::{self, Cause, Observation, Watched};
use crate::event::{Access, Plan, SessionId, TurnId};
use crate::message::{Block, CallId, Input as Arguments, Reply, Request, ToolAnswer, ToolCall};
use crate::provider::{Provider, Sampled};
use crate::session::{Input, MAX_CALLS, Session};
use crate::tool::{self, Desk, Source, Tool};
use futures::{FutureExt, StreamExt};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;

/// The conversation's name for caches, the same whenever it is opened: 32 hex digits.
pub(super) fn thread(root: &Path, session: &SessionId) -> String {
    let digest = Sha256::new()
        .chain_update(root.as_os_str().as_encoded_bytes())
        .chain_update([0])
        .chain_update(&session.0)
        .finalize();
    format!("{digest:x}")[..32].to_owned()
}

/// Carries a model's words to the agent.
pub(super) async fn sample(
    provider: Arc<dyn Provider>,
    request: Arc<Request>,
    turn: TurnId,
    samples: mpsc::UnboundedSender<(TurnId, Sampled)>,
) {
    let mut stream = provider.sample(request);
    while let Some(sampled) = stream.next().await {
        if samples.send((turn, sampled)).is_err() {
            return;
        }
    }
}

pub(super) struct Job {
    pub(super) desk: Desk,
    pub(super) results: mpsc::UnboundedSender<Input>,
    pub(super) observations: mpsc::UnboundedSender<Observation>,
    /// What the model knows of; none where the call changes nothing.
    pub(super) watched: Vec<Watched>,
    /// Files to save before a command, which sees the disk.
    pub(super) unsaved: Vec<PathBuf>,
    /// Keeps what a command changes; the files that the session has changed. None where the call is no command.
    pub(super) keeper: Option<(Keeper, Vec<PathBuf>)>,
}

/// Runs one read or command. Whatever happens in it, the call gets its answer.
pub(super) async fn run(job: Job, turn: TurnId, call: ToolCall) {
    let acts = job.desk.tools.find(&call.tool).is_some_and(Tool::acts);
    if acts && !job.unsaved.is_empty() {
        let unsaved = job.desk.workspace.save(job.unsaved).await;
        let root = &job.desk.root;
        let paths = unsaved.iter().map(|it| tool::path::show(root, it)).collect();
        let _ = job.results.send(Input::Unsaved { paths });
    }
    let files = job.desk.workspace.clone();
    let before = known::look(&*files, &job.watched).await;
    let watched = known::after(job.watched, &before);
    let _ = job.observations.send(Observation::Looked(Cause::User, before));
    let watch = match job.keeper {
        Some((keeper, touched)) => Some(Watch::begin(&job.desk.root, touched, keeper, turn).await),
        None => None,
    };
    let (seen, mut texts) = mpsc::unbounded_channel();
    // A search shows lines, not files: only `read` makes a text known.
    let desk = Desk { seen: (call.tool == "read").then_some(seen), ..job.desk };
    let ran = AssertUnwindSafe(tool::run(&desk, &call)).catch_unwind().await;
    let answer = ran.unwrap_or_else(|_| broken(&call.id));
    drop(desk);
    while let Some((path, source)) = texts.recv().await {
        learnt(&call.input, path, source).map(|it| job.observations.send(it));
    }
    if let Some(watch) = watch {
        watch.end().await;
    }
    let after = known::look(&*files, &watched).await;
    let _ = job.observations.send(Observation::Looked(Cause::Command, after));
    let _ = job.results.send(Input::Answered { turn, answer });
}

fn broken(id: &CallId) -> ToolAnswer {
    let text = "The tool failed inside Caliban; this is not your fault. Try another way.";
    ToolAnswer::failed(id, text.to_owned(), "failed")
}

/// What the model learns by a text that a call with these arguments has read; nothing where it was shown a part of a text
/// that the user has not decided on: a verdict tells of that.
fn learnt(args: &Arguments, path: PathBuf, source: Source) -> Option<Observation> {
    let Source { text, pending } = source;
    let stood = (!tool::shows_all(args, &text)).then(|| text.clone());
    (stood.is_none() || pending == 0).then_some(Observation::Learnt { path, stood, text })
}

/// A reply that can be sent back: ids that no other call of the session has, names that providers accept.
pub(super) fn sendable(mut reply: Reply, session: &Session) -> Reply {
    let mut taken: HashSet<CallId> = session
        .messages
        .iter()
        .flat_map(|it| &it.blocks)
        .filter_map(|it| match it {
            Block::Call(call) => Some(call.id.clone()),
            _ => None,
        })
        .collect();
    // how far the numbers of ids that begin alike have come: each is tried once
    let mut numbers: HashMap<String, u32> = HashMap::new();
    for block in &mut reply.blocks {
        let Block::Call(call) = block else { continue };
        let base: String = call.id.0.chars().take(50).collect();
        while call.id.0.is_empty() || taken.contains(&call.id) {
            let n = numbers.entry(base.clone()).or_insert(1);
            *n = n.saturating_add(1);
            call.id = CallId(format!("{base}-{n}"));
        }
        taken.insert(call.id.clone());
        call.tool = call
            .tool
            .chars()
            .take(64)
            .map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' })
            .collect();
        if call.tool.is_empty() {
            "unknown".clone_into(&mut call.tool);
        }
    }
    reply
}

/// Among the calls that are run.
pub(super) fn plans(desk: &Desk, reply: &Reply) -> Vec<Plan> {
    let plan = |call: &ToolCall| Plan { call: call.id.clone(), access: tool::access(desk, call) };
    reply.calls().take(MAX_CALLS).map(plan).collect()
}

/// What the calls name that will be done.
pub(super) fn touched(desk: &Desk, reply: &Reply, plans: &[Plan]) -> Vec<PathBuf> {
    let done = reply.calls().zip(plans).filter(|it| !matches!(it.1.access, Access::Never(_)));
    done.flat_map(|(call, _)| tool::touched(desk, call)).collect()
}

/// A number from 0 to 999 for the jitter of retries; the clock's low digits are random enough.
pub(super) fn dice() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.subsec_micros() % 1000
}

#[cfg(test)]
mod tests;
