//! Checks arguments against a small part of JSON Schema, enough to tell a model which argument is wrong. A wrong
//! argument is converted only if nothing is lost and nothing has to be guessed.

use serde_json::{Map, Value, json};

/// The most faults that are listed at once.
const FAULTS: usize = 5;
/// The most characters of a wrong value that are shown.
const SHOWN: usize = 60;

/// Checks arguments against `schema` and converts them where needed. The error tells the model which arguments are
/// wrong, and which are required.
pub(super) fn fit(tool: &str, schema: &Value, given: Value) -> Result<Value, String> {
    let mut faults = Vec::new();
    let unknown = unknown(schema, &given);
    let fitted = value(schema, given, "$", &mut faults);
    if faults.is_empty() {
        return Ok(fitted);
    }
    faults.truncate(FAULTS);
    let required: Vec<&str> = required(schema).collect();
    Err(format!(
        "The arguments are not valid for the tool `{tool}`, so nothing was done.\n{}\nRequired: {}. Known: {}.{unknown}",
        faults.join("\n"),
        if required.is_empty() { "none".to_owned() } else { required.join(", ") },
        schema["properties"]
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .cloned()
            .collect::<Vec<_>>()
            .join(", "),
    ))
}

/// Names the given arguments that the schema does not have, as one of them may be meant for a missing one. Beside valid
/// arguments they are ignored.
fn unknown(schema: &Value, given: &Value) -> String {
    let names = given.as_object().into_iter().flat_map(Map::keys);
    let unknown = names.filter(|it| schema["properties"].get(it.as_str()).is_none());
    let shown = unknown.take(FAULTS).map(|it| it.chars().take(SHOWN).collect());
    let shown = shown.collect::<Vec<String>>().join(", ");
    if shown.is_empty() { shown } else { format!(" Not known: {shown}.") }
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn value(schema: &Value, given: Value, path: &str, faults: &mut Vec<String>) -> Value {
    let wanted = schema["type"].as_str().unwrap_or_default();
    match (wanted, repaired(wanted, given)) {
        ("object", Value::Object(map)) => object(schema, map, path, faults),
        ("array", Value::Array(list)) => {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            if (list.len() as u64) < least {
                faults.push(format!("{path}: expected at least {least}, got {}", list.len()));
            }
            if let Some(most) = schema["maxItems"].as_u64().filter(|it| (list.len() as u64) > *it) {
                faults.push(format!("{path}: expected at most {most}, got {}", list.len()));
            }
            let item = |(at, one)| value(&schema["items"], one, &format!("{path}[{at}]"), faults);
            Value::Array(list.into_iter().enumerate().map(item).collect())
        }
        ("integer", Value::Number(number)) if number.as_i64().is_some() => {
            bounded(schema, number.as_i64().unwrap_or_default(), path, faults)
        }
        ("string", word @ Value::String(_)) => one_of(schema, word, path, faults),
        ("boolean", text @ Value::Bool(_)) => text,
        (wanted, other) => {
            faults.push(format!("{path}: expected {wanted}, got {}", shown(&other)));
            Value::Null
        }
    }
}

fn object(
    schema: &Value,
    mut given: Map<String, Value>,
    path: &str,
    faults: &mut Vec<String>,
) -> Value {
    let required: Vec<&str> = required(schema).collect();
    let mut fitted = Map::new();
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let needed = required.contains(&name.as_str());
        match given.remove(name) {
            Some(Value::Null) if !needed => {}
            Some(one) => {
                let one = value(inner, one, &format!("{path}.{name}"), faults);
                fitted.insert(name.clone(), one);
            }
            None if needed => {
                let wanted = inner["type"].as_str().unwrap_or_default();
                faults.push(format!("{path}.{name}: expected {wanted}, got nothing"));
            }
            None => {}
        }
    }
    Value::Object(fitted)
}

fn bounded(schema: &Value, number: i64, path: &str, faults: &mut Vec<String>) -> Value {
    let (least, most) = (schema["minimum"].as_i64(), schema["maximum"].as_i64());
    if let Some(least) = least.filter(|least| number < *least) {
        faults.push(format!("{path}: expected at least {least}, got {number}"));
    }
    if let Some(most) = most.filter(|most| number > *most) {
        faults.push(format!("{path}: expected at most {most}, got {number}"));
    }
    json!(number)
}

fn one_of(schema: &Value, word: Value, path: &str, faults: &mut Vec<String>) -> Value {
    if let Some(words) = schema["enum"].as_array().filter(|it| !it.contains(&word)) {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        faults.push(format!("{path}: expected one of {}, got {}", words.join(", "), shown(&word)));
    }
    word
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
