//! Instructions, skills, the plan and the to-do list in the requests after a compaction.

use super::*;

const SKILL: &str = "---\nname: release\ndescription: Makes a release.\n---\n\nTag it.\n";

fn project() -> Setup {
    files(Setup::new())
        .file("d/AGENTS.md", "Rules of the folder d.\n")
        .file("d/x.txt", "x\n")
        .file(".caliban/skills/release/SKILL.md", SKILL)
        .config(LATE)
}

/// Compacts the conversation by `/compact`, and waits until the chat shows this number of compactions.
fn compact(nvim: &Nvim, server: &Server, times: usize) {
    server.reply(Reply::said(&summary("Go on.")));
    type_in(nvim, "/compact");
    let is_done = |it: &Nvim| it.transcript().matches("▸ Compacted: ").count() == times;
    nvim.wait(is_done, "the compaction");
    nvim.wait_phase("idle");
}

#[test]
fn instructions_skills_plan_and_todo_are_kept_by_two_compactions_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        let todos = json!({ "action": "write", "todos": [{ "text": "Write the notes." }] });
        server.reply(Reply::new().call("c1", "read", json!({ "path": "d/x.txt" })));
        server.reply(Reply::new().call("c2", "skill", json!({ "name": "release" })));
        server.reply(Reply::new().call("c3", "todo", todos));
        server.reply(Reply::new().call("c4", "read", json!({ "path": "a.txt" })));
        server.reply(Reply::said("One."));
        let nvim = Nvim::start(&project().speaking(dialect, &server));
        nvim.keys(":Caliban<CR>");
        nvim.ask("one, please", "One.");
        server.reply(Reply::said("The plan: tag the release."));
        nvim.ask("/plan How would you do it?", "The plan: tag the release.");
        nvim.command("Caliban mode ask");
        server.reply(Reply::new().call("c5", "read", json!({ "path": "b.txt" })));
        server.reply(Reply::said("Three."));
        nvim.ask("three, please", "Three.");
        for (times, said) in [(1, "Four."), (2, "Five.")] {
            compact(&nvim, &server, times);
            server.reply(Reply::new().call(&format!("r{times}"), "read", json!({"path": "a.txt"})));
            server.reply(Reply::said(said));
            nvim.ask(&format!("go on {times}"), said);
            let request = server.requests().pop().unwrap();
            let outline = request.outline();
            let head = outline.split("</state>").next().unwrap();
            for kept in [
                "Rules of the folder d.",
                "Tag it.",
                "The plan: tag",
                "Write the notes.",
                "Ask mode",
            ] {
                assert_eq!(head.matches(kept).count(), 1, "{kept}: {head}");
            }
        }
    }
}

/// In a small window there is no room for long instructions. The model gets them again with the next message about
/// their folder.
#[test]
fn instructions_that_a_compaction_leaves_out_are_sent_with_the_next_message_about_their_folder() {
    let server = Server::start();
    let small = "{ compact = 1, trim = false, models = { ['anthropic/claude-sonnet-4-5'] = { window = 16000 } } }";
    let rules = format!("Rules of the folder d.\n{}", text().repeat(4));
    let setup = project().file("d/AGENTS.md", rules).config(small).anthropic(&server);
    server.reply(Reply::new().call("c1", "read", json!({ "path": "d/x.txt" })));
    server.reply(Reply::said("One."));
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.ask("one, please", "One.");
    server.reply(Reply::said("Two."));
    nvim.ask("two, please", "Two.");
    compact(&nvim, &server, 1);
    server.reply(Reply::said("Three."));
    nvim.ask("three, please", "Three.");
    let told = server.requests().pop().unwrap().outline();
    assert!(told.contains("Left out because there was no room: d/AGENTS.md."), "{told}");
    assert!(!told.contains("Rules of the folder d."));
    server.reply(Reply::new().call("c2", "read", json!({ "path": "d/x.txt" })));
    server.reply(Reply::said("Four."));
    nvim.ask("four, please", "Four.");
    let told = server.requests().pop().unwrap().outline();
    assert!(told.contains("Rules of the folder d."), "{told}");
}

/// After a compaction the model no longer has a file that it read before, so it may not overwrite the file unread.
#[test]
fn a_file_that_was_read_before_a_compaction_is_read_again_before_it_is_overwritten() {
    let server = Server::start();
    let nvim = three_turns(&server, &files(Setup::new()).config(LATE).anthropic(&server));
    compact(&nvim, &server, 1);
    server.reply(Reply::new().call("c8", "write", json!({ "path": "a.txt", "text": "new\n" })));
    server.reply(Reply::said("Four."));
    nvim.ask("four, please", "Four.");
    let answer = server.requests().pop().unwrap().answer("c8");
    assert!(answer.starts_with("a.txt exists and you have not read it."), "{answer}");
    assert_eq!(nvim.pending(), 0);
    // the model no longer has the text of this file, so it is not told of the user's changes in the file
    let _ = std::fs::write(nvim.setup.path("b.txt"), "changed\n");
    server.reply(Reply::said("Five."));
    nvim.ask("five, please", "Five.");
    assert!(!server.requests().pop().unwrap().outline().contains("changed the file"));
}
