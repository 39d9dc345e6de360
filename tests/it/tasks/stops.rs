//! The user stops a turn while its subagents are at work.

use super::{is_of, task};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::review::scene::{Scene, edit, nine};
use serde_json::{Value, json};
use std::fs;

/// A moment of a turn with three subagents or more.
struct Moment {
    name: &'static str,
    tasks: usize,
    /// The first reply to the n-th task.
    reply: fn(usize) -> Reply,
    wait: fn(&Scene, usize),
}

/// A command that runs until it is stopped.
const SLEEP: &str = "sleep 98765";

fn shell(command: &str) -> Reply {
    Reply::new().call("s1", "shell", json!({ "command": command }))
}

fn endless(_: usize) -> Reply {
    Reply::said("I begin.").gate()
}

fn sleeping(scene: &Scene) -> usize {
    let all = scene.nvim.setup.processes();
    all.iter().filter(|it| it.1.trim() == SLEEP).count()
}

const MOMENTS: [Moment; 6] = [
    Moment { name: "beginning", tasks: 3, reply: endless, wait: |_, _| () },
    Moment {
        name: "streaming",
        tasks: 3,
        reply: endless,
        wait: |scene, before| scene.server.wait_count(before + 4),
    },
    Moment {
        name: "commands",
        tasks: 3,
        reply: |_| shell(SLEEP),
        wait: |scene, _| scene.nvim.wait(|_| sleeping(scene) == 3, "three commands"),
    },
    Moment {
        name: "question",
        tasks: 3,
        reply: |_| shell("echo hi"),
        wait: |scene, _| scene.nvim.wait_question(),
    },
    Moment {
        name: "review",
        tasks: 3,
        reply: |n| {
            let line = n * 3;
            let change = (&*format!("l{line}"), &*format!("L{line}"));
            Reply::new().call("e1", "edit", edit("a.txt", &[change]))
        },
        wait: |scene, _| scene.wait_pending(3),
    },
    Moment {
        name: "in line",
        tasks: 6,
        reply: endless,
        wait: |scene, before| scene.server.wait_count(before + 5),
    },
];

/// Has the n-th turn with tasks come to this moment, and stops the turn.
fn stop_at(scene: &Scene, nth: usize, moment: &Moment) {
    let before = scene.server.count();
    let prompt = |n: usize| format!("{} {n}.", moment.name);
    let calls = (1..=moment.tasks).fold(Reply::new(), |reply, n| {
        reply.call(&format!("{} t{n}", moment.name).replace(' ', "-"), "task", task(&prompt(n)))
    });
    scene.server.reply(calls);
    for n in 1..=moment.tasks {
        scene.server.hold(is_of(&prompt(n)), (moment.reply)(n));
    }
    let stop = "vim.api.nvim_create_autocmd('User', { pattern = 'CalibanToolStart', once = true,
        callback = function() require('caliban').stop() end })";
    if moment.name == "beginning" {
        scene.nvim.lua(stop, &[]);
    }
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.server.wait_count(before + 1);
    (moment.wait)(scene, before);
    if moment.name != "beginning" {
        scene.nvim.keys(":Caliban stop<CR>");
    }
    let stopped = |nvim: &Nvim| nvim.transcript().matches("! Stopped.").count();
    scene.nvim.wait(|nvim| stopped(nvim) == nth, "the end of the turn");
    scene.nvim.wait_phase("idle");
}

#[test]
fn a_stop_at_any_moment_answers_every_call_and_leaves_no_subagent_behind() {
    let rules = format!("{{ permissions = {{ {{ allow = 'shell', command = '{SLEEP}' }} }} }}");
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(&rules).size(160, 40));
    scene.nvim.keys(":edit a.txt<CR>:Caliban<CR>");
    scene.wait_chat("Project");
    for (at, moment) in MOMENTS.iter().enumerate() {
        stop_at(&scene, at + 1, moment);
        let said = format!("After {}.", moment.name);
        scene.server.reply(Reply::said(&said));
        scene.nvim.lua("require('caliban').ask('and?')", &[]);
        scene.wait_idle(&said);
        let last = scene.server.requests().pop().unwrap();
        let told = last.last_user_text();
        let answers = last.answers();
        let mine: Vec<_> = answers.iter().rev().take(moment.tasks).collect();
        for (id, answer) in mine {
            assert!(id.starts_with(&moment.name.replace(' ', "-")), "{}: {answers:?}", moment.name);
            assert!(
                answer.starts_with("The subagent was stopped before it had finished")
                    || answer.starts_with("Not run"),
                "{}: {id}: {answer}",
                moment.name
            );
        }
        assert!(told.contains("The user stopped the turn"), "{}: {told}", moment.name);
        assert!(!scene.nvim.transcript().contains("y once"), "{}", moment.name);
        scene.nvim.wait(|_| sleeping(&scene) == 0, "the end of the commands");
    }
    scene.nvim.wait_hunks(3);
    let Scene { server, nvim } = scene;
    nvim.quit_with(":qa!<CR>");
    nvim.wait_program_end();
    let mut children = 0;
    for entry in fs::read_dir(nvim.setup.sessions()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let ending = name.rsplit_once('.').map_or("", |it| it.1);
        if ending == "json" {
            let file: Value = serde_json::from_slice(&fs::read(entry.path()).unwrap()).unwrap();
            children += usize::from(file["parent"]["session"] == "main");
        } else if ending == "journal" {
            let journal = fs::read_to_string(entry.path()).unwrap();
            assert!(journal.lines().count() <= 1, "{name}: {journal}");
        }
    }
    assert!((16..=19).contains(&children), "{children}");
    let nvim = Nvim::start(&nvim.setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("After in line.");
    assert!(!nvim.transcript().contains("Interrupted"), "{}", nvim.transcript());
    server.reply(Reply::said("All is well."));
    nvim.ask("and?", "All is well.");
}
