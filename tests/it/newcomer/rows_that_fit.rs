//! What has to be seen is in sight and whole: the end of a chat that is followed, the head of a list, names and menus.

use super::small;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, edit, nine, write};
use serde_json::json;

const SIZES: [(u16, u16); 4] = [(80, 24), (60, 20), (120, 36), (200, 50)];

/// A call that changes six lines in three files with long names.
fn six_hunks() -> Reply {
    let files = ["one", "two", "three"].map(|it| format!("src/with/a/long/path/{it}_module.txt"));
    let edits: Vec<_> = files.iter().map(|it| edit(it, &[("l2", "L2"), ("l8", "L8")])).collect();
    edits
        .into_iter()
        .enumerate()
        .fold(Reply::new(), |reply, (n, edit)| reply.call(&format!("e{n}"), "edit", edit))
}

fn reviewed(columns: u16, rows: u16) -> Scene {
    let scene = Scene::start(|it| {
        ["one", "two", "three"]
            .iter()
            .fold(it, |it, name| {
                it.file(&format!("src/with/a/long/path/{name}_module.txt"), nine())
            })
            .size(columns, rows)
    });
    scene.nvim.keys(":edit src/with/a/long/path/one_module.txt<CR>:Caliban<CR>");
    scene.ask_until(Reply::said(&"A line of an answer.\n\n".repeat(12)), "A line");
    scene.nvim.keys("<Esc><C-w>p");
    scene.ask(six_hunks());
    scene.wait_pending(6);
    scene
}

/// Whether the screen shows the list of changes from its head on, or to its end.
fn shows_list(it: &Nvim, hunks: usize) -> bool {
    let screen = it.screen();
    let head = screen.contains(&format!("? {hunks} hunk"));
    let whole = !screen.contains("more line") || screen.contains("\\a accept");
    head && whole
}

#[test]
fn the_list_of_changes_is_shown_from_its_head_when_it_arrives_and_after_each_decision() {
    for (columns, rows) in SIZES {
        let scene = reviewed(columns, rows);
        let nvim = &scene.nvim;
        nvim.wait(|it| shows_list(it, 6), &format!("the list at {columns}"));
        for left in [5, 4] {
            nvim.keys(":Caliban next<CR>\\a");
            scene.wait_pending(left);
            nvim.wait(|it| shows_list(it, left), &format!("{left} hunks at {columns}"));
        }
    }
}

#[test]
fn a_file_of_the_list_has_one_row_and_its_name_is_seen() {
    for (columns, rows) in SIZES {
        let scene = Scene::start(|it| it.size(columns, rows));
        let path = "src/deep/folder/with/a/very/long/path/new_module_for_greetings.py";
        scene.nvim.keys(":Caliban<CR><Esc>");
        scene.ask(Reply::new().call("e1", "write", write(path, "one\n")));
        scene.wait_pending(1);
        scene.nvim.wait(
            |it| {
                let screen = it.screen();
                screen.lines().any(|it| {
                    let row = it.split('│').next_back().unwrap_or_default();
                    row.contains("▾ ")
                        && row.contains("new_module_for_greetings.py  new")
                        && row.contains("1 hunk")
                })
            },
            &format!("the file in one row at {columns}"),
        );
    }
}

#[test]
fn menus_at_the_composer_mark_what_they_cut_and_show_the_names_of_files() {
    for (columns, rows) in SIZES {
        let server = Server::start();
        let path = "src/deep/folder/with/a/very/long/path/and/more/of/it/implementation_of_it.txt";
        let setup = Setup::new().anthropic(&server).file(path, "one\n").size(columns, rows);
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>i@imp");
        nvim.wait_screen("implementation_of_it.txt");
        nvim.keys("<Esc>S/");
        nvim.wait_screen("/rename");
        nvim.wait(
            |it| {
                let screen = it.screen();
                let row = screen.lines().find(|it| it.contains("/rename")).unwrap_or_default();
                let row = row.trim_end_matches([' ', '█', '▒']);
                row.ends_with('…')
                    || row.ends_with("title")
                    || row.chars().count() < usize::from(columns) - 2
            },
            &format!("the whole menu at {columns}"),
        );
    }
}

#[test]
fn the_key_that_stops_a_turn_is_named_in_the_transcript_while_a_command_runs() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", json!({ "command": "seq 1 40; sleep 600" })));
    let rules =
        "{ mode = 'auto', sandbox = false, permissions = { { allow = 'shell', command = '*' } } }";
    let nvim = Nvim::start(&small(&server).config(rules));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_screen("running shell");
    nvim.keys("<Tab>");
    nvim.wait_screen("i write · <C-c> stop");
    nvim.keys("<C-c>");
    nvim.wait_phase("idle");
    nvim.wait_gone("<C-c> stop");
}

#[test]
fn what_a_key_on_an_earlier_message_does_is_told_in_sight() {
    for (columns, rows) in SIZES {
        let server = Server::start();
        let nvim = Nvim::start(&Setup::new().anthropic(&server).size(columns, rows));
        nvim.keys(":Caliban<CR><Esc>");
        for (prompt, words) in [("first", "One of it."), ("second", "Two of it.")] {
            server.reply(Reply::said(&format!("{}\n\n{words}", "A line.\n\n".repeat(20))));
            nvim.ask(prompt, words);
        }
        nvim.keys("<Tab>G[[U");
        nvim.wait_screen("! You went back to before “second”.");
    }
}

#[test]
fn all_items_of_the_to_do_list_can_be_seen_with_the_key_that_its_window_names() {
    for (columns, rows) in SIZES {
        let server = Server::start();
        let item = |n: usize| {
            let text = format!("Step {n} of the work, in a few more words than fit");
            let status = ["completed", "in_progress", "pending"][(n / 3).min(2)];
            json!({ "text": text, "status": status })
        };
        let todos: Vec<_> = (0..14).map(item).collect();
        server.reply(Reply::new().call("t1", "todo", json!({ "action": "write", "todos": todos })));
        server.reply(Reply::said("Begun."));
        let nvim = Nvim::start(&Setup::new().anthropic(&server).size(columns, rows));
        nvim.keys(":Caliban<CR><Esc>");
        nvim.ask("go", "Begun.");
        nvim.keys("gl");
        nvim.wait_screen("Todo · 3 of 14 · gl");
        nvim.wait_screen("Step 5");
        for _ in 0..14 {
            if nvim.screen().contains("gl closes") {
                break;
            }
            nvim.wait_screen("gl more");
            let before = nvim.screen();
            nvim.keys("gl");
            nvim.wait(|it| it.screen() != before, "the next page");
        }
        nvim.wait_screen("Step 13");
        nvim.keys("gl");
        nvim.wait_gone("Todo ·");
    }
}
