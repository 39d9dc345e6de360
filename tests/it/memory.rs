//! A command with a gigabyte of output, and with a line of 10 MB: how much of it the program holds, stores and sends.

#![cfg(target_os = "linux")]

use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;
use std::fs;
use std::process::Stdio;

/// The most memory that the program may have taken, in kB. Without a command it takes about 40,000.
const MOST: u64 = 100_000;

/// The most memory that a process has taken so far, in kB.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_gigabyte_of_output_and_a_line_of_10_mb_take_little_memory() {
    let server = Server::start();
    let command = "yes 'a line of output' | head -c 1000000000; \
        yes x | head -c 20000000 | tr -d '\\n'; echo; printf '1\\r2\\r'; echo end";
    let call = json!({ "command": command, "timeout_s": 600 });
    server.reply(Reply::new().call("c1", "shell", call));
    let names = ["yes", "head", "tr", "echo", "printf"];
    let rules = names.map(|it| json!({ "allow": "shell", "command": it }));
    let config = json!({ "permissions": rules }).to_string();
    let setup = Setup::new().anthropic(&server).file("run.json", &config);
    let mut program = setup.program(&["run", "--config", "run.json", "go"]);
    let mut program = program.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let requests = server.wait_requests(2);
    let most = peak(program.id());
    server.reply(Reply::said("Well."));
    assert!(program.wait().unwrap().success());
    let answer = requests[1].answer("c1");
    assert!(answer.len() < 40_000, "{} bytes", answer.len());
    assert!(answer.contains("\nend"), "{}", &answer[answer.len() - 200..]);
    let note = answer.lines().find(|it| it.contains(" left out; ")).unwrap();
    let file = note.split_once("the first 50 MB is in ").unwrap().1.split_once(": ").unwrap().0;
    assert!((49_000_000..=50_000_000).contains(&fs::metadata(file).unwrap().len()), "{file}");
    assert!(most < MOST, "{most} kB");
}
