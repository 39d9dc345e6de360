//! What prints a secret of the project asks: each line of a table is judged, and run if it needs no question. Its output
//! then holds none of the secrets.

use caliban::event::Access;
use caliban::reach::{Folders, Reach};
use caliban::rules::{Rules, Verdict, safe};
use caliban::tool::tree::OnDisk;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

/// Command lines of everyday work.
const TABLE: &str = include_str!("../data/permissions/leaks.txt");
/// The files with a secret in each project: those that git tracks, those that it ignores, and those that it does not know.
const PROJECTS: [Secrets; 5] = [
    Secrets {
        tracked: &[".env.production", "config/credentials", "certs/server.pem", ".npmrc"],
        ignored: &[".env.local", "id_rsa", ".netrc", "certs/client.pem"],
        unknown: &["keys/deploy.key", "conf.d/.env"],
        is_inside: true,
    },
    Secrets { tracked: &["certs/server.pem", "src/.env"], ..NONE },
    Secrets { ignored: &[".env.local", "id_rsa", ".netrc", "certs/client.pem"], ..NONE },
    Secrets { unknown: &["keys/deploy.key", ".env.local", "id_rsa", "src/.env"], ..NONE },
    Secrets { tracked: &[".env.production"], unknown: &["keys/id_rsa"], is_inside: true, ..NONE },
];
const NONE: Secrets = Secrets { tracked: &[], ignored: &[], unknown: &[], is_inside: false };
/// What each of them holds, and no other file.
const SECRET: &str = "SECRET";

struct Secrets {
    tracked: &'static [&'static str],
    ignored: &'static [&'static str],
    unknown: &'static [&'static str],
    /// Whether the submodule and the worktree have them. Else only the project itself has.
    is_inside: bool,
}

/// What a command line prints.
fn printed(root: &Path, line: &str) -> String {
    let mut command = Command::new("timeout");
    command.args(["10", "bash", "-c", line]).current_dir(root).stdin(Stdio::null());
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", root.parent().unwrap());
    let done = command.output().unwrap();
    String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned()
}

fn git(root: &Path, line: &str) {
    let settings = "-c user.name=a -c user.email=a@b -c init.defaultBranch=main \
        -c protocol.file.allow=always";
    let said = printed(root, &format!("git {settings} {line} || echo FAILED"));
    assert!(!said.contains("FAILED"), "{line}: {said}");
}

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A repository with two commits, of which the second has these secrets.
fn repository(root: &Path, tracked: &[&str], ignored: &[&str]) {
    fs::create_dir_all(root).unwrap();
    git(root, "init -q");
    for it in ["a.md", "src/a.rs", "config/app.toml", "certs/a.md", "keys/a.md"] {
        write(root, it, "x one\n");
    }
    git(root, "add -A");
    git(root, "commit -qm one");
    for it in tracked {
        write(root, it, &format!("x={SECRET}\n"));
    }
    for it in ["a.md", "src/b.rs", "README.md", "list.txt"] {
        write(root, it, "x\n.env.local\n");
    }
    write(root, "list0.txt", ".env.local\0id_rsa\0");
    write(root, "Makefile", "test:\n\t@echo x\n");
    write(root, "package.json", "{ \"scripts\": { \"test\": \"echo x\" } }\n");
    write(root, ".gitignore", &format!("{}\nout\n", ignored.join("\n")));
    git(root, "add -A");
    git(root, "commit -qm two");
}

fn project(root: &Path, secrets: &Secrets) {
    let beside = root.with_file_name("beside");
    let inner = if secrets.is_inside { secrets.tracked } else { &[] };
    repository(&beside, inner, secrets.ignored);
    // a submodule alone has secrets, or the project too
    let own = if secrets.is_inside && secrets.ignored.is_empty() { &[] } else { secrets.tracked };
    repository(root, own, secrets.ignored);
    git(root, "submodule --quiet add ../beside sub");
    git(root, "commit -qm three");
    git(root, "worktree add -q tree");
    let all = || secrets.ignored.iter().chain(secrets.unknown);
    let inside = if secrets.is_inside { &["sub", "tree"][..] } else { &[] };
    for name in all() {
        for it in [""].iter().filter(|_| own == secrets.tracked).chain(inside) {
            write(&root.join(it), name, &format!("x={SECRET}\n"));
        }
    }
    let changed = own.first().copied().unwrap_or("a.md");
    let before = fs::read_to_string(root.join(changed)).unwrap();
    write(root, changed, &format!("{before}y\n"));
    git(root, "stash --quiet");
    symlink(".env.local", root.join("link")).unwrap();
    symlink("config", root.join("dlink")).unwrap();
}

/// The lines that print a secret of a project without a question.
fn printing(secrets: &Secrets) -> Vec<&'static str> {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("project");
    project(&root, secrets);
    let folders = Folders { root: root.clone(), ..Folders::default() };
    let rules = Rules::new(safe::rules(), &root, &Reach::new(&folders)).seeing(Arc::new(OnDisk));
    let lines = TABLE.lines().filter(|it| !it.is_empty() && !it.starts_with("## "));
    let prints = |line: &&str| {
        let (command, hosts, unlocked) = ((*line).to_owned(), Vec::new(), Vec::new());
        let access = Access::Act { command, outside: None, background: false, hosts, unlocked };
        let is_allowed = rules.judge(&access).verdict == Some(Verdict::Allow);
        is_allowed && printed(&root, line).contains(SECRET)
    };
    lines.filter(prints).collect()
}

#[test]
fn an_everyday_command_prints_no_secret_without_a_question() {
    let failed: Vec<Vec<&str>> = thread::scope(|scope| {
        let all = PROJECTS.map(|it| scope.spawn(move || printing(&it)));
        all.map(|it| it.join().unwrap()).into_iter().collect()
    });
    let failed: Vec<String> =
        failed.iter().enumerate().map(|(at, it)| format!("{at}: {it:?}")).collect();
    assert!(failed.iter().all(|it| it.ends_with("[]")), "{}", failed.join("\n"));
}
