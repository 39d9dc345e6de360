//! A tool as its server describes it, and the search for tools. Names, descriptions and schemas are a stranger's text.

use super::name::full;
use serde_json::Value;
use std::collections::BTreeMap;

/// The most characters of a description, and the most bytes of a schema as JSON.
const DESCRIPTION: usize = 2_000;
const SCHEMA: usize = 8_000;

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    pub server: String,
    /// The tool as the server names it.
    pub tool: String,
    /// The tool as rules name it and as the model calls it.
    pub name: String,
    pub description: String,
    /// The JSON Schema of the arguments.
    pub schema: String,
    /// Whether the server says that the tool only reads.
    pub only_reads: bool,
}

pub(super) fn offers(server: &str, tools: Vec<rmcp::model::Tool>) -> Vec<Offer> {
    let offer = |it: rmcp::model::Tool| {
        let schema = Value::Object((*it.input_schema).clone()).to_string();
        let fits = schema.len() <= SCHEMA;
        Offer {
            server: server.to_owned(),
            name: full(server, &it.name),
            tool: it.name.into_owned(),
            description: it.description.unwrap_or_default().chars().take(DESCRIPTION).collect(),
            schema: if fits { schema } else { outline(&it.input_schema) },
            only_reads: it.annotations.and_then(|it| it.read_only_hint).unwrap_or(false),
        }
    };
    // one name, one tool: what a server offers twice is the first
    let mut by_name = BTreeMap::new();
    for it in tools.into_iter().map(offer) {
        by_name.entry(it.name.clone()).or_insert(it);
    }
    by_name.into_values().collect()
}

/// The names of the arguments of a schema that is too long to show.
fn outline(schema: &serde_json::Map<String, Value>) -> String {
    let names = schema.get("properties").and_then(Value::as_object);
    let names: Vec<&str> = names.into_iter().flatten().map(|it| it.0.as_str()).take(100).collect();
    serde_json::json!({ "type": "object", "arguments": names }).to_string()
}

/// The tools that a query means, the best first; all of them for a query without words. A tool that has more of the
/// words comes first, and one that has them in its name before one that has them in its description.
pub fn found<'a>(offers: &'a [Offer], query: &str) -> Vec<&'a Offer> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let score = |it: &Offer| {
        let (name, about) = (it.name.to_lowercase(), it.description.to_lowercase());
        let of = |word: &String| {
            usize::from(about.contains(word.as_str()))
                + 3 * usize::from(name.contains(word.as_str()))
        };
        words.iter().map(of).sum::<usize>()
    };
    let mut scored: Vec<(usize, &Offer)> = offers.iter().map(|it| (score(it), it)).collect();
    if !words.is_empty() {
        scored.retain(|it| it.0 > 0);
        // the sort is stable: equals stay in the order of their names
        scored.sort_by_key(|it| std::cmp::Reverse(it.0));
    }
    scored.into_iter().map(|it| it.1).collect()
}

impl Offer {
    /// The first line of the description.
    pub fn line(&self) -> &str {
        self.description.lines().find(|it| !it.trim().is_empty()).unwrap_or_default().trim()
    }
}
