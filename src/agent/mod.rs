//! The owner of one session. It takes what comes (the user's acts, a model's words, the results of tools),
//! steps the session, and then, in this order, saves, shows and acts. Each of its fields owns one thing; this file is
//! where they meet.

pub mod models;
mod aside;
mod asking;
mod cache;
mod chats;
mod checkpoints;
mod checks;
mod commanded;
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
use crate::conversation::{Conversation, Due, Ways};
use crate::event::{Delta, Mode, TurnId};
use crate::message::{CallId, Excerpt, ExcerptKind, Reply};
use crate::provider::Sampled;
use crate::session::{Effect, Input, Phase, Session};
use crate::text::cause;
use crate::tool::Desk;
use asking::Asking;
use files::{Changes, Files};
use guidance::Guidance;
use models::Models;
use opening::Opening;
use partial::Partial;
use prompts::{Prepared, Prompt, Prompts};
use std::path::Path;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use turn::{Results, Turn};

pub struct Agent {
    conversation: Conversation,
    /// What its tools work with.
    desk: Desk,
    asking: Asking,
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

/// Lives until it is told to quit or nobody can tell it anything any more.
pub async fn run(setup: Setup, mut inbox: mpsc::UnboundedReceiver<Command>) {
    let (mut agent, mut ends) = Agent::new(setup);
    agent.begin();
    loop {
        agent.settle();
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
            // what a call teaches comes before its answer
            Some(news) = ends.changes.news.recv() => agent.news(news),
            Some(keeping) = ends.changes.keeping.recv() => {
                agent.files.record.keep(&mut agent.conversation, keeping);
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
            () = agent.turn.ended(), if agent.turn.is_working() => agent.joined(),
            () = sleep_until(silence.unwrap_or_else(Instant::now)), if silence.is_some() => {
                agent.turn.fell_silent();
            }
        }
    }
}

impl Agent {
    fn new(setup: Setup) -> (Agent, Ends) {
        let Setup { id, desk, screen, store, session, reads, wishes, draft, .. } = setup;
        let partial = Partial::of(session.model.clone(), setup.partial);
        let ways = Ways { screen, wishes, secrets: desk.secrets.clone() };
        let (prompts, prepared) = Prompts::new(&desk, draft);
        let (files, changes) = Files::new();
        let (turn, results) = Turn::new(partial);
        let agent = Agent {
            conversation: Conversation::new(id, session, store, reads, ways),
            desk,
            asking: Asking::new(setup.models, setup.titles, setup.tally),
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

    /// Does what the conversation has to have done, and tells how it stands.
    fn settle(&mut self) {
        while let Some(due) = self.conversation.due() {
            match due {
                Due::Effect(effect) => self.act(effect),
                Due::Title => {
                    let results = self.turn.results();
                    self.asking.ask_for_title(&self.conversation, &self.desk, results);
                }
            }
        }
        let status = status::status(&self.conversation, &self.asking, &self.turn);
        self.conversation.show_status(status);
    }

    fn act(&mut self, effect: Effect) {
        let (of, desk) = (&mut self.conversation, &self.desk);
        match effect {
            Effect::Sample { turn } => {
                self.turn.begin_reply(&of.session.model);
                self.asking.sample(of, desk, &mut self.turn, turn);
            }
            Effect::Run { turn, call } => {
                let job = self.files.run(of, desk, &self.turn, &call);
                self.turn.run(job, turn, call);
            }
            Effect::Propose { turn, calls, at_once } => {
                let tally = self.asking.tally(&of.session.model);
                let job = self.files.propose(of, desk, &self.turn, (&calls, at_once), tally);
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
        self.asking.format(&self.conversation.session.model)
    }

    /// Brings a session that was left in mid-turn to rest, and shows it.
    fn begin(&mut self) {
        let of = &mut self.conversation;
        let view = if let Some(why) = of.reads.clone() {
            self.opening.read(of, why)
        } else {
            let partial = self.turn.partial.take();
            let format = self.asking.format(&of.session.model);
            let files = (&self.desk, &mut self.files);
            self.opening.begin(of, files, &mut self.guidance, partial, format)
        };
        self.present(Show::View(Box::new(view)));
    }

    /// Tells the editor of the session, and has its transcript painted from the beginning.
    fn present(&mut self, show: Show) {
        let draft = self.prompts.draft.clone();
        self.opening.present(&mut self.conversation, &self.desk, draft, show);
        self.settle();
        self.conversation.announce();
    }

    fn command(&mut self, command: Command) {
        let Some(command) = command.permitted(&self.conversation) else { return };
        let of = &mut self.conversation;
        if command.acts() {
            self.files.checks.release(of);
        }
        match command {
            Command::Send { text, context, steer } => self.sent(text, context, steer),
            Command::SendHeld(id) => of.take(Input::SendHeld { id }),
            Command::Unqueue(id) => of.take(Input::Unqueue { id }),
            Command::Draft(draft) => self.prompts.keep_draft(of, draft),
            Command::Stop => self.stop(),
            Command::Rule { call, ruling } => of.take(Input::Rule { call, ruling }),
            Command::Toggle { block, line } => of.show(Show::Toggle { block, line }),
            Command::Retry => {
                if let Some(turn) = of.session.turn() {
                    of.take(Input::Rested { turn });
                }
            }
            Command::ChooseModel(model) => self.choose_model(&model),
            Command::ChooseMode(mode) => {
                let mode = mode.unwrap_or_else(|| of.session.mode.next());
                of.take(Input::ChooseMode { mode });
            }
            Command::Connect(provider, file) => self.connect(&provider, &file),
            Command::LeaveOut(model, parameter) => {
                self.asking.models.leave_out(&model, parameter);
            }
            Command::ShowRequest => self.asking.show_request(of),
            Command::Reviewed(decided) => self.files.decided(of, &self.desk, decided),
            Command::Checked(check) => self.files.checks.checked(of, &self.desk.root, *check),
            Command::Present => self.present(Show::Repaint),
            Command::Act(act) => self.do_with_session(act),
            Command::Rewind(wanted) => self.files.record.rewind(of, &self.desk, wanted),
            Command::Permissions(None) => permissions::list(of),
            Command::Permissions(Some(grant)) => self.files.revoke(of, &self.desk, grant),
            Command::Quit(_) => (),
        }
    }

    fn do_with_session(&mut self, act: Act) {
        let of = &mut self.conversation;
        match act {
            Act::Rename { to, done } => {
                let renamed = chats::rename(of, to);
                if renamed.is_ok() {
                    self.files.record.reread();
                }
                // The program waits for it.
                let _ = done.send(renamed);
            }
            Act::Title(title) => {
                of.notice(Level::Info, format!("The title is now “{title}”."));
                of.take(Input::Title { title });
            }
            Act::Fork(cut) => chats::fork(of, cut),
            Act::Export { file, force } => {
                chats::export(of, &self.desk, &self.asking.models, &file, force);
            }
        }
    }

    fn sent(&mut self, text: String, context: Vec<Excerpt>, steer: bool) {
        // Of a comment on a change every word is for the model.
        let is_comment = context.iter().any(|it| it.kind == ExcerptKind::Hunk);
        let parsed = if is_comment { Parsed::Prompt } else { slash::parse(&text) };
        let is_prompt =
            matches!(parsed, Parsed::Prompt | Parsed::Known(Slash::Plan | Slash::Skill, _));
        let of = &mut self.conversation;
        if let (true, Some(store)) = (is_prompt && !is_comment, &of.store)
            && let Err(error) = store.remember(&text)
        {
            tracing::warn!("the prompt could not be remembered: {error}");
        }
        match parsed {
            Parsed::Prompt => self.prepare(text, context, steer),
            Parsed::Unknown(why) => of.bounce(text, context, why),
            Parsed::Known(Slash::Plan, rest) if !rest.is_empty() => {
                of.take(Input::ChooseMode { mode: Mode::Plan });
                self.prepare(rest.to_owned(), context, steer);
            }
            Parsed::Known(Slash::Skill, rest) if !rest.is_empty() => {
                match guidance::skill(&self.desk, rest) {
                    Ok((text, skill)) => {
                        let context = [skill].into_iter().chain(context).collect();
                        self.prepare(text, context, steer);
                    }
                    Err(why) => of.bounce(text, context, format!("{why} Nothing was sent.")),
                }
            }
            Parsed::Known(slash, rest) => self.slash(slash, rest),
        }
    }

    fn slash(&mut self, slash: Slash, rest: &str) {
        let of = &mut self.conversation;
        let word = (!rest.is_empty()).then(|| rest.to_owned());
        match slash {
            Slash::Skills | Slash::Skill => {
                of.take(Input::Tell { text: guidance::list_of_skills(&self.desk) });
            }
            Slash::Help => of.take(Input::Tell { text: slash::help() }),
            Slash::Usage => {
                let text = status::usage(of, &self.asking);
                of.take(Input::Tell { text });
            }
            Slash::System if rest == "new" => {
                let format = self.format();
                self.guidance.renew(&mut self.conversation, &self.desk, format);
            }
            Slash::System => of.take(Input::Tell { text: guidance::shown(of) }),
            Slash::New => of.wish(Wish::New { name: word }),
            Slash::Sessions => of.wish(Wish::Sessions { text: rest.to_owned() }),
            Slash::Rename => of.wish(Wish::Rename { text: rest.to_owned() }),
            Slash::Fork => chats::fork(of, None),
            Slash::Save => chats::copy(of, None, Some(rest.to_owned())),
            Slash::Export => chats::export(of, &self.desk, &self.asking.models, rest, false),
            Slash::Copy => chats::copy_reply(of),
            Slash::History => of.show(Show::Tell(Report::History)),
            Slash::Clear => self.clear(),
            Slash::Models if rest.is_empty() => of.wish(Wish::Models),
            Slash::Models => self.choose_model(rest),
            Slash::Permissions => permissions::list(of),
            Slash::Plan => of.take(Input::ChooseMode { mode: Mode::Plan }),
            Slash::Connect if rest.contains(char::is_whitespace) => {
                let text = "Name only the provider: Caliban then asks for the key.";
                of.notice(Level::Warn, text.into());
            }
            Slash::Connect => of.wish(Wish::Connect { provider: word }),
        }
    }

    fn clear(&mut self) {
        let of = &mut self.conversation;
        if of.session.phase != Phase::Idle {
            return of.refuse_while_running();
        }
        if let Some(store) = &mut of.store
            && let Err(error) = store.trash(&of.session)
        {
            let text = format!(
                "Nothing was cleared: the old text could not be moved to the trash ({}).",
                cause(&error)
            );
            return of.notice(Level::Error, text);
        }
        if let Some(all) = self.files.record.of(of) {
            all.part();
        }
        let Session { model, tuning, mode, .. } = std::mem::take(&mut of.session);
        of.session = Session { model, tuning, ..Session::default() };
        self.opening.mode = mode;
        self.begin();
        self.conversation.save_whole();
    }

    /// Has a message's mentions read.
    fn prepare(&mut self, text: String, context: Vec<Excerpt>, steer: bool) {
        let watched = self.files.known.watched(&self.conversation.session, &self.desk);
        self.prompts.prepare(Prompt { text, context, steer, watched });
    }

    /// The files of a message are read: it goes.
    fn prepared(&mut self, prepared: Prepared) {
        let of = &mut self.conversation;
        let Some((prompt, news)) = self.prompts.prepared(of, prepared) else { return };
        let Prompt { text, context, steer, .. } = prompt;
        self.guidance.watch(of, &self.desk, &context);
        for it in news {
            self.files.knowing(of, &self.desk).news(it);
        }
        of.take(Input::Send { text, context, steer });
    }

    fn news(&mut self, news: known::News) {
        self.files.knowing(&mut self.conversation, &self.desk).news(news);
    }

    /// `text`: a model's full name, settings behind it (`thinking=high`), or only these for the present model.
    fn choose_model(&mut self, text: &str) {
        let (chosen, tuning) = match self.asking.chosen(&self.conversation.session, text) {
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
        // another model may have other tools, and the prompt names them
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

    /// A key came: the provider is asked with it from now on; who had none at all goes on with it.
    fn connect(&mut self, provider: &str, file: &Path) {
        let models = &mut self.asking.models;
        models.connect(provider, file);
        let is_tour = models.is_tour(&self.conversation.session.model);
        if is_tour && models.resolve(provider).is_ok() {
            self.choose_model(provider);
        }
    }

    fn sampled(&mut self, turn: TurnId, sampled: Sampled) {
        let of = &mut self.conversation;
        if !matches!(of.session.phase, Phase::Sampling { turn: it, .. } if it == turn) {
            return;
        }
        self.turn.hear();
        match sampled {
            Sampled::Delta(Delta::Alive) => (),
            Sampled::Delta(delta) => {
                self.turn.partial.gather(&delta);
                of.show(Show::Delta(delta));
            }
            Sampled::Done(reply) => self.replied(turn, reply),
            Sampled::Failed(failure) => {
                let (by, partial) = self.turn.broken_off();
                let input = self.asking.failed(of, turn, failure, by, partial);
                of.take(input);
            }
        }
    }

    fn replied(&mut self, turn: TurnId, mut reply: Reply) {
        let (of, desk) = (&mut self.conversation, &self.desk);
        reply.by = self.turn.broken_off().0;
        let reply = work::sound(reply, &of.session);
        let plans = work::plans(desk, &reply);
        let touched = work::touched(desk, &reply, &plans);
        self.asking.replied(of, desk, &reply);
        of.take(Input::Replied { turn, reply, plans });
        self.guidance.touch(of, &touched);
    }

    /// What edits that are on their way come to is known once the editor has let the last of them in, or none.
    fn stop(&mut self) {
        self.prompts.withdraw();
        if let (true, Some(turn)) = (self.turn.is_proposing(), self.conversation.session.turn()) {
            self.turn.keep_results();
            return self.desk.workspace.halt(turn);
        }
        let partial = self.turn.partial.take();
        self.conversation.take(Input::Cancel { partial });
    }

    /// Some work of the turn has ended, its results are taken.
    fn joined(&mut self) {
        if let Some(landed) = self.turn.landed() {
            self.conversation.take(Input::Stop { landed });
        }
    }

    fn result(&mut self, input: Input) {
        let of = &mut self.conversation;
        if let Input::Applied { files, .. } = &input {
            for (path, saved) in files {
                self.files.note_saved(of, &self.desk.root, path, *saved);
            }
        }
        match self.turn.result(input) {
            Some(input @ Input::Applied { .. }) => self.files.checks.judged(of, input),
            Some(input) => of.take(input),
            None => (),
        }
    }

    /// The editor is going: everything is on disk when this returns. An interrupted turn stays in the journal,
    /// where the next start finds it.
    fn quit(&mut self) {
        let of = &mut self.conversation;
        self.files.checks.release(of);
        let partial = self.turn.partial.take();
        of.leave(partial);
        self.turn.abort();
    }
}
