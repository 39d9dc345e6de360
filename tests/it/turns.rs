//! Turns: replies with tool calls, and the answers to the calls.

use crate::kit::chat::{DIALECTS, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::{Expect, expect};
use serde_json::json;

#[test]
fn two_calls_of_one_reply_run_and_their_results_go_back_in_call_order() {
    let mut said = Vec::new();
    for dialect in DIALECTS {
        let server = Server::start();
        server.reply(
            Reply::new()
                .text("I look.")
                .call("c1", "shell", json!({"command": "echo ran"}))
                .call("c2", "read", json!({"path": "a.txt"}))
                .call("c3", "read", json!({"path": "b.txt", "offset": 2, "limit": 1})),
        );
        server.reply(Reply::said("Both read."));
        let setup = Setup::new().file("a.txt", "alpha\n").file("b.txt", "one\ntwo\nthree\n");
        let nvim = Nvim::start(&setup.speaking(dialect, &server));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_screen("? Run `echo ran`?");
        // The reads do not wait for the answer to the question.
        nvim.wait_transcript("▸ read  2 files  a.txt, b.txt");
        nvim.wait_question();
        nvim.command("Caliban approve");
        nvim.wait_transcript("Both read.");
        let ids: Vec<String> =
            server.wait_requests(2)[1].answers().into_iter().map(|it| it.0).collect();
        assert_eq!(ids, ["c1", "c2", "c3"]);
        assert!(server.requests()[1].answer("c1").contains("ran"));
        assert!(server.requests()[1].answer("c2").contains("alpha"));
        let third = server.requests()[1].answer("c3");
        assert!(third.contains("two") && !third.contains("one"), "{third}");
        nvim.wait_phase("idle");
        said.push(nvim.conversation());
    }
    expect![[r#"
        go

        I look.

        ▸ shell  echo ran
        ▸ read  2 files  a.txt, b.txt

        Both read."#]]
    .assert_eq(common(&said));
}

#[test]
fn stopping_during_a_call_answers_it_and_the_next_request_is_valid() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.reply(
            Reply::new().call("c1", "shell", json!({"command": "echo begun; sleep 1000"})).call(
                "c2",
                "shell",
                json!({"command": "echo never"}),
            ),
        );
        server.reply(Reply::said("Fine."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_screen("? Run `echo begun; sleep 1000`?");
        nvim.wait_question();
        nvim.command("Caliban approve");
        nvim.wait_screen("    begun");
        nvim.wait_phase("running");
        nvim.keys("<C-c>");
        nvim.wait_screen("! Stopped.");
        nvim.wait(
            |nvim| nvim.setup.processes().iter().all(|it| !it.1.contains("sleep 1000")),
            "no child left",
        );
        nvim.ask("and now?", "Fine.");
        let request = &server.requests()[1];
        assert_eq!(
            format!("{}\n{}", request.answer("c1"), request.answer("c2")),
            "Stopped while it ran: the user stopped the turn. The call may have had effects: look for them before you repeat the call.\n\
             Not run: the user stopped the turn."
        );
        assert!(request.last_user_text().ends_with("and now?"));
    }
}

#[test]
fn a_call_repeated_too_often_is_refused_and_then_ends_the_turn() {
    let server = Server::start();
    for n in 1..=6 {
        server.reply(Reply::new().call(&format!("c{n}"), "read", json!({"path": "a.txt"})));
    }
    let nvim = Nvim::start(&Setup::new().file("a.txt", "alpha\n").anthropic(&server));
    nvim.keys(":Caliban<CR>igo<C-s>");
    nvim.wait_phase("idle");
    nvim.wait_transcript("! ");
    expect![[r#"
        go

        ▸ read  3 times  a.txt
        ▸ read  path="a.txt"
        ▸ read  path="a.txt"
        ▸ read  path="a.txt"

        ! Stopped: the model made the same `read` call 6 times. Send a message to go on."#]]
    .assert_eq(&nvim.conversation());
    expect![
        "Not run: you have called `read` with these arguments 4 times and got the same answer. Do something else, or tell the user what stops you."
    ]
    .assert_eq(&server.requests().last().unwrap().answers().last().unwrap().1);
}

/// Lets the model make this call. Compares the line in the chat and the answer that the model gets with the snapshot.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check_call(tool: &str, input: &str, expected: Expect) {
    let shown = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.reply(Reply::new().call_raw("c1", tool, input).stop("tool_use"));
        server.reply(Reply::said("I see."));
        // wide enough for any duration beside the call
        let setup = Setup::new().file("a.txt", "alpha\n").size(200, 40);
        let nvim = Nvim::start(&setup.speaking(dialect, &server));
        nvim.ask("go", "I see.");
        let line = nvim.transcript().lines().find(|it| it.starts_with('▸')).unwrap().to_owned();
        assert_eq!(nvim.setup.on_disk("a.txt").unwrap(), "alpha\n");
        format!("{line}\n{}", server.requests()[1].answer("c1"))
    });
    expected.assert_eq(common(&shown));
}

#[test]
fn a_wrong_argument_in_a_nested_object_is_answered_with_the_fields_of_that_object() {
    check_call(
        "edit",
        "{\"path\": \"a.txt\", \"edits\": [{\"old\": \"alpha\"}]}",
        expect![[r#"
            ▸ edit  a.txt
            The arguments are not valid for the tool `edit`, so nothing was done.
            $.edits[0].new: expected string, here or in `new_from`, got nothing
            Required in $.edits[0]: old. Known: path, old, new, new_from, everywhere.
            Example: {"path":"a.rs","edits":[{"old":"let a = 1;","new":"let a = 2;"}]}"#]],
    );
    check_call(
        "edit",
        "{\"path\": \"a.txt\", \"edits\": [{\"old\": \"a\", \"new\": \"b\"}, 7, \
            {\"old_text\": \"alpha\", \"new\": \"beta\"}]}",
        expect![[r#"
            ▸ edit  a.txt
            The arguments are not valid for the tool `edit`, so nothing was done.
            $.edits[1]: expected object, got number 7
            $.edits[2].old: expected string, got nothing
            Required in $.edits[1]: old. Known: path, old, new, new_from, everywhere.
            Required in $.edits[2]: old. Known: path, old, new, new_from, everywhere. Not known: old_text.
            Example: {"path":"a.rs","edits":[{"old":"let a = 1;","new":"let a = 2;"}]}"#]],
    );
}

#[test]
fn a_malformed_call_is_not_run_and_the_model_is_told_why() {
    check_call(
        "shell",
        "{\"command\": \"rm -rf a.t",
        expect![[r#"
            ▸ shell  {"command": "rm -rf a.t  (arguments cut off)
            Your call of shell was cut off after 23 bytes of its arguments, so nothing was done. Send it again in smaller pieces."#]],
    );
    check_call(
        "shell",
        "{\"command\": rm}",
        expect![[r#"
        ▸ shell  {"command": rm}  (arguments not JSON)
        The arguments of your call of shell are not JSON, so nothing was done: expected value at line 1 column 13. Send the call again."#]],
    );
    check_call(
        "read",
        "{\"path\": 7, \"limit\": \"many\"}",
        expect![[r#"
            ▸ read  path=7 limit="many"
            The arguments are not valid for the tool `read`, so nothing was done.
            $.path: expected string, got number 7
            $.limit: expected integer, got string "many"
            Required: path. Known: path, offset, limit.
            Example: {"path":"src/main.rs","offset":200,"limit":100}"#]],
    );
    check_call(
        "read",
        "{}",
        expect![[r#"
            ▸ read
            The arguments are not valid for the tool `read`, so nothing was done.
            $.path: expected string, got nothing
            Required: path. Known: path, offset, limit.
            Example: {"path":"src/main.rs","offset":200,"limit":100}"#]],
    );
    check_call(
        "bash",
        "{\"command\": \"ls\"}",
        expect![[r#"
            ▸ bash  command="ls"
            There is no tool `bash`. Did you mean `shell`? The tools are: read, list, glob, grep, diagnostics, definition, references, hover, symbols, edit, write, apply_patch, delete, rename, rename_symbol, code_action, format, shell, job, job_input, fetch, todo, ask, plan, skill, comment, task."#]],
    );
    check_call(
        "read",
        "{\"path\": \"no/such.txt\"}",
        expect![[r#"
        ▸ read  path="no/such.txt"
        path: `no/such.txt` does not exist. Use glob or list to find it."#]],
    );
}

/// Records the data of each event, with the fields in the order of their names.
const LISTEN: &str = "_G.seen = {}
        for _, name in ipairs({ 'TurnStart', 'TurnEnd', 'ToolStart', 'ToolEnd', 'Ask' }) do
          require('caliban').on(name, function(data)
            local keys = vim.tbl_keys(data)
            table.sort(keys)
            local words = { name }
            for _, key in ipairs(keys) do words[#words + 1] = key .. '=' .. tostring(data[key]) end
            table.insert(_G.seen, table.concat(words, ' '))
          end)
        end";

#[test]
fn the_user_events_of_a_turn_carry_data_and_the_state_names_the_phase() {
    let server = Server::start();
    let gate = server.reply(
        Reply::new()
            .text("Wait. ")
            .gate()
            .call("c1", "read", json!({"path": "a.txt"}))
            .call("c2", "shell", json!({"command": "true"}))
            .usage(100, 7),
    );
    server.reply(Reply::said("Done.").usage(120, 3).cached(80, 0));
    let nvim = Nvim::start(&Setup::new().file("a.txt", "alpha\n").anthropic(&server));
    assert_eq!(nvim.phase(), "offline");
    assert_eq!(nvim.lua_str("return require('caliban').status()"), "");
    nvim.lua(LISTEN, &[]);
    nvim.lua("require('caliban').ask('go')", &[]);
    nvim.wait_phase("streaming");
    assert_eq!(nvim.lua_str("return require('caliban').status()"), "caliban: answering");
    gate.finish();
    nvim.wait_phase("asking");
    assert_eq!(nvim.lua_str("return require('caliban').status()"), "caliban: waiting for you");
    assert_eq!(nvim.lua_str("return require('caliban').state().waiting_for"), "permission");
    nvim.wait_question();
    nvim.lua("require('caliban').approve()", &[]);
    nvim.wait_transcript("Done.");
    nvim.wait_phase("idle");
    expect![[r#"
        TurnStart session=main
        ToolStart call=c1 session=main tool=read
        ToolEnd call=c1 failed=false first=1 path=a.txt session=main tool=read
        Ask always=true background=false call=c2 command=true hosts= kind=command opens= outside=false paths= question=Run `true`? session=main tool=shell why=
        ToolStart call=c2 session=main tool=shell
        ToolEnd call=c2 failed=false session=main tool=shell
        TurnEnd session=main why="#]]
    .assert_eq(&nvim.lua_str("return table.concat(_G.seen, '\\n')"));
    expect![[r#"
        {
          coordinates = false,
          jobs = 0,
          mode = "ask",
          model = "anthropic/claude-sonnet-4-5",
          phase = "idle",
          questions = 0,
          queue = {},
          session = "main",
          usage = {
            cached = 80,
            context = 203,
            cost = 0.000834,
            input = 300,
            output = 10,
            window = 200000
          }
        }"#]]
    .assert_eq(&nvim.lua_str("return vim.inspect(require('caliban').state())"));
}
