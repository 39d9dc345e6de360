//! `:Caliban rewind`: lists the turns that changed files, previews how a turn's changes would be undone, and undoes
//! them.

pub(super) mod changed;
mod disk;
mod index;
mod job;
mod keep;
mod plan;

use super::checkpoints::Record;
use super::command::Rewind;
use super::command_changes::{short, told};
use crate::conversation::Conversation;
use crate::conversation::report::{Level, Report, RewindFile, Show, TurnRow};
use crate::edit::unified;
use crate::reach::Writing;
use crate::session::Phase;
use crate::store::checkpoints::{Blobs, Cause, Change, Content, Note};
use crate::text::Text;
use crate::tool::{self, Desk};
use job::Job;
use plan::File as Planning;
pub(super) use plan::check_no_link;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The most lines of the preview for one file, and for all files. Nobody reads more before deciding.
const LINES: usize = 500;
const ALL: usize = 10_000;

/// The files that changed since the beginning of a turn.
pub(super) struct Changed {
    /// The number of the first of these turns that changed a file.
    pub(super) entry: u32,
    pub(super) paths: Vec<PathBuf>,
}

impl Record {
    pub(super) fn rewind(&mut self, conversation: &mut Conversation, desk: &Desk, wanted: Rewind) {
        let Some(keeper) = self.keeper(conversation) else {
            let text = "This conversation is never saved, so it cannot be rewound.";
            return conversation.notice(Level::Warn, text.into());
        };
        match wanted {
            Rewind::List => self.list_turns(conversation, &desk.root),
            Rewind::Preview { entry, later, look } => {
                let notes = self.notes_of(conversation, entry, later);
                let found = self.changes_of(conversation, entry, later, &notes);
                let Some((title, changes)) = found else { return };
                let title = with_later(title, &changes, entry);
                let (desk, screen) = (desk.clone(), conversation.screen());
                tokio::spawn(async move {
                    let notes = told(&desk.root, notes.iter().map(|it| &it.said)).await;
                    let files = keep::plan(&desk, &keeper.blobs, &changes).await;
                    let mut room = ALL;
                    let mut shown = |it| preview(it, &desk, &mut room);
                    let files = files.iter().map(&mut shown).collect();
                    // The send fails only when the editor is gone.
                    let preview = Report::Preview { entry, later, look, title, notes, files };
                    let _ = screen.send(Show::Now(preview));
                });
            }
            Rewind::Do { .. } if conversation.session.phase != Phase::Idle => {
                conversation.refuse_while_running();
            }
            Rewind::Do { entry, later, paths } => {
                let found = self.changes_of(conversation, entry, later, &[]);
                let Some((title, changes)) = found else { return };
                let job = Job { desk: desk.clone(), keeper };
                tokio::spawn(async move {
                    let lines = job.run(&title, &changes, &paths).await;
                    job.keeper.rewound(title, lines, later);
                });
            }
        }
    }

    fn list_turns(&mut self, conversation: &mut Conversation, root: &Path) {
        let mut turns: Vec<TurnRow> = Vec::new();
        self.tell_of_ignored(conversation);
        let Some(all) = self.checkpoints(conversation) else { return };
        for it in all.changes().iter().filter(|it| it.counts()) {
            let at = place(&mut turns, it.entry, || row(it));
            let name = tool::path::show(root, it.to.as_deref().unwrap_or(&it.path));
            if !turns[at].files.contains(&name) {
                turns[at].files.push(name);
            }
        }
        for it in all.notes() {
            let at = place(&mut turns, it.entry, || row_of_note(it));
            turns[at].notes.push(short(&it.said).to_owned());
        }
        if turns.is_empty() {
            let text = "No changes of files are recorded in this conversation. What commands change outside of the \
                project, in submodules and in files that git ignores is not recorded.";
            return conversation.notice(Level::Info, text.into());
        }
        turns.sort_by_key(|it| it.entry);
        turns.reverse();
        conversation.show(Show::Tell(Report::Turns(turns)));
    }

    fn tell_of_ignored(&mut self, conversation: &mut Conversation) {
        let text = match self.checkpoints(conversation).map_or(0, |it| it.ignored()) {
            0 => return,
            1 => "Caliban ignores 1 recorded change of this conversation: its file is not in this project."
                .to_owned(),
            n => format!(
                "Caliban ignores {n} recorded changes of this conversation: their files are not in this project."
            ),
        };
        conversation.tell_once(vec![text]);
    }

    /// The files that the turns since this one have changed; `None` if there are none.
    pub(super) fn since(&mut self, conversation: &Conversation, turn: u32) -> Option<Changed> {
        let all = self.checkpoints(conversation)?.changes();
        let counts = || all.iter().filter(|it| it.counts());
        let of_turns = counts().filter(|it| it.turn >= turn && it.cause != Cause::Rewind);
        let entry = of_turns.map(|it| it.entry).min()?;
        let mut paths: Vec<PathBuf> = Vec::new();
        for it in counts().filter(|it| it.entry >= entry) {
            let path = it.to.as_ref().unwrap_or(&it.path);
            if !paths.iter().any(|known| **known == **path) {
                paths.push(path.to_path_buf());
            }
        }
        Some(Changed { entry, paths })
    }

    /// The changes of the conversation's last turn, the latest first; `None` if that turn changed no file.
    pub(super) fn of_last_turn(
        &mut self,
        conversation: &Conversation,
    ) -> Option<(Blobs, Vec<Change>)> {
        let blobs = self.checkpoints(conversation)?.blobs();
        let turn = conversation.session.turns;
        let all = self.checkpoints(conversation)?.changes().iter();
        let is_meant = |it: &&Change| it.turn == turn && it.cause != Cause::Rewind && it.counts();
        let entry = all.clone().filter(is_meant).map(|it| it.entry).max()?;
        let changes = all.filter(is_meant).filter(|it| it.entry == entry).cloned();
        let mut changes: Vec<Change> = changes.collect();
        changes.reverse();
        Some((blobs, changes))
    }

    /// What a turn did that no rewind takes back. With `later`, what all later turns did too.
    fn notes_of(&mut self, conversation: &Conversation, entry: u32, later: bool) -> Vec<Note> {
        let all = self.checkpoints(conversation).map(|it| it.notes()).unwrap_or_default();
        let is_meant = |it: &&Note| it.entry == entry || later && it.entry > entry;
        all.iter().filter(is_meant).cloned().collect()
    }

    /// The title of a turn and its changes, the latest first. With `later`, the changes of all later turns and rewinds
    /// too.
    fn changes_of(
        &mut self,
        conversation: &Conversation,
        entry: u32,
        later: bool,
        notes: &[Note],
    ) -> Option<(String, Vec<Change>)> {
        let all = self.checkpoints(conversation)?.changes().iter();
        let mut changes: Vec<Change> = all
            .filter(|it| (it.entry == entry || later && it.entry > entry) && it.counts())
            .cloned()
            .collect();
        changes.reverse();
        let Some(first) = changes.last() else {
            if let Some(note) = notes.first() {
                return Some((row_of_note(note).title, changes));
            }
            let text = "The changes of this turn are no longer stored.";
            conversation.notice(Level::Warn, text.into());
            return None;
        };
        Some((row(first).title, changes))
    }
}

/// The index of a turn's row, which is added if there is none.
fn place(turns: &mut Vec<TurnRow>, entry: u32, row: impl FnOnce() -> TurnRow) -> usize {
    turns.iter().position(|it| it.entry == entry).unwrap_or_else(|| {
        turns.push(row());
        turns.len() - 1
    })
}

fn row(it: &Change) -> TurnRow {
    let title = match (it.title.as_str(), it.cause) {
        ("", _) => format!("turn {}", it.turn),
        (title, Cause::Rewind) => format!("rewind of {title}"),
        (title, _) => title.to_owned(),
    };
    TurnRow { entry: it.entry, title, age: age(it.at), files: Vec::new(), notes: Vec::new() }
}

/// The title of a preview, with the number of the later turns that it takes back too.
fn with_later(title: String, changes: &[Change], entry: u32) -> String {
    let is_later = |it: &&Change| it.entry > entry && it.cause != Cause::Rewind;
    let later: BTreeSet<u32> = changes.iter().filter(is_later).map(|it| it.entry).collect();
    match later.len() {
        0 => title,
        1 => format!("{title}, and 1 later turn"),
        n => format!("{title}, and {n} later turns"),
    }
}

fn row_of_note(it: &Note) -> TurnRow {
    let title = if it.title.is_empty() { format!("turn {}", it.turn) } else { it.title.clone() };
    TurnRow { entry: it.entry, title, age: age(it.at), files: Vec::new(), notes: Vec::new() }
}

fn age(at: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    now.saturating_sub(at)
}

fn preview(file: &Planning, desk: &Desk, room: &mut usize) -> RewindFile {
    let root = &desk.root;
    let none = Text::default();
    let diff = match (text(&file.was, &none), text(&file.now, &none)) {
        // a part of the changes may be planned before the one that cannot be taken back
        _ if !file.is_to_do() => String::new(),
        (Some(was), Some(now)) => unified(was, now, LINES.min(*room)).0,
        _ => "(not text)".to_owned(),
    };
    *room = room.saturating_sub(diff.lines().count());
    let mut about = file.say(root);
    if file.by_command {
        about.push_str(" (changed by a command)");
    }
    if let (true, Writing::Reviewed(why)) = (file.is_to_do(), desk.reach.writing(&file.path)) {
        about.push_str(&format!(" (look closely: it {why})"));
    }
    RewindFile {
        path: file.path.clone(),
        name: tool::path::show(root, &file.path),
        about,
        diff,
        todo: file.is_to_do(),
    }
}

/// The text of a file; `absent` if there is no file; `None` if its content is not text.
fn text<'a>(content: &'a Content, absent: &'a Text) -> Option<&'a Text> {
    match content {
        Content::Text(text) => Some(text),
        Content::Absent | Content::Link(_) | Content::Folder => Some(absent),
        Content::Bytes(_) => None,
    }
}
