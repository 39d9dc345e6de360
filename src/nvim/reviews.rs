//! Proposals on their way into buffers and under review there, by id: who waits for the arrival, and what
//! the verdict means for each call. One task owns them.

use super::wire::{Arrived, ArrivedState, Reviewed, WireHunk, WireProposal, WireWhole};
use crate::edit::{self, Fate, Misfit, Outcome, Part, Proposal, Whole};
use crate::event::SessionId;
use crate::message::{CallId, ToolAnswer};
use crate::regular;
use crate::text::{self, Text};
use crate::tool::{self, Arrival};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

pub enum Order {
    /// A proposal is about to be sent; its id, and the one who waits.
    Register {
        session: SessionId,
        proposal: Box<Proposal>,
        id: oneshot::Sender<u32>,
        waiter: oneshot::Sender<Arrival>,
    },
    Arrived(Arrived),
    /// The model knows this text of a file now.
    Told {
        session: SessionId,
        path: PathBuf,
        text: Arc<Text>,
    },
    /// A review is settled; what it means goes back.
    Reviewed(Reviewed, oneshot::Sender<Vec<Verdict>>),
}

/// What a settled review means for its sessions.
pub struct Verdict {
    pub session: SessionId,
    pub answers: Vec<ToolAnswer>,
    pub path: PathBuf,
    /// Its path before it was renamed, if it was; one that it was not given after all.
    pub was: Option<PathBuf>,
    /// Whether what was agreed is on disk.
    pub saved: bool,
    /// What the file has come to; `None`: it is no more.
    pub text: Option<Text>,
}

struct Entry {
    session: SessionId,
    proposal: Box<Proposal>,
    waiter: Option<oneshot::Sender<Arrival>>,
    /// What the model last knew of the file since.
    told: Option<Arc<Text>>,
    /// A verdict came. Undo and redo may bring another.
    is_settled: bool,
}

impl Entry {
    fn concerns(&self, call: &CallId) -> bool {
        self.proposal.parts.iter().any(|part| part.call == *call)
    }
}

/// Settled proposals that are kept for a second verdict.
const KEPT: usize = 200;

/// Runs until the sender is dropped. `first_id` differs from run to run, so that verdicts on a dead
/// program's proposals are not taken for ours.
pub async fn run(first_id: u32, root: PathBuf, mut inbox: mpsc::UnboundedReceiver<Order>) {
    let mut next = first_id;
    let mut entries: BTreeMap<u32, Entry> = BTreeMap::new();
    let mut held = Held::default();
    while let Some(order) = inbox.recv().await {
        match order {
            Order::Register { session, proposal, id, waiter } => {
                next = next.wrapping_add(1);
                entries.insert(
                    next,
                    Entry {
                        session,
                        proposal,
                        waiter: Some(waiter),
                        told: None,
                        is_settled: false,
                    },
                );
                let _ = id.send(next);
            }
            Order::Arrived(arrived) => {
                let id = arrived.id;
                let entered = arrived.state == ArrivedState::Entered;
                let waiter = entries.get_mut(&id).and_then(|it| it.waiter.take());
                let arrival = arrival(arrived);
                if !entered {
                    entries.remove(&id);
                } else if let (Some(entry), Arrival::Written { text, .. }) =
                    (entries.get_mut(&id), &arrival)
                {
                    entry.proposal.written_as(text.as_ref());
                }
                if let Some(waiter) = waiter {
                    let _ = waiter.send(arrival);
                }
            }
            Order::Told { session, path, text } => {
                let is_of = |it: &Entry| it.session == session && it.proposal.path == path;
                for it in entries.values_mut().filter(|it| is_of(it)) {
                    it.told = Some(text.clone());
                }
            }
            Order::Reviewed(reviewed, done) => {
                let mut verdicts = judge(&mut entries, reviewed, &root).await;
                for verdict in &mut verdicts {
                    held.join(&entries, verdict);
                }
                let _ = done.send(verdicts);
                forget(&mut entries);
            }
        }
    }
}

/// Verdicts on calls that have other files under review: a call is answered once, when the last is settled.
#[derive(Default)]
struct Held(BTreeMap<CallId, BTreeMap<PathBuf, ToolAnswer>>);

impl Held {
    /// Keeps the answers that are to wait, and adds to the others what was kept for them.
    fn join(&mut self, entries: &BTreeMap<u32, Entry>, verdict: &mut Verdict) {
        let waits = |call: &CallId| {
            let of = |it: &Entry| it.session == verdict.session && it.concerns(call);
            entries.values().any(|it| !it.is_settled && of(it))
        };
        for answer in one_a_call(std::mem::take(&mut verdict.answers)) {
            let call = answer.id.clone();
            if waits(&call) {
                self.0.entry(call).or_default().insert(verdict.path.clone(), answer);
                continue;
            }
            let mut files = self.0.remove(&call).unwrap_or_default();
            files.insert(verdict.path.clone(), answer);
            verdict.answers.push(joined(call, files.into_values().collect()));
        }
    }
}

/// What a call asks of a file's text and of the file as a whole is one answer.
fn one_a_call(answers: Vec<ToolAnswer>) -> Vec<ToolAnswer> {
    let mut calls: Vec<(CallId, Vec<ToolAnswer>)> = Vec::new();
    for it in answers {
        // one of a dead program's has no name, and stands for itself
        match calls.iter_mut().find(|(call, _)| *call == it.id && !call.0.is_empty()) {
            Some((_, all)) => all.push(it),
            None => calls.push((it.id.clone(), vec![it])),
        }
    }
    calls.into_iter().map(|(call, all)| joined(call, all)).collect()
}

fn joined(id: CallId, mut answers: Vec<ToolAnswer>) -> ToolAnswer {
    if answers.len() == 1 {
        return answers.remove(0);
    }
    let failed = answers.iter().all(|it| it.failed);
    let join =
        |part: fn(&ToolAnswer) -> &str, by| answers.iter().map(part).collect::<Vec<_>>().join(by);
    ToolAnswer {
        text: join(|it| &it.text, "\n"),
        summary: join(|it| &it.summary, ", "),
        id,
        failed,
        output: None,
    }
}

/// Drops the oldest settled proposals beyond `KEPT`.
fn forget(entries: &mut BTreeMap<u32, Entry>) {
    let settled: Vec<u32> =
        entries.iter().filter(|(_, it)| it.is_settled).map(|(id, _)| *id).collect();
    for id in settled.iter().rev().skip(KEPT) {
        entries.remove(id);
    }
}

fn arrival(it: Arrived) -> Arrival {
    let text = it.text.map(|text| Text::from_lines_joined(&text, it.eol, it.dos, it.bom));
    match (it.state, it.unsaved) {
        (ArrivedState::Entered, Some(unsaved)) => {
            Arrival::Written { hunks: it.hunks, unsaved, text }
        }
        (ArrivedState::Entered, None) => Arrival::Entered { hunks: it.hunks },
        (ArrivedState::Moved, _) => Arrival::Moved(text),
        (ArrivedState::Refused, _) => Arrival::Refused(Misfit::Refused(it.why)),
        (ArrivedState::Withheld, _) => Arrival::Withheld,
        (ArrivedState::Stopped, _) => Arrival::Stopped,
    }
}

/// A proposal as the editor needs it: the hunks, and the hash of what they were made from.
pub fn on_wire(id: u32, group: u32, proposal: &Proposal) -> WireProposal {
    let empty = Text::default();
    let before = proposal.before.as_ref().unwrap_or(&empty);
    let after = if proposal.whole.is_some() { before } else { &proposal.after };
    let lines = editor_lines(after);
    let hunks = text::diff_lines(editor_lines(before).into_iter(), lines.iter().copied())
        .into_iter()
        .map(|it| WireHunk {
            start: it.old.start,
            count: it.old.end - it.old.start,
            text: lines[it.new.start as usize..it.new.end as usize].join("\n"),
            n: it.new.end - it.new.start,
        })
        .collect();
    WireProposal {
        id,
        group,
        path: proposal.path.clone(),
        create: proposal.before.is_none(),
        sha: proposal.before.as_ref().map(Text::hash_of_parts).unwrap_or_default(),
        hunks,
        eol: after.eol(),
        at_once: proposal.at_once,
        binary: proposal.is_binary,
        whole: proposal.whole.as_ref().map(|it| match it {
            Whole::Delete => WireWhole::Delete,
            Whole::Rename { .. } => WireWhole::Rename,
        }),
        to: match &proposal.whole {
            Some(Whole::Rename { to }) => Some(to.clone()),
            _ => None,
        },
    }
}

/// Of each proposal the group it is of: those that a call is a part of enter together, or none does.
pub fn groups(proposals: &[Proposal]) -> Vec<u32> {
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

/// The lines as the editor counts them in a review: the empty file has none.
fn editor_lines(text: &Text) -> Vec<&str> {
    if text.content.is_empty() { Vec::new() } else { text.lines().collect() }
}

/// A proposal that is judged, as far as this program knows it.
struct Judged<'a> {
    session: &'a SessionId,
    parts: Cow<'a, [Part]>,
    /// What was asked of the file as a whole, and the path it had then.
    whole: Option<(Cow<'a, Whole>, &'a Path)>,
}

async fn judge(
    entries: &mut BTreeMap<u32, Entry>,
    reviewed: Reviewed,
    root: &Path,
) -> Vec<Verdict> {
    let shown = tool::path::show(root, &reviewed.path);
    let settled = settled(&reviewed).await;
    let text = if reviewed.gone { on_disk(&reviewed.path).await } else { settled.clone() };
    let mut verdicts: Vec<Verdict> = Vec::new();
    let proposals: Vec<Judged<'_>> =
        reviewed.proposals.iter().filter_map(|id| find(entries, &reviewed, *id)).collect();
    let parts: Vec<&Part> = proposals.iter().flat_map(|it| it.parts.iter()).collect();
    let mut at = 0;
    for judged in &proposals {
        let Judged { session, parts: own, whole } = judged;
        let from = at;
        at += own.len();
        let answers = match whole {
            Some((whole, path)) => vec![decided(&own[0].call, whole, path, &reviewed, root)],
            None => (from..at)
                .map(|it| answer(&parts, it, settled.as_ref(), &reviewed, &shown))
                .collect(),
        };
        let Some(verdict) = verdicts.iter_mut().find(|it| it.session == **session) else {
            verdicts.push(Verdict {
                session: (*session).clone(),
                answers,
                path: reviewed.path.clone(),
                was: was(entries, &reviewed),
                saved: reviewed.saved || reviewed.gone,
                text: text.clone().filter(|_| !reviewed.deleted),
            });
            continue;
        };
        verdict.answers.extend(answers);
    }
    // The user's own changes are told once, with the last answer.
    if let ([first, .., last] | [first @ last], Some(settled)) = (&parts[..], &settled)
        && let Some(answer) = verdicts.iter_mut().filter_map(|it| it.answers.last_mut()).next_back()
        && !reviewed.deleted
    {
        let whole = Part { after: last.after.clone(), ..(*first).clone() };
        let known = reviewed.proposals.iter().rev().find_map(|id| entries.get(id)?.told.as_deref());
        let told = edit::elsewhere(&whole, settled, known);
        if !told.is_empty() {
            answer.text.push('\n');
            answer.text.push_str(&told);
        }
    }
    for id in &reviewed.proposals {
        if let Some(entry) = entries.get_mut(id) {
            entry.is_settled = true;
            entry.proposal.parts.iter_mut().for_each(|part| part.note.clear());
        }
    }
    verdicts
}

/// A path at which the file is no more, or never came to be.
fn was(entries: &BTreeMap<u32, Entry>, reviewed: &Reviewed) -> Option<PathBuf> {
    let untaken = |id| match &entries.get(id)?.proposal.whole {
        Some(Whole::Rename { to }) if *to != reviewed.path => Some(to.clone()),
        _ => None,
    };
    reviewed.was.clone().or_else(|| reviewed.proposals.iter().find_map(untaken))
}

/// A proposal's parts; of one whose program has ended what the editor kept of it, as one part of no call.
fn find<'a>(
    entries: &'a BTreeMap<u32, Entry>,
    reviewed: &'a Reviewed,
    id: u32,
) -> Option<Judged<'a>> {
    if let Some(entry) = entries.get(&id) {
        let proposal = &*entry.proposal;
        let whole = proposal.whole.as_ref().map(|it| (Cow::Borrowed(it), &*proposal.path));
        let parts = Cow::Borrowed(&proposal.parts[..]);
        return Some(Judged { session: &entry.session, parts, whole });
    }
    let it = reviewed.texts.iter().find(|it| it.id == id)?;
    let part = Part {
        call: CallId(String::new()),
        before: Text::from_lines_joined(&it.before, it.before_eol, false, false),
        after: Text::from_lines_joined(&it.after, it.after_eol, false, false),
        note: String::new(),
    };
    let path = reviewed.was.as_ref().unwrap_or(&reviewed.path);
    let whole = it.whole.map(|whole| match whole {
        WireWhole::Delete => Whole::Delete,
        WireWhole::Rename => Whole::Rename { to: it.to.clone().unwrap_or_default() },
    });
    let whole = whole.map(|it| (Cow::Owned(it), &**path));
    Some(Judged { session: &reviewed.session, parts: Cow::Owned(vec![part]), whole })
}

/// What one call hears of its part, the one at `at`.
fn answer(
    parts: &[&Part],
    at: usize,
    settled: Option<&Text>,
    reviewed: &Reviewed,
    shown: &str,
) -> ToolAnswer {
    let part = parts[at];
    let outcome = edit::outcome_among(parts, at, settled);
    let given = reviewed.reasons.iter().map(|it| (&it.lines[..], &it.reason[..]));
    let reasons = edit::reasons(part, given);
    let mut text = outcome.say(shown, &reasons);
    text.push_str(&unsaved(reviewed, shown));
    if !part.note.is_empty() {
        text.push('\n');
        text.push_str(&part.note);
    }
    let failed = outcome.count(Fate::Undone) == outcome.hunks.len();
    ToolAnswer { id: part.call.clone(), text, failed, summary: summary(&outcome), output: None }
}

/// What the call hears that asked for a file's deletion or renaming.
fn decided(
    call: &CallId,
    whole: &Whole,
    path: &Path,
    reviewed: &Reviewed,
    root: &Path,
) -> ToolAnswer {
    let path = tool::path::show(root, path);
    let (accepted, done, kept) = match whole {
        Whole::Delete => (reviewed.deleted, "is deleted".to_owned(), "is not deleted"),
        Whole::Rename { to } => (
            reviewed.path == *to,
            format!("is now {}", tool::path::show(root, to)),
            "is not renamed",
        ),
    };
    let (verb, fate) = if accepted { ("accepted", &*done) } else { ("rejected", kept) };
    let mut text = format!("The user {verb} it: {path} {fate}.");
    for it in reviewed.reasons.iter().filter(|it| it.lines.is_empty()) {
        text.push_str(&format!("\nThe user's reason: {}", it.reason));
    }
    if accepted && reviewed.deleted && reviewed.text.is_some() {
        text.push_str("\nIts buffer holds unsaved text of their own.");
    }
    let id = call.clone();
    ToolAnswer { id, text, failed: !accepted, summary: verb.to_owned(), output: None }
}

/// The text the user settled on: the one that came along, else the disk's.
async fn settled(reviewed: &Reviewed) -> Option<Text> {
    if reviewed.gone {
        return None;
    } else if reviewed.deleted {
        return Some(Text::default());
    }
    match &reviewed.text {
        Some(text) => Some(Text::from_lines_joined(text, reviewed.eol, false, false)),
        None => on_disk(&reviewed.path).await,
    }
}

async fn on_disk(path: &Path) -> Option<Text> {
    Text::decode(&regular::read_apart(path).await.ok()?).ok()
}

fn unsaved(reviewed: &Reviewed, shown: &str) -> String {
    if reviewed.deleted {
        String::new()
    } else if reviewed.gone {
        format!("\nThe user closed {shown} without keeping anything.")
    } else if reviewed.saved {
        String::new()
    } else if reviewed.unsaved.is_empty() {
        format!("\n{shown} is not saved: the disk does not have it yet.")
    } else {
        format!("\n{shown} is not saved ({}): the disk does not have it yet.", reviewed.unsaved)
    }
}

fn summary(outcome: &Outcome) -> String {
    let each = [
        (Fate::Kept, "accepted"),
        (Fate::Undone, "rejected"),
        (Fate::Reworked, "reworked"),
        (Fate::Superseded, "changed again"),
    ];
    let words: Vec<String> = each
        .iter()
        .map(|(fate, word)| (outcome.count(*fate), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    words.join(" · ")
}
