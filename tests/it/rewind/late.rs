//! Rewinds of turns whose edits the user decided on later, after a command or on another branch.

use super::commands::git;
use super::kinds::{heads, take_all_back};
use super::*;

/// A turn edits `a.txt` and makes `new.txt`, and a command then changes the same lines, as a formatter would.
fn edited_then_ran() -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config("{ mode = 'auto' }"));
    git(&scene, &["init", "-qb", "main"]);
    git(&scene, &["add", "."]);
    git(&scene, &["commit", "-qm", "begin"]);
    let run = "sed -i s/five/FIVE/ a.txt new.txt";
    let edits = Reply::new()
        .call("c1", "edit", edit("a.txt", &[("l5", "five"), ("l8", "eight")]))
        .call("c2", "write", write("new.txt", "five\n"));
    scene.server.reply(edits);
    scene.server.reply(Reply::new().call("c3", "shell", json!({ "command": run })));
    scene.ask(Reply::said("Done."));
    scene.wait_idle("Done.");
    let changed = nine().replace("l5", "FIVE").replace("l8", "eight");
    assert_eq!(scene.on_disk("a.txt"), Some(changed));
    scene
}

#[test]
fn an_edit_that_is_accepted_after_a_command_changed_the_same_line_is_taken_back() {
    let scene = edited_then_ran();
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_chat("Of 2 changes in a.txt");
    preview(&scene, "1");
    expect![[r#"
        diff a.txt is restored (changed by a command)
        diff new.txt is deleted (changed by a command)
    "#]]
    .assert_eq(&heads(&scene));
    take_all_back(&scene);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.on_disk("new.txt"), None);
}

#[test]
fn a_change_belongs_to_the_branch_on_which_the_user_accepted_it() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    git(&scene, &["init", "-qb", "main"]);
    git(&scene, &["add", "."]);
    git(&scene, &["commit", "-qm", "begin"]);
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(two_hunks());
    scene.wait_pending(2);
    git(&scene, &["switch", "-qc", "feature"]);
    scene.server.reply(Reply::said("Done."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("Done.");
    scene.nvim.keys(":%s/l5/mine<CR>:write<CR>");
    preview(&scene, "1");
    assert_eq!(heads(&scene), "diff a.txt is restored, with the later changes kept\n");
    take_all_back(&scene);
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l5", "mine")));
}

/// An autocommand that changes text before it is written, as a formatter does.
#[test]
fn a_formatter_does_not_change_what_a_rewind_restores() {
    let scene = two_accepted();
    scene.nvim.keys(":autocmd BufWritePre * %s/l1/formatted/e<CR>");
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.nvim.buffer("a.txt").trim_end(), nine().trim_end());
    // the user's own writes are formatted as before
    scene.nvim.keys(":set eventignore?<CR>");
    scene.nvim.wait_screen("eventignore=");
    scene.nvim.keys(":write<CR>");
    let formatted = nine().replace("l1", "formatted");
    scene.nvim.wait(|it| it.setup.on_disk("a.txt").as_ref() == Some(&formatted), "the formatter");
}
