//! A proposal that arrives while the user is typing a command waits, and their keys work as usual.

use super::scene::{Scene, edit, nine};
use crate::kit::reply::Reply;

/// Types `before`, lets a proposal for line 8 arrive, and checks that the proposal waits. Then types `after`, and
/// checks that the buffer becomes `text` with the proposed change.
#[track_caller]
fn waits(before: &str, after: &str, text: &str) {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>:Caliban<CR><C-w>h4G");
    let gate =
        scene.server.reply(Reply::new().gate().call("e1", "edit", edit("a.txt", &[("l8", "L8")])));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.server.wait_requests(1);
    scene.nvim.keys(before);
    let blocked = scene.nvim.is_blocked();
    gate.finish();
    if !blocked {
        scene.nvim.wait(
            |nvim| nvim.lua_str("return #require('caliban.review').waiting()") == "1",
            "the waiting proposal",
        );
        assert_eq!(scene.pending(), 0, "{before} was disturbed");
        assert!(scene.nvim.lua_str(
            "return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.txt'), 0, -1, false), ' ')"
        ).contains("l8"));
    }
    scene.nvim.keys(after);
    scene.wait_pending(1);
    assert_eq!(
        scene.nvim.buffer("/a.txt").replace('\n', " "),
        text.replace("l8", "L8"),
        "{before}"
    );
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.nvim.buffer("/a.txt").replace('\n', " "), text, "{before}");
}

const NINE: &str = "l1 l2 l3 l4 l5 l6 l7 l8 l9";

#[test]
fn a_proposal_does_not_disturb_insert_mode() {
    waits("iab", "cd<Esc>", &NINE.replace("l4", "abcdl4"));
}

#[test]
fn a_proposal_does_not_disturb_replace_mode() {
    waits("Rx", "y<Esc>", &NINE.replace("l4", "xy"));
}

#[test]
fn a_proposal_does_not_disturb_visual_mode() {
    waits("Vj", "jd", &NINE.replace("l4 l5 l6 ", ""));
}

#[test]
fn a_proposal_does_not_disturb_an_operator_that_waits_for_its_motion() {
    waits("d", "j", &NINE.replace("l4 l5 ", ""));
}

#[test]
fn a_proposal_does_not_disturb_a_count_and_a_register_that_are_being_typed() {
    waits("\"a2", "dd", &NINE.replace("l4 l5 ", ""));
}

#[test]
fn a_proposal_does_not_disturb_a_substitution_that_asks_for_confirmation() {
    waits(":%s/l/x/gc<CR>y", "yyq", &NINE.replace("l1 l2 l3", "x1 x2 x3"));
}

#[test]
fn a_proposal_does_not_disturb_the_recording_of_a_macro() {
    waits("qqx", "xq", &NINE.replace("l4", ""));
}

#[test]
fn a_proposal_does_not_disturb_the_command_line() {
    waits(":5", "d<CR>", &NINE.replace("l5 ", ""));
}

#[test]
fn a_proposal_does_not_disturb_the_command_line_window() {
    waits("q:i5d<Esc>", "<CR>", &NINE.replace("l5 ", ""));
}

#[test]
fn a_proposal_does_not_disturb_a_hit_enter_prompt() {
    waits(":echo \"a\\nb\\nc\"<CR>", "<CR>", NINE);
}

#[test]
fn a_proposal_does_not_disturb_a_completion_menu() {
    waits("ol<C-n>", "<C-n><C-y> ok<Esc>", &NINE.replace("l4", "l4 l6 ok"));
}

#[test]
fn a_proposal_does_not_disturb_a_block_insert() {
    waits("<C-v>jIx", "y<Esc>", &NINE.replace("l4", "xyl4").replace("l5", "xyl5"));
}

#[test]
fn the_chat_says_that_a_proposal_waits() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).size(180, 30));
    scene.nvim.keys(":edit a.txt<CR>:Caliban<CR><C-w>h4Gi");
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l8", "L8")])));
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.nvim.wait(
        |nvim| nvim.lua_str("return #require('caliban.review').waiting()") == "1",
        "the waiting proposal",
    );
    scene.nvim.wait_screen("an edit waits until you are in normal mode");
    scene.nvim.keys("<Esc>");
    scene.wait_pending(1);
    scene.nvim.wait_gone("an edit waits");
}

#[test]
fn an_edit_of_text_that_moved_meanwhile_is_matched_again() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>:Caliban<CR><C-w>h");
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l8", "L8")])));
    scene.nvim.keys("ggOtop");
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.nvim.wait(
        |nvim| nvim.lua_str("return #require('caliban.review').waiting()") == "1",
        "the waiting proposal",
    );
    scene.nvim.keys(" line<CR>two<Esc>");
    scene.wait_pending(1);
    assert_eq!(
        scene.nvim.buffer("/a.txt"),
        format!("top line\ntwo\n{}", nine().replace("l8", "L8")).trim_end()
    );
}

#[test]
fn an_edit_of_text_deleted_meanwhile_is_refused_with_the_reason() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>:Caliban<CR><C-w>h");
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l8", "L8")])));
    scene.nvim.keys("8GA");
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.nvim.wait(
        |nvim| nvim.lua_str("return #require('caliban.review').waiting()") == "1",
        "the waiting proposal",
    );
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("<C-u>eight<Esc>");
    scene.wait_idle("I see.");
    assert!(
        scene.answer(2, "e1").starts_with("`old` is not in a.txt"),
        "{}",
        scene.answer(2, "e1")
    );
    assert_eq!(scene.nvim.buffer("/a.txt"), nine().replace("l8", "eight").trim_end());
}

/// While Neovim evaluates the expression of a mapping, no text may change (E565), although the mode is Normal mode.
#[test]
fn a_proposal_waits_while_a_mapping_locks_the_text() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    let mapping = "vim.keymap.set('n', 'X', function()
          vim.g.locked = true
          vim.wait(60000, function() return vim.g.open end, 1)
          return 'Aend<Esc>'
        end, { expr = true })";
    scene.nvim.lua(mapping, &[]);
    scene.nvim.keys(":edit a.txt<CR>4G");
    let reply = Reply::new().gate().call("e1", "edit", edit("a.txt", &[("l8", "L8")]));
    let gate = scene.server.reply(reply);
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.server.wait_requests(1);
    scene.nvim.request("nvim_input", vec!["X".into()]);
    scene.nvim.wait(|nvim| nvim.lua_str("return vim.g.locked") == "true", "the mapping");
    gate.finish();
    let waiting = "return #require('caliban.review').waiting()";
    scene.nvim.wait(|nvim| nvim.lua_str(waiting) == "1", "the waiting proposal");
    assert_eq!(scene.nvim.buffer("/a.txt"), nine().trim_end());
    scene.nvim.lua("vim.g.open = true", &[]);
    scene.wait_pending(1);
    assert_eq!(
        scene.nvim.buffer("/a.txt").replace('\n', " "),
        NINE.replace("l4", "l4end").replace("l8", "L8")
    );
}

#[test]
fn an_edit_is_given_up_after_five_tries_if_its_text_keeps_changing() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    let moving = "local propose = require('caliban.review').propose
        vim.g.times = 0
        require('caliban.review').propose = function(message)
          vim.g.times = vim.g.times + 1
          vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.txt'), 0, 0, true, { 'mine' })
          return propose(message)
        end";
    scene.nvim.lua(moving, &[]);
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l8", "L8")])));
    scene.ask_until(Reply::said("I see."), "I see.");
    assert_eq!(
        scene.answer(2, "e1"),
        "a.txt was not changed: its text kept changing while Caliban was placing the edit; try again later."
    );
    assert_eq!((scene.pending(), scene.nvim.lua_str("return vim.g.times").as_str()), (0, "5"));
    assert_eq!(scene.nvim.buffer("/a.txt"), "mine\n".repeat(5) + nine().trim_end());
}
