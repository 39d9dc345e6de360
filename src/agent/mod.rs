//! The owner of one session. It takes the user's commands, the model's stream and the results of tools, and steps the
//! session with them. Each step is saved, then shown, then carried out. Each field owns one thing; this file connects
//! them.

pub mod models;
mod aside;
mod cache;
mod chats;
mod checkpoints;
mod checks;
mod command_changes;
mod edits;
mod files;
mod guidance;
mod known;
mod opening;
mod partial;
mod permissions;
mod prompts;
mod refactor;
mod rewind;
mod sampler;
mod setup;
mod status;
mod title;
mod turn;
mod whole;
mod work;

pub use chats::Act;
pub use checks::{Check, Looked};
pub use rewind::Rewind;
pub use setup::{Command, Decided, Setup};

use crate::context::slash::{self, Parsed, Slash};
use crate::conversation::report::{Level, Report, Show, Wish};
use crate::conversation::{Channels, Conversation, Work};
use crate::event::{Delta, Mode, TurnId};
use crate::message::{CallId, Excerpt, ExcerptKind, Reply};
use crate::provider::Sampled;
use crate::session::{Effect, Input, Phase, Session};
use crate::tool::Desk;
use files::{Changes, Files};
use guidance::Guidance;
use models::Models;
use opening::Opening;
use partial::Partial;
use prompts::{Prepared, Prompt, Prompts};
use sampler::Sampler;
use std::path::Path;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use turn::{Results, Turn};

pub struct Agent {
    conversation: Conversation,
    /// Everything that the session's tools work with.
    desk: Desk,
    sampler: Sampler,
    guidance: Guidance,
    files: Files,
    turn: Turn,
    prompts: Prompts,
    opening: Opening,
}

struct Ends {
    results: Results,
    changes: Changes,
    prepared: mpsc::UnboundedReceiver<Prepared>,
    outputs: mpsc::UnboundedReceiver<(CallId, String)>,
}

/// Runs until the quit command comes, or until every sender of commands is dropped.
pub async fn run(setup: Setup, mut inbox: mpsc::UnboundedReceiver<Command>) {
    let (mut agent, mut ends) = Agent::new(setup);
    agent.begin();
    loop {
        agent.do_work();
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
            // take in what a call has observed of files before the call's answer
            Some(observation) = ends.changes.observations.recv() => {
                agent.files.tracker(&mut agent.conversation, &agent.desk).observe(observation);
            }
            Some(message) = ends.changes.keeper_messages.recv() => {
                agent.files.record.take(&mut agent.conversation, message);
            }
            Some(input) = ends.results.inputs.recv() => agent.result(input),
            Some((turn, sampled)) = ends.results.samples.recv() => {
                agent.sampled(turn, sampled);
                if ends.results.samples.is_empty() {
                    agent.turn.partial.save(&mut agent.conversation);
                }
            }
            Some((call, text)) = ends.outputs.recv() => {
                agent.conversation.show(Show::Delta(Delta::Output { call, text }));
            }
            Some(prepared) = ends.prepared.recv() => agent.prepared(prepared),
            () = agent.turn.ended(), if agent.turn.is_working() => agent.work_ended(),
            () = sleep_until(silence.unwrap_or_else(Instant::now)), if silence.is_some() => {
                agent.turn.fell_silent();
            }
        }
    }
}

impl Agent {
    fn new(setup: Setup) -> (Agent, Ends) {
        let Setup { id, desk, screen, store, session, read_only, wishes, draft, .. } = setup;
        let partial = Partial::of(session.model.clone(), setup.partial);
        let channels = Channels { screen, wishes, secrets: desk.secrets.clone() };
        let (prompts, prepared) = Prompts::new(&desk, draft);
        let (files, changes) = Files::new();
        let (turn, results) = Turn::new(partial);
        let agent = Agent {
            conversation: Conversation::new(id, session, store, read_only, channels),
            desk,
            sampler: Sampler::new(setup.models, setup.titles, setup.tally),
            guidance: Guidance::new(setup.choice, setup.places),
            files,
            turn,
            prompts,
            opening: Opening {
                instead: setup.instead,
                replayed: setup.replayed,
                mode: setup.mode,
                live: setup.live,
                recorded: setup.recorded,
                shown: setup.shown,
                intro: setup.intro,
                warnings: setup.warnings,
            },
        };
        (agent, Ends { results, changes, prepared, outputs: setup.outputs })
    }

    /// Carries out the conversation's work, and shows its status.
    fn do_work(&mut self) {
        while let Some(work) = self.conversation.next_work() {
            match work {
                Work::Effect(effect) => self.carry_out(effect),
                Work::Title => {
                    let results = self.turn.results();
                    self.sampler.ask_for_title(&self.conversation, &self.desk, results);
                }
            }
        }
        let status = status::status(&self.conversation, &self.sampler, &self.turn);
        self.conversation.show_status(status);
    }

    fn carry_out(&mut self, effect: Effect) {
        let (conversation, desk) = (&mut self.conversation, &self.desk);
        match effect {
            Effect::Sample { turn } => {
                self.turn.begin_reply(&conversation.session.model);
                self.sampler.sample(conversation, desk, &mut self.turn, turn);
            }
            Effect::Run { turn, call } => {
                let job = self.files.run(conversation, desk, &self.turn, &call);
                self.turn.run(job, turn, call);
            }
            Effect::Propose { turn, calls, at_once } => {
                let tally = self.sampler.tally(&conversation.session.model);
                let job =
                    self.files.propose(conversation, desk, &self.turn, (&calls, at_once), tally);
                self.turn.propose(job, turn, calls);
            }
            Effect::Rest { turn, time } => self.turn.rest(turn, time),
            Effect::Abort { turn } => {
                self.turn.abort();
                self.desk.workspace.halt(turn);
            }
        }
    }

    fn format(&self) -> crate::edit::Format {
        self.sampler.format(&self.conversation.session.model)
    }

    /// Ends a turn that was interrupted, and shows the session.
    fn begin(&mut self) {
        let conversation = &mut self.conversation;
        let view = if let Some(why) = conversation.read_only.clone() {
            self.opening.read(conversation, why)
        } else {
            let partial = self.turn.partial.take();
            let format = self.sampler.format(&conversation.session.model);
            let files = (&self.desk, &mut self.files);
            self.opening.begin(conversation, files, &mut self.guidance, partial, format)
        };
        self.present(Show::View(Box::new(view)));
    }

    /// Reports the session to the editor, and has the whole transcript painted.
    fn present(&mut self, show: Show) {
        let draft = self.prompts.draft.clone();
        self.opening.present(&mut self.conversation, &self.desk, draft, show);
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
            Command::Send { text, context, steer } => self.sent(text, context, steer),
            Command::SendHeld(id) => conversation.take(Input::SendHeld { id }),
            Command::Unqueue(id) => conversation.take(Input::Unqueue { id }),
            Command::Draft(draft) => self.prompts.keep_draft(conversation, draft),
            Command::Stop => self.stop(),
            Command::Rule { call, ruling } => conversation.take(Input::Rule { call, ruling }),
            Command::Toggle { block, line } => conversation.show(Show::Toggle { block, line }),
            Command::Retry => {
                if let Some(turn) = conversation.session.turn() {
                    conversation.take(Input::Rested { turn });
                }
            }
            Command::ChooseModel(model) => self.choose_model(&model),
            Command::ChooseMode(mode) => {
                let mode = mode.unwrap_or_else(|| conversation.session.mode.next());
                conversation.take(Input::ChooseMode { mode });
            }
            Command::Connect(provider, file) => self.connect(&provider, &file),
            Command::LeaveOut(model, parameter) => {
                self.sampler.models.leave_out(&model, parameter);
            }
            Command::ShowRequest => self.sampler.show_request(conversation),
            Command::Reviewed(decided) => self.files.decided(conversation, &self.desk, decided),
            Command::Checked(check) => {
                self.files.checks.checked(conversation, &self.desk.root, *check);
            }
            Command::Present => self.present(Show::Repaint),
            Command::Act(act) => self.do_with_session(act),
            Command::Rewind(wanted) => self.files.record.rewind(conversation, &self.desk, wanted),
            Command::Permissions(None) => permissions::list(conversation),
            Command::Permissions(Some(grant)) => self.files.revoke(conversation, &self.desk, grant),
            Command::Quit(_) => (),
        }
    }

    fn do_with_session(&mut self, act: Act) {
        let conversation = &mut self.conversation;
        match act {
            Act::Rename { to, done } => {
                let renamed = chats::rename(conversation, to);
                if renamed.is_ok() {
                    self.files.record.reread();
                }
                // The send fails only when the program is ending.
                let _ = done.send(renamed);
            }
            Act::Title(title) => {
                conversation.notice(Level::Info, format!("The title is now “{title}”."));
                conversation.take(Input::Title { title });
            }
            Act::Fork(cut) => chats::fork(conversation, cut),
            Act::Export { file, force } => {
                chats::export(conversation, &self.desk, &self.sampler.models, &file, force);
            }
        }
    }

    fn sent(&mut self, text: String, context: Vec<Excerpt>, steer: bool) {
        // A comment on a change goes to the model unchanged: a slash at its beginning is not a command.
        let is_comment = context.iter().any(|it| it.kind == ExcerptKind::Hunk);
        let parsed = if is_comment { Parsed::Prompt } else { slash::parse(&text) };
        let is_prompt =
            matches!(parsed, Parsed::Prompt | Parsed::Known(Slash::Plan | Slash::Skill, _));
        let conversation = &mut self.conversation;
        if let (true, Some(store)) = (is_prompt && !is_comment, &conversation.store)
            && let Err(error) = store.remember(&text)
        {
            tracing::warn!("the prompt could not be remembered: {error}");
        }
        match parsed {
            Parsed::Prompt => self.prepare(text, context, steer),
            Parsed::Unknown(why) => conversation.bounce(text, context, why),
            Parsed::Known(Slash::Plan, rest) if !rest.is_empty() => {
                conversation.take(Input::ChooseMode { mode: Mode::Plan });
                self.prepare(rest.to_owned(), context, steer);
            }
            Parsed::Known(Slash::Skill, rest) if !rest.is_empty() => {
                match guidance::skill(&self.desk, rest) {
                    Ok((text, skill)) => {
                        let context = [skill].into_iter().chain(context).collect();
                        self.prepare(text, context, steer);
                    }
                    Err(why) => {
                        conversation.bounce(text, context, format!("{why} Nothing was sent."));
                    }
                }
            }
            Parsed::Known(slash, rest) => self.slash(slash, rest),
        }
    }

    fn slash(&mut self, slash: Slash, rest: &str) {
        let conversation = &mut self.conversation;
        let word = (!rest.is_empty()).then(|| rest.to_owned());
        match slash {
            Slash::Skills | Slash::Skill => {
                conversation.take(Input::Tell { text: guidance::list_of_skills(&self.desk) });
            }
            Slash::Help => conversation.take(Input::Tell { text: slash::help() }),
            Slash::Usage => {
                let text = status::usage(conversation, &self.sampler);
                conversation.take(Input::Tell { text });
            }
            Slash::System if rest == "new" => {
                let format = self.format();
                self.guidance.renew(&mut self.conversation, &self.desk, format);
            }
            Slash::System => conversation.take(Input::Tell { text: guidance::shown(conversation) }),
            Slash::New => conversation.wish(Wish::New { name: word }),
            Slash::Sessions => conversation.wish(Wish::Sessions { text: rest.to_owned() }),
            Slash::Rename => conversation.wish(Wish::Rename { text: rest.to_owned() }),
            Slash::Fork => chats::fork(conversation, None),
            Slash::Save => chats::copy(conversation, None, Some(rest.to_owned())),
            Slash::Export => {
                chats::export(conversation, &self.desk, &self.sampler.models, rest, false);
            }
            Slash::Copy => chats::copy_reply(conversation),
            Slash::History => conversation.show(Show::Tell(Report::History)),
            Slash::Clear => self.clear(),
            Slash::Models if rest.is_empty() => conversation.wish(Wish::Models),
            Slash::Models => self.choose_model(rest),
            Slash::Permissions => permissions::list(conversation),
            Slash::Plan => conversation.take(Input::ChooseMode { mode: Mode::Plan }),
            Slash::Connect if rest.contains(char::is_whitespace) => {
                let text = "Name only the provider: Caliban then asks for the key.";
                conversation.notice(Level::Warn, text.into());
            }
            Slash::Connect => conversation.wish(Wish::Connect { provider: word }),
        }
    }

    fn clear(&mut self) {
        let conversation = &mut self.conversation;
        if conversation.session.phase != Phase::Idle {
            return conversation.refuse_while_running();
        }
        if let Err(why) = chats::trash(conversation) {
            return conversation.notice(Level::Error, why);
        }
        if let Some(all) = self.files.record.checkpoints(conversation) {
            all.part();
        }
        let Session { model, tuning, mode, .. } = std::mem::take(&mut conversation.session);
        conversation.session = Session { model, tuning, ..Session::default() };
        self.opening.mode = mode;
        self.begin();
        self.conversation.save_whole();
    }

    /// Has the files that a message mentions read.
    fn prepare(&mut self, text: String, context: Vec<Excerpt>, steer: bool) {
        let watched = self.files.known.watched(&self.conversation.session, &self.desk);
        self.prompts.prepare(Prompt { text, context, steer, watched });
    }

    /// Sends a message whose mentioned files have been read.
    fn prepared(&mut self, prepared: Prepared) {
        let conversation = &mut self.conversation;
        let Some((prompt, observations)) = self.prompts.prepared(conversation, prepared) else {
            return;
        };
        let Prompt { text, context, steer, .. } = prompt;
        self.guidance.watch(conversation, &self.desk, &context);
        for it in observations {
            self.files.tracker(conversation, &self.desk).observe(it);
        }
        conversation.take(Input::Send { text, context, steer });
    }

    /// `text` is a model's full name, settings like `thinking=high`, or both. Settings alone change the current model.
    fn choose_model(&mut self, text: &str) {
        let (chosen, tuning) = match self.sampler.chosen(&self.conversation.session, text) {
            Ok(chosen) => chosen,
            Err(why) => return self.conversation.notice(Level::Error, why),
        };
        let model = models::full_name(&chosen);
        let is_current = |agent: &Agent| {
            let built = agent.guidance.system(&agent.desk, agent.format());
            built.is_ok_and(|it| it == agent.conversation.system())
        };
        let was_current = is_current(self);
        self.conversation.take(Input::ChooseModel { model, tuning });
        // the system prompt names the tools, and another model may have other ones
        if let (true, Ok(system)) = (was_current, self.guidance.system(&self.desk, self.format()))
            && system != self.conversation.system()
        {
            let instructions = self.guidance.gathered().files;
            self.conversation.take(Input::ChooseSystem { system, instructions });
        }
        if let Some(text) = Models::ignored(&chosen, tuning) {
            self.conversation.take(Input::Tell { text });
        }
    }

    /// Uses a new key of a provider. A session on the tour changes to that provider's model.
    fn connect(&mut self, provider: &str, file: &Path) {
        let models = &mut self.sampler.models;
        models.connect(provider, file);
        let is_tour = models.is_tour(&self.conversation.session.model);
        if is_tour && models.resolve(provider).is_ok() {
            self.choose_model(provider);
        }
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
                let input = self.sampler.failed(conversation, turn, failure, by, partial);
                conversation.take(input);
            }
        }
    }

    fn replied(&mut self, turn: TurnId, mut reply: Reply) {
        let (conversation, desk) = (&mut self.conversation, &self.desk);
        reply.by = self.turn.end_reply().0;
        let reply = work::sendable(reply, &conversation.session);
        let plans = work::plans(desk, &reply);
        let touched = work::touched(desk, &reply, &plans);
        self.sampler.replied(conversation, desk, &reply);
        conversation.take(Input::Replied { turn, reply, plans });
        self.guidance.touch(conversation, &touched);
    }

    /// Stops the turn. While edits are being applied to buffers, the turn ends only after the editor has taken or
    /// refused the last one, so that each call gets its true answer.
    fn stop(&mut self) {
        self.prompts.withdraw();
        if let (true, Some(turn)) = (self.turn.is_proposing(), self.conversation.session.turn()) {
            self.turn.keep_results();
            return self.desk.workspace.halt(turn);
        }
        let partial = self.turn.partial.take();
        self.conversation.take(Input::Cancel { partial });
    }

    /// Called when a task of the turn has ended and its results have been taken.
    fn work_ended(&mut self) {
        if let Some(landed) = self.turn.landed() {
            self.conversation.take(Input::Stop { landed });
        }
    }

    fn result(&mut self, input: Input) {
        let conversation = &mut self.conversation;
        if let Input::Applied { files, .. } = &input {
            for (path, saved) in files {
                self.files.note_saved(conversation, &self.desk.root, path, *saved);
            }
        }
        match self.turn.result(input) {
            Some(input @ Input::Applied { .. }) => self.files.checks.judged(conversation, input),
            Some(input) => conversation.take(input),
            None => (),
        }
    }

    /// Saves everything before the editor ends. An interrupted turn stays in the journal, where the next start finds
    /// it.
    fn quit(&mut self) {
        let conversation = &mut self.conversation;
        self.files.checks.release(conversation);
        let partial = self.turn.partial.take();
        conversation.leave(partial);
        self.turn.abort();
    }
}
