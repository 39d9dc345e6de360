//! The tasks of a turn. Each task runs to its end and sends one `Input` with its result.

use super::checkpoints::Keeper;
use super::command_changes::{Ended, Watch};
use super::known::{self, Cause, Observation, Watched};
use crate::event::{SessionId, TurnId};
use crate::message::{Block, CallId, Reply, Request};
use crate::provider::{Provider, Sampled};
use crate::session::{Input, Session};
use crate::tool::{self, Announced, Call, Desk, Ran, Seen, Source, Workspace};
use futures::{FutureExt, StreamExt};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;

/// The key under which providers cache the conversation: 32 hex digits, the same each time the conversation is opened.
pub(super) fn thread(root: &Path, session: &SessionId) -> String {
    let digest = Sha256::new()
        .chain_update(root.as_os_str().as_encoded_bytes())
        .chain_update([0])
        .chain_update(&session.0)
        .finalize();
    format!("{digest:x}")[..32].to_owned()
}

/// Forwards a model's stream to the agent.
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
    /// The files whose changes the model is told of; empty if the call changes nothing.
    pub(super) watched: Vec<Watched>,
    /// Files to save before a command runs, because the command reads them from disk.
    pub(super) unsaved: Vec<PathBuf>,
    /// Those of them that the question about the command has named: the user has agreed to save them.
    pub(super) agreed: Vec<PathBuf>,
    /// For a command, a pair: the keeper, which stores the files that the command changes; and the paths of the files
    /// that the session has changed before.
    pub(super) keeper: Option<(Keeper, Vec<PathBuf>)>,
}

impl Job {
    /// Looks at the files that the model knows, before a call that may change them.
    pub(super) async fn look(&self) -> Looked {
        let files = self.desk.workspace.clone();
        let before = known::look(&*files, &self.watched).await;
        let watched = known::after(self.watched.clone(), &before);
        let observations = self.observations.clone();
        let _ = observations.send(Observation::Looked(Cause::User, before, Vec::new()));
        Looked { files, watched, observations, cause: Cause::Command }
    }
}

/// The files that the model knows, as they were before a call.
pub(super) struct Looked {
    files: Arc<dyn Workspace>,
    watched: Vec<Watched>,
    observations: mpsc::UnboundedSender<Observation>,
    cause: Cause,
}

impl Looked {
    /// For a call that is no command.
    pub(super) fn of_call(self) -> Looked {
        Looked { cause: Cause::Call, ..self }
    }

    /// Looks again, after the call. `changed` are files that the call is known to have changed.
    pub(super) async fn again(self, changed: Vec<PathBuf>) {
        let after = known::look(&*self.files, &self.watched).await;
        let _ = self.observations.send(Observation::Looked(self.cause, after, changed));
    }
}

/// Runs one read or command. The call gets an answer even if the tool panics.
pub(super) async fn run(job: Job, turn: TurnId, call: Arc<Call>) {
    if call.acts() && !job.unsaved.is_empty() {
        let unsaved = job.desk.workspace.save(job.unsaved.clone(), job.agreed.clone()).await;
        let root = &job.desk.root;
        let paths = unsaved.iter().map(|it| tool::path::show(root, it)).collect();
        let _ = job.results.send(Input::Unsaved { paths });
    }
    let looked = job.look().await;
    let announced = if call.changes() {
        Some(Announced::begin(job.desk.workspace.clone(), false).await)
    } else {
        None
    };
    let watch = match job.keeper {
        Some((keeper, touched)) => {
            Some(Watch::begin(&job.desk, touched, keeper, turn, call.runs_apart()).await)
        }
        None => None,
    };
    let (seen, mut texts) = mpsc::unbounded_channel();
    let desk = Desk { seen: Some(seen), ..job.desk };
    let ran = AssertUnwindSafe(tool::run(&desk, &call)).catch_unwind().await;
    let Ran { answer, decisions, told, needed } = ran.unwrap_or_else(|_| Ran::broken(call.id()));
    if !decisions.is_empty() {
        let _ = job.results.send(Input::Log { decisions });
    }
    for text in told {
        let _ = job.results.send(Input::Tell { text });
    }
    drop(desk);
    while let Some(seen) = texts.recv().await {
        learnt(seen).map(|it| job.observations.send(it));
    }
    let ended = match watch {
        Some(watch) => watch.end().await,
        None => Ended::default(),
    };
    if let Some(announced) = announced {
        announced.end(ended.moved).await;
    }
    looked.again(ended.own).await;
    let _ = job.results.send(match needed {
        Some(access) => Input::Needed { turn, call: call.id().clone(), access },
        None => Input::Answered { turn, answer },
    });
}

/// The observation that the model has seen a text which a call has read. `None` if the model saw only a part of the
/// text and changes of the file are pending: the verdict on these changes tells the model the text.
fn learnt(Seen { path, source, is_whole }: Seen) -> Option<Observation> {
    let Source { text, pending } = source;
    let stood = (!is_whole).then(|| text.clone());
    (is_whole || pending == 0).then_some(Observation::Learnt { path, stood, text })
}

/// Makes a reply fit to be sent back: each call gets an id that no other call of the session and no question of the program's
/// has, and a tool name that providers accept.
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
    // for each id, the last number that was appended to make it unique, so that no number is tried twice
    let mut numbers: HashMap<String, u32> = HashMap::new();
    for block in &mut reply.blocks {
        let Block::Call(call) = block else { continue };
        let base = if call.id.is_own() { "call" } else { &call.id.0 };
        let base: String = base.chars().take(50).collect();
        while call.id.0.is_empty() || call.id.is_own() || taken.contains(&call.id) {
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

/// A number from 0 to 999 for the jitter of retries. The low digits of the clock are random enough.
pub(super) fn dice() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.subsec_micros() % 1000
}

#[cfg(test)]
mod tests;
