//! Everyday commands that read many files by one word: whole folders, and what git stores.

mod scope;

use super::commands::resolved;
use super::project::{Rules, Tree};
use super::tree::fits;
use crate::bash::{Script, Simple};
use crate::reach::{Reach, Reading};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::TypesBuilder;
use scope::{Scope, Source};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The most files and folders that are looked at. Those near the top come first.
const MOST: usize = 5_000;

/// The files that a command reads in one of the folders in which it may run.
struct Reader<'a> {
    scope: &'a Scope<'a>,
    /// The folder in which the command runs.
    folder: PathBuf,
    /// The files and folders to which it is limited; none if it reads all.
    limits: Vec<PathBuf>,
    globs: Override,
    file_globs: Override,
}

impl Rules {
    /// If a command of the everyday list reads a file that may be read only with consent, without naming it, a sentence
    /// that says so. Further files than the first ones of a large tree do not count.
    pub(super) fn spread(&self, script: &Script, simple: &Simple) -> Option<String> {
        match self.forms(script, simple) {
            None => self.spread_form(script, simple),
            Some(Ok(forms)) => forms.iter().find_map(|it| self.spread_form(script, it)),
            Some(Err(why)) => Some(why),
        }
    }

    fn spread_form(&self, script: &Script, simple: &Simple) -> Option<String> {
        let (tree, reach) = (self.tree.as_ref()?, self.reach.as_ref()?);
        script.folders.iter().find_map(|at| {
            let folder = resolved(&self.root, at, "")?;
            let scope = Scope::of(simple, |it| tree.is_there(&folder.join(it)))?;
            // a program follows the links among its arguments
            let real = |it: PathBuf| tree.trail(&it).pop().unwrap_or(it);
            let resolve = |it: &&str| resolved(&self.root, at, it).map(real);
            let mut limits: Vec<PathBuf> = scope.paths.iter().filter_map(resolve).collect();
            limits.sort();
            let [globs, file_globs] =
                [&scope.globs, &scope.file_globs].map(|it| overrides(&folder, it));
            let reader = Reader { scope: &scope, folder, limits, globs, file_globs };
            let (path, why) = reader.protected(tree.as_ref(), reach)?;
            let (name, path) = (scope.name(), self.shown(&path));
            Some(format!("`{name}` may show `{path}`, which {why}."))
        })
    }
}

impl Reader<'_> {
    /// The first protected file that the command reads, and why it is protected.
    fn protected(&self, tree: &dyn Tree, reach: &Reach) -> Option<(PathBuf, &'static str)> {
        let mut asking = Asking { reach, folder: PathBuf::new(), is_inside: false };
        let mut has_index = false;
        if self.scope.source != Source::Folders {
            let mut keep = |it: &Path| asking.why(it).is_some() && self.reads(it);
            if let Some(listed) = tree.tracked(&self.folder, &mut keep) {
                let is_all = self.scope.source != Source::Changed;
                let shown = listed.into_iter().find(|it| is_all || it.is_changed);
                let shown = shown.and_then(|it| asking.why(&it.path).map(|why| (it.path, why)));
                if shown.is_some() || self.scope.source != Source::Listed {
                    return shown;
                }
                has_index = true;
            }
        }
        let mut open: VecDeque<Open> = self.limits.iter().map(|it| Open::new(it.clone())).collect();
        if open.is_empty() {
            open.push_back(Open::new(self.folder.clone()));
        }
        if has_index {
            for it in &mut open {
                it.ignored = Ignored::above(tree, &it.folder);
            }
        }
        let skips = |path: &Path, is_folder: bool, ignored: &Ignored| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name == ".git"
                || !self.scope.has_hidden && name.starts_with('.')
                || has_index && ignored.has(path, is_folder)
        };
        let ignored = |folder: &Path, above: &Ignored| {
            if has_index { above.within(tree, folder) } else { Ignored::default() }
        };
        walked(tree, open, ignored, skips, |it| asking.why(it).filter(|_| self.reads(it)))
    }

    /// Whether a file is one that the command reads, by its limits and patterns.
    fn reads(&self, path: &Path) -> bool {
        let base = self.limits.iter().find(|it| path.starts_with(it));
        let below = path.strip_prefix(&self.folder).unwrap_or(path);
        let patterns = &self.scope.patterns;
        let is_named = || patterns.iter().any(|it| fits(it, &below.to_string_lossy()));
        let is_in = self.limits.is_empty() && patterns.is_empty() || base.is_some() || is_named();
        let inner = path.strip_prefix(base.unwrap_or(&self.folder)).unwrap_or(path);
        let is_hidden = || inner.iter().any(|it| it.as_encoded_bytes().starts_with(b"."));
        let mut above = below.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
        let is_left_out =
            || self.scope.left_out.iter().any(|it| fits(it, &below.to_string_lossy()));
        is_in
            && !is_left_out()
            && (self.scope.has_hidden || !is_hidden())
            && ![&self.globs, &self.file_globs]
                .iter()
                .any(|it| it.matched(below, false).is_ignore())
            && !above.any(|it| self.globs.matched(it, true).is_ignore())
            && is_of_type(&self.scope.types, path)
    }
}

/// A folder that is to be looked at.
struct Open {
    folder: PathBuf,
    /// What git ignores in the folder, by the files above it.
    ignored: Ignored,
}

impl Open {
    fn new(folder: PathBuf) -> Open {
        Open { folder, ignored: Ignored::default() }
    }
}

/// The first file in these folders for which `why` tells why it is protected, those near the top first.
fn walked(
    tree: &dyn Tree,
    mut open: VecDeque<Open>,
    within: impl Fn(&Path, &Ignored) -> Ignored,
    skips: impl Fn(&Path, bool, &Ignored) -> bool,
    mut why: impl FnMut(&Path) -> Option<&'static str>,
) -> Option<(PathBuf, &'static str)> {
    let mut left = MOST;
    while let Some(Open { folder, ignored }) = open.pop_front() {
        let ignored = within(&folder, &ignored);
        let mut entries = tree.entries(&folder).unwrap_or_default();
        entries.sort();
        for (name, is_folder) in entries {
            left = left.checked_sub(1)?;
            let path = folder.join(&name);
            if skips(&path, is_folder, &ignored) {
                continue;
            }
            if is_folder {
                open.push_back(Open { folder: path, ignored: ignored.clone() });
            } else if let Some(why) = why(&path) {
                return Some((path, why));
            }
        }
    }
    None
}

/// The first protected file below these folders whose name fits one of the patterns, and why it is protected.
pub(super) fn named(
    tree: &dyn Tree,
    reach: &Reach,
    folders: Vec<PathBuf>,
    patterns: &[String],
) -> Option<(PathBuf, &'static str)> {
    let mut asking = Asking { reach, folder: PathBuf::new(), is_inside: false };
    // a program may take upper and lower case for the same
    let last = |it: &String| it.rsplit('/').next().unwrap_or_default().to_lowercase();
    let patterns: Vec<String> = patterns.iter().map(last).collect();
    let is_named = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        patterns.iter().any(|it| fits(it, &name))
    };
    let open = folders.into_iter().map(Open::new).collect();
    let skips = |path: &Path, _: bool, _: &Ignored| path.ends_with(".git");
    let why = |it: &Path| asking.why(it).filter(|_| is_named(it));
    walked(tree, open, |_, _| Ignored::default(), skips, why)
}

/// What git ignores, by the files of several folders. What one of them does not ignore after all counts as not ignored.
#[derive(Clone, Default)]
struct Ignored(Vec<Rc<Gitignore>>);

impl Ignored {
    /// What the files above a folder say of what is in the folder. Some versions of `rg` do not read a pattern with
    /// a slash there as git does, so it counts for nothing.
    fn above(tree: &dyn Tree, folder: &Path) -> Ignored {
        let Some(top) = folder.ancestors().find(|it| tree.is_there(&it.join(".git"))) else {
            return Ignored::default();
        };
        let mut above: Vec<&Path> =
            folder.ancestors().skip(1).take_while(|it| it.starts_with(top)).collect();
        above.reverse();
        above.into_iter().fold(Ignored::default(), |all, it| all.and(tree, it, false))
    }

    /// The same, with the files of a folder. The files outside of a repository say nothing of what is in it.
    fn within(&self, tree: &dyn Tree, folder: &Path) -> Ignored {
        self.and(tree, folder, true)
    }

    fn and(&self, tree: &dyn Tree, folder: &Path, has_places: bool) -> Ignored {
        let is_top = tree.is_there(&folder.join(".git"));
        let mut all = if is_top { Ignored::default() } else { self.clone() };
        let lines = tree.ignored(folder);
        if !lines.is_empty() {
            let mut own = GitignoreBuilder::new(folder);
            let is_place = |it: &&String| it.trim_end().trim_end_matches('/').contains('/');
            for it in lines.iter().filter(|it| has_places || it.starts_with('!') || !is_place(it)) {
                let _ = own.add_line(None, it);
            }
            all.0.extend(own.build().ok().map(Rc::new));
        }
        all
    }

    fn has(&self, path: &Path, is_folder: bool) -> bool {
        let matched = || self.0.iter().map(|it| it.matched(path, is_folder));
        matched().any(|it| it.is_ignore()) && !matched().any(|it| it.is_whitelist())
    }
}

/// Tells which of many files may be read only with consent. Neighbours have the same folder.
struct Asking<'a> {
    reach: &'a Reach,
    /// The folder of the last file.
    folder: PathBuf,
    /// Whether each file in it may be read only with consent.
    is_inside: bool,
}

impl Asking<'_> {
    /// Why a file may be read only with consent.
    fn why(&mut self, path: &Path) -> Option<&'static str> {
        let folder = path.parent()?;
        if self.folder.as_os_str() != folder.as_os_str() {
            self.is_inside = asked(self.reach, folder).is_some();
            folder.clone_into(&mut self.folder);
        }
        let may_ask =
            || path.file_name().is_some_and(|it| self.reach.may_ask(&it.to_string_lossy()));
        (self.is_inside || may_ask()).then(|| asked(self.reach, path)).flatten()
    }
}

fn asked(reach: &Reach, path: &Path) -> Option<&'static str> {
    match reach.reading(path) {
        Reading::Asked(why) => Some(why),
        Reading::Free | Reading::Never(_) => None,
    }
}

/// The patterns that select files, or leave them out after a `!`. One that cannot be read does neither.
fn overrides(folder: &Path, globs: &[String]) -> Override {
    let mut all = OverrideBuilder::new(folder);
    for it in globs {
        let _ = all.add(it);
    }
    all.build().unwrap_or_else(|_| Override::empty())
}

/// Whether a file is of one of the types of `rg`. A type that is not known selects all files.
fn is_of_type(types: &[String], path: &Path) -> bool {
    if types.is_empty() {
        return true;
    }
    let mut all = TypesBuilder::new();
    all.add_defaults();
    for it in types {
        all.select(it);
    }
    all.build().map_or(true, |it| !it.matched(path, false).is_ignore())
}
