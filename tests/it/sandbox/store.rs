//! What a command can put into git's folder by git's own means, and what the user's git and Caliban make of it.

use super::git::start;
use super::is_full;
use crate::grants::call;
use crate::review::scene::Scene;
use serde_json::json;
use std::fs;
use std::process::Command;

fn bash(scene: &Scene, script: &str) -> String {
    let mut bash = Command::new("bash");
    bash.arg("-c").arg(script).current_dir(scene.nvim.setup.path(""));
    let said = bash.output().unwrap();
    String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned()
}

fn run(scene: &Scene, script: &str) -> String {
    fs::write(scene.nvim.setup.path("run.sh"), script).unwrap();
    let line = json!({ "command": "bash run.sh; echo over" });
    let (said, was_asked) = call(scene, "shell", line, "");
    assert!(!was_asked && said.contains("over"), "{script}: {said}");
    said
}

/// Makes a commit `$E` with the tree `$T`, which has a stranger's `.envrc`.
const EVIL: &str = "export GIT_INDEX_FILE=$TMPDIR/index; git read-tree main; b=$(echo evil | git hash-object -w --stdin)
    git update-index --add --cacheinfo 100644,$b,.envrc; T=$(git write-tree); E=$(git commit-tree $T -m evil)
    unset GIT_INDEX_FILE; H=$(git rev-parse main)
    as() { f=.git/objects/${1:0:2}/${1:2}; t=.git/objects/${2:0:2}/${2:2}; rm -f $t; cp $f $t; }
    on() { git update-ref refs/heads/evil $E; git symbolic-ref HEAD refs/heads/evil; }\n";
/// Ways to have git tell that the repository held this file before.
const WAYS: [&str; 13] = [
    "on",
    "git replace $H $E",
    "git replace $(git rev-parse main^{tree}) $T",
    "on; git replace --graft main $E",
    "echo $E refs/replace/$H >> .git/packed-refs",
    "on; mkdir -p .git/info; echo $H $E > .git/info/grafts",
    "on; git update-ref refs/heads/main $E; git update-ref refs/remotes/origin/main $E; git tag t $E",
    "on; as $T $(git rev-parse main^{tree})",
    "on; as $E $H",
    "on; as $(git commit-tree -p $E $(git rev-parse main^{tree}) -m x) $H",
    "as $T $(git rev-parse main^{tree})",
    "git tag -f -a -m x v1 $E; on; as $(git rev-parse v1) $(git rev-parse old)",
    "git commit-graph write --reachable; python3 -c '
import subprocess as s, sys
tree = s.check_output([\"git\", \"rev-parse\", \"main^{tree}\"]).strip().decode()
path = \".git/objects/info/commit-graph\"
text = open(path, \"rb\").read()
new = text.replace(bytes.fromhex(tree), bytes.fromhex(sys.argv[1]))
assert new != text
import os
os.remove(path)
open(path, \"wb\").write(new)' $T",
];

#[test]
fn no_command_has_git_tell_that_the_repository_held_a_stranger_s_file() {
    if !is_full() {
        return;
    }
    let scene = start();
    bash(&scene, "git tag -a -m old old; cp -a . ../seed");
    run(&scene, "true");
    for way in WAYS {
        bash(&scene, "find . -mindepth 1 -delete; cp -a ../seed/. .");
        let said = run(&scene, &format!("{EVIL}{way}\necho evil > .envrc\n"));
        assert_eq!(scene.on_disk(".envrc"), None, "{way}: {said}");
        assert!(said.contains(".envrc, which runs when"), "{way}: {said}");
    }
}

#[test]
fn the_user_is_told_that_git_reads_other_objects_in_place_of_the_repository_s() {
    if !is_full() {
        return;
    }
    let scene = start();
    run(
        &scene,
        "git replace $(git rev-parse main:AGENTS.md) $(echo evil | git hash-object -w --stdin)",
    );
    let id = bash(&scene, "git rev-parse main:AGENTS.md");
    scene.nvim.wait_transcript(&format!(
        "A command has git read other objects in place of the repository's: `git show refs/replace/{}`. `git replace -d`",
        id.trim()
    ));
    // the user is told of it once, and by no other sentence
    assert!(
        !scene.nvim.transcript().contains("Git has new contents"),
        "{}",
        scene.nvim.transcript()
    );
}

#[test]
fn the_user_is_told_which_programs_a_command_has_put_into_a_waiting_rebase() {
    if !is_full() {
        return;
    }
    let scene = start();
    let stopped = "git checkout -q -b topic; git commit -q --allow-empty -m one
        GIT_SEQUENCE_EDITOR=\"sed -i '1i exec make mine'\" git rebase -i HEAD~1 || true
        sed -i '1i break' .git/rebase-merge/git-rebase-todo; echo exec make mine >> .git/rebase-merge/git-rebase-todo";
    bash(&scene, stopped);
    assert!(scene.nvim.setup.path(".git/rebase-merge/git-rebase-todo").exists());
    run(&scene, "git status");
    assert!(
        !scene.nvim.transcript().contains("of a rebase that waits"),
        "{}",
        scene.nvim.transcript()
    );
    run(&scene, "sed -i 's/make mine/make evil/' .git/rebase-merge/git-rebase-todo");
    scene.nvim.wait_transcript("A command has put programs into the list of a rebase that waits");
    scene.nvim.wait_transcript("`exec make evil`");
    run(&scene, "printf 'x\\ttouch \\\\\\n' >> .git/rebase-merge/git-rebase-todo");
    scene.nvim.wait_transcript("touch");
    // the list of a rebase that was not there
    bash(&scene, "rm -rf .git/rebase-merge");
    run(&scene, "git -c sequence.editor=true rebase -q -x false HEAD~1");
    run(
        &scene,
        "mkdir -p .git/rebase-merge; echo exec touch ran > .git/rebase-merge/git-rebase-todo",
    );
    scene.nvim.wait_transcript("`exec touch ran`");
}

#[test]
fn the_user_is_told_of_a_strategy_by_which_git_would_run_a_program_of_the_project() {
    if !is_full() {
        return;
    }
    let scene = start();
    bash(
        &scene,
        "git config commit.gpgSign false; git checkout -q -b topic; git commit -q --allow-empty -m one; git checkout -q -b two
        GIT_SEQUENCE_EDITOR=\"sed -i '1i break'\" git rebase -i HEAD~1",
    );
    run(&scene, "echo ours > .git/rebase-merge/strategy");
    assert!(!scene.nvim.transcript().contains("strategy"), "{}", scene.nvim.transcript());
    run(&scene, "echo x/one > .git/rebase-merge/strategy");
    scene.nvim.wait_transcript("`strategy x/one`");
    run(
        &scene,
        "mkdir -p .git/sequencer; printf '[options]\\n\\tStrategy = \"x/two\"\\n' > .git/sequencer/opts
        git rev-parse HEAD | tee .git/sequencer/head .git/CHERRY_PICK_HEAD > /dev/null",
    );
    scene.nvim.wait_transcript("[options] Strategy =");
    // a choice between the sides of a conflict runs nothing
    let before = scene.nvim.transcript().matches("A command has put programs").count();
    run(&scene, "printf '[options]\\n\\tstrategy-option = a/b\\n' > .git/sequencer/opts");
    assert_eq!(scene.nvim.transcript().matches("A command has put programs").count(), before);
}

/// What changes how git works, and by which git runs nothing. `$RUN` would leave a mark.
const HARMLESS: [&str; 9] = [
    "mkdir -p alt/info alt/pack; echo $PWD/alt > .git/objects/info/alternates; echo \"$RUN\" > alt/info/alternates",
    "mkdir -p .git/info; echo '*' > .git/info/exclude; echo '!*' > .git/info/sparse-checkout; git config core.sparseCheckout true",
    "git rev-parse main > .git/shallow",
    "git symbolic-ref HEAD 'refs/heads/$(touch${IFS}ran)'",
    "echo 'ref: refs/heads/`touch ran`' > .git/HEAD",
    "git branch 'x;touch${IFS}ran'; git symbolic-ref HEAD 'refs/heads/x;touch${IFS}ran'",
    "mkdir -p .git/rr-cache .git/lfs .git/svn; echo $RUN > .git/description; echo $RUN > .git/gc.pid",
    "echo \"$RUN\" > .git/COMMIT_EDITMSG; echo \"$RUN\" > .git/MERGE_MSG; git rev-parse main > .git/MERGE_HEAD",
    "mkdir -p .git/rebase-merge; cd .git/rebase-merge; git rev-parse main | tee onto orig-head head > /dev/null
     echo refs/heads/main > head-name; echo evil > strategy; echo \"-S$RUN\" > gpg_sign_opt; echo \"--x=$RUN\" > strategy_opts
     echo exec \"$RUN\" > git-rebase-todo; echo 1 > msgnum; echo 1 > end; touch interactive",
];
/// What a prompt, an editor and the user do.
const USER: &str = "git status; git log -3 --stat; git diff HEAD; git stash; git stash pop; git branch -a; git fetch --all
    git add -A; git commit -m x; git rebase --abort; git merge --abort; git checkout -q other; git checkout -q main; git gc --auto
    git fsck; git worktree list; git remote -v; git describe --always";

#[test]
fn the_user_s_git_runs_nothing_because_of_what_commands_may_write_in_its_folder() {
    if !is_full() {
        return;
    }
    let scene = start();
    bash(&scene, "cp -a . ../seed");
    for it in HARMLESS {
        bash(&scene, "find . -mindepth 1 -delete; cp -a ../seed/. .");
        let ran = scene.nvim.setup.dir().join("ran");
        run(&scene, &format!("RUN='touch {}'\n{it}\n", ran.display()));
        let said = bash(&scene, USER);
        let here = scene.nvim.setup.path("ran");
        assert!(!ran.exists() && !here.exists(), "{it}: {said}");
    }
}

/// Ways in which a command has the user's git make files of its commit `$E`, without a reference: what the command writes.
const NOTED: [&str; 8] = [
    "mkdir -p .git/rebase-merge; echo $E > .git/rebase-merge/orig-head",
    "mkdir -p .git/rebase-merge; echo $E > .git/rebase-merge/autostash",
    "mkdir -p .git/sequencer; echo $E > .git/sequencer/head",
    "mkdir -p .git/sequencer; echo pick $E x > .git/sequencer/todo",
    "echo $E > .git/MERGE_AUTOSTASH",
    "echo $E > .git/BISECT_START",
    "printf '%s\\t\\tbranch x of y\\n' $E > .git/FETCH_HEAD",
    "echo $E > .git/ORIG_HEAD",
];

#[test]
fn the_user_is_told_of_locked_contents_in_commits_that_only_the_state_of_git_names() {
    if !is_full() {
        return;
    }
    let scene = start();
    run(&scene, "git reset -q --soft HEAD");
    for (n, way) in NOTED.iter().enumerate() {
        let evil = EVIL.replace("echo evil |", &format!("echo evil{n} |"));
        run(&scene, &format!("{evil}{way}\n"));
        let id = bash(&scene, &format!("echo evil{n} | git hash-object --stdin"));
        let is_told = |it: &crate::kit::nvim::Nvim| {
            let text = it.transcript();
            let shown = text.split("`git show ").skip(1).filter_map(|it| it.split('`').next());
            shown.map(|it| bash(&scene, &format!("git rev-parse {it}"))).any(|it| it == id)
        };
        assert!(is_told(&scene.nvim), "{way}: {}", scene.nvim.transcript());
    }
    // the commits of the user's own branches are no news
    let before = scene.nvim.transcript().matches("`git show ").count();
    run(&scene, "git rev-parse other > .git/ORIG_HEAD; git rev-parse other > .git/FETCH_HEAD");
    assert_eq!(scene.nvim.transcript().matches("`git show ").count(), before);
}

/// What the user is told by commands that show contents.
fn shown(scene: &Scene) -> Vec<String> {
    let text = scene.nvim.transcript();
    text.split("`git show ")
        .skip(1)
        .filter_map(|it| Some(it.split('`').next()?.to_owned()))
        .collect()
}

#[test]
fn a_branch_with_a_locked_file_is_not_hidden_behind_many_others() {
    if !is_full() {
        return;
    }
    let scene = start();
    run(&scene, "true");
    // each branch has a content of its own for files that are locked and less dangerous, the last one the evil file too
    let script = "export GIT_INDEX_FILE=$TMPDIR/index; git read-tree main; H=$(git rev-parse main)
        put() { git update-index --add --cacheinfo 100644,$(echo $1 | git hash-object -w --stdin),$2; }
        on() { git update-ref refs/heads/$1 $(git commit-tree $(git write-tree) -p $H -m $1); }
        for n in {1..40}; do put $n AGENTS.md; put $n .mcp.json; put $n .github/workflows/a.yml; on a$n; done
        put evil .envrc; on zz\n";
    run(&scene, script);
    scene.nvim.wait_transcript("Git has new contents for files that commands may not write");
    let shown = shown(&scene);
    assert_eq!(shown[0], "zz:.envrc", "{shown:?}");
    let first: Vec<&str> = shown[..4].iter().filter_map(|it| Some(it.split_once(':')?.1)).collect();
    for path in ["AGENTS.md", ".mcp.json", ".github/workflows/a.yml"] {
        assert!(first.contains(&path), "{shown:?}");
    }
    scene.nvim.wait_transcript("more");
}

/// Ways by which a commit `$E` comes into a working tree of the user's: what another working tree has checked out, and what
/// was checked out before. A commit between two others is no tip of anything.
const VISITED: [&str; 5] = [
    "echo $E > .git/worktrees/beside/HEAD",
    "printf '%040d %s a <a@a> 1 +0000\tcheckout: moving from %s to main\n' 0 $E $E >> .git/logs/HEAD",
    "printf '%040d %s a <a@a> 1 +0000\tcommit: x\n' 0 $E >> .git/logs/refs/heads/main",
    "printf '%040d %s a <a@a> 1 +0000\tcheckout: moving from %s to main\n' 0 $E $E >> .git/worktrees/beside/logs/HEAD",
    "git update-ref refs/heads/x$RANDOM $(git commit-tree -p $E $(git rev-parse main^{tree}) -m x)",
];

#[test]
fn the_user_is_told_of_locked_contents_in_other_worktrees_reflogs_and_commits_between_others() {
    if !is_full() {
        return;
    }
    let scene = start();
    bash(&scene, "git worktree add -q --detach ../beside main");
    run(&scene, "git reset -q --soft HEAD");
    for (n, way) in VISITED.iter().enumerate() {
        let evil = EVIL.replace("echo evil |", &format!("echo visited{n} |"));
        run(&scene, &format!("{evil}{way}\n"));
        let id = bash(&scene, &format!("echo visited{n} | git hash-object --stdin"));
        let is_told =
            shown(&scene).iter().any(|it| bash(&scene, &format!("git rev-parse {it}")) == id);
        assert!(is_told, "{way}: {}", scene.nvim.transcript());
    }
}

#[test]
fn the_user_is_told_of_patches_of_locked_files_that_wait() {
    if !is_full() {
        return;
    }
    let scene = start();
    // a series of patches of the user's that stops at its first one
    bash(
        &scene,
        "git config commit.gpgSign false; git checkout -q -b topic; echo 1 > one; git add one; git commit -qm one
        echo 2 > two; git add two; git commit -qm two; git format-patch -q -o ../patches main; git checkout -q main
        echo other > one; git add one; git commit -qm other; git am ../patches/*.patch",
    );
    assert!(scene.nvim.setup.path(".git/rebase-apply/0002").exists());
    run(&scene, "git status");
    let is_told = |what: &str| scene.nvim.transcript().contains(what);
    assert!(!is_told("A command has put"), "{}", scene.nvim.transcript());
    let patch = "cd .git/rebase-apply
        { sed -n '1,/^$/p' 0002; printf -- '---\n .envrc | 1 +\n\ndiff --git a/.envrc b/.envrc\nnew file mode 100644\n--- /dev/null\n+++ b/.envrc\n@@ -0,0 +1 @@\n+touch ran\n-- \n2\n'; } > $TMPDIR/p";
    run(&scene, &format!("{patch}; cat $TMPDIR/p > 0002"));
    scene.nvim.wait_transcript("`patch 0002 of .envrc`");
    // an encoded mail
    let encoded = "{ sed -n '1,/^$/p' $TMPDIR/p | sed '$d'; printf 'Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: base64\n\n'
        sed '1,/^$/d' $TMPDIR/p | sed 's/touch/printf/' | base64; } > 0003; echo 3 > last";
    run(&scene, &format!("{patch}; {encoded}"));
    scene.nvim.wait_transcript("`patch 0003 of .envrc`");
    run(&scene, "echo \" '--directory=.vscode'\" > .git/rebase-apply/apply-opt");
    scene.nvim.wait_transcript("`patches with --directory=.vscode`");
}

#[test]
fn no_command_begins_while_a_pipe_keeps_git_from_telling_what_the_repository_holds() {
    if !is_full() {
        return;
    }
    for file in ["refs/heads/waits", "packed-refs", "logs/HEAD"] {
        let scene = start();
        bash(&scene, &format!("rm -f .git/{file}; mkfifo .git/{file}"));
        if file == "logs/HEAD" {
            // git does not read it
            run(&scene, "true");
            continue;
        }
        let line = json!({ "command": "echo b; echo evil > .envrc" });
        let (said, _) = call(&scene, "shell", line, "");
        assert!(said.contains(&format!(".git/{file}` is a pipe")), "{file}: {said}");
        bash(&scene, &format!("rm .git/{file}"));
        // the first command that begins knows what the repository held
        run(&scene, &format!("{EVIL}git update-ref refs/heads/evil $E\n"));
        scene.nvim.wait_transcript("`git show evil:.envrc`");
    }
}

#[test]
fn a_pipe_that_git_would_read_ends_the_command_and_the_user_is_told_which_one() {
    if !is_full() {
        return;
    }
    let scene = start();
    for file in ["packed-refs", "HEAD", "index", "objects/info/alternates"] {
        bash(&scene, "rm -rf ../kept; cp -a .git ../kept");
        let script = format!("rm -f .git/{file}; mkfifo .git/{file}; sleep 100");
        fs::write(scene.nvim.setup.path("run.sh"), script).unwrap();
        let (said, _) = call(&scene, "shell", json!({ "command": "bash run.sh" }), "");
        assert!(said.contains(&format!(".git/{file}` is a pipe")), "{file}: {said}");
        // no further command begins, until the user has removed the pipe
        let (said, _) = call(&scene, "shell", json!({ "command": "echo one" }), "");
        assert!(said.contains(&format!(".git/{file}` is a pipe")), "{file}: {said}");
        bash(&scene, "rm -rf .git; mv ../kept .git");
        let (said, _) = call(&scene, "shell", json!({ "command": "echo two" }), "");
        assert!(said.contains("two"), "{file}: {said}");
    }
}
