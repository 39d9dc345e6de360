//! The shell tool with its real supervisor: the output of commands, and that no process outlives the call.

use crate::kit::alone;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use caliban::message::{CallId, Input, ToolAnswer, ToolCall};
use caliban::reach::{Folders, Reach};
use caliban::tool::disk::Disk;
use caliban::tool::{self, Desk};
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc::{self, UnboundedReceiver};

pub(crate) struct Room {
    dir: TempDir,
    pub(crate) desk: Desk,
    chat: UnboundedReceiver<(CallId, String)>,
}

/// The process must run no other test: see `alone`.
pub(crate) fn room() -> Room {
    assert!(alone::is_alone());
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    let (output, chat) = mpsc::unbounded_channel();
    let folders = Folders { root: root.clone(), ..Folders::default() };
    let desk = Desk {
        reach: Reach::new(&folders),
        rules: Arc::default(),
        confinement: tool::confinement::Confinement::default(),
        jobs: tool::jobs::Jobs::default(),
        workspace: Arc::new(Disk { root: root.clone(), is_apart: false }),
        session: String::new(),
        project: None,
        home: None,
        config: std::path::PathBuf::new(),
        output,
        tools: tool::own(),
        seen: None,
        agreed: None,
        skills: tool::skills::Usable::All,
        secrets: tool::environment::Secrets::default(),
        overflow: root.join("overflow"),
        program: env!("CARGO_BIN_EXE_caliban").into(),
        web: caliban::web::Web::new(Vec::new(), std::path::PathBuf::new()),
        servers: caliban::mcp::Servers::default(),
        root,
    };
    Room { dir, desk, chat }
}

async fn shell(desk: &Desk, input: Value) -> ToolAnswer {
    run(desk, "shell", input).await
}

pub(crate) async fn run(desk: &Desk, tool: &str, input: Value) -> ToolAnswer {
    let call = ToolCall { id: CallId("c".into()), tool: tool.into(), input: Input::Json(input) };
    tool::run(desk, &tool::Calls::default().of(desk, &call)).await.answer
}

#[tokio::test]
async fn output_and_exit_code_are_reported() {
    if alone::has_passed() {
        return;
    }
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
async fn output_is_streamed_while_the_command_runs() {
    if alone::has_passed() {
        return;
    }
    let mut room = room();
    shell(&room.desk, json!({ "command": "echo one; printf two" })).await;
    let mut streamed = String::new();
    while let Ok((_, text)) = room.chat.try_recv() {
        streamed += &text;
    }
    assert_eq!(streamed, "one\ntwo\n");
}

#[tokio::test]
async fn a_huge_output_is_cut_and_kept_in_a_file() {
    if alone::has_passed() {
        return;
    }
    let mut room = room();
    let command =
        "yes 'a line of output' | head -c 20000000; head -c 1000000 /dev/zero | tr '\\0' x";
    let done = shell(&room.desk, json!({ "command": command })).await;
    assert!(done.text.len() < 40_000, "{}", done.text.len());
    assert!(done.text.contains(" left out; the whole output is in "), "{}", &done.text[..200]);
    let kept = fs::read_dir(room.dir.path().join("overflow")).unwrap().next().unwrap().unwrap();
    assert!(kept.metadata().unwrap().len() > 20_000_000);
    while let Ok((_, text)) = room.chat.try_recv() {
        assert!(text.len() < 100_000);
    }
}

#[tokio::test]
async fn a_huge_output_of_invalid_utf_8_is_cut() {
    if alone::has_passed() {
        return;
    }
    let mut room = room();
    let command = "head -c 1000000 /dev/zero | tr '\\0' '\\200'; sleep 1000";
    let desk = room.desk.clone();
    let task = tokio::spawn(async move { shell(&desk, json!({ "command": command })).await });
    // the chat shows the output before its line has ended
    let (_, text) = room.chat.recv().await.unwrap();
    assert!(text.contains('\u{fffd}'));
    task.abort();
    assert!(task.await.is_err());
}

#[tokio::test]
async fn a_background_child_holding_the_output_does_not_delay_the_answer() {
    if alone::has_passed() {
        return;
    }
    let done = shell(&room().desk, json!({ "command": "sleep 1000 & echo started" })).await;
    assert_eq!(done.text, "started\n[exit code 0; the processes it left running were ended]");
}

#[tokio::test]
async fn a_time_out_ends_the_process_group() {
    if alone::has_passed() {
        return;
    }
    let command = "trap '' TERM; echo started; sleep 1000; sleep 1000";
    let done = shell(&room().desk, json!({ "command": command, "timeout_s": 3 })).await;
    expect![[r#"
        (timed out)
        started
        [timed out after 3 s and was stopped. Give a longer timeout_s, run less, or run the command in the background]"#]]
    .assert_eq(&format!("({})\n{}", done.summary, done.text));
}

#[tokio::test]
async fn dropping_a_call_ends_the_commands_grandchildren() {
    if alone::has_passed() {
        return;
    }
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
    // The read returns only once no process has the pipe open.
    let read = tokio::task::spawn_blocking(move || held.read(&mut [0]).unwrap());
    assert_eq!(read.await.unwrap(), 0);
}

/// The command lines of the living processes of this room.
pub(crate) fn left(room: &Room) -> Vec<String> {
    living(room).into_iter().map(|it| it.1).collect()
}

/// The living processes of this room, found by their working folder.
fn living(room: &Room) -> Vec<(u32, String)> {
    let lines = fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|it| {
        let folder = fs::read_link(it.path().join("cwd")).ok()?;
        let line = fs::read(it.path().join("cmdline")).ok()?;
        let lives = folder == room.desk.root && !line.is_empty();
        let pid = it.file_name().to_str()?.parse().ok()?;
        lives.then(|| (pid, String::from_utf8_lossy(&line).replace('\0', " ")))
    });
    lines.collect()
}

/// Commands that start a process in the background which leaves its process group, its session, its parent or its
/// output.
#[cfg(target_os = "linux")]
const DEMONS: [&str; 7] = [
    "sleep 1000 >/dev/null 2>&1 &",
    "setsid sleep 1000 >/dev/null 2>&1 &",
    "nohup setsid -f sleep 1000 >/dev/null 2>&1",
    "( ( setsid sleep 1000 <&- >/dev/null 2>&1 & ) & )",
    "env -i setsid bash -c 'trap \"\" TERM HUP INT; sleep 1000; sleep 1000' &",
    "setsid bash -c 'setsid sleep 1000 & setsid sleep 1000 & wait' >/dev/null 2>&1 &",
    "setsid bash -c 'sleep 1000 & kill -STOP $$' >/dev/null 2>&1 & disown -a",
];

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_child_process_outlives_a_command_that_ended() {
    if alone::has_passed() {
        return;
    }
    for demon in DEMONS {
        let room = room();
        let done = shell(&room.desk, json!({ "command": format!("{demon}\necho started") })).await;
        let text = "started\n[exit code 0; the processes it left running were ended]";
        assert_eq!((done.text.as_str(), left(&room)), (text, Vec::new()), "{demon}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_child_process_outlives_a_command_that_timed_out() {
    if alone::has_passed() {
        return;
    }
    let room = room();
    let command = format!("{}\necho started; sleep 1000", DEMONS.join("\n"));
    let done = shell(&room.desk, json!({ "command": command, "timeout_s": 1 })).await;
    assert_eq!((done.summary.as_str(), left(&room)), ("timed out", Vec::new()), "{}", done.text);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_child_process_outlives_a_command_that_was_stopped() {
    if alone::has_passed() {
        return;
    }
    let mut room = room();
    let (desk, command) = (room.desk.clone(), DEMONS.join("\n") + "\necho ready; wait");
    let task = tokio::spawn(async move { shell(&desk, json!({ "command": command })).await });
    let (_, text) = room.chat.recv().await.unwrap();
    assert_eq!(text, "ready\n");
    task.abort();
    assert!(task.await.is_err());
    gone(&room).await;
}

/// Waits until no process of the room lives.
pub(crate) async fn gone(room: &Room) {
    until(room, <[String]>::is_empty).await;
}

/// Waits until `is_so` returns true for the living processes of the room.
async fn until(room: &Room, is_so: impl Fn(&[String]) -> bool) {
    let wait = async {
        while !is_so(&left(room)) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(super::kit::LIMIT, wait).await;
    assert!(waited.is_ok(), "{:?}", left(room));
}

#[tokio::test]
async fn killing_its_group_or_supervisor_ends_the_command() {
    if alone::has_passed() {
        return;
    }
    let done = shell(&room().desk, json!({ "command": "sleep 1000 & kill 0; sleep 1000" })).await;
    assert_eq!(done.text, "[no output]\n[ended by signal 15]");
    let room = room();
    let done = shell(&room.desk, json!({ "command": "echo on; kill -9 $PPID; sleep 1000" })).await;
    // the line may also say that processes were left running and ended
    assert!(done.text.starts_with("on\n[its exit code is unknown"), "{}", done.text);
    gone(&room).await;
}

/// A command that kills its own supervisor and every process above the supervisor, up to the program (here the test).
#[cfg(target_os = "linux")]
fn without_supervisor() -> String {
    let program = std::process::id();
    format!(
        "pid=$PPID; while [ $pid != {program} ] && [ $pid != 1 ]; do above=\"$above $pid\"; \
         pid=$(sed 's/.*) . //; s/ .*//' /proc/$pid/stat); done; kill -9 $above"
    )
}

/// Commands that start background processes which are hard to end: many processes, or an endless chain of them.
#[cfg(target_os = "linux")]
const FLOODS: [&str; 2] = [
    "for n in {1..100}; do setsid bash -c 'sleep 1000 & sleep 1000' >/dev/null 2>&1 & done",
    // each process starts its successor and ends
    "chain() { sleep 0.01; chain & }; export -f chain; setsid bash -c chain >/dev/null 2>&1 &",
];

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_child_outlives_its_supervisor() {
    if alone::has_passed() {
        return;
    }
    for demon in DEMONS.into_iter().chain(FLOODS) {
        for order in ["before", "after"] {
            let room = room();
            let kill = without_supervisor();
            let command = match order {
                "before" => format!("{kill}\n{demon}\necho started"),
                _ => format!("{demon}\necho started; {kill}"),
            };
            let done = shell(&room.desk, json!({ "command": command })).await;
            // the command may end before it prints `started`, because its supervisor is dead
            let heard = done.text.replacen("[no output]\n", "started\n", 1);
            let is_said = heard.starts_with("started\n[its exit code is unknown");
            assert!(is_said, "{order} {demon}: {}", done.text);
            // on a busy machine many processes end later than the call
            gone(&room).await;
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_child_outlives_a_stop_after_the_supervisor_was_killed() {
    if alone::has_passed() {
        return;
    }
    let mut room = room();
    let demons = DEMONS.join("\n");
    let command = format!("{}\n{demons}\necho ready; sleep 1000", without_supervisor());
    let desk = room.desk.clone();
    let task = tokio::spawn(async move { shell(&desk, json!({ "command": command })).await });
    room.chat.recv().await.unwrap();
    task.abort();
    // The call may have ended already, because its supervisor is dead.
    let _ = task.await;
    gone(&room).await;
}

/// A suspended supervisor does not notice the stop.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_child_outlives_a_stop_after_the_supervisor_was_suspended() {
    if alone::has_passed() {
        return;
    }
    let mut room = room();
    let halt = without_supervisor().replace("kill -9", "kill -STOP");
    let command = format!("{halt}\n{}\necho ready; sleep 1000", DEMONS.join("\n"));
    let desk = room.desk.clone();
    let task = tokio::spawn(async move { shell(&desk, json!({ "command": command })).await });
    room.chat.recv().await.unwrap();
    task.abort();
    let _ = task.await;
    gone(&room).await;
}

/// At the end of a command, the program's other children go on: a child that it has started, and a child that it has
/// adopted.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn other_children_of_the_program_are_not_ended() {
    if alone::has_passed() {
        return;
    }
    let room = room();
    let other = std::process::Command::new("sh")
        .args(["-c", "sleep 1000 & exec sleep 1000"])
        .current_dir(&room.desk.root)
        .spawn();
    let mut other = other.unwrap();
    shell(&room.desk, json!({ "command": "true" })).await;
    let orphan = std::process::Command::new("sh")
        .args(["-c", "setsid sleep 1000 & true"])
        .current_dir(&room.desk.root)
        .status();
    assert!(orphan.unwrap().success());
    // Each shell has replaced itself with its command.
    let others = ["sleep 1000 "; 3];
    until(&room, |alive| alive == others).await;
    let command = format!("{}\nsetsid sleep 2000 & sleep 2000", without_supervisor());
    shell(&room.desk, json!({ "command": command })).await;
    assert_eq!(left(&room), others);
    for (pid, _) in living(&room) {
        super::kit::setup::kill(pid);
    }
    other.wait().unwrap();
}

#[tokio::test]
async fn a_command_gets_a_terminal_on_demand() {
    if alone::has_passed() {
        return;
    }
    let command = "stty size; echo $TERM; tty >/dev/null && echo has one; echo out > /dev/tty";
    let done = shell(&room().desk, json!({ "command": command, "terminal": true })).await;
    assert_eq!(done.text, "24 80\nxterm-256color\nhas one\nout");
    let command = "[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo no terminal";
    assert_eq!(shell(&room().desk, json!({ "command": command })).await.text, "no terminal");
}

#[tokio::test]
async fn a_missing_working_folder_is_reported() {
    if alone::has_passed() {
        return;
    }
    let room = room();
    fs::remove_dir_all(&room.desk.root).unwrap();
    let done = shell(&room.desk, json!({ "command": "true" })).await;
    assert_eq!(done.text, "The command could not be started: no such file or directory.");
}

#[test]
fn a_command_can_be_interrupted_although_the_program_ignores_interrupts() {
    let server = Server::start();
    let script = "trap '' INT QUIT\nexec \"$KIT_BIN\"";
    let nvim = Nvim::start(&Setup::new().anthropic(&server).started_by(script));
    let command = json!({ "command": "grep SigIgn /proc/self/status" });
    server.reply(Reply::new().call("c1", "shell", command));
    server.reply(Reply::said("Done."));
    nvim.lua("require('caliban').ask('go')", &[]);
    nvim.wait_question();
    nvim.command("Caliban approve");
    nvim.wait_transcript("Done.");
    let answer = server.requests().pop().unwrap().answer("c1");
    let line = answer.lines().find_map(|it| it.strip_prefix("SigIgn:")).unwrap();
    let ignored = u64::from_str_radix(line.trim(), 16).unwrap();
    // the bits of SIGINT and SIGQUIT
    assert_eq!(ignored & 0b110, 0, "{answer}");
}
