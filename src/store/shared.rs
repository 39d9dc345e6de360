//! Small JSON files that several Neovims may change at the same time.

use crate::regular;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// The value in a file; the default if the file is missing or damaged.
pub(super) fn read<T: DeserializeOwned + Default>(file: &Path) -> T {
    let bytes = regular::read(file).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Changes the value in a file. Blocks while another program changes it.
pub(super) fn update<T: DeserializeOwned + Serialize + Default>(
    file: &Path,
    change: impl FnOnce(&mut T),
) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let options = &mut File::options();
    let options = options.write(true).create(true).truncate(true);
    let lock = regular::open_with(options, &file.with_extension("lock"))?;
    lock.lock()?;
    let mut value = read(file);
    change(&mut value);
    let mut whole = tempfile::NamedTempFile::new_in(folder)?;
    whole.write_all(serde_json::to_string_pretty(&value)?.as_bytes())?;
    whole.persist(file)?;
    Ok(())
}
