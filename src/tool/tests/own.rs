//! Tests the tool `todo`, and the file in which a project's todo list is stored.

use super::*;

impl Room {
    /// Calls `todo` with each of these arguments. Compares the answers, and the todo file after each call.
    async fn todo(&self, all: &[Value], expect: &Expect) {
        let mut told = String::new();
        for args in all {
            let call = call("todo", args.clone());
            let said = match access(&self.desk, &call) {
                Access::Never(said) | Access::Invalid(said) => said,
                Access::Read => {
                    let answer = run(&self.desk, &call).await.answer;
                    let failed = if answer.failed { "! " } else { "" };
                    format!("{failed}({})\n{}", answer.summary, answer.text)
                }
                access => format!("{access:?}"),
            };
            told.push_str(&format!("{said}\n-- {}\n", self.kept()));
        }
        expect.assert_eq(&self.clear(&told));
    }

    fn kept(&self) -> String {
        let file = fs::read_to_string(self.desk.root.join(".todos.json"));
        file.map_or("no file".to_owned(), |it| it.replace([' ', '\n'], ""))
    }
}

fn todos(action: &str, todos: &Value) -> Value {
    json!({"action": action, "todos": todos})
}

#[tokio::test]
async fn a_todo_list_is_stored_until_all_its_items_are_done() {
    let all = [
        json!({"action": "read"}),
        todos(
            "write",
            &json!([
                {"text": "read  the\ncode "},
                {"text": "write it", "status": "in_progress"},
                {"text": "read the code", "status": "completed"}
            ]),
        ),
        todos("update", &json!([{"text": "read the code", "status": "completed"}])),
        json!({"action": "read"}),
        todos("update", &json!([{"text": "write it", "status": "completed"}])),
        todos("write", &json!([{"text": "a"}])),
        todos("write", &json!([])),
    ];
    room().todo(&all, &expect![[r#"
        (empty)
        The list is empty.
        -- no file
        (0 of 2 done)
        [ ] read the code
        [>] write it
        -- {"todos":[{"text":"readthecode","status":"pending"},{"text":"writeit","status":"in_progress"}]}
        (1 of 2 done)
        [x] read the code
        [>] write it
        -- {"todos":[{"text":"readthecode","status":"completed"},{"text":"writeit","status":"in_progress"}]}
        (1 of 2 done)
        [x] read the code
        [>] write it
        -- {"todos":[{"text":"readthecode","status":"completed"},{"text":"writeit","status":"in_progress"}]}
        (2 of 2 done)
        [x] read the code
        [x] write it
        All items are completed: the list was removed.
        -- no file
        (0 of 1 done)
        [ ] a
        -- {"todos":[{"text":"a","status":"pending"}]}
        (empty)
        The list is empty.
        -- no file
    "#]]).await;
}

fn wrong_todos() -> [Value; 7] {
    [
        json!({"action": "clear"}),
        json!({"action": "write"}),
        todos("write", &json!(["one"])),
        todos("write", &json!([{"text": "a", "status": "doing"}])),
        todos("write", &json!([{"text": "a"}, {"text": " \n"}])),
        todos("write", &json!([{"text": "x".repeat(501)}])),
        todos("write", &json!(vec![json!({"text": "x"}); 101])),
    ]
}

#[tokio::test]
async fn a_wrong_todo_argument_is_named_by_its_path_and_changes_nothing() {
    let room = room();
    room.todo(
        &[todos("write", &json!([{"text": "one"}]))],
        &expect![[r#"
        (0 of 1 done)
        [ ] one
        -- {"todos":[{"text":"one","status":"pending"}]}
    "#]],
    )
    .await;
    room.todo(
        &wrong_todos(),
        &expect![[r#"
            The arguments are not valid for the tool `todo`, so nothing was done.
            $.action: expected one of write, read, update, got string "clear"
            Required: action. Known: action, todos.
            Example: {"action":"write","todos":[{"text":"Test it"}]}
            -- {"todos":[{"text":"one","status":"pending"}]}
            ! (failed)
            The arguments are not valid for the tool `todo`, so nothing was done.
            $.todos: expected array, got nothing
            Required: action. Known: action, todos.
            Example: {"action":"write","todos":[{"text":"Test it"}]}
            -- {"todos":[{"text":"one","status":"pending"}]}
            The arguments are not valid for the tool `todo`, so nothing was done.
            $.todos[0]: expected object, got string "one"
            Required in $.todos[0]: text. Known: text, status.
            Example: {"action":"write","todos":[{"text":"Test it"}]}
            -- {"todos":[{"text":"one","status":"pending"}]}
            The arguments are not valid for the tool `todo`, so nothing was done.
            $.todos[0].status: expected one of pending, in_progress, completed, got string "doing"
            Required in $.todos[0]: text. Known: text, status.
            Example: {"action":"write","todos":[{"text":"Test it"}]}
            -- {"todos":[{"text":"one","status":"pending"}]}
            ! (failed)
            The arguments are not valid for the tool `todo`, so nothing was done.
            $.todos[1].text: expected a text, got " \n"
            Required in $.todos[1]: text. Known: text, status.
            Example: {"action":"write","todos":[{"text":"Test it"}]}
            -- {"todos":[{"text":"one","status":"pending"}]}
            ! (failed)
            The arguments are not valid for the tool `todo`, so nothing was done.
            $.todos[0].text: expected at most 500 characters, got 501
            Required in $.todos[0]: text. Known: text, status.
            Example: {"action":"write","todos":[{"text":"Test it"}]}
            -- {"todos":[{"text":"one","status":"pending"}]}
            The arguments are not valid for the tool `todo`, so nothing was done.
            $.todos: expected at most 100, got 101
            Required: action. Known: action, todos.
            Example: {"action":"write","todos":[{"text":"Test it"}]}
            -- {"todos":[{"text":"one","status":"pending"}]}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_todo_update_needs_a_status_and_an_item_of_the_list() {
    let room = room();
    room.run("todo", todos("write", &json!([{"text": "one"}]))).await;
    let all = [
        todos("update", &json!([{"text": "one"}])),
        todos(
            "update",
            &json!([
                {"text": "one", "status": "completed"},
                {"text": "two", "status": "completed"}
            ]),
        ),
    ];
    room.todo(
        &all,
        &expect![[r#"
            ! (failed)
            The arguments are not valid for the tool `todo`, so nothing was done.
            $.todos[0].status: expected string, got nothing
            Required in $.todos[0]: text. Known: text, status.
            Example: {"action":"write","todos":[{"text":"Test it"}]}
            -- {"todos":[{"text":"one","status":"pending"}]}
            ! (failed)
            The arguments are not valid for the tool `todo`, so nothing was done.
            $.todos[1].text: expected the exact text of an item, got "two"
            Required in $.todos[1]: text. Known: text, status.
            Example: {"action":"write","todos":[{"text":"Test it"}]}
            The list:
            [ ] one
            -- {"todos":[{"text":"one","status":"pending"}]}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_todo_file_of_another_program_is_not_changed() {
    let room = room();
    let write = [todos("write", &json!([{"text": "one"}]))];
    for (text, expect) in [
        (
            "[\"buy milk\"]",
            expect![[r#"
            ! (failed)
            .todos.json in the project is not a to-do list of Caliban's (invalid type: sequence, expected a map at line 1 column 0), so it was not changed. Tell the user, and go on without a list.
            -- ["buymilk"]
        "#]],
        ),
        (
            "[[]]",
            expect![[r#"
            ! (failed)
            .todos.json in the project is not a to-do list of Caliban's (invalid type: sequence, expected a map at line 1 column 0), so it was not changed. Tell the user, and go on without a list.
            -- [[]]
        "#]],
        ),
        (
            "{\"todos\": [], \"mine\": 1}",
            expect![[r#"
                ! (failed)
                .todos.json in the project is not a to-do list of Caliban's (unknown field `mine`, expected `session` or `todos`), so it was not changed. Tell the user, and go on without a list.
                -- {"todos":[],"mine":1}
            "#]],
        ),
    ] {
        room.file(".todos.json", text);
        room.todo(&write, &expect).await;
    }
    fs::remove_file(room.desk.root.join(".todos.json")).unwrap();
    std::os::unix::fs::symlink("../outside", room.desk.root.join(".todos.json")).unwrap();
    room.todo(&write, &expect![[r#"
        ! (failed)
        .todos.json in the project is not a to-do list of Caliban's (it is a link, a folder or too large), so it was not changed. Tell the user, and go on without a list.
        -- no file
    "#]]).await;
    assert!(!room.desk.root.join("../outside").exists());
}

#[tokio::test]
async fn a_todo_list_that_cannot_be_written_is_reported() {
    let mut room = room();
    room.desk.root = "/proc".into();
    let answer = room.run("todo", todos("write", &json!([{"text": "a"}]))).await;
    assert!(answer.failed);
    assert!(answer.text.starts_with(".todos.json cannot be written ("), "{}", answer.text);
}
