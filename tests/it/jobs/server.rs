//! Servers that run as background jobs: who reaches them, and for how long. On a system without the full sandbox these
//! tests say that they are skipped.

use super::{ONCE, background, start};
use crate::grants::call;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::sandbox::is_full;
use crate::kit::setup::{Setup, kill};
use crate::review::scene::Scene;
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, TcpStream};
use std::process::Stdio;

/// A port that nobody is asked about, because programs that choose none get such a port.
const HIGH: u16 = 62_000;
/// A port that the user is asked about.
pub(crate) const PORT: u16 = 8_123;
pub(super) const OPEN: &str = "y open it   n leave it closed";

/// Serves one word on a port, again and again.
pub(crate) fn serve(port: u16, word: &str) -> String {
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
    start_server(&scene, 1, &serve(HIGH, "hello"));
    assert_eq!(reached(&scene, HIGH), "hello");
    // a second job reaches it too
    let read = "read x; exec 3<>/dev/tcp/localhost/62000 && cat <&3; read y";
    start(&scene, read);
    call(&scene, "job_input", json!({ "id": 2, "text": "go\n" }), ONCE);
    let said = call(&scene, "job", json!({ "action": "read", "id": 2, "wait_s": 600 }), "").0;
    assert!(said.starts_with("hello"), "{said}");
    // the network is one of its own: nobody outside reaches the server by its port
    assert_eq!(holders(&scene.nvim.setup).len(), 1);
    call(&scene, "job", json!({ "action": "stop", "id": 1 }), "");
    assert!(reached(&scene, HIGH).contains("Connection refused"));
}

#[test]
fn another_conversation_has_another_network_and_another_folder_for_temporary_files() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    start_server(&scene, 1, &serve(HIGH, "hello"));
    call(&scene, "shell", json!({ "command": "echo mine > /tmp/mine.txt" }), ONCE);
    scene.nvim.keys(":Caliban new other<CR>");
    scene.wait_chat("Project");
    assert!(reached(&scene, HIGH).contains("Connection refused"));
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
        start_server(&scene, 1, &serve(HIGH, "hello"));
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
    start_server(&scene, 1, &serve(HIGH, "hello"));
    let before = holders(&scene.nvim.setup);
    kill(before[0]);
    let (said, _) = call(&scene, "shell", background("echo listening; read x"), ONCE);
    assert!(said.contains("[job 2 runs in the background"), "{said}");
    assert!(reached(&scene, HIGH).contains("Connection refused"));
    let after = holders(&scene.nvim.setup);
    assert!(after.len() == 1 && after != before, "{after:?}");
}

/// Starts a job, about whose port a question may come.
pub(crate) fn begin(scene: &Scene, command: &str) {
    let n = scene.server.requests().len();
    scene.server.reply(Reply::new().call(&format!("c{n}"), "shell", background(command)));
    scene.server.reply(Reply::said(&format!("Begun {n}.")));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.nvim.keys(ONCE);
    scene.wait_chat(&format!("Begun {n}."));
}

/// Waits until the question about the port takes keys, and answers it.
pub(super) fn answer(scene: &Scene, keys: &str) {
    let open = "local chat = require('caliban.chat.chats').current
        local it = chat and chat.question
        return it ~= nil and it.armed == true and not it.answered";
    scene.nvim.wait_screen(OPEN);
    scene.nvim.wait(|it| it.lua_str(open) == "true", "a question that takes keys");
    scene.nvim.keys(keys);
    scene.nvim.wait_gone(OPEN);
    scene.nvim.wait(|it| it.phase() != "asking", "the end of the question");
}

/// The port of this machine by which the job is reached, from the last sentence that names it.
pub(super) fn outside(text: &str) -> u16 {
    let (_, rest) = text.rsplit_once(" is open at 127.0.0.1:").unwrap();
    rest.split(|it: char| !it.is_ascii_digit()).next().unwrap().parse().unwrap()
}

/// What this machine reads from a port. Empty if nothing answers there.
pub(super) fn read_from(port: u16) -> String {
    let mut said = String::new();
    if let Ok(mut it) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
        let _ = it.read_to_string(&mut said);
    }
    said
}

#[test]
fn the_user_is_asked_about_the_port_of_a_job_and_reaches_it_until_taking_it_back() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.size(160, 40));
    let command = serve(PORT, "hello");
    begin(&scene, &command);
    scene.wait_chat(&format!("Open port {PORT} of job 1 on this machine? Job 1 ("));
    // nothing is open before the answer
    assert!(!scene.nvim.transcript().contains("is open at"));
    answer(&scene, ONCE);
    scene.wait_chat(&format!("Port {PORT} of job 1 is open at 127.0.0.1:"));
    let port = outside(&scene.nvim.transcript());
    assert_eq!(read_from(port), "hello");
    assert_eq!(read_from(port), "hello");
    // the list of jobs and the model's list name it
    scene.nvim.lua("require('caliban').ask('/jobs')", &[]);
    let named = if port == PORT {
        format!("port {port} open")
    } else {
        format!("port {PORT} open as {port}")
    };
    scene.nvim.wait_screen(&named);
    scene.nvim.keys("<Esc>");
    let (said, _) = call(&scene, "job", json!({ "action": "list" }), "");
    assert!(said.ends_with(&format!("; {named}")), "{said}");
    // the port closes with the job, and opens with the next one without a question
    call(&scene, "job", json!({ "action": "stop", "id": 1 }), "");
    scene.nvim.wait(|_| read_from(port).is_empty(), "the end of the port");
    begin(&scene, &command);
    scene.wait_chat(&format!("Port {PORT} of job 2 is open at 127.0.0.1:"));
    let port = outside(&scene.nvim.transcript());
    assert_eq!(read_from(port), "hello");
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen(&format!("1: open port {PORT} of a job on this machine"));
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("You are asked again before: open port");
    scene.nvim.wait(|_| read_from(port).is_empty(), "the end of the port");
    assert_eq!(reached(&scene, PORT), "hello");
}

/// What this machine gets for a path from an HTTP server.
fn page(port: u16, path: &str) -> String {
    let mut said = String::new();
    if let Ok(mut it) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
        let _ = write!(it, "GET {path} HTTP/1.0\r\n\r\n");
        let _ = it.read_to_string(&mut said);
    }
    said
}

#[test]
fn a_real_http_server_is_reached_by_its_user_and_by_commands() {
    if !is_full() {
        return;
    }
    let port = PORT + 2;
    let scene = Scene::start(|it| it.file("site/page.txt", "a page\n").size(160, 40));
    begin(&scene, &format!("python3 -um http.server -d site {port}"));
    answer(&scene, ONCE);
    scene.wait_chat(&format!("Port {port} of job 1 is open at 127.0.0.1:"));
    let outside = outside(&scene.nvim.transcript());
    for _ in 0..3 {
        assert!(page(outside, "/page.txt").ends_with("\r\n\r\na page\n"));
    }
    assert!(page(outside, "/").contains("page.txt"));
    assert!(page(outside, "/none").starts_with("HTTP/1.0 404"));
    let get = format!(
        "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://localhost:{port}/page.txt\").read())'"
    );
    let (said, _) = call(&scene, "shell", json!({ "command": get }), ONCE);
    assert_eq!(said, "b'a page\\n'");
}

#[test]
fn a_server_that_listens_at_ipv6_only_is_reached_at_ipv4() {
    if !is_full() || std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        return;
    }
    let port = PORT + 3;
    let scene = Scene::start(|it| it.size(160, 40));
    let serving = serve(port, "six").replace(
        &format!("create_server((\"127.0.0.1\", {port}))"),
        &format!("create_server((\"::1\", {port}), family=socket.AF_INET6)"),
    );
    begin(&scene, &serving);
    answer(&scene, ONCE);
    scene.wait_chat(&format!("Port {port} of job 1 is open at 127.0.0.1:"));
    assert_eq!(read_from(outside(&scene.nvim.transcript())), "six");
}

#[test]
fn a_port_that_is_in_use_on_this_machine_opens_as_another_one() {
    if !is_full() {
        return;
    }
    // another run of this test has another port
    let bind = |port| std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok();
    let used = (8_200..9_000).find_map(bind).unwrap();
    let port = used.local_addr().unwrap().port();
    let scene = Scene::start(|it| it.size(160, 40));
    begin(&scene, &serve(port, "hello"));
    answer(&scene, ONCE);
    let why = format!(", because port {port} of this machine is in use or needs more rights.");
    scene.nvim.wait(|it| it.transcript().replace("\n  ", " ").contains(&why), "the reason");
    let other = outside(&scene.nvim.transcript());
    assert_ne!(other, port);
    assert_eq!(read_from(other), "hello");
    let (said, _) = call(&scene, "job", json!({ "action": "list" }), "");
    assert!(said.ends_with(&format!("; port {port} open as {other}")), "{said}");
    drop(used);
}

#[test]
fn a_port_that_the_user_leaves_closed_is_not_asked_about_again() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.size(160, 40));
    let command = serve(PORT, "hello");
    begin(&scene, &command);
    answer(&scene, ":Caliban deny<CR>");
    call(&scene, "job", json!({ "action": "stop", "id": 1 }), "");
    begin(&scene, &command);
    // the question about another port comes after the look at which the first one would have been asked about
    let other = serve(PORT + 1, "other");
    begin(&scene, &other);
    scene.wait_chat(&format!("Open port {} of job 3 on this machine?", PORT + 1));
    assert!(!scene.nvim.transcript().contains(&format!("Open port {PORT} ")));
    assert!(!scene.nvim.transcript().contains("is open at"));
    // a question about a job that has ended is withdrawn
    scene.nvim.lua("require('caliban').ask('/jobs')", &[]);
    scene.nvim.wait_screen("3: job 3");
    scene.nvim.keys("3<CR>");
    scene.nvim.wait_gone(OPEN);
    scene.wait_chat("was stopped by the user.");
}

#[test]
fn an_unattended_run_opens_only_the_ports_that_its_arguments_name() {
    if !is_full() {
        return;
    }
    for is_named in [false, true] {
        let server = crate::kit::server::Server::start();
        let setup = Setup::new().anthropic(&server).config("{ mode = 'auto' }");
        let serving =
            format!("mkfifo go; {} > said & read x < go; echo over", serve(PORT, "hello"));
        server.reply(Reply::new().call("c1", "shell", background(&serving)));
        let read = json!({ "action": "read", "id": 1, "wait_s": 600 });
        server.reply(Reply::new().call("c2", "job", read));
        server.reply(Reply::said("Done."));
        let named = PORT.to_string();
        let mut arguments = vec!["run", "--mode", "auto"];
        if is_named {
            arguments.extend(["--open", &named]);
        }
        arguments.push("serve it");
        let mut command = setup.program(&arguments);
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(run.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mut said = String::new();
        for line in lines {
            said += &line;
            if line.contains("is open at 127.0.0.1:") {
                assert_eq!(read_from(outside(&line)), "hello");
                fs::write(setup.path("go"), "\n").unwrap();
            } else if line.contains("Only commands of this conversation reach it") {
                fs::write(setup.path("go"), "\n").unwrap();
            }
        }
        assert!(run.wait().unwrap().success(), "{said}");
        assert_eq!(said.contains("is open at"), is_named, "{said}");
        let told = format!("`caliban run --open {PORT}` opens it on this machine.");
        assert_eq!(said.contains(&told), !is_named, "{said}");
    }
}

#[test]
fn a_job_at_many_ports_does_not_flood_its_user() {
    if !is_full() {
        return;
    }
    let server = crate::kit::server::Server::start();
    let setup = Setup::new().anthropic(&server).config("{ mode = 'auto' }");
    let listen = "python3 -uc 'import socket, time\nall = [socket.create_server((\"127.0.0.1\", 20000 + n)) for n in range(40)]\n\
                  time.sleep(9999)'";
    let serving = format!("mkfifo go; {listen} > said & read x < go; echo over");
    server.reply(Reply::new().call("c1", "shell", background(&serving)));
    let read = json!({ "action": "read", "id": 1, "wait_s": 600 });
    server.reply(Reply::new().call("c2", "job", read));
    server.reply(Reply::said("Done."));
    let mut command = setup.program(&["run", "--mode", "auto", "serve it"]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(run.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut said = String::new();
    for line in lines {
        if line.contains("listens at more ports") {
            fs::write(setup.path("go"), "\n").unwrap();
        }
        said += &line;
    }
    assert!(run.wait().unwrap().success(), "{said}");
    assert_eq!(said.matches("listens at port").count(), 16, "{said}");
    assert_eq!(said.matches("listens at more ports").count(), 1, "{said}");
}
