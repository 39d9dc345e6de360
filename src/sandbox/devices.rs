//! Gives this process a `/dev` of its own, with few devices and without the terminals of other programs. Who can open a
//! terminal reads the keys that the user types there, and draws on the user's screen.

use super::mounts::{held, in_place_of, reopened};
use nix::mount::{MsFlags, mount};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The folder of devices.
pub(super) const DEV: &str = "/dev";
/// The folder of shared memory.
pub(super) const SHARED: &str = "/dev/shm";
/// The folder of terminals.
pub(super) const TERMINALS: &str = "/dev/pts";
/// The devices that a command has. They hold no state that others share, and `tty` is the command's own terminal.
pub(super) const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
/// The name by which programs find the terminal of their input and output, which is not among the new ones.
const CONSOLE: &str = "/dev/console";
const LINKS: &[(&str, &str)] = &[
    ("/dev/ptmx", "pts/ptmx"),
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// Mounts the new folder. Of the old one, the devices above stay, what the user's settings make writable, and the kept
/// entries of the shared memory.
pub(super) fn replace(writable: &[PathBuf], kept: &[PathBuf]) -> Result<(), String> {
    let is_device = |it: &Path| it.starts_with(DEV) && it != Path::new(DEV);
    let chosen = writable.iter().filter(|it| is_device(it) && !it.starts_with(SHARED));
    let all = DEVICES.iter().map(PathBuf::from).chain(chosen.cloned());
    let all: Vec<_> = all.filter(|it| it.exists()).map(held).collect::<Result<_, _>>()?;
    let own = own_terminal().map(held).transpose()?;
    in_place_of(Path::new(SHARED), kept, || {
        let old = kept.iter().find(|it| *it == Path::new(SHARED)).cloned();
        let old = old.map(held).transpose()?;
        let (safe, few) = (MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC, Some("mode=0755,size=256k"));
        made(DEV, "tmpfs", safe, few)?;
        for (path, open) in &all {
            reopened(path, open)?;
        }
        folder(TERMINALS)?;
        made(TERMINALS, "devpts", safe, Some("newinstance,ptmxmode=0666,mode=0620"))?;
        for (name, leads) in LINKS {
            symlink(leads, name).map_err(|it| format!("{name}: {it}"))?;
        }
        if let Some((_, open)) = &own {
            reopened(Path::new(CONSOLE), open)?;
        }
        folder(SHARED)?;
        match old {
            Some((path, open)) => reopened(&path, &open),
            None => {
                made(SHARED, "tmpfs", MsFlags::MS_NOSUID | MsFlags::MS_NODEV, Some("mode=1777"))
            }
        }
    })
}

/// The path of the terminal on standard output. The open descriptor itself cannot be mounted: it belongs to the
/// namespace in which the terminal was opened.
fn own_terminal() -> Option<PathBuf> {
    let name = rustix::termios::ttyname(io::stdout(), Vec::new()).ok()?;
    Some(PathBuf::from(OsString::from_vec(name.into_bytes())))
}

fn folder(path: &str) -> Result<(), String> {
    fs::create_dir(path).map_err(|it| format!("{path}: {it}"))
}

fn made(path: &str, kind: &str, flags: MsFlags, options: Option<&str>) -> Result<(), String> {
    mount(Some(kind), path, Some(kind), flags, options).map_err(|it| format!("{path}: {it}"))
}
