//! Events from outside that end a review: a buffer is closed, a file changes, the program dies.

use super::scene::{Scene, edit, nine, write};
use crate::kit::reply::Reply;
use expect_test::expect;
use std::fs;

#[test]
fn wiping_or_rereading_a_buffer_decides_on_none_of_its_pending_hunks() {
    for keys in [":bwipeout!<CR>", ":bdelete!<CR>", ":edit!<CR>"] {
        let scene = Scene::two_hunks(|it| it);
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys(keys);
        let answer = scene.answer(2, "e1");
        let told = "The user did not decide on 2 changes in a.txt: they are not in the file.";
        assert_eq!(answer, told, "{keys}");
        scene.wait_idle("I see.");
        assert_eq!(scene.pending(), 0, "{keys}");
        assert_eq!(scene.on_disk("a.txt"), Some(nine()), "{keys}");
    }
}

#[test]
fn rereading_a_new_file_decides_on_nothing() {
    let scene = Scene::start(|it| it);
    scene.ask(Reply::new().call("n1", "write", write("new.txt", "new\n")));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban next<CR>:edit!<CR>");
    expect!["The user did not decide on the new file new.txt: it does not exist."]
        .assert_eq(&scene.answer(2, "n1"));
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("new.txt"), None);
}

#[test]
fn a_buffer_with_hunks_is_not_closed_without_a_bang() {
    let scene = Scene::two_hunks(|it| it);
    for keys in [":bwipeout<CR>", ":bdelete<CR>", ":edit<CR>"] {
        scene.nvim.keys(keys);
        while scene.nvim.is_blocked() {
            scene.nvim.keys("<CR>");
        }
        assert_eq!(scene.pending(), 2, "{keys}");
    }
}

#[test]
fn quitting_during_a_review_leaves_the_file_on_disk_unchanged() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys("2G\\a");
    assert!(scene.nvim.quit_with(":qa!<CR>").success());
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

/// Sends a signal to the program.
fn signal(scene: &Scene, signal: rustix::process::Signal) {
    let all = scene.nvim.setup.processes();
    let (pid, _) = all.into_iter().find(|(_, line)| line.contains("debug/caliban")).unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Kills the program and waits until Neovim has seen its end.
pub(super) fn kill_program(scene: &Scene) {
    signal(scene, rustix::process::Signal::KILL);
    scene.wait_phase("offline");
}

/// Decisions need only the Lua side: the screen and the disk change at once, also with the chat closed.
#[test]
fn hunks_can_be_decided_while_the_program_hangs() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":Caliban close<CR>");
    signal(&scene, rustix::process::Signal::STOP);
    scene.nvim.keys("2G\\a");
    scene.wait_hunks(1);
    scene.nvim.keys("]h");
    assert_eq!(scene.nvim.lua_str("return vim.fn.line('.')"), "8");
    scene.nvim.keys("\\r");
    scene.wait_hunks(0);
    scene.nvim.wait_screen("a.txt: 1 accepted, 1 rejected, saved");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
    scene.server.reply(Reply::said("I see."));
    signal(&scene, rustix::process::Signal::CONT);
    assert!(scene.answer(2, "e1").starts_with("Of 2 changes in a.txt: 1 accepted, 1 rejected"));
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_idle("I see.");
}

#[test]
fn hunks_decided_with_the_program_dead_are_reported_after_a_restart() {
    let scene = Scene::two_hunks(|it| it);
    kill_program(&scene);
    scene.nvim.keys("2G\\a8G\\r");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
    scene.nvim.keys(":Caliban restart<CR>");
    scene.wait_phase("idle");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban ask go on<CR>");
    scene.wait_idle("I see.");
    expect![[r#"
        <notice>
        The turn was interrupted because the editor or Caliban ended. What ran then may have had effects.
        </notice>
        <notice>
        Of 2 changes in a.txt: 1 accepted, 1 rejected and undone.
        line 2, accepted:
        L2
        line 8, rejected, reads as before:
        l8
        </notice>
        go on"#]].assert_eq(&scene.request(2).last_user_text());
}

#[test]
fn proposals_before_and_after_a_restart_of_the_program_are_reported_separately() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":Caliban restart<CR>");
    scene.wait_phase("idle");
    scene.server.reply(Reply::new().call("e2", "edit", edit("a.txt", &[("l5", "L5")])));
    scene.nvim.keys(":Caliban ask more<CR>");
    scene.wait_pending(3);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("2GA, by me<Esc>8G:Caliban reject hunk not now<CR>\\A");
    scene.wait_idle("I see.");
    expect!["The user accepted the change in a.txt."].assert_eq(&scene.answer(3, "e2"));
    expect![[r#"
        <notice>
        Of 2 changes in a.txt: 1 rejected and undone, 1 reworked by the user.
        line 2, reworked, now reads:
        L2, by me
        line 8, rejected, reads as before:
        l8
        The user's reason for line 8: not now
        </notice>"#]]
    .assert_eq(&scene.request(3).last_user_text());
}

#[test]
fn a_file_that_changes_on_disk_is_merged_without_a_prompt() {
    let scene = Scene::two_hunks(|it| it);
    let theirs = nine().replace("l5", "five");
    fs::write(scene.nvim.setup.path("a.txt"), &theirs).unwrap();
    scene.nvim.command("doautocmd FocusGained");
    scene.nvim.wait(|nvim| nvim.buffer("/a.txt").contains("five"), "the change taken over");
    assert!(!scene.nvim.is_blocked());
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(theirs.replace("l2", "L2").replace("l8", "L8\nL8b")));
    expect![[r#"
        The user accepted 2 changes in a.txt.
        The file changed elsewhere too:
        @@ line 5
        -l5
        +five"#]]
    .assert_eq(&scene.answer(2, "e1"));
}

#[test]
fn checktime_merges_a_change_on_disk() {
    let scene = Scene::two_hunks(|it| it);
    fs::write(scene.nvim.setup.path("a.txt"), nine().replace("l5", "five")).unwrap();
    scene.nvim.keys(":checktime<CR>");
    scene.nvim.wait(|nvim| nvim.buffer("/a.txt").contains("five"), "the change taken over");
    assert!(!scene.nvim.is_blocked());
    assert_eq!(scene.pending(), 2);
}

#[test]
fn a_change_on_disk_seen_only_at_the_save_is_not_overwritten() {
    let scene = Scene::two_hunks(|it| it);
    let theirs = nine().replace("l5", "five");
    fs::write(scene.nvim.setup.path("a.txt"), &theirs).unwrap();
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(theirs.replace("l2", "L2").replace("l8", "L8\nL8b")));
}

#[test]
fn a_file_deleted_during_the_review_stays_deleted() {
    let scene = Scene::two_hunks(|it| it);
    fs::remove_file(scene.nvim.setup.path("a.txt")).unwrap();
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    expect![[r#"
        The user accepted 2 changes in a.txt.
        a.txt is not saved (it was deleted or moved on disk): the changes are not on disk yet."#]]
    .assert_eq(&scene.answer(2, "e1"));
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), None);
    assert!(scene.nvim.buffer("/a.txt").contains("L8b"));
}

#[test]
fn the_review_keys_are_mapped_only_while_hunks_are_pending() {
    let maps = "local out = {}
        for _, mode in ipairs({ 'n', 'x' }) do
          for _, lhs in ipairs({ ']h', '[h', '\\\\a', '\\\\r', '\\\\A', '\\\\R' }) do
            local map = vim.fn.maparg(lhs, mode, false, true)
            map.lnum, map.sid, map.callback = nil, nil, nil
            out[#out + 1] = vim.tbl_isempty(map) and 'none' or vim.inspect(map)
          end
        end
        return out";
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>:nnoremap <lt>buffer> <lt>silent> <lt>expr> ]h 'j'<CR>");
    scene.nvim.keys(":xnoremap <lt>buffer> \\a <lt>Esc><CR>:nmap \\R :echo 1<lt>CR><CR>");
    let before = scene.nvim.lua_json(maps);
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l5", "L5")])));
    scene.wait_pending(1);
    assert_ne!(scene.nvim.lua_json(maps), before);
    scene.nvim.keys("]h");
    assert_eq!(scene.nvim.lua_str("return vim.fn.line('.')"), "5");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\a");
    scene.wait_idle("I see.");
    assert_eq!(scene.nvim.lua_json(maps), before);
    scene.nvim.keys("gg]h");
    assert_eq!(scene.nvim.lua_str("return vim.fn.line('.')"), "2");
}

#[test]
fn plug_maps_do_what_the_keys_do() {
    let scene = Scene::two_hunks(|it| {
        it.before(
            "for key, name in pairs({ n = 'next', p = 'prev', a = 'accept', r = 'reject', A = 'accept-all' }) do
              vim.keymap.set('n', '<F2>' .. key, '<Plug>(caliban-' .. name .. ')')
            end",
        )
    });
    scene.nvim.keys("gg<F2>n<F2>n<F2>p");
    assert_eq!(scene.nvim.lua_str("return vim.fn.line('.')"), "2");
    scene.nvim.keys("<F2>r");
    scene.wait_hunks(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("<F2>A");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l8", "L8\nL8b")));
}

#[test]
fn pending_hunks_are_listed_in_the_quickfix_list_and_by_the_lua_api() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2"), ("l8\n", "")])).call(
        "e2",
        "edit",
        edit("b.txt", &[("l5", "L5\nL5b")]),
    ));
    scene.wait_pending(3);
    scene.nvim.keys(":Caliban review<CR>");
    let list = scene.nvim.lua_json(
        "return vim.tbl_map(function(it)
          return vim.fs.basename(vim.api.nvim_buf_get_name(it.bufnr)) .. ':' .. it.lnum .. ' ' .. it.text
        end, vim.fn.getqflist())",
    );
    expect![[r#"["a.txt:2 -1 +1  L2","a.txt:8 -1 +0  l8","b.txt:5 -1 +2  L5"]"#]]
        .assert_eq(&list.to_string());
    let data = scene.nvim.lua_json(
        "return vim.tbl_map(function(it)
          return { vim.fs.basename(it.path), it.start, it.count, table.concat(it.removed, ';'), table.concat(it.added, ';') }
        end, require('caliban').pending())",
    );
    expect![[r#"[["a.txt",1,1,"l2","L2"],["a.txt",7,0,"l8",""],["b.txt",4,2,"l5","L5;L5b"]]"#]]
        .assert_eq(&data.to_string());
}
