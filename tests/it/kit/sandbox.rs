//! Whether this system has a sandbox, for tests that need it.

use caliban::sandbox::{Strength, probed};
use std::io::Write;
use std::path::Path;

/// Whether this system has the full sandbox. If not, says on the standard error stream that the running test is skipped.
pub fn is_full() -> bool {
    has("the full sandbox", |it| it == Some(Strength::Full))
}

/// Whether this system has a sandbox at all. If not, says that the running test is skipped.
pub fn has_any() -> bool {
    has("a sandbox", |it| it.is_some())
}

/// Writes to the standard error stream directly, because the test harness hides the printed output of tests that pass.
fn has(what: &str, is_enough: fn(Option<Strength>) -> bool) -> bool {
    let strength = probed(Path::new(env!("CARGO_BIN_EXE_caliban")));
    if is_enough(strength) {
        return true;
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test that forbids system calls");
    let said = format!("SKIPPED {test}: this system does not have {what}, but {strength:?}\n");
    let _ = std::io::stderr().write_all(said.as_bytes());
    false
}
