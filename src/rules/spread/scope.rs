//! Which files a command reads without naming each of them, as far as its words tell.

use crate::bash::options::{Item, Manner, Name};
use crate::bash::{Simple, Word};
use crate::rules::commands::texts;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The files below folders.
    Folders,
    /// Those of them that git tracks or does not ignore.
    Listed,
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
    /// Patterns of paths to which it is limited, and of paths that it leaves out.
    pub(super) patterns: Vec<&'a str>,
    pub(super) left_out: Vec<&'a str>,
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
    /// Options with which it prints lines all the same.
    is_loud: &'static [&'static str],
}

const SEARCHERS: [Searcher; 3] = [
    Searcher {
        names: &["grep", "egrep", "fgrep"],
        recurses: &["r", "R"],
        globs: &[("exclude-dir", "!", "/")],
        file_globs: &[("include", "", ""), ("exclude", "!", "")],
        is_silent: &["l", "L", "c", "q"],
        is_loud: &[],
    },
    Searcher {
        names: &["rg"],
        recurses: &[],
        globs: &[("g", "", "")],
        file_globs: &[],
        is_silent: &["l", "files-without-match", "c", "count-matches", "q", "files", "type-list"],
        // of `--json` and these, the last one holds
        is_loud: &["json"],
    },
    Searcher {
        names: &["diff"],
        // of two folders it compares the files, of one folder that of the other file's name
        recurses: &[],
        globs: &[("x", "!", "")],
        file_globs: &[],
        is_silent: &["q"],
        is_loud: &[],
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
/// Options with which these subcommands print no changes.
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
/// Options of theirs that add no changes to what is printed. Any other option may add some, in its short form as a part of
/// a word too.
const PLAIN: [&str; 60] = [
    "--abbrev",
    "--abbrev-commit",
    "--after",
    "--ahead-behind",
    "--all",
    "--author",
    "--before",
    "--boundary",
    "--branch",
    "--branches",
    "--cached",
    "--color",
    "--column",
    "--committer",
    "--cumulative",
    "--date",
    "--date-order",
    "--decorate",
    "--diff-filter",
    "--exit-code",
    "--find-copies",
    "--find-renames",
    "--first-parent",
    "--follow",
    "--format",
    "--full-history",
    "--graph",
    "--grep",
    "--ignore-all-space",
    "--ignore-space-change",
    "--ignored",
    "--left-right",
    "--long",
    "--max-count",
    "--merge-base",
    "--merges",
    "--no-abbrev-commit",
    "--no-color",
    "--no-decorate",
    "--no-ext-diff",
    "--no-merges",
    "--no-notes",
    "--no-renames",
    "--no-textconv",
    "--oneline",
    "--porcelain",
    "--pretty",
    "--relative",
    "--remotes",
    "--renames",
    "--reverse",
    "--short",
    "--show-stash",
    "--since",
    "--skip",
    "--staged",
    "--tags",
    "--topo-order",
    "--until",
    "--untracked-files",
];
/// Their letters that do the same, alone and together.
const PLAIN_LETTERS: &str = "biswzEFP";
/// Those of both that take the next word.
const TAKING: [&str; 15] = [
    "--after",
    "--author",
    "--before",
    "--committer",
    "--date",
    "--diff-filter",
    "--format",
    "--grep",
    "--max-count",
    "--max-depth",
    "--pretty",
    "--since",
    "--skip",
    "--until",
    "--word-diff-regex",
];
/// Options that print changes and take no word.
const PRINTING: [&str; 9] = [
    "--binary",
    "--cc",
    "--follow",
    "--no-index",
    "--patch",
    "--patch-with-stat",
    "--text",
    "--word-diff",
    "--color-words",
];
/// The letters that take no word, alone and together, and those of `git grep`.
const LETTERS: &str = "abcgimpqrstuwzEFPRW";
const GREP_BARE: &str = "lLcqinwvEFGPrIahHoWpz";
/// How those begin with which git reads more than the index has: files that it does not track, and submodules.
const FOLDERS: [&str; 4] = ["--no-i", "--un", "--recurse-s", "--submod"];
/// Options with which `git grep` prints no lines, and its options that change nothing of that.
const GREP_SILENT: [&str; 8] =
    ["-l", "-L", "-c", "-q", "--name-only", "--files-with-matches", "--count", "--quiet"];
const GREP_PLAIN: [&str; 13] = [
    "--cached",
    "--extended-regexp",
    "--fixed-strings",
    "--ignore-case",
    "--index",
    "--line-number",
    "--max-depth",
    "--perl-regexp",
    "--recursive",
    "--untracked",
    "--word-regexp",
    "--no-index",
    "--color",
];
const GREP_LETTERS: &str = "lLcqinwvEFGPrI";

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
    if !reads_folders || count(searcher.is_silent) > 0 && count(searcher.is_loud) == 0 {
        return None;
    }
    let values = |name: &str| -> Vec<&str> {
        let of = options.iter().filter(|it| manner.is(it.0, name));
        of.filter_map(|it| it.1?.fixed()).collect()
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
    let selects =
        name != "rg" || count(&["iglob"]) > 0 || values("g").iter().any(|it| !it.starts_with('!'));
    let is_free = selects || count(&["u", "uuu"]) > 0 || has_no_ignore(&options, &manner);
    Some(Scope {
        source: if is_free { Source::Folders } else { Source::Listed },
        words: vec![name],
        paths,
        patterns: Vec::new(),
        left_out: Vec::new(),
        globs: patterns(searcher.globs, &options, &manner),
        file_globs: file_patterns(searcher, &options, &manner),
        // a type may get further patterns
        types: match count(&["type-add"]) {
            0 => values("t").into_iter().map(str::to_owned).collect(),
            _ => Vec::new(),
        },
        has_hidden: selects || count(&[".", "uuu"]) > 0 || count(&["u"]) > 1,
    })
}

/// The patterns that these options give, in the order of the words: of several that fit, the last one holds. `known` is as
/// in `Searcher`.
fn patterns(
    known: &[(&str, &str, &str)],
    options: &[(&[Name], Option<&Word>, bool)],
    manner: &Manner,
) -> Vec<String> {
    let of = options.iter().filter_map(|it| {
        let (_, head, tail) = known.iter().find(|known| manner.is(it.0, known.0))?;
        Some(format!("{head}{}{tail}", it.1?.fixed()?))
    });
    let (open, all): (Vec<String>, Vec<String>) = of.partition(|it| is_open(it));
    // of such patterns it is not known which files they fit, so they leave nothing out
    let is_open = options.iter().any(|it| manner.is(it.0, "glob-case-insensitive"))
        || open.iter().any(|it| !it.starts_with('!'));
    if is_open { Vec::new() } else { all }
}

/// Whether programs read a pattern in different ways: it has a quoted character or a class of characters by its name.
fn is_open(pattern: &str) -> bool {
    pattern.contains('\\') || ["[:", "[.", "[="].iter().any(|it| pattern.contains(it))
}

/// The patterns of files. If the first one leaves files out, those that fit none are read.
fn file_patterns(
    searcher: &Searcher,
    options: &[(&[Name], Option<&Word>, bool)],
    manner: &Manner,
) -> Vec<String> {
    let all = patterns(searcher.file_globs, options, manner);
    let is_open = all.first().is_some_and(|it| it.starts_with('!'));
    is_open.then(|| "*".to_owned()).into_iter().chain(all).collect()
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
    let is_grep = *verbs == ["grep"];
    let has = |all: &[&str]| options().any(|it| all.contains(&head(it)));
    // with any option, `git stash show` prints changes
    let shows = *shows || *verbs == ["stash", "show"] && options().next().is_some();
    if prints_nothing(before, is_grep, shows) {
        return None;
    }
    let texts = texts(simple);
    let is_text = |at: usize| is_grep && texts.contains(&(at + 1 + verbs.len()));
    // such a word may be a value, and no path that limits the command
    let is_value =
        |at: usize| at > 0 && before[at - 1].starts_with('-') && may_take(before[at - 1], is_grep);
    let operands: Vec<(&str, bool)> = before
        .iter()
        .enumerate()
        .filter(|(at, it)| !it.starts_with('-') && !is_text(*at))
        .map(|(at, it)| (*it, !is_value(at)))
        .collect();
    // `HEAD:a` names a file
    if *verbs == ["show"] && !operands.is_empty() && operands.iter().all(|it| names_file(it.0)) {
        return None;
    }
    let is_path = |it: &(&str, bool)| it.1 && (it.0.starts_with(':') || is_there(it.0));
    let (named, commits): (Vec<_>, Vec<_>) = operands.into_iter().partition(is_path);
    let mut named: Vec<&str> = named.into_iter().map(|it| it.0).collect();
    named.extend(after.iter().skip(1));
    // the paths then only select the commits
    if options().any(|it| it.starts_with("--full-d")) {
        named.clear();
    }
    if is_grep && named.is_empty() {
        named.push(".");
    }
    let source = match () {
        () if options().any(|it| FOLDERS.iter().any(|head| it.starts_with(head))) => {
            Source::Folders
        }
        () if *verbs == ["diff"] && commits.is_empty() && !has(&["--cached", "--staged"]) => {
            Source::Changed
        }
        () => Source::Index,
    };
    let words = [&["git"][..], verbs].concat();
    Some(limited(source, words, named))
}

/// Whether these words keep a command of git from printing what files hold: an option says so, or the command prints
/// nothing by itself, and no other option may have it print something.
fn prints_nothing(words: &[&str], is_grep: bool, shows: bool) -> bool {
    let mut options = words.iter().filter(|it| it.starts_with('-'));
    if is_grep {
        let is_silent = |it: &str| {
            GREP_SILENT.contains(&it)
                || letters(it, GREP_LETTERS) && it.contains(['l', 'L', 'c', 'q'])
        };
        let is_plain = |it: &str| GREP_PLAIN.contains(&head(it)) || letters(it, GREP_LETTERS);
        return options.clone().any(|it| is_silent(it))
            && options.all(|it| is_silent(it) || is_plain(it));
    }
    let is_silent = |it: &str| NAMES_ONLY.contains(&head(it));
    let is_plain = |it: &str| PLAIN.contains(&head(it)) || letters(it, PLAIN_LETTERS);
    (!shows || options.clone().any(|it| is_silent(it)))
        && options.all(|it| is_silent(it) || is_plain(it))
}

/// Whether a word of `git show` is a commit and a path in it, such as `HEAD:a`.
fn names_file(word: &str) -> bool {
    let is_plain = !word.contains(['{', '}', '^']);
    is_plain && word.split_once(':').is_some_and(|it| !it.0.is_empty() && !it.1.is_empty())
}

/// Whether the word after an option may be its value.
fn may_take(option: &str, is_grep: bool) -> bool {
    let known = [&NAMES_ONLY[..], &PLAIN, &PRINTING, &GREP_SILENT, &GREP_PLAIN];
    let is_known = known.iter().any(|it| it.contains(&option)) && !TAKING.contains(&option);
    let bare = if is_grep { GREP_BARE } else { LETTERS };
    let is_bare = |it: &str| {
        let number = it.strip_prefix(['n', 'U']).unwrap_or(it);
        let is_glued = it.starts_with(['M', 'C', 'B', 'D'])
            || it.len() > 1 && it.starts_with(['S', 'G', 'L', 'O']);
        !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())
            || is_glued && !is_grep
            || it.chars().all(|it| bare.contains(it))
    };
    let letters = option.strip_prefix('-').filter(|it| !it.starts_with('-'));
    !(option.contains('=') || is_known || letters.is_some_and(is_bare))
}

/// An option without its value.
fn head(option: &str) -> &str {
    option.split('=').next().unwrap_or_default()
}

/// Whether a word is one or more of these letters, a number of commits, or an option with a text to look for.
fn letters(option: &str, known: &str) -> bool {
    let Some(rest) = option.strip_prefix('-').filter(|it| !it.starts_with('-')) else {
        return false;
    };
    let is_number = rest.strip_prefix('n').unwrap_or(rest).bytes().all(|it| it.is_ascii_digit());
    is_number || rest.starts_with(['S', 'G', 'M', 'C']) || rest.chars().all(|it| known.contains(it))
}

/// The scope of a command of git that these words limit: paths, patterns, and what `:!` leaves out.
fn limited<'a>(source: Source, words: Vec<&'a str>, named: Vec<&'a str>) -> Scope<'a> {
    let mut scope = Scope {
        source,
        words,
        paths: Vec::new(),
        patterns: Vec::new(),
        left_out: Vec::new(),
        globs: Vec::new(),
        file_globs: Vec::new(),
        types: Vec::new(),
        has_hidden: true,
    };
    let mut is_whole = false;
    for it in named {
        let left_out = [":!", ":^", ":(exclude)"].iter().find_map(|mark| it.strip_prefix(mark));
        let is_pattern = it.contains(['*', '?', '[', '\\']);
        match left_out {
            // what is not known to fit is not left out
            Some(it) if it.contains(['[', '\\']) => (),
            // git matches such a pattern from the start of the path, and its `*` also fits `/`
            Some(it) if it.contains(['*', '?']) => {
                scope.left_out.push(it.trim_start_matches("./"));
            }
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
