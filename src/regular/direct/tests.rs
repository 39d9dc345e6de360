use super::*;
use rustix::fs::mkfifoat;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// A folder with `in/sub/file`, and a folder `out` with files of the same names that hold a secret.
fn places() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    for (name, text) in [("in", "text"), ("out", "secret")] {
        fs::create_dir_all(root.join(name).join("sub")).unwrap();
        fs::write(root.join(name).join("sub/file"), text).unwrap();
    }
    (dir, root.join("in"), root.join("out"))
}

fn read(file: io::Result<impl Into<File>>) -> Result<String, String> {
    let mut text = String::new();
    let mut file: File = file.map_err(|it| it.to_string())?.into();
    file.read_to_string(&mut text).map_err(|it| it.to_string())?;
    Ok(text)
}

#[test]
fn a_path_with_a_link_in_any_part_opens_nothing() {
    let (_dir, inside, outside) = places();
    let file = inside.join("sub/file");
    assert_eq!(read(open(&file)).unwrap(), "text");
    assert!(folder(&inside.join("sub")).is_ok());

    fs::rename(&file, inside.join("kept")).unwrap();
    symlink(outside.join("sub/file"), &file).unwrap();
    assert_eq!(read(open(&file)).unwrap_err(), LINKED);
    assert_eq!(create(&file).unwrap_err().to_string(), LINKED);

    fs::rename(inside.join("sub"), inside.join("moved")).unwrap();
    symlink(outside.join("sub"), inside.join("sub")).unwrap();
    let refusals = [
        open(&file).map(drop),
        create(&file).map(drop),
        create(&inside.join("sub/new/file")).map(drop),
        folder(&inside.join("sub")).map(drop),
        metadata(&file).map(drop),
        remove(&file),
        rename(&file, &inside.join("got")),
        rename(&inside.join("kept"), &file),
    ];
    for refusal in refusals {
        assert_eq!(refusal.unwrap_err().to_string(), LINKED);
    }
    assert_eq!(fs::read_to_string(outside.join("sub/file")).unwrap(), "secret");
    assert_eq!(fs::read_dir(outside.join("sub")).unwrap().count(), 1);
}

#[test]
fn a_listed_file_is_opened_in_the_folder_that_was_listed() {
    let (_dir, inside, outside) = places();
    let (sub, file) = (inside.join("sub"), inside.join("sub/file"));
    fs::write(outside.join("sub/other"), "secret").unwrap();
    let mut listed = Listed::default();
    assert_eq!(read(listed.open(&file)).unwrap(), "text");

    fs::rename(&sub, inside.join("kept")).unwrap();
    symlink(outside.join("sub"), &sub).unwrap();
    assert_eq!(read(listed.open(&file)).unwrap(), "text");
    assert_eq!(listed.open(&sub.join("other")).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(read(Listed::default().open(&file)).unwrap_err(), LINKED);

    fs::write(inside.join("other"), "text").unwrap();
    assert_eq!(read(listed.open(&inside.join("other"))).unwrap(), "text");
    assert_eq!(read(listed.open(&file)).unwrap_err(), LINKED);
}

#[test]
fn a_listed_file_that_became_a_link_a_pipe_or_a_folder_is_not_opened() {
    let (_dir, inside, outside) = places();
    let at = |name: &str| inside.join(name);
    symlink(outside.join("sub/file"), at("link")).unwrap();
    mkfifoat(CWD, at("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    let mut listed = Listed::default();
    assert_eq!(read(listed.open(&at("link"))).unwrap_err(), LINKED);
    assert_eq!(read(listed.open(&at("pipe"))).unwrap_err(), ODD);
    assert_eq!(listed.open(&at("sub")).unwrap_err().kind(), io::ErrorKind::IsADirectory);
}

#[test]
fn files_and_their_folders_are_created_renamed_and_removed() {
    let (_dir, inside, _) = places();
    let file = inside.join("a/b/file");
    create(&file).unwrap().write_all(b"long text").unwrap();
    create(&file).unwrap().write_all(b"new").unwrap();
    assert_eq!(read(open(&file)).unwrap(), "new");
    rename(&file, &inside.join("c/d")).unwrap();
    assert_eq!(metadata(&inside.join("c/d")).unwrap().st_size, 3);
    remove(&inside.join("c/d")).unwrap();
    assert_eq!(open(&inside.join("c/d")).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(open(&inside.join("sub")).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    assert_eq!(open(&inside.join("sub/file/x")).unwrap_err().kind(), io::ErrorKind::NotADirectory);
}

#[cfg(target_os = "linux")]
#[test]
fn opening_by_parts_opens_the_same_as_in_one_call() {
    let (_dir, inside, outside) = places();
    symlink(outside.join("sub"), inside.join("link")).unwrap();
    symlink(outside.join("sub/file"), inside.join("sub/link")).unwrap();
    for name in ["", "sub", "sub/file", "sub/none", "link", "link/file", "sub/link", "sub/file/x"] {
        let path = inside.join(name);
        for flags in [OFlags::RDONLY, FOLDER] {
            let [one, other] = [whole, by_parts].map(|it| it(&path, flags, Mode::empty()));
            let fault = |it: rustix::io::Result<OwnedFd>| it.err();
            assert_eq!(fault(one), fault(other), "{name} {flags:?}");
        }
    }
    assert_eq!(
        by_parts(&inside.join("link/file"), OFlags::RDONLY, Mode::empty()).err(),
        Some(Errno::LOOP)
    );
    assert_eq!(
        read(by_parts(&inside.join("sub/file"), OFlags::RDONLY, Mode::empty()).map_err(Into::into))
            .unwrap(),
        "text"
    );
    assert!(by_parts(Path::new("/"), FOLDER, Mode::empty()).is_ok());
}

#[test]
fn a_folder_that_is_swapped_all_the_time_never_shows_the_secret() {
    let (_dir, inside, outside) = places();
    let (sub, kept) = (inside.join("sub"), inside.join("kept"));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                fs::rename(&sub, &kept).unwrap();
                symlink(outside.join("sub"), &sub).unwrap();
                fs::remove_file(&sub).unwrap();
                fs::rename(&kept, &sub).unwrap();
            }
        });
        let file = sub.join("file");
        let open = || [read(open(&file)), read(Listed::default().open(&file))];
        let all: Vec<_> = (0..10_000).flat_map(|_| open()).collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(all.iter().all(|it| it.as_deref() != Ok("secret")));
    });
    assert_eq!(read(open(&sub.join("file"))).unwrap(), "text");
}
