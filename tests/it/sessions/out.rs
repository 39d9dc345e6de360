//! Exporting a conversation, copying the last reply, clearing the messages; and two conversations at the same time.

use super::names::say;
use super::*;
use crate::kit::http::Request;
use std::os::unix::fs::PermissionsExt;

/// Starts Neovim with its chat open.
fn open(setup: &Setup) -> Nvim {
    let nvim = Nvim::start(setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Project");
    nvim
}

fn read(setup: &Setup, file: &str) -> String {
    fs::read_to_string(setup.dir().join("project").join(file)).unwrap_or_default()
}

#[test]
fn an_export_is_readable_and_contains_no_secret() {
    let server = Server::start();
    let setup = wide().file("a.txt", "alpha\n```\n").anthropic(&server);
    let nvim = open(&setup);
    let key = nvim.lua_str("return vim.env.ANTHROPIC_API_KEY");
    server.reply(Reply::new().call("c1", "read", serde_json::json!({"path": "a.txt"})));
    let prompt = format!("A question:\nIs {key} or ghp_0123456789abcdef0123 a key?");
    say(&nvim, &server, &prompt, "Both are.");
    nvim.keys(":Caliban export<CR>");
    nvim.wait_screen("main.md. 2 secrets in the text were replaced by [secret].");
    let text = read(&setup, "main.md");
    let rest = text.replace("anthropic/claude-sonnet-4-5", "MODEL");
    expect_test::expect![[r##"
        # A question:

        ## You

        A question:
        Is [secret] or [secret] a key?

        ## MODEL

        **read**

        ```
        {"path":"a.txt"}
        ```

        ````
        1	alpha
        2	```
        ````

        ## MODEL

        Both are.
    "##]]
    .assert_eq(&rest);
    fs::write(setup.dir().join("project/main.md"), "mine").unwrap();
    nvim.keys(":Caliban export<CR>");
    nvim.wait_screen("main.md already exists. :Caliban export! ");
    assert_eq!(read(&setup, "main.md"), "mine");
    nvim.keys(":Caliban export! main.md<CR>");
    nvim.wait(|_| read(&setup, "main.md") == text, "the file written over");
    nvim.lua("require('caliban').ask('/export out.json')", &[]);
    nvim.wait_screen("out.json. 2 secrets in the text were replaced by [secret].");
    let data: Value = serde_json::from_str(&read(&setup, "out.json")).unwrap();
    assert_eq!(
        data["messages"][0]["blocks"][0]["text"],
        "A question:\nIs [secret] or [secret] a key?"
    );
    nvim.lua("require('caliban').ask('/export no/such/folder.md')", &[]);
    nvim.wait_screen("no/such/folder.md could not be written: no such file or directory");
}

#[test]
fn the_last_reply_is_copied() {
    let server = Server::start();
    let nvim = open(&wide().anthropic(&server));
    nvim.lua("require('caliban').ask('/copy')", &[]);
    nvim.wait_screen("There is no reply yet to copy.");
    say(&nvim, &server, "hello", "The last one.");
    let taken = "vim.g.clipboard = { name = 'test', copy = { ['+'] = function(lines) Copied = lines end,
        ['*'] = function() end }, paste = { ['+'] = function() return Copied end, ['*'] = function() end } }";
    nvim.lua(taken, &[]);
    nvim.lua("require('caliban').ask('/copy')", &[]);
    nvim.wait_screen("1 line copied to \"");
    let register = "return vim.fn.getreg(vim.fn.has('clipboard') == 1 and '+' or '\"')";
    assert_eq!(nvim.lua_str(register), "The last one.");
}

#[test]
fn the_message_history_covers_all_saved_sessions_and_no_unsaved_one() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = open(&setup);
    for (text, reply) in [("first\nof two", "One."), ("second", "Two."), ("second", "Three.")] {
        say(&nvim, &server, text, reply);
    }
    nvim.keys(":Caliban new!<CR>");
    nvim.wait_gone("Three.");
    server.reply(Reply::said("Four."));
    nvim.keys("ihidden<C-s>");
    nvim.wait_screen("Four.");
    nvim.wait_phase("idle");
    nvim.keys("<Up>");
    nvim.wait(|nvim| nvim.composer() == "hidden", "its own message");
    nvim.quit_with("<Esc>:qa!<CR>");
    let path = setup.sessions().join("history");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let mut torn = fs::read_to_string(&path).unwrap();
    assert!(!torn.contains("hidden"));
    torn.push_str("{\"no\": \"prompt\"}\n\"torn");
    fs::write(&path, torn).unwrap();

    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Three.");
    nvim.keys(":Caliban new<CR>");
    nvim.wait_gone("Three.");
    nvim.keys("ityped<Up>");
    nvim.wait(|nvim| nvim.composer() == "second", "the newest message");
    nvim.keys("<Up>");
    nvim.wait(|nvim| nvim.composer() == "first\nof two", "the one before");
    nvim.keys("<Up>");
    nvim.keys("<Down>");
    nvim.keys("<Down>");
    nvim.wait(|nvim| nvim.composer() == "second", "the newest message again");
    nvim.keys("<Down>");
    nvim.wait(|nvim| nvim.composer() == "typed", "what was typed");
    nvim.keys("<Esc>S/history<C-s><Esc>");
    nvim.wait_screen("2: first of two");
    nvim.keys("2<CR>");
    nvim.wait(|nvim| nvim.composer() == "first\nof two", "the choice in the composer");
}

#[test]
fn two_turns_can_run_at_once_and_each_chat_keeps_its_view() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = open(&setup);
    let long: Vec<String> = (1..=60).map(|it| format!("line {it} of it\n")).collect();
    let first = server.reply(Reply::new().text(&long.concat()).gate().text("One is done."));
    nvim.keys("ione<C-s>");
    nvim.wait_screen("line 60 of it");
    nvim.keys("half a thought<Esc>");
    nvim.go_to_transcript("line 7 of it");
    nvim.keys("zt");
    nvim.wait_gone("line 60 of it");
    let second = server.reply(Reply::new().text("Two begins.").gate().text(" Two is done."));
    nvim.keys(":Caliban new other<CR>");
    nvim.wait_gone("line 7 of it");
    nvim.keys("itwo<C-s>");
    nvim.wait_screen("Two begins.");
    nvim.keys("another thought<Esc>");
    first.finish();
    nvim.wait(|nvim| count(nvim, "main", "One is done.") == 1, "the other turn's end");
    assert!(nvim.screen().contains("Two begins."), "{}", nvim.screen());
    nvim.keys(":Caliban resume main<CR>");
    nvim.wait_screen("line 7 of it");
    assert!(!nvim.screen().contains("line 6 of it"), "{}", nvim.screen());
    assert!(!nvim.screen().contains("One is done."), "{}", nvim.screen());
    assert_eq!(nvim.composer(), "half a thought");
    second.finish();
    nvim.wait(|nvim| count(nvim, "other", "Two is done.") == 1, "the second turn's end");
    nvim.keys(":Caliban resume other<CR>");
    nvim.wait_screen("Two begins. Two is done.");
    assert_eq!(nvim.composer(), "another thought");
    let outlines: Vec<String> = server.requests().iter().map(Request::outline).collect();
    assert_eq!(outlines, ["user: one", "user: two"]);
}
