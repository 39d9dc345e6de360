//! What a model reads and writes, in no provider's dialect. These types are also the session file:
//! their JSON is meant to be read, edited and diffed by a person.

mod parameter;

pub use parameter::Parameter;

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// A tool call's id as the provider gave it (or as we made it, where it gave none).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    System,
    User,
    Assistant,
    /// Shown in the chat, never sent to a model.
    Note,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    /// The model whose reply it is, as `provider/model`, to which alone its thoughts and raw blocks go back; empty
    /// for all else, and where the provider refused them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    pub blocks: Vec<Block>,
}

impl Message {
    /// A message that is no model's.
    pub fn new(role: Role, blocks: Vec<Block>) -> Message {
        Message { role, by: String::new(), blocks }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    Text {
        text: String,
    },
    /// A model's reasoning. `signature` is the provider's proof, replayed verbatim to the same model only.
    Thinking {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A file, a range or a selection that goes along with a user's message.
    Excerpt(Excerpt),
    Call(ToolCall),
    Answer(ToolAnswer),
    /// Something the program tells the model between turns (a late verdict, an interruption).
    Notice {
        text: String,
    },
    /// A provider's own block, kept verbatim for replay to the same model, in its place: what signs another
    /// block stands right behind it. `provider` is the name of the dialect that made it.
    Raw {
        provider: String,
        value: Value,
    },
}

impl Block {
    /// Whether it is a model's thought, in our form or in the provider's.
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    pub tool: String,
    pub input: Input,
}

/// A call's arguments. Broken JSON is kept as it came: it is never executed and is shown as cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    Json(Value),
    /// The text as it came, and what the parser said of it.
    Broken {
        text: String,
        why: String,
    },
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ToolAnswer {
    pub id: CallId,
    /// What the model reads. Empty where it stands in `output` and has not been read from there yet.
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub failed: bool,
    /// A few words for the right end of the tool's line in the chat: `80 lines`, `2 hunks · 1 rejected`.
    #[serde(default)]
    pub summary: String,
    /// The file beside the session that holds the text where that is long; it is not written elsewhere then.
    #[serde(default)]
    pub output: Option<String>,
}

impl Serialize for ToolAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("ToolAnswer", 4)?;
        fields.serialize_field("id", &self.id)?;
        match &self.output {
            Some(file) => fields.serialize_field("output", file)?,
            None => fields.serialize_field("text", &self.text)?,
        }
        if self.failed {
            fields.serialize_field("failed", &true)?;
        }
        if !self.summary.is_empty() {
            fields.serialize_field("summary", &self.summary)?;
        }
        fields.end()
    }
}

/// A labelled piece of text from a file, a buffer or a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// As the user would write it: relative to the project root where it lies within.
    pub path: String,
    /// First and last line, from 1, inclusive; `None` for the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub filetype: String,
    #[serde(default)]
    pub kind: ExcerptKind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExcerptKind {
    #[default]
    File,
    Folder,
    Selection,
    /// A file in which the user or the project says how to work. The user's own stands outside the project.
    Instructions,
    /// The names of the skills there are, and what they are for.
    Skills,
    /// The text of one.
    Skill,
    /// What became of a file since the model saw it last, not by its doing.
    Changes,
    /// A change under review, as a diff: the message is the user's comment on it.
    Hunk,
}

/// Why a model stopped. Never maps the unknown to the ordinary.
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
    /// The user stopped the turn; what had arrived is kept.
    Cancelled,
    Unknown(String),
}

/// Tokens, as the provider counted them. `input` excludes what was read from or written to a cache.
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
    /// The same with each count cut to its limit; see `count`.
    #[must_use]
    pub fn fitting(self) -> Usage {
        let Usage { input, output, cache_read, cache_write } = self;
        let [input, output, cache_read, cache_write] =
            [input, output, cache_read, cache_write].map(|it| sum(&[it]));
        Usage { input, output, cache_read, cache_write }
    }

    /// Tokens that were read, from the cache or not.
    #[must_use]
    pub fn read(&self) -> u64 {
        sum(&[self.input, self.cache_read, self.cache_write])
    }

    /// All tokens that were read and written.
    #[must_use]
    pub fn total(&self) -> u64 {
        sum(&[self.read(), self.output])
    }
}

/// Counts are the provider's, and any number may come: what no double holds is cut.
fn sum(counts: &[u64]) -> u64 {
    counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count)).min(1 << 52)
}

/// Reads a count from a file, which may hold any number.
pub fn count<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    Ok(sum(&[u64::deserialize(from)?]))
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub blocks: Vec<Block>,
    pub stop: Stop,
    #[serde(default)]
    pub usage: Usage,
    /// The model that answered, as the provider named it; empty where it said nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The model that was asked, as `provider/model`; a decoder leaves it empty.
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

/// How hard a model is to think before it answers, in the user's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    Off,
    Low,
    Medium,
    High,
    Max,
}

/// What a request says of thinking, in the terms its model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    Off,
    /// At most so many tokens.
    Budget(u32),
    /// As much as the model sees fit, within an effort; never `Off`.
    Adaptive(Effort),
    /// By a named effort; never `Off`.
    Named(Effort),
}

/// One request, ready for any dialect. `messages` never holds `Role::System` or `Role::Note`, excerpts and
/// notices are texts in it, every call is answered by the next message, in order, no text is empty, and every
/// thought and every raw block is the asked model's own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    pub model: String,
    pub system: String,
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSpec>,
    /// Limit of the reply, in tokens.
    pub max_tokens: u32,
    /// Absent, the model does as it does by itself.
    pub thinking: Option<Thinking>,
    /// Absent too where the model takes none.
    pub temperature: Option<f64>,
    /// The window that a server which gives each model its own (Ollama) is told to give it, in tokens.
    pub num_ctx: Option<u32>,
    /// Names the conversation to caches that are kept apart by it. Says nothing about the user.
    pub thread: String,
    /// What the server has refused of earlier requests to this model.
    pub without: BTreeSet<Parameter>,
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub purpose: String,
    /// JSON Schema of the arguments: an object.
    pub schema: Value,
}
