use super::*;
use crate::context::mention;
use crate::reach::Folders;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// Creates these files in a project, and returns the project's files as completion finds them.
fn files(root: &Path, paths: &[&str]) -> Files {
    for path in paths {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let reach = Reach::new(&Folders { root: root.to_owned(), ..Folders::default() });
    let mut files = Files::new(root.to_owned(), Some(root.join("home")), reach);
    walk(&mut files, Instant::now());
    files
}

/// Walks the project as if the time were `now`.
fn walk(files: &mut Files, now: Instant) {
    files.refresh(now).unwrap()();
    assert!(files.refresh(now).is_none());
}

fn root() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(files: &Files, query: &str, open: &[&str], expect: Expect) {
    let near = Near { open: open.iter().map(|it| files.root.join(it)).collect(), recent: vec![] };
    let places = files.search().places(query, &near);
    let texts: Vec<String> = places.into_iter().map(|it| it.text).collect();
    expect.assert_eq(&texts.join(" "));
}

#[test]
fn files_and_folders_are_found_by_a_part_of_their_path() {
    let root = root();
    let files = files(
        root.path(),
        &["src/main.rs", "src/map.rs", "doc/manual.md", ".gitignore", "a b/c.rs"],
    );
    check(&files, "main", &[], expect!["@src/main.rs"]);
    check(&files, "sma", &[], expect!["@src/map.rs @src/main.rs"]);
    check(&files, "src", &[], expect!["@src/ @src/map.rs @src/main.rs"]);
    check(&files, "a b", &[], expect![[r#"@"a b/" @"a b/c.rs""#]]);
    check(&files, "SMA", &[], expect![""]);
    check(&files, "zzz", &[], expect![""]);
}

#[test]
fn open_files_are_offered_first() {
    let root = root();
    let files = files(root.path(), &["a/util.rs", "b/util.rs", "c.rs"]);
    check(&files, "util", &["b/util.rs"], expect!["@b/util.rs @a/util.rs"]);
    check(&files, "", &["b/util.rs", "c.rs"], expect!["@b/util.rs @c.rs @a/ @b/"]);
}

#[test]
fn ignored_files_are_offered_only_if_their_folder_is_typed() {
    let root = root();
    let files = files(root.path(), &["src/a.rs", "target/out/a.txt", "home/notes.md"]);
    fs::write(root.path().join(".gitignore"), "target\nhome\n").unwrap();
    let mut files = Files::new(files.root.clone(), files.home.clone(), files.reach.clone());
    walk(&mut files, Instant::now());
    check(&files, "a.txt", &[], expect![""]);
    check(&files, "target/", &[], expect!["@target/out/"]);
    check(&files, "target/out/a", &[], expect!["@target/out/a.txt"]);
    check(&files, "~/no", &[], expect!["@~/notes.md"]);
    check(&files, "./sr", &[], expect!["@./src/"]);
}

#[test]
fn after_the_index_is_refreshed_new_files_are_offered_and_deleted_ones_are_not() {
    let root = root();
    let mut files = files(root.path(), &["a.rs"]);
    fs::remove_file(root.path().join("a.rs")).unwrap();
    fs::write(root.path().join("ab.rs"), "").unwrap();
    check(&files, "a", &[], expect![""]);
    walk(&mut files, Instant::now() + Duration::from_secs(3600));
    check(&files, "a", &[], expect!["@ab.rs"]);
}

#[test]
fn a_limited_number_of_matches_is_offered_with_the_best_first() {
    let root = root();
    let all: Vec<String> = (0..300).map(|n| format!("d/x{n}/config.rs")).collect();
    let mut paths: Vec<&str> = all.iter().map(String::as_str).collect();
    paths.push("config.rs");
    let files = files(root.path(), &paths);
    let places = files.search().places("config", &Near::default());
    assert_eq!(places.len(), ITEMS);
    assert_eq!(places[0].text, "@config.rs");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// A file can have any name. A mention that completion offers for the file is read back as the same file.
    #[test]
    fn a_completed_mention_is_read_back_as_the_same_file(
        name in "([ -.0-~]|[@\"`\\\\:~#%\\n\\ré日\u{a0}]){1,20}"
    ) {
        prop_assume!(name != "." && name != "..");
        let root = root();
        let files = files(root.path(), &[&format!("d/{name}")]);
        let places = files.search().places("d", &Near::default());
        let text = &places.iter().find(|it| it.path == format!("d/{name}")).unwrap().text;
        let found = mention::find(&format!("see {text} and more"));
        prop_assert_eq!(found.len(), 1);
        let file = root.path().join(&found[0].path);
        prop_assert!(file.is_file(), "{}", text);
    }

    /// One open file is in the home folder, the other one is elsewhere.
    #[test]
    fn a_completed_mention_of_an_open_file_outside_of_the_project_is_read_back_as_the_same_file(
        name in "([ -.0-~]|[@\"`\\\\:~#%\\n\\ré日\u{a0}]){1,20}"
    ) {
        prop_assume!(name != "." && name != "..");
        let (root, elsewhere) = (root(), root());
        let home = root.path().join("home");
        let project = root.path().join("project");
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(&project).unwrap();
        let reach = Reach::new(&Folders { root: project.clone(), ..Folders::default() });
        let files = Files::new(project, Some(home.clone()), reach);
        let open = vec![home.join(&name), elsewhere.path().join(&name)];
        for file in &open {
            fs::write(file, "").unwrap();
        }
        let near = Near { open: open.clone(), recent: Vec::new() };
        for (place, file) in files.search().places("", &near).iter().zip(open) {
            let found = mention::find(&format!("see {} and more", place.text));
            prop_assert_eq!(found.len(), 1);
            let path = &found[0].path;
            let path = path.strip_prefix("~/").map_or(path.into(), |it| home.join(it));
            prop_assert_eq!(path, file);
        }
    }
}
