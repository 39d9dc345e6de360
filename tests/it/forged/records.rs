//! Tests forged review records.

use super::*;
use crate::review::scene::nine;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A forged record of a review of `path`: its base text is `base`, and one hunk replaces `l2` by `forged`. `change`
/// edits the record's first line.
pub(super) fn record(path: &Path, base: &str, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let lines = base.lines().count();
    let mut head = json!({
        "version": 1, "session": "main", "path": path, "create": false, "auto": false, "binary": false, "own": false,
        "eol": true, "accepted": 0, "rejected": 0, "reasons": [], "base": 1, "origin": 1,
        "hunks": [{"start": 1, "old": ["l2"], "new": ["forged"]}], "proposals": [],
    });
    let mut texts = base.trim_end().to_owned();
    change(&mut head);
    let mut counts = vec![json!([texts.len(), lines])];
    // the text that the file on disk had, according to the record
    if let Some(origin) = head["origin"].as_str().map(str::to_owned) {
        head["origin"] = json!(2);
        counts.push(json!([origin.trim_end().len(), origin.lines().count()]));
        texts.push_str(origin.trim_end());
    }
    head["texts"] = json!(counts);
    format!("{head}\n{texts}").into_bytes()
}

pub(super) fn put(setup: &Setup, n: u32, record: &[u8]) {
    fs::write(setup.sessions().join(format!("main.review-{n:012x}")), record).unwrap();
}

/// The names of all buffers.
fn buffers(nvim: &Nvim) -> String {
    let names =
        "return vim.iter(vim.api.nvim_list_bufs()):map(vim.api.nvim_buf_get_name):join(' ')";
    nvim.lua_str(names)
}

#[test]
fn a_review_record_of_a_file_outside_the_project_is_ignored() {
    let server = Server::start();
    let setup = Setup::new().size(120, 40).file("a.txt", nine()).anthropic(&server);
    let setup = one_turn(&server, setup);
    let outside = setup.dir().join("bashrc");
    fs::write(&outside, nine()).unwrap();
    fs::create_dir_all(setup.path(".git")).unwrap();
    fs::write(setup.path(".git/config"), nine()).unwrap();
    symlink(setup.dir(), setup.path("link")).unwrap();
    let inside = setup.path("a.txt");
    let same = |_: &mut Value| ();
    put(&setup, 1, &record(&outside, &nine(), same));
    put(&setup, 2, &record(&setup.path(".git/config"), &nine(), same));
    put(&setup, 3, &record(&setup.path("link/bashrc"), &nine(), same));
    put(&setup, 4, &record(&setup.path("../bashrc"), &nine(), same));
    let whole = json!({"kind": "rename", "from": outside, "to": inside, "done": true});
    put(&setup, 5, &record(&inside, &nine(), |it| it["whole"] = whole));
    put(&setup, 6, &record(&inside, &nine(), |it| it["was"] = json!(outside)));
    put(&setup, 7, &record(&inside, &nine(), |it| it["hunks"] = json!([{"start": "1", "new": 1}])));
    put(&setup, 8, &record(&inside, &nine(), |it| it["hunks"][0]["start"] = json!(1e9)));
    put(&setup, 9, &record(&inside, &nine(), |it| it["reasons"] = json!("all")));
    put(&setup, 10, &record(&inside, &nine(), |it| it["proposals"] = json!([{"id": 1}])));
    let many =
        json!([{"id": 1, "eol": [true, true], "edits": [], "text": 1, "key": 0, "count": 2e9}]);
    put(&setup, 14, &record(&inside, &nine(), |it| it["proposals"] = many));
    put(
        &setup,
        15,
        &record(&inside, &nine(), |it| it["decided"] = json!([{"fate": "part", "of": []}])),
    );
    symlink(&outside, setup.sessions().join("main.review-00000000000b")).unwrap();
    let fifo = setup.sessions().join("main.review-00000000000c");
    assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
    // only the review of the valid record is reopened
    fs::write(setup.path("b.txt"), nine()).unwrap();
    put(&setup, 13, &record(&setup.path("b.txt"), &nine(), same));
    let nvim = opened(&setup);
    nvim.wait_hunks(1);
    // the reply arrives after all messages about reviews were handled
    server.reply(Reply::said("Yes."));
    nvim.ask("well?", "Yes.");
    assert_eq!(nvim.pending(), 1);
    let buffers = buffers(&nvim);
    assert!(buffers.contains("b.txt") && !buffers.contains("bashrc"), "{buffers}");
    assert!(!buffers.contains(".git") && !buffers.contains("a.txt"), "{buffers}");
    for path in [&outside, &inside, &setup.path("b.txt"), &setup.path(".git/config")] {
        assert_eq!(fs::read_to_string(path).unwrap(), nine(), "{}", path.display());
    }
}

/// If a record says that hunks were accepted or written at once, the user still has to decide on them again.
#[test]
fn hunks_that_a_forged_record_calls_accepted_have_to_be_decided_again() {
    let server = Server::start();
    let setup =
        Setup::new().size(120, 40).file("a.txt", nine()).file("b.txt", nine()).file("c.txt", "");
    let setup = one_turn(&server, setup.anthropic(&server));
    let evil = nine().replace("l5", "evil");
    let decided = |fate: &str| json!([{"fate": fate, "of": [1, -2, 0]}]);
    put(
        &setup,
        1,
        &record(&setup.path("a.txt"), &evil, |it| {
            (it["origin"], it["accepted"], it["hunks"]) = (json!(nine()), json!(3), json!([]));
            it["decided"] = decided("accepted");
        }),
    );
    put(
        &setup,
        2,
        &record(&setup.path("b.txt"), &evil, |it| {
            (it["origin"], it["accepted"], it["auto"]) = (json!(nine()), json!(3), json!(true));
            it["decided"] = decided("reworked");
        }),
    );
    put(
        &setup,
        3,
        &record(&setup.path("c.txt"), "", |it| {
            (it["create"], it["auto"], it["rejected"]) = (json!(true), json!(true), json!(1));
            (it["hunks"], it["decided"]) = (json!([]), decided("rejected"));
        }),
    );
    let nvim = opened(&setup);
    nvim.wait_hunks(3);
    assert_eq!(setup.on_disk("a.txt"), Some(nine()));
    assert_eq!(setup.on_disk("b.txt"), Some(nine()));
    assert_eq!(setup.on_disk("c.txt").as_deref(), Some(""));
    nvim.keys("<Esc>:Caliban reject all<CR>");
    nvim.wait_hunks(0);
    assert_eq!(setup.on_disk("a.txt"), Some(nine()));
    assert_eq!(setup.on_disk("b.txt"), Some(nine()));
}
