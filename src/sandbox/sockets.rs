//! Finds the sockets in the file system at which programs outside of the sandbox listen. A network namespace does not keep
//! a command from them. The text by which a socket was bound is not its place: the text may be relative, and the file may
//! have been renamed or linked since. So the kernel is asked for the inodes of the files too.

use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirEntryExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The most entries of the project's folders among which a renamed socket is searched for, and one that was bound by a
/// relative name and is nowhere else.
const MOST: usize = 2_000;
const MOST_RELATIVE: usize = 50_000;
/// Variables with the folder in which a program was started, and with others from which programs are started.
const STARTED: [&str; 3] = ["PWD=", "OLDPWD=", "HOME="];
/// The most bytes of an answer of the kernel.
const ANSWER: usize = 1 << 16;
/// See `linux/netlink.h`: the type of the last message of an answer, and the length of a message's header.
const DONE: u16 = 3;
const HEADER: usize = 16;

/// A socket that is bound to a file.
struct Bound {
    /// The inode of the socket itself, not that of its file.
    number: u32,
    /// The text by which it was bound.
    name: PathBuf,
    /// The lowest 32 bits of the file's inode.
    inode: u32,
}

/// The files of such sockets. `root` is the project, in which renamed ones are searched for. `holder` is the process that
/// holds the network of the conversation: the sockets in it belong to its commands.
pub(super) fn outside(root: Option<&Path>, holder: Option<u32>) -> Result<Vec<PathBuf>, String> {
    let mut found: BTreeSet<PathBuf> = named(Path::new("/proc/self/net/unix"))
        .map_err(|it| format!("sockets: {it}"))?
        .into_iter()
        .collect();
    for list in elsewhere(holder) {
        // the process may have ended
        found.extend(named(&list).unwrap_or_default());
    }
    let all = bound().unwrap_or_default();
    let mut lost: Vec<&Bound> = Vec::new();
    for it in &all {
        let there = fs::metadata(&it.name).ok().filter(|_| it.name.is_absolute());
        let there = there.filter(|there| low(there.ino()) == it.inode);
        if there.is_some() {
            found.insert(it.name.clone());
        }
        // a file with several links has other names too
        if there.is_none_or(|it| it.nlink() > 1) {
            lost.push(it);
        }
    }
    if !lost.is_empty() {
        let owners = owners(&lost);
        search(&lost, &owners, root, &mut found);
    }
    Ok(found.into_iter().collect())
}

/// The absolute names in a list of sockets.
fn named(list: &Path) -> std::io::Result<Vec<PathBuf>> {
    let path = |line: &[u8]| {
        // seven fields, and then the path to the end of the line; see proc_pid_net(5)
        let start = line.iter().position(|it| *it == b'/')?;
        Some(PathBuf::from(OsStr::from_bytes(&line[start..])))
    };
    Ok(fs::read(list)?.split(|it| *it == b'\n').filter_map(path).collect())
}

/// The lists of sockets of other network namespaces, such as those of containers of the user.
fn elsewhere(holder: Option<u32>) -> Vec<PathBuf> {
    let space = |of: &str| fs::read_link(format!("/proc/{of}/ns/net")).ok();
    let holder = holder.map(|it| it.to_string());
    let mut seen: BTreeSet<PathBuf> =
        ["self"].into_iter().chain(holder.as_deref()).filter_map(space).collect();
    let mut lists = Vec::new();
    for process in processes() {
        if space(&process).is_some_and(|it| seen.insert(it)) {
            lists.push(PathBuf::from(format!("/proc/{process}/net/unix")));
        }
    }
    lists
}

fn processes() -> impl Iterator<Item = String> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = all.filter_map(|it| it.file_name().into_string().ok());
    names.filter(|it| it.bytes().all(|it| it.is_ascii_digit()))
}

/// The present folders of the processes that hold sockets with relative names, by the sockets' numbers.
fn owners(lost: &[&Bound]) -> BTreeMap<u32, PathBuf> {
    let relative = lost.iter().filter(|it| !it.name.is_absolute());
    let wanted: BTreeSet<u32> = relative.map(|it| it.number).collect();
    let mut folders = BTreeMap::new();
    if wanted.is_empty() {
        return folders;
    }
    for process in processes() {
        let open = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        for it in open.filter_map(|it| fs::read_link(it.path()).ok()) {
            let number = it.to_str().and_then(|it| it.strip_prefix("socket:["));
            let number = number.and_then(|it| it.strip_suffix(']')?.parse().ok());
            let Some(number) = number.filter(|it| wanted.contains(it)) else { continue };
            if let Ok(folder) = fs::read_link(format!("/proc/{process}/cwd")) {
                folders.insert(number, folder);
            }
        }
    }
    folders
}

/// The folders in which programs run and from which they were started, and the folders around them.
fn folders() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for process in processes() {
        found.extend(fs::read_link(format!("/proc/{process}/cwd")).ok());
        let variables = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        for it in variables.split(|it| *it == 0) {
            let value = STARTED.iter().find_map(|name| it.strip_prefix(name.as_bytes()));
            found.extend(value.map(|it| PathBuf::from(OsStr::from_bytes(it))));
        }
    }
    found
        .iter()
        .filter(|it| it.is_absolute())
        .flat_map(|it| it.ancestors())
        .map(Path::to_owned)
        .collect()
}

/// Searches for files by their inodes: in the folder for which the name was meant, and in the project. The program that
/// has bound a relative name may have changed its folder since, or not tell it.
fn search(
    lost: &[&Bound],
    owners: &BTreeMap<u32, PathBuf>,
    root: Option<&Path>,
    found: &mut BTreeSet<PathBuf>,
) {
    let inodes: BTreeSet<u32> = lost.iter().map(|it| it.inode).collect();
    let is_one = |it: &DirEntry| {
        it.file_type().is_ok_and(|it| it.is_socket()) && inodes.contains(&low(it.ino()))
    };
    let meant: BTreeSet<PathBuf> = lost
        .iter()
        .filter_map(|it| match owners.get(&it.number) {
            Some(folder) => folder.join(&it.name).parent().map(Path::to_owned),
            None => it.name.parent().filter(|it| it.is_absolute()).map(Path::to_owned),
        })
        .collect();
    let mut seen = BTreeSet::new();
    for entry in meant.iter().flat_map(fs::read_dir).flatten().flatten().filter(is_one) {
        seen.insert(low(entry.ino()));
        found.insert(entry.path());
    }
    let is_lost =
        |it: &&&Bound, seen: &BTreeSet<u32>| !it.name.is_absolute() && !seen.contains(&it.inode);
    let relative: Vec<&&Bound> = lost.iter().filter(|it| is_lost(it, &seen)).collect();
    let around = if relative.is_empty() { BTreeSet::new() } else { folders() };
    for it in &relative {
        for path in around.iter().map(|of| of.join(&it.name)) {
            let there = fs::symlink_metadata(&path).ok().filter(|it| it.file_type().is_socket());
            if there.is_some_and(|there| low(there.ino()) == it.inode) {
                seen.insert(it.inode);
                found.insert(path);
            }
        }
    }
    let is_whole = !relative.iter().any(|it| is_lost(it, &seen));
    let mut left: VecDeque<PathBuf> = root.map(Path::to_owned).into_iter().collect();
    let mut count = if is_whole { MOST_RELATIVE - MOST } else { 0 };
    while let Some(folder) = left.pop_front() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            count += 1;
            if count > MOST_RELATIVE {
                return;
            }
            if is_one(&entry) {
                found.insert(entry.path());
            } else if entry.file_type().is_ok_and(|it| it.is_dir()) {
                left.push_back(entry.path());
            }
        }
    }
}

/// The kernel tells only the lowest bits of an inode.
fn low(inode: u64) -> u32 {
    u32::try_from(inode & u64::from(u32::MAX)).unwrap_or_default()
}

/// The sockets of this network namespace that are bound to files; see `sock_diag(7)`. `None` if the kernel does not tell.
fn bound() -> Option<Vec<Bound>> {
    let kernel = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkSockDiag,
    )
    .ok()?;
    let mut message: Vec<u8> = Vec::with_capacity(40);
    // nlmsghdr: length, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, sequence, port
    message.extend(40_u32.to_ne_bytes());
    message.extend([20_u16, 0x301].map(u16::to_ne_bytes).concat());
    message.extend([1_u32, 0].map(u32::to_ne_bytes).concat());
    // unix_diag_req: family and padding, states, inode, UDIAG_SHOW_NAME | UDIAG_SHOW_VFS, cookie
    message.extend([1, 0, 0, 0]);
    message.extend([u32::MAX, 0, 3, u32::MAX, u32::MAX].map(u32::to_ne_bytes).concat());
    sendto(kernel.as_raw_fd(), &message, &NetlinkAddr::new(0, 0), MsgFlags::empty()).ok()?;
    let (mut all, mut answer) = (Vec::new(), vec![0; ANSWER]);
    loop {
        let count = recv(kernel.as_raw_fd(), &mut answer, MsgFlags::empty()).ok()?;
        let mut rest = answer.get(..count)?;
        while rest.len() >= HEADER {
            let length = usize::try_from(word(rest, 0)?).ok()?;
            let kind = half(rest, 4)?;
            if kind == DONE {
                return Some(all);
            }
            // an error has type 2
            let body = rest.get(HEADER..length).filter(|_| kind == 20)?;
            all.extend(read(body));
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
    }
}

/// Reads a message about one socket. `None` if it is bound to no file.
fn read(body: &[u8]) -> Option<Bound> {
    // unix_diag_msg: family, type, state and padding, number, cookie
    let number = word(body, 4)?;
    let (mut name, mut inode) = (None, None);
    let mut rest = body.get(16..)?;
    while rest.len() >= 4 {
        let length = usize::from(half(rest, 0)?).max(4);
        let value = rest.get(4..length)?;
        match half(rest, 2)? {
            0 => name = Some(value),
            1 => inode = word(value, 0),
            _ => (),
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    let name = name?.split(|it| *it == 0).next()?;
    Some(Bound { number, name: PathBuf::from(OsStr::from_bytes(name)), inode: inode? })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}
