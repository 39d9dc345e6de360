//! Asks git which locked files a command would change, for the question to the user. A command that was refused does not
//! say so itself: the programs that it runs could name any file.

use crate::tool::Desk;
use crate::tool::command;
use crate::tool::process::{Process, Streams};
use std::io;
use std::time::Duration;

/// The longest time for the look.
const WAIT: Duration = Duration::from_secs(20);

/// The locked paths that a command line, which is git alone, would change. The line runs in a sandbox of its own, which
/// writes nothing and has no network, and in which git only looks. There are none if the look fails.
pub(in crate::tool) async fn looked(desk: &Desk, line: &str) -> Vec<String> {
    look(desk, line).await.unwrap_or_default()
}

async fn look(desk: &Desk, line: &str) -> io::Result<Vec<String>> {
    let limits = desk.confinement.clone().looking().limits(desk).await?;
    let Some(limits) = limits.filter(|it| it.sandbox.gate.is_some()) else { return Ok(Vec::new()) };
    let command = command::prepared(desk, line, Some(&limits), Streams::Output)?;
    let mut process = Process::start(command, Streams::Output, Some(WAIT), None, None).await?;
    while process.next().await.is_some() {}
    process.finish().await;
    Ok(limits.looked())
}
