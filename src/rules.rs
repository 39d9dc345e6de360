//! The user's permission rules, which allow, ask about or deny commands, edits, the fetching of web pages and the
//! connections of commands. Of all rules that fit a call, the strictest decides.

mod commands;
mod groups;
mod links;
mod listed;
mod meaning;
mod narrow;
mod network;
mod sending;
mod spread;
pub mod safe;
mod touched;
mod tree;
mod written;
#[cfg(test)]
mod tests;

pub use network::{is_host, opening};
pub use touched::Touched;
pub use tree::{Tracked, Tree};
pub use written::{Origin, WrittenRule, allowing, caution, from_project, read};

use crate::bash::Script;
use crate::event::Access;
use crate::reach::Reach;
use ignore::gitignore::Gitignore;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    target: Target,
    /// Why the user has made the rule, without a full stop; may be empty.
    reason: String,
}

/// The calls to which a rule applies.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
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
struct Pattern {
    text: String,
    matcher: Gitignore,
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

/// The decision of the rules about a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict of the strictest rule that fits; `None` if no rule fits.
    pub verdict: Option<Verdict>,
    /// The reason for the verdict, or why no rule allows the call, in one sentence. Empty if no rule has to do with the
    /// call.
    pub why: String,
    /// Whether the call is a command that runs in the complete sandbox, from which it can affect nothing outside.
    pub is_contained: bool,
    /// How the call could send something out for a stranger whose text has come into the conversation.
    pub leak: Option<Leak>,
    /// The command of a rule that would allow the call from now on; empty if Caliban proposes none.
    pub always: String,
    /// The files that a command writes, the folders that it enters and the hosts that it names, as far as its words
    /// tell.
    pub touched: Touched,
    /// The hosts that the user's consent to a command would open.
    pub opens: Vec<String>,
    /// Those of the hosts in `opens` that no rule allows.
    pub unruled: Vec<String>,
}

/// How a call could send something out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leak {
    /// It fetches an address that neither the user nor a page has named.
    Unnamed,
    /// It sends a query that the model has written.
    Query,
    /// It gives arguments to a server.
    Arguments,
    /// It is a command whose purpose is to send something, and no complete sandbox contains it.
    Sending,
    /// It is a command that has to connect to hosts.
    Connecting,
}

/// The rules of one project.
#[derive(Clone, Default)]
pub struct Rules {
    pub all: Vec<Rule>,
    root: PathBuf,
    /// The rules about protected paths; `None` in tests and for an agent without files.
    reach: Option<Reach>,
    /// Whether the sandbox of commands is complete: it protects files and has no network.
    contains: bool,
    /// The files as a command will see them; `None` in tests.
    tree: Option<Arc<dyn Tree>>,
    /// The spellings of the root.
    roots: Vec<PathBuf>,
}

impl PartialEq for Rules {
    fn eq(&self, other: &Rules) -> bool {
        self.all == other.all && self.contains == other.contains
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all.fmt(f)
    }
}

impl Rules {
    pub fn new(all: Vec<Rule>, root: &Path, reach: &Reach) -> Rules {
        let (root, reach) = (root.to_owned(), Some(reach.clone()));
        Rules { all, root, reach, ..Rules::default() }
    }

    /// The same rules, which also judge what patterns and links in a command stand for.
    #[must_use]
    pub fn seeing(self, tree: Arc<dyn Tree>) -> Rules {
        let roots = tree.trail(&self.root);
        Rules { tree: Some(tree), roots, ..self }
    }

    /// The same rules. `contains` says whether the sandbox of commands is complete: it protects files and has no
    /// network.
    #[must_use]
    pub fn containing(self, contains: bool) -> Rules {
        Rules { contains, ..self }
    }

    /// Rules of the same project that allow these commands and nothing else.
    #[must_use]
    pub fn with_only<'a>(&self, commands: impl Iterator<Item = &'a str>) -> Rules {
        let rule = |it: &str| WrittenRule::always(it).rule(Origin::Limit).ok();
        Rules { all: commands.filter_map(rule).collect(), ..self.clone() }
    }

    /// Whether the rules allow each command of a command line.
    pub fn allows(&self, line: &str) -> bool {
        self.script(&Script::parse(line)).verdict == Some(Verdict::Allow)
    }

    pub fn judge(&self, access: &Access) -> Judgement {
        match access {
            Access::Act { command, outside, hosts, .. } => {
                if let Some(denied) = self.denied(hosts) {
                    return denied;
                }
                let script = Script::parse(command);
                let touched = Touched::by(&script);
                match outside {
                    None => {
                        let is_contained = self.contains;
                        Judgement { is_contained, touched, ..self.script(&script) }
                    }
                    Some(_) => Judgement { touched, ..self.outside(&script) },
                }
            }
            Access::Format { command, .. } => {
                let is_contained = self.contains;
                Judgement { is_contained, ..self.script(&Script::parse(command)) }
            }
            Access::Input { command, text, is_contained, .. } => {
                let is_contained = self.contains && *is_contained;
                Judgement { is_contained, ..self.input(command, text) }
            }
            Access::Fetch { host, .. } | Access::Search { host, .. } => self.page(host),
            Access::Edit { paths } => self.edits(paths),
            Access::Remote(it) => self.remote(&it.name),
            Access::Read
            | Access::Guarded(_)
            | Access::Ask { .. }
            | Access::Delegate { .. }
            | Access::Workers(_)
            | Access::Plan
            | Access::Never(_) => Judgement::default(),
        }
    }

    /// Whether a command is known to send something out.
    pub fn sends(&self, command: &str) -> bool {
        sending::sends(&Script::parse(command))
    }

    /// The strictest rule that asks about or denies an edit of this file, which lies in the project.
    pub fn against_edit(&self, path: &Path) -> Option<&Rule> {
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        let fits = |it: &&Rule| it.verdict > Verdict::Allow && it.is_about_file(path);
        self.all.iter().filter(fits).max_by_key(|it| it.verdict)
    }

    /// The judgement of a command that asks to run outside of the sandbox. No rule allows such a command.
    fn outside(&self, script: &Script) -> Judgement {
        let judged = self.script(script);
        match judged.verdict {
            Some(Verdict::Ask | Verdict::Deny) => Judgement { always: String::new(), ..judged },
            Some(Verdict::Allow) | None => Judgement::default(),
        }
    }

    /// The judgement of input to a job. No rule allows input. Rules that ask or deny apply to the job's command, and to
    /// the input itself, which may be a command.
    fn input(&self, command: &str, text: &str) -> Judgement {
        let [one, other] = [command, text].map(|it| self.outside(&Script::parse(it)));
        if other.verdict > one.verdict { other } else { one }
    }

    /// The judgement of a call that edits files. The call is allowed only if the rules allow all its files. Rules that
    /// ask or deny are checked elsewhere, for each file.
    fn edits(&self, paths: &[String]) -> Judgement {
        let allowing = self.all.iter().filter(|it| it.verdict == Verdict::Allow);
        let is_allowed =
            |path: &String| allowing.clone().any(|it| it.is_about_file(Path::new(path)));
        let verdict = (!paths.is_empty() && paths.iter().all(is_allowed)).then_some(Verdict::Allow);
        Judgement { verdict, ..Judgement::default() }
    }

    fn page(&self, host: &str) -> Judgement {
        self.by_strictest(host, |it| it.is_about_host(host))
    }

    fn remote(&self, tool: &str) -> Judgement {
        self.by_strictest(tool, |it| it.is_about_remote(tool))
    }

    /// The judgement of the strictest rule that fits. `what` is what the rule applies to.
    fn by_strictest(&self, what: &str, fits: impl Fn(&Rule) -> bool) -> Judgement {
        let Some(rule) = self.strictest(fits) else { return Judgement::default() };
        let why = rule.said(&format!("`{what}`"));
        Judgement { verdict: Some(rule.verdict), why, ..Judgement::default() }
    }

    /// Explains to the user, in one line, how the rules judge a tool of a server.
    pub fn explain_remote(&self, tool: &str) -> String {
        self.explained(tool, |it| it.is_about_remote(tool))
    }

    fn explained(&self, what: &str, fits: impl Fn(&Rule) -> bool) -> String {
        let said = self.strictest(fits).map(Rule::line);
        let said =
            said.unwrap_or_else(|| "needs your consent. No permission rule allows it.".to_owned());
        format!("{what}: {said}")
    }

    /// Explains to the user, in one line, how the rules judge the pages of a host.
    pub fn explain_page(&self, host: &str) -> String {
        self.explained(host, |it| it.is_about_host(host))
    }

    fn strictest(&self, fits: impl Fn(&Rule) -> bool) -> Option<&Rule> {
        self.all.iter().filter(|it| fits(it)).max_by_key(|it| it.verdict)
    }
}

impl Rule {
    fn is_about_file(&self, path: &Path) -> bool {
        match &self.target {
            Target::Edit(None) => true,
            Target::Edit(Some(it)) => {
                it.matcher.matched_path_or_any_parents(path, false).is_ignore()
            }
            Target::Command(_) | Target::Fetch(_) | Target::Network(_) | Target::Remote(_) => false,
        }
    }

    fn is_about_remote(&self, tool: &str) -> bool {
        match &self.target {
            Target::Remote(None) => true,
            Target::Remote(Some(wanted)) => written::is_remote(wanted, tool),
            _ => false,
        }
    }

    /// Whether the rule applies to this host. A rule that asks or denies applies to all ports of the host. A rule that
    /// allows applies only to the usual port.
    fn is_about_host(&self, host: &str) -> bool {
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
    fn said(&self, what: &str) -> String {
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
                let words = written::joined(words).replace('\n', "[U+000A]");
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
