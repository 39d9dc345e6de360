//! The parts of a request that come from files of the user and of the project: instructions, skills, slash commands.

use crate::kit::chat::{DIALECTS, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::json;

/// The system text of the first request, which is the same in each dialect.
fn system(files: &[(&str, &str)]) -> String {
    let told = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.reply(Reply::said("Done."));
        let setup = Setup::new().config("{ system = 'Work.' }").speaking(dialect, &server);
        let setup = files.iter().fold(setup, |setup, (path, text)| setup.file(path, text));
        let nvim = Nvim::start(&setup);
        nvim.ask("go", "Done.");
        server.requests()[0].system_text()
    });
    common(&told).to_owned()
}

#[test]
fn agents_override_md_replaces_agents_md_of_the_same_folder() {
    let files = [("AGENTS.override.md", "My own rules.\n"), ("AGENTS.md", "The team's rules.\n")];
    expect![[r#"
        Work.
        <instructions of="project" path="AGENTS.override.md">
        My own rules.
        </instructions>"#]]
    .assert_eq(&system(&files));
}

#[test]
fn instructions_of_33_kib_are_cut_after_32_with_a_note_for_the_model() {
    let text = "0123456789abcde\n".repeat(33 * 64);
    assert_eq!(text.len(), 33 * 1024);
    let system = system(&[("AGENTS.md", &text)]);
    let note = "[Cut: these are the first 32 of 33 kB. `read` gives the rest of AGENTS.md.]\n";
    assert!(system.contains(&format!("{}{note}", &text[..32 * 1024])), "{}", system.len());
}

/// Tag characters are invisible: U+E0041 is an `A` that only a model reads.
#[test]
fn tag_characters_in_instructions_and_skills_are_spelt_out_for_the_model() {
    let skill = "---\nname: sly\ndescription: Is\u{e0041} sly.\n---\nDo\u{e0041} it.\n";
    let files = [("AGENTS.md", "Be\u{e0041} kind.\n"), (".caliban/skills/sly/SKILL.md", skill)];
    expect![[r#"
        Work.
        <instructions of="project" path="AGENTS.md">
        Be[U+E0041] kind.
        </instructions>
        <skills>
        - sly: Is[U+E0041] sly.
        </skills>"#]]
    .assert_eq(&system(&files));
    let server = Server::start();
    server.reply(Reply::new().call("c1", "skill", json!({"name": "sly"})));
    server.reply(Reply::said("Done."));
    let setup = Setup::new().file(files[1].0, files[1].1).anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.ask("go", "Done.");
    assert!(server.requests()[1].answer("c1").contains("Do[U+E0041] it."));
}

#[test]
fn skills_with_a_byte_order_mark_dos_lines_and_a_folded_description_are_read() {
    let skill =
        "\u{feff}---\r\nname: folded\r\ndescription: >-\r\n  Folds\r\n  lines.\r\n---\r\nFold.\r\n";
    let shared = "---\nname: shared\ndescription: \"Is shared\" # note\n---\nShare.\n";
    let own = "---\nname: own\ndescription: |\n  Is own.\n---\nOwn.\n";
    expect![[r#"
        Work.
        <skills>
        - folded: Folds lines.
        - shared: Is shared
        - own: Is own.
        </skills>"#]]
    .assert_eq(&system(&[
        (".caliban/skills/folded/SKILL.md", skill),
        (".claude/skills/shared/SKILL.md", shared),
        ("../home/.agents/skills/own/SKILL.md", own),
    ]));
}

#[test]
fn a_slash_command_in_the_home_folder_is_sent_in_every_dialect() {
    let told = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.reply(Reply::said("Done."));
        let setup = Setup::new().file("../home/.claude/commands/brief.md", "Be brief about $1.\n");
        let nvim = Nvim::start(&setup.speaking(dialect, &server));
        nvim.keys(":Caliban<CR>i/brief cats<C-s>");
        nvim.wait_transcript("Done.");
        server.requests()[0].last_user_text().replace(">\n\n", ">\n")
    });
    expect![[r#"
        <command path="~/.claude/commands/brief.md">
        The user's message calls the command /brief. Its text, with the arguments in it:

        Be brief about cats.
        </command>
        /brief cats"#]]
    .assert_eq(common(&told));
}

#[test]
fn the_model_of_a_slash_command_answers_its_turn_in_every_dialect() {
    let others = [
        "anthropic/claude-haiku-4-5",
        "openai/gpt-4o-mini",
        "openai/gpt-4o-mini",
        "gemini/gemini-2.5-flash",
        "ollama/gemma3:4b",
    ];
    for (dialect, other) in DIALECTS.into_iter().zip(others) {
        let server = Server::start();
        let command = format!("---\nmodel: {other}\n---\nBe quick.\n");
        let setup = Setup::new().file(".caliban/commands/quick.md", command);
        let nvim = Nvim::start(&setup.speaking(dialect, &server));
        nvim.keys(":Caliban<CR>");
        for (n, text) in ["one", "/quick", "three"].into_iter().enumerate() {
            let said = format!("Done {n}.");
            server.reply(Reply::said(&said));
            nvim.ask(text, &said);
            // while a turn ends, a message goes to its model
            nvim.wait_phase("idle");
        }
        let name = other.split_once('/').unwrap().1;
        // Gemini's requests name the model in their path
        let named = |it: &crate::kit::http::Request| {
            (it.json["model"].to_string() + &it.path).contains(name)
        };
        let asked: Vec<bool> = server.requests().iter().map(named).collect();
        assert_eq!(asked, [false, true, false], "{other}");
    }
}
