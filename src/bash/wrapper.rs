//! Commands that run other commands, and builtins that change what later commands mean.

use super::walk::{harmless, quoted};
use super::{Script, Simple, Word};

/// A program such as `timeout` that runs the command in its arguments. The command does the same as without the
/// program.
struct Wrapper {
    name: &'static str,
    /// Options without a value.
    flags: &'static [&'static str],
    /// Options whose value is the next word.
    valued: &'static [&'static str],
    /// How many words stand between the options and the command.
    before: usize,
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper { name: "builtin", flags: &[], valued: &[], before: 0 },
    Wrapper { name: "chrt", flags: &["-b", "-f", "-i", "-o", "-r"], valued: &[], before: 1 },
    Wrapper { name: "command", flags: &["-p"], valued: &[], before: 0 },
    Wrapper {
        name: "env",
        flags: &["-i", "-", "--ignore-environment"],
        valued: &["-u", "--unset"],
        before: 0,
    },
    Wrapper { name: "exec", flags: &["-c", "-l"], valued: &["-a"], before: 0 },
    Wrapper { name: "ionice", flags: &["-t"], valued: &["-c", "-n"], before: 0 },
    Wrapper { name: "nice", flags: &[], valued: &["-n", "--adjustment"], before: 0 },
    Wrapper { name: "nohup", flags: &[], valued: &[], before: 0 },
    Wrapper {
        name: "setsid",
        flags: &["-c", "-f", "-w", "--wait", "--fork"],
        valued: &[],
        before: 0,
    },
    Wrapper { name: "stdbuf", flags: &[], valued: &["-i", "-o", "-e"], before: 0 },
    Wrapper { name: "time", flags: &["-p", "-v"], valued: &[], before: 0 },
    Wrapper {
        name: "timeout",
        flags: &["--foreground", "--preserve-status", "-v"],
        valued: &["-k", "-s", "--kill-after", "--signal"],
        before: 1,
    },
];

/// How many arguments are tried as the beginning of a suspected command, and how many words of such a command are
/// compared with rules.
const SUSPECTED: usize = 40;

const SHELLS: &[&str] = &["ash", "bash", "dash", "ksh", "sh", "zsh"];

/// Programs that always run other commands, but whose arguments the table above cannot describe.
const RUNNERS: &[&str] = &[
    "at",
    "batch",
    "busybox",
    "bwrap",
    "chroot",
    "coproc",
    "crontab",
    "dbus-run-session",
    "doas",
    "entr",
    "fakeroot",
    "firejail",
    "flock",
    "gdb",
    "ltrace",
    "nsenter",
    "parallel",
    "pkexec",
    "proot",
    "rlwrap",
    "run0",
    "runuser",
    "script",
    "setpriv",
    "ssh",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "toybox",
    "unshare",
    "watch",
    "xargs",
];

/// Programs that run other commands with some of their arguments.
const SOMETIMES: &[&str] = &[
    "asdf",
    "bundle",
    "bunx",
    "direnv",
    "fd",
    "fdfind",
    "find",
    "git",
    "hatch",
    "mise",
    "nix",
    "nix-shell",
    "npm",
    "npx",
    "pdm",
    "pipx",
    "pnpm",
    "poetry",
    "rye",
    "uv",
    "uvx",
    "yarn",
];

/// Builtins that change what later commands mean, or run a text as commands.
const CHANGERS: &[&str] = &[
    ".",
    "alias",
    "bind",
    "complete",
    "declare",
    "dirs",
    "enable",
    "eval",
    "export",
    "getopts",
    "hash",
    "let",
    "local",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "set",
    "shopt",
    "source",
    "trap",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
];

/// Adds a simple command to the script, and the commands that it runs.
pub(super) fn unwrapped(script: &mut Script, simple: Simple, depth: usize) {
    let Some(name) = simple.name().map(str::to_owned) else {
        if let Some(it) = simple.words.first() {
            script.blind(format!("{} is known only when the command runs", quoted(it.shown())));
        }
        return script.commands.push(simple);
    };
    if name == "cd" {
        return enter(script, &simple);
    }
    if let Some(wrapper) = WRAPPERS.iter().find(|it| it.name == name) {
        return seen_through(script, wrapper, simple, depth);
    }
    if SHELLS.contains(&name.as_str()) && runs_text(script, &simple, depth) {
        return;
    }
    let is_changer = CHANGERS.contains(&name.as_str());
    if is_changer {
        script.doubt(format!("{} changes what later commands do", quoted(&simple.shown())));
    } else if RUNNERS.contains(&name.as_str()) {
        script.doubt(format!("`{name}` runs another command"));
    } else if name == "printf"
        && simple.words.get(1).and_then(Word::fixed).is_some_and(|it| it.starts_with("-v"))
    {
        script.doubt("`printf -v` sets a variable".into());
    }
    if is_changer || [RUNNERS, SOMETIMES].iter().any(|it| it.contains(&name.as_str())) {
        suspected(script, &simple, depth);
    }
    script.commands.push(simple);
}

/// Adds the folder to which `cd` leads. The old folder stays in the list, because `cd` may fail.
fn enter(script: &mut Script, simple: &Simple) {
    let folder = match &simple.words[1..] {
        [Word::Fixed(it)] if !it.is_empty() && !it.starts_with('-') => it.clone(),
        _ => {
            return script.doubt(format!(
                "{} leads to a folder that Caliban does not know",
                quoted(&simple.shown())
            ));
        }
    };
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
            suspected(script, &simple, depth);
            return script.commands.push(simple);
        }
    };
    let inner = Simple { words: simple.words[at..].to_vec(), is_certain: true };
    for it in simple.words[..at].iter().filter_map(Word::fixed) {
        if let Some((name, _)) = it.split_once('=')
            && wrapper.name == "env"
            && !it.starts_with('-')
            && !harmless(name)
        {
            script.doubt(format!("{} sets a variable", quoted(it)));
        }
    }
    script.commands.push(Simple { is_certain: inner.words.is_empty(), ..simple });
    if !inner.words.is_empty() {
        unwrapped(script, inner, depth);
    }
}

/// The index of the command's first word behind a wrapper and its options.
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
                    "`{it}` of `{}` is an option that Caliban does not know",
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

/// Adds the commands in the text of `sh -c TEXT`. Returns false if the shell is called without `-c`.
fn runs_text(script: &mut Script, simple: &Simple, depth: usize) -> bool {
    let Some(at) = simple.words.iter().position(is_text_option) else { return false };
    let text = simple.words.get(at + 1).and_then(Word::fixed);
    let Some(text) = text.filter(|it| at == 1 && !it.starts_with(['-', '+'])) else {
        script.blind(format!(
            "{} runs a text that Caliban does not understand",
            quoted(&simple.shown())
        ));
        suspected(script, simple, depth);
        return false;
    };
    script.commands.push(Simple { is_certain: false, ..simple.clone() });
    script.add(text, depth + 1);
    true
}

/// Whether a word is `-c`, alone or with options that change no command's meaning.
fn is_text_option(word: &Word) -> bool {
    let letters = word.fixed().and_then(|it| it.strip_prefix('-'));
    letters.is_some_and(|it| it.ends_with('c') && it.bytes().all(|it| b"ceux".contains(&it)))
}

/// Adds as a suspected command each sequence of arguments that the program may run. Only rules that ask or deny apply
/// to suspected commands.
fn suspected(script: &mut Script, simple: &Simple, depth: usize) {
    let words = &simple.words;
    for at in 1..words.len().min(SUSPECTED) {
        let end = words.len().min(at + SUSPECTED);
        script.commands.push(Simple { words: words[at..end].to_vec(), is_certain: false });
    }
    script.is_open |= words[1..].iter().any(|it| matches!(it, Word::Open(_)));
    let texts: Vec<&str> = words[1..].iter().filter_map(Word::fixed).collect();
    let joined = texts.join(" ");
    for text in texts
        .into_iter()
        .filter(|it| it.contains([' ', ';', '=', '|', '&']))
        .chain([joined.as_str()])
    {
        if depth < super::DEPTH {
            let value = text.split_once('=').map_or(text, |(_, value)| value);
            script.suspect(value.trim_start_matches('!'), depth);
            script.suspect(text.trim_start_matches('!'), depth);
        }
    }
}
