//! The images of a session. Their files are in the folder with the session's outputs, `name.outputs`.

use super::Store;
use super::outputs::{Outputs, folder};
use crate::message::{Block, Content, Image};
use crate::session::Session;
use std::io;

/// The most bytes of an image file. Caliban makes no larger ones, so a larger file is not read.
const LARGEST: usize = 5_000_000;

impl Outputs {
    /// Reads the image files of a session that were not read yet. Returns the number of missing images.
    pub(super) fn read_images(&self, name: &str, session: &mut Session) -> usize {
        let mut missing = 0;
        for image in images(session).filter(|it| matches!(it.content, Content::Unread)) {
            image.content = self.image(name, &image.file);
            missing += usize::from(matches!(image.content, Content::Missing));
        }
        missing
    }

    /// The content of an image file. Anybody may have written the session's file and the image file, so the content has
    /// to have the hash that is the file's name.
    fn image(&self, session: &str, file: &str) -> Content {
        let bytes = if Image::is_file(file) { self.bytes(session, file) } else { None };
        match bytes.filter(|it| it.len() <= LARGEST && Image::fits(file, it)) {
            Some(bytes) => Content::Read(bytes.into()),
            None => Content::Missing,
        }
    }
}

impl Store {
    /// Reads the session's image files that were not read yet. Returns the number of missing images.
    pub fn read_images(&self, session: &mut Session) -> usize {
        self.outputs().read_images(&self.name, session)
    }

    /// Writes an image to its file. This has to be done before the session's file or journal refers to the image. If
    /// the file cannot be written, the image is lost when the session is closed.
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

    /// Like `keep_image`, for all images of a session that was copied or recovered. Its images have to be in memory.
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
