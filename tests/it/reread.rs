//! The user reads a file under review again with `:e!` after another program changed it: the model is told the new
//! text once.

use crate::kit::reply::Reply;
use crate::review::scene::{Scene, nine};
use std::fs;

/// Another program writes other lines into the file, and the user reads the file again.
fn read_anew(scene: &Scene) {
    let other = (1..=9).fold(String::new(), |text, n| text + &format!("other {n}\n"));
    fs::write(scene.nvim.setup.path("a.txt"), other).unwrap();
    scene.nvim.keys(":edit!<CR>");
    scene.wait_hunks(0);
}

#[track_caller]
fn is_told_once(request: &str) {
    for n in 1..=9 {
        assert_eq!(request.matches(&format!("other {n}")).count(), 1, "line {n} in {request}");
    }
}

#[test]
fn the_verdict_on_a_reread_file_tells_the_model_no_line_twice() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::said("I see."));
    read_anew(&scene);
    scene.wait_idle("I see.");
    is_told_once(&scene.request(2).json["messages"].to_string());
    is_told_once(&format!("{}{}", scene.answer(2, "e1"), scene.told_next()));
}

#[test]
fn the_late_verdict_on_a_reread_file_tells_the_model_no_line_twice() {
    let scene = Scene::two_written(|it| it);
    read_anew(&scene);
    is_told_once(&scene.told_next());
}

/// Does what Neovim may do with 'autoread': it looks at the file as soon as another program has changed it.
const AT_ONCE: &str = "vim.go.autoread = true
    KitWatcher = vim.uv.new_fs_event()
    KitWatcher:start(vim.api.nvim_buf_get_name(vim.fn.bufnr('a.txt')), {}, vim.schedule_wrap(function()
      vim.cmd('checktime')
    end))";

#[test]
fn a_file_that_is_read_again_at_once_keeps_its_review() {
    for auto in [false, true] {
        let scene = if auto { Scene::two_written(|it| it) } else { Scene::two_hunks(|it| it) };
        scene.nvim.lua(AT_ONCE, &[]);
        scene.nvim.keys(":set autoread<CR>");
        let path = scene.nvim.setup.path("a.txt");
        let now = fs::read_to_string(&path).unwrap();
        fs::write(&path, now.replace("l5", "theirs")).unwrap();
        scene
            .nvim
            .wait(|it| it.buffer("/a.txt").contains("theirs"), "the change of another program");
        assert_eq!(scene.pending(), 2, "{}", scene.nvim.buffer("/a.txt"));
        scene.server.otherwise(Reply::said("I see."));
        scene.nvim.keys(":Caliban accept all<CR>");
        scene.wait_hunks(0);
        let both = nine().replace("l2", "L2").replace("l5", "theirs").replace("l8", "L8\nL8b");
        scene.nvim.wait(|_| scene.on_disk("a.txt").as_ref() == Some(&both), "both changes on disk");
        let own = "return vim.fn.getbufvar('a.txt', '&autoread')";
        scene.nvim.wait(|it| it.lua_json(own) == 1, "the user's value");
    }
}
