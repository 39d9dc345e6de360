//! A web search that the model's provider has made by itself, in the form that the user sees. The reply also has the
//! provider's own blocks, which are sent back.

use crate::text::counted;
use serde::{Deserialize, Serialize};
use url::Url;

/// The most results of a search that are kept, and the most characters of a query and of a title.
const RESULTS: usize = 30;
const QUERY: usize = 400;
const TITLE: usize = 200;
/// The most bytes of an address. A result with a longer one is left out.
const ADDRESS: usize = 2_000;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Searched {
    /// The words that were searched for. Empty if the provider does not report them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub query: String,
    /// Why the search failed, in the provider's words. Empty if it succeeded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failed: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<Found>,
}

/// A result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    #[serde(default)]
    pub title: String,
    pub url: String,
}

impl Searched {
    pub fn new(query: &str) -> Searched {
        Searched { query: line(query, QUERY), ..Searched::default() }
    }

    pub fn failed(query: &str, why: &str) -> Searched {
        let why = if why.trim().is_empty() { "no reason given" } else { why };
        Searched { failed: line(why, TITLE), ..Searched::new(query) }
    }

    /// Adds a result, unless its address is too long or is not one of the web (`http`, `https`). If a result with this
    /// address exists and has no title, that result gets the title.
    pub fn add(&mut self, title: &str, url: &str) {
        let url = Url::parse(url).ok().filter(|it| matches!(it.scheme(), "http" | "https"));
        let Some(url) = url.filter(|it| it.as_str().len() <= ADDRESS).map(String::from) else {
            return;
        };
        let title = line(title, TITLE);
        if let Some(known) = self.results.iter_mut().find(|it| it.url == url) {
            if known.title.is_empty() {
                known.title = title;
            }
        } else if self.results.len() < RESULTS {
            self.results.push(Found { title, url });
        }
    }

    /// The results as numbered lines.
    pub fn text(&self) -> String {
        let each = self.results.iter().enumerate().map(|(n, it)| {
            let title =
                if it.title.is_empty() { String::new() } else { format!("{}\n   ", it.title) };
            format!("{}. {title}{}", n + 1, it.url)
        });
        each.collect::<Vec<_>>().join("\n")
    }

    /// A few words for the right end of the search's line in the chat.
    pub fn summary(&self) -> String {
        match self.results.len() {
            _ if !self.failed.is_empty() => format!("failed: {}", self.failed),
            0 => "no results".to_owned(),
            n => counted(n, "result"),
        }
    }
}

/// A text in one line of at most `most` characters.
fn line(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_keeps_only_results_with_a_web_address_and_cuts_long_titles() {
        let mut it = Searched::new(" a\n b ");
        it.add("One\ntwo", "https://a.org/x y");
        it.add("", "https://b.org");
        it.add("Late", "https://b.org/");
        for url in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "x",
            &format!("https://a.org/{}", "x".repeat(3000)),
        ] {
            it.add("bad", url);
        }
        assert_eq!(it.query, "a b");
        assert_eq!(it.text(), "1. One two\n   https://a.org/x%20y\n2. Late\n   https://b.org/");
        assert_eq!(it.summary(), "2 results");
        (0..100).for_each(|n| it.add(&"x".repeat(500), &format!("https://c.org/{n}")));
        assert_eq!(it.results.len(), RESULTS);
        assert_eq!(it.results[5].title.chars().count(), TITLE + 1);
        assert_eq!(Searched::failed("a", " ").summary(), "failed: no reason given");
    }
}
