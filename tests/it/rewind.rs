//! `:Caliban rewind` takes back the changes of a turn, also in files that have changed since.

mod back;
mod branches;
mod commands;
mod encodings;
mod gone;
mod kept;
mod kinds;
mod late;
mod law;
mod merges;
mod moved;
mod one;
mod restarted;
mod reviews;
mod texts;
mod together;
mod turns;
mod unseen;
mod writers;

use crate::kit::reply::Reply;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, edit, nine, two_hunks, write};
use expect_test::expect;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

const MODE: &str = "{ mode = 'auto-edit' }";

/// A scene in auto-edit mode in which the user has accepted two written hunks of `a.txt`.
fn two_accepted() -> Scene {
    let scene = Scene::two_written(|it| it);
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_chat("You accepted 2 changes in a.txt.");
    scene
}

fn changed() -> String {
    nine().replace("l2", "L2").replace("l8", "L8\nL8b")
}

/// Chooses a turn of the list by its number, 1 for the newest, and waits for the preview.
fn preview(scene: &Scene, turn: &str) {
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.nvim.wait_screen("Type number and <Enter>");
    scene.nvim.keys(&format!("{turn}<CR>"));
    scene.nvim.wait_screen("take back all");
}

/// Takes back all changes of a turn, and waits for the notice.
fn rewind(scene: &Scene, turn: &str) {
    preview(scene, turn);
    let said = scene.nvim.transcript().matches("You took back").count();
    scene.nvim.keys("a");
    let more =
        |it: &crate::kit::nvim::Nvim| it.transcript().matches("You took back").count() > said;
    scene.nvim.wait(more, "the end of the rewind");
}

#[test]
fn a_rewind_takes_an_edit_back_in_its_buffer_and_on_disk() {
    let scene = Scene::two_written(|it| it);
    preview(&scene, "1");
    let shown = scene.nvim.buffer("/rewind");
    expect![[r#"
        diff a.txt is restored
        @@ -1,10 +1,9 @@
         l1
        -L2
        +l2
         l3
         l4
         l5
         l6
         l7
        -L8
        -L8b
        +l8
         l9"#]]
    .assert_eq(&shown);
    scene.nvim.keys("a");
    scene.wait_chat("You took back the changes of “please”:");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.nvim.buffer("/a.txt") + "\n", nine());
    assert_eq!(scene.pending(), 0);
    // Either of the two sentences may come first.
    let told = scene.told_next();
    for said in [
        "The user took back the changes of “please”:\na.txt is restored\n",
        "The user rejected 2 changes in a.txt: they are undone.\n",
    ] {
        assert!(told.contains(said), "{told}");
    }
    assert!(!told.contains("L8b"), "{told}");
    assert!(!scene.told_next().contains("took back"));
    // The rewind can be undone in the buffer.
    scene.nvim.keys(":buffer a.txt<CR>u");
    assert_eq!(scene.nvim.buffer("/a.txt") + "\n", changed());
}

#[test]
fn a_rewind_can_itself_be_rewound() {
    let scene = Scene::two_written(|it| it);
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(changed()));
    rewind(&scene, "3");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn a_rewind_takes_back_all_files_of_a_turn() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    let reply = Reply::new()
        .call("e1", "edit", edit("a.txt", &[("l2", "L2")]))
        .call("e2", "edit", edit("b.txt", &[("l3", "L3")]))
        .call("w1", "write", write("new/c.txt", "one\n"));
    scene.ask(reply);
    scene.wait_pending(3);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.on_disk("b.txt"), Some(nine()));
    assert_eq!(scene.on_disk("new/c.txt"), None);
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
    assert_eq!(scene.on_disk("new/c.txt").as_deref(), Some("one\n"));
}

#[test]
fn the_users_later_changes_elsewhere_are_kept() {
    let scene = two_accepted();
    scene.nvim.keys("5GAmine<Esc>:w<CR>");
    rewind(&scene, "1");
    scene.wait_chat("a.txt is restored, with the later changes kept");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l5", "l5mine")));
    // Rewinding the rewind brings the change back.
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(changed().replace("l5", "l5mine")));
}

#[test]
fn a_rewind_keeps_lines_that_the_user_changed_after_the_turn() {
    let scene = two_accepted();
    scene.nvim.keys("2GAmine<Esc>:w<CR>");
    rewind(&scene, "1");
    scene.wait_chat("a.txt is restored, except one place that changed later");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2mine")));
    preview(&scene, "2");
    scene.nvim.wait_screen("diff a.txt is not changed: the same lines");
    scene.nvim.keys("a");
    scene.nvim.wait_screen("Nothing was taken back: no change can be taken back here.");
}

#[test]
fn a_rewind_keeps_unsaved_text_unsaved() {
    let scene = two_accepted();
    scene.nvim.keys("5GAmine<Esc>");
    rewind(&scene, "1");
    scene.wait_chat("it is not saved: its buffer has unsaved changes");
    assert_eq!(scene.on_disk("a.txt"), Some(changed()));
    assert_eq!(scene.nvim.buffer("/a.txt") + "\n", nine().replace("l5", "l5mine"));
}

/// A turn that creates `new/c.txt`, deletes `run.sh` and renames `a.txt`.
fn whole_files(mode: &str) -> Scene {
    let dos = "\u{feff}one\r\ntwo\r\n";
    let scene = Scene::start(|it| {
        it.file("a.txt", nine()).file("run.sh", dos).mode("run.sh", 0o755).config(mode)
    });
    let reply = Reply::new()
        .call("w1", "write", write("new/c.txt", "one\n"))
        .call("d1", "delete", json!({"path": "run.sh"}))
        .call("r1", "rename", json!({"path": "a.txt", "to": "lib/b.txt"}));
    scene.ask(reply);
    scene
}

fn is_before(scene: &Scene) {
    let path = scene.nvim.setup.path("run.sh");
    assert_eq!(scene.on_disk("new/c.txt"), None);
    assert_eq!(scene.on_disk("run.sh").as_deref(), Some("\u{feff}one\r\ntwo\r\n"));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!((scene.on_disk("a.txt"), scene.on_disk("lib/b.txt")), (Some(nine()), None));
}

fn is_after(scene: &Scene) {
    assert_eq!(scene.on_disk("new/c.txt").as_deref(), Some("one\n"));
    assert_eq!(scene.on_disk("run.sh"), None);
    assert_eq!((scene.on_disk("a.txt"), scene.on_disk("lib/b.txt")), (None, Some(nine())));
}

/// Whether there is a folder of this name.
fn has_folder(scene: &Scene, path: &str) -> bool {
    scene.nvim.setup.path(path).is_dir()
}

#[test]
fn folders_the_turn_created_are_removed_if_empty() {
    let scene = Scene::start(|it| {
        let it = it.file("a.txt", nine()).file("there/d.txt", "d\n").config(MODE);
        std::fs::create_dir(it.path("empty")).unwrap();
        it
    });
    let reply = Reply::new()
        .call("w1", "write", write("new/deep/c.txt", "one\n"))
        .call("w2", "write", write("new/e.txt", "two\n"))
        .call("w3", "write", write("empty/f.txt", "three\n"))
        .call("w4", "write", write("kept/g.txt", "four\n"))
        .call("w5", "write", write("there/h.txt", "five\n"))
        .call("r1", "rename", json!({"path": "a.txt", "to": "lib/b.txt"}));
    scene.server.reply(reply);
    scene.ask_until(Reply::said("I see."), "I see.");
    std::fs::write(scene.nvim.setup.path("kept/mine.txt"), "mine\n").unwrap();
    for _ in 0..2 {
        rewind(&scene, "1");
        let names = ["new", "lib", "empty", "kept", "there"].map(|it| has_folder(&scene, it));
        assert_eq!(names, [false, false, true, true, true]);
        assert_eq!(scene.on_disk("kept/mine.txt").as_deref(), Some("mine\n"));
        rewind(&scene, "1");
        assert_eq!(scene.on_disk("new/deep/c.txt").as_deref(), Some("one\n"));
        assert_eq!(scene.on_disk("lib/b.txt"), Some(nine()));
    }
}

/// Turns are numbered from 1 again after `/clear`.
#[test]
fn turns_before_and_after_slash_clear_are_rewound_separately() {
    let scene = two_accepted();
    for (old, new) in [("l4", "L4"), ("l6", "L6")] {
        scene.nvim.lua("require('caliban').ask('/clear')", &[]);
        scene.nvim.wait(|it| !it.transcript().contains("I see."), "an empty transcript");
        if old == "l6" {
            scene.nvim.keys(":Caliban restart<CR>");
            scene.nvim.wait_phase("idle");
        }
        scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[(old, new)])));
        scene.ask_until(Reply::said("I see."), "I see.");
        scene.nvim.keys(":Caliban accept all<CR>");
        scene.wait_chat("You accepted");
    }
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.nvim.wait_screen("3: please  a.txt");
    scene.nvim.keys("<CR>");
    scene.nvim.wait_gone("Type number and <Enter>");
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(changed().replace("l4", "L4")));
    rewind(&scene, "3");
    assert_eq!(scene.on_disk("a.txt"), Some(changed()));
    rewind(&scene, "5");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn reviewed_creations_deletions_and_renamings_are_taken_back() {
    let scene = whole_files("{}");
    scene.wait_pending(3);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    is_after(&scene);
    rewind(&scene, "1");
    scene.wait_chat("a.txt is renamed back from lib/b.txt");
    is_before(&scene);
    rewind(&scene, "1");
    is_after(&scene);
}

#[test]
fn auto_edit_creations_deletions_and_renamings_are_taken_back() {
    let scene = whole_files(MODE);
    scene.server.reply(Reply::said("I see."));
    scene.wait_idle("I see.");
    is_after(&scene);
    rewind(&scene, "1");
    is_before(&scene);
    scene.wait_hunks(0);
    rewind(&scene, "1");
    is_after(&scene);
}

#[test]
fn a_file_without_a_buffer_is_restored_byte_for_byte() {
    let dos = "\u{feff}one\r\ntwo\r\nthree";
    let scene = Scene::start(|it| it.file("a.txt", dos).config(MODE));
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("two", "2\n2b")])));
    scene.ask_until(Reply::said("I see."), "I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(dos.replace("two", "2\r\n2b")));
    scene.nvim.keys(":Caliban accept all<CR>:bwipe a.txt<CR>");
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some(dos));
}

#[test]
fn a_rewind_can_take_back_one_file_alone_or_an_earlier_turn_alone() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()).config(MODE));
    let reply = Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])).call(
        "e2",
        "edit",
        edit("b.txt", &[("l2", "L2")]),
    );
    scene.server.reply(reply);
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.server.reply(Reply::new().call("e3", "edit", edit("a.txt", &[("l8", "L8")])));
    scene.server.reply(Reply::said("The second."));
    scene.nvim.keys(":Caliban ask again<CR>");
    scene.wait_idle("The second.");
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.nvim.wait_screen("1: again   a.txt    now");
    scene.nvim.wait_screen("2: please  2 files  now");
    scene.nvim.keys("2<CR>");
    scene.nvim.wait_screen("take back all");
    scene.nvim.keys("/diff b.txt<CR><CR>");
    scene.wait_chat("b.txt is restored\na.txt keeps its changes");
    let told = scene.told_next();
    assert!(told.contains("b.txt is restored\na.txt keeps its changes"), "{told}");
    assert_eq!(scene.on_disk("b.txt"), Some(nine()));
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2").replace("l8", "L8")));
    // a rewind is itself an entry of the list, so the first turn is now the third entry
    rewind(&scene, "3");
    scene.wait_chat("a.txt is restored, with the later changes kept");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l8", "L8")));
}

#[test]
fn a_rewind_takes_back_a_change_of_the_final_newline_alone() {
    for after in ["b\n", "b"] {
        let before = if after == "b" { "b\n" } else { "b" };
        let scene = Scene::start(|it| it.file("a.txt", before).config(MODE));
        scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[(before, after)])));
        scene.ask_until(Reply::said("I see."), "I see.");
        assert_eq!(scene.on_disk("a.txt").as_deref(), Some(after));
        rewind(&scene, "1");
        assert_eq!(scene.on_disk("a.txt").as_deref(), Some(before));
        scene.wait_hunks(0);
    }
}

/// A file that no rewind can take back is named to the user and to the model.
#[test]
fn what_a_rewind_leaves_is_told() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE));
    scene.nvim.keys(":edit a.txt<CR>");
    let reply = Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")]));
    scene.server.reply(reply.call("w1", "write", write("new.txt", "new\n")));
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_chat("You accepted the change in new.txt.");
    std::fs::write(scene.nvim.setup.path("new.txt"), "the user's\n").unwrap();
    rewind(&scene, "1");
    let left = "a.txt is restored\nnew.txt is not changed: it changed later";
    scene.wait_chat(left);
    let told = scene.told_next();
    assert!(told.contains(left), "{told}");
    assert_eq!(scene.on_disk("new.txt").as_deref(), Some("the user's\n"));
}
