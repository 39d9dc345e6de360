//! What a command can write in the repository of a submodule, and what the user's git then runs.

use super::is_full;
use crate::grants::call;
use crate::review::scene::Scene;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A submodule `libs/sub` with a submodule `inner`, and a worktree `tree` with the submodule. The folder `seed` beside the
/// project keeps all of it.
const REPOSITORY: &str = "set -e; rm -rf .git; export GIT_CONFIG_GLOBAL=$PWD/../git.config
    git config --file ../git.config protocol.file.allow always
    for it in user.name=T user.email=t@l commit.gpgSign=false init.defaultBranch=main; do
        git config --file ../git.config ${it%%=*} ${it#*=}
    done
    git init -q ../inner.git; git -C ../inner.git commit -q --allow-empty -m inner
    git init -q ../sub.git; cd ../sub.git; echo a > a.txt; git submodule -q add ../inner.git inner; git add -A; git commit -qm one
    echo b > a.txt; git commit -qam two; cd ../project
    git init -q; git submodule -q add ../sub.git libs/sub; git submodule -q update --init --recursive; git commit -qm sub
    git worktree add -q --detach tree; git -C tree submodule -q update --init; rm -rf .git/modules/libs/sub/hooks
    cp -a . ../seed";

/// What a command tries, or one and THEN another. `$M` is the repository of the submodule, `$RUN` a program, `$CONFIG` a configuration that names
/// it, and `new` makes a repository whose configuration that is.
const ATTACKS: &[&str] = &[
    "put $M/config",
    "git -C libs/sub config core.fsmonitor $RUN",
    "git config --file $M/config core.fsmonitor $RUN",
    "rm -f $M/config; put $M/config",
    "put x; mv -f x $M/config",
    "hook $M/hooks",
    "mkdir h; hook h; rm -rf $M/hooks; mv h $M/hooks",
    "put $M/config.worktree; git -C libs/sub config extensions.worktreeConfig true",
    "new e; echo $PWD/e > $M/commondir",
    "mkdir -p $M/info; echo '* filter=x' > $M/info/attributes; git -C libs/sub config filter.x.clean $RUN",
    "mkdir -p $M/branches $M/remotes; echo ext::$RUN > $M/branches/origin; echo URL: ext::$RUN > $M/remotes/origin",
    "put $M/modules/inner/config",
    "hook $M/modules/inner/hooks",
    "rm -rf $M/modules; new e; mkdir $M/modules; mv e $M/modules/inner",
    "mv $M/modules $M/m; mkdir $M/modules; new e; mv e $M/modules/inner",
    "mv $M .git/modules/libs/other; new e; mv e $M",
    "mv .git/modules/libs .git/modules/l; mkdir -p .git/modules/libs; new e; mv e $M",
    "new .git/modules/new; echo gitdir: ../../.git/modules/new > libs/sub/.git",
    "new .git/modules/libs/new; mkdir -p libs/new; echo gitdir: ../../.git/modules/libs/new > libs/new/.git; link . libs/new",
    "new $M/e; echo gitdir: ../../$M/e > libs/sub/.git",
    "new $M/e; mkdir libs/sub/e; echo gitdir: ../../../$M/e > libs/sub/e/.git; link libs/sub e",
    "new $M/e; mkdir e; echo gitdir: ../$M/e > e/.git; link . e",
    "new $M/worktrees/e; mkdir e; echo gitdir: ../$M/worktrees/e > e/.git; link . e",
    "git -C libs/sub worktree add -q ../../w; put $M/worktrees/w/config; rm $M/worktrees/w/commondir; link . w",
    "git -C libs/sub worktree add -q ../../w; new e; echo $PWD/e > $M/worktrees/w/commondir; link . w",
    "git -C libs/sub worktree add -q ../../w; put $M/worktrees/w/config.worktree; link . w",
    "git -C libs/sub worktree add -q ../../w.refused; put $M/worktrees/w.refused/config; rm $M/worktrees/w.refused/commondir; link . w.refused",
    "put .git/worktrees/tree/modules/libs/sub/config; hook .git/worktrees/tree/modules/libs/sub/hooks",
    "mv .git/worktrees/tree .git/worktrees/t; new e; mkdir -p .git/worktrees/tree/modules/libs; mv e .git/worktrees/tree/modules/libs/sub",
    "new $M/e; rm $M/HEAD; THEN mkdir e; echo gitdir: ../$M/e > e/.git; link . e",
    "new $M/e; rm -r $M/refs; THEN rm -f $M/config; mkdir e; echo gitdir: ../$M/e > e/.git; link . e",
    "new libs/sub/e; link libs/sub e",
    "rm -rf libs/sub/inner; new libs/sub/inner",
    "rm -rf libs/sub; new libs/sub; link . libs/sub",
    "ln -sfn $PWD/e $M/objects/e; ln -sf $OUT $M/COMMIT_EDITMSG; ln -sf $OUT $M/FETCH_HEAD; ln -sf $OUT $M/logs/HEAD",
    "git -C libs/sub remote set-url origin ext::$RUN; git -C libs/sub remote add up ext::$RUN",
    "git -C libs/sub config branch.main.remote ext::$RUN; git -C libs/sub config remote.origin.uploadpack $RUN",
    "git -C libs/sub config remote.origin.url ../evil.git; git -C libs/sub remote add up ../evil.git",
    "git config submodule.libs/sub.update !$RUN; git config submodule.libs/sub.url ext::$RUN; put .gitmodules",
    "cd libs/sub; git config core.worktree $PWD; git config core.hooksPath $PWD; git config core.sshCommand $RUN",
];

/// The user's work with git, in each of the working trees.
const USER: &str = "git status; git diff; git submodule status --recursive; git submodule update --recursive
    for it in libs/sub libs/sub/inner tree tree/libs/sub; do
        git -C $it status; git -C $it diff HEAD~1; git -C $it stash; git -C $it fetch --all; git -C $it add -A
        git -C $it commit --allow-empty -m x; git -C $it checkout -q --detach; git -C $it gc --auto; git -C $it push
    done
    git submodule foreach --recursive git status; git fetch --recurse-submodules; git commit -qam x; git status";

fn bash(folder: &Path, script: &str) -> String {
    let mut bash = Command::new("bash");
    bash.arg("-c")
        .arg(script)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", folder.join("../git.config"));
    let said = bash.output().unwrap();
    String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned()
}

fn check(part: usize) {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.config("{ mode = 'auto' }").size(160, 40));
    let (root, above) = (scene.nvim.setup.path(""), scene.nvim.setup.dir().to_owned());
    let made = bash(&root, REPOSITORY);
    assert!(above.join("seed/libs/sub/inner/.git").exists(), "{made}");
    let (ran, out) = (above.join("ran"), above.join("out"));
    fs::write(&out, "mine\n").unwrap();
    let tools = format!(
        "M=.git/modules/libs/sub RUN={run} OUT={out}; CONFIG=\"[core]
    repositoryformatversion = 0
    bare = false
    fsmonitor = $RUN
    hooksPath = $PWD/hooked\"
put() {{ echo \"$CONFIG\" > \"$1\"; }}
hook() {{ mkdir -p $1; for it in pre-commit post-checkout post-index-change reference-transaction; do cp $RUN $1/$it; done; }}
new() {{ mkdir -p $1/objects $1/refs; echo ref: refs/heads/main > $1/HEAD; put $1/config; hook $1/hooks; }}
link() {{ git -C $1 update-index --add --cacheinfo 160000,$(git rev-parse HEAD),$2; }}
cp -a $RUN run; hook hooked
",
        run = root.join("../project/run.sh").display(),
        out = out.display(),
    );
    for attack in ATTACKS.iter().skip(part).step_by(PARTS) {
        let restored = "find . -mindepth 1 -delete; cp -a ../seed/. .";
        bash(&root, restored);
        let run = format!("#!/bin/sh\ntouch {}\n", ran.display());
        fs::write(root.join("run.sh"), run).unwrap();
        bash(&root, "chmod +x run.sh");
        let mut said = String::new();
        for command in attack.split("THEN") {
            fs::write(root.join("attack.sh"), format!("{tools}{command}\n")).unwrap();
            let line = json!({ "command": "bash attack.sh; echo over" });
            let (more, was_asked) = call(&scene, "shell", line, "");
            assert!(!was_asked && more.contains("over"), "{attack}: {more}");
            said += &more;
        }
        let user = bash(&root, USER);
        assert!(!ran.exists(), "{attack}: {said}\n{user}");
        assert_eq!(fs::read_to_string(&out).unwrap(), "mine\n", "{attack}: {said}");
    }
    // the same work goes through where nothing was attacked, and a program of the user's does run
    bash(&root, "find . -mindepth 1 -delete; cp -a ../seed/. .");
    let hook = format!(
        "printf '#!/bin/sh\\ntouch {}\\n' > .git/modules/libs/sub/hooks/post-checkout; chmod +x .git/modules/libs/sub/hooks/*",
        ran.display()
    );
    let user = bash(&root, &format!("mkdir -p .git/modules/libs/sub/hooks; {hook}; {USER}"));
    assert!(ran.exists(), "{user}");
}

/// The attacks are divided, so that they run at the same time.
const PARTS: usize = 3;

#[test]
fn nothing_that_a_command_writes_for_a_submodule_is_run_by_the_user_s_git_first_part() {
    check(0);
}

#[test]
fn nothing_that_a_command_writes_for_a_submodule_is_run_by_the_user_s_git_second_part() {
    check(1);
}

#[test]
fn nothing_that_a_command_writes_for_a_submodule_is_run_by_the_user_s_git_third_part() {
    check(2);
}

#[test]
fn a_branch_of_a_submodule_stays_the_user_s_and_so_do_the_hooks_that_its_configuration_names() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.config("{ mode = 'auto' }").size(160, 40));
    let root = scene.nvim.setup.path("");
    bash(&root, REPOSITORY);
    bash(&root, "git -C libs/sub config core.hooksPath own; git -C libs/sub checkout -q -B main");
    fs::create_dir(root.join("libs/sub/own")).unwrap();
    fs::write(root.join("libs/sub/own/pre-commit"), "#!/bin/sh\n").unwrap();
    let run = |script: &str| {
        fs::write(root.join("try.sh"), script).unwrap();
        call(&scene, "shell", json!({ "command": "bash try.sh; echo over" }), "").0
    };
    run("true");
    let said = run(
        "cd libs/sub; echo evil >> own/pre-commit; echo evil > own/post-checkout; mv own old; mkdir own; echo evil > own/x",
    );
    assert_eq!(scene.on_disk("libs/sub/own/pre-commit").as_deref(), Some("#!/bin/sh\n"), "{said}");
    for it in ["own/post-checkout", "own/x"] {
        assert!(!root.join("libs/sub").join(it).exists(), "{it}: {said}");
    }
    let said = run("cd libs/sub; h=$(git rev-parse main); git checkout -q --detach; git update-ref -d refs/heads/main
        git remote add up https://evil.example/x; git update-ref refs/heads/main $h; git config branch.main.pushRemote up");
    let set = bash(&root, "git -C libs/sub config --get branch.main.pushRemote; echo over");
    assert_eq!(set, "over\n", "{said}");
}

/// The repository of a submodule is in that of its superproject, where commands do not write.
#[test]
fn git_in_a_project_that_is_a_submodule_is_told_where_its_repository_is() {
    if !is_full() {
        return;
    }
    let scene = Scene::start(|it| it.config("{ mode = 'auto' }").size(160, 40));
    let script = "set -e; rm -rf .git; git init -q -b main ../one; cd ../one; echo a > a.txt; git add a.txt; \
        git -c user.name=T -c user.email=t@l -c commit.gpgSign=false commit -qm one; mkdir -p ../outer/.git/modules; \
        git clone -q --bare . ../outer/.git/modules/sm; cd ../project; echo gitdir: ../outer/.git/modules/sm > .git; \
        git config core.bare false; git config core.worktree $PWD; git reset -q --hard";
    let root = scene.nvim.setup.path("");
    let made = Command::new("bash").arg("-c").arg(script).current_dir(&root).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let input = json!({ "command": "echo b > b.txt; git add b.txt" });
    let (said, was_asked) = call(&scene, "shell", input, "");
    assert!(!was_asked && said.contains("Read-only file system"), "{said}");
    let folder = root.canonicalize().unwrap().parent().unwrap().join("outer/.git/modules/sm");
    let wanted = format!(
        "[this folder is a submodule: its repository is in {}, outside of the project, where commands may not write. Call \
         shell again with outside_sandbox",
        folder.display()
    );
    assert!(said.contains(&wanted), "{said}");
    // the way that the model was told
    let outside =
        json!({ "command": "git add b.txt", "outside_sandbox": "the repository is outside" });
    let (said, was_asked) = call(&scene, "shell", outside, ":Caliban approve<CR>");
    assert!(was_asked && !said.contains("exit code"), "{said}");
}
