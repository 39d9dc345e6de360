//! The last code window shows where the agent reads and edits. It gets no jump, no focus and no other alternate file.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::review::scene::{Scene, edit, nine};
use serde_json::json;

/// The file and the line in the code window.
fn place(nvim: &Nvim) -> String {
    nvim.lua_str(
        "local win = vim.g.code
         local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))
         return vim.fs.basename(name) .. ':' .. vim.api.nvim_win_get_cursor(win)[1]",
    )
}

fn wait_place(nvim: &Nvim, wanted: &str) {
    nvim.wait(|it| place(it) == wanted, wanted);
}

/// What the user's own movements have left in the code window: the alternate file and the jumps.
fn traces(nvim: &Nvim) -> String {
    nvim.lua_str(
        "return vim.api.nvim_win_call(vim.g.code, function()
           local jumps, at = unpack(vim.fn.getjumplist())
           local rows = vim.tbl_map(function(it) return it.bufnr .. ':' .. it.lnum end, jumps)
           return table.concat({ vim.fn.expand('#:t'), at, unpack(rows) }, ' ')
         end)",
    )
}

/// A project with two files that the user has visited, the cursor in `d.txt`, and the chat with the focus.
fn visited() -> Scene {
    let lines =
        |letter: char| (1..=60).fold(String::new(), |all, n| all + &format!("{letter}{n}\n"));
    let scene = Scene::start(|it| {
        let it = it.file("a.txt", nine()).file("c.txt", lines('c')).file("d.txt", lines('d'));
        it.file("src/e.rs", lines('e')).size(100, 40)
    });
    scene.nvim.keys(":edit c.txt<CR>30G:edit d.txt<CR>40G5G");
    scene.nvim.lua("vim.g.code = vim.api.nvim_get_current_win()", &[]);
    scene.nvim.keys(":Caliban<CR><Esc>");
    scene.nvim.wait_screen("g? keys");
    scene
}

fn read(path: &str, offset: u32) -> Reply {
    Reply::new().call("r1", "read", json!({ "path": path, "offset": offset, "limit": 3 }))
}

#[test]
fn a_window_that_follows_the_agent_shows_its_earlier_file_again_after_the_turn() {
    let scene = visited();
    let nvim = &scene.nvim;
    let (was, before) = (place(nvim), traces(nvim));
    scene.server.reply(read("c.txt", 10));
    let gate =
        scene.server.reply(Reply::new().gate().call("r2", "read", json!({ "path": "no" })).call(
            "r3",
            "read",
            json!({ "path": "src/e.rs", "offset": 20, "limit": 3 }),
        ));
    let edits = Reply::new().gate().call("e1", "edit", edit("a.txt", &[("l8", "L8")]));
    let edits = scene.server.reply(edits);
    scene.server.reply(Reply::said("Done."));
    // before `gF`, the window keeps its file
    nvim.lua("require('caliban').ask('please')", &[]);
    scene.server.wait_count(2);
    assert_eq!(place(nvim), was);
    nvim.keys("<C-w>k");
    nvim.go_to_transcript("please");
    nvim.keys("gF");
    nvim.wait_screen("· following");
    gate.finish();
    wait_place(nvim, "e.rs:20");
    nvim.wait(|it| it.hl_of("e20") == ["CalibanFollow"], "the ground of the lines");
    assert_eq!(nvim.hl_of("e22"), ["CalibanFollow"]);
    assert!(nvim.hl_of("e23").is_empty());
    edits.finish();
    wait_place(nvim, "a.txt:8");
    nvim.wait_screen("▎ L8");
    assert_eq!(traces(nvim), before);
    assert!(nvim.lua_str("return require('caliban').status()").ends_with(" · following"));
    let has_focus = "return vim.api.nvim_get_current_win() ~= vim.g.code";
    assert_eq!(nvim.lua_json(has_focus), true);
    nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("Done.");
    wait_place(nvim, &was);
    assert_eq!(traces(nvim), before);
    nvim.wait_gone("following");
    let marks = "return #vim.api.nvim_buf_get_extmarks(vim.fn.bufnr('src/e.rs'),
        vim.api.nvim_create_namespace('caliban_follow'), 0, -1, {})";
    assert_eq!(nvim.lua_json(marks), 0);
}

#[test]
fn following_stops_if_the_user_enters_the_window_or_its_buffer_must_stay() {
    let scene = visited();
    let nvim = &scene.nvim;
    let was = place(nvim);
    let leave = |setting: &str, undo: &str| {
        nvim.keys(":Caliban follow<CR>");
        nvim.wait_screen("· following");
        nvim.lua(setting, &[]);
        scene.server.reply(read("src/e.rs", 20));
        scene.ask_until(Reply::said("Done."), "Done.");
        assert_eq!(place(nvim), was, "{setting}");
        nvim.wait_gone("· following");
        nvim.lua(undo, &[]);
    };
    leave("vim.wo[vim.g.code].winfixbuf = true", "vim.wo[vim.g.code].winfixbuf = false");
    leave(
        "vim.o.hidden = false
         local buf = vim.api.nvim_win_get_buf(vim.g.code)
         vim.api.nvim_buf_set_lines(buf, 0, 1, true, { 'mine' })",
        "vim.o.hidden = true",
    );
    // the user goes to the window
    nvim.keys(":Caliban follow<CR>");
    scene.server.reply(read("src/e.rs", 20));
    let gate =
        scene.server.reply(Reply::new().gate().call("r2", "read", json!({ "path": "c.txt" })));
    scene.server.reply(Reply::said("Over."));
    nvim.lua("require('caliban').ask('more')", &[]);
    wait_place(nvim, "e.rs:20");
    nvim.lua("vim.api.nvim_set_current_win(vim.g.code)", &[]);
    nvim.wait_gone("· following");
    gate.finish();
    scene.wait_idle("Over.");
    assert_eq!(place(nvim), "e.rs:20");
    assert_eq!(nvim.lua_str("return vim.fn.expand('#:t')"), "d.txt");
    nvim.keys("<C-o>");
    wait_place(nvim, &was);
}
