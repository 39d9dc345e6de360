//! Tests the session's file as people read and edit it.

use super::*;
use crate::context::request;
use crate::message::{Message, Role};
use crate::session::Phase;
use expect_test::{Expect, expect_file};
use std::collections::HashSet;

#[test]
fn a_saved_session_is_readable_json_and_loads_as_it_was_saved() {
    let place = place();
    let mut opened = place.open();
    opened.store.save(&everything()).unwrap();
    expect_file!["../../../tests/data/sessions/everything.json"]
        .assert_eq(&masked(&place.read("main.json")));
    assert_eq!(place.files(), ["main.journal", "main.json"]);
    drop(opened);
    assert_eq!(place.open().session.unwrap(), as_saved(&everything()));
}

#[test]
fn unknown_fields_of_a_session_file_survive_a_save() {
    let place = place();
    let mut opened = place.open();
    opened.store.save(&everything()).unwrap();
    drop(opened);
    let mut file: Value = serde_json::from_str(&place.read("main.json")).unwrap();
    file["tags"] = json!(["mine", {"a": null}]);
    file["messages"][1]["pinned"] = json!(true);
    file["messages"][2]["by"] = json!("mine/m-1");
    file["messages"][2]["blocks"][2]["seen"] = json!({"by": "me"});
    place.write("main.json", file.to_string());
    let mut opened = place.open();
    let mut session = opened.session.unwrap();
    for _ in 0..2 {
        opened.store.save(&session).unwrap();
        let again: Value = serde_json::from_str(&place.read("main.json")).unwrap();
        assert_eq!(again["tags"], file["tags"]);
        assert_eq!(again["messages"], file["messages"]);
        assert_eq!(again["created"], file["created"]);
    }
    // `by` is a known field, so an empty `by` is removed; a replaced message loses its unknown fields
    session.messages[2].by.clear();
    session.messages[1] = session.messages[5].clone();
    opened.store.save(&session).unwrap();
    let again: Value = serde_json::from_str(&place.read("main.json")).unwrap();
    assert_eq!(
        (&again["messages"][2]["by"], &again["messages"][1]["pinned"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(again["messages"][2]["blocks"][2]["seen"]["by"], "me");
}

/// Loads files that earlier versions of Caliban wrote, one for each version of the format. If a change of the format
/// makes this fail, the format needs a new version number and a conversion.
#[test]
fn session_files_of_earlier_versions_load_completely_and_can_be_saved() {
    let before = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sessions/before");
    let files: Vec<_> = fs::read_dir(before).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(files.len(), 3);
    for path in files {
        let place = place();
        let text = fs::read_to_string(&path).unwrap();
        place.write("main.json", &text);
        let mut opened = place.open();
        let session = opened.session.unwrap();
        opened.store.save(&session).unwrap();
        drop(opened.store);
        let before: Value = serde_json::from_str(&text).unwrap();
        let after: Value = serde_json::from_str(&place.read("main.json")).unwrap();
        for (field, value) in before.as_object().unwrap() {
            let is_own = ["saves", "updated"].contains(&field.as_str());
            assert!(is_own || after[field] == *value, "{}: {field}", path.display());
        }
        assert_eq!(place.open().session.unwrap(), session);
    }
}

#[test]
fn a_copied_session_file_is_a_session_with_the_name_of_the_copy() {
    let place = place();
    let mut opened = place.open();
    opened.store.save(&everything()).unwrap();
    place.write("other.json", place.read("main.json"));
    let mut other = place.project.open(&SessionId("other".into())).unwrap();
    other.store.save(other.session.as_ref().unwrap()).unwrap();
    assert!(place.read("other.json").contains("\"name\": \"other\""));
}

#[test]
fn an_unreadable_session_file_is_not_opened_and_not_changed() {
    for (content, said) in [
        ("", "damaged"),
        ("\0\0\0\0", "damaged"),
        ("{\"schema\": 1, \"name\": \"main\", \"mess", "damaged"),
        ("[]", "damaged"),
        ("{}", "damaged"),
        ("{\"schema\": 1, \"name\": \"main\", \"messages\": 5}", "damaged"),
        ("{\"schema\": 1, \"name\": \"main\", \"messages\": [{\"role\": \"wizard\"}]}", "damaged"),
        (
            "{\"schema\": 2, \"name\": \"main\", \"messages\": \"compressed\"}",
            "newer Caliban (format 2)",
        ),
        ("{\"schema\": 99999999999}", "newer Caliban"),
    ] {
        let place = place();
        place.write("main.json", content);
        let unavailable = place.project.open(&main_id()).unwrap_err();
        let sentence = unavailable.say("main");
        assert!(sentence.contains(said) && sentence.contains("left as it is"), "{sentence}");
        assert_eq!(
            (place.files(), place.read("main.json")),
            (vec!["main.json".into()], content.into())
        );
    }
}

/// Wherever a file is cut or overwritten, all complete messages before the damage are read.
#[test]
fn messages_before_the_damage_in_a_file_are_recovered() {
    let place = place();
    place.open().store.save(&everything()).unwrap();
    let whole = place.read("main.json");
    let messages = everything().messages;
    let ends: Vec<usize> = whole.match_indices("\n    },").map(|it| it.0 + 6).collect();
    let ends: Vec<usize> =
        ends.into_iter().filter(|it| *it > whole.find("\"messages\"").unwrap()).collect();
    for cut in (0..whole.len() - 3).step_by(7).filter(|it| whole.is_char_boundary(*it)) {
        let zeroed = format!("{}{}", &whole[..cut], "\0".repeat(whole.len() - cut));
        for damaged in [&whole[..cut], &zeroed] {
            place.write("main.json", damaged);
            let unavailable = place.try_open().unwrap_err();
            assert!(matches!(unavailable, Unavailable::Damaged(_)), "{damaged}");
            let read = place.project.recover(&main_id()).map(|it| it.messages).unwrap_or_default();
            assert!(messages.starts_with(&read), "{damaged}");
            let stood = ends.iter().filter(|end| **end <= cut).count();
            assert!(read.len() >= if stood > 1 { stood } else { 0 }, "{} of {stood}", read.len());
        }
    }
}

#[test]
fn a_wrong_value_or_another_order_of_fields_loses_no_message() {
    let place = place();
    place.open().store.save(&everything()).unwrap();
    let file: Value = serde_json::from_str(&place.read("main.json")).unwrap();
    let mut wrong = file.clone();
    (wrong["turns"], wrong["usage"]) = (json!("three"), json!([]));
    place.write("main.json", wrong.to_string());
    assert!(matches!(place.try_open().unwrap_err(), Unavailable::Damaged(_)));
    let read = place.project.recover(&main_id()).unwrap();
    assert_eq!(read.messages, everything().messages);
    assert_eq!((read.title.as_str(), read.model.as_str()), ("What is \"this\"?", "mine/m-1"));

    let sorted: std::collections::BTreeMap<String, Value> =
        file.as_object().unwrap().clone().into_iter().collect();
    let sorted = serde_json::to_string(&sorted).unwrap();
    place.write("main.json", &sorted[..sorted.find("\"root\"").unwrap()]);
    let read = place.project.recover(&main_id()).unwrap();
    assert_eq!(read.messages, everything().messages);
}

#[test]
fn only_the_user_may_read_a_saved_file() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let mut opened = place.open();
    opened.store.save(&everything()).unwrap();
    opened.store.save(&everything()).unwrap();
    let mode = fs::metadata(place.path("main.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// Compares the next request of a session whose messages a person has edited.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check_edit(edit: impl Fn(&mut Vec<Value>), expect: Expect) {
    let place = place();
    let mut opened = place.open();
    opened.store.save(&everything()).unwrap();
    drop(opened);
    let mut file: Value = serde_json::from_str(&place.read("main.json")).unwrap();
    edit(file["messages"].as_array_mut().unwrap());
    place.write("main.json", serde_json::to_string_pretty(&file).unwrap());
    let mut session = place.open().session.unwrap();
    session.through(send("go on"));
    assert!(matches!(session.phase, Phase::Sampling { .. }));
    let request = request::build(&session, crate::message::Request::default());
    let mut said = String::new();
    for message in &request.messages {
        said.push_str(&format!("{:?}:", message.role).to_lowercase());
        for block in &message.blocks {
            said.push_str(&match block {
                Block::Text { text } => format!(" {}", text.lines().last().unwrap_or_default()),
                Block::Call(call) => format!(" {}()", call.id),
                Block::Answer(it) => format!(" {}=[{}]", it.id, it.text.trim_end()),
                _ => " …".into(),
            });
        }
        said.push('\n');
    }
    expect.assert_eq(&said);
}

#[test]
fn a_session_file_edited_by_hand_loads_and_its_next_request_is_valid() {
    check_edit(
        |messages| messages[3]["blocks"][0]["text"] = "My own words.".into(),
        expect![[r#"
            user: </context> Say.
            assistant: I look. c1() c2()
            user: c1=[My own words.] c2=[1	fn main() {}]
            assistant: A program: `main`.
            user: and?
            user: </notice> later
            user: </notice> </notice> later still
        "#]],
    );
    check_edit(
        |messages| drop(messages.remove(3)),
        expect![[r#"
            user: </context> Say.
            assistant: I look. c1() c2()
            user: c1=[The result of this call was lost. The call may have had effects.] c2=[The result of this call was lost. The call may have had effects.]
            assistant: A program: `main`.
            user: and?
            user: </notice> later
            user: </notice> </notice> later still
        "#]],
    );
    check_edit(
        |messages| drop(messages.remove(2)),
        expect![[r#"
        user: </context> Say.
        assistant: A program: `main`.
        user: and?
        user: </notice> later
        user: </notice> </notice> later still
    "#]],
    );
    check_edit(
        |messages| drop(messages.drain(..2)),
        expect![[r#"
            user: (The beginning of this conversation is not kept.)
            assistant: I look. c1() c2()
            user: c1=[1	fn main() {}] c2=[1	fn main() {}]
            assistant: A program: `main`.
            user: and?
            user: </notice> later
            user: </notice> </notice> later still
        "#]],
    );
}

/// A session whose file and journal contain the highest possible numbers can be loaded and continued.
#[test]
fn a_session_with_the_highest_possible_numbers_loads_and_continues() {
    let place = place();
    let mut opened = place.open();
    opened.store.save(&everything()).unwrap();
    drop(opened);
    let mut file: Value = serde_json::from_str(&place.read("main.json")).unwrap();
    for (name, most) in [("saves", u64::MAX), ("context", u64::MAX), ("turns", u64::from(u32::MAX))]
    {
        file[name] = json!(most);
    }
    file["spent"] = json!(f64::MAX);
    let usage = json!({"input": u64::MAX, "output": u64::MAX, "cache_read": u64::MAX, "cache_write": u64::MAX});
    file["usage"] = usage.clone();
    file["queue"] = json!([{"id": u32::MAX, "text": "it waits"}]);
    place.write("main.json", file.to_string());
    let lines = [
        json!({"after_save": u64::MAX}),
        json!({"event": "prompted", "turn": u32::MAX, "message": {"id": u32::MAX, "text": "go"}}),
        json!({"event": "spent", "cost": f64::MAX}),
        json!({"event": "named", "title": "t", "usage": usage, "cost": f64::MAX}),
        json!({"event": "ended", "turn": u32::MAX, "why": "done"}),
    ];
    place.write("main.journal", lines.map(|it| it.to_string() + "\n").concat());
    for _ in 0..2 {
        let mut opened = place.open();
        assert_eq!(opened.warnings, Vec::<String>::new());
        let mut session = opened.session.unwrap();
        let turns = session.turns;
        let send =
            |text: &str| Input::Send { text: text.into(), context: Vec::new(), steer: false };
        let events =
            [session.through(send("one")), session.step(send("two"))].map(|it| it.events).concat();
        let ids: HashSet<u32> = session.queue.iter().map(|it| it.id).collect();
        assert_eq!(ids.len(), session.queue.len(), "{:?}", session.queue);
        assert_eq!(session.turns, turns + 1);
        opened.store.append(&events, false).unwrap();
        session.through(Input::Cancel { partial: None });
        opened.store.save(&session).unwrap();
        assert!(100 * session.usage.cache_read > 0 && 100 * session.context > 0);
    }
}

/// If each list of blocks had room for more, a session of 10,000 messages would take three times the memory.
#[test]
fn the_blocks_of_a_read_message_have_no_spare_capacity() {
    let place = place();
    let mut opened = place.open();
    let messages = vec![Message::new(Role::User, vec![Block::Text { text: "go".into() }]); 3];
    opened.store.save(&Session { messages, ..Session::default() }).unwrap();
    drop(opened);
    let read = place.open().session.unwrap().messages;
    assert_eq!(read.iter().map(|it| it.blocks.capacity()).collect::<Vec<_>>(), [1, 1, 1]);
}
