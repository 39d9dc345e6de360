//! A subagent's work as its parent sees it, from the events of the subagent's session.

use super::team::News;
use crate::event::{Access, End, Event, HandOff, Matter, Plan, SessionId};
use crate::message::{
    Block, Builtin, CallId, Foreign, Input, Origin, Reply, ToolAnswer, ToolCall, Usage,
};
use crate::session::handoff::Report;
use crate::session::{UNDER_REVIEW, ending, has_run_out};
use crate::text::{counted, noun};
use crate::tool::clip::{self, Limits};
use crate::tool::path::unmistakable;
use crate::view::{begun, grouped};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How much of a subagent's last reply its parent gets.
const LIMITS: Limits = Limits { lines: 600, bytes: 24_000, wide: 2_000, head: 60 };
/// The most paths in a list for the parent.
const PATHS: usize = 40;
/// The most characters of what a subagent does now.
const DOING: usize = 120;

pub(in crate::agent) struct Progress {
    session: SessionId,
    root: PathBuf,
    requests: u32,
    tokens: u64,
    /// The text of the last reply, and its calls with the access that each needs.
    text: String,
    calls: Vec<(ToolCall, Access)>,
    /// Whether nobody answers the subagent's questions, so that the parent need not ask them.
    is_unattended: bool,
    /// How many calls of the last reply have no answer yet.
    unanswered: usize,
    /// The calls about which the user is asked.
    asking: BTreeSet<CallId>,
    /// The changed files, as the user sees their paths.
    changed: BTreeSet<String>,
    /// The files with changes on which the user had not decided when their call was answered.
    undecided: BTreeSet<String>,
    /// The files whose text is not on disk.
    unsaved: BTreeSet<String>,
    /// The origin of strangers' texts that the subagent has read; `None` if it has read none.
    read: Option<Origin>,
    end: Option<End>,
    /// What became of the changes in the subagent's worktree, in lines for the parent.
    apart: Vec<String>,
}

impl Progress {
    pub(super) fn new(session: SessionId, root: PathBuf, is_unattended: bool) -> Progress {
        Progress {
            session,
            root,
            requests: 0,
            tokens: 0,
            text: String::new(),
            calls: Vec::new(),
            is_unattended,
            unanswered: 0,
            asking: BTreeSet::new(),
            changed: BTreeSet::new(),
            undecided: BTreeSet::new(),
            unsaved: BTreeSet::new(),
            read: None,
            end: None,
            apart: Vec::new(),
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Takes in an event of the subagent's session. Returns the news for the parent.
    pub(super) fn event(&mut self, event: &Event) -> Vec<News> {
        match event {
            Event::Prompted { .. } => vec![self.doing("thinking")],
            Event::Replied { reply, plans, .. } => self.replied(reply, plans),
            Event::Spent { cost } => vec![News::Spent { usage: Usage::default(), cost: *cost }],
            Event::Compacted { usage, cost, .. } | Event::NotCompacted { usage, cost, .. } => {
                vec![News::Spent { usage: *usage, cost: *cost }]
            }
            Event::Started { call, .. } => {
                if self.calls.iter().any(|it| it.0.id == *call && it.1.acts()) {
                    self.read.get_or_insert(Origin::Command);
                }
                let begun = self.calls.iter().find(|it| it.0.id == *call).map(|it| begun(&it.0));
                begun.map(|it| self.doing(&it)).into_iter().collect()
            }
            Event::Asked { .. } if self.is_unattended => Vec::new(),
            Event::Asked { call, question, offer, .. } => {
                self.asking.insert(call.clone());
                let (call, question, offer) = (call.clone(), question.clone(), offer.clone());
                vec![self.doing("waits for your answer"), News::Asked { call, question, offer }]
            }
            Event::Consulted { id, about: Matter::Recipient, question, offer } => {
                let (call, question, offer) = (id.clone(), question.clone(), offer.clone());
                vec![self.doing("waits for your answer"), News::Asked { call, question, offer }]
            }
            Event::Ruled { call, .. } | Event::Changed { call, .. } => self.settled(call),
            Event::Proposed { call, path, what, .. } => {
                self.reaches(call, path);
                vec![self.doing(&format!("waits for your review of {what}"))]
            }
            Event::Answered { answer, .. } => {
                let notice = self.notice(answer);
                notice.into_iter().chain(self.answered(answer)).collect()
            }
            Event::Unsaved { paths } => {
                let own = |it: &String| unmistakable(&self.root, &self.root.join(it));
                self.unsaved = paths.iter().map(own).collect();
                Vec::new()
            }
            Event::Retried { failure, .. } => vec![self.doing(&failure.brief())],
            Event::Ended { why, .. } => {
                self.end = Some(why.clone());
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The files that the subagent has edited.
    pub(super) fn changed(&self) -> Vec<PathBuf> {
        self.changed.iter().map(|it| self.root.join(it)).collect()
    }

    /// Called when the subagent has worked in a worktree of `project`. In the report, paths in the worktree become
    /// relative, and the worktree's folder itself becomes the project's. `lines` say what became of the subagent's
    /// changes.
    pub(super) fn comes_back(&mut self, project: &Path, lines: Vec<String>) {
        let folder = self.root.display().to_string();
        let text = self.text.replace(&format!("{folder}/"), "");
        self.text = text.replace(&folder, &project.display().to_string());
        self.apart = lines;
    }

    fn replied(&mut self, reply: &Reply, plans: &[Plan]) -> Vec<News> {
        self.requests += 1;
        self.tokens = self.tokens.saturating_add(reply.usage.total());
        let texts = reply.blocks.iter().filter_map(|it| match it {
            Block::Text { text } => Some(text.trim()),
            _ => None,
        });
        self.text = texts.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n");
        let accesses = plans.iter().map(|it| it.access.clone());
        self.calls = reply.calls().cloned().zip(accesses).collect();
        if reply.blocks.iter().any(|it| matches!(it, Block::Searched(it) if it.failed.is_empty())) {
            self.read = Some(Origin::Subagent);
        }
        self.unanswered = reply.calls().count();
        let spent = News::Spent { usage: reply.usage, cost: Some(0.0) };
        vec![spent, self.doing("thinking")]
    }

    fn settled(&mut self, call: &CallId) -> Vec<News> {
        self.asking.remove(call);
        vec![News::Settled(call.clone()), self.doing("thinking")]
    }

    fn answered(&mut self, answer: &ToolAnswer) -> Vec<News> {
        match &answer.foreign {
            Some(Foreign { from: Origin::Command, .. }) => {
                self.read.get_or_insert(Origin::Command);
            }
            Some(_) => self.read = Some(Origin::Subagent),
            None => (),
        }
        let access = self.calls.iter().find(|it| it.0.id == answer.id).map(|it| &it.1);
        if let (Some(Access::Edit { paths }), false) = (access, answer.failed) {
            let is_open = answer.summary == UNDER_REVIEW;
            let files = if is_open { &mut self.undecided } else { &mut self.changed };
            files.extend(paths.iter().cloned());
        }
        self.unanswered = self.unanswered.saturating_sub(1);
        match (self.asking.contains(&answer.id), self.unanswered) {
            (true, _) => self.settled(&answer.id),
            (false, 0) => vec![self.doing("thinking")],
            (false, _) => Vec::new(),
        }
    }

    /// Notes that a call of the last reply changes this file. A language server may change files that the call does not
    /// name.
    fn reaches(&mut self, call: &CallId, path: &Path) {
        let shown = unmistakable(&self.root, path);
        let access = self.calls.iter_mut().find(|it| it.0.id == *call).map(|it| &mut it.1);
        if let Some(Access::Edit { paths }) = access
            && !paths.contains(&shown)
        {
            paths.push(shown);
        }
    }

    /// The progress that a worker has reported by this answer's call.
    fn notice(&self, answer: &ToolAnswer) -> Option<News> {
        let (call, _) = self.calls.iter().find(|it| it.0.id == answer.id)?;
        match &call.input {
            Input::Json(given) if call.is_of(Builtin::Notify) && !answer.failed => {
                given["text"].as_str().map(|it| News::Noticed(it.to_owned()))
            }
            _ => None,
        }
    }

    fn doing(&self, what: &str) -> News {
        News::Doing(what.chars().take(DOING).collect(), self.requests, self.tokens)
    }

    /// The number of requests and tokens so far, in words.
    fn size(&self) -> String {
        size(self.requests, self.tokens)
    }

    /// The hand-off of a worker to its coordinator. If the report is too long, the whole report goes into the folder
    /// `overflow`.
    pub(in crate::agent) fn hand_off(&self, overflow: &Path) -> HandOff {
        let why = match &self.end {
            Some(End::Cancelled) => Some("The user stopped the worker.".to_owned()),
            Some(why) if has_run_out(why, self.requests) => {
                Some(format!("The worker used up its {}.", counted(self.requests, "request")))
            }
            why => why.as_ref().and_then(ending),
        };
        let mut report = if self.text.is_empty() {
            Report::partial(
                "Nothing was reported.",
                "",
                "Check what the worker has changed, then decide.",
            )
        } else {
            Report::of(&self.text)
        };
        if let Some(why) = &why {
            report = report.broken_off(why);
        }
        let whole = report.what_was_done.clone();
        report.what_was_done = clip::clip(overflow, LIMITS, &whole);
        let named = if report.what_was_done.len() < whole.len() {
            self.named(&report.what_was_done)
        } else {
            Vec::new()
        };
        let mut lines = vec![report.json()];
        lines.extend(self.files());
        lines.extend(list("The part that was left out mentions", named.iter().map(String::as_str)));
        lines.extend(self.apart.clone());
        lines.push(format!("[Its conversation is `{}`: {}.]", self.session, self.size()));
        let foreign = self.read.clone();
        HandOff { text: lines.join("\n"), foreign, is_partial: !report.is_done() }
    }

    /// Lines about the files that the subagent has changed.
    fn files(&self) -> impl Iterator<Item = String> + use<> {
        let (unsaved, changed): (Vec<&str>, Vec<&str>) =
            self.changed.iter().map(String::as_str).partition(|it| self.unsaved.contains(*it));
        let changed = list("It changed", changed.into_iter());
        let unsaved = list("It changed in the editor, but not on disk:", unsaved.into_iter());
        let undecided = self.undecided.iter().map(String::as_str);
        let undecided = list("It proposed changes that are still under review:", undecided);
        changed.into_iter().chain(unsaved).chain(undecided)
    }

    /// Whether the turn has ended with `End::Done`: not by a stop, a failure or a limit.
    pub(in crate::agent) fn is_whole(&self) -> bool {
        self.end == Some(End::Done)
    }

    /// Whether the user has stopped the subagent in its own chat.
    pub(in crate::agent) fn is_stopped_by_user(&self) -> bool {
        self.end == Some(End::Cancelled)
    }

    /// The requests and tokens that were used.
    pub(in crate::agent) fn used(&self) -> (u32, u64) {
        (self.requests, self.tokens)
    }

    /// The answer to the parent's call. If the last reply is too long for the parent, the whole reply goes into the
    /// folder `overflow`.
    pub(super) fn answer(&self, call: &CallId, overflow: &Path) -> ToolAnswer {
        let text = clip::clip(overflow, LIMITS, &self.text);
        let named = if text.len() < self.text.len() { self.named(&text) } else { Vec::new() };
        let why = self.end.as_ref().and_then(ending);
        let mut own = Vec::new();
        match &why {
            Some(why) => {
                own.push(format!("[The subagent ended before its task was done: {why}]"));
            }
            None if text.is_empty() => {
                own.push("[The subagent ended without a report.]".to_owned());
            }
            None => (),
        }
        own.extend(self.files());
        own.extend(list("The part that was left out mentions", named.iter().map(String::as_str)));
        own.extend(self.apart.clone());
        own.push(format!("[Its conversation is `{}`: {}.]", self.session, self.size()));
        let foreign = self.read.clone();
        let foreign = foreign.map(|from| Foreign { from, own: own.len() });
        if !text.is_empty() {
            own.insert(0, text);
        }
        let failed = why.is_some() && self.text.is_empty();
        let summary = if why.is_some() { "not finished".to_owned() } else { self.size() };
        let session = Some(self.session.0.clone());
        ToolAnswer { failed, foreign, session, ..ToolAnswer::done(call, own.join("\n"), summary) }
    }

    /// The files of the project that the reply names outside of `shown`, the part of the reply that the parent gets.
    fn named(&self, shown: &str) -> Vec<String> {
        let is_apart = |it: char| it.is_whitespace() || "`'\"()[]<>{},;".contains(it);
        let words = self.text.split(is_apart).filter_map(|it| {
            let path = it.split(':').next().unwrap_or_default().trim_end_matches('.');
            let is_path = (3..400).contains(&path.len()) && path.contains(['/', '.']);
            (is_path && !path.starts_with('/') && !path.contains("..")).then_some(path)
        });
        let words: BTreeSet<&str> = words.filter(|it| !shown.contains(it)).take(2_000).collect();
        let is_file = |it: &&str| self.root.join(it).is_file();
        words.into_iter().filter(is_file).take(PATHS + 1).map(str::to_owned).collect()
    }
}

/// A number of requests and of tokens, in words.
pub(super) fn size(requests: u32, tokens: u64) -> String {
    let unit = noun(tokens, "token");
    format!("{} · {} {unit}", counted(requests, "request"), grouped(tokens))
}

/// A line that lists paths; `None` without a path.
fn list<'a>(what: &str, paths: impl Iterator<Item = &'a str>) -> Option<String> {
    let paths: Vec<&str> = paths.collect();
    let more = if paths.len() > PATHS { " and others" } else { "" };
    let shown = paths.iter().take(PATHS).map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    (!paths.is_empty()).then(|| format!("[{what} {shown}{more}.]"))
}

#[cfg(test)]
mod tests;
