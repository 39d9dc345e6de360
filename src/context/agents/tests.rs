//! Tests which texts are agents, and what each field of their front matter means.

use super::*;
use crate::event::Mode;
use crate::tool::tests::{Room, room};
use expect_test::{Expect, expect};
use rustix::fs::{CWD, Mode as Bits, mkfifoat};
use std::fs;
use std::os::unix::fs::symlink;

fn told(room: &Room) -> String {
    let agents = load(&room.desk);
    let mut told = String::new();
    for it in agents.iter() {
        let of = if it.origin == Origin::User { "user" } else { "project" };
        told += &format!("{} ({of}, {}:{})", it.name, room.desk.shown(&it.path), it.line);
        told += &format!(": {}\n", it.description);
        for (name, value) in [
            ("tools", it.tools.as_ref().map(|it| it.join(", "))),
            ("model", it.model.clone()),
            ("mode", it.mode.map(|it| it.name().to_owned())),
            ("requests", it.requests.map(|it| it.to_string())),
            ("tokens", it.tokens.map(|it| it.to_string())),
            ("usd", it.usd.map(|it| it.to_string())),
        ] {
            told += &value.map(|it| format!("  {name}: {it}\n")).unwrap_or_default();
        }
        told += &format!("  {:?}\n", it.prompt);
        told.extend(it.problems.iter().map(|it| format!("  ! {it}\n")));
    }
    told.extend(agents.problems.iter().map(|it| format!("! {it}\n")));
    told
}

/// Compares what is known of the agent in a file with this text.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(text: &str, expect: Expect) {
    let room = room();
    room.file(".caliban/agents/it.md", text);
    expect.assert_eq(&told(&room));
}

#[test]
fn the_fields_of_an_agent_are_read_by_the_names_of_caliban_and_of_claude_code() {
    check(
        "---\nname: reviewer\ndescription: Reviews\n  diffs\ntools: read, grep, shell(git diff)\nmodel: openai/gpt-5\n\
         mode: plan\nmax_turns: 12\nmax_tokens: 200000\nmax_usd: 0.5\nthinking: off\n---\n\nYou review.\n\n# Rules\n",
        expect![[r#"
            reviewer (project, .caliban/agents/it.md:1): Reviews diffs
              tools: read, grep, shell(git diff)
              model: openai/gpt-5 thinking=off
              mode: plan
              requests: 12
              tokens: 200000
              usd: 0.5
              "You review.\n\n# Rules"
        "#]],
    );
    check(
        "---\nname: reviewer\ndescription: \"Reviews: diffs\"\ntools:\n  - Read\n  - Bash\n  - Edit\nmodel: inherit\n\
         permissionMode: acceptEdits\nmaxTurns: \"3\"\neffort: high\ncolor: red\n---\nYou.",
        expect![[r#"
            reviewer (project, .caliban/agents/it.md:1): Reviews: diffs
              tools: read, shell, edit, apply_patch, rename_symbol, job, job_input
              model: thinking=high
              mode: auto-edit
              requests: 3
              "You."
        "#]],
    );
    check(
        "---\ndisallowedTools: Bash, WebSearch, Bash(rm:*)\n---\n",
        expect![[r#"
            it (project, .caliban/agents/it.md:1): 
              tools: read, list, glob, grep, diagnostics, definition, references, hover, symbols, edit, write, apply_patch, delete, rename, rename_symbol, code_action, format, job, job_input, fetch, todo, ask, plan, skill, comment, task
              ""
        "#]],
    );
    check(
        "---\ntools: read, apply_patch\ndisallowedTools: edit\n---\nX",
        expect![[r#"
            it (project, .caliban/agents/it.md:1): 
              tools: read
              "X"
        "#]],
    );
    check(
        "---\ntools: Read, Grep, Write\ndisallowedTools: [Write]\n---\nX",
        expect![[r#"
        it (project, .caliban/agents/it.md:1): 
          tools: read, grep
          "X"
    "#]],
    );
    check(
        "---\n---\nX",
        expect![[r#"
        it (project, .caliban/agents/it.md:1): 
          "X"
    "#]],
    );
}

#[test]
fn a_field_that_cannot_be_applied_is_named_with_its_file_and_line() {
    check(
        "---\nname: it\ntools: Read, NotebookEdit, mcp__git__log\nmodel: sonnet\nmode: bypassPermissions\nmax_turns: 0\n\
         max-tokens: many\nmax_usd: -1\nthinking: loud\nhooks:\n  x: y\nmodle: x\ntemper: \"x\"\n---\nX",
        expect![[r#"
            it (project, .caliban/agents/it.md:1): 
              tools: read
              model: sonnet
              "X"
              ! `.caliban/agents/it.md`, line 3: Caliban has no such tool, or cannot apply the limit in brackets, in `tools`: `NotebookEdit`, `mcp__git__log`.
              ! `.caliban/agents/it.md`, line 5: `mode` has to be plan, ask, auto-edit or auto, and was ignored.
              ! `.caliban/agents/it.md`, line 6: `max_turns` has to be a number of requests above 0, and was ignored.
              ! `.caliban/agents/it.md`, line 7: `max-tokens` has to be a number of tokens above 0, and was ignored.
              ! `.caliban/agents/it.md`, line 8: `max_usd` has to be an amount of money above 0, and was ignored.
              ! `.caliban/agents/it.md`, line 9: `thinking` has to be off, low, medium, high or max, and was ignored.
              ! `.caliban/agents/it.md`, line 10: Caliban does not apply `hooks`. The agent works without it.
              ! `.caliban/agents/it.md`, line 12: `modle` is not a field of an agent and was ignored. Did you mean `mode`?
              ! `.caliban/agents/it.md`, line 13: `temper` is not a field of an agent and was ignored.
        "#]],
    );
    check(
        "---\ntools: 7\nmodel: a b\n---\nX",
        expect![[r#"
        it (project, .caliban/agents/it.md:1): 
          tools: 
          "X"
          ! `.caliban/agents/it.md`, line 2: `tools` has to be a list of tools. The agent has no tools.
          ! `.caliban/agents/it.md`, line 3: Name one model, not both a and b. The agent has the conversation's model.
    "#]],
    );
    check(
        "---\ntools: []\nmodel: \"a\\nb=c\"\n---\nX",
        expect![[r#"
        it (project, .caliban/agents/it.md:1): 
          tools: 
          "X"
          ! `.caliban/agents/it.md`, line 3: A model has no setting called b. The settings are: thinking, temperature, max_output. The agent has the conversation's model.
    "#]],
    );
    check(
        "---\ndescription: a\u{200b}b\n---\nfirst\nsecond\u{1b}[2J\u{202e}\n",
        expect![[r#"
        it (project, .caliban/agents/it.md:1): a[U+200B]b
          "first\nsecond[U+001B][2J[U+202E]"
          ! `.caliban/agents/it.md`, line 2: the agent's text contains 3 invisible characters. The model sees them as [U+…].
    "#]],
    );
}

#[test]
fn a_file_that_is_no_agent_is_reported_and_left_out() {
    let room = room();
    let at = |name: &str| room.desk.root.join(".claude/agents").join(name);
    room.file(".claude/agents/plain.md", "You review.");
    room.file(".claude/agents/yaml.md", "---\nname: x\ndescription: \"x\n---\nX");
    room.file(".claude/agents/slash.md", "---\nname: ../x\n---\nX");
    room.file(".claude/agents/lines.md", "---\nname: \"a\\nb\\e[2J\"\n---\nX");
    room.file(".claude/agents/two words.md", "---\nmode: plan\n---\nX");
    room.file(".claude/agents/long.md", format!("---\nname: {}\n---\nX", "x".repeat(65)));
    room.file(".claude/agents/large.md", format!("---\nx: {}\n---\nX", "x".repeat(1 << 20)));
    room.file(".claude/agents/deep.md", format!("---\nx: {}\n---\nX", "[".repeat(60_000)));
    let alias = |n| format!("a{n}: &a{n} [*a{0}, *a{0}]", n - 1);
    let aliases = (1..40).map(alias).collect::<Vec<_>>().join("\n");
    room.file(".claude/agents/alias.md", format!("---\na0: &a0 [x, x]\n{aliases}\n---\nX"));
    room.file(".claude/agents/twice.md", "---\nname: a\nname: b\n---\nX");
    room.file(".claude/agents/list.md", "---\n- a\n---\nX");
    room.file(".claude/agents/binary.md", b"---\0");
    room.file(".claude/agents/.hidden.md", "---\n---\nX");
    room.file("../home/secret.md", "---\nname: secret\n---\nX");
    room.file(".env.md", "---\nname: env\n---\nX");
    symlink(room.desk.root.join("../home/secret.md"), at("out.md")).unwrap();
    symlink(room.desk.root.join(".env.md"), at("env.md")).unwrap();
    symlink("gone", at("broken.md")).unwrap();
    symlink(".", at("circle")).unwrap();
    mkfifoat(CWD, at("pipe.md"), Bits::RUSR | Bits::WUSR).unwrap();
    expect![[r#"
        ! `.claude/agents/alias.md`, line 1: the front matter is not YAML (line 17 column 18: budget breached: Nodes { nodes: 250001 }). It was left out.
        ! `.claude/agents/binary.md` is a binary file. It was left out.
        ! `.claude/agents/broken.md` is a broken link. It was left out.
        ! `.claude/agents/deep.md`, line 1: the front matter is not YAML (line 2 column 259: recursion limit exceeded). It was left out.
        ! `.claude/agents/env.md` leads to a file that Caliban does not read without asking you. It was left out.
        ! `.claude/agents/large.md` has 1025 kB, but an agent's file may have at most 64: move parts of it into other files. It was left out.
        ! `.claude/agents/lines.md`, line 2: "a\nb\u{1b}[2J" cannot be the name of an agent. Use 1 to 64 letters, digits, `-` and `_`. It was left out.
        ! `.claude/agents/list.md`, line 1: the front matter is not YAML (line 2 column 1: expected mapping start). It was left out.
        ! `.claude/agents/long.md`, line 2: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" cannot be the name of an agent. Use 1 to 64 letters, digits, `-` and `_`. It was left out.
        ! `.claude/agents/out.md` leads out of the project. It was left out.
        ! `.claude/agents/pipe.md` cannot be read: it is a device, a pipe or a socket. It was left out.
        ! `.claude/agents/plain.md`, line 1: an agent needs front matter between two lines `---` here. It was left out.
        ! `.claude/agents/slash.md`, line 2: "../x" cannot be the name of an agent. Use 1 to 64 letters, digits, `-` and `_`. It was left out.
        ! `.claude/agents/twice.md`, line 1: the front matter is not YAML (line 3 column 1: duplicate mapping key: name, set DuplicateKeyPolicy in Options if acceptable). It was left out.
        ! `.claude/agents/two words.md`, line 1: "two words" cannot be the name of an agent. Use 1 to 64 letters, digits, `-` and `_`. It was left out.
        ! `.claude/agents/yaml.md`, line 1: the front matter is not YAML (line 3 column 14: unclosed quote). It was left out.
    "#]].assert_eq(&told(&room));
}

#[test]
fn an_agent_with_the_name_of_an_earlier_one_is_left_out_and_reported() {
    let room = room();
    room.file(".caliban/agents/a.md", "---\nname: both\n---\nThe project's.");
    room.file(".caliban/agents/deep/er/c.md", "---\n---\nC.");
    room.file(".claude/agents/b.md", "---\nname: both\n---\nAnother.");
    room.file("../home/.config/caliban/agents/z.md", "---\nname: both\n---\nThe user's.");
    room.file("../home/.config/caliban/agents.md", "# listed\n---\n---\nThe user's.");
    room.file("../home/.claude/agents/y.md", "---\n---\nY.");
    symlink(room.desk.root.join(".caliban/agents/deep/er/c.md"), {
        room.desk.root.join(".claude/agents/c.md")
    })
    .unwrap();
    expect![[r#"
        both (user, ~/.config/caliban/agents/z.md:1): 
          "The user's."
        y (user, ~/.claude/agents/y.md:1): 
          "Y."
        listed (user, ~/.config/caliban/agents.md:1): 
          "The user's."
        c (project, .caliban/agents/deep/er/c.md:1): 
          "C."
        ! `.caliban/agents/a.md`, line 1: your agent in `~/.config/caliban/agents/z.md` has the same name, `both`. That one is used; this one was left out.
        ! `.claude/agents/b.md`, line 1: your agent in `~/.config/caliban/agents/z.md` has the same name, `both`. That one is used; this one was left out.
    "#]].assert_eq(&told(&room));
}

#[test]
fn a_list_has_several_agents_each_below_its_heading() {
    let room = room();
    room.file(
        ".caliban/agents.md",
        "# The agents of this project\n\nFor people.\n\n# reviewer\n\n---\ndescription: Reviews\n# a remark\n---\n\n\
         You review.\n\n# Rules\n\n```\n# no-agent\n---\n---\n```\n\n# writer\n---\nname: other\nmode: loud\n---\nYou \
         write.\n\n# ../x\n---\n---\nX\n# yaml\n---\nx: [\n---\nX\n# writer\n---\n---\nAgain.\n# open\n---\nX",
    );
    expect![[r#"
        reviewer (project, .caliban/agents.md:5): Reviews
          "You review.\n\n# Rules\n\n```\n# no-agent\n---\n---\n```"
        writer (project, .caliban/agents.md:22): 
          "You write."
          ! `.caliban/agents.md`, line 24: the field `name` is ignored: the agent's name is `writer`.
          ! `.caliban/agents.md`, line 25: `mode` has to be plan, ask, auto-edit or auto, and was ignored.
        ! `.caliban/agents.md`, line 29: "../x" cannot be the name of an agent. Use 1 to 64 letters, digits, `-` and `_`. It was left out.
        ! `.caliban/agents.md`, line 34: the front matter is not YAML (line 35 column 4: unclosed bracket '['). It was left out.
        ! `.caliban/agents.md`, line 38: the agent in `.caliban/agents.md` has the same name, `writer`. That one is used; this one was left out.
        ! `.caliban/agents.md`, line 43: an agent needs front matter between two lines `---` here. It was left out.
    "#]].assert_eq(&told(&room));
}

#[test]
fn upper_and_lower_case_distinguish_instructions_from_a_list_of_agents() {
    let room = room();
    room.file(".caliban/AGENTS.md", "# x\n---\n---\nBe kind.");
    room.file("../home/.config/caliban/AGENTS.md", "# y\n---\n---\nBe kind.");
    assert_eq!(told(&room), "");
    assert!(!is_list(&room.desk.root.join(".caliban/AGENTS.md"), false));
    fs::remove_file(room.desk.root.join(".caliban/AGENTS.md")).unwrap();
    room.file(".caliban/agents.md", "# x\n---\n---\nX");
    // this is the path by which a file system that ignores upper and lower case opens the list
    assert!(is_list(&room.desk.root.join(".caliban/AGENTS.md"), false));
    room.file("agents.md", "Be kind.");
    assert!(!is_list(&room.desk.root.join("AGENTS.md"), false));
    assert!(is_list(&room.desk.root.join("AGENTS.md"), true));
}

#[test]
fn an_empty_list_is_reported() {
    let room = room();
    room.file(".caliban/agents.md", "---\nname: x\n---\nX");
    expect![[r#"
        ! `.caliban/agents.md` has no agents: each begins with a line `# name`, then front matter between two lines `---`.
    "#]].assert_eq(&told(&room));
}

#[test]
fn an_agent_narrows_tools_and_mode_and_widens_neither() {
    let room = room();
    room.file(".caliban/agents/a.md", "---\ntools: Read, Bash(git diff:*)\nmode: auto\n---\nX");
    let agents = load(&room.desk);
    let agent = agents.find("a").unwrap();
    let tools = agent.narrow(&room.desk.tools);
    assert_eq!(tools.names().collect::<Vec<_>>(), ["read", "shell"]);
    assert_eq!(agent.mode_within(Mode::Ask), Mode::Ask);
    assert_eq!(agent.mode_within(Mode::Auto), Mode::Auto);
    let plain = NamedAgent { tools: None, mode: Some(Mode::Plan), ..agent.clone() };
    assert_eq!(plain.narrow(&tools).names().count(), 2);
    assert_eq!(plain.mode_within(Mode::Auto), Mode::Plan);
}

#[test]
fn an_agent_is_found_by_its_exact_name_and_a_similar_one_is_suggested() {
    let room = room();
    let said = |name: &str| load(&room.desk).get(name).map(|it| it.name.clone());
    expect!["There is no agent `x`. There are no agents at all: `:help caliban-agents`."]
        .assert_eq(&said("x").unwrap_err());
    room.file(".caliban/agents/reviewer.md", "---\n---\nX");
    room.file(".caliban/agents/writer.md", "---\n---\nX");
    assert_eq!(said("reviewer").unwrap(), "reviewer");
    expect!["There is no agent `reviwer`. Did you mean `reviewer`?"]
        .assert_eq(&said("reviwer").unwrap_err());
    expect!["There is no agent `a b[U+001B]`. The agents are: reviewer, writer."]
        .assert_eq(&said("a\nb\u{1b}").unwrap_err());
}

const HELP: &str = include_str!("../../../doc/caliban.txt");

/// The first example below a tag of the help, without its indentation.
fn example(tag: &str) -> String {
    let below = HELP.split_once(tag).unwrap().1.split_once(" >\n").unwrap().1;
    let lines = below.split_once("\n<").unwrap().0.lines();
    let lines: Vec<&str> = lines.map(|it| it.strip_prefix("        ").unwrap_or(it)).collect();
    lines.join("\n")
}

#[test]
fn the_examples_of_the_help_are_agents_without_problems() {
    let room = room();
    room.file("../home/.config/caliban/agents/reviewer.md", example("*caliban-agents*"));
    room.file(".caliban/agents.md", example("*caliban-agents.md*"));
    let agents = load(&room.desk);
    let found = agents.iter().map(|it| (it.name.as_str(), it.prompt.lines().count()));
    assert_eq!(found.collect::<Vec<_>>(), [("reviewer", 2), ("planner", 1), ("tester", 1)]);
    let own = agents.iter().flat_map(|it| &it.problems);
    assert_eq!(agents.problems.iter().chain(own).collect::<Vec<_>>(), Vec::<&String>::new());
}
