//! Reads the text of a PDF in the user's files.

use super::{Desk, Source, Unreadable, list};
use crate::pdf;
use crate::regular::direct;
use crate::text::{Text, cause};
use std::io::{Read, Seek};
use std::path::Path;

/// Whether a file may be a PDF, from the result of reading it as text. A PDF without NUL bytes can be read as text.
pub fn may_be(read: &Result<Source, Unreadable>) -> bool {
    match read {
        Ok(source) => pdf::begins(source.text.content.as_bytes()),
        Err(Unreadable::Binary | Unreadable::NotUtf8 | Unreadable::TooLarge(_)) => true,
        Err(_) => false,
    }
}

/// The text of a PDF. `None` if the file is not a PDF, which is decided by its first bytes, not by its name. The error
/// is the rest of a sentence that begins with the file's name.
pub async fn load(desk: &Desk, path: &Path) -> Option<Result<Text, String>> {
    let mut file = direct::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(8).read_to_end(&mut head).ok()?;
    if !pdf::begins(&head) {
        return None;
    }
    if size > pdf::LARGEST {
        return Some(Err(format!(
            "is a PDF of {}; at most {} are read",
            list::size(size),
            list::size(pdf::LARGEST)
        )));
    }
    if let Err(fault) = file.rewind() {
        return Some(Err(format!("cannot be read: {}", cause(&fault))));
    }
    Some(pdf::text(&desk.program, file).await.map(|it| Text::new(&it)))
}
