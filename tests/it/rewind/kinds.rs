//! Rewinds of changes that are more than a new text: bytes of other encodings, permissions, links, folders, git.

use super::commands::{git, git_says, run_command};
use super::*;
use crate::kit::nvim::Nvim;
use std::fs::{self, Permissions};

/// A project under git with `a.txt`, in which the model has run `command`. `more` prepares the project after the first
/// commit.
pub(super) fn ran(
    files: impl FnOnce(Setup) -> Setup,
    more: impl FnOnce(&Scene),
    command: &str,
) -> Scene {
    let scene = Scene::start(|it| files(it.file("a.txt", nine())));
    git(&scene, &["init", "-qb", "main"]);
    git(&scene, &["config", "user.name", "me"]);
    git(&scene, &["config", "user.email", "me@example.org"]);
    git(&scene, &["add", "."]);
    git(&scene, &["commit", "-qm", "begin"]);
    more(&scene);
    run_command(&scene, command);
    scene
}

/// The lines of the preview about files.
pub(super) fn heads(scene: &Scene) -> String {
    let shown = scene.nvim.buffer("/rewind");
    let heads = shown.lines().filter(|it| it.starts_with("diff "));
    heads.map(|it| it.to_owned() + "\n").collect()
}

pub(super) fn take_all_back(scene: &Scene) {
    scene.nvim.keys("a");
    scene.wait_chat("You took back");
}

fn mode(scene: &Scene, path: &str) -> u32 {
    scene.nvim.setup.path(path).symlink_metadata().unwrap().permissions().mode() & 0o777
}

pub(super) fn status(scene: &Scene) -> String {
    git_says(scene, &["status", "--porcelain"])
}

#[test]
fn a_rewind_restores_a_latin1_source_that_a_command_changed() {
    let latin = |it: Setup| it.file("b.c", b"caf\xe9\nx\n").file("c.c", b"x\n");
    let command = r"sed -i s/x/y/ b.c; printf '\351\n' >c.c; printf 'n\351\n' >new.c";
    let scene = ran(latin, |it| it.nvim.keys(":edit b.c<CR>"), command);
    preview(&scene, "1");
    expect![[r#"
        diff b.c is restored (changed by a command)
        diff c.c is restored (changed by a command)
        diff new.c is deleted (changed by a command)
    "#]]
    .assert_eq(&heads(&scene));
    take_all_back(&scene);
    let read = |it: &str| fs::read(scene.nvim.setup.path(it)).ok();
    assert_eq!(read("b.c").as_deref(), Some(&b"caf\xe9\nx\n"[..]));
    assert_eq!((read("c.c").as_deref(), read("new.c")), (Some(&b"x\n"[..]), None));
    scene.nvim.wait(|it| it.buffer("/b.c") == "café\nx", "the earlier text in the buffer");
}

/// The program writes such a file itself, so unsaved text in the buffer would be lost at the next `:write`.
#[test]
fn a_rewind_leaves_a_latin1_file_with_unsaved_changes() {
    let scene = ran(|it| it.file("b.c", b"caf\xe9\nx\n"), |_| (), "sed -i s/x/y/ b.c");
    scene.nvim.keys(":edit b.c<CR>Gomine<Esc>");
    preview(&scene, "1");
    assert_eq!(
        heads(&scene),
        "diff b.c is not changed: its buffer has unsaved changes (changed by a command)\n"
    );
}

#[test]
fn a_deleted_latin1_file_is_created_again_byte_for_byte() {
    let scene = Scene::start(|it| it.file("b.c", b"caf\xe9\nx\n").config(MODE));
    scene.server.reply(Reply::new().call("d1", "delete", json!({ "path": "b.c" })));
    scene.ask_until(Reply::said("I see."), "I see.");
    assert!(!scene.nvim.setup.path("b.c").exists());
    rewind(&scene, "1");
    assert_eq!(fs::read(scene.nvim.setup.path("b.c")).unwrap(), b"caf\xe9\nx\n");
}

#[test]
fn a_rewind_restores_the_permissions_of_a_secret() {
    let secret = |it: &Scene| {
        for name in ["key", "pass"] {
            fs::write(it.nvim.setup.path(name), "secret\n").unwrap();
            fs::set_permissions(it.nvim.setup.path(name), Permissions::from_mode(0o600)).unwrap();
        }
        fs::set_permissions(it.nvim.setup.path("a.txt"), Permissions::from_mode(0o600)).unwrap();
    };
    let command =
        "umask 022; rm key; chmod 644 pass; sed s/l2/L2/ a.txt >t; rm a.txt; cat t >a.txt; rm t";
    let scene = ran(|it| it, secret, command);
    assert_eq!((mode(&scene, "pass"), mode(&scene, "a.txt")), (0o644, 0o644));
    preview(&scene, "1");
    expect![[r#"
        diff a.txt is restored, with its permissions (changed by a command)
        diff key is created again (changed by a command)
        diff pass gets its permissions back (0600) (changed by a command)
    "#]]
    .assert_eq(&heads(&scene));
    take_all_back(&scene);
    let modes = ["key", "pass", "a.txt"].map(|it| mode(&scene, it));
    assert_eq!(modes, [0o600; 3]);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    // the rewind of the rewind brings the other permissions back
    rewind(&scene, "1");
    assert_eq!((mode(&scene, "pass"), mode(&scene, "a.txt")), (0o644, 0o644));
}

#[test]
fn a_rewind_restores_links_and_files_that_became_folders() {
    let links = |it: Setup| {
        std::os::unix::fs::symlink("a.txt", it.path("link")).unwrap();
        it.file("d/one", "1\n").file("e/two", "2\n")
    };
    let command = "ln -sf nowhere link; rm a.txt; mkdir -p a.txt/x/y; echo in >a.txt/x/in; \
        rm -r d; echo file >d; rm -r e; ln -s .. e";
    let scene = ran(links, |_| (), command);
    preview(&scene, "1");
    expect![[r#"
        diff a.txt is created again in place of a folder (changed by a command)
        diff a.txt/x/in is deleted (changed by a command)
        diff d is deleted (changed by a command)
        diff d/one is created again (changed by a command)
        diff e is deleted (changed by a command)
        diff e/two is created again (changed by a command)
        diff link is a symbolic link to a.txt again (changed by a command)
    "#]]
    .assert_eq(&heads(&scene));
    take_all_back(&scene);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    let link = fs::read_link(scene.nvim.setup.path("link")).unwrap();
    assert_eq!(link.to_str(), Some("a.txt"));
    assert_eq!(scene.on_disk("d/one").as_deref(), Some("1\n"));
    assert_eq!(scene.on_disk("e/two").as_deref(), Some("2\n"));
    assert_eq!(status(&scene), "");
}

#[test]
fn a_rewind_takes_back_what_a_command_staged() {
    let own = |it: &Scene| fs::write(it.nvim.setup.path("own"), "own\n").unwrap();
    let command = "git mv a.txt b.txt; echo n >new; git add -N new; git add own";
    let scene = ran(|it| it, own, command);
    preview(&scene, "1");
    expect![[r#"
        diff a.txt is created again, also in git's index (changed by a command)
        diff b.txt is deleted, also in git's index (changed by a command)
        diff new is deleted, also in git's index (changed by a command)
        diff own gets its entry in git's index back (changed by a command)
    "#]]
    .assert_eq(&heads(&scene));
    take_all_back(&scene);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(status(&scene), "?? own\n");
}

#[test]
fn a_file_whose_entry_in_the_index_cannot_be_restored_is_said_to_be_restored() {
    let own = |it: &Scene| fs::write(it.nvim.setup.path("own"), "own\n").unwrap();
    let scene = ran(|it| it, own, "git rm -q a.txt; git add own");
    preview(&scene, "1");
    // as if another git was at work
    fs::write(scene.nvim.setup.path(".git/index.lock"), "").unwrap();
    take_all_back(&scene);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    expect![[r#"
        a.txt is created again; its entry in git's index stays
        own is not changed: its entry in git's index stays"#]]
    .assert_eq(&told(&scene, ": git: "));
    fs::remove_file(scene.nvim.setup.path(".git/index.lock")).unwrap();
}

/// What the chat says about each file of the rewind, without a reason that follows these words.
fn told(scene: &Scene, reason: &str) -> String {
    let said = scene.nvim.transcript();
    let lines = said.lines().skip_while(|it| !it.contains("You took back")).skip(1);
    let shown: Vec<&str> = lines.map(|it| it.split(reason).next().unwrap()).collect();
    shown.join("\n")
}

/// An autocommand of the user's puts a link in the place of the file as it is written, so the permissions that the file
/// had cannot be restored.
#[test]
fn a_file_whose_permissions_cannot_be_restored_is_said_to_be_restored() {
    let secret = |it: &Scene| {
        fs::set_permissions(it.nvim.setup.path("a.txt"), Permissions::from_mode(0o600)).unwrap();
    };
    let link =
        "vim.api.nvim_create_autocmd('BufWritePost', { pattern = 'a.txt', callback = function()
        vim.uv.fs_rename('a.txt', 'real.txt')
        vim.uv.fs_symlink('real.txt', 'a.txt')
    end })";
    let scene = ran(|it| it.before(link), secret, "chmod 644 a.txt; sed -i s/l2/L2/ a.txt");
    preview(&scene, "1");
    take_all_back(&scene);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    expect!["a.txt is restored; its permissions are not restored"]
        .assert_eq(&told(&scene, ": a symbolic link"));
}

/// An earlier, narrower mode comes before the earlier text. If the text stays, so does the mode.
#[test]
fn a_file_that_cannot_be_restored_keeps_its_permissions() {
    let secret = |it: &Scene| {
        fs::set_permissions(it.nvim.setup.path("a.txt"), Permissions::from_mode(0o600)).unwrap();
    };
    let scene = ran(|it| it, secret, "chmod 644 a.txt; sed -i s/l2/L2/ a.txt");
    scene.nvim.keys(":edit a.txt<CR>");
    preview(&scene, "1");
    scene.nvim.lua("vim.bo[vim.fn.bufnr('a.txt')].modifiable = false", &[]);
    take_all_back(&scene);
    expect!["a.txt is not changed: its buffer is 'nomodifiable'"].assert_eq(&told(&scene, "\n"));
    assert_eq!(mode(&scene, "a.txt"), 0o644);
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
}

#[test]
fn a_file_that_is_only_renamed_back_is_said_to_be_that() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE));
    scene.server.reply(Reply::new().call(
        "m1",
        "rename",
        json!({ "path": "a.txt", "to": "b.txt" }),
    ));
    scene.server.reply(Reply::new().call("e1", "edit", edit("b.txt", &[("l2", "L2")])));
    scene.ask_until(Reply::said("I see."), "I see.");
    let fixed = "vim.api.nvim_create_autocmd('BufFilePost', { callback = function(event)
        vim.bo[event.buf].modifiable = false
    end })";
    scene.nvim.lua(fixed, &[]);
    rewind(&scene, "1");
    expect![[r#"
        a.txt is renamed back from b.txt, but its text stays: its buffer is 'nomodifiable'

        ? 1 hunk in 1 file to review
          \a accept  \r reject  e reject, because …  \c comment
          ▾ a.txt  written
                2  -1 +1  L2"#]]
    .assert_eq(&told(&scene, "\n"));
    assert_eq!(
        (scene.on_disk("a.txt"), scene.on_disk("b.txt")),
        (Some(nine().replace("l2", "L2")), None)
    );
}

#[test]
fn the_preview_says_that_a_turn_committed() {
    let command = "sed -i s/l2/L2/ a.txt; git mv a.txt b.txt; git commit -qam more";
    let scene = ran(|it| it, |_| (), command);
    let old = git_says(&scene, &["rev-parse", "HEAD~1"])[..7].to_owned();
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.nvim.wait_screen("2 files, commits");
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("take back all");
    let shown = scene.nvim.buffer("/rewind");
    assert!(
        shown.contains(
            "A command of this turn made commits, and HEAD is still at the last one, on branch main ("
        ),
        "{shown}"
    );
    assert!(shown.contains(&format!("`git reset {old}` does, and keeps the files.")), "{shown}");
    take_all_back(&scene);
    assert_eq!((scene.on_disk("a.txt"), scene.on_disk("b.txt")), (Some(nine()), None));
    git(&scene, &["reset", "-q", &old]);
    assert_eq!(status(&scene), "");
}

/// What another commit has brought stays, also if its time is as old.
#[test]
fn a_rewind_restores_what_a_command_committed_with_an_old_date() {
    let old = "2020-01-01T12:00:00Z";
    let command = format!("sed -i s/l2/L2/ a.txt; git commit -qam more --date {old}");
    let scene = ran(|it| it, |_| (), &command);
    preview(&scene, "1");
    assert_eq!(heads(&scene), "diff a.txt is restored (changed by a command)\n");
    take_all_back(&scene);
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));

    let scene = ran(|it| it, two_branches, &format!("{command}; git cherry-pick other"));
    preview(&scene, "1");
    let heads = heads(&scene);
    assert!(heads.starts_with("diff a.txt is not changed"), "{heads}");
}

#[test]
fn a_turn_that_only_committed_is_in_the_list() {
    let scene = ran(|it| it, |_| (), "git commit -q --allow-empty -m more");
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.nvim.wait_screen("1: please  commits");
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("take back all");
    scene.nvim.keys("a");
    scene.nvim.wait_screen("Nothing was taken back");
}

/// The branch `other` has another text of `a.txt`, and `b.txt`.
fn two_branches(scene: &Scene) {
    git(scene, &["switch", "-qc", "other"]);
    fs::write(scene.nvim.setup.path("a.txt"), nine().replace("l5", "other")).unwrap();
    fs::write(scene.nvim.setup.path("b.txt"), "b\n").unwrap();
    git(scene, &["add", "."]);
    git(scene, &["commit", "-qm", "other"]);
    git(scene, &["switch", "-q", "main"]);
}

#[test]
fn a_rewind_overwrites_no_text_of_another_branch() {
    let scene = ran(|it| it, two_branches, "git checkout -q other; echo mine >>b.txt");
    preview(&scene, "1");
    let shown = scene.nvim.buffer("/rewind");
    assert!(shown.starts_with("HEAD moved from main ("), "{shown}");
    let heads = heads(&scene);
    let [a, b] = heads.lines().collect::<Vec<_>>()[..] else { panic!("{heads}") };
    assert!(
        a.starts_with("diff a.txt is not changed: its earlier text is in git, in main ("),
        "{a}"
    );
    assert_eq!(b, "diff b.txt is restored (changed by a command)");
    let about_a = shown.split("diff ").nth(1).unwrap();
    assert_eq!(about_a.trim_end().lines().count(), 1, "a diff of a file that stays: {about_a}");
    take_all_back(&scene);
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l5", "other")));
    assert_eq!(status(&scene), "");
}

#[test]
fn changes_of_one_branch_are_not_merged_into_another() {
    let scene = ran(|it| it, two_branches, "sed -i s/l2/L2/ a.txt");
    git(&scene, &["commit", "-qam", "more"]);
    git(&scene, &["switch", "-q", "other"]);
    preview(&scene, "1");
    let why = "it was changed on main, and other is checked out now";
    assert_eq!(heads(&scene), format!("diff a.txt is not changed: {why} (changed by a command)\n"));
    scene.nvim.keys("q");
    git(&scene, &["switch", "-q", "main"]);
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn uncommitted_text_that_git_threw_away_comes_back() {
    let dirty = |it: &Scene| {
        two_branches(it);
        fs::write(it.nvim.setup.path("a.txt"), nine().replace("l9", "mine")).unwrap();
    };
    for command in ["git reset -q --hard", "git checkout -qf other; git checkout -q main"] {
        let scene = ran(|it| it, dirty, command);
        assert_eq!(scene.on_disk("a.txt"), Some(nine()));
        rewind(&scene, "1");
        assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l9", "mine")), "{command}");
    }
    let scene = ran(|it| it, dirty, "git checkout -qf other");
    preview(&scene, "1");
    let why = "it was changed on main, and other is checked out now";
    let line = format!("diff a.txt is not changed: {why} (changed by a command)");
    assert_eq!(heads(&scene).lines().next(), Some(&*line));
    scene.nvim.keys("q");
    git(&scene, &["switch", "-q", "main"]);
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l9", "mine")));
}

#[test]
fn a_merge_that_stopped_is_said_and_left_to_git() {
    let diverged = |it: &Scene| {
        two_branches(it);
        fs::write(it.nvim.setup.path("a.txt"), nine().replace("l5", "main")).unwrap();
        git(it, &["commit", "-qam", "main"]);
    };
    let scene = ran(|it| it, diverged, "git merge -q other");
    preview(&scene, "1");
    let shown = scene.nvim.buffer("/rewind");
    assert!(shown.contains("changed in files: `git merge --abort` does"), "{shown}");
    assert!(!heads(&scene).contains("is restored"), "{shown}");
    git(&scene, &["merge", "--abort"]);
    assert_eq!(status(&scene), "");
}

/// The preview names a command of git only while git is as the turn left it.
#[test]
fn the_preview_speaks_of_git_as_it_is_now() {
    let scene = ran(|it| it, two_branches, "git commit -q --allow-empty -m more");
    git(&scene, &["switch", "-q", "other"]);
    preview(&scene, "1");
    let shown = scene.nvim.buffer("/rewind");
    assert!(shown.contains(" HEAD is at other ("), "{shown}");
    assert!(!shown.contains("git reset") && !shown.contains("still"), "{shown}");
    scene.nvim.keys("q");
    git(&scene, &["switch", "-q", "main"]);
    preview(&scene, "1");
    assert!(scene.nvim.buffer("/rewind").contains("`git reset "));
    scene.nvim.keys("q");
    git(&scene, &["commit", "-q", "--allow-empty", "-m", "later"]);
    preview(&scene, "1");
    assert!(!scene.nvim.buffer("/rewind").contains("git reset"));
}

#[test]
fn the_preview_names_no_end_of_a_merge_that_is_over() {
    let diverged = |it: &Scene| {
        two_branches(it);
        fs::write(it.nvim.setup.path("a.txt"), nine().replace("l5", "main")).unwrap();
        git(it, &["commit", "-qam", "main"]);
    };
    let scene = ran(|it| it, diverged, "git merge -q other");
    git(&scene, &["merge", "--abort"]);
    preview(&scene, "1");
    let shown = scene.nvim.buffer("/rewind");
    assert!(shown.contains("left it unfinished. None is in progress now."), "{shown}");
    assert!(!shown.contains("--abort"), "{shown}");
}

/// A file that git ignored before is not a new file.
#[test]
fn a_rewind_deletes_no_file_that_was_only_ignored_before() {
    let ignored = |it: &Scene| {
        let path = it.nvim.setup.path("ignored");
        fs::write(&path, "mine\n").unwrap();
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
    };
    let rule = |it: Setup| it.file(".gitignore", "ignored\n");
    let scene = ran(rule, ignored, "rm .gitignore; echo more >>ignored");
    preview(&scene, "1");
    expect![[r#"
        diff .gitignore is created again (changed by a command)
        diff ignored is not changed: its earlier text was not kept (changed by a command)
    "#]]
    .assert_eq(&heads(&scene));
    take_all_back(&scene);
    assert_eq!(scene.on_disk("ignored").as_deref(), Some("mine\nmore\n"));
}

#[test]
fn without_a_recorded_change_the_user_hears_what_is_not_recorded() {
    let scene = ran(|it| it.file(".gitignore", "ignored\n"), |_| (), "echo x >ignored");
    scene.nvim.keys(":Caliban rewind<CR>");
    let said = |it: &Nvim| it.lua_str("return vim.fn.execute('messages')");
    scene.nvim.wait(|it| said(it).contains("files that git ignores is not recorded"), "the limits");
}
