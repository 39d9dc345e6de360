//! Tests special features of single dialects, and conversations that switch between dialects.

use crate::kit::dialects::DIALECTS;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::{Value, json};

/// A reply of Ollama whose last line says that it read `tokens` tokens.
fn read_only(tokens: u32) -> Reply {
    let message = json!({"role": "assistant", "content": "Hm."});
    let line = json!({"model": "qwen3:8b", "message": message, "done": true,
        "done_reason": "stop", "prompt_eval_count": tokens, "eval_count": 2});
    Reply::raw(200, &[("content-type", "application/x-ndjson")], format!("{line}\n"))
}

#[test]
fn if_ollama_silently_drops_a_part_of_the_prompt_the_user_is_told_once() {
    let server = Server::start();
    let nvim = Nvim::start(
        &Setup::new()
            .ollama(&server)
            .config("{ models = { ['ollama/qwen3:8b'] = { num_ctx = 8192 } } }"),
    );
    server.reply(Reply::said("All of it."));
    nvim.ask("one", "All of it.");
    assert!(!nvim.transcript().contains("num_ctx"), "{}", nvim.transcript());
    for (n, prompt) in (1..).zip(["two", "three", "four"]) {
        server.reply(read_only(200));
        nvim.lua("require('caliban').ask(...)", &[prompt.into()]);
        nvim.wait(|nvim| nvim.transcript().matches("Hm.").count() == n, "the reply");
        nvim.wait_phase("idle");
    }
    let transcript = nvim.transcript();
    let told: Vec<&str> = transcript.lines().filter(|it| it.contains("num_ctx")).collect();
    assert_eq!(
        told,
        [
            "! The context window of ollama/qwen3:8b is too small (8192 tokens): the model read only the end of the \
             conversation, without the instructions and tools. Raise models['ollama/qwen3:8b'].num_ctx, or start a new conversation with /new."
        ]
    );
    assert!(server.requests().iter().all(|it| it.json["options"]["num_ctx"] == 8192));
    // Only the user sees the notice.
    assert!(!server.requests()[3].outline().contains("num_ctx"));
}

/// The values of all fields of this name in a request, at any depth.
fn all(value: &Value, name: &str) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let own = fields.get(name).and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(|it| all(it, name))).collect()
        }
        Value::Array(items) => items.iter().flat_map(|it| all(it, name)).collect(),
        _ => Vec::new(),
    }
}

/// The path of each dialect, and the name of its signature field.
const SIGNATURES: [(&str, &str); 3] = [
    ("/v1/messages", "signature"),
    ("/v1/responses", "encrypted_content"),
    ("/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse", "thoughtSignature"),
];

/// The placeholder that Gemini accepts as the signature of another model's call.
const FOREIGN: &str = "skip_thought_signature_validator";

/// The fake server refuses invalid requests. As Claude and Gemini it also refuses a signature that it has not given for
/// the same content.
#[test]
fn after_changing_models_each_provider_gets_only_its_own_signatures() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server).openai(&server).gemini(&server);
    let responses = "{ providers = { openai = { dialect = 'openai-responses' } } }";
    let nvim = Nvim::start(&setup.config(responses));
    let models = ["anthropic/claude-sonnet-4-5", "openai/gpt-5", "gemini/gemini-3-pro-preview"];
    let mut last = vec![(String::new(), Vec::new()); 3];
    for round in 0..6 {
        let (model, (path, field)) = (models[round % 3], SIGNATURES[round % 3]);
        nvim.keys(&format!(":Caliban<CR>:Caliban model {model}<CR>"));
        nvim.wait_transcript(&format!("! Model: {model}"));
        let calls = Reply::new().thinking("Hm.").text("I look.").call("c", "list", json!({}));
        server.reply(calls.call("d", "glob", json!({"pattern": "*"})));
        server.reply(Reply::said(&format!("Done {round}.")));
        nvim.ask(&format!("prompt {round}"), &format!("Done {round}."));
        let requests = server.requests().split_off(2 * round);
        assert_eq!(requests.len(), 2);
        for request in &requests {
            assert_eq!(request.path, path);
            for (_, other) in SIGNATURES.iter().filter(|it| it.0 != path) {
                assert_eq!(all(&request.json, other), [""; 0], "{other} in round {round}");
            }
        }
        // The first request of this turn begins with the messages and the signatures of this model's last request.
        let (said, signed) = &last[round % 3];
        let own = |at: usize| -> Vec<String> {
            all(&requests[at].json, field).into_iter().filter(|it| it != FOREIGN).collect()
        };
        assert!(requests[0].outline().starts_with(said), "round {round}");
        assert!(own(0).starts_with(signed) && signed.is_empty() == (round < 3), "round {round}");
        assert!(own(1).len() > own(0).len() && own(1).starts_with(&own(0)), "round {round}");
        last[round % 3] = (requests[1].outline(), own(1));
    }
    let foreign = |at: usize| {
        all(&server.requests()[at].json, SIGNATURES[2].1).iter().filter(|it| *it == FOREIGN).count()
    };
    assert_eq!([foreign(4), foreign(10)], [2, 4]);
}

#[test]
fn the_next_request_of_a_resumed_session_begins_with_its_last_request_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        let setup = dialect.choose(Setup::new().file("a.txt", "alpha\n"), &server);
        let calls = Reply::new().thinking("Hm.").text("I look.").call(
            "c1",
            "read",
            json!({"path": "a.txt"}),
        );
        server.reply(calls.call("c2", "list", json!({})));
        server.reply(Reply::said("Seen."));
        let nvim = Nvim::start(&setup);
        nvim.ask("one", "Seen.");
        nvim.quit_with(":qa!<CR>");
        server.reply(Reply::said("Again."));
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        nvim.wait_transcript("Seen.");
        nvim.ask("two", "Again.");
        let [.., before, after] = &server.requests()[..] else { panic!("no requests") };
        let (before, after) = (items(&before.json), items(&after.json));
        assert_eq!(after[..before.len()], before);
        assert_eq!(before.len() + 2, after.len());
    }
}

/// The messages of a request, without the marks of the cache.
fn items(body: &Value) -> Vec<String> {
    let lists = ["messages", "input", "contents"].map(|name| body[name].as_array());
    let items = lists.into_iter().flatten().flatten();
    items.map(|it| it.to_string().replace(r#","cache_control":{"type":"ephemeral"}"#, "")).collect()
}
