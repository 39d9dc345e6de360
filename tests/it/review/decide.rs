//! Accepting and rejecting hunks, and the answers that the model gets.

use super::scene::{Scene, answers, edit, nine, two_hunks, write};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;

#[test]
fn an_edit_is_in_the_buffer_with_the_old_lines_shown_above() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys("]h");
    scene.nvim.wait_screen("[1/2]");
    // the removed lines have signs once Neovim has made the column of the signs
    scene.nvim.wait_screen("- l2");
    expect![[r#"
          ⟦CalibanDim|2 changes by Caliban · \A accept file · \R reject file⟧
          l1
        ⟦CalibanSign|- ⟧⟦CalibanDeleteGround+CalibanDimNormal+CalibanDeleteWordGround|l2⟧⟦CalibanDeleteGround|                                                       ⟧
        ⟦CalibanSign|▎ ⟧⟦CalibanAddGround+CalibanAddWordGround|L2⟧⟦CalibanAddGround| ⟧⟦CalibanAddGround+CalibanDim|  [1/2] \a accept  \r reject  ]h next⟧⟦CalibanAddGround|                 ⟧
          l3
          l4
          l5
          l6
          l7
        ⟦CalibanSign|- ⟧⟦CalibanDeleteGround+CalibanDimNormal|l8⟧⟦CalibanDeleteGround|                                                       ⟧
        ⟦CalibanSign|▎ ⟧⟦CalibanAddGround|L8                                                       ⟧
        ⟦CalibanSign|▎ ⟧⟦CalibanAddGround|L8b                                                      ⟧
          l9
        a.txt [+]                                2,1            All
        :Caliban ask please"#]].assert_eq(&scene.left(59));
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn rejecting_one_hunk_keeps_another_accepted_hunk() {
    let scene = Scene::two_hunks(|it| it);
    let nvim = &scene.nvim;
    nvim.keys("gg]h");
    assert_eq!(nvim.lua_str("return vim.fn.line('.')"), "2");
    nvim.keys("]h");
    assert_eq!(nvim.lua_str("return vim.fn.line('.')"), "8");
    nvim.keys("[h");
    assert_eq!(nvim.lua_str("return vim.fn.line('.')"), "2");
    nvim.keys("\\a");
    scene.wait_hunks(1);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()), "nothing is written before all is decided");
    scene.server.reply(Reply::said("I see."));
    nvim.keys("]h:Caliban reject hunk too long<CR>");
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, 1 rejected and undone.
        line 2, accepted:
        L2
        line 8, rejected, reads as before:
        l8
        The user's reason: too long"#]]
    .assert_eq(&scene.answer(2, "e1"));
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
    assert_eq!(nvim.buffer("/a.txt"), nine().replace("l2", "L2").trim_end());
    assert_eq!(nvim.lua_str("return vim.fn.line('.')"), "8", "the cursor stays");
    assert_eq!(nvim.lua_str("return vim.bo.modified"), "false");
    expect!["a.txt: 1 accepted, 1 rejected, saved"].assert_eq(&scene.said());
}

#[test]
fn rejecting_one_hunk_keeps_another_accepted_hunk_in_openais_dialect() {
    let server = Server::start();
    server.reply(two_hunks());
    server.reply(Reply::said("I see."));
    let nvim = Nvim::start(&Setup::new().file("a.txt", nine()).openai(&server));
    nvim.keys(":edit a.txt<CR>:Caliban ask please<CR>");
    nvim.wait_screen("2 changes by Caliban");
    nvim.keys("]h\\a]h\\r");
    nvim.wait_screen("I see.");
    let request = server.wait_requests(2)[1].clone();
    let last = request.json["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["role"], "tool");
    assert!(last["content"].as_str().unwrap().contains("1 accepted, 1 rejected"), "{last}");
    assert_eq!(nvim.setup.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
}

#[test]
fn a_range_decides_the_hunks_in_its_lines() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":1,4Caliban accept<CR>");
    scene.wait_hunks(1);
    scene.nvim.keys(":5,9Caliban reject<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
}

#[test]
fn deciding_one_file_leaves_the_others_pending() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2"), ("l8", "L8")])).call(
        "e2",
        "edit",
        edit("b.txt", &[("l5", "L5")]),
    ));
    scene.wait_pending(3);
    scene.nvim.keys("\\A");
    scene.wait_hunks(1);
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2").replace("l8", "L8")));
    assert_eq!(scene.server.requests().len(), 1, "the model waits for the other file");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban next<CR>");
    assert!(scene.nvim.lua_str("return vim.fn.expand('%')").ends_with("b.txt"));
    scene.nvim.keys("\\R");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("b.txt"), Some(nine()));
    assert!(scene.answer(2, "e1").contains("accepted"));
    assert!(scene.answer(2, "e2").contains("rejected"));
}

#[test]
fn all_edits_of_a_reply_are_proposed_together() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    let window = "return { vim.api.nvim_list_wins(), vim.fn.bufnr('#'), vim.fn.getjumplist(1) }";
    scene.nvim.keys(":edit a.txt<CR>:Caliban<CR><C-w>h5G");
    let before = scene.nvim.lua_json(window);
    scene.ask(
        Reply::new()
            .call("e1", "edit", edit("a.txt", &[("l2", "L2")]))
            .call("e2", "edit", edit("b.txt", &[("l5", "L5")]))
            .call("e3", "edit", edit("a.txt", &[("nowhere", "x")]))
            .call("e4", "edit", edit("a.txt", &[("L2", "L2 again"), ("l8", "L8")])),
    );
    scene.wait_pending(3);
    assert_eq!(scene.nvim.lua_json(window), before, "no window, no alternate file, no jump");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    let told: Vec<String> =
        answers(&scene.request(2)).into_iter().map(|(id, text)| format!("{id}: {text}")).collect();
    expect![[r#"
        e1: Of the change in a.txt: 1 changed again by a later edit.
        line 2, changed again by a later edit, now reads:
        L2 again
        e2: The user accepted the change in b.txt.
        e3: `old` is not in a.txt. Nothing in the file is similar: read it again.
        e4: The user accepted 2 changes in a.txt."#]]
    .assert_eq(&told.join("\n"));
    assert_eq!(scene.on_disk("b.txt"), Some(nine().replace("l5", "L5")));
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2 again").replace("l8", "L8")));
    expect!["2 files: 3 hunks accepted"].assert_eq(&scene.said());
}

#[test]
fn a_hunk_that_the_user_edits_is_reported_as_reworked_with_its_new_text() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("2GA, by me<Esc>:Caliban accept file<CR>");
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, 1 reworked by the user.
        line 2, reworked, now reads:
        L2, by me
        line 8, accepted:
        L8
        L8b"#]]
    .assert_eq(&scene.answer(2, "e1"));
    scene.wait_idle("I see.");
    expect![[r#"
        l1
        L2, by me
        l3
        l4
        l5
        l6
        l7
        L8
        L8b
        l9
    "#]]
    .assert_eq(&scene.on_disk("a.txt").unwrap());
}

#[test]
fn text_typed_outside_the_hunks_survives_accepting_and_rejecting() {
    for (verdict, changed) in [("accept", true), ("reject", false)] {
        let scene = Scene::two_hunks(|it| it);
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys("ggOtop<Esc>Gobottom<Esc>/l5<CR>ccfive<Esc>");
        scene.nvim.keys(&format!(":Caliban {verdict} all<CR>"));
        scene.wait_idle("I see.");
        let mine = format!("top\n{}bottom", nine().replace("l5", "five"));
        let want = if changed { mine.replace("l2", "L2").replace("l8", "L8\nL8b") } else { mine };
        assert_eq!(scene.nvim.buffer("/a.txt"), want, "{verdict}");
        assert_eq!(
            scene.on_disk("a.txt"),
            Some(nine()),
            "the user's own text is not saved for them"
        );
        assert!(
            scene.said().contains("not saved: it has other unsaved changes"),
            "{}",
            scene.said()
        );
        let told = scene.answer(2, "e1");
        assert!(told.contains("a.txt is not saved"), "{told}");
        assert!(told.contains("+five"), "{told}");
    }
}

#[test]
fn a_new_file_is_written_only_once_accepted() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("w1", "write", write("deep/er/new.txt", "one\ntwo\n")));

    scene.wait_pending(1);
    assert!(scene.nvim.lua_str("return vim.fn.expand('%')").ends_with("a.txt"));
    assert!(!scene.nvim.setup.path("deep").exists());
    scene.nvim.keys(":Caliban next<CR>");
    assert!(scene.nvim.lua_str("return vim.fn.expand('%')").ends_with("deep/er/new.txt"));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("deep/er/new.txt").as_deref(), Some("one\ntwo\n"));
    expect!["The user accepted the change in deep/er/new.txt."].assert_eq(&scene.answer(2, "w1"));
}

#[test]
fn a_new_file_rejected_leaves_nothing_behind() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("w1", "write", write("deep/new.txt", "one\n")));

    scene.wait_pending(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban next<CR>\\R");
    scene.wait_idle("I see.");
    expect!["The user rejected the new file deep/new.txt: it does not exist."]
        .assert_eq(&scene.answer(2, "w1"));
    assert!(!scene.nvim.setup.path("deep").exists());
    assert!(scene.nvim.lua_str("return vim.fn.expand('%')").ends_with("a.txt"));
    assert_eq!(scene.nvim.lua_str("return vim.fn.bufnr('deep/new.txt')"), "-1");
}

#[test]
fn a_formatter_runs_once_at_the_save_and_the_model_reads_its_text() {
    let scene = Scene::two_hunks(|it| {
        it.before(
            "_G.ran = 0
            vim.api.nvim_create_autocmd('BufWritePre', { callback = function(event)
              _G.ran = _G.ran + 1
              local lines = vim.api.nvim_buf_get_lines(event.buf, 0, -1, false)
              for i, line in ipairs(lines) do lines[i] = line:upper() end
              vim.api.nvim_buf_set_lines(event.buf, 0, -1, false, lines)
            end })",
        )
    });
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(scene.nvim.lua_str("return ran"), "1");
    let want = nine().to_uppercase().replace("L8", "L8\nL8B");
    assert_eq!(scene.on_disk("a.txt"), Some(want));
    expect![[r#"
        Of 2 changes in a.txt: 1 accepted, 1 accepted and formatted.
        line 2, accepted:
        L2
        line 8, accepted and formatted, now reads:
        L3
        L4
        L5
        L6
        L7
        L8
        L8B
        L9
        The file changed elsewhere too:
        @@ line 1
        -l1
        +L1"#]]
    .assert_eq(&scene.answer(2, "e1"));
}

#[test]
fn the_tools_read_and_edit_use_unsaved_text_of_the_buffer() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>5GA by me<Esc>");
    scene.server.reply(Reply::new().call("r1", "read", serde_json::json!({ "path": "a.txt" })));
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l5 by me", "five")])));
    assert!(scene.answer(2, "r1").contains("l5 by me"));

    scene.wait_pending(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(scene.nvim.buffer("/a.txt"), nine().replace("l5", "five").trim_end());
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

/// A file of 6,000 lines in which the model has proposed to change each third line. Returns the text before, and with
/// all changes.
fn two_thousand_hunks() -> (Scene, String, String) {
    let lines: Vec<String> = (0..6000).map(|n| format!("line {n}")).collect();
    let mut changed = lines.clone();
    for line in changed.iter_mut().step_by(3) {
        line.push('!');
    }
    let (before, after) = (lines.join("\n") + "\n", changed.join("\n") + "\n");
    let scene = Scene::start(|it| it.file("a.txt", &before));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.server.reply(Reply::new().call("r1", "read", serde_json::json!({ "path": "a.txt" })));
    scene.ask(Reply::new().call("w1", "write", write("a.txt", &after)));
    scene.wait_pending(2000);
    (scene, before, after)
}

#[test]
fn two_thousand_hunks_can_be_reviewed_like_two_hunks() {
    let (scene, _, after) = two_thousand_hunks();
    scene.nvim.keys("4G\\r");
    scene.wait_hunks(1999);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(after.replace("line 3!\n", "line 3\n")));
    let told = scene.answer(3, "w1");
    assert!(told.starts_with("Of 2000 changes in a.txt: 1999 accepted, 1 rejected"), "{told}");
}

#[test]
fn single_hunks_among_two_thousand_are_decided_while_the_user_adds_lines() {
    let (scene, before, after) = two_thousand_hunks();
    scene.nvim.keys("3001G\\a");
    scene.wait_hunks(1999);
    scene.nvim.keys("3000GOmine<Esc>3005G\\r");
    scene.wait_hunks(1998);
    scene.nvim.keys("2998G\\a7G\\a5000G[h\\a");
    scene.wait_hunks(1995);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    let decided = after.replace("line 3003!", "line 3003");
    let expected = decided.replace("line 2999\n", "mine\nline 2999\n");
    assert_eq!(scene.nvim.buffer("/a.txt"), expected.trim_end());
    assert_eq!(scene.on_disk("a.txt"), Some(before), "the user's line is not saved for them");
    scene.nvim.keys(":w<CR>");
    scene.nvim.wait(|_| scene.on_disk("a.txt").as_ref() == Some(&expected), "the written file");
    let told = scene.answer(3, "w1");
    assert!(told.starts_with("Of 2000 changes in a.txt: 1999 accepted, 1 rejected"), "{told}");
}

/// `vim.NIL` stands for nil in what a script has decoded from JSON.
#[test]
fn what_a_script_gets_wrong_never_reaches_the_verdict() {
    let scene = Scene::two_hunks(|it| it);
    let wrong = [
        "{ reason = 7 }",
        "{ scope = 'files' }",
        "{ scope = 'range', range = { 1 } }",
        "{ scope = 'range', range = { 'a', 2 } }",
        "{ buf = {} }",
    ];
    for opts in wrong {
        let code = format!("return tostring(select(2, pcall(require('caliban').reject, {opts})))");
        let told = scene.nvim.lua_str(&code);
        assert!(told.contains("expected"), "{opts}: {told}");
    }
    scene.wait_hunks(2);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.lua(
        "require('caliban').reject({ scope = 'file', buf = vim.NIL, range = vim.NIL, reason = vim.NIL })",
        &[],
    );
    scene.wait_idle("I see.");
    assert!(scene.answer(2, "e1").contains("rejected"), "{}", scene.answer(2, "e1"));
}

#[test]
fn a_message_that_the_program_cannot_read_is_reported() {
    let scene = Scene::start(|it| it);
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_phase("idle");
    scene
        .nvim
        .lua("require('caliban.program.process').notify({ kind = 'reviewed', session = 7 })", &[]);
    let told = "could not read the message reviewed of its plugin";
    scene.nvim.wait(|_| scene.said().contains(told), told);
}

#[test]
fn a_turn_whose_verdict_the_program_cannot_read_can_be_ended_as_the_message_says() {
    let scene = Scene::two_hunks(|it| it);
    let verdict = "require('caliban.program.process').notify({ kind = 'reviewed', session = 'main', proposals = 7 })";
    scene.nvim.lua(verdict, &[]);
    let told = "If a turn waits for it, :Caliban stop ends the turn.";
    scene.nvim.wait(|_| scene.said().contains(told), told);
    scene.wait_phase("reviewing");
    scene.nvim.keys(":Caliban stop<CR>");
    scene.wait_phase("idle");
    assert_eq!(scene.pending(), 2);
}
