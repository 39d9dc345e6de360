//! Models whose server does not know their format: calls and thoughts that come as text.

use crate::kit::dialects::DIALECTS;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::run::Ran;
use serde_json::json;

const CALL: &str = "I look.\n<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>";
const TOLD: &str = "! The model wrote a call of `read` as text, so the call did not run.";
const REMINDER: &str = "Your last reply has a tool call that is written as text.";

fn setup(server: &Server) -> Setup {
    Setup::new().size(140, 50).openai(server).file("a.txt", "alpha\n")
}

#[test]
fn a_model_that_writes_a_call_as_text_is_told_once_how_to_call_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        let setup = dialect.choose(Setup::new().size(140, 50).file("a.txt", "alpha\n"), &server);
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        server.reply(Reply::said(CALL));
        server.reply(Reply::new().call("c1", "read", json!({ "path": "a.txt" })));
        server.reply(Reply::said("It says alpha."));
        nvim.ask("what does a.txt say?", "It says alpha.");
        nvim.wait_screen("The model wrote a call of read as text");
        let requests = server.requests();
        assert_eq!(requests.len(), 3);
        assert!(requests[1].last_user_text().contains(REMINDER), "{}", requests[1].outline());
        assert!(requests[2].outline().contains("alpha"), "{}", requests[2].outline());
        // the model is told again in a later turn
        server.reply(Reply::said(CALL));
        server.reply(Reply::said("That was an example."));
        nvim.ask("show me a call", "That was an example.");
        assert_eq!(nvim.transcript().matches(TOLD).count(), 2);
    }
}

#[test]
fn a_model_that_goes_on_writing_its_calls_as_text_ends_its_turn_with_the_next_step() {
    let server = Server::start();
    let nvim = Nvim::start(&setup(&server));
    nvim.keys(":Caliban<CR>");
    server.reply(Reply::said(CALL));
    server.reply(Reply::said(CALL));
    nvim.ask("what does a.txt say?", "models['openai/gpt-5'].calls = 'text'");
    assert_eq!(server.count(), 2);
    // the conversation goes on
    server.reply(Reply::said("Hello."));
    nvim.ask("hello", "Hello.");
}

/// A call of `read` in the formats of open models, as a server gives it that does not know them.
const FORMATS: [&str; 14] = [
    "<function_calls>\n<invoke name=\"read\">\n<parameter name=\"path\">a.txt</parameter>\n</invoke>\n</function_calls>",
    "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>",
    "<tool_call>\n<function=read>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
    "[TOOL_CALLS][{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}]",
    "[TOOL_CALLS]read[ARGS]{\"path\": \"a.txt\"}",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{\"path\": \"a.txt\"}\
     <|tool_call_end|><|tool_calls_section_end|>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{\"path\": \"a.txt\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>",
    "<|channel|>commentary to=functions.read <|constrain|>json<|message|>{\"path\": \"a.txt\"}<|call|>",
    "<|python_tag|>{\"name\": \"read\", \"parameters\": {\"path\": \"a.txt\"}}",
    "functools[{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}]",
    "{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}",
    "[read(path=\"a.txt\")]",
    "Action: read\nAction Input: {\"path\": \"a.txt\"}",
];

#[test]
fn a_call_in_each_format_of_open_models_is_no_answer_of_a_run() {
    for format in FORMATS {
        let server = Server::start();
        server.reply(Reply::said(&format!("I look.\n\n{format}")));
        server.reply(Reply::new().call("c1", "read", json!({ "path": "a.txt" })));
        server.reply(Reply::said("It says alpha."));
        let ran = Ran::of(&mut setup(&server).program(&["run", "what does a.txt say?"]));
        assert_eq!((ran.code, ran.out.trim()), (0, "It says alpha."), "{format}: {}", ran.err);
        let requests = server.requests();
        assert!(requests[1].last_user_text().contains(REMINDER), "{format}");
    }
}

#[test]
fn an_example_of_a_call_in_a_code_block_is_an_answer() {
    let server = Server::start();
    let nvim = Nvim::start(&setup(&server));
    nvim.keys(":Caliban<CR>");
    server.reply(Reply::said(&format!(
        "It looks like this:\n```\n{CALL}\n```\nThe server removes it."
    )));
    nvim.ask("what does a call look like?", "The server removes it.");
    assert!(!nvim.transcript().contains(TOLD), "{}", nvim.transcript());
    assert_eq!(server.count(), 1);
}

#[test]
fn a_run_whose_model_writes_its_calls_as_text_ends_with_code_5() {
    let server = Server::start();
    server.reply(Reply::said(CALL));
    server.reply(Reply::said(CALL));
    let ran = Ran::of(&mut setup(&server).program(&["run", "--json", "go"]));
    assert_eq!(ran.code, 5, "{}", ran.err);
    let lines = ran.lines();
    let notes: Vec<_> = lines.iter().filter(|it| it["type"] == "note").collect();
    assert!(notes.iter().any(|it| it["text"].as_str().unwrap().contains("as text")), "{}", ran.out);
    let end = lines.last().unwrap();
    assert_eq!((&end["exit_code"], &end["reason"]), (&json!(5), &json!("calls_as_text")));
    assert!(end["problem"].as_str().unwrap().contains("calls = 'text'"), "{end}");
}

#[test]
fn with_calls_as_text_the_tools_are_described_and_the_models_calls_run_in_every_dialect() {
    let claude = "anthropic/claude-sonnet-4-5";
    let models =
        [claude, "openai/gpt-5", "openai/gpt-5", "gemini/gemini-2.5-pro", "ollama/qwen3:8b"];
    for (dialect, model) in DIALECTS.into_iter().zip(models) {
        let server = Server::start();
        let setup = dialect.choose(Setup::new().size(140, 50).file("a.txt", "alpha\n"), &server);
        let config = format!("{{ models = {{ ['{model}'] = {{ calls = 'text' }} }} }}");
        let nvim = Nvim::start(&setup.config(&config));
        nvim.keys(":Caliban<CR>");
        server.reply(Reply::said(&format!("{CALL}\n<tool_response>\nbeta\n</tool_response>")));
        server.reply(Reply::said("It says alpha."));
        nvim.ask("what does a.txt say?", "It says alpha.");
        let transcript = nvim.transcript();
        assert!(transcript.contains("I look.") && transcript.contains("▸ read"), "{transcript}");
        for hidden in ["tool_call", "beta", TOLD] {
            assert!(!transcript.contains(hidden), "{hidden}: {transcript}");
        }
        let requests = server.requests();
        assert_eq!((requests.len(), requests[0].tools()), (2, vec![]));
        let system = requests[0].system_text();
        assert!(system.contains("# Tools") && system.contains("\"name\":\"read\""), "{system}");
        let answer = requests[1].last_user_text();
        assert!(answer.contains("<tool_response>") && answer.contains("alpha"), "{answer}");
        assert!(requests[1].outline().contains("<tool_call>"), "{}", requests[1].outline());
    }
}

#[test]
fn a_thought_between_tags_is_a_thought_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        let nvim = Nvim::start(&dialect.choose(Setup::new().file("a.txt", "alpha\n"), &server));
        nvim.keys(":Caliban<CR>");
        let call = json!({ "path": "a.txt" });
        server.reply(Reply::said("<think>\nSecret one.\n</think>\n\n").call("c1", "read", call));
        server.reply(Reply::said("Secret two.\n</think>\n\nIt says alpha."));
        nvim.ask("what does a.txt say?", "It says alpha.");
        let transcript = nvim.transcript();
        assert!(!transcript.contains("Secret") && !transcript.contains("think>"), "{transcript}");
        server.reply(Reply::said("<thinking>Secret three.</thinking>Bye."));
        nvim.ask("bye", "Bye.");
        let last = &server.requests()[2].outline();
        assert!(!last.contains("think>"), "{last}");
        assert!(last.contains("It says alpha."), "{last}");
    }
}

#[test]
fn a_thought_that_ends_without_a_beginning_is_folded_as_soon_as_it_ends() {
    let server = Server::start();
    let nvim = Nvim::start(&setup(&server));
    nvim.keys(":Caliban<CR>");
    let gate = server.reply(
        Reply::new().text("Hm, a secret.\n").gate().text("</think>\n\nYes").gate().text("."),
    );
    nvim.lua("require('caliban').ask(...)", &["go".into()]);
    nvim.wait_transcript("Hm, a secret.");
    gate.release();
    nvim.wait(|it| !it.transcript().contains("secret"), "the thought to be folded");
    gate.finish();
    nvim.wait_transcript("Yes.");
    nvim.wait_phase("idle");
    assert!(nvim.transcript().contains("▸ Thought"), "{}", nvim.transcript());
}

#[test]
fn one_whole_object_in_place_of_a_stream_is_read() {
    let server = Server::start();
    let nvim = Nvim::start(&setup(&server));
    nvim.keys(":Caliban<CR>");
    let whole = |message: serde_json::Value, finish: &str| {
        let choice = json!({ "index": 0, "message": message, "finish_reason": finish });
        let body = json!({ "object": "chat.completion", "model": "gpt-5", "choices": [choice] });
        Reply::raw(200, &[("content-type", "application/json")], body.to_string())
    };
    let function = json!({ "name": "read", "arguments": "{\"path\":\"a.txt\"}" });
    let call = json!({ "id": "c1", "type": "function", "function": function });
    server.reply(whole(
        json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
        "tool_calls",
    ));
    server.reply(whole(json!({ "role": "assistant", "content": "It says alpha." }), "stop"));
    nvim.ask("what does a.txt say?", "It says alpha.");
    assert!(server.requests()[1].answer("c1").contains("alpha"));
}

#[test]
fn an_error_in_the_middle_of_an_answer_keeps_its_words_and_is_tried_again() {
    for error in [
        "error: the slot was lost\n\n",
        "data: {\"error\":\"the slot was lost\"}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"error\",\"error\":{\"message\":\"the slot was lost\"}}]}\n\n",
    ] {
        let server = Server::start();
        let nvim = Nvim::start(&setup(&server));
        nvim.keys(":Caliban<CR>");
        let begun = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"So\"}}]}\n\n";
        let broken =
            || Reply::raw(200, &[("content-type", "text/event-stream")], format!("{begun}{error}"));
        server.reply(broken());
        server.reply(Reply::said("Yes."));
        nvim.ask("go", "Yes.");
        assert_eq!(server.count(), 2, "{error}");
    }
}

#[test]
fn a_server_without_a_system_role_gets_the_system_prompt_in_the_first_message() {
    for refusal in [
        "System role not supported",
        "Developer instruction is not enabled for models/gemma-3-27b-it",
    ] {
        let server = Server::start();
        let body = json!({ "error": { "message": refusal, "code": 400 } }).to_string();
        server.refuse(400, &body, |it| it.json["messages"][0]["role"] == "system");
        let nvim = Nvim::start(&setup(&server));
        nvim.keys(":Caliban<CR>");
        server.reply(Reply::said("Hello."));
        nvim.ask("hello", "Hello.");
        nvim.wait_screen("openai/gpt-5: from now on its text begins");
        server.reply(Reply::said("Bye."));
        nvim.ask("bye", "Bye.");
        let requests = server.requests();
        assert_eq!(requests.len(), 3, "{refusal}");
        for request in &requests[1..] {
            let first = &request.turns()[0];
            assert_eq!(first.role, "user");
            assert!(
                first.text().contains("You are Caliban") && first.text().contains("hello"),
                "{}",
                first.text()
            );
        }
    }
}

#[test]
fn a_model_that_takes_no_tools_is_named_with_the_next_step() {
    let server = Server::start();
    let nvim = Nvim::start(&setup(&server));
    nvim.keys(":Caliban<CR>");
    server.reply(Reply::rejected("gpt-5 does not support tools"));
    nvim.ask("hello", "The model `gpt-5` takes no tools: “gpt-5 does not support tools”.");
    assert!(nvim.transcript().contains("calls = 'text'"), "{}", nvim.transcript());
    assert_eq!(server.count(), 1);
}

#[test]
fn a_server_that_leaves_the_tools_out_is_noticed_by_its_count() {
    let server = Server::start();
    let nvim = Nvim::start(&setup(&server));
    nvim.keys(":Caliban<CR>");
    let told = "its server has probably left the tools out";
    server.reply(Reply::said("Hello.").usage(900, 5));
    nvim.ask("hello", "Hello.");
    nvim.wait_screen("openai/gpt-5 read 900 tokens");
    // the next steps
    let shown = nvim.transcript().split_whitespace().collect::<Vec<_>>().join(" ");
    for step in ["`--jinja`", "calls = 'text'", "choose another model with :Caliban model"] {
        assert!(shown.contains(step), "{step}: {shown}");
    }
    server.reply(Reply::said("Bye.").usage(910, 5));
    nvim.ask("bye", "Bye.");
    assert_eq!(nvim.transcript().matches(told).count(), 1);
    // the same count of a whole request
    let nvim = Nvim::start(&setup(&server));
    nvim.keys(":Caliban<CR>");
    server.reply(Reply::said("Hello.").usage(5_000, 5));
    nvim.ask("hello", "Hello.");
    assert!(!nvim.transcript().contains(told), "{}", nvim.transcript());
}

#[test]
fn a_limit_of_a_day_is_not_tried_again() {
    let server = Server::start();
    let nvim = Nvim::start(&setup(&server));
    nvim.keys(":Caliban<CR>");
    let words = "Rate limit exceeded: free-models-per-day. Add 10 credits";
    let body = json!({ "error": { "message": words, "code": 429 } }).to_string();
    server.reply(Reply::raw(429, &[("content-type", "application/json")], body));
    nvim.ask("hello", words);
    assert!(nvim.transcript().contains("wait until the limit is renewed"), "{}", nvim.transcript());
    assert_eq!(server.count(), 1);
}
