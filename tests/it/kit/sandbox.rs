//! Whether this system has the full sandbox, for tests that need it.

use caliban::sandbox::{Strength, probed};
use std::io::Write;
use std::path::Path;

/// Whether this system has the full sandbox. If not, says on the standard error stream that the running test is skipped.
/// The words come through although the test harness keeps the output of tests that pass.
pub fn is_full() -> bool {
    let strength = probed(Path::new(env!("CARGO_BIN_EXE_caliban")));
    if strength == Some(Strength::Full) {
        return true;
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let said = format!("SKIPPED {test}: this system has no full sandbox, but {strength:?}\n");
    let _ = std::io::stderr().write_all(said.as_bytes());
    false
}
