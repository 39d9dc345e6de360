//! Thousands of changes that the model asks for in one call.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

const LINES: usize = 6_000;
const EVERY: usize = 3;

fn text(word: &str) -> String {
    let word = |n: usize| if n.is_multiple_of(EVERY) { word } else { "lookup" };
    let line = |n: usize| format!("let value_{n} = {}({n});\n", word(n));
    (0..LINES).map(line).collect()
}

#[test]
fn two_thousand_edits_of_one_call_can_be_accepted_at_once() {
    let server = Server::start();
    let edit = |n: usize| json!({ "old": format!("compute({n})"), "new": format!("measure({n})") });
    let edits: Vec<_> = (0..LINES).step_by(EVERY).map(edit).collect();
    server.reply(Reply::new().call("c1", "edit", json!({ "path": "a.txt", "edits": edits })));
    server.reply(Reply::said("Done."));
    let setup = Setup::new().file("a.txt", text("compute")).anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.lua("require('caliban').ask('go')", &[]);
    nvim.wait_transcript("? 2000 hunks in 1 file to review");
    nvim.go_to_transcript("? 2000 hunks");
    nvim.keys("\\a");
    nvim.wait_transcript("Done.");
    nvim.wait_phase("idle");
    let written = std::fs::read_to_string(nvim.setup.dir().join("project/a.txt")).unwrap();
    assert_eq!(written, text("measure"));
    assert_eq!(server.requests()[1].answer("c1"), "The user accepted 2000 changes in a.txt.");
}
