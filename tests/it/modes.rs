//! The modes: the tools that the model may use in each, and how the model and the user see the mode.

use crate::kit::chat::{DIALECTS, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, edit, nine, write};
use expect_test::expect;
use serde_json::json;

/// Waits until `state()` reports this mode.
fn wait_mode(nvim: &Nvim, mode: &str) {
    let now = |nvim: &Nvim| nvim.lua_str("return require('caliban').state().mode");
    nvim.wait(|nvim| now(nvim) == mode, &format!("the mode {mode}"));
}

/// A reply with four calls: read a file, edit a file, create a file, run a command.
fn everything() -> Reply {
    Reply::new()
        .call("r1", "read", json!({"path": "a.txt"}))
        .call("e1", "edit", edit("a.txt", &[("l2", "L2")]))
        .call("w1", "write", write("b.txt", "new\n"))
        .call("c1", "shell", json!({"command": "touch c.txt"}))
}

#[test]
fn plan_mode_allows_only_reading_in_every_dialect() {
    let told = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.reply(everything());
        server.reply(Reply::said("A plan."));
        server.reply(Reply::said("Now I may."));
        let setup = Setup::new().file("a.txt", nine()).speaking(dialect, &server);
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>:Caliban mode plan<CR>");
        nvim.wait_screen(" · plan · ");
        nvim.wait_transcript("! Mode plan: nothing is edited or run.");
        nvim.ask("go", "A plan.");
        let answers = server.requests()[1].answers();
        assert!(answers[0].1.contains("l2"), "{answers:?}");
        let refused = |(_, text): &&(String, String)| text.starts_with("Not run: ");
        assert_eq!(answers.iter().filter(refused).count(), 3, "{answers:?}");
        assert_eq!(setup.on_disk("a.txt"), Some(nine()));
        assert_eq!((setup.on_disk("b.txt"), setup.on_disk("c.txt")), (None, None));
        assert_eq!(nvim.pending(), 0);
        nvim.keys(":Caliban mode ask<CR>");
        wait_mode(&nvim, "ask");
        nvim.ask("and now?", "Now I may.");
        let [first, .., last] = &server.requests()[..] else { panic!("no requests") };
        assert_eq!(first.json["tools"], last.json["tools"]);
        assert_eq!(first.system_text(), last.system_text());
        let both = format!("{}\n--\n{}", first.last_user_text(), last.last_user_text());
        // some dialects put an empty line between the texts of one message
        both.replace("\n\n", "\n")
    });
    expect![[r#"
        <notice>
        Plan mode is on: calls that edit or run something are refused until the user leaves it. Do not change anything yet. First read the code that the task touches, and ask about what you cannot find out. Then call `plan` once, alone and last, with the whole plan: so exact that somebody else could carry it out without asking, and as short as that allows. The user approves the plan, sends it back with comments, or drops it. A plan that was sent back is submitted again as a whole.
        </notice>
        go
        --
        <notice>
        Ask mode is on: you may propose edits and commands, and the user decides on each.
        </notice>
        and now?"#]].assert_eq(common(&told));
}

#[test]
fn a_mode_switched_during_a_turn_applies_to_waiting_calls() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    let two = Reply::new().call("c1", "shell", json!({"command": "touch c.txt"})).call(
        "c2",
        "shell",
        json!({"command": "touch d.txt"}),
    );
    scene.nvim.keys(":Caliban<CR>");
    scene.ask(two);
    scene.server.reply(Reply::said("I see."));
    scene.wait_phase("asking");
    scene.nvim.wait_screen("touch c.txt`?");
    scene.nvim.lua("require('caliban').mode('plan')", &[]);
    scene.wait_idle("I see.");
    scene.nvim.wait_gone("touch c.txt`?");
    assert_eq!((scene.on_disk("c.txt"), scene.on_disk("d.txt")), (None, None));
    expect![[r#"
        user: please
        assistant: shell(c1) | shell(c2)
        user: [c1] Not run: the user refused, and says: they chose plan mode instead | [c2] Not run: plan mode is on, and `shell` edits or runs something. Use only tools that read, then say what you would do. The user leaves plan mode with `:Caliban mode ask`.
        user: <notice>
        Plan mode is on: calls that edit or run something are refused until the user leaves it. Do not change anything yet. First read the code that the task touches, and ask about what you cannot find out. Then call `plan` once, alone and last, with the whole plan: so exact that somebody else could carry it out without asking, and as short as that allows. The user approves the plan, sends it back with comments, or drops it. A plan that was sent back is submitted again as a whole.
        </notice>"#]].assert_eq(&scene.request(2).outline());
}

/// A new session begins in the mode of the settings.
#[test]
fn a_session_keeps_its_mode_over_a_restart() {
    let server = Server::start();
    server.reply(Reply::said("One."));
    server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
    server.reply(Reply::said("Two."));
    server.reply(Reply::said("Three."));
    let setup = Setup::new().file("a.txt", nine()).anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.ask("one", "One.");
    nvim.keys(":Caliban mode plan<CR>");
    wait_mode(&nvim, "plan");
    nvim.quit_with(":qa!<CR>");
    let nvim = Nvim::start(&setup.config("{ mode = 'ask' }"));
    nvim.keys(":Caliban<CR>");
    wait_mode(&nvim, "plan");
    nvim.ask("two", "Two.");
    assert!(server.requests()[2].answer("e1").starts_with("Not run: "));
    assert!(server.requests()[1].last_user_text().contains("Plan mode"));
    nvim.keys(":Caliban new other<CR>");
    wait_mode(&nvim, "ask");
    nvim.ask("three", "Three.");
    assert_eq!(server.requests()[3].last_user_text(), "three");
}

#[test]
fn a_new_session_begins_in_the_settings_mode() {
    let server = Server::start();
    server.reply(Reply::said("One."));
    server.reply(Reply::said("Two."));
    let nvim = Nvim::start(&Setup::new().config("{ mode = 'plan' }").anthropic(&server));
    nvim.ask("one", "One.");
    assert!(server.requests()[0].last_user_text().contains("Plan mode is on"));
    assert_eq!(nvim.lua_str("return require('caliban').status()"), "caliban: plan · idle");
    // After `/clear` the mode stays, and the next request names the mode once more.
    nvim.lua("require('caliban').ask('/clear')", &[]);
    nvim.wait(|nvim| !nvim.transcript().contains("One."), "an empty chat");
    nvim.ask("two", "Two.");
    assert!(server.requests()[1].last_user_text().contains("Plan mode is on"));
    wait_mode(&nvim, "plan");
}

#[test]
fn the_mode_is_chosen_by_a_command_a_key_a_list_or_a_slash_command() {
    let server = Server::start();
    server.reply(Reply::said("A plan."));
    let setup = Setup::new().anthropic(&server);
    let nvim = Nvim::start(&setup.before("vim.keymap.set('n', '<F2>', '<Plug>(caliban-mode)')"));
    let complete = "return table.concat(vim.fn.getcompletion('Caliban mode ', 'cmdline'), ' ')";
    assert_eq!(nvim.lua_str(complete), "plan ask auto-edit auto coordinator");
    nvim.keys(":Caliban<CR><F2>");
    wait_mode(&nvim, "auto-edit");
    nvim.keys("<F2>");
    wait_mode(&nvim, "auto");
    nvim.keys("<F2><F2><F2><F2><F2>");
    wait_mode(&nvim, "plan");
    nvim.keys("<F2>");
    wait_mode(&nvim, "ask");
    nvim.keys(":Caliban mode<CR>");
    nvim.wait_screen("plan                reads only: no edits, no commands");
    nvim.keys("1<CR>");
    wait_mode(&nvim, "plan");
    nvim.keys(":Caliban mode ask<CR>");
    wait_mode(&nvim, "ask");
    nvim.keys(":Caliban mode plum<CR>");
    nvim.wait_screen(
        "'plum' is not one of plan, ask, auto-edit, auto, coordinator. Did you mean 'plan'?",
    );
    wait_mode(&nvim, "ask");
    nvim.keys(":Caliban<CR>i/plan find it<Esc><CR>");
    nvim.wait_transcript("A plan.");
    wait_mode(&nvim, "plan");
    assert!(server.requests()[0].last_user_text().ends_with("find it"));
    nvim.keys(":Caliban mode ask<CR>");
    wait_mode(&nvim, "ask");
    nvim.keys("i/plan<C-s>");
    wait_mode(&nvim, "plan");
    nvim.lua("require('caliban').ask('/mode auto-edit')", &[]);
    wait_mode(&nvim, "auto-edit");
    nvim.lua("require('caliban').ask('/mode')", &[]);
    nvim.wait_transcript("! Mode auto-edit: edits are written at once, then reviewed");
    nvim.lua("require('caliban').ask('/mode plum')", &[]);
    nvim.wait_screen("There is no such mode. Did you mean plan?");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_change_of_the_mode_is_notified_if_the_chat_is_closed() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>");
    wait_mode(&nvim, "ask");
    nvim.keys(":Caliban close<CR>:Caliban mode plan<CR>");
    nvim.wait_screen("Caliban is in plan mode (main).");
}
