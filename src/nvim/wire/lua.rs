//! Prints the Lua types of the messages, from the JSON schemas of the Rust types. A test compares them with the files
//! in `lua/caliban/program/wire/`.

mod tests;

use super::{BufferText, FromNvim, HeldText, PartlyDecided, Restored, Resume, ToNvim};
use crate::provider::facts::Share;
use crate::tool::scene::Scene;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Where comments are wrapped, in characters.
const WIDTH: usize = 118;
const COMMAND: &str = "UPDATE_EXPECT=1 cargo test --lib wire::lua";

/// The second paragraph of the module's documentation, which applies to all messages.
fn notes() -> String {
    let doc = include_str!("../wire.rs").lines().map_while(|line| line.strip_prefix("//!"));
    doc.skip_while(|line| !line.is_empty()).collect()
}

/// The name and the text of each generated file.
fn files() -> [(&'static str, String); 3] {
    let mut read = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    let mut sent = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let read = schemas(&mut read, |it| {
        it.subschema_for::<FromNvim>();
        it.subschema_for::<BufferText>();
        it.subschema_for::<HeldText>();
        it.subschema_for::<PartlyDecided>();
        it.subschema_for::<Restored>();
        it.subschema_for::<Scene>();
    });
    let sent = schemas(&mut sent, |it| {
        it.subschema_for::<ToNvim>();
    });
    let mut printer = Printer::new(both(read, sent));
    printer.begin("The messages from the editor to the program.");
    printer.messages("FromNvim");
    let from_nvim = std::mem::take(&mut printer.text);
    printer.begin("The editor's answers to requests of the program.");
    for answer in ["BufferText", "HeldText", "PartlyDecided", "Restored", "Scene"] {
        printer.define(answer);
    }
    let answers = std::mem::take(&mut printer.text);
    printer.begin("The messages from the program to the editor.");
    printer.messages("ToNvim");
    [("from_nvim.lua", from_nvim), ("answers.lua", answers), ("to_nvim.lua", printer.text)]
}

type Schemas = Map<String, Value>;

/// The schemas of the types that `name` adds, and of all types that they contain.
fn schemas(from: &mut SchemaGenerator, name: impl Fn(&mut SchemaGenerator)) -> Schemas {
    name(from);
    let mut schemas = from.take_definitions(true);
    for name in schemas.keys() {
        // schemars appends a number if two types have one name
        assert!(!name.ends_with(char::is_numeric), "two types are called {name}");
    }
    let sets: BTreeMap<String, Vec<Value>> = schemas
        .iter()
        .map(|(name, schema)| (name.clone(), words(schema)))
        .filter(|(_, words)| !words.is_empty())
        .collect();
    schemas.values_mut().for_each(|schema| spell_out(schema, &sets));
    schemas
}

/// The words that a schema allows, if it allows only certain words.
fn words(schema: &Value) -> Vec<Value> {
    let one = schema.get("const").filter(|it| it.is_string()).into_iter();
    let some = schema["enum"].as_array().into_iter().flatten();
    let parts = schema["oneOf"].as_array().into_iter().flatten();
    one.chain(some).cloned().chain(parts.flat_map(words)).collect()
}

/// Wherever a type refers to a set of words, replaces the reference by the words themselves: `emmylua_check` does not
/// always accept the set's alias as a string.
fn spell_out(schema: &mut Value, sets: &BTreeMap<String, Vec<Value>>) {
    if let Some(words) = reference(schema).and_then(|it| sets.get(it)) {
        schema["enum"] = words.clone().into();
    }
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|it| spell_out(it, sets)),
        Value::Object(fields) => fields.values_mut().for_each(|it| spell_out(it, sets)),
        _ => (),
    }
}

/// Joins the schemas of the types that the program reads with those of the types that it sends. A type that is both
/// read and sent gets the schema for sending. Lua may send such a value back, so this checks that the program can read
/// it in that form.
fn both(mut read: Schemas, sent: Schemas) -> Schemas {
    for (name, sent) in sent {
        if let Some(read) = read.get(&name) {
            let (sent, read) = (fields(&sent), fields(read));
            assert_eq!(
                sent.len(),
                read.len(),
                "{name} has different fields when it is read than when it is written"
            );
            for (sent, read) in sent.iter().zip(&read) {
                let field = format!("{name}.{}", sent.name);
                assert_eq!((sent.name, &sent.kind), (read.name, &read.kind), "{field}");
                let is_read = !sent.optional || read.optional;
                assert!(is_read, "{field} may be absent when it is sent, but not when it is read");
            }
        }
        read.insert(name, sent);
    }
    read
}

struct Field<'a> {
    name: &'a str,
    /// The Lua type.
    kind: String,
    optional: bool,
    doc: String,
    schema: &'a Value,
}

fn fields(class: &Value) -> Vec<Field<'_>> {
    let required = class["required"].as_array().map_or(&[][..], Vec::as_slice);
    let all = class["properties"].as_object().into_iter().flatten();
    let mut fields = Vec::new();
    for (name, schema) in all {
        let optional = !required.iter().any(|it| it == name);
        // Neovim turns null into `vim.NIL`, which is true in Lua.
        assert!(optional || !may_be_null(schema), "`{name}` is sent even if it is null");
        fields.push(Field { name, kind: kind(schema), optional, doc: doc(schema), schema });
    }
    fields
}

fn may_be_null(schema: &Value) -> bool {
    let is_null = |it: &Value| it == "null" || it["type"] == "null";
    [&schema["type"], &schema["anyOf"]]
        .into_iter()
        .filter_map(Value::as_array)
        .flatten()
        .any(is_null)
}

/// The documentation as one line.
fn doc(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of the type that a schema refers to.
fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// The Lua type of a value.
fn kind(schema: &Value) -> String {
    let either = alternatives(schema);
    if !either.is_empty() {
        return either.iter().map(|(kind, _)| kind.as_str()).collect::<Vec<_>>().join("|");
    }
    if let Some(name) = reference(schema) {
        return format!("caliban.{name}");
    }
    let named = match &schema["type"] {
        Value::Array(either) => either.iter().find(|it| *it != "null").and_then(Value::as_str),
        one => one.as_str(),
    };
    match named {
        Some(it @ ("string" | "boolean" | "integer" | "number")) => it.to_owned(),
        Some("array") => match (&schema["prefixItems"], kind_of_item(&schema["items"])) {
            (Value::Array(items), _) => {
                format!("[{}]", items.iter().map(kind).collect::<Vec<_>>().join(", "))
            }
            (_, Some(item)) => format!("{item}[]"),
            _ => panic!("a list of anything: {schema}"),
        },
        Some("object") => match kind_of_item(&schema["additionalProperties"]) {
            Some(value) => format!("table<string, {value}>"),
            None => panic!("a struct without a name: {schema}"),
        },
        _ => panic!("no Lua type for {schema}"),
    }
}

fn kind_of_item(schema: &Value) -> Option<String> {
    let kind = schema.is_object().then(|| kind(schema))?;
    Some(if kind.contains('|') && !kind.ends_with(']') { format!("({kind})") } else { kind })
}

/// The types that a value may have, each with its documentation.
fn alternatives(schema: &Value) -> Vec<(String, String)> {
    if let Value::String(word) = &schema["const"] {
        return vec![(format!("'{word}'"), doc(schema))];
    }
    if let Value::Array(words) = &schema["enum"] {
        let words = words.iter().filter_map(Value::as_str);
        return words.map(|it| (format!("'{it}'"), String::new())).collect();
    }
    let either = [&schema["oneOf"], &schema["anyOf"]].into_iter().filter_map(Value::as_array);
    let either = either.flatten().filter(|it| it["type"] != "null");
    let each = |it: &Value| match alternatives(it) {
        none if none.is_empty() => vec![(kind(it), doc(it))],
        some => some,
    };
    either.flat_map(each).collect()
}

struct Printer {
    /// The schemas that are not printed yet.
    schemas: Schemas,
    text: String,
}

impl Printer {
    fn new(schemas: Schemas) -> Printer {
        Printer { schemas, text: String::new() }
    }

    fn begin(&mut self, title: &str) {
        self.line("---@meta");
        self.comment(&format!(
            "{title} Generated from the types in `src/nvim/wire.rs`: change these, then run `{COMMAND}`."
        ));
        self.line("---");
        let notes = notes();
        self.comment(&notes);
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn comment(&mut self, text: &str) {
        self.wrapped("---", text);
    }

    /// Prints `head` followed by `text`, wrapped.
    fn wrapped(&mut self, head: &str, text: &str) {
        let mut line = head.to_owned();
        for word in text.split_whitespace() {
            if line.chars().count() + 1 + word.chars().count() > WIDTH {
                self.line(&line);
                "---".clone_into(&mut line);
            }
            line.push(' ');
            line.push_str(word);
        }
        if line != "---" {
            self.line(&line);
        }
    }

    /// Prints all messages of an enum. Each message is followed by the types that it contains and that are not printed
    /// yet.
    fn messages(&mut self, name: &str) {
        let Some(all) = self.schemas.remove(name) else { panic!("no type {name}") };
        let mut names = Vec::new();
        for message in all["oneOf"].as_array().into_iter().flatten() {
            let kind = message["properties"]["kind"]["const"].as_str().unwrap_or_default();
            let name = reference(message).map_or_else(|| pascal(kind), str::to_owned);
            let content = match reference(message) {
                Some(content) => self.schemas.remove(content).unwrap_or_default(),
                None => message.clone(),
            };
            self.class(&name, Some(kind), &content);
            names.push(name);
        }
        self.line("");
        self.comment(&doc(&all));
        self.line(&format!("---@alias caliban.{name}"));
        for it in names {
            self.line(&format!("---| caliban.{it}"));
        }
    }

    /// Prints a type, unless it is printed already.
    fn define(&mut self, name: &str) {
        let Some(schema) = self.schemas.remove(name) else { return };
        if schema["type"] == "object" {
            return self.class(name, None, &schema);
        }
        self.line("");
        self.comment(&doc(&schema));
        let each = alternatives(&schema);
        if each.iter().all(|(_, doc)| doc.is_empty()) {
            self.line(&format!("---@alias caliban.{name} {}", kind(&schema)));
            return;
        }
        self.line(&format!("---@alias caliban.{name}"));
        for (word, doc) in each {
            let doc = if doc.is_empty() { doc } else { format!(" # {doc}") };
            self.line(&format!("---| {word}{doc}"));
        }
    }

    /// Prints a class, then the types of its fields. If `message` is set, the class is a message of this kind.
    fn class(&mut self, name: &str, message: Option<&str>, schema: &Value) {
        self.line("");
        self.comment(&doc(schema));
        self.line(&format!("---@class (exact) caliban.{name}"));
        if let Some(kind) = message {
            self.line(&format!("---@field kind '{kind}'"));
        }
        let mut fields = fields(schema);
        fields.retain(|it| message.is_none() || it.name != "kind");
        for Field { name, kind, optional, doc, .. } in &fields {
            let mark = if *optional { "?" } else { "" };
            self.wrapped(&format!("---@field {name}{mark} {kind}"), doc);
        }
        for name in fields.iter().flat_map(|it| references(it.schema)) {
            self.define(name);
        }
    }
}

/// The names of all types in a schema.
fn references(schema: &Value) -> Vec<&str> {
    let inside: Vec<&Value> = match schema {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => Vec::new(),
    };
    let inside = inside.into_iter().flat_map(references);
    reference(schema).into_iter().chain(inside).collect()
}

/// The Rust name of the variant that serde calls `name`.
fn pascal(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').filter(|it| !it.is_empty()).map(word).collect()
}

/// `Resume` has its own deserializer, which accepts a boolean or a word.
impl JsonSchema for Resume {
    fn schema_name() -> Cow<'static, str> {
        "Resume".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "boolean" }, { "const": "open" }] })
    }
}

/// `Share` has its own deserializer, which accepts a number or `false`.
impl JsonSchema for Share {
    fn schema_name() -> Cow<'static, str> {
        "Share".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "number" }, { "type": "boolean" }] })
    }
}
