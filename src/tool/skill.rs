//! The tool `skill`: loads the text of a skill.

use super::{Author, Desk, Done, Running, Tool, Work, skills, walk};
use crate::message::Builtin;
use crate::text::counted;
use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};

const PURPOSE: &str = "Loads a skill: how the user or the project wants a particular kind of work done. The \
    <skills> blocks list the skills. Load the skill that fits before you begin: {\"name\":\"release\"}. \
    Returns its text, which you follow.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Skill.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Known,
        work: Work::own(run),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "name": { "type": "string" } },
        "required": ["name"]
    })
}

#[derive(Clone, Deserialize)]
struct Args {
    name: String,
}

fn run(desk: &Desk, Args { name }: Args) -> Running<'_> {
    async move {
        let own = desk.clone();
        let text = walk::apart(move |_| {
            let skills = skills::find(&own);
            skills.get(&name).map(|it| it.text(&own))
        })
        .await??;
        let lines = text.lines().count();
        Ok(Done::new(text, counted(lines, "line")))
    }
    .boxed()
}
