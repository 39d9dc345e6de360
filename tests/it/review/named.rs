//! A buffer under review gets another name: each message names the file that it means, no other file is overwritten,
//! and the model is told where the text is.

use super::reopened::quit;
use super::scene::{Scene, edit, nine};
use crate::kit::reply::Reply;
use expect_test::expect;

fn shown() -> String {
    nine().replace("l2", "L2").replace("l8", "L8\nL8b")
}

/// Types keys and waits for the end of the turn. Returns what the model is told.
fn decided(scene: &Scene, keys: &str) -> String {
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(keys);
    scene.wait_idle("I see.");
    scene.answer(2, "e1")
}

fn last_said(scene: &Scene) -> String {
    scene.said().lines().last().unwrap_or_default().to_owned()
}

const MOVED: &str =
    "2 hunks of a.txt are now under review in other.txt. a.txt stays as it is on disk.";

#[test]
fn saveas_writes_the_other_file_and_its_hunks_stay_pending_there() {
    for keys in [":saveas other.txt<CR>", ":keepalt sav other.txt<CR>", ":saveas! old.txt<CR>"] {
        let name = if keys.contains("old") { "old.txt" } else { "other.txt" };
        let start = || {
            let scene = Scene::two_hunks(|it| it.file("old.txt", "old\n"));
            scene.nvim.keys(keys);
            scene.nvim.wait_screen(&MOVED.replace("other.txt", name));
            assert_eq!(scene.on_disk(name), Some(shown()), "{keys}");
            assert_eq!(scene.on_disk("a.txt"), Some(nine()), "{keys}");
            assert_eq!(scene.pending(), 2, "{keys}");
            for refused in [":w<CR>", ":wall<CR>", "5GrX:update<CR>u"] {
                scene.nvim.keys(refused);
                let said = format!("{name} is not written: 2 hunks wait for you");
                assert!(scene.said().contains(&said), "{keys} {refused}: {}", scene.said());
                assert_eq!(scene.on_disk(name), Some(shown()), "{keys} {refused}");
            }
            scene
        };
        let scene = start();
        let told = decided(&scene, "2G\\a8G\\r");
        let kept = nine().replace("l2", "L2");
        assert_eq!(scene.on_disk(name), Some(kept), "{keys}");
        assert_eq!(scene.on_disk("a.txt"), Some(nine()), "{keys}");
        let said = format!("{name}: 1 accepted, 1 rejected, saved (a.txt stays as it is)");
        assert_eq!(last_said(&scene), said, "{keys}");
        let end = format!(
            "\nThe user has given the buffer of a.txt the name {name}: this text is there, and a.txt itself stays as \
             it is on disk."
        );
        assert!(told.ends_with(&end), "{told}");
        let scene = start();
        decided(&scene, "\\R");
        assert_eq!(scene.on_disk(name), Some(nine()), "{keys}: what was rejected leaves the disk");
        assert_eq!(scene.on_disk("a.txt"), Some(nine()), "{keys}");
    }
}

#[test]
fn a_new_name_alone_writes_nothing() {
    for keys in [
        ":file other.txt<CR>",
        ":keepalt file other.txt<CR>",
        ":lua vim.api.nvim_buf_set_name(0, 'other.txt')<CR>",
    ] {
        let scene = Scene::two_hunks(|it| it);
        scene.nvim.keys(keys);
        scene.nvim.wait_screen(MOVED);
        scene.nvim.keys(":w<CR>");
        assert!(
            scene.said().contains("other.txt is not written: 2 hunks wait for you"),
            "{}",
            scene.said()
        );
        assert_eq!(scene.on_disk("other.txt"), None, "{keys}");
        decided(&scene, "\\R");
        assert_eq!(last_said(&scene), "other.txt: 2 rejected (a.txt stays as it is)", "{keys}");
        assert_eq!(scene.on_disk("other.txt"), None, "{keys}");
        assert_eq!(scene.on_disk("a.txt"), Some(nine()), "{keys}");
        assert_eq!(scene.nvim.lua_str("return vim.bo.modified"), "true", "{keys}");
    }
}

#[test]
fn a_file_that_already_has_the_new_name_is_neither_merged_nor_overwritten() {
    let scene = Scene::two_hunks(|it| it.file("other.txt", "l1\nl2\ntheirs\n"));
    scene.nvim.keys(":file other.txt<CR>");
    scene.nvim.wait_screen(MOVED);
    scene.nvim.command("doautocmd FocusGained");
    let told = decided(&scene, "\\A");
    assert_eq!(scene.nvim.buffer("/other.txt"), shown().trim_end());
    assert_eq!(scene.on_disk("other.txt").as_deref(), Some("l1\nl2\ntheirs\n"));
    expect![[
        "other.txt: 2 accepted, not saved: there is already a file other.txt (a.txt stays as it is)"
    ]]
    .assert_eq(&last_said(&scene));
    expect![[r"
        The user accepted 2 changes in a.txt.
        The user has given the buffer of a.txt the name other.txt: this text is there, and a.txt itself stays as it is on disk.
        other.txt is not saved (there is already a file other.txt)."]]
    .assert_eq(&told);
    scene.nvim.keys(":w<CR>");
    assert!(scene.said().contains("E13"), "{}", scene.said());
    scene.nvim.keys(":w!<CR>");
    assert_eq!(scene.on_disk("other.txt"), Some(shown()));
}

#[test]
fn the_name_of_another_file_under_review_cannot_be_taken() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    let reply = ["a.txt", "b.txt"].iter().fold(Reply::new(), |reply, name| {
        reply.call(&format!("e-{name}"), "edit", edit(name, &[("l2", "L2")]))
    });
    scene.ask(reply);
    scene.wait_pending(2);
    for keys in [":file b.txt<CR>", ":saveas! b.txt<CR>"] {
        scene.nvim.keys(keys);
        assert!(scene.said().contains("E95") || scene.said().contains("E139"), "{}", scene.said());
        assert_eq!(scene.nvim.lua_str("return vim.fn.bufname()"), "a.txt");
    }
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    for name in ["a.txt", "b.txt"] {
        assert_eq!(scene.on_disk(name), Some(nine().replace("l2", "L2")), "{name}");
    }
}

/// Plugins such as oil.nvim rename the file and its buffer, in either order.
#[test]
fn a_file_that_a_plugin_renames_is_reviewed_under_its_new_name() {
    let (buffer, disk) = (
        "vim.api.nvim_buf_set_name(0, 'sub/b.txt')",
        "vim.fn.mkdir('sub') vim.fn.rename('a.txt', 'sub/b.txt')",
    );
    for act in [[buffer, disk], [disk, buffer]] {
        let scene = Scene::two_hunks(|it| it);
        scene.nvim.lua(&act.join(" "), &[]);
        scene.nvim.keys(":w<CR>");
        assert!(
            scene.said().contains("sub/b.txt is not written: 2 hunks wait for you"),
            "{}",
            scene.said()
        );
        let told = decided(&scene, "2G\\a\\R");
        assert_eq!(scene.on_disk("sub/b.txt"), Some(nine().replace("l2", "L2")));
        assert_eq!(scene.on_disk("a.txt"), None);
        let said = "sub/b.txt: renamed from a.txt, 1 accepted, 1 rejected, saved";
        assert_eq!(last_said(&scene), said);
        assert!(told.contains("\na.txt is now sub/b.txt."), "{told}");
    }
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.lua(&[disk, buffer].join(" "), &[]);
    scene.nvim.wait(
        |it| it.lua_str("return require('caliban').pending()[1].path").ends_with("sub/b.txt"),
        "the review to follow",
    );
    let scene = quit(scene);
    scene.nvim.wait_screen("2 changes are still under review in sub/b.txt");
    scene.wait_hunks(2);
    assert_eq!(scene.on_disk("sub/b.txt"), Some(nine()));
    assert_eq!(scene.on_disk("a.txt"), None);
}

#[test]
fn after_a_restart_the_hunks_of_a_file_that_was_saved_under_another_name_are_pending_in_the_file() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":saveas other.txt<CR>");
    scene.nvim.wait_screen(MOVED);
    let scene = quit(scene);
    scene.nvim.wait_screen("2 changes are still under review in a.txt");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.on_disk("other.txt"), Some(shown()));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt"), Some(shown()));
}

#[test]
fn copies_and_appended_copies_leave_the_review_where_it_is() {
    for (keys, name, wanted) in [
        (":w copy.txt<CR>", "copy.txt", shown()),
        (":w >> log.txt<CR>", "log.txt", format!("old\n{}", shown())),
        (":1,2w part.txt<CR>", "part.txt", "l1\nL2\n".to_owned()),
        (
            ":enew<CR>:r a.txt<CR>:w new.txt<CR>:buffer a.txt<CR>",
            "new.txt",
            format!("\n{}", nine()),
        ),
    ] {
        let scene =
            Scene::two_hunks(|it| it.file("log.txt", "old\n").before("vim.o.hidden = true"));
        scene.nvim.keys(keys);
        assert_eq!(scene.on_disk(name), Some(wanted), "{keys}: {}", scene.said());
        assert_eq!(scene.on_disk("a.txt"), Some(nine()), "{keys}");
        assert_eq!(scene.pending(), 2, "{keys}");
        decided(&scene, "\\A");
        assert_eq!(last_said(&scene), "a.txt: 2 accepted, saved", "{keys}");
        assert_eq!(scene.on_disk("a.txt"), Some(shown()), "{keys}");
    }
}

#[test]
fn a_buffer_that_is_closed_under_another_name_keeps_nothing() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":file other.txt<CR>");
    scene.nvim.wait_screen(MOVED);
    let told = decided(&scene, ":bdelete!<CR>");
    assert_eq!(told, "The user did not decide on 2 changes in a.txt: they are not in the file.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.on_disk("other.txt"), None);
}

#[test]
fn a_new_file_is_created_under_the_name_that_the_user_gives_it() {
    let scene = Scene::start(|it| it);
    scene.ask(Reply::new().call("e1", "write", super::scene::write("a.txt", "x\n")));
    scene.wait_pending(1);
    scene.nvim.keys(":edit a.txt<CR>:file b.txt<CR>");
    let told = decided(&scene, "\\A");
    assert_eq!(scene.on_disk("b.txt").as_deref(), Some("x\n"));
    assert_eq!(scene.on_disk("a.txt"), None);
    assert!(told.contains("\na.txt is now b.txt."), "{told}");
}
