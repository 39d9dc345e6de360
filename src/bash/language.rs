//! Whether a text in the own language of a program, such as a script of `sed` or the argument of `python -c`, starts
//! other programs.

/// What a text does in this respect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Starts {
    Nothing,
    Perhaps,
    Surely,
}

/// Parts of texts that start programs in one language or another.
const STARTERS: &[&str] = &[
    "%sh",
    "%x",
    "Command",
    "Kernel",
    "POSIX",
    "Process",
    "`",
    "child_process",
    "eval",
    "exec",
    "fork",
    "os.",
    "passthru",
    "pcntl",
    "pipe",
    "popen",
    "proc_open",
    "qx",
    "run-program",
    "shell",
    "spawn",
    "subprocess",
    "system",
];

pub(super) fn starts(program: &str, text: &str) -> Starts {
    let has = |parts: &[&str]| parts.iter().any(|it| text.contains(it));
    match program {
        "sed" | "gsed" => sed(text),
        "awk" | "gawk" | "mawk" | "nawk" => match () {
            () if has(&["system"]) => Starts::Surely,
            () if has(&["|", "@", "getline"]) => Starts::Perhaps,
            () => Starts::Nothing,
        },
        // the recipes of a makefile are commands
        "make" | "gmake" => Starts::Surely,
        "dc" | "ed" | "ex" | "ftp" | "gdb" | "gnuplot" | "gvim" | "less" | "lftp" | "man"
        | "maxima" | "more" | "mysql" | "nano" | "nvim" | "nvr" | "psql" | "red" | "sftp"
        | "smbclient" | "sqlite3" | "telnet" | "vi" | "view" | "vifm" | "vim" | "vimdiff"
            if has(&["!"]) =>
        {
            Starts::Surely
        }
        _ if has(STARTERS) => Starts::Surely,
        _ => Starts::Perhaps,
    }
}

/// What a script of `sed` starts. Commands that this reader does not know may start programs.
fn sed(script: &str) -> Starts {
    let mut rest = script;
    while let Some(it) = trimmed(rest) {
        match command(it) {
            Some(Ok(after)) => rest = after,
            Some(Err(())) => return Starts::Surely,
            None => return Starts::Perhaps,
        }
    }
    Starts::Nothing
}

/// Whether a script of `sed` only prints, deletes or replaces: it starts no program and writes no file.
pub(super) fn only_edits(script: &str) -> bool {
    sed(script) == Starts::Nothing
}

/// The rest of a script without blanks and separators at its start. `None` at the end.
fn trimmed(script: &str) -> Option<&str> {
    Some(script.trim_start_matches([' ', '\t', '\n', ';', '}'])).filter(|it| !it.is_empty())
}

/// The rest of a script after its first command. `None` if the command is not known, an error if it starts a program.
fn command(script: &str) -> Option<Result<&str, ()>> {
    let mut rest = address(script)?;
    if let Some(after) = rest.strip_prefix(',') {
        let after = after.trim_start_matches([' ', '+', '~']);
        rest = address(after).filter(|it| it.len() < after.len())?;
    }
    rest = rest.trim_start_matches([' ', '!']);
    let name = rest.chars().next()?;
    let after = &rest[name.len_utf8()..];
    match name {
        '{' => Some(Ok(after)),
        'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | '=' => {
            ended(after).map(Ok)
        }
        'q' | 'Q' => ended(after.trim_start_matches(|c: char| c.is_ascii_digit())).map(Ok),
        'y' => ended(parts(after, 2)?.1).map(Ok),
        's' => {
            let rest = parts(after, 2)?.1;
            let flags = rest.trim_start_matches(|c: char| c.is_ascii_digit() || "gpiI".contains(c));
            if flags.starts_with('e') { Some(Err(())) } else { ended(flags).map(Ok) }
        }
        // their text ends with the line
        'a' | 'c' | 'i' if !after.contains(['\n', '\\']) => Some(Ok("")),
        'e' => Some(Err(())),
        _ => None,
    }
}

/// The rest after a command, which a separator has to end.
fn ended(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches([' ', '\t']);
    (rest.is_empty() || rest.starts_with([';', '\n', '}'])).then_some(rest)
}

/// The rest of a script after the address at its start, if it has one.
fn address(script: &str) -> Option<&str> {
    let is_number = |c: char| c.is_ascii_digit() || c == '~';
    match script.chars().next()? {
        '$' => Some(&script[1..]),
        '/' => {
            let rest = parts(script, 1)?.1;
            Some(rest.trim_start_matches('I'))
        }
        it if it.is_ascii_digit() => Some(script.trim_start_matches(is_number)),
        _ => Some(script),
    }
    .map(|it| it.trim_start_matches(' '))
}

/// Splits `/a/b/rest` at its mark into `count` parts and the rest. `None` if brackets make the split unclear.
fn parts(text: &str, count: usize) -> Option<(Vec<&str>, &str)> {
    let mark = text.chars().next().filter(|c| c.is_ascii_punctuation() && *c != '\\')?;
    let (mut parts, mut rest) = (Vec::new(), &text[1..]);
    for _ in 0..count {
        let mut is_escaped = false;
        let end = rest.find(|c: char| {
            let is_end = c == mark && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            is_end
        })?;
        let part = &rest[..end];
        if part.matches('[').count() != part.matches(']').count() || part.contains('\n') {
            return None;
        }
        parts.push(part);
        rest = &rest[end + 1..];
    }
    Some((parts, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_of_sed_starts_a_program_only_by_its_command_or_flag_e() {
        for it in [
            "1,5p",
            "$d",
            "/rm -rf/p",
            "/fn main/,/^}/p",
            "s/a/b/g;s|c|d|",
            "/a/{s/b/c/;p}",
            "5q",
            "1!G;h;$!d",
            "0~3p",
            "/a/,+3p",
            "s/\\/rm/x/",
            "y/ab/cd/",
            "/rm/!d",
            "/^$/d",
            "1a rm x",
            "$i e rm",
        ] {
            assert_eq!(sed(it), Starts::Nothing, "{it}");
        }
        for it in ["e rm x", "1e rm x", "s/a/b/e", "s/a/b/ge", "/a/e rm", "p;e rm"] {
            assert_eq!(sed(it), Starts::Surely, "{it}");
        }
        for it in [
            "w x",
            "s/a/b/w x",
            "r x",
            "s/[/]/b/e",
            "b",
            "s/a",
            "/a",
            "1,p",
            "s\\a\\b\\",
            "s/a\n/b/",
            "p e rm",
            "a x\ne rm",
        ] {
            assert_eq!(sed(it), Starts::Perhaps, "{it}");
        }
    }
}
