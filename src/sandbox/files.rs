//! Restricts with Landlock which files this process may write. Also keeps the command from signalling and tracing
//! processes outside, as far as the kernel can.

use super::devices::{DEV, DEVICES, SHARED};
use super::limits::Strength;
use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope, path_beneath_rules,
};
use std::fs;
use std::path::{Path, PathBuf};

/// The oldest version that is accepted (Linux 6.2): it can forbid the truncation of files, without which files are not
/// protected.
const NEEDED: ABI = ABI::V3;
/// With this version (Linux 6.12), signals and abstract sockets can be restricted too.
const WANTED: ABI = ABI::V6;

/// From now on this process can write only these folders and files. The full sandbox has a `/dev` of its own, and fails
/// if signals cannot be restricted. In the plain one, this process can neither read nor write devices but the few of
/// `devices`, above all no terminal of another program.
pub(super) fn restrict(writable: &[PathBuf], strength: Strength) -> Result<(), String> {
    let failed = |fault: &dyn std::fmt::Display| format!("Landlock: {fault}");
    let is_whole = strength == Strength::Full;
    let shared = if is_whole { DEV } else { SHARED };
    let devices = DEVICES.iter().chain([&shared]).map(PathBuf::from);
    let all: Vec<PathBuf> = writable.iter().cloned().chain(devices).collect();
    let scope = if is_whole { CompatLevel::HardRequirement } else { CompatLevel::BestEffort };
    let (write, read) = (AccessFs::from_write(NEEDED), AccessFs::ReadFile);
    let handled = if is_whole { write } else { write | read };
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(handled)
        .map_err(|it| failed(&it))?
        .set_compatibility(scope)
        .scope(Scope::from_all(WANTED))
        .map_err(|it| failed(&it))?;
    let created = ruleset.create().map_err(|it| failed(&it))?;
    let mut readable = Vec::new();
    if !is_whole {
        let all = fs::read_dir("/").map_err(|it| format!("/: {it}"))?;
        readable.extend(all.flatten().map(|it| it.path()).filter(|it| it != Path::new(DEV)));
        readable.extend(DEVICES.iter().map(PathBuf::from));
    }
    let status = created
        .add_rules(path_beneath_rules(all, handled))
        .and_then(|it| it.add_rules(path_beneath_rules(readable, read)))
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(|it| failed(&it))?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err("Landlock is not enforced".to_owned());
    }
    Ok(())
}

/// Closes the files that this process has inherited, but for input and output. They would stay open for the command, and
/// an open folder leads past the mounts of the sandbox.
pub(super) fn close() -> Result<(), String> {
    let all = fs::read_dir("/proc/self/fd").map_err(|it| format!("open files: {it}"))?;
    let number = |it: fs::DirEntry| it.file_name().to_str()?.parse::<i32>().ok();
    let inherited: Vec<i32> = all.flatten().filter_map(number).filter(|it| *it > 2).collect();
    for it in inherited {
        // the folder that was read above is closed already
        let _ = nix::unistd::close(it);
    }
    Ok(())
}
