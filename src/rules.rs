//! The user's permission rules, which allow, ask about or deny commands, edits, the fetching of web pages and the
//! connections of commands. Of all rules that fit a call, the strictest decides.

mod commands;
mod groups;
mod judgement;
mod links;
mod listed;
mod meaning;
mod narrow;
mod network;
mod project;
mod rule;
mod sending;
mod spread;
mod star;
pub mod safe;
mod touched;
mod tree;
mod written;
#[cfg(test)]
mod tests;

pub use judgement::{Judgement, Leak};
pub use network::{is_host, opening};
pub use project::{Rules, Tracked, Tree};
pub use rule::{Origin, Rule, Verdict};
pub use touched::Touched;
pub use written::{WrittenRule, allowing, caution, from_project, read};

use crate::bash::Script;
use crate::event::Access;
use crate::reach::Reach;
use std::path::Path;
use std::sync::Arc;

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
            | Access::Never(_)
            | Access::Invalid(_) => Judgement::default(),
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
        let scripts = [Script::parse(command), Script::fed(command, text), Script::parse(text)];
        let all = scripts.iter().map(|it| self.outside(it));
        // the first of the strictest
        all.rev().max_by_key(|it| it.verdict).unwrap_or_default()
    }

    /// If a rule asks about or denies a job's input, together with the part of a line that was sent before, and not the
    /// input alone, the reason as a sentence.
    pub fn against_rest(&self, command: &str, before: &str, text: &str) -> Option<String> {
        let alone = self.input(command, text).verdict;
        let joined = self.input(command, &format!("{before}{text}"));
        (!before.is_empty() && joined.verdict > alone).then_some(joined.why)
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
