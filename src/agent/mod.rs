//! The owner of one session. It takes what comes (the user's acts, a model's words, the results of tools),
//! steps the session, and then, in this order, saves, shows and acts.

pub mod models;
mod cache;
mod chats;
mod checkpoints;
mod checks;
mod commanded;
mod edits;
mod instructions;
mod known;
mod redact;
mod refactor;
mod rewind;
mod sampling;
mod setup;
mod skills;
mod speech;
mod status;
mod stop;
mod title;
mod whole;
mod work;

pub use chats::{Act, Copy, Wish};
pub use rewind::Rewind;
pub use setup::{Command, Setup};

use crate::event::{Delta, End, Event, Mode, TurnId};
use crate::message::{CallId, ToolAnswer};
use crate::nvim::screen::Show;
use crate::nvim::wire::{Level, ToNvim};
use crate::provider::Sampled;
use crate::session::{Effect, Input, Phase};
use crate::store::Store;
use crate::store::checkpoints::Checkpoints;
use crate::text::Text;
use crate::tool::{self};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep_until};

pub struct Agent {
    setup: Setup,
    /// Runs of tools and proposals of the turn; each tells its end as an `Input`.
    work: JoinSet<()>,
    results: mpsc::UnboundedSender<Input>,
    samples: mpsc::UnboundedSender<(TurnId, Sampled)>,
    sampling: Option<AbortHandle>,
    /// Edits on their way into the buffers.
    proposing: Option<AbortHandle>,
    /// The user has stopped the turn meanwhile: results that came since.
    landed: Option<Vec<Input>>,
    resting: Option<AbortHandle>,
    /// Prompts whose mentions are being read, in the order in which they were sent.
    prompts: mpsc::UnboundedSender<work::Prompt>,
    /// How many of them there are, and of how many the user has thought better.
    preparing: u32,
    withdrawn: u32,
    /// What has arrived of the running reply.
    partial: work::Partial,
    /// A prompt that was given back for its mentions: sent again unchanged, it goes.
    bounced: Option<String>,
    known: known::Known,
    knowing: mpsc::UnboundedSender<known::News>,
    unsaved: Vec<PathBuf>,
    status: Option<crate::nvim::wire::Status>,
    retry_ms: Option<u64>,
    sent: Option<sampling::Sent>,
    /// Percent of the last request that the provider had in its cache.
    hit: Option<u32>,
    /// What the last answered request left in its provider's cache.
    cached: Option<cache::Cached>,
    hearing: sampling::Hearing,
    disk_warned: bool,
    /// The command whose start could not be recorded on disk. The user was asked whether to run it without the record.
    unrecorded: Option<CallId>,
    /// What was said last of instructions that have changed.
    outdated: Option<String>,
    checks: checks::Checks,
    /// What is kept of the files that turns have changed; read when it is first needed.
    checkpoints: Option<Checkpoints>,
    /// That nothing can be kept was said.
    unkept: bool,
}

struct Ends {
    results: mpsc::UnboundedReceiver<Input>,
    samples: mpsc::UnboundedReceiver<(TurnId, Sampled)>,
    prepared: mpsc::UnboundedReceiver<work::Prepared>,
    knowing: mpsc::UnboundedReceiver<known::News>,
    outputs: mpsc::UnboundedReceiver<(CallId, String)>,
}

/// Lives until it is told to quit or nobody can tell it anything any more.
pub async fn run(setup: Setup, mut inbox: mpsc::UnboundedReceiver<Command>) {
    let (mut agent, mut ends) = Agent::new(setup);
    agent.begin();
    loop {
        let silence = agent.silence();
        tokio::select! {
            biased;
            command = inbox.recv() => match command {
                Some(Command::Quit(done)) => {
                    agent.quit();
                    let _ = done.send(());
                    return;
                }
                Some(command) => agent.command(command),
                None => return agent.quit(),
            },
            // what a call teaches comes before its answer
            Some(news) = ends.knowing.recv() => agent.news(news),
            Some(input) = ends.results.recv() => agent.result(input),
            Some((turn, sampled)) = ends.samples.recv() => {
                agent.sampled(turn, sampled);
                if ends.samples.is_empty() {
                    agent.save_partial();
                }
            }
            Some((call, text)) = ends.outputs.recv() => {
                agent.show(Show::Delta(Delta::Output { call, text }));
            }
            Some(prepared) = ends.prepared.recv() => agent.prepared(prepared),
            Some(_) = agent.work.join_next(), if !agent.work.is_empty() => agent.joined(),
            () = sleep_until(silence.unwrap_or_else(Instant::now)), if silence.is_some() => {
                agent.fell_silent();
            }
        }
    }
}

impl Agent {
    fn new(mut setup: Setup) -> (Agent, Ends) {
        let (results, results_end) = mpsc::unbounded_channel();
        let (samples, samples_end) = mpsc::unbounded_channel();
        let (prompts, prompts_end) = mpsc::unbounded_channel();
        let (prepared, prepared_end) = mpsc::unbounded_channel();
        let (knowing, knowing_end) = mpsc::unbounded_channel();
        let (_, no_outputs) = mpsc::unbounded_channel();
        let outputs = std::mem::replace(&mut setup.outputs, no_outputs);
        tokio::spawn(work::prepare(setup.desk.clone(), prompts_end, prepared));
        let agent = Agent {
            partial: work::Partial::of(
                setup.session.model.clone(),
                std::mem::take(&mut setup.partial),
            ),
            setup,
            work: JoinSet::new(),
            results,
            samples,
            sampling: None,
            proposing: None,
            landed: None,
            resting: None,
            prompts,
            preparing: 0,
            withdrawn: 0,
            bounced: None,
            known: known::Known::default(),
            knowing,
            unsaved: Vec::new(),
            status: None,
            retry_ms: None,
            sent: None,
            hit: None,
            cached: None,
            hearing: sampling::Hearing::new(),
            disk_warned: false,
            unrecorded: None,
            outdated: None,
            checks: checks::Checks::default(),
            checkpoints: None,
            unkept: false,
        };
        let ends = Ends {
            results: results_end,
            samples: samples_end,
            prepared: prepared_end,
            knowing: knowing_end,
            outputs,
        };
        (agent, ends)
    }

    /// Tells the editor of the session, and has its transcript painted from the beginning.
    fn present(&mut self, show: Show) {
        let id = self.setup.id.clone();
        self.setup.editor.tell(ToNvim::Session {
            session: id,
            instead: self.setup.instead.take(),
            root: self.setup.desk.root.clone(),
            ephemeral: self.setup.store.is_none() && self.setup.reads.is_none(),
            reading: self.setup.reads.is_some(),
            reviews: self.setup.recorded.iter().map(|it| it.name.clone()).collect(),
            show: std::mem::take(&mut self.setup.shown),
            draft: self.setup.draft.text.clone(),
            draft_context: self.setup.draft.context.clone(),
        });
        self.show(show);
        self.status = None;
        self.show_status();
        let data = BTreeMap::from([("session", self.setup.id.0.clone())]);
        self.show(Show::Tell(ToNvim::Event { name: "CalibanSession", data }));
    }

    fn command(&mut self, command: Command) {
        let Some(command) = self.permitted(command) else { return };
        if command.acts() {
            self.release();
        }
        match command {
            Command::Send { text, context, steer } => self.sent(text, context, steer),
            Command::SendHeld(id) => self.take(Input::SendHeld { id }),
            Command::Unqueue(id) => self.take(Input::Unqueue { id }),
            Command::Draft(draft) => self.keep_draft(draft),
            Command::Stop => self.stop(),
            Command::Rule { call, ruling } => self.take(Input::Rule { call, ruling }),
            Command::Toggle { block, line } => self.show(Show::Toggle { block, line }),
            Command::Retry => {
                if let Some(turn) = self.setup.session.turn() {
                    self.take(Input::Rested { turn });
                }
            }
            Command::ChooseModel(model) => self.choose_model(&model),
            Command::ChooseMode(mode) => {
                let mode = mode.unwrap_or_else(|| self.setup.session.mode.next());
                self.take(Input::ChooseMode { mode });
            }
            Command::Connect(provider, file) => self.connect(&provider, &file),
            Command::ShowRequest => self.show_request(),
            Command::Reviewed { answers, path, saved, text } => {
                self.reviewed(answers, path, saved, text);
            }
            Command::Checked(checked) => self.checked(&checked),
            Command::Present => self.present(Show::Repaint),
            Command::Act(act) => self.do_with_session(act),
            Command::Rewind(wanted) => self.rewind(wanted),
            Command::Quit(_) => (),
        }
    }

    /// The user has decided on the changes of a file. Of one that is not read without a question the model hears only
    /// that, unless it knows the file: a review that was kept on the disk may be anybody's.
    fn reviewed(
        &mut self,
        mut answers: Vec<ToolAnswer>,
        path: PathBuf,
        saved: bool,
        text: Option<Text>,
    ) {
        self.note_saved(&path, saved);
        if text.is_some() || !answers.is_empty() {
            self.keep_settled(&path, text.as_ref());
        }
        if self.known.may_be_told(&self.setup.desk, &path) {
            self.settled(&path, text);
        } else {
            let shown = self.setup.desk.shown(&path);
            for it in &mut answers {
                it.text = format!(
                    "The user decided on your changes of {shown} ({}). What stands there now is not told: `read` asks \
                     the user.",
                    it.summary
                );
            }
        }
        self.judged(Input::Reviewed { path, answers });
    }

    /// Whether the agreed text of a file is on disk.
    fn note_saved(&mut self, path: &Path, saved: bool) {
        self.unsaved.retain(|it| *it != path);
        if !saved {
            self.unsaved.push(path.to_owned());
        }
        let root = &self.setup.desk.root;
        let paths = self.unsaved.iter().map(|it| tool::path::show(root, it)).collect();
        self.take(Input::Unsaved { paths });
    }

    /// One input to its end: save, show, act.
    fn take(&mut self, mut input: Input) {
        redact::without_keys(&mut input, &self.setup.desk.secrets.known());
        if let (Input::Answered { answer, .. }, Some(store)) = (&mut input, &mut self.setup.store) {
            store.keep_output(answer);
        }
        let step = self.setup.session.step(input);
        let acts = step.effects.iter().any(|it| match it {
            Effect::Run { call, .. } => work::acts(call),
            Effect::Propose { .. } => true,
            _ => false,
        });
        let saved = self.save(&step.events, acts);
        let first = |it: &Event| matches!(it, Event::Ended { turn: TurnId(1), why: End::Done });
        let is_begun = step.events.iter().any(first);
        for event in step.events {
            if let Event::Retried { wait_ms, .. } = event {
                self.retry_ms = Some(wait_ms);
            }
            let told = self.announcement(&event);
            self.show(Show::Event(event));
            if let Some(message) = told {
                self.show(Show::Tell(message));
            }
        }
        self.act_on(step.effects, saved.as_ref().err());
        if is_begun {
            self.ask_for_title();
        }
        self.show_status();
    }

    /// A command whose start could not be recorded on disk waits for the user's answer. All else goes on in memory.
    fn act_on(&mut self, effects: Vec<Effect>, unsaved: Option<&io::Error>) {
        let mut waiting = None;
        for effect in effects {
            match (effect, unsaved) {
                (Effect::Run { turn, call }, Some(why))
                    if work::acts(&call) && self.unrecorded.as_ref() != Some(&call.id) =>
                {
                    self.unrecorded = Some(call.id.clone());
                    waiting = Some(Input::Unrecorded { turn, call: call.id, why: why.to_string() });
                }
                (effect, _) => self.act(effect),
            }
        }
        if let Some(input) = waiting {
            self.take(input);
        }
    }

    /// While a turn runs the events go to the journal; at rest the whole session is written. An error means that
    /// not all of them are on disk; the user was told of it.
    fn save(&mut self, events: &[Event], sync: bool) -> io::Result<()> {
        let Some(store) = &mut self.setup.store else { return Ok(()) };
        if events.is_empty() {
            return Ok(());
        }
        let saved = store.record(&self.setup.session, events, sync);
        match &saved {
            Ok(()) => self.disk_warned &= self.setup.session.phase != Phase::Idle,
            Err(error) => self.warn_of_disk(error),
        }
        self.tell_of_edit();
        saved
    }

    /// What the user has seen of a reply outlives the program too.
    fn save_partial(&mut self) {
        if let Some(store) = &mut self.setup.store
            && let Err(error) = self.partial.save(store)
        {
            self.warn_of_disk(&error);
        }
    }

    fn save_whole(&mut self) {
        if let Some(store) = &mut self.setup.store
            && let Err(error) = store.save(&self.setup.session)
        {
            self.warn_of_disk(&error);
        }
        self.tell_of_edit();
    }

    /// Somebody has written the session's file while it was open here.
    fn tell_of_edit(&mut self) {
        if let Some(path) = self.setup.store.as_mut().and_then(Store::edited) {
            let text = format!(
                "The file of this conversation was changed while it is open here: that text is kept as {}.",
                path.display()
            );
            self.notice(Level::Warn, text);
        }
    }

    /// The conversation goes on in memory; the user is told once, and as long as it lasts the winbar says so.
    fn warn_of_disk(&mut self, error: &io::Error) {
        if !std::mem::replace(&mut self.disk_warned, true) {
            let path = self.setup.store.as_ref().map(Store::path).unwrap_or_default();
            let text = format!(
                "The conversation cannot be saved to {} ({error}). It goes on in memory only.",
                path.display()
            );
            self.notice(Level::Error, text);
            self.show_status();
        }
    }

    fn show(&self, show: Show) {
        // The screen lives as long as the agent; a failed send means that the editor is gone.
        let _ = self.setup.screen.send(show);
    }

    fn act(&mut self, effect: Effect) {
        match effect {
            Effect::Sample { turn } => self.sample(turn),
            Effect::Run { turn, call } => {
                let (acts, changes) = (work::acts(&call), work::changes(&call));
                let keeper = if acts { self.keeper() } else { None };
                let keeper = keeper.map(|it| (it, self.touched_files()));
                let session = &self.setup.session;
                let job = work::Job {
                    desk: self.setup.desk.clone(),
                    results: self.results.clone(),
                    knowing: self.knowing.clone(),
                    watched: if changes {
                        self.known.watched(session, &self.setup.desk)
                    } else {
                        Vec::new()
                    },
                    unsaved: self.unsaved.clone(),
                    keeper,
                };
                self.work.spawn(work::run(job, turn, call));
            }
            Effect::Propose { turn, calls } => {
                let keeper = self.keeper();
                let job = edits::Job {
                    desk: self.setup.desk.clone(),
                    results: self.results.clone(),
                    knowing: self.knowing.clone(),
                    known: self.setup.session.known.clone(),
                    at_once: self.setup.session.mode == Mode::AutoEdit,
                    kept: edits::kept(&self.setup.session, &calls),
                    tally: self.tally(),
                    keeper,
                };
                self.proposing = Some(self.work.spawn(edits::propose(job, turn, calls)));
            }
            Effect::Rest { turn, time } => {
                let results = self.results.clone();
                self.resting = Some(self.work.spawn(async move {
                    tokio::time::sleep(time).await;
                    let _ = results.send(Input::Rested { turn });
                }));
            }
            Effect::Abort { turn } => self.abort(turn),
        }
    }
}
