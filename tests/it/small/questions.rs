//! Each kind of question on screens of each size: its first line and its keys are on the screen, and a key answers it.

use super::small;
use crate::jobs::server::{PORT, begin, serve};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::sandbox::is_full;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::recipients::Two;
use crate::review::scene::Scene;
use serde_json::{Value, json};
use std::any::Any;

const SIZES: [(u16, u16); 5] = [(80, 24), (60, 20), (120, 30), (120, 36), (200, 50)];

/// A Neovim in which a question waits, and what it needs.
struct Asked(Nvim, Box<dyn Any>);

/// Sends a message to a model that answers with this reply.
fn send(setup: impl FnOnce(Setup) -> Setup, reply: Reply) -> Asked {
    let server = Server::start();
    server.reply(reply);
    server.otherwise(Reply::said("So be it."));
    let nvim = Nvim::start(&setup(small(&server)));
    nvim.keys(":edit a.txt<CR>:Caliban<CR>igo<C-s><Esc>");
    Asked(nvim, Box::new(server))
}

/// A question about one call, in mode `ask`.
fn call(size: (u16, u16), tool: &str, input: Value) -> Asked {
    send(|it| it.size(size.0, size.1), Reply::new().call("c1", tool, input))
}

fn outside(size: (u16, u16)) -> Asked {
    call(size, "read", json!({ "path": "/etc/hostname" }))
}

fn command(size: (u16, u16)) -> Asked {
    call(size, "shell", json!({ "command": "echo one >b; echo two >c" }))
}

fn always(size: (u16, u16)) -> Asked {
    call(size, "shell", json!({ "command": "touch a" }))
}

/// A command of more rows than any screen has.
fn long(size: (u16, u16)) -> Asked {
    let lines: Vec<String> = (1..=90).map(|n| format!("echo 'step {n}' >>log-{n}.txt")).collect();
    call(size, "shell", json!({ "command": lines.join("\n") }))
}

fn several_files(size: (u16, u16)) -> Asked {
    let on = |path: &str| json!({ "path": path, "line": 1, "code": "KEY", "severity": "error", "text": "A key." });
    let comments = json!({ "comments": [on(".env"), on("id_rsa"), on(".env.local")] });
    let setup = |it: Setup| {
        it.size(size.0, size.1)
            .file(".env", "KEY\n")
            .file("id_rsa", "KEY\n")
            .file(".env.local", "KEY\n")
    };
    send(setup, Reply::new().call("c1", "comment", comments))
}

fn limit(size: (u16, u16)) -> Asked {
    let reply = Reply::new().call("c1", "read", json!({ "path": "a.txt" })).usage(1500, 10);
    send(|it| it.size(size.0, size.1).config("{ limit = { tokens = 1000 } }"), reply)
}

fn instructions(size: (u16, u16)) -> Asked {
    let setup = |it: Setup| it.size(size.0, size.1).cautious().file("AGENTS.md", "Use tabs.\n");
    send(setup, Reply::said("Yes."))
}

/// Instructions of as many bytes as the model gets.
fn long_instructions(size: (u16, u16)) -> Asked {
    let text = "Use tabs, not blanks, in each file of this project.\n".repeat(1200);
    let setup = |it: Setup| it.size(size.0, size.1).cautious().file("AGENTS.md", &text);
    send(setup, Reply::said("Yes."))
}

fn rules(size: (u16, u16)) -> Asked {
    let rule = "[[rule]]\nallow = 'shell'\ncommand = 'echo'\n";
    let setup = |it: Setup| it.size(size.0, size.1).file(".caliban/permissions.toml", rule);
    send(setup, Reply::new().call("c1", "shell", json!({ "command": "echo one" })))
}

fn recipient(size: (u16, u16)) -> Asked {
    let two = Two::start();
    let nvim = Nvim::start(&two.moved().size(size.0, size.1));
    nvim.keys(":edit a.txt<CR>:Caliban<CR>igo on<C-s><Esc>");
    Asked(nvim, Box::new(two))
}

fn port(size: (u16, u16)) -> Asked {
    let scene = Scene::start(|it| it.size(size.0, size.1));
    begin(&scene, &serve(PORT, "hello"));
    let Scene { server, nvim } = scene;
    nvim.keys(":Caliban<CR><Esc>");
    Asked(nvim, Box::new(server))
}

type Kind = (fn((u16, u16)) -> Asked, &'static [&'static str]);

/// The text of the columns in which the chat is, without blanks.
fn packed(nvim: &Nvim) -> String {
    let code = "local chat = require('caliban.chat.chats').current
        local win = vim.fn.win_findbuf(chat.transcript)[1]
        return { vim.api.nvim_win_get_position(win)[2], vim.api.nvim_win_get_width(win) }";
    let place = nvim.lua_json(code);
    let number = |at: usize| usize::try_from(place[at].as_u64().unwrap()).unwrap();
    let rows = nvim.screen();
    let cut = rows.lines().map(|it| it.chars().skip(number(0)).take(number(1)).collect::<String>());
    cut.collect::<String>().split(|it: char| it.is_whitespace()).collect()
}

/// Whether a question waits and takes keys.
const ARMED: &str = "local chat = require('caliban.chat.chats').current
    local it = chat and chat.question
    return it ~= nil and it.armed == true and not it.answered";

/// Which question waits. After an answer another one may.
const WHICH: &str = "return require('caliban.chat.chats').current.question";

/// Tries a kind of question at each size: these words are on the screen at once, and the last one's key answers.
#[track_caller]
fn check((stage, words): Kind) {
    for size in SIZES {
        let Asked(nvim, _servers) = stage(size);
        let what = format!("{words:?} at {}x{}", size.0, size.1);
        nvim.wait(|it| it.lua_json(ARMED) == true, &format!("the question of {what}"));
        let shown = |it: &Nvim| {
            let text = packed(it);
            words.iter().all(|word| text.contains(&word.split_whitespace().collect::<String>()))
        };
        nvim.wait(shown, &what);
        nvim.keys("<Tab>");
        nvim.wait(shown, &format!("{what}, with the cursor on it"));
        let (no, which) = (words.last().unwrap(), nvim.lua_str(WHICH));
        nvim.keys(&no[..1]);
        nvim.wait(|it| it.lua_str(WHICH) != which, &format!("the end of {what}"));
    }
}

macro_rules! kinds {
    ($($test:ident: $stage:ident, $words:expr;)*) => {
        $(#[test]
        fn $test() {
            check(($stage, &$words));
        })*
    };
}

kinds! {
    a_question_about_a_file_outside_of_the_project: outside, ["? Let read look at", "y once", "n no"];
    a_question_about_a_command: command, ["? Run", "y once", "n no"];
    a_question_about_a_command_that_may_be_allowed_always: always, ["? Run", "y once", "a always", "n no"];
    a_question_about_a_command_of_many_rows: long, ["? Run this?", "y once", "n no"];
    a_question_about_several_protected_files: several_files, ["? Let comment look at these 3 files", "y once", "n no"];
    a_question_about_a_limit: limit, ["? The spending limit", "y once more", "n stop"];
    a_question_about_instructions: instructions,
        ["? May the model follow these instructions", "y use them", "n leave them out"];
    a_question_about_long_instructions: long_instructions,
        ["? May the model follow these instructions", "y use them", "n leave them out"];
    a_question_about_rules: rules, ["? May these rules", "y use them", "n leave them out"];
    a_question_about_another_provider: recipient,
        ["? Send this conversation", "y send it there", "n do not send it"];
}

#[test]
fn a_question_about_a_port_of_a_job() {
    if is_full() {
        check((port, &["? Open port", "y open it", "n leave it closed"]));
    }
}

/// The lower window of a transcript that is split in two shows the question, and the composer keeps its row.
#[test]
fn a_question_in_a_split_transcript_leaves_the_composer_its_row() {
    for (columns, lines) in [(60, 16), (60, 20), (80, 24), (120, 36)] {
        let server = Server::start();
        server.reply(Reply::said(&"A paragraph.\n\n".repeat(30)));
        let nvim = Nvim::start(&small(&server).size(columns, lines));
        nvim.keys(":edit a.txt<CR>:Caliban<CR>igo<C-s><Esc>");
        nvim.wait_phase("idle");
        nvim.keys("<Tab><C-w>s:Caliban<CR><Esc>");
        server.reply(Reply::new().call("c1", "shell", json!({ "command": "make deploy" })));
        server.otherwise(Reply::said("So be it."));
        nvim.keys("isecond<C-s><Esc>");
        nvim.wait_screen("y once");
        nvim.keys("ican I see this");
        nvim.wait_screen("can I see this");
        nvim.keys("<Esc>:Caliban deny<CR>");
        nvim.wait_transcript("So be it.");
        nvim.wait_screen("can I see this");
    }
}

/// A question of one row more than its window has keeps its first row when its keys come.
#[test]
fn a_question_that_its_keys_make_too_long_is_shown_from_its_first_row() {
    for count in (380..=430).step_by(5) {
        let words: Vec<String> = (0..60).map(|n| format!("arg{n:04}")).collect();
        let command = format!("mycmd {} > out.txt", &words.join(" ")[..count]);
        let Asked(nvim, _rest) = call((60, 20), "shell", json!({ "command": command }));
        nvim.wait_screen("y once");
        nvim.wait_screen("? Run `mycmd arg0000");
    }
}

/// A command of many lines, of which one is longer than a low window, and a comment that is folded.
fn commands(count: usize) -> (String, Vec<String>) {
    let words: Vec<String> = (0..count * 4).map(|n| format!("w{n:03}")).collect();
    let steps: Vec<String> = (0..count).map(|n| format!("echo 'step {n}'")).collect();
    let comment = format!(": 1 # c000 {}c999", "and so on ".repeat(40));
    let (half, rest) = steps.split_at(count / 2);
    let lines =
        [half, &[format!("echo {}", words.join(" ")), comment], rest, &["touch out".into()]];
    let parts = words.into_iter().chain(steps.iter().map(|it| it.replace(' ', "")));
    let ends = ["c000".to_owned(), "c999".to_owned(), "touchout".to_owned()];
    (lines.concat().join("\n"), parts.chain(ends).collect())
}

/// The user only presses `y`.
#[test]
fn the_key_of_a_yes_shows_each_row_of_a_question_before_it_answers() {
    let sizes = [(60, 20, 5), (60, 20, 30), (80, 24, 70), (120, 36, 90), (200, 50, 160)];
    for (columns, rows, count) in sizes {
        let (command, parts) = commands(count);
        let Asked(nvim, _servers) = call((columns, rows), "shell", json!({ "command": command }));
        nvim.wait(|it| it.lua_json(ARMED) == true, "the question");
        nvim.keys("<Tab>");
        let (mut seen, mut pressed) = (String::new(), 0);
        while !nvim.transcript().contains("So be it.") {
            let what = format!("an answer at {columns}x{rows}");
            assert!(pressed < 4 * count + 8, "{what}: {}", nvim.screen());
            nvim.wait(|it| it.phase() != "asking" || it.lua_json(ARMED) == true, &what);
            nvim.command("redraw");
            seen.push_str(&packed(&nvim));
            if nvim.phase() == "asking" {
                nvim.keys("y");
                pressed += 1;
            } else {
                nvim.wait_transcript("So be it.");
            }
        }
        let missing: Vec<&String> = parts.iter().filter(|it| !seen.contains(*it)).collect();
        assert!(missing.is_empty(), "never on {columns}x{rows}: {missing:?}");
    }
}

#[test]
fn a_yes_to_a_folded_question_leaves_the_view_and_leads_to_the_first_row_not_seen() {
    for (columns, rows) in [(60, 20), (80, 24), (200, 50)] {
        let what = format!("at {columns}x{rows}");
        let (command, _) = commands(160);
        let Asked(nvim, _servers) = call((columns, rows), "shell", json!({ "command": command }));
        nvim.wait(|it| it.lua_json(ARMED) == true, "the question");
        nvim.keys("<Tab>");
        nvim.wait(|it| it.lua_json(ARMED) == true, "the question");
        let armed = || nvim.wait(|it| it.lua_json(ARMED) == true, &format!("the question {what}"));
        let folded = "return next(require('caliban.chat.chats').current.question.folds) ~= nil";
        while nvim.lua_json(folded) == true {
            nvim.keys("y");
            nvim.wait_screen("More is open now.");
            armed();
        }
        let is_shown = |it: &Nvim, n: usize| packed(it).contains(&format!("step{n}'"));
        assert!(is_shown(&nvim, 0), "{what}: {}", nvim.screen());
        let next = (0..80).find(|n| !is_shown(&nvim, *n)).unwrap();
        nvim.keys("G");
        nvim.wait(|it| !is_shown(it, next), &format!("the end {what}"));
        nvim.keys("y");
        nvim.wait_screen("not shown yet: <C-y> scrolls up");
        nvim.keys("y");
        nvim.wait(|it| is_shown(it, next), &format!("the first row not seen {what}"));
    }
}
