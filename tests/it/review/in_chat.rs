//! Decisions in the chat: the list of changes under review, and the keys in the list.

use super::scene::{Scene, edit, nine, write};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::setup::Setup;
use expect_test::{Expect, expect};
use serde_json::json;

/// The list of changes on the screen, from its first line to the next empty line.
fn listed(nvim: &Nvim) -> String {
    let heads = ["file to review", "files to review"];
    let head = heads.iter().find_map(|it| nvim.grid.borrow().find(it)).map(|it| it.0);
    let Some(head) = head else { return String::new() };
    let left = nvim.lua_str(
        "local chat = require('caliban.chat.chats').current
        return vim.api.nvim_win_get_position(vim.fn.win_findbuf(chat.transcript)[1])[2]",
    );
    let left: usize = left.parse().unwrap();
    let screen = nvim.screen();
    let rows = screen.lines().skip(head).map(|row| {
        // cuts at `│` and not at a column, because the code beside the chat may have wide characters
        let own = if left > 0 { row.rsplit('│').next().unwrap_or_default() } else { row };
        let row: String = own.chars().skip(2).collect();
        row.trim_end().to_owned()
    });
    rows.take_while(|row| !row.is_empty() && !row.contains('─')).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(scene: &Scene, expect: Expect) {
    let rows = |nvim: &Nvim| {
        let listed = listed(nvim);
        listed.lines().map(|it| format!("|{it}")).collect::<Vec<_>>().join("\n")
    };
    scene.nvim.wait_expect(expect, rows);
}

/// Waits for a row of the list that contains all these parts.
fn wait_row(nvim: &Nvim, parts: &[&str]) {
    nvim.wait(
        |nvim| listed(nvim).lines().any(|row| parts.iter().all(|part| row.contains(part))),
        &format!("a row with {parts:?}"),
    );
}

/// Waits until no row of the list contains the part.
fn wait_unlisted(nvim: &Nvim, part: &str) {
    nvim.wait(|nvim| !listed(nvim).contains(part), &format!("no row with {part}"));
}

/// Two hunks of `a.txt`, one of `b.txt` and a new file.
fn three_files(setup: impl FnOnce(Setup) -> Setup) -> Scene {
    let scene = proposed(setup);
    scene.nvim.wait_screen("4 hunks in 3 files to review");
    wait_row(&scene.nvim, &["new.txt", "1 hunk"]);
    scene
}

/// Like `three_files`, but does not wait for the list, so that the chat may be too small for it.
fn proposed(setup: impl FnOnce(Setup) -> Setup) -> Scene {
    let scene = Scene::start(|it| setup(it.file("a.txt", nine()).file("b.txt", nine())));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(
        Reply::new()
            .text("Three files.")
            .call("e1", "edit", edit("a.txt", &[("l2", "L2"), ("l8", "L8\nL8b")]))
            .call("e2", "edit", edit("b.txt", &[("l5\nl6\n", "")]))
            .call("w1", "write", write("new.txt", "first\nsecond\n")),
    );
    scene.wait_pending(4);
    scene
}

#[test]
fn files_and_hunks_are_listed_with_their_counts() {
    let scene = three_files(|it| it);
    check(
        &scene,
        expect![[r#"
            |? 4 hunks in 3 files to review
            |  \a accept  \r reject  e reject, because …  \c comment
            |  ▾ a.txt                                          2 hunks
            |        2  -1 +1  L2
            |        8  -1 +2  L8
            |  ▾ b.txt                                           1 hunk
            |        5  -2 +0  l5
            |  ▾ new.txt  new                                    1 hunk
            |        1  -0 +2  first"#]],
    );
    let marked = scene.nvim.screen_marked("Caliban");
    for row in [
        "⟦CalibanAsk|?⟧ 4 hunks in 3 files⟦CalibanDim| to review⟧",
        "▾ ⟧a.txt                                          ⟦CalibanDim|2 hunks⟧",
    ] {
        assert!(marked.contains(row), "{row} in {marked}");
    }
    scene.nvim.keys(":Caliban<CR><C-w>kgg");
    assert_eq!(scene.nvim.lua_str("return vim.fn.maparg('<localleader>a', 'n')"), "");
}

#[test]
fn hunks_and_files_are_decided_on_their_lines_of_the_list() {
    let scene = three_files(|it| it);
    let nvim = &scene.nvim;
    nvim.go_to_transcript("-1 +2  L8");
    nvim.keys("\\a");
    wait_row(nvim, &["a.txt", "1 hunk · 1 accepted"]);
    nvim.wait_gone("-1 +2  L8");
    assert_eq!(scene.pending(), 3);
    nvim.go_to_transcript("-2 +0  l5");
    nvim.keys("eneeded<CR>");
    wait_unlisted(nvim, "b.txt");
    assert_eq!(nvim.buffer("/b.txt"), nine().trim_end());
    nvim.go_to_transcript("▾ new.txt  new");
    nvim.keys("\\a");
    wait_unlisted(nvim, "new.txt");
    assert_eq!(scene.on_disk("new.txt"), Some("first\nsecond\n".into()));
    check(
        &scene,
        expect![[r#"
            |? 1 hunk in 1 file to review
            |  \a accept  \r reject  e reject, because …  \c comment
            |  ▾ a.txt                              1 hunk · 1 accepted
            |        2  -1 +1  L2"#]],
    );
    scene.server.reply(Reply::said("I see."));
    nvim.go_to_transcript("-1 +1  L2");
    nvim.keys("\\r");
    scene.wait_idle("I see.");
    nvim.wait_gone("to review");
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, 1 rejected and undone.
        line 2, rejected, reads as before:
        l2
        line 8, accepted:
        L8
        L8b
        --
        The user rejected the change in b.txt: it is undone.
        The user's reason: needed
        --
        The user accepted the change in new.txt."#]]
    .assert_eq(
        &[scene.answer(2, "e1"), scene.answer(2, "e2"), scene.answer(2, "w1")].join("\n--\n"),
    );
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l8", "L8\nL8b")));
    assert!(nvim.lua_str("return vim.bo.filetype") == "caliban", "the focus stays");
}

#[test]
fn a_hunk_key_on_the_heading_decides_all_hunks_and_a_file_key_on_a_hunk_decides_all_of_its_file() {
    let scene = three_files(|it| it);
    let nvim = &scene.nvim;
    nvim.go_to_transcript("-1 +1  L2");
    nvim.keys("\\R");
    wait_unlisted(nvim, "a.txt");
    scene.server.reply(Reply::said("I see."));
    nvim.go_to_transcript("to review");
    nvim.keys("\\a");
    scene.wait_idle("I see.");
    nvim.wait_gone("to review");
    expect!["2 files: 2 hunks accepted"].assert_eq(scene.said().lines().last().unwrap());
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.on_disk("b.txt"), Some(nine().replace("l5\nl6\n", "")));
}

#[test]
fn a_comment_from_the_chat_leaves_the_hunk_undecided() {
    let scene = three_files(|it| it);
    let gate = scene.server.reply(Reply::new().text("Hm. ").gate().text("I will."));
    scene.nvim.go_to_transcript("-2 +0  l5");
    scene.nvim.keys("\\cleave them<CR>");
    expect![[r#"
        <hunk kind="pending" path="b.txt" lines="5-5" filetype="text">
        -l5
        -l6
        </hunk>
        leave them"#]]
    .assert_eq(&scene.request(2).last_user_text());
    scene.wait_chat("Hm.");
    let here = "return vim.api.nvim_get_current_line()";
    assert!(scene.nvim.lua_str(here).contains("-2 +0  l5"), "it does not fold under the cursor");
    gate.finish();
    scene.wait_idle("I will.");
    assert_eq!(scene.pending(), 4);
    // the list moves below the messages that came after it
    let is_below = |nvim: &Nvim| {
        let text = nvim.transcript();
        text.find("I will.") < text.find("4 hunks in 3 files")
    };
    scene.nvim.wait(is_below, "the list below the reply");
}

#[test]
fn the_keys_enter_and_gf_on_a_hunk_in_the_chat_go_to_the_hunk_in_its_file() {
    let scene = three_files(|it| it);
    let nvim = &scene.nvim;
    let place = "return vim.fn.expand('%:t') .. ' ' .. vim.fn.line('.') .. ' ' .. vim.fn.winnr()";
    nvim.go_to_transcript("-1 +2  L8");
    nvim.keys("<CR>");
    assert_eq!(nvim.lua_str(place), "a.txt 8 1");
    nvim.go_to_transcript("▾ b.txt");
    nvim.keys("gf");
    assert_eq!(nvim.lua_str(place), "b.txt 5 1");
    nvim.keys(":split<CR><C-w>j:edit a.txt<CR>");
    nvim.go_to_transcript("-1 +1  L2");
    nvim.keys("gf");
    assert_eq!(nvim.lua_str(place), "a.txt 2 2", "the window that shows it");
    nvim.keys("<C-w>o");
    nvim.keys(":Caliban<CR><C-w>k");
    nvim.keys(":1wincmd w<CR>:close<CR>");
    nvim.go_to_transcript("▾ new.txt  new");
    nvim.keys("<CR>");
    assert_eq!(nvim.lua_str("return vim.fn.expand('%:t')"), "new.txt");
    assert_eq!(nvim.lua_str("return vim.fn.winnr('$')"), "3", "the chat keeps its windows");
}

#[test]
fn the_list_of_changes_follows_typing_undo_and_redo() {
    let scene = Scene::two_hunks(|it| it);
    let nvim = &scene.nvim;
    wait_row(nvim, &["a.txt", "2 hunks"]);
    nvim.keys("2GA, by me<Esc>ggOtop<Esc>");
    wait_row(nvim, &["3  -1 +1  L2, by me"]);
    nvim.keys("uu");
    wait_row(nvim, &["2  -1 +1  L2"]);
    nvim.keys("<C-r>\\a");
    wait_row(nvim, &["a.txt", "1 hunk · 1 reworked"]);
    nvim.go_to_transcript("-1 +2  L8");
    scene.server.reply(Reply::said("I see."));
    nvim.keys("\\a");
    scene.wait_idle("I see.");
    nvim.wait_gone("1 hunk · 1 reworked");
    assert!(!nvim.transcript().contains("a.txt  "), "{}", nvim.transcript());
    nvim.keys(":1wincmd w<CR>:undo<CR>");
    wait_row(nvim, &["a.txt", "1 hunk · 1 reworked"]);
    nvim.keys("u");
    wait_row(nvim, &["a.txt", "2 hunks"]);
}

#[test]
fn a_settled_file_leaves_the_list_and_its_undo_is_listed() {
    let scene = proposed(|it| it.size(80, 20));
    let nvim = &scene.nvim;
    // the list is too long for the window, and is shown from its head
    nvim.wait_screen("↓ 2 more lines");
    nvim.wait_screen("4 hunks in 3 files");
    nvim.go_to_transcript("▾ new.txt  new");
    nvim.keys("\\a");
    wait_unlisted(nvim, "new.txt");
    nvim.go_to_transcript("-2 +0  l5");
    nvim.keys("\\r");
    check(
        &scene,
        expect![[r#"
            |? 2 hunks in 1 file to review
            |  \a accept  \r reject  e reject, because …  \c comment
            |  ▾ a.txt                                                              2 hunks
            |        2  -1 +1  L2
            |        8  -1 +2  L8"#]],
    );
    scene.server.reply(Reply::said("I see."));
    nvim.keys(":1wincmd w<CR>\\A");
    scene.wait_idle("I see.");
    nvim.wait_gone("to review");
    let row = |words: &str| format!("      a.txt{words:>69}");
    nvim.keys(":undo 0<CR>");
    nvim.wait_screen(&row("undone; <C-r> brings it back"));
    nvim.keys("<C-r>");
    nvim.wait_screen("2 hunks in 1 file to review");
    nvim.keys("<C-r>");
    nvim.wait_gone("to review");
    nvim.keys(":undo 0<CR>onew<Esc>");
    nvim.wait_screen(&row("undone"));
}

#[test]
fn undoing_a_rejection_opens_the_list_again() {
    let scene = Scene::two_hunks(|it| it);
    let nvim = &scene.nvim;
    scene.server.reply(Reply::said("I see."));
    nvim.keys("\\R");
    scene.wait_idle("I see.");
    nvim.wait_gone("to review");
    nvim.keys("u");
    nvim.wait_screen("2 hunks in 1 file to review");
    wait_row(nvim, &["a.txt", "2 hunks"]);
    let text = nvim.transcript();
    assert!(text.find("I see.") < text.find("2 hunks in 1 file"), "{text}");
    nvim.keys("<C-r>");
    nvim.wait_gone("to review");
}

#[test]
fn outside_the_list_of_changes_the_users_own_keys_work() {
    let own = "vim.keymap.set('n', '\\\\a', '<Cmd>let g:mine = 1<CR>')
        vim.api.nvim_create_autocmd('FileType', { pattern = 'caliban', callback = function(event)
          vim.keymap.set('n', '\\\\r', '<Cmd>let g:own = 1<CR>', { buffer = event.buf })
        end })";
    let scene = three_files(|it| it.before(own));
    let nvim = &scene.nvim;
    nvim.go_to_transcript("Three files.");
    nvim.keys("\\a\\rgge");
    assert_eq!(nvim.lua_str("return vim.g.mine .. vim.g.own"), "11");
    assert_eq!(scene.pending(), 4);
    nvim.go_to_transcript("-2 +0  l5");
    nvim.keys("\\r");
    scene.wait_hunks(3);
    nvim.go_to_transcript("Three files.");
    nvim.keys("\\r");
    scene.server.reply(Reply::said("I see."));
    nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    nvim.wait_gone("to review");
    nvim.go_to_transcript("I see.");
    nvim.keys(":unlet g:mine g:own<CR>\\a\\r");
    assert_eq!(nvim.lua_str("return vim.g.mine .. vim.g.own"), "11");
}

#[test]
fn the_files_of_a_long_list_begin_folded_and_can_be_unfolded() {
    let lines: Vec<String> = (0..6000).map(|n| format!("line {n}")).collect();
    let mut changed = lines.clone();
    changed.iter_mut().step_by(3).for_each(|line| line.push('!'));
    let (before, after) = (lines.join("\n") + "\n", changed.join("\n") + "\n");
    let scene = Scene::start(|it| it.file("a.txt", &before).file("b.txt", nine()));
    let nvim = &scene.nvim;
    nvim.keys(":edit a.txt<CR>");
    scene.server.reply(Reply::new().call("r1", "read", json!({ "path": "a.txt" })));
    scene.ask(Reply::new().call("w1", "write", write("a.txt", &after)).call(
        "e1",
        "edit",
        edit("b.txt", &[("l5", "L5")]),
    ));
    scene.wait_pending(2001);
    wait_row(nvim, &["a.txt", "2000 hunks"]);
    check(
        &scene,
        expect![[r#"
            |? 2001 hunks in 2 files to review
            |  \a accept  \r reject  e reject, because …  \c comment
            |  ▸ a.txt                                       2000 hunks
            |  ▸ b.txt                                           1 hunk"#]],
    );
    nvim.go_to_transcript("▸ a.txt");
    nvim.keys("za");
    nvim.wait_screen("-1 +1  line 0!");
    scene.wait_chat("-1 +1  line 5997!");
    nvim.go_to_transcript("-1 +1  line 5997!");
    nvim.keys("\\r");
    scene.wait_hunks(2000);
    nvim.wait_gone("line 5997!");
    nvim.keys("kza");
    wait_row(nvim, &["▸ a.txt", "1999 hunks · 1 rejected"]);
    nvim.wait_gone("-1 +1  line");
    nvim.keys("\\A");
    wait_unlisted(nvim, "a.txt");
    nvim.keys("ggj");
    nvim.go_to_transcript("to review");
    nvim.keys("za");
    nvim.wait_screen("1 hunk in 1 file to review  (za lists them)");
    nvim.keys("<CR>");
    wait_row(nvim, &["b.txt", "1 hunk"]);
}

#[test]
fn hunks_can_be_decided_in_the_list_with_the_program_dead_and_after_a_restart() {
    let scene = three_files(|it| it);
    let nvim = &scene.nvim;
    nvim.lua("vim.fn.jobstop(require('caliban.program.process').program())", &[]);
    scene.wait_phase("offline");
    nvim.go_to_transcript("-1 +1  L2");
    nvim.keys("\\a");
    wait_row(nvim, &["a.txt", "1 hunk · 1 accepted"]);
    nvim.keys(":Caliban restart<CR>");
    scene.wait_phase("idle");
    nvim.wait_screen("3 hunks in 3 files to review");
    let text = nvim.transcript();
    assert!(text.find("Three files.") < text.find("to review"), "{text}");
    nvim.go_to_transcript("to review");
    nvim.keys("\\a");
    nvim.wait_gone("to review");
    scene.server.reply(Reply::said("I see."));
    nvim.keys(":Caliban ask go on<CR>");
    scene.wait_idle("I see.");
    let told = scene.server.requests().last().unwrap().last_user_text();
    assert!(told.contains("The user accepted 2 changes in a.txt."), "{told}");
}

#[test]
fn the_list_of_changes_is_up_to_date_in_two_windows_and_after_being_hidden() {
    let scene = three_files(|it| it);
    let nvim = &scene.nvim;
    nvim.go_to_transcript("-1 +1  L2");
    nvim.keys("<C-w>s\\a");
    wait_row(nvim, &["a.txt", "1 hunk · 1 accepted"]);
    nvim.keys("<C-w>j");
    nvim.go_to_transcript("-2 +0  l5");
    nvim.keys("\\a");
    scene.wait_hunks(2);
    nvim.keys(":Caliban close<CR>:edit a.txt<CR>\\R");
    scene.wait_hunks(1);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("1 hunk in 1 file to review");
    wait_unlisted(nvim, "a.txt");
    nvim.keys(":bwipeout! caliban://main<CR>:Caliban<CR>");
    nvim.wait_screen("1 hunk in 1 file to review");
}

#[test]
fn the_list_of_changes_is_above_a_question_and_is_folded_during_a_turn() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config("{ mode = 'auto-edit' }"));
    let nvim = &scene.nvim;
    nvim.keys(":edit a.txt<CR>");
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
    let gate = scene.server.reply(Reply::new().text("Half. ").gate().call(
        "s1",
        "shell",
        json!({ "command": "true" }),
    ));
    nvim.keys(":Caliban ask please<CR>");
    nvim.wait_screen("1 hunk in 1 file to review  (za lists them)");
    scene.wait_chat("Half.");
    let text = nvim.transcript();
    assert!(text.find("Half.") < text.find("1 hunk in 1 file"), "{text}");
    gate.finish();
    nvim.wait_screen("? Run `true`?");
    let text = nvim.transcript();
    assert!(text.find("1 hunk in 1 file") < text.find("? Run"), "{text}");
    scene.server.reply(Reply::said("I see."));
    nvim.wait_question();
    nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("I see.");
    wait_row(nvim, &["a.txt  written", "1 hunk"]);
    nvim.go_to_transcript("-1 +1  L2");
    nvim.keys("\\r");
    nvim.wait_gone("to review");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn a_deletion_or_renaming_is_decided_on_its_line_of_the_list() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    let nvim = &scene.nvim;
    scene.ask(Reply::new().call("d1", "delete", json!({ "path": "a.txt" })).call(
        "n1",
        "rename",
        json!({ "path": "b.txt", "to": "c.txt" }),
    ));
    scene.wait_pending(2);
    wait_row(nvim, &["a.txt  delete"]);
    wait_row(nvim, &["b.txt  rename to c.txt"]);
    nvim.go_to_transcript("a.txt  delete");
    nvim.keys("\\a");
    wait_unlisted(nvim, "a.txt");
    assert_eq!(scene.on_disk("a.txt"), None);
    scene.server.reply(Reply::said("I see."));
    nvim.go_to_transcript("b.txt  rename");
    nvim.keys("\\a");
    scene.wait_idle("I see.");
    nvim.wait_gone("to review");
    assert!(scene.on_disk("c.txt").is_some());
}

#[test]
fn commands_and_plug_maps_act_on_the_lists_current_line() {
    let map = "vim.keymap.set('n', 'gA', '<Plug>(caliban-accept)')";
    let scene = three_files(|it| it.before(map));
    let nvim = &scene.nvim;
    nvim.go_to_transcript("-1 +1  L2");
    nvim.keys("gA");
    wait_row(nvim, &["a.txt", "1 hunk · 1 accepted"]);
    nvim.go_to_transcript("▾ b.txt");
    nvim.keys(":Caliban reject hunk<CR>");
    expect!["No hunk here."].assert_eq(scene.said().lines().last().unwrap());
    nvim.keys(":Caliban reject file they are needed<CR>");
    wait_unlisted(nvim, "b.txt");
    nvim.go_to_transcript("Three files.");
    nvim.keys("gA");
    expect!["Nothing is under review here."].assert_eq(scene.said().lines().last().unwrap());
    assert_eq!(scene.pending(), 2);
}

#[test]
fn the_keys_go_from_the_change_under_the_cursor_to_the_next_and_the_previous_one() {
    let scene = three_files(|it| it);
    let place = "return vim.fs.basename(vim.api.nvim_buf_get_name(0)) .. ' ' .. vim.fn.line('.')";
    for (on, key, expected) in [
        ("L2", "]h", "a.txt 8"),
        ("▾ a.txt", "]h", "a.txt 2"),
        ("L8", "]h", "b.txt 5"),
        ("L8", "[h", "a.txt 2"),
        ("▾ new.txt", "[h", "b.txt 5"),
    ] {
        scene.nvim.go_to_transcript(on);
        scene.nvim.keys(key);
        scene.nvim.wait(|it| it.lua_str(place) == expected, &format!("{key} on {on}: {expected}"));
    }
}
