//! The words of calls on small screens: titles come before figures.

use super::small;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::tasks::has_got;
use serde_json::json;

/// The row of a task on the screen.
fn row(nvim: &Nvim) -> String {
    let screen = nvim.screen();
    screen.lines().find(|it| it.contains("task  Find")).unwrap_or_default().to_owned()
}

#[test]
fn the_title_of_a_task_comes_before_the_figures_while_it_runs_and_after() {
    let title = "Find where the parser keeps its last one";
    for (columns, lines) in [(60, 20), (80, 24), (120, 36)] {
        let what = format!("the whole title at {columns}x{lines}");
        let server = Server::start();
        let task = json!({ "description": title, "prompt": "Find it." });
        server.reply(Reply::new().call("t1", "task", task));
        let read = json!({ "path": "a.txt" });
        server.reply_to(has_got("Find it.", 0), Reply::new().call("r1", "read", read));
        let gate = server.reply(Reply::new().text("In").gate().text(" a.txt."));
        server.reply(Reply::said("It is in a.txt."));
        let nvim = Nvim::start(&small(&server).size(columns, lines));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_screen("main-task");
        let is_whole = |it: &Nvim| row(it).contains(title);
        nvim.wait(is_whole, &what);
        server.wait_count(3);
        gate.finish();
        nvim.wait_screen("It is in a.txt.");
        nvim.wait(is_whole, &what);
        let has_figures = row(&nvim).contains("2 requests");
        // beside the code, the chat of 120 columns is as narrow as a screen of 60
        assert_eq!(has_figures, columns == 80, "{}", row(&nvim));
    }
}

/// Neovim marks a line of which it shows only a part by `@`.
#[test]
fn the_last_line_is_shown_up_to_the_last_row_of_the_window() {
    for (columns, lines) in [(60, 20), (80, 24), (120, 24)] {
        let server = Server::start();
        let long = format!("{}the end", "some words and ".repeat(150));
        server.reply(Reply::said(&long));
        let nvim = Nvim::start(&small(&server).size(columns, lines));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_screen("the end");
        let is_clean = |it: &Nvim| !it.screen().lines().any(|it| it.trim().starts_with('@'));
        nvim.wait(is_clean, "no row of `@`");
        nvim.keys("<C-w>kgg");
        nvim.wait_gone("the end");
        nvim.wait(is_clean, "no row of `@` at the beginning");
    }
}

#[test]
fn what_goes_with_a_message_is_in_sight_when_the_chat_opens_again() {
    for (columns, lines) in [(60, 20), (80, 24), (120, 36)] {
        let server = Server::start();
        let nvim = Nvim::start(&small(&server).size(columns, lines));
        nvim.keys(":edit a.txt<CR>V:Caliban add<CR>");
        nvim.wait_screen("selection  a.txt:1");
        for keys in [":Caliban close<CR>:Caliban<CR>", ":Caliban toggle<CR>:Caliban toggle<CR>"] {
            nvim.keys(keys);
            nvim.wait_screen("selection  a.txt:1");
        }
    }
}

/// A paragraph that is higher than the window of the chat.
fn paragraph(lines: u16) -> String {
    let words = 18 * u32::from(lines);
    let words: Vec<String> = (0..words).map(|n| format!("w{n:03} ")).collect();
    format!("Begin. {}END.", words.concat())
}

/// Whether the end of the paragraph is on the screen, right above what follows, and no row of the chat is empty below.
fn has_end(nvim: &Nvim, follows: &str) -> bool {
    let screen = nvim.screen();
    let rows: Vec<&str> = screen.lines().collect();
    let at = |text: &str| rows.iter().position(|it| it.contains(text));
    let (Some(end), Some(next)) = (at("END."), at(follows)) else { return false };
    end + 2 == next && rows[next..].iter().take(4).any(|it| it.contains("──"))
}

#[test]
fn the_end_of_a_long_paragraph_stays_in_view_when_something_follows_it() {
    for (columns, lines) in [(60, 20), (80, 24), (120, 36), (200, 50)] {
        let server = Server::start();
        server.reply(Reply::said(&format!("{}\n\nIn short: it works.", paragraph(lines))));
        let read = json!({ "path": "a.txt" });
        server.reply(Reply::said(&paragraph(lines)).call("c1", "read", read));
        server.reply(Reply::said("I have read it."));
        let gate = server.reply(Reply::said(&paragraph(lines)).gate());
        let nvim = Nvim::start(&small(&server).size(columns, lines));
        let what = format!("the end of the paragraph at {columns}x{lines}");
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait(|it| has_end(it, "In short: it works."), &what);
        nvim.keys("<Tab><Esc>:Caliban<CR>iread<C-s><Esc>");
        nvim.wait_screen("I have read it.");
        nvim.wait(|it| has_end(it, "read  path="), &what);
        // what is sent meanwhile waits below the reply
        nvim.keys("iagain<C-s><Esc>");
        nvim.wait_screen("END.");
        nvim.wait_phase("streaming");
        nvim.keys("iqueue me<C-s><Esc>");
        nvim.wait(|it| has_end(it, "queued: queue me"), &what);
        nvim.keys("<C-c>");
        nvim.wait(|it| has_end(it, "Stopped."), &what);
        gate.finish();
        // each row of it is reached by the keys that scroll
        nvim.keys("<Esc><C-w>k");
        let top = |it: &Nvim| it.screen().contains("Begin. w000");
        while !top(&nvim) {
            nvim.keys("<C-y>");
        }
        while !nvim.screen().contains("END.") {
            nvim.keys("<C-e>");
        }
    }
}
