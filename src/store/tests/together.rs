//! Tests files of a project that several conversations write at the same time.

use super::*;

/// As many bytes as the files have at most before their older half is removed.
const HISTORY: usize = 400_000;
const LOG: usize = 1_000_000;

#[test]
fn several_conversations_shorten_the_files_of_their_project_at_the_same_time() {
    let place = place();
    let open = |n: usize| place.project.open(&SessionId(format!("s{n}"))).unwrap().store;
    let stores: Vec<Store> = (0..8).map(open).collect();
    for _ in 0..20 {
        place.write("history", "\"x\"\n".repeat(HISTORY / 4));
        place.write(".permissions.log", "line\n".repeat(LOG / 5));
        let written: Vec<io::Result<()>> = std::thread::scope(|scope| {
            let write = |it: &Store| {
                it.remember("prompt").and_then(|()| it.log_decisions(&["you allowed it".into()]))
            };
            let tasks: Vec<_> = stores.iter().map(|it| scope.spawn(move || write(it))).collect();
            tasks.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(written.iter().all(Result::is_ok), "{written:?}");
        for line in place.read("history").lines() {
            serde_json::from_str::<String>(line).unwrap();
        }
    }
    assert!(place.files().iter().all(|it| !it.contains(".tmp")), "{:?}", place.files());
}

#[test]
fn several_conversations_note_the_repository_of_their_project_at_the_same_time() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("one");
    fs::create_dir_all(root.join(".git/logs")).unwrap();
    let project = Project::new(&dir.path().join("data"), &root);
    fs::create_dir_all(project.dir()).unwrap();
    for round in 0..50 {
        fs::write(root.join(".git/logs/HEAD"), format!("0 {round}\n")).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| project.note_hints());
            }
        });
        let noted = fs::read(project.dir().join("hints")).unwrap();
        let noted: Value = serde_json::from_slice(&noted).unwrap();
        assert_eq!(noted["root"], json!(root));
    }
    let left = fs::read_dir(project.dir()).unwrap().flatten().map(|it| it.file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["hints"]);
}
