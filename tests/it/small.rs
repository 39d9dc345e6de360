//! Tests of the chat on a screen of 80 columns and 24 rows: what is seen, and where the cursor goes.

mod questions;
mod drafts;
mod screens;
mod titles;

use crate::asks::{ask, question, which};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

fn small(server: &Server) -> Setup {
    Setup::new().anthropic(server).size(80, 24).file("a.txt", "one\n")
}

/// The text of the line under the cursor.
fn line(nvim: &Nvim) -> String {
    nvim.lua_str("return vim.api.nvim_get_current_line()")
}

/// The first line of the transcript that is on the screen, and the last.
fn shown(nvim: &Nvim) -> String {
    nvim.lua_str(
        "local chat = require('caliban.chat.chats').current
        local win = vim.fn.win_findbuf(chat.transcript)[1]
        return ('%d-%d of %d'):format(vim.fn.line('w0', win), vim.fn.line('w$', win), vim.fn.line('$', win))",
    )
}

/// Whether the transcript's window shows its last line, and the cursor is there.
fn at_end(nvim: &Nvim) -> bool {
    let code = "local chat = require('caliban.chat.chats').current
        local win = vim.fn.win_findbuf(chat.transcript)[1]
        local last = vim.fn.line('$', win)
        return vim.fn.line('w$', win) == last and vim.api.nvim_win_get_cursor(win)[1] == last";
    nvim.lua_json(code) == true
}

/// A reply of so many lines.
fn lines(count: usize) -> Reply {
    let all: Vec<String> = (1..=count).map(|n| format!("line {n}\n")).collect();
    Reply::said(&all.join("\n"))
}

/// Each answer is the next key; the cursor is never moved.
#[test]
fn each_kind_of_answer_goes_to_the_question_that_follows() {
    let server = Server::start();
    let mut checks = question("Which checks?", &["Unit tests", "Lints"]);
    checks["multiple"] = json!(true);
    let port = question("Which port?", &["80", "443"]);
    server.reply(ask("c1", &[checks, which(), port, question("Which host?", &["Here", "There"])]));
    let nvim = Nvim::start(&small(&server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_asked("Which checks?");
    nvim.keys("<Tab>1");
    nvim.wait_screen("[x] Unit tests");
    nvim.keys("<CR>");
    nvim.wait_asked("Which database?");
    nvim.keys("x");
    nvim.wait_asked("Which port?");
    nvim.keys("u");
    nvim.wait_asked("Which database?");
    nvim.keys("2");
    nvim.wait_asked("Which port?");
    nvim.keys("eno port<CR>");
    nvim.wait_asked("Which host?");
    server.reply(Reply::said("All is set."));
    nvim.keys("1");
    nvim.wait_transcript("All is set.");
    let said = server.requests()[1].last_user_text();
    for answer in ["→ Unit tests", "→ Postgres", "→ (own words) no port", "→ Here"] {
        assert!(said.contains(answer), "{said}");
    }
}

#[test]
fn after_an_answer_the_cursor_is_on_the_next_question() {
    for first in ["1", "2", "e"] {
        let server = Server::start();
        server.reply(ask("c1", &[which(), question("Which port?", &["80", "443"])]));
        let nvim = Nvim::start(&small(&server));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_asked("Which database?");
        nvim.keys("<Tab>");
        nvim.keys(if first == "e" { "eMySQL<CR>" } else { first });
        nvim.wait_asked("Which port?");
        server.reply(Reply::said("Both are set."));
        nvim.keys("2");
        nvim.wait_transcript("Both are set.");
        assert!(server.requests()[1].last_user_text().contains("443"), "{first}");
        nvim.wait(at_end, "the end of the chat");
    }
}

#[test]
fn after_consent_the_cursor_is_on_the_next_question_for_consent() {
    let server = Server::start();
    let call = |it: Reply, n: &str| it.call(n, "shell", json!({ "command": format!("touch {n}") }));
    server.reply(call(call(Reply::new(), "c1"), "c2"));
    let setup = small(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_question();
    nvim.keys("<Tab>y");
    nvim.wait(|_| setup.on_disk("c1").is_some(), "the first command");
    nvim.wait_question();
    assert!(line(&nvim).contains("y once"), "{}", line(&nvim));
    server.reply(Reply::said("Both ran."));
    nvim.keys("y");
    nvim.wait_transcript("Both ran.");
    assert!(setup.on_disk("c2").is_some());
}

#[test]
fn a_message_is_sent_from_the_end_of_the_chat() {
    let server = Server::start();
    server.reply(lines(40));
    let nvim = Nvim::start(&small(&server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_transcript("line 40");
    nvim.wait_phase("idle");
    nvim.keys("<C-w>kgg<C-w>j");
    nvim.wait_screen("more lines");
    server.reply(Reply::said("Second."));
    nvim.keys("iagain<C-s>");
    nvim.wait_screen("Second.");
    nvim.wait_gone("more lines");
    assert!(at_end(&nvim), "{}", shown(&nvim));
}

#[test]
fn lines_below_the_window_are_announced_and_counted() {
    let server = Server::start();
    server.reply(lines(40));
    let nvim = Nvim::start(&small(&server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_transcript("line 40");
    nvim.wait_phase("idle");
    let count = |nvim: &Nvim| {
        nvim.lua_str(
            "local win = vim.fn.win_findbuf(require('caliban.chat.chats').current.transcript)[1]
            return ('↓ %d more lines · G'):format(vim.fn.line('$', win) - vim.fn.line('w$', win))",
        )
    };
    for keys in ["<C-w>kgg", "<C-e>", "10<C-e>", ":set laststatus=3<CR>", ":set laststatus=2<CR>gg"]
    {
        nvim.keys(keys);
        nvim.wait(|it| it.screen().contains(&count(it)), keys);
    }
    let before = count(&nvim);
    let gate = server.reply(Reply::new().text("More words.\n\n").gate().text("And more."));
    nvim.lua(
        "require('caliban.chat').send({ kind = 'send', text = 'on', context = {}, steer = false })",
        &[],
    );
    nvim.keys("gg");
    nvim.wait_transcript("More words.");
    nvim.wait(|it| count(it) != before && it.screen().contains(&count(it)), "the new number");
    gate.finish();
    nvim.wait_phase("idle");
    nvim.keys("G");
    nvim.wait_gone("more lines · G");
}

#[test]
fn a_question_is_shown_unless_the_user_reads_in_the_chat() {
    for reads in [false, true] {
        let server = Server::start();
        server.reply(lines(40));
        let nvim = Nvim::start(&small(&server));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_transcript("line 40");
        nvim.wait_phase("idle");
        let gate = server.reply(Reply::new().text("A question.").gate().call(
            "c1",
            "shell",
            json!({ "command": "touch b.txt" }),
        ));
        nvim.keys("iagain<C-s><Esc>");
        nvim.wait_screen("A question.");
        nvim.keys("<C-w>kgg");
        nvim.keys(if reads { "" } else { "<C-w>j" });
        gate.finish();
        nvim.wait_phase("asking");
        if reads {
            nvim.wait_transcript("touch b.txt");
            nvim.wait_screen("more lines · G");
            assert!(!nvim.screen().contains("y once"), "{}", nvim.screen());
        } else {
            nvim.wait_question();
        }
    }
}

#[test]
fn the_number_of_lines_that_were_not_on_the_screen_is_true_while_the_user_scrolls() {
    let server = Server::start();
    let command = (0..30).map(|n| format!("touch {n}")).collect::<Vec<_>>().join("\n");
    server.reply(Reply::new().call("c1", "shell", json!({ "command": command })));
    let nvim = Nvim::start(&small(&server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_question();
    nvim.keys("<Tab>");
    nvim.keys("<CR>");
    nvim.wait_transcript("touch 15");
    nvim.keys("y");
    nvim.wait_screen("not shown yet");
    let told = |nvim: &Nvim| nvim.screen().lines().last().unwrap_or_default().to_owned();
    let first = told(&nvim);
    nvim.keys("<C-e><C-e>");
    nvim.wait(|it| told(it).contains("not shown yet") && told(it) != first, "a lower number");
    nvim.keys("G");
    nvim.keys("<C-b>");
    nvim.wait_screen("You can answer the question now.");
}

#[test]
fn the_key_tab_goes_to_the_first_change_that_waits() {
    let server = Server::start();
    let change = |at: &str| json!({ "old": at, "new": at.to_uppercase() });
    let edits =
        json!({ "path": "a.txt", "edits": [change("one"), change("five"), change("nine")] });
    server.reply(Reply::new().call("c1", "edit", edits));
    let file = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
    let nvim = Nvim::start(&small(&server).file("a.txt", file));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_pending(3);
    nvim.wait_transcript("-1 +1  NINE");
    nvim.keys("<Tab>");
    assert!(line(&nvim).contains("-1 +1  ONE"), "{}", line(&nvim));
    nvim.keys("\\a");
    nvim.wait_pending(2);
    nvim.keys("G<C-w>j<Tab>");
    assert!(line(&nvim).contains("-1 +1  FIVE"), "{}", line(&nvim));
}

#[test]
fn the_line_of_an_edit_names_its_files_and_adds_up_the_decisions() {
    let server = Server::start();
    let edits =
        ["a.txt", "b.txt", "c.txt"].map(|it| json!({ "path": it, "old": "one", "new": "ONE" }));
    server.reply(Reply::new().call("c1", "edit", json!({ "edits": edits })));
    let setup = small(&server).file("b.txt", "one\n").file("c.txt", "one\n");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_pending(3);
    nvim.wait_transcript("edit  a.txt, b.txt, c.txt");
    nvim.keys(":Caliban next<CR>");
    nvim.keys("\\a");
    nvim.wait_screen("a.txt: 1 accepted, saved; :Caliban next goes to b.txt");
    server.reply(Reply::said("All three."));
    nvim.keys(":Caliban accept all<CR>");
    nvim.wait_transcript("All three.");
    nvim.wait_screen("3 files · 3 accepted");
}

/// The keys of a review go on working where its last change was decided: Vim's own keys would change the text.
#[test]
fn the_keys_of_a_review_lead_through_all_files_and_type_nothing() {
    let server = Server::start();
    let names = ["a.txt", "b.txt", "c.txt"];
    let edits = names.map(|it| json!({ "path": it, "old": "one", "new": "ONE" }));
    server.reply(Reply::new().call("c1", "edit", json!({ "edits": edits })));
    let setup = small(&server).file("b.txt", "one\n").file("c.txt", "one\n");
    let nvim = Nvim::start(&setup);
    nvim.lua("vim.keymap.set('n', '\\\\a', '<Cmd>let g:mine = 1<CR>')", &[]);
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_pending(3);
    nvim.wait_transcript("edit  a.txt, b.txt, c.txt");
    nvim.keys("<C-w>t:Caliban next<CR>");
    nvim.keys("\\a");
    nvim.wait_screen("; :Caliban next goes to b.txt");
    nvim.wait_screen("]h next · :Caliban to the chat");
    nvim.keys("\\a\\r");
    nvim.wait_screen("Nothing is under review here.");
    nvim.keys("]h\\a]h");
    server.reply(Reply::said("All three."));
    nvim.keys("\\a");
    nvim.wait_transcript("All three.");
    assert_eq!(names.map(|it| nvim.setup.on_disk(it).unwrap()), ["ONE\n"; 3]);
    nvim.wait(|it| it.lua_json("return vim.bo.modified") == false, "the file as it was agreed to");
    // the user's keys are back
    nvim.keys("\\a");
    nvim.wait(|it| it.lua_json("return vim.g.mine") == 1, "the user's mapping");
    nvim.keys(":buffer a.txt<CR>");
    assert_eq!(nvim.lua_json("return #vim.api.nvim_buf_get_keymap(0, 'n')"), 0);
}

#[test]
fn after_slash_clear_the_composer_is_empty_and_the_welcome_names_the_model_of_the_winbar() {
    let server = Server::start();
    server.reply(Reply::said("Hi."));
    let setup = small(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>igo<C-s>");
    nvim.wait_transcript("Hi.");
    nvim.wait_phase("idle");
    nvim.keys("<Esc>:Caliban model anthropic/claude-haiku-4-5<CR>");
    nvim.wait_transcript("Model: anthropic/claude-haiku-4-5");
    nvim.keys("i/clear");
    let draft = setup.sessions().join("main.draft");
    let is_saved = |_: &Nvim| std::fs::read_to_string(&draft).is_ok_and(|it| it.contains("/clear"));
    nvim.wait(is_saved, "the draft");
    nvim.keys("<C-s>");
    nvim.wait(|it| !it.transcript().contains("Hi."), "an empty conversation");
    nvim.wait_transcript("Model    anthropic/claude-haiku-4-5");
    assert_eq!(nvim.composer(), "");
}

#[test]
fn a_mistyped_command_is_never_taken_for_one_that_destroys() {
    let server = Server::start();
    let nvim = Nvim::start(&small(&server));
    nvim.keys(":Caliban<CR>i/learn<C-s>");
    nvim.wait_screen("There is no command /learn. /help lists the commands.");
    nvim.keys("<C-u>/mcp<C-s>");
    nvim.wait_transcript("There are no MCP servers:");
}

#[test]
fn a_command_after_an_exclamation_mark_runs_in_the_users_shell_and_goes_with_the_next_message() {
    let server = Server::start();
    let setup = small(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Project");
    nvim.keys("i! touch ran; printf 'one\\033[31m two\\n'; exit 3<C-s>");
    nvim.wait_screen("! touch ran");
    nvim.wait_screen("tokens");
    nvim.wait_screen("  one two");
    nvim.wait_screen("  (exit code 3)");
    assert_eq!(nvim.composer(), "");
    assert!(setup.on_disk("ran").is_some(), "it runs in the project's folder");
    server.reply(Reply::said("Because."));
    nvim.keys("why?<C-s>");
    nvim.wait_transcript("Because.");
    let said = server.requests()[0].last_user_text();
    assert!(said.contains("$ touch ran"), "{said}");
    assert!(said.contains("one two\n(exit code 3)"), "{said}");
    assert_eq!(server.count(), 1);
}

#[test]
fn a_command_of_the_users_is_stopped_whole_and_one_of_two_lines_is_kept() {
    let server = Server::start();
    let setup = small(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Project");
    nvim.keys("i! sleep 600 & echo $! >pid; mv pid whole; wait<C-s>");
    let whole = |_: &Nvim| setup.on_disk("whole").is_some();
    nvim.wait(whole, "the id of the process");
    let pid = setup.on_disk("whole").unwrap();
    let path = format!("/proc/{}", pid.trim());
    nvim.keys("<Esc>:Caliban stop<CR>");
    nvim.wait_screen("! sleep 600");
    nvim.wait(|_| !std::path::Path::new(&path).exists(), "the end of what the command started");
    nvim.keys("i! yes<C-s>");
    nvim.wait_screen("(stopped after 16 MB of output)");
    nvim.keys("! one<CR>two<C-s>");
    nvim.wait_screen("A command after ! has one line.");
    assert_eq!(nvim.composer(), "! one\ntwo");
    server.reply(Reply::said("Because."));
    nvim.keys("<C-u><BS><C-u> ! why?<C-s>");
    nvim.wait_transcript("Because.");
    let said = server.requests()[0].last_user_text();
    assert!(said.contains("(stopped by signal 15)"), "{said}");
    assert!(said.contains("(stopped after 16 MB of output)"), "{said}");
    assert!(said.contains(" ! why?"), "{said}");
    assert!(said.len() < 100_000, "{}", said.len());
}

#[test]
fn sending_goes_to_the_end_in_every_other_window_of_the_chat() {
    let server = Server::start();
    server.reply(lines(60));
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(100, 50));
    nvim.keys(":Caliban<CR>");
    nvim.ask("go", "line 60");
    nvim.keys("<Esc><C-w>kgg<C-w>sgg<C-w>sgg<C-w>b");
    server.reply(Reply::said("The end."));
    nvim.keys("imore<C-s>");
    nvim.wait_transcript("The end.");
    let ends = "local chat = require('caliban.chat.chats').current
        local out = {}
        for _, win in ipairs(vim.fn.win_findbuf(chat.transcript)) do
          out[#out + 1] = vim.fn.line('w$', win) == vim.fn.line('$', win) and 'end' or 'not'
        end
        return table.concat(out, ' ')";
    nvim.wait(|it| it.lua_str(ends) == "end end end", "the end in each window");
}
