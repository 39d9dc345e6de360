//! The data that a model reads and writes, independent of any provider's format. These types are also the format of the
//! session file, so their JSON is easy for people to read, edit and compare.

mod aside;
mod builtin;
mod call;
mod diff;
mod foreign;
mod image;
mod note;
pub mod inquiry;
mod parameter;
mod searched;
mod stored;

pub use aside::Aside;
pub use builtin::Builtin;
pub use call::{CallId, Input, ToolCall};
pub use diff::{DiffHunk, FileDiff, Kind};
pub use foreign::{Foreign, Origin, is_mark, mark_of};
pub use image::{Content, Image, Sight};
pub use inquiry::{Given, Inquiry, Question};
pub use note::Note;
pub use parameter::Parameter;
pub use searched::{Found, Searched};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    System,
    User,
    Assistant,
    /// A note that is shown in the chat and never sent to a model.
    Note,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    /// The model that wrote this reply, as `provider/model`. The message's thoughts and raw blocks are sent back only
    /// to this model. Empty for messages that are not replies, and for replies whose thoughts the provider has refused.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// The number of the turn that this message of the user began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    #[serde(deserialize_with = "blocks")]
    pub blocks: Vec<Block>,
}

/// Reads blocks and frees unused capacity: a list that is read has room for four blocks, and most messages have one.
fn blocks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Block>, D::Error> {
    let mut all: Vec<Block> = Vec::deserialize(from)?;
    all.shrink_to_fit();
    Ok(all)
}

impl Message {
    /// A message that was not written by a model.
    pub fn new(role: Role, blocks: Vec<Block>) -> Message {
        Message { role, by: String::new(), turn: None, blocks }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    Text {
        text: String,
    },
    /// A model's reasoning. `signature` proves to the provider that the text is unchanged. The block is sent back
    /// verbatim, and only to the same model.
    Thinking {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A file, a range or a selection that is attached to a user's message.
    Excerpt(Excerpt),
    Call(ToolCall),
    Answer(ToolAnswer),
    /// An image in a request. In a session, images are parts of excerpts and answers.
    Image(Image),
    /// A message from the program to the model between turns, for example a late verdict.
    Notice {
        text: String,
        /// The edit of which the message tells the verdict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
    },
    /// A block in a provider's own format. It is sent back verbatim to the same model and at the same place. `provider`
    /// names the wire format of the block. A block that signs another block comes directly after that block.
    Raw {
        provider: String,
        value: Value,
    },
    /// A search that the provider has made by itself, kept for the user and for the rules about strangers' texts. The
    /// block comes after the provider's raw blocks and is never sent.
    Searched(Searched),
}

impl Block {
    /// Whether the block is a model's thought, as `Thinking` or as a provider's raw block.
    pub fn is_thought(&self) -> bool {
        match self {
            Block::Thinking { .. } => true,
            Block::Raw { value, .. } => {
                matches!(value["type"].as_str(), Some("redacted_thinking" | "reasoning"))
            }
            _ => false,
        }
    }
}

/// Adds what has arrived of a reply to its blocks. A text is appended to the text at their end.
pub fn arrive(blocks: &mut Vec<Block>, more: Block) {
    match (blocks.last_mut(), more) {
        (Some(Block::Text { text }), Block::Text { text: more }) => text.push_str(&more),
        (_, more) => blocks.push(more),
    }
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct ToolAnswer {
    pub id: CallId,
    /// The answer's text for the model. Empty if the text is in the file `output` and has not been loaded.
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub failed: bool,
    /// Whether a command that the call ran or waited for ended badly. Unlike a failure, the model is told so in the
    /// text only.
    #[serde(default)]
    pub fault: bool,
    /// Whether the text tells a decision of the user: a verdict on an edit, or why a call may not run.
    #[serde(default)]
    pub verdict: bool,
    /// Whether the user's last verdict, which the model got in a note, is the opposite of what `failed` says. The
    /// summary is that of the last verdict.
    #[serde(default)]
    pub reversed: bool,
    /// A few words for the right end of the tool's line in the chat: `80 lines`, `2 hunks · 1 rejected`.
    #[serde(default)]
    pub summary: String,
    /// The file, stored beside the session's file, that contains the text if it is long. Then the session's file does
    /// not contain the text.
    #[serde(default)]
    pub output: Option<String>,
    /// The images that go with the text. The text says in words which images they are.
    #[serde(default)]
    pub images: Vec<Image>,
    /// The number of the background job whose end the text reports.
    #[serde(default)]
    pub job_end: Option<u32>,
    /// Where the text comes from, if a stranger may have written it.
    #[serde(default)]
    pub foreign: Option<Foreign>,
    /// The questions that the call has asked, until the user closes them without an answer.
    #[serde(default)]
    pub inquiry: Option<Box<Inquiry>>,
    /// The session in which a subagent worked on the call.
    #[serde(default)]
    pub session: Option<String>,
    /// What the call changes in each file.
    #[serde(default)]
    pub diff: Vec<FileDiff>,
    #[serde(default)]
    pub shown: Option<Box<Aside>>,
    /// The command that the user has put in the place of the call's.
    #[serde(default)]
    pub changed: Option<String>,
}

impl ToolAnswer {
    pub fn done(call: &CallId, text: String, summary: impl Into<String>) -> ToolAnswer {
        ToolAnswer { id: call.clone(), text, summary: summary.into(), ..ToolAnswer::default() }
    }

    pub fn failed(call: &CallId, text: String, summary: impl Into<String>) -> ToolAnswer {
        ToolAnswer { failed: true, ..ToolAnswer::done(call, text, summary) }
    }
}

/// A labelled piece of text from a file, a buffer or a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Excerpt {
    /// The path as the user would write it: relative to the project's root if it lies in the project.
    pub path: String,
    /// The first and the last line, from 1, inclusive. If absent, the excerpt is the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub filetype: String,
    #[serde(default)]
    pub kind: ExcerptKind,
    pub text: String,
    /// A few words for the model and the user: what was cut from the text, or why there is no text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The keyword in the message that brought the excerpt, for example `buffer`, or the slash command that the user
    /// typed, for example `/review main`; mostly empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub keyword: String,
    /// Of a command: the tools that the model may call in the command's turn, such as `read` or `shell(git add)`. Empty
    /// if the command allows all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The image that goes with the text. The text says in words which image it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
}

impl Excerpt {
    /// Whether the program makes the excerpt from the message's text when the message is sent. If a message goes back
    /// to the composer, such an excerpt is removed, because sending makes it again.
    pub fn is_made(&self) -> bool {
        matches!(self.kind, ExcerptKind::Command | ExcerptKind::Answers) || !self.keyword.is_empty()
    }

    /// Where the text comes from, if a stranger may have written it: a page of the web, a file outside of the project,
    /// or a worker, which may have read either.
    pub fn origin(&self) -> Option<Origin> {
        use ExcerptKind::{Changes, File, Folder, Page, Result, Selection};
        match self.kind {
            Page => Some(Origin::Web(self.path.clone())),
            Result => Some(Origin::Subagent),
            File | Folder | Selection | Changes if self.path.starts_with(['/', '~']) => {
                Some(Origin::Outside(self.path.clone()))
            }
            _ => None,
        }
    }
}

/// The text that the user typed for a message with these excerpts. If the program made the message from a slash
/// command, the user typed the command.
pub fn typed(text: String, context: &[Excerpt]) -> String {
    let mut keywords = context.iter().map(|it| &it.keyword);
    keywords.find(|it| it.starts_with('/')).cloned().unwrap_or(text)
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExcerptKind {
    #[default]
    File,
    Folder,
    Selection,
    /// A file in which the user or the project tells the model how to work. The user's own file is outside of the
    /// project.
    Instructions,
    /// The names and purposes of the skills that exist.
    Skills,
    /// The names and purposes of the agents that tasks can be given to.
    Agents,
    /// The text of one skill.
    Skill,
    /// The text of the user's own slash command that the message calls, with the message's arguments in it. The program
    /// makes this excerpt from the message when the message is sent.
    Command,
    /// The changes in a file since the model last saw it, without the model's own changes.
    Changes,
    /// A change under review, as a diff. The message that has this excerpt is the user's comment on the change.
    Hunk,
    /// The text of a buffer that shows no file.
    Buffer,
    /// A list in the editor: of the open files, the quickfix list, a location list.
    List,
    Diagnostics,
    Diff,
    Clipboard,
    /// A web page. The excerpt's path is the page's address.
    Page,
    /// The user's answers to the model's questions. The program makes this excerpt. It has the model's words too, so
    /// its text is never taken for words of the user.
    Answers,
    /// A plan, as the user approves it or sends it back.
    Plan,
    /// Lines of a plan that is sent back, with the user's comment on them.
    Remark,
    /// The result of a worker, if its coordinator has not read the result with a tool.
    Result,
}

/// Why a model stopped. A reason that the program does not know becomes `Unknown`; it never counts as a normal end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    EndTurn,
    ToolUse,
    MaxTokens,
    StopSequence,
    Pause,
    Refusal,
    ContextExceeded,
    /// The user stopped the turn. The part of the reply that had arrived is kept.
    Cancelled,
    Unknown(String),
}

/// Token counts of the provider. `input` excludes tokens that were read from or written to a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    #[serde(deserialize_with = "count")]
    pub input: u64,
    #[serde(deserialize_with = "count")]
    pub output: u64,
    #[serde(default, deserialize_with = "count")]
    pub cache_read: u64,
    #[serde(default, deserialize_with = "count")]
    pub cache_write: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input = sum(&[self.input, other.input]);
        self.output = sum(&[self.output, other.output]);
        self.cache_read = sum(&[self.cache_read, other.cache_read]);
        self.cache_write = sum(&[self.cache_write, other.cache_write]);
    }
}

impl Usage {
    /// The same counts, each reduced to at most 2^52.
    #[must_use]
    pub fn fitting(self) -> Usage {
        let Usage { input, output, cache_read, cache_write } = self;
        let [input, output, cache_read, cache_write] =
            [input, output, cache_read, cache_write].map(|it| sum(&[it]));
        Usage { input, output, cache_read, cache_write }
    }

    /// The number of tokens of the request, whether read from a cache or not.
    #[must_use]
    pub fn read(&self) -> u64 {
        sum(&[self.input, self.cache_read, self.cache_write])
    }

    /// The number of tokens of the request and the reply.
    #[must_use]
    pub fn total(&self) -> u64 {
        sum(&[self.read(), self.output])
    }
}

/// The sum of the counts, at most 2^52: a provider may send any count, and a floating-point number is exact only up to
/// 2^53.
fn sum(counts: &[u64]) -> u64 {
    counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count)).min(1 << 52)
}

/// Reads a count from a file. The file may contain any number, so the count is reduced to at most 2^52.
pub fn count<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    Ok(sum(&[u64::deserialize(from)?]))
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub blocks: Vec<Block>,
    pub stop: Stop,
    #[serde(default)]
    pub usage: Usage,
    /// The name that the provider gave the answering model; empty if it gave none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The model that was asked, as `provider/model`. Decoders leave this empty; the agent sets it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
}

impl Reply {
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            _ => None,
        })
    }
}

/// How hard a model should think before it answers, as the user chooses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    Off,
    Low,
    Medium,
    High,
    Max,
}

/// How a request asks for thinking, in the form that the model accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    Off,
    /// The model may think for at most this many tokens.
    Budget(u32),
    /// The model decides how much it thinks, within this effort; never `Off`.
    Adaptive(Effort),
    /// The model thinks with this effort; never `Off`.
    Named(Effort),
}

/// One request, which can be encoded for any provider. `messages` has no `Role::System` and no `Role::Note`; excerpts
/// and notices have become texts. The message after a reply answers the reply's calls, in order. No text is empty. All
/// thoughts and raw blocks come from the model that is asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    pub model: String,
    pub system: String,
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSpec>,
    /// Whether the provider may search the web by itself.
    pub searches: bool,
    /// The most tokens of the reply.
    pub max_tokens: u32,
    /// `None` leaves the choice to the model.
    pub thinking: Option<Thinking>,
    /// `None` leaves the choice to the model. Always `None` if the model does not accept a temperature.
    pub temperature: Option<f64>,
    /// The size of the context window in tokens, for a server that lets each request set it (Ollama).
    pub num_ctx: Option<u32>,
    /// A key that identifies the conversation, for providers that cache each conversation separately. The key reveals
    /// nothing about the user.
    pub thread: String,
    /// A text after the last message. It is part of this request only. Empty if there is none.
    pub tail: String,
    /// The parameters that the server has refused in earlier requests to this model.
    pub without: BTreeSet<Parameter>,
    /// Whether the model is told of its tools in the text, and its calls are read from its text.
    pub calls_as_text: bool,
    /// The images that the server takes.
    pub sight: Sight,
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub purpose: String,
    /// JSON Schema of the arguments: an object.
    pub schema: Value,
}
