//! The Lua tests, each file in a Neovim of its own.

use crate::kit::{nvim_bin, root};
use std::process::Command;

#[test]
fn lua_tests_pass() {
    let ran = Command::new(nvim_bin())
        .args(["-l", "tests/lua/run.lua"])
        .current_dir(root())
        .env("NVIM", nvim_bin())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    let ran_some = said.lines().any(|it| it.contains(" passed") && !it.starts_with("0 passed"));
    assert!(ran_some, "no Lua test ran:\n{said}");
}
