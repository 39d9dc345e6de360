//! The beginning of a request, which the provider caches: how long it has to be, and where a request differs from the
//! beginning of the previous one.

use super::facts::Facts;
use serde_json::Value;
use std::borrow::Cow;

/// How many bytes are shown on either side of a difference.
const CONTEXT: usize = 16;

/// Finds the first place where the request `after` does not continue the request `before`. Lists may grow at their end
/// and cache marks may move; everything else has to be the same. Returns a sentence with the place, the byte offset
/// within it, and a few bytes of both requests.
pub fn first_difference(before: &Value, after: &Value) -> Option<String> {
    let (Some(fields), Some(_)) = (before.as_object(), after.as_object()) else {
        return item("the body", before, after);
    };
    fields.iter().find_map(|(name, value)| match (value, &after[name]) {
        (Value::Array(before), Value::Array(after)) => {
            let missing = || format!("{name} has {} items, not {}", after.len(), before.len());
            std::iter::zip(before, after)
                .enumerate()
                .find_map(|(at, (before, after))| item(&format!("{name}[{at}]"), before, after))
                .or_else(|| (after.len() < before.len()).then(missing))
        }
        (before, after) => item(name, before, after),
    })
}

fn item(place: &str, before: &Value, after: &Value) -> Option<String> {
    let (before, after) = (unmarked(before).to_string(), unmarked(after).to_string());
    let same = std::iter::zip(before.bytes(), after.bytes()).take_while(|(a, b)| a == b).count();
    (before != after).then(|| {
        let (was, is) = (around(&before, same), around(&after, same));
        format!("{place} at byte {same}: {was:?} became {is:?}")
    })
}

fn around(text: &str, at: usize) -> Cow<'_, str> {
    let end = (at + CONTEXT).min(text.len());
    String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(CONTEXT)..end])
}

fn unmarked(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| *name != "cache_control");
            Value::Object(kept.map(|(name, value)| (name.clone(), unmarked(value))).collect())
        }
        Value::Array(items) => items.iter().map(unmarked).collect(),
        other => other.clone(),
    }
}

/// Compares the length of the text before a cache mark with the shortest text that the model's provider caches.
pub(super) struct CacheMinimum {
    /// How many bytes of text are missing before a mark is useful.
    missing: usize,
}

/// The assumed number of bytes per token. Nearly every text has more, so the estimate of its tokens is too high, and a
/// text that the provider would cache is hardly ever considered too short.
const TOKEN: usize = 2;

impl CacheMinimum {
    pub(super) fn of(model: &str) -> CacheMinimum {
        CacheMinimum { missing: Facts::of(model).cache_minimum as usize * TOKEN }
    }

    pub(super) fn is_enough(&self) -> bool {
        self.missing == 0
    }

    pub(super) fn take(&mut self, part: &Value) {
        if !self.is_enough() && !part.is_null() {
            self.missing = self.missing.saturating_sub(part.to_string().len());
        }
    }

    /// How many of these messages end before the text is long enough to be cached.
    pub(super) fn too_short(mut self, messages: &[Value]) -> usize {
        let short = messages.iter().take_while(|it| {
            self.take(it);
            !self.is_enough()
        });
        short.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_difference_between_two_requests_is_named() {
        let message =
            |text: &str| json!({ "role": "user", "content": [{ "type": "text", "text": text }] });
        let mut marked = message("one");
        marked["content"][0]["cache_control"] = json!({ "type": "ephemeral" });
        let body = |messages: Vec<Value>| json!({ "model": "m", "system": "be good", "messages": messages, "max_tokens": 9 });
        let before = body(vec![marked, message("zwei ✓ und drei")]);
        let said = |after: Value| first_difference(&before, &after).unwrap_or_default();
        assert_eq!(said(before.clone()), "");
        assert_eq!(
            said(body(vec![message("one"), message("zwei ✓ und drei"), message("more")])),
            ""
        );
        assert_eq!(
            said(body(vec![message("one"), message("zwei ✓ und vier")])),
            r#"messages[1] at byte 62: "\":\"zwei ✓ und drei\"}]}" became "\":\"zwei ✓ und vier\"}]}""#
        );
        assert_eq!(said(body(vec![message("one")])), "messages has 1 items, not 2");
        let other = json!({ "model": "m", "system": "be bad", "messages": [] });
        assert_eq!(said(other), r#"system at byte 4: "\"be good\"" became "\"be bad\"""#);
        assert_eq!(
            said(Value::Null),
            r#"the body at byte 0: "{\"model\":\"m\",\"sy" became "null""#
        );
    }
}
