//! The user's consent to the project's instructions. A model gets the instructions only after the user has agreed.

use super::prompts;
use crate::context::instructions::Found;
use crate::conversation::Conversation;
use crate::event::{Matter, Offer, Ruling};
use crate::message::{CallId, Excerpt, ExcerptKind};
use crate::session::{Consult, Input, Phase};
use crate::store::Agreed;
use crate::text::{cause, counted};

/// One question has no further skill after this number of bytes of skills.
const SKILLS: usize = 64 * 1024;

pub(super) struct Consent {
    /// The answers on disk; `None` if the user's settings allow all instructions.
    answers: Option<Agreed>,
    /// The answers that count for this conversation only.
    here: Vec<(Excerpt, bool)>,
    /// Instruction files of folders that the model has worked in. The next question asks about them too.
    touched: Vec<Excerpt>,
    /// The files that the open question asks about.
    asked: Vec<Excerpt>,
    /// The one of these files that is the conversation's agent.
    agent: Option<Excerpt>,
    /// The number of questions so far.
    count: u32,
}

impl Consent {
    pub(super) fn new(answers: Option<Agreed>) -> Consent {
        Consent {
            answers,
            here: Vec::new(),
            touched: Vec::new(),
            asked: Vec::new(),
            agent: None,
            count: 0,
        }
    }

    /// Whether a file of the project may go to the model.
    pub(super) fn allows(&self, file: &Excerpt) -> bool {
        self.answer(file) == Some(true)
    }

    /// What the user has answered about this text; `None` if the user was not asked.
    fn answer(&self, file: &Excerpt) -> Option<bool> {
        let Some(answers) = &self.answers else { return Some(true) };
        let here = self.here.iter().rev().find(|(it, _)| same(it, file)).map(|it| it.1);
        here.or_else(|| answers.answer(&file.path, &file.text))
    }

    /// Whether the open question is about the conversation's agent too.
    pub(super) fn asks_about_agent(&self) -> bool {
        self.agent.is_some()
    }

    /// Notes an instruction file of a folder that the model has worked in, for the next question.
    pub(super) fn remember(&mut self, file: Excerpt) {
        self.touched.retain(|it| it.path != file.path);
        self.touched.push(file);
    }

    /// Called before a message is sent. Asks the user about those of the project's instructions that the conversation
    /// does not have, and adds to the conversation those to which the user has agreed since the conversation began.
    /// `found` are the instructions that a new conversation would get, `agent` is the text of the conversation's agent.
    pub(super) fn ask(
        &mut self,
        conversation: &mut Conversation,
        found: Found,
        agent: Option<Excerpt>,
    ) {
        let session = &conversation.session;
        if session.phase != Phase::Idle || session.is_held() {
            return;
        }
        if self.answers.is_none() {
            return;
        }
        let own = found.own.min(found.files.len());
        let given: Vec<&Excerpt> = session.given(ExcerptKind::Instructions).collect();
        // if an instruction file that the conversation began with has changed, only `/system new` brings the new text
        let begun = found.files.into_iter().skip(own);
        let begun = begun.filter(|it| given.iter().all(|given| given.path != it.path));
        let touched = std::mem::take(&mut self.touched).into_iter();
        let touched = touched.filter(|it| !given.iter().any(|given| same(given, it)));
        let (mut open, answered): (Vec<Excerpt>, Vec<Excerpt>) =
            begun.chain(touched).partition(|it| self.answer(it).is_none());
        self.agent = agent.filter(|it| self.answer(it).is_none());
        open.extend(self.agent.clone());
        let files: Vec<Excerpt> =
            answered.into_iter().filter(|it| is_given_whole(it) && self.allows(it)).collect();
        bound(&mut open);
        let turns = session.turns;
        if !files.is_empty() {
            conversation.take(Input::Instruct { files });
        }
        match (open.is_empty(), conversation.session.is_unattended()) {
            (true, _) => (),
            (false, false) => self.put(conversation, turns, open),
            (false, true) => conversation.tell_once([left_out(&open)]),
        }
    }

    fn put(&mut self, conversation: &mut Conversation, turns: u32, asked: Vec<Excerpt>) {
        self.count += 1;
        let id = CallId::own(format_args!("instructions-{turns}-{}", self.count));
        let question = question(&asked);
        self.asked = asked;
        let about = Matter::Instructions;
        let offer = Offer::default();
        conversation.take(Input::Consult(Consult { id, about, question, offer }));
    }

    /// Notes the user's answer to the open question, and gives the conversation the files that may be used. Ignores
    /// answers to other questions. If the question was about the conversation's agent too, returns whether the agent's
    /// text may be used.
    pub(super) fn rule(
        &mut self,
        conversation: &mut Conversation,
        id: &CallId,
        ruling: &Ruling,
    ) -> Option<bool> {
        if !conversation.session.is_consulting(id) {
            return None;
        }
        let files = std::mem::take(&mut self.asked);
        let is_used = !matches!(ruling, Ruling::Denied { .. });
        self.here.extend(files.iter().map(|it| (it.clone(), is_used)));
        if *ruling != Ruling::Session {
            self.store(conversation, &files, Some(is_used));
        }
        let agent = self.agent.take();
        let files: Vec<Excerpt> = files
            .into_iter()
            .filter(|it| agent.as_ref() != Some(it) && is_given_whole(it))
            .collect();
        if is_used && !files.is_empty() {
            conversation.take(Input::Instruct { files });
        }
        agent.map(|_| is_used)
    }

    /// Counts instruction files as agreed to because the user has edited them or accepted their changes. Leaves out
    /// files about which the user has been asked but has not agreed.
    pub(super) fn accept(&mut self, conversation: &mut Conversation, mut files: Vec<Excerpt>) {
        files.retain(|it| {
            let last = self.here.iter().rev().find(|(had, _)| had.path == it.path);
            let waits = self.asked.iter().chain(&self.touched).any(|had| had.path == it.path);
            !waits && last.is_none_or(|it| it.1)
        });
        if !files.is_empty() {
            self.store(conversation, &files, Some(true));
            self.here.extend(files.into_iter().map(|it| (it, true)));
        }
    }

    /// Asks again about the instruction files that the user has refused. Returns false if there are none.
    pub(super) fn ask_again(
        &mut self,
        conversation: &mut Conversation,
        found: Found,
        agent: Option<Excerpt>,
    ) -> bool {
        let mut files = found.files.split_at(found.own.min(found.files.len())).1.to_vec();
        files.extend(agent.clone());
        files.retain(|it| self.answer(it) == Some(false));
        if files.is_empty() {
            return false;
        }
        self.here.retain(|(it, _)| !files.iter().any(|file| same(it, file)));
        self.store(conversation, &files, None);
        self.ask(conversation, found, agent);
        true
    }

    fn store(&self, conversation: &mut Conversation, files: &[Excerpt], used: Option<bool>) {
        let texts = files.iter().map(|it| (it.path.as_str(), it.text.as_str()));
        let noted = self.answers.as_ref().map(|it| it.note(texts, used));
        if let Some(Err(error)) = noted {
            conversation.tell_once([format!(
                "Your answer about the project's instructions could not be stored: {}. It applies to this \
                 conversation; the next one asks again.",
                cause(&error)
            )]);
        }
    }

    /// Withdraws the open questions because the user has stopped instead of answering. The messages that waited for the
    /// answer go back into the composer. The next message asks the questions again.
    pub(super) fn withdraw(&mut self, conversation: &mut Conversation) {
        let session = &conversation.session;
        // the other questions are withdrawn with the subagent or the request that asks them
        let is_ours = |it: &&Consult| matches!(it.about, Matter::Instructions | Matter::Rules);
        if !session.consult.as_ref().is_some_and(|it| is_ours(&it)) {
            return;
        }
        let waiting = session.queue.iter().filter(|it| !session.held.contains(&it.id));
        for id in waiting.map(|it| it.id).collect::<Vec<_>>() {
            prompts::unqueue(conversation, id, true);
        }
        self.asked.clear();
        self.agent = None;
        while let Some(open) = conversation.session.consult.as_ref().filter(is_ours) {
            let ruling = Ruling::Denied { reason: String::new() };
            conversation.take(Input::Rule { call: open.id.clone(), ruling });
        }
    }
}

/// Whether the model gets the text of the file at once. A skill is loaded when the model needs it.
fn is_given_whole(file: &Excerpt) -> bool {
    file.kind != ExcerptKind::Skill
}

/// Leaves as many skills in a question as fit into its room, but at least one. The next question has the others.
fn bound(open: &mut Vec<Excerpt>) {
    let mut room = SKILLS;
    open.retain(|it| {
        let fits = is_given_whole(it) || room > 0;
        room = room.saturating_sub(if is_given_whole(it) { 0 } else { it.text.len() });
        fits
    });
}

fn same(a: &Excerpt, b: &Excerpt) -> bool {
    a.path == b.path && a.text == b.text
}

/// What the user is told if a run leaves files out.
fn left_out(files: &[Excerpt]) -> String {
    let names: Vec<&str> = files.iter().map(|it| it.path.as_str()).collect();
    format!(
        "These instructions are not used, because you have not agreed to their current text: {}. To be asked, open \
         Caliban in Neovim; to use all instructions, set `instructions` to \"always\".",
        names.join(", ")
    )
}

/// The question, with the whole text of each file.
fn question(files: &[Excerpt]) -> String {
    let mut text = "May the model follow these instructions? They are files of this project, and Caliban has not used \
                    these texts before."
        .to_owned();
    for it in files {
        let lines = counted(it.text.lines().count(), "line");
        text.push_str(&format!("\n\n{}, {lines}:\n{}", it.path, it.text.trim_end()));
    }
    text
}
