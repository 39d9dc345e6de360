//! What programs run of their arguments: commands, command lines and texts in their own languages. The table
//! `options.txt` tells it for most programs.

use super::awk;
use super::language::{Starts, starts};
use super::options::{Item, Manner, Operands, Run, behind_dashes, named};
use super::risk::is_interpreter;
use super::script::{DEPTH, Program, Script};
use super::simple::{INPUT, Simple, Surety, Word, base, cause, quoted, shown};
use super::wrapper::{assigned, is_shell, unwrapped};

/// How many arguments are tried as the beginning of a command that a program may run, and how many words of such a
/// command are compared with rules.
const TRIED: usize = 40;

/// How many options of one command may run something.
const RUNS: usize = 20;
const DEEP: &str = "The command has too many commands nested in each other";

/// Adds what a command runs besides itself, if the table tells it. Otherwise returns false.
pub(super) fn told(script: &mut Script, simple: &Simple, depth: usize) -> bool {
    let Some(manner) = Manner::told(simple) else { return false };
    let words = &simple.words[1..];
    let items = manner.placed(words);
    let mut count = 0;
    for (at, item) in &items {
        let Item::Option { names, value, .. } = item else { continue };
        for run in manner.runs(names) {
            count += 1;
            if count > RUNS {
                script.unclear(DEEP.into());
                break;
            }
            match (run, value) {
                (Run::Words, _) => {
                    let rest = words.get(at + 1..).unwrap_or_default();
                    command(script, simple, &called(value.as_ref(), rest), depth);
                }
                (Run::Program, Some(it)) => program(script, simple, it),
                (Run::Text | Run::Out | Run::Negated, _) | (_, None) => (),
                (Run::Commas, Some(it)) => line(script, &it.shown().replace(',', " "), depth),
                (_, Some(it)) => {
                    setting(script, simple, it, depth);
                    // some programs take the words behind the command for its arguments: `nodemon --exec git push`
                    let rest = words.get(at + 1..).unwrap_or_default();
                    if rest.first() == Some(it) {
                        let words = called(Some(it), rest);
                        script.commands.push(Simple { words, surety: Surety::Guess });
                    }
                }
            }
        }
    }
    for it in words.iter().filter(|it| it.fixed().is_none() && is_run(&manner, it)) {
        script
            .unclear(format!("{} is known only when the command runs", quoted(cause(it.shown()))));
    }
    if let Some(it) = manner.operands() {
        operands(script, simple, (it, &manner, &items), depth);
    }
    if matches!(simple.name(), Some("su" | "runuser")) {
        // after `--` they are arguments of the shell
        let mut pairs = words.windows(2).filter(|it| it[0].fixed() == Some("-c"));
        if let Some([_, text]) = pairs.next() {
            setting(script, simple, text, depth);
        }
    }
    true
}

/// The words behind an option as a command, up to its end. If the option's value is the program, they are its arguments,
/// and `--` only stands before them.
fn called(program: Option<&Word>, rest: &[Word]) -> Vec<Word> {
    let is = |it: &Word, texts: &[&str]| it.fixed().is_some_and(|it| texts.contains(&it));
    let skipped = usize::from(program.is_some() && rest.first() == program);
    let rest = rest[skipped..].iter().take_while(|it| !is(it, &[";", "+"]));
    let rest = rest.filter(|it| program.is_none() || !is(it, &["--"]));
    program.into_iter().chain(rest).cloned().collect()
}

/// Whether a word is an option with a command that is known only later: `--to-command="$x"`.
fn is_run(manner: &Manner, word: &Word) -> bool {
    let head = word.shown().split(['"', '\'', '$', '`', '{']).next().unwrap_or_default();
    let word = [Word::Fixed(format!("{head}-"))];
    head.starts_with('-')
        && manner.placed(&word).iter().any(|it| match &it.1 {
            Item::Option { names, .. } => {
                manner.runs(names).iter().any(|it| it.is_command() || *it == Run::Program)
            }
            Item::Text(_) | Item::Open { .. } => false,
        })
}

/// Adds what a program runs of the words that are no options.
fn operands(
    script: &mut Script,
    simple: &Simple,
    (told, manner, items): (Operands, &Manner, &[(usize, Item<'_>)]),
    depth: usize,
) {
    let words = &simple.words[1..];
    let is_operand = |it: &&(usize, Item)| matches!(it.1, Item::Text(_) | Item::Open { .. });
    let places: Vec<usize> = items.iter().filter(is_operand).map(|it| it.0).collect();
    if told.run == Run::Dashed
        && let Some(at) = behind_dashes(words)
    {
        return command(script, simple, &words[at..], depth);
    }
    let Some(&start) = places.get(told.from) else { return };
    match told.run {
        Run::Words => command(script, simple, &words[start..], depth),
        Run::Others if words[start].fixed().is_none_or(|it| !manner.has_verb(it)) => {
            command(script, simple, &words[start..], depth);
        }
        // `yarn workspace a exec x` is `yarn exec x` in another folder
        Run::Others if told.from > 0 => {
            command(script, simple, &[&simple.words[..1], &words[start..]].concat(), depth);
        }
        Run::Line => lines(script, simple, &words[start..], depth),
        Run::One => setting(script, simple, &words[start], depth),
        Run::Each => {
            for at in &places[told.from..] {
                setting(script, simple, &words[*at], depth);
            }
        }
        Run::Program if !manner.is_given(items) => program(script, simple, &words[start]),
        _ => (),
    }
    // the word after an option that is not known may be its value
    let is_unclear =
        |it: &(usize, Item)| it.0 < start && matches!(it.1, Item::Option { may_take: true, .. });
    if let (Run::Words, Some(&next)) = (told.run, places.get(told.from + 1))
        && items.iter().any(is_unclear)
    {
        let words = words[next..].to_vec();
        script.commands.push(Simple { words, surety: Surety::Guess });
    }
}

/// Adds the command line that words are joined to. Without a command, `parallel` runs each word after `:::` as one.
fn lines(script: &mut Script, simple: &Simple, words: &[Word], depth: usize) {
    if words[0].fixed().is_some_and(|it| it.starts_with(":::")) {
        for it in &words[1..] {
            line(script, it.shown(), depth);
        }
        return;
    }
    let text = shown(words);
    match Fill::of(simple) {
        Some(it) => line(script, &format!("{} {FILLED}", it.in_line(&text)), depth),
        None => line(script, &text, depth),
    }
}

/// Adds a command in the arguments of another one.
pub(super) fn command(script: &mut Script, outer: &Simple, words: &[Word], depth: usize) {
    let mut words = filled(outer, words);
    let is_assignment = |it: &Word| {
        let name = it.fixed().and_then(|it| it.split_once('=')).map(|it| it.0);
        name.is_some_and(|it| it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_'))
    };
    let count = words.iter().take_while(|it| is_assignment(it)).count();
    for it in words.drain(..count).collect::<Vec<_>>() {
        let (name, value) = it.shown().split_once('=').unwrap_or_default();
        assigned(script, name, Some(value), depth);
    }
    // `coproc NAME { a b; }`
    if let Some(at) = words.iter().position(|it| it.fixed() == Some("{")) {
        words.drain(..=at);
    }
    if words.is_empty() {
        return;
    }
    if depth >= DEPTH {
        return script.unclear(DEEP.into());
    }
    // a program in the arguments of itself would add the same words many times
    if !script.is_new(&shown(&words), depth, Surety::Inner) {
        return;
    }
    if let Some(words) = packaged(&words) {
        script.commands.push(Simple { words, surety: Surety::Inner });
    }
    let simple = Simple { words, surety: Surety::Certain };
    script.within(Surety::Inner, |it| unwrapped(it, simple, depth + 1));
}

/// The command whose program is named as a package: `npm@8 publish`, `nixpkgs#git -- push`, `env:git push`.
fn packaged(words: &[Word]) -> Option<Vec<Word>> {
    let text = words.first()?.fixed()?;
    let name = text.rsplit(['#', ':']).next()?;
    let name = name.split(['@', '=', '<', '>', '~']).next().filter(|it| !it.is_empty())?;
    let is_dashed = words.get(1).is_some_and(|it| it.fixed() == Some("--"));
    let rest = &words[if is_dashed { 2 } else { 1 }..];
    let program = std::iter::once(Word::Fixed(name.to_owned()));
    (name != text).then(|| program.chain(rest.iter().cloned()).collect())
}

/// Adds a command line in the arguments of a command.
pub(super) fn line(script: &mut Script, text: &str, depth: usize) {
    if depth >= DEPTH {
        return script.unclear(DEEP.into());
    }
    script.nested(text.trim_start_matches(['!', '|', '@', ' ']), depth, Surety::Inner);
}

/// Adds an argument that is a command line or a setting whose value is one: `exec=rm x`, `ProxyCommand rm x`.
fn setting(script: &mut Script, simple: &Simple, word: &Word, depth: usize) {
    let Some(text) = word.fixed() else {
        return script.unclear(format!(
            "{} is known only when the command runs",
            quoted(cause(word.shown()))
        ));
    };
    line(script, text, depth);
    let is_name =
        |it: &str| it.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-.:".contains(&it));
    if let Some((_, value)) = text.split_once('=').filter(|it| is_name(it.0)) {
        line(script, value, depth);
    }
    let mark: &[char] = match simple.name() {
        Some("ssh" | "scp" | "sftp") => &[' ', '\t'],
        Some("bind") => &[':'],
        _ => &[],
    };
    if let Some((_, value)) = text.trim_start().split_once(mark) {
        line(script, value, depth);
    }
}

/// Notes a text in a program's own language.
fn program(script: &mut Script, simple: &Simple, word: &Word) {
    if let (Some(name), Some(text)) = (simple.name(), word.fixed()) {
        mention(script, name, text);
        // the text may run the further arguments
        let has_arguments = starts(name, text) == Starts::Surely || name.ends_with("awk");
        if has_arguments {
            noted(script, name, &shown(&simple.words[1..]), starts(name, text));
        }
    }
}

/// Notes the words of a text that the program `name` runs, if the text may start other programs.
pub(super) fn mention(script: &mut Script, name: &str, text: &str) {
    noted(script, name, text, starts(name, text));
}

/// Notes the words of a text that a program may run.
pub(super) fn perhaps(script: &mut Script, name: &str, text: &str) {
    noted(script, name, text, Starts::Perhaps);
}

/// Notes the arguments of a program of which nothing is known.
pub(super) fn arguments(script: &mut Script, name: &str, text: &str) {
    let (name, words) = (name.to_owned(), words_of(text));
    let program = Program { name, words, is_sure: false, are_arguments: true };
    if !program.words.is_empty() && !script.programs.contains(&program) {
        script.programs.push(program);
    }
}

/// The words of a text, whatever is between them.
fn words_of(text: &str) -> Vec<Word> {
    let is_word = |c: char| c.is_alphanumeric() || "_-./+".contains(c);
    let words = text.split(|c| !is_word(c)).map(|it| it.trim_end_matches(['/', '.']));
    words.filter(|it| !it.is_empty()).map(|it| Word::Fixed(it.to_owned())).collect()
}

fn noted(script: &mut Script, name: &str, text: &str, starts: Starts) {
    if starts == Starts::Nothing {
        return;
    }
    let words = words_of(text);
    let is_sure = starts == Starts::Surely;
    // `(list "push")`
    let is_list = |it: &Word| matches!(it.fixed(), Some("args" | "list" | "quote" | "vector"));
    let plain = LISPS.contains(&name).then(|| words.iter().filter(|it| !is_list(it)).cloned());
    for words in [Some(words.clone()), plain.map(Iterator::collect)].into_iter().flatten() {
        let program = Program { name: name.to_owned(), words, is_sure, are_arguments: false };
        if !program.words.is_empty() && !script.programs.contains(&program) {
            script.programs.push(program);
        }
    }
}

/// Programs whose language writes the arguments of a program as a list: `(list "push")`, `{ args: ["push"] }`.
const LISPS: &[&str] = &[
    "clisp",
    "clojure",
    "deno",
    "ecl",
    "emacs",
    "emacsclient",
    "gosh",
    "guile",
    "janet",
    "racket",
    "sbcl",
];

/// Notes the arguments of an interpreter of which the table tells nothing, and those that editors and pagers take for
/// commands: `+!rm x`.
pub(super) fn texts(script: &mut Script, simple: &Simple, is_told: bool) {
    let Some(name) = simple.name().filter(|it| is_interpreter(it) && !is_shell(it)) else {
        return;
    };
    let texts = simple.words[1..].iter().filter_map(Word::fixed);
    // a module of python that runs its arguments
    let runs_texts = !is_told || simple.words.iter().any(|it| it.fixed() == Some("timeit"));
    for it in texts {
        match () {
            () if runs_texts || it.starts_with('+') => mention(script, name, it),
            // the value of an option that the table does not have
            () if it.contains(char::is_whitespace) && !awk::NAMES.contains(&name) => {
                perhaps(script, name, it);
            }
            () => (),
        }
    }
}

/// Interpreters, apart from the shells, whose first argument is the file of a program.
const SCRIPTED: &[&str] = &[
    ".", "Rscript", "elixir", "expect", "fish", "groovy", "julia", "lua", "luajit", "node",
    "nodejs", "nu", "ocaml", "perl", "php", "pwsh", "pypy", "python", "ruby", "source", "tclsh",
    "wish",
];

/// Adds the file that a shell or an interpreter runs as a command: `node /usr/bin/npm publish` is `npm publish`, and
/// `python -m pip install` is `pip install`.
pub(super) fn scripted(script: &mut Script, simple: &Simple) {
    let Some(name) = simple.name() else { return };
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !is_shell(name) && !SCRIPTED.iter().any(|it| *it == name || *it == plain) {
        return;
    }
    let words = &simple.words[1..];
    let is_module = |it: &Word| it.fixed() == Some("-m") && plain.ends_with('n');
    let is_option = |it: &Word| it.shown().starts_with(['-', '+']);
    let module = words.iter().position(is_module).map(|at| at + 1);
    let operand = || match Manner::told(simple) {
        Some(manner) => {
            let items = manner.placed(words);
            let mut operands = items.iter().filter(|it| !matches!(it.1, Item::Option { .. }));
            operands.next().filter(|_| !manner.is_given(&items)).map(|it| it.0)
        }
        None => words.iter().position(|it| !is_option(it)),
    };
    if let Some(words) = module.or_else(operand).and_then(|at| words.get(at..)) {
        script.commands.push(Simple { words: words.to_vec(), surety: Surety::Inner });
    }
}

/// Adds each sequence of arguments that a program may run of which the table tells nothing.
pub(super) fn guessed(script: &mut Script, simple: &Simple, surety: Surety, depth: usize) {
    let words = filled(simple, &simple.words);
    for at in 1..words.len().min(TRIED) {
        let end = words.len().min(at + TRIED);
        script.commands.push(Simple { words: words[at..end].to_vec(), surety });
    }
    let is_open = |it: &Word| it.fixed().is_none();
    if let Some(it) = simple.words[1..].iter().find(|it| is_open(it)) {
        script
            .unclear(format!("{} is known only when the command runs", quoted(cause(it.shown()))));
    }
    if words.len() > TRIED {
        script.unclear(format!("{} has too many words", quoted(&simple.shown())));
    }
    let texts: Vec<&str> = words[1..].iter().filter_map(Word::fixed).collect();
    let joined = texts.join(" ");
    let glued = texts.iter().flat_map(|it| glued(it));
    let all = texts.iter().copied().chain(glued);
    let all = all.filter(|it| it.contains([' ', ';', '=', '|', '&', ':'])).chain([joined.as_str()]);
    for text in all {
        if depth >= DEPTH {
            return script.unclear(DEEP.into());
        }
        let value = text.split_once(['=', ':']).map_or(text, |(_, value)| value);
        script.nested(value.trim_start_matches('!'), depth, surety);
        script.nested(text.trim_start_matches('!'), depth, surety);
    }
}

/// What may be the value of a short option that is glued to it or to several: `-S'rm x'`, `-qec'rm x'`.
fn glued(text: &str) -> impl Iterator<Item = &str> {
    const MOST: usize = 4;
    let letters = text.strip_prefix('-').filter(|it| !it.starts_with('-')).unwrap_or_default();
    letters.char_indices().skip(1).take(MOST).map(|(at, _)| &letters[at..])
}

/// Words that a program runs. Those that are known only later are open: the words that `xargs` adds from its input, and
/// those with a text that the program replaces.
fn filled(outer: &Simple, words: &[Word]) -> Vec<Word> {
    let is_found = |it: &str| it.contains("{}");
    let Some(fill) = Fill::of(outer) else {
        let known = |it: &Word| match it.fixed() {
            Some(text) if is_found(text) => Word::Open(text.to_owned()),
            _ => it.clone(),
        };
        return words.iter().map(known).collect();
    };
    let is_shell = words.first().and_then(Word::fixed).is_some_and(|it| is_shell(base(it)));
    let known = |it: &Word| match it.fixed() {
        Some(text) if fill.is_in(text) && is_shell => Word::Fixed(fill.in_line(text)),
        Some(text) if fill.is_in(text) => Word::Open(text.to_owned()),
        _ => it.clone(),
    };
    words.iter().map(known).chain([Word::Open(INPUT.into())]).collect()
}

/// A variable that stands in a command line for words of the input.
const FILLED: &str = "$INPUT";

/// What a program such as `xargs` replaces in its arguments by words of its input.
struct Fill {
    mark: String,
    /// Whether each word in braces counts: `{1}`, `{.}`.
    has_braces: bool,
}

impl Fill {
    fn of(simple: &Simple) -> Option<Fill> {
        let name = simple
            .name()
            .map(named)
            .filter(|it| matches!(*it, "xargs" | "parallel" | "rush" | "sem"))?;
        let manner = Manner::told(simple)?;
        let items = manner.placed(&simple.words[1..]).into_iter();
        let mark = items.map(|it| it.1).find_map(|it| match it {
            Item::Option { names, value: Some(Word::Fixed(value)), .. }
                if manner.is(&names, "I") || manner.is(&names, "replace") =>
            {
                Some(value)
            }
            _ => None,
        });
        let mark = mark.filter(|it| !it.is_empty()).unwrap_or_else(|| "{}".to_owned());
        Some(Fill { mark, has_braces: name != "xargs" })
    }

    fn is_in(&self, text: &str) -> bool {
        self.in_line(text) != text
    }

    fn in_line(&self, text: &str) -> String {
        let text = text.replace(&self.mark, FILLED);
        if !self.has_braces {
            return text;
        }
        let mut parts = text.split('{');
        let mut line = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match part.split_once('}') {
                Some((inner, rest)) if !inner.contains(' ') => line.extend([FILLED, rest]),
                _ => line.extend(["{", part]),
            }
        }
        line
    }
}
