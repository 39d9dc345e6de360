//! `caliban run`: the program without a Neovim, from its arguments to the requests, the disk, its output and exit code.

use crate::kit::reply::Reply;
use crate::kit::sandbox::is_full;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn setup(server: &Server) -> Setup {
    Setup::new().anthropic(server)
}

/// Runs the program to its end.
fn run(setup: &Setup, arguments: &[&str]) -> Ran {
    let arguments = [&["run"], arguments].concat();
    Ran::of(&mut setup.program(&arguments))
}

/// A file of settings that allow a few commands.
fn allowing(setup: &Setup) -> String {
    let rules = ["cp", "rm", "touch"].map(|it| json!({ "allow": "shell", "command": it }));
    let settings = setup.dir().join("rules.json");
    fs::write(&settings, json!({ "permissions": rules }).to_string()).unwrap();
    settings.display().to_string()
}

/// Waits until `holds` returns true. Panics after a time that only a fault exceeds.
pub(crate) fn wait_for(holds: impl Fn() -> bool) {
    let began = std::time::Instant::now();
    while !holds() {
        assert!(began.elapsed() < std::time::Duration::from_secs(60));
        std::thread::yield_now();
    }
}

pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Ran {
        Ran::from(command.output().unwrap())
    }

    pub(crate) fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The lines of standard output, which are JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
    }
}

#[test]
fn a_run_names_the_skills_that_it_leaves_out() {
    let server = Server::start();
    server.otherwise(Reply::said("Done."));
    let setup = setup(&server)
        .file(".claude/skills/odd/SKILL.md", "---\nname: odd\ndescription: \"x\n---\nDo.\n")
        .file(
            ".claude/skills/beta/SKILL.md",
            "---\nname: beta\ndescription: [beta] Lints: all\n---\nDo.\n",
        )
        .file(".claude/skills/low/skill.md", "---\nname: low\ndescription: x\n---\nDo.\n");
    let odd = "`.claude/skills/odd/SKILL.md` has front matter that is not YAML (line 3 column 14: unclosed quote). \
               It was left out.";
    let low = "`.claude/skills/low/skill.md` is not a skill: the file's name has to be `SKILL.md`.";
    // nobody is here to agree to the project's skills
    let settings = setup.dir().join("always.json");
    fs::write(&settings, json!({ "instructions": "always" }).to_string()).unwrap();
    let always = ["--config", settings.to_str().unwrap()];
    let ran = run(&setup, &[&always[..], &["go"]].concat());
    assert!(ran.err.contains(odd) && ran.err.contains(low), "{}", ran.err);
    assert!(server.requests()[0].system_text().contains("- beta: [beta] Lints: all"));
    let lines = run(&setup, &[&always[..], &["--json", "go"]].concat()).lines();
    let notes: Vec<&str> = lines.iter().filter_map(|it| it["text"].as_str()).collect();
    assert!(notes.contains(&odd) && notes.contains(&low), "{notes:?}");
}

#[test]
fn the_answer_is_on_standard_output_and_all_else_on_standard_error() {
    let server = Server::start();
    server.reply(Reply::new().text("I look.").call("c1", "read", json!({ "path": "a.txt" })));
    server.reply(Reply::said("It says alpha."));
    let setup = setup(&server).file("a.txt", "alpha\n");
    let ran = run(&setup, &["what does a.txt say?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "It says alpha.\n"), "{}", ran.err);
    assert!(ran.err.contains("▸ read"), "{}", ran.err);
    let requests = server.requests();
    let first = requests[0].outline();
    assert!(first.contains("what does a.txt say?"), "{first}");
    assert!(first.contains("nobody answers questions"), "{first}");
    let tools = "read list glob grep edit write delete rename shell job job_input fetch todo ask plan skill comment task";
    assert_eq!(requests[0].tools().join(" "), tools);
    assert!(requests[1].answer("c1").contains("alpha"));
}

#[test]
fn an_edit_in_auto_edit_mode_is_on_disk_and_in_the_diff() {
    let server = Server::start();
    let edit = json!({ "path": "a.txt", "edits": [{ "old": "beta", "new": "gamma" }] });
    server.reply(Reply::new().call("c1", "edit", edit));
    server.reply(Reply::said("Done."));
    let setup = setup(&server).file("a.txt", "alpha\nbeta\n");
    let ran = run(&setup, &["--mode", "auto-edit", "go"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert_eq!(setup.on_disk("a.txt").unwrap(), "alpha\ngamma\n");
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n alpha\n-beta\n+gamma\n";
    assert!(ran.err.contains(diff), "{}", ran.err);
    assert!(ran.err.contains("Files    a.txt\n"), "{}", ran.err);
}

#[test]
fn outside_of_a_repository_the_files_that_commands_changed_are_named_with_their_diffs() {
    let server = Server::start();
    let command =
        "cp new a.txt; cp new b.txt; rm c.txt; cp new large.txt; touch -d 2001-01-01 same.txt";
    server.reply(Reply::new().call("c1", "shell", json!({ "command": command })));
    server.reply(Reply::said("Done."));
    let setup =
        setup(&server).file("a.txt", "alpha\n").file("c.txt", "gone\n").file("same.txt", "x\n");
    let setup = setup.file("new", "new\n").file("large.txt", "line\n".repeat(300_000));
    let ran = run(&setup, &["--config", &allowing(&setup), "--mode", "auto-edit", "--json", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let end = ran.lines().pop().unwrap();
    let files: Vec<String> =
        end["files"].as_array().unwrap().iter().map(Value::to_string).collect();
    expect![[r#"
        {"path":"a.txt","how":"changed","by_command":true,"diff":"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-alpha\n+new\n"}
        {"path":"b.txt","how":"added","by_command":true,"diff":"diff --git a/b.txt b/b.txt\nnew file mode 100644\n--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1,1 @@\n+new\n"}
        {"path":"c.txt","how":"deleted","by_command":true,"diff":"diff --git a/c.txt b/c.txt\ndeleted file mode 100644\n--- a/c.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone\n"}
        {"path":"large.txt","how":"changed","by_command":true,"diff":"","no_diff":"its earlier text was not kept"}"#]].assert_eq(&files.join("\n"));
}

/// A project with this many files in one folder.
fn with_files(setup: Setup, count: usize) -> Setup {
    let folder = setup.path("many");
    fs::create_dir(&folder).unwrap();
    for n in 0..count {
        fs::write(folder.join(n.to_string()), "").unwrap();
    }
    setup
}

/// A project in which git tracks this many files.
fn with_tracked(setup: Setup, count: usize) -> Setup {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(setup.path("")).stdin(Stdio::piped());
        git.spawn().unwrap()
    };
    assert!(git(&["init", "-q"]).wait().unwrap().success());
    let mut index = git(&["update-index", "--index-info"]);
    let mut input = index.stdin.take().unwrap();
    for n in 0..count {
        writeln!(input, "100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\t{n}").unwrap();
    }
    drop(input);
    assert!(index.wait().unwrap().success());
    setup
}

#[test]
fn a_diff_that_may_lack_changes_of_commands_says_why_in_the_summary_and_in_the_json() {
    let large =
        "The diff may lack changes made by commands: the project has more than 20,000 files";
    let not_listed = "The diff may lack files that commands created:";
    let many = "The diff may lack changes made by commands: a command changed more than 500 files";
    let plain: fn(Setup, usize) -> Setup = with_files;
    for (make, count, commands, said) in [
        (plain, 20_000, &["touch made", "touch again"][..], Some(large)),
        (with_tracked, 20_001, &["touch made"], Some(large)),
        (plain, 19_990, &["cp -r many copy"], Some(not_listed)),
        (plain, 501, &["cp -r many copy"], Some(many)),
        (plain, 10, &["cp -r many copy"], None),
    ] {
        let ran = |format: &[&str]| {
            let server = Server::start();
            for command in commands {
                server.reply(Reply::new().call("c1", "shell", json!({ "command": command })));
            }
            server.reply(Reply::said("Done."));
            let setup = make(setup(&server), count);
            let rules = allowing(&setup);
            let arguments = ["--config", &rules, "--mode", "auto-edit", "go"];
            run(&setup, &[format, &arguments].concat())
        };
        let end = ran(&["--json"]).lines().pop().unwrap();
        let gaps: Vec<&str> =
            end["gaps"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        assert_eq!(gaps.len(), usize::from(said.is_some()), "{count} files: {gaps:?}");
        assert!(gaps.iter().all(|it| it.starts_with(said.unwrap())), "{count} files: {gaps:?}");
        let summary = ran(&[]).err;
        let missing: Vec<&str> =
            summary.lines().filter_map(|it| it.strip_prefix("Note     ")).collect();
        assert_eq!(missing, gaps);
    }
}

#[test]
fn a_command_that_needs_consent_is_denied_and_the_exit_code_is_3() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", json!({ "command": "touch made" })));
    server.reply(Reply::said("I could not."));
    let setup = setup(&server);
    let ran = run(&setup, &["--mode", "auto-edit", "go"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, "I could not.\n"), "{}", ran.err);
    assert!(ran.err.contains("Denied   Run `touch made`?"), "{}", ran.err);
    let answer = server.requests()[1].answer("c1");
    assert!(answer.contains("nobody is here to answer"), "{answer}");
    assert!(answer.contains("Run `touch made`?"), "{answer}");
    assert_eq!(setup.on_disk("made"), None);
}

/// A command that has the terminal in which the run was started could read what is typed there.
#[test]
fn the_terminal_of_a_run_is_not_that_of_its_commands() {
    if !is_full() {
        return;
    }
    let server = Server::start();
    let command = "exec 3< /dev/tty && echo OPEN";
    server.reply(Reply::new().call("c1", "shell", json!({ "command": command })));
    server.reply(Reply::said("Done."));
    let setup = setup(&server);
    let run = setup.program(&["run", "--mode", "auto", "go"]);
    let words = std::iter::once(run.get_program()).chain(run.get_args());
    let line: Vec<String> = words.map(|it| format!("'{}'", it.display())).collect();
    let mut script = Command::new("script");
    script.args(["-qec", &line.join(" "), "/dev/null"]).stdin(Stdio::null()).env_clear();
    script.envs(run.get_envs().filter_map(|(name, it)| Some((name, it?))));
    let ran = Ran::of(script.current_dir(run.get_current_dir().unwrap()));
    assert_eq!(ran.code, 0, "{}", ran.out);
    let answer = server.requests()[1].answer("c1");
    assert!(answer.contains("/dev/tty: No such device or address"), "{answer}");
}

#[test]
fn with_json_standard_output_has_json_lines_only() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", json!({ "command": "touch made" })));
    server.reply(Reply::said("No \u{1b}[31m\u{9b}31m."));
    let ran = run(&setup(&server), &["--json", "go"]);
    assert_eq!((ran.code, ran.err.as_str()), (3, ""));
    assert!(!ran.out.contains(|c: char| c.is_control() && c != '\n'), "{:?}", ran.out);
    let lines = ran.lines();
    let kinds: Vec<&str> = lines.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds.first(), Some(&"start"));
    assert!(kinds.contains(&"denied"), "{kinds:?}");
    let end = lines.last().unwrap();
    assert_eq!(end["type"], "end");
    assert_eq!(end["exit_code"], 3);
    assert_eq!(end["answer"], "No \u{1b}[31m\u{9b}31m.");
}

#[test]
fn control_characters_of_the_model_reach_no_terminal() {
    let server = Server::start();
    let command = "touch \u{1b}]0;title\u{7}made \u{9b}31m";
    let hostile = "Look: \u{1b}[31m\u{9b}31m\u{1b}]52;c;eA==\u{7}\r\u{8}";
    server.reply(Reply::new().text(hostile).call("c1", "shell", json!({ "command": command })));
    server.reply(Reply::said(hostile));
    let ran = run(&setup(&server), &["go"]);
    assert_eq!(ran.code, 3);
    for output in [&ran.out, &ran.err] {
        assert!(output.contains("Look:"), "{output:?}");
        assert!(!output.contains(|c: char| c.is_control() && c != '\n'), "{output:?}");
    }
}

#[test]
fn with_wrong_arguments_the_run_ends_with_code_2_before_any_request() {
    let server = Server::start();
    for (arguments, why) in [
        (&["go", "on"][..], "there are several prompts"),
        (&[], "the prompt is missing"),
        (&["--mode", "wild", "go"], "the modes are plan, ask, auto-edit and auto"),
        (&["--limit-usd", "-1", "go"], "a number of US dollars above 0"),
        (&["--frob", "go"], "invalid option '--frob'"),
        (&["--session", "../x", "go"], "use 1 to 64 letters"),
        (&["--cwd", "/nowhere", "go"], "--cwd: "),
        (&["/help"], "sends no message to a model"),
        (&["--model", "nobody/x", "go"], "nobody"),
    ] {
        let ran = run(&setup(&server), arguments);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(why), "{arguments:?}: {}", ran.err);
    }
    assert_eq!(server.count(), 0);
}

/// Without an editor, only UTF-8 is read. The model hears that, and not that somebody should agree to the change.
#[test]
fn an_edit_of_a_file_in_another_encoding_is_refused_with_the_reason() {
    let server = Server::start();
    let edit = |path: &str| json!({ "path": path, "edits": [{ "old": "x", "new": "y" }] });
    server.reply(Reply::new().call("a", "edit", edit("latin.txt")).call(
        "b",
        "edit",
        edit("wide.txt"),
    ));
    server.reply(Reply::said("Done."));
    let setup = setup(&server)
        .file("latin.txt", b"caf\xe9\nx\n")
        .file("wide.txt", b"\xff\xfea\0\n\0x\0\n\0");
    let ran = run(&setup, &["--mode", "auto-edit", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!ran.err.contains("Denied"), "{}", ran.err);
    let requests = server.requests();
    for (id, name) in [("a", "latin.txt"), ("b", "wide.txt")] {
        let said = requests[1].answer(id);
        let why =
            format!("{name} was not changed: it is not UTF-8 text (it may be Latin-1 or UTF-16).");
        assert!(said.contains(&why), "{said}");
    }
}
