//! Tests the formatting of Rust and Lua code, and the types of the Lua code. (Clippy is a step of `make test`.)

use crate::kit::{nvim_bin, root};
use std::path::PathBuf;
use std::process::Command;

/// The tool that `scripts/tools.sh` has installed, otherwise the one in the `PATH`.
fn tool(name: &str) -> Command {
    let laid_out: PathBuf = root().join("target/tools/bin").join(name);
    Command::new(if laid_out.exists() { laid_out } else { name.into() })
}

#[track_caller]
fn passes(command: &mut Command) {
    let output = command.current_dir(root()).output();
    let output =
        output.unwrap_or_else(|error| panic!("{command:?}: {error} (run scripts/tools.sh)"));
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{command:?}\n{}{}", said[0], said[1]);
}

#[test]
fn the_rust_code_is_formatted() {
    passes(Command::new(env!("CARGO")).args(["fmt", "--check"]));
}

#[test]
fn the_lua_code_is_formatted() {
    let dirs = ["lua", "plugin", "tests", "scripts", "build.lua"];
    passes(tool("stylua").arg("--check").args(dirs.iter().filter(|dir| root().join(dir).exists())));
}

#[test]
fn the_lua_type_check_finds_no_problem() {
    let ask = ["--headless", "--clean", "+lua io.write(vim.env.VIMRUNTIME)", "+qa!"];
    let runtime = Command::new(nvim_bin()).args(ask).output().unwrap();
    let runtime = String::from_utf8(runtime.stdout).unwrap();
    assert!(!runtime.is_empty());
    passes(tool("emmylua_check").args(["--warnings-as-errors", "."]).env("VIMRUNTIME", runtime));
}
