//! The access that a call needs.

use super::{Grant, WorkerAct, grant};
use crate::message::Question;
use serde::{Deserialize, Deserializer, Serialize};

/// The access that a call needs. `policy` decides whether the call may run, and words the question to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reads something that needs no consent, or uses only Caliban's own data (the todo list, skills).
    Read,
    /// Reads a file or folder that may be read only with the user's consent.
    #[serde(alias = "asked_read", deserialize_with = "guarded")]
    Guarded(Guarded),
    /// Changes files of the project. `paths` has the paths as the user sees them, including a renamed file's new path;
    /// two different paths are never shown by the same text. For the renaming of a symbol, `paths` has only the file in
    /// which the model found the symbol: the language server finds the other files later.
    Edit { paths: Vec<String> },
    /// Runs this command.
    Act {
        #[serde(alias = "grant")]
        command: String,
        /// Why the command has to run outside of the sandbox, in the model's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outside: Option<String>,
        /// Whether the command runs as a background job.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        background: bool,
        /// The hosts to which the command has to connect, each with or without a port.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hosts: Vec<String>,
        /// The locked paths that the command, which is git alone, changes. They are unlocked for this command.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unlocked: Vec<String>,
    },
    /// Runs this command of the user's on the text of a file, in a sandbox that can write nothing, and proposes what
    /// the command prints as the new text.
    Format { command: String, path: String },
    /// Sends this text to the input of a job, which runs this command.
    Input {
        job: u32,
        command: String,
        text: String,
        /// Whether the job runs in a complete sandbox and can connect to no host.
        is_contained: bool,
    },
    /// Fetches this web address. `host` includes the port if it is not the usual one.
    Fetch { url: String, host: String },
    /// Sends this query to a search service at this host.
    Search { query: String, host: String },
    /// Calls a tool of a server that the user has connected.
    Remote(Remote),
    /// Ends the turn with these questions to the user.
    Ask { questions: Vec<Question> },
    /// Gives a task to a subagent, which asks for each of its own calls. `title` says in a few words which task.
    Delegate { title: String },
    /// Acts on the workers of a coordinator. Each worker asks for its own calls.
    Workers(WorkerAct),
    /// Submits a plan for the user's decision, which ends the turn.
    Plan,
    /// The call cannot run: no tool may touch the path, or a limit forbids the call. The text tells the model why.
    #[serde(alias = "refused")]
    Never(String),
    /// The call cannot run: the tool does not exist, or its arguments are wrong. The text tells the model why.
    Invalid(String),
}

/// A read that needs the user's consent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guarded {
    pub tool: String,
    /// The path as the user sees it. Two different paths are never shown by the same text.
    pub path: String,
    #[serde(default)]
    pub is_outside: bool,
    /// Why the path is protected: a clause that follows the file's name in a sentence. `None` if the path is not
    /// protected.
    #[serde(default)]
    pub why: Option<String>,
    /// The other paths of the same call that need consent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Guarded>,
}

/// A call of a server's tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// The server, as the user has named it.
    pub server: String,
    /// The tool, as the server names it.
    pub tool: String,
    /// The tool as the model calls it and as rules name it, such as `mcp__github__get_issue`.
    pub name: String,
    /// The arguments: JSON in one line.
    pub arguments: String,
    /// Whether the server says that the tool only reads. This alone allows nothing.
    #[serde(default)]
    pub only_reads: bool,
}

impl Guarded {
    /// All paths of the call that need consent.
    pub fn all(&self) -> impl Iterator<Item = &Guarded> {
        std::iter::once(self).chain(&self.others)
    }
}

impl Access {
    /// Whether the call runs a command of the model's, sends input to a running one, or has a server do something.
    /// Formatting counts as an edit.
    pub fn acts(&self) -> bool {
        matches!(self, Access::Act { .. } | Access::Input { .. } | Access::Remote(_))
    }

    pub fn reads(&self) -> bool {
        use Access::{Fetch, Guarded, Read, Search};
        matches!(self, Read | Guarded(_) | Fetch { .. } | Search { .. })
    }

    /// Whether the call ends the turn, because the user has to answer before the model goes on.
    pub fn ends_turn(&self) -> bool {
        matches!(self, Access::Ask { .. } | Access::Plan)
    }

    /// Whether the call is answered without running, in any mode.
    pub fn cannot_run(&self) -> bool {
        matches!(self, Access::Never(_) | Access::Invalid(_))
    }

    /// Whether the call changes files of the project.
    pub fn edits(&self) -> bool {
        matches!(self, Access::Edit { .. } | Access::Format { .. })
    }

    /// The call in one line for the user. `None` for a plain read, and for a call that cannot run.
    pub fn label(&self) -> Option<String> {
        match self {
            Access::Edit { paths } => {
                Some(format!("edit {}", grant::in_one_line(&paths.join(", "))))
            }
            Access::Fetch { url, .. } => Some(format!("fetch {}", grant::in_one_line(url))),
            Access::Input { job, command, text, .. } => Some(format!(
                "send {} to job {job}, {}",
                grant::in_one_line(text),
                grant::in_one_line(command)
            )),
            Access::Search { query, host } => {
                Some(format!("search {host} for {}", grant::in_one_line(query)))
            }
            Access::Remote(it) => Some(format!(
                "call {} with {}",
                grant::in_one_line(&it.name),
                grant::in_one_line(&it.arguments)
            )),
            Access::Act { hosts, .. } if !hosts.is_empty() => {
                let command: Vec<String> = self.own_grants().iter().map(Grant::label).collect();
                let command = command.join(", ");
                Some(format!("{command} with connections to {}", hosts.join(", ")))
            }
            Access::Guarded(_) | Access::Act { .. } | Access::Format { .. } => {
                let labels: Vec<String> = self.grants().iter().map(Grant::label).collect();
                Some(labels.join(", "))
            }
            Access::Delegate { title } => {
                Some(format!("give a subagent the task {}", grant::in_one_line(title)))
            }
            Access::Read
            | Access::Ask { .. }
            | Access::Workers(_)
            | Access::Plan
            | Access::Never(_)
            | Access::Invalid(_) => None,
        }
    }

    /// The grants that the user's consent for the whole session would give.
    pub fn grants(&self) -> Vec<Grant> {
        let hosts = match self {
            Access::Act { hosts, .. } => hosts.as_slice(),
            _ => &[],
        };
        let mut grants = self.own_grants();
        grants.extend(hosts.iter().cloned().map(Grant::Connect));
        grants
    }

    /// The grants for the call itself, without the hosts of a command.
    fn own_grants(&self) -> Vec<Grant> {
        match self {
            Access::Guarded(it) => {
                let grant =
                    |it: &Guarded| Grant::Read { tool: it.tool.clone(), path: it.path.clone() };
                it.all().map(grant).collect()
            }
            Access::Act { command, outside: None, .. } | Access::Format { command, .. } => {
                vec![Grant::Act(command.clone())]
            }
            Access::Act { command, outside: Some(_), .. } => vec![Grant::Outside(command.clone())],
            Access::Input { job, command, .. } => {
                vec![Grant::Input { job: *job, command: command.clone() }]
            }
            Access::Fetch { host, .. } | Access::Search { host, .. } => {
                vec![Grant::Fetch(host.clone())]
            }
            Access::Remote(it) => vec![Grant::Remote(it.name.clone())],
            Access::Read
            | Access::Edit { .. }
            | Access::Ask { .. }
            | Access::Delegate { .. }
            | Access::Workers(_)
            | Access::Plan
            | Access::Never(_)
            | Access::Invalid(_) => Vec::new(),
        }
    }

    /// Whether these grants allow the call, with all its hosts.
    pub fn is_granted(&self, grants: &[Grant]) -> bool {
        let needed = self.grants();
        !needed.is_empty() && needed.iter().all(|it| grants.contains(it))
    }

    /// Whether these grants allow the call without its hosts.
    pub fn is_granted_itself(&self, grants: &[Grant]) -> bool {
        let needed = self.own_grants();
        !needed.is_empty() && needed.iter().all(|it| grants.contains(it))
    }
}

/// Deserializes the access of a call. Journals of older versions have only the word `edit`, without the paths.
pub(super) fn access<'de, D: Deserializer<'de>>(from: D) -> Result<Access, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Word {
        Edit,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Word(Word),
        Facts(Access),
    }
    Ok(match Written::deserialize(from)? {
        Written::Word(Word::Edit) => Access::Edit { paths: Vec::new() },
        Written::Facts(it) => it,
    })
}

/// Deserializes a read that needs consent. Journals of older versions have only the question's text. This is enough,
/// because a turn that is read from a journal is not continued.
fn guarded<'de, D: Deserializer<'de>>(from: D) -> Result<Guarded, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Facts(Guarded),
        Question(#[expect(dead_code, reason = "only its shape is read")] String),
    }
    Ok(match Written::deserialize(from)? {
        Written::Facts(it) => it,
        Written::Question(_) => Guarded::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Plan;

    fn guarded(is_outside: bool, why: Option<&str>) -> Access {
        let (tool, path) = ("read".to_owned(), "/etc/hosts".to_owned());
        let why = why.map(str::to_owned);
        Access::Guarded(Guarded { tool, path, is_outside, why, others: Vec::new() })
    }

    #[test]
    fn every_access_is_read_back_as_it_was_written() {
        let all = [
            Access::Read,
            guarded(false, Some("holds keys")),
            guarded(true, None),
            Access::Edit { paths: vec!["a.rs".into(), "b.rs".into()] },
            Access::Act {
                command: "make".into(),
                outside: None,
                background: false,
                hosts: vec![],
                unlocked: vec![],
            },
            Access::Act {
                command: "make".into(),
                outside: None,
                background: true,
                hosts: vec!["a.org:443".into()],
                unlocked: vec!["AGENTS.md".into()],
            },
            Access::Format { command: "fmt".into(), path: "a.rs".into() },
            Access::Input { job: 1, command: "sh".into(), text: "a\n".into(), is_contained: true },
            Access::Fetch { url: "https://a.org/b".into(), host: "a.org".into() },
            Access::Search { query: "a b".into(), host: "a.org".into() },
            Access::Ask { questions: vec![Question::default()] },
            Access::Plan,
            Access::Never("no such tool".into()),
        ];
        for access in all {
            let plan = Plan { call: crate::message::CallId("c1".into()), access };
            let text = serde_json::to_string(&plan).unwrap();
            assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan, "{text}");
        }
    }

    #[test]
    fn the_access_of_a_call_is_read_from_journals_of_older_versions() {
        let check = |step: &str, access: Access| {
            let text = format!(r#"{{"call":"c1","step":{step}}}"#);
            assert_eq!(serde_json::from_str::<Plan>(&text).unwrap().access, access, "{text}");
        };
        check(r#""read""#, Access::Read);
        check(
            r#"{"asked_read":"Let read look at `/etc/hosts`?"}"#,
            Access::Guarded(Guarded::default()),
        );
        check(
            r#"{"asked_read":{"question":"Let read look?","tool":"read","path":"/etc/hosts"}}"#,
            guarded(false, None),
        );
        check(r#""edit""#, Access::Edit { paths: Vec::new() });
        check(
            r#"{"act":{"question":"Run `make`?","grant":"make"}}"#,
            Access::Act {
                command: "make".into(),
                outside: None,
                background: false,
                hosts: vec![],
                unlocked: vec![],
            },
        );
        check(r#"{"refused":"no such tool"}"#, Access::Never("no such tool".into()));
    }
}
