//! Subagents that work in git worktrees of their own.

use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::sandbox;
use crate::kit::server::Server;
use crate::kit::setup::{Setup, kill};
use crate::review::scene::{Scene, edit, nine, write};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

const PROMPT: &str = "Work apart.";

fn git(setup: &Setup, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    for it in ["user.name=me", "user.email=me@example.org", "commit.gpgsign=false"] {
        git.args(["-c", it]);
    }
    let done = git.args(arguments).current_dir(setup.path("")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Commits all files of the project.
fn committed(setup: Setup) -> Setup {
    git(&setup, &["init", "-q", "-b", "main"]);
    git(&setup, &["add", "."]);
    git(&setup, &["commit", "-qm", "begin"]);
    setup
}

fn task() -> Value {
    json!({ "description": "Change it", "prompt": PROMPT, "isolation": "worktree" })
}

/// Whether a request is the subagent's, after this many answers.
fn has_got(answers: usize) -> impl Fn(&Request) -> bool {
    move |it| is_childs(it) && it.answers().len() == answers
}

fn is_childs(it: &Request) -> bool {
    it.turns().iter().any(|it| it.role == "user" && it.text().contains(PROMPT))
}

/// The worktree of the first subagent.
fn folder(nvim: &Nvim) -> PathBuf {
    nvim.setup.path(".git/caliban-worktrees/main-task")
}

fn branches(nvim: &Nvim) -> String {
    git(&nvim.setup, &["branch", "--list", "caliban/*"])
}

/// A repository in which the user has changed `a.txt` and `clash.txt`, and not saved all of it.
fn with_own_changes() -> Scene {
    let scene = Scene::start(|it| {
        let it = it.file("a.txt", nine()).file("clash.txt", "one\n").file("gone.txt", "x\n");
        let it = committed(it.file("old.txt", nine())).size(160, 40);
        let it = it.config("{ permissions = { { deny = 'edit', path = 'locked/' } } }");
        it.file("a.txt", nine().replace("l1", "mine")).file("clash.txt", "ours\n")
    });
    scene.nvim.keys(":edit a.txt<CR>Gounsaved<Esc>");
    scene
}

#[test]
fn changes_of_a_worktree_that_merge_are_reviewed_and_others_stay_on_the_branch() {
    let scene = with_own_changes();
    scene.server.reply(Reply::new().call("t1", "task", task()));
    let absolute = scene.nvim.setup.path("a.txt").display().to_string();
    let work = Reply::new()
        .call("e1", "edit", edit(&absolute, &[("l5", "L5"), ("l8", "L8")]))
        .call("w1", "write", write("sub/new.txt", "fresh\n"))
        .call("d1", "delete", json!({ "path": "gone.txt" }))
        .call("m1", "rename", json!({ "path": "old.txt", "to": "moved.txt" }))
        .call("e2", "edit", edit("clash.txt", &[("one", "theirs")]))
        .call("w2", "write", write("locked/x.txt", "x\n"));
    scene.server.reply_to(has_got(0), work);
    let apart = folder(&scene.nvim);
    let report = format!("I changed {}/a.txt.", apart.display());
    let more = edit("moved.txt", &[("l3", "L3")]);
    scene.server.reply_to(has_got(6), Reply::new().call("e3", "edit", more));
    scene.server.reply_to(has_got(7), Reply::said(&report));
    scene.server.reply(Reply::said("It is proposed."));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.wait_idle("It is proposed.");
    scene.wait_hunks(6);
    let all = scene.server.requests();
    let child: Vec<&Request> = all.iter().filter(|it| is_childs(it)).collect();
    let own = format!("a git worktree of your own, {}", apart.display());
    assert!(child[0].last_user_text().contains(&own));
    let answers = child[1].answers();
    assert!(answers[..5].iter().all(|it| !it.1.contains("rule")), "{answers:?}");
    assert!(answers[5].1.contains("rule"), "{answers:?}");
    assert_eq!(fs::read_to_string(apart.join("sub/new.txt")).unwrap(), "fresh\n");
    let answer = scene.server.requests().last().unwrap().answer("t1");
    assert!(answer.starts_with("I changed a.txt.\n"), "{answer}");
    let own = answer.split_once("[The branch").unwrap().1;
    expect_test::expect![[r"
         `caliban/main-task` has its changes, 5 files changed, 5 insertions(+), 5 deletions(-): `a.txt`, `clash.txt`, `gone.txt`, `moved.txt`, `sub/new.txt`.]
        [4 files have these changes in the user's buffers, under review. A later message has the user's decisions.]
        [Only the branch has the changes to `clash.txt`, which was changed by the user at the same lines.]
        [Its conversation is `main-task`: 3 requests · 45 tokens.]"]]
    .assert_eq(own);
    scene.wait_chat("Only the branch caliban/main-task has the changes to `clash.txt`");
    // nothing is written before the user has decided
    assert_eq!(scene.on_disk("a.txt").unwrap(), nine().replace("l1", "mine"));
    assert!(scene.on_disk("sub/new.txt").is_none() && scene.on_disk("gone.txt").is_some());
    assert!(apart.exists());
    scene.nvim.keys(":edit a.txt<CR>:/L8<CR>:Caliban reject hunk<CR>:Caliban accept all<CR>");
    scene.nvim.wait(|_| !apart.exists(), "the worktree's end");
    let text = nine().replace("l1", "mine").replace("l5", "L5") + "unsaved\n";
    assert_eq!(scene.nvim.lua_str("return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.txt'), 0, -1, true), '\\n') .. '\\n'"), text);
    assert_eq!(scene.on_disk("sub/new.txt").unwrap(), "fresh\n");
    assert!(scene.on_disk("gone.txt").is_none() && scene.on_disk("old.txt").is_none());
    assert_eq!(scene.on_disk("moved.txt").unwrap(), nine().replace("l3", "L3"));
    assert_eq!(scene.on_disk("clash.txt").unwrap(), "ours\n");
    assert!(branches(&scene.nvim).contains("caliban/main-task"), "clash.txt is only there");
    let told = scene.told_next();
    assert!(told.contains("The user accepted the deletion: gone.txt is deleted."), "{told}");
}

#[test]
fn in_auto_mode_changes_of_a_worktree_are_written_and_the_worktree_is_removed() {
    let server = Server::start();
    let setup = committed(Setup::new().file("a.txt", nine()).file(".gitignore", "built\n"));
    let setup = setup.config("{ mode = 'auto' }").size(160, 40).anthropic(&server);
    let nvim = Nvim::start(&setup);
    server.reply(Reply::new().call("t1", "task", task()));
    let outside = setup.path("evil.txt").display().to_string();
    let command = format!(
        "sed -i s/l2/L2/ a.txt; echo x > built; echo new > $'x\\ny'; echo x > {outside}; git add a.txt; pwd; git status --short"
    );
    server.reply_to(has_got(0), Reply::new().call("s1", "shell", json!({ "command": command })));
    server.reply_to(has_got(1), Reply::said("Built."));
    server.reply(Reply::said("It is done."));
    nvim.keys(":Caliban ask please<CR>");
    if !sandbox::is_full() {
        nvim.wait_question();
        nvim.keys(":Caliban approve<CR>");
    }
    nvim.wait_transcript("It is done.");
    nvim.wait_phase("idle");
    let all = server.requests();
    let ran = all.iter().rfind(|it| is_childs(it)).unwrap().answer("s1");
    let answer = all.last().unwrap().answer("t1");
    if sandbox::is_full() {
        assert!(
            ran.contains("evil.txt: Read-only file system")
                || ran.contains("evil.txt: Permission denied"),
            "{ran}"
        );
        assert!(ran.contains("Unable to create") && ran.contains("index.lock"), "{ran}");
        assert!(setup.on_disk("evil.txt").is_none());
    }
    assert!(ran.contains("caliban-worktrees/main-task\n M a.txt"), "{ran}");
    assert!(answer.contains("[2 files of the project now have these changes.]"), "{answer}");
    assert!(answer.contains("`a.txt`, `x\\ny`.]"), "{answer}");
    assert_eq!(setup.on_disk("a.txt").unwrap(), nine().replace("l2", "L2"));
    assert!(setup.on_disk("built").is_none());
    nvim.wait(|it| !folder(it).exists(), "the worktree's end");
    nvim.wait(|it| branches(it).is_empty(), "the branch's end");
    assert_eq!(setup.on_disk("x\ny").unwrap(), "new\n");
    assert_eq!(git(&setup, &["status", "--porcelain"]), " M a.txt\n?? \"x\\ny\"\n");
}

fn kill_program(nvim: &Nvim) {
    let all = nvim.setup.processes();
    let programs = all.iter().filter(|it| it.1 == env!("CARGO_BIN_EXE_caliban"));
    programs.for_each(|it| kill(it.0));
    nvim.wait(|it| it.phase() == "offline", "the program's end to be seen");
}

/// A subagent that has changed `a.txt` in its worktree and goes on.
fn in_mid_work(server: &Server, setup: &Setup) -> Nvim {
    let nvim = Nvim::start(setup);
    server.reply(Reply::new().call("t1", "task", task()));
    let edits = edit("a.txt", &[("l5", "L5")]);
    server.reply_to(has_got(0), Reply::new().call("e1", "edit", edits));
    let _gate = server.reply(Reply::said("Still").text(" at it.").gate());
    nvim.keys(":Caliban ask please<CR>");
    server.wait_count(3);
    assert!(fs::read_to_string(folder(&nvim).join("a.txt")).unwrap().contains("L5"));
    nvim
}

#[test]
fn the_worktree_of_a_stopped_or_killed_subagent_is_kept_and_named_if_it_has_changes() {
    let server = Server::start();
    let setup = committed(Setup::new().file("a.txt", nine())).size(160, 40).anthropic(&server);
    let nvim = in_mid_work(&server, &setup);
    nvim.keys(":Caliban stop<CR>");
    nvim.wait_transcript(
        "The subagent's changes were not proposed. They are on the branch caliban/main-task",
    );
    assert!(git(&setup, &["show", "caliban/main-task:a.txt"]).contains("L5"));
    assert_eq!(setup.on_disk("a.txt").unwrap(), nine());

    let server = Server::start();
    let setup = committed(Setup::new().file("a.txt", nine())).size(160, 40).anthropic(&server);
    let nvim = in_mid_work(&server, &setup);
    kill_program(&nvim);
    nvim.keys(":Caliban restart<CR>");
    let left =
        "The branch caliban/main-task has changes of a subagent that are not all in the project";
    nvim.wait_transcript(left);
    nvim.wait_phase("idle");
    assert!(git(&setup, &["show", "caliban/main-task:a.txt"]).contains("L5"));
    assert_eq!(setup.on_disk("a.txt").unwrap(), nine());
    server.reply(Reply::said("I see."));
    nvim.ask("and?", "I see.");
    let told = server.requests().last().unwrap().last_user_text();
    assert!(told.contains(left), "{told}");
    // the conversation knows of it
    kill_program(&nvim);
    nvim.keys(":Caliban restart<CR>");
    nvim.wait_phase("idle");
    assert_eq!(nvim.transcript().matches(left).count(), 1);
    assert!(folder(&nvim).exists());
}

#[test]
fn a_workers_worktree_survives_a_kill_and_is_removed_once_all_changes_are_accepted() {
    let scene = Scene::start(|it| committed(it.file("a.txt", nine())).size(160, 40));
    scene.nvim.keys(":Caliban<CR>:Caliban mode coordinator<CR>");
    let order = json!({
        "role": "implementer", "description": "Change it", "prompt": PROMPT, "isolation": "worktree"
    });
    scene.server.reply(Reply::new().call("s1", "spawn_worker", order));
    let edits = edit("a.txt", &[("l5", "L5")]);
    scene.server.reply_to(has_got(0), Reply::new().call("e1", "edit", edits));
    scene.server.reply_to(has_got(1), Reply::said("{}"));
    scene.server.reply(Reply::new().call("a1", "await_workers", json!({})));
    scene.server.reply(Reply::said("It is proposed."));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.wait_idle("It is proposed.");
    let answer = scene.server.requests().last().unwrap().answer("a1");
    assert!(
        answer.contains("[The branch `caliban/main-w1` has its changes, 1 file changed"),
        "{answer}"
    );
    scene.wait_hunks(1);
    // the program is killed while the changes are under review
    kill_program(&scene.nvim);
    scene.nvim.keys(":Caliban restart<CR>");
    scene.nvim.wait_screen(
        "The branch caliban/main-w1 has changes of a subagent that are not all in the project",
    );
    scene.wait_hunks(1);
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt").unwrap(), nine().replace("l5", "L5"));
    let apart = scene.nvim.setup.path(".git/caliban-worktrees/main-w1");
    assert!(apart.exists());
    // the next start finds that the project has all changes of the worktree, and removes the worktree
    kill_program(&scene.nvim);
    scene.nvim.keys(":Caliban restart<CR>");
    scene.nvim.wait(|it| branches(it).is_empty(), "the branch's end");
    scene.nvim.wait(|_| !apart.exists(), "the worktree's end");
}

#[test]
fn caliban_run_writes_the_changes_of_a_worktree_into_the_project() {
    let server = Server::start();
    let setup = Setup::new().file("a.txt", nine()).file("old.txt", nine());
    let setup = committed(setup).anthropic(&server);
    let setup = setup.file("a.txt", nine().replace("l1", "mine"));
    server.reply(Reply::new().call("t1", "task", task()));
    let work = Reply::new().call("e1", "edit", edit("a.txt", &[("l5", "L5")])).call(
        "m1",
        "rename",
        json!({ "path": "old.txt", "to": "moved.txt" }),
    );
    server.reply_to(has_got(0), work);
    let edits = edit("moved.txt", &[("l3", "L3")]);
    server.reply_to(has_got(2), Reply::new().call("e2", "edit", edits));
    server.reply_to(has_got(3), Reply::said("Changed."));
    server.reply(Reply::said("It is done."));
    let ran = setup.program(&["run", "--mode", "auto-edit", "please"]).output().unwrap();
    assert!(String::from_utf8_lossy(&ran.stdout).contains("It is done."), "{ran:?}");
    let answer = server.requests().last().unwrap().answer("t1");
    assert!(answer.contains("[2 files of the project now have these changes.]"), "{answer}");
    let removed =
        "[The project has all changes of the subagent. Its worktree and branch are removed.]";
    assert!(answer.contains(removed), "{answer}");
    assert!(!answer.contains("The branch"), "{answer}");
    assert_eq!(setup.on_disk("a.txt").unwrap(), nine().replace("l1", "mine").replace("l5", "L5"));
    assert_eq!(setup.on_disk("moved.txt").unwrap(), nine().replace("l3", "L3"));
    assert!(setup.on_disk("old.txt").is_none());
    assert_eq!(git(&setup, &["branch", "--list", "caliban/*"]), "");
    assert_eq!(git(&setup, &["worktree", "list"]).lines().count(), 1);
}

/// A buffer with unsaved text of the user's is not written. Until it is, only the branch has the changes safe.
#[test]
fn the_branch_is_kept_while_its_changes_are_only_in_a_buffer() {
    let scene = Scene::start(|it| {
        let files = it.file("a.txt", nine()).file("b.txt", nine());
        committed(files).config("{ mode = 'auto' }").size(160, 40)
    });
    scene.nvim.keys(":edit a.txt<CR>ggOmine<Esc>");
    scene.server.reply(Reply::new().call("t1", "task", task()));
    let work = Reply::new().call("e1", "edit", edit("a.txt", &[("l5", "L5")])).call(
        "e2",
        "edit",
        edit("b.txt", &[("l6", "L6")]),
    );
    scene.server.reply_to(has_got(0), work);
    scene.server.reply_to(has_got(2), Reply::said("Changed."));
    scene.ask(Reply::said("It is done."));
    scene.wait_idle("It is done.");
    let answer = scene.server.requests().last().unwrap().answer("t1");
    assert!(answer.contains("[1 file of the project now has these changes.]"), "{answer}");
    let in_buffer = "[The changes to `a.txt` are in the user's buffer and not on disk (";
    assert!(answer.contains(in_buffer), "{answer}");
    assert!(!answer.contains("has all changes"), "{answer}");
    assert!(answer.contains("[The branch `caliban/main-task` has its changes"), "{answer}");
    assert!(branches(&scene.nvim).contains("caliban/main-task"));
    scene.wait_chat("in the buffers and not on disk, so the branch");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.on_disk("b.txt"), Some(nine().replace("l6", "L6")));
    let changed = format!("mine\n{}", nine().replace("l5", "L5"));
    assert_eq!(scene.nvim.buffer("a.txt"), changed.trim_end());
}

#[test]
fn a_task_in_a_worktree_is_refused_if_the_project_is_no_repository() {
    let scene = Scene::start(|it| it);
    scene.server.reply(Reply::new().call("t1", "task", task()));
    scene.ask_until(Reply::said("I see."), "I see.");
    let answer = scene.answer(2, "t1");
    assert!(answer.starts_with("The subagent could not begin: git: "), "{answer}");
}

/// A buffer has no permissions, so those that a command changed in a worktree stay on its branch: alone, with the text, of
/// a new file and of a renamed one.
#[test]
fn permissions_that_a_worktree_changed_are_named_and_kept_on_the_branch() {
    for mode in ["auto", "ask"] {
        let server = Server::start();
        let setup =
            Setup::new().file("alone.sh", nine()).file("both.sh", nine()).file("off.sh", nine());
        let setup = committed(setup.file("old.sh", nine()).mode("off.sh", 0o755));
        let setup =
            setup.config(&format!("{{ mode = '{mode}' }}")).size(160, 40).anthropic(&server);
        let nvim = Nvim::start(&setup);
        server.reply(Reply::new().call("t1", "task", task()));
        let command = "chmod 755 alone.sh both.sh old.sh; mv old.sh moved.sh; chmod 644 off.sh; sed -i s/l2/L2/ both.sh; \
            echo n >new.sh; chmod 755 new.sh";
        server
            .reply_to(has_got(0), Reply::new().call("s1", "shell", json!({ "command": command })));
        server.reply_to(has_got(1), Reply::said("Built."));
        server.reply(Reply::said("It is done."));
        nvim.keys(":Caliban ask please<CR>");
        if mode == "ask" || !sandbox::is_full() {
            nvim.wait_question();
            nvim.keys(":Caliban approve<CR>");
        }
        nvim.wait_transcript("It is done.");
        nvim.wait_phase("idle");
        nvim.keys(":Caliban accept all<CR>");
        let all = server.requests();
        let answer = all.last().unwrap().answer("t1");
        let left = [
            "`alone.sh`, which is executable there",
            "`both.sh`, which is executable there",
            "`moved.sh`, which is executable there",
            "`new.sh`, which is executable there",
            "`off.sh`, which is not executable there",
        ];
        for it in left {
            assert!(answer.contains(it), "{mode}: {it}: {answer}");
            assert!(nvim.transcript().contains(it), "{mode}: {it}");
        }
        let tree = git(&setup, &["ls-tree", "-r", "caliban/main-task"]);
        let modes = |it: &str| tree.lines().filter(|line| line.starts_with(it)).count();
        assert_eq!((modes("100755"), modes("100644")), (4, 1), "{mode}: {tree}");
        nvim.wait(|it| it.setup.on_disk("new.sh").is_some(), "the accepted file");
        let bits = setup.path("alone.sh").metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(bits, 0o644, "{mode}");
    }
}
