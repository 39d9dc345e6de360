//! Tests journals that are incomplete, out of date, large or missing.

use super::*;
use crate::event::{Failure, Grant};
use crate::message::Role;
use crate::session::Phase;

#[test]
fn the_journal_has_the_events_since_the_last_save() {
    let place = place();
    let mut live = Session::default();
    let mut opened = place.open();
    assert!(opened.session.is_none());
    let open = Input::Open {
        system: "s".into(),
        instructions: Vec::new(),
        model: "m".into(),
        root: "/p".into(),
    };
    opened.store.append(&live.through(open).events, false).unwrap();
    opened.store.append(&live.through(send("one")).events, true).unwrap();
    drop(opened);
    let mut opened = place.open();
    assert_eq!(opened.session.as_ref(), Some(&live));
    assert_eq!(opened.warnings, [""; 0]);
    let reply = replied(&live, vec![text("hi")]);
    live.through(reply);
    opened.store.save(&live).unwrap();
    opened.store.append(&live.through(send("two")).events, false).unwrap();
    drop(opened);
    assert_eq!(place.open().session, Some(live));
    assert_eq!(place.read("main.journal").lines().count(), 3);
}

/// A session that was saved once, and the journal of a turn after that save.
fn in_mid_turn(place: &Place) -> (Session, String) {
    let mut live = opened();
    live.through(send("one"));
    live.through(replied(&live, vec![text("first")]));
    let mut opened = place.open();
    opened.store.save(&live).unwrap();
    opened.store.append(&live.through(send("two")).events, false).unwrap();
    let reply = replied(&live, vec![text("I look"), Block::Call(call("c1"))]);
    opened.store.append(&live.through(reply).events, true).unwrap();
    drop(opened);
    (live, place.read("main.journal"))
}

#[test]
fn a_journal_cut_at_any_byte_loads_and_its_incomplete_line_is_moved_to_another_file() {
    let place = place();
    let (_, journal) = in_mid_turn(&place);
    for cut in 1..journal.len() {
        place.write("main.journal", &journal.as_bytes()[..cut]);
        let mut opened = place.open();
        let whole = journal[..cut].rfind('\n').map_or(0, |it| it + 1);
        let torn = journal[..cut].len() - whole;
        assert_eq!(opened.warnings.len(), usize::from(torn > 0), "{:?}", opened.warnings);
        if torn > 0 {
            let path = place.path("main.journal.torn-1");
            assert_eq!(fs::read_to_string(&path).unwrap(), journal[whole..cut]);
            fs::remove_file(path).unwrap();
        }
        let mut session = opened.session.unwrap();
        let before = session.clone();
        let repaired = session.through(Input::Leave { partial: None }).events;
        opened.store.append(&repaired, false).unwrap();
        drop(opened.store);
        let again = place.open();
        assert_eq!((again.session.unwrap(), again.warnings.len()), (session, 0), "{before:?}");
    }
}

#[test]
fn zeros_and_invalid_lines_at_the_end_of_a_journal_are_moved_to_another_file() {
    for tail in
        ["\0\0\0\0\0\0\0\0", "\0\0\0\n\0", "{\"event\":\"novel\"}\n", "null\n", "\u{fffd}\n{}\n"]
    {
        let place = place();
        let (live, journal) = in_mid_turn(&place);
        place.write("main.journal", format!("{journal}{tail}"));
        let opened = place.open();
        assert_eq!(opened.session, Some(live));
        assert_eq!(opened.warnings.len(), 1);
        assert_eq!(place.read("main.journal"), journal);
        assert_eq!(place.read("main.journal.torn-1"), tail);
    }
}

#[test]
fn each_incomplete_end_of_a_journal_is_moved_to_a_new_file() {
    let place = place();
    let (_, journal) = in_mid_turn(&place);
    for n in 1..=3 {
        place.write("main.journal", format!("{journal}torn {n}"));
        drop(place.open());
    }
    let torn: Vec<String> =
        (1..=3).map(|n| place.read(&format!("main.journal.torn-{n}"))).collect();
    assert_eq!(torn, ["torn 1", "torn 2", "torn 3"]);
}

/// After a crash during a save, the new session file may be on disk while the journal is not emptied yet. The file
/// contains the journal's events already.
#[test]
fn a_journal_is_ignored_if_the_session_file_is_newer() {
    let place = place();
    let (mut live, journal) = in_mid_turn(&place);
    let mut opened = place.open();
    live.through(Input::Cancel { partial: None });
    opened.store.save(&live).unwrap();
    drop(opened);
    place.write("main.journal", &journal);
    let opened = place.open();
    assert_eq!(opened.session, Some(as_saved(&live)));
    assert_eq!(opened.warnings, [""; 0]);
}

/// The user has restored an older session file. The journal's events happened after a later save, so the journal is
/// moved to another file.
#[test]
fn a_journal_is_moved_to_another_file_if_the_session_file_is_older() {
    let place = place();
    let (_, journal) = in_mid_turn(&place);
    let file = place.read("main.json").replace("\"saves\": 1", "\"saves\": 0");
    place.write("main.json", file);
    let opened = place.open();
    assert_eq!(opened.session.unwrap().turns, 1);
    assert_eq!(opened.warnings.len(), 1);
    assert_eq!(place.read("main.journal.torn-1"), journal);
}

/// No event records the beginning of a retry, so the loaded session has no running request.
#[test]
fn after_a_retry_only_the_text_of_the_second_try_is_recovered() {
    let place = place();
    let mut live = opened();
    let mut opened = place.open();
    opened.store.append(&live.through(send("one")).events, false).unwrap();
    opened.store.append_piece("half ").unwrap();
    let (turn, failure) = (live.turn().unwrap(), Failure::Cut);
    let failed =
        live.through(Input::Failed { turn, failure, by: String::new(), partial: None, dice: 0 });
    opened.store.append(&failed.events, false).unwrap();
    opened.store.append_piece("at the second try").unwrap();
    drop(opened);
    let again = place.open();
    assert_eq!(again.partial, [text("at the second try")]);
    let mut session = again.session.unwrap();
    let replied = replied(&session, again.partial);
    let Input::Replied { reply, .. } = replied else { panic!("no reply") };
    session.through(Input::Leave { partial: Some(reply) });
    let said = session.messages.iter().rfind(|it| it.role == Role::Assistant).unwrap();
    assert_eq!(said.blocks, [text("at the second try")]);
    assert_eq!(session.phase, Phase::Idle);
}

/// A session that is too large to be rewritten after each turn.
fn large(place: &Place) -> (Opened, Session) {
    let mut live = opened();
    live.through(send(&"word ".repeat(100_000)));
    live.through(replied(&live, vec![text("long")]));
    let mut opened = place.open();
    opened.store.save(&live).unwrap();
    (opened, live)
}

#[test]
fn turns_of_a_large_session_are_written_only_to_the_journal_until_the_session_is_settled() {
    let place = place();
    let (mut opened, mut live) = large(&place);
    let file = place.read("main.json");
    for n in 0..3 {
        let events = live.through(send(&format!("prompt {n}"))).events;
        opened.store.record(&live, &events, false).unwrap();
        let reply = replied(&live, vec![text("reply")]);
        opened.store.record(&live, &live.clone().through(reply.clone()).events, false).unwrap();
        live.through(reply);
    }
    assert_eq!(place.read("main.json"), file);
    drop(opened);
    let mut opened = place.open();
    assert_eq!(opened.session.as_ref(), Some(&live));
    assert!(opened.replayed && !opened.interrupted);
    opened.store.settle(&live).unwrap();
    assert_eq!(place.read("main.journal"), "");
    assert!(place.read("main.json").contains("prompt 2"));
    let settled = place.read("main.json");
    opened.store.settle(&live).unwrap();
    assert_eq!(place.read("main.json"), settled);
}

/// A turn is only appended to the journal, so that its cost does not grow with the session. At few turns the journal is
/// merged into the session's file.
#[test]
fn a_large_journal_is_merged_into_the_session_file() {
    let place = place();
    let (mut opened, mut live) = large(&place);
    let (mut folds, mut journal) = (0, 0);
    for _ in 0..60 {
        let mut events = live.through(send(&"more ".repeat(2_000))).events;
        events.extend(live.through(replied(&live, vec![text("so")])).events);
        opened.store.record(&live, &events, false).unwrap();
        let len = place.read("main.journal").len();
        folds += usize::from(len < journal);
        journal = len;
    }
    assert!((1..8).contains(&folds), "{folds}");
    drop(opened);
    assert_eq!(place.open().session, Some(live));
}

#[test]
fn an_unfinished_turn_is_reported_as_interrupted() {
    let place = place();
    let (mut opened, mut live) = large(&place);
    opened.store.record(&live.clone(), &live.through(send("on")).events, false).unwrap();
    drop(opened);
    let mut opened = place.open();
    assert!(opened.interrupted);
    let left = live.through(Input::Leave { partial: None }).events;
    opened.store.append(&left, true).unwrap();
    drop(opened);
    assert!(place.open().interrupted);
}

#[test]
fn permissions_for_a_session_are_not_restored_from_its_journal() {
    let place = place();
    let (mut opened, mut live) = large(&place);
    let mut events = live.through(send("on")).events;
    let access = Access::Act {
        command: "make".into(),
        outside: None,
        background: false,
        hosts: Vec::new(),
        unlocked: Vec::new(),
    };
    let Input::Replied { turn, reply, mut plans } = replied(&live, vec![Block::Call(call("c1"))])
    else {
        panic!()
    };
    plans[0].access = access;
    events.extend(live.through(Input::Replied { turn, reply, plans }).events);
    let ruling = crate::event::Ruling::Session;
    events.extend(live.through(Input::Rule { call: CallId("c1".into()), ruling }).events);
    assert!(!live.granted.is_empty());
    opened.store.append(&events, false).unwrap();
    drop(opened);
    assert!(place.open().session.unwrap().granted.is_empty());
}

/// The plans of the calls of one reply (see `event::Plan`), as earlier versions of Caliban wrote them.
const OLD_PLANS: &str = r#"[
{"call":"c1","step":"read"},
{"call":"c2","step":{"asked_read":"Let read look at `/etc/hosts`, outside the project?"}},
{"call":"c3","step":{"asked_read":{"question":"Let read look at `/a`?","tool":"read","path":"/a"}}},
{"call":"c4","step":"edit"},
{"call":"c5","step":{"act":{"question":"Run `make`?","grant":"make"}}},
{"call":"c6","step":{"refused":"There is no tool `x`."}}]"#;

#[test]
fn a_journal_with_plans_of_older_versions_is_read_to_its_end() {
    let place = place();
    let mut live = opened();
    let mut store = place.open().store;
    store.save(&live).unwrap();
    let ids = ["c1", "c2", "c3", "c4", "c5", "c6"];
    let mut events = live.through(send("one")).events;
    let blocks = ids.iter().map(|id| Block::Call(call(id))).collect();
    let reply = replied(&live, blocks);
    events.extend(live.through(reply).events);
    store.append(&events, true).unwrap();
    drop(store);
    let lines = place.read("main.journal");
    let lines = lines.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line.get("plans").is_some() {
            line["plans"] = serde_json::from_str(OLD_PLANS).unwrap();
        }
        format!("{line}\n")
    });
    place.write("main.journal", lines.collect::<String>());
    let opened = place.open();
    assert_eq!(opened.warnings, [""; 0]);
    let mut session = opened.session.unwrap();
    let open = session.open();
    let grants: Vec<_> = open.iter().flat_map(|it| it.access.grants()).skip(1).collect();
    assert_eq!(open.len(), ids.len());
    let (tool, path) = ("read".to_owned(), "/a".to_owned());
    assert_eq!(grants, [Grant::Read { tool, path }, Grant::Act("make".into())]);
    session.through(Input::Leave { partial: None });
    assert_eq!(session.phase, Phase::Idle);
}
