//! The tool `todo`: a list of steps, stored in the project as `.todos.json` until all of them are done.

mod exclude;
pub mod list;

use super::schema::Form;
use super::{Author, Desk, Done, Running, Tool, Work};
use crate::message::Builtin;
use crate::text::cause;
use futures::FutureExt;
use list::{CHARS, FILE, ITEMS, List, Progress, TodoItem};
use serde::Deserialize;
use serde_json::{Value, json};

const PURPOSE: &str = "Keeps a to-do list that the user sees. Use it for work of three steps or more. `write` \
    replaces the whole list, `update` sets the status of items by their exact text, `read` gives the list. \
    Example: {\"action\":\"write\",\"todos\":[{\"text\":\"Test it\"}]}. Have one item in progress, and set it \
    to completed as soon as it is done. The list is removed once all items are completed.";

pub(super) fn tool() -> Tool {
    Tool {
        name: Builtin::Todo.name().to_owned(),
        purpose: PURPOSE.to_owned(),
        schema: schema(),
        author: Author::Known,
        work: Work::own(run),
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

#[derive(Clone, Deserialize)]
struct Args {
    action: Action,
    todos: Option<Vec<Given>>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Write,
    Read,
    Update,
}

#[derive(Clone, Deserialize)]
struct Given {
    text: String,
    status: Option<Progress>,
}

fn run(desk: &Desk, args: Args) -> Running<'_> {
    async move {
        if desk.workspace.changed().await.contains(&desk.root.join(FILE)) {
            return Err(format!("{FILE} has unsaved changes in the editor, so nothing was done."));
        }
        // From here to the end nothing is awaited, so calls that run at the same time do not overwrite each other's
        // items.
        let list = List::load(&desk.root).map_err(|why| {
            format!(
                "{FILE} in the project is not a to-do list of Caliban's ({why}), so it was not changed. Tell the user, \
                 and go on without a list."
            )
        })?;
        if list.is_foreign(&desk.session) {
            return Err(foreign(&list));
        }
        let list = match args.action {
            Action::Read => return Ok(shown(&list)),
            Action::Write => written(given(args.todos)?),
            Action::Update => updated(list, given(args.todos)?)?,
        };
        let list = List { session: desk.session.clone(), ..list };
        // a list that git sees is better than none
        let _ = exclude::exclude(&desk.root);
        list.keep(&desk.root).map_err(|fault| {
            format!(
                "{FILE} cannot be written ({}), so the list is not kept. Go on without a list.",
                cause(&fault)
            )
        })?;
        Ok(shown(&list))
    }
    .boxed()
}

/// Tells the model about a list that another conversation left. The model does not get the texts of its items before
/// the user agrees.
fn foreign(list: &List) -> String {
    format!(
        "{FILE} has {}. It is not yours, so nothing was done. The user can give it to you with `:Caliban todo take` or \
         remove it with `:Caliban todo remove`. Until then, go on without a list.",
        list.about()
    )
}

fn given(todos: Option<Vec<Given>>) -> Result<Vec<Given>, String> {
    let todos = todos.ok_or_else(|| misfit("$.todos: expected array, got nothing"))?;
    let plain = |(at, it): (usize, Given)| {
        let text = list::item(&it.text);
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
    Form { tool: Builtin::Todo.name(), purpose: PURPOSE, schema: &schema() }.refuse(what)
}

/// A new list. If two items have the same text, the second one is dropped.
fn written(todos: Vec<Given>) -> List {
    let mut list = List::default();
    for Given { text, status } in todos {
        if list.todos.iter().all(|it| it.text != text) {
            list.todos.push(TodoItem { text, status: status.unwrap_or(Progress::Pending) });
        }
    }
    list
}

fn updated(mut list: List, todos: Vec<Given>) -> Result<List, String> {
    let before = list.lines();
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

fn shown(list: &List) -> Done {
    let (done, all) = (list.done(), list.todos.len());
    if all == 0 {
        return Done::new("The list is empty.".into(), "empty");
    }
    let end = if done == all { "\nAll items are completed: the list was removed." } else { "" };
    Done::new(list.lines() + end, format!("{done} of {all} done"))
}
