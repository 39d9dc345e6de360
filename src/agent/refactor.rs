//! Turns the changes that a language server proposes into edits like those of a model.

use crate::edit::{Change, Edit, Whole};
use crate::text::Text;
use crate::tool::lsp::{Aspect, Question, Rewrite, Splice};
use crate::tool::{self, Desk, Resolved};

/// The edits in the language server's answer, with their paths resolved and checked. Empty if the text is already
/// formatted. An error is a sentence for the model.
pub(super) async fn edits(
    desk: &Desk,
    question: Result<Question, String>,
) -> Result<Resolved, String> {
    let question = question?;
    let (aspect, action) = (question.aspect, question.name.clone().unwrap_or_default());
    let found = desk.workspace.consult(question).await?;
    if found.rewrites.is_empty() {
        return match aspect {
            _ if !found.notes.is_empty() => {
                Err(format!("Nothing was changed. {}.", found.notes.join("; ")))
            }
            Aspect::Format => Ok(Resolved::default()),
            Aspect::Action => Err(format!(
                "action: no action `{action}` is offered there now. Call code_action without `action` for the list."
            )),
            _ => Err(
                "The language server found nothing to rename. Check the symbol's name and place."
                    .to_owned(),
            ),
        };
    }
    let mut all = Resolved::default();
    for Rewrite { path, sha, splices, deleted, to } in found.rewrites {
        let shown = desk.shown(&path);
        let mut changes = Vec::new();
        if !splices.is_empty() {
            let real = tool::path::resolve(desk, &path.to_string_lossy())?;
            let source = desk.workspace.read(&real).await;
            let text =
                source.map_err(|why| format!("Nothing was changed: {shown} {}.", why.say()))?.text;
            let content = spliced(&text, &splices).ok_or_else(|| {
                format!(
                    "Nothing was changed: the language server's edits do not fit the text of {shown}."
                )
            })?;
            if content != text.content {
                changes.push(Change::Become { from: sha, content });
            }
        }
        changes.extend(to.map(|to| Change::Whole(Whole::Rename { to })));
        changes.extend(deleted.then_some(Change::Whole(Whole::Delete)));
        for change in changes {
            let edit = Edit { path: path.clone(), change };
            tool::resolved(desk, edit, &mut all)
                .map_err(|why| format!("Nothing was changed. {why}"))?;
        }
    }
    Ok(all)
}

/// The text after the changes. For a position below the last line, the editor gives the offset behind a final newline.
/// If the text has no final newline, this offset is one too large, and the end of the text is meant.
fn spliced(text: &Text, splices: &[Splice]) -> Option<String> {
    let end = text.content.len();
    let within = |at: u32| if at as usize == end + 1 { end } else { at as usize };
    let (mut out, mut at) = (String::with_capacity(end), 0);
    for Splice { from, to, text: new } in splices {
        let (from, to) = (within(*from), within(*to));
        out.push_str(text.content.get(at..from)?);
        text.content.get(from..to)?;
        out.push_str(new);
        at = to;
    }
    out.push_str(text.content.get(at..)?);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splices_that_overlap_or_lie_outside_the_text_are_refused() {
        let text = Text::new("aé b\n");
        let one = |from, to| Splice { from, to, text: "X".to_owned() };
        assert_eq!(spliced(&text, &[one(0, 1), one(4, 5)]).as_deref(), Some("Xé X\n"));
        assert_eq!(spliced(&text, &[one(1, 1)]).as_deref(), Some("aXé b\n"));
        assert_eq!(spliced(&text, &[one(0, 6)]).as_deref(), Some("X"));
        assert_eq!(spliced(&Text::new("ab"), &[one(0, 3)]).as_deref(), Some("X"));
        for wrong in
            [vec![one(0, 2)], vec![one(4, 99)], vec![one(3, 1)], vec![one(3, 5), one(0, 1)]]
        {
            assert_eq!(spliced(&text, &wrong), None);
        }
    }
}
