//! What a test asks of the chat in use, and what a request says, whichever the dialect.

use super::http::Request;
use super::nvim::Nvim;
use super::rules::Dialect;
use super::server::Server;
use super::setup::Setup;
use serde_json::Value;

/// Both dialects, for tests of what must be the same.
pub const DIALECTS: [Dialect; 2] = [Dialect::Anthropic, Dialect::OpenAi];

impl Setup {
    /// A model of this dialect at the server.
    #[must_use]
    pub fn speaking(self, dialect: Dialect, server: &Server) -> Setup {
        match dialect {
            Dialect::Anthropic => self.anthropic(server),
            Dialect::OpenAi => self.openai(server),
        }
    }
}

impl Nvim {
    /// The transcript of the chat in use, from its buffer.
    pub fn transcript(&self) -> String {
        self.chat_buffer("transcript")
    }

    /// The transcript from the first message on.
    pub fn conversation(&self) -> String {
        let transcript = self.transcript();
        let (_, said) = transcript.split_once("`:help caliban`\n\n").unwrap_or(("", &transcript));
        said.to_owned()
    }

    /// The text of the composer.
    pub fn composer(&self) -> String {
        self.chat_buffer("composer")
    }

    fn chat_buffer(&self, part: &str) -> String {
        self.lua_str(&format!(
            "local chat = require('caliban.chat').current
            if not (chat and vim.api.nvim_buf_is_valid(chat.{part})) then return '' end
            return table.concat(vim.api.nvim_buf_get_lines(chat.{part}, 0, -1, false), '\\n')"
        ))
    }

    /// Waits for a text in the transcript's buffer, on the screen or not.
    pub fn wait_transcript(&self, text: &str) {
        self.wait(|nvim| nvim.transcript().contains(text), &format!("{text:?} in the transcript"));
    }

    pub fn phase(&self) -> String {
        self.lua_str("return require('caliban').state().phase")
    }

    pub fn wait_phase(&self, phase: &str) {
        self.wait(|nvim| nvim.phase() == phase, &format!("the phase {phase:?}"));
    }

    /// Sends a text by the API and waits for the end of its turn, which the reply's last words tell.
    pub fn ask(&self, text: &str, last_words: &str) {
        self.lua("require('caliban').ask(...)", &[text.into()]);
        self.wait_transcript(last_words);
        self.wait_phase("idle");
    }

    /// Puts the cursor of the window that shows the transcript on the first line that holds this text, and
    /// that window in focus.
    pub fn go_to_transcript(&self, text: &str) {
        let code = "local chat = require('caliban.chat').current
            local win = vim.fn.win_findbuf(chat.transcript)[1]
            vim.api.nvim_set_current_win(win)
            for i, line in ipairs(vim.api.nvim_buf_get_lines(chat.transcript, 0, -1, false)) do
              if line:find(..., 1, true) then return vim.api.nvim_win_set_cursor(win, { i, 0 }) end
            end
            error('the transcript does not hold ' .. ...)";
        self.lua(code, &[text.into()]);
    }
}

impl Request {
    /// The tool results in it, in order: the call's id and the text.
    pub fn answers(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for message in self.messages() {
            if message["role"] == "tool" {
                found.push((text(&message["tool_call_id"]), text(&message["content"])));
            }
            for block in message["content"].as_array().into_iter().flatten() {
                if block["type"] == "tool_result" {
                    found.push((text(&block["tool_use_id"]), text(&block["content"])));
                }
            }
        }
        found
    }

    /// The text of the answer to this call.
    #[track_caller]
    pub fn answer(&self, id: &str) -> String {
        let found = self.answers().into_iter().find(|(of, _)| of == id);
        found.unwrap_or_else(|| panic!("no answer to {id} in {:#}", self.json)).1
    }

    /// The names of its tools, in order.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.json["tools"].as_array().cloned().unwrap_or_default();
        let name = |tool: &Value| match &tool["function"]["name"] {
            Value::String(name) => name.clone(),
            _ => text(&tool["name"]),
        };
        tools.iter().map(name).collect()
    }

    pub fn messages(&self) -> Vec<Value> {
        self.json["messages"].as_array().cloned().unwrap_or_default()
    }

    /// The roles of its messages, and of what: `user: hello`, a call as `assistant: read(c1)`.
    pub fn outline(&self) -> String {
        let mut lines = Vec::new();
        for message in self.messages() {
            let role = text(&message["role"]);
            let mut parts = Vec::new();
            match &message["content"] {
                Value::Array(blocks) => parts.extend(blocks.iter().map(part)),
                Value::String(said) => parts.push(said.clone()),
                _ => {}
            }
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let name = text(&call["function"]["name"]);
                parts.push(format!("{name}({})", text(&call["id"])));
            }
            if let Value::String(id) = &message["tool_call_id"] {
                parts.insert(0, format!("[{id}]"));
            }
            lines.push(format!("{role}: {}", parts.join(" | ")));
        }
        lines.join("\n")
    }
}

fn part(block: &Value) -> String {
    match block["type"].as_str() {
        Some("tool_use") => format!("{}({})", text(&block["name"]), text(&block["id"])),
        Some("tool_result") => {
            format!("[{}] {}", text(&block["tool_use_id"]), text(&block["content"]))
        }
        Some("thinking") => format!("thinking {}", text(&block["thinking"])),
        _ => text(&block["text"]),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(|it| text(&it["text"])).collect(),
        _ => String::new(),
    }
}
