//! A coordinator's workers as the user sees them: the lines below the call that started them, the keys on these lines,
//! the picker, the API, and the words in the winbar.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::review::scene::Scene;
use crate::tasks::{has_got, is_of};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

fn worker(role: &str, description: &str, prompt: &str) -> Value {
    let owns = if role == "implementer" { vec!["a.txt"] } else { Vec::new() };
    json!({ "role": role, "description": description, "prompt": prompt, "owns": owns })
}

fn handed_off() -> Reply {
    let report = json!({
        "what_was_done": "All.", "evidence": "a.txt:1", "unresolved_risks": "none",
        "exact_next_step": "none", "status": "done"
    });
    Reply::said(&report.to_string())
}

/// The lines of the transcript about workers.
fn rows(scene: &Scene) -> String {
    let chat = scene.nvim.transcript();
    let is_row = |it: &&str| it.starts_with("    w");
    chat.lines().filter(is_row).map(str::trim_start).collect::<Vec<_>>().join("\n")
}

/// A coordinator with three workers: the first looks at a file, the second asks, the third begins a reply.
fn coordinating() -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", "one\n").size(190, 45));
    scene.nvim.keys(":Caliban<CR><Esc>:Caliban mode coordinator<CR>");
    scene.wait_chat("Coordinator mode is on");
    let seen = "_G.asked = {}
        require('caliban').on('Ask', function(data) table.insert(_G.asked, data) end)";
    scene.nvim.lua(seen, &[]);
    let workers = [
        worker("explorer", "Find the callers", "Find."),
        worker("implementer", "語 %{v:x} `q`\n\u{1b}[31m<b>|", "Change."),
        worker("verifier", "Run the tests", "Check."),
    ];
    scene.server.reply(Reply::new().call("s1", "spawn_workers", json!({ "workers": workers })));
    scene.server.reply(Reply::new().call("a1", "await_workers", json!({})));
    let read = || json!({ "path": "a.txt" });
    scene.server.reply_to(has_got("Find.", 0), Reply::new().call("r1", "read", read()));
    let run = json!({ "command": "echo hi" });
    scene.server.reply_to(has_got("Change.", 0), Reply::new().call("c1", "shell", run));
    scene.server.reply_to(has_got("Change.", 1), handed_off());
    scene.server.hold(is_of("Check."), Reply::said("I begin.").gate());
    scene
}

#[test]
fn the_keys_on_a_workers_line_open_it_write_to_it_and_stop_it() {
    let scene = coordinating();
    let gate =
        scene.server.hold(has_got("Find.", 1), Reply::new().gate().call("r2", "list", json!({})));
    scene.server.reply_to(has_got("Find.", 2), handed_off());
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.nvim.wait_question();
    let shown = |text: &str| scene.nvim.wait(|_| rows(&scene).contains(text), text);
    scene.nvim.wait_screen("1/12 requests");
    shown("waits: your answer");
    expect![[r#"
            w1 explorer     Find the callers    thinking
            w2 implementer  語 %{v:x} `q` <b>|  waits: your answer
            w3 verifier     Run the tests       thinking"#]]
    .assert_eq(&rows(&scene));
    assert_eq!(scene.nvim.hl_of("waits: your answer"), ["CalibanDim", "CalibanAsk"]);
    scene.nvim.wait_screen("1 worker waits for you");
    let asked = scene.nvim.lua_json("return _G.asked[1]");
    assert_eq!((&asked["kind"], &asked["worker"]), (&json!("subagent"), &json!("w2")));
    assert_eq!(asked["subagent"], "main-w2");
    // the keys on the line of a worker
    scene.nvim.go_to_transcript("w1 explorer");
    scene.nvim.keys("gf");
    scene.nvim.wait_session("main-w1");
    scene.nvim.keys("<C-^>");
    scene.nvim.wait_session("main");
    scene.nvim.go_to_transcript("w1 explorer");
    scene.nvim.keys("m");
    scene.nvim.wait_screen("Message to w1: ");
    scene.nvim.keys("also look at b.txt<CR>");
    scene.wait_chat("You told w1: also look at b.txt");
    scene.nvim.go_to_transcript("w3 verifier");
    scene.nvim.keys("x");
    shown("stopped");
    gate.finish();
    shown("w1 explorer     Find the callers    finished");
    let all = scene.server.requests();
    let child = all.iter().rfind(|it| is_of("Find.")(it)).unwrap();
    assert!(child.outline().contains("also look at b.txt"), "{}", child.outline());
    let status = |nvim: &Nvim| nvim.lua_str("return require('caliban').status()");
    let waits = |nvim: &Nvim| status(nvim).contains(" · 1 worker waits for you");
    scene.nvim.wait(waits, "the worker in the statusline");
    scene.server.reply(Reply::said("All is done."));
    scene.nvim.keys(":Caliban deny<CR>");
    scene.wait_idle("All is done.");
    expect![[r#"
            w1 explorer     Find the callers    finished
            w2 implementer  語 %{v:x} `q` <b>|  finished
            w3 verifier     Run the tests       stopped"#]]
    .assert_eq(&rows(&scene));
    // after the turn a key on the line opens the chat, and stops nothing
    scene.nvim.go_to_transcript("w3 verifier");
    scene.nvim.keys("x");
    scene.nvim.wait_screen("The worker w3 has ended.");
}

#[test]
fn the_chat_of_a_worker_shows_a_message_to_it_and_names_the_key_that_leads_back() {
    let scene = coordinating();
    let gate =
        scene.server.hold(has_got("Find.", 1), Reply::new().gate().call("r2", "list", json!({})));
    scene.server.reply_to(has_got("Find.", 2), handed_off());
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.nvim.wait_question();
    scene.nvim.wait_screen("? w2: Run `echo hi`?");
    scene.nvim.keys(":Caliban new other<CR>");
    scene.nvim.wait_session("other");
    scene.nvim.keys(":Caliban resume main<CR>");
    scene.nvim.wait_session("main");
    scene.nvim.lua("require('caliban').worker('w1', 'message', 'also look at b.txt')", &[]);
    scene.wait_chat("You told w1: also look at b.txt");
    scene.nvim.go_to_transcript("w1 explorer");
    scene.nvim.keys("gf");
    scene.nvim.wait_session("main-w1");
    scene.nvim.wait_screen("joins this turn: also look at b.txt");
    scene.nvim.wait_screen("<C-^> back to main · ");
    scene.nvim.go_to_transcript("Find.");
    scene.nvim.wait_screen("<C-^> back to main · ");
    scene.nvim.keys("<C-^>");
    scene.nvim.wait_session("main");
    gate.finish();
}

#[test]
fn the_picker_and_the_api_open_workers_write_to_them_and_stop_them() {
    let scene = coordinating();
    scene.server.hold(has_got("Find.", 1), Reply::said("I look.").gate());
    scene.nvim.keys(":Caliban workers<CR>");
    scene.nvim.wait_screen("No workers yet.");
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.nvim.wait_question();
    scene.nvim.wait(
        |_| rows(&scene).matches("main").count() == 0 && rows(&scene).lines().count() == 3,
        "rows",
    );
    let select = "_G.picked = {}
        vim.ui.select = function(items, opts, done)
          table.insert(_G.picked, { opts.prompt, vim.tbl_map(opts.format_item or tostring, items) })
          _G.choose = function(i) done(items[i], i) end
        end
        vim.ui.input = function(opts, done) done('by the picker') end";
    scene.nvim.lua(select, &[]);
    let choose = |n: usize| scene.nvim.lua(&format!("_G.choose({n})"), &[]);
    scene.nvim.keys(":Caliban workers<CR>");
    choose(3);
    choose(2);
    expect![[r#"{ { "Worker", { "w3  verifier     Run the tests       thinking", "w2  implementer  語 %{v:x} `q` <b>|  waits: your answer", "w1  explorer     Find the callers    thinking" } }, { "Worker w1", { "Open its chat", "Send it a message", "Stop it" } } }"#]].assert_eq(&scene.nvim.lua_str("return vim.inspect(_G.picked)"));
    scene.wait_chat("You told w1: by the picker");
    scene.nvim.lua("require('caliban').worker('w1', 'message', 'by the API')", &[]);
    scene.wait_chat("You told w1: by the API");
    let api = "return vim.tbl_map(function(it) return it.worker .. ' ' .. it.role end, require('caliban').workers())";
    assert_eq!(scene.nvim.lua_json(api), json!(["3 verifier", "2 implementer", "1 explorer"]));
    scene.nvim.lua("require('caliban').worker(1, 'stop')", &[]);
    scene.nvim.lua("require('caliban').worker('w9', 'stop')", &[]);
    scene.nvim.wait_screen("There is no worker w9 here.");
    scene.nvim.wait(|_| rows(&scene).lines().next().unwrap().contains("stopped"), "w1 stopped");
    scene.nvim.lua("require('caliban').worker(3, 'open')", &[]);
    scene.nvim.wait_session("main-w3");
    scene.wait_chat("I begin.");
    scene.nvim.keys(":Caliban resume main<CR>");
    scene.nvim.wait_session("main");
    scene.nvim.keys(":Caliban stop<CR>");
    scene.wait_idle("Stopped.");
    assert!(rows(&scene).lines().all(|it| it.contains("stopped")), "{}", rows(&scene));
    assert!(!scene.nvim.lua_str("return require('caliban').status()").contains("worker"));
}

#[test]
fn the_lines_of_workers_keep_to_one_row_in_a_narrow_window_and_fold() {
    let scene = coordinating();
    scene.server.hold(has_got("Find.", 1), Reply::said("I look.").gate());
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.nvim.wait_question();
    scene.nvim.wait_screen("1/12 requests");
    scene.nvim.wait(|_| rows(&scene).contains("your answer"), "a worker that waits");
    scene.nvim.go_to_transcript("w2 implementer");
    scene.nvim.keys("<C-w>o");
    let check = |columns: u16, expected: Expect| {
        scene.nvim.resize(columns, 45);
        let seen = |nvim: &Nvim| {
            let screen = nvim.screen();
            let from = screen.lines().skip_while(|it| !it.contains("w1 explorer")).take(3);
            from.map(str::trim).collect::<Vec<_>>().join("\n")
        };
        scene.nvim.wait_expect(expected, seen);
    };
    check(
        90,
        expect![[r#"
      w1 explorer     Find the callers    thinking                           1/12 requests
      w2 implementer  語 %{v:x} `q` <b>|  waits: your answer                 1/12 requests
      w3 verifier     Run the tests       thinking                           0/12 requests"#]],
    );
    check(
        64,
        expect![[r#"
      w1 explorer     Find the callers    thinking
      w2 implementer  語 %{v:x} `q` <b>|  waits: your answer
      w3 verifier     Run the tests       thinking"#]],
    );
    check(
        50,
        expect![[r#"
      w1 explorer     Find th…  thinking
      w2 implementer  語 %{v:…  waits: your answer
      w3 verifier     Run the…  thinking"#]],
    );
    check(
        40,
        expect![[r#"
      w1 explorer     thinking
      w2 implementer  waits: your answer
      w3 verifier     thinking"#]],
    );
    // a yank takes the whole line
    scene.nvim.keys("yy");
    let yanked = scene.nvim.lua_str("return vim.fn.getreg('\"')");
    assert_eq!(yanked, "    w2 implementer  語 %{v:x} `q` <b>|  waits: your answer\n");
    scene.nvim.go_to_transcript("▾ spawn_workers");
    scene.nvim.keys("<CR>");
    scene.nvim.wait_transcript("▸ spawn_workers");
    assert_eq!(rows(&scene), "");
    scene.nvim.keys("<CR>");
    scene.nvim.wait(|_| rows(&scene).contains("your answer"), "the lines again");
    // the chat does not show the call's result, which would repeat the workers
    assert_eq!(scene.nvim.transcript().matches("w1").count(), 1, "{}", scene.nvim.transcript());
}
