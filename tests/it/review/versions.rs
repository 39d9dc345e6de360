//! Versions of a file on disk, as `git checkout` makes them, while written hunks are under review: the lines of another
//! version are never the model's, and all hunks come back with the model's text.

use super::reopened::start_again;
use super::scene::{Scene, edit, write};
use crate::kit::reply::Reply;

const ACCEPT: &str = ":Caliban accept all<CR>";
const REJECT: &str = ":Caliban reject all<CR>";

/// Lines `l1` to `l12`, in which `old` is replaced by `new`. The lines of each are joined by blanks.
fn text(replaced: &[(&str, &str)]) -> String {
    let mut all = (1..=12).fold(String::new(), |text, n| text + &format!("l{n}\n"));
    for (old, new) in replaced {
        let lines = |it: &str| it.split(' ').fold(String::new(), |text, it| text + it + "\n");
        all = all.replace(&lines(old), &lines(new));
    }
    all
}

/// The model's edits are written, and the turn is over.
fn start(edits: &[(&str, &str)]) -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", text(&[])).config("{ mode = 'auto-edit' }"));
    scene.nvim.keys(":edit a.txt<CR>");
    let spaced: Vec<(String, String)> =
        edits.iter().map(|(old, new)| (old.replace(' ', "\n"), new.replace(' ', "\n"))).collect();
    let spaced: Vec<(&str, &str)> =
        spaced.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &spaced)));
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(edits.len());
    scene
}

/// Another program writes the file, and Neovim looks at it.
fn put(scene: &Scene, text: &str) {
    std::fs::write(scene.nvim.setup.path("a.txt"), text).unwrap();
    scene.nvim.keys(":checktime<CR>");
    scene.nvim.wait(|it| it.buffer("/a.txt") + "\n" == text, "the version on disk");
}

/// The hunks under review, as `old > new`.
fn listed(scene: &Scene) -> String {
    scene.nvim.lua_str(
        "return vim.iter(require('caliban.review').pending()):map(function(it)
            return table.concat(it.removed, ' ') .. ' > ' .. table.concat(it.added, ' ')
        end):join(', ')",
    )
}

fn ends(scene: &Scene, keys: &str, text: &str) {
    scene.nvim.keys(keys);
    scene.wait_hunks(0);
    let on_disk = scene.on_disk("a.txt").unwrap();
    assert_eq!((scene.nvim.buffer("/a.txt") + "\n", on_disk), (text.to_owned(), text.to_owned()));
}

/// The lines of the base, the model's, those on disk in between, and the hunks that the list has then.
const SHAPES: [(&str, &str, &str, &str); 11] = [
    ("l3 l4 l5", "M", "l3 x y", ""),
    ("l3 l4 l5", "M", "x y l5", ""),
    ("l3 l4 l5", "M", "x l4 y", ""),
    ("l3 l4 l5", "M", "x y z", ""),
    ("l3 l4 l5", "M", "l3 l4 l5 x", ""),
    ("l3 l4 l5", "M", "l3 l5", ""),
    ("l3", "M", "M x", "l3 > M"),
    ("l3", "M1 M2 M3", "M2", ""),
    ("l3", "Mone", "Mtwo", ""),
    ("l3 l4 l5", "M", "l3 changed l5", ""),
    ("l3 l4 l5", "M", "x M y", ""),
];

#[test]
fn the_lines_of_another_version_are_no_hunk_and_the_hunk_comes_back_with_its_text() {
    for (old, new, other, list) in SHAPES {
        let scene = start(&[(old, new)]);
        let (base, models, theirs) = (text(&[]), text(&[(old, new)]), text(&[(old, other)]));
        put(&scene, &theirs);
        scene.wait_hunks(usize::from(!list.is_empty()));
        assert_eq!(listed(&scene), list, "{other}");
        put(&scene, &models);
        scene.wait_hunks(1);
        assert_eq!(listed(&scene), format!("{old} > {new}"), "{other}");
        put(&scene, &theirs);
        scene.wait_hunks(usize::from(!list.is_empty()));
        put(&scene, &base);
        scene.wait_hunks(0);
        put(&scene, &models);
        scene.wait_hunks(1);
        ends(&scene, REJECT, &base);
        let told = scene.told_next();
        assert!(told.contains("The user rejected the change in a.txt: it is undone."), "{told}");
    }
}

/// In the other version nothing is decided: its lines stay.
#[test]
fn a_decision_in_another_version_leaves_its_lines_alone() {
    for (old, new, other, list) in SHAPES {
        for keys in [ACCEPT, REJECT] {
            let scene = start(&[(old, new)]);
            let theirs = text(&[(old, other)]);
            std::fs::write(scene.nvim.setup.path("a.txt"), &theirs).unwrap();
            let is_undone = keys == REJECT && !list.is_empty();
            ends(&scene, keys, &if is_undone { theirs.replace("M\n", "l3\n") } else { theirs });
        }
    }
}

/// Each row: the versions between the model's text and the model's text.
#[test]
fn all_hunks_come_back_after_any_versions() {
    let edits = [("l3", "M3"), ("l10", "M10")];
    let (base, models) = (text(&[]), text(&edits));
    let (one, theirs) = (text(&edits[..1]), text(&[edits[0], ("l10", "theirs")]));
    for tour in [
        [&base, &models, &theirs],
        [&base, &theirs, &base],
        [&theirs, &base, &theirs],
        [&one, &theirs, &one],
        [&base, &models, &one],
    ] {
        let scene = start(&edits);
        for it in tour {
            put(&scene, it);
        }
        put(&scene, &models);
        scene.wait_hunks(2);
        assert_eq!(listed(&scene), "l3 > M3, l10 > M10");
        ends(&scene, REJECT, &base);
    }
}

/// What was decided in another version counts, and the other hunks come back.
#[test]
fn hunks_come_back_beside_a_decision_in_another_version() {
    let edits = [("l3", "M3"), ("l10", "M10")];
    for keys in [ACCEPT, REJECT] {
        let scene = start(&edits);
        put(&scene, &text(&[edits[0], ("l10", "theirs")]));
        scene.wait_hunks(1);
        scene.nvim.keys(keys);
        scene.wait_hunks(0);
        put(&scene, &text(&edits));
        scene.wait_hunks(1);
        assert_eq!(listed(&scene), "l10 > M10", "{keys}");
        ends(&scene, REJECT, &text(&edits[..1]));
    }
}

/// A restart in another version, and one in the model's.
#[test]
fn hunks_come_back_after_a_restart_in_another_version() {
    let edits = [("l3 l4 l5", "M"), ("l10", "M10")];
    let (base, models) = (text(&[]), text(&edits));
    for theirs in
        [text(&[("l3 l4 l5", "l3 x y"), ("l10", "x")]), text(&[("l3 l4 l5", "l3 x y"), edits[1]])]
    {
        for away in [true, false] {
            let scene = start(&edits);
            let left = usize::from(theirs.contains("M10"));
            if away {
                put(&scene, &theirs);
                scene.wait_hunks(left);
            }
            assert!(scene.nvim.quit_with("<Esc>:qa!<CR>").success());
            std::fs::write(scene.nvim.setup.path("a.txt"), &theirs).unwrap();
            let scene = start_again(scene);
            scene.nvim.keys(":edit a.txt<CR>:Caliban<CR><C-w>p");
            scene.wait_hunks(left);
            // the verdict on a review that has ended is told once
            let told = scene.told_next() + &scene.told_next();
            let verdicts = told.matches("Of 2 changes in a.txt: 2 undone on disk.").count();
            assert_eq!(verdicts, usize::from(left == 0), "{away}: {told}");
            assert_eq!(scene.on_disk("a.txt"), Some(theirs.clone()));
            assert!(scene.nvim.quit_with("<Esc>:qa!<CR>").success());
            std::fs::write(scene.nvim.setup.path("a.txt"), &models).unwrap();
            let scene = start_again(scene);
            scene.nvim.keys(":edit a.txt<CR>:Caliban<CR><C-w>p");
            scene.wait_hunks(2);
            assert_eq!(listed(&scene), "l3 l4 l5 > M, l10 > M10");
            ends(&scene, REJECT, &base);
        }
    }
}

/// A new file, which another branch has too.
#[test]
fn the_new_file_of_another_version_is_not_deleted() {
    for keys in [ACCEPT, REJECT] {
        let scene = Scene::start(|it| it.config("{ mode = 'auto-edit' }"));
        scene.server.reply(Reply::new().call("w1", "write", write("a.txt", "model's\n")));
        scene.ask_until(Reply::said("I see."), "I see.");
        scene.wait_hunks(1);
        scene.nvim.keys(":edit a.txt<CR>");
        put(&scene, "theirs\n");
        scene.wait_hunks(0);
        assert_eq!(listed(&scene), "");
        ends(&scene, keys, "theirs\n");
        let told = scene.told_next();
        assert!(
            told.contains("The change in a.txt was undone on disk: it is not in the file."),
            "{told}"
        );
        put(&scene, "model's\n");
        scene.wait_hunks(1);
        scene.nvim.keys(REJECT);
        scene.wait_hunks(0);
        assert_eq!(scene.on_disk("a.txt"), None);
    }
}

/// The same, where the user decides before Neovim has seen the file of the other branch.
#[test]
fn a_decision_on_a_new_file_looks_at_the_disk_first() {
    for keys in [ACCEPT, REJECT] {
        let scene = Scene::start(|it| it.config("{ mode = 'auto-edit' }"));
        scene.server.reply(Reply::new().call("w1", "write", write("a.txt", "model's\n")));
        scene.ask_until(Reply::said("I see."), "I see.");
        scene.wait_hunks(1);
        std::fs::write(scene.nvim.setup.path("a.txt"), "theirs\n").unwrap();
        ends(&scene, keys, "theirs\n");
        scene.nvim.keys(keys);
        scene.wait_hunks(0);
        assert_eq!(scene.on_disk("a.txt").as_deref(), Some("theirs\n"));
    }
}

/// A deleted file, which another branch has with another text: it stays whatever the user decides.
#[test]
fn the_deleted_file_of_another_version_stays() {
    for keys in [ACCEPT, REJECT] {
        let scene = Scene::start(|it| it.file("a.txt", text(&[])).config("{ mode = 'auto-edit' }"));
        let delete = serde_json::json!({ "path": "a.txt" });
        scene.server.reply(Reply::new().call("d1", "delete", delete));
        scene.ask_until(Reply::said("I see."), "I see.");
        std::fs::write(scene.nvim.setup.path("a.txt"), "theirs\n").unwrap();
        scene.nvim.keys(":checktime<CR>");
        scene.nvim.keys(keys);
        scene.nvim.keys(keys);
        assert_eq!(scene.on_disk("a.txt").as_deref(), Some("theirs\n"), "{keys}");
        let told = scene.told_next();
        assert!(!told.contains("a.txt is deleted"), "{told}");
    }
}

/// The same removal can be cut in two ways, because an empty line is before and after it.
#[test]
fn a_removal_at_the_file_s_end_is_undone_by_a_version_that_has_the_lines() {
    let base = "a\nb\nc\nd\n\n    return x;\n}\n\n";
    let config = "{ mode = 'auto-edit' }";
    for look in [":checktime<CR>", ""] {
        let scene = Scene::start(|it| it.file("a.txt", base).config(config));
        scene.nvim.keys(":edit a.txt<CR>");
        let cut = edit("a.txt", &[("d\n\n    return x;\n}\n\n", "d\n\n")]);
        let call = Reply::new().call("e1", "edit", cut);
        scene.server.reply(call);
        scene.ask_until(Reply::said("I see."), "I see.");
        scene.wait_hunks(1);
        let other = base.replace("b\n", "B other\n");
        std::fs::write(scene.nvim.setup.path("a.txt"), &other).unwrap();
        scene.nvim.keys(look);
        ends(&scene, REJECT, &other);
    }
}
