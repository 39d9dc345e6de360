//! Reviews that were open when an editor ended are open again in the next editor.

use super::scene::{Scene, edit, nine, two_hunks};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use expect_test::expect;
use serde_json::json;
use std::fs;

/// The number of review records on disk.
pub(super) fn records(scene: &Scene) -> usize {
    scene.nvim.setup.review_records().len()
}

/// Starts another Neovim with the setup of the ended Neovim.
pub(super) fn start_again(scene: Scene) -> Scene {
    let Scene { server, nvim } = scene;
    let setup = nvim.setup.clone();
    drop(nvim);
    Scene { server, nvim: Nvim::start(&setup) }
}

pub fn quit(scene: Scene) -> Scene {
    assert!(scene.nvim.quit_with("<Esc>:qa!<CR>").success());
    start_again(scene)
}

pub(super) fn text(scene: &Scene, path: &str) -> String {
    scene.nvim.buffer(scene.nvim.setup.path(path).to_str().unwrap())
}

#[test]
fn the_record_is_not_rewritten_while_nothing_changes() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.wait(|_| records(&scene) == 1, "the record of the review");
    let look = "local disk = require('caliban.editor.disk')
        local replace = disk.replace
        KitWritten = 0
        disk.replace = function(...) KitWritten = KitWritten + 1 return replace(...) end
        require('caliban.review.registry').look(require('caliban.review').of(vim.fn.bufnr('a.txt')))
        return KitWritten";
    assert_eq!(scene.nvim.lua_json(look), 0);
    scene.nvim.keys(":edit a.txt<CR>2G\\a");
    scene.nvim.wait(|it| it.lua_json("return KitWritten") == 1, "one record of what is left");
}

#[test]
fn pending_hunks_can_be_decided_after_a_restart() {
    let scene = Scene::two_hunks(|it| it);
    let before = text(&scene, "a.txt");
    let scene = quit(scene);
    let said = "2 changes are still under review in a.txt (:Caliban next).";
    scene.nvim.wait_screen(said);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.nvim.lua_json("return #vim.api.nvim_list_wins()"), 1);
    assert_eq!(scene.nvim.lua_str("return vim.fn.bufname()"), "");
    scene.wait_hunks(2);
    assert_eq!(text(&scene, "a.txt"), before);
    scene.nvim.keys(":edit a.txt<CR>:w<CR>");
    scene.nvim.wait_screen("a.txt is not written: 2 hunks wait for you");
    scene.nvim.keys("2G\\a8G:Caliban reject hunk too loud<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
    expect![[r#"
        <notice>
        The turn was interrupted because the editor or Caliban ended. What ran then may have had effects.
        </notice>
        <notice>
        Of 2 changes in a.txt: 1 accepted, 1 rejected and undone.
        line 2, accepted:
        L2
        line 8, rejected, reads as before:
        l8
        The user's reason: too loud
        </notice>
        and?"#]].assert_eq(&scene.told_next());
    assert!(scene.answer(2, "e1").contains("The user's verdict on this edit will follow"));
    assert_eq!(records(&scene), 0);
    let scene = quit(scene);
    scene.nvim.keys(":edit a.txt<CR>");
    scene.nvim.wait_screen("L2");
    assert_eq!(
        scene.nvim.lua_json("return package.loaded['caliban.program.process'] ~= nil"),
        false
    );
}

#[test]
fn a_review_follows_the_renaming_of_its_conversation() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.command("Caliban stop");
    scene.nvim.wait_phase("idle");
    scene.nvim.keys(":Caliban rename other<CR>");
    scene.nvim.wait_session("other");
    let scene = quit(scene);
    scene.nvim.wait_screen("2 changes are still under review in a.txt");
    scene.wait_hunks(2);
    scene.nvim.keys(":Caliban rename third<CR>");
    scene.nvim.wait_session("third");
    scene.nvim.keys(":edit a.txt<CR>\\A");
    scene.wait_hunks(0);
    let settled = nine().replace("l2", "L2").replace("l8", "L8\nL8b");
    assert_eq!(scene.on_disk("a.txt"), Some(settled));
    assert_eq!(records(&scene), 0);
}

#[test]
fn decisions_and_typed_text_survive_a_restart() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys("2G\\a");
    scene.wait_hunks(1);
    scene.nvim.keys("8GA by me<Esc>");
    let scene = quit(scene);
    // hunks that were accepted but are not on disk have to be decided again
    scene.wait_hunks(2);
    let shown = nine().replace("l2", "L2").replace("l8", "L8 by me\nL8b");
    assert_eq!(text(&scene, "a.txt"), shown.trim_end());
    scene.nvim.keys(":edit a.txt<CR>\\A");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt"), Some(shown));
    expect![[r#"
        <notice>
        The turn was interrupted because the editor or Caliban ended. What ran then may have had effects.
        </notice>
        <notice>
        Of 2 changes in a.txt: 1 accepted, 1 reworked by the user.
        line 2, accepted:
        L2
        line 8, reworked, now reads:
        L8 by me
        L8b
        </notice>
        and?"#]].assert_eq(&scene.told_next());
}

#[test]
fn a_file_changed_before_the_restart_is_merged_and_not_overwritten() {
    let scene = quit_and_change(|text| text.replace("l5", "l5 of others\nl5b"));
    scene.nvim.wait_screen("2 changes are still under review");
    scene.wait_hunks(2);
    let shown = nine().replace("l5", "l5 of others\nl5b");
    let shown = shown.replace("l2", "L2").replace("l8", "L8\nL8b");
    assert_eq!(text(&scene, "a.txt"), shown.trim_end());
    scene.nvim.keys(":edit a.txt<CR>\\A");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt"), Some(shown));
}

fn quit_and_change(change: impl Fn(String) -> String) -> Scene {
    let scene = Scene::two_hunks(|it| it);
    assert!(scene.nvim.quit_with(":qa!<CR>").success());
    fs::write(scene.nvim.setup.path("a.txt"), change(nine())).unwrap();
    start_again(scene)
}

#[test]
fn a_hunk_that_no_longer_fits_is_reported_and_the_others_kept() {
    let scene = quit_and_change(|text| text.replace("l8", "l8 of others"));
    let said =
        "1 change is still under review in a.txt (:Caliban next). 1 change no longer fits a.txt.";
    scene.nvim.wait_screen(said);
    scene.wait_hunks(1);
    scene.nvim.keys(":edit a.txt<CR>\\A");
    scene.wait_hunks(0);
    let settled = nine().replace("l2", "L2").replace("l8", "l8 of others");
    assert_eq!(scene.on_disk("a.txt"), Some(settled));
    let told = scene.told_next();
    assert!(told.contains("line 2, accepted"), "{told}");
    assert!(told.contains("line 8, not decided on, now reads:\nl8 of others\n"), "{told}");
    scene.nvim.wait_screen("a.txt: 1 accepted, 1 not decided, saved");
}

#[test]
fn recovering_from_a_swap_file_keeps_the_hunks() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys("5GA, mine<Esc>:preserve<CR>");
    scene.nvim.kill();
    let scene = start_again(scene);
    scene.nvim.wait_screen("The review of a.txt waits until you open the file: it has a swap file");
    assert_eq!(scene.pending(), 0);
    let told = scene.told_next();
    assert!(!told.contains("kind=\"changes\""), "the verdict tells the text: {told}");
    recover(&scene, "r");
    scene.wait_hunks(2);
    let shown = nine().replace("l2", "L2").replace("l5", "l5, mine").replace("l8", "L8\nL8b");
    assert_eq!(text(&scene, "a.txt"), shown.trim_end());
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    scene.nvim.keys("\\R");
    scene.wait_hunks(0);
    assert_eq!(text(&scene, "a.txt"), nine().replace("l5", "l5, mine").trim_end());
    let told = scene.told_next();
    assert!(told.contains("The user rejected 2 changes in a.txt: they are undone."), "{told}");
}

/// Types in a hunk and beside it, without a swap file.
fn typed_without_swap_file(keys: &str) -> Scene {
    let scene = Scene::two_hunks(|it| it.before("vim.o.swapfile = false"));
    scene.nvim.wait(|_| records(&scene) == 1, "the record of the review");
    scene.nvim.keys(keys);
    scene
}

/// Starts Neovim again and checks that what was typed in the hunk is pending.
fn has_typed_text(scene: Scene) {
    let scene = start_again(scene);
    scene.wait_hunks(2);
    let shown = text(&scene, "a.txt");
    assert!(shown.contains("L2 typed\n"), "{shown}");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    scene.nvim.keys(":edit a.txt<CR>\\R");
    scene.wait_hunks(0);
    assert_eq!(text(&scene, "a.txt"), nine().trim_end());
}

#[test]
fn what_the_user_typed_in_a_hunk_survives_a_kill_of_neovim() {
    for keys in ["2GA typed<Esc>", "2GA typed"] {
        let scene = typed_without_swap_file(keys);
        let recorded = |scene: &Scene| {
            let records = scene.nvim.setup.review_records();
            fs::read_to_string(&records[0]).is_ok_and(|it| it.contains("L2 typed"))
        };
        scene.nvim.wait(|_| recorded(&scene), "the typed text in the record");
        scene.nvim.kill();
        has_typed_text(scene);
    }
}

#[test]
fn what_the_user_typed_in_a_hunk_survives_the_end_of_the_terminal() {
    let scene = typed_without_swap_file("2GA typed<Esc>");
    scene.nvim.wait(|it| it.buffer("/a.txt").contains("L2 typed"), "the typed text");
    scene.nvim.hang_up();
    has_typed_text(scene);
}

/// Opens the file and answers the question about its swap file with this choice.
pub(super) fn recover(scene: &Scene, choice: &str) {
    let answer = format!(
        "vim.api.nvim_create_autocmd('SwapExists', {{ callback = function() vim.v.swapchoice = '{choice}' end }})"
    );
    scene.nvim.lua(&answer, &[]);
    scene.nvim.keys(":silent edit a.txt<CR>");
}

#[test]
fn deleting_the_swap_file_puts_the_hunks_into_the_text_on_disk() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":preserve<CR>");
    scene.nvim.kill();
    let scene = start_again(scene);
    scene.nvim.wait_screen("The review of a.txt waits until you open the file");
    recover(&scene, "d");
    scene.wait_hunks(2);
    scene.nvim.keys("\\A");
    scene.wait_hunks(0);
    let settled = nine().replace("l2", "L2").replace("l8", "L8\nL8b");
    assert_eq!(scene.on_disk("a.txt"), Some(settled));
}

#[test]
fn proposals_to_create_rename_or_delete_files_can_be_decided_after_a_restart() {
    let scene = Scene::start(|it| it.file("old.txt", "old\n").file("gone.txt", "gone\n"));
    scene.ask(
        Reply::new()
            .call("n1", "write", super::scene::write("new.txt", "new\n"))
            .call("r1", "rename", json!({"path": "old.txt", "to": "named.txt"}))
            .call("d1", "delete", json!({"path": "gone.txt"})),
    );
    scene.wait_pending(3);
    let scene = quit(scene);
    scene.nvim.wait_screen("3 changes are still under review");
    scene.wait_hunks(3);
    assert_eq!(scene.on_disk("new.txt"), None);
    assert_eq!(scene.on_disk("old.txt").as_deref(), Some("old\n"));
    assert_eq!(scene.on_disk("gone.txt").as_deref(), Some("gone\n"));
    scene.nvim.keys(":edit gone.txt<CR>\\R:Caliban accept all<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("new.txt").as_deref(), Some("new\n"));
    assert_eq!(scene.on_disk("old.txt"), None);
    assert_eq!(scene.on_disk("named.txt").as_deref(), Some("old\n"));
    assert_eq!(scene.on_disk("gone.txt").as_deref(), Some("gone\n"));
    let told = scene.told_next();
    for one in [
        "The user accepted the change in new.txt.",
        "The user accepted the renaming: old.txt is now named.txt.",
        "The user rejected the deletion: gone.txt is not deleted.",
    ] {
        assert!(told.contains(one), "{one} in {told}");
    }
}

#[test]
fn a_review_is_reopened_even_if_the_program_was_dead_when_neovim_quit() {
    let scene = Scene::two_hunks(|it| it);
    super::life::kill_program(&scene);
    scene.nvim.keys("2G\\r");
    scene.wait_hunks(1);
    let scene = quit(scene);
    scene.wait_hunks(1);
    assert_eq!(text(&scene, "a.txt"), nine().replace("l8", "L8\nL8b").trim_end());
}

#[test]
fn each_reopened_conversation_has_its_own_review_again() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    scene.ask(two_hunks());
    scene.wait_pending(2);
    scene.nvim.keys(":Caliban new other<CR>");
    scene.nvim.wait_session("other");
    scene.server.reply(Reply::new().call("o1", "edit", edit("b.txt", &[("l4", "L4")])));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.wait_hunks(3);
    scene.wait_phase("reviewing");
    let scene = quit(scene);
    scene.wait_hunks(3);
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    for (session, file) in [("main", "a.txt"), ("other", "b.txt")] {
        scene.nvim.keys(&format!(":Caliban resume {session}<CR>"));
        let current = format!("return tostring(require('caliban').state().session == '{session}')");
        scene.nvim.wait(|nvim| nvim.lua_str(&current) == "true", session);
        let told = scene.told_next();
        assert!(told.contains(&format!(" in {file}")), "{told}");
        assert_eq!(told.matches("The user rejected").count(), 1, "{told}");
    }
}

const AUTO: &str = "{ mode = 'auto-edit' }";

#[test]
fn auto_edit_hunks_are_still_under_review_after_a_restart() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(AUTO));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.server.reply(two_hunks());
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(2);
    let written = nine().replace("l2", "L2").replace("l8", "L8\nL8b");
    let scene = quit(scene);
    scene.nvim.wait_screen("2 changes are still under review in a.txt (:Caliban next).");
    scene.wait_hunks(2);
    assert_eq!(scene.on_disk("a.txt"), Some(written.clone()));
    assert_eq!(text(&scene, "a.txt"), written.trim_end());
    scene.nvim.keys(":edit a.txt<CR>:set modified?<CR>");
    scene.nvim.wait_screen("nomodified");
    // The write guard does not apply in auto-edit mode.
    scene.nvim.keys("5GAmine<Esc>:w<CR>");
    let mine = written.replace("l5", "l5mine");
    scene.nvim.wait(|it| it.setup.on_disk("a.txt") == Some(mine.clone()), "what was written");
    scene.wait_hunks(2);
    scene.nvim.keys("8G\\r");
    scene.wait_hunks(1);
    let scene = quit(scene);
    scene.wait_hunks(1);
    scene.nvim.keys(":edit a.txt<CR>2G\\a");
    scene.wait_hunks(0);
    let settled = nine().replace("l2", "L2").replace("l5", "l5mine");
    scene.nvim.wait(|it| it.setup.on_disk("a.txt") == Some(settled.clone()), "the decision");
    let told = scene.told_next();
    assert!(told.contains("line 2, accepted") && told.contains("line 8, rejected"), "{told}");
    assert_eq!(records(&scene), 0);
}

#[test]
fn auto_edit_new_deleted_and_renamed_files_are_reviewed_after_a_restart() {
    let scene =
        Scene::start(|it| it.file("old.txt", "old\n").file("gone.txt", "gone\n").config(AUTO));
    scene.server.reply(
        Reply::new()
            .call("n1", "write", super::scene::write("new.txt", "new\n"))
            .call("r1", "rename", json!({"path": "old.txt", "to": "named.txt"}))
            .call("d1", "delete", json!({"path": "gone.txt"})),
    );
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(3);
    let scene = quit(scene);
    scene.nvim.wait_screen("3 changes are still under review");
    scene.wait_hunks(3);
    let files = |scene: &Scene| {
        ["new.txt", "old.txt", "named.txt", "gone.txt"].map(|it| scene.on_disk(it).is_some())
    };
    assert_eq!(files(&scene), [true, false, true, false]);
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    assert_eq!(files(&scene), [false, true, false, true]);
    assert_eq!(scene.on_disk("gone.txt").as_deref(), Some("gone\n"));
}

/// The user types in the file before its review is open again.
#[test]
fn a_review_reopened_beside_unsaved_changes_does_not_save_them() {
    let types = "if vim.uv.fs_stat('types') then
          vim.cmd.edit('a.txt')
          vim.api.nvim_buf_set_lines(0, 5, 5, true, { 'mine' })
        end";
    let scene = Scene::two_hunks(|it| it.before(types));
    let setup = scene.nvim.setup.clone();
    assert!(scene.nvim.quit_with("<Esc>:qa!<CR>").success());
    fs::write(setup.path("types"), "").unwrap();
    let scene = start_again(scene);
    scene.wait_hunks(2);
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.nvim.wait(|_| scene.said().contains("not saved: it has other unsaved"), "the reason");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    let lines = text(&scene, "a.txt");
    assert!(lines.contains("mine") && lines.contains("L2") && lines.contains("L8b"), "{lines}");
}

/// Two conversations changed the same file, in Neovims that did not run at the same time.
#[test]
fn two_reviews_of_one_file_are_reopened_one_after_the_other() {
    let scene = Scene::two_hunks(|it| it);
    assert!(scene.nvim.quit_with("<Esc>:qa!<CR>").success());
    let aside = scene.nvim.setup.dir().join("aside");
    let record = scene.nvim.setup.review_records().remove(0);
    fs::rename(&record, &aside).unwrap();
    let scene = start_again(scene);
    // A chat is opened explicitly: the search for interrupted turns may open another session meanwhile.
    scene.nvim.keys(":edit a.txt<CR>:Caliban new other<CR>");
    scene.nvim.wait_session("other");
    scene.server.reply(Reply::new().call("o1", "edit", edit("a.txt", &[("l4", "L4")])));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.wait_pending(1);
    assert!(scene.nvim.quit_with("<Esc>:qa!<CR>").success());
    fs::rename(&aside, &record).unwrap();
    let scene = start_again(scene);
    scene.nvim.wait(|_| scene.pending() > 0, "one of them");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(records(&scene), 2);
    // The waiting review survives another restart.
    let scene = quit(scene);
    scene.nvim.wait(|_| scene.pending() > 0, "one of them");
    assert_eq!((scene.on_disk("a.txt"), records(&scene)), (Some(nine()), 2));
    scene.nvim.keys(":edit a.txt<CR>");
    let first = scene.pending();
    scene.nvim.keys("\\A");
    scene.wait_hunks(3 - first);
    scene.nvim.keys("\\A");
    scene.wait_hunks(0);
    let settled = nine().replace("l2", "L2").replace("l4", "L4").replace("l8", "L8\nL8b");
    assert_eq!(scene.on_disk("a.txt"), Some(settled));
    assert_eq!(records(&scene), 0);
}

/// Names of the maximal length leave no room for the suffix of a swap file.
#[test]
fn files_with_the_longest_names_can_be_reviewed_and_reopened() {
    let name = format!("{}{}.txt", "ü".repeat(120), "x".repeat(11));
    assert_eq!(name.len(), 255);
    let scene = Scene::start(|it| it.file(&name, nine()));
    scene.nvim.keys(":set shortmess+=A<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit(&name, &[("l2", "L2")])));
    scene.wait_pending(1);
    let scene = quit(scene);
    scene.nvim.wait_screen("1 change is still under review");
    scene.wait_hunks(1);
    assert_eq!(scene.on_disk(&name), Some(nine()));
    scene.nvim.keys(":Caliban next<CR>\\a");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk(&name), Some(nine().replace("l2", "L2")));
}

#[test]
fn a_renamed_file_whose_review_comes_back_is_not_called_lost() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config("{ mode = 'auto-edit' }"));
    let rename = json!({ "path": "a.txt", "to": "b.txt" });
    scene.server.reply(Reply::new().call("r1", "rename", rename));
    scene.ask_until(Reply::said("Renamed."), "Renamed.");
    scene.wait_hunks(1);
    scene.nvim.wait(|_| records(&scene) == 1, "the record of the review");
    let scene = quit(scene);
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Renamed.");
    scene.wait_hunks(1);
    let transcript = scene.nvim.transcript();
    assert!(!transcript.contains("were under review"), "{transcript}");
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    assert!(!scene.told_next().contains("were under review"));
}
