//! A provider refuses thoughts that it gave itself: the request is sent again without them, the user is told once, and
//! later requests continue from that second request.

use crate::kit::chat::{DIALECTS, assert_grows};
use crate::kit::dialects::{Dialect, anthropic, gemini, openai_responses};
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

const TOLD: &str = "The provider refused the earlier thoughts of ";

/// The number of signatures and encrypted thoughts in a request, without placeholders.
fn proofs(request: &Request) -> usize {
    let body = request.json.to_string();
    let found = |mark: &str| body.matches(mark).count();
    let foreign = found(r#""thoughtSignature":"skip_thought_signature_validator""#);
    found(r#""signature":""#) + found(r#""encrypted_content":""#) + found(r#""thoughtSignature":"#)
        - foreign
}

fn look(n: usize, said: &str) -> Reply {
    let path = if n == 1 { json!({}) } else { json!({"path": "."}) };
    Reply::new().thinking("Hm.").text(said).call(&format!("c{n}"), "list", path)
}

fn restart(nvim: &Nvim) {
    let programs = || nvim.setup.debug_log().matches(" hello ").count();
    let before = programs();
    nvim.command("Caliban restart");
    nvim.wait(|_| programs() > before, "a new program");
    nvim.wait_phase("idle");
}

fn goes_on_without(dialect: &dyn Dialect, refusal: &str) {
    let server = Server::start();
    server.reply(look(1, "I look."));
    server.reply(Reply::said("Done."));
    let setup = dialect.choose(Setup::new().file("a.txt", "alpha\n"), &server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.ask("go", "Done.");
    server.reply(Reply::rejected(refusal));
    server.reply(look(2, "I look again."));
    server.reply(Reply::said("Found."));
    nvim.ask("and now?", "Found.");
    nvim.wait_screen(TOLD);
    restart(&nvim);
    server.reply(Reply::said("Still here."));
    nvim.ask("after a restart?", "Still here.");
    let requests = server.requests();
    let sent: Vec<bool> = requests.iter().map(|it| proofs(it) > 0).collect();
    assert_eq!(sent, [false, true, true, false, true, true]);
    let said = |at: usize| requests[at].outline().replace("thinking Hm. | ", "");
    assert_eq!(said(2), said(3), "nothing but the thoughts is left out");
    assert_grows(requests[..3].to_vec());
    assert_grows(requests[3..].to_vec());
    assert_eq!(nvim.transcript().matches(TOLD).count(), 1);
}

#[test]
fn thoughts_refused_by_anthropic_are_left_out() {
    let refusal = "messages.1.content.0: The block is bound to a different conversation";
    goes_on_without(&anthropic::Anthropic, refusal);
}

#[test]
fn thoughts_refused_by_openai_responses_are_left_out() {
    let refusal = "The encrypted content c2VhbGVk could not be verified. Reason: Encrypted content could not be \
                   decrypted or parsed.";
    goes_on_without(&openai_responses::OpenAiResponses, refusal);
}

#[test]
fn thoughts_refused_by_gemini_are_left_out() {
    goes_on_without(&gemini::Gemini, "Thought signature is not valid.");
}

#[test]
fn a_second_refusal_of_thoughts_ends_the_turn() {
    let server = Server::start();
    server.reply(look(1, "I look."));
    server.reply(Reply::said("Done."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server).openai(&server));
    nvim.keys(":Caliban<CR>");
    nvim.ask("go", "Done.");
    let refusal = "messages.1.content.0: Invalid `signature` in `thinking` block";
    server.reply(Reply::rejected(refusal));
    server.reply(Reply::rejected(refusal));
    nvim.ask("and now?", "The provider rejected the request (400)");
    assert_eq!(nvim.transcript().matches(TOLD).count(), 1);
    assert_eq!(server.requests().len(), 4);
}

/// Providers refuse a message that ends with a thought.
#[test]
fn after_a_reply_of_thoughts_alone_the_next_request_is_valid() {
    let last = [
        Reply::new().thinking("Hm."),
        Reply::new().thinking("Hm.").text(" \n"),
        Reply::new().text("Well.").thinking("Hm."),
        Reply::new().thinking("Hm.").stop("max_tokens"),
        Reply::new().thinking("Hm.").stop("refusal"),
    ];
    for dialect in DIALECTS {
        let server = Server::start();
        let nvim = Nvim::start(&dialect.choose(Setup::new(), &server));
        nvim.keys(":Caliban<CR>");
        for (n, reply) in last.iter().enumerate() {
            server.reply(reply.clone());
            nvim.lua("require('caliban').ask('think')", &[]);
            let thoughts = |nvim: &Nvim| nvim.transcript().matches("▸ Thought for").count();
            nvim.wait(|nvim| thoughts(nvim) == n + 1, "the thought to be over");
            nvim.wait_phase("idle");
            server.reply(Reply::said(&format!("Answer {n}.")));
            nvim.ask("and now?", &format!("Answer {n}."));
        }
    }
}

#[test]
fn a_paused_reply_with_only_thoughts_is_requested_again() {
    let server = Server::start();
    server.reply(Reply::new().thinking("Hm.").stop("pause_turn"));
    server.reply(Reply::new().text("So far.").thinking("Hm.").stop("pause_turn"));
    server.reply(Reply::said("Done."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>");
    nvim.ask("go", "Done.");
    assert_eq!(server.requests().len(), 3);
}
