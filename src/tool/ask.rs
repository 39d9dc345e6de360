//! The tool `ask`: questions to the user, each with a few options. A call ends the turn.

use super::schema::Form;
use super::{Author, Tool, Work, typed};
use crate::event::Access;
use crate::message::inquiry::{
    ABOUT, AnswerOption, FEWEST, LABEL, OPTIONS, QUESTIONS, TEXT, is_line,
};
use crate::message::{Builtin, Question};
use crate::view::clean;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

const PURPOSE: &str = "Asks the user one to four questions with options. Use it only if the answer changes what you do \
    and you cannot find it out yourself. The call ends your turn and skips the calls after it; the user's next message \
    is the answer. Put the option that you suggest first. The user can always answer in other words. Example: \
    {\"questions\":[{\"question\":\"Which database?\",\"options\":[{\"label\":\"SQLite\"},{\"label\":\"Postgres\"}]}]}";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Ask.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Known,
        work: Work::Last(Arc::new(|_, args| access(typed(args)?))),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "questions": {
                "type": "array",
                "minItems": 1,
                "maxItems": QUESTIONS,
                "items": {
                    "type": "object",
                    "properties": {
                        "question": { "type": "string" },
                        "options": {
                            "type": "array",
                            "minItems": FEWEST,
                            "maxItems": OPTIONS,
                            "items": {
                                "type": "object",
                                "properties": {
                                    "label": { "type": "string" },
                                    "description": { "type": "string" }
                                },
                                "required": ["label"]
                            }
                        },
                        "multiple": { "type": "boolean" }
                    },
                    "required": ["question", "options"]
                }
            }
        },
        "required": ["questions"]
    })
}

#[derive(Deserialize)]
struct Args {
    questions: Vec<Asked>,
}

#[derive(Deserialize)]
struct Asked {
    question: String,
    options: Vec<Offered>,
    #[serde(default)]
    multiple: bool,
}

#[derive(Deserialize)]
struct Offered {
    label: String,
    #[serde(default)]
    description: String,
}

fn access(args: Args) -> Result<Access, String> {
    let questions: Result<Vec<Question>, String> =
        args.questions.into_iter().enumerate().map(|(at, it)| question(at, it)).collect();
    Ok(Access::Ask { questions: questions? })
}

fn question(at: usize, asked: Asked) -> Result<Question, String> {
    let path = format!("$.questions[{at}]");
    let text = line(&asked.question, TEXT, &format!("{path}.question"))?;
    let mut options: Vec<AnswerOption> = Vec::new();
    for (n, Offered { label, description }) in asked.options.into_iter().enumerate() {
        let path = format!("{path}.options[{n}]");
        let label = line(&label, LABEL, &format!("{path}.label"))?;
        if options.iter().any(|it| it.label.to_lowercase() == label.to_lowercase()) {
            let what =
                format!("{path}.label: expected a label that no earlier option has, got {label:?}");
            return Err(misfit(&what));
        }
        let about = match description.trim() {
            "" => String::new(),
            it => line(it, ABOUT, &format!("{path}.description"))?,
        };
        options.push(AnswerOption { label, about });
    }
    Ok(Question { text, options, multiple: asked.multiple })
}

/// A text in one line, without escape sequences and with hidden characters spelt out. The error says that it is empty or
/// too long.
fn line(text: &str, most: usize, path: &str) -> Result<String, String> {
    let line = clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if is_line(&line, most) {
        return Ok(line);
    }
    let got = line.chars().count();
    Err(misfit(&format!("{path}: expected 1 to {most} characters, got {got}")))
}

fn misfit(what: &str) -> String {
    Form { tool: Builtin::Ask.name(), purpose: PURPOSE, schema: &schema() }.refuse(what)
}
