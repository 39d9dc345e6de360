//! The debug log: written only when it is asked for. nvim-rs stays out of it: its records hold every message,
//! prompts and keys included.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, fmt, registry};

/// Begins the log in `folder/debug.log`.
pub fn begin(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let file = File::options().create(true).append(true).open(folder.join("debug.log"))?;
    let own = Targets::new().with_target("caliban", LevelFilter::DEBUG);
    let layer = fmt::layer().with_ansi(false).with_writer(Arc::new(file)).with_filter(own);
    // A second begin in one process keeps the first log.
    let _ = tracing::subscriber::set_global_default(registry().with(layer));
    Ok(())
}
