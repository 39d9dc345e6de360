//! Signatures of commits and tags. The sandbox hides the user's keys and the agents that hold them, so git would fail where
//! it signs, and leave a merge or a rebase half-done. Whether it can sign is tried before it starts.

use super::bounded;
use super::glance::Glance;
use super::invocation::Invocation;
use super::options::spelt_out;
use std::path::Path;
use std::process::{Command, Stdio};

/// Subcommands that may sign what they make.
const SIGNING: &str = " am cherry-pick commit merge pull rebase revert tag ";
/// Options that end an operation without a new commit, or only show its state.
const ENDING: [&str; 4] = ["--abort", "--quit", "--edit-todo", "--show-current-patch"];
/// Options under which `commit` only shows what it would do.
const SHOWING: [&str; 4] = ["--dry-run", "--short", "--porcelain", "--long"];
/// Options under which `tag` makes no tag.
const LISTING: [&str; 10] = [
    "--list",
    "--delete",
    "--verify",
    "--n",
    "--contains",
    "--no-contains",
    "--merged",
    "--no-merged",
    "--points-at",
    "--column",
];
/// Options with which `rebase` makes all commits anew.
const ANEW: [&str; 7] =
    ["--onto", "--force-rebase", "--no-ff", "--interactive", "--root", "--exec", "--rebase-merges"];

/// What asks for a signature.
enum Cause {
    Setting(&'static str),
    Option,
}

/// A signature that git would make.
struct Wish {
    cause: Cause,
    /// The key, if it is another one than that of the settings.
    key: Option<String>,
}

/// Whether a subcommand may sign what it makes.
pub(super) fn is_looked_at(verb: &str) -> bool {
    SIGNING.contains(&format!(" {verb} "))
}

/// Why the command is not started: it would sign, and cannot. `None` if it makes no signature, or if git can sign here.
pub(super) fn refusal(invocation: &Invocation, git: &Path) -> Option<String> {
    if !is_looked_at(&invocation.verb) {
        return None;
    }
    let spelt = spelt_out(invocation).unwrap_or_else(|| invocation.clone());
    let look = Look { it: &spelt, git };
    let wish = look.wish()?;
    if !look.makes_commits() || look.signs(wish.key.as_deref()) {
        return None;
    }
    let (why, without) = match wish.cause {
        Cause::Setting(it) => {
            (format!("it is set by {it}"), format!("put -c {it}=false behind git"))
        }
        Cause::Option => {
            ("it is asked for by an option".to_owned(), "leave that option out".to_owned())
        }
    };
    Some(format!(
        "{} was not started. It would make a signature ({why}), and in the sandbox git reaches no key of the user's, so it \
         would stop in the middle. Call shell again with outside_sandbox and say that git signs: then the user is asked. \
         Only if the user wants no signature, {without}",
        invocation.named()
    ))
}

struct Look<'a> {
    /// With the long names of all options.
    it: &'a Invocation,
    git: &'a Path,
}

impl Look<'_> {
    /// A git with the options before the subcommand, and with the settings of the environment.
    fn git(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.git);
        command.args(&self.it.globals).args(arguments).stdin(Stdio::null());
        command
    }

    /// The first line that git prints; `None` if it fails.
    fn line(&self, arguments: &[&str]) -> Option<String> {
        let output = bounded::output(&mut self.git(arguments)).ok();
        let output = output.filter(|it| it.status.success())?;
        let text = String::from_utf8(output.stdout).ok()?;
        Some(text.lines().next().unwrap_or_default().to_owned())
    }

    fn is_set(&self, setting: &str) -> bool {
        self.line(&["config", "--type=bool", "--get", setting]).is_some_and(|it| it == "true")
    }

    fn is_ancestor(&self, one: &str, other: &str) -> bool {
        self.line(&["merge-base", "--is-ancestor", one, other]).is_some()
    }

    /// What asks for a signature, if something does.
    fn wish(&self) -> Option<Wish> {
        let by = |setting: &'static str| {
            self.is_set(setting).then_some(Wish { cause: Cause::Setting(setting), key: None })
        };
        if self.it.verb == "tag" {
            return self.wish_of_tag(by);
        }
        if self.it.has(&["--no-gpg-sign"]) {
            return None;
        }
        if self.it.has(&["--gpg-sign"]) {
            let key = self.it.words.iter().find_map(|it| it.strip_prefix("--gpg-sign="));
            return Some(Wish { cause: Cause::Option, key: key.map(str::to_owned) });
        }
        by("commit.gpgSign").or_else(|| {
            // the options with which a rebase or a cherry-pick began, which waits
            let goes_on = self.it.has(&["--continue", "--skip"]);
            let began = || {
                let glance = Glance::new(self.git, &self.it.globals)?;
                let rebase = glance.state("rebase-merge/gpg_sign_opt");
                let picks = glance.state("sequencer/opts").filter(|it| it.contains("gpg-sign"));
                rebase.or(picks)
            };
            let is_signed = goes_on && began().is_some();
            is_signed.then_some(Wish { cause: Cause::Option, key: None })
        })
    }

    fn wish_of_tag(&self, by: impl Fn(&'static str) -> Option<Wish>) -> Option<Wish> {
        if self.it.has(&LISTING) || self.it.plain(&[]).is_empty() {
            return None;
        }
        let key = self.it.value(&["--local-user"]).map(str::to_owned);
        if key.is_some() || self.it.has(&["--sign"]) {
            return Some(Wish { cause: Cause::Option, key });
        }
        if self.it.has(&["--no-sign"]) {
            return None;
        }
        let has_text = self.it.has(&["--annotate", "--message", "--file"]);
        by("tag.gpgSign").or_else(|| by("tag.forceSignAnnotated").filter(|_| has_text))
    }

    /// Whether the command makes commits, or a tag, as far as can be told before it runs.
    fn makes_commits(&self) -> bool {
        if self.it.has(&ENDING) {
            return false;
        }
        if self.it.has(&["--continue", "--skip"]) {
            return true;
        }
        let words = self.it.plain(&[]);
        match self.it.verb.as_str() {
            "commit" => !self.it.has(&SHOWING),
            "merge" => self.merges(&words),
            "pull" => self.pulls(),
            "rebase" => self.rebases(&words),
            "cherry-pick" | "revert" => !self.it.has(&["--no-commit"]),
            _ => true,
        }
    }

    /// Whether a merge of these commits is more than a step forward.
    fn merges(&self, words: &[&str]) -> bool {
        if self.it.has(&["--squash", "--no-commit", "--ff-only"]) {
            return false;
        }
        let words = if words.is_empty() { &["@{upstream}"] } else { words };
        let new: Vec<&&str> = words.iter().filter(|it| !self.is_ancestor(it, "HEAD")).collect();
        let is_ahead = |it: &str| self.is_ancestor("HEAD", it);
        let is_off = |it: &str| {
            self.line(&["config", "--type=bool", "--get", it]).is_some_and(|it| it == "false")
        };
        let options = ["config", "--get-regexp", r"^branch\..*\.mergeoptions$"];
        let is_step = || {
            let is_set =
                || is_off("merge.ff") || is_off("pull.ff") || self.line(&options).is_some();
            !self.it.has(&["--no-ff"]) && (self.it.has(&["--ff"]) || !is_set())
        };
        match new.as_slice() {
            [] => false,
            [only] if is_ahead(only) => !is_step(),
            _ => true,
        }
    }

    /// The same for what was fetched for a `pull`. It merges or rebases.
    fn pulls(&self) -> bool {
        let fetched = Glance::new(self.git, &self.it.globals);
        let fetched = fetched.and_then(|it| it.state("FETCH_HEAD")).unwrap_or_default();
        let wanted = fetched.lines().filter(|it| !it.contains("\tnot-for-merge\t"));
        let heads: Vec<&str> = wanted.filter_map(|it| it.split('\t').next()).collect();
        !heads.is_empty() && self.merges(&heads)
    }

    /// Whether a rebase makes commits anew.
    fn rebases(&self, words: &[&str]) -> bool {
        if self.it.has(&ANEW) {
            return true;
        }
        let upstream = words.first().unwrap_or(&"@{upstream}");
        let branch = words.get(1).unwrap_or(&"HEAD");
        !self.is_ancestor(branch, upstream) && !self.is_ancestor(upstream, branch)
    }

    /// Whether git can sign here, tried with a commit that nothing keeps. True if the commit fails for another reason than
    /// the signature, which git itself tells better.
    fn signs(&self, key: Option<&str>) -> bool {
        let tried = || {
            let folder = tempfile::tempdir().ok()?;
            let tree = self.line(&["hash-object", "-t", "tree", "/dev/null"])?;
            let commit = |option: &str| {
                let mut words = vec!["commit-tree", &tree, "-m", "signature"];
                words.extend(Some(option).filter(|it| !it.is_empty()));
                let mut command = self.git(&words);
                command.env("GIT_OBJECT_DIRECTORY", folder.path()).stderr(Stdio::null());
                bounded::output(&mut command).is_ok_and(|it| it.status.success())
            };
            let signed = format!("-S{}", key.unwrap_or_default());
            Some(commit(&signed) || !commit(""))
        };
        tried().unwrap_or(true)
    }
}
