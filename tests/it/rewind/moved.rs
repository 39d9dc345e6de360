//! Rewinds of turns in which a command moved a file: it comes back to where it was, or it stays where it is.

use super::commands::git;
use super::kinds::{heads, take_all_back};
use super::*;
use std::fs;

/// A project under git with `a.txt` and the user's untracked `mine.txt`. A turn makes these calls and ends.
fn turn(files: impl FnOnce(Setup) -> Setup, calls: impl IntoIterator<Item = Reply>) -> Scene {
    let scene = Scene::start(|it| {
        files(it.file("a.txt", nine()).config("{ mode = 'auto' }").size(160, 40))
    });
    git(&scene, &["init", "-qb", "main"]);
    git(&scene, &["add", "a.txt"]);
    git(&scene, &["commit", "-qm", "begin"]);
    for it in calls {
        scene.server.reply(it);
    }
    scene.ask(Reply::said("Done."));
    scene.wait_idle("Done.");
    scene
}

fn rename(path: &str, to: &str) -> Reply {
    Reply::new().call("r1", "rename", json!({ "path": path, "to": to }))
}

fn shell(command: &str) -> Reply {
    Reply::new().call("s1", "shell", json!({ "command": command }))
}

#[test]
fn a_renamed_file_that_a_command_moved_on_comes_back_to_its_first_name() {
    for moves in ["mv s/b.txt s/c.txt", "mv s/b.txt s/c.txt; cp s/c.txt s/d.txt"] {
        let calls = [rename("mine.txt", "s/b.txt"), shell(moves)];
        let scene = turn(|it| it.file("mine.txt", "my work\n"), calls);
        assert_eq!(scene.on_disk("s/c.txt").as_deref(), Some("my work\n"));
        preview(&scene, "1");
        let heads = heads(&scene);
        assert!(
            heads.contains("diff mine.txt is created again (changed by a command)\n"),
            "{heads}"
        );
        assert!(!heads.contains("s/b.txt"), "{heads}");
        take_all_back(&scene);
        assert_eq!(scene.on_disk("mine.txt").as_deref(), Some("my work\n"));
        assert!(!scene.nvim.setup.path("s").exists());
        scene.wait_hunks(0);
        assert_eq!(modified(&scene), "");
    }
}

#[test]
fn a_file_that_a_command_moved_stays_there_if_it_cannot_come_back() {
    let large = "0123456789abcdef\n".repeat(100_000);
    let scene = turn(|it| it.file("mine.txt", &large), [shell("mv mine.txt other.txt")]);
    preview(&scene, "1");
    expect![[r#"
        diff mine.txt is not changed: its earlier text was not kept (changed by a command)
        diff other.txt is not changed: it may have the only text of mine.txt, which is not restored (changed by a command)
    "#]]
    .assert_eq(&heads(&scene));
    assert_eq!(scene.on_disk("other.txt"), Some(large));
}

/// The names of the modified buffers of files.
fn modified(scene: &Scene) -> String {
    scene.nvim.lua_str(
        "local names = {}
        for _, it in ipairs(vim.fn.getbufinfo({ bufmodified = 1 })) do
          if vim.bo[it.bufnr].buftype == '' then
            table.insert(names, it.name)
          end
        end
        return table.concat(names, ' ')",
    )
}

/// The folder of the file became read-only after the command.
#[test]
fn a_moved_file_is_not_deleted_if_its_former_name_cannot_be_written() {
    let scene = turn(|it| it.file("in/mine.txt", "my work\n"), [shell("mv in/mine.txt b.txt")]);
    preview(&scene, "1");
    fs::remove_dir(scene.nvim.setup.path("in")).unwrap();
    fs::write(scene.nvim.setup.path("in"), "a file\n").unwrap();
    take_all_back(&scene);
    assert_eq!(scene.on_disk("b.txt").as_deref(), Some("my work\n"));
    scene.wait_chat(
        "b.txt is not changed: it may have the only text of in/mine.txt, which is not restored",
    );
}
