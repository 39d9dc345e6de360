//! Which files of the working tree a git command would change. The answer may name more files than git changes in the
//! end, and is empty for commands that leave the working tree alone.

mod rest;
mod submodules;

pub(super) use submodules::moves_repository;

use super::glance::Glance;
use super::invocation::Invocation;
use super::options::spelt_out;
use super::patch::patched;
use std::path::Path;

/// Options of `diff` for a list of paths, under which git runs no program.
const DIFF: [&str; 8] = [
    "diff",
    "--name-only",
    "-z",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--ignore-submodules=all",
];
/// Options of `log` for the paths that commits change.
const LOG: [&str; 9] = [
    "log",
    "--format=",
    "--name-only",
    "-z",
    "--no-renames",
    "-m",
    "--no-ext-diff",
    "--no-textconv",
    "--no-show-signature",
];
/// The configuration of the repository, and the one of a working tree, in git's folder.
const CONFIG: &str = "config";
const OWN_CONFIG: &str = "config.worktree";

/// The folder with what git keeps of each worktree, in the folder of the repository.
const WORKTREES: &str = "worktrees";

/// Subcommands that may change the working tree.
const CHANGING: &str = " am apply bisect checkout checkout-index cherry-pick clean merge mv pull read-tree rebase reset \
    restore revert rm sparse-checkout stash submodule switch worktree ";

/// Whether a subcommand may change the working tree.
pub(super) fn is_looked_at(verb: &str) -> bool {
    CHANGING.contains(&format!(" {verb} "))
}

/// The paths that the command would change, whole or relative to the top of the working tree.
pub(super) fn touched(it: &Invocation, glance: &Glance) -> Vec<String> {
    let Some(spelt) = spelt_out(it) else { return Look { it, glance }.anything() };
    let (it, look) = (&spelt, Look { it: &spelt, glance });
    if it.has(&["--pathspec-from-file", "--patch", "--interactive"]) && it.verb != "rebase" {
        return look.anything();
    }
    let mut all = match it.verb.as_str() {
        "checkout" | "switch" => look.checkout(),
        "restore" => look.restore(),
        "reset" if it.has(&["--hard", "--merge", "--keep"]) => {
            look.diff(&[it.plain(&[]).first().unwrap_or(&"HEAD")])
        }
        "merge" => look.merge(&it.plain(&[])),
        "rebase" => look.rebase(),
        "cherry-pick" | "revert" => look.pick(),
        "stash" => look.stash(),
        "am" | "apply" => look.patch(),
        "clean" => look.clean(),
        "rm" if !it.has(&["--cached", "--dry-run"]) => {
            [look.tracked(&look.named()), look.modules(&look.named())].concat()
        }
        "mv" if !it.has(&["--dry-run"]) => look.moved(),
        "submodule" => look.submodule(),
        "sparse-checkout" => look.sparse(),
        "worktree" => look.worktree(),
        "bisect" => look.bisect(),
        "read-tree" if it.has(&["--u"]) => look.trees(),
        "checkout-index" => look.indexed(),
        _ => Vec::new(),
    };
    all.extend(look.recursing());
    all.sort();
    all.dedup();
    all
}

/// The paths that a merge or rebase of what was fetched for a `pull` would change.
pub(super) fn pulled(it: &Invocation, glance: &Glance) -> Vec<String> {
    let Some(spelt) = spelt_out(it) else { return Look { it, glance }.anything() };
    let look = Look { it: &spelt, glance };
    let fetched = glance.state("FETCH_HEAD").unwrap_or_default();
    let wanted = fetched.lines().filter(|it| !it.contains("\tnot-for-merge\t"));
    let heads: Vec<&str> = wanted.filter_map(|it| it.split('\t').next()).collect();
    let rebases = heads.iter().flat_map(|it| look.replayed(it, "HEAD"));
    let local = look.autostashed("rebase.autostash");
    let all = look.merge(&heads).into_iter().chain(rebases).chain(local);
    all.chain(look.recursing()).collect()
}

struct Look<'a> {
    it: &'a Invocation,
    glance: &'a Glance,
}

impl Look<'_> {
    fn diff(&self, what: &[&str]) -> Vec<String> {
        self.glance.paths(&[&DIFF[..], what, &["--"]].concat())
    }

    /// The differences of these paths.
    fn diff_of(&self, what: &[&str], paths: &[&str]) -> Vec<String> {
        self.glance.paths(&[&DIFF[..], what, &["--"], paths].concat())
    }

    /// The paths that these commits change.
    fn log(&self, what: &[&str]) -> Vec<String> {
        self.glance.paths(&[&LOG[..], what, &["--"]].concat())
    }

    /// All files that git knows, for a command whose changes cannot be told beforehand.
    fn anything(&self) -> Vec<String> {
        self.tracked(&[":/"])
    }

    /// The changes that git puts aside and back, if it does so by an option or by the configuration.
    fn autostashed(&self, setting: &str) -> Vec<String> {
        let is_set = || self.glance.line(&["config", "--type=bool", "--get", setting]);
        let is_on = self.it.has(&["--autostash"])
            || !self.it.has(&["--no-autostash"]) && is_set().is_some_and(|it| it == "true");
        if is_on { self.diff(&["HEAD"]) } else { Vec::new() }
    }

    fn tracked(&self, paths: &[&str]) -> Vec<String> {
        self.glance.paths(&[&["ls-files", "-z", "--full-name", "--"], paths].concat())
    }

    /// The whole paths of these files in git's folder, be it that of the repository or of a working tree.
    fn inside(&self, names: &[&str]) -> Vec<String> {
        let path = |it: &&str| {
            self.glance.line(&["rev-parse", "--path-format=absolute", "--git-path", it])
        };
        names.iter().filter_map(path).collect()
    }

    /// The words that name files, before or after `--`.
    fn named(&self) -> Vec<&str> {
        let after = self.it.paths().unwrap_or_default().iter().map(String::as_str);
        self.it.plain(&[]).into_iter().chain(after).collect()
    }

    fn checkout(&self) -> Vec<String> {
        let words = self.it.plain(&[]);
        let force = self.it.has(&["--force", "--discard-changes"]);
        if self.it.value(&["--orphan"]).is_some() && self.it.verb == "switch" {
            return self.tracked(&[":/"]);
        }
        let target = words.first().and_then(|it| self.branch(it));
        if self.it.verb == "checkout" {
            let after = self.it.paths().unwrap_or_default().iter().map(String::as_str);
            let before = words.iter().skip(usize::from(target.is_some())).copied();
            let paths: Vec<&str> = before.chain(after).collect();
            if !paths.is_empty() {
                let from: Vec<&str> = target.iter().map(String::as_str).collect();
                return self.diff_of(&from, &paths);
            }
        }
        match target {
            Some(it) if force => [self.diff(&["HEAD"]), self.diff(&[&it])].concat(),
            Some(it) => self.diff(&["HEAD", &it]),
            None if force => self.diff(&["HEAD"]),
            None => Vec::new(),
        }
    }

    /// The commit that a word means, also if it is the name of a remote's branch that has no local one yet.
    fn branch(&self, word: &str) -> Option<String> {
        let symmetric = word.split_once("...").map(|(one, other)| {
            let named = |it: &str| if it.is_empty() { "HEAD".to_owned() } else { it.to_owned() };
            self.glance.line(&["merge-base", &named(one), &named(other)])
        });
        symmetric.flatten().or_else(|| self.glance.commit(word)).or_else(|| {
            let refs = self.glance.lines(&["for-each-ref", "--format=%(refname)", "refs/remotes"]);
            let is_named = |it: &&String| {
                it.splitn(4, '/').nth(3) == Some(word)
                    || it.strip_prefix("refs/remotes/") == Some(word)
            };
            refs.iter().find(is_named).and_then(|it| self.glance.commit(it))
        })
    }

    fn restore(&self) -> Vec<String> {
        let staged = self.it.has(&["--staged"]);
        if staged && !self.it.has(&["--worktree"]) {
            return Vec::new();
        }
        let source = self.it.value(&["--source"]).or(staged.then_some("HEAD"));
        let from: Vec<&str> = source.into_iter().collect();
        let after = self.it.paths().unwrap_or_default().iter().map(String::as_str);
        let paths: Vec<&str> = self.it.plain(&[]).into_iter().chain(after).collect();
        self.diff_of(&from, &paths)
    }

    fn merge(&self, heads: &[&str]) -> Vec<String> {
        if self.it.has(&["--abort"]) {
            return self.diff(&["HEAD"]);
        }
        if self.it.has(&["--continue", "--quit"]) {
            return Vec::new();
        }
        let upstream = ["@{upstream}"];
        let heads = if heads.is_empty() { &upstream } else { heads };
        let merged = heads.iter().flat_map(|it| self.diff(&[&format!("HEAD...{it}")]));
        merged.chain(self.autostashed("merge.autostash")).collect()
    }

    fn rebase(&self) -> Vec<String> {
        if self.it.has(&["--quit", "--edit-todo", "--show-current-patch"]) {
            return Vec::new();
        }
        if self.it.has(&["--abort", "--continue", "--skip"]) {
            return self.rest_of_rebase();
        }
        let words = self.it.plain(&[]);
        let is_root = self.it.has(&["--root"]);
        let upstream = if is_root { None } else { Some(*words.first().unwrap_or(&"@{upstream}")) };
        let branch = words.get(usize::from(!is_root)).copied();
        let onto = self.it.value(&["--onto"]).or(upstream);
        let head = branch.unwrap_or("HEAD");
        let begun = branch.map(|it| self.diff(&["HEAD", it])).unwrap_or_default();
        let local = self.autostashed("rebase.autostash");
        let onto = onto.and_then(|it| self.branch(it));
        let replayed = match onto {
            Some(onto) => {
                let base = upstream.and_then(|it| self.branch(it)).unwrap_or_else(|| onto.clone());
                let between = self.log(&[&format!("{base}..{head}")]);
                [self.diff(&[&onto, head]), between].concat()
            }
            None => self.log(&[head]),
        };
        begun.into_iter().chain(local).chain(replayed).collect()
    }

    /// The paths that change while the commits of `head` are replayed onto another commit.
    fn replayed(&self, onto: &str, head: &str) -> Vec<String> {
        [self.diff(&[onto, head]), self.log(&[&format!("{onto}..{head}")])].concat()
    }

    fn pick(&self) -> Vec<String> {
        if self.it.has(&["--quit"]) {
            return Vec::new();
        }
        if self.it.has(&["--abort"]) {
            let head = self.glance.state("sequencer/head").unwrap_or_else(|| "HEAD".to_owned());
            return self.diff(&[head.trim()]);
        }
        if self.it.has(&["--continue", "--skip"]) {
            let todo = self.glance.state("sequencer/todo").unwrap_or_default();
            let commits = todo.lines().filter_map(|it| it.split_whitespace().nth(1));
            // the first is the one that stopped
            let rest = commits.skip(1).flat_map(|it| self.changed_by(it)).collect();
            let dropped = if self.it.has(&["--skip"]) { self.diff(&["HEAD"]) } else { Vec::new() };
            return [dropped, rest].concat();
        }
        let words = self.it.plain(&[]);
        self.picked(&words)
    }

    fn picked(&self, commits: &[&str]) -> Vec<String> {
        let (ranges, single): (Vec<&str>, Vec<&str>) =
            commits.iter().partition(|it| it.contains("..") || it.starts_with('^'));
        let ranged = if ranges.is_empty() { Vec::new() } else { self.log(commits) };
        let single = if single.is_empty() {
            Vec::new()
        } else {
            self.log(&[&["--no-walk"], single.as_slice()].concat())
        };
        [ranged, single].concat()
    }

    fn stash(&self) -> Vec<String> {
        let words = self.it.plain(&[]);
        let which = |at: usize| {
            let named = words.get(at).copied().unwrap_or("stash@{0}");
            let is_number = named.bytes().all(|it| it.is_ascii_digit());
            if is_number { format!("stash@{{{named}}}") } else { named.to_owned() }
        };
        let applied = |stash: &str| {
            let base = format!("{stash}^1");
            let new = format!("{stash}^3");
            let untracked = self.glance.paths(&["ls-tree", "-r", "-z", "--name-only", &new]);
            [self.diff(&[&base, stash]), untracked].concat()
        };
        match words.first().copied() {
            Some("pop" | "apply") => applied(&which(1)),
            Some("branch") => {
                let stash = which(2);
                let base = format!("{stash}^1");
                [self.diff(&["HEAD", &base]), applied(&stash)].concat()
            }
            Some("list" | "show" | "drop" | "clear" | "create" | "store" | "export" | "import") => {
                Vec::new()
            }
            _ => self.stashed(),
        }
    }

    /// The paths that a new stash would put back.
    fn stashed(&self) -> Vec<String> {
        let paths: Vec<&str> =
            self.it.paths().unwrap_or_default().iter().map(String::as_str).collect();
        let changed = self.diff_of(&["HEAD"], &paths);
        let others: &[&str] = if self.it.has(&["--all"]) {
            &["ls-files", "--others", "-z", "--full-name", "--", ":/"]
        } else if self.it.has(&["--include-untracked"]) {
            &["ls-files", "--others", "--exclude-standard", "-z", "--full-name", "--", ":/"]
        } else {
            return changed;
        };
        [changed, self.glance.paths(others)].concat()
    }

    fn patch(&self) -> Vec<String> {
        let shows = ["--check", "--stat", "--numstat", "--summary", "--cached"];
        if self.it.has(&["--quit"]) || self.it.has(&shows) && !self.it.has(&["--apply"]) {
            return Vec::new();
        }
        if self.it.has(&["--abort", "--continue", "--skip", "--resolved"]) {
            return self.rest_of_rebase();
        }
        patched(self.it, self.glance).unwrap_or_else(|| self.anything())
    }

    fn clean(&self) -> Vec<String> {
        if self.it.has(&["--dry-run"]) {
            return Vec::new();
        }
        let which: &[&str] = if self.it.has(&["--X"]) {
            &["--ignored", "--exclude-standard"]
        } else if self.it.has(&["--x"]) {
            &[]
        } else {
            &["--exclude-standard"]
        };
        let paths = self.it.plain(&[]);
        let head: &[&str] = &["ls-files", "--others", "-z", "--full-name"];
        self.glance.paths(&[head, which, &["--"], paths.as_slice()].concat())
    }

    fn moved(&self) -> Vec<String> {
        let named = self.named();
        let Some((to, from)) = named.split_last() else { return Vec::new() };
        let moved = self.tracked(from);
        let prefix = self.glance.line(&["rev-parse", "--show-prefix"]).unwrap_or_default();
        let to = format!("{prefix}{}", to.trim_end_matches('/'));
        let name = |it: &&str| it.trim_end_matches('/').rsplit('/').next().map(str::to_owned);
        let below = from.iter().filter_map(name).map(|it| format!("{to}/{it}"));
        let below: Vec<String> = below.collect();
        let modules = self.modules(from);
        moved.into_iter().chain(below).chain([to]).chain(modules).collect()
    }

    /// The files of worktrees that go or move.
    fn worktree(&self) -> Vec<String> {
        let words = self.it.plain(&[]);
        if let [_, path, ..] = words[..]
            && words[0] == "add"
        {
            return self.new_worktree(path);
        }
        if !matches!(words.first(), Some(&("remove" | "move" | "prune" | "repair"))) {
            return Vec::new();
        }
        let name = words.get(1).and_then(|it| it.trim_end_matches('/').rsplit('/').next());
        let common = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let Some(common) = self.glance.line(&common) else { return Vec::new() };
        let entries = std::fs::read_dir(Path::new(&common).join(WORKTREES));
        let entries = entries.into_iter().flatten().flatten();
        let is_meant = |it: &std::fs::DirEntry| {
            let leads = std::fs::read_to_string(it.path().join("gitdir")).unwrap_or_default();
            let leads = leads.trim_end().trim_end_matches("/.git").to_owned();
            name.is_none_or(|name| leads.rsplit('/').next() == Some(name))
        };
        let files = |it: std::fs::DirEntry| std::fs::read_dir(it.path()).into_iter().flatten();
        let files = entries.filter(is_meant).flat_map(files).flatten();
        files.map(|it| it.path().to_string_lossy().into_owned()).collect()
    }

    /// The settings of a new worktree: git copies those of the working tree, if it has its own.
    fn new_worktree(&self, path: &str) -> Vec<String> {
        let own = self.inside(&[OWN_CONFIG]).pop();
        if !own.is_some_and(|it| Path::new(&it).is_file()) {
            return Vec::new();
        }
        let common = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let Some(common) = self.glance.line(&common) else { return Vec::new() };
        let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let all = Path::new(&common).join(WORKTREES);
        let numbers = (1..100).map(|it| format!("{name}{it}"));
        let names = std::iter::once(name.to_owned()).chain(numbers);
        let folder = names.map(|it| all.join(it)).find(|it| it.symlink_metadata().is_err());
        folder.map(|it| it.join(OWN_CONFIG).to_string_lossy().into_owned()).into_iter().collect()
    }

    /// The files that differ from the trees that are read. Git itself does this when it gives up a merge.
    fn trees(&self) -> Vec<String> {
        let trees = self.it.plain(&[]);
        trees.iter().flat_map(|it| self.diff(&[it])).collect()
    }

    /// The files that are written as the index has them.
    fn indexed(&self) -> Vec<String> {
        match self.it.value(&["--prefix"]) {
            Some(prefix) => {
                self.tracked(&[":/"]).iter().map(|it| format!("{prefix}{it}")).collect()
            }
            None => self.diff(&[]),
        }
    }

    fn sparse(&self) -> Vec<String> {
        let is_below = |it: &String| it.contains('/');
        let settings = self.inside(&[CONFIG, OWN_CONFIG]);
        let files: Vec<String> = match self.it.plain(&[]).first().copied() {
            // with folders, the files at the top always stay
            Some("set" | "add" | "reapply" | "init") if !self.it.has(&["--no-cone"]) => {
                self.tracked(&[":/"]).into_iter().filter(is_below).collect()
            }
            Some("set" | "add" | "reapply" | "init") => self.tracked(&[":/"]),
            Some("disable") => {
                let all = self.glance.paths(&["ls-files", "-t", "-z", "--full-name", ":/"]);
                all.iter().filter_map(|it| it.strip_prefix("S ")).map(str::to_owned).collect()
            }
            _ => return Vec::new(),
        };
        [settings, files].concat()
    }

    /// The paths that differ between the commits that a search may visit.
    fn bisect(&self) -> Vec<String> {
        let words = self.it.plain(&[]);
        let refs = |which: &str| {
            let pattern = format!("refs/bisect/{which}");
            self.glance.lines(&["for-each-ref", "--format=%(refname)", &pattern])
        };
        let owned = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let given = words.get(1..).map(owned).unwrap_or_default();
        let (mut bad, mut good) = ([refs("bad"), refs("new")].concat(), refs("good-*"));
        match words.first().copied() {
            Some("reset") => {
                let start = self.glance.state("BISECT_START").unwrap_or_default();
                let to = given.first().map_or(start.trim(), String::as_str);
                return if to.is_empty() { Vec::new() } else { self.diff(&["HEAD", to]) };
            }
            Some("start") if given.len() > 1 => {
                (bad, good) = (vec![given[0].clone()], given[1..].to_vec());
            }
            Some("good" | "old") => good.extend(given),
            Some("bad" | "new") => bad.extend(given),
            Some("skip") => (),
            _ => return Vec::new(),
        }
        if good.is_empty() {
            return Vec::new();
        }
        let bad = bad.iter().map(String::as_str).chain(["HEAD", "--not"]);
        self.log(&bad.chain(good.iter().map(String::as_str)).collect::<Vec<_>>())
    }
}
