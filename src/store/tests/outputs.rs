//! Tests that long outputs are stored beside the session's file and read back unchanged.

use super::*;
use crate::store::outputs::named;

fn long() -> String {
    format!("\u{feff}first\r\n{}\0last", "line of a log\n".repeat(2_000))
}

fn answers(session: &Session) -> Vec<&ToolAnswer> {
    let blocks = session.messages.iter().flat_map(|it| &it.blocks);
    let answers = blocks.filter_map(|it| match it {
        Block::Answer(it) => Some(it),
        _ => None,
    });
    answers.collect()
}

/// A saved session with a call that has this answer.
fn answered(place: &Place, said: &str) -> (Opened, Session) {
    let mut live = opened();
    let mut opened = place.open();
    let mut record = |live: &mut Session, input: Input| {
        let events = live.through(input).events;
        opened.store.record(live, &events, false).unwrap();
    };
    record(&mut live, send("run it"));
    let reply = replied(&live, vec![Block::Call(call("c1"))]);
    record(&mut live, reply);
    let mut answer = ToolAnswer { text: said.into(), ..answer("c1") };
    opened.store.keep_output(&mut answer);
    let turn = live.turn().unwrap();
    let events = live.through(Input::Answered { turn, answer }).events;
    opened.store.record(&live, &events, false).unwrap();
    (opened, live)
}

fn end(opened: &mut Opened, live: &mut Session) {
    let events = live.through(replied(live, vec![text("done")])).events;
    opened.store.record(live, &events, false).unwrap();
}

#[test]
fn a_long_output_is_written_to_its_own_file_and_not_to_the_session() {
    let place = place();
    let (mut opened, mut live) = answered(&place, &long());
    assert!(!place.read("main.journal").contains("line of a log"));
    end(&mut opened, &mut live);
    let file = answers(&live)[0].output.clone().unwrap();
    assert_eq!(fs::read_to_string(place.path(&format!("main.outputs/{file}"))).unwrap(), long());
    assert!(!place.read("main.json").contains("line of a log"));
    drop(opened);
    let opened = place.open();
    let mut session = opened.session.unwrap();
    assert_eq!(answers(&session)[0].text, "");
    assert_eq!(opened.store.read_outputs(&mut session), 0);
    assert!(session == as_saved(&live));
    assert_eq!(opened.store.read_outputs(&mut session), 0);
}

#[test]
fn an_output_of_more_than_eight_kilobytes_gets_its_own_file() {
    for (len, is_beside) in [(8 * 1024, false), (8 * 1024 + 1, true)] {
        let place = place();
        let (_, live) = answered(&place, &"x".repeat(len));
        assert_eq!(answers(&live)[0].output.is_some(), is_beside);
    }
}

#[test]
fn an_output_is_found_after_a_crash_in_mid_turn() {
    let place = place();
    drop(answered(&place, &long()));
    let opened = place.open();
    let mut session = opened.session.unwrap();
    session.through(Input::Leave { partial: None });
    opened.store.read_outputs(&mut session);
    assert_eq!(answers(&session)[0].text, long());
}

#[test]
fn a_missing_output_is_reported_and_no_other_file_is_read_instead() {
    let place = place();
    let (mut opened, mut live) = answered(&place, &long());
    end(&mut opened, &mut live);
    let file = answers(&live)[0].output.clone().unwrap();
    drop(opened);
    place.write("main.outputs/secret.txt", "a secret");
    place.write("secret.txt", "a secret");
    let json = place.read("main.json");
    let hex = "0".repeat(32);
    for other in ["secret.txt", "../secret.txt", "/etc/passwd", "", &format!("{hex}.txt")] {
        place.write("main.json", json.replace(&file, other));
        let mut opened = place.open();
        let mut session = opened.session.take().unwrap();
        assert_eq!(opened.store.read_outputs(&mut session), 1, "{other}");
        assert!(answers(&session)[0].text.starts_with("The output of this call is missing"));
        // the session keeps the name of the missing output, because the file may be restored
        opened.store.save(&session).unwrap();
        assert!(place.read("main.json").contains(&format!("\"output\": \"{other}\"")));
    }
}

#[test]
fn an_output_file_emptied_by_a_loss_of_power_counts_as_missing() {
    let place = place();
    let (mut opened, mut live) = answered(&place, &long());
    let file = answers(&live)[0].output.clone().unwrap();
    end(&mut opened, &mut live);
    drop(opened);
    place.write(&format!("main.outputs/{file}"), "");
    let mut session = place.open().session.unwrap();
    assert_eq!(place.open().store.read_outputs(&mut session), 1);
}

#[test]
fn outputs_remain_readable_after_a_rename_a_copy_and_a_clear() {
    let place = place();
    let (mut opened, mut live) = answered(&place, &long());
    end(&mut opened, &mut live);
    let read = |name: &str| {
        let mut opened = place.project.open(&SessionId(name.into())).unwrap();
        let mut session = opened.session.take().unwrap();
        assert_eq!(opened.store.read_outputs(&mut session), 0, "{name}");
        answers(&session)[0].text == long()
    };
    opened.store.rename(&live, &SessionId("other".into())).unwrap();
    drop(opened);
    assert!(read("other"));
    // a copy has its own outputs
    let mut copy = place.project.open(&SessionId("copy".into())).unwrap();
    let mut session = live.fork(None);
    copy.store.keep_outputs(&mut session);
    copy.store.save(&session).unwrap();
    drop(copy);
    place.project.delete(&SessionId("other".into())).unwrap();
    assert!(read("copy"));
    let file = named(&live).next().unwrap();
    assert!(place.path(&format!("trash/other-1.outputs/{file}")).exists());
    assert!(!place.path("other.outputs").exists());
    // clearing moves the outputs to the trash
    let mut opened = place.project.open(&SessionId("copy".into())).unwrap();
    opened.store.trash(&session).unwrap();
    assert!(place.path(&format!("copy.outputs/{file}")).exists());
    opened.store.save(&super::opened()).unwrap();
    assert!(place.path(&format!("trash/copy-1.outputs/{file}")).exists());
    assert!(!place.path("copy.outputs").exists());
}

#[test]
fn a_recovered_session_has_its_outputs() {
    let place = place();
    let (mut opened, mut live) = answered(&place, &long());
    end(&mut opened, &mut live);
    drop(opened);
    let json = place.read("main.json");
    place.write("main.json", &json[..json.len() - 8]);
    let session = place.project.recover(&main_id()).unwrap();
    assert_eq!(answers(&session)[0].text, long());
}
