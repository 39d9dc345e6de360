//! Where `git clone` puts its files.

use super::invocation::Invocation;
use std::path::{Path, PathBuf};

/// Options that take the next word as their value.
const VALUED: [&str; 22] = [
    "-b",
    "--branch",
    "--bundle-uri",
    "-c",
    "--config",
    "--depth",
    "--filter",
    "-j",
    "--jobs",
    "-o",
    "--origin",
    "--ref-format",
    "--reference",
    "--reference-if-able",
    "--revision",
    "--separate-git-dir",
    "--server-option",
    "--shallow-exclude",
    "--shallow-since",
    "--template",
    "-u",
    "--upload-pack",
];

/// Whether a git command is a clone that checks files out in this folder.
pub(super) fn fills(invocation: &Invocation, root: &Path) -> bool {
    const BARE: [&str; 4] = ["-n", "--no-checkout", "--bare", "--mirror"];
    let all: Vec<&str> = invocation.plain(&VALUED);
    let after = invocation.paths().unwrap_or_default().iter().map(String::as_str);
    let all: Vec<&str> = all.into_iter().chain(after).collect();
    let [_, to] = all.as_slice() else { return false };
    if invocation.verb != "clone" || invocation.words.iter().any(|it| BARE.contains(&it.as_str())) {
        return false;
    }
    let mut folder = PathBuf::new();
    let mut globals = invocation.globals.iter();
    while let Some(option) = globals.next() {
        if option == "-C" {
            folder.extend(globals.next());
        }
    }
    let to = folder.join(to);
    to.canonicalize().is_ok_and(|it| it == root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_into_the_root_is_recognised() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("sub")).unwrap();
        let path = root.display();
        let check = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            fills(&Invocation::read(&words).unwrap(), &root)
        };
        assert!(check(&format!("clone url {path}")));
        assert!(check(&format!("clone -q --depth 1 -b main -- url {path}/sub/..")));
        assert!(check(&format!("-C {path} clone url .")));
        assert!(check(&format!("-C {path} -C sub clone url ..")));
        assert!(!check(&format!("clone -n url {path}")));
        assert!(!check(&format!("clone --bare url {path}")));
        assert!(!check(&format!("clone url {path}/sub")));
        assert!(!check(&format!("-C {path} clone url")));
        assert!(!check(&format!("fetch url {path}")));
    }
}
