//! The paths of a project that commands in the sandbox do not write, because programs outside of the sandbox run them
//! without being told to, or because they instruct agents.

use super::pattern::Pattern;
use super::table::{Kind, ROWS};
use super::{folded, split};

/// Patterns of further locked paths, in a repository's own folder: by these files git runs programs. Each begins with
/// `.git`.
const GIT: &[&str] = &[
    ".git/branches",
    ".git/commondir",
    ".git/config",
    ".git/config.worktree",
    ".git/hooks",
    ".git/info/attributes",
    ".git/info/grafts",
    ".git/modules",
    ".git/remotes",
    ".git/worktrees/*/branches",
    ".git/worktrees/*/commondir",
    // without the file above, git takes the folder of a worktree for a whole repository
    ".git/worktrees/*/config",
    ".git/worktrees/*/config.worktree",
    ".git/worktrees/*/hooks",
    ".git/worktrees/*/modules",
    ".git/worktrees/*/remotes",
];
const GIT_WHY: &str = "can make git run programs";
/// The reason for a path that a configuration names.
const NAMED_WHY: &str = "git's configuration, .envrc or mise.toml names";
/// By a file of this name at the root, git can take the root for a repository without a folder `.git`, whose
/// configuration is `config`. Only these letters count.
const BARE: &str = "HEAD";
const BARE_WHY: &str = "lets git take the folder for a repository";

/// Whether a path below the project's root is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// No command in the sandbox writes the path. The reason follows the path's name in a sentence.
    Whole(&'static str),
    /// The path itself is not locked, but a locked path may lie below it.
    Above,
}

/// The patterns of locked paths.
pub struct Locks(Vec<(Vec<Pattern>, &'static str)>);

/// The patterns of all locked paths below the root, with the reasons.
fn patterns() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = ROWS.iter().filter(|it| it.kind == Kind::Lock);
    let all = rows.flat_map(|row| row.paths.iter().map(|it| (*it, row.why)));
    let all = all.chain(GIT.iter().map(|it| (*it, GIT_WHY)));
    all.filter(|it| !it.0.starts_with(['~', '/']))
}

/// The locked paths that have no `*`, for a sandbox that can lock a path which does not exist yet.
pub fn locked() -> impl Iterator<Item = &'static str> {
    patterns().map(|it| it.0).filter(|it| !it.contains('*'))
}

/// The paths below the home folder that run, or name programs, when a shell, an editor or a tool of the user's starts.
pub fn started() -> impl Iterator<Item = &'static str> {
    const STARTS: [&str; 5] = [
        "runs when a shell starts",
        "runs when an editor starts",
        "runs when a command-line tool starts",
        "runs when you log in, or at set times",
        "lets others in, or names programs that are run",
    ];
    let rows = ROWS.iter().filter(|it| STARTS.contains(&it.why));
    let all = rows.flat_map(|it| it.paths).map(|it| it.trim_start_matches("~/"));
    all.filter(|it| it.starts_with('.') && !it.contains('*'))
}

/// The ending that the name of a file gets when the file is taken back. A number or a word may follow.
pub const TAKEN_BACK: &str = ".refused";

/// Whether a file has the name of one that was taken back. No program looks for such a name, whatever `*` stands for.
fn is_taken_back(name: &str) -> bool {
    let rest = name.rsplit_once(TAKEN_BACK).map(|it| it.1);
    rest.is_some_and(|it| it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-'))
}

/// The parts of a pattern.
fn parts(pattern: &str) -> Vec<Pattern> {
    split(pattern).iter().map(|it| Pattern::new(it)).collect()
}

impl Locks {
    pub fn new() -> Locks {
        Locks(patterns().map(|(pattern, why)| (parts(pattern), why)).collect())
    }

    /// The locked paths of a repository alone.
    pub fn of_repository() -> Locks {
        Locks(GIT.iter().map(|it| (parts(it), GIT_WHY)).collect())
    }

    /// The same locks, and these paths below the root, given by the names in them.
    #[must_use]
    pub fn naming(mut self, paths: &[Vec<String>]) -> Locks {
        let parts = |it: &Vec<String>| it.iter().map(|it| Pattern::Name(folded(it))).collect();
        self.0.extend(paths.iter().map(|it| (parts(it), NAMED_WHY)));
        self
    }

    /// Whether a path is locked. `parts` are the names in the path below the root. `None` if no pattern fits the path
    /// or a path below it. Paths below a locked folder give `None` too, so a caller has to stop at the folder.
    pub fn find(&self, parts: &[String]) -> Option<Lock> {
        if matches!(parts, [only] if only == BARE) {
            return Some(Lock::Whole(BARE_WHY));
        }
        if parts.last().is_some_and(|it| is_taken_back(it)) {
            return None;
        }
        let parts: Vec<String> = parts.iter().map(|it| folded(it)).collect();
        let begun = self.0.iter().filter(|(pattern, _)| {
            pattern.len() >= parts.len()
                && pattern.iter().zip(&parts).all(|(it, part)| it.fits(part))
        });
        let locks =
            begun.map(
                |(pattern, why)| {
                    if pattern.len() == parts.len() { Lock::Whole(why) } else { Lock::Above }
                },
            );
        locks.min_by_key(|it| *it == Lock::Above)
    }

    /// The locked path that a path is, or lies below. `None` if the path is not locked.
    pub fn unit(&self, path: &str) -> Option<String> {
        let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        let is_whole = |n: &usize| matches!(self.find(&parts[..*n]), Some(Lock::Whole(_)));
        (1..=parts.len()).find(is_whole).map(|n| parts[..n].join("/"))
    }
}

impl Default for Locks {
    fn default() -> Locks {
        Locks::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCKED: &[&str] = &[
        ".envrc",
        ".ENVRC",
        ".exrc",
        ".nvim.lua",
        ".vscode",
        ".idea",
        ".git/config",
        ".git/hooks",
        ".git/commondir",
        ".git/branches",
        ".git/remotes",
        "HEAD",
        ".git/worktrees/a/commondir",
        ".git/worktrees/a/config",
        ".git/worktrees/a/modules",
        ".husky",
        ".githooks",
        ".cargo/config.toml",
        ".pre-commit-config.yaml",
        "lefthook.yml",
        ".gitattributes",
        ".github/workflows",
        ".gitlab-ci.yml",
        "AGENTS.md",
        ".claude",
        ".caliban",
        ".mcp.json",
        ".devcontainer",
        "mise.toml",
        ".bashrc",
        ".tasks",
        ".prototools",
        ".flox",
        ".jj/repo/config.toml",
        ".git-hooks",
        ".roomodes",
        "GROK.md",
        "devfile.yaml",
        "fly.toml",
        ".lnvim.lua",
        ".github/copilot-instructions.md",
        ".agent",
        ".crush.json",
        ".config/lefthook.yml",
        "lefthook.toml",
        "lefthook-local.json",
        ".envrc.local",
        ".env.zsh",
        "Session.vim",
        "mise/config.local.toml",
        "bin/hermit",
        ".jj/repo/config.toml",
        ".shadowenv.d",
        "flake.lock",
        ".lsp",
        "hie.yaml",
        ".RData",
        "rust-toolchain.toml",
        ".hg/hgrc-not-shared",
        ".hg/sharedpath",
        ".jj/repo/config-id",
        ".lfsconfig",
        "mise.lock",
    ];

    #[test]
    fn the_start_files_of_shells_editors_and_tools_are_known() {
        let all: Vec<_> = started().collect();
        for it in [".bashrc", ".config/fish", ".config/nvim", ".ssh", ".config/systemd", ".psqlrc"]
        {
            assert!(all.contains(&it), "{it}");
        }
    }

    #[test]
    fn files_that_other_programs_run_are_locked_and_what_builds_write_is_not() {
        let locks = Locks::new();
        let find = |path: &str| {
            let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
            locks.find(&parts)
        };
        for path in LOCKED {
            assert!(matches!(find(path), Some(Lock::Whole(_))), "{path}: {:?}", find(path));
        }
        assert!(locked().all(|it| matches!(find(it), Some(Lock::Whole(_)))));
        assert!(locked().any(|it| it == "AGENTS.md"));
        for path in [
            ".git",
            ".github",
            ".cargo",
            ".git/worktrees",
            ".git/worktrees/a",
            ".config",
            ".jj",
            ".jj/repo",
            ".jj/repo/store",
        ] {
            assert_eq!(find(path), Some(Lock::Above), "{path}");
        }
        for path in [
            "src",
            "head",
            "target",
            "node_modules",
            "Makefile",
            "build.rs",
            "package.json",
            ".env",
            ".gitignore",
            ".git/index",
            ".git/HEAD",
            ".jj/repo/op_store",
            ".python-version",
            ".cargo/registry",
            ".editorconfig",
            "sub/.envrc",
            ".envrc.refused",
            ".aider.refused2",
            ".autoenv.refused-x1",
        ] {
            assert_eq!(find(path), None, "{path}");
        }
    }
}
