//! How calls look in the chat: one row for each, folded, cut to the width of the window, in colours, and while they
//! run.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::json;

const RULES: &str = "{ mode = 'auto', sandbox = false, permissions = { { allow = 'shell', command = 'false' }, \
                     { allow = 'shell', command = 'sleep' } } }";

/// `count` rows of the screen, from the first row that contains `from`, with Caliban's highlight groups marked.
fn rows(nvim: &Nvim, from: &str, count: usize) -> String {
    let screen = nvim.screen_marked("Caliban");
    let rows = screen.lines().skip_while(|row| !row.contains(from)).take(count);
    rows.map(timeless).collect::<Vec<_>>().join("\n")
}

/// A row without the duration of a call and the blanks before its result.
fn timeless(row: &str) -> String {
    let row = row.split("   ").filter(|it| !it.is_empty()).map(str::trim);
    let row = row.collect::<Vec<_>>().join("  ");
    match row.rsplit_once(" · ") {
        Some((before, _)) => format!("{before} · N⟧"),
        None => row,
    }
}

#[test]
fn each_finished_call_takes_one_row_and_consecutive_reads_share_one() {
    let server = Server::start();
    let deep = "src/a/deep/folder/of/many/modules/one.rs";
    let read = |it: Reply, id: &str, path: &str| it.call(id, "read", json!({ "path": path }));
    server.reply(read(read(Reply::new().text("I look."), "c1", deep), "c2", "b.rs"));
    let more = read(Reply::new(), "c3", "missing.rs");
    let gate = server.reply(more.call("c4", "shell", json!({"command": "false"})).held());
    server.reply(Reply::said("Done."));
    let setup = Setup::new().file(deep, "one\n").file("b.rs", "b\nc\n").config(RULES);
    let nvim = Nvim::start(&setup.anthropic(&server).size(80, 40));
    nvim.name_groups();
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_transcript("▸ read  path=\"b.rs\"");
    server.wait_count(2);
    // the two reads are folded into one row while the cursor is on one of them
    nvim.go_to_transcript("modules/one.rs");
    gate.release();
    nvim.wait_transcript("Done.");
    nvim.wait_phase("idle");
    let line = |nvim: &Nvim| nvim.lua_str("return vim.api.nvim_get_current_line()");
    assert_eq!(line(&nvim), format!("▸ read  2 files  {deep}, b.rs"));
    expect![[r#"
        ⟦CalibanTool|▸ read⟧  2 files  src/a/deep/folder/of/many/modules/one.rs, b.rs  ⟦CalibanDim|3 lines⟧
        ⟦CalibanTool|▸ read⟧  path="missing.rs"  ⟦CalibanError|failed · N⟧
        ⟦CalibanTool|▸ shell⟧  false  ⟦CalibanError|exit 1 · N⟧"#]].assert_eq(&rows(&nvim, "read⟧  2 files", 3));
    nvim.keys("<CR>");
    nvim.wait_transcript("  ▸ read  path=\"b.rs\"");
    expect![[r#"
        go

        I look.

        ▾ read  2 files  src/a/deep/folder/of/many/modules/one.rs, b.rs
          ▸ read  path="src/a/deep/folder/of/many/modules/one.rs"
          ▸ read  path="b.rs"
        ▸ read  path="missing.rs"
        ▸ shell  false

        Done."#]]
    .assert_eq(&nvim.conversation());
    assert!(line(&nvim).starts_with("▾ read"), "the cursor stays on the run");

    nvim.resize(40, 30);
    nvim.keys("j");
    nvim.wait_screen("one.rs  1 line · ");
    assert!(line(&nvim).starts_with("  ▸ read  …"), "{}", line(&nvim));
    nvim.wait_screen("src/a/deep/…  3 lines");
    nvim.keys("yy");
    assert_eq!(nvim.lua_str("return vim.fn.getreg('\"')"), format!("  ▸ read  path=\"{deep}\"\n"));
    nvim.keys("gf");
    let opened = |nvim: &Nvim| nvim.lua_str("return vim.fn.expand('%')").ends_with(deep);
    nvim.wait(opened, "the file of the cut line");
}

#[test]
fn a_running_call_shows_its_duration_and_a_spinner() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", json!({"command": "sleep 600"})));
    let nvim = Nvim::start(&Setup::new().config(RULES).anthropic(&server).size(80, 30));
    nvim.name_groups();
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_screen("running 1 s · <C-c> stops");
    let turns = |nvim: &Nvim| nvim.lua_str("return require('caliban.chat.spinner').is_active()");
    let sign = |nvim: &Nvim| {
        let screen = nvim.screen();
        let row = screen.lines().find(|it| it.contains(" shell  sleep")).unwrap_or_default();
        row.trim_start().chars().next()
    };
    nvim.go_to_transcript("sleep");
    let view = |nvim: &Nvim| nvim.lua_str("return vim.inspect(vim.fn.winsaveview())");
    let (before, first) = (view(&nvim), sign(&nvim));
    nvim.wait(|nvim| sign(nvim) != first, "a turn of the sign");
    assert_eq!(view(&nvim), before, "the cursor or the view has moved");

    nvim.keys(":tabnew<CR>");
    nvim.wait(|nvim| turns(nvim) == "false", "no timer while the chat is not visible");
    nvim.keys(":tabclose<CR>");
    nvim.wait(|nvim| turns(nvim) == "true", "the timer");
    nvim.keys("<C-c>");
    nvim.wait_phase("idle");
    nvim.wait(|nvim| turns(nvim) == "false", "no timer while nothing runs");
    let has_sign = |nvim: &Nvim| nvim.screen().contains(['⠋', '⠙', '⠸', '⠴', '⠦', '⠇']);
    nvim.wait(|nvim| !has_sign(nvim), "no sign while nothing runs");
    expect!["⟦CalibanTool|▸ shell⟧  sleep 600  ⟦CalibanError|stopped⟧"]
        .assert_eq(&rows(&nvim, "shell⟧", 1));
}

#[test]
fn a_call_that_runs_when_the_program_dies_is_shown_as_interrupted() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", json!({"command": "sleep 600"})));
    let nvim = Nvim::start(&Setup::new().config(RULES).anthropic(&server).size(80, 30));
    nvim.name_groups();
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_screen("running 1 s · <C-c> stops");
    crate::sessions::kill_program(&nvim);
    nvim.wait_screen("The program ended");
    expect!["⟦CalibanTool|▸ shell⟧  sleep 600  ⟦CalibanError|interrupted⟧"]
        .assert_eq(&rows(&nvim, "shell⟧", 1));
}

#[test]
fn a_question_left_open_by_the_programs_death_names_no_keys() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", json!({"command": "git push"})));
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(80, 40));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_question();
    crate::sessions::kill_program(&nvim);
    nvim.wait_transcript("? Run `git push`?");
    nvim.wait_transcript("  Not answered: the program has ended.");
    assert!(!nvim.transcript().contains("y once"), "{}", nvim.transcript());
}
