//! Whoever started a run sees its output in one of two forms, for a person or as JSON.

use super::launch::Launched;
use crate::conversation::ran::Ran;
use crate::conversation::report::Show;
use std::io;

/// Shows a run to whoever started it.
pub(super) trait Output {
    /// Called once the session is open.
    fn begin(&mut self, launched: &Launched) -> io::Result<()>;
    fn show(&mut self, show: &Show) -> io::Result<()>;
    fn end(&mut self, ran: &Ran) -> io::Result<()>;
    /// Called in place of `end` if the run could not begin or the agent failed.
    fn fail(&mut self, code: u8, why: &str) -> io::Result<()>;
}

/// The summary of a call that was running when the turn ended.
pub(super) const STOPPED: &str = "stopped";
