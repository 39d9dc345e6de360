//! Walks folders, leaving out files that git ignores. A walk runs on a separate thread, and ends when nobody waits for
//! its result any more.

use crate::reach::{Reach, Reading};
use crate::regular;
use globset::{GlobBuilder, GlobSet};
use ignore::{DirEntry, WalkBuilder, WalkParallel};
use std::fs::metadata;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most bytes that an ignore file, such as `.gitignore`, may have. A larger file counts as unreadable, see `begin`.
const LARGEST: u64 = 1 << 20;
/// The most bytes of a glob. The library panics on globs that are too large or nested too deeply.
const LONGEST_GLOB: usize = 400;

/// A walk that leaves out ignored files, and files that are never read. Hidden files are included.
pub fn walker(reach: &Reach, path: &Path) -> WalkBuilder {
    let reach = reach.clone();
    let mut builder =
        begin(path, move |entry| !matches!(reach.reading(entry.path()), Reading::Never(_)));
    builder.require_git(false).follow_links(false);
    builder
}

/// A walk on several threads, which finds files in no order. Like `walker`, but files that are never read are included,
/// because a caller needs to check only the few files that match a pattern.
pub(super) fn parallel(reach: &Reach, path: &Path) -> WalkParallel {
    let reach = reach.clone();
    let is_open = move |it: &DirEntry| {
        !is_folder(it) || !matches!(reach.reading(it.path()), Reading::Never(_))
    };
    let mut builder = begin(path, is_open);
    builder.require_git(false).follow_links(false).build_parallel()
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|it| it.is_dir())
}

/// A walk of everything for which `keep` is true, including hidden files. A folder whose ignore files cannot be read is
/// left out. If the ignore files of `path` or of a folder above it cannot be read, no file is ignored.
pub fn begin(path: &Path, keep: impl Fn(&DirEntry) -> bool + Send + Sync + 'static) -> WalkBuilder {
    let mut builder = WalkBuilder::new(path);
    if path.ancestors().any(would_hang) {
        builder.standard_filters(false);
    }
    let is_open = move |it: &DirEntry| keep(it) && !(is_folder(it) && would_hang(it.path()));
    builder.hidden(false).filter_entry(is_open);
    builder
}

/// Whether a walk of this folder could hang: the walk opens ignore files without checking that they are regular files.
fn would_hang(folder: &Path) -> bool {
    if [".gitignore", ".ignore"].iter().any(|it| is_odd(&folder.join(it))) {
        return true;
    }
    let git = folder.join(".git");
    match metadata(&git) {
        Ok(it) if it.is_dir() => return is_odd(&git.join("info/exclude")),
        Ok(it) if it.is_file() => (),
        _ => return false,
    }
    // in a worktree `.git` is a file that names a folder, and the file `commondir` in that folder names the main folder
    if is_odd(&git) {
        return true;
    }
    let line = |path: &Path| Some(regular::head(path, LARGEST).ok()?.lines().next()?.to_owned());
    let Some(named) = line(&git).and_then(|it| Some(it.strip_prefix("gitdir: ")?.to_owned()))
    else {
        return false;
    };
    // A relative path in the file `.git` is resolved from the working directory of this program, as the `ignore` crate
    // does.
    let common = Path::new(&named).join("commondir");
    is_odd(&common)
        || line(&common).is_some_and(|it| is_odd(&Path::new(&named).join(it).join("info/exclude")))
}

/// Whether a path is a pipe or a device, or has more bytes than an ignore file may have.
fn is_odd(path: &Path) -> bool {
    metadata(path).is_ok_and(|it| !it.is_dir() && (!it.is_file() || it.len() > LARGEST))
}

/// A pattern for paths relative to a folder. A pattern without a slash matches names at any depth. The pattern is a set
/// of one glob, because a set matches most globs without a regular expression. At a regular expression, the threads of
/// a walk would wait for each other.
pub(super) fn glob(argument: &str, pattern: &str) -> Result<GlobSet, String> {
    if pattern.len() > LONGEST_GLOB {
        let size = pattern.len();
        return Err(format!("{argument}: it has {size} bytes; a glob has at most {LONGEST_GLOB}."));
    }
    let bare = pattern.strip_prefix("./").unwrap_or(pattern);
    let anywhere = if bare.contains('/') { bare.to_owned() } else { format!("**/{bare}") };
    let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
    glob.and_then(|it| GlobSet::new([it])).map_err(|fault| {
        format!(
            "{argument}: `{pattern}` is not a glob: {}. Example: src/**/*.{{rs,toml}}",
            fault.kind()
        )
    })
}

/// Tells a walk that nobody waits for its result any more.
#[derive(Clone, Default)]
pub(super) struct Halt(Arc<AtomicBool>);

impl Halt {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

struct OnDrop(Halt);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` on a separate thread. If the future is dropped, `work` is told so through its `Halt`.
pub(super) async fn apart<T: Send + 'static>(
    work: impl FnOnce(Halt) -> T + Send + 'static,
) -> Result<T, String> {
    let halt = Halt::default();
    let _guard = OnDrop(halt.clone());
    let done = tokio::task::spawn_blocking(move || work(halt)).await;
    done.map_err(|_| {
        "The tool failed inside Caliban, not because of your call. Try another way.".to_owned()
    })
}
