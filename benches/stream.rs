//! One measured stream: the chat is filled, then text arrives while a user types in another window.

use super::editor::Editor;
use super::server::{Reply, Server};
use super::{Subject, proc, text};
use std::time::{Duration, Instant};

/// Bytes of one reply with which a chat is filled.
const FILL: usize = 250_000;
/// Tokens of the reply before all others: parsers and queries are loaded by it.
pub(crate) const WARM: usize = 3_000;
const IDLE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Scenario {
    pub(crate) tokens: usize,
    /// Tokens a second; 0: unlimited.
    pub(crate) rate: u32,
    /// Bytes in the chat beforehand.
    pub(crate) before: usize,
}

/// Times in milliseconds, memory in megabytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// p50, p99, largest.
    pub(crate) timer: [f64; 3],
    pub(crate) queue: [f64; 3],
    pub(crate) key: [f64; 3],
    /// What typing and measuring cost included: `idle` is that alone, in milliseconds a second.
    pub(crate) editor_cpu: f64,
    pub(crate) idle: f64,
    /// How long it streamed.
    pub(crate) seconds: f64,
    pub(crate) program_cpu: f64,
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

    turns.editor.lua("Probe.start()", &[]);
    let (cpu, start) = (proc::cpu(editor_pid), Instant::now());
    typing(turns.editor, |editor| {
        editor.listen(Duration::ZERO);
        start.elapsed() > IDLE
    });
    let idle = (proc::cpu(editor_pid) - cpu) / start.elapsed().as_secs_f64();
    turns.editor.lua("Probe.stop()", &[]);

    let (cpu, program_cpu, start) = (proc::cpu(editor_pid), proc::cpu(program), Instant::now());
    turns.editor.lua("Probe.start()", &[]);
    let tokens = text::tokens(scenario.tokens, 7);
    let end = turns.submit(tokens, scenario.rate, Duration::ZERO).1;
    let key = typing(turns.editor, |editor| editor.seen(end).is_some());
    let probed = turns.editor.lua("return Probe.stop()", &[]);
    let ranks = |at: usize| [0, 1, 2].map(|rank: usize| number(&probed[at][rank]));
    Measured {
        timer: ranks(0),
        queue: ranks(1),
        key: ranked(key),
        editor_cpu: proc::cpu(editor_pid) - cpu,
        idle,
        seconds: start.elapsed().as_secs_f64(),
        program_cpu: proc::cpu(program) - program_cpu,
        editor_memory: proc::resident(editor_pid),
        program_memory: proc::resident(program),
    }
}

pub(crate) fn number(value: &rmpv::Value) -> f64 {
    value.as_f64().or_else(|| value.as_i64().map(|it| it as f64)).unwrap()
}

/// p50, p99 and the largest, in milliseconds.
pub(crate) fn ranked(mut times: Vec<Duration>) -> [f64; 3] {
    times.sort();
    let rank = |share: f64| times[((share * times.len() as f64).ceil() as usize).max(1) - 1];
    [0.5, 0.99, 1.0].map(|share| rank(share).as_secs_f64() * 1000.0)
}

/// Types one sign after the other, 10 to 40 ms apart, until it is over: how long each took to the screen.
fn typing(editor: &mut Editor, over: impl Fn(&mut Editor) -> bool) -> Vec<Duration> {
    let mut times = Vec::new();
    for n in 0.. {
        times.push(editor.type_one());
        editor.listen(Duration::from_millis(10 + n * 7 % 30));
        if over(editor) {
            break;
        }
    }
    times
}

/// Turns of one chat.
pub(crate) struct Turns<'a> {
    pub(crate) server: Server,
    pub(crate) editor: &'a mut Editor,
    count: u32,
}

impl<'a> Turns<'a> {
    pub(crate) fn new(server: Server, editor: &'a mut Editor) -> Turns<'a> {
        Turns { server, editor, count: 0 }
    }

    /// Sends a message that is answered with these tokens: the signs that open and close the answer.
    pub(crate) fn submit(
        &mut self,
        mut tokens: Vec<String>,
        rate: u32,
        pause: Duration,
    ) -> (char, char) {
        let sign = |n: u32| char::from_u32(0x16a0 + n % 74).unwrap();
        let (first, last) = (sign(self.count), sign(self.count + 1));
        self.count += 2;
        self.editor.forget_seen();
        tokens.insert(0, format!("{first} "));
        tokens.push(format!("\n\n{last}"));
        self.server.will(Reply::Text { tokens, rate, pause });
        self.editor.lua("BenchSubmit(...)", &["What would you change?".into()]);
        (first, last)
    }

    /// Lets text arrive that is not measured.
    pub(crate) fn fill(&mut self, tokens: Vec<String>) {
        let (_, last) = self.submit(tokens, 0, Duration::ZERO);
        self.editor.wait(last);
        self.server.next();
    }

    /// Waits until neither process is busy any more.
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
