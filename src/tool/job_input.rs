//! The tool `job_input`: sends text to the input of a command that runs in the background.

use super::jobs::Order;
use super::{Author, Desk, Done, Running, Tool, Work};
use crate::event::Access;
use crate::message::{Builtin, CallId};
use crate::text::counted;
use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};

/// The most bytes of one input: a terminal takes no longer line at once.
const LONGEST: usize = 4_000;

const PURPOSE: &str = "Sends text to the input of a job, exactly as it is: end it with \\n to press Enter. To a terminal, \\u0003 \
    is Ctrl-C and \\u0004 ends the input. The user is asked first, as for a command. Example: {\"id\": 1, \"text\": \
    \"yes\\n\"}. Read the reply with the tool job.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::JobInput.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Known,
        work: Work::acts(access, run),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "integer", "minimum": 1 },
            "text": { "type": "string" }
        },
        "required": ["id", "text"]
    })
}

#[derive(Clone, Deserialize)]
struct Args {
    id: u32,
    text: String,
}

fn check(text: &str) -> Result<(), String> {
    match text.len() {
        0 => Err("text: it is empty. Give the text to send, for example \"\\n\".".to_owned()),
        1..=LONGEST => Ok(()),
        bytes => Err(format!(
            "text: it has {bytes} bytes, but one input may have at most {LONGEST}. Send it in pieces, or write it to a \
             file."
        )),
    }
}

fn access(desk: &Desk, Args { id, text }: &Args) -> Result<Access, String> {
    check(text)?;
    let (id, text) = (*id, text.clone());
    let row = desk.jobs.find(id)?;
    match row.ended {
        Some(how) => Err(format!("id: job {id} {how}, so it takes no input.")),
        None => Ok(Access::Input {
            job: id,
            command: row.command,
            text,
            is_contained: row.is_contained,
        }),
    }
}

fn run(desk: &Desk, _: CallId, Args { id, text }: Args) -> Running<'_> {
    async move {
        let row = desk.jobs.find(id)?;
        if let Some(why) = desk.rules.against_rest(&row.command, &row.typed, &text) {
            return Err(format!(
                "Not sent. {why} The text continues a line that you have begun to send: {:?}. First end this line by \
                 \"\\n\". Send a command in one call: then the rule is asked.",
                row.typed
            ));
        }
        let bytes = text.into_bytes();
        let (all, sent) = (bytes.len(), counted(bytes.len(), "byte"));
        let taken = desk.jobs.order(id, |answer| Order::Write { bytes, answer }).await?;
        if taken < all {
            return Err(format!(
                "Job {id} has taken {taken} of {sent}: it does not read its input now. Read its output with the \
                 tool job, and send the rest later."
            ));
        }
        Ok(Done::new(format!("Sent {sent} to job {id}."), format!("to job {id}")))
    }
    .boxed()
}
