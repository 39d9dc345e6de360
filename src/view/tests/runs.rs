//! Tests between which blocks there is an empty line, and which runs of calls are folded.

use super::*;

fn read(id: &str, path: &str) -> Part {
    Part::Call(call(id, "read", json!({ "path": path })))
}

fn failed(id: &str) -> Event {
    let answer = ToolAnswer::failed(&CallId(id.into()), "No such file.".into(), "failed");
    Event::Answered { turn: TurnId(1), answer }
}

#[test]
fn a_finished_run_of_reads_is_one_line_that_opens_to_its_calls() {
    let mut view = view_of(&[
        prompted("go"),
        replied(vec![text("I read."), read("c1", "a.rs"), read("c2", "b.rs")]),
        started("c1"),
        answered("c1", "1\ta", "1 line"),
        answered("c2", "1\tb", "10 lines"),
    ]);
    let reading = shown(&mut view);
    assert!(
        reading.contains("\n\n▸ read  path=\"a.rs\"  ⟩ 1 line · 1 s\n▸ read  path"),
        "{reading}"
    );
    view.event(&replied(vec![read("c3", "a.rs"), read("c4", "missing"), read("c5", "c.rs")]), 9000);
    view.event(&replied(vec![Part::Call(call("c6", "shell", json!({"command": "ls"})))]), 9000);
    for event in [answered("c5", "", "5 lines"), failed("c4"), answered("c3", "", "3 lines")] {
        view.event(&event, 9000);
    }
    let mut buffer = Buffer::default();
    view.repaint();
    buffer.drain(&mut view);
    expect![[r#"
        go

        I read.

        ▸ read  2 files  a.rs, b.rs  ⟩ 14 lines
        ▸ read  path="missing"  ⟩ failed · 0 ms
        ▸ read  path="c.rs"  ⟩ 5 lines · 0 ms
        ▸ shell  ls
    "#]]
    .assert_eq(&buffer.text());
    let run = buffer.blocks.iter().find(|it| it.right == "14 lines").map(|it| it.id).unwrap();
    view.toggle(run, 0);
    view.toggle(run + 1, 0);
    buffer.drain(&mut view);
    expect![[r#"
        go

        I read.

        ▾ read  2 files  a.rs, b.rs  ⟩ 14 lines
          ▾ read  path="a.rs"  ⟩ 1 line · 1 s
            1	a
          ▸ read  path="b.rs"  ⟩ 10 lines · 3 s
          ▸ read  path="a.rs"  ⟩ 3 lines · 0 ms
        ▸ read  path="missing"  ⟩ failed · 0 ms
        ▸ read  path="c.rs"  ⟩ 5 lines · 0 ms
        ▸ shell  ls
    "#]]
    .assert_eq(&buffer.text());
}

#[test]
fn a_run_with_an_opened_call_stays_open_when_the_turn_ends() {
    let grep = |id: &str, pattern: &str| {
        Part::Call(call(id, "grep", json!({ "pattern": pattern, "path": "src" })))
    };
    let mut view = view_of(&[
        replied(vec![grep("c1", "old"), grep("c2", "old"), read("c3", "a.rs"), read("c4", "b.rs")]),
        answered("c1", "a", "1 match"),
        answered("c2", "b", "100+ matches"),
        answered("c3", "c", "1 line"),
        answered("c4", "d", "1 line"),
    ]);
    let opened = view.calls[&CallId("c4".into())];
    view.toggle(u32::try_from(opened).unwrap(), 0);
    view.event(&Event::Ended { turn: TurnId(1), why: End::Done }, 0);
    expect![[r#"
        ▸ grep  2 times  old
        ▾ read  2 files  a.rs, b.rs  ⟩ 2 lines
          ▸ read  path="a.rs"  ⟩ 1 line · 3 s
          ▾ read  path="b.rs"  ⟩ 1 line · 4 s
            d
    "#]]
    .assert_eq(&shown(&mut view));
}

#[test]
fn removing_a_question_removes_the_empty_line_below_it() {
    let ask = Event::Asked {
        turn: TurnId(1),
        call: CallId("c1".into()),
        question: "Run it?".into(),
        offer: Offer::default(),
    };
    let shell = |id: &str| replied(vec![Part::Call(call(id, "shell", json!({"command": id})))]);
    let mut view = view_of(&[shell("c1"), ask, shell("c2")]);
    let mut buffer = Buffer::default();
    buffer.drain(&mut view);
    assert!(buffer.text().contains("i\u{a0}explain\n\n▸ shell  c2"), "{}", buffer.text());
    let ruling = Ruling::Once;
    view.event(&Event::Ruled { turn: TurnId(1), call: CallId("c1".into()), ruling }, 0);
    buffer.drain(&mut view);
    assert_eq!(buffer.text(), "▸ shell  c1\n▸ shell  c2\n");
}

#[test]
fn no_empty_line_separates_a_thought_from_what_follows_it() {
    let thinking = || Part::Thinking { text: "Hm.".into(), signature: None };
    check(
        &[
            prompted("go"),
            replied(vec![thinking(), text("I look."), read("c1", "a.rs")]),
            answered("c1", "", "1 line"),
            replied(vec![thinking(), Part::Call(call("c2", "list", json!({})))]),
            answered("c2", "", "1 line"),
            replied(vec![thinking(), text("Done.")]),
        ],
        expect![[r#"
            go

            ▸ Thought
            I look.

            ▸ read  path="a.rs"  ⟩ 1 line · 1 s
            ▸ Thought
            ▸ list  ⟩ 1 line · 1 s
            ▸ Thought
            Done.
        "#]],
    );
}

#[test]
fn a_run_is_folded_once_whatever_the_order_of_its_answers() {
    let mut view = view_of(&[
        replied(vec![
            read("c1", "a"),
            read("c2", "b"),
            read("c3", "c"),
            read("c4", "d"),
            text("So."),
        ]),
        answered("c4", "", "1 line"),
        answered("c3", "", "1 line"),
        answered("c1", "", "1 line"),
        answered("c2", "", "1 line"),
    ]);
    assert_eq!(shown(&mut view), "▸ read  4 files  a, b, c, d  ⟩ 4 lines\n\nSo.\n");
}

#[test]
fn thoughts_between_reads_are_folded_with_their_run() {
    let thinking = || Part::Thinking { text: "Hm.".into(), signature: None };
    let mut view = view_of(&[
        replied(vec![thinking(), read("c1", "a")]),
        answered("c1", "", "1 line"),
        replied(vec![thinking(), read("c2", "b")]),
        answered("c2", "", "1 line"),
    ]);
    let mut buffer = Buffer::default();
    buffer.drain(&mut view);
    assert_eq!(
        buffer.text().matches("▸ read  path").count(),
        2,
        "a run that may go on is not folded"
    );
    view.event(&replied(vec![thinking(), text("So.")]), 0);
    buffer.drain(&mut view);
    expect![[r#"
        ▸ Thought
        ▸ read  2 files  a, b  ⟩ 2 lines
        ▸ Thought
        So.
    "#]]
    .assert_eq(&buffer.text());
    let run = buffer.blocks.iter().find(|it| it.right == "2 lines").map(|it| it.id).unwrap();
    view.toggle(run, 0);
    buffer.drain(&mut view);
    let thought = buffer.blocks.iter().find(|it| it.lines == ["  ▸ Thought"]).map(|it| it.id);
    view.toggle(thought.unwrap(), 0);
    buffer.drain(&mut view);
    expect![[r#"
        ▸ Thought
        ▾ read  2 files  a, b  ⟩ 2 lines
          ▸ read  path="a"  ⟩ 1 line · 1 s
          ▾ Thought
            Hm.
          ▸ read  path="b"  ⟩ 1 line · 1 s
        ▸ Thought
        So.
    "#]]
    .assert_eq(&buffer.text());
}

#[test]
fn a_run_lists_whole_names() {
    let names = ["x".repeat(50), "y".repeat(50), "z".repeat(50)];
    let (line, starts) = crate::view::runs::joined(&names);
    assert_eq!(line.text, format!("{}, {}, …", names[0], names[1]));
    assert_eq!((line.own, starts), (vec![104], vec![52, 104]));
    assert_eq!(crate::view::runs::joined(&names[..1]).0.text, names[0]);
}
