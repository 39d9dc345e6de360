//! Nothing is written by accident while hunks are pending.

use super::scene::{Scene, edit, nine};
use crate::kit::reply::Reply;
use expect_test::expect;

fn shown() -> String {
    nine().replace("l2", "L2").replace("l8", "L8\nL8b")
}

#[test]
fn every_way_to_write_is_refused_with_one_sentence() {
    let scene = Scene::two_hunks(|it| it);
    for keys in
        [":w<CR>", ":wa<CR>", ":wqa<CR>", ":x<CR>", "ZZ", ":update<CR>", ":wq<CR>", ":xa<CR>"]
    {
        scene.nvim.lua("vim.cmd('messages clear')", &[]);
        scene.nvim.keys(keys);
        assert!(!scene.nvim.is_blocked(), "{keys} waits for a key:\n{}", scene.nvim.screen());
        let said = scene.said();
        assert!(
            said.contains(
                "a.txt has 2 hunks under review: accept or reject them first, or :w! to write"
            ),
            "{keys}: {said}"
        );
        assert_eq!(said.matches("under review").count(), 1, "{keys}: {said}");
        assert_eq!(scene.on_disk("a.txt"), Some(nine()), "{keys}");
        assert_eq!(scene.pending(), 2, "{keys}");
        assert_eq!(scene.nvim.lua_str("return vim.bo.modified"), "true", "{keys}");
    }
    assert_eq!(scene.server.requests().len(), 1, "the model was told nothing");
}

#[test]
fn an_autosave_is_refused_too() {
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

#[test]
fn writing_with_a_bang_writes_what_is_shown_and_decides_nothing() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":w!<CR>");
    assert_eq!(scene.on_disk("a.txt"), Some(shown()));
    assert_eq!(scene.pending(), 2);
    scene.nvim.keys(":w<CR>");
    assert!(scene.said().contains("2 hunks under review"), "{}", scene.said());
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("2G\\r\\A");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l8", "L8\nL8b")));
}

#[test]
fn noautocmd_is_a_way_past() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":noautocmd w<CR>");
    assert_eq!(scene.on_disk("a.txt"), Some(shown()));
    assert_eq!(scene.pending(), 2);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.wait(
        |_| scene.said().contains("a.txt was written with 2 hunks under review"),
        "the user to be told",
    );
    scene.nvim.keys("\\R");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()), "what was rejected leaves the disk again");
}

#[test]
fn a_copy_can_be_written() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":w copy.txt<CR>");
    assert_eq!(scene.on_disk("copy.txt"), Some(shown()));
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.pending(), 2);
}

#[test]
fn leaving_with_a_hidden_review_is_refused_and_leaving_with_a_bang_goes() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    scene.nvim.keys(":edit b.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
    scene.wait_pending(1);
    for keys in [":wqa<CR>", ":wall<CR>", ":xall<CR>"] {
        scene.nvim.keys(keys);
        if scene.nvim.is_blocked() {
            scene.nvim.keys("<CR>");
        }
        assert!(scene.said().contains("a.txt has 1 hunk under review"), "{keys}: {}", scene.said());
        assert_eq!(scene.on_disk("a.txt"), Some(nine()));
        assert_eq!(scene.pending(), 1);
    }
    assert!(scene.nvim.quit_with(":qa!<CR>").success());
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn a_refusal_fits_a_narrow_screen_without_a_key_to_dismiss_it() {
    let scene = Scene::two_hunks(|it| it.size(70, 20));
    scene.nvim.keys(":w<CR>");
    assert!(!scene.nvim.is_blocked());
    expect!["a.txt: 2 hunks under review (accept, reject, or :w!)"].assert_eq(&scene.said());
}
