//! `OpenAI`'s peculiarities: the encrypted reasoning of the Responses API, and Azure's addresses.

use crate::kit::dialects::Dialect as _;
use crate::kit::dialects::openai_responses::OpenAiResponses;
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::json;

/// The type and the role or id of each item of a request.
fn items(request: &Request) -> String {
    let input = request.json["input"].as_array().unwrap().iter();
    let shown = input.map(|item| {
        let kind = item["type"].as_str().unwrap();
        let what = ["role", "id", "call_id"].iter().find_map(|name| item[*name].as_str());
        format!("{kind} {}", what.unwrap())
    });
    shown.collect::<Vec<_>>().join("\n")
}

#[test]
fn after_a_restart_encrypted_reasoning_is_sent_back_before_the_item_that_followed_it() {
    let server = Server::start();
    let call = |id: &str| Reply::new().call(id, "list", json!({}));
    server.reply(Reply::new().thinking("Hm.").call("c1", "list", json!({})));
    server.reply(call("c2").thinking("Then.").text("Done."));
    server.reply(Reply::new().thinking("Well.").text("Finished."));
    server.reply(Reply::said("Again."));
    let setup = OpenAiResponses.choose(Setup::new(), &server);
    let nvim = Nvim::start(&setup);
    nvim.ask("go", "Finished.");
    nvim.quit_with(":qa!<CR>");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Finished.");
    nvim.ask("and now?", "Again.");
    let requests = server.requests();
    expect![[r#"
        message user
        reasoning re_1
        function_call c1
        function_call_output c1
        function_call c2
        reasoning re_5
        message assistant
        function_call_output c2
        reasoning re_8
        message assistant
        message user"#]]
    .assert_eq(&items(&requests[3]));
    assert_eq!(requests[3].json["input"][1]["encrypted_content"], "c2VhbGVk");
    for request in &requests {
        assert_eq!(request.path, "/v1/responses");
        assert_eq!(request.json["store"], false);
        assert_eq!(request.json["include"], json!(["reasoning.encrypted_content"]));
        assert_eq!(request.json["prompt_cache_key"], requests[0].json["prompt_cache_key"]);
    }
    let key = requests[0].json["prompt_cache_key"].as_str().unwrap();
    assert!(key.len() == 32 && key.chars().all(|c| c.is_ascii_hexdigit()), "{key}");
}

#[test]
fn encrypted_reasoning_is_not_sent_to_another_model() {
    let server = Server::start();
    server.reply(Reply::new().thinking("Hm.").call("c1", "list", json!({})));
    server.reply(Reply::said("One."));
    server.reply(Reply::new().thinking("Another thinks.").text("Two."));
    server.reply(Reply::said("Three."));
    let setup = OpenAiResponses.choose(Setup::new(), &server).anthropic(&server);
    let nvim = Nvim::start(&setup);
    for (model, prompt, reply) in [
        ("openai/gpt-5", "one", "One."),
        ("anthropic/claude-sonnet-4-5", "two", "Two."),
        ("openai/gpt-5", "three", "Three."),
    ] {
        nvim.keys(&format!(":Caliban model {model}<CR>"));
        nvim.wait_transcript(&format!("Model: {model}."));
        nvim.ask(prompt, reply);
    }
    let requests = server.requests();
    assert!(!requests[2].json.to_string().contains("c2VhbGVk"));
    expect![[r#"
        message user
        reasoning re_1
        function_call c1
        function_call_output c1
        message assistant
        message user
        message assistant
        message user"#]]
    .assert_eq(&items(&requests[3]));
}

#[test]
fn reasoning_without_a_following_item_is_not_sent_back() {
    let server = Server::start();
    server.reply(Reply::new().thinking("On and on").stop("max_tokens"));
    server.reply(Reply::said("Fine."));
    let nvim = Nvim::start(&OpenAiResponses.choose(Setup::new(), &server));
    nvim.keys(":Caliban<CR>igo<C-s>");
    nvim.wait_transcript("output limit");
    nvim.wait_phase("idle");
    nvim.ask("go on", "Fine.");
    assert_eq!(items(&server.requests()[1]), "message user\nmessage user");
}

#[test]
fn thinking_is_sent_as_reasoning_effort() {
    let server = Server::start();
    server.reply(Reply::said("One."));
    server.reply(Reply::said("Two."));
    let setup = Setup::new().config("{ thinking = 'max' }");
    let nvim = Nvim::start(&OpenAiResponses.choose(setup, &server));
    nvim.ask("one", "One.");
    nvim.keys(":Caliban model openai/gpt-5.2 thinking=off<CR>");
    nvim.wait_transcript("Model: openai/gpt-5.2, thinking off.");
    nvim.ask("two", "Two.");
    let reasoning = |at: usize| server.requests()[at].json["reasoning"].clone();
    assert_eq!(reasoning(0), json!({"effort": "high", "summary": "auto"}));
    assert_eq!(reasoning(1), json!({"effort": "none", "summary": "auto"}));
}

#[test]
fn an_azure_deployment_is_requested_at_its_own_address() {
    let server = Server::start();
    server.reply(Reply::new().text("I look.").call("c1", "list", json!({})));
    server.reply(Reply::said("Done."));
    let setup = Setup::new()
        .config("{ model = 'azure/my-gpt' }")
        .env("AZURE_OPENAI_ENDPOINT", &server.url())
        .env("AZURE_OPENAI_API_KEY", "key-of-the-test")
        .env("AZURE_OPENAI_API_VERSION", "2024-10-21");
    let nvim = Nvim::start(&setup);
    nvim.ask("go", "Done.");
    let request = &server.requests()[1];
    assert_eq!(request.path, "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21");
    assert_eq!(request.header("api-key"), Some("key-of-the-test"));
    // the reply names the model behind the deployment, and the chat shows no notice about another model
    assert!(!nvim.transcript().contains("answered with"), "{}", nvim.transcript());
}

/// The phase says whether a message is commentary or the final answer.
#[test]
fn a_messages_phase_is_sent_back_with_the_message() {
    let server = Server::start();
    let message = json!({"id": "msg_1", "type": "message", "status": "completed", "role": "assistant",
        "phase": "commentary", "content": [{"type": "output_text", "annotations": [], "text": "I look."}]});
    server.reply(Reply::new().block(message).call("c1", "list", json!({})));
    server.reply(Reply::said("Done."));
    let nvim = Nvim::start(&OpenAiResponses.choose(Setup::new(), &server));
    nvim.ask("go", "Done.");
    let items = server.requests()[1].json["input"].clone();
    let said = items.as_array().unwrap().iter().find(|it| it["role"] == "assistant").unwrap();
    assert_eq!(said["phase"], "commentary");
    assert_eq!(said["content"][0]["text"], "I look.");
}
