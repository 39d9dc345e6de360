//! Puts this program in the place of git, in the namespaces of a command (see `gate`).

use super::gate::{CHANNEL, FOLDER, Gate, ORDER, place};
use super::mounts::{NONE, make_read_only, mounted};
use nix::mount::MsFlags;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// The open files that a gate needs. They are opened before anything is mounted.
pub(super) struct Open {
    own: OwnedFd,
    channel: Option<OwnedFd>,
}

impl Gate {
    /// `None` if a new build has replaced this program. Then commands find git itself.
    pub(super) fn open(&self) -> Result<Option<Open>, String> {
        let open = |it: &Path| {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            rustix::fs::open(it, flags, Mode::empty())
                .map_err(|fault| format!("{}: {fault}", it.display()))
        };
        let own = std::env::current_exe().ok().and_then(|it| open(&it).ok());
        let Some(own) = own else { return Ok(None) };
        let channel = self.channel.as_deref().map(open).transpose()?;
        Ok(Some(Open { own, channel }))
    }

    /// Makes the folder among the new devices, as long as they can be written. The command's limit on the size of files
    /// does not count for them.
    pub(super) fn make(&self, open: &Open) -> Result<(), String> {
        let Rlimit { current, maximum } = getrlimit(Resource::Fsize);
        let _ = setrlimit(Resource::Fsize, Rlimit { current: maximum, maximum });
        let made = self.make_files(open);
        let _ = setrlimit(Resource::Fsize, Rlimit { current, maximum });
        made
    }

    fn make_files(&self, open: &Open) -> Result<(), String> {
        let folder = |it: &Path| fs::create_dir(it).map_err(|it| format!("the gate: {it}"));
        let file =
            |it: &Path, text: &str| fs::write(it, text).map_err(|it| format!("the gate: {it}"));
        folder(Path::new(FOLDER))?;
        file(Path::new(ORDER), &self.order)?;
        file(&Path::new(FOLDER).join("git"), "")?;
        for place in (0..self.covered.len()).map(place) {
            place.parent().map_or(Ok(()), folder)?;
            file(&place, "")?;
        }
        if let Some(channel) = &open.channel {
            file(Path::new(CHANNEL), "")?;
            mounted(CHANNEL, Some(&source(channel)), NONE, MsFlags::MS_BIND)?;
        }
        Ok(())
    }

    /// Mounts this program over the files of git. Git itself can be run at other places then.
    pub(super) fn cover(&self, open: &Open) -> Result<(), String> {
        let own = source(&open.own);
        let over = |file: &Path| {
            mounted(file, Some(&own), NONE, MsFlags::MS_BIND)?;
            make_read_only(file)
        };
        over(&Path::new(FOLDER).join("git"))?;
        for (at, file) in self.covered.iter().enumerate() {
            mounted(place(at), file.to_str(), NONE, MsFlags::MS_BIND)?;
            over(file)?;
        }
        Ok(())
    }
}

fn source(open: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", open.as_raw_fd())
}
