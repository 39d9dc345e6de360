//! The user's and the project's own instructions: `AGENTS.md` (`CLAUDE.md` where there is none) of the user's
//! configuration, of the folders from the project's root to the working directory, of folders below once
//! something there is touched, and the files that these import.

#[cfg(test)]
mod tests;

use super::mention;
use crate::message::{Excerpt, ExcerptKind};
use crate::reach::{Reach, Reading};
use crate::text::unseen::spelt_out;
use crate::tool::{disk, path, walk};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The first of these that a folder has counts.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// Bytes that are taken of one file, and of all that are read together (reference: harness.md §4.5).
const LIMIT: usize = 32 * 1024;
const TOTAL: usize = 64 * 1024;
/// Imports of imports.
const HOPS: usize = 4;

/// Where instructions are looked for. All but `config` and `home` are canonical.
#[derive(Clone)]
pub struct Places {
    pub root: PathBuf,
    /// Within the root.
    pub cwd: PathBuf,
    /// The user's own folder.
    pub config: PathBuf,
    pub home: Option<PathBuf>,
    /// Which files may be read.
    pub reach: Reach,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// In the order in which the model reads them, the nearest last.
    pub files: Vec<Excerpt>,
    /// One sentence for each file that was cut or left out.
    pub problems: Vec<String>,
}

/// The instructions that a conversation begins with.
pub fn gather(places: &Places) -> Found {
    let mut reader = Reader::new(places);
    reader.folder(&places.config, true);
    let mut folders: Vec<&Path> =
        places.cwd.ancestors().take_while(|it| it.starts_with(&places.root)).collect();
    folders.reverse();
    for folder in folders {
        reader.folder(folder, false);
    }
    reader.found
}

/// Those of the folders around what was touched that a conversation does not begin with. Folders that git ignores
/// hold what others wrote: theirs do not count.
pub fn nested(places: &Places, touched: &[PathBuf]) -> Found {
    let mut reader = Reader::new(places);
    for path in touched {
        let mut folders: Vec<&Path> = path
            .ancestors()
            .take_while(|it| it.starts_with(&places.root))
            .filter(|it| !places.cwd.starts_with(it) && in_folder(it).is_some())
            .collect();
        folders.reverse();
        for folder in folders.into_iter().filter(|it| !is_ignored(&places.root, it)) {
            reader.folder(folder, false);
        }
    }
    reader.found
}

/// How the instructions that a conversation has differ from those there are now, in one sentence.
pub fn changed(had: &[&Excerpt], now: &[Excerpt]) -> Option<String> {
    let named = |path: &str, word: &str| format!("`{path}` {word}");
    let mut changes = Vec::new();
    for it in now {
        match had.iter().find(|old| old.path == it.path) {
            None => changes.push(named(&it.path, "came")),
            Some(old) if old.text != it.text => changes.push(named(&it.path, "changed")),
            Some(_) => (),
        }
    }
    let gone = had.iter().filter(|old| now.iter().all(|it| it.path != old.path));
    changes.extend(gone.map(|old| named(&old.path, "went")));
    (!changes.is_empty()).then(|| {
        format!(
            "Since this conversation began, {}: it goes on with the instructions it had. `/system new` takes the \
             new ones.",
            changes.join(", ")
        )
    })
}

fn in_folder(folder: &Path) -> Option<PathBuf> {
    NAMES.iter().map(|it| folder.join(it)).find(|it| it.symlink_metadata().is_ok())
}

fn is_ignored(root: &Path, folder: &Path) -> bool {
    let way = folder.to_owned();
    let walk = walk::begin(root, move |it| way.starts_with(it.path())).build();
    !walk.flatten().any(|it| it.path() == folder)
}

struct Reader<'a> {
    places: &'a Places,
    found: Found,
    /// Files that were read or refused, by their real paths.
    seen: HashSet<PathBuf>,
    /// Bytes that may still be taken.
    left: usize,
}

impl Reader<'_> {
    fn new(places: &Places) -> Reader<'_> {
        Reader { places, found: Found::default(), seen: HashSet::new(), left: TOTAL }
    }

    fn folder(&mut self, folder: &Path, is_users: bool) {
        if let Some(path) = in_folder(folder) {
            let shown = self.shown(&path);
            if let Err(why) = self.file(&path, is_users, 0) {
                self.found.problems.push(format!("`{shown}` {why} It was left out."));
            }
        }
    }

    /// Takes a file and, behind it, what it imports. An `Err` follows its name in a sentence.
    fn file(&mut self, path: &Path, is_users: bool, hops: usize) -> Result<(), String> {
        let real =
            fs::canonicalize(path).map_err(|_| "does not exist, or leads nowhere.".to_owned())?;
        let is_own = is_users && path.starts_with(&self.places.config);
        if !is_own && !path::inside(&self.places.root, &real) {
            return Err("leads out of the project.".into());
        }
        self.may_be_read(path, is_own)?;
        if !self.seen.insert(real.clone()) {
            return Ok(());
        }
        let text = disk::load(&real).map_err(|why| format!("{}.", why.say()))?;
        let shown = self.shown(path);
        let text = self.fitted(&shown, &text.content);
        let imports: Vec<String> = imports(&text).map(str::to_owned).collect();
        self.found.files.push(Excerpt {
            path: shown.clone(),
            lines: None,
            filetype: String::new(),
            kind: ExcerptKind::Instructions,
            text,
        });
        for written in imports {
            if let Err(why) = self.import(path, &written, is_users, hops) {
                let text = format!("`{shown}` imports `{written}`, which {why} It was left out.");
                self.found.problems.push(text);
            }
        }
        Ok(())
    }

    /// Whether a file may be imported. A file of the project imports none that the user would be asked for. The files
    /// in the user's own folder are the user's choice.
    fn may_be_read(&self, path: &Path, is_own: bool) -> Result<(), String> {
        let spellings = path::trail(path).unwrap_or_default();
        let spellings = spellings.iter().filter(|_| !is_own);
        match spellings.map(|it| self.places.reach.reading(it)).max() {
            Some(Reading::Asked(why) | Reading::Never(why)) => Err(format!("{why}.")),
            Some(Reading::Free) | None => Ok(()),
        }
    }

    fn import(
        &mut self,
        of: &Path,
        written: &str,
        is_users: bool,
        hops: usize,
    ) -> Result<(), String> {
        let folder = of.parent().unwrap_or(of);
        let path = match (written.strip_prefix("~/"), &self.places.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => folder.join(written),
        };
        let path = path::normal(&path);
        // a word behind an `@` may be anything
        if !mention::looks_like_path(written) && !path.exists() {
            return Ok(());
        }
        if hops == HOPS {
            return Err(format!("stands behind {HOPS} imports in a row."));
        }
        self.file(&path, is_users, hops + 1)
    }

    /// What may be taken of a text, with a word to the model where that is not all, and to the user.
    fn fitted(&mut self, shown: &str, text: &str) -> String {
        let (text, hidden) = spelt_out(text);
        let mut text = text.into_owned();
        if hidden > 0 {
            self.found.problems.push(format!(
                "`{shown}` holds {hidden} invisible characters. The model sees them as [U+…]."
            ));
        }
        let (whole, most) = (text.len(), LIMIT.min(self.left));
        let end = if whole <= most { whole } else { cut_at(&text, most) };
        self.left -= end;
        if end < whole {
            text.truncate(end);
            let sizes = format!("{} of {} kB", end.div_ceil(1024), whole.div_ceil(1024));
            text.push_str(&format!(
                "[Cut: these are the first {sizes}. `read` gives the rest of {shown}.]\n"
            ));
            self.found.problems.push(format!(
                "Of `{shown}` the model gets only the first {sizes}: a file may have {} kB, all together {}.",
                LIMIT / 1024,
                TOTAL / 1024
            ));
        }
        text
    }

    fn shown(&self, path: &Path) -> String {
        path::tilde(&self.places.root, self.places.home.as_deref(), path)
    }
}

/// Where to cut a longer text for at most so many bytes: behind a line, and where the first is too long, in it.
fn cut_at(text: &str, most: usize) -> usize {
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text[..end].rfind('\n').map_or(end, |at| at + 1)
}

/// What a text imports: a line (or the item of a list) that is `@` and a path and nothing else, outside of code.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    let mut fence = None;
    text.lines().map(str::trim).filter_map(move |line| {
        let mark = ["```", "~~~"].into_iter().find(|it| line.starts_with(it));
        match (mark, fence) {
            (Some(_), None) => fence = mark,
            (Some(_), Some(_)) if mark == fence => fence = None,
            (None, None) => {
                let item = ["- ", "* ", "+ "].iter().find_map(|it| line.strip_prefix(it));
                let path = item.unwrap_or(line).trim_start().strip_prefix('@')?;
                return (!path.is_empty() && !path.contains(char::is_whitespace)).then_some(path);
            }
            _ => (),
        }
        None
    })
}
