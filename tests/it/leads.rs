//! Edits whose path is, or leads through, a symbolic link.

use crate::kit::reply::Reply;
use crate::review::scene::{Scene, edit, nine, write};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

/// Links in the project, and where they lead.
const LINKS: [(&str, &str); 14] = [
    ("file", "src/a.txt"),
    ("folder", "src"),
    ("chain", "file"),
    ("deep/up", "../src"),
    ("deep/chain", "../folder/../chain"),
    ("agents", "AGENTS.md"),
    ("hidden", ".git"),
    ("loop", "loop"),
    ("new", "src/new.txt"),
    ("out", "../outside"),
    ("outfile", "../outside/a.txt"),
    ("outnew", "../outside/new.txt"),
    ("outchain", "deep/out"),
    ("deep/out", "../../outside/a.txt"),
];

const AUTO: &str = "{ mode = 'auto-edit' }";

#[derive(Debug, Clone, Copy)]
enum Goes {
    /// The edit is written into this file.
    Into(&'static str),
    /// The edit of this file waits for a review.
    Waits(&'static str),
    /// The call is refused, with this text.
    Refused(&'static str),
}
use Goes::{Into, Refused, Waits};

const OUTSIDE: Goes = Refused("is outside the project");
const EDITS: [(&str, Goes); 17] = [
    ("src/a.txt", Into("src/a.txt")),
    ("file", Into("src/a.txt")),
    ("./deep/../file", Into("src/a.txt")),
    ("folder/a.txt", Into("src/a.txt")),
    ("chain", Into("src/a.txt")),
    ("deep/up/a.txt", Into("src/a.txt")),
    ("deep/chain", Into("src/a.txt")),
    ("agents", Waits("AGENTS.md")),
    ("folder/../AGENTS.md", Waits("AGENTS.md")),
    ("hidden/config", Refused("is in .git")),
    ("loop", Refused("is a loop of symlinks")),
    ("out/a.txt", OUTSIDE),
    ("outfile", OUTSIDE),
    ("outchain", OUTSIDE),
    ("deep/out", OUTSIDE),
    ("../outside/a.txt", OUTSIDE),
    ("folder/../../outside/a.txt", OUTSIDE),
];
const WRITES: [(&str, Goes); 6] = [
    ("new", Into("src/new.txt")),
    ("folder/other.txt", Into("src/other.txt")),
    ("deep/up/sub/b.txt", Into("src/sub/b.txt")),
    ("outnew", OUTSIDE),
    ("out/b.txt", OUTSIDE),
    ("out/sub/b.txt", OUTSIDE),
];

fn outside(scene: &Scene) -> PathBuf {
    scene.nvim.setup.dir().join("outside")
}

/// A project with these links, and a folder outside of it.
fn start() -> Scene {
    let scene = Scene::start(|it| {
        it.config(AUTO)
            .file("src/a.txt", nine())
            .file("deep/x", "")
            .file("AGENTS.md", nine())
            .size(160, 40)
    });
    fs::create_dir(outside(&scene)).unwrap();
    fs::write(outside(&scene).join("a.txt"), nine()).unwrap();
    for (link, to) in LINKS {
        symlink(to, scene.nvim.setup.path(link)).unwrap();
    }
    scene
}

fn is_untouched(scene: &Scene) -> bool {
    let names = fs::read_dir(outside(scene)).unwrap().count();
    names == 1 && fs::read_to_string(outside(scene).join("a.txt")).unwrap() == nine()
}

/// The model makes a call, and the turn ends, or waits for a review.
fn called(scene: &Scene, tool: &str, input: &Value, waits: bool) -> Option<String> {
    let n = scene.server.requests().len();
    let said = format!("Said {n}.");
    scene.server.reply(Reply::new().call("c1", tool, input.clone()));
    scene.server.reply(Reply::said(&said));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    if waits {
        scene.wait_pending(1);
        return None;
    }
    scene.wait_idle(&said);
    Some(scene.answer(n + 2, "c1"))
}

fn check(scene: &Scene, tool: &str, input: &Value, path: &str, goes: Goes) {
    let agents = scene.on_disk("AGENTS.md");
    let answer = called(scene, tool, input, matches!(goes, Waits(_))).unwrap_or_default();
    let under_review = "return vim.iter(require('caliban.review').reviews()) \
        :map(function(it) return it.path end):join(' ')";
    let shown = scene.nvim.lua_str(under_review);
    let whole = |it: &str| scene.nvim.setup.path(it).display().to_string();
    let transcript = scene.nvim.transcript();
    match goes {
        Into(file) => {
            let text = scene.on_disk(file).unwrap_or_default();
            assert!(text.contains("new line"), "{tool} {path}: {text} {answer}");
            assert!(
                transcript.contains(file) && shown == whole(file),
                "{tool} {path}: {shown} {transcript}"
            );
        }
        Waits(file) => {
            assert_eq!(scene.on_disk(file), agents, "{tool} {path}");
            assert!(
                transcript.contains(file) && shown == whole(file),
                "{tool} {path}: {shown} {transcript}"
            );
        }
        Refused(why) => {
            assert!(answer.contains(why), "{tool} {path}: {answer}");
            assert_eq!(shown, "", "{tool} {path}");
        }
    }
    assert!(is_untouched(scene), "{tool} {path}");
    for (link, to) in LINKS {
        assert_eq!(
            fs::read_link(scene.nvim.setup.path(link)).unwrap().to_str(),
            Some(to),
            "{path}"
        );
    }
}

#[test]
fn an_edit_through_a_link_goes_to_where_the_link_leads_or_nowhere() {
    for (path, goes) in EDITS {
        check(&start(), "edit", &edit(path, &[("l2", "new line")]), path, goes);
    }
}

#[test]
fn a_new_file_through_a_link_goes_to_where_the_link_leads_or_nowhere() {
    for (path, goes) in WRITES {
        check(&start(), "write", &write(path, "new line\n"), path, goes);
    }
}

/// What is put into the path of `src/deep/a.txt` after the call. `$O` is the folder outside, in which `deep/a.txt` and
/// `a.txt` have the same text as the file; so has `AGENTS.md`.
const SWAPS: [&str; 7] = [
    "mv src/deep/a.txt kept; ln -s $O/a.txt src/deep/a.txt",
    "mv src/deep/a.txt kept; ln -s ../../AGENTS.md src/deep/a.txt",
    "mv src/deep kept; ln -s $O src/deep",
    "mv src kept; ln -s $O src",
    "mv src kept; ln -s other src; ln -s $O other",
    "mv src kept; mkdir src; ln -s ../../outside/deep src/deep",
    "rm src/deep/a.txt; ln -s $O/new.txt src/deep/a.txt",
];

/// What the user does with the edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// Accepts the pending change.
    Accept,
    /// Starts Neovim again after the swap. The change is pending in the record of the review.
    Again,
    /// Starts Neovim again before the swap, and accepts the change.
    Reopened,
    /// Rejects the written change.
    Reject,
    /// Takes the turn of the written and accepted change back.
    Rewind,
    /// Undoes the message of the written and accepted change, and the change with it.
    Undo,
}
use After::{Accept, Again, Reject, Reopened, Rewind, Undo};

fn files(scene: &Scene) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for folder in [outside(scene), outside(scene).join("deep")] {
        for it in fs::read_dir(folder).unwrap().flatten().filter(|it| it.path().is_file()) {
            all.push((it.path().display().to_string(), fs::read_to_string(it.path()).unwrap()));
        }
    }
    all.push(("AGENTS.md".to_owned(), scene.on_disk("AGENTS.md").unwrap()));
    all.sort();
    all
}

fn swapped(swap: &str, after: After) {
    let waits = matches!(after, Accept | Again | Reopened);
    let config = if waits { "{ mode = 'ask' }" } else { AUTO };
    let mut scene = Scene::start(|it| {
        it.config(config).file("src/deep/a.txt", nine()).file("AGENTS.md", nine()).size(160, 40)
    });
    fs::create_dir_all(outside(&scene).join("deep")).unwrap();
    for it in ["a.txt", "deep/a.txt"] {
        fs::write(outside(&scene).join(it), if waits { nine() } else { changed() }).unwrap();
    }
    called(&scene, "edit", &edit("src/deep/a.txt", &[("l2", "L2")]), waits);
    if !waits {
        assert_eq!(scene.on_disk("src/deep/a.txt"), Some(changed()));
        fs::write(scene.nvim.setup.path("AGENTS.md"), changed()).unwrap();
    }
    if matches!(after, Rewind | Undo) {
        scene.nvim.keys(":Caliban accept all<CR>");
        scene.wait_chat("You accepted the change in src/deep/a.txt.");
    }
    let before = files(&scene);
    scene.server.otherwise(Reply::said("I see."));
    if let Again | Reopened = after {
        assert!(scene.nvim.quit_with("<Esc>:qa!<CR>").success());
    }
    if let Reopened = after {
        scene = start_again(scene);
        scene.wait_hunks(1);
    }
    let script = swap.replace("$O", outside(&scene).to_str().unwrap());
    let mut bash = Command::new("bash");
    bash.arg("-ec").arg(script).current_dir(scene.nvim.setup.path(""));
    assert!(bash.status().unwrap().success(), "{swap}");
    if let Again = after {
        scene = start_again(scene);
    }
    decided(&scene, after);
    assert_eq!(files(&scene), before, "{swap} {after:?}: {}", scene.said());
}

/// Does the rest of it, until Caliban says that nothing was written.
fn decided(scene: &Scene, after: After) {
    let refused = || scene.nvim.wait(|_| scene.said().contains("not saved: "), "a refusal");
    match after {
        Accept | Reopened => {
            scene.nvim.keys(":Caliban accept all<CR>");
            refused();
        }
        Reject => {
            scene.nvim.keys(":Caliban reject all<CR>");
            refused();
        }
        Again => {
            scene.nvim.keys(":Caliban<CR>");
            scene.wait_chat("Changes to src/deep/a.txt were under review when the editor");
            assert_eq!(scene.nvim.pending(), 0);
        }
        Rewind | Undo => {
            let (keys, choice) = if after == Undo { ("undo", 2) } else { ("rewind", 1) };
            scene.nvim.keys(&format!(":Caliban {keys}<CR>"));
            scene.nvim.wait_screen("Type number and <Enter>");
            scene.nvim.keys(&format!("{choice}<CR>"));
            scene.nvim.wait_screen("take back all");
            scene.nvim.keys("a");
            scene.nvim.wait_screen("Nothing was taken back: no change can be taken back here.");
        }
    }
}

fn changed() -> String {
    nine().replace("l2", "L2")
}

fn start_again(scene: Scene) -> Scene {
    let Scene { server, nvim } = scene;
    let setup = nvim.setup.clone();
    drop(nvim);
    Scene { server, nvim: crate::kit::nvim::Nvim::start(&setup) }
}

fn all(after: After) {
    for it in SWAPS {
        swapped(it, after);
    }
}

#[test]
fn an_accepted_change_goes_through_no_link_that_came_after_the_call() {
    all(Accept);
}

#[test]
fn a_change_of_an_earlier_neovim_goes_through_no_link_that_came_since() {
    all(Again);
}

#[test]
fn a_reopened_change_goes_through_no_link_that_came_since() {
    all(Reopened);
}

#[test]
fn a_rejected_change_is_taken_back_through_no_link_that_came_after_the_call() {
    all(Reject);
}

#[test]
fn a_rewind_goes_through_no_link_that_came_after_the_change() {
    all(Rewind);
}

#[test]
fn an_undone_message_changes_nothing_through_a_link_that_came_after_the_change() {
    all(Undo);
}
