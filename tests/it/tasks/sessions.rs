//! The conversations of subagents: found, opened and deleted.

use super::{is_of, task};
use crate::kit::reply::Reply;
use crate::review::scene::Scene;
use serde_json::json;

fn select(scene: &Scene) {
    let keep = "vim.ui.select = function(items, opts, done)
        _G.offered = vim.tbl_map(opts.format_item or tostring, items)
        _G.asked, _G.choose = opts.prompt, function(i) done(items[i], i) end
      end";
    scene.nvim.lua(keep, &[]);
}

fn offered(scene: &Scene) -> Vec<String> {
    scene.nvim.wait(|nvim| nvim.lua_str("return tostring(_G.asked ~= nil)") == "true", "a list");
    let list = scene.nvim.lua_json("return _G.offered");
    list.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_running_subagents_conversation_is_found_opened_and_not_deleted() {
    let scene = Scene::start(|it| it.size(160, 40));
    scene.server.reply(Reply::new().call("t1", "task", task("Look.")));
    let gate = scene.server.reply(Reply::said("Half of").gate().text(" the report."));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.server.wait_count(2);
    scene.wait_chat("main-task · ");
    let complete = "return vim.fn.getcompletion('Caliban resume ', 'cmdline')";
    assert_eq!(scene.nvim.lua_json(complete), json!(["main", "main-task"]));
    select(&scene);
    scene.nvim.keys(":Caliban sessions<CR>");
    let rows = offered(&scene);
    let row = rows.iter().find(|it| it.contains("main-task")).unwrap();
    assert!(row.starts_with("↳ main-task  Find it  "), "{row}");
    assert!(row.ends_with("open here · subagent of main"), "{row}");
    scene.nvim.keys(":Caliban resume main-task<CR>");
    scene.nvim.wait_session("main-task");
    scene.wait_chat("Half of");
    scene.nvim.keys(":Caliban delete main-task<CR>");
    scene.nvim.lua("_G.choose(2)", &[]);
    scene.nvim.wait_screen("A subagent works in main-task; nothing was deleted.");
    gate.finish();
    scene.wait_chat("Half of the report.");
    scene.server.reply(Reply::said("Found."));
    scene.nvim.keys(":Caliban resume main<CR>");
    scene.wait_idle("Found.");
}

#[test]
fn deleting_a_conversation_deletes_those_of_its_subagents_and_no_others() {
    let scene = Scene::start(|it| it.size(160, 40));
    for (name, id) in [("main", "t1"), ("other", "t2")] {
        let calls = Reply::new().call(id, "task", task("Look."));
        let calls = if name == "main" { calls.call("t3", "task", task("Look.")) } else { calls };
        scene.server.reply(calls);
        scene.server.reply_to(is_of("Look."), Reply::said("Done."));
        scene.server.reply_to(is_of("Look."), Reply::said("Done."));
        scene.server.reply(Reply::said("So it is."));
        scene.nvim.keys(&format!("<Esc>:Caliban new {name}<CR>"));
        scene.nvim.wait_session(name);
        scene.nvim.lua("require('caliban').ask('please')", &[]);
        scene.wait_idle("So it is.");
    }
    let has = |name: &str| scene.nvim.setup.sessions().join(format!("{name}.json")).exists();
    scene.nvim.wait(|_| has("main-task-2") && has("other-task"), "the subagents' conversations");
    // one subagent's chat stays open, and a copy of another subagent's conversation is not deleted
    scene.nvim.keys(":Caliban resume main-task<CR>");
    scene.wait_chat("Done.");
    scene.nvim.keys(":Caliban resume main-task-2<CR>");
    scene.nvim.wait_session("main-task-2");
    scene.wait_chat("Done.");
    assert!(!scene.nvim.transcript().contains("changed since this"), "{}", scene.nvim.transcript());
    scene.nvim.keys(":Caliban fork<CR>");
    scene.nvim.wait_session("main-task-2-2");
    scene.nvim.wait(|_| has("main-task-2-2"), "the copy");
    select(&scene);
    scene.nvim.keys(":Caliban delete main<CR>");
    assert_eq!(
        scene.nvim.lua_str("return _G.asked"),
        "Delete the conversation main and the 2 conversations of its subagents?"
    );
    scene.nvim.lua("_G.choose(2)", &[]);
    scene.nvim.wait_screen("main and the 2 conversations of its subagents are in the trash");
    assert_eq!(
        ["main", "main-task", "main-task-2", "main-task-2-2", "other", "other-task"].map(has),
        [false, false, false, true, true, true]
    );
    let trash = scene.nvim.setup.sessions().join("trash");
    for name in ["main-1.json", "main-task-1.json", "main-task-2-1.json"] {
        assert!(trash.join(name).exists(), "{name}");
    }
}

#[test]
fn the_chat_of_a_subagent_that_is_never_saved_stays_readable() {
    let scene = Scene::start(|it| it.size(160, 40));
    scene.server.reply(Reply::new().call("t1", "task", task("Look.")));
    let gate = scene.server.reply(Reply::said("Half of").gate().text(" the report."));
    scene.nvim.keys(":Caliban! new secret<CR>");
    scene.nvim.wait_session("secret");
    scene.nvim.lua("require('caliban').ask('please')", &[]);
    scene.server.wait_count(2);
    scene.wait_chat("secret-task · ");
    scene.nvim.keys(":Caliban resume secret-task<CR>");
    scene.nvim.wait_session("secret-task");
    scene.wait_chat("Half of");
    scene.server.reply(Reply::said("Found."));
    gate.finish();
    scene.wait_chat("Half of the report.");
    scene.server.wait_count(3);
    // the subagent has ended: its chat takes no message, and no conversation on disk takes its place
    scene.nvim.lua("require('caliban').ask('and you?')", &[]);
    scene.nvim.wait_screen("The conversation secret-task is not open.");
    assert!(scene.nvim.transcript().contains("Half of the report."));
    let mut folders = vec![scene.nvim.setup.dir().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            assert!(!entry.file_name().to_string_lossy().starts_with("secret"), "{entry:?}");
            folders.extend(entry.file_type().unwrap().is_dir().then(|| entry.path()));
        }
    }
    scene.nvim.keys(":Caliban resume secret<CR>");
    scene.wait_idle("Found.");
}

/// From the line of a task to the subagent's chat and back, by the keys that the screen names and by Neovim's own.
#[test]
fn a_subagents_chat_is_found_from_its_line_and_left_by_the_keys_of_neovim() {
    for (columns, lines) in [(60, 20), (80, 24), (120, 36)] {
        let scene = Scene::start(|it| it.size(columns, lines));
        scene.server.reply(Reply::new().call("t1", "task", task("Look.")));
        let gate = scene.server.reply(Reply::said("Half of").gate().text(" the report."));
        scene.nvim.keys(":Caliban ask please<CR>");
        scene.server.wait_count(2);
        scene.nvim.go_to_transcript("Find it");
        scene.nvim.wait_screen("gf its chat");
        scene.nvim.keys("m'gf");
        scene.nvim.wait_session("main-task");
        scene.wait_chat("Half of");
        scene.nvim.wait_screen(" main-task · ");
        assert!(!scene.nvim.transcript().contains("You are"), "{}", scene.nvim.transcript());
        scene.nvim.go_to_transcript("Half of");
        scene.nvim.keys("<C-o>");
        scene.nvim.wait_session("main");
        let whose = "local out = {}
            for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
              local buf = vim.api.nvim_win_get_buf(win)
              local chat = require('caliban.chat.chats').of(buf)
              if chat then table.insert(out, chat.session) end
            end
            return table.concat(out, ' ')";
        scene.nvim.wait(|it| it.lua_str(whose) == "main main", "transcript and composer of main");
        gate.release();
    }
}
