//! The table of tools. Its order is fixed: it is a part of every request's cached prefix.

use super::{
    Tool, Work, definition, delete, diagnostics, edit, glob, grep, hover, list, patch, read,
    references, rename, rename_symbol, shell, skill, symbols, todo, write,
};
use crate::edit::Format;
use crate::message::ToolSpec;

const TABLE: &[Tool] = &[
    read::TOOL,
    list::TOOL,
    glob::TOOL,
    grep::TOOL,
    diagnostics::TOOL,
    definition::TOOL,
    references::TOOL,
    hover::TOOL,
    symbols::TOOL,
    edit::TOOL,
    write::TOOL,
    patch::TOOL,
    delete::TOOL,
    rename::TOOL,
    rename_symbol::TOOL,
    shell::TOOL,
    todo::TOOL,
    skill::TOOL,
];

/// What other harnesses call these tools, and models ask for.
const ALIASES: &[(&str, &[&str])] = &[
    ("shell", &["bash", "run", "exec", "terminal", "command"]),
    ("grep", &["search", "rg"]),
    ("glob", &["find"]),
    ("list", &["ls", "dir"]),
    ("write", &["create"]),
    ("edit", &["replace", "patch"]),
    ("delete", &["remove", "unlink"]),
    ("rename", &["move"]),
    ("rename_symbol", &["refactor"]),
    ("read", &["cat", "view", "open"]),
    ("diagnostics", &["lint", "errors", "problems"]),
    ("references", &["usages"]),
    ("symbols", &["outline"]),
];

pub fn table() -> &'static [Tool] {
    TABLE
}

pub fn find(name: &str) -> Option<&'static Tool> {
    TABLE.iter().find(|tool| tool.name == name)
}

/// The tools as a model sees them that writes its edits so, in the table's order.
pub fn specs(format: Format) -> Vec<ToolSpec> {
    let spec =
        |tool: &Tool| ToolSpec { name: tool.name, purpose: tool.purpose, schema: (tool.schema)() };
    let is_offered = |tool: &&Tool| match tool.work {
        Work::Edit { formats, .. } => formats.contains(&format),
        _ => true,
    };
    TABLE.iter().filter(is_offered).map(spec).collect()
}

/// For the model: there is no tool `name`, but these.
pub(super) fn unknown(name: &str) -> String {
    let names: Vec<&str> = TABLE.iter().map(|tool| tool.name).collect();
    let asked = name.to_lowercase();
    let meant = names.iter().copied().find(|name| asked.contains(name)).or_else(|| {
        let known = |words: &[&str]| words.iter().any(|word| asked.contains(word));
        ALIASES.iter().find(|(_, words)| known(words)).map(|(name, _)| *name)
    });
    let meant = meant.map_or(String::new(), |meant| format!(" Did you mean `{meant}`?"));
    format!("There is no tool `{name}`.{meant} The tools are: {}.", names.join(", "))
}
