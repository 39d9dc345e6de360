//! The look of a turn, windows and buffers that the user closes, and notifications while the chat is hidden.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::json;

#[test]
fn a_turn_that_waits_for_consent_shows_all_its_parts() {
    let server = Server::start();
    server.reply(all_parts());
    let setup = Setup::new().file("src/a.rs", "fn old() {}\n\n").anthropic(&server).size(130, 34);
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit src/a.rs<CR>:1Caliban<CR>irename it in @src/a.rs<CR>and its callers<C-s>");
    nvim.wait_screen("? Run `cargo test`?");
    nvim.wait_question();
    nvim.keys("also the docs,<CR>please<C-s>");
    let shown = |nvim: &Nvim| {
        // Neovim 0.12 marks nomodifiable buffers in the status line.
        let screen = nvim.screen().replace(" [-]", "    ");
        let rows = screen.lines().map(|row| row.chars().skip(69).collect::<String>());
        rows.map(|row| timeless(row.trim_end())).collect::<Vec<_>>().join("\n")
    };
    let expected = expect![[r#"
        │ claude-sonnet-4-5 · ask · ● waiting for you    11% · $0.04
        │┃ rename it in @src/a.rs
        │┃ and its callers
        │┃ ▏selection  src/a.rs:1  1 line  3 tokens
        │┃ ▏src/a.rs  2 lines  4 tokens
        │
        │  ▸ Thought for N
        │  I look at both first.
        │
        │                                                       rust
        │  fn old() {}
        │
        │  ▸ grep  pattern="old" path="src"    1 match · N ms
        │  ▸ read  path="src/a.rs" lines=1    1 line · N ms
        │
        │  ? Run `cargo test`?
        │    `a` allows `cargo test …` in this project from now on.
        │    y once  s session  a always  c change  n no
        │    e no, because …  i explain
        │
        │  ◷ queued: also the docs, please     x removes · <CR> edits
        │
        │
        │
        │
        │
        │
        │
        │────────────────────────────────────────────────────────────
        │Queue a message
        │
        │
          <Esc><Tab> to the question · <C-s> queue · <Esc> more keys
    "#]];
    nvim.wait_expect(expected, shown);
}

#[test]
fn a_queued_message_takes_one_row_and_leaves_room_for_its_keys() {
    let server = Server::start();
    let gate = server.reply(Reply::new().text("I look.").gate());
    let setup = Setup::new().anthropic(&server).config("{ layout = 'tab' }").size(60, 30);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>igo<C-s>");
    nvim.wait_screen("I look.");
    let (text, more) = ("and change the tests of all the modules too, please", "x".repeat(90));
    nvim.keys(&format!("{text}<C-s>{more}<C-s><Esc>"));
    nvim.wait_screen("  ◷ queued: and change the tests of…  x removes · <CR> edits");
    nvim.wait(|it| it.screen().contains("\n  ◷ queued: xxxx"), "the next message in the next row");
    nvim.wait_screen("x…");
    nvim.resize(40, 30);
    nvim.wait_screen("  ◷ queued: and change the tests of all…");
    nvim.wait_screen("                 x removes · <CR> edits");
    nvim.resize(90, 30);
    nvim.wait_screen(&format!("◷ queued: {text}  "));
    nvim.go_to_transcript("queued: and");
    nvim.keys("<CR>");
    nvim.wait(|it| it.composer() == text, "the whole message in the composer");
    server.reply(Reply::said("I see."));
    gate.finish();
    nvim.wait_transcript("I see.");
}

/// Reasoning, text, reads and a command.
fn all_parts() -> Reply {
    Reply::new()
        .thinking("Hm.")
        .text("I look at **both** first.\n\n```rust\nfn old() {}\n```\n")
        .call("c1", "grep", json!({"pattern": "old", "path": "src"}))
        .call("c2", "read", json!({"path": "src/a.rs", "offset": 1, "limit": 1}))
        .call("c3", "shell", json!({"command": "cargo test"}))
        .usage(12_000, 400)
        .cached(9000, 0)
}

/// A row with `N` in place of durations, which differ from run to run.
fn timeless(row: &str) -> String {
    if let Some((before, _)) = row.split_once("Thought for") {
        return format!("{before}Thought for N");
    }
    match row.rsplit_once(" · ") {
        Some((before, time)) if time.ends_with(" ms") || time.ends_with(" s") => {
            let (line, result) = before.split_once("   ").unwrap_or((before, ""));
            format!("{line}    {} · N ms", result.trim())
        }
        _ => row.to_owned(),
    }
}

#[test]
fn markdown_is_highlighted_in_every_window() {
    let server = Server::start();
    let text = "# Title\n\nSay `x` in **bold**.\n\n```lua\nlocal a = 1\n```\n\nThe end.";
    server.reply(Reply::new().thinking("Hm.\nSo.").text(text));
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(161, 30));
    nvim.keys(":Caliban<CR>");
    nvim.ask("go", "The end.");
    nvim.wait_phase("idle");
    // a thought is unfolded, so that the rows move, and a second window shows the transcript
    nvim.go_to_transcript("Thought for");
    nvim.keys("za");
    nvim.wait_screen("▾ Thought for");
    nvim.keys("<C-w>T:vsplit<CR>");
    let both = |nvim: &Nvim| nvim.screen_marked("").matches("Statement|local⟧").count() == 2;
    nvim.wait(both, "the code in both windows");
    let shown = nvim.screen_marked("").replace("⟦WinSeparator|│⟧", "│");
    let rows =
        shown.lines().skip_while(|row| !row.contains("Title⟧")).filter(|row| row.contains('│'));
    let halves = rows.map(|row| {
        let (left, right) = row.split_once('│').unwrap();
        assert_eq!(left.trim_end(), right.trim_end());
        right.trim_end().replace("⟦SignColumn|  ⟧", "")
    });
    let rows: Vec<String> = halves.filter(|it| !it.is_empty()).take(5).collect();
    expect![[r#"
        ⟦CalibanHeading1|Title⟧
        Say ⟦Special|x⟧ in ⟦@markup.strong|bold⟧.
        ⟦CalibanCode|                                                                          ⟧⟦CalibanCode+CalibanDim|lua ⟧
        ⟦CalibanCode+Statement|local⟧⟦CalibanCode| ⟧⟦CalibanCode+@variable|a⟧⟦CalibanCode| ⟧⟦CalibanCode+Operator|=⟧⟦CalibanCode| ⟧⟦CalibanCode+Constant|1⟧⟦CalibanCode|                                                                   ⟧
        The end."#]]
    .assert_eq(&rows.join("\n"));
}

/// A chat with a reply that has all kinds of Markdown. What is opened in the browser is in `g:opened`.
fn markdown() -> (Server, Nvim) {
    let server = Server::start();
    server.reply(Reply::new().text(include_str!("../data/markdown.txt")));
    let setup = Setup::new().file("src/a.rs", "fn a() {}\n").anthropic(&server).size(160, 50);
    let nvim = Nvim::start(&setup.before("vim.ui.open = function(it) vim.g.opened = it end"));
    nvim.keys(":Caliban<CR>");
    nvim.ask("go", "The end.");
    nvim.wait_phase("idle");
    (server, nvim)
}

#[test]
fn markdown_is_shown_without_its_marks_and_the_cursors_line_as_source() {
    let (_server, nvim) = markdown();
    let chat = |nvim: &Nvim| {
        let screen = nvim.screen();
        let rows = screen.lines().skip_while(|row| !row.contains("The parser"));
        let rows = rows.take_while(|row| !row.contains("The end."));
        let rows = rows.map(|row| row.chars().skip(98).collect::<String>());
        rows.map(|row| row.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    };
    nvim.go_to_transcript("The end.");
    nvim.wait_expect(
        expect![[r#"
            The parser

            It is called by old_name() and one more, not two.
            See
            the guide and the
            file.

            What changes

            • parse in src/a.rs:10-40 takes a second argument,
              and its callers
              • tests too
            1. first
            Steps
            ☑ read the code
            ☐ change it

            ▎ A quote that is long enough to wrap over more than one line.
            ▎ ▎ nested

            ──────────────────────────────────────────────────────────────
                                                                     text
            let **x** = 1

            name │    what    │  size
            ─────┼────────────┼──────
            a|b  │ the first  │    10
            bcd  │ second one │ 2,000
        "#]],
        chat,
    );
    for (line, source) in [("called", "**called**"), ("bcd", "| bcd | **second**")] {
        nvim.go_to_transcript(line);
        nvim.wait_screen(source);
    }
    nvim.keys("yy:setlocal conceallevel=0<CR>");
    nvim.wait_screen("# The parser");
    nvim.wait_screen("|---|:-:|--:|");
    let yanked = nvim.lua_str("return vim.fn.getreg('\"')");
    assert_eq!(yanked, "| bcd | **second** one | 2,000 |\n");
}

#[test]
fn a_code_block_without_a_parser_is_coloured_by_a_syntax_file_of_neovim() {
    let server = Server::start();
    let code = "def f(x):\n    \"\"\"Two\n    lines\"\"\"\n    return 12  # yes";
    let text = format!("```python\n{code}\n```\n```2html\nx\n```\n```../vim|qa!\nx\n```\nThe end.");
    server.reply(Reply::new().text(&text));
    let setup = Setup::new().anthropic(&server).before("vim.cmd('syntax on')").size(60, 70);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.ask("go", "The end.");
    let code = |nvim: &Nvim| {
        let screen = nvim.screen_marked("").replace("⟦SignColumn|  ⟧", "");
        let rows = screen.lines().skip_while(|row| !row.contains("def")).take(4);
        rows.map(|row| row.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    };
    nvim.wait_expect(expect![[r#"
        ⟦CalibanCode+Statement|def⟧⟦CalibanCode| ⟧⟦CalibanCode+Function|f⟧⟦CalibanCode|(x):                                                 ⟧
        ⟦CalibanCode|    ⟧⟦CalibanCode+String|"""Two⟧⟦CalibanCode|                                                ⟧
        ⟦CalibanCode|    ⟧⟦CalibanCode+String|lines"""⟧⟦CalibanCode|                                              ⟧
        ⟦CalibanCode|    ⟧⟦CalibanCode+Statement|return⟧⟦CalibanCode| ⟧⟦CalibanCode+Constant|12⟧⟦CalibanCode|  ⟧⟦CalibanCode+Comment|#⟧⟦CalibanCode| ⟧⟦CalibanCode+Comment|yes⟧⟦CalibanCode|                                      ⟧"#]], code);
    // only the syntax file of the language is sourced, and no buffer is left over
    let left = "return #vim.tbl_filter(function(it)
        return vim.bo[it].syntax == 'python'
      end, vim.api.nvim_list_bufs())";
    nvim.wait(|it| it.lua_json(left) == 0, "the end of the colouring");
    assert!(!nvim.lua_str("return vim.fn.execute('scriptnames')").contains("2html"));
}

#[test]
fn a_link_is_opened_with_the_cursor_on_its_text() {
    let (_server, nvim) = markdown();
    nvim.go_to_transcript("the guide");
    nvim.keys("K");
    nvim.wait_screen("│https://example.com/a?x=1│");
    nvim.keys("K");
    nvim.wait_gone("│https://example.com/a?x=1│");
    nvim.keys("gx");
    let opened = |it: &Nvim| it.lua_str("return vim.g.opened") == "https://example.com/a?x=1";
    nvim.wait(opened, "the address in the browser");
    nvim.keys("f[gx");
    nvim.wait_screen("fn a() {}");
}

#[test]
fn hostile_text_of_a_model_reaches_the_buffer_as_plain_text() {
    let server = Server::start();
    let long = "x".repeat(200_000);
    let text = format!("a\u{1b}[31mred\u{7}\r\nb\u{0}c\u{9b}31m\n{long}\nend of it");
    server.reply(Reply::new().text(&text).call(
        "c1",
        "re\u{1b}ad x",
        json!({"path": "a\u{1b}[2J\nb"}),
    ));
    server.reply(Reply::said("Over."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>");
    nvim.ask("go", "Over.");
    nvim.wait_transcript("end of it");
    // the transcript breaks the long line into several, which are joined here
    let transcript = nvim.conversation().replace("x\nx", "xx");
    assert!(transcript.chars().all(|c| !c.is_control() || c == '\n'), "control characters");
    let lines: Vec<String> = transcript
        .lines()
        .map(|it| format!("{}: {}", it.len(), it.chars().take(40).collect::<String>()))
        .filter(|it| !it.starts_with("0: "))
        .collect();
    expect![[r#"
        2: go
        4: ared
        2: bc
        200000: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        9: end of it
        41: ▸ re_ad_x  path="a[U+001B][2J[U+000A]b"
        5: Over."#]]
    .assert_eq(&lines.join("\n"));
    let line = transcript.lines().find(|it| it.starts_with('▸')).unwrap();
    assert!(!line.contains('\u{1b}'), "{line}");
}

#[test]
fn wiped_buffers_of_the_chat_are_restored_with_their_text() {
    let server = Server::start();
    let gate = server.reply(Reply::chunks(["one ", "two ", "three"]));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>igo<C-s>");
    gate.release();
    nvim.wait_screen("one");
    nvim.keys("half written<Esc>:bwipeout!<CR>");
    gate.release();
    nvim.wait_transcript("one two");
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("half written");
    nvim.keys("<C-w>k:bwipeout!<CR>");
    gate.finish();
    nvim.wait_phase("idle");
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("one two three");
    nvim.wait_screen("half written");
    server.reply(Reply::said("Still here."));
    nvim.ask("again", "Still here.");
}

#[test]
fn the_chat_can_be_closed_and_reopened_if_it_has_the_only_windows() {
    let server = Server::start();
    let gate = server.reply(Reply::chunks(["one ", "two"]));
    let nvim = Nvim::start(&Setup::new().file("a.rs", "a\n").anthropic(&server));
    nvim.keys(":edit a.rs<CR>:Caliban<CR>igo<C-s><Esc>");
    gate.release();
    nvim.wait_screen("one");
    nvim.keys("<C-w>k:only<CR>");
    gate.finish();
    nvim.wait_screen("one two");
    nvim.keys(":Caliban close<CR>");
    nvim.wait_gone("one two");
    assert_eq!(nvim.lua_str("return vim.fn.expand('%:t')"), "a.rs");
    nvim.keys(":Caliban toggle<CR>");
    nvim.wait_screen("one two");
}

#[test]
fn a_closed_transcript_is_reopened_above_its_composer() {
    for keys in ["<C-w>k:bwipeout!<CR>", "<C-w>j:only<CR>", "<C-w>k:q<CR>"] {
        let server = Server::start();
        server.reply(Reply::said("Here."));
        let nvim = Nvim::start(&Setup::new().anthropic(&server));
        nvim.keys(":Caliban<CR>");
        nvim.ask("go", "Here.");
        nvim.keys(keys);
        nvim.keys(":Caliban<CR>");
        nvim.wait_transcript("Here.");
        let places = "local out = {}
            for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
              local name = vim.fn.bufname(vim.api.nvim_win_get_buf(win))
              local row, column = unpack(vim.api.nvim_win_get_position(win))
              out[name] = { row, column, vim.api.nvim_win_get_height(win) }
            end
            local over, under = out['caliban://main'], out['caliban://main/prompt']
            return over and over[2] == under[2] and over[1] < under[1] and under[3] == 3";
        nvim.wait(|nvim| nvim.lua_str(places) == "true", &format!("its place after {keys}"));
    }
}

#[test]
fn a_reopened_conversation_looks_the_same() {
    let server = Server::start();
    server.reply(Reply::new().text("Half").gate());
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_transcript("Half");
    nvim.keys("<C-c>");
    nvim.wait_transcript("Stopped.");
    server.reply(Reply::said("Fine."));
    nvim.ask("more", "Fine.");
    assert!(server.requests()[1].last_user_text().contains("The user stopped the turn"));
    let before = nvim.conversation();
    nvim.keys(":Caliban restart<CR>");
    nvim.wait(|nvim| nvim.phase() == "idle", "the new program");
    nvim.wait(|nvim| nvim.conversation() == before, "the same transcript");
}

#[test]
fn a_hidden_chat_notifies_of_a_question_and_of_the_end() {
    let server = Server::start();
    let call = Reply::new().gate().call("c1", "shell", json!({"command": "true"}));
    let (question, end) = (server.reply(call), server.reply(Reply::new().gate().text("Over.")));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.lua("require('caliban').ask('go')", &[]);
    nvim.keys(":Caliban close<CR>");
    question.finish();
    nvim.wait_screen("Caliban is waiting for you (main).");
    nvim.keys(":Caliban approve<CR>");
    nvim.wait_question();
    nvim.keys(":Caliban approve<CR>:Caliban close<CR>");
    end.finish();
    nvim.wait_screen("Caliban has finished (main).");
}

#[test]
fn subcommands_are_completed_and_a_misspelt_one_is_answered_with_the_nearest() {
    let nvim = Nvim::start(&Setup::new());
    nvim.keys(":Caliban aprove<CR>");
    nvim.wait_screen(":Caliban has no subcommand 'aprove'. Did you mean 'approve'?");
    let complete = "return table.concat(vim.fn.getcompletion('Caliban a', 'cmdline'), ' ')";
    assert_eq!(nvim.lua_str(complete), "accept add agents answer approve ask");
    let complete = "return table.concat(vim.fn.getcompletion('Caliban approve ', 'cmdline'), ' ')";
    assert_eq!(nvim.lua_str(complete), "once session always");
}

#[test]
fn caliban_steer_steers_a_turn_and_an_empty_message_is_not_sent() {
    let server = Server::start();
    let gate = server.reply(Reply::new().text("Looking. ").gate().call(
        "c1",
        "read",
        json!({"path": "a.txt"}),
    ));
    server.reply(Reply::said("Steered."));
    let nvim = Nvim::start(&Setup::new().file("a.txt", "alpha\n").anthropic(&server));
    nvim.keys(":Caliban<CR><CR>");
    nvim.wait_screen("Nothing sent. The message is empty.");
    nvim.keys("i<C-s>");
    nvim.wait_screen("! Nothing sent. The message is empty.");
    nvim.keys("go<C-s><Esc>");
    nvim.wait_screen("Looking.");
    nvim.wait_gone("Nothing sent.");
    nvim.keys(":Caliban steer be quick<CR>");
    nvim.wait_queue(1);
    nvim.wait_screen("be quick");
    gate.finish();
    nvim.wait_screen("Steered.");
    assert_eq!(server.requests()[1].last_user_text(), "be quick");
    nvim.wait_phase("idle");
    nvim.keys(":Caliban stop<CR>");
    assert_eq!(nvim.conversation().matches("Stopped").count(), 0);
}
