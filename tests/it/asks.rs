//! The tool `ask`: the model's questions in the chat, the user's answers, and both in requests.

use crate::kit::chat::{DIALECTS, assert_grows, common};
use crate::kit::dialects::Dialect;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::{Value, json};

/// One question with these options.
pub(crate) fn question(text: &str, options: &[&str]) -> Value {
    let options: Vec<Value> = options.iter().map(|it| json!({ "label": it })).collect();
    json!({ "question": text, "options": options })
}

pub(crate) fn ask(id: &str, questions: &[Value]) -> Reply {
    Reply::new().call(id, "ask", json!({ "questions": questions }))
}

/// The question which of two databases to use.
pub(crate) fn which() -> Value {
    question("Which database?", &["SQLite", "Postgres"])
}

/// A chat whose model has asked these questions. The first one is on the screen and accepts keys; the cursor is on it.
pub(crate) fn asked(setup: &Setup, server: &Server, questions: &[Value]) -> Nvim {
    server.reply(ask("c1", questions));
    let nvim = Nvim::start(setup);
    nvim.keys(":Caliban<CR>igo<C-s><Esc><C-w>k");
    nvim.wait_asked("e own words");
    nvim.go_to_transcript("e own words");
    nvim
}

/// The last prompt that the model got.
pub(crate) fn prompt(server: &Server) -> String {
    server.requests().pop().unwrap().last_user_text()
}

/// Lets the model ask a question between two reads, and answers the question. Returns the text of the chat, the state
/// and events for scripts, and what the model is told.
fn ask_between_reads(dialect: &dyn Dialect) -> String {
    let server = Server::start();
    let questions = json!({ "questions": [{
        "question": "Which database?",
        "options": [
            { "label": "SQLite", "description": "no server to run" },
            { "label": "Postgres" }
        ]
    }] });
    let read = |it: Reply, id: &str| it.call(id, "read", json!({ "path": "a.txt" }));
    server.reply(read(read(Reply::new().text("I look."), "c1").call("c2", "ask", questions), "c3"));
    let events = "_G.seen = {}
        for _, name in ipairs({ 'CalibanTurnEnd', 'CalibanAsk' }) do
          vim.api.nvim_create_autocmd('User', { pattern = name, callback = function(it)
            table.insert(seen, name .. ' ' .. (it.data.kind or '') .. ' ' .. (it.data.question or ''))
          end })
        end";
    let setup = Setup::new().file("a.txt", "alpha\n").before(events);
    let nvim = Nvim::start(&setup.speaking(dialect, &server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc><C-w>k");
    nvim.wait_asked("Which database?");
    let state = nvim.lua_str(
        "local it = require('caliban').state()
        return it.phase .. ' ' .. it.waiting_for .. ' ' .. require('caliban').status()
          .. '\\n' .. table.concat(seen, '\\n')",
    );
    nvim.wait_screen("● waiting for you");
    let shown = nvim.conversation();
    server.reply(Reply::said("Postgres it is."));
    nvim.go_to_transcript("? Which database?");
    nvim.keys("2");
    nvim.wait_transcript("Postgres it is.");
    nvim.wait_phase("idle");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let heard = requests[1].answers().into_iter().map(|it| format!("{}: {}", it.0, it.1));
    let heard = heard.chain([requests[1].last_user_text()]).collect::<Vec<_>>().join("\n");
    assert_grows(requests);
    format!("{shown}\n--\n{state}\n--\n{}\n--\n{heard}", nvim.conversation())
}

#[test]
fn the_answer_to_the_models_question_is_the_next_prompt_in_every_dialect() {
    let told = DIALECTS.map(ask_between_reads);
    expect![[r#"
        go

        I look.

        ▸ read  path="a.txt"
        ▸ read  path="a.txt"

        ? Which database?
          1  SQLite (suggested) — no server to run
          2  Postgres
          1-2 choose   e own words   x skip
        --
        asking question caliban: waiting for you
        CalibanTurnEnd  
        CalibanAsk question Which database?
        - SQLite
        - Postgres
        --
        go

        I look.

        ▸ read  path="a.txt"
        ▸ ask  Which database?
        ▸ read  path="a.txt"

        Which database?
           → Postgres

        Postgres it is.
        --
        c1: 1	alpha

        c2: Your questions are on the user's screen, and the turn ends here. The user's next message answers them.
        c3: Skipped: your call of `ask` before this one ends the turn. Call again after the user's answer if you still need this.
        <answers>
        Which database?
           → Postgres
        </answers>"#]].assert_eq(common(&told));
}

#[test]
fn several_questions_are_answered_one_after_the_other_and_sent_together() {
    let server = Server::start();
    let mut many = question("Which checks?", &["Unit tests", "Lints", "Benchmarks"]);
    many["multiple"] = json!(true);
    let nvim = asked(&Setup::new().anthropic(&server), &server, &[which(), many, which()]);
    expect![[r#"
        go

        ? 1 of 3: Which database?
          1  SQLite (suggested)
          2  Postgres
          1-2 choose   e own words   x skip"#]]
    .assert_eq(&nvim.conversation());
    nvim.keys("2");
    nvim.wait_asked("2 of 3: Which checks?");
    nvim.go_to_transcript("Which checks?");
    nvim.keys("3");
    nvim.wait_transcript("3  [x] Benchmarks");
    nvim.keys("1");
    nvim.wait_transcript("1  [x] Unit tests");
    nvim.keys("2");
    nvim.wait_transcript("2  [x] Lints");
    nvim.keys("2");
    nvim.wait_transcript("2  [ ] Lints");
    assert_eq!(server.count(), 1);
    nvim.keys("<CR>");
    nvim.wait_asked("3 of 3");
    nvim.go_to_transcript("3 of 3");
    nvim.keys("u");
    nvim.wait_asked("2 of 3");
    nvim.go_to_transcript("2 of 3");
    nvim.wait_transcript("1  [x] Unit tests");
    nvim.keys("3");
    nvim.wait_transcript("3  [ ] Benchmarks");
    nvim.keys("<CR>");
    nvim.wait_asked("3 of 3");
    nvim.go_to_transcript("3 of 3");
    server.reply(Reply::said("Good."));
    nvim.keys("emy own one<CR>");
    nvim.wait_transcript("Good.");
    expect![[r#"
        <answers>
        1. Which database?
           → Postgres
        2. Which checks?
           → Unit tests
        3. Which database?
           → (own words) my own one
        </answers>"#]]
    .assert_eq(&prompt(&server));
    assert_grows(server.requests());
}

/// A question of which several options may be chosen, with the second one marked.
fn marked(server: &Server) -> Nvim {
    let mut many = question("Which checks?", &["Unit tests", "Lints", "Benchmarks"]);
    many["multiple"] = json!(true);
    let nvim = asked(&Setup::new().anthropic(server), server, &[many]);
    nvim.wait_asked("Which checks?");
    nvim.go_to_transcript("? Which checks?");
    nvim.keys("2");
    nvim.wait_transcript("2  [x] Lints");
    server.reply(Reply::said("Good."));
    nvim
}

#[test]
fn marked_options_go_with_an_answer_in_own_words_or_by_command() {
    for (keys, said) in [
        ("eand my own<CR>", "Lints; (own words) and my own"),
        (":Caliban answer and my own<CR>", "Lints; (own words) and my own"),
        (":Caliban answer 3<CR>", "Lints; Benchmarks"),
    ] {
        let server = Server::start();
        let nvim = marked(&server);
        nvim.keys(keys);
        nvim.wait_transcript("Good.");
        let expected = format!("<answers>\nWhich checks?\n   → {said}\n</answers>");
        assert_eq!(prompt(&server), expected, "{keys}");
    }
}

#[test]
fn marked_options_go_with_a_message_from_the_composer() {
    let server = Server::start();
    let nvim = marked(&server);
    nvim.keys(":Caliban<CR>iand fast<C-s><Esc>");
    nvim.wait_transcript("Good.");
    let text = server.requests().last().unwrap().json.to_string();
    assert!(text.contains("Which checks?\\n   → Lints\\n</answers>"), "{text}");
    assert!(text.contains("and fast"), "{text}");
}

#[test]
fn the_marks_of_a_question_stay_while_the_user_answers_the_previous_one_again() {
    let server = Server::start();
    let mut many = question("Which checks?", &["Unit tests", "Lints", "Benchmarks"]);
    many["multiple"] = json!(true);
    let nvim = asked(&Setup::new().anthropic(&server), &server, &[which(), many]);
    server.reply(Reply::said("Good."));
    nvim.keys("1");
    nvim.wait_asked("Which checks?");
    nvim.go_to_transcript("Which checks?");
    nvim.keys("2");
    nvim.wait_transcript("2  [x] Lints");
    nvim.keys("u");
    nvim.wait_asked("Which database?");
    nvim.go_to_transcript("Which database?");
    nvim.keys("2");
    nvim.wait_asked("Which checks?");
    nvim.go_to_transcript("Which checks?");
    nvim.wait_transcript("2  [x] Lints");
    nvim.keys("3");
    nvim.wait_transcript("3  [x] Benchmarks");
    nvim.keys("<CR>");
    nvim.wait_transcript("Good.");
    assert!(
        prompt(&server).contains("Which checks?\n   → Lints; Benchmarks"),
        "{}",
        prompt(&server)
    );
}

#[test]
fn options_marked_in_the_picker_go_with_own_words() {
    let server = Server::start();
    let nvim = marked(&server);
    nvim.keys(":Caliban answer<CR>");
    nvim.wait_screen("Type number and <Enter>");
    nvim.keys("3<CR>");
    nvim.wait_screen("[x] Benchmarks");
    nvim.wait_transcript("3  [x] Benchmarks");
    nvim.keys("5<CR>");
    nvim.wait_screen("Your answer: ");
    nvim.keys("mine<CR>");
    nvim.wait_transcript("Good.");
    let said = "Lints; Benchmarks; (own words) mine";
    assert_eq!(prompt(&server), format!("<answers>\nWhich checks?\n   → {said}\n</answers>"));
}

#[test]
fn a_message_from_the_composer_answers_the_question() {
    let server = Server::start();
    let nvim = asked(&Setup::new().anthropic(&server), &server, &[which()]);
    server.reply(Reply::said("Good."));
    nvim.keys(":Caliban<CR>ineither, use files<C-s><Esc>");
    nvim.wait_transcript("Good.");
    assert_eq!(prompt(&server), "neither, use files");
    nvim.wait_phase("idle");
    assert!(!nvim.transcript().contains("? Which database?"));
}

#[test]
fn a_skipped_question_sends_nothing_and_the_model_is_told_with_the_next_message() {
    let server = Server::start();
    let nvim = asked(&Setup::new().anthropic(&server), &server, &[which()]);
    nvim.keys("x");
    nvim.wait_phase("idle");
    nvim.wait_screen("closed without an answer");
    assert_eq!(server.count(), 1);
    server.reply(Reply::said("Good."));
    nvim.ask("as you like", "Good.");
    expect![[r#"
        <notice>
        The user closed your last questions without an answer. Go by what the user says next, and do not ask the same again.
        </notice>
        as you like"#]].assert_eq(&prompt(&server));
}

#[test]
fn a_key_typed_before_a_question_appears_does_not_answer_it() {
    for key in ["1", "x"] {
        let server = Server::start();
        server.reply(ask("c1", &[which(), question("What else?", &["this", "that"])]));
        let typed = format!(
            "vim.api.nvim_create_autocmd('User', {{ pattern = 'CalibanAsk', once = true,
               callback = function() vim.api.nvim_input('{key}') end }})"
        );
        let nvim = Nvim::start(&Setup::new().before(&typed).anthropic(&server));
        nvim.keys(":Caliban<CR>igo<C-s><Esc><C-w>k");
        nvim.wait_screen("1 of 2");
        nvim.keys("<Esc>");
        nvim.wait_asked("1 of 2");
        nvim.go_to_transcript("1 of 2");
        // the second key is typed before the second question is on the screen
        nvim.keys("11<Esc>");
        nvim.wait_asked("2 of 2");
        assert_eq!((nvim.phase().as_str(), server.count()), ("asking", 1));
    }
}

#[test]
fn a_digit_typed_outside_of_the_question_is_a_count() {
    let server = Server::start();
    let nvim = asked(&Setup::new().anthropic(&server), &server, &[which()]);
    nvim.keys("gg2j");
    assert_eq!(nvim.lua_str("return vim.fn.line('.')"), "3");
    assert_eq!(nvim.phase(), "asking");
}

#[test]
fn calls_of_ask_with_wrong_arguments_are_answered_with_the_reason() {
    let options = |labels: &[&str]| json!({ "questions": [question("Which?", labels)] });
    let wrong = [
        json!({ "questions": [] }),
        json!({ "questions": vec![which(); 5] }),
        options(&["a"]),
        options(&["a", "b", "c", "d", "e"]),
        options(&["a", " A "]),
        options(&["", "b"]),
        options(&["\u{1b}[31m", "b"]),
        json!({ "questions": [question(&"x".repeat(1_000_000), &["a", "b"])] }),
        options(&["a", &"y".repeat(1_000_000)]),
        json!({ "questions": [{ "question": "Which?", "options": "a" }] }),
    ];
    let server = Server::start();
    let mut reply = Reply::new();
    for (n, args) in wrong.iter().enumerate() {
        reply = reply.call(&format!("c{n}"), "ask", args.clone());
    }
    server.reply(reply);
    server.reply(Reply::said("I see."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.ask("go", "I see.");
    let said = server.requests()[1].answers().into_iter();
    let said = said.map(|it| it.1.lines().nth(1).unwrap_or_default().to_owned());
    expect![[r#"
        $.questions: expected at least 1, got 0
        $.questions: expected at most 4, got 5
        $.questions[0].options: expected at least 2, got 1
        $.questions[0].options: expected at most 4, got 5
        $.questions[0].options[1].label: expected a label that no earlier option has, got "A"
        $.questions[0].options[0].label: expected 1 to 80 characters, got 0
        $.questions[0].options[0].label: expected 1 to 80 characters, got 0
        $.questions[0].question: expected 1 to 400 characters, got 1000000
        $.questions[0].options[1].label: expected 1 to 80 characters, got 1000000
        $.questions[0].options: expected array, got string "a""#]]
    .assert_eq(&said.collect::<Vec<_>>().join("\n"));
}

#[test]
fn hostile_text_in_the_models_question_is_only_shown() {
    let server = Server::start();
    let hostile = [
        "%{system('touch%20ran')}",
        "a\u{1b}[31m\u{202e}b | !touch ran",
        "@/etc/hostname /clear\n`!touch ran`",
        "<CR>:!touch ran<CR>",
    ];
    let nvim = asked(
        &Setup::new().anthropic(&server),
        &server,
        &[question("@a.txt?\u{200b}\r%", &hostile)],
    );
    expect![[r#"
        go

        ? @a.txt?[U+200B]%
          1  %{system('touch%20ran')} (suggested)
          2  a[U+202E]b | !touch ran
          3  @/etc/hostname /clear `!touch ran`
          4  <CR>:!touch ran<CR>
          1-4 choose   e own words   x skip"#]]
    .assert_eq(&nvim.conversation());
    server.reply(Reply::said("Good."));
    nvim.keys("3");
    nvim.wait_transcript("Good.");
    expect![[r#"
        <answers>
        @a.txt?[U+200B]%
           → @/etc/hostname /clear `!touch ran`
        </answers>"#]]
    .assert_eq(&prompt(&server));
    assert_eq!(nvim.setup.on_disk("ran"), None);
}

#[test]
fn in_an_unattended_run_the_model_is_told_to_answer_its_question_itself() {
    let server = Server::start();
    server.reply(ask("c1", &[which()]).call("c2", "read", json!({ "path": "a.txt" })));
    server.reply(Reply::said("I assumed SQLite."));
    let setup = Setup::new().file("a.txt", "alpha\n").anthropic(&server);
    let ran = crate::run::Ran::of(&mut setup.program(&["run", "go"]));
    assert_eq!((ran.code, ran.out.as_str()), (0, "I assumed SQLite.\n"), "{}", ran.err);
    let request = &server.requests()[1];
    let said = "Nobody is here to answer. Decide yourself, go on, and name in your final answer what you assumed.";
    assert_eq!(request.answer("c1"), said);
    assert!(request.answer("c2").contains("alpha"));
}

#[test]
fn an_edit_before_the_question_stays_under_review_and_its_verdict_follows() {
    let server = Server::start();
    let files =
        ["a.txt", "b.txt"].map(|path| json!({ "old": "alpha", "new": "beta", "path": path }));
    let mut reply = Reply::new();
    for (n, edit) in files.iter().enumerate() {
        let args = json!({ "path": edit["path"], "edits": [{ "old": "alpha", "new": "beta" }] });
        reply = reply.call(&format!("c{n}"), "edit", args);
    }
    let questions = json!({ "questions": [which()] });
    server.reply(reply.call("c2", "ask", questions));
    let setup = Setup::new().file("a.txt", "alpha\n").file("b.txt", "alpha\n").anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>igo<C-s><Esc><C-w>k");
    nvim.wait_asked("? Which database?");
    assert_eq!(nvim.pending(), 2);
    server.reply(Reply::said("Good."));
    nvim.go_to_transcript("? Which database?");
    nvim.keys("1");
    nvim.wait_transcript("Good.");
    nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    nvim.wait_hunks(0);
    server.reply(Reply::said("Over."));
    nvim.ask("and now?", "Over.");
    let requests = server.requests();
    let under_review = requests[1].answer("c0");
    assert!(
        under_review.starts_with("Not decided yet: 1 hunk of this edit is under review"),
        "{under_review}"
    );
    let told = requests[2].last_user_text();
    for file in ["a.txt", "b.txt"] {
        assert!(told.contains(&format!("The user accepted the change in {file}.")), "{told}");
    }
    assert_grows(requests);
}

/// What is told while a question waits stands below it; the cursor stays on the question, whose keys are its own.
#[test]
fn a_line_that_arrives_below_a_question_takes_no_key_from_it() {
    let which = || ask("c1", &[which()]);
    let touch = || Reply::new().call("c1", "shell", json!({ "command": "touch b.txt" }));
    let cases: [(&dyn Fn() -> Reply, &str, &str); 4] = [
        (&which, "e own words", "1"),
        (&which, "? Which database", "1"),
        (&touch, "y once", "n"),
        (&touch, "? Run", "n"),
    ];
    for size in [(60, 20), (80, 24), (120, 36)] {
        for (reply, at, key) in cases {
            let server = Server::start();
            let nvim = Nvim::start(&Setup::new().anthropic(&server).size(size.0, size.1));
            server.reply(reply());
            nvim.keys(":Caliban<CR>igo<C-s><Esc><C-w>k");
            if key == "1" {
                nvim.wait_asked("e own words");
            } else {
                nvim.wait_question();
            }
            nvim.go_to_transcript(at);
            server.reply(Reply::said("Well."));
            nvim.keys(":Caliban mode auto-edit<CR>:Caliban mode plan<CR>");
            nvim.wait_transcript("Mode plan");
            nvim.keys(key);
            nvim.wait(|_| server.count() == 2, &format!("{key} at {at:?}, {size:?}"));
        }
    }
}
