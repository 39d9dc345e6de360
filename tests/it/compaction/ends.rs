//! Tests compactions that fail: by a rejected summary, a stop, or the end of the program.

use super::*;
use crate::kit::setup::kill;
use crate::review::scene::edit;

/// After the first failure the conversation is as it was; the second in a row makes each turn a line.
#[test]
fn a_second_reply_that_is_no_summary_makes_each_turn_a_line() {
    let long = summary("Go on.").replace("None.", &"word ".repeat(3_000));
    let rejected = [
        (Reply::said(" "), "the summary is empty"),
        (Reply::said(&long), "the summary is larger than the text that it replaces"),
        (Reply::new().call("c1", "list", json!({})), "the model called a tool instead"),
        (Reply::said(&summary("Go on.")).stop("refusal"), "the model refused to write a summary"),
        (Reply::rejected("no"), "provider rejected the request (400)"),
    ];
    for (reply, why) in rejected {
        let server = Server::start();
        let nvim = three_turns(&server, &files(Setup::new()).config(LATE).anthropic(&server));
        server.reply(reply.clone());
        type_in(&nvim, "/compact");
        nvim.wait_transcript("The conversation goes on as it was; /compact tries again.");
        nvim.wait_phase("idle");
        assert!(nvim.transcript().contains(why), "{why}: {}", nvim.transcript());
        server.reply(Reply::said("Four."));
        nvim.ask("four, please", "Four.");
        server.reply(reply);
        type_in(&nvim, "/compact");
        nvim.wait_transcript("Compacted without a summary, because ");
        nvim.wait_phase("idle");
        server.reply(Reply::said("Five."));
        nvim.ask("five, please", "Five.");
        let requests = server.requests();
        assert_grows([&requests[..4], &requests[5..6]].concat());
        let last = requests[7].outline();
        let line = "- the user: one, please | calls: 2 read | the agent: One.";
        assert!(last.contains(line) && last.contains("four, please"), "{last}");
        assert!(!last.contains("the line 199"), "{last}");
        type_in(&nvim, "/uncompact");
        nvim.wait_transcript("The last compaction is undone");
    }
}

#[test]
fn failures_of_the_network_or_the_account_do_not_shorten_the_conversation() {
    let server = Server::start();
    let nvim = three_turns(&server, &files(Setup::new()).config(LATE).anthropic(&server));
    for n in 1..=3 {
        server.reply(Reply::error(401));
        type_in(&nvim, "/compact");
        let is_told = |it: &Nvim| it.transcript().matches("goes on as it was").count() == n;
        nvim.wait(is_told, "the failure");
        nvim.wait_phase("idle");
    }
    server.reply(Reply::said("Four."));
    nvim.ask("four, please", "Four.");
    assert!(server.requests().pop().unwrap().outline().contains("the line 199"));
}

/// The form of a summary does not matter; sections that it lacks are completed.
#[test]
fn a_summary_in_any_form_is_used_in_every_dialect() {
    let forms = [
        summary("Go on.").replace("## ", "## 1. "),
        summary("Go on.").replace("## ", "").replace("Goal\n", "Goal:\n"),
        summary("Go on.").replace("## Done\nNone.\n", "").replace("## ", "**") ,
        "The user wants three answers. Go on.".to_owned(),
        "```json\n{\"goal\": \"Go on.\", \"next_step\": \"Answer.\"}\n```".to_owned(),
        "## Ziel\nGo on.\n## Regeln\n-\n## Fertig\n-\n## Offen\n-\n## Entschieden\n-\n## Fragen\n-\n## Dateien\n-\n## Weiter\n-".to_owned(),
    ];
    for (dialect, form) in DIALECTS.into_iter().cycle().zip(forms) {
        let server = Server::start();
        let nvim =
            three_turns(&server, &files(Setup::new()).config(LATE).speaking(dialect, &server));
        server.reply(Reply::said(&form));
        type_in(&nvim, "/compact");
        nvim.wait_transcript("▸ Compacted: ");
        nvim.wait_phase("idle");
        server.reply(Reply::said("Four."));
        nvim.ask("four, please", "Four.");
        let last = server.requests().pop().unwrap().outline();
        assert!(last.contains("Go on.") && !last.contains("the line 199"), "{form}: {last}");
    }
}

/// What the user rejected and refused before a compaction, with the reasons.
#[test]
fn the_model_still_knows_what_was_rejected_and_why_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        let nvim =
            three_turns(&server, &files(Setup::new()).config(LATE).speaking(dialect, &server));
        server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("line 007", "line seven")])));
        server.reply(Reply::said("Four."));
        nvim.lua("require('caliban').ask(...)", &["four, please".into()]);
        nvim.wait_pending(1);
        nvim.lua("require('caliban').reject({ scope = 'all', reason = 'digits, please' })", &[]);
        nvim.wait_transcript("Four.");
        nvim.wait_phase("idle");
        server.reply(Reply::said(&summary("Go on.")));
        type_in(&nvim, "/compact");
        nvim.wait_transcript("▸ Compacted: ");
        nvim.wait_phase("idle");
        server.reply(Reply::said("Five."));
        nvim.ask("five, please", "Five.");
        let last = server.requests().pop().unwrap().outline();
        let verdicts = last.split("<verdicts>").nth(1).unwrap();
        assert!(
            verdicts.contains("The user rejected") && verdicts.contains("digits, please"),
            "{last}"
        );
    }
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
