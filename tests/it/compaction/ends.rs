//! Tests compactions that fail: by a rejected summary, a stop, or the end of the program.

use super::*;
use crate::kit::setup::kill;
use crate::review::scene::edit;

#[test]
fn a_rejected_summary_leaves_the_conversation_as_it_was() {
    let server = Server::start();
    let nvim = three_turns(&server, &files(Setup::new()).config(LATE).anthropic(&server));
    let goal = || summary("Go on.");
    let lacking = goal().replace("## Done", "## Rest");
    let long = goal().replace("None.", &"word ".repeat(3_000));
    let rejected = [
        (Reply::said(" "), "the summary is empty"),
        (Reply::said(&lacking), "the summary has no section `Done`"),
        (Reply::said(&long), "the summary is larger than the text that it replaces"),
        (Reply::said(&goal()).call("c1", "list", json!({})), "the model called a tool"),
        (Reply::said(&goal()).stop("refusal"), "the model refused"),
        (Reply::said(&goal()).stop("max_tokens"), "the summary was cut"),
        (Reply::error(401), "Not compacted. "),
    ];
    for (n, (reply, why)) in rejected.into_iter().enumerate() {
        server.reply(reply);
        type_in(&nvim, "/compact");
        nvim.wait_transcript(why);
        nvim.wait_phase("idle");
        assert_eq!(nvim.transcript().matches("The conversation goes on as it was").count(), n + 1);
    }
    server.reply(Reply::said("Four."));
    nvim.ask("four, please", "Four.");
    let requests = server.requests();
    assert_eq!(requests.iter().filter(|it| is_question(it)).count(), 7);
    let talk: Vec<Request> = requests.into_iter().filter(|it| !is_question(it)).collect();
    assert_grows(talk);
}

/// The provider reports that the request is too long, so it is sent again with a smaller part of the conversation.
#[test]
fn if_the_request_for_a_summary_is_too_long_a_smaller_part_of_the_conversation_is_sent() {
    let server = Server::start();
    let config = "{ compact = 1, trim = false, models = { ['anthropic/claude-sonnet-4-5'] = { window = 40000 } } }";
    let nvim = three_turns(&server, &files(Setup::new()).config(config).anthropic(&server));
    for _ in 0..3 {
        server.reply(Reply::too_long());
    }
    server.reply(Reply::said(&summary("Go on.")));
    type_in(&nvim, "/compact");
    nvim.wait_transcript("▸ Compacted: ");
    nvim.wait_phase("idle");
    let sizes: Vec<usize> = server.requests()[4..].iter().map(|it| it.body.len()).collect();
    assert!(sizes.len() == 4 && sizes[3] < sizes[0] / 2, "{sizes:?}");
}

#[test]
fn no_summary_is_requested_when_the_spending_limit_is_reached() {
    let server = Server::start();
    let config = "{ compact = 1, trim = false, limit = { tokens = 50000 } }";
    let nvim = three_turns(&server, &files(Setup::new()).config(config).anthropic(&server));
    type_in(&nvim, "/compact");
    nvim.wait_screen("Not compacted: this conversation has used");
    assert_eq!(server.count(), 4);
}

#[test]
fn a_compaction_can_be_stopped() {
    let server = Server::start();
    let nvim = three_turns(&server, &files(Setup::new()).config(LATE).anthropic(&server));
    server.reply(Reply::said(&summary("Go on.")).held());
    type_in(&nvim, "/compact");
    nvim.wait_phase("compacting");
    nvim.wait_screen(" compacting");
    server.wait_count(5);
    nvim.keys("<C-c>");
    server.wait_closed(5);
    nvim.wait_transcript("! Not compacted: stopped. The conversation goes on as it was.");
    nvim.wait_phase("idle");
    server.reply(Reply::said("Four."));
    nvim.ask("four, please", "Four.");
    assert!(server.requests()[5].outline().contains("the line 199"));
}

fn kill_program(nvim: &Nvim) {
    let bin = env!("CARGO_BIN_EXE_caliban");
    let found = nvim.setup.processes();
    let program = found.iter().find(|it| it.1 == bin).unwrap_or_else(|| panic!("{found:?}"));
    kill(program.0);
    nvim.wait_screen("The program ended");
}

/// The program is killed while the model writes the summary, and after the summary was saved.
#[test]
fn after_a_kill_a_compaction_is_either_complete_or_undone() {
    for is_answered in [false, true] {
        let server = Server::start();
        let nvim = three_turns(&server, &files(Setup::new()).config(EARLY).anthropic(&server));
        let question = Reply::said(&summary("Go on."));
        if is_answered {
            server.reply(question);
            server.reply(Reply::hang());
        } else {
            server.reply(question.held());
        }
        type_in(&nvim, "four, please");
        server.wait_count(5 + usize::from(is_answered));
        kill_program(&nvim);
        nvim.keys(":Caliban restart<CR>");
        nvim.wait_transcript("! Interrupted: ");
        assert_eq!(nvim.transcript().contains("▸ Compacted: "), is_answered);
        server.forget();
        if !is_answered {
            server.reply(Reply::said(&summary("Go on.")));
        }
        server.reply(Reply::said("Five."));
        nvim.ask("five, please", "Five.");
        let requests = server.requests();
        let last = requests.last().unwrap().outline();
        assert!(last.contains("four, please") && last.contains("five, please"), "{last}");
        assert_eq!(
            requests.iter().filter(|it| is_question(it)).count(),
            2 - usize::from(is_answered)
        );
        assert!(!last.contains("the line 199"), "{last}");
    }
}

/// A compaction that the user began while no turn ran does not count as an interrupted turn.
#[test]
fn a_compaction_that_was_interrupted_by_the_end_of_neovim_is_reported() {
    let server = Server::start();
    let setup = files(Setup::new()).config(LATE).anthropic(&server);
    let nvim = three_turns(&server, &setup);
    server.reply(Reply::said(&summary("Go on.")).held());
    type_in(&nvim, "/compact");
    server.wait_count(5);
    nvim.kill();
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("! Not compacted: Neovim or the program ended first.");
    assert!(!nvim.transcript().contains("Interrupted"));
    server.forget();
    server.reply(Reply::said("Four."));
    nvim.ask("four, please", "Four.");
    assert!(server.requests().last().unwrap().outline().contains("the line 199"));
}

/// Each compaction includes the summary of the last one, and the user's verdicts from earlier parts are kept.
#[test]
fn a_second_compaction_updates_the_summary_of_the_first() {
    let server = Server::start();
    let nvim = three_turns(&server, &files(Setup::new()).config(LATE).anthropic(&server));
    server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("line 007", "line seven")])));
    server.reply(Reply::said("Four."));
    nvim.lua("require('caliban').ask(...)", &["four, please".into()]);
    nvim.wait_pending(1);
    nvim.keys(":Caliban accept all<CR>");
    nvim.wait_transcript("Four.");
    nvim.wait_phase("idle");
    server.reply(Reply::said(&summary("The first goal.")));
    type_in(&nvim, "/compact");
    nvim.wait_transcript("▸ Compacted: ");
    nvim.wait_phase("idle");
    server.reply(Reply::said(&"I thought about it. ".repeat(1_000)));
    nvim.ask("five, please", "about it.");
    server.reply(Reply::said(&summary("The second goal.")));
    type_in(&nvim, "/compact");
    let twice = |nvim: &Nvim| nvim.transcript().matches("▸ Compacted: ").count() == 2;
    nvim.wait(twice, "the second boundary");
    nvim.wait_phase("idle");
    server.reply(Reply::said("Six."));
    nvim.ask("six, please", "Six.");
    let requests = server.requests();
    let [.., question, last] = &requests[..] else { panic!("no requests") };
    let question = question.last_user_text();
    assert!(question.contains("<earlier_summary>\n## Goal\nThe first goal."), "{question}");
    assert!(!question.contains("the line 199") && question.contains("I thought about it."));
    let last = last.outline();
    for kept in
        ["one, please", "four, please", "five, please", "The second goal.", "The user accepted"]
    {
        assert!(last.contains(kept), "{kept}: {last}");
    }
    assert!(!last.contains("The first goal."), "{last}");
}
