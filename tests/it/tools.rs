//! Tools in a turn: their answers, their questions, and the environment of commands.

use crate::kit::chat::DIALECTS;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

fn project(server: &Server) -> Setup {
    let setup = Setup::new()
        .file("src/a.rs", "fn alpha() {}\nfn beta() {}\n")
        .file("src/b.rs", "fn gamma() {}\n")
        .file("target/junk.rs", "fn alpha() {}\n")
        .file(".gitignore", "target/\n")
        .file("README.md", "# Read\n")
        .anthropic(server);
    // Files written in quick succession may have the same modification time, but the tests need files of different
    // ages.
    let older = std::fs::File::options().write(true).open(setup.path("src/a.rs")).unwrap();
    older.set_modified(std::time::UNIX_EPOCH).unwrap();
    setup
}

/// Runs one call in a small project, and compares its line in the chat and its answer with the snapshot.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(tool: &str, input: Value, expected: Expect) {
    let server = Server::start();
    server.reply(Reply::new().call("c1", tool, input));
    server.reply(Reply::said("I see."));
    let nvim = Nvim::start(&project(&server));
    nvim.keys(":edit src/b.rs<CR>oalpha unsaved<Esc>");
    nvim.ask("go", "I see.");
    let transcript = nvim.transcript();
    let line = transcript.lines().find(|it| it.starts_with('▸')).unwrap();
    expected.assert_eq(&format!("{line}\n{}", server.requests()[1].answer("c1")));
}

#[test]
fn reading_tools_answer_from_the_project_and_from_unsaved_buffers() {
    check(
        "read",
        json!({"path": "src/b.rs"}),
        expect![[r#"
        ▸ read  path="src/b.rs"
        1	fn gamma() {}
        2	alpha unsaved
    "#]],
    );
    check(
        "list",
        json!({"path": "."}),
        expect![[r#"
        ▸ list  path="."
        .gitignore  8 B
        README.md  7 B
        src/"#]],
    );
    check(
        "glob",
        json!({"pattern": "**/*.rs"}),
        expect![[r#"
        ▸ glob  pattern="**/*.rs"
        src/b.rs
        src/a.rs"#]],
    );
    check(
        "grep",
        json!({"pattern": "alpha"}),
        expect![[r#"
        ▸ grep  pattern="alpha"
        src/a.rs:1: fn alpha() {}
        src/b.rs:2: alpha unsaved"#]],
    );
    check(
        "grep",
        json!({"pattern": "("}),
        expect![[r#"
        ▸ grep  pattern="("
        pattern: not a regular expression: regex parse error:
            (?:()
            ^
        error: unclosed group
        Write \( \[ \{ \. for the characters themselves. No look-around, no backreferences, no line breaks."#]],
    );
    check(
        "read",
        json!({"path": "src"}),
        expect![[r#"
        ▸ read  path="src"
        path: `src` is a folder. Use list."#]],
    );
}

#[test]
fn a_result_unfolds_under_its_tool_line() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "read", json!({"path": "src/a.rs"})));
    server.reply(Reply::said("I see."));
    let nvim = Nvim::start(&project(&server));
    nvim.keys(":Caliban<CR>");
    nvim.ask("go", "I see.");
    assert!(!nvim.transcript().contains("fn beta"));
    nvim.go_to_transcript("▸ read");
    nvim.keys("<CR>");
    nvim.wait_screen("fn beta");
    nvim.wait_screen("▾ read");
    nvim.keys("za");
    nvim.wait_gone("fn beta");
}

#[test]
fn a_command_needs_consent_and_keys_on_the_line_of_the_question_answer_it() {
    for (keys, ran) in [("y", true), ("s", true), ("n", false), ("enot today<CR>", false)] {
        for dialect in DIALECTS {
            let server = Server::start();
            server.reply(Reply::new().call("c1", "shell", json!({"command": "echo ran > out"})));
            server.reply(Reply::new().text("Once more. ").call(
                "c2",
                "shell",
                json!({"command": "echo ran > out"}),
            ));
            server.reply(Reply::said("Over."));
            let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
            nvim.keys(":Caliban<CR>igo<C-s><Esc>");
            nvim.wait_screen("? Run `echo ran > out`?");
            nvim.wait_screen("y once   s session   c change   n no");
            nvim.wait_screen("e\u{a0}no,\u{a0}because\u{a0}…   i\u{a0}explain");
            nvim.wait_question();
            assert_eq!(nvim.setup.on_disk("out"), None);
            nvim.go_to_transcript("? Run");
            nvim.keys(keys);
            nvim.wait_transcript("Once more.");
            assert_eq!(nvim.setup.on_disk("out").is_some(), ran);
            let answer = server.wait_requests(2)[1].answer("c1");
            match keys {
                "y" | "s" => {
                    assert!(answer.contains("[no output]"), "{answer}");
                }
                "n" => assert!(answer.contains("the user refused"), "{answer}"),
                _ => assert!(answer.contains("says: not today"), "{answer}"),
            }
            if keys != "s" {
                nvim.wait_transcript("? Run");
                nvim.wait_phase("asking");
                nvim.wait_question();
                nvim.command("Caliban deny no more");
            }
            nvim.wait_transcript("Over.");
            let second = server.wait_requests(3)[2].answer("c2");
            assert_eq!(second.contains("no more"), keys != "s", "{keys}: {second}");
            nvim.wait_phase("idle");
            assert!(!nvim.transcript().contains("? Run"));
        }
    }
}

#[test]
fn a_question_can_be_approved_and_denied_by_command_and_by_the_lua_api() {
    let server = Server::start();
    for (n, command) in ["echo a", "echo b", "echo c", "echo c"].iter().enumerate() {
        server.reply(Reply::new().call(&format!("c{n}"), "shell", json!({"command": command})));
    }
    server.reply(Reply::said("Over."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban approve<CR>");
    nvim.wait_screen("Nothing waits for your permission.");
    nvim.lua("require('caliban').ask('go')", &[]);
    nvim.wait_screen("? Run `echo a`?");
    nvim.wait_question();
    nvim.keys(":Caliban approve<CR>");
    nvim.wait_screen("? Run `echo b`?");
    nvim.wait_question();
    nvim.lua("require('caliban').deny('b is bad')", &[]);
    nvim.wait_screen("? Run `echo c`?");
    nvim.wait_question();
    nvim.lua("require('caliban').approve('session')", &[]);
    nvim.wait_transcript("Over.");
    let request = server.wait_requests(5)[4].clone();
    expect![[r#"
        c0: a
        c1: Not run: the user refused, and says: b is bad
        c2: c
        c3: c"#]]
    .assert_eq(
        &request
            .answers()
            .into_iter()
            .map(|(id, text)| format!("{id}: {text}"))
            .collect::<Vec<_>>()
            .join("\n"),
    );
}

#[test]
fn a_commands_output_is_shown_live_without_control_characters() {
    let server = Server::start();
    let command = "printf '\\033[31mred\\033[0m\\n\\033]0;title\\007plain\\rover\\n'; while [ ! -e go ]; do sleep 0.01; done; echo end; exit 3";
    server.reply(Reply::new().call("c1", "shell", json!({"command": command})));
    server.reply(Reply::said("I see."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_screen("? Run");
    nvim.wait_question();
    nvim.command("Caliban approve");
    nvim.wait_screen("    over");
    nvim.wait_screen("▾ shell");
    nvim.wait_screen("running");
    std::fs::write(nvim.setup.path("go"), "").unwrap();
    nvim.wait_transcript("I see.");
    expect![[r#"
        red
        over
        end
        [exit code 3]"#]]
    .assert_eq(&server.wait_requests(2)[1].answer("c1"));
    assert!(!nvim.transcript().contains('\u{1b}'));
    nvim.wait_screen("exit 3");
}

#[test]
fn a_command_that_times_out_is_ended_with_its_children() {
    let server = Server::start();
    let command = "echo begun; sleep 4000 & sleep 4000";
    server.reply(Reply::new().call("c1", "shell", json!({"command": command, "timeout_s": 3})));
    server.reply(Reply::said("I see."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_screen("? Run");
    nvim.wait_question();
    nvim.command("Caliban approve");
    nvim.wait_transcript("I see.");
    expect![[r#"
        begun
        [timed out after 3 s and was stopped. Give a longer timeout_s, run less, or run the command in the background]"#]]
    .assert_eq(&server.wait_requests(2)[1].answer("c1"));
    nvim.wait(
        |nvim| nvim.setup.processes().iter().all(|it| !it.1.contains("sleep 4000")),
        "no child left",
    );
}

#[test]
fn commands_do_not_get_the_editors_address_or_the_api_keys() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", json!({"command": "env"})));
    server.reply(Reply::said("I see."));
    let setup = Setup::new()
        .anthropic(&server)
        .config("{ providers = { mine = { dialect = 'openai-chat', base_url = 'http://127.0.0.1:1/v1', key = 'env:MY_KEY' } } }")
        .env("MY_KEY", "secret-one")
        .env("GITHUB_TOKEN", "secret-two")
        .env("HARMLESS", "kept");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_screen("? Run");
    nvim.wait_question();
    nvim.command("Caliban approve");
    nvim.wait_transcript("I see.");
    let seen = server.wait_requests(2)[1].answer("c1");
    assert!(seen.contains("HARMLESS=kept"), "{seen}");
    for hidden in ["secret-", "key-of-the-test", "\nNVIM=", "VIMRUNTIME="] {
        assert!(!seen.contains(hidden), "{hidden} is in:\n{seen}");
    }
}

#[test]
fn a_read_outside_the_project_needs_consent() {
    for (ruling, heard) in [("approve", "a secret"), ("deny it is mine", "says: it is mine")] {
        let server = Server::start();
        let setup = Setup::new().file("../home/private.txt", "a secret\n").anthropic(&server);
        server.reply(Reply::new().call("c1", "read", json!({"path": "~/private.txt"})));
        server.reply(Reply::said("I see."));
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_transcript("? Let read look at");
        assert!(nvim.transcript().contains("home/private.txt`, outside the project?"));
        nvim.wait_question();
        nvim.command(&format!("Caliban {ruling}"));
        nvim.wait_transcript("I see.");
        let answer = server.wait_requests(2)[1].answer("c1");
        assert!(answer.contains(heard), "{answer}");
        assert_eq!(answer.contains("a secret"), ruling == "approve");
    }
}

#[test]
fn the_model_can_read_the_rest_of_a_cut_output_without_consent() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", json!({"command": "seq 1 100000"})));
    let gate = server.reply(Reply::said("Cut.").held());
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_screen("? Run");
    nvim.wait_question();
    nvim.command("Caliban approve");
    let answer = server.wait_requests(2)[1].answer("c1");
    assert!(answer.len() < 40_000, "{} bytes", answer.len());
    let note = answer.lines().find(|it| !it.bytes().all(|b| b.is_ascii_digit())).unwrap();
    let path = note
        .split(" is in ")
        .nth(1)
        .and_then(|it| it.split(": ").next())
        .unwrap_or_else(|| panic!("no path in: {note}"))
        .to_owned();
    let cache = nvim.setup.dir().display().to_string();
    // a folder for the project, and the file
    let name = path.split("/outputs/").nth(1).unwrap().to_owned();
    expect!["[lines 401-98400 of 100000 left out; the whole output is in DIR/cache/caliban/outputs/FILE: read it with offset, or grep it]"].assert_eq(&note.replace(&cache, "DIR").replace(&name, "FILE"));
    gate.finish();
    nvim.wait_transcript("Cut.");
    nvim.wait_phase("idle");
    server.reply(Reply::new().call(
        "c2",
        "read",
        json!({"path": path, "offset": 50_000, "limit": 1}),
    ));
    server.reply(Reply::said("All of it."));
    nvim.ask("the rest", "All of it.");
    assert!(server.requests()[3].answer("c2").contains("50000"));
}
