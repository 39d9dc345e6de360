//! Files that the model's own command changes: the buffers that show them have the change as soon as the command has
//! ended, with the text that the user has typed.

use super::scene::{Scene, edit, nine};
use crate::kit::reply::Reply;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::json;

fn config(mode: &str) -> String {
    format!("{{ mode = '{mode}', sandbox = false }}")
}

fn start(mode: &str, setup: impl FnOnce(Setup) -> Setup) -> Scene {
    let scene = Scene::start(|it| setup(it.file("a.txt", nine()).config(&config(mode))));
    scene.nvim.keys(":edit a.txt<CR>");
    scene
}

fn shell(call: &str, command: &str) -> Reply {
    Reply::new().call(call, "shell", json!({ "command": command }))
}

/// The model runs a command, to its end, and the turn ends.
fn run(scene: &Scene, command: &str) {
    scene.ask(shell("s1", command));
    scene.server.reply(Reply::said("It ran."));
    approve(scene);
    scene.wait_idle("It ran.");
}

fn approve(scene: &Scene) {
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
}

fn shown(scene: &Scene) -> String {
    scene.nvim.buffer("/a.txt") + "\n"
}

fn modified(scene: &Scene) -> bool {
    scene.nvim.lua_json("return vim.bo[vim.fn.bufnr('a.txt')].modified") == true
}

#[test]
fn a_file_in_a_window_is_read_again_after_a_command() {
    let scene = start("ask", |it| it.file("b.txt", nine()));
    scene.nvim.keys(":split b.txt<CR>");
    run(&scene, "sed -i s/l2/L2/ a.txt b.txt");
    let text = nine().replace("l2", "L2");
    assert_eq!((shown(&scene), modified(&scene)), (text.clone(), false));
    assert_eq!(scene.nvim.buffer("/b.txt") + "\n", text);
}

/// A user who has set 'noautoread' is asked by Neovim.
#[test]
fn a_file_is_not_read_again_without_autoread() {
    let scene = start("ask", |it| it.before("vim.o.autoread = false"));
    run(&scene, "sed -i s/l2/L2/ a.txt");
    assert_eq!(shown(&scene), nine());
}

#[test]
fn the_hunks_under_review_get_what_a_command_has_changed() {
    for mode in ["ask", "auto-edit"] {
        let scene = start(mode, |it| it);
        scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
        if mode == "ask" {
            scene.wait_pending(1);
            scene.nvim.command("Caliban stop");
            scene.wait_phase("idle");
        } else {
            scene.server.reply(Reply::said("I see."));
            scene.wait_idle("I see.");
        }
        run(&scene, "sed -i s/l8/L8/ a.txt");
        assert_eq!(shown(&scene), nine().replace("l2", "L2").replace("l8", "L8"), "{mode}");
        assert_eq!(scene.pending(), 1);
    }
}

#[test]
fn text_that_the_user_has_not_saved_is_kept_with_what_a_command_has_changed() {
    let scene = start("ask", |it| it);
    scene.nvim.keys("5GAmine<Esc>");
    run(&scene, "sed -i s/l2/L2/ a.txt");
    let both = nine().replace("l2", "L2").replace("l5", "l5mine");
    assert_eq!((shown(&scene), modified(&scene)), (both.clone(), true));
    // Neovim does not ask about the change.
    scene.nvim.keys(":w<CR>");
    scene.nvim.wait(|_| scene.on_disk("a.txt").as_ref() == Some(&both), "the user's write");
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    // One step of undo takes the command's change back, the next one the user's.
    scene.nvim.keys("u");
    assert_eq!(shown(&scene), nine().replace("l5", "l5mine"));
}

/// The user has typed while the command ran.
#[test]
fn text_that_is_typed_while_a_command_runs_is_kept() {
    let scene = start("ask", |it| it);
    let command = "sed -n 1p wait; sed -i s/l2/L2/ a.txt";
    let pipe = std::process::Command::new("mkfifo").arg(scene.nvim.setup.path("wait")).status();
    assert!(pipe.unwrap().success());
    scene.server.reply(shell("s1", command));
    scene.server.reply(Reply::said("It ran."));
    scene.nvim.keys(":Caliban ask please<CR>");
    approve(&scene);
    scene.nvim.wait_phase("running");
    scene.nvim.keys("5GAmine<Esc>");
    // the command waits until somebody writes
    std::fs::write(scene.nvim.setup.path("wait"), "go\n").unwrap();
    scene.wait_idle("It ran.");
    assert_eq!(shown(&scene), nine().replace("l2", "L2").replace("l5", "l5mine"));
}

#[test]
fn the_model_hears_what_is_true_of_a_file_with_unsaved_text() {
    let scene = start("ask", |it| it);
    scene.server.reply(Reply::new().call("r1", "read", json!({ "path": "a.txt" })));
    scene.server.reply(Reply::said("Read."));
    scene.nvim.ask("read", "Read.");
    scene.nvim.keys("5GAmine<Esc>");
    let n = scene.server.requests().len();
    scene.server.reply(shell("s1", "sed -i s/l2/L2/ a.txt"));
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("L2", "two")])));
    scene.nvim.keys(":Caliban ask go on<CR>");
    approve(&scene);
    scene.wait_pending(1);
    let requests = scene.server.requests();
    expect![[r#"
        <context kind="changes" path="a.txt">
        The file changed since you saw it last:
        @@ -2,7 +2,7 @@
         l2
         l3
         l4
        -l5
        +l5mine
         l6
         l7
         l8
        </context>
        go on
        ---
        [no output]
        [these files have unsaved changes in the editor, which the command did not see: a.txt]
        ---
        <context kind="changes" path="a.txt">
        The file changed while your command ran:
        @@ -1,5 +1,5 @@
         l1
        -l2
        +L2
         l3
         l4
         l5mine
        </context>"#]]
    .assert_eq(&format!(
        "{}\n---\n{}\n---\n{}",
        requests[n].last_user_text(),
        requests[n + 1].answer("s1"),
        requests[n + 1].last_user_text()
    ));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    expect![[r#"
        The user accepted the change in a.txt.
        a.txt is not saved (it has other unsaved changes): the changes are not on disk yet."#]]
    .assert_eq(&scene.answer(n + 3, "e1"));
}

/// What both have changed stays as the user has typed it, and is told.
#[test]
fn a_line_that_the_user_and_a_command_have_changed_stays_the_users() {
    let scene = start("ask", |it| it);
    scene.nvim.keys("2GAmine<Esc>");
    run(&scene, "sed -i 's/l2/L2/; s/l8/L8/' a.txt");
    let text = nine().replace("l2", "l2mine").replace("l8", "L8");
    assert_eq!((shown(&scene), modified(&scene)), (text, true));
    expect!["a.txt: 1 of the changes that the model's command has made on disk conflicts with your unsaved text, which stays in the buffer: line 2."].assert_eq(&scene.said());
    // Neovim asks, because a write would lose the command's line
    scene.nvim.keys(":w<CR>");
    scene.nvim.wait_screen("Do you really want to write to it (y/n)?");
}

#[test]
fn the_users_text_outlives_a_refused_write_and_a_decision() {
    for keys in [":Caliban accept all<CR>", "2G\\r"] {
        let scene = start("auto-edit", |it| it);
        scene.nvim.keys("5GAmine<Esc>");
        let edits = edit("a.txt", &[("l2", "L2"), ("l8", "L8")]);
        scene.server.reply(Reply::new().call("e1", "edit", edits));
        scene.ask_until(Reply::said("I see."), "I see.");
        scene.wait_hunks(2);
        // another program changes the file, and the user does not let Neovim write over it
        std::fs::write(scene.nvim.setup.path("a.txt"), nine().replace("l4", "theirs")).unwrap();
        scene.nvim.keys(":w<CR>");
        scene.nvim.wait_screen("Do you really want to write to it (y/n)?");
        scene.nvim.keys("n<CR>");
        scene.nvim.wait(|it| !it.is_blocked(), "the end of the question");
        scene.nvim.keys(keys);
        let left = usize::from(!keys.starts_with(':'));
        scene.wait_hunks(left);
        let text = nine().replace("l4", "theirs").replace("l5", "l5mine").replace("l8", "L8");
        let text = if left == 0 { text.replace("l2", "L2") } else { text };
        assert_eq!(shown(&scene), text, "{keys}");
        assert!(modified(&scene));
    }
}

/// What another program has written in the place of a hunk is not decided.
#[test]
fn no_hunk_is_accepted_that_the_user_has_not_seen() {
    let scene = Scene::two_written(|it| it);
    let both = scene.on_disk("a.txt").unwrap();
    std::fs::write(scene.nvim.setup.path("a.txt"), both.replace("L2", "EVIL")).unwrap();
    scene.nvim.keys("2G\\a");
    scene.nvim.wait(|it| it.buffer("/a.txt").contains("EVIL"), "the change on disk");
    assert_eq!(scene.pending(), 1);
    expect!["Nothing is decided yet: changes of a.txt have become others on disk. Look at them, and decide again."].assert_eq(&scene.said());
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "EVIL")));
}

/// Several files, committed.
fn committed() -> Scene {
    let files =
        |it: Setup| it.file("b.txt", nine()).file("c.txt", nine()).file("d.c", b"caf\xe9\n");
    let scene = start("auto-edit", |it| files(it).size(120, 60));
    let git = "git init -q && git add . && git -c user.name=m -c user.email=m@m commit -qm one";
    let done = std::process::Command::new("sh")
        .args(["-c", git])
        .current_dir(scene.nvim.setup.path(""))
        .status();
    assert!(done.unwrap().success());
    scene
}

/// A change of each kind.
fn every_kind() -> Reply {
    Reply::new()
        .call("e1", "edit", edit("a.txt", &[("l2", "L2")]))
        .call("w1", "write", super::scene::write("pkg/new.txt", "new\n"))
        .call("w2", "write", super::scene::write("pkg/empty.txt", ""))
        .call("d1", "delete", json!({ "path": "d.c" }))
        .call("d2", "delete", json!({ "path": "b.txt" }))
        .call("m1", "rename", json!({ "path": "c.txt", "to": "docs/c.txt" }))
}

/// Work of the model's that a later command of the model's takes back.
#[test]
fn a_stash_takes_back_what_the_review_shows_and_all_of_it_is_told() {
    let scene = committed();
    scene.server.reply(every_kind());
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(6);
    let n = scene.server.requests().len();
    run(&scene, "git -c user.name=m -c user.email=m@m stash -u");
    let told = scene.request(n + 2).last_user_text();
    for said in [
        "The change in a.txt was undone on disk: it is not in the file.",
        "These files changed while your command ran: a.txt, b.txt, c.txt, d.c, docs/c.txt, pkg/empty.txt. \
         Read them again",
        "<context kind=\"changes\" path=\"pkg/new.txt\">\nThe file changed while your command ran:\nIt does not exist now.",
    ] {
        assert!(told.contains(said), "{told}");
    }
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    expect![[r#"
        a.txt: 1 undone on disk
        pkg/new.txt was deleted or moved on disk while you were reviewing it. The buffer keeps its text.
        pkg/empty.txt was deleted or moved on disk while you were reviewing it. The buffer keeps its text.
        docs/c.txt was deleted or moved on disk while you were reviewing it. The buffer keeps its text.
        5 files: 1 hunk, 2 deletions, 1 renaming, 1 empty file accepted, 3 files not saved"#]]
    .assert_eq(&scene.said());
    expect![[r#"
        <notice>
        The user accepted the change in pkg/new.txt.
        pkg/new.txt is not saved (it was deleted or moved on disk): the changes are not on disk yet.
        </notice>
        <notice>
        The user accepted the change in pkg/empty.txt.
        pkg/empty.txt is not saved (it was deleted or moved on disk): the changes are not on disk yet.
        </notice>
        <notice>
        The user accepted the deletion: d.c is deleted.
        </notice>
        <notice>
        The user accepted the deletion: b.txt is deleted.
        </notice>
        <notice>
        The user accepted the renaming of c.txt to docs/c.txt, but it is no longer so: there is no file docs/c.txt any more. c.txt exists again.
        Its buffer still holds its text, unsaved.
        </notice>
        <context kind="changes" path="docs/c.txt">
        The file changed since you saw it last:
        It does not exist now.
        </context>
        <context kind="changes" path="pkg/empty.txt">
        The file changed since you saw it last:
        It does not exist now.
        </context>
        <context kind="changes" path="pkg/new.txt">
        The file changed since you saw it last:
        It does not exist now.
        </context>
        and?"#]].assert_eq(&scene.told_next());
}

/// A git command of the model's.
fn git(line: &str) -> String {
    format!("git -c user.name=m -c user.email=m@m {line}")
}

/// The model's command changes git's index, not the file that the user has saved before it.
#[test]
fn a_command_that_stages_a_file_of_the_user_s_is_not_said_to_change_it() {
    let scene = committed();
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(1);
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    scene.nvim.keys(":edit a.txt<CR>9GA mine<Esc>:write<CR>");
    let n = scene.server.requests().len();
    run(&scene, &format!("{}; chmod +x a.txt", git("add a.txt")));
    let told = scene.request(n + 2).last_user_text();
    assert!(!told.contains("while your command ran"), "{told}");
    assert!(scene.request(n + 1).last_user_text().contains("+l9 mine"));
}

/// The row of the first call of `edit` on the screen, from the path on.
fn beside(scene: &Scene) -> String {
    let screen = scene.nvim.screen();
    let row = screen.lines().find_map(|row| row.split_once("▸ edit")).map(|it| it.1);
    row.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Two hunks that a command throws away and that another one brings back.
#[test]
fn what_a_command_brings_back_of_a_review_is_under_review_again() {
    let scene = committed();
    scene.server.reply(super::scene::two_hunks());
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(2);
    let both = shown(&scene);
    run(&scene, &git("stash"));
    scene.wait_hunks(0);
    scene.nvim.wait(|_| beside(&scene) == "a.txt 2 undone on disk", "the words beside the call");
    let n = scene.server.requests().len();
    scene.nvim.command("messages clear");
    run(&scene, "git stash pop");
    scene.wait_hunks(2);
    assert_eq!((shown(&scene), modified(&scene)), (both.clone(), false));
    expect!["a.txt: 2 changes that were undone on disk are in the file again, and under review."]
        .assert_eq(&scene.said());
    scene.nvim.wait(|_| beside(&scene) == "a.txt 2 hunks to review", "the words beside the call");
    assert!(
        scene
            .request(n + 2)
            .last_user_text()
            .contains("files changed while your command ran: a.txt")
    );
    scene.nvim.keys("2G\\r8G\\a");
    scene.wait_hunks(0);
    scene
        .nvim
        .wait(|_| beside(&scene) == "a.txt 1 accepted · 1 rejected", "the words beside the call");
    assert_eq!(scene.on_disk("a.txt"), Some(both.replace("L2", "l2")));
    expect![[r#"
        <notice>
        Of 2 changes in a.txt: 1 accepted, 1 rejected and undone.
        line 2, rejected, reads as before:
        l2
        line 8, accepted:
        L8
        L8b
        </notice>
        and?"#]]
    .assert_eq(&scene.told_next());
}

/// What of the hunks a command brings back can be decided on; what differs from them is the command's.
#[test]
fn only_what_comes_back_as_it_was_is_under_review_again() {
    let scene = committed();
    scene.server.reply(super::scene::two_hunks());
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(2);
    run(&scene, "git checkout a.txt");
    scene.wait_hunks(0);
    run(&scene, "sed -i 's/l2/L2/; s/l5/L5/; s/l8/other/' a.txt");
    scene.wait_hunks(1);
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    let text = nine().replace("l5", "L5").replace("l8", "other");
    assert_eq!((shown(&scene), scene.on_disk("a.txt")), (text.clone(), Some(text)));
    // the same lines by the user's hand are the user's
    scene.nvim.keys("2GciwL2<Esc>:w<CR>");
    assert_eq!(scene.pending(), 0);
}

/// One of two hunks is thrown away and comes back, while the other one is pending and the user types.
#[test]
fn a_hunk_comes_back_beside_another_one() {
    let scene = committed();
    scene.server.reply(super::scene::two_hunks());
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(2);
    let both = shown(&scene);
    run(&scene, "sed -i s/L2/l2/ a.txt");
    scene.wait_hunks(1);
    scene.nvim.keys("5GAmine<Esc>");
    run(&scene, "sed -i s/l2/L2/ a.txt");
    scene.wait_hunks(2);
    assert_eq!((shown(&scene), modified(&scene)), (both.replace("l5", "l5mine"), true));
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    assert_eq!(shown(&scene), nine().replace("l5", "l5mine"));
}

/// The user's own command, after Neovim was told to read the file again.
#[test]
fn what_the_users_own_command_brings_back_is_under_review_again() {
    for away in [":!git stash -q<CR>", ":silent !git stash -q<CR>:edit!<CR>"] {
        let scene = committed();
        scene.server.reply(super::scene::two_hunks());
        scene.ask_until(Reply::said("I see."), "I see.");
        scene.wait_hunks(2);
        let both = shown(&scene);
        scene.nvim.keys(&format!("{away}<CR>"));
        scene.wait_hunks(0);
        scene.nvim.keys(":!git stash pop -q<CR><CR>");
        scene.wait_hunks(2);
        scene.nvim.keys(":Caliban reject all<CR>");
        scene.wait_hunks(0);
        assert_eq!((shown(&scene), scene.on_disk("a.txt")), (nine(), Some(nine())), "{both}");
    }
}

#[test]
fn every_kind_of_change_that_a_stash_brings_back_can_be_decided() {
    for keys in [":Caliban accept all<CR>", ":Caliban reject all<CR>"] {
        let scene = committed();
        scene.server.reply(every_kind());
        scene.ask_until(Reply::said("I see."), "I see.");
        scene.wait_hunks(6);
        run(&scene, &git("stash -u"));
        run(&scene, "git stash pop");
        scene.wait_hunks(6);
        scene.nvim.command("messages clear");
        scene.nvim.keys(keys);
        scene.wait_hunks(0);
        let verb = if keys.contains("accept") { "accepted" } else { "rejected" };
        let what = "6 files: 2 hunks, 2 deletions, 1 renaming, 1 empty file";
        assert_eq!(scene.said(), format!("{what} {verb}"));
        let told = scene.told_next();
        assert_eq!(told.matches(&format!("The user {verb} ")).count(), 6, "{told}");
        let files =
            ["a.txt", "b.txt", "c.txt", "d.c", "docs/c.txt", "pkg/empty.txt", "pkg/new.txt"];
        let there = files.map(|it| scene.nvim.setup.path(it).exists());
        let is_kept = verb == "accepted";
        assert_eq!(there, [true, !is_kept, !is_kept, !is_kept, is_kept, is_kept, is_kept]);
        let text = if is_kept { nine().replace("l2", "L2") } else { nine() };
        assert_eq!(scene.on_disk("a.txt"), Some(text));
    }
}
