//! Commands that read what they run: from their input, from another command, or from a file that the line itself makes.

use super::options::{Item, Manner};
use super::risk::is_interpreter;
use super::runs::{line, mention};
use super::script::Script;
use super::simple::{Simple, Word, base, quoted};
use super::wrapper::is_shell;

/// Programs that take their commands from their input unless they have so many arguments without a dash.
const READERS: &[(&str, usize)] = &[
    ("at", usize::MAX),
    ("batch", usize::MAX),
    ("bc", usize::MAX),
    ("dc", usize::MAX),
    ("ed", usize::MAX),
    ("ex", usize::MAX),
    ("gdb", usize::MAX),
    ("mysql", usize::MAX),
    ("parallel", 1),
    ("psql", usize::MAX),
    ("red", usize::MAX),
    ("rush", 1),
    ("sqlite3", 2),
    ("ssh", 2),
    ("vi", usize::MAX),
    ("vim", usize::MAX),
];

/// Programs that write the files in their arguments, so that a later command may run them.
const MAKERS: &[&str] = &["cp", "dd", "install", "ln", "mv", "sed", "tee"];

/// Adds the commands in texts that a command of the line may read: these texts, and what `echo` prints.
pub(super) fn feed(script: &mut Script, texts: &[String], depth: usize) {
    let made = made(script);
    if let Some((file, _)) = &made {
        script.unclear(format!("{} is a file that the command itself writes", quoted(file)));
    }
    let mut readers: Vec<String> = script.commands.iter().filter_map(reader).collect();
    readers.extend(made.map(|it| it.1));
    if readers.is_empty() {
        return;
    }
    let is_printer = |it: &&Simple| matches!(it.name(), Some("echo" | "printf"));
    let said: Vec<String> = script.commands.iter().filter(is_printer).flat_map(printed).collect();
    for text in texts.iter().chain(&said) {
        for name in &readers {
            match name.as_str() {
                "crontab" => timed(script, text, depth),
                it if is_line_reader(it) => line(script, text, depth),
                it => mention(script, it, text),
            }
        }
    }
}

/// Adds the commands in the lines of `crontab`, after the five fields of the time.
fn timed(script: &mut Script, text: &str, depth: usize) {
    for it in text.lines() {
        let words: Vec<&str> = it.split_whitespace().skip(5).collect();
        line(script, &words.join(" "), depth);
    }
}

/// Whether what a program reads are command lines.
fn is_line_reader(name: &str) -> bool {
    is_shell(name)
        || matches!(name, "." | "source" | "at" | "batch" | "crontab" | "ssh" | "parallel" | "rush")
}

/// Whether a command runs the command lines that it reads.
pub(super) fn reads_lines(simple: &Simple) -> bool {
    reader(simple).is_some_and(|it| is_line_reader(&it))
}

/// The name of a command that runs the commands that it reads: of a shell or an interpreter without a script, or with
/// one that is its input.
fn reader(simple: &Simple) -> Option<String> {
    let name = simple.name()?;
    let words = &simple.words[1..];
    let has_input = words.iter().any(is_input);
    let is_given = match name {
        "." | "source" | "crontab" => has_input,
        "sed" | "gsed" | "awk" | "gawk" | "mawk" | "nawk" | "make" | "gmake" => {
            has_input && words.iter().any(is_file_option)
        }
        _ if is_shell(name) => has_input || operands(simple) == 0 || words.iter().any(has_s),
        _ => match READERS.iter().find(|it| it.0 == name) {
            Some((_, most)) => operands(simple) < *most,
            None => is_interpreter(name) && (has_input || words.is_empty()),
        },
    };
    is_given.then(|| name.to_owned())
}

/// The number of words that are no options.
fn operands(simple: &Simple) -> usize {
    let words = &simple.words[1..];
    if let Some(manner) = Manner::told(simple) {
        let items = manner.placed(words).into_iter();
        return items.filter(|it| !matches!(it.1, Item::Option { .. })).count();
    }
    let is_option = |it: &&Word| it.shown().starts_with(['-', '+']) && it.shown() != "-";
    words.iter().filter(|it| !is_option(it)).count()
}

/// Whether a word has the option `-f` or `--file`.
fn is_file_option(word: &Word) -> bool {
    let text = word.shown();
    text.starts_with("--f")
        || text.starts_with('-') && !text.starts_with("--") && text.contains('f')
}

/// Whether a word has the option `-s`, with which a shell reads its input in spite of further words.
fn has_s(word: &Word) -> bool {
    let letters = word.fixed().and_then(|it| it.strip_prefix('-')).unwrap_or_default();
    !letters.starts_with('-') && letters.contains('s')
}

/// Whether a word names the input of a command or what another command prints: `-`, `-f-`, `/dev/stdin`, `<(echo a)`.
fn is_input(word: &Word) -> bool {
    let text = word.shown();
    let value = text.split_once('=').map_or(text, |it| it.1);
    let glued = text.strip_prefix("-f").unwrap_or(value);
    [text, value, glued].iter().any(|it| {
        *it == "-" || it.starts_with("/dev/") || it.starts_with("/proc/") || it.starts_with("<(")
    }) && text != "/dev/null"
}

/// What `echo` or `printf` may print.
fn printed(simple: &Simple) -> Vec<String> {
    let escapes = [("\\n", "\n"), ("\\t", "\t"), ("\\x20", " "), ("\\040", " ")];
    let plain =
        |it: &str| escapes.iter().fold(it.to_owned(), |it, (from, to)| it.replace(from, to));
    let words: Vec<String> = simple.words[1..].iter().map(|it| plain(it.shown())).collect();
    let format = words.first().map(|format| {
        words[1..].iter().fold(format.clone(), |it, value| it.replacen("%s", value, 1))
    });
    let rest = words.get(1..).unwrap_or_default().join(" ");
    let mut all = vec![words.join(" "), rest];
    all.extend(format.filter(|it| !all.contains(it)));
    all.extend(words.into_iter().filter(|it| it.contains(' ')));
    all
}

/// The file that one command of the line writes and another one runs, and the program that runs it.
fn made(script: &Script) -> Option<(String, String)> {
    let mut written: Vec<&str> = script.outputs.iter().map(|it| base(it)).collect();
    for it in script.commands.iter().filter(|it| it.name().is_some_and(|it| MAKERS.contains(&it))) {
        written.extend(it.words[1..].iter().filter_map(Word::fixed).map(base));
    }
    if written.is_empty() {
        return None;
    }
    let mut run = script.commands.iter().filter_map(file);
    let found = run.find(|it| written.contains(&base(it.0)))?;
    Some((found.0.to_owned(), found.1.to_owned()))
}

/// The file whose content a command runs, as far as its words tell, and the program that runs it.
fn file(simple: &Simple) -> Option<(&str, &str)> {
    let first = simple.words.first().and_then(Word::fixed)?;
    let name = base(first);
    let is_runner = is_shell(name)
        || is_interpreter(name)
        || matches!(name, "." | "source" | "crontab")
        || matches!(name, "make" | "gmake") && simple.words.iter().any(is_file_option);
    let mut words = simple.words[1..].iter().filter_map(Word::fixed);
    match words.find(|it| !it.starts_with(['-', '+'])) {
        Some(it) if is_runner => Some((it, name)),
        _ => first.contains('/').then_some((first, "sh")),
    }
}
