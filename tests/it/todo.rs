//! The tool `todo`: its list in the chat, its file in the project, and its part in requests to the model.

use crate::kit::chat::{DIALECTS, assert_grows, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::{Value, json};

fn todo(id: &str, input: Value) -> Reply {
    Reply::new().call(id, "todo", input)
}

fn write(texts: &[&str]) -> Value {
    let todos: Vec<Value> = texts.iter().map(|it| json!({"text": it})).collect();
    json!({"action": "write", "todos": todos})
}

fn update(text: &str, status: &str) -> Value {
    json!({"action": "update", "todos": [{"text": text, "status": status}]})
}

#[test]
fn a_todo_list_is_kept_in_a_file_of_the_project_until_all_its_items_are_done() {
    let told = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.reply(todo("c1", write(&["look", "write", "look"])));
        server.reply(todo("c2", update("look", "completed")));
        server.reply(Reply::said("Half."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_transcript("Half.");
        nvim.wait_phase("idle");
        let kept = nvim.setup.on_disk(".todos.json").unwrap();
        let shown = nvim.conversation();
        server.reply(todo("c3", update("write", "completed")));
        server.reply(Reply::said("Done."));
        nvim.ask("and now?", "Done.");
        assert_eq!(nvim.setup.on_disk(".todos.json"), None);
        let heard = server.requests()[4].answers();
        assert_grows(server.requests());
        format!("{shown}\n{kept}{}", heard.into_iter().map(|it| it.1 + "\n").collect::<String>())
    });
    expect![[r#"
        go

        ▸ todo  write
        ▾ todo  update
            [x] look
            [ ] write

        Half.
        {
          "session": "main",
          "todos": [
            {
              "text": "look",
              "status": "completed"
            },
            {
              "text": "write",
              "status": "pending"
            }
          ]
        }
        [ ] look
        [ ] write
        [x] look
        [ ] write
        [x] look
        [x] write
        All items are completed: the list was removed.
    "#]]
    .assert_eq(common(&told));
}

#[test]
fn the_todo_list_is_not_written_over_unsaved_changes() {
    let server = Server::start();
    server.reply(todo("c1", write(&["look", "write"])));
    server.reply(Reply::said("One."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.ask("go", "One.");
    nvim.command("edit .todos.json");
    nvim.keys("ggOmine<Esc>");
    server.reply(todo("c3", update("look", "completed")));
    server.reply(Reply::said("Three."));
    nvim.ask("more", "Three.");
    let said = ".todos.json has unsaved changes in the editor, so nothing was done.";
    assert_eq!(server.requests()[3].answer("c3"), said);
    nvim.command("Caliban todo remove");
    nvim.wait_screen(".todos.json has unsaved changes. Write or undo them first.");
    assert!(nvim.setup.on_disk(".todos.json").unwrap().contains("pending"));
}

/// A new conversation beside `main`, whose list has one of two items done.
fn beside(server: &Server) -> Nvim {
    server.reply(todo("c1", write(&["look", "write"])));
    server.reply(todo("c2", update("look", "completed")));
    server.reply(Reply::said("One."));
    let nvim = Nvim::start(&Setup::new().anthropic(server));
    nvim.ask("go", "One.");
    nvim.keys(":Caliban new<CR>");
    nvim.wait_session("main-2");
    nvim
}

#[test]
fn the_list_of_another_conversation_is_used_only_after_the_user_takes_it() {
    let server = Server::start();
    let nvim = beside(&server);
    nvim.wait_transcript(
        "! .todos.json has the to-do list of the conversation `main` (1 of 2 done).",
    );
    let before = nvim.setup.on_disk(".todos.json");
    for (id, input) in [
        ("c3", json!({"action": "read"})),
        ("c4", write(&["mine"])),
        ("c5", update("write", "completed")),
    ] {
        server.reply(todo(id, input));
    }
    server.reply(Reply::said("Two."));
    nvim.ask("go on", "Two.");
    let answers = server.requests().pop().unwrap().answers();
    let answers: Vec<&str> = answers.iter().map(|it| it.1.as_str()).collect();
    expect![[r#"
        .todos.json has the to-do list of the conversation `main` (1 of 2 done). It is not yours, so nothing was done. The user can give it to you with `:Caliban todo take` or remove it with `:Caliban todo remove`. Until then, go on without a list.
        .todos.json has the to-do list of the conversation `main` (1 of 2 done). It is not yours, so nothing was done. The user can give it to you with `:Caliban todo take` or remove it with `:Caliban todo remove`. Until then, go on without a list.
        .todos.json has the to-do list of the conversation `main` (1 of 2 done). It is not yours, so nothing was done. The user can give it to you with `:Caliban todo take` or remove it with `:Caliban todo remove`. Until then, go on without a list."#]].assert_eq(&answers.join("\n"));
    assert_eq!(nvim.setup.on_disk(".todos.json"), before);
    assert_eq!(nvim.lua_json("return require('caliban').state().todo or vim.NIL"), Value::Null);
    nvim.command("Caliban todo take");
    nvim.wait(
        |nvim| nvim.lua_str("return require('caliban').status()").contains("1/2"),
        "the list",
    );
    server.reply(todo("c6", update("write", "completed")));
    server.reply(Reply::said("Three."));
    nvim.ask("now", "Three.");
    let mut requests = server.requests();
    expect![[r#"
        <notice>
        The user handed you the to-do list that another conversation left. It is yours now:
        [x] look
        [ ] write
        </notice>
        now"#]]
    .assert_eq(&requests[requests.len() - 2].last_user_text());
    assert_eq!(nvim.setup.on_disk(".todos.json"), None);
    assert_grows(requests.split_off(3));
}

#[test]
fn the_user_can_remove_a_list_that_another_conversation_left() {
    let server = Server::start();
    let nvim = beside(&server);
    nvim.command("Caliban todo remove");
    nvim.wait(|nvim| nvim.setup.on_disk(".todos.json").is_none(), "the file to be gone");
    nvim.command("Caliban todo remove");
    nvim.wait_screen("The project has no to-do list.");
}

#[test]
fn a_conversation_keeps_its_todo_list_when_it_is_renamed() {
    let server = Server::start();
    server.reply(todo("c1", write(&["look", "write"])));
    server.reply(Reply::said("One."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.ask("go", "One.");
    nvim.command("Caliban rename mine");
    nvim.wait_session("mine");
    server.reply(todo("c2", update("look", "completed")));
    server.reply(Reply::said("Two."));
    nvim.ask("more", "Two.");
    assert_eq!(server.requests()[3].answer("c2"), "[x] look\n[ ] write");
}

#[test]
fn a_file_that_is_not_calibans_todo_list_is_left_alone_and_the_model_is_told_why() {
    let item = |text: &str| json!({ "text": text, "status": "pending" });
    let files = [
        "not json".to_owned(),
        json!({ "todos": [item("a\u{1b}[31mb")] }).to_string(),
        json!({ "todos": [item("a\u{202e}b")] }).to_string(),
        json!({ "todos": [item(&"x".repeat(501))] }).to_string(),
        json!({ "todos": vec![item("x"); 101] }).to_string(),
        json!({ "session": "../../a", "todos": [item("x")] }).to_string(),
        "x".repeat(1_000_001),
    ];
    let said = files.map(|file| {
        let server = Server::start();
        server.reply(todo("c1", write(&["mine"])));
        server.reply(Reply::said("One."));
        let nvim = Nvim::start(&Setup::new().file(".todos.json", &file).anthropic(&server));
        nvim.ask("go", "One.");
        let said = server.requests()[1].answer("c1");
        nvim.command("Caliban todo take");
        nvim.wait_screen("is not a to-do list of Caliban's");
        nvim.command("Caliban todo remove");
        assert_eq!(nvim.setup.on_disk(".todos.json").as_deref(), Some(&*file));
        said
    });
    expect![[r#"
        .todos.json in the project is not a to-do list of Caliban's (expected ident at line 1 column 2), so it was not changed. Tell the user, and go on without a list.
        .todos.json in the project is not a to-do list of Caliban's (an item is empty, longer than 500 characters, or has invisible characters), so it was not changed. Tell the user, and go on without a list.
        .todos.json in the project is not a to-do list of Caliban's (an item is empty, longer than 500 characters, or has invisible characters), so it was not changed. Tell the user, and go on without a list.
        .todos.json in the project is not a to-do list of Caliban's (an item is empty, longer than 500 characters, or has invisible characters), so it was not changed. Tell the user, and go on without a list.
        .todos.json in the project is not a to-do list of Caliban's (it has more than 100 items), so it was not changed. Tell the user, and go on without a list.
        .todos.json in the project is not a to-do list of Caliban's (the name of its conversation is not valid), so it was not changed. Tell the user, and go on without a list.
        .todos.json in the project is not a to-do list of Caliban's (it is a link, a folder or too large), so it was not changed. Tell the user, and go on without a list."#]].assert_eq(&said.join("\n"));
}

/// The lines in the window of the to-do list; empty if it is not open or hidden.
fn window(nvim: &Nvim) -> String {
    nvim.lua_str(
        "for _, win in ipairs(vim.api.nvim_list_wins()) do
           local config = vim.api.nvim_win_get_config(win)
           if config.relative ~= '' and not config.hide then
             local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false)
             return vim.trim(config.title[1][1]) .. '|' .. table.concat(lines, '|')
           end
         end
         return ''",
    )
}

#[test]
fn the_window_of_the_todo_list_is_updated_and_never_takes_the_focus() {
    let server = Server::start();
    server.reply(todo("c1", write(&["look", "write"])));
    server.reply(Reply::said("One."));
    let nvim = Nvim::start(&Setup::new().file("a.txt", "alpha\n").anthropic(&server));
    nvim.command("edit a.txt");
    nvim.command("Caliban todo");
    nvim.wait_screen("This conversation has no to-do list.");
    nvim.ask("go", "One.");
    nvim.wait_screen("0/2");
    let focus = || nvim.lua_str("return vim.fn.win_getid() .. vim.fn.bufname()");
    let before = focus();
    nvim.command("Caliban todo");
    assert_eq!(window(&nvim), "Todo · 0 of 2 · :Caliban todo closes|[ ] look|[ ] write");
    nvim.wait_screen("[ ] look");
    server.reply(todo("c2", update("look", "in_progress")));
    let gate = server.reply(Reply::new().gate().text("Two."));
    nvim.lua("require('caliban').ask('more')", &[]);
    nvim.wait(
        |nvim| window(nvim) == "Todo · 0 of 2 · :Caliban todo closes|[>] look|[ ] write",
        "the new state",
    );
    nvim.wait_phase("sending");
    gate.release();
    nvim.wait_phase("idle");
    assert_eq!(focus(), before);
    nvim.keys("<C-w>w<C-w>w<C-w>w");
    assert_eq!(focus(), before);
    nvim.resize(100, 20);
    nvim.command("Caliban close");
    nvim.wait_screen("[>] look");
    nvim.command("Caliban todo");
    assert_eq!(window(&nvim), "");
    nvim.command("Caliban todo");
    assert_eq!(window(&nvim), "Todo · 0 of 2 · :Caliban todo closes|[>] look|[ ] write");
    let done =
        json!([{"text": "look", "status": "completed"}, {"text": "write", "status": "completed"}]);
    server.reply(todo("c3", json!({"action": "update", "todos": done})));
    server.reply(Reply::said("Three."));
    nvim.ask("go on", "Three.");
    nvim.wait(|nvim| window(nvim).is_empty(), "the window to close");
}

#[test]
fn the_window_of_the_list_does_not_cover_a_question() {
    for (rows, is_covered) in [(40, false), (9, true)] {
        let server = Server::start();
        server.reply(todo("c1", write(&["look", "write", "test"])));
        server.reply(Reply::said("One."));
        let nvim = Nvim::start(&Setup::new().size(120, rows).anthropic(&server));
        nvim.keys(":Caliban<CR>");
        nvim.ask("go", "One.");
        nvim.keys("<C-w>kgl");
        // where the window has no room for all items, the key first shows the others
        let does = if is_covered { "more" } else { "closes" };
        let list = &format!("Todo · 0 of 3 · gl {does}|[ ] look|[ ] write|[ ] test");
        nvim.wait(|nvim| window(nvim) == *list, "the list");
        server.reply(Reply::new().call("c2", "shell", json!({ "command": "echo ran > out" })));
        server.reply(Reply::said("Over."));
        nvim.keys("G");
        nvim.lua("require('caliban').ask('run it')", &[]);
        nvim.wait_question();
        let shown = if is_covered { "" } else { list };
        nvim.wait(|nvim| window(nvim) == shown, "the list to make room");
        nvim.go_to_transcript("? Run");
        nvim.keys("y");
        nvim.wait_transcript("Over.");
        nvim.wait(|nvim| window(nvim) == *list, "the list again");
        nvim.keys(if is_covered { "glglgl" } else { "gl" });
        assert_eq!(window(&nvim), "");
    }
}

#[test]
fn a_reopened_conversation_shows_its_todo_list_open() {
    let server = Server::start();
    server.reply(todo("c1", write(&["look", "write"])));
    server.reply(todo("c2", update("look", "in_progress")));
    server.reply(Reply::said("One."));
    let setup = Setup::new().anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.ask("go", "One.");
    let before = nvim.conversation();
    nvim.quit_with(":qa!<CR>");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("[>] look\n    [ ] write");
    nvim.wait(|nvim| nvim.conversation() == before, "the conversation as it was");
    nvim.keys("<C-w>k");
    nvim.go_to_transcript("update");
    nvim.keys("<CR>");
    nvim.wait(|nvim| !nvim.transcript().contains("[>]"), "the list to be closed");
}

/// Characters that nobody sees are spelt out when the list is written, so that it can be read again.
#[test]
fn a_list_with_hidden_characters_can_be_read_and_updated() {
    let texts = ["a\u{200f}b", "soft\u{ad}hyphen", "\u{1f3f4}\u{e0067}\u{e007f} flag", "x\u{feff}"];
    let server = Server::start();
    server.reply(todo("c1", write(&texts)));
    for (at, text) in texts.iter().enumerate() {
        server.reply(todo(&format!("u{at}"), update(text, "in_progress")));
    }
    server.reply(todo("r", json!({"action": "read"})));
    server.reply(Reply::said("Done."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.ask("go", "Done.");
    expect![[r#"
        [>] a[U+200F]b
        [>] soft[U+00AD]hyphen
        [>] 🏴[U+E0067][U+E007F] flag
        [>] x[U+FEFF]"#]]
    .assert_eq(&server.requests().last().unwrap().answers().last().unwrap().1);
}

#[test]
fn a_cleared_conversation_has_no_todo_list_and_is_offered_the_old_one() {
    let server = Server::start();
    server.reply(todo("c1", write(&["look", "think", "write"])));
    server.reply(Reply::said("Half."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(160, 40));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_transcript("Half.");
    nvim.wait_phase("idle");
    nvim.wait_screen("0/3");
    nvim.keys("i/clear<C-s><Esc>");
    nvim.wait_screen("This conversation is empty now.");
    nvim.wait_gone("0/3");
    nvim.wait_transcript("`:Caliban todo take` hands it to this conversation");
    nvim.keys(":Caliban todo take<CR>");
    nvim.wait_screen("0/3");
}

/// The model commits everything while its list is not done, also in a worktree.
#[test]
fn a_commit_of_everything_leaves_the_todo_list_out() {
    for folder in ["", "tree"] {
        let server = Server::start();
        let nvim = Nvim::start(
            &Setup::new().file("a.txt", "a\n").file(".gitignore", "tree\n").anthropic(&server),
        );
        let git = |arguments: &[&str]| {
            let mut git = std::process::Command::new("git");
            git.args(["-c", "user.name=me", "-c", "user.email=me@example.org"]).args(arguments);
            let done = git.current_dir(nvim.setup.path(folder)).output().unwrap();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            String::from_utf8(done.stdout).unwrap()
        };
        nvim.command("silent !git init -qb main && git config user.name me && git config user.email me@example.org");
        nvim.command("silent !git add . && git commit -qm begin && git worktree add -q tree");
        if !folder.is_empty() {
            nvim.command(&format!("cd {folder}"));
        }
        server.reply(todo("c1", write(&["look"])));
        let command = json!({ "command": "echo n >new; git add -A . && git commit -qm all" });
        server.reply(Reply::new().call("s1", "shell", command));
        nvim.keys(":Caliban ask go<CR>");
        nvim.wait_question();
        server.reply(Reply::said("Committed."));
        nvim.keys(":Caliban approve<CR>");
        nvim.wait_transcript("Committed.");
        nvim.wait_phase("idle");
        assert!(nvim.setup.path(folder).join(".todos.json").exists(), "{folder}");
        assert_eq!(git(&["show", "--format=", "--name-only", "--relative"]), "new\n", "{folder}");
        assert_eq!(git(&["status", "--porcelain", "."]), "", "{folder}");
    }
}
