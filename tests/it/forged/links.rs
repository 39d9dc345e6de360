//! Tests folders of a session that are symbolic links: nothing is moved to, written to or deleted in their targets.

use super::*;
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// A folder of the user that contains a file which is two months old.
fn documents(setup: &Setup) -> PathBuf {
    let folder = setup.dir().join("documents");
    fs::create_dir_all(&folder).unwrap();
    let old = SystemTime::now() - Duration::from_secs(60 * 24 * 3600);
    for name in ["letter", "a".repeat(64).as_str()] {
        fs::write(folder.join(name), "dear\n").unwrap();
        File::open(folder.join(name)).unwrap().set_modified(old).unwrap();
    }
    folder
}

fn names(folder: &PathBuf) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_trash_folder_that_is_a_symbolic_link_is_not_used() {
    let server = Server::start();
    let setup = one_turn(&server, Setup::new().size(120, 40).anthropic(&server));
    let documents = documents(&setup);
    let had = names(&documents);
    symlink(&documents, setup.sessions().join("trash")).unwrap();
    // these files look as if moving the session `gone` to the trash had been interrupted
    fs::write(setup.sessions().join("gone.moved"), "trash/evil").unwrap();
    fs::write(setup.sessions().join("gone.lua"), "os.execute('touch PWN')\n").unwrap();
    fs::write(setup.sessions().join("last"), "gone").unwrap();
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_phase("idle");
    assert_eq!(names(&documents), had);
    nvim.keys("<Esc>:Caliban resume main<CR>");
    nvim.wait_screen("Hello to you.");
    nvim.keys("i/clear<C-s><Esc>");
    nvim.wait_screen("The conversation could not be");
    assert_eq!(names(&documents), had);
}

#[test]
fn nothing_is_written_to_checkpoint_and_output_folders_that_are_symbolic_links() {
    let server = Server::start();
    let setup = Setup::new().size(120, 40).file("a.txt", "one\n").config("{ mode = 'auto-edit' }");
    let setup = one_turn(&server, setup.anthropic(&server));
    let documents = documents(&setup);
    let had = names(&documents);
    let old = json!({
        "id": 1, "entry": 1, "turn": 1, "at": 1, "title": "t", "cause": "edit", "path": setup.path("a.txt"),
        "before": {"blob": "a".repeat(64)}, "after": "absent",
    });
    fs::write(documents.join("changes"), format!("{old}\n")).unwrap();
    for name in ["main.checkpoints", "main.outputs"] {
        let path = setup.sessions().join(name);
        let _ = fs::remove_dir_all(&path);
        symlink(&documents, path).unwrap();
    }
    let nvim = opened(&setup);
    let arguments = json!({ "path": "a.txt", "edits": [{ "old": "one", "new": "two" }] });
    server.reply(Reply::new().call("e1", "edit", arguments));
    server.reply(Reply::said("Done so."));
    nvim.ask("go on", "Done so.");
    assert_eq!(setup.on_disk("a.txt").as_deref(), Some("two\n"));
    let now = names(&documents);
    assert_eq!(
        now.iter().filter(|it| *it != "changes").collect::<Vec<_>>(),
        had.iter().collect::<Vec<_>>()
    );
    assert_eq!(fs::read_to_string(documents.join("changes")).unwrap(), format!("{old}\n"));
}
