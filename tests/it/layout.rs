//! Tests where the chat is on screens of different sizes and after a resize.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

/// `tab page: columns x lines` of the code's window, the transcript's and the composer's.
fn windows(nvim: &Nvim) -> String {
    nvim.lua_str(
        "local chat, out = require('caliban.chat.chats').current, {}
        local names = { [chat.transcript] = 'transcript', [chat.composer] = 'composer' }
        for tab, page in ipairs(vim.api.nvim_list_tabpages()) do
          for _, win in ipairs(vim.api.nvim_tabpage_list_wins(page)) do
            local name = names[vim.api.nvim_win_get_buf(win)] or 'code'
            local size = ('%dx%d'):format(vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win))
            out[#out + 1] = ('%d %s %s'):format(tab, name, size)
          end
        end
        table.sort(out)
        return table.concat(out, ' | ')",
    )
}

fn opened(columns: u16, rows: u16) -> Nvim {
    let nvim = Nvim::start(&Setup::new().size(columns, rows));
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Project");
    nvim
}

#[track_caller]
fn check(columns: u16, rows: u16, expected: &str) {
    assert_eq!(windows(&opened(columns, rows)), expected, "{columns}x{rows}");
}

#[test]
fn the_chat_opens_beside_or_below_the_code_or_in_a_tab_depending_on_the_screen() {
    check(200, 40, "1 code 119x38 | 1 composer 80x3 | 1 transcript 80x34");
    check(120, 40, "1 code 59x38 | 1 composer 60x3 | 1 transcript 60x34");
    check(119, 48, "1 code 119x29 | 1 composer 119x3 | 1 transcript 119x12");
    check(119, 40, "1 code 119x17 | 1 composer 119x3 | 1 transcript 119x16");
    check(80, 24, "1 code 80x9 | 1 composer 80x1 | 1 transcript 80x10");
    check(60, 24, "1 code 60x9 | 1 composer 60x1 | 1 transcript 60x10");
    check(59, 24, "1 code 59x21 | 2 composer 59x1 | 2 transcript 59x19");
    check(80, 19, "1 code 80x16 | 2 composer 80x1 | 2 transcript 80x14");
}

#[test]
fn a_chat_beside_the_code_keeps_its_share_of_the_screen() {
    let nvim = opened(170, 40);
    let wide = windows(&nvim);
    assert_eq!(wide, "1 code 101x38 | 1 composer 68x3 | 1 transcript 68x34");
    for columns in [60, 170, 83, 97, 131, 61, 170] {
        nvim.resize(columns, 40);
        if columns == 60 {
            assert_eq!(windows(&nvim), "1 code 35x38 | 1 composer 24x3 | 1 transcript 24x34");
        }
    }
    assert_eq!(windows(&nvim), wide);
}

#[test]
fn a_chat_below_the_code_keeps_its_share_of_the_screen() {
    let nvim = opened(100, 40);
    let high = windows(&nvim);
    nvim.resize(100, 21);
    assert_eq!(windows(&nvim), "1 code 100x7 | 1 composer 100x1 | 1 transcript 100x9");
    nvim.resize(100, 40);
    assert_eq!(windows(&nvim), high);
}

#[test]
fn below_the_code_the_transcript_has_half_of_a_low_screen_during_a_turn_and_a_question_all_its_rows()
 {
    let server = Server::start();
    let command = (0..11).map(|n| format!("step {n}")).collect::<Vec<_>>().join("\n");
    let call = json!({ "command": command });
    let gate = server.reply(Reply::new().gate().text("First.").call("c1", "shell", call));
    let last = server.reply(Reply::new().text("Last").gate().text(" words."));
    let setup = Setup::new().anthropic(&server).file("a.txt", "one\n").size(80, 24);
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit a.txt<CR>:Caliban<CR>");
    nvim.wait_transcript("Project");
    let calm = windows(&nvim);
    nvim.keys("igo<C-s><Esc>");
    nvim.wait(
        |it| windows(it).contains("1 composer 80x1 | 1 transcript 80x12"),
        "half of the screen",
    );
    gate.finish();
    nvim.wait_question();
    nvim.wait(|it| windows(it).contains("1 transcript 80x14"), "all rows of the question");
    nvim.wait_screen("? Run this?");
    nvim.wait_screen("y once");
    assert_eq!(nvim.lua_str("return vim.fn.line('.')"), "1", "the cursor stays");
    nvim.keys("<Tab>y");
    nvim.wait(|it| windows(it).contains("1 transcript 80x12"), "half of the screen again");
    nvim.wait_screen("Last");
    last.finish();
    nvim.wait_phase("idle");
    nvim.wait(|it| windows(it) == calm, "the windows as they were");
    nvim.wait_screen("Last words.");
}

/// A command of so many lines.
fn run(lines: usize) -> Reply {
    let command = (0..lines).map(|n| format!("step {n}")).collect::<Vec<_>>().join("\n");
    Reply::new().call("c1", "shell", json!({ "command": command }))
}

#[test]
fn a_chat_below_the_code_grows_also_after_other_windows_were_opened_and_closed() {
    for other in
        [":help<CR>:q<CR>", ":copen<CR>:cclose<CR>", ":split<CR>:close<CR>", "<C-w>v:close<CR>"]
    {
        let server = Server::start();
        server.reply(run(11));
        let setup = Setup::new().anthropic(&server).file("a.txt", "one\n").size(80, 24);
        let nvim = Nvim::start(&setup);
        nvim.keys(":edit a.txt<CR>:Caliban<CR>");
        nvim.wait_transcript("Project");
        nvim.keys("<Esc><C-w>t");
        nvim.keys(other);
        nvim.command("redraw");
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_question();
        nvim.wait(|it| windows(it).contains("1 transcript 80x14"), other);
        nvim.keys("<C-w>t:split<CR>:close<CR>");
        nvim.wait(|it| windows(it).contains("1 transcript 80x14"), "the question's rows again");
    }
}

#[test]
fn other_windows_keep_three_rows_each_beside_a_chat_that_needs_more() {
    let server = Server::start();
    server.reply(run(30));
    let setup = Setup::new().anthropic(&server).file("a.txt", "one\n").size(80, 24);
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit a.txt<CR>:split<CR>:Caliban<CR>");
    nvim.wait_transcript("Project");
    let calm = windows(&nvim);
    nvim.keys("igo<C-s><Esc>");
    nvim.wait_question();
    let expected = "1 code 80x3 | 1 code 80x3 | 1 composer 80x1 | 1 transcript 80x12";
    nvim.wait(|it| windows(it) == expected, expected);
    server.reply(Reply::said("Over."));
    nvim.keys(":Caliban deny<CR>");
    nvim.wait_phase("idle");
    nvim.wait(|it| windows(it) == calm, "the windows as they were");
}

#[test]
fn a_question_is_shown_from_its_first_line_after_a_resize_and_in_a_new_window() {
    let server = Server::start();
    server.reply(run(11));
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(60, 20));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_question();
    nvim.resize(80, 30);
    let whole = |it: &Nvim| {
        let screen = it.screen();
        screen.contains("? Run this?") && screen.contains("step 10") && screen.contains("y once")
    };
    nvim.wait(whole, "the whole question after a resize");
    nvim.keys("<C-w>t:only<CR>:Caliban<CR>");
    nvim.wait(whole, "the whole question in a new window");
}

#[test]
fn a_chat_below_the_code_keeps_the_height_that_the_user_has_given_it() {
    let server = Server::start();
    let gate = server.reply(Reply::new().gate().text("Done."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(80, 24));
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Project");
    nvim.keys("<C-w>k<C-w>5_<C-w>j");
    nvim.wait(|it| windows(it).contains("transcript 80x5"), "the user's height");
    let own = windows(&nvim);
    nvim.keys("igo<C-s><Esc>");
    nvim.wait(|it| it.phase() != "idle", "a turn");
    assert_eq!(windows(&nvim), own);
    gate.finish();
    nvim.wait_phase("idle");
    nvim.wait_screen("Done.");
    assert_eq!(windows(&nvim), own);
}

#[test]
fn if_the_user_changes_the_chats_width_the_chat_keeps_this_share_of_the_screen() {
    let nvim = opened(200, 40);
    nvim.keys("<C-w>50|");
    nvim.resize(100, 40);
    assert!(windows(&nvim).contains("transcript 25x"), "{}", windows(&nvim));
    nvim.resize(200, 40);
    assert!(windows(&nvim).contains("transcript 50x"), "{}", windows(&nvim));
}

#[test]
fn the_chats_winbar_is_fitted_to_a_new_width() {
    let server = Server::start();
    server.reply(Reply::said("Hello.").usage(1200, 300));
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(200, 40));
    nvim.keys(":Caliban<CR>");
    nvim.ask("hi", "Hello.");
    nvim.wait_screen("anthropic/claude-sonnet-4-5 · ask · ○ idle");
    nvim.resize(100, 40);
    nvim.wait_screen("claude-sonnet-4-5 · ask · ○ idle");
    let screen = nvim.screen();
    let bar = screen.lines().find(|line| line.contains("○ idle")).unwrap();
    assert!(!bar.contains("anthropic/"), "{bar}");
}

#[test]
fn the_composer_grows_with_its_text_and_says_what_can_be_written() {
    let server = Server::start();
    let gate = server.reply(Reply::new().text(&"A line.\n\n".repeat(40)).gate().text("The end."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(120, 40));
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Ask, or /command, @file");
    let small = windows(&nvim);
    nvim.keys("ione");
    nvim.wait_gone("Ask, or /command");
    assert_eq!(nvim.composer(), "one");
    nvim.keys("<Esc>yy");
    assert_eq!(nvim.lua_str("return vim.fn.getreg('\"')"), "one\n");
    nvim.keys("<CR>");
    nvim.wait_screen("Queue a message");
    nvim.wait_screen("A line.");
    nvim.keys("ia<CR>b<CR>c<CR>d<CR>e<CR>f");
    nvim.wait(|it| windows(it).contains("composer 60x6"), "a composer of six lines");
    assert!(windows(&nvim).contains("1 code 59x38"), "{}", windows(&nvim));
    nvim.keys("<CR>x".repeat(30).as_str());
    nvim.wait(|it| windows(it).contains("composer 60x10"), "a composer of ten lines");
    nvim.keys("<C-s><Esc>");
    nvim.wait(|it| windows(it) == small, "the small composer");
    server.reply(Reply::said("Next."));
    gate.finish();
    nvim.wait_phase("idle");
    nvim.wait_screen("Next.");
    nvim.wait_screen("Ask, or /command, @file");
}
