//! The agent: the owner of one session. It makes inputs of the session from the user's commands, the model's stream and
//! the results of tools. Events are saved, then shown; then effects are carried out. Each field owns one thing; this
//! file connects the fields.

pub mod models;
mod agents;
mod agreed;
mod aside;
mod cache;
mod chats;
mod checkpoints;
mod checks;
mod choice;
mod children;
mod command;
mod command_changes;
mod compaction;
mod consent;
mod edits;
mod files;
mod fitting;
mod guidance;
mod jobs;
mod known;
mod ledger;
mod lent;
mod named;
mod opening;
mod overflow;
mod partial;
mod permissions;
mod permits;
mod plan;
mod prompts;
mod questions;
mod reading;
mod recipients;
mod refactor;
mod rewind;
mod sampler;
mod servers;
mod setup;
mod slash;
mod standing;
mod state;
mod status;
mod title;
mod todo;
mod trial;
mod trust;
mod turn;
mod unattended;
mod undo;
mod whole;
mod work;
mod workers;

pub use checks::{Check, Looked};
pub use command::{
    Act, Answer, ChildCommand, Command, Decided, PlanAct, PlanWanted, Rewind, TodoAct, Undo,
    Wanted, Work as SubagentWork, WorkerWanted,
};
pub use permits::Permissions;
pub use setup::{Inherited, Instructions, PlaceWanted, Setup};

use crate::context::mention;
use crate::conversation::report::{Level, Show};
use crate::conversation::{Channels, Conversation, Work};
use crate::event::{Delta, TurnId};
use crate::message::{CallId, Reply, Stop};
use crate::provider::Sampled;
use crate::session::{Effect, Input, Phase, Session};
use crate::store::measures;
use crate::tool::Desk;
use crate::tool::jobs::{Jobs, Notice};
use children::{Children, News, Whom};
use files::{Changes, Files};
use guidance::Guidance;
use named::Named;
use opening::Opening;
use partial::Partial;
use prompts::{Prepared, Prompt, Prompts};
use sampler::Sampler;
use state::Agent;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use turn::{Results, Turn};

struct Ends {
    results: Results,
    changes: Changes,
    prepared: mpsc::UnboundedReceiver<Prepared>,
    outputs: mpsc::UnboundedReceiver<(CallId, String)>,
    jobs: mpsc::UnboundedReceiver<Notice>,
    children: mpsc::UnboundedReceiver<(Whom, News)>,
}

/// Runs until the quit command comes, or until every sender of commands is dropped.
pub async fn run(setup: Setup, mut inbox: mpsc::UnboundedReceiver<Command>) {
    let (mut agent, mut ends) = Agent::new(setup);
    agent.begin();
    let mut is_changed = true;
    loop {
        if is_changed {
            agent.do_work();
        } else {
            debug_assert!(status::is_current(&mut agent), "{:?}", agent.conversation.session.phase);
        }
        is_changed = true;
        let silence = agent.turn.silence();
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
            // take in the texts that a call has read before the call's answer is taken in
            Some(observation) = ends.changes.observations.recv() => {
                agent.files.tracker(&mut agent.conversation, &agent.desk).observe(observation);
            }
            Some(message) = ends.changes.keeper_messages.recv() => {
                agent.files.record.take(&mut agent.conversation, message);
            }
            // a call's answer may tell the end of a job
            Some(notice) = ends.jobs.recv() => agent.noted(notice),
            // a subagent's last news come before its answer
            Some((whom, news)) = ends.children.recv() => children::take(&mut agent, &whom, news),
            Some(input) = ends.results.inputs.recv() => agent.result(input),
            Some((turn, sampled)) = ends.results.samples.recv() => {
                is_changed = !status::outlasts(&agent.conversation, &agent.turn, &sampled);
                agent.sampled(turn, sampled);
                if ends.results.samples.is_empty() {
                    agent.turn.partial.save(&mut agent.conversation);
                    is_changed |= agent.conversation.is_unsaved();
                }
            }
            Some((call, text)) = ends.outputs.recv() => {
                is_changed = false;
                agent.conversation.show(Show::Delta(Delta::Output { call, text }));
            }
            Some(prepared) = ends.prepared.recv() => agent.prepared(prepared),
            () = agent.turn.ended(), if agent.turn.is_working() => {
                agent.turn.land(&mut agent.conversation);
            }
            () = sleep_until(silence.unwrap_or_else(Instant::now)), if silence.is_some() => {
                agent.turn.fell_silent();
            }
        }
    }
}

impl Agent {
    fn new(setup: Setup) -> (Agent, Ends) {
        let Setup { id, desk, screen, store, session, read_only, wishes, draft, limits, .. } =
            setup;
        let learned = setup.measures.as_deref().map(measures::read).unwrap_or_default();
        let session = Session { learned, limits, ..session };
        let partial = Partial::of(session.model.clone(), setup.partial);
        let (secrets, glance) = (desk.secrets.clone(), setup.glance);
        let channels = Channels { screen, wishes, glance, secrets };
        let (prompts, prepared) = Prompts::new(&desk, draft);
        let (files, changes) = Files::new(setup.inherited.keeper, setup.inherited.is_apart);
        let (children, news) = Children::new(setup.places);
        let (turn, results) = Turn::new(partial, children);
        let (jobs, notices) = Jobs::begin(session.last_job);
        let named = Named::new(desk.tools.clone(), limits);
        let desk = Desk { jobs, confinement: desk.confinement.of_conversation(), ..desk };
        let agent = Agent {
            conversation: Conversation::new(id, session, store, read_only, channels),
            desk,
            sampler: Sampler::new(setup.models, setup.titles, setup.tally, setup.measures),
            guidance: Guidance::new(setup.choice, setup.instructions, setup.permissions, named),
            files,
            turn,
            prompts,
            opening: Opening {
                grants: setup.inherited.grants,
                is_hidden: setup.inherited.is_subagent,
                instead: setup.instead,
                replayed: setup.replayed,
                mode: setup.mode,
                agent: setup.agent,
                live: setup.live,
                recorded: setup.recorded,
                shown: setup.shown,
                intro: setup.intro,
                warnings: setup.warnings,
            },
        };
        let outputs = setup.outputs;
        let ends = Ends { results, changes, prepared, outputs, jobs: notices, children: news };
        (agent, ends)
    }

    /// Carries out the next work of the conversation, and shows the conversation's status.
    fn do_work(&mut self) {
        lent::take_back_model(self);
        agents::follow(self);
        self.turn.settle(&mut self.conversation);
        let mut next = self.conversation.next_work();
        while let Some(work) = next {
            match work {
                Work::Effect(effect) => self.carry_out(effect),
                Work::Title => title::ask(self),
            }
            self.sampler.fitting.catch_up(&self.sampler.models, &mut self.conversation, &self.desk);
            next = self.conversation.next_work();
        }
        self.turn.children.follow(&mut self.conversation);
        unattended::end(self);
        plan::catch_up(self, false);
        let Agent { conversation, desk, sampler, turn, .. } = self;
        let status = status::status(conversation, desk, sampler, turn);
        conversation.show_status(status);
    }

    fn carry_out(&mut self, effect: Effect) {
        let Some(effect) = recipients::admit(self, effect) else { return };
        let (conversation, desk) = (&mut self.conversation, &self.desk);
        match effect {
            Effect::Sample { turn } => {
                if self.sampler.fitting.prepare(&self.sampler.models, conversation, desk) {
                    return;
                }
                self.turn.begin_reply(&conversation.session.model);
                if self.files.look_again(conversation, desk, &mut self.turn, turn) {
                    return;
                }
                self.sampler.sample(conversation, desk, &mut self.turn, turn);
            }
            Effect::Compact { turn, model, focus } => {
                let asked = (turn, model, focus);
                self.sampler.compact(conversation, desk, &mut self.turn, asked);
            }
            Effect::Admit { turn, calls } => conversation.take(Input::Admitted { turn, calls }),
            Effect::Release { turn, calls } => conversation.take(Input::Released { turn, calls }),
            Effect::Employ { .. } | Effect::Dismiss { .. } => workers::lead(self, effect),
            Effect::Run { turn, call, is_closed, opened } => {
                let call = self.turn.calls.of(desk, &call);
                if let Some(task) = call.task() {
                    return children::begin(self, turn, &call, task.clone());
                }
                let mut job = self.files.run(conversation, desk, &self.turn, &call);
                job.desk.confinement = job.desk.confinement.connecting(is_closed, opened);
                job.desk.session.clone_from(&conversation.id.0);
                self.turn.run(job, turn, call);
            }
            Effect::Propose { turn, calls, at_once } => {
                let tally = self.sampler.tally(&conversation.session.model);
                let job = self.files.propose(conversation, desk, &self.turn, at_once, tally);
                self.turn.propose(job, turn, &calls);
            }
            Effect::Rest { turn, time } => self.turn.rest(turn, time),
            Effect::Abort { turn } => {
                self.turn.abort();
                self.desk.workspace.halt(turn);
                self.turn.children.forget(&mut self.conversation);
            }
        }
    }

    /// Ends a turn that was interrupted, and shows the session.
    fn begin(&mut self) {
        let problems = self.guidance.permissions.reload(&mut self.conversation, &mut self.desk);
        self.opening.warnings.extend(problems);
        self.guidance.trust(&mut self.desk);
        let conversation = &mut self.conversation;
        let view = if let Some(why) = conversation.read_only.clone() {
            self.opening.read(conversation, why)
        } else {
            opening::distrust(conversation, &self.desk);
            conversation.session.granted.append(&mut self.opening.grants);
            let is_fresh = opening::is_fresh(conversation);
            let told = agents::begin(self, is_fresh);
            self.opening.warnings.extend(told);
            let conversation = &mut self.conversation;
            let partial = self.turn.partial.take();
            let format = self.sampler.format(&conversation.session.model);
            let files = (&self.desk, &mut self.files);
            self.opening.begin(conversation, files, &mut self.guidance, partial, format)
        };
        plan::catch_up(self, true);
        if self.opening.is_hidden {
            return self.conversation.show(Show::View(Box::new(view)));
        }
        self.present((Show::View(Box::new(view)), false));
    }

    /// Reports the session to the editor, and has the whole transcript painted.
    fn present(&mut self, show: (Show, bool)) {
        let draft = self.prompts.draft.clone();
        self.opening.present(&mut self.conversation, &self.desk, draft, show);
        self.files.todo.show(&self.conversation, &self.desk, true);
        self.do_work();
        self.conversation.announce();
    }

    fn command(&mut self, command: Command) {
        let Some(command) = command.permitted(&self.conversation) else { return };
        let conversation = &mut self.conversation;
        if command.acts() {
            self.files.checks.release(conversation);
        }
        match command {
            Command::Send { text, context, steer } => slash::sent(self, text, context, steer),
            Command::Run(text) => unattended::run(self, text),
            Command::SendHeld(id) => {
                self.guidance.consult(conversation, &self.sampler.models, &mut self.desk);
                conversation.take(Input::SendHeld { id });
            }
            Command::Unqueue { id, edit } => prompts::unqueue(conversation, id, edit),
            Command::Draft(draft) => self.prompts.keep_draft(conversation, draft),
            Command::Stop => self.stop(),
            Command::Child(told) => children::obey(self, told),
            Command::Coordinate => workers::coordinate(conversation),
            Command::Worker(worker, wanted) => workers::carry_out(self, worker, wanted),
            Command::Rule { call, answer } => permissions::rule(self, call, answer),
            Command::Respond { call, question, response } => {
                questions::respond(self, call, question, response);
            }
            Command::Toggle { block, line } => conversation.show(Show::Toggle { block, line }),
            Command::Retry => conversation.try_again(),
            Command::LookAgain => standing::look(conversation, &self.desk, &self.turn),
            Command::ChooseModel(model) => choice::choose(self, &model),
            Command::ChooseMode(mode) => {
                let mode = mode.unwrap_or_else(|| conversation.session.mode.next());
                permissions::choose_mode(conversation, &self.desk, mode);
            }
            Command::Connect(provider, file) => choice::connect(self, &provider, &file),
            Command::Learn(model, lesson) => {
                self.sampler.models.learn(&model, &lesson);
            }
            Command::ShowRequest => self.sampler.show_request(conversation),
            Command::Reviewed(decided) => {
                let path = self.desk.root.join(&decided.path);
                self.guidance.reviewed(conversation, &mut self.desk, &path);
                self.files.decided(conversation, &self.desk, decided);
            }
            Command::Report(input) => conversation.take(input),
            Command::Checked(check) => self.files.checked(conversation, &self.desk, *check),
            Command::Present { show } => self.present((Show::Repaint, show)),
            Command::Act(act) => chats::carry_out(self, act),
            Command::Plan(act) => plan::carry_out(self, act),
            Command::Rewind(wanted) => self.files.record.rewind(conversation, &self.desk, wanted),
            Command::Undo(undo) => undo::carry_out(self, undo),
            Command::Permissions(wanted) => permissions::carry_out(self, wanted),
            Command::ListJobs => jobs::list(conversation, &self.desk),
            Command::StopJob(job) => self.desk.jobs.stop(job),
            Command::Todo(act) => todo::act(self, act),
            Command::Largest(answer) => drop(answer.send(ledger::largest(self))),
            Command::Quit(_) => (),
        }
    }

    /// Starts to read the files that a message mentions. The message is sent when they have been read.
    fn prepare_message(&mut self, prompt: Prompt) {
        let hosts = mention::hosts(&prompt.text).join(", ");
        if !hosts.is_empty() {
            self.conversation.notice(Level::Info, format!("Fetching from {hosts} …"));
        }
        let watched = self.files.known.watched(&self.conversation.session, &self.desk);
        self.prompts.prepare(Prompt { watched, ..prompt });
    }

    /// Sends a message whose mentioned files have been read.
    fn prepared(&mut self, prepared: Prepared) {
        let conversation = &mut self.conversation;
        let Some((prompt, observations)) = self.prompts.prepared(conversation, prepared) else {
            return conversation.session.attend();
        };
        prompt.remember(conversation);
        let Prompt { text, context, steer, model, review, plan, .. } = prompt;
        if plan.is_some_and(|it| !plan::decide(conversation, &self.desk, it)) {
            return;
        }
        if review.is_some() {
            self.desk.workspace.uncomment();
        }
        self.guidance.consult(conversation, &self.sampler.models, &mut self.desk);
        self.guidance.watch(conversation, &self.desk, &context);
        for it in observations {
            self.files.tracker(conversation, &self.desk).observe(it);
        }
        lent::send(self, Input::Send { text, context, steer }, model);
    }

    fn noted(&mut self, notice: Notice) {
        let Agent { conversation, desk, guidance, opening, .. } = self;
        let ports = (!opening.is_hidden).then_some(&mut guidance.permissions.ports);
        jobs::note(conversation, desk, ports, notice);
    }

    fn system(&self) -> Result<String, String> {
        let session = &self.conversation.session;
        self.guidance.system(&self.desk, self.sampler.format(&session.model), &session.mark)
    }

    fn sampled(&mut self, turn: TurnId, sampled: Sampled) {
        let conversation = &mut self.conversation;
        if !matches!(conversation.session.phase, Phase::Sampling { turn: it, .. } if it == turn) {
            return;
        }
        self.turn.note_activity();
        match sampled {
            Sampled::Delta(Delta::Alive) => (),
            Sampled::Delta(delta) => {
                self.turn.partial.gather(&delta);
                conversation.show(Show::Delta(delta));
            }
            Sampled::Done(reply) => self.replied(turn, reply),
            Sampled::Failed(failure) => {
                let (by, partial) = self.turn.end_reply();
                let failed = (failure, by, partial);
                if let Some(it) = self.sampler.failed(conversation, &self.desk, turn, failed) {
                    conversation.take(it);
                }
            }
        }
    }

    /// Uses the permission rules that are on disk now.
    fn reload_rules(&mut self) {
        let problems = self.guidance.permissions.reload(&mut self.conversation, &mut self.desk);
        self.conversation.tell_once(problems);
    }

    fn replied(&mut self, turn: TurnId, mut reply: Reply) {
        self.desk.confinement.wait();
        self.reload_rules();
        let (conversation, desk) = (&mut self.conversation, &self.desk);
        reply.by = self.turn.end_reply().0;
        // the request fitted into the model's window but the reply did not: the model answers again after a compaction
        let is_cut = reply.stop == Stop::ContextExceeded;
        if is_cut && self.sampler.overflow(conversation, desk, turn, None).is_ok() {
            return self.sampler.account(conversation, &reply);
        }
        let reply = work::sendable(reply, &conversation.session);
        let calls = self.turn.read(&conversation.session, desk, &reply);
        let plans = calls.iter().map(|it| it.plan()).collect();
        self.sampler.replied(conversation, &reply, &calls);
        conversation.take(self.sampler.input(turn, reply, plans));
        let touched: Vec<_> = calls.iter().flat_map(|it| it.touched.clone()).collect();
        self.guidance.touch(conversation, &touched);
    }

    /// Stops the turn. While edits are being applied to buffers, the turn ends only after the editor has taken or
    /// refused the last edit, so that the answer to each call is true.
    fn stop(&mut self) {
        self.prompts.withdraw();
        self.guidance.withdraw(&mut self.conversation);
        if let (true, Some(turn)) = (self.turn.is_proposing(), self.conversation.session.turn()) {
            self.turn.keep_results();
            return self.desk.workspace.halt(turn);
        }
        let partial = self.turn.partial.take();
        self.conversation.take(Input::Cancel { partial });
    }

    fn result(&mut self, input: Input) {
        let conversation = &mut self.conversation;
        let lists = todo::is_changed_by(&input, &conversation.session);
        self.sampler.fitting.note(&input, &self.sampler.models, &conversation.session, &self.desk);
        if let Input::Applied { files, .. } = &input {
            for (path, saved) in files {
                self.files.note_saved(conversation, &self.desk.root, path, *saved);
            }
        }
        match self.turn.result(input) {
            Some(input @ Input::Applied { .. }) => self.files.checks.judged(conversation, input),
            Some(Input::Stood { turn, files }) => standing::stood(self, turn, files),
            Some(input) => conversation.take(input),
            None => (),
        }
        if lists {
            self.files.todo.show(&self.conversation, &self.desk, false);
        }
    }

    /// Saves everything before the editor ends. An interrupted turn stays in the journal, where the next start finds
    /// it.
    fn quit(&mut self) {
        if let Some(lent) = self.sampler.lent.take() {
            lent::return_model(self, lent);
        }
        let conversation = &mut self.conversation;
        self.files.checks.release(conversation);
        let partial = self.turn.partial.take();
        conversation.leave(partial);
        self.turn.abort();
        self.desk.jobs.stop_all();
    }
}
