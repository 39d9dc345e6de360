//! Tests how a model refers to a new text by a name instead of sending it again.

use super::*;
use crate::edit::kept::{filled, gather, kept, names};
use serde_json::json;
use std::collections::BTreeMap;

fn call(news: &[&str]) -> Vec<Edit> {
    news.iter().map(|new| Edit { path: PATH.into(), change: replace("old", new) }).collect()
}

#[test]
fn long_new_texts_of_a_failed_edit_get_names_for_the_next_call() {
    let (long, other) = ("x".repeat(100), "y".repeat(100));
    let absent = Misfit::Absent { nearest: None, old: String::new(), is_stale: false };
    let all = [
        kept(&call(&[&long]), &absent),
        kept(&call(&[&long, "short", &other]), &absent),
        kept(&call(&["short"]), &absent),
        kept(&call(&[&long]), &Misfit::Refused("no".to_owned())),
        kept(
            &[Edit { path: PATH.into(), change: Change::Write { text: long.clone() } }],
            &Misfit::Unread,
        ),
    ];
    expect![[r#"

        Caliban kept the new text: send `new_from`: "k09ecb6eb" instead of repeating it.
        --
        Caliban kept the new texts: send `new_from` with these names instead of `new`: $.edits[0] "k09ecb6eb", $.edits[2] "k56846f2d".
        --
        --
        --
        Caliban kept the new text: send `text_from`: "k09ecb6eb" instead of repeating it."#]].assert_eq(&all.join("\n--"));
}

#[test]
fn a_named_text_is_filled_in_from_an_earlier_call() {
    let long = "x".repeat(100);
    let said = kept(&call(&[&long]), &Misfit::NoFile);
    let name = said.split('"').nth(1).unwrap();
    let before = json!({ "path": "a", "edits": [{ "old": "b", "new": long }] });
    let now = json!({ "edits": [{ "old": "c", "new_from": name }, { "old": "d", "new": "e", "new_from": "k" }] });
    assert_eq!(names(&now), [name]);
    let mut texts = BTreeMap::new();
    gather(&before, &names(&now), &mut texts);
    let full = filled(now.clone(), &texts).unwrap();
    assert_eq!(full["edits"][0]["new"], json!(long));
    assert_eq!(full["edits"][1]["new"], "e");
    expect!["Caliban kept no text named `k6d711642`, so nothing was done. Send the text itself."]
        .assert_eq(&filled(now, &BTreeMap::new()).unwrap_err().replace(name, "k6d711642"));
}
