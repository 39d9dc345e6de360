//! Orphans: processes whose parents have ended. On Linux they become children of the nearest ancestor that has asked to
//! adopt them. On other systems they become children of the system's first process, and only a command's process group
//! can be killed.

#[cfg(target_os = "linux")]
pub(super) use linux::{adopt, end_marked, kill_children, mark, name_supervisor};

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{adopt, end_marked, kill_children, mark, name_supervisor};

#[cfg(target_os = "linux")]
mod linux {
    use rustix::io::Errno;
    use rustix::process::{
        Pid, Resource, Rlimit, Signal, WaitOptions, getpid, getrlimit, kill_process,
        set_child_subreaper, setrlimit, waitpid,
    };
    use std::time::Duration;
    use std::{fs, io};

    /// The resource limit by which the processes of a command are marked: its hard value is one less than the
    /// program's. All descendants inherit the limit, and only root can raise it. It is the limit on the bytes of POSIX
    /// message queues, where one byte of 800,000 does not matter.
    const MARK: Resource = Resource::Msgqueue;
    const MARK_IN_PROC: &str = "Max msgqueue size";

    /// How many times `end_marked` looks for marked children at intervals of 1 ms. Afterwards it looks once a second,
    /// because the kernel may take long to end a process.
    const HASTE: usize = 5000;

    /// From now on, orphaned descendants of this process become its children.
    pub(in super::super) fn adopt() {
        let _ = set_child_subreaper(Some(getpid()));
    }

    pub(in super::super) fn name_supervisor() {
        let _ = rustix::thread::set_name(c"supervisor");
    }

    /// Marks this process, and every process that it will start, as belonging to a command.
    pub(in super::super) fn mark() {
        let Rlimit { current, maximum } = getrlimit(MARK);
        let lower = maximum.unwrap_or(u64::MAX >> 1).saturating_sub(1);
        let current = Some(current.map_or(lower, |it| it.min(lower)));
        let _ = setrlimit(MARK, Rlimit { current, maximum: Some(lower) });
    }

    /// Kills the children of this process. The children of killed processes become children of this process, and the
    /// next call kills them. No other process can be killed by mistake, because a child's id is not reused before this
    /// process reaps the child. Returns false if this process may not kill any of its children. Returns true if there
    /// are no children, because a child that was just reaped may have left children of its own.
    pub(in super::super) fn kill_children() -> bool {
        let killed = each_child(|pid, is_dead| (!is_dead).then(|| kill(pid)));
        killed.is_ok_and(|it| it.is_empty() || it.contains(&true))
    }

    /// Kills the marked children of this process, and the children that they leave behind, until none is left. Marked
    /// children belong to commands whose supervisors were killed. Other children are not killed.
    pub(in super::super) async fn end_marked() {
        let own = getrlimit(MARK).maximum.unwrap_or(u64::MAX);
        let end = |pid: Pid, is_dead: bool| {
            let is_marked = limit_of(pid).is_some_and(|it| it < own);
            is_marked.then(|| if is_dead { reap(pid) } else { kill(pid) })
        };
        let mut pauses = (0..HASTE).map(|_| Duration::from_millis(1));
        while each_child(end).is_ok_and(|it| it.contains(&true)) {
            tokio::time::sleep(pauses.next().unwrap_or(Duration::from_secs(1))).await;
        }
    }

    /// Kills a process. False if Caliban is not permitted to kill it.
    fn kill(pid: Pid) -> bool {
        kill_process(pid, Signal::KILL) != Err(Errno::PERM)
    }

    fn reap(pid: Pid) -> bool {
        waitpid(Some(pid), WaitOptions::NOHANG).is_ok()
    }

    /// Calls `act` with the id of each child, and whether the child has ended. `act` is called as soon as a child is
    /// found, so that a child that keeps forking and ending is reached too.
    fn each_child(act: impl Fn(Pid, bool) -> Option<bool>) -> io::Result<Vec<bool>> {
        let own = getpid().as_raw_nonzero().to_string();
        let acted = |entry: fs::DirEntry| {
            let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
            // the format is `pid (any name) state parent …`
            let stat = fs::read(entry.path().join("stat")).ok()?;
            let stat = String::from_utf8_lossy(&stat);
            let mut fields = stat.rsplit_once(") ")?.1.split(' ');
            let (state, parent) = (fields.next()?, fields.next()?);
            if parent == own { act(pid, state == "Z") } else { None }
        };
        Ok(fs::read_dir("/proc")?.flatten().filter_map(acted).collect())
    }

    /// The hard limit of a process. A marked process has a lower limit than this program. `None` if there is no limit,
    /// or if the limit cannot be read.
    fn limit_of(pid: Pid) -> Option<u64> {
        let limits = fs::read_to_string(format!("/proc/{}/limits", pid.as_raw_nonzero())).ok()?;
        let line = limits.lines().find_map(|it| it.strip_prefix(MARK_IN_PROC))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    pub(in super::super) fn adopt() {}

    pub(in super::super) fn name_supervisor() {}

    pub(in super::super) fn mark() {}

    pub(in super::super) async fn end_marked() {}

    pub(in super::super) fn kill_children() -> bool {
        false
    }
}
