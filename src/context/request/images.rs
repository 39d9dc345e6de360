//! Images in a request: the image itself, or a sentence that tells the model why it does not get the image.

use super::fenced;
use crate::message::{Block, Content, Excerpt, Image};

const BLIND: &str = "the image is not shown to you, because this model takes no images";
const MISSING: &str =
    "the image is missing: its file beside the conversation is gone or was changed";

/// Why the model does not get an image. `None` if the model gets it.
fn unseen(image: &Image, is_blind: bool) -> Option<&'static str> {
    match image.content {
        _ if is_blind => Some(BLIND),
        Content::Read(_) => None,
        Content::Unread | Content::Missing => Some(MISSING),
    }
}

/// The text of an excerpt, and its image if it has one.
pub(super) fn with_image(excerpt: &Excerpt, is_blind: bool, mark: &str) -> Vec<Block> {
    let Some(image) = &excerpt.image else {
        return vec![Block::Text { text: fenced(excerpt, mark) }];
    };
    if let Some(why) = unseen(image, is_blind) {
        let note = [&*excerpt.note, why].into_iter().filter(|it| !it.is_empty());
        let note = note.collect::<Vec<_>>().join("; ");
        return vec![Block::Text { text: fenced(&Excerpt { note, ..excerpt.clone() }, mark) }];
    }
    vec![Block::Text { text: fenced(excerpt, mark) }, Block::Image(image.clone())]
}

/// The text of an answer, with a note for each image that the model does not get, and the other images.
pub(super) fn apart(text: &str, images: &[Image], is_blind: bool) -> (String, Vec<Image>) {
    let (mut text, mut seen) = (text.to_owned(), Vec::new());
    for image in images {
        match unseen(image, is_blind) {
            Some(why) => text = format!("{}\n[{why}]", text.trim_end()),
            None => seen.push(image.clone()),
        }
    }
    (text, seen)
}
