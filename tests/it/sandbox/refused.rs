//! Kernels without a sandbox. A seccomp filter of the test's thread, which Neovim and the program inherit, refuses the
//! system calls that a sandbox needs.

use super::shell;
use crate::grants::is_asked;
use crate::kit::sandbox::has_any;
use crate::review::scene::Scene;
use nix::libc::{EOPNOTSUPP, EPERM, SYS_landlock_create_ruleset, SYS_unshare};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
use serde_json::json;

/// The text of the current buffer.
const TEXT: &str = "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')";

/// Runs a test on a new thread in which the system call `call` fails with `error`, also in all processes that the test
/// starts.
fn without(call: i64, error: i32, test: impl FnOnce() + Send + 'static) {
    let refusing = move || {
        let action = SeccompAction::Errno(error.cast_unsigned());
        let rules = [(call, Vec::new())].into();
        let arch = std::env::consts::ARCH.try_into().unwrap();
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch).unwrap();
        apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
        test();
    };
    // a skipped test prints the name of its thread
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    std::thread::Builder::new().name(name).spawn(refusing).unwrap().join().unwrap();
}

fn start() -> Scene {
    let config = "{ mode = 'auto', permissions = { { allow = 'network', host = '127.0.0.1:1' } } }";
    let scene = Scene::start(|it| it.everyday().config(config).size(160, 60));
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    scene
}

/// Without Landlock there is no sandbox: `:checkhealth` names no limit that works, and each command needs consent.
#[test]
fn without_landlock_there_is_no_sandbox_and_every_command_needs_consent() {
    without(SYS_landlock_create_ruleset, EOPNOTSUPP, || {
        let scene = start();
        assert!(is_asked(&scene, "shell", json!({ "command": "ls" })));
        assert!(is_asked(&scene, "shell", json!({ "command": "touch a" })));
        scene.nvim.command("checkhealth caliban");
        scene.nvim.wait(
            |it| it.lua_str(TEXT).contains("This system has no sandbox: commands run with all"),
            "the report",
        );
        assert!(!scene.nvim.lua_str(TEXT).contains("Tested:"));
    });
}

/// Without namespaces the sandbox has fewer limits. `:checkhealth` names those that work and those that are missing.
#[test]
fn without_namespaces_only_the_limits_that_work_are_reported() {
    without(SYS_unshare, EPERM, || {
        if !has_any() {
            return;
        }
        let scene = start();
        assert!(is_asked(&scene, "shell", json!({ "command": "ls" })));
        let said = shell(
            &scene,
            "echo a > a; echo b > ../b; exec 3<>/dev/tcp/127.0.0.1/1; python3 -c '
import socket
socket.socketpair()
socket.socket(socket.AF_UNIX).connect(\"x\")'; ls a ../b",
        );
        assert!(said.contains("../b: Permission denied"), "{said}");
        assert!(said.contains("/dev/tcp/127.0.0.1/1: Operation not permitted"), "{said}");
        assert!(said.contains("PermissionError") && !said.contains("socketpair"), "{said}");
        assert!(said.contains("and has no network. If it failed for this reason"), "{said}");
        scene.wait_chat("The permission rules about network have no effect on this machine");
        scene.nvim.command("checkhealth caliban");
        let tried = "Tested: files outside of the project cannot be written.";
        scene.nvim.wait(|it| it.lua_str(TEXT).contains(tried), "the report");
        let text = scene.nvim.lua_str(TEXT);
        for what in [
            "Tested: there is no network.",
            "Tested: sockets of other programs cannot be reached.",
            "Not true: protected files of the project cannot be written.",
            "Not true: files with secrets cannot be read.",
            "Not true: permission rules can open hosts for commands.",
        ] {
            assert!(text.contains(what), "{text}");
        }
    });
}
