//! Tests that hints name the current effect of a key, and that names and words are not broken at any width.

use crate::kit::chat::DIALECTS;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::{Setup, kill};
use crate::review::scene::{Scene, edit, nine};
use serde_json::json;

const SIZES: [(u16, u16); 4] = [(60, 30), (80, 30), (120, 40), (200, 50)];

#[test]
fn during_a_review_the_hint_says_that_a_message_is_sent_at_once() {
    let scene = Scene::two_hunks(|it| it);
    let nvim = &scene.nvim;
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("    <CR> send · <Tab> to the changes · <C-c> stop · g? keys");
    nvim.resize(200, 50);
    nvim.wait_screen("<CR> send, review later · <Tab> to the changes · <C-c> stop · g? keys");
    assert!(!nvim.screen().contains("queue"));
    let gated = Reply::new().text("Go").gate().text(" on.");
    let gate = scene.server.reply(gated);
    nvim.keys("iand then?<Esc><CR>");
    assert_eq!(scene.request(2).last_user_text(), "and then?");
    nvim.wait_screen("<CR> queue · <C-c> stop · <Tab> to the changes · <M-CR> join turn · g? keys");
    gate.finish();
    scene.wait_idle("Go on.");
    nvim.wait_screen("<CR> send · <Tab> to the changes · g? keys");
}

#[test]
fn a_restart_of_the_program_removes_the_notice_about_its_end() {
    let server = Server::start();
    server.reply(Reply::said("Hello."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.ask("hi", "Hello.");
    nvim.keys(":Caliban<CR>imine");
    let ends = |it: &&(u32, String)| it.1.contains("caliban") && !it.1.contains("--embed");
    kill(nvim.setup.processes().iter().find(ends).unwrap().0);
    nvim.wait_phase("offline");
    nvim.wait_screen(":Caliban restart · <Esc> more keys");
    nvim.keys("<C-s>");
    let twice = |nvim: &Nvim| nvim.screen().matches("! The program ended").count() == 2;
    nvim.wait(twice, "the sentence in the transcript and above the composer");
    nvim.keys("<Esc>:Caliban restart<CR>");
    nvim.wait_phase("idle");
    nvim.wait_gone("! The program ended");
    assert_eq!(nvim.composer(), "mine");
}

#[test]
fn after_a_restart_the_line_of_a_finished_thought_says_thought() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.reply(Reply::new().thinking("Hm.\nSo.").text("Therefore."));
        let setup = Setup::new().speaking(dialect, &server);
        let nvim = Nvim::start(&setup);
        nvim.ask("why", "Therefore.");
        nvim.wait_phase("idle");
        nvim.quit_with(":qall!<CR>");
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        nvim.wait_transcript("Therefore.");
        nvim.wait_transcript("▸ Thought\n");
    }
}

#[test]
fn the_line_of_a_thought_that_was_stopped_says_thought() {
    let server = Server::start();
    let gate = server.reply(Reply::new().thinking("Hm.\nSo.").gate().text("Therefore."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>iwhy<C-s><Esc>");
    nvim.wait_screen("▸ Thinking");
    nvim.keys("<C-c>");
    nvim.wait_phase("idle");
    nvim.wait_gone("Thinking");
    nvim.wait_screen("▸ Thought");
    gate.finish();
}

const FROM: &str = "src/deep/folder/name.txt";
const TO: &str = "src/other/folder/of-many/words.txt";

/// A scene in which a renaming and a deletion are under review, and the chat is the current window.
fn whole_files(columns: u16, rows: u16) -> Scene {
    let scene = Scene::start(|it| it.file(FROM, nine()).file("b.txt", nine()).size(columns, rows));
    scene.ask(
        Reply::new()
            .text("It is done.")
            .call("r1", "rename", json!({ "path": FROM, "to": TO }))
            .call("d1", "delete", json!({ "path": "b.txt" })),
    );
    scene.wait_pending(2);
    scene.nvim.keys(":Caliban<CR><C-w>k<C-w>_");
    scene
}

#[test]
fn the_chat_names_a_pending_renaming_and_deletion_at_every_width() {
    let scene = whole_files(200, 50);
    let nvim = &scene.nvim;
    for (columns, rows) in SIZES.into_iter().rev().chain(SIZES) {
        nvim.resize(columns, rows);
        nvim.wait_screen("1 renaming to review");
        nvim.wait_screen("1 deletion to review");
        assert!(!nvim.screen().contains("hunk"), "{columns}:\n{}", nvim.screen());
    }
    scene.server.reply(Reply::said("I see."));
    nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.said().lines().last(), Some("2 files: 1 deletion, 1 renaming accepted"));
}

#[test]
fn the_lines_of_calls_take_one_row_each_with_their_results_at_every_width() {
    for (columns, rows) in SIZES {
        let scene = whole_files(columns, rows);
        scene.nvim.wait_screen("▸ rename");
        let is_packed = |nvim: &Nvim| {
            let screen = nvim.screen();
            let mut lines = screen.lines().skip_while(|it| !it.contains("▸ rename"));
            let mut has = |call: &str, words: &str| {
                lines.next().is_some_and(|it| it.contains(call) && it.trim_end().ends_with(words))
            };
            has("▸ rename  ", "1 renaming to review")
                && has("▸ delete  b.txt", "1 deletion to review")
        };
        scene.nvim.wait(is_packed, &format!("two rows at {columns}"));
    }
}

#[test]
fn a_message_sent_during_a_review_tells_the_model_of_a_pending_renaming() {
    let scene = whole_files(120, 40);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("require('caliban').ask('and?')", &[]);
    scene.wait_idle("I see.");
    let told = scene.answer(2, "r1");
    assert!(
        told.starts_with("Not decided yet: 1 renaming of this edit is under review in"),
        "{told}"
    );
    let told = scene.answer(2, "d1");
    assert!(
        told.starts_with("Not decided yet: 1 deletion of this edit is under review in"),
        "{told}"
    );
}

const WORDS: [&str; 4] = [
    "`src/deep/folder/of-many/words.txt`",
    "`alpha.beta(gamma-delta)`",
    "https://example.com/a/long/path/that/goes/on.",
    "src/view/mod.rs:120",
];

fn wordy(setup: impl FnOnce(Setup) -> Setup) -> Scene {
    let scene = Scene::start(setup);
    let text = format!(
        "{} because the function {} is at {} and in {} and",
        WORDS[0], WORDS[1], WORDS[2], WORDS[3]
    );
    let text = format!("I look at the file {text} wherever {text} then it is so.");
    scene.ask_until(Reply::said(&text), "then it is so.");
    scene.nvim.keys(":Caliban<CR><C-w>k<C-w>_");
    scene
}

fn breakat(nvim: &Nvim) -> String {
    nvim.lua_str("return vim.o.breakat")
}

const DEFAULT: &str = " \t!@*-+;:,./?";

#[test]
fn paths_and_code_spans_are_not_broken_across_rows() {
    for (columns, rows) in SIZES {
        let scene = wordy(|it| it.size(columns, rows));
        for word in WORDS {
            let whole = |nvim: &Nvim| nvim.screen().matches(word).count() == 2;
            scene.nvim.wait(whole, &format!("{word} twice at {columns} columns"));
        }
    }
}

/// Two rows of a screen of 66 columns: the span would be broken, but begins a row.
const MOVED: &str = "so I ran\n  git push origin main, twice.\n";

#[test]
fn code_spans_with_blanks_are_not_broken_across_rows() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server).config("{ layout = 'tab' }").size(66, 30);
    let nvim = Nvim::start(&setup);
    let shows = |rows: &str| {
        nvim.wait(|it| it.screen().contains(rows), &format!("the rows {rows:?}"));
    };
    let refused = "The remote refused it because of a hook, so I ran `git push origin";
    let hook = ", twice.\n- The hook runs all tests of my crate, and these by `cargo test`";
    let pieces = [refused, " main`", hook, ", slowly."];
    let gate = server.reply(Reply::chunks(pieces));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    gate.release();
    // while its line still grows, a code span moves to the next row once it is closed
    shows("so I ran `git push\n  origin\n");
    gate.release();
    shows("so I ran\n  `git push origin main`\n");
    gate.release();
    shows(MOVED);
    shows("by `cargo test`\n");
    gate.release();
    let slow = "and these by\n    cargo test, slowly.\n";
    shows(slow);
    nvim.wait_phase("idle");

    // the chat with another width, with 'nowrap', and hidden while a reply arrives
    nvim.resize(90, 30);
    shows("so I ran git push origin main, twice.\n");
    nvim.resize(66, 30);
    shows(MOVED);
    nvim.go_to_transcript("refused");
    nvim.keys("yy:setlocal nowrap<CR>");
    assert_eq!(nvim.lua_str("return vim.fn.getreg()"), format!("{refused} main`, twice.\n"));
    shows("so I ran `git push orig\n");
    nvim.keys(":setlocal wrap<CR>G");
    shows(MOVED);
    server.reply(Reply::said(&format!("{refused} main`, twice.\nAgain.")));
    nvim.keys(":Caliban toggle<CR>");
    nvim.lua("require('caliban').ask('again')", &[]);
    nvim.wait_transcript("Again.");
    nvim.wait_phase("idle");
    nvim.keys(":Caliban<CR>");
    let both = |nvim: &Nvim| nvim.screen().matches(MOVED).count() == 2;
    nvim.wait(both, "both replies");

    // a span in an error, and spans in a chat that was read from its file
    server.reply(Reply::rejected("run `git push origin main`, please"));
    nvim.keys("igo<C-s><Esc>");
    shows("(400): “run\n    git push origin main, please”");
    nvim.command("Caliban restart");
    nvim.wait(|nvim| nvim.setup.debug_log().matches(" hello ").count() == 2, "a new program");
    nvim.wait_phase("idle");
    nvim.wait(both, "both replies after a restart");
    shows(slow);
}

#[test]
fn breakat_is_restored_when_no_chat_is_visible() {
    let nvim = &wordy(|it| it).nvim;
    nvim.wait(|nvim| breakat(nvim) == "\t ", "rows that break between words");
    nvim.keys(":Caliban toggle<CR>");
    nvim.wait(|nvim| breakat(nvim) == DEFAULT, "the option as it was");
    nvim.keys(":Caliban<CR>");
    nvim.wait(|nvim| breakat(nvim) == "\t ", "rows that break between words");
    nvim.keys(":tabnew<CR>");
    nvim.wait(|nvim| breakat(nvim) == DEFAULT, "the option as it was, in another tab");
}

#[test]
fn a_chat_that_an_autocommand_opens_breaks_rows_between_words() {
    let server = Server::start();
    let open =
        "vim.api.nvim_create_autocmd('VimEnter', { callback = function() vim.cmd.Caliban() end })";
    let nvim = Nvim::start(&Setup::new().before(open).anthropic(&server));
    nvim.wait(|nvim| breakat(nvim) == "\t ", "rows that break between words");
}

#[test]
fn the_users_breakat_applies_in_their_own_windows() {
    let nvim = &wordy(|it| it).nvim;
    nvim.wait(|nvim| breakat(nvim) == "\t ", "rows that break between words");
    nvim.keys("<C-w>h:setlocal linebreak<CR>");
    nvim.wait(|nvim| breakat(nvim) == DEFAULT, "the option as it was");
    nvim.command("redraw!");
    for code in &WORDS[..2] {
        let whole = |nvim: &Nvim| nvim.screen().matches(code.trim_matches('`')).count() == 2;
        nvim.wait(whole, &format!("{code} twice, although rows may break in it"));
    }
    nvim.keys(":setlocal nowrap<CR>");
    nvim.wait(
        |nvim| breakat(nvim) == "\t ",
        "rows that break between words, where nothing else wraps",
    );
    nvim.keys(":set breakat=\\ ;<CR>:split<CR>:Caliban toggle<CR>");
    nvim.keys(":Caliban<CR>:vsplit<CR>");
    nvim.wait(|nvim| breakat(nvim) == " ;", "the user's own value");
}

/// The name of the current file as the statusline shows it.
fn name(nvim: &Nvim) -> String {
    nvim.lua_str("return vim.api.nvim_eval_statusline('%f', {}).str")
}

#[test]
fn a_jump_to_a_change_opens_the_file_under_the_same_buffer_name_as_the_edit_command() {
    let scene =
        Scene::start(|it| it.file(FROM, nine()).file("src/b.txt", nine()).file("~x", nine()));
    let nvim = &scene.nvim;
    scene.ask(
        Reply::new()
            .text("See src/b.txt:3 for it.")
            .call("e1", "edit", edit(FROM, &[("l5", "L5")]))
            .call("e2", "edit", edit("./~x", &[("l5", "L5")])),
    );
    scene.wait_pending(2);
    nvim.keys("]h:Caliban next<CR>");
    assert_eq!(name(nvim), FROM);
    assert_eq!(nvim.lua_str("return vim.fn.bufname()"), FROM);
    nvim.go_to_transcript("for it.");
    nvim.keys("4wgf");
    nvim.wait(|nvim| name(nvim) == "src/b.txt", "the file by its name");
    assert_eq!(nvim.lua_str("return vim.fn.line('.')"), "3");
    scene.server.reply(Reply::new().call("r1", "rename", json!({ "path": "src/b.txt", "to": TO })));
    nvim.keys(":Caliban accept all<CR>");
    scene.wait_pending(1);
    assert_eq!(scene.on_disk("~x"), Some(nine().replace("l5", "L5")));
    scene.server.reply(Reply::said("I see."));
    nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(name(nvim), TO);
    assert_eq!(scene.on_disk(TO), Some(nine()));
}

#[test]
fn a_jump_to_the_first_change_shows_the_banner_above_the_file() {
    let lines = (1..=200).fold(String::new(), |text, n| text + &format!("line{n}\n"));
    for (columns, rows) in [(60, 24), (80, 24), (120, 20), (200, 50)] {
        for first in ["line1\n", "line2\n", "line7\n"] {
            let scene = Scene::start(|it| {
                it.file("a.txt", &lines).file("b.txt", nine()).size(columns, rows)
            });
            let nvim = &scene.nvim;
            nvim.keys(":edit b.txt<CR>");
            let edits = [(first, &*first.to_uppercase()), ("line150\n", "LINE150\n")];
            scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &edits)));
            scene.wait_pending(2);
            let banner = "2 changes by Caliban · \\A accept file";
            for keys in [":Caliban next<CR>", "G]h", "160Gzt]h"] {
                nvim.keys(keys);
                nvim.wait_screen(banner);
                let line = nvim.lua_str("return vim.api.nvim_get_current_line()");
                assert_eq!(line, first.trim().to_uppercase(), "{keys}");
            }
            nvim.keys(":only<CR>G:edit b.txt<CR>:Caliban<CR>");
            nvim.go_to_transcript("a.txt");
            let list = "return vim.fn.search('▾ a.txt')";
            assert_ne!(nvim.lua_str(list), "0");
            nvim.keys("<CR>");
            nvim.wait_screen(banner);
        }
    }
}

#[test]
fn a_jump_to_a_change_at_the_end_of_a_low_window_shows_all_of_its_lines() {
    let lines = (1..=200).fold(String::new(), |text, n| text + &format!("line{n}\n"));
    for first in 5..=12 {
        let scene = Scene::start(|it| it.file("a.txt", &lines).size(80, 24));
        let nvim = &scene.nvim;
        nvim.keys(":edit a.txt<CR>");
        let edits = [(format!("line{first}\n"), "new1\nnew2\nnew3\n")];
        let edits = edits.each_ref().map(|it| (it.0.as_str(), it.1));
        scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &edits)));
        scene.wait_pending(1);
        nvim.keys("gg]h");
        for line in [&format!("- line{first}"), "▎ new1", "▎ new2", "▎ new3"] {
            nvim.wait_screen(line);
        }
        assert_eq!(nvim.lua_str("return vim.api.nvim_get_current_line()"), "new1");
    }
}

#[test]
fn a_jump_to_a_file_to_be_deleted_shows_its_first_line() {
    let lines = (1..=200).fold(String::new(), |text, n| text + &format!("line{n}\n"));
    let scene = Scene::start(|it| it.file("a.txt", &lines).size(80, 30));
    scene.nvim.keys(":edit a.txt<CR>G");
    scene.ask(Reply::new().call("d1", "delete", json!({ "path": "a.txt" })));
    scene.wait_pending(1);
    scene.nvim.go_to_transcript("a.txt  delete");
    scene.nvim.keys("<CR>");
    scene.nvim.wait_screen("Delete this file?");
}

/// After a resize, the lines become visible by scrolling.
#[test]
fn words_at_the_right_end_of_a_tools_line_fit_the_width_when_the_line_becomes_visible() {
    let path = |n: usize| format!("src/some/folder/{}/name{n}.txt", "deep".repeat(n % 4));
    let scene = Scene::start(|it| (0..60).fold(it.size(200, 40), |it, n| it.file(&path(n), "a\n")));
    let calls = (0..60)
        .fold(Reply::new(), |it, n| it.call(&format!("r{n}"), "read", json!({ "path": path(n) })));
    scene.server.reply(calls);
    scene.ask_until(Reply::said("All read."), "All read.");
    let nvim = &scene.nvim;
    nvim.keys(":Caliban<CR><C-w>k<C-w>T");
    nvim.go_to_transcript("read  60 files");
    nvim.keys("<CR>");
    nvim.wait_transcript("▸ read  path=");
    for columns in [60, 48, 200, 50] {
        nvim.resize(columns, 40);
        for keys in ["G", "<C-u>", "<C-u>", "gg", "L<C-f>"] {
            nvim.keys(keys);
            let whole = |nvim: &Nvim| {
                let screen = nvim.screen();
                let rows = screen.lines().filter(|it| !it.contains("[-]"));
                let text = rows.collect::<Vec<_>>().join(" ");
                let calls = text.split("▸ read").skip(1).collect::<Vec<_>>();
                // The last call may continue below the screen.
                let shown = &calls[..calls.len().saturating_sub(1)];
                let is_whole = |it: &&str| {
                    let time = it.split_once(" line · ").map(|it| it.1.split_whitespace());
                    let unit = time.and_then(|mut it| it.nth(1));
                    unit.is_some_and(|it| ["ms", "s", "min"].contains(&it))
                };
                !shown.is_empty() && shown.iter().all(is_whole)
            };
            nvim.wait(whole, &format!("whole words at {columns} columns after {keys}"));
        }
    }
}
