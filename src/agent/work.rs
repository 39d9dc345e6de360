//! What an agent has done outside of itself: each activity is straight-line async and ends in one `Input`.

use super::checkpoints::Keeper;
use super::commanded::Watch;
use super::known::{self, Cause, News, Watched};
use crate::context::mention;
use crate::event::{Delta, Plan, PlanStep, SessionId, TurnId};
use crate::message::{
    Block, CallId, Excerpt, Input as Arguments, Reply, Request, Stop, ToolAnswer, ToolCall, Usage,
};
use crate::provider::{Provider, Sampled};
use crate::session::{Input, MAX_CALLS, Session};
use crate::store::Store;
use crate::tool::{self, Arrival, Desk, Source, Unreadable, Work, Workspace};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;

pub(super) struct Prompt {
    pub(super) text: String,
    pub(super) context: Vec<Excerpt>,
    pub(super) steer: bool,
    /// What the model knows of when it is sent.
    pub(super) watched: Vec<Watched>,
}

pub(super) struct Prepared {
    pub(super) prompt: Prompt,
    pub(super) found: Vec<Excerpt>,
    pub(super) problems: Vec<String>,
    /// What the model learns with it: of files that are mentioned, and of those that have changed.
    pub(super) news: Vec<News>,
}

/// Looks after what the model knows and reads what prompts mention, one prompt after the other, so that they keep
/// their order.
pub(super) async fn prepare(
    desk: Desk,
    mut prompts: mpsc::UnboundedReceiver<Prompt>,
    prepared: mpsc::UnboundedSender<Prepared>,
) {
    while let Some(prompt) = prompts.recv().await {
        let looks = known::look(&*desk.workspace, &prompt.watched).await;
        let (knowing, mut learnt) = mpsc::unbounded_channel();
        let noting = Noting { inner: desk.workspace.clone(), knowing, args: None };
        let reading = Desk { workspace: Arc::new(noting), ..desk.clone() };
        let (found, problems) = mention::resolve(&reading, &prompt.text).await;
        drop(reading);
        let mut news = Vec::new();
        while let Some(it) = learnt.recv().await {
            news.push(in_excerpts(&desk, &found, it));
        }
        // what is mentioned whole is told by that
        news.sort_by_key(|it| matches!(it, News::Learnt { stood: Some(_), .. }));
        news.push(News::Looked(Cause::User, looks));
        if prepared.send(Prepared { prompt, found, problems, news }).is_err() {
            return;
        }
    }
}

/// A text that was read for a mention, as far as the model is shown it.
fn in_excerpts(desk: &Desk, found: &[Excerpt], it: News) -> News {
    let News::Learnt { path, text, .. } = it else { return it };
    let shown = tool::path::show(&desk.root, &path);
    let is_whole = found.iter().any(|it| it.path == shown && it.lines.is_none());
    News::Learnt { path, stood: (!is_whole).then(|| text.clone()), text }
}

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
    pub(super) knowing: mpsc::UnboundedSender<News>,
    /// What the model knows of; none where the call changes nothing.
    pub(super) watched: Vec<Watched>,
    /// Files to save before a command, which sees the disk.
    pub(super) unsaved: Vec<PathBuf>,
    /// Keeps what a command changes; the files that the session has changed. None where the call is no command.
    pub(super) keeper: Option<(Keeper, Vec<PathBuf>)>,
}

/// Whether a call has effects outside: what was decided before it must survive even a loss of power.
pub(super) fn acts(call: &ToolCall) -> bool {
    matches!(tool::find(&call.tool).map(|it| &it.work), Some(Work::Act { .. }))
}

/// Whether a call may change files by itself.
pub(super) fn changes(call: &ToolCall) -> bool {
    let work = tool::find(&call.tool).map(|it| &it.work);
    matches!(work, Some(Work::Act { .. } | Work::Own { .. }))
}

/// Runs one read or command. Whatever happens in it, the call gets its answer.
pub(super) async fn run(job: Job, turn: TurnId, call: ToolCall) {
    let id = call.id.clone();
    if acts(&call) && !job.unsaved.is_empty() {
        let unsaved = job.desk.workspace.save(job.unsaved).await;
        let root = &job.desk.root;
        let paths = unsaved.iter().map(|it| tool::path::show(root, it)).collect();
        let _ = job.results.send(Input::Unsaved { paths });
    }
    let files = job.desk.workspace.clone();
    let before = known::look(&*files, &job.watched).await;
    let watched = known::after(job.watched, &before);
    let _ = job.knowing.send(News::Looked(Cause::User, before));
    let watch = match job.keeper {
        Some((keeper, touched)) => Some(Watch::begin(&job.desk.root, touched, keeper, turn).await),
        None => None,
    };
    // A search shows lines, not files: only `read` makes a text known.
    let desk = if call.tool == "read" {
        let (inner, knowing) = (files.clone(), job.knowing.clone());
        let noting = Noting { inner, knowing, args: Some(call.input.clone()) };
        Desk { workspace: Arc::new(noting), ..job.desk }
    } else {
        job.desk
    };
    let ran = AssertUnwindSafe(tool::run(&desk, &call)).catch_unwind().await;
    let answer = ran.unwrap_or_else(|_| broken(&id));
    if let Some(watch) = watch {
        watch.end().await;
    }
    let after = known::look(&*files, &watched).await;
    let _ = job.knowing.send(News::Looked(Cause::Command, after));
    let _ = job.results.send(Input::Answered { turn, answer });
}

fn broken(id: &CallId) -> ToolAnswer {
    ToolAnswer {
        id: id.clone(),
        text: "The tool failed inside Caliban; this is not your fault. Try another way.".into(),
        failed: true,
        summary: "failed".into(),
        output: None,
    }
}

/// A workspace that tells which texts the model has seen.
struct Noting {
    inner: Arc<dyn Workspace>,
    knowing: mpsc::UnboundedSender<News>,
    /// Of the call that reads; absent, all is shown.
    args: Option<Arguments>,
}

impl Workspace for Noting {
    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Source, Unreadable>> {
        Box::pin(async move {
            let source = self.inner.read(path).await?;
            let text = source.text.clone();
            let is_part = self.args.as_ref().is_some_and(|it| !tool::shows_all(it, &text));
            let stood = is_part.then(|| text.clone());
            // what the user makes of proposed text is told by its verdict
            if stood.is_none() || source.pending == 0 {
                let _ = self.knowing.send(News::Learnt { path: path.to_owned(), stood, text });
            }
            Ok(source)
        })
    }

    fn propose(
        &self,
        turn: TurnId,
        proposals: Vec<crate::edit::Proposal>,
    ) -> BoxFuture<'_, Vec<Arrival>> {
        self.inner.propose(turn, proposals)
    }

    fn changed(&self) -> BoxFuture<'_, Vec<PathBuf>> {
        self.inner.changed()
    }

    fn save(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<PathBuf>> {
        self.inner.save(paths)
    }

    fn consult(
        &self,
        question: tool::lsp::Question,
    ) -> BoxFuture<'_, Result<tool::lsp::Findings, String>> {
        self.inner.consult(question)
    }
}

/// The text of a reply that may never end.
#[derive(Default)]
pub(super) struct Partial {
    /// The model that was asked, as `provider/model`.
    pub(super) by: String,
    text: String,
    /// Bytes of it that the journal has.
    saved: usize,
}

impl Partial {
    /// With the text that the journal has.
    pub(super) fn of(by: String, text: String) -> Partial {
        Partial { by, saved: text.len(), text }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn gather(&mut self, delta: &Delta) {
        if let Delta::Text(text) = delta {
            self.text.push_str(text);
        }
    }

    /// Gives the journal what it does not have.
    pub(super) fn save(&mut self, store: &mut Store) -> io::Result<()> {
        if self.saved < self.text.len() {
            let saved = std::mem::replace(&mut self.saved, self.text.len());
            store.append_piece(&self.text[saved..])?;
        }
        Ok(())
    }

    /// What came, as a reply that was stopped; from here on there is nothing.
    pub(super) fn take(&mut self) -> Option<Reply> {
        let Partial { by, text, .. } = std::mem::take(self);
        (!text.is_empty()).then(|| Reply {
            blocks: vec![Block::Text { text }],
            stop: Stop::Cancelled,
            usage: Usage::default(),
            model: String::new(),
            by,
        })
    }
}

/// A reply that can be sent back: ids that no other call of the session has, names that providers accept.
pub(super) fn sound(mut reply: Reply, session: &Session) -> Reply {
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
    let plan = |call: &ToolCall| Plan { call: call.id.clone(), step: tool::plan(desk, call) };
    reply.calls().take(MAX_CALLS).map(plan).collect()
}

/// What the calls name that will be done.
pub(super) fn touched(desk: &Desk, reply: &Reply, plans: &[Plan]) -> Vec<PathBuf> {
    let done = reply.calls().zip(plans).filter(|it| !matches!(it.1.step, PlanStep::Refused(_)));
    done.flat_map(|(call, _)| tool::touched(desk, call)).collect()
}

/// A number from 0 to 999 for the jitter of retries; the clock's low digits are random enough.
pub(super) fn dice() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.subsec_micros() % 1000
}

#[cfg(test)]
mod tests;
