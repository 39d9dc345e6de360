//! Brings the changes of a worktree into the user's files as proposals. The user's own changes since the worktree began
//! stay: a text is merged from three sides, and a file in which both have changed the same lines is left out.

use super::super::super::checkpoints::Keeper;
use crate::edit::{self, Back, Edit, Part, Proposal, Whole, merge};
use crate::event::TurnId;
use crate::message::CallId;
use crate::place::Place;
use crate::regular;
use crate::text::Text;
use crate::text::unseen::spelt_out;
use crate::tool::worktree::{Change, Committed, Content, Mode, Worktree};
use crate::tool::{self, Arrival, Desk, Resolved, Unreadable};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most files that a sentence names.
const NAMED: usize = 20;

/// Names files in a sentence.
pub(super) fn named(paths: &[String]) -> String {
    let shown = paths.iter().take(NAMED).map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    let more = if paths.len() > NAMED { " and others" } else { "" };
    shown + more
}

/// The most files that are proposed.
const MOST: usize = 200;
/// How often a change is merged again because the file's text changed in the meantime.
const TRIES: u32 = 5;

/// What a merge needs of the parent.
pub(super) struct Merge {
    pub(super) desk: Desk,
    pub(super) keeper: Option<Keeper>,
    pub(super) turn: TurnId,
    /// Whether each change is written at once. The error says why it may not be proposed.
    pub(super) may: Vec<Result<bool, String>>,
}

/// What became of the changes.
#[derive(Debug, Default)]
pub(in crate::agent) struct Outcome {
    /// The calls of those changes that wait for the user's review. Each changed file has a call of its own.
    pub(super) waits: BTreeSet<CallId>,
    /// How many files were written, or had the change already.
    written: usize,
    /// How many files had the change already in their buffers, where it waits for the user's review.
    reviewed: usize,
    /// The files whose changes are in their buffers and not on disk, and why: a sentence.
    unsaved: Vec<(String, String)>,
    /// The files whose changes only the branch has, and why: the end of a sentence that begins with the path.
    pub(super) left: Vec<(String, String)>,
}

/// A change that is not in the user's files yet.
struct Open<'a> {
    call: CallId,
    change: &'a Change,
    old: Option<Content>,
    new: Option<Content>,
    /// Whether the change is written at once.
    at_once: bool,
}

impl Merge {
    pub(super) async fn propose(&self, tree: &Worktree, committed: &Committed) -> Outcome {
        let mut outcome = Outcome::default();
        let mut open = Vec::new();
        for (at, (change, may)) in committed.changes.iter().zip(&self.may).enumerate() {
            let may = match may {
                Ok(true) => Ok(!self.is_run_by_others(change).await),
                may => may.clone(),
            };
            match opened(tree, at, change, &may).await {
                Ok(it) => open.push(it),
                Err(why) => outcome.leave(change, why),
            }
        }
        for _ in 0..TRIES {
            let (mut batch, mut of) = (Vec::new(), Vec::new());
            for it in std::mem::take(&mut open) {
                match self.plan(&it).await {
                    Err(why) => outcome.leave(it.change, why),
                    Ok(none) if none.is_empty() => self.count(&it, &mut outcome).await,
                    Ok(proposals) => {
                        of.push((it, proposals.len()));
                        batch.extend(proposals);
                    }
                }
            }
            if batch.is_empty() {
                break;
            }
            let mut arrivals = self.sent(batch).await.into_iter();
            for (it, count) in of {
                let arrived: Vec<Arrival> = arrivals.by_ref().take(count).collect();
                open.extend(outcome.arrived(it, arrived));
            }
        }
        for it in open {
            outcome.leave(it.change, "kept changing meanwhile".to_owned());
        }
        outcome.note_modes(committed);
        outcome
    }

    /// Counts a change that needs no proposal. One of the permissions alone is counted by `Outcome::note_modes`.
    async fn count(&self, it: &Open<'_>, outcome: &mut Outcome) {
        if it.old == it.new && it.change.from.is_none() {
            return;
        }
        let Ok(path) = self.placed(&it.change.path) else { return };
        match self.desk.workspace.read(&path).await {
            Ok(source) if source.pending > 0 => outcome.reviewed += 1,
            _ => outcome.written += 1,
        }
    }

    /// Whether a configuration names the file, before or after the change.
    async fn is_run_by_others(&self, change: &Change) -> bool {
        let named = change.from.iter().chain([&change.path]);
        let paths = named.map(|it| self.desk.root.join(it)).collect();
        !self.desk.confinement.run_by_others(&self.desk, paths).await.is_empty()
    }

    /// Stores the content of the proposals' files, then sends the proposals to the editor.
    async fn sent(&self, batch: Vec<Proposal>) -> Vec<Arrival> {
        let Some(keeper) = &self.keeper else {
            return self.desk.workspace.propose(self.turn, batch).await;
        };
        let ids = keeper.propose(self.turn, &batch).await;
        let arrivals = self.desk.workspace.propose(self.turn, batch).await;
        for (id, arrival) in ids.into_iter().zip(&arrivals) {
            keeper.arrived(id, arrival).await;
        }
        arrivals
    }

    /// The proposals for a change of one file; none if the user's file has the change already. The error says why the
    /// change is not proposed.
    async fn plan(&self, it: &Open<'_>) -> Result<Vec<Proposal>, String> {
        let Change { path, from, .. } = it.change;
        let path = self.placed(from.as_ref().unwrap_or(path))?;
        let own = self.own(&path).await;
        match (&it.old, &it.new) {
            (Some(old), None) => {
                let Some(is_binary) = kept(&path, &own, old).await? else { return Ok(Vec::new()) };
                let text = own.ok().flatten().filter(|_| !is_binary);
                let texts = (text.clone(), text.unwrap_or_default());
                self.whole(it, path, texts, Whole::Delete, is_binary).map(|it| vec![it])
            }
            (Some(old), Some(new)) if from.is_some() => {
                let to = self.placed(&it.change.path)?;
                self.renamed(it, (path, to), own, (old, new)).await
            }
            (old, Some(new)) => {
                let own = own.map_err(|it| it.say())?;
                let after = merged(old.as_ref(), own.as_ref(), new)?;
                Ok(self.text(it, path, own, after)?.into_iter().collect())
            }
            (None, None) => Ok(Vec::new()),
        }
    }

    async fn renamed(
        &self,
        it: &Open<'_>,
        (path, to): (PathBuf, PathBuf),
        own: Result<Option<Text>, Unreadable>,
        (old, new): (&Content, &Content),
    ) -> Result<Vec<Proposal>, String> {
        let there = self.own(&to).await;
        if matches!(own, Ok(None))
            && matches!((&there, new), (Ok(Some(is)), Content::Text(new)) if is_same(is, new))
        {
            return Ok(Vec::new());
        }
        if !matches!(there, Ok(None)) {
            return Err("exists in the project".to_owned());
        }
        if old == new
            && let Some(is_binary) = kept(&path, &own, old).await?
        {
            let text = own.ok().flatten().filter(|_| !is_binary);
            let texts = (text.clone(), text.unwrap_or_default());
            return Ok(vec![self.whole(it, path, texts, Whole::Rename { to }, is_binary)?]);
        }
        let Ok(Some(own)) = own else {
            return Err("was deleted, or is not text, in the project".into());
        };
        let after = merged(Some(old), Some(&own), new)?;
        let text = self.text(it, path.clone(), Some(own.clone()), after.clone())?;
        let whole = self.whole(it, path, (Some(own), after), Whole::Rename { to }, false)?;
        Ok(text.into_iter().chain([whole]).collect())
    }

    /// The absolute path of a file of the project. Git's data may be forged, so a path outside of the project is
    /// refused.
    fn placed(&self, path: &Path) -> Result<PathBuf, String> {
        let place = Place::within(&self.desk.root, self.desk.root.join(path));
        place.map(Place::into_path).ok_or_else(|| "is not a path in the project".to_owned())
    }

    async fn own(&self, path: &Path) -> Result<Option<Text>, Unreadable> {
        match self.desk.workspace.read(path).await {
            Ok(source) => Ok(Some(source.text)),
            Err(Unreadable::Absent) => Ok(None),
            Err(why) => Err(why),
        }
    }

    /// The proposal of a new text; `None` if the file has this text already.
    fn text(
        &self,
        it: &Open<'_>,
        path: PathBuf,
        before: Option<Text>,
        after: Text,
    ) -> Result<Option<Proposal>, String> {
        if before.as_ref() == Some(&after) {
            return Ok(None);
        }
        let change = edit::Change::Write { text: String::new() };
        let at_once = self.is_at_once(it, &path, change)?;
        let part =
            Part { call: it.call.clone(), back: Back::to(before.clone()), note: String::new() };
        let (parts, whole) = (vec![part], None);
        Ok(Some(Proposal { parts, path, before, after, at_once, whole, is_binary: false }))
    }

    /// The proposal to delete or rename a file. `texts` are the file's text before the proposals for it, and after
    /// them.
    fn whole(
        &self,
        it: &Open<'_>,
        path: PathBuf,
        (before, after): (Option<Text>, Text),
        whole: Whole,
        is_binary: bool,
    ) -> Result<Proposal, String> {
        let at_once = self.is_at_once(it, &path, edit::Change::Whole(whole.clone()))? && !is_binary;
        let part = Part { call: it.call.clone(), back: Back::default(), note: String::new() };
        let parts = vec![part];
        Ok(Proposal { parts, path, before, after, at_once, whole: Some(whole), is_binary })
    }

    /// Checks a change by the rules about paths. Returns whether it is written at once.
    fn is_at_once(&self, it: &Open<'_>, path: &Path, change: edit::Change) -> Result<bool, String> {
        let mut all = Resolved::default();
        tool::resolved(&self.desk, Edit { path: path.to_owned(), change }, &mut all)
            .map_err(|why| format!("may not be edited ({})", why.trim_end_matches('.')))?;
        if all.edits.iter().any(|it| it.path != path) {
            return Err("is reached through a symbolic link".to_owned());
        }
        Ok(it.at_once && all.reviewed.is_empty())
    }
}

/// A change with its contents. The error says why it is not proposed.
async fn opened<'a>(
    tree: &Worktree,
    at: usize,
    change: &'a Change,
    may: &Result<bool, String>,
) -> Result<Open<'a>, String> {
    let at_once = may.clone()?;
    let entries = [&change.old, &change.new];
    let modes = || entries.iter().filter_map(|it| it.as_ref()).map(|it| it.mode);
    if modes().any(|it| it == Mode::Link) {
        return Err("is a symbolic link".to_owned());
    }
    if modes().any(|it| it == Mode::Module) {
        return Err("is a repository of its own".to_owned());
    }
    if at >= MOST {
        return Err(format!("is left out, because at most {MOST} files are proposed"));
    }
    let call = CallId::own(format_args!("{}#{}", tree.branch(), at + 1));
    let [mut old, mut new] = [None, None];
    for (entry, content) in entries.into_iter().zip([&mut old, &mut new]) {
        if let Some(entry) = entry {
            *content = Some(tree.content(entry).await?);
        }
    }
    Ok(Open { call, change, old, new, at_once })
}

/// The user's text with the changes of the worktree. The error says why there is none.
fn merged(old: Option<&Content>, own: Option<&Text>, new: &Content) -> Result<Text, String> {
    let Content::Text(new) = new else { return Err("is not text".to_owned()) };
    match (old, own) {
        (None, None) => Ok(new.clone()),
        (None, Some(own)) if is_same(own, new) => Ok(own.clone()),
        (None, Some(_)) => Err("exists in the project with different text".to_owned()),
        (Some(_), None) => Err("was deleted in the project".to_owned()),
        (Some(Content::Text(old)), Some(own)) => match merge(old, own, new) {
            it if it.conflicts > 0 => Err("was changed by the user at the same lines".to_owned()),
            it => Ok(it.text),
        },
        (Some(_), Some(_)) => Err("was not text before".to_owned()),
    }
}

/// Whether the user's file still has the content that the worktree began with: `None` if the file is gone, else whether
/// it is a binary file. The error says that it was changed.
async fn kept(
    path: &Path,
    own: &Result<Option<Text>, Unreadable>,
    old: &Content,
) -> Result<Option<bool>, String> {
    let changed = || Err("was changed by the user".to_owned());
    match (own, old) {
        (Ok(None), _) => Ok(None),
        (Ok(Some(own)), Content::Text(old)) if is_same(own, old) => Ok(Some(false)),
        (Err(Unreadable::Binary | Unreadable::NotUtf8), Content::Binary(old)) => {
            match regular::read_apart(path).await {
                Ok(own) if own == *old => Ok(Some(true)),
                _ => changed(),
            }
        }
        _ => changed(),
    }
}

/// Whether two texts have the same lines. Git may store other line ends than the disk has.
fn is_same(one: &Text, other: &Text) -> bool {
    one.content == other.content
}

/// A path in one line. A subagent may give a file any name.
fn shown(path: &Path) -> String {
    let escape = |it: char| match it {
        it if it.is_control() => it.escape_default().to_string(),
        it => it.to_string(),
    };
    let line: String = path.to_string_lossy().chars().map(escape).collect();
    spelt_out(&line).0.into_owned()
}

impl Outcome {
    fn leave(&mut self, change: &Change, why: String) {
        self.left.push((shown(&change.path), why));
    }

    /// Takes the editor's answers to the proposals for one change. Returns the change if it has to be merged again.
    fn arrived<'a>(&mut self, it: Open<'a>, arrivals: Vec<Arrival>) -> Option<Open<'a>> {
        let (mut waits, mut is_unsaved) = (false, false);
        for arrival in arrivals {
            match arrival {
                Arrival::Entered { .. } => waits = true,
                Arrival::Written { unsaved, .. } if unsaved.is_empty() => (),
                Arrival::Written { unsaved, .. } => {
                    is_unsaved = true;
                    self.unsaved.push((shown(&it.change.path), unsaved));
                }
                Arrival::Moved(_) | Arrival::Withheld => return Some(it),
                Arrival::Refused(why) => {
                    self.leave(it.change, format!("was refused: {}", why.say("it", None)));
                    return None;
                }
                Arrival::Stopped => {
                    self.leave(
                        it.change,
                        "was being proposed when the turn was stopped".to_owned(),
                    );
                    return None;
                }
            }
        }
        if waits {
            self.waits.insert(it.call);
        } else if !is_unsaved {
            self.written += 1;
        }
        None
    }

    /// Adds to the report the files whose permissions differ. A buffer has no permissions, so they are not proposed.
    fn note_modes(&mut self, committed: &Committed) {
        for it in &committed.changes {
            let is_left = self.left.iter().any(|(path, _)| *path == shown(&it.path));
            let mode = |entry: &Option<crate::tool::worktree::Entry>| {
                entry.as_ref().is_some_and(|it| it.mode == Mode::Executable)
            };
            if !is_left && it.new.is_some() && mode(&it.old) != mode(&it.new) {
                let word = if mode(&it.new) { "executable" } else { "not executable" };
                self.leave(it, format!("is {word} there"));
            }
        }
    }

    /// What the parent's model is told.
    pub(super) fn lines(&self, branch: &str, committed: &Committed) -> Vec<String> {
        let paths: Vec<String> = committed.changes.iter().map(|it| shown(&it.path)).collect();
        let (stat, paths) = (&committed.stat, named(&paths));
        let is_gone = self.waits.is_empty() && !self.keeps_branch();
        let mut lines = vec![if is_gone {
            format!("[It has changed {stat}: {paths}.]")
        } else {
            format!("[The branch `{branch}` has its changes, {stat}: {paths}.]")
        }];
        if !self.waits.is_empty() {
            lines.push(format!(
                "[{} these changes in the user's buffers, under review. A later message has the user's decisions.]",
                match self.waits.len() {
                    1 => "1 file has".to_owned(),
                    n => format!("{n} files have"),
                }
            ));
        }
        if self.reviewed > 0 {
            lines.push(match self.reviewed {
                1 => "[1 file had these changes already in the user's buffer, under review.]"
                    .to_owned(),
                n => format!(
                    "[{n} files had these changes already in the user's buffers, under review.]"
                ),
            });
        }
        if self.written > 0 {
            lines.push(match self.written {
                1 => "[1 file of the project now has these changes.]".to_owned(),
                n => format!("[{n} files of the project now have these changes.]"),
            });
        }
        for (path, why) in self.unsaved.iter().take(NAMED) {
            lines.push(format!(
                "[The changes to `{path}` are in the user's buffer and not on disk ({why}). The branch has them too.]"
            ));
        }
        if let Some(left) = self.left() {
            lines.push(format!("[Only the branch has the changes to {left}.]"));
        }
        lines
    }

    /// Whether the branch has changes that the files on disk lack and that no review waits for.
    pub(super) fn keeps_branch(&self) -> bool {
        !self.left.is_empty() || !self.unsaved.is_empty()
    }

    /// The files that only the branch has, with the reasons.
    fn left(&self) -> Option<String> {
        let each: Vec<String> = self
            .left
            .iter()
            .take(NAMED)
            .map(|(path, why)| format!("`{path}`, which {why}"))
            .collect();
        let more = if self.left.len() > each.len() { "; and others" } else { "" };
        (!each.is_empty()).then(|| each.join("; ") + more)
    }

    /// What the user is told of changes that were not proposed.
    pub(super) fn left_for_user(&self, branch: &str) -> Option<String> {
        let drops = format!("`git branch -D {branch}` drops the branch.");
        let only = self.left().map(|it| {
            format!(
                "Only the branch {branch} has the changes to {it}. `git checkout {branch} -- FILE` takes a file, {drops}"
            )
        });
        let paths: Vec<String> = self.unsaved.iter().map(|it| it.0.clone()).collect();
        let unsaved = (!paths.is_empty()).then(|| {
            format!(
                "The changes to {} are in the buffers and not on disk, so the branch {branch} is kept. {drops}",
                named(&paths)
            )
        });
        let both: Vec<String> = only.into_iter().chain(unsaved).collect();
        (!both.is_empty()).then(|| both.join(" "))
    }
}
