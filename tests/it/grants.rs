//! Tests permissions for a session: to which calls they apply, their list, and their revocation.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::review::scene::Scene;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

const SESSION: &str = ":Caliban approve session<CR>";
const ONCE: &str = ":Caliban approve<CR>";

/// A folder beside the project, with two files.
fn outside(scene: &Scene) -> PathBuf {
    let folder = scene.nvim.setup.dir().join("outside");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("a.txt"), "first\n").unwrap();
    fs::write(folder.join("b.txt"), "second\n").unwrap();
    folder
}

/// Lets the model make this call, and answers the question about it (if there is one) with these keys. Returns the
/// tool's answer, and whether there was a question.
pub(crate) fn call(scene: &Scene, tool: &str, input: Value, keys: &str) -> (String, bool) {
    let n = scene.server.requests().len();
    let (last, id) = (format!("Seen {n}."), format!("c{n}"));
    scene.server.reply(Reply::new().call(&id, tool, input));
    scene.server.reply(Reply::said(&last));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    let is_over = |nvim: &Nvim| nvim.transcript().contains(&last);
    scene.nvim.wait(|nvim| nvim.phase() == "asking" || is_over(nvim), "a question or an answer");
    let is_asked = !is_over(&scene.nvim);
    if is_asked {
        scene.nvim.wait_question();
        scene.nvim.keys(keys);
    }
    scene.wait_idle(&last);
    (scene.answer(n + 2, &id), is_asked)
}

pub(crate) fn is_asked(scene: &Scene, tool: &str, input: Value) -> bool {
    call(scene, tool, input, ONCE).1
}

fn path(of: &std::path::Path) -> Value {
    json!({ "path": of })
}

#[test]
fn a_permission_to_read_applies_to_one_tool_and_one_path() {
    let scene = Scene::start(|it| it);
    let folder = outside(&scene);
    let link = scene.nvim.setup.path("link");
    symlink(folder.join("a.txt"), &link).unwrap();
    let (said, was_asked) = call(&scene, "read", path(&folder.join("a.txt")), SESSION);
    assert!(said.contains("first") && was_asked, "{said}");
    let free = [
        json!({ "path": folder.join("a.txt"), "limit": 1 }),
        json!({ "path": "../outside/./a.txt" }),
        json!({ "path": "link" }),
    ];
    for input in free {
        assert!(!is_asked(&scene, "read", input.clone()), "{input}");
    }
    assert!(is_asked(&scene, "read", path(&folder.join("b.txt"))));
    assert!(is_asked(&scene, "list", path(&folder)));
    assert!(is_asked(&scene, "grep", json!({ "pattern": "f", "path": folder.join("a.txt") })));
    // The permission is for the file to which the link led, not for the link.
    fs::remove_file(&link).unwrap();
    symlink(folder.join("b.txt"), &link).unwrap();
    assert!(is_asked(&scene, "read", json!({ "path": "link" })));
}

/// The name of one file has a byte that is not UTF-8. The name of the other file is the text by which that byte is
/// shown.
#[test]
fn a_permission_for_a_path_does_not_apply_to_another_path_that_looks_the_same() {
    let scene = Scene::start(|it| it);
    let folder = outside(&scene);
    for (name, link) in [(&b"x\xff"[..], "bytes"), (&br"x\xff"[..], "letters")] {
        let file = folder.join(OsStr::from_bytes(name));
        fs::write(&file, "text\n").unwrap();
        symlink(&file, scene.nvim.setup.path(link)).unwrap();
    }
    assert!(call(&scene, "read", json!({ "path": "bytes" }), SESSION).1);
    assert!(!is_asked(&scene, "read", json!({ "path": "bytes" })));
    assert!(is_asked(&scene, "read", json!({ "path": "letters" })));
}

#[test]
fn permissions_are_listed_and_a_revoked_one_is_asked_for_again() {
    let scene = Scene::start(|it| it.size(160, 30));
    let folder = outside(&scene);
    let file = folder.join("a.txt");
    scene.nvim.keys(":Caliban<CR>");
    scene.nvim.wait_screen("Project");
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen(
        "You have allowed nothing for this session, and there are no permission rules.",
    );
    call(&scene, "read", path(&file), SESSION);
    let command = json!({ "command": "echo a\u{202e}b > out\necho two" });
    call(&scene, "shell", command.clone(), SESSION);
    call(&scene, "shell", json!({ "command": "echo once" }), ONCE);
    scene.nvim.lua("require('caliban').ask('/permissions')", &[]);
    scene.nvim.wait_screen("Permissions and rules. Choose one to revoke it:");
    scene.nvim.wait_screen(&format!("1: read may look at {}", file.display()));
    scene.nvim.wait_screen("2: run echo a[U+202E]b > out[U+000A]echo two");
    assert!(!scene.nvim.screen().contains("3: "), "{}", scene.nvim.screen());
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("You are asked again before: read may look at");
    // The permission is revoked, so changes of the file are not reported.
    fs::write(&file, "changed\n").unwrap();
    assert!(!scene.told_next().contains("changed"));
    assert!(!is_asked(&scene, "shell", command.clone()));
    assert!(is_asked(&scene, "read", path(&file)));
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen("1: run echo a");
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("You are asked again before: run echo a[U+202E]b");
    assert!(is_asked(&scene, "shell", command));
}

#[test]
fn permissions_for_a_session_end_when_the_program_is_restarted() {
    let scene = Scene::start(|it| it);
    let command = json!({ "command": "echo a" });
    call(&scene, "shell", command.clone(), SESSION);
    assert!(!is_asked(&scene, "shell", command.clone()));
    let Scene { server, nvim } = scene;
    let setup = nvim.setup.clone();
    nvim.quit_with(":qa<CR>");
    let scene = Scene { server, nvim: Nvim::start(&setup) };
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Seen ");
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen("You have allowed nothing for this session");
    assert!(is_asked(&scene, "shell", command));
}
