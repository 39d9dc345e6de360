//! A place in a text that may be a call, and the parts of calls that stand there.

use crate::message::ToolSpec;
use serde_json::{Deserializer, Map, Value};

/// What a text has left to read, and the tools that its calls may name.
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a str,
    pub(super) tools: &'a [ToolSpec],
}

/// What is before and behind a tool's name.
const NAMESPACES: [&str; 3] = ["functions.", "default_api.", "tools."];

impl<'a> Cursor<'a> {
    pub(super) fn new(rest: &'a str, tools: &'a [ToolSpec]) -> Cursor<'a> {
        Cursor { rest, tools }
    }

    pub(super) fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Goes on behind this text, if it is next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub(super) fn eat_after_blanks(&mut self, text: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// What is before this text. Goes on behind it.
    pub(super) fn until(&mut self, text: &str) -> Option<&'a str> {
        let (before, rest) = self.rest.split_once(text)?;
        self.rest = rest;
        Some(before)
    }

    /// The name that is next; empty if there is none.
    pub(super) fn name(&mut self) -> &'a str {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_.-:".contains(c);
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }

    /// The tool that a name means.
    pub(super) fn tool(&self, name: &str) -> Option<&'a ToolSpec> {
        let name = name.trim();
        let name = NAMESPACES.iter().find_map(|it| name.strip_prefix(it)).unwrap_or(name);
        let number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
        let name = name.rsplit_once(':').filter(|it| number(it.1)).map_or(name, |it| it.0);
        self.tools.iter().find(|it| it.name.eq_ignore_ascii_case(name))
    }

    /// The call of the tool with this name whose arguments are the object that is next.
    pub(super) fn named(&mut self, name: &str) -> Option<(String, Value)> {
        let tool = self.tool(name)?.name.clone();
        self.skip();
        let (value, length) = json(self.rest)?;
        self.rest = &self.rest[length..];
        self.skip();
        value.is_object().then_some((tool, value))
    }

    /// The calls in a JSON value: an object with a name and arguments, or a list of such objects.
    pub(super) fn objects(&self, value: &Value) -> Option<Vec<(String, Value)>> {
        let inner = ["tool_calls", "function_call", "function"].iter().find_map(|it| value.get(it));
        match (value, inner) {
            (Value::Array(all), _) if !all.is_empty() => {
                let calls: Option<Vec<_>> = all.iter().map(|it| self.objects(it)).collect();
                calls.map(|it| it.into_iter().flatten().collect())
            }
            (Value::Object(_), Some(inner @ (Value::Object(_) | Value::Array(_)))) => {
                self.objects(inner)
            }
            (Value::Object(_), _) => self.object(value).map(|it| vec![it]),
            _ => None,
        }
    }

    fn object(&self, value: &Value) -> Option<(String, Value)> {
        let names = ["name", "tool_name", "tool", "function", "action", "recipient_name"];
        let name = names.iter().find_map(|it| value[*it].as_str())?;
        let tool = self.tool(name)?.name.clone();
        let fields = ["arguments", "parameters", "args", "input", "action_input", "tool_input"];
        let input = match fields.iter().find_map(|it| value.get(*it))? {
            Value::String(text) => serde_json::from_str(text).ok()?,
            value => value.clone(),
        };
        input.is_object().then_some((tool, input))
    }

    /// The call of the tool with this name and these arguments, which are texts without a type.
    pub(super) fn typed(&self, name: &str, given: Vec<(&str, &str)>) -> Option<(String, Value)> {
        let tool = self.tool(name)?;
        let input: Map<String, Value> = given
            .into_iter()
            .map(|(key, text)| {
                (key.trim().to_owned(), value(text, &tool.schema["properties"][key.trim()]))
            })
            .collect();
        Some((tool.name.clone(), Value::Object(input)))
    }

    /// Tags with texts, up to this end: `<path>a</path>`.
    pub(super) fn tags(&mut self, end: &str) -> Option<Vec<(&'a str, &'a str)>> {
        let mut given = Vec::new();
        while !self.eat_after_blanks(end) {
            self.eat_after_blanks("<").then_some(())?;
            let key = self.until(">")?;
            given.push((key, self.until(&format!("</{key}>"))?));
        }
        Some(given)
    }
}

/// The value of an attribute in the head of a tag.
pub(super) fn attribute<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let value = head.split_once(&format!("{name}="))?.1;
    let quote = value.chars().next().filter(|it| "\"'".contains(*it))?;
    value[1..].split_once(quote).map(|it| it.0)
}

/// The JSON value at the beginning of a text, and its length.
pub(super) fn json(text: &str) -> Option<(Value, usize)> {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// An argument that came as a text. One line end at each side of a text belongs to the tags.
fn value(text: &str, schema: &Value) -> Value {
    let inner = text.strip_prefix('\n').unwrap_or(text);
    let inner = inner.strip_suffix('\n').unwrap_or(inner);
    let kinds = match &schema["type"] {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect::<Vec<_>>(),
    };
    if kinds.contains(&"string") || kinds.is_empty() {
        return Value::String(inner.to_owned());
    }
    serde_json::from_str(&text.trim().replace("True", "true").replace("False", "false"))
        .or_else(|_| serde_json::from_str(text.trim()))
        .unwrap_or_else(|_| Value::String(inner.to_owned()))
}
