//! Checks a model's call before the call runs, and runs calls that are allowed to run.

use super::lsp::{self, Question};
use super::path::{self, Led};
use super::schema::Form;
use super::{Desk, Done, Tool, Work, job, task, web_search};
use crate::edit::{Change, Edit, Whole, kept};
use crate::event::{Access, Guarded};
use crate::message::{Foreign, Input, Origin, ToolAnswer, ToolCall};
use crate::reach::{Reading, Writing};
use crate::rules::Verdict;
use crate::text::secret;
use crate::web::address::Address;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The most bytes of an error, as a model reads it.
const LONGEST_ERROR: usize = 4_000;

/// The access that a call needs. Follows symbolic links on disk, but runs nothing.
pub fn access(desk: &Desk, call: &ToolCall) -> Access {
    found(desk, call).unwrap_or_else(|said| Access::Never(short(&said)))
}

fn found(desk: &Desk, call: &ToolCall) -> Result<Access, String> {
    let (tool, args) = fitted(desk, call)?;
    Ok(match &tool.work {
        Work::Read { paths, .. } => {
            let mut all: Vec<Guarded> = Vec::new();
            for written in paths(&args) {
                let found = guarded(desk, &tool.name, &written)?;
                all.extend(found.filter(|it| all.iter().all(|known| known.path != it.path)));
            }
            let mut all = all.into_iter();
            let first = all.next().map(|it| Guarded { others: all.collect(), ..it });
            first.map_or(Access::Read, Access::Guarded)
        }
        Work::Edit { parse, .. } => {
            let edits = all_resolved(desk, parse(&args)?)?.edits;
            let mut paths: Vec<String> = Vec::new();
            for path in edits.iter().flat_map(Edit::paths) {
                let path = path::unmistakable(&desk.root, path);
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
            Access::Edit { paths }
        }
        Work::Refactor { ask } => {
            let question = ask(desk, &args)?;
            let path = question.path.unwrap_or_default();
            let path = path.to_string_lossy();
            if !question.aspect.changes() {
                let guarded = guarded(desk, &tool.name, &path)?;
                return Ok(guarded.map_or(Access::Read, Access::Guarded));
            }
            let found = editable(desk, &path)?.path;
            Access::Edit { paths: vec![path::unmistakable(&desk.root, &found)] }
        }
        Work::Own { .. } => Access::Read,
        Work::Last { access } => access(&args)?,
        Work::Delegate => Access::Delegate { title: task::read(args)?.description },
        Work::Act { access, .. } | Work::Lead { access } => access(desk, &args)?,
        Work::Search { host, .. } => {
            Access::Search { query: web_search::query(desk, &args)?, host: host.clone() }
        }
        Work::Fetch { address, .. } => match address(&args)? {
            None => Access::Read,
            Some(it) => fetched(desk, &it)?,
        },
    })
}

fn fetched(desk: &Desk, address: &Address) -> Result<Access, String> {
    let url = address.as_str();
    let known = desk.secrets.known_to_commands();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    if secret::marked(url, &known).1 > 0 {
        return Err("url: it holds a key or another secret. Leave the secret out.".to_owned());
    }
    desk.web.check(address).map_err(|why| format!("url: `{url}` {why}."))?;
    Ok(Access::Fetch { url: url.to_owned(), host: address.host() })
}

/// The consent that a tool needs before it may read a path; `None` if it needs none. A consent for the session applies
/// only to this tool and this path.
fn guarded(desk: &Desk, tool: &str, written: &str) -> Result<Option<Guarded>, String> {
    consent(desk, tool, written, &path::lead(desk, written)?)
}

/// The file to which a path in a running call leads. The call may read only this file. The links of the path may have
/// changed since the call was checked, so the path is checked again.
pub(super) fn readable(desk: &Desk, written: &str) -> Result<Led, String> {
    let led = path::lead(desk, written)?;
    let needed = consent(desk, "", written, &led)?;
    let is_agreed =
        |path: &str| desk.agreed.as_ref().is_some_and(|it| it.all().any(|it| it.path == path));
    if needed.is_some_and(|it| !is_agreed(&it.path)) {
        return Err(format!(
            "path: `{written}` leads to {}, and this call has no consent to read it. Call the tool again with this \
             path alone.",
            desk.shown(&led.path)
        ));
    }
    Ok(led)
}

fn consent(desk: &Desk, tool: &str, written: &str, led: &Led) -> Result<Option<Guarded>, String> {
    let Led { path, reading, .. } = led;
    let is_outside = !path::inside(&desk.root, path) && !desk.reach.is_open(path);
    let why = match *reading {
        Reading::Never(why) => return Err(format!("path: `{written}` {why}.")),
        Reading::Free if !is_outside => return Ok(None),
        Reading::Free => None,
        Reading::Asked(why) => Some(why.to_owned()),
    };
    let path = path::unmistakable(&desk.root, path);
    Ok(Some(Guarded { tool: tool.to_owned(), path, is_outside, why, others: Vec::new() }))
}

fn editable(desk: &Desk, written: &str) -> Result<Led, String> {
    let led = path::lead(desk, written)?;
    let found = &led.path;
    if !path::inside(&desk.root, found) {
        return Err(format!(
            "path: `{written}` is outside the project ({}). Only files in the project can be edited.",
            desk.root.display()
        ));
    }
    if let Writing::Never(why) = led.writing {
        return Err(format!("path: `{written}` {why}."));
    }
    if found.is_dir() {
        return Err(format!("path: `{written}` is a folder. Name a file."));
    }
    if let Some(file) = found.ancestors().skip(1).find(|it| it.exists()).filter(|it| !it.is_dir()) {
        return Err(format!("path: `{}` is a file, not a folder.", path::show(&desk.root, file)));
    }
    match desk.rules.against_edit(found) {
        Some(rule) if rule.verdict == Verdict::Deny => {
            Err(format!("path: `{written}` {}.", rule.clause()))
        }
        Some(_) if led.writing == Writing::Free => Ok(Led {
            writing: Writing::Reviewed("is reviewed first because of a permission rule"),
            ..led
        }),
        _ => Ok(led),
    }
}

/// The file in which the user saves a text of Caliban, such as a plan. The rules for edits apply; a file that edits may
/// change only after a review is refused, because there is none. The error is a sentence for the user.
pub fn savable(desk: &Desk, written: &str) -> Result<PathBuf, String> {
    let led = editable(desk, written);
    let led = led.map_err(|said| said.trim_start_matches("path: ").to_owned())?;
    match led.writing {
        Writing::Reviewed(why) => Err(format!("`{written}` {why}, so nothing was saved there.")),
        Writing::Free | Writing::Never(_) => Ok(led.path),
    }
}

/// A file or folder of the project that a worker may edit; it need not exist. The error is for the model.
pub(super) fn owned(desk: &Desk, written: &str) -> Result<PathBuf, String> {
    let led = path::lead(desk, written)?;
    if !path::inside(&desk.root, &led.path) {
        return Err(format!("`{written}` is outside the project"));
    }
    match led.writing {
        Writing::Never(why) => Err(format!("`{written}` {why}")),
        Writing::Free | Writing::Reviewed(_) => Ok(led.path),
    }
}

/// The edits of a call, with their real paths (without symbolic links).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    pub edits: Vec<Edit>,
    /// Files that wait for a review even in auto-edit mode.
    pub reviewed: BTreeSet<PathBuf>,
}

/// Resolves the paths of an edit and adds the edit to `all`.
pub fn resolved(desk: &Desk, edit: Edit, all: &mut Resolved) -> Result<(), String> {
    let written = edit.path.to_string_lossy();
    let Led { path, reading, mut writing } = editable(desk, &written)?;
    let mut change = edit.change;
    if let Change::Whole(whole) = &mut change {
        if path::is_link(desk, &written)? {
            return Err(format!(
                "path: `{written}` is a symbolic link. This tool neither deletes nor renames links."
            ));
        }
        // Under its new name the file could be read without consent, so the renaming is reviewed first.
        if let Reading::Asked(why) = reading {
            writing = writing.max(Writing::Reviewed(why));
        }
        if let Whole::Rename { to } = whole {
            let led = unused_path(desk, &to.to_string_lossy())?;
            writing = writing.max(led.writing);
            *to = led.path;
        }
    }
    if writing != Writing::Free {
        all.reviewed.insert(path.clone());
    }
    all.edits.push(Edit { path, change });
    Ok(())
}

/// Resolves the edits of a call. If one of them is not allowed, the whole call is refused.
fn all_resolved(desk: &Desk, edits: Vec<Edit>) -> Result<Resolved, String> {
    let rest = if edits.len() > 1 { " No part of the call was done." } else { "" };
    let mut all = Resolved::default();
    for edit in edits {
        resolved(desk, edit, &mut all).map_err(|said| said + rest)?;
    }
    Ok(all)
}

/// Resolves the path of a file that must not exist yet.
fn unused_path(desk: &Desk, to: &str) -> Result<Led, String> {
    let led = editable(desk, to).map_err(|said| said.replacen("path:", "to:", 1))?;
    if path::is_link(desk, to)? || led.path.exists() {
        return Err(format!("to: `{to}` already exists. Name a path that does not exist."));
    }
    Ok(led)
}

/// What came of a call that ran.
pub struct Ran {
    pub answer: ToolAnswer,
    /// Lines for the log of permissions.
    pub decisions: Vec<String>,
    /// Sentences for the user alone.
    pub told: Vec<String>,
    /// The access without which the call cannot run.
    pub needed: Option<Access>,
}

impl Ran {
    pub fn new(answer: ToolAnswer) -> Ran {
        Ran { answer, decisions: Vec::new(), told: Vec::new(), needed: None }
    }
}

/// Runs a call that reads or acts. An error becomes the answer's text.
pub async fn run(desk: &Desk, call: &ToolCall) -> Ran {
    let (origin, done) = match fitted(desk, call) {
        Err(said) => (None, Err(said)),
        Ok((tool, args)) => match &tool.work {
            Work::Read { run, .. }
            | Work::Own { run }
            | Work::Act { run, .. }
            | Work::Search { run, .. }
            | Work::Fetch { run, .. } => {
                (origin(desk, tool, &args), run(desk, call.id.clone(), args).await)
            }
            Work::Refactor { ask } => match ask(desk, &args) {
                Ok(question) if !question.aspect.changes() => {
                    (None, lsp::actions(desk, question).await)
                }
                asked => (None, Err(asked.err().unwrap_or_else(|| proposes(tool)))),
            },
            Work::Edit { .. } | Work::Delegate | Work::Lead { .. } => (None, Err(proposes(tool))),
            Work::Last { .. } => {
                (None, Err(format!("{} ends the turn; it does not run.", tool.name)))
            }
        },
    };
    match done {
        Ok(Done { text, after, summary, fault, images, job_end, decisions, told, locked }) => {
            let foreign = origin.map(|from| Foreign { from, own: after.lines().count() });
            let parts = [text, after].into_iter().filter(|it| !it.is_empty());
            let text = parts.collect::<Vec<_>>().join("\n");
            let done = ToolAnswer::done(&call.id, text, summary);
            let answer = ToolAnswer { fault, images, job_end, foreign, ..done };
            Ran { answer, decisions, told, needed: unlocking(desk, call, locked) }
        }
        Err(said) => Ran::new(ToolAnswer::failed(&call.id, short(&said), "failed")),
    }
}

/// The access of a git command that changes these locked paths; `None` if there are none.
fn unlocking(desk: &Desk, call: &ToolCall, locked: Vec<String>) -> Option<Access> {
    match access(desk, call) {
        Access::Act { command, outside, background, hosts, .. } if !locked.is_empty() => {
            Some(Access::Act { command, outside, background, hosts, unlocked: locked })
        }
        _ => None,
    }
}

/// An error without its middle if it is long, as it may repeat a huge argument.
pub fn short(said: &str) -> String {
    if said.len() <= LONGEST_ERROR {
        return said.to_owned();
    }
    let half = LONGEST_ERROR / 2;
    let (head, tail) = (&said.as_bytes()[..half], &said.as_bytes()[said.len() - half..]);
    format!("{} […] {}", String::from_utf8_lossy(head), String::from_utf8_lossy(tail))
}

/// The first file outside of the project that the running call has consent to read.
fn agreed_outside(desk: &Desk) -> Option<Origin> {
    let outside = desk.agreed.as_ref()?.all().find(|it| it.is_outside)?;
    Some(Origin::Outside(outside.path.clone()))
}

/// Where a call's result comes from, if a stranger may have written it.
fn origin(desk: &Desk, tool: &Tool, args: &Value) -> Option<Origin> {
    match &tool.work {
        Work::Act { .. } => Some(Origin::Command),
        // with a number the call reads the output of a job; without one it lists the jobs
        Work::Read { .. } if tool.name == job::NAME => {
            args["id"].is_u64().then_some(Origin::Command)
        }
        Work::Search { .. } => {
            args["query"].as_str().map(|it| Origin::Web(format!("search results for {it}")))
        }
        Work::Fetch { .. } => args["url"].as_str().map(|it| Origin::Web(it.to_owned())),
        Work::Read { .. } if agreed_outside(desk).is_some() => agreed_outside(desk),
        Work::Read { paths, .. } => paths(args).iter().find_map(|written| {
            let path = path::resolve(desk, written).ok()?;
            if path::inside(&desk.root, &path) {
                return None;
            }
            if path::inside(&desk.overflow, &path) {
                return Some(Origin::Command);
            }
            (!desk.reach.is_open(&path)).then(|| Origin::Outside(desk.shown(&path)))
        }),
        Work::Own { .. }
        | Work::Delegate
        | Work::Lead { .. }
        | Work::Last { .. }
        | Work::Edit { .. }
        | Work::Refactor { .. } => None,
    }
}

/// Whether this is a call of an edit tool whose arguments cannot be read.
pub fn is_malformed_edit(desk: &Desk, call: &ToolCall) -> bool {
    match desk.tools.find(&call.tool).map(|it| &it.work) {
        Some(Work::Edit { parse, .. }) => {
            fitted(desk, call).and_then(|(_, args)| parse(&args)).is_err()
        }
        _ => false,
    }
}

/// The edits of an edit call, with their paths resolved. `kept` are the texts that a call may name instead of sending
/// them again.
pub fn edits_of(
    desk: &Desk,
    call: &ToolCall,
    kept: &BTreeMap<String, String>,
) -> Result<Resolved, String> {
    let (tool, args) = fitted(desk, call)?;
    let args = kept::filled(args, kept)?;
    let Work::Edit { parse, .. } = &tool.work else {
        return Err(format!("{} is not an edit.", tool.name));
    };
    all_resolved(desk, parse(&args)?)
}

/// The question to a language server whose answer has the edits of this call; `None` for other calls.
pub fn question_of(desk: &Desk, call: &ToolCall) -> Option<Result<Question, String>> {
    let (tool, args) = fitted(desk, call).ok()?;
    let Work::Refactor { ask } = &tool.work else { return None };
    Some(ask(desk, &args))
}

/// The files and folders that a call names.
pub fn touched(desk: &Desk, call: &ToolCall) -> Vec<PathBuf> {
    let written = match fitted(desk, call).map(|(tool, args)| (&tool.work, args)) {
        Ok((Work::Read { paths, .. }, args)) => paths(&args),
        Ok((Work::Edit { parse, .. }, args)) => {
            let edits = parse(&args).unwrap_or_default();
            let named = edits.iter().flat_map(Edit::paths);
            named.map(|it| it.to_string_lossy().into_owned()).collect()
        }
        Ok((Work::Refactor { .. }, args)) => lsp::paths(&args),
        Ok((
            Work::Own { .. }
            | Work::Last { .. }
            | Work::Delegate
            | Work::Lead { .. }
            | Work::Act { .. }
            | Work::Fetch { .. }
            | Work::Search { .. },
            _,
        ))
        | Err(_) => Vec::new(),
    };
    written.iter().filter_map(|it| path::resolve(desk, it).ok()).collect()
}

/// The call's tool, and its arguments in the form that the schema requires.
pub(super) fn fitted<'a>(desk: &'a Desk, call: &ToolCall) -> Result<(&'a Tool, Value), String> {
    let tools = &desk.tools;
    let tool = tools.find(&call.tool).ok_or_else(|| tools.unknown(&call.tool))?;
    let given = match &call.input {
        Input::Json(Value::Null) => Value::Object(Map::new()),
        Input::Json(value) => value.clone(),
        Input::Broken { text, why } => return Err(broken(&tool.name, text, why)),
    };
    let form = Form { tool: &tool.name, purpose: &tool.purpose, schema: &tool.schema };
    Ok((tool, form.fit(given)?))
}

fn broken(name: &str, text: &str, why: &str) -> String {
    if why.contains("EOF") || text.is_empty() {
        return format!(
            "Your call of {name} was cut off after {} bytes of its arguments, so nothing was done. \
             Send it again in smaller pieces.",
            text.len()
        );
    }
    format!(
        "The arguments of your call of {name} are not JSON, so nothing was done: {why}. \
         Send the call again."
    )
}

fn proposes(tool: &Tool) -> String {
    format!("{} proposes; it does not run.", tool.name)
}
