//! Programs with git built in that stop in the middle because of a locked file: the model is told which, what stands
//! half-done, and a way on that works.

use super::git::{OTHER, run, start_with_other_git};
use crate::grants::call;
use crate::kit::sandbox::is_full;
use crate::review::scene::Scene;
use serde_json::json;
use std::process::Command;

/// The branch `two` has two commits: one of ordinary files, and one that changes `AGENTS.md` too.
const TWO: &str = "set -e; git checkout -qb two; echo p > p.txt; git add p.txt; git commit -qm p; echo 'Be brief.' > AGENTS.md; \
    echo q > q.txt; git add -A; git commit -qm q; git checkout -q main; git format-patch -q -2 two --stdout > target/m.mbox; \
    echo m > m.txt; git add -A; git commit -qm main; git checkout -q -b undone two; git checkout -q main";

/// How a program stops.
struct Stop {
    before: &'static str,
    command: &'static str,
    /// What takes the operation back, once the rest is; `None` if git knows of none.
    undo: Option<&'static str>,
    /// The branch to which it goes back.
    back: &'static str,
    /// What of it is in the working tree.
    left: &'static str,
    /// What takes the rest back.
    clean: &'static [&'static str],
    /// The same with git itself.
    whole: &'static str,
}

const STOPS: [Stop; 5] = [
    Stop {
        before: "",
        command: "rebase -q main two",
        undo: Some("git rebase --abort"),
        back: "two",
        left: "?? q.txt",
        clean: &["git clean -fq -- q.txt"],
        whole: "git rebase -q main two",
    },
    Stop {
        before: "",
        command: "cherry-pick main..two",
        undo: Some("git cherry-pick --abort"),
        back: "main",
        left: "?? q.txt",
        clean: &["git clean -fq -- q.txt"],
        whole: "git cherry-pick main..two",
    },
    Stop {
        before: "git checkout -q undone",
        command: "revert --no-edit two two~1",
        undo: Some("git revert --abort"),
        back: "undone",
        left: "D q.txt",
        clean: &["git checkout -q -- q.txt"],
        whole: "git revert --no-edit two two~1",
    },
    Stop {
        before: "",
        command: "am -q target/m.mbox",
        undo: Some("git am --abort"),
        back: "main",
        left: "",
        clean: &[],
        whole: "git am -q target/m.mbox",
    },
    Stop {
        before: "",
        command: "merge -q two",
        undo: None,
        back: "main",
        left: "?? p.txt\n?? q.txt",
        clean: &["git clean -fq -- p.txt q.txt"],
        whole: "git merge -q two",
    },
];

/// Runs commands of the user's in the project.
fn by_user(scene: &Scene, script: &str) -> String {
    let mut shell = Command::new("bash");
    let done = shell.arg("-c").arg(script).current_dir(scene.nvim.setup.path("")).output().unwrap();
    assert!(done.status.success(), "{script}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// The branch, the commits and the working tree.
const STATE: &str = "git symbolic-ref -q HEAD || echo detached; git rev-parse HEAD; git status --porcelain; ls .git | grep -E '^rebase|^sequencer' || true";

#[test]
fn a_model_whose_program_stopped_in_the_middle_is_told_what_is_half_done_and_how_to_go_on() {
    if !is_full() {
        return;
    }
    for stop in STOPS {
        let scene = start_with_other_git();
        by_user(&scene, TWO);
        by_user(&scene, stop.before);
        let before = by_user(&scene, STATE);
        let command = stop.command;
        let said = run(&scene, &format!("{OTHER} {command} 2>&1; exit 3"));
        assert!(
            said.contains("[commands may not write AGENTS.md: such files"),
            "{command}: {said}"
        );
        let rest = "git status, git diff and git stash list show what it had changed before. Take that back first";
        assert!(said.contains(rest), "{command}: {said}");
        let undo = stop.undo.map(|it| format!("then run {it}. Run git itself"));
        assert!(
            said.contains(undo.as_deref().unwrap_or("writes over no such change. Run git itself")),
            "{command}: {said}"
        );
        // the way that the model was told
        let ask = |line: &str| {
            call(&scene, "shell", json!({ "command": line }), ":Caliban approve<CR>").0
        };
        let left = by_user(&scene, "git status --porcelain | sed 's/^ //'");
        assert_eq!(left.trim(), stop.left, "{command}");
        let said: Vec<String> = stop.clean.iter().copied().chain(stop.undo).map(ask).collect();
        let place = by_user(&scene, &format!("echo refs/heads/{0}; git rev-parse {0}", stop.back));
        let rest: Vec<&str> = before.lines().skip(2).collect();
        let wanted = place + &rest.join("\n") + if rest.is_empty() { "" } else { "\n" };
        assert_eq!(by_user(&scene, STATE), wanted, "{command}: {said:?}");
        let said = ask(stop.whole);
        assert!(!said.contains("exit code"), "{command}: {said}");
        let rest = by_user(
            &scene,
            "git status --porcelain; ls .git | grep -E '^rebase|^sequencer' || true",
        );
        assert_eq!(rest, "", "{command}");
    }
}
