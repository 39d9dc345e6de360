//! Parameters that a server refuses: the request is sent again without them, the user is told once, and later
//! requests leave them out.

use crate::kit::chat::assert_grows;
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::{Value, json};

const TOLD: &str = "The provider does not accept ";

/// A setup that uses `model`, with `server` as its provider. `more` is appended to the configuration.
fn asking(server: &Server, model: &str, more: &str) -> Setup {
    let setup = Setup::new().config(&format!("{{ model = '{model}'{more} }}"));
    setup.anthropic(server).openai(server).gemini(server).env("OLLAMA_HOST", &server.url())
}

/// Like `asking`, with `OpenAI`'s Responses API.
fn responses(server: &Server, model: &str, more: &str) -> Setup {
    let provider = format!(
        ", providers = {{ openai = {{ dialect = 'openai-responses', base_url = '{}/v1' }} }}{more}",
        server.url()
    );
    asking(server, model, &provider)
}

fn has(request: &Request, pointer: &str) -> bool {
    request.json.pointer(pointer).is_some()
}

/// The body of a request without this parameter.
fn without(request: &Request, pointer: &str) -> Value {
    let mut body = request.json.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let object = body.pointer_mut(parent).and_then(Value::as_object_mut).unwrap();
    object.shift_remove(name);
    body
}

#[test]
fn reasoning_models_get_max_completion_tokens_on_any_server() {
    for (model, name) in [
        ("openai/gpt-5.1", "max_completion_tokens"),
        ("openai/gpt-6.1-sol", "max_completion_tokens"),
        ("openai/o3", "max_completion_tokens"),
        ("openai/o4-mini", "max_completion_tokens"),
        ("openai/gpt-4o", "max_tokens"),
        ("openai/gpt-oss-120b", "max_tokens"),
        ("openai/olmo-3", "max_tokens"),
        ("openai/qwen3", "max_tokens"),
    ] {
        let server = Server::start();
        server.reply(Reply::said("Fine."));
        let nvim = Nvim::start(&asking(&server, model, ""));
        nvim.ask("go", "Fine.");
        let requests = server.requests();
        assert_eq!(requests[0].path, "/v1/chat/completions");
        assert_eq!(requests.len(), 1, "{model}");
        let names = ["max_tokens", "max_completion_tokens"];
        let sent: Vec<_> = names.into_iter().filter(|it| requests[0].json[*it].is_u64()).collect();
        assert_eq!(sent, [name], "{model}");
    }
}

/// A parameter that a server refuses: its JSON pointer in the request, the status and body of the refusal, and the
/// notice to the user.
struct Case {
    setup: fn(&Server, &str, &str) -> Setup,
    model: &'static str,
    more: &'static str,
    pointer: &'static str,
    status: u16,
    body: &'static str,
    told: &'static str,
}

fn learns(case: &Case) {
    let server = Server::start();
    let pointer = case.pointer;
    server.refuse(case.status, case.body, move |request| has(request, pointer));
    server.reply(Reply::said("At the second try."));
    server.reply(Reply::said("Once more."));
    server.reply(Reply::said("Another chat."));
    let nvim = Nvim::start(&(case.setup)(&server, case.model, case.more));
    nvim.keys(":Caliban<CR>");
    nvim.ask("go", "At the second try.");
    let requests = server.requests();
    assert_eq!(requests.len(), 2, "{}", case.body);
    assert!(has(&requests[0], pointer) && !has(&requests[1], pointer), "{pointer}");
    assert_eq!(without(&requests[0], pointer), requests[1].json, "nothing else changes");
    let told = format!("! {TOLD}{}.", case.told);
    assert_eq!(nvim.conversation(), format!("go\n\n{told}\n\nAt the second try."));
    // no later request of this or another conversation has the parameter
    nvim.ask("and now?", "Once more.");
    nvim.keys(":Caliban new<CR>");
    nvim.wait(|nvim| !nvim.transcript().contains("Once more."), "a new chat");
    nvim.wait_phase("idle");
    nvim.ask("hello", "Another chat.");
    assert!(!nvim.transcript().contains(TOLD), "it is told once");
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    assert!(requests[1..].iter().all(|it| !has(it, pointer)));
    assert_grows(requests[1..3].to_vec());
}

#[test]
fn a_parameter_refused_by_chat_completions_is_left_out() {
    learns(&Case {
        setup: asking,
        model: "openai/qwen3",
        more: "",
        pointer: "/stream_options",
        status: 400,
        body: r#"{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': {}}]","type":"BadRequestError","param":null,"code":400}"#,
        told: "`stream_options` for openai/qwen3: from now on it is left out",
    });
    learns(&Case {
        setup: asking,
        model: "openai/qwen3",
        more: ", models = { ['openai/qwen3'] = { thinking = 'low' } }",
        pointer: "/reasoning_effort",
        status: 400,
        body: r#"{"error":{"message":"litellm.UnsupportedParamsError: openai does not support parameters: ['reasoning_effort'], for model=qwen3. To drop these, set `litellm.drop_params=True`","type":"None","param":null,"code":"400"}}"#,
        told: "`reasoning_effort` for openai/qwen3: from now on it is left out",
    });
    learns(&Case {
        setup: asking,
        model: "openai/my-gpt",
        more: ", models = { ['openai/my-gpt'] = { temperature = 0.2 } }",
        pointer: "/temperature",
        status: 422,
        body: r#"{"detail":[{"type":"extra_forbidden","loc":["body","temperature"],"msg":"Extra inputs are not permitted","input":0.2}]}"#,
        told: "`temperature` for openai/my-gpt: from now on it is left out",
    });
}

#[test]
fn a_parameter_refused_by_responses_is_left_out() {
    learns(&Case {
        setup: responses,
        model: "openai/gpt-5",
        more: "",
        pointer: "/prompt_cache_key",
        status: 400,
        body: r#"{"error":{"message":"prompt_cache_key: Extra inputs are not permitted","type":null,"param":null,"code":"400"}}"#,
        told: "`prompt_cache_key` for openai/gpt-5: from now on it is left out",
    });
    learns(&Case {
        setup: responses,
        model: "openai/gpt-5",
        more: ", thinking = 'low'",
        pointer: "/reasoning/summary",
        status: 400,
        body: r#"{"error":{"message":"Your organization must be verified to generate reasoning summaries.","type":"invalid_request_error","param":"reasoning.summary","code":"unsupported_value"}}"#,
        told: "`reasoning.summary` for openai/gpt-5: from now on it is left out",
    });
    learns(&Case {
        setup: responses,
        model: "openai/gpt-5",
        more: "",
        pointer: "/max_output_tokens",
        status: 400,
        body: r#"{"detail":"Unsupported parameter: max_output_tokens"}"#,
        told: "`max_output_tokens` for openai/gpt-5: from now on it is left out",
    });
}

#[test]
fn a_parameter_refused_by_anthropic_gemini_or_ollama_is_left_out() {
    learns(&Case {
        setup: asking,
        model: "anthropic/claude-sonnet-5",
        more: "",
        pointer: "/thinking/display",
        status: 400,
        body: r#"{"type":"error","error":{"type":"invalid_request_error","message":"thinking.adaptive.display: Extra inputs are not permitted"}}"#,
        told: "`thinking.display` for anthropic/claude-sonnet-5: from now on it is left out",
    });
    learns(&Case {
        setup: asking,
        model: "gemini/gemini-3-flash",
        more: ", thinking = 'low'",
        pointer: "/generationConfig/thinkingConfig",
        status: 400,
        body: r#"{"error":{"code":400,"message":"Thinking level is not supported for this model.","status":"INVALID_ARGUMENT"}}"#,
        told: "`thinkingConfig` for gemini/gemini-3-flash: from now on it is left out",
    });
    learns(&Case {
        setup: asking,
        model: "ollama/qwen3:8b",
        more: ", models = { ['ollama/qwen3:8b'] = { thinking = 'low' } }",
        pointer: "/think",
        status: 400,
        body: r#"{"error":"\"qwen3:8b\" does not support thinking"}"#,
        told: "`think` for ollama/qwen3:8b: from now on it is left out",
    });
}

/// The parameter for the reply limit has two names, and the model's name does not tell which name the server accepts.
#[test]
fn a_refused_parameter_for_the_reply_limit_is_renamed_and_then_left_out() {
    let server = Server::start();
    let refusal = |name: &str, other: &str| {
        format!(
            r#"{{"error":{{"message":"Unsupported parameter: '{name}' is not supported with this model. Use '{other}' instead.","type":"invalid_request_error","param":"{name}","code":"unsupported_parameter"}}}}"#
        )
    };
    let (old, new) = ("max_tokens", "max_completion_tokens");
    server.refuse(400, &refusal(old, new), |request| has(request, "/max_tokens"));
    server.reply(Reply::said("Fine."));
    server.reply(Reply::said("And without."));
    let nvim = Nvim::start(&asking(&server, "openai/my-gpt", ""));
    nvim.keys(":Caliban<CR>");
    nvim.ask("go", "Fine.");
    nvim.wait_transcript(
        "! The provider does not accept `max_tokens` for openai/my-gpt: from now on `max_completion_tokens` is sent \
         instead.",
    );
    let requests = server.requests();
    assert_eq!(requests[0].json[old], requests[1].json[new]);
    server.refuse(400, &refusal(new, old), |request| has(request, "/max_completion_tokens"));
    nvim.ask("go on", "And without.");
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    assert!(!has(&requests[3], "/max_tokens") && !has(&requests[3], "/max_completion_tokens"));
    nvim.wait_transcript(
        "! The provider does not accept `max_completion_tokens` for openai/my-gpt: from now on it is left out.",
    );
}

/// Some servers begin the stream before they check the request.
#[test]
fn a_parameter_refused_by_a_stream_error_is_left_out() {
    let server = Server::start();
    let refusal = "Unsupported parameter: 'stream_options' is not supported with this model.";
    server.reply(Reply::new().stream_error("invalid_request_error", refusal));
    server.reply(Reply::said("Fine."));
    let nvim = Nvim::start(&asking(&server, "openai/qwen3", ""));
    nvim.keys(":Caliban<CR>");
    nvim.ask("go", "Fine.");
    let sent: Vec<bool> = server.requests().iter().map(|it| has(it, "/stream_options")).collect();
    assert_eq!(sent, [true, false]);
    assert_eq!(nvim.transcript().matches(TOLD).count(), 1);
}

/// The part of the reply that has arrived stays in the chat.
#[test]
fn a_parameter_refused_in_mid_reply_ends_the_turn() {
    let server = Server::start();
    let refusal = "Unsupported parameter: 'stream_options' is not supported with this model.";
    server.reply(Reply::new().text("Half").stream_error("invalid_request_error", refusal));
    let nvim = Nvim::start(&asking(&server, "openai/qwen3", ""));
    nvim.keys(":Caliban<CR>");
    nvim.ask("go", "! The provider rejected the request (400)");
    assert!(nvim.transcript().contains("Half"));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn cache_marks_and_beta_headers_refused_by_a_proxy_are_left_out() {
    let server = Server::start();
    let marks = r#"{"type":"error","error":{"type":"invalid_request_error","message":"system.0.cache_control: Extra inputs are not permitted"}}"#;
    let header = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Unexpected value(s) `interleaved-thinking-2025-05-14` for the `anthropic-beta` header. Please consult our documentation or try again without the header."}}"#;
    let is_marked = |it: &Request| it.body.windows(15).any(|it| it == b"\"cache_control\"");
    server.refuse(400, marks, is_marked);
    server.refuse(400, header, |it| it.header("anthropic-beta").is_some());
    server.reply(Reply::new().text("I look.").call("c1", "list", json!({})));
    server.reply(Reply::said("Done."));
    let long = "A rule of this project. ".repeat(800);
    let setup = asking(&server, "anthropic/claude-sonnet-4-5", ", thinking = 'low'");
    let nvim = Nvim::start(&setup.file("AGENTS.md", &long));
    nvim.ask("go", "Done.");
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    assert!(is_marked(&requests[0]) && !requests[1..].iter().any(is_marked));
    assert!(requests[1].header("anthropic-beta").is_some());
    assert!(requests[2..].iter().all(|it| it.header("anthropic-beta").is_none()));
    assert_eq!(requests[0].outline(), requests[2].outline());
    assert_eq!(nvim.transcript().matches(TOLD).count(), 2, "{}", nvim.transcript());
    nvim.keys(":Caliban request<CR>");
    nvim.wait_screen("POST ");
    assert!(!nvim.screen().contains("anthropic-beta: "));
}

/// The turn also ends if a parameter is refused again after it was left out.
#[test]
fn a_refusal_of_a_required_parameter_ends_the_turn() {
    let rejected = "! The provider rejected the request (400)";
    for (body, requests, said) in [
        (r#"{"error":{"message":"Unsupported parameter: 'stream_options'."}}"#, 2, rejected),
        (
            r#"{"error":{"message":"Unsupported parameter: 'tools' is not supported."}}"#,
            1,
            "! The model `qwen3` takes no tools",
        ),
        (
            r#"{"error":{"message":"Unsupported parameter: 'messages' is not supported."}}"#,
            1,
            rejected,
        ),
        (
            r#"{"error":{"message":"max_tokens is too large: 8192. At most 4096 are supported.","param":"max_tokens"}}"#,
            1,
            rejected,
        ),
    ] {
        let server = Server::start();
        server.refuse(400, body, |_| true);
        let nvim = Nvim::start(&asking(&server, "openai/qwen3", ""));
        nvim.ask("go", said);
        assert_eq!(server.requests().len(), requests, "{body}");
        assert_eq!(nvim.transcript().matches(TOLD).count(), requests - 1);
    }
}

#[test]
fn a_refused_parameter_is_left_out_in_every_open_chat() {
    let server = Server::start();
    server.reply(Reply::said("First."));
    let nvim = Nvim::start(&asking(&server, "openai/qwen3", ""));
    nvim.keys(":Caliban<CR>");
    nvim.ask("one", "First.");
    nvim.keys(":Caliban new other<CR>");
    nvim.wait(|nvim| !nvim.transcript().contains("First."), "a new chat");
    nvim.wait_phase("idle");
    let body = r#"{"error":{"message":"Unrecognized request argument supplied: stream_options"}}"#;
    server.refuse(400, body, |request| has(request, "/stream_options"));
    server.reply(Reply::said("Second."));
    nvim.ask("two", "Second.");
    nvim.keys(":Caliban resume main<CR>");
    nvim.wait_transcript("First.");
    server.reply(Reply::said("Third."));
    nvim.ask("three", "Third.");
    assert_eq!(server.requests().len(), 4);
    assert!(!nvim.transcript().contains(TOLD));
}
