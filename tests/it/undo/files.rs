//! An undo rewinds the files of the turns that it removes, if the user wants that.

use super::wait_composer;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::review::scene::{Scene, edit, nine};

const MODE: &str = "{ mode = 'auto-edit' }";

/// Sends a prompt that the model answers with one change of `a.txt`, and accepts the change.
fn change(scene: &Scene, prompt: &str, from: &str, to: &str) {
    let done = format!("Done with {prompt}.");
    scene.server.reply(Reply::new().call(prompt, "edit", edit("a.txt", &[(from, to)])));
    scene.server.reply(Reply::said(&done));
    scene.nvim.ask(prompt, &done);
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
}

/// A scene in auto-edit mode with the prompts `first`, which changes no file, `second` and `third`.
fn changed_twice() -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE).size(200, 40));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.server.reply(Reply::said("Hello."));
    scene.nvim.ask("first", "Hello.");
    change(&scene, "second", "l2", "L2");
    change(&scene, "third", "l8", "L8");
    scene
}

/// Sends this undo command, and chooses the second answer to the question whether to rewind the files too.
fn with_files(scene: &Scene, undo: &str) {
    scene.nvim.keys(&format!(":Caliban<CR>i{undo}<C-s>"));
    scene.nvim.wait_screen("Type number and <Enter>");
    scene.nvim.keys("2<CR>");
    scene.nvim.wait_screen("take back all");
    scene.nvim.keys("a");
    scene.wait_chat("You took back the changes");
}

#[test]
fn an_undo_can_rewind_the_files_of_its_turns() {
    let scene = changed_twice();
    with_files(&scene, "/undo 2");
    scene.wait_chat("You took back the changes since “second”:\na.txt is restored");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    // The composer has the focus again.
    assert_eq!(scene.nvim.composer(), "second");
    scene.nvim.keys("$a anew<Esc>");
    assert_eq!(scene.nvim.composer(), "second anew");
    scene.server.reply(Reply::said("As you wish."));
    scene.nvim.keys("<CR>");
    scene.wait_idle("As you wish.");
    let outline = scene.server.requests().pop().unwrap().outline();
    assert!(!outline.contains("took back") && !outline.contains("third"), "{outline}");
}

#[test]
fn an_undo_of_the_conversation_alone_keeps_the_files() {
    let scene = changed_twice();
    scene.nvim.keys(":Caliban<CR>i/undo 2<C-s>");
    scene.nvim.wait_screen("Back to before “second”");
    scene.nvim.wait_screen("preview the rewind of a.txt");
    scene.nvim.keys("1<CR>");
    wait_composer(&scene.nvim, "second");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2").replace("l8", "L8")));
    // `:Caliban rewind` still lists the undone turns.
    scene.nvim.keys("<Esc>:Caliban rewind<CR>");
    scene.nvim.wait_screen("third");
    scene.nvim.keys("<C-c>");
}

#[test]
fn cancelling_the_question_of_an_undo_takes_nothing_back() {
    let scene = changed_twice();
    scene.nvim.keys(":Caliban<CR>i/undo<C-s>");
    scene.nvim.wait_screen("Type number and <Enter>");
    scene.nvim.keys("<CR>");
    scene.nvim.wait_gone("Type number and <Enter>");
    assert!(scene.nvim.transcript().contains("Done with third."));
    assert!(!scene.nvim.setup.sessions().join("main-2.json").exists());
}

#[test]
fn an_undo_further_back_also_rewinds_turns_that_were_undone_before() {
    let scene = changed_twice();
    scene.nvim.keys(":Caliban<CR>i/undo<C-s>");
    scene.nvim.wait_screen("Type number and <Enter>");
    scene.nvim.keys("1<CR>");
    wait_composer(&scene.nvim, "third");
    scene.nvim.keys("<Esc>:%delete<CR>");
    change(&scene, "fourth", "l5", "L5");
    with_files(&scene, "/undo 2");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn a_cleared_conversation_is_not_rewound_by_an_undo() {
    let scene = changed_twice();
    scene.nvim.keys(":Caliban<CR>i/clear<C-s>");
    scene.nvim.wait_gone("Done with third.");
    scene.nvim.keys("<Esc>");
    scene.server.reply(Reply::said("Again."));
    scene.nvim.ask("first", "Again.");
    change(&scene, "fifth", "l5", "L5");
    with_files(&scene, "/undo 2");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2").replace("l8", "L8")));
}

#[test]
fn an_undo_after_a_restart_rewinds_the_files_of_its_turns() {
    let scene = changed_twice();
    scene.nvim.keys(":Caliban restart<CR>");
    scene.nvim.wait_phase("idle");
    with_files(&scene, "/undo 2");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    // `main-2`, the conversation before the undo, can rewind its own turns.
    scene.nvim.keys("<Esc>:Caliban resume main-2<CR>");
    scene.nvim.wait_session("main-2");
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.nvim.wait_screen("second");
    scene.nvim.keys("<C-c>");
}

#[test]
fn a_rewind_of_an_undo_leaves_a_file_whose_former_name_has_a_swap_file() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE).size(200, 40));
    let rename = serde_json::json!({ "path": "a.txt", "to": "sub/a.txt" });
    scene.server.reply(Reply::new().call("r1", "rename", rename));
    scene.server.reply(Reply::said("Renamed."));
    scene.nvim.ask("first", "Renamed.");
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    // another Neovim has the file open under its former name
    let path = scene.nvim.setup.path("a.txt");
    std::fs::write(&path, nine()).unwrap();
    let other = Nvim::start(&scene.nvim.setup);
    other.keys(":set swapfile directory=.<CR>:edit a.txt<CR>ichanged<Esc>:preserve<CR>");
    other.wait(|it| it.setup.path(".a.txt.swp").exists(), "the swap file");
    std::fs::remove_file(&path).unwrap();
    scene.nvim.keys(":set directory=.<CR>:Caliban<CR>i/undo<C-s>");
    scene.nvim.wait_screen("Type number and <Enter>");
    scene.nvim.keys("2<CR>");
    scene.nvim.wait_screen("take back all");
    scene.nvim.keys("a");
    scene.wait_chat("a.txt is not changed: a.txt: it is open in another Neovim (swap file)");
    assert_eq!((scene.on_disk("a.txt"), scene.on_disk("sub/a.txt")), (None, Some(nine())));
}

/// The bar of a window of the preview, and the line of keys at the composer.
fn keys(nvim: &Nvim) -> Vec<String> {
    let screen = nvim.screen();
    let rows = screen.lines().filter(|it| it.contains("a take back all") || it.contains("a all"));
    rows.map(|it| it.split('│').next().unwrap().trim().to_owned()).collect()
}

#[test]
fn the_previews_of_an_undo_and_of_a_rewind_name_the_same_keys_in_every_window() {
    let footer = "a take back all · <CR> this file · q close · :Caliban";
    let title = "A change with a rather long first line that has no room in a small window at all";
    for (columns, rows, layout) in [(80, 24, "auto"), (60, 20, "auto"), (100, 24, "right")] {
        let config = format!("{{ mode = 'auto-edit', layout = '{layout}' }}");
        let scene = Scene::start(|it| it.file("a.txt", nine()).config(&config).size(columns, rows));
        let nvim = &scene.nvim;
        nvim.keys(":edit a.txt<CR>");
        change(&scene, title, "l2", "L2");
        let mut seen = Vec::new();
        for command in [":Caliban rewind<CR>", ":Caliban undo<CR>"] {
            nvim.keys("<C-w>t");
            nvim.keys(command);
            nvim.wait_screen("Type number and <Enter>");
            nvim.keys(if command.contains("undo") { "2<CR>" } else { "1<CR>" });
            nvim.wait(|it| keys(it).len() == 2, &format!("both lines of keys at {columns}x{rows}"));
            let both = keys(nvim);
            assert!(both[0].contains("q close") && both[1].contains(footer), "{both:?}");
            seen.push(both[0].split(" · A change").next().unwrap().to_owned());
            nvim.keys("q");
            nvim.wait(|it| keys(it).is_empty(), "the end of the preview");
        }
        assert_eq!(seen[0], seen[1]);
    }
}

/// All three verdicts have the same words. Those on the edits that are taken back are left out.
#[test]
fn verdicts_on_edits_that_are_taken_back_are_neither_told_nor_shown() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE).size(200, 40));
    scene.nvim.keys(":edit a.txt<CR>");
    change(&scene, "first", "l2", "L2");
    change(&scene, "second", "l5", "L5");
    change(&scene, "third", "l8", "L8");
    with_files(&scene, "/undo 2");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
    scene.nvim.keys("ggdG");
    let told = scene.told_next();
    assert_eq!(told.matches("The user accepted the change in a.txt.").count(), 1, "{told}");
    let shown = scene.nvim.transcript();
    assert_eq!(shown.matches("You accepted the change in a.txt.").count(), 1, "{shown}");
}
