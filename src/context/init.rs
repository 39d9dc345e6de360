//! `/init`: has the model explore the project and propose `AGENTS.md`.

use crate::message::{Excerpt, ExcerptKind};

/// The page that the model writes.
pub const PAGE: &str = "AGENTS.md";

const TASK: &str = include_str!("init.md");

/// The message to the model, and its task. `exists` says whether the project has the page, `words` are the user's
/// own.
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
