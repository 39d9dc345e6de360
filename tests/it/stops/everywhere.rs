//! A turn with a thought, text, calls, an edit, a command and a retry, stopped at each of its `MOMENTS`, and at random
//! times after a moment.

use crate::kit::chat::assert_grows;
use crate::kit::dialects::{DIALECTS, Dialect, Said};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::{Gate, Server};
use crate::kit::setup::Setup;
use crate::review::scene::edit;
use serde_json::json;
use std::collections::BTreeMap;

/// The number of stops at random times, in each dialect.
const BETWEEN: usize = 10;

/// A moment of a turn: its name, how to bring it about, and how to wait for it.
type Moment = (&'static str, fn(&Turn), fn(&Turn));

/// The moments of a turn in their order.
const MOMENTS: [Moment; 15] = [
    ("the request is out", |it| it.ask(), |it| it.wait_request(1)),
    ("the head is there", |it| it.first.release(), |_| ()),
    ("a thought", |it| it.first.release(), |it| it.wait("▸ Th")),
    ("a text", |it| it.first.release(), |it| it.wait("I look.")),
    ("a read", |it| it.first.release(), |it| it.wait("▸ read")),
    ("a command", |it| it.first.release(), |it| it.wait("▸ shell")),
    ("an edit", |it| it.first.release(), |it| it.wait("▸ edit")),
    ("a review", |it| it.first.finish(), |it| it.nvim.wait_pending(1)),
    ("a question", |it| it.nvim.command("Caliban accept all"), |it| it.wait("? Run")),
    ("output", |it| it.approve(), |it| it.wait("begun")),
    ("the next request is out", |it| it.end_command(), |it| it.wait_request(2)),
    ("the countdown", |it| it.second.finish(), |it| it.nvim.wait_phase("retrying")),
    ("the retry is out", |it| it.retry(), |it| it.wait_request(3)),
    ("the head of the next reply", |it| it.third.release(), |_| ()),
    ("its text", |it| it.third.release(), |it| it.wait("Half of it")),
];
const TEXT: usize = 3;
const REVIEW: usize = 7;
const COMMAND_ENDED: usize = 10;
const LAST_TEXT: usize = 14;

/// One conversation in which turn after turn is stopped.
struct Talk {
    server: Server,
    nvim: Nvim,
}

struct Turn<'a> {
    nvim: &'a Nvim,
    server: &'a Server,
    round: usize,
    /// The number of requests before this turn.
    before: usize,
    first: Gate,
    second: Gate,
    third: Gate,
}

impl Turn<'_> {
    fn approve(&self) {
        self.nvim.wait_question();
        self.nvim.command("Caliban approve");
    }

    fn ask(&self) {
        let prompt = format!("go {} @a.txt", self.round);
        self.nvim.lua("require('caliban').ask(...)", &[prompt.into()]);
    }

    /// The transcript after the prompt of this turn.
    fn said(&self) -> String {
        let transcript = self.nvim.transcript();
        let prompt = format!("go {} @a.txt", self.round);
        transcript.rsplit_once(&prompt).map_or(String::new(), |(_, said)| said.to_owned())
    }

    fn wait(&self, text: &str) {
        self.nvim.wait(|_| self.said().contains(text), &format!("{text:?} in the turn"));
    }

    fn wait_request(&self, count: usize) {
        self.server.wait_requests(self.before + count);
    }

    fn retry(&self) {
        let code = "local chats = require('caliban.chat.chats')
            chats.send(chats.current, { kind = 'retry' })";
        self.nvim.lua(code, &[]);
    }

    /// Ends the command, which waits for a line.
    fn end_command(&self) {
        std::fs::write(self.nvim.setup.path(&format!("go{}", self.round)), "now\n").unwrap();
    }
}

fn first(round: usize) -> Reply {
    let command =
        format!("mkfifo go{round}; echo begun; read x < go{round}; echo ran > ran{round}.txt");
    Reply::new()
        .held()
        .gate()
        .thinking("Hm.")
        .gate()
        .text("I look.")
        .gate()
        .call(&format!("r{round}"), "read", json!({"path": "a.txt"}))
        .gate()
        .call(&format!("s{round}"), "shell", json!({ "command": command }))
        .gate()
        .call(&format!("e{round}"), "edit", edit(&format!("f{round}.txt"), &[("alpha", "beta")]))
        .gate()
}

impl Talk {
    fn start(dialect: &dyn Dialect) -> Talk {
        let server = Server::start();
        let files = (0..=MOMENTS.len() + BETWEEN).map(|it| format!("f{it}.txt"));
        let setup = Setup::new().file("a.txt", "one\n");
        let setup = files.fold(setup, |setup, file| setup.file(&file, "alpha\n"));
        let nvim = Nvim::start(&dialect.choose(setup, &server));
        nvim.keys(":Caliban<CR>");
        Talk { server, nvim }
    }

    fn turn(&self, round: usize) -> Turn<'_> {
        let first = self.server.reply(first(round));
        let second = self.server.reply(Reply::error(429).header("retry-after", "60").held());
        let third = self
            .server
            .reply(Reply::new().held().thinking("Now.").gate().text("Half of it").gate());
        let (nvim, server) = (&self.nvim, &self.server);
        Turn { nvim, server, round, before: server.requests().len(), first, second, third }
    }

    /// Stops the turn. If the mentioned files are still being read, the stop returns the prompt to the composer, which
    /// is then emptied. Removes the replies that are still queued.
    fn stop(&self) {
        let stops = |nvim: &Nvim| nvim.transcript().matches("! Stopped.").count();
        let before = stops(&self.nvim);
        self.nvim.command("Caliban stop");
        let is_over = |nvim: &Nvim| stops(nvim) > before || !nvim.composer().is_empty();
        self.nvim.wait(is_over, "the end of the turn");
        self.nvim.wait_phase("idle");
        self.nvim.lua("vim.api.nvim_buf_set_lines(require('caliban.chat.chats').current.composer, 0, -1, false, {})", &[]);
        self.server.forget();
    }

    /// Sends a prompt after a stop, and returns the messages of its request. `verdict` chooses how the user treats an
    /// edit under review: accepts it, rejects it, or decides after the prompt.
    fn go_on(&self, round: usize, verdict: usize) -> Vec<Said> {
        let undecided = self.nvim.pending();
        let file = format!("f{round}.txt");
        match (undecided, verdict) {
            (1, 0) => self.nvim.command("Caliban accept all"),
            (1, 1) => self.nvim.command("Caliban reject all"),
            _ => (),
        }
        self.server.reply(Reply::said(&format!("Fine {round}.")));
        self.nvim.ask(&format!("and now {round}?"), &format!("Fine {round}."));
        let requests = self.server.requests();
        let request = requests.last().unwrap();
        assert!(request.last_user_text().ends_with(&format!("and now {round}?")));
        if undecided == 1 {
            assert!(
                request.outline().contains("1 hunk is still under the user's review: the user")
            );
            let told = ["accepted", "rejected", "The user stopped the turn"][verdict];
            assert!(request.last_user_text().contains(told), "{}", request.last_user_text());
            self.nvim.command("Caliban reject all");
            self.nvim.wait_hunks(0);
            let left = if verdict == 0 { "beta\n" } else { "alpha\n" };
            assert_eq!(self.nvim.setup.on_disk(&file).unwrap(), left);
        }
        request.turns().into_iter().flat_map(|turn| turn.said).collect()
    }

    /// Adds the current texts of the two files that a turn may write to `files`.
    fn keep(&self, round: usize, files: &mut BTreeMap<String, Option<String>>) {
        for file in [format!("f{round}.txt"), format!("ran{round}.txt")] {
            let left = self.nvim.setup.on_disk(&file);
            files.insert(file, left);
        }
    }

    /// Checks that no command of a stopped turn still runs and no edit of it is applied later: `files` are unchanged.
    fn finish(&self, files: &BTreeMap<String, Option<String>>) {
        let waits = |nvim: &Nvim| nvim.setup.processes().iter().any(|it| it.1.contains("mkfifo"));
        self.nvim.wait(|nvim| !waits(nvim), "the end of the commands");
        assert_eq!(self.nvim.pending(), 0);
        for (file, left) in files {
            assert_eq!(self.nvim.setup.on_disk(file), *left, "{file}");
        }
        assert_grows(self.server.requests());
    }
}

/// Checks that every call has one answer. Returns the number of calls.
fn calls(said: &[Said]) -> usize {
    let mut open: Vec<&str> = Vec::new();
    let mut count = 0;
    for it in said {
        match it {
            Said::Call { id, .. } => {
                open.push(id);
                count += 1;
            }
            Said::Answer { id, .. } => {
                let at = open.iter().position(|it| it == id);
                open.remove(at.unwrap_or_else(|| panic!("{id} is answered twice, or no call")));
            }
            _ => (),
        }
    }
    assert_eq!(open, [""; 0], "without an answer");
    count
}

fn stopped_everywhere(dialect: &dyn Dialect) {
    let talk = Talk::start(dialect);
    let mut files = BTreeMap::new();
    let mut before = 0;
    for round in 0..MOMENTS.len() {
        let turn = talk.turn(round);
        for (_, act, seen) in &MOMENTS[..=round] {
            act(&turn);
            seen(&turn);
        }
        talk.stop();
        let said = talk.go_on(round, round % 3);
        let name = MOMENTS[round].0;
        let made = calls(&said) - before;
        assert_eq!(made, if round < REVIEW { 0 } else { 3 }, "{name}");
        let texts = |text: &str| {
            said.iter().filter(|it| matches!(it, Said::Text(it) if it == text)).count()
        };
        assert_eq!(texts("I look."), (round + 1).saturating_sub(TEXT), "{name}");
        assert_eq!(texts("Half of it"), usize::from(round == LAST_TEXT), "{name}");
        let marked = |it: &&Said| matches!(it, Said::Text(it) if it.contains("The user stopped the turn before"));
        assert_eq!(said.iter().filter(marked).count(), round + 1, "{name}");
        let ran = format!("ran{round}.txt");
        assert_eq!(talk.nvim.setup.on_disk(&ran).is_some(), round >= COMMAND_ENDED, "{name}");
        before += made;
        talk.keep(round, &mut files);
    }
    // The stop comes at a random time after a moment.
    let mut dice = Dice(dialect.content_type().len() as u64 + 7);
    for round in MOMENTS.len()..MOMENTS.len() + BETWEEN {
        let turn = talk.turn(round);
        let moment = dice.below(MOMENTS.len());
        for (_, act, seen) in &MOMENTS[..moment] {
            act(&turn);
            seen(&turn);
        }
        MOMENTS[moment].1(&turn);
        for _ in 0..dice.below(6) {
            talk.nvim.request("nvim_eval", vec!["1".into()]);
        }
        talk.stop();
        calls(&talk.go_on(round, dice.below(3)));
        talk.keep(round, &mut files);
    }
    talk.finish(&files);
}

/// Pseudo-random numbers, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

#[test]
fn anthropic_requests_are_valid_after_a_stop_at_any_moment() {
    stopped_everywhere(DIALECTS[0]);
}

#[test]
fn openai_chat_requests_are_valid_after_a_stop_at_any_moment() {
    stopped_everywhere(DIALECTS[1]);
}

#[test]
fn openai_responses_requests_are_valid_after_a_stop_at_any_moment() {
    stopped_everywhere(DIALECTS[2]);
}

#[test]
fn gemini_requests_are_valid_after_a_stop_at_any_moment() {
    stopped_everywhere(DIALECTS[3]);
}

#[test]
fn ollama_requests_are_valid_after_a_stop_at_any_moment() {
    stopped_everywhere(DIALECTS[4]);
}
