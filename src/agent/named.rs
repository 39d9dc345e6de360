//! The named agent that a conversation is: which tools, limits, model and prompt it brings, whether the project's
//! agents have the user's consent, and what the user is told when the agent's file changes.

use crate::context::agents::{self, NamedAgent};
use crate::context::prompt;
use crate::conversation::Conversation;
use crate::message::{Excerpt, ExcerptKind};
use crate::session::Limits;
use crate::tool::{Desk, Toolset};

pub(super) fn excerpt(path: &str, kind: ExcerptKind, text: String) -> Excerpt {
    Excerpt { path: path.to_owned(), kind, text, ..Excerpt::default() }
}

pub(super) struct Named {
    /// The tools and the limits of a conversation that is no named agent.
    pub(super) tools: Toolset,
    pub(super) limits: Limits,
    /// The tools of the conversation when it is no coordinator. A coordinator's system prompt names these tools too,
    /// because the prompt must not change with the mode.
    pub(super) alone: Toolset,
    /// Whether the desk has the tools of a coordinator.
    pub(super) coordinates: bool,
    /// The agent as its file has it now; `None` if the conversation is no named agent, or the agent is gone.
    pub(super) now: Option<NamedAgent>,
    /// Whether `/system new` waits for the user's consent to the agent's text.
    pub(super) is_renewing: bool,
    /// The last sentence that told the user about a changed agent.
    pub(super) outdated: Option<String>,
}

impl Named {
    pub(super) fn new(tools: Toolset, limits: Limits) -> Named {
        let alone = tools.clone();
        Named {
            tools,
            limits,
            alone,
            coordinates: false,
            now: None,
            is_renewing: false,
            outdated: None,
        }
    }

    /// The desk with all tools, which the names in an agent's file are compared with.
    pub(super) fn whole(&self, desk: &Desk) -> Desk {
        Desk { tools: self.tools.clone(), ..desk.clone() }
    }

    /// Reads the conversation's agent from its file.
    pub(super) fn reload(&mut self, conversation: &Conversation, desk: &Desk) {
        let profile = conversation.session.profile.as_ref();
        let whole = || self.whole(desk);
        self.now = profile.and_then(|it| agents::load(&whole()).find(&it.name).cloned());
    }

    /// A sentence on how the agent's file differs from the conversation's profile of the agent.
    pub(super) fn changed(&self, conversation: &Conversation, desk: &Desk) -> Option<String> {
        let profile = conversation.session.profile.as_ref()?;
        let name = &profile.name;
        match &self.now {
            None => Some(format!(
                "The agent `{name}` of this conversation no longer has a file. The conversation keeps the agent's \
                 prompt, tools and limits; `/system new` goes on without the agent."
            )),
            Some(now) if now.profile().sha256 != profile.sha256 => Some(format!(
                "The agent `{name}` (`{}`) changed since this conversation began. The conversation keeps the old \
                 prompt, tools and limits; `/system new` uses the new ones.",
                desk.shown(&now.path)
            )),
            Some(_) => None,
        }
    }

    /// Called when a session opens. Returns the sentence about a changed agent.
    pub(super) fn begin(&mut self, conversation: &Conversation, desk: &Desk) -> Option<String> {
        self.outdated = self.changed(conversation, desk);
        self.outdated.clone()
    }

    /// Names the agent, and its model, in the lines of an empty chat.
    pub(super) fn introduce(
        &self,
        intro: &mut Vec<String>,
        conversation: &Conversation,
        desk: &Desk,
    ) {
        let Some(now) = &self.now else { return };
        if let (Some(line), true) = (intro.get_mut(1), now.model.is_some()) {
            *line = format!("Model    {}", conversation.session.model);
        }
        let at = intro.len().min(2);
        intro.insert(at, format!("Agent    {}  ({})", now.name, desk.shown(&now.path)));
    }

    /// Called before a message is sent. Tells the user once if the agent's file has changed.
    pub(super) fn watch(&mut self, conversation: &mut Conversation, desk: &Desk) {
        if conversation.session.profile.is_none() {
            return;
        }
        self.reload(conversation, desk);
        let outdated = self.changed(conversation, desk);
        if outdated != self.outdated {
            self.outdated.clone_from(&outdated);
            conversation.tell_once(outdated);
        }
    }
}

/// The system prompt `system` with that of the conversation's agent.
pub(super) fn composed(system: String, now: Option<&NamedAgent>) -> String {
    match now.filter(|it| !it.prompt.is_empty()) {
        Some(it) => prompt::of_agent(&system, &it.name, &it.prompt),
        None => system,
    }
}
