//! Rewinds of changes that are still under review after a command has changed their files: nothing of what was taken back
//! is pending, and buffer and disk agree.

use super::commands::git;
use super::kinds::{status, take_all_back};
use super::*;

/// A project under git. A turn makes these calls and ends.
fn turn(scene: &Scene, calls: impl IntoIterator<Item = Reply>) {
    let n = scene.server.count();
    for it in calls {
        scene.server.reply(it);
    }
    let last = format!("Done {n}.");
    scene.ask(Reply::said(&last));
    scene.wait_idle(&last);
}

fn start() -> Scene {
    let files = |it: Setup| it.file("a.txt", nine()).file("dir/a.txt", nine());
    let scene = Scene::start(|it| files(it).config("{ mode = 'auto' }").size(160, 40));
    git(&scene, &["init", "-qb", "main"]);
    git(&scene, &["add", "."]);
    git(&scene, &["commit", "-qm", "begin"]);
    scene
}

fn shell(command: &str) -> Reply {
    Reply::new().call("s1", "shell", json!({ "command": command }))
}

fn edits(path: &str, old: &str, new: &str) -> Reply {
    Reply::new().call("e1", "edit", edit(path, &[(old, new)]))
}

/// The modified buffers, and those whose text is not on disk.
fn astray(scene: &Scene) -> String {
    scene.nvim.lua_str(
        "local out = {}
        for _, buf in ipairs(vim.api.nvim_list_bufs()) do
          local name = vim.api.nvim_buf_get_name(buf)
          if name:find('^/') and vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
            local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\\n') .. '\\n'
            local file = io.open(name)
            local there = file and file:read('a')
            if file then file:close() end
            if vim.bo[buf].modified or there ~= text and (there or text ~= '\\n') then
              out[#out + 1] = vim.fn.fnamemodify(name, ':.') .. ': ' .. text
            end
          end
        end
        return table.concat(out, '\\n')",
    )
}

#[test]
fn what_a_command_has_changed_again_is_not_under_review_after_a_rewind() {
    let rows: [(&str, Reply, &str); 7] = [
        ("an edit of a file that is gone", edits("a.txt", "l2", "L2"), "rm a.txt"),
        (
            "a file in place of its folder",
            edits("dir/a.txt", "l2", "L2"),
            "rm -rf dir; echo f >dir",
        ),
        ("a moved file", edits("a.txt", "l2", "L2"), "mv a.txt b.txt; echo x >>b.txt"),
        (
            "a new file that was moved",
            Reply::new().call("w1", "write", write("n/new.txt", "new\n")),
            "mv n/new.txt m.txt; echo x >>m.txt",
        ),
        (
            "a new file that is gone",
            Reply::new().call("w1", "write", write("n/new.txt", "new\n")),
            "rm n/new.txt; touch b",
        ),
        (
            "a deleted file that is there again",
            Reply::new().call("d1", "delete", json!({ "path": "a.txt" })),
            "echo again >a.txt",
        ),
        (
            "a renamed file that is gone",
            Reply::new().call("r1", "rename", json!({ "path": "a.txt", "to": "b.txt" })),
            "rm b.txt",
        ),
    ];
    for (what, call, command) in rows {
        let scene = start();
        scene.nvim.keys(":edit dir/a.txt<CR>");
        turn(&scene, [call, shell(command)]);
        preview(&scene, "1");
        take_all_back(&scene);
        scene.nvim.wait(|it| it.pending() == 0, &format!("the end of the review: {what}"));
        assert_eq!(status(&scene), "", "{what}");
        assert_eq!(astray(&scene), "", "{what}: {}", scene.said());
        let there = ["n", "b.txt", "m.txt"].map(|it| scene.nvim.setup.path(it).exists());
        assert_eq!(there, [false; 3], "{what}");
        let told = scene.told_next();
        assert!(!told.contains("undone on disk"), "{what}: {told}");
    }
}

/// Of two turns the later one is rewound: the hunk of the earlier one is still under review, and on disk.
#[test]
fn the_hunks_of_an_earlier_turn_stay_under_review() {
    let scene = start();
    scene.nvim.keys(":edit a.txt<CR>");
    turn(&scene, [edits("a.txt", "l2", "L2")]);
    turn(&scene, [edits("a.txt", "l8", "L8"), shell("rm a.txt")]);
    scene.wait_hunks(2);
    preview(&scene, "1");
    take_all_back(&scene);
    scene.wait_hunks(1);
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
    assert_eq!(astray(&scene), "");
    scene.wait_chat("a.txt  written");
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}
