//! `plan`: submits the plan in plan mode. The call has no effect by itself: it ends the turn, and the user decides on the
//! plan.

use super::schema::Form;
use super::{Author, Tool, Work};
use crate::event::Access;
use crate::message::{Builtin, Input, ToolCall};
use crate::view::clean;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The sections of a plan: the argument and the heading.
const SECTIONS: [(&str, &str); 6] = [
    ("summary", "Summary"),
    ("changes", "Changes"),
    ("interfaces", "Interfaces"),
    ("tests", "Tests"),
    ("assumptions", "Assumptions"),
    ("risks", "Risks"),
];

/// The most bytes of a plan. A longer plan would not fit into a hand-off.
pub const LONGEST: usize = 32_000;

const PURPOSE: &str = "Submits your plan in plan mode and ends your turn. Each section is Markdown without a heading; \
    `changes` lists the changes file by file, in order; `interfaces` lists the public names and formats that change. \
    Example: {\"summary\":\"Parse once\",\"changes\":\"- a.rs: cache it\",\"interfaces\":\"none\",\"tests\":\"- cargo \
    test\",\"assumptions\":\"none\",\"risks\":\"none\"}";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Plan.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Known,
        work: Work::Last(Arc::new(|_, args| check(&args).map(|()| Access::Plan))),
    }
}

fn schema() -> Value {
    let property = |(name, _): &(&str, &str)| ((*name).to_owned(), json!({ "type": "string" }));
    let properties: Map<String, Value> = SECTIONS.iter().map(property).collect();
    let required: Vec<&str> = SECTIONS.iter().map(|it| it.0).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Checks arguments that fit the schema: each section says something, and the plan is not too long.
fn check(args: &Value) -> Result<(), String> {
    let schema = schema();
    let form = Form { tool: Builtin::Plan.name(), purpose: PURPOSE, schema: &schema };
    let mut room = LONGEST;
    for (name, ..) in SECTIONS {
        let text = section(args, name);
        if text.is_empty() {
            let fault =
                format!("$.{name}: expected Markdown that says something, got nothing but blanks");
            return Err(form.refuse(&fault));
        }
        room = room.checked_sub(text.len()).ok_or_else(|| {
            let fault = format!(
                "$.{name}: expected a plan of at most {LONGEST} bytes in all, got {} with this section",
                LONGEST - room + text.len()
            );
            form.refuse(&fault)
        })?;
    }
    Ok(())
}

/// The Markdown of a section. Escape sequences are removed, and invisible characters spelt out, so that the user reads
/// all that the model will be told to carry out.
fn section(args: &Value, name: &str) -> String {
    let text = clean(args[name].as_str().unwrap_or_default());
    text.trim_matches('\n').trim_end().to_owned()
}

/// The plan of a call, as Markdown. `None` if the call is not a plan that was submitted.
pub fn text(call: &ToolCall) -> Option<String> {
    let Input::Json(args) = &call.input else { return None };
    let is_plan = call.is_of(Builtin::Plan) && check(args).is_ok();
    is_plan.then(|| {
        let parts = SECTIONS
            .iter()
            .map(|(name, heading)| format!("## {heading}\n\n{}\n", section(args, name)));
        format!("# Plan\n\n{}", parts.collect::<Vec<_>>().join("\n"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::CallId;
    use crate::tool::tests::{access, room};
    use expect_test::expect;

    fn call(args: Value) -> ToolCall {
        ToolCall {
            id: CallId("c1".into()),
            tool: Builtin::Plan.name().into(),
            input: Input::Json(args),
        }
    }

    fn args() -> Value {
        let said =
            SECTIONS.iter().map(|(name, ..)| ((*name).to_owned(), json!(format!("- {name}"))));
        Value::Object(said.collect())
    }

    fn with(name: &str, value: Value) -> Value {
        let mut args = args();
        args[name] = value;
        args
    }

    /// The first fault that the model is told.
    fn fault(args: Value) -> String {
        match access(&room().desk, &call(args)) {
            Access::Invalid(said) => said.lines().nth(1).unwrap_or_default().to_owned(),
            access => format!("{access:?}"),
        }
    }

    #[test]
    fn a_plan_needs_text_in_each_section() {
        assert_eq!(fault(args()), "Plan");
        let mut missing = args();
        missing.as_object_mut().unwrap().remove("tests");
        expect!["$.tests: expected string, got nothing"].assert_eq(&fault(missing));
        expect!["$.risks: expected string, got array [\"a\"]"]
            .assert_eq(&fault(with("risks", json!(["a"]))));
        expect!["$.summary: expected Markdown that says something, got nothing but blanks"]
            .assert_eq(&fault(with("summary", json!(" \n\t "))));
        expect!["$.changes: expected a plan of at most 32000 bytes in all, got 2000009 with this section"]
            .assert_eq(&fault(with("changes", json!("x".repeat(2_000_000)))));
        assert_eq!(text(&call(with("changes", json!("x".repeat(2_000_000))))), None);
    }

    #[test]
    fn a_plan_is_markdown_in_which_nothing_is_hidden() {
        let hidden = "a\u{1b}[31mred\u{1b}[0m\n\u{202e}b\u{200b}\n";
        let text = text(&call(with("changes", json!(hidden)))).unwrap();
        expect![[r"
            # Plan

            ## Summary

            - summary

            ## Changes

            ared
            [U+202E]b[U+200B]

            ## Interfaces

            - interfaces

            ## Tests

            - tests

            ## Assumptions

            - assumptions

            ## Risks

            - risks
        "]]
        .assert_eq(&text);
    }
}
