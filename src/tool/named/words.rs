//! The words of a command line that may be paths of programs.

use crate::bash::{Program, Script, Simple, Word};
use std::collections::BTreeSet;

/// Programs that run none of the files which are their arguments.
const READERS: [&str; 27] = [
    "[", "bat", "cat", "cd", "cp", "diff", "echo", "find", "git", "grep", "head", "less", "ls",
    "mkdir", "more", "mv", "open", "printf", "rg", "rm", "sort", "tail", "test", "touch", "true",
    "wc", "xdg-open",
];
/// What stands between the words of a text, whatever the text is.
const BETWEEN: &str = ";|&()<>\"'`={},[]#";

/// The words, and the folders in which the commands run. Of an alias of git, the arguments of programs that only read
/// files are left out: the user calls an alias knowingly, and it may be about any file of the project.
pub(super) fn of(line: &str, is_alias: bool) -> (BTreeSet<String>, Vec<String>) {
    let line = line.trim_start_matches('!');
    let script = Script::parse(line);
    let mut texts: Vec<String> = Vec::new();
    // what is only suspected of the words of an alias is not counted
    for Simple { words, .. } in script.commands.iter().filter(|it| it.is_certain() || !is_alias) {
        let name = words.first().map_or("", Word::shown);
        let is_reader = is_alias && READERS.contains(&name);
        let all = words.iter().take(if is_reader { 1 } else { usize::MAX });
        texts.extend(all.map(|it| it.shown().to_owned()));
    }
    let runs =
        |it: &&Program| !it.are_arguments && (!is_alias || !READERS.contains(&it.name.as_str()));
    let programs = script.programs.iter().filter(runs).flat_map(|it| &it.words);
    texts.extend(programs.map(|it| it.shown().to_owned()));
    texts.extend(script.inputs.iter().cloned());
    if script.unclear.is_some() || script.commands.is_empty() {
        texts.push(line.to_owned());
    }
    let inner: BTreeSet<String> = texts.iter().flat_map(|it| tokens(it)).collect();
    (inner.into_iter().chain(texts).filter(|it| !it.contains('\n')).collect(), script.folders)
}

/// The words of any text, without the options and the variables before them.
pub(super) fn tokens(text: &str) -> BTreeSet<String> {
    let is_between = |c: char| c.is_whitespace() || BETWEEN.contains(c);
    let mut all = BTreeSet::new();
    for token in text.split(is_between).filter(|it| !it.is_empty()) {
        // `-Ffile`, `-javaagent:file`
        let is_option = token.starts_with('-') && !token.starts_with("--");
        let glued = is_option.then(|| token.get(2..)).flatten();
        let named = token.split_once(':').map(|it| it.1).filter(|_| is_option);
        for it in [Some(token), glued, named].into_iter().flatten() {
            all.insert(it.to_owned());
            all.extend(behind_folder(it, text).map(str::to_owned));
        }
    }
    all.retain(|it| !it.is_empty());
    all
}

/// The rest of `$folder/file`, of `$(…)/file` and of `~+/file`, where the tilde stands for the folder of the shell.
fn behind_folder<'a>(token: &'a str, text: &str) -> Option<&'a str> {
    let is_open = token.starts_with(['$', '/']) && text.contains('$') || token.starts_with("~+/");
    token.split_once('/').map(|it| it.1).filter(|_| is_open)
}

/// The paths in the folder of the repository that a command line names: `$(git rev-parse --git-common-dir)/x`.
pub(super) fn in_repository(line: &str) -> BTreeSet<String> {
    const FOLDERS: [&str; 6] = [
        "--absolute-git-dir",
        "--git-common-dir",
        "--git-dir",
        "--git-path",
        "GIT_COMMON_DIR",
        "GIT_DIR",
    ];
    if !FOLDERS.iter().any(|it| line.contains(it)) {
        return BTreeSet::new();
    }
    let rests: BTreeSet<String> = line
        .split(|c: char| c.is_whitespace() || BETWEEN.contains(c))
        .filter_map(|it| it.split_once('/').filter(|it| it.0.is_empty() || it.0.starts_with('$')))
        .map(|it| it.1.to_owned())
        .filter(|it| !it.is_empty())
        .collect();
    // `$(git rev-parse --git-path a)/x` is `a/x`
    let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || BETWEEN.contains(c)).collect();
    let heads = words.windows(2).filter(|it| it[0] == "--git-path").map(|it| it[1]);
    let heads: Vec<&str> = heads.collect();
    let joined = rests.iter().flat_map(|rest| heads.iter().map(move |it| format!("{it}/{rest}")));
    let joined: Vec<String> = joined.chain(heads.iter().map(|it| (*it).to_owned())).collect();
    rests.into_iter().chain(joined).collect()
}

/// Whether a word reads like the path of a file.
pub(super) fn is_path(word: &str) -> bool {
    let has_ending = word.trim_start_matches('.').contains('.');
    let is_other =
        word.contains("://") || word.ends_with('/') || word.starts_with('-') || word.contains('%');
    !is_other && (word.contains('/') || has_ending)
}
