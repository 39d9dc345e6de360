//! Tests compaction: in requests a summary replaces the first part of a conversation, automatically and by `/compact`.

mod ends;
mod guides;
mod long;
mod meanwhile;
mod twice;
mod undone;

use crate::kit::chat::{DIALECTS, assert_grows, common};
use crate::kit::dialects::Dialect;
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::json;

/// A summary with all sections.
pub(crate) fn summary(goal: &str) -> String {
    let others = ["Constraints", "Done", "In progress", "Decisions", "Open questions"];
    let others = others.iter().chain(&["Files to re-read", "Next step"]);
    let others: Vec<String> = others.map(|it| format!("\n## {it}\nNone.\n")).collect();
    format!("## Goal\n{goal}\n{}", others.concat())
}

/// Whether the request asks for a summary.
fn is_question(request: &Request) -> bool {
    request.body.windows(16).any(|it| it == b"You summarise th")
}

/// About 5 kB.
fn text() -> String {
    let lines: Vec<String> = (0..200).map(|n| format!("this is the line {n:03}\n")).collect();
    lines.concat()
}

/// Settings with a share of the window at which the long conversations of these tests are compacted.
const EARLY: &str =
    "{ compact = 0.01, trim = false, models = { ['ollama/qwen3:8b'] = { num_ctx = 1000000 } } }";

/// Settings with a share of the window that no conversation of these tests reaches.
pub(crate) const LATE: &str = "{ compact = 1, trim = false }";

/// The model reads two long files in the first of three turns. After the third turn the provider counts 60,000 tokens.
pub(crate) fn three_turns(server: &Server, setup: &Setup) -> Nvim {
    let call = Reply::new().text("I look.").call("c1", "read", json!({"path": "a.txt"}));
    server.reply(call.call("c2", "read", json!({"path": "b.txt"})));
    server.reply(Reply::said("One."));
    server.reply(Reply::said("Two."));
    server.reply(Reply::said("Three.").usage(60_000, 10));
    let nvim = Nvim::start(setup);
    nvim.keys(":Caliban<CR>ione, please<C-s><Esc>");
    nvim.wait_transcript("One.");
    nvim.wait_phase("idle");
    nvim.ask("two, please", "Two.");
    nvim.ask("three, please", "Three.");
    nvim
}

pub(crate) fn files(setup: Setup) -> Setup {
    setup.file("a.txt", text()).file("b.txt", text())
}

/// Types a slash command or a message into the composer and sends it.
fn type_in(nvim: &Nvim, text: &str) {
    nvim.keys(&format!(":Caliban<CR>i{text}<C-s><Esc>"));
}

/// Makes a conversation in this dialect too long. Returns what the model and the user are told.
fn told(dialect: &dyn Dialect) -> String {
    let server = Server::start();
    let setup = files(Setup::new()).config(EARLY).speaking(dialect, &server);
    let nvim = three_turns(&server, &setup);
    server.reply(Reply::said(&summary("Three answers.")).usage(3_000, 100));
    server.reply(Reply::said("Four.").usage(500, 10));
    server.reply(Reply::said("Five."));
    nvim.ask("four, please", "Four.");
    nvim.ask("five, please", "Five.");
    nvim.quit_with(":qa!<CR>");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Five.");
    server.reply(Reply::said("Six."));
    nvim.ask("six, please", "Six.");
    let requests = server.requests();
    assert_grows(requests[..4].to_vec());
    assert_grows(requests[5..].to_vec());
    // the request for the summary offers no tools, and contains the tool results as text
    assert!(is_question(&requests[4]) && requests[4].tools().is_empty());
    let question = requests[4].last_user_text();
    assert!(question.starts_with("<conversation>\n[") && question.contains("the line 199"));
    assert!(!question.contains("four, please"), "{question}");
    let next = &requests[5];
    assert_eq!(
        (next.tools(), next.system_text()),
        (requests[3].tools(), requests[3].system_text())
    );
    let outline = next.outline();
    assert!(!outline.contains("the line 199") && !outline.contains("assistant"), "{outline}");
    assert!(next.last_user_text().ends_with("four, please"));
    let transcript = nvim.transcript();
    let notices = transcript.lines().filter(|it| it.contains("ompact"));
    let notices: Vec<&str> = notices.collect();
    // some dialects join consecutive messages of the same role
    let outline = outline.replace("user: four", "four").replace("\n\n", "\n");
    let model = nvim.lua_str("return require('caliban').state().model");
    // in some dialects a call has thoughts, so the sizes differ
    let notices = notices.join("\n").replace(&model, "MODEL").replace("2,500", "2,400");
    format!("{outline}\n{notices}")
}

#[test]
fn a_long_conversation_is_compacted_in_every_dialect() {
    let told = DIALECTS.map(told);
    expect![[r#"
        user: The first part of this conversation was compacted: this message replaces it. The user still sees the whole conversation.
        <summary>
        ## Goal
        Three answers.
        ## Constraints
        None.
        ## Done
        None.
        ## In progress
        None.
        ## Decisions
        None.
        ## Open questions
        None.
        ## Files to re-read
        None.
        ## Next step
        None.
        </summary>
        <user_messages>
        one, please
        ---
        two, please
        ---
        three, please
        </user_messages>
        <last_reply>
        Three.
        </last_reply>
        Go on from here. You no longer have the text of files that you read or were given before, even if a later message says that it was sent: read a file again before you edit it or rely on it.
        four, please
        ! Compacting: MODEL summarises 8 messages (about 2,400 tokens). Your messages, verdicts, skills and the to-do list are kept. <C-c> stops this.
        ▸ Compacted: 8 messages are now a summary and the texts kept with it (about 150 tokens instead of 2,400)."#]]
    .assert_eq(common(&told));
}

#[test]
fn the_line_of_a_compaction_unfolds_to_the_summary_that_the_model_gets() {
    let server = Server::start();
    let nvim = three_turns(&server, &files(Setup::new()).config(LATE).anthropic(&server));
    server.reply(Reply::said(&summary("Be quick.")));
    type_in(&nvim, "/compact the tests");
    nvim.wait_transcript("▸ Compacted: ");
    nvim.wait_phase("idle");
    assert!(!nvim.transcript().contains("## Goal"));
    nvim.go_to_transcript("Compacted: ");
    nvim.keys("<CR>");
    nvim.wait_transcript("  ## Goal\n  Be quick.");
    nvim.wait_transcript("  <user_messages>\n  one, please\n  ---\n  two, please");
    nvim.keys("<CR>");
    nvim.wait(|nvim| !nvim.transcript().contains("## Goal"), "the closed block");
    let question = server.requests()[4].last_user_text();
    assert!(
        question.ends_with("pay attention to this: the tests\n")
            || question.ends_with("this: the tests")
    );
}

/// The provider reports that the conversation is too long: it is compacted once, and the turn goes on.
#[test]
fn a_request_that_is_too_long_is_compacted_and_sent_again_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        let nvim =
            three_turns(&server, &files(Setup::new()).config(LATE).speaking(dialect, &server));
        server.reply(Reply::too_long());
        server.reply(Reply::said(&summary("Go on.")));
        server.reply(Reply::said("Four."));
        nvim.ask("four, please", "Four.");
        let requests = server.requests();
        assert!(requests[4].outline().contains("the line 199") && is_question(&requests[5]));
        assert!(!requests[6].outline().contains("the line 199"));
        assert!(requests[6].last_user_text().ends_with("four, please"));
        // if the provider reports this a second time in the same turn, the turn ends
        server.reply(Reply::too_long());
        server.reply(Reply::said(&summary("Go on.")));
        server.reply(Reply::too_long());
        let long = format!("five {}", "word ".repeat(2_000));
        nvim.ask(&long, "too long for the model");
        assert_eq!(server.requests().len(), 10);
    }
}

#[test]
fn a_reply_cut_at_the_end_of_the_window_is_requested_again_after_a_compaction() {
    let server = Server::start();
    let nvim = three_turns(&server, &files(Setup::new()).config(LATE).anthropic(&server));
    let full = "model_context_window_exceeded";
    server.reply(Reply::said("Four is cut").stop(full).usage(9_000, 20));
    server.reply(Reply::said(&summary("Go on.")));
    server.reply(Reply::said("Four."));
    nvim.ask("four, please", "Four.");
    let requests = server.requests();
    assert!(is_question(&requests[5]) && requests[6].last_user_text().ends_with("four, please"));
    assert!(!requests[6].outline().contains("Four is cut"));
    assert!(!nvim.transcript().contains("Four is cut"));
    // if this happens a second time in the same turn, the reply stays as it is
    server.reply(Reply::said("Five is cut").stop(full));
    server.reply(Reply::said(&summary("Go on.")));
    server.reply(Reply::said("Five is cut again").stop(full));
    nvim.ask(&format!("five {}", "word ".repeat(2_000)), "Five is cut again");
    nvim.wait_transcript("The conversation is too long for the model. Make");
    assert_eq!(server.requests().len(), 10);
}

#[test]
fn compaction_can_be_turned_off() {
    for config in [
        "{ compact = false, trim = false }",
        "{ compact = 0.01, trim = false, models = { ['anthropic/claude-sonnet-4-5'] = { compact = false } } }",
    ] {
        let server = Server::start();
        let nvim = three_turns(&server, &files(Setup::new()).config(config).anthropic(&server));
        server.reply(Reply::said("Four."));
        server.reply(Reply::too_long());
        nvim.ask("four, please", "Four.");
        nvim.ask("five, please", "too long for the model");
        assert_grows(server.requests());
        // the user can still compact the conversation by `/compact`
        server.reply(Reply::said(&summary("Go on.")));
        type_in(&nvim, "/compact");
        nvim.wait_transcript("▸ Compacted: ");
    }
}

/// Thoughts of Claude Opus 5.5 are valid only after exactly the messages before them, so nothing is trimmed, and no
/// thought is sent after a compaction.
#[test]
fn thoughts_bound_to_earlier_messages_are_not_sent_after_a_compaction() {
    let server = Server::start();
    let setup = files(Setup::new()).config("{ compact = 0.005, trim = 0.001 }").anthropic(&server);
    let setup = setup.env("CALIBAN_MODEL", "anthropic/claude-opus-5-5");
    server.reply(Reply::new().thinking("Hm.").call("c1", "read", json!({"path": "a.txt"})));
    let call = Reply::new().thinking("So.").call("c2", "read", json!({"path": "b.txt"}));
    server.reply(call.usage(60_000, 10));
    server.reply(Reply::said(&summary("Go on.")));
    server.reply(Reply::new().thinking("Well.").text("One.").usage(100, 5));
    server.reply(Reply::said("Two."));
    let nvim = Nvim::start(&setup);
    nvim.ask("one", "One.");
    nvim.ask("two", "Two.");
    let requests = server.requests();
    assert!(requests[1].outline().contains("thinking Hm."));
    assert!(is_question(&requests[2]));
    // the model has not seen the second file yet, so the call and its answer stay
    let outline = requests[3].outline();
    assert!(outline.contains("read(c2)") && outline.contains("the line 199"), "{outline}");
    assert!(!outline.contains("read(c1)") && !outline.contains("thinking"), "{outline}");
    assert!(requests[4].outline().contains("thinking Well."));
    assert_grows(requests[3..].to_vec());
}

#[test]
fn switching_to_a_model_with_a_smaller_window_first_compacts_the_conversation() {
    let server = Server::start();
    let config =
        "{ trim = false, models = { ['anthropic/claude-haiku-4-5'] = { window = 8000 } } }";
    let nvim = three_turns(&server, &files(Setup::new()).config(config).anthropic(&server));
    server.reply(Reply::said(&summary("Go on.")));
    nvim.keys(":Caliban model anthropic/claude-haiku-4-5<CR>");
    nvim.wait_transcript("▸ Compacted: ");
    nvim.wait_phase("idle");
    server.reply(Reply::said("Four."));
    nvim.ask("four, please", "Four.");
    let requests = server.requests();
    assert_eq!(requests[4].json["model"], "claude-sonnet-4-5");
    assert!(is_question(&requests[4]) && requests[4].body.len() > 10_000);
    assert_eq!(requests[5].json["model"], "claude-haiku-4-5");
    assert!(!requests[5].outline().contains("the line 199"));
}

#[test]
fn if_the_conversation_cannot_be_compacted_for_a_smaller_model_the_user_is_told_why() {
    let server = Server::start();
    let config = "{ trim = false, compact = false,
        models = { ['anthropic/claude-haiku-4-5'] = { window = 8000 } } }";
    let nvim = three_turns(&server, &files(Setup::new()).config(config).anthropic(&server));
    nvim.keys(":Caliban model anthropic/claude-haiku-4-5<CR>");
    nvim.wait_transcript(
        "! This conversation has about 60,000 tokens; the limit for anthropic/claude-haiku-4-5 is 4,000. `/compact` makes it \
         shorter.",
    );
    server.reply(Reply::rejected("no"));
    type_in(&nvim, "/compact");
    nvim.wait_transcript("! Not compacted. The provider rejected the request (400).");
    // the request for the summary fits into the smaller window
    assert!(server.requests()[4].body.len() < 18_000);
}
