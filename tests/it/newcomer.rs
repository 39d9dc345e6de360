//! What a newcomer sees and presses in the first hour, on a screen of 80 columns and 24 rows.

mod floats;
mod follows;
mod keys;
mod rows;
mod rows_that_fit;
mod truths;

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, nine, two_hunks};
use serde_json::json;

fn small(server: &Server) -> Setup {
    Setup::new().anthropic(server).size(80, 24).file("a.txt", "one\n")
}

/// The line of keys at the composer: the last row of the screen but one.
fn keys(nvim: &Nvim) -> String {
    let screen = nvim.screen();
    screen.lines().nth(22).unwrap_or_default().trim().to_owned()
}

#[track_caller]
fn wait_keys(nvim: &Nvim, want: &str) {
    nvim.wait(|it| keys(it) == want, &format!("the keys {want:?}"));
}

#[test]
fn the_line_of_keys_names_keys_that_work_where_the_cursor_is() {
    let scene = Scene::two_hunks(|it| it.file("b.txt", "b\n").size(80, 24));
    let nvim = &scene.nvim;
    let review = "\\a accept · \\r reject · ]h next · :Caliban to the chat · :Caliban stop";
    wait_keys(nvim, "]h next · :Caliban to the chat · :Caliban stop");
    nvim.keys(":edit b.txt<CR>");
    wait_keys(nvim, ":Caliban next goes to the changes · :Caliban to the chat · :Caliban stop");
    nvim.keys(":Caliban next<CR>");
    wait_keys(nvim, review);
    scene.server.reply(Reply::said("I see."));
    nvim.keys("\\A");
    scene.wait_idle("I see.");
    wait_keys(nvim, ":Caliban to the chat");
    nvim.keys(":Caliban<CR><Esc>");
    wait_keys(nvim, "<CR> send · <Tab> to the chat · g? keys");
    nvim.go_to_transcript("please");
    wait_keys(nvim, "i write · ]] [[ messages · g? keys");
    nvim.go_to_transcript("▸ edit");
    wait_keys(nvim, "i write · <CR> open or close · ]] [[ messages · g? keys");
    nvim.keys("<CR>");
    nvim.wait_transcript("-l2");
}

#[test]
fn the_line_of_keys_leads_to_the_changes_from_another_file_after_the_turn_too() {
    let scene = Scene::two_written(|it| it.file("b.txt", "b\n").size(80, 24));
    let nvim = &scene.nvim;
    nvim.keys(":edit b.txt<CR>");
    wait_keys(nvim, ":Caliban next goes to the changes · :Caliban to the chat");
    nvim.keys(":Caliban next<CR>\\A:edit b.txt<CR>");
    wait_keys(nvim, ":Caliban to the chat");
}

#[test]
fn the_line_of_keys_follows_the_cursor_and_the_hunks_of_the_code() {
    let scene = Scene::two_written(|it| it.size(80, 24));
    let nvim = &scene.nvim;
    nvim.keys("2G");
    let on_hunk = "\\a accept · \\r reject · ]h next · :Caliban to the chat";
    wait_keys(nvim, on_hunk);
    nvim.keys("5G");
    wait_keys(nvim, "]h next · :Caliban to the chat");
    nvim.keys("8G");
    wait_keys(nvim, on_hunk);
    nvim.keys("\\*");
    wait_keys(nvim, ":Caliban to the chat");
    nvim.keys("u");
    wait_keys(nvim, on_hunk);
}

#[test]
fn keys_of_the_list_of_changes_lead_from_the_composer_to_the_first_change() {
    let scene = Scene::two_hunks(|it| it.size(80, 24));
    let nvim = &scene.nvim;
    for key in ["a", "r", "A", "R", "*", "c"] {
        nvim.keys(":Caliban<CR><Esc>");
        wait_keys(nvim, "<CR> send, review later · <Tab> to the changes · <C-c> stop · g? keys");
        nvim.keys(&format!("\\{key}"));
        nvim.wait_screen("This is the first change. Press the key again to decide.");
        let line = nvim.lua_str("return vim.api.nvim_get_current_line()");
        assert!(line.contains("-1 +1  L2"), "{key}: {line}");
        assert_eq!(scene.pending(), 2, "{key}");
    }
    nvim.keys("\\r");
    scene.wait_hunks(1);
    scene.server.reply(Reply::said("I see."));
    nvim.keys("\\a");
    scene.wait_idle("I see.");
    let mapped = "return vim.fn.maparg('\\\\a', 'n', false, true).buffer == 1";
    nvim.keys(":Caliban<CR><Esc>");
    nvim.wait(|it| it.lua_json(mapped) == false, "no key of the list");
}

#[test]
fn away_from_the_question_the_line_of_keys_names_the_way_to_it() {
    let server = Server::start();
    let call = json!({ "command": "touch b.txt" });
    server.reply(Reply::new().text("A file.").call("c1", "shell", call));
    let nvim = Nvim::start(&small(&server));
    nvim.keys(":edit a.txt<CR>:Caliban<CR>igo<C-s><Esc>");
    nvim.wait_question();
    wait_keys(
        &nvim,
        "<Tab> to the question · <C-c> stop · <CR> queue · <M-CR> join turn · g? keys",
    );
    nvim.keys("<C-w>t");
    wait_keys(&nvim, ":Caliban to the chat · :Caliban stop");
    nvim.keys("<C-w>j");
    nvim.go_to_transcript("A file.");
    wait_keys(&nvim, "i write · G to the question · ]] [[ messages · g? keys");
    nvim.keys("G");
    nvim.wait(|it| keys(it).starts_with("y once"), "the keys of the question");
}

#[test]
fn a_long_answer_of_a_slash_command_is_shown_from_its_beginning() {
    let server = Server::start();
    server.reply(Reply::said("Hi."));
    let nvim = Nvim::start(&small(&server));
    nvim.keys(":edit a.txt<CR>:Caliban<CR>");
    nvim.ask("hello", "Hi.");
    nvim.keys("i/context<C-s><Esc>");
    nvim.wait_screen("! About");
    nvim.keys("i/help<C-s><Esc>");
    nvim.wait_screen("! Commands:");
    // the key works only in the window of the lines
    nvim.wait_screen(" more lines ");
    nvim.wait_gone(" more lines · G");
    nvim.keys("<C-w>k");
    nvim.wait_screen(" more lines · G");
    nvim.keys("<C-w>j");
    nvim.wait_gone(" more lines · G");
    server.reply(Reply::said("At the end."));
    nvim.keys("imore<C-s><Esc>");
    nvim.wait_screen("At the end.");
    nvim.wait_gone(" more lines");
}

#[test]
fn slash_clear_says_what_it_did() {
    let server = Server::start();
    server.reply(Reply::said("Hi."));
    let nvim = Nvim::start(&small(&server));
    nvim.keys(":Caliban<CR>");
    nvim.ask("hello", "Hi.");
    nvim.keys("<Esc>:Caliban<CR>i/clear<Esc><CR>");
    nvim.wait_screen("This conversation is empty now. Its old text is in");
    assert!(!nvim.transcript().contains("Earlier"), "{}", nvim.transcript());
}

#[test]
fn after_an_input_the_command_line_is_empty() {
    let scene = Scene::two_hunks(|it| it.size(80, 24));
    let nvim = &scene.nvim;
    nvim.keys(":Caliban<CR><Esc><Tab>");
    nvim.keys("e");
    nvim.wait_screen("Reject, because: ");
    nvim.keys("too loud<CR>");
    scene.wait_hunks(1);
    nvim.wait_gone("Reject, because: ");
}

#[test]
fn the_list_of_hunks_takes_at_most_a_third_of_the_screen() {
    let scene = Scene::two_hunks(|it| it.size(80, 24));
    scene.nvim.keys(":Caliban review<CR>");
    let rows = "return vim.api.nvim_win_get_height(0)";
    scene.nvim.wait(|it| it.lua_str(rows) == "2", "two rows for two hunks");
}

#[test]
fn a_menu_of_completion_closes_when_the_text_is_sent() {
    let server = Server::start();
    let nvim = Nvim::start(&small(&server));
    nvim.keys(":Caliban<CR>i/hel");
    nvim.wait(|it| it.lua_str("return vim.fn.pumvisible()") == "1", "the menu");
    nvim.keys("p<C-s>");
    nvim.wait_screen("! Commands:");
    nvim.wait(|it| it.lua_str("return vim.fn.pumvisible()") == "0", "no menu");
    assert_eq!(nvim.composer(), "");
}

#[test]
fn the_window_of_keys_names_the_key_that_closes_it_and_hides_the_ruler() {
    let server = Server::start();
    let nvim = Nvim::start(&small(&server).before("vim.o.ruler = true"));
    nvim.keys(":Caliban<CR><Esc>g?");
    nvim.wait_screen("Keys · q closes");
    let first = nvim.lua_str("return vim.fn.getline(1)");
    assert!(first.starts_with(" <CR>    send"), "{first}");
    let ruler = |nvim: &Nvim| nvim.lua_str("return tostring(vim.o.ruler)");
    assert_eq!(ruler(&nvim), "false");
    nvim.keys("q");
    nvim.wait_gone("Keys · q closes");
    nvim.wait(|it| ruler(it) == "true", "the ruler");
}

#[test]
fn the_list_of_tasks_covers_no_changes_that_wait() {
    let scene = Scene::start(|it| it.size(80, 24).file("a.txt", nine()));
    let nvim = &scene.nvim;
    let todos = ["Read", "Change", "Test", "Tell"].map(|it| json!({ "text": it }));
    scene.server.reply(Reply::new().call(
        "t1",
        "todo",
        json!({ "action": "write", "todos": todos }),
    ));
    nvim.keys(":edit a.txt<CR>");
    scene.ask(two_hunks());
    scene.wait_pending(2);
    nvim.keys(":Caliban<CR><Esc>gl");
    nvim.wait_screen("[ ] Change");
    for words in
        ["2 hunks in 1 file to review", "\\a accept  \\r reject  e reject, because …  \\c comment"]
    {
        nvim.wait_screen(words);
    }
    let over = "return vim.iter(vim.api.nvim_list_wins()):find(function(win)
      return vim.api.nvim_win_get_config(win).relative ~= '' end) ~= nil";
    assert_eq!(nvim.lua_json(over), true);
}
