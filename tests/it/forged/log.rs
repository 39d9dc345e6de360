//! Tests a checkpoint log that a stranger has written.

use super::*;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The only stored file content to which the log refers.
const TEXT: &str = "forged\n";

/// The file name under which Caliban stores `TEXT`: its hash.
fn name() -> String {
    use sha2::Digest;
    format!("{:x}", sha2::Sha256::digest(TEXT))
}

/// A line of the log: a change whose rewind creates the file `path` with the text `TEXT`.
fn made(n: u32, path: &Path, mode: u32) -> Value {
    json!({
        "id": n, "entry": 1, "turn": 1, "at": 4_000_000_000u64, "title": "please\n\u{1b}[31m", "cause": "edit",
        "path": path, "before": {"blob": name()}, "after": "absent", "mode": mode,
    })
}

/// Writes the log, and a stored file with the content `TEXT`. Returns their folder.
fn write_log(setup: &Setup, lines: &[Value]) -> PathBuf {
    let dir = setup.sessions().join("main.checkpoints");
    fs::create_dir_all(&dir).unwrap();
    let log = lines.iter().map(|it| it.to_string() + "\n").collect::<Vec<_>>().concat();
    fs::write(dir.join("changes"), log).unwrap();
    fs::write(dir.join(name()), TEXT).unwrap();
    dir
}

#[test]
fn a_fork_does_not_read_or_write_files_to_which_a_forged_checkpoint_log_refers() {
    let server = Server::start();
    let setup = one_turn(&server, Setup::new().size(120, 40).anthropic(&server));
    let mine = setup.dir().join("mine.txt");
    fs::write(&mine, "all of mine\n").unwrap();
    let to_it = format!("../../../../../{}", mine.file_name().unwrap().to_str().unwrap());
    let blob = json!({"blob": to_it});
    let change = json!({
        "id": 1, "entry": 1, "turn": 1, "at": 4_000_000_000u64, "title": "t", "cause": "edit",
        "path": setup.path("a.txt"), "before": blob, "after": blob,
    });
    let dir = write_log(&setup, &[change, made(2, &setup.path("b.txt"), 0o644)]);
    assert!(dir.join(&to_it).exists());
    let links = || fs::metadata(&mine).unwrap().nlink();
    assert_eq!(links(), 1);
    let nvim = opened(&setup);
    nvim.keys("i/fork<C-s>");
    nvim.wait_session("main-2");
    nvim.wait_phase("idle");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "all of mine\n");
    assert_eq!(links(), 1);
    let copied = setup.sessions().join("main-2.checkpoints");
    let mut there: Vec<String> = fs::read_dir(copied)
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    let mut expected = ["changes".to_owned(), name()];
    expected.sort();
    assert_eq!(there, expected);
}

/// Whichever turn the user chooses, nothing is written outside of the project, in `.git`, or with special permissions.
#[test]
fn a_rewind_by_a_forged_checkpoint_log_writes_only_files_of_the_project() {
    let server = Server::start();
    let setup = one_turn(&server, Setup::new().size(120, 40).anthropic(&server));
    let outside = setup.dir().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::create_dir_all(setup.path(".git/hooks")).unwrap();
    symlink(&outside, setup.path("link")).unwrap();
    let paths = [
        setup.path(".git/hooks/pre-commit"),
        setup.path(".GIT/x"),
        setup.path("a/../../outside/x"),
        outside.join("x"),
        setup.path("link/x"),
        setup.path("plain.txt"),
    ];
    let mut lines: Vec<Value> = (1..).zip(&paths).map(|(n, path)| made(n, path, 0o644)).collect();
    lines.push(made(50, &setup.path("setuid.txt"), 0o4777));
    lines.push(made(51, &setup.path("open.txt"), 0o777));
    lines.push(made(u32::MAX, &setup.path("last.txt"), 0o644));
    write_log(&setup, &lines);
    let nvim = opened(&setup);
    nvim.keys("<Esc>:Caliban rewind<CR>");
    nvim.wait_screen("Type number and <Enter>");
    assert!(!nvim.screen().contains("[31m"));
    nvim.keys("1<CR>");
    nvim.wait_screen("take back all");
    nvim.keys("a");
    nvim.wait_transcript("You took back");
    assert_eq!(setup.on_disk("plain.txt").as_deref(), Some(TEXT));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert_eq!(fs::read_dir(setup.path(".git/hooks")).unwrap().count(), 0);
    for path in [".GIT", "setuid.txt", "last.txt"] {
        assert!(!setup.path(path).exists(), "{path}");
    }
    let mode = fs::metadata(setup.path("open.txt")).map(|it| it.permissions().mode() & 0o7777);
    assert!(mode.is_ok_and(|it| it & 0o7000 == 0));
}

/// The stored text is replaced by a link, then by a pipe.
#[test]
fn checkpoint_contents_that_are_not_regular_files_are_not_read() {
    let server = Server::start();
    let setup = one_turn(&server, Setup::new().size(120, 40).anthropic(&server));
    let dir = write_log(&setup, &[made(1, &setup.path("b.txt"), 0o644)]);
    let outside = setup.dir().join("outside.txt");
    fs::write(&outside, TEXT).unwrap();
    fs::remove_file(dir.join(name())).unwrap();
    symlink(&outside, dir.join(name())).unwrap();
    let nvim = opened(&setup);
    nvim.keys("<Esc>:Caliban rewind<CR>");
    nvim.wait_screen("Type number and <Enter>");
    nvim.keys("1<CR>");
    nvim.wait_screen("b.txt is not changed");
    drop(nvim);
    fs::remove_file(dir.join(name())).unwrap();
    let made = std::process::Command::new("mkfifo").arg(dir.join(name())).status().unwrap();
    assert!(made.success());
    let nvim = opened(&setup);
    nvim.keys("<Esc>:Caliban rewind<CR>");
    nvim.wait_screen("Type number and <Enter>");
    nvim.keys("1<CR>");
    nvim.wait_screen("b.txt is not changed");
}
