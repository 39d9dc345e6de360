//! Tests forged review records of files that tools may not read, or may read only with the user's consent.

use super::records::{put, record};
use super::*;
use crate::review::scene::nine;

const SECRET: &str = "TOKEN=s3cret\n";

#[test]
fn the_model_gets_no_text_of_a_key_file_that_a_forged_review_record_names() {
    let server = Server::start();
    let setup = Setup::new().size(120, 40).file("a.txt", nine()).file(".env", nine() + SECRET);
    let setup = one_turn(&server, setup.anthropic(&server));
    let env = setup.path(".env");
    let proposals = json!([{
        "id": 1, "eol": [true, true], "text": 1,
        "edits": [{"start": 1, "old": ["l2"], "new": ["forged"]}],
    }]);
    put(&setup, 1, &record(&env, &nine(), |it| it["proposals"] = proposals));
    let nvim = opened(&setup);
    nvim.wait_hunks(1);
    nvim.keys("<Esc>:Caliban reject all<CR>");
    nvim.wait_hunks(0);
    for n in ["two", "three", "four"] {
        server.reply(Reply::said(&format!("Now {n}.")));
        nvim.ask(n, &format!("Now {n}."));
        nvim.wait_phase("idle");
        fs::write(&env, format!("TOKEN=s3cret {n}\n")).unwrap();
    }
    let told: String = server.requests().iter().map(|it| it.json.to_string()).collect();
    assert!(!told.contains("s3cret"), "{told}");
}

/// The project is the home folder, so it contains Caliban's own files.
#[test]
fn a_forged_review_record_of_calibans_own_file_is_ignored() {
    let server = Server::start();
    let setup = Setup::new().size(120, 40).file("a.txt", nine()).file("x.git/HEAD", "");
    let home = setup.path("").display().to_string();
    let setup = setup.env("XDG_CONFIG_HOME", &format!("{home}/config"));
    let setup = one_turn(&server, setup.anthropic(&server));
    let own = setup.path("config/caliban/AGENTS.md");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, nine()).unwrap();
    put(&setup, 1, &record(&own, &nine(), |_| ()));
    put(&setup, 2, &record(&setup.path("a.txt"), &nine(), |_| ()));
    let nvim = opened(&setup);
    nvim.wait(|nvim| nvim.pending() > 0, "the review of a.txt");
    server.reply(Reply::said("Yes."));
    nvim.ask("well?", "Yes.");
    assert_eq!(nvim.pending(), 1);
    nvim.keys("<Esc>:Caliban accept all<CR>");
    nvim.wait_hunks(0);
    assert_eq!(fs::read_to_string(&own).unwrap(), nine());
}
