//! The user's and the project's own instructions: `AGENTS.override.md`, else `AGENTS.md`, else `CLAUDE.md`. They are
//! taken from the user's configuration, from the folders between the project's root and the working directory, and from
//! deeper folders once a file there is read or changed. Files that they import are included.

mod reader;
mod rules;
#[cfg(test)]
mod tests;

pub use reader::{Found, NAMES, Places};
pub use rules::{offered, rules};

use crate::message::Excerpt;
use reader::{Reader, in_folder, is_ignored};
use std::path::{Path, PathBuf};

/// The instructions that a conversation begins with.
pub fn gather(places: &Places) -> Found {
    let mut reader = Reader::new(places);
    reader.folder(&places.config, true);
    reader.found.own = reader.found.files.len();
    let mut folders: Vec<&Path> =
        places.cwd.ancestors().take_while(|it| it.starts_with(&places.root)).collect();
    folders.reverse();
    for folder in folders {
        reader.folder(folder, false);
    }
    reader.found
}

/// The instructions in the folders above the touched files, without those that the conversation began with. A folder
/// that git ignores (such as `node_modules`) has the work of others, so its instructions are not used.
pub fn nested(places: &Places, touched: &[PathBuf]) -> Found {
    let mut reader = Reader::new(places);
    for path in touched {
        let mut folders: Vec<&Path> = path
            .ancestors()
            .take_while(|it| it.starts_with(&places.root))
            .filter(|it| !places.cwd.starts_with(it) && in_folder(it, false).is_some())
            .collect();
        folders.reverse();
        for folder in folders.into_iter().filter(|it| !is_ignored(&places.root, it)) {
            reader.folder(folder, false);
        }
    }
    reader.found
}

/// How the instructions have changed since the conversation began, in one sentence.
pub fn changed(had: &[&Excerpt], now: &[Excerpt]) -> Option<String> {
    let named = |path: &str, word: &str| format!("`{path}` {word}");
    let mut changes = Vec::new();
    for it in now {
        match had.iter().find(|old| old.path == it.path) {
            None => changes.push(named(&it.path, "was added")),
            Some(old) if old.text != it.text => changes.push(named(&it.path, "changed")),
            Some(_) => (),
        }
    }
    let gone = had.iter().filter(|old| now.iter().all(|it| it.path != old.path));
    changes.extend(gone.map(|old| named(&old.path, "was removed")));
    (!changes.is_empty()).then(|| {
        format!(
            "Since this conversation began, {}. The model still has the old instructions; `/system new` replaces \
             them.",
            changes.join(", ")
        )
    })
}
