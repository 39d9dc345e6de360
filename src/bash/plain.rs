//! Reads command lines of plain and quoted words between separators without the parser, which takes more than a
//! microsecond for each word. A test with random lines compares the result with the parser's.

use super::simple::Word;

/// Words with which bash begins or continues more than a simple command.
const RESERVED: &[&str] = &[
    "case", "coproc", "declare", "do", "done", "elif", "else", "esac", "export", "fi", "for",
    "function", "if", "in", "local", "readonly", "select", "then", "time", "typeset", "unset",
    "unsetenv", "until", "while",
];

const SEPARATORS: [&str; 5] = ["&&", "||", "|", ";", "\n"];

/// The words of each simple command, and whether it reads the output of the one before it. `None` if the line needs the
/// parser.
pub(super) fn commands(line: &str) -> Option<Vec<(Vec<Word>, bool)>> {
    let mut commands = vec![(Vec::new(), false)];
    let mut rest = line.trim_matches([' ', '\n']);
    loop {
        let (word, after) = word(rest)?;
        commands.last_mut()?.0.push(Word::Fixed(word.to_owned()));
        rest = after.trim_start_matches(' ');
        if rest.is_empty() {
            return Some(commands);
        }
        if let Some(it) = SEPARATORS.iter().find(|it| rest.starts_with(**it)) {
            let blank: &[char] = if *it == "\n" { &[' ', '\n'] } else { &[' '] };
            rest = rest[it.len()..].trim_start_matches(blank);
            commands.push((Vec::new(), *it == "|"));
        }
    }
}

/// The value of the first word, and the rest of the line after it.
fn word(line: &str) -> Option<(&str, &str)> {
    let (word, rest) = if let Some(behind) = line.strip_prefix(['\'', '"']) {
        let (word, rest) = behind.split_once(&line[..1])?;
        word.bytes().all(|it| it == b' ' || is_plain(it)).then_some((word, rest))?
    } else {
        let end = line.bytes().position(|it| !is_plain(it)).unwrap_or(line.len());
        let (word, rest) = line.split_at(end);
        (!word.is_empty() && !RESERVED.contains(&word)).then_some((word, rest))?
    };
    let ends = rest.is_empty() || rest.starts_with([' ', '\n', ';', '&', '|']);
    ends.then_some((word, rest))
}

/// Whether a character in a word has no special meaning, neither for bash nor for the parser, which fails at words such
/// as `1%` and `a@`.
fn is_plain(c: u8) -> bool {
    c.is_ascii_alphanumeric() || b"_-./:,".contains(&c)
}
