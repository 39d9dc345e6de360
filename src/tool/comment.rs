//! The tool `comment`: shows the comments of a code review in the editor, as diagnostics and in the quickfix list.

pub use super::workspace::{Comment, Severity};

use super::{Author, Consented, Desk, Done, Running, Tool, Work};
use crate::message::Builtin;
use crate::text::{Text, counted, unseen};
use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};

/// The most characters of one comment, because a diagnostic is read at a glance.
const LENGTH: usize = 2000;

const PURPOSE: &str = "Leaves comments on lines of files in the user's editor, as diagnostics and in the quickfix \
    list. Use it when the user asks for a code review; it changes no file. Each comment must be understandable by \
    itself. Example: {\"comments\":[{\"path\":\"a.rs\",\"line\":12,\"code\":\"let a = \
    1;\",\"severity\":\"hint\",\"text\":\"Unused.\"}]}. Returns how many are shown; says why others are not.";

impl Severity {
    fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
            Severity::Hint => "hint",
        }
    }
}

/// The arguments of a comment as the model writes them.
#[derive(Clone, Deserialize)]
struct Written {
    path: String,
    /// Counted from 1.
    line: u64,
    code: String,
    severity: Severity,
    text: String,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Comment.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Known,
        work: Work::reads(paths, run),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "comments": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "path": { "type": "string" },
                        "line": { "type": "integer", "description": "in the file as it is now, from 1" },
                        "code": { "type": "string", "description": "that line, copied exactly" },
                        "severity": { "type": "string", "enum": ["error", "warning", "info", "hint"] },
                        "text": { "type": "string" }
                    },
                    "required": ["path", "line", "code", "severity", "text"]
                }
            }
        },
        "required": ["comments"]
    })
}

#[derive(Clone, Deserialize)]
struct Args {
    comments: Vec<Written>,
}

fn paths(args: &Args) -> Vec<String> {
    args.comments.iter().map(|it| it.path.clone()).collect()
}

fn run(desk: &Desk, args: Args, paths: Vec<Consented>) -> Running<'_> {
    async move {
        let (mut placed, mut problems) = (Vec::new(), Vec::new());
        for (at, (it, path)) in args.comments.into_iter().zip(&paths).enumerate() {
            match place(desk, it, path).await {
                Ok(comment) => placed.push(comment),
                Err(why) => problems.push(format!("comments[{at}].{why}")),
            }
        }
        let summary = match placed.len() {
            0 => return Err(problems.join("\n")),
            n => counted(n, "comment"),
        };
        let mut shown: Vec<String> = placed.iter().map(|it| line(desk, it)).collect();
        shown.extend(problems.iter().map(|it| format!("not shown: {it}")));
        desk.workspace.comment(placed);
        let mut text = format!("{summary} shown to the user.");
        if !problems.is_empty() {
            text.push_str(&format!(" Not shown:\n{}", problems.join("\n")));
        }
        let keys = if desk.workspace.reviews() { " · ]q next · :copen lists" } else { "" };
        Ok(Done { shown, ..Done::new(text, summary + keys) })
    }
    .boxed()
}

/// A comment as the chat shows it: `src/a.rs:12  hint  Unused.`
fn line(desk: &Desk, comment: &Comment) -> String {
    let Comment { path, line, severity, text } = comment;
    let path = desk.shown(path);
    let words: Vec<&str> = text.split_whitespace().collect();
    format!("{}:{}  {}  {}", unseen::name(&path), line + 1, severity.word(), words.join(" "))
}

/// Finds the line that a comment is about. The error begins with the name of the wrong argument.
async fn place(desk: &Desk, written: Written, path: &Consented) -> Result<Comment, String> {
    let Written { line, code, severity, text, .. } = written;
    let text: String = unseen::exact(text.trim()).chars().take(LENGTH).collect();
    if text.is_empty() {
        return Err("text: it is empty.".to_owned());
    }
    let path = path.path().to_owned();
    let source = desk.workspace.read(&path).await;
    let source = source.map_err(|why| format!("path: `{}` {}.", desk.shown(&path), why.say()))?;
    let line = nearest(&source.text, line, &code).ok_or_else(|| {
        let shown = desk.shown(&path);
        format!("code: `{shown}` has no line with this text. Copy one line of the file as it is now, and give its \
                 number.")
    })?;
    Ok(Comment { path, line, severity, text })
}

/// Of the lines that are equal to the first nonblank line of `code`, the number of the one nearest to line `meant`. The
/// result counts from 0, `meant` from 1. Blanks around a line are ignored. Models often give a wrong line number but
/// copy the line correctly.
fn nearest(text: &Text, meant: u64, code: &str) -> Option<u32> {
    let code = code.lines().map(str::trim).find(|it| !it.is_empty()).unwrap_or_default();
    let meant = meant.saturating_sub(1);
    let lines = (0u32..).zip(text.lines()).filter(|it| it.1.trim() == code);
    lines.map(|it| it.0).min_by_key(|at| u64::from(*at).abs_diff(meant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_placed_at_the_line_with_its_code_that_is_nearest_to_its_line_number() {
        let text = Text::new("a\n  b();\n\nc\nb();\nd\n");
        for (meant, code, found) in [
            (1, "a", Some(0)),
            (2, "b();", Some(1)),
            (4, "  b();  ", Some(4)),
            (3, "b();", Some(1)),
            (u64::MAX, "b();\nd", Some(4)),
            (0, "c", Some(3)),
            (3, "", Some(2)),
            (4, "e", None),
        ] {
            assert_eq!(nearest(&text, meant, code), found, "{meant} {code}");
        }
    }
}
