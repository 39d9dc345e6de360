//! Finds out cheaply that most of a long text has no secret.

use super::forms::{FORMS, is_part};
use super::pem;
use memchr::memmem;

/// A shorter text is always examined in full.
pub(super) const SHORT: usize = 1024;
/// How many bytes at the end of a text are always examined, because a prefix of a secret may begin there. No prefix is
/// longer.
const TAIL: usize = 64;

/// How many bytes at the beginning of a text certainly belong to no secret of a known form. The text must not begin
/// inside a secret.
pub(super) fn length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let begins =
        |prefix: &str| memmem::find_iter(bytes, prefix).any(|at| may_begin_word(&bytes[..at]));
    if text.len() < SHORT
        || FORMS.iter().any(|it| begins(it.prefix))
        || memmem::find(bytes, pem::BEGIN.as_bytes()).is_some()
    {
        return 0;
    }
    // an escaped newline is not cut
    let is_end = |at: &usize| text.is_char_boundary(*at) && bytes[at - 1] != b'\\';
    (1..bytes.len() - TAIL).rev().find(is_end).unwrap_or(0)
}

/// Whether a word may begin after these bytes.
fn may_begin_word(before: &[u8]) -> bool {
    match before {
        [] | [.., b'\\', _] => true,
        [.., last] => !is_part(char::from(*last)),
    }
}
