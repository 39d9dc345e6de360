//! Processes whose parents have ended. On Linux they become children of the nearest ancestor that asks to adopt them.
//! On other systems they become children of the system's first process, and only a command's process group can be
//! ended.

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

    /// The resource limit that marks the processes of a command: its hard value is one below the program's. All
    /// descendants inherit it, and only root can raise it. It limits the bytes of POSIX message queues, where one
    /// byte of 800,000 does not matter.
    const MARK: Resource = Resource::Msgqueue;
    const MARK_IN_PROC: &str = "Max msgqueue size";

    /// How many times `end_marked` looks for marked children at intervals of 1 ms. Then it looks once a second: the
    /// kernel may not let a process end.
    const HASTE: usize = 5000;

    /// From now on, orphans below this process become its children.
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

    /// Kills the children of this process. Their own children become children of this process, for the next call. No
    /// other process is hit: a child's id is not reused before this process reaps the child. False if this process may
    /// kill none of its children. True if no child is found, because a child that has just been reaped may have left
    /// children of its own.
    pub(in super::super) fn kill_children() -> bool {
        let killed = each_child(|pid, is_dead| (!is_dead).then(|| kill(pid)));
        killed.is_ok_and(|it| it.is_empty() || it.contains(&true))
    }

    /// Kills the marked children of this process, and the children that they leave behind, until none is left. Marked
    /// children belong to commands whose supervisors were killed. Other children are not touched.
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

    /// Kills a process. False if this process is not allowed to.
    fn kill(pid: Pid) -> bool {
        kill_process(pid, Signal::KILL) != Err(Errno::PERM)
    }

    fn reap(pid: Pid) -> bool {
        waitpid(Some(pid), WaitOptions::NOHANG).is_ok()
    }

    /// Calls `act` with each child's id and whether the child has ended. Each call comes as soon as the child is found,
    /// so that `act` also reaches a child that keeps forking and ending.
    fn each_child(act: impl Fn(Pid, bool) -> Option<bool>) -> io::Result<Vec<bool>> {
        let own = getpid().as_raw_nonzero().to_string();
        let acted = |entry: fs::DirEntry| {
            let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
            // `pid (any name) state parent …`
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
