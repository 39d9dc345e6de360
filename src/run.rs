//! `caliban run` carries out one prompt without an editor and without a person who answers questions. Edits go to the
//! disk at once; the agent, the session and the session's files are the same as in the editor.

mod arguments;
mod children;
mod config;
mod human;
mod json;
mod launch;
mod named;
mod output;

use crate::agent::Command;
use crate::conversation::ran::Exit;
use crate::conversation::report::{Report, Show, Wish};
use crate::tool;
use arguments::{Arguments, Parsed};
use launch::Launched;
use output::Output;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// The exit code for wrong arguments or settings, and for a prompt that cannot be sent.
const WRONG: u8 = 2;
/// How long a stopped turn may take to end, and how long saving the session may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs with these arguments, which follow the word `run`.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments = match arguments::parse(arguments) {
        Ok(Parsed::Run(it)) => it,
        Ok(Parsed::Help) => return said(&io::stdout().write_all(arguments::HELP.as_bytes()), 0),
        Err(why) => {
            let text = format!("caliban: {why}\nTry: caliban run --help\n");
            return said(&io::stderr().write_all(text.as_bytes()), WRONG);
        }
    };
    let mut output: Box<dyn Output> =
        if arguments.json { Box::new(json::Json::new()) } else { Box::new(human::Human::new()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return ExitCode::FAILURE };
    let code = runtime.block_on(run(*arguments, &mut *output));
    runtime.shutdown_background();
    ExitCode::from(code)
}

fn said(written: &io::Result<()>, code: u8) -> ExitCode {
    ExitCode::from(if written.is_ok() { code } else { 1 })
}

async fn run(arguments: Arguments, output: &mut dyn Output) -> u8 {
    let (launched, text) = match launch::launch(arguments).await {
        Ok(it) => it,
        Err(why) => return output.fail(WRONG, &why).map_or(1, |()| WRONG),
    };
    match attend(launched, text, output).await {
        Ok(code) => code,
        // an error cannot be shown either, mostly because nobody reads the output any more
        Err(_) => Exit::Failed.code(),
    }
}

/// Sends the prompt, shows what happens, and saves the session. An error means that the output cannot be written or
/// signals cannot be received.
async fn attend(mut launched: Launched, text: String, output: &mut dyn Output) -> io::Result<u8> {
    output.begin(&launched)?;
    launched.tell(Command::Run(text));
    let mut signals = Signals::new()?;
    let (mut deadline, mut is_signalled) = (None, false);
    let ended = loop {
        let until = deadline.unwrap_or_else(Instant::now);
        tokio::select! {
            biased;
            () = signals.recv() => {
                // A second signal ends the wait. A Neovim that quits sends one signal, and may be gone before the
                // signal arrives.
                if std::mem::replace(&mut is_signalled, true) {
                    break Ok(Exit::Interrupted.code());
                }
                deadline = deadline.or_else(|| Some(launched.stop()));
            }
            () = gone(&mut launched.neovim), if deadline.is_none() => {
                deadline = Some(launched.stop());
            }
            () = sleep_until(until), if deadline.is_some() => break Ok(Exit::Interrupted.code()),
            Some(wish) = launched.wishes.recv() => {
                if let Wish::Learn { model, lesson } = wish {
                    launched.tell(Command::Learn(model, lesson));
                }
            }
            Some(wanted) = launched.places.recv() => launched.place(wanted),
            show = launched.shown.recv() => {
                let code = match show {
                    Some(show) => shown(&show, deadline.is_some(), output),
                    None => output.fail(1, "Caliban failed: its agent has ended.").map(|()| Some(1)),
                };
                match code {
                    Ok(Some(code)) => break Ok(code),
                    Ok(None) => (),
                    Err(error) => break Err(error),
                }
            }
        }
    };
    launched.quit().await;
    let _ = tokio::time::timeout(PATIENCE, tool::last_looks()).await;
    ended
}

/// Shows one message of the agent. Returns the exit code if the run is over.
fn shown(show: &Show, is_stopped: bool, output: &mut dyn Output) -> io::Result<Option<u8>> {
    match show {
        Show::Ran(ran) => output.end(ran).map(|()| Some(ran.exit.code())),
        Show::Now(Report::Bounce { why, .. }) => {
            let code = if is_stopped { Exit::Interrupted.code() } else { WRONG };
            output.fail(code, why).map(|()| Some(code))
        }
        show => output.show(show).map(|()| None),
    }
}

/// Completes when the Neovim that started this run is gone.
async fn gone(neovim: &mut Option<JoinHandle<()>>) {
    match neovim {
        Some(it) => drop(it.await),
        None => std::future::pending().await,
    }
}

/// The signals that stop a run.
struct Signals([Signal; 3]);

impl Signals {
    fn new() -> io::Result<Signals> {
        let [a, b, c] = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Ok(Signals([signal(a)?, signal(b)?, signal(c)?]))
    }

    async fn recv(&mut self) {
        let [a, b, c] = &mut self.0;
        tokio::select! {
            _ = a.recv() => (),
            _ = b.recv() => (),
            _ = c.recv() => (),
        }
    }
}

impl Launched {
    /// Whether the conversation is saved.
    fn is_saved(&self) -> bool {
        !self.arguments.ephemeral
    }

    fn tell(&self, command: Command) {
        // the send fails only if the agent has failed, which `shown` notices
        let _ = self.agent.send(command);
    }

    /// Stops the turn. Returns the time at which the run ends even if the turn has not ended.
    fn stop(&self) -> Instant {
        self.tell(Command::Stop);
        Instant::now() + PATIENCE
    }

    /// Waits until the session is saved.
    async fn quit(&self) {
        let (done, is_done) = oneshot::channel();
        self.tell(Command::Quit(done));
        let _ = tokio::time::timeout(PATIENCE, is_done).await;
    }
}
