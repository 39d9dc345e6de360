//! Whether an everyday command may get names of files that another command prints: `find . -name '*.rs' | xargs wc -l`.

use super::commands::resolved;
use super::project::Rules;
use super::rule::Origin;
use super::spread;
use crate::bash::{Listed, Script, Simple};
use crate::reach::Reading;

/// Programs that show nothing of the content of the files in their arguments but counts.
const COUNTERS: &[&str] = &["basename", "dirname", "du", "echo", "ls", "stat", "wc"];

impl Rules {
    /// If such a command needs consent because of the names, a sentence that says so.
    pub(super) fn unlisted(&self, script: &Script, listed: &Listed) -> Option<String> {
        let Listed { reader, names } = listed;
        let by = &names.by;
        let safe = || self.all.iter().filter(|it| it.origin == Origin::Safe);
        if !safe().any(|it| it.covers(reader).is_some()) {
            return Some(format!(
                "The names that `{by}` prints are known only when the command runs."
            ));
        }
        if names.is_bare && self.has_dashes() {
            return Some(format!(
                "`{by}` may print the name of a file that `{}` takes for an option.",
                name(reader)
            ));
        }
        if COUNTERS.contains(&name(reader)) {
            return None;
        }
        if names.has_links {
            return Some(format!("`{by}` may print a link that leads out of the project."));
        }
        self.protected(script, listed)
    }

    /// Whether the project's root has a file whose name begins like an option. Without a view of the files it may have
    /// one.
    fn has_dashes(&self) -> bool {
        let names = self.tree.as_ref().and_then(|it| it.names(&self.root));
        names.is_none_or(|it| it.iter().any(|it| it.starts_with(['-', '+'])))
    }

    /// If the names may be those of protected files, or of files outside of the project, a sentence that says so.
    fn protected(&self, script: &Script, Listed { names, .. }: &Listed) -> Option<String> {
        let reach = self.reach.as_ref()?;
        let by = &names.by;
        // git's own files have no such endings
        let has_kind = |it: &&String| {
            let kind = it.rsplit_once('.').map_or("", |it| it.1);
            !it.starts_with('.')
                && !kind.is_empty()
                && kind.bytes().all(|it| it.is_ascii_alphanumeric())
        };
        if names.patterns.is_empty() || !names.patterns.iter().all(|it| has_kind(&it)) {
            return Some(format!("`{by}` may print the names of protected files."));
        }
        let known = names.patterns.iter().find_map(|it| match reach.reading_named(it) {
            Reading::Asked(why) | Reading::Never(why) => {
                Some(format!("`{by}` may print the name of a file that {why}."))
            }
            Reading::Free => None,
        });
        known.or_else(|| {
            // a folder outside of the project is known by the words of the command
            let places = script
                .folders
                .iter()
                .flat_map(|at| names.folders.iter().filter_map(|it| resolved(&self.root, at, it)));
            let tree = self.tree.as_ref()?;
            let (path, why) =
                spread::named(tree.as_ref(), reach, places.collect(), &names.patterns)?;
            Some(format!("`{by}` may print `{}`, which {why}.", self.shown(&path)))
        })
    }
}

fn name(simple: &Simple) -> &str {
    simple.name().unwrap_or_default()
}
