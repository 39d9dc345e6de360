//! Fifty turns of every kind, in each dialect: each request begins with the request before it.

use crate::kit::chat::assert_grows;
use crate::kit::dialects::{DIALECTS, Dialect};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::edit;
use serde_json::json;

const TURNS: usize = 50;

/// What happens in a turn or before it: one of these acts at a time, in this order. An ordinary prompt follows each
/// act.
const KINDS: [fn(&Talk, usize); 11] = [
    Talk::calls,
    Talk::is_stopped,
    Talk::is_refused,
    Talk::is_tried_again,
    Talk::is_steered,
    Talk::is_queued,
    Talk::restarts,
    Talk::leaves_a_review,
    Talk::is_stopped_in_a_review,
    Talk::tells_the_user,
    Talk::writes_at_once,
];

struct Talk {
    server: Server,
    nvim: Nvim,
}

/// A reply with a thought and a call whose id is unique.
fn reading(turn: usize) -> Reply {
    Reply::new().thinking("Hm.").call(&format!("c{turn}"), "read", json!({"path": "a.txt"}))
}

impl Talk {
    fn ask(&self, text: &str) {
        self.nvim.lua("require('caliban').ask(...)", &[text.into()]);
    }

    /// Waits until the transcript contains `text` and the turn is over.
    fn wait_idle(&self, text: &str) {
        self.nvim.wait_transcript(text);
        self.nvim.wait_phase("idle");
    }

    /// Waits until the transcript contains `text` `times` times and the turn is over.
    fn wait_again(&self, text: &str, times: usize) {
        let said = |nvim: &Nvim| nvim.transcript().matches(text).count() == times;
        self.nvim.wait(said, &format!("{text:?}, {times} times"));
        self.nvim.wait_phase("idle");
    }

    fn calls(&self, turn: usize) {
        self.server.reply(reading(turn));
    }

    fn is_stopped(&self, turn: usize) {
        let half = format!("Half {turn}");
        self.server.reply(Reply::new().text(&half).text(&" and on".repeat(9)).gate());
        self.ask("stopped");
        self.nvim.wait_transcript(&format!("{half} and on"));
        self.nvim.command("Caliban stop");
        self.nvim.wait_phase("idle");
    }

    fn is_refused(&self, turn: usize) {
        self.server.reply(Reply::error(400));
        self.ask("refused");
        self.wait_again("rejected the request", turn / KINDS.len() + 1);
    }

    fn is_tried_again(&self, _: usize) {
        self.server.reply(Reply::error(529).header("retry-after", "0"));
    }

    fn is_steered(&self, turn: usize) {
        self.sent_meanwhile(turn, "steer");
    }

    fn is_queued(&self, turn: usize) {
        self.sent_meanwhile(turn, "ask");
    }

    /// The user sends a message while the model answers. `by` is the function of the API that sends the message.
    fn sent_meanwhile(&self, turn: usize, by: &str) {
        let gate = self.server.reply(reading(turn).gate());
        let before = self.server.requests().len();
        self.server.reply(Reply::said(&format!("Taken {turn}.")));
        if by == "ask" {
            self.server.reply(Reply::said(&format!("Both taken {turn}.")));
        }
        self.ask("begin");
        self.server.wait_requests(before + 1);
        self.nvim.lua(&format!("require('caliban').{by}(...)"), &["this too".into()]);
        self.nvim.wait_queue(1);
        gate.finish();
        let said = if by == "ask" { "Both taken" } else { "Taken" };
        self.wait_idle(&format!("{said} {turn}."));
    }

    fn restarts(&self, _: usize) {
        let programs = || self.nvim.setup.debug_log().matches(" hello ").count();
        let before = programs();
        self.nvim.command("Caliban restart");
        self.nvim.wait(|_| programs() > before, "a new program");
        self.nvim.wait_phase("idle");
    }

    /// The model proposes an edit, and the user does not decide.
    fn proposes(&self, turn: usize) {
        let path = format!("f{turn}.txt");
        let call = Reply::new().thinking("So.").text("I change it.");
        self.server.reply(call.call(
            &format!("c{turn}"),
            "edit",
            edit(&path, &[("alpha", "beta")]),
        ));
        self.ask("edit");
        self.nvim.wait_hunks(1);
        self.nvim.wait_phase("reviewing");
    }

    fn leaves_a_review(&self, turn: usize) {
        self.proposes(turn);
        let said = format!("First that {turn}.");
        self.server.reply(Reply::said(&said));
        self.ask("first this");
        self.wait_idle(&said);
        self.nvim.command("Caliban accept all");
        self.nvim.wait_hunks(0);
    }

    fn is_stopped_in_a_review(&self, turn: usize) {
        self.proposes(turn);
        self.nvim.command("Caliban stop");
        self.nvim.wait_phase("idle");
        self.nvim.command("Caliban reject all");
        self.nvim.wait_hunks(0);
    }

    fn mode(&self, mode: &str) {
        self.nvim.command(&format!("Caliban mode {mode}"));
        let now = |nvim: &Nvim| nvim.lua_str("return require('caliban').state().mode") == mode;
        self.nvim.wait(now, "the mode");
    }

    fn writes_at_once(&self, turn: usize) {
        self.mode("auto-edit");
        let path = format!("f{turn}.txt");
        let call = edit(&path, &[("alpha", "beta")]);
        self.server.reply(Reply::new().thinking("So.").call(&format!("c{turn}"), "edit", call));
        let said = format!("Written {turn}.");
        self.server.reply(Reply::said(&said));
        self.ask("write");
        self.wait_idle(&said);
        self.nvim.command("Caliban accept all");
        self.nvim.wait_hunks(0);
        self.mode("ask");
    }

    fn tells_the_user(&self, turn: usize) {
        self.ask("/help");
        self.wait_again("! Commands:", turn / KINDS.len() + 1);
    }
}

fn requests_only_grow_over_fifty_turns(dialect: &dyn Dialect) {
    let server = Server::start();
    let files = (0..TURNS).map(|turn| format!("f{turn}.txt"));
    let setup = Setup::new().file("a.txt", "alpha\n");
    let setup = files.fold(setup, |setup, file| setup.file(&file, "alpha\n"));
    let nvim = Nvim::start(&dialect.choose(setup, &server));
    nvim.keys(":Caliban<CR>");
    let talk = Talk { server, nvim };
    for turn in 0..TURNS {
        KINDS[turn % KINDS.len()](&talk, turn);
        let done = format!("Done {turn}.");
        talk.server.reply(Reply::said(&done));
        talk.nvim.ask(&format!("go {turn}"), &done);
    }
    let requests = talk.server.requests();
    assert!(requests.len() > 2 * TURNS - 10, "{}", requests.len());
    // each verdict was sent to the model, although the call of its edit had been answered before
    let told = requests.last().unwrap().outline();
    assert_eq!(told.matches("The user accepted the change").count(), 2 * (TURNS / KINDS.len()));
    assert_eq!(told.matches("Auto-edit mode is on").count(), TURNS / KINDS.len());
    assert_grows(requests);
}

#[test]
fn anthropic_requests_grow_only_at_the_end_over_fifty_turns() {
    requests_only_grow_over_fifty_turns(DIALECTS[0]);
}

#[test]
fn openai_chat_requests_grow_only_at_the_end_over_fifty_turns() {
    requests_only_grow_over_fifty_turns(DIALECTS[1]);
}

#[test]
fn openai_responses_requests_grow_only_at_the_end_over_fifty_turns() {
    requests_only_grow_over_fifty_turns(DIALECTS[2]);
}

#[test]
fn gemini_requests_grow_only_at_the_end_over_fifty_turns() {
    requests_only_grow_over_fifty_turns(DIALECTS[3]);
}

#[test]
fn ollama_requests_grow_only_at_the_end_over_fifty_turns() {
    requests_only_grow_over_fifty_turns(DIALECTS[4]);
}
