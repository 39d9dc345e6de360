//! The debug log: bounded, private, and complete when the program ends.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

const LAST: &str = "the program ends\n";

fn log(setup: &Setup, name: &str) -> PathBuf {
    setup.dir().join("cache/caliban").join(name)
}

/// Writes a log of `size` bytes, as if an earlier program had left it.
fn filled(setup: Setup, size: usize) -> Setup {
    fs::create_dir_all(setup.dir().join("cache/caliban")).unwrap();
    let lines = "x".repeat(99) + "\n";
    fs::write(log(&setup, "debug.log"), lines.repeat(size / 100)).unwrap();
    setup
}

#[test]
fn a_full_log_is_rolled_over_and_all_logs_together_stay_within_ten_megabytes() {
    let server = Server::start();
    let setup = filled(Setup::new().anthropic(&server), 5_000_000);
    fs::write(log(&setup, "debug.log.1"), "an older one").unwrap();
    let open = Permissions::from_mode(0o644);
    fs::set_permissions(log(&setup, "debug.log"), open).unwrap();
    server.reply(Reply::said("Fine."));
    let nvim = Nvim::start(&setup);
    nvim.ask("my prompt", "Fine.");
    assert!(nvim.quit_with(":qa!<CR>").success());
    let mut all = 0;
    for name in ["debug.log", "debug.log.1"] {
        let file = fs::metadata(log(&setup, name)).unwrap();
        assert_eq!(file.mode() & 0o777, 0o600, "{name}");
        all += file.size();
    }
    assert!((5_000_000..=10_000_000).contains(&all), "{all}");
    let text = setup.debug_log();
    assert!(text.contains(" hello ") && text.ends_with(LAST), "{text}");
    assert!(!text.contains("my prompt") && !text.contains("key-of-the-test"), "{text}");
    assert_eq!(fs::metadata(log(&setup, "debug.log.1")).unwrap().size(), 5_000_000);
}

#[test]
fn two_neovims_share_one_log_that_rolls_over() {
    let server = Server::start();
    let setup = filled(Setup::new().anthropic(&server), 4_999_800);
    let first = Nvim::start(&setup);
    first.command("Caliban");
    first.wait_phase("idle");
    let second = Nvim::start(&setup);
    second.command("Caliban new");
    second.wait_phase("idle");
    let hellos = |nvim: &Nvim| {
        let old = fs::read_to_string(log(&nvim.setup, "debug.log.1")).unwrap_or_default();
        (old + &nvim.setup.debug_log()).matches(" hello ").count()
    };
    second.wait(|nvim| hellos(nvim) == 2, "both programs have begun");
    assert!(second.quit_with(":qa!<CR>").success());
    assert!(first.quit_with(":qa!<CR>").success());
    let old = fs::read_to_string(log(&setup, "debug.log.1")).unwrap();
    assert!(old.len() <= 5_000_000, "{}", old.len());
    let all = old + &setup.debug_log();
    assert_eq!((all.matches(" hello ").count(), all.matches(LAST).count()), (2, 2));
    assert!(setup.debug_log().ends_with(LAST));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_log_lines_and_nothing_else() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let server = Server::start();
    let setup = filled(Setup::new().anthropic(&server), 1_000);
    // The program's files may grow to 1024 bytes, and the log has 1000 already.
    let script = "trap '' XFSZ\nulimit -S -f 1\nexec \"$KIT_BIN\"";
    let nvim = Nvim::start(&setup.started_by(script));
    server.reply(Reply::said("Fine."));
    nvim.ask("one", "Fine.");
    // while a line is being written, the log may hold a part of it
    nvim.wait(|nvim| nvim.setup.debug_log().len() == 1_000, "a log without a part of a line");
    // Without the limit the log can grow again.
    let program = |(_, line): &(u32, String)| line.ends_with("/caliban");
    let (pid, _) = nvim.setup.processes().into_iter().find(program).unwrap();
    let pid = Pid::from_raw(pid.cast_signed());
    prlimit(pid, Resource::Fsize, Rlimit { current: None, maximum: None }).unwrap();
    assert!(nvim.quit_with(":qa!<CR>").success());
    let text = nvim.setup.debug_log();
    assert!(text[1_000..].lines().count() > 0 && text.ends_with(LAST), "{text}");
    assert!(!text.contains(" hello "), "{text}");
    assert!(text[1_000..].lines().all(|it| it.contains(" caliban::")), "{text}");
}
