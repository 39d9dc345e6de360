//! Servers that run as background jobs: who reaches them, and for how long. On a system without the full sandbox these
//! tests say that they are skipped.

use super::{ONCE, background, start};
use crate::grants::call;
use crate::kit::nvim::Nvim;
use crate::kit::sandbox::is_full;
use crate::kit::setup::{Setup, kill};
use crate::review::scene::Scene;
use serde_json::json;

/// Serves one word on a port, again and again.
pub(super) fn serve(port: u16, word: &str) -> String {
    format!(
        "python3 -uc 'import socket\ns = socket.create_server((\"127.0.0.1\", {port}))\nprint(\"listening\")\n\
         while True:\n c = s.accept()[0]\n c.sendall(b\"{word}\")\n c.close()'"
    )
}

/// Starts a server as a job, and waits until it listens.
pub(super) fn start_server(scene: &Scene, job: u32, command: &str) {
    let mut said = start(scene, command);
    while !said.contains("listening") {
        said = call(scene, "job", json!({ "action": "read", "id": job, "wait_s": 600 }), "").0;
        assert!(!said.contains("ended"), "{said}");
    }
}

/// What a command of the conversation reads from a port of its own machine.
fn reached(scene: &Scene, port: u16) -> String {
    let read = format!("exec 3<>/dev/tcp/localhost/{port} && cat <&3");
    call(scene, "shell", json!({ "command": read }), ONCE).0
}

/// The processes that hold networks of conversations.
fn holders(setup: &Setup) -> Vec<u32> {
    let all = setup.processes();
    all.iter().filter(|it| it.1.contains("sandbox-network")).map(|it| it.0).collect()
}

fn wait_no_holder(setup: &Setup, nvim: &Nvim) {
    nvim.wait(|_| holders(setup).is_empty(), "the end of the network");
}

#[test]
fn later_commands_of_the_conversation_reach_a_server_that_runs_as_a_job() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    start_server(&scene, 1, &serve(8000, "hello"));
    assert_eq!(reached(&scene, 8000), "hello");
    // a second job reaches it too
    let read = "read x; exec 3<>/dev/tcp/localhost/8000 && cat <&3; read y";
    start(&scene, read);
    call(&scene, "job_input", json!({ "id": 2, "text": "go\n" }), ONCE);
    let said = call(&scene, "job", json!({ "action": "read", "id": 2, "wait_s": 600 }), "").0;
    assert!(said.starts_with("hello"), "{said}");
    // the network is one of its own: nobody outside reaches the server by its port
    assert_eq!(holders(&scene.nvim.setup).len(), 1);
    call(&scene, "job", json!({ "action": "stop", "id": 1 }), "");
    assert!(reached(&scene, 8000).contains("Connection refused"));
}

#[test]
fn another_conversation_has_another_network_and_another_folder_for_temporary_files() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    start_server(&scene, 1, &serve(8000, "hello"));
    call(&scene, "shell", json!({ "command": "echo mine > /tmp/mine.txt" }), ONCE);
    scene.nvim.keys(":Caliban new other<CR>");
    scene.wait_chat("Project");
    assert!(reached(&scene, 8000).contains("Connection refused"));
    let (said, _) = call(&scene, "shell", json!({ "command": "cat /tmp/mine.txt" }), ONCE);
    assert!(said.contains("No such file or directory"), "{said}");
    assert_eq!(holders(&scene.nvim.setup).len(), 2);
}

#[test]
fn nothing_of_a_network_outlives_the_editor_the_program_or_the_conversation() {
    if !is_full() {
        return;
    }
    for end in ["quit", "kill the program", "kill the editor"] {
        let scene = Scene::start(|it| it);
        start_server(&scene, 1, &serve(8000, "hello"));
        let Scene { nvim, .. } = scene;
        let setup = nvim.setup.clone();
        assert_eq!(holders(&setup).len(), 1);
        match end {
            "quit" => drop(nvim.quit_with(":qa<CR>")),
            "kill the editor" => nvim.kill(),
            _ => {
                let is_program = |it: &&(u32, String)| it.1.ends_with("caliban");
                kill(setup.processes().iter().find(is_program).unwrap().0);
            }
        }
        wait_no_holder(&setup, &nvim);
    }
}

#[test]
fn a_killed_holder_is_replaced() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    start_server(&scene, 1, &serve(8000, "hello"));
    let before = holders(&scene.nvim.setup);
    kill(before[0]);
    let (said, _) = call(&scene, "shell", background("echo listening; read x"), ONCE);
    assert!(said.contains("[job 2 runs in the background"), "{said}");
    assert!(reached(&scene, 8000).contains("Connection refused"));
    let after = holders(&scene.nvim.setup);
    assert!(after.len() == 1 && after != before, "{after:?}");
}
