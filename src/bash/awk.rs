//! Whether a command of `awk` only selects and prints: its program starts no other, reads no further file and writes
//! none. The text is not parsed. What awk would need for more may stand nowhere in it, also not in a string.

use super::simple::{Simple, Word};

/// The programs that are awk.
pub(super) const NAMES: [&str; 4] = ["awk", "gawk", "mawk", "nawk"];
/// The words that may stand before a parenthesis: functions and keywords without an effect outside of awk.
const CALLED: [&str; 25] = [
    "and", "atan2", "cos", "exit", "exp", "for", "gensub", "gsub", "if", "in", "index", "int",
    "length", "match", "print", "printf", "return", "split", "sprintf", "sqrt", "sub", "substr",
    "tolower", "toupper", "while",
];
/// The variables of awk by which a program sees only its input. Other names in capitals are not known.
const VARIABLES: [&str; 14] = [
    "BEGIN",
    "END",
    "FILENAME",
    "FNR",
    "FS",
    "IGNORECASE",
    "NF",
    "NR",
    "OFMT",
    "OFS",
    "ORS",
    "RS",
    "RLENGTH",
    "RSTART",
];
/// Words that no such program has.
const REFUSED: [&str; 5] = ["func", "getline", "load", "include", "system"];

/// Whether a command of awk only selects and prints.
pub(super) fn only_prints(command: &Simple) -> bool {
    let mut words = command.words.iter().skip(1).map(Word::fixed);
    while let Some(word) = words.next() {
        match word {
            Some("-F" | "-v") => {
                if words.next().flatten().is_none() {
                    return false;
                }
            }
            Some(it) if it.starts_with("-F") || it.starts_with("-v") => (),
            Some(program) => return !program.starts_with('-') && prints(program),
            None => return false,
        }
    }
    false
}

fn prints(program: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_graphic() || matches!(c, ' ' | '\t' | '\n');
    if !program.chars().all(is_plain) || program.contains(['@', '`']) {
        return false;
    }
    // a program that prints could write a file or start a command by these signs
    let is_written = program.contains('>') && program.contains("print");
    let is_piped = program.replace("||", "").contains('|');
    !is_written && !is_piped && names(program).all(|(name, is_called)| is_known(name, is_called))
}

fn is_known(name: &str, is_called: bool) -> bool {
    let is_variable = name.bytes().any(|it| it.is_ascii_lowercase()) || name.len() == 1;
    !REFUSED.iter().any(|it| name.contains(it))
        && (is_variable || VARIABLES.contains(&name))
        && (!is_called || CALLED.contains(&name))
}

/// The names in a program, and whether a parenthesis follows.
fn names(program: &str) -> impl Iterator<Item = (&str, bool)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = program;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c| !is_part(c));
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        rest = after;
        (!name.is_empty()).then(|| (name, after.trim_start().starts_with('(')))
    })
    // digits before a name are a number: `2length(x)`
    .map(|(name, is_called)| (name.trim_start_matches(|c: char| c.is_ascii_digit()), is_called))
    .filter(|it| !it.0.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_awk_that_could_do_more_than_print_is_not_taken_for_one_that_prints() {
        for it in [
            "{print $1}",
            "NR==1 || NR > 5",
            "$3 > 100 && /foo/",
            "{ s += $5 } END { printf \"%d %s\\n\", s, length(name) }",
            "!seen[$0]++",
            "BEGIN { FS = \":\"; OFS=\",\" } { gsub(/a/, \"b\", $2); print toupper($1), NF }",
            "/^fn /{n++} END{print n+0}",
            "1",
        ] {
            assert!(prints(it), "{it}");
        }
        for it in [
            "{ system(\"x\") }",
            "{ print > \"x\" }",
            "{ printf(\"a\") >> \"x\" }",
            "{ print | \"sh\" }",
            "{ print || \"sh\" | \"x\" }",
            "{ print ||| \"sh\" }",
            "{ \"x\" | getline }",
            "{ while ((getline line < \"/etc/passwd\") ) print line }",
            "BEGIN { ARGV[1] = \"/etc/passwd\"; ARGC = 2 }",
            "BEGIN { print ENVIRON[\"HOME\"] }",
            "BEGIN { SYMTAB[\"x\"] = 1 }",
            "@include \"x\"",
            "@load \"x\"",
            "BEGIN { f = \"sys\"; @f(\"x\") }",
            "function f() { }",
            "BEGIN { extension(\"./x.so\", \"y\") }",
            "{ close (\"x\") }",
            "BEGIN { print \"ü\" }",
            "{ print $1 }\u{0}",
        ] {
            assert!(!prints(it), "{it}");
        }
    }
}
