//! The tools that are built into Caliban.

use super::set::Toolset;
use super::{
    ask, code_action, comment, definition, delete, diagnostics, edit, fetch, format, glob, grep,
    hover, job, job_input, list, mcp, patch, read, references, rename, rename_symbol, shell, skill,
    submit_plan, symbols, task, todo, web_search, workers, write,
};
use crate::mcp::Servers;
use crate::web::search::Search;
use std::sync::Arc;

/// The tools that are built into Caliban.
pub fn own() -> Toolset {
    let own = vec![
        read::tool(),
        list::tool(),
        glob::tool(),
        grep::tool(),
        diagnostics::tool(),
        definition::tool(),
        references::tool(),
        hover::tool(),
        symbols::tool(),
        edit::tool(),
        write::tool(),
        patch::tool(),
        delete::tool(),
        rename::tool(),
        rename_symbol::tool(),
        code_action::tool(),
        format::tool(),
        shell::tool(),
        job::tool(),
        job_input::tool(),
        fetch::tool(),
        todo::tool(),
        ask::tool(),
        submit_plan::tool(),
        skill::tool(),
        comment::tool(),
        task::tool(),
    ];
    Toolset(Arc::new(own.into_iter().map(Arc::new).collect()))
}

/// Caliban's own tools, with a tool that searches the web by this service.
pub fn searching(search: Search) -> Toolset {
    own().with(web_search::tool(search))
}

/// These tools, with those that find and call the tools of the user's servers.
pub fn serving(tools: &Toolset, servers: &Servers) -> Toolset {
    let own = mcp::tools(servers).into_iter().map(Arc::new);
    Toolset(Arc::new(tools.0.iter().cloned().chain(own).collect()))
}

impl Toolset {
    /// The tools of a coordinator: those of these tools that read, and those that lead workers.
    #[must_use]
    pub fn coordinating(&self) -> Toolset {
        let own = workers::of_coordinator().into_iter().map(Arc::new);
        let reads = self.0.iter().filter(|it| workers::is_for_coordinator(it)).cloned();
        Toolset(Arc::new(reads.chain(own).collect()))
    }
}
