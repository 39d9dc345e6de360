//! Turns the changes that a language server or a formatter proposes into edits like those of a model.

use crate::edit::{Change, Edit, Whole};
use crate::event::{Access, Post};
use crate::text::Text;
use crate::tool::formatter::Formatter;
use crate::tool::lsp::{Aspect, Question, Rewrite, Splice};
use crate::tool::{self, Desk, Resolved, Unreadable};
use std::path::Path;
use tokio::sync::watch;

/// The edits of a call.
pub(super) enum Edits {
    Made(Resolved),
    /// They need a command, to which the user has not agreed yet.
    Need(Access),
}

/// The edits in the language server's answer, with their paths resolved and checked. Empty if the text is already
/// formatted. If no server formats the file, the user's formatters make the edits; `agreed` is their command, if it may
/// run. When `stopped` turns true, they are ended. An error is a sentence for the model.
pub(super) async fn edits(
    desk: &Desk,
    question: Question,
    agreed: Option<&String>,
    stopped: &mut watch::Receiver<bool>,
) -> Result<Edits, String> {
    let (aspect, action) = (question.aspect, question.name.clone().unwrap_or_default());
    let found = desk.workspace.consult(question.clone()).await?;
    if let Some(formatter) = found.formatter {
        return tokio::select! {
            edits = formatted(desk, &question, &formatter, agreed) => edits,
            _ = stopped.wait_for(|it| *it) => Err("The user stopped the turn.".to_owned()),
        };
    }
    if found.rewrites.is_empty() {
        return none(aspect, &action, &found.notes).map(Edits::Made);
    }
    let mut all = Resolved::default();
    for Rewrite { path, sha, splices, created, deleted, to } in found.rewrites {
        let shown = desk.shown(&path);
        let mut changes = Vec::new();
        if created {
            changes.push(created_file(&splices, &shown)?);
        } else if !splices.is_empty() {
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
    Ok(Edits::Made(all))
}

/// Returns the edits, or a refusal if a worker does not own one of their paths: a language server may change any file.
pub(super) fn owned(edits: Edits, post: Option<&Post>, root: &Path) -> Result<Edits, String> {
    if let (Edits::Made(all), Some(post)) = (&edits, post) {
        let mut paths = all.edits.iter().flat_map(Edit::paths);
        let refusal = paths.find_map(|it| post.refusal(&tool::path::unmistakable(root, it)));
        refusal.map_or(Ok(()), Err)?;
    }
    Ok(edits)
}

/// The answer to a question to which the servers gave no changes.
fn none(aspect: Aspect, action: &str, notes: &[String]) -> Result<Resolved, String> {
    match aspect {
        _ if !notes.is_empty() => Err(format!("Nothing was changed. {}.", notes.join("; "))),
        Aspect::Format => Ok(Resolved::default()),
        Aspect::Action => Err(format!(
            "action: no action `{action}` is offered there now. Call code_action without `action` for the list."
        )),
        _ => Err("The language server found nothing to rename. Check the symbol's name and place."
            .to_owned()),
    }
}

/// The creation of a file. The review shows only lines, so a file without a text is refused.
fn created_file(splices: &[Splice], shown: &str) -> Result<Change, String> {
    match spliced(&Text::default(), splices) {
        Some(text) if !text.is_empty() => Ok(Change::Create { text }),
        _ => Err(format!(
            "Nothing was changed: the language server would create {shown} as an empty file, which cannot be reviewed. \
             Make the change yourself."
        )),
    }
}

/// The edits by which the user's formatters format a file.
async fn formatted(
    desk: &Desk,
    question: &Question,
    formatter: &Formatter,
    agreed: Option<&String>,
) -> Result<Edits, String> {
    let (path, command) = (question.path.clone().unwrap_or_default(), formatter.command());
    match agreed {
        None => {
            let path = tool::path::unmistakable(&desk.root, &path);
            return Ok(Edits::Need(Access::Format { command, path }));
        }
        Some(it) if *it != command => {
            return Err(format!(
                "Nothing was changed: the formatter's command is now `{command}`. Call format again."
            ));
        }
        Some(_) => (),
    }
    let source = desk.workspace.read(&path).await;
    let unreadable =
        |why: Unreadable| format!("Nothing was changed: {} {}.", desk.shown(&path), why.say());
    let text = source.map_err(unreadable)?.text;
    let lines = question.last.map(|last| (question.line, last));
    let content = formatter.format(desk, &text, lines).await?;
    let mut all = Resolved::default();
    if content != text.content {
        let change = Change::Become { from: text.sha256_hex(), content };
        tool::resolved(desk, Edit { path, change }, &mut all)
            .map_err(|why| format!("Nothing was changed. {why}"))?;
    }
    Ok(Edits::Made(all))
}

/// The text after the changes. For a position below the last line, the editor gives the offset after a final newline.
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
    use crate::event::{WorkerId, WorkerRole};

    #[test]
    fn renaming_a_symbol_is_refused_if_the_worker_does_not_own_every_changed_file() {
        let owns = vec!["src/a.rs".to_owned()];
        let post = Post { worker: WorkerId(1), role: WorkerRole::Implementer, owns };
        let edits = |paths: &[&str]| {
            let edit = |path: &&str| Edit {
                path: Path::new("/p").join(path),
                change: Change::Whole(Whole::Delete),
            };
            let edits = paths.iter().map(edit).collect();
            Edits::Made(Resolved { edits, ..Resolved::default() })
        };
        let refusal = |edits| owned(edits, Some(&post), Path::new("/p")).err();
        assert_eq!(refusal(edits(&["src/a.rs"])), None);
        let why = refusal(edits(&["src/a.rs", "src/b.rs"])).unwrap();
        assert!(why.starts_with("Not edited: `src/b.rs` is not yours."), "{why}");
        assert!(owned(edits(&["src/b.rs"]), None, Path::new("/p")).is_ok());
        let to = "/p/src/c.rs".into();
        let moved =
            Edit { path: "/p/src/a.rs".into(), change: Change::Whole(Whole::Rename { to }) };
        let moved = Edits::Made(Resolved { edits: vec![moved], ..Resolved::default() });
        assert!(refusal(moved).is_some());
    }

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
