//! The debug log: written only when it is asked for, and only its owner can read it. nvim-rs stays out of it: its
//! records hold every message, prompts and keys included.

use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, fmt, registry};

/// Begins the log in `folder/debug.log`. If others can read that file, takes this permission away.
pub fn begin(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let options = &mut File::options();
    let file = options.create(true).append(true).mode(0o600).open(folder.join("debug.log"))?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    let own = Targets::new().with_target("caliban", LevelFilter::DEBUG);
    let layer = fmt::layer().with_ansi(false).with_writer(Arc::new(file)).with_filter(own);
    // A second begin in one process keeps the first log.
    let _ = tracing::subscriber::set_global_default(registry().with(layer));
    Ok(())
}
