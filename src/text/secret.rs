//! Strings that look like keys, found by how the keys of known services begin.

use std::ops::Range;

/// What stands in a key's place.
pub const MARK: &str = "[secret]";

/// How the keys of model providers, code hosts, clouds and registries begin.
const PREFIXES: [&str; 16] = [
    "sk-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
    "npm_",
    "eyJ",
];
/// Characters after the beginning, at least: the shortest of those keys (AWS) has 16.
const SHORTEST: usize = 16;
const PRIVATE: &str = "PRIVATE KEY-----";

/// The text with `known` keys and what looks like one marked, and how many there were.
pub fn marked(text: &str, known: &[&str]) -> (String, usize) {
    let (mut text, mut count) = (text.to_owned(), 0);
    for key in known.iter().filter(|it| !it.is_empty()) {
        count += text.matches(key).count();
        text = text.replace(key, MARK);
    }
    let found = looks_like_keys(&text);
    for it in found.iter().rev() {
        text.replace_range(it.clone(), MARK);
    }
    (text, count + found.len())
}

fn looks_like_keys(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let len = private_key(&text[at..]).or_else(|| key(&text[at..]));
        match len {
            Some(len) => {
                found.push(at..at + len);
                at += len;
            }
            // a key begins where a word begins
            None if is_part(c) => at += text[at..].find(|c| !is_part(c)).unwrap_or(text.len() - at),
            None => at += c.len_utf8(),
        }
    }
    found
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn key(text: &str) -> Option<usize> {
    let prefix = PREFIXES.into_iter().find(|it| text.starts_with(it))?;
    let is_token = prefix == "eyJ";
    let len = text.find(|c| !(is_part(c) || is_token && c == '.')).unwrap_or(text.len());
    let body = text.get(prefix.len()..len)?;
    // a word of the language has no digits
    (body.len() >= SHORTEST && body.contains(|c: char| c.is_ascii_digit())).then_some(len)
}

/// A private key in PEM, to its end or that of the text.
fn private_key(text: &str) -> Option<usize> {
    let head = text.strip_prefix("-----BEGIN ")?;
    let line = head.split('\n').next()?;
    if !line.contains(PRIVATE) {
        return None;
    }
    let end = text.find("-----END ").and_then(|at| {
        let rest = text[at..].find(PRIVATE)?;
        Some(at + rest + PRIVATE.len())
    });
    Some(end.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_marked_and_words_are_not() {
        let cases = [
            ("key=sk-ant-api03-abcdefghijk123.", "key=[secret].", 1),
            ("ghp_0123456789abcdef0123 AKIA0123456789ABCDEF", "[secret] [secret]", 2),
            ("eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2ln9", "[secret]", 1),
            ("task-0123456789abcdef01 sk-short1", "task-0123456789abcdef01 sk-short1", 0),
            ("hf_a_name_of_a_function_here", "hf_a_name_of_a_function_here", 0),
            (
                "a -----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY----- b",
                "a [secret] b",
                1,
            ),
            ("-----BEGIN PRIVATE KEY-----\nnever ended", "[secret]", 1),
            ("-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----", 0),
            ("known!known", "[secret]![secret]", 2),
        ];
        for (text, expected, count) in cases {
            assert_eq!(marked(text, &["known", ""]), (expected.to_owned(), count), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in ".{0,80}(sk-|eyJ|-----BEGIN PRIVATE KEY-----)?.{0,80}") {
            let (once, _) = marked(&text, &[]);
            prop_assert_eq!(marked(&once, &[]).1, 0);
        }
    }
}
