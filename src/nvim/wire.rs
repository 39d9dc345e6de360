//! What crosses between the editor and the program; the twin of `lua/caliban/program/wire.lua`, which says what
//! each field means. A test keeps the two equal.

mod chats;
mod complete;
mod config;
mod files;
mod permissions;
mod reports;
mod servers;
mod verdict;

pub use chats::*;
pub use complete::*;
pub use config::*;
pub use files::*;
pub use permissions::*;
pub use servers::{CheckState, Checked, Found};
pub use verdict::{ProposedText, Reason, Reviewed, WireFormatting};

use crate::conversation::report::{Level, Status};
use crate::event::{Mode, SessionId};
use crate::message::Excerpt;
use crate::provider::key::Secret;
use crate::tool::lsp::Aspect;
use crate::view::BlockUpdate;
use rmpv::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Everything the editor says.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FromNvim {
    Hello(Hello),
    Open {
        session: Option<SessionId>,
    },
    Look {
        session: SessionId,
    },
    New {
        name: Option<String>,
        ephemeral: bool,
    },
    Send {
        session: SessionId,
        text: String,
        #[serde(default)]
        context: Vec<Excerpt>,
        steer: bool,
    },
    Unqueue {
        session: SessionId,
        id: u32,
    },
    SendHeld {
        session: SessionId,
        id: Option<u32>,
    },
    Draft {
        session: SessionId,
        text: String,
        #[serde(default)]
        context: Vec<Excerpt>,
    },
    Stop {
        session: SessionId,
    },
    Rule {
        session: SessionId,
        call: String,
        ruling: WireRuling,
        #[serde(default)]
        reason: String,
    },
    Toggle {
        session: SessionId,
        block: u32,
        #[serde(default)]
        line: u32,
    },
    Retry {
        session: SessionId,
    },
    Model {
        session: SessionId,
        model: String,
    },
    Mode {
        session: SessionId,
        mode: Option<Mode>,
    },
    Models {
        session: SessionId,
    },
    Connect {
        provider: Option<String>,
    },
    Key {
        provider: String,
        key: Secret,
    },
    Request {
        session: SessionId,
    },
    ListSessions(ListSessions),
    RenameSession(RenameSession),
    ForkSession(ForkSession),
    DeleteSession(DeleteSession),
    ExportSession(ExportSession),
    Rewind(RewindWanted),
    Permissions(PermissionsWanted),
    Claim(Claim),
    Yield(Yield),
    Arrived(Arrived),
    Reviewed(Reviewed),
    Found(Found),
    Checked(Checked),
    Prepare,
    Complete(Complete),
}

#[derive(Debug, Clone, Deserialize)]
pub struct Hello {
    pub version: String,
    pub nvim: String,
    pub cwd: PathBuf,
    #[serde(default)]
    pub reviews: Vec<PathBuf>,
    pub leader: String,
    pub utc_offset: i32,
    pub config: WireConfig,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireRuling {
    Once,
    Session,
    Deny,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Arrived {
    pub id: u32,
    pub state: ArrivedState,
    #[serde(default)]
    pub hunks: u32,
    pub unsaved: Option<String>,
    pub text: Option<String>,
    #[serde(default)]
    pub eol: bool,
    #[serde(default)]
    pub dos: bool,
    #[serde(default)]
    pub bom: bool,
    #[serde(default)]
    pub why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrivedState {
    Entered,
    Moved,
    Refused,
    Withheld,
    Stopped,
}

/// Everything the program says.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToNvim {
    Welcome {
        version: String,
    },
    Session {
        session: SessionId,
        #[serde(skip_serializing_if = "Option::is_none")]
        instead: Option<SessionId>,
        root: PathBuf,
        ephemeral: bool,
        reading: bool,
        reviews: Vec<String>,
        show: bool,
        draft: String,
        draft_context: Vec<Excerpt>,
    },
    Paint {
        session: SessionId,
        reset: bool,
        above: bool,
        updates: Vec<BlockUpdate>,
    },
    Status {
        session: SessionId,
        #[serde(flatten)]
        status: Status,
    },
    Propose {
        session: SessionId,
        owner: SessionId,
        turn: u32,
        proposals: Vec<WireProposal>,
    },
    Read {
        path: PathBuf,
        decode: bool,
    },
    Changed,
    Stamps {
        paths: Vec<PathBuf>,
    },
    Save {
        paths: Vec<PathBuf>,
    },
    Halt {
        session: SessionId,
        turn: u32,
    },
    Consult {
        id: u32,
        session: SessionId,
        aspect: Aspect,
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<PathBuf>,
        line: u32,
        symbol: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    Bounce {
        session: SessionId,
        text: String,
        context: Vec<Excerpt>,
        why: String,
    },
    Models {
        session: SessionId,
        models: Vec<Offer>,
        problems: Vec<String>,
    },
    Connect {
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        providers: Vec<Offer>,
    },
    Completed(Completed),
    Sessions(Sessions),
    Held(Held),
    Renamed(Renamed),
    Deleted(Deleted),
    Copied(Copied),
    History(History),
    Turns(Turns),
    Permissions(Permissions),
    Preview(Preview),
    Restore {
        file: WireProposal,
    },
    Refresh {
        path: PathBuf,
    },
    Request {
        session: SessionId,
        about: String,
        body: String,
    },
    Notice {
        level: Level,
        text: String,
    },
    Event {
        name: &'static str,
        data: BTreeMap<&'static str, String>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offer {
    pub name: String,
    pub about: String,
}

#[expect(clippy::struct_excessive_bools, reason = "the wire has independent flags")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WireProposal {
    pub id: u32,
    pub group: u32,
    pub path: PathBuf,
    pub create: bool,
    pub sha: String,
    pub hunks: Vec<WireHunk>,
    pub eol: bool,
    pub at_once: bool,
    pub binary: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<WireWhole>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireWhole {
    Delete,
    Rename,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WireHunk {
    pub start: u32,
    pub count: u32,
    pub text: String,
    pub n: u32,
}

impl FromNvim {
    /// Reads a notification's one argument.
    pub fn decode(value: Value) -> Result<FromNvim, String> {
        rmpv::ext::from_value(value).map_err(|error| error.to_string())
    }
}

impl ToNvim {
    /// As a map with names: `rmpv::ext::to_value` would make arrays of the structs.
    pub fn encode(&self) -> Result<Value, String> {
        let bytes = rmp_serde::to_vec_named(self).map_err(|error| error.to_string())?;
        rmpv::decode::read_value(&mut bytes.as_slice()).map_err(|error| error.to_string())
    }
}
