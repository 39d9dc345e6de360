//! Files of the project that git's configuration, or a file for the environment of a folder, names. The user's next git
//! command or prompt runs them.

use super::git::start;
use super::{is_full, shell};
use crate::grants::call;
use crate::review::scene::Scene;
use serde_json::json;
use std::fmt::Write;
use std::fs;
use std::process::Command;

/// Every setting of git's documentation by which git runs a program or reads further settings, with a value, and the
/// path that no command may write because of it.
const ROWS: &[(&str, &str, &str)] = &[
    ("alias.a", "!rows/alias.sh --fast", "rows/alias.sh"),
    ("alias.b", "!f() { sh -c \"rows/inner.sh $1\"; }; f", "rows/inner.sh"),
    ("alias.c", "-c core.pager=rows/alias-pager log", "rows/alias-pager"),
    ("alias.d", "!cd rows && ./there.sh", "rows/there.sh"),
    ("alias.e", "!\"$(git rev-parse --show-toplevel)/rows/top.sh\"", "rows/top.sh"),
    ("browser.x.cmd", "rows/browser", "rows/browser"),
    ("browser.x.path", "rows/browser-path", "rows/browser-path"),
    ("core.alternateRefsCommand", "rows/refs", "rows/refs"),
    ("core.askPass", "rows/ask", "rows/ask"),
    ("core.attributesFile", "rows/attributes", "rows/attributes"),
    ("core.editor", "rows/editor --wait", "rows/editor"),
    ("core.fsmonitor", "rows/monitor", "rows/monitor"),
    ("core.gitProxy", "rows/proxy for kernel.org", "rows/proxy"),
    ("core.hooksPath", "rows/hooks", "rows/hooks/pre-commit"),
    ("core.pager", "'rows/my pager' -R", "rows/my pager"),
    ("core.sshCommand", "ssh -Frows/ssh -o ProxyCommand=rows/connect", "rows/ssh"),
    ("core.sshCommand", "ssh -o ProxyCommand=rows/connect", "rows/connect"),
    ("credential.helper", "!rows/credential", "rows/credential"),
    ("credential.https://a.org.helper", "rows/credential-of", "rows/credential-of"),
    ("diff.x.command", "rows/diff", "rows/diff"),
    ("diff.x.textconv", "python3 rows/text.py", "rows/text.py"),
    ("diff.external", "rows/external", "rows/external"),
    ("difftool.x.cmd", "rows/difftool \"$LOCAL\" \"$REMOTE\"", "rows/difftool"),
    ("difftool.x.path", "rows/difftool-path", "rows/difftool-path"),
    ("filter.x.clean", "sed -f rows.sed", "rows.sed"),
    ("filter.x.smudge", "./rows/smudge %f", "rows/smudge"),
    ("filter.x.process", "rows/process", "rows/process"),
    ("gc.recentObjectsHook", "rows/recent", "rows/recent"),
    ("gpg.program", "rows/gpg", "rows/gpg"),
    ("gpg.ssh.program", "rows/gpg-ssh", "rows/gpg-ssh"),
    ("gpg.ssh.defaultKeyCommand", "rows/key", "rows/key"),
    ("gpg.ssh.allowedSignersFile", "rows/signers", "rows/signers"),
    ("guitool.x.cmd", "rows/guitool", "rows/guitool"),
    ("imap.tunnel", "rows/imap", "rows/imap"),
    ("include.path", "../rows/include", "rows/include"),
    ("includeIf.onbranch:none.path", "../rows/branch", "rows/branch"),
    ("init.templateDir", "rows/template", "rows/template/hooks/post-checkout"),
    ("instaweb.httpd", "rows/httpd -f", "rows/httpd"),
    ("instaweb.browser", "rows/instaweb", "rows/instaweb"),
    ("interactive.diffFilter", "rows/interactive", "rows/interactive"),
    ("man.x.cmd", "rows/man", "rows/man"),
    ("man.x.path", "rows/man-path", "rows/man-path"),
    ("merge.x.driver", "rows/merge %O %A %B", "rows/merge"),
    ("mergetool.x.cmd", "rows/mergetool", "rows/mergetool"),
    ("mergetool.x.path", "rows/mergetool-path", "rows/mergetool-path"),
    ("pager.log", "rows/pager-log", "rows/pager-log"),
    ("remote.x.receivepack", "rows/receive", "rows/receive"),
    ("remote.x.uploadpack", "rows/upload", "rows/upload"),
    ("sendemail.ccCmd", "rows/cc", "rows/cc"),
    ("sendemail.headerCmd", "rows/header", "rows/header"),
    ("sendemail.sendmailCmd", "rows/sendmail", "rows/sendmail"),
    ("sendemail.smtpServer", "rows/smtp", "rows/smtp"),
    ("sendemail.toCmd", "rows/to", "rows/to"),
    ("sequence.editor", "rows/sequence", "rows/sequence"),
    ("submodule.x.update", "!rows/update", "rows/update"),
    ("tar.x.command", "rows/tar", "rows/tar"),
    ("trailer.x.command", "rows/trailer", "rows/trailer"),
    ("trailer.y.cmd", "rows/trailer-cmd", "rows/trailer-cmd"),
    ("uploadpack.packObjectsHook", "rows/pack", "rows/pack"),
    ("web.browser", "rows/web", "rows/web"),
    // settings of other tools
    ("lfs.customtransfer.x.path", "rows/lfs", "rows/lfs"),
    ("hooks.check", "rows/check", "rows/check"),
];

/// Settings that name no program, and files that stay writable.
const FREE: &[(&str, &str, &str)] = &[
    ("core.excludesFile", "free/ignore", "free/ignore"),
    ("blame.ignoreRevsFile", "free/revs", "free/revs"),
    ("branch.x.merge", "refs/heads/x", "refs/heads/x"),
    ("remote.x.url", "https://a.org/free/x.git", "free/x.git"),
    ("commit.template", "free/message", "free/message"),
    ("alias.f", "!git add free/a.txt && cat free/b.md", "free/a.txt"),
    ("alias.g", "diff -- free/c.txt", "free/c.txt"),
    ("alias.h", "!make build", "build"),
];

/// Makes the folder `.git` of a project a repository.
fn init(scene: &Scene) {
    let mut git = Command::new("git");
    let made = git.args(["init", "-q"]).current_dir(scene.nvim.setup.path("")).output().unwrap();
    assert!(made.status.success(), "{made:?}");
}

fn configured(rows: &[(&str, &str, &str)], scene: &Scene) {
    for (name, value, _) in rows {
        let mut git = Command::new("git");
        git.args(["config", "--file", ".git/config", "--add", name, value]);
        let made = git.current_dir(scene.nvim.setup.path("")).output().unwrap();
        assert!(made.status.success(), "{name}: {made:?}");
    }
}

/// A script that writes these files.
fn writing<'a>(scene: &Scene, files: impl Iterator<Item = &'a str>) -> &'static str {
    let mut script = String::new();
    for it in files {
        writeln!(script, "mkdir -p \"$(dirname '{it}')\"; echo evil > '{it}'").unwrap();
    }
    fs::write(scene.nvim.setup.path("write.sh"), script).unwrap();
    "bash write.sh"
}

#[test]
fn what_git_s_configuration_runs_or_reads_is_not_written_whether_it_exists_or_not() {
    if !is_full() {
        return;
    }
    for exists in [false, true] {
        let scene = Scene::start(|it| it.size(160, 40));
        init(&scene);
        configured(ROWS, &scene);
        configured(FREE, &scene);
        let file = |it: &str| scene.nvim.setup.path(it);
        for (_, _, path) in ROWS.iter().filter(|_| exists) {
            fs::create_dir_all(file(path).parent().unwrap()).unwrap();
            // a file of settings is read before the command starts
            fs::write(file(path), "# mine\n").unwrap();
        }
        let said = shell(&scene, writing(&scene, ROWS.iter().chain(FREE).map(|it| it.2)));
        for (name, value, path) in ROWS {
            let left = scene.on_disk(path);
            assert_eq!(left.as_deref(), exists.then_some("# mine\n"), "{name} {value}: {said}");
        }
        for (name, _, path) in FREE {
            assert_eq!(scene.on_disk(path).as_deref(), Some("evil\n"), "{name}: {said}");
        }
        if !exists {
            assert!(said.contains("rows/monitor, which git's configuration"), "{said}");
        }
    }
}

#[test]
fn what_an_included_file_or_the_user_s_own_configuration_names_is_locked_too() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| {
        it.file("conf/one", "[includeIf \"onbranch:later\"]\n\tpath = two\n")
            .file("conf/two", "[core]\n\tfsmonitor = tools/monitor\n")
            .file("dots/gitconfig", "[core]\n\tpager = tools/pager\n")
            .file("tools/link-target", "mine\n")
            .file(".git/config", "[include]\n\tpath = ../conf/one\n[core]\n\teditor = tools/link\n")
    });
    init(&scene);
    let setup = &scene.nvim.setup;
    std::os::unix::fs::symlink("link-target", setup.path("tools/link")).unwrap();
    std::os::unix::fs::symlink(setup.path("dots/gitconfig"), setup.dir().join("home/.gitconfig"))
        .unwrap();
    let files = [
        "conf/one",
        "conf/two",
        "dots/gitconfig",
        "tools/monitor",
        "tools/pager",
        "tools/link-target",
    ];
    let said = shell(&scene, writing(&scene, files.into_iter()));
    for it in files {
        assert_ne!(scene.on_disk(it).as_deref(), Some("evil\n"), "{it}: {said}");
    }
}

#[test]
fn what_the_file_for_the_environment_of_the_project_loads_is_locked() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| {
        it.file(
            ".envrc",
            "dotenv\nsource_env env/more\nwatch_file Cargo.lock\nhas nix && . ./env/third.sh\nPATH_add tools\n",
        )
        .file(
            "mise.toml",
            "[env]\n_.file = 'env/mise.env'\nA = \"{{ exec(command='./env/run') }}\"\n[tasks.a]\nsources = ['src/a.rs']\n",
        )
    });
    let locked = [".env", "env/more", "env/third.sh", "env/mise.env", "env/run", "tools/git"];
    let free = ["Cargo.lock", "src/a.rs", "tools/mine"];
    let said = shell(&scene, writing(&scene, locked.into_iter().chain(free)));
    for it in locked {
        assert_eq!(scene.on_disk(it), None, "{it}: {said}");
    }
    for it in free {
        assert_eq!(scene.on_disk(it).as_deref(), Some("evil\n"), "{it}: {said}");
    }
}

#[test]
fn no_command_writes_the_user_s_start_files_in_a_repository_of_dotfiles() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| {
        it.file("bashrc", ". ~/dots/aliases.sh\n").file("nvim/init.lua", "").file("notes.md", "")
    });
    let setup = &scene.nvim.setup;
    let home = setup.dir().join("home");
    let link = std::os::unix::fs::symlink::<std::path::PathBuf, std::path::PathBuf>;
    link(setup.path(""), home.join("dots")).unwrap();
    link(setup.path("bashrc"), home.join(".bashrc")).unwrap();
    fs::create_dir_all(home.join(".config")).unwrap();
    link(setup.path("nvim"), home.join(".config/nvim")).unwrap();
    let locked = ["bashrc", "aliases.sh", "nvim/init.lua", "nvim/lua/a.lua"];
    let said = shell(&scene, writing(&scene, locked.into_iter().chain(["notes.md"])));
    for it in locked {
        assert_ne!(scene.on_disk(it).as_deref(), Some("evil\n"), "{it}: {said}");
    }
    assert_eq!(scene.on_disk("notes.md").as_deref(), Some("evil\n"), "{said}");
}

/// A repository in a folder, whose configuration runs a program.
pub(super) const EVIL: &str = "git init -q evil; printf '[core]\\n\\tfsmonitor = touch %s/ran; false\\n' \"$PWD\" >> evil/.git/config";

/// What the user's prompt does.
pub(super) fn status(scene: &Scene) {
    status_in(scene, "");
}

fn status_in(scene: &Scene, folder: &str) {
    let mut git = Command::new("git");
    git.args(["status", "--porcelain"]).current_dir(scene.nvim.setup.path(folder));
    git.output().unwrap();
}

#[test]
fn no_command_writes_the_file_that_leads_git_to_a_repository() {
    if !is_full() {
        return;
    }
    // without a repository, and in a working tree apart from its repository
    for exists in [false, true] {
        let scene = Scene::start(|it| it);
        let root = scene.nvim.setup.path("");
        fs::remove_dir_all(root.join(".git")).unwrap();
        if exists {
            let mut git = Command::new("git");
            git.args(["init", "-q", "--separate-git-dir", ".bare"]).current_dir(&root);
            assert!(git.output().unwrap().status.success());
        } else {
            // makes the folder the root of the project
            fs::write(root.join(".caliban.toml"), "").unwrap();
        }
        let before = scene.on_disk(".git");
        let said = shell(&scene, &format!("{EVIL}; echo 'gitdir: evil/.git' > .git; echo done"));
        assert_eq!(scene.on_disk(".git"), before, "{said}");
        status(&scene);
        assert!(!root.join("ran").exists(), "{said}");
        if exists {
            let said = shell(
                &scene,
                "echo '[core]' > .bare/config; echo evil > .bare/hooks/pre-commit; echo done",
            );
            assert!(scene.on_disk(".bare/config").unwrap().len() > 10, "{said}");
            assert_eq!(scene.on_disk(".bare/hooks/pre-commit"), None, "{said}");
        }
    }
}

#[test]
fn a_repository_in_a_folder_that_the_index_has_runs_nothing() {
    if !is_full() {
        return;
    }
    let commit = "git -C evil -c user.name=a -c user.email=a@a commit -q --allow-empty -m a";
    let id = "git update-index --add --cacheinfo 160000,$(git -C evil rev-parse HEAD),evil";
    for way in ["git add evil".to_owned(), id.to_owned()] {
        let scene = start();
        let line = format!("{EVIL}; {commit}; {way}; rm -f ran; echo done");
        let (said, _) = call(&scene, "shell", json!({ "command": line }), "");
        assert!(said.contains("evil/.git/config, which leads to files"), "{said}");
        status(&scene);
        assert!(!scene.nvim.setup.path("ran").exists(), "{said}");
        // those that name no program stay, and so do the files of git itself
        let line =
            format!("git init -q good; {}; git add good; echo ok", commit.replace("evil", "good"));
        let (said, _) = call(&scene, "shell", json!({ "command": line }), "");
        assert!(said.contains("ok") && !said.contains("refused"), "{said}");
        let line = "printf '[core]\\n\\tfsmonitor = x\\n' >> good/.git/config; echo hook > good/.git/hooks/pre-commit; \
            rm -f good/.git/x; mv good/.git good/.old";
        let (said, _) = call(&scene, "shell", json!({ "command": line }), "");
        assert!(scene.nvim.setup.path("good/.git/config").exists(), "{said}");
        assert_eq!(said.matches("Read-only file system").count(), 2, "{said}");
    }
}

#[test]
fn a_submodule_s_file_leads_only_into_the_repository_of_the_project() {
    if !is_full() {
        return;
    }
    let scene = start();
    let make = "set -e; git init -q ../lib; git -C ../lib -c user.name=a -c user.email=a@a commit -q --allow-empty -m a; \
        git -c protocol.file.allow=always submodule --quiet add ../lib sub; git commit -qm sub";
    let made = Command::new("bash")
        .args(["-c", make])
        .current_dir(scene.nvim.setup.path(""))
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let before = scene.on_disk("sub/.git");
    let line = format!(
        "{EVIL}; rm -f sub/.git; echo 'gitdir: ../evil/.git' > sub/.git; mkdir sub/.git; mv sub sub2; echo done"
    );
    let (said, _) = call(&scene, "shell", json!({ "command": line }), "");
    assert_eq!(scene.on_disk("sub/.git"), before, "{said}");
    assert!(!said.contains("refused"), "{said}");
    status(&scene);
    assert!(!scene.nvim.setup.path("ran").exists(), "{said}");
}

/// How a worktree leads to another repository: one in a folder, by a link, or one among git's own worktrees.
const WAYS: [&str; 4] = [
    "echo \"gitdir: $PWD/evil/.git\" > tree/.git",
    "rm tree/.git; ln -s ../evil/.git tree/.git",
    "mkdir -p .git/worktrees/x/objects .git/worktrees/x/refs; cp .git/HEAD .git/worktrees/x; \
        cp evil/.git/config .git/worktrees/x; echo \"gitdir: $PWD/.git/worktrees/x\" > tree/.git",
    "mkdir .git/worktrees/tree/objects .git/worktrees/tree/refs; cp evil/.git/config .git/worktrees/tree; \
        rm -f .git/worktrees/tree/commondir",
];

#[test]
fn a_worktree_s_file_leads_only_into_the_repository_of_the_project() {
    if !is_full() {
        return;
    }
    for way in WAYS {
        let scene = start();
        let mut git = Command::new("git");
        git.args(["worktree", "add", "-q", "--detach", "tree"]);
        assert!(git.current_dir(scene.nvim.setup.path("")).output().unwrap().status.success());
        let before = scene.on_disk("tree/.git");
        let line = format!("{EVIL}; sed -i '/bare/d' evil/.git/config; {way}; echo done");
        let (said, _) = call(&scene, "shell", json!({ "command": line }), "");
        assert!(said.contains("done") && said.contains("refused"), "{said}");
        status_in(&scene, "tree");
        assert!(!scene.nvim.setup.path("ran").exists(), "{way}: {said}");
        assert_eq!(scene.on_disk("tree/.git"), before, "{way}: {said}");
        // git itself removes it, whole
        let line = json!({ "command": "git worktree remove --force tree" });
        let (said, was_asked) = call(&scene, "shell", line, ":Caliban approve<CR>");
        assert!(was_asked && !scene.nvim.setup.path("tree").exists(), "{way}: {said}");
    }
}
