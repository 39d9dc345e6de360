//! A running command: starts it under a supervisor, reads its output, and ends it. Every process of the command ends
//! with it.

mod terminal;

use super::planted::{Taken, Watch, Watching};
use crate::supervisor::Supervised;
use crate::web::proxy::{Gate, Proxy, Refusal};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::Signal;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;
use tokio::time::{Instant, sleep_until};

/// The time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// How long to wait, after the command's end, for processes that it left running.
const LINGER: Duration = Duration::from_millis(500);
const CHUNK: usize = 65_536;

/// What a command reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Streams {
    /// Output without input.
    Output,
    /// Output. The caller has set the command's input.
    Filter,
    /// Input and output as pipes.
    Pipes,
    /// A terminal.
    Terminal,
}

/// A running command. Dropping it kills everything that is left of the command.
pub(super) struct Process {
    supervised: Supervised,
    /// Connects the command to the network, if its sandbox has a proxy.
    proxy: Option<Proxy>,
    /// Takes back files that the command may not create (see `planted`), if it has a sandbox.
    watch: Option<Watching>,
    output: Receiver,
    /// `None` if the command has no input.
    input: Option<OwnedFd>,
    buffer: Vec<u8>,
    stage: Stage,
    /// When the next stage begins; `None` if the command may run forever.
    deadline: Option<Instant>,
    /// Whether more output may come.
    is_open: bool,
    /// Whether nothing of the command is left.
    is_gone: bool,
    end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    /// The command got SIGTERM.
    Ending,
    /// The command got SIGKILL.
    Killed,
    /// The command itself has ended. Processes that it started may be left.
    Exited,
}

/// How a command ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct End {
    /// `None` if it is not known.
    status: Option<ExitStatus>,
    /// Whether the command was ended because it reached its time limit.
    pub(super) is_late: bool,
    /// Whether the user or the model stopped the command.
    is_stopped: bool,
    /// Whether processes that the command started were still running.
    is_left: bool,
    /// Connections that the sandbox refused and that were not reported yet.
    pub(super) refused: Vec<Refusal>,
    /// Files that the sandbox took back (see `planted`) and that were not reported yet.
    pub(super) taken: Vec<Taken>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Code(i32),
    Signal(i32),
    Unknown,
}

impl Process {
    /// Starts a command made by `prepared`. If `time` is given, the command is ended after this time. `gate` decides on
    /// the connections of a command whose sandbox has a proxy. `watch` takes back files that the command may not create
    /// (see `planted`).
    pub(super) async fn start(
        mut command: Command,
        streams: Streams,
        time: Option<Duration>,
        gate: Option<Gate>,
        watch: Option<Watch>,
    ) -> io::Result<Process> {
        let (output, input) = match streams {
            Streams::Terminal => {
                let (ours, theirs) = terminal::open()?;
                command.stdout(Stdio::from(theirs.try_clone()?)).stderr(Stdio::from(theirs));
                let input = ours.try_clone()?;
                (ours, Some(input))
            }
            Streams::Output | Streams::Filter | Streams::Pipes => {
                let (reader, writer) = io::pipe()?;
                command.stdout(Stdio::from(writer));
                let mut input = None;
                if streams == Streams::Pipes {
                    let (theirs, ours) = io::pipe()?;
                    command.stderr(Stdio::from(theirs));
                    input = Some(OwnedFd::from(ours));
                } else if streams == Streams::Output {
                    command.stderr(Stdio::from(File::open("/dev/null")?));
                }
                (OwnedFd::from(reader), input)
            }
        };
        for it in input.iter().chain([&output]) {
            ioctl_fionbio(it, true)?;
        }
        let mut supervised = Supervised::start(command).await?;
        let proxy = match gate {
            Some(gate) => {
                supervised.listener().await.map(|it| Proxy::start(it, gate)).transpose()?
            }
            None => None,
        };
        Ok(Process {
            watch: watch.map(Watch::start),
            // a terminal is read like a pipe
            output: Receiver::from_owned_fd_unchecked(output)?,
            input,
            supervised,
            proxy,
            buffer: vec![0; CHUNK],
            stage: Stage::Running,
            deadline: time.map(|it| Instant::now() + it),
            is_open: true,
            is_gone: false,
            end: End::default(),
        })
    }

    /// Waits for output and returns the number of its bytes, for `bytes`; `None` once the command has ended. Nothing is
    /// lost if this future is dropped.
    pub(super) async fn next(&mut self) -> Option<usize> {
        while self.is_open || !self.is_gone {
            let deadline = self.deadline.unwrap_or_else(Instant::now);
            tokio::select! {
                got = self.output.read(&mut self.buffer), if self.is_open => match got {
                    Ok(count) if count > 0 => return Some(count),
                    // a terminal that nobody has open any more gives an error
                    _ => self.is_open = false,
                },
                ended = self.supervised.ended(), if !self.is_gone => {
                    self.is_gone = ended.is_none();
                    if self.stage != Stage::Exited {
                        self.end.status = ended;
                        self.enter(Stage::Exited, LINGER);
                    }
                }
                () = failed(&mut self.watch), if self.is_running() => {
                    // what the command creates from now on would stay
                    self.end.is_stopped = true;
                    self.supervised.signal(Signal::KILL);
                    self.enter(Stage::Killed, GRACE);
                }
                () = sleep_until(deadline), if self.deadline.is_some() => match self.stage {
                    Stage::Exited | Stage::Killed => {
                        self.end.is_left = true;
                        return None;
                    }
                    Stage::Running => {
                        self.end.is_late = true;
                        self.terminate();
                    }
                    Stage::Ending => {
                        self.supervised.signal(Signal::KILL);
                        self.enter(Stage::Killed, GRACE);
                    }
                },
            }
        }
        None
    }

    /// The first `count` bytes of the output that `next` has announced.
    pub(super) fn bytes(&self, count: usize) -> &[u8] {
        &self.buffer[..count]
    }

    /// Writes to the command's input without waiting. Returns the number of bytes that the input has taken.
    pub(super) fn write(&mut self, bytes: &[u8]) -> usize {
        let Some(input) = &self.input else { return 0 };
        let mut taken = 0;
        while taken < bytes.len() {
            match rustix::io::write(input, &bytes[taken..]) {
                Ok(count) => taken += count,
                Err(Errno::INTR) => (),
                Err(_) => break,
            }
        }
        taken
    }

    /// Asks the command to end, and kills it if it does not.
    pub(super) fn stop(&mut self) {
        if self.stage == Stage::Running {
            self.end.is_stopped = true;
            self.terminate();
        }
    }

    fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Running | Stage::Ending)
    }

    fn terminate(&mut self) {
        self.supervised.signal(Signal::TERM);
        self.enter(Stage::Ending, GRACE);
    }

    fn enter(&mut self, stage: Stage, time: Duration) {
        self.stage = stage;
        self.deadline = Some(Instant::now() + time);
    }

    /// Kills the processes that are left of the command, and waits for their end.
    pub(super) async fn finish(mut self) -> End {
        let refused = self.refused();
        self.supervised.finish().await;
        // nothing of the command is left that could create a file after this look
        let taken = match self.watch.take() {
            Some(it) => it.end().await,
            None => Vec::new(),
        };
        End { refused, taken, ..self.end }
    }

    /// The id of the process from which all processes of the command descend.
    pub(super) fn supervisor(&self) -> Option<u32> {
        self.supervised.id()
    }

    /// The files that were taken back since the last call.
    pub(super) fn taken(&mut self) -> Vec<Taken> {
        self.watch.iter_mut().flat_map(Watching::taken).collect()
    }

    /// The connections that the sandbox has refused since the last call.
    pub(super) fn refused(&mut self) -> Vec<Refusal> {
        self.proxy.as_mut().map(Proxy::refusals).unwrap_or_default()
    }
}

/// Waits until the watch over the command has failed; forever if there is none.
async fn failed(watch: &mut Option<Watching>) {
    match watch {
        Some(watch) => watch.failed().await,
        None => std::future::pending().await,
    }
}

impl End {
    /// How the command ended; `None` if it ended well and left nothing running.
    pub(super) fn fault(&self) -> Option<String> {
        let how = match self.outcome() {
            Outcome::Code(0) if !self.is_left => return None,
            Outcome::Code(code) => format!("exit code {code}"),
            Outcome::Signal(signal) => format!("ended by signal {signal}"),
            Outcome::Unknown => "its exit code is unknown".to_owned(),
        };
        Some(how + self.left())
    }

    /// How the command ended, as a clause that follows its name.
    pub(super) fn clause(&self) -> String {
        let how = match self.outcome() {
            Outcome::Code(code) => format!("ended with exit code {code}"),
            Outcome::Signal(signal) => format!("was ended by signal {signal}"),
            Outcome::Unknown => "ended; its exit code is unknown".to_owned(),
        };
        how + self.left()
    }

    /// The exit code; `None` if the command was ended by a signal.
    pub(super) fn code(&self) -> Option<i32> {
        self.status.and_then(|it| it.code())
    }

    fn outcome(&self) -> Outcome {
        let Some(status) = self.status else { return Outcome::Unknown };
        let signal = status.signal().map(Outcome::Signal);
        status.code().map(Outcome::Code).or(signal).unwrap_or(Outcome::Unknown)
    }

    fn left(&self) -> &'static str {
        if self.is_left { "; the processes it left running were ended" } else { "" }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.outcome() != Outcome::Code(0)
    }

    /// A few words for the user.
    pub(super) fn summary(&self) -> String {
        match self.outcome() {
            _ if self.is_late => "timed out".to_owned(),
            _ if self.is_stopped => "stopped".to_owned(),
            Outcome::Code(code) => format!("exit {code}"),
            Outcome::Signal(_) | Outcome::Unknown => "killed".to_owned(),
        }
    }
}
