use super::taken::Taken;
use super::*;
use crate::event::Delta;
use crate::message::{Stop, Usage};
use crate::provider::Sampled;
use proptest::prelude::*;
use serde_json::{Value, json};

fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, properties: Value, required: Value| ToolSpec {
        name: name.to_owned(),
        purpose: String::new(),
        schema: json!({ "type": "object", "properties": properties, "required": required }),
    };
    vec![
        tool(
            "read",
            json!({ "path": { "type": "string" }, "from": { "type": "integer" } }),
            json!(["path"]),
        ),
        tool("list", json!({ "path": { "type": "string" } }), json!([])),
        tool(
            "write",
            json!({ "path": { "type": "string" }, "content": { "type": "string" }, "lines": { "type": "array" } }),
            json!(["path", "content"]),
        ),
    ]
}

/// The calls in a text, in one line.
fn shown(text: &str) -> String {
    let calls = find(text, &tools());
    for it in &calls {
        assert!(text.get(it.range.clone()).is_some(), "{it:?}");
    }
    let calls: Vec<_> = calls.iter().map(|it| format!("{}{}", it.tool, it.input)).collect();
    calls.join(" ")
}

const READ: &str = r#"read{"path":"a.txt"}"#;
const BOTH: &str = r#"read{"path":"a.txt"} list{}"#;

/// What open models write when their server does not read their calls, each with the calls in it.
const CALLS: &[(&str, &str)] = &[
    // tags with parameters
    (
        "<function_calls>\n<invoke name=\"read\">\n<parameter name=\"path\">a.txt</parameter>\n</invoke>\n</function_calls>",
        READ,
    ),
    (
        "<function_calls><invoke name=\"read\"><parameter name=\"path\">a.txt</parameter></invoke></function_calls>",
        READ,
    ),
    (
        "I look.\n<invoke name=\"read\">\n<parameter name=\"path\">a.txt</parameter>\n<parameter name=\"from\">3</parameter>\n</invoke>",
        r#"read{"path":"a.txt","from":3}"#,
    ),
    (
        "<function_calls><invoke><tool_name>read</tool_name><parameters><path>a.txt</path></parameters></invoke></function_calls>",
        READ,
    ),
    (
        "<minimax:tool_call>\n<invoke name=\"read\"><parameter name=\"path\">a.txt</parameter></invoke>\n</minimax:tool_call>",
        READ,
    ),
    (
        "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"read\">\n<｜DSML｜parameter name=\"path\" string=\"true\">a.txt</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        READ,
    ),
    // tags around objects
    ("<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>", READ),
    (
        "<tool_call>{\"name\": \"read\", \"arguments\": \"{\\\"path\\\": \\\"a.txt\\\"}\"}</tool_call>",
        READ,
    ),
    (
        "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>\n<tool_call>\n{\"name\": \"list\", \"arguments\": {}}\n</tool_call>",
        BOTH,
    ),
    ("Let me look. <tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}", READ),
    (
        "<tool_calls>[{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}, {\"name\": \"list\", \"arguments\": {}}]</tool_calls>",
        BOTH,
    ),
    (
        "<|tool_call|>[{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}]<|/tool_call|>",
        READ,
    ),
    ("<tools>{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}</tools>", READ),
    (
        "[TOOL_REQUEST]{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}[END_TOOL_REQUEST]",
        READ,
    ),
    (
        "<|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": \"read\", \"parameters\": {\"path\": \"a.txt\"}}]<|END_ACTION|>",
        READ,
    ),
    (
        "<|action_start|><|plugin|>{\"name\": \"read\", \"parameters\": {\"path\": \"a.txt\"}}<|action_end|>",
        READ,
    ),
    // tags with the name in them
    (
        "<tool_call>\n<function=read>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
        READ,
    ),
    ("<function=read>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>", READ),
    (
        "<seed:tool_call><function=read><parameter=path>a.txt</parameter></function></seed:tool_call>",
        READ,
    ),
    ("<function=read>{\"path\": \"a.txt\"}</function>", READ),
    ("<function=list></function>", "list{}"),
    // other marks
    ("[TOOL_CALLS][{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}]", READ),
    ("[TOOL_CALLS]read[ARGS]{\"path\": \"a.txt\"}[TOOL_CALLS]list[ARGS]{}", BOTH),
    ("[TOOL_CALLS]read[CALL_ID]abc123def[ARGS]{\"path\": \"a.txt\"}", READ),
    ("[TOOL_CALLS]read{\"path\": \"a.txt\"}", READ),
    (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{\"path\": \"a.txt\"}<|tool_call_end|><|tool_calls_section_end|>",
        READ,
    ),
    (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{\"path\": \"a.txt\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        READ,
    ),
    (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{\"path\": \"a.txt\"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>list<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        BOTH,
    ),
    ("<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>", READ),
    ("<tool_call>list</tool_call>", "list{}"),
    (
        "<|channel|>commentary to=functions.read <|constrain|>json<|message|>{\"path\": \"a.txt\"}<|call|>",
        READ,
    ),
    (
        "<|start|>assistant to=functions.read<|channel|>commentary json<|message|>{\"path\": \"a.txt\"}",
        READ,
    ),
    ("assistantcommentary to=functions.read json{\"path\": \"a.txt\"}", READ),
    ("<|python_tag|>{\"name\": \"read\", \"parameters\": {\"path\": \"a.txt\"}}", READ),
    ("<|python_tag|>read.call(path=\"a.txt\")", READ),
    ("functools[{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}]", READ),
    // Python
    ("[read(path=\"a.txt\"), list()]", BOTH),
    ("<|tool_call_start|>[read(path='a.txt')]<|tool_call_end|>", READ),
    ("```tool_code\nread(path=\"a.txt\")\n```", READ),
    ("```tool_code\nprint(default_api.read(path=\"a.txt\"))\n```", READ),
    (
        "[write(path='a', content='x\\n\\'y\\'', lines=[1, 2.5, True, None, {'a': 'b'}])]",
        r#"write{"path":"a","content":"x\n'y'","lines":[1,2.5,true,null,{"a":"b"}]}"#,
    ),
    // nothing around the object
    ("{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}", READ),
    ("{\"type\": \"function\", \"name\": \"read\", \"parameters\": {\"path\": \"a.txt\"}}", READ),
    ("{\"function\": {\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}}", READ),
    (
        "{\"tool_calls\": [{\"function\": {\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}}]}",
        READ,
    ),
    ("I look at it.\n\n{\"tool\": \"read\", \"args\": {\"path\": \"a.txt\"}}\n", READ),
    ("```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}\n```", READ),
    (
        "I look at it.\n\n```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}\n```\n",
        READ,
    ),
    (
        "```xml\n<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}</tool_call>\n```",
        READ,
    ),
    ("Action: read\nAction Input: {\"path\": \"a.txt\"}", READ),
    (
        "Action: ```json\n[{\"tool_name\": \"read\", \"parameters\": {\"path\": \"a.txt\"}}]\n```",
        READ,
    ),
];

#[test]
fn the_calls_of_open_models_are_recognised_in_every_format() {
    let found = CALLS.iter().map(|(text, expected)| (text, expected, shown(text)));
    let wrong = found.filter(|it| it.2 != *it.1).map(|it| format!("{}\n  got {:?}", it.0, it.2));
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_text_that_explains_or_quotes_a_call_is_no_call() {
    let long = "A server that reads the calls of its model removes them from the text. ".repeat(5);
    let mut wrong = Vec::new();
    for text in [
        "",
        "Done. I changed `a.txt`.",
        "A call looks like `<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}</tool_call>` in this format.",
        "Qwen writes this:\n```\n<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>\n```\nand the server removes it.",
        "Like this:\n```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n```\nThe server answers with the text.",
        "Two ways:\n```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n```\nor\n```json\n{\"name\": \"list\", \"arguments\": {}}\n```",
        &format!(
            "{long}\n```json\n{{\"name\": \"read\", \"arguments\": {{\"path\": \"a\"}}}}\n```"
        ),
        // tools that do not exist
        "<tool_call>{\"name\": \"launch\", \"arguments\": {}}</tool_call>",
        "{\"name\": \"caliban\", \"arguments\": {\"path\": \"a\"}}",
        "<invoke name=\"launch\"><parameter name=\"path\">a</parameter></invoke>",
        // parts
        "<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a",
        "<invoke name=\"read\"><parameter name=\"path\">a",
        "<tool_call>",
        "[TOOL_CALLS]",
        "<function=read>",
        "The tag <tool_call> begins a call, </tool_call> ends it.",
        "to=functions.",
        // JSON and code that is something else
        "{\"name\": \"read\"}",
        "{\"name\": \"read\", \"version\": \"1.0\", \"scripts\": {\"test\": \"x\"}}",
        "{\"name\": \"read\", \"arguments\": {}}",
        "The package:\n```json\n{\"name\": \"read\", \"description\": \"x\", \"args\": [\"a\"]}\n```",
        "[read](a.txt) has it, [list](b.txt) too",
        "[read(path=\"a.txt\") is what I would call.",
        "Use read(path=\"a.txt\").",
        "```python\nread(path=\"a.txt\")\n```",
        "Here it is:\n```python\nwith open('a') as f:\n    f.read()\n```",
        "[x] read\n[ ] list\n",
        "[1, 2, 3]",
        "Action: read the file, then list the folder.",
        "## Plan\n1. read `a.txt`\n2. write it",
        "<invoke>",
        "fn main() { list(); }",
        "<tool>hammer</tool>",
    ] {
        let found = shown(text);
        if !found.is_empty() {
            wrong.push(format!("{text}\n  got {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

proptest! {
    #[test]
    fn reading_any_text_does_not_panic(
        parts in prop::collection::vec(prop::sample::select(vec![
            "<tool_call>", "</tool_call>", "{\"name\": \"read\", \"arguments\": {", "}", "\"path\": \"a\"", "<invoke", " name=\"read\">",
            "<parameter name=\"path\">", "</parameter>", "</invoke>", "[TOOL_CALLS]", "read", "[ARGS]", "(", ")", "path=", "'é", "\\",
            "[", "]", "```", "json\n", "\n", "<function=", ">", "<arg_key>", "<|python_tag|>", "functools[", "Action:", "{", ",", "1",
        ]), 0..16),
    ) {
        let text = parts.concat();
        for it in find(&text, &tools()) {
            prop_assert!(text.get(it.range).is_some());
            prop_assert!(it.input.is_object());
        }
    }
}

#[test]
fn deeply_nested_values_are_no_calls() {
    for open in ["[", "{'a':", "("] {
        let text = format!("[read(path={}", open.repeat(100_000));
        assert_eq!(shown(&text), "");
    }
    assert_eq!(shown(&"<tool_call>".repeat(2_000)), "");
    assert_eq!(shown(&"<invoke name=\"read\">".repeat(20_000)), "");
    assert_eq!(shown(&"{\n".repeat(20_000)), "");
    assert_eq!(shown(&"[\n".repeat(2_000)), "");
}

/// The text that is shown, and the text and calls that are kept, of a reply that arrives in these pieces.
fn taken(pieces: &[&str]) -> (String, String) {
    let text = |it: &&str| Sampled::Delta(Delta::Text((*it).to_owned()));
    let mut values: Vec<Sampled> = pieces.iter().map(text).collect();
    let blocks = vec![Block::Text { text: pieces.concat() }];
    let (stop, usage, model, by) = (Stop::EndTurn, Usage::default(), String::new(), String::new());
    values.push(Sampled::Done(Reply { blocks, stop, usage, model, by }));
    let mut out = Vec::new();
    Taken::new(tools(), 7).pass(&mut values, &mut out);
    let (mut shown, mut begun, mut kept) = (String::new(), 0, String::new());
    for value in &out {
        match value {
            Sampled::Delta(Delta::Text(text)) => shown.push_str(text),
            Sampled::Delta(Delta::CallBegun { .. }) => begun += 1,
            Sampled::Done(reply) => {
                assert_eq!(reply.calls().count(), begun);
                assert_eq!(reply.stop == Stop::ToolUse, begun > 0);
                for block in &reply.blocks {
                    match block {
                        Block::Text { text } => kept.push_str(text),
                        Block::Call(it) => kept.push_str(&format!("{{{}}}", it.tool)),
                        other => panic!("{other:?}"),
                    }
                }
            }
            other => panic!("{other:?}"),
        }
    }
    (shown, kept)
}

#[test]
fn calls_are_taken_out_of_a_text_wherever_it_is_cut() {
    let texts =
        CALLS.iter().map(|it| it.0).chain(["Done.\n\nfn f() {\n}\n", "a [b] {c} ```d```", "  "]);
    for text in texts {
        let whole = taken(&[text]);
        let said: String = whole.1.split('{').next().unwrap_or_default().to_owned();
        let has_call = !find(text, &tools()).is_empty();
        assert_eq!(whole.0, if has_call { said } else { whole.1.clone() }, "{text}");
        for at in (0..=text.len()).filter(|it| text.is_char_boundary(*it)) {
            let (head, tail) = text.split_at(at);
            assert_eq!(taken(&[head, tail]), whole, "{text} cut at {at}");
        }
    }
}

#[test]
fn what_a_model_writes_after_its_call_is_left_out() {
    let call = CALLS[0].0;
    let (shown, kept) =
        taken(&[&format!("I look.\n\n{call}\n<tool_response>\nbeta\n</tool_response>")]);
    assert_eq!((shown.as_str(), kept.as_str()), ("I look.", "I look.{read}"));
}
