//! The ways in which the user answers a question of the model, and how long the question stays open.

use crate::asks::{asked, prompt, question, which};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;

/// A question with three options, of which several may be chosen.
fn many() -> Value {
    let mut many = question("Which checks?", &["Unit tests", "Lints", "Benchmarks"]);
    many["multiple"] = json!(true);
    many
}

#[test]
fn a_question_is_answered_by_a_picker() {
    let server = Server::start();
    let picker = "_G.seen, _G.picks = {}, {}
        vim.ui.select = function(items, opts, on)
          local texts = vim.tbl_map(opts.format_item, items)
          table.insert(seen, opts.prompt .. ': ' .. table.concat(texts, ' | '))
          on(items[table.remove(picks, 1)])
        end
        vim.ui.input = function(_, on) on('my own') end";
    let setup = Setup::new().before(picker).anthropic(&server);
    let nvim = asked(&setup, &server, &[which(), many(), which()]);
    let pick = |picks: &str, next: &str| {
        nvim.lua(&format!("picks = {picks}"), &[]);
        nvim.command("Caliban answer");
        nvim.wait_transcript(next);
        let open = "local it = require('caliban').state().question
            return it and ('%d of %d'):format(it.question + 1, it.of) or 'Good.'";
        nvim.wait(|nvim| nvim.lua_str(open) == next, "the next question in the state");
    };
    pick("{}", "1 of 3");
    pick("{ 2 }", "2 of 3");
    pick("{ 3, 1, 3, 2, 4 }", "3 of 3");
    server.reply(Reply::said("Good."));
    pick("{ 3 }", "Good.");
    expect![[r#"
        <answers>
        1. Which database?
           → Postgres
        2. Which checks?
           → Unit tests; Lints
        3. Which database?
           → (own words) my own
        </answers>"#]]
    .assert_eq(&prompt(&server));
    expect![[r#"
        1 of 3: Which database?: SQLite (suggested) | Postgres | In your own words … | Skip the question
        1 of 3: Which database?: SQLite (suggested) | Postgres | In your own words … | Skip the question
        2 of 3: Which checks?: [ ] Unit tests (suggested) | [ ] Lints | [ ] Benchmarks | In your own words … | Skip the question
        2 of 3: Which checks?: [ ] Unit tests (suggested) | [ ] Lints | [x] Benchmarks | Send the marked options | In your own words … | Skip the question
        2 of 3: Which checks?: [x] Unit tests (suggested) | [ ] Lints | [x] Benchmarks | Send the marked options | In your own words … | Skip the question
        2 of 3: Which checks?: [x] Unit tests (suggested) | [ ] Lints | [ ] Benchmarks | Send the marked options | In your own words … | Skip the question
        2 of 3: Which checks?: [x] Unit tests (suggested) | [x] Lints | [ ] Benchmarks | Send the marked options | In your own words … | Skip the question
        3 of 3: Which database?: SQLite (suggested) | Postgres | In your own words … | Skip the question"#]].assert_eq(&nvim.lua_str("return table.concat(seen, '\\n')"));
    nvim.command("Caliban answer");
    nvim.wait_screen("The model has no question for you now.");
}

#[test]
fn a_question_can_be_answered_by_the_command_caliban_answer_or_by_the_api() {
    let answered = |how: &[&str]| {
        let server = Server::start();
        let nvim = asked(&Setup::new().anthropic(&server), &server, &[which(), many()]);
        server.reply(Reply::said("Good."));
        for (n, answer) in how.iter().enumerate() {
            nvim.wait_asked(&format!("{} of 2", n + 1));
            nvim.command(answer);
        }
        nvim.wait_transcript("Good.");
        prompt(&server)
    };
    let said = [
        answered(&["Caliban answer 2", "Caliban answer 3, 1"]),
        answered(&["Caliban answer postgres", "Caliban answer skip"]),
        answered(&["Caliban answer neither of both", "Caliban answer Lints"]),
        answered(&["lua require('caliban').answer(1)", "lua require('caliban').answer({ 2, 3 })"]),
        answered(&[
            "lua require('caliban').answer('mine')",
            "lua require('caliban').answer(false)",
        ]),
    ];
    expect![[r#"
        <answers>
        1. Which database?
           → Postgres
        2. Which checks?
           → Unit tests; Benchmarks
        </answers>
        --
        <answers>
        1. Which database?
           → Postgres
        2. Which checks?
           → (no answer)
        </answers>
        --
        <answers>
        1. Which database?
           → (own words) neither of both
        2. Which checks?
           → Lints
        </answers>
        --
        <answers>
        1. Which database?
           → SQLite
        2. Which checks?
           → Lints; Benchmarks
        </answers>
        --
        <answers>
        1. Which database?
           → (own words) mine
        2. Which checks?
           → (no answer)
        </answers>"#]]
    .assert_eq(&said.join("\n--\n"));
}

#[test]
fn a_wrong_answer_is_explained_and_the_question_stays_open() {
    let server = Server::start();
    let nvim = asked(&Setup::new().anthropic(&server), &server, &[which()]);
    for (answer, why) in [
        ("Caliban answer 3", "There is no option 3. The question has 2 options."),
        ("Caliban answer 0", "There is no option 0. The question has 2 options."),
        ("Caliban answer 1,2", "Choose one option of this question."),
        ("lua require('caliban').answer({})", "Choose one option of this question."),
    ] {
        nvim.command(answer);
        nvim.wait_screen(why);
    }
    let complete = "return table.concat(vim.fn.getcompletion('Caliban answer ', 'cmdline'), ' ')";
    assert_eq!(nvim.lua_str(complete), "1 2 skip");
    nvim.command("Caliban approve");
    nvim.wait_screen("Nothing waits for your permission.");
    assert_eq!((nvim.phase().as_str(), server.count()), ("asking", 1));
}

#[test]
fn the_command_caliban_answer_answers_only_a_question_that_is_on_the_screen() {
    let server = Server::start();
    let nvim = asked(&Setup::new().anthropic(&server), &server, &[which()]);
    nvim.command("Caliban close");
    nvim.command("Caliban answer 1");
    nvim.wait_screen("asks you a question. Read the question, then answer.");
    nvim.wait_screen("? Which database?");
    assert_eq!((nvim.phase().as_str(), server.count()), ("asking", 1));
    let state = nvim.lua_json("return require('caliban').state().question");
    assert_eq!(state["options"][1]["label"], "Postgres");
}

#[test]
fn an_open_question_and_the_answers_so_far_survive_a_restart() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server);
    let nvim = asked(&setup, &server, &[which(), many(), which()]);
    nvim.keys("2");
    nvim.wait_asked("2 of 3");
    nvim.go_to_transcript("2 of 3");
    nvim.keys("3");
    nvim.wait_transcript("[x] Benchmarks");
    let before = nvim.conversation();
    nvim.quit_with(":qa!<CR>");
    nvim.wait_program_end();
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR><C-w>k");
    nvim.wait_asked("2 of 3");
    assert_eq!(nvim.conversation(), before);
    assert_eq!(nvim.phase(), "asking");
    nvim.kill();
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR><C-w>k");
    nvim.wait_asked("2 of 3");
    nvim.go_to_transcript("2 of 3");
    nvim.keys("<CR>");
    nvim.wait_asked("3 of 3");
    nvim.go_to_transcript("3 of 3");
    server.reply(Reply::said("Good."));
    nvim.keys("1");
    nvim.wait_transcript("Good.");
    expect![[r#"
        <answers>
        1. Which database?
           → Postgres
        2. Which checks?
           → Benchmarks
        3. Which database?
           → SQLite
        </answers>"#]]
    .assert_eq(&prompt(&server));
    crate::kit::chat::assert_grows(server.requests());
}

#[test]
fn a_forged_question_that_the_tool_ask_would_refuse_is_not_opened() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server);
    let nvim = asked(&setup, &server, &[which()]);
    nvim.quit_with(":qa!<CR>");
    nvim.wait_program_end();
    let file = setup.sessions().join("main.json");
    let text = fs::read_to_string(&file).unwrap();
    let edited = |change: fn(&mut Value)| {
        let mut session: Value = serde_json::from_str(&text).unwrap();
        let mut messages = session["messages"].as_array_mut().unwrap().iter_mut();
        let blocks = messages.find_map(|it| {
            it["blocks"].as_array_mut()?.iter_mut().find(|it| it["inquiry"].is_object())
        });
        change(&mut blocks.unwrap()["inquiry"]);
        fs::write(&file, session.to_string()).unwrap();
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        // the question stands in place of its call
        let is_there =
            |it: &Nvim| ["▸ ask", "? Which"].iter().any(|text| it.transcript().contains(text));
        nvim.wait(is_there, "the call or its question");
        let shown = nvim.transcript().contains("? ");
        nvim.quit_with(":qa!<CR>");
        nvim.wait_program_end();
        shown
    };
    assert!(edited(|_| ()));
    for change in [
        (|it| it["questions"] = json!([])) as fn(&mut Value),
        |it| it["questions"][0]["options"] = json!([]),
        |it| it["questions"][0]["text"] = json!("a\u{1b}]0;title\u{7}b"),
        |it| it["questions"][0]["text"] = json!("x".repeat(2_000_000)),
        |it| it["questions"][0]["options"][0]["label"] = json!("a\nb"),
        |it| it["questions"] = json!(vec![it["questions"][0].clone(); 500]),
        |it| it["given"] = json!([{ "chosen": [7] }]),
    ] {
        assert!(!edited(change));
    }
}

#[test]
fn undo_of_an_answer_opens_the_question_again() {
    let server = Server::start();
    let nvim = asked(&Setup::new().size(200, 40).anthropic(&server), &server, &[which()]);
    server.reply(Reply::said("Good."));
    nvim.keys("1");
    nvim.wait_transcript("Good.");
    nvim.wait_phase("idle");
    nvim.command("Caliban undo");
    nvim.wait_transcript("You went back to before “your answers”.");
    nvim.wait_asked("? Which database?");
    assert_eq!((nvim.phase().as_str(), nvim.composer().as_str()), ("asking", ""));
    nvim.go_to_transcript("? Which database?");
    server.reply(Reply::said("Better."));
    nvim.keys("2");
    nvim.wait_transcript("Better.");
    assert!(prompt(&server).contains("→ Postgres"));
}

#[test]
fn slash_clear_removes_an_open_question_and_a_fork_keeps_it() {
    let server = Server::start();
    let nvim = asked(&Setup::new().anthropic(&server), &server, &[which()]);
    nvim.command("Caliban fork");
    nvim.wait_session("main-2");
    nvim.wait_asked("? Which database?");
    nvim.command("Caliban resume main");
    nvim.wait_session("main");
    nvim.keys(":Caliban<CR>i/clear<C-s><Esc>");
    nvim.wait_phase("idle");
    assert!(!nvim.transcript().contains("Which database?"));
}

#[test]
fn the_user_is_notified_of_a_question_out_of_sight() {
    let server = Server::start();
    server.reply(crate::asks::ask("c1", &[which()]));
    let told = "_G.told = {}";
    let config = "{ notify = function(text, it) table.insert(told, it.kind .. ' ' .. text) end }";
    let setup = Setup::new().before(told).config(config).anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("g? keys");
    nvim.command("Caliban close");
    nvim.lua("require('caliban').ask('go')", &[]);
    nvim.command("Caliban close");
    nvim.wait_phase("asking");
    let told = |nvim: &Nvim| nvim.lua_str("return table.concat(told, '|')");
    nvim.wait(
        |nvim| told(nvim) == "waiting Caliban is waiting for you (main).",
        "the notification",
    );
}
