//! One change of one file, as a line of the log. Other programs may write to the log, so each line is checked here.

use crate::event::HIGHEST;
use crate::place::Place;
use crate::session::title;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The name of a stored content: the SHA-256 of its bytes as 64 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct BlobName(String);

impl BlobName {
    pub fn of(bytes: &[u8]) -> BlobName {
        BlobName(format!("{:x}", Sha256::digest(bytes)))
    }
}

impl TryFrom<String> for BlobName {
    type Error = &'static str;

    fn try_from(name: String) -> Result<BlobName, &'static str> {
        let is_hex = |it: u8| matches!(it, b'0'..=b'9' | b'a'..=b'f');
        let is_name = name.len() == 64 && name.bytes().all(is_hex);
        if is_name { Ok(BlobName(name)) } else { Err("not the name of a content") }
    }
}

impl AsRef<str> for BlobName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl AsRef<Path> for BlobName {
    fn as_ref(&self) -> &Path {
        self.0.as_ref()
    }
}

/// The permissions to read, write and run a file; no set-user-ID, set-group-ID or sticky bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32")]
pub struct FileMode(u32);

impl FileMode {
    /// Keeps only the permission bits.
    pub fn of(bits: u32) -> FileMode {
        FileMode(bits & 0o777)
    }

    pub fn bits(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for FileMode {
    type Error = &'static str;

    fn try_from(bits: u32) -> Result<FileMode, &'static str> {
        let mode = FileMode::of(bits);
        if mode.0 == bits { Ok(mode) } else { Err("not the permissions of a file") }
    }
}

/// The content of a file before or after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// The file does not exist.
    Absent,
    Blob(BlobName),
    /// A symbolic link. The blob has the path to which the link leads.
    Link(BlobName),
    Folder,
    /// The content is not stored. The text says why, as the end of a sentence, for example “was too large to be kept”.
    Lost(String),
}

impl Kept {
    /// Shortens the reason why a content is lost to one short line.
    fn plain(self) -> Kept {
        match self {
            Kept::Lost(why) => Kept::Lost(title(&why)),
            kept => kept,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    Edit,
    Command,
    Rewind,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The user has not decided on the change, or its outcome is not known yet.
    #[default]
    Open,
    Closed,
    /// The change was not made.
    Void,
}

/// A file's entry in git's index: the kind of the file as git counts it, and the name of its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(String, String)", into = "(String, String)")]
pub struct IndexEntry {
    kind: String,
    name: String,
}

impl IndexEntry {
    /// `None` if git would not write such an entry.
    pub fn new(kind: &str, name: &str) -> Option<IndexEntry> {
        let is_kind = matches!(kind, "100644" | "100755" | "120000" | "160000");
        let is_name =
            matches!(name.len(), 40 | 64) && name.bytes().all(|it| it.is_ascii_hexdigit());
        (is_kind && is_name).then(|| IndexEntry { kind: kind.to_owned(), name: name.to_owned() })
    }

    pub fn kind(&self) -> &str {
        &self.kind
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

impl TryFrom<(String, String)> for IndexEntry {
    type Error = &'static str;

    fn try_from((kind, name): (String, String)) -> Result<IndexEntry, &'static str> {
        IndexEntry::new(&kind, &name).ok_or("not an entry of git's index")
    }
}

impl From<IndexEntry> for (String, String) {
    fn from(it: IndexEntry) -> (String, String) {
        (it.kind, it.name)
    }
}

/// How a change altered a file's entry in git's index. `None` stands for no entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staged {
    pub before: Option<IndexEntry>,
    pub after: Option<IndexEntry>,
}

/// One change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The change's number. A later line of the log with the same number replaces this one.
    pub id: u32,
    /// The number of the turn or rewind that made the change. Changes with the same number are rewound together.
    pub entry: u32,
    pub turn: u32,
    /// The time of the change, in seconds since 1970.
    pub at: u64,
    /// The first line of the turn's prompt.
    pub title: String,
    pub cause: Cause,
    pub path: Place,
    /// The file's new path, if the change renamed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Place>,
    pub before: Kept,
    pub after: Kept,
    /// The file's permissions before the change, if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<FileMode>,
    /// The file's permissions after the change, if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_mode: Option<FileMode>,
    /// How the change altered the file's entry in git's index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staged: Option<Staged>,
    /// The branch that was checked out, if the project is under git: `refs/heads/main`, or a commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether git has brought the later text, in commits of the branch that stayed checked out. The earlier text is not
    /// stored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_brought: bool,
    /// Whether the file may have the only copy of a text that a command has moved there from a place that is not
    /// compared.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_moved: bool,
    /// The topmost folder that this change created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<Place>,
    /// After the user's decision: the file's text without the change, and its text with the accepted part of the
    /// change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<(Kept, Kept)>,
    pub state: State,
}

impl Change {
    /// The file's content without the change, and its content with the change.
    pub fn sides(&self) -> (&Kept, &Kept) {
        match &self.settled {
            Some((before, after)) => (before, after),
            None => (&self.before, &self.after),
        }
    }

    /// Whether the change has an effect that a rewind could undo.
    pub fn counts(&self) -> bool {
        let (before, after) = self.sides();
        let is_known = !matches!(before, Kept::Lost(_));
        let is_same = is_known && self.to.is_none() && before == after;
        let has_mode = self.new_mode.is_some() && self.mode != self.new_mode;
        self.state != State::Void && (!is_same || has_mode || self.staged.is_some())
    }
}

/// A line of the log that was not checked yet.
#[derive(Debug, Deserialize)]
pub(super) struct Line {
    pub(super) id: u32,
    pub(super) entry: u32,
    pub(super) turn: u32,
    pub(super) at: u64,
    pub(super) title: String,
    pub(super) cause: Cause,
    pub(super) path: PathBuf,
    pub(super) to: Option<PathBuf>,
    pub(super) before: Kept,
    pub(super) after: Kept,
    pub(super) mode: Option<FileMode>,
    pub(super) new_mode: Option<FileMode>,
    pub(super) staged: Option<Staged>,
    pub(super) branch: Option<String>,
    #[serde(default)]
    pub(super) is_brought: bool,
    #[serde(default)]
    pub(super) is_moved: bool,
    pub(super) folder: Option<PathBuf>,
    pub(super) settled: Option<(Kept, Kept)>,
    #[serde(default)]
    pub(super) state: State,
}

impl Line {
    /// Checks the line. `None` if it does not describe a change of a file in this project.
    pub(super) fn change(self, root: &Path) -> Option<Change> {
        let Line { id, entry, turn, at, title: said, cause, path, to, .. } = self;
        let place = |path: Option<PathBuf>| match path {
            Some(path) => Place::within(root, path).map(Some),
            None => Some(None),
        };
        (id.max(entry).max(turn) <= HIGHEST).then_some(())?;
        Some(Change {
            id,
            entry,
            turn,
            at,
            title: title(&said),
            cause,
            path: Place::within(root, path)?,
            to: place(to)?,
            before: self.before.plain(),
            after: self.after.plain(),
            mode: self.mode,
            new_mode: self.new_mode,
            staged: self.staged,
            branch: self.branch.map(|it| title(&it)),
            is_brought: self.is_brought,
            is_moved: self.is_moved,
            folder: place(self.folder)?,
            settled: self.settled.map(|(before, after)| (before.plain(), after.plain())),
            state: self.state,
        })
    }
}

/// A change that has no number and no line in the log yet.
#[derive(Debug, Clone)]
pub struct New {
    pub path: PathBuf,
    pub to: Option<PathBuf>,
    pub before: Kept,
    pub after: Kept,
    pub mode: Option<u32>,
    pub new_mode: Option<u32>,
    pub staged: Option<Staged>,
    pub branch: Option<String>,
    pub is_brought: bool,
    pub is_moved: bool,
    pub folder: Option<PathBuf>,
}

impl New {
    /// A change of a file's content alone.
    pub fn content(path: PathBuf, before: Kept, after: Kept) -> New {
        let (to, mode, new_mode) = (None, None, None);
        let (staged, branch, folder) = (None, None, None);
        let (is_brought, is_moved) = (false, false);
        New {
            path,
            to,
            before,
            after,
            mode,
            new_mode,
            staged,
            branch,
            is_brought,
            is_moved,
            folder,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use std::path::Component;

    fn base() -> Value {
        json!({
            "id": 1, "entry": 1, "turn": 1, "at": 1, "title": "t", "cause": "edit", "path": "/p/a",
            "before": {"blob": "a".repeat(64)}, "after": "absent",
        })
    }

    fn read(value: Value) -> Option<Change> {
        serde_json::from_value::<Line>(value).ok()?.change(Path::new("/p"))
    }

    #[test]
    fn a_line_of_the_log_with_an_invalid_field_is_ignored() {
        assert!(read(base()).is_some());
        let written = serde_json::to_value(read(base()).unwrap()).unwrap();
        assert_eq!(read(written), read(base()));
        let upper = "A".repeat(64);
        for (field, value) in [
            ("before", json!({"blob": "../../x"})),
            ("before", json!({"blob": upper})),
            ("after", json!({"blob": ""})),
            ("settled", json!([{"blob": "changes"}, "absent"])),
            ("path", json!("/etc/passwd")),
            ("path", json!("a")),
            ("path", json!("/p/../x")),
            ("path", json!("/p/.git/hooks/pre-commit")),
            ("to", json!("/x")),
            ("to", json!("/p/.GIT/config")),
            ("folder", json!("/")),
            ("folder", json!("/p")),
            ("mode", json!(0o4777)),
            ("mode", json!(0o1000)),
            ("mode", json!(-1)),
            ("id", json!(u32::MAX)),
            ("entry", json!(u32::MAX)),
            ("turn", json!(u32::MAX)),
        ] {
            let mut line = base();
            line[field] = value.clone();
            assert_eq!(read(line), None, "{field}: {value}");
        }
    }

    fn name() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(json!("a".repeat(64))),
            "[a-f0-9]{64}".prop_map(Value::from),
            "[a-fA-F0-9./]{0,70}".prop_map(Value::from),
            any::<u32>().prop_map(Value::from),
        ]
    }

    fn path() -> impl Strategy<Value = Value> {
        prop_oneof!["(/p)?(/(\\.|\\.\\.|[a-z]{1,3}|\\.git|\\.Git)){0,4}/?", ".*"]
            .prop_map(Value::from)
    }

    proptest! {
        #[test]
        fn a_change_read_from_any_log_has_only_project_paths_and_valid_numbers(
            (before, to, folder, at) in (name(), path(), path(), path()),
            mode in prop_oneof![0..0o1000u32, any::<u32>()],
            numbers in prop_oneof![0..10u32, any::<u32>()],
            why in ".*",
        ) {
            let mut line = base();
            line["before"] = json!({"blob": before});
            line["after"] = json!({"lost": why});
            for (field, value) in [("path", at), ("to", to), ("folder", folder), ("mode", mode.into()), ("id", numbers.into())] {
                line[field] = value;
            }
            line["title"] = line["after"]["lost"].clone();
            let Some(change) = read(line) else { return Ok(()) };
            prop_assert!(change.id <= HIGHEST && !change.title.contains(char::is_control));
            prop_assert!(change.mode.is_none_or(|it| it.bits() <= 0o777));
            let Kept::Blob(name) = &change.before else { panic!("{change:?}") };
            let name: &str = name.as_ref();
            prop_assert!(name.len() == 64 && !name.contains(['/', '.']));
            for place in [Some(&change.path), change.to.as_ref(), change.folder.as_ref()].into_iter().flatten() {
                let below = place.strip_prefix("/p").unwrap();
                prop_assert!(below.components().next().is_some());
                let is_plain = |it: Component| matches!(it, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"));
                prop_assert!(below.components().all(is_plain));
            }
        }
    }
}
