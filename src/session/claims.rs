//! What a request says about files on disk is true when the request is sent: the verdicts that it carries name the files
//! of which they speak, and the words are made from a look at the disk.

use super::{Session, State, Step};
use crate::event::{Buffer, Claim, Claimed, Disk, Event, Keeps, OnDisk, Standing, Told, TurnId};
use crate::message::{Block, CallId, Message, Role, ToolAnswer};
use crate::text::Text;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How a file is, seen from a claim about it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Now {
    /// As at the decision: the buffer holds a text that is not on disk.
    Same,
    Saved,
    /// The disk is as at the decision, and the buffer holds no other text.
    Dropped,
    /// The file has changed on disk since the decision, and the buffer holds another text.
    Differs,
    /// The file has changed on disk since the decision, and the buffer holds no other text.
    Other,
    /// The file is gone since the decision. `is_held` says whether its buffer holds a text.
    Gone {
        is_held: bool,
    },
}

impl Session {
    /// The files about which the next request says something. None if the request has to go on with the model's last
    /// message.
    pub fn claimed(&self) -> BTreeSet<PathBuf> {
        let last = self.messages.iter().rev().find(|it| it.role != Role::Note);
        if last.is_none_or(|it| it.role != Role::User) {
            return BTreeSet::new();
        }
        self.claims.iter().map(|it| it.path.clone()).collect()
    }

    /// The claims of new answers about a file. They replace what earlier answers to the same calls claim.
    pub(super) fn claim(
        &mut self,
        path: &Path,
        answers: &[ToolAnswer],
        new: Vec<Claim>,
        step: &mut Step,
    ) {
        let mut claims = self.claims.clone();
        claims.retain_mut(|it| {
            let answer = answers.iter().find(|answer| answer.id == it.call);
            if let Some(answer) = answer {
                answer.summary.clone_into(&mut it.summary);
                it.failed = answer.failed;
            }
            let is_again = it.path == path && answer.is_some() && !it.told;
            !is_again && !new.iter().any(|new| new.path == it.path && new.call == it.call)
        });
        claims.extend(new);
        if claims != self.claims {
            self.record(Event::Stood { told: Vec::new(), claims, is_sent: false }, step);
        }
    }

    /// The verdict on these calls does not count any more.
    pub(super) fn unclaim(&mut self, path: &Path, calls: &[CallId], step: &mut Step) {
        let is_over = |it: &Claim| it.path == path && calls.contains(&it.call) && !it.told;
        if self.claims.iter().any(is_over) {
            let claims = self.claims.iter().filter(|it| !is_over(it)).cloned().collect();
            self.record(Event::Stood { told: Vec::new(), claims, is_sent: false }, step);
        }
    }

    /// Takes in how the claimed files are now. If the next request of `turn` is about to be sent, it tells the model.
    pub(super) fn stood(&mut self, turn: Option<TurnId>, all: &[Standing], step: &mut Step) {
        self.judge_saved(all, step);
        if !turn.is_some_and(|it| self.is_sampling(it)) {
            return;
        }
        let (mut claims, mut told): (Vec<Claim>, Vec<Told>) = (Vec::new(), Vec::new());
        for claim in self.claims.clone() {
            let Some(standing) = all.iter().find(|it| it.path == claim.path) else {
                claims.push(claim);
                continue;
            };
            let shown = self.shown(&claim.path);
            let (text, stays) = match &claim.what {
                Claimed::Unsaved { .. } if claim.told => said_later(&claim, standing, &shown),
                Claimed::Unsaved { why, lines, .. } => {
                    first_said(now(&claim, standing), (&shown, why), *lines)
                }
                Claimed::Gone { keeps } => (self.gone(*keeps, standing, &shown), false),
            };
            let call = (!claim.told).then(|| claim.call.clone());
            let is_note = call.is_some() && !self.is_in_unsent_answer(&claim.call);
            let new = Told { call, is_note, text };
            if !new.text.is_empty() && !told.contains(&new) {
                told.push(new);
            }
            if stays {
                claims.push(Claim { told: true, ..claim });
            }
        }
        if !told.is_empty() || claims != self.claims || !self.instructions.is_empty() {
            self.record(Event::Stood { told, claims, is_sent: true }, step);
        }
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    /// The words about a file that was deleted. If the file is there again and the model knew it, the model is told how
    /// it is.
    fn gone(&self, keeps: Option<Keeps>, now: &Standing, shown: &str) -> String {
        let is_again = matches!(now.disk, Disk::Text(_));
        let is_held = now.is_held() && now.buffer != Buffer::Text(Text::default().sha256_hex());
        match keeps {
            _ if is_again && self.known.contains_key(&now.path) => String::new(),
            _ if is_again => format!("But {shown} exists again."),
            Some(_) if !is_held => String::new(),
            Some(Keeps::Own) => "Its buffer holds the user's own unsaved text.".to_owned(),
            Some(Keeps::Former) => "Its buffer still holds its text, unsaved.".to_owned(),
            None => String::new(),
        }
    }

    /// The lines of calls of which nothing is unsaved any more do not say so any longer.
    fn judge_saved(&mut self, all: &[Standing], step: &mut Step) {
        let is_saved = |claim: &Claim| {
            let standing = all.iter().find(|it| it.path == claim.path);
            standing.is_some_and(|it| matches!(now(claim, it), Now::Saved | Now::Other))
        };
        let is_unsaved = |it: &Claim| matches!(it.what, Claimed::Unsaved { .. }) && !is_saved(it);
        let mut lines: Vec<(CallId, String, bool)> = Vec::new();
        for claim in self.claims.iter().rev().filter(|it| is_saved(it)) {
            let others = self.claims.iter().filter(|it| it.call == claim.call);
            let answer = self.answer_to(&claim.call);
            let differs = answer.is_some_and(|it| it.summary != claim.summary);
            let line = (claim.call.clone(), claim.summary.clone(), claim.failed);
            let is_new = lines.iter().all(|it| it.0 != line.0);
            if differs && is_new && !others.clone().any(is_unsaved) {
                lines.push(line);
            }
        }
        for (call, summary, failed) in lines {
            self.record(Event::Judged { call, summary, failed }, step);
        }
    }

    fn answer_to(&self, call: &CallId) -> Option<&ToolAnswer> {
        let open = self.open().iter().filter_map(|it| match &it.state {
            State::Done(answer) => Some(&**answer),
            _ => None,
        });
        let said = self.messages.iter().rev().flat_map(|it| &it.blocks).filter_map(|it| match it {
            Block::Answer(answer) => Some(answer),
            _ => None,
        });
        open.chain(said).find(|it| it.id == *call)
    }

    fn is_in_unsent_answer(&self, call: &CallId) -> bool {
        let unsent = self.messages.iter().rev().take_while(|it| it.role != Role::Assistant);
        let is_it =
            |it: &Block| matches!(it, Block::Answer(it) if it.id == *call && it.output.is_none());
        unsent.flat_map(|it| &it.blocks).any(is_it)
    }

    /// Adds what a request tells about files to the messages that were not sent yet.
    pub(super) fn apply_stood(&mut self, told: &[Told], claims: &[Claim], is_sent: bool) {
        for it in told {
            let unsent = self.messages.iter_mut().rev().take_while(|it| it.role != Role::Assistant);
            let unsent: Vec<&mut Message> = unsent.filter(|it| it.role == Role::User).collect();
            let mut blocks = unsent.into_iter().flat_map(|it| &mut it.blocks);
            let text = blocks.find_map(|block| text_of(block, it.call.as_ref()?));
            match text {
                Some(text) => {
                    text.push('\n');
                    text.push_str(&it.text);
                }
                None => self.notes.push(it.text.as_str().into()),
            }
        }
        self.claims = claims.to_vec();
        if !is_sent {
            return;
        }
        let notes = self.take_notes();
        if !notes.is_empty() {
            self.say(Role::User, notes);
        }
    }

    /// Keeps only the claims of calls that the conversation has.
    pub(super) fn forget_removed_claims(&mut self) {
        let blocks = self.messages.iter().flat_map(|it| &it.blocks);
        let calls: BTreeSet<&CallId> = blocks
            .filter_map(|it| match it {
                Block::Call(call) => Some(&call.id),
                _ => None,
            })
            .collect();
        self.claims.retain(|it| calls.contains(&it.call));
    }
}

/// The text of a block that tells the verdict on a call. A text that is stored apart is never changed.
fn text_of<'a>(block: &'a mut Block, call: &CallId) -> Option<&'a mut String> {
    match block {
        Block::Answer(it) if it.id == *call && it.output.is_none() => Some(&mut it.text),
        Block::Notice { text, call: Some(of) } if of == call => Some(text),
        _ => None,
    }
}

/// What of a call's changes was on disk at the decision. `waits` says whether they may still be saved.
fn on_disk(lines: OnDisk, waits: bool) -> String {
    let OnDisk { total, there, other, is_absent } = lines;
    let still = if is_absent { "still " } else { "" };
    let is = |count| if count == 1 { "is" } else { "are" };
    match (there, other) {
        (0, 0) if is_absent => "none of your changes is on disk.".to_owned(),
        (0, 0) if waits => "the changes are not on disk yet.".to_owned(),
        (0, 0) => "the changes are not on disk.".to_owned(),
        (1, 0) if total == 1 => format!("the change is {still}on disk."),
        (_, 0) if there == total => format!("all {total} changes are {still}on disk."),
        (_, 0) => format!("{there} of the {total} changes {} {still}on disk.", is(there)),
        _ if total == 1 => "on disk, other lines are in its place.".to_owned(),
        _ => {
            let rest = match there {
                0 => String::new(),
                _ => format!(", and {there} {} there", is(there)),
            };
            format!(
                "on disk, other lines are in the place of {other} of the {total} changes{rest}."
            )
        }
    }
}

fn now(claim: &Claim, standing: &Standing) -> Now {
    let Claimed::Unsaved { settled, disk: was, lines, .. } = &claim.what else { return Now::Same };
    let is_held = standing.is_held();
    match (&standing.disk, was) {
        (Disk::Text(now), _) if now == settled => Now::Saved,
        (Disk::Text(now), Some(was)) if now != was && is_held => Now::Differs,
        (Disk::Text(now), Some(was)) if now != was => Now::Other,
        (Disk::Absent, Some(_)) => Now::Gone { is_held },
        // a claim without the text on disk and the lines is about a file that is there now
        (Disk::Text(_) | Disk::Unread, None) if !is_held && lines.is_none() => Now::Other,
        _ if is_held => Now::Same,
        _ => Now::Dropped,
    }
}

/// The words that go with the verdict, and whether the model is to be told once the text is saved.
fn first_said(now: Now, (shown, why): (&str, &str), lines: Option<OnDisk>) -> (String, bool) {
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    let lines = lines.map(|it| on_disk(it, now == Now::Same));
    let ends = lines.map_or_else(|| ".".to_owned(), |it| format!(": {it}"));
    let dropped = "and its buffer does not hold that text any more";
    match now {
        Now::Saved => (String::new(), false),
        Now::Same => (format!("{shown} is not saved{why}{ends}"), true),
        Now::Dropped => (format!("{shown} was not saved{why}, {dropped}{ends}"), false),
        Now::Differs => (
            format!("{shown} is not saved{why}, and it has changed on disk since the decision."),
            true,
        ),
        Now::Other => {
            (format!("{shown} has another text on disk now: read it before you rely on it."), false)
        }
        Now::Gone { is_held: true } => (
            format!("{shown} is not saved{why}, and the file does not exist on disk any more."),
            true,
        ),
        Now::Gone { is_held: false } => {
            (format!("{shown} was not saved{why}, and does not exist any more."), false)
        }
    }
}

/// The words about a text that the model knows as unsaved.
fn said_later(claim: &Claim, standing: &Standing, shown: &str) -> (String, bool) {
    match now(claim, standing) {
        Now::Saved => (format!("{shown} is saved now."), false),
        Now::Other => (format!("{shown} has another text on disk now."), false),
        Now::Dropped => {
            (format!("{shown} was not saved: its buffer does not hold that text any more."), false)
        }
        Now::Gone { is_held: false } => (format!("{shown} does not exist any more."), false),
        Now::Same | Now::Differs | Now::Gone { .. } => (String::new(), true),
    }
}
