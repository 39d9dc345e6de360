//! Tests how images are sent in the requests of every dialect.

use super::dialect::{Dialect, Quirks};
use super::sample_request::{answer, assistant, call, request, text, user};
use crate::message::{Block, Image, Request};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

fn image(bytes: &[u8], ending: &str) -> Image {
    Image::new(bytes.to_vec(), ending, (4, 3))
}

/// A message with two images, and two answers of which the second has an image.
fn asked() -> Request {
    let mut seen = answer("call_2", "JPEG image, 4×3 pixels", false);
    if let Block::Answer(it) = &mut seen {
        it.images.push(image(b"three", "jpg"));
    }
    Request {
        tools: Vec::new(),
        system: String::new(),
        ..request(vec![
            user(vec![
                text("a.png"),
                Block::Image(image(b"one", "png")),
                text("b.jpg"),
                Block::Image(image(b"two", "jpg")),
                text("What differs?"),
            ]),
            assistant(vec![
                call("call_1", "read", json!({ "path": "a.txt" })),
                call("call_2", "read", json!({ "path": "c.jpg" })),
            ]),
            user(vec![answer("call_1", "text", false), seen, Block::Text { text: "And?".into() }]),
        ])
    }
}

/// Compares the messages of the user and of tools in the request, each on a line.
#[track_caller]
fn check(dialect: Dialect, quirks: Quirks, expected: &Expect) {
    let body = dialect.body(&asked(), quirks);
    let messages = ["messages", "input", "contents"].into_iter().find_map(|it| body[it].as_array());
    let by_user = |it: &&Value| {
        let role = it["role"].as_str().unwrap_or("tool");
        ["user", "tool"].contains(&role) && it["type"] != "function_call"
    };
    let lines = messages.unwrap().iter().filter(by_user).map(|it| format!("{it}\n"));
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn anthropic_takes_images_in_messages_and_results() {
    check(
        Dialect::Anthropic,
        Quirks::NONE,
        &expect![[r#"
        {"role":"user","content":[{"type":"text","text":"a.png"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"b25l"}},{"type":"text","text":"b.jpg"},{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"dHdv"}},{"type":"text","text":"What differs?","cache_control":{"type":"ephemeral"}}]}
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"text"},{"type":"tool_result","tool_use_id":"call_2","content":[{"type":"text","text":"JPEG image, 4×3 pixels"},{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"dGhyZWU="}}]},{"type":"text","text":"And?","cache_control":{"type":"ephemeral"}}]}
    "#]],
    );
}

#[test]
fn chat_completions_takes_the_images_of_results_in_the_next_message() {
    check(
        Dialect::OpenAiChat,
        Quirks::NONE,
        &expect![[r#"
        {"role":"user","content":[{"type":"text","text":"a.png"},{"type":"image_url","image_url":{"url":"data:image/png;base64,b25l"}},{"type":"text","text":"b.jpg"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,dHdv"}},{"type":"text","text":"What differs?"}]}
        {"role":"tool","tool_call_id":"call_1","content":"text"}
        {"role":"tool","tool_call_id":"call_2","content":"JPEG image, 4×3 pixels"}
        {"role":"user","content":[{"type":"text","text":"The images of the results above, in their order:"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,dGhyZWU="}},{"type":"text","text":"And?"}]}
    "#]],
    );
}

#[test]
fn chat_completions_joins_messages_with_images_where_roles_must_alternate() {
    check(
        Dialect::OpenAiChat,
        Quirks { alternate: true, ..Quirks::NONE },
        &expect![[r#"
        {"role":"user","content":[{"type":"text","text":"a.png"},{"type":"image_url","image_url":{"url":"data:image/png;base64,b25l"}},{"type":"text","text":"b.jpg"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,dHdv"}},{"type":"text","text":"What differs?"}]}
        {"role":"tool","tool_call_id":"call_1","content":"text"}
        {"role":"tool","tool_call_id":"call_2","content":"JPEG image, 4×3 pixels"}
        {"role":"user","content":[{"type":"text","text":"The images of the results above, in their order:"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,dGhyZWU="}},{"type":"text","text":"And?"}]}
    "#]],
    );
}

#[test]
fn the_responses_api_takes_images_in_messages_and_results() {
    check(
        Dialect::OpenAiResponses,
        Quirks::NONE,
        &expect![[r#"
        {"type":"message","role":"user","content":[{"type":"input_text","text":"a.png"},{"type":"input_image","image_url":"data:image/png;base64,b25l","detail":"auto"},{"type":"input_text","text":"b.jpg"},{"type":"input_image","image_url":"data:image/jpeg;base64,dHdv","detail":"auto"},{"type":"input_text","text":"What differs?"}]}
        {"type":"function_call_output","call_id":"call_1","output":"text"}
        {"type":"function_call_output","call_id":"call_2","output":[{"type":"input_text","text":"JPEG image, 4×3 pixels"},{"type":"input_image","image_url":"data:image/jpeg;base64,dGhyZWU=","detail":"auto"}]}
        {"type":"message","role":"user","content":[{"type":"input_text","text":"And?"}]}
    "#]],
    );
}

#[test]
fn gemini_takes_the_images_of_results_after_the_results() {
    check(
        Dialect::Gemini,
        Quirks::NONE,
        &expect![[r#"
        {"role":"user","parts":[{"text":"a.png"},{"inlineData":{"mimeType":"image/png","data":"b25l"}},{"text":"b.jpg"},{"inlineData":{"mimeType":"image/jpeg","data":"dHdv"}},{"text":"What differs?"}]}
        {"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"text"}}},{"functionResponse":{"name":"read","response":{"output":"JPEG image, 4×3 pixels"}}},{"inlineData":{"mimeType":"image/jpeg","data":"dGhyZWU="}}]}
        {"role":"user","parts":[{"text":"And?"}]}
    "#]],
    );
}

#[test]
fn ollama_takes_the_images_of_results_in_the_next_message() {
    check(
        Dialect::Ollama,
        Quirks::NONE,
        &expect![[r#"
        {"role":"user","content":"a.png\n\nb.jpg\n\nWhat differs?","images":["b25l","dHdv"]}
        {"role":"tool","tool_name":"read","content":"text"}
        {"role":"tool","tool_name":"read","content":"JPEG image, 4×3 pixels"}
        {"role":"user","content":"The images of the results above, in their order:\n\nAnd?","images":["dGhyZWU="]}
    "#]],
    );
}
