//! A path within a project, read from a file that anybody may have written.

use serde::Serialize;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};

/// An absolute path below a project's root, without `.` and `..`, and not in `.git`. The path may still lead elsewhere
/// through a symbolic link on disk; the caller has to check this.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Place(PathBuf);

impl Place {
    /// Returns `None` if the path is not such a path of this project.
    pub fn within(root: &Path, path: PathBuf) -> Option<Place> {
        // `components` drops `.` and repeated slashes; a path with them is refused, because other code may not drop
        // them
        let plain: PathBuf = path.components().collect();
        let is_plain = plain.as_os_str() == path.as_os_str() && path.is_absolute();
        let below = path.strip_prefix(root).ok()?.components();
        let mut count = 0;
        let is_ours = |it: Component| {
            count += 1;
            matches!(it, Component::Normal(name) if !name.eq_ignore_ascii_case(".git") && !has_nul(name.as_encoded_bytes()))
        };
        (is_plain && below.into_iter().all(is_ours) && count > 0).then_some(Place(path))
    }

    pub fn into_path(self) -> PathBuf {
        self.0
    }
}

impl Deref for Place {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

fn has_nul(name: &[u8]) -> bool {
    name.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_within(root: &str, path: &str) -> bool {
        Place::within(Path::new(root), path.into()).is_some()
    }

    #[test]
    fn a_place_is_below_the_root_and_not_in_git() {
        for path in ["/p/a", "/p/a/b.txt", "/p/.gitignore", "/p/a/.github/x", "/p/..a", "/p/~"] {
            assert!(is_within("/p", path), "{path}");
        }
        for path in [
            "",
            "a",
            "/",
            "/p",
            "/p/",
            "/q/a",
            "/pa",
            "/p/..",
            "/p/../q",
            "/p/a/../../q",
            "/p/./a",
            "/p//a",
            "/p/a/",
            "//p/a",
            "/p/.git",
            "/p/.git/hooks/pre-commit",
            "/p/a/.GIT/config",
            "/p/.Git/x",
            "/p/a\0b",
            "~/a",
            "./p/a",
        ] {
            assert!(!is_within("/p", path), "{path:?}");
        }
        // a project may be the whole disk
        assert!(
            is_within("/", "/etc/passwd") && !is_within("/", "/") && !is_within("/", "/.git/x")
        );
        // a project may lie below a folder named `.git`
        assert!(is_within("/x/.git/p", "/x/.git/p/a"));
    }

    proptest! {
        #[test]
        fn no_place_lies_outside_the_root_or_in_git(parts in prop::collection::vec("[a.~ \\pL\0]{0,5}|\\.\\.|\\.git|\\.GIT|/|p", 0..6)) {
            let path = parts.join("/");
            for path in [path.clone(), format!("/p/{path}")] {
                let Some(place) = Place::within(Path::new("/p"), path.into()) else { continue };
                let below: Vec<_> = place.strip_prefix("/p").unwrap().components().collect();
                prop_assert!(!below.is_empty());
                for it in below {
                    let Component::Normal(name) = it else { panic!("{place:?}") };
                    prop_assert!(!name.eq_ignore_ascii_case(".git"));
                }
            }
        }
    }
}
