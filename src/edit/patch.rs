//! Parses the format of `apply_patch`, on which some models were trained.

use super::{Change, Chunk, Edit, Whole};
use std::path::PathBuf;

const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const LAST: &str = "*** End of File";

/// The edits of a patch, in the order of the patch. The error tells the model which line is wrong and what was expected
/// there.
pub fn parse(patch: &str) -> Result<Vec<Edit>, String> {
    let lines: Vec<&str> = patch.lines().collect();
    let (from, to) = body(&lines)?;
    let mut reader = Reader { lines: &lines[..to], at: from };
    let mut edits = Vec::new();
    while let Some(line) = reader.next_full() {
        edits.extend(reader.file(line.trim())?);
    }
    if edits.is_empty() {
        return Err("The patch changes no file, so nothing was done.".to_owned());
    }
    Ok(edits)
}

/// The range of lines between the begin and end marks of a patch. Lines that a shell or Markdown puts around the marks
/// are skipped.
fn body(lines: &[&str]) -> Result<(usize, usize), String> {
    let is_wrapping = |line: &&str| {
        let line = line.trim();
        line.is_empty() || line.contains("<<") || line.starts_with("```") || line == "EOF"
    };
    let from = lines.iter().position(|line| !is_wrapping(line)).unwrap_or(0);
    let to = lines.iter().rposition(|line| !is_wrapping(line)).unwrap_or(0);
    match (lines.get(from).map(|it| it.trim()), lines.get(to).map(|it| it.trim())) {
        (Some("*** Begin Patch"), Some("*** End Patch")) => Ok((from + 1, to)),
        (Some("*** Begin Patch"), _) => Err(
            "The patch does not end with `*** End Patch`, so nothing was done: it may have been \
                 cut off. Send it again, in smaller pieces if it is long."
                .to_owned(),
        ),
        _ => {
            Err("The patch does not begin with `*** Begin Patch`, so nothing was done.".to_owned())
        }
    }
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn skip_empty(&mut self) {
        while self.peek().is_some_and(|line| line.trim().is_empty()) {
            self.at += 1;
        }
    }

    /// The next line that is not empty.
    fn next_full(&mut self) -> Option<&'a str> {
        self.skip_empty();
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }

    fn file(&mut self, header: &str) -> Result<Vec<Edit>, String> {
        let path = |mark: &str| header.strip_prefix(mark).map(|it| PathBuf::from(it.trim()));
        if let Some(path) = path(ADD) {
            return Ok(vec![Edit { path, change: Change::Create { text: self.added()? } }]);
        }
        if let Some(path) = path(DELETE) {
            return Ok(vec![Edit { path, change: Change::Whole(Whole::Delete) }]);
        }
        let Some(path) = path(UPDATE) else {
            let wanted = format!("`{ADD}`, `{UPDATE}` or `{DELETE}` and a path");
            return Err(self.fault(&wanted, header));
        };
        let to = self.peek().and_then(|line| line.trim().strip_prefix(MOVE));
        let to = to.map(|it| PathBuf::from(it.trim())).filter(|it| *it != path);
        self.at += usize::from(self.peek().is_some_and(|line| line.trim().starts_with(MOVE)));
        let mut chunks = Vec::new();
        while self.peek().is_some_and(|line| !is_header(line)) {
            chunks.extend(self.chunk(chunks.is_empty())?);
        }
        if chunks.is_empty() && to.is_none() {
            return Err(self.fault("lines to change", self.peek().unwrap_or("*** End Patch")));
        }
        let update = (!chunks.is_empty()).then_some(Change::Patch(chunks));
        let rename = to.map(|to| Change::Whole(Whole::Rename { to }));
        let edit = |change| Edit { path: path.clone(), change };
        Ok(update.into_iter().chain(rename).map(edit).collect())
    }

    fn added(&mut self) -> Result<String, String> {
        let mut text = String::new();
        while let Some(line) = self.peek().and_then(|it| it.strip_prefix('+')) {
            self.at += 1;
            text.extend([line, "\n"]);
        }
        let behind = self.at;
        self.skip_empty();
        // every line of an added file begins with `+`, so a line that begins with blanks can only be a header
        if self.peek().is_some_and(|it| !is_header(it.trim_start())) {
            self.at = behind + 1;
            return Err(self.fault("a line that begins with `+`", self.lines[behind]));
        }
        Ok(text)
    }

    /// The next chunk; `None` if only empty lines are left. Only the first chunk may lack its `@@`.
    fn chunk(&mut self, is_first: bool) -> Result<Option<Chunk>, String> {
        let mut chunk = Chunk::default();
        let mut is_headed = is_first;
        while let Some(rest) = self.peek().and_then(|line| line.strip_prefix("@@")) {
            self.at += 1;
            is_headed = true;
            chunk.anchors.extend(anchor(rest));
        }
        while let Some(line) =
            self.peek().filter(|line| !is_header(line) && !line.starts_with("@@"))
        {
            self.at += 1;
            if line.trim_end() == LAST {
                chunk.is_last = true;
                break;
            }
            let (kind, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
            match kind {
                " " | "" => chunk.push(rest, true, true),
                "-" => chunk.push(rest, true, false),
                "+" => chunk.push(rest, false, true),
                _ => return Err(self.fault("a line that begins with ` `, `-` or `+`", line)),
            }
        }
        // empty lines at the end of a chunk before the next header, or between headers, belong to the patch and not to
        // the file
        if self.peek().is_none_or(is_header) && !chunk.is_last {
            chunk.trim();
        }
        match chunk.is_blank() {
            true => Ok(None),
            false if is_headed => Ok(Some(chunk)),
            false => Err(self.fault("`@@` above these lines", "lines without it")),
        }
    }

    fn fault(&self, wanted: &str, got: &str) -> String {
        format!("Line {} of the patch: expected {wanted}, got `{got}`. Nothing was done.", self.at)
    }
}

/// Whether a line of the patch is a header such as `*** Update File: a`. A line of the file that looks like a header
/// begins with a space, `-` or `+` in the patch.
fn is_header(line: &str) -> bool {
    let line = line.trim_end();
    [ADD, DELETE, UPDATE].iter().any(|mark| line.starts_with(mark))
}

/// The line after `@@`, below which the chunk is to be found. The line numbers of a unified diff are ignored.
fn anchor(rest: &str) -> Option<String> {
    let rest = rest.strip_prefix(' ').unwrap_or(rest).trim_end();
    let is_numbers = |text: &str| text.chars().all(|c| c.is_ascii_digit() || "-+, ".contains(c));
    let line = match rest.split_once("@@") {
        Some((numbers, section)) if is_numbers(numbers) => section.trim(),
        _ => rest,
    };
    (!line.trim().is_empty()).then(|| line.to_owned())
}
