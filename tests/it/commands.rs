//! The user's own slash commands: their text in the request, and messages with such a command that go back to the
//! composer.

use crate::kit::chat::{DIALECTS, assert_grows, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::json;

/// A project with a command that has arguments and mentions a file, a command in a folder, and a command in the user's
/// home folder.
fn project() -> Setup {
    Setup::new()
        .file("src/a.rs", "fn a() {}\n")
        .file(
            ".claude/commands/fix.md",
            "---\ndescription: Fixes an issue\nargument-hint: [issue] [part]\n\
             allowed-tools: Bash(git push:*)\n---\n\nFix issue $1 in $2 ($ARGUMENTS). Begin with @src/a.rs.\n",
        )
        .file(".caliban/commands/git/log.md", "Show the log.\n")
        .file("../config/caliban/commands/brief.md", "Be brief.\n")
}

fn start(setup: Setup) -> (Server, Nvim) {
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    let nvim = Nvim::start(&setup.anthropic(&server).size(200, 40));
    nvim.keys(":Caliban<CR>");
    (server, nvim)
}

fn wait_replies(nvim: &Nvim, count: usize) {
    nvim.wait(|it| it.transcript().matches("\nSeen.").count() == count, "the replies");
    nvim.wait_phase("idle");
}

#[test]
fn a_slash_command_is_sent_with_its_arguments_and_files_in_each_dialect() {
    let told = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.otherwise(Reply::said("Seen."));
        let nvim = Nvim::start(&project().speaking(dialect, &server));
        nvim.keys(":Caliban<CR>i/fix $2 \"the parser\"<C-s>");
        nvim.wait_transcript("Seen.");
        nvim.wait_phase("idle");
        nvim.keys("/git:log<C-s>");
        wait_replies(&nvim, 2);
        let requests = server.requests();
        let told = requests.iter().map(|it| it.last_user_text() + "\n---\n").collect::<String>();
        // dialects separate the blocks of a message in different ways
        let told = told.replace(">\n\n", ">\n");
        assert_grows(requests);
        told + &nvim.conversation()
    });
    expect![[r#"
        <command path=".claude/commands/fix.md">
        The user's message calls the command /fix. Its text, with the arguments in it:

        Fix issue $2 in the parser ($2 "the parser"). Begin with @src/a.rs.
        </command>
        <context kind="file" path="src/a.rs">
        fn a() {}
        </context>
        /fix $2 "the parser"
        ---
        <command path=".caliban/commands/git/log.md">
        The user's message calls the command /git:log. Its text, with the arguments in it:

        Show the log.
        </command>
        /git:log
        ---
        /fix $2 "the parser"

        Seen.

        /git:log

        Seen."#]]
    .assert_eq(common(&told));
}

#[test]
fn amounts_and_code_of_a_command_stay_and_arguments_that_it_does_not_name_are_added() {
    let text = "Raise $1.2M with awk '{print $1}' and \\$1.\n```\necho $1\n```\n";
    let (server, nvim) = start(project().file(".claude/commands/money.md", text));
    nvim.keys("i/money now \"a b\"<C-s>");
    wait_replies(&nvim, 1);
    let told = server.requests()[0].last_user_text();
    let wanted =
        "Raise $1.2M with awk '{print $1}' and $1.\n```\necho $1\n```\n\nARGUMENTS: now \"a b\"\n";
    assert!(told.contains(wanted), "{told}");
    nvim.keys("/money<C-s>");
    wait_replies(&nvim, 2);
    assert!(!server.requests()[1].last_user_text().contains("ARGUMENTS"));
}

#[test]
fn a_command_of_the_project_in_place_of_the_users_own_is_said() {
    let own = "../config/caliban/commands";
    let setup = project()
        .file(&format!("{own}/fix.md"), "Mine.\n")
        .file("../home/.claude/commands/git/log.md", "Mine too.\n");
    let (server, nvim) = start(setup);
    let dir = nvim.setup.dir().display().to_string();
    let cases = [
        ("fix", ".claude/commands/fix.md", format!("{dir}/config/caliban/commands/fix.md")),
        ("git:log", ".caliban/commands/git/log.md", "~/.claude/commands/git/log.md".to_owned()),
    ];
    nvim.keys("i");
    for (at, (name, used, own)) in cases.iter().enumerate() {
        nvim.keys(&format!("/{name}<C-s>"));
        let said = format!("/{name} is `{used}` of the project. Your own `{own}` was not used.");
        nvim.wait_transcript(&said);
        wait_replies(&nvim, at + 1);
    }
    nvim.keys("/brief<C-s>");
    wait_replies(&nvim, 3);
    assert!(!nvim.transcript().contains("/brief is"), "{}", nvim.transcript());
    assert!(!server.requests()[2].json.to_string().contains("Mine"));
}

#[test]
fn slash_commands_and_skills_are_completed_and_listed() {
    let skill = "---\nname: tidy-up\ndescription: Puts things in order\n---\nDo.\n";
    let bad = "---\ndescription: \"x\n---\nDo.";
    let setup = project()
        .file(".caliban/skills/tidy-up/SKILL.md", skill)
        .file(".claude/commands/bad.md", bad);
    let (server, nvim) = start(setup);
    nvim.keys("i/tid");
    nvim.wait_screen("Puts things in order");
    nvim.keys("<C-u>/git:");
    nvim.wait_screen("Show the log.");
    nvim.keys("<C-u>/fi");
    nvim.wait_screen("Fixes an issue");
    nvim.keys("<C-n><C-y> 7<C-s>");
    nvim.wait_transcript("Seen.");
    assert!(server.requests()[0].last_user_text().contains("Fix issue 7 in  (7)."));
    nvim.wait_phase("idle");
    nvim.keys("/tidy-up now<C-s>");
    server.wait_count(2);
    let said = server.requests()[1].last_user_text();
    assert!(said.contains("The skill `tidy-up`.") && said.ends_with("now"), "{said}");
    nvim.wait_phase("idle");
    nvim.keys("/help<C-s>");
    nvim.wait_transcript("Your own commands:");
    let said = nvim.transcript();
    let (_, said) = said.split_once("Your own commands:").unwrap();
    expect![[r#"

        /git:log  Show the log. (.caliban/commands/git/log.md)
        /fix [issue] [part]  Fixes an issue (.claude/commands/fix.md)
        /brief  Be brief. (DIR/config/caliban/commands/brief.md)
        `.claude/commands/bad.md` has front matter that is not YAML (line 2 column 14: unclosed quote). It was left out.
        @path, @path:10-40 and @dir/ add files to a message. g? lists the keys."#]]
    .assert_eq(&said.replace(&nvim.setup.dir().display().to_string(), "DIR"));
    assert_eq!(server.count(), 2);
}

/// Sends the text and checks that it goes back to the composer with this warning.
#[track_caller]
fn check_given_back(server: &Server, nvim: &Nvim, text: &str, warning: &str) {
    let before = server.count();
    nvim.keys(&format!("<Esc>ggdGi{text}<C-s>"));
    nvim.wait_screen(warning);
    assert_eq!(nvim.composer(), text);
    assert_eq!(server.count(), before);
}

#[test]
fn a_message_whose_slash_command_cannot_be_read_goes_back_with_the_reason() {
    let setup = project()
        .file(".claude/commands/yaml.md", "---\ndescription: [x\n---\nDo.")
        .file(".claude/commands/large.md", "x".repeat(1 << 20))
        .file("../elsewhere.md", "a secret");
    let folder = setup.path(".claude/commands");
    std::os::unix::fs::symlink("../../../elsewhere.md", folder.join("out.md")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(folder.join("pipe.md")).status();
    assert!(pipe.unwrap().success());
    let (server, nvim) = start(setup);
    let check = |text: &str, warning: &str| check_given_back(&server, &nvim, text, warning);
    check("/yaml a", "! .claude/commands/yaml.md has front matter that is not YAML (");
    check("/large a", "! .claude/commands/large.md has 1024 kB, but a command may have at most 64");
    check("/out a", "! .claude/commands/out.md leads out of the project. Nothing was sent.");
    check("/pipe a", "! .claude/commands/pipe.md cannot be read: it is a device");
    check("/fixx 7", "! There is no command /fixx. Did you mean /fix? Nothing was sent.");
    check("/gti:log", "! There is no command /gti:log. Did you mean /git:log? Nothing was sent.");
    nvim.keys("<Esc>ggdGi/fix 7<C-s>");
    nvim.wait_transcript("Seen.");
    assert_eq!(server.count(), 1);
    assert!(!server.requests()[0].json.to_string().contains("a secret"));
}

/// When the message is sent again, the text of its slash command is made anew and not sent twice.
#[test]
fn a_message_that_went_back_is_sent_with_the_text_of_its_slash_command_only_once() {
    let setup = project()
        .file("../home/notes.md", "a secret")
        .file(".claude/commands/odd.md", "See @src/gone.rs and @~/notes.md, @anyone.\n");
    let (server, nvim) = start(setup);
    let warning = "! .claude/commands/odd.md mentions @~/notes.md, which leads out";
    check_given_back(&server, &nvim, "/odd", warning);
    nvim.wait_screen("@src/gone.rs does not exist. Nothing was sent.");
    let commands = |n: usize| server.requests()[n].last_user_text().matches("<command ").count();
    let gate = server.reply(Reply::new().gate().text("Seen."));
    nvim.keys("<C-s>");
    server.wait_count(1);
    assert_eq!(commands(0), 1);
    assert!(!server.requests()[0].json.to_string().contains("a secret"));
    nvim.keys("/git:log<C-s>");
    nvim.wait_queue(1);
    nvim.keys("<Esc>");
    nvim.go_to_transcript("queued: /git:log");
    nvim.keys("<CR>");
    nvim.wait(|it| it.composer() == "/git:log", "the message");
    gate.release();
    nvim.wait_phase("idle");
    nvim.keys("<Esc>A again<C-s>");
    server.wait_count(2);
    assert_eq!(commands(1), 1);
    assert!(server.requests()[1].last_user_text().ends_with("/git:log again"));
}

#[test]
fn the_model_of_a_slash_command_answers_only_the_turn_of_that_command() {
    let setup = project()
        .file(".claude/commands/quick.md", "---\nmodel: anthropic/claude-haiku-4-5\n---\nBe quick.")
        .file(".claude/commands/odd.md", "---\nmodel: nobody/none\n---\nBe odd.");
    let (server, nvim) = start(setup);
    let gate = server.reply(Reply::new().gate().text("Quick."));
    nvim.keys("i/quick<C-s>");
    server.wait_count(1);
    nvim.keys("/quick again<C-s>next<C-s>");
    nvim.wait_queue(2);
    gate.release();
    wait_replies(&nvim, 2);
    nvim.keys("/odd<C-s>");
    wait_replies(&nvim, 3);
    let models: Vec<String> =
        server.requests().iter().map(|it| it.json["model"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        models,
        ["claude-haiku-4-5", "claude-sonnet-4-5", "claude-sonnet-4-5", "claude-sonnet-4-5"]
    );
    let said = nvim.transcript();
    let said = said.trim_start();
    expect![[r#"
        ! Model: anthropic/claude-haiku-4-5.

        /quick

        ! The command names the model `anthropic/claude-haiku-4-5`. A turn is running. The message goes to anthropic/claude-sonnet-4-5.

        Quick.

        /quick again

        ! Model: anthropic/claude-sonnet-4-5.

        Seen.

        next

        Seen.

        ! The command names the model `nobody/none`. No provider is called nobody. The providers are: anthropic, openai, gemini, openrouter, groq, deepseek, mistral, xai, together, cerebras, fireworks, moonshot, zai, nvidia, huggingface, azure, ollama, llamacpp, lmstudio, vllm. The message goes to anthropic/claude-sonnet-4-5.

        /odd

        Seen."#]]
    .assert_eq(said);
}

/// The model is told which tools the slash command allows.
#[test]
fn a_slash_command_that_names_tools_allows_no_others_in_its_turn_in_every_dialect() {
    let told = DIALECTS.map(|dialect| {
        let server = Server::start();
        let calls = || {
            let reply = Reply::new().call("c1", "read", json!({"path": "src/a.rs"}));
            let reply = reply.call("c2", "grep", json!({"pattern": "fn"}));
            reply.call("c3", "shell", json!({"command": "git status && rm -rf src"}))
        };
        server.reply(calls());
        server.reply(Reply::said("One."));
        let front = "---\nallowed-tools: Read, Bash(git status:*), mcp__x__y\n---\n";
        let setup = project().file(".claude/commands/look.md", format!("{front}Look around.\n"));
        let nvim = Nvim::start(&setup.speaking(dialect, &server).size(200, 40));
        nvim.keys(":Caliban<CR>i/look<C-s>");
        nvim.wait_transcript("One.");
        nvim.wait_phase("idle");
        let warning = "! `allowed-tools` in `.claude/commands/look.md` is only partly applied. Caliban has no such \
            tool, or cannot apply the limit in brackets: `mcp__x__y`.";
        assert_eq!(nvim.transcript().matches(warning).count(), 1);
        // the next turn may use all tools again
        server.reply(Reply::new().call("c4", "grep", json!({"pattern": "fn a"})));
        server.reply(Reply::said("Two."));
        nvim.keys("go on<C-s>");
        nvim.wait_transcript("Two.");
        nvim.wait_phase("idle");
        let requests = server.requests();
        let last = requests.last().unwrap();
        let told = ["c1", "c2", "c3", "c4"].map(|it| last.answer(it).trim_end().to_owned());
        assert!(requests.iter().all(|it| it.tools() == requests[0].tools()));
        assert_grows(requests);
        told.join("\n")
    });
    expect![[r#"
        1	fn a() {}
        The command `.claude/commands/look.md` allows only these tools until its turn ends: read, shell(git status). Go on with these, or tell the user what else is needed.
        The command `.claude/commands/look.md` allows only these tools until its turn ends: read, shell(git status). Go on with these, or tell the user what else is needed.
        src/a.rs:1: fn a() {}"#]]
    .assert_eq(common(&told));
}

#[test]
fn a_slash_command_whose_tools_lack_the_search_turns_the_providers_search_off() {
    let command = |tools: &str| format!("---\nallowed-tools: {tools}\n---\nLook.\n");
    let setup = project()
        .file(".claude/commands/read.md", command("Read"))
        .file(".claude/commands/find.md", command("Read, WebSearch"))
        .config("{ search = { hosted = true } }");
    let (server, nvim) = start(setup);
    for (prompt, reply) in [("/read", "One."), ("/find", "Two."), ("go on", "Three.")] {
        server.reply(Reply::said(reply));
        nvim.keys(&format!("i{prompt}<C-s><Esc>"));
        nvim.wait_transcript(reply);
        nvim.wait_phase("idle");
    }
    let requests = server.requests();
    let offered = requests.iter().map(|it| it.tools().contains(&"web_search".to_owned()));
    assert_eq!(offered.collect::<Vec<_>>(), [false, true, true]);
    assert!(!nvim.transcript().contains("only partly applied"));
}

#[test]
fn a_shell_command_that_a_slash_command_allows_still_needs_consent() {
    let (server, nvim) = start(
        project()
            .cautious()
            .file(".claude/commands/see.md", "---\nallowed-tools: [\"Bash(echo:*)\"]\n---\nSee.\n"),
    );
    server.reply(Reply::new().call("c1", "shell", json!({"command": "echo one"})));
    nvim.keys("i/see<C-s>");
    nvim.wait_question();
    nvim.keys("<Esc>");
    assert!(nvim.transcript().contains("Run `echo one`"), "{}", nvim.transcript());
}
