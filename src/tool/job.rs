//! The tool `job`: lists, reads and stops the commands that run in the background.

use super::jobs::{Look, Order, Row};
use super::{Author, Desk, Done, Running, Tool, Work};
use crate::message::Builtin;
use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

const PURPOSE: &str = "Lists, reads or stops the jobs that shell has started with background. `read` returns \
    the output since the last answer, and names the cursor where the next read goes on; pass an older cursor \
    to see output again. With wait_s it waits for new output or the end of the job. `stop` ends all processes \
    of the job. Example: {\"action\":\"read\",\"id\":1,\"wait_s\":30}. You are told when a job ends.";

const MOST_WAIT: u64 = 600;

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Job.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Command,
        work: Work::own(run),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "action": { "type": "string", "enum": ["list", "read", "stop"] },
            "id": { "type": "integer", "minimum": 1 },
            "cursor": { "type": "integer", "minimum": 0 },
            "wait_s": { "type": "integer", "minimum": 0, "maximum": MOST_WAIT, "description": "default: 0" }
        },
        "required": ["action"]
    })
}

#[derive(Clone, Deserialize)]
struct Args {
    action: Action,
    id: Option<u32>,
    cursor: Option<u64>,
    #[serde(default)]
    wait_s: u64,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Read,
    Stop,
}

fn run(desk: &Desk, args: Args) -> Running<'_> {
    async move {
        let look = match args.action {
            Action::List => return Ok(list(&desk.jobs.rows())),
            Action::Read => read(desk, &args).await?,
            Action::Stop => {
                let job = one(&args)?;
                let answer = |answer| Order::Stop { is_by_user: false, answer };
                desk.jobs.order(job, answer).await?
            }
        };
        Ok(shown(&look))
    }
    .boxed()
}

fn one(args: &Args) -> Result<u32, String> {
    args.id.ok_or_else(|| "id: give the number of the job.".to_owned())
}

/// Waits for new output or the job's end. When the time is over, reads the output so far.
async fn read(desk: &Desk, args: &Args) -> Result<Look, String> {
    desk.jobs.read(one(args)?, args.cursor, Duration::from_secs(args.wait_s)).await
}

fn list(rows: &[Row]) -> Done {
    if rows.is_empty() {
        return Done::known("There are no jobs.".to_owned(), "no jobs");
    }
    let line = |it: &Row| {
        let state = it.ended.as_deref().unwrap_or("running");
        format!(
            "job {}: {state}; started {} s ago: {}",
            it.id,
            it.began.elapsed().as_secs(),
            it.shown()
        ) + &it.ports().map(|it| format!("; {it}")).unwrap_or_default()
    };
    let lines: Vec<String> = rows.iter().map(line).collect();
    let running = rows.iter().filter(|it| it.ended.is_none()).count();
    Done::known(lines.join("\n"), format!("{running} running"))
}

fn shown(look: &Look) -> Done {
    let Look { job, output, cursor, age, ended } = look;
    let (state, summary) = match ended {
        None => (format!("running for {} s", age.as_secs()), "running".to_owned()),
        Some(it) => (it.how.clone(), it.summary.clone()),
    };
    let after = format!("[job {job} {state}; cursor {cursor}]");
    let job_end = ended.as_ref().map(|_| *job);
    let fault = ended.as_ref().is_some_and(|it| it.has_failed);
    Done { after, fault, job_end, ..Done::new(output.clone(), summary) }
}

/// The answer of the call that has started a job. A command that has ended is no job.
pub(super) fn began(look: &Look, unsaved: Option<String>, hint: Option<&str>) -> Done {
    let Look { job, output, cursor, ended, .. } = look;
    let (said, summary) = match ended {
        None => (
            format!("[job {job} runs in the background; cursor {cursor}. Go on with the tool job]"),
            format!("job {job}"),
        ),
        Some(it) => {
            (format!("[the command {}; it did not become a job]", it.how), it.summary.clone())
        }
    };
    let fault = ended.as_ref().is_some_and(|it| it.has_failed);
    let hint = hint.filter(|_| fault).filter(|_| super::shell::is_refusal(output));
    let parts = [Some(said), unsaved, hint.map(str::to_owned)];
    let after: Vec<String> = parts.into_iter().flatten().collect();
    Done { after: after.join("\n"), fault, ..Done::new(output.clone(), summary) }
}
