#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use super::*;
use crate::message::CallId;
use crate::tool::ProcessNews;
use crate::tool::disk::Disk;
use expect_test::expect;
use std::fs;
use std::io::Read;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::sync::mpsc::{self, UnboundedReceiver};

struct Room {
    dir: TempDir,
    desk: Desk,
    chat: UnboundedReceiver<(CallId, String)>,
    news: UnboundedReceiver<ProcessNews>,
}

fn room() -> Room {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    let (output, chat) = mpsc::unbounded_channel();
    let (processes, news) = mpsc::unbounded_channel();
    let desk = Desk {
        workspace: Arc::new(Disk { root: root.clone() }),
        home: None,
        output,
        overflow: root.join("overflow"),
        processes,
        root,
    };
    Room { dir, desk, chat, news }
}

async fn shell(desk: &Desk, args: Value) -> Done {
    run(desk, CallId("c".into()), args).await.unwrap()
}

#[tokio::test]
async fn commands() {
    let room = room();
    let mut said = String::new();
    for command in [
        "echo out; echo err >&2; echo out",
        "pwd",
        "true",
        "echo no; exit 3",
        "kill -9 $$",
        "no_such_command 2>/dev/null",
        "cat",
        r"printf '\033[31mred\033[0m\n1%%\r2%%\r3%%\n\377'",
        "echo $TERM $PAGER $NVIM$NVIM_LISTEN_ADDRESS",
    ] {
        let done = shell(&room.desk, json!({ "command": command })).await;
        said += &["> ", command, "\n(", &done.summary, ")\n", &done.text, "\n"].concat();
    }
    let said = said.replace(&room.desk.root.display().to_string(), "ROOT");
    expect![[r#"
        > echo out; echo err >&2; echo out
        (exit 0)
        out
        err
        out
        > pwd
        (exit 0)
        ROOT
        > true
        (exit 0)
        [no output]
        > echo no; exit 3
        (exit 3)
        no
        [exit code 3]
        > kill -9 $$
        (killed)
        [no output]
        [ended by signal 9]
        > no_such_command 2>/dev/null
        (exit 127)
        [no output]
        [exit code 127]
        > cat
        (exit 0)
        [no output]
        > printf '\033[31mred\033[0m\n1%%\r2%%\r3%%\n\377'
        (exit 0)
        red
        3%
        �
        > echo $TERM $PAGER $NVIM$NVIM_LISTEN_ADDRESS
        (exit 0)
        dumb cat
    "#]]
    .assert_eq(&said);
}

#[tokio::test]
async fn output_streams_and_the_group_is_told() {
    let mut room = room();
    shell(&room.desk, json!({ "command": "echo one; printf two" })).await;
    let mut streamed = String::new();
    while let Ok((_, text)) = room.chat.try_recv() {
        streamed += &text;
    }
    assert_eq!(streamed, "one\ntwo\n");
    let Ok(ProcessNews::Began(group)) = room.news.try_recv() else { panic!("it did not begin") };
    assert_eq!(room.news.try_recv(), Ok(ProcessNews::Ended(group)));
}

#[tokio::test]
async fn a_flood_is_bounded() {
    let mut room = room();
    let command =
        "yes 'a line of output' | head -c 20000000; head -c 1000000 /dev/zero | tr '\\0' x";
    let done = shell(&room.desk, json!({ "command": command })).await;
    assert!(done.text.len() < 40_000, "{}", done.text.len());
    assert!(done.text.contains(" left out; the whole is in "), "{}", &done.text[..200]);
    let kept = fs::read_dir(room.dir.path().join("overflow")).unwrap().next().unwrap().unwrap();
    assert!(kept.metadata().unwrap().len() > 20_000_000);
    while let Ok((_, text)) = room.chat.try_recv() {
        assert!(text.len() < 100_000);
    }
}

#[tokio::test]
async fn what_holds_the_output_does_not_hold_the_call() {
    let done = shell(&room().desk, json!({ "command": "sleep 1000 & echo started" })).await;
    assert_eq!(
        done.text,
        "started\n[exit code 0; what it left running in its process group was ended]"
    );
}

#[tokio::test]
async fn time_out_ends_the_group() {
    let command = "trap '' TERM; echo started; sleep 1000; sleep 1000";
    let done = shell(&room().desk, json!({ "command": command, "timeout_s": 1 })).await;
    expect![[r#"
        (timed out)
        started
        [ended after 1 s: time-out. Give a longer timeout_s, or run less]"#]]
    .assert_eq(&format!("({})\n{}", done.summary, done.text));
}

#[tokio::test]
async fn a_dropped_call_ends_its_grandchildren() {
    let mut room = room();
    let desk = room.desk.clone();
    let command = "mkfifo held; echo ready; (trap '' TERM INT; exec 3>held; sleep 1000) & wait";
    let task = tokio::spawn(async move { shell(&desk, json!({ "command": command })).await });
    let (_, text) = room.chat.recv().await.unwrap();
    assert_eq!(text, "ready\n");
    let fifo = room.desk.root.join("held");
    let mut held = tokio::task::spawn_blocking(|| fs::File::open(fifo).unwrap()).await.unwrap();
    task.abort();
    assert!(task.await.is_err());
    // The end comes only when nobody holds the other side any more.
    let read = tokio::task::spawn_blocking(move || held.read(&mut [0]).unwrap());
    assert_eq!(read.await.unwrap(), 0);
}

#[test]
fn secrets_and_the_editor_stay_out() {
    for name in ["NVIM", "VIMRUNTIME", "OPENAI_API_KEY", "GH_TOKEN", "my_secret_x", "PGPASSWORD"] {
        assert!(withheld(name), "{name}");
    }
    for name in ["PATH", "HOME", "VIMINIT", "SSH_AUTH_SOCK", "CARGO_HOME"] {
        assert!(!withheld(name), "{name}");
    }
}
