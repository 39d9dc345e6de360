//! Text that the user has typed into a file under review outlives the end of Neovim, and stays the user's own.

use super::reopened::quit;
use super::scene::{Scene, nine, write};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use expect_test::expect;

/// Without a swap file, only the record of the review has the text.
const NO_SWAP: &str = "vim.o.swapfile = false";

/// Kills Neovim once the record of the review has this text, and starts another one.
fn killed(scene: Scene, text: &str) -> Scene {
    let has = |it: &Nvim| {
        let all = it.setup.review_records();
        all.iter().any(|it| std::fs::read_to_string(it).is_ok_and(|it| it.contains(text)))
    };
    scene.nvim.wait(has, "the text in the record");
    scene.nvim.kill();
    let Scene { server, nvim } = scene;
    let setup = nvim.setup.clone();
    drop(nvim);
    Scene { server, nvim: Nvim::start(&setup) }
}

#[test]
fn text_typed_into_a_new_file_outlives_a_kill() {
    let scene = Scene::start(|it| it.before(NO_SWAP));
    scene.ask(Reply::new().call("w1", "write", write("new.txt", "one\ntwo\nthree\n")));
    scene.wait_pending(1);
    scene.nvim.keys(":edit new.txt<CR>2GAmine<Esc>Gomore of mine<Esc>");
    let scene = killed(scene, "more of mine");
    scene.wait_hunks(1);
    let text = "one\ntwomine\nthree\nmore of mine";
    scene.nvim.wait(|it| it.buffer("/new.txt") == text, "the user's text");
    scene.nvim.keys(":edit new.txt<CR>:Caliban accept all<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.nvim.buffer("/new.txt"), text);
}

#[test]
fn lines_of_the_user_stay_their_own_after_a_restart() {
    for mode in ["ask", "auto-edit"] {
        for is_killed in [false, true] {
            let scene = if mode == "ask" {
                Scene::two_hunks(|it| it.before(NO_SWAP))
            } else {
                Scene::two_written(|it| it.before(NO_SWAP))
            };
            scene.nvim.keys("5Goof mine<Esc>");
            let scene = if is_killed { killed(scene, "of mine") } else { quit(scene) };
            scene.wait_hunks(2);
            scene.nvim.keys(":edit a.txt<CR>:Caliban reject all<CR>");
            scene.wait_hunks(0);
            let mine = nine().replace("l5\n", "l5\nof mine\n");
            assert_eq!(scene.nvim.buffer("/a.txt") + "\n", mine, "{mode} {is_killed}");
        }
    }
}

#[test]
fn a_text_that_is_on_no_disk_is_modified() {
    // the user removes an edited file in a terminal, and then accepts
    let scene = Scene::two_written(|it| it);
    std::fs::remove_file(scene.nvim.setup.path("a.txt")).unwrap();
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    expect![[r#"
        a.txt was deleted or moved on disk while you were reviewing it. The buffer keeps its text.
        a.txt: 2 accepted, not saved: it was deleted or moved on disk"#]]
    .assert_eq(&scene.said());
    scene.nvim.keys(":qa<CR>");
    scene.nvim.wait_screen("E37");
}
