//! Applies a change to a text. If the change does not match at exactly one place, it is a misfit. Nothing outside of
//! the match changes.

use super::back::{Splice, Step, splice};
use super::change::{Change, Replacement};
use super::chunk;
use super::ladder::{self, Found, Place};
use super::misfit::Misfit;
use super::places::{
    PLACES, absent, ambiguous, fitted, nul, places, refuse_placeholder, tolerated,
};
use crate::text::Text;

/// Applies a change to `text`, which is `None` if there is no file. Returns a note for the model: which differences
/// were tolerated, and where; empty for an exact match. If the change does not fit, the text stays unchanged.
pub fn resolve(text: &mut Option<Text>, change: &Change) -> Result<String, Misfit> {
    Ok(amend(text, change)?.0)
}

/// Like `resolve`, and also returns the step that undoes the change. The text is changed in place because a reply may
/// have thousands of edits, and copying a long text for each edit would take longer than searching it.
pub(super) fn amend(text: &mut Option<Text>, change: &Change) -> Result<(String, Step), Misfit> {
    let new = match (change, text.as_mut()) {
        (Change::Write { text: given }, Some(now)) if !now.content.is_empty() => {
            overwritten(now, given)?
        }
        (Change::Write { text: given }, now) => fresh(now.as_deref(), given)?,
        (Change::Create { .. }, Some(_)) => return Err(Misfit::Exists),
        (Change::Create { text: given }, None) => fresh(None, given)?,
        (Change::Patch(chunks), Some(now)) => return chunk::patch(now, chunks),
        (Change::Become { from, content }, Some(now)) if now.sha256_hex() == *from => {
            Text { content: content.clone(), ..*now }
        }
        (Change::Become { .. }, _) => {
            let why = "its text changed after the language server read it; call the tool again";
            return Err(Misfit::Refused(why.to_owned()));
        }
        (Change::Whole(_), Some(_)) => return Ok((String::new(), Step::Places(Vec::new()))),
        (Change::Replace(one), None) if one.old.is_empty() => fresh(None, &one.new)?,
        (Change::Replace(_) | Change::Patch(_) | Change::Whole(_), None) => {
            return Err(Misfit::NoFile);
        }
        (Change::Replace(one), Some(now)) if !one.old.is_empty() => return replace(now, one),
        (Change::Replace(one), Some(now)) if now.content.is_empty() => fresh(Some(now), &one.new)?,
        (Change::Replace(_), Some(_)) => return Err(Misfit::EmptyOld),
    };
    Ok((String::new(), Step::Whole(text.replace(new))))
}

/// The text for a new or an empty file. Keeps the newline style and the byte order mark of `given`.
fn fresh(before: Option<&Text>, given: &str) -> Result<Text, Misfit> {
    let mut text = Text::decode(given.as_bytes()).map_err(|_| nul())?;
    refuse_placeholder("", given)?;
    text.bom |= before.is_some_and(|before| before.bom);
    if before == Some(&text) { Err(Misfit::Unchanged) } else { Ok(text) }
}

fn overwritten(before: &Text, given: &str) -> Result<Text, Misfit> {
    let content = fitted(before, given)?.into_owned();
    refuse_placeholder(&before.content, &content)?;
    if content == before.content {
        return Err(Misfit::Unchanged);
    }
    Ok(Text { content, ..*before })
}

fn replace(text: &mut Text, one: &Replacement) -> Result<(String, Step), Misfit> {
    let (old, new) = (fitted(text, &one.old)?, fitted(text, &one.new)?);
    if old == new {
        return Err(Misfit::Unchanged);
    }
    refuse_placeholder(&old, &new)?;
    let most = if one.everywhere { usize::MAX } else { PLACES };
    let content = &text.content;
    let exact = places(content, &old, most).map(|at| Place::of(at..at + old.len()));
    let found = Found::exact(content, &old, &new, exact.collect())
        .or_else(|| ladder::climb(content, &old, &new, most, |places| places))
        .ok_or_else(|| absent(text, &old, &new))?;
    if found.places.len() > 1 && !one.everywhere {
        return Err(ambiguous(content, found));
    }
    let mut splices: Vec<Splice> = Vec::new();
    for place in &found.places {
        if splices.last().is_none_or(|it| it.0.end <= place.bytes.start) {
            let new = found.new_at(place).ok_or_else(|| absent(text, &old, &new))?;
            splices.push((place.bytes.start..place.bytes.end, new.into_owned()));
        }
    }
    let note = tolerated("`old`", content, &found.places, &found.rungs);
    let stood = splice(&mut text.content, &splices).ok_or(Misfit::Unchanged)?;
    Ok((note, Step::Places(stood)))
}
