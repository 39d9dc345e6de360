//! The sandbox of commands, as the kernel enforces it. On a system without the full sandbox these tests say that they
//! are skipped.

#[cfg(target_os = "linux")]
mod attacks;
#[cfg(target_os = "linux")]
mod blinded;
#[cfg(target_os = "linux")]
mod brought;
#[cfg(target_os = "linux")]
mod caches;
#[cfg(target_os = "linux")]
mod gate;
#[cfg(target_os = "linux")]
mod git;
#[cfg(target_os = "linux")]
mod halfway;
#[cfg(target_os = "linux")]
mod linked;
#[cfg(target_os = "linux")]
mod more;
#[cfg(target_os = "linux")]
mod moved;
#[cfg(target_os = "linux")]
mod named;
#[cfg(target_os = "linux")]
mod own;
mod refused;
#[cfg(target_os = "linux")]
mod remotes;
#[cfg(target_os = "linux")]
mod siblings;
#[cfg(target_os = "linux")]
mod signed;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod store;
#[cfg(target_os = "linux")]
mod submodules;
#[cfg(target_os = "linux")]
mod watched;

use crate::grants::{call, is_asked};
use crate::kit::reply::Reply;
pub(crate) use crate::kit::sandbox::is_full;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, nine};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const ONCE: &str = ":Caliban approve<CR>";
const ALWAYS_ECHO: &str = "{ allow = 'shell', command = 'echo' }";

/// The host and port of the model's server as `host/port`, as in bash's `/dev/tcp/host/port`.
fn server(scene: &Scene) -> String {
    scene.server.url().trim_start_matches("http://").trim_end_matches('/').replace(':', "/")
}

fn shell(scene: &Scene, command: &str) -> String {
    call(scene, "shell", json!({ "command": command }), ONCE).0
}

fn outside(command: &str) -> Value {
    json!({ "command": command, "outside_sandbox": "it writes\nelsewhere" })
}

/// Without this test, the tests of the sandbox could all be skipped and nobody would notice. On a system that has what
/// the sandbox needs but forbids its use, as some containers do, `CALIBAN_NO_SANDBOX=1` skips this test too.
#[cfg(target_os = "linux")]
#[test]
fn a_linux_with_landlock_and_user_namespaces_has_the_full_sandbox() {
    let is_excused = std::env::var_os("CALIBAN_NO_SANDBOX").is_some();
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers =
        release.split(|c: char| !c.is_ascii_digit()).map(|it| it.parse().unwrap_or(0));
    let version: (u32, u32) = (numbers.next().unwrap(), numbers.next().unwrap());
    let has_landlock = fs::read_to_string("/sys/kernel/security/lsm")
        .map_or(version >= (6, 12), |it| it.split(',').any(|it| it == "landlock"));
    let namespaces = Command::new("unshare").args(["-U", "-r", "-n", "-m", "true"]).output();
    let has_namespaces = namespaces.is_ok_and(|it| it.status.success());
    if version >= (6, 12) && has_landlock && has_namespaces && !is_excused {
        assert!(is_full(), "Linux {release}");
    }
}

#[test]
fn a_command_writes_in_the_project_and_in_its_temporary_folder_only() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    let said = shell(
        &scene,
        "echo a > a.txt; echo t > $TMPDIR/t; cat $TMPDIR/t; echo b > ../b.txt; echo c > ~/c.txt",
    );
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some("a\n"));
    assert!(said.starts_with("t\n") && said.contains("../b.txt: Read-only file system"), "{said}");
    assert!(said.ends_with("call shell again with outside_sandbox and say why]"), "{said}");
    let above = scene.nvim.setup.dir();
    assert!(!above.join("b.txt").exists() && !above.join("home/c.txt").exists());
    // the next command of the conversation finds its temporary files
    assert!(shell(&scene, "cat $TMPDIR/t").starts_with('t'));
}

#[test]
fn commands_of_a_conversation_share_a_private_folder_for_temporary_files() {
    if !is_full() {
        return;
    }
    // the project of a test lies in the folder for temporary files itself
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    let mark = scene.nvim.setup.dir().file_name().unwrap().display().to_string();
    let file = format!("/tmp/{mark}.log");
    let said = shell(&scene, &format!("wc -l < a.txt > {file} && cat {file}"));
    assert_eq!(said, "9");
    assert_eq!(shell(&scene, &format!("cat {file}")), "9");
    assert!(!std::path::Path::new(&file).exists());
}

#[test]
fn a_command_cannot_write_project_files_that_would_run_outside_the_sandbox() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| {
        it.file(".git/config", "[core]\n").file(".git/hooks/x", "").file(".vscode/a", "")
    });
    let plant = ".git/config .git/hooks/post-commit .vscode/tasks.json";
    let said =
        shell(&scene, &format!("for f in {plant}; do echo evil > $f; done; echo b > .git/index"));
    assert_eq!(said.matches("Read-only file system").count(), 3, "{said}");
    assert_eq!(scene.on_disk(".git/config").as_deref(), Some("[core]\n"));
    assert_eq!(scene.on_disk(".git/index").as_deref(), Some("b\n"));
    let said = shell(
        &scene,
        "mv .git/hooks .git/h; mv .git old; rm -rf .vscode; umount .git/hooks; mount -t tmpfs x .vscode; \
         unshare -Urm umount .git/hooks; chmod 777 ~ .git/config; ls",
    );
    assert!(said.contains("Device or resource busy"), "{said}");
    assert!(scene.nvim.setup.path(".vscode/a").exists(), "{said}");
    let mode = fs::metadata(scene.nvim.setup.dir().join("home")).unwrap().permissions().mode();
    assert_ne!(mode & 0o777, 0o777, "{said}");
    assert!(scene.nvim.setup.path(".git/hooks/x").exists(), "{said}");
}

#[test]
fn a_command_sees_no_secrets_and_no_conversations() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    let above = scene.nvim.setup.dir();
    fs::create_dir_all(above.join("home/.ssh")).unwrap();
    fs::write(above.join("home/.ssh/id"), "the key").unwrap();
    fs::write(above.join("home/.netrc"), "the login").unwrap();
    let typed = [".bash_history", ".config/google-chrome/Default/Cookies", ".m2/settings-work.xml"];
    for name in typed {
        fs::create_dir_all(above.join("home").join(name).parent().unwrap()).unwrap();
        fs::write(above.join("home").join(name), "what was typed").unwrap();
    }
    let typed = typed.map(|it| format!("~/{it}")).join(" ");
    let said = shell(
        &scene,
        &format!("cat ~/.ssh/id ~/.netrc {typed}; ls -A ~/.ssh; ls -A ../data/caliban; echo end"),
    );
    assert!(!said.contains("the key") && !said.contains("the login"), "{said}");
    assert!(!said.contains("what was typed"), "{said}");
    assert!(
        said.contains("No such file") && !said.contains("sessions") && said.contains("end"),
        "{said}"
    );
}

#[test]
fn a_command_sees_neither_temporary_files_nor_outputs_of_other_conversations() {
    if !is_full() {
        return;
    }
    // with the second setting the command has the real `/tmp`
    for config in ["{}", "{ sandbox = { writable = { '/tmp' } } }"] {
        let scene = Scene::start(|it| it.config(config));
        let above = scene.nvim.setup.dir().to_owned();
        let user = rustix::process::geteuid().as_raw();
        let other = above.join(format!("tmp/caliban-{user}/other/tmp"));
        let outputs = above.join("cache/caliban/outputs");
        for folder in [&other, &outputs] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("x"), "words of another conversation").unwrap();
        }
        fs::set_permissions(
            above.join(format!("tmp/caliban-{user}")),
            fs::Permissions::from_mode(0o700),
        )
        .unwrap();
        let said = shell(
            &scene,
            "echo own > $TMPDIR/t; cat $TMPDIR/t; grep -r another ../tmp ../cache; ls -R ../tmp ../cache; echo end",
        );
        assert!(said.starts_with("own\n") && said.contains("end"), "{config}: {said}");
        assert!(!said.contains("words of another") && !said.contains("other"), "{config}: {said}");
        assert!(shell(&scene, "cat $TMPDIR/t").starts_with("own"), "{config}");
    }
}

#[test]
fn temporary_files_go_with_the_conversation_also_if_a_command_has_closed_their_folder() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    let above = scene.nvim.setup.dir().to_owned();
    let outside = above.join("outside");
    fs::create_dir(&outside).unwrap();
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o755)).unwrap();
    shell(
        &scene,
        "mkdir -p $TMPDIR/a/b; ln -s $(realpath ../outside) $TMPDIR/a/b/link; chmod 000 $TMPDIR/a/b $TMPDIR/a",
    );
    let all = fs::read_dir(above.join("tmp")).unwrap().flatten();
    let all: Vec<_> =
        all.filter(|it| it.file_name().to_string_lossy().starts_with("caliban-")).collect();
    let [all] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(fs::read_dir(all.path()).unwrap().count(), 1);
    assert!(scene.nvim.quit_with(":qa!<CR>").success());
    scene.nvim.wait_program_end();
    assert_eq!(fs::read_dir(all.path()).unwrap().count(), 0);
    assert_eq!(fs::metadata(&outside).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_command_has_no_network_except_a_loopback_of_its_own() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    let connect = |host: &str| format!("exec 3<>/dev/tcp/{host} && echo connected");
    let said = shell(&scene, &connect(&server(&scene)));
    assert!(said.contains("Connection refused") && !said.contains("connected\n"), "{said}");
    let own = "import socket\ns = socket.create_server(('127.0.0.1', 0))\n\
               socket.create_connection(s.getsockname())\nprint('own server')";
    let said = shell(&scene, &format!("python3 - <<'EOF'\n{own}\nEOF"));
    assert!(said.contains("own server"), "{said}");
}

#[test]
fn a_command_cannot_reach_the_editor() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    let (editor, socket) = (scene.nvim.pid(), scene.nvim.lua_str("return vim.v.servername"));
    let said = shell(
        &scene,
        &format!(
            "kill -0 {editor} && echo signalled; cat /proc/{editor}/environ && echo read; ls -l {socket} $NVIM; echo end"
        ),
    );
    for bad in ["signalled", "read\n", "ANTHROPIC"] {
        assert!(!said.contains(bad), "{said}");
    }
    assert!(!said.contains("srw") && said.contains("end"), "{said}");
}

#[test]
fn a_command_outside_of_the_sandbox_needs_consent_even_if_a_rule_allows_it_inside() {
    if !is_full() {
        return;
    }
    let config = format!("{{ permissions = {{ {ALWAYS_ECHO} }} }}");
    let scene = Scene::start(|it| it.config(&config).size(160, 40));
    assert!(!is_asked(&scene, "shell", json!({ "command": "echo one" })));
    let command = "echo two > ../two.txt";
    let (said, was_asked) = call(&scene, "shell", outside(command), ":Caliban approve session<CR>");
    assert!(was_asked && said == "[no output]", "{said}");
    assert!(scene.nvim.setup.dir().join("two.txt").exists());
    // the permission applies to this command outside of the sandbox
    assert!(!is_asked(&scene, "shell", outside(command)));
    assert!(is_asked(&scene, "shell", json!({ "command": command })));
    assert!(is_asked(&scene, "shell", outside("echo three")));
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen("1: run echo two > ../two.txt outside of the sandbox");
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("You are asked again before: run echo two");
    assert!(is_asked(&scene, "shell", outside(command)));
}

#[test]
fn the_line_of_a_command_outside_of_the_sandbox_shows_the_command() {
    let scene = Scene::start(|it| it.size(80, 24));
    let why = "The command has to reach a service of this machine that the sandbox does not show.";
    let call = json!({ "command": "echo abcdefghij", "outside_sandbox": why });
    scene.server.reply(Reply::new().call("c1", "shell", call));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.nvim.wait_question();
    scene.server.reply(Reply::said("So."));
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("So.");
    scene.nvim.wait_screen("▸ shell  echo abcdefghij  outside");
    scene.nvim.wait_gone("The command has to");
    scene.nvim.go_to_transcript("▸ shell");
    scene.nvim.keys("<CR>");
    scene.nvim.wait_screen("outside of the sandbox: The command has to reach");
}

#[test]
fn the_question_about_a_command_outside_of_the_sandbox_shows_the_reason_in_one_line() {
    let scene = Scene::start(|it| it.size(160, 40));
    scene.server.reply(Reply::new().call("c1", "shell", outside("echo a")));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.nvim.wait_transcript("Run `echo a` outside of the sandbox?");
    scene.nvim.wait_transcript("The model says: it writes elsewhere");
    scene.nvim.keys(":Caliban<CR><Esc><Tab>i");
    scene.nvim.wait_transcript("needs your consent, whatever the permission rules say.");
    scene.nvim.wait_transcript("echo a: ");
    let ruled = scene.nvim.transcript().matches("ermission rule").count();
    assert_eq!(ruled, 2, "{}", scene.nvim.transcript());
    scene.server.reply(Reply::said("Good."));
    scene.nvim.keys(":Caliban deny<CR>");
    scene.wait_idle("Good.");
}

#[test]
fn the_settings_allow_network_and_folders_in_the_sandbox_or_turn_it_off() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| {
        let writable = it.dir().join("more").display().to_string();
        fs::create_dir_all(&writable).unwrap();
        it.config(&format!("{{ sandbox = {{ network = true, writable = {{ '{writable}' }} }} }}"))
    });
    let host = server(&scene);
    let said = shell(
        &scene,
        &format!("exec 3<>/dev/tcp/{host} && echo connected; echo a > ../more/a; echo b > ../b"),
    );
    assert!(
        said.starts_with("connected") && said.contains("../b: Read-only file system"),
        "{said}"
    );
    assert!(scene.nvim.setup.dir().join("more/a").exists());
    let scene = Scene::start(|it| it.config("{ sandbox = false }"));
    shell(&scene, "echo b > ../b");
    assert!(scene.nvim.setup.dir().join("b").exists());
}

#[test]
fn the_health_check_lists_the_limits_of_the_sandbox_that_were_tried() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.size(160, 80));
    scene.nvim.command("checkhealth caliban");
    for what in [
        "there is no network",
        "permissions of files outside cannot be changed",
        "files with secrets cannot be read",
        "the editor's environment cannot be read",
    ] {
        scene.nvim.wait_screen(&format!("Tested: {what}."));
    }
    assert!(!scene.nvim.screen().contains("Not true"), "{}", scene.nvim.screen());
}

#[test]
fn auto_mode_runs_commands_in_the_sandbox_without_a_question() {
    if !is_full() {
        return;
    }
    let rules =
        "{ { deny = 'shell', command = 'git push' }, { ask = 'shell', command = 'touch' } }";
    let config = format!("{{ mode = 'auto', permissions = {rules} }}");
    let scene = Scene::start(|it| it.config(&config).size(160, 40));
    scene.nvim.keys(":Caliban<CR>");
    scene.nvim.wait_screen(" · auto · ");
    let (said, was_asked) =
        call(&scene, "shell", json!({ "command": "x=1; echo $x > a.txt; cat a.txt" }), "");
    assert!(said.starts_with('1') && !was_asked, "{said}");
    let (said, was_asked) = call(&scene, "shell", json!({ "command": "echo b > ../b.txt" }), "");
    assert!(said.contains("Read-only file system") && !was_asked, "{said}");
    assert!(!scene.nvim.setup.dir().join("b.txt").exists());
    assert!(is_asked(&scene, "shell", json!({ "command": "touch a" })));
    assert!(is_asked(&scene, "shell", outside("echo a")));
    let (said, was_asked) = call(&scene, "shell", json!({ "command": "git push" }), "");
    assert!(said.starts_with("Not run. A permission rule denies") && !was_asked, "{said}");
    let told = scene.server.requests()[0].last_user_text();
    assert!(told.contains("Auto mode is on"), "{told}");
}

#[test]
fn without_a_sandbox_auto_mode_asks_before_it_runs_a_command() {
    for sandbox in ["false", "{ network = true }"] {
        let config = format!("{{ sandbox = {sandbox} }}");
        let scene = Scene::start(|it| it.config(&config).size(160, 40));
        scene.nvim.keys(":Caliban<CR>");
        scene.wait_chat("Project");
        scene.nvim.keys(":Caliban mode auto<CR>");
        scene.nvim.wait_screen("Commands need your consent in auto mode too");
        assert!(is_asked(&scene, "shell", json!({ "command": "echo a" })));
    }
}

#[test]
fn everyday_commands_run_in_the_sandbox_without_a_question() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.file("a.txt", nine()).everyday());
    for command in [
        "cat a.txt | head -2",
        "ls -la && wc -l a.txt",
        "git status --short 2>/dev/null; true",
        "git --no-pager -C . status 2>/dev/null; true",
        "set -euo pipefail; sort a.txt | uniq -c",
        "python3 -m unittest --help; echo \"exit: $?\"",
    ] {
        let (_, was_asked) = call(&scene, "shell", json!({ "command": command }), ONCE);
        assert!(!was_asked, "{command}");
    }
    for command in [
        "rm a.txt",
        "sed -i s/a/b/ a.txt",
        "cat a.txt > b.txt",
        "cat ../a",
        "git commit -m x",
        "cat .env",
    ] {
        assert!(is_asked(&scene, "shell", json!({ "command": command })), "{command}");
    }
    let scene = Scene::start(|it| it.everyday().config("{ sandbox = false }"));
    assert!(is_asked(&scene, "shell", json!({ "command": "ls" })));
    let scene = Scene::start(|it| {
        it.everyday().config("{ permissions = { { ask = 'shell', command = 'ls' } } }")
    });
    assert!(is_asked(&scene, "shell", json!({ "command": "ls" })));
}

#[test]
fn before_the_first_command_a_command_is_explained_as_it_will_be_judged() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(Setup::everyday);
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    scene.nvim.keys(":Caliban permissions ls<CR>");
    scene.wait_chat("The command runs without a question");
}
