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
fn the_todo_list_is_shared_and_not_written_over_unsaved_changes() {
    let server = Server::start();
    server.reply(todo("c1", write(&["look", "write"])));
    server.reply(Reply::said("One."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.ask("go", "One.");
    nvim.keys(":Caliban new<CR>");
    nvim.wait_screen("caliban://main-2");
    server.reply(todo("c2", json!({"action": "read"})));
    server.reply(Reply::said("Two."));
    nvim.ask("go on", "Two.");
    assert_eq!(server.requests()[3].answer("c2"), "[ ] look\n[ ] write");
    nvim.command("edit .todos.json");
    nvim.keys("ggOmine<Esc>");
    server.reply(todo("c3", update("look", "completed")));
    server.reply(Reply::said("Three."));
    nvim.ask("more", "Three.");
    let said = ".todos.json has unsaved changes in the editor. Nothing was done.";
    assert_eq!(server.requests()[5].answer("c3"), said);
    assert!(nvim.setup.on_disk(".todos.json").unwrap().contains("pending"));
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
