//! New texts of edits that did not fit. A model refers to such a text by a short hash, so it need not send the text
//! again. The texts are found in the conversation's calls; they are stored nowhere else.

use super::{Change, Edit, Misfit};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A text with fewer bytes gets no name, because it is easy to send again.
const LONG: usize = 100;
/// Pairs of arguments: the first contains a text; the second can name a kept text instead.
const PAIRS: [(&str, &str); 2] = [("new", "new_from"), ("text", "text_from")];

/// The name of a text; the same text always has the same name.
fn name(text: &str) -> String {
    format!("k{}", &format!("{:x}", Sha256::digest(text))[..8])
}

/// A note for the model that is appended to the error about an edit that does not fit: the names of the edit's new
/// texts. Empty if the names would not help.
pub fn kept(edits: &[Edit], misfit: &Misfit) -> String {
    let useless = [Misfit::Unchanged, Misfit::EmptyOld].contains(misfit)
        || matches!(misfit, Misfit::AlreadyApplied { .. } | Misfit::Refused(_));
    let long = edits.iter().enumerate().filter_map(|(at, edit)| Some((at, text(edit)?)));
    let long: Vec<_> = long.filter(|(_, (_, text))| text.len() >= LONG && !useless).collect();
    match &long[..] {
        [] => String::new(),
        [(_, (argument, text))] if edits.len() == 1 => {
            format!(
                "\nCaliban kept the new text: send `{argument}`: \"{}\" instead of repeating it.",
                name(text)
            )
        }
        many => {
            let each =
                many.iter().map(|(at, (_, text))| format!("$.edits[{at}] \"{}\"", name(text)));
            let each = each.collect::<Vec<_>>().join(", ");
            format!(
                "\nCaliban kept the new texts: send `new_from` with these names instead of `new`: {each}."
            )
        }
    }
}

/// The argument that can name an edit's new text, and the new text.
fn text(edit: &Edit) -> Option<(&'static str, &str)> {
    match &edit.change {
        Change::Replace(one) => Some(("new_from", &one.new)),
        Change::Write { text } => Some(("text_from", text)),
        Change::Create { .. } | Change::Patch(_) | Change::Become { .. } | Change::Whole(_) => None,
    }
}

/// The names that a call's arguments refer to.
pub fn names(arguments: &Value) -> Vec<String> {
    let mut names = Vec::new();
    objects(arguments, &mut |map| {
        let given = PAIRS.iter().filter(|(text, _)| !map.contains_key(*text));
        let used = given.filter_map(|(_, from)| map.get(*from)?.as_str());
        names.extend(used.map(str::to_owned));
    });
    names
}

/// Finds the texts in a call's arguments whose name is in `names`, and adds them to `texts`.
pub fn gather(arguments: &Value, names: &[String], texts: &mut BTreeMap<String, String>) {
    objects(arguments, &mut |map| {
        for text in PAIRS.iter().filter_map(|(text, _)| map.get(*text)?.as_str()) {
            let name = name(text);
            if names.contains(&name) {
                texts.insert(name, text.to_owned());
            }
        }
    });
}

/// Replaces the names in the arguments by their texts. The error is text for the model.
pub fn filled(mut arguments: Value, texts: &BTreeMap<String, String>) -> Result<Value, String> {
    if let Some(lost) = names(&arguments).iter().find(|it| !texts.contains_key(*it)) {
        return Err(format!(
            "Caliban kept no text named `{lost}`, so nothing was done. Send the text itself."
        ));
    }
    fill(&mut arguments, texts);
    Ok(arguments)
}

fn fill(value: &mut Value, texts: &BTreeMap<String, String>) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|it| fill(it, texts)),
        Value::Object(map) => {
            for (argument, from) in PAIRS {
                let text = map.get(from).and_then(Value::as_str).and_then(|it| texts.get(it));
                if let (Some(text), false) = (text.cloned(), map.contains_key(argument)) {
                    map.insert(argument.to_owned(), Value::String(text));
                }
            }
            map.iter_mut().for_each(|(_, it)| fill(it, texts));
        }
        _ => (),
    }
}

fn objects(value: &Value, see: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Array(list) => list.iter().for_each(|it| objects(it, see)),
        Value::Object(map) => {
            see(map);
            map.values().for_each(|it| objects(it, see));
        }
        _ => (),
    }
}
