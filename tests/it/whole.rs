//! Files that the model proposes to delete or rename: decided as a whole, with the same keys and commands as hunks.

mod permissions;
mod rewritten;

use crate::kit::reply::Reply;
use crate::kit::setup::Setup;
use crate::review::reopened::quit;
use crate::review::scene::{Scene, edit, nine, write};
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;

const MODE: &str = "{ mode = 'auto-edit' }";

fn rename(path: &str, to: &str) -> Value {
    json!({ "path": path, "to": to })
}

fn delete(path: &str) -> Value {
    json!({ "path": path })
}

/// Opens `a.txt`, lets the model make this call, and waits until the change is under review.
fn pending(tool: &str, input: Value) -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("c1", tool, input));
    scene.wait_pending(1);
    scene
}

/// Opens `a.txt` in auto-edit mode, lets the model make this call, and waits until the change is made.
fn done(tool: &str, input: Value) -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.server.reply(Reply::new().call("c1", tool, input));
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(1);
    scene
}

/// Types keys that decide, and returns the answer that the model gets.
fn decide(scene: &Scene, keys: &str) -> String {
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(keys);
    scene.wait_idle("I see.");
    assert_eq!(scene.pending(), 0);
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    scene.answer(2, "c1")
}

fn buffers(scene: &Scene) -> String {
    let code = "local out = {}
        for _, buf in ipairs(vim.api.nvim_list_bufs()) do
          local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':.')
          if name:find('txt$') or name:find('lua$') then
            out[#out + 1] = name .. (vim.bo[buf].modified and '+' or '')
          end
        end
        return table.concat(out, ' ')";
    scene.nvim.lua_str(code)
}

#[test]
fn a_file_is_deleted_only_once_the_user_accepts() {
    let scene = pending("delete", delete("a.txt"));
    scene.nvim.wait_screen("Delete this file? · \\A accept file · \\R reject file");
    scene.nvim.wait(|it| it.hl_of("l5") == ["CalibanDelete"], "the file in its colour");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    let first = scene.nvim.lua_json("return require('caliban').pending()")[0].clone();
    assert_eq!(
        (&first["whole"], first["removed"].as_array().unwrap().len()),
        (&json!("delete"), 9)
    );
    // the text of the file is not under review and can be written
    scene.nvim.keys("Gox<Esc>u:w<CR>");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    let told = decide(&scene, "\\A");
    assert_eq!(told, "The user accepted the deletion: a.txt is deleted.");
    assert_eq!(scene.on_disk("a.txt"), None);
    assert_eq!(buffers(&scene), "");
    scene.nvim.wait_screen("a.txt: deleted");
}

#[test]
fn a_deletion_is_rejected_with_a_reason() {
    let scene = pending("delete", delete("a.txt"));
    let told = decide(&scene, ":Caliban reject file I need it<CR>");
    assert_eq!(
        told,
        "The user rejected the deletion: a.txt is not deleted.\nThe user's reason: I need it"
    );
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(buffers(&scene), "a.txt");
    scene.nvim.wait(|it| it.hl_of("l5").is_empty(), "the file in no colour");
    scene.nvim.keys(":w<CR>");
    assert!(!scene.nvim.screen().contains("under review"));
}

#[test]
fn text_typed_into_a_file_to_be_deleted_stays_in_its_buffer() {
    let scene = pending("delete", delete("a.txt"));
    scene.nvim.keys("5GAmine<Esc>");
    let told = decide(&scene, ":Caliban accept file<CR>");
    expect![[r#"
        The user accepted the deletion: a.txt is deleted.
        Its buffer holds the user's own unsaved text."#]]
    .assert_eq(&told);
    assert_eq!(scene.on_disk("a.txt"), None);
    assert_eq!(buffers(&scene), "a.txt+");
    assert!(scene.nvim.buffer("/a.txt").contains("l5mine"));
}

#[test]
fn empty_files_and_files_without_a_buffer_can_be_deleted() {
    let scene = Scene::start(|it| it.file("a.txt", "").file("b.txt", nine()));
    let calls =
        Reply::new().call("c1", "delete", delete("a.txt")).call("c2", "delete", delete("b.txt"));
    scene.ask(calls);
    scene.wait_pending(2);
    let told = decide(&scene, ":Caliban accept all<CR>");
    assert_eq!(told, "The user accepted the deletion: a.txt is deleted.");
    assert_eq!(scene.answer(2, "c2"), "The user accepted the deletion: b.txt is deleted.");
    assert_eq!((scene.on_disk("a.txt"), scene.on_disk("b.txt")), (None, None));
    assert_eq!(buffers(&scene), "");
}

/// The buffer keeps its undo history, its marks and its window.
#[test]
fn a_renamed_file_keeps_its_buffer() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>3Gdd:w<CR>5Gma");
    let buf = scene.nvim.lua_str("return vim.api.nvim_get_current_buf()");
    scene.ask(Reply::new().call("c1", "rename", rename("a.txt", "lib/b.lua")));
    scene.wait_pending(1);
    scene.nvim.wait_screen("Rename this file to lib/b.lua? · ");
    assert!(scene.nvim.setup.path("a.txt").exists());
    let told = decide(&scene, "\\A");
    assert_eq!(told, "The user accepted the renaming: a.txt is now lib/b.lua.");
    let now = nine().replace("l3\n", "");
    assert_eq!((scene.on_disk("a.txt"), scene.on_disk("lib/b.lua")), (None, Some(now)));
    assert_eq!(buffers(&scene), "lib/b.lua");
    assert_eq!(scene.nvim.lua_str("return vim.api.nvim_get_current_buf()"), buf);
    assert_eq!(scene.nvim.lua_str("return vim.fn.line(\"'a\")"), "5");
    assert_eq!(scene.nvim.lua_str("return vim.bo.filetype"), "lua");
    scene.nvim.keys("u:w<CR>");
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    assert_eq!(scene.on_disk("lib/b.lua"), Some(nine()));
    // Edits use the new path.
    scene.server.reply(Reply::new().call("e1", "edit", edit("lib/b.lua", &[("l2", "L2")])));
    scene.nvim.keys(":Caliban ask on<CR>");
    scene.wait_pending(1);
    scene.server.reply(Reply::said("Done."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("Done.");
    assert_eq!(scene.on_disk("lib/b.lua"), Some(nine().replace("l2", "L2")));
}

#[test]
fn a_rejected_renaming_leaves_the_file() {
    let scene = pending("rename", rename("a.txt", "b.txt"));
    let told = decide(&scene, "\\R");
    assert_eq!(told, "The user rejected the renaming: a.txt is not renamed.");
    assert_eq!((scene.on_disk("a.txt"), scene.on_disk("b.txt")), (Some(nine()), None));
    assert_eq!(buffers(&scene), "a.txt");
}

/// The user must first save the text under the old name.
#[test]
fn a_file_with_unsaved_text_is_not_renamed() {
    let scene = pending("rename", rename("a.txt", "b.txt"));
    scene.nvim.keys("5GAmine<Esc>:Caliban accept file<CR>");
    scene.nvim.wait_screen("cannot rename it to b.txt: its buffer has unsaved changes");
    assert_eq!((scene.pending(), buffers(&scene).as_str()), (1, "a.txt+"));
    scene.nvim.keys(":w<CR>");
    let told = decide(&scene, ":Caliban accept file<CR>");
    expect![[r#"
        The user accepted the renaming: a.txt is now b.txt.
        The file changed elsewhere too:
        @@ line 5
        -l5
        +l5mine"#]]
    .assert_eq(&told);
    let mine = nine().replace("l5", "l5mine");
    assert_eq!((scene.on_disk("a.txt"), scene.on_disk("b.txt")), (None, Some(mine)));
    assert_eq!(buffers(&scene), "b.txt");
}

#[test]
fn deletions_and_renamings_are_listed_and_jumped_to() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    let calls = Reply::new()
        .call("c1", "delete", delete("a.txt"))
        .call("c2", "rename", rename("b.txt", "c.txt"))
        .call("e1", "write", write("d.txt", "new\n"));
    scene.ask(calls);
    scene.wait_pending(3);
    scene.nvim.keys(":Caliban review<CR>");
    scene.nvim.wait_screen("a.txt|1| delete");
    scene.nvim.wait_screen("b.txt|1| rename to c.txt");
    scene.nvim.keys(":cclose<CR>");
    let here = |scene: &Scene| scene.nvim.lua_str("return vim.fn.expand('%:.')");
    let mut seen = Vec::new();
    for _ in 0..3 {
        scene.nvim.keys(":Caliban next<CR>");
        seen.push(here(&scene));
    }
    seen.sort();
    assert_eq!(seen, ["a.txt", "b.txt", "d.txt"]);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_idle("I see.");
    assert_eq!((scene.on_disk("c.txt"), scene.on_disk("d.txt")), (None, None));
}

#[test]
fn in_auto_edit_a_deletion_is_done_at_once_and_can_be_rejected() {
    let scene = done("delete", delete("a.txt"));
    assert_eq!(scene.on_disk("a.txt"), None);
    assert_eq!(scene.answer(2, "c1"), "a.txt is deleted; the user may still undo it.");
    scene.nvim.wait_screen("Caliban has deleted this file · ");
    // the buffer has the only copy of the text, so Neovim does not quit
    scene.nvim.keys(":qa<CR>");
    scene.nvim.wait_screen("E37");
    // for the model the file does not exist any more
    scene.server.reply(Reply::new().call("r1", "read", json!({"path": "a.txt"})));
    scene.server.reply(Reply::said("Gone."));
    scene.nvim.keys("<Esc>:Caliban ask look<CR>");
    scene.wait_idle("Gone.");
    assert!(scene.answer(4, "r1").contains("does not exist"), "{}", scene.answer(4, "r1"));
    scene.nvim.keys(":Caliban reject file I need it<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(buffers(&scene), "a.txt");
    expect![[r#"
        <notice>
        The user rejected the deletion: a.txt is not deleted.
        The user's reason: I need it
        </notice>
        and?"#]]
    .assert_eq(&scene.told_next());
    scene.nvim.keys("Gox<Esc>:w<CR>");
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    assert_eq!(scene.on_disk("a.txt"), Some(nine() + "x\n"));
}

#[test]
fn in_auto_edit_a_done_deletion_can_be_accepted() {
    let scene = done("delete", delete("a.txt"));
    scene.nvim.keys("\\A");
    scene.wait_hunks(0);
    assert_eq!(buffers(&scene), "");
    expect![[r#"
        <notice>
        The user accepted the deletion: a.txt is deleted.
        </notice>
        and?"#]]
    .assert_eq(&scene.told_next());
}

#[test]
fn in_auto_edit_a_renaming_is_done_at_once_and_can_be_rejected() {
    let scene = done("rename", rename("a.txt", "new/b.txt"));
    assert_eq!((scene.on_disk("a.txt"), scene.on_disk("new/b.txt")), (None, Some(nine())));
    assert_eq!(scene.answer(2, "c1"), "a.txt is now new/b.txt; the user may still undo it.");
    assert_eq!(buffers(&scene), "new/b.txt");
    // An edit can follow the renaming.
    scene.server.reply(Reply::new().call("e1", "edit", edit("new/b.txt", &[("l2", "L2")])));
    scene.server.reply(Reply::said("Done."));
    scene.nvim.keys(":Caliban ask on<CR>");
    scene.wait_idle("Done.");
    scene.wait_hunks(2);
    assert_eq!(scene.on_disk("new/b.txt"), Some(nine().replace("l2", "L2")));
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    assert_eq!((scene.on_disk("a.txt"), scene.on_disk("new/b.txt")), (Some(nine()), None));
    assert_eq!(buffers(&scene), "a.txt");
    expect![[r#"
        <notice>
        The user rejected the renaming: a.txt is not renamed.
        </notice>
        <notice>
        The user rejected the change in a.txt: it is undone.
        </notice>
        and?"#]]
    .assert_eq(&scene.told_next());
}

#[test]
fn in_auto_edit_the_model_can_delete_its_own_new_file() {
    let scene = Scene::start(|it| it.config(MODE));
    scene.server.reply(Reply::new().call("w1", "write", write("a.txt", "one\n")));
    scene.server.reply(Reply::new().call("c1", "delete", delete("a.txt")));
    scene.ask_until(Reply::said("I see."), "I see.");
    assert_eq!(scene.on_disk("a.txt"), None);
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt"), None);
}

/// Checks that the call is refused at once, without a question and without a review, and returns the answer.
#[track_caller]
fn refused(setup: impl FnOnce(Setup) -> Setup, keys: &str, tool: &str, input: Value) -> String {
    let scene = Scene::start(|it| setup(it.file("a.txt", nine()).file("dir/x.txt", "x\n")));
    scene.nvim.keys(keys);
    scene.server.reply(Reply::new().call("c1", tool, input));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.wait_idle("I see.");
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    assert_eq!((scene.pending(), scene.on_disk("a.txt")), (0, Some(nine())));
    let dir = scene.nvim.setup.dir().display().to_string();
    scene.answer(2, "c1").replace(&dir, "/DIR")
}

#[test]
fn an_impossible_deletion_is_refused_with_the_reason() {
    let told = [
        refused(|it| it, "", "delete", delete("none.txt")),
        refused(|it| it, "", "delete", delete("dir")),
        refused(|it| it, "", "delete", delete("../setup.lua")),
        refused(|it| it, "", "delete", delete(".git/config")),
        refused(|it| it, ":edit a.txt<CR>Gox<Esc>", "delete", delete("a.txt")),
        refused(|it| it, ":view a.txt<CR>", "delete", delete("a.txt")),
        refused(|it| it, ":edit a.txt<CR>:setlocal bt=nofile<CR>", "delete", delete("a.txt")),
    ];
    expect![[r#"
        none.txt does not exist.
        path: `dir` is a folder. Name a file.
        path: `../setup.lua` is outside the project (/DIR/project). Only files in the project can be edited.
        path: `.git/config` is in .git, which no tool reads or writes. Run git with `shell`, which needs consent.
        a.txt was not changed: its buffer has unsaved changes.
        a.txt was not changed: it is read-only.
        a.txt was not changed: its buffer is a special buffer (nofile)."#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn an_impossible_renaming_is_refused_with_the_reason() {
    let named = ":edit b.txt<CR>ihello<Esc>:edit! a.txt<CR>";
    let told = [
        refused(|it| it, "", "rename", rename("a.txt", "dir/x.txt")),
        refused(|it| it, "", "rename", rename("a.txt", "dir")),
        refused(|it| it, "", "rename", rename("a.txt", "../b.txt")),
        refused(|it| it, "", "rename", rename("a.txt", ".git/b")),
        refused(|it| it, "", "rename", rename("a.txt", "a.txt/b.txt")),
        refused(|it| it, "", "rename", rename("a.txt", "a.txt")),
        refused(|it| it, named, "rename", rename("a.txt", "b.txt")),
    ];
    expect![[r#"
        to: `dir/x.txt` already exists. Name a path that does not exist.
        to: `dir` is a folder. Name a file.
        to: `../b.txt` is outside the project (/DIR/project). Only files in the project can be edited.
        to: `.git/b` is in .git, which no tool reads or writes. Run git with `shell`, which needs consent.
        to: `a.txt` is a file, not a folder.
        to: `a.txt` already exists. Name a path that does not exist.
        a.txt was not changed: another buffer has the name b.txt."#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn a_link_is_neither_deleted_nor_renamed_nor_replaced() {
    let linked = |it: Setup| {
        std::os::unix::fs::symlink(it.path("a.txt"), it.path("link.txt")).unwrap();
        it
    };
    let told = [
        refused(linked, "", "delete", delete("link.txt")),
        refused(linked, "", "rename", rename("link.txt", "b.txt")),
        refused(linked, "", "rename", rename("dir/x.txt", "link.txt")),
    ];
    expect![[r#"
        path: `link.txt` is a symbolic link. This tool neither deletes nor renames links.
        path: `link.txt` is a symbolic link. This tool neither deletes nor renames links.
        to: `link.txt` already exists. Name a path that does not exist."#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn a_deletion_or_renaming_of_a_file_is_refused_if_the_same_reply_edits_the_file() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    scene.ask(
        Reply::new()
            .call("e1", "edit", edit("a.txt", &[("l2", "L2")]))
            .call("c1", "delete", delete("a.txt"))
            .call("c2", "rename", rename("b.txt", "c.txt"))
            .call("w1", "write", write("c.txt", "new\n")),
    );
    scene.wait_pending(2);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    expect![
        "This call was not carried out, because another call of the same reply changes one of its files. Send this call again once the user has decided on the other call."
    ]
    .assert_eq(&scene.answer(2, "c1"));
    assert_eq!(scene.answer(2, "c2"), scene.answer(2, "c1"));
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
    assert_eq!(scene.on_disk("c.txt").as_deref(), Some("new\n"));
}

#[test]
fn a_change_on_disk_stops_an_accepted_deletion_or_renaming() {
    let scene = pending("rename", rename("a.txt", "b.txt"));
    fs::write(scene.nvim.setup.path("b.txt"), "theirs\n").unwrap();
    scene.nvim.keys(":Caliban accept file<CR>");
    scene.nvim.wait_screen("a.txt: Caliban cannot rename it to b.txt: b.txt already exists");
    assert_eq!(scene.pending(), 1);
    assert_eq!(scene.on_disk("b.txt").as_deref(), Some("theirs\n"));
    fs::remove_file(scene.nvim.setup.path("b.txt")).unwrap();
    decide(&scene, ":Caliban accept file<CR>");
    assert_eq!(scene.on_disk("b.txt"), Some(nine()));
    let scene = pending("delete", delete("a.txt"));
    fs::write(scene.nvim.setup.path("a.txt"), "theirs\n").unwrap();
    scene.nvim.keys(":Caliban accept file<CR>");
    scene.nvim.wait_screen("a.txt: Caliban cannot delete it: it changed on disk");
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some("theirs\n"));
}

fn write_empty(id: &str, path: &str) -> Reply {
    Reply::new().call(id, "write", write(path, ""))
}

#[test]
fn a_new_file_without_text_is_created_once_the_user_accepts_it() {
    for name in ["pkg/__init__.py", ".gitkeep", "py.typed"] {
        let scene = Scene::start(|it| it);
        scene.ask(write_empty("c1", name));
        scene.wait_pending(1);
        scene.nvim.keys(":Caliban next<CR>");
        scene.nvim.wait_screen("Create this file without text?");
        assert_eq!(scene.on_disk(name), None, "{name}");
        let told = decide(&scene, "\\A");
        assert_eq!(told, format!("The user accepted the change in {name}."));
        assert_eq!(scene.on_disk(name).as_deref(), Some(""), "{name}");
    }
}

#[test]
fn a_new_file_without_text_is_under_review_after_a_restart() {
    let scene = Scene::start(|it| it);
    scene.ask(write_empty("c1", "py.typed"));
    scene.wait_pending(1);
    let scene = quit(scene);
    scene.wait_hunks(1);
    scene.told_next();
    let told = "1 empty file is still under the user's review: ";
    assert!(scene.answer(2, "c1").starts_with(told), "{}", scene.answer(2, "c1"));
}

#[test]
fn a_new_file_without_text_is_not_created_if_the_user_rejects_it() {
    let scene = Scene::start(|it| it);
    scene.ask(write_empty("c1", "pkg/__init__.py"));
    scene.wait_pending(1);
    let told = decide(&scene, ":Caliban reject all not yet<CR>");
    expect![[r#"
        The user rejected the new file pkg/__init__.py: it does not exist.
        The user's reason: not yet"#]]
    .assert_eq(&told);
    assert_eq!(scene.on_disk("pkg/__init__.py"), None);
    assert!(!scene.nvim.setup.path("pkg").exists());
}

#[test]
fn a_new_file_without_text_and_one_with_text_are_decided_together_or_apart() {
    let scene = Scene::start(|it| it);
    let calls = write_empty("c1", "a/__init__.py").call("c2", "write", write("a/b.py", "b = 1\n"));
    scene.ask(calls);
    scene.wait_pending(2);
    let told = decide(&scene, ":Caliban accept all<CR>");
    assert_eq!(told, "The user accepted the change in a/__init__.py.");
    assert_eq!(scene.answer(2, "c2"), "The user accepted the change in a/b.py.");
    assert_eq!(scene.on_disk("a/__init__.py").as_deref(), Some(""));
    assert_eq!(scene.on_disk("a/b.py").as_deref(), Some("b = 1\n"));
}

#[test]
fn a_new_file_without_text_is_written_at_once_in_auto_edit_mode() {
    let scene = Scene::start(|it| it.config("{ mode = 'auto-edit' }"));
    scene.server.reply(write_empty("c1", "pkg/__init__.py"));
    scene.ask_until(Reply::said("I see."), "I see.");
    assert_eq!(scene.on_disk("pkg/__init__.py").as_deref(), Some(""));
}
