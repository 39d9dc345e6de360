//! The edits of one reply: resolved in order, each on the result of the one before, and proposed together.

use super::known::News;
use super::whole::{self, Asked};
use crate::edit::{self, Changed, Edit, Misfit, Part, Proposal, Texts, kept};
use crate::event::TurnId;
use crate::message::{Block, CallId, Input as Arguments, ToolAnswer, ToolCall};
use crate::session::{Input, Session};
use crate::store::tally::{Count, Tally};
use crate::text::Text;
use crate::tool::{self, Arrival, Desk, Unreadable};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// How often an edit is matched anew on a text that moved (DESIGN §5).
pub(super) const TRIES: u32 = 5;

pub(super) struct Job {
    pub(super) desk: Desk,
    pub(super) results: mpsc::UnboundedSender<Input>,
    pub(super) knowing: mpsc::UnboundedSender<News>,
    /// Hashes of the texts as the model last knew them.
    pub(super) known: BTreeMap<PathBuf, String>,
    /// Mode auto-edit: what enters is written at once.
    pub(super) at_once: bool,
    /// Texts of the conversation that the calls name, by their names.
    pub(super) kept: BTreeMap<String, String>,
    pub(super) tally: Option<Tally>,
}

/// The texts that these calls name in place of sending them, from all calls of the conversation.
pub(super) fn kept(session: &Session, calls: &[ToolCall]) -> BTreeMap<String, String> {
    let json = |call: &ToolCall| match &call.input {
        Arguments::Json(value) => Some(value.clone()),
        Arguments::Broken { .. } => None,
    };
    let names: Vec<String> =
        calls.iter().filter_map(json).flat_map(|it| kept::names(&it)).collect();
    let mut texts = BTreeMap::new();
    let blocks = session.messages.iter().flat_map(|it| &it.blocks);
    for block in blocks.filter(|_| !names.is_empty()) {
        if let Block::Call(ToolCall { input: Arguments::Json(arguments), .. }) = block {
            kept::gather(arguments, &names, &mut texts);
        }
    }
    texts
}

/// A call and what of it is not in the buffers yet.
struct Open {
    call: CallId,
    edits: Vec<Edit>,
    /// Some of it waits for the user's decision.
    waits: bool,
    /// Files written at once, and whether each really was.
    files: Vec<(PathBuf, bool)>,
    hunks: u32,
    /// What is to be told of these.
    said: Vec<String>,
}

impl Open {
    fn new(call: CallId, edits: Vec<Edit>) -> Open {
        Open { call, edits, waits: false, files: Vec::new(), hunks: 0, said: Vec::new() }
    }
}

/// Texts that the editor gave back, newer than what was read (`None`: there is no such file).
type Given = BTreeMap<PathBuf, Option<Text>>;

/// Every call ends in an `Answered` (a misfit, at once) or an `Entered` for each file (its verdict comes later).
pub(super) async fn propose(job: Job, turn: TurnId, calls: Vec<ToolCall>) {
    let (mut open, mut asked) = (Vec::new(), Vec::new());
    for call in calls {
        let edits = || tool::edits_of(&job.desk, &call, &job.kept);
        match tool::whole_of(&job.desk, &call).ok_or_else(edits) {
            Ok(Ok((path, whole))) => asked.push(Asked { call: call.id, path, whole }),
            Err(Ok(edits)) => open.push(Open::new(call.id, edits)),
            Ok(Err(text)) | Err(Err(text)) => job.refuse(turn, &call.id, text),
        }
    }
    let edited: Vec<&Path> =
        open.iter().flat_map(|it| &it.edits).map(|it| it.path.as_path()).collect();
    let asked = whole::apart(&job, turn, asked, &edited);
    futures::join!(edit_all(&job, turn, open), whole::propose(&job, turn, asked));
}

async fn edit_all(job: &Job, turn: TurnId, mut open: Vec<Open>) {
    let mut given = Given::new();
    for attempt in 0..TRIES {
        let sent = open.len();
        let (proposals, missed) = job.resolve(turn, &mut open, &mut given).await;
        if attempt == 0 {
            job.count(sent, missed).await;
        }
        if proposals.is_empty() {
            return;
        }
        let arrivals = job.desk.workspace.propose(turn, proposals.clone()).await;
        for (proposal, arrival) in proposals.into_iter().zip(arrivals) {
            match arrival {
                Arrival::Entered { hunks } => {
                    job.entered(turn, &proposal, &proposal.after, hunks);
                    of(&mut open, &proposal).for_each(|it| it.waits = true);
                }
                Arrival::Written { hunks, unsaved, text } => {
                    let text = text.as_ref().unwrap_or(&proposal.after);
                    job.entered(turn, &proposal, text, hunks);
                    job.written(&mut open, &proposal, text, hunks, &unsaved);
                }
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
        for it in open.extract_if(.., |it| it.edits.is_empty()) {
            job.applied(it);
        }
    }
    let why = "the text keeps changing while the edit is being placed; try again later";
    for Open { call, edits, .. } in open {
        let shown = job.shown(&edits[0].path);
        job.refuse(turn, &call, Misfit::Refused(why.into()).say(&shown, None));
    }
}

impl Job {
    /// One proposal a file; calls that do not fit are answered and leave `open`, and how many did.
    async fn resolve(
        &self,
        turn: TurnId,
        open: &mut Vec<Open>,
        given: &mut Given,
    ) -> (Vec<Proposal>, usize) {
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
                        let why = format!("it {}", why.say());
                        unreadable.insert(path, why);
                        continue;
                    }
                },
            };
            texts.insert(path, text);
        }
        let mut proposals: Vec<Proposal> = Vec::new();
        let mut missed = 0;
        open.retain(|Open { call, edits, .. }| {
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
                        self.join(&mut proposals, call, it);
                    }
                    true
                }
                Err(mut refusal) => {
                    let now = texts.get(&refusal.path).and_then(Option::as_ref);
                    let known = self.known.get(&refusal.path);
                    let is_ours = proposals.iter().any(|it| it.path == refusal.path);
                    if !is_ours && now.zip(known).is_some_and(|(now, it)| now.sha256_hex() != *it) {
                        refusal.call_stale();
                    }
                    missed += usize::from(refusal.is_mistaken());
                    let said = refusal.say(&self.shown(&refusal.path));
                    self.refuse(turn, call, said + &kept::kept(edits, &refusal.misfit));
                    false
                }
            }
        });
        (proposals, missed)
    }

    async fn count(&self, sent: usize, missed: usize) {
        let number = |count: usize| u64::try_from(count).unwrap_or(0);
        let count = Count { fitted: number(sent - missed), missed: number(missed) };
        let Some(tally) = self.tally.clone() else { return };
        let _ = tokio::task::spawn_blocking(move || tally.add(count)).await;
    }

    pub(super) fn shown(&self, path: &Path) -> String {
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
            Some(_) => Err(Misfit::Stale),
        }
    }

    fn entered(&self, turn: TurnId, proposal: &Proposal, text: &Text, hunks: u32) {
        let (path, stood) = (proposal.path.clone(), proposal.before.clone());
        let _ = self.knowing.send(News::Learnt { path, stood, text: text.clone() });
        for part in &proposal.parts {
            let (call, path) = (part.call.clone(), proposal.path.clone());
            let _ = self.results.send(Input::Entered { turn, call, path, hunks });
        }
    }

    /// What the calls are told of a file; what became of its text meanwhile is told once, with the last.
    fn written(
        &self,
        open: &mut [Open],
        proposal: &Proposal,
        text: &Text,
        hunks: u32,
        unsaved: &str,
    ) {
        let Proposal { path, parts, after, .. } = proposal;
        for (n, part) in parts.iter().enumerate() {
            let Some(it) = open.iter_mut().find(|it| it.call == part.call) else { continue };
            let mut said = edit::written(&self.shown(path), unsaved);
            if !part.note.is_empty() {
                said.push_str(&format!("\n{}", part.note));
            }
            if n + 1 == parts.len() {
                said.push_str(&edit::reformatted(after, text));
            }
            it.said.push(said);
            it.files.push((path.clone(), unsaved.is_empty()));
            it.hunks += hunks;
        }
    }

    /// Answers a call of which nothing waits for the user.
    fn applied(&self, it: Open) {
        let Open { call, waits, files, hunks, said, .. } = it;
        if waits || said.is_empty() {
            return;
        }
        let what = if hunks == 1 { "1 hunk".to_owned() } else { format!("{hunks} hunks") };
        let all = files.iter().all(|(_, saved)| *saved);
        let summary = format!("{what} {}", if all { "written" } else { "not written" });
        let answer = ToolAnswer { id: call, text: said.join("\n"), failed: false, summary };
        let _ = self.results.send(Input::Applied { files, answer });
    }

    pub(super) fn refuse(&self, turn: TurnId, call: &CallId, text: String) {
        let summary = "not applied".to_owned();
        let answer = ToolAnswer { id: call.clone(), text, failed: true, summary };
        let _ = self.results.send(Input::Answered { turn, answer });
    }

    /// Adds what a call makes of a file to the file's proposal.
    fn join(&self, proposals: &mut Vec<Proposal>, call: &CallId, changed: Changed) {
        let Changed { path, before, after, note } = changed;
        let from = before.clone().unwrap_or_default();
        let part = Part { call: call.clone(), before: from, after: after.clone(), note };
        if let Some(proposal) = proposals.iter_mut().find(|it| it.path == path) {
            proposal.parts.push(part);
            proposal.after = after;
        } else {
            let at_once = self.at_once && !tool::path::runs_code(&path);
            let parts = vec![part];
            proposals.push(Proposal { parts, path, before, after, at_once, whole: None });
        }
    }
}

/// The calls that a proposal is made of.
fn of<'a>(open: &'a mut [Open], proposal: &'a Proposal) -> impl Iterator<Item = &'a mut Open> {
    open.iter_mut().filter(|it| proposal.parts.iter().any(|part| part.call == it.call))
}
