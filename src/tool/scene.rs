//! What the user has in the editor: the buffer that they work in, its selection, lists, the clipboard.

use futures::FutureExt;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// A part of what the user has in the editor. Here `the buffer` means the buffer in the last window that was not a chat
/// window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Buffer,
    /// The open files; the one that was used last comes first.
    Buffers,
    /// The last visual selection in the buffer.
    Selection,
    Quickfix,
    /// The location list of the buffer's window.
    Loclist,
    Clipboard,
}

/// One buffer, one entry of a list, or the clipboard.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Thing {
    /// The absolute path of a file, or the name of a buffer without a file. May be empty.
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub is_file: bool,
    /// The first and the last line, from 1, inclusive.
    #[serde(default)]
    pub lines: Option<(u32, u32)>,
    #[serde(default)]
    pub filetype: String,
    /// The text. Absent for a whole file, which the program reads itself.
    #[serde(default)]
    pub text: Option<String>,
    /// The full number of lines, if `text` has fewer.
    #[serde(default)]
    pub total: Option<u32>,
}

/// The editor's answer to the question about a part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Scene {
    #[serde(default)]
    pub things: Vec<Thing>,
    /// How many things there are besides the listed ones.
    #[serde(default)]
    pub more: u32,
    /// Why there is nothing, as a sentence for the user.
    #[serde(default)]
    pub why: String,
}

/// The answer of a workspace without an editor.
pub fn absent<'a>() -> BoxFuture<'a, Result<Scene, String>> {
    std::future::ready(Err("There is no editor.".to_owned())).boxed()
}
