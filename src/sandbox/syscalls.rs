//! Restricts with seccomp which system calls a command may make.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};
use std::collections::BTreeMap;

/// System calls that affect other processes or the kernel and that no build or test needs.
const FORBIDDEN: &[i64] = &[
    nix::libc::SYS_ptrace,
    nix::libc::SYS_process_vm_readv,
    nix::libc::SYS_process_vm_writev,
    nix::libc::SYS_pidfd_getfd,
    nix::libc::SYS_keyctl,
    nix::libc::SYS_add_key,
    nix::libc::SYS_request_key,
    nix::libc::SYS_bpf,
    nix::libc::SYS_perf_event_open,
    nix::libc::SYS_userfaultfd,
    // Landlock forbids some of these calls, but does not forbid making a mount writable again
    nix::libc::SYS_mount,
    nix::libc::SYS_umount2,
    nix::libc::SYS_pivot_root,
    nix::libc::SYS_fsconfig,
    nix::libc::SYS_fsmount,
    nix::libc::SYS_fsopen,
    nix::libc::SYS_fspick,
    nix::libc::SYS_mount_setattr,
    nix::libc::SYS_move_mount,
    nix::libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    // opens a file by the mount of a folder above, and so past the mount that protects the file
    nix::libc::SYS_open_by_handle_at,
    // an io_uring can open sockets and connect, which the filter does not see
    nix::libc::SYS_io_uring_setup,
    nix::libc::SYS_io_uring_enter,
    nix::libc::SYS_io_uring_register,
];

/// The number of `open_tree_attr`, which is the same on all machines.
const OPEN_TREE_ATTR: i64 = 467;

/// Requests that would type into the user's terminal: `TIOCSTI` types a character, `TIOCLINUX` pastes text.
const TYPES: [u64; 2] = [nix::libc::TIOCSTI, 0x541c];

/// Calls that change how a process runs, with the number of the argument that names the process. A command may change
/// only the process that makes the call: 0. The kernel lets a user do this to all of the user's processes.
const OWN: &[(i64, u8)] = &[
    (nix::libc::SYS_ioprio_set, 1),
    (nix::libc::SYS_prlimit64, 0),
    (nix::libc::SYS_sched_setaffinity, 0),
    (nix::libc::SYS_sched_setattr, 0),
    (nix::libc::SYS_sched_setparam, 0),
    (nix::libc::SYS_sched_setscheduler, 0),
    (nix::libc::SYS_setpriority, 1),
];
/// The first argument by which such a call is about all processes of the user: `PRIO_USER` and `IOPRIO_WHO_USER`.
const OF_USER: &[(i64, u64)] = &[(nix::libc::SYS_setpriority, 2), (nix::libc::SYS_ioprio_set, 3)];

/// The kinds of sockets that a command may use. Others, such as those to a virtual machine's host, ignore network
/// namespaces.
const FAMILIES: [i32; 4] =
    [nix::libc::AF_UNIX, nix::libc::AF_INET, nix::libc::AF_INET6, nix::libc::AF_NETLINK];

/// On x86-64, each call has a second number, for the x32 ABI: with this bit, and for a few calls with another number.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;
#[cfg(target_arch = "x86_64")]
const DIFFERENT: [(i64, i64); 4] = [
    (nix::libc::SYS_ioctl, 514),
    (nix::libc::SYS_ptrace, 521),
    (nix::libc::SYS_process_vm_readv, 539),
    (nix::libc::SYS_process_vm_writev, 540),
];

/// Forbids these system calls from now on. `closes_network` also forbids network sockets and connections to sockets of
/// other programs.
pub(super) fn restrict(closes_network: bool) -> Result<(), String> {
    let failed = |fault: &dyn std::fmt::Display| format!("seccomp: {fault}");
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        FORBIDDEN.iter().map(|it| (*it, Vec::new())).collect();
    let condition = |argument, operation, value| {
        let length = SeccompCmpArgLen::Dword;
        SeccompCondition::new(argument, length, operation, value).map_err(|it| failed(&it))
    };
    let all = |conditions| SeccompRule::new(conditions).map_err(|it| failed(&it));
    let one = |argument, operation, value| all(vec![condition(argument, operation, value)?]);
    let typing: Result<Vec<_>, _> = TYPES.iter().map(|it| one(1, SeccompCmpOp::Eq, *it)).collect();
    rules.insert(nix::libc::SYS_ioctl, typing?);
    for (call, process) in OWN {
        rules.insert(*call, vec![one(*process, SeccompCmpOp::Ne, 0)?]);
    }
    for (call, user) in OF_USER {
        rules.entry(*call).or_default().push(one(0, SeccompCmpOp::Eq, *user)?);
    }
    let families: &[i32] = if closes_network { &[nix::libc::AF_UNIX] } else { &FAMILIES };
    let other: Result<Vec<_>, String> = families
        .iter()
        .map(|it| condition(0, SeccompCmpOp::Ne, u64::try_from(*it).map_err(|it| failed(&it))?))
        .collect();
    rules.insert(nix::libc::SYS_socket, vec![all(other?)?]);
    if closes_network {
        // a datagram socket can send to other programs without a connection, so it is forbidden
        let datagram = u64::try_from(nix::libc::SOCK_DGRAM).map_err(|it| failed(&it))?;
        let kinds = one(1, SeccompCmpOp::MaskedEq(0xf), datagram)?;
        rules.entry(nix::libc::SYS_socket).or_default().push(kinds);
        rules.insert(nix::libc::SYS_connect, Vec::new());
    }
    #[cfg(target_arch = "x86_64")]
    for (call, rule) in rules.clone() {
        let different = DIFFERENT.iter().find(|it| it.0 == call).map_or(call, |it| it.1);
        rules.insert(X32 | different, rule);
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|it| failed(&it))?;
    let forbid = SeccompAction::Errno(u32::try_from(nix::libc::EPERM).map_err(|it| failed(&it))?);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, forbid, arch);
    let program: BpfProgram = filter.and_then(TryInto::try_into).map_err(|it| failed(&it))?;
    apply_filter(&program).map_err(|it| failed(&it))
}
