//! Git in the sandbox: a command that changes locked files is asked about, also in auto mode, or does not start.

use crate::grants::{call, is_asked};
use crate::kit::reply::Reply;
use crate::kit::sandbox::is_full;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::scene::Scene;
use crate::run::Ran;
use serde_json::json;
use std::os::unix::fs::symlink;
use std::process::Command;

const REPOSITORY: &str = "set -e; git init -q -b main; git config user.name T; git config user.email t@l; \
    git config commit.gpgSign false; mkdir -p .github/workflows; echo 'Be kind.' > AGENTS.md; \
    echo 'on: push' > .github/workflows/ci.yml; echo a > a.txt; git add -A; git commit -qm base; \
    git checkout -qb other; echo 'Be brief.' > AGENTS.md; git rm -q .github/workflows/ci.yml; \
    git commit -qam other; git checkout -q main";

/// Makes a repository in a project. `AGENTS.md` and a workflow differ between the branches `main` and `other`.
fn make(setup: &Setup) {
    let root = setup.path("");
    std::fs::remove_dir_all(root.join(".git")).unwrap();
    let made = Command::new("bash").arg("-c").arg(REPOSITORY).current_dir(root).output().unwrap();
    assert!(made.status.success(), "{made:?}");
}

pub(super) fn start() -> Scene {
    let scene = Scene::start(|it| it.config("{ mode = 'auto' }").size(160, 40));
    make(&scene.nvim.setup);
    scene
}

pub(super) fn is_untouched(scene: &Scene) -> bool {
    scene.on_disk("AGENTS.md").as_deref() == Some("Be kind.\n")
        && scene.on_disk(".git/HEAD").as_deref() == Some("ref: refs/heads/main\n")
}

#[test]
fn git_alone_is_asked_about_the_locked_files_that_it_changes_and_then_changes_them() {
    if !is_full() {
        return;
    }
    let scene = start();
    let checkout = json!({ "command": "git checkout other" });
    scene.server.reply(Reply::new().call("c1", "shell", checkout.clone()));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.nvim.wait_transcript(
        "It changes files that commands may not change: `.github/workflows/ci.yml`, `AGENTS.md`.",
    );
    assert!(is_untouched(&scene));
    // no rule would answer this question
    assert!(!scene.nvim.transcript().contains("from now on"), "{}", scene.nvim.transcript());
    scene.server.reply(Reply::said("Denied."));
    scene.nvim.keys(":Caliban deny<CR>");
    scene.wait_idle("Denied.");
    assert!(is_untouched(&scene));
    let (said, was_asked) = call(&scene, "shell", checkout, ":Caliban approve<CR>");
    assert!(was_asked && said.contains("Switched to branch 'other'"), "{said}");
    assert_eq!(scene.on_disk("AGENTS.md").as_deref(), Some("Be brief.\n"));
    assert!(!scene.nvim.setup.path(".github/workflows/ci.yml").exists());
    assert!(!scene.nvim.setup.path(".github/workflows.refused").exists());
    // the consent was for that one command
    let (said, was_asked) = call(&scene, "shell", json!({ "command": "echo x > AGENTS.md" }), "");
    assert!(!was_asked && said.contains("Read-only file system"), "{said}");
    assert!(is_asked(&scene, "shell", json!({ "command": "git checkout main" })));
}

#[test]
fn git_among_other_commands_does_not_start_if_it_would_change_locked_files() {
    if !is_full() {
        return;
    }
    let scene = start();
    let input = json!({ "command": "git checkout other && touch done" });
    let (said, was_asked) = call(&scene, "shell", input, "");
    let wanted = "git checkout was not started. It would change .github/workflows/ci.yml, AGENTS.md, which commands \
        may not write. Run this git command alone";
    assert!(!was_asked && said.contains(wanted) && said.contains("exit code 128"), "{said}");
    assert!(is_untouched(&scene) && !scene.nvim.setup.path("done").exists());
    let (said, was_asked) = call(&scene, "shell", json!({ "command": "git merge -q main" }), "");
    assert!(!was_asked && said.contains("[no output]"), "{said}");
}

#[test]
fn the_rest_of_a_rebase_that_would_change_locked_files_is_named_as_that() {
    if !is_full() {
        return;
    }
    let scene = start();
    let stopped = "git commit -qam 'no ci' --allow-empty; git checkout -qb mixed; echo b > a.txt; git commit -qam b; \
        git cherry-pick other; git checkout -q main; echo c > a.txt; git commit -qam c; git checkout -q mixed; \
        git rebase main; echo d > a.txt; git add a.txt";
    let root = scene.nvim.setup.path("");
    Command::new("bash").arg("-c").arg(stopped).current_dir(root).output().unwrap();
    let input = json!({ "command": "GIT_EDITOR=true git rebase --continue; true" });
    let (said, was_asked) = call(&scene, "shell", input, "");
    let wanted = "git rebase --continue was not started. It would change";
    assert!(!was_asked && said.contains(wanted), "{said}");
}

#[test]
fn the_exit_code_of_git_stays_if_its_settings_are_not_carried_over() {
    if !is_full() {
        return;
    }
    let scene = start();
    for (command, code) in [
        // git adds the remote, and fails to fetch from it
        ("git remote add -f up ext::false", 1),
        ("git remote add up ext::false", 128),
        ("git remote add -f down https://127.0.0.1:1/nowhere.git", 1),
    ] {
        let input = json!({ "command": format!("{command}; echo code $?") });
        let (said, _) = call(&scene, "shell", input, "");
        assert!(
            said.contains(&format!("code {code}\n")) || said.ends_with(&format!("code {code}")),
            "{said}"
        );
        let is_refused =
            said.contains("configuration of the repository was not changed (remote.up.url)");
        assert_eq!(is_refused, command.contains("ext::"), "{said}");
    }
    let config = scene.on_disk(".git/config").unwrap();
    assert!(config.contains("nowhere.git") && !config.contains("ext::"), "{config}");
}

#[test]
fn git_does_not_get_past_the_look_by_another_name() {
    if !is_full() {
        return;
    }
    let scene = start();
    let refused = "checkout was not started. It would change .github/workflows/ci.yml, AGENTS.md";
    let git = Command::new("git").args(["-C", "/", "--exec-path"]).output().unwrap();
    let exec = String::from_utf8(git.stdout).unwrap();
    std::fs::write(scene.nvim.setup.path("Makefile"), "all:\n\tPATH=/usr/bin git checkout other\n")
        .unwrap();
    let config = scene.nvim.setup.path(".git/config");
    let alias = "[alias]\n\tgo = \"!git checkout other\"\n\tco2 = checkout\n";
    std::fs::write(&config, std::fs::read_to_string(&config).unwrap() + alias).unwrap();
    for command in [
        "/usr/bin/git checkout other; true",
        "bash -lc 'git checkout other'; true",
        "make -s all; true",
        "env -i /usr/bin/env PATH=/usr/bin:/bin git checkout other; true",
        "git go; true",
        "git co2 other; true",
        &format!("{}/git checkout other; true", exec.trim()),
        "python3 -c 'import os; os.execv(\"/usr/bin/git\", [\"git\", \"checkout\", \"other\"])'; true",
    ] {
        let (said, _) = call(&scene, "shell", json!({ "command": command }), "");
        assert!(said.contains(refused), "{command}: {said}");
        assert!(is_untouched(&scene), "{command}: {said}");
    }
    // git's own programs under other names do what they do
    let (said, _) = call(
        &scene,
        "shell",
        json!({ "command": "git clone -q --no-local . $TMPDIR/copy && ls $TMPDIR/copy; git-upload-pack --help | head -1" }),
        "",
    );
    assert!(said.contains("AGENTS.md") && said.contains("a.txt"), "{said}");
}

/// A branch that has more locked files than `main`.
const MORE: &str = "set -e; git checkout -qb more; mkdir .vscode .github/actions; echo '{}' > .vscode/settings.json; \
    echo a > .github/actions/a.yml; echo b > .github/actions/b.yml; ln -s AGENTS.md CLAUDE.md; git add -A; \
    git commit -qm more; git checkout -q main; rm -rf .vscode .github/actions";

/// Git under another name: a program that has git built in, in whose place Caliban does not stand.
pub(super) const OTHER: &str = "target/dulwich";

pub(super) fn start_with_other_git() -> Scene {
    let scene = start();
    let setup = &scene.nvim.setup;
    let root = setup.path("");
    let made = Command::new("bash").arg("-c").arg(MORE).current_dir(&root).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let exec = Command::new("git").arg("--exec-path").output().unwrap();
    let exec = String::from_utf8(exec.stdout).unwrap();
    std::fs::create_dir_all(root.join("target")).unwrap();
    std::fs::copy(format!("{}/git", exec.trim()), root.join(OTHER)).unwrap();
    std::fs::write(root.join(".git/info/exclude"), "target\n").unwrap();
    scene
}

pub(super) fn run(scene: &Scene, command: &str) -> String {
    let (said, was_asked) = call(scene, "shell", json!({ "command": command }), "");
    assert!(!was_asked, "{said}");
    said
}

#[test]
fn locked_files_that_the_repository_held_stay_when_another_program_checks_them_out() {
    if !is_full() {
        return;
    }
    let scene = start_with_other_git();
    let said = run(&scene, "target/dulwich checkout -q more; echo code $?");
    assert_eq!(said, "code 0");
    assert_eq!(scene.on_disk(".vscode/settings.json").as_deref(), Some("{}\n"));
    assert_eq!(scene.on_disk("CLAUDE.md").as_deref(), Some("Be kind.\n"));
    let said = run(
        &scene,
        "git status --porcelain; git add -A && git commit -q --allow-empty -m next; \
        git diff --stat more~0 HEAD; git ls-files | grep -c -e vscode -e actions -e CLAUDE",
    );
    assert_eq!(said, "4");
    // the files are locked from now on
    let said = run(&scene, "echo evil > .vscode/settings.json");
    assert!(said.contains("Read-only file system"), "{said}");
}

#[test]
fn a_stranger_s_file_at_a_path_that_the_repository_knows_is_taken_out_of_the_project() {
    if !is_full() {
        return;
    }
    let scene = start_with_other_git();
    for make in [
        "mkdir .vscode; echo evil > .vscode/settings.json",
        "mkdir .vscode; echo '{}' > .vscode/settings.json; echo evil > .vscode/tasks.json",
        "mkdir -p .vscode/a; ln -s /bin/true .vscode/settings.json",
    ] {
        let said = run(&scene, make);
        assert!(said.contains(".vscode, which runs when a folder is entered or opened (renamed to .git/refused/.vscode"), "{said}");
        assert!(!scene.nvim.setup.path(".vscode").exists());
        assert_eq!(run(&scene, "git add -A; git status --porcelain"), "[no output]");
    }
    assert_eq!(scene.on_disk(".git/refused/.vscode/settings.json").as_deref(), Some("evil\n"));
    // nothing goes where a link leads that is in the place of the folder, be it the user's or a command's
    let outside = scene.nvim.setup.path("").parent().unwrap().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    run(&scene, "rm -r .git/refused");
    symlink(&outside, scene.nvim.setup.path(".git/refused")).unwrap();
    let said = run(&scene, "echo evil > .envrc");
    assert!(said.contains("(renamed to .envrc.refused)"), "{said}");
    let make = format!("ln -sfn {}/ .git/refused; echo evil > .envrc", outside.display());
    let said = run(&scene, &make);
    assert!(said.contains("(renamed to .envrc.refused2)"), "{said}");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_locked_file_of_a_commit_that_a_command_has_made_is_not_checked_out_and_no_commit_deletes_it() {
    if !is_full() {
        return;
    }
    let scene = start_with_other_git();
    run(
        &scene,
        "set -e; b=$(echo evil | git hash-object -w --stdin); export GIT_INDEX_FILE=$TMPDIR/index; \
        git read-tree more; git update-index --add --cacheinfo 100644,$b,.envrc; t=$(git write-tree); \
        git update-ref refs/heads/evil $(git commit-tree -p main -m evil $t)",
    );
    let said = run(&scene, "target/dulwich checkout -q evil; echo code $?");
    assert!(
        said.contains("code 0") && said.contains(".envrc, which runs when a folder is entered"),
        "{said}"
    );
    assert!(
        said.contains("not on disk, because commands may not create them: .envrc. They are marked"),
        "{said}"
    );
    assert_eq!(scene.on_disk(".envrc"), None);
    assert_eq!(scene.on_disk(".git/refused/.envrc").as_deref(), Some("evil\n"));
    assert_eq!(scene.on_disk(".vscode/settings.json").as_deref(), Some("{}\n"));
    let said = run(
        &scene,
        "git status --porcelain; echo x > x.txt; git add -A && git commit -qm next; \
        git ls-tree --name-only HEAD .envrc x.txt",
    );
    assert_eq!(said, ".envrc\nx.txt");
    // the way that the model was told
    assert_eq!(run(&scene, "git update-index --no-skip-worktree -- .envrc"), "[no output]");
    let input = json!({ "command": "git checkout -- .envrc" });
    let (_, was_asked) = call(&scene, "shell", input, ":Caliban approve<CR>");
    assert!(was_asked);
    assert_eq!(scene.on_disk(".envrc").as_deref(), Some("evil\n"));
}

#[test]
fn a_model_whose_program_left_locked_files_behind_is_told_which_and_how_to_go_on() {
    if !is_full() {
        return;
    }
    let scene = start_with_other_git();
    let said = run(&scene, "target/dulwich checkout -q other 2>/dev/null; echo code $?");
    let left = "may not write them: .github/workflows/ci.yml AGENTS.md. A commit of everything";
    assert!(said.contains("code 0") && said.contains(left), "{said}");
    assert!(!run(&scene, "git log --oneline -1").contains("stay as they were"));
    for (command, is_there) in [
        ("git checkout HEAD -- AGENTS.md", true),
        ("git clean -f -- .github/workflows/ci.yml", false),
    ] {
        let input = json!({ "command": command });
        let (said, was_asked) = call(&scene, "shell", input, ":Caliban approve<CR>");
        assert!(was_asked, "{said}");
        assert_eq!(scene.nvim.setup.path(".github/workflows/ci.yml").exists(), is_there);
    }
    assert_eq!(run(&scene, "git status --porcelain"), "[no output]");
    assert_eq!(scene.on_disk("AGENTS.md").as_deref(), Some("Be brief.\n"));
    // one that fails before it moves HEAD
    let said = run(&scene, "echo x > a.txt; echo evil > AGENTS.md");
    assert!(said.contains("[commands may not write AGENTS.md: such files run"), "{said}");
    // a commit of what the user has changed leaves nothing behind
    std::fs::write(scene.nvim.setup.path("AGENTS.md"), "Be quick.\n").unwrap();
    assert!(!run(&scene, "git commit -qam quick; git log -1").contains("stay as they were"));
}

#[test]
fn the_user_is_told_which_locked_files_a_command_has_put_into_git_s_store() {
    if !is_full() {
        return;
    }
    let scene = start();
    let into_index = "b=$(echo evil | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$b,.envrc";
    let into_branch = "b=$(echo worse | git hash-object -w --stdin); export GIT_INDEX_FILE=$TMPDIR/index; git read-tree main; \
        git update-index --add --cacheinfo 100644,$b,.vscode/tasks.json; \
        git update-ref refs/heads/later $(git commit-tree -p main -m later $(git write-tree))";
    assert_eq!(
        run(&scene, "echo b > b.txt; git add b.txt; git commit -qm b; git branch quiet"),
        "[no output]"
    );
    assert!(!scene.nvim.transcript().contains("Look at them first"));
    run(&scene, into_index);
    scene.nvim.wait_transcript("Look at them first: `git show :.envrc`.");
    run(&scene, into_branch);
    scene.nvim.wait_transcript("Look at them first: `git show later:.vscode/tasks.json`.");
    run(&scene, "git status");
    assert_eq!(scene.nvim.transcript().matches("Look at them first").count(), 2);
    // another content at the same place
    run(&scene, &into_branch.replace("worse", "worst"));
    let times = |text: String| text.matches("`git show later:.vscode/tasks.json`.").count();
    scene.nvim.wait(|it| times(it.transcript()) == 2, "the second content");
}

/// Tags that were there before do not count among the references that are looked at.
#[test]
fn a_tag_of_a_command_s_is_looked_at_however_many_tags_the_user_has() {
    if !is_full() {
        return;
    }
    let scene = start();
    let tags = "for n in $(seq 31); do git tag -a -m mine a$n || exit; done";
    let root = scene.nvim.setup.path("");
    assert!(Command::new("bash").args(["-c", tags]).current_dir(root).status().unwrap().success());
    let tag = "b=$(echo worse | git hash-object -w --stdin); export GIT_INDEX_FILE=$TMPDIR/index; git read-tree main; \
        git update-index --add --cacheinfo 100644,$b,.vscode/tasks.json; \
        git update-ref refs/tags/zz $(git commit-tree -p main -m later $(git write-tree))";
    run(&scene, tag);
    scene.nvim.wait_transcript("Look at them first: `git show refs/tags/zz:.vscode/tasks.json`.");
}

#[test]
fn a_bare_repository_in_a_folder_keeps_its_samples_and_the_user_is_told_of_a_hook() {
    if !is_full() {
        return;
    }
    let scene = start();
    let said =
        run(&scene, "git init -q --bare hub.git; git push -q ./hub.git main; ls -d hub.git/hooks");
    assert_eq!(said, "hub.git/hooks");
    run(&scene, "git init -q --bare other.git; echo evil > other.git/hooks/post-receive");
    scene.nvim.wait_transcript("The sandbox renamed files that a command created");
    assert!(!scene.nvim.setup.path("other.git/hooks/post-receive").exists());
    let said = run(&scene, "echo evil > hub.git/hooks/post-receive");
    assert!(said.contains("Read-only file system"), "{said}");
}

#[test]
fn git_is_asked_about_a_locked_file_of_the_repository_to_which_a_worktree_belongs() {
    if !is_full() {
        return;
    }
    let scene = start();
    let root = scene.nvim.setup.path("");
    let script = "set -e; git clone -q . ../main; rm -rf .git; git -C ../main worktree add -q --no-checkout ../w; \
        mv ../w/.git .git; git worktree repair 2> /dev/null; git reset -q; git worktree list";
    let made = Command::new("bash").arg("-c").arg(script).current_dir(&root).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    run(&scene, "git worktree add -q --detach tree");
    assert!(scene.nvim.setup.path("tree/a.txt").exists());
    let line = json!({ "command": "git worktree remove tree" });
    let (said, was_asked) = call(&scene, "shell", line, ":Caliban approve<CR>");
    assert!(was_asked && !scene.nvim.setup.path("tree").exists(), "{said}");
    assert!(!scene.nvim.setup.dir().join("main/.git/worktrees/tree").exists(), "{said}");
}

#[test]
fn git_does_not_start_where_nobody_can_answer() {
    if !is_full() {
        return;
    }
    let server = Server::start();
    let setup = Setup::new().anthropic(&server);
    make(&setup);
    let checkout = json!({ "command": "git checkout other" });
    server.reply(Reply::new().call("c1", "shell", checkout));
    server.reply(Reply::said("Done."));
    let ran = Ran::of(&mut setup.program(&["run", "--mode", "auto", "go on"]));
    let answer = server.requests()[1].answer("c1");
    assert!(answer.starts_with("Not run: nobody is here to answer"), "{answer} {}", ran.err);
    assert!(answer.contains("`.github/workflows/ci.yml`, `AGENTS.md`"), "{answer}");
    assert_eq!(setup.on_disk("AGENTS.md").as_deref(), Some("Be kind.\n"));
    assert_eq!(setup.on_disk(".git/HEAD").as_deref(), Some("ref: refs/heads/main\n"));
}
