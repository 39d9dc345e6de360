//! The sessions of a run's subagents.

use super::launch::{Launched, setup};
use crate::agent::PlaceWanted;
use tokio::sync::mpsc;

impl Launched {
    /// Opens a session for a subagent.
    pub(super) fn place(&self, wanted: PlaceWanted) {
        let (id, opened) = self.project.open_free(&wanted.name, &[]);
        let place = opened.map_err(|it| it.say(&id.0)).map(|opened| {
            // nobody reads these channels: the parent reports what the subagent does
            let (screen, wishes, places) = (
                mpsc::unbounded_channel().0,
                mpsc::unbounded_channel().0,
                mpsc::unbounded_channel().0,
            );
            Box::new(setup(&self.site, &self.arguments, (id, opened), (screen, wishes, places)))
        });
        // the send fails if the parent has stopped
        let _ = wanted.place.send(place);
    }
}
