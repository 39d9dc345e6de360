//! Variables of the environment that change what commands mean or run, from the manuals of the programs that read them.

/// Variables that change no command's meaning, so that setting them needs no consent.
const HARMLESS: &[&str] = &[
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "COLUMNS",
    "DEBUG",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// Variables whose value is a command line or a program. A star stands for any characters.
const COMMANDS: &[&str] = &[
    "*ASKPASS",
    "*BROWSER",
    "*EDITOR",
    "*LINKER",
    "*PAGER",
    "*RUNNER",
    "*SHELL",
    "*VISUAL",
    "*WRAPPER",
    "AR",
    "AWK",
    "CC",
    "CMAKE_*_LAUNCHER",
    "CPP",
    "CXX",
    "CVS_RSH",
    "*_COMMAND",
    "BORG_PASSCOMMAND",
    "FCEDIT",
    "GDB",
    "GIT_EXTERNAL_DIFF",
    "GIT_SSH",
    "HGMERGE",
    "LD",
    "LESSCLOSE",
    "LESSOPEN",
    "MAKE",
    "MANROFFSEQ",
    "PARALLEL_SSH",
    "PS1",
    "PS4",
    "RSYNC_CONNECT_PROG",
    "RSYNC_RSH",
    "RUSTC",
    "RUSTDOC",
    "SVN_SSH",
    "TAR_RSH",
    "TERMCMD",
];

/// Variables whose value is read like further arguments of a program.
const OPTIONS: &[(&str, &str)] = &[
    ("FZF_DEFAULT_OPTS", "fzf"),
    ("GOFLAGS", "go build"),
    ("GZIP", "gzip"),
    ("JAVA_TOOL_OPTIONS", "java"),
    ("JDK_JAVA_OPTIONS", "java"),
    ("_JAVA_OPTIONS", "java"),
    ("LESS", "less"),
    ("MAKEFLAGS", "make"),
    ("GNUMAKEFLAGS", "make"),
    ("MFLAGS", "make"),
    ("MAVEN_ARGS", "mvn"),
    ("NODE_OPTIONS", "node"),
    ("PARALLEL", "parallel"),
    ("PERL5OPT", "perl"),
    ("PYTEST_ADDOPTS", "pytest"),
    ("RIPGREP_CONFIG_PATH", "rg"),
    ("RUBYOPT", "ruby"),
    ("RUSTFLAGS", "rustc"),
    ("TAR_OPTIONS", "tar"),
    ("UNZIP", "unzip"),
    ("ZIPOPT", "zip"),
];

/// Variables by which the names of commands may mean others, or that name a file of commands.
const NAMES: &[&str] = &[
    "BASH_ENV",
    "BASH_FUNC_*",
    "BASH_LOADABLES_PATH",
    "ENV",
    "EXINIT",
    "GIT_EXEC_PATH",
    "IFS",
    "INPUTRC",
    "LD_*",
    "DYLD_*",
    "LUA_INIT*",
    "MAKEFILES",
    "NVIM_APPNAME",
    "PATH",
    "PERL5DB",
    "PYTHONSTARTUP",
    "SHELLOPTS",
    "BASHOPTS",
    "VIMINIT",
    "ZDOTDIR",
];

/// What the value of a variable is for the commands that read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Harmless,
    Command,
    /// Arguments of a program.
    Options(&'static str),
    /// It changes what the names of commands mean.
    Names,
    /// Settings of git, such as an alias.
    Settings,
    Unknown,
}

/// What the variable of this name means.
pub(super) fn value(name: &str) -> Value {
    let is_in = |table: &[&str]| table.iter().any(|it| fits(it, name));
    let options = OPTIONS.iter().find(|it| it.0 == name).map(|it| it.1);
    match options {
        Some(program) => Value::Options(program),
        None if HARMLESS.contains(&name) => Value::Harmless,
        None if is_in(NAMES) => Value::Names,
        None if name.starts_with("GIT_CONFIG") => Value::Settings,
        None if is_in(COMMANDS) => Value::Command,
        None => Value::Unknown,
    }
}

/// Whether programs run the value of this variable, or a file that it names.
pub fn runs_value(name: &str) -> bool {
    matches!(value(name), Value::Command | Value::Options(_) | Value::Names | Value::Settings)
}

/// Whether setting this variable changes no command's meaning.
pub(super) fn harmless(name: &str) -> bool {
    value(name) == Value::Harmless
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((head, tail)) => {
            name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
        }
        None => pattern == name,
    }
}
