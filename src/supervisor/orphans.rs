//! Processes whose parents have ended. On Linux they become children of the nearest ancestor that asks for it. On
//! other systems they belong to the system, and only a command's process group can be ended.

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

    /// How many times it looks for marked children without a pause. After that it looks once a second, for a process
    /// that the kernel does not let end.
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

    /// Kills the children of this process. Their own children become children of this process, for the next call. A
    /// child's id cannot be reused before this process reaps it. False if no child is left that may be killed. A
    /// child that was reaped in the meantime may just have left its own children to this process.
    pub(in super::super) fn kill_children() -> bool {
        let killed = each_child(|pid, is_dead| (!is_dead).then(|| kill(pid)));
        killed.is_ok_and(|it| it.is_empty() || it.contains(&true))
    }

    /// Kills the marked children of this process, and the children that they leave, until there are none. They are
    /// left over from commands whose supervisors were killed. Other children are not touched.
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

    /// Calls `act` for each child as soon as it is found, with whether the child has ended. Acting at once also
    /// reaches a child that forks and ends all the time.
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

    /// The hard limit of a process, which may be the mark. `None` if there is no limit, or it cannot be read.
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
