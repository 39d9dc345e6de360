//! `/permissions`: lists what the user has allowed for the session, and takes it back.

use super::files::Files;
use crate::conversation::Conversation;
use crate::conversation::report::{Level, Report, Show};
use crate::event::Grant;
use crate::session::Input;
use crate::tool::{self, Desk};

pub(super) fn list(of: &Conversation) {
    let grants = of.session.granted.clone();
    if grants.is_empty() {
        let text = "You have allowed nothing for this session.";
        return of.notice(Level::Info, text.into());
    }
    of.show(Show::Tell(Report::Permissions(grants)));
}

impl Files {
    /// Takes a grant back. The next call that needs it asks again, and the model is not told any more how a file
    /// changes that it may no longer read.
    pub(super) fn revoke(&mut self, of: &mut Conversation, desk: &Desk, grant: Grant) {
        if !of.session.granted.contains(&grant) {
            return of.notice(Level::Info, "This permission was taken back already.".into());
        }
        let text = format!("You are asked again before: {}", grant.label());
        if let Grant::Read { path, .. } = &grant {
            let is_meant = |it: &_| tool::path::unmistakable(&desk.root, it) == *path;
            self.known.distrust(desk, is_meant);
        }
        of.take(Input::Revoke { grant });
        of.notice(Level::Info, text);
    }
}
