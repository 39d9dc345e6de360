//! Reads the provider's own searches of the web from the items of a reply.

use crate::message::{Block, Searched};
use serde_json::Value;

/// The search that a complete item reports; `None` for other items.
pub(super) fn of(item: &Value) -> Option<Searched> {
    if item["type"] != "web_search_call" {
        return None;
    }
    let action = &item["action"];
    let field = |name: &str| action[name].as_str().unwrap_or_default();
    let query = match field("type") {
        "open_page" => field("url").to_owned(),
        "find" | "find_in_page" => format!("{} in {}", field("pattern"), field("url")),
        _ => {
            let queries = action["queries"].as_array().into_iter().flatten();
            let queries: Vec<&str> = queries.filter_map(Value::as_str).collect();
            if queries.is_empty() { field("query").to_owned() } else { queries.join("; ") }
        }
    };
    if item["status"] == "failed" {
        return Some(Searched::failed(&query, "the provider does not say why"));
    }
    let mut searched = Searched::new(&query);
    searched.add("", field("url"));
    for source in action["sources"].as_array().into_iter().flatten() {
        searched.add("", source["url"].as_str().unwrap_or_default());
    }
    Some(searched)
}

/// Adds the addresses that a complete message cites to the searches before it: each to the search that found the
/// address, otherwise to the last search.
pub(super) fn cite(item: &Value, blocks: &mut [Block]) {
    let parts = item["content"].as_array().into_iter().flatten();
    let cited = parts.flat_map(|it| it["annotations"].as_array().into_iter().flatten());
    for it in cited.filter(|it| it["type"] == "url_citation") {
        let (title, url) =
            (it["title"].as_str().unwrap_or_default(), it["url"].as_str().unwrap_or_default());
        let mut searches = blocks.iter_mut().rev().filter_map(|it| match it {
            Block::Searched(it) if it.failed.is_empty() => Some(it),
            _ => None,
        });
        let Some(last) = searches.next() else { return };
        match searches.find(|it| it.results.iter().any(|it| it.url == url)) {
            Some(search) if last.results.iter().all(|it| it.url != url) => search.add(title, url),
            _ => last.add(title, url),
        }
    }
}
