//! Tests that hints, keys, lists and banners are readable on a narrow screen.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, edit, nine};
use expect_test::expect;
use serde_json::json;

/// A path that is wider than a window of 60 cells.
const FAR: &str = "src/components/deeply/nested/folder/with/a/long/name/renamed_at_last.txt";

/// The text of the leftmost window on the screen, without blanks and line breaks.
fn joined(nvim: &Nvim) -> String {
    let screen = nvim.screen();
    let rows = screen.lines().filter_map(|it| it.split('│').next());
    rows.flat_map(str::split_whitespace).collect()
}

#[test]
fn the_banner_of_a_renaming_shows_its_path_and_both_keys() {
    for (columns, rows) in [(60, 30), (80, 30), (120, 40), (200, 50)] {
        let scene = Scene::start(|it| it.file("a.txt", nine()).size(columns, rows));
        scene.nvim.keys(":edit a.txt<CR>");
        scene.ask(Reply::new().call("r1", "rename", json!({ "path": "a.txt", "to": FAR })));
        scene.wait_pending(1);
        let whole = format!(r"Renamethisfileto{FAR}?·\Aacceptfile·\Rrejectfile");
        scene.nvim.wait(|nvim| joined(nvim).contains(&whole), &format!("{whole} at {columns}"));
        let at = columns / 2;
        scene.nvim.keys(&format!(":vsplit<CR>:vertical resize {}<CR>", at.min(40)));
        let last = |nvim: &Nvim| joined(nvim).contains(r"\Rrejectfile");
        scene.nvim.wait(last, &format!("both keys in a narrower window at {columns}"));
    }
}

/// The hint is shortened word by word, never within a key.
#[test]
fn the_hint_on_a_hunk_is_shortened_to_the_room_after_its_line() {
    for width in [5, 15, 21, 22, 28, 29, 34, 48, 52, 55, 58, 63, 90] {
        let line = "x".repeat(width);
        let scene = Scene::start(|it| it.file("a.txt", nine()).size(60, 30));
        scene.nvim.keys(":edit a.txt<CR>");
        scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l3", &line)])));
        scene.wait_pending(1);
        scene.nvim.keys("ggG:Caliban next<CR>");
        scene.nvim.wait(|nvim| nvim.lua_str("return vim.fn.line('.')") == "3", "the hunk");
        let room = 58_usize.saturating_sub((width - 1) % 58 + 2);
        let hints = [r"[1/1] \a accept  \r reject  ]h next", r"[1/1] \a accept  \r reject"];
        let hints = hints.into_iter().chain([r"\a accept  \r reject", r"\a  \r", ""]);
        let fits = hints.into_iter().find(|it| it.is_empty() || it.len() + 2 <= room).unwrap();
        let shown = |nvim: &Nvim| behind(nvim).is_some_and(|it| it == fits);
        scene.nvim.wait(shown, &format!("{fits:?} behind {width} cells"));
    }
}

/// The cursor stays on the first line, after which only a part of the hint would fit.
#[test]
fn the_hint_is_on_a_line_of_its_hunk_that_has_room_for_it() {
    let (long, far) = ("x".repeat(48), "y".repeat(48));
    let scene = Scene::start(|it| it.file("a.txt", nine()).size(60, 45));
    scene.nvim.keys(":edit a.txt<CR>");
    let (lines, full) = (format!("{long}\n{far}\nz"), "w".repeat(58));
    let edits = [("l3", lines.as_str()), ("l5", &"x".repeat(36)), ("l6", "l6\nn"), ("l8", &full)];
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &edits)));
    scene.wait_pending(4);
    scene.nvim.keys("gg]h");
    scene.nvim.wait_screen(r"▎ z   [1/4] \a accept  \r reject  ]h next");
    scene.nvim.keys("]h");
    scene.nvim.wait(|nvim| behind(nvim).is_some_and(|it| it == r"[2/4] \a \r ]h"), "keys alone");
    // no line of the hunk has room, and the line above belongs to no hunk
    scene.nvim.keys("]h]h");
    scene.nvim.wait_screen(r"  l9   [4/4] \a accept  \r reject  ]h next");
    scene.nvim.keys(r"\a");
    scene.nvim.wait_gone("[4/4]");
}

/// The text to the right of the line that consists of `x`, from the last screen row of that line.
fn behind(nvim: &Nvim) -> Option<String> {
    let screen = nvim.screen();
    let row = screen.lines().rfind(|it| it.starts_with("▎ x") || it.starts_with("  xx"))?;
    Some(row.trim_start_matches(['▎', ' ']).trim_start_matches('x').trim().to_owned())
}

#[test]
fn the_key_help_shows_every_key_and_does_not_break_words() {
    let server = Server::start();
    for (columns, rows) in [(60, 30), (80, 30), (120, 40), (200, 50)] {
        let nvim = Nvim::start(&Setup::new().anthropic(&server).size(columns, rows));
        nvim.keys(":Caliban<CR>");
        nvim.wait_screen("Project");
        nvim.keys("g?");
        nvim.wait_screen("later messages");
        let screen = nvim.screen();
        let words = "queue; during a review: send and review later)";
        let rows: Vec<&str> = screen.lines().filter_map(|it| it.rsplit('│').nth(1)).collect();
        let text = rows.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{text}\n{screen}");
    }
}

#[test]
fn the_list_of_slash_commands_is_aligned_in_two_columns() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(60, 110));
    nvim.keys(":Caliban<CR>i/help<C-s><Esc>");
    nvim.wait_transcript("/skill         sends a message");
    nvim.keys("<C-w>kG");
    let text = nvim.transcript();
    let rows: Vec<&str> = text.lines().filter(|it| it.starts_with('/')).collect();
    assert!(rows.len() > 10, "{text}");
    for row in rows {
        let (name, said) = row.split_once("  ").unwrap();
        assert_eq!(row.len() - said.trim_start().len(), "/context_size  ".len(), "{name}: {row}");
    }
    nvim.wait_screen(&format!("{}them", " ".repeat(17)));
}

#[test]
fn the_intros_line_about_the_tour_is_wrapped_to_the_text_after_its_label() {
    let sample = std::fs::read(crate::kit::root().join("examples/sample/greet.py")).unwrap();
    let nvim = Nvim::start(&Setup::new().size(50, 40).file("greet.py", sample));
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Tour     any message begins it");
    nvim.wait_screen(&format!("{}<Esc>, <CR>", " ".repeat(11)));
}

#[test]
fn after_an_undo_of_all_changes_their_list_stays_until_the_verdict_is_sent() {
    for (columns, rows) in [(60, 40), (80, 40), (120, 40), (200, 50)] {
        let scene = Scene::two_hunks(|it| it.size(columns, rows));
        scene.nvim.lua("require('caliban.review.undone').delay = 1000000000", &[]);
        scene.nvim.keys("u");
        scene.nvim.wait_screen("nothing left to review");
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys("5GA mine<Esc>");
        scene.wait_idle("I see.");
        scene.nvim.wait_gone("nothing left to review");
    }
}

#[test]
fn each_change_takes_one_row_in_the_list_of_changes() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).size(60, 40));
    scene.nvim.keys(":edit a.txt<CR>");
    let line = "word ".repeat(20);
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l3", &line)])));
    scene.wait_pending(1);
    let row = |nvim: &Nvim| {
        let screen = nvim.screen();
        screen.lines().any(|it| it.contains("-1 +1") && it.contains('…'))
    };
    scene.nvim.wait(row, "the change and the mark of the cut in one row");
}

#[test]
fn in_a_long_list_of_conversations_each_row_shows_the_conversations_age() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server).size(60, 30);
    let nvim = Nvim::start(&setup);
    server.reply(Reply::said("Hello."));
    nvim.ask(&"a title that is rather long ".repeat(3), "Hello.");
    nvim.wait_phase("idle");
    for n in 0..20 {
        nvim.lua("require('caliban').ask(...)", &[format!("/save copy-{n}").into()]);
    }
    nvim.wait_screen("A copy is saved as copy-19.");
    nvim.keys(":Caliban sessions<CR>");
    nvim.wait_screen("Type number and <Enter>");
    let screen = nvim.screen();
    assert!(!screen.contains("-- More --"), "{screen}");
    let rows: Vec<&str> = screen.lines().filter(|it| it.contains(": copy-")).collect();
    assert!(rows.len() > 10, "{screen}");
    for row in rows {
        assert!(
            row.contains("1 turn") && (row.contains("  now  ") || row.contains("min ago")),
            "{row}"
        );
    }
    nvim.keys("q<CR>");
}

#[test]
fn every_hunk_takes_one_line_of_the_list() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    let nvim = &scene.nvim;
    nvim.keys(":edit a.txt<CR>");
    let wide = "日本語".repeat(30);
    let long = "x".repeat(100_000);
    scene.ask(Reply::new().call(
        "e1",
        "edit",
        edit(
            "a.txt",
            &[("l2", "\t\u{1b}[31mred\u{7} \\end"), ("l5", &wide), ("l8", &long), ("l9\n", "\n")],
        ),
    ));
    scene.wait_pending(3);
    nvim.wait_screen("3 hunks");
    nvim.wait_transcript("-2 +2  xxx");
    let rows: Vec<String> = nvim
        .transcript()
        .lines()
        .skip_while(|it| !it.contains("▾ a.txt"))
        .skip(1)
        .map(|it| format!("|{it}"))
        .collect();
    expect![[r#"
        |        2  -1 +1  [U+001B][31mred[U+0007] \end
        |        5  -1 +1  日本語日本語日本語日本語日本語日本語日…
        |        8  -2 +2  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"#]]
    .assert_eq(&rows.join("\n"));
}
