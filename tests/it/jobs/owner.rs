//! The owner of background jobs, without a conversation.

use crate::kit::{LIMIT, alone};
use crate::shell::{Room, gone, left, room, run};
use caliban::message::ToolAnswer;
use caliban::tool::jobs::{Jobs, Notice};
use serde_json::{Value, json};
use std::fs;
use tokio::sync::mpsc::UnboundedReceiver;

fn with_jobs() -> (Room, UnboundedReceiver<Notice>) {
    let mut room = room();
    let (jobs, notices) = Jobs::begin(0);
    room.desk.jobs = jobs;
    (room, notices)
}

async fn start(room: &Room, command: &str) -> ToolAnswer {
    run(&room.desk, "shell", json!({ "command": command, "background": true })).await
}

async fn job(room: &Room, input: Value) -> ToolAnswer {
    run(&room.desk, "job", input).await
}

async fn send(room: &Room, text: &str) -> ToolAnswer {
    run(&room.desk, "job_input", json!({ "id": 1, "text": text })).await
}

/// Waits until the next job ends, and returns the note about its end.
async fn ended(notices: &mut UnboundedReceiver<Notice>) -> String {
    let wait = async {
        loop {
            if let Notice::Ended { note, .. } = notices.recv().await.unwrap() {
                return note;
            }
        }
    };
    tokio::time::timeout(LIMIT, wait).await.unwrap()
}

/// Reads from the beginning until the output contains a text.
async fn wait_for(room: &Room, text: &str) -> ToolAnswer {
    loop {
        let all = job(room, json!({ "action": "read", "id": 1, "cursor": 0 })).await;
        if all.text.contains(text) {
            return all;
        }
        let more = job(room, json!({ "action": "read", "id": 1, "wait_s": 60 })).await;
        let goes_on = !more.failed && more.job_end.is_none();
        assert!(goes_on || more.text.contains(text), "{}", more.text);
    }
}

#[tokio::test]
async fn a_command_that_ends_soon_does_not_become_a_job() {
    if alone::has_passed() {
        return;
    }
    let (room, mut notices) = with_jobs();
    let done = start(&room, "echo in use; exit 1").await;
    let text = "in use\n[the command ended with exit code 1; it did not become a job]";
    assert_eq!((done.text.as_str(), done.summary.as_str()), (text, "exit 1"));
    assert_eq!(job(&room, json!({ "action": "list" })).await.text, "There are no jobs.");
    assert!(notices.try_recv().is_err());
}

#[tokio::test]
async fn a_job_that_ignores_sigterm_is_killed() {
    if alone::has_passed() {
        return;
    }
    let (room, mut notices) = with_jobs();
    start(&room, "trap '' TERM; echo on; while :; do read x; done < <(sleep 1000)").await;
    let done = job(&room, json!({ "action": "stop", "id": 1 })).await;
    assert!(done.text.contains("[job 1 was ended by signal 9"), "{}", done.text);
    assert_eq!(done.job_end, Some(1));
    assert_eq!(left(&room), Vec::<String>::new());
    assert!(ended(&mut notices).await.ends_with("was ended by signal 9."));
    // the output of a stopped job can still be read
    let again = job(&room, json!({ "action": "read", "id": 1, "cursor": 0 })).await;
    assert!(again.text.starts_with("on\n[job 1 was ended"), "{}", again.text);
    let sent = send(&room, "a\n").await;
    assert!(sent.failed && sent.text.contains("so it takes no input"), "{}", sent.text);
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_open_is_killed_when_its_job_ends() {
    if alone::has_passed() {
        return;
    }
    let (room, mut notices) = with_jobs();
    start(&room, "setsid sleep 1000 & echo on; read x").await;
    send(&room, "\n").await;
    let note = ended(&mut notices).await;
    let end = "ended with exit code 0; the processes it left running were ended.";
    assert!(note.ends_with(end), "{note}");
    assert_eq!(left(&room), Vec::<String>::new());
}

#[tokio::test]
async fn a_job_on_a_terminal_prompts_and_takes_control_characters() {
    if alone::has_passed() {
        return;
    }
    let (room, mut notices) = with_jobs();
    let command = "trap 'echo caught; exit 5' INT; read -p 'Name? ' x; echo hi $x; while :; do sleep 0.1; done";
    let input = json!({ "command": command, "background": true, "terminal": true });
    let done = run(&room.desk, "shell", input).await;
    assert!(done.text.starts_with("Name? \n[job 1 runs"), "{}", done.text);
    assert!(!send(&room, "Ann\n").await.failed);
    wait_for(&room, "Name? Ann\nhi Ann\n").await;
    let sent = send(&room, "\u{3}").await;
    assert!(!sent.failed, "{}", sent.text);
    assert!(ended(&mut notices).await.ends_with("ended with exit code 5."));
    wait_for(&room, "caught").await;
}

#[tokio::test]
async fn input_that_a_job_does_not_read_is_reported() {
    if alone::has_passed() {
        return;
    }
    let (room, _notices) = with_jobs();
    start(&room, "echo on; sleep 1000").await;
    let mut said = send(&room, &"x".repeat(4000)).await;
    // writes until the pipe is full
    for _ in 0..500 {
        if said.failed {
            break;
        }
        said = send(&room, &"x".repeat(4000)).await;
    }
    assert!(said.text.contains("it does not read its input now"), "{}", said.text);
    let long = send(&room, &"x".repeat(4001)).await;
    assert!(long.text.starts_with("text: it has 4001 bytes"), "{}", long.text);
    let empty = send(&room, "").await;
    assert!(empty.text.starts_with("text: it is empty."), "{}", empty.text);
}

#[tokio::test]
async fn at_most_eight_jobs_run_and_they_end_with_their_conversation() {
    if alone::has_passed() {
        return;
    }
    let (room, mut notices) = with_jobs();
    for _ in 0..8 {
        assert!(!start(&room, "trap '' TERM; echo on; sleep 1000").await.failed);
    }
    let more = start(&room, "echo on; sleep 1000").await;
    assert!(more.failed, "{}", more.text);
    let text = "background: 8 jobs are already running (1, 2, 3, 4, 5, 6, 7, 8); no more may run";
    assert!(more.text.starts_with(text), "{}", more.text);
    job(&room, json!({ "action": "stop", "id": 3 })).await;
    ended(&mut notices).await;
    assert!(start(&room, "echo on; sleep 1000").await.text.contains("job 9 runs"));
    room.desk.jobs.stop_all();
    gone(&room).await;
}

#[tokio::test]
async fn jobs_end_with_their_owner() {
    if alone::has_passed() {
        return;
    }
    let (mut room, _notices) = with_jobs();
    start(&room, "echo on; setsid sleep 1000 & sleep 1000").await;
    room.desk.jobs = Jobs::default();
    gone(&room).await;
    let text = start(&room, "echo on").await.text;
    assert_eq!(text, "Background jobs are not possible here.");
}

#[tokio::test]
async fn a_flood_of_output_is_bounded() {
    if alone::has_passed() {
        return;
    }
    let (room, mut notices) = with_jobs();
    start(
        &room,
        "yes 'a line of output' | head -c 100000000; head -c 10000000 /dev/zero; echo; echo end",
    )
    .await;
    ended(&mut notices).await;
    let done = job(&room, json!({ "action": "read", "id": 1, "cursor": 0 })).await;
    assert!(done.text.len() < 40_000, "{}", done.text.len());
    let note = "[earlier lines left out; the first 50 MB is in ";
    assert!(done.text.starts_with(note), "{}", &done.text[..100]);
    assert!(done.text.contains("\nend\n[job 1 ended with exit code 0"), "{}", done.text);
    let kept = fs::read_dir(room.desk.root.join("overflow")).unwrap().next().unwrap().unwrap();
    assert!((49_000_000..=50_000_000).contains(&kept.metadata().unwrap().len()));
}
