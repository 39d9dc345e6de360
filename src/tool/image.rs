//! Reads images of the user and prepares them for models.

use crate::message::Image;
use crate::picture::{self, Kind, LARGEST, Picture};
use crate::regular::direct;
use crate::text::cause;
use std::io::{self, Read};
use std::path::Path;

/// The most images that go with one message.
pub const MOST: usize = 20;

/// An image, and a few words that say which image it is.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub image: Image,
    pub said: String,
}

/// Reads an image. `None` if the file is not an image, which is decided by its first bytes, not by its name. The error
/// is the rest of a sentence that begins with the file's name.
pub async fn load(path: &Path) -> Option<Result<Loaded, String>> {
    let path = path.to_owned();
    let loaded = tokio::task::spawn_blocking(move || load_now(&path)).await;
    loaded.unwrap_or_else(|error| Some(Err(format!("cannot be read: {}", cause(&error)))))
}

/// Prepares an image that came from elsewhere. The error is the rest of a sentence that begins with the image.
pub(super) async fn taken(bytes: Vec<u8>) -> Result<Loaded, String> {
    let made = move || match Kind::of(&bytes) {
        Some(kind) if bytes.len() as u64 <= LARGEST => made(&bytes, kind),
        Some(_) => Err("is too large".to_owned()),
        None => Err("is of an unknown kind".to_owned()),
    };
    let taken = tokio::task::spawn_blocking(made).await;
    taken.unwrap_or_else(|error| Err(format!("cannot be read: {}", cause(&error))))
}

fn load_now(path: &Path) -> Option<Result<Loaded, String>> {
    match head(path) {
        Ok((kind, size, file)) => Some(read(file, kind?, size)),
        Err(fault) => Some(Err(format!("cannot be read: {}", cause(&fault)))),
    }
}

type Head = (Option<Kind>, u64, io::Chain<io::Cursor<Vec<u8>>, std::fs::File>);

fn head(path: &Path) -> io::Result<Head> {
    let mut file = direct::open(path)?;
    let size = file.metadata()?.len();
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(16).read_to_end(&mut bytes)?;
    let kind = Kind::of(&bytes);
    Ok((kind, size, io::Cursor::new(bytes).chain(file)))
}

fn read(file: impl Read, kind: Kind, size: u64) -> Result<Loaded, String> {
    if size > LARGEST {
        return Err(format!(
            "is an image of {} MB; at most {} MB are read",
            size / 1_000_000,
            LARGEST / 1_000_000
        ));
    }
    let mut bytes = Vec::new();
    let read = file.take(LARGEST).read_to_end(&mut bytes);
    read.map_err(|fault| format!("cannot be read: {}", cause(&fault)))?;
    made(&bytes, kind)
}

/// Prepares an image for models. This takes long for a large image.
fn made(bytes: &[u8], kind: Kind) -> Result<Loaded, String> {
    let Picture { bytes, ending, size, from } = picture::prepare(bytes, kind)?;
    let scaled = from.map(|(width, height)| format!(", scaled down from {width}×{height}"));
    let (width, height) = size;
    let said =
        format!("{} image, {width}×{height} pixels{}", kind.name(), scaled.unwrap_or_default());
    Ok(Loaded { image: Image::new(bytes, ending, size), said })
}
