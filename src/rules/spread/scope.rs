//! Which files a command reads without naming each of them, as far as its words tell.

use crate::bash::options::{Item, Manner, Name};
use crate::bash::{Simple, Word};
use crate::rules::commands::texts;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The files below folders.
    Folders,
    /// The files of the repository.
    Index,
    /// Those of them that have changed.
    Changed,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scope<'a> {
    pub(super) source: Source,
    words: Vec<&'a str>,
    /// The paths to which the command is limited.
    pub(super) paths: Vec<&'a str>,
    /// Patterns of paths to which it is limited.
    pub(super) patterns: Vec<&'a str>,
    /// Patterns in the style of a `.gitignore` that select files or, after a `!`, leave them and whole folders out.
    pub(super) globs: Vec<String>,
    /// Patterns that select files or leave them out, but no folders.
    pub(super) file_globs: Vec<String>,
    /// The types of `rg`.
    pub(super) types: Vec<String>,
    pub(super) has_hidden: bool,
}

/// A program that searches or compares folders.
struct Searcher {
    names: &'static [&'static str],
    /// The options without which it reads no folder.
    recurses: &'static [&'static str],
    /// Options whose values are patterns, each with what stands before and after the value in `globs`.
    globs: &'static [(&'static str, &'static str, &'static str)],
    /// Those for `file_globs`.
    file_globs: &'static [(&'static str, &'static str, &'static str)],
    /// Options with which it prints only names or counts.
    is_silent: &'static [&'static str],
}

const SEARCHERS: [Searcher; 3] = [
    Searcher {
        names: &["grep", "egrep", "fgrep"],
        recurses: &["r", "R"],
        globs: &[("exclude-dir", "!", "/")],
        file_globs: &[("include", "", ""), ("exclude", "!", "")],
        is_silent: &["l", "L", "c", "q"],
    },
    Searcher {
        names: &["rg"],
        recurses: &[],
        globs: &[("g", "", "")],
        file_globs: &[],
        is_silent: &["l", "files-without-match", "c", "count-matches", "q", "files", "type-list"],
    },
    Searcher {
        names: &["diff"],
        recurses: &["r"],
        globs: &[("x", "!", "")],
        file_globs: &[],
        is_silent: &["q"],
    },
];

/// Subcommands of git that show what files hold, and whether they do without a further option.
const SHOWING: [(&[&str], bool); 8] = [
    (&["diff"], true),
    (&["grep"], true),
    (&["show"], true),
    (&["log"], false),
    (&["reflog", "show"], false),
    (&["stash", "list"], false),
    (&["stash", "show"], false),
    (&["status"], false),
];
/// Long options of these subcommands that print changes. They may be abbreviated.
const PATCHES: [&str; 10] = [
    "--cc",
    "--color-words",
    "--function-context",
    "--patch",
    "--patch-with-raw",
    "--patch-with-stat",
    "--remerge-diff",
    "--unified",
    "--verbose",
    "--word-diff",
];
/// Options with which they print no changes.
const NAMES_ONLY: [&str; 12] = [
    "--compact-summary",
    "--dirstat",
    "--name-only",
    "--name-status",
    "--no-patch",
    "--numstat",
    "--quiet",
    "--raw",
    "--shortstat",
    "--stat",
    "--summary",
    "-s",
];

impl<'a> Scope<'a> {
    /// What a command reads; `None` if its words name each file. `is_there` says whether there is something at a path.
    pub(super) fn of(simple: &'a Simple, is_there: impl Fn(&str) -> bool) -> Option<Scope<'a>> {
        let name = simple.name()?;
        match SEARCHERS.iter().find(|it| it.names.contains(&name)) {
            Some(it) => searched(it, simple, name),
            None if name == "git" => stored(simple, is_there),
            None => None,
        }
    }

    /// The words by which a question names the command.
    pub(super) fn name(&self) -> String {
        self.words.join(" ")
    }
}

fn searched<'a>(searcher: &Searcher, simple: &'a Simple, name: &'a str) -> Option<Scope<'a>> {
    let words = simple.words.get(1..).unwrap_or_default();
    let manner = Manner::reading(name, words);
    let items = manner.placed(words);
    let options: Vec<(&[Name], Option<&Word>, bool)> = items
        .iter()
        .filter_map(|it| match &it.1 {
            Item::Option { names, value, may_take } => {
                Some((&names[..], value.as_ref(), *may_take))
            }
            Item::Text(_) | Item::Open { .. } => None,
        })
        .collect();
    let count = |all: &[&str]| {
        options.iter().filter(|it| all.iter().any(|name| manner.is(it.0, name))).count()
    };
    let recurse = |it: &(&[Name], Option<&Word>, bool)| {
        manner.is(it.0, "d")
            && it.1.is_none_or(|it| it.fixed().is_none_or(|it| "recurse".starts_with(it)))
    };
    let reads_folders = searcher.recurses.is_empty()
        || count(searcher.recurses) > 0
        || name != "diff" && options.iter().any(recurse);
    if !reads_folders || count(searcher.is_silent) > 0 {
        return None;
    }
    let values = |name: &str| -> Vec<&str> {
        let of = options.iter().filter(|it| manner.is(it.0, name));
        of.filter_map(|it| it.1?.fixed()).collect()
    };
    let patterns = |all: &[(&str, &str, &str)]| -> Vec<String> {
        let of = all.iter().map(|it| (values(it.0), it.1, it.2));
        of.flat_map(|(all, head, tail)| all.into_iter().map(move |it| format!("{head}{it}{tail}")))
            .collect()
    };
    let texts = texts(simple);
    let paths = items.iter().filter(|it| !texts.contains(&(it.0 + 1)));
    let mut paths: Vec<&str> = paths.filter_map(|it| it.1.text()).collect();
    // a word may be the pattern, or the value of an option that is not known
    let is_unsure = texts.is_empty() || options.iter().any(|it| it.2);
    if is_unsure && name != "diff" || paths.is_empty() {
        paths = vec!["."];
    }
    // with `rg`, a pattern that selects files also selects hidden and ignored ones
    let selects = name != "rg" || values("g").iter().any(|it| !it.starts_with('!'));
    let is_free = selects || count(&["u", "uuu"]) > 0 || has_no_ignore(&options, &manner);
    Some(Scope {
        source: if is_free { Source::Folders } else { Source::Index },
        words: vec![name],
        paths,
        patterns: Vec::new(),
        globs: patterns(searcher.globs),
        file_globs: patterns(searcher.file_globs),
        types: values("t").into_iter().map(str::to_owned).collect(),
        has_hidden: selects || count(&[".", "uuu"]) > 0 || count(&["u"]) > 1,
    })
}

/// Whether `rg` is told to read files that git ignores.
fn has_no_ignore(options: &[(&[Name], Option<&Word>, bool)], manner: &Manner) -> bool {
    let is_it = |it: &Name| matches!(it, Name::Long(it) if it.starts_with("no-ignore"));
    options.iter().any(|it| manner.is(it.0, "no-ignore") || it.0.iter().any(is_it))
}

/// What a command of git shows of the files that the repository has.
fn stored(simple: &Simple, is_there: impl Fn(&str) -> bool) -> Option<Scope<'_>> {
    let words: Vec<&str> = simple.words[1..].iter().map(Word::shown).collect();
    let (verbs, shows) = SHOWING.iter().find(|it| words.starts_with(it.0))?;
    let rest = &words[verbs.len()..];
    let dashes = rest.iter().position(|it| *it == "--");
    let (before, after) = rest.split_at(dashes.unwrap_or(rest.len()));
    let options = || before.iter().filter(|it| it.starts_with('-'));
    let is_patch = |it: &&&str| {
        let head = it.split('=').next().unwrap_or_default();
        let is_long = head.len() > 2 && PATCHES.iter().any(|it| it.starts_with(head));
        is_long
            || match *verbs {
                ["status"] => !it.starts_with("--") && it.contains('v'),
                _ => it[1..].starts_with(['p', 'u', 'c', 'U', 'W']),
            }
    };
    let is_grep = *verbs == ["grep"];
    let has = |all: &[&str]| options().any(|it| all.contains(it));
    let is_printing = if is_grep {
        !has(&["-l", "-L", "-c", "-q", "--name-only", "--files-with-matches", "--count", "--quiet"])
    } else {
        let is_silent = |it: &&&str| NAMES_ONLY.contains(&it.split('=').next().unwrap_or_default());
        options().any(|it| is_patch(&it)) || *shows && !options().any(|it| is_silent(&it))
    };
    if !is_printing {
        return None;
    }
    let texts = texts(simple);
    let is_text = |at: usize| is_grep && texts.contains(&(at + 1 + verbs.len()));
    let operands: Vec<&str> = before
        .iter()
        .enumerate()
        .filter(|(at, it)| !it.starts_with('-') && !is_text(*at))
        .map(|it| *it.1)
        .collect();
    // `HEAD:a` names a file
    if *verbs == ["show"] && !operands.is_empty() && operands.iter().all(|it| it.contains(':')) {
        return None;
    }
    let (mut named, commits): (Vec<&str>, Vec<&str>) =
        operands.into_iter().partition(|it| it.starts_with(':') || is_there(it));
    named.extend(after.iter().skip(1));
    if is_grep && named.is_empty() {
        named.push(".");
    }
    let source = match () {
        () if has(&["--no-index", "--untracked"]) => Source::Folders,
        () if *verbs == ["diff"] && commits.is_empty() && !has(&["--cached", "--staged"]) => {
            Source::Changed
        }
        () => Source::Index,
    };
    let words = [&["git"][..], verbs].concat();
    Some(limited(source, words, named))
}

/// The scope of a command of git that these words limit: paths, patterns, and what `:!` leaves out.
fn limited<'a>(source: Source, words: Vec<&'a str>, named: Vec<&'a str>) -> Scope<'a> {
    let mut scope = Scope {
        source,
        words,
        paths: Vec::new(),
        patterns: Vec::new(),
        globs: Vec::new(),
        file_globs: Vec::new(),
        types: Vec::new(),
        has_hidden: true,
    };
    let mut is_whole = false;
    for it in named {
        let left_out = [":!", ":^", ":(exclude)"].iter().find_map(|mark| it.strip_prefix(mark));
        let is_pattern = it.contains(['*', '?', '[']);
        match left_out {
            Some(it) if it.contains(['*', '?', '[']) => scope.globs.push(format!("!{it}")),
            Some(it) => scope.globs.push(format!("!/{}", it.trim_start_matches("./"))),
            None if it.starts_with(':') => is_whole = true,
            None if is_pattern => scope.patterns.push(it),
            None => scope.paths.push(it),
        }
    }
    if is_whole {
        scope.paths.clear();
        scope.patterns.clear();
    }
    scope
}
