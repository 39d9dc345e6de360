//! Commands that run other commands, and builtins that change what later commands mean.

mod table;

use super::walk::{harmless, quoted};
use super::{Program, Script, Simple, Word, risk};
use table::{CHANGERS, RUNNERS, SHELLS, SOMETIMES, WRAPPERS, Wrapper};

/// How many arguments are tried as the beginning of a suspected command, and how many words of such a command are
/// compared with rules.
const SUSPECTED: usize = 40;

/// Builtins after which a name in the line may mean another command.
const RENAMERS: &[&str] = &["alias", "enable", "hash"];
/// Builtins, apart from `CHANGERS`, that evaluate the subscript of an array in their arguments.
const EVALUATES: &[&str] = &["[", "printf", "test", "wait"];

/// Adds a simple command to the script, and the commands that it runs.
pub(super) fn unwrapped(script: &mut Script, simple: Simple, depth: usize) {
    let Some(name) = simple.name().map(str::to_owned) else {
        if let Some(it) = simple.words.first() {
            script.blind(format!("{} is known only when the command runs", quoted(it.shown())));
        }
        return script.commands.push(simple);
    };
    if name == "cd" {
        return enter(script, &simple.words[1..], &simple);
    }
    if is_strictness(&simple) {
        return script.commands.push(Simple { is_certain: false, ..simple });
    }
    if let Some(wrapper) = WRAPPERS.iter().find(|it| it.name == name) {
        return seen_through(script, wrapper, simple, depth);
    }
    if is_shell(&name) && runs_text(script, &simple, depth) {
        return;
    }
    if is_fed(&simple) {
        script.blind(format!("`{name}` runs the commands in its input"));
    }
    let is_changer = CHANGERS.contains(&name.as_str());
    let is_runner = RUNNERS.contains(&name.as_str()) || is_loader(&name);
    doubted(script, &simple, &name, [is_changer, is_runner]);
    if is_changer || EVALUATES.contains(&name.as_str()) {
        subscripts(script, &simple, depth);
    }
    if is_changer || is_runner || SOMETIMES.contains(&name.as_str()) {
        suspected(script, &simple, depth);
    }
    of_git(script, &simple, &name);
    for it in simple.folders() {
        enter(script, &[it], &simple);
    }
    mentioned(script, &name, &risk::programs(&simple));
    script.commands.push(simple);
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

/// Adds the subcommand of git that runs under another name: `git-push`, or an alias that a variable holds.
fn of_git(script: &mut Script, simple: &Simple, name: &str) {
    // settings by which a word may be the name of any subcommand
    let is_renaming = |it: &Word| {
        let text = it.fixed().unwrap_or_default();
        let setting = text.strip_prefix("-c").unwrap_or(text).to_ascii_lowercase();
        text.starts_with("--config-e")
            || setting.starts_with("alias.")
            || setting.starts_with("include.")
            || setting.starts_with("includeif.")
    };
    let verb = match name.strip_prefix("git-") {
        Some(verb) => Word::Fixed(verb.into()),
        None if name == "git" && simple.words.iter().any(is_renaming) => Word::Open("alias".into()),
        None => return,
    };
    let words = [Word::Fixed("git".into()), verb].into_iter();
    let words = words.chain(simple.words[1..].iter().cloned()).collect();
    script.commands.push(Simple { words, is_certain: false });
}

impl Simple {
    /// A command of git without the options before its subcommand that change neither what the subcommand does nor
    /// what it runs, if it has such options. The folders of `-C` are in the script's `folders`.
    pub fn without_options(&self) -> Option<Simple> {
        let at = self.first_verb()?;
        let words = [&self.words[..1], &self.words[at..]].concat();
        (at > 1).then_some(Simple { words, is_certain: self.is_certain })
    }

    /// The position of git's subcommand.
    fn first_verb(&self) -> Option<usize> {
        const FLAGS: &[&str] = &[
            "--literal-pathspecs",
            "--no-advice",
            "--no-lazy-fetch",
            "--no-optional-locks",
            "--no-pager",
            "--no-replace-objects",
            "-P",
        ];
        const SETTINGS: &[&str] = &[
            "color.ui=always",
            "color.ui=auto",
            "color.ui=false",
            "color.ui=never",
            "core.pager=cat",
            "core.quotePath=false",
            "core.quotepath=false",
        ];
        let mut words = self.words.iter().map(Word::fixed);
        if words.next()? != Some("git") {
            return None;
        }
        let mut at = 1;
        loop {
            let value = self.words.get(at + 1).and_then(Word::fixed);
            at += match self.words.get(at)?.fixed()? {
                it if FLAGS.contains(&it) => 1,
                "-C" if value.is_some_and(|it| !it.is_empty()) => 2,
                "-c" if value.is_some_and(|it| SETTINGS.contains(&it)) => 2,
                it if it.starts_with('-') => return None,
                _ => return Some(at),
            };
        }
    }

    /// The folders in which git works because of its options `-C`.
    fn folders(&self) -> Vec<Word> {
        let Some(verb) = self.first_verb() else { return Vec::new() };
        let pairs = self.words[..verb].windows(2);
        pairs.filter(|it| it[0].fixed() == Some("-C")).map(|it| it[1].clone()).collect()
    }
}

pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Whether a name is that of the dynamic loader, which runs the program in its arguments.
fn is_loader(name: &str) -> bool {
    ["ld-linux", "ld-musl", "ld.so", "ld64.so"].iter().any(|it| name.starts_with(it))
}

/// Whether a command runs the commands that it reads: a shell without a script, or with one that is its input.
pub(super) fn is_fed(simple: &Simple) -> bool {
    let Some(name) = simple.name() else { return false };
    let mut files = simple.words[1..].iter().filter_map(Word::fixed);
    let is_input = |it: &str| it == "-" || it.starts_with("/dev/") || it.starts_with("/proc/");
    match name {
        "." | "source" => files.any(is_input),
        _ if is_shell(name) => {
            files.clone().any(is_input) || files.all(|it| it.starts_with(['-', '+']))
        }
        _ => false,
    }
}

/// Adds the commands in texts that a shell or an interpreter of the line may read: these texts, and what `echo` prints.
pub(super) fn feed(script: &mut Script, texts: Vec<String>, depth: usize) {
    let is_fed = script.commands.iter().any(is_fed);
    let certain: Vec<&Simple> = script.commands.iter().filter(|it| it.is_certain).collect();
    let mut names = certain.iter().filter_map(|it| it.name());
    let reader = names.find(|it| risk::is_interpreter(it)).map(str::to_owned);
    if !is_fed && reader.is_none() {
        return;
    }
    let said = certain.iter().filter(|it| matches!(it.name(), Some("echo" | "printf")));
    let said = said.map(|it| Simple { words: it.words[1..].to_vec(), is_certain: false }.shown());
    let texts: Vec<String> = texts.into_iter().chain(said).collect();
    for it in &texts {
        if is_fed {
            script.suspect(it, depth);
        }
        if let Some(name) = reader.as_ref().filter(|it| !is_shell(it)) {
            mentioned(script, name, &[it]);
        }
    }
}

/// Notes the words of the texts in `programs`, such as the argument of `python -c`. The command `name` runs these
/// texts.
pub(super) fn mentioned(script: &mut Script, name: &str, programs: &[&str]) {
    let is_word = |c: char| c.is_alphanumeric() || "_-./+".contains(c);
    let glued = programs.iter().flat_map(|it| glued(it));
    let split = programs.iter().copied().chain(glued).flat_map(|it| it.split(|c| !is_word(c)));
    let words: Vec<Word> =
        split.filter(|it| !it.is_empty()).map(|it| Word::Fixed(it.to_owned())).collect();
    if !words.is_empty() {
        script.programs.push(Program { name: name.to_owned(), words });
    }
}

/// What may be the value of a short option that is glued to it or to several: `-S'rm x'`, `-qec'rm x'`.
fn glued(text: &str) -> impl Iterator<Item = &str> {
    const MOST: usize = 4;
    let letters = text.strip_prefix('-').filter(|it| !it.starts_with('-')).unwrap_or_default();
    letters.char_indices().skip(1).take(MOST).map(|(at, _)| &letters[at..])
}

/// Adds the commands in the subscripts of arrays, which some builtins evaluate although they are quoted: `test -v 'a[$(b)]'`.
fn subscripts(script: &mut Script, simple: &Simple, depth: usize) {
    for text in simple.words[1..].iter().filter_map(Word::fixed) {
        evaluated(script, text, depth);
    }
}

/// Adds the commands in a text that bash may evaluate.
pub(super) fn evaluated(script: &mut Script, text: &str, depth: usize) {
    if text.contains('[') && (text.contains("$(") || text.contains('`')) {
        script.blind(format!("{} may contain a command", quoted(text)));
        let parts = text.split("$(").skip(1).chain(text.split('`').skip(1).step_by(2));
        let parts: Vec<String> =
            parts.map(|it| it.trim_end_matches([')', ']', ' ']).to_owned()).collect();
        for it in parts {
            script.suspect(&it, depth);
        }
    }
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
        if let Some((name, value)) = it.split_once('=').filter(|_| wrapper.name == "env") {
            assigned(script, name, Some(value), depth);
        }
    }
    script.commands.push(Simple { is_certain: inner.words.is_empty(), ..simple });
    if !inner.words.is_empty() {
        unwrapped(script, inner, depth);
    }
}

/// Adds what the value of a variable may run: `GIT_EXTERNAL_DIFF='a b'`. A value that is not fixed is `None`.
pub(super) fn assigned(script: &mut Script, name: &str, value: Option<&str>, depth: usize) {
    if harmless(name) {
        return;
    }
    if matches!(name, "PATH" | "BASH_ENV" | "ENV" | "IFS") || name.starts_with("LD_") {
        script.blind(format!("`{name}` changes what the names of commands mean"));
    }
    if name.starts_with("GIT_CONFIG") {
        // an alias of git may be any of its subcommands
        let words = vec![Word::Fixed("git".into()), Word::Open(name.to_owned())];
        script.commands.push(Simple { words, is_certain: false });
    }
    let Some(value) = value else { return };
    evaluated(script, value, depth);
    if value.contains(char::is_alphabetic) && depth < super::DEPTH {
        script.suspect(value.trim_start_matches('!'), depth);
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
    let words = filled(simple);
    for at in 1..words.len().min(SUSPECTED) {
        let end = words.len().min(at + SUSPECTED);
        script.commands.push(Simple { words: words[at..end].to_vec(), is_certain: false });
    }
    // a pattern may stand for the name of a command; git takes none in its arguments
    let is_git = simple.name() == Some("git");
    let is_open = |it: &Word| match it {
        Word::Open(_) => true,
        Word::Glob(_) => !is_git,
        Word::Fixed(_) => false,
    };
    script.is_open |= words.len() > SUSPECTED || simple.words[1..].iter().any(is_open);
    // the input of `xargs env` is a command
    let is_last_runner = |it: &Word| {
        let name = it.fixed().map(super::base).unwrap_or_default();
        is_shell(name) || RUNNERS.contains(&name) || WRAPPERS.iter().any(|it| it.name == name)
    };
    let has_input = words.len() > simple.words.len();
    script.is_open |= has_input && simple.words[1..].iter().any(is_last_runner);
    let texts: Vec<&str> = words[1..].iter().filter_map(Word::fixed).collect();
    let joined = texts.join(" ");
    let glued = texts.iter().flat_map(|it| glued(it));
    for text in texts
        .iter()
        .copied()
        .chain(glued)
        .filter(|it| it.contains([' ', ';', '=', '|', '&']))
        .chain([joined.as_str()])
    {
        if depth >= super::DEPTH {
            script.is_open = true;
            return;
        }
        let value = text.split_once('=').map_or(text, |(_, value)| value);
        script.suspect(value.trim_start_matches('!'), depth);
        script.suspect(text.trim_start_matches('!'), depth);
    }
}

/// The words of a program that runs other programs. Words that are known only later are open: those that `xargs` adds
/// from its input, and `{}`.
fn filled(simple: &Simple) -> Vec<Word> {
    let known = |it: &Word| match it.fixed() {
        Some(text) if text.contains("{}") => Word::Open(text.to_owned()),
        _ => it.clone(),
    };
    let mut words: Vec<Word> = simple.words.iter().map(known).collect();
    if matches!(simple.name(), Some("xargs" | "parallel" | "rush")) {
        words.push(Word::Open("words of the input".into()));
    }
    words
}
