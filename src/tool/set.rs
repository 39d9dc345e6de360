//! A set of tools: all or some of the built-in ones, and tools that are defined while the program runs. A set is a plain
//! value.

use super::work::{Author, Tool, Work};
use crate::edit::Format;
use crate::message::{Builtin, ToolSpec};
use std::sync::Arc;

/// Tools in a fixed order: they are part of the beginning of each request, which the provider caches. No two tools have
/// the same name.
#[derive(Clone)]
pub struct Toolset(pub(super) Arc<Vec<Arc<Tool>>>);

/// The tools that ask the editor's language servers.
const BY_SERVERS: [Builtin; 8] = [
    Builtin::Diagnostics,
    Builtin::Definition,
    Builtin::References,
    Builtin::Hover,
    Builtin::Symbols,
    Builtin::RenameSymbol,
    Builtin::CodeAction,
    Builtin::Format,
];

/// The names of these tools in other coding agents, which models sometimes use.
const ALIASES: &[(Builtin, &[&str])] = &[
    (Builtin::Shell, &["bash", "run", "exec", "terminal", "command"]),
    (Builtin::Fetch, &["web", "http", "url", "browse", "curl", "download"]),
    (Builtin::Grep, &["search", "rg"]),
    (Builtin::Glob, &["find"]),
    (Builtin::List, &["ls", "dir"]),
    (Builtin::Task, &["agent", "delegate", "spawn"]),
    (Builtin::Write, &["create"]),
    (Builtin::Edit, &["replace", "patch"]),
    (Builtin::Delete, &["remove", "unlink"]),
    (Builtin::Rename, &["move"]),
    (Builtin::RenameSymbol, &["refactor"]),
    (Builtin::CodeAction, &["fix"]),
    (Builtin::Read, &["cat", "view", "open"]),
    (Builtin::Diagnostics, &["lint", "errors", "problems"]),
    (Builtin::References, &["usages"]),
    (Builtin::Symbols, &["outline"]),
    (Builtin::Ask, &["question"]),
];

impl Toolset {
    pub fn find(&self, name: &str) -> Option<&Arc<Tool>> {
        self.0.iter().find(|it| it.name == name)
    }

    pub fn builtin(&self, tool: Builtin) -> Option<&Arc<Tool>> {
        self.find(tool.name())
    }

    /// The names of all tools, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|it| &*it.name)
    }

    /// A set of those tools for which `keep` is true.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&Tool) -> bool) -> Toolset {
        Toolset(Arc::new(self.0.iter().filter(|it| keep(it)).cloned().collect()))
    }

    /// The tools that work where there is no editor.
    #[must_use]
    pub fn without_servers(&self) -> Toolset {
        self.only(|it| !it.builtin().is_some_and(|it| BY_SERVERS.contains(&it)))
    }

    /// A set of these tools and `tool`. A tool with the same name is replaced. A stranger's tool with the name of one
    /// that is built into Caliban gets another name, so that nobody takes it for ours.
    #[must_use]
    pub fn with(&self, mut tool: Tool) -> Toolset {
        if matches!(tool.author, Author::Stranger(_)) && tool.builtin().is_some() {
            tool.name.push_str("_of_server");
        }
        let mut all: Vec<Arc<Tool>> =
            self.0.iter().filter(|it| it.name != tool.name).cloned().collect();
        all.push(Arc::new(tool));
        Toolset(Arc::new(all))
    }

    /// The tools for a model that writes edits in this format, in their order.
    pub fn specs(&self, format: Format) -> Vec<ToolSpec> {
        self.offered(format).map(Tool::spec).collect()
    }

    /// The tools that are offered to a model that writes edits in this format.
    pub fn offered(&self, format: Format) -> impl Iterator<Item = &Tool> {
        let is_offered = move |tool: &&Tool| match &tool.work {
            Work::Edit { formats, .. } => formats.contains(&format),
            _ => true,
        };
        self.0.iter().map(|it| &**it).filter(is_offered)
    }

    /// Tells the model that there is no tool `name`, and which tools there are.
    pub(super) fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.0.iter().map(|tool| &*tool.name).collect();
        let asked = name.to_lowercase();
        let meant = names.iter().copied().find(|name| asked.contains(name)).or_else(|| {
            let known = |words: &[&str]| words.iter().any(|word| asked.contains(word));
            let mut meant = ALIASES.iter().filter(|it| names.contains(&it.0.name()));
            meant.find(|(_, words)| known(words)).map(|(tool, _)| tool.name())
        });
        let meant = meant.map_or(String::new(), |meant| format!(" Did you mean `{meant}`?"));
        format!("There is no tool `{name}`.{meant} The tools are: {}.", names.join(", "))
    }
}
