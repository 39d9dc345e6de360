//! One permission rule.

use ignore::gitignore::Gitignore;
use std::fmt;
use std::path::Path;

/// The beginning of the names of all tools of servers.
pub(super) const REMOTE: &str = "mcp__";

/// The word of a rule that stands for any word of a command.
pub(super) const STAR: &str = "*";

/// Whether a text fits a pattern in which `*` stands for any characters.
fn is_like(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(inner) = text.strip_prefix(head).and_then(|it| it.strip_suffix(tail)) else {
        return false;
    };
    let after = |text: &'_ str, part: &str| text.find(part).map(|at| at + part.len());
    let mut left = inner;
    middle.split('*').all(|part| after(left, part).map(|at| left = &left[at..]).is_some())
}

/// Where a rule is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Settings,
    /// In the project's file. Its rules may allow only if the user has agreed to the file's text.
    Project,
    /// Stored when the user answered “always” to a question.
    Always,
    /// Caliban's own list of everyday commands.
    Safe,
    /// The field `allowed-tools` of a slash command. It limits the model and allows nothing by itself.
    Limit,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Settings => "your settings",
            Origin::Project => ".caliban/permissions.toml",
            Origin::Always => "you chose always",
            Origin::Limit => "allowed-tools",
            Origin::Safe => "an everyday command",
        })
    }
}

/// Whether a rule with this name applies to a tool of a server. `mcp__server` stands for all tools of the server, and `*`
/// for any characters.
pub(super) fn is_remote(wanted: &str, tool: &str) -> bool {
    let is_server = !wanted[REMOTE.len().min(wanted.len())..].contains("__");
    is_like(wanted, tool) || is_server && is_like(&format!("{wanted}__*"), tool)
}

/// Whether a word needs no quotes, or is the `*` of a rule.
pub(super) fn is_plain(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,^".contains(c);
    word == "*" || !word.is_empty() && word.chars().all(is_plain)
}

/// Joins words to a command. A word is quoted if bash would otherwise change it.
pub(super) fn joined(words: &[String]) -> String {
    let quoted = |it: &String| {
        if is_plain(it) { it.clone() } else { format!("'{}'", it.replace('\'', r"'\''")) }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// What a rule says about a call, from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Allow,
    Ask,
    Deny,
}

/// A rule that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub verdict: Verdict,
    pub origin: Origin,
    pub(super) target: Target,
    /// Why the user has made the rule, without a full stop; may be empty.
    pub(super) reason: String,
}

/// The calls to which a rule applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// Commands that begin with these words, where `*` stands for any word. Without words, all commands.
    Command(Vec<String>),
    /// Edits of files that match the pattern. Without a pattern, all edits.
    Edit(Option<Pattern>),
    /// Web pages of this host, where `*.` before a domain stands for its subdomains. Without a host, all pages.
    Fetch(Option<String>),
    /// Connections of sandboxed commands to one of these hosts; every connection if there are none.
    Network(Vec<String>),
    /// Tools of servers with this name, where `*` stands for any characters; `None` stands for all.
    Remote(Option<String>),
}

/// A pattern as in a `.gitignore`, relative to the project's root.
#[derive(Clone)]
pub(super) struct Pattern {
    pub(super) text: String,
    pub(super) matcher: Gitignore,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl Rule {
    pub(super) fn is_about_file(&self, path: &Path) -> bool {
        match &self.target {
            Target::Edit(None) => true,
            Target::Edit(Some(it)) => {
                it.matcher.matched_path_or_any_parents(path, false).is_ignore()
            }
            Target::Command(_) | Target::Fetch(_) | Target::Network(_) | Target::Remote(_) => false,
        }
    }

    pub(super) fn is_about_remote(&self, tool: &str) -> bool {
        match &self.target {
            Target::Remote(None) => true,
            Target::Remote(Some(wanted)) => is_remote(wanted, tool),
            _ => false,
        }
    }

    /// Whether the rule applies to this host. A rule that asks or denies applies to all ports of the host. A rule that
    /// allows applies only to the usual port.
    pub(super) fn is_about_host(&self, host: &str) -> bool {
        let Target::Fetch(wanted) = &self.target else { return false };
        let Some(wanted) = wanted else { return true };
        let name = match self.verdict {
            Verdict::Allow => host,
            Verdict::Ask | Verdict::Deny => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        match wanted.strip_prefix("*.") {
            Some(domain) => name.strip_suffix(domain).is_some_and(|it| it.ends_with('.')),
            None => wanted == name || wanted == host,
        }
    }

    /// Tells the user and the model, in a sentence, what the rule says. `what` is the part of the call to which the
    /// rule applies.
    pub(super) fn said(&self, what: &str) -> String {
        let verb = match self.verdict {
            Verdict::Allow => "allows",
            Verdict::Ask => "asks about",
            Verdict::Deny => "denies",
        };
        let reason =
            if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) };
        format!("A permission rule {verb} {what}{reason}.")
    }

    /// The rule and the place where it is written, in one line for the user.
    pub fn line(&self) -> String {
        format!("{self} ({})", self.origin)
    }

    /// What the rule says about an edit of a file: a clause that follows the file's name.
    pub fn clause(&self) -> String {
        let reason =
            if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) };
        match self.verdict {
            Verdict::Deny => {
                format!("may not be edited because of a permission rule of the user{reason}")
            }
            Verdict::Ask | Verdict::Allow => {
                format!("is reviewed first because of a permission rule{reason}")
            }
        }
    }
}

/// Shows the rule in one line, such as ``allow shell `cargo test …` ``.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        };
        match &self.target {
            Target::Command(words) if words.is_empty() => {
                write!(f, "{verdict} shell, every command")?;
            }
            Target::Command(words) => {
                let words = joined(words).replace('\n', "[U+000A]");
                write!(f, "{verdict} shell `{words} …`")?;
            }
            Target::Edit(None) => write!(f, "{verdict} edit, every file")?,
            Target::Edit(Some(it)) => write!(f, "{verdict} edit `{}`", it.text)?,
            Target::Fetch(None) => write!(f, "{verdict} fetch, every page")?,
            Target::Fetch(Some(host)) => write!(f, "{verdict} fetch `{host}`")?,
            Target::Network(hosts) if hosts.is_empty() => {
                write!(f, "{verdict} network, every host")?;
            }
            Target::Network(hosts) => write!(f, "{verdict} network `{}`", hosts.join("`, `"))?,
            Target::Remote(None) => write!(f, "{verdict} every tool of a server")?,
            Target::Remote(Some(tool)) => write!(f, "{verdict} `{tool}`")?,
        }
        if self.reason.is_empty() { Ok(()) } else { write!(f, ": {}", self.reason) }
    }
}
