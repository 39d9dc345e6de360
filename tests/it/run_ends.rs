//! The ends of `caliban run`: limits, signals and failures, and the settings of the user's own file.

use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::run::{Ran, wait_for};
use expect_test::expect;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;

/// A project with these settings in the user's own file.
fn setup(server: &Server, settings: &Value) -> Setup {
    let setup = Setup::new().anthropic(server).file("a.txt", "alpha\n");
    let folder = setup.dir().join("config/caliban");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.json"), settings.to_string()).unwrap();
    setup
}

fn run(setup: &Setup, arguments: &[&str]) -> Ran {
    Ran::of(&mut setup.program(&[&["run"], arguments].concat()))
}

#[test]
fn at_a_limit_of_tokens_usd_or_requests_the_run_ends_with_code_4() {
    let price = json!({ "price": { "input": 1000, "output": 1000 } });
    let prices = json!({ "anthropic/claude-sonnet-4-5": price });
    for (arguments, settings) in [
        (&["--limit-tokens", "100", "go"][..], json!({})),
        (&["--limit-usd", "0.1", "go"], json!({ "models": prices })),
        (&["--max-requests", "1", "go"], json!({})),
        (&["go"], json!({ "models": prices, "limit": { "turn_usd": 0.1 } })),
    ] {
        let server = Server::start();
        let read = json!({ "path": "a.txt" });
        server.reply(Reply::new().text("I look.").call("c1", "read", read).usage(1000, 50));
        let ran = run(&setup(&server, &settings), arguments);
        assert_eq!(ran.code, 4, "{arguments:?}: {}", ran.err);
        assert_eq!(server.count(), 1, "{arguments:?}");
    }
}

#[test]
fn caliban_run_uses_the_users_settings_file_and_ends_if_a_setting_is_wrong() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", json!({ "command": "cp a.txt b.txt" })));
    server.reply(Reply::said("Done."));
    let rule = json!({ "allow": "shell", "command": "cp" });
    let settings = json!({ "permissions": [rule], "system": "Be brief.", "layout": "left" });
    let known = setup(&server, &settings);
    let ran = run(&known, &["go"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert_eq!(known.on_disk("b.txt").unwrap(), "alpha\n");
    assert!(server.requests()[0].json.to_string().contains("Be brief."));
    let ran = run(&setup(&server, &json!({ "modell": "x" })), &["go"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("Did you mean `model`?"), "{}", ran.err);
}

#[test]
fn a_signal_ends_the_running_command_and_the_run_shows_what_it_changed() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let server = Server::start();
        let command = json!({ "command": "cp a.txt b.txt && sleep 1000" });
        server.reply(Reply::new().call("c1", "shell", command));
        let rule = |it: &str| json!({ "allow": "shell", "command": it });
        let setup = setup(&server, &json!({ "permissions": [rule("cp"), rule("sleep")] }));
        let mut program = setup.program(&["run", "--session", "ci", "go"]);
        let child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for(|| setup.on_disk("b.txt").as_deref() == Some("alpha\n"));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 130, "{signal:?}: {}", ran.err);
        assert!(
            ran.err.contains("+++ b/b.txt\n@@ -0,0 +1,1 @@\n+alpha\n"),
            "{signal:?}: {}",
            ran.err
        );
        assert!(ran.err.contains("sleep 1000   stopped"), "{signal:?}: {}", ran.err);
        wait_for(|| !setup.processes().iter().any(|it| it.1.contains("sleep 1000")));
        let session = fs::read_to_string(setup.sessions().join("ci.json")).unwrap();
        assert!(session.contains("sleep 1000"), "{signal:?}: {session}");
    }
}

#[test]
fn with_a_wrong_api_key_the_run_ends_with_code_1_and_a_sentence() {
    let server = Server::start();
    server.reply(Reply::error(401));
    let ran = run(&setup(&server, &json!({})), &["go"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains("key"), "{}", ran.err);
    assert_eq!(server.count(), 1);
}

#[test]
fn if_the_server_cannot_be_reached_the_run_ends_with_code_1_and_a_sentence() {
    let server = Server::start();
    let setup = setup(&server, &json!({})).env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
    let ran = run(&setup, &["go"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains("No connection to 127.0.0.1:1"), "{}", ran.err);
}

/// Runs the program with this word in place of `run`, with nothing on its standard input.
fn plain(setup: &Setup, words: &[&str], input: Stdio) -> Ran {
    let mut program = setup.program(words);
    Ran::of(program.stdin(input))
}

#[test]
fn caliban_and_its_help_option_print_help_and_an_unknown_word_is_refused() {
    let server = Server::start();
    let setup = setup(&server, &json!({}));
    for (words, input) in [
        (&["--help"][..], Stdio::piped()),
        (&["-h"], Stdio::null()),
        (&["help"], Stdio::null()),
        (&[], Stdio::null()),
    ] {
        let ran = plain(&setup, words, input);
        assert_eq!(ran.code, 0, "{words:?}: {}", ran.err);
        assert!(ran.out.contains("caliban run --help"), "{words:?}: {}", ran.out);
    }
    let ran = plain(&setup, &["rum"], Stdio::null());
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("there is no command `rum`"), "{}", ran.err);
}

#[test]
fn the_lines_of_json_have_no_other_line_ends() {
    let server = Server::start();
    server.reply(Reply::said("one\u{2028}two\u{2029}three\u{85}four"));
    let ran = run(&setup(&server, &json!({})), &["--json", "go"]);
    assert!(!ran.out.contains(['\u{2028}', '\u{2029}', '\u{85}']), "{}", ran.out);
    assert!(ran.out.contains(r"one\u2028two\u2029three\u0085four"), "{}", ran.out);
    assert_eq!(ran.lines().pop().unwrap()["answer"], "one\u{2028}two\u{2029}three\u{85}four");
}

#[test]
fn a_resumed_run_in_auto_mode_does_not_say_that_there_is_no_sandbox() {
    if !crate::kit::sandbox::is_full() {
        return;
    }
    let server = Server::start();
    let setup = setup(&server, &json!({}));
    for _ in 0..2 {
        server.reply(Reply::said("Done."));
        let ran = run(&setup, &["--mode", "auto", "--session", "ci", "go"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(!ran.err.contains("no full sandbox"), "{}", ran.err);
    }
}

#[test]
fn a_skill_that_is_left_out_and_another_try_are_notes_of_a_run() {
    let server = Server::start();
    server.reply(Reply::error(529).header("retry-after-ms", "1"));
    server.reply(Reply::said("Done."));
    let setup = setup(&server, &json!({ "instructions": "always" }));
    let setup = setup.file(".caliban/skills/none/SKILL.md", "No front matter.");
    let ran = run(&setup, &["--json", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines = ran.lines();
    let notes = lines.iter().filter(|it| it["type"] == "note").map(|it| it["text"].to_string());
    let notes = notes.collect::<Vec<_>>().join("\n");
    assert!(notes.contains("has no front matter between two lines"), "{}", ran.out);
    assert!(notes.contains("The provider is overloaded"), "{}", ran.out);
}

#[test]
fn a_compaction_is_a_note_of_a_run() {
    let server = Server::start();
    let text = "this is one of many lines\n".repeat(400);
    let setup = setup(&server, &json!({ "compact": 0.01, "trim": false })).file("a.txt", text);
    server.reply(Reply::new().call("c1", "read", json!({ "path": "a.txt" })));
    server.reply(Reply::said("One."));
    server.reply(Reply::said("Two."));
    server.reply(Reply::said("Three.").usage(60_000, 10));
    for _ in 0..3 {
        assert_eq!(run(&setup, &["--session", "ci", "go"]).code, 0);
    }
    server.reply(Reply::said(&crate::compaction::summary("Four answers.")));
    server.reply(Reply::said("Four."));
    let ran = run(&setup, &["--json", "--session", "ci", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines = ran.lines();
    let is_note = |it: &&Value| it["type"] == "note";
    let notes: Vec<&str> =
        lines.iter().filter(is_note).filter_map(|it| it["text"].as_str()).collect();
    let is_about = |words: &str| notes.iter().any(|it| it.contains(words));
    assert!(is_about("Compacting") && is_about("Compacted"), "{notes:?}");
    assert_eq!(lines.last().unwrap()["answer"], "Four.");
}

#[test]
fn an_answer_of_blanks_only_is_said_to_be_empty() {
    let server = Server::start();
    for _ in 0..6 {
        server.reply(Reply::raw(200, &[("content-type", "text/event-stream")], "\n\n  \n\n"));
    }
    let setup = setup(&server, &json!({}));
    let ran = run(&setup, &["--json", "go"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let end = ran.lines().pop().unwrap();
    assert!(
        end["problem"].as_str().unwrap().starts_with("The server's answer was empty."),
        "{end}"
    );
    assert!(!ran.out.contains("in the middle"), "{}", ran.out);
}

#[test]
fn a_run_names_what_its_commands_made_of_each_kind_of_file() {
    let server = Server::start();
    let command = "chmod +x run.sh mode.bin; ln -s a.txt link; cp bytes copy; mv old.txt new.txt; rm gone.txt; cp a.txt latin.txt";
    server.reply(Reply::new().call("c1", "shell", json!({ "command": command })));
    server.reply(Reply::said("Done."));
    let rules =
        ["chmod", "ln", "cp", "mv", "rm"].map(|it| json!({ "allow": "shell", "command": it }));
    let setup = setup(&server, &json!({ "permissions": rules }));
    let setup = setup.file("run.sh", "echo\n").file("old.txt", "old\n").file("gone.txt", "x\n");
    let setup = setup.file("bytes", [0, 159, 146]).file("latin.txt", b"caf\xe9\n");
    let setup = setup.file("mode.bin", [0, 159]);
    let ran = run(&setup, &["--json", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let end = ran.lines().pop().unwrap();
    let files = end["files"].as_array().unwrap().iter();
    let files: Vec<String> = files
        .map(|it| {
            let kept = |line: &&str| {
                ["old mode", "new mode", "new file", "deleted", "rename"]
                    .iter()
                    .any(|it| line.starts_with(it))
            };
            let diff: Vec<&str> = it["diff"].as_str().unwrap().lines().filter(kept).collect();
            format!("{} {}: {} {}", it["path"], it["how"], diff.join(", "), it["no_diff"])
        })
        .collect();
    expect![[r#"
        "copy" "added":  "it is not UTF-8 text"
        "gone.txt" "deleted": deleted file mode 100644 null
        "latin.txt" "changed":  "it is not UTF-8 text"
        "link" "added": new file mode 120000 null
        "mode.bin" "changed": old mode 100644, new mode 100755 null
        "new.txt" "added": new file mode 100644 null
        "old.txt" "deleted": deleted file mode 100644 null
        "run.sh" "changed": old mode 100644, new mode 100755 null"#]]
    .assert_eq(&files.join("\n"));
    // git can apply the patch: here it could take back what the run has changed
    let patch = setup.path("fix.patch");
    std::fs::write(&patch, end["diff"].as_str().unwrap()).unwrap();
    let mut git = std::process::Command::new("git");
    let root = patch.parent().unwrap();
    let git = git.args(["apply", "-R", "--check", "fix.patch"]).current_dir(root).output().unwrap();
    assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
}

#[test]
fn a_run_says_nothing_of_a_person_in_a_chat() {
    let server = Server::start();
    server.reply(Reply::new().call(
        "e1",
        "edit",
        json!({ "path": "a.txt", "edits": [{ "old": "alpha", "new": "beta" }] }),
    ));
    server.reply(Reply::error(401));
    let ran = run(&setup(&server, &json!({})), &["--mode", "auto-edit", "read and edit a.txt"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("Correct the key, then run again."), "{}", ran.err);
    let told = server.requests()[1].json.to_string();
    assert!(
        told.contains("Applied and written to a.txt.") && !told.contains("may still"),
        "{told}"
    );
    assert!(!ran.err.contains("send again"), "{}", ran.err);
}

/// Final errors in the words of their providers, with the status of the reply. In each case the run asks once.
const FINAL: [(u16, &str, &str); 14] = [
    (
        429,
        r#"{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits.","code":429}}"#,
        "free-models-per-day",
    ),
    (
        429,
        r#"{"message":"Too many tokens per day, please wait before trying again."}"#,
        "Too many tokens per day",
    ),
    (
        429,
        r#"{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached"}}"#,
        "The usage limit has been reached",
    ),
    (
        429,
        r#"{"error":{"message":"You have reached your 5-hour limit.","type":"rate_limit_error"}}"#,
        "You have reached your 5-hour limit",
    ),
    (
        403,
        r#"{"message":"You've reached your daily limit requests for the 'free' plan."}"#,
        "daily limit requests",
    ),
    (
        402,
        r#"{"error":{"message":"Insufficient Balance","type":"unknown_error"}}"#,
        "Insufficient Balance",
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low."}}"#,
        "Your credit balance is too low",
    ),
    (
        404,
        r#"{"error":{"message":"No endpoints found that support tool use.","code":404}}"#,
        "No endpoints found that support tool use",
    ),
    (
        500,
        r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#,
        "tools param requires --jinja flag",
    ),
    (
        400,
        r#"{"error":{"message":"The response was filtered due to the prompt.","code":"content_filter"}}"#,
        "The response was filtered due to the prompt",
    ),
    (
        403,
        r#"{"error":{"message":"Your input was flagged by moderation","code":403}}"#,
        "Your input was flagged by moderation",
    ),
    (
        400,
        r#"{"error":{"message":"Invalid value for `context_window`: expected an integer"}}"#,
        "Invalid value for `context_window`",
    ),
    (
        401,
        r#"{"error":{"message":"Your API key has no access to this plan","code":"invalid_api_key"}}"#,
        "Your API key has no access to this plan",
    ),
    (
        404,
        r#"{"error":{"message":"No endpoints found for qwen/qwen9.","code":404}}"#,
        "No endpoints found for qwen/qwen9",
    ),
];

#[test]
fn a_final_error_ends_the_run_after_one_request_with_the_providers_words() {
    for (status, body, words) in FINAL {
        let server = Server::start();
        server.reply(Reply::raw(status, &[("content-type", "application/json")], body));
        let ran = run(&Setup::new().openai(&server), &["go"]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{body}: {}", ran.err);
        assert!(ran.err.contains(words), "{body}: {}", ran.err);
        assert_eq!(server.count(), 1, "{body}");
    }
}

/// A program that shows the texts would show the beginning of the answer twice.
#[test]
fn a_reply_that_broke_off_is_dropped_in_the_json() {
    let server = Server::start();
    server.reply(Reply::new().text("The half").cut());
    server.reply(Reply::said("The whole."));
    let ran = run(&setup(&server, &json!({})), &["--json", "--ephemeral", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut texts = String::new();
    for line in ran.lines() {
        match line["type"].as_str().unwrap() {
            "start" => assert_eq!(line["session"], ""),
            "text" => texts.push_str(line["text"].as_str().unwrap()),
            "dropped" => {
                let bytes = line["bytes"].as_u64().unwrap();
                texts.truncate(texts.len() - usize::try_from(bytes).unwrap());
            }
            "note" => {
                let note = line["text"].as_str().unwrap();
                assert!(note.contains("answer. Trying again in"), "{note}");
            }
            _ => (),
        }
    }
    assert_eq!(texts, "The whole.");
}
