//! The names of files in git's index. The format is described in git's `gitformat-index`; versions 2 to 4 are read.

use crate::regular;
use crate::rules::Tracked;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The largest index that is read: one with about 200,000 files.
const LARGEST: u64 = 20_000_000;
/// The lengths of a hash: SHA-1 and SHA-256.
const HASHES: [usize; 2] = [20, 32];
/// The bytes of an entry before the hash.
const STAT: usize = 40;

/// Of the files in the index of the repository around a folder, those for which `keep` holds. `None` without an index
/// that can be read.
pub(super) fn tracked(folder: &Path, keep: &mut dyn FnMut(&Path) -> bool) -> Option<Vec<Tracked>> {
    let (top, own) = folder.ancestors().find_map(|it| Some((it, own_folder(it)?)))?;
    let index = own.join("index");
    let bytes = match fs::metadata(&index) {
        Ok(it) if it.len() <= LARGEST => regular::read(&index).ok()?,
        _ => return None,
    };
    HASHES.iter().find_map(|hash| {
        let mut kept = Vec::new();
        let mut add = |name: &[u8], stat: [u32; 3]| {
            let path = top.join(std::ffi::OsStr::from_bytes(name));
            if keep(&path) {
                let is_changed = differs(&path, stat);
                kept.push(Tracked { path, is_changed });
            }
        };
        read(&bytes, *hash, &mut add)?;
        Some(kept)
    })
}

/// The folder in which git keeps what it knows of the work tree with this root.
fn own_folder(root: &Path) -> Option<PathBuf> {
    let path = root.join(".git");
    if path.is_dir() {
        return Some(path);
    }
    let text = regular::read_to_string(&path).ok()?;
    Some(root.join(text.strip_prefix("gitdir: ")?.trim_end()))
}

/// Whether a file has another time or another size than the index says.
fn differs(path: &Path, [seconds, nanos, size]: [u32; 3]) -> bool {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "as git keeps them"
    )]
    let is_same = |it: fs::Metadata| {
        it.mtime() as u32 == seconds
            && (nanos == 0 || it.mtime_nsec() as u32 == nanos)
            && it.size() as u32 == size
    };
    !fs::symlink_metadata(path).is_ok_and(is_same)
}

/// Calls `add` for each file, with its name, and with its time and its size. `None` if the bytes are no whole index with
/// hashes of this length.
fn read(bytes: &[u8], hash: usize, add: &mut dyn FnMut(&[u8], [u32; 3])) -> Option<()> {
    let number = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
    let (version, count) = (number(4)?, number(8)?);
    if !bytes.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let (mut at, mut name) = (12, Vec::new());
    for _ in 0..count {
        let flags = u16::from_be_bytes(bytes.get(at + STAT + hash..)?.get(..2)?.try_into().ok()?);
        let has_more = version > 2 && flags & 0x4000 != 0;
        let mut from = at + STAT + hash + if has_more { 4 } else { 2 };
        if version == 4 {
            let (stripped, begin) = varint(bytes, from)?;
            name.truncate(name.len().checked_sub(stripped)?);
            from = begin;
        } else {
            name.clear();
        }
        let rest = bytes.get(from..)?;
        let length = memchr::memchr(0, rest)?;
        name.extend_from_slice(&rest[..length]);
        if name.is_empty() {
            return None;
        }
        add(&name, [number(at + 8)?, number(at + 12)?, number(at + 36)?]);
        let end = from + length;
        // versions before 4 fill an entry with one to eight zeros up to a multiple of eight
        at = if version == 4 { end + 1 } else { at + ((end - at) / 8 + 1) * 8 };
    }
    extended(bytes, at, hash)
}

/// Whether extensions from this place lead to the hash at the end. An index that is split has its names elsewhere.
fn extended(bytes: &[u8], mut at: usize, hash: usize) -> Option<()> {
    let end = bytes.len().checked_sub(hash)?;
    while at < end {
        let head = bytes.get(at..at + 8)?;
        if head.starts_with(b"link") {
            return None;
        }
        let size = u32::from_be_bytes(head[4..].try_into().ok()?);
        at += 8 + usize::try_from(size).ok()?;
    }
    (at == end).then_some(())
}

/// A number of a length of its own, and the place behind it.
fn varint(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some((value, at + 1))
}
