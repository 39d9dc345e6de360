//! What the system knows of a process.

use std::fs::read_to_string;

/// CPU time of a process in milliseconds: user and system, all threads (`proc_pid_stat(5)`; a tick is 10 ms).
pub(crate) fn cpu(pid: u32) -> f64 {
    let stat = read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    [11, 12].map(|at: usize| fields[at].parse::<f64>().unwrap()).iter().sum::<f64>() * 10.0
}

/// Resident memory of a process in megabytes.
pub(crate) fn resident(pid: u32) -> f64 {
    let status = read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1024.0
}
