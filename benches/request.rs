//! The cost of making a request of a long conversation, before the request is sent.

use super::stream::ranked;
use caliban::context::ledger::Ledger;
use caliban::context::size::Limits;
use caliban::context::{parts, request, size};
use caliban::message::{
    Block, CallId, Excerpt, Input, Message, Request, Role, ToolAnswer, ToolCall,
};
use caliban::provider::dialect::{Dialect, Quirks};
use caliban::session::Session;
use serde_json::json;
use std::hint::black_box;
use std::time::Instant;

/// The limit for making one request, in milliseconds.
const LIMIT: f64 = 30.0;
const TIMES: usize = 20;
const MODEL: &str = "anthropic/claude-sonnet-4-5";
/// The size of the conversation: one million tokens of four bytes each.
const BYTES: u64 = 4_000_000;

const DIALECTS: [(&str, Dialect); 5] = [
    ("Anthropic's Messages", Dialect::Anthropic),
    ("Chat Completions", Dialect::OpenAiChat),
    ("Responses", Dialect::OpenAiResponses),
    ("Gemini's", Dialect::Gemini),
    ("Ollama's", Dialect::Ollama),
];

/// A text like code: lines with quotes, which JSON has to escape.
fn text(bytes: usize) -> String {
    "    let name = map.get(\"name\").unwrap_or(\"none\");\n".repeat(bytes.div_ceil(50))
}

/// A turn: a message with a file, a reply with a thought and two calls, their results, and a last reply.
fn turn(n: u32) -> [Message; 4] {
    let by = |it: Message| Message { by: MODEL.to_owned(), ..it };
    let path = format!("src/file{n}.rs");
    let call = |id: String, tool: &str, input| {
        Block::Call(ToolCall { id: CallId(id), tool: tool.to_owned(), input: Input::Json(input) })
    };
    let read = call(format!("r{n}"), "read", json!({"path": path, "offset": 1, "limit": 200}));
    let edits = json!([{"old": text(300), "new": text(400)}]);
    let edit = call(format!("e{n}"), "edit", json!({"path": path, "edits": edits}));
    let answer =
        |id: String, bytes| Block::Answer(ToolAnswer::done(&CallId(id), text(bytes), "200 lines"));
    let excerpt = Excerpt { path: path.clone(), text: text(800), ..Excerpt::default() };
    let said = format!("Rename the helper in @{path}, please.");
    let thought = Block::Thinking { text: text(400), signature: Some("s".repeat(300)) };
    [
        Message {
            turn: Some(n),
            ..Message::new(Role::User, vec![Block::Excerpt(excerpt), Block::Text { text: said }])
        },
        by(Message::new(
            Role::Assistant,
            vec![thought, Block::Text { text: text(200) }, read, edit],
        )),
        Message::new(Role::User, vec![answer(format!("r{n}"), 3000), answer(format!("e{n}"), 100)]),
        by(Message::new(Role::Assistant, vec![Block::Text { text: text(500) }])),
    ]
}

fn session() -> Session {
    let system = vec![Block::Text { text: text(6000) }];
    let mut session = Session { model: MODEL.to_owned(), ..Session::default() };
    session.messages.push(Message::new(Role::System, system));
    let mut bytes = 0;
    for n in 1.. {
        let turn = turn(n);
        bytes += turn.iter().map(size::of_message).sum::<u64>();
        session.messages.extend(turn);
        if bytes >= BYTES {
            break;
        }
    }
    session
}

/// Runs `run` several times. Returns p50, p99 and the maximum of the times in milliseconds.
fn times<T>(run: impl Fn() -> T) -> [f64; 3] {
    let time = |_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed().as_secs_f64() * 1000.0
    };
    ranked((0..TIMES).map(time).collect())
}

pub(crate) fn table() -> String {
    let session = session();
    let build = || request::build(&session, Request { max_tokens: 32_000, ..Request::default() });
    let body = |dialect: Dialect| {
        serde_json::to_vec(&dialect.body(&build(), Quirks::default())).unwrap().len()
    };
    // the first bodies of a process take longer, because the allocator asks the system for memory
    for _ in 0..5 {
        black_box(body(Dialect::Anthropic));
    }
    let title = format!(
        "| 1 M tokens of conversation, {} messages, ms | p50 | max",
        session.messages.len()
    );
    let mut rows = title + " | figure | |\n|---|--:|--:|---|---|\n";
    let mut row = |name: &str, [p50, _, most]: [f64; 3]| {
        let is = if most <= LIMIT { "met" } else { "**short**" };
        rows += &format!("| {name} | {p50:.1} | {most:.1} | ≤ {LIMIT} | {is} |\n");
    };
    row("the request is built of the session", times(build));
    for (name, dialect) in DIALECTS {
        row(&format!("the same, and its body in the dialect {name}"), times(|| body(dialect)));
    }
    let counted = Session { context: 1, ..session.clone() };
    row("the size of the next request, counted", times(|| parts::of_next(&counted, 0)));
    row("the size of the next request, never counted", times(|| parts::of_next(&session, 0)));
    row("the ledger", times(|| Ledger::of(&session, 0, Limits::default())));
    rows
}
