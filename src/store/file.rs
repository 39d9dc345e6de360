//! The format of a session's file. People can edit the file: the names of its fields do not change, and a save keeps
//! fields that the program does not know.

use super::unavailable::Unavailable;
use super::unknown::{Unknown, Written};
use crate::event::{
    self, Claim, Compaction, Job, Measure, Mode, Parent, Planning, Profile, Queued, Recipient,
    Trim, Tuning, Worker, WorkerId,
};
use crate::message::{self, Excerpt, Message, Note, Role, Usage};
use crate::session::{Exposure, Session, Workers, title};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::mem::take;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The version of the format that this program writes.
pub const SCHEMA: u32 = 1;

/// The unsent contents of the composer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Excerpt>,
}

impl Draft {
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.context.is_empty()
    }
}

/// All fields of a session's file except the messages.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub(super) struct SessionFile {
    schema: u32,
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    title: String,
    #[serde(default)]
    root: PathBuf,
    #[serde(default)]
    model: String,
    /// The provider to which the conversation was sent last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sent_to: Option<Recipient>,
    #[serde(default, skip_serializing_if = "Tuning::is_empty")]
    tuning: Tuning,
    #[serde(default, skip_serializing_if = "Mode::is_default")]
    mode: Mode,
    /// The named agent that the conversation is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<Profile>,
    /// The call that began the session, if it is a subagent's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<Parent>,
    #[serde(default, skip_serializing_if = "Planning::is_empty")]
    planning: Planning,
    /// The session's mark: the random word in the tags around strangers' texts (see `message::foreign`).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    mark: String,
    #[serde(default)]
    created: String,
    #[serde(default)]
    updated: String,
    /// The number of saves so far. The first line of the session's journal has the number of the save that the journal
    /// continues.
    #[serde(default)]
    pub(super) saves: u64,
    /// What has reached the project beside the messages.
    #[serde(default, skip_serializing_if = "Exposure::is_none")]
    exposure: Exposure,
    /// How many of the turns the user has taken back.
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "event::number")]
    undone: u32,
    #[serde(default, deserialize_with = "event::number")]
    turns: u32,
    #[serde(default)]
    usage: Usage,
    /// Tokens of the last request and its reply.
    #[serde(default, deserialize_with = "message::count")]
    context: u64,
    /// For each model, the tokens and the bytes of the last request whose tokens the provider counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    measures: BTreeMap<String, Measure>,
    /// The cost so far, in USD.
    #[serde(default)]
    spent: f64,
    /// Whether the price of some replies is not known, so that the real cost is higher than `spent`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unpriced: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    queue: Vec<Queued>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<Note>,
    /// What verdicts say about files on disk, until it is no longer so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    claims: Vec<Claim>,
    /// The background jobs that ran at the save, and those whose end the model has not been told.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    jobs: BTreeMap<u32, Job>,
    /// The number of the last job.
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "event::number")]
    last_job: u32,
    /// Whether the conversation is a coordinator, its workers, and the number of the last one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    coordinates: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    workers: BTreeMap<WorkerId, Worker>,
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "event::number")]
    last_worker: u32,
    /// Whether a worker has ever reported its progress.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_noticed: bool,
    /// Excerpts that go with the next request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    instructions: Vec<Excerpt>,
    /// For each file, the hash of the text that the model knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    known: BTreeMap<PathBuf, String>,
    /// For each file that the model knew and that is gone, the hash of the text that it knew.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    gone: BTreeMap<PathBuf, String>,
    /// Tool results and excerpts, each with the line that replaces it in requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    trimmed: Vec<Trim>,
    /// The compactions that were not undone, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    compactions: Vec<Compaction>,
    /// Whether the user has undone a compaction. Then the conversation is compacted again only if the user asks for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    keeps_whole: bool,
    /// The number of compactions in a row for which the model wrote no summary.
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "event::number")]
    fruitless: u32,
    /// Files that were under review when the session was saved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reviewing: Vec<PathBuf>,
    /// The messages, only while the file is being read; otherwise empty.
    #[serde(default, skip_serializing)]
    messages: Vec<Message>,
    /// Fields that this program does not know.
    #[serde(flatten)]
    extra: Map<String, Value>,
}

/// The version of the format. It is read separately if the other fields cannot be read.
#[derive(Deserialize)]
struct Version {
    schema: u64,
}

#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    header: &'a SessionFile,
    messages: Vec<Written<'a>>,
}

impl SessionFile {
    pub(super) fn new(name: &str, root: &Path) -> SessionFile {
        SessionFile {
            schema: SCHEMA,
            name: name.to_owned(),
            title: String::new(),
            root: root.to_owned(),
            model: String::new(),
            sent_to: None,
            tuning: Tuning::default(),
            mode: Mode::default(),
            agent: None,
            parent: None,
            planning: Planning::default(),
            mark: String::new(),
            created: now(),
            updated: String::new(),
            saves: 0,
            exposure: Exposure::None,
            turns: 0,
            undone: 0,
            usage: Usage::default(),
            context: 0,
            measures: BTreeMap::new(),
            spent: 0.0,
            unpriced: false,
            queue: Vec::new(),
            notes: Vec::new(),
            claims: Vec::new(),
            jobs: BTreeMap::new(),
            last_job: 0,
            coordinates: false,
            workers: BTreeMap::new(),
            last_worker: 0,
            has_noticed: false,
            instructions: Vec::new(),
            known: BTreeMap::new(),
            gone: BTreeMap::new(),
            trimmed: Vec::new(),
            compactions: Vec::new(),
            keeps_whole: false,
            fruitless: 0,
            reviewing: Vec::new(),
            messages: Vec::new(),
            extra: Map::new(),
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<(SessionFile, Session), Unavailable> {
        let newer = |it: u64| Unavailable::Newer(u32::try_from(it).unwrap_or(u32::MAX));
        let is_newer = |it: &u64| *it > u64::from(SCHEMA);
        let mut header: SessionFile = serde_json::from_slice(bytes).map_err(|error| {
            let version = serde_json::from_slice::<Version>(bytes).ok().map(|it| it.schema);
            version.filter(is_newer).map_or(Unavailable::Damaged(error.to_string()), newer)
        })?;
        if let Some(schema) = Some(u64::from(header.schema)).filter(is_newer) {
            return Err(newer(schema));
        }
        header.schema = SCHEMA;
        let messages = take(&mut header.messages);
        let session = header.session(messages);
        Ok((header, session))
    }

    /// Moves the file's fields into a session. A save copies them back.
    fn session(&mut self, messages: Vec<Message>) -> Session {
        let queued = self.queue.iter().map(|it| it.id).max().unwrap_or(0);
        let mut workers =
            Workers::stored(self.coordinates, take(&mut self.workers), self.last_worker);
        workers.has_noticed |= self.has_noticed;
        Session {
            messages,
            sent_to: take(&mut self.sent_to),
            queue: take(&mut self.queue),
            notes: take(&mut self.notes),
            claims: take(&mut self.claims),
            jobs: take(&mut self.jobs),
            last_job: self.last_job,
            workers,
            instructions: take(&mut self.instructions),
            known: take(&mut self.known),
            gone: take(&mut self.gone),
            trimmed: take(&mut self.trimmed),
            compactions: take(&mut self.compactions),
            keeps_whole: self.keeps_whole,
            fruitless: self.fruitless,
            reviewing: take(&mut self.reviewing),
            title: title(&self.title),
            model: take(&mut self.model),
            tuning: self.tuning,
            mode: self.mode,
            profile: self.agent.take(),
            parent: take(&mut self.parent),
            planning: take(&mut self.planning),
            mark: take(&mut self.mark),
            root: take(&mut self.root),
            usage: self.usage,
            context: self.context,
            measures: take(&mut self.measures),
            spent: self.spent,
            unpriced: self.unpriced,
            exposure: self.exposure,
            turns: self.turns,
            queued,
            ..Session::default()
        }
    }

    pub(super) fn render(
        &mut self,
        session: &Session,
        unknown: &Unknown,
    ) -> serde_json::Result<Vec<u8>> {
        self.updated = now();
        self.title.clone_from(&session.title);
        self.model.clone_from(&session.model);
        self.sent_to.clone_from(&session.sent_to);
        self.tuning = session.tuning;
        self.mode = session.mode;
        self.agent.clone_from(&session.profile);
        self.parent.clone_from(&session.parent);
        self.planning.clone_from(&session.planning);
        self.mark.clone_from(&session.mark);
        self.root.clone_from(&session.root);
        self.exposure = session.exposure;
        self.turns = session.turns;
        self.undone = session.undone();
        self.usage = session.usage;
        self.context = session.context;
        self.measures.clone_from(&session.measures);
        self.spent = session.spent;
        self.unpriced = session.unpriced;
        self.queue.clone_from(&session.queue);
        self.notes.clone_from(&session.notes);
        self.claims.clone_from(&session.claims);
        self.jobs.clone_from(&session.jobs);
        self.last_job = session.last_job;
        self.coordinates = session.workers.is_on;
        self.workers.clone_from(&session.workers.all);
        self.last_worker = session.workers.last;
        self.has_noticed = session.workers.has_noticed;
        self.instructions.clone_from(&session.instructions);
        self.known.clone_from(&session.known);
        self.gone.clone_from(&session.gone);
        self.trimmed.clone_from(&session.trimmed);
        self.compactions.clone_from(&session.compactions);
        self.keeps_whole = session.keeps_whole;
        self.fruitless = session.fruitless;
        self.reviewing.clone_from(&session.reviewing);
        let messages = unknown.with(&session.messages);
        let mut json = serde_json::to_vec_pretty(&Whole { header: self, messages })?;
        json.push(b'\n');
        Ok(json)
    }
}

/// The readable part of a file with a newer format, and the number of messages that cannot be read.
pub(super) fn newer(bytes: &[u8]) -> Option<(Session, usize)> {
    let mut value: Value = serde_json::from_slice(bytes).ok()?;
    let messages = value.as_object_mut()?.remove("messages").unwrap_or_default();
    let all = messages.as_array().map_or(0, Vec::len);
    let read = messages.as_array().into_iter().flatten();
    let read: Vec<Message> = read.filter_map(|it| Message::deserialize(it).ok()).collect();
    let unread = all - read.len();
    let mut header: SessionFile = serde_json::from_value(value).ok()?;
    let session = Session { queue: Vec::new(), reviewing: Vec::new(), ..header.session(read) };
    Some((session, unread))
}

/// Reads a damaged file: the session with the complete messages before the damage. `None` if none of them is by the
/// user or a model.
pub(super) fn recover(bytes: &[u8]) -> Option<Session> {
    let text = String::from_utf8_lossy(bytes);
    // Quotes within a text are escaped, so no message's text contains `"messages"` with these quotes.
    let (head, rest) = text.match_indices("\"messages\"").find_map(|(at, key)| {
        let value = text[at + key.len()..].trim_start().strip_prefix(':')?.trim_start();
        Some((&text[..at], value.strip_prefix('[')?))
    })?;
    let mut messages = Vec::new();
    let mut rest = rest.as_bytes();
    loop {
        let gap = rest.iter().take_while(|it| it.is_ascii_whitespace() || **it == b',').count();
        let mut next = serde_json::Deserializer::from_slice(&rest[gap..]).into_iter::<Message>();
        let Some(Ok(message)) = next.next() else { break };
        rest = &rest[gap + next.byte_offset()..];
        messages.push(message);
    }
    let head = format!("{}}}", head.trim_end().trim_end_matches(','));
    let mut header = readable(serde_json::from_str(&head).unwrap_or_default());
    let is_spoken = |it: &Message| matches!(it.role, Role::User | Role::Assistant);
    messages.iter().any(is_spoken).then(|| {
        let session = header.session(messages);
        Session { turns: session.turns.max(1), queue: Vec::new(), reviewing: Vec::new(), ..session }
    })
}

/// Reads those fields whose values are valid. The others get their defaults.
fn readable(fields: Map<String, Value>) -> SessionFile {
    let mut header = SessionFile::new("", Path::new(""));
    for (name, value) in fields {
        let mut more = serde_json::to_value(&header).unwrap_or_default();
        more[name] = value;
        header = serde_json::from_value(more).unwrap_or(header);
    }
    header
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

pub(super) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
