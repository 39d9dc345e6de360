//! The user's files through the editor. A file's text comes from its buffer if the buffer is loaded and changed,
//! otherwise from disk. Proposals go into buffers.

use super::lsp;
use super::reviews::{Order, on_wire};
use super::session_link::SessionLink;
use super::wire::{
    BufferText, Comments, Consult, HeldText, PartlyDecided, Restored, ToNvim, Uncomment,
    WireProposal, to_utf8,
};
use crate::edit::{Misfit, Proposal};
use crate::event::{Buffer, Disk, Standing, TurnId};
use crate::text::{Text, cause};
use crate::tool::comment::Comment;
use crate::tool::lsp::{Findings, Question};
use crate::tool::scene::{Part, Scene};
use crate::tool::{Arrival, Moved, Source, Stamp, Unreadable, Workspace, disk, seen};
use futures::future::{BoxFuture, join_all};
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

/// How long to wait for the editor before a file counts as one that the user has not written. The editor does not
/// answer while it waits for a key.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a call of the model's waits for the editor's answer to a question that it can do without.
const LONG_PATIENCE: Duration = Duration::from_secs(3);

/// How long a call of the model's waits for the editor's text of a file.
const LONGEST_PATIENCE: Duration = Duration::from_secs(60);

const BUSY: &str = "the editor does not answer; perhaps it waits until the user presses a key";

pub struct Buffers {
    pub link: SessionLink,
    /// The session in which the user reviews this session's proposals: for a worker, its parent. If a file is under
    /// review, new proposals of the same owner join the review; proposals of another owner wait until the review is
    /// over.
    pub owner: SessionLink,
    pub reviews: mpsc::UnboundedSender<Order>,
    pub questions: mpsc::UnboundedSender<lsp::Order>,
}

impl Buffers {
    /// The editor's answer to a question. The error says that the editor has not answered in time.
    async fn ask<T: DeserializeOwned>(
        &self,
        question: ToNvim,
        patience: Duration,
    ) -> Result<Option<T>, Elapsed> {
        let answer = timeout(patience, self.link.editor.call(question)).await?;
        Ok(answer.and_then(|it| rmpv::ext::from_value(it).ok()))
    }

    /// The editor's text of a file, and the number of the file's pending hunks. The text is `None` if the editor has
    /// the same text as the disk. With `decode`, the editor always sends the text.
    async fn shown(&self, path: &Path, decode: bool) -> Result<(Option<Source>, u32), Unreadable> {
        let question = ToNvim::Read { path: path.to_owned(), decode, unmodified: false };
        let buffer = self.ask::<BufferText>(question, LONGEST_PATIENCE).await;
        let buffer = buffer.map_err(|_| Unreadable::Other(BUSY.to_owned()))?;
        let BufferText { pending, text, eol, dos, bom, .. } = buffer.unwrap_or_default();
        let text = text.map(|it| Text::from_lines_joined(&it, eol, dos, bom));
        Ok((text.map(|text| Source { text, pending }), pending))
    }
}

impl Workspace for Buffers {
    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Source, Unreadable>> {
        Box::pin(async move {
            let (shown, pending) = self.shown(path, false).await?;
            if let Some(source) = shown {
                return Ok(source);
            }
            let on_disk = path.to_owned();
            let loaded = tokio::task::spawn_blocking(move || disk::load(&on_disk)).await;
            match loaded.map_err(|error| Unreadable::Other(cause(&error)))? {
                Ok(text) => Ok(Source { text, pending }),
                Err(Unreadable::NotUtf8) => {
                    self.shown(path, true).await?.0.ok_or(Unreadable::NotUtf8)
                }
                Err(why) => Err(why),
            }
        })
    }

    fn has_written<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let question = ToNvim::Read { path: path.to_owned(), decode: false, unmodified: true };
            let buffer = self.ask::<BufferText>(question, PATIENCE).await.ok().flatten();
            let Some(BufferText { loaded: true, pending: 0, text: Some(text), eol, dos, bom }) =
                buffer
            else {
                return false;
            };
            let shown = Text::from_lines_joined(&text, eol, dos, bom);
            let path = path.to_owned();
            let on_disk = tokio::task::spawn_blocking(move || disk::load(&path)).await;
            on_disk.is_ok_and(|it| it == Ok(shown))
        })
    }

    fn propose(&self, turn: TurnId, proposals: Vec<Proposal>) -> BoxFuture<'_, Vec<Arrival>> {
        Box::pin(async move {
            let mut waiters = Vec::new();
            let mut sent = Vec::new();
            let groups = groups(&proposals);
            for (proposal, group) in proposals.into_iter().zip(groups) {
                let (id, given) = oneshot::channel();
                let (waiter, arrival) = oneshot::channel();
                let session = self.link.session;
                let wire = on_wire(0, group, &proposal);
                let proposal = Box::new(proposal);
                let _ = self.reviews.send(Order::Register { session, proposal, id, waiter });
                if let Ok(id) = given.await {
                    sent.push(WireProposal { id, ..wire });
                }
                waiters.push(arrival);
            }
            let message = |session| {
                let owner = self.owner.name();
                ToNvim::Propose { session, owner, turn: turn.0, proposals: sent }
            };
            if self.link.call(message).await.is_none() {
                let why =
                    "the editor did not accept the edit; read the file and try again".to_owned();
                return vec![Arrival::Refused(Misfit::Refused(why)); waiters.len()];
            }
            join_all(waiters).await.into_iter().map(|it| it.unwrap_or(Arrival::Stopped)).collect()
        })
    }

    fn changed(&self) -> BoxFuture<'_, Vec<PathBuf>> {
        Box::pin(async move {
            self.ask(ToNvim::Changed, LONG_PATIENCE).await.ok().flatten().unwrap_or_default()
        })
    }

    fn save(&self, paths: Vec<PathBuf>, agreed: Vec<PathBuf>) -> BoxFuture<'_, Vec<PathBuf>> {
        Box::pin(async move {
            let question = ToNvim::Save { paths: paths.clone(), agreed };
            match self.ask(question, LONG_PATIENCE).await {
                Ok(unsaved) => unsaved.unwrap_or_default(),
                Err(_) => paths,
            }
        })
    }

    fn stamps(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<Stamp>> {
        Box::pin(async move {
            let question = ToNvim::Stamps { paths: paths.clone() };
            let Ok(given) = self.ask::<Vec<String>>(question, LONG_PATIENCE).await else {
                // only the editor knows which files wait for a decision
                return vec![Stamp::Undecided; paths.len()];
            };
            let given = given.unwrap_or_default();
            let looked = tokio::task::spawn_blocking(move || {
                let one = |(at, path): (usize, &PathBuf)| match given.get(at).map(String::as_str) {
                    None | Some("") => disk::stamp(path),
                    Some("undecided") => Stamp::Undecided,
                    Some(of) => Stamp::Buffer(of.to_owned()),
                };
                paths.iter().enumerate().map(one).collect()
            });
            looked.await.unwrap_or_default()
        })
    }

    fn standings(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<Standing>> {
        Box::pin(async move {
            let question = ToNvim::HeldTexts { paths: paths.clone() };
            let given = self.ask::<Vec<HeldText>>(question, LONG_PATIENCE).await.ok().flatten();
            let mut given = given.map(Vec::into_iter);
            let mut all = Vec::new();
            for path in paths {
                let held = given.as_mut().map(|it| it.next().unwrap_or_default());
                let (buffer, disk) = match held {
                    None => (Buffer::Unknown, None),
                    Some(HeldText { text, .. }) if text.is_empty() => (Buffer::Absent, None),
                    Some(HeldText { text, disk }) => (Buffer::Text(text), disk),
                };
                let disk = match disk {
                    Some(hash) => Disk::Text(hash),
                    None if buffer == Buffer::Absent => {
                        seen(self.read(&path).await.map(|it| it.text))
                    }
                    None => {
                        let path = path.clone();
                        let read = tokio::task::spawn_blocking(move || seen(disk::load(&path)));
                        read.await.unwrap_or(Disk::Unread)
                    }
                };
                all.push(Standing { path, disk, buffer });
            }
            all
        })
    }

    fn decided<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let question = ToNvim::DecidedSoFar { path: path.to_owned() };
            let PartlyDecided { words, reasons } =
                self.ask(question, LONG_PATIENCE).await.ok().flatten()?;
            let reasons = reasons.iter().map(|it| format!("\nThe user's reason: {it}"));
            (!words.is_empty()).then(|| {
                let words = words.join(", ");
                let so_far = "The user has decided on a part of your changes to it so far";
                format!(
                    "{so_far}: {words}. A verdict on all of them will follow.{}",
                    reasons.collect::<String>()
                )
            })
        })
    }

    fn model_knows(&self, path: &Path, text: &Text) {
        let (session, path) = (self.link.session, path.to_owned());
        let _ =
            self.reviews.send(Order::ModelKnows { session, path, text: Arc::new(text.clone()) });
    }

    fn halt(&self, turn: TurnId) {
        self.link.tell(|session| ToNvim::Halt { session, turn: turn.0 });
    }

    fn restore(&self, change: Proposal) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async move {
            let file = on_wire(0, 0, &change);
            let answer = self.link.editor.call(ToNvim::Restore { file }).await;
            match answer.and_then(|it| rmpv::ext::from_value::<Restored>(it).ok()) {
                Some(it) if it.done => Ok(it.why),
                Some(it) => Err(it.why),
                None => Err("the editor did not accept the change".to_owned()),
            }
        })
    }

    fn refresh(&self, path: PathBuf) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let _ = self.ask::<rmpv::Value>(ToNvim::Refresh { path }, LONG_PATIENCE).await;
        })
    }

    fn command(&self, ended: Option<Moved>, is_job: bool) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let (ended, moved) = (ended.is_some(), ended.unwrap_or_default());
            let message = ToNvim::Command { ended, is_job, moved };
            let _ = self.ask::<rmpv::Value>(message, LONG_PATIENCE).await;
        })
    }

    fn comment(&self, comments: Vec<Comment>) {
        self.link.tell(|session| ToNvim::Comments(Comments { session, comments }));
    }

    fn uncomment(&self) {
        self.link.tell(|session| ToNvim::Uncomment(Uncomment { session }));
    }

    fn scene(&self, part: Part) -> BoxFuture<'_, Result<Scene, String>> {
        Box::pin(async move {
            let answer = self.link.editor.call(ToNvim::Survey { part }).await;
            let scene = answer.and_then(|it| rmpv::ext::from_value(to_utf8(it)).ok());
            scene.ok_or_else(|| "The editor did not answer.".to_owned())
        })
    }

    fn consult(&self, question: Question) -> BoxFuture<'_, Result<Findings, String>> {
        Box::pin(async move {
            let (id, given) = oneshot::channel();
            let (waiter, found) = oneshot::channel();
            let _ = self.questions.send(lsp::Order::Register { id, waiter });
            let gone = || "The editor could not ask its language servers.".to_owned();
            let id = given.await.map_err(|_| gone())?;
            let message = |session| ToNvim::Consult(Consult::new(id, session, question));
            self.link.call(message).await.ok_or_else(gone)?;
            found.await.map_err(|_| gone())?
        })
    }
}

/// The group of each proposal. Proposals that share a call are in one group: either all of them are put into their
/// buffers, or none.
fn groups(proposals: &[Proposal]) -> Vec<u32> {
    let mut groups: Vec<u32> = (0..).take(proposals.len()).collect();
    let calls = |it: &Proposal| it.parts.iter().map(|part| part.call.clone()).collect::<Vec<_>>();
    for (at, one) in proposals.iter().enumerate() {
        let own = calls(one);
        let met = proposals[..at].iter().enumerate();
        let met: Vec<usize> = met
            .filter(|it| calls(it.1).iter().any(|call| own.contains(call)))
            .map(|it| it.0)
            .collect();
        for other in met {
            let (from, to) = (groups[at], groups[other]);
            groups.iter_mut().filter(|it| **it == from).for_each(|it| *it = to);
        }
    }
    groups
}
