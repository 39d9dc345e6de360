//! The result of a turn that nobody attended.

use crate::event::{End, Mode};
use crate::session::{self, Unattended};
use crate::text::unseen;
use crate::view::grouped;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ran {
    pub exit: Exit,
    /// The text of the model's last reply.
    pub answer: String,
    /// Why the turn did not end by itself; absent if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The questions that nobody answered.
    pub denied: Vec<String>,
    pub mode: Mode,
    /// The files that are not as they were before the turn.
    pub files: Vec<Changed>,
    /// Why changes may be missing in `files`, and what commands did with commits: sentences for the user.
    pub gaps: Vec<String>,
    pub spent: Spent,
}

/// How the turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    Answered,
    /// The provider or the network failed, or no complete answer arrived.
    Failed,
    /// The model answered, but a call was denied because nobody could be asked.
    Denied,
    Limit,
    /// The model wrote its calls as text, so they did not run.
    CallsAsText,
    Interrupted,
}

impl Exit {
    pub fn of(it: &Unattended) -> Exit {
        match &it.end {
            Some(End::Cancelled | End::Interrupted | End::Copied) | None => Exit::Interrupted,
            Some(_) if it.limit.is_some() => Exit::Limit,
            Some(_) if it.wrote_calls => Exit::CallsAsText,
            Some(End::Failed(_) | End::Stopped(_)) => Exit::Failed,
            Some(End::Done) if it.denied.is_empty() => Exit::Answered,
            Some(End::Done) => Exit::Denied,
        }
    }

    /// The exit code of the program.
    pub fn code(self) -> u8 {
        match self {
            Exit::Answered => 0,
            Exit::Failed => 1,
            Exit::Denied => 3,
            Exit::Limit => 4,
            Exit::CallsAsText => 5,
            Exit::Interrupted => 130,
        }
    }
}

/// A file that the turn changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Changed {
    /// The path as the user would write it.
    pub path: String,
    pub how: How,
    /// Whether a command of the model changed the file.
    pub by_command: bool,
    /// The change in the format of git; empty if there is no diff.
    pub diff: String,
    /// Why there is no diff: a clause. Absent if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_diff: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum How {
    Added,
    Changed,
    Deleted,
    Renamed,
}

/// What the turn has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Spent {
    /// Tokens of the requests, cached ones included.
    pub input: u64,
    pub output: u64,
    /// In USD; absent if no price is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

impl Changed {
    /// The path with what happened to the file.
    fn name(&self) -> String {
        let how = match self.how {
            How::Added => "new",
            How::Changed if self.by_command && self.no_diff.is_some() => "changed by a command",
            How::Changed => "",
            How::Deleted => "deleted",
            How::Renamed => "renamed",
        };
        let no_diff = self.no_diff.as_ref().map(|it| format!("no diff: {it}"));
        let about = [Some(how.to_owned()).filter(|it| !it.is_empty()), no_diff];
        let about: Vec<String> = about.into_iter().flatten().collect();
        let path = unseen::name(&self.path);
        if about.is_empty() { path.into_owned() } else { format!("{path} ({})", about.join(", ")) }
    }
}

impl Ran {
    /// The sentence for the user about the end of a turn that did not end by itself.
    pub fn problem_of(it: &Unattended) -> Option<String> {
        it.end.as_ref().and_then(session::ending_alone)
    }

    /// The summary for a person, one line each.
    pub fn summary(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.problem.clone().into_iter().collect();
        if !self.files.is_empty() {
            lines.push(format!("Files    {}", self.names()));
        }
        for it in &self.gaps {
            lines.push(format!("Note     {it}"));
        }
        for it in &self.denied {
            lines.push(format!("Denied   {it}"));
        }
        if !self.denied.is_empty() {
            lines.push(self.advice());
        }
        let Spent { input, output, usd } = self.spent;
        let cost = usd.map(|it| format!(" · ${it:.4}")).unwrap_or_default();
        lines.push(format!("Tokens   {} in, {} out{cost}", grouped(input), grouped(output)));
        lines
    }

    fn advice(&self) -> String {
        let edits = match self.mode {
            Mode::Plan | Mode::Ask => {
                " Use `--mode auto-edit` to have edits written without a review."
            }
            Mode::AutoEdit | Mode::Auto => "",
        };
        format!("         Nobody could be asked.{edits} Rules in `permissions` can allow calls.")
    }

    fn names(&self) -> String {
        self.files.iter().map(Changed::name).collect::<Vec<_>>().join(", ")
    }

    /// The changes of all files, in the format of git.
    pub fn diff(&self) -> String {
        self.files.iter().map(|it| it.diff.as_str()).collect()
    }
}
