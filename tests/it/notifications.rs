//! How a user who does not look at a chat learns that the chat needs an answer or has finished.

use crate::kit::reply::Reply;
use crate::review::scene::Scene;
use serde_json::json;

/// A chat with an open question about a command, and another chat in its place on the screen.
fn asking_elsewhere(config: &str, before: &str) -> Scene {
    let scene = Scene::start(|it| it.config(config).before(before).size(160, 40));
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    scene.server.reply(Reply::new().call("c1", "shell", json!({ "command": "echo one > out" })));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban new other<CR>");
    scene.nvim.wait_session("other");
    scene
}

#[test]
fn a_waiting_question_of_another_chat_is_counted_until_it_is_answered() {
    let scene = asking_elsewhere("{}", "");
    scene.nvim.wait_screen("idle · 1 other chat waits");
    assert!(scene.nvim.hl_of("1 other chat waits").contains(&"CalibanAsk".to_owned()));
    let status = "return require('caliban').status()";
    assert_eq!(scene.nvim.lua_str(status), "caliban: idle · 1 question");
    assert_eq!(scene.nvim.lua_json("return require('caliban').state().questions"), 1);
    scene.nvim.keys(":Caliban resume main<CR>");
    scene.nvim.wait_session("main");
    assert_eq!(scene.nvim.lua_str(status), "caliban: waiting for you");
    scene.nvim.wait_question();
    scene.server.reply(Reply::said("Good."));
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("Good.");
    assert_eq!(scene.nvim.lua_json("return require('caliban').state().questions"), 0);
    scene.nvim.keys(":Caliban resume other<CR>");
    scene.nvim.wait_session("other");
    scene.nvim.wait_gone("other chat waits");
}

#[test]
fn the_winbar_shows_each_mode_in_its_own_highlight() {
    let scene = Scene::start(|it| it.size(160, 40));
    scene.nvim.keys(":Caliban<CR>");
    let modes = [("plan", "Plan"), ("ask", "Ask"), ("auto-edit", "AutoEdit"), ("auto", "Auto")];
    for (mode, group) in modes {
        scene.nvim.keys(&format!(":Caliban mode {mode}<CR>"));
        scene.nvim.wait_screen(&format!(" · {mode} · "));
        let marked = format!("⟦CalibanMode{group}|{mode}⟧");
        let shown = |it: &crate::kit::nvim::Nvim| it.screen_marked("CalibanMode").contains(&marked);
        scene.nvim.wait(shown, &marked);
    }
}

/// Lets a chat in a hidden tab page ask a question, and answers the question.
fn ask_out_of_sight(scene: &Scene) {
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    scene.nvim.keys(":tabnew<CR>");
    scene.server.reply(Reply::new().call("c1", "shell", json!({ "command": "echo one > out" })));
    scene.nvim.lua("require('caliban.chat').send({ kind = 'send', text = 'go on', context = {}, steer = false })", &[]);
    scene.nvim.wait_phase("asking");
    scene.nvim.keys(":tabprevious<CR>");
    scene.nvim.wait_question();
    scene.nvim.keys(":tabnext<CR>");
    scene.server.reply(Reply::said("Good."));
    scene.nvim.lua("local chat = require('caliban.chat.chats').current
        require('caliban.chat.chats').send(chat, { kind = 'rule', call = 'c1', ruling = 'deny', reason = '' })", &[]);
    scene.wait_idle("Good.");
}

#[test]
fn the_setting_notify_can_be_a_function_that_gets_one_call_for_each_wait() {
    let before = "_G.told = {}
        require('caliban').setup({ notify = function(text, data)
          table.insert(_G.told, data.kind .. ': ' .. text)
        end })";
    let scene = Scene::start(|it| it.before(before).size(160, 40));
    ask_out_of_sight(&scene);
    let told = "return table.concat(_G.told, '|')";
    let all = "waiting: Caliban is waiting for you (main).|finished: Caliban has finished (main).";
    scene.nvim.wait(|it| it.lua_str(told) == all, "two notifications");
}

/// A turn that needs the user's answer, in a chat that is on the screen.
fn ask_in_sight(scene: &Scene, n: usize) {
    scene.server.reply(Reply::new().call("c1", "shell", json!({ "command": "echo one > out" })));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.server.reply(Reply::said(&format!("Good {n}.")));
    scene.nvim.keys(":Caliban deny<CR>");
    scene.wait_idle(&format!("Good {n}."));
}

#[test]
fn the_user_is_notified_while_the_window_of_neovim_does_not_have_the_focus() {
    let before = "_G.told = {}
        require('caliban').setup({ notify = function(text) table.insert(_G.told, text) end })";
    let scene = Scene::start(|it| it.before(before).size(160, 40));
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    let told = "return table.concat(_G.told, '|')";
    let each = "Caliban is waiting for you (main).|Caliban has finished (main).";
    let mut all = Vec::new();
    for (n, has_focus) in [true, false, true, false].into_iter().enumerate() {
        scene.nvim.request("nvim_ui_set_focus", vec![has_focus.into()]);
        ask_in_sight(&scene, n);
        all.extend((!has_focus).then_some(each));
        scene.nvim.wait(|it| it.lua_str(told) == all.join("|"), "notifications without the focus");
    }
}

#[test]
fn the_setting_notify_can_be_a_command_which_gets_the_text_as_one_argument() {
    let command = r#"{ 'sh', '-c', 'printf "%s %s\n" "$#" "$1" >> told', 'sh' }"#;
    let config = format!("{{ notify = {{ editor = false, command = {command} }} }}");
    let scene = Scene::start(|it| it.config(&config).size(160, 40));
    ask_out_of_sight(&scene);
    let all = "1 Caliban is waiting for you (main).\n1 Caliban has finished (main).\n";
    scene.nvim.wait(|it| it.setup.on_disk("told").as_deref() == Some(all), "two lines");
    assert!(!scene.said().contains("Caliban has finished"));
}

#[test]
fn a_notification_is_sent_to_the_terminal_only_if_there_is_one() {
    // Records only texts about Caliban: Neovim 0.12 also sends queries for the terminal's colours.
    let terminal = "_G.sent = {}
        local function send(_, text) table.insert(_G.sent, text:find('Caliban') and text or nil) end
        vim.api.nvim_chan_send = send
        if vim.api.nvim_ui_send then vim.api.nvim_ui_send = function(text) send(0, text) end end
        vim.env.TERM_PROGRAM = 'WezTerm'\n";
    let tty = "vim.api.nvim_list_uis = function() return { { stdout_tty = true } } end";
    let sent = "return vim.inspect(table.concat(_G.sent, '|'))";
    let scene = Scene::start(|it| it.before(&format!("{terminal}{tty}")).size(160, 40));
    ask_out_of_sight(&scene);
    let all = r#""\27]9;Caliban is waiting for you (main).\27\\|\27]9;Caliban has finished (main).\27\\""#;
    scene.nvim.wait(|it| it.lua_str(sent) == all, "two sequences");
    let hostile = "return require('caliban.chat.notification').sequence('a\\27]b\\7c\\194\\155d')";
    assert_eq!(scene.nvim.lua_str(hostile), "\u{1b}]9;a[U+001B]]b[U+0007]c[U+009B]d\u{1b}\\");
    let scene = Scene::start(|it| it.before(terminal).size(160, 40));
    ask_out_of_sight(&scene);
    assert_eq!(scene.nvim.lua_str(sent), "\"\"");
}

#[test]
fn the_user_is_notified_of_the_end_of_a_long_turn_unless_notify_is_false() {
    for (config, last) in [("{}", "Caliban has finished (main)."), ("{ notify = false }", "")] {
        let scene = Scene::start(|it| it.config(config).size(160, 40));
        scene.nvim.keys(":Caliban<CR><C-w>h");
        scene.wait_chat("Project");
        let gate = scene.server.reply(Reply::new().text("One. ").gate().text("Two."));
        scene.nvim.lua("require('caliban').ask('go on')", &[]);
        scene.wait_chat("One.");
        scene.nvim.lua("require('caliban.chat.chats').current.began = -1e9", &[]);
        gate.finish();
        scene.wait_idle("Two.");
        let is_told = |it: &crate::kit::nvim::Nvim| {
            let said = it.lua_str("return vim.fn.execute('messages')");
            said.contains("has finished") != last.is_empty()
        };
        scene.nvim.wait(is_told, config);
    }
}

#[test]
fn a_question_is_announced_to_scripts_by_an_event_with_its_data() {
    let before = "require('caliban').on('Ask', function(data) _G.asked = data end)";
    let scene = Scene::start(|it| it.before(before).size(160, 40));
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    let command = "curl -s https://a.org > out; echo \u{202e}";
    scene.server.reply(Reply::new().call("c1", "shell", json!({ "command": command })));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    let asked = scene.nvim.lua_json("return _G.asked");
    let facts = ["call", "kind", "tool", "command", "paths", "hosts", "outside", "always"];
    let facts = facts.map(|it| asked[it].as_str().unwrap_or("?").to_owned());
    let shown = "curl -s https://a.org > out; echo [U+202E]";
    assert_eq!(facts, ["c1", "command", "shell", shown, "out", "a.org", "false", ""]);
}
