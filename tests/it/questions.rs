//! What a question about a command shows, and the command that the user puts in place of the model's.

use crate::grants::call;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::sandbox::is_full;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::reopened::quit;
use crate::review::scene::Scene;
use expect_test::expect;
use serde_json::json;

/// A scene whose question about this command is on the screen, with the cursor on the question.
fn asked(config: &str, command: &str) -> Scene {
    let scene = Scene::start(|it| it.config(config).size(160, 40));
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    scene.server.reply(Reply::new().call("c1", "shell", json!({ "command": command })));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.nvim.go_to_transcript("? Run");
    scene
}

#[test]
fn a_question_names_what_the_command_touches() {
    let command = "cd sub && sed -i s/a/b/ c.rs && rm d && curl -s https://a.org/x > out | tee log";
    let scene = asked("{}", command);
    scene.nvim.wait_transcript(
        "It writes or removes `out`, `c.rs`, `d`, `log`. It changes the folder to `sub`. It names the host `a.org`.",
    );
    scene.server.reply(Reply::said("Good."));
    scene.nvim.keys("n");
    scene.wait_idle("Good.");
}

#[test]
fn the_key_c_runs_a_changed_command_and_tells_the_model() {
    let scene = asked("{}", "echo one > out");
    scene.server.reply(Reply::said("Good."));
    scene.nvim.keys("c");
    scene.nvim.wait_screen("<C-s> run, in normal mode also <CR> ·");
    scene.nvim.keys("ccecho two > out; cat out<Esc><CR>");
    scene.wait_idle("Good.");
    assert_eq!(scene.on_disk("out").as_deref(), Some("two\n"));
    expect![[r#"
        The user changed the command of this call. This command is used instead of yours:
        echo two > out; cat out

        two"#]]
    .assert_eq(&scene.answer(2, "c1"));
    let said = scene.request(2).json.to_string();
    let words = "This command is used instead of yours:\\necho two > out; cat out\\n\\n<untrusted-";
    assert!(said.contains(words), "{said}");
    scene.nvim.wait_screen("▸ shell  echo two > out; cat out ");
    scene.nvim.wait_screen("changed · exit 0");
    let scene = quit(scene);
    scene.nvim.keys(":Caliban<CR>");
    scene.nvim.wait_screen("▸ shell  echo two > out; cat out ");
    scene.nvim.wait_screen("changed · exit 0");
    scene.nvim.keys(":Caliban log permissions<CR>");
    scene.nvim.wait_screen("you changed it to: run echo two");
}

#[test]
fn a_changed_command_of_several_lines_runs_as_it_is_written() {
    let scene = asked("{}", "echo one > out\necho two >> out");
    scene.server.reply(Reply::said("Good."));
    scene.nvim.keys("c");
    scene.nvim.wait_screen("<C-s> run, in normal mode also <CR> ·");
    scene.nvim.keys("Goecho three >> out<C-s>");
    scene.wait_idle("Good.");
    assert_eq!(scene.on_disk("out").as_deref(), Some("one\ntwo\nthree\n"));
    assert_eq!(scene.nvim.lua_str("return vim.api.nvim_get_mode().mode"), "n");
}

#[test]
fn a_command_that_the_user_leaves_unchanged_or_empty_still_needs_consent() {
    let scene = asked("{}", "echo one > out");
    for keys in ["c<CR>", "c<C-c>", "cdd<CR>", "c:q<CR>"] {
        scene.nvim.keys(keys);
        scene.nvim.wait_gone("<C-s> run, in normal mode also <CR> ·");
        assert_eq!(scene.nvim.phase(), "asking", "{keys}");
        scene.nvim.go_to_transcript("? Run");
    }
    scene.server.reply(Reply::said("Good."));
    scene.nvim.keys("y");
    scene.wait_idle("Good.");
    assert!(!scene.answer(2, "c1").contains("changed"));
}

#[test]
fn a_rule_denies_a_changed_command() {
    let rules = "{ permissions = { { deny = 'shell', command = 'rm' } } }";
    let scene = asked(rules, "echo one > out");
    scene.server.reply(Reply::said("Good."));
    scene.nvim.keys("c");
    scene.nvim.wait_screen("<C-s> run, in normal mode also <CR> ·");
    scene.nvim.keys("ccrm -rf .git<Esc><CR>");
    scene.wait_idle("Good.");
    let said = scene.answer(2, "c1");
    assert!(said.starts_with("The user changed the command of this call."), "{said}");
    assert!(said.contains("Not run. A permission rule denies `rm -rf .git`."), "{said}");
    assert!(scene.nvim.setup.path(".git").exists());
}

#[test]
fn a_command_changed_by_a_script_runs_but_with_hidden_characters_the_user_is_asked_again() {
    let scene = asked("{}", "echo one > out");
    let approve = "require('caliban').approve({ command = ... })";
    scene.nvim.lua(approve, &["echo a\u{202e}b > out".into()]);
    scene.nvim.wait_screen("? Run your command `echo a[U+202E]b > out`?");
    assert_eq!(scene.on_disk("out"), None);
    scene.nvim.wait_question();
    scene.server.reply(Reply::said("Good."));
    scene.nvim.lua(approve, &["echo b > out".into()]);
    scene.wait_idle("Good.");
    assert_eq!(scene.on_disk("out").as_deref(), Some("b\n"));
}

#[test]
fn a_script_cannot_change_the_call_if_a_question_is_about_a_file() {
    let scene = Scene::start(|it| it.size(160, 40).file(".env", "KEY=1\n"));
    let change = ":lua require('caliban').approve({ command = 'true' })<CR>:Caliban deny<CR>";
    let (_, was_asked) = call(&scene, "read", json!({ "path": ".env" }), change);
    assert!(was_asked);
    assert!(scene.said().contains("This question has no command that you can change."));
}

#[test]
fn a_question_shows_its_command_once_in_normal_text_and_as_code() {
    let register = "vim.treesitter.language.register('lua', 'bash')";
    let scene = Scene::start(|it| it.size(160, 40).before(register));
    let nvim = &scene.nvim;
    nvim.name_groups();
    nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    let command = "return plain > out";
    scene.server.reply(Reply::new().call("c1", "shell", json!({ "command": command })));
    nvim.keys("igo<C-s><Esc>");
    nvim.wait_question();
    let transcript = nvim.transcript();
    assert!(
        !transcript.contains("Project"),
        "the first message replaces the lines of an empty chat"
    );
    assert_eq!(transcript.matches(command).count(), 1, "{transcript}");
    assert!(!transcript.contains("▸ shell"), "the question stands for the call: {transcript}");
    // the parser is loaded after the first screen
    nvim.wait(|it| it.hl_of("return").contains(&"Statement".to_owned()), "the highlights of code");
    assert!(!nvim.hl_of("plain >").contains(&"CalibanDim".to_owned()));
    for (text, group) in [
        ("?", "CalibanAsk"),
        ("Run `", "CalibanDim"),
        ("It writes", "CalibanDim"),
        ("y once", "CalibanDim"),
        ("waiting for you", "CalibanAsk"),
    ] {
        assert!(nvim.hl_of(text).contains(&group.to_owned()), "{text}");
    }
    nvim.wait_screen("<Tab> to the question");
    scene.server.reply(Reply::said("Good."));
    nvim.keys("<Tab>n");
    scene.wait_idle("Good.");
    nvim.wait_screen("i write · ]] [[ messages");
    nvim.wait_transcript("▸ shell  return plain > out");
    nvim.keys("ion");
    assert_eq!(nvim.composer(), "on", "the key that is shown goes back");
}

#[test]
fn a_command_is_highlighted_without_a_parser_for_shells() {
    let scene = Scene::start(|it| it.size(160, 40));
    scene.nvim.name_groups();
    let command = "echo 'two' > out";
    scene.server.reply(Reply::new().call("c1", "shell", json!({ "command": command })));
    scene.nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    scene.nvim.wait_question();
    scene.nvim.wait(|it| !it.hl_of("two").is_empty(), "the colours of the syntax file");
    assert!(!scene.nvim.hl_of("two").contains(&"CalibanDim".to_owned()));
}

/// Whether the screen has these words, in whatever rows.
fn on_screen(nvim: &Nvim, words: &str) -> bool {
    let packed = |text: &str| text.split_whitespace().collect::<String>();
    packed(&nvim.screen()).contains(&packed(words))
}

#[test]
fn a_question_about_the_network_names_the_hosts_or_says_that_any_may_be_reached() {
    const ANY: &str = "It names no host, and may reach any.";
    let cases = [
        ("curl -so page example.org/x", "It writes `page`. It names the host `example.org`."),
        ("curl -fsS https://example.org/x?a=1", "It names the host `example.org`."),
        ("wget -q me@example.org/x", "It names the host `example.org`."),
        ("scp out me@example.org:in", "It names the host `example.org`."),
        ("git push origin main", ANY),
        ("npm i left-pad", ANY),
        (
            "curl \"$url\" https://example.org",
            "It names the host `example.org`. It may reach others too.",
        ),
    ];
    for (columns, lines) in [(60, 20), (80, 24)] {
        let server = Server::start();
        let setup =
            Setup::new().anthropic(&server).config("{ sandbox = false }").size(columns, lines);
        let nvim = Nvim::start(&setup);
        for (command, hosts) in cases {
            server.reply(Reply::new().call("c1", "shell", json!({ "command": command })));
            server.reply(Reply::said("Well."));
            nvim.keys(":Caliban<CR>igo<C-s><Esc>");
            nvim.wait_question();
            let all = |it: &Nvim| {
                [command, hosts, "y once", "i explain"].iter().all(|words| on_screen(it, words))
            };
            nvim.wait(all, &format!("{command} with its hosts at {columns}x{lines}"));
            nvim.keys("<Tab>n");
            nvim.wait_phase("idle");
            nvim.keys(":Caliban new<CR>");
            nvim.wait_gone(command);
        }
    }
}

#[test]
fn in_the_sandbox_a_question_about_the_network_says_that_rules_allow_its_hosts() {
    if !is_full() {
        return;
    }
    let scene = asked("{}", "git push origin main");
    scene.nvim.wait_transcript("It reaches only hosts that a rule allows.");
}
