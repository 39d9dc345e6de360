//! The tool `task`: gives work to a subagent, which has a session of its own. The agent carries it out.

pub use super::work::Task;

use super::schema::Form;
use super::{Author, Tool, Work, typed};
use crate::message::Builtin;
use serde_json::{Value, json};
use std::sync::Arc;

/// The tools that a subagent does not have: it gives no tasks away, and the to-do list, questions and plans belong to
/// the user's conversation.
const WITHHELD: [Builtin; 4] = [Builtin::Task, Builtin::Todo, Builtin::Ask, Builtin::Plan];
/// The most characters of a task's description.
const TITLE: usize = 80;

const PURPOSE: &str = "Gives a task to a subagent with a context of its own. Only its last reply comes back to you. \
    Use it for work that would fill your context, such as a search through many files or a self-contained change. \
    Several calls in one reply run at the same time. The subagent has your tools but knows nothing of this \
    conversation: `prompt` says the goal, the paths and what to report. The user reviews its edits like yours. \
    Example: {\"description\":\"Find the callers\",\"prompt\":\"List each call of `parse` in src/ as path:line.\"}";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Task.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Known,
        work: Work::Delegate(Arc::new(|_, args| read(typed(args)?))),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "description": { "type": "string", "description": "three to six words for the user" },
            "prompt": { "type": "string" },
            "agent": { "type": "string", "description": "a name from the list of agents, if one fits" },
            "isolation": {
                "type": "string", "enum": ["shared", "worktree"],
                "description": "worktree: it works in a git worktree of the last commit; its changes are proposed when it ends"
            }
        },
        "required": ["description", "prompt"]
    })
}

fn read(task: Task) -> Result<Task, String> {
    let description: String = task.description.chars().take(TITLE).collect();
    match (task.description.trim(), task.prompt.trim()) {
        ("", _) => Err(misfit("$.description: expected a few words, got nothing")),
        (_, "") => Err(misfit("$.prompt: expected the task, got nothing")),
        _ => Ok(Task { description, ..task }),
    }
}

fn misfit(fault: &str) -> String {
    Form { tool: Builtin::Task.name(), purpose: PURPOSE, schema: &schema() }.refuse(fault)
}

/// Whether a subagent has this tool if its parent has it.
pub fn is_lent(tool: &Tool) -> bool {
    !tool.builtin().is_some_and(|it| WITHHELD.contains(&it))
}
