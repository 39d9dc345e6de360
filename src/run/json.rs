//! The output for a program: JSON lines on standard output, described at `caliban-run-json` in the help.

use super::launch::Launched;
use super::output::{Output, STOPPED};
use crate::conversation::ran::{Changed, Ran};
use crate::conversation::report::{Level, Report, Show};
use crate::event::{Delta, Event};
use crate::message::{Block, CallId, Found, Input, Searched, ToolAnswer, ToolCall, Usage};
use crate::session::reminded;
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};

/// The version of this format. It changes if a field gets another meaning or is removed. New types of lines and new
/// fields do not change it.
const VERSION: u32 = 1;

/// One line of the output.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Start {
        version: u32,
        session: &'a str,
        model: &'a str,
        mode: &'a str,
        root: String,
    },
    Text {
        text: &'a str,
    },
    /// The last `bytes` bytes of the texts so far were a thought.
    Thought {
        bytes: usize,
    },
    /// The last `bytes` bytes of the texts so far are dropped: their reply broke off, and the model is asked again.
    Dropped {
        bytes: usize,
    },
    Call {
        id: &'a str,
        tool: &'a str,
        input: Value,
    },
    Answer {
        id: &'a str,
        failed: bool,
        summary: &'a str,
        text: &'a str,
    },
    /// A search of the web by the model's provider.
    Search {
        query: &'a str,
        failed: &'a str,
        results: &'a [Found],
    },
    Denied {
        id: &'a str,
        question: &'a str,
    },
    Note {
        level: Level,
        text: &'a str,
    },
    Usage {
        input: u64,
        output: u64,
        cached: u64,
    },
    End {
        exit_code: u8,
        reason: Value,
        answer: &'a str,
        problem: Option<&'a str>,
        denied: &'a [String],
        files: &'a [Changed],
        gaps: &'a [String],
        input: u64,
        output: u64,
        usd: Option<f64>,
        diff: String,
    },
    Error {
        exit_code: u8,
        text: &'a str,
    },
}

pub(super) struct Json {
    /// The bytes of text of the reply that is arriving.
    bytes: usize,
    /// The calls without an answer.
    open: Vec<CallId>,
}

impl Json {
    pub(super) fn new() -> Json {
        Json { bytes: 0, open: Vec::new() }
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Replied { reply, .. } => {
                self.bytes = 0;
                self.open.extend(reply.calls().map(|it| it.id.clone()));
                let Usage { output, cache_read, .. } = reply.usage;
                write(&Line::Usage { input: reply.usage.read(), output, cached: cache_read })?;
                reply.blocks.iter().try_for_each(search)?;
                reply.calls().try_for_each(call)
            }
            Event::Asked { call, question, .. } => write(&Line::Denied { id: &call.0, question }),
            Event::Answered { answer, .. } => {
                self.open.retain(|it| *it != answer.id);
                let ToolAnswer { id, failed, summary, text, .. } = answer;
                write(&Line::Answer { id: &id.0, failed: *failed, summary, text })
            }
            Event::Ended { .. } => std::mem::take(&mut self.open).iter().try_for_each(|it| {
                write(&Line::Answer { id: &it.0, failed: true, summary: STOPPED, text: "" })
            }),
            Event::Told { text }
            | Event::Trimmed { told: text, .. }
            | Event::Compacting { told: text, .. }
            | Event::NotCompacted { why: text, .. } => Json::note(Level::Info, text),
            Event::Compacted { handoff, .. } => Json::note(Level::Info, &handoff.told),
            Event::Reminded { tool, .. } => Json::note(Level::Warn, &reminded(tool)),
            Event::Retried { failure, wait_ms, .. } => {
                match std::mem::take(&mut self.bytes) {
                    0 => (),
                    bytes => write(&Line::Dropped { bytes })?,
                }
                let text = format!("{}. Trying again in {wait_ms} ms.", failure.brief());
                Json::note(Level::Warn, &text)
            }
            _ => Ok(()),
        }
    }

    fn note(level: Level, text: &str) -> io::Result<()> {
        write(&Line::Note { level, text })
    }
}

impl Output for Json {
    fn begin(&mut self, launched: &Launched) -> io::Result<()> {
        let Launched { session, model, mode, root, .. } = launched;
        let root = root.display().to_string();
        let session = if launched.is_saved() { &*session.0 } else { "" };
        let mode = mode.name();
        write(&Line::Start { version: VERSION, session, model, mode, root })
    }

    fn show(&mut self, show: &Show) -> io::Result<()> {
        match show {
            Show::Event(event) => self.event(event),
            Show::Delta(Delta::Text(text)) => {
                self.bytes += text.len();
                write(&Line::Text { text })
            }
            Show::Delta(Delta::WasThought { bytes }) => {
                self.bytes = self.bytes.saturating_sub(*bytes);
                write(&Line::Thought { bytes: *bytes })
            }
            Show::Told(told) => told.iter().try_for_each(|it| Json::note(Level::Info, it)),
            Show::Now(Report::Notice { level, text }) => write(&Line::Note { level: *level, text }),
            _ => Ok(()),
        }
    }

    fn end(&mut self, ran: &Ran) -> io::Result<()> {
        write(&Line::End {
            exit_code: ran.exit.code(),
            reason: serde_json::to_value(ran.exit).unwrap_or_default(),
            answer: &ran.answer,
            problem: ran.problem.as_deref(),
            denied: &ran.denied,
            files: &ran.files,
            gaps: &ran.gaps,
            input: ran.spent.input,
            output: ran.spent.output,
            usd: ran.spent.usd,
            diff: ran.diff(),
        })
    }

    fn fail(&mut self, code: u8, why: &str) -> io::Result<()> {
        write(&Line::Error { exit_code: code, text: why })
    }
}

fn search(block: &Block) -> io::Result<()> {
    let Block::Searched(Searched { query, failed, results }) = block else { return Ok(()) };
    write(&Line::Search { query, failed, results })
}

fn call(call: &ToolCall) -> io::Result<()> {
    let input = match &call.input {
        Input::Json(value) => value.clone(),
        Input::Broken { text, .. } => Value::String(text.clone()),
    };
    write(&Line::Call { id: &call.id.0, tool: &call.tool, input })
}

fn write(line: &Line<'_>) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(escaped(&serde_json::to_string(line)?).as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Escapes the control characters of a JSON text, for example as `\u009b`, because they could act on a terminal, and the
/// line ends of Unicode, because some readers of lines end a line there. JSON has such characters in strings only.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}
