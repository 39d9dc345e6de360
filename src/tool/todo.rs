//! The tool `todo`: a list of steps, stored in the project as `.todos.json` until all of them are done.

use super::schema::Form;
use super::{CallId, Desk, Done, Tool, Work};
use crate::regular;
use crate::text::cause;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

const FILE: &str = ".todos.json";
/// The most items of a list, and the most characters of an item.
const ITEMS: usize = 100;
const CHARS: usize = 500;
/// The most bytes of a list's file.
const BYTES: u64 = 1_000_000;

const PURPOSE: &str = "Keeps a to-do list that the user sees. Use it for work of three steps or more. `write` \
    replaces the whole list, `update` sets the status of items by their exact text, `read` gives the list. \
    Example: {\"action\":\"write\",\"todos\":[{\"text\":\"Test it\"}]}. Have one item in progress, and set it \
    to completed as soon as it is done. The list is removed once all items are completed.";

pub(super) fn tool() -> Tool {
    Tool {
        name: "todo".to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        work: Work::Own { run: Arc::new(run) },
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "action": { "type": "string", "enum": ["write", "read", "update"] },
            "todos": {
                "type": "array",
                "maxItems": ITEMS,
                "items": {
                    "type": "object",
                    "properties": {
                        "text": { "type": "string" },
                        "status": {
                            "type": "string",
                            "enum": ["pending", "in_progress", "completed"],
                            "description": "default in `write`: pending"
                        }
                    },
                    "required": ["text"]
                }
            }
        },
        "required": ["action"]
    })
}

#[derive(Deserialize)]
struct Args {
    action: Action,
    todos: Option<Vec<Given>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Write,
    Read,
    Update,
}

#[derive(Deserialize)]
struct Given {
    text: String,
    status: Option<Status>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    todos: Vec<Item>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    text: String,
    status: Status,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

fn run(desk: &Desk, _call: CallId, args: Value) -> BoxFuture<'_, Result<Done, String>> {
    async move {
        let args: Args = serde_json::from_value(args).map_err(|fault| fault.to_string())?;
        let path = desk.root.join(FILE);
        if desk.workspace.changed().await.contains(&path) {
            return Err(format!("{FILE} has unsaved changes in the editor. Nothing was done."));
        }
        // From here to the end nothing is awaited, so calls that run at the same time do not overwrite each other's
        // items.
        let list = load(&path)?;
        let list = match args.action {
            Action::Read => return Ok(shown(&list)),
            Action::Write => written(given(args.todos)?),
            Action::Update => updated(list, given(args.todos)?)?,
        };
        keep(&path, &list).map_err(|fault| {
            format!(
                "{FILE} cannot be written ({}), so the list is not kept. Go on without a list.",
                cause(&fault)
            )
        })?;
        Ok(shown(&list))
    }
    .boxed()
}

fn given(todos: Option<Vec<Given>>) -> Result<Vec<Given>, String> {
    let todos = todos.ok_or_else(|| misfit("$.todos: expected array, got nothing"))?;
    let plain = |(at, it): (usize, Given)| {
        let text = it.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let length = text.chars().count();
        match length {
            0 => Err(misfit(&format!("$.todos[{at}].text: expected a text, got {:?}", it.text))),
            1..=CHARS => Ok(Given { text, ..it }),
            _ => Err(misfit(&format!(
                "$.todos[{at}].text: expected at most {CHARS} characters, got {length}"
            ))),
        }
    };
    todos.into_iter().enumerate().map(plain).collect()
}

fn misfit(what: &str) -> String {
    Form { tool: "todo", purpose: PURPOSE, schema: &schema() }.refuse(what)
}

/// A new list. If two items have the same text, the second one is dropped.
fn written(todos: Vec<Given>) -> List {
    let mut list = List::default();
    for Given { text, status } in todos {
        if list.todos.iter().all(|it| it.text != text) {
            list.todos.push(Item { text, status: status.unwrap_or(Status::Pending) });
        }
    }
    list
}

fn updated(mut list: List, todos: Vec<Given>) -> Result<List, String> {
    let before = lines(&list);
    for (at, Given { text, status }) in todos.into_iter().enumerate() {
        let Some(status) = status else {
            return Err(misfit(&format!("$.todos[{at}].status: expected string, got nothing")));
        };
        let Some(item) = list.todos.iter_mut().find(|it| it.text == text) else {
            let what =
                format!("$.todos[{at}].text: expected the exact text of an item, got {text:?}");
            return Err(format!("{}\nThe list:\n{}", misfit(&what), before));
        };
        item.status = status;
    }
    Ok(list)
}

/// Reads the list from disk. The error says that the file is not a todo list that Caliban wrote.
fn load(path: &Path) -> Result<List, String> {
    let foreign = |why: &str| {
        format!(
            "{FILE} in the project is not a to-do list of Caliban's ({why}), so it was not changed. Tell the user, \
             and go on without a list."
        )
    };
    let meta = match path.symlink_metadata() {
        Ok(meta) => meta,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(List::default()),
        Err(fault) => return Err(foreign(&cause(&fault))),
    };
    if !meta.is_file() || meta.len() > BYTES {
        return Err(foreign("it is a link, a folder or too large"));
    }
    let text = regular::read(path).map_err(|fault| foreign(&cause(&fault)))?;
    // the file is read as an object first, because serde would also read the struct from an array
    let map: Result<Map<String, Value>, _> = serde_json::from_slice(&text);
    map.and_then(|it| serde_json::from_value(Value::Object(it)))
        .map_err(|fault| foreign(&cause(&fault)))
}

/// Replaces the list's file in one step, or removes the file if every item is done.
fn keep(path: &Path, list: &List) -> io::Result<()> {
    if list.todos.iter().all(|it| it.status == Status::Completed) {
        return match fs::remove_file(path) {
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(fault),
            _ => Ok(()),
        };
    }
    let folder = path.parent().unwrap_or(path);
    let permissions = Permissions::from_mode(0o666);
    let mut file =
        tempfile::Builder::new().prefix(FILE).permissions(permissions).tempfile_in(folder)?;
    file.write_all(&serde_json::to_vec_pretty(list)?)?;
    file.write_all(b"\n")?;
    file.persist(path)?;
    Ok(())
}

fn shown(list: &List) -> Done {
    let done = list.todos.iter().filter(|it| it.status == Status::Completed).count();
    let all = list.todos.len();
    if all == 0 {
        return Done::new("The list is empty.".into(), "empty");
    }
    let end = if done == all { "\nAll items are completed: the list was removed." } else { "" };
    Done::new(lines(list) + end, format!("{done} of {all} done"))
}

fn lines(list: &List) -> String {
    let line = |it: &Item| {
        let mark = match it.status {
            Status::Pending => ' ',
            Status::InProgress => '>',
            Status::Completed => 'x',
        };
        format!("[{mark}] {}", it.text)
    };
    list.todos.iter().map(line).collect::<Vec<_>>().join("\n")
}
