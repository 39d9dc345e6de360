//! Commands that run other commands, and builtins that change what later commands mean.

mod git;
mod table;

use super::listing;
use super::script::{DEPTH, Listed, Names, Script};
use super::simple::{INPUT, Simple, Surety, Word, cause, quoted};
use super::variables::{self, Value, harmless};
use super::{feed, runs};
pub(super) use table::is_shell;
use table::{CHANGERS, LOADERS, RUNNERS, SOMETIMES, WRAPPERS, Wrapper};

/// Builtins after which a name in the line may mean another command, or that run what the shell remembers.
const RENAMERS: &[&str] = &["alias", "enable", "fc", "hash"];
/// Builtins, apart from `CHANGERS`, that evaluate the subscript of an array in their arguments.
const EVALUATES: &[&str] = &["[", "printf", "test", "wait"];

/// Programs that take the name of a toolchain before their arguments: `cargo +nightly publish`.
const RUSTS: &[&str] = &["cargo", "clippy-driver", "rust-gdb", "rustc", "rustdoc", "rustfmt"];

/// Whether `command` only tells what a name means: `command -v rm`.
fn only_tells(simple: &Simple) -> bool {
    let options = simple.words[1..].iter().map(Word::fixed).map(Option::unwrap_or_default);
    let mut options = options.take_while(|it| it.starts_with('-') && *it != "--");
    simple.name() == Some("command") && options.any(|it| it.contains(['v', 'V']))
}

/// Adds the same command without the toolchain.
fn without_toolchain(script: &mut Script, simple: &Simple, name: &str, depth: usize) {
    let is_toolchain = |it: &Word| it.shown().starts_with('+');
    if RUSTS.contains(&name) && simple.words.get(1).is_some_and(is_toolchain) {
        let words = [&simple.words[..1], &simple.words[2..]].concat();
        runs::command(script, simple, &words, depth);
    }
}

/// Adds a simple command to the script, and the commands that it runs.
pub(super) fn unwrapped(script: &mut Script, simple: Simple, depth: usize) {
    let Some(name) = simple.name().map(str::to_owned) else {
        if let Some(it) = simple.words.first() {
            script.blind(format!(
                "{} is known only when the command runs",
                quoted(cause(it.shown()))
            ));
        }
        return script.commands.push(simple);
    };
    if name == "cd" {
        return enter(script, &simple.words[1..], &simple);
    }
    if is_strictness(&simple) {
        return script.commands.push(Simple { surety: Surety::Inner, ..simple });
    }
    if only_tells(&simple) {
        return script.commands.push(simple);
    }
    if let Some(wrapper) = WRAPPERS.iter().find(|it| it.name == name) {
        return seen_through(script, wrapper, simple, depth);
    }
    if name == "xargs" && listed(script, &simple, depth)
        || name == "find" && executed(script, &simple, depth)
    {
        return;
    }
    if is_shell(&name) && runs_text(script, &simple, depth) {
        return;
    }
    if feed::reads_lines(&simple) {
        script.blind(format!("`{name}` runs the commands in its input"));
    }
    let is_changer = CHANGERS.contains(&name.as_str());
    let is_runner = RUNNERS.contains(&name.as_str()) || is_loader(&name);
    doubted(script, &simple, &name, [is_changer, is_runner]);
    if is_changer || EVALUATES.contains(&name.as_str()) {
        subscripts(script, &simple, depth);
    }
    if is_changer || matches!(name.as_str(), "make" | "gmake") {
        settings(script, &simple, &name, depth);
    }
    let is_told = runs::told(script, &simple, depth);
    if !is_told && (is_runner || SOMETIMES.contains(&name.as_str())) {
        let surety = if is_loader(&name) { Surety::Inner } else { Surety::Guess };
        runs::guessed(script, &simple, surety, depth);
    }
    runs::texts(script, &simple, is_told);
    feed::unknown(script, &simple);
    if name == "run-parts" {
        script.unclear("`run-parts` runs each program of a folder".into());
    }
    runs::scripted(script, &simple);
    without_toolchain(script, &simple, &name, depth);
    git::of_git(script, &simple, &name, depth);
    for it in simple.folders() {
        enter(script, &[it], &simple);
    }
    script.commands.push(simple);
}

/// Adds the command that `xargs` runs with names of files that the command before it prints. Returns false if these
/// names are not known, or if `xargs` puts them in other places than the end.
fn listed(script: &mut Script, simple: &Simple, depth: usize) -> bool {
    const FLAGS: &[&str] = &["-0", "-r", "-t", "--null", "--no-run-if-empty"];
    const VALUED: &[&str] = &["-n", "-P", "-L", "--max-args", "--max-procs"];
    let Some(names) = script.source.as_ref().and_then(listing::names) else { return false };
    let mut at = 1;
    while let Some(it) = simple.words.get(at).and_then(Word::fixed).filter(|it| it.starts_with('-'))
    {
        let is_glued = it.len() > 2 && VALUED.iter().any(|option| it.starts_with(option));
        at += match it {
            it if FLAGS.contains(&it) || is_glued => 1,
            it if VALUED.contains(&it) => 2,
            _ => return false,
        };
    }
    let words = simple.words.get(at..).unwrap_or_default();
    let is_known = reading(script, names, words, depth);
    if is_known {
        script.commands.push(Simple { surety: Surety::Inner, ..simple.clone() });
    }
    is_known
}

/// Adds the command that `find` runs with the names that it finds, and `find` without this command. Returns false if
/// `find` does more.
fn executed(script: &mut Script, simple: &Simple, depth: usize) -> bool {
    let is = |it: &Word, text: &str| it.fixed() == Some(text);
    let Some(at) = simple.words.iter().position(|it| is(it, "-exec")) else { return false };
    let (found, rest) = simple.words.split_at(at);
    let [_, words @ .., name, end] = rest else { return false };
    if !is(name, "{}") || !(is(end, "+") || is(end, ";")) || words.iter().any(|it| is(it, ";")) {
        return false;
    }
    let found = Simple { words: found.to_vec(), surety: Surety::Certain };
    let Some(names) = listing::names(&found) else { return false };
    if !reading(script, names, words, depth) {
        return false;
    }
    script.commands.push(Simple { surety: Surety::Inner, ..simple.clone() });
    script.commands.push(found);
    true
}

/// Adds a command that gets names of files as its last arguments. Returns false if some of its words are not known.
fn reading(script: &mut Script, names: Names, words: &[Word], depth: usize) -> bool {
    let is_known = |it: &Word| it.fixed().is_some_and(|it| !it.contains("{}"));
    if words.is_empty() || !words.iter().all(is_known) {
        return false;
    }
    let reader = Simple { words: words.to_vec(), surety: Surety::Certain };
    script.listed.push(Listed { reader, names });
    let words = words.iter().cloned().chain([Word::Open(INPUT.into())]).collect();
    unwrapped(script, Simple { words, surety: Surety::Certain }, depth);
    true
}

/// Adds what the values of variables or aliases in the arguments may run: `alias a='rm x'`, `make SHELL='rm x'`.
fn settings(script: &mut Script, simple: &Simple, name: &str, depth: usize) {
    let pairs = simple.words[1..].iter().filter_map(|it| it.shown().split_once('='));
    for (key, value) in pairs {
        match name {
            "alias" => runs::line(script, value, depth),
            _ => assigned(script, key, Some(value), depth),
        }
    }
}

/// Adds the doubt about a command that changes what later commands do, or runs another one.
fn doubted(script: &mut Script, simple: &Simple, name: &str, [is_changer, is_runner]: [bool; 2]) {
    let is_assigning =
        || simple.words.get(1).and_then(Word::fixed).is_some_and(|it| it.starts_with("-v"));
    if RENAMERS.contains(&name) {
        script.blind(format!("{} changes which command a name runs", quoted(&simple.shown())));
    } else if is_changer {
        script.doubt(format!("{} changes what later commands do", quoted(&simple.shown())));
    } else if is_runner {
        script.doubt(format!("`{name}` runs another command"));
    } else if name == "printf" && is_assigning() {
        script.doubt("`printf -v` sets a variable".into());
    }
}

/// Whether a name is that of the dynamic loader or of an emulator, which run the program in their arguments.
fn is_loader(name: &str) -> bool {
    LOADERS.iter().any(|it| name.starts_with(it))
}

/// Adds the commands in the subscripts of arrays, which some builtins evaluate although they are quoted: `test -v 'a[$(b)]'`.
fn subscripts(script: &mut Script, simple: &Simple, depth: usize) {
    for text in simple.words[1..].iter().filter_map(Word::fixed) {
        evaluated(script, text, depth);
    }
}

/// Adds the commands in a text that bash may evaluate as arithmetic or as the name of a variable.
pub(super) fn evaluated(script: &mut Script, text: &str, depth: usize) {
    if !text.contains('[') || !(text.contains("$(") || text.contains('`')) {
        return;
    }
    script.blind(format!("{} may contain a command", quoted(text)));
    let parts = text.split("$(").skip(1).map(closed);
    let ticked = text.split('`').skip(1).step_by(2);
    for it in parts.chain(ticked).map(str::to_owned).collect::<Vec<_>>() {
        runs::line(script, &it, depth);
    }
}

/// The part of a text up to the bracket that closes it.
fn closed(text: &str) -> &str {
    let mut level = 1;
    let end = text.find(|c| {
        level += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        level == 0
    });
    &text[..end.unwrap_or(text.len())]
}

/// Whether a command is `set` with options that only make the shell end earlier or show more: `set -euo pipefail`.
fn is_strictness(simple: &Simple) -> bool {
    const NAMES: &[&str] = &["errexit", "nounset", "pipefail", "verbose", "xtrace"];
    let words: Option<Vec<&str>> = simple.words.iter().map(Word::fixed).collect();
    let Some((&"set", mut rest)) = words.as_deref().and_then(<[&str]>::split_first) else {
        return false;
    };
    let is_set = !rest.is_empty();
    while let Some((option, after)) = rest.split_first() {
        let Some(letters) = option.strip_prefix(['-', '+']).filter(|it| !it.is_empty()) else {
            return false;
        };
        let (letters, is_named) =
            letters.strip_suffix('o').map_or((letters, false), |it| (it, true));
        rest = match after.split_first() {
            Some((name, after)) if is_named && NAMES.contains(name) => after,
            _ if is_named => return false,
            _ => after,
        };
        if !letters.bytes().all(|it| b"euxv".contains(&it)) {
            return false;
        }
    }
    is_set
}

/// Adds the folder to which `cd` leads, or in which `git -C` works. The old folder stays in the list, because `cd` may
/// fail.
fn enter(script: &mut Script, to: &[Word], simple: &Simple) {
    let folder = match to {
        [Word::Fixed(it)] if !it.is_empty() && !it.starts_with('-') => it.clone(),
        _ => {
            return script.doubt(format!(
                "{} leads to a folder that Caliban does not know",
                quoted(&simple.shown())
            ));
        }
    };
    if folder == "." {
        return;
    }
    let is_absolute = folder.starts_with(['/', '~']);
    let joined = |it: &String| {
        if is_absolute || it.is_empty() { folder.clone() } else { format!("{it}/{folder}") }
    };
    let all: Vec<String> = script.folders.iter().map(joined).collect();
    for it in all {
        if script.folders.len() > 16 {
            return script.doubt("The command changes its folder too often".into());
        }
        if !script.folders.contains(&it) {
            script.folders.push(it);
        }
    }
}

/// Adds the command that a wrapper runs, instead of the wrapper.
fn seen_through(script: &mut Script, wrapper: &Wrapper, simple: Simple, depth: usize) {
    let at = match wrapped_at(wrapper, &simple.words) {
        Ok(at) => at,
        Err(doubt) => {
            script.doubt(doubt);
            runs::told(script, &simple, depth);
            return script.commands.push(simple);
        }
    };
    let inner = Simple { words: simple.words[at..].to_vec(), surety: Surety::Certain };
    for it in simple.words[..at].iter().filter_map(Word::fixed) {
        if let Some((name, _)) = it.split_once('=')
            && wrapper.name == "env"
            && !it.starts_with('-')
            && !harmless(name)
        {
            script.doubt(format!("{} sets a variable", quoted(it)));
        }
        if let Some((name, value)) = it.split_once('=').filter(|_| wrapper.name == "env") {
            assigned(script, name, Some(value), depth);
        }
    }
    let surety = if inner.words.is_empty() { Surety::Certain } else { Surety::Inner };
    script.commands.push(Simple { surety, ..simple });
    if !inner.words.is_empty() {
        unwrapped(script, inner, depth);
    }
}

/// Adds what the value of a variable may run: `GIT_EXTERNAL_DIFF='a b'`. A value that is not fixed is `None`.
pub(super) fn assigned(script: &mut Script, name: &str, value: Option<&str>, depth: usize) {
    let kind = variables::value(name);
    match (kind, value) {
        (Value::Harmless, _) => return,
        (Value::Names, _) => {
            script.blind(format!("`{name}` changes what the names of commands mean"));
        }
        // an alias of git may be any of its subcommands
        (Value::Settings, _) => {
            let words = vec![Word::Fixed("git".into()), Word::Open(name.to_owned())];
            script.commands.push(Simple { words, surety: Surety::Inner });
        }
        (Value::Command | Value::Options(_), None) => {
            script.blind(format!("`{name}` may run a command"));
        }
        _ => (),
    }
    let Some(value) = value else { return };
    evaluated(script, value, depth);
    match kind {
        Value::Command => runs::line(script, value, depth),
        // one setting, or several, each between quotes
        Value::Settings => value.split('\'').for_each(|it| runs::line(script, it, depth)),
        Value::Options(program) => {
            runs::line(script, &format!("{program} {value}"), depth);
            let words = program.split(' ').chain(value.split_whitespace());
            let words = words.map(|it| Word::Fixed(it.to_owned())).collect();
            let simple = Simple { words, surety: Surety::Certain };
            script.within(Surety::Inner, |it| {
                runs::told(it, &simple, depth);
            });
        }
        _ if value.contains(char::is_alphabetic) && depth < DEPTH => {
            script.nested(value.trim_start_matches('!'), depth, Surety::Guess);
        }
        _ => (),
    }
}

/// The index of the command's first word after a wrapper and the wrapper's options.
fn wrapped_at(wrapper: &Wrapper, words: &[Word]) -> Result<usize, String> {
    let mut at = 1;
    while let Some(word) = words.get(at).and_then(Word::fixed) {
        let is_assignment = wrapper.name == "env" && word.contains('=') && !word.starts_with('-');
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        match word {
            "--" => {
                at += 1;
                break;
            }
            it if wrapper.flags.contains(&it) || is_assignment => at += 1,
            it if wrapper.valued.contains(&it) => at += 2,
            _ if option.starts_with("--")
                && !value.is_empty()
                && wrapper.valued.contains(&option) =>
            {
                at += 1;
            }
            it if it.starts_with('-') => {
                return Err(format!(
                    "`{it}` is an option of `{}` that Caliban does not know",
                    wrapper.name
                ));
            }
            _ => break,
        }
    }
    let at = at + wrapper.before;
    if words.get(at).is_none() && words.len() > 1 && wrapper.name != "env" {
        return Err(format!("{} is called without a command to run", quoted(words[0].shown())));
    }
    Ok(at.min(words.len()))
}

/// Adds the commands in the text of `sh -c TEXT`. Returns false if the shell is called without `-c`, or with further
/// options, of which each may have the text behind it.
fn runs_text(script: &mut Script, simple: &Simple, depth: usize) -> bool {
    if let [_, option, Word::Fixed(text), ..] = &simple.words[..]
        && is_text_option(option)
        && !text.starts_with(['-', '+'])
    {
        script.commands.push(Simple { surety: Surety::Inner, ..simple.clone() });
        script.add(text, depth + 1);
        return true;
    }
    let words = &simple.words[1..];
    let has_text = |it: &Word| it.shown().starts_with('-') && it.shown().contains('c');
    if !words.iter().any(has_text) {
        return false;
    }
    script
        .doubt(format!("{} runs a text that Caliban does not understand", quoted(&simple.shown())));
    for it in words {
        match it.fixed() {
            Some(text) => runs::line(script, text, depth),
            None => script.unclear(format!(
                "{} is known only when the command runs",
                quoted(cause(it.shown()))
            )),
        }
    }
    false
}

/// Whether a word is `-c`, alone or with options that change no command's meaning.
fn is_text_option(word: &Word) -> bool {
    let letters = word.fixed().and_then(|it| it.strip_prefix('-'));
    letters.is_some_and(|it| it.ends_with('c') && it.bytes().all(|it| b"ceux".contains(&it)))
}
