//! What the files name that run when a folder is entered: `.envrc` of direnv and the files of mise.

use super::modules;
use super::words::{of, tokens};
use crate::bash::{Script, Simple, Surety, Word, runs_value};
use std::collections::BTreeSet;
use std::path::Path;
use toml::Value;

/// Commands whose arguments are neither run nor read into the environment.
const OTHERS: [&str; 29] = [
    ":",
    "[",
    "chmod",
    "direnv_version",
    "echo",
    "env_vars_required",
    "exit",
    "export",
    "false",
    "git",
    "has",
    "log_error",
    "log_status",
    "ls",
    "mkdir",
    "on_git_branch",
    "printf",
    "return",
    "rm",
    "set",
    "shopt",
    "strict_env",
    "test",
    "touch",
    "true",
    "unset",
    "use_node",
    "watch_dir",
    "watch_file",
];
/// Commands all of whose arguments are files that run, or folders with such files.
const LOADERS: [&str; 12] = [
    ".",
    "direnv_load",
    "dotenv",
    "dotenv_if_exists",
    "env_file",
    "file",
    "script",
    "source",
    "source_env",
    "source_env_if_exists",
    "use",
    "user_rel_path",
];
/// What a loader reads in a folder that is its argument.
pub(super) const WITHIN: [&str; 9] = [
    ".env",
    ".envrc",
    "default.nix",
    "devbox.json",
    "devenv.nix",
    "flake.lock",
    "flake.nix",
    "mise.toml",
    "shell.nix",
];
/// Variables, besides those that commands must not set, whose values are files that other programs run or read as
/// settings by which they run programs. A star at the end stands for any characters.
const VARIABLES: [&str; 19] = [
    "AWS_CONFIG_FILE",
    "CURL_HOME",
    "GIT_*",
    "KUBECONFIG",
    "MYVIMRC",
    "NPM_CONFIG_*",
    "PIP_CONFIG_FILE",
    "PROMPT_*",
    "PSQLRC",
    "PYTHONBREAKPOINT",
    "RIPGREP_CONFIG_PATH",
    "SCREENRC",
    "STARSHIP_CONFIG",
    "SSH_*",
    "TMUX_CONF",
    "WGETRC",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "npm_config_*",
];
/// The folders in which `layout` has the shell find programs.
const LAYOUTS: [(&str, &str); 3] =
    [("go", "bin"), ("node", "node_modules/.bin"), ("php", "vendor/bin")];

/// Variables whose value is a folder with settings by which programs run others.
const WHOLE: [&str; 3] = ["DIRENV_CONFIG", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME"];
/// The files that zsh reads in the folder `ZDOTDIR`.
const ZSH: [&str; 5] = [".zshenv", ".zprofile", ".zshrc", ".zlogin", ".zlogout"];
/// Variables whose options name files without their ending.
const REQUIRING: [(&str, &str); 2] = [("NODE_OPTIONS", ".js"), ("RUBYOPT", ".rb")];
/// Programs, their options for a folder, and the files of recipes that they read there.
const RECIPES: [(&str, &[&str], &[&str]); 4] = [
    ("gmake", &["-C", "--directory"], &["GNUmakefile", "Makefile", "makefile"]),
    ("just", &["-d", "--working-directory"], &["justfile", "Justfile", ".justfile"]),
    ("make", &["-C", "--directory"], &["GNUmakefile", "Makefile", "makefile"]),
    ("rake", &["-C", "--directory"], &["Rakefile", "rakefile"]),
];

/// The folder of the project, as files of mise write it.
const ROOT: [&str; 4] = ["{{config_root}}", "{{ config_root }}", "{{cwd}}", "{{ cwd }}"];

/// What such a file names.
#[derive(Debug, Clone, Default)]
pub(super) struct Entered {
    /// Words that may be paths, as they read or because there is such a file.
    pub(super) words: BTreeSet<String>,
    /// Words that are paths.
    pub(super) sure: BTreeSet<String>,
    /// Values of variables that may be anything. A program among them counts.
    pub(super) values: BTreeSet<String>,
    /// Folders in which a shell finds programs by their names.
    pub(super) programs: BTreeSet<String>,
    /// Folders of which all files may be loaded.
    pub(super) whole: BTreeSet<String>,
    /// Folders in which programs find libraries by their names.
    pub(super) libraries: BTreeSet<String>,
    /// The folders in which the commands run.
    pub(super) folders: BTreeSet<String>,
    /// The variables whose values are words of commands.
    used: BTreeSet<String>,
    assigned: Vec<(String, String)>,
}

impl Entered {
    /// What a file of shell commands names, whatever stands between the commands.
    pub(super) fn shell(text: &str) -> Entered {
        let mut all = Entered::default();
        all.folders.insert(String::new());
        match Script::of_file(text) {
            Some(script) => all.script(&script),
            None => text.lines().for_each(|line| match Script::of_file(line) {
                Some(script) => all.script(&script),
                None => all.words.extend(tokens(line)),
            }),
        }
        all.assignments();
        all
    }

    /// What a start file of the user's names, in the language of a shell or in another one.
    pub(super) fn start(text: &str) -> Entered {
        let mut all = Entered::shell(text);
        let is_whole = |it: &String| it.starts_with(['/', '~']) || it.starts_with("$HOME/");
        all.words.extend(tokens(text).into_iter().filter(is_whole));
        all
    }

    /// What a file of mise names.
    pub(super) fn mise(text: &str) -> Entered {
        let mut all = Entered::default();
        all.folders.insert(String::new());
        let text = ROOT.iter().fold(text.to_owned(), |text, it| text.replace(it, "."));
        let Ok(Value::Table(table)) = toml::from_str(&text) else {
            all.words.extend(text.lines().flat_map(tokens));
            return all;
        };
        for (name, value) in &table {
            all.executed(value);
            match name.as_str() {
                "env" => all.environment(value),
                // a task runs when the user calls it
                "tasks" | "vars" | "settings" | "alias" | "min_version" => (),
                _ => each(value, &mut |it| all.line(it)),
            }
        }
        all.assignments();
        all
    }

    fn environment(&mut self, value: &Value) {
        let tables = match value {
            Value::Array(all) => all.iter().filter_map(Value::as_table).collect(),
            it => Vec::from_iter(it.as_table()),
        };
        for (name, value) in tables.into_iter().flatten() {
            match (name.as_str(), value) {
                ("_" | "mise", Value::Table(all)) => {
                    for (name, value) in all {
                        self.directive(name, value);
                    }
                }
                (name, value) => each(value, &mut |it| {
                    self.assigned.push((name.to_owned(), it.to_owned()));
                }),
            }
        }
    }

    /// What an entry of `env` below `_` names: `_.file`, `_.source`, `_.path` and those of plugins.
    fn directive(&mut self, name: &str, value: &Value) {
        match name {
            "path" => each(value, &mut |it| self.path(it)),
            "python" => each(value, &mut |it| self.path(&format!("{it}/bin"))),
            _ => each(value, &mut |it| {
                self.sure.extend(tokens(it));
                self.sure.insert(it.to_owned());
            }),
        }
    }

    /// The commands in templates: `{{ exec(command='…') }}`. Mise renders them in each text of the file.
    fn executed(&mut self, value: &Value) {
        each(value, &mut |text| {
            for call in text.split("exec(").skip(1) {
                call.split(['\'', '"', '`']).for_each(|it| self.line(it));
            }
            if text.contains("read_file(") {
                self.words.extend(tokens(text));
            }
        });
    }

    /// A command line.
    fn line(&mut self, line: &str) {
        let (words, folders) = of(line, false);
        self.words.extend(words);
        self.folders.extend(folders);
    }

    fn script(&mut self, script: &Script) {
        self.folders.extend(script.folders.iter().cloned());
        for it in script.commands.iter().filter(|it| it.surety != Surety::Guess) {
            self.command(it);
        }
        let texts = script.programs.iter().filter(|it| !it.are_arguments);
        for it in texts.flat_map(|it| &it.words) {
            self.word(it);
        }
        self.sure.extend(script.inputs.iter().cloned());
        self.assigned.extend(script.assigned.iter().cloned());
    }

    fn command(&mut self, Simple { words, .. }: &Simple) {
        let (name, arguments) = match words.split_first() {
            Some((name, arguments)) => (name.shown(), arguments),
            None => return,
        };
        let texts = || arguments.iter().map(Word::shown);
        let whole = texts().fold(name.to_owned(), |all, it| format!("{all} {it}"));
        self.whole.extend(modules::named(&whole));
        self.sure.extend(recipes(name, &texts().collect::<Vec<_>>()));
        match name {
            "PATH_add" => texts().for_each(|it| self.path(it)),
            "path_add" if texts().next() == Some("PATH") => {
                texts().skip(1).for_each(|it| self.path(it));
            }
            "load_prefix" => texts().for_each(|it| self.path(&format!("{it}/bin"))),
            "layout" => {
                let of = |it: &&(&str, &str)| texts().next() == Some(it.0);
                self.programs.extend(LAYOUTS.iter().find(of).map(|it| it.1.to_owned()));
                for it in arguments {
                    self.word(it);
                }
            }
            "cd" | "pushd" => self.folders.extend(texts().flat_map(tokens)),
            it if OTHERS.contains(&it) => (),
            it if LOADERS.contains(&it) => {
                for word in arguments {
                    self.word(word);
                    self.sure.extend(tokens(word.shown()));
                    self.sure.extend(word.fixed().map(str::to_owned));
                }
            }
            _ => words.iter().for_each(|it| self.word(it)),
        }
    }

    /// A word that is run, or that a program gets.
    fn word(&mut self, word: &Word) {
        let text = word.shown();
        self.words.extend(tokens(text));
        self.words.insert(text.to_owned());
        self.used.extend(variables(text));
        for it in tokens(text).iter().filter(|it| it.contains(['*', '?', '['])) {
            let folder = it.rsplit_once('/').map_or("", |it| it.0);
            self.whole.insert(folder.split(['*', '?', '[']).next().unwrap_or_default().to_owned());
        }
    }

    /// A folder, or several with `:` between them, in which a shell finds programs.
    fn path(&mut self, text: &str) {
        for it in text.split(':').map(|it| it.trim_matches(['"', '\''])) {
            self.programs.extend(tokens(it));
            if !it.contains('$') {
                self.programs.insert(it.to_owned());
            }
        }
    }

    /// What the values of variables name.
    fn assignments(&mut self) {
        for (name, value) in std::mem::take(&mut self.assigned) {
            let fits = |it: &str| match it.strip_suffix('*') {
                Some(head) => name.starts_with(head),
                None => it == name,
            };
            for it in folders(&value) {
                match name.as_str() {
                    "LD_LIBRARY_PATH" => drop(self.libraries.insert(it)),
                    "ZDOTDIR" => self.sure.extend(ZSH.map(|file| format!("{it}/{file}"))),
                    name if WHOLE.contains(&name) => drop(self.whole.insert(it)),
                    _ => (),
                }
            }
            if let Some(required) = REQUIRING.iter().find(|it| it.0 == name) {
                let words = tokens(&value).into_iter().filter(|it| it.contains('/'));
                self.sure.extend(words.map(|it| format!("{it}{}", required.1)));
            }
            if name == "PATH" {
                self.path(&value);
            } else if name.is_empty()
                || self.used.contains(&name)
                || runs_value(&name)
                || VARIABLES.iter().any(|it| fits(it))
            {
                self.word(&Word::Open(value));
            } else {
                self.values.extend(tokens(&value));
            }
        }
    }
}

/// The folders that a value names, with `:` between them.
fn folders(value: &str) -> Vec<String> {
    let parts = value.split(':').map(|it| it.trim_matches(['"', '\'']));
    let all = parts.flat_map(|it| {
        let whole = (!it.contains('$')).then(|| it.to_owned());
        tokens(it).into_iter().filter(|it| !it.contains('$')).chain(whole)
    });
    all.filter(|it| !it.is_empty()).collect()
}

/// The files of recipes that a command reads by itself: `make -C e x`.
fn recipes(name: &str, arguments: &[&str]) -> Vec<String> {
    let Some((_, options, files)) = RECIPES.iter().find(|it| it.0 == name) else {
        return Vec::new();
    };
    let mut folders = vec![""];
    for (at, it) in arguments.iter().enumerate() {
        let value = options.iter().find_map(|option| it.strip_prefix(option));
        folders.extend(match value {
            Some("") => arguments.get(at + 1).copied(),
            it => it.map(|it| it.trim_start_matches('=')),
        });
    }
    let mut all = Vec::new();
    for folder in folders {
        all.extend(files.iter().map(|it| Path::new(folder).join(it).display().to_string()));
    }
    all
}

/// The names of the variables in a word.
fn variables(text: &str) -> impl Iterator<Item = String> + '_ {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let names = text.split('$').skip(1).map(move |it| {
        let it = it.trim_start_matches(['{', '#', '!']);
        it.split(|c| !is_name(c)).next().unwrap_or_default().to_owned()
    });
    names.filter(|it| !it.is_empty())
}

/// Calls a function with each text in a value.
fn each(value: &Value, act: &mut dyn FnMut(&str)) {
    match value {
        Value::String(it) => act(it),
        Value::Array(all) => all.iter().for_each(|it| each(it, act)),
        Value::Table(all) => all.values().for_each(|it| each(it, act)),
        _ => (),
    }
}
