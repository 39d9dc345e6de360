pub mod arguments;
mod builtin;
mod files;
mod links;
mod own;
mod skill_files;

use super::*;
use crate::edit::Format;
use crate::event::{Access, Mode};
use crate::message::{CallId, Input, ToolAnswer, ToolCall};
use crate::policy::{Decision, decide};
use crate::reach::{Folders, Reading, Writing};
use expect_test::{Expect, expect};
use futures::FutureExt;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// A project on disk, and the messages that tools have sent through their channels.
pub struct Room {
    _dir: tempfile::TempDir,
    pub desk: Desk,
}

pub fn room() -> Room {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    let root = base.join("project");
    fs::create_dir(&root).unwrap();
    let home = base.join("home");
    let reach = path::reach(Folders {
        root: root.clone(),
        named: vec![(home.clone(), "~".to_owned())],
        own: vec![home.join(".config/caliban"), home.join(".local/share/caliban")],
        open: ["overflow", "home/.config/caliban/skills", "home/.agents/skills"]
            .map(|it| base.join(it))
            .to_vec(),
    });
    let desk = Desk {
        reach,
        rules: Arc::default(),
        confinement: confinement::Confinement::default(),
        jobs: jobs::Jobs::default(),
        workspace: Arc::new(disk::Disk { root: root.clone(), is_apart: false }),
        config: home.join(".config/caliban"),
        home: Some(home),
        output: mpsc::unbounded_channel().0,
        tools: own(),
        seen: None,
        agreed: None,
        skills: skills::Usable::All,
        secrets: environment::Secrets::default(),
        overflow: base.join("overflow"),
        program: PathBuf::new(),
        web: crate::web::Web::new(Vec::new(), PathBuf::new()),
        servers: crate::mcp::Servers::default(),
        root,
        session: String::new(),
        project: None,
    };
    Room { _dir: dir, desk }
}

impl Room {
    pub fn file(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.desk.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn clear(&self, text: &str) -> String {
        let base = self.desk.root.parent().unwrap().display().to_string();
        text.replace(&base, "BASE")
    }

    async fn run(&self, tool: &str, args: Value) -> ToolAnswer {
        let call = call(tool, args);
        let agreed = match access(&self.desk, &call) {
            Access::Guarded(it) => Some(it),
            _ => None,
        };
        run(&Desk { agreed, ..self.desk.clone() }, &call).await.answer
    }

    async fn check(&self, tool: &str, all: &[Value], expect: &Expect) {
        let mut said = String::new();
        for args in all {
            let answer = self.run(tool, args.clone()).await;
            let failed = if answer.failed { "! " } else { "" };
            let text = answer.text.trim_end_matches('\n');
            said += &[&format!("> {args}\n{failed}({})\n", answer.summary), text, "\n"].concat();
        }
        expect.assert_eq(&self.clear(&said));
    }

    fn planned(&self, all: &[(&str, Value)], expect: &Expect) {
        let mut said = String::new();
        for (tool, args) in all {
            let planned = match access(&self.desk, &call(tool, args.clone())) {
                Access::Never(said) | Access::Invalid(said) => format!("Refused: {said}"),
                access => match question(&access) {
                    Some(asked) => format!("{access:?} {asked:?}"),
                    None => format!("{access:?}"),
                },
            };
            said += &[&format!("> {tool} {args}\n"), planned.as_str(), "\n"].concat();
        }
        expect.assert_eq(&self.clear(&said));
    }
}

/// The question that the user is asked before a call with this access runs.
fn question(access: &Access) -> Option<String> {
    match decide(Mode::Ask, &[], &crate::rules::Judgement::default(), access) {
        Decision::Ask(question) => question.text(),
        Decision::Allow | Decision::Deny(_) => None,
    }
}

/// Reads a call, as the agent does when a reply is complete.
fn read(desk: &Desk, call: &ToolCall) -> Call {
    Call::read(desk, call, &BTreeMap::new())
}

/// The access that a call needs.
pub fn access(desk: &Desk, call: &ToolCall) -> Access {
    read(desk, call).access
}

/// Reads and runs a call.
async fn run(desk: &Desk, call: &ToolCall) -> Ran {
    super::run(desk, &read(desk, call)).await
}

fn call(tool: &str, args: Value) -> ToolCall {
    ToolCall { id: CallId("c1".into()), tool: tool.into(), input: Input::Json(args) }
}

#[test]
fn each_edit_format_has_its_tools_in_a_fixed_order() {
    let edits =
        [(Format::Replace, "edit write"), (Format::Patch, "apply_patch"), (Format::Whole, "write")];
    for (format, edits) in edits {
        let specs = own().specs(format);
        let names: Vec<&str> = specs.iter().map(|spec| &*spec.name).collect();
        let looks = "read list glob grep diagnostics definition references hover symbols";
        assert_eq!(
            names.join(" "),
            format!(
                "{looks} {edits} delete rename rename_symbol code_action format shell job job_input fetch todo ask plan skill comment task"
            )
        );
    }
}

/// A tool that is defined while the program runs.
fn shout() -> Tool {
    Tool {
        name: "shout".into(),
        purpose: "Says it louder.".into(),
        schema: json!({
            "type": "object",
            "properties": { "text": { "type": "string" } },
            "required": ["text"]
        }),
        author: Author::Known,
        work: Work::own(|_, args: Value| {
            let text = args["text"].as_str().unwrap_or_default().to_uppercase();
            std::future::ready(Ok(Done::new(text, "louder"))).boxed()
        }),
    }
}

/// A tool that is defined while the program runs, the tools of plan mode, and the tools of a worker are values of the
/// same type: the same code offers, checks and runs them.
#[tokio::test]
async fn built_in_tools_and_tools_defined_at_run_time_are_offered_checked_and_run_alike() {
    let mut room = room();
    room.file("a.txt", "alpha\n");
    let looks = |it: &Tool| matches!(it.work, Work::Read { .. });
    let calls = [
        ("read", json!({ "path": "a.txt" })),
        ("delete", json!({ "path": "a.txt" })),
        ("shout", json!({ "text": "hey" })),
        ("shout", json!({})),
    ];
    let mut said = String::new();
    for (whose, tools) in [
        ("a conversation", own().with(shout())),
        ("a mode that looks", own().only(looks)),
        ("a worker", own().only(|it| it.name == "read")),
    ] {
        room.desk.tools = tools;
        let names: Vec<String> =
            room.desk.tools.specs(Format::Whole).into_iter().map(|it| it.name).collect();
        said += &format!("{whose}: {}\n", names.join(" "));
        for (tool, args) in &calls {
            let call = call(tool, args.clone());
            let step = match access(&room.desk, &call) {
                Access::Invalid(said) => said.lines().next().unwrap_or_default().to_owned(),
                Access::Edit { paths } => format!("edits {}", paths.join(" ")),
                _ => run(&room.desk, &call).await.answer.text.trim().replace('\t', " "),
            };
            said += &format!("  {tool} {args}: {step}\n");
        }
    }
    expect![[r#"
        a conversation: read list glob grep diagnostics definition references hover symbols write delete rename rename_symbol code_action format shell job job_input fetch todo ask plan skill comment task shout
          read {"path":"a.txt"}: 1 alpha
          delete {"path":"a.txt"}: edits a.txt
          shout {"text":"hey"}: HEY
          shout {}: The arguments are not valid for the tool `shout`, so nothing was done.
        a mode that looks: read list glob grep diagnostics definition references hover symbols comment
          read {"path":"a.txt"}: 1 alpha
          delete {"path":"a.txt"}: There is no tool `delete`. The tools are: read, list, glob, grep, diagnostics, definition, references, hover, symbols, comment.
          shout {"text":"hey"}: There is no tool `shout`. The tools are: read, list, glob, grep, diagnostics, definition, references, hover, symbols, comment.
          shout {}: There is no tool `shout`. The tools are: read, list, glob, grep, diagnostics, definition, references, hover, symbols, comment.
        a worker: read
          read {"path":"a.txt"}: 1 alpha
          delete {"path":"a.txt"}: There is no tool `delete`. The tools are: read.
          shout {"text":"hey"}: There is no tool `shout`. The tools are: read.
          shout {}: There is no tool `shout`. The tools are: read.
    "#]].assert_eq(&room.clear(&said));
}

/// The rules apply to a file, however many symbolic links lead to it and whatever their names are.
#[test]
fn symbolic_links_do_not_change_which_files_may_be_read_or_edited() {
    let room = room();
    let base = room.desk.root.parent().unwrap().to_owned();
    let link =
        |to: &str, from: &str| std::os::unix::fs::symlink(to, room.desk.root.join(from)).unwrap();
    room.file(".env", "KEY=1\n");
    room.file("deep/down/a.txt", "");
    room.file(".git/config", "");
    for (to, from) in [
        (".env", "plain"),
        ("plain", "again"),
        ("../.env", "deep/up"),
        (".", "here"),
        ("deep/down", "far"),
        ("here/again", "through"),
        ("absent/../.env", "crooked"),
        ("gone/.env", "dangling"),
        (".git", "folder"),
        ("folder/config", "second"),
        ("second", "third"),
    ] {
        link(to, from);
    }
    link(&base.join("home/.ssh").display().to_string(), "keys");
    let ruling = |written: &str| path::lead(&room.desk, written).map(|it| (it.reading, it.writing));
    let (env, git) = (ruling(".env").unwrap(), ruling(".git/config").unwrap());
    assert!(
        matches!(env.0, Reading::Asked(_)) && matches!(git, (Reading::Never(_), Writing::Never(_)))
    );
    let uri = format!("file://{}/%2eenv", room.desk.root.display());
    for written in [
        "plain",
        "again",
        "deep/up",
        "here/plain",
        "here/here/again",
        "through",
        "./deep/../AGAIN/../again",
        "dangling",
        "crooked",
        &uri,
    ] {
        assert_eq!(ruling(written), Ok(env), "{written}");
    }
    for written in [
        "second",
        "third",
        "folder/config",
        "here/folder/../folder/config",
        "folder/new",
        "here/.Git/x",
    ] {
        assert_eq!(ruling(written), Ok(git), "{written}");
    }
    assert!(matches!(ruling("keys/id_rsa"), Ok((Reading::Asked(_), Writing::Reviewed(_)))));
    assert_eq!(ruling("far/a.txt"), Ok((Reading::Free, Writing::Free)));
}

#[test]
fn the_access_that_a_valid_call_needs_is_determined() {
    let room = room();
    room.file("a.rs", "a\n");
    let all = [
        ("read", json!({ "path": "a.rs" })),
        ("read", json!({ "path": "a.rs", "offset": "3", "limit": null, "reason": 1 })),
        ("read", json!("{\"path\": \"a.rs\"}")),
        ("list", Value::Null),
        ("edit", json!({ "path": "a.rs", "edits": "[{\"old\": \"a\", \"new\": \"b\"}]" })),
        ("shell", json!({ "command": "git status" })),
        ("shell", json!({ "command": "echo a\u{1b}[8m\nrm x\n" })),
    ];
    room.planned(
        &all,
        &expect![[r#"
            > read {"path":"a.rs"}
            Read
            > read {"path":"a.rs","offset":"3","limit":null,"reason":1}
            Read
            > read "{\"path\": \"a.rs\"}"
            Read
            > list null
            Read
            > edit {"path":"a.rs","edits":"[{\"old\": \"a\", \"new\": \"b\"}]"}
            Edit { paths: ["a.rs"] }
            > shell {"command":"git status"}
            Act { command: "git status", outside: None, background: false, hosts: [], unlocked: [] } "Run `git status`?"
            > shell {"command":"echo a\u001b[8m\nrm x\n"}
            Act { command: "echo a\u{1b}[8m\nrm x\n", outside: None, background: false, hosts: [], unlocked: [] } "Run this?\necho a[U+001B][8m\nrm x"
        "#]],
    );
    let hidden = call("shell", json!({ "command": "ls \u{202e}x\u{200b}" }));
    let asked = question(&access(&room.desk, &hidden));
    assert_eq!(asked.unwrap(), "Run `ls [U+202E]x[U+200B]`?");
}

#[test]
fn an_edit_names_each_file_that_it_would_change() {
    let room = room();
    room.file("a.rs", "a\n");
    let paths = |tool, args| match access(&room.desk, &call(tool, args)) {
        Access::Edit { paths } => paths.join(" "),
        access => panic!("{access:?}"),
    };
    let edit = |path: &str, old: &str| json!({ "path": path, "old": old, "new": "b" });
    let edits = [edit("a.rs", "a"), edit("new/b\\c.rs", ""), edit("./a.rs", "b")];
    assert_eq!(paths("edit", json!({ "edits": edits })), r"a.rs new/b\\c.rs");
    assert_eq!(paths("rename", json!({ "path": "a.rs", "to": "new/b.rs" })), "a.rs new/b.rs");
    let symbol = json!({ "path": "a.rs", "line": 1, "symbol": "a", "name": "b" });
    assert_eq!(paths("rename_symbol", symbol), "a.rs");
}

#[test]
fn the_answer_to_a_call_that_does_not_fit_its_schema_names_the_wrong_argument() {
    let room = room();
    let all = [
        ("read", json!({})),
        ("read", json!({ "path": 7, "offset": 0, "limit": "x" })),
        ("edit", json!({ "path": "a.rs", "edits": [{ "old": 1 }] })),
        ("edit", json!({ "path": "a.rs", "edits": [] })),
        (
            "edit",
            json!({ "edits": [{ "path": "a.rs", "old": "", "new": "" }, { "old": "", "new": "" }] }),
        ),
        ("shell", json!({ "command": "x", "timeout_s": 9999 })),
        ("Bash", json!({})),
        ("read_file", json!({})),
        ("quux", json!({})),
    ];
    room.planned(&all, &expect![[r#"
        > read {}
        Refused: The arguments are not valid for the tool `read`, so nothing was done.
        $.path: expected string, got nothing
        Required: path. Known: path, offset, limit.
        Example: {"path":"src/main.rs","offset":200,"limit":100}
        > read {"path":7,"offset":0,"limit":"x"}
        Refused: The arguments are not valid for the tool `read`, so nothing was done.
        $.path: expected string, got number 7
        $.offset: expected at least 1, got 0
        $.limit: expected integer, got string "x"
        Required: path. Known: path, offset, limit.
        Example: {"path":"src/main.rs","offset":200,"limit":100}
        > edit {"path":"a.rs","edits":[{"old":1}]}
        Refused: The arguments are not valid for the tool `edit`, so nothing was done.
        $.edits[0].old: expected string, got number 1
        Required in $.edits[0]: old. Known: path, old, new, new_from, everywhere.
        Example: {"path":"a.rs","edits":[{"old":"let a = 1;","new":"let a = 2;"}]}
        > edit {"path":"a.rs","edits":[]}
        Refused: The arguments are not valid for the tool `edit`, so nothing was done.
        $.edits: expected at least 1, got 0
        Required: edits. Known: path, edits.
        Example: {"path":"a.rs","edits":[{"old":"let a = 1;","new":"let a = 2;"}]}
        > edit {"edits":[{"path":"a.rs","old":"","new":""},{"old":"","new":""}]}
        Refused: The arguments are not valid for the tool `edit`, so nothing was done.
        $.edits[1].path: expected the file's path, here or in `path`
        Required in $.edits[1]: old. Known: path, old, new, new_from, everywhere.
        Example: {"path":"a.rs","edits":[{"old":"let a = 1;","new":"let a = 2;"}]}
        > shell {"command":"x","timeout_s":9999}
        Refused: The arguments are not valid for the tool `shell`, so nothing was done.
        $.timeout_s: expected at most 600, got 9999
        Required: command. Known: command, background, terminal, hosts, outside_sandbox, timeout_s.
        Example: {"command":"cargo test","timeout_s":300}
        > Bash {}
        Refused: There is no tool `Bash`. Did you mean `shell`? The tools are: read, list, glob, grep, diagnostics, definition, references, hover, symbols, edit, write, apply_patch, delete, rename, rename_symbol, code_action, format, shell, job, job_input, fetch, todo, ask, plan, skill, comment, task.
        > read_file {}
        Refused: There is no tool `read_file`. Did you mean `read`? The tools are: read, list, glob, grep, diagnostics, definition, references, hover, symbols, edit, write, apply_patch, delete, rename, rename_symbol, code_action, format, shell, job, job_input, fetch, todo, ask, plan, skill, comment, task.
        > quux {}
        Refused: There is no tool `quux`. The tools are: read, list, glob, grep, diagnostics, definition, references, hover, symbols, edit, write, apply_patch, delete, rename, rename_symbol, code_action, format, shell, job, job_input, fetch, todo, ask, plan, skill, comment, task.
    "#]]);
}

#[test]
fn the_answer_to_a_call_with_broken_json_says_where_the_json_breaks() {
    let room = room();
    let said = |text: &str| {
        let why = serde_json::from_str::<Value>(text).unwrap_err().to_string();
        let input = Input::Broken { text: text.into(), why };
        match access(&room.desk, &ToolCall { input, ..call("write", json!({})) }) {
            Access::Never(said) | Access::Invalid(said) => said,
            access => panic!("{access:?}"),
        }
    };
    expect!["Your call of write was cut off after 26 bytes of its arguments, so nothing was done. Send it again in smaller pieces."].assert_eq(&said("{\"path\": \"a\", \"text\": \"abc"));
    expect!["The arguments of your call of write are not JSON, so nothing was done: key must be a string at line 1 column 2. Send the call again."].assert_eq(&said("{path: 1}"));
}

fn linked() -> Room {
    let room = room();
    room.file("src/a.rs", "a\n");
    room.file(".git/config", "");
    room.file("../outside.txt", "secret\n");
    room.file("../overflow/kept.txt", "rest\n");
    let links = [
        ("../outside.txt", "link"),
        ("../not-yet", "dangling"),
        ("loop", "loop"),
        (".git", "dotgit"),
    ];
    for (target, name) in links {
        std::os::unix::fs::symlink(target, room.desk.root.join(name)).unwrap();
    }
    room
}

#[test]
fn paths_are_resolved_through_dots_the_home_folder_and_links() {
    let room = linked();
    let path = |written: &str| {
        let found = path::resolve(&room.desk, written);
        room.clear(&found.map_or_else(|said| said, |path| path.display().to_string()))
    };
    for (written, wanted) in [
        ("src/../src/./a.rs", "BASE/project/src/a.rs"),
        ("../project/src/new/b.rs", "BASE/project/src/new/b.rs"),
        ("~/x", "BASE/home/x"),
        ("~", "BASE/home"),
        ("~x", "BASE/project/~x"),
        ("file:///etc/a%20b", "/etc/a b"),
        ("link", "BASE/outside.txt"),
        ("dangling", "BASE/not-yet"),
        ("loop", "path: `loop` is a loop of symlinks."),
        ("/../..", "/"),
        ("", "path: expected a path relative to the project, or absolute."),
    ] {
        assert_eq!(path(written), wanted, "{written}");
    }
    assert_eq!(path::show(&room.desk.root, &room.desk.root.join("src/a.rs")), "src/a.rs");
    assert_eq!(path::show(&room.desk.root, &room.desk.root), ".");
}

#[test]
fn edits_outside_the_project_are_refused_and_reads_there_need_consent() {
    let room = linked();
    let write = |path: &str| ("write", json!({ "path": path, "text": "x" }));
    let all = [
        write("new/file.rs"),
        write("link"),
        write("dangling"),
        write("dotgit/hooks/x"),
        write(".GIT/config"),
        write("src"),
        ("read", json!({ "path": "link" })),
        ("grep", json!({ "pattern": "x", "path": ".." })),
        ("read", json!({ "path": room.desk.overflow.join("kept.txt") })),
    ];
    room.planned(
        &all,
        &expect![[r#"
            > write {"path":"new/file.rs","text":"x"}
            Edit { paths: ["new/file.rs"] }
            > write {"path":"link","text":"x"}
            Refused: path: `link` is outside the project (BASE/project). Only files in the project can be edited.
            > write {"path":"dangling","text":"x"}
            Refused: path: `dangling` is outside the project (BASE/project). Only files in the project can be edited.
            > write {"path":"dotgit/hooks/x","text":"x"}
            Refused: path: `dotgit/hooks/x` is in .git, which no tool reads or writes. Run git with `shell`, which needs consent.
            > write {"path":".GIT/config","text":"x"}
            Refused: path: `.GIT/config` is in .git, which no tool reads or writes. Run git with `shell`, which needs consent.
            > write {"path":"src","text":"x"}
            Refused: path: `src` is a folder. Name a file.
            > read {"path":"link"}
            Guarded(Guarded { tool: "read", path: "BASE/outside.txt", is_outside: true, why: None, others: [] }) "Let read look at `BASE/outside.txt`, outside the project?"
            > grep {"pattern":"x","path":".."}
            Guarded(Guarded { tool: "grep", path: "BASE", is_outside: true, why: None, others: [] }) "Let grep look at `BASE`, outside the project?"
            > read {"path":"BASE/overflow/kept.txt"}
            Read
        "#]],
    );
}
