//! The user's own formatters: commands that read a text on their standard input and print it formatted. In their
//! sandbox they may write only in a temporary folder, and permission rules open no hosts to them.

pub use super::lsp::question::{Filter, Formatter};

use super::desk::Desk;
use super::process::{End, Process, Streams};
use super::{clip, command};
use crate::text::{self, Text, cause, secret};
use std::fs::File;
use std::io::{Seek, Write};
use std::process::Stdio;
use std::time::Duration;

/// The most bytes of a formatter's output.
const MOST: usize = 20_000_000;
/// The most bytes of a formatter's errors that the model is told.
const LONGEST: usize = 2_000;

impl Formatter {
    /// All commands, as one command line.
    pub fn command(&self) -> String {
        let lines: Vec<&str> = self.steps.iter().map(|it| it.line.as_str()).collect();
        lines.join(" | ")
    }

    /// The text as the commands format it. `lines` are the first and the last line to format, from 0. The error is a
    /// sentence for the model.
    pub async fn format(
        &self,
        desk: &Desk,
        text: &Text,
        lines: Option<(u32, u32)>,
    ) -> Result<String, String> {
        let all: Vec<&str> = text.lines().collect();
        let number = |it: u32| usize::try_from(it).unwrap_or(usize::MAX);
        let range = lines.map_or(0..all.len(), |(first, last)| {
            let end = number(last).saturating_add(1).min(all.len());
            number(first).min(end)..end
        });
        let is_part = self.takes_lines && lines.is_some();
        let given = if is_part { all[range.clone()].join("\n") } else { text.joined().to_owned() };
        let mut now = given.clone();
        for step in &self.steps {
            now = step.run(desk, &now, self.ms).await?;
        }
        if now.trim().is_empty() && !given.trim().is_empty() {
            return Err(format!(
                "Nothing was changed: the user's formatter `{}` printed nothing for a text that is not empty. Perhaps it \
                 formats the file on disk instead of its standard input: run it with shell.",
                self.command()
            ));
        }
        let joined = if is_part {
            let rest = all[range.end..].iter().copied();
            let parts = all[..range.start].iter().copied().chain([now.as_str()]).chain(rest);
            parts.collect::<Vec<_>>().join("\n")
        } else if lines.is_some() {
            within(&all, &now, range)
        } else {
            now
        };
        let end = if text.content.ends_with('\n') { "\n" } else { "" };
        Ok(joined + end)
    }
}

/// The text with those changes that touch these lines.
fn within(old: &[&str], now: &str, lines: std::ops::Range<usize>) -> String {
    let new: Vec<&str> = now.split('\n').collect();
    let index = |it: u32| usize::try_from(it).unwrap_or(usize::MAX);
    let (mut out, mut at) = (Vec::new(), 0);
    for hunk in text::diff_lines(old.iter().copied(), new.iter().copied()) {
        let (from, to) = (index(hunk.old.start), index(hunk.old.end));
        if from < lines.end && to.max(from + 1) > lines.start {
            out.extend_from_slice(&old[at..from]);
            out.extend_from_slice(&new[index(hunk.new.start)..index(hunk.new.end)]);
            at = to;
        }
    }
    out.extend_from_slice(&old[at..]);
    out.join("\n")
}

impl Filter {
    /// What the command prints for a text. Neither text has a final newline.
    async fn run(&self, desk: &Desk, text: &str, ms: u32) -> Result<String, String> {
        let failed = |it: std::io::Error| {
            format!("The formatter `{}` could not be started: {}.", self.line, cause(&it))
        };
        let (end, printed) = self.printed(desk, text, ms).await.map_err(failed)?;
        let what = match end {
            None => format!("printed more than {} MB and was stopped", MOST / 1_000_000),
            Some(end) if end.is_late => {
                format!("did not finish within {} s and was stopped", f64::from(ms) / 1000.0)
            }
            Some(end) => {
                let (output, errors) = halves(&printed);
                if end.code().is_some_and(|it| self.codes.contains(&it)) {
                    return self.decoded(output);
                }
                let how = end.clause();
                let errors = if errors.is_empty() { output } else { errors };
                let (errors, _) = secret::without(
                    &clip::clean(&String::from_utf8_lossy(errors)),
                    &desk.secrets.known_to_commands(),
                );
                let errors = match errors.trim() {
                    "" => String::new(),
                    it => format!("\n{}", clip::line(it, LONGEST)),
                };
                let hint = if end.code() == Some(127) { " Is the program installed?" } else { "" };
                return Err(format!(
                    "Nothing was changed: the user's formatter `{}` {how}.{hint}{errors}",
                    self.line
                ));
            }
        };
        Err(format!("Nothing was changed: the user's formatter `{}` {what}.", self.line))
    }

    /// Runs the command. Returns how it ended, unless it printed too much, and what it printed.
    async fn printed(
        &self,
        desk: &Desk,
        text: &str,
        ms: u32,
    ) -> std::io::Result<(Option<End>, Vec<u8>)> {
        let confinement = desk.confinement.clone().connecting(true, Vec::new()).read_only();
        let limits = confinement.limits(desk).await?;
        let streams = Streams::Filter;
        let mut command = command::prepared(desk, &parted(&self.line), limits.as_ref(), streams)?;
        command.stderr(Stdio::from(input(text)?));
        let gate = limits.as_ref().and_then(|it| confinement.gate(desk, it));
        let time = Duration::from_millis(ms.into());
        let mut process = Process::start(command, streams, Some(time), gate, None).await?;
        let mut printed = Vec::new();
        while let Some(count) = process.next().await {
            printed.extend_from_slice(process.bytes(count));
            if printed.len() > MOST {
                process.finish().await;
                return Ok((None, printed));
            }
            tokio::task::yield_now().await;
        }
        Ok((Some(process.finish().await), printed))
    }

    fn decoded(&self, output: &[u8]) -> Result<String, String> {
        let text = Text::decode(output).map_err(|_| {
            format!(
                "Nothing was changed: the user's formatter `{}` printed text that is not UTF-8 or contains a NUL.",
                self.line
            )
        })?;
        Ok(text.joined().to_owned())
    }
}

/// A file without a name that has the text and a final newline.
fn input(text: &str) -> std::io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    if !text.is_empty() {
        file.write_all(b"\n")?;
    }
    file.rewind()?;
    Ok(file)
}

/// A command line that prints the output of a command line, a NUL byte, and the beginning of the errors. The command
/// has only one stream to print to.
fn parted(line: &str) -> String {
    let quoted = line.replace('\'', r"'\''");
    format!(
        "exec 3>&1\n\
         errors=$({{ eval '{quoted}'; }} 2>&1 >&3 3>&- | {{ head -c {LONGEST}; cat >/dev/null; }}; \
         exit ${{PIPESTATUS[0]}})\n\
         code=$?; printf '\\0%s' \"$errors\"; exit $code"
    )
}

/// The output and the errors of a command line made by `parted`.
fn halves(printed: &[u8]) -> (&[u8], &[u8]) {
    match printed.iter().rposition(|it| *it == 0) {
        Some(at) => (&printed[..at], &printed[at + 1..]),
        None => (printed, &[]),
    }
}
