//! What one command of a conversation can do to another one, which may have more: hosts, unlocked files, secrets.

use super::attacks::{holds, tried};
use super::is_full;
use crate::grants::call;
use crate::review::scene::Scene;
use serde_json::json;

#[test]
fn a_command_cannot_touch_the_processes_of_another_command() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it);
    let job = "echo $$ > pid; echo begun; read x";
    let command = json!({ "command": job, "background": true });
    let (mut said, _) = call(&scene, "shell", command, ":Caliban approve<CR>");
    while !said.contains("begun") {
        said += &call(&scene, "job", json!({ "action": "read", "id": 1, "wait_s": 600 }), "").0;
    }
    let said = tried(
        &scene,
        "
pid = int(open('pid').read())
os.stat('/proc/%d/environ' % pid)
t('signal', lambda: os.kill(pid, 0))
t('end', lambda: os.kill(pid, 9))
t('trace', lambda: sc(101, 16, pid, 0, 0))
t('seize', lambda: sc(101, 0x4206, pid, 0, 0))
t('read', lambda: sc(310, pid, None, 0, None, 0, 0))
t('write', lambda: sc(311, pid, None, 0, None, 0, 0))
t('memory', lambda: open('/proc/%d/mem' % pid, 'rb'))
t('write memory', lambda: open('/proc/%d/mem' % pid, 'r+b'))
t('environment', lambda: open('/proc/%d/environ' % pid).read())
t('map', lambda: open('/proc/%d/maps' % pid).read())
t('root', lambda: os.listdir('/proc/%d/root/' % pid))
t('folder', lambda: os.listdir('/proc/%d/cwd/' % pid))
t('files', lambda: os.readlink('/proc/%d/fd/0' % pid))
t('open file', lambda: open('/proc/%d/fd/0' % pid))
t('its file', lambda: sc(438, os.pidfd_open(pid), 0, 0))
t('signal by descriptor', lambda: signal.pidfd_send_signal(os.pidfd_open(pid), 9))
t('priority', lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
t('limits', lambda: sc(302, pid, 0, struct.pack('QQ', 9, 9), 0))
t('compare', lambda: sc(312, pid, os.getpid(), 0, 0, 0))
t('advice', lambda: sc(440, os.pidfd_open(pid), None, 0, 20, 0))
for kind in ('user', 'mnt', 'net', 'ipc', 'uts', 'pid', 'cgroup', 'time'):
    t('namespace ' + kind, lambda: os.open('/proc/%d/ns/%s' % (pid, kind), 0))
for kind in (0x10000000, 0x00020000, 0x40000000, 0x08000000):
    t('enter', lambda: sc(308, os.pidfd_open(pid), kind))
",
    );
    holds(&said, 32);
    let said = call(&scene, "job", json!({ "action": "read", "id": 1 }), "").0;
    assert!(!said.contains("exit"), "{said}");
}
