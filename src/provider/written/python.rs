//! Calls in the form of Python: `[read(path="a.txt"), list()]`.

use super::cursor::Cursor;
use serde_json::{Map, Number, Value};

/// How deep lists and dictionaries may be nested.
const DEEPEST: usize = 32;

impl Cursor<'_> {
    /// One call or a list of calls.
    pub(super) fn python(&mut self) -> Option<Vec<(String, Value)>> {
        let before = self.rest;
        let calls = self.python_calls();
        if calls.is_none() {
            self.rest = before;
        }
        calls
    }

    fn python_calls(&mut self) -> Option<Vec<(String, Value)>> {
        if !self.eat_after_blanks("[") {
            return Some(vec![self.python_call()?]);
        }
        let mut calls = vec![self.python_call()?];
        while self.eat_after_blanks(",") {
            calls.push(self.python_call()?);
        }
        self.eat_after_blanks("]").then_some(calls)
    }

    fn python_call(&mut self) -> Option<(String, Value)> {
        self.skip();
        let name = self.name();
        let name = name.strip_suffix(".call").unwrap_or(name);
        let tool = self.tool(name)?;
        self.eat("(").then_some(())?;
        let mut input = Map::new();
        let fields = tool.schema["properties"].as_object();
        let mut fields = fields.into_iter().flat_map(Map::keys);
        while !self.eat_after_blanks(")") {
            self.skip();
            let rest = self.rest;
            let key = self.name();
            let key = if !key.is_empty() && self.eat_after_blanks("=") {
                key.to_owned()
            } else {
                // an argument without a name stands for the next field
                self.rest = rest;
                fields.find(|it| !input.contains_key(*it))?.clone()
            };
            input.insert(key, self.python_value(0)?);
            if !self.eat_after_blanks(",") {
                self.eat_after_blanks(")").then_some(())?;
                break;
            }
        }
        Some((tool.name.clone(), Value::Object(input)))
    }

    fn python_value(&mut self, depth: usize) -> Option<Value> {
        self.skip();
        let words = [
            ("True", Value::Bool(true)),
            ("true", Value::Bool(true)),
            ("False", Value::Bool(false)),
            ("false", Value::Bool(false)),
            ("None", Value::Null),
            ("null", Value::Null),
        ];
        if let Some((_, value)) = words.into_iter().find(|(word, _)| self.eat(word)) {
            return Some(value);
        }
        if depth > DEEPEST {
            return None;
        }
        match self.rest.chars().next()? {
            '"' | '\'' => self.python_string().map(Value::String),
            '[' => self.python_list(depth),
            '{' => self.python_dictionary(depth),
            _ => {
                let end = self.rest.find(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c));
                let (number, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                self.rest = rest;
                number.parse::<Number>().ok().map(Value::Number)
            }
        }
    }

    fn python_list(&mut self, depth: usize) -> Option<Value> {
        self.eat("[");
        let mut all = Vec::new();
        while !self.eat_after_blanks("]") {
            all.push(self.python_value(depth + 1)?);
            if !self.eat_after_blanks(",") {
                self.eat_after_blanks("]").then_some(())?;
                break;
            }
        }
        Some(Value::Array(all))
    }

    fn python_dictionary(&mut self, depth: usize) -> Option<Value> {
        self.eat("{");
        let mut all = Map::new();
        while !self.eat_after_blanks("}") {
            self.skip();
            let key = self.python_string()?;
            self.eat_after_blanks(":").then_some(())?;
            all.insert(key, self.python_value(depth + 1)?);
            if !self.eat_after_blanks(",") {
                self.eat_after_blanks("}").then_some(())?;
                break;
            }
        }
        Some(Value::Object(all))
    }

    fn python_string(&mut self) -> Option<String> {
        let quotes = ["\"\"\"", "'''", "\"", "'"];
        let quote = quotes.into_iter().find(|it| self.eat(it))?;
        let mut text = String::new();
        loop {
            if self.eat(quote) {
                return Some(text);
            }
            let c = self.rest.chars().next()?;
            self.rest = &self.rest[c.len_utf8()..];
            if c != '\\' {
                text.push(c);
                continue;
            }
            let escaped = self.rest.chars().next()?;
            self.rest = &self.rest[escaped.len_utf8()..];
            match escaped {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                '\n' => (),
                '\\' | '\'' | '"' => text.push(escaped),
                _ => text.extend(['\\', escaped]),
            }
        }
    }
}
