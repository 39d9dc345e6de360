//! The diffs under an opened edit: their lines, and the numbers and signs of these lines as data for the editor.

use super::lines::{Shown, spelled};
use super::tool::Tool;
use crate::message::{Builtin, DiffHunk, FileDiff, Input, Kind, ToolCall};
use crate::text::unseen;
use serde::Serialize;
use serde_json::Value;

/// The line between two hunks.
const APART: &str = "⋯";

/// The most characters of the words in a call's line about the call's only file.
const PATH: usize = 5000;

/// Lines of a file's diff. Each of them begins with its sign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DiffRows {
    /// The file's path, by which the language is known.
    pub path: String,
    /// The index in the block of the first line.
    pub at: u32,
    /// The numbers of the first line in the old and in the new text, from 1; 0 if they are not known.
    pub old: u32,
    pub new: u32,
    /// The lines' signs: ` `, `-` or `+`.
    pub signs: String,
}

/// The lines under an edit, with the rows of the diffs in them. `above` is the number of lines above these in the
/// block.
pub(super) fn shown(tool: &Tool, above: usize) -> (Vec<String>, Vec<DiffRows>) {
    let given;
    let files = match &tool.diff[..] {
        [] => {
            given = tool.call.as_ref().and_then(asked).into_iter().collect::<Vec<_>>();
            &given
        }
        files => files,
    };
    let (mut lines, mut rows) = (Vec::new(), Vec::new());
    for file in files {
        if files.len() > 1 {
            let words = [unseen::name(&file.path).into_owned(), file.kind.words()];
            lines.push(words.join(if words[1].is_empty() { "" } else { " · " }));
        }
        for (n, hunk) in file.hunks.iter().enumerate() {
            if n > 0 {
                lines.push(APART.to_owned());
            }
            let at = u32::try_from(above + lines.len()).unwrap_or(u32::MAX);
            let signs = hunk.lines.iter().filter_map(|it| it.chars().next()).collect();
            let (path, old, new) = (file.path.clone(), hunk.old, hunk.new);
            rows.push(DiffRows { path, at, old, new, signs });
            lines.extend(hunk.lines.iter().map(|it| spelled(it)));
        }
        if file.more > 0 {
            lines.push(format!("… {} more lines", file.more));
        }
    }
    (lines, rows)
}

/// The words in a call's line about its only file: whether it is new, deleted or renamed. The names of some tools say
/// this already.
pub(super) fn words(tool: &Tool) -> Shown {
    match &tool.diff[..] {
        [file]
            if file.kind != Kind::Changed
                && !matches!(Builtin::of(&tool.name), Some(Builtin::Delete | Builtin::Rename)) =>
        {
            Shown::of(&format!("  {}", file.kind.words()), PATH)
        }
        _ => Shown::default(),
    }
}

/// What a call asked to change, if the change was not made. Its place in the file is not known.
fn asked(call: &ToolCall) -> Option<FileDiff> {
    let Input::Json(input) = &call.input else { return None };
    let side = |sign: char, text: &Value| -> Vec<String> {
        text.as_str().unwrap_or_default().lines().map(|it| format!("{sign}{it}")).collect()
    };
    let whole = if call.is_of(Builtin::Write) { side('+', &input["text"]) } else { Vec::new() };
    let edits = input["edits"].as_array().into_iter().flatten();
    let hunks = edits.map(|it| [side('-', &it["old"]), side('+', &it["new"])].concat());
    let hunks = hunks.chain([whole]).filter(|it| !it.is_empty());
    let hunks = hunks.map(|lines| DiffHunk { old: 0, new: 0, lines }).collect();
    let path = input["path"].as_str().unwrap_or_default().to_owned();
    Some(FileDiff { hunks, ..FileDiff::whole(path, Kind::Changed) })
}
