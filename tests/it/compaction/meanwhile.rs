//! Tests what happens during a compaction: queued messages, a question, a running command, a review.

use super::*;
use crate::review::scene::edit;

/// Messages that the user sends while the summary is written wait, and are then sent in order.
#[test]
fn messages_sent_during_a_compaction_wait_for_its_end() {
    let server = Server::start();
    let nvim = three_turns(&server, &files(Setup::new()).config(EARLY).anthropic(&server));
    let gate = server.reply(Reply::said(&summary("Go on.")).held());
    server.reply(Reply::said("Four."));
    server.reply(Reply::said("Six."));
    type_in(&nvim, "four, please");
    server.wait_count(5);
    nvim.wait_phase("compacting");
    nvim.lua("require('caliban').steer(...)", &["five, please".into()]);
    nvim.lua("require('caliban').ask(...)", &["six, please".into()]);
    nvim.wait_queue(2);
    gate.finish();
    nvim.wait_transcript("Six.");
    nvim.wait_phase("idle");
    let requests = server.requests();
    assert_eq!(requests.len(), 7);
    let outline = requests[5].outline();
    assert!(outline.contains("four, please") && outline.ends_with("five, please"), "{outline}");
    assert!(requests[6].outline().ends_with("six, please"));
    assert_grows(requests[5..].to_vec());
}

/// The user sends `/compact` while no turn runs, and a message before the compaction has ended. The message begins the
/// next turn.
#[test]
fn a_message_sent_during_slash_compact_is_answered_after_it() {
    let server = Server::start();
    let nvim = three_turns(&server, &files(Setup::new()).config(LATE).anthropic(&server));
    let gate = server.reply(Reply::said(&summary("Go on.")).held());
    server.reply(Reply::said("Four."));
    type_in(&nvim, "/compact");
    server.wait_count(5);
    type_in(&nvim, "four, please");
    nvim.wait_queue(1);
    type_in(&nvim, "/compact");
    nvim.wait_screen("is already being compacted");
    gate.finish();
    nvim.wait_transcript("Four.");
    nvim.wait_phase("idle");
    let outline = server.requests()[5].outline();
    assert!(outline.contains("<summary>") && outline.ends_with("four, please"), "{outline}");
}

/// The user sends `/compact` while a question is open, and while a command runs. The conversation is compacted before
/// the next request, which has the command's output.
#[test]
fn slash_compact_waits_for_a_question_and_a_running_command() {
    let server = Server::start();
    let nvim = three_turns(&server, &files(Setup::new()).config(LATE).anthropic(&server));
    let command = "echo began; until [ -e go ]; do sleep 0.05; done; echo ended";
    server.reply(Reply::new().call("s1", "shell", json!({"command": command})));
    server.reply(Reply::said(&summary("Go on.")));
    server.reply(Reply::said("Four."));
    type_in(&nvim, "four, please");
    nvim.wait_question();
    type_in(&nvim, "/compact");
    nvim.wait_screen("compacted before the next request");
    nvim.wait_question();
    nvim.keys(":Caliban approve<CR>");
    nvim.wait_screen("    began");
    std::fs::write(nvim.setup.path("go"), "").unwrap();
    nvim.wait_transcript("Four.");
    nvim.wait_phase("idle");
    let requests = server.requests();
    assert!(is_question(&requests[5]));
    let answer = requests[6].answer("s1");
    assert!(answer.contains("began\nended"), "{answer}");
    assert!(!requests[6].outline().contains("the line 199"));
}

/// If an edit is under review while the conversation is compacted, the verdict is sent with the next request.
#[test]
fn a_review_stays_open_during_a_compaction() {
    let server = Server::start();
    let nvim = three_turns(&server, &files(Setup::new()).config(LATE).anthropic(&server));
    server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("line 007", "line seven")])));
    type_in(&nvim, "four, please");
    nvim.wait_pending(1);
    nvim.keys(":Caliban stop<CR>");
    nvim.wait_phase("idle");
    server.reply(Reply::said(&summary("Go on.")));
    type_in(&nvim, "/compact");
    nvim.wait_transcript("▸ Compacted: ");
    nvim.wait_phase("idle");
    assert_eq!(nvim.pending(), 1);
    server.reply(Reply::said("Five."));
    nvim.ask("five, please", "Five.");
    let outline = server.requests()[6].outline();
    assert!(outline.contains("Your edits of these files are under the user's review"), "{outline}");
    nvim.keys(":Caliban accept all<CR>");
    nvim.wait_hunks(0);
    server.reply(Reply::said("Six."));
    nvim.ask("six, please", "Six.");
    let said = server.requests()[7].last_user_text();
    assert!(said.contains("The user accepted the change in a.txt."), "{said}");
    assert!(nvim.setup.on_disk("a.txt").unwrap().contains("line seven"));
}

/// The user's permissions for the session still apply, and the model is told about them.
#[test]
fn permissions_and_the_mode_still_apply_after_a_compaction() {
    let server = Server::start();
    let nvim = three_turns(
        &server,
        &files(Setup::new())
            .config("{ compact = 1, trim = false, mode = 'auto-edit' }")
            .anthropic(&server),
    );
    let shell = |id: &str| Reply::new().call(id, "shell", json!({"command": "echo allowed"}));
    server.reply(shell("s1"));
    server.reply(Reply::said("Four."));
    type_in(&nvim, "four, please");
    nvim.wait_question();
    nvim.keys(":Caliban approve session<CR>");
    nvim.wait_transcript("Four.");
    nvim.wait_phase("idle");
    server.reply(Reply::said(&summary("Go on.")));
    type_in(&nvim, "/compact");
    nvim.wait_transcript("▸ Compacted: ");
    nvim.wait_phase("idle");
    server.reply(shell("s2"));
    server.reply(Reply::said("Five."));
    nvim.ask("five, please", "Five.");
    let requests = server.requests();
    let outline = requests[7].outline();
    assert!(
        outline.contains("The user has allowed, until the program ends: run echo allowed."),
        "{outline}"
    );
    assert!(outline.contains("Auto-edit mode is on"), "{outline}");
    assert!(requests[8].answer("s2").contains("allowed"));
}

#[test]
fn what_the_user_refused_and_why_is_kept_by_a_compaction_after_a_restart() {
    let server = Server::start();
    let setup = files(Setup::new()).config(LATE).anthropic(&server);
    let nvim = three_turns(&server, &setup);
    server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("line 007", "line seven")])));
    server.reply(Reply::new().call("s1", "shell", json!({"command": "touch made"})));
    server.reply(Reply::said("Four."));
    type_in(&nvim, "four, please");
    nvim.wait_pending(1);
    nvim.keys(":Caliban reject all digits are fine<CR>");
    nvim.wait_question();
    nvim.keys(":Caliban deny not on this machine<CR>");
    nvim.wait_transcript("Four.");
    nvim.wait_phase("idle");
    server.reply(Reply::said("Five."));
    nvim.ask("five, please", "Five.");
    nvim.quit_with(":qa!<CR>");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Five.");
    server.reply(Reply::said(&summary("Go on.")));
    type_in(&nvim, "/compact");
    nvim.wait_transcript("▸ Compacted: ");
    nvim.wait_phase("idle");
    server.reply(Reply::said("Six."));
    nvim.ask("six, please", "Six.");
    let outline = server.requests().last().unwrap().outline();
    let verdicts = outline.split_once("<verdicts>\n").unwrap().1;
    let verdicts = verdicts.split_once("\n</verdicts>").unwrap().0;
    expect![[r#"
        The user rejected the change in a.txt: it is undone.
        The user's reason: digits are fine
        shell command="touch made": Not run: the user refused, and says: not on this machine"#]]
    .assert_eq(verdicts);
}
