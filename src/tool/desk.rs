//! The root folder, files, rules and settings that tools work with.

use super::confinement::Confinement;
use super::environment::Secrets;
use super::jobs::Jobs;
use super::path::tilde;
use super::set::Toolset;
use super::usable::Usable;
use super::workspace::{Source, Unreadable, Workspace};
use crate::event::Guarded;
use crate::mcp::Servers;
use crate::message::CallId;
use crate::reach::Reach;
use crate::rules::Rules;
use crate::web::Web;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;

/// The root folder, files, rules and settings that tools work with.
#[derive(Clone)]
pub struct Desk {
    /// The tools of the model.
    pub tools: Toolset,
    /// The folder in which the tools work: the project's root, or a worktree; canonical.
    pub root: PathBuf,
    /// The project's root if `root` is a worktree.
    pub project: Option<PathBuf>,
    /// The conversation's name, which is written into the file of the to-do list.
    pub session: String,
    pub home: Option<PathBuf>,
    /// The user's own configuration folder.
    pub config: PathBuf,
    /// Which files may be read and written.
    pub reach: Reach,
    /// The user's permission rules. The tools use them to check which files may not be edited. The policy uses the
    /// session's copy.
    pub rules: Arc<Rules>,
    pub workspace: Arc<dyn Workspace>,
    /// Receives each text that is read for the model. `None` if it is not recorded which texts the model knows.
    pub seen: Option<mpsc::UnboundedSender<Seen>>,
    /// The skills of the project that the model may have.
    pub skills: Usable,
    /// The consent that the running call has for paths that are not read without one.
    pub agreed: Option<Guarded>,
    /// Receives the output of running commands, for the chat.
    pub output: mpsc::UnboundedSender<(CallId, String)>,
    /// The variables that no command gets, and the secrets that no answer shows.
    pub secrets: Secrets,
    /// The folder for outputs that were too long to show. `read` may read there without consent.
    pub overflow: PathBuf,
    /// The path of this program, which is also run as the supervisor of commands.
    pub program: PathBuf,
    pub web: Web,
    /// The user's servers of tools.
    pub servers: Servers,
    /// The sandbox of commands.
    pub confinement: Confinement,
    /// The commands that run in the background.
    pub jobs: Jobs,
}

impl Desk {
    /// Reads a text for the model.
    pub async fn read(&self, path: &Path) -> Result<Source, Unreadable> {
        let source = self.workspace.read(path).await?;
        self.saw(path, &source, true);
        Ok(source)
    }

    /// Records that the model sees a text, or a part of it.
    pub(super) fn saw(&self, path: &Path, source: &Source, is_whole: bool) {
        if let Some(seen) = &self.seen {
            // the send fails if nobody records any more which texts the model knows
            let _ = seen.send(Seen { path: path.to_owned(), source: source.clone(), is_whole });
        }
    }

    /// The project's root, also for a desk in a worktree.
    pub fn project(&self) -> &Path {
        self.project.as_deref().unwrap_or(&self.root)
    }

    /// A path as the user would write it.
    pub fn shown(&self, path: &Path) -> String {
        tilde(&self.root, self.home.as_deref(), path)
    }
}

/// A text that was read for the model.
pub struct Seen {
    pub path: PathBuf,
    pub source: Source,
    /// Whether the model sees the whole text.
    pub is_whole: bool,
}
