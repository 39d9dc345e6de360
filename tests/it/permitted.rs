//! Permission rules: from the settings, from the project's file, and from the user's answer “always” to a question.

use crate::grants::{call, is_asked};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, edit, nine};
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;

const ONCE: &str = ":Caliban approve<CR>";
const FILE: &str = ".caliban/permissions.toml";

fn run(command: &str) -> Value {
    json!({ "command": command })
}

/// A scene whose settings have these rules.
fn ruled(rules: &str) -> Scene {
    let config = format!("{{ permissions = {{ {rules} }} }}");
    Scene::start(|it| it.config(&config).size(160, 40))
}

fn restarted(scene: Scene) -> Scene {
    let Scene { server, nvim } = scene;
    let setup = nvim.setup.clone();
    nvim.quit_with(":qa<CR>");
    let scene = Scene { server, nvim: Nvim::start(&setup) };
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Seen ");
    scene
}

#[test]
fn a_rule_of_the_settings_allows_a_command_and_denies_another() {
    let scene = ruled(
        "{ allow = 'shell', command = 'echo' }, { deny = 'shell', command = 'rm', reason = 'Use the trash.' }",
    );
    let (said, was_asked) = call(&scene, "shell", run("echo one && echo two"), "");
    assert!(said.contains("one\ntwo") && !was_asked, "{said}");
    let (said, was_asked) = call(&scene, "shell", run("echo a; (cd . && \\rm -rf .git)"), "");
    assert!(!was_asked);
    assert_eq!(
        said,
        "Not run. A permission rule denies `rm -rf .git`: Use the trash. The user made this rule, so do not look for a \
         way around it. Go on without the call, or tell the user what you need."
    );
    scene.nvim.wait_screen("denied by a rule");
    assert!(scene.nvim.setup.path(".git").exists());
    assert!(is_asked(&scene, "shell", run("true")));
}

#[test]
fn commands_as_models_write_them_run_by_rules_also_in_auto_mode_beside_a_rule_that_denies() {
    for mode in ["ask", "auto"] {
        let rules = "{ allow = 'shell', command = 'cat' }, { allow = 'shell', command = 'echo' }, \
                     { deny = 'shell', command = 'rm' }";
        let config = format!("{{ mode = '{mode}', permissions = {{ {rules} }} }}");
        let scene = Scene::start(|it| it.config(&config));
        for (command, printed) in [
            ("cat - <<'E'\nIt's (one) $x\nE", "It's (one) $x"),
            ("cat - 2>&1 <<E\ntwo\nE", "two"),
            (
                "echo \"$(cat <<'EOF'\nIt's (three) `x`\n\nfour\nEOF\n)\"",
                "It's (three) `x`\n\nfour",
            ),
            ("set -euo pipefail; echo five; echo \"exit: $?\"", "five\nexit: 0"),
        ] {
            let (said, was_asked) = call(&scene, "shell", run(command), ONCE);
            assert!(said.contains(printed) && !was_asked, "{mode}: {command}: {said}");
        }
        for command in ["bash - <<'E'\necho a\nE", "echo \"$(cat <<EOF\n$(date)\nEOF\n)\""] {
            let (_, was_asked) = call(&scene, "shell", run(command), ONCE);
            assert!(
                was_asked || mode == "auto" && command.starts_with("echo"),
                "{mode}: {command}"
            );
        }
        let (said, _) = call(&scene, "shell", run("cat - <<'E' && rm a.txt\na\nE"), ONCE);
        assert!(said.starts_with("Not run. A permission rule denies `rm a.txt`"), "{said}");
    }
}

#[test]
fn a_projects_own_test_command_is_allowed_from_its_question_with_all_its_words() {
    let scene = Scene::start(|it| {
        it.file("scripts/test.sh", "echo tested\n")
            .file("scripts/run.sh", "echo ran\n")
            .size(160, 40)
    });
    scene.server.reply(Reply::new().call("c1", "shell", run("bash scripts/test.sh -q")));
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene
        .nvim
        .wait_transcript("`a` allows `bash scripts/test.sh -q …` in this project from now on.");
    scene.nvim.go_to_transcript("Run `bash scripts/test.sh -q`?");
    scene.server.reply(Reply::said("Seen 0."));
    scene.nvim.keys("a");
    scene.wait_idle("Seen 0.");
    let (said, was_asked) = call(&scene, "shell", run("set -e; bash scripts/test.sh -q"), "");
    assert!(said.contains("tested") && !was_asked, "{said}");
    assert!(is_asked(&scene, "shell", run("bash scripts/test.sh")));
    assert!(is_asked(&scene, "shell", run("bash scripts/run.sh -q")));
}

#[test]
fn a_question_about_a_command_names_its_effect_that_no_rule_allows() {
    let scene = ruled("{ allow = 'shell', command = 'echo' }");
    scene.server.reply(Reply::new().call("c1", "shell", run("echo one > x")));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.nvim.wait_transcript("Run `echo one > x`? `echo one` writes to `x`.");
    assert_eq!(scene.on_disk("x"), None);
    scene.server.reply(Reply::said("Good."));
    scene.nvim.keys(ONCE);
    scene.wait_idle("Good.");
    assert_eq!(scene.on_disk("x").as_deref(), Some("one\n"));
}

#[test]
fn the_key_a_allows_a_command_for_this_project_until_the_rule_is_revoked() {
    let scene = Scene::start(|it| it.size(160, 40));
    scene.server.reply(Reply::new().call("c1", "shell", run("git status -s")));
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.nvim.wait_transcript("`a` allows `git status …` in this project from now on.");
    scene.nvim.go_to_transcript("Run `git status -s`?");
    scene.server.reply(Reply::said("Seen 0."));
    scene.nvim.keys("a");
    scene.wait_idle("Seen 0.");
    assert!(!is_asked(&scene, "shell", run("git status --short")));
    assert!(is_asked(&scene, "shell", run("git stash list")));
    let scene = restarted(scene);
    assert!(!is_asked(&scene, "shell", run("git status")));
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen("1: rule: allow shell `git status …` (you chose always)");
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("This rule no longer applies: allow shell git status …");
    // Neovim may wait for a key below its list
    scene.nvim.keys("<Esc>");
    assert!(is_asked(&scene, "shell", run("git status")));
}

#[test]
fn the_answer_always_is_not_offered_if_the_rule_would_allow_too_much() {
    let scene = Scene::start(|it| it.size(160, 40));
    scene.server.reply(Reply::new().call("c1", "shell", run("find . -name x")));
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    assert!(!scene.nvim.transcript().contains("always"), "{}", scene.nvim.transcript());
    scene.nvim.keys(":Caliban approve always<CR>");
    scene.nvim.wait_screen("Caliban proposes no rule for this call.");
    assert_eq!(scene.nvim.phase(), "asking");
    scene.server.reply(Reply::said("Good."));
    scene.nvim.keys(ONCE);
    scene.wait_idle("Good.");
}

#[test]
fn with_a_damaged_rules_file_in_the_project_every_call_needs_consent() {
    let config = "{ permissions = { { allow = 'shell', command = 'echo' }, { allow = 'edit' } } }";
    let scene = Scene::start(|it| {
        it.file(FILE, "[[rule]\n").file("a.txt", nine()).config(config).size(160, 40)
    });
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat(
        "Until you correct the file, every command, edit and web page needs your consent.",
    );
    assert!(is_asked(&scene, "shell", run("echo one")));
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_screen("1 hunk to review");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn a_wrong_rule_in_the_settings_is_reported_and_every_call_needs_consent() {
    let scene = ruled("{ allow = 'shell', command = 'echo' }, { denny = 'shell' }");
    scene.nvim.keys(":Caliban<CR>");
    scene.nvim.wait(
        |it| {
            it.lua_str("return vim.fn.execute('messages')")
                .contains("every command, edit and web page needs your consent")
        },
        "the problem",
    );
    let said = scene.nvim.lua_str("return vim.fn.execute('messages')");
    assert!(
        said.contains("config.permissions[2].denny: there is no such setting. Did you mean"),
        "{said}"
    );
    scene.nvim.keys("<CR>");
    scene.wait_chat("Project");
    assert!(is_asked(&scene, "shell", run("echo one")));
}

#[test]
fn the_rule_for_a_path_decides_whether_an_edit_is_refused_reviewed_or_written() {
    let rules = "{ permissions = { { deny = 'edit', path = '/migrations/', reason = 'They are generated' }, \
                 { ask = 'edit', path = '*.sql' }, { allow = 'edit', path = 'src/' } } }";
    let scene = Scene::start(|it| {
        it.file("migrations/a.txt", nine())
            .file("src/a.txt", nine())
            .file("src/b.sql", nine())
            .config(rules)
            .size(160, 40)
    });
    let change = |path: &str| edit(path, &[("l2", "L2")]);
    let (said, _) = call(&scene, "edit", change("migrations/a.txt"), "");
    assert!(
        said.contains(
            "may not be edited because of a permission rule of the user: They are generated"
        ),
        "{said}"
    );
    let (said, _) = call(&scene, "edit", change("src/a.txt"), "");
    assert!(said.starts_with("Applied and written to src/a.txt"), "{said}");
    assert_eq!(scene.on_disk("src/a.txt"), Some(nine().replace("l2", "L2")));
    scene.server.reply(Reply::new().call("e9", "edit", change("src/b.sql")));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_screen("1 hunk to review");
    assert_eq!(scene.on_disk("src/b.sql"), Some(nine()));
}

#[test]
fn slash_permissions_explains_how_a_command_is_judged() {
    let scene =
        ruled("{ allow = 'shell', command = 'echo' }, { deny = 'shell', command = 'git push' }");
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    scene.nvim.keys(":Caliban permissions timeout 5 echo a && git push<CR>");
    scene.wait_chat("The command does not run. A permission rule denies `git push`.");
    scene.nvim.wait_transcript("echo a: allow shell `echo …` (your settings)");
    scene.nvim.wait_transcript("git push: deny shell `git push …` (your settings)");
    let explain = |command: &str, said: &str| {
        let ask = format!("require('caliban').ask('/permissions {command}')");
        scene.nvim.lua(&ask, &[]);
        scene.wait_chat(said);
    };
    explain("echo b", "The command runs without a question: allowed by a rule.");
    explain("echo c > d", "The command needs your consent. `echo c` writes to `d`.");
    assert!(call(&scene, "shell", run("true"), ":Caliban approve session<CR>").1);
    explain("true", "without a question: allowed, because you allowed it for the session.");
    scene.nvim.keys(":Caliban mode plan<CR>");
    explain("echo e", "The command does not run in plan mode.");
    assert_eq!(scene.server.requests().len(), 2);
}

#[test]
fn a_rule_of_the_settings_is_listed_and_can_only_be_changed_there() {
    let scene = ruled("{ deny = 'shell', command = 'rm', reason = 'Use\\n the trash.' }");
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Project");
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen("1: rule: deny shell `rm …`: Use the trash (your settings)");
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("This rule is in your settings. Change it there.");
}

#[test]
fn a_rule_that_does_not_match_its_own_example_is_reported() {
    let config = "{ permissions = { { allow = 'shell', command = 'echo' } } }";
    let rule = |example: &str| {
        format!("[[rule]]\ndeny = 'shell'\ncommand = 'git push'\nmatches = ['{example}']\n")
    };
    let scene = Scene::start(|it| it.config(config).file(FILE, rule("git pull")).size(160, 40));
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("rule 1: the rule does not match `git pull`, which `matches` lists.");
    assert!(is_asked(&scene, "shell", run("echo one")));
    fs::write(scene.nvim.setup.path(FILE), rule("git -C . push")).unwrap();
    assert!(!is_asked(&scene, "shell", run("echo two")));
}

#[test]
fn plan_mode_runs_no_command_even_if_a_rule_allows_it() {
    let config = "{ mode = 'plan', permissions = { { allow = 'shell', command = 'echo' } } }";
    let scene = Scene::start(|it| it.config(config).size(160, 40));
    let (said, was_asked) = call(&scene, "shell", run("echo one"), "");
    assert!(said.starts_with("Not run: plan mode is on") && !was_asked, "{said}");
}

#[test]
fn each_decision_about_a_call_is_logged() {
    let scene = ruled("{ allow = 'shell', command = 'echo' }, { deny = 'shell', command = 'rm' }");
    scene.nvim.keys(":Caliban log permissions<CR>");
    scene.nvim.wait_screen("No decision about a call has been logged in this project yet.");
    call(&scene, "shell", run("echo one"), "");
    call(&scene, "shell", run("rm\u{202e} a"), ONCE);
    call(&scene, "shell", run("rm a"), "");
    call(&scene, "shell", run("true\ntrue"), ":Caliban deny not now<CR>");
    call(&scene, "list", json!({ "path": "." }), "");
    scene.nvim.keys(":Caliban log permissions<CR>");
    let is_log =
        |it: &Nvim| it.lua_str("return vim.api.nvim_buf_get_name(0)").ends_with(".permissions.log");
    scene.nvim.wait(is_log, "the log");
    let text = scene
        .nvim
        .lua_str("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')");
    let lines: Vec<&str> = text.lines().map(|it| it.split_once(" main ").unwrap().1).collect();
    expect![[r#"
        [
            "allowed by a rule: run echo one",
            "asked: run rm[U+202E] a (`rm\u{202e}` is known only when the command runs.)",
            "you allowed it once: run rm[U+202E] a",
            "denied by a rule: run rm a (A permission rule denies `rm a`.)",
            "asked: run true[U+000A]true",
            "you denied it: run true[U+000A]true",
        ]
    "#]]
    .assert_debug_eq(&lines);
}

#[test]
fn the_log_of_permissions_names_the_reason_of_each_decision() {
    let config = "{ permissions = { { deny = 'edit', path = 'b.txt', reason = 'No.' } } }";
    let files = |it: Setup| it.file("a.txt", nine()).file("b.txt", nine());
    let scene = Scene::start(|it| files(it).config(config).size(160, 40));
    let change = |from: &str, to: &str| edit("a.txt", &[(from, to)]);
    call(&scene, "edit", edit("b.txt", &[("l2", "L2")]), "");
    call(&scene, "read", json!({ "path": ".git/config" }), "");
    call(&scene, "shell", run("true"), ":Caliban approve session<CR>");
    call(&scene, "shell", run("true"), "");
    scene.nvim.keys(":Caliban permissions<CR>");
    scene.nvim.wait_screen("1: run true");
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("You are asked again before: run true");
    scene.nvim.keys("<Esc>:Caliban mode auto-edit<CR>");
    call(&scene, "edit", change("l2", "L2"), "");
    scene.nvim.keys(":Caliban mode plan<CR>");
    call(&scene, "edit", change("l3", "L3"), "");
    scene.nvim.keys(":Caliban mode ask<CR>");
    call(&scene, "shell", run("git status -s"), ":Caliban approve always<CR>");
    scene.nvim.keys(":Caliban log permissions<CR>");
    let is_log =
        |it: &Nvim| it.lua_str("return vim.api.nvim_buf_get_name(0)").ends_with(".permissions.log");
    scene.nvim.wait(is_log, "the log");
    let text = scene
        .nvim
        .lua_str("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')");
    let lines: Vec<&str> = text.lines().map(|it| it.split_once(" main ").unwrap().1).collect();
    expect![[r#"
        [
            "refused: edit (path: `b.txt` may not be edited because of a permission rule of the user: No.)",
            "refused: read (path: `.git/config` is in .git, which no tool reads or writes. Run git with `shell`, which needs consent.)",
            "asked: run true",
            "you allowed it for the session: run true",
            "allowed, because you allowed it for the session: run true",
            "you took it back: run true",
            "you chose auto-edit mode",
            "allowed in auto-edit mode: edit a.txt",
            "you chose plan mode",
            "denied in plan mode: edit a.txt",
            "you chose ask mode",
            "asked: run git status -s",
            "you allowed it always: run git status …",
            "you allowed it once: run git status -s",
        ]
    "#]]
    .assert_debug_eq(&lines);
}

/// The file of these rules is read by the same rule by which it is written, whatever characters a command has.
#[test]
fn always_for_a_command_with_hidden_characters_holds_after_a_restart() {
    for word in ["a\u{200f}b", "a\u{2028}b", "quote \" and \\ and `", "caf\u{e9}\u{ad}"] {
        let scene = Scene::start(|it| it.file("scripts/test.sh", "echo \"$1\"\n").size(160, 40));
        let command = format!("bash scripts/test.sh '{word}'");
        let (said, was_asked) = call(&scene, "shell", run(&command), ":Caliban approve always<CR>");
        assert!(was_asked && !said.contains("Not run"), "{said}");
        let scene = restarted(scene);
        let (again, was_asked) = call(&scene, "shell", run(&command), ONCE);
        assert!(!was_asked && again == said, "{word:?}: {said} / {again}");
        assert!(!scene.nvim.transcript().contains("cannot be used"), "{}", scene.nvim.transcript());
    }
}
