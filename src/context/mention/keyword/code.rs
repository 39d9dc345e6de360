//! The keywords whose texts come from the user's language servers.

use super::open;
use crate::message::{Excerpt, ExcerptKind};
use crate::tool::{Desk, diagnostics};

/// The diagnostics of the buffer beside the chat, or of all files if nothing is reported on the buffer.
pub(super) async fn diagnostics(desk: &Desk) -> Result<Vec<Excerpt>, String> {
    let beside = open::file_beside(desk).await;
    let of_file = match beside {
        Ok(Some(file)) => match diagnostics::of(desk, Some(file.path)).await {
            Ok((1.., text)) => return Ok(vec![excerpt(file.shown, text)]),
            Ok((_, notes)) => Some(notes),
            Err(why) => Some(why),
        },
        Ok(None) => None,
        // the diagnostics of a buffer that may not be read are left out, but other files may have diagnostics
        Err(why) => Some(why),
    };
    let of_all = match diagnostics::of(desk, None).await {
        Ok((1.., text)) => return Ok(vec![excerpt("all files".to_owned(), text)]),
        Ok((_, notes)) => notes,
        Err(why) => why,
    };
    let why = of_file.filter(|it| !it.is_empty()).unwrap_or(of_all);
    Err(if why.is_empty() { "Nothing is reported.".to_owned() } else { why })
}

fn excerpt(path: String, text: String) -> Excerpt {
    Excerpt { path, kind: ExcerptKind::Diagnostics, text, ..Excerpt::default() }
}
