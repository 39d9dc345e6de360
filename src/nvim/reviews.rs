//! The proposals of all sessions, by id. One task owns them. The task tells the sender of a proposal whether the
//! proposal was put into its buffer. When a review is settled (the user has decided on all changes of a file), the task
//! makes the answers to the model's calls.

mod answer;
mod entry;
mod judge;
mod whole;

pub use answer::Verdict;

use super::session_link::Handle;
use super::wire::{Arrived, ArrivedState, Reviewed, WireHunk, WireProposal, WireWhole};
use crate::edit::{Misfit, Proposal, Whole};
use crate::message::CallId;
use crate::text::{self, Newline, Text};
use crate::tool::Arrival;
use answer::Answer;
use entry::Entry;
use judge::{is_on_disk, judge, on_disk};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

pub enum Order {
    /// A proposal is about to be sent. `id` receives the proposal's number; `waiter` receives whether the proposal was
    /// put into its buffer.
    Register {
        session: Handle,
        proposal: Box<Proposal>,
        id: oneshot::Sender<u32>,
        waiter: oneshot::Sender<Arrival>,
    },
    Arrived(Arrived),
    /// The model now knows this text of a file.
    ModelKnows {
        session: Handle,
        path: PathBuf,
        text: Arc<Text>,
    },
    Settled(Settled),
    /// A task has read from disk the text of a settled review's file.
    Read(Settled, Option<Text>),
}

/// A settled review: the user has decided on all changes of a file.
pub struct Settled {
    pub reviewed: Reviewed,
    /// The session that the editor names for the review; `None` if that session is not open here.
    pub session: Option<Handle>,
    /// Receives the verdicts.
    pub done: oneshot::Sender<Vec<Verdict>>,
}

/// The most decided proposals that are kept, because the user may decide on them again.
const MAX_SETTLED: usize = 200;

/// Runs until the sender is dropped. `first_id` differs each time the program starts, so a decision on a proposal of an
/// earlier program matches no id.
pub async fn run(first_id: u32, root: PathBuf, mut inbox: mpsc::UnboundedReceiver<Order>) {
    let mut next = first_id;
    let mut entries: BTreeMap<u32, Entry> = BTreeMap::new();
    let mut partial = Partial::default();
    // If a review comes without its file's text, a task reads the disk, so other orders do not wait.
    let (read, mut reads) = mpsc::unbounded_channel();
    loop {
        let order = tokio::select! {
            biased;
            order = inbox.recv() => match order {
                Some(order) => order,
                None => return,
            },
            Some(it) = reads.recv() => it,
        };
        match order {
            Order::Register { session, proposal, id, waiter } => {
                next = next.wrapping_add(1);
                entries.insert(
                    next,
                    Entry {
                        session,
                        proposal,
                        waiter: Some(waiter),
                        known: None,
                        is_settled: false,
                    },
                );
                let _ = id.send(next);
            }
            Order::Arrived(it) => arrived(&mut entries, it),
            Order::ModelKnows { session, path, text } => {
                let is_of = |it: &Entry| it.session == session && it.proposal.path == path;
                for it in entries.values_mut().filter(|it| is_of(it)) {
                    it.known = Some(text.clone());
                }
            }
            Order::Settled(it) if is_on_disk(&it.reviewed) => {
                let read = read.clone();
                tokio::spawn(async move {
                    let text = on_disk(it.reviewed.path.clone()).await;
                    // The send fails only when the program is ending.
                    let _ = read.send(Order::Read(it, text));
                });
            }
            Order::Settled(it) => judged(&mut entries, &mut partial, it, None, &root),
            Order::Read(it, text) => judged(&mut entries, &mut partial, it, text, &root),
        }
    }
}

/// Tells the waiting task whether its proposal was put into its buffer.
fn arrived(entries: &mut BTreeMap<u32, Entry>, arrived: Arrived) {
    let id = arrived.id;
    let entered = arrived.state == ArrivedState::Entered;
    let waiter = entries.get_mut(&id).and_then(|it| it.waiter.take());
    let arrival = arrival(arrived);
    if !entered {
        entries.remove(&id);
    } else if let (Some(entry), Arrival::Written { text, .. }) = (entries.get_mut(&id), &arrival) {
        // the answer to the call has the notes, and what formatters have made of the text
        entry.proposal.told();
        entry.known = text.clone().map(Arc::new);
    }
    if let Some(waiter) = waiter {
        let _ = waiter.send(arrival);
    }
}

/// Sends the verdicts of a settled review. `text` is the file's text on disk, if the editor did not send the text.
fn judged(
    entries: &mut BTreeMap<u32, Entry>,
    partial: &mut Partial,
    Settled { reviewed, session, done }: Settled,
    text: Option<Text>,
    root: &Path,
) {
    let mut verdicts = judge(entries, (&reviewed, session), text, root);
    for (verdict, answers) in &mut verdicts {
        partial.join(entries, verdict, std::mem::take(answers));
    }
    forget(entries);
    // The send fails only when the program is ending.
    let _ = done.send(verdicts.into_iter().map(|it| it.0).collect());
}

/// Answers that wait for the reviews of other files. A call that changes several files is answered once, when the last
/// review is settled. Calls of two sessions may have the same id.
#[derive(Default)]
struct Partial(HashMap<(Option<Handle>, CallId), BTreeMap<PathBuf, Answer>>);

impl Partial {
    /// Keeps back the answers to calls that still have other files under review. Every other answer is joined with the
    /// answers that were kept back for the same call.
    fn join(
        &mut self,
        entries: &BTreeMap<u32, Entry>,
        verdict: &mut Verdict,
        answers: Vec<Answer>,
    ) {
        let waits = |call: &CallId| {
            let of = |it: &Entry| Some(it.session) == verdict.session && it.concerns(call);
            entries.values().any(|it| !it.is_settled && of(it))
        };
        for answer in one_a_call(answers) {
            let call = answer.call.clone();
            if waits(&call) {
                let key = (verdict.session, call);
                self.0.entry(key).or_default().insert(verdict.path.clone(), answer);
                continue;
            }
            let key = (verdict.session, call.clone());
            let is_known = entries.values().any(|it| it.concerns(&key.1));
            let mut files = self.0.remove(&key).unwrap_or_default();
            files.insert(verdict.path.clone(), answer);
            if !is_known && !key.1.0.is_empty() {
                // other files of this call may be decided later: then the user sees the sum
                self.0.insert(
                    key,
                    files.iter().map(|(path, it)| (path.clone(), it.counts())).collect(),
                );
            }
            let mut answer = joined(files.into_values().collect());
            verdict.claims.extend(answer.take_claims());
            verdict.answers.push(answer.into());
        }
    }
}

/// Joins the answers of one call: a call may change a file's text and also rename the file.
fn one_a_call(answers: Vec<Answer>) -> Vec<Answer> {
    let mut calls: Vec<Vec<Answer>> = Vec::new();
    for it in answers {
        // if the editor does not know the call, its id is empty, and it is not joined with others
        match calls.iter_mut().find(|all| all[0].call == it.call && !it.call.0.is_empty()) {
            Some(all) => all.push(it),
            None => calls.push(vec![it]),
        }
    }
    let one = |all| Answer { files: 1, ..joined(all) };
    calls.into_iter().map(one).collect()
}

fn joined(mut answers: Vec<Answer>) -> Answer {
    let mut all = answers.remove(0);
    for it in answers {
        if !all.text.is_empty() && !it.text.is_empty() {
            all.text.push('\n');
        }
        all.text.push_str(&it.text);
        all.failed &= it.failed;
        all.files += it.files;
        all.claims.extend(it.claims);
        if all.unsaved.is_empty() {
            all.unsaved = it.unsaved;
        }
        for (count, word) in it.tally {
            match all.tally.iter_mut().find(|other| other.1 == word) {
                // a decision on a whole file counts once
                Some(other) => other.0 = other.0.max(1) + count.max(1),
                None => all.tally.push((count, word)),
            }
        }
    }
    all
}

/// Drops the oldest decided proposals if there are more than `MAX_SETTLED`.
fn forget(entries: &mut BTreeMap<u32, Entry>) {
    let settled: Vec<u32> =
        entries.iter().filter(|(_, it)| it.is_settled).map(|(id, _)| *id).collect();
    for id in settled.iter().rev().skip(MAX_SETTLED) {
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

/// The proposal as the editor gets it: its hunks, and the hash of the text to which they apply.
pub fn on_wire(id: u32, group: u32, proposal: &Proposal) -> WireProposal {
    let empty = Text::default();
    let before = proposal.before.as_ref().unwrap_or(&empty);
    let after = if proposal.whole.is_some() { before } else { &proposal.after };
    let lines = after.reviewed_lines();
    let hunks = text::reviewed_hunks(before, after)
        .into_iter()
        .map(|it| WireHunk {
            start: it.old.start,
            count: it.old.end - it.old.start,
            text: lines[it.new.start as usize..it.new.end as usize].join("\n"),
            n: it.new.end - it.new.start,
        })
        .collect();
    let mut calls: Vec<String> = proposal.parts.iter().map(|it| it.call.0.clone()).collect();
    calls.dedup();
    WireProposal {
        id,
        group,
        calls,
        path: proposal.path.clone(),
        create: proposal.before.is_none(),
        sha: proposal.before.as_ref().map(Text::hash_of_parts).unwrap_or_default(),
        hunks,
        eol: after.eol(),
        dos: proposal.before.is_none() && after.newline == Newline::Dos,
        bom: proposal.before.is_none() && after.bom,
        at_once: proposal.at_once,
        binary: proposal.is_binary,
        whole: proposal.whole.as_ref().map(|it| match it {
            Whole::Delete => WireWhole::Delete,
            Whole::Rename { .. } => WireWhole::Rename,
        }),
        to: proposal.to().map(Path::to_owned),
    }
}
