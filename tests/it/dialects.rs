//! What only one dialect has, and a conversation that goes from one to the other and back.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

/// A line as Ollama ends its answers, having read so many tokens.
fn read_only(tokens: u32) -> Reply {
    let message = json!({"role": "assistant", "content": "Hm."});
    let line = json!({"model": "qwen3:8b", "message": message, "done": true,
        "done_reason": "stop", "prompt_eval_count": tokens, "eval_count": 2});
    Reply::raw(200, &[("content-type", "application/x-ndjson")], format!("{line}\n"))
}

#[test]
fn what_ollama_leaves_out_in_silence_is_told_once_with_what_to_do() {
    let server = Server::start();
    let nvim = Nvim::start(
        &Setup::new()
            .ollama(&server)
            .config("{ models = { ['ollama/qwen3:8b'] = { num_ctx = 8192 } } }"),
    );
    server.reply(Reply::said("All of it."));
    nvim.ask("one", "All of it.");
    assert!(!nvim.transcript().contains("num_ctx"), "{}", nvim.transcript());
    for prompt in ["two", "three", "four"] {
        server.reply(read_only(200));
        nvim.ask(prompt, &format!("{prompt}\n"));
        nvim.wait(|_| server.unfetched() == 0, "the reply");
        nvim.wait_phase("idle");
    }
    let transcript = nvim.transcript();
    let told: Vec<&str> = transcript.lines().filter(|it| it.contains("num_ctx")).collect();
    assert_eq!(
        told,
        [
            "! ollama/qwen3:8b was given only the end of the conversation, without the instructions and tools: the window it has is too small (8192 tokens were asked for). Raise models['ollama/qwen3:8b'].num_ctx, or go on with /new."
        ]
    );
    assert!(server.requests().iter().all(|it| it.json["options"]["num_ctx"] == 8192));
    // the note is for the user
    assert!(!server.requests()[3].outline().contains("num_ctx"));
}
