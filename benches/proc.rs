//! The CPU time and memory of a process.

use std::fs::{read_dir, read_to_string};

/// The CPU time of all threads of a process in milliseconds, with a resolution of nanoseconds. `/proc/PID/stat` would
/// count in steps of 10 ms.
pub(crate) fn cpu(pid: u32) -> f64 {
    let threads = read_dir(format!("/proc/{pid}/task")).unwrap().map_while(Result::ok);
    let times = threads.filter_map(|it| read_to_string(it.path().join("schedstat")).ok());
    let first = |it: String| it.split(' ').next().and_then(|ns| ns.parse::<f64>().ok());
    times.filter_map(first).sum::<f64>() / 1e6
}

/// The resident memory of a process in megabytes.
pub(crate) fn resident(pid: u32) -> f64 {
    let status = read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1024.0
}

/// The CPU time of this thread in milliseconds.
pub(crate) fn thread_cpu() -> f64 {
    let text = read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e6
}
