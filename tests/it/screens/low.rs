//! Scenes on a screen of 80 columns and 24 rows, the commonest size: what waits for the user, with its keys. The same
//! scenes are tried on screens from 60 columns and 20 rows to 200 columns and 50 rows.

use super::scenes::{planned, team};
use super::{Stage, compare, compare_as_it_is};
use crate::asks::{ask, question, which};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::root;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::edit;
use serde_json::json;

/// A scene for a screen of so many columns and rows.
type Scene = fn(u16, u16) -> Stage;

/// The scenes, each with words that have to be on the screen, whatever its size.
const SCENES: [(&str, Scene, &[&str]); 10] = [
    ("tour", tour, &["accept with", "2 hunks in 1 file", "\\a accept", "\\r reject"]),
    (
        "two-questions",
        two_questions,
        &["1 of 2: Which database?", "1  SQLite", "2  Postgres", "e own words"],
    ),
    ("long-command", long_command, &["Run this?", "y once", "n no"]),
    ("choices", choices, &["Which targets?", "1  ", "4  ", "e own words"]),
    ("outside", outside, &["outside of the", "and may reach any.", "y once", "n no"]),
    ("three-files", three_files, &["\\a accept", "\\r reject"]),
    ("todo", todo, &["[x] Read the code", "[>] Change it"]),
    ("three-workers", three_workers, &["Count in cents", "Find the callers", "Look for floats"]),
    ("plan", plan, &["Plan · waits", "? A plan waits for you.", "\\a accept", "\\d drop"]),
    ("plan-comment", plan_comment, &["old years too.", "\\r send back"]),
];

fn at(columns: u16, rows: u16, setup: impl FnOnce(Setup) -> Setup) -> Stage {
    Stage::sized(columns, rows, setup)
}

/// Opens the chat beside a file, and sends a message.
fn send(stage: &Stage, reply: Reply) {
    stage.server.reply(reply);
    stage
        .nvim
        .keys(":NoMatchParen<CR>:edit src/cart.lua<CR>:Caliban<CR>iCount in cents.<C-s><Esc>");
}

/// The review in the offline tour.
fn tour(columns: u16, rows: u16) -> Stage {
    let sample = std::fs::read(root().join("examples/sample/greet.py")).unwrap();
    let server = Server::start();
    let setup = Setup::new().file("greet.py", sample).size(columns, rows);
    let options =
        "vim.g.kit_colours = true vim.o.number = true vim.o.ruler = false vim.o.signcolumn = 'yes'";
    let nvim = Nvim::start(&setup.before(options));
    nvim.keys(":NoMatchParen<CR>:edit greet.py<CR>:Caliban<CR>ihello<Esc><CR>");
    nvim.wait_pending(2);
    nvim.wait_phase("reviewing");
    let stage = Stage { server, nvim };
    stage.quiet();
    stage
}

/// The first of two questions.
fn two_questions(columns: u16, rows: u16) -> Stage {
    let stage = at(columns, rows, |it| it);
    send(&stage, ask("c1", &[which(), question("Which port?", &["80", "443"])]));
    stage.nvim.wait_asked("e own words");
    stage
}

/// A command of many lines.
fn long_command(columns: u16, rows: u16) -> Stage {
    let stage = at(columns, rows, |it| it);
    let lines: Vec<String> = (1..=40).map(|n| format!("echo 'step {n}' >>log-{n}.txt")).collect();
    let call = json!({ "command": lines.join("\n") });
    send(&stage, Reply::new().text("Forty steps.").call("c1", "shell", call));
    stage.nvim.wait_question();
    stage
}

/// A question of which several options may be chosen, each with a description.
fn choices(columns: u16, rows: u16) -> Stage {
    let stage = at(columns, rows, |it| it);
    let option = |label: &str, what: &str| json!({ "label": label, "description": what });
    let many = json!({ "question": "Which targets?", "multiple": true, "options": [
        option("Linux", "x86-64 and arm64, with and without musl"),
        option("macOS", "from version 13 on, signed"),
        option("Windows", "without the sandbox"),
        option("FreeBSD", "as far as it builds"),
    ]});
    send(&stage, ask("c1", &[many]));
    stage.nvim.wait_asked("e own words");
    stage
}

/// A command that is to run outside of the sandbox, in mode `auto`.
fn outside(columns: u16, rows: u16) -> Stage {
    let stage = at(columns, rows, |it| it.config("{ mode = 'auto' }"));
    let why = "The registry of this machine is in the home folder.";
    let call = json!({ "command": "npm publish --access public", "outside_sandbox": why });
    send(&stage, Reply::new().text("I publish it.").call("c1", "shell", call));
    stage.nvim.wait_question();
    stage
}

/// Changes of three files, seen from the composer.
fn three_files(columns: u16, rows: u16) -> Stage {
    let stage = at(columns, rows, |it| it.file("a.lua", "return 1\n").file("b.lua", "return 1\n"));
    let reply = Reply::new()
        .text("Three files change together.")
        .call("e1", "edit", edit("a.lua", &[("1", "100")]))
        .call("e2", "edit", edit("b.lua", &[("1", "100")]))
        .call("e3", "edit", edit("src/shop.lua", &[("4.20", "420")]));
    send(&stage, reply);
    stage.nvim.wait_pending(3);
    stage.nvim.wait_screen("\\a accept");
    stage
}

/// A to-do list, and its window.
fn todo(columns: u16, rows: u16) -> Stage {
    let stage = at(columns, rows, |it| it);
    let texts = ["Read the code", "Change it", "Run the tests"];
    let todos = texts.map(|it| json!({ "text": it }));
    let list = json!({ "action": "write", "todos": todos });
    let done = |text: &str, status: &str| json!({ "action": "update", "todos": [{ "text": text, "status": status }] });
    stage.server.reply(Reply::new().call("t1", "todo", list));
    stage.server.reply(Reply::new().call("t2", "todo", done("Read the code", "completed")).call(
        "t3",
        "todo",
        done("Change it", "in_progress"),
    ));
    // its rows move the lines of the list's calls, which end with times, above the window
    let count = if columns == 80 { 10 } else { 1 };
    let steps: Vec<String> = (1..=count).map(|n| format!("./publish.sh part {n}")).collect();
    send(&stage, Reply::new().call("c1", "shell", json!({ "command": steps.join("\n") })));
    stage.nvim.wait_question();
    stage.nvim.keys("gl");
    stage.nvim.wait_screen("[>] Change it");
    stage
}

/// A coordinator and three workers.
fn three_workers(columns: u16, rows: u16) -> Stage {
    let stage = at(columns, rows, |it| it);
    team(&stage);
    stage
}

/// A plan that waits for the user.
fn plan(columns: u16, rows: u16) -> Stage {
    let stage = at(columns, rows, |it| it);
    stage.server.reply(planned());
    let keys =
        ":NoMatchParen<CR>:edit src/cart.lua<CR>:Caliban<CR>i/plan Count in cents.<C-s><Esc>";
    stage.nvim.keys(keys);
    stage.nvim.wait_screen("Plan · waits");
    stage.nvim.wait_screen("\\a accept  \\");
    stage
}

/// A comment on the last line of a plan that is on the screen.
fn plan_comment(columns: u16, rows: u16) -> Stage {
    let stage = plan(columns, rows);
    let words =
        "Whole numbers, please, in the cart and the shop, and in the exports of the old years too.";
    stage.nvim.keys(&format!("<C-w>tL\\c{words}<CR>"));
    stage.nvim.wait_screen("▏ Whole numbers");
    stage.quiet();
    stage
}

/// Whether the screen has these words, in whatever rows.
fn on_screen(nvim: &Nvim, words: &str) -> bool {
    let packed = |text: &str| text.split_whitespace().collect::<String>();
    packed(&nvim.screen()).contains(&packed(words))
}

/// Compares a scene with its file at 80×24, and looks for its words at each size.
#[track_caller]
fn holds(name: &str) {
    let (_, scene, words) = SCENES.iter().find(|it| it.0 == name).unwrap();
    compare(&scene(80, 24), &format!("low/{name}"));
    for (columns, rows) in [(60, 20), (80, 24), (120, 30), (120, 36), (200, 50)] {
        let stage = scene(columns, rows);
        let all = |nvim: &Nvim| words.iter().all(|it| on_screen(nvim, it));
        stage.nvim.wait(all, &format!("{words:?} at {columns}x{rows}"));
    }
}

macro_rules! held {
    ($($test:ident: $scene:literal,)*) => {
        $(#[test]
        fn $test() {
            holds($scene);
        })*
    };
}

held! {
    the_tours_review_at_80x24: "tour",
    the_first_of_two_questions_at_80x24: "two-questions",
    a_command_of_many_lines_at_80x24: "long-command",
    a_question_with_several_choices_at_80x24: "choices",
    a_command_outside_of_the_sandbox_at_80x24: "outside",
    a_review_of_three_files_at_80x24: "three-files",
    a_list_of_tasks_beside_a_question_at_80x24: "todo",
    three_workers_at_80x24: "three-workers",
    a_plan_that_waits_at_80x24: "plan",
    a_comment_on_a_plan_at_80x24: "plan-comment",
}

/// A light background, with the colours of Neovim 0.11 for statuslines.
const LIGHT: &str = "vim.o.background = 'light'
    vim.api.nvim_set_hl(0, 'StatusLine', { fg = 0xe0e2ea, bg = 0x4f5258 })
    vim.api.nvim_set_hl(0, 'StatusLineNC', { fg = 0x2c2e33, bg = 0xc4c6cd })";

/// A reply with elements of Markdown.
fn reply(columns: u16, rows: u16) -> Stage {
    let stage = at(columns, rows, |it| it);
    let text = "## Totals\n\nA total is a **float**, see `sum` in [the cart](src/cart.lua):\n\n\
                ```lua\nlocal total = 0\n```\n\n- add cents\n- round once\n";
    send(&stage, Reply::said(text));
    stage.nvim.wait_screen("round once");
    stage.nvim.wait_phase("idle");
    stage
}

#[track_caller]
fn holds_in_light(name: &str, scene: Scene) {
    let stage = scene(80, 24);
    stage.nvim.lua(LIGHT, &[]);
    compare_as_it_is(&stage, &format!("low/light/{name}"));
}

#[test]
fn a_reply_on_a_light_background() {
    holds_in_light("reply", reply);
}

#[test]
fn a_question_on_a_light_background() {
    holds_in_light("outside", outside);
}

#[test]
fn a_list_of_changes_on_a_light_background() {
    holds_in_light("tour", tour);
}
