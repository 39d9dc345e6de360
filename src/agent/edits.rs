//! The edits of one reply. They are resolved in order, each on the text that the edits before it leave, and are
//! proposed together.

use super::checkpoints::Keeper;
use super::known::Observation;
use super::refactor::{self, Edits};
use super::whole;
use crate::edit::{self, Edit, Manner, Misfit, Part, Proposal, Stack, Texts, kept};
use crate::event::{Access, Awaited, Claim, Post, TurnId};
use crate::message::{
    Block, CallId, FileDiff, Input as Arguments, Kind, Reply, ToolAnswer, ToolCall,
};
use crate::reach::Reading;
use crate::session::{Entry, Input, Session};
use crate::store::tally::{Count, Tally};
use crate::text::Text;
use crate::tool::{self, Arrival, Call, Desk, Ran, Resolved, Unreadable};
use futures::FutureExt;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// How often an edit is matched again because its file's text changed in the meantime.
const TRIES: u32 = 5;
/// The most calls on one file whose changes are shown as diffs with line numbers.
const COMPARED: usize = 20;

pub(super) struct Job {
    pub(super) desk: Desk,
    pub(super) results: mpsc::UnboundedSender<Input>,
    pub(super) observations: mpsc::UnboundedSender<Observation>,
    /// The hash of each file's text that the model knows.
    pub(super) known: BTreeMap<PathBuf, String>,
    /// Whether edits are written at once, as in auto-edit mode.
    pub(super) at_once: bool,
    /// Whether nobody can review an edit.
    pub(super) unattended: bool,
    /// The commands of the user's formatters that calls may run.
    pub(super) agreed: BTreeMap<CallId, String>,
    /// The work of a worker, which edits only the paths that it owns.
    pub(super) post: Option<Post>,
    pub(super) tally: Option<Tally>,
    /// Stores the files' content before the edits; `None` if nothing is stored.
    pub(super) keeper: Option<Keeper>,
}

/// A call may name a text of an earlier call instead of sending the text again. Returns the texts that the calls of a
/// reply name, from all calls of the conversation.
pub(super) fn kept(session: &Session, reply: &Reply) -> BTreeMap<String, String> {
    let names = |call: &ToolCall| match &call.input {
        Arguments::Json(value) => kept::names(value),
        Arguments::Broken { .. } => Vec::new(),
    };
    let names: Vec<String> = reply.calls().flat_map(names).collect();
    let mut texts = BTreeMap::new();
    let blocks = session.messages.iter().flat_map(|it| &it.blocks).chain(&reply.blocks);
    for block in blocks.filter(|_| !names.is_empty()) {
        if let Block::Call(ToolCall { input: Arguments::Json(arguments), .. }) = block {
            kept::gather(arguments, &names, &mut texts);
        }
    }
    texts
}

/// A call, and those of its edits that are not in buffers yet.
pub(super) struct Open {
    pub(super) call: CallId,
    pub(super) edits: Vec<Edit>,
    /// Files whose edits are always reviewed before they are written, also in auto-edit mode.
    reviewed: BTreeSet<PathBuf>,
    /// Whether a part of the call waits for the user's decision.
    waits: bool,
    /// Files whose edits were to be written at once, and whether each file was written.
    files: Vec<(PathBuf, bool)>,
    /// What was changed in these files.
    made: Awaited,
    /// Which of these files were not written, and why.
    claims: Vec<Claim>,
    /// `sentences` tells the model about `files`; `done` has a word for each deletion or renaming.
    sentences: Vec<String>,
    done: Vec<&'static str>,
}

impl Open {
    fn new(call: CallId, all: Resolved) -> Open {
        Open {
            call,
            edits: all.edits,
            reviewed: all.reviewed,
            waits: false,
            files: Vec::new(),
            made: Awaited::default(),
            claims: Vec::new(),
            sentences: Vec::new(),
            done: Vec::new(),
        }
    }
}

/// The current texts of files that changed before the editor could take a proposal; `None` if the file does not exist.
type Given = BTreeMap<PathBuf, Option<Text>>;

/// Proposes the edits of these calls. A call whose edits do not fit is answered at once with an `Answered`. For the
/// others, an `Entered` is sent for each file whose edits are now in its buffer; the user's verdict follows later. If
/// all edits of a call are written at once, an `Applied` is sent. If the turn is stopped, this function does not answer
/// calls whose edits are not in buffers yet.
///
/// When `stopped` turns true, formatters that run are ended.
pub(super) async fn propose(
    job: Job,
    turn: TurnId,
    calls: Vec<Arc<Call>>,
    stopped: watch::Receiver<bool>,
) {
    let results = job.results.clone();
    if AssertUnwindSafe(place(job, turn, &calls, stopped)).catch_unwind().await.is_err() {
        for it in &calls {
            let _ = results.send(Input::Answered { turn, answer: Ran::broken(it.id()).answer });
        }
    }
}

/// The same edits. Those of files that a configuration names wait for a review too.
async fn named(desk: &Desk, mut all: Resolved) -> Resolved {
    for it in &all.edits {
        let paths = it.paths().map(Path::to_path_buf).collect();
        let named = desk.confinement.run_by_others(desk, paths).await;
        all.reviewed.extend((!named.is_empty()).then(|| it.path.clone()));
    }
    all
}

/// The calls whose edits are known. The others are answered.
async fn opened(
    job: &Job,
    turn: TurnId,
    calls: &[Arc<Call>],
    mut stopped: watch::Receiver<bool>,
) -> Vec<Open> {
    let mut open = Vec::new();
    for call in calls {
        let id = call.id().clone();
        let edits = match call.question() {
            Some(question) => {
                let agreed = job.agreed.get(&id);
                refactor::edits(&job.desk, question.clone(), agreed, &mut stopped).await
            }
            None => call.edits(&job.desk).map(Edits::Made),
        };
        let post = job.post.as_ref();
        match edits.and_then(|it| refactor::owned(it, post, &job.desk.root)) {
            Ok(Edits::Need(access)) => job.needs(turn, id, access),
            Ok(Edits::Made(all)) if all.edits.is_empty() => job.done(turn, &id, whole::SAME),
            Ok(Edits::Made(all)) => open.push(Open::new(id, named(&job.desk, all).await)),
            Err(text) => job.refuse(turn, &id, tool::short(&text)),
        }
    }
    open
}

async fn place(job: Job, turn: TurnId, calls: &[Arc<Call>], stopped: watch::Receiver<bool>) {
    let open = opened(&job, turn, calls, stopped).await;
    let (open, over, rewritten) = whole::without_rewritten(open, |it| &mut it.edits);
    for it in over {
        job.done(turn, &it.call, whole::REWRITTEN);
    }
    let (mut open, overlapping) = whole::without_overlaps(open, |it| &it.edits);
    for it in overlapping {
        job.refuse(turn, &it.call, whole::OVERLAPS.to_owned());
    }
    let mut given = Given::new();
    for attempt in 0..TRIES {
        let sent = open.iter().filter(|it| whole::has_text(&it.edits)).count();
        let (proposals, missed) = job.resolve(turn, &mut open, &mut given, &rewritten).await;
        if attempt == 0 {
            job.count(sent, missed).await;
        }
        if proposals.is_empty() {
            return;
        }
        let arrivals = job.proposed(turn, &proposals).await;
        let mut over = BTreeSet::new();
        for (proposal, arrival) in proposals.into_iter().zip(arrivals) {
            match arrival {
                Arrival::Moved(text) => drop(given.insert(proposal.path, text)),
                Arrival::Withheld => (),
                Arrival::Refused(misfit) => job.turned_away(turn, &mut open, &proposal, &misfit),
                Arrival::Stopped => drop(over.insert(proposal.path)),
                Arrival::Entered { hunks } => {
                    of(&mut open, &proposal).for_each(|it| it.waits = true);
                    over.insert(job.entered(turn, proposal, None, hunks));
                }
                Arrival::Written { hunks, unsaved, text } => {
                    job.written(&mut open, &proposal, text.as_ref(), hunks, &unsaved);
                    over.insert(job.entered(turn, proposal, text, hunks));
                }
            }
        }
        for it in &mut open {
            it.edits.retain(|it| !over.contains(&it.path));
        }
        for it in open.extract_if(.., |it| it.edits.is_empty()) {
            job.applied(it);
        }
    }
    let why = "its text kept changing while Caliban was placing the edit; try again later";
    for Open { call, edits, .. } in open {
        let shown = job.shown(&edits[0].path);
        job.refuse(turn, &call, Misfit::Refused(why.into()).say(&shown, None));
    }
}

impl Job {
    /// Stores the content of the proposals' files, then sends the proposals to the editor.
    async fn proposed(&self, turn: TurnId, proposals: &[Proposal]) -> Vec<Arrival> {
        let propose = self.desk.workspace.propose(turn, proposals.to_vec());
        let Some(keeper) = &self.keeper else { return propose.await };
        let ids = keeper.propose(turn, proposals).await;
        let arrivals = propose.await;
        for (id, arrival) in ids.into_iter().zip(&arrivals) {
            keeper.arrived(id, arrival).await;
        }
        arrivals
    }

    /// Returns one proposal for each file. Calls whose edits do not fit are answered and removed from `open`. Also
    /// returns the number of calls that failed by the model's mistake.
    async fn resolve(
        &self,
        turn: TurnId,
        open: &mut Vec<Open>,
        given: &mut Given,
        rewritten: &BTreeSet<PathBuf>,
    ) -> (Vec<Proposal>, usize) {
        let (texts, unreadable) = self.texts(open, given).await;
        let mut stack = Stack::new(texts);
        let mut missed = 0;
        open.retain(|Open { call, edits, reviewed, .. }| {
            let may =
                |path: &Path, now: Option<&Text>, change: &edit::Change, is_first| match unreadable
                    .get(path)
                {
                    Some(why) if whole::needs_no_text(change, why) => Ok(()),
                    Some(why) => Err(Misfit::Refused(format!("it {}", why.say()))),
                    None if is_first => self.may_write(path, now, change, rewritten),
                    None => Ok(()),
                };
            let manner = |path: &Path| {
                let is_binary = unreadable.contains_key(path);
                Manner {
                    at_once: self.at_once && !is_binary && !reviewed.contains(path),
                    is_binary,
                }
            };
            // an edit that cannot be made at all is refused with the reason, whoever attends
            let can = |it: &Edit| {
                unreadable.get(&it.path).is_none_or(|why| whole::needs_no_text(&it.change, why))
            };
            let waits = |it: &&Edit| !manner(&it.path).at_once && can(it);
            if let Some(edit) = edits.iter().find(|it| self.unattended && waits(it)) {
                let (call, path) = (call.clone(), self.shown(&edit.path));
                let _ = self.results.send(Input::Unreviewed { turn, call, path });
                return false;
            }
            match stack.push(call, edits, may, manner) {
                Ok(()) => true,
                Err(mut refusal) => {
                    let now = stack.text(&refusal.path);
                    let known = self.known.get(&refusal.path);
                    let is_ours = stack.changes(&refusal.path);
                    if !is_ours && now.zip(known).is_some_and(|(now, it)| now.sha256_hex() != *it) {
                        refusal.call_stale();
                    }
                    missed += usize::from(refusal.is_mistaken());
                    let text = refusal.say(&self.shown(&refusal.path));
                    self.refuse(turn, call, text + &kept::kept(edits, &refusal.misfit));
                    false
                }
            }
        });
        (stack.proposals(), missed)
    }

    /// The texts of all files to be changed. For a file that cannot be read, the text is empty and the second value has
    /// the reason.
    async fn texts(
        &self,
        open: &[Open],
        given: &mut Given,
    ) -> (Texts, BTreeMap<PathBuf, Unreadable>) {
        let (mut texts, mut unreadable) = (Texts::new(), BTreeMap::new());
        let paths: BTreeSet<&PathBuf> =
            open.iter().flat_map(|it| &it.edits).map(|it| &it.path).collect();
        for path in paths {
            let text = match given.remove(path) {
                Some(text) => text,
                None => match self.desk.workspace.read(path).await {
                    Ok(source) => Some(source.text),
                    Err(Unreadable::Absent) => None,
                    Err(why) => {
                        unreadable.insert(path.clone(), why);
                        Some(Text::default())
                    }
                },
            };
            texts.insert(path.clone(), text);
        }
        (texts, unreadable)
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

    /// Called when the editor has refused to change a file. Fails each call that edits the file; edits of other files
    /// in such a call are not made either.
    fn turned_away(&self, turn: TurnId, open: &mut Vec<Open>, proposal: &Proposal, why: &Misfit) {
        let text = why.say(&self.shown(&proposal.path), None);
        for part in &proposal.parts {
            self.refuse(turn, &part.call, text.clone());
        }
        open.retain(|it| proposal.parts.iter().all(|part| part.call != it.call));
    }

    /// Whether the model has read enough of the file to change it. A `write` is allowed only if the model knows the
    /// file's current text, or has deleted it in the same reply. A file that needs consent to be read cannot be edited
    /// before it is read, because the error about an edit that does not fit would show the file's text.
    fn may_write(
        &self,
        path: &Path,
        before: Option<&Text>,
        change: &edit::Change,
        rewritten: &BTreeSet<PathBuf>,
    ) -> Result<(), Misfit> {
        let Some(before) = before.filter(|it| !it.content.is_empty()) else { return Ok(()) };
        let known = self.known.get(path);
        let is_known = known.is_some_and(|it| *it == before.sha256_hex());
        match (change, self.desk.reach.reading(path)) {
            (edit::Change::Whole(_) | edit::Change::Become { .. }, _) => Ok(()),
            _ if is_known => Ok(()),
            (_, Reading::Asked(why)) => Err(Misfit::Refused(format!(
                "it {why}, and you have not read its current text. Call `read` on it first, which asks the user"
            ))),
            (edit::Change::Write { .. }, _) if rewritten.contains(path) => Ok(()),
            (edit::Change::Write { .. }, _) if known.is_none() => Err(Misfit::Unread),
            (edit::Change::Write { .. }, _) => Err(Misfit::Stale),
            _ => Ok(()),
        }
    }

    /// Reports that a proposal is now in the file's buffer. `text` is the file's text if it differs from the proposed
    /// text. Returns the file's path.
    fn entered(&self, turn: TurnId, proposal: Proposal, text: Option<Text>, hunks: u32) -> PathBuf {
        let mut diffs = self.diffs(&proposal).into_iter();
        let mut counts = proposal.counts(COMPARED).into_iter();
        let Proposal { parts, path, before, after, whole, .. } = proposal;
        let is_empty = before.is_none() && after.content.is_empty();
        let what = |count| match whole {
            None if is_empty => Awaited::EMPTY,
            None => Awaited::hunks(count),
            Some(edit::Whole::Delete) => Awaited::DELETION,
            Some(edit::Whole::Rename { .. }) => Awaited::RENAMING,
        };
        if whole.is_none() {
            let text = text.unwrap_or(after);
            let _ = self.observations.send(Observation::Learnt {
                path: path.clone(),
                stood: before,
                text,
            });
        }
        for Part { call, .. } in parts {
            let diff = diffs.next().map(Box::new);
            let what = what(counts.next().unwrap_or(hunks));
            let entry = Entry { call, path: path.clone(), what, diff };
            let _ = self.results.send(Input::Entered { turn, entry });
        }
        if !self.desk.workspace.reviews() {
            let (path, answers) = (path.clone(), Vec::new());
            let _ = self.results.send(Input::Reviewed { path, answers, claims: Vec::new() });
        }
        path
    }

    /// What each part of a proposal changes, for the user; empty if there are more than `COMPARED` parts.
    fn diffs(&self, proposal: &Proposal) -> Vec<FileDiff> {
        let path = self.shown(&proposal.path);
        let whole = |path: String, kind: Kind| {
            let diff = FileDiff::whole(path, kind);
            proposal.parts.iter().map(|_| diff.clone()).collect()
        };
        match &proposal.whole {
            Some(edit::Whole::Delete) => whole(path, Kind::Deleted),
            Some(edit::Whole::Rename { to }) => whole(self.shown(to), Kind::RenamedFrom(path)),
            None if proposal.parts.len() > COMPARED => Vec::new(),
            None => {
                let steps = proposal.steps();
                let diff = |(before, after): &(Option<Text>, Text)| {
                    FileDiff::between(path.clone(), before.as_ref(), after)
                };
                steps.iter().map(diff).collect()
            }
        }
    }

    /// Adds the sentence about a written file to each call that has edited it. Only the last of these calls tells the
    /// model what formatters have changed.
    fn written(
        &self,
        open: &mut [Open],
        proposal: &Proposal,
        text: Option<&Text>,
        hunks: u32,
        unsaved: &str,
    ) {
        let Proposal { path, parts, after, .. } = proposal;
        if let Some(whole) = &proposal.whole {
            let shown = |it: &Path| self.shown(it);
            let (sentence, done, moved) = whole::done(path, whole, shown, self.unattended);
            let _ = self.observations.send(moved);
            for it in of(open, proposal) {
                it.sentences.push(sentence.clone());
                it.done.push(done);
                it.files.push((path.clone(), true));
            }
            return;
        }
        let counts = proposal.counts(COMPARED);
        for (n, part) in parts.iter().enumerate() {
            let own = counts.get(n).filter(|_| parts.len() > 1);
            let Some(it) = open.iter_mut().find(|it| it.call == part.call) else { continue };
            let mut sentence =
                edit::written(&self.shown(path), unsaved.is_empty(), self.unattended);
            if !part.note.is_empty() {
                sentence.push_str(&format!("\n{}", part.note));
            }
            if let (true, Some(text)) = (n + 1 == parts.len(), text) {
                sentence.push_str(&edit::reformatted(after, text));
            }
            it.sentences.push(sentence);
            it.files.push((path.clone(), unsaved.is_empty()));
            let is_empty = proposal.before.is_none() && after.content.is_empty();
            let made = Awaited::hunks(own.copied().unwrap_or(hunks));
            it.made = it.made.plus(if is_empty { Awaited::EMPTY } else { made });
            if !unsaved.is_empty() {
                let (call, hash) = (it.call.clone(), text.unwrap_or(after).sha256_hex());
                it.claims.push(Claim::unsaved(call, path.clone(), unsaved, hash));
            }
        }
    }

    /// Answers a call, unless a part of it waits for the user's decision.
    fn applied(&self, it: Open) {
        let Open { call, waits, files, made, mut claims, sentences, done, .. } = it;
        if waits || sentences.is_empty() {
            return;
        }
        let summary = |written: &str| {
            let written = (made.changes() > 0).then(|| format!("{made} {written}"));
            let words = written.iter().map(|it| &**it).chain(done.iter().copied());
            words.collect::<Vec<_>>().join(", ")
        };
        for it in &mut claims {
            it.summary = summary("written");
        }
        let unsaved = claims.first().map(|it| format!("not written: {}", it.why()));
        let now = summary(unsaved.as_deref().unwrap_or("written"));
        let answer = ToolAnswer::done(&call, sentences.join("\n"), now);
        let _ = self.results.send(Input::Applied { files, answer, claims });
    }

    fn needs(&self, turn: TurnId, call: CallId, access: Access) {
        let _ = self.results.send(Input::Needed { turn, call, access });
    }

    fn done(&self, turn: TurnId, call: &CallId, (text, summary): (&str, &str)) {
        let answer = ToolAnswer::done(call, text.to_owned(), summary);
        let _ = self.results.send(Input::Answered { turn, answer });
    }

    pub(super) fn refuse(&self, turn: TurnId, call: &CallId, text: String) {
        let answer = ToolAnswer::failed(call, text, "not applied");
        let _ = self.results.send(Input::Answered { turn, answer });
    }
}

/// The calls that have edits in this proposal.
fn of<'a>(open: &'a mut [Open], proposal: &'a Proposal) -> impl Iterator<Item = &'a mut Open> {
    open.iter_mut().filter(|it| proposal.parts.iter().any(|part| part.call == it.call))
}
