//! Risky arguments: they make a known program run a command, write a file or do something else that one would not
//! expect from its name. They are collected from the list `GTFOBins` and the programs' manuals. A rule allows a risky
//! argument only if the rule names it.

use super::{Simple, Word};

/// The risky arguments of some programs.
struct Row {
    names: &'static [&'static str],
    /// The letters of short options. Several may be in one word, as in `-xzf`.
    letters: &'static str,
    /// Long options without their dashes. They may be abbreviated.
    longs: &'static [&'static str],
    /// Words that are risky if the whole word is equal.
    words: &'static [&'static str],
    /// A word is risky if it begins with one of these.
    heads: &'static [&'static str],
}

const NONE: Row = Row { names: &[], letters: "", longs: &[], words: &[], heads: &[] };

const ROWS: &[Row] = &[
    Row {
        names: &["find"],
        words: &[
            "-delete", "-exec", "-execdir", "-fls", "-fprint", "-fprint0", "-fprintf", "-ok",
            "-okdir",
        ],
        ..NONE
    },
    Row { names: &["fd", "fdfind"], letters: "xX", longs: &["exec", "exec-batch"], ..NONE },
    Row { names: &["rg"], longs: &["pre", "hostname-bin"], ..NONE },
    Row {
        names: &["tar", "bsdtar", "gtar"],
        letters: "IF",
        longs: &[
            "checkpoint-action",
            "info-script",
            "new-volume-script",
            "rmt-command",
            "rsh-command",
            "to-command",
            "use-compress-program",
        ],
        ..NONE
    },
    Row {
        names: &["git"],
        letters: "cCO",
        longs: &[
            "config-env",
            "exec",
            "exec-path",
            "ext-diff",
            "git-dir",
            "open-files-in-pager",
            "output",
            "receive-pack",
            "template",
            "textconv",
            "upload-pack",
            "work-tree",
            "namespace",
            "super-prefix",
            "tool",
            "extcmd",
        ],
        words: &[
            "-x",
            "bisect",
            "config",
            "credential",
            "daemon",
            "difftool",
            "filter-branch",
            "foreach",
            "instaweb",
            "mergetool",
            "send-email",
            "submodule",
            "-u",
            "hook",
            "maintenance",
        ],
        heads: &["ext::", "-x"],
    },
    Row {
        names: &["scp", "sftp", "rsync"],
        letters: "oFSJDe",
        longs: &["rsh", "rsync-path", "files-from"],
        ..NONE
    },
    Row {
        names: &["sort"],
        letters: "oT",
        longs: &["output", "compress-program", "temporary-directory"],
        ..NONE
    },
    Row {
        names: &["cargo"],
        letters: "CZ",
        longs: &["config", "fix", "manifest-path", "target-dir", "out-dir"],
        ..NONE
    },
    Row {
        names: &["npm", "pnpm", "yarn", "npx", "bun"],
        letters: "C",
        longs: &[
            "globalconfig",
            "node-options",
            "prefix",
            "script-shell",
            "shell",
            "userconfig",
            "cwd",
            "dir",
        ],
        ..NONE
    },
    Row {
        names: &["go"],
        words: &["-c", "-fix", "--fix", "generate", "tool", "env"],
        heads: &[
            "-exec",
            "--exec",
            "-toolexec",
            "--toolexec",
            "-vettool",
            "--vettool",
            "-overlay",
            "--overlay",
            "-o",
            "--o",
            "-C",
            "--C",
            "-modfile",
            "--modfile",
            "-ldflags",
            "--ldflags",
            "-gccgoflags",
            "-gcflags",
        ],
        ..NONE
    },
    Row {
        names: &["make", "gmake"],
        letters: "fCIE",
        longs: &["file", "makefile", "directory", "eval", "include-dir"],
        ..NONE
    },
    Row {
        names: &["cc", "clang", "clang++", "g++", "gcc", "rustc", "ld"],
        letters: "oB",
        longs: &["output", "plugin", "config"],
        heads: &["-wrapper", "-fplugin", "-specs", "@", "-Clinker", "-C"],
        ..NONE
    },
    Row {
        names: &["curl"],
        letters: "oOTKdFJDc",
        longs: &[
            "config",
            "cookie-jar",
            "data",
            "dump-header",
            "form",
            "output",
            "remote-name",
            "trace",
            "upload-file",
            "stderr",
            "json",
            "libcurl",
            "etag-save",
            "hsts",
            "alt-svc",
        ],
        ..NONE
    },
    Row {
        names: &["wget"],
        letters: "OPieao",
        longs: &[
            "append-output",
            "execute",
            "input-file",
            "output",
            "post-file",
            "body-file",
            "use-askpass",
            "config",
            "directory-prefix",
            "load-cookies",
            "save-cookies",
        ],
        ..NONE
    },
    Row {
        names: &["zip"],
        letters: "TO",
        longs: &["unzip-command", "test", "output-file"],
        ..NONE
    },
    Row {
        names: &["pip", "pip3"],
        longs: &["python", "target", "prefix", "log", "config-settings"],
        ..NONE
    },
    Row { names: &["jq", "yq"], letters: "fLi", longs: &["from-file", "inplace"], ..NONE },
    Row { names: &["tree", "xxd", "uniq", "shuf"], letters: "o", longs: &["output"], ..NONE },
    Row { names: &["date"], letters: "sf", longs: &["set", "file"], ..NONE },
    Row {
        names: &["pytest"],
        letters: "cp",
        longs: &["rootdir", "confcutdir", "basetemp", "config-file"],
        ..NONE
    },
    Row { names: &["mypy"], longs: &["config-file", "install-types", "python-executable"], ..NONE },
    Row {
        names: &["prettier", "eslint", "ruff"],
        letters: "cow",
        longs: &[
            "config",
            "fix",
            "output-file",
            "plugin",
            "resolve-plugins",
            "rulesdir",
            "unsafe-fixes",
            "write",
        ],
        ..NONE
    },
];

/// Programs whose arguments are programs or run them.
const INTERPRETERS: &[&str] = &[
    "R",
    "Rscript",
    "ash",
    "awk",
    "bash",
    "bc",
    "bun",
    "dash",
    "dc",
    "deno",
    "ed",
    "elixir",
    "emacs",
    "erl",
    "ex",
    "expect",
    "fish",
    "gawk",
    "gdb",
    "ghci",
    "groovy",
    "irb",
    "java",
    "julia",
    "ksh",
    "less",
    "lua",
    "luajit",
    "m4",
    "man",
    "mawk",
    "more",
    "mysql",
    "nano",
    "nawk",
    "node",
    "nodejs",
    "nu",
    "nvim",
    "ocaml",
    "osascript",
    "perl",
    "php",
    "psql",
    "pwsh",
    "pypy",
    "python",
    "ruby",
    "scala",
    "sh",
    "sqlite3",
    "swift",
    "tclsh",
    "vi",
    "view",
    "vim",
    "wish",
    "zsh",
];

/// The index of the first risky argument of a command, and the reason as a clause for the user. An interpreter without
/// arguments reads its program from its input; for it the index is behind the last word.
pub fn risk(command: &Simple) -> Option<(usize, String)> {
    let name = command.name()?;
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if [name, plain].iter().any(|it| INTERPRETERS.contains(it)) {
        return interpreted(command, name);
    }
    if matches!(name, "sed" | "gsed") {
        return edited(command, name);
    }
    let row = ROWS.iter().find(|it| it.names.contains(&name))?;
    let at = (1..command.words.len()).find(|at| {
        let is_bundle = *at == 1 && matches!(name, "tar" | "bsdtar" | "gtar");
        let is_make = matches!(name, "make" | "gmake");
        command.words[*at]
            .fixed()
            .is_some_and(|it| row.has(it, is_bundle) || is_make && it.contains('='))
    })?;
    let word = command.words[at].shown();
    Some((at, format!("`{word}` makes `{name}` do more than its name says")))
}

impl Row {
    /// Whether a word is risky. If `is_bundle`, the word may be short options without a dash, as in `tar xzf`.
    fn has(&self, word: &str, is_bundle: bool) -> bool {
        if self.words.contains(&word) || self.heads.iter().any(|it| word.starts_with(it)) {
            return true;
        }
        if let Some(long) = word.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or_default();
            return !name.is_empty()
                && self.longs.iter().any(|it| it.starts_with(name) || name.starts_with(it));
        }
        let letters =
            if is_bundle { Some(word.trim_start_matches('-')) } else { word.strip_prefix('-') };
        letters.is_some_and(|it| it.contains(|c| self.letters.contains(c)))
    }
}

fn interpreted(command: &Simple, name: &str) -> Option<(usize, String)> {
    if let [_, Word::Fixed(only)] = &command.words[..]
        && matches!(only.as_str(), "--version" | "-V" | "--help")
    {
        return None;
    }
    let risk = match command.words.get(1) {
        Some(word) => (1, format!("`{name}` runs what `{}` says", word.shown())),
        None => (1, format!("`{name}` runs a program from its input")),
    };
    Some(risk)
}

/// `sed` runs commands and writes files by letters in its script; only simple scripts are known to do neither.
fn edited(command: &Simple, name: &str) -> Option<(usize, String)> {
    let mut script = None;
    for at in 1..command.words.len() {
        let word = command.words[at].shown();
        let is_safe = match word {
            "-n" | "-E" | "-r" | "-u" | "-z" | "-nE" | "-En" | "--quiet" | "--silent"
            | "--regexp-extended" => true,
            it if it.starts_with('-') => false,
            it => script.is_some() || is_simple(it),
        };
        if !is_safe {
            return Some((at, format!("`{word}` may make `{name}` write files or run commands")));
        }
        if !word.starts_with('-') {
            script.get_or_insert(at);
        }
    }
    None
}

/// Whether a script of `sed` only prints, deletes or substitutes.
fn is_simple(script: &str) -> bool {
    let rest = script.trim_start_matches(|c: char| c.is_ascii_digit() || ",$".contains(c));
    if matches!(rest, "p" | "d" | "q" | "=") {
        return true;
    }
    let Some(body) = rest.strip_prefix('s') else { return false };
    let Some(mark) = body.chars().next().filter(|c| "/|,#:@".contains(*c)) else { return false };
    if body.contains(['\\', '\n', ';']) {
        return false;
    }
    let parts: Vec<&str> = body[mark.len_utf8()..].split(mark).collect();
    matches!(parts[..], [_, _, flags] if flags.chars().all(|c| c.is_ascii_digit() || "gpiI".contains(c)))
}
