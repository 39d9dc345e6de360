//! Tests the test kit: the control of Neovim here, and the fake model server in the files of `kit_test/`.

mod gemini;
mod images;
mod ollama;
mod pictures;
mod refusals;
mod responses;
mod server;

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::run::wait_for;

/// An example for new tests: from the keys through the program to the server and back to the screen.
#[test]
fn a_typed_prompt_is_answered_on_the_screen() {
    let server = Server::start();
    let gate = server.reply(Reply::chunks(["Hello ", "there."]).usage(100, 5));
    let setup = Setup::new().file("a.txt", "one\n").anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("g? keys");
    nvim.keys("iwho are you?<Esc><CR>");
    assert!(server.wait_requests(1)[0].last_user_text().contains("who are you?"));
    gate.release();
    nvim.wait_screen("Hello");
    gate.finish();
    nvim.wait_screen("Hello there.");
    nvim.quit_with(":qa!<CR>");
    nvim.wait(|nvim| nvim.setup.processes().is_empty(), "the program's end");
}

#[test]
fn typed_keys_reach_the_buffer_and_the_screen() {
    let nvim = Nvim::start(&Setup::new().file("a.txt", "one\ntwo\n"));
    nvim.keys(":edit a.txt<CR>Ahello<Esc>");
    nvim.wait_screen("onehello");
    assert_eq!(nvim.buffer("/a.txt"), "onehello\ntwo");
    assert!(nvim.quit_with(":wq<CR>").success());
    assert_eq!(nvim.setup.on_disk("a.txt").as_deref(), Some("onehello\ntwo\n"));
}

#[test]
fn is_blocked_is_true_while_neovim_waits_for_a_key() {
    let nvim = Nvim::start(&Setup::new());
    nvim.keys("ione two<Esc>0");
    assert!(!nvim.is_blocked());
    nvim.keys("f");
    assert!(nvim.is_blocked());
    nvim.keys("t");
    assert!(!nvim.is_blocked());
    nvim.keys("x");
    nvim.wait_screen("one wo");
}

#[test]
fn a_failing_call_of_the_test_kit_panics_and_shows_the_screen() {
    let nvim = Nvim::start(&Setup::new());
    nvim.keys("ione two<Esc>0f");
    let asked = std::panic::AssertUnwindSafe(|| nvim.lua("return 1", &[]));
    let told = std::panic::catch_unwind(asked).unwrap_err();
    let told = told.downcast_ref::<String>().unwrap();
    assert!(told.contains("waits for a key") && told.contains("one two"), "{told}");
}

#[test]
fn the_kits_screen_shows_the_highlight_group_of_a_text() {
    let setup = Setup::new().before("vim.api.nvim_set_hl(0, 'CalibanAdd', { link = 'DiffAdd' })");
    let nvim = Nvim::start(&setup);
    nvim.keys("iwärme 漢字 end<Esc>");
    nvim.lua(
        "local ns = vim.api.nvim_create_namespace('kit')
         vim.api.nvim_buf_set_extmark(0, ns, 0, 7, { end_col = 13, hl_group = 'CalibanAdd' })",
        &[],
    );
    nvim.wait_screen("end");
    nvim.wait(|nvim| nvim.screen_marked("Caliban").contains('⟦'), "the mark");
    assert_eq!(nvim.screen_marked("Caliban").lines().next(), Some("wärme ⟦CalibanAdd|漢字⟧ end"));
    assert_eq!(nvim.hl_of("漢字"), ["CalibanAdd"]);
    assert_eq!(nvim.hl_at(0, 6), ["CalibanAdd"]);
    assert!(nvim.hl_of("end").is_empty());
}

#[test]
fn the_kits_screen_shows_the_right_lines_after_scrolling() {
    let lines: Vec<String> = (1..=200).map(|n| format!("line {n}")).collect();
    let nvim = Nvim::start(&Setup::new().file("long.txt", lines.join("\n")).size(60, 12));
    nvim.keys(":edit long.txt<CR>");
    for (keys, first) in [("3<C-e>", 4), ("<C-d>", 9), ("5<C-y>", 4), ("<C-u>", 1), ("G", 191)] {
        nvim.keys(keys);
        let top = format!("line {first}");
        nvim.wait(
            |nvim| nvim.screen().lines().next() == Some(&top),
            &format!("{top} after {keys}"),
        );
        let rows: Vec<String> = (first..first + 10).map(|n| format!("line {n}")).collect();
        assert_eq!(nvim.screen().lines().take(10).collect::<Vec<_>>(), rows);
    }
}

#[test]
fn a_second_neovim_of_a_setup_has_the_same_home_and_a_killed_one_leaves_no_process() {
    let setup = Setup::new();
    let nvim = Nvim::start(&setup);
    nvim.lua("vim.fn.writefile({ 'kept' }, vim.fn.stdpath('data') .. '.txt')", &[]);
    nvim.lua("vim.fn.jobstart({ 'sleep', '600' })", &[]);
    wait_for(|| setup.processes().len() == 2);
    nvim.kill();
    drop(nvim);
    assert_eq!(setup.processes(), []);
    let nvim = Nvim::start(&setup);
    assert_eq!(nvim.lua_str("return vim.fn.readfile(vim.fn.stdpath('data') .. '.txt')[1]"), "kept");
}

#[test]
fn the_tested_neovim_gets_only_the_environment_of_its_setup() {
    let setup = Setup::new().env("OPENAI_API_KEY", "k").config("{ mode = 'ask' }").headless();
    let nvim = Nvim::start(&setup);
    let names = nvim.lua_json("return vim.tbl_keys(vim.fn.environ())");
    for name in names.as_array().unwrap() {
        let name = name.as_str().unwrap();
        assert!(!name.ends_with("_KEY") || name == "OPENAI_API_KEY", "{name}");
        assert!(!name.ends_with("_BASE_URL") && !name.to_lowercase().ends_with("_proxy"), "{name}");
    }
    assert_eq!(nvim.lua_json("return vim.g.caliban")["mode"], "ask");
    assert_eq!(nvim.lua_json("return vim.g.caliban")["bin"], env!("CARGO_BIN_EXE_caliban"));
    assert!(nvim.try_lua("error('no')", &[]).unwrap_err().contains(": no"));
}
