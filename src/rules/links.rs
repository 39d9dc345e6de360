//! Programs that read each file below a folder, also through the links there.

use super::project::Rules;
use crate::bash::options::{Item, Manner, Name};
use crate::bash::{Script, Simple};
use std::collections::BTreeSet;

/// The programs, the letter of the option by which they follow links, and its long name.
const FOLLOWING: [(&[&str], char, &str); 5] = [
    (&["grep", "egrep", "fgrep"], 'R', "dereference-recursive"),
    (&["rg"], 'L', "follow"),
    (&["fd", "fdfind"], 'L', "follow"),
    (&["diff"], 'r', "recursive"),
    (&["cp"], 'L', "dereference"),
];
/// Those that always get the paths, and do not search the current folder without one.
const GIVEN: [&str; 2] = ["cp", "diff"];
/// The most files and folders that are looked at.
const MOST: usize = 5_000;

impl Rules {
    /// If a command follows a link below a folder out of the project or to a file that may be read only with consent, a
    /// sentence that says so. `texts` are the positions of the words that are no paths.
    pub(super) fn followed(
        &self,
        script: &Script,
        simple: &Simple,
        texts: &[usize],
    ) -> Option<String> {
        let name = simple.name()?;
        let (_, letter, long) = FOLLOWING.iter().find(|it| it.0.contains(&name))?;
        let words = simple.words.get(1..).unwrap_or_default();
        let manner = Manner::reading(name, words);
        let items = manner.placed(words);
        let is_it = |name: &Name| match name {
            Name::Known(_) => false,
            Name::Letter(it) => it == letter,
            Name::Long(it) => !it.is_empty() && long.starts_with(it.as_str()),
            Name::Word(it) => it.contains(*letter),
        };
        let follows = |names: &[Name]| {
            manner.is(names, letter.encode_utf8(&mut [0; 4])) || names.iter().any(is_it)
        };
        let options = || {
            items.iter().filter_map(|it| match &it.1 {
                Item::Option { names, may_take, .. } => Some((names, *may_take)),
                Item::Text(_) | Item::Open { .. } => None,
            })
        };
        if !options().any(|it| follows(it.0)) {
            return None;
        }
        let paths = items.iter().filter(|it| !texts.contains(&(it.0 + 1)));
        let mut paths: Vec<&str> = paths.filter_map(|it| it.1.text()).collect();
        // a word may be the pattern, or the value of an option that is not known
        let is_unsure = texts.is_empty() || paths.is_empty() || options().any(|it| it.1);
        if is_unsure && !GIVEN.contains(&name) {
            paths.push(".");
        }
        let mut left = MOST;
        let all = script.folders.iter().flat_map(|of| paths.iter().map(move |it| (of, *it)));
        all.into_iter().find_map(|(folder, path)| self.below(folder, path, name, &mut left))
    }

    fn below(&self, folder: &str, path: &str, name: &str, left: &mut usize) -> Option<String> {
        let tree = self.tree.as_ref()?;
        let mut seen = BTreeSet::new();
        let mut open = vec![path.trim_end_matches('/').to_owned()];
        while let Some(at) = open.pop() {
            let names = tree.names(&self.root.join(folder).join(&at));
            let names = names.filter(|it| it.len() <= *left);
            let Some(names) = names else {
                return Some(format!(
                    "`{name}` follows links, and `{path}` has too many entries for Caliban to check where its links lead."
                ));
            };
            *left -= names.len();
            for it in names {
                let inner = format!("{at}/{it}");
                let trail = tree.trail(&self.root.join(folder).join(&inner));
                let is_link = trail.windows(2).any(|it| it[0] != it[1]);
                if let Some(why) = is_link.then(|| self.astray(folder, &inner)).flatten() {
                    return Some(why);
                }
                if trail.last().is_some_and(|it| seen.insert(it.clone())) {
                    open.push(inner);
                }
            }
        }
        None
    }
}
