//! What the user's start files are: a shell, an editor or a terminal runs them when it starts. If they lie in the project,
//! as in a repository of dotfiles, or lead there by a link, no command writes them.

use super::entered::Entered;
use crate::reach;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of Neovim's settings, and what Neovim runs in it. The rest of it, such as notes, stays free.
const NEOVIM: &str = ".config/nvim";
const RUNTIME: [&str; 26] = [
    "after",
    "autoload",
    "coc-settings.json",
    "colors",
    "compiler",
    "filetype.lua",
    "filetype.vim",
    "ftdetect",
    "ftplugin",
    "ginit.vim",
    "indent",
    "init.lua",
    "init.vim",
    "keymap",
    "lazy-lock.json",
    "lsp",
    "lua",
    "neoconf.json",
    "pack",
    "parser",
    "plugin",
    "queries",
    "rplugin",
    "scripts.vim",
    "syntax",
    "sysinit.vim",
];
/// The most entries of a start folder, and its levels, that are looked at for links into the project.
const MOST: usize = 200;
const LEVELS: u32 = 5;
/// The most bytes of a start file that is read for what it runs.
const LARGEST: u64 = 200_000;

/// The user's start files, as they were when the conversation's first command began.
#[derive(Debug, Clone, Default)]
pub(in crate::tool) struct Starts {
    /// Their paths in the home folder, if they may lead into the project.
    pub(super) paths: Vec<PathBuf>,
    /// What those name that speak of the project.
    pub(super) named: Vec<Entered>,
}

/// The places of start files: those of the table, without Neovim's folder, and what Neovim runs in its own.
fn places(home: &Path) -> Vec<PathBuf> {
    let rows = reach::started().filter(|it| *it != NEOVIM).map(|it| home.join(it));
    let runtime = RUNTIME.iter().map(|it| home.join(NEOVIM).join(it));
    rows.chain(runtime).collect()
}

/// Whether a project is a folder all of which runs at a start, or lies in one, such as `~/.config/fish`. Then nothing of
/// it could be left to commands.
pub(in crate::tool) fn is_within(root: &Path, home: &Path) -> bool {
    let holds = |it: &PathBuf| it.canonicalize().is_ok_and(|it| root.starts_with(it));
    places(home).iter().any(holds)
}

impl Starts {
    /// Blocks.
    pub(in crate::tool) fn new(root: &Path, home: &Path) -> Starts {
        let mut starts = Starts { paths: places(home), named: Vec::new() };
        let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for place in starts.paths.clone() {
            starts.look(place, root, &format!("/{name}"));
        }
        starts
    }

    /// Looks at a start file, or at those in a start folder. `mark` stands in a text that speaks of the project.
    fn look(&mut self, place: PathBuf, root: &Path, mark: &str) {
        let (mut left, mut open) = (MOST, vec![(place, LEVELS)]);
        while let Some((path, levels)) = open.pop() {
            let Ok(there) = path.metadata() else { continue };
            let is_there = path.canonicalize().is_ok_and(|it| it.starts_with(root));
            if is_there {
                self.paths.push(path.clone());
            }
            if there.is_file() && there.len() <= LARGEST {
                let text = crate::regular::read_to_string(&path).unwrap_or_default();
                if is_there || text.contains(mark) {
                    self.named.push(Entered::start(&text));
                }
            }
            let entries = fs::read_dir(&path).ok().filter(|_| there.is_dir() && levels > 0);
            let entries: Vec<_> = entries.into_iter().flatten().flatten().take(left).collect();
            left -= entries.len();
            open.extend(entries.iter().map(|it| (it.path(), levels - 1)));
        }
    }
}
