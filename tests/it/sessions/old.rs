//! Journals that older versions have written.

use super::*;

/// Replaces the planned step of the only call in the journal by this step.
fn plan_as(setup: &Setup, step: &Value) {
    let path = setup.sessions().join("main.journal");
    let mut found = 0;
    let lines = fs::read_to_string(&path).unwrap();
    let lines = lines.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if let Some(plans) = line.get_mut("plans") {
            *plans = serde_json::json!([{"call": "c1", "step": step}]);
            found += 1;
        }
        format!("{line}\n")
    });
    let lines: String = lines.collect();
    assert_eq!(found, 1);
    fs::write(path, lines).unwrap();
}

#[test]
fn a_journal_of_an_older_version_with_an_open_question_is_read() {
    let asked = "Let read look at `/x/private.txt`, outside the project?";
    for step in [
        serde_json::json!({"asked_read": asked}),
        serde_json::json!({"asked_read": {"question": asked, "tool": "read", "path": "/x/private.txt"}}),
    ] {
        let server = Server::start();
        let setup = wide().file("../home/private.txt", "a secret\n").anthropic(&server);
        let args = serde_json::json!({"path": "~/private.txt"});
        server.reply(Reply::new().text("I look there.").call("c1", "read", args));
        server.reply(Reply::said("Back again."));
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_question();
        kill_program(&nvim);
        nvim.wait_phase("offline");
        plan_as(&setup, &step);
        nvim.keys(":Caliban restart<CR>");
        nvim.wait_screen("! Interrupted: ");
        assert_eq!(count(&nvim, "main", "I look there."), 1);
        // the program may still be writing the file `last`
        nvim.wait(|_| !files(&setup).contains(&".last.tmp".to_owned()), "the file `last`");
        let there = [".permissions.log", "last", "main.journal", "main.json"];
        assert_eq!(files(&setup), there, "nothing was set aside");
        nvim.lua("require('caliban').ask('well?')", &[]);
        nvim.wait_screen("Back again.");
        let answer = server.wait_requests(2)[1].answer("c1");
        assert_eq!(answer, "Not run: the editor or Caliban ended.");
    }
}
