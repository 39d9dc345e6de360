//! Links that are put into a path between the check of a call and its run.

use super::*;
use crate::edit::{Misfit, Proposal, Whole};
use crate::event::TurnId;
use crate::regular::direct::LINKED;
use crate::text::Text;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// A project with `sub/a.txt`, and a folder outside of it with files of the same name that hold a secret.
fn places() -> (Room, PathBuf) {
    let room = room();
    room.file("sub/a.txt", "text\n");
    let outside = room.desk.root.parent().unwrap().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("a.txt"), "secret\n").unwrap();
    fs::write(outside.join("private"), "secret\n").unwrap();
    (room, outside)
}

/// Replaces `path` with a link to `target`.
fn swap(path: &Path, target: &Path) {
    fs::rename(path, path.with_extension("kept")).unwrap();
    symlink(target, path).unwrap();
}

#[tokio::test]
async fn a_path_that_leads_elsewhere_after_the_check_of_a_call_is_not_read() {
    let calls = [
        ("read", json!({ "path": "sub/a.txt" })),
        ("grep", json!({ "pattern": "e", "path": "sub" })),
        ("grep", json!({ "pattern": "e", "path": "sub/a.txt" })),
        ("glob", json!({ "pattern": "*", "path": "sub" })),
        ("list", json!({ "path": "sub" })),
        ("symbols", json!({ "path": "sub/a.txt" })),
    ];
    for (tool, args) in calls {
        let (room, outside) = places();
        let call = call(tool, args);
        assert_eq!(access(&room.desk, &call), Access::Read, "{call:?}");
        swap(&room.desk.root.join("sub"), &outside);
        let said = room.clear(&run(&room.desk, &call).await.answer.text);
        assert!(said.contains("this call has no consent to read it"), "{tool}: {said}");
        assert!(said.contains("BASE/outside") && !said.contains("private"), "{tool}: {said}");
    }
}

#[tokio::test]
async fn a_consent_applies_to_the_file_that_the_question_named() {
    let (room, outside) = places();
    let link = room.desk.root.join("link");
    symlink(outside.join("a.txt"), &link).unwrap();
    let call = call("read", json!({ "path": "link" }));
    let Access::Guarded(agreed) = access(&room.desk, &call) else { panic!() };
    let desk = Desk { agreed: Some(agreed), ..room.desk.clone() };
    assert!(run(&desk, &call).await.answer.text.contains("secret"));
    fs::remove_file(&link).unwrap();
    symlink(outside.join("private"), &link).unwrap();
    let said = run(&desk, &call).await.answer.text;
    assert!(said.contains("this call has no consent") && !said.contains("secret"), "{said}");
}

#[tokio::test]
async fn a_workspace_without_an_editor_follows_no_link_that_came_later() {
    let (room, outside) = places();
    let path = room.desk.root.join("sub/a.txt");
    swap(&room.desk.root.join("sub"), &outside);
    let why = room.desk.workspace.read(&path).await.unwrap_err();
    assert_eq!(why, Unreadable::Other(LINKED.to_owned()));
    let before = Some(Text::new("secret\n"));
    for whole in [None, Some(Whole::Delete), Some(Whole::Rename { to: room.desk.root.join("b") })] {
        let change = Proposal {
            path: path.clone(),
            before: before.clone(),
            after: Text::new("new\n"),
            whole,
            at_once: true,
            parts: Vec::new(),
            is_binary: false,
        };
        let arrivals = room.desk.workspace.propose(TurnId(1), vec![change]).await;
        let refused = Arrival::Refused(Misfit::Refused(format!("it cannot be read: {LINKED}")));
        assert_eq!(arrivals, [refused]);
    }
    assert_eq!(fs::read_to_string(outside.join("a.txt")).unwrap(), "secret\n");
}

#[tokio::test]
async fn no_call_shows_a_file_outside_while_a_folder_is_swapped_all_the_time() {
    let (room, outside) = places();
    for n in 0..50 {
        room.file(&format!("sub/{n}/b.txt"), "text\n");
        fs::create_dir_all(outside.join(n.to_string())).unwrap();
        fs::write(outside.join(format!("{n}/private")), "secret\n").unwrap();
    }
    let (sub, kept) = (room.desk.root.join("sub"), room.desk.root.join("sub.kept"));
    let is_over = Arc::new(AtomicBool::new(false));
    let over = is_over.clone();
    let swapping = std::thread::spawn(move || {
        while !over.load(Ordering::Relaxed) {
            swap(&sub, &outside);
            fs::remove_file(&sub).unwrap();
            fs::rename(&kept, &sub).unwrap();
        }
    });
    let calls = [
        call("read", json!({ "path": "sub/a.txt" })),
        call("grep", json!({ "pattern": "secret|text" })),
        call("glob", json!({ "pattern": "*" })),
        call("glob", json!({ "pattern": "*", "path": "sub" })),
        call("list", json!({ "path": "sub/1" })),
    ];
    for n in 0..1_000 {
        let call = &calls[n % calls.len()];
        let said = run(&room.desk, call).await.answer.text;
        let shown = said.replace("secret|text", "");
        assert!(!shown.contains("secret") && !shown.contains("private"), "{call:?}: {said}");
    }
    is_over.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
}
