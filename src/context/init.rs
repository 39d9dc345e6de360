//! `/init`: asks the model to explore the project and to propose the file `AGENTS.md`.

use crate::message::{Excerpt, ExcerptKind};

/// The file that the model writes.
pub const PAGE: &str = "AGENTS.md";

const TASK: &str = include_str!("init.md");

/// The message to the model, and the task that goes with it. `exists` says whether the project has the file already.
/// `words` is what the user wrote after `/init`.
pub fn message(exists: bool, words: &str) -> (String, Excerpt) {
    let what = if exists { "Update" } else { "Write" };
    let text = format!("{what} `{PAGE}` for this project, as the skill `init` says. {words}")
        .trim_end()
        .to_owned();
    let task = Excerpt {
        path: "init".to_owned(),
        kind: ExcerptKind::Skill,
        text: TASK.to_owned(),
        ..Excerpt::default()
    };
    (text, task)
}
