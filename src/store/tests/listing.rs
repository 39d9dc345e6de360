//! Tests the list of sessions and the search in it, with valid, damaged and newer files, turns that are only in the
//! journal, and the index of unchanged files.

use super::*;
use crate::store::Listed;
use expect_test::Expect;

fn shown(list: Vec<Listed>) -> String {
    let row = |it: Listed| {
        let line = it.line.map(|it| format!(" › {it}")).unwrap_or_default();
        let locked = if it.locked { " locked" } else { "" };
        let problem = it.problem.unwrap_or_default();
        format!("{}: {:?} {} turns{locked}{line}{problem}\n", it.name, it.title, it.turns)
    };
    list.into_iter().map(row).collect()
}

/// Compares the list of a project that has only this file.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(name: &str, text: &str, expected: Expect) {
    let place = place();
    place.write(name, text);
    expected.assert_eq(&shown(place.project.list()));
}

#[test]
fn damaged_and_newer_session_files_are_listed_with_the_reason() {
    check(
        "a.json",
        r#"{"schema":1,"title":"T","turns":3,"messages":[]}"#,
        expect![[r#"
        a: "T" 3 turns
    "#]],
    );
    check(
        "a.json",
        r#"{"messages":[{"x":"}"}],"schema":1,"turns":3,"title":"after"}"#,
        expect![[r#"
        a: "after" 3 turns
    "#]],
    );
    check(
        "a.json",
        r#"{"schema":1,"turns":3,"messages":[{"role":"#,
        expect![[r#"
        a: "" 0 turnsThe file of the conversation `a` is damaged (it breaks off) and was left as it is.
    "#]],
    );
    check(
        "a.json",
        r#"{"schema":2,"turns":3,"messages":[]}"#,
        expect![[r#"
        a: "" 0 turnsThe conversation `a` was written by a newer Caliban (format 2) and was left as it is.
    "#]],
    );
    check(
        "a.json",
        "[]",
        expect![[r#"
        a: "" 0 turnsThe file of the conversation `a` is damaged (invalid type: sequence, expected a session at line 1 column 1) and was left as it is.
    "#]],
    );
    check(
        "a.json",
        "",
        expect![[r#"
        a: "" 0 turnsThe file of the conversation `a` is damaged (EOF while parsing a value at line 1 column 0) and was left as it is.
    "#]],
    );
    for not_ours in ["a b.json", "..json", ".a.json.tmp", "a.draft", "a.lock", "last", "a.journal"]
    {
        check(not_ours, "{}", expect![""]);
    }
}

#[test]
fn a_session_in_its_first_turn_is_listed_and_marked_as_open() {
    let place = place();
    let mut store = place.open().store;
    let mut session = opened();
    let step = session.through(send("the first\nprompt"));
    store.append(&step.events, false).unwrap();
    assert_eq!(shown(place.project.list()), "main: \"the first\" 1 turns locked\n");
    drop(store);
    assert_eq!(shown(place.project.list()), "main: \"the first\" 1 turns\n");
}

#[test]
fn a_search_ignores_case_and_shows_the_matching_line() {
    let place = place();
    let mut store = place.open().store;
    let mut session = opened();
    session.through(send("one\nThe ÜBER Needle here"));
    store.save(&session).unwrap();
    let found = |text: &str| shown(place.project.find(text));
    assert_eq!(found("über needle"), "main: \"one\" 1 turns locked › The ÜBER Needle here\n");
    assert_eq!(found("MAIN"), "main: \"one\" 1 turns locked\n");
    assert_eq!(found("nowhere"), "");
}

/// The last turns of a large session are only in its journal.
#[test]
fn turns_that_are_only_in_the_journal_are_listed_and_found() {
    let place = place();
    let mut store = place.open().store;
    let mut session = opened();
    session.through(send(&"one ".repeat(100_000)));
    session.through(replied(&session, vec![text("so")]));
    store.save(&session).unwrap();
    for prompt in ["two", "three"] {
        let mut events = session.through(send(prompt)).events;
        events.extend(session.through(replied(&session, vec![text("a needle")])).events);
        store.record(&session, &events, false).unwrap();
    }
    let title = Input::Title { title: "mine".into() };
    store.record(&session.clone(), &session.through(title).events, false).unwrap();
    assert_eq!(shown(place.project.list()), "main: \"mine\" 3 turns locked\n");
    assert_eq!(shown(place.project.find("needle")), "main: \"mine\" 3 turns locked › a needle\n");
    // a journal whose events are in the session's file already adds nothing
    let journal = place.read("main.journal");
    store.settle(&session).unwrap();
    place.write("main.journal", journal.replace("\"three\"", "\"never\""));
    assert_eq!(shown(place.project.list()), "main: \"mine\" 3 turns locked\n");
    assert_eq!(shown(place.project.find("never")), "");
}

#[test]
fn listing_reads_only_changed_session_files_again() {
    let place = place();
    let file = |title: &str| format!(r#"{{"schema":1,"title":"{title}","turns":3,"messages":[]}}"#);
    let list = || shown(place.project.list());
    let index = || place.read("index");
    place.write("b.json", file("Other"));
    place.write("a.json", file("One"));
    assert_eq!(list(), "a: \"One\" 3 turns\nb: \"Other\" 3 turns\n");
    // an unchanged file is listed from the index, not read again
    place.write("index", index().replace("One", "Two"));
    assert_eq!(list(), "a: \"Two\" 3 turns\nb: \"Other\" 3 turns\n");
    // a file is replaced by another file of the same length, and a third file is removed
    place.write("new", file("New"));
    let dir = place.project.dir();
    std::fs::rename(dir.join("new"), dir.join("a.json")).unwrap();
    std::fs::remove_file(dir.join("b.json")).unwrap();
    assert_eq!(list(), "a: \"New\" 3 turns\n");
    assert!(!index().contains("Other"), "{}", index());
    for damaged in ["", "{", "[]", r#"{"a":1}"#] {
        place.write("index", damaged);
        assert_eq!(list(), "a: \"New\" 3 turns\n");
    }
    // an entry that a newer version of Caliban wrote into the index is not used
    place.write("index", index().replace("\"schema\":1", "\"schema\":2"));
    assert_eq!(list(), "a: \"New\" 3 turns\n");
    assert!(index().contains("\"schema\":1"), "{}", index());
}
