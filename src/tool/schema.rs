//! Checks arguments against a small part of JSON Schema, enough to tell a model which argument is wrong. A wrong
//! argument is converted only if nothing is lost and nothing has to be guessed.

use serde_json::{Map, Value, json};

/// The most faults that are listed at once.
const FAULTS: usize = 5;
/// The most characters of a wrong value that are shown.
const SHOWN: usize = 60;

/// Names under which models say why they make a call. They change nothing of what it does.
const REMARKS: [&str; 16] = [
    "comment",
    "comments",
    "description",
    "explanation",
    "goal",
    "intent",
    "justification",
    "message",
    "note",
    "purpose",
    "rationale",
    "reason",
    "reasoning",
    "summary",
    "thought",
    "title",
];

/// The form that the arguments of a tool's calls have.
pub(super) struct Form<'a> {
    pub(super) tool: &'a str,
    /// The tool's text for the model. The first call in it is the example in errors.
    pub(super) purpose: &'a str,
    pub(super) schema: &'a Value,
}

impl Form<'_> {
    /// Checks arguments against the schema and converts them where needed. The error tells the model which arguments
    /// are wrong, and which arguments are known.
    pub(super) fn fit(&self, given: Value) -> Result<Value, String> {
        let mut faults = Faults::default();
        let fitted = value(&Object::root(self.schema), self.schema, given, "$", &mut faults);
        if faults.lines.is_empty() { Ok(fitted) } else { Err(self.refusal(&faults)) }
    }

    /// The error for arguments that fit the schema and are wrong all the same. `fault` begins with the path of the wrong
    /// argument, such as `$.edits[2].new`.
    pub(super) fn refuse(&self, fault: &str) -> String {
        let path = fault.split(':').next().unwrap_or_default();
        let object = path.rsplit_once('.').map_or("$", |it| it.0);
        let mut schema = self.schema;
        for step in object.split(['.', '[']).skip(1) {
            schema =
                if step.ends_with(']') { &schema["items"] } else { &schema["properties"][step] };
        }
        let mut faults = Faults::default();
        faults.add(&Object { path: object, schema, unknown: String::new() }, fault.to_owned());
        self.refusal(&faults)
    }

    fn refusal(&self, faults: &Faults) -> String {
        let example = example(self.purpose).map(|it| format!("\nExample: {it}"));
        format!(
            "The arguments are not valid for the tool `{}`, so nothing was done.\n{}\n{}{}",
            self.tool,
            faults.lines.join("\n"),
            faults.objects.join("\n"),
            example.unwrap_or_default(),
        )
    }
}

/// The first call in a tool's text.
fn example(purpose: &str) -> Option<&str> {
    let text = &purpose[purpose.find("{\"")?..];
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    values.next()?.ok()?;
    text.get(..values.byte_offset())
}

/// At most `FAULTS` lines about wrong arguments, and a line for each object that has one: which arguments it may have.
#[derive(Default)]
struct Faults {
    lines: Vec<String>,
    objects: Vec<String>,
}

impl Faults {
    fn add(&mut self, object: &Object<'_>, line: String) {
        if self.lines.len() == FAULTS {
            return;
        }
        self.lines.push(line);
        let said = object.say();
        if !self.objects.contains(&said) {
            self.objects.push(said);
        }
    }
}

/// An object in the arguments.
struct Object<'a> {
    path: &'a str,
    schema: &'a Value,
    /// The names in the call that the schema does not have. One of them may be a misspelt required one.
    unknown: String,
}

impl<'a> Object<'a> {
    fn root(schema: &'a Value) -> Object<'a> {
        Object { path: "$", schema, unknown: String::new() }
    }

    fn new(path: &'a str, schema: &'a Value, given: &Map<String, Value>) -> Object<'a> {
        let unknown = given.keys().filter(|it| schema["properties"].get(it.as_str()).is_none());
        let shown = unknown.take(FAULTS).map(|it| it.chars().take(SHOWN).collect());
        Object { path, schema, unknown: shown.collect::<Vec<String>>().join(", ") }
    }

    /// Which arguments the object must have and may have.
    fn say(&self) -> String {
        let Object { path, schema, unknown } = self;
        let place = if *path == "$" { String::new() } else { format!(" in {path}") };
        let required: Vec<&str> = required(schema).collect();
        let required = if required.is_empty() { "none".to_owned() } else { required.join(", ") };
        let known = schema["properties"].as_object().into_iter().flat_map(Map::keys).cloned();
        let known = known.collect::<Vec<_>>().join(", ");
        let unknown =
            if unknown.is_empty() { String::new() } else { format!(" Not known: {unknown}.") };
        format!("Required{place}: {required}. Known: {known}.{unknown}")
    }
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Checks and converts a value that is at `path` within `object`.
fn value(
    object: &Object<'_>,
    schema: &Value,
    given: Value,
    path: &str,
    faults: &mut Faults,
) -> Value {
    let wanted = schema["type"].as_str().unwrap_or_default();
    match (wanted, repaired(wanted, given)) {
        ("object", Value::Object(map)) => fields(&Object::new(path, schema, &map), map, faults),
        ("array", Value::Array(list)) => {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            let length = list.len() as u64;
            if length < least {
                faults.add(object, format!("{path}: expected at least {least}, got {length}"));
            }
            if let Some(most) = schema["maxItems"].as_u64().filter(|it| length > *it) {
                faults.add(object, format!("{path}: expected at most {most}, got {length}"));
            }
            let item =
                |(at, one)| value(object, &schema["items"], one, &format!("{path}[{at}]"), faults);
            Value::Array(list.into_iter().enumerate().map(item).collect())
        }
        ("integer", Value::Number(number)) if number.as_i64().is_some() => {
            let number = number.as_i64().unwrap_or_default();
            if let Some(limit) = beyond(schema, number) {
                faults.add(object, format!("{path}: expected {limit}, got {number}"));
            }
            json!(number)
        }
        ("string", word @ Value::String(_)) => {
            if let Some(words) = schema["enum"].as_array().filter(|it| !it.contains(&word)) {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                let (words, given) = (words.join(", "), shown(&word));
                faults.add(object, format!("{path}: expected one of {words}, got {given}"));
            }
            word
        }
        ("boolean", text @ Value::Bool(_)) => text,
        (wanted, other) => {
            let inner = Object { path, schema, unknown: String::new() };
            let has_fields = wanted == "object" && !schema["properties"].is_null();
            let object = if has_fields { &inner } else { object };
            faults.add(object, format!("{path}: expected {wanted}, got {}", shown(&other)));
            Value::Null
        }
    }
}

/// Checks and converts the arguments in an object. One whose schema names no fields is kept as it is.
fn fields(object: &Object<'_>, mut given: Map<String, Value>, faults: &mut Faults) -> Value {
    let Object { path, schema, .. } = object;
    if schema["properties"].is_null() {
        return Value::Object(given);
    }
    let required: Vec<&str> = required(schema).collect();
    let mut fitted = Map::new();
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let needed = required.contains(&name.as_str());
        match given.remove(name) {
            Some(Value::Null) if !needed => {}
            Some(one) => {
                let one = value(object, inner, one, &format!("{path}.{name}"), faults);
                fitted.insert(name.clone(), one);
            }
            None if needed => {
                let wanted = inner["type"].as_str().unwrap_or_default();
                faults.add(object, format!("{path}.{name}: expected {wanted}, got nothing"));
            }
            None => {}
        }
    }
    // the other faults tell these names too
    let is_valid = faults.lines.is_empty();
    let more = given.iter().filter(|it| is_valid && asks_for_more(it.0, it.1));
    for name in more.map(|it| it.0) {
        let name: String = name.chars().take(SHOWN).collect();
        faults.add(object, format!("{path}.{name}: there is no such argument"));
    }
    Value::Object(fitted)
}

/// Whether an argument that the schema does not have may ask for something that would silently not be done. A remark does
/// not, and neither does an argument that is off or empty.
fn asks_for_more(name: &str, given: &Value) -> bool {
    let is_off = match given {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    };
    !is_off && !REMARKS.contains(&name)
}

/// The limit that a number exceeds.
fn beyond(schema: &Value, number: i64) -> Option<String> {
    let (least, most) = (schema["minimum"].as_i64(), schema["maximum"].as_i64());
    let low = least.filter(|it| number < *it).map(|it| format!("at least {it}"));
    low.or_else(|| most.filter(|it| number > *it).map(|it| format!("at most {it}")))
}

/// A value that was written as a string or as a float, converted to the wanted type.
fn repaired(wanted: &str, given: Value) -> Value {
    let inner = match (&given, wanted) {
        (Value::String(text), "object" | "array" | "integer" | "boolean") => {
            serde_json::from_str(text.trim()).ok()
        }
        (Value::Number(number), "integer") => number
            .as_f64()
            .filter(|float| number.as_i64().is_none() && float.fract() == 0.0)
            .and_then(|float| format!("{float}").parse::<i64>().ok())
            .map(Value::from),
        _ => None,
    };
    let fits = |value: &Value| match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "integer" => value.is_i64(),
        _ => value.is_boolean(),
    };
    inner.filter(fits).unwrap_or(given)
}

fn shown(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{kind} {}…", &text[..end]),
        None => format!("{kind} {text}"),
    }
}
