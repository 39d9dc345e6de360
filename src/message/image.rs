//! An image that goes with a message or with a tool's answer. The session's file has only the image's file name; the
//! content is in a file of its own beside the session's file.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Providers count about one token for this many pixels.
const PIXELS: u64 = 750;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Image {
    /// The name of the file with the content: the hash of the content, and `.png` or `.jpg`.
    pub file: String,
    /// The size in pixels.
    pub width: u32,
    pub height: u32,
    #[serde(skip)]
    pub content: Content,
}

/// An image's bytes. The file's name is a hash of them, so the comparison of images ignores them.
#[derive(Clone, Default)]
pub enum Content {
    /// The file has not been read yet.
    #[default]
    Unread,
    Read(Arc<[u8]>),
    /// The file does not exist, or its content does not have the hash in its name.
    Missing,
}

/// Which images a provider takes in one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sight {
    /// The most images.
    pub most: Option<u32>,
    /// The most bytes of all images together.
    pub bytes: Option<u64>,
    /// The most pixels of an image's width and of its height.
    pub side: Option<u32>,
    /// The files of the images that the provider cannot read.
    pub unreadable: BTreeSet<String>,
    /// The files of images of which the provider cannot read at least one.
    pub doubtful: BTreeSet<String>,
}

impl Sight {
    /// How many of the oldest of these images are left out. So that the requests that follow have the same images, some
    /// more are left out than the limits demand.
    pub fn oldest(&self, images: &[&Image]) -> usize {
        let excess = |most: u64, all: u64| {
            let some = (most / 4).max(1);
            all.saturating_sub(most).div_ceil(some) * some
        };
        let sizes = || images.iter().map(|it| it.bytes().map_or(0, |it| it.len() as u64));
        let by_number = self.most.map_or(0, |it| excess(it.into(), images.len() as u64));
        let too_much = self.bytes.map_or(0, |it| excess(it, sizes().sum()));
        let mut left = too_much;
        let by_bytes = sizes().take_while(|it| {
            let is_out = left > 0;
            left = left.saturating_sub(*it);
            is_out
        });
        by_bytes.count().max(usize::try_from(by_number).unwrap_or(usize::MAX)).min(images.len())
    }
}

impl PartialEq for Content {
    fn eq(&self, _: &Content) -> bool {
        true
    }
}

impl Eq for Content {}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Unread => f.write_str("Unread"),
            Content::Read(bytes) => write!(f, "Read({} bytes)", bytes.len()),
            Content::Missing => f.write_str("Missing"),
        }
    }
}

impl Image {
    /// An image with this content. `ending` is `png` or `jpg`.
    pub fn new(bytes: Vec<u8>, ending: &str, (width, height): (u32, u32)) -> Image {
        let file = format!("{}.{ending}", digest(&bytes));
        Image { file, width, height, content: Content::Read(bytes.into()) }
    }

    /// Whether a name from a session's file can be the name of an image file. Anybody may have written the session's
    /// file, so names that lead to another folder are not accepted.
    pub fn is_file(name: &str) -> bool {
        let stem = name.strip_suffix(".png").or(name.strip_suffix(".jpg"));
        stem.is_some_and(|it| it.len() == 32 && it.bytes().all(|b| b.is_ascii_hexdigit()))
    }

    /// Whether the content has the hash in this file name, and the format that the name's ending says.
    pub fn fits(name: &str, bytes: &[u8]) -> bool {
        let begins = match name.rsplit_once('.') {
            Some((stem, "png")) => (stem, bytes.starts_with(b"\x89PNG\r\n\x1a\n")),
            Some((stem, "jpg")) => (stem, bytes.starts_with(b"\xff\xd8\xff")),
            _ => return false,
        };
        begins.1 && digest(bytes) == begins.0
    }

    pub fn bytes(&self) -> Option<&Arc<[u8]>> {
        match &self.content {
            Content::Read(bytes) => Some(bytes),
            Content::Unread | Content::Missing => None,
        }
    }

    /// The media type: `image/png` or `image/jpeg`.
    pub fn media(&self) -> &'static str {
        if self.is_png() { "image/png" } else { "image/jpeg" }
    }

    fn is_png(&self) -> bool {
        self.file.strip_suffix(".png").is_some()
    }

    /// The estimated number of tokens of the image.
    pub fn tokens(&self) -> u64 {
        (u64::from(self.width) * u64::from(self.height)).div_ceil(PIXELS)
    }

    /// Type and size: `PNG 800×600`.
    pub fn label(&self) -> String {
        let kind = if self.is_png() { "PNG" } else { "JPEG" };
        format!("{kind} {}×{}", self.width, self.height)
    }
}

/// The first half of the content's hash. Files with outputs of tools are named in the same way.
fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    format!("{digest:x}")[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_image_file_fits_only_content_with_its_hash_and_format() {
        let bytes = b"\x89PNG\r\n\x1a\nrest".to_vec();
        let image = Image::new(bytes.clone(), "png", (800, 600));
        assert!(Image::is_file(&image.file) && Image::fits(&image.file, &bytes));
        assert!(!Image::fits(&image.file, b"\x89PNG\r\n\x1a\nother"));
        assert!(!Image::fits(&image.file.replace("png", "jpg"), &bytes));
        let text = Image::new(b"no image".to_vec(), "png", (1, 1));
        assert!(!Image::fits(&text.file, b"no image"));
        for name in ["", "a.png", "../../../../../../../../../../etc/a.png", &"g".repeat(36)] {
            assert!(!Image::is_file(name), "{name}");
        }
        assert_eq!((image.media(), image.tokens()), ("image/png", 640));
        assert_eq!(image.label(), "PNG 800×600");
    }

    #[test]
    fn the_content_of_an_image_is_not_in_the_session_file() {
        let image = Image::new(b"\xff\xd8\xff".to_vec(), "jpg", (2, 1));
        let json = serde_json::to_string(&image).unwrap();
        assert_eq!(json, format!(r#"{{"file":"{}","width":2,"height":1}}"#, image.file));
        let back: Image = serde_json::from_str(&json).unwrap();
        assert!(matches!(back.content, Content::Unread) && back == image);
    }
}
