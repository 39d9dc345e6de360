//! The offline tour: a scripted model inside the program, for users without a model. It implements the same trait as
//! any model, and leads through the real program on the sample project.

use super::dialect::{Dialect, Quirks};
use super::endpoint::{Chosen, Endpoint};
use super::facts::Facts;
use super::key::Key;
use super::{Provider, Sampled};
use crate::event::Delta;
use crate::message::{
    Block, Builtin, CallId, Input, Message, Reply, Request, Role, Stop, ToolAnswer, ToolCall, Usage,
};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::{Value, json};
use std::path::Path;
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

/// Whether a project has the file that the tour changes, as it was before the tour.
pub fn is_ready(root: &Path) -> bool {
    let file = root.join("greet.py");
    let is_small = std::fs::metadata(&file).is_ok_and(|it| it.is_file() && it.len() < 10_000);
    is_small && std::fs::read_to_string(&file).is_ok_and(|text| is_unchanged(&text))
}

fn is_unchanged(text: &str) -> bool {
    text.contains(OLD_FIRST) && text.contains(OLD_SECOND)
}

/// The tour's next reply, which depends on the state of the conversation. A message of the user's does not end the tour.
fn next(messages: &[Message], leader: &str) -> Reply {
    let n = messages.len();
    let Some((call, answer)) = last_call(messages) else { return read(n) };
    let later = user_texts_since(messages, &call.id);
    let Some(tool) = call.builtin() else { return goodbye() };
    match (tool, answer.failed) {
        (Builtin::Read, false) if is_unchanged(&answer.text) => edit(n, leader),
        (Builtin::Read, true) if !later.is_empty() => read(n),
        (Builtin::Read, _) => no_sample(),
        (Builtin::Edit, _) => match verdict(&answer.text, &later) {
            None if (1..MANY).contains(&later.len()) => wait(leader),
            heard => shell(n, heard),
        },
        (Builtin::Shell, failed) if later.is_empty() => finish(failed),
        _ => goodbye(),
    }
}

/// After so many messages of the user's, the tour goes on without a verdict on its changes.
const MANY: usize = 3;

/// The sentences that tell what the user has decided on the changes, and why.
fn verdict(answer: &str, later: &[&str]) -> Option<String> {
    let mut lines = std::iter::once(answer).chain(later.iter().copied()).flat_map(str::lines);
    let begins = ["The user accepted ", "The user rejected ", "Of "];
    let decided =
        lines.find(|line| line.contains(" change") && begins.iter().any(|it| line.starts_with(it)));
    let reasons = lines.filter(|it| it.starts_with("The user's reason"));
    Some([decided?].into_iter().chain(reasons).collect::<Vec<_>>().join(" "))
}

const OLD_FIRST: &str = "    return \"Hello \" + name";
const NEW_FIRST: &str = "    return f\"Hello, {name}.\"";
const OLD_SECOND: &str = "    print(greet(\"world\"))";
const NEW_SECOND: &str =
    "    name = sys.argv[1] if len(sys.argv) > 1 else \"world\"\n    print(greet(name))";

fn read(n: usize) -> Reply {
    call(
        "This is the **offline tour**: no model is connected, so these words are scripted, but everything else \
is the real thing.\n\nI begin by reading a file of the sample project. The line below is the call.",
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
        "Now I propose two changes to `greet.py`. They are in your own buffer, and nothing is on disk until you \
         decide.\n\nThere, or on the list below (`<Tab>`): accept with `{leader}a`, reject with `{leader}r`, go on \
         with `]h`. `u` takes a decision back."
    );
    call(&text, "edit", &json!({ "path": "greet.py", "edits": edits }), n)
}

/// The reply to a message of the user's before the changes are decided.
fn wait(leader: &str) -> Reply {
    text(&format!(
        "I am a script, and cannot read your message. The changes still wait: accept with `{leader}a`, reject with \
         `{leader}r`. Then send any message, and the tour goes on."
    ))
}

fn shell(n: usize, heard: Option<String>) -> Reply {
    let heard = heard.map(|it| format!("I am told what you decided, word for word: *{it}*\n\n"));
    let heard = heard.unwrap_or_default();
    call(
        &format!(
            "{heard}The last step is a command. Caliban asks before it runs this one: go to the question below \
             (`:Caliban`, `<Tab>`), and press `y` or `n`."
        ),
        "shell",
        &json!({ "command": "python3 test_greet.py" }),
        n,
    )
}

fn finish(failed: bool) -> Reply {
    let ran = if failed {
        "The command did not run, or the test that it runs failed. Its line above says which."
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
- `ANTHROPIC_API_KEY` or another key in the environment
- a local server, such as Ollama, is found by itself

`:help caliban-models` says more.";

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

/// The texts of the user's messages since a call was answered.
fn user_texts_since<'a>(messages: &'a [Message], id: &CallId) -> Vec<&'a str> {
    let is_answer = |it: &Block| matches!(it, Block::Answer(answer) if answer.id == *id);
    let answered = messages.iter().position(|it| it.blocks.iter().any(is_answer));
    let later = messages.iter().skip(answered.map_or(messages.len(), |at| at + 1));
    let blocks = later.filter(|it| it.role == Role::User).flat_map(|it| &it.blocks);
    let text = |it: &'a Block| match it {
        Block::Text { text } => Some(text.as_str()),
        _ => None,
    };
    blocks.filter_map(text).collect()
}
