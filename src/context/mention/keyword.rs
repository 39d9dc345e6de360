//! Mentions by a keyword: `@buffer` or `@diff` means something that the user has in the editor or in git, not a file. A
//! file with such a name is mentioned as `@./buffer`.

mod code;
mod open;

pub(super) use open::file_beside;
#[cfg(test)]
mod tests;

use super::named::Mention;
use super::table::Keyword;
use crate::context::diff::{self, Diff, Target};
use crate::message::{Excerpt, ExcerptKind};
use crate::tool::Desk;

/// Reads the texts that a keyword means. The error is a sentence for the user: there is no such text, or the text may
/// not be read.
pub(super) async fn read(
    desk: &Desk,
    keyword: Keyword,
    mention: &Mention,
) -> Result<Vec<Excerpt>, String> {
    let read = match keyword {
        Keyword::Buffer => open::buffer(desk).await,
        Keyword::Buffers => open::buffers(desk).await,
        Keyword::Selection => open::selection(desk).await,
        Keyword::Diagnostics => code::diagnostics(desk).await,
        Keyword::Diff => changes(desk, &Target::Uncommitted).await,
        Keyword::Staged => changes(desk, &Target::Staged).await,
        Keyword::Quickfix => open::quickfix(desk).await,
        Keyword::Loclist => open::loclist(desk).await,
        Keyword::Clipboard => open::clipboard(desk).await,
    };
    let mut excerpts = read.map_err(|why| format!("`@{}`: {why}", mention.path))?;
    for it in &mut excerpts {
        it.keyword.clone_from(&mention.path);
    }
    Ok(excerpts)
}

async fn changes(desk: &Desk, target: &Target) -> Result<Vec<Excerpt>, String> {
    diff::check(desk).await?;
    let Diff { text, note } = diff::of(desk, target).await?;
    let (path, kind) = (target.say(), ExcerptKind::Diff);
    Ok(vec![Excerpt { path, kind, text, note, ..Excerpt::default() }])
}
