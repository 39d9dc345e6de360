//! The user's message about a review and the answer that the model gets report the same decisions.

use crate::kit::dice::Dice;
use crate::kit::reply::Reply;
use crate::review::reopened::quit;
use crate::review::scene::{Scene, edit, nine};
use expect_test::expect;
use std::collections::BTreeMap;

#[test]
fn deciding_selected_lines_is_reported_alike_to_user_and_model() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("8GV\\a");
    scene.wait_hunks(2);
    let both = nine().replace("l2", "L2").replace("l8", "L8\nL8b");
    assert_eq!(scene.nvim.buffer("/a.txt"), both.trim_end());
    scene.nvim.keys("ggVG\\r");
    expect![[r#"
        Of 2 changes in a.txt: 1 rejected and undone, 1 accepted in part.
        line 2, rejected, reads as before:
        l2
        line 8, accepted in part, now reads:
        L8"#]]
    .assert_eq(&scene.answer(2, "e1"));
    scene.wait_idle("I see.");
    expect!["a.txt: 1 accepted in part, 1 rejected, saved"].assert_eq(&scene.said());
    assert_eq!(scene.on_disk("a.txt").unwrap(), nine().replace("l8", "L8"));
    scene.nvim.wait_screen("1 rejected · 1 accepted in part");
}

#[test]
fn a_decision_that_was_undone_is_not_counted() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("2G\\r");
    scene.wait_hunks(1);
    scene.nvim.keys("u");
    scene.wait_hunks(2);
    scene.nvim.keys("2G\\A");
    expect!["The user accepted 2 changes in a.txt."].assert_eq(&scene.answer(2, "e1"));
    scene.wait_idle("I see.");
    assert_eq!(scene.said().lines().last(), Some("a.txt: 2 accepted, saved"));
}

/// The words at the right end of the edit's line in the chat, and the highlight group of its summary.
fn wait_line(scene: &Scene, words: &str) {
    let is_there = |line: &str| line.contains("edit") && line.trim_end().ends_with(words);
    scene.nvim.wait(|it| it.screen_marked("Caliban").lines().any(is_there), words);
}

#[test]
fn the_line_of_an_edit_has_the_last_verdict_also_after_a_restart() {
    for [first, then, words] in
        [["A", "R", "⟦CalibanError|2 rejected⟧"], ["R", "A", "⟦CalibanDim|2 accepted⟧"]]
    {
        let scene = Scene::two_hunks(|it| it.size(160, 40));
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys(&format!("\\{first}"));
        scene.wait_idle("I see.");
        scene.nvim.keys("u");
        scene.wait_hunks(2);
        scene.nvim.keys(&format!("\\{then}"));
        scene.wait_hunks(0);
        wait_line(&scene, words);
        let told = scene.told_next();
        assert!(told.contains(if then == "A" { "accepted" } else { "rejected" }), "{told}");
        let scene = quit(scene);
        scene.nvim.keys(":Caliban<CR>");
        wait_line(&scene, words);
    }
}

#[test]
fn an_accepted_hunk_edited_later_stays_accepted() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("2G\\a");
    scene.wait_hunks(1);
    scene.nvim.keys("2GA mine<Esc>8G\\a");
    expect![[r#"
        Of 2 changes in a.txt: 2 accepted.
        line 2, accepted, then edited, now reads:
        L2 mine
        line 8, accepted:
        L8
        L8b
        a.txt is not saved (it has other unsaved changes): the changes are not on disk yet."#]]
    .assert_eq(&scene.answer(2, "e1"));
    scene.wait_idle("I see.");
    expect!["a.txt: 2 accepted, not saved: it has other unsaved changes"].assert_eq(&scene.said());
}

#[test]
fn a_half_accepted_change_is_reported_alike_to_user_and_model_after_a_restart() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys("9GV\\r");
    scene.nvim.wait(|it| !it.buffer("/a.txt").contains("L8b"), "the line gone");
    let scene = quit(scene);
    scene.wait_hunks(2);
    scene.nvim.keys(":edit a.txt<CR>\\A");
    scene.wait_hunks(0);
    let said = scene.said();
    assert_eq!(said.lines().last(), Some("a.txt: 1 accepted, 1 accepted in part, saved"));
    let told = scene.told_next();
    assert!(told.contains("Of 2 changes in a.txt: 1 accepted, 1 accepted in part."), "{told}");
}

/// The lines `l1` to `l12`.
fn twelve() -> String {
    (1..=12).fold(String::new(), |text, n| text + &format!("l{n}\n"))
}

/// How many changes a sentence counts for each kind of decision. The sentence is the notice to the user, or the first
/// line of the answer to the model.
fn counts(said: &str) -> BTreeMap<&'static str, usize> {
    let kinds = [
        ("accepted in part", "part"),
        ("accepted and formatted", "accepted"),
        ("accepted", "accepted"),
        ("reworked", "reworked"),
        ("rejected", "rejected"),
    ];
    let mut counts = BTreeMap::new();
    if said.ends_with("undone") || said.contains(": undone") || said.contains("rejected 4 changes")
    {
        counts.insert("rejected", 4);
        return counts;
    } else if said.contains("accepted 4 changes") {
        counts.insert("accepted", 4);
        return counts;
    }
    let said = said.split_once(": ").unwrap_or_else(|| panic!("{said}")).1;
    for part in said.trim_end_matches('.').split(", ") {
        let Some((count, what)) = part.split_once(' ') else { continue };
        let Ok(count) = count.parse::<usize>() else { continue };
        let kind = kinds.iter().find(|it| what.starts_with(it.0));
        let kind = kind.unwrap_or_else(|| panic!("{part:?} in {said:?}")).1;
        *counts.entry(kind).or_default() += count;
    }
    counts
}

/// Random keys that decide, undo, redo or edit.
fn step(dice: &mut Dice) -> String {
    let row = dice.below(14) + 1;
    let to = row + dice.below(3);
    let verdict = *dice.one_of(&["\\a", "\\r"]);
    match dice.below(12) {
        0..4 => format!("{row}GV{to}G{verdict}"),
        4..6 => format!("{row}G{verdict}"),
        6 => "u".to_owned(),
        7 => "<C-r>".to_owned(),
        8 => format!("{row}GA mine{}<Esc>", dice.below(1000)),
        9 => format!("{row}Gomine{}<Esc>", dice.below(1000)),
        10 => format!("{row}Gdd"),
        _ => format!("{row}GV{to}Gu"),
    }
}

/// The number of reviewed files; `VERDICTS_SEED` in the environment sets another seed.
const ROUNDS: usize = 24;

#[test]
fn random_decisions_give_user_and_model_the_same_counts() {
    let name = |round: usize| format!("f{round}.txt");
    let files =
        |it| (0..ROUNDS).fold(it, |it: crate::kit::setup::Setup, n| it.file(&name(n), twelve()));
    let scene = Scene::start(files);
    scene.server.otherwise(Reply::said("I see."));
    // if the user undoes all hunks, the verdict waits for the user's next act, however long that takes
    scene.nvim.lua("require('caliban.review.undone').delay = 1000000000", &[]);
    let seed = std::env::var("VERDICTS_SEED").ok().and_then(|it| it.parse().ok());
    let mut dice = Dice(seed.unwrap_or(13));
    for round in 0..ROUNDS {
        let (file, call) = (name(round), format!("e{round}"));
        scene.nvim.keys(&format!(":silent edit! {file}<CR>"));
        let edits =
            [("l3", "L3"), ("l5\nl6\n", ""), ("l8\n", "L8\nL8b\nL8c\n"), ("l11\n", "l11\nL11b\n")];
        scene.ask(Reply::new().call(&call, "edit", edit(&file, &edits)));
        scene.wait_pending(4);
        let mut story = Vec::new();
        while story.len() < 14 && is_open(&scene) {
            let keys = step(&mut dice);
            scene.nvim.keys(&format!("<Esc>{keys}<Esc>"));
            story.push(keys);
        }
        let rest = dice.one_of(&["accept", "reject"]);
        if is_open(&scene) {
            scene.nvim.keys(&format!(":lua require('caliban').{rest}({{ scope = 'file' }})<CR>"));
        }
        scene.nvim.wait(|_| !is_open(&scene), &format!("the end of {story:?}"));
        let heard = scene.answer(2 * round + 2, &call);
        scene.wait_phase("idle");
        let said = scene.said();
        let read = said.lines().rev().find(|it| it.starts_with(&file));
        let read = read.unwrap_or_else(|| panic!("no notice of {file} after {story:?}: {said}"));
        let first = heard.lines().next().unwrap();
        assert_eq!(counts(read), counts(first), "{story:?}\nuser: {read}\nmodel: {heard}");
        assert_eq!(counts(read).values().sum::<usize>(), 4, "{story:?}: {read}");
    }
}

fn is_open(scene: &Scene) -> bool {
    let code = "local r = require('caliban.review').of(vim.api.nvim_get_current_buf())
        return tostring(r ~= nil and r.open)";
    scene.nvim.lua_str(code) == "true"
}
