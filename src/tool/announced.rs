//! A command or a job of whose beginning and end the editor hears.

use super::{Moved, Workspace};
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A command of whose beginning and end the editor hears, also if this is dropped.
pub struct Announced {
    end: oneshot::Sender<Moved>,
    told: JoinHandle<()>,
}

impl Announced {
    pub async fn begin(files: Arc<dyn Workspace>, is_job: bool) -> Announced {
        files.command(None, is_job).await;
        let (end, ended) = oneshot::channel();
        let told = tokio::spawn(async move {
            // If the call or the job is stopped, the sender is dropped, which ends the wait too.
            files.command(Some(ended.await.unwrap_or_default()), is_job).await;
        });
        Announced { end, told }
    }

    /// When this returns, the buffers have what the command has changed on disk.
    pub async fn end(self, moved: Moved) {
        let _ = self.end.send(moved);
        let _ = self.told.await;
    }
}
