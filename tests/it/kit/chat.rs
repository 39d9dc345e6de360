//! Reads and operates the current chat, and reads requests of any dialect.

use super::dialects::{self, Dialect, Said, Turn};
use super::http::Request;
use super::nvim::Nvim;
use super::server::Server;
use super::setup::Setup;
use serde_json::Value;

pub use super::dialects::DIALECTS;

impl Setup {
    /// Configures a model of this dialect, which this server answers for, as the model to use.
    #[must_use]
    pub fn speaking(self, dialect: &dyn Dialect, server: &Server) -> Setup {
        dialect.choose(self, server)
    }
}

/// Checks that all these results, one for each dialect, are equal, and returns the first.
#[track_caller]
pub fn common(given: &[String]) -> &str {
    for it in given {
        assert_eq!(*it, given[0]);
    }
    &given[0]
}

impl Nvim {
    /// The transcript of the current chat, from its buffer.
    pub fn transcript(&self) -> String {
        self.chat_buffer("transcript")
    }

    /// The transcript from the first message on, without the heading above it.
    pub fn conversation(&self) -> String {
        let transcript = self.transcript();
        let ends = [":help caliban\n\n", "<Esc>, <CR>\n\n"];
        let said = ends.iter().find_map(|end| transcript.split_once(end)).map(|it| it.1);
        said.unwrap_or(&transcript).to_owned()
    }

    /// The text of the current chat's composer.
    pub fn composer(&self) -> String {
        self.chat_buffer("composer")
    }

    fn chat_buffer(&self, part: &str) -> String {
        self.lua_str(&format!(
            "local chat = require('caliban.chat.chats').current
            if not (chat and vim.api.nvim_buf_is_valid(chat.{part})) then return '' end
            return table.concat(vim.api.nvim_buf_get_lines(chat.{part}, 0, -1, false), '\\n')"
        ))
    }

    /// Waits until the transcript's buffer contains a text, on the screen or not.
    pub fn wait_transcript(&self, text: &str) {
        self.wait(|nvim| nvim.transcript().contains(text), &format!("{text:?} in the transcript"));
    }

    /// Waits until an unanswered question is on the screen and accepts keys.
    pub fn wait_question(&self) {
        let open = "return vim.iter(require('caliban.chat.chats').all):any(function(chat)
            return chat.question and chat.question.armed and not chat.question.answered
          end)";
        let takes_keys = |nvim: &Nvim| {
            nvim.grid.borrow().find("y once").is_some() && nvim.lua_str(open) == "true"
        };
        self.wait(takes_keys, "a question that takes keys");
    }

    /// Waits until a question of the model with this text is on the screen and accepts keys.
    pub fn wait_asked(&self, text: &str) {
        let open = "local chat = require('caliban.chat.chats').current
            local it = chat and chat.question
            return it ~= nil and it.armed == true and it.asks ~= nil and not it.answered";
        let takes_keys =
            |nvim: &Nvim| nvim.grid.borrow().find(text).is_some() && nvim.lua_str(open) == "true";
        self.wait(takes_keys, &format!("the question {text:?}, which takes keys"));
    }

    /// The name of the current conversation; empty if there is none.
    pub fn session(&self) -> String {
        self.lua_str("return require('caliban').state().session or ''")
    }

    /// Waits until the current conversation has this name.
    pub fn wait_session(&self, name: &str) {
        self.wait(|nvim| nvim.session() == name, &format!("the conversation {name}"));
    }

    /// The phase of the current conversation, from `require('caliban').state()`.
    pub fn phase(&self) -> String {
        self.lua_str("return require('caliban').state().phase")
    }

    /// Waits until the current conversation is in this phase: `idle`, `sending`, `streaming`, `running`, `asking`,
    /// `reviewing`, `retrying` or `offline`.
    pub fn wait_phase(&self, phase: &str) {
        self.wait(|nvim| nvim.phase() == phase, &format!("the phase {phase:?}"));
    }

    /// The number of pending hunks in all files.
    pub fn pending(&self) -> usize {
        self.lua_str("return #require('caliban').pending()").parse().unwrap()
    }

    /// Waits until `count` hunks are pending.
    pub fn wait_hunks(&self, count: usize) {
        self.wait(|nvim| nvim.pending() == count, &format!("{count} pending hunks"));
    }

    /// Waits until `count` hunks are pending and the turn waits for the user's decisions.
    pub fn wait_pending(&self, count: usize) {
        self.wait_hunks(count);
        self.wait_phase("reviewing");
    }

    /// Waits until `count` messages are queued or steered into the turn.
    pub fn wait_queue(&self, count: usize) {
        let code = "return #require('caliban').state().queue";
        self.wait(|nvim| nvim.lua_json(code) == count, &format!("{count} messages in the queue"));
    }

    /// Sends a prompt by the Lua API. Waits until the transcript contains `last_words` and the turn is over.
    pub fn ask(&self, text: &str, last_words: &str) {
        self.lua("require('caliban').ask(...)", &[text.into()]);
        self.wait_transcript(last_words);
        self.wait_phase("idle");
    }

    /// How often the transcript contains `words`.
    pub fn shown(&self, words: &str) -> usize {
        self.transcript().matches(words).count()
    }

    /// Waits until the transcript contains `words` more often than `shown` times and the turn is over. Before that the
    /// phase may be that of an earlier turn.
    pub fn wait_more(&self, words: &str, shown: usize) {
        self.wait(|nvim| nvim.shown(words) > shown, &format!("another {words:?}"));
        self.wait_phase("idle");
    }

    /// Waits for a line of the transcript that contains `text`, focuses the transcript's window and moves the cursor
    /// to that line.
    pub fn go_to_transcript(&self, text: &str) {
        let code = "local chat = require('caliban.chat.chats').current
            for i, line in ipairs(vim.api.nvim_buf_get_lines(chat.transcript, 0, -1, false)) do
              local win = line:find(..., 1, true) and vim.fn.win_findbuf(chat.transcript)[1]
              if win then
                vim.api.nvim_set_current_win(win)
                vim.api.nvim_win_set_cursor(win, { i, 0 })
                return true
              end
            end
            return false";
        let goes = |nvim: &Nvim| nvim.lua(code, &[text.into()]) == true.into();
        self.wait(goes, &format!("{text:?} in the transcript, in a window"));
    }
}

impl Request {
    /// The request's messages, including the system prompt.
    #[track_caller]
    pub fn turns(&self) -> Vec<Turn> {
        let dialect = dialects::of(self).unwrap_or_else(|| panic!("no dialect has {}", self.path));
        dialect.read(&self.json)
    }

    /// The system prompt, from the place where the dialect has it.
    pub fn system_text(&self) -> String {
        let turns = self.turns();
        turns.iter().find(|turn| turn.role == "system").map(Turn::text).unwrap_or_default()
    }

    /// The text of the last user message: its strings and text blocks joined.
    pub fn last_user_text(&self) -> String {
        let turns = self.turns();
        turns
            .iter()
            .rev()
            .find(|turn| turn.role == "user")
            .map(|it| unfenced(&it.text()))
            .unwrap_or_default()
    }

    /// The tool results in the order of the request: the call's id and the text, without the tags around strangers'
    /// texts.
    pub fn answers(&self) -> Vec<(String, String)> {
        let said = self.turns().into_iter().flat_map(|turn| turn.said);
        let answers = said.filter_map(|said| match said {
            Said::Answer { id, text } => Some((id, unfenced(&text))),
            _ => None,
        });
        answers.collect()
    }

    /// The text of the answer to this call. Panics if the request has no such answer.
    #[track_caller]
    pub fn answer(&self, id: &str) -> String {
        let found = self.answers().into_iter().find(|(of, _)| of == id);
        found.unwrap_or_else(|| panic!("no answer to {id} in {:#}", self.json)).1
    }

    /// The names of the tools in the order of the request.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.json["tools"].as_array().into_iter().flatten();
        // Gemini nests its tools in a list.
        let tools = tools.flat_map(|tool| match tool["functionDeclarations"].as_array() {
            Some(declared) => declared.iter().collect(),
            None => vec![tool],
        });
        let name = |tool: &Value| {
            let name = tool["function"]["name"].as_str().or(tool["name"].as_str());
            name.unwrap_or_default().to_owned()
        };
        tools.map(name).collect()
    }

    /// One line for each message: its role and its text. A call is shown as `assistant: read(c1)`.
    pub fn outline(&self) -> String {
        let turns = self.turns();
        let shown = turns.iter().filter(|turn| turn.role != "system").map(|turn| {
            let parts: Vec<String> = turn.said.iter().map(part).collect();
            format!("{}: {}", turn.role, parts.join(" | "))
        });
        shown.collect::<Vec<_>>().join("\n")
    }
}

fn part(said: &Said) -> String {
    match said {
        Said::Text(text) => text.clone(),
        Said::Thinking(text) => format!("thinking {text}"),
        Said::Call { id, name } => format!("{name}({id})"),
        Said::Answer { id, text } => format!("[{id}] {text}"),
    }
}

/// Panics unless each request begins with all messages of the previous request. Cache marks are ignored.
#[track_caller]
pub fn assert_grows(requests: Vec<Request>) {
    let mut bodies: Vec<Value> = requests.into_iter().map(|it| it.json).collect();
    bodies.iter_mut().for_each(strip_marks);
    for pair in bodies.windows(2) {
        for (name, before) in pair[0].as_object().unwrap() {
            match (before, &pair[1][name]) {
                (Value::Array(before), Value::Array(after)) => {
                    assert_eq!(before[..], after[..before.len()], "{name}");
                }
                (before, after) => assert_eq!(before, after, "{name}"),
            }
        }
    }
}

/// Removes cache marks, which move from request to request.
fn strip_marks(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("cache_control");
            map.values_mut().for_each(strip_marks);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_marks),
        _ => {}
    }
}

/// A text without the lines of the tags around strangers' texts.
pub fn unfenced(text: &str) -> String {
    let is_fence = |it: &&str| it.starts_with("<untrusted-") || it.starts_with("</untrusted-");
    text.split('\n').filter(|it| !is_fence(it)).collect::<Vec<_>>().join("\n")
}
