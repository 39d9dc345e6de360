//! Tests which results are trimmed, and the lines that replace them.

use super::*;
use expect_test::expect;
use serde_json::json;

fn prompt(text: &str) -> Message {
    Message::new(Role::User, vec![Block::Text { text: text.into() }])
}

/// A call, and an answer of this many bytes.
fn called(id: &str, tool: &str, input: Value, bytes: usize) -> [Message; 2] {
    let id = CallId(id.into());
    let call = ToolCall { id: id.clone(), tool: tool.into(), input: Input::Json(input) };
    let answer = ToolAnswer::done(&id, "x".repeat(bytes), "");
    [
        Message::new(Role::Assistant, vec![Block::Call(call)]),
        Message::new(Role::User, vec![Block::Answer(answer)]),
    ]
}

fn is_raw(tool: &str) -> bool {
    matches!(tool, "read" | "shell")
}

fn turns(calls: Vec<[Message; 2]>, later: usize) -> Session {
    let mut messages = vec![prompt("go")];
    messages.extend(calls.into_iter().flatten());
    messages.extend((0..later).map(|n| prompt(&format!("{n}"))));
    Session { messages, ..Session::default() }
}

#[test]
fn results_older_than_three_turns_are_trimmed() {
    let calls = || {
        vec![
            called("c1", "read", json!({"path": "src/a.rs", "offset": 1, "limit": 400}), 12_000),
            called("c2", "shell", json!({"command": "cargo\ntest"}), 900),
            called("c3", "edit", json!({"path": "src/a.rs"}), 9000),
            called("c4", "read", json!({"path": "short"}), 599),
            called("c5", "read", json!({"path": "x".repeat(999)}), 600),
        ]
    };
    assert_eq!(plan(&turns(calls(), 2), 9_000, is_raw), None);
    let mut session = turns(calls(), 3);
    let Plan { items, tokens, told } = plan(&session, 9_000, is_raw).unwrap();
    let lines: Vec<&str> = items.iter().map(|it| it.line.as_str()).collect();
    expect![[r#"
        read path="src/a.rs" lines 1-400: 12 kB, trimmed; call read again if needed
        shell command="cargo\ntest": 900 bytes, trimmed; call shell again if needed
        read path="xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…: 600 bytes, trimmed; call read again if needed"#]]
    .assert_eq(&lines.join("\n"));
    expect![[
        r#"Trimmed: the model now gets one line in place of each of 3 old results (2 read, 1 shell; 13 kB, about 3,200 tokens less)."#
    ]]
    .assert_eq(&told);
    let step = session.step(crate::session::Input::Trim { items, tokens, told });
    assert_eq!(step.events.len(), 1);
    assert_eq!(plan(&session, 9_000, is_raw), None);
}

/// Each result has 1,250 tokens.
#[test]
fn a_long_turn_keeps_its_newest_results_up_to_a_number_of_tokens() {
    let calls = |count: usize| {
        let read = |n| called(&format!("c{n}"), "read", json!({"path": format!("{n}")}), 5_000);
        turns((0..count).map(read).collect(), 0)
    };
    let trimmed = |count, whole| {
        let items = plan(&calls(count), whole, is_raw).map_or(vec![], |it| it.items);
        items.into_iter().map(|it| it.item).collect::<Vec<_>>()
    };
    let ids = |count| (0..count).map(|n| Item::Call(CallId(format!("c{n}")))).collect::<Vec<_>>();
    assert_eq!(trimmed(20, 20 * 1250), []);
    assert_eq!(trimmed(20, 4 * 1250), ids(16));
    assert_eq!(trimmed(3, 2 * 1250 + 1249), ids(1));
    // the model has not seen the last result yet
    assert_eq!((trimmed(2, 0), trimmed(1, 0)), (ids(1), vec![]));
}

#[test]
fn attached_texts_that_are_too_long_become_a_line_each() {
    let text = |path: &str, bytes| Excerpt {
        path: path.into(),
        text: "x".repeat(bytes),
        ..Excerpt::default()
    };
    let said = |all: &[Excerpt]| {
        let blocks = all.iter().cloned().map(Block::Excerpt);
        Message::new(Role::User, blocks.chain([Block::Text { text: "go".into() }]).collect())
    };
    let messages = vec![said(&[text("old", 9_000)]), said(&[text("a", 400), text("b", 9_000)])];
    let mut session = Session { messages, ..Session::default() };
    let items = too_long(&session, 1_000);
    let line = "[b: 9 kB, left out because the model's window has no room for it]";
    assert_eq!(items, [Trim { item: Item::Excerpt(2), line: line.into() }]);
    session.step(crate::session::Input::Trim { items, tokens: 0, told: "x".into() });
    assert_eq!(too_long(&session, 1_000), []);
}

#[test]
fn the_line_that_replaces_a_clipped_output_names_the_file_with_the_whole_output() {
    let call = |command: &str| ToolCall {
        id: CallId("c".into()),
        tool: "shell".into(),
        input: Input::Json(json!({ "command": command })),
    };
    let note = "[lines 3-9 of 12 left out; the whole output is in /tmp/o/1.txt: read it with offset, or grep it]";
    let text = format!("a\nb\n{note}\nc\n");
    let answer = ToolAnswer::failed(&CallId("c".into()), text, "");
    expect![[
        r#"shell command="make" (failed): 103 bytes, trimmed; the output is in /tmp/o/1.txt"#
    ]]
    .assert_eq(&line(&call("make"), &answer));
}
