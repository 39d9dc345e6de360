//! `/permissions`: lists what the user has allowed for the session, and revokes grants.

use super::files::Files;
use crate::conversation::Conversation;
use crate::conversation::report::{Level, Report, Show};
use crate::event::Grant;
use crate::session::Input;
use crate::tool::{self, Desk};

pub(super) fn list(conversation: &Conversation) {
    let grants = conversation.session.granted.clone();
    if grants.is_empty() {
        let text = "You have allowed nothing for this session.";
        return conversation.notice(Level::Info, text.into());
    }
    conversation.show(Show::Tell(Report::Permissions(grants)));
}

impl Files {
    /// Revokes a grant. The next call that needs the grant asks again, and the model is no longer told of changes to
    /// files that it may not read any more.
    pub(super) fn revoke(&mut self, conversation: &mut Conversation, desk: &Desk, grant: Grant) {
        if !conversation.session.granted.contains(&grant) {
            return conversation
                .notice(Level::Info, "This permission was taken back already.".into());
        }
        let text = format!("You are asked again before: {}", grant.label());
        if let Grant::Read { path, .. } = &grant {
            let is_meant = |it: &_| tool::path::unmistakable(&desk.root, it) == *path;
            self.known.distrust(desk, is_meant);
        }
        conversation.take(Input::Revoke { grant });
        conversation.notice(Level::Info, text);
    }
}
