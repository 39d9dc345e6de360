//! Tests in processes of their own.

use std::process::Command;

const ALONE: &str = "KIT_ALONE";

/// Runs the calling test again in a process of its own and returns true, or returns false in that process. A test that
/// runs Caliban's supervisor in the test process needs this: that process adopts all orphans among its descendants, so
/// the dead processes of all later tests would collect in it.
///
/// ```ignore
/// if alone::has_passed() {
///     return;
/// }
/// ```
pub fn has_passed() -> bool {
    if is_alone() {
        return false;
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap();
    let program = std::env::current_exe().unwrap();
    let arguments = ["--exact", "--nocapture", "--include-ignored", "--test-threads=1", test];
    let output = Command::new(program).args(arguments).env(ALONE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{failed}");
    true
}

pub fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}
