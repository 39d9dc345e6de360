//! Rewinds of turns in which calls of several agents ran at the same time.

use super::kinds::{heads, take_all_back};
use super::*;
use crate::tasks::{has_got, task};
use std::fs;

/// A turn whose two subagents work at the same time, up to the parent's last reply.
fn work(scene: &Scene) {
    let calls = Reply::new().call("t1", "task", task("Edit.")).call("t2", "task", task("Wait."));
    scene.server.reply(calls);
    let edits = Reply::new()
        .call("e1", "edit", edit("a.txt", &[("l3", "L3")]))
        .call("e2", "edit", edit("both.txt", &[("l5", "L5")]))
        .call("e3", "edit", edit("latin.txt", &[("three", "3")]))
        .call("w1", "write", write("new.txt", "new\n"))
        .call("d1", "delete", json!({ "path": "gone.txt" }))
        .call("m1", "rename", json!({ "path": "old.txt", "to": "moved.txt" }));
    let gate = scene.server.hold(has_got("Edit.", 0), edits);
    let command = "for it in a.txt new.txt moved.txt latin.txt pair.txt; do echo x >>$it; done; \
        chmod 755 run.sh; printf '\\0two' >raw";
    scene.server.reply_to(
        has_got("Edit.", 6),
        Reply::new().call("s1", "shell", json!({ "command": command })),
    );
    let ended = scene.server.hold(has_got("Edit.", 7), Reply::said("Edited."));
    let wait = "echo b >>both.txt; printf '\\0one' >raw; touch started; until [ -e go ]; do sleep 0.02; done; \
        sed -i s/l1/L1/ pair.txt";
    scene.server.reply_to(
        has_got("Wait.", 0),
        Reply::new().call("s2", "shell", json!({ "command": wait })),
    );
    scene.server.reply_to(has_got("Wait.", 1), Reply::said("Waited."));
    scene.nvim.keys(":Caliban ask please<CR>");
    let path = |it: &str| scene.nvim.setup.path(it);
    scene.nvim.wait(|_| path("started").exists(), "the start of the second command");
    gate.finish();
    // the answer to the first command is asked for, so its changes are recorded
    scene.nvim.wait(
        |_| scene.server.requests().iter().any(has_got("Edit.", 7)),
        "the end of the first command",
    );
    fs::write(path("go"), "").unwrap();
    ended.finish();
    scene.server.reply(Reply::said("All is done."));
    scene.wait_idle("All is done.");
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
}

/// While the command of one subagent runs, another subagent edits, creates, deletes and renames files, and its command
/// changes them further. Both commands change `both.txt` and `raw`. The rewind brings all files back.
#[test]
fn a_rewind_tells_a_command_from_what_other_agents_changed_while_it_ran() {
    let raw = b"\xff\0raw".as_slice();
    let latin = b"one\ncaf\xe9\nthree\n".as_slice();
    let scene = Scene::start(|it| {
        ["a.txt", "both.txt", "gone.txt", "old.txt", "pair.txt"]
            .iter()
            .fold(it, |it, name| it.file(name, nine()))
            .file("raw", raw)
            .file("latin.txt", latin)
            .file("run.sh", "echo run\n")
            .file(".gitignore", "started\ngo\n")
            .config("{ mode = 'auto' }")
            .size(120, 40)
    });
    work(&scene);
    let end = scene.on_disk("both.txt").unwrap();
    assert_eq!(end, nine().replace("l5", "L5") + "b\n");
    preview(&scene, "1");
    let shown = heads(&scene);
    assert!(!shown.contains("not changed") && !shown.contains("later"), "{shown}");
    take_all_back(&scene);
    let path = |it: &str| scene.nvim.setup.path(it);
    for name in ["a.txt", "both.txt", "gone.txt", "old.txt", "pair.txt"] {
        assert_eq!(scene.on_disk(name), Some(nine()), "{name}");
    }
    assert_eq!((scene.on_disk("new.txt"), scene.on_disk("moved.txt")), (None, None));
    assert_eq!(fs::read(path("raw")).unwrap(), raw);
    assert_eq!(fs::read(path("latin.txt")).unwrap(), latin);
    assert_eq!(path("run.sh").metadata().unwrap().permissions().mode() & 0o777, 0o644);
}

/// One subagent edits and commits while the command of another one waits, which then merges a branch. The rewind takes
/// back the edit, and leaves what git has brought.
#[test]
fn a_rewind_leaves_what_git_brought_while_another_agent_edited() {
    let scene = super::merges::diverged_in("{ mode = 'auto' }");
    fs::write(scene.nvim.setup.path(".git/info/exclude"), "started\ngo\n").unwrap();
    let calls = Reply::new().call("t1", "task", task("Edit.")).call("t2", "task", task("Wait."));
    scene.server.reply(calls);
    let edits = Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")]));
    let gate = scene.server.hold(has_got("Edit.", 0), edits);
    let shell = |id: &str, it: &str| Reply::new().call(id, "shell", json!({ "command": it }));
    scene.server.reply_to(has_got("Edit.", 1), shell("s1", "git commit -qam mine"));
    let ended = scene.server.hold(has_got("Edit.", 2), Reply::said("Edited."));
    let wait = "touch started; until [ -e go ]; do sleep 0.02; done; git merge -q --no-edit other";
    scene.server.reply_to(has_got("Wait.", 0), shell("s2", wait));
    scene.server.reply_to(has_got("Wait.", 1), Reply::said("Waited."));
    scene.nvim.keys(":Caliban ask please<CR>");
    let path = |it: &str| scene.nvim.setup.path(it);
    scene.nvim.wait(|_| path("started").exists(), "the start of the second command");
    gate.finish();
    scene.nvim.wait(
        |_| scene.server.requests().iter().any(has_got("Edit.", 2)),
        "the end of the first command",
    );
    fs::write(path("go"), "").unwrap();
    ended.finish();
    scene.server.reply(Reply::said("All is done."));
    scene.wait_idle("All is done.");
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    let brought = nine().replace("l5", "other");
    assert_eq!(scene.on_disk("a.txt"), Some(brought.replace("l2", "L2")));
    preview(&scene, "1");
    take_all_back(&scene);
    assert_eq!(scene.on_disk("a.txt"), Some(brought));
}
