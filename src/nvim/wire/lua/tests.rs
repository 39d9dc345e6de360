//! Tests that the generated Lua types are up to date, are printed correctly, and agree with serde.

use super::{COMMAND, Printer, Schemas, both, fields, files, reference, schemas};
use crate::nvim::wire::FromNvim;
use expect_test::{Expect, expect};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[test]
fn the_generated_lua_types_agree_with_the_rust_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua/caliban/program/wire");
    for (name, text) in files() {
        let path = folder.join(name);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let there = fs::read_to_string(&path).unwrap_or_default();
        let differ = there.lines().zip(text.lines()).find(|(there, text)| there != text);
        assert!(
            there == text,
            "lua/caliban/program/wire/{name} is not generated from the present Rust types; run `{COMMAND}`.\n\
             The first line that differs, and what it should be: {differ:#?}"
        );
    }
}

fn read<T: JsonSchema>() -> Schemas {
    let mut generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    schemas(&mut generator, |it| drop(it.subschema_for::<T>()))
}

fn sent<T: JsonSchema>() -> Schemas {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    schemas(&mut generator, |it| drop(it.subschema_for::<T>()))
}

#[track_caller]
fn check(schemas: Schemas, name: &str, expected: &Expect) {
    let mut printer = Printer::new(schemas);
    printer.define(name);
    expected.assert_eq(printer.text.trim_start());
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Plain {
    One,
    TwoWords,
}

/// A word.
#[derive(Serialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[serde(rename_all = "snake_case")]
enum Word {
    /// The documentation
    /// of a word.
    First,
    Second,
}

#[test]
fn a_rust_enum_becomes_a_lua_alias() {
    check(
        sent::<Plain>(),
        "Plain",
        &expect![[r#"
        ---@alias caliban.Plain 'one'|'two-words'
    "#]],
    );
    check(
        sent::<Word>(),
        "Word",
        &expect![[r#"
        --- A word.
        ---@alias caliban.Word
        ---| 'second'
        ---| 'first' # The documentation of a word.
    "#]],
    );
}

/// The class.
#[derive(Serialize, JsonSchema)]
struct Inner {
    #[serde(rename = "final")]
    done: bool,
    pair: (u32, f64),
}

#[derive(Serialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Sent {
    /// A field with a documentation that is so long that the line is longer than the limit and has to be wrapped.
    always: Vec<Plain>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maybe: Option<Plain>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    list: Vec<Inner>,
    #[serde(skip)]
    never: String,
    map: BTreeMap<String, u32>,
    #[serde(flatten)]
    flat: Inner,
}

#[test]
fn a_field_that_the_program_may_omit_is_optional_in_lua() {
    check(
        sent::<Sent>(),
        "Sent",
        &expect![[r#"
            --- The class.
            ---@class (exact) caliban.Sent
            ---@field always ('one'|'two-words')[] A field with a documentation that is so long that the line is longer than the
            --- limit and has to be wrapped.
            ---@field maybe? 'one'|'two-words'
            ---@field list? caliban.Inner[]
            ---@field map table<string, integer>
            ---@field final boolean
            ---@field pair [integer, number]

            ---@alias caliban.Plain 'one'|'two-words'

            --- The class.
            ---@class (exact) caliban.Inner
            ---@field final boolean
            ---@field pair [integer, number]
        "#]],
    );
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Read {
    always: Plain,
    maybe: Option<Plain>,
    #[serde(default)]
    flag: bool,
    map: BTreeMap<String, Vec<String>>,
}

#[test]
fn a_field_that_has_a_default_when_it_is_read_is_optional_in_lua() {
    check(
        read::<Read>(),
        "Read",
        &expect![[r#"
            ---@class (exact) caliban.Read
            ---@field always 'one'|'two-words'
            ---@field maybe? 'one'|'two-words'
            ---@field flag? boolean
            ---@field map table<string, string[]>

            ---@alias caliban.Plain 'one'|'two-words'
        "#]],
    );
}

#[derive(Serialize, JsonSchema)]
struct Null {
    field: Option<u32>,
}

#[test]
#[should_panic(expected = "`field` is sent even if it is null")]
fn a_type_that_sends_an_option_as_null_is_refused() {
    check(sent::<Null>(), "Null", &expect![""]);
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Both {
    #[serde(default)]
    sent: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    left_out: String,
}

#[test]
fn a_type_that_is_both_sent_and_read_is_described_as_it_is_sent() {
    check(
        both(read::<Both>(), sent::<Both>()),
        "Both",
        &expect![[r#"
        ---@class (exact) caliban.Both
        ---@field sent boolean
        ---@field left_out? string
    "#]],
    );
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct OneWay {
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
}

#[test]
#[should_panic(expected = "OneWay.text may be absent when it is sent, but not when it is read")]
fn a_type_with_different_fields_when_sent_and_when_read_is_refused() {
    both(read::<OneWay>(), sent::<OneWay>());
}

mod other {
    #[derive(schemars::JsonSchema)]
    pub(super) struct Null {
        _field: u32,
    }
}

#[test]
#[should_panic(expected = "two types are called Null2")]
fn two_types_with_the_same_name_are_refused() {
    sent::<(Null, other::Null)>();
}

/// A sample value of a type: with all fields if `is_full`, otherwise only with the required ones.
fn sample(schema: &Value, types: &Schemas, is_full: bool) -> Value {
    if let Some(name) = reference(schema) {
        let mut value = sample(&types[name], types, is_full);
        // the field that names the kind of a message has a fixed value
        for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
            value[field] = schema["const"].clone();
        }
        return value;
    }
    if let Value::String(_) = schema["const"] {
        return schema["const"].clone();
    }
    for either in ["enum", "oneOf", "anyOf"] {
        if let Value::Array(all) = &schema[either] {
            return if either == "enum" { all[0].clone() } else { sample(&all[0], types, is_full) };
        }
    }
    let kind = schema["type"].as_array().map_or(&schema["type"], |either| &either[0]);
    match (kind.as_str().unwrap(), &schema["prefixItems"], &schema["additionalProperties"]) {
        ("string", ..) => json!("text"),
        ("boolean", ..) => json!(true),
        ("integer", ..) => json!(1),
        ("number", ..) => json!(1.5),
        ("array", Value::Array(items), _) => {
            items.iter().map(|it| sample(it, types, is_full)).collect()
        }
        ("array", ..) => json!([sample(&schema["items"], types, is_full)]),
        ("object", _, value @ Value::Object(_)) => json!({"NAME": sample(value, types, is_full)}),
        _ => {
            let fields = fields(schema).into_iter().filter(|it| is_full || !it.optional);
            let named = fields.map(|it| (it.name.to_owned(), sample(it.schema, types, is_full)));
            Value::Object(named.collect::<Map<_, _>>())
        }
    }
}

/// For each field of the value and of the structs in it, a copy of the value without that field.
fn without_one(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    let fields = value.as_object().into_iter().flatten();
    for (name, inner) in fields {
        let mut less = value.clone();
        less.as_object_mut().unwrap().shift_remove(name);
        all.push(less);
        for inner in without_one(inner) {
            let mut less = value.clone();
            less[name] = inner;
            all.push(less);
        }
    }
    for (at, inner) in value.as_array().into_iter().flatten().enumerate() {
        for inner in without_one(inner) {
            let mut less = value.clone();
            less[at] = inner;
            all.push(less);
        }
    }
    all
}

fn decode(message: &Value) -> Result<FromNvim, String> {
    let bytes = rmp_serde::to_vec_named(message).unwrap();
    match FromNvim::decode(rmpv::decode::read_value(&mut bytes.as_slice()).unwrap()) {
        FromNvim::Unread { why, .. } => Err(why),
        read => Ok(read),
    }
}

#[test]
fn a_message_is_read_with_its_required_fields_and_not_without_any_of_them() {
    let types = read::<FromNvim>();
    let kinds = types["FromNvim"]["oneOf"].as_array().unwrap();
    assert!(kinds.len() > 20);
    for kind in kinds {
        let full = sample(kind, &types, true);
        decode(&full).unwrap_or_else(|why| panic!("{why}: {full}"));
        let least = sample(kind, &types, false);
        decode(&least).unwrap_or_else(|why| panic!("{why}: {least}"));
        for less in without_one(&least) {
            assert!(decode(&less).is_err(), "{less} is read");
        }
    }
}
