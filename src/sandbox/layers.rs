//! Layers over folders of the user, such as the caches of build tools. What commands write there goes into the layer:
//! they find it again, and the user's own programs never see it. A layer is an overlay of the kernel; see the kernel's
//! documentation of `overlayfs`.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The layers of a conversation's commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// The folder that keeps what commands write. It belongs to these layers alone as long as they are used.
    pub folder: PathBuf,
    pub all: Vec<Layer>,
    /// Paths that commands see as they are, also inside of a folder with a layer.
    pub kept: Vec<PathBuf>,
}

/// One layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// The name of the layer's own folder.
    pub name: String,
    /// The folder that gets the layer, without links in its path.
    pub place: PathBuf,
    /// Folders in it that commands find, empty if there are none.
    pub folders: Vec<PathBuf>,
    /// Files in it that commands find, empty if there are none.
    pub files: Vec<PathBuf>,
}

#[cfg(target_os = "linux")]
mod linux {
    use super::super::mounts::{held, reopened};
    use super::{Layer, Layers};
    use nix::mount::{MsFlags, mount};
    use rustix::fs::{Mode, OFlags};
    use std::fs::{self, DirBuilder};
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    use std::path::Path;

    impl Layers {
        /// Mounts the layers in this process's namespace. After an error some may be missing.
        pub(in crate::sandbox) fn lay(&self) -> Result<(), String> {
            let kept = self.kept.iter().filter(|it| it.exists());
            let kept: Vec<_> = kept.cloned().map(held).collect::<Result<_, _>>()?;
            // a layer may cover the folder of the layers
            let prepared = |it: &Layer| {
                let folders = it.prepare(&self.folder.join(&it.name));
                folders.map_err(|why| format!("{}: {why}", it.place.display()))
            };
            let all: Vec<_> = self.all.iter().map(prepared).collect::<Result<_, _>>()?;
            self.all.iter().zip(&all).try_for_each(|(layer, folders)| layer.lay(folders))?;
            let is_covered = |path: &Path| self.all.iter().any(|it| path.starts_with(&it.place));
            let mut covered = kept.iter().filter(|(path, _)| is_covered(path));
            covered.try_for_each(|(path, open)| reopened(path, open))
        }
    }

    impl Layer {
        fn lay(&self, [lower, upper, work]: &[OwnedFd; 3]) -> Result<(), String> {
            let failed = |it: &dyn std::fmt::Display| format!("{}: {it}", self.place.display());
            let at = |it: &OwnedFd| format!("/proc/self/fd/{}", it.as_raw_fd());
            // paths of descriptors have no comma or colon, which would end an option
            let options = format!(
                "lowerdir={},upperdir={},workdir={},userxattr",
                at(lower),
                at(upper),
                at(work)
            );
            let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
            mount(Some("overlay"), &self.place, Some("overlay"), flags, Some(options.as_str()))
                .map_err(|it| failed(&it))?;
            for folder in &self.folders {
                fs::create_dir_all(self.place.join(folder)).map_err(|it| failed(&it))?;
            }
            for file in &self.files {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let mode = Mode::from_raw_mode(0o644);
                rustix::fs::open(self.place.join(file), flags, mode).map_err(|it| failed(&it))?;
            }
            Ok(())
        }

        /// The folder below, and the two of the layer, in which nothing is older than what lies below.
        fn prepare(&self, own: &Path) -> io::Result<[OwnedFd; 3]> {
            let open = |it: &Path| held(it.to_owned()).map(|it| it.1).map_err(io::Error::other);
            let lower = open(&self.place)?;
            let (upper, work) = (own.join("upper"), own.join("work"));
            for folder in [&upper, &work] {
                DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
            }
            // the layer's folder gives the mounted one its mode
            fs::set_permissions(&upper, fs::metadata(&self.place)?.permissions())?;
            forget(&upper, &self.place);
            Ok([lower, open(&upper)?, open(&work)?])
        }
    }

    /// Removes from a layer what the user's own programs have written later in the folder below. What cannot be listed or
    /// removed stays: a command must not be able to take the layer away. Follows no links.
    pub(super) fn forget(upper: &Path, lower: &Path) {
        for entry in fs::read_dir(upper).into_iter().flatten().flatten() {
            let (path, below) = (entry.path(), lower.join(entry.file_name()));
            let (Ok(own), Ok(other)) = (path.symlink_metadata(), below.symlink_metadata()) else {
                continue;
            };
            let changed = |it: &fs::Metadata| (it.ctime(), it.ctime_nsec());
            if own.is_dir() && other.is_dir() {
                forget(&path, &below);
            } else if changed(&other) > changed(&own) {
                let _ =
                    if own.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            }
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::linux::forget;
    use std::fs;

    #[test]
    fn a_layer_forgets_what_the_user_has_written_later() {
        let dir = tempfile::tempdir().unwrap();
        let (upper, lower) = (dir.path().join("upper"), dir.path().join("lower"));
        let write = |path: &std::path::Path, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(&lower.join("a/old"), "user");
        write(&lower.join("b"), "user");
        write(&upper.join("a/old"), "command");
        write(&upper.join("a/own"), "command");
        write(&upper.join("a/late"), "command");
        write(&upper.join("b/inside"), "command");
        write(&upper.join("c/inside"), "command");
        // the clock of files has steps
        while !fs::metadata(lower.join("a/late")).is_ok_and(|it| {
            it.modified().unwrap()
                > fs::metadata(upper.join("c/inside")).unwrap().modified().unwrap()
        }) {
            write(&lower.join("a/late"), "user");
            write(&lower.join("b"), "user");
        }
        forget(&upper, &lower);
        let is_there = |it: &str| upper.join(it).exists();
        let all = ["a/old", "a/own", "a/late", "b/inside", "c/inside"].map(is_there);
        assert_eq!(all, [true, true, false, false, true]);
    }
}
