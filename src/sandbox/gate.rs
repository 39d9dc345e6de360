//! The folder of what stands in the place of git (see `tool::git::gate`). It lies among the devices, which each command
//! has anew: no command writes there, and none finds what an earlier one has left.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The folder. Commands find this program as `git` in it.
pub const FOLDER: &str = "/dev/caliban";
/// The file with what this program has to know in the place of git.
pub const ORDER: &str = "/dev/caliban/order";
/// The file by which this program, in the place of git, talks with the one outside of the sandbox.
pub const CHANNEL: &str = "/dev/caliban/channel";

/// The files that are this program for commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// The text of the file `ORDER`.
    pub order: String,
    /// The files of git itself. Each is git at `place`.
    pub covered: Vec<PathBuf>,
    /// The file outside that is `CHANNEL`, if there is one.
    pub channel: Option<PathBuf>,
}

/// The file that is git in place of the covered one with this number.
pub fn place(at: usize) -> PathBuf {
    Path::new(FOLDER).join(at.to_string()).join("git")
}
