//! The fields of a session's file that a picker shows. They stand before the messages, so that the file is read no further.

use super::file::SCHEMA;
use super::unavailable::Unavailable;
use super::{disk, journal};
use crate::event::{Event, Parent};
use crate::session::title;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _, Serialize};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The beginnings of those journal lines that matter for a list of sessions.
const USED_LINES: [&str; 4] = [
    r#"{"event":"prompted""#,
    r#"{"event":"titled""#,
    r#"{"event":"named""#,
    r#"{"event":"assigned""#,
];

/// The fields of a session's file that a picker shows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) schema: u64,
    pub(super) title: String,
    pub(super) saves: u64,
    pub(super) turns: u32,
    pub(super) parent: Option<Parent>,
    /// The turns that the user has taken back.
    #[serde(default)]
    pub(super) undone: u32,
    /// Whether the parser has reached the messages or the end of the file.
    #[serde(skip)]
    pub(super) whole: bool,
}

impl<'de> Visitor<'de> for &mut Head {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a session")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut is_counted = false;
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "schema" => self.schema = map.next_value()?,
                "title" => self.title = map.next_value()?,
                "saves" => self.saves = map.next_value()?,
                "parent" => self.parent = map.next_value()?,
                "undone" => self.undone = map.next_value()?,
                "turns" => {
                    self.turns = map.next_value()?;
                    is_counted = true;
                }
                "messages" if is_counted => break,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        self.whole = true;
        Ok(())
    }
}

/// Reads a file up to its messages, and checks that the file ends as it should.
pub(super) fn read_head(path: &Path) -> Result<Head, Unavailable> {
    let file = disk::open(path).map_err(Unavailable::Io)?;
    let mut head = Head::default();
    let read =
        serde_json::Deserializer::from_reader(BufReader::new(&file)).deserialize_map(&mut head);
    match read {
        // The visitor stops at the messages, so the parser reports an error even for a good file.
        Err(error) if !head.whole => return Err(Unavailable::Damaged(error.to_string())),
        _ => (),
    }
    if head.schema > u64::from(SCHEMA) {
        return Err(Unavailable::Newer(u32::try_from(head.schema).unwrap_or(u32::MAX)));
    }
    if !ends_whole(&file).map_err(Unavailable::Io)? {
        return Err(Unavailable::Damaged("it breaks off".to_owned()));
    }
    Ok(head)
}

fn ends_whole(file: &File) -> io::Result<bool> {
    let len = file.metadata()?.len();
    let mut end = [0; 64];
    let count = file.read_at(&mut end, len.saturating_sub(64))?;
    Ok(end[..count].trim_ascii_end().ends_with(b"}"))
}

/// Adds the turns and the title that are only in the journal. Parses only the few lines that matter for a list.
pub(super) fn add_journal(journal: &Path, head: &mut Head) {
    let Ok(file) = disk::open(journal) else { return };
    let mut lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
    if !lines.next().is_some_and(|it| journal::follows(&it, head.saves)) {
        return;
    }
    let tells = |it: &Vec<u8>| USED_LINES.iter().any(|begin| it.starts_with(begin.as_bytes()));
    for event in lines.filter(tells).filter_map(|it| serde_json::from_slice::<Event>(&it).ok()) {
        match event {
            Event::Prompted { turn, message } => {
                head.turns = turn.0;
                if head.title.is_empty() {
                    head.title = title(&message.text);
                }
            }
            Event::Titled { title } => head.title = title,
            Event::Assigned { parent } => head.parent = Some(parent),
            Event::Named(it) if !it.title.is_empty() => head.title = it.title,
            _ => (),
        }
    }
}
