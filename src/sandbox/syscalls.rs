//! seccomp: which system calls a command may make.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};
use std::collections::BTreeMap;

/// Calls that reach into other processes or the kernel, and none of which a build or a test needs.
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
    // could make the calls below unseen
    nix::libc::SYS_io_uring_setup,
    nix::libc::SYS_io_uring_enter,
    nix::libc::SYS_io_uring_register,
];

/// `TIOCSTI` types into the terminal, `TIOCLINUX` pastes into it.
const TYPES: [u64; 2] = [nix::libc::TIOCSTI, 0x541c];

/// Forbids the calls from now on. `closes_network` forbids sockets of the network, and connections to sockets of other
/// programs.
pub(super) fn restrict(closes_network: bool) -> Result<(), String> {
    let failed = |fault: &dyn std::fmt::Display| format!("seccomp: {fault}");
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        FORBIDDEN.iter().map(|it| (*it, Vec::new())).collect();
    let one = |argument, operation, value| {
        let length = SeccompCmpArgLen::Dword;
        let condition = SeccompCondition::new(argument, length, operation, value);
        condition.and_then(|it| SeccompRule::new(vec![it])).map_err(|it| failed(&it))
    };
    let typing: Result<Vec<_>, _> = TYPES.iter().map(|it| one(1, SeccompCmpOp::Eq, *it)).collect();
    rules.insert(nix::libc::SYS_ioctl, typing?);
    if closes_network {
        let local = u64::try_from(nix::libc::AF_UNIX).map_err(|it| failed(&it))?;
        rules.insert(nix::libc::SYS_socket, vec![one(0, SeccompCmpOp::Ne, local)?]);
        // a datagram names its receiver without a connection
        let datagram = u64::try_from(nix::libc::SOCK_DGRAM).map_err(|it| failed(&it))?;
        let kinds = one(1, SeccompCmpOp::MaskedEq(0xf), datagram)?;
        rules.entry(nix::libc::SYS_socket).or_default().push(kinds);
        rules.insert(nix::libc::SYS_connect, Vec::new());
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|it| failed(&it))?;
    let forbid = SeccompAction::Errno(u32::try_from(nix::libc::EPERM).map_err(|it| failed(&it))?);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, forbid, arch);
    let program: BpfProgram = filter.and_then(TryInto::try_into).map_err(|it| failed(&it))?;
    apply_filter(&program).map_err(|it| failed(&it))
}
