//! Ways out of the sandbox, tried by a command on this kernel.

use super::{is_full, shell};
use crate::grants::is_asked;
use crate::kit::reply::Reply;
use crate::kit::sandbox::has_any;
use crate::review::scene::{Scene, write};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;
use std::fs::{self, File};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::Command;

/// Functions for the scripts below: `t` tries an action and prints its name with the error, or with `OPEN` if the
/// action succeeds; `sc` makes a system call.
const TRY: &str = "
import ctypes, errno, fcntl, os, signal, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
def sc(*given):
    ctypes.set_errno(0)
    long = [ctypes.c_long(it) if isinstance(it, int) else it for it in given]
    if libc.syscall(*long) < 0:
        raise OSError(ctypes.get_errno(), 'refused')
def t(name, tried):
    try:
        tried()
        print(name, 'OPEN')
    except OSError as fault:
        print(name, errno.errorcode[fault.errno])
";

/// What a script prints in the sandbox.
pub(super) fn tried(scene: &Scene, script: &str) -> String {
    fs::write(scene.nvim.setup.path("try.py"), format!("{TRY}{script}")).unwrap();
    shell(scene, "python3 try.py")
}

#[track_caller]
pub(super) fn holds(said: &str, count: usize) {
    assert!(!said.contains("OPEN") && !said.contains("Traceback"), "{said}");
    assert_eq!(said.lines().filter(|it| it.contains(" E")).count(), count, "{said}");
}

#[test]
fn a_command_cannot_change_the_mounts_that_hide_and_protect_files() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.file(".git/hooks/x", "").file(".github/workflows/a", ""));
    let above = scene.nvim.setup.dir();
    fs::create_dir_all(above.join("home/.ssh")).unwrap();
    fs::write(above.join("home/.ssh/id"), "the key").unwrap();
    let said = tried(
        &scene,
        "
hooks, ssh = b'.git/hooks', os.path.expanduser('~/.ssh').encode()
def mounts(when):
    t(when + 'umount hooks', lambda: sc(166, hooks, 2))
    t(when + 'umount keys', lambda: sc(166, ssh, 2))
    t(when + 'remount', lambda: sc(165, None, hooks, None, 32 | 4096, None))
    t(when + 'set rights', lambda: sc(442, -100, hooks, 0, struct.pack('QQQQ', 0, 1, 0, 0), 32))
    t(when + 'set rights of a tree', lambda: sc(467, -100, hooks, 0, struct.pack('QQQQ', 0, 1, 0, 0), 32))
    t(when + 'cover', lambda: sc(165, b'tmpfs', hooks, b'tmpfs', 0, None))
    t(when + 'bind', lambda: sc(165, b'.git', hooks, None, 4096, None))
    t(when + 'move', lambda: sc(165, hooks, b'.github', None, 8192, None))
    t(when + 'pivot', lambda: sc(155, b'.', b'.'))
mounts('')
sc(272, 0x10000000 | 0x00020000)
mounts('again: ')
t('rename git', lambda: os.rename('.git', 'old'))
t('rename hooks', lambda: os.rename('.git/hooks', 'old'))
t('rename parent', lambda: os.rename('.github', 'old'))
t('swap parent', lambda: sc(316, -100, b'.github', -100, b'try.py', 2))
t('link', lambda: os.link('.git/hooks/x', 'x'))
t('read key', lambda: open(ssh + b'/id'))
t('open hook', lambda: open('.git/hooks/x', 'w'))
t('by root', lambda: open('/proc/self/root' + os.path.abspath('.git/hooks/x'), 'w'))
t('by descriptor', lambda: open('/proc/self/fd/%d' % os.open('.git/hooks/x', 0), 'w'))
",
    );
    holds(&said, 27);
    assert!(scene.nvim.setup.path(".github/workflows/a").exists());
}

#[test]
fn a_command_cannot_write_outside_by_another_name_of_a_file() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    let other = scene.nvim.setup.dir().join("other");
    fs::write(&other, "text").unwrap();
    symlink(&other, scene.nvim.setup.path("link")).unwrap();
    let said = tried(
        &scene,
        "
other = os.path.abspath('../other')
t('link', lambda: open('link', 'w'))
t('root', lambda: open('/proc/self/root' + other, 'w'))
t('descriptor', lambda: open('/proc/self/fd/%d' % os.open(other, 0), 'w'))
t('hard link', lambda: os.link(other, 'hard'))
t('rename into', lambda: os.rename('try.py', other))
t('rename out', lambda: os.rename(other, 'mine'))
t('remove', lambda: os.remove(other))
t('rights', lambda: os.chmod(other, 0o777))
t('rights by descriptor', lambda: os.fchmod(os.open(other, 0), 0o777))
t('times', lambda: os.utime(other, (1, 1)))
t('attributes', lambda: os.setxattr(other, 'user.x', b'1'))
t('kernel', lambda: open('/proc/sys/kernel/core_pattern', 'w'))
t('group', lambda: open('/sys/fs/cgroup/cgroup.procs', 'w'))
",
    );
    holds(&said, 13);
    assert_eq!(fs::read_to_string(other).unwrap(), "text");
}

#[test]
fn a_command_cannot_touch_processes_outside() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    let said = tried(
        &scene,
        &format!(
            "
pid = {}
os.stat('/proc/%d/environ' % pid)
t('signal', lambda: os.kill(pid, 0))
t('trace', lambda: sc(101, 16, pid, 0, 0))
t('read', lambda: sc(310, pid, None, 0, None, 0, 0))
t('memory', lambda: open('/proc/%d/mem' % pid, 'rb'))
t('environment', lambda: open('/proc/%d/environ' % pid).read())
t('root', lambda: os.listdir('/proc/%d/root/' % pid))
t('folder', lambda: os.listdir('/proc/%d/cwd/' % pid))
t('files', lambda: os.readlink('/proc/%d/fd/0' % pid))
t('namespace', lambda: os.open('/proc/%d/ns/mnt' % pid, 0))
t('limits', lambda: sc(302, pid, 0, struct.pack('QQ', 9, 9), 0))
t('its file', lambda: sc(438, os.pidfd_open(pid), 0, 0))
t('signal by descriptor', lambda: signal.pidfd_send_signal(os.pidfd_open(pid), 0))
t('priority', lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
t('priority of a group', lambda: os.setpriority(os.PRIO_PGRP, os.getpgid(pid), 19))
t('priority of all', lambda: os.setpriority(os.PRIO_USER, 0, 19))
t('processors', lambda: os.sched_setaffinity(pid, {{0}}))
t('scheduler', lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))
t('parameters', lambda: os.sched_setparam(pid, os.sched_param(0)))
t('attributes', lambda: sc(314, pid, struct.pack('IIQiIQQQ', 48, 5, 0, 0, 0, 0, 0, 0), 0))
t('disk', lambda: sc(251, 1, pid, 3 << 13))
t('disk of all', lambda: sc(251, 3, 0, 3 << 13))
t('pages', lambda: sc(256, pid, 1, b'1' * 8, b'1' * 8))
t('advice', lambda: sc(440, os.pidfd_open(pid), None, 0, 20, 0))
t('compare', lambda: sc(312, pid, os.getpid(), 0, 0, 0))
os.setpriority(os.PRIO_PROCESS, 0, 5)
os.sched_setaffinity(0, {{0}})
print('own', os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0))
",
            scene.nvim.pid()
        ),
    );
    holds(&said, 24);
    assert!(said.contains("own 5 {0}"), "{said}");
}

#[test]
fn a_command_cannot_make_calls_that_reach_into_the_kernel() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    let said = tried(
        &scene,
        "
t('keys', lambda: sc(250, 0, -3, 0))
t('new key', lambda: sc(248, b'user', b'x', b'x', 1, -3))
t('bpf', lambda: sc(321, 0, b'0' * 120, 120))
t('perf', lambda: sc(298, b'0' * 120, 0, -1, -1, 0))
t('faults', lambda: sc(323, 1))
t('ring', lambda: sc(425, 1, b'0' * 120))
t('ring by x32', lambda: sc(0x40000000 | 425, 1, b'0' * 120))
t('type', lambda: fcntl.ioctl(os.open('/dev/ptmx', os.O_RDWR), 0x5412, b'x'))
t('host name', lambda: sc(170, b'evil', 4))
print(*[it for it in open('/proc/self/status') if it.startswith('NoNewPrivs')])
",
    );
    holds(&said, 9);
    assert!(said.contains("NoNewPrivs:\t1"), "{said}");
    if cfg!(target_arch = "x86_64") {
        assert!(said.contains("ring by x32 EPERM"), "{said}");
    }
}

/// Whoever opens a terminal reads what is typed there.
#[test]
fn a_command_has_few_devices_and_no_terminal_but_its_own() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    let (_open, terminal) = terminal();
    let said = tried(
        &scene,
        &format!(
            "
t('read', lambda: os.open('{terminal}', os.O_RDONLY | os.O_NOCTTY))
t('draw', lambda: os.open('{terminal}', os.O_WRONLY | os.O_NOCTTY))
t('own', lambda: os.open('/dev/tty', os.O_RDWR))
t('device', lambda: os.mknod('/dev/other', 0o20666, os.makedev(1, 5)))
t('file', lambda: open('/dev/other', 'w'))
t('rights', lambda: os.chmod('/dev/null', 0o600))
print(*sorted(os.listdir('/dev')))
print(*sorted(os.listdir('/dev/pts')))
ours, theirs = os.openpty()
print(os.ttyname(theirs), os.write(ours, b'x'))
open('/dev/null', 'w').write('x')
open('/dev/shm/x', 'w').write('x')
print(len(open('/dev/urandom', 'rb').read(9)))
"
        ),
    );
    holds(&said, 6);
    let all = "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero\nptmx\n";
    assert!(said.contains(all), "{said}");
    assert!(said.ends_with("/dev/pts/0 1\n9"), "{said}");
}

#[test]
fn a_command_has_the_devices_that_the_settings_make_writable() {
    let device =
        ["/dev/fuse", "/dev/kvm", "/dev/kmsg"].into_iter().find(|it| Path::new(it).exists());
    let (true, Some(device)) = (is_full(), device) else { return };
    let settings = format!("{{ sandbox = {{ writable = {{ '{device}' }} }} }}");
    let scene = Scene::start(|it| it.config(&settings));
    let said = shell(&scene, "ls /dev");
    let name = device.trim_start_matches("/dev/");
    assert!(said.lines().any(|it| it == name), "{said}");
}

/// Without user namespaces, Landlock alone keeps a command from other terminals.
#[test]
fn the_weaker_sandbox_opens_no_terminal_of_other_programs() {
    if !has_any() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("project/.git/hooks")).unwrap();
    let (_open, terminal) = terminal();
    let mut check = Command::new(env!("CARGO_BIN_EXE_caliban"));
    check.args(["sandbox-check", "plain"]).arg(dir.path()).args(["127.0.0.1:1", "1", &terminal]);
    let said = String::from_utf8(check.output().unwrap().stdout).unwrap();
    let holds = "holds\tTested: the terminals of other programs cannot be opened.\n";
    assert!(said.contains(holds), "{said}");
    assert!(said.contains("holds\tTested: files in the project can be written.\n"), "{said}");
}

/// The terminal of another program, and its path.
fn terminal() -> (OwnedFd, String) {
    let open = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&open).unwrap();
    unlockpt(&open).unwrap();
    let path = ptsname(&open, Vec::new()).unwrap().into_string().unwrap();
    (open, path)
}

#[test]
fn a_command_reaches_no_program_outside_by_a_socket() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    let setup = &scene.nvim.setup;
    let _above = UnixListener::bind(setup.dir().join("a socket")).unwrap();
    let _inside = UnixListener::bind(setup.path("socket")).unwrap();
    let name = format!("caliban{}", scene.nvim.pid());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    let said = tried(
        &scene,
        &format!(
            "
def to(*kind):
    return lambda *address: socket.socket(*kind).connect(*address)
t('above', lambda: to(socket.AF_UNIX)('../a socket'))
t('inside', lambda: to(socket.AF_UNIX)('socket'))
t('abstract', lambda: to(socket.AF_UNIX)('\\0{name}'))
t('host', lambda: to(40, socket.SOCK_STREAM)((2, 1)))
t('packets', lambda: socket.socket(17, socket.SOCK_RAW))
t('cipher', lambda: socket.socket(38, socket.SOCK_SEQPACKET))
t('outside', lambda: to(socket.AF_INET, socket.SOCK_DGRAM)(('192.0.2.1', 53)))
own = socket.socket(socket.AF_UNIX)
own.bind('own')
own.listen()
to(socket.AF_UNIX)('own')
print('own socket')
"
        ),
    );
    holds(&said, 7);
    assert!(said.contains("own socket") && said.contains("host EPERM"), "{said}");
}

#[test]
fn a_command_inherits_no_open_files() {
    if !is_full() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (folder, file) = (File::open("/").unwrap(), File::create(dir.path().join("file")).unwrap());
    for it in [&folder, &file] {
        fcntl_setfd(it, FdFlags::empty()).unwrap();
    }
    let scene = Scene::start(|it| it);
    let numbers = [folder.as_raw_fd(), file.as_raw_fd()].map(|it| it.to_string()).join(", ");
    let said =
        tried(&scene, &format!("for it in ({numbers}):\n    t('file', lambda: os.fstat(it))\n"));
    holds(&said, 2);
}

#[test]
fn a_repository_whose_folder_is_a_link_is_not_contained() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.file("repository/HEAD", "").everyday());
    let git = scene.nvim.setup.path(".git");
    fs::remove_dir_all(&git).unwrap();
    symlink("repository", &git).unwrap();
    assert!(is_asked(&scene, "shell", json!({ "command": "ls" })));
}

#[test]
fn a_command_cannot_create_hooks_in_a_repository_without_hooks() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.file(".git/HEAD", "ref: refs/heads/main\n"));
    let said = shell(&scene, "mkdir -p .git/hooks; echo evil > .git/hooks/post-commit");
    assert!(said.contains("Read-only file system"), "{said}");
}

/// Files that programs outside of the sandbox run, and that do not exist yet.
const PLANTED: &str = ".envrc .exrc .nvim.lua .vscode/tasks.json .git/commondir .git/config.worktree .husky/pre-commit \
    .cargo/config.toml .pre-commit-config.yaml lefthook.yml .github/workflows/a.yml .claude/settings.json .tasks \
    .gitattributes AGENTS.md .bashrc .idea/workspace.xml .devcontainer/devcontainer.json mise.toml";

#[test]
fn files_that_would_run_outside_are_not_created_by_a_command_and_the_model_is_told() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| {
        it.file(".git/config", "[core]\n").file(".git/HEAD", "ref: refs/heads/main\n")
    });
    let script = format!(
        "for f in {PLANTED}; do mkdir -p $(dirname $f); echo evil > $f; done\necho a > b.txt; echo c > .editorconfig"
    );
    fs::write(scene.nvim.setup.path("plant.sh"), script).unwrap();
    let said = shell(&scene, "bash plant.sh");
    assert!(said.contains("[the sandbox refused files that commands may not create: "), "{said}");
    for it in PLANTED.split_whitespace() {
        assert_eq!(scene.on_disk(it), None, "{it}: {said}");
    }
    assert!(
        said.contains(
            ".envrc, which runs when a folder is entered or opened (renamed to .envrc.refused)"
        ),
        "{said}"
    );
    assert_eq!(scene.on_disk(".envrc.refused").as_deref(), Some("evil\n"));
    assert_eq!(scene.on_disk("b.txt").as_deref(), Some("a\n"));
    assert_eq!(scene.on_disk(".editorconfig").as_deref(), Some("c\n"));
    // creates the files by links, renames and `mkfifo` instead of writing
    let script = "echo evil > x; ln x .envrc; ln -s x .exrc; mv x .nvim.lua; mkdir -p y/.vscode; mv y/.vscode .vscode\n\
        mkfifo .tasks; mkdir z; touch z/hgrc; ln -s z .hg";
    fs::write(scene.nvim.setup.path("plant.sh"), script).unwrap();
    let said = shell(&scene, "bash plant.sh");
    for it in [".envrc", ".exrc", ".nvim.lua", ".vscode", ".tasks", ".hg"] {
        assert!(scene.nvim.setup.path(it).symlink_metadata().is_err(), "{it}: {said}");
    }
    scene.nvim.keys(":Caliban log permissions<CR>");
    scene.nvim.wait_screen("refused: create .envrc");
}

#[test]
fn files_that_would_run_outside_are_removed_while_the_job_that_created_them_runs() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    let wait = "until [ -e .envrc.refused ]; do :; done; echo gone; read x";
    let command = json!({ "command": format!("echo evil > .envrc; {wait}"), "background": true });
    let (mut said, _) = crate::grants::call(&scene, "shell", command, ":Caliban approve<CR>");
    while !said.contains("gone") {
        let read = json!({ "action": "read", "id": 1, "wait_s": 600 });
        said += &crate::grants::call(&scene, "job", read, "").0;
    }
    assert!(scene.on_disk(".envrc").is_none(), "{said}");
    said += &crate::grants::call(&scene, "job", json!({ "action": "read", "id": 1 }), "").0;
    assert!(said.contains("renamed to .envrc.refused"), "{said}");
}

#[test]
fn a_file_that_the_user_writes_or_accepts_during_a_command_stays_until_the_command_changes_it() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    // once Caliban has refused a file that the job creates, it has also looked at the files before it
    let job = "w() { until [ -e $1 ]; do sleep 0.02; done; }
w .envrc; w .vscode/a.json; w AGENTS.md; echo x > .exrc; w .exrc.refused; echo all there
w go; echo evil > .envrc; w .envrc.refused; echo changed; read x";
    let command = json!({ "command": job, "background": true });
    let (mut said, _) = crate::grants::call(&scene, "shell", command, ":Caliban approve<CR>");
    scene.nvim.keys(":tabedit .envrc<CR>iexport A=1<Esc>:write<CR>");
    scene.nvim.keys(":tabedit .vscode/a.json<CR>i{}<Esc>:write ++p<CR>");
    scene.server.reply(Reply::new().call("w", "write", write("AGENTS.md", "Be brief.\n")));
    scene.ask(Reply::said("I wrote it."));
    scene.wait_pending(1);
    scene.nvim.lua("require('caliban').accept({ scope = 'all' })", &[]);
    scene.wait_idle("I wrote it.");
    let mut until = |text: &str| {
        while !said.contains(text) {
            let read = json!({ "action": "read", "id": 1, "wait_s": 600 });
            said += &crate::grants::call(&scene, "job", read, "").0;
        }
    };
    until("all there");
    assert_eq!(scene.on_disk(".envrc").as_deref(), Some("export A=1\n"));
    assert_eq!(scene.on_disk(".vscode/a.json").as_deref(), Some("{}\n"));
    assert_eq!(scene.on_disk("AGENTS.md").as_deref(), Some("Be brief.\n"));
    fs::write(scene.nvim.setup.path("go"), "").unwrap();
    until("changed");
    assert_eq!(scene.on_disk(".envrc"), None);
    assert_eq!(scene.on_disk(".envrc.refused").as_deref(), Some("evil\n"));
}

#[test]
fn a_command_cannot_change_existing_files_that_run_outside() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| {
        it.file(".envrc", "mine")
            .file(".cargo/config.toml", "mine")
            .file("lefthook.yml", "mine")
            .file(".husky/a", "mine")
    });
    let said = tried(
        &scene,
        "
for name in ('.envrc', '.cargo/config.toml', 'lefthook.yml', '.husky/a'):
    t('open', lambda: open(name, 'w'))
    t('append', lambda: open(name, 'a'))
    t('remove', lambda: os.remove(name))
    t('rename', lambda: os.rename(name, 'x'))
    t('replace', lambda: os.rename('try.py', name))
    t('exchange', lambda: sc(316, -100, name.encode(), -100, b'try.py', 2))
    t('link', lambda: os.link(name, 'y'))
    t('rights', lambda: os.chmod(name, 0o777))
    t('by root', lambda: open('/proc/self/root' + os.path.abspath(name), 'w'))
    t('truncate', lambda: os.truncate(name, 0))
t('folder', lambda: os.rename('.cargo', 'z'))
t('folder over', lambda: (os.mkdir('w'), os.rename('w', '.husky')))
",
    );
    holds(&said, 42);
    assert_eq!(scene.on_disk(".envrc").as_deref(), Some("mine"));
}

#[test]
fn a_program_that_runs_from_memory_has_the_same_limits() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.file(".git/hooks/x", ""));
    let script = "
fd = os.memfd_create('x', 0)
os.write(fd, open('/bin/cat', 'rb').read())
if os.fork() == 0:
    os.execv('/proc/self/fd/%d' % fd, ['tee', '/proc/self/status'])
os.wait()
t('hook', lambda: open('.git/hooks/x', 'w'))
pid = os.fork()
if pid == 0:
    signal.pause()
t('trace own', lambda: sc(101, 16, pid, 0, 0))
os.kill(pid, 9)
sc(272, 0x10000000)
t('in a user namespace', lambda: open('.git/hooks/x', 'w'))
t('ring there', lambda: sc(425, 1, b'0' * 120))
";
    let said = tried(&scene, script);
    holds(&said, 4);
    assert!(said.contains("Seccomp:\t2"), "{said}");
}
