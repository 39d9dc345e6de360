//! New files to which the user gives a text of their own.

use super::super::reopened::quit;
use super::super::scene::{Scene, write};
use crate::kit::reply::Reply;
use expect_test::expect;

fn end(scene: &Scene, heard: &str) -> String {
    let said = scene.said();
    let read =
        said.lines().rev().find(|it| it.starts_with("a.txt")).unwrap_or("nothing").to_owned();
    format!("{heard}\n---\n{read}\n---\n{:?}", scene.on_disk("a.txt"))
}

fn asked(keys: &str) -> String {
    let scene = Scene::start(|it| it);
    scene.ask(Reply::new().call("e1", "write", write("a.txt", "one\ntwo\nthree\n")));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(&format!(":edit a.txt<CR>{keys}"));
    scene.wait_idle("I see.");
    end(&scene, &scene.answer(2, "e1"))
}

fn written(keys: &str) -> String {
    let scene = Scene::start(|it| it.config("{ mode = 'auto-edit' }"));
    scene.server.reply(Reply::new().call("e1", "write", write("a.txt", "one\ntwo\nthree\n")));
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(1);
    scene.nvim.keys(&format!(":edit a.txt<CR>{keys}"));
    scene.wait_hunks(0);
    let told = scene.told_next();
    end(&scene, &told)
}

fn restarted(mode: &str, keys: &str) -> String {
    let scene = Scene::start(|it| it.config(&format!("{{ mode = '{mode}' }}")));
    scene.server.reply(Reply::new().call("e1", "write", write("a.txt", "one\ntwo\nthree\n")));
    if mode.contains("auto") {
        scene.ask_until(Reply::said("I see."), "I see.");
    } else {
        scene.nvim.keys(":Caliban ask please<CR>");
    }
    scene.wait_hunks(1);
    let scene = quit(scene);
    scene.wait_hunks(1);
    scene.nvim.keys(&format!(":edit a.txt<CR>{keys}"));
    scene.wait_hunks(0);
    let told = scene.told_next();
    end(&scene, &told)
}

#[test]
fn a_text_of_the_users_own_in_a_new_file_is_told_as_reworked() {
    expect![[r#"
        Of the change in a.txt: 1 reworked by the user.
        line 1, reworked, now reads:
        mine
        ---
        a.txt: 1 reworked, saved
        ---
        Some("mine\n")"#]]
    .assert_eq(&asked("ggcGmine<Esc>:Caliban accept all<CR>"));
    expect![[r#"
        Of the change in a.txt: 1 reworked by the user.
        line 1, reworked, now reads:
        mine
        a.txt is not saved (it has other unsaved changes): the changes are not on disk yet.
        ---
        a.txt: 1 reworked, not saved: it has other unsaved changes
        ---
        None"#]]
    .assert_eq(&asked(":%d<CR>imine<Esc>:Caliban accept all<CR>"));
    expect![[r#"
        <notice>
        Of the change in a.txt: 1 reworked by the user.
        line 1, reworked, now reads:
        mine
        </notice>
        and?
        ---
        a.txt: 1 reworked
        ---
        Some("mine\n")"#]]
    .assert_eq(&written("ggcGmine<Esc>:w<CR>:Caliban accept all<CR>"));
    expect![[r#"
        <notice>
        Of the change in a.txt: 1 reworked by the user.
        line 1, reworked, now reads:
        mine
        </notice>
        and?
        ---
        a.txt: 1 reworked
        ---
        Some("mine\n")"#]]
    .assert_eq(&written(":%d<CR>imine<Esc>:w<CR>:Caliban accept all<CR>"));
    expect![[r#"
        Of the change in a.txt: 1 reworked by the user.
        line 1, reworked, now reads:
        mine
        a.txt is not saved (it has other unsaved changes): the changes are not on disk yet.
        ---
        a.txt: 1 reworked, not saved: it has other unsaved changes
        ---
        None"#]]
    .assert_eq(&asked("uimine<Esc>:enew!<CR>"));
}

#[test]
fn a_new_file_without_text_is_told_as_rejected() {
    expect![[r#"
        The user rejected the new file a.txt: it does not exist.
        ---
        a.txt: undone
        ---
        None"#]]
    .assert_eq(&asked("u:enew!<CR>"));
    expect![[r#"
        <notice>
        The user rejected the new file a.txt: it does not exist.
        </notice>
        and?
        ---
        a.txt: 1 rejected
        ---
        None"#]]
    .assert_eq(&written(":Caliban reject all<CR>"));
}

#[test]
fn a_text_of_the_users_own_in_a_reopened_new_file_is_told_as_reworked() {
    expect![[r#"
        <notice>
        The turn was interrupted because the editor or Caliban ended. What ran then may have had effects.
        </notice>
        <notice>
        Of the change in a.txt: 1 reworked by the user.
        line 1, reworked, now reads:
        mine
        </notice>
        and?
        ---
        a.txt: 1 reworked, saved
        ---
        Some("mine\n")"#]].assert_eq(&restarted("ask", "ggcGmine<Esc>:Caliban accept all<CR>"));
    expect![[r#"
        <notice>
        Of the change in a.txt: 1 reworked by the user.
        line 1, reworked, now reads:
        mine
        </notice>
        and?
        ---
        a.txt: 1 reworked, saved
        ---
        Some("mine\n")"#]]
    .assert_eq(&restarted("auto-edit", "ggcGmine<Esc>:Caliban accept all<CR>"));
}

#[test]
fn an_empty_new_file_with_a_text_of_the_users_own_is_told_with_that_text() {
    let scene = Scene::start(|it| it);
    scene.ask(Reply::new().call("e1", "write", write("a.txt", "")));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":edit a.txt<CR>imine<Esc>:Caliban accept all<CR>");
    scene.wait_idle("I see.");
    expect![[r#"
        The user accepted the change in a.txt.
        The file changed elsewhere too:
        @@ line 1
        -
        +mine
        a.txt is not saved (it has other unsaved changes): the changes are not on disk yet.
        ---
        a.txt: created without text, not saved: it has other unsaved changes
        ---
        None"#]]
    .assert_eq(&end(&scene, &scene.answer(2, "e1")));
}
