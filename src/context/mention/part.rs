//! The part of a file that a mention names.

use super::named::Mention;
use crate::message::Excerpt;
use crate::text::counted;

/// The most bytes of a mentioned file that are added to the prompt. Larger files have to be read in parts.
const LIMIT: usize = 256 * 1024;

pub(super) fn cut(content: String, mention: &Mention, shown: String) -> Result<Excerpt, String> {
    let written = &mention.path;
    let text = match mention.lines {
        None => content,
        Some((first, last)) => {
            let total = content.lines().count();
            if first as usize > total.max(1) {
                return Err(format!(
                    "`@{written}:{first}` is past the end: the file has {}.",
                    counted(total, "line")
                ));
            }
            let n = (last - first + 1) as usize;
            content.lines().skip(first as usize - 1).take(n).collect::<Vec<_>>().join("\n")
        }
    };
    if text.len() > LIMIT {
        return Err(format!(
            "`@{written}` has {} kB; at most {} kB can be sent. Mention a part of it: \
                `@{written}:1-400`.",
            text.len() / 1024,
            LIMIT / 1024
        ));
    }
    Ok(Excerpt { path: shown, lines: mention.lines, text, ..Excerpt::default() })
}
