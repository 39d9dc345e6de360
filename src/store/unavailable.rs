//! Why a session cannot be opened, and the Neovim that has a session open.

use crate::clock;
use crate::text::cause;
use std::io;

/// The Neovim that has a session open, as the lock file describes it. A fact that is not in the lock file is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holder {
    /// The process, and the time at which it locked the session.
    pub by: String,
    /// The address on which that Neovim listens.
    pub server: String,
}

impl Holder {
    /// The text of a lock file for this program: the Neovim that started this program, and the current local time of
    /// the user.
    pub(super) fn this_program() -> String {
        let now = clock::minute();
        let server = std::env::var("NVIM").unwrap_or_default();
        format!("process {}, since {now}\n{server}\n", std::os::unix::process::parent_id())
    }

    /// Reads the text of a lock file. Control characters are removed, so that a forged text cannot disturb the display.
    pub(super) fn parse(text: &str) -> Holder {
        let (by, server) = text.split_once('\n').unwrap_or((text, ""));
        let plain = |text: &str, most| -> String {
            text.chars().filter(|it| !it.is_control()).take(most).collect()
        };
        Holder { by: plain(by, 80), server: plain(server, 4096) }
    }
}

/// Why a session cannot be opened. The session's files are left unchanged.
#[derive(Debug)]
pub enum Unavailable {
    /// Another Neovim has the session open.
    Locked(Holder),
    Damaged(String),
    Newer(u32),
    Io(io::Error),
}

impl Unavailable {
    /// The reason as one sentence for the user.
    pub fn say(&self, name: &str) -> String {
        match self {
            Unavailable::Locked(Holder { by, .. }) if by.is_empty() => {
                format!("The conversation `{name}` is open in another Neovim.")
            }
            Unavailable::Locked(Holder { by, .. }) => {
                format!("The conversation `{name}` is open in another Neovim ({by}).")
            }
            Unavailable::Damaged(why) => {
                format!(
                    "The file of the conversation `{name}` is damaged ({why}) and was left as it is."
                )
            }
            Unavailable::Newer(version) => format!(
                "The conversation `{name}` was written by a newer Caliban (format {version}) and was left as it is."
            ),
            Unavailable::Io(error) => {
                format!("The conversation `{name}` cannot be opened: {}.", cause(error))
            }
        }
    }
}
