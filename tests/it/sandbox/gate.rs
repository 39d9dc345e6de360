//! What stands in the place of git in the sandbox cannot be led elsewhere, talked over or walked around by commands.

use super::git::{is_untouched, start};
use super::is_full;
use crate::grants::call;
use crate::review::scene::Scene;
use serde_json::json;
use std::fs;
use std::path::PathBuf;

/// Runs a command that is not asked about.
fn run(scene: &Scene, command: &str) -> String {
    let (said, was_asked) = call(scene, "shell", json!({ "command": command }), "");
    assert!(!was_asked, "{command}: {said}");
    said
}

/// A folder beside the project that commands may not write.
fn outside(scene: &Scene) -> PathBuf {
    let folder = scene.nvim.setup.dir().join("outside");
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn links_that_an_earlier_command_has_planted_lead_git_to_no_file_outside() {
    if !is_full() {
        return;
    }
    let scene = start();
    let outside = outside(&scene);
    // the command of a formatter writes only in the folder for temporary files, and is the first of the conversation
    let plant = format!(
        "#!/bin/sh\nrm -rf /tmp/.caliban; ln -s {} /tmp/.caliban; tr a-z A-Z\n",
        outside.display()
    );
    fs::write(scene.nvim.setup.path("plant.sh"), plant).unwrap();
    scene.nvim.lua("vim.o.formatprg = 'sh plant.sh'", &[]);
    let (said, _) = call(&scene, "format", json!({ "path": "a.txt" }), ":Caliban approve<CR>");
    assert!(!said.contains("formatter"), "{said}");
    let said = run(&scene, "readlink /tmp/.caliban; git checkout -q other; true");
    assert!(said.contains("outside") && said.contains("git checkout was not started"), "{said}");
    assert!(is_untouched(&scene));
    let left: Vec<_> = fs::read_dir(&outside).unwrap().flatten().map(|it| it.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Writes the names of locked files to each place where a question about git could come from, and ends as a git that
/// does not start.
const FORGE: &str = "import json, os, re, sys
names = json.dumps(['AGENTS.md', '.github/workflows/ci.yml'])
files = re.findall(r'/[^\" ]+', os.environ.get('CALIBAN_GIT', '')) + ['/dev/caliban/channel', '/dev/caliban/order']
for it in files:
    try:
        open(it, 'w').write(names)
        print('written', it)
    except OSError as fault:
        print('refused', it, fault.errno)
sys.stdout.flush()
os._exit(128)
";

#[test]
fn no_program_that_git_runs_names_the_files_of_a_question() {
    if !is_full() {
        return;
    }
    let scene = start();
    let vendored = scene.nvim.setup.path("vendored");
    fs::create_dir_all(&vendored).unwrap();
    fs::write(vendored.join("forge.py"), FORGE).unwrap();
    let made =
        std::process::Command::new("git").args(["init", "-q"]).current_dir(&vendored).status();
    assert!(made.unwrap().success());
    let config = "[core]\n\tfsmonitor = python3 forge.py\n[alias]\n\tforge = !python3 forge.py\n";
    fs::write(vendored.join(".git/config"), config).unwrap();
    for command in
        ["git -C vendored forge", "git -C vendored status", "git -C vendored checkout -q main"]
    {
        let said = run(&scene, command);
        assert_eq!(
            said.contains("refused /dev/caliban/order"),
            command.ends_with("forge"),
            "{said}"
        );
    }
    assert!(is_untouched(&scene));
}

#[test]
fn git_is_looked_at_whatever_its_environment_is() {
    if !is_full() {
        return;
    }
    let scene = start();
    for command in [
        "env -u CALIBAN_GIT git checkout other; true",
        "env -i /usr/bin/git checkout other; true",
        "env -i $(command -v git) checkout other; true",
        "env -i PATH=/dev/caliban git checkout other; true",
        "env -i PATH=/dev/caliban/../caliban/:/usr/bin git checkout other; true",
        "ln -s /dev/caliban/git $TMPDIR/git; PATH=$TMPDIR:/usr/bin git checkout other; true",
        "unset $(env | sed 's/=.*//') 2>/dev/null; /usr/bin/git checkout other; true",
    ] {
        let said = run(&scene, command);
        assert!(said.contains("checkout was not started. It would change"), "{command}: {said}");
        assert!(is_untouched(&scene), "{command}: {said}");
    }
    assert!(run(&scene, "env -i /usr/bin/git log --format=%s").contains("base"));
}
