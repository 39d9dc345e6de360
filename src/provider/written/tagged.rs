//! Calls that begin with a mark, such as a tag, in one of the forms that models were trained on.

use super::cursor::{self, Cursor};
use crate::message::ToolSpec;
use crate::provider::code::Code;
use serde_json::{Map, Value};
use std::ops::Range;

/// A call in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    pub tool: String,
    pub input: Value,
    /// Where the call stands in the text.
    pub range: Range<usize>,
}

/// The beginnings of calls, each with what may follow it and with the end that it needs.
pub(super) const FORMS: [(&str, Form, &str); 27] = [
    ("<invoke", Form::Invoke(""), ""),
    ("<antml:invoke", Form::Invoke("antml:"), ""),
    ("<｜DSML｜invoke", Form::Invoke("｜DSML｜"), ""),
    ("<function=", Form::Function, ""),
    ("<function name=", Form::Function, ""),
    ("<tool_call>", Form::Body, "</tool_call>"),
    ("<tool_calls>", Form::Body, "</tool_calls>"),
    ("<function_calls>", Form::Body, "</function_calls>"),
    ("<function_call>", Form::Body, "</function_call>"),
    ("<functioncall>", Form::Body, "</functioncall>"),
    ("<tools>", Form::Body, "</tools>"),
    ("<tool>", Form::Body, "</tool>"),
    ("<|tool_call|>", Form::Body, "<|/tool_call|>"),
    ("<|tool_calls|>", Form::Body, "<|/tool_calls|>"),
    ("<|tool_call_start|>", Form::Body, "<|tool_call_end|>"),
    ("<|START_ACTION|>", Form::Body, "<|END_ACTION|>"),
    ("<|action_start|><|plugin|>", Form::Body, "<|action_end|>"),
    ("<|python_tag|>", Form::Body, ""),
    ("[TOOL_REQUEST]", Form::Body, "[END_TOOL_REQUEST]"),
    ("functools[", Form::List, ""),
    ("[TOOL_CALLS]", Form::Mistral, ""),
    ("<|tool_call_begin|>", Form::Kimi, "<|tool_call_end|>"),
    ("<｜tool▁call▁begin｜>", Form::DeepSeek, "<｜tool▁call▁end｜>"),
    ("<|channel|>commentary to=", Form::Harmony, ""),
    ("<|channel|>analysis to=", Form::Harmony, ""),
    ("<|start|>assistant to=", Form::Harmony, ""),
    ("commentary to=functions.", Form::Harmony, ""),
];

/// How many beginnings of calls are looked at in a text.
const MOST: usize = 500;

#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// `<invoke name="read"><parameter name="path">a</parameter></invoke>`, with this before each tag's name.
    Invoke(&'static str),
    /// `<function=read><parameter=path>a</parameter></function>`, or with an object in place of the parameters.
    Function,
    /// What stands between two tags: objects, an `Invoke`, a `Function`, a name with an object or with keys and values,
    /// or Python.
    Body,
    /// A list of objects whose bracket is part of the beginning.
    List,
    Mistral,
    Kimi,
    DeepSeek,
    Harmony,
}

/// The calls that begin with one of the `FORMS`.
pub(super) fn tagged(text: &str, tools: &[ToolSpec]) -> Vec<Written> {
    let mut found = Vec::new();
    let (mut code, mut seen, mut at) = (Code::default(), 0, 0);
    let mut places = FORMS.map(|(begin, ..)| text.find(begin));
    for _ in 0..MOST {
        let Some((begin, form)) = next(text, at, &mut places) else { break };
        code.add(&text[seen..begin]);
        seen = begin;
        at = begin + FORMS[form].0.len();
        if code.is_code() {
            continue;
        }
        let mut cursor = Cursor::new(&text[at..], tools);
        if let Some(calls) = cursor.form(FORMS[form]) {
            let end = text.len() - cursor.rest.len();
            let calls = calls.into_iter();
            found.extend(calls.map(|(tool, input)| Written { tool, input, range: begin..end }));
            (at, seen) = (end, end);
        }
    }
    found
}

/// The next beginning of a call from here on: where it is, and which of the `FORMS`. If two begin there, the longer one.
/// `places` has for each form where it was found last.
fn next(text: &str, from: usize, places: &mut [Option<usize>]) -> Option<(usize, usize)> {
    for (place, (begin, ..)) in places.iter_mut().zip(FORMS) {
        if place.is_some_and(|it| it < from) {
            *place = text.get(from..)?.find(begin).map(|it| it + from);
        }
    }
    let found = places.iter().zip(FORMS).enumerate();
    let found = found
        .filter_map(|(form, (at, (begin, ..)))| Some(((*at)?, usize::MAX - begin.len(), form)));
    found.min().map(|(at, _, form)| (at, form))
}

impl Cursor<'_> {
    /// Reads a call, or several, behind their beginning.
    fn form(&mut self, (_, form, end): (&str, Form, &str)) -> Option<Vec<(String, Value)>> {
        let calls = match form {
            Form::Invoke(prefix) => vec![self.invoke(prefix)?],
            Form::Function => vec![self.function()?],
            Form::Body => self.body()?,
            Form::List => {
                let list = format!("[{}", self.rest);
                let (value, length) = cursor::json(&list)?;
                self.rest = &self.rest[length - 1..];
                self.objects(&value)?
            }
            Form::Mistral => self.mistral()?,
            Form::Kimi => {
                let name = self.until("<|tool_call_argument_begin|>")?;
                vec![self.named(name)?]
            }
            Form::DeepSeek => vec![self.deep_seek()?],
            Form::Harmony => vec![self.harmony()?],
        };
        // a server removes the end of a call if it is a stop word
        let is_whole = end.is_empty() || self.eat_after_blanks(end) || self.rest.trim().is_empty();
        is_whole.then_some(calls)
    }

    fn body(&mut self) -> Option<Vec<(String, Value)>> {
        self.skip();
        let marks = ["{", "["];
        if self.rest.starts_with('<') {
            let call = if self.eat("<function=") || self.eat("<function name=") {
                self.function()?
            } else if self.eat("<invoke") {
                self.invoke("")?
            } else {
                return None;
            };
            return Some(vec![call]);
        }
        if marks.iter().any(|it| self.rest.starts_with(it))
            && let Some((value, length)) = cursor::json(self.rest)
            && let Some(calls) = self.objects(&value)
        {
            self.rest = &self.rest[length..];
            return Some(calls);
        }
        if let Some(calls) = self.python() {
            return Some(calls);
        }
        self.eat("call:");
        let name = self.name();
        self.skip();
        if self.rest.starts_with("<arg_key>") {
            return Some(vec![self.keys_and_values(name)?]);
        }
        if self.rest.starts_with('{') {
            return Some(vec![self.named(name)?]);
        }
        // a call without arguments
        let tool = self.tool(name)?;
        self.rest.starts_with("</").then(|| vec![(tool.name.clone(), Value::Object(Map::new()))])
    }

    /// `<arg_key>path</arg_key><arg_value>a</arg_value>`, as often as it comes.
    fn keys_and_values(&mut self, name: &str) -> Option<(String, Value)> {
        let mut given = Vec::new();
        while self.eat_after_blanks("<arg_key>") {
            let key = self.until("</arg_key>")?;
            self.eat_after_blanks("<arg_value>").then_some(())?;
            given.push((key, self.until("</arg_value>")?));
        }
        self.skip();
        self.typed(name, given)
    }

    fn invoke(&mut self, prefix: &str) -> Option<(String, Value)> {
        let (open, close) = (format!("<{prefix}parameter"), format!("</{prefix}parameter>"));
        let end = format!("</{prefix}invoke>");
        let head = self.until(">")?;
        let Some(name) = cursor::attribute(head, "name") else {
            // the oldest form has the name and the parameters as tags
            self.eat_after_blanks("<tool_name>").then_some(())?;
            let name = self.until("</tool_name>")?;
            self.eat_after_blanks("<parameters>").then_some(())?;
            let given = self.tags("</parameters>")?;
            self.eat_after_blanks(&end).then_some(())?;
            return self.typed(name, given);
        };
        let mut given = Vec::new();
        while self.eat_after_blanks(&open) {
            let key = cursor::attribute(self.until(">")?, "name")?;
            given.push((key, self.until(&close)?));
        }
        self.eat_after_blanks(&end).then_some(())?;
        self.typed(name, given)
    }

    fn function(&mut self) -> Option<(String, Value)> {
        let name = self.until(">")?.trim().trim_matches(['"', '\'']);
        self.skip();
        if self.rest.starts_with('{') {
            let call = self.named(name)?;
            let is_whole = self.eat_after_blanks("</function>") || self.rest.trim().is_empty();
            return is_whole.then_some(call);
        }
        let mut given = Vec::new();
        while self.eat_after_blanks("<parameter=") || self.eat_after_blanks("<parameter name=") {
            let key = self.until(">")?.trim().trim_matches(['"', '\'']);
            given.push((key, self.until("</parameter>")?));
        }
        self.eat_after_blanks("</function>").then_some(())?;
        self.skip();
        self.typed(name, given)
    }

    /// A list of objects, or names with objects.
    fn mistral(&mut self) -> Option<Vec<(String, Value)>> {
        self.skip();
        if self.rest.starts_with(['[', '{']) {
            let (value, length) = cursor::json(self.rest)?;
            self.rest = &self.rest[length..];
            return self.objects(&value);
        }
        let name = self.name();
        if self.eat("[CALL_ID]") {
            self.name();
        }
        self.eat("[ARGS]");
        Some(vec![self.named(name)?])
    }

    /// `read<｜tool▁sep｜>{…}`, or the older `function<｜tool▁sep｜>read` with the object in a code block.
    fn deep_seek(&mut self) -> Option<(String, Value)> {
        let first = self.until("<｜tool▁sep｜>")?;
        if first.trim() != "function" {
            return self.named(first);
        }
        let name = self.until("\n")?;
        self.eat_after_blanks("```json");
        let call = self.named(name)?;
        self.eat_after_blanks("```");
        Some(call)
    }

    /// `functions.read <|constrain|>json<|message|>{…}<|call|>`
    fn harmony(&mut self) -> Option<(String, Value)> {
        let name = self.name();
        for mark in ["<|channel|>commentary", "<|constrain|>", "json", "code", "<|message|>"] {
            self.eat_after_blanks(mark);
        }
        let call = self.named(name)?;
        self.eat_after_blanks("<|call|>");
        Some(call)
    }
}
