//! Comments on hunks: the model is told, and the hunk stays undecided.

use super::scene::{Scene, edit, nine, two_hunks};
use crate::kit::reply::Reply;
use expect_test::{Expect, expect};
use serde_json::json;

/// Compares the last user text of the n-th request with the snapshot.
#[expect(clippy::needless_pass_by_value, reason = "a call gives its snapshot away")]
#[track_caller]
fn check_said(scene: &Scene, n: usize, expect: Expect) {
    expect.assert_eq(&scene.request(n).last_user_text());
}

const UNDECIDED: &str = "Not decided yet: 2 hunks of this edit are under review in the user's buffer, not on disk. \
    The user sent a message first; the user's verdict on this edit will follow.";

#[test]
fn a_comment_is_sent_at_once_and_the_hunk_stays_pending() {
    let scene = Scene::two_hunks(|it| it);
    let nvim = &scene.nvim;
    scene.server.reply(Reply::said("So be it."));
    nvim.keys("gg]h]h\\cwhy two lines?<CR>");
    assert_eq!(scene.answer(2, "e1"), UNDECIDED);
    check_said(
        &scene,
        2,
        expect![[r#"
            <hunk kind="pending" path="a.txt" lines="8-9" filetype="text">
            -l8
            +L8
            +L8b
            </hunk>
            why two lines?"#]],
    );
    scene.wait_idle("So be it.");
    assert_eq!(nvim.lua_str("return vim.fn.expand('%')"), "a.txt", "the focus stays");
    nvim.wait_screen("▏comment on a.txt:8-9  -1 +2");
    scene.wait_chat("why two lines?");
    assert_eq!(scene.pending(), 2);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(
        nvim.buffer("/a.txt"),
        nine().replace("l2", "L2").replace("l8", "L8\nL8b").trim_end()
    );

    nvim.keys("\\agg]h\\r");
    scene.server.reply(Reply::said("I see."));
    nvim.keys(":Caliban ask go on<CR>");
    check_said(
        &scene,
        3,
        expect![[r#"
            <notice>
            Of 2 changes in a.txt: 1 accepted, 1 rejected and undone.
            line 2, rejected, reads as before:
            l2
            line 8, accepted:
            L8
            L8b
            </notice>
            go on"#]],
    );
    scene.wait_idle("I see.");
}

#[test]
fn the_comment_command_takes_a_range_and_text_that_begins_with_a_slash() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::said("No."));
    scene.nvim.keys(":1,9Caliban comment /new would be better<CR>");
    check_said(
        &scene,
        2,
        expect![[r#"
            <hunk kind="pending" path="a.txt" lines="2-9" filetype="text">
            @@ line 2
            -l2
            +L2
            @@ line 8
            -l8
            +L8
            +L8b
            </hunk>
            /new would be better"#]],
    );
    scene.wait_idle("No.");
    scene.nvim.wait_screen("▏comment on a.txt:2-9  -2 +3");
}

#[test]
fn the_plug_map_comments_on_a_selection_and_the_api_on_a_scope() {
    let scene = Scene::two_hunks(|it| {
        it.before("vim.keymap.set({ 'n', 'x' }, 'gm', '<Plug>(caliban-comment)')")
    });
    scene.server.reply(Reply::said("One."));
    scene.nvim.keys("8GVgmhalf of it<CR>");
    check_said(
        &scene,
        2,
        expect![[r#"
            <hunk kind="pending" path="a.txt" lines="8-8" filetype="text">
            -l8
            +L8
            </hunk>
            half of it"#]],
    );
    scene.wait_idle("One.");
    assert_eq!(scene.nvim.lua_str("return vim.fn.mode()"), "n");
    scene.server.reply(Reply::said("Two."));
    scene
        .nvim
        .keys("2Ggm<Esc>:lua require('caliban').comment('all of it', { scope = 'file' })<CR>");
    scene.wait_idle("Two.");
    let said = scene.request(3).last_user_text();
    assert!(said.contains("@@ line 2") && said.ends_with("all of it"), "{said}");
    assert_eq!(scene.pending(), 2);
}

#[test]
fn a_comment_without_a_hunk_or_text_sends_nothing() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys("5G\\c");
    expect!["No hunk here. ]h goes to the next one."].assert_eq(&scene.said());
    scene.nvim.keys(":messages clear<CR>2G\\c<CR>");
    expect!["Nothing sent. The comment is empty."].assert_eq(&scene.said());
    scene.nvim.keys(":messages clear<CR>:new<CR>:Caliban comment x<CR>");
    expect!["Nothing is under review here."].assert_eq(&scene.said());
    assert_eq!(scene.server.requests().len(), 1);
    scene.wait_phase("reviewing");
}

#[test]
fn a_comment_begins_a_turn_or_joins_the_running_one() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":Caliban stop<CR>");
    scene.wait_idle("Stopped.");
    let gate = scene.server.reply(Reply::new().text("Looking. ").gate().call(
        "l1",
        "list",
        json!({ "path": "." }),
    ));
    scene.nvim.keys("2G\\cfirst<CR>");
    assert!(scene.request(2).last_user_text().ends_with("</hunk>\nfirst"));
    scene.nvim.keys("8G\\csecond<CR>");
    scene.nvim.wait_screen("◷ joins this turn: second");
    scene.server.reply(Reply::said("Both."));
    gate.release();
    let told = scene.request(3).last_user_text();
    assert!(told.contains("+L8b\n</hunk>\nsecond"), "{told}");
    scene.wait_idle("Both.");
    assert_eq!(scene.pending(), 2);
}

#[test]
fn a_comment_with_the_program_dead_goes_to_the_composer() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.lua("vim.fn.jobstop(require('caliban.program.process').program())", &[]);
    scene.wait_phase("offline");
    scene.nvim.keys("2G\\cmind the case<CR>");
    scene.nvim.wait(|it| it.composer() == "mind the case", "the comment in the composer");
    scene.nvim.wait_screen("▏comment on a.txt:2");
    scene.nvim.keys(":Caliban restart<CR>");
    scene.wait_phase("idle");
    scene.server.reply(Reply::said("I do."));
    scene.nvim.keys(":lua require('caliban').send()<CR>");
    scene.wait_idle("I do.");
    let told = scene.server.requests().last().unwrap().last_user_text();
    assert!(told.ends_with("-l2\n+L2\n</hunk>\nmind the case"), "{told}");
    assert_eq!(scene.pending(), 2);
}

#[test]
fn a_comment_on_a_file_to_be_deleted_means_the_whole_file() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("d1", "delete", json!({ "path": "a.txt" })));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("Kept."));
    scene.nvim.keys("3G\\cit is used<CR>");
    check_said(
        &scene,
        2,
        expect![[r#"
            <hunk kind="pending" path="a.txt" filetype="text">
            delete
            </hunk>
            it is used"#]],
    );
    scene.wait_idle("Kept.");
    assert_eq!(scene.pending(), 1);
}

#[test]
fn a_comment_quotes_only_the_beginning_of_a_large_hunk() {
    let scene = Scene::start(|it| {
        it.file("a.txt", nine()).before(
            "vim.api.nvim_create_autocmd('BufReadPost', { callback = function(event)
              vim.keymap.set('n', '<localleader>c', '<Cmd>let g:mine = 1<CR>', { buffer = event.buf })
            end })",
        )
    });
    scene.nvim.keys(":edit a.txt<CR>");
    let long = (0..300).map(|n| format!("line {n} {}", "x".repeat(500))).collect::<Vec<_>>();
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", &long.join("\n"))])));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("Too much."));
    scene.nvim.keys("5G\\ctoo much<CR>");
    let told = scene.request(2).last_user_text();
    assert!(told.contains("\n… 101 more lines\n</hunk>\ntoo much"), "{told}");
    assert!(told.len() < 100_000, "{}", told.len());
    scene.wait_idle("Too much.");
    scene.nvim.keys("\\R");
    scene.wait_hunks(0);
    scene.nvim.keys("\\c");
    assert_eq!(scene.nvim.lua_str("return vim.g.mine"), "1");
}

#[test]
fn a_comment_reaches_the_model_in_openais_dialect() {
    let server = crate::kit::server::Server::start();
    let setup = crate::kit::setup::Setup::new().file("a.txt", nine()).openai(&server);
    let nvim = crate::kit::nvim::Nvim::start(&setup);
    server.reply(two_hunks());
    nvim.keys(":edit a.txt<CR>:Caliban ask please<CR>");
    nvim.wait_screen("2 changes by Caliban");
    nvim.wait_phase("reviewing");
    server.reply(Reply::said("I see."));
    nvim.keys("2G\\cwhy?<CR>");
    nvim.wait_transcript("I see.");
    let told = server.wait_requests(2)[1].last_user_text();
    assert!(told.contains("-l2\n+L2\n</hunk>\n") && told.ends_with("why?"), "{told}");
}

#[test]
fn a_comment_goes_to_the_conversation_whose_hunk_it_is() {
    let scene = Scene::two_hunks(|it| it);
    let nvim = &scene.nvim;
    nvim.keys(":Caliban new<CR>");
    nvim.wait_session("main-2");
    nvim.keys(":1wincmd w<CR>");
    scene.server.reply(Reply::said("I see."));
    nvim.keys("2G\\cfor main<CR>");
    // reads `:messages`, because on the screen the message about the end of the turn soon replaces this message
    let message = "The comment goes to the conversation main.";
    nvim.wait(|_| scene.said().contains(message), "the message");
    assert_eq!(scene.answer(2, "e1"), UNDECIDED);
    assert!(scene.request(2).last_user_text().ends_with("for main"));
    assert!(!nvim.transcript().contains("for main"));
    nvim.keys(":Caliban resume main<CR>");
    scene.wait_idle("I see.");
    scene.wait_chat("2 hunks in 1 file to review");
}
