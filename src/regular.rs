//! Opens only regular files. Opening a pipe would wait for its other end, opening a device may have any effect, and
//! reading from a pipe or device may never end.

pub mod direct;

use rustix::fs::OFlags;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file to read it. Links are followed.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(File::options().read(true), path)
}

/// Opens a regular file with these options, or creates the file if the options say so. Links are followed.
pub fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    opened(options, path, std::fs::metadata(path), OFlags::empty())
}

/// Like `open_with`, but refuses a symbolic link, because it could lead elsewhere.
pub fn open_unlinked(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    opened(options, path, std::fs::symlink_metadata(path), OFlags::NOFOLLOW)
}

fn opened(
    options: &mut OpenOptions,
    path: &Path,
    there: io::Result<Metadata>,
    flags: OFlags,
) -> io::Result<File> {
    // This check prevents the opening of devices. The check after `open` detects a file that got the same name between
    // this check and the opening.
    match there {
        Ok(there) => check(&there)?,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => (),
        Err(fault) => return Err(fault),
    }
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// The bytes of a regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Like `read`, but reads on another thread, which may block.
pub async fn read_apart(path: &Path) -> io::Result<Vec<u8>> {
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || read(&path)).await.map_err(io::Error::other)?
}

/// The beginning of a regular file as text, at most `most` bytes. The size in the file's metadata is not used, because
/// a sparse file may have any size.
pub fn head(path: &Path, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text of a regular file.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

fn check(meta: &Metadata) -> io::Result<()> {
    if meta.is_file() {
        Ok(())
    } else if meta.is_dir() {
        Err(rustix::io::Errno::ISDIR.into())
    } else {
        Err(io::Error::other(ODD))
    }
}

/// Why a path was not opened: the end of a sentence.
pub const ODD: &str = "it is a device, a pipe or a socket";

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, mkfifoat};
    use std::os::unix::net::UnixListener;

    #[test]
    fn pipes_sockets_and_devices_are_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        mkfifoat(CWD, at("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        std::os::unix::fs::symlink(at("pipe"), at("link to a pipe")).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        assert_eq!(read(&at("file")).unwrap(), b"text");
        assert_eq!(read_to_string(&at("link")).unwrap(), "text");
        File::create(at("sparse")).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(head(&at("sparse"), 3).unwrap(), "\0\0\0");
        for odd in ["pipe", "link to a pipe", "socket", "/dev/zero", "/dev/null"] {
            assert_eq!(read(&at(odd)).unwrap_err().to_string(), ODD, "{odd}");
            let write = open_with(File::options().write(true).create(true), &at(odd));
            assert_eq!(write.unwrap_err().to_string(), ODD, "{odd}");
        }
        assert_eq!(open(dir.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(open(&at("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
        for (name, opens) in [("file", true), ("link", false), ("pipe", false)] {
            let opened = open_unlinked(File::options().read(true), &at(name));
            assert_eq!(opened.is_ok(), opens, "{name}");
        }
        open_with(File::options().write(true).create(true), &at("made")).unwrap();
        assert_eq!(read(&at("made")).unwrap(), b"");
    }
}
