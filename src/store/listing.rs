//! The sessions of a project as a picker shows them. If a session's file is not in the index, the beginning of the file
//! is read. A search for a text reads all files completely.

use super::disk::is_name;
use super::head::{Head, add_journal, read_head};
use super::index::Index;
use super::lock;
use super::open::Project;
use crate::event::{Parent, SessionId};
use crate::message::{Block, CallId, Role};
use crate::session::{Session, title};
use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::time::{Duration, SystemTime};

/// The most characters that are shown of a line that contains the searched text, and how many of them are before the
/// searched text.
const HIT: usize = 120;
const BEFORE_HIT: usize = 30;

/// A session as the list of sessions shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub title: String,
    /// The time since the last save.
    pub age: Duration,
    pub bytes: u64,
    pub turns: u32,
    /// Whether another program has the session open.
    pub locked: bool,
    /// A sentence that says why the session cannot be opened.
    pub problem: Option<String>,
    /// The first line that contains the searched text.
    pub line: Option<String>,
    /// If the session is a subagent's: the call that began it.
    pub parent: Option<Parent>,
}

impl Project {
    /// All sessions; the session that was saved last comes first.
    pub fn list(&self) -> Vec<Listed> {
        let (names, mut index) = (self.session_names(), self.index());
        index.keep(&names);
        let sessions = names.into_iter().filter_map(|name| self.listed(name, &mut index));
        let mut list: Vec<Listed> = sessions.collect();
        self.keep_index(&index);
        list.sort_by(|a, b| a.age.cmp(&b.age).then_with(|| a.name.cmp(&b.name)));
        list
    }

    /// The sessions whose name, title or conversation contains `text`, in upper or lower case.
    pub fn find(&self, text: &str) -> Vec<Listed> {
        let text = text.to_lowercase();
        let mut found = self.list();
        found.retain_mut(|it| {
            let read = self.read_but_outputs(&SessionId(it.name.clone())).ok();
            it.line = read.and_then(|(session, _)| line_with(&session, &text));
            let is_named = [&it.name, &it.title].iter().any(|it| it.to_lowercase().contains(&text));
            is_named || it.line.is_some()
        });
        found
    }

    /// The sessions of the subagents that worked for a session. A subagent's file names the call that began the
    /// subagent, and the session with this call. If no session has that name any more, the session was renamed or
    /// deleted, and only the call is compared.
    pub fn subagents(&self, of: &SessionId) -> Vec<SessionId> {
        let mut found = self.list();
        found.retain(|it| {
            let is_gone = |it: &SessionId| is_name(&it.0) && self.is_free(&it.0);
            it.parent.as_ref().is_some_and(|it| it.session == *of || is_gone(&it.session))
        });
        let Some(read) = (!found.is_empty()).then(|| self.read_but_outputs(of).ok()).flatten()
        else {
            return Vec::new();
        };
        let blocks = read.0.messages.iter().flat_map(|it| &it.blocks);
        let calls: HashSet<&CallId> = blocks
            .filter_map(|it| match it {
                Block::Call(call) => Some(&call.id),
                _ => None,
            })
            .collect();
        found.retain(|it| it.parent.as_ref().is_some_and(|it| calls.contains(&it.call)));
        found.into_iter().map(|it| SessionId(it.name)).collect()
    }

    /// The names of all sessions that have a file or a journal.
    fn session_names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir()).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|it| {
                let name = it.file_name().into_string().ok()?;
                let (name, ending) = name.split_once('.')?;
                (is_name(name) && ["json", "journal"].contains(&ending)).then(|| name.to_owned())
            })
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// The session with this name. `None` if the session has no messages.
    fn listed(&self, name: String, index: &mut Index) -> Option<Listed> {
        let locked = self.is_locked(&name);
        let path = |ending: &str| self.dir().join(format!("{name}.{ending}"));
        let (mut head, mut problem) = (Head::default(), None);
        let mut saved: Vec<Metadata> = fs::metadata(path("json")).into_iter().collect();
        if let Some(file) = saved.first() {
            match index.head(&name, file, || read_head(&path("json"))) {
                Ok(it) => head = it,
                Err(unavailable) => problem = Some(unavailable.say(&name)),
            }
        }
        let journal = fs::metadata(path("journal")).ok().filter(|it| it.len() > 0);
        if problem.is_none() && journal.is_some() {
            add_journal(&path("journal"), &mut head);
        }
        if problem.is_none() && saved.is_empty() && head.turns == 0 {
            return None;
        }
        saved.extend(journal);
        let last = saved.iter().filter_map(|it| it.modified().ok()).max();
        let age = last.and_then(|it| SystemTime::now().duration_since(it).ok()).unwrap_or_default();
        let bytes = saved.iter().map(Metadata::len).sum();
        let (title, turns) = (title(&head.title), head.turns.saturating_sub(head.undone));
        let parent = head.parent.filter(|it| !it.is_copy);
        Some(Listed { name, title, age, bytes, turns, locked, problem, line: None, parent })
    }

    /// Whether another program has the session open.
    pub fn is_locked(&self, name: &str) -> bool {
        lock::is_held(self.dir(), name)
    }
}

/// The first line of the conversation that contains `text`, in upper or lower case. `text` is in lower case.
fn line_with(session: &Session, text: &str) -> Option<String> {
    let said = session.messages.iter().filter(|it| matches!(it.role, Role::User | Role::Assistant));
    let texts = said.flat_map(|it| &it.blocks).filter_map(|it| match it {
        Block::Text { text } => Some(text),
        _ => None,
    });
    texts.flat_map(|it| it.lines()).find_map(|line| {
        let at = line.to_lowercase().find(text)?;
        let before = line.to_lowercase()[..at].chars().count();
        let shown: String =
            line.chars().skip(before.saturating_sub(BEFORE_HIT)).take(HIT).collect();
        Some(shown.trim().to_owned())
    })
}
