//! Processes whose parents have ended. On Linux they come to the nearest ancestor that asks for them;
//! elsewhere they are the system's, and only a command's process group can be ended.

#[cfg(target_os = "linux")]
pub(super) use linux::{adopt, kill_children};

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{adopt, kill_children};

#[cfg(target_os = "linux")]
mod linux {
    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};
    use std::{fs, io};

    /// From here on orphans below this process become its children.
    pub(in super::super) fn adopt() {
        let _ = set_child_subreaper(Some(getpid()));
        let _ = rustix::thread::set_name(c"command-guard");
    }

    /// Kills this process's children; what they leave are its children next time. Their ids cannot be anybody
    /// else's before it reaps them. False where there is nothing left that may be killed. One that is reaped
    /// meanwhile has perhaps just left its own children to this process.
    pub(in super::super) fn kill_children() -> bool {
        let Ok(children) = children() else { return false };
        let may = |pid: &Pid| kill_process(*pid, Signal::KILL) != Err(Errno::PERM);
        children.is_empty() || children.iter().filter(|it| may(it)).count() > 0
    }

    fn children() -> io::Result<Vec<Pid>> {
        let own = getpid().as_raw_nonzero().to_string();
        let child = |entry: fs::DirEntry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            // `pid (any name) state parent …`
            let stat = fs::read(entry.path().join("stat")).ok()?;
            let stat = String::from_utf8_lossy(&stat);
            let mut fields = stat.rsplit_once(") ")?.1.split(' ');
            let (state, parent) = (fields.next()?, fields.next()?);
            (state != "Z" && parent == own).then(|| Pid::from_raw(pid)).flatten()
        };
        Ok(fs::read_dir("/proc")?.flatten().filter_map(child).collect())
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    pub(in super::super) fn adopt() {}

    pub(in super::super) fn kill_children() -> bool {
        false
    }
}
