//! A conversation that is a named agent, and the list of agents for the model and the user.

use super::guidance::Guidance;
use super::named::excerpt;
use super::{Agent, models};
use crate::context::agents::{self, NamedAgent, Origin};
use crate::context::instructions::Found;
use crate::conversation::Conversation;
use crate::conversation::report::{AgentRow, Report, Show};
use crate::event::Tuning;
use crate::message::{Block, Builtin, Excerpt, ExcerptKind, Role};
use crate::session::{Input, Phase};
use crate::tool::{Desk, front};

/// The most bytes of the list of agents for the model, and the most characters of a description in it.
const LIST: usize = 8 * 1024;

const LISTED: usize = 300;

/// The text that the model gets instead of the list when there is no agent any more.
const NONE: &str = "There are no agents for tasks now.";

/// Called before a session is shown. A new session becomes the agent that was asked for. The session's tools and limits
/// become those of its agent. Returns sentences for the user.
pub(super) fn begin(agent: &mut Agent, is_fresh: bool) -> Vec<String> {
    let wanted = agent.opening.agent.take().filter(|_| is_fresh);
    agent.desk.tools = agent.guidance.named.tools.clone();
    let mut told = Vec::new();
    if let Some(name) = wanted {
        let profile = match agents::load(&agent.desk).get(&name) {
            Ok(found) => {
                told.extend(found.problems.clone());
                agent.opening.mode = found.mode_within(agent.opening.mode);
                Some(found.profile())
            }
            Err(why) => {
                told.push(format!("{why} This conversation has no agent."));
                None
            }
        };
        agent.conversation.recall(Input::ChooseAgent { profile });
    }
    agent.guidance.named.reload(&agent.conversation, &agent.desk);
    adopt(agent);
    if is_fresh {
        told.extend(choose_model(agent));
    }
    told.extend(agent.guidance.without_consent());
    told
}

/// Gives the conversation the tools and limits of its agent.
fn adopt(agent: &mut Agent) {
    let named = &mut agent.guidance.named;
    let session = &mut agent.conversation.session;
    named.coordinates = session.workers.is_on;
    named.alone = match &session.profile {
        Some(profile) => named.tools.only(|it| profile.offers(&it.name)),
        None => named.tools.clone(),
    };
    agent.desk.tools =
        if named.coordinates { named.alone.coordinating() } else { named.alone.clone() };
    session.limits = named.limits;
    if let Some(profile) = &session.profile {
        session.limits = named.limits.within(profile);
    }
}

/// Changes the tools of a conversation that has become a coordinator, or is none any more.
pub(super) fn follow(agent: &mut Agent) {
    if agent.guidance.named.coordinates != agent.conversation.session.workers.is_on {
        let limits = agent.conversation.session.limits;
        adopt(agent);
        agent.conversation.session.limits = limits;
    }
}

/// Gives a new conversation the model of its agent. Returns a sentence if there is no such model.
fn choose_model(agent: &mut Agent) -> Option<String> {
    let now = agent.guidance.usable_agent(&agent.desk)?;
    match model_of(agent, now)? {
        Ok((model, tuning)) => {
            agent.conversation.recall(Input::ChooseModel { model, tuning });
            None
        }
        Err(why) => Some(why),
    }
}

/// The full name and the settings of the model that an agent asks for. The error is a sentence.
pub(super) fn model_of(agent: &Agent, of: &NamedAgent) -> Option<Result<(String, Tuning), String>> {
    let wanted = of.model.as_ref()?;
    let session = &agent.conversation.session;
    let chosen = agent.sampler.chosen(session, wanted);
    Some(chosen.map(|(chosen, tuning)| (models::full_name(&chosen), tuning)).map_err(|why| {
        format!(
            "`{}`, line {}: the agent `{}` names the model `{wanted}`. {why} It has the model {} now.",
            agent.desk.shown(&of.path),
            of.model_line,
            of.name,
            session.model
        )
    }))
}

impl Guidance {
    /// Adds the list of agents for tasks to the instructions of a new conversation.
    pub(super) fn with_agents(&self, desk: &Desk, mut found: Found) -> Found {
        let list = self.agents(desk).filter(|it| it.text != NONE);
        found.files.extend(list);
        found
    }

    /// Tells the model with the next request if the list of agents for tasks has changed.
    pub(super) fn watch_agents(&self, conversation: &mut Conversation, desk: &Desk) {
        let heard = conversation.session.given(ExcerptKind::Agents).last();
        let heard = heard.map_or(NONE, |it| &it.text);
        if let Some(list) = self.agents(desk).filter(|it| it.text != heard) {
            conversation.take(Input::Instruct { files: vec![list] });
        }
    }

    /// The agents that the model may give tasks to; `None` if it has no tool for tasks.
    fn agents(&self, desk: &Desk) -> Option<Excerpt> {
        desk.tools.builtin(Builtin::Task)?;
        let found = agents::load(&self.named.whole(desk));
        let usable = found.iter().filter(|it| self.may_use(it, desk));
        let short: Vec<(&str, String)> =
            usable.map(|it| (&*it.name, front::line(&it.description, LISTED).0)).collect();
        let text = match front::list(short.iter().map(|it| (it.0, &*it.1)), LIST) {
            (list, _) if list.is_empty() => NONE.to_owned(),
            (list, 0) => list,
            (list, more) => format!("{list}({more} more agents are not listed.)\n"),
        };
        Some(excerpt("agents", ExcerptKind::Agents, text))
    }
}

/// Called after the user has answered whether the text of the conversation's agent may be used. The agent's prompt
/// becomes part of the system prompt, if nothing was sent yet or the user has asked for it.
pub(super) fn ruled(agent: &mut Agent, is_used: bool) {
    if std::mem::take(&mut agent.guidance.named.is_renewing) {
        return renew(agent);
    }
    if !is_used {
        return;
    }
    let session = &agent.conversation.session;
    if session.turns > 0 {
        let text = "`/system new` gives the model the agent's prompt.".to_owned();
        return agent.conversation.take(Input::Tell { text });
    }
    let problem = choose_model(agent);
    agent.conversation.tell_once(problem);
    if let Ok(system) = agent.system() {
        let instructions = begun_with(&agent.conversation);
        let session = &agent.conversation.session;
        let (model, root) = (session.model.clone(), session.root.clone());
        agent.conversation.take(Input::Open { system, instructions, model, root });
    }
}

/// The instructions in the conversation's first message.
fn begun_with(conversation: &Conversation) -> Vec<Excerpt> {
    let first = conversation.session.messages.first();
    let first = first.filter(|it| it.role == Role::System);
    let excerpts = first.into_iter().flat_map(|it| &it.blocks).filter_map(|it| match it {
        Block::Excerpt(it) => Some(it.clone()),
        _ => None,
    });
    excerpts.collect()
}

/// `/system new`: replaces the system prompt, the instructions, and the agent's tools and limits by the current ones.
pub(super) fn renew(agent: &mut Agent) {
    let conversation = &mut agent.conversation;
    if conversation.session.phase != Phase::Idle {
        return conversation.refuse_while_running();
    }
    if let Some(profile) = conversation.session.profile.clone() {
        let guidance = &mut agent.guidance;
        guidance.named.reload(conversation, &agent.desk);
        if guidance.ask_about_agent(conversation, &agent.desk) {
            guidance.named.is_renewing = true;
            return;
        }
        let now = guidance.named.now.as_ref();
        if now.is_none() {
            let text = format!(
                "The agent `{}` no longer has a file. The conversation goes on without it.",
                profile.name
            );
            conversation.take(Input::Tell { text });
        }
        let (problems, profile) = (now.map(|it| it.problems.clone()), now.map(NamedAgent::profile));
        conversation.take(Input::ChooseAgent { profile });
        conversation.tell_once(problems.unwrap_or_default());
        agent.guidance.named.outdated = None;
        adopt(agent);
    }
    let format = agent.sampler.format(&agent.conversation.session.model);
    agent.guidance.renew(&mut agent.conversation, &agent.desk, format);
}

/// `/agents`: offers the agents to the user, or opens the file of the one with this name.
pub(super) fn list(agent: &mut Agent, name: &str) {
    let mut found = agents::load(&agent.guidance.named.whole(&agent.desk));
    let mut problems = std::mem::take(&mut found.problems);
    for it in found.iter() {
        problems.extend(it.problems.clone());
        problems.extend(model_of(agent, it).and_then(Result::err));
    }
    let (conversation, desk) = (&mut agent.conversation, &agent.desk);
    conversation.tell_once(problems);
    let name = name.trim_start_matches('@');
    if !name.is_empty() {
        match found.get(name) {
            Ok(_) => found.retain(|it| it.name == name),
            Err(why) => return conversation.take(Input::Tell { text: why }),
        }
    }
    let rows: Vec<AgentRow> = found.iter().map(|it| row(it, desk)).collect();
    if rows.is_empty() {
        let places: Vec<String> = agents::places(desk).iter().map(|it| format!("`{it}`")).collect();
        let text = format!(
            "There are no agents. An agent is a Markdown file with front matter, in one of {}: `:help caliban-agents`.",
            places.join(", ")
        );
        return conversation.take(Input::Tell { text });
    }
    let open = !name.is_empty();
    conversation.show(Show::Tell(Report::Agents { rows, open }));
}

fn row(it: &NamedAgent, desk: &Desk) -> AgentRow {
    AgentRow {
        name: it.name.clone(),
        description: it.description.clone(),
        is_users: it.origin == Origin::User,
        shown: desk.shown(&it.path),
        path: it.path.clone(),
        line: u32::try_from(it.line).unwrap_or(1),
    }
}
