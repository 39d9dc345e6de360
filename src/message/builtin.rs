//! The tools that are built into Caliban, by the names that models and session files use. Code that treats a tool in
//! its own way asks for the tool's identity here and never compares names.

use super::ToolCall;

macro_rules! tools {
    ($($tool:ident $name:literal)*) => {
        /// A tool that is built into Caliban.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Builtin {
            $($tool,)*
        }

        impl Builtin {
            pub const ALL: &[Builtin] = &[$(Builtin::$tool,)*];

            pub const fn name(self) -> &'static str {
                match self {
                    $(Builtin::$tool => $name,)*
                }
            }
        }
    };
}

tools! {
    ApplyPatch "apply_patch"
    Ask "ask"
    AwaitWorkers "await_workers"
    CodeAction "code_action"
    Comment "comment"
    Definition "definition"
    Delete "delete"
    Diagnostics "diagnostics"
    Edit "edit"
    Fetch "fetch"
    Format "format"
    Glob "glob"
    Grep "grep"
    Hover "hover"
    Job "job"
    JobInput "job_input"
    List "list"
    ListWorkers "list_workers"
    McpCall "mcp_call"
    McpSearch "mcp_search"
    Notify "notify"
    Plan "plan"
    Read "read"
    References "references"
    Rename "rename"
    RenameSymbol "rename_symbol"
    Shell "shell"
    Skill "skill"
    SpawnWorker "spawn_worker"
    SpawnWorkers "spawn_workers"
    StopWorker "stop_worker"
    Symbols "symbols"
    Task "task"
    Todo "todo"
    WebSearch "web_search"
    WorkerResult "worker_result"
    Write "write"
}

impl Builtin {
    /// The tool with this name. No tool that is defined while the program runs can have such a name.
    pub fn of(name: &str) -> Option<Builtin> {
        Builtin::ALL.iter().copied().find(|it| it.name() == name)
    }
}

impl ToolCall {
    /// The tool of Caliban that the call is of.
    pub fn builtin(&self) -> Option<Builtin> {
        Builtin::of(&self.tool)
    }

    /// Whether this is a call of that tool.
    pub fn is_of(&self, tool: Builtin) -> bool {
        self.tool == tool.name()
    }
}
