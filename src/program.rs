//! The program's loop. It passes the editor's messages to the session that they name, opens sessions on request, and
//! saves everything before the program ends.

mod archive;
mod chats;
mod children;
mod completion;
mod connect;
mod unavailable;
mod lanes;
mod incoming;
mod message;
mod opening;
mod commands;
mod sessions;
mod state;
mod weighing;
#[cfg(test)]
mod tests;

use crate::agent::{Command, Decided, PlaceWanted};
use crate::complete::Files;
use crate::conversation::report::{Level, Wish};
use crate::event::SessionId;
use crate::log;
use crate::nvim::link::{self, Editor};
use crate::nvim::lsp;
use crate::nvim::reviews::{self, Settled, Verdict};
use crate::nvim::session_link::Handle;
use crate::nvim::wire::{FromNvim, Hello, Resume, Reviewed, ToNvim};
use crate::provider::tour;
use crate::site::Site;
use crate::site::places::{cache_dir, close_to_others};
use crate::store;
use crate::text::cause;
use crate::text::unseen::exact;
use crate::tool;
use archive::Archive;
use futures::future::join_all;
use lanes::{Lane, Lanes};
use message::{Done, Incoming, Outcome};
use sessions::Sessions;
use state::Program;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tracing_appender::non_blocking::WorkerGuard;

/// How long the loop waits for the end of its input after a signal has told the program to end.
const FAREWELL: Duration = Duration::from_millis(1500);

/// How long saving all sessions may take when the editor ends. The editor waits a second longer.
const SAVING: Duration = Duration::from_secs(9);

/// The exit code if the editor sends bytes that are not a message. `lua/caliban/program/process.lua` has the same
/// number.
const UNREADABLE: u8 = 65;

/// Runs until the editor ends.
pub async fn run() -> ExitCode {
    let Ok((editor, (mut from_nvim, link))) = link::connect() else { return ExitCode::FAILURE };
    let Some(FromNvim::Hello(hello)) = from_nvim.recv().await else { return ExitCode::FAILURE };
    close_to_others();
    let log = begin_log(&editor, hello.config.debug);
    tracing::info!(nvim = hello.nvim, plugin = hello.version, "hello");
    let (mut program, mut ends) = Program::new(editor, *hello);
    program.look_for_left_worktrees();
    // At `:qa` the signal arrives together with the end of the input. The editor's last messages are read before the
    // program ends.
    let Ok(mut terminated) = signal(SignalKind::terminate()) else { return ExitCode::FAILURE };
    let mut is_terminated = false;
    let end = loop {
        let incoming = tokio::select! {
            biased;
            message = from_nvim.recv() => match message {
                Some(message) => Incoming::from_editor(message),
                None => break link.await.unwrap_or(link::End::Unreadable),
            },
            Some((session, wish)) = ends.wishes.recv() => Incoming::Wish(session, wish),
            Some((session, wanted)) = ends.places.recv() => Incoming::Place(session, wanted),
            Some(done) = ends.done.recv() => Incoming::TaskDone(done),
            _ = terminated.recv(), if !is_terminated => {
                is_terminated = true;
                continue;
            }
            () = tokio::time::sleep(FAREWELL), if is_terminated => break link::End::Closed,
        };
        program.step(incoming);
    };
    program.quit(ends).await;
    tracing::info!("the program ends");
    drop(log);
    match end {
        link::End::Closed => ExitCode::SUCCESS,
        link::End::Unreadable => ExitCode::from(UNREADABLE),
    }
}

/// Begins the debug log if the settings or the variable `CALIBAN_DEBUG` ask for it. When the returned guard is dropped,
/// the rest of the log is written.
fn begin_log(editor: &Editor, configured: bool) -> Option<WorkerGuard> {
    let asked = std::env::var("CALIBAN_DEBUG").is_ok_and(|it| !matches!(it.as_str(), "" | "0"));
    if !configured && !asked {
        return None;
    }
    let begun = log::begin(&cache_dir()).inspect_err(|error| {
        let text = format!("The debug log cannot be written: {}.", cause(error));
        editor.tell(ToNvim::Notice { level: Level::Warn, text });
    });
    begun.ok()
}

struct Ends {
    wishes: mpsc::UnboundedReceiver<(Handle, Wish)>,
    places: mpsc::UnboundedReceiver<(Handle, PlaceWanted)>,
    done: mpsc::UnboundedReceiver<Done>,
    /// The task that stores which session was used last. It ends when all names are on disk.
    noted: JoinHandle<()>,
}

impl Program {
    fn new(editor: Editor, hello: Hello) -> (Program, Ends) {
        let mut site = Site::new(hello.config, &hello.cwd);
        site.models.answer_by("tour", Arc::new(tour::Tour { leader: hello.leader }));
        let (root, reach) = (site.places.root.clone(), site.places.reach.clone());
        let archive = Archive { project: site.project.clone(), reach: reach.clone() };
        let (reviews, review_orders) = mpsc::unbounded_channel();
        let (wishes, wishes_end) = mpsc::unbounded_channel();
        let (places, places_end) = mpsc::unbounded_channel();
        let (done, done_end) = mpsc::unbounded_channel();
        let (notes, notes_end) = mpsc::unbounded_channel();
        let noted = tokio::spawn(archive::note(archive.clone(), notes_end));
        tokio::spawn(reviews::run(first_id(), root.clone(), review_orders));
        let (questions, question_orders) = mpsc::unbounded_channel();
        tokio::spawn(lsp::run(first_id(), question_orders));
        let version = env!("CARGO_PKG_VERSION").to_owned();
        editor.tell(ToNvim::Welcome { version });
        let files = Files::new(root, dirs::home_dir(), reach);
        let program = Program {
            site,
            completion: completion::begin(editor.clone(), files),
            weighing: None,
            sessions: Sessions::new(editor.clone()),
            editor,
            archive,
            model: None,
            live: hello.reviews,
            left: Vec::new(),
            current: None,
            reviews,
            questions,
            wishes,
            places,
            lanes: Lanes::default(),
            done,
            notes,
        };
        (program, Ends { wishes: wishes_end, places: places_end, done: done_end, noted })
    }

    fn handle(&mut self, message: FromNvim) {
        match message {
            FromNvim::Open { session } => self.open(session),
            FromNvim::Look { session } => self.look(session),
            FromNvim::New { name, ephemeral, agent } => {
                self.new_session(name, ephemeral, false, agent);
            }
            FromNvim::ListModels { session } => match self.sessions.find(&session) {
                Some(it) => self.offer_models(it),
                None => self.absent(&session),
            },
            FromNvim::AskForKey { provider } => self.ask_for_key(provider),
            FromNvim::GiveKey { provider, key } => self.connect(provider, key),
            FromNvim::Arrived(arrived) => drop(self.reviews.send(reviews::Order::Arrived(arrived))),
            FromNvim::Found(found) => drop(self.questions.send(lsp::Order::Found(found))),
            FromNvim::Prepare => drop(self.completion.send(completion::Order::Prepare)),
            FromNvim::Complete(question) => self.complete(question),
            FromNvim::Weigh(question) => self.weigh(question),
            FromNvim::Reviewed(reviewed) => self.reviewed(reviewed),
            FromNvim::Unread { kind, why } => self.unread(&kind, &why),
            FromNvim::ListSessions(asked) => self.list_sessions(asked.text),
            FromNvim::PeekSession(asked) => self.peek_session(asked),
            FromNvim::RenameSession(asked) => match self.sessions.find(&asked.session) {
                Some(it) => self.rename(it, &asked.name),
                None => self.absent(&asked.session),
            },
            FromNvim::DeleteSession(asked) => self.delete(asked.session),
            FromNvim::Claim(claim) => self.claim(claim),
            FromNvim::Yield(asked) => self.give_up(asked),
            // `Hello` arrives only once, before all other messages. The other kinds are commands to one session, which
            // were handled above.
            _ => (),
        }
    }

    /// Passes a command to the session that has this name now. If there is none, passes it to the session that had the
    /// name last.
    fn session_command(&mut self, session: SessionId, command: Command) {
        match (self.sessions.find(&session).filter(|it| self.sessions.runs(*it)), command) {
            (Some(session), command) => {
                if matches!(command, Command::Send { .. }) {
                    self.note_last(session);
                }
                self.tell(session, command);
            }
            (None, Command::Send { text, context, .. }) => {
                let why = format!(
                    "The conversation `{session}` is not open. :Caliban new starts another."
                );
                self.editor.tell(ToNvim::Bounce { session, text, context, why });
            }
            // These commands are ignored: the draft was moved to the session that was opened in its place, and the
            // check of an edit's diagnostics matters only to a running session.
            (
                None,
                Command::Draft(_) | Command::Checked(_) | Command::Report(_) | Command::LookAgain,
            ) => {}
            (None, _) => self.absent(&session),
        }
    }

    /// Asks the task that owns the proposals for the verdicts of a settled review. Later messages to the review's
    /// sessions wait until the verdicts have been delivered.
    fn reviewed(&mut self, reviewed: Reviewed) {
        let lanes = self.lanes_of_review(&reviewed.session);
        let (done, verdicts) = oneshot::channel();
        let (name, session) = (reviewed.session.clone(), lanes[0]);
        let _ = self.reviews.send(reviews::Order::Settled(Settled { reviewed, session, done }));
        let lanes = lanes.into_iter().flatten().map(Lane::Session).collect();
        self.begin(lanes, |_| async move {
            vec![Outcome::Judged(name, verdicts.await.unwrap_or_default())]
        });
    }

    fn tell(&self, session: Handle, command: Command) {
        let is_told = self.sessions.agent(session).is_some_and(|it| it.send(command).is_ok());
        if !is_told && let Some(name) = self.sessions.name(session) {
            self.absent(&name);
        }
    }

    /// Tells the user that a session cannot take a message.
    fn absent(&self, session: &SessionId) {
        let open = self.sessions.find(session).and_then(|it| self.sessions.agent(it));
        let text = match open {
            Some(_) => chats::broke_off(session),
            None => format!("The conversation `{session}` is not open."),
        };
        self.notice(Level::Error, text);
    }

    /// Tells the user about a message of the editor that could not be read. What it said is lost, such as a verdict that
    /// a turn waits for.
    fn unread(&self, kind: &str, why: &str) {
        tracing::error!("a message of the editor ({kind}) could not be read: {why}");
        let text = format!(
            "Caliban's program could not read the message `{kind}` of its plugin ({}). If a turn waits for it, \
             `:Caliban stop` ends the turn.",
            exact(why)
        );
        self.notice(Level::Error, text);
    }

    fn notice(&self, level: Level, text: String) {
        self.editor.tell(ToNvim::Notice { level, text });
    }

    fn open(&mut self, session: Option<SessionId>) {
        let current = || self.current.and_then(|it| self.sessions.name(it));
        let Some(id) = session.or_else(current) else {
            if self.site.config.resume == Resume::Fresh {
                return self.new_session(None, false, false, None);
            }
            return self.begin(vec![Lane::Unnamed], |archive| async move {
                vec![Outcome::Last(archive.on_thread(|it| it.project.last()).await)]
            });
        };
        if !store::is_name(&id.0) {
            return self.bad_name(&id.0);
        }
        let open = self.sessions.named(&id).filter(|it| !self.sessions.read_only(*it));
        match open.and_then(|it| Some((it, self.sessions.agent(it)?))) {
            Some((session, agent)) => {
                drop(agent.send(Command::Present { show: false }));
                if !self.sessions.opens_child(session) {
                    self.note_last(session);
                }
            }
            None => self.load(id),
        }
    }

    /// Notes the session as the one that opens when Neovim starts the next time.
    fn note_last(&mut self, session: Handle) {
        if self.current.replace(session) != Some(session)
            && let Some(name) = self.sessions.name(session)
        {
            // The task that receives this runs until the program ends.
            let _ = self.notes.send((name, true));
        }
    }

    fn wish(&mut self, session: Handle, wish: Wish) {
        match wish {
            Wish::Sessions { text } => self.list_sessions(text),
            Wish::Rename { text } => self.rename(session, &text),
            Wish::Copy(copy) => self.keep_copy(session, copy),
            Wish::Branch(branch) => self.keep_branch(session, branch),
            Wish::Models => self.offer_models(session),
            Wish::Connect { provider } => self.ask_for_key(provider),
            Wish::Learn { model, lesson } => self.learn(&model, &lesson),
            Wish::New { name, agent } => self.new_session(name, false, true, agent),
        }
    }

    /// The session that gets a verdict: the named session if it is open here, otherwise the current one. The named
    /// session may not be open if the program was restarted since the proposal.
    fn judged_for(&self, session: &SessionId) -> Option<Handle> {
        let own = self.sessions.find(session);
        own.filter(|it| self.sessions.runs(*it)).or(self.current).or(own)
    }

    /// Delivers a verdict to the session that made the proposals. `session` is the name that the editor sent with the
    /// review.
    fn verdict(&self, session: &SessionId, verdict: Verdict) {
        let Verdict { session: of, answers, claims, path, was, saved, text } = verdict;
        let runs = |it: &Handle| self.sessions.runs(*it);
        let own = of.filter(runs).or_else(|| self.sessions.find(session).filter(runs));
        if own.is_none() && answers.iter().any(|it| !it.id.0.is_empty()) {
            let shown = tool::path::show(&self.site.places.root, &path);
            let text = format!(
                "The conversation `{session}` is not open: its model does not hear of your decision on {shown}."
            );
            return self.notice(Level::Info, text);
        }
        let Some(of) = own.or_else(|| self.judged_for(session)) else { return };
        if let Some(path) = was {
            let (answers, claims, saved, text) = (Vec::new(), Vec::new(), true, None);
            self.tell(of, Command::Reviewed(Decided { answers, claims, path, saved, text }));
        }
        self.tell(of, Command::Reviewed(Decided { answers, claims, path, saved, text }));
    }

    /// Saves all sessions and ends. Messages that wait for a task are delivered first.
    async fn quit(mut self, mut ends: Ends) {
        let end = Instant::now() + SAVING;
        let mut saved = self.end_all(|lanes, session| !lanes.is_busy(session));
        let finish = async {
            while !self.lanes.is_idle()
                && let Some(done) = ends.done.recv().await
            {
                self.step(Incoming::TaskDone(done));
            }
        };
        let _ = timeout_at(end, finish).await;
        saved.extend(self.end_all(|_, _| true));
        drop(self);
        let _ = timeout_at(end, join_all(saved)).await;
        let _ = timeout_at(end, tool::last_looks()).await;
        let _ = timeout_at(end, ends.noted).await;
    }

    /// Asks the agents of these sessions to save and end. Each receiver completes when its session is saved.
    fn end_all(
        &self,
        which: impl Fn(&Lanes<Incoming>, Handle) -> bool,
    ) -> Vec<oneshot::Receiver<()>> {
        let agents = self.sessions.agents().filter(|it| which(&self.lanes, it.0));
        let ends = agents.map(|(_, agent)| {
            let (done, is_done) = oneshot::channel();
            let _ = agent.send(Command::Quit(done));
            is_done
        });
        ends.collect()
    }
}

/// The first id of proposals and questions. It differs each time the program starts, so that ids from before are not
/// used again.
fn first_id() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(now.as_millis() % 2_000_000).unwrap_or(0) * 1000
}
