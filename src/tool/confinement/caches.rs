//! The caches of build tools. A cache is a program of the user's: other projects and tools run what lies in it. So in
//! the full sandbox commands write into layers over the caches (see `crate::sandbox::layers`), one set for each project.
//! Conversations that are open at the same time have sets of their own.

use super::temporary::remove;
use crate::sandbox::Strength;
use crate::sandbox::layers::{Layer, Layers};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Folders in the home folder, and what commands may write in them: the whole if nothing is named. A folder ends with a
/// slash, a file does not.
const CACHES: &[(&str, &[&str])] = &[
    (".bun/install/cache", &[]),
    (".cabal", &["packages/", "store/"]),
    (".cache", &[]),
    (".cargo", &["git/", "registry/", ".global-cache", ".package-cache", ".package-cache-mutate"]),
    (".composer", &["cache/"]),
    (".conan2", &["p/"]),
    (".elm", &[]),
    (".gradle", &[".tmp/", "caches/", "daemon/", "native/", "notifications/", "wrapper/"]),
    (".hex", &["packages/"]),
    (".ivy2", &["cache/"]),
    (".julia", &["artifacts/", "compiled/", "logs/", "packages/", "scratchspaces/"]),
    (".local/share/pnpm", &["store/"]),
    (".m2", &["repository/", "wrapper/"]),
    (".npm", &[]),
    (".nuget", &["packages/"]),
    (".pub-cache", &["_temp/", "git/", "hosted/", "hosted-hashes/"]),
    (".sbt", &["boot/"]),
    (".stack", &["pantry/", "programs/", "snapshots/"]),
    (".yarn", &["berry/"]),
    ("go/pkg", &[]),
];

/// The caches that commands write themselves in the plain sandbox, which has no layers. Not all of `.cache`: programs of
/// the user run what lies there, and Caliban's own files are there too.
const PLAIN: &[&str] = &[
    ".cache/go-build",
    ".cache/pip",
    ".cache/pnpm",
    ".cache/pre-commit",
    ".cache/uv",
    ".cache/yarn",
    ".cargo/.global-cache",
    ".cargo/.package-cache",
    ".cargo/git",
    ".cargo/registry",
    ".gradle/caches",
    ".m2/repository",
    ".npm/_cacache",
    ".npm/_logs",
    "go/pkg/mod",
];

/// How long a set stays that nobody uses.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The most sets of a project: one for each conversation that is open.
const MOST: usize = 100;
/// The file that is locked while a conversation uses a set.
const LOCK: &str = "lock";

/// The layers over the caches that exist. A cache that has to stay as it is, or lies in such a folder, gets none; nor does
/// one around the folders of the project, of which a command may be allowed to write only a part.
/// A part of a cache that is a link has a layer of its own, where it leads: a write through the link would go past the
/// layer of the cache.
fn layers(home: &Path, roots: &[PathBuf], kept: &[PathBuf]) -> Vec<Layer> {
    let is_free = |place: &Path| {
        let is_around = |root: &PathBuf| place.starts_with(root) || root.starts_with(place);
        !kept.iter().any(|it| place.starts_with(it)) && !roots.iter().any(is_around)
    };
    let mut all: Vec<Layer> = Vec::new();
    for (name, parts) in CACHES {
        let Some(place) = home.join(name).canonicalize().ok().filter(|it| it.is_dir()) else {
            continue;
        };
        let is_link = |it: &&&str| place.join(it.trim_end_matches('/')).is_symlink();
        let (linked, parts): (Vec<&str>, Vec<&str>) = parts.iter().partition(|it| is_link(it));
        let is_whole = linked.is_empty() && parts.is_empty();
        let named = |is_folder: bool| {
            let all = parts.iter().filter(|it| it.ends_with('/') == is_folder);
            all.map(|it| PathBuf::from(it.trim_end_matches('/'))).collect::<Vec<_>>()
        };
        let (folders, files) = (named(true), named(false));
        for it in linked.iter().filter(|it| it.ends_with('/')) {
            let name = format!("{name}/{}", it.trim_end_matches('/')).replace('/', "+");
            let to = place.join(it).canonicalize().ok().filter(|it| it.is_dir() && is_free(it));
            let is_new = |to: &PathBuf| !all.iter().any(|it| it.place == *to);
            if let Some(place) = to.filter(is_new) {
                all.push(Layer { name, place, folders: Vec::new(), files: Vec::new() });
            }
        }
        if is_free(&place) && (is_whole || !parts.is_empty()) {
            all.push(Layer { name: name.replace('/', "+"), place, folders, files });
        }
    }
    all
}

/// What commands may write in the caches: what has layers; in the plain sandbox, some caches themselves.
pub(super) fn writable(home: &Path, layers: Option<&Layers>, strength: Strength) -> Vec<PathBuf> {
    let parts = |it: &Layer| {
        let parts = it.folders.iter().chain(&it.files).map(|part| it.place.join(part));
        let is_whole = it.folders.is_empty() && it.files.is_empty();
        parts.chain(is_whole.then(|| it.place.clone())).collect::<Vec<_>>()
    };
    match layers {
        Some(layers) => layers.all.iter().flat_map(parts).collect(),
        None if strength == Strength::Plain => {
            PLAIN.iter().map(|it| home.join(it)).filter(|it| it.exists()).collect()
        }
        None => Vec::new(),
    }
}

/// A set of layers that belongs to this process.
pub(super) struct Set {
    pub(super) layers: Layers,
    /// Other conversations keep off while this is open.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is only held"))]
    lock: File,
}

impl Set {
    /// A set in `folder`, which has those of the project. Removes sets of all projects that nobody has used for long.
    /// `roots` are the folders of the project; the caches stay as they are in `kept`.
    pub(super) fn take(
        folder: &Path,
        home: &Path,
        roots: &[PathBuf],
        kept: Vec<PathBuf>,
    ) -> io::Result<Set> {
        if let Some(all) = folder.parent() {
            sweep(all);
        }
        let kept: Vec<PathBuf> =
            kept.into_iter().map(|it| it.canonicalize().unwrap_or(it)).collect();
        let all = layers(home, roots, &kept);
        for n in 0..MOST {
            let folder = folder.join(n.to_string());
            DirBuilder::new().mode(0o700).recursive(true).create(&folder)?;
            if let Some(lock) = locked(&folder)? {
                lock.set_modified(SystemTime::now())?;
                return Ok(Set { layers: Layers { folder, all, kept }, lock });
            }
        }
        Err(io::Error::other("too many conversations are open"))
    }
}

/// The lock of a set; `None` if another conversation holds it, or has just removed the set.
fn locked(folder: &Path) -> io::Result<Option<File>> {
    let path = folder.join(LOCK);
    let mut options = OpenOptions::new();
    let lock = match options.write(true).create(true).truncate(false).open(&path) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(None),
        lock => lock?,
    };
    let is_same = |it: fs::Metadata| lock.metadata().is_ok_and(|own| own.ino() == it.ino());
    let is_ours = lock.try_lock().is_ok() && fs::metadata(&path).is_ok_and(is_same);
    Ok(is_ours.then_some(lock))
}

/// Removes the sets that nobody has used for long.
fn sweep(all: &Path) {
    let entries = |it: &Path| fs::read_dir(it).into_iter().flatten().flatten().map(|it| it.path());
    for project in entries(all) {
        for set in entries(&project) {
            let used = fs::metadata(set.join(LOCK)).and_then(|it| it.modified());
            let is_old = used.is_ok_and(|it| it.elapsed().is_ok_and(|age| age > KEPT));
            if is_old && matches!(locked(&set), Ok(Some(_))) {
                remove(&set);
                // this fails if there is another set
                let _ = fs::remove_dir(&project);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_cache_that_is_a_link_has_a_layer_where_it_leads() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (home, disk) = (base.join("home"), base.join("disk"));
        for it in [home.join(".cargo/git"), home.join(".m2"), disk.join("registry")] {
            fs::create_dir_all(it).unwrap();
        }
        let link = |to: &Path, it: &str| std::os::unix::fs::symlink(to, home.join(it)).unwrap();
        link(&disk.join("registry"), ".cargo/registry");
        link(&disk.join("nowhere"), ".m2/repository");
        link(&disk.join("registry"), ".m2/wrapper");
        let all = layers(&home, &[], &[]);
        let layers = Layers { folder: base.clone(), all, kept: Vec::new() };
        let mut open = writable(&home, Some(&layers), Strength::Full);
        open.retain(|it| it.exists());
        open.sort();
        assert_eq!(open, [disk.join("registry"), home.join(".cargo/git")]);
        let places: Vec<&Path> = layers.all.iter().map(|it| &*it.place).collect();
        assert!(places.contains(&&*disk.join("registry")), "{places:?}");
    }

    #[test]
    fn each_open_conversation_has_a_set_of_its_own_and_the_next_one_gets_a_free_one() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("layers/project");
        let take = || Set::take(&project, home.path(), &[], Vec::new()).unwrap();
        let number = |it: &Set| it.layers.folder.strip_prefix(&project).unwrap().to_owned();
        let (one, two) = (take(), take());
        assert_eq!((number(&one), number(&two)), (PathBuf::from("0"), PathBuf::from("1")));
        drop(one);
        assert_eq!(number(&take()), PathBuf::from("0"));
    }

    #[test]
    fn a_set_that_nobody_has_used_for_long_goes_and_one_in_use_stays() {
        let home = tempfile::tempdir().unwrap();
        let all = home.path().join("layers");
        let take =
            |project: &str| Set::take(&all.join(project), home.path(), &[], Vec::new()).unwrap();
        let (used, left) = (take("used"), take("left"));
        for set in [&used, &left] {
            let long_ago = SystemTime::now() - 2 * KEPT;
            set.lock.set_modified(long_ago).unwrap();
        }
        drop(left);
        let fresh = take("fresh");
        let is_there = |it: &str| all.join(it).exists();
        assert_eq!(["used", "left", "fresh"].map(is_there), [true, false, true]);
        drop((used, fresh));
    }

    #[test]
    fn a_cache_in_the_project_or_among_the_writable_folders_gets_no_layer() {
        let home = tempfile::tempdir().unwrap();
        for name in [".cache", ".cargo/registry", "go/pkg/mod"] {
            fs::create_dir_all(home.path().join(name)).unwrap();
        }
        let place = |it: &str| home.path().canonicalize().unwrap().join(it);
        let names = |root: PathBuf, kept: &[PathBuf]| -> Vec<String> {
            layers(home.path(), &[root], kept).into_iter().map(|it| it.name).collect()
        };
        let elsewhere = || place("work");
        assert_eq!(names(elsewhere(), &[]), [".cache", ".cargo", "go+pkg"]);
        assert_eq!(names(elsewhere(), &[place("go")]), [".cache", ".cargo"]);
        let named = [place(".cargo/registry"), place(".cache")];
        assert_eq!(names(elsewhere(), &named), [".cargo", "go+pkg"]);
        assert_eq!(names(place("go/pkg/mod/project"), &[]), [".cache", ".cargo"]);
        assert_eq!(names(place(""), &[]), [""; 0]);
    }

    #[test]
    fn in_the_plain_sandbox_commands_write_only_caches_of_build_tools() {
        let home = tempfile::tempdir().unwrap();
        for name in [".cache/pip", ".cache/nvim", ".cache/caliban", ".npm/_cacache", ".cargo/bin"] {
            fs::create_dir_all(home.path().join(name)).unwrap();
        }
        let all = writable(home.path(), None, Strength::Plain);
        assert_eq!(all, [".cache/pip", ".npm/_cacache"].map(|it| home.path().join(it)));
        assert_eq!(writable(home.path(), None, Strength::Full), [""; 0].map(PathBuf::from));
    }
}
