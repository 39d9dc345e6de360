//! Looks into a repository without changing it and without running what it names: no hook, no filter, no monitor, no
//! driver. Each look is one short git process.

use super::{SETTINGS, bounded};
use crate::leash;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A setting for settings that name filters.
const FILTERS: &str = r"^filter\.";

pub(super) struct Glance {
    /// The file of git itself.
    git: PathBuf,
    /// The options before the subcommand.
    globals: Vec<String>,
    /// The filters that the configuration names. They are switched off.
    filters: Vec<Vec<u8>>,
    /// The top of the working tree.
    pub(super) top: PathBuf,
}

impl Glance {
    /// `None` if there is no repository with a working tree.
    pub(super) fn new(git: &Path, globals: &[String]) -> Option<Glance> {
        let mut glance = Glance {
            git: git.to_owned(),
            globals: globals.to_vec(),
            filters: Vec::new(),
            top: PathBuf::new(),
        };
        let top = glance.line(&["rev-parse", "--show-toplevel"])?;
        glance.top = PathBuf::from(top);
        let named = ["config", "--includes", "--name-only", "-z", "--get-regexp", FILTERS];
        let named = glance.run(&named).unwrap_or_default();
        let named = named.split(|it| *it == 0).filter(|it| !it.is_empty());
        glance.filters = named.map(<[u8]>::to_vec).collect();
        Some(glance)
    }

    /// The whole output of git; `None` if git failed.
    pub(super) fn run(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        self.output(arguments, Stdio::null()).ok().flatten()
    }

    /// The whole output of git, which gets this input; `None` if git failed.
    pub(super) fn fed(&self, arguments: &[&str], input: File) -> Option<Vec<u8>> {
        self.output(arguments, input.into()).ok().flatten()
    }

    fn output(&self, arguments: &[&str], input: Stdio) -> io::Result<Option<Vec<u8>>> {
        let mut command = leash::command(&self.git);
        command.args(&self.globals);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(arguments).env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_NO_LAZY_FETCH", "1").env("LC_ALL", "C").stdin(input);
        command.env("GIT_CONFIG_COUNT", self.filters.len().to_string());
        for (at, name) in self.filters.iter().enumerate() {
            let value = if name.ends_with(b".required") { "false" } else { "" };
            command.env(format!("GIT_CONFIG_KEY_{at}"), OsStr::from_bytes(name));
            command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        let output = bounded::output(&mut command)?;
        Ok(output.status.success().then_some(output.stdout))
    }

    /// The first line of git's output; `None` if git failed or printed nothing.
    pub(super) fn line(&self, arguments: &[&str]) -> Option<String> {
        let output = self.run(arguments)?;
        let text = String::from_utf8(output).ok()?;
        text.lines().next().map(str::to_owned).filter(|it| !it.is_empty())
    }

    /// The lines of git's output.
    pub(super) fn lines(&self, arguments: &[&str]) -> Vec<String> {
        let output = self.run(arguments).unwrap_or_default();
        String::from_utf8_lossy(&output).lines().map(str::to_owned).collect()
    }

    /// The paths that git prints, each with a NUL at its end.
    pub(super) fn paths(&self, arguments: &[&str]) -> Vec<String> {
        let output = self.run(arguments).unwrap_or_default();
        let all = output.split(|it| *it == 0).filter(|it| !it.is_empty());
        all.map(|it| String::from_utf8_lossy(it).trim_start_matches('\n').to_owned()).collect()
    }

    /// The commit that a word means.
    pub(super) fn commit(&self, word: &str) -> Option<String> {
        let word = if word == "-" { "@{-1}" } else { word };
        self.line(&[
            "rev-parse",
            "-q",
            "--verify",
            "--end-of-options",
            &format!("{word}^{{commit}}"),
        ])
    }

    /// The text of a file in git's folder, such as the state of a rebase.
    pub(super) fn state(&self, file: &str) -> Option<String> {
        let path = self.line(&["rev-parse", "--path-format=absolute", "--git-path", file])?;
        String::from_utf8(crate::regular::read(Path::new(&path)).ok()?).ok()
    }
}
