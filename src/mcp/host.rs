//! What a server's program needs from this one.

use super::definition::Variables;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::process::Command;

/// What a server's program needs from this one.
#[derive(Clone)]
pub struct Host {
    /// This program's file, which is also the supervisor of the servers.
    pub program: PathBuf,
    /// The folder in which a server runs whose definition names none.
    pub root: PathBuf,
    /// Takes the secrets of the user's environment away from a server.
    pub withhold: Arc<dyn Fn(&mut Command) + Send + Sync>,
    /// The environment, from which a definition takes what it names.
    pub variables: Variables,
}

impl Default for Host {
    fn default() -> Host {
        Host {
            program: PathBuf::new(),
            root: PathBuf::new(),
            withhold: Arc::new(|_| ()),
            variables: Arc::new(|_| None),
        }
    }
}
