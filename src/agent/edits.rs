//! The edits of one reply: resolved in order, each on the result of the one before, and proposed together.

use crate::edit::{self, Changed, Edit, Misfit, Part, Proposal, Refusal, Texts};
use crate::event::TurnId;
use crate::message::{CallId, ToolAnswer, ToolCall};
use crate::session::Input;
use crate::text::Text;
use crate::tool::{self, Arrival, Desk, Unreadable};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// How often an edit is matched anew on a text that moved (DESIGN §5).
const TRIES: u32 = 5;

pub(super) struct Job {
    pub(super) desk: Desk,
    pub(super) results: mpsc::UnboundedSender<Input>,
    pub(super) knowing: mpsc::UnboundedSender<(PathBuf, String)>,
    /// Hashes of the texts as the model last knew them.
    pub(super) known: HashMap<PathBuf, String>,
}

/// A call and what of it is not in the buffers yet.
struct Open {
    call: CallId,
    edits: Vec<Edit>,
}

/// Texts that the editor gave back, newer than what was read (`None`: there is no such file).
type Given = BTreeMap<PathBuf, Option<Text>>;

/// Every call ends in an `Answered` (a misfit, at once) or an `Entered` for each file (its verdict comes later).
pub(super) async fn propose(job: Job, turn: TurnId, calls: Vec<ToolCall>) {
    let mut open = Vec::new();
    for call in calls {
        match tool::edits_of(&job.desk, &call) {
            Ok(edits) => open.push(Open { call: call.id, edits }),
            Err(text) => job.refuse(turn, &call.id, text),
        }
    }
    let mut given = Given::new();
    for _ in 0..TRIES {
        let proposals = job.resolve(turn, &mut open, &mut given).await;
        if proposals.is_empty() {
            return;
        }
        let arrivals = job.desk.workspace.propose(turn, proposals.clone()).await;
        for (proposal, arrival) in proposals.into_iter().zip(arrivals) {
            match arrival {
                Arrival::Entered { hunks } => job.entered(turn, &proposal, hunks),
                Arrival::Refused(misfit) => job.turned_away(turn, &mut open, &proposal, &misfit),
                Arrival::Moved(text) => {
                    given.insert(proposal.path, text);
                    continue;
                }
                Arrival::Stopped => (),
            }
            for it in &mut open {
                it.edits.retain(|it| it.path != proposal.path);
            }
        }
        open.retain(|it| !it.edits.is_empty());
    }
    let why = "the text keeps changing while the edit is being placed; try again later";
    for Open { call, edits } in open {
        let shown = job.shown(&edits[0].path);
        job.refuse(turn, &call, Misfit::Refused(why.into()).say(&shown, None));
    }
}

impl Job {
    /// One proposal a file; calls that do not fit are answered and leave `open`.
    async fn resolve(
        &self,
        turn: TurnId,
        open: &mut Vec<Open>,
        given: &mut Given,
    ) -> Vec<Proposal> {
        let mut texts = Texts::new();
        let mut unreadable = BTreeMap::new();
        let paths: BTreeSet<PathBuf> =
            open.iter().flat_map(|it| &it.edits).map(|it| it.path.clone()).collect();
        for path in paths {
            let text = match given.remove(&path) {
                Some(text) => text,
                None => match self.desk.workspace.read(&path).await {
                    Ok(source) => Some(source.text),
                    Err(Unreadable::Absent) => None,
                    Err(why) => {
                        let why = format!("it {}", crate::context::mention::unreadable(&why));
                        unreadable.insert(path, why);
                        continue;
                    }
                },
            };
            texts.insert(path, text);
        }
        let mut proposals: Vec<Proposal> = Vec::new();
        open.retain(|Open { call, edits }| {
            let may = |path: &Path, now: Option<&Text>, change: &edit::Change| {
                let first = !proposals.iter().any(|it| it.path == *path);
                match unreadable.get(path) {
                    Some(why) => Err(Misfit::Refused(why.clone())),
                    None if first => self.may_write(path, now, change),
                    None => Ok(()),
                }
            };
            match edit::apply(&texts, edits, may) {
                Ok(files) => {
                    for it in files {
                        texts.insert(it.path.clone(), Some(it.after.clone()));
                        join(&mut proposals, call, it);
                    }
                    true
                }
                Err(refusal) => {
                    self.refuse(turn, call, self.told(&refusal));
                    false
                }
            }
        });
        proposals
    }

    fn told(&self, refusal: &Refusal) -> String {
        refusal.say(&self.shown(&refusal.path))
    }

    fn shown(&self, path: &Path) -> String {
        tool::path::show(&self.desk.root, path)
    }

    /// The editor does not take a file. What other files of these calls are in their buffers stays there.
    fn turned_away(&self, turn: TurnId, open: &mut Vec<Open>, proposal: &Proposal, why: &Misfit) {
        let text = why.say(&self.shown(&proposal.path), None);
        for part in &proposal.parts {
            self.refuse(turn, &part.call, text.clone());
        }
        open.retain(|it| proposal.parts.iter().all(|part| part.call != it.call));
    }

    /// A whole file is only written over a text the model knows.
    fn may_write(
        &self,
        path: &Path,
        before: Option<&Text>,
        change: &edit::Change,
    ) -> Result<(), Misfit> {
        let (edit::Change::Write { .. }, Some(before)) = (change, before) else {
            return Ok(());
        };
        if before.content.is_empty() {
            return Ok(());
        }
        match self.known.get(path) {
            None => Err(Misfit::Unread),
            Some(hash) if *hash == before.sha256_hex() => Ok(()),
            Some(_) => Err(Misfit::Stale { diff: String::new() }),
        }
    }

    fn entered(&self, turn: TurnId, proposal: &Proposal, hunks: u32) {
        let _ = self.knowing.send((proposal.path.clone(), proposal.after.sha256_hex()));
        for part in &proposal.parts {
            let (call, path) = (part.call.clone(), proposal.path.clone());
            let _ = self.results.send(Input::Entered { turn, call, path, hunks });
        }
    }

    fn refuse(&self, turn: TurnId, call: &CallId, text: String) {
        let summary = "not applied".to_owned();
        let answer = ToolAnswer { id: call.clone(), text, failed: true, summary };
        let _ = self.results.send(Input::Answered { turn, answer });
    }
}

/// Adds what a call makes of a file to the file's proposal.
fn join(proposals: &mut Vec<Proposal>, call: &CallId, changed: Changed) {
    let Changed { path, before, after, note } = changed;
    let from = before.clone().unwrap_or_default();
    let part = Part { call: call.clone(), before: from, after: after.clone(), note };
    match proposals.iter_mut().find(|it| it.path == path) {
        Some(proposal) => {
            proposal.parts.push(part);
            proposal.after = after;
        }
        None => proposals.push(Proposal { parts: vec![part], path, before, after }),
    }
}
