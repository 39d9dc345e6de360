//! The model's tools, each in a file of its own, and sets of tools. The system prompt and the tools in a request are
//! made from a set.

pub mod clip;
pub mod comment;
pub mod confinement;
pub mod diagnostics;
pub mod disk;
pub mod environment;
pub mod formatter;
pub mod front;
pub mod git;
pub mod image;
pub mod jobs;
pub mod lsp;
pub mod path;
pub mod pdf;
pub mod scene;
pub mod skills;
pub mod submit_plan;
pub mod task;
pub mod todo;
pub mod tree;
pub mod walk;
pub mod workers;
pub mod worktree;

mod allowed;
mod announced;
mod ask;
mod call;
mod code_action;
mod command;
mod definition;
mod delete;
mod desk;
mod edit;
mod fetch;
mod format;
mod glob;
mod grep;
mod hover;
mod job;
mod job_input;
mod lines;
mod list;
mod mcp;
mod named;
mod patch;
mod planted;
pub use planted::last_looks;
mod process;
mod read;
mod references;
mod rename;
mod rename_symbol;
mod schema;
mod set;
mod shell;
mod skill;
mod symbols;
mod table;
mod usable;
mod web_search;
mod work;
mod workspace;
mod write;
#[cfg(test)]
pub mod tests;

pub use allowed::{Consented, Resolved, resolved, savable};
pub use announced::Announced;
pub use call::{Call, Calls, Ran, run, short};
pub use desk::{Desk, Seen};
pub use set::Toolset;
pub use table::{own, searching, serving};
use work::typed;
pub use work::{
    Acting, Author, Deed, Done, Fetching, Reading, Reads, Run, Running, Searching, Tool, Work,
    runner,
};
pub use workspace::{Arrival, LIMIT, Moved, Source, Stamp, Unreadable, Workspace, seen};
