//! The user's words: prompts with what they mention, slash commands, drafts; and how a session opens.

use super::models::{self, Models};
use super::rewind::stays;
use super::{Act, Agent, Command, Wish, work};
use crate::context::instructions::Found;
use crate::context::prompt;
use crate::context::slash::{self, Parsed, Slash};
use crate::edit::Format;
use crate::event::{Mode, Tuning};
use crate::message::{Block, Excerpt, ExcerptKind, Role};
use crate::nvim::screen::Show;
use crate::nvim::wire::{Level, ToNvim};
use crate::session::{Input, Phase, Session};
use crate::store::Draft;
use crate::store::tally::Tally;
use crate::tool;
use crate::view::View;
use std::path::{Path, PathBuf};

impl Agent {
    /// Shows what can only be read, as it is; the reason stands behind it and is no part of it.
    fn begin_reading(&mut self, why: String) {
        let mut shown = self.setup.session.clone();
        shown.step(Input::Tell { text: why });
        let view = View::of(&shown, self.setup.intro.clone());
        self.present(Show::View(Box::new(view)));
    }

    /// What a session that can only be read does not take is given back, with the reason.
    pub(super) fn permitted(&self, command: Command) -> Option<Command> {
        if self.setup.reads.is_none() {
            return Some(command);
        }
        let why = "This conversation can only be read here: /fork goes on in a copy.".to_owned();
        match command {
            Command::Send { text, context, steer } => {
                let parsed = slash::parse(&text);
                if matches!(&parsed, Parsed::Known(it, _) if it.only_reads()) {
                    return Some(Command::Send { text, context, steer });
                }
                self.bounce(text, context, why);
                None
            }
            Command::Toggle { .. }
            | Command::Present
            | Command::Quit(_)
            | Command::Act(Act::Fork(_) | Act::Export { .. }) => Some(command),
            Command::Act(Act::Rename { done, .. }) => {
                // The program waits for it.
                let _ = done.send(Err(why));
                None
            }
            Command::ChooseModel(_)
            | Command::ChooseMode(_)
            | Command::Rule { .. }
            | Command::Unqueue(_)
            | Command::SendHeld(_)
            | Command::Retry
            | Command::ShowRequest
            | Command::Rewind(_)
            | Command::Act(Act::Title(_)) => {
                self.notice(Level::Warn, why);
                None
            }
            Command::Draft(_)
            | Command::Stop
            | Command::Connect(..)
            | Command::Reviewed { .. }
            | Command::Checked(_) => None,
        }
    }

    /// Brings a session that was left in mid-turn to rest, and shows it.
    pub(super) fn begin(&mut self) {
        if let Some(why) = self.setup.reads.clone() {
            return self.begin_reading(why);
        }
        let root = self.setup.desk.root.clone();
        self.distrust();
        let built = self.built(&root);
        let found = self.gathered();
        let mut told = std::mem::take(&mut self.setup.warnings);
        let is_fresh = self.setup.session.messages.is_empty() && self.setup.session.turns == 0;
        self.outdated = if is_fresh { None } else { self.outdated(&found.files) };
        let intro = self.intro(&found.files);
        let partial = self.partial.take();
        let mut inputs = vec![Input::Leave { partial }];
        let mode = self.setup.mode;
        if !is_fresh || built.is_err() {
            inputs.push(Input::Resume { mode });
        }
        let recorded = self.setup.recorded.iter().map(|it| &it.path);
        let live: Vec<&PathBuf> = self.setup.live.iter().chain(recorded).collect();
        let lost = self.setup.session.reviewing.iter().filter(|it| !live.contains(it));
        inputs.extend(lost.map(|it| Input::ReviewLost { path: it.clone() }));
        match built {
            Ok(system) if is_fresh => {
                let Found { files: instructions, problems } = self.with_skills(found);
                told.extend(problems);
                let model = self.setup.session.model.clone();
                inputs.push(Input::Open { system, instructions, model, root });
                inputs.push(Input::ChooseMode { mode });
            }
            Ok(system) if system != self.system() => told.push(
                "The settings, the tools or the folder changed since this conversation began: its system prompt \
                 is the old one. `/system new` takes the new one."
                    .into(),
            ),
            Ok(_) => (),
            Err(why) => told.push(why),
        }
        told.extend(self.outdated.clone());
        let notices = told.into_iter().filter(|it| !self.was_told(it));
        inputs.extend(notices.map(|text| Input::Tell { text }).collect::<Vec<_>>());
        for input in inputs {
            let step = self.setup.session.step(input);
            // No side effect depends on this record.
            let _ = self.save(&step.events, false);
        }
        if std::mem::take(&mut self.setup.replayed) && !self.setup.session.is_blank() {
            self.save_whole();
        }
        self.remember();
        let view = View::of(&self.setup.session, intro);
        self.present(Show::View(Box::new(view)));
    }

    /// Makes a session from the disk harmless: it does nothing by itself, and watches no file that a link leads out to.
    fn distrust(&mut self) {
        let (session, desk) = (&mut self.setup.session, &self.setup.desk);
        session.distrust(&desk.root);
        session.known.retain(|path, _| stays(desk, path).is_ok());
    }

    /// The lines of an empty chat, the instructions named in them.
    fn intro(&self, instructions: &[Excerpt]) -> Vec<String> {
        let mut intro = self.setup.intro.clone();
        let names: Vec<&str> = instructions.iter().map(|it| it.path.as_str()).collect();
        if !names.is_empty() {
            intro.insert(intro.len().min(2), format!("Rules    {}", names.join(", ")));
        }
        intro
    }

    /// Whether this was the last thing the chat said: reopening does not repeat it.
    pub(super) fn was_told(&self, text: &str) -> bool {
        self.setup.session.messages.iter().rev().take(3).any(|it| {
            it.blocks.iter().any(|it| matches!(it, Block::Text { text: told } if told == text))
        })
    }

    pub(super) fn system(&self) -> &str {
        let first = self.setup.session.messages.first();
        match first.filter(|it| it.role == Role::System).map(|it| &it.blocks[..]) {
            Some([Block::Text { text }, ..]) => text,
            _ => "",
        }
    }

    /// How the session's model writes its edits.
    pub(super) fn format(&self) -> Format {
        let chosen = self.setup.models.resolve(&self.setup.session.model);
        chosen.map_or(Format::default(), |it| it.facts.edits)
    }

    pub(super) fn tally(&self) -> Option<Tally> {
        let (file, model) = (self.setup.tally.clone()?, self.setup.session.model.clone());
        Some(Tally { file, model, format: self.format() })
    }

    /// The system prompt for the settings, the folder and the model as they are.
    fn built(&self, root: &Path) -> Result<String, String> {
        prompt::choose(&self.setup.choice, root, &tool::specs(self.format()))
    }

    pub(super) fn sent(&mut self, text: String, context: Vec<Excerpt>, steer: bool) {
        // Of a comment on a change every word is for the model.
        let is_comment = context.iter().any(|it| it.kind == ExcerptKind::Hunk);
        let parsed = if is_comment { Parsed::Prompt } else { slash::parse(&text) };
        let is_prompt =
            matches!(parsed, Parsed::Prompt | Parsed::Known(Slash::Plan | Slash::Skill, _));
        if let (true, Some(store)) = (is_prompt && !is_comment, &self.setup.store)
            && let Err(error) = store.remember(&text)
        {
            tracing::warn!("the prompt could not be remembered: {error}");
        }
        match parsed {
            Parsed::Prompt => self.prepare(text, context, steer),
            Parsed::Unknown(why) => self.bounce(text, context, why),
            Parsed::Known(Slash::Plan, rest) if !rest.is_empty() => {
                self.take(Input::ChooseMode { mode: Mode::Plan });
                self.prepare(rest.to_owned(), context, steer);
            }
            Parsed::Known(Slash::Skill, rest) if !rest.is_empty() => {
                self.use_skill(rest, context, steer);
            }
            Parsed::Known(slash, rest) => self.slash(slash, rest),
        }
    }

    pub(super) fn slash(&mut self, slash: Slash, rest: &str) {
        match slash {
            Slash::Skills | Slash::Skill => {
                self.take(Input::Tell { text: self.list_of_skills() });
            }
            Slash::Help => self.take(Input::Tell { text: slash::help() }),
            Slash::Usage => self.take(Input::Tell { text: self.usage() }),
            Slash::System if rest == "new" => self.new_system(),
            Slash::System => {
                let system = self.system();
                let text = if system.is_empty() {
                    "There is no system prompt.".to_owned()
                } else {
                    format!("The system prompt:\n{system}")
                };
                let text = text + &self.list_of_instructions();
                self.take(Input::Tell { text });
            }
            Slash::New => {
                let name = (!rest.is_empty()).then(|| rest.to_owned());
                let _ = self.setup.wishes.send((self.setup.id.clone(), Wish::New { name }));
            }
            Slash::Sessions
            | Slash::Rename
            | Slash::Fork
            | Slash::Save
            | Slash::Export
            | Slash::Copy
            | Slash::History => {
                self.slash_of_chats(slash, rest);
            }
            Slash::Clear => self.clear(),
            Slash::Models if rest.is_empty() => {
                let _ = self.setup.wishes.send((self.setup.id.clone(), Wish::Models));
            }
            Slash::Models => self.choose_model(rest),
            Slash::Plan => self.take(Input::ChooseMode { mode: Mode::Plan }),
            Slash::Connect if rest.contains(char::is_whitespace) => {
                let text = "A key is asked for separately, so that it stands nowhere: /connect and the provider.";
                self.notice(Level::Warn, text.into());
            }
            Slash::Connect => {
                let provider = (!rest.is_empty()).then(|| rest.to_owned());
                let _ = self.setup.wishes.send((self.setup.id.clone(), Wish::Connect { provider }));
            }
        }
    }

    pub(super) fn new_system(&mut self) {
        let root = self.setup.desk.root.clone();
        match self.built(&root) {
            Ok(_) if self.setup.session.phase != Phase::Idle => self.refuse_while_running(),
            Ok(system) => {
                let Found { files: instructions, problems } = self.with_skills(self.gathered());
                self.take(Input::ChooseSystem { system, instructions });
                self.outdated = None;
                self.tell_once(problems);
            }
            Err(why) => self.notice(Level::Error, why),
        }
    }

    pub(super) fn clear(&mut self) {
        if self.setup.session.phase != Phase::Idle {
            return self.refuse_while_running();
        }
        if let Some(store) = &mut self.setup.store
            && let Err(error) = store.trash(&self.setup.session)
        {
            let text = format!(
                "Nothing was cleared: the old text could not be moved to the trash ({error})."
            );
            return self.notice(Level::Error, text);
        }
        if let Some(all) = self.checkpoints() {
            all.part();
        }
        let Session { model, tuning, mode, .. } = std::mem::take(&mut self.setup.session);
        self.setup.session = Session { model, tuning, ..Session::default() };
        self.setup.mode = mode;
        self.begin();
        self.save_whole();
    }

    pub(super) fn refuse_while_running(&self) {
        self.notice(Level::Warn, "A turn is running. Stop it first (<C-c>).".into());
    }

    pub(super) fn notice(&self, level: Level, text: String) {
        self.setup.editor.tell(ToNvim::Notice { level, text });
    }

    pub(super) fn bounce(&self, text: String, context: Vec<Excerpt>, why: String) {
        let session = self.setup.id.clone();
        self.setup.editor.tell(ToNvim::Bounce { session, text, context, why });
    }

    /// Has a prompt's mentions read.
    pub(super) fn prepare(&mut self, text: String, context: Vec<Excerpt>, steer: bool) {
        self.preparing += 1;
        let watched = self.known.watched(&self.setup.session, &self.setup.desk);
        let _ = self.prompts.send(work::Prompt { text, context, steer, watched });
    }

    /// The files of a prompt are read: it goes, or comes back where one could not be or the user stopped meanwhile.
    pub(super) fn prepared(&mut self, prepared: work::Prepared) {
        let work::Prepared { prompt, found, problems, news } = prepared;
        self.preparing -= 1;
        if self.withdrawn > 0 {
            self.withdrawn -= 1;
            let why = "Stopped before it was sent.".to_owned();
            return self.bounce(prompt.text, prompt.context, why);
        }
        let insists = self.bounced.take().is_some_and(|it| it == prompt.text);
        if !problems.is_empty() && !insists {
            self.bounced = Some(prompt.text.clone());
            let why = format!(
                "{} Nothing was sent; send it again to send it as it is.",
                problems.join(" ")
            );
            return self.bounce(prompt.text, prompt.context, why);
        }
        let mut context = prompt.context;
        context.extend(found);
        self.watch_instructions();
        self.watch_skills();
        let touched: Vec<PathBuf> =
            context.iter().map(|it| self.setup.desk.root.join(&it.path)).collect();
        self.touch(&touched);
        for it in news {
            self.news(it);
        }
        self.take(Input::Send { text: prompt.text, context, steer: prompt.steer });
    }

    /// `text`: a model's full name, settings behind it (`thinking=high`), or only these for the present model.
    pub(super) fn choose_model(&mut self, text: &str) {
        let session = &self.setup.session;
        let chosen = Tuning::parse(text).and_then(|(model, tuning)| match model {
            "" => Ok((self.setup.models.resolve(&session.model)?, tuning.or(session.tuning))),
            model => Ok((self.setup.models.resolve(model)?, tuning)),
        });
        match chosen {
            Ok((chosen, tuning)) => {
                let model = models::full_name(&chosen);
                let root = self.setup.desk.root.clone();
                let was_built = self.built(&root).is_ok_and(|it| it == self.system());
                self.take(Input::ChooseModel { model, tuning });
                // another model may have other tools, and the prompt names them
                if let (true, Ok(system)) = (was_built, self.built(&root))
                    && system != self.system()
                {
                    let instructions = self.gathered().files;
                    self.take(Input::ChooseSystem { system, instructions });
                }
                if let Some(text) = Models::ignored(&chosen, tuning) {
                    self.take(Input::Tell { text });
                }
            }
            Err(why) => self.notice(Level::Error, why),
        }
    }

    /// A key came: the provider is asked with it from now on; who had none at all goes on with it.
    pub(super) fn connect(&mut self, provider: &str, file: &Path) {
        self.setup.models.connect(provider, file);
        let is_tour = self.setup.models.is_tour(&self.setup.session.model);
        if is_tour && self.setup.models.resolve(provider).is_ok() {
            self.choose_model(provider);
        }
    }

    pub(super) fn keep_draft(&mut self, draft: Draft) {
        if draft == self.setup.draft {
            return;
        }
        self.setup.draft = draft;
        if let Some(store) = &mut self.setup.store
            && let Err(error) = store.save_draft(self.setup.draft.clone())
        {
            self.warn_of_disk(&error);
        }
    }
}
