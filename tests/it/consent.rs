//! Tests that only a key that is pressed after the whole question was on the screen gives consent.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

const UNFOLDED: &str = "More is open now. Read it all, then answer.";

/// A chat whose question about this command is on the screen and accepts keys.
fn asked(server: &Server, setup: Setup, command: &str) -> Nvim {
    server.reply(Reply::new().call("c1", "shell", json!({"command": command})));
    server.reply(Reply::said("Over."));
    let nvim = Nvim::start(&setup.anthropic(server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc><C-w>k");
    nvim.wait_question();
    nvim
}

/// Presses a key, and waits until Neovim has drawn the result.
fn press(nvim: &Nvim, key: &str) {
    nvim.keys(key);
    nvim.command("redraw");
}

fn answered(nvim: &Nvim) -> bool {
    nvim.phase() != "asking"
}

/// The lines of the question, from the buffer.
fn question(nvim: &Nvim) -> Vec<String> {
    let lines: Vec<String> = nvim.transcript().lines().map(str::to_owned).collect();
    let first = lines.iter().rposition(|it| it.starts_with("? Run")).unwrap();
    lines[first..].to_vec()
}

#[test]
fn consent_is_possible_only_after_a_folded_20_kb_comment_was_opened_and_read() {
    let server = Server::start();
    let command = format!("echo one > out; #{}\necho ok", "x".repeat(20_000));
    let nvim = asked(&server, Setup::new().size(120, 40), &command);
    nvim.wait_screen("  echo one > out;");
    nvim.wait_screen("[19.8k characters that follow a #: <CR> opens]");
    nvim.wait_screen("  echo ok");
    nvim.keys("y");
    nvim.wait_screen(UNFOLDED);
    nvim.command("Caliban approve");
    assert!(!answered(&nvim));
    // the refused answer has opened the fold
    nvim.wait_gone("<CR> opens");
    nvim.wait_question();
    nvim.go_to_transcript("? Run");
    press(&nvim, "zt");
    press(&nvim, "y");
    nvim.wait_screen(" lines not shown yet: <C-e> scrolls down");
    assert!(!answered(&nvim));
    for _ in 0..60 {
        press(&nvim, "<C-d>");
    }
    press(&nvim, "Gy");
    nvim.wait_transcript("Over.");
    assert_eq!(nvim.setup.on_disk("out").as_deref(), Some("one\n"));
}

#[test]
fn a_command_of_some_rows_is_shown_whole_in_its_question() {
    let server = Server::start();
    let words: Vec<String> = (0..150).map(|n| format!("word{n}")).collect();
    let command = format!("echo {} && rm -rf build", words.join(" "));
    assert!((1_000..1_200).contains(&command.len()), "{}", command.len());
    let nvim = asked(&server, Setup::new().size(80, 24), &command);
    press(&nvim, "G");
    nvim.wait_screen("rm -rf bui");
    assert!(!nvim.transcript().contains("<CR> opens"));
    nvim.keys("Gy");
    nvim.wait_transcript("Over.");
}

#[test]
fn in_a_question_many_blanks_in_a_row_are_shown_as_their_number() {
    let server = Server::start();
    let command = format!("echo a{}; echo b{}echo ok", " ".repeat(3000), "\n".repeat(61));
    let nvim = asked(&server, Setup::new(), &command);
    nvim.wait_screen("  echo a[3000 blanks]; echo b");
    nvim.wait_screen("  [60 blank lines]");
    nvim.wait_screen("  echo ok");
    nvim.keys("y");
    nvim.wait_transcript("Over.");
}

#[test]
fn lookalike_and_invisible_characters_in_a_command_are_spelt_out() {
    let server = Server::start();
    let command =
        "echo a\u{3164}b c\u{2800}\u{115f}\u{fe0f}d\u{a0}e \u{200d}\u{202e}f\u{e0041} c\u{430}t";
    let nvim = asked(&server, Setup::new().size(200, 30), command);
    nvim.wait_transcript(
        "? Run `echo a[U+3164]b c[U+2800][U+115F][U+FE0F]d[U+00A0]e [U+200D][U+202E]f[U+E0041] c[U+0430]t`?",
    );
}

#[test]
fn invisible_characters_in_replies_and_results_are_spelt_out() {
    let server = Server::start();
    let file = "run\u{202e}ti\u{200b}\n";
    server.reply(Reply::new().call("c1", "read", json!({"path": "a.txt"})));
    server.reply(Reply::said("Voil\u{e0}\u{a0}! \u{2764}\u{fe0f} a\u{3164}b \u{e0041}."));
    let nvim = Nvim::start(&Setup::new().file("a.txt", file).anthropic(&server));
    nvim.keys(":Caliban<CR>");
    nvim.ask("go", "Voilà\u{a0}! \u{2764}\u{fe0f} a[U+3164]b [U+E0041].");
    nvim.go_to_transcript("▸ read");
    nvim.keys("<CR>");
    nvim.wait_transcript("run[U+202E]ti[U+200B]");
    // the model gets the file unchanged
    assert!(server.requests()[1].answer("c1").contains("run\u{202e}ti\u{200b}"));
}

#[test]
fn a_key_typed_just_before_a_question_appears_does_not_answer_it() {
    for key in ["y", "s", "n", "e", "c"] {
        let server = Server::start();
        server.reply(Reply::new().call("c1", "shell", json!({"command": "echo ran > out"})));
        server.reply(Reply::said("Over."));
        let typed = format!(
            "vim.api.nvim_create_autocmd('User', {{ pattern = 'CalibanAsk', once = true,
               callback = function() vim.api.nvim_input('{key}') end }})
             vim.ui.input = function(_, on) on('because') end"
        );
        let nvim = Nvim::start(&Setup::new().before(&typed).anthropic(&server));
        nvim.keys(":Caliban<CR>igo<C-s><Esc><C-w>k");
        nvim.wait_question();
        assert!(!answered(&nvim), "{key}");
        let mode = nvim.lua_str("return vim.api.nvim_get_mode().mode");
        assert_eq!(mode == "no", ["y", "c"].contains(&key), "{key} in mode {mode}");
        nvim.keys("<Esc>Gy");
        nvim.wait_transcript("Over.");
        assert!(nvim.setup.on_disk("out").is_some());
    }
}

#[test]
fn a_key_from_a_macro_or_a_mapping_gives_no_consent() {
    let server = Server::start();
    let map = "vim.keymap.set('n', 'Q', 'Gy', { remap = true })";
    let nvim = asked(&server, Setup::new().before(map), "echo ran > out");
    nvim.command("call setreg('q', 'Gy')");
    for keys in ["@q", "Q", ":normal Gy<CR>", ":call feedkeys('Gy')<CR>"] {
        press(&nvim, keys);
        assert!(!answered(&nvim), "{keys}");
        nvim.keys("<Esc>");
    }
    // a key that is not an answer still works with its count and register
    nvim.command("call feedkeys('gg\"a2yy')");
    nvim.wait(|nvim| nvim.lua_str("return vim.fn.getreg('a')").lines().count() == 2, "two lines");
    nvim.keys("Gy");
    nvim.wait_transcript("Over.");
}

#[test]
fn consent_is_possible_only_after_each_line_was_visible_even_in_a_window_of_four_rows() {
    let server = Server::start();
    let lines: Vec<String> = (1..=12).map(|n| format!("echo {n} >> out")).collect();
    let setup = Setup::new().size(80, 24).config("{ layout = 'bottom' }");
    server.reply(Reply::new().call("c1", "shell", json!({"command": lines.join("\n")})));
    server.reply(Reply::said("Over."));
    let nvim = Nvim::start(&setup.anthropic(&server));
    nvim.keys(":Caliban<CR><C-w>k:resize 4<CR><C-w>jigo<C-s><Esc><C-w>k");
    nvim.wait_question();
    nvim.keys("y");
    nvim.wait_screen(" lines not shown yet: <C-e> scrolls down");
    nvim.keys(":Caliban approve session<CR>");
    press(&nvim, "j");
    press(&nvim, "y");
    assert!(!answered(&nvim));
    for _ in 0..14 {
        press(&nvim, "j");
    }
    // Lines that were on the screen before a repaint still count as seen.
    nvim.keys("G");
    nvim.wait_question();
    nvim.lua("require('caliban.program.process').notify({ kind = 'open', session = 'main' })", &[]);
    nvim.wait_gone("y once");
    nvim.wait_question();
    nvim.keys("Gy");
    nvim.wait_transcript("Over.");
    assert_eq!(nvim.setup.on_disk("out").unwrap().lines().count(), 12);
}

#[test]
fn a_question_with_a_line_longer_than_the_window_can_be_read_by_scrolling() {
    let server = Server::start();
    let command = format!("echo {} > out", "word ".repeat(60));
    let setup = Setup::new().size(80, 24).config("{ layout = 'bottom' }");
    server.reply(Reply::new().call("c1", "shell", json!({"command": command})));
    server.reply(Reply::said("Over."));
    let nvim = Nvim::start(&setup.anthropic(&server));
    nvim.keys(":Caliban<CR><C-w>k:resize 3<CR>:setlocal nowrap<CR><C-w>jigo<C-s><Esc><C-w>k");
    nvim.wait_question();
    press(&nvim, "Gkk0y");
    nvim.wait_screen("1 line not shown yet: zl scrolls right");
    for _ in 0..10 {
        press(&nvim, "40zl");
    }
    press(&nvim, "y");
    nvim.wait_transcript("Over.");
}

#[test]
fn a_question_can_be_refused_before_it_was_read() {
    let server = Server::start();
    let nvim = asked(&server, Setup::new(), &"echo ran > out\n".repeat(300));
    nvim.keys(":Caliban deny too long<CR>");
    nvim.wait_transcript("Over.");
    assert!(server.requests()[1].answer("c1").contains("says: too long"));
    assert_eq!(nvim.setup.on_disk("out"), None);
}

#[test]
fn approving_a_question_that_is_not_on_the_screen_only_shows_it() {
    let server = Server::start();
    let nvim = asked(&server, Setup::new().size(120, 40), "echo ran > out");
    nvim.keys(":Caliban new other<CR>");
    nvim.wait(|nvim| nvim.lua_str("return vim.b.caliban_session") == "other", "the other chat");
    nvim.wait_gone("? Run");
    for answer in ["Caliban approve", "Caliban deny", "Caliban approve"] {
        nvim.command(answer);
        nvim.wait_screen("main asks for your permission. Read the question, then answer.");
        nvim.wait_screen("? Run `echo ran > out`?");
        assert_eq!(nvim.phase(), "asking", "{answer}");
        nvim.command("Caliban resume other");
        nvim.wait_gone("? Run");
    }
    nvim.lua("require('caliban').approve()", &[]);
    nvim.wait_question();
    // A question scrolled off the screen is shown again, not answered.
    nvim.lua(
        "local chat = require('caliban.chat.chats').current
        local win = vim.fn.win_findbuf(chat.transcript)[1]
        vim.api.nvim_win_set_height(win, 3)
        vim.api.nvim_win_set_cursor(win, { 1, 0 }) vim.cmd.redraw()",
        &[],
    );
    nvim.wait_gone("? Run");
    nvim.lua("require('caliban').approve()", &[]);
    nvim.wait_screen("? Run `echo ran > out`?");
    assert!(!answered(&nvim));
    nvim.lua("require('caliban').approve()", &[]);
    nvim.wait_transcript("Over.");
    assert!(nvim.setup.on_disk("out").is_some());
}

#[test]
fn the_longest_command_takes_few_lines_in_the_chat() {
    let server = Server::start();
    let command =
        format!("echo ran > out\necho {}\n{}", "y".repeat(40_000), "ls #\n".repeat(11_900));
    let nvim = asked(&server, Setup::new(), &command);
    let shown = question(&nvim);
    assert!(shown.len() < 60, "{} lines", shown.len());
    assert!(shown.iter().all(|it| it.len() < 1000));
    assert!(shown.iter().any(|it| it.starts_with("▸ [") && it.contains(" lines, ")), "{shown:?}");
    nvim.keys("y");
    nvim.wait_screen(UNFOLDED);
    nvim.wait_question();
    nvim.keys("n");
    nvim.wait_transcript("Over.");
}

#[test]
fn a_consent_to_a_read_does_not_allow_a_command_with_the_words_of_that_question() {
    let server = Server::start();
    let setup = Setup::new().size(160, 40);
    let path = "/opt/none;touch ran";
    server.reply(Reply::new().call("c1", "read", json!({"path": path})));
    let words = format!("Let read look at `{path}`, outside the project?");
    server.reply(Reply::new().call("c2", "shell", json!({"command": words})));
    server.reply(Reply::said("Over."));
    let nvim = Nvim::start(&setup.anthropic(&server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc><C-w>k");
    nvim.wait_question();
    nvim.keys("Gs");
    nvim.wait_transcript("? Run `Let read look at");
    nvim.wait_phase("asking");
    nvim.command("redraw");
    nvim.wait_question();
    nvim.keys("Gn");
    nvim.wait_transcript("Over.");
    assert_eq!(nvim.setup.on_disk("ran"), None);
}

#[test]
fn a_question_under_a_floating_window_counts_as_unread() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", json!({"command": "echo a\necho ran > out"})));
    server.reply(Reply::said("Over."));
    let cover = "_G.cover = vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false,
        { relative = 'editor', row = 0, col = 0, width = vim.o.columns, height = vim.o.lines - 2, focusable = false })";
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>");
    nvim.lua(cover, &[]);
    nvim.keys("igo<C-s><Esc><C-w>k");
    nvim.wait_transcript("? Run");
    nvim.wait_phase("asking");
    nvim.command("redraw");
    let chat = "return vim.inspect(require('caliban.chat.chats').current.question)";
    let question = nvim.lua_str(chat);
    assert!(!question.contains("since"), "{question}");
    nvim.lua("vim.api.nvim_win_close(_G.cover, true)", &[]);
    nvim.wait_question();
    nvim.keys("Gy");
    nvim.wait_transcript("Over.");
}
