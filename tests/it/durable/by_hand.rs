//! Tests that a session file with random edits by a person is shown, and that the next request is valid in every
//! dialect.

use super::assert_valid;
use super::script::play;
use caliban::event::SessionId;
use caliban::session::{Input, Session};
use caliban::store::{Project, Unavailable};
use caliban::view::View;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A generator of random numbers that are the same in each run.
struct Dice(u32);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 16) as usize % sides.max(1)
    }
}

/// Makes one random change that a person could make in a session file.
fn edit(messages: &mut Vec<Value>, dice: &mut Dice) {
    if messages.is_empty() {
        return;
    }
    let (at, to) = (dice.below(messages.len()), dice.below(messages.len()));
    let blocks = messages[at]["blocks"].as_array().map_or(0, Vec::len);
    let block = dice.below(blocks);
    match dice.below(11) {
        0 => drop(messages.remove(at)),
        1 => messages.swap(at, to),
        2 => messages.insert(to, messages[at].clone()),
        3 => messages[at]["role"] = json!(["system", "user", "assistant", "note"][dice.below(4)]),
        4 => messages[at]["blocks"] = json!([]),
        5 => messages[at]["by"] = json!(["mine/m", "other/m", ""][dice.below(3)]),
        _ if blocks == 0 => (),
        6 => drop(messages[at]["blocks"].as_array_mut().unwrap().remove(block)),
        7 => {
            let moved = messages[at]["blocks"].as_array_mut().unwrap().remove(block);
            messages[to]["blocks"].as_array_mut().unwrap().insert(0, moved);
        }
        8 => {
            let copied = messages[at]["blocks"][block].clone();
            messages[to]["blocks"].as_array_mut().unwrap().push(copied);
        }
        // the text of a thought is not changed, because its signature is valid only for this text
        9 if !["call", "thinking"]
            .contains(&messages[at]["blocks"][block]["type"].as_str().unwrap()) =>
        {
            messages[at]["blocks"][block]["text"] = json!(["", " \n", "mine"][dice.below(3)]);
        }
        _ if messages[at]["blocks"][block]["id"].is_string() => {
            messages[at]["blocks"][block]["id"] = json!(["c1", "c2", "", "a b:ü"][dice.below(4)]);
        }
        _ => (),
    }
}

fn opened(project: &Project) -> Option<Session> {
    loop {
        match project.open(&SessionId("main".into())) {
            Err(Unavailable::Locked(_)) => std::thread::yield_now(),
            opened => return opened.unwrap().session,
        }
    }
}

#[test]
fn a_session_file_edited_at_random_still_opens() {
    let (dir, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let live = play(scratch.path(), None);
    let files = live.disk.machine().files();
    let (_, file) = files.iter().find(|(name, _)| name.ends_with("main.json")).unwrap();
    let file: Value = serde_json::from_slice(file).unwrap();
    let project = Project::new(dir.path(), Path::new("/home/me/it"));
    fs::create_dir_all(project.dir()).unwrap();
    for seed in 0..1000 {
        let (mut edited, mut dice) = (file.clone(), Dice(seed));
        let messages = edited["messages"].as_array_mut().unwrap();
        (0..=seed % 6).for_each(|_| edit(messages, &mut dice));
        let text = serde_json::to_vec_pretty(&edited).unwrap();
        fs::write(project.dir().join("main.json"), &text).unwrap();
        let mut session = opened(&project).unwrap();
        let text = "go on".to_owned();
        session.step(Input::Send { text, context: Vec::new(), steer: false });
        View::of(&session, Vec::new());
        assert_valid(&session);
    }
}
