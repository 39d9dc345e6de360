//! The preview of a rewind names branches and tags that a command changed without leaving them checked out.

use super::commands::{git, git_says};
use super::kinds::ran;
use super::*;

#[test]
fn the_preview_names_each_branch_that_a_command_changed() {
    let more = |it: &Scene| {
        for name in ["moved", "gone", "same"] {
            git(it, &["branch", name]);
        }
    };
    let command = "git switch -qc new; echo n >n; git add n; git commit -qm new; git switch -q main; \
        git branch -f moved new; git branch -q -D gone; git update-ref refs/heads/low new; \
        git worktree add -q wt -b tree; git -C wt commit -q --allow-empty -m tree; git tag v1 new";
    let scene = ran(|it| it.file(".gitignore", "wt\n"), more, command);
    let short = |it: &str| git_says(&scene, &["rev-parse", it])[..7].to_owned();
    let [main, new, tree] = ["main", "new", "tree"].map(short);
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.nvim.wait_screen("changed branches");
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("take back all");
    let shown = scene
        .nvim
        .buffer("/rewind")
        .replace(&main, "OLD")
        .replace(&new, "NEW")
        .replace("\n\n", "\n");
    expect![[r#"
        A command of this turn deleted the branch gone, which was at OLD. A rewind does not bring it back: use git for that.
        A command of this turn made the branch low, at NEW. A rewind does not delete it.
        A command of this turn moved the branch moved, which is not checked out, from OLD to NEW. A rewind does not move it back: use git for that.
        A command of this turn made the branch new, at NEW. A rewind does not delete it.
        A command of this turn made the branch tree, at TREE. A rewind does not delete it.
        A command of this turn made the tag v1, at NEW. A rewind does not delete it."#]]
    .assert_eq(shown.replace(&tree, "TREE").trim_end());
}
