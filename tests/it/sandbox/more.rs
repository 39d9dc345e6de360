//! Further ways out of the sandbox that everyday machines have: agents, servers and schedulers that run commands for the
//! user, and calls of the kernel that reach around a mount.

use super::attacks::{holds, tried};
use super::{ONCE, is_full};
use crate::grants::call;
use crate::review::scene::Scene;
use serde_json::json;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};

/// Sockets in the user's folders by which programs run commands, hand out keys or show the screen.
const HOME: &[&str] = &[
    ".gnupg/S.gpg-agent",
    ".gnupg/S.gpg-agent.ssh",
    ".screen/1.pts",
    ".local/state/watchman/sock",
    ".ssh/agent",
    ".ssh/control",
    ".docker/run/docker.sock",
    ".vscode-server/code.sock",
    ".cache/language-server.sock",
    ".emacs.d/server/server",
    ".local/share/containers/podman.sock",
];
const RUNTIME: &[&str] = &[
    "bus",
    "systemd/private",
    "systemd/notify",
    "wayland-0",
    "pipewire-0",
    "podman/podman.sock",
    "gnupg/S.gpg-agent",
    "keyring/ssh",
    "nvim.1.0",
    "tmux-1/default",
    "code.sock",
    "emacs/server",
    "zellij/1",
];
/// Names without a file.
const ABSTRACT: &[&str] = &["/tmp/.X11-unix/X99", "/tmp/dbus-caliban", "/tmp/.ICE-unix/99"];

#[test]
fn a_command_reaches_no_program_that_runs_commands_for_the_user() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    let setup = &scene.nvim.setup;
    let mut listeners = Vec::new();
    let mut paths = Vec::new();
    for (folder, names) in [("home", HOME), ("run", RUNTIME)] {
        for name in names {
            let path = setup.dir().join(folder).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            listeners.push(UnixListener::bind(&path).unwrap());
            paths.push(path.display().to_string());
        }
    }
    let letters = setup.path("letters");
    let _letters = UnixDatagram::bind(&letters).unwrap();
    for name in ABSTRACT {
        let name = format!("{name}{}", scene.nvim.pid());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        listeners.push(UnixListener::bind_addr(&address).unwrap());
        paths.push(format!("\\0{name}"));
    }
    let resolver = UdpSocket::bind("127.0.0.1:0").unwrap();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let said = tried(
        &scene,
        &format!(
            "
for path in {paths:?}:
    t('socket', lambda: socket.socket(socket.AF_UNIX).connect(path.replace('\\\\0', chr(0))))
t('letter', lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', 'letters'))
t('server', lambda: socket.create_connection(('127.0.0.1', {port})))
def ask():
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    own.connect(('127.0.0.1', {}))
    own.send(b'x')
    own.recv(1)
t('resolver', ask)
t('by bash', lambda: os.waitstatus_to_exitcode(os.system('exec 3<>/dev/tcp/127.0.0.1/{port}')) and sc(-1))
",
            resolver.local_addr().unwrap().port()
        ),
    );
    holds(&said, HOME.len() + RUNTIME.len() + ABSTRACT.len() + 4);
}

#[test]
fn a_command_has_no_call_that_reaches_around_its_mounts_or_changes_the_machine() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.file(".envrc", "mine\n"));
    let said = tried(
        &scene,
        &format!(
            "
pid = {}
handle = ctypes.create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128))
mount = ctypes.create_string_buffer(8)
try:
    sc(303, -100, b'.envrc', handle, mount, 0)
except OSError:
    pass
t('by handle', lambda: sc(304, os.open('.', os.O_RDONLY), handle, os.O_WRONLY))
t('other namespace', lambda: sc(308, os.pidfd_open(pid), 0x00020000))
t('time', lambda: sc(227, 0, struct.pack('qq', 1, 0)))
t('day', lambda: sc(164, struct.pack('qq', 1, 0), None))
t('module', lambda: sc(313, os.open('.envrc', 0), b'', 0))
t('kernel', lambda: sc(246, 0, 0, None, 0))
t('swap', lambda: sc(167, b'.envrc', 0))
t('reboot', lambda: sc(169, 0xfee1dead, 672274793, 0x89ABCDEF, None))
t('account', lambda: sc(163, b'try.py'))
t('ports', lambda: sc(172, 3))
t('log file', lambda: open('/dev/kmsg', 'rb').read(1))
t('memory', lambda: open('/dev/mem', 'rb'))
t('request', lambda: open('/proc/sysrq-trigger', 'w').write('h'))
t('score', lambda: open('/proc/%d/oom_score_adj' % pid, 'w').write('1000'))
t('slack', lambda: open('/proc/%d/timerslack_ns' % pid, 'w').write('1'))
t('map', lambda: open('/proc/%d/maps' % pid).read())
t('stack', lambda: open('/proc/%d/syscall' % pid).read())
t('cron', lambda: open('/var/spool/cron/crontabs/x', 'w'))
t('at', lambda: open('/var/spool/cron/atjobs/x', 'w'))
t('unit', lambda: open(os.path.expanduser('~/.config/systemd-user.service'), 'w'))
t('class', lambda: open('/sys/power/state', 'w').write('mem'))
def temporary(name):
    fd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o600)
    sc(265, -100, b'/proc/self/fd/%d' % fd, -100, name, 0x400)
t('link over', lambda: temporary(b'.envrc'))
t('truncate', lambda: sc(76, b'.envrc', 0))
t('space', lambda: sc(285, os.open('.envrc', 0), 0, 0, 9))
t('copy', lambda: sc(326, os.open('try.py', 0), None, os.open('.envrc', 0), None, 4, 0))
t('clone', lambda: fcntl.ioctl(os.open('.envrc', 0), 0x40049409, os.open('try.py', 0)))
t('flags', lambda: fcntl.ioctl(os.open('.envrc', 0), 0x40086602, struct.pack('l', 0x10)))
t('attribute', lambda: os.setxattr('.envrc', 'user.x', b'1'))
t('owner', lambda: os.chown('.envrc', os.getuid(), os.getgid()))
t('file of another', lambda: open('/proc/%d/fdinfo/0' % pid).read())
sc(272, 0x10000000 | 0x00020000)
t('by handle in a namespace', lambda: sc(304, os.open('.', os.O_RDONLY), handle, os.O_WRONLY))
t('mount there', lambda: sc(165, b'tmpfs', b'.', b'tmpfs', 0, None))
t('hook there', lambda: open('.envrc', 'w'))
",
            scene.nvim.pid()
        ),
    );
    holds(&said, 33);
    assert_eq!(scene.on_disk(".envrc").as_deref(), Some("mine\n"));
}

/// A command that asks for a terminal has one, by the name that the C library finds for it, and no other.
#[test]
fn a_command_with_a_terminal_runs_in_the_sandbox() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    let command =
        "tty; stty size; test -t 0 -a -t 2 && echo both; ls /dev/pts; echo out > /dev/tty";
    let said = call(&scene, "shell", json!({ "command": command, "terminal": true }), ONCE).0;
    assert_eq!(said, "/dev/console\n24 80\nboth\nptmx\nout");
}
