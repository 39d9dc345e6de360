//! Measures one stream: fills the chat, then lets text arrive while a user types in another window, and again while
//! nobody types, so that the cost of the stream is not hidden by the cost of typing.

use super::editor::Editor;
use super::server::{MESSAGE, Reply, Server};
use super::{Subject, proc, text};
use std::time::{Duration, Instant};

/// The number of bytes of a reply that fills the chat.
const FILL: usize = 250_000;
/// The number of tokens of the first reply, which makes Neovim load its parsers and queries.
pub(crate) const WARM: usize = 3_000;
/// The pause between a request and its first token.
const PAUSE: Duration = Duration::from_millis(300);

#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Scenario {
    pub(crate) tokens: usize,
    /// Tokens per second; 0 is unlimited.
    pub(crate) rate: u32,
    /// The number of bytes in the chat before the stream.
    pub(crate) before: usize,
    /// How often the stream is repeated: a short one alone gives too little to measure.
    pub(crate) times: u32,
}

/// Times in milliseconds, memory in megabytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// All measured times of each kind: the lateness of a timer, the delay of `vim.schedule`, and the time until a key
    /// is drawn.
    pub(crate) timer: Vec<f64>,
    pub(crate) queue: Vec<f64>,
    pub(crate) key: Vec<f64>,
    /// The CPU time of one stream, from just before its first token until its last token is on the screen.
    pub(crate) editor_cpu: f64,
    pub(crate) program_cpu: f64,
    /// The CPU time from submitting the message until just before the first token.
    pub(crate) request_cpu: f64,
    pub(crate) editor_memory: f64,
    pub(crate) program_memory: f64,
}

pub(crate) fn measure(subject: Subject, scenario: Scenario) -> Measured {
    let server = Server::start();
    let mut editor = Editor::start(subject, server.port);
    let mut turns = Turns { server, editor: &mut editor, count: 0 };
    turns.fill(text::tokens(WARM, 1));
    let mut filled = 0;
    while filled < scenario.before {
        let bytes = FILL.min(scenario.before - filled);
        turns.fill(text::tokens(bytes * 2 / 9, filled as u64));
        filled += bytes;
    }
    let program = turns.editor.program().unwrap();
    turns.settle(program);
    turns.editor.keys("A");
    let editor_pid = turns.editor.pid();

    let mut measured = Measured::default();
    for n in 0..scenario.times {
        turns.felt(scenario, program, u64::from(n), &mut measured);
        turns.spent(scenario, program, u64::from(n), &mut measured);
    }
    let times = f64::from(scenario.times);
    measured.editor_memory = proc::resident(editor_pid);
    measured.program_memory = proc::resident(program);
    measured.editor_cpu /= times;
    measured.program_cpu /= times;
    measured.request_cpu /= times;
    measured
}

pub(crate) fn number(value: &rmpv::Value) -> f64 {
    value.as_f64().or_else(|| value.as_i64().map(|it| it as f64)).unwrap()
}

pub(crate) fn milliseconds(times: &[Duration]) -> impl Iterator<Item = f64> {
    times.iter().map(|it| it.as_secs_f64() * 1000.0)
}

/// p50, p99 and the maximum.
pub(crate) fn ranked(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let rank = |share: f64| values[((share * values.len() as f64).ceil() as usize).max(1) - 1];
    [0.5, 0.99, 1.0].map(rank)
}

/// Types signs, 3 to 10 ms apart, until `over` returns true. Returns for each sign the time until it is on the screen.
/// No user types so fast, but a 99th percentile needs hundreds of keys.
pub(crate) fn typing(editor: &mut Editor, over: impl Fn(&mut Editor) -> bool) -> Vec<Duration> {
    let mut times = Vec::new();
    for n in 0.. {
        times.push(editor.type_one());
        editor.listen(Duration::from_millis(3 + n * 5 % 8));
        if over(editor) {
            break;
        }
    }
    times
}

/// The turns of one chat.
pub(crate) struct Turns<'a> {
    pub(crate) server: Server,
    pub(crate) editor: &'a mut Editor,
    count: u32,
}

impl<'a> Turns<'a> {
    pub(crate) fn new(server: Server, editor: &'a mut Editor) -> Turns<'a> {
        Turns { server, editor, count: 0 }
    }

    /// Sends a message that is answered with these tokens. Returns the signs at the beginning and the end of the
    /// answer.
    pub(crate) fn submit(
        &mut self,
        tokens: Vec<String>,
        rate: u32,
        pause: Duration,
    ) -> (char, char) {
        self.submit_text(MESSAGE, tokens, (rate, pause))
    }

    /// Like `submit`, with this text as the message.
    pub(crate) fn submit_text(
        &mut self,
        text: &str,
        mut tokens: Vec<String>,
        (rate, pause): (u32, Duration),
    ) -> (char, char) {
        let (first, last) = (self.sign(), self.sign());
        tokens.insert(0, format!("{first} "));
        tokens.push(format!("\n\n{last}"));
        self.server.will(Reply::Text { tokens, rate, pause });
        self.editor.lua("BenchSubmit(...)", &[text.into()]);
        (first, last)
    }

    /// Sends a message that is answered with a call, and after the call's answer with a sign. Returns the sign.
    pub(crate) fn call(&mut self, name: &'static str, input: serde_json::Value) -> char {
        let sign = self.sign();
        self.server.will(Reply::Call { name, input });
        let (tokens, pause) = (vec![format!("{sign} ")], Duration::ZERO);
        self.server.will(Reply::Text { tokens, rate: 0, pause });
        self.editor.lua("BenchSubmit(...)", &[MESSAGE.into()]);
        sign
    }

    /// Sends a message that is answered with a sign and no end, and stops once the sign is on the screen. Returns the
    /// time from the stop to the end of the connection at the server.
    pub(crate) fn stop(&mut self) -> Duration {
        let sign = self.sign();
        self.server.will(Reply::Open { word: format!("{sign} ") });
        self.editor.lua("BenchSubmit(...)", &[MESSAGE.into()]);
        self.editor.wait(sign);
        let stopped = Instant::now();
        self.editor.lua("require('caliban').stop()", &[]);
        self.server.next().last - stopped
    }

    /// Sends a message that is answered with a command of 96 kB, nearly the longest that Caliban runs. Returns the time
    /// from the call's last byte to the question on the screen, and the editor's longest pause in milliseconds.
    pub(crate) fn question(&mut self, program: u32) -> (Duration, f64) {
        let sign = self.sign();
        // no rule allows `mk`, so the command asks
        let command = format!("mk {}\n{}echo {sign}", "x".repeat(48_000), "mk\n".repeat(16_000));
        let input = serde_json::json!({ "command": command });
        self.server.will(Reply::Call { name: "shell", input });
        self.settle(program);
        self.editor.lua("Probe.start()", &[]);
        self.editor.lua("BenchSubmit(...)", &[MESSAGE.into()]);
        let shown = self.editor.wait(sign);
        let probed = self.editor.lua("return Probe.stop()", &[]);
        let delay = probed[0].as_array().into_iter().flatten().map(number).fold(0.0, f64::max);
        self.editor.lua("require('caliban').stop()", &[]);
        (shown.saturating_duration_since(self.server.next().last), delay)
    }

    /// A sign that is not on the screen.
    fn sign(&mut self) -> char {
        self.count += 1;
        self.editor.forget_seen();
        char::from_u32(0x16a0 + self.count % 74).unwrap()
    }

    /// Measures a stream while a user types, and adds the times to `sum`.
    fn felt(&mut self, scenario: Scenario, program: u32, seed: u64, sum: &mut Measured) {
        self.settle(program);
        self.editor.lua("Probe.start()", &[]);
        let end = self.submit(text::tokens(scenario.tokens, 7 + seed), scenario.rate, PAUSE).1;
        let key = typing(self.editor, |editor| editor.seen(end).is_some());
        sum.key.extend(milliseconds(&key));
        let probed = self.editor.lua("return Probe.stop()", &[]);
        let numbers = |at: usize| probed[at].as_array().into_iter().flatten().map(number);
        sum.timer.extend(numbers(0));
        sum.queue.extend(numbers(1));
        self.server.next();
    }

    /// Measures the CPU time of a stream while nobody types, and adds it to `sum`. Just before the first token, the
    /// time of the request ends and the time of the stream begins.
    fn spent(&mut self, scenario: Scenario, program: u32, seed: u64, sum: &mut Measured) {
        let editor = self.editor.pid();
        self.settle(program);
        let before = proc::cpu(program);
        let end = self.submit(text::tokens(scenario.tokens, 70 + seed), scenario.rate, PAUSE).1;
        self.editor.listen(PAUSE * 2 / 3);
        let (cpu, program_cpu) = (proc::cpu(editor), proc::cpu(program));
        self.editor.wait(end);
        sum.request_cpu += program_cpu - before;
        sum.editor_cpu += proc::cpu(editor) - cpu;
        sum.program_cpu += proc::cpu(program) - program_cpu;
        self.server.next();
    }

    /// Lets text arrive without measuring.
    pub(crate) fn fill(&mut self, tokens: Vec<String>) {
        let (_, last) = self.submit(tokens, 0, Duration::ZERO);
        self.editor.wait(last);
        self.server.next();
    }

    /// Waits until both processes are idle.
    pub(crate) fn settle(&mut self, program: u32) {
        let both = [self.editor.pid(), program];
        let busy = || both.map(proc::cpu).iter().sum::<f64>();
        loop {
            let before = busy();
            self.editor.listen(Duration::from_millis(300));
            if busy() - before < 20.0 {
                return;
            }
        }
    }
}
