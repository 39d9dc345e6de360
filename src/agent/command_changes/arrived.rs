//! Where files come from that a command has put at another path. A file that was moved there from a place that is not
//! compared has the only copy of its text, so no rewind deletes it.

use super::found::Found;
use super::seen::{FileId, Origin, Seen, Stamp};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// By how many seconds the times of a file system may differ from the clock.
const TICK: i64 = 2;
/// By how much the time that a file system gives to a new file may be behind the clock.
const BEHIND: Duration = Duration::from_millis(10);

/// What tells where the files come from that were not listed before a command.
pub(super) struct Arrivals {
    root: PathBuf,
    /// The inodes of the files that were listed before.
    inodes: BTreeSet<u64>,
    /// When the command began, in seconds since 1970.
    start: i64,
    /// When the files were listed.
    until: SystemTime,
    has_same_rules: bool,
}

impl Arrivals {
    pub(super) fn of(
        root: &Path,
        files: &BTreeMap<PathBuf, Seen>,
        start: i64,
        until: SystemTime,
    ) -> Arrivals {
        let is_rule =
            |it: &Path| it.file_name().is_some_and(|it| it == ".gitignore" || it == ".ignore");
        let mut rules = files.iter().filter(|it| is_rule(it.0));
        let has_same_rules = rules.all(|it| Stamp::of(it.0) == it.1.stamp);
        let inodes = files.values().filter_map(|it| it.stamp.inode()).collect();
        Arrivals { root: root.to_owned(), inodes, start, until, has_same_rules }
    }

    /// The state of the path before the command. `None` if the file was there and ignored. `is_staged` says whether its
    /// entry in git's index has changed.
    pub(super) fn before(&self, path: &Path, is_staged: bool) -> Option<Seen> {
        let Ok(meta) = fs::symlink_metadata(path) else { return Some(Seen::nothing()) };
        if self.inodes.contains(&meta.ino()) {
            // it was at another path
            return Some(Seen::nothing());
        }
        let stamp = Stamp::of(path);
        let is_old = stamp.is_older_than(self.start.saturating_sub(TICK));
        let seen = |stamp, origin| Some(Seen { stamp, origin });
        match (is_old, self.has_same_rules) {
            (true, _) if is_staged => seen(stamp, Origin::None),
            (true, true) if self.is_in_moved_folder(path) => seen(Stamp::Absent, Origin::Elsewhere),
            (true, _) => None,
            (false, false) => seen(Stamp::Absent, Origin::None),
            (false, true) if self.is_moved(&meta) => seen(Stamp::Absent, Origin::Elsewhere),
            (false, true) => Some(Seen::nothing()),
        }
    }

    /// A folder that is renamed keeps the times of its files, but not its own.
    fn is_in_moved_folder(&self, path: &Path) -> bool {
        let mut folders = path.ancestors().skip(1).take_while(|it| *it != self.root);
        let is_new = |it: Metadata| it.ctime() >= self.start.saturating_sub(TICK);
        folders.any(|it| fs::symlink_metadata(it).is_ok_and(is_new))
    }

    /// Whether the file is older than the command, and has no other name.
    fn is_moved(&self, meta: &Metadata) -> bool {
        let tick = Duration::from_secs(TICK.unsigned_abs());
        let until = match meta.created() {
            Ok(at) => self.until.checked_sub(BEHIND).map(|it| at < it),
            Err(_) => meta.modified().ok().zip(self.until.checked_sub(tick)).map(|it| it.0 < it.1),
        };
        !meta.is_dir() && meta.nlink() == 1 && until.unwrap_or(false)
    }
}

/// Notes which files have the earlier text of a file whose text is not known and in whose place another one is.
pub(super) fn mark_only_copies(all: &mut [Found]) {
    let is_replaced = |it: &&Found| it.before.is_err() && it.files[1].is_some();
    let lost: BTreeSet<FileId> =
        all.iter().filter(is_replaced).filter_map(|it| it.files[0]).collect();
    for it in all.iter_mut().filter(|it| it.before.is_ok() && it.before != it.after) {
        it.is_moved |= it.files[1].is_some_and(|it| lost.contains(&it));
    }
}

/// The changes that are recorded of more than `most`: those first that restore a text that is nowhere else, and none that
/// removes a text that the others would restore. The rest stays as it is.
pub(super) fn choose(mut all: Vec<(PathBuf, Seen)>, most: usize) -> Vec<(PathBuf, Seen)> {
    let now: BTreeMap<PathBuf, Stamp> =
        all.iter().map(|it| (it.0.clone(), Stamp::of(&it.0))).collect();
    let order = |it: &(PathBuf, Seen)| match (it.1.stamp, now[&it.0]) {
        (Stamp::There { .. }, Stamp::Absent | Stamp::Folder) => 0,
        (Stamp::There { .. }, _) => 1,
        _ => 2,
    };
    all.sort_by_cached_key(|it| (order(it), it.0.clone()));
    let mut left = all.split_off(most.min(all.len()));
    loop {
        let missed: BTreeSet<_> = left.iter().filter_map(|it| it.1.stamp.content()).collect();
        let is_only = |it: &mut (PathBuf, Seen)| {
            let content = now[&it.0].content();
            content != it.1.stamp.content() && content.is_some_and(|it| missed.contains(&it))
        };
        let more: Vec<_> = all.extract_if(.., is_only).collect();
        if more.is_empty() {
            all.sort_by(|a, b| a.0.cmp(&b.0));
            return all;
        }
        left = more;
    }
}

/// When the clock says now, in seconds since 1970.
pub(super) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    i64::try_from(now).unwrap_or(i64::MAX)
}
