//! The test kit: `Setup` is a home and a project on disk, `Nvim` a real Neovim in them, `Server` a fake model server
//! that sends the replies a test queues.

pub mod alone;
pub mod chat;
pub mod dialects;
pub mod dice;
pub mod grid;
pub mod http;
pub mod nvim;
pub mod picture;
pub mod reply;
pub mod rules;
pub mod sandbox;
pub mod server;
pub mod setup;
pub mod svg;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// The longest time of every wait. A wait ends as soon as its condition is true, so only a failing test takes this
/// long.
pub const LIMIT: Duration = Duration::from_secs(120);

/// The root of this repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The path of the Neovim to test with: `$NVIM` if it is a file (inside Neovim's terminal it is a socket), otherwise
/// the Neovim that `scripts/nvim.sh` installs.
pub fn nvim_bin() -> PathBuf {
    if let Some(named) = std::env::var_os("NVIM").map(PathBuf::from).filter(|path| path.is_file()) {
        return named;
    }
    let laid_out = root().join("target/nvim/0.11/bin/nvim");
    assert!(laid_out.exists(), "no Neovim to test with: run scripts/nvim.sh, or set NVIM to one");
    laid_out
}

/// The Python interpreter. `python3` may be a shell script that looks for the interpreter at each start.
pub fn python() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| {
        let asked =
            Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
        let told = String::from_utf8(asked.unwrap().stdout).unwrap();
        PathBuf::from(told.trim_end())
    })
}
