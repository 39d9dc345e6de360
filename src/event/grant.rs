//! The permissions that the user has given for the rest of a session.

use crate::text::unseen;
use serde::{Deserialize, Serialize};

/// The most characters of a grant that are shown whole. Of a longer grant, the first `HEAD` and the last `TAIL`
/// characters are shown.
const WHOLE: usize = 160;
const HEAD: usize = 100;
const TAIL: usize = 40;

/// One thing that the user has allowed for a session. A grant is never saved with its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// This tool may read this path without a question. Two different paths are never written as the same text.
    Read { tool: String, path: String },
    /// This exact command may run without a question.
    Act(String),
    /// This exact command may run outside of the sandbox without a question.
    Outside(String),
    /// This job, which runs this command, may get input without a question.
    Input { job: u32, command: String },
    /// Web pages of this host may be fetched without a question. The host includes the port if it is not the usual one.
    Fetch(String),
    /// Commands in the sandbox may connect to this host, which is named with or without a port.
    Connect(String),
    /// This tool of a server, with the name by which the model calls it, may be called with any arguments.
    Remote(String),
    /// The user's programs reach this port of a job.
    Open(u16),
}

impl Grant {
    /// The grant in one line for the user. Each invisible character is spelt out.
    pub fn label(&self) -> String {
        match self {
            Grant::Read { tool, path } => {
                format!("{} may look at {}", in_one_line(tool), in_one_line(path))
            }
            Grant::Act(command) => format!("run {}", in_one_line(command)),
            Grant::Outside(command) => {
                format!("run {} outside of the sandbox", in_one_line(command))
            }
            Grant::Input { job, command } => {
                format!("send input to job {job}, {}", in_one_line(command))
            }
            Grant::Fetch(host) => format!("fetch pages of {}", in_one_line(host)),
            Grant::Connect(host) => format!("connect from the sandbox to {}", in_one_line(host)),
            Grant::Remote(tool) => format!("call {}", in_one_line(tool)),
            Grant::Open(port) => format!("open port {port} of a job on this machine"),
        }
    }
}

/// A text with each invisible character spelt out. If the text is long, its middle is left out.
pub fn in_one_line(text: &str) -> String {
    let spelt = unseen::exact(text.trim_end()).replace('\n', "[U+000A]").replace('\t', "[U+0009]");
    let count = spelt.chars().count();
    if count <= WHOLE {
        return spelt;
    }
    let head: String = spelt.chars().take(HEAD).collect();
    let tail: String = spelt.chars().skip(count - TAIL).collect();
    format!("{head} … [{} more characters] … {tail}", count - HEAD - TAIL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_of_a_permission_is_one_line_with_hidden_characters_spelt_out() {
        let act = |it: &str| Grant::Act(it.to_owned()).label();
        assert_eq!(act("git status\n"), "run git status");
        assert_eq!(act("a\nb\u{202e}c\td"), "run a[U+000A]b[U+202E]c[U+0009]d");
        let read = Grant::Read { tool: "read".into(), path: "/tmp/a\u{200b}".into() };
        assert_eq!(read.label(), "read may look at /tmp/a[U+200B]");
        let long = act(&format!("echo {} end", "x".repeat(500)));
        assert!(long.starts_with("run echo xxx") && long.ends_with("xx end"), "{long}");
        assert!(long.contains("… [369 more characters] …"), "{long}");
    }
}
