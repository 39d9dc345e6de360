//! Nothing is written by accident while hunks are pending.

use super::scene::{Scene, edit, nine};
use crate::kit::reply::Reply;
use expect_test::expect;

fn shown() -> String {
    nine().replace("l2", "L2").replace("l8", "L8\nL8b")
}

#[test]
fn every_ordinary_write_command_is_refused_with_one_sentence() {
    let scene = Scene::two_hunks(|it| it);
    for keys in
        [":w<CR>", ":wa<CR>", ":wqa<CR>", ":x<CR>", "ZZ", ":update<CR>", ":wq<CR>", ":xa<CR>"]
    {
        scene.nvim.lua("vim.cmd('messages clear')", &[]);
        scene.nvim.keys(keys);
        assert!(!scene.nvim.is_blocked(), "{keys} waits for a key:\n{}", scene.nvim.screen());
        let said = scene.said();
        let want = "a.txt is not written: 2 hunks wait for you. :w! writes it as it is.";
        assert_eq!(said.matches(want).count(), 1, "{keys}: {said}");
        assert_eq!(scene.on_disk("a.txt"), Some(nine()), "{keys}");
        assert_eq!(scene.pending(), 2, "{keys}");
        assert_eq!(scene.nvim.lua_str("return vim.bo.modified"), "true", "{keys}");
    }
    assert_eq!(scene.server.requests().len(), 1, "the model was told nothing");
}

#[test]
fn an_autosave_of_a_file_under_review_is_refused() {
    let scene = Scene::two_hunks(|it| {
        it.before(
            "vim.api.nvim_create_autocmd({ 'InsertLeave', 'FocusLost' }, { nested = true,
              callback = function() vim.cmd('silent! update') end })
            vim.o.autowriteall = true",
        )
    });
    scene.nvim.keys("5GAx<Esc>");
    scene.nvim.command("doautocmd FocusLost");
    let _ = scene.nvim.try_lua("vim.cmd('silent make')", &[]);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.pending(), 2);
}

/// An auto-save of the most common kind. Its write triggers no other autocommands, because it runs in an autocommand.
const PLAIN_AUTOSAVE: &str = "vim.cmd('autocmd TextChanged,InsertLeave,FocusLost * silent! wa')";

#[test]
fn an_autosave_that_triggers_no_autocommands_does_not_write_pending_hunks() {
    let scene = Scene::two_hunks(|it| it.file("b.txt", nine()).before(PLAIN_AUTOSAVE));
    scene.nvim.keys("5GAx<Esc>x");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()), "the current buffer");
    assert_eq!(scene.nvim.lua_str("return vim.bo.modified"), "true");
    scene.nvim.keys(":edit b.txt<CR>5GAx<Esc>");
    scene.nvim.command("doautocmd FocusLost");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()), "a hidden buffer");
    assert_eq!(scene.on_disk("b.txt"), Some(nine().replace("l5", "l5x")), "another file");
    assert_eq!(scene.nvim.lua_str("return vim.fn.getbufvar('a.txt', '&modified')"), "1");
    assert_eq!(scene.pending(), 2);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":edit a.txt<CR>\\A");
    scene.wait_idle("I see.");
    scene.nvim.keys("1G0xix<Esc>");
    let now = shown().replace("l1", "x1");
    assert_eq!(scene.on_disk("a.txt"), Some(now), "settled, it saves again");
}

#[test]
fn after_the_review_the_buffer_can_be_written_as_before_the_review() {
    let state = "return vim.inspect({ vim.bo.buftype, vim.bo.modified, vim.fn.swapname(0) ~= '' })";
    for keys in ["\\A", "\\R", "u", ":edit!<CR>"] {
        let scene = Scene::two_hunks(|it| {
            it.before(
                "vim.api.nvim_create_autocmd('OptionSet', { callback = function(event)
                if event.match == 'buftype' then vim.g.noticed = true end
            end })",
            )
        });
        assert_eq!(scene.nvim.lua_str(state), "{ \"acwrite\", true, true }", "{keys}");
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys(keys);
        scene.wait_idle("I see.");
        assert_eq!(scene.nvim.lua_str(state), "{ \"\", false, true }", "{keys}");
        assert_eq!(scene.nvim.lua_str("return tostring(vim.g.noticed)"), "nil", "{keys}");
        scene.nvim.keys(":%d<CR>inew<Esc>:w<CR>");
        assert_eq!(scene.on_disk("a.txt").as_deref(), Some("new\n"), "{keys}");
    }
    for keys in [":bdelete!<CR>", ":enew!<CR>:bdelete! a.txt<CR>"] {
        let scene = Scene::two_hunks(|it| it);
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys(keys);
        scene.wait_idle("I see.");
        assert_eq!(
            scene.nvim.lua_str("return vim.fn.getbufvar('a.txt', '&buftype')"),
            "",
            "{keys}"
        );
        scene.nvim.keys(":edit a.txt<CR>");
        assert_eq!(scene.nvim.lua_str("return vim.bo.buftype"), "", "{keys}");
        assert_eq!(scene.nvim.buffer("/a.txt"), nine().trim_end(), "{keys}");
    }
}

#[test]
fn a_write_from_another_working_directory_is_refused() {
    let scene = Scene::two_hunks(|it| it.file("sub/a.txt", "theirs\n"));
    scene.nvim.keys(":cd sub<CR>:w!<CR>");
    assert_eq!(scene.on_disk("sub/a.txt").as_deref(), Some("theirs\n"));
    assert_eq!(scene.on_disk("a.txt"), Some(shown()));
    assert_eq!(scene.nvim.lua_str("return vim.bo.buftype"), "acwrite");
    assert_eq!(scene.pending(), 2);
}

#[test]
fn saveas_with_a_bang_writes_a_file_under_review() {
    let scene = Scene::two_hunks(|it| it.file("copy.txt", "old\n"));
    scene.nvim.keys(":saveas! copy.txt<CR>");
    assert_eq!(scene.on_disk("copy.txt"), Some(shown()));
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.pending(), 2);
}

#[test]
fn a_file_under_review_keeps_mksession_undofile_and_its_encoding() {
    let scene = Scene::start(|it| it.file("a.txt", "l1\r\nl2\r\n"));
    scene.nvim.keys(":edit a.txt<CR>:set fileencoding=latin1 undofile undodir=.<CR>:w<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "é2")])));
    scene.wait_pending(1);
    scene.nvim.keys(":w!<CR>:mksession s.vim<CR>");
    let bytes = std::fs::read(scene.nvim.setup.path("a.txt")).unwrap();
    assert_eq!(bytes, b"l1\r\n\xe92\r\n");
    assert!(scene.on_disk("s.vim").unwrap().contains("edit a.txt"));
    let undo = "return tostring(vim.uv.fs_stat(vim.fn.undofile('a.txt')) ~= nil)";
    assert_eq!(scene.nvim.lua_str(undo), "true");
    assert_eq!(scene.nvim.lua_str("return vim.bo.buftype"), "acwrite");
}

#[test]
fn a_jump_from_the_quickfix_window_opens_no_new_window() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":Caliban review<CR>:copen<CR>");
    scene.nvim.keys(":wincmd p<CR>gg:wincmd p<CR>");
    let windows = "return #vim.api.nvim_tabpage_list_wins(0)";
    let before = scene.nvim.lua_str(windows);
    scene.nvim.keys("2G<CR>");
    assert_eq!(scene.nvim.lua_str("return vim.fn.line('.')"), "8");
    assert_eq!(scene.nvim.lua_str(windows), before);
}

#[test]
fn writing_with_a_bang_writes_the_buffer_and_decides_nothing() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":w!<CR>");
    assert_eq!(scene.on_disk("a.txt"), Some(shown()));
    assert_eq!(scene.pending(), 2);
    scene.nvim.keys(":w<CR>");
    assert!(scene.said().contains("2 hunks wait for you"), "{}", scene.said());
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("2G\\r\\A");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l8", "L8\nL8b")));
}

/// Plugins that stage or autosave a file write it with a bang. The user did not type that bang.
#[test]
fn a_write_with_a_bang_by_a_plugin_is_refused() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.lua("vim.api.nvim_create_user_command('Stage', 'write!', {})", &[]);
    scene.nvim.lua("vim.keymap.set('n', 'S', function() vim.cmd('silent! wall!') end)", &[]);
    scene.nvim.keys(":Stage<CR>");
    scene.nvim.wait_screen("a.txt is not written: 2 hunks wait for you");
    // The user has typed a bang, but in an earlier command: this bang does not allow the plugin's write.
    scene.nvim.keys(":echo 'a!'<CR>S:Stage<CR>:silent! Stage<CR>:sil! Stage<CR>");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    for typed in
        [":w!<CR>", ":silent w!<CR>", ":bufdo w!<CR>", ":let a = 1 | w!<CR>", "q:iw!<Esc><CR>"]
    {
        scene.nvim.keys("5GrX");
        let before = scene.on_disk("a.txt");
        scene.nvim.keys(typed);
        assert_ne!(scene.on_disk("a.txt"), before, "{typed}");
        scene.nvim.keys("u");
        scene.nvim.keys(":w!<CR>");
        assert_eq!(scene.on_disk("a.txt"), Some(shown()), "{typed}");
    }
    assert_eq!(scene.pending(), 2);
}

#[test]
fn a_write_with_noautocmd_is_not_refused_during_a_review() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":noautocmd w<CR>");
    assert_eq!(scene.on_disk("a.txt"), Some(shown()));
    assert_eq!(scene.pending(), 2);
    assert_eq!(scene.nvim.lua_str("return vim.bo.buftype"), "acwrite", "once only");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.wait(
        |_| scene.said().contains("a.txt was written with 2 hunks under review"),
        "the user to be told",
    );
    scene.nvim.keys("\\R");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()), "what was rejected leaves the disk again");
}

/// A `BufWriteCmd` of the user's that writes the file itself.
fn own_writer(more: &str) -> String {
    format!(
        "vim.api.nvim_create_autocmd('BufWriteCmd', {{ pattern = '*.txt', callback = function(event)
            vim.fn.writefile(vim.fn.getline(1, '$'), event.match)
            {more}
        end }})"
    )
}

#[test]
fn a_write_by_a_bufwritecmd_is_reported_and_can_be_rejected() {
    for more in ["vim.bo.modified = false", ""] {
        let scene = Scene::two_hunks(|it| it.before(&own_writer(more)));
        scene.nvim.keys(":w<CR>");
        assert_eq!(scene.on_disk("a.txt"), Some(shown()));
        expect!["a.txt was written with 2 hunks under review."].assert_eq(&scene.said());
        assert_eq!(scene.pending(), 2, "{more}");
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys("2G\\a\\R");
        scene.wait_idle("I see.");
        let kept = nine().replace("l2", "L2");
        assert_eq!(scene.nvim.buffer("/a.txt"), kept.trim_end(), "{more}");
        assert_eq!(scene.on_disk("a.txt"), Some(kept), "{more}");
    }
}

#[test]
fn a_rejected_hunk_that_was_written_past_the_write_guard_is_removed_from_disk() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua("vim.fn.writefile(vim.fn.getline(1, '$'), vim.fn.expand('%:p'))", &[]);
    scene.nvim.keys("2G\\a\\R");
    scene.wait_idle("I see.");
    let kept = nine().replace("l2", "L2");
    assert_eq!(scene.nvim.buffer("/a.txt"), kept.trim_end());
    assert_eq!(scene.on_disk("a.txt"), Some(kept));
}

#[test]
fn a_copy_of_a_file_under_review_can_be_written() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":w copy.txt<CR>");
    assert_eq!(scene.on_disk("copy.txt"), Some(shown()));
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.pending(), 2);
}

#[test]
fn quitting_with_a_hidden_review_is_refused_without_a_bang() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    scene.nvim.keys(":edit b.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
    scene.wait_pending(1);
    for keys in [":wqa<CR>", ":wall<CR>", ":xall<CR>"] {
        scene.nvim.keys(keys);
        if scene.nvim.is_blocked() {
            scene.nvim.keys("<CR>");
        }
        assert!(
            scene.said().contains("a.txt is not written: 1 hunk waits for you"),
            "{keys}: {}",
            scene.said()
        );
        assert_eq!(scene.on_disk("a.txt"), Some(nine()));
        assert_eq!(scene.pending(), 1);
    }
    assert!(scene.nvim.quit_with(":qa!<CR>").success());
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}
