//! Reads instruction files and the files that they import, each file once, until there is no room left.

use crate::context::{agents, mention};
use crate::message::{Excerpt, ExcerptKind};
use crate::reach::{Reach, Reading};
use crate::regular;
use crate::text::unseen::spelt_out;
use crate::tool::{disk, path, walk};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The names of an instruction file. In each folder the first one that exists is used.
pub const NAMES: [&str; 3] = ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md"];

/// The most bytes of one file, and of all files together.
const LIMIT: usize = 32 * 1024;

const TOTAL: usize = 64 * 1024;

/// How deep imports may be nested.
const HOPS: usize = 4;

/// A file with more bytes than this is not looked at to find out whether it has only blanks.
const BLANKS: u64 = 1024;

/// The most words of a file that are reported because they look like imports.
const MISSED: usize = 3;

/// Where to look for instruction files. All paths except `config` and `home` are canonical.
#[derive(Clone)]
pub struct Places {
    pub root: PathBuf,
    /// The working directory, within the root.
    pub cwd: PathBuf,
    /// The user's own configuration folder.
    pub config: PathBuf,
    pub home: Option<PathBuf>,
    /// Which files may be read.
    pub reach: Reach,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The files in the order in which the model reads them. The file nearest to the working directory comes last.
    pub files: Vec<Excerpt>,
    /// How many of the first files are the user's own; the others are the project's.
    pub own: usize,
    /// One sentence for each file that was cut or left out.
    pub problems: Vec<String>,
}

impl Found {
    /// Removes those files of the project for which `passes` is false.
    pub fn retain_of_project(&mut self, mut passes: impl FnMut(&Excerpt) -> bool) {
        let of_project = self.files.split_off(self.own.min(self.files.len()));
        self.files.extend(of_project.into_iter().filter(|it| passes(it)));
    }
}

/// The instruction file of a folder: the first one that is not empty. `is_config` says whether the folder is the user's
/// own.
pub(super) fn in_folder(folder: &Path, is_config: bool) -> Option<PathBuf> {
    let is_file = |it: &PathBuf| it.symlink_metadata().is_ok() && !agents::is_list(it, is_config);
    NAMES.iter().map(|it| folder.join(it)).find(|it| is_file(it) && !is_empty(it))
}

/// Whether a file is empty, or has only blanks.
fn is_empty(path: &Path) -> bool {
    let is_small = path.metadata().is_ok_and(|it| it.is_file() && it.len() <= BLANKS);
    is_small && regular::read(path).is_ok_and(|it| it.trim_ascii().is_empty())
}

pub(super) fn is_ignored(root: &Path, folder: &Path) -> bool {
    let way = folder.to_owned();
    let walk = walk::begin(root, move |it| way.starts_with(it.path())).build();
    !walk.flatten().any(|it| it.path() == folder)
}

pub(super) struct Reader<'a> {
    places: &'a Places,
    pub(super) found: Found,
    /// The real paths of files that were read or refused, so that no file is tried twice.
    seen: HashSet<PathBuf>,
    /// How many more bytes of instructions may be added.
    left: usize,
}

impl Reader<'_> {
    pub(super) fn new(places: &Places) -> Reader<'_> {
        Reader { places, found: Found::default(), seen: HashSet::new(), left: TOTAL }
    }

    pub(super) fn folder(&mut self, folder: &Path, is_users: bool) {
        if let Some(path) = in_folder(folder, is_users) {
            let shown = self.shown(&path);
            if let Err(why) = self.file(&path, is_users, 0) {
                self.found.problems.push(format!("`{shown}` {why} It was left out."));
            }
        }
    }

    /// Adds a file, and after it the files that it imports. The error is the rest of a sentence that begins with the
    /// file's name.
    fn file(&mut self, path: &Path, is_users: bool, hops: usize) -> Result<(), String> {
        let Some(text) = self.content(path, is_users)? else { return Ok(()) };
        let shown = self.shown(path);
        if let Some(target) = linked(path, &text).filter(|_| hops < HOPS) {
            let named = |why| format!("is only the path `{}`, which {why}", text.trim());
            return self.file(&target, is_users, hops + 1).map_err(named);
        }
        let text = self.fitted(&shown, &text);
        let imports: Vec<String> = imports(&text).map(str::to_owned).collect();
        self.report_missed(path, &shown, &text);
        self.add(&shown, text);
        for written in imports {
            if let Err(why) = self.import(path, &written, is_users, hops) {
                let text = format!("`{shown}` imports `{written}`, which {why} It was left out.");
                self.found.problems.push(text);
            }
        }
        Ok(())
    }

    pub(super) fn add(&mut self, shown: &str, text: String) {
        self.found.files.push(Excerpt {
            path: shown.to_owned(),
            kind: ExcerptKind::Instructions,
            text,
            ..Excerpt::default()
        });
    }

    /// The text of a file, or `None` if the file was read before. The error is the rest of a sentence that begins with
    /// the file's name.
    pub(super) fn content(
        &mut self,
        path: &Path,
        is_users: bool,
    ) -> Result<Option<String>, String> {
        let real = fs::canonicalize(path).map_err(|_| "does not exist.".to_owned())?;
        let is_own = is_users && path.starts_with(&self.places.config);
        if !is_own && !path::inside(&self.places.root, &real) {
            return Err("leads out of the project.".into());
        }
        self.may_be_read(path, is_own)?;
        if !self.seen.insert(real.clone()) {
            return Ok(None);
        }
        let text = disk::load(&real).map_err(|why| format!("{}.", why.say()))?;
        Ok(Some(text.content))
    }

    /// Checks that a file may be imported. A file of the project cannot import a file that may be read only with
    /// consent. A file in the user's own configuration folder can import any file.
    pub(super) fn may_be_read(&self, path: &Path, is_own: bool) -> Result<(), String> {
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
        // a word after an `@` is not always a path
        if !mention::looks_like_path(written) && !path.exists() {
            return Ok(());
        }
        if hops == HOPS {
            return Err(format!("is more than {HOPS} imports deep."));
        }
        self.file(&path, is_users, hops + 1)
    }

    /// Tells the user about words that name a file after an `@` but import nothing, because they are not alone in their
    /// line.
    fn report_missed(&mut self, of: &Path, shown: &str, text: &str) {
        let folder = of.parent().unwrap_or(of);
        let mut missed: Vec<&str> = Vec::new();
        for word in within_lines(text) {
            let is_file = mention::looks_like_path(word) && folder.join(word).is_file();
            if is_file && missed.len() < MISSED && !missed.contains(&word) {
                missed.push(word);
            }
        }
        for it in missed {
            self.found.problems.push(format!(
                "`{shown}` names `@{it}` within a line, so the file is not imported. Write `@{it}` on a line of its own."
            ));
        }
    }

    /// The part of a text that fits into the limits. If the text is cut or has invisible characters, the model and the
    /// user are told.
    pub(super) fn fitted(&mut self, shown: &str, text: &str) -> String {
        let (text, hidden) = spelt_out(text);
        let mut text = text.into_owned();
        if hidden > 0 {
            self.found.problems.push(format!(
                "`{shown}` contains {hidden} invisible characters. The model sees them as [U+…]."
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
                "The model gets only the first {sizes} of `{shown}`: a file may have {} kB, all files together {}.",
                LIMIT / 1024,
                TOTAL / 1024
            ));
        }
        text
    }

    pub(super) fn shown(&self, path: &Path) -> String {
        path::tilde(&self.places.root, self.places.home.as_deref(), path)
    }
}

/// Where to cut a text so that at most `most` bytes remain: after a line, or within the first line if that line is too
/// long.
fn cut_at(text: &str, most: usize) -> usize {
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text[..end].rfind('\n').map_or(end, |at| at + 1)
}

/// The file to which a symbolic link leads that git has written as a file with the link's target as its text, as it
/// does where the file system has no links.
fn linked(path: &Path, text: &str) -> Option<PathBuf> {
    let target = text.trim();
    let is_path =
        !target.contains(char::is_whitespace) && target.len() <= 500 && !target.starts_with('@');
    let is_name = is_path && Path::new(target).extension().is_some_and(|it| it == "md");
    let folder = path.parent().unwrap_or(path);
    is_name.then(|| path::normal(&folder.join(target))).filter(|it| it != path)
}

/// The imports of a text: each line or list item outside of code that is only `@` and a path.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    prose(text).filter_map(import)
}

fn import(line: &str) -> Option<&str> {
    let item = ["- ", "* ", "+ "].iter().find_map(|it| line.strip_prefix(it));
    let path = item.unwrap_or(line).trim_start().strip_prefix('@')?;
    (!path.is_empty() && !path.contains(char::is_whitespace)).then_some(path)
}

/// The words after an `@` that are not alone in their line, outside of code.
fn within_lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = prose(text).filter(|it| import(it).is_none());
    let outside = lines.flat_map(|it| it.split('`').step_by(2));
    outside.flat_map(str::split_whitespace).filter_map(|word| {
        let path = word.trim_start_matches(['(', '[', '"', '\'']).strip_prefix('@')?;
        Some(path.trim_end_matches(['.', ',', ';', ':', ')', ']', '"', '\'', '!', '?']))
    })
}

/// The lines of a text outside of blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fence = None;
    text.lines().map(str::trim).filter(move |line| {
        let mark = ["```", "~~~"].into_iter().find(|it| line.starts_with(it));
        match (mark, fence) {
            (Some(_), None) => fence = mark,
            (Some(_), Some(_)) if mark == fence => fence = None,
            (None, None) => return true,
            _ => (),
        }
        false
    })
}
