//! Other vendors' Chat Completions APIs: fields of replies that a vendor wants back in requests, and fields that it
//! refuses.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::{Value, json};

/// Runs a turn in which the model thinks and makes a call, stops the turn at the question about a second call, and
/// sends another prompt. Returns the assistant messages of the last request.
fn replies(model: &str, thought: fn(Reply) -> Reply) -> Vec<Value> {
    let server = Server::start();
    server.reply(thought(Reply::new()).text("I look.").call("call_1", "list", json!({})));
    server.reply(Reply::new().call("call_2", "shell", json!({"command": "true"})));
    server.reply(Reply::said("Fine."));
    let provider = model.split('/').next().unwrap();
    let config = format!(
        "{{ model = '{model}', providers = {{ {provider} = {{ base_url = '{}/v1', key = 'cmd:echo k' }} }} }}",
        server.url()
    );
    let nvim = Nvim::start(&Setup::new().config(&config));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_screen("? Run `true`?");
    nvim.keys("<C-c>");
    nvim.wait_screen("! Stopped.");
    nvim.ask("and now?", "Fine.");
    let messages = server.requests()[2].json["messages"].as_array().unwrap().clone();
    messages.into_iter().filter(|it| it["role"] == "assistant").collect()
}

#[test]
fn deepseek_gets_its_reasoning_back_and_a_blank_for_a_reply_without_reasoning() {
    let replies = replies("deepseek/deepseek-chat", |it| it.thinking("Hm."));
    assert_eq!(replies[0]["reasoning_content"], "Hm.");
    assert_eq!(replies[1]["reasoning_content"], " ");
}

#[test]
fn reasoning_is_sent_back_to_mistral_as_content_parts() {
    let replies = replies("mistral/magistral-medium-latest", |it| {
        it.block(json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]}))
    });
    let said = json!([
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
        {"type": "text", "text": "I look."},
    ]);
    assert_eq!(replies[0]["content"], said);
    assert_eq!(replies.len(), 3);
}

#[test]
fn openrouter_gets_its_reasoning_details_back_verbatim() {
    let replies = replies("openrouter/anthropic/claude-sonnet-4.5", |it| {
        let detail = |text: Value, signature: Value| json!({"reasoning_details": [{"type": "reasoning.text", "text": text, "signature": signature, "index": 0}]});
        it.block(detail("Hm".into(), Value::Null)).block(detail(".".into(), "c2ln".into()))
    });
    let details =
        json!([{"type": "reasoning.text", "text": "Hm.", "signature": "c2ln", "index": 0}]);
    assert_eq!(replies[0]["reasoning_details"], details);
    assert_eq!(replies[1].get("reasoning_details"), None);
}

/// The chat templates of local models refuse two messages of the user in a row.
#[test]
fn a_local_server_gets_consecutive_user_messages_as_one() {
    let server = Server::start();
    server.reply(Reply::new().gate().text("Too late."));
    server.reply(Reply::said("Fine."));
    let providers = format!(
        "{{ model = 'llamacpp/some', providers = {{ llamacpp = {{ base_url = '{}/v1', key = 'cmd:echo k' }} }} }}",
        server.url()
    );
    let nvim = Nvim::start(&Setup::new().config(&providers));
    nvim.keys(":Caliban<CR>ifirst<C-s><Esc>");
    server.wait_requests(1);
    nvim.wait_phase("sending");
    nvim.keys("<C-c>");
    nvim.wait_screen("! Stopped.");
    nvim.ask("second", "Fine.");
    let last = &server.requests()[1];
    assert_eq!(last.outline().matches("user:").count(), 1, "{}", last.outline());
    assert!(last.last_user_text().starts_with("first\n\n"), "{}", last.outline());
    assert!(last.last_user_text().ends_with("second"), "{}", last.outline());
}
