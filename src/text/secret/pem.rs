//! Finds private keys in PEM format line by line, even if the lines are indented, numbered, quoted or cut off.

/// The most bytes of a private key. An RSA key of 16,384 bits has 13,000.
pub(super) const LONGEST: usize = 16 * 1024;
/// The most bytes of a line that is examined as a whole. A longer line is examined in parts.
const LINE: usize = LONGEST;
pub(super) const BEGIN: &str = "-----BEGIN ";
const KIND: &str = "PRIVATE KEY";
const DASHES: &str = "-----";
/// The headers that a private key may have between its first line and the key itself.
const FIELDS: [&str; 6] =
    ["Proc-Type: ", "DEK-Info: ", "Version: ", "Comment: ", "Charset: ", "Hash: "];

pub(super) enum Begin {
    /// The text begins with the first line of a private key, which has this many bytes.
    Yes(usize),
    /// More text is needed to decide.
    Perhaps,
    No,
}

/// Whether a text begins with the first line of a private key.
pub(super) fn begin(text: &str) -> Begin {
    let Some(label) = text.strip_prefix(BEGIN) else {
        return if BEGIN.starts_with(text) { Begin::Perhaps } else { Begin::No };
    };
    let is_label = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == ' ';
    let end = label.find(|c| !is_label(c)).unwrap_or(label.len());
    let (label, rest) = label.split_at(end);
    if label.len() > 40 || !rest.is_empty() && !label.contains(KIND) {
        Begin::No
    } else if rest.starts_with(DASHES) {
        Begin::Yes(BEGIN.len() + label.len() + DASHES.len())
    } else if DASHES.starts_with(rest) {
        Begin::Perhaps
    } else {
        Begin::No
    }
}

pub(super) enum Line {
    /// The line belongs to the key, and has this many bytes.
    Body(usize),
    /// The key ends in this line, at this byte.
    End(usize),
    Other,
}

/// The kind of the first line of a text. `None` if more text is needed to decide.
pub(super) fn line(text: &str, is_last: bool) -> Option<Line> {
    let mut len = text.find('\n').map_or(text.len(), |at| at + 1);
    let is_whole = text[..len].ends_with('\n') || is_last || len >= LINE;
    if !is_whole {
        return None;
    }
    if len > LINE {
        len = (0..=LINE).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(len);
    }
    let line = &text[..len];
    let end = line.find("-----END ").and_then(|at| {
        let kind = at + line[at..].find(KIND)? + KIND.len();
        Some(kind + line[kind..].find(DASHES)? + DASHES.len())
    });
    Some(match end {
        Some(end) => Line::End(end),
        None if is_body(line) => Line::Body(len),
        None => Line::Other,
    })
}

fn is_body(line: &str) -> bool {
    // ignores a line number before the text and quotes around it
    let code = line.trim_start_matches(|c: char| c.is_ascii_digit() || c.is_whitespace());
    let code = code.trim_matches(|c: char| c.is_whitespace() || "\"',;|>+".contains(c));
    let is_coded = |c: char| c.is_ascii_alphanumeric() || "+/=\\_.:-".contains(c);
    match code {
        "" => line.trim().is_empty(),
        _ => FIELDS.iter().any(|it| code.starts_with(it)) || code.chars().all(is_coded),
    }
}
