//! Explains to the model why an edit does not fit the file, and which text would fit.

use super::{Rung, nearest};
use crate::text::{Text, diff_lines};
use unicode_normalization::UnicodeNormalization;

/// Why an edit does not fit. `say` explains it to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// The text does not contain `old`. `nearest` is the first line, from 1, of the most similar block. `is_stale` says
    /// that the text has changed since the model saw it.
    Absent { nearest: Option<u32>, old: String, is_stale: bool },
    /// `old` is at several places. `at` has the line, from 1, at which each place begins, for at most a hundred places.
    /// A line with two places is listed twice. `by` are the tolerances that were used.
    Ambiguous { at: Vec<u32>, by: Vec<Rung> },
    /// `old` and `new` are equal, or the file already has the written text.
    Unchanged,
    /// The text does not contain `old`, but already contains `new` at this line, from 1.
    AlreadyApplied { at: u32 },
    /// `old` is empty, but the file is not.
    EmptyOld,
    /// The file does not exist.
    NoFile,
    /// The file to be created already exists.
    Exists,
    /// Chunk `at` of `of`, counted from 1, does not fit. The misfit's `old` has the chunk's lines without the added
    /// lines.
    Chunk { at: usize, of: usize, misfit: Box<Misfit> },
    /// The call replaces the text of a whole file that the model has not read.
    Unread,
    /// The call replaces the text of a whole file, but the text has changed since the model read it.
    Stale,
    /// The file cannot be changed, for this reason: for example it is read-only, open in another Neovim, or a folder.
    Refused(String),
}

/// The most places of an ambiguous match, and the most lines of a diff, that are shown to the model.
const SITES: usize = 10;
const DIFF: usize = 40;
/// The most characters of a line that are shown.
const WIDE: usize = 200;
/// The most bytes of a file whose letters are compared in other spellings.
const LETTERS: usize = 4_000_000;

impl Misfit {
    /// The explanation. `path` is as the model wrote it; `text` is the text in which the edit's place was searched.
    pub fn say(&self, path: &str, text: Option<&Text>) -> String {
        let content = text.map_or("", |text| text.content.as_str());
        match self {
            Misfit::Absent { nearest, old, is_stale } => {
                absent(path, content, *nearest, old, *is_stale)
            }
            Misfit::Ambiguous { at, by } => ambiguous(path, content, at, by),
            Misfit::Unchanged => {
                format!("This edit would change nothing, so {path} stays as it is.")
            }
            Misfit::AlreadyApplied { at } => format!(
                "`old` is not in {path}, and `new` is there already, at line {at}. \
                 If that is the change you meant, nothing is left to do."
            ),
            Misfit::EmptyOld => format!(
                "`old` is empty, but {path} is not. Give the text to replace, or use write to \
                 replace the whole file."
            ),
            Misfit::NoFile => format!("{path} does not exist."),
            Misfit::Exists => format!("{path} already exists."),
            Misfit::Chunk { at, of, misfit } => {
                let which =
                    if *of == 1 { "The chunk".to_owned() } else { format!("Chunk {at} of {of}") };
                let said = misfit.say(path, text);
                format!(
                    "{which} does not fit. Here `old` means the chunk's lines without the added lines. {said}"
                )
            }
            Misfit::Unread => format!(
                "{path} exists and you have not read it. Read it first, then write, or use edit."
            ),
            Misfit::Stale => format!(
                "{path} changed since you read it, so it was not overwritten. Read it again, or use edit."
            ),
            Misfit::Refused(why) => format!("{path} was not changed: {why}."),
        }
    }

    /// Advice for the model: what it can do instead with its tools.
    pub(super) fn advice(&self, is_patch: bool) -> &'static str {
        match (self, is_patch) {
            (Misfit::Chunk { misfit, .. }, _) => misfit.advice(is_patch),
            (Misfit::NoFile, false) => " Use write to create it.",
            (Misfit::NoFile, true) => " Use `*** Add File:` to create it.",
            (Misfit::Exists, _) => " Use `*** Update File:` to change it.",
            (Misfit::Ambiguous { .. }, false) => {
                "\nAdd surrounding lines to `old` until it is unique, or set `everywhere`."
            }
            (Misfit::Ambiguous { .. }, true) => {
                "\nAdd surrounding lines to the chunk, or a line `@@ ` with the class or function that contains them."
            }
            _ => "",
        }
    }
}

fn ambiguous(path: &str, content: &str, at: &[u32], by: &[Rung]) -> String {
    let how = by
        .iter()
        .map(|rung| format!(", {rung}"))
        .chain((!by.is_empty()).then(|| ",".to_owned()))
        .collect::<String>();
    let mut lines = at.to_vec();
    lines.dedup();
    let texts: Vec<&str> = content.lines().collect();
    let sites: Vec<String> = lines
        .iter()
        .take(SITES)
        .map(|line| format!("{line}: {}", shown(texts.get(*line as usize - 1).unwrap_or(&""))))
        .collect();
    let more = if lines.len() > SITES { "\n…" } else { "" };
    let count = if at.len() < 100 { at.len().to_string() } else { "100 or more".to_owned() };
    format!(
        "`old` is at {count} places in {path}{how} and must be at exactly one place:\n{}{more}",
        sites.join("\n")
    )
}

fn absent(path: &str, content: &str, nearest: Option<u32>, old: &str, is_stale: bool) -> String {
    let mut said = format!("`old` is not in {path}.");
    let block = nearest.map_or(Vec::new(), |line| {
        content.lines().skip(line as usize - 1).take(old.lines().count()).collect()
    });
    if is_stale {
        said.push_str(" The file changed since you saw it last.");
    }
    let hint = hint(content, old, &block);
    if let Some(hint) = hint {
        said.push(' ');
        said.push_str(hint);
    }
    match nearest {
        Some(line) => {
            let diff = differences(old, &block);
            let head =
                format!("\nThe nearest block begins at line {line} (- `old`, + the file):\n");
            said.push_str(&head);
            said.push_str(&diff);
        }
        None if content.is_empty() => said.push_str(" The file is empty."),
        None if hint.is_some() => (),
        None => said.push_str(&match nearest::around(content, old) {
            Some((line, column, piece)) => {
                format!(
                    "\nThe most similar text is in line {line}, around column {column}:\n…{piece}…"
                )
            }
            None => " Nothing in the file is similar: read it again.".to_owned(),
        }),
    }
    said
}

fn hint(content: &str, old: &str, block: &[&str]) -> Option<&'static str> {
    let unescaped = || old.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\"");
    if old.contains('\\') && unescaped() != old && content.contains(&unescaped()) {
        return Some("`old` is escaped twice: send real line breaks, tabs and quotes.");
    }
    if let Some(bare) = without_numbers(old)
        && content.contains(&bare)
    {
        return Some("Leave out the line numbers and tabs that read shows.");
    }
    if let Some(hint) = letters(content, old) {
        return Some(hint);
    }
    if old.strip_suffix('\n').is_some_and(|rest| content.ends_with(rest)) {
        return Some(
            "The file's last line has no newline at its end: end `old` without a newline.",
        );
    }
    if content.contains('\r') && content.replace("\r\n", "\n").contains(old) {
        return Some("The file mixes CR LF and LF: match within single lines.");
    }
    let same = |by: fn(&str) -> &str| old.lines().map(by).eq(block.iter().map(|line| by(line)));
    if same(str::trim_end) {
        return Some("Only blanks at line ends differ.");
    }
    if !same(str::trim) {
        return None;
    }
    let tabs = |line: &str| line[..line.len() - line.trim_start().len()].contains('\t');
    Some(match (old.lines().any(tabs), block.iter().any(|line| tabs(line))) {
        (false, true) => "The file is indented with tabs, `old` with spaces.",
        (true, false) => "The file is indented with spaces, `old` with tabs.",
        _ => "Only the indentation differs.",
    })
}

/// The hint if the file has `old` with letters that are written in another way.
fn letters(content: &str, old: &str) -> Option<&'static str> {
    if content.len() > LETTERS {
        return None;
    }
    if !old.is_ascii() {
        let composed = |text: &str| text.nfc().collect::<String>();
        if composed(content).contains(&composed(old)) {
            return Some(
                "The file writes accented letters as other characters than `old` does: one has composed letters \
                 (Unicode NFC), the other a letter and a combining mark (NFD). Copy the text from what read shows.",
            );
        }
    }
    let plain = html(old);
    if plain != old && content.contains(&plain) {
        return Some("`old` is escaped for HTML, the file is not: send `<`, `>`, `&` and quotes.");
    }
    let is_escaped = old.contains(['<', '>', '&', '"', '\'']) && content.contains('&');
    (is_escaped && html(content).contains(old)).then_some(
        "The file is escaped for HTML, `old` is not: send `&lt;`, `&gt;`, `&amp;` and `&quot;` as in the file.",
    )
}

/// A text with the commonest character references of HTML replaced by their characters.
fn html(text: &str) -> String {
    const REFERENCES: [(&str, &str); 7] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    REFERENCES.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn without_numbers(old: &str) -> Option<String> {
    let bare = |line: &str| {
        let (number, rest) = line.split_once('\t')?;
        number.trim().parse::<u32>().is_ok().then(|| rest.to_owned())
    };
    Some(old.lines().map(bare).collect::<Option<Vec<_>>>()?.join("\n"))
}

fn differences(old: &str, block: &[&str]) -> String {
    let sent: Vec<&str> = old.lines().collect();
    let mut lines: Vec<String> = Vec::new();
    let mut at = 0;
    for hunk in diff_lines(sent.iter().copied(), block.iter().copied()) {
        let (gone, come) = (hunk.old.start as usize, hunk.old.end as usize);
        lines.extend(sent[at..gone].iter().map(|line| format!(" {}", shown(line))));
        lines.extend(sent[gone..come].iter().map(|line| format!("-{}", shown(line))));
        let new = &block[hunk.new.start as usize..hunk.new.end as usize];
        lines.extend(new.iter().map(|line| format!("+{}", shown(line))));
        at = come;
    }
    lines.extend(sent[at..].iter().map(|line| format!(" {}", shown(line))));
    if lines.len() > DIFF {
        lines.truncate(DIFF);
        lines.push("…".to_owned());
    }
    lines.join("\n")
}

fn shown(line: &str) -> String {
    match line.char_indices().nth(WIDE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
