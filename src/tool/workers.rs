//! The tools of a coordinator, which the session carries out; the tool of a worker, `notify`; and which tools the roles
//! have.

use super::schema::Form;
use super::{Author, Desk, Done, Running, Tool, Work, allowed, path};
use crate::event::{Isolation, Order, WorkerAct, WorkerRole};
use crate::message::Builtin;
use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The most characters of a worker's description.
const TITLE: usize = 80;
/// The most paths that a worker owns, and the most workers of one call.
const OWNED: usize = 50;
const BATCH: usize = 64;

const SPAWN: &str = "Starts a worker, which works while you go on. Returns its id at once. Example: \
    {\"role\":\"explorer\",\"description\":\"Find the callers\",\"prompt\":\"List each call of `parse` in src/ as \
    path:line.\"}";
const SPAWN_ALL: &str = "Starts several workers together. Each takes the arguments of `spawn_worker`. Example: \
    {\"workers\":[{\"role\":\"verifier\",\"description\":\"Run the tests\",\"prompt\":\"Run `make test`. Report \
    failures.\"}]}";
const LIST: &str = "Lists your workers and their states.";
const AWAIT: &str = "Waits until workers have ended, and returns their hand-offs. Without `workers` it waits for all. \
    Example: {\"workers\":[\"w1\",\"w2\"],\"until\":\"any\"}";
const RESULT: &str = "Returns the hand-off of a worker that has ended: {\"worker\":\"w1\"}.";
const STOP: &str = "Stops a worker: {\"worker\":\"w1\"}. What it has done so far stays.";
const NOTICE: &str = "Tells your coordinator in one sentence how far you are, without ending your work: \
    {\"text\":\"Half of the callers are changed.\"}";

/// The tools of a coordinator besides those that read.
pub(super) fn of_coordinator() -> [Tool; 6] {
    [
        tool(Builtin::SpawnWorker, SPAWN, order(), spawn),
        tool(Builtin::SpawnWorkers, SPAWN_ALL, orders(), spawn_all),
        tool(Builtin::ListWorkers, LIST, json!({ "type": "object", "properties": {} }), |_, _| {
            Ok(WorkerAct::List)
        }),
        tool(Builtin::AwaitWorkers, AWAIT, awaited(), |_, args| {
            let Awaited { workers, until } = read(args)?;
            Ok(WorkerAct::Await { workers, is_any: until == Until::Any })
        }),
        tool(Builtin::WorkerResult, RESULT, one(), |_, args| {
            Ok(WorkerAct::Result(read::<One>(args)?.worker))
        }),
        tool(Builtin::StopWorker, STOP, one(), |_, args| {
            Ok(WorkerAct::Stop(read::<One>(args)?.worker))
        }),
    ]
}

/// The tool by which a worker reports its progress. The worker's coordinator reads the call's argument.
pub fn notify() -> Tool {
    let text = json!({ "type": "string", "description": "one sentence" });
    Tool {
        name: Builtin::Notify.name().to_owned(),
        purpose: NOTICE.to_owned(),
        schema: json!({ "type": "object", "properties": { "text": text }, "required": ["text"] }),
        author: Author::Known,
        work: Work::own(told),
    }
}

fn told(_: &Desk, _: Value) -> Running<'_> {
    async { Ok(Done::new("Your coordinator sees it.".to_owned(), "told")) }.boxed()
}

/// Whether a coordinator has the tool.
pub(super) fn is_for_coordinator(tool: &Tool) -> bool {
    reads(tool) || matches!(tool.work, Work::Lead(_))
}

/// Whether a worker of this role has the tool if its coordinator's conversation has it.
pub fn is_for(role: WorkerRole, tool: &Tool) -> bool {
    let runs = matches!(tool.work, Work::Act(_)) || tool.builtin() == Some(Builtin::Job);
    match role {
        WorkerRole::Explorer => reads(tool),
        WorkerRole::Summarizer => matches!(tool.work, Work::Read(_)) && reads(tool),
        WorkerRole::Verifier => reads(tool) || runs,
        WorkerRole::Implementer => reads(tool) || runs || tool.edits(),
    }
}

/// Whether the tool only reads, and has nothing to do with commands that run.
fn reads(tool: &Tool) -> bool {
    let reads = matches!(tool.work, Work::Read(_) | Work::Fetch(_) | Work::Search(_));
    reads && tool.reads() || tool.builtin() == Some(Builtin::Skill)
}

type Acts = fn(&Desk, Value) -> Result<WorkerAct, String>;

fn tool(it: Builtin, purpose: &'static str, schema: Value, act: Acts) -> Tool {
    let (name, form) = (it.name(), schema.clone());
    let read = move |desk: &Desk, args: Value| {
        let refuse = |why: String| Form { tool: name, purpose, schema: &form }.refuse(&why);
        act(desk, args).map_err(refuse)
    };
    Tool {
        name: name.to_owned(),
        purpose: purpose.to_owned(),
        schema,
        author: Author::Known,
        work: Work::Lead(Arc::new(read)),
    }
}

fn order() -> Value {
    let string = || json!({ "type": "string" });
    json!({
        "type": "object",
        "properties": {
            "role": { "type": "string", "enum": ["explorer", "implementer", "verifier", "summarizer"] },
            "description": { "type": "string", "description": "three to six words for the user" },
            "prompt": string(),
            "owns": {
                "type": "array",
                "maxItems": OWNED,
                "items": string(),
                "description": "the files and folders that an implementer may edit"
            },
            "isolation": {
                "type": "string",
                "enum": ["shared", "worktree"],
                "description": "worktree: an implementer works in a git worktree of its own"
            }
        },
        "required": ["role", "description", "prompt"]
    })
}

fn orders() -> Value {
    json!({
        "type": "object",
        "properties": { "workers": { "type": "array", "maxItems": BATCH, "items": order() } },
        "required": ["workers"]
    })
}

fn awaited() -> Value {
    json!({
        "type": "object",
        "properties": {
            "workers": { "type": "array", "items": { "type": "string" } },
            "until": { "type": "string", "enum": ["all", "any"], "description": "default: all" }
        }
    })
}

fn one() -> Value {
    json!({
        "type": "object",
        "properties": { "worker": { "type": "string" } },
        "required": ["worker"]
    })
}

#[derive(Deserialize)]
struct Wanted {
    role: WorkerRole,
    description: String,
    prompt: String,
    #[serde(default)]
    owns: Vec<String>,
    #[serde(default)]
    isolation: Isolation,
}

#[derive(Deserialize)]
struct Batch {
    workers: Vec<Wanted>,
}

#[derive(Deserialize)]
struct Awaited {
    #[serde(default)]
    workers: Vec<String>,
    #[serde(default)]
    until: Until,
}

#[derive(Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Until {
    #[default]
    All,
    Any,
}

#[derive(Deserialize)]
struct One {
    worker: String,
}

fn read<T: serde::de::DeserializeOwned>(args: Value) -> Result<T, String> {
    serde_json::from_value(args).map_err(|fault| format!("$: {fault}"))
}

fn spawn(desk: &Desk, args: Value) -> Result<WorkerAct, String> {
    Ok(WorkerAct::Spawn(vec![ordered(desk, read(args)?, "$")?]))
}

fn spawn_all(desk: &Desk, args: Value) -> Result<WorkerAct, String> {
    let Batch { workers } = read(args)?;
    if workers.is_empty() {
        return Err("$.workers: expected at least one worker, got none".to_owned());
    }
    let all = workers.into_iter().enumerate();
    let all = all.map(|(n, it)| ordered(desk, it, &format!("$.workers[{n}]")));
    Ok(WorkerAct::Spawn(all.collect::<Result<_, _>>()?))
}

/// The order to one worker. `place` is the path of the worker's part of the arguments, for errors.
fn ordered(desk: &Desk, wanted: Wanted, place: &str) -> Result<Order, String> {
    let Wanted { role, description, prompt, owns, isolation } = wanted;
    let is_implementer = role == WorkerRole::Implementer;
    let is_worktree = isolation == Isolation::Worktree;
    if description.trim().is_empty() {
        return Err(format!("{place}.description: expected a few words, got nothing"));
    }
    if prompt.trim().is_empty() {
        return Err(format!("{place}.prompt: expected the task, got nothing"));
    }
    if is_implementer && owns.is_empty() && !is_worktree {
        return Err(format!(
            "{place}.owns: expected the paths that the implementer may edit, got none"
        ));
    }
    if !is_implementer && (is_worktree || !owns.is_empty()) {
        return Err(format!("{place}.owns: only an implementer owns paths or has a worktree"));
    }
    let owned = owns.iter().map(|it| {
        let said = |why: String| format!("{place}.owns: {}", why.trim_start_matches("path: "));
        allowed::owned(desk, it).map(|it| path::unmistakable(&desk.root, &it)).map_err(said)
    });
    let mut owns: Vec<String> = owned.collect::<Result<_, _>>()?;
    if is_worktree && owns.is_empty() {
        owns.push(".".to_owned());
    }
    let title: String = description.trim().chars().take(TITLE).collect();
    Ok(Order { role, title, prompt, owns, isolation })
}
