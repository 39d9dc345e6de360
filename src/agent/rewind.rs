//! `:Caliban rewind`: lists the turns that changed files, previews how a turn's changes would be undone, and undoes
//! them.

pub(super) mod changed;
mod plan;

use super::checkpoints::{ChangedBy, Keeper, Planned, Record};
use crate::conversation::Conversation;
use crate::conversation::report::{Level, Report, RewindFile, Show, TurnRow};
use crate::edit::{Proposal, Whole, unified};
use crate::reach::Writing;
use crate::regular;
use crate::session::Phase;
use crate::store::checkpoints::{Blobs, Cause, Change, Content, FileMode};
use crate::text::{Text, cause};
use crate::tool::{self, Desk};
use plan::File as Planning;
pub(super) use plan::check_no_link;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The most lines of the preview for one file, and for all files. Nobody reads more before deciding.
const LINES: usize = 500;
const ALL: usize = 10_000;

/// A request of the user about the turns that changed files.
pub enum Rewind {
    List,
    Preview {
        entry: u32,
        /// Whether to rewind all later turns and rewinds too.
        later: bool,
        /// Whether the preview is only looked at while the user chooses a turn.
        look: bool,
    },
    /// Undoes the turn's changes to these files.
    Do {
        entry: u32,
        later: bool,
        paths: Vec<PathBuf>,
    },
}

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
                let found = self.changes_of(conversation, entry, later);
                let Some((title, changes)) = found else { return };
                let (desk, screen) = (desk.clone(), conversation.screen());
                tokio::spawn(async move {
                    let files = plan::plan(&desk, &keeper.blobs, &changes).await;
                    let mut room = ALL;
                    let mut shown = |it| preview(it, &desk, &mut room);
                    let files = files.iter().map(&mut shown).collect();
                    // The send fails only when the editor is gone.
                    let preview = Report::Preview { entry, later, look, title, files };
                    let _ = screen.send(Show::Now(preview));
                });
            }
            Rewind::Do { .. } if conversation.session.phase != Phase::Idle => {
                conversation.refuse_while_running();
            }
            Rewind::Do { entry, later, paths } => {
                let found = self.changes_of(conversation, entry, later);
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
        let changes = self.checkpoints(conversation).map(|it| it.changes()).unwrap_or_default();
        for it in changes.iter().filter(|it| it.counts()) {
            let known = turns.iter().position(|row| row.entry == it.entry);
            let at = known.unwrap_or_else(|| {
                turns.push(row(it));
                turns.len() - 1
            });
            let name = tool::path::show(root, it.to.as_deref().unwrap_or(&it.path));
            if !turns[at].files.contains(&name) {
                turns[at].files.push(name);
            }
        }
        if turns.is_empty() {
            let text = "No turn of this conversation has changed a file.";
            return conversation.notice(Level::Info, text.into());
        }
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

    /// The title of a turn and its changes, the latest first. With `later`, the changes of all later turns and rewinds
    /// too.
    fn changes_of(
        &mut self,
        conversation: &Conversation,
        entry: u32,
        later: bool,
    ) -> Option<(String, Vec<Change>)> {
        let all = self.checkpoints(conversation)?.changes().iter();
        let mut changes: Vec<Change> = all
            .filter(|it| (it.entry == entry || later && it.entry > entry) && it.counts())
            .cloned()
            .collect();
        changes.reverse();
        let Some(first) = changes.last() else {
            let text = "The changes of this turn are no longer stored.";
            conversation.notice(Level::Warn, text.into());
            return None;
        };
        Some((row(first).title, changes))
    }
}

fn row(it: &Change) -> TurnRow {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let title = match (it.title.as_str(), it.cause) {
        ("", _) => format!("turn {}", it.turn),
        (title, Cause::Rewind) => format!("rewind of {title}"),
        (title, _) => title.to_owned(),
    };
    TurnRow { entry: it.entry, title, age: now.saturating_sub(it.at), files: Vec::new() }
}

fn preview(file: &Planning, desk: &Desk, room: &mut usize) -> RewindFile {
    let root = &desk.root;
    let none = Text::default();
    let diff = match (text(&file.was, &none), text(&file.now, &none)) {
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

/// The text of a file; `absent` if the file does not exist; `None` if its content is not text.
fn text<'a>(content: &'a Content, absent: &'a Text) -> Option<&'a Text> {
    match content {
        Content::Text(text) => Some(text),
        Content::Absent => Some(absent),
        Content::Bytes(_) => None,
    }
}

struct Job {
    desk: Desk,
    keeper: Keeper,
}

/// One step of a rewind.
enum Step {
    /// The editor makes the change in the file's buffer.
    InBuffer(Box<Proposal>),
    /// The program writes the file, byte for byte.
    OnDisk { path: PathBuf, was: Content, now: Content, mode: Option<FileMode> },
}

impl Step {
    /// The paths at which a file is written, deleted or created.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let (path, to) = match self {
            Step::InBuffer(change) => (&change.path, change.to()),
            Step::OnDisk { path, .. } => (path, None),
        };
        std::iter::once(&**path).chain(to)
    }
}

impl Job {
    /// Undoes the changes, file by file. Returns a line about each file.
    async fn run(&self, title: &str, changes: &[Change], paths: &[PathBuf]) -> Vec<String> {
        let mut files = plan::plan(&self.desk, &self.keeper.blobs, changes).await;
        files.retain(|it| paths.contains(&it.path));
        let (mut planned, mut todo) = (Vec::new(), Vec::new());
        for (at, file) in files.iter().enumerate().filter(|it| it.1.is_to_do()) {
            for (what, step) in steps(file) {
                planned.push(what);
                todo.push((at, step));
            }
        }
        let mut ids =
            self.keeper.begin(ChangedBy::Rewind(title.to_owned()), planned).await.into_iter();
        for (at, step) in todo {
            let (file, id) = (&mut files[at], ids.next());
            let checked = step.paths().try_for_each(|it| plan::check_no_link(&self.desk, it));
            let done = match (file.skipped.clone().or(checked.err()), step) {
                (Some(why), _) => Err(why),
                (None, Step::InBuffer(change)) => self.desk.workspace.restore(*change).await,
                (None, Step::OnDisk { path, was, now, mode }) => {
                    self.on_disk(path, was, now, mode).await
                }
            };
            match done {
                Ok(unsaved) if unsaved.is_empty() => (),
                Ok(unsaved) => file.unsaved = Some(unsaved),
                Err(why) => {
                    file.skipped = Some(why);
                    if let Some(id) = id {
                        self.keeper.void(id);
                    }
                }
            }
        }
        let root = &self.desk.root;
        let done = files.iter().filter(|it| it.skipped.is_none()).map(|it| &*it.path);
        remove_folders(&self.desk, changes, &done.collect());
        let line = |it: &Planning| format!("{} {}", tool::path::show(root, &it.path), it.say(root));
        files.iter().map(line).collect()
    }

    async fn on_disk(
        &self,
        path: PathBuf,
        was: Content,
        now: Content,
        mode: Option<FileMode>,
    ) -> Result<String, String> {
        let to = path.clone();
        let written = tokio::task::spawn_blocking(move || write_file(&to, &was, &now, mode)).await;
        written.map_err(|it| cause(&it))?.map_err(|it| cause(&it))?;
        self.desk.workspace.refresh(path).await;
        Ok(String::new())
    }
}

/// The steps that rewind a file, in order, each with the change that the checkpoints record for it.
fn steps(file: &Planning) -> Vec<(Planned, Step)> {
    let mut steps = Vec::new();
    if let Some(from) = &file.from {
        let whole = Some(Whole::Rename { to: file.path.clone() });
        let planned = Planned {
            path: from.clone(),
            to: Some(file.path.clone()),
            before: Some(Content::Absent),
            after: Content::Absent,
            mode: None,
        };
        steps.push((planned, in_buffer(from, &file.was, &file.was, whole)));
    }
    if file.was != file.now {
        let path = &file.path;
        let (before, after) = (file.was.clone(), file.now.clone());
        let is_alike = |was: &Text, now: &Text| (was.newline, was.bom) == (now.newline, now.bom);
        let step = match (&before, &after) {
            (_, Content::Absent) => in_buffer(path, &before, &after, Some(Whole::Delete)),
            (Content::Text(was), Content::Text(now)) if is_alike(was, now) => {
                in_buffer(path, &before, &after, None)
            }
            _ => {
                let (path, was, now) = (path.clone(), before.clone(), after.clone());
                Step::OnDisk { path, was, now, mode: file.mode }
            }
        };
        let before = Some(before);
        steps.push((Planned { path: path.clone(), to: None, before, after, mode: None }, step));
    }
    steps
}

fn in_buffer(path: &Path, was: &Content, now: &Content, whole: Option<Whole>) -> Step {
    let text = |it: &Content| match it {
        Content::Text(text) => text.clone(),
        _ => Text::default(),
    };
    let proposal = Proposal {
        parts: Vec::new(),
        path: path.to_owned(),
        before: Some(text(was)),
        after: text(now),
        at_once: true,
        whole,
        is_binary: matches!(was, Content::Bytes(_)),
    };
    Step::InBuffer(Box::new(proposal))
}

/// Replaces a file in one step, if its content is still `was`. A reader finds either the old or the new content.
/// Blocks.
fn write_file(path: &Path, was: &Content, now: &Content, mode: Option<FileMode>) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut mode = mode.map(|it| fs::Permissions::from_mode(it.bits()));
    if *was == Content::Absent {
        fs::create_dir_all(folder)?;
    } else if Content::of(regular::read(path)?) == *was {
        mode.get_or_insert(fs::metadata(path)?.permissions());
    } else {
        return Err(io::Error::other("it has changed meanwhile"));
    }
    let usual = fs::Permissions::from_mode(0o666);
    let mut whole =
        tempfile::Builder::new().prefix(".caliban-").permissions(usual).tempfile_in(folder)?;
    whole.write_all(&now.bytes().unwrap_or_default())?;
    mode.map_or(Ok(()), |it| whole.as_file().set_permissions(it))?;
    whole.as_file().sync_all()?;
    let written =
        if *was == Content::Absent { whole.persist_noclobber(path) } else { whole.persist(path) };
    written.map(drop).map_err(|it| it.error)
}

/// Removes folders that a turn had created for its files, if the rewind has left them empty.
fn remove_folders(desk: &Desk, changes: &[Change], done: &BTreeSet<&Path>) {
    for change in changes {
        let Some(highest) = &change.folder else { continue };
        let made = change.to.as_ref().unwrap_or(&change.path);
        if !done.contains(&*change.path) && !done.contains(&**made) {
            continue;
        }
        let is_ours =
            |it: &&Path| it.starts_with(&**highest) && plan::check_no_link(desk, it).is_ok();
        for folder in made.ancestors().skip(1).take_while(is_ours) {
            // Fails if the folder is not empty.
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewinding_a_file_replaces_it_atomically_and_keeps_its_permissions() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("raw");
        let (old, new) = (Content::of(b"\xff old".to_vec()), Content::of(b"\xff new".to_vec()));
        fs::write(&path, b"\xff old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        let mut reader = fs::File::open(&path).unwrap();
        write_file(&path, &old, &new, None).unwrap();
        let mut read = Vec::new();
        io::Read::read_to_end(&mut reader, &mut read).unwrap();
        assert_eq!(read, b"\xff old");
        assert_eq!(fs::read(&path).unwrap(), b"\xff new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o751);
        // three refusals: the content differs; the file does not exist; the file exists although it should not
        assert!(write_file(&path, &old, &new, None).is_err());
        assert!(write_file(&dir.path().join("other"), &old, &new, None).is_err());
        assert!(write_file(&path, &Content::Absent, &old, None).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"\xff new");
        let made = dir.path().join("a/b");
        write_file(&made, &Content::Absent, &new, Some(FileMode::of(0o640))).unwrap();
        assert_eq!(fs::metadata(&made).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
