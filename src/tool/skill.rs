//! The tool `skill`: loads the text of a skill.

use super::{CallId, Desk, Done, Tool, Work, skills, walk};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;

const PURPOSE: &str = "Loads a skill: how the user or the project wants a particular kind of work done. The \
    <skills> blocks list the skills. Load the skill that fits before you begin: {\"name\":\"release\"}. \
    Returns its text, which you follow.";

pub(super) fn tool() -> Tool {
    Tool {
        name: "skill".to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        work: Work::Own { run: Arc::new(run) },
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "name": { "type": "string" } },
        "required": ["name"]
    })
}

fn run(desk: &Desk, _call: CallId, args: Value) -> BoxFuture<'_, Result<Done, String>> {
    async move {
        let name = args["name"].as_str().unwrap_or_default().to_owned();
        let own = desk.clone();
        let text = walk::apart(move |_| {
            let skills = skills::find(&own);
            skills.get(&name).map(|it| it.text(&own))
        })
        .await??;
        let lines = text.lines().count();
        Ok(Done::new(text, format!("{lines} {}", if lines == 1 { "line" } else { "lines" })))
    }
    .boxed()
}
