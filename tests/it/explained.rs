//! What a question shows: on demand the reason why it is asked, and its first line in a window of any height.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::review::scene::Scene;
use expect_test::expect;
use serde_json::json;

/// The lines of the open question, from the buffer.
fn question(nvim: &Nvim) -> String {
    let chat = nvim.transcript();
    chat[chat.rfind("\n? ").unwrap_or_default()..].trim().to_owned()
}

/// Checks that the explanation of a command with many odd parts is short, and that its characters can be seen.
fn is_bounded(nvim: &Nvim) {
    let shown = question(nvim);
    let why = shown.split_once("In ask mode").unwrap().1;
    assert_eq!(why.lines().count(), 15, "{why}");
    assert!(why.contains("… and 189 more (i shows them)") && why.contains("[U+202E]"), "{why}");
    assert!(why.lines().all(|it| it.chars().count() < 260) && !why.contains('\u{1b}'), "{why}");
}

/// Opens and closes the explanation of a command of many parts.
fn opens_in_two_steps(nvim: &Nvim) {
    nvim.keys("Gi");
    nvim.wait_transcript("In ask mode, a command needs your consent");
    is_bounded(nvim);
    nvim.keys("i");
    nvim.wait(|it| question(it).matches("needs your consent.").count() > 150, "each part");
    nvim.keys("i");
    nvim.wait(|it| !it.transcript().contains("In ask mode"), "the question as it was");
}

#[test]
fn the_key_i_on_a_question_shows_and_hides_which_rule_decides_each_part() {
    let rules =
        "{ permissions = { { allow = 'shell', command = 'echo', reason = 'It prints.' } } }";
    let scene = Scene::start(|it| it.config(rules).file(".env", "A=1\n").size(120, 40));
    let nvim = &scene.nvim;
    let run = |it: &str| Reply::new().call("c", "shell", json!({ "command": it }));
    // 200 parts with newlines and control characters in their arguments, the first of which is long
    let part = "t 'a\n\u{1b}[2J\u{202e}'";
    let hostile = format!("t {}; {}", "x".repeat(1000), vec![part; 199].join("; "));
    let command = json!({ "command": "echo a && touch b > c" });
    let above = "Above.\n\n".repeat(30);
    scene.server.reply(Reply::new().text(&above).call("c0", "shell", command));
    scene.server.reply(run(&hostile));
    scene.server.reply(Reply::new().call("r", "read", json!({ "path": ".env" })));
    scene.server.reply(Reply::said("Over."));
    nvim.keys(":Caliban<CR>igo<C-s><Esc><C-w>k");
    nvim.wait_question();
    let plain = question(nvim);
    nvim.keys("i");
    nvim.wait_transcript("echo a:");
    expect![[r#"
        ? Run `echo a && touch b > c`? `echo a && touch b` writes to `c`.
          It writes `c`, `b`.
          In ask mode, a command needs your consent, unless permission rules allow each part of it.
          echo a: allow shell `echo …`: It prints (your settings)
          touch b: needs your consent. No permission rule allows it.
          the whole command: needs your consent. `echo a && touch b` writes to `c`.
          y once   s session   c change   n no   e no, because …   i explain"#]]
    .assert_eq(&question(nvim));
    nvim.wait_screen("In ask mode, a command needs your consent");
    nvim.name_groups();
    let dim = nvim.hl_of("In ask mode, a command");
    assert!(dim.iter().all(|it| it == "CalibanDim"), "{dim:?}");
    nvim.keys("i");
    nvim.wait(|it| question(it) == plain, "the question as it was");
    // a window that has room for the longer question shows all of it
    nvim.keys(":resize 16<CR>");
    nvim.go_to_transcript("? Run");
    nvim.keys("zbi");
    nvim.wait_screen("the whole command: needs your consent.");
    nvim.wait_screen("y once");
    nvim.keys("i");
    nvim.wait(|it| question(it) == plain, "the question as it was");
    // on a line above the question, `i` starts Insert mode in the composer
    nvim.keys("ggi");
    nvim.wait(|it| it.lua_str("return vim.api.nvim_get_mode().mode") == "i", "Insert mode");
    nvim.keys("<Esc><C-w>kGn");
    nvim.wait_transcript("characters: <CR> opens]");
    nvim.wait_question();
    opens_in_two_steps(nvim);
    nvim.keys("Gn");
    nvim.wait_transcript("? Let read look at");
    nvim.wait_question();
    nvim.keys("Gi");
    nvim.wait_transcript("before it looks at a protected file");
    nvim.keys("Gy");
    scene.wait_idle("Over.");
}

#[test]
fn a_question_is_shown_from_its_first_line() {
    let scene = Scene::start(|it| it.size(80, 24));
    let nvim = &scene.nvim;
    let run = |it: &str| Reply::new().call("c", "shell", json!({ "command": it }));
    let long = (0..20).map(|n| format!("touch {n}")).collect::<Vec<_>>().join("\n");
    let text = (0..30).map(|n| format!("Line {n}.")).collect::<Vec<_>>().join("\n\n");
    for it in ["touch a", &long] {
        scene.server.reply(run(it).text(&text));
    }
    scene.server.reply(Reply::said("Over."));
    nvim.keys(":Caliban<CR>igo<C-s>");
    nvim.wait_question();
    nvim.wait_screen("? Run `touch a`?");
    nvim.keys("<Esc><C-w>ky");
    // this question is longer than the window, which shows its beginning; its keys are shown below the composer
    nvim.wait_screen("? Run this?");
    nvim.wait_question();
    nvim.keys("y");
    nvim.wait_screen("7 lines not shown yet: <C-e> scrolls down");
    for _ in 0..24 {
        nvim.keys("j");
        nvim.command("redraw");
    }
    // the window scrolls down to the explanation
    nvim.keys("<C-w>j<Tab>");
    nvim.wait_screen("? Run this?");
    nvim.keys("i");
    nvim.wait_screen("  In ask mode, a command needs your consent");
    nvim.wait_transcript("more (i shows them)");
    nvim.keys("i");
    nvim.wait_transcript("touch 19: needs your consent.");
    nvim.keys("i");
    nvim.wait(|it| !it.transcript().contains("In ask mode"), "the question as it was");
    nvim.keys("y");
    scene.wait_idle("Over.");
    // the window shows the end of the chat again
    nvim.wait_screen("Over.");
    assert_eq!(scene.on_disk("8").as_deref(), Some(""));
}
