//! A scene for tests of reviews: a model that edits, and a Neovim in which the user reviews the edits.

use crate::kit::chat::unfenced;
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::{Value, json};
use std::ops::Deref;

/// A model server and a Neovim that uses the server. A scene has all methods of `Nvim`, such as `wait_phase`.
pub struct Scene {
    pub server: Server,
    pub nvim: Nvim,
}

impl Deref for Scene {
    type Target = Nvim;

    fn deref(&self) -> &Nvim {
        &self.nvim
    }
}

/// The arguments of an `edit` call.
pub fn edit(path: &str, edits: &[(&str, &str)]) -> Value {
    let edits: Vec<Value> =
        edits.iter().map(|(old, new)| json!({ "old": old, "new": new })).collect();
    json!({ "path": path, "edits": edits })
}

/// The arguments of a `write` call.
pub fn write(path: &str, text: &str) -> Value {
    json!({ "path": path, "text": text })
}

/// Lines `l1` to `l9`, with the newline at the end.
pub fn nine() -> String {
    (1..=9).fold(String::new(), |text, n| text + &format!("l{n}\n"))
}

/// One call that changes the second and the eighth of nine lines.
pub fn two_hunks() -> Reply {
    Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2"), ("l8", "L8\nL8b")]))
}

impl Scene {
    /// Starts a server and a Neovim that uses it in Anthropic's dialect.
    pub fn start(setup: impl FnOnce(Setup) -> Setup) -> Scene {
        let server = Server::start();
        let nvim = Nvim::start(&setup(Setup::new()).anthropic(&server));
        Scene { server, nvim }
    }

    /// Opens `a.txt`, which has nine lines, and puts two hunks of it under review. `setup` can change the setup
    /// first.
    pub fn two_hunks(setup: impl FnOnce(Setup) -> Setup) -> Scene {
        let scene = Scene::start(|base| setup(base.file("a.txt", nine())));
        scene.nvim.keys(":edit a.txt<CR>");
        scene.ask(two_hunks());
        scene.wait_pending(2);
        scene
    }

    /// Like `two_hunks`, in auto-edit mode: the hunks are written, and the turn is over.
    pub fn two_written(setup: impl FnOnce(Setup) -> Setup) -> Scene {
        let mode = "{ mode = 'auto-edit' }";
        let scene = Scene::start(|it| setup(it.file("a.txt", nine()).config(mode)));
        scene.nvim.keys(":edit a.txt<CR>");
        scene.server.reply(two_hunks());
        scene.ask_until(Reply::said("I see."), "I see.");
        scene.wait_hunks(2);
        scene
    }

    /// Queues a reply and sends the prompt `please`, without moving the focus.
    pub fn ask(&self, reply: Reply) {
        self.server.reply(reply);
        self.nvim.keys(":Caliban ask please<CR>");
    }

    /// Like `ask`, but also waits for the reply's text `last` and the end of the turn.
    pub fn ask_until(&self, reply: Reply, last: &str) {
        self.ask(reply);
        self.wait_idle(last);
    }

    /// Waits until the transcript contains `last` and the turn is over.
    pub fn wait_idle(&self, last: &str) {
        self.wait_chat(last);
        self.wait_phase("idle");
    }

    /// Waits until the transcript's buffer contains a text, on the screen or not.
    pub fn wait_chat(&self, text: &str) {
        self.nvim.wait_transcript(text);
    }

    /// Waits for the n-th request (from 1) and returns it.
    #[track_caller]
    pub fn request(&self, n: usize) -> Request {
        self.server.wait_requests(n)[n - 1].clone()
    }

    /// Sends the message `and?` and returns the text that the model gets with it.
    pub fn told_next(&self) -> String {
        let n = self.server.requests().len();
        self.server.reply(Reply::said("So it is."));
        self.nvim.lua("require('caliban').ask('and?')", &[]);
        self.wait_idle("So it is.");
        self.request(n + 1).last_user_text()
    }

    /// Waits for the n-th request and returns its answer to this call.
    #[track_caller]
    pub fn answer(&self, n: usize, id: &str) -> String {
        let request = self.request(n);
        let found = answers(&request).into_iter().find(|(of, _)| of == id);
        found.unwrap_or_else(|| panic!("no answer to {id} in {:#}", request.json)).1
    }

    /// Types keys that end the review of the call `e1`. Returns the messages and the model's answer.
    pub fn ended_by(&self, keys: &str) -> String {
        self.nvim.command("messages clear");
        self.server.reply(Reply::said("I see."));
        self.nvim.keys(keys);
        self.wait_idle("I see.");
        assert!(!self.nvim.is_blocked(), "{}", self.nvim.screen());
        format!("{}\n---\n{}", self.said(), self.answer(2, "e1"))
    }

    pub fn on_disk(&self, path: &str) -> Option<String> {
        self.nvim.setup.on_disk(path)
    }

    /// Neovim's messages about reviews, oldest first.
    pub fn said(&self) -> String {
        self.nvim.lua_str("return vim.fn.execute('messages')").trim().to_owned()
    }

    /// The non-empty rows of the screen left of the chat, with Caliban's highlight groups marked.
    pub fn left(&self, width: usize) -> String {
        let marked = self.nvim.screen_marked("Caliban");
        let rows = marked.lines().map(|row| cut(row, width).trim_end().to_owned());
        rows.filter(|row| !row.starts_with('~')).collect::<Vec<_>>().join("\n")
    }
}

/// The call ids and texts of the tool results, in the order of the request.
pub fn answers(request: &Request) -> Vec<(String, String)> {
    let messages = request.json["messages"].as_array().cloned().unwrap_or_default();
    let blocks = messages.iter().flat_map(|it| it["content"].as_array().into_iter().flatten());
    blocks
        .filter(|it| it["type"] == "tool_result")
        .map(|it| (it["tool_use_id"].as_str().unwrap().to_owned(), unfenced(&text(&it["content"]))))
        .collect()
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|it| it["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// The first `width` cells of a marked row. Marks have no width.
fn cut(row: &str, width: usize) -> String {
    let (mut out, mut cells, mut name) = (String::new(), 0, false);
    for c in row.chars() {
        match c {
            '⟦' if cells == width => break,
            '⟦' => name = true,
            '|' if name => name = false,
            '⟧' => {}
            _ if name => {}
            _ => {
                cells += 1;
                if cells > width {
                    break;
                }
            }
        }
        out.push(c);
    }
    let open = out.matches('⟦').count() - out.matches('⟧').count();
    out.trim_end_matches(' ').to_owned() + if open > 0 { "⟧" } else { "" }
}
