//! The offline tour: a scripted model inside the program, for users without a model. It implements the same trait as
//! any model, and leads through the real program on the sample project.

use super::dialect::{Dialect, Quirks};
use super::endpoint::{Chosen, Endpoint};
use super::facts::Facts;
use super::key::Key;
use super::{Provider, Sampled};
use crate::event::Delta;
use crate::message::{
    Block, CallId, Input, Message, Reply, Request, Role, Stop, ToolAnswer, ToolCall, Usage,
};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The tour's name as `provider/model`.
pub const NAME: &str = "tour/offline";

/// The pause after each word, so that the text appears at the speed of a reader.
const PACE: Duration = Duration::from_millis(12);

pub struct Tour {
    /// The user's localleader, as it is typed on the keyboard.
    pub leader: String,
}

/// Neovim's default localleader.
impl Default for Tour {
    fn default() -> Tour {
        Tour { leader: "\\".to_owned() }
    }
}

pub fn chosen() -> Chosen {
    let endpoint = Endpoint {
        name: "tour".into(),
        base_url: String::new(),
        dialect: Dialect::Anthropic,
        key: Key::None,
        quirks: Quirks::default(),
        headers: Vec::new(),
        models: vec!["offline".into()],
        named_by_user: false,
    };
    Chosen { endpoint, model: "offline".into(), facts: Facts::of("") }
}

impl Provider for Tour {
    fn sample(&self, request: Arc<Request>) -> BoxStream<'static, Sampled> {
        let reply = next(&request.messages, &self.leader);
        let mut signs = Vec::new();
        for block in &reply.blocks {
            match block {
                Block::Text { text } => signs.extend(
                    text.split_inclusive(' ').map(|it| Sampled::Delta(Delta::Text(it.to_owned()))),
                ),
                Block::Call(call) => signs.push(Sampled::Delta(Delta::CallBegun {
                    id: call.id.clone(),
                    tool: call.tool.clone(),
                })),
                _ => (),
            }
        }
        signs.push(Sampled::Done(reply));
        stream::iter(signs)
            .then(|it| async {
                tokio::time::sleep(PACE).await;
                it
            })
            .boxed()
    }

    fn shown(&self, _: &Request) -> Option<(String, String)> {
        None
    }
}

/// The tour's next reply, which depends on the state of the conversation.
fn next(messages: &[Message], leader: &str) -> Reply {
    let last = last_call(messages);
    match last {
        None => read(messages.len()),
        Some((call, _)) if asked_since(messages, &call.id) => goodbye(),
        Some((call, answer)) => match (call.tool.as_str(), answer.failed) {
            ("read", false)
                if answer.text.contains(OLD_FIRST) && answer.text.contains(OLD_SECOND) =>
            {
                edit(messages.len(), leader)
            }
            ("read", _) => no_sample(),
            ("edit", _) => shell(messages.len(), answer),
            ("shell", failed) => finish(failed),
            _ => goodbye(),
        },
    }
}

const OLD_FIRST: &str = "    return \"Hello \" + name";
const NEW_FIRST: &str = "    return f\"Hello, {name}.\"";
const OLD_SECOND: &str = "    print(greet(\"world\"))";
const NEW_SECOND: &str =
    "    name = sys.argv[1] if len(sys.argv) > 1 else \"world\"\n    print(greet(name))";

fn read(n: usize) -> Reply {
    call(
        "This is the **offline tour**: no model is connected, so these words are scripted, but everything else \
is the real thing.\n\nI begin by reading a file of the sample project. The line below is the call; press `<CR>` on \
that line to unfold the result.",
        "read",
        &json!({ "path": "greet.py" }),
        n,
    )
}

fn edit(n: usize, leader: &str) -> Reply {
    let edits = json!([
        { "old": OLD_FIRST, "new": NEW_FIRST },
        { "old": OLD_SECOND, "new": NEW_SECOND },
    ]);
    let text = format!(
        "Now I propose two changes to `greet.py`. They appear in your own buffer, with the old lines above, and \
         nothing is on disk until you decide.\n\nGo to `greet.py` (`gf` on the path here), go from one change to the \
         other with `]h`, accept with `{leader}a`, reject with `{leader}r`. `u` works as always, and you may edit a \
         change first. The list below takes the same keys."
    );
    call(&text, "edit", &json!({ "path": "greet.py", "edits": edits }), n)
}

fn shell(n: usize, answer: &ToolAnswer) -> Reply {
    let heard = answer.text.lines().next().unwrap_or_default();
    call(
        &format!(
            "I am told what you decided, word for word: *{heard}*\n\nThe last step is a command. Caliban asks \
before it runs this one: go to the question below (`G` in this window) and press `y` or `n`, or type \
`:Caliban approve`."
        ),
        "shell",
        &json!({ "command": "python3 test_greet.py" }),
        n,
    )
}

fn finish(failed: bool) -> Reply {
    let ran = if failed {
        "The command did not run, or the test that it runs failed. Its output is above."
    } else {
        "The test passed."
    };
    text(&format!("{ran} That is the whole loop: read, propose, review, run.\n\n{CONNECT}"))
}

fn no_sample() -> Reply {
    text(&format!(
        "The sample project is not here (or the tour changed it already; `make try FRESH=1` restores it), so the tour \
         has nothing to show.\n\n{CONNECT}"
    ))
}

fn goodbye() -> Reply {
    text(&format!("The tour is over: I have no model to answer with.\n\n{CONNECT}"))
}

const CONNECT: &str = "To connect a model:

- `/connect` asks for a provider's key
- or set it in your environment and restart Neovim: `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` or `OPENROUTER_API_KEY`
- or start a local server (Ollama, llama.cpp, LM Studio): Caliban finds it by itself

`:help caliban-models` has the rest. `/new` starts a fresh conversation.";

fn text(text: &str) -> Reply {
    reply(vec![Block::Text { text: text.to_owned() }], Stop::EndTurn)
}

fn call(text: &str, tool: &str, input: &Value, n: usize) -> Reply {
    let call = ToolCall {
        id: CallId(format!("tour_{n}")),
        tool: tool.to_owned(),
        input: Input::Json(input.clone()),
    };
    reply(vec![Block::Text { text: text.to_owned() }, Block::Call(call)], Stop::ToolUse)
}

fn reply(blocks: Vec<Block>, stop: Stop) -> Reply {
    Reply { blocks, stop, usage: Usage::default(), model: String::new(), by: String::new() }
}

/// The last call and its answer.
fn last_call(messages: &[Message]) -> Option<(&ToolCall, &ToolAnswer)> {
    let calls = messages.iter().rev().flat_map(|it| it.blocks.iter().rev());
    let call = calls.into_iter().find_map(|it| match it {
        Block::Call(call) => Some(call),
        _ => None,
    })?;
    let answer = messages.iter().flat_map(|it| &it.blocks).find_map(|it| match it {
        Block::Answer(answer) if answer.id == call.id => Some(answer),
        _ => None,
    })?;
    Some((call, answer))
}

/// Whether the user has sent a message since a call was answered.
fn asked_since(messages: &[Message], id: &CallId) -> bool {
    let answered = messages
        .iter()
        .position(|it| it.blocks.iter().any(|it| matches!(it, Block::Answer(a) if a.id == *id)));
    answered.is_some_and(|at| {
        messages[at + 1..].iter().any(|it| {
            it.role == Role::User && it.blocks.iter().any(|it| matches!(it, Block::Text { .. }))
        })
    })
}
