//! Background jobs, from the call that starts them to their end. No job outlives its conversation.

#[cfg(target_os = "linux")]
mod asked;
mod owner;
#[cfg(target_os = "linux")]
pub(crate) mod server;

use crate::grants::call;
use crate::kit::chat::assert_grows;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::setup::{Setup, kill};
use crate::review::scene::Scene;
use serde_json::{Value, json};
use std::fs;

const ONCE: &str = ":Caliban approve<CR>";
/// Waits until something is written to the pipe `go`.
const WAITER: &str = "mkfifo go; echo ready; read x < go; exit 3";
const ECHO: &str = "echo ready; while read x; do echo got $x; done";

fn background(command: &str) -> Value {
    json!({ "command": command, "background": true })
}

fn start(scene: &Scene, command: &str) -> String {
    call(scene, "shell", background(command), ONCE).0
}

fn read(job: u32) -> Value {
    json!({ "action": "read", "id": job, "wait_s": 600 })
}

/// Lets the job with `WAITER` end.
fn end_waiter(scene: &Scene) {
    fs::write(scene.nvim.setup.path("go"), "\n").unwrap();
}

/// Waits until no process of a command is left.
fn wait_gone(setup: &Setup, nvim: &Nvim, part: &str) {
    let is_left = |_: &Nvim| !setup.processes().iter().any(|it| it.1.contains(part));
    nvim.wait(is_left, "the end of the processes");
}

#[test]
fn a_job_is_started_read_and_stopped() {
    let scene = Scene::start(|it| it.size(160, 40));
    scene.server.reply(Reply::new().call("c1", "shell", background(ECHO)));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.wait_chat(&format!("Run `{ECHO}` in the background?"));
    scene.server.reply(Reply::said("It runs."));
    scene.nvim.keys(ONCE);
    scene.wait_idle("It runs.");
    let said = scene.answer(2, "c1");
    assert_eq!(said, "ready\n[job 1 runs in the background; cursor 6. Go on with the tool job]");
    scene.nvim.wait_screen("1 job");
    let (said, was_asked) = call(&scene, "job", json!({ "action": "list" }), "");
    assert!(said.starts_with("job 1: running; started ") && !was_asked, "{said}");
    let (said, was_asked) = call(&scene, "job", json!({ "action": "stop", "id": 1 }), "");
    assert!(
        !was_asked && said.starts_with("[no new output]\n[job 1 was ended by signal"),
        "{said}"
    );
    wait_gone(&scene.nvim.setup, &scene.nvim, "while read");
    scene.nvim.wait_gone("1 job");
    // the model knows the end of the job already
    assert!(!scene.told_next().contains("Job 1"));
    let (said, _) = call(&scene, "job", read(7), "");
    assert_eq!(said, "id: there is no job 7. The jobs are: 1.");
    assert_grows(scene.server.requests());
}

/// Each read has what came since the last one, and nothing is skipped, whether the job runs or has ended.
#[test]
fn a_read_that_does_not_wait_has_the_output_since_the_last_answer() {
    let scene = Scene::start(|it| it.size(160, 40));
    let setup = &scene.nvim.setup;
    let command = "mkfifo go on; echo ready; read x < go; echo one; read x < on; echo two; exit 3";
    let of = |input: Value| call(&scene, "job", input, "").0;
    let waiting = json!({ "action": "read", "id": 1, "wait_s": 600 });
    let mut said = start(&scene, command);
    while !said.contains("ready") {
        said = of(waiting.clone());
    }
    fs::write(setup.path("go"), "\n").unwrap();
    assert!(of(waiting.clone()).starts_with("one\n[job 1 running for "));
    for input in
        [json!({ "action": "read", "id": 1 }), json!({ "action": "read", "id": 1, "wait_s": 0 })]
    {
        assert!(of(input).starts_with("[no new output]\n[job 1 running for "));
    }
    fs::write(setup.path("on"), "\n").unwrap();
    scene.nvim.wait_gone("1 job");
    let said = of(json!({ "action": "read", "id": 1 }));
    assert!(said.starts_with("two\n[job 1 ended with exit code 3; cursor "), "{said}");
    assert!(of(waiting).starts_with("[no new output]\n[job 1 ended"));
}

#[test]
fn a_question_about_input_to_a_job_shows_the_text_and_refused_input_is_not_sent() {
    let scene = Scene::start(|it| it.size(160, 40));
    start(&scene, ECHO);
    let input = |text: &str| json!({ "id": 1, "text": text });
    let n = scene.server.requests().len();
    scene.server.reply(Reply::new().call("i1", "job_input", input("secret plan\n")));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.wait_chat(&format!("Send `secret plan` and Enter to job 1, `{ECHO}`?"));
    scene.server.reply(Reply::said("Not sent."));
    scene.nvim.keys(":Caliban deny<CR>");
    scene.wait_idle("Not sent.");
    assert!(scene.answer(n + 2, "i1").starts_with("Not run: the user refused"));
    let (said, was_asked) =
        call(&scene, "job_input", input("yes\n"), ":Caliban approve session<CR>");
    assert!(was_asked && said == "Sent 4 bytes to job 1.", "{said}");
    let (said, _) = call(&scene, "job", read(1), "");
    assert!(said.starts_with("got yes\n[job 1 running for "), "{said}");
    // the permission is for this job
    assert!(!call(&scene, "job_input", input("more\n"), "").1);
    start(&scene, ECHO);
    assert!(call(&scene, "job_input", json!({ "id": 2, "text": "a\n" }), ONCE).1);
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen("1: send input to job 1, echo ready");
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("You are asked again before: send input to job 1");
    assert!(call(&scene, "job_input", input("again\n"), ONCE).1);
}

#[test]
fn in_auto_mode_input_to_a_sandboxed_job_is_sent_unless_a_rule_denies_it() {
    if !crate::kit::sandbox::is_full() {
        return;
    }
    let rules = "{ { deny = 'shell', command = 'git push' } }";
    let config = format!("{{ mode = 'auto', permissions = {rules} }}");
    let scene = Scene::start(|it| it.config(&config));
    let (_, was_asked) = call(&scene, "shell", background("echo ready; cat"), ONCE);
    assert!(!was_asked);
    let send =
        |job: u32, text: &str| call(&scene, "job_input", json!({ "id": job, "text": text }), ONCE);
    assert_eq!(send(1, "hello\n"), ("Sent 6 bytes to job 1.".to_owned(), false));
    let (said, was_asked) = send(1, "cd a; git push\n");
    assert!(said.starts_with("Not run. A permission rule denies") && !was_asked, "{said}");
    let outside =
        json!({ "command": "echo ready; cat", "background": true, "outside_sandbox": "why" });
    assert!(call(&scene, "shell", outside, ONCE).1);
    assert!(send(2, "hello\n").1);
}

#[test]
fn input_to_a_job_is_judged_as_the_program_of_the_job_reads_it() {
    if !crate::kit::sandbox::is_full() {
        return;
    }
    let rules = "{ { deny = 'shell', command = 'touch' } }";
    let config = format!("{{ mode = 'auto', permissions = {rules} }}");
    let scene = Scene::start(|it| it.config(&config));
    let send =
        |job: u32, text: &str| call(&scene, "job_input", json!({ "id": job, "text": text }), ONCE);
    let reads = |job: u32, text: &str| {
        let mut said = String::new();
        while !said.contains(text) {
            let read = json!({ "action": "read", "id": job, "wait_s": 600 });
            said += &call(&scene, "job", read, "").0;
        }
    };
    // a language that runs programs
    let (_, was_asked) = call(&scene, "shell", background("echo ready; python3 -u -i"), ONCE);
    assert!(!was_asked);
    assert!(!send(1, "print('hel' + 'lo')\n").1);
    reads(1, "hello");
    let (said, was_asked) = send(1, "import os; os.system('touch ran')\n");
    assert!(said.starts_with("Not run. A permission rule denies") && !was_asked, "{said}");
    // a shell, which gets a line in pieces
    call(&scene, "shell", background("echo ready; sh"), ONCE);
    assert_eq!(send(2, "tou").0, "Sent 3 bytes to job 2.");
    let (said, _) = send(2, "ch ran\n");
    assert!(said.contains("A permission rule denies `touch ran`"), "{said}");
    assert!(!scene.nvim.setup.path("ran").exists());
}

#[test]
fn the_end_of_a_job_is_told_at_once_to_the_user_and_once_to_the_model() {
    let scene = Scene::start(|it| it);
    start(&scene, WAITER);
    let before = scene.server.count();
    end_waiter(&scene);
    let note = format!("Job 1 (`{WAITER}`) ended with exit code 3.");
    scene.wait_chat(&note);
    assert_eq!((scene.nvim.phase().as_str(), scene.server.count()), ("idle", before));
    assert!(scene.told_next().contains(&note));
    assert!(!scene.told_next().contains("Job 1"));
    assert_grows(scene.server.requests());
}

#[test]
fn stopping_a_turn_does_not_stop_its_jobs() {
    let scene = Scene::start(|it| it);
    start(&scene, WAITER);
    scene.server.reply(Reply::hang());
    scene.nvim.lua("require('caliban').ask('and now?')", &[]);
    scene.server.wait_count(3);
    scene.nvim.command("Caliban stop");
    scene.wait_chat("1 job goes on in the background. Use /jobs to see it or to stop it.");
    end_waiter(&scene);
    scene.wait_chat("ended with exit code 3.");
}

#[test]
fn the_user_stops_a_job_from_the_list() {
    let scene = Scene::start(|it| it.size(160, 40));
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    scene.nvim.keys(":Caliban jobs<CR>");
    scene.nvim.wait_screen("No background job has run here.");
    start(&scene, WAITER);
    scene.nvim.lua("require('caliban').ask('/jobs')", &[]);
    scene.nvim.wait_screen("Background jobs. Choose one to stop it:");
    scene.nvim.wait_screen(&format!("1: job 1  `{WAITER}`  running  started "));
    scene.nvim.keys("1<CR>");
    let note = format!("Job 1 (`{WAITER}`) was stopped by the user.");
    scene.wait_chat(&note);
    assert!(scene.told_next().contains(&note));
    scene.nvim.keys(":Caliban jobs<CR>");
    scene.nvim.wait_screen("was stopped by the user  started ");
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("Job 1 has already ended.");
}

#[test]
fn a_cleared_conversation_has_no_jobs() {
    let scene = Scene::start(|it| it);
    start(&scene, WAITER);
    scene.nvim.lua("require('caliban').ask('/clear')", &[]);
    wait_gone(&scene.nvim.setup, &scene.nvim, "mkfifo");
    let (said, _) = call(&scene, "job", json!({ "action": "list" }), "");
    assert_eq!(said, "There are no jobs.");
    assert!(!scene.nvim.transcript().contains("Job 1"));
}

#[test]
fn jobs_that_ended_with_the_editor_are_reported_once_as_lost() {
    for is_killed in [false, true] {
        let scene = Scene::start(|it| it);
        start(&scene, WAITER);
        let Scene { server, nvim } = scene;
        let setup = nvim.setup.clone();
        if is_killed {
            let is_program =
                |it: &&(u32, String)| it.1.ends_with("caliban") && !it.1.contains("supervisor");
            let program = setup.processes().iter().find(is_program).unwrap().0;
            kill(program);
            wait_gone(&setup, &nvim, "mkfifo");
            nvim.kill();
        } else {
            nvim.quit_with(":qa<CR>");
        }
        let scene = Scene { server, nvim: Nvim::start(&setup) };
        scene.nvim.keys(":Caliban<CR>");
        wait_gone(&setup, &scene.nvim, "mkfifo");
        let lost =
            format!("Job 1 (`{WAITER}`) is lost: it ended when the editor or Caliban ended.");
        scene.wait_chat(&lost);
        let told = scene.told_next();
        assert!(
            told.contains(&lost) && told.contains("may have changed files before that"),
            "{told}"
        );
        assert!(!scene.told_next().contains("is lost"));
        fs::remove_file(setup.path("go")).unwrap();
        let said = start(&scene, WAITER);
        assert!(said.contains("[job 2 runs in the background"), "{said}");
    }
}
