//! Gives the process namespaces of its own: a view of the file system in which secrets are hidden and protected files
//! cannot be written, and a network in which it can connect only to itself.

use super::devices::{self, SHARED, TERMINALS};
use super::gate::{CHANNEL, Gate};
use super::held::{Files, Held};
use super::limits::Sandbox;
use super::mounts::{NONE, held, in_place_of, make_read_only, mounted, over_itself, reopened};
use super::sockets;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
};
use nix::unistd::{getgid, getuid};
use std::collections::BTreeSet;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The index of the loopback device in a new network namespace.
const LOOPBACK: i32 = 1;
pub(super) fn enter(sandbox: &Sandbox) -> Result<(), String> {
    let folder = env::current_dir();
    let sockets = sockets::outside(folder.as_deref().ok(), sandbox.holder)?;
    match sandbox.holder {
        Some(holder) if sandbox.network => join(holder, &[])?,
        Some(holder) => join(holder, &[("net", CloneFlags::CLONE_NEWNET)])?,
        None if sandbox.network => (),
        None => make_network()?,
    }
    // the network belongs to the user namespace around this one, so that no command can change it
    unshared(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC)?;
    // changes of mounts from here on affect only this namespace
    mounted("/", NONE, NONE, MsFlags::MS_REC | MsFlags::MS_PRIVATE)?;
    let open = sandbox.gate.as_ref().map_or(Ok(None), Gate::open)?;
    let gate = sandbox.gate.as_ref().zip(open.as_ref());
    let temporary = Path::new("/tmp");
    let kept = |it: &&PathBuf| *it == temporary;
    if let (Some(folder), None) = (&sandbox.temporary, sandbox.kept.iter().find(kept)) {
        in_place_of(temporary, &sandbox.kept, || {
            mounted(temporary, folder.to_str(), NONE, MsFlags::MS_BIND)
        })?;
    }
    devices::replace(&sandbox.writable, &sandbox.kept)?;
    gate.map_or(Ok(()), |(gate, open)| gate.make(open))?;
    seal(&sandbox.writable, &sandbox.kept)?;
    gate.map_or(Ok(()), |(gate, open)| gate.cover(open))?;
    for path in pinned(sandbox) {
        over_itself(&path)?;
    }
    for path in &sandbox.fixed {
        if is_there(path)? {
            make_fixed(path)?;
        }
    }
    for path in sandbox.hidden.iter().filter(|it| it.exists()) {
        let holes = sandbox.shown.iter().filter(|it| *it != path && it.starts_with(path));
        hide(path, holes)?;
    }
    for path in sockets.iter().filter(|it| it.exists()) {
        hide_socket(path)?;
    }
    // the current folder is still the one below the new mounts, so it is entered again
    folder.and_then(env::set_current_dir).map_err(|it| format!("the folder: {it}"))
}

/// Gives this process a network in which it can connect only to itself.
fn make_network() -> Result<(), String> {
    unshared(CloneFlags::CLONE_NEWNET)?;
    bring_loopback_up()
}

/// Gives this process a view of the file system of its own, in which the mounts of the system still appear, or that of
/// another holder, and if asked a network in which it can connect only to itself. Commands join it.
pub(super) fn hold(held: &Held) -> Result<(), String> {
    let network = if held.network { CloneFlags::CLONE_NEWNET } else { CloneFlags::empty() };
    if let Files::Of(holder) = held.files {
        join(holder, &[])?;
        unshare(network).map_err(|it| format!("namespaces: {it}"))?;
    } else {
        unshared(CloneFlags::CLONE_NEWNS | network)?;
        mounted("/", NONE, NONE, MsFlags::MS_REC | MsFlags::MS_SLAVE)?;
    }
    if held.network { bring_loopback_up() } else { Ok(()) }
}

/// Puts this process into the user and mount namespaces of a process that holds them, and into these others.
fn join(holder: u32, others: &[(&str, CloneFlags)]) -> Result<(), String> {
    let failed = |it: &dyn std::fmt::Display| format!("the holder of the network: {it}");
    let open = |(name, kind): &(&str, CloneFlags)| {
        let open = fs::File::open(format!("/proc/{holder}/ns/{name}"));
        open.map(|it| (it, *kind)).map_err(|it| failed(&it))
    };
    let own = [("user", CloneFlags::CLONE_NEWUSER), ("mnt", CloneFlags::CLONE_NEWNS)];
    let all: Vec<_> = own.iter().chain(others).map(open).collect::<Result<_, _>>()?;
    all.into_iter().try_for_each(|(it, kind)| setns(it, kind).map_err(|it| failed(&it)))
}

/// Gives this process a user namespace, in which it keeps its user and group, and these namespaces in it.
fn unshared(flags: CloneFlags) -> Result<(), String> {
    let (user, group) = (getuid(), getgid());
    unshare(CloneFlags::CLONE_NEWUSER | flags).map_err(|it| format!("namespaces: {it}"))?;
    let map =
        |file: &str, text: String| fs::write(file, text).map_err(|it| format!("{file}: {it}"));
    map("/proc/self/setgroups", "deny".to_owned())?;
    map("/proc/self/uid_map", format!("{user} {user} 1"))?;
    map("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// The folders that may be neither renamed nor replaced: also those on the way to a fixed path, so that nobody can put
/// another path in its place.
fn pinned(sandbox: &Sandbox) -> BTreeSet<PathBuf> {
    let mut all: BTreeSet<PathBuf> = sandbox.pinned.iter().cloned().collect();
    for path in sandbox.fixed.iter().filter(|it| it.exists()) {
        let is_below =
            |it: &Path| sandbox.writable.iter().any(|kept| it != kept && it.starts_with(kept));
        let parents = path.ancestors().skip(1).take_while(|it| is_below(it));
        all.extend(parents.map(Path::to_owned));
    }
    let fixed: BTreeSet<&Path> = sandbox.fixed.iter().map(PathBuf::as_path).collect();
    let open: BTreeSet<&Path> = sandbox.pinned.iter().map(PathBuf::as_path).collect();
    // a mount of its own would make a folder in a fixed one writable
    let is_fixed = |it: &Path| {
        let nearest = it.ancestors().find(|it| fixed.contains(it) || open.contains(it));
        nearest.is_some_and(|it| !open.contains(it))
    };
    all.retain(|it| it.exists() && !is_fixed(it));
    all
}

/// Makes all mounts read-only except those of the writable paths, which become separate mounts. Landlock does not
/// restrict changes of a file's permissions, times and attributes, but a read-only mount forbids them.
fn seal(writable: &[PathBuf], kept: &[PathBuf]) -> Result<(), String> {
    let before =
        fs::read_to_string("/proc/self/mountinfo").map_err(|it| format!("mounts: {it}"))?;
    for path in writable.iter().filter(|it| it.exists()) {
        over_itself(path)?;
    }
    // a writable folder around a kept entry does not make the entry writable
    let is_writable = |it: &Path| {
        let whole = kept.iter().find(|kept| it.starts_with(kept));
        let counts = |path: &&PathBuf| whole.is_none_or(|whole| path.starts_with(whole));
        let is_new = [SHARED, TERMINALS, CHANNEL].iter().any(|new| it == Path::new(new));
        is_new || writable.iter().filter(counts).any(|path| it.starts_with(path))
    };
    // the fifth field is the mount point, see proc_pid_mountinfo(5)
    let points = before.lines().filter_map(|it| it.split(' ').nth(4)).map(unescaped);
    for point in points.filter(|it| !is_writable(it)) {
        // this fails for a mount that is covered by another one or belongs to the system; such a mount stays as it is
        let _ = make_read_only(&point);
    }
    Ok(())
}

/// Decodes a path from `mountinfo`, in which blanks and backslashes are written as octal numbers.
fn unescaped(text: &str) -> PathBuf {
    let marks = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    PathBuf::from(marks.iter().fold(text.to_owned(), |text, (mark, c)| text.replace(mark, c)))
}

/// Whether there is a file or folder at this path. An error counts as neither.
fn is_there(path: &Path) -> Result<bool, String> {
    path.try_exists().map_err(|it| format!("{}: {it}", path.display()))
}

fn make_fixed(path: &Path) -> Result<(), String> {
    over_itself(path)?;
    make_read_only(path)
}

/// Hides a path. Of a folder, the holes stay visible.
fn hide<'a>(path: &Path, holes: impl Iterator<Item = &'a PathBuf>) -> Result<(), String> {
    if !path.is_dir() {
        return mounted(path, Some("/dev/null"), NONE, MsFlags::MS_BIND);
    }
    let holes: Vec<_> =
        holes.filter(|it| it.exists()).cloned().map(held).collect::<Result<_, _>>()?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("tmpfs"), path, Some("tmpfs"), flags, Some("size=64k,mode=0555"))
        .map_err(|it| format!("{}: {it}", path.display()))?;
    holes.iter().try_for_each(|(path, open)| reopened(path, open))?;
    make_read_only(path)
}

/// Hides a socket, unless its program has just ended and taken the socket away.
fn hide_socket(path: &Path) -> Result<(), String> {
    hide(path, std::iter::empty()).or_else(|why| if path.exists() { Err(why) } else { Ok(()) })
}

/// Switches the loopback device on: sends `RTM_NEWLINK` with `IFF_UP` over netlink; see rtnetlink(7).
fn bring_loopback_up() -> Result<(), String> {
    let failed = |it: &dyn std::fmt::Display| format!("loopback: {it}");
    let kernel = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkRoute,
    )
    .map_err(|it| failed(&it))?;
    let mut message: Vec<u8> = Vec::with_capacity(32);
    // nlmsghdr: length, RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK, sequence, port
    message.extend(32_u32.to_ne_bytes());
    message.extend([16_u16, 5].map(u16::to_ne_bytes).concat());
    message.extend([1_u32, 0].map(u32::to_ne_bytes).concat());
    // ifinfomsg: family and padding, type, index, flags, mask of changed flags
    message.extend([0, 0, 0, 0]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend([1_u32, 1].map(u32::to_ne_bytes).concat());
    sendto(kernel.as_raw_fd(), &message, &NetlinkAddr::new(0, 0), MsgFlags::empty())
        .map_err(|it| failed(&it))?;
    let mut answer = [0; 256];
    let count =
        recv(kernel.as_raw_fd(), &mut answer, MsgFlags::empty()).map_err(|it| failed(&it))?;
    // the answer is an nlmsgerr: a header, then the error, which is 0 for success
    match answer.get(16..20).and_then(|it| it.try_into().ok()).map(i32::from_ne_bytes) {
        Some(0) if count >= 20 => Ok(()),
        error => Err(failed(&format!("the kernel answers {error:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_that_its_program_has_taken_away_needs_no_hiding() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(hide_socket(&folder.path().join("socket")), Ok(()));
    }
}
