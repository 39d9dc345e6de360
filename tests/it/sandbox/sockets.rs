//! Sockets in the file system: a command reaches those of its conversation's commands, and none of programs outside,
//! however they were bound or named.

use super::{is_full, shell};
use crate::grants::call;
use crate::review::scene::Scene;
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Listens at the path that is its argument, and says so.
const SERVER: &str = "import socket, sys
own = socket.socket(socket.AF_UNIX)
own.bind(sys.argv[1])
own.listen()
print('listens', flush=True)
sys.stdin.read()
";
/// Listens at the path that is its first argument, goes into the folder that is its second one, and says so. With a third
/// argument it tells nobody what it does, like an agent with keys.
const MOVING: &str = "import ctypes, os, socket, sys
own = socket.socket(socket.AF_UNIX)
own.bind(sys.argv[1])
own.listen()
os.chdir(sys.argv[2])
if len(sys.argv) > 3:
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
print('listens', flush=True)
sys.stdin.read()
";
/// Connects to each path that is its argument.
const CLIENT: &str = "import errno, socket, sys
for path in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        print(path, 'OPEN')
    except OSError as fault:
        print(path, errno.errorcode[fault.errno])
";

/// A server that listens at a path, started in a folder, perhaps by another program.
fn server(folder: &Path, before: &[&str], path: &str) -> Child {
    served(folder, &[before, &["python3", "-c", SERVER, path]].concat())
}

fn served(folder: &Path, words: &[&str]) -> Child {
    let mut server = Command::new(words[0]);
    server.args(&words[1..]).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = server.spawn().unwrap();
    let mut said = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "listens\n", "{words:?}");
    server
}

#[test]
fn a_socket_of_a_program_outside_is_not_reached_however_it_was_bound_or_named() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.file("sub/deep/a.txt", "").file("client.py", CLIENT));
    let root = scene.nvim.setup.path("");
    let mut servers = vec![
        server(&root, &[], "relative"),
        server(&root.join("sub"), &[], "../from below"),
        server(&root, &["unshare", "-Urn"], root.join("elsewhere").to_str().unwrap()),
    ];
    let listeners = ["old", "one", "away"].map(|it| UnixListener::bind(root.join(it)).unwrap());
    fs::rename(root.join("old"), root.join("renamed")).unwrap();
    fs::hard_link(root.join("one"), root.join("two")).unwrap();
    fs::rename(root.join("away"), root.join("sub/deep/away")).unwrap();
    let said = shell(
        &scene,
        "python3 client.py relative 'from below' elsewhere renamed one two sub/deep/away $PWD/relative ./sub/../renamed",
    );
    assert!(!said.contains("OPEN") && said.matches(" E").count() == 9, "{said}");
    // without the sandbox all of them answer
    let mut client = Command::new("python3");
    client.args(["client.py", "relative", "renamed", "two", "sub/deep/away", "elsewhere"]);
    let said = client.current_dir(&root).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout).matches("OPEN").count(), 5, "{said:?}");
    for it in &mut servers {
        it.kill().unwrap();
        it.wait().unwrap();
    }
    drop(listeners);
}

#[test]
fn a_socket_with_a_relative_name_is_not_reached_wherever_its_program_has_gone_since() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| {
        it.file("sub/a.txt", "").file("other/deep/a.txt", "").file("client.py", CLIENT)
    });
    let root = scene.nvim.setup.path("");
    for n in 0..3_000 {
        fs::write(root.join(format!("f{n}")), "").unwrap();
    }
    let (sub, deep) = (root.join("sub"), root.join("other/deep"));
    let moving = |folder: &Path, words: &[&str]| {
        served(folder, &[&["python3", "-c", MOVING], words].concat())
    };
    let mut servers = vec![
        moving(&root, &["sub/down", "sub"]),
        moving(&root, &["away", "/"]),
        moving(&sub, &["../beside", "/tmp"]),
        moving(&deep, &["far", "/"]),
        moving(&deep, &["silent", "/", "silent"]),
    ];
    let paths = "sub/down away beside other/deep/far other/deep/silent";
    let said = shell(&scene, &format!("python3 client.py {paths}"));
    assert!(!said.contains("OPEN") && said.matches(" E").count() == 5, "{said}");
    let mut client = Command::new("python3");
    client.arg("client.py").args(paths.split(' '));
    let said = client.current_dir(&root).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout).matches("OPEN").count(), 5, "{said:?}");
    for it in &mut servers {
        it.kill().unwrap();
        it.wait().unwrap();
    }
}

#[test]
fn a_command_reaches_the_sockets_of_the_conversation_s_jobs_wherever_they_are() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.file("client.py", CLIENT).file("server.py", SERVER));
    let job = "python3 server.py relative < <(sleep 600) & python3 server.py /tmp/absolute < <(sleep 600) & \
        python3 server.py before < <(sleep 600) & until [ -S before ] && mv before after; do sleep 0.05; done; \
        until [ -S relative ] && [ -S /tmp/absolute ]; do sleep 0.05; done; echo all; wait";
    let input = json!({ "command": job, "background": true });
    let (mut said, _) = call(&scene, "shell", input, ":Caliban approve<CR>");
    while !said.contains("all") {
        let read = json!({ "action": "read", "id": 1, "wait_s": 600 });
        said += &call(&scene, "job", read, "").0;
    }
    let said = shell(
        &scene,
        "until python3 client.py relative /tmp/absolute after | grep -c OPEN | grep 3; do sleep 0.1; done",
    );
    assert!(said.starts_with('3'), "{said}");
}
