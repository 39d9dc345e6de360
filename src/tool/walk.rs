//! Walks of folders, gitignore-aware, off the async threads and ended when nobody waits any more.

use crate::reach::{Reach, Reading};
use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Leaves out ignored files and files that are never read, but not hidden ones.
pub fn walker(reach: &Reach, path: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(path);
    let reach = reach.clone();
    builder
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(move |entry| !matches!(reach.reading(entry.path()), Reading::Never(_)));
    builder
}

/// A pattern over paths relative to a folder. Without a slash it matches names at any depth.
pub(super) fn glob(argument: &str, pattern: &str) -> Result<GlobMatcher, String> {
    let bare = pattern.strip_prefix("./").unwrap_or(pattern);
    let anywhere = if bare.contains('/') { bare.to_owned() } else { format!("**/{bare}") };
    GlobBuilder::new(&anywhere)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|fault| {
            format!(
                "{argument}: `{pattern}` is not a glob: {}. Example: src/**/*.{{rs,toml}}",
                fault.kind()
            )
        })
}

/// Tells a walk that nobody waits for it.
#[derive(Clone, Default)]
pub(super) struct Halt(Arc<AtomicBool>);

impl Halt {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

struct OnDrop(Halt);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` on a thread of its own. If the future is dropped, its `Halt` is set.
pub(super) async fn apart<T: Send + 'static>(
    work: impl FnOnce(Halt) -> T + Send + 'static,
) -> Result<T, String> {
    let halt = Halt::default();
    let _guard = OnDrop(halt.clone());
    let done = tokio::task::spawn_blocking(move || work(halt)).await;
    done.map_err(|_| "The tool broke down: this is a fault in it, not in the call.".to_owned())
}
