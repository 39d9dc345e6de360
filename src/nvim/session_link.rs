//! One session's link to the editor. Each message is sent with the name that the session has at that moment.

use super::link::Editor;
use super::wire::ToNvim;
use crate::event::SessionId;
use rmpv::Value;
use tokio::sync::watch;

/// Identifies a running session. No other session gets the same handle, not even one that gets the same name later.
/// Handles are never stored, and the editor does not know them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Handle(u32);

impl Handle {
    #[must_use]
    pub fn next(self) -> Handle {
        Handle(self.0.wrapping_add(1))
    }
}

#[derive(Clone)]
pub struct SessionLink {
    pub session: Handle,
    pub editor: Editor,
    name: watch::Receiver<SessionId>,
}

impl SessionLink {
    pub fn new(session: Handle, editor: Editor, name: watch::Receiver<SessionId>) -> SessionLink {
        SessionLink { session, editor, name }
    }

    /// The session's current name.
    pub fn name(&self) -> SessionId {
        self.name.borrow().clone()
    }

    /// Whether the session has ended. Another session may have its name by now.
    pub fn is_over(&self) -> bool {
        self.name.has_changed().is_err()
    }

    /// Sends a message and waits for its answer, as `Editor::call` does.
    pub async fn call(&self, message: impl FnOnce(SessionId) -> ToNvim) -> Option<Value> {
        self.editor.call(message(self.name())).await
    }

    /// Sends a message and ignores its answer.
    pub fn tell(&self, message: impl FnOnce(SessionId) -> ToNvim) {
        self.editor.tell(message(self.name()));
    }
}
