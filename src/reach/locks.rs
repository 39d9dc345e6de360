//! The paths of a project that commands in the sandbox do not write, because programs outside of the sandbox run them
//! without being told to, or because they instruct agents.

use super::folded;
use super::index::Index;
use super::pattern::Pattern;
use super::table::{Kind, ROWS};
use serde::{Deserialize, Serialize};

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
/// Settings of git's companions in the folder of a repository. By these files the companions run programs.
const COMPANIONS: &[&str] = &[".git/glab-cli", ".git/lazygit.yml", ".git/sl/config"];
const COMPANIONS_WHY: &str = "can make a companion of git run programs";
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

/// A link above locked paths, and where it leads, each given by the names in the path below the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leading {
    pub link: Vec<String>,
    pub to: Vec<String>,
}

/// The patterns of locked paths.
pub struct Locks {
    all: Vec<Locked>,
    index: Index,
}

#[derive(Clone)]
struct Locked {
    pattern: Vec<Pattern>,
    /// The names as they are written in the table.
    names: Vec<String>,
    why: &'static str,
}

/// The patterns of all locked paths below the root, with the reasons.
fn patterns() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = ROWS.iter().filter(|it| it.kind == Kind::Lock);
    let all = rows.flat_map(|row| row.paths.iter().map(|it| (*it, row.why)));
    let all = all.chain(of_repository());
    all.filter(|it| !it.0.starts_with(['~', '/']))
}

/// The patterns of locked paths in a repository's own folder, with the reasons.
fn of_repository() -> impl Iterator<Item = (&'static str, &'static str)> {
    let companions = COMPANIONS.iter().map(|it| (*it, COMPANIONS_WHY));
    GIT.iter().map(|it| (*it, GIT_WHY)).chain(companions)
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

/// A pattern that stands for these names alone.
fn exactly(names: &[String]) -> Vec<Pattern> {
    names.iter().map(|it| Pattern::Name(folded(it))).collect()
}

impl Locked {
    /// Whether the pattern and names, which are folded, go together as far as both reach.
    fn fits(&self, names: &[String]) -> bool {
        self.pattern.iter().zip(names).all(|(it, name)| it.fits(name))
    }
}

impl Locks {
    pub fn new() -> Locks {
        Locks::of(patterns())
    }

    /// The locked paths of a repository alone.
    pub fn of_repository() -> Locks {
        Locks::of(of_repository())
    }

    fn of(all: impl Iterator<Item = (&'static str, &'static str)>) -> Locks {
        let mut locks = Locks { all: Vec::new(), index: Index::default() };
        for (text, why) in all {
            let names: Vec<String> = text.split('/').map(str::to_owned).collect();
            let pattern = names.iter().map(|it| Pattern::new(&folded(it))).collect();
            locks.add(Locked { pattern, names, why });
        }
        locks
    }

    fn add(&mut self, locked: Locked) {
        self.index.add_pattern(locked.pattern.first(), self.all.len());
        self.all.push(locked);
    }

    /// The same locks, and these paths below the root, given by the names in them.
    #[must_use]
    pub fn naming(mut self, paths: &[Vec<String>]) -> Locks {
        for it in paths {
            let has_star = it.iter().any(|it| it.contains('*'));
            let stars = || it.iter().map(|it| Pattern::new(&folded(it))).collect();
            let pattern = if has_star { stars() } else { exactly(it) };
            self.add(Locked { pattern, names: it.clone(), why: NAMED_WHY });
        }
        self
    }

    /// The same locks. What is locked below a link is locked below the place where the link leads too.
    #[must_use]
    pub fn leading(mut self, links: &[Leading]) -> Locks {
        for Leading { link, to } in links {
            let link: Vec<String> = link.iter().map(|it| folded(it)).collect();
            let is_about = |it: &&Locked| it.pattern.len() > link.len() && it.fits(&link);
            let about: Vec<Locked> = self.all.iter().filter(is_about).cloned().collect();
            for it in about {
                let pattern = [exactly(to).as_slice(), &it.pattern[link.len()..]].concat();
                let names = [to.as_slice(), &it.names[link.len()..]].concat();
                self.add(Locked { pattern, names, why: it.why });
            }
        }
        self
    }

    /// Whether a path is locked. `parts` are the names in the path below the root. `None` if no pattern fits the path
    /// or a path below it. Paths below a locked folder give `None` too, so a caller has to stop at the folder.
    pub fn find(&self, parts: &[String]) -> Option<Lock> {
        if matches!(parts, [only] if only == BARE) {
            return Some(Lock::Whole(BARE_WHY));
        }
        let is_taken = parts.last().is_some_and(|it| is_taken_back(it));
        let parts: Vec<String> = parts.iter().map(|it| folded(it)).collect();
        let first = parts.first().map_or("", |it| it);
        let begun = self.index.get(first).map(|at| &self.all[at]);
        let begun = begun.filter(|it| it.pattern.len() >= parts.len() && it.fits(&parts));
        let is_whole = |it: &Locked| it.pattern.len() == parts.len();
        let locks = begun.map(|it| if is_whole(it) { Lock::Whole(it.why) } else { Lock::Above });
        // a folder with such a name may hold locked paths, as any other
        let locks = locks.filter(|it| !is_taken || *it == Lock::Above);
        locks.min_by_key(|it| *it == Lock::Above)
    }

    /// The locked paths that have no `*`, by the names in them.
    pub fn names(&self) -> impl Iterator<Item = Vec<&str>> {
        let is_name = |it: &Pattern| matches!(it, Pattern::Name(_));
        let all = self.all.iter().filter(move |it| it.pattern.iter().all(is_name));
        all.map(|it| it.names.iter().map(String::as_str).collect()).chain([vec![BARE]])
    }

    /// How early the reason for which a path is locked comes in the table: the first ones run by themselves.
    pub fn rank(&self, path: &str) -> usize {
        let Some(unit) = self.unit(path) else { return usize::MAX };
        let parts: Vec<String> = unit.split('/').map(str::to_owned).collect();
        match self.find(&parts) {
            Some(Lock::Whole(why)) => ROWS.iter().position(|it| it.why == why).unwrap_or(0),
            _ => usize::MAX,
        }
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

    #[test]
    fn a_folder_with_the_name_of_a_file_that_was_taken_back_may_hold_locked_paths() {
        let locks = Locks::new();
        let find = |path: &str| locks.find(&path.split('/').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(find(".git/worktrees/w.refused"), Some(Lock::Above));
        assert!(matches!(find(".git/worktrees/w.refused/config.worktree"), Some(Lock::Whole(_))));
        assert_eq!(find(".git/worktrees/w/config.worktree.refused-2"), None);
    }

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
        ".git/lazygit.yml",
        ".lazygit.yml",
        ".git/glab-cli",
        ".git/sl/config",
        ".tigrc",
        ".octaverc",
        ".ocamlinit",
        ".utoprc",
        ".byebugrc",
        ".rdbgrc",
        ".smartcd",
        ".ondir",
        ".formatter.exs",
        ".php-cs-fixer.php",
        ".php-cs-fixer.dist.php",
        ".jvmopts",
        ".sbtopts",
        ".mvn/jvm.config",
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
    fn what_is_locked_below_a_link_is_locked_where_the_link_leads() {
        let all = |it: &str| it.split('/').map(str::to_owned).collect::<Vec<_>>();
        let links =
            [(".cargo", "Config/cargo"), ("bin", "target/*"), (".config", "a"), ("a/mise", "b")];
        let links = links.map(|(link, to)| Leading { link: all(link), to: all(to) });
        let locks = Locks::new().leading(&links);
        for path in ["Config/cargo/config.toml", "target/*/hermit", "a/mise.x.toml"] {
            assert_eq!(locks.unit(path).as_deref(), Some(path));
        }
        for path in ["Config/cargo/registry", "target/x/hermit", "a/other"] {
            assert_eq!(locks.unit(path), None);
        }
        // each name without a `*` is one of those that are looked for first
        assert!(locks.names().any(|it| it == ["Config", "cargo", "config.toml"]));
        assert!(locks.names().all(|it| {
            locks.find(&it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()).is_some()
        }));
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
