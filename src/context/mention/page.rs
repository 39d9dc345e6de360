//! `@https://example.org/page`: a web page. By writing the address, the user agrees that the page is fetched.

use super::named::Mention;
use crate::message::{Excerpt, ExcerptKind};
use crate::tool::{Desk, clip};
use crate::view::grouped;
use crate::web::address::Address;

/// The most bytes of a page that go with a message.
const LIMIT: usize = 256 * 1024;

/// Whether a word after an `@` is the address of a web page.
pub(super) fn is_address(word: &str) -> bool {
    let begins =
        |with: &str| word.get(..with.len()).is_some_and(|it| it.eq_ignore_ascii_case(with));
    begins("https://") || begins("http://")
}

/// The number of bytes of the address that a text begins with. Punctuation at the end does not belong to the address,
/// nor does a closing bracket without an opening bracket in the address.
pub(super) fn length(text: &str) -> usize {
    let end = text.find(|c: char| c.is_whitespace() || "`\"<>".contains(c)).unwrap_or(text.len());
    let mut word = &text[..end];
    loop {
        let shorter = word.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'']);
        let is_unopened = |close: char, open: char| {
            shorter.ends_with(close)
                && shorter.matches(close).count() > shorter.matches(open).count()
        };
        let is_closed =
            [(')', '('), (']', '['), ('}', '{')].iter().any(|it| is_unopened(it.0, it.1));
        let next = if is_closed { &shorter[..shorter.len() - 1] } else { shorter };
        if next.len() == word.len() {
            return word.len();
        }
        word = next;
    }
}

fn address(mention: &Mention) -> Result<Address, String> {
    Address::parse(&mention.path).map_err(|why| format!("`@{}` {why}.", mention.path))
}

pub(super) fn host(mention: &Mention) -> Option<String> {
    Some(address(mention).ok()?.host())
}

/// A placeholder for the page in a message that the user is still writing: the page is fetched only when the message is
/// sent.
pub(super) fn announced(mention: &Mention) -> Result<Excerpt, String> {
    let (path, kind) = (address(mention)?.host(), ExcerptKind::Page);
    let note = "not fetched yet".to_owned();
    Ok(Excerpt { path, kind, note, ..Excerpt::default() })
}

/// Fetches the page. The error is a sentence for the user.
pub(super) async fn read(desk: &Desk, mention: &Mention) -> Result<Excerpt, String> {
    let address = address(mention)?;
    let fetched = desk.web.fetch(&address).await;
    let page = fetched.map_err(|why| format!("`@{}` {why}.", mention.path))?;
    if let Some(why) = &page.refused {
        return Err(format!("`@{}` {why}.", mention.path));
    }
    let mut text = clip::clean(&page.text);
    if text.trim().is_empty() {
        return Err(format!("`@{}` has no text.", mention.path));
    }
    let mut notes: Vec<String> =
        page.hops.last().map(|it| format!("redirected to {it}")).into_iter().collect();
    if text.len() > LIMIT {
        let all = text.chars().count();
        text.truncate((0..=LIMIT).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0));
        let kept = text.chars().count();
        notes.push(format!(
            "The page is cut: {} of {} characters. Call fetch for the rest, with offset {}",
            grouped(kept as u64),
            grouped(all as u64),
            kept + 1
        ));
    }
    let (path, kind, note) = (address.as_str().to_owned(), ExcerptKind::Page, notes.join("; "));
    Ok(Excerpt { path, kind, text, note, ..Excerpt::default() })
}
