//! The hand-off of a worker: reads it from the worker's last reply, and writes one for a worker that gave none.

use serde::Serialize;
use serde_json::{Map, Value};

/// The most bytes of a field other than `what_was_done`.
const FIELD: usize = 4_000;
/// How many bytes at the end of a reply are searched for a hand-off after other text, and how many possible beginnings
/// are tried. A reply may be one line of megabytes.
const SEARCHED: usize = 200_000;
const TRIES: usize = 500;

/// What a worker hands to its coordinator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub what_was_done: String,
    pub evidence: String,
    pub unresolved_risks: String,
    pub exact_next_step: String,
    pub status: String,
}

/// The fields that every hand-off has.
const FIELDS: [&str; 5] =
    ["what_was_done", "evidence", "unresolved_risks", "exact_next_step", "status"];

impl Report {
    /// Reads the hand-off from a worker's last reply, which is JSON, or has the JSON in a code fence or after other
    /// text. A reply without the JSON becomes a partial hand-off.
    #[must_use]
    pub fn of(reply: &str) -> Report {
        let Some(fields) = object(reply) else {
            let risk = "The worker's report is not the JSON that was asked for, so nothing in it is checked.";
            return Report::partial(reply.trim(), risk, "Check the work before you build on it.");
        };
        let [what_was_done, evidence, mut unresolved_risks, exact_next_step, status] =
            FIELDS.map(|name| text(&fields, name));
        let missing: Vec<&str> =
            FIELDS.into_iter().filter(|it| !fields.contains_key(*it)).collect();
        let is_known = matches!(status.as_str(), "done" | "partial" | "failed");
        let status = if missing.is_empty() && is_known { status } else { "partial".to_owned() };
        if !missing.is_empty() {
            let gap = if unresolved_risks.is_empty() { "" } else { "\n" };
            let missing = missing.join("`, `");
            unresolved_risks.push_str(&format!("{gap}The hand-off lacks `{missing}`."));
        }
        Report {
            what_was_done,
            evidence: short(evidence),
            unresolved_risks: short(unresolved_risks),
            exact_next_step: short(exact_next_step),
            status,
        }
    }

    #[must_use]
    pub fn partial(done: &str, risk: &str, next: &str) -> Report {
        Report {
            what_was_done: done.to_owned(),
            evidence: String::new(),
            unresolved_risks: risk.to_owned(),
            exact_next_step: next.to_owned(),
            status: "partial".to_owned(),
        }
    }

    /// Turns the report into that of a worker that broke off for this reason.
    #[must_use]
    pub fn broken_off(self, why: &str) -> Report {
        let said = if self.unresolved_risks.is_empty() { "" } else { " " };
        let unresolved_risks = format!("{why}{said}{}", self.unresolved_risks);
        Report { unresolved_risks, status: "partial".to_owned(), ..self }
    }

    pub fn is_done(&self) -> bool {
        self.status == "done"
    }

    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// The last JSON object of a reply that has one of the fields, and is no part of another such object.
fn object(reply: &str) -> Option<Map<String, Value>> {
    if let Ok(Value::Object(fields)) = serde_json::from_str(reply.trim()) {
        return Some(fields).filter(is_hand_off);
    }
    let mut from = reply.len().saturating_sub(SEARCHED);
    while !reply.is_char_boundary(from) {
        from += 1;
    }
    let mut found = None;
    for _ in 0..TRIES {
        let Some(at) = next_object(reply, from) else { break };
        from = at + 1;
        let mut values = serde_json::Deserializer::from_str(&reply[at..]).into_iter::<Value>();
        if let Some(Ok(Value::Object(fields))) = values.next()
            && is_hand_off(&fields)
        {
            found = Some(fields);
            from = at + values.byte_offset();
        }
    }
    found
}

fn is_hand_off(fields: &Map<String, Value>) -> bool {
    FIELDS.iter().any(|it| fields.contains_key(*it))
}

/// Where the next object may begin: a brace before a quotation mark.
fn next_object(reply: &str, from: usize) -> Option<usize> {
    let mut starts = reply.get(from..)?.match_indices('{').map(|(at, _)| from + at);
    starts.find(|at| reply[at + 1..].trim_start().starts_with('"'))
}

/// A field as text. A list becomes one line for each item.
fn text(fields: &Map<String, Value>, name: &str) -> String {
    match fields.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Array(items)) => {
            let items = items.iter().map(|it| match it {
                Value::String(text) => format!("- {}", text.trim()),
                other => format!("- {other}"),
            });
            items.collect::<Vec<_>>().join("\n")
        }
        Some(other) => other.to_string(),
    }
}

fn short(text: String) -> String {
    if text.len() <= FIELD {
        return text;
    }
    let mut end = FIELD;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}… [cut]", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"what_was_done": "a", "evidence": ["x:1", "y:2"], "unresolved_risks": "", "exact_next_step": "c", "status": "done"}"#;

    #[test]
    fn a_hand_off_is_found_alone_in_a_fence_or_after_other_text() {
        let words = format!(
            "I looked at {{x}} and `fn f() {{\"a\"}}`.\n\n```json\n{WHOLE}\n```\nThat is all."
        );
        for reply in [WHOLE, &format!("```\n{WHOLE}\n```"), &format!("Done. {WHOLE}"), &words] {
            let report = Report::of(reply);
            assert_eq!(
                (&*report.what_was_done, &*report.evidence),
                ("a", "- x:1\n- y:2"),
                "{reply}"
            );
            assert!(report.is_done(), "{reply}");
        }
        // the last hand-off counts, and an object inside of another is not a hand-off
        let inner = WHOLE.replace("\"c\"", &format!("{{\"status\": {WHOLE}}}"));
        let report = Report::of(&format!("{WHOLE}\n{}", inner.replace("\"a\"", "\"b\"")));
        assert_eq!(report.what_was_done, "b");
    }

    #[test]
    fn a_malformed_hand_off_becomes_a_partial_one_that_names_the_fault() {
        for reply in ["", "It is all done.", "{\"what\": 1}", "{", "[1]", "```json\n{broken\n```"] {
            let report = Report::of(reply);
            assert_eq!(
                (&*report.what_was_done, &*report.status),
                (reply.trim(), "partial"),
                "{reply}"
            );
            assert!(report.unresolved_risks.contains("is not the JSON"), "{reply}");
        }
        let report = Report::of(
            r#"{"what_was_done": {"n": 1}, "status": "great", "unresolved_risks": "r"}"#,
        );
        assert_eq!(report.what_was_done, r#"{"n":1}"#);
        assert_eq!(report.unresolved_risks, "r\nThe hand-off lacks `evidence`, `exact_next_step`.");
        assert!(!report.is_done());
        assert!(!Report::of(r#"{"what_was_done": "a", "status": "done"}"#).is_done());
        let report = Report::of(WHOLE).broken_off("It stopped.");
        assert_eq!((&*report.status, &*report.unresolved_risks), ("partial", "It stopped."));
    }

    #[test]
    fn long_fields_of_a_hand_off_are_cut_even_in_a_line_of_megabytes() {
        let long = "x".repeat(2_000_000);
        let report = Report::of(&WHOLE.replace("\"c\"", &format!("\"{long}\"")));
        assert_eq!(report.exact_next_step.len(), FIELD + "… [cut]".len());
        for reply in ["{\"a".repeat(700_000), "{\"a\":".repeat(400_000), format!("{long}{WHOLE}")] {
            let report = Report::of(&reply);
            assert_eq!(report.is_done(), reply.ends_with(WHOLE));
        }
    }
}
