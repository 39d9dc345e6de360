//! The running sessions by handle, and the names by which they are found.

use crate::agent::Command;
use crate::conversation::report::Glance;
use crate::event::SessionId;
use crate::nvim::link::Editor;
use crate::nvim::session_link::{Handle, SessionLink};
use std::collections::HashMap;
use tokio::sync::{mpsc, oneshot, watch};

pub(super) type Agent = mpsc::UnboundedSender<Command>;

struct Running {
    /// Sends the session's current name to its `SessionLink`. When this sender is dropped, the session has ended.
    name: watch::Sender<SessionId>,
    /// `None` while a task opens or closes the session.
    agent: Option<Agent>,
    /// Whether the session is read-only.
    read_only: bool,
    /// For the session of a subagent: the parent, and whether the user has opened the session.
    child: Option<(Handle, bool)>,
    /// The `Glance` of the agent's conversation; `None` for a session without an agent.
    glance: Option<watch::Receiver<Glance>>,
}

pub(super) struct Sessions {
    editor: Editor,
    running: HashMap<Handle, Running>,
    /// Former names of running sessions. Messages of the editor that were sent before a rename still use them.
    former: HashMap<SessionId, Handle>,
    /// The handle that was given last.
    last: Handle,
}

impl Sessions {
    pub(super) fn new(editor: Editor) -> Sessions {
        let (running, former) = (HashMap::new(), HashMap::new());
        Sessions { editor, running, former, last: Handle::default() }
    }

    /// The session that has this name now, otherwise the running session that had the name last.
    pub(super) fn find(&self, name: &SessionId) -> Option<Handle> {
        self.named(name).or_else(|| self.former.get(name).copied())
    }

    /// The session that has this name now.
    pub(super) fn named(&self, name: &SessionId) -> Option<Handle> {
        self.running.iter().find(|(_, it)| *it.name.borrow() == *name).map(|(session, _)| *session)
    }

    pub(super) fn name(&self, session: Handle) -> Option<SessionId> {
        self.running.get(&session).map(|it| it.name.borrow().clone())
    }

    pub(super) fn link(&self, session: Handle) -> Option<SessionLink> {
        let name = self.running.get(&session)?.name.subscribe();
        Some(SessionLink::new(session, self.editor.clone(), name))
    }

    /// The agent of an open session. The agent may have panicked.
    pub(super) fn agent(&self, session: Handle) -> Option<&Agent> {
        self.running.get(&session)?.agent.as_ref()
    }

    /// The `Glance` that a session's agent has reported last.
    pub(super) fn glance(&self, session: Handle) -> Option<Glance> {
        Some(self.running.get(&session)?.glance.as_ref()?.borrow().clone())
    }

    pub(super) fn agents(&self) -> impl Iterator<Item = (Handle, &Agent)> {
        self.running.iter().filter_map(|(session, it)| Some((*session, it.agent.as_ref()?)))
    }

    /// Whether a session is open and its agent has not ended.
    pub(super) fn runs(&self, session: Handle) -> bool {
        self.agent(session).is_some_and(|it| !it.is_closed())
    }

    /// Whether a session is read-only.
    pub(super) fn read_only(&self, session: Handle) -> bool {
        self.running.get(&session).is_some_and(|it| it.read_only)
    }

    /// The names that no other session may get, including those of sessions that a task opens or closes.
    pub(super) fn taken(&self) -> Vec<String> {
        self.running.values().map(|it| it.name.borrow().0.clone()).collect()
    }

    /// The session that has this name. If there is none, adds a record without an agent, which reserves the name.
    pub(super) fn reserve(&mut self, name: &SessionId) -> Handle {
        self.named(name).unwrap_or_else(|| self.add(name, None, false, None).session)
    }

    /// Begins a session under a name. Returns the session's link, and the channel for its agent's glances. A session
    /// that had the name ends, and the name is no former name any more.
    pub(super) fn begin(
        &mut self,
        name: &SessionId,
        agent: Agent,
        read_only: bool,
    ) -> (SessionLink, watch::Sender<Glance>) {
        if let Some(ended) = self.named(name) {
            self.end(ended);
        }
        self.former.remove(name);
        let (glance, seen) = watch::channel(Glance::default());
        (self.add(name, Some(agent), read_only, Some(seen)), glance)
    }

    /// As `begin`, for the session of a subagent.
    pub(super) fn begin_child(
        &mut self,
        name: &SessionId,
        agent: Agent,
        parent: Handle,
    ) -> (SessionLink, watch::Sender<Glance>) {
        let (link, glance) = self.begin(name, agent, false);
        if let Some(it) = self.running.get_mut(&link.session) {
            it.child = Some((parent, false));
        }
        (link, glance)
    }

    /// The agents of the subagents that work for a session.
    pub(super) fn children(&self, of: Handle) -> Vec<Agent> {
        let all = self.running.values();
        let all = all.filter(|it| it.child.is_some_and(|it| it.0 == of));
        all.filter_map(|it| it.agent.clone()).collect()
    }

    /// Whether a subagent works in this session.
    pub(super) fn is_running_child(&self, session: Handle) -> bool {
        self.runs(session) && self.running.get(&session).is_some_and(|it| it.child.is_some())
    }

    /// Notes that the user has opened a session. Returns whether it is the session of a subagent.
    pub(super) fn opens_child(&mut self, session: Handle) -> bool {
        let child = self.running.get_mut(&session).and_then(|it| it.child.as_mut());
        child.map(|it| it.1 = true).is_some()
    }

    /// Whether this is the session of a subagent which the user has opened.
    pub(super) fn is_shown(&self, session: Handle) -> bool {
        self.running.get(&session).is_some_and(|it| it.child.is_some_and(|it| it.1))
    }

    fn add(
        &mut self,
        name: &SessionId,
        agent: Option<Agent>,
        read_only: bool,
        glance: Option<watch::Receiver<Glance>>,
    ) -> SessionLink {
        self.last = self.last.next();
        let (name, given) = watch::channel(name.clone());
        self.running.insert(self.last, Running { name, agent, read_only, child: None, glance });
        SessionLink::new(self.last, self.editor.clone(), given)
    }

    /// Gives a session another name, which is free. Returns the former name, which still leads to the session.
    pub(super) fn rename(&mut self, session: Handle, to: &SessionId) -> Option<SessionId> {
        if let Some(reserved) = self.named(to).filter(|it| *it != session) {
            self.end(reserved);
        }
        self.former.remove(to);
        let of = self.running.get(&session)?.name.send_replace(to.clone());
        self.former.insert(of.clone(), session);
        Some(of)
    }

    /// Stops a session's turn and tells its agent to save and end. From then on nobody can send the agent commands.
    pub(super) fn close(&mut self, session: Handle) -> Option<Agent> {
        let agent = self.running.get_mut(&session)?.agent.take()?;
        // The sends fail if the agent has panicked.
        let _ = agent.send(Command::Stop);
        let _ = agent.send(Command::Quit(oneshot::channel().0));
        Some(agent)
    }

    /// Called when a task that worked on this session has ended. Removes the session's record if it has no agent.
    pub(super) fn settle(&mut self, session: Handle) {
        if self.agent(session).is_none() {
            self.end(session);
        }
    }

    pub(super) fn end(&mut self, session: Handle) {
        self.running.remove(&session);
        self.former.retain(|_, it| *it != session);
    }
}
