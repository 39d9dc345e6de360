//! What models read about the tools: their texts, and the answers to wrong arguments.

use super::*;
use crate::mcp::{Definition, Host, Place, Program, Servers};
use crate::message::{Builtin, ToolSpec};
use crate::provider::key::Used;
use crate::web::search::Search;
use std::collections::BTreeMap;
use std::time::Duration;

const HUGE: usize = 1_000_000;

/// All tools, with those that are offered only if the user has chosen a service of the web, or has servers.
pub fn all() -> Toolset {
    let url = Some("http://127.0.0.1:1");
    let own = searching(Search::new("searxng", url, None, &Used::default(), |_| None).unwrap());
    // the server of the example in `mcp_call`
    let place = Place::Program(Program::default());
    let definition = Definition { place, timeout: Duration::ZERO, startup: Duration::ZERO };
    let servers = BTreeMap::from([("github".to_owned(), definition)]);
    serving(&own, &Servers::new(Host::default(), servers))
}

fn room() -> Room {
    let mut room = super::room();
    room.desk.tools = all();
    room
}

/// All tools, each once.
fn specs() -> Vec<ToolSpec> {
    let mut all = all().specs(Format::Replace);
    all.extend(own().specs(Format::Patch).into_iter().filter(|it| it.name == "apply_patch"));
    all
}

/// The calls in a tool's text.
fn examples(spec: &ToolSpec) -> Vec<Value> {
    let starts = spec.purpose.match_indices("{\"").map(|it| it.0);
    let mut end = 0;
    let mut found = Vec::new();
    for at in starts {
        if at < end {
            continue;
        }
        let mut values = serde_json::Deserializer::from_str(&spec.purpose[at..]).into_iter();
        found.push(values.next().unwrap().unwrap());
        end = at + values.byte_offset();
    }
    found
}

#[test]
fn the_text_of_a_tool_is_short_and_its_examples_are_valid_calls() {
    for spec in specs() {
        let words = spec.purpose.split_whitespace().count();
        assert!(words < 120, "{}: {words} words", spec.name);
        let examples = examples(&spec);
        assert!(!examples.is_empty() || spec.name == "apply_patch", "{}", spec.name);
        for example in examples {
            let fitted = form(&spec).fit(example.clone());
            assert_eq!(fitted.as_ref(), Ok(&example), "{}", spec.name);
        }
    }
}

fn form(spec: &ToolSpec) -> schema::Form<'_> {
    schema::Form { tool: &spec.name, purpose: &spec.purpose, schema: &spec.schema }
}

/// A call whose arguments are all valid.
fn valid(spec: &ToolSpec) -> Value {
    let patch = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch";
    examples(spec).pop().unwrap_or_else(|| json!({ "input": patch }))
}

/// Values that a property may not have: of another type, not in the list, out of range, too few.
fn invalid(property: &Value) -> Vec<Value> {
    let wrong = if property["type"] == "object" { json!([[]]) } else { json!({ "no": [] }) };
    let mut all = vec![wrong, Value::Null];
    all.extend(property["enum"].is_array().then(|| json!("quux")));
    all.extend(property["minimum"].as_i64().map(|it| json!(it - 1)));
    all.extend(property["maximum"].as_i64().map(|it| json!(it + 1)));
    all.extend(property["minItems"].as_i64().map(|_| json!([])));
    all.extend(
        property["maxItems"]
            .as_u64()
            .map(|it| json!((0..=it).map(|_| json!({})).collect::<Vec<_>>())),
    );
    if property["type"] == "integer" {
        all.extend([json!(1.5), json!("seven"), json!(u64::MAX)]);
    }
    all
}

#[test]
fn an_invalid_argument_of_any_tool_is_named_with_what_is_valid() {
    let room = room();
    for spec in specs() {
        let required = spec.schema["required"].as_array().cloned().unwrap_or_default();
        let valid = valid(&spec);
        for (name, property) in spec.schema["properties"].as_object().unwrap() {
            let is_required = required.contains(&json!(name));
            for value in invalid(property) {
                if value.is_null() && !is_required {
                    continue;
                }
                let mut args = valid.clone();
                args[name] = value.clone();
                refused(&room, &spec, name, &args);
            }
            if is_required {
                let mut args = valid.clone();
                args.as_object_mut().unwrap().remove(name);
                args["misspelt"] = json!(1);
                let said = refused(&room, &spec, name, &args);
                assert!(said.contains("Not known: misspelt."), "{said}");
            }
        }
        let long = "x".repeat(HUGE);
        for args in [json!([]), json!(7), json!(long), json!({ "no": [1] }), json!({ &long: 1 })] {
            if required.is_empty() && args.is_object() {
                continue;
            }
            refused(&room, &spec, "", &args);
        }
    }
}

/// An argument that a tool does not have may ask for something that would silently not be done.
#[test]
fn an_argument_that_a_tool_does_not_have_is_named_unless_it_changes_nothing() {
    let room = room();
    for spec in specs() {
        let known = &spec.schema["properties"];
        for (name, given, is_refused) in [
            ("misspelt", json!(1), true),
            ("worktree", json!(true), true),
            ("cwd", json!("src"), true),
            ("misspelt", json!(false), false),
            ("misspelt", json!(""), false),
            ("misspelt", Value::Null, false),
            ("explanation", json!("I look."), false),
        ] {
            if known.get(name).is_some() {
                continue;
            }
            let mut args = valid(&spec);
            args[name] = given;
            let access = access(&room.desk, &call(&spec.name, args.clone()));
            let told = format!("$.{name}: there is no such argument");
            let is_told = matches!(&access, Access::Invalid(it) if it.contains(&told));
            assert_eq!(is_told, is_refused, "{} {args}: {access:?}", spec.name);
        }
    }
}

/// Checks the answer to a call with a wrong argument. Returns the answer.
#[track_caller]
fn refused(room: &Room, spec: &ToolSpec, name: &str, args: &Value) -> String {
    let Access::Invalid(said) = access(&room.desk, &call(&spec.name, args.clone())) else {
        panic!("{} takes {name} of {args}", spec.name);
    };
    let place = if name.is_empty() { "$".to_owned() } else { format!("$.{name}") };
    for part in [&*spec.name, &place, "nothing was done", "expected", "Required: ", "Known: "] {
        assert!(said.contains(part), "{part} is not in: {said}");
    }
    assert!(said.len() < 1_000, "{} bytes", said.len());
    said
}

/// The answers of all tools to empty and huge texts, in a line each.
async fn answers(room: &Room) -> String {
    let mut said = String::new();
    for spec in specs() {
        let valid = valid(&spec);
        for (name, property) in spec.schema["properties"].as_object().unwrap() {
            // paths are in the test of `path`, and plans in that of `plan`
            let is_other = name == "path" || spec.name == Builtin::Plan.name();
            if property["type"] != "string" || property["enum"].is_array() || is_other {
                continue;
            }
            for (size, value) in [("empty", String::new()), ("huge", "x/".repeat(HUGE / 2))] {
                let mut args = valid.clone();
                args[name] = json!(value);
                let call = call(&spec.name, args);
                let text = match access(&room.desk, &call) {
                    Access::Never(text) | Access::Invalid(text) => text,
                    Access::Read => run(&room.desk, &call).await.answer.text,
                    _ => "taken".to_owned(),
                };
                assert!(text.len() < 5_000, "{} {name}: {} bytes", spec.name, text.len());
                let first = text.lines().next().unwrap_or_default();
                let first: String = first.chars().take(160).collect();
                said += &format!("{} {name} {size}: {first}\n", spec.name);
            }
        }
    }
    said
}

/// Empty and huge texts are valid by the schema. A tool that cannot use them says so in a few words.
#[tokio::test]
async fn every_tool_answers_empty_and_huge_texts_briefly() {
    let room = room();
    for path in ["a.txt", "a.rs", "src/main.rs", "cmd/a_test.go"] {
        room.file(path, "let a = 1;\n");
    }
    expect![[r#"
        glob pattern empty: cmd/a_test.go
        glob pattern huge: pattern: it has 1000000 bytes; a glob has at most 400.
        grep pattern empty: src/main.rs:1: let a = 1;
        grep pattern huge: pattern: it has 1000000 bytes; a pattern has at most 4000.
        grep glob empty: No match for `fn \w+_all\(` in src (ignored and binary files are left out).
        grep glob huge: glob: it has 1000000 bytes; a glob has at most 400.
        definition symbol empty: symbol: it is empty. Give the name as it is written on that line.
        definition symbol huge: There is no editor, so there is no language server.
        references symbol empty: symbol: it is empty. Give the name as it is written on that line.
        references symbol huge: There is no editor, so there is no language server.
        hover symbol empty: symbol: it is empty. Give the name as it is written on that line.
        hover symbol huge: There is no editor, so there is no language server.
        symbols query empty: There is no editor, so there is no language server.
        symbols query huge: There is no editor, so there is no language server.
        write text empty: taken
        write text huge: taken
        write text_from empty: taken
        write text_from huge: taken
        rename to empty: to: expected a path relative to the project, or absolute.
        rename to huge: to: it has 1000000 bytes; a path has at most 4096.
        rename_symbol symbol empty: symbol: it is empty. Give the name as it is written on that line.
        rename_symbol symbol huge: taken
        rename_symbol name empty: $.name: expected the new name.
        rename_symbol name huge: taken
        code_action kind empty: taken
        code_action kind huge: taken
        code_action action empty: There is no editor, so there is no language server.
        code_action action huge: taken
        shell command empty: command: it is empty. Give the command to run.
        shell command huge: command: it has 1000000 bytes, but a command may have at most 100000. Write a script to a file and run it.
        shell outside_sandbox empty: taken
        shell outside_sandbox huge: taken
        job_input text empty: text: it is empty. Give the text to send, for example "\n".
        job_input text huge: text: it has 1000000 bytes, but one input may have at most 4000. Send it in pieces, or write it to a file.
        fetch url empty: url: `` is not a complete address. Write it as https://example.org/page.
        fetch url huge: url: `x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/
        skill name empty: There is no skill ``. There are no skills at all.
        skill name huge: There is no skill `x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x
        task description empty: The arguments are not valid for the tool `task`, so nothing was done.
        task description huge: taken
        task prompt empty: The arguments are not valid for the tool `task`, so nothing was done.
        task prompt huge: taken
        task agent empty: taken
        task agent huge: taken
        web_search query empty: query: expected 1 to 400 characters.
        web_search query huge: query: expected 1 to 400 characters.
        mcp_search query empty: [The server `github` is not started: there is no folder .]
        mcp_search query huge: [The server `github` is not started: there is no folder .]
        mcp_call tool empty: tool: there is no server with the tool ``. Call mcp_search to find the tool.
        mcp_call tool huge: tool: there is no server with the tool `x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/
        apply_patch input empty: The patch does not begin with `*** Begin Patch`, so nothing was done.
        apply_patch input huge: The patch does not begin with `*** Begin Patch`, so nothing was done.
    "#]].assert_eq(&room.clear(&answers(&room).await));
}

#[test]
fn an_empty_or_huge_path_is_refused_by_every_tool() {
    let room = room();
    for spec in specs().iter().filter(|it| it.schema["properties"]["path"].is_object()) {
        for (path, why) in [("", "path: expected a path"), (&*"x/".repeat(HUGE), "path: it has")] {
            let mut args = valid(spec);
            args["path"] = json!(path);
            let (Access::Never(said) | Access::Invalid(said)) =
                access(&room.desk, &call(&spec.name, args))
            else {
                panic!("{}", spec.name);
            };
            assert!(said.starts_with(why), "{said}");
        }
    }
}

#[tokio::test]
async fn the_longest_globs_that_are_accepted_compile() {
    let room = room();
    let half = 200;
    let deep = format!("{}{}", "{".repeat(half), "}".repeat(half));
    for pattern in [deep.as_str(), &"*".repeat(2 * half), &"[!a]".repeat(half / 2)] {
        let answer = room.run("glob", json!({ "pattern": pattern })).await;
        assert!(answer.text.starts_with("No file in ."), "{}", answer.text);
    }
}
