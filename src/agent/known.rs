//! The texts of the user's files that the model knows. If a file changes, the model gets a diff once, with the next
//! request.

use crate::conversation::Conversation;
use crate::edit::{self, Fate, Revision};
use crate::message::{Excerpt, ExcerptKind};
use crate::session::{self, Input, Session};
use crate::text::Text;
use crate::tool::{self, Desk, Source, Stamp, Unreadable, Workspace};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;

/// The most bytes of one text, and of all texts, that are kept for comparison. Of other texts only the hash is kept.
const LARGEST: usize = 1 << 20;
const ALL: usize = 64 << 20;
/// The most lines of one file's diff, files with a diff in one request, and names of further files.
const LINES: usize = 120;
const FILES: usize = 20;
const NAMES: usize = 100;

/// The texts in memory of files that the model knows. `Session::known` has the hash of each text that the model knows.
pub(super) struct Known {
    files: HashMap<PathBuf, Seen>,
    /// The bytes of all texts.
    size: usize,
    observations: mpsc::UnboundedSender<Observation>,
}

#[derive(Default)]
struct Seen {
    text: Option<Arc<Text>>,
    /// The file's stamp (such as its time and size) when the file had this text.
    stamp: Stamp,
    /// The differences that the model is told with the next request: the text that it knew, and the one that it is told.
    untold: Vec<(Arc<Text>, Arc<Text>)>,
    /// Counts the observations of the file. The result of a check that began before the last observation is ignored.
    at: u64,
}

/// A file to check for changes, and the state to compare it with.
#[derive(Clone)]
pub(super) struct Watched {
    path: PathBuf,
    stamp: Stamp,
    at: u64,
}

impl Watched {
    pub(super) fn is_in(&self, paths: &BTreeSet<PathBuf>) -> bool {
        paths.contains(&self.path)
    }
}

/// The result of a check that found a file changed.
pub(super) struct Look {
    path: PathBuf,
    stamp: Stamp,
    at: u64,
    now: Result<Source, Unreadable>,
    /// How the user has decided so far on the file's changes.
    decided: Option<String>,
}

/// Who or what may have caused a change, judged by when the change was found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    User,
    /// The change was found after a command of the model, and was not there before the command.
    Command,
    /// The same, after another call that acts, such as a task for a subagent.
    Call,
    /// The change was found when the session was opened. The first prompt tells the model about it.
    Opened,
}

/// News about the user's files.
pub(super) enum Observation {
    /// The model was shown a file's text or a part of it, or has edited it. `text` is the file's text now. If the model
    /// did not see all of the text, `stood` is the text without the model's own edit. The model is then told how
    /// `stood` differs from the text that the model knew before.
    Learnt {
        path: PathBuf,
        stood: Option<Text>,
        text: Text,
    },
    Moved {
        from: PathBuf,
        to: Option<PathBuf>,
    },
    /// Files were looked at. The paths are of files that a command of the model's has changed.
    Looked(Cause, Vec<Look>, Vec<PathBuf>),
}

impl Known {
    pub(super) fn new() -> (Known, mpsc::UnboundedReceiver<Observation>) {
        let (observations, observations_end) = mpsc::unbounded_channel();
        (Known { files: HashMap::new(), size: 0, observations }, observations_end)
    }

    /// The channel for observations.
    pub(super) fn observations(&self) -> mpsc::UnboundedSender<Observation> {
        self.observations.clone()
    }

    /// The files whose changes the model is told of. A file that may be read only with consent is among them only if it
    /// was read since this program started: what a session file says gives no consent.
    pub(super) fn watched(&self, session: &Session, desk: &Desk) -> Vec<Watched> {
        let is_agreed = |it: &&PathBuf| self.may_be_told(desk, it);
        let one = |path: &PathBuf| {
            let seen = self.files.get(path).map(|it| (it.stamp.clone(), it.at));
            let (stamp, at) = seen.unwrap_or_default();
            Watched { path: path.clone(), stamp, at }
        };
        let all = session.known.keys().chain(session.gone.keys());
        all.filter(is_agreed).map(one).collect()
    }

    /// Whether the model may be told how a file changes.
    pub(super) fn may_be_told(&self, desk: &Desk, path: &Path) -> bool {
        self.files.contains_key(path) || tool::path::is_free(desk, path)
    }

    /// Forgets the texts of files that the model may no longer read, so that the model is not told of their changes.
    pub(super) fn distrust(&mut self, desk: &Desk, is_meant: impl Fn(&Path) -> bool) {
        let meant = |it: &&PathBuf| is_meant(it) && !tool::path::is_free(desk, it);
        let paths: Vec<PathBuf> = self.files.keys().filter(meant).cloned().collect();
        for it in &paths {
            self.forget(it);
        }
    }

    fn set(&mut self, path: &Path, text: Text, stamp: Stamp) {
        let seen = self.files.entry(path.to_owned()).or_default();
        let bytes = |text: &Option<Arc<Text>>| text.as_ref().map_or(0, |it| it.content.len());
        self.size -= bytes(&seen.text);
        let fits = text.content.len() <= LARGEST.min(ALL.saturating_sub(self.size));
        seen.text = fits.then(|| Arc::new(text));
        self.size += bytes(&seen.text);
        seen.stamp = stamp;
        seen.at += 1;
    }

    fn note_untold(&mut self, path: &Path, stood: Text) {
        let seen = self.files.entry(path.to_owned()).or_default();
        if let Some(text) = &seen.text {
            seen.untold.push((text.clone(), Arc::new(stood)));
        }
    }

    fn forget(&mut self, path: &Path) {
        let text = self.files.remove(path).and_then(|it| it.text);
        self.size -= text.map_or(0, |it| it.content.len());
    }

    /// Notes that a file with this stamp is gone. Its text is kept, because the file may come back.
    fn leave(&mut self, path: &Path, stamp: Stamp) -> Option<Arc<Text>> {
        let seen = self.files.get_mut(path)?;
        seen.stamp = stamp;
        seen.at += 1;
        seen.text.clone()
    }
}

/// Checks these files for changes and reads the changed ones. Files with pending hunks are left out until they are
/// decided.
pub(super) async fn look(workspace: &dyn Workspace, watched: &[Watched]) -> Vec<Look> {
    let mut looks = Vec::new();
    if watched.is_empty() {
        return looks;
    }
    let paths = watched.iter().map(|it| it.path.clone()).collect();
    for (it, stamp) in watched.iter().zip(workspace.stamps(paths).await) {
        if stamp == it.stamp || stamp == Stamp::Undecided {
            continue;
        }
        let now = workspace.read(&it.path).await;
        if !matches!(now, Ok(Source { pending: 1.., .. })) {
            let decided = workspace.decided(&it.path).await;
            looks.push(Look { path: it.path.clone(), stamp, at: it.at, now, decided });
        }
    }
    looks
}

/// The same files, with the state in which the checks have found them.
pub(super) fn after(mut watched: Vec<Watched>, looks: &[Look]) -> Vec<Watched> {
    for it in &mut watched {
        if let Some(look) = looks.iter().find(|look| look.path == it.path) {
            it.stamp.clone_from(&look.stamp);
            it.at += 1;
        }
    }
    watched
}

/// Updates the known texts and tells the conversation about changes.
pub(super) struct Tracker<'a> {
    pub(super) known: &'a mut Known,
    pub(super) conversation: &'a mut Conversation,
    pub(super) desk: &'a Desk,
}

impl Tracker<'_> {
    pub(super) fn observe(&mut self, observation: Observation) {
        match observation {
            Observation::Learnt { path, stood, text } => {
                let told = stood.as_ref().and_then(|it| self.differs(&path, it, Cause::User));
                if let (Some(_), Some(stood)) = (&told, stood) {
                    self.known.note_untold(&path, stood);
                }
                let hash = match &told {
                    Some((_, false)) => String::new(),
                    _ => text.sha256_hex(),
                };
                self.desk.workspace.model_knows(&path, &text);
                self.known.set(&path, text, Stamp::Unknown);
                self.conversation.take(Input::Know { path, hash: Some(hash) });
                self.tell_changes(told.into_iter().map(|it| it.0).collect());
            }
            Observation::Moved { from, to } => {
                if let (Some(text), Some(path)) = (self.forget(from, Stamp::Unknown), to) {
                    let text = Arc::unwrap_or_clone(text);
                    self.observe(Observation::Learnt { path, stood: None, text });
                }
            }
            Observation::Looked(cause, looks, changed) => self.looked(cause, looks, &changed),
        }
    }

    /// Notes the text of a file on which the user has decided, because the verdict tells the model the text. `None` if
    /// the file does not exist any more.
    pub(super) fn settled(&mut self, path: &Path, text: Option<Text>) {
        self.withdraw(path, text.as_ref());
        let path = path.to_owned();
        match text {
            Some(text) => self.observe(Observation::Learnt { path, stood: None, text }),
            None => drop(self.forget(path, Stamp::Unknown)),
        }
    }

    /// The user has decided on the changes in a file, perhaps also on those of other conversations. What the model was
    /// to be told of such a change with the next request is not told if it is no longer so.
    fn withdraw(&mut self, path: &Path, now: Option<&Text>) {
        let Some(seen) = self.known.files.get_mut(path) else { return };
        let untold = std::mem::take(&mut seen.untold);
        let shown = self.desk.shown(path);
        let is_it = |it: &Excerpt| it.kind == ExcerptKind::Changes && it.path == shown;
        if untold.is_empty() || !self.conversation.session.instructions.iter().any(is_it) {
            return;
        }
        let fates = |(before, after): &(Arc<Text>, Arc<Text>)| {
            edit::outcome(Revision { before, after }, now).hunks.into_iter().map(|it| it.fate)
        };
        let fates: Vec<Fate> = untold.iter().flat_map(fates).collect();
        if fates.iter().all(|it| *it == Fate::Kept) {
            return;
        }
        self.conversation.take(Input::Untell { path: shown });
        if !fates.iter().all(|it| *it == Fate::Undone) {
            self.tell_changes(vec![self.excerpt(path, session::MAY_DIFFER.to_owned())]);
        }
    }

    /// The file is gone. Returns its text if it is in memory.
    fn forget(&mut self, path: PathBuf, stamp: Stamp) -> Option<Arc<Text>> {
        let text = self.known.leave(&path, stamp);
        self.conversation.take(Input::Know { path, hash: None });
        text
    }

    /// Checks for changes of the files whose text the model knew when the session was closed.
    pub(super) fn remember(&mut self) {
        self.known.files.clear();
        self.known.size = 0;
        let watched = self.known.watched(&self.conversation.session, self.desk);
        let (workspace, observations) = (self.desk.workspace.clone(), self.known.observations());
        if !watched.is_empty() {
            tokio::spawn(async move {
                let looks = look(&*workspace, &watched).await;
                let _ = observations.send(Observation::Looked(Cause::Opened, looks, Vec::new()));
            });
        }
    }

    fn looked(&mut self, cause: Cause, looks: Vec<Look>, changed: &[PathBuf]) {
        let mut files = Vec::new();
        let mut others: [BTreeSet<String>; 2] = Default::default();
        for Look { path, stamp, at, now, decided } in looks {
            let session = &self.conversation.session;
            let is_gone = session.gone.contains_key(&path);
            let is_known = is_gone || session.known.contains_key(&path);
            if !is_known || self.known.files.get(&path).map_or(0, |it| it.at) != at {
                continue;
            }
            if is_gone && now.is_err() {
                self.known.leave(&path, stamp);
                continue;
            }
            let told = self.told(&path, &now, cause);
            if cause == Cause::Opened && told.is_some() {
                continue;
            }
            // a command changes files on disk; a changed buffer was changed by the user
            let by_call = matches!(cause, Cause::Command | Cause::Call);
            let by_command = by_call && matches!(stamp, Stamp::Disk(_));
            let is_told = told.is_some();
            let told = told.map(|(mut excerpt, is_all)| {
                if let Some(it) = decided {
                    excerpt.text.push_str(&format!("\n{it}"));
                }
                (excerpt, is_all)
            });
            let mut is_clear = told.as_ref().is_none_or(|it| it.1);
            match told {
                Some((excerpt, _)) if !by_command && files.len() < FILES => files.push(excerpt),
                Some(_) => {
                    is_clear = false;
                    others[usize::from(by_command)].insert(self.desk.shown(&path));
                }
                None => (),
            }
            match now {
                Ok(source) => self.settle_look(path, source.text, stamp, is_told, is_clear),
                Err(_) => drop(self.forget(path, stamp)),
            }
        }
        let is_told = |it: &String| files.iter().any(|file: &Excerpt| file.path == *it);
        let changed = changed.iter().map(|it| self.desk.shown(it)).filter(|it| !is_told(it));
        others[1].extend(changed.collect::<Vec<_>>());
        self.tell_changes(files);
        let while_it_ran = match cause {
            Cause::Call => "while your call ran",
            _ => "while your command ran",
        };
        for (names, what) in others.iter().zip(["since you saw them last", while_it_ran]) {
            if !names.is_empty() {
                self.conversation.take(Input::Note { text: named(names, what) });
            }
        }
    }

    /// What the model is told of a file that may have changed, and whether that is all of it.
    fn told(
        &self,
        path: &Path,
        now: &Result<Source, Unreadable>,
        cause: Cause,
    ) -> Option<(Excerpt, bool)> {
        let is_gone = self.conversation.session.gone.contains_key(path);
        match now {
            Ok(source) if is_gone => Some(self.again(path, &source.text)),
            Ok(source) => self.differs(path, &source.text, cause),
            Err(why) => Some((self.changed(path, &format!("It {} now.", why.say()), cause), true)),
        }
    }

    /// Takes in the current text of a file. `is_told` says whether the model is told that the file has changed,
    /// `is_clear` whether the model is told every change.
    fn settle_look(
        &mut self,
        path: PathBuf,
        text: Text,
        stamp: Stamp,
        is_told: bool,
        is_clear: bool,
    ) {
        self.desk.workspace.model_knows(&path, &text);
        let hash = if is_clear { text.sha256_hex() } else { String::new() };
        self.known.set(&path, text, stamp);
        if is_told {
            self.conversation.take(Input::Know { path, hash: Some(hash) });
        }
    }

    fn tell_changes(&mut self, files: Vec<Excerpt>) {
        if !files.is_empty() {
            self.conversation.take(Input::Instruct { files });
        }
    }

    /// The difference between a file's current text and the text that the model knows, and whether the whole difference
    /// is shown. `None` if nothing changed or the model does not know the file.
    fn differs(&self, path: &Path, now: &Text, cause: Cause) -> Option<(Excerpt, bool)> {
        let hash = self.conversation.session.known.get(path)?;
        let (said, is_all) = match self.known.files.get(path).and_then(|it| it.text.as_ref()) {
            Some(text) if text.joined() == now.joined() => return None,
            Some(text) => edit::unified(text, now, LINES),
            None if hash.is_empty() => {
                return Some((self.excerpt(path, session::MAY_DIFFER.to_owned()), false));
            }
            None if *hash == now.sha256_hex() => return None,
            // the review waits for its buffer, and the verdict tells the text
            None if self.conversation.session.reviewing.iter().any(|it| it == path) => return None,
            None => (session::NOT_KNOWN.to_owned(), false),
        };
        Some((self.changed(path, &said, cause), is_all))
    }

    /// What the model is told of a file that is there again, and whether that is all of it.
    fn again(&self, path: &Path, now: &Text) -> (Excerpt, bool) {
        let was = self.known.files.get(path).and_then(|it| it.text.as_ref());
        let is_same = |hash: &String| *hash == now.sha256_hex();
        let (said, is_all) = match was {
            _ if self.conversation.session.gone.get(path).is_some_and(is_same) => (
                "The file is there again as text, with the lines that you saw last.".to_owned(),
                true,
            ),
            Some(text) => {
                let (said, is_all) = edit::unified(text, now, LINES);
                (
                    format!(
                        "The file is there again as text, and has changed since you saw it last:\n{said}"
                    ),
                    is_all,
                )
            }
            None => (
                "The file is there again as text. Read it before you rely on its lines.".to_owned(),
                false,
            ),
        };
        (self.excerpt(path, said), is_all)
    }

    fn changed(&self, path: &Path, said: &str, cause: Cause) -> Excerpt {
        let when = match cause {
            Cause::Command => "while your command ran",
            Cause::Call => "while your call ran",
            Cause::User | Cause::Opened => "since you saw it last",
        };
        self.excerpt(path, format!("The file changed {when}:\n{said}"))
    }

    fn excerpt(&self, path: &Path, text: String) -> Excerpt {
        let kind = ExcerptKind::Changes;
        Excerpt { path: self.desk.shown(path), kind, text, ..Excerpt::default() }
    }
}

fn named(names: &BTreeSet<String>, what: &str) -> String {
    let more = names.len().saturating_sub(NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let names = names.iter().take(NAMES).map(|it| &**it).collect::<Vec<_>>().join(", ");
    format!("These files changed {what}: {names}{more}. Read them again before you rely on them.")
}
