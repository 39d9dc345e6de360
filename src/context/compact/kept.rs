//! The texts that a hand-off keeps word for word, besides the summary.

use super::source::clipped;
use crate::context::fence;
use crate::context::request::fenced;
use crate::context::size::{self, Limits};
use crate::context::trim::arguments;
use crate::event::{Grant, Item, Mode};
use crate::message::{
    Block, Builtin, CallId, Excerpt, ExcerptKind, Input, Message, Role, ToolAnswer, ToolCall,
};
use crate::session::{self, Session};
use crate::text::counted;
use crate::tool::submit_plan;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The bytes of a token, by estimate.
const BYTES: u64 = 4;

/// The most tokens of the user's messages that are kept.
const MOST: u64 = 20_000;
/// The most files that are named in place of a section that a summary lacks.
const FILES: usize = 20;
/// The tokens that a plan may always have: the most that a plan from a model can have.
const PLAN: u64 = submit_plan::LONGEST as u64 / BYTES;

/// What a hand-off has beside the summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) before: String,
    pub(super) after: String,
    /// The names of the instructions and skills for which there was no room.
    pub(super) left_out: Vec<String>,
    /// The files that the agent has edited, and those that it has read, the newest last.
    edited: Vec<String>,
    read: Vec<String>,
    has_todo: bool,
}

impl Kept {
    /// What the program knows about a section that a summary lacks.
    pub(super) fn known(&self, section: &str) -> Option<String> {
        let named = |files: &[String], about: &str| {
            (!files.is_empty()).then(|| format!("{about}: {}.", files.join(", ")))
        };
        match section {
            "Done" => named(&self.edited, "Files that were edited (the verdicts are below)"),
            "Files to re-read" => named(&self.read, "Files that were read, the newest last"),
            "In progress" if self.has_todo => Some("See the to-do list below.".to_owned()),
            _ => None,
        }
    }
}

/// What a hand-off keeps of the messages before `at`. The room is the part of the window that is not for a reply.
/// Instructions and skills may take half of the room, the user's messages a quarter of the rest, verdicts an eighth. A
/// plan may take an eighth too, but at least `PLAN` or a quarter of the room, whichever is smaller.
pub(super) fn kept(
    session: &Session,
    at: usize,
    limits: &Limits,
    edits: impl Fn(&str) -> bool,
) -> Kept {
    let gone = &session.messages[..at];
    let intro = "The first part of this conversation was compacted: this message replaces it. The user still \
                 sees the whole conversation.";
    let calls = Calls::of(gone);
    let room = if limits.window == 0 { MOST * 2 } else { limits.full / 2 };
    let given = Given::of(session, gone, &calls, room);
    let rest = limits.full.saturating_sub(given.tokens) / 4;
    let budget = if limits.window == 0 { MOST } else { MOST.min(rest) };
    let least = if limits.window == 0 { PLAN } else { PLAN.min(limits.full / 4) };
    let before: Vec<String> =
        std::iter::once(intro.to_owned()).chain(given.texts).chain(told(&given.left_out)).collect();
    let parts = [
        tagged("user_messages", &of_user(gone, budget)),
        tagged("verdicts", &verdicts(gone, &calls, budget / 2, &edits)),
        tagged("plan", &clip(&plan(session, gone), least.max(budget / 2))),
        tagged("todo", calls.last_of(Builtin::Todo).map_or("", |it| it.text.as_str())),
        tagged("last_reply", &clip(last_reply(gone).unwrap_or_default(), budget / 10)),
        state(session, gone),
    ];
    let mut after: Vec<String> = parts.into_iter().filter(|it| !it.is_empty()).collect();
    after.push(
        "Go on from here. You no longer have the text of files that you read or were given before, even if a later \
         message says that it was sent: read a file again before you edit it or rely on it."
            .to_owned(),
    );
    let (before, after) = (before.join("\n\n") + "\n\n", format!("\n\n{}", after.join("\n\n")));
    Kept {
        before,
        after,
        left_out: given.left_out,
        edited: calls.paths(&edits),
        read: calls.paths(|it| it == Builtin::Read.name()),
        has_todo: calls.last_of(Builtin::Todo).is_some(),
    }
}

/// Tells the model which instructions and skills it no longer has.
fn told(left_out: &[String]) -> Option<String> {
    (!left_out.is_empty()).then(|| {
        let names = left_out.join(", ");
        format!(
            "Left out because there was no room: {names}. Load or read them again if you need them."
        )
    })
}

fn tagged(name: &str, text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    fence::tagged(name, "", text.trim_end())
}

pub(super) fn clip(text: &str, tokens: u64) -> String {
    clipped(text, usize::try_from(tokens * BYTES).unwrap_or(usize::MAX))
}

/// The calls in the messages that are replaced, by id, and the answers to these calls.
struct Calls<'a> {
    calls: HashMap<&'a CallId, &'a ToolCall>,
    answers: Vec<&'a ToolAnswer>,
}

impl<'a> Calls<'a> {
    fn of(messages: &'a [Message]) -> Calls<'a> {
        let (mut calls, mut answers) = (HashMap::new(), Vec::new());
        for block in messages.iter().flat_map(|it| &it.blocks) {
            match block {
                Block::Call(call) => drop(calls.entry(&call.id).or_insert(call)),
                Block::Answer(answer) => answers.push(answer),
                _ => (),
            }
        }
        Calls { calls, answers }
    }

    fn tool(&self, answer: &ToolAnswer) -> &'a str {
        self.calls.get(&answer.id).map_or("", |it| it.tool.as_str())
    }

    /// The newest paths in the calls of some tools that have succeeded, the newest last.
    fn paths(&self, is_one: impl Fn(&str) -> bool) -> Vec<String> {
        let mut paths: Vec<String> = Vec::new();
        for answer in self.answers.iter().rev().filter(|it| !it.failed && is_one(self.tool(it))) {
            let input = self.calls.get(&answer.id).map(|it| &it.input);
            let path = input.and_then(|it| match it {
                Input::Json(given) => given["path"].as_str(),
                Input::Broken { .. } => None,
            });
            if let Some(path) = path.filter(|it| !paths.iter().any(|known| known == it)) {
                paths.push(path.to_owned());
            }
            if paths.len() == FILES {
                break;
            }
        }
        paths.reverse();
        paths
    }

    /// The name of the skill that this answer has.
    fn skill(&self, answer: &ToolAnswer) -> Option<&'a str> {
        let call = self.calls.get(&answer.id).filter(|it| it.is_of(Builtin::Skill))?;
        match &call.input {
            Input::Json(given) => given["name"].as_str(),
            Input::Broken { .. } => None,
        }
    }

    /// The call of an answer, shortened: the tool and its arguments.
    fn named(&self, answer: &ToolAnswer) -> String {
        let call = self.calls.get(&answer.id);
        call.map_or_else(String::new, |it| format!("{}{}", it.tool, arguments(it)))
    }

    /// The tool's last answer that is not a failure.
    fn last_of(&self, tool: Builtin) -> Option<&'a ToolAnswer> {
        self.answers.iter().rev().find(|it| !it.failed && self.tool(it) == tool.name()).copied()
    }
}

/// The instructions and skills that a hand-off repeats.
struct Given {
    texts: Vec<String>,
    tokens: u64,
    /// The names of those that do not fit.
    left_out: Vec<String>,
}

impl Given {
    /// Instructions of folders, the list of skills and loaded skills, each as the model got it last. An item that the
    /// user has removed with `/context drop` is not repeated. Instructions get the room before skills, and newer texts
    /// before older ones.
    fn of(session: &Session, gone: &[Message], calls: &Calls<'_>, room: u64) -> Given {
        let mut all = found(session, gone, calls);
        let mut seen = HashSet::new();
        all.reverse();
        all.retain(|it| seen.insert(it.name.clone()));
        all.sort_by_key(|it| it.is_skill);
        let mut given = Given { texts: Vec::new(), tokens: 0, left_out: Vec::new() };
        let mut fitting = Vec::new();
        for it in all {
            let size = size::of_text(&it.text);
            if given.tokens + size <= room {
                given.tokens += size;
                fitting.push(it);
            } else {
                given.left_out.push(it.name);
            }
        }
        fitting.sort_by_key(|it| it.at);
        given.texts = fitting.into_iter().map(|it| it.text).collect();
        given
    }
}

/// An instruction file, the list of skills, or a skill.
struct Guide {
    /// Its place in the conversation.
    at: usize,
    name: String,
    text: String,
    is_skill: bool,
}

fn found(session: &Session, gone: &[Message], calls: &Calls<'_>) -> Vec<Guide> {
    let trimmed = session.trimmed_items();
    let mut all = Vec::new();
    let mut excerpts = 0;
    let blocks = gone.iter().filter(|it| it.role == Role::User).flat_map(|it| &it.blocks);
    for (at, block) in blocks.enumerate() {
        match block {
            Block::Excerpt(it) => {
                if is_kept(it) && !trimmed.contains(&Item::Excerpt(excerpts)) {
                    let is_skill = it.kind == ExcerptKind::Skill;
                    let text = fenced(it, &session.mark);
                    all.push(Guide { at, name: it.path.clone(), text, is_skill });
                }
                excerpts += 1;
            }
            Block::Answer(it) if !it.failed && !trimmed.contains(&Item::Call(it.id.clone())) => {
                if let Some(name) = calls.skill(it) {
                    let name = format!("the skill {name}");
                    all.push(Guide { at, name, text: tagged("skill", &it.text), is_skill: true });
                }
            }
            _ => (),
        }
    }
    all
}

fn is_kept(excerpt: &Excerpt) -> bool {
    use ExcerptKind::{Agents, Instructions, Skill, Skills};
    matches!(excerpt.kind, Instructions | Skill | Skills | Agents)
}

/// The user's newest messages that fit into the budget, and always the first message, which has the goal.
fn of_user(messages: &[Message], budget: u64) -> String {
    let said: Vec<String> = messages.iter().filter_map(prompt).collect();
    let Some(first) = said.first() else { return String::new() };
    let first = clip(first, budget / 4);
    let mut room = budget.saturating_sub(size::of_text(&first));
    let mut kept = Vec::new();
    for text in said[1..].iter().rev() {
        let Some(rest) = room.checked_sub(size::of_text(text)) else {
            if kept.is_empty() {
                kept.push(clip(text, room));
            }
            break;
        };
        room = rest;
        kept.push(text.clone());
    }
    let gap = said.len() - 1 - kept.len();
    let left_out = (gap > 0).then(|| format!("[{} left out]", counted(gap, "message")));
    let all = std::iter::once(first).chain(left_out).chain(kept.into_iter().rev());
    all.collect::<Vec<_>>().join("\n---\n")
}

/// The text of a user's message, with the names of the excerpts in it.
fn prompt(message: &Message) -> Option<String> {
    let mut text = String::new();
    for block in message.blocks.iter().filter(|_| message.role == Role::User) {
        match block {
            Block::Text { text: said } => text.push_str(&format!("{said}\n")),
            Block::Excerpt(it) if matches!(it.kind, ExcerptKind::Answers | ExcerptKind::Remark) => {
                text.push_str(&format!("{}\n", it.text));
            }
            Block::Excerpt(it)
                if !is_kept(it)
                    && !matches!(it.kind, ExcerptKind::Changes | ExcerptKind::Result) =>
            {
                let lines = it.lines.map(|(a, b)| format!(":{a}-{b}")).unwrap_or_default();
                text.push_str(&format!("[attached: {}{lines}]\n", it.path));
            }
            _ => (),
        }
    }
    Some(text.trim_end().to_owned()).filter(|it| !it.is_empty())
}

/// The user's decisions on edits and other calls, and other notices to the model: the newest that fit into the budget, in
/// order.
fn verdicts(
    messages: &[Message],
    calls: &Calls<'_>,
    budget: u64,
    edits: impl Fn(&str) -> bool,
) -> String {
    let told = messages.iter().filter(|it| it.role == Role::User).flat_map(|it| &it.blocks);
    let told = told.filter_map(|it| match it {
        // the state names what is still under review; of the rest the verdict is here
        Block::Answer(answer) if session::is_before_verdict(answer) => None,
        Block::Answer(answer) if answer.verdict && !edits(calls.tool(answer)) => {
            Some(Cow::Owned(format!("{}: {}", calls.named(answer), answer.text)))
        }
        Block::Answer(answer) if answer.verdict || !answer.failed && edits(calls.tool(answer)) => {
            Some(Cow::Borrowed(answer.text.as_str()))
        }
        Block::Notice { text, .. } if session::is_for_both(text) => {
            Some(Cow::Borrowed(text.as_str()))
        }
        _ => None,
    });
    let told: Vec<Cow<'_, str>> = told.filter(|it| !it.trim().is_empty()).collect();
    let mut room = budget;
    let mut kept = Vec::new();
    for text in told.iter().rev() {
        let Some(rest) = room.checked_sub(size::of_text(text) + 1) else { break };
        room = rest;
        kept.push(&**text);
    }
    let left_out = (kept.len() < told.len())
        .then(|| format!("[{} earlier ones left out]", told.len() - kept.len()));
    kept.extend(left_out.as_deref());
    kept.reverse();
    kept.join("\n")
}

/// The plan that the user has approved or edited last, else the plan that the model has submitted last, else its last
/// reply in plan mode. Empty if the user has dropped the plan.
fn plan(session: &Session, gone: &[Message]) -> String {
    let (mut mode, mut plan, mut is_submitted) = (Mode::default(), String::new(), false);
    let last = session.planning.last.as_ref().map(|it| &it.call);
    for message in gone {
        let is_reply = message.role == Role::Assistant;
        for block in &message.blocks {
            match block {
                Block::Notice { text, .. } if session::is_dropped_plan(text) => {
                    (plan, is_submitted) = (String::new(), false);
                }
                Block::Notice { text, .. } => mode = session::mode_of(text).unwrap_or(mode),
                Block::Excerpt(it) if it.kind == ExcerptKind::Plan && !is_reply => {
                    (plan, is_submitted) = (it.text.clone(), true);
                }
                Block::Call(call) if is_reply && (mode == Mode::Plan || last == Some(&call.id)) => {
                    if let Some(text) = submit_plan::text(call) {
                        (plan, is_submitted) = (text, true);
                    }
                }
                Block::Text { text } if is_reply && mode == Mode::Plan && !is_submitted => {
                    plan.clone_from(text);
                }
                _ => (),
            }
        }
    }
    plan
}

fn last_reply(messages: &[Message]) -> Option<&str> {
    let last = messages.iter().rfind(|it| it.role == Role::Assistant)?;
    last.blocks.iter().rev().find_map(|it| match it {
        Block::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    })
}

/// The present state: the mode, the permissions that the user gave, the files under review.
fn state(session: &Session, gone: &[Message]) -> String {
    let mut notices = gone.iter().flat_map(|it| &it.blocks).filter_map(|it| match it {
        Block::Notice { text, .. } => session::mode_of(text).map(|_| text.clone()),
        _ => None,
    });
    let mut lines: Vec<String> = notices.next_back().into_iter().collect();
    let mut coordinating = gone.iter().flat_map(|it| &it.blocks).filter_map(|it| match it {
        Block::Notice { text, .. } => session::is_coordinating(text).map(|is_on| (is_on, text)),
        _ => None,
    });
    lines.extend(coordinating.next_back().filter(|it| it.0).map(|it| it.1.clone()));
    if !session.granted.is_empty() {
        let granted: Vec<String> = session.granted.iter().map(Grant::label).collect();
        lines
            .push(format!("The user has allowed, until the program ends: {}.", granted.join("; ")));
    }
    let reviewing = session
        .reviewing
        .iter()
        .map(|it| it.strip_prefix(&session.root).unwrap_or(it).display().to_string());
    let reviewing: Vec<String> = reviewing.collect();
    if !reviewing.is_empty() {
        lines.push(format!(
            "Your edits of these files are under the user's review, and the verdict will follow: {}.",
            reviewing.join(", ")
        ));
    }
    tagged("state", &lines.join("\n"))
}
