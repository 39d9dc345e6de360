//! Tests `build.lua`, which plugin managers run to build the program. A fake `cargo` replaces the real one.

mod tried;

use crate::kit::nvim::Nvim;
use crate::kit::root;
use crate::kit::setup::Setup;
use std::fs;

const CARGO: &str = "#!/bin/sh
echo \"$PWD: $*\" > \"$HOME/asked\"
echo '   Compiling one v1.0.0' >&2
echo 'error: no room left' >&2
exit ";

/// A Neovim whose `PATH` has only a fake cargo that ends with this code, or no cargo.
fn with_cargo(code: Option<u32>) -> Nvim {
    let setup = Setup::new().file("../bin/none", "");
    let setup = match code {
        Some(code) => {
            setup.file("../bin/cargo", format!("{CARGO}{code}\n")).mode("../bin/cargo", 0o755)
        }
        None => setup,
    };
    let path = setup.dir().join("bin").to_string_lossy().into_owned();
    Nvim::start(&setup.headless().before(&format!("vim.env.PATH = '{path}'")))
}

fn built(nvim: &Nvim) -> String {
    let file = root().join("build.lua");
    let code = format!(
        "local said = {{}}
        vim.api.nvim_echo = function(chunks) said[#said + 1] = chunks[1][1] end
        local ok, err = pcall(dofile, '{}')
        return ok and table.concat(said, '\\n') or err",
        file.display()
    );
    nvim.lua_str(&code)
}

#[test]
fn building_the_program_shows_the_progress() {
    let nvim = with_cargo(Some(0));
    let said = built(&nvim);
    assert!(said.contains("Caliban: 1 of about"), "{said}");
    assert!(said.ends_with("Caliban: its program is built."), "{said}");
    let asked = fs::read_to_string(nvim.setup.dir().join("home/asked")).unwrap();
    let expected = format!("{}: build --release --locked --color never\n", root().display());
    assert_eq!(asked, expected);
}

#[test]
fn a_failed_build_shows_the_last_lines_of_cargo() {
    let said = built(&with_cargo(Some(101)));
    assert!(
        said.starts_with("Caliban could not be built: cargo ended with exit code 101."),
        "{said}"
    );
    assert!(said.ends_with("error: no room left"), "{said}");
    assert!(!said.contains("stack traceback"), "{said}");
}

#[test]
fn if_cargo_is_missing_the_build_says_what_to_install() {
    let said = built(&with_cargo(None));
    assert_eq!(
        said,
        "Caliban needs cargo to build its program: install Rust (rustup), then build the plugin again."
    );
}

/// lazy.nvim runs the build in a coroutine and shows the texts that it yields.
#[test]
fn a_build_inside_a_coroutine_yields_its_progress() {
    let nvim = with_cargo(Some(0));
    let file = root().join("build.lua");
    let code = format!(
        "local said, done = {{}}, false
        local thread = coroutine.create(assert(loadfile('{}')))
        vim.wait(120000, function()
          local ok, text = coroutine.resume(thread)
          assert(ok, text)
          said[#said + 1] = text
          return coroutine.status(thread) == 'dead'
        end, 10)
        return table.concat(said, '\\n')",
        file.display()
    );
    let said = nvim.lua_str(&code);
    assert!(said.contains("Caliban: 1 of about"), "{said}");
    assert!(said.ends_with("Caliban: its program is built."), "{said}");
}
