//! Tests the question about a project's instructions, from the first message to the request.

use crate::kit::chat::{DIALECTS, assert_grows, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::write;
use expect_test::expect;
use serde_json::json;
use std::fs;

const QUESTION: &str = "? May the model follow these instructions?";

fn project() -> Setup {
    Setup::new().cautious().file("AGENTS.md", "Use tabs\u{200b}.\n").size(150, 40)
}

fn start(setup: &Setup) -> (Server, Nvim) {
    let server = Server::start();
    server.otherwise(Reply::said("Done."));
    let nvim = Nvim::start(&setup.clone().anthropic(&server));
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Project");
    (server, nvim)
}

/// Sends a message, and waits for the question about the instructions.
fn send_up_to_question(nvim: &Nvim, message: &str) {
    nvim.keys(&format!(":Caliban<CR>i{message}<C-s><Esc>"));
    nvim.wait_transcript(QUESTION);
    nvim.wait_phase("asking");
}

/// The number of replies in the transcript that end a turn.
fn replies(nvim: &Nvim) -> usize {
    let text = nvim.transcript();
    ["Done.", "Read.", "Written."].iter().map(|it| text.matches(it).count()).sum()
}

/// Waits until the turn after `shown` replies is over. Until its reply is shown, the phase may be that of the turn before.
fn wait_reply(nvim: &Nvim, shown: usize) {
    nvim.wait(|nvim| replies(nvim) > shown, "the reply");
    nvim.wait_phase("idle");
}

/// Answers the question by a key, and waits until the turn that waited for it is over.
fn answer(nvim: &Nvim, server: &Server, key: &str) {
    let count = server.count();
    nvim.go_to_transcript(QUESTION);
    nvim.wait_screen("y use them");
    let shown = replies(nvim);
    nvim.keys(key);
    server.wait_count(count + 1);
    wait_reply(nvim, shown);
    assert!(!nvim.transcript().contains(QUESTION), "{}", nvim.transcript());
}

/// Sends a message, and checks that it is sent without a question.
fn send(nvim: &Nvim, server: &Server, message: &str) {
    let (count, shown) = (server.count(), replies(nvim));
    nvim.keys(&format!(":Caliban<CR>i{message}<C-s><Esc>"));
    server.wait_count(count + 1);
    wait_reply(nvim, shown);
    assert!(!nvim.transcript().contains(QUESTION), "{}", nvim.transcript());
}

/// Ends Neovim and its program, and starts them again with a new conversation.
fn again(nvim: &Nvim) -> Nvim {
    nvim.quit_with(":qa!<CR>");
    nvim.wait_program_end();
    let nvim = Nvim::start(&nvim.setup);
    nvim.keys(":Caliban new<CR>");
    nvim.wait_transcript("Project");
    nvim
}

#[test]
fn the_first_message_waits_until_the_user_agrees_to_the_projects_instructions() {
    let told = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.otherwise(Reply::said("Done."));
        let nvim = Nvim::start(&project().speaking(dialect, &server));
        send_up_to_question(&nvim, "hello");
        nvim.wait_screen("AGENTS.md, 1 line:");
        nvim.wait_screen("Use tabs[U+200B].");
        nvim.wait_screen("queued: hello");
        nvim.wait_screen("● waiting for you");
        assert_eq!(server.count(), 0);
        answer(&nvim, &server, "y");
        send(&nvim, &server, "and more");
        let transcript = nvim.transcript();
        assert!(!transcript.contains("Since this conversation began"), "{transcript}");
        let requests = server.requests();
        let first = requests[0].last_user_text().replace(">\n\n", ">\n");
        assert!(!requests[0].system_text().contains("tabs"));
        assert_grows(requests);
        // the next conversation begins with the instructions
        let nvim = again(&nvim);
        send(&nvim, &server, "hello");
        let begun = server.requests()[2].clone();
        assert!(begun.json.to_string().contains("Use tabs[U+200B]."));
        assert_eq!(begun.last_user_text(), "hello");
        first
    });
    expect![[r#"
        <instructions of="project" path="AGENTS.md">
        Use tabs[U+200B].
        </instructions>
        hello"#]]
    .assert_eq(common(&told));
}

#[test]
fn the_user_is_not_asked_again_about_refused_instructions_until_their_text_changes() {
    let (server, nvim) = start(&project());
    send_up_to_question(&nvim, "hello");
    answer(&nvim, &server, "n");
    let nvim = again(&nvim);
    send(&nvim, &server, "hello again");
    for request in server.requests() {
        assert!(!request.json.to_string().contains("tabs"));
    }
    fs::write(nvim.setup.path("AGENTS.md"), "Use blanks.\n").unwrap();
    let nvim = again(&nvim);
    send_up_to_question(&nvim, "hello");
    nvim.wait_screen("Use blanks.");
    answer(&nvim, &server, "y");
    assert!(server.requests()[2].last_user_text().contains("Use blanks."));
}

#[test]
fn a_reason_for_leaving_instructions_out_goes_to_the_model() {
    let (server, nvim) = start(&project());
    send_up_to_question(&nvim, "hello");
    nvim.go_to_transcript(QUESTION);
    nvim.wait_screen("y use them");
    nvim.keys("e");
    nvim.wait_screen("No, because: ");
    nvim.keys("they are old<CR>");
    server.wait_count(1);
    let said = server.requests()[0].last_user_text();
    let reason = "The user refused the project's instructions, and says: they are old";
    assert!(said.contains(reason) && said.ends_with("hello") && !said.contains("tabs"), "{said}");
}

#[test]
fn an_answer_for_this_conversation_does_not_apply_to_other_conversations() {
    let (server, nvim) = start(&project());
    send_up_to_question(&nvim, "hello");
    answer(&nvim, &server, "s");
    send(&nvim, &server, "more");
    assert!(server.requests()[0].last_user_text().contains("Use tabs"));
    let nvim = again(&nvim);
    send_up_to_question(&nvim, "hello");
    assert_eq!(server.count(), 2);
}

#[test]
fn stopping_at_the_question_about_instructions_gives_the_message_back_and_the_next_message_asks_again()
 {
    let (server, nvim) = start(&project());
    send_up_to_question(&nvim, "hello");
    nvim.keys("<C-c>");
    nvim.wait(|nvim| nvim.composer() == "hello", "the message in the composer");
    nvim.wait_phase("idle");
    assert!(!nvim.transcript().contains(QUESTION) && server.count() == 0);
    nvim.keys(":Caliban<CR><C-s>");
    nvim.wait_transcript(QUESTION);
    answer(&nvim, &server, "y");
    assert!(server.requests()[0].last_user_text().contains("Use tabs"));
}

#[test]
fn a_message_that_waits_for_the_answer_about_instructions_survives_a_restart() {
    let (server, nvim) = start(&project());
    send_up_to_question(&nvim, "hello");
    nvim.quit_with(":qa!<CR>");
    nvim.wait_program_end();
    let nvim = Nvim::start(&nvim.setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("hello");
    assert_eq!(server.count(), 0);
    nvim.go_to_transcript("hello");
    nvim.keys("s");
    nvim.wait_transcript(QUESTION);
    answer(&nvim, &server, "y");
    assert!(server.requests()[0].last_user_text().contains("Use tabs"));
}

#[test]
fn the_user_is_asked_about_instructions_of_a_folder_at_the_next_message() {
    let setup = Setup::new().cautious().size(150, 40);
    let setup = setup.file("sub/AGENTS.md", "Be brief.\n").file("sub/a.txt", "words\n");
    let (server, nvim) = start(&setup);
    server.reply(Reply::new().call("c1", "read", json!({"path": "sub/a.txt"})));
    server.reply(Reply::said("Read."));
    nvim.keys("ilook<C-s><Esc>");
    nvim.wait_transcript("Read.");
    nvim.wait_phase("idle");
    send_up_to_question(&nvim, "go on");
    nvim.wait_screen("sub/AGENTS.md, 1 line:");
    assert!(server.requests().iter().all(|it| !it.json.to_string().contains("Be brief")));
    answer(&nvim, &server, "y");
    assert!(server.requests()[2].last_user_text().contains("Be brief."));
    assert_grows(server.requests());
}

#[test]
fn the_user_is_not_asked_about_their_own_instructions_nor_during_the_tour() {
    let setup = Setup::new().cautious().size(150, 40);
    let own = setup.dir().join("config/caliban");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("AGENTS.md"), "Mine.\n").unwrap();
    let (server, nvim) = start(&setup);
    send(&nvim, &server, "hello");
    assert!(server.requests()[0].json.to_string().contains("Mine."));
    let nvim = Nvim::start(&project().env("CALIBAN_MODEL", "tour"));
    nvim.keys(":Caliban<CR>ihello<C-s><Esc>");
    nvim.wait_phase("idle");
    nvim.wait(|nvim| nvim.composer().is_empty(), "the message on its way");
    assert!(!nvim.transcript().contains(QUESTION));
}

#[test]
fn the_user_is_not_asked_about_instructions_that_they_accepted_in_a_review() {
    let (server, nvim) = start(&Setup::new().cautious().size(150, 40));
    server.reply(Reply::new().call("w1", "write", write("AGENTS.md", "Use tabs.\n")));
    server.reply(Reply::said("Written."));
    nvim.keys("i/init<C-s><Esc>");
    nvim.wait_pending(1);
    nvim.keys(":Caliban accept all<CR>");
    nvim.wait_transcript("Written.");
    nvim.wait_phase("idle");
    let nvim = again(&nvim);
    send(&nvim, &server, "hello");
    assert!(server.requests()[2].json.to_string().contains("Use tabs."));
}

#[test]
fn with_the_settings_always_and_never_the_user_is_not_asked_about_instructions() {
    for (setting, is_sent) in [("'always'", true), ("'never'", false), ("false", false)] {
        let (server, nvim) = start(&project().config(&format!("{{ instructions = {setting} }}")));
        send(&nvim, &server, "hello");
        let has = server.requests()[0].json.to_string().contains("Use tabs");
        assert_eq!(has, is_sent, "{setting}");
    }
}

#[test]
fn an_answer_about_instructions_that_cannot_be_stored_applies_to_this_conversation() {
    let (server, nvim) = start(&project());
    send_up_to_question(&nvim, "hello");
    fs::create_dir_all(nvim.setup.sessions().join(".instructions")).unwrap();
    answer(&nvim, &server, "y");
    nvim.wait_transcript("Your answer about the project's instructions could not be stored: ");
    assert!(server.requests()[0].last_user_text().contains("Use tabs"));
    send(&nvim, &server, "more");
}

#[test]
fn slash_rules_asks_again_about_instructions_that_were_left_out() {
    let (server, nvim) = start(&project());
    send_up_to_question(&nvim, "hello");
    answer(&nvim, &server, "n");
    nvim.keys(":Caliban<CR>i/rules<C-s><Esc>");
    nvim.wait_transcript(QUESTION);
    nvim.go_to_transcript(QUESTION);
    nvim.wait_screen("y use them");
    nvim.keys("y");
    nvim.wait_transcript("! Instructions: AGENTS.md  1 line");
    send(&nvim, &server, "more");
    assert!(server.requests()[1].last_user_text().contains("Use tabs"));
}

#[test]
fn a_conversation_that_began_before_the_user_agreed_gets_the_instructions_with_its_next_message() {
    let (server, nvim) = start(&project());
    nvim.keys(":Caliban new second<CR>");
    nvim.wait_session("second");
    send_up_to_question(&nvim, "hello");
    answer(&nvim, &server, "y");
    nvim.keys(":Caliban resume main<CR>");
    nvim.wait_session("main");
    send(&nvim, &server, "and here?");
    // if a message is taken back, the instructions that were sent with it are taken back too
    nvim.keys(":Caliban<CR>i/undo<C-s>");
    nvim.wait(|nvim| nvim.composer() == "and here?", "the message in the composer");
    nvim.keys("<Esc>");
    send(&nvim, &server, "");
    let requests = server.requests();
    for request in &requests {
        let said = request.last_user_text();
        assert!(said.contains("Use tabs[U+200B]."), "{said}");
    }
    assert_eq!(requests.len(), 3);
}
