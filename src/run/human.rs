//! The output for a person: progress and a summary on standard error, the answer on standard output.

use super::launch::Launched;
use super::output::{Output, STOPPED};
use crate::conversation::ran::Ran;
use crate::conversation::report::{Report, Show};
use crate::event::Event;
use crate::message::{Block, CallId, ToolAnswer, ToolCall};
use crate::session::reminded;
use crate::view::{called, clean};
use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Instant;

pub(super) struct Human {
    /// The calls without an answer, each with the time at which it began.
    open: HashMap<CallId, (ToolCall, Instant)>,
}

impl Human {
    pub(super) fn new() -> Human {
        Human { open: HashMap::new() }
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Replied { reply, .. } => {
                let calls = reply.calls().map(|it| (it.id.clone(), (it.clone(), Instant::now())));
                self.open.extend(calls);
                for block in &reply.blocks {
                    if let Block::Searched(it) = block {
                        let query = if it.query.is_empty() {
                            String::new()
                        } else {
                            format!("  {}", it.query)
                        };
                        note(&format!("▸ web_search{query}   {}", it.summary()))?;
                    }
                }
                // a reply without calls is the answer, which `end` writes
                if reply.calls().next().is_some() {
                    for block in &reply.blocks {
                        if let Block::Text { text } = block {
                            note(text)?;
                        }
                    }
                }
            }
            Event::Started { call, .. } => {
                if let Some(it) = self.open.get_mut(call) {
                    it.1 = Instant::now();
                }
            }
            Event::Answered { answer, .. } => {
                if let Some((call, began)) = self.open.remove(&answer.id) {
                    let took = u64::try_from(began.elapsed().as_millis()).ok();
                    note(&called(&call, answer, took))?;
                }
            }
            Event::Ended { .. } => {
                let mut left: Vec<_> = self.open.drain().map(|it| it.1).collect();
                left.sort_by_key(|it| it.1);
                for (call, began) in left {
                    let took = u64::try_from(began.elapsed().as_millis()).ok();
                    let answer = ToolAnswer::failed(&call.id, String::new(), STOPPED);
                    note(&called(&call, &answer, took))?;
                }
            }
            Event::Told { text }
            | Event::Trimmed { told: text, .. }
            | Event::Compacting { told: text, .. }
            | Event::NotCompacted { why: text, .. } => note(text)?,
            Event::Compacted { handoff, .. } => note(&handoff.told)?,
            Event::Reminded { tool, .. } => note(&reminded(tool))?,
            Event::Retried { failure, wait_ms, .. } => {
                let seconds = wait_ms.div_ceil(1000);
                note(&format!("{}. Trying again in {seconds} s.", failure.brief()))?;
            }
            _ => (),
        }
        Ok(())
    }
}

impl Output for Human {
    fn begin(&mut self, launched: &Launched) -> io::Result<()> {
        let Launched { session, model, mode, root, .. } = launched;
        let kept = if launched.is_saved() {
            format!("conversation `{session}`")
        } else {
            "no conversation is saved".to_owned()
        };
        note(&format!("{model}, mode {mode}, {kept}, in {}", root.display()))
    }

    fn show(&mut self, show: &Show) -> io::Result<()> {
        match show {
            Show::Event(event) => self.event(event),
            Show::Told(told) => told.iter().try_for_each(|it| note(it)),
            Show::Now(Report::Notice { text, .. }) => note(text),
            _ => Ok(()),
        }
    }

    fn end(&mut self, ran: &Ran) -> io::Result<()> {
        if !ran.answer.is_empty() {
            let mut out = io::stdout();
            writeln!(out, "{}", clean(&ran.answer))?;
            out.flush()?;
        }
        let diff = ran.diff();
        if !diff.is_empty() {
            note(&diff)?;
        }
        note(&ran.summary().join("\n"))
    }

    fn fail(&mut self, _code: u8, why: &str) -> io::Result<()> {
        note(&format!("caliban: {why}"))
    }
}

/// Writes lines to standard error, fit for a terminal.
fn note(text: &str) -> io::Result<()> {
    writeln!(io::stderr(), "{}", clean(text).trim_end())
}
