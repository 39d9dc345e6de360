//! The system prompt, instruction files (`AGENTS.md`) and skills: what a conversation begins with, what is added when a
//! folder is touched, and what has changed on disk since.

use super::consent::Consent;
use super::models::Models;
use super::named::{self, Named, excerpt};
use super::permits::Permissions;
use super::setup::Instructions;
use crate::context::agents::{NamedAgent, Origin};
use crate::context::instructions::{self, Found, Places};
use crate::context::prompt;
use crate::conversation::Conversation;
use crate::conversation::report::{Level, Report, Show, SkillRow};
use crate::edit::Format;
use crate::message::{Block, Builtin, Excerpt, ExcerptKind, Role};
use crate::session::{Input, Phase};
use crate::store::Store;
use crate::tool::Desk;
use crate::tool::skills::{self, Skills, Usable};
use crate::view;
use std::path::{Path, PathBuf};

/// The text that the model gets instead of the list of skills when the last skill has been removed.
const NONE: &str = "There are no skills now.";

pub(super) struct Guidance {
    /// Which of the project's instructions the user lets the model have.
    pub(super) consent: Consent,
    pub(super) permissions: Permissions,
    pub(super) named: Named,
    choice: prompt::Choice,
    /// Where to look for instruction files; `None` if the user turned them off.
    places: Option<Places>,
    /// The last sentence that told the user about changed instructions.
    outdated: Option<String>,
}

impl Guidance {
    pub(super) fn new(
        choice: prompt::Choice,
        setup: Instructions,
        permissions: Permissions,
        named: Named,
    ) -> Guidance {
        let Instructions { places, agreed } = setup;
        let consent = Consent::new(agreed);
        Guidance { consent, permissions, named, choice, places, outdated: None }
    }

    /// The system prompt for the user's settings, the project's folder, this edit format, the session's mark and the
    /// conversation's agent.
    pub(super) fn system(&self, desk: &Desk, format: Format, mark: &str) -> Result<String, String> {
        let tools = self.named.alone.specs(format);
        let system = prompt::choose(&self.choice, &desk.root, &tools, mark)?;
        Ok(named::composed(system, self.usable_agent(desk)))
    }

    /// The conversation's agent, if its text may go to the model.
    pub(super) fn usable_agent(&self, desk: &Desk) -> Option<&NamedAgent> {
        self.named.now.as_ref().filter(|it| self.may_use(it, desk))
    }

    /// Whether an agent's text may go to a model: it is the user's own, or the user has agreed to it.
    pub(super) fn may_use(&self, it: &NamedAgent, desk: &Desk) -> bool {
        let is_agreed = || self.places.is_some() && self.consent.allows(&it.excerpt(desk));
        it.origin == Origin::User || is_agreed()
    }

    /// Whether the user's settings turn off all texts of the project that tell a model what to do.
    pub(super) fn leaves_project_out(&self) -> bool {
        self.places.is_none()
    }

    /// The text of the conversation's agent, if the agent is the project's and the user's settings do not leave the
    /// project's texts out.
    fn agent_of_project(&self, desk: &Desk) -> Option<Excerpt> {
        let now = self.named.now.as_ref().filter(|it| it.origin == Origin::Project);
        now.filter(|_| self.places.is_some()).map(|it| it.excerpt(desk))
    }

    /// Asks the user about the text of the conversation's agent. Returns false if nothing has to be asked.
    pub(super) fn ask_about_agent(&mut self, conversation: &mut Conversation, desk: &Desk) -> bool {
        let agent = self.agent_of_project(desk);
        self.consent.ask(conversation, Found::default(), agent);
        self.consent.asks_about_agent() && conversation.session.is_held()
    }

    /// The sentence about an agent whose prompt the user's settings leave out.
    pub(super) fn without_consent(&self) -> Option<String> {
        let now = self.named.now.as_ref().filter(|it| it.origin == Origin::Project)?;
        self.places.is_none().then(|| {
            format!(
                "The prompt of the agent `{}` is not used: it is the project's, and the setting `instructions = \
                 'never'` turns the project's instructions off.",
                now.name
            )
        })
    }

    /// The instructions on disk for a new conversation.
    pub(super) fn gathered(&self) -> Found {
        self.places.as_ref().map(instructions::gather).unwrap_or_default()
    }

    /// The instructions on disk and the project's skills, about whose texts the user is asked.
    fn asked_about(&self, desk: &Desk) -> Found {
        let mut found = self.gathered();
        found.files.extend(self.skills_of_project(desk));
        found
    }

    /// The project's skills that the user's settings do not leave out.
    fn skills_of_project(&self, desk: &Desk) -> Vec<Excerpt> {
        self.places.iter().flat_map(|_| skills::of_project(desk)).collect()
    }

    /// Notes on the desk which of the project's skills the model may have.
    pub(super) fn trust(&self, desk: &mut Desk) {
        let files = self.skills_of_project(desk);
        desk.skills =
            Usable::Agreed(files.into_iter().filter(|it| self.consent.allows(it)).collect());
    }

    /// Called when the user has answered the question about the project's texts. Tells the model which skills it has now.
    pub(super) fn answered(&self, conversation: &mut Conversation, desk: &mut Desk) {
        self.trust(desk);
        watch_skills(conversation, desk);
    }

    /// The instructions on disk that the user lets a new conversation begin with.
    pub(super) fn usable(&self) -> Found {
        let mut found = self.gathered();
        found.retain_of_project(|it| self.consent.allows(it));
        found
    }

    /// Called before a message is sent. Asks the user about instructions that the model would get for the first time,
    /// and about the project's rules that would allow calls. The tour's model is a script that needs neither.
    pub(super) fn consult(
        &mut self,
        conversation: &mut Conversation,
        models: &Models,
        desk: &mut Desk,
    ) {
        if !models.is_tour(&conversation.session.model) {
            let found = self.asked_about(desk);
            let session = &conversation.session;
            if session.is_unattended() && session.turns == 0 && session.subagent_of().is_none() {
                conversation.tell_once(self.unused_rules());
            }
            // the prompt of an agent can only come before the first message
            let agent = self.agent_of_project(desk).filter(|_| conversation.session.turns == 0);
            self.consent.ask(conversation, found, agent);
            self.permissions.trust.ask(conversation, desk.project());
        }
        self.trust(desk);
    }

    /// Called when the user stops. Withdraws the questions that `consult` has asked.
    pub(super) fn withdraw(&mut self, conversation: &mut Conversation) {
        self.named.is_renewing = false;
        self.permissions.trust.withdraw();
        self.consent.withdraw(conversation);
    }

    /// The names of the project's rule files for other coding agents, if the project has no instruction files. They are
    /// offered in the project's first conversation only.
    pub(super) fn offered(&self, conversation: &Conversation) -> Vec<&'static str> {
        let is_first = !conversation.store.as_ref().is_some_and(Store::has_others);
        let places = self.places.as_ref().filter(|_| is_first);
        places.map(instructions::offered).unwrap_or_default()
    }

    /// What the user of a run is told about the project's rule files for other coding agents.
    fn unused_rules(&self) -> Option<String> {
        let offered = self.places.as_ref().map(instructions::offered).unwrap_or_default();
        let names = offered.join(", ");
        (!offered.is_empty()).then(|| {
            format!(
                "The project's rules for other agents are not used: {names}. To use them, write an AGENTS.md that \
                 imports them, with a line such as `@{}`.",
                offered[0]
            )
        })
    }

    /// `/rules`: asks again about instructions that the user has refused. If there are none, adds the project's rules
    /// for other coding agents, unless the model has these rules.
    pub(super) fn add_rules(&mut self, conversation: &mut Conversation, desk: &Desk) {
        let (found, agent) = (self.asked_about(desk), self.agent_of_project(desk));
        if conversation.session.phase == Phase::Idle
            && self.consent.ask_again(conversation, found, agent)
        {
            return;
        }
        let Some(places) = &self.places else {
            let text = "The setting `instructions = 'never'` turns instruction files off, so no rules are \
                        added.".to_owned();
            return conversation.take(Input::Tell { text });
        };
        let Found { mut files, problems, .. } = instructions::rules(places);
        let none = files.is_empty() && problems.is_empty();
        files.retain(|it| !is_given(conversation, it));
        conversation.tell_once(problems);
        if !files.is_empty() {
            conversation.take(Input::Instruct { files });
        } else if none {
            let text = "This project has no rules for other agents: no `.github/copilot-instructions.md`, no \
                        `.cursorrules`, no `.mdc` or `.md` file in `.cursor/rules`, and no file such as `GEMINI.md`.";
            conversation.take(Input::Tell { text: text.to_owned() });
        } else {
            conversation.take(Input::Tell { text: "The model has the current rules.".to_owned() });
        }
    }

    /// Called when a session opens. If the instructions on disk differ from those that an older conversation has,
    /// returns a sentence that tells the user.
    pub(super) fn begin(&mut self, conversation: &Conversation, is_fresh: bool) -> Option<String> {
        self.outdated = if is_fresh { None } else { self.changed(conversation) };
        self.outdated.clone()
    }

    /// A sentence on how the instructions on disk differ from those that the conversation has.
    fn changed(&self, conversation: &Conversation) -> Option<String> {
        let given: Vec<&Excerpt> = conversation.session.given(ExcerptKind::Instructions).collect();
        let mut now = self.gathered();
        // leave out files that the user has not let the model have
        now.retain_of_project(|it| {
            self.consent.allows(it) || given.iter().any(|given| given.path == it.path)
        });
        let first = conversation.session.messages.first().filter(|it| it.role == Role::System);
        let begun_with = first.into_iter().flat_map(|it| &it.blocks).filter_map(|it| match it {
            Block::Excerpt(it) if it.kind == ExcerptKind::Instructions => Some(it),
            _ => None,
        });
        // for each file, the text that the model got last: with the first message, or added later
        let added = given
            .iter()
            .rev()
            .copied()
            .filter(|it| now.files.iter().any(|now| now.path == it.path));
        let mut had: Vec<&Excerpt> = Vec::new();
        for it in added.chain(begun_with) {
            if had.iter().all(|had| had.path != it.path) {
                had.push(it);
            }
        }
        instructions::changed(&had, &now.files)
    }

    /// Called when the user has decided on changes of a file. If the file is an instruction file to which the user had
    /// agreed, the agreement also covers the accepted changes.
    pub(super) fn reviewed(
        &mut self,
        conversation: &mut Conversation,
        desk: &mut Desk,
        path: &Path,
    ) {
        let Some(places) = &self.places else { return };
        let shown = desk.shown(path);
        if path.ends_with(skills::FILE) {
            let mut files = self.skills_of_project(desk);
            files.retain(|it| it.path == shown);
            self.consent.accept(conversation, files);
            return self.trust(desk);
        }
        if !path.file_name().is_some_and(|it| instructions::NAMES.iter().any(|name| it == *name)) {
            return;
        }
        let mut files = instructions::gather(places).files;
        files.extend(instructions::nested(places, &[path.to_owned()]).files);
        files.retain(|it| it.path == shown);
        self.consent.accept(conversation, files);
    }

    /// Replaces the conversation's system prompt and instructions by the current ones.
    pub(super) fn renew(&mut self, conversation: &mut Conversation, desk: &Desk, format: Format) {
        match self.system(desk, format, &conversation.session.mark) {
            Ok(_) if conversation.session.phase != Phase::Idle => {
                conversation.refuse_while_running();
            }
            Ok(system) => {
                let found = self.with_agents(desk, with_skills(desk, self.usable()));
                let Found { files: instructions, problems, .. } = found;
                conversation.take(Input::ChooseSystem { system, instructions });
                self.outdated = None;
                conversation.tell_once(problems);
            }
            Err(why) => conversation.notice(Level::Error, why),
        }
    }

    /// Adds changes of instructions and skills to a message, and the instructions of the folders whose files the
    /// message mentions.
    pub(super) fn watch(
        &mut self,
        conversation: &mut Conversation,
        desk: &Desk,
        context: &[Excerpt],
    ) {
        self.watch_instructions(conversation);
        self.named.watch(conversation, desk);
        watch_skills(conversation, desk);
        self.watch_agents(conversation, desk);
        let touched: Vec<PathBuf> = context.iter().map(|it| desk.root.join(&it.path)).collect();
        self.touch(conversation, &touched);
    }

    /// Tells the user once if instructions on disk differ from those that the conversation has.
    fn watch_instructions(&mut self, conversation: &mut Conversation) {
        let outdated = self.changed(conversation);
        if outdated != self.outdated {
            self.outdated.clone_from(&outdated);
            conversation.tell_once(outdated);
        }
    }

    /// Adds the instructions of folders with touched files, if the model does not have these instructions or they have
    /// changed.
    pub(super) fn touch(&mut self, conversation: &mut Conversation, touched: &[PathBuf]) {
        let Some(places) = &self.places else { return };
        let Found { files, problems, .. } = instructions::nested(places, touched);
        let (files, unread): (Vec<Excerpt>, Vec<Excerpt>) = files
            .into_iter()
            .filter(|it| !is_given(conversation, it))
            .partition(|it| self.consent.allows(it));
        for it in unread {
            self.consent.remember(it);
        }
        conversation.tell_once(problems);
        if !files.is_empty() {
            conversation.take(Input::Instruct { files });
        }
    }
}

/// Whether the model has this text of a file.
fn is_given(conversation: &Conversation, file: &Excerpt) -> bool {
    let given = conversation.session.given(ExcerptKind::Instructions);
    given.filter(|had| had.path == file.path).last().is_some_and(|had| had.text == file.text)
}

/// Shows the user the system prompt and the instructions that the model has.
pub(super) fn shown(conversation: &Conversation) -> String {
    let system = match conversation.system() {
        "" => "There is no system prompt.".to_owned(),
        system => format!("The system prompt:\n{system}"),
    };
    let given = conversation.session.given(ExcerptKind::Instructions);
    let lines: Vec<String> = given.map(|it| format!("\n  {}", view::sized(it))).collect();
    if lines.is_empty() {
        return system;
    }
    let lines = lines.concat();
    format!("{system}\nInstructions, in the order in which the model reads them:{lines}")
}

/// Adds the list of skills to the instructions of a new conversation.
pub(super) fn with_skills(desk: &Desk, mut found: Found) -> Found {
    if !has_skills(desk) {
        return found;
    }
    let skills = skills::find(desk);
    if !skills.found.is_empty() {
        found.files.push(named(&skills));
    }
    found.problems.extend(skills.problems);
    found
}

/// Whether the model has the tool that reads skills.
fn has_skills(desk: &Desk) -> bool {
    desk.tools.builtin(Builtin::Skill).is_some()
}

/// Tells the model with the next request if the list of skills has changed.
fn watch_skills(conversation: &mut Conversation, desk: &Desk) {
    if !has_skills(desk) {
        return;
    }
    let skills = skills::find(desk);
    let named = named(&skills);
    let heard = conversation.session.given(ExcerptKind::Skills).last();
    let is_news = named.text != heard.map_or(NONE, |it| &it.text);
    conversation.tell_once(skills.problems);
    if is_news {
        conversation.take(Input::Instruct { files: vec![named] });
    }
}

/// The message and the skill's text for `/skill`. `rest` is the skill's name, and a message if there is one.
pub(super) fn skill(desk: &Desk, rest: &str) -> Result<(String, Excerpt), String> {
    let (name, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let skills = skills::find(desk);
    let skill = skills.get(name)?;
    let text = match words.trim() {
        "" => format!("Use the skill `{name}`."),
        words => words.to_owned(),
    };
    Ok((text, excerpt(&desk.shown(&skill.path), ExcerptKind::Skill, skill.text(desk))))
}

/// The list of skills and their problems, for the user.
pub(super) fn list_of_skills(desk: &Desk) -> String {
    let Skills { found, unused, problems, .. } = skills::find(desk);
    let mut lines = Vec::new();
    for it in found {
        lines.push(format!("  {}: {}", it.name, it.description));
        lines.push(format!("      {}", desk.shown(&it.path)));
        if !it.compatibility.is_empty() {
            lines.push(format!("      needs: {}", it.compatibility));
        }
    }
    for it in unused {
        let shown = desk.shown(&it.path);
        lines.push(format!(
            "`{shown}` is not used, because you have not agreed to its text. Caliban asks about it before your next \
             message; if you have refused it, `/rules` asks again."
        ));
    }
    lines.extend(problems);
    let folders: Vec<String> =
        skills::named(desk).into_iter().map(|it| format!("`{it}`")).collect();
    let folders = folders.join(", ");
    if lines.is_empty() {
        return format!(
            "There are no skills. A skill is a folder with a `SKILL.md`, in one of {folders}."
        );
    }
    format!("Skills, from {folders}:\n{}", lines.join("\n"))
}

/// Offers the skills to the user, who chooses one for the next message.
pub(super) fn offer_skills(conversation: &mut Conversation, desk: &Desk) {
    let Skills { found, problems, .. } = skills::find(desk);
    if found.is_empty() {
        return conversation.take(Input::Tell { text: list_of_skills(desk) });
    }
    conversation.tell_once(problems);
    let row = |it: skills::Skill| SkillRow {
        source: desk.shown(it.path.ancestors().nth(2).unwrap_or(&it.path)),
        name: it.name,
        description: it.description,
        path: it.path,
    };
    conversation.show(Show::Tell(Report::Skills(found.into_iter().map(row).collect())));
}

/// The list of skills for the model.
fn named(skills: &Skills) -> Excerpt {
    let text = match skills.list() {
        (list, _) if list.is_empty() => NONE.to_owned(),
        (list, 0) => list,
        (list, more) => {
            format!("{list}({more} more skills are not listed, because the list is full.)\n")
        }
    };
    excerpt("skills", ExcerptKind::Skills, text)
}
