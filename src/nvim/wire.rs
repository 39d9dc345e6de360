//! The messages between the editor and the program. The Lua types in `lua/caliban/program/wire/` are generated from
//! these types and their doc comments, see `lua`.
//!
//! A text is one string: its lines joined by `\n`, without a newline at the end. `eol` says whether the file's last
//! line ends in a newline. Lines are counted from 0, and ranges are half open, unless the field says otherwise.

mod chats;
mod codec;
mod complete;
mod config;
mod files;
mod jobs;
#[cfg(test)]
mod lua;
mod permissions;
mod questions;
mod plan;
mod reports;
mod servers;
mod todo;
mod verdict;
mod workers;

pub use chats::*;
pub(super) use codec::to_utf8;
pub use complete::*;
pub use config::*;
pub use files::*;
pub use jobs::*;
pub use permissions::*;
pub use plan::*;
pub use questions::*;
pub use servers::{CheckState, Checked, Consult, Found, Unparsed};
pub use todo::*;
pub use verdict::{
    Left, ProposedText, Reason, Reviewed, UnderReviewAgain, WireFormatting, WireWhole,
};
pub use workers::{ChosenMode, WorkerMessage};

use crate::conversation::report::{Level, Status};
use crate::event::SessionId;
use crate::message::Excerpt;
use crate::provider::key::Secret;
use crate::tool::scene::Part;
use crate::view::BlockUpdate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A message from the editor: a notification with this table as its only argument.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FromNvim {
    Hello(Box<Hello>),
    /// A message that could not be read.
    #[serde(skip)]
    Unread {
        kind: String,
        why: String,
    },
    /// Opens a session. The answer is a `session` message, then the transcript as `paint` messages.
    Open {
        /// If absent, the program opens the session of this project that was used last, or `main`.
        session: Option<SessionId>,
    },
    /// Opens a session without showing it, because its turn was interrupted or it has reviews. Sent when Neovim starts.
    Look {
        session: SessionId,
    },
    /// Begins a new session. The current session stays as it is.
    New {
        /// If absent, the program makes a name.
        name: Option<String>,
        /// The session is never saved.
        ephemeral: bool,
        /// The named agent that the session is.
        agent: Option<String>,
    },
    /// A message of the user to the model.
    Send {
        session: SessionId,
        text: String,
        context: Vec<Excerpt>,
        /// Whether the message goes with the next request of the running turn, instead of waiting for the end of the
        /// turn.
        steer: bool,
    },
    /// Takes a message back out of the queue.
    Unqueue {
        session: SessionId,
        id: u32,
        /// Whether the message goes back into the composer.
        #[serde(default)]
        edit: bool,
    },
    /// Sends messages that were in the queue when the session was opened. They are held back until the user sends them.
    SendHeld {
        session: SessionId,
        /// The message to send. If absent, all of these messages are sent.
        id: Option<u32>,
    },
    /// The unsent text of the composer.
    Draft {
        session: SessionId,
        text: String,
        context: Vec<Excerpt>,
    },
    /// Stops the running turn.
    Stop {
        session: SessionId,
    },
    /// The user's answer to an open question.
    Rule {
        session: SessionId,
        call: String,
        ruling: WireRuling,
        reason: String,
        /// Runs this command in place of the one that the question is about.
        command: Option<String>,
    },
    /// Opens or closes a block of the transcript, or a fold of a question.
    Toggle {
        session: SessionId,
        block: u32,
        /// The index of the fold's line in the question's block.
        #[serde(default)]
        line: u32,
    },
    /// Sends a failed request again now, without waiting for the end of the pause.
    Retry {
        session: SessionId,
    },
    /// A text that a verdict has called unsaved may be saved or gone.
    LookAgain {
        session: SessionId,
    },
    /// Sets the model and its settings.
    SetModel {
        session: SessionId,
        /// `provider/model`, then settings such as `thinking=high`; or settings only.
        model: String,
    },
    /// Sets the mode, which applies from the model's next call on.
    SetMode {
        session: SessionId,
        /// If absent, the mode after the current one is chosen.
        mode: Option<ChosenMode>,
    },
    /// Asks for a list of all models. The answer is `models`.
    ListModels {
        session: SessionId,
    },
    /// The user wants to enter a provider's key. The answer is `connect`.
    AskForKey {
        /// If absent, the user chooses a provider from a list.
        provider: Option<String>,
    },
    /// The user has entered a provider's key.
    GiveKey {
        provider: String,
        key: Secret,
    },
    /// Asks for the last request as it was sent. The answer is `request`.
    ShowRequest {
        session: SessionId,
    },
    ListSessions(ListSessions),
    PeekSession(PeekSession),
    RenameSession(RenameSession),
    ForkSession(ForkSession),
    DeleteSession(DeleteSession),
    ExportSession(ExportSession),
    Rewind(RewindWanted),
    Undo(UndoWanted),
    Permissions(PermissionsWanted),
    Plan(PlanMessage),
    Jobs(JobsWanted),
    Worker(WorkerMessage),
    Respond(Respond),
    Todo(TodoWanted),
    Claim(Claim),
    Yield(Yield),
    Arrived(Arrived),
    Reviewed(Reviewed),
    Left(Left),
    UnderReviewAgain(UnderReviewAgain),
    Found(Found),
    Checked(Checked),
    Unparsed(Unparsed),
    /// The user has entered a composer. The program begins to list the files of the project for completion.
    Prepare,
    Complete(Complete),
    Weigh(Weigh),
}

/// The handshake: the first message, sent once. The answer is `welcome`.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hello {
    /// The plugin's version.
    pub version: String,
    /// Neovim's version.
    pub nvim: String,
    pub cwd: PathBuf,
    /// Absolute paths of the files that are under review.
    pub reviews: Vec<PathBuf>,
    /// The local leader, as the user types it.
    pub leader: String,
    pub config: WireConfig,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WireRuling {
    Once,
    Session,
    /// Allows the call, and stores the rule that the question offers.
    Always,
    Deny,
}

/// A proposal was put into its buffer, or could not be put there.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Arrived {
    pub id: u32,
    pub state: ArrivedState,
    /// How many hunks of the proposal are pending; 0 unless the state is `entered`.
    pub hunks: u32,
    /// If the proposal was written at once: why the text is not on disk, or the empty string if it is on disk.
    pub unsaved: Option<String>,
    /// If the state is `moved`: the file's current text; absent if there is no such file. If the state is `entered`:
    /// the buffer's text, if the user's autocommands changed it when it was written.
    pub text: Option<String>,
    #[serde(default)]
    pub eol: bool,
    /// The file's 'fileformat' is `dos`.
    #[serde(default)]
    pub dos: bool,
    #[serde(default)]
    pub bom: bool,
    /// The reason for a refusal, worded as the end of a sentence for the model.
    #[serde(default)]
    pub why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ArrivedState {
    /// The proposal is in the buffer.
    Entered,
    /// The file's text is no longer the text from which the proposal was made.
    Moved,
    Refused,
    /// Another proposal of the group could not be put into its buffer, so no proposal of the group was.
    Withheld,
    /// The turn was stopped before the proposal was in the buffer.
    Stopped,
}

/// A message to the editor: a request with this table as its only argument. The program sends the next message after
/// the editor has answered the request.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToNvim {
    /// The answer to `hello`.
    Welcome {
        /// The program's version.
        version: String,
    },
    /// A session was opened in this program and needs buffers. Its transcript follows as `paint` messages.
    Session {
        session: SessionId,
        /// The session that could not be opened; this session was opened in its place.
        #[serde(skip_serializing_if = "Option::is_none")]
        instead: Option<SessionId>,
        /// The project's root.
        root: PathBuf,
        /// The session is never saved.
        ephemeral: bool,
        /// The session can only be read here.
        reading: bool,
        /// The names of the stored reviews that the editor may reopen.
        reviews: Vec<String>,
        /// The user asked for this session: the chat shows it instead of the current one.
        show: bool,
        draft: String,
        draft_context: Vec<Excerpt>,
    },
    /// Changes to the transcript.
    Paint {
        session: SessionId,
        /// The transcript is emptied first.
        reset: bool,
        /// More messages follow with blocks that are above the blocks painted so far.
        above: bool,
        /// The program's clock, in milliseconds.
        now: u64,
        updates: Vec<BlockUpdate>,
    },
    /// The state of a session.
    Status {
        session: SessionId,
        #[serde(flatten)]
        status: Status,
    },
    /// Proposals for the user's review. The editor answers at once; an `arrived` message follows for each proposal.
    Propose {
        /// The session of the turn; for a worker's proposals, the worker's session.
        session: SessionId,
        /// The session in which the proposals are reviewed: for a worker's proposals its parent, otherwise the session
        /// of the turn.
        owner: SessionId,
        turn: u32,
        proposals: Vec<WireProposal>,
    },
    /// Asks for a buffer's text. The answer is a `BufferText`.
    Read {
        /// The absolute path.
        path: PathBuf,
        /// The file on disk is not UTF-8: the answer has the text as Neovim decodes it.
        decode: bool,
        /// The answer has the text of a loaded buffer even if the buffer is not modified.
        unmodified: bool,
    },
    /// Asks what the user has in a part of the editor, for example which files are open. The answer is a `Scene`.
    Survey {
        part: Part,
    },
    /// Asks for the paths of the loaded, modified file buffers. The answer is a list.
    Changed,
    /// Asks which version of each file's text the editor has. The answer is a list of strings that change with the
    /// text. A string is empty if the file's text is the one on disk, and `undecided` if the text has pending changes.
    Stamps {
        /// Absolute paths.
        paths: Vec<PathBuf>,
    },
    /// Asks which texts the buffers of these files hold. The answer is a list of `HeldText`, in the order of the paths.
    HeldTexts {
        /// Absolute paths.
        paths: Vec<PathBuf>,
    },
    /// Asks how the user has decided so far on changes of a file that are written already. The answer is a
    /// `PartlyDecided`.
    DecidedSoFar {
        /// The absolute path.
        path: PathBuf,
    },
    /// Asks to save the modified files without pending changes. The answer is a list of the files that are still
    /// unsaved.
    Save {
        /// Absolute paths.
        paths: Vec<PathBuf>,
        /// The paths that the user has agreed to save although they have unsaved text of the user's own.
        agreed: Vec<PathBuf>,
    },
    /// The program has stopped a turn. Proposals of the turn that still wait must not be put into their buffers.
    Halt {
        session: SessionId,
        turn: u32,
    },
    /// A question to the language servers. The editor answers at once; the servers' answer follows as `found`.
    Consult(Consult),
    /// A message was not sent: its text goes back into the composer.
    Bounce {
        session: SessionId,
        text: String,
        context: Vec<Excerpt>,
        why: String,
    },
    /// All models, for the user's choice.
    Models {
        session: SessionId,
        /// The models. Each name is `provider/model`.
        models: Vec<Offer>,
        /// A sentence for each provider that could not be asked.
        problems: Vec<String>,
    },
    /// Asks the user for a key.
    Connect {
        /// If absent, the user chooses one of `providers`.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        providers: Vec<Offer>,
    },
    Completed(Completed),
    Weighed(Weighed),
    Sessions(Sessions),
    Peeked(Peeked),
    Held(Held),
    Renamed(Renamed),
    Deleted(Deleted),
    Copied(Copied),
    History(History),
    Exit(Exit),
    Comments(Comments),
    Uncomment(Uncomment),
    Turns(Turns),
    Undo(Undo),
    Permissions(Permissions),
    PlanOpened(PlanOpened),
    Jobs(Jobs),
    Agents(Agents),
    Skills(Skills),
    Todo(Todo),
    Preview(Preview),
    /// Asks to change, delete or rename one file without a review. The answer is a `Restored`.
    Restore {
        file: WireProposal,
    },
    /// The program has written this file.
    Refresh {
        /// The absolute path.
        path: PathBuf,
    },
    /// A command of the model's begins or has ended. After its end, the buffers take over what it has changed on disk. The
    /// editor answers when this is done.
    Command {
        ended: bool,
        /// Whether it goes on in the background. Then the buffers take over its changes while it runs too.
        is_job: bool,
        /// The files that it has renamed: their new paths, by the former ones.
        moved: BTreeMap<PathBuf, PathBuf>,
    },
    /// The last request as it was sent.
    Request {
        session: SessionId,
        /// The request's address and headers, without the key.
        about: String,
        /// Indented JSON.
        body: String,
    },
    /// A sentence for the user.
    Notice {
        level: Level,
        text: String,
    },
    /// A `User` autocommand for scripts.
    Event {
        /// For example `CalibanTurnStart`.
        name: &'static str,
        data: BTreeMap<&'static str, String>,
    },
}

/// A proposed change of one file.
#[expect(clippy::struct_excessive_bools, reason = "the wire has independent flags")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WireProposal {
    pub id: u32,
    /// Either all proposals of a group are put into their buffers, or none.
    pub group: u32,
    /// The model's calls that made the proposal.
    pub calls: Vec<String>,
    /// The absolute path.
    pub path: PathBuf,
    /// The file is new.
    pub create: bool,
    /// The hash of the text from which the proposal was made (`Text::hash_of_parts`); empty for a new file.
    pub sha: String,
    /// The hunks in ascending order.
    pub hunks: Vec<WireHunk>,
    /// The last line of the proposed text ends in a newline.
    pub eol: bool,
    /// The lines of a new file end in CR LF.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dos: bool,
    /// A new file begins with a byte order mark.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bom: bool,
    /// The text is written as soon as it is in the buffer.
    pub at_once: bool,
    /// The file is not text: the proposal can only delete or rename it.
    pub binary: bool,
    /// Deletes or renames the file, without any hunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<WireWhole>,
    /// The file's new path, absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WireHunk {
    /// The first line that is replaced.
    pub start: u32,
    /// How many lines are replaced.
    pub count: u32,
    /// The new lines.
    pub text: String,
    /// How many new lines there are. With 0, `text` is empty.
    pub n: u32,
}
