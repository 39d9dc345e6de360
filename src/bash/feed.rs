//! Commands that read what they run: from their input, from another command, or from a file that the line itself makes.

use super::awk;
use super::options::{self, Item, Manner, behind_dashes};
use super::risk::is_interpreter;
use super::runs::{arguments, line, mention, perhaps};
use super::script::Script;
use super::simple::{Simple, Surety, Word, base, quoted};
use super::wrapper::is_shell;

/// Programs that take their commands from their input unless they have so many arguments without a dash.
const READERS: &[(&str, usize)] = &[
    ("at", usize::MAX),
    ("batch", usize::MAX),
    ("bc", usize::MAX),
    ("chroot", 2),
    ("csh", 1),
    ("dc", usize::MAX),
    ("ed", usize::MAX),
    ("ex", usize::MAX),
    ("fish", 1),
    ("ftp", usize::MAX),
    ("gdb", usize::MAX),
    ("gnuplot", 1),
    ("gp", 1),
    ("lftp", usize::MAX),
    ("maxima", 1),
    ("mongo", usize::MAX),
    ("mongosh", usize::MAX),
    ("mysql", usize::MAX),
    ("nix-shell", usize::MAX),
    ("nsenter", 1),
    ("octave", 1),
    ("parallel", 1),
    ("psql", usize::MAX),
    ("red", usize::MAX),
    ("rush", 1),
    ("sftp", usize::MAX),
    ("smbclient", usize::MAX),
    ("sqlite3", 2),
    ("ssh", 2),
    ("su", usize::MAX),
    ("sudo", 1),
    ("tcsh", 1),
    ("telnet", usize::MAX),
    ("unshare", 1),
    ("vi", usize::MAX),
    ("vim", usize::MAX),
];

/// Programs that take command lines from their input, besides the shells.
const LINE_READERS: &[&str] = &[
    ".",
    "at",
    "batch",
    "chroot",
    "crontab",
    "csh",
    "fish",
    "nix-shell",
    "nsenter",
    "parallel",
    "rush",
    "source",
    "ssh",
    "su",
    "sudo",
    "tcsh",
    "unshare",
];

/// Programs that run texts of theirs, but none from their input.
const UNFED: &[&str] = &["emacs", "java", "less", "man", "more", "nano", "nvim", "view"];

/// Programs of which the table of options tells nothing, and that run nothing of their arguments and their input.
const PLAIN: &[&str] = &[
    ":",
    "[",
    "apropos",
    "apt-cache",
    "apt-file",
    "b2sum",
    "banner",
    "base32",
    "base64",
    "basename",
    "cat",
    "cheat",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cowsay",
    "cut",
    "date",
    "dirname",
    "dpkg-query",
    "echo",
    "equery",
    "espeak",
    "exit",
    "expand",
    "expr",
    "false",
    "figlet",
    "file",
    "finger",
    "fmt",
    "fold",
    "getent",
    "gpg",
    "grep",
    "groups",
    "help",
    "hexdump",
    "iconv",
    "id",
    "info",
    "join",
    "jq",
    "locate",
    "logger",
    "ls",
    "md5sum",
    "nl",
    "notify-send",
    "od",
    "openssl",
    "paste",
    "patch",
    "pbcopy",
    "pinfo",
    "plocate",
    "pr",
    "printf",
    "read",
    "return",
    "rev",
    "seq",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "stat",
    "strings",
    "sum",
    "tac",
    "tee",
    "test",
    "tldr",
    "toilet",
    "touch",
    "tr",
    "true",
    "tsort",
    "type",
    "unexpand",
    "uniq",
    "wall",
    "wc",
    "whatis",
    "whereis",
    "which",
    "whoami",
    "wl-copy",
    "xbps-query",
    "xclip",
    "xsel",
    "xxd",
    "yq",
];

/// Programs that write the files in their arguments, so that a later command may run them.
const MAKERS: &[&str] = &["cp", "dd", "install", "ln", "mv", "sed", "tee"];

/// Adds the commands in texts that a command of the line may read: these texts, and what `echo` prints.
pub(super) fn feed(script: &mut Script, texts: &[String], depth: usize) {
    let made = made(script);
    if let Some((file, _)) = &made {
        script.unclear(format!("{} is a file that the command itself writes", quoted(file)));
    }
    let guesses: Vec<String> = script.commands.iter().filter_map(guessed).collect();
    for (name, text) in guesses.iter().flat_map(|it| texts.iter().map(move |text| (it, text))) {
        perhaps(script, name, text);
    }
    let mut readers: Vec<String> = script.commands.iter().filter_map(reader).collect();
    readers.extend(made.map(|it| it.1));
    if readers.is_empty() {
        return;
    }
    let is_printer = |it: &&Simple| matches!(it.name(), Some("echo" | "printf"));
    let said: Vec<String> = script.commands.iter().filter(is_printer).flat_map(printed).collect();
    // the others wait for a person
    let is_program = |it: &&String| !READERS.iter().any(|known| known.0 == it.as_str());
    let is_hidden = texts.is_empty() && said.is_empty() || !script.inputs.is_empty();
    if let Some(it) = readers.iter().find(is_program).filter(|_| is_hidden) {
        script.unclear(format!("`{it}` runs the text in its input"));
    }
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

/// The name of a command that may run a text in its input: of an interpreter that gets a script besides, and of a program
/// of which nothing is known.
fn guessed(simple: &Simple) -> Option<String> {
    let name = simple.name().filter(|_| reader(simple).is_none())?;
    let is_one = is_interpreter(name) || !is_known(name);
    (is_one && !awk::NAMES.contains(&name)).then(|| name.to_owned())
}

/// Whether it is known what a program runs of its arguments and its input.
fn is_known(name: &str) -> bool {
    PLAIN.contains(&name) || options::is_listed(name) || is_shell(name)
}

/// Whether a command only prints its arguments, and the texts that it prints.
fn said(simple: &Simple) -> Option<Vec<String>> {
    matches!(simple.name(), Some("echo" | "printf")).then(|| printed(simple))
}

/// Notes what a program may run of its arguments of which nothing is known: each word may begin a command, also one in a
/// text, and so do the words behind `--`. Also a text that is printed for it.
pub(super) fn unknown(script: &mut Script, simple: &Simple) {
    let Some(name) = simple.name().filter(|it| !is_known(it)) else { return };
    let said = script.source.as_ref().and_then(said).unwrap_or_default();
    let texts = simple.words[1..].iter().filter_map(Word::fixed);
    let (whole, texts): (Vec<&str>, Vec<&str>) =
        (texts.clone().collect(), texts.filter(|it| it.contains(char::is_whitespace)).collect());
    arguments(script, name, &whole.join(" "));
    for it in texts.into_iter().map(str::to_owned).chain(said) {
        perhaps(script, name, &it);
    }
    if let Some(words) = behind_dashes(&simple.words).and_then(|at| simple.words.get(at..)) {
        script.commands.push(Simple { words: words.to_vec(), surety: Surety::Guess });
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
    is_shell(name) || LINE_READERS.contains(&name)
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
        "cmake" => has_input && words.iter().any(|it| it.fixed() == Some("-P")),
        "sed" | "gsed" | "awk" | "gawk" | "mawk" | "nawk" | "make" | "gmake" => {
            has_input && words.iter().any(is_file_option)
        }
        _ if is_shell(name) => has_input || operands(simple) == 0 || words.iter().any(has_s),
        _ => match READERS.iter().find(|it| it.0 == name) {
            Some((_, most)) => operands(simple) < *most,
            None if !is_interpreter(name) || awk::NAMES.contains(&name) => false,
            None if UNFED.contains(&name) => has_input,
            None => has_input || is_dialogue(simple, name) || has_no_script(simple),
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

/// Whether an interpreter gets no program by its arguments: only options, and their values.
fn has_no_script(simple: &Simple) -> bool {
    let words = &simple.words[1..];
    let items = Manner::told(simple).map(|it| (it.is_given(&it.placed(words)), operands(simple)));
    let shows = |it: &Word| matches!(it.shown(), "--version" | "-V" | "--help" | "-h" | "-v");
    !words.iter().any(shows) && items.map_or(operands(simple) == 0, |it| !it.0 && it.1 == 0)
}

/// Whether an interpreter reads commands from its input although it may have a script: `-i`, `-iq`.
fn is_dialogue(simple: &Simple, name: &str) -> bool {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let letter = match plain {
        "lua" | "luajit" | "node" | "nodejs" | "pypy" | "python" => 'i',
        "php" => 'a',
        _ => return false,
    };
    let is_it = |word: &Word| {
        let text = word.shown();
        let letters = text.strip_prefix('-').filter(|it| !it.starts_with('-') && it.len() < 4);
        text == "--interactive" || letters.is_some_and(|it| it.contains(letter))
    };
    simple.words[1..].iter().any(is_it)
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
