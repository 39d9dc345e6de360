//! Commits that the user's settings have signed: in the sandbox git reaches no key, so it does not start, and the model is
//! told how to go on.

use super::git::{is_untouched, start};
use crate::grants::call;
use crate::kit::sandbox::is_full;
use crate::review::scene::Scene;
use serde_json::json;
use std::process::Command;

/// Runs commands of the user's in the project.
fn run(scene: &Scene, script: &str) -> String {
    let setup = &scene.nvim.setup;
    let mut shell = Command::new("bash");
    shell.arg("-c").arg(script).current_dir(setup.path("")).env("HOME", setup.dir().join("home"));
    let done = shell.output().unwrap();
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

const SSH: &str = "set -e; mkdir -p ~/.ssh; ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id; \
    echo \"t@l $(cat ~/.ssh/id.pub)\" > ~/signers; git config --global gpg.ssh.allowedSignersFile ~/signers; \
    git config --global gpg.format ssh; git config --global user.signingKey ~/.ssh/id";
const GPG: &str = "set -e; mkdir -m 700 ~/.gnupg; \
    gpg -q --batch --passphrase '' --quick-gen-key 'T <t@l>' default default never 2>/dev/null";
const ON: &str = "git config --unset commit.gpgSign; git config --global commit.gpgSign true";

#[test]
fn a_command_that_would_sign_with_the_users_key_does_not_start_and_the_model_is_told_how_to_go_on()
{
    if !is_full() {
        return;
    }
    for make in [SSH, GPG] {
        let scene = start();
        run(&scene, make);
        run(&scene, ON);
        run(
            &scene,
            "git checkout -q -b plain; echo b > b.txt; git add b.txt; git commit -qm signed; git checkout -q main",
        );
        assert_eq!(run(&scene, "git log -1 --format=%G? plain"), "G\n");
        run(&scene, "echo c > c.txt; git add c.txt");
        for command in ["git commit -qm mine", "git merge --no-ff plain", "git cherry-pick plain"] {
            let (said, was_asked) = call(&scene, "shell", json!({ "command": command }), "");
            let verb = command.split(' ').nth(1).unwrap();
            let wanted = format!(
                "caliban: git {verb} was not started. It would make a signature (it is set by commit.gpgSign), and in the \
                 sandbox git reaches no key of the user's"
            );
            assert!(
                !was_asked && said.contains(&wanted) && said.contains("exit code 128"),
                "{said}"
            );
            assert!(said.contains("Call shell again with outside_sandbox"), "{said}");
            assert!(is_untouched(&scene));
            assert_eq!(run(&scene, "git status --porcelain"), "A  c.txt\n");
        }
        // the ways that the model was told
        let outside =
            json!({ "command": "git commit -qm mine", "outside_sandbox": "git signs the commit" });
        let (said, was_asked) = call(&scene, "shell", outside, ":Caliban approve<CR>");
        assert!(was_asked, "{said}");
        assert_eq!(run(&scene, "git log -1 --format='%G? %s'"), "G mine\n", "{said}");
        let unsigned =
            json!({ "command": "git -c commit.gpgSign=false commit -q --allow-empty -m plain" });
        let (said, was_asked) = call(&scene, "shell", unsigned, "");
        assert!(!was_asked, "{said}");
        assert_eq!(run(&scene, "git log -1 --format='%G? %s'"), "N plain\n", "{said}");
    }
}
