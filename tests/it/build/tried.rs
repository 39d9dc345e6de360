//! Tests `make try`: a copy of this checkout, a fake `cargo` that "builds" the tested program, and a Neovim without a
//! screen.

use crate::kit::setup::Setup;
use crate::kit::{LIMIT, nvim_bin, root};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const CARGO: &str = "#!/bin/sh
mkdir -p target/release
cp \"$PROGRAM\" target/release/new
mv target/release/new target/release/caliban
";

/// Writes into the file `$SEEN` what the editor shows once the sample and the chat are open, then runs `$THEN`.
const LOOK: &str = "
vim.api.nvim_create_autocmd('VimEnter', { callback = function()
  local timer, tries = vim.uv.new_timer(), 0
  timer:start(0, 20, vim.schedule_wrap(function()
    tries = tries + 1
    local seen = {}
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      local buf = vim.api.nvim_win_get_buf(win)
      table.insert(seen, vim.fs.basename(vim.api.nvim_buf_get_name(buf)))
    end
    table.sort(seen)
    local shown = table.concat(seen, ' ')
    if (shown:find('^greet.py main%S* prompt$') or tries == 2000) and not timer:is_closing() then
      timer:close()
      vim.fn.writefile({ shown, vim.fn.execute('messages') }, vim.env.SEEN)
      vim.cmd(vim.env.THEN)
    end
  end))
end })
";

/// A checkout of its own, in which `make try` builds and copies.
fn checkout() -> Setup {
    let editor = format!(
        "#!/bin/sh\n[ \"$2\" = --clean ] || set -- \"$@\" -c 'luafile '\"$LOOK\"\nexec '{}' --headless \"$@\"\n",
        nvim_bin().display()
    );
    let setup = Setup::new()
        .file("../bin/cargo", CARGO)
        .mode("../bin/cargo", 0o755)
        .file("../look.lua", LOOK)
        .file("../bin/editor", editor)
        .mode("../bin/editor", 0o755);
    for name in ["try.sh", "try_init.lua"] {
        let to = setup.path("scripts").join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(root().join("scripts").join(name), to).unwrap();
    }
    for name in ["lua", "plugin", "doc", "examples"] {
        symlink(root().join(name), setup.path(name)).unwrap();
    }
    setup
}

/// `make try`. The editor writes into `seen` what it shows, and then runs the command `then`.
fn command(setup: &Setup, seen: &str, then: &str) -> Command {
    let path = format!("{}/bin:{}", setup.dir().display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.arg(setup.path("scripts/try.sh")).env_clear().env("PATH", path);
    command.env("HOME", setup.dir().join("home")).env("NVIM", setup.dir().join("bin/editor"));
    command.env("PROGRAM", env!("CARGO_BIN_EXE_caliban")).env("LOOK", setup.dir().join("look.lua"));
    command.env("SEEN", setup.dir().join(seen)).env("THEN", then);
    command.stdin(Stdio::null());
    command
}

/// Runs `make try` to its end.
fn tried(setup: &Setup, seen: &str) -> Output {
    command(setup, seen, "qall!").output().unwrap()
}

/// Checks that the editor shows the sample and a chat of this name, and no message.
#[track_caller]
fn shows(setup: &Setup, seen: &str, chat: &str) {
    let shown = fs::read_to_string(setup.dir().join(seen)).unwrap();
    assert_eq!(shown.trim(), format!("greet.py {chat} prompt"));
}

/// A process that is killed at the end of the test.
struct Open(Child);

impl Drop for Open {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until a file is there.
#[track_caller]
fn wait_file(setup: &Setup, name: &str) {
    let start = Instant::now();
    let path = setup.dir().join(name);
    while fs::read(&path).is_ok_and(|it| it.is_empty()) || !path.exists() {
        assert!(start.elapsed() < LIMIT, "waited in vain for {name}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

#[test]
fn the_first_build_says_how_long_it_takes_and_the_next_one_does_not() {
    let setup = checkout();
    let said = |it: Output| String::from_utf8(it.stdout).unwrap();
    let first = said(tried(&setup, "one"));
    assert!(
        first.contains("building the program: the first time takes about ten minutes"),
        "{first}"
    );
    assert!(first.contains("a new copy of the sample project"), "{first}");
    shows(&setup, "one", "main");
    let second = said(tried(&setup, "two"));
    assert!(second.contains("building the program: what has changed"), "{second}");
    assert!(second.contains("the sample project as you left it"), "{second}");
    shows(&setup, "two", "main");
}

#[test]
fn a_second_try_opens_beside_one_that_is_open() {
    let setup = checkout();
    let _open =
        Open(command(&setup, "one", "let g:open = 1").stdout(Stdio::null()).spawn().unwrap());
    wait_file(&setup, "one");
    shows(&setup, "one", "main");
    let second = tried(&setup, "two");
    assert!(second.status.success(), "{}", String::from_utf8_lossy(&second.stderr));
    shows(&setup, "two", "main-2");
}

#[test]
fn a_swap_file_of_an_editor_that_was_killed_does_not_stop_a_try() {
    let setup = checkout();
    tried(&setup, "one");
    let mut editor = Command::new(nvim_bin());
    let keys = "set swapfile | edit greet.py | call setline(1, 'mine') | preserve | call writefile(['x'], $SEEN)";
    editor.args(["--headless", "-u", "NONE", "-c", keys]).env("NVIM_APPNAME", "caliban-try");
    editor.env("HOME", setup.dir().join("home")).env("SEEN", setup.dir().join("swapped"));
    for name in ["XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
        editor.env_remove(name);
    }
    let editor = editor.current_dir(setup.path("target/try/sample")).stdin(Stdio::null());
    let open = Open(editor.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    wait_file(&setup, "swapped");
    drop(open);
    let swaps = setup.dir().join("home/.local/state/caliban-try/swap");
    assert!(fs::read_dir(swaps).is_ok_and(|it| it.count() == 1), "a swap file is left");
    assert!(tried(&setup, "two").status.success());
    shows(&setup, "two", "main");
}
