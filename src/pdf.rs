//! Extracts the text of a PDF. A stranger's PDF may make a parser run endlessly, fill the memory or overflow the stack.
//! So the PDF is parsed in a separate process, which runs this same program with limits on memory and time.

#[cfg(test)]
mod tests;

use lopdf::Document;
use rustix::process::{Resource, Rlimit, setrlimit};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::timeout;

/// The argument that makes this program print the text of the PDF on its standard input.
pub const ARGUMENT: &str = "pdf-text";

/// The bytes with which a PDF begins.
const MAGIC: &[u8] = b"%PDF-";
/// The largest PDF that is read, in bytes.
pub const LARGEST: u64 = 50_000_000;
/// The most bytes of text that are taken out of a PDF.
const TEXT: usize = 4_000_000;
/// The limits of the process: its memory in bytes, its processor time in seconds, and its total time.
const MEMORY: u64 = 2 << 30;
const BUSY: u64 = 20;
const PATIENCE: Duration = Duration::from_secs(40);

/// The exit codes for a PDF that cannot be read and for one that needs a password.
const DAMAGED: u8 = 1;
const LOCKED: u8 = 3;

/// Whether a file that begins with these bytes is a PDF.
pub fn begins(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// The text of a PDF. `program` is the path of this program. The error is the rest of a sentence that begins with the
/// file's name.
pub async fn text(program: &Path, pdf: File) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg0("pdf-text").arg(ARGUMENT).env_clear().kill_on_drop(true);
    command.stdin(pdf).stdout(Stdio::piped()).stderr(Stdio::null());
    match timeout(PATIENCE, output(command)).await {
        Ok(Ok((text, status))) => said(text, status.code()),
        Ok(Err(_)) => {
            Err("is a PDF, but the process that extracts its text did not start".to_owned())
        }
        Err(_) => Err(too_hard()),
    }
}

async fn output(mut command: Command) -> io::Result<(String, std::process::ExitStatus)> {
    let mut child = command.spawn()?;
    let mut bytes = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        // if the process is killed, the last page may be incomplete
        stdout.take(TEXT as u64 * 2).read_to_end(&mut bytes).await?;
    }
    Ok((String::from_utf8_lossy(&bytes).into_owned(), child.wait().await?))
}

fn said(text: String, code: Option<i32>) -> Result<String, String> {
    let is_mark = |line: &str| line.is_empty() || line.starts_with("--- page ");
    match code {
        Some(0) if text.lines().all(is_mark) => {
            Err("is a PDF without text, perhaps of scanned pages".to_owned())
        }
        Some(0) => Ok(text),
        Some(code) if code == i32::from(LOCKED) => Err("is a PDF that needs a password".to_owned()),
        Some(code) if code == i32::from(DAMAGED) => Err("is a damaged PDF".to_owned()),
        _ => Err(too_hard()),
    }
}

fn too_hard() -> String {
    format!("is a PDF whose text cannot be read within {BUSY} seconds and {} GB", MEMORY >> 30)
}

/// Reads a PDF from standard input and prints its text.
pub fn run() -> ExitCode {
    // on a system without one of these limits, the other one and the limit on the total time still apply
    for (resource, most) in [(Resource::As, MEMORY), (Resource::Cpu, BUSY)] {
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
    let mut bytes = Vec::new();
    if io::stdin().lock().take(LARGEST).read_to_end(&mut bytes).is_err() {
        return ExitCode::FAILURE;
    }
    match print(&bytes, &mut io::stdout().lock()) {
        Ok(code) => ExitCode::from(code),
        Err(_) => ExitCode::FAILURE,
    }
}

/// Prints the text of a PDF. Returns the exit code.
fn print(bytes: &[u8], to: &mut impl Write) -> io::Result<u8> {
    let document = match Document::load_mem(bytes) {
        Ok(document) => document,
        Err(lopdf::Error::Decryption(_) | lopdf::Error::InvalidPassword) => {
            return Ok(LOCKED);
        }
        Err(_) => return Ok(DAMAGED),
    };
    if document.is_encrypted() {
        return Ok(LOCKED);
    }
    let pages: Vec<u32> = document.get_pages().into_keys().collect();
    let (count, mut left) = (pages.len(), TEXT);
    for page in pages {
        if left == 0 {
            writeln!(
                to,
                "--- the other pages are left out: the text is longer than {} MB ---",
                TEXT / 1_000_000
            )?;
            break;
        }
        let text = document.extract_text(&[page]).unwrap_or_default();
        let text = tidied(&text, left);
        left -= text.len();
        writeln!(to, "--- page {page} of {count} ---")?;
        if !text.is_empty() {
            writeln!(to, "{text}")?;
        }
    }
    Ok(if count == 0 { DAMAGED } else { 0 })
}

/// A text without control characters and without blank lines at its ends or in a row, cut after `most` bytes.
fn tidied(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut blank = 0;
    for line in text.lines() {
        let line: String = line.chars().filter(|it| *it == '\t' || !it.is_control()).collect();
        let line = line.trim_end();
        if line.is_empty() {
            blank += 1;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if blank > 0 { "\n\n" } else { "\n" });
        }
        blank = 0;
        out.push_str(line);
    }
    let end = (0..=most.min(out.len())).rev().find(|it| out.is_char_boundary(*it)).unwrap_or(0);
    out.truncate(end);
    out
}
