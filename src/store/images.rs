//! The images of a session. Their files lie among the session's outputs, in the folder `name.outputs`.

use super::Store;
use super::outputs::{Outputs, folder};
use crate::message::{Block, Content, Image};
use crate::session::Session;
use std::io;

/// The largest image that is sent, in bytes. A larger file is none of Caliban's.
const LARGEST: usize = 5_000_000;

impl Outputs {
    /// Reads the images that a session has not read. Returns the number of missing images.
    pub(super) fn read_images(&self, name: &str, session: &mut Session) -> usize {
        let mut missing = 0;
        for image in images(session).filter(|it| matches!(it.content, Content::Unread)) {
            image.content = self.image(name, &image.file);
            missing += usize::from(matches!(image.content, Content::Missing));
        }
        missing
    }

    /// The content of an image's file. Anybody may have written the session's file and the image's, so the name has to
    /// be the hash of the content.
    fn image(&self, session: &str, file: &str) -> Content {
        let bytes = if Image::is_file(file) { self.bytes(session, file) } else { None };
        match bytes.filter(|it| it.len() <= LARGEST && Image::fits(file, it)) {
            Some(bytes) => Content::Read(bytes.into()),
            None => Content::Missing,
        }
    }
}

impl Store {
    /// Reads the images that the session has not read. Returns the number of missing images.
    pub fn read_images(&self, session: &mut Session) -> usize {
        self.outputs().read_images(&self.name, session)
    }

    /// Writes an image to its file, before any record names the file. If the file cannot be written, the image is lost
    /// when the session is closed.
    pub fn keep_image(&mut self, image: &Image) {
        let (file, Some(bytes)) = (&image.file, image.bytes()) else { return };
        if !Image::is_file(file) || self.kept.contains(file) {
            return;
        }
        if !matches!(self.outputs().image(&self.name, file), Content::Read(_))
            && let Err(error) = self.write_image(file, bytes)
        {
            return tracing::warn!("an image is not saved: {error}");
        }
        self.kept.insert(file.clone());
        self.unsynced.push(file.clone());
    }

    /// Like `keep_image`, for all images of a session that was copied or recovered, and whose images are read.
    pub(super) fn keep_images(&mut self, session: &mut Session) {
        for image in images(session) {
            self.keep_image(image);
        }
    }

    fn write_image(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let dir = folder(&self.dir, &self.name);
        self.disk.create_dir(&dir)?;
        self.disk.replace(&dir, file, bytes)
    }
}

fn images(session: &mut Session) -> impl Iterator<Item = &mut Image> {
    let blocks = session.messages.iter_mut().flat_map(|it| &mut it.blocks);
    blocks.flat_map(|it| match it {
        Block::Excerpt(it) => it.image.as_mut_slice().iter_mut(),
        Block::Answer(it) => it.images.iter_mut(),
        _ => [].iter_mut(),
    })
}
