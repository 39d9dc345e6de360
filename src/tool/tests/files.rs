use super::comment::Comment;
use super::*;
use crate::edit::{Proposal, resolve};
use crate::event::TurnId;
use crate::text::Text;
use crate::tool::disk::Disk;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

#[tokio::test]
async fn a_file_is_read_with_line_numbers() {
    let room = room();
    room.file("a.txt", "one\ntwo\nthree");
    room.file("dos.txt", "\u{feff}x\r\ny\r\n");
    room.file("empty", "");
    let all = [
        json!({ "path": "a.txt" }),
        json!({ "path": "a.txt", "offset": 2, "limit": 1 }),
        json!({ "path": "a.txt", "offset": 9 }),
        json!({ "path": "dos.txt" }),
        json!({ "path": "empty" }),
    ];
    room.check(
        "read",
        &all,
        &expect![[r#"
        > {"path":"a.txt"}
        (3 lines)
        1	one
        2	two
        3	three
        [no newline at the end of the file]
        > {"path":"a.txt","offset":2,"limit":1}
        (1 line)
        2	two
        [lines 2-2 of 3; go on with offset 3]
        > {"path":"a.txt","offset":9}
        ! (failed)
        offset: the file has 3 lines, so 9 is past its end.
        > {"path":"dos.txt"}
        (2 lines)
        1	x
        2	y
        > {"path":"empty"}
        (empty)
        [the file is empty]
    "#]],
    )
    .await;
}

#[tokio::test]
async fn read_names_the_reason_why_a_file_cannot_be_read() {
    let room = room();
    room.file("a.txt", "one\n");
    room.file("longish.txt", "one\n");
    room.file("binary", b"a\0b");
    room.file("latin", b"\xe9t\xe9");
    let big = fs::File::create(room.desk.root.join("big")).unwrap();
    big.set_len(LIMIT * 2).unwrap();
    let paths = ["binary", "latin", ".", "A.rs", "longish.md", "none", "/dev/null", "big"];
    let all = paths.map(|path| json!({ "path": path }));
    room.check("read", &all, &expect![[r#"
        > {"path":"binary"}
        ! (failed)
        path: `binary` is not a text file: it contains NUL bytes.
        > {"path":"latin"}
        ! (failed)
        path: `latin` is not UTF-8 text (it may be Latin-1 or UTF-16). Use shell (file, iconv) to look at it.
        > {"path":"."}
        ! (failed)
        path: `.` is a folder. Use list.
        > {"path":"A.rs"}
        ! (failed)
        path: `A.rs` does not exist. Near it: a.txt.
        > {"path":"longish.md"}
        ! (failed)
        path: `longish.md` does not exist. Near it: longish.txt.
        > {"path":"none"}
        ! (failed)
        path: `none` does not exist. Use glob or list to find it.
        > {"path":"/dev/null"}
        ! (failed)
        path: `/dev/null` cannot be read: it is a device, a pipe or a socket.
        > {"path":"big"}
        ! (failed)
        path: `big` has 100.0 MB, more than the 50.0 MB that can be read. Use grep, or shell with head, tail or sed.
    "#]]).await;
}

#[tokio::test]
async fn read_returns_a_long_file_in_parts_with_the_next_offset() {
    let room = room();
    let lines: Vec<String> = (1..=3_000).map(|n| format!("line {n}\n")).collect();
    room.file("long.txt", lines.concat());
    room.file("wide.txt", "é".repeat(1_000_000));
    room.file("heavy.txt", format!("{}\n", "x".repeat(999)).repeat(100));
    let long = room.run("read", json!({ "path": "long.txt" })).await;
    assert_eq!(long.text.lines().count(), 2_001);
    assert!(long.text.ends_with("\n[lines 1-2000 of 3000; go on with offset 2001]\n"));
    let wide = room.run("read", json!({ "path": "wide.txt" })).await;
    assert!(wide.text.contains("é… [998000 more characters]\n"));
    let heavy = room.run("read", json!({ "path": "heavy.txt" })).await;
    assert!(heavy.text.ends_with("\n[lines 1-49 of 100; go on with offset 50]\n"));
}

fn tree(room: &Room) {
    room.file(".git/config", "");
    room.file(".gitignore", "target/\n*.log\n");
    room.file("target/out.rs", "");
    room.file("src/main.rs", "fn main() {}\n");
    room.file("src/deep/a.rs", "x".repeat(2_345));
    room.file("a.log", "");
    room.file("read me.md", "hi");
}

#[tokio::test]
async fn list_shows_the_entries_of_a_folder_with_their_sizes() {
    let room = room();
    tree(&room);
    let all = [
        json!({}),
        json!({ "path": "src" }),
        json!({ "path": "src/main.rs" }),
        json!({ "path": "nowhere" }),
    ];
    room.check(
        "list",
        &all,
        &expect![[r#"
        > {}
        (3 entries)
        .gitignore  14 B
        read me.md  2 B
        src/
        > {"path":"src"}
        (2 entries)
        deep/
        main.rs  13 B
        > {"path":"src/main.rs"}
        ! (failed)
        path: `src/main.rs` is a file, not a folder. Use read for files, glob to find them.
        > {"path":"nowhere"}
        ! (failed)
        path: `nowhere` does not exist. Use read for files, glob to find them.
    "#]],
    )
    .await;
    for n in 0..501 {
        room.file(&format!("many/{n:03}.txt"), "");
    }
    let many = room.run("list", json!({ "path": "many" })).await.text;
    assert!(
        many.ends_with(
            "499.txt  0 B\n[the first 500 of 501: use glob with a pattern for the rest]"
        )
    );
    let many = room.run("glob", json!({ "pattern": "many/*" })).await.text;
    assert_eq!(many.lines().count(), 201);
}

#[tokio::test]
async fn glob_finds_files_by_pattern_newest_first() {
    let room = room();
    tree(&room);
    for (path, seconds) in [("src/main.rs", 1), ("src/deep/a.rs", 2)] {
        let file = fs::File::options().write(true).open(room.desk.root.join(path)).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        file.set_modified(time).unwrap();
    }
    let all = [
        json!({ "pattern": "*.rs" }),
        json!({ "pattern": "src/*.{rs,c}" }),
        json!({ "pattern": "./deep/*", "path": "src" }),
        json!({ "pattern": room.desk.root.join("src/**/*.rs") }),
        json!({ "pattern": "*.py" }),
        json!({ "pattern": "src/[" }),
    ];
    room.check("glob", &all, &expect![[r#"
        > {"pattern":"*.rs"}
        (2 files)
        src/deep/a.rs
        src/main.rs
        > {"pattern":"src/*.{rs,c}"}
        (1 file)
        src/main.rs
        > {"pattern":"./deep/*","path":"src"}
        (1 file)
        src/deep/a.rs
        > {"pattern":"BASE/project/src/**/*.rs"}
        (2 files)
        src/deep/a.rs
        src/main.rs
        > {"pattern":"*.py"}
        (0 files)
        No file in . matches `*.py` (ignored files are left out).
        > {"pattern":"src/["}
        ! (failed)
        pattern: `src/[` is not a glob: unclosed character class; missing ']'. Example: src/**/*.{rs,toml}
    "#]]).await;
}

/// A workspace in which some files have changed buffers, as in an editor.
struct Buffers {
    disk: Disk,
    changed: BTreeMap<PathBuf, Source>,
}

impl Workspace for Buffers {
    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Source, Unreadable>> {
        match self.changed.get(path) {
            Some(source) => std::future::ready(Ok(source.clone())).boxed(),
            None => self.disk.read(path),
        }
    }
    fn propose(&self, turn: TurnId, proposals: Vec<Proposal>) -> BoxFuture<'_, Vec<Arrival>> {
        self.disk.propose(turn, proposals)
    }
    fn save(&self, _paths: Vec<PathBuf>, _agreed: Vec<PathBuf>) -> BoxFuture<'_, Vec<PathBuf>> {
        std::future::ready(Vec::new()).boxed()
    }
    fn consult(&self, question: lsp::Question) -> BoxFuture<'_, Result<lsp::Findings, String>> {
        self.disk.consult(question)
    }

    fn changed(&self) -> BoxFuture<'_, Vec<PathBuf>> {
        std::future::ready(self.changed.keys().cloned().collect()).boxed()
    }

    fn stamps(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<Stamp>> {
        self.disk.stamps(paths)
    }
    fn scene(&self, _: scene::Part) -> BoxFuture<'_, Result<scene::Scene, String>> {
        scene::absent()
    }
    fn comment(&self, _: Vec<Comment>) {}
    fn uncomment(&self) {}
    fn model_knows(&self, path: &Path, text: &Text) {
        self.disk.model_knows(path, text);
    }
    fn halt(&self, turn: TurnId) {
        self.disk.halt(turn);
    }
    fn restore(&self, change: Proposal) -> BoxFuture<'_, Result<String, String>> {
        self.disk.restore(change)
    }
    fn refresh(&self, path: PathBuf) -> BoxFuture<'_, ()> {
        self.disk.refresh(path)
    }
}

fn with_buffers(room: &mut Room, buffers: &[(&str, &str, u32)]) {
    let project = room.desk.root.clone();
    let source = |text: &str, pending| Source { text: Text::new(text), pending };
    let changed: BTreeMap<_, _> = buffers
        .iter()
        .map(|(path, text, pending)| (project.join(path), source(text, *pending)))
        .collect();
    room.desk.workspace =
        Arc::new(Buffers { changed, disk: Disk { root: project, is_apart: false } });
}

#[tokio::test]
async fn grep_finds_matching_lines_and_skips_ignored_and_binary_files() {
    let room = room();
    room.file(".gitignore", "ignored.txt\n");
    room.file("ignored.txt", "needle\n");
    room.file("a.txt", "one\nNeedle two\nthree\n");
    room.file("b/b.rs", "x\r\nneedle\r\ny\r\n");
    room.file("binary", b"needle\0needle\n");
    let all = [
        json!({ "pattern": "needle" }),
        json!({ "pattern": "needle", "ignore_case": true, "glob": "*.txt", "context": 1 }),
        json!({ "pattern": "needle", "path": "b/b.rs" }),
        json!({ "pattern": "none" }),
        json!({ "pattern": "f(" }),
        json!({ "pattern": "a\\nb" }),
        json!({ "pattern": "x", "path": "nowhere" }),
    ];
    room.check("grep", &all, &expect![[r#"
        > {"pattern":"needle"}
        (1 match)
        b/b.rs:2: needle
        > {"pattern":"needle","ignore_case":true,"glob":"*.txt","context":1}
        (1 match)
        a.txt-1- one
        a.txt:2: Needle two
        a.txt-3- three
        > {"pattern":"needle","path":"b/b.rs"}
        (1 match)
        b/b.rs:2: needle
        > {"pattern":"none"}
        (0 matches)
        No match for `none` in . (ignored and binary files are left out).
        > {"pattern":"f("}
        ! (failed)
        pattern: not a regular expression: regex parse error:
            (?:f()
            ^
        error: unclosed group
        Write \( \[ \{ \. for the characters themselves. No look-around, no backreferences, no line breaks.
        > {"pattern":"a\\nb"}
        ! (failed)
        pattern: not a regular expression: the literal "\n" is not allowed in a regex
        Write \( \[ \{ \. for the characters themselves. No look-around, no backreferences, no line breaks.
        > {"pattern":"x","path":"nowhere"}
        ! (failed)
        path: `nowhere` does not exist. Use glob or list to find it.
    "#]]).await;
}

#[tokio::test]
async fn grep_shows_a_limited_number_of_matches_and_characters() {
    let room = room();
    room.file("min.js", format!("{}needle{}", "a".repeat(3_000), "b".repeat(3_000)));
    let wide = room.run("grep", json!({ "pattern": "needle" })).await.text;
    assert!(wide.len() < 600 && wide.contains("needle"), "{wide}");
    room.file("many.txt", "hit\n".repeat(150));
    let many = room.run("grep", json!({ "pattern": "hit" })).await;
    assert_eq!((many.text.lines().count(), many.summary.as_str()), (101, "100+ matches"));
    room.file("many.txt", "hit\n".repeat(100));
    assert_eq!(room.run("grep", json!({ "pattern": "hit" })).await.summary, "100 matches");
}

#[tokio::test]
async fn grep_shows_the_first_matches_in_the_order_of_paths() {
    let mut room = room();
    let files: Vec<String> = (0..40).map(|n| format!("{}/{n:02}.txt", n % 7)).collect();
    for name in &files {
        room.file(name, "before\nhit\nhit\nhit\nafter\n");
    }
    room.file("3/.env", "hit\n");
    room.file("9/.env", "hit\n");
    with_buffers(&mut room, &[("2/30.txt", "hit\n", 2), ("6/34.txt", "hit\n", 2)]);
    let found = room.run("grep", json!({ "pattern": "hit", "context": 1 })).await;
    assert_eq!(found.summary, "100+ matches");
    let mut paths: Vec<_> = files.iter().collect();
    paths.sort();
    let mut hits = paths.iter().flat_map(|path| {
        let lines = if *path == "2/30.txt" { 1..=1 } else { 2..=4 };
        lines.map(move |line| format!("{path}:{line}: hit"))
    });
    let first: Vec<String> = hits.by_ref().take(100).collect();
    let shown: Vec<&str> = found.text.lines().filter(|it| it.ends_with(": hit")).collect();
    assert_eq!(shown, first);
    // the lines around the matches that are shown, and nothing of what comes after them
    let last = hits.next().unwrap();
    let last = last.split(':').next().unwrap();
    assert!(found.text.contains(&format!("{last}-1- before")), "{}", found.text);
    assert!(!found.text.contains("-5- after\n[the first"), "{}", found.text);
    assert!(found.text.contains("[2/30.txt: 2 hunks pending"), "{}", found.text);
    assert!(!found.text.contains("6/34.txt"), "{}", found.text);
    assert!(
        found.text.contains("[1 file that may hold keys was not searched: 3/.env"),
        "{}",
        found.text
    );
}

#[tokio::test]
async fn texts_changed_in_the_editor_are_read_and_searched() {
    let mut room = room();
    room.file("a.txt", "needle on disk\n");
    with_buffers(&mut room, &[("a.txt", "changed needle\n", 2), ("new.txt", "needle\n", 0)]);
    let needle = json!({ "pattern": "needle", "glob": "*.txt" });
    room.check(
        "grep",
        &[needle],
        &expect![[r#"
        > {"pattern":"needle","glob":"*.txt"}
        (2 matches)
        a.txt:1: changed needle
        new.txt:1: needle
        [a.txt: 2 hunks pending, searched as shown in the editor]
    "#]],
    )
    .await;
    room.check(
        "read",
        &[json!({ "path": "a.txt" })],
        &expect![[r#"
        > {"path":"a.txt"}
        (1 line)
        1	changed needle
        [2 hunks pending: shown here, not yet accepted by the user]
    "#]],
    )
    .await;
}

#[tokio::test]
async fn an_edit_is_proposed_to_the_workspace_and_refused_if_the_files_text_has_changed() {
    let room = room();
    room.file("a.txt", "one\r\ntwo\r\n");
    let call = call(
        "edit",
        json!({ "path": "a.txt", "edits": [{ "old": "two", "new": "2", "everywhere": "false" }] }),
    );
    let edits = read(&room.desk, &call).edits(&room.desk).unwrap().edits;
    let path = edits[0].path.clone();
    let before = room.desk.workspace.read(&path).await.unwrap().text;
    let mut after = Some(before.clone());
    resolve(&mut after, &edits[0].change).unwrap();
    let after = after.unwrap();
    let proposal = Proposal {
        parts: vec![],
        path: path.clone(),
        before: Some(before),
        after: after.clone(),
        at_once: true,
        whole: None,
        is_binary: false,
    };
    let propose = || room.desk.workspace.propose(TurnId(1), vec![proposal.clone()]);
    let written = Arrival::Written { hunks: 1, unsaved: String::new(), text: None };
    assert_eq!(propose().await, [written]);
    assert_eq!(fs::read(&path).unwrap(), b"one\r\n2\r\n");
    assert_eq!(propose().await, [Arrival::Moved(Some(after))]);
    assert!(run(&room.desk, &call).await.answer.failed);
}
