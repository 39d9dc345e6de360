//! A project's to-do list, as its file has it. The file says which conversation keeps the list.

use crate::message::inquiry::is_line;
use crate::regular;
use crate::text::cause;
use crate::view::clean;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

pub const FILE: &str = ".todos.json";
/// The most items of a list, and the most characters of an item.
pub const ITEMS: usize = 100;
pub const CHARS: usize = 500;
/// The most bytes of a list's file.
const BYTES: u64 = 1_000_000;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// The name of the conversation that keeps the list; empty if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    pub todos: Vec<TodoItem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TodoItem {
    pub text: String,
    pub status: Progress,
}

/// The progress of an item of a to-do list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    Pending,
    InProgress,
    Completed,
}

/// A text as an item of a list has it: one line, with hidden characters spelt out, which `check` would refuse.
pub fn item(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

impl List {
    /// Reads the list of the project with this root. The error says why the file is not a list that Caliban wrote: a
    /// clause without a full stop.
    pub fn load(root: &Path) -> Result<List, String> {
        let path = root.join(FILE);
        let meta = match path.symlink_metadata() {
            Ok(meta) => meta,
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(List::default()),
            Err(fault) => return Err(cause(&fault)),
        };
        if !meta.is_file() || meta.len() > BYTES {
            return Err("it is a link, a folder or too large".to_owned());
        }
        let text = regular::read(&path).map_err(|fault| cause(&fault))?;
        // the file is read as an object first, because serde would also read the struct from an array
        let map: Result<Map<String, Value>, _> = serde_json::from_slice(&text);
        let list = map.and_then(|it| serde_json::from_value(Value::Object(it)));
        let list: List = list.map_err(|fault| cause(&fault))?;
        list.check()?;
        Ok(list)
    }

    /// Checks the limits of the tool: the file may be edited by hand, or come with a stranger's project.
    fn check(&self) -> Result<(), String> {
        let is_named = |it: char| it.is_ascii_alphanumeric() || "_-".contains(it);
        if self.session.len() > 64 || !self.session.chars().all(is_named) {
            return Err("the name of its conversation is not valid".to_owned());
        }
        if self.todos.len() > ITEMS {
            return Err(format!("it has more than {ITEMS} items"));
        }
        if self.todos.iter().any(|it| !is_line(&it.text, CHARS)) {
            return Err(format!(
                "an item is empty, longer than {CHARS} characters, or has invisible characters"
            ));
        }
        Ok(())
    }

    /// Replaces the file in one step, or removes it if every item is done.
    pub fn keep(&self, root: &Path) -> io::Result<()> {
        let path = root.join(FILE);
        if self.done() == self.todos.len() {
            return List::remove(root);
        }
        let permissions = Permissions::from_mode(0o666);
        let mut file =
            tempfile::Builder::new().prefix(FILE).permissions(permissions).tempfile_in(root)?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        file.write_all(b"\n")?;
        file.persist(path)?;
        Ok(())
    }

    pub fn remove(root: &Path) -> io::Result<()> {
        match fs::remove_file(root.join(FILE)) {
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(fault),
            _ => Ok(()),
        }
    }

    pub fn done(&self) -> usize {
        self.todos.iter().filter(|it| it.status == Progress::Completed).count()
    }

    /// Whether another conversation than this one keeps the list.
    pub fn is_foreign(&self, session: &str) -> bool {
        !self.todos.is_empty() && self.session != session
    }

    /// The conversation that keeps the list, and how many items are done: `the to-do list of the conversation main (3
    /// of 7 done)`.
    pub fn about(&self) -> String {
        let of = match &*self.session {
            "" => "a to-do list of an unknown conversation".to_owned(),
            name => format!("the to-do list of the conversation `{name}`"),
        };
        format!("{of} ({} of {} done)", self.done(), self.todos.len())
    }

    /// The items, one in a line.
    pub fn lines(&self) -> String {
        let line = |it: &TodoItem| {
            let mark = match it.status {
                Progress::Pending => ' ',
                Progress::InProgress => '>',
                Progress::Completed => 'x',
            };
            format!("[{mark}] {}", it.text)
        };
        self.todos.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_item_that_is_written_can_be_read_again(texts in prop::collection::vec(any::<String>(), 1..5)) {
            let dir = tempfile::tempdir().unwrap();
            let texts = texts.iter().map(|it| item(it));
            let texts = texts.filter(|it| !it.is_empty() && it.chars().count() <= CHARS);
            let todos = texts.map(|text| TodoItem { text, status: Progress::Pending }).collect();
            let list = List { session: String::new(), todos };
            list.keep(dir.path()).unwrap();
            prop_assert_eq!(List::load(dir.path()), Ok(list));
        }
    }
}
