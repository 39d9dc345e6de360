//! Images in a request: the image itself, or a sentence that tells the model why it does not get the image.

use super::excerpt::fenced;
use crate::message::{Block, Content, Excerpt, Image, Message, Sight};

const BLIND: &str = "the image is not shown to you, because this model takes no images";
const MISSING: &str =
    "the image is missing: its file beside the conversation is gone or was changed";

const UNREADABLE: &str = "the image is not shown to you, because the provider cannot read it";
const DOUBTFUL: &str = "the image is not shown to you, because the provider cannot read it, or another one that came \
                        with it";
const OLD: &str =
    "the image is not shown to you any more, because the provider limits the images of a request";
const LARGE: &str = "the image is not shown to you, because it is larger than the provider takes";

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

/// Replaces by a sentence each image that the provider does not take.
pub(super) fn fit(messages: &mut [Message], sight: &Sight) {
    if *sight == Sight::default() {
        return;
    }
    let images = messages.iter().flat_map(|it| &it.blocks).flat_map(images_of);
    let taken: Vec<&Image> = images.filter(|it| untaken(it, sight).is_none()).collect();
    let mut old = sight.oldest(&taken);
    let mut why = |image: &Image| {
        untaken(image, sight).or_else(|| {
            let is_old = old > 0;
            old = old.saturating_sub(1);
            is_old.then_some(OLD)
        })
    };
    for block in messages.iter_mut().flat_map(|it| &mut it.blocks) {
        match block {
            Block::Image(image) => {
                if let Some(why) = why(image) {
                    *block = Block::Text { text: format!("[{why}]") };
                }
            }
            Block::Answer(answer) => answer.images.retain(|image| match why(image) {
                Some(why) => {
                    answer.text = format!("{}\n[{why}]", answer.text.trim_end());
                    false
                }
                None => true,
            }),
            _ => (),
        }
    }
}

/// The images in a block of a request.
pub fn images_of(block: &Block) -> &[Image] {
    match block {
        Block::Image(image) => std::slice::from_ref(image),
        Block::Answer(answer) => &answer.images,
        _ => &[],
    }
}

/// Why the provider does not take an image; `None` if the provider takes the image unless there are too many.
fn untaken(image: &Image, sight: &Sight) -> Option<&'static str> {
    if sight.unreadable.contains(&image.file) {
        return Some(UNREADABLE);
    } else if sight.doubtful.contains(&image.file) {
        return Some(DOUBTFUL);
    }
    let side = image.width.max(image.height);
    sight.side.is_some_and(|most| side > most).then_some(LARGE)
}
